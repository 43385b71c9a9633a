from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.hostile import HOSTILE
from kits.writes_kit import Writes, found

from core.graph.edits import edit_note, hide_note
from core.model.draft import Draft
from core.model.note import Note
from core.pipeline.decide import StoredCandidate
from core.pipeline.extract import ExtractedFact
from core.pipeline.writes.candidates import CandidateSearch, plain_query
from core.settings.pipeline_sections import SearchPart

TEA = "Anna likes green tea"
TEXT = "Anna likes green tea and coffee."


@pytest.fixture
def writes(tmp_path: Path) -> Iterator[Writes]:
    with Writes(tmp_path) as made:
        yield made


def candidates(
    writes: Writes, content: str, nugget: str = "memory", search: SearchPart | None = None
) -> tuple[StoredCandidate, ...]:
    sought = CandidateSearch(writes.database, writes.memory, nugget, search or SearchPart())
    return sought.of([ExtractedFact(content, "fact", 0.9, True)])[0]


def put(writes: Writes, *texts: str, nugget: str = "memory") -> None:
    """Notes of a person's own."""

    def edit(draft: Draft) -> None:
        for text in texts:
            draft.put(
                Note(
                    id=draft.new_place("note", nugget, "")[0], nugget_name=nugget, title="Note", content=text
                )
            )

    writes.memory.change("made", edit)


def test_notes_of_people_are_candidates_best_first(writes: Writes) -> None:
    put(writes, "Anna likes coffee", TEA, "Nothing of the kind")
    near = candidates(writes, "Anna likes green tea most")
    assert [one.content for one in near] == [TEA, "Anna likes coffee"]
    assert near[0].score > near[1].score


def test_a_person_s_wording_counts_not_the_fact_s(writes: Writes) -> None:
    (note_id,) = writes.known(TEA)
    writes.memory.change(
        "mine", lambda draft: edit_note(draft, note_id, content="Anna likes green tea on Sundays")
    )
    (near,) = candidates(writes, "Anna likes tea")
    assert near.content == "Anna likes green tea on Sundays"


def test_a_note_that_was_hidden_is_offered_for_the_same_words_alone(writes: Writes) -> None:
    (note_id,) = writes.known(TEA)
    writes.memory.change("hidden", lambda draft: hide_note(draft, note_id))
    assert [one.id for one in candidates(writes, "ANNA likes, green tea")] == [note_id]
    assert candidates(writes, "Anna likes green tea with honey on Sundays") == ()


def test_other_nuggets_are_out_of_reach(writes: Writes) -> None:
    put(writes, TEA, nugget="other")
    writes.learn(TEXT, found(TEA), nugget="third")
    assert candidates(writes, TEA) == ()
    assert len(candidates(writes, TEA, "other")) == len(candidates(writes, TEA, "third")) == 1


def test_a_nugget_is_found_however_its_case_is_spelled(writes: Writes) -> None:
    put(writes, TEA, nugget="Kitchen")
    assert len(candidates(writes, TEA, "kitchen")) == 1


def test_five_at_most_and_none_below_the_least_score(writes: Writes) -> None:
    put(writes, TEA, "Anna likes coffee", *(f"Checkout runs on port {number}" for number in range(8)))
    assert len(candidates(writes, "The port that checkout runs on")) == 5
    near = candidates(writes, "Anna likes green tea most")
    assert len(near) == 2
    strict = candidates(writes, "Anna likes green tea most", search=SearchPart(min_score=0.95))
    assert strict == near[:1]


def test_a_question_to_the_search_is_words_alone() -> None:
    assert (
        plain_query('Use "uv", not -pip: tag:auth is:hidden OR nugget:x')
        == "use uv pip tag auth hidden nugget x"
    )


@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_text_finds_itself_and_breaks_nothing(writes: Writes, content: str) -> None:
    text = content.strip() or "nothing"
    put(writes, text)
    for one in candidates(writes, content):
        assert one.id
