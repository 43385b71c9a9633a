"""Tells a password or random token from a word, a name, a path, a digest or a placeholder."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_PLACEHOLDER: Final = re.compile(
    r"""[*x.•_-]+|(.)\1*|[<\[{(%$].*|!vault|![A-Z][A-Za-z:]+|[&*][A-Za-z_]\w*|
    .*(?:example|placeholder|change[_-]?me|replace[_-]?me|redacted|dummy|your[_-]|[_-]here\b|x{6,}|\*{4,}|\.\.\.|…).*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_PLAIN_WORDS: Final = frozenset(
    [
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "key",
        "user",
        "username",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "int",
        "bool",
        "bytes",
        "required",
        "optional",
        "empty",
        "unset",
        "unknown",
        "missing",
        "here",
        "value",
        "text",
        "hidden",
        "masked",
        "stored",
        "vault",
        "env",
        "yes",
        "no",
        "see",
        "ask",
        "todo",
        "tbd",
        "n/a",
        "na",
        "changed",
        "reset",
        "admin",
        "root",
        "guest",
        "test",
        "default",
        "sample",
        "demo",
        "prompt",
        "inherit",
        "input",
        "hashed",
        "encrypted",
        "protected",
        "disabled",
        "enabled",
        "expired",
        "wrong",
        "correct",
        "incorrect",
        "invalid",
        "valid",
        "forgotten",
    ]
)
_GRAMMAR: Final = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "from",
        "into",
        "that",
        "this",
        "must",
        "have",
        "has",
        "was",
        "were",
        "are",
        "you",
        "your",
        "our",
        "not",
        "see",
        "ask",
        "under",
        "when",
        "only",
        "use",
        "its",
        "password",
        "secret",
        "token",
        "key",
        "vault",
        "prod",
        "name",
        "policy",
    ]
)
_COMMON: Final = frozenset(
    [
        "letmein",
        "qwerty",
        "qwertz",
        "azerty",
        "swordfish",
        "iloveyou",
        "dragon",
        "monkey",
        "sunshine",
        "princess",
        "football",
        "baseball",
        "superman",
        "batman",
        "shadow",
        "asdfgh",
        "asdfghjkl",
        "qwertyuiop",
        "trustnoone",
        "opensesame",
    ]
)
_DIGEST: Final = re.compile(r"(?:sha\d{1,3}[:-])?[0-9a-f]{7,128}", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DIGEST_WORD: Final = re.compile(
    r"\b(?:commit|sha\d*|hash|digest|checksum|fingerprint|revision|etag|md5|id)\b", re.IGNORECASE
)
# Ciphers, protocols and programs that bear a number, spans of time or size, and times.
_TECHNICAL: Final = re.compile(
    r"""(?:oauth|openid|saml|jw[tse]|base|sha|md|[rd]sa|ecdsa|ed|x|[hrep]s|aes|utf|argon|scrypt|pbkdf|blake|hmac|tls|
        ssl|https?|fido|webauthn|ntlm|kerberos|totp|vault|1password|keepass|kubernetes|k8s|python|node|version)
        [-_]?(?:\d{1,5}[a-z]{0,3})?
        |\d+(?:ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|[kmg]i?b|[km]|bytes?|bits?|chars|characters)
        |[a-z]\d{1,2}[a-z]|0x[0-9a-f]{1,16}|\d{4}-\d\d-\d\d(?:[T_ ]\d\d:?\d\d\S{0,12})?""",
    re.IGNORECASE | re.VERBOSE,
)
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_CALL: Final = re.compile(r"([A-Za-z_][\w.:?]*)[(\[<{]")
_OPTION: Final = re.compile(r"[A-Za-z_-]{2,}=[^=].*|arn:.*")
_FILE: Final = re.compile(r"(?:[\w.+@~-]*[/\\])*[\w.+@-]+\.[a-z][a-z0-9]{1,5}(?:\.gz)?", re.IGNORECASE)
_PLAIN_PART: Final = re.compile(r"[^\W\d_]+\d{0,8}|\d+[A-Za-z]{0,4}|v\d+")
_NAME_PARTS: Final = re.compile(r"[-_./:\\+|?’]")
# Bits a character; English words lie below 3, random letters and digits of this length above.
_RANDOM: Final = 3.0
_SHORT: Final = 10
_LONG_DIGEST: Final = 12

# Pairs of letters that stand beside each other in words and names, by the first: seven of eight of theirs, and three of
# ten of letters thrown at random. Counted in manuals and programs.
_PAIRS_IN_WORDS: Final = (
    "abcdgilmnprstuy baeilou caehiklortu daeiosu eacdefgilmnprstvwx faefiou gaeirs haeio iabcdefglmnoprstvz kei "
    "ladeilostuy maeimopv nacdefginostu ocdklmnoprstuvw paeiloprty qu racdegimnorstuy sacehiopstuy tacehiorstuy "
    "uabeilmnprst vaeimx waei xtv ypt ze"
)
_IN_WORDS: Final = frozenset(
    listed[0] + second for listed in _PAIRS_IN_WORDS.split() for second in listed[1:]
)
_WORDY_SHARE: Final = 0.58
_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_DIGIT: Final = re.compile(r"\d")
_SHORTEST_PIECE: Final = 2.2
_ONE_CASE: Final = re.compile(r"[A-Z]?[a-z]{1,4}\d{0,3}|[A-Z]{1,5}\d{0,3}|\d+[a-z]{0,3}")
# What programs write where a value will be: a call, a part of an object of theirs, the name of a variable or a type.
_REFERENCE: Final = re.compile(
    r"""[A-Za-z_.]+\d?[(\[<{].*|\$.*|
    (?:process|os|sys|self|this|cls|settings|config|conf|cfg|env|environ|ctx|context|req|request|response|res|args|argv|
    opts|options|props|params|secrets|vars?|data|local|module|app|user|session|client|import|window|state|input)
    (?:\??\.[A-Za-z_]+\d{0,2})+;?|[A-Z]+(?:_[A-Z]+)+;?|(?:str|string|bytes|text|varchar)\??[;|)]?""",
    re.VERBOSE | re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Whether a value stands for another: stars, one sign repeated, brackets, "your-key-here"."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_plain_words(value: str) -> bool:
    """Whether a value is a word that people write in place of a password."""
    return value.casefold() in _PLAIN_WORDS


def entropy(text: str) -> float:
    """Shannon entropy of a text's characters, in bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0


def is_wordy(value: str) -> bool:
    """Whether letters follow each other as in words, with few changes of case and few digits between: an identifier."""
    if _ONE_CASE.fullmatch(value) or value.isdigit():
        return True
    pieces = _PIECE.findall(value)
    if not pieces or sum(map(len, pieces)) < _SHORTEST_PIECE * len(pieces):
        return False
    lower = value.lower()
    pairs = [lower[place : place + 2] for place in range(len(lower) - 1)]
    pairs = [pair for pair in pairs if pair.isalnum() and not pair.isdigit()]
    lettered = [pair for pair in pairs if pair.isalpha()]
    known = sum(pair in _IN_WORDS for pair in lettered)
    return 2 * len(lettered) >= len(pairs) and known >= _WORDY_SHARE * len(lettered)


def is_harmless_code(value: str) -> bool:
    """Whether a value is program text that stands for another: a call, a variable, a type, a path."""
    if _REFERENCE.fullmatch(value):
        return True
    rooted = value.startswith(("/", "~/", "./", "../"))
    parts = value.lstrip("~.").strip("/").split("/")
    return len(parts) > 1 and all(
        len(part) > 1 and (rooted or len(parts) > 2 or not _DIGIT.search(part)) and is_wordy(part)
        for part in parts
    )


def mixed(value: str) -> bool:
    """Whether a value mixes letters with digits or signs as a password does, and is nothing well known."""
    value = value.rstrip(".)]}>!?")
    letters = sum(char.isalpha() for char in value)
    signs = len(_NAME_PARTS.findall(value))
    if len(value) < 5 or not letters or letters + signs == len(value) or harmless(value):
        return False
    return not (signs and is_name(value))


def passwordlike(value: str, *, assigned: bool) -> bool:
    """Whether a value behind a word such as "password" is one.

    assigned: it stands behind "=" in a line of settings, where letters alone are a password too.
    """
    core = value.rstrip(".)]}>!?")
    if is_plain_words(core) or harmless(core):
        return False
    if core.isdigit():
        return 6 <= len(core) <= 16
    if core.isalpha():
        long_enough = assigned and len(core) >= 6
        return long_enough or core.casefold() in _COMMON or (len(core) >= 8 and _mixed_case(core))
    return mixed(value)


def tokenlike(value: str, before: str) -> bool:
    """Whether a value assigned to a word such as "token" is one. before: the text right before it."""
    core = value.rstrip(".)]}>!?=")
    if not core or not (core[0].isalnum() or core[0] in "+/_-"):
        return False
    if _FILE.fullmatch(core) and ("/" in core or "\\" in core):
        return False
    if _DIGEST.fullmatch(core) or _UUID.fullmatch(core):
        return looks_random(core, before)
    if core.isalpha():
        return len(core) >= 12 and _mixed_case(core) and not harmless(core)
    short = _SHORT - 2 if before.endswith("=") else _SHORT
    return mixed(core) and (len(core) >= short or _turns(core) >= 3 or _odd_sign(core))


def looks_random(value: str, before: str) -> bool:
    """Whether a value looks random by itself; digests only where nothing `before` it says that they are."""
    if len(value) < 8 or harmless(value):
        return False
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    if _DIGEST.fullmatch(value) or _UUID.fullmatch(value):
        return len(value) >= 32 and not _DIGEST_WORD.search(before)
    if is_name(value) or _FILE.fullmatch(value):
        return False
    return entropy(value) >= min(_RANDOM, math.log2(len(value)) - 0.3)


def looks_keyed(value: str) -> bool:
    """Whether a value looks random beyond doubt: long, of both cases and digits, no digest, no path."""
    cases = any(c.islower() for c in value) and any(c.isupper() for c in value)
    digits = sum(char.isdigit() for char in value)
    return (
        len(value) >= 16
        and cases
        and digits >= 2
        and not value.startswith("AAAA")
        and sum(part.isalpha() and is_wordy(part) for part in re.split(r"[-_]", value) if len(part) > 3) < 2
        and looks_random(value, "")
    )


def looks_typed(value: str) -> bool:
    """Whether a header's value or an address's first part looks like a token."""
    both = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return both and not is_placeholder(value) and not is_name(value)


def is_long_digest(value: str) -> bool:
    """Whether it is hexadecimal and longer than the short form of a commit."""
    return len(value) >= _LONG_DIGEST and _DIGEST.fullmatch(value) is not None and not value.isdigit()


def is_passphrase(value: str) -> bool:
    """Whether quoted words make a passphrase: four or more lower-case words of letters."""
    words = value.replace("-", " ").split()
    plain = all(word.isalpha() and word.islower() and 3 <= len(word) <= 12 for word in words)
    return 4 <= len(words) <= 12 and plain and not _GRAMMAR & set(words)


def harmless(value: str) -> bool:
    """Whether a value stands for another, or is an address, a well-known name or a piece of program text."""
    if "://" in value or is_placeholder(value):
        return True
    if any(shape.fullmatch(value) for shape in (_TECHNICAL, _ADDRESS, _OPTION)):
        return True
    called = _CALL.match(value)
    return called is not None and ("." in called[1] or is_name(called[1]))


def is_name(value: str) -> bool:
    """A path, an identifier or a version: parts that are each all letters or all digits, or nearly so."""
    if value.startswith(("/", "~/", "./", "../")):
        return True
    parts = [part for part in _NAME_PARTS.split(value) if part]
    plain = [part for part in parts if _PLAIN_PART.fullmatch(part) or _TECHNICAL.fullmatch(part)]
    return len(plain) == len(parts) and not _mixed_case(value)


def _mixed_case(value: str) -> bool:
    """Case that changes within a word as it does in no identifier: aB3x, not camelCase or RS256."""
    changes = len(re.findall(r"[a-z][A-Z]", value))
    return changes >= max(3, len(value) // 5)


def _turns(value: str) -> int:
    """How often letters and digits take turns."""
    return len(re.findall(r"[^\W\d_]\d|\d[^\W\d_]", value))


def _odd_sign(value: str) -> bool:
    return any(not char.isalnum() and not _NAME_PARTS.match(char) for char in value)
