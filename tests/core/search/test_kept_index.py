"""An index that was kept is the same again, whatever happened to the notes meanwhile; broken blocks are no index."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import Hit, SearchIndex

TEXTS = (
    "kettle boils",
    "café 京都",
    "userName retry_policy",
    "the of",
    "",
    "\ud800 half",
    "release plan, release",
)
QUERIES = ("kettle", "京都", "retry policy", "relese plan", "kett", "half", "username boils cafe")


def note(number: int, text: str, **fields: object) -> Note:
    values: dict[str, object] = {"title": f"title {number % 3}", "content": text, **fields}
    return Note(id=f"note-memory-{number:08x}", nugget_name="memory", **values)  # type: ignore[arg-type]


def fresh(notes: tuple[Note, ...]) -> SearchIndex:
    index = SearchIndex()
    index.update(Snapshot(notes=notes))
    return index


def answers(index: SearchIndex) -> list[list[tuple[str, float]]]:
    def of(hits: tuple[Hit, ...]) -> list[tuple[str, float]]:
        return [(hit.note.id, pytest.approx(hit.breakdown.blend, abs=1e-9)) for hit in hits]  # type: ignore[misc]

    return [of(index.result(query, 100).hits) for query in QUERIES]


SOME = st.lists(st.sampled_from(TEXTS), max_size=12)


@pytest.mark.slow
@settings(deadline=None)
@given(SOME, SOME, st.integers(0, 2**32))
def test_a_restored_index_answers_as_a_new_one_whatever_changed_meanwhile(
    before: list[str], after: list[str], seed: int
) -> None:
    dice = random.Random(seed)
    old = tuple(note(number, text) for number, text in enumerate(before))
    kept = [entry for entry in old if dice.random() < 0.7]
    new = [replace(entry, content=dice.choice(TEXTS)) if dice.random() < 0.3 else entry for entry in kept]
    new += [note(100 + number, text) for number, text in enumerate(after)]
    dice.shuffle(new)
    blocks = {name: bytes(block) for name, block in fresh(old).blocks().items()}
    index = SearchIndex()
    index.restore(blocks, Snapshot(notes=tuple(new)))
    assert answers(index) == answers(fresh(tuple(new)))


def test_what_did_not_change_is_not_read_again() -> None:
    notes = tuple(note(number, TEXTS[number % len(TEXTS)]) for number in range(50))
    index = SearchIndex()
    index.restore(fresh(notes).blocks(), Snapshot(notes=(*notes, note(99, "one more"))))
    assert index.read_anew == 1


def test_an_index_is_kept_without_what_is_no_more() -> None:
    notes = tuple(note(number, TEXTS[number % len(TEXTS)]) for number in range(50))
    index = fresh(notes)
    size = sum(map(len, index.blocks().values()))
    for number in range(50):
        changed = replace(notes[number], content="kettle")
        notes = (*notes[:number], changed, *notes[number + 1 :])
        index.update(Snapshot(notes=notes))
    assert sum(map(len, index.blocks().values())) < size
    again = SearchIndex()
    again.restore(index.blocks(), Snapshot(notes=notes))
    assert again.read_anew == 0
    assert answers(again) == answers(fresh(notes))


def test_no_word_is_kept_that_no_note_holds_any_more() -> None:
    index = fresh((note(1, "sesame kettle"),))
    index.update(Snapshot(notes=(note(1, "kettle"),)))
    assert b"sesam" not in b"".join(index.blocks().values())


def test_nothing_is_kept_of_an_index_that_was_never_filled() -> None:
    assert SearchIndex().blocks() == {}
