"""What a note says once an accepted statement has changed it: the sentence that changed is replaced. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from typing import Final, NamedTuple

from core.pipeline.contradiction import contradicts_in_words
from core.pipeline.decide import denies_another, saying, similarity
from core.pipeline.intake.normalisation import normalise
from core.pipeline.intake.sentences import sentences
from core.text.normalise import code_lines, normalise_content

_ALIKE: Final = 0.5
_LEAST_WORDS: Final = 2
# What opens a line and stays when its sentence is replaced: bullets, numbers, boxes to tick, headings, quotes.
_OPENING: Final = re.compile(r"\s*(?:(?:[-*+•>]|#{1,6}|\d{1,3}[.)]|\[[ xX]\])\s+)*")
_JOINT: Final = re.compile(
    r"[;；]\s*|(?<!\s),?\s++(?:(?=\()|(?:[–—-]|and|but|while|whereas|und|aber|während|et|mais|y|pero|e|ma|mas|maar)\s+)"
)
_LIST_JOINT: Final = re.compile(rf"{_JOINT.pattern}|,\s+")


class _Part(NamedTuple):
    """A sentence or clause, from start to end. before, after: where the clauses beside it end and begin."""

    start: int
    end: int
    before: int
    after: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


def revised(text: str, statement: str, beside: Collection[str] = ()) -> str:
    """The text of a note after a change; the statement itself where the note says nothing else.

    beside: statements that were accepted meanwhile, which this one joins and does not replace. Where no sentence is
    clearly the one that changed, the statement is added, so that no text is lost.
    """
    parts = _parts(text, statement)
    alone = len(parts) < 2 and len(text.split()) == sum(len(part.of(text).split()) for part in parts)
    if not beside and (alone or normalise(statement).content_hash == normalise(text).content_hash):
        return statement
    said = [normalise_content(one).rstrip(".。") for one in beside]
    kept = [(at, at + len(one)) for one in said if (at := text.find(one)) >= 0]
    free = (part for part in parts if all(part.end <= start or end <= part.start for start, end in kept))
    weighed = [(weight, part) for part in free if (weight := _weight(statement, part.of(text)))]
    if not weighed:
        return _joined(text, statement)
    changed = max(weighed)[1]
    head, tail = text[: changed.before], text[changed.after :]
    if changed.before < changed.start:
        head += ". "
    if changed.after > changed.end:
        tail = f". {tail[0].upper()}{tail[1:]}"
    return f"{head}{statement.rstrip('.。') if tail[:1] in ('.', '!', '?', '。') else statement}{tail}"


def _joined(text: str, statement: str) -> str:
    if "\n" in text:
        return f"{text}\n\n{statement}"
    return f"{text}{'' if text.endswith(('.', '!', '?', '。', '…')) else '.'} {statement}"


def _weight(statement: str, part: str) -> tuple[bool, float] | None:
    """How surely a part of a note is what a statement changes, None where it may be another."""
    kind, new, old = contradicts_in_words(statement, part), saying(statement), saying(part)
    alike = similarity(new.meaning, old.meaning)
    clear = (kind is not None or alike >= _ALIKE) and not denies_another(new, old)
    return (kind is not None, alike) if clear else None


def _parts(text: str, statement: str) -> list[_Part]:
    """The sentences of a text, those cut into clauses of which only some are about what a statement says."""
    found: list[_Part] = []
    start, lines = 0, text.split("\n")
    for line, code in zip(lines, code_lines(lines), strict=True):
        end = start + len(line)
        opening = _OPENING.match(text, start, end)
        begin = opening.end() if opening else start
        # A sentence in a table or in code would break it.
        if not code and not line.startswith("|"):
            for one in _sentences(text, begin, end):
                found += _clauses(text, one, statement)
        start = end + 1
    return found


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the sentences of a line are; a single word, as an abbreviation leaves it, is none of its own."""
    found: list[tuple[int, int]] = []
    for one in sentences(text[start:end]):
        said = text[start + one.start : start + one.end]
        begin = start + one.end - len(said.lstrip())
        if found and (_is_word(said) or _is_word(text[slice(*found[-1])])):
            begin = found.pop()[0]
        found.append((begin, start + one.start + len(said.rstrip())))
    return found


def _is_word(said: str) -> bool:
    return said.isascii() and len(said.split()) < _LEAST_WORDS


def _clauses(text: str, sentence: tuple[int, int], statement: str) -> list[_Part]:
    for joint in (_JOINT, _LIST_JOINT):
        parts = _cut(text, *sentence, joint)
        said = [saying(part.of(text)).meaning for part in parts]
        about = saying(statement).meaning
        apart = any(len(words & about) <= len(words) / 2 for words in said)
        if len(parts) < 2 or not apart or any(len(words) < _LEAST_WORDS for words in said):
            continue
        # One comma may merely set the place or time apart.
        if joint is _JOINT or len(parts) > 2 or any(_weight(statement, part.of(text)) for part in parts):
            return parts
    return [_Part(*sentence, *sentence)]


def _cut(text: str, start: int, end: int, joint: re.Pattern[str]) -> list[_Part]:
    cuts = [(start, start), *(one.span() for one in joint.finditer(text, start, end)), (end, end)]
    return [_Part(before[1], after[0], before[0], after[1]) for before, after in itertools.pairwise(cuts)]
