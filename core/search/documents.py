"""A note as search sees it: folded text for phrases, tokens for the text leg, stems for the vector leg."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from core.model.basis import custom_tags
from core.model.note import Note
from core.text.tokens import BASIS_STOP_WORDS, STOP_WORDS, fold, stem, unspaced_runs, word_pattern, words

# A note's vector holds at most this many stems, the most frequent: one huge note must not slow every search.
MOST_STEMS: Final = 1024
# Longer runs are data (digests, keys): found as a phrase, not as words.
LONGEST_WORD: Final = 64
_LONGEST_TOKEN: Final = 256
# Subjects that inference gives to nearly every note: their words say nothing about one note.
_COMMON_SUBJECTS: Final = frozenset(("assistant:self", "user:primary", "session:current", "shared:project"))
_ASCII_TOKEN: Final = re.compile(r"[a-z0-9/_:-]{2,}")
NO_WORD: Final = 0


class Vocabulary:
    """Numbers for words, given once and never taken back, so that all states of an index share them.

    Number 0 (`NO_WORD`) is no word. Only one thread may add words; any may look them up.
    """

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._numbers: dict[str, int] = {}

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


class Reader:
    """Turns notes into documents; keeps the numbers of words, stems and tokens, and which stem a word has."""

    def __init__(self) -> None:
        self.stems = Vocabulary()
        self.tokens = Vocabulary()
        self.words = Vocabulary()
        self._stem_of: list[int] = [NO_WORD]

    def read(self, note: Note) -> Document:
        """The document of a note."""
        fields = searched_fields(note)
        haystack = "\n".join(" ".join(fold(field).split()) for field in fields)
        tokens = dict.fromkeys(
            (*text_tokens(haystack), f"scope:{note.scope}", f"type:{note.type}", note.subject.lower())
        )
        counts: Counter[int] = Counter()
        forms: list[int] = []
        for word, count in Counter(words("\n".join(fields), compounds=True)).items():
            form = self.words.number(word) or self._add(word)
            number = self._stem_of[form]
            if number != NO_WORD:
                counts[number] += count
                forms.append(form)
        kept = counts.items() if len(counts) <= MOST_STEMS else counts.most_common(MOST_STEMS)
        return Document(
            haystack=haystack,
            tokens=array("i", [NO_WORD, *map(self.tokens.add, tokens)]),
            stems=array("i", [NO_WORD, *(number for number, _ in kept)]),
            counts=array("i", [0, *(count for _, count in kept)]),
            words=array("i", forms),
        )

    def _add(self, word: str) -> int:
        self._stem_of.append(self.stems.add(stem(word)) if is_content_word(word) else NO_WORD)
        return self.words.add(word)


@dataclass(frozen=True, slots=True)
class Document:
    """What a note holds for search.

    haystack: folded text, white space squeezed, one line a field. tokens: numbers of its distinct tokens.
    stems, counts: numbers of its distinct stems in order of first appearance, and how often each stands
    there. words: numbers of its distinct words that carry meaning, as they are written but for folding. Tokens
    and stems begin with NO_WORD, so that no note is without an entry.
    """

    haystack: str
    tokens: array[int]
    stems: array[int]
    counts: array[int]
    words: array[int]


def searched_fields(note: Note) -> list[str]:
    """Title, content, tags that somebody gave, and a subject of its own.

    Kind, scope, type, the nugget's name and the common subjects stand on every note and are filters instead.
    """
    fields = [note.title, note.content, *custom_tags(note)]
    if note.subject not in _COMMON_SUBJECTS:
        fields.append(note.subject)
    return fields


def same_for_search(a: Note, b: Note) -> bool:
    """Whether two versions of a note have the same document."""
    return a is b or (
        a.content == b.content
        and a.title == b.title
        and a.tags == b.tags
        and (a.nugget_name, a.subject, a.scope, a.type) == (b.nugget_name, b.subject, b.scope, b.type)
    )


def is_content_word(word: str) -> bool:
    """Whether a folded word carries meaning for the vector leg: no stop word, no data."""
    return word not in STOP_WORDS and len(word) <= LONGEST_WORD


def text_tokens(folded: str) -> list[str]:
    """Tokens of the text leg in a folded text: runs of letters, digits, "/", "_", ":" and "-".

    Stop words are out, repeats kept. For ASCII these are the tokens of the original; scripts without spaces
    give pairs of characters.
    """
    if folded.isascii():
        found: Iterable[str] = _ASCII_TOKEN.findall(folded)
    else:
        found = (token for run in word_pattern("/:-").findall(folded) for token in _split(run))
    return [token for token in found if token not in BASIS_STOP_WORDS and len(token) <= _LONGEST_TOKEN]


def _split(run: str) -> Iterable[str]:
    """A run as tokens, its parts in scripts without spaces as pairs of characters."""
    place = 0
    for match in unspaced_runs().finditer(run):
        if match.start() - place > 1:
            yield run[place : match.start()]
        yield from words(match[0])
        place = match.end()
    if len(run) - place > 1:
        yield run[place:]
