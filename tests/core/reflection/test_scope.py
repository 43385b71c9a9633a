"""What an agent wrote as the person's and says nothing of them is offered to its project, and never given unasked."""

from __future__ import annotations

from typing import Any

import pytest
from kits.graph_kit import draft_of, make_note, memory_of

from core.model.note import Note
from core.reflection import ReflectionResult, reflect


def written(content: str = "Tokens expire after an hour.", **fields: Any) -> Note:
    usual = {
        "nugget_name": "scanner",
        "scope": "user",
        "subject": "user:primary",
        "source": "agent_reflection",
    }
    return make_note(1, content, fields.pop("title", "Expiry"), **(usual | fields))


def offered(note: Note, **wanted: Any) -> list[str]:
    return [one.note_id for one in a_pass(note, **wanted).changes if one.type == "scope"]


def a_pass(note: Note, **wanted: Any) -> ReflectionResult:
    return reflect(draft_of(memory_of([note])), **wanted)


def test_it_is_offered_and_done_once_a_person_accepts_it() -> None:
    (change,) = [one for one in a_pass(written()).changes if one.type == "scope"]
    assert change.doubtful
    done = a_pass(written(), accept=[change.id])
    (after,) = [one.after for one in done.change_set.notes]
    assert after is not None
    assert (after.scope, after.subject) == ("project", "shared:project")
    assert "scope:project" in after.tags
    assert "scope:user" not in after.tags
    assert done.counts["rescoped"] == 1
    assert offered(after) == []


def test_no_pass_that_nobody_watches_does_it_and_a_refusal_holds() -> None:
    note = written()
    assert offered(note, sure=True) == []
    (change,) = [one for one in a_pass(note).changes if one.type == "scope"]
    (kept,) = [one.after for one in a_pass(note, refuse=[change.id]).change_set.notes]
    assert kept is not None
    assert offered(kept) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"nugget_name": "prefs"},
        {"type": "preference"},
        {"source": "explicit_user"},
        {"subject": "user:ada"},
        {"title": "user:expiry"},
        {"content": "She prefers short answers."},
        {"tags": ("pinned",)},
        {"hidden": True},
    ],
)
def test_what_is_of_the_person_stays_theirs(fields: dict[str, Any]) -> None:
    assert offered(written(**fields)) == []
