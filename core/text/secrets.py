"""Texts that look as if they held a credential: a table of known shapes, and one cautious guess."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_SHAPES: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d"),
        ("age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
        ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}"),
        ("GitLab token", r"\bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{20,}"),
        ("AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("Google key", r"\bAIza[0-9A-Za-z_-]{35}|\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[0-9A-Za-z_-]{20,}"),
        ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
        ("webhook", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}|discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}"),
        ("API key", r"\bsk-(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9_-]{20,}"),
        ("Stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
        ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
        ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
        ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
        ("Docker token", r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
        ("Databricks token", r"\bdapi[0-9a-f]{32}"),
        ("Vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
        ("Linear key", r"\blin_api_[A-Za-z0-9]{32,}"),
        ("Groq key", r"\bgsk_[A-Za-z0-9]{40,}"),
        ("Atlassian token", r"\bATATT3[A-Za-z0-9_=-]{40,}"),
        ("Telegram token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
        ("Azure key", r"AccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
        ("JWT", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    )
)  # fmt: skip
_URL_PASSWORD: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://([^\s:/@?#]{0,80}):([^\s/@]{3,200})@[\w\[]", re.I
)
_KEY_WORD: Final = re.compile(
    r"""(?:\b|_)(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|bearer|
        (?:api|access|auth|private|signing|encryption|client|account|master|deploy|session)[\s_-]?(?:key|secret|token))
        (?:[\s_-](?:key|value|id))?["']?\s*(?:is\b|=>|:=|[:=]|\s)\s*["'`]?([^\s"'`,;]{8,200})""",
    re.IGNORECASE | re.VERBOSE,
)
_PLACEHOLDER: Final = re.compile(
    r"[*x.•_-]+|[<\[{(%$].*|.*(?:example|placeholder|changeme|redacted|dummy|your[_-]).*", re.IGNORECASE
)
_PLAIN_PASSWORDS: Final = frozenset(["password", "passwd", "pass", "pwd", "secret", "token", "pw", "user"])
_DIGEST: Final = re.compile(r"(?:sha\d{1,3}[:-])?[0-9a-f]{7,128}", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DIGEST_WORD: Final = re.compile(
    r"\b(?:commit|sha\d*|hash|digest|checksum|fingerprint|revision|etag|md5|id)\b", re.IGNORECASE
)
_NAME_PARTS: Final = re.compile(r"[-_./:\\]")
# Bits a character; English words lie below 3, random letters and digits of this length above.
_RANDOM: Final = 3.0
_LOOK_BACK: Final = 40


def looks_secret(text: str) -> str | None:
    """What kind of credential a text seems to hold, or None.

    Known shapes of keys and tokens, private key blocks, passwords inside web addresses, JWTs, and values that
    look random right behind a word such as "password" or "api key". Digests of commits, paths, names,
    placeholders and such words alone are no secrets.
    """
    for kind, shape in _SHAPES:
        if shape.search(text):
            return kind
    for found in _URL_PASSWORD.finditer(text):
        if not _PLACEHOLDER.fullmatch(found[2]) and found[2].lower() not in _PLAIN_PASSWORDS:
            return "password in a web address"
    for found in _KEY_WORD.finditer(text):
        before = text[max(0, found.start() - _LOOK_BACK) : found.start(1)]
        if _random(found[1].rstrip(".)]}>"), before):
            return "value behind a key-like word"
    return None


def _random(value: str, before: str) -> bool:
    if len(value) < 8 or _PLACEHOLDER.fullmatch(value) or "://" in value:
        return False
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    if _DIGEST.fullmatch(value) or _UUID.fullmatch(value):
        return len(value) >= 32 and not _DIGEST_WORD.search(before)
    if _is_name(value):
        return False
    return entropy(value) >= min(_RANDOM, math.log2(len(value)) - 0.3)


def _is_name(value: str) -> bool:
    """A path, an identifier or a version: parts that are each all letters or all digits, or nearly so."""
    if value.startswith(("/", "~/", "./", "../")):
        return True
    parts = [part for part in _NAME_PARTS.split(value) if part]
    plain = [part for part in parts if re.fullmatch(r"[A-Za-z]+\d{0,4}|\d{1,4}[A-Za-z]{0,4}|v\d+", part)]
    return len(plain) == len(parts) and not _mixed_case(value)


def _mixed_case(value: str) -> bool:
    """Case that changes within a word as it does in no identifier: aB3x, not camelCase or RS256."""
    changes = len(re.findall(r"[a-z][A-Z]", value))
    return changes >= max(3, len(value) // 5)


def entropy(text: str) -> float:
    """Shannon entropy of a text's characters, in bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0
