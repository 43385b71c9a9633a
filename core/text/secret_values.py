"""Tells a password or random token from a word, a name, a path, a digest or a placeholder."""

from __future__ import annotations

import binascii
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from operator import add
from pathlib import Path
from typing import Any, Final

# Shapes and words of credentials.
TABLES: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("credentials.toml").read_text("utf-8").replace("¦", r"(?<![\w-])")
)


def any_of(words: Iterable[str]) -> str:
    """A pattern of the longest of many words that stands in a place, which no number of words makes slow."""
    rests = defaultdict(set)
    for word in words:
        rests[word[:1]].add(word[1:])
    optional = "?" if rests.pop("", None) else ""
    branches = [re.escape(first) + any_of(rest) for first, rest in rests.items()]
    return f"(?:{'|'.join(branches)}){optional}" if branches else ""


_COMMON: Final = frozenset(TABLES["harmless"]["common"].split())
_WORDS: Final = frozenset(TABLES["harmless"]["words"].split())
_STANDS_FOR: Final = re.compile(
    r"[*x.•_-]+|(.)\1*|[<\[{(%$].*|!vault|![A-Z][A-Za-z:]+|[&*][A-Za-z_]\w*", re.IGNORECASE | re.DOTALL
)
_SAMPLE: Final = re.compile(any_of(TABLES["harmless"]["samples"].split()))
_DIGEST: Final = re.compile(
    r"(?:sha\d{1,3}[:-])?[0-9a-f]{7,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
_DIGEST_WORD: Final = re.compile(
    r"\b(?:commit|sha\d*|hash|digest|checksum|fingerprint|revision|etag|md5|id)\b", re.IGNORECASE
)
# Ciphers, protocols and programs that bear a number, spans of time or size, and times.
_TECHNICAL: Final = re.compile(
    rf"""{any_of(TABLES["harmless"]["numbered"].split())}[-_]?(?:\d.{{0,4}})?
        |\d+(?:ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|[kmg]i?b|[km]|bytes?|bits?|chars|characters)
        |[a-z]\d{{1,2}}[a-z]|0x[0-9a-f]{{1,16}}|\d{{4}}-\d\d-\d\d(?:[T_ ]\d\d:?\d\d\S{{0,12}})?""",
    re.IGNORECASE | re.VERBOSE,
)
# Addresses, options and names of cloud resources; a call, a variable, a part of an object.
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}|[A-Za-z_-]{2,}=[^=].*|arn:.*")
_CALL: Final = re.compile(r"([A-Za-z_][\w.:?]*)[(\[<{]")
_PLAIN_PART: Final = re.compile(r"[^\W\d_]+\d{0,8}|\d+[A-Za-z]{0,4}|v\d+|")
_JOINT: Final = re.compile(r"[-_./:\\+|?’]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_NO_LETTER: Final = re.compile(r"[^\w./:\\+|?’-]|\d")
_ODD_SIGN: Final = re.compile(r"[^\w./:\\+|?’-]")
_TURN: Final = re.compile(r"[^\W\d_](?=\d)|\d(?=[^\W\d_])")
_BOTH_CASES: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)", re.DOTALL)
_ENDS_SENTENCE: Final = ".)]}>!?"
# Bits a character; English words lie below 3, random letters and digits of this length above.
_RANDOM: Final = 3.0
# Texts of programs say one value again and again.
_REMEMBERED: Final = 512
_WEIGHED: Final = 500
# Pairs of letters that stand beside each other in words and names, by the first: seven of eight of theirs, and three of
# ten of letters thrown at random. Counted in manuals and programs.
_IN_WORDS: Final = frozenset(
    row[0] + second for row in TABLES["harmless"]["pairs"].split() for second in row[1:]
)
_WORDY_SHARE: Final = 0.58


def entropy(text: str) -> float:
    """Shannon entropy of a text's first 500 characters, in bits a character."""
    text = text[:_WEIGHED]
    if not text:
        return 0.0
    return math.log2(len(text)) - sum(n * math.log2(n) for n in Counter(text).values()) / len(text)


def is_placeholder(value: str) -> bool:
    """Whether a value stands for another: stars, one sign repeated, brackets, "your-key-here"."""
    return _STANDS_FOR.fullmatch(value) is not None or _SAMPLE.search(value.lower()) is not None


@lru_cache(_REMEMBERED)
def is_harmless(value: str) -> bool:
    """Whether a value stands for another, or is an address, a well-known name or a piece of program text."""
    if "://" in value or value.casefold() in _WORDS or is_placeholder(value):
        return True
    if _TECHNICAL.fullmatch(value) or _ADDRESS.fullmatch(value):
        return True
    called = _CALL.match(value)
    return called is not None and ("." in called[1] or is_name(called[1]))


def is_name(value: str) -> bool:
    """A path, an identifier or a version: parts that are each all letters or all digits, or nearly so."""
    if value.startswith(("/", "~/", "./", "../")):
        return True
    return all(map(_PLAIN_PART.fullmatch, _JOINT.split(value)))


def is_wordy(value: str) -> bool:
    """Whether letters follow each other as in words, with few digits between: an identifier."""
    lower = value.lower()
    pairs = list(map(add, lower, lower[1:]))
    lettered = sum(map(str.isalpha, pairs))
    known = sum(map(_IN_WORDS.__contains__, pairs))
    mixed = sum(map(str.isalnum, pairs)) - sum(map(str.isdigit, pairs))
    return 2 * lettered >= mixed and known >= _WORDY_SHARE * lettered


@lru_cache(_REMEMBERED)
def is_mixed(value: str) -> bool:
    """Whether a value mixes letters with digits or signs as a password does, and is nothing well known."""
    value = value.rstrip(_ENDS_SENTENCE)
    if len(value) < 5 or not _LETTER.search(value) or not _NO_LETTER.search(value):
        return False
    return not is_harmless(value) and not (_JOINT.search(value) and is_name(value))


def is_strong(value: str) -> bool:
    """Whether a password that no word tells of is one: of both cases, with a digit."""
    return _BOTH_CASES.match(value) is not None and is_mixed(value)


def is_password(value: str, *, assigned: bool = False) -> bool:
    """Whether a value behind a word such as "password" is one.

    assigned: it stands behind "=" in a line of settings, where letters alone are a password too.
    """
    core = value.rstrip(_ENDS_SENTENCE)
    if core.isdigit():
        return 6 <= len(core) <= 16
    if core.isalpha():
        return core.casefold() in _COMMON or (assigned and len(core) >= 6 and not is_harmless(core))
    return is_mixed(core)


def is_token(value: str, before: str) -> bool:
    """Whether a value assigned to a word such as "token" is one. before: the text right before it."""
    core = value.rstrip(_ENDS_SENTENCE + "=")
    if core.isalpha() or not (core[:1].isalnum() or core[:1] in "+/_-"):
        return False
    if _DIGEST.fullmatch(core):
        return is_random(core, before)
    if not (len(core) >= 8 or len(_TURN.findall(core)) >= 3 or _ODD_SIGN.search(core)):
        return False
    return is_mixed(core)


@lru_cache(_REMEMBERED)
def is_random(value: str, before: str = "") -> bool:
    """Whether a value looks random by itself; digests only where nothing `before` it says that they are."""
    if len(value) < 8 or not (_NO_LETTER.search(value) and _LETTER.search(value)):
        return False
    if _DIGEST.fullmatch(value):
        return len(value) >= 32 and not _DIGEST_WORD.search(before)
    if is_harmless(value) or is_name(value):
        return False
    return any(map(str.isdigit, value)) and entropy(value) >= min(_RANDOM, math.log2(len(value)) - 0.3)


def is_key(value: str) -> bool:
    """Whether a value behind a word as general as "key" looks random: long, of both cases and digits."""
    words = [part for part in re.split("[-_]", value) if len(part) > 3 and part.isalpha() and is_wordy(part)]
    return len(value) >= 16 and _BOTH_CASES.match(value) is not None and len(words) < 2 and is_random(value)


def is_assigned(value: str) -> bool:
    """Whether a value of a variable such as API_KEY is one."""
    is_path = "/" in value and is_name(value)
    return not (value.isdigit() or is_harmless(value) or is_path)


def is_no_word(value: str) -> bool:
    """Whether it is none of the words that stand in the place of a password in examples."""
    return value.casefold() not in _WORDS


def is_basic(value: str) -> bool:
    """Whether it is a name and a password, joined by a colon, in base64."""
    try:
        decoded = binascii.a2b_base64(value, strict_mode=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def is_card(value: str) -> bool:
    """Whether the check digit of a card's number holds (Luhn's rule)."""
    digits = [int(char) for char in reversed(value) if char.isdigit()]
    doubled = (digit * 2 - 9 * (digit > 4) for digit in digits[1::2])
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0
