"""A note as search reads it: its words and their stems, in order, as numbers."""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from core.model.note import Note, custom_tags
from core.text.digests import blake2b
from core.text.languages import (
    FOREIGN_WORDS,
    LANGUAGES,
    SERVING_WORDS,
    Language,
    language_from_counts,
    serves_grammar,
    stem_in,
)
from core.text.tokens import STOP_WORDS, fold, runs, words_of_run

# Longer runs are data (digests, keys): found as a phrase, not as words.
LONGEST_WORD: Final = 64
# What a pair of neighbouring words counts for in a note's vector, beside 1 for a word (measured).
PAIR_SHARE: Final = 0.3
NO_WORD: Final = 0
_MOST_RUNS: Final = 1 << 17
# Subjects that inference gives to nearly every note: their words say nothing about one note.
_COMMON_SUBJECTS: Final = frozenset(("assistant:self", "user:primary", "session:current", "shared:project"))


class Vocabulary:
    """Numbers for words, given once and never taken back, so that all states of an index share them.

    Number 0 (`NO_WORD`) is no word. Only one thread may add words; any may look them up.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = ["", *names]
        self._numbers: dict[str, int] = {name: number for number, name in enumerate(self.names) if number}

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str) -> int:
        """The number of a word, a new one when it has none."""
        number = self._numbers.get(name)
        if number is None:
            number = len(self.names)
            self.names.append(name)
            self._numbers[name] = number
        return number

    def number(self, name: str) -> int:
        """The number of a word, NO_WORD when it has none."""
        return self._numbers.get(name, NO_WORD)


class Document(NamedTuple):
    """What a note holds for search.

    digest: of the fields it was read from, 16 bytes. words: numbers of the words that carry meaning, in order, NO_WORD
    at the end of each field; stems: the number of the stem of each. language: its place in `LANGUAGES`.
    """

    digest: bytes
    words: array[int]
    stems: array[int]
    language: int


class Reader:
    """Turns notes into documents, and keeps the numbers of words and stems. Safe to use from several threads."""

    def __init__(self, words: Iterable[str] = (), stems: Iterable[str] = ()) -> None:
        self.words = Vocabulary(words)
        self.stems = Vocabulary(stems)
        # What was found once for all notes: the numbers of the words of a run of letters, and of their stems.
        self._runs: dict[str, tuple[int, ...]] = {}
        self._stem_of: dict[Language, dict[int, int]] = {one: {NO_WORD: NO_WORD} for one in LANGUAGES}
        self._foreign: set[int] = set()
        self._guard = threading.Lock()

    def read(self, note: Note) -> Document:
        """The document of a note."""
        fields = searched_fields(note)
        with self._guard:
            read = self._words_of(fields)
            language = self._language(read, fields)
            stem_of = self._stem_of[language]
            stems = [stem_of[word] if word in stem_of else self._stem(word, language) for word in read]
            kept = [(word, stem) for word, stem in zip(read, stems, strict=True) if stem or not word]
        return Document(
            digest=digest_of(fields),
            words=array("i", [word for word, _ in kept]),
            stems=array("i", [stem for _, stem in kept]),
            language=LANGUAGES.index(language),
        )

    def _words_of(self, fields: Iterable[str]) -> list[int]:
        known, read = self._runs, list[int]()
        if len(known) > _MOST_RUNS:
            known.clear()
        for field in fields:
            for run in runs(field):
                numbers = known.get(run)
                if numbers is None:
                    numbers = known[run] = tuple(map(self._word, words_of_run(run, compounds=True)))
                read += numbers
            read.append(NO_WORD)
        return read

    def _word(self, word: str) -> int:
        number = self.words.add(word)
        if word in FOREIGN_WORDS:
            self._foreign.add(number)
        return number

    def _language(self, read: Sequence[int], fields: Iterable[str]) -> Language:
        if self._foreign.isdisjoint(read):
            return "english"
        names = self.words.names
        serving = [names[word] for word in read if names[word] in SERVING_WORDS]
        return language_from_counts(serving, sum(map(bool, read)), "\n".join(fields))

    def _stem(self, number: int, language: Language) -> int:
        """The number of a word's stem in a language; NO_WORD where it carries no meaning there."""
        word = self.words.names[number]
        telling = is_content_word(word) and not serves_grammar(word, (language,))
        self._stem_of[language][number] = self.stems.add(stem_in(word, language)) if telling else NO_WORD
        return self._stem_of[language][number]


def weight(count: int) -> float:
    """What a stem that stands `count` times in a note weighs in its vector: 1 + ln(count)."""
    return 1.0 + math.log(count)


def searched_fields(note: Note) -> list[str]:
    """Title, content, tags that somebody gave, and a subject of its own.

    Kind, scope, type, the nugget's name and the common subjects stand on every note and are filters instead.
    """
    fields = [note.title, note.content, *custom_tags(note)]
    if note.subject not in _COMMON_SUBJECTS:
        fields.append(note.subject)
    return fields


def haystack(note: Note) -> str:
    """The text of a note to look for phrases in: folded, white space squeezed, one line a field."""
    return "\n".join(" ".join(fold(field).split()) for field in searched_fields(note))


def digest_of(fields: Iterable[str]) -> bytes:
    """16 bytes that differ when the fields that search reads of a note do."""
    text = "\0".join([f"{len(field)} {field}" for field in fields])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def same_for_search(a: Note, b: Note) -> bool:
    """Whether two versions of a note have the same document."""
    return a is b or (
        a.content == b.content
        and a.title == b.title
        and a.tags == b.tags
        and (a.nugget_name, a.subject, a.scope, a.type) == (b.nugget_name, b.subject, b.scope, b.type)
    )


def is_content_word(word: str) -> bool:
    """Whether a folded word carries meaning: no stop word, no data."""
    return word not in STOP_WORDS and len(word) <= LONGEST_WORD
