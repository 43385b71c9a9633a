"""The language of the search box: words, "phrases", -exclusions and conditions such as tag:auth, read from any text.

A query is free text with, at any place,
- "exact words" between double quotes: notes that hold them come first, and they rank as words do;
- `code` between backquotes: the same, and nothing in it is read as anything else;
- +word or +"exact words": must stand in the note;
- -word, -"exact words" or -tag:auth: must not be, where the dash follows white space and some note holds the word. In a
  command line, after the name of a command and among flags (-v, -1, --force) a word with a dash is a word. A note that
  has the word written as a flag ("tar -xzf") stays;
- field:value, for the fields of `conditions.FIELDS`; field:a,b and a repeated nugget, scope or type mean either, any
  other repeated field means both.
What looks like one of these and cannot be read is words like all the rest: no text is an error. Colons in addresses,
times, names of other fields ("user:coffee") and code ("type::new") mean nothing here, and neither do apostrophes.

The words of it that are ranked by make a `Query`: what may stand as a phrase, the stems to look for, and their pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from core.model.note import Note, custom_tags
from core.search.conditions import (
    FIELDS,
    Asked,
    Condition,
    begun,
    fault,
)
from core.search.documents import LONGEST_WORD, is_content_word, text_tokens
from core.text.languages import Language, language_of, serves_grammar, stem_in, with_umlauts_spelt_out
from core.text.tokens import BASIS_STOP_WORDS, fold, stem, unspaced_runs, words

QUOTES: Final = '"\u201c\u201d\u201e'
# Characters of a query that count: what is longer is a text, and no question.
LONGEST_QUERY: Final = 10_000
# A word before a colon, as in a condition, and from where on it is taken for a field's name with a typo in it.
_NAMED: Final = re.compile(r"-?([A-Za-z]{2,12}):(?=[^:/\s])")
_ALIKE: Final = 0.75
_FIELD: Final = re.compile(rf"(-?)({'|'.join(FIELDS)}):(?![:/])", re.IGNORECASE | re.ASCII)
_EXCLUDED: Final = re.compile(r"-([^\W\d_][\w./-]*\w)")
_DEMANDED: Final = re.compile(r"\+([^\W\d_][\w./-]*\w)")
# What may end a sentence may follow a quotation.
_QUOTED: Final = re.compile(rf"([-+]?)[{QUOTES}]([^{QUOTES}]*)[{QUOTES}](?=[.,;?!)]*(?:\s|\Z))")
_CODE: Final = re.compile(r"`([^`\n]+)`(?=[.,;:?!)]*(?:\s|\Z))")
_VALUE: Final = re.compile(rf"[{QUOTES}]([^{QUOTES}]*)[{QUOTES}](?=[\s,]|\Z)|([^\s,{QUOTES}][^\s,]*)")
_OPENING: Final = re.compile(rf"[-+]?[{QUOTES}](?=\S)")
_SOLID: Final = re.compile(r"\S+")
_SPACE: Final = re.compile(r"\s*")
_LETTER: Final = re.compile(r"[^\W_]")
_ANY_QUOTE: Final = re.compile(rf"[{QUOTES}]")
# Shorter words are mostly abbreviations.
_SHORTEST_PLURAL: Final = 3

# What makes a text a command line: certain flags, and signs of the shell.
_FLAG: Final = re.compile(r"-[\w?]|--[\w-]+(=.*)?|-\w+=.*|-\d+")
_SHELL: Final = re.compile(r"[|&]{1,2}|[<>]{1,2}|\$[\w{(].*|\.{0,2}/\S*|\./?|[*]\.\w+|~/\S*")
# Names of commands that are hardly a word of anything else.
_COMMANDS: Final = frozenset(
    (
        "apt", "apt-get", "awk", "aws", "bash", "brew", "cargo", "chmod", "chown", "cp", "curl",
        "dd", "df", "docker", "docker-compose", "du", "ffmpeg", "gcc", "gcloud", "git", "go",
        "grep", "gunzip", "gzip", "helm", "iptables", "jq", "kubectl", "ls", "lsof", "make",
        "mkdir", "mount", "mv", "mysql", "nc", "netstat", "npm", "npx", "openssl", "pacman", "perl",
        "pg_dump", "ping", "pip", "pnpm", "podman", "ps", "psql", "pytest", "python", "python3",
        "rg", "rm", "rsync", "ruby", "scp", "sed", "ssh", "ssh-keygen", "sudo", "systemctl", "tar",
        "tcpdump", "terraform", "tmux", "touch", "tr", "uv", "vim", "wget", "xargs", "yarn", "zip",
    )
)  # fmt: skip
# After these a flag may follow the name of what they are to do: git log -oneline.
_WITH_SUBCOMMANDS: Final = frozenset(
    ("apt", "aws", "brew", "cargo", "docker", "gcloud", "git", "go", "helm", "kubectl", "npm", "pip", "uv")
)  # fmt: skip

Kind = Literal["word", "phrase", "code", "demanded", "excluded", "condition", "open"]
Holds = Callable[[str], bool]


class Clause(NamedTuple):
    """How one part of a query was read, in plain words. `broken`: it looks like more than the words it is taken for.
    `free`: it says which words rank the notes.
    """

    text: str
    broken: bool = False
    free: bool = False


class QueryPart(NamedTuple):
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

    words: free text for the ranking, as typed and in order, with that of the phrases. phrases: exact words, whose
    notes come first. demanded: words and phrases that must stand in the title, content or tags of a note. excluded:
    such that must not. conditions: all must hold. clauses: how the text was read, one
    for each part, in plain words.
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
            one.field == "project" or (one.field == "is" and "new" in map(str.casefold, one.values))
            for one in self.conditions
        )

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

    def admits(self, note: Note, asked: Asked, *, include_hidden: bool = False) -> bool:
        """Whether a note may be a hit. include_hidden: hidden notes too, though they are not asked for."""
        if note.hidden and not (include_hidden or self.hidden):
            return False
        if not all(condition.admits(note, asked) for condition in self.conditions):
            return False
        if not (self.demanded or self.excluded):
            return True
        text = haystack_of(note)
        demanded = all(any(stands(form, text) for form in forms) for forms in self._demanded_forms)
        return demanded and not any(one.stands(text) for one in self._exclusions)

    @cached_property
    def _demanded_forms(self) -> tuple[tuple[str, ...], ...]:
        return tuple(_forms(squeezed(text)) for text in self.demanded)

    @cached_property
    def _exclusions(self) -> tuple[Exclusion, ...]:
        return tuple(map(Exclusion, self.excluded))


def plain_question(text: str) -> Question:
    """The question in a text that is nothing but words, of which as many count as `LONGEST_QUERY` says."""
    words = " ".join(text[:LONGEST_QUERY].split())
    return Question(words=words, clauses=(Clause(f"words: {words}", free=True),) if words else ())


def parse_question(text: str, excludes: Holds | None = None) -> Question:
    """The question in a text; any text at all is one, and as much of it counts as `LONGEST_QUERY` says.

    excludes: whether some note would be left out for a word; what leaves out none is a word. None: not known, and so
    every word with a dash before it leaves notes out.
    """
    found = [_resolved(part, excludes) for part in query_parts(text[:LONGEST_QUERY])]
    phrases = _distinct(part.text for part in found if part.kind in ("phrase", "code"))
    demanded = _distinct(part.text for part in found if part.kind == "demanded")
    excluded = _distinct(part.text for part in found if part.kind == "excluded")
    conditions = _joined(part.condition for part in found if part.condition is not None)
    free = " ".join(part.text for part in found if part.kind == "word" and not part.fault)
    clauses = [Clause(f"words: {free}", free=True)] if free else []
    clauses += [Clause(f'exact first: "{part.text}"') for part in found if part.kind == "phrase"]
    clauses += [Clause(f"exact first: `{part.text}`") for part in found if part.kind == "code"]
    clauses += [Clause(f"with: {_quoted_words(text)}") for text in demanded]
    clauses += [Clause(f"without: {_quoted_words(text)}") for text in excluded]
    clauses += [Clause(condition.described()) for condition in conditions]
    clauses += [Clause(f"{part.text} is incomplete") for part in found if part.kind == "open"]
    clauses += [Clause(f"{part.text} is read as words: {part.fault}", True) for part in found if part.fault]
    return Question(
        words=" ".join(part.text for part in found if part.kind in ("word", "phrase", "code", "demanded")),
        phrases=phrases,
        demanded=demanded,
        excluded=excluded,
        conditions=conditions,
        clauses=tuple(dict.fromkeys(clauses)),
    )


def query_parts(text: str) -> Iterator[QueryPart]:
    """The parts of a query in order."""
    place = _skip(text, 0)
    command_line = _is_command_line(text)
    while place < len(text):
        part = _condition(text, place) or _quoted(text, place) or _word(text, place)
        if part.kind == "excluded" and command_line and text[part.start + 1] not in QUOTES:
            part = QueryPart("word", part.start, part.end, text[part.start : part.end])
        yield part
        place = _skip(text, part.end)


def _is_command_line(text: str) -> bool:
    """Whether a text holds what only command lines do: signs of the shell, certain flags, or a word with a dash
    after the name of a command, or of one and what it is to do. What stands between backquotes is none of it.
    """
    earlier, before = "", ""
    for one in _CODE.sub(" ", text).split():
        if _FLAG.fullmatch(one) or _SHELL.fullmatch(one):
            return True
        if one[0] == "-" and (before in _COMMANDS or earlier in _WITH_SUBCOMMANDS) and _EXCLUDED.match(one):
            return True
        earlier, before = before, one.lower()
    return False


def _resolved(part: QueryPart, excludes: Holds | None) -> QueryPart:
    if part.kind != "excluded" or excludes is None or excludes(part.text):
        return part
    return QueryPart("word", part.start, part.end, part.text)


def _quoted_words(text: str) -> str:
    return f'"{text}"' if " " in text else text


def haystack_of(note: Note) -> str:
    """A note's title, content and own tags, folded, white space squeezed, one line each."""
    return "\n".join(map(squeezed, (note.title, note.content, *custom_tags(note))))


def _skip(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _solid(text: str, place: int) -> tuple[int, str]:
    found = _SOLID.match(text, place)
    assert found is not None
    return found.end(), found[0]


def _word(text: str, place: int) -> QueryPart:
    end, solid = _solid(text, place)
    excluded = _EXCLUDED.fullmatch(solid)
    if excluded:
        return QueryPart("excluded", place, end, excluded[1])
    demanded = _DEMANDED.fullmatch(solid)
    if demanded:
        return QueryPart("demanded", place, end, demanded[1])
    opening = _OPENING.match(solid)
    # Where another quote follows, both are code or data more likely than a phrase.
    lonely = opening is not None and not _ANY_QUOTE.search(text, place + opening.end())
    return QueryPart(
        "word", place, end, solid, fault="the quote is not closed" if lonely else _misspelt(solid)
    )


def _misspelt(word: str) -> str:
    """What is wrong with a word that looks like a condition, but for a typo in its name; "" for any other word."""
    head = _NAMED.match(word)
    if head is None:
        return ""
    from difflib import get_close_matches

    name = head[1].lower()
    meant = get_close_matches(name, FIELDS, 1, _ALIKE)
    return f"no such condition: {name} ({meant[0]}?)" if meant else ""


def _quoted(text: str, place: int) -> QueryPart | None:
    code = _CODE.match(text, place)
    if code is not None and code[1].strip():
        return QueryPart("code", place, code.end(), " ".join(code[1].split()))
    found = _QUOTED.match(text, place)
    if found is None or not found[2].strip():
        return None
    said = " ".join(found[2].split())
    kinds: dict[str, Kind] = {"": "phrase", "-": "excluded", "+": "demanded"}
    return QueryPart(kinds[found[1]], place, found.end(), said)


def _condition(text: str, place: int) -> QueryPart | None:
    """The condition that begins at a place; words with a fault when its value cannot be read, None for none."""
    head = _FIELD.match(text, place)
    if head is None:
        return None
    field, negated = head[2].lower(), bool(head[1])
    values, end = _values(text, head.end())
    whole, solid = _solid(text, place)
    last = whole == len(text)
    if values is None:
        return QueryPart("word", place, whole, solid, fault="the quote is not closed")
    if not values:
        return QueryPart("open" if last else "word", place, whole, solid)
    faults = [why for value in values if (why := fault(field, value))]
    if not faults:
        return QueryPart("condition", place, end, text[place:end], Condition(field, values, negated))
    if last and len(faults) == 1 and fault(field, values[-1]) and begun(field, values[-1]):
        return QueryPart("open", place, whole, solid)
    return QueryPart("word", place, whole, solid, fault=faults[0])


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


def typed_value(value: str) -> str:
    """A value as it is typed behind a field's colon, in quotes where it must be; "" for one that cannot be typed."""
    bare = _VALUE.fullmatch(value)
    if bare is not None and bare[2] is not None:
        return value
    said = " ".join(value.split())
    return f'"{said}"' if said and said == value and not _ANY_QUOTE.search(said) else ""


def _distinct(texts: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _joined(conditions: Iterator[Condition]) -> tuple[Condition, ...]:
    """Conditions without repeats; of a field that a note has once, those that ask for a value become one."""
    found: dict[str | Condition, Condition] = {}
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        if FIELDS[condition.field].single and not condition.negated:
            wanted.setdefault(condition.field, []).extend(condition.values)
            found[condition.field] = condition
        else:
            found[condition] = condition
    return tuple(
        Condition(key, _distinct(wanted[key])) if isinstance(key, str) else condition
        for key, condition in found.items()
    )


# What stands in a text


def squeezed(text: str) -> str:
    """A text folded, with one space for all white space."""
    return " ".join(fold(text).split())


def stands(phrase: str, haystack: str) -> bool:
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


class Exclusion:
    """A word or its plural, or a phrase, that must not stand in a text, unless it stands there as a flag."""

    def __init__(self, text: str) -> None:
        folded = squeezed(text)
        self._forms = _forms(folded)
        self._flag = f"-{folded}"
        self._as_flag = re.compile(rf"(?<![^\s`'\"(\[]){re.escape(self._flag)}(?![^\W_])")

    def stands(self, haystack: str) -> bool:
        """Whether a folded text is to be left out."""
        if not any(stands(form, haystack) for form in self._forms):
            return False
        return self._flag not in haystack or not self._as_flag.search(haystack)


def _forms(folded: str) -> tuple[str, ...]:
    """A word with its plural, or the singular of one; what is no plain English word by itself."""
    if not (folded.isascii() and folded.isalpha() and len(folded) >= _SHORTEST_PLURAL):
        return (folded,)
    if folded.endswith("s"):
        return (folded, folded[:-1])
    return (folded, f"{folded}s", f"{folded[:-1]}ies" if folded.endswith("y") else f"{folded}es")


# The words of a query

# Words are read from this many characters; a pasted page is searched for by its beginning.
_READ_LIMIT: Final = 10_000
# Shorter phrases stand inside too many words to mean anything there: they must begin a word.
_SHORT: Final = 3


Pairs: TypeAlias = tuple[tuple[str, str], ...]


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
    them) to say that it stands there; () when it may not count. tokens: the original's distinct tokens. words:
    distinct folded words that carry meaning. stems: their stems. pairs: for each language that it is read in, English
    first, the stems of words that stand side by side, distinct. unfinished: the last word, which may still be half
    typed; "" when the query ends in something else. several: whether the phrase is more than one word. signs: the
    query as it was typed, white space squeezed, when it has no word at all. language: that its function words tell.
    """

    phrase: str
    needles: tuple[str, ...]
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    stems: tuple[QueryStem, ...]
    pairs: tuple[Pairs, ...]
    unfinished: str
    several: bool
    signs: str
    language: Language

    @property
    def empty(self) -> bool:
        """Whether nothing can be a hit."""
        return not self.phrase

    @property
    def is_phrase(self) -> bool:
        """Whether it is looked for word for word: signs, several words, or one too long to be in an index."""
        return bool(self.needles) and (self.several or len(self.phrase) > LONGEST_WORD)

    def stands_in(self, haystack: str) -> bool:
        """Whether the whole query stands in a folded text, one line a field."""
        return any(needle in "\n" + haystack for needle in self.needles)


def parse_query(text: str, languages: Sequence[Language] = ()) -> Query:
    """The query in a text; any text at all is one. Reads about the first 10,000 characters for words.

    languages: that it is read in besides English, those of the notes.
    """
    phrase = " ".join(fold(text).split())
    head = text[:_READ_LIMIT]
    tokens = tuple(dict.fromkeys(text_tokens(" ".join(fold(head).split()))))
    found = words(head, compounds=True)
    spoken = language_of(found, head)
    idle = (spoken,) if spoken in languages else ()
    telling = [word for word in found if is_content_word(word) and not serves_grammar(word, idle)]
    signs = "" if found else " ".join(text.split())
    return Query(
        phrase=phrase,
        needles=_needles(phrase, found, signs),
        tokens=tokens,
        words=tuple(dict.fromkeys(telling)),
        stems=_stems(telling, languages, _spelt_out(head, found)),
        pairs=tuple(_pairs(telling, language) for language in ("english", *languages)),
        unfinished=found[-1] if found and is_content_word(found[-1]) and head[-1].isalnum() else "",
        several=len(found) != 1 or found[0] != phrase,
        signs=signs,
        language=spoken,
    )


def _stems(
    telling: Sequence[str], languages: Sequence[Language], spelt_out: Mapping[str, str]
) -> tuple[QueryStem, ...]:
    """The stems of a query's words; spelt_out: its words with umlauts, written without them."""
    by_stem: dict[str, list[str]] = {}
    for word in telling:
        by_stem.setdefault(stem(word), []).append(word)
    return tuple(
        QueryStem(
            name,
            len(group),
            group[0],
            tuple(dict.fromkeys(_other_stems(name, group, languages, spelt_out))),
        )
        for name, group in by_stem.items()
    )


def _other_stems(
    name: str, group: Sequence[str], languages: Sequence[Language], spelt_out: Mapping[str, str]
) -> Iterator[str]:
    for word in dict.fromkeys(group):
        for language in languages:
            # A note of this language is read without its function words.
            if not serves_grammar(word, (language,)) and (other := stem_in(word, language)) != name:
                yield other
        if word in spelt_out:
            yield stem(spelt_out[word])


def _spelt_out(text: str, found: Sequence[str]) -> Mapping[str, str]:
    """The words of a text that are typed with umlauts, each with its spelling without them ("oe" for "ö")."""
    if text.isascii():
        return {}
    other = words(with_umlauts_spelt_out(text), compounds=True)
    if len(other) != len(found):
        return {}
    return {word: spelt for word, spelt in zip(found, other, strict=True) if word != spelt}


def _pairs(telling: Iterable[str], language: Language) -> Pairs:
    """The stems of neighbouring words, as notes of a language have them."""
    read = [
        stem_in(word, language)
        for word in telling
        if language == "english" or not serves_grammar(word, (language,))
    ]
    return tuple(dict.fromkeys(pairwise(read)))


def _needles(phrase: str, found: list[str], signs: str) -> tuple[str, ...]:
    """How the phrase may stand in a haystack: one line a field, one space between words."""
    if not found:
        # Symbols alone, such as an emoji or "=>"; one ASCII sign stands nearly everywhere.
        return (phrase,) if phrase and (not signs.isascii() or len(signs) >= 2) else ()
    if all(word in BASIS_STOP_WORDS for word in found):
        return ()
    if len(phrase) < _SHORT and not unspaced_runs().search(phrase):
        return (f" {phrase}", f"\n{phrase}")
    return (phrase,)
