"""Texts that look as if they held a credential: a table of known shapes, and one cautious guess."""

from __future__ import annotations

import binascii
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
_PASSWORD: Final = r"""(?:(?<!1)pass(?:words?|wd|phrase|code)|(?:\b|_)(?:pwd|pass)|
    \b(?:парол[ья]|contrase(?:ñ|n\u0303?)as?|mots?\ de\ passe|passw[oö]rt|kennwort|senha|hasło|wachtwoord|lösenord)|
    密[码碼]|口令|パスワード|비밀번호)"""
_TOKEN: Final = r"""(?:\b|_)(?:secret|token|credentials?|bearer|
    (?:api|access|auth|private|signing|encryption|client|account|master|deploy|session)[\s_-]?(?:key|secret|token))"""
_KEY_WORD: Final = re.compile(
    rf"""(?:{_PASSWORD}|{_TOKEN})
        (?:[\s_-](?:key|value|id))?["']?\s*(?:is\b|=>|:=|[:=：＝]|\s)\s*["'`]?([^\s"'`,;]{{8,200}})""",
    re.IGNORECASE | re.VERBOSE,
)
_ASSIGNMENT: Final = re.compile(
    rf"""(?:{_PASSWORD}|{_TOKEN})
        (?:[\s_-](?:key|value|id))?
        (?:\s(?:for|of|to|от|для|du|des?|de\sla|del|da|do|für|vom|zum)\s[\w.-]{{1,30}}){{0,2}}
        ["']?\s{{0,3}}(?:=>|:=|[:=：＝])\s{{0,3}}["'`]?([^\s"'`,;]{{6,200}})""",
    re.IGNORECASE | re.VERBOSE,
)
_AUTHORIZATION: Final = re.compile(
    r"""\bAuthorization["']?\s{0,3}[:=]\s{0,3}["']?(Basic|Bearer|Token)\s{1,3}([A-Za-z0-9+/._~-]{8,2000}={0,2})""",
    re.IGNORECASE,
)
_PLACEHOLDER: Final = re.compile(
    r"[*x.•_-]+|[<\[{(%$].*|!vault|.*(?:example|placeholder|changeme|redacted|dummy|your[_-]).*",
    re.IGNORECASE,
)
_PLAIN_PASSWORDS: Final = frozenset(["password", "passwd", "pass", "pwd", "secret", "token", "pw", "user"])
_DIGEST: Final = re.compile(r"(?:sha\d{1,3}[:-])?[0-9a-f]{7,128}", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DIGEST_WORD: Final = re.compile(
    r"\b(?:commit|sha\d*|hash|digest|checksum|fingerprint|revision|etag|md5|id)\b", re.IGNORECASE
)
# Ciphers, protocols and programs that bear a number, and spans of time or size.
_TECHNICAL: Final = re.compile(
    r"""(?:oauth|openid|saml|jw[tse]|base|sha|md|[rd]sa|ecdsa|ed|x|[hrep]s|aes|utf|argon|scrypt|pbkdf|blake|hmac|tls|
        ssl|https?|fido|webauthn|ntlm|kerberos|totp|vault|1password|keepass|kubernetes|k8s|python|node|version)
        [-_]?(?:\d{1,5}[a-z]{0,3})?
        |\d+(?:ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|[kmg]i?b|bytes?|bits?|chars|characters)""",
    re.IGNORECASE | re.VERBOSE,
)
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_CALL: Final = re.compile(r"([A-Za-z_][\w.:]*)[(\[<{]")
_PLAIN_PART: Final = re.compile(r"[A-Za-z]+\d{0,4}|\d{1,4}[A-Za-z]{0,4}|v\d+")
_NAME_PARTS: Final = re.compile(r"[-_./:\\]")
# Bits a character; English words lie below 3, random letters and digits of this length above.
_RANDOM: Final = 3.0
_LOOK_BACK: Final = 40


def looks_secret(text: str) -> str | None:
    """What kind of credential a text seems to hold, or None.

    Known shapes of keys and tokens, private key blocks, passwords inside web addresses, JWTs, what an
    Authorization header holds, values that look random right behind a word such as "password" or "api key", and
    values that mix letters with digits or signs behind such a word and "=" or ":". Digests of commits, paths,
    names, addresses, placeholders and such words alone are no secrets.
    """
    for kind, shape in _SHAPES:
        if shape.search(text):
            return kind
    for found in _URL_PASSWORD.finditer(text):
        if not _PLACEHOLDER.fullmatch(found[2]) and found[2].lower() not in _PLAIN_PASSWORDS:
            return "password in a web address"
    for found in _AUTHORIZATION.finditer(text):
        if _authorises(found[1], found[2]):
            return "authorization header"
    for found in _ASSIGNMENT.finditer(text):
        if _mixed(found[1]):
            return "value of a key-like word"
    for found in _KEY_WORD.finditer(text):
        before = text[max(0, found.start() - _LOOK_BACK) : found.start(1)]
        if _random(found[1].rstrip(".)]}>"), before):
            return "value behind a key-like word"
    return None


def _random(value: str, before: str) -> bool:
    if len(value) < 8 or _harmless(value):
        return False
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    if _DIGEST.fullmatch(value) or _UUID.fullmatch(value):
        return len(value) >= 32 and not _DIGEST_WORD.search(before)
    if _is_name(value):
        return False
    return entropy(value) >= min(_RANDOM, math.log2(len(value)) - 0.3)


def _authorises(scheme: str, value: str) -> bool:
    """Whether a header's value is a name and a password in base64, or looks like a token."""
    if scheme.lower() != "basic":
        mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
        return mixed and not _PLACEHOLDER.fullmatch(value) and not _is_name(value)
    try:
        return b":" in binascii.a2b_base64(value, strict_mode=True)
    except binascii.Error:
        return False


def _mixed(value: str) -> bool:
    """Whether an assigned value mixes letters with digits or signs as a password does, and is nothing well known."""
    value = value.rstrip(".)]}>!?")
    letters = sum(char.isalpha() for char in value)
    signs = len(_NAME_PARTS.findall(value))
    if len(value) < 5 or not letters or letters + signs == len(value) or _harmless(value):
        return False
    return not (_DIGEST.fullmatch(value) or _UUID.fullmatch(value) or (signs and _is_name(value)))


def _harmless(value: str) -> bool:
    """Whether a value stands for another, or is an address, a well-known name or a piece of program text."""
    if "://" in value or any(shape.fullmatch(value) for shape in (_PLACEHOLDER, _TECHNICAL, _ADDRESS)):
        return True
    called = _CALL.match(value)
    return called is not None and _is_name(called[1])


def _is_name(value: str) -> bool:
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


def entropy(text: str) -> float:
    """Shannon entropy of a text's characters, in bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0
