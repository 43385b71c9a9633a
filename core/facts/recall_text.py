"""Reads keys and queries: the scope prefix, the words that carry meaning, and how alike two words are."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from core.model.note import SCOPES
from core.text.exact import exact_form as exact_form
from core.text.tokens import STOP_WORDS, fold, stem, unspaced_runs, words

LONGEST_READ: Final = 2000
MOST_WORDS: Final = 48
_LONGEST_WORD: Final = 64
_MARKER: Final = re.compile(r"(?<![\w:])([^\W\d_]{3,9}):(?!//)", re.UNICODE)
_HAS_DIGIT: Final = re.compile(r"\d")
# What inflection leaves behind where two forms part; a doubled letter may come before it ("planned").
_ENDING: Final = re.compile(r"|[ey]|e?s|[a-z]?(?:ed|ing)|d|ie[sd]")
_NO_LETTERS: Final = re.compile(r"[\W_]+", re.UNICODE)

# Short forms, spellings and everyday words that people and programs use for one another.
_SHORT_FORMS: Final = {
    "addr": "address", "admin": "administrator", "app": "application", "apps": "application",
    "auth": "authentication", "bday": "birthday", "cfg": "configuration", "cmd": "command", "cmds": "command",
    "colour": "color", "colours": "color", "conf": "configuration", "config": "configuration",
    "configs": "configuration", "creds": "credentials", "db": "database", "dbs": "database",
    "deps": "dependencies", "dev": "development", "dir": "directory", "docs": "documentation",
    "email": "mail", "env": "environment", "envs": "environment", "fav": "preferred", "favorite": "preferred",
    "favorites": "preferred", "favourite": "preferred", "favourites": "preferred", "folder": "directory",
    "folders": "directory", "grey": "gray", "img": "image", "info": "information", "k8s": "kubernetes",
    "lang": "language", "latest": "current", "lib": "library", "libs": "library", "licence": "license",
    "max": "maximum", "min": "minimum", "msg": "message", "newest": "current", "num": "number",
    "pg": "postgres", "phone": "telephone", "phones": "telephone", "postgresql": "postgres",
    "pref": "preference", "prefs": "preference", "prod": "production", "pwd": "password", "repo": "repository",
    "repos": "repository", "tel": "telephone", "tz": "timezone", "ver": "version",
}  # fmt: skip

# What surrounds a question without being asked for. It counts where a key holds it and is passed over elsewhere.
_FILLERS: Final = frozenset(
    stem(word)
    for word in (
        "actually", "again", "allowed", "always", "answer", "anything", "assume", "because", "big", "call",
        "called", "cause", "caused", "current", "currently", "details", "during", "ever", "exactly", "exist",
        "explain", "fact", "find", "get", "go", "goes", "happen", "hello", "hey", "information", "keep", "kept",
        "like", "live", "long", "look", "many", "may", "mean", "might", "much", "must", "need", "nowadays",
        "often", "okay", "own", "preferred", "question", "quick", "really", "recall", "remember", "remembered",
        "remind", "right", "said", "say", "shall", "show", "something", "stored", "supposed", "take", "taken",
        "thanks", "thing", "today", "told", "usually", "use", "used", "using", "value", "wrong", *SCOPES,
    )
)  # fmt: skip

# Words that name a trait and not whose: with somebody or something else beside them they ask for another's.
_TRAITS: Final = frozenset(
    stem(word)
    for word in (
        "address", "age", "amount", "code", "color", "contact", "cost", "date", "day", "file", "id", "item",
        "kind", "list", "location", "name", "number", "order", "owner", "person", "place", "port", "price",
        "size", "status", "time", "title", "type", "url", "version", "word", "year",
    )
)  # fmt: skip
# What follows one of these is why somebody asks and not what for.
_REASON: Final = re.compile(r"(?<=\w)[\s,]+because\b.*", re.IGNORECASE | re.DOTALL)
_SPEAKERS: Final = {
    "self": "self",
    "user": "user",
    "your": "self",
    "yours": "self",
    "yourself": "self",
    "my": "user",
    "mine": "user",
}


# People seldom mistype the first letter; words that rhyme are many ("border", "order").
_OTHER_INITIAL: Final = 0.15
# Share of a word's letters that a typing error leaves in place.
_LEAST_ALIKE: Final = 0.55
_MOST_ALIKE: Final = 8
_BEGINNING: Final = 4


class RecallText(NamedTuple):
    """A text as recall reads it.

    exact: the whole text, case folded and trimmed. bare: the same without its scope prefix. plain: `bare` with
    accents folded and white space squeezed. compact: the letters and digits of `plain` alone. scope: "" when none is
    written. person: "self" or "user" where a query says "your" or "my". words and stems: those that carry meaning,
    side by side, without repeats. forms: every such word, short forms written out.
    """

    exact: str
    bare: str
    plain: str
    compact: str
    scope: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    forms: frozenset[str]
    person: str = ""


@lru_cache(maxsize=20_000)
def parse_key(key: str) -> RecallText:
    """The reading of a fact's key; a scope counts where it opens the key and is spelt right."""
    text = key.strip()[:LONGEST_READ]
    marker = _MARKER.match(text)
    if marker and marker[1].lower() in SCOPES:
        return _read(key, text[marker.end() :], marker[1].lower())
    return _read(key, text, "")


def parse_recall_query(query: str) -> RecallText:
    """The reading of a query; its scope may stand anywhere ("remind me: user:coffee") and be mistyped ("usr:")."""
    text = query.strip()[:LONGEST_READ]
    found, scope = text, ""
    for marker in _MARKER.finditer(text):
        scope = _scope_meant(marker[1].lower())
        if scope:
            found = f"{text[: marker.start()]} {text[marker.end() :]}"
            break
    reading = _read(query, found, scope)
    asked = _read(query, _REASON.sub("", found), scope)
    person = next((_SPEAKERS[word] for word in words(found) if word in _SPEAKERS), "")
    return reading._replace(words=asked.words, stems=asked.stems, forms=asked.forms, person=person)


def _read(whole: str, rest: str, scope: str) -> RecallText:
    plain = " ".join(fold(rest).split())
    seen: dict[str, str] = {}
    forms: set[str] = set()
    for word in words(rest):
        if not carries_meaning(word):
            continue
        forms.add(written_out(word))
        seen.setdefault(stem(written_out(word)), word)
        if len(seen) >= MOST_WORDS:
            break
    return RecallText(
        exact=exact_form(whole),
        bare=exact_form(rest),
        plain=plain,
        compact=_NO_LETTERS.sub("", plain),
        scope=scope,
        words=tuple(seen.values()),
        stems=tuple(seen),
        forms=frozenset(forms),
    )


def carries_meaning(word: str) -> bool:
    """Whether a word carries meaning: no stop word, no lone letter (a lone Chinese character does), no data."""
    lone_letter = len(word) == 1 and word.lower() != word.upper()
    return not (word in STOP_WORDS or lone_letter or len(word) > _LONGEST_WORD)


def respelt(asked: RecallText, known: Container[str], pairs: Mapping[str, tuple[str, ...]]) -> RecallText:
    """The reading with words joined or parted as the keys have them ("roll back": "rollback"; "timezone": "time zone").

    known: words of the keys. pairs: neighbouring words of the keys by what they make when joined.
    """
    found: list[str] = []
    left = list(asked.words)
    while left:
        word = left.pop(0)
        if left and word + left[0] in known and not (word in known and left[0] in known):
            found.append(word + left.pop(0))
        elif word not in known and written_out(word) in pairs:
            found.extend(pairs[written_out(word)])
        else:
            found.append(word)
    if tuple(found) == asked.words:
        return asked
    seen: dict[str, str] = {}
    for word in found:
        seen.setdefault(stem(written_out(word)), word)
    forms = asked.forms.union(written_out(word) for word in found)
    return asked._replace(words=tuple(seen.values()), stems=tuple(seen), forms=forms)


def written_out(word: str) -> str:
    """The word that a short form stands for, or the word itself."""
    return _SHORT_FORMS.get(word, word)


def is_inflected(left: str, right: str) -> bool:
    """Whether two words of one stem are forms of one word ("deploy", "deployed") and not two words that grew from
    one root ("product", "production").
    """
    pairs = enumerate(zip(left, right, strict=False))
    shared = next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))
    return bool(_ENDING.fullmatch(left[shared:]) and _ENDING.fullmatch(right[shared:]))


def is_filler(token: str) -> bool:
    """Whether a stem belongs to the wording of a question rather than to what is asked for."""
    return token in _FILLERS


def is_trait(token: str) -> bool:
    """Whether a stem names a trait that anything may have ("name", "size") and not what it is a trait of."""
    return token in _TRAITS


@lru_cache(maxsize=1000)
def _scope_meant(word: str) -> str:
    from rapidfuzz.distance import OSA

    return next((scope for scope in SCOPES if OSA.distance(word, scope, score_cutoff=1) <= 1), "")


def similar(word: str, known: Sequence[str]) -> list[str]:
    """Of some words the eight at most that are spelt most like a word; `likeness` tells how sure they are."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(
        word, known, scorer=OSA.normalized_similarity, score_cutoff=_LEAST_ALIKE, limit=_MOST_ALIKE
    )
    return [other for other, _, _ in found]


def is_beginning(word: str) -> bool:
    """Whether an unknown word is taken for one half typed where known words begin so: from four letters on."""
    return len(word) >= _BEGINNING and word.isalpha() and not unspaced_runs().search(word)


def is_mostly(word: str, whole: str) -> bool:
    """Whether a word is enough of another's beginning to stand for it alone: "life" is not of "lifetime"."""
    return whole.startswith(word) and 2 * len(word) + (len(word) > _BEGINNING) > len(whole)


def likeness(left: str, right: str) -> float:
    """How sure it is that two different words are one word mistyped: 0 for no, below 1.

    The order of letters counts (optimal string alignment: insert, leave out, replace, swap neighbours). Words with
    digits are never alike: a port is not the next port. One letter replaced in a short word most often gives
    another word, so that it needs other words beside it to be believed.
    """
    shorter, longer = sorted((left, right), key=len)
    if _HAS_DIGIT.search(left) or _HAS_DIGIT.search(right):
        return 0.0
    slip = _typing_slip(shorter, longer)
    if slip and shorter[0] != longer[0]:
        slip -= _OTHER_INITIAL
    if not (longer.startswith(shorter) and 2 * len(shorter) >= len(longer)):
        return slip
    if "\uac00" <= shorter[0] <= "\ud7a3" and len(shorter) >= 2:
        return 0.9  # Korean: the word with a particle
    return max(slip, 0.75 if len(shorter) >= (4 if shorter.isascii() else 3) else 0.0)


def _typing_slip(shorter: str, longer: str) -> float:
    from rapidfuzz.distance import OSA

    distance = OSA.distance(shorter, longer)
    if distance == 1 and len(longer) >= 6:
        return 0.9
    if distance == 1:
        moved = len(shorter) != len(longer) or sorted(shorter) == sorted(longer)
        if moved and len(shorter) >= 4:
            return 0.85
        return 0.6 if len(longer) >= 4 or (len(longer) == 3 and moved and shorter[0] == longer[0]) else 0.0
    if distance == 2 and len(longer) >= 8:
        return 0.8
    if distance == 2 and len(longer) >= 6 and shorter[0] == longer[0]:
        return 0.75 if len(longer) == 7 else 0.65
    # Badly mistyped: never believed alone, but beside the right words.
    garbled = len(shorter) >= 3 and len(longer) >= 5 and distance <= (1 - _LEAST_ALIKE) * len(longer)
    return 0.5 if garbled else 0.0
