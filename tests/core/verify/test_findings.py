"""What each rule finds, what it says, and what mending leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.drafts import (
    LONG_AGO,
    NOW_TEXT,
    draft_over,
    facts_in,
    found,
    make_draft,
    make_fact_note,
    make_note,
)

from core import Memory
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import HiddenFact, Note
from core.model.snapshot import Problem, ProblemKind
from core.verify import Finding, RepairKind, findings, repair

KEPT = HiddenFact(key="k", value="v", hits=2, last_hit_session="s-1", index=1)


def only(draft: Draft) -> Finding:
    [finding] = findings(draft.snapshot)
    return finding


def mended(draft: Draft) -> Draft:
    repair(draft)
    assert [finding for finding in findings(draft.present()) if finding.repair] == []
    return draft


def notes_in(draft: Draft, *, hidden: bool) -> list[Note]:
    return [note for note in draft.notes() if note.hidden is hidden]


# A fact and its note


def test_a_fact_that_is_missing_in_its_file_comes_back_from_its_note() -> None:
    notes = make_fact_note(1, "k", "v", hits=3, last_hit_session="s-1"), make_fact_note(2, "j", "w")
    draft = make_draft(*notes, facts={"j": "w"})
    finding = only(draft)
    assert (finding.kind, finding.where, finding.means) == ("missing-fact", "memory: k", RepairKind.CHANGE)
    held = mended(draft).nugget("memory")
    assert held is not None
    assert held.facts == (Fact(key="j", value="w"), Fact(key="k", value="v", hits=3, last_hit_session="s-1"))
    # Nothing is made of a note without text, and all facts of a file that is gone come back together.
    assert only(make_draft(make_fact_note(1, "k", ""), facts={})).means is None
    assert facts_in(mended(make_draft(*notes))) == {"k": "v", "j": "w"}


def test_a_fact_that_may_be_one_that_cannot_be_read_is_not_judged() -> None:
    fact = Problem(
        ProblemKind.UNREADABLE_FACT, "memory.nugget.json: fact 2", "cannot be read (x)", "memory.nugget.json",
        "memory",
    )  # fmt: skip
    draft = make_draft(make_fact_note(1, "k", "v"), facts={}, problems=(fact,))
    assert only(draft).kind == "unreadable-fact"
    note = Problem(ProblemKind.UNREADABLE_NOTE, "graph.json: note 2", "cannot be read (x)", "graph.json")
    assert only(make_draft(facts={"k": "v"}, problems=(note,))).kind == "unreadable-note"


def test_a_fact_without_a_note_gets_one_with_its_recalls() -> None:
    draft = make_draft(facts={"user:k": "v"})
    draft.put_fact("memory", Fact(key="user:k", value="v", hits=4, last_hit_session="s-1"))
    draft = draft_over(draft.present())
    assert only(draft).kind == "missing-note"
    [note] = mended(draft).notes()
    assert (note.title, note.source_key, note.content, note.kind) == ("user:k", "user:k", "v", "fact")
    assert (note.scope, note.hits, note.last_hit_session) == ("user", 4, "s-1")


def test_where_fact_and_note_disagree_the_notes_text_wins_and_the_value_is_kept() -> None:
    note = make_fact_note(1, "k", "the note")
    draft = make_draft(note, make_fact_note(2, "j", "x"), facts={"k": "the value", "j": "x"})
    assert only(draft).kind == "value-differs"
    assert facts_in(mended(draft)) == {"k": "the note", "j": "x"}
    [kept] = notes_in(draft, hidden=True)
    assert (kept.content, kept.archived_at) == ("the value", NOW_TEXT)
    assert kept.hidden_fact == HiddenFact(key="k", value="the value", index=2)
    assert found(draft, note) == note
    # White space alone is no difference, and an empty note takes the value of its fact.
    assert findings(make_draft(make_fact_note(1, "k", "a  b\n"), facts={"k": "a b"}).snapshot) == []
    draft = mended(make_draft(make_fact_note(1, "k", ""), facts={"k": "v"}))
    assert ([note.content for note in draft.notes()], facts_in(draft)) == (["v"], {"k": "v"})


@pytest.mark.parametrize(("noted", "stored"), [("k", "user:k"), ("user:k", "k"), ("K", "k")])
def test_a_note_follows_the_key_that_another_program_gave_its_fact(noted: str, stored: str) -> None:
    note = make_fact_note(1, noted, "v")
    draft = make_draft(note, facts={stored: "v"})
    assert only(draft).kind == "key-differs"
    after = found(mended(draft), note)
    assert (after.id, after.title, after.source_key, after.content) == (note.id, stored, stored, "v")
    assert facts_in(draft) == {stored: "v"}


# Hidden facts


def test_a_visible_note_whose_key_was_remembered_anew_keeps_the_old_value_in_a_hidden_note() -> None:
    note = make_fact_note(1, "k", "new", hidden_fact=KEPT, archived_at=LONG_AGO)
    draft = make_draft(note, facts={"k": "new"})
    after = found(mended(draft), note)
    assert (after.hidden, after.archived_at, after.hidden_fact, after.content) == (False, None, None, "new")
    [kept] = notes_in(draft, hidden=True)
    assert (kept.hidden_fact, kept.content, kept.hits) == (KEPT, "v", 2)
    assert facts_in(draft) == {"k": "new"}


def test_a_visible_note_whose_fact_waits_in_it_alone_brings_the_fact_back_to_its_place() -> None:
    note = make_fact_note(1, "k", "v", hidden_fact=KEPT)
    others = [make_fact_note(number, key, "x") for number, key in ((2, "a"), (3, "b"))]
    draft = make_draft(note, *others, facts={"a": "x", "b": "x"})
    assert list(facts_in(mended(draft))) == ["a", "k", "b"]
    assert found(draft, note).hidden_fact is None


@pytest.mark.parametrize("kept", [None, KEPT])
def test_a_hidden_fact_that_agents_still_recall_leaves_its_file(kept: HiddenFact | None) -> None:
    note = make_fact_note(1, "k", "v", hidden=True, hidden_fact=kept)
    draft = make_draft(note, facts={"k": "v"})
    assert only(draft).kind == "hidden-but-recalled"
    after = found(mended(draft), note)
    assert facts_in(draft) == {}
    assert after.hidden_fact is not None
    assert (after.hidden_fact.value, after.hidden_fact.index) == ("v", 1 if kept else 0)


# Notes


# What a person must act on


def test_values_that_the_format_does_not_know_are_only_told() -> None:
    odd = make_note(
        1, created_at="yesterday", confidence=7.0, scope="team", source="rumour", stability="firm"
    )
    draft = make_draft(odd)
    assert [finding.kind for finding in findings(draft.snapshot)] == [
        "no-time", "confidence", "unknown-scope", "unknown-source", "unknown-stability",
    ]  # fmt: skip
    repair(draft)
    assert draft.change_set("repaired").empty


def test_what_a_file_holds_that_cannot_be_read_is_told_as_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "graph.json").write_bytes(b'{"version": 3, "notes": [{"id": "x"}]}')
    for name in ("memory.nugget.json", "memory.donna.json"):
        (tmp_path / name).write_bytes(b'{"name": "memory", "facts": [7]}')
    (tmp_path / "other.nugget.json").write_bytes(b"{")
    told = [finding.kind for finding in findings(Memory.open(tmp_path).snapshot)]
    assert sorted(told) == [
        "second-file", "unreadable-fact", "unreadable-fact", "unreadable-file", "unreadable-note",
    ]  # fmt: skip


# The memory that the original wrote
