"""What a note says after a change: the sentence that changed is replaced, and nothing else is lost."""

from __future__ import annotations

import pytest

from core.pipeline.writes.notes import revised

DEARER = "The canoe costs 55 euros a day."
BIKES = "Bicycles are free."


def test_the_sentence_or_clause_that_changed_is_replaced_and_the_rest_stays() -> None:
    for text, after in [
        (f"The canoe costs 40 euros a day. {BIKES}", f"{DEARER} {BIKES}"),
        (f"{BIKES} The canoe costs 40 euros a day!", f"{BIKES} {DEARER[:-1]}!"),
        ("The canoe costs 40 euros a day and bicycles are free.", f"{DEARER} {BIKES}"),
        ("The canoe costs 40 euros a day, bicycles are free.", f"{DEARER} {BIKES}"),
        ("Bicycles are free; the canoe costs 40 euros a day.", f"{BIKES} {DEARER}"),
        ("The canoe costs 40 euros a day (bicycles are free).", f"{DEARER} (bicycles are free)."),
        ("# Hire\n\n- [ ] The canoe costs 40 euros a day\n- b", f"# Hire\n\n- [ ] {DEARER}\n- b"),
        ("1. The canoe costs 40 euros a day\n2. Bikes", f"1. {DEARER}\n2. Bikes"),
    ]:
        assert revised(text, DEARER) == after


@pytest.mark.parametrize(
    "text",
    [
        "| canoe | 40 |\n| bicycle | 0 |",
        "```\ncanoe costs 40 euros a day\n```",
        "Prices: canoe 40, bicycles free, kayak 30.",
        "The kayak costs 40 euros a day. The lake is cold.",
    ],
)
def test_where_no_sentence_is_clearly_the_one_the_statement_is_added(text: str) -> None:
    after = revised(text, DEARER)
    assert after.startswith(text)
    assert after.endswith(DEARER)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("The team uses PostgreSQL as its database", "The team moved its database to CockroachDB"),
        ("In the new office, the coffee is free", "In the new office, the coffee costs one franc"),
        (
            "The team keeps orders and customer data in Redis",
            "The team keeps orders and customer data in Valkey",
        ),
        (f"{DEARER} {BIKES}", f"{DEARER} {BIKES}"),
    ],
)
def test_a_note_that_says_nothing_else_becomes_the_statement(text: str, statement: str) -> None:
    assert revised(text, statement) == statement


def test_a_denial_replaces_only_what_it_denies() -> None:
    soup, fish = "The canteen serves soup daily.", "Fish comes on Fridays."
    gone = "The canteen no longer serves fish."
    assert revised(f"{soup} {fish}", gone) == f"{soup} {fish} {gone}"
    assert revised(f"{soup} The canteen serves fish on Fridays.", gone) == f"{soup} {gone}"


def test_what_was_accepted_meanwhile_is_joined_and_not_replaced() -> None:
    moved, room = "The standup moves to 10:00", "The standup moves to room 4."
    assert revised(moved, room, [moved]) == f"{moved}. {room}"
    assert revised(f"{moved}. {BIKES}", room, [f"{moved}."]) == f"{moved}. {BIKES} {room}"


def test_other_scripts_and_languages_are_cut_at_their_sentences() -> None:
    assert revised("カヌーは一日40ユーロです。自転車は無料です。", "カヌーは一日55ユーロです。") == (
        "カヌーは一日55ユーロです。自転車は無料です。"
    )
    german = "Das Kanu kostet 40 Euro am Tag und Fahrräder sind frei."
    assert revised(german, "Das Kanu kostet 55 Euro am Tag.") == (
        "Das Kanu kostet 55 Euro am Tag. Fahrräder sind frei."
    )
