"""Reads many notes at once: gives the same segment as single documents, counted over whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from core.model.note import Note
from core.search.documents import (
    NO_WORD,
    NOT_STEMMED,
    PAIR_SHARE,
    Reader,
    digest_of_fields,
    searched_fields,
    share_of,
    squared_weight,
)
from core.search.state import Bytes, Numbers, Segment, Shares, Small, Values
from core.text.languages import FOREIGN_WORDS, LANGUAGES, SERVING_WORDS, language_from_counts
from core.text.tokens import runs, words_of_run

# So many notes are turned into numbers in one go, in which no other thread has its turn: two milliseconds.
_AT_ONCE: Final = 256
# So many places are looked up in one go.
_BLOCK: Final = 1 << 18
# So many notes are counted over at a time, in arrays of a megabyte each.
_ROWS: Final = 1 << 11
# Stands for the end of a field among runs of letters, of which none is empty.
_END_OF_FIELD: Final = ""


class _Forms(dict[str, tuple[int, ...]]):
    """The numbers of the words of each run of letters that was met, found once for all notes."""

    def __init__(self, reader: Reader) -> None:
        super().__init__({_END_OF_FIELD: (NO_WORD,)})
        self._reader = reader

    def __missing__(self, run: str) -> tuple[int, ...]:
        found = self[run] = tuple(map(self._reader.form, words_of_run(run, compounds=True)))
        return found


def read_all(reader: Reader, notes: Sequence[Note], read: Callable[[int], None] | None = None) -> Segment:
    """The segment of `reader.read` of each note. read: called with the number of each note before it is read."""
    known = _Forms(reader)
    forms: list[Small] = []
    digests: list[bytes] = []
    field_counts: list[int] = []
    pieces: list[str] = []
    for number, note in enumerate(notes):
        if read is not None:
            read(number)
        fields = searched_fields(note)
        digests.append(digest_of_fields(fields))
        field_counts.append(len(fields))
        for field in fields:
            pieces += runs(field)
            pieces.append(_END_OF_FIELD)
        if not (number + 1) % _AT_ONCE:
            forms.append(_numbers(known, pieces))
            pieces.clear()
    forms.append(_numbers(known, pieces))
    read_forms = np.concatenate(forms)
    # Of a large memory each array over all its words takes tens of megabytes: none stays longer than it is needed.
    del forms, known
    last_fields = np.cumsum(np.array(field_counts, dtype=np.intp)) - 1
    bounds = _ends(read_forms, last_fields)
    languages = _languages(reader, notes, read_forms, bounds)
    stems = _stems(reader, read_forms, np.repeat(languages, np.diff(bounds)))
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _Part._fields}
    for first in range(0, len(notes), _ROWS):
        last = min(first + _ROWS, len(notes))
        places = slice(int(bounds[first]), int(bounds[last]))
        fields_before = last_fields[first - 1] + 1 if first else 0
        part = _part(read_forms[places], stems[places], last_fields[first:last] - fields_before)
        for name, column in zip(_Part._fields, part, strict=True):
            columns[name].append(cast("NDArray[Any]", column))
    del read_forms, stems

    def whole(name: str, empty: str) -> Any:
        # One after the other, so that only one of them is there twice.
        return np.concatenate(columns.pop(name) or [np.zeros(0, dtype=empty)])

    return Segment(
        stems=whole("stems", "i4"),
        shares=whole("shares", "f4"),
        pair_shares=whole("pair_shares", "f4"),
        starts=_starts(whole("places", "i8")),
        words=whole("words", "i4"),
        word_starts=_starts(whole("word_counts", "i8")),
        sizes=whole("sizes", "f8"),
        lengths=whole("lengths", "f8"),
        languages=languages,
        digests=b"".join(digests),
    )


def _numbers(known: _Forms, pieces: Sequence[str]) -> Small:
    return np.fromiter(chain.from_iterable(map(known.__getitem__, pieces)), dtype=np.int32)


def _ends(forms: Small, last_fields: Numbers) -> Numbers:
    """Where each note begins, and where the last one ends; last_fields: the number of each note's last field."""
    return np.concatenate(([0], np.flatnonzero(forms == NO_WORD)[last_fields] + 1)).astype(np.intp)


def _languages(reader: Reader, notes: Sequence[Note], forms: Small, starts: Numbers) -> Bytes:
    """The place in `LANGUAGES` of each note's language. Only notes with a word of another language are looked into."""
    names = reader.words.names
    serving, foreign = _among(reader, SERVING_WORDS), _among(reader, FOREIGN_WORDS)
    languages: Bytes = np.zeros(len(notes), dtype=np.uint8)
    rows = np.searchsorted(starts, np.flatnonzero(foreign[forms]), side="right") - 1
    for row in np.unique(rows).tolist():
        own = forms[starts[row] : starts[row + 1]]
        found = [names[form] for form in own[serving[own]].tolist()]
        text = "\n".join(searched_fields(notes[row]))
        languages[row] = LANGUAGES.index(language_from_counts(found, int(np.count_nonzero(own)), text))
    return languages


def _among(reader: Reader, some: Collection[str]) -> NDArray[np.bool_]:
    """For each word of the reader whether it is one of some."""
    table = np.zeros(len(reader.words), dtype=bool)
    table[[number for word in some if (number := reader.words.number(word)) != NO_WORD]] = True
    return table


def _stems(reader: Reader, forms: Small, languages: Bytes) -> Small:
    """The stem of each word; new ones get their numbers in order of the text. languages: of each word."""
    count = len(reader.words)
    known = np.array(list(reader.stem_of.values()), dtype=np.int32).ravel()
    keys = languages.astype(np.int32)
    keys *= count
    keys += forms
    first = np.full(len(known), -1, dtype=np.int32)
    # Of equal keys the last one assigned stays.
    for block in reversed(_blocks(len(keys))):
        first[keys[block][::-1]] = np.arange(block.stop - 1, block.start - 1, -1)
    fresh = np.flatnonzero((first >= 0) & (known == NOT_STEMMED))
    for key in fresh[np.argsort(first[fresh])].tolist():
        known[key] = reader.stem(key % count, LANGUAGES[key // count])
    return _taken(known, keys)


def _blocks(length: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, length)) for start in range(0, length, _BLOCK)]


def _taken(table: Small, places: Small) -> Small:
    """table[places]. All at once, the places would be made numbers of twice the size first."""
    found = np.empty(len(places), dtype=table.dtype)
    for block in _blocks(len(places)):
        found[block] = table[places[block]]
    return found


class _Part(NamedTuple):
    """What a segment has of some of its notes. places, word_counts: how many stems and words each note has there."""

    stems: Small
    shares: Shares
    pair_shares: Shares
    places: Numbers
    words: Small
    word_counts: Numbers
    sizes: Values
    lengths: Values


def _part(forms: Small, stems: Small, last_fields: Numbers) -> _Part:
    """forms: the number of each word in order, NO_WORD at the end of each field. last_fields: as of `_ends`."""
    kept = (stems != NO_WORD) | (forms == NO_WORD)
    forms, stems = forms[kept], stems[kept]
    rows = len(last_fields)
    places = np.diff(_ends(forms, last_fields))
    owners: Small = np.repeat(np.arange(rows, dtype=np.int32), places)
    order = np.argsort(stems, kind="stable")
    stem_counts, first = _counted(order, stems[order], owners[order])
    words = stems != NO_WORD
    stem_counts[~words], first[~words] = 0, False
    # Pairs and forms of a stem that stands in a note once stand there once as well.
    repeated = np.flatnonzero(stem_counts > 1)
    pair_counts = np.zeros(len(stems), dtype=np.intp)
    pair_counts[:-1] = words[:-1] & words[1:]
    first_pair, first_form = pair_counts > 0, words.copy()
    paired = repeated[first_pair[repeated]]
    if len(paired):
        by_pair = paired[np.lexsort((stems[paired + 1], stems[paired], owners[paired]))]
        found, begins = _counted(np.arange(len(by_pair)), stems[by_pair], stems[by_pair + 1], owners[by_pair])
        pair_counts[by_pair], first_pair[by_pair] = found, begins
    if len(repeated):
        by_form = repeated[np.lexsort((forms[repeated], owners[repeated]))]
        _, first_form[by_form] = _counted(np.arange(len(by_form)), forms[by_form], owners[by_form])
    squares = _sums(stem_counts, first, owners, rows)
    pair_squares = _sums(pair_counts, first_pair, owners, rows)
    return _Part(
        stems=stems,
        shares=_shares(stem_counts),
        pair_shares=_shares(pair_counts),
        places=places,
        words=forms[first_form],
        word_counts=np.bincount(owners[first_form], minlength=rows),
        sizes=np.bincount(owners[words], minlength=rows).astype(np.float64),
        lengths=np.sqrt(squares + PAIR_SHARE**2 * pair_squares),
    )


def _counted(order: Numbers | Small, *keys: Small) -> tuple[Numbers, NDArray[np.bool_]]:
    """For each place how many places have the same keys, and whether it is the first of them.

    keys: sorted such that equal ones follow one another, each in rising order of places; order: the place of each.
    """
    begins = np.ones(len(order), dtype=bool)
    if len(order):
        begins[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    groups = np.cumsum(begins) - 1
    counts = np.zeros(len(order), dtype=np.intp)
    first = np.zeros(len(order), dtype=bool)
    counts[order] = np.bincount(groups)[groups] if len(order) else 0
    first[order] = begins
    return counts, first


def _sums(counts: Numbers, first: NDArray[np.bool_], owners: Small, rows: int) -> Values:
    """For each row the sum of its squared weights, added up in order of the text."""
    table = np.array([squared_weight(count) for count in range(int(counts.max(initial=0)) + 1)])
    return np.bincount(owners[first], weights=table[counts[first]], minlength=rows).astype(np.float64)


def _shares(counts: Numbers) -> Shares:
    table = np.array([share_of(count) for count in range(int(counts.max(initial=0)) + 1)], dtype=np.float32)
    return np.asarray(table[counts])


def _starts(counts: Numbers) -> Numbers:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.intp)
