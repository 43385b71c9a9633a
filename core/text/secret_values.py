"""Tells a password or random token from a word, a name, a path, a digest or a placeholder."""

# The patterns read as the tables that they are.
# ruff: noqa: E501, SIM905

from __future__ import annotations

import binascii
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final


def any_of(words: Iterable[str]) -> str:
    """A pattern of the longest of many words that stands in a place, which no number of words makes slow."""
    rests = defaultdict(set)
    for word in words:
        rests[word[:1]].add(word[1:])
    optional = "?" if rests.pop("", None) else ""
    branches = [re.escape(first) + any_of(rest) for first, rest in rests.items()]
    return f"(?:{'|'.join(branches)}){optional}" if branches else ""


_STANDS_FOR: Final = re.compile(
    r"[*x.•_-]+|(.)\1*|[<\[{(%$].*|!vault|![A-Z][A-Za-z:]+|[&*][A-Za-z_]\w*", re.IGNORECASE | re.DOTALL
)
_SAMPLE: Final = re.compile(
    any_of(
        """example placeholder changeme change_me change-me replaceme replace_me replace-me redacted dummy your_ your- _here
        -here xxxxxx **** ... …""".split()
    )
)
_PLAIN_WORDS: Final = frozenset(
    """password passwd passphrase pass pwd pw secret token key user username none null nil true false undefined string str
    int bool bytes required optional empty unset unknown missing here value text hidden masked stored vault env yes no see
    ask todo tbd n/a na changed reset admin root guest test default sample demo prompt inherit input hashed encrypted
    protected disabled enabled expired wrong correct incorrect invalid valid forgotten""".split()
)
_COMMON: Final = frozenset(
    """letmein qwerty qwertz azerty swordfish iloveyou dragon monkey sunshine princess football baseball superman batman
    shadow asdfgh asdfghjkl qwertyuiop trustnoone opensesame""".split()
)
_DIGEST: Final = re.compile(
    r"(?:sha\d{1,3}[:-])?[0-9a-f]{7,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
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
# Addresses, options and names of cloud resources.
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}|[A-Za-z_-]{2,}=[^=].*|arn:.*")
_CALL: Final = re.compile(r"([A-Za-z_][\w.:?]*)[(\[<{]")
_FILE: Final = re.compile(r"(?:[\w.+@~-]*[/\\])*[\w.+@-]+\.[a-z][a-z0-9]{1,5}(?:\.gz)?", re.IGNORECASE)
_PLAIN_PART: Final = re.compile(r"[^\W\d_]+\d{0,8}|\d+[A-Za-z]{0,4}|v\d+")
_JOINT: Final = re.compile(r"[-_./:\\+|?’]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT: Final = re.compile(r"\d")
_NO_LETTER: Final = re.compile(r"[^\w./:\\+|?’-]|\d")
_ODD_SIGN: Final = re.compile(r"[^\w./:\\+|?’-]")
_TURN: Final = re.compile(r"[^\W\d_](?=\d)|\d(?=[^\W\d_])")
_CASE_CHANGE: Final = re.compile(r"[a-z](?=[A-Z])")
_BOTH_CASES: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)", re.DOTALL)
_ENDS_SENTENCE: Final = ".)]}>!?"
# Bits a character; English words lie below 3, random letters and digits of this length above.
_RANDOM: Final = 3.0
# Texts of programs say one value again and again.
_REMEMBERED: Final = 512
_WEIGHED: Final = 500

# Pairs of letters that stand beside each other in words and names, by the first: seven of eight of theirs, and three of
# ten of letters thrown at random. Counted in manuals and programs.
_PAIRS_IN_WORDS: Final = """abcdgilmnprstuy baeilou caehiklortu daeiosu eacdefgilmnprstvwx faefiou gaeirs haeio
    iabcdefglmnoprstvz kei ladeilostuy maeimopv nacdefginostu ocdklmnoprstuvw paeiloprty qu racdegimnorstuy sacehiopstuy
    tacehiorstuy uabeilmnprst vaeimx waei xtv ypt ze"""
_IN_WORDS: Final = frozenset(row[0] + second for row in _PAIRS_IN_WORDS.split() for second in row[1:])
_WORDY_SHARE: Final = 0.58
_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
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
# What people log in with that is no password, though a number stands behind it.
_WAYS: Final = re.compile(
    r"(?:windows|chrome|firefox|safari|edge|office|outlook|keycloak|yubikey|passkey|okta|auth|fido|webauthn|face|touch|pin|java|php|ios|android|http|app|sso|mfa|otp|ldap|idp|cert|key|version|v)[-_]?\d.*",
    re.IGNORECASE,
)
_PORT: Final = re.compile(r"\d{1,5}[?#].*")
_SK_PLAIN: Final = re.compile(r"[a-z]+|\d+|[a-z]\d{1,2}|")


def is_placeholder(value: str) -> bool:
    """Whether a value stands for another: stars, one sign repeated, brackets, "your-key-here"."""
    return _STANDS_FOR.fullmatch(value) is not None or _SAMPLE.search(value.lower()) is not None


def has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None


def entropy(text: str) -> float:
    """Shannon entropy of a text's first 500 characters, in bits a character."""
    text = text[:_WEIGHED]
    if not text:
        return 0.0
    return math.log2(len(text)) - sum(n * math.log2(n) for n in Counter(text).values()) / len(text)


def is_wordy(value: str) -> bool:
    """Whether letters follow each other as in words, with few changes of case and few digits between: an identifier."""
    if _ONE_CASE.fullmatch(value) or value.isdigit():
        return True
    pieces = _PIECE.findall(value)
    if not pieces or sum(map(len, pieces)) < _SHORTEST_PIECE * len(pieces):
        return False
    lower = value.lower()
    pairs = [lower[place : place + 2] for place in range(len(lower) - 1)]
    lettered = [pair for pair in pairs if pair.isalpha()]
    known = len([pair for pair in lettered if pair in _IN_WORDS])
    mixed = sum(pair.isalnum() and not pair.isdigit() for pair in pairs)
    return 2 * len(lettered) >= mixed and known >= _WORDY_SHARE * len(lettered)


def is_password(value: str, *, assigned: bool = False) -> bool:
    """Whether a value behind a word such as "password" is one.

    assigned: it stands behind "=" in a line of settings, where letters alone are a password too.
    """
    core = value.rstrip(_ENDS_SENTENCE)
    if core.isdigit():
        return 6 <= len(core) <= 16
    if not core.isalpha():
        return is_mixed(core)
    folded = core.casefold()
    strong = (assigned and len(core) >= 6) or (len(core) >= 8 and _changes_case(core)) or folded in _COMMON
    return strong and folded not in _PLAIN_WORDS and not is_harmless(core)


def is_token(value: str, before: str) -> bool:
    """Whether a value assigned to a word such as "token" is one. before: the text right before it."""
    core = value.rstrip(_ENDS_SENTENCE + "=")
    if not core or not (core[0].isalnum() or core[0] in "+/_-"):
        return False
    if core.isalpha():
        return len(core) >= 12 and _changes_case(core) and not is_harmless(core)
    if _DIGEST.fullmatch(core):
        return looks_random(core, before)
    least = 8 if before.endswith("=") else 10
    if not (len(core) >= least or len(_TURN.findall(core)) >= 3 or _ODD_SIGN.search(core)):
        return False
    return is_mixed(core) and not (("/" in core or "\\" in core) and _FILE.fullmatch(core))


@lru_cache(_REMEMBERED)
def is_mixed(value: str) -> bool:
    """Whether a value mixes letters with digits or signs as a password does, and is nothing well known."""
    value = value.rstrip(_ENDS_SENTENCE)
    if len(value) < 5 or not _LETTER.search(value) or not _NO_LETTER.search(value):
        return False
    return not is_harmless(value) and not (_JOINT.search(value) and is_name(value))


@lru_cache(_REMEMBERED)
def looks_random(value: str, before: str) -> bool:
    """Whether a value looks random by itself; digests only where nothing `before` it says that they are."""
    if len(value) < 8 or not (_DIGIT.search(value) and _LETTER.search(value)):
        return False
    if _DIGEST.fullmatch(value):
        return len(value) >= 32 and not _DIGEST_WORD.search(before)
    if is_harmless(value) or is_name(value) or _FILE.fullmatch(value):
        return False
    return entropy(value) >= min(_RANDOM, math.log2(len(value)) - 0.3)


def looks_keyed(value: str) -> bool:
    """Whether a value behind a word as general as "key" looks random: long, of both cases and digits."""
    words = [part for part in re.split("[-_]", value) if len(part) > 3 and part.isalpha() and is_wordy(part)]
    return (
        len(value) >= 16
        and _BOTH_CASES.match(value) is not None
        and len(words) < 2
        and looks_random(value, "")
    )


@lru_cache(_REMEMBERED)
def is_harmless(value: str) -> bool:
    """Whether a value stands for another, or is an address, a well-known name or a piece of program text."""
    if "://" in value or value.casefold() in _PLAIN_WORDS or is_placeholder(value):
        return True
    if _TECHNICAL.fullmatch(value) or _ADDRESS.fullmatch(value):
        return True
    called = _CALL.match(value)
    return called is not None and ("." in called[1] or is_name(called[1]))


def is_name(value: str) -> bool:
    """A path, an identifier or a version: parts that are each all letters or all digits, or nearly so."""
    if value.startswith(("/", "~/", "./", "../")):
        return True
    for part in _JOINT.split(value):
        if part and not _PLAIN_PART.fullmatch(part) and not _TECHNICAL.fullmatch(part):
            return False
    return not _changes_case(value)


def _changes_case(value: str) -> bool:
    """Case that changes within a word as it does in no identifier: aB3x, not camelCase or RS256."""
    return len(_CASE_CHANGE.findall(value)) >= max(3, len(value) // 5)


def is_login(value: str) -> bool:
    """Whether a value in the place of a login's password is one."""
    return not value.isdigit() and is_mixed(value) and not _WAYS.fullmatch(value)


def is_strong(value: str) -> bool:
    """Whether a password that no word tells of is one: of both cases, with a digit."""
    return _BOTH_CASES.match(value) is not None and is_login(value)


def is_assigned(value: str) -> bool:
    """Whether a value of a variable such as API_KEY is one."""
    code = _REFERENCE.fullmatch(value) or ("/" in value and is_name(value))
    return not (value.isdigit() or is_harmless(value) or code)


def is_address_password(value: str) -> bool:
    """Whether a value in the place of an address's password is one."""
    return value.casefold() not in _PLAIN_WORDS and not _PORT.fullmatch(value)


def is_random_sk(value: str) -> bool:
    """Whether a part of it is neither a word nor a number, as in names of things."""
    return has_digit(value) and not all(map(_SK_PLAIN.fullmatch, re.split("[-_]", value[3:])))


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
