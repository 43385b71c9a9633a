"""Facts that changed: the change waits in every mode and is no note, and replaces the old one when accepted."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.faults import end_before_step
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, configure, drain, note_texts, open_pipeline
from kits.writes_kit import decision, found

from core.facts.edits import remember
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft
from core.model.note import Note
from core.pipeline.database.connection import Database
from core.pipeline.records import Accepted, StoredProposal
from core.pipeline.service import Pipeline
from core.pipeline.writes.following import drift
from core.workspace import open_memory
from nuggets_tui.pipeline_words import outcomes

POSTGRES = "The team uses PostgreSQL as its database"
COCKROACH = "The team moved its database to CockroachDB"
# Lines of the settings, and whether notes are written without a person.
MODES = {
    "shadow": ("shadowMode = true", False),
    "controlled-write": ("shadowMode = false", True),
    "full": ("shadowMode = false\n[pipeline.autonomous]\nallowUpdateDelete = true", True),
}
every_mode = pytest.mark.parametrize("mode", MODES)
writing_modes = pytest.mark.parametrize("mode", [name for name, (_, writes) in MODES.items() if writes])


class Case:
    """A pipeline whose model says what it is told next."""

    def __init__(self, home: Path) -> None:
        self.home = configure(home, "shadowMode = false")
        self.script: list[Line] = []
        self.clock = Clock()
        self.pipeline = open_pipeline(home, ScriptedModel(self.script), self.clock)

    def learn(self, text: str, *script: Line) -> StoredProposal | None:
        """Hands a text in and reads it; the newest proposal that waits."""
        self.script[:] = script
        self.clock.forward(minutes=1)
        self.pipeline.ingest(text)
        drain(self.pipeline)
        assert not self.script, "the model was not asked so often"
        return next(iter(self.pipeline.proposals()), None)

    def changed(self, mode: str, action: str = "update", new: str = COCKROACH) -> StoredProposal:
        """The old fact is a note, then a text says otherwise."""
        self.learn(f"{POSTGRES}.", found(POSTGRES))
        configure(self.home, MODES[mode][0])
        waiting = self.learn(f"{new}.", found(new), decision(action, "C1"))
        assert waiting is not None
        return waiting

    def note(self, content: str, *, hidden: bool = False) -> str:
        """The id of the only note that says so, hidden or not."""
        self.pipeline.memory.refresh()
        notes = self.pipeline.memory.snapshot.notes
        (one,) = [note.id for note in notes if note.content == content and note.hidden == hidden]
        return one

    def recalled(self, query: str) -> list[str]:
        """What the search gives, best first."""
        self.pipeline.memory.refresh()
        return [hit.note.content for hit in self.pipeline.memory.search(query, 5)]

    def facts(self) -> dict[str, str]:
        """Each fact with its status."""
        rows = self.pipeline.database.reading.connection.execute("SELECT content, status FROM facts")
        return {row["content"]: row["status"] for row in rows}

    def agree(self) -> None:
        """Holds that notes and database say the same."""
        self.pipeline.follow_undo()
        assert drift(self.pipeline.memory) == ()
        assert self.pipeline.memory.maintenance.verify() == ()

    def accept(self, *proposals: StoredProposal) -> Accepted:
        return self.pipeline.accept([one.id for one in proposals])


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    made = Case(tmp_path / "home")
    yield made
    made.pipeline.close()


@every_mode
@pytest.mark.parametrize("action", ["update", "delete"])
def test_a_change_waits_in_every_mode_with_the_old_and_the_new_beside_each_other(
    case: Case, mode: str, action: str
) -> None:
    waiting = case.changed(mode, action)
    assert (waiting.open, waiting.action) == (True, action)
    assert (waiting.target_content, waiting.content) == (POSTGRES, COCKROACH)
    assert case.pipeline.status().proposals_open == 1
    assert case.pipeline.resolve_ids([COCKROACH]) == (waiting.id,)
    assert (waiting.resolved_at, waiting.resolved_by, waiting.note_id) == (None, "", "")
    assert note_texts(case.pipeline) == [POSTGRES]
    case.agree()


@every_mode
def test_accepted_the_new_is_recalled_first_and_the_old_is_hidden_by_one_change(
    case: Case, mode: str
) -> None:
    waiting = case.changed(mode)
    before = {entry.change_set.id for entry in case.pipeline.memory.history.log()}
    done = case.accept(waiting)
    assert (done.written, done.skipped, done.waiting) == ((waiting.id,), (), ())
    assert done.change_set is not None
    assert {entry.change_set.id for entry in case.pipeline.memory.history.log()} - before == {
        done.change_set.id
    }
    assert note_texts(case.pipeline) == [COCKROACH]
    old, new = case.note(POSTGRES, hidden=True), case.note(COCKROACH)
    note = case.pipeline.memory.snapshot.by_id[new]
    assert (note.title, [link.reason for link in note.links if link.to == old]) == (COCKROACH, ["replaces"])
    assert "disputes" not in note.tags
    assert case.recalled("which database does the team use")[0] == COCKROACH
    assert case.facts() == {POSTGRES: "denied", COCKROACH: "active"}
    assert case.pipeline.proposals() == ()
    origin = case.pipeline.origin(new)
    assert origin is not None
    assert origin.content == f"{COCKROACH}."
    case.agree()


@pytest.mark.slow
@every_mode
@pytest.mark.parametrize("action", ["update", "delete"])
def test_undo_and_redo_of_an_accepted_change_bring_both_stores_along(
    case: Case, mode: str, action: str
) -> None:
    waiting = case.changed(mode, action)
    texts, facts = note_texts(case.pipeline), case.facts()
    for _ in range(2):
        case.accept(waiting)
        taken_texts, taken_facts = note_texts(case.pipeline), case.facts()
        case.agree()
        case.pipeline.memory.history.undo()
        assert case.pipeline.follow_undo() == 1
        assert case.pipeline.follow_undo() == 0
        (again,) = case.pipeline.proposals()
        assert again.id == waiting.id
        assert note_texts(case.pipeline) == texts
        assert {text: case.facts()[text] for text in facts} == facts
        case.agree()
        case.pipeline.memory.history.redo()
        assert case.pipeline.follow_undo() == 1
        assert (note_texts(case.pipeline), case.facts()) == (taken_texts, taken_facts)
        case.agree()
        case.pipeline.memory.history.undo()
        assert case.pipeline.follow_undo() == 1
    done = case.accept(waiting)
    assert (done.written, note_texts(case.pipeline)) == ((waiting.id,), taken_texts)
    case.agree()


@every_mode
def test_recall_of_the_old_fact_names_what_waits_against_it(case: Case, mode: str) -> None:
    waiting = case.changed(mode)
    with contextlib.closing(open_memory(case.home)) as memory:
        (side,) = memory.recall("what database does the team use PostgreSQL", record=False).disputed_by
        assert side.content == COCKROACH
        assert (side.proposal_id, side.note_id) == (waiting.id, "")
    case.pipeline.refuse([waiting.id])
    with contextlib.closing(open_memory(case.home)) as memory:
        assert not memory.recall("what database does the team use PostgreSQL", record=False).disputed_by


@every_mode
def test_refused_the_old_stands_and_the_new_is_not_proposed_again(case: Case, mode: str) -> None:
    waiting = case.changed(mode)
    assert case.pipeline.refuse([waiting.id]) == 1
    assert note_texts(case.pipeline) == [POSTGRES]
    assert case.facts() == {POSTGRES: "active"}
    case.agree()
    case.learn(f"Again: {COCKROACH}.", found(COCKROACH))
    assert note_texts(case.pipeline) == [POSTGRES]
    assert case.pipeline.proposals() == ()
    # A refusal is a change like any other.
    case.pipeline.memory.history.undo()
    assert case.pipeline.follow_undo() == 1
    assert [one.id for one in case.pipeline.proposals()] == [waiting.id]
    assert note_texts(case.pipeline) == [POSTGRES]
    case.agree()
    case.accept(waiting)
    assert note_texts(case.pipeline) == [COCKROACH]
    case.agree()


@every_mode
def test_an_accepted_change_that_was_undone_can_be_refused(case: Case, mode: str) -> None:
    waiting = case.changed(mode)
    case.accept(waiting)
    case.pipeline.memory.history.undo()
    case.pipeline.follow_undo()
    assert case.pipeline.refuse([waiting.id]) == 1
    assert note_texts(case.pipeline) == [POSTGRES]
    assert case.pipeline.proposals() == ()
    case.agree()


@pytest.mark.slow
@writing_modes
def test_a_fact_of_a_nugget_keeps_its_key_and_gets_the_new_words(case: Case, mode: str) -> None:
    def remembered(draft: Draft) -> None:
        remember(draft, "memory", "database", POSTGRES)
        for number in range(9):
            remember(draft, "memory", f"room {number}", f"painted in colour {number}")

    case.pipeline.memory.change("mine", remembered)
    configure(case.home, MODES[mode][0])
    waiting = case.learn(f"{COCKROACH}.", found(COCKROACH), decision("update", "C1"))
    assert waiting is not None
    for _ in range(2):
        case.accept(waiting)
        assert case.pipeline.memory.recall("database").answer == COCKROACH
        assert note_texts(case.pipeline).count(COCKROACH) == 1
        assert POSTGRES not in note_texts(case.pipeline)
        case.agree()
        case.pipeline.memory.history.undo()
        case.pipeline.follow_undo()
        assert case.pipeline.memory.recall("database").answer == POSTGRES
        case.agree()


def open_changes(pipeline: Pipeline) -> list[str]:
    return [one.content for one in pipeline.proposals() if one.changes]


# Within one text

RAISED = "The retry limit was raised to 50"
PUT_BACK = "The retry limit was put back to 16"
SAID = f"{RAISED}. Two days later it hurt. {PUT_BACK}."


@every_mode
def test_a_later_correction_within_one_text_wins_by_itself(case: Case, mode: str) -> None:
    configure(case.home, MODES[mode][0])
    case.learn(SAID, found(RAISED, PUT_BACK), decision("update", "C1"))
    waiting = case.pipeline.proposals()
    assert [one.content for one in waiting] == ([PUT_BACK] if mode == "shadow" else [])
    case.accept(*waiting)
    assert note_texts(case.pipeline) == [PUT_BACK]
    case.agree()


@every_mode
def test_a_correction_of_what_would_change_a_stored_fact_is_the_one_that_changes_it(
    case: Case, mode: str
) -> None:
    limit = "The retry limit is 16"
    case.learn(f"{limit}.", found(limit))
    configure(case.home, MODES[mode][0])
    back = "The retry limit was put back to 20"
    for target in ("C1", "C2"):
        # The second fact names the stored text, or the first fact.
        waiting = case.learn(
            f"{RAISED}. Then it hurt ({target}). {back}.",
            found(RAISED, back),
            {"decisions": [
                {"fact": "F1", "action": "update", "targetId": "C1", "confidence": 0.9, "reason": "newer"},
                {"fact": "F2", "action": "update", "targetId": target, "confidence": 0.9, "reason": "newer"},
            ]},
        )  # fmt: skip
        assert waiting is not None
        assert (waiting.content, waiting.target_content) == (back, limit)
        assert open_changes(case.pipeline) == [back]
        case.pipeline.refuse([waiting.id])
        back = "The retry limit was put back to 24"


@every_mode
@pytest.mark.parametrize("last", ["C1", "C2"])
def test_of_several_corrections_within_one_text_the_last_one_stands(case: Case, mode: str, last: str) -> None:
    """Whether it names the first statement or the one before it."""
    configure(case.home, MODES[mode][0])
    final = "The retry limit was finally set to 24"
    decided = [("F1", "C1"), ("F2", last)]
    case.learn(
        f"{SAID} Then it was calm. {final}.",
        found(RAISED, PUT_BACK, final),
        {"decisions": [
            {"fact": fact, "action": "update", "targetId": target, "confidence": 0.9, "reason": "later"}
            for fact, target in decided
        ]},
    )  # fmt: skip
    case.accept(*case.pipeline.proposals())
    assert note_texts(case.pipeline) == [final]
    case.agree()


# Across the windows of one long text

SMALL = "\n[pipeline.extraction]\nwindow_chars = 2000\nwindow_overlap_chars = 200"
BETWEEN = "".join(f"Line {number} says nothing of note at all.\n" for number in range(60))


def in_two_windows(
    case: Case, mode: str, action: str = "update", first: str = RAISED
) -> list[StoredProposal]:
    """A long text whose second window takes back what its first one says; what waits then."""
    configure(case.home, MODES[mode][0] + SMALL)
    case.learn(f"{first}.\n{BETWEEN}{PUT_BACK}.", found(first), found(PUT_BACK), decision(action, "C1"))
    return list(case.pipeline.proposals())


@every_mode
@pytest.mark.parametrize("action", ["update", "delete"])
def test_a_later_correction_wins_by_itself_across_the_windows_of_one_text(
    case: Case, mode: str, action: str
) -> None:
    waiting = in_two_windows(case, mode, action)
    assert [(one.content, one.action) for one in waiting] == ([(PUT_BACK, "add")] if mode == "shadow" else [])
    case.accept(*waiting)
    assert note_texts(case.pipeline) == [PUT_BACK]
    case.agree()
    (raised,) = [one for one in case.pipeline.proposals(all=True) if one.content == RAISED]
    (row,) = [row for row in case.pipeline.history(raised.id) if row.event == "replaced"]
    assert (row.old_content, row.new_content) == (RAISED, PUT_BACK)
    told = outcomes(case.pipeline.history(raised.raw_id))
    assert [became for said, became, _ in told if said == RAISED] == ["a later statement replaces it"]
    assert PUT_BACK in [said for said, _, _ in told]


@writing_modes
def test_a_correction_across_windows_is_undone_and_then_a_persons_to_decide(case: Case, mode: str) -> None:
    in_two_windows(case, mode)
    hiding = [
        entry.id
        for entry in case.pipeline.memory.history.log()
        if any(one.after is not None and one.after.hidden for one in entry.change_set.notes)
    ]
    case.pipeline.memory.history.undo(hiding[0])
    assert case.pipeline.follow_undo() == 1
    assert RAISED in note_texts(case.pipeline)
    (again,) = case.pipeline.proposals()
    assert (again.content, again.target_content) == (PUT_BACK, RAISED)
    assert case.facts()[RAISED] == "active"
    case.accept(again)
    assert note_texts(case.pipeline) == [PUT_BACK]
    case.agree()


@every_mode
def test_a_correction_across_windows_of_what_would_change_a_stored_fact_waits_in_its_place(
    case: Case, mode: str
) -> None:
    limit = "The retry limit is 16"
    case.learn(f"{limit}.", found(limit))
    configure(case.home, MODES[mode][0] + SMALL)
    back = "The retry limit was put back to 20"
    # The second window names the change that the first one made.
    case.learn(
        f"{RAISED}.\n{BETWEEN}{back}.",
        found(RAISED),
        decision("update", "C1"),
        found(back),
        decision("update", "C2"),
    )
    (waiting,) = case.pipeline.proposals()
    assert (waiting.action, waiting.content, waiting.target_content) == ("update", back, limit)
    assert note_texts(case.pipeline) == [limit]


@writing_modes
def test_what_a_person_reworded_between_two_windows_is_not_corrected_without_them(
    case: Case, mode: str
) -> None:
    configure(case.home, MODES[mode][0] + SMALL)
    mine = f"{RAISED} for the importer"
    case.script[:] = [found(RAISED)]
    case.pipeline.ingest(f"{RAISED}.\n{BETWEEN}{PUT_BACK}.")
    case.pipeline.tick()
    note = case.note(RAISED)
    case.pipeline.memory.change("mine", lambda draft: edit_note(draft, note, content=mine))
    case.script[:] = [found(PUT_BACK), decision("update", "C1")]
    drain(case.pipeline)
    (waiting,) = case.pipeline.proposals()
    assert (waiting.content, waiting.target_content) == (PUT_BACK, mine)
    assert mine in note_texts(case.pipeline)


@writing_modes
def test_a_correction_that_the_text_does_not_say_corrects_nothing(case: Case, mode: str) -> None:
    configure(case.home, MODES[mode][0])
    case.learn(f"{RAISED}. Nothing else.", found(RAISED, PUT_BACK), decision("update", "C1"))
    assert note_texts(case.pipeline) == [RAISED]
    assert [one.content for one in case.pipeline.proposals()] == [PUT_BACK]


# Proposals know each other


def test_in_shadow_mode_a_fact_that_repeats_a_proposal_is_no_second_one(case: Case) -> None:
    configure(case.home, MODES["shadow"][0])
    case.learn(f"{POSTGRES}.", found(POSTGRES))
    case.learn(f"Once more: {POSTGRES}!", found(f"{POSTGRES}!"))
    case.learn(
        "In other words, PostgreSQL is the database of the team.",
        found("PostgreSQL is the database of the team"),
        decision("none", "C1"),
    )
    assert [one.content for one in case.pipeline.proposals()] == [POSTGRES]


def shadowed(case: Case) -> tuple[StoredProposal, StoredProposal]:
    """A proposal, and one that would change it."""
    configure(case.home, MODES["shadow"][0])
    old = case.learn(f"{POSTGRES}.", found(POSTGRES))
    new = case.learn(f"{COCKROACH}.", found(COCKROACH), decision("update", "C1"))
    assert old is not None
    assert new is not None
    assert (new.target_note, new.target_content) == (old.id, POSTGRES)
    return old, new


def test_a_proposal_that_another_would_change_is_no_sure_addition(case: Case) -> None:
    old, _ = shadowed(case)
    assert case.pipeline.above(0.0) == ()
    assert len(case.pipeline.proposals()) == 2
    case.pipeline.refuse([one.id for one in case.pipeline.proposals() if one.id != old.id])
    assert case.pipeline.above(0.0) == (old.id,)


@pytest.mark.parametrize("order", [1, -1])
def test_both_sides_of_a_change_accepted_together_leave_the_new_one_alone(case: Case, order: int) -> None:
    old, new = shadowed(case)
    done = case.accept(*(old, new)[::order])
    assert done.written == (new.id,)
    assert done.skipped == ((old.id, "a later one replaces it"),)
    assert note_texts(case.pipeline) == [COCKROACH]
    assert case.pipeline.proposals() == ()
    case.agree()


@pytest.mark.slow
def test_undone_both_sides_of_a_change_wait_again_and_redone_neither(case: Case) -> None:
    old, new = shadowed(case)
    for _ in range(2):
        case.accept(new)
        case.pipeline.memory.history.undo()
        case.pipeline.follow_undo()
        assert {one.id for one in case.pipeline.proposals()} == {old.id, new.id}
        assert note_texts(case.pipeline) == []
        case.pipeline.memory.history.redo()
        case.pipeline.follow_undo()
        assert case.pipeline.proposals() == ()
        assert note_texts(case.pipeline) == [COCKROACH]
        case.agree()
        case.pipeline.memory.history.undo()
        case.pipeline.follow_undo()
    case.accept(old, new)
    assert note_texts(case.pipeline) == [COCKROACH]
    case.agree()


@pytest.mark.slow
@writing_modes
def test_undone_the_later_of_two_changes_leaves_both_waiting(case: Case, mode: str) -> None:
    case.changed(mode)
    oracle = "The team moved its database to OracleDB"
    case.learn(f"{oracle}.", found(oracle), decision("update", "C1"))
    before = sorted(note_texts(case.pipeline))
    waiting = {one.id for one in case.pipeline.proposals()}
    case.accept(*case.pipeline.proposals())
    assert note_texts(case.pipeline) == [oracle]
    case.pipeline.memory.history.undo()
    case.pipeline.follow_undo()
    assert {one.id for one in case.pipeline.proposals()} == waiting
    assert sorted(note_texts(case.pipeline)) == before
    case.agree()
    case.accept(*case.pipeline.proposals())
    assert note_texts(case.pipeline) == [oracle]
    case.agree()


def test_after_the_old_side_the_new_one_still_replaces_it(case: Case) -> None:
    old, new = shadowed(case)
    assert case.accept(old).written == (old.id,)
    assert note_texts(case.pipeline) == [POSTGRES]
    (waiting,) = case.pipeline.proposals()
    assert (waiting.id, waiting.target_note) == (new.id, case.note(POSTGRES))
    case.accept(waiting)
    assert note_texts(case.pipeline) == [COCKROACH]
    case.note(POSTGRES, hidden=True)
    case.agree()


def test_after_the_old_side_was_refused_the_new_one_stands_by_itself(case: Case) -> None:
    old, new = shadowed(case)
    case.pipeline.refuse([old.id])
    case.accept(new)
    assert note_texts(case.pipeline) == [COCKROACH]
    case.agree()


@pytest.mark.slow
@every_mode
@pytest.mark.parametrize("together", [True, False])
def test_of_two_changes_of_one_fact_the_later_one_stands_alone(case: Case, mode: str, together: bool) -> None:
    first = case.changed(mode)
    oracle = "The team moved its database to OracleDB"
    case.learn(
        f"{oracle}.",
        found(oracle),
        decision("update", "C1"),
    )
    both = {one.content: one for one in case.pipeline.proposals()}
    assert set(both) == {COCKROACH, oracle}
    if together:
        case.accept(both[oracle], both[COCKROACH])
    else:
        case.accept(first)
        case.accept(next(one for one in case.pipeline.proposals() if one.content == oracle))
    assert note_texts(case.pipeline) == [oracle]
    assert case.pipeline.proposals() == ()
    case.agree()


def test_what_is_written_later_by_itself_no_longer_waits(case: Case) -> None:
    """A text that did not say it had made a proposal of it."""
    case.learn("Lunch was good today.", found(POSTGRES))
    assert len(case.pipeline.proposals()) == 1
    case.learn(f"{POSTGRES}.", found(POSTGRES))
    assert note_texts(case.pipeline) == [POSTGRES]
    assert case.pipeline.proposals() == ()


@every_mode
def test_accepting_settles_the_proposals_that_it_repeats_and_no_others(case: Case, mode: str) -> None:
    configure(case.home, MODES["shadow"][0])
    for text in (POSTGRES, COCKROACH, "The kitchen is green"):
        case.learn(f"{text}.", found(text), *[decision("add")] * (text == COCKROACH))
    # As a version left it that did not hold facts against proposals.
    with case.pipeline.database.write() as writer:
        writer.connection.execute(
            "UPDATE proposals SET content = ? WHERE content = ?", (f"{POSTGRES.lower()} !", COCKROACH)
        )
    configure(case.home, MODES[mode][0])
    first = next(one for one in case.pipeline.proposals() if one.content == POSTGRES)
    case.accept(first)
    assert [one.content for one in case.pipeline.proposals()] == ["The kitchen is green"]
    case.agree()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.slow
def test_an_acceptance_that_is_killed_at_any_moment_is_whole_or_still_to_be_made(
    case: Case, tmp_path: Path
) -> None:
    waiting = case.changed("controlled-write")
    case.pipeline.close()
    codes = []
    for step in range(100):
        copy = tmp_path / f"copy-{step}"
        shutil.copytree(case.home, copy)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException), open_pipeline(copy) as pipeline:
                end_before_step(step, (Database, "write"))
                pipeline.accept([waiting.id])
                os._exit(0)
            os._exit(1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        with open_pipeline(copy) as pipeline:
            taken = pipeline.proposals() == ()
            assert note_texts(pipeline) == ([COCKROACH] if taken else [POSTGRES])
            assert drift(pipeline.memory) == ()
            # The next change removes a file that was only begun.
            assert {one.kind for one in pipeline.memory.maintenance.verify()} <= {"leftover"}
        shutil.rmtree(copy)
        if codes[-1] == 0:
            break
    assert set(codes[:-1]) == {9}
    assert len(codes) > 5


# Several changes of one note, and notes that say more than what changed

ARQ = "We use arq to run the job queue."
GONE = "We no longer use arq."
TEMPORAL = "Temporal runs the job queue."
PRICES = "The canoe costs 40 euros a day. Bicycles are free."
DEARER = "The canoe costs 55 euros a day."


two_modes = pytest.mark.parametrize("mode", ["shadow", "controlled-write"])
two_kinds = pytest.mark.parametrize("keyed", [True, False], ids=["fact", "note"])


def stored(case: Case, text: str, *, keyed: bool) -> str:
    """A note of a person's own, or the note of a fact; its id."""

    def edit(draft: Draft) -> Note:
        if keyed:
            return remember(draft, "memory", "job queue", text)
        return create_note(draft, "memory", "Job queue", text)

    return case.pipeline.memory.change("mine", edit)[0].id


def decided(*answers: tuple[str, str]) -> Line:
    """One decision for each fact of a text: the action, and the label of the candidate."""
    return {
        "decisions": [
            {"fact": f"F{number}", "action": action, "targetId": target, "confidence": 0.9, "reason": "newer"}
            for number, (action, target) in enumerate(answers, 1)
        ]
    }


def both_waiting(case: Case, mode: str, keyed: bool, first: str = "update", texts: int = 1) -> str:
    """Two statements of one text, or of two, that would each change the same note; the id of that note."""
    note = stored(case, ARQ, keyed=keyed)
    configure(case.home, MODES[mode][0])
    if texts == 1:
        case.learn(f"{GONE} {TEMPORAL}", found(GONE, TEMPORAL), decided((first, "C1"), ("update", "C1")))
    else:
        case.learn(GONE, found(GONE), decision(first, "C1"))
        case.learn(f"{TEMPORAL} It runs in Bern.", found(TEMPORAL), decision("update", "C1"))
    return note


def visible(case: Case) -> str:
    return "\n".join(note_texts(case.pipeline))


def both_are_found(case: Case, note: str, *, keyed: bool) -> None:
    assert ARQ not in visible(case)
    assert GONE in visible(case)
    assert TEMPORAL in visible(case)
    assert any(TEMPORAL in text for text in case.recalled("Temporal job queue"))
    if keyed:
        assert case.pipeline.memory.recall("job queue").answer in (f"{GONE} {TEMPORAL}", f"{TEMPORAL} {GONE}")
    else:
        assert case.pipeline.memory.snapshot.by_id[note].content == ARQ
    assert case.pipeline.proposals() == ()
    case.agree()


@two_modes
@two_kinds
@pytest.mark.parametrize("texts", [1, 2])
def test_two_changes_of_one_note_accepted_together_both_stand_and_one_undo_takes_both_back(
    case: Case, mode: str, keyed: bool, texts: int
) -> None:
    note = both_waiting(case, mode, keyed, texts=texts)
    before, waiting = sorted(note_texts(case.pipeline)), case.pipeline.proposals()
    ids = sorted(one.id for one in waiting)
    assert len(ids) == 2
    for _ in range(2):
        done = case.accept(*sorted(case.pipeline.proposals(), key=lambda one: one.content, reverse=True))
        assert (sorted(done.written), done.skipped, done.waiting) == (ids, (), ())
        both_are_found(case, note, keyed=keyed)
        case.pipeline.memory.history.undo()
        case.agree()
        assert sorted(note_texts(case.pipeline)) == before
        assert sorted(one.id for one in case.pipeline.proposals()) == ids


@two_modes
@two_kinds
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("texts", [1, 2])
def test_two_changes_of_one_note_accepted_one_after_the_other_both_stand(
    case: Case, mode: str, keyed: bool, order: int, texts: int
) -> None:
    note = both_waiting(case, mode, keyed, texts=texts)
    before, waiting = sorted(note_texts(case.pipeline)), case.pipeline.proposals()
    for one in waiting[::order]:
        case.clock.forward(days=-1)  # a clock that is set back changes nothing
        done = case.accept(one)
        assert (done.written, done.skipped) == ((one.id,), ())
    assert GONE in visible(case)
    assert TEMPORAL in visible(case)
    assert ARQ not in visible(case)
    case.agree()
    for _ in waiting:
        case.pipeline.memory.history.undo()
        case.agree()
    assert sorted(note_texts(case.pipeline)) == before
    # Undone, neither is held against words that the other one brought.
    done = case.accept(*case.pipeline.proposals())
    assert (len(done.written), done.skipped) == (2, ())
    both_are_found(case, note, keyed=keyed)


@two_kinds
@pytest.mark.parametrize("order", [1, -1])
def test_a_denial_of_a_note_takes_nothing_back_that_was_accepted_in_its_place(
    case: Case, keyed: bool, order: int
) -> None:
    both_waiting(case, "controlled-write", keyed, first="delete")
    for one in case.pipeline.proposals()[::order]:
        case.accept(one)
    assert (ARQ in visible(case), TEMPORAL in visible(case)) == (False, True)
    case.agree()


@pytest.mark.parametrize("target", ["C1", "C2"])
def test_within_one_text_a_denial_takes_no_decision_back_unasked(case: Case, target: str) -> None:
    """Whether it names the stored text, or the decision before it."""
    moved, gone = "The job queue moves to Temporal", "We no longer use arq for the job queue"
    stored(case, ARQ, keyed=False)
    case.learn(f"{moved}. {gone}.", found(moved, gone), decided(("update", "C1"), ("update", target)))
    waiting = case.pipeline.proposals()
    assert {one.content for one in waiting} == {moved, gone}
    assert len(case.accept(*waiting).written) == 2
    assert sorted(note_texts(case.pipeline)) == sorted([moved, gone])


@two_modes
def test_across_the_windows_of_one_text_a_denial_takes_no_decision_back_unasked(
    case: Case, mode: str
) -> None:
    moved, gone = "The job queue moves to Temporal", "We no longer use arq for the job queue"
    configure(case.home, MODES[mode][0] + SMALL)
    case.learn(f"{moved}.\n{BETWEEN}{gone}.", found(moved), found(gone), decision("update", "C1"))
    case.accept(*case.pipeline.proposals())
    assert sorted(note_texts(case.pipeline)) == sorted([moved, gone])
    case.agree()


@two_modes
@two_kinds
@pytest.mark.parametrize("action", ["update", "delete"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PRICES, f"{DEARER} Bicycles are free."),
        ("Bicycles are free and the canoe costs 40 euros a day.", f"Bicycles are free. {DEARER}"),
    ],
)
def test_a_note_that_says_more_than_what_changed_is_edited_and_keeps_the_rest(
    case: Case, mode: str, keyed: bool, action: str, old: str, new: str
) -> None:
    note = stored(case, old, keyed=keyed)
    configure(case.home, MODES[mode][0])
    waiting = case.learn(DEARER, found(DEARER), decision(action, "C1"))
    assert waiting is not None
    assert waiting.becomes == new
    before = sorted(note_texts(case.pipeline))
    for _ in range(2):
        done = case.accept(waiting)
        assert (done.written, done.skipped) == ((waiting.id,), ())
        assert note_texts(case.pipeline) == [new]
        assert case.note(new) == note
        case.agree()
        case.pipeline.memory.history.undo()
        case.agree()
        assert sorted(note_texts(case.pipeline)) == before


def test_two_changes_of_two_sentences_of_one_note_leave_the_third(case: Case) -> None:
    dear_bikes = "Bicycles cost 5 euros a day."
    stored(case, f"{PRICES} The lake is open in May.", keyed=False)
    case.learn(
        f"{DEARER} {dear_bikes}", found(DEARER, dear_bikes), decided(("update", "C1"), ("update", "C1"))
    )
    done = case.accept(*case.pipeline.proposals())
    assert len(done.written) == 2
    (text,) = note_texts(case.pipeline)
    for sentence in (DEARER, dear_bikes, "The lake is open in May."):
        assert sentence in text
    assert "40 euros" not in text
    case.agree()
