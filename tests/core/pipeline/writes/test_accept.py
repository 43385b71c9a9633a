"""What a person says of proposals: accepted later, one by one or all above a confidence, and refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.writes_kit import CONTROLLED, FULL, SHADOW, Writes, decision, fact, found

from core.graph.edits import edit_note, hide_note
from core.pipeline.records import ProposalReason

TEA = "Anna likes green tea"
COFFEE = "Anna likes green coffee"
DEPLOY = "The deploy of checkout runs on Fridays"
FRIDAYS = "The deploy runs on Fridays"
TEXT = f"{TEA}. {COFFEE}. {DEPLOY}."


@pytest.fixture
def shadow(tmp_path: Path) -> Iterator[Writes]:
    with Writes(tmp_path, SHADOW) as made:
        yield made


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Writes]:
    with Writes(tmp_path, FULL) as made:
        yield made


def _proposed(writes: Writes, text: str) -> str:
    return next(one.id for one in writes.proposals(all=False) if one.content == text)


# Shadow


def test_a_proposal_of_shadow_mode_is_applied_later_as_controlled_write_had_done(shadow: Writes) -> None:
    shadow.learn(TEXT, found(TEA, fact(DEPLOY, 0.3)))
    for text in (TEA, DEPLOY):
        done = shadow.accept(_proposed(shadow, text), by="person:vera")
        assert (len(done.written), done.deduped, done.skipped) == (1, (), ())
    assert shadow.notes() == [TEA, DEPLOY]
    tea, deploy = shadow.memory.snapshot.notes
    # What a person accepted is held for as sure as the model was of it.
    assert (tea.confidence, deploy.confidence) == (0.9, 0.3)
    assert not shadow.proposals(all=False)
    (settled,) = [one for one in shadow.proposals() if one.content == TEA]
    assert (settled.status, settled.note_id, settled.resolved_by) == ("applied", tea.id, "person:vera")
    events = [(row.event, row.changed_by) for row in shadow.history(settled.id)]
    assert events[:3] == [
        ("none", "pipeline-shadow"),
        ("accepted", "person:vera"),
        ("created", "pipeline-v2"),
    ]


def test_accepting_lets_what_was_found_in_the_text_be_brought_in(shadow: Writes) -> None:
    triple = {"source": "Anna", "relationship": "likes", "target": "tea", "confidence": 0.9}
    shadow.learn(TEXT, found(TEA, entities=[triple]))
    shadow.learn(f"{DEPLOY}.", found(DEPLOY, entities=[triple]))
    shadow.accept(_proposed(shadow, TEA))
    reader = shadow.database.reading
    assert reader.column("SELECT DISTINCT target FROM mentions WHERE source = 'model'") == (
        "raw-0000000000000001",
    )


def test_all_above_a_confidence_takes_sure_additions_that_nothing_is_to_be_said_against(
    shadow: Writes,
) -> None:
    shadow.configuration = CONTROLLED
    shadow.known(TEA)
    shadow.configuration = SHADOW
    shadow.learn(
        TEXT,
        found(fact(DEPLOY, 0.9), fact(COFFEE, 0.99), fact("Zebras graze", 0.95), fact(FRIDAYS, 0.4)),
        {"decisions": [
            {"fact": "F1", "action": "update", "targetId": "C1", "confidence": 0.9, "reason": "newer"},
            {"fact": "F2", "action": "add", "confidence": 0.9, "reason": "new"},
            {"fact": "F3", "action": "add", "confidence": 0.9, "reason": "new"},
        ]},
    )  # fmt: skip

    assert len(shadow.proposals(all=False)) == 4
    assert shadow.database.reading.proposals.above(0.9) == (_proposed(shadow, DEPLOY),)
    assert set(shadow.database.reading.proposals.above(0.0)) == {
        _proposed(shadow, DEPLOY),
        _proposed(shadow, FRIDAYS),
    }
    assert shadow.database.reading.proposals.above(0.91) == ()
    # What is shown of each is what counts here.
    shown = {one.id: one.sure for one in shadow.proposals(all=False) if not one.review_needed}
    for id in shadow.database.reading.proposals.above(0.0):
        assert id in shadow.database.reading.proposals.above(shown[id])
        assert id not in shadow.database.reading.proposals.above(shown[id] + 0.001)


def test_the_same_fact_of_two_proposals_is_written_once(tmp_path: Path) -> None:
    """In other spacing and punctuation too, which the hash alone would take for two."""
    with Writes(tmp_path, SHADOW) as writes:
        writes.learn(TEXT, found(TEA))
        writes.learn(f"{TEXT} Again", found("Anna, likes green - tea"))
        (first,) = [one.id for one in writes.proposals(all=False)]
        # As a version did that did not hold facts against proposals.
        second = writes.proposal().id
        with writes.database.write() as writer:
            writer.run("UPDATE proposals SET status = 'proposed', reason = 'shadow' WHERE id = ?", second)
        done = writes.accept(first, second)
        assert (len(done.written), len(done.deduped), len(writes.notes())) == (1, 1, 1)
        (repeated,) = [one for one in writes.proposals() if one.id == done.deduped[0]]
        assert (repeated.status, repeated.target_note) == ("deduped", writes.memory.snapshot.notes[0].id)


# What is settled, unknown, refused


def test_what_is_settled_or_unknown_is_skipped_and_told(shadow: Writes) -> None:
    shadow.learn(TEXT, found(TEA, DEPLOY))
    tea, deploy = _proposed(shadow, TEA), _proposed(shadow, DEPLOY)
    assert shadow.refuse(deploy, deploy, "proposal-0") == 1
    shadow.accept(tea)
    done = shadow.accept(tea, deploy, "proposal-0", tea)
    assert (done.written, done.deduped) == ((), ())
    assert done.skipped == (
        (tea, "already decided (applied)"),
        (deploy, "already decided (rejected)"),
        ("proposal-0", "no such proposal"),
    )
    (refused,) = [one for one in shadow.proposals() if one.id == deploy]
    assert (refused.status, refused.reason) == ("rejected", ProposalReason.REFUSED)
    assert [row.event for row in shadow.history(deploy)] == ["none", "refused"]
    assert shadow.notes() == [TEA]


def test_an_ungrounded_fact_waits_and_is_written_when_a_person_says_so(full: Writes) -> None:
    full.learn(TEXT, found("Zebras graze there"))
    waiting = full.proposal()
    assert (waiting.status, waiting.reason, waiting.grounded, waiting.span) == (
        "review",
        "ungrounded",
        False,
        None,
    )
    full.accept(waiting.id)
    assert full.notes() == ["Zebras graze there"]


# Updates and deletions


def test_an_accepted_update_of_a_note_of_a_persons_own_hides_it_and_leaves_its_words(full: Writes) -> None:
    (note_id,) = full.known(TEA)
    with full.database.write() as writer:
        writer.connection.execute("DELETE FROM facts")
    full.memory.change("mine", lambda draft: edit_note(draft, note_id, add_tags=("drinks",)))
    full.learn(TEXT, found(COFFEE), decision("update", "C1"))
    full.accept(full.proposal().id)
    assert full.notes() == [COFFEE]
    assert full.memory.snapshot.by_id[note_id].content == TEA
    assert "drinks" in full.memory.snapshot.by_id[full.proposal().note_id].tags


def test_an_accepted_deletion_hides_and_never_removes(full: Writes) -> None:
    (note_id,) = full.known(TEA)
    full.learn(TEXT, found("Anna no longer likes green tea"), decision("delete", "C1"))
    waiting = full.proposal()
    assert waiting.reason == ProposalReason.CONTRADICTION
    assert waiting.contradiction.startswith("negation")
    full.accept(waiting.id)
    note = full.memory.snapshot.by_id[note_id]
    assert (note.hidden, note.content, full.notes()) == (True, TEA, [])
    there = full.database.reading.facts.of_note(note_id)
    assert there
    assert there.status == "denied"
    assert full.database.reading.facts.same("memory", there.content_hash) is None


@pytest.mark.parametrize("action", ["update", "delete"])
def test_a_persons_edit_of_the_note_goes_before_a_proposal_which_waits_on(full: Writes, action: str) -> None:
    (note_id,) = full.known(TEA)
    full.learn(TEXT, found(COFFEE), decision(action, "C1"))
    full.memory.change("mine", lambda draft: edit_note(draft, note_id, content="Anna likes black tea"))
    done = full.accept(full.proposal().id)
    assert done.skipped == (
        (full.proposal().id, "the note has changed since this was proposed; look at both again"),
    )
    assert full.notes() == ["Anna likes black tea"]
    # It is held against what the note says by now, and can be accepted so.
    assert (full.proposal().open, full.proposal().target_content) == (True, "Anna likes black tea")
    assert len(full.accept(full.proposal().id).written) == 1
    assert full.notes() == ([COFFEE] if action == "update" else [])


def test_what_is_said_of_a_note_that_is_hidden_by_now_stands_without_it(full: Writes) -> None:
    (note_id,) = full.known(TEA)
    full.learn(TEXT, found(COFFEE), decision("update", "C1"))
    full.memory.change("hidden", lambda draft: hide_note(draft, note_id))
    assert len(full.accept(full.proposal().id).written) == 1
    assert (full.notes(), full.memory.snapshot.by_id[note_id].hidden) == ([COFFEE], True)
    assert full.memory.snapshot.by_id[full.proposal().note_id].title == COFFEE


def test_a_deletion_of_a_note_that_is_hidden_by_now_has_nothing_to_do(shadow: Writes) -> None:
    shadow.configuration = CONTROLLED
    (note_id,) = shadow.known(TEA)
    shadow.configuration = SHADOW
    shadow.learn(TEXT, found(COFFEE), decision("delete", "C1"))
    shadow.memory.change("hidden", lambda draft: hide_note(draft, note_id))
    done = shadow.accept(shadow.proposal().id)
    assert done.skipped[0][1] == "the note is hidden or deleted"
    assert shadow.proposal().reason == ProposalReason.TARGET_GONE
