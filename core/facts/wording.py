"""How a key or a query is read: its scope prefix, the words that carry meaning, and how alike two words are."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from core.model.note import SCOPES
from core.text.tokens import STOP_WORDS, fold, stem, words

LONGEST_READ: Final = 2000
MOST_WORDS: Final = 48
_LONGEST_WORD: Final = 64
_MARKER: Final = re.compile(r"(?<![\w:])([^\W\d_]{3,9}):(?!//)", re.UNICODE)
_HAS_DIGIT: Final = re.compile(r"\d")
# What inflection leaves behind where two forms part; a doubled letter may come before it ("planned").
_ENDING: Final = re.compile(r"|[ey]|e?s|[a-z]?(?:ed|ing)|d|ie[sd]")
_NO_LETTERS: Final = re.compile(r"[\W_]+", re.UNICODE)

# Short forms that people and programs use for one another.
_SHORT_FORMS: Final = {
    "addr": "address", "admin": "administrator", "app": "application", "apps": "application",
    "auth": "authentication", "bday": "birthday", "cfg": "configuration", "cmd": "command", "cmds": "command",
    "conf": "configuration", "config": "configuration", "configs": "configuration", "creds": "credentials",
    "db": "database", "dbs": "database", "deps": "dependencies", "dev": "development", "dir": "directory",
    "docs": "documentation", "env": "environment", "envs": "environment", "fav": "favorite",
    "favourite": "favorite", "img": "image", "info": "information", "k8s": "kubernetes", "lang": "language",
    "lib": "library", "libs": "library", "msg": "message", "num": "number", "pg": "postgres",
    "postgresql": "postgres", "pref": "preference", "prefs": "preference", "prod": "production",
    "pwd": "password", "repo": "repository", "repos": "repository", "tel": "telephone", "tz": "timezone",
    "ver": "version",
}  # fmt: skip

# What surrounds a question without being asked for. It counts where a key holds it and is passed over elsewhere.
_FILLERS: Final = frozenset(
    stem(word)
    for word in (
        "again", "answer", "anything", "because", "called", "currently", "details", "exactly", "explain",
        "fact", "find", "get", "hello", "hey", "information", "like", "look", "need", "nowadays", "okay",
        "question", "quick", "recall", "remember", "remembered", "remind", "said", "say", "show", "something",
        "stored", "thanks", "thing", "today", "told", "use", "used", "using", "value",
    )
)  # fmt: skip


# People seldom mistype the first letter; words that rhyme are many ("border", "order").
_OTHER_INITIAL: Final = 0.15
# Share of a word's letters that a typing error leaves in place.
LEAST_ALIKE: Final = 0.55


class Reading(NamedTuple):
    """A text as recall reads it.

    exact: the whole text, case folded and trimmed. bare: the same without its scope prefix. plain: `bare` with
    accents folded and white space squeezed. compact: the letters and digits of `plain` alone. scope: "" when none is
    written. words and stems: those that carry meaning, side by side, without repeats. forms: every such word, short
    forms written out.
    """

    exact: str
    bare: str
    plain: str
    compact: str
    scope: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    forms: frozenset[str]


@lru_cache(maxsize=20_000)
def read_key(key: str) -> Reading:
    """The reading of a fact's key; a scope counts where it opens the key and is spelt right."""
    text = key.strip()[:LONGEST_READ]
    marker = _MARKER.match(text)
    if marker and marker[1].lower() in SCOPES:
        return _read(key, text[marker.end() :], marker[1].lower())
    return _read(key, text, "")


def read_query(query: str) -> Reading:
    """The reading of a query; its scope may stand anywhere ("remind me: user:coffee") and be mistyped ("usr:")."""
    text = query.strip()[:LONGEST_READ]
    for marker in _MARKER.finditer(text):
        scope = _scope_meant(marker[1].lower())
        if scope:
            return _read(query, f"{text[: marker.start()]} {text[marker.end() :]}", scope)
    return _read(query, text, "")


def _read(whole: str, rest: str, scope: str) -> Reading:
    plain = " ".join(fold(rest).split())
    seen: dict[str, str] = {}
    forms: set[str] = set()
    for word in words(rest):
        if (
            word in STOP_WORDS
            or len(word) > _LONGEST_WORD
            or (len(word) == 1 and word.lower() != word.upper())
        ):
            continue
        forms.add(written_out(word))
        seen.setdefault(stem(written_out(word)), word)
        if len(seen) >= MOST_WORDS:
            break
    return Reading(
        exact=exact_form(whole),
        bare=exact_form(rest),
        plain=plain,
        compact=_NO_LETTERS.sub("", plain),
        scope=scope,
        words=tuple(seen.values()),
        stems=tuple(seen),
        forms=frozenset(forms),
    )


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


def exact_form(text: str) -> str:
    """What two texts that count as the same key have in common: case folded, trimmed, one form of accents."""
    return unicodedata.normalize("NFC", text.strip().casefold())


def is_filler(token: str) -> bool:
    """Whether a stem belongs to the wording of a question rather than to what is asked for."""
    return token in _FILLERS


@lru_cache(maxsize=1000)
def _scope_meant(word: str) -> str:
    from rapidfuzz.distance import OSA

    return next((scope for scope in SCOPES if OSA.distance(word, scope, score_cutoff=1) <= 1), "")


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
    # Badly mistyped: never believed alone, but beside the right words.
    garbled = len(shorter) >= 3 and len(longer) >= 5 and distance <= (1 - LEAST_ALIKE) * len(longer)
    return 0.5 if garbled else 0.0
