"""Names in a text: runs of words with capitals, acronyms, identifiers in back-ticks, packages and paths."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from core.pipeline.intake.aspects import VERBS
from core.pipeline.intake.name_words import (
    ADVERBS,
    COMMON_NOUNS,
    NO_NAMES,
    SUBJECT_VERBS,
    is_derived,
    is_past,
    may_be_several,
)
from core.pipeline.intake.normalisation import collapse_white_space, compose
from core.pipeline.intake.sentences import TextSpan, sentences
from core.text.file_references import file_references

NameKind = Literal["name", "identifier", "package", "path"]

# No more of a text than this is looked at.
SCANNED: Final = 20_000
SHORTEST_NAME: Final = 3
_LONGEST_WORD: Final = 80
_LONGEST_IDENTIFIER: Final = 80
_MOST_WORDS: Final = 6

_WORD: Final = re.compile(r"\S+")
_OPENING: Final = "\"'`([{<*_~#“”‘’«»„‹›¿¡|"
_CLOSING: Final = "\"'`)]}>*_~“”‘’«»„‹›|,;:.!?…，；：。、"
_ENDS_RUN: Final = frozenset(',;:)]}>"“”»，；：、|')
_POSSESSIVE: Final = re.compile(r"(?:'s|’s|'|’)$")
_ACRONYM: Final = re.compile(r"[A-Z]{2,6}s?(?:-?\d[\w.]{0,8})?", re.ASCII)
_IDENTIFIER: Final = re.compile(r"[@\w][\w.:/@+-]*(?:\(\))?")
_JOINT: Final = re.compile(r"\w_\w|[a-z\d][A-Z]|[A-Z]{2}[a-z]|\w[-./]\w|::")
_PACKAGE: Final = re.compile(r"@[a-z\d][\w.-]{0,60}/[a-z\d][\w.-]{0,80}", re.ASCII)
_BEHIND_A_SUBJECT: Final = VERBS | SUBJECT_VERBS
_HUMP: Final = re.compile(r"[a-z\d][A-Z]")


class Mention(NamedTuple):
    """A name where it stands. sentence_start: a single plain word that opens a sentence, not yet known to be a name."""

    span: TextSpan
    name: str
    kind: NameKind
    sentence_start: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a text: as first written, its canonical form, what kind of name, and all places in order."""

    name: str
    canonical_name: str
    kind: NameKind
    spans: tuple[TextSpan, ...]


class _Word(NamedTuple):
    """A word without what stands around it.

    ends_run, begins_run: signs behind or before it that part it. comma: one of them is a comma or semicolon.
    """

    span: TextSpan
    text: str
    ends_run: bool
    begins_run: bool
    comma: bool
    possessive: bool


@lru_cache(maxsize=4096)
def canonical_name(name: str) -> str:
    """A name as entities are compared: NFC, ends trimmed, white space collapsed, lower case."""
    return compose(collapse_white_space(compose(name)).lower())


def find_names(text: str, known: Container[str] = frozenset()) -> tuple[Name, ...]:
    """The names in the first 20,000 characters of a text, in order of their first places.

    known: canonical names of entities that exist already. A single word that opens a sentence counts as a name where
    something besides its capital says so: it is known, or stands elsewhere inside a sentence, or changes case within,
    or begins a list of names, or owns something or is the subject of a verb while being no common noun.
    """
    scanned = text[:SCANNED]
    coded = list(_outermost(_coded(scanned)))
    blanked = _blanked(scanned, coded)
    mentions, doubtful = [*coded], list[tuple[Mention, bool]]()
    for sentence in sentences(blanked):
        words = tuple(_words(blanked, sentence.start, sentence.end))
        for mention, is_supported in _runs(blanked, words):
            if mention.sentence_start:
                doubtful.append((mention, is_supported))
            else:
                mentions.append(mention)
    sure = {canonical_name(mention.name) for mention in mentions}
    supported = {canonical_name(mention.name) for mention, is_supported in doubtful if is_supported}
    lower_case = (
        {word[0].strip(_OPENING + _CLOSING) for word in _WORD.finditer(blanked)} if doubtful else set()
    )
    for mention, _ in doubtful:
        name = canonical_name(mention.name)
        if name in sure or name in known or (name in supported and name not in lower_case):
            mentions.append(mention)
    return _gathered(mentions)


def _outermost(mentions: Iterator[Mention]) -> Iterator[Mention]:
    """Mentions in order; of those that overlap the first, and of those that begin together the longest."""
    end = 0
    for mention in sorted(mentions, key=lambda mention: (mention.span.start, -mention.span.end)):
        if mention.span.start >= end:
            end = mention.span.end
            yield mention


def _gathered(mentions: list[Mention]) -> tuple[Name, ...]:
    """Names with all their places, in order of the first."""
    found: dict[str, list[Mention]] = {}
    for mention in sorted(mentions, key=lambda mention: mention.span):
        found.setdefault(canonical_name(mention.name), []).append(mention)
    return tuple(
        Name(places[0].name, name, places[0].kind, tuple(place.span for place in places))
        for name, places in found.items()
    )


def _coded(text: str) -> Iterator[Mention]:
    """Identifiers in back-ticks, packages and paths."""
    ticks = [place for place, char in enumerate(text) if char in "`\n"]
    opened = -1
    for place in ticks:
        if text[place] == "\n":
            opened = -1
        elif opened < 0:
            opened = place
        else:
            said = text[opened + 1 : place]
            if SHORTEST_NAME <= len(said) <= _LONGEST_IDENTIFIER and _is_identifier(said):
                name = said.removesuffix("()")
                kind: NameKind = "package" if _PACKAGE.fullmatch(said) else "identifier"
                yield Mention(TextSpan(opened + 1, opened + 1 + len(name)), name, kind)
            opened = -1
    for word in _words(text, 0, len(text)) if "@" in text else ():
        if _PACKAGE.fullmatch(word.text):
            yield Mention(word.span, word.text, "package")
    for found in _WORD.finditer(text) if _has_slash(text) else ():
        for reference in file_references(found[0]) if _has_slash(found[0]) else ():
            if _has_slash(reference.path):
                start = found.start() + reference.start
                yield Mention(TextSpan(start, start + len(reference.path)), reference.path, "path")


def _has_slash(text: str) -> bool:
    return "/" in text or "\\" in text


def _is_identifier(said: str) -> bool:
    return _IDENTIFIER.fullmatch(said) is not None and _JOINT.search(said) is not None


def _blanked(text: str, coded: list[Mention]) -> str:
    """The text with what is code replaced by a sign that is no word, all else in its place."""
    parts: list[str] = []
    place = 0
    for mention in coded:
        start, end = mention.span
        if start >= place:
            parts += [text[place:start], f" {'-' * (end - start - 2)} "[: end - start]]
            place = end
    return "".join(parts) + text[place:]


def _words(text: str, start: int, end: int) -> Iterator[_Word]:
    for found in _WORD.finditer(text, start, end):
        raw = found[0]
        if raw.isalnum():
            yield _Word(TextSpan(*found.span()), raw, False, False, False, False)
            continue
        inner = raw.lstrip(_OPENING)
        begin = found.start() + len(raw) - len(inner)
        inner = inner.rstrip(_CLOSING)
        behind = text[begin + len(inner) : found.end()]
        possessive = _POSSESSIVE.search(inner) if len(inner) <= _LONGEST_WORD else None
        if possessive:
            inner = inner[: possessive.start()]
        yield _Word(
            TextSpan(begin, begin + len(inner)),
            inner,
            possessive is not None or not _ENDS_RUN.isdisjoint(behind),
            begin > found.start(),
            behind.startswith((",", ";", "，", "；", "、")),
            possessive is not None,
        )


def _runs(text: str, words: tuple[_Word, ...]) -> Iterator[tuple[Mention, bool]]:
    """The runs of words with capitals in one sentence, and for a doubtful one whether its sentence supports it."""
    run: list[_Word] = []
    first = next((word for word in words if any(map(str.isalpha, word.text))), None)
    for word, after in pairwise((*words, None)):
        if word is None:
            break
        counts = _has_capital(word.text)
        if run and (not counts or word.begins_run or len(run) >= _MOST_WORDS):
            yield from _named(text, run, first, word, words)
            run = []
        if counts:
            run.append(word)
            if word.ends_run or after is None:
                yield from _named(text, run, first, after, words)
                run = []


def _named(
    text: str, run: list[_Word], first: _Word | None, after: _Word | None, words: tuple[_Word, ...]
) -> Iterator[tuple[Mention, bool]]:
    span = TextSpan(run[0].span.start, run[-1].span.end)
    name = collapse_white_space(compose(span.of(text)))
    if len(name) < SHORTEST_NAME:
        return
    doubtful = len(run) == 1 and run[0] is first and not _is_distinct(run[0].text)
    supported = doubtful and _is_supported(run[0], after, words)
    yield Mention(span, name, "name", doubtful), supported


def _has_capital(word: str) -> bool:
    """Whether a word looks like part of a name: capital and lower-case letter, or an acronym, and no everyday word."""
    if not 2 <= len(word) <= _LONGEST_WORD or not word[0].isalpha() or word[0].islower():
        return False
    said = compose(word)
    looks = (len(said) > 1 and (said[0].isupper() or said[0].istitle()) and said[1].islower()) or (
        _ACRONYM.fullmatch(said) is not None
        or (len(said) > 3 and said[0].isupper() and said[1] in "'’" and said[2].isupper())
    )
    return (
        looks
        and "://" not in said
        and said.lower().replace("’", "'") not in NO_NAMES
        and not _contracted(said)
    )


def _contracted(word: str) -> bool:
    """Whether it is a pronoun or auxiliary with what it was drawn together with: I'm, Don't, They've."""
    head, _, tail = word.lower().replace("’", "'").partition("'")
    return tail in {"m", "t", "ve", "re", "ll", "d"} and (tail == "t" or head in NO_NAMES)


def _is_distinct(word: str) -> bool:
    """Whether a word shows by itself that it is a name: an acronym, or capitals or digits within."""
    return (
        _ACRONYM.fullmatch(word) is not None or _HUMP.search(word) is not None or any(map(str.isdigit, word))
    )


def _is_supported(word: _Word, after: _Word | None, words: tuple[_Word, ...]) -> bool:
    """Whether the sentence says that its first word is a name: a list of names, or the subject of a verb."""
    lower = word.text.lower()
    if after is None or lower in COMMON_NOUNS or is_derived(lower):
        return False
    place = next(number for number, other in enumerate(words) if other is word) + 1
    following = words[place : place + 3]
    said = [other.text.lower() for other in following]
    if word.comma and (said[0] in {"who", "whose", "which"} or _has_capital(following[0].text)):
        return True
    if word.ends_run:
        return word.possessive
    if said[0] in {"and", "or", "&"} and len(following) > 1:
        return _has_capital(following[1].text)
    one = not may_be_several(lower)
    if said[0] in {"who", "whose"}:
        return one
    verb = said[1] if len(said) > 1 and (said[0] in ADVERBS or said[0].endswith("ly")) else said[0]
    denied = said[0].replace("’", "'").endswith("n't")
    return denied or not _BEHIND_A_SUBJECT.isdisjoint((said[0], verb)) or (one and is_past(verb))
