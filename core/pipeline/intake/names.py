"""Names in a text: runs of words with capitals, acronyms, identifiers in back-ticks, packages and paths."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from core.pipeline.intake.normalisation import collapse_white_space, compose
from core.pipeline.intake.sentences import TextSpan, sentences
from core.pipeline.words import WORDS
from core.text.file_references import file_references
from core.text.languages import FOREIGN_WORDS, is_listed, language_of, serves_grammar
from core.text.tokens import fold
from core.text.tokens import words as words_of

NameKind = Literal["name", "identifier", "package", "path"]

# No more of a text than this is looked at.
SCANNED: Final = 20_000
SHORTEST_NAME: Final = 3
_LONGEST_WORD: Final = 80
_LONGEST_IDENTIFIER: Final = 80
_MOST_WORDS: Final = 6

_ASPECTS: Final = frozenset(
    word for name, group in WORDS.items() if name.startswith("aspect ") for word in group if " " not in word
)
_BEHIND_A_SUBJECT: Final = (
    (_ASPECTS - WORDS["aspects without verbs"]) | WORDS["verbs of a subject"] | WORDS["foreign verbs"]
)
_NOUNS: Final = WORDS["common nouns"]
_TITLES: Final = WORDS["titles"]
# What opens a sentence with a capital: an order, a pronoun, an article.
_OPENING_WORDS: Final = WORDS["openers"] | WORDS["orders"]
# A word alone that is no name wherever it stands: a function word of any language, an everyday noun.
_SAYS_LITTLE: Final = WORDS["openers"] | FOREIGN_WORDS | _NOUNS
# How common nouns of German are built; words made of others: "Deployment", "Caching", "Robustness", "Quickly".
_GERMAN_NOUN: Final = tuple(WORDS["german nouns end in"])
_DERIVED: Final = tuple(WORDS["derived words end in"])
_LONG_ENOUGH: Final = 6

_WORD: Final = re.compile(r"\S+")
_OPENING: Final = "\"'`([{<*_~#“”‘’«»„‹›¿¡|"
_CLOSING: Final = "\"'`)]}>*_~“”‘’«»„‹›|,;:.!?…，；：。、"
_ENDS_RUN: Final = frozenset(',;:)]}>"“”»，；：、|')
_POSSESSIVE: Final = re.compile(r"(?:'s|’s|'|’)$")
_ACRONYM: Final = re.compile(r"[A-Z]{2,6}s?(?:-?\d[\w.]{0,8})?", re.ASCII)
# Within back-ticks of one line.
_TICKED: Final = re.compile(r"`([^`\n]*)`")
_IDENTIFIER: Final = re.compile(r"[@\w][\w.:/@+-]*(?:\(\))?")
_JOINT: Final = re.compile(r"\w_\w|[a-z\d][A-Z]|[A-Z]{2}[a-z]|\w[-./]\w|::")
_PACKAGE: Final = re.compile(r"@[a-z\d][\w.-]{0,60}/[a-z\d][\w.-]{0,80}", re.ASCII)
_PAST: Final = re.compile(r".+[^e]ed")
_HUMP: Final = re.compile(r"[a-z\d][A-Z]")
# SQLAlchemy, VSCode, LLaMA: several capitals, then small letters.
_CAPITALS_FIRST: Final = re.compile(r"[A-Z]{2,}[a-z]\w*", re.ASCII)
_ACRONYM_ENDS: Final = re.compile(r"(?:(?<=[A-Z])s)?(?:-?\d[\w.]*)?$", re.ASCII)
_LABEL: Final = re.compile(
    r"[\s>*_#-]{0,20}+([^\W\d_]{1,20}+(?: [^\W\d_]{1,20}+){0,2}+)[*_]{0,2}\s?[:：][*_]{0,2}(?=\s|$)"
)
_SLASH: Final = re.compile(r"[/\\]")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s")
# Latin letters on one side, letters of another script on the other: "予約アプリKazenoの", "Redis를".
_LATIN: Final = re.compile(r"[\x00-\u036f\u1e00-\u1eff\u2000-\u206f]+")
_LATIN_WORD: Final = re.compile(r"(?:(?!\s)[\x00-\u036f\u0370-\u1fff])+")
_LATIN_LETTER: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
# Names of Japanese and Korean that a word of respect follows.
_HONOURED: Final = re.compile(
    r"(?:[\u4e00-\u9fff々]{1,4}|[\u30a1-\u30faー]{2,8})(?=さん|さま|様|氏|くん|君|ちゃん|先生)|[\uac00-\ud7a3]{2,4}(?=\s?(?:님|씨))"
)


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
    cut: it was cut out of a word of several scripts.
    """

    span: TextSpan
    text: str
    ends_run: bool
    begins_run: bool
    comma: bool
    possessive: bool
    cut: bool = False


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
    scanned = without_output(text[:SCANNED])
    coded = list(_outermost(_coded(scanned)))
    blanked = scanned
    for start, end in (mention.span for mention in coded):
        # A sign that is no word, in the place of code.
        blanked = blanked[:start] + f" {'-' * (end - start - 2)} "[: end - start] + blanked[end:]
    mentions, doubtful = list(coded), list[tuple[Mention, bool]]()
    if not blanked.isascii():
        mentions += [
            Mention(TextSpan(*found.span()), found[0], "name") for found in _HONOURED.finditer(blanked)
        ]
    all_german = language_of(words_of(fold(blanked)), blanked) == "german"
    for sentence in sentences(blanked):
        # A sentence may begin with who says it.
        label = _LABEL.match(blanked, sentence.start, sentence.end)
        spoken = label is not None and not WORDS["speakers"].isdisjoint(label[1].lower().split())
        words = tuple(_words(blanked, label.end() if label and spoken else sentence.start, sentence.end))
        german = _in_german(blanked[sentence.start : sentence.end], all_german)
        heading = _HEADING.match(blanked, sentence.start, sentence.end) is not None
        for mention, is_supported in _runs(blanked, words, german):
            if mention.sentence_start or heading:
                doubtful.append((mention, is_supported and not heading))
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
    places: dict[str, list[Mention]] = {}
    for mention in sorted(mentions, key=lambda mention: mention.span):
        places.setdefault(canonical_name(mention.name), []).append(mention)
    return tuple(
        Name(found[0].name, name, found[0].kind, tuple(one.span for one in found))
        for name, found in places.items()
    )


def _in_german(text: str, all_german: bool) -> bool:
    """Whether a sentence is in German, where each noun has a capital. all_german: whether the text around it is."""
    found = words_of(fold(text))
    if language_of(found, text) == "german":
        return True
    german, english = (
        sum(serves_grammar(word, (language,)) for word in found) for language in ("german", "english")
    )
    return all_german and german >= english


def _outermost(mentions: Iterator[Mention]) -> Iterator[Mention]:
    """Mentions in order; of those that overlap the first, and of those that begin together the longest."""
    end = 0
    for mention in sorted(mentions, key=lambda mention: (mention.span.start, -mention.span.end)):
        if mention.span.start >= end:
            end = mention.span.end
            yield mention


def _coded(text: str) -> Iterator[Mention]:
    """Identifiers in back-ticks, packages and paths."""
    for found in _TICKED.finditer(text):
        said = found[1]
        fits = SHORTEST_NAME <= len(said) <= _LONGEST_IDENTIFIER
        if fits and _IDENTIFIER.fullmatch(said) and _JOINT.search(said):
            name = said.removesuffix("()")
            kind: NameKind = "package" if _PACKAGE.fullmatch(said) else "identifier"
            yield Mention(TextSpan(found.start(1), found.start(1) + len(name)), name, kind)
    for word in _words(text, 0, len(text)) if "@" in text else ():
        if _PACKAGE.fullmatch(word.text):
            yield Mention(word.span, word.text, "package")
    for found in (_LATIN_WORD if not text.isascii() else _WORD).finditer(text) if _SLASH.search(text) else ():
        for reference in file_references(found[0]) if _SLASH.search(found[0]) else ():
            if _SLASH.search(reference.path):
                start = found.start() + reference.start
                yield Mention(TextSpan(start, start + len(reference.path)), reference.path, "path")


def _words(text: str, start: int, end: int) -> Iterator[_Word]:
    for found in _WORD.finditer(text, start, end):
        raw = found[0]
        if raw.isalnum() and raw.isascii():
            yield _Word(TextSpan(*found.span()), raw, False, False, False, False)
            continue
        if not raw.isascii() and _LATIN_LETTER.search(raw) and _LATIN.fullmatch(raw) is None:
            yield from _of_scripts(text, found)
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


def _of_scripts(text: str, found: re.Match[str]) -> Iterator[_Word]:
    """The Latin parts of a word of several scripts, each as a word between others that end every run."""
    for part in _LATIN.finditer(found[0]):
        start, end = found.start() + part.start(), found.start() + part.end()
        for word in _words(text, start, end):
            cut = word.span.end < found.end() and end < found.end()
            begins = word.begins_run or part.start() > 0
            yield word._replace(ends_run=word.ends_run or cut, begins_run=begins, cut=True)


def _runs(text: str, words: tuple[_Word, ...], german: bool) -> Iterator[tuple[Mention, bool]]:
    """The runs of words with capitals in one sentence, and for a doubtful one whether its sentence supports it."""
    run: list[_Word] = []
    first = next((word for word in words if any(map(str.isalpha, word.text))), None)
    for word, after in pairwise((*words, None)):
        if word is None:
            break
        counts = _has_capital(word.text)
        if run and (not counts or word.begins_run or len(run) >= _MOST_WORDS):
            yield from _named(text, run, first, word, words, german)
            run = []
        if counts:
            run.append(word)
            if word.ends_run or after is None:
                yield from _named(text, run, first, after, words, german)
                run = []


def _named(
    text: str,
    run: list[_Word],
    first: _Word | None,
    after: _Word | None,
    words: tuple[_Word, ...],
    german: bool,
) -> Iterator[tuple[Mention, bool]]:
    opens = run[0] is first
    bare = run[1:] if opens and len(run) > 1 and _only_opens(run[0].text) else run
    while bare and bare[0].text.lower() in _TITLES:
        bare = bare[1:]
    if german and bare and not any(_is_distinct(word.text) for word in bare):
        titled = len(bare) < len(run) and run[-len(bare) - 1].text.lower() in _TITLES
        bare = bare if titled else _named_in_german(bare, after, words)
    alone = bare[0].text if len(bare) == 1 and not bare[0].cut else ""
    if not bare or (alone.lower() in _SAYS_LITTLE and not _is_distinct(alone)):
        return
    span = TextSpan(bare[0].span.start, bare[-1].span.end)
    name = collapse_white_space(compose(span.of(text)))
    if len(name) < SHORTEST_NAME:
        return
    doubtful = opens and len(run) == 1 and not (run[0].cut or _is_distinct(run[0].text))
    supported = doubtful and _is_supported(run[0], after, words)
    yield Mention(span, name, "name", doubtful), supported


def _only_opens(word: str) -> bool:
    """Whether a word that opens a sentence only has a capital for that."""
    return word.lower() in _OPENING_WORDS and not _is_distinct(word)


def _named_in_german(run: list[_Word], after: _Word | None, words: tuple[_Word, ...]) -> list[_Word]:
    """What of a run is a name in a language that writes every noun with a capital: rather too little than too much."""
    place = next(number for number, word in enumerate(words) if word is run[0])
    before = words[place - 1].text.lower() if place else ""
    common = [_is_common_word(word.text.lower()) for word in run]
    if len(run) > 1 and common[0] and not any(common[1:]):
        # "auf dem Cluster Nordlicht".
        return [] if run[-1].text.lower().endswith(_GERMAN_NOUN) else run[1:]
    if before in WORDS["german determiners"] or any(common):
        return []
    if len(run) > 1:
        return [] if run[0].text.lower().endswith(_GERMAN_NOUN) else run
    if after is not None and after.text[:1].isdigit() and not run[0].ends_run:
        return run
    named = before in WORDS["german before names"] and not run[0].text.lower().endswith(_GERMAN_NOUN)
    return run if named else []


def _is_common_word(lower: str) -> bool:
    """Whether it is a word of everyday or of general and technical English."""
    return lower in _NOUNS or is_listed(lower)


def _has_capital(word: str) -> bool:
    """Whether a word looks like part of a name: capital and lower-case letter, or an acronym, and no everyday word."""
    if not 2 <= len(word) <= _LONGEST_WORD or not word[0].isalpha() or word[0].islower():
        return False
    said = compose(word)
    head, _, tail = said.lower().replace("’", "'").partition("'")
    looks = (len(said) > 1 and (said[0].isupper() or said[0].istitle()) and said[1].islower()) or (
        _ACRONYM.fullmatch(said) is not None
        or _CAPITALS_FIRST.fullmatch(said) is not None
        or (len(said) > 3 and said[0].isupper() and said[1] in "'’" and said[2].isupper())
    )
    return (
        looks
        and "://" not in said
        and not (said[:2].isupper() and _ACRONYM_ENDS.sub("", said).lower() in WORDS["generic acronyms"])
        and said.lower().replace("’", "'") not in WORDS["no names"]
        # I'm, Don't, They've.
        and not (tail == "t" or (tail in {"m", "ve", "re", "ll", "d"} and head in WORDS["no names"]))
    )


def _is_distinct(word: str) -> bool:
    """Whether a word shows by itself that it is a name: an acronym, or capitals or digits within."""
    return (
        _ACRONYM.fullmatch(word) is not None
        or _HUMP.search(word) is not None
        or _CAPITALS_FIRST.fullmatch(word) is not None
        or any(map(str.isdigit, word))
    )


def _is_supported(word: _Word, after: _Word | None, words: tuple[_Word, ...]) -> bool:
    """Whether the sentence says that its first word is a name: a list of names, or the subject of a verb."""
    lower = word.text.lower()
    derived = len(lower) >= _LONG_ENOUGH and lower.endswith(_DERIVED)
    if after is None or derived or lower in _NOUNS or lower in FOREIGN_WORDS:
        return False
    place = next(number for number, other in enumerate(words) if other is word) + 1
    following = words[place : place + 3]
    said = [other.text.lower() for other in following]
    if word.comma and (said[0] in {"who", "whose", "which"} or _has_capital(following[0].text)):
        return True
    if _is_common_word(lower):
        return False
    if word.ends_run:
        return word.possessive
    if said[0] in {"and", "or", "&"} and len(following) > 1:
        return _has_capital(following[1].text)
    # Built as no plural of a noun is.
    one = not lower.endswith("s") or lower.endswith(("ss", "us", "is"))
    if after.text[:1].isdigit():
        return True
    if said[0] in {"who", "whose"}:
        return one
    verb = said[1] if len(said) > 1 and (said[0] in WORDS["adverbs"] or said[0].endswith("ly")) else said[0]
    if not one and f"{verb}s" in _BEHIND_A_SUBJECT:
        # "Traces go": several of them.
        return False
    denied = said[0].replace("’", "'").endswith("n't")
    return (
        denied
        or not _BEHIND_A_SUBJECT.isdisjoint((said[0], verb))
        or (one and _PAST.fullmatch(verb) is not None)
    )


# What a program printed: logs, stack traces, listings, code between fences.
_FENCE: Final = re.compile(r"^[ \t]{0,3}(```|~~~)[^\n]*\n(?:.*\n)*?[ \t]{0,3}\1[ \t]*$", re.MULTILINE)
_INDENTED: Final = re.compile(r"(?:\t| {4})\s*\S")
_VISIBLE: Final = re.compile(r"[^\n\r]")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_PRINTED: Final = re.compile(
    r"""\s*(?:
    [\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | [\[(]?\d\d:\d\d:\d\d\b | \[\s*\d{1,3}%\] | \$\s\S | >>>\s
    | (?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|PASS|FAIL|SKIP|PASSED|FAILED)\b(?!\s*:\s*[a-z]+\s)
    | (?:error|warning)(?:\[[A-Z]\d+\])?:\s | Traceback\s\(most\srecent | File\s"[^"]+",\sline\s\d
    | at\s[\w.$<>]+\( | Caused\sby:\s | [\w.$]+(?:Exception|Error)(?::\s|$) | thread\s'[^']*'\spanicked
    | [{\[]["'{] | (?:---|\+\+\+)\s[ab]/ | @@\s-\d | diff\s--git\s | Benchmark\w+(?:-\d+)?\s+\d
    | (?:goos|goarch|pkg|cpu):\s | ok\s{2,}\S | (?:commit|tree|index)\s[0-9a-f]{7,}
    | (?:GET|POST|PUT|DELETE|PATCH|HEAD)\s/\S*\s | \#\s(?:module|resource|data)\.\S+\s
    )""",
    re.VERBOSE,
)


def without_output(text: str) -> str:
    """A text with all that a program seems to have printed blanked out, each other character in its place.

    Code between fences; lines that look like a log, a stack trace or a difference; and lines indented by four, where
    others are not and they belong to no list.
    """
    text = _FENCE.sub(lambda found: _VISIBLE.sub(" ", found[0]), text)
    lines = text.split("\n")
    some_are_not = any(line.strip() and not _INDENTED.match(line) for line in lines)
    listed = False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        listed = _ITEM.match(line) is not None or (listed and line[:1].isspace())
        if (some_are_not and not listed and _INDENTED.match(line)) or _PRINTED.match(line):
            lines[number] = _VISIBLE.sub(" ", line)
    return "\n".join(lines)
