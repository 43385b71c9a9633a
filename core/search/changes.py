"""States of the index made from documents, and from the state before by what changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from core.model.note import Note
from core.search.documents import NO_WORD, Document, Reader
from core.search.segment import Segment, Small, Values
from core.search.state import Mask, State

_OWN_SCOPES: Final = ("user", "self")
# Stands in rows that are no more.
_NO_NOTE: Final = Note(id="", nugget_name="", title="", content="")


def state_of(base: Segment, notes: Sequence[Note | None], reader: Reader) -> State:
    """The state of documents in one segment; `notes` are theirs, in the same order, None for rows that are no more."""
    rows: dict[str, int] = {}
    for row, note in enumerate(notes):
        if note is not None:
            rows.setdefault(note.id, row)
    alive = np.array([note is not None for note in notes], dtype=bool)
    counts = base.document_counts(len(reader.stems))
    word_counts = np.bincount(base.words, minlength=len(reader.words)).astype(np.int32)
    for row in np.flatnonzero(~alive).tolist():
        document = base.document(row)
        counts[_distinct(document)] -= 1
        word_counts[document.words] -= 1
    living = [note or _NO_NOTE for note in notes]
    hidden, durable, own, confidence = _flags(living)
    return State(
        notes=living,
        rows=rows,
        base=base,
        recent=Segment.of([]),
        alive=alive,
        hidden=hidden,
        durable=durable,
        own=own,
        confidence=confidence,
        counts=counts,
        stems=reader.stems,
        words=sorted(reader.words.names[number] for number in np.flatnonzero(word_counts)),
        word_counts=word_counts,
    )


def _flags(notes: Sequence[Note]) -> tuple[Mask, Mask, Mask, Values]:
    """For each note: hidden, durable, of a scope of one's own, and its confidence."""
    return (
        np.array([note.hidden for note in notes], dtype=bool),
        np.array([note.durable for note in notes], dtype=bool),
        np.array([note.scope in _OWN_SCOPES for note in notes], dtype=bool),
        np.array([_confidence(note) for note in notes], dtype=np.float64),
    )


def amended(
    state: State,
    recent: Sequence[Document],
    dead: Sequence[int],
    same: Sequence[tuple[Note, int]],
    fresh: Sequence[tuple[Note, Document]],
    reader: Reader,
) -> State:
    """The state after a change.

    recent: all documents beside the base, the last of them those of `fresh`, which get new rows. dead: rows that
    are no more. same: notes that changed in what is not read for search, with their rows.
    """
    more = [note for note, _ in fresh]
    notes = [*state.notes, *more]
    changed = [row for _, row in same]
    for note, row in same:
        notes[row] = note
    flags = []
    before = state.hidden, state.durable, state.own, state.confidence
    for values, of_same, of_more in zip(
        before, _flags([note for note, _ in same]), _flags(more), strict=True
    ):
        after = np.concatenate((values, of_more))
        after[changed] = of_same
        flags.append(after)
    hidden, durable, own, confidence = flags
    alive = np.append(state.alive, np.ones(len(fresh), dtype=bool))
    alive[list(dead)] = False
    rows = dict(state.rows)
    for row in dead:
        if rows.get(notes[row].id) == row:
            del rows[notes[row].id]
    for row, note in enumerate(more, len(state)):
        rows.setdefault(note.id, row)
    gone, come = [state.document(row) for row in dead], [document for _, document in fresh]
    word_counts = _recounted(
        state.word_counts, len(reader.words), [doc.words for doc in gone], [doc.words for doc in come]
    )
    return dataclasses.replace(
        state,
        notes=notes,
        rows=rows,
        recent=Segment.of(recent),
        alive=alive,
        hidden=hidden,
        durable=durable,
        own=own,
        confidence=confidence,
        counts=_recounted(
            state.counts, len(reader.stems), list(map(_distinct, gone)), list(map(_distinct, come))
        ),
        words=_words_after(state, word_counts, reader),
        word_counts=word_counts,
    )


def _recounted(
    before: Small, total: int, gone: Iterable[Sequence[int]], come: Iterable[Sequence[int]]
) -> Small:
    """Counts of numbers below `total` after documents with some distinct numbers are gone and others have come."""
    counts = np.zeros(total, dtype=np.int32)
    counts[: len(before)] = before
    for numbers in gone:
        counts[numbers] -= 1
    for numbers in come:
        counts[numbers] += 1
    return counts


def _words_after(state: State, word_counts: Small, reader: Reader) -> Sequence[str]:
    """The sorted words of living rows, from those of the state before."""
    before = np.zeros(len(word_counts), dtype=bool)
    before[: len(state.word_counts)] = state.word_counts > 0
    after = word_counts > 0
    names = reader.words.names
    gone = {names[number] for number in np.flatnonzero(before & ~after)}
    come = [names[number] for number in np.flatnonzero(after & ~before)]
    if not gone and not come:
        return state.words
    return sorted([*(word for word in state.words if word not in gone), *come])


def _distinct(document: Document) -> list[int]:
    return [number for number in set(document.stems) if number != NO_WORD]


def _confidence(note: Note) -> float:
    """A number of a file as a share in [0, 1]; what is no number counts as nothing."""
    value = note.confidence
    return min(max(value, 0.0), 1.0) if value == value else 0.0
