"""A note as search sees it: its stems in order, their weights, and the words they come from."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Final

from core.model.note import Note, custom_tags
from core.text.languages import LANGUAGES, Language, language_of, serves_grammar, stem_in
from core.text.tokens import BASIS_STOP_WORDS, STOP_WORDS, fold, unspaced_runs, word_pattern, words

# Longer runs are data (digests, keys): found as a phrase, not as words.
LONGEST_WORD: Final = 64
# What a pair of neighbouring words counts for in a note's vector, beside 1 for a word (measured).
PAIR_SHARE: Final = 0.3
NO_WORD: Final = 0
NOT_STEMMED: Final = -1
_LONGEST_TOKEN: Final = 256
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


@dataclass(frozen=True, slots=True)
class Document:
    """What a note holds for search.

    digest: of the fields it was read from, 16 bytes. stems: the number of each stem in order of the text, NO_WORD
    between fields and at the end. shares: for each place in `stems` its share of the stem's weight 1 + ln(count);
    pair_shares: the same for the pair of neighbouring stems that begins there, 0 where none does. words: numbers of
    the distinct words that carry meaning, as they are written but for folding. size: stems, repeats counted.
    length: of the note's vector, the root of the sum of all squared weights. language: its place in `LANGUAGES`.
    """

    digest: bytes
    stems: array[int]
    shares: array[float]
    pair_shares: array[float]
    words: array[int]
    size: int
    length: float
    language: int


class Reader:
    """Turns notes into documents; keeps the numbers of words and stems.

    stem_of: for each language the stem of each word, NO_WORD for one that carries no meaning there, NOT_STEMMED until a
    note in the language has it.
    """

    def __init__(
        self,
        stem_names: Iterable[str] = (),
        word_names: Iterable[str] = (),
        stem_of: Iterable[Iterable[int]] = ((),) * len(LANGUAGES),
    ) -> None:
        self.stems = Vocabulary(stem_names)
        self.words = Vocabulary(word_names)
        self.stem_of: dict[Language, array[int]] = {
            language: array("i", [NO_WORD, *known])
            for language, known in zip(LANGUAGES, stem_of, strict=True)
        }

    def read(self, note: Note) -> Document:
        """The document of a note."""
        fields = searched_fields(note)
        read = [words(field, compounds=True) for field in fields]
        language = language_of(list(chain.from_iterable(read)), "\n".join(fields))
        stems: list[int] = []
        forms: dict[int, None] = {}
        for found in read:
            for word in found:
                form = self.form(word)
                number = self.stem(form, language)
                if number != NO_WORD:
                    stems.append(number)
                    forms[form] = None
            stems.append(NO_WORD)
        pairs = [(one, other) if one and other else None for one, other in pairwise(stems)]
        counts, pair_counts = Counter(stems), Counter(pairs)
        del counts[NO_WORD]
        pair_counts.pop(None, 0)
        squares = sum(map(squared_weight, counts.values()))
        pair_squares = sum(map(squared_weight, pair_counts.values()))
        return Document(
            digest=digest_of_fields(fields),
            stems=array("i", stems),
            shares=array("f", [share_of(counts[number]) if number else 0.0 for number in stems]),
            pair_shares=array("f", [*(share_of(pair_counts[pair]) if pair else 0.0 for pair in pairs), 0.0]),
            words=array("i", forms),
            size=counts.total(),
            length=math.sqrt(squares + PAIR_SHARE**2 * pair_squares),
            language=LANGUAGES.index(language),
        )

    def copied(self) -> Reader:
        """A reader that knows what this one does, and goes on by itself."""
        return Reader(
            self.stems.names[1:], self.words.names[1:], (known[1:] for known in self.stem_of.values())
        )

    def numbers_of(self, other: Reader) -> Callable[[Document], Document]:
        """What turns documents that another reader read into such as this one reads."""
        # No word and the numbers of words come in the order in which they are wanted.
        stems: dict[int, int] = {NO_WORD: NO_WORD}
        forms: dict[int, int] = {}

        def number_of_stem(number: int) -> int:
            if number not in stems:
                stems[number] = self.stems.add(other.stems.names[number])
            return stems[number]

        def number_of_form(number: int, language: Language) -> int:
            if number not in forms:
                forms[number] = self.form(other.words.names[number])
            # So that this language knows the word, as it would had it been read here.
            self.stem(forms[number], language)
            return forms[number]

        def taken(document: Document) -> Document:
            language = LANGUAGES[document.language]
            return replace(
                document,
                words=array("i", [number_of_form(number, language) for number in document.words]),
                stems=array("i", map(number_of_stem, document.stems)),
            )

        return taken

    def form(self, word: str) -> int:
        """The number of a word, a new one when it has none."""
        return self.words.number(word) or self._add(word)

    def stem(self, form: int, language: Language) -> int:
        """The number of the stem that the word of a number has in a language, NO_WORD when it carries no meaning."""
        stem_of = self.stem_of[language]
        number = stem_of[form]
        if number == NOT_STEMMED:
            word = self.words.names[form]
            telling = is_content_word(word) and not serves_grammar(word, (language,))
            number = stem_of[form] = self.stems.add(stem_in(word, language)) if telling else NO_WORD
        return number

    def _add(self, word: str) -> int:
        for stem_of in self.stem_of.values():
            stem_of.append(NOT_STEMMED)
        return self.words.add(word)


def weight(count: int) -> float:
    """What a stem that stands `count` times in a note weighs in its vector: 1 + ln(count)."""
    return 1.0 + math.log(count)


_SHARES: Final = [0.0, *(weight(count) / count for count in range(1, 64))]
_SQUARED_WEIGHTS: Final = [0.0, *(weight(count) ** 2 for count in range(1, 64))]


def share_of(count: int) -> float:
    """For each place of a stem that stands `count` times in a note, its share of the stem's weight."""
    return _SHARES[count] if count < len(_SHARES) else weight(count) / count


def squared_weight(count: int) -> float:
    """The square of `weight`, 0 for a stem that does not stand there."""
    return _SQUARED_WEIGHTS[count] if count < len(_SQUARED_WEIGHTS) else weight(count) ** 2


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


def digest_of(note: Note) -> bytes:
    """16 bytes that differ when what search reads of a note differs."""
    return digest_of_fields(searched_fields(note))


def digest_of_fields(fields: Iterable[str]) -> bytes:
    """The same, of the fields that search reads."""
    text = "\0".join([f"{len(field)} {field}" for field in fields])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


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


def text_tokens(folded: str) -> list[str]:
    """The original's tokens of a folded text: runs of letters, digits, "/", "_", ":" and "-".

    Stop words are out, repeats kept. For ASCII these are exactly the original's; scripts without spaces give pairs
    of characters.
    """
    found = (token for run in word_pattern("/:-").findall(folded) for token in _split(run))
    return [token for token in found if token not in BASIS_STOP_WORDS and len(token) <= _LONGEST_TOKEN]


def _split(run: str) -> Iterable[str]:
    """A run as tokens of at least two characters, its parts in scripts without spaces as pairs of characters."""
    place = 0
    for match in unspaced_runs().finditer(run):
        if match.start() - place > 1:
            yield run[place : match.start()]
        yield from words(match[0])
        place = match.end()
    if len(run) - place > 1:
        yield run[place:]
