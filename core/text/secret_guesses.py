"""What might be a credential: patterns that take rather one too many than one too few."""

# The patterns and lists read as the tables that they are.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.text.mask import REDACTED
from core.text.secret_shapes import Span
from core.text.secret_values import entropy, is_harmless_code, is_placeholder, is_wordy

LOOSE: Final = "credential"
_SHORTEST_VALUE: Final = 8
# As much of a value as is weighed.
_HEAD: Final = 120
# Bits a character. Random base64 of 32 signs lies above 4, words and numbers joined below.
_RANDOM: Final = 3.5
# The search behind words of many languages weighs each of them; a text of nothing else is left to the patterns here.
_MOST_WORDS: Final = 200
_COUNTED: Final = (
    "pass", "pw", "psk", "secret", "token", "key", "cred", "bearer", "kennwort", "zugang", "mot", "mdp", "contra", "clav",
    "senha", "palavra", "chave", "chiav", "parol", "woord", "senord", "kode", "salasana", "has", "hesl", "jelsz", "ifre",
    "lozink", "gesl", "slapta", "lykil", "fjal", "jeton", "clé", "парол", "гасл", "лозинк", "токен", "секрет", "ключ",
    "κωδικ", "συνθ", "סיס", "كلم", "رمز", "گذر", "पास", "রহ", "পাস", "รหัส", "khẩu", "khau", "sandi", "laluan", "密", "口令",
    "令牌", "パス", "暗証", "トー", "キー", "비밀", "암호", "토큰", "키", "schlüssel",
)  # fmt: skip

_BEARER: Final = re.compile(r"\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC)\s{1,3}([\w.~+/=-]{8,})")
_KEY_WORDS: Final = r"(?:api|access|secret|private)[ _-]?(?:access[ _-]?)?keys?|tokens?|secrets?|passwords?|passwd|pwd|passphrase|credentials?"
# A key word and the value behind = or :, or, with a digit in it, behind a space; matched in lower case.
_NAMED: Final = re.compile(
    rf"(?:{_KEY_WORDS})(?!\w)[\"']?(?P<sign>\s{{0,3}}(?:=>|:=|=|:|：|＝)\s{{0,3}}|\s{{1,3}}(?:is\s{{1,3}}|was\s{{1,3}})?)"
    r"[\"'`]?(?P<value>[^\s\"'`,;]++)[\"'`]?"
)
_NAMED_HINTS: Final = ("key", "token", "secret", "passw", "pwd", "passphrase", "credential")
# How far before a key word its prefix may begin, as in client_secret.
_LONGEST_PREFIX: Final = 60
_DOLLAR: Final = re.compile(r"(?<![\w$])\$\{?[A-Za-z_]\w{0,80}\}?=(?P<value>\"[^\"\n]*+\"|'[^'\n]*+'|\S++)")
_VARIABLE: Final = re.compile(
    r"(?:API_KEY|ACCESS_KEY(?:_ID)?|SECRET_KEY|PRIVATE_KEY|OPENAI_KEY|ANTHROPIC_KEY|TOKEN|SECRET|PASSWORD|PASSWD|DATABASE_URL)"
    r"\s{0,3}[=:]\s{0,3}(?P<value>\"[^\"\n]++\"|'[^'\n]++'|[^\s\"',;]++)"
)
_VARIABLE_HINTS: Final = ("_KEY", "TOKEN", "SECRET", "PASSW", "DATABASE_URL")
_VENDORS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|"
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![A-Za-z0-9])|xox[abeoprs]-[A-Za-z0-9-]{8,}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{30,}|"
    r"hf_[A-Za-z0-9]{20,}|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?)",
    re.ASCII,
)
_VENDOR_HINTS: Final = (
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "rk-",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "ABIA",
    "ACCA",
    "xox",
    "AIza",
    "npm_",
    "hf_",
    "eyJ",
)
_PEM_BEGINS: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_ENDS: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_MENTIONED: Final = tuple("\"'`)”»")
_PEM_BODY: Final = re.compile(r"(?:\\[nr]|[\sA-Za-z0-9+/=])*+")
_URL_PASSWORD: Final = re.compile(r"://[^\s:/@?#\"'<>]{0,100}:(?P<value>[^\s/@\"'<>]{1,300})@")
_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/_=-]{32,}+")
_HEX: Final = re.compile(r"(?:[A-Za-z]+\d*[-_=])?(?:[0-9a-f-]+|[0-9A-F-]+|0[xX][0-9a-fA-F]+)")
_PARTS: Final = re.compile(r"[-_/+=]+")
_PLAIN_PART: Final = re.compile(r"[A-Za-z]{1,24}\d{0,4}|\d{1,10}[A-Za-z]{0,3}|[0-9a-f]{7,64}|")
# Of signs that look random there must be so many.
_LEAST_RANDOM: Final = 16
# What is public by its own form: addresses of contents, keys of SSH that begin with the name of their kind.
_PUBLIC: Final = re.compile(
    r"Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,}|bc1[a-z0-9]{30,}|AAAA[A-Z]3[A-Za-z0-9+/=]+"
)
# What a digest, a fingerprint, an identifier or embedded contents stand behind.
_LABELLED: Final = re.compile(
    r"""(?:sha-?\d{1,3}|md5|h1|blake\w*)[-:]$|base64,$|
    ["'](?!\w{0,9}sess)(?:\w{1,30}_)?id["']\s?:\s?["']$|
    \b(?:integrity|\w*hash\w*|digest|checksum|fingerprint|etag|cid|ulid|uuid|guid|cursor|commit|revision|rev|nonce|
    (?:version|request|trace|span|correlation|build|object|message|node|relay|global|page|public)[-_ ]?(?:id|key)s?)
    ["']?\s?(?:[=:]|\bis\b)?\s?["'`]?(?:W/")?$""",
    re.IGNORECASE | re.VERBOSE,
)
_DIGEST_HEAD: Final = re.compile(r"(?:sha\d{1,3}|md5|blake\w{0,3})-(?=[A-Za-z0-9+/]+={0,2}$)")
_LONGEST_LABEL: Final = 40
_PUBLIC_BLOCK: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|MESSAGE)-----"
    r"(?:\\[nr]|[\sA-Za-z0-9+/=])*+"
)
_WORD_BEFORE: Final = re.compile(r"\S{0,400}$")
_ADDRESS: Final = re.compile(r"\w://|^\W{0,3}(?:[\w-]+\.)+[a-z]{2,}/")
# Whoever knows such an address may do what it is for.
_CAPABILITY: Final = re.compile(
    r"hook|token|secret|signature|[?&;](?:sig|key|auth|code|pass\w*)=|/bot\d|/(?:invite|reset|magic|verify|confirm)\w*/",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(r"@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b")
_RESOURCE: Final = re.compile(r"\barn:aws[\w-]{0,8}:\S{0,200}$")
_PORT: Final = re.compile(r"\d{1,5}[?#].*")
_PATH_BEGINS: Final = re.compile(r"(?:[\"'`(\[<=]|\w+=)*(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@+-]")


def loosely(text: str) -> Iterator[Span]:
    """Start, end and kind of all that might be a credential, in no order: authorization values; key words such as "api
    key", "token" or "password" with their value, if it has 8 or more characters and stands behind "=" or ":", or holds
    digits and letters; $NAME=value and variables named like keys; vendors' tokens, JWTs, private key blocks and passwords
    in addresses; long runs that look random, but no digests, no paths, no joined words. Linear in the length of the text.
    """
    yield from _blocks(text)
    for found in _BEARER.finditer(text):
        if any(map(str.isdigit, found[1][:_HEAD])):
            yield *found.span(), LOOSE
    yield from _named(text)
    yield from ((*found.span(), LOOSE) for found in _DOLLAR.finditer(text) if _is_value(found["value"]))
    yield from _variables(text)
    if any(hint in text for hint in _VENDOR_HINTS):
        yield from ((*found.span(), LOOSE) for found in _VENDORS.finditer(text) if _is_vendors(found[0]))
    for found in _URL_PASSWORD.finditer(text):
        if _is_value(found["value"]) and not _PORT.fullmatch(found["value"]):
            yield *found.span("value"), LOOSE
    yield from _blobs(text)


def weighed(text: str) -> int:
    """How much of a text, halved until then, holds no more words for credentials than are weighed one by one."""
    lower = text.lower()
    while sum(map(lower.count, _COUNTED)) > _MOST_WORDS + len(lower) // 500:
        lower = lower[: len(lower) // 2]
    return len(lower) if len(lower) < len(text) else len(text)


def _is_value(value: str) -> bool:
    """Whether it is neither a mark of ours nor something that stands for another value."""
    bare = value[:_HEAD].strip("\"'")
    return bool(bare) and REDACTED not in bare and not is_placeholder(bare) and not is_harmless_code(bare)


def _lowered(text: str) -> str:
    """Lower case, each character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one if len(one := char.lower()) == 1 else char for char in text)


def _named(text: str) -> Iterator[Span]:
    lower = _lowered(text)
    if not any(hint in lower for hint in _NAMED_HINTS):
        return
    for found in _NAMED.finditer(lower):
        start = _prefixed(text, found.start())
        if start < 0 or _RESOURCE.search(text, max(0, start - 220), start):
            continue
        value = text[slice(*found.span("value"))]
        if len(value.rstrip(".!?)]}")) < _SHORTEST_VALUE or "://" in value[:40] or not _is_value(value):
            continue
        head = value[:_HEAD]
        assigned = not found["sign"].isspace() and any(sign in found["sign"] for sign in "=:：＝")
        if assigned or (any(map(str.isdigit, head)) and any(map(str.isalpha, head)) and not _is_plain(head)):
            yield start, found.end(), LOOSE


def _variables(text: str) -> Iterator[Span]:
    if not any(hint in text for hint in _VARIABLE_HINTS):
        return
    for found in _VARIABLE.finditer(text):
        start = _prefixed(text, found.start())
        stands_for = text[max(0, start - 2) : start] == "${"
        if start >= 0 and not stands_for and _is_value(found["value"]):
            yield start, found.end(), LOOSE


def _prefixed(text: str, place: int) -> int:
    """Where the word begins whose last part begins here; -1 if it begins behind a letter or digit."""
    if place and text[place - 1].isalnum():
        return -1
    least = max(0, place - _LONGEST_PREFIX)
    if place and text[place - 1] in "_-":
        while place > least and (text[place - 1].isalnum() or text[place - 1] in "_-"):
            place -= 1
    return place


def _is_vendors(value: str) -> bool:
    """Whether it is no joined words: sk-learn-estimators, pk_customer."""
    return not value.startswith(("sk", "pk", "rk")) or (
        any(map(str.isdigit, value[3:])) and len(value) >= 12 and not _is_plain_words(value[3:])
    )


def _is_plain_words(value: str) -> bool:
    return all(part.isalpha() or part.isdigit() for part in _PARTS.split(value) if part)


def _blocks(text: str) -> Iterator[Span]:
    """Private key blocks; where the end is missing, as far as it looks like a key."""
    ends = iter(_PEM_ENDS.finditer(text))
    end = next(ends, None)
    done = 0
    for begins in _PEM_BEGINS.finditer(text):
        if begins.start() < done:
            continue
        if text[begins.end() : begins.end() + 1] in _MENTIONED:
            continue
        body = _PEM_BODY.match(text, begins.end())
        done = body.end() if body else begins.end()
        while end is not None and end.start() < begins.end():
            end = next(ends, None)
        if end is not None and end.start() - begins.end() <= 65_536:
            done = end.end()
        yield begins.start(), done, LOOSE


def _blobs(text: str) -> Iterator[Span]:
    """Long runs of encoded data: random, and no digest, path, address or identifier."""
    public: list[tuple[int, int]] | None = None
    for found in _LONG_RUN.finditer(text):
        if not _is_blob(found[0]):
            continue
        if public is None:
            public = [block.span() for block in _PUBLIC_BLOCK.finditer(text)] if "-----BEGIN" in text else []
        start, end = found.span()
        if any(first <= start < last for first, last in public) or _is_placed(text, start, found[0]):
            continue
        yield start, end, LOOSE


def _is_blob(run: str) -> bool:
    """Whether a long run is encoded data: random enough, no digest, no joined words."""
    if set(run.rstrip("=")) == {"A"}:
        # Zero bytes in base64: no digest, since a digest of that length has digits.
        return True
    head = run[:_HEAD]
    if not (any(map(str.isdigit, head)) and any(map(str.isalpha, head))) or _HEX.fullmatch(head):
        return False
    if _is_plain(head) or _PUBLIC.fullmatch(run) or entropy(head) < _RANDOM:
        return False
    parts = [part for part in _PARTS.split(head) if not _HEX.fullmatch(part)]
    random = sum(len(part) for part in parts if not is_wordy(part))
    return random >= _LEAST_RANDOM and 2 * random >= sum(map(len, parts))


def _is_placed(text: str, start: int, run: str) -> bool:
    """Whether where a run stands tells that it is none: behind the name of a digest or identifier, in a path or address."""
    label = text[max(0, start - _LONGEST_LABEL) : start]
    if _LABELLED.search(label) or _DIGEST_HEAD.match(run):
        return True
    before = _WORD_BEFORE.search(text, max(0, start - 400), start)
    word = (before[0] if before else "") + run
    if _MAIL.match(text, start + len(run)) and "://" not in word:
        return True
    if _ADDRESS.search(word):
        return not _CAPABILITY.search(word)
    named = [part for part in re.split(r"[/\\]", word) if len(part) > 2 and part.isascii() and is_wordy(part)]
    return len(named) >= 2 and (_PATH_BEGINS.match(word) is not None or 2 * sum(map(len, named)) >= len(word))


def _is_plain(value: str) -> bool:
    """Whether it is a path or words and numbers joined by signs."""
    return all(map(_PLAIN_PART.fullmatch, _PARTS.split(value)))
