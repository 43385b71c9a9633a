"""The language of the search box: words, "phrases", -exclusions and conditions such as tag:auth, read from any text.

A query is free text with, at any place,
- "exact words" between double quotes: they must stand in the note, and rank as words do;
- -word, -"exact words" or -tag:auth: must not be; a note that has the word written as a flag ("tar -xzf") stays, and
  one letter (-v), a number (-1) or two dashes (--force) never leave anything out;
- field:value, for the fields of `conditions.FIELDS`; field:a,b and a repeated nugget, scope or type mean either, any
  other repeated field means both.
What looks like one of these and cannot be read is words like all the rest: no text is an error. Colons in addresses,
times, names of other fields ("user:coffee") and code ("type::new") mean nothing here, and neither do apostrophes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, Literal, NamedTuple

from core.model.basis import custom_tags
from core.model.note import Note
from core.search.conditions import FIELDS, SINGLE, Condition, begun, fault
from core.text.tokens import fold, unspaced_runs

QUOTES: Final = '"\u201c\u201d\u201e'
_FIELD: Final = re.compile(rf"(-?)({'|'.join(FIELDS)}):(?![:/])", re.IGNORECASE | re.ASCII)
_EXCLUDED: Final = re.compile(r"-([^\W\d_][\w./-]*\w)")
_QUOTED: Final = re.compile(rf"(-?)[{QUOTES}]([^{QUOTES}]*)[{QUOTES}](?!\S)")
_VALUE: Final = re.compile(rf"[{QUOTES}]([^{QUOTES}]*)[{QUOTES}](?=[\s,]|\Z)|([^\s,{QUOTES}][^\s,]*)")
_OPENING: Final = re.compile(rf"-?[{QUOTES}](?=\S)")
_SOLID: Final = re.compile(r"\S+")
_SPACE: Final = re.compile(r"\s*")
_LETTER: Final = re.compile(r"[^\W_]")
_ANY_QUOTE: Final = re.compile(rf"[{QUOTES}]")
# Shorter words are mostly abbreviations.
_SHORTEST_PLURAL: Final = 3

Kind = Literal["word", "phrase", "excluded", "condition", "open"]


class Clause(NamedTuple):
    """How one part of a query was read, in plain words. `broken`: it looks like more than the words it is taken for."""

    text: str
    broken: bool = False


class Part(NamedTuple):
    """One part of a query, from `start` to `end`. `text`: what it says; an "open" one is still being typed."""

    kind: Kind
    start: int
    end: int
    text: str
    condition: Condition | None = None
    fault: str = ""


@dataclass(frozen=True)
class Question:
    """What a text asks for.

    words: free text for the ranking, as typed and in order, with that of the phrases. phrases: each must stand in the
    title, content or tags of a note. excluded: words and phrases that must not. conditions: all must hold. clauses:
    see `described`.
    """

    words: str = ""
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    clauses: tuple[Clause, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return not (self.words or self.narrow)

    @property
    def narrow(self) -> bool:
        """Whether notes have to be looked at one by one."""
        return bool(self.phrases or self.excluded or self.conditions)

    @property
    def hidden(self) -> bool:
        """Whether hidden notes are asked for: without this none is admitted."""
        return any(
            condition.field == "is"
            and not condition.negated
            and "hidden" in map(str.casefold, condition.values)
            for condition in self.conditions
        )

    @property
    def nugget(self) -> str | None:
        """The one nugget that is asked for; None for any, or for several."""
        named = [one for one in self.conditions if one.field == "nugget" and not one.negated]
        return named[0].values[0] if len(named) == 1 and len(named[0].values) == 1 else None

    def admits(
        self,
        note: Note,
        *,
        now: datetime,
        new_since: str | None = None,
        include_hidden: bool = False,
        haystack: str | None = None,
    ) -> bool:
        """Whether a note may be a hit.

        now: with the time zone in which dates are meant. new_since: the last visit as the files hold times, for
        is:new; None: a day ago. include_hidden: hidden notes too, though they are not asked for. haystack: the note's
        text as `haystack_of` makes it, where it is at hand.
        """
        if note.hidden and not (include_hidden or self.hidden):
            return False
        if not all(condition.admits(note, now, new_since) for condition in self.conditions):
            return False
        if not (self.phrases or self.excluded):
            return True
        return self.fits(haystack_of(note) if haystack is None else haystack)

    def fits(self, haystack: str) -> bool:
        """Whether a text, folded as `haystack_of` does it, has all phrases and nothing that is excluded."""
        return all(_stands(phrase, haystack) for phrase in self._folded_phrases) and not any(
            one.stands(haystack) for one in self._exclusions
        )

    @cached_property
    def _folded_phrases(self) -> tuple[str, ...]:
        return tuple(map(_squeezed, self.phrases))

    @cached_property
    def _exclusions(self) -> tuple[_Exclusion, ...]:
        return tuple(_Exclusion(_squeezed(text)) for text in self.excluded)

    def described(self) -> tuple[Clause, ...]:
        """How the text was read, one short clause for each part, in plain words; () for nothing at all."""
        return self.clauses


def read(text: str) -> Question:
    """The question in a text; any text at all is one. Linear in the length of the text."""
    found = list(parts(text))
    phrases = _distinct(part.text for part in found if part.kind == "phrase")
    excluded = _distinct(part.text for part in found if part.kind == "excluded")
    conditions = _joined(part.condition for part in found if part.condition is not None)
    free = " ".join(part.text for part in found if part.kind == "word" and not part.fault)
    clauses = [Clause(f"words: {free}")] if free else []
    clauses += [Clause(f'exactly "{phrase}"') for phrase in phrases]
    clauses += [Clause(f"not {text}") for text in excluded]
    clauses += [Clause(condition.described()) for condition in conditions]
    clauses += [Clause(f"{part.text} is not finished") for part in found if part.kind == "open"]
    clauses += [Clause(f"{part.text} is read as words: {part.fault}", True) for part in found if part.fault]
    return Question(
        words=" ".join(part.text for part in found if part.kind in ("word", "phrase")),
        phrases=phrases,
        excluded=excluded,
        conditions=conditions,
        clauses=tuple(dict.fromkeys(clauses)),
    )


def parts(text: str) -> Iterator[Part]:
    """The parts of a query in order."""
    place = _skip(text, 0)
    while place < len(text):
        part = _condition(text, place) or _quoted(text, place) or _word(text, place)
        yield part
        place = _skip(text, part.end)


def haystack_of(note: Note) -> str:
    """A note's title, content and own tags, folded, white space squeezed, one line each."""
    return "\n".join(map(_squeezed, (note.title, note.content, *custom_tags(note))))


def _skip(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _solid(text: str, place: int) -> tuple[int, str]:
    found = _SOLID.match(text, place)
    assert found is not None
    return found.end(), found[0]


def _word(text: str, place: int) -> Part:
    end, solid = _solid(text, place)
    excluded = _EXCLUDED.fullmatch(solid)
    if excluded:
        return Part("excluded", place, end, excluded[1])
    opening = _OPENING.match(solid)
    # Where another quote follows, both are code or data more likely than a phrase.
    lonely = opening is not None and not _ANY_QUOTE.search(text, place + opening.end())
    return Part("word", place, end, solid, fault="the quote is not closed" if lonely else "")


def _quoted(text: str, place: int) -> Part | None:
    found = _QUOTED.match(text, place)
    if found is None or not found[2].strip():
        return None
    said = " ".join(found[2].split())
    return Part("excluded" if found[1] else "phrase", place, found.end(), said)


def _condition(text: str, place: int) -> Part | None:
    """The condition that begins at a place; words with a fault when its value cannot be read, None for none."""
    head = _FIELD.match(text, place)
    if head is None:
        return None
    field, negated = head[2].lower(), bool(head[1])
    values, end = _values(text, head.end())
    whole, solid = _solid(text, place)
    last = whole == len(text)
    if values is None:
        return Part("word", place, whole, solid, fault="the quote is not closed")
    if not values:
        return Part("open" if last else "word", place, whole, solid)
    faults = [why for value in values if (why := fault(field, value))]
    if not faults:
        return Part("condition", place, end, text[place:end], Condition(field, values, negated))
    if last and len(faults) == 1 and fault(field, values[-1]) and begun(field, values[-1]):
        return Part("open", place, whole, solid)
    return Part("word", place, whole, solid, fault=faults[0])


def _values(text: str, place: int) -> tuple[tuple[str, ...] | None, int]:
    """The values after a colon, parted by commas, and where they end; None when a quote among them is not closed."""
    found: list[str] = []
    while place < len(text) and not text[place].isspace():
        if text[place] == ",":
            place += 1
            continue
        value = _VALUE.match(text, place)
        if value is None:
            return None, place
        said = " ".join((value[1] or "").split()) if value[2] is None else value[2]
        if said:
            found.append(said)
        place = value.end()
    return _distinct(found), place


def _distinct(texts: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _joined(conditions: Iterator[Condition]) -> tuple[Condition, ...]:
    """Conditions without repeats; of a field that a note has once, those that ask for a value become one."""
    found: dict[str | Condition, Condition] = {}
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        if condition.field in SINGLE and not condition.negated:
            wanted.setdefault(condition.field, []).extend(condition.values)
            found[condition.field] = condition
        else:
            found[condition] = condition
    return tuple(
        Condition(key, _distinct(wanted[key])) if isinstance(key, str) else condition
        for key, condition in found.items()
    )


# What stands in a text


def _squeezed(text: str) -> str:
    return " ".join(fold(text).split())


def _stands(phrase: str, haystack: str) -> bool:
    """Whether a folded phrase stands in a folded text as whole words."""
    if not phrase:
        return True
    at = haystack.find(phrase)
    if at < 0:
        return False
    first, last = _parted(phrase[0]), _parted(phrase[-1])
    while at >= 0:
        end = at + len(phrase)
        before, after = haystack[at - 1 : at] if at else "", haystack[end : end + 1]
        if not (first and _LETTER.match(before)) and not (last and _LETTER.match(after)):
            return True
        at = haystack.find(phrase, at + 1)
    return False


def _parted(char: str) -> bool:
    """Whether a character belongs to words that are parted by something from their neighbours."""
    return bool(_LETTER.match(char)) and not unspaced_runs().match(char)


class _Exclusion:
    """A word or its plural, or a phrase, that must not stand in a text, unless it stands there as a flag."""

    def __init__(self, folded: str) -> None:
        self._forms = _forms(folded)
        self._flag = f"-{folded}"
        self._as_flag = re.compile(rf"(?<![^\s`'\"(\[]){re.escape(self._flag)}(?![^\W_])")

    def stands(self, haystack: str) -> bool:
        """Whether a folded text is to be left out."""
        if not any(_stands(form, haystack) for form in self._forms):
            return False
        return self._flag not in haystack or not self._as_flag.search(haystack)


def _forms(folded: str) -> tuple[str, ...]:
    """A word with its plural, or the singular of one; what is no plain English word by itself."""
    if not (folded.isascii() and folded.isalpha() and len(folded) >= _SHORTEST_PLURAL):
        return (folded,)
    if folded.endswith("s"):
        return (folded, folded[:-1])
    return (folded, f"{folded}s", f"{folded[:-1]}ies" if folded.endswith("y") else f"{folded}es")
