"""What may stand at the cursor of the search box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_fact_note, make_note
from kits.hostile import HOSTILE

from core.model.snapshot import Snapshot
from core.search.completion import MOST, Offers, complete, offers_of
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
OFFERS = offers_of(SNAPSHOT)


def offered(text: str, cursor: int | None = None) -> list[str]:
    """The query as each completion would make it."""
    place = len(text) if cursor is None else cursor
    return [completion.applied(text) for completion in complete(text, place, OFFERS)]


def test_offers_are_what_visible_notes_have_most_frequent_first() -> None:
    assert OFFERS.tag == (("auth", 2), ("audit", 1), ("deploy", 1), ("tea-time", 1))
    assert OFFERS.nugget == (("memory", 3), ("web", 1))
    assert OFFERS.scope == (("user", 3), ("project", 1))
    assert offers_of(SNAPSHOT) is offers_of(SNAPSHOT)
    assert offers_of(SNAPSHOT) == OFFERS
    assert offers_of(Snapshot()) == Offers()


def test_fields_are_offered_for_the_beginning_of_a_word() -> None:
    assert offered("token ta")[0] == "token tag:"
    assert offered("ty") == ["type:"]
    assert offered("-sco") == ["-scope:"]
    assert "tag:auth" in offered("aut")
    assert offered("pinn") == ["is:pinned"]
    assert offered("a token")[:1] == []
    assert len(offered("")) == MOST


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("tag:", ["tag:auth", "tag:audit", "tag:deploy", "tag:tea-time"]),
        ("tag:au", ["tag:auth", "tag:audit"]),
        ("jwt -tag:D", ["jwt -tag:deploy"]),
        ("tag:auth,de", ["tag:auth,deploy"]),
        ("tag:time", ["tag:tea-time"]),
        ("tag:auth", []),
        ("nugget:w", ["nugget:web"]),
        ("scope:", ["scope:user", "scope:project", "scope:self", "scope:shared", "scope:session"]),
        ("type:p", ["type:preference", "type:project"]),
        (
            "is:",
            [
                "is:hidden", "is:pinned", "is:new", "is:fact", "is:note", "is:secret", "is:document",
            ],
        ),
        ("has:l", ["has:links"]),
        ("subject:login", ['subject:"the login flow"']),
        ('subject:"the lo', ['subject:"the login flow"']),
        ("hits:", ["hits:>0", "hits:>3", "hits:>=10", "hits:0"]),
        ("updated:<3", ["updated:<30d", "updated:<3d", "updated:<3w", "updated:<3mo", "updated:<3y", "updated:<3h"]),
        ("updated:y", ["updated:yesterday"]),
        ('"a phrase', []),
        ("http://x", []),
        ("type::n", []),
    ],
)  # fmt: skip
def test_values_are_offered_behind_a_field(text: str, best: list[str]) -> None:
    assert offered(text) == best


def test_the_cursor_may_stand_in_the_middle() -> None:
    assert offered("tag:auxx token", 6) == ["tag:auth token", "tag:audit token"]
    assert offered("sc token", 2) == ["scope: token"]
    assert offered("tag:auth token", 0) == []


def test_what_it_means_is_said() -> None:
    assert complete("tag:aut", 7, OFFERS)[0].about == "2 notes"
    assert complete("updated:<3", 10, OFFERS)[0].about == "changed in the last 30 days"
    assert complete("ta", 2, OFFERS)[0].about == "with a tag"


def test_every_value_that_is_offered_can_be_read() -> None:
    for field in ("tag", "nugget", "scope", "type", "subject", "is", "has", "hits", "updated", "created"):
        for completion in complete(f"{field}:", len(field) + 1, OFFERS):
            question = parse_question(completion.applied(f"{field}:"))
            assert len(question.conditions) == 1, completion
            assert not question.words


@given(st.text(alphabet='tagis:-,"“ \x00日é<>3dupec', max_size=30), st.integers(-3, 40))
def test_any_text_has_few_completions_in_it(text: str, cursor: int) -> None:
    found = complete(text, cursor, OFFERS)
    assert len(found) <= MOST
    for completion in found:
        assert 0 <= completion.start <= completion.end <= len(text)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_tags_are_offered_as_they_are(hostile: str) -> None:
    offers = offers_of(Snapshot(notes=(make_note(1, tags=(hostile,), subject=hostile),)))
    for text in ("tag:", "subject:", hostile, f"tag:{hostile}", "tag:" * 30_000):
        complete(text, len(text), offers)
