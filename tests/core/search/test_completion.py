"""What may stand at the cursor of the search box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_fact_note, make_note
from kits.hostile import HOSTILE

from core.model.snapshot import Snapshot
from core.search.completion import MOST, complete, offers_of
from core.search.conditions import FIELDS
from core.search.query_syntax import parse_question

SNAPSHOT = Snapshot(
    notes=(
        make_note(1, tags=("auth", "deploy")),
        make_note(2, tags=("auth", "tea time"), scope="project", nugget_name="web"),
        make_note(3, tags=("audit",), subject="the login flow"),
        make_note(4, tags=("gone",), hidden=True),
        make_fact_note(5, "test command", "pytest"),
    )
)
OFFERS = offers_of(SNAPSHOT, projects=(("web", "shop"), ("memory", "notes app")))


def offered(text: str) -> list[str]:
    """The query as each completion would make it."""
    return [text[: one.start] + one.text for one in complete(text, OFFERS)]


def test_offers_are_what_visible_notes_have_most_frequent_first() -> None:
    assert OFFERS["tag"] == [("auth", 2), ("audit", 1), ("deploy", 1), ("tea-time", 1)]
    assert OFFERS["nugget"] == [("memory", 3), ("web", 1)]
    assert OFFERS["scope"] == [("user", 3), ("project", 1)]
    assert offers_of(SNAPSHOT) is offers_of(SNAPSHOT)
    assert not any(offers_of(Snapshot()).values())


def test_fields_are_offered_for_the_beginning_of_a_word() -> None:
    assert offered("token ta")[0] == "token tag:"
    assert offered("ty") == ["type:"]
    assert offered("-sco") == ["-scope:"]
    assert offered("t") == offered("a token") == offered("") == []


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("tag:", ["tag:auth", "tag:audit", "tag:deploy", "tag:tea-time"]),
        ("tag:au", ["tag:auth", "tag:audit"]),
        ("jwt -tag:D", ["jwt -tag:deploy"]),
        ("tag:auth,de", ["tag:auth,deploy"]),
        ("tag:auth", []),
        ("nugget:w", ["nugget:web"]),
        ("project:", ['project:"notes app"', "project:shop"]),
        ("project:s", ["project:shop"]),
        ("scope:", ["scope:user", "scope:project", "scope:self", "scope:shared", "scope:session"]),
        ("type:p", ["type:preference", "type:project"]),
        (
            "is:",
            [
                "is:hidden", "is:pinned", "is:new", "is:fact", "is:note", "is:stale", "is:secret", "is:document",
            ],
        ),
        ("has:l", ["has:links"]),
        ('subject:"the lo', ['subject:"the login flow"']),
        ("hits:", ["hits:>0", "hits:>3", "hits:>=10", "hits:0"]),
        ("updated:<3", ["updated:<30d"]),
        ("updated:t", ["updated:today"]),
        ('"a phrase', []),
        ("http://x", []),
        ("type::n", []),
    ],
)  # fmt: skip
def test_values_are_offered_behind_a_field(text: str, best: list[str]) -> None:
    assert offered(text) == best


def test_a_teams_notes_offer_whose_a_note_is() -> None:
    assert [one.text for one in complete("is:", offers_of(SNAPSHOT, Snapshot()))][:2] == ["team", "mine"]


def test_what_it_means_is_said() -> None:
    assert complete("tag:aut", OFFERS)[0].about == "2 notes"
    assert complete("updated:<3", OFFERS)[0].about == "changed in the last 30 days"
    assert complete("ta", OFFERS)[0].about == "with a tag"


def test_every_value_that_is_offered_can_be_read() -> None:
    for field in FIELDS:
        for completion in complete(f"{field}:", OFFERS):
            question = parse_question(f"{field}:{completion.text}")
            assert len(question.conditions) == 1, completion
            assert not question.words


@given(st.text(alphabet='tagis:-,"“ \x00日é<>3dupec', max_size=30))
def test_any_text_has_few_completions_that_go_on_with_it(text: str) -> None:
    found = complete(text, OFFERS)
    assert len(found) <= MOST
    for completion in found:
        assert completion.text.casefold().startswith(text[completion.start :].casefold())


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_tags_are_offered_as_they_are(hostile: str) -> None:
    offers = offers_of(Snapshot(notes=(make_note(1, tags=(hostile,), subject=hostile),)))
    for text in ("tag:", "subject:", hostile, f"tag:{hostile}", "tag:" * 30_000):
        complete(text, offers)
