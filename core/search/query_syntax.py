"""The language of the search box: words, "phrases", -exclusions and conditions such as tag:auth, read from any text.

A query is free text with, at any place,
- "exact words" or `code`: notes that hold them come first, and they rank as words do; nothing in them is read further;
- +word or +"exact words": must stand in the note;
- -word, -"exact words" or -tag:auth: must not be. A word with a dash is a word where no note holds it, and in a text
  with flags (-v, --force) or signs of a shell; and a note that has it written as a flag ("tar -xzf") stays;
- field:value, for the fields of `conditions.FIELDS`; field:a,b means either.
What looks like one of these and cannot be read is words like all the rest: no text is an error. Colons in addresses,
times, names of other fields ("user:coffee") and code ("type::new") mean nothing here, and neither do apostrophes.

The words of it that are ranked by make a `Query`: what may stand as a phrase, the stems to look for, and their pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeVar, get_args

from core.model.note import Note
from core.search.conditions import FIELDS, Asked, Condition
from core.search.documents import LONGEST_WORD, haystack, is_content_word
from core.text.exact import BASIS_STOP_WORDS
from core.text.languages import Language, language_of, serves_grammar, stem_in, with_umlauts_spelt_out
from core.text.normalise import LONGEST_QUERY
from core.text.tokens import fold, stem, unspaced_runs, words

QUOTES: Final = '"\u201c\u201d\u201e'
# The beginning of a condition.
FIELD: Final = rf"(?P<minus>-?)(?P<field>(?ai:{'|'.join(FIELDS)})):(?![:/])"
# What may end a sentence may follow a quotation.
_END: Final = r"(?=[.,;?!)]*+(?:\s|\Z))"
_VALUE: Final = re.compile(rf"[{QUOTES}][^{QUOTES}]*+[{QUOTES}](?=[\s,]|\Z)|[^\s,{QUOTES}][^\s,]*+")
# Every way to read a place is tried once (`*+`), so that no text takes longer than its length.
_PART: Final = re.compile(
    rf"""`(?=\s*+[^`\s])(?P<code>[^`\n]*+)`{_END}
    | (?P<sign>[-+]?)[{QUOTES}](?=\s*+[^{QUOTES}\s])(?P<quoted>[^{QUOTES}]*+)[{QUOTES}]{_END}
    | {FIELD}(?P<values>(?:{_VALUE.pattern}|,)*+)(?!\S)
    | (?P<mark>[-+])(?P<word>[^\W\d_][\w./-]*\w)(?!\S)
    | \S++""",
    re.VERBOSE,
)
_UNCLOSED: Final = re.compile(rf"(?:[-+]?|{FIELD})[{QUOTES}](?=\S)")
_QUOTE: Final = re.compile(f"[{QUOTES}]")
# A word before a colon, as in a condition.
_NAMED: Final = re.compile(r"-?([A-Za-z]{2,12}):(?=[^:/\s])")
# Shorter phrases stand inside too many words to mean anything there: they must begin a word. Shorter words are mostly
# abbreviations.
_SHORT: Final = 3
_COMMAND_LINE: Final = re.compile(r"(?<!\S)(?:-\w|--\w\S*|[|&<>]{1,2}|\$\w\S*|[.~]*/\S*|\.)(?!\S)")

T = TypeVar("T")
Kind = Literal["word", "phrase", "demanded", "excluded", "condition", "open"]


class Clause(NamedTuple):
    """How one part of a query was read, in plain words. `broken`: it looks like more than the words it is taken for.
    `free`: it says which words rank the notes.
    """

    text: str
    broken: bool = False
    free: bool = False


class _Part(NamedTuple):
    """One part of a query. An "open" one is still being typed. fault: why what looks like more is a word."""

    kind: Kind
    text: str
    condition: Condition | None = None
    fault: str = ""


@dataclass(frozen=True)
class Question:
    """What a text asks for.

    words: free text for the ranking, as typed and in order, with that of the phrases. phrases: exact words, whose
    notes come first. demanded: words and phrases that must stand in the title, content or tags of a note. excluded:
    such that must not. conditions: all must hold. clauses: how the text was read, one for each part, in plain words.
    """

    words: str = ""
    phrases: tuple[str, ...] = ()
    demanded: tuple[str, ...] = ()
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
        return bool(self.demanded or self.excluded or self.conditions)

    @property
    def asks_elsewhere(self) -> bool:
        """Whether what came from elsewhere decides about notes."""
        return any(
            one.field == "project" or one.names("is", "new") or one.names("is", "stale")
            for one in self.conditions
        )

    @property
    def hidden(self) -> bool:
        """Whether hidden notes are asked for: without this none is admitted."""
        return any(one.names("is", "hidden") and not one.negated for one in self.conditions)

    @property
    def nugget(self) -> str | None:
        """The one nugget that is asked for; None for any, or for several."""
        named = [one for one in self.conditions if one.field == "nugget" and not one.negated]
        return named[0].values[0] if len(named) == 1 and len(named[0].values) == 1 else None

    def admits(self, note: Note, asked: Asked, *, include_hidden: bool = False) -> bool:
        """Whether a note may be a hit. include_hidden: hidden notes too, though they are not asked for."""
        if note.hidden and not (include_hidden or self.hidden):
            return False
        if not all(condition.admits(note, asked) for condition in self.conditions):
            return False
        text = haystack(note) if self.demanded or self.excluded else ""
        demanded = all(any(stands(form, text) for form in _forms(one)) for one in self.demanded)
        return demanded and not any(is_excluded(one, text) for one in self.excluded)


def plain_question(text: str) -> Question:
    """The question in a text that is nothing but words, of which as many count as `LONGEST_QUERY` says."""
    words = " ".join(text[:LONGEST_QUERY].split())
    return Question(words=words, clauses=(Clause(f"words: {words}", free=True),) if words else ())


def parse_question(text: str, excludes: Callable[[str], bool] | None = None) -> Question:
    """The question in a text; any text at all is one, and as much of it counts as `LONGEST_QUERY` says.

    excludes: whether some note would be left out for a word; what leaves out none is a word. None: not known, and so
    every word with a dash before it leaves notes out.
    """
    parts = list(_parts(text[:LONGEST_QUERY], excludes))
    said = {kind: _distinct(part.text for part in parts if part.kind == kind) for kind in get_args(Kind)}
    conditions = _distinct(part.condition for part in parts if part.condition is not None)
    free = " ".join(part.text for part in parts if part.kind == "word" and not part.fault)
    clauses = [Clause(f"words: {free}", free=True)] if free else []
    for how, kind in (("exact first", "phrase"), ("with", "demanded"), ("without", "excluded")):
        clauses += [Clause(f'{how}: "{one}"' if " " in one else f"{how}: {one}") for one in said[kind]]
    clauses += [Clause(condition.described()) for condition in conditions]
    clauses += [Clause(f"{one} is incomplete") for one in said["open"]]
    clauses += [Clause(f"{part.text} is read as words: {part.fault}", True) for part in parts if part.fault]
    words = " ".join(part.text for part in parts if part.kind in ("word", "phrase", "demanded"))
    return Question(words, said["phrase"], said["demanded"], said["excluded"], conditions, _distinct(clauses))


def _parts(text: str, excludes: Callable[[str], bool] | None) -> Iterator[_Part]:
    """The parts of a query in order. excludes: as `parse_question` takes it."""
    matches = list(_PART.finditer(text))
    command_line = bool(_COMMAND_LINE.search(" ".join(one[0] for one in matches if not one["code"])))
    kinds: dict[str, Kind] = {"": "phrase", "+": "demanded", "-": "excluded"}
    for found in matches:
        said = " ".join((found["code"] or found["quoted"] or found["word"] or "").split())
        kind = kinds[found["sign"] or found["mark"] or ""]
        if found["field"]:
            yield _condition(found)
        elif not said:
            yield _Part("word", found[0], fault=_slip(found))
        elif kind == "excluded" and ((command_line and found["word"]) or (excludes and not excludes(said))):
            yield _Part("word", found[0])
        else:
            yield _Part(kind, said)


def _condition(found: re.Match[str]) -> _Part:
    """A condition; one that is still typed at the end of a query, or words, when its values cannot be read."""
    whole, name = found[0], found["field"].lower()
    field, last = FIELDS[name], found.end() == len(found.string)
    typed = (one.strip(QUOTES) if one[0] in QUOTES else one for one in _VALUE.findall(found["values"]))
    values = _distinct(value for one in typed if (value := " ".join(one.split())))
    faults = [why for value in values if (why := field.fault(value))]
    if not values:
        return _Part("open" if last else "word", whole)
    if not faults:
        return _Part("condition", whole, Condition(name, values, bool(found["minus"])))
    if last and len(faults) == 1 and field.fault(values[-1]) and field.begun(values[-1]):
        return _Part("open", whole)
    return _Part("word", whole, fault=faults[0])


def _slip(found: re.Match[str]) -> str:
    """What makes a word of that which looks like more; "" for a word that is nothing but that."""
    opening = _UNCLOSED.match(found[0])
    # Where another quote follows, both are code or data more likely than a phrase.
    if opening and (opening["field"] or not _QUOTE.search(found.string, found.start() + opening.end())):
        return "the quote is not closed"
    named = _NAMED.match(found[0])
    if named is None:
        return ""
    from difflib import get_close_matches

    meant = get_close_matches(named[1].lower(), FIELDS, 1, 0.75)
    return f"no such condition: {named[1].lower()} ({meant[0]}?)" if meant else ""


def typed_value(value: str) -> str:
    """A value as it is typed behind a field's colon, in quotes where it must be; "" for one that cannot be typed."""
    if _VALUE.fullmatch(value) and value[0] not in QUOTES:
        return value
    return f'"{value}"' if value and value == " ".join(value.split()) and not _QUOTE.search(value) else ""


def _distinct(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(found))


# What stands in a text


def squeezed(text: str) -> str:
    """A text folded, with one space for all white space."""
    return " ".join(fold(text).split())


def stands(phrase: str, haystack: str) -> bool:
    """Whether a folded phrase stands in a folded text as whole words."""
    at = haystack.find(phrase)
    while phrase and at >= 0:
        before, after = haystack[max(at - 1, 0) : at], haystack[at + len(phrase) : at + len(phrase) + 1]
        goes_on = before.isalnum() and (_is_parted(phrase[0]) or phrase[0] == "-")
        if not goes_on and not (after.isalnum() and _is_parted(phrase[-1])):
            return True
        at = haystack.find(phrase, at + 1)
    return not phrase


def _is_parted(char: str) -> bool:
    """Whether a character belongs to words that are parted by something from their neighbours."""
    return char.isalnum() and not unspaced_runs().match(char)


def is_excluded(text: str, haystack: str) -> bool:
    """Whether a word or its plural, or a phrase, stands in a folded text, and not as a flag alone."""
    forms = _forms(text)
    return any(stands(form, haystack) for form in forms) and not stands(f"-{forms[0]}", haystack)


@lru_cache(maxsize=1024)
def _forms(text: str) -> tuple[str, ...]:
    """A word, folded, with its plural, or the singular of one; what is no plain English word by itself."""
    folded = squeezed(text)
    if not (folded.isascii() and folded.isalpha() and len(folded) >= _SHORT):
        return (folded,)
    if folded.endswith("s"):
        return (folded, folded[:-1])
    return (folded, f"{folded}s", f"{folded[:-1]}ies" if folded.endswith("y") else f"{folded}es")


# The words of a query


class QueryStem(NamedTuple):
    """A stem of a query, how many times it stands there, and the first word that has it.

    others: under which stems notes hold the same word besides: those in other languages, and with umlauts spelt out.
    """

    stem: str
    times: int
    word: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What a search looks for.

    phrase: the whole query, folded, white space squeezed. needles: what of it to look for in a haystack (any of
    them) to say that it stands there; () when it may not count. words: distinct folded words that carry meaning. stems:
    their stems. pairs: for each language that it is read in, English first, the stems of words that stand side by side,
    distinct. unfinished: the last word, which may still be half typed; "" when the query ends in something else.
    is_phrase: whether it is looked for word for word: signs, several words, or one too long to be in an index. signs:
    the query as it was typed, white space squeezed, when it has no word at all. language: that its function words tell.
    """

    phrase: str
    needles: tuple[str, ...]
    words: tuple[str, ...]
    stems: tuple[QueryStem, ...]
    pairs: tuple[tuple[tuple[str, str], ...], ...]
    unfinished: str
    is_phrase: bool
    signs: str
    language: Language

    @property
    def empty(self) -> bool:
        """Whether nothing can be a hit."""
        return not self.phrase

    def stands_in(self, haystack: str) -> bool:
        """Whether the whole query stands in a folded text, one line a field."""
        return any(needle in "\n" + haystack for needle in self.needles)


def parse_query(text: str, languages: Sequence[Language] = ()) -> Query:
    """The query in a text; any text at all is one. Words are read from the first `LONGEST_QUERY` characters.

    languages: that it is read in besides English, those of the notes.
    """
    phrase, head = squeezed(text), text[:LONGEST_QUERY]
    found = words(head, compounds=True)
    spoken = language_of(found, head)
    other = [] if head.isascii() else words(with_umlauts_spelt_out(head), compounds=True)
    spelt_out = dict(zip(found, other, strict=True)) if len(other) == len(found) else {}
    telling = [word for word in found if is_content_word(word) and not serves_grammar(word, (spoken,))]
    signs = "" if found else " ".join(text.split())
    needles = _needles(phrase, found, signs)
    return Query(
        phrase=phrase,
        needles=needles,
        words=_distinct(telling),
        stems=_stems(telling, languages, spelt_out),
        pairs=tuple(_distinct(pairwise(_read_in(language, telling))) for language in ("english", *languages)),
        unfinished=found[-1] if found and is_content_word(found[-1]) and head[-1].isalnum() else "",
        is_phrase=bool(needles) and (found != [phrase] or len(phrase) > LONGEST_WORD),
        signs=signs,
        language=spoken,
    )


def _read_in(language: Language, telling: Iterable[str]) -> list[str]:
    """The stems of words as notes of a language have them, which are read without its function words."""
    english = language == "english"
    return [stem_in(word, language) for word in telling if english or not serves_grammar(word, (language,))]


def _stems(
    telling: Sequence[str], languages: Sequence[Language], spelt_out: Mapping[str, str]
) -> tuple[QueryStem, ...]:
    """The stems of a query's words. spelt_out: for each word its spelling without umlauts ("oe" for "ö")."""
    by_stem: dict[str, list[str]] = {}
    for word in telling:
        by_stem.setdefault(stem(word), []).append(word)
    made = []
    for name, group in by_stem.items():
        foreign = [one for language in languages for one in _read_in(language, group) if one != name]
        spelt = [stem(spelt_out[word]) for word in group if spelt_out.get(word, word) != word]
        made.append(QueryStem(name, len(group), group[0], _distinct((*foreign, *spelt))))
    return tuple(made)


def _needles(phrase: str, found: list[str], signs: str) -> tuple[str, ...]:
    """How the phrase may stand in a haystack: one line a field, one space between words."""
    if not found:
        # Symbols alone, such as an emoji or "=>"; one ASCII sign stands nearly everywhere.
        return (phrase,) if phrase and (not signs.isascii() or len(signs) >= 2) else ()
    if all(word in BASIS_STOP_WORDS for word in found):
        return ()
    if len(phrase) < _SHORT and (phrase.isascii() or not unspaced_runs().search(phrase)):
        return (f" {phrase}", f"\n{phrase}")
    return (phrase,)
