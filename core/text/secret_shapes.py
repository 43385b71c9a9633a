"""Shapes of credentials that are known by themselves: vendors' tokens, key blocks, signed texts, address passwords."""

# Each shape is one line, however long: so they read as the table that they are.
# ruff: noqa: E501

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from core.text.secret_values import is_placeholder, is_plain_words, looks_typed, mixed

Span = tuple[int, int, str]


class _Shape(NamedTuple):
    """A kind, literals of which one stands in each text that the pattern finds, and the pattern; group 1 is the value."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(kind: str, hints: str, pattern: str) -> _Shape:
    return _Shape(kind, tuple(hints.split()), re.compile(pattern))


# A token stands alone: no letter, digit or hyphen before it.
_B: Final = r"(?<![\w-])"
_SHAPES: Final = (
    _shape("age key", "AGE-SECRET-KEY-1", _B + r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,255}|\bgithub_pat_\w{22,255}"),
    _shape("GitLab token", "gl GR1348941", _B + r"(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|imt|oas|ffct)-[\w-]{20,255}|GR1348941[\w-]{20,50})"),
    _shape("Bitbucket token", "ATBB ATCTT3", _B + r"(?:ATBB[A-Za-z0-9]{24,}|ATCTT3xFfG[\w=-]{40,})"),
    _shape("AWS key", "AKIA ASIA ABIA ACCA", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    _shape("Google key", "AIza GOCSPX- ya29. 1//0", _B + r"(?:AIza[0-9A-Za-z_-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{40,})"),
    _shape("Slack token", "xox xapp- xwfp-", _B + r"(?:xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|x(?:app|wfp)-\d?-?[A-Za-z0-9-]{10,})"),
    _shape("webhook", "hooks.slack.com /api/webhooks/ webhook.office.com", r"https?://(?:hooks\.slack\.com/(?:services|workflows)/T\w+/[AB]\w+/[\w/]{16,}|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}|[\w.-]+\.webhook\.office\.com/webhookb2/[\w@/-]{40,})"),
    _shape("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", _B + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    _shape("npm token", "npm_", _B + r"npm_[A-Za-z0-9]{36}(?!\w)"),
    _shape("PyPI token", "pypi-", _B + r"pypi-[A-Za-z0-9_-]{40,}"),
    _shape("RubyGems key", "rubygems_", _B + r"rubygems_[0-9a-f]{48}"),
    _shape("Hugging Face token", "hf_ api_org_", _B + r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _shape("SendGrid key", "SG.", _B + r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _shape("Mail service key", "key- xkeysib- xsmtpsib- -us re_", _B + r"(?:key-[0-9a-f]{32}|x(?:key|smtp)sib-[0-9a-f]{64}-\w{16}|[0-9a-f]{32}-us\d{1,2}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})\b"),
    _shape("Twilio key", "SK", r"(?<![\w-])SK[0-9a-f]{32}\b"),
    _shape("DigitalOcean token", "_v1_", _B + r"do[opr]_v1_[0-9a-f]{64}"),
    _shape("Shopify token", "shp", _B + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _shape("Square token", "sq0 EAAA", _B + r"(?:sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{60})"),
    _shape("Docker token", "dckr_", _B + r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _shape("Databricks token", "dapi", _B + r"dapi[0-9a-f]{32}"),
    _shape("Vault token", "hvs. hvb. hvr.", _B + r"hv[sbr]\.[\w-]{20,}"),
    _shape("Linear key", "lin_", _B + r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _shape("Groq key", "gsk_", _B + r"gsk_[A-Za-z0-9]{40,}"),
    _shape("API key", "r8_ xai- pplx- fw_ nvapi- csk- tvly- ntn_ secret_ cfut_ cfat_", _B + r"(?:r8_[A-Za-z0-9]{37,}|(?:xai|pplx|nvapi|csk)-[\w-]{40,}|tvly-[\w-]{28,}|fw_[A-Za-z0-9]{24}|ntn_[A-Za-z0-9]{35,}|secret_[A-Za-z0-9]{43}|cf[ua]t_[\w-]{40,})\b"),
    _shape("Postman key", "PMAK-", _B + r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _shape("Grafana token", "glsa_ glc_", _B + r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,})"),
    _shape("New Relic key", "NRAK- NRRA- NRJS- NRII-", _B + r"NR(?:AK|RA|JS|II)-[\w-]{19,}"),
    _shape("Figma token", "fig", _B + r"fig[doru]_[\w-]{36,}"),
    _shape("Airtable token", "pat", _B + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _shape("Sentry token", "sntry", _B + r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    _shape("Tailscale key", "tskey-", _B + r"tskey-\w+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}"),
    _shape("Atlassian token", "ATATT3 ATOA", _B + r"ATATT3[\w=-]{40,}"),
    _shape("Doppler token", "dp.", _B + r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    _shape("PlanetScale token", "pscale_", _B + r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    _shape("Supabase key", "sbp_ sb_secret_", _B + r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{24,})"),
    _shape("Contentful token", "CFPAT-", _B + r"CFPAT-[\w-]{43}"),
    _shape("Pulumi token", "pul-", _B + r"pul-[0-9a-f]{40}"),
    _shape("Terraform token", ".atlasv1.", _B + r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    _shape("PagerDuty key", "pdus+", _B + r"pdus\+_[\w+]{10,}"),
    _shape("Facebook token", "EAAC EAAB", _B + r"EAA[BC][A-Za-z0-9]{60,}"),
    _shape("1Password token", "ops_eyJ A3-", _B + r"(?:ops_eyJ[\w+/=-]{100,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})"),
    _shape("Telegram token", ":AA", r"(?<![\w-])\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _shape("Discord token", ".", _B + r"[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    _shape("Azure key", "AccountKey= SharedAccessKey= SharedSecret=", r"(?:AccountKey|SharedAccessKey|SharedSecret)=([A-Za-z0-9+/]{40,}={0,2})"),
    _shape("Azure key", "AzureTenantSecret Q~", _B + r"[\w.~-]{3}[78]Q~[\w.~-]{31,34}(?![\w~])"),
    _shape("signature of an address", "sig=", r"[?&;]sig=([A-Za-z0-9%+/=_-]{30,200})"),
    _shape("JWT", "eyJ", r"\beyJ[\w-]{10,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
)  # fmt: skip
_BY_HINT: Final = tuple((hint, shape) for shape in _SHAPES for hint in shape.hints)
# Every token of a vendor is a run of such signs.
_LONG_RUN: Final = re.compile(r"[\w+/=.~%:-]{15,}", re.ASCII)
_SK: Final = re.compile(_B + r"sk-[A-Za-z0-9_-]{20,255}")
_SK_PLAIN: Final = re.compile(r"[a-z]+|\d+|[a-z]\d{1,2}|")
_BLOCK_BEGINS: Final = re.compile(
    r"-----? ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-? ?----|PuTTY-User-Key-File-\d"
)
_BLOCK_ENDS: Final = re.compile(
    r"-----? ?END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-? ?----|Private-MAC: ?[0-9a-f]+"
)
_BLOCK_BODY: Final = re.compile(
    r"-*(?:(?:\\[nr]|\s|[A-Za-z0-9+/=:,]|(?<=[A-Za-z])-(?=[A-Za-z])){1,65536}(?<=[A-Za-z0-9+/=]))?"
)
_MENTIONED: Final = "\"'`)”»"
_LONGEST_BLOCK: Final = 65_536
_URL: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://([^\s:/@?#\"'<>]{0,80}):([^\s/\"'<>]{3,200}?)@(?=[\w.\[\]-]+(?:[:/?#,\s\"'`)>;]|$))",
    re.IGNORECASE,
)
_URL_TOKEN: Final = re.compile(
    r"\bhttps?://([A-Za-z0-9_-]{20,100})@(?!o?\d*\.?ingest|sentry)[\w-]+\.", re.IGNORECASE
)
_PORT: Final = re.compile(r"\d{1,5}[?#].*")
_AUTHORIZATION: Final = re.compile(
    r"""\bAuthorization["']?\s{0,3}[:=,]\s{0,3}["']?f?(Basic|Bearer|Token|ApiKey)\s{1,3}([A-Za-z0-9+/._~-]{8,2000}={0,2})""",
    re.IGNORECASE,
)
_DOCKER_AUTH: Final = re.compile(r"""["']?_?auth["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9+/]{8,400}={0,2})""")
_LOGINS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:curl|https?|xh|wget|hurl)\s(?:[^\n]{0,200}?\s)?(?:-u|--user|--userpwd)[ =][\"']?[\w.@%+-]{1,60}:([^\s\"']{4,100})",
        r"\b(?:mysql\w*|mariadb\w*)\s[^\n]{0,120}?\s-p([^\s\"']{4,100})",
        r"(?:^|[\s\"'`])[\w.*-]+:(?:5432|5433|6432):[\w*-]+:[\w-]+:([^\s:\"'`]{4,100})",
        r"\bsqlcmd\s[^\n]{0,120}?\s-P\s?[\"']?([^\s\"']{4,100})",
        r"\b(?:smbclient|rpcclient|net|mount\.cifs)\s[^\n]{0,120}?-U\s?[\"']?[\w.\\-]{1,60}%([^\s\"']{4,100})",
        r"\bsshpass\s+-p\s*[\"']?([^\s\"']{4,100})",
        r"\b(?:redis-cli|mongosh?|mongodump)\s[^\n]{0,120}?\s(?:-a|-p)\s+[\"']?([^\s\"']{4,100})",
        r"(?i:\b(?:log(?:ged|ging|s)?[ -]?(?:in|on)|sign(?:ed|ing|s)?[ -]?(?:in|on)|connect(?:ed|ing|s)?|ssh(?:\sin)?|authenticates?|einloggen|anmelden|meldet?\s(?:dich|euch|sich|mich)(?:\san)?)"
        r"(?:\s(?:to|into|at|on|bei|auf)\s(?:the\s|der\s|dem\s)?\S{1,60})?\s(?:as|als)\s[\"'`]?[\w.@+-]{1,60}[\"'`]?,?\s(?:with|using|and|mit|und)\s(?:the\s|dem\s)?(?:password\s|passwort\s|pass\s|pw\s)?)[\"'`]?([^\s\"'`,;]{4,99}[^\s\"'`,;.:)\]}>?])",
        r"\blogin\s+\S{1,80}\s+password\s+(\S{4,100})",
        r"\b[a-z][\w-]{1,30}\slogin\s(?:--?[a-z][\w-]*[ =])?([0-9a-f]{32,128}|[\w.-]{20,255})(?![\w./:-])",
        r"(?i:\b(?:logins?|credentials?|creds|user/pass|zugangsdaten|identifiants|basic\sauth))"
        r"(?:\s(?:for|to|of|at|on|für|auf|zu|pour|para)\s[^\n:=/]{1,40})?(?:\s?(?:is|are|sind|sont|:|=))?\s{1,3}[\w.@+-]{1,60}\s?[:/]\s?(?!/)([^\s\"'`,;]{5,100})",
    )
)
_WORDS_OF_WALLET: Final = re.compile(
    r"(?i:\b(?:mnemonic|(?:seed|recovery|wallet|backup) (?:phrase|words)))(?: is|:| =|=)?\s[\"'`]?((?:[a-z]{3,8}\s){11,23}[a-z]{3,8})\b"
)
# What people log in with that is no password, though a number stands behind it.
_WAYS: Final = re.compile(
    r"(?:windows|chrome|firefox|safari|edge|office|outlook|keycloak|yubikey|passkey|okta|auth|fido|webauthn|face|touch|pin|java|php|ios|android|http|app|sso|mfa|otp|ldap|idp|cert|key|version|v)[-_]?\d.*",
    re.IGNORECASE,
)
_LOGIN_HINTS: Final = (" as ", " als ", ":5432:", ":5433:", ":6432:", "-u", "--user", " -p", " -P", "%", "sshpass", "-cli", "ogin", "redential", "reds", "asic auth", "user/pass", "ugangsdaten", "dentifiants", "mongo")  # fmt: skip


def known_shapes(text: str) -> Iterator[Span]:
    """Start, end and kind of each credential in a text that is told by its own shape, in no order."""
    yield from _blocks(text)
    runs = " ".join(_LONG_RUN.findall(text))
    for shape in dict.fromkeys(shape for hint, shape in _BY_HINT if hint in runs) if runs else ():
        group = 1 if shape.pattern.groups else 0
        for found in shape.pattern.finditer(text):
            if not is_placeholder(found[group]):
                yield *found.span(group), shape.kind
    if "sk-" in text:
        yield from _found(text, _SK, 0, "API key", _is_random_sk)
    if "://" in text:
        for found in _URL.finditer(text):
            if _is_password(found[1], found[2]):
                yield *found.span(2), "password in a web address"
        yield from _found(text, _URL_TOKEN, 1, "token in a web address", looks_typed)
    yield from _headers(text)
    if "nemonic" in text or " phrase" in text or " words" in text:
        for found in _WORDS_OF_WALLET.finditer(text):
            yield *found.span(1), "recovery phrase"
    if any(hint in text for hint in _LOGIN_HINTS):
        for pattern in _LOGINS:
            yield from _found(text, pattern, 1, "password", _is_login)


def _found(
    text: str, pattern: re.Pattern[str], group: int, kind: str, test: Callable[[str], bool]
) -> Iterator[Span]:
    for found in pattern.finditer(text):
        if test(found[group]):
            yield *found.span(group), kind


def _blocks(text: str) -> Iterator[Span]:
    """Private key blocks, from the first line to the last; where the last is missing, as far as it looks like a key."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key-File" not in text:
        return
    ends = [found.span() for found in _BLOCK_ENDS.finditer(text)]
    place, done = 0, 0
    for begins in _BLOCK_BEGINS.finditer(text):
        start, after = begins.span()
        if start < done:
            continue
        after = _past_hyphens(text, after)
        while place < len(ends) and ends[place][0] < after:
            place += 1
        if place < len(ends) and ends[place][0] - start <= _LONGEST_BLOCK:
            done = _past_hyphens(text, ends[place][1])
        elif text[after : after + 1] and text[after] in _MENTIONED:
            continue
        else:
            body = _BLOCK_BODY.match(text, after)
            done = body.end() if body and _is_key_body(body[0]) else after
        yield start, done, "private key"


def _past_hyphens(text: str, place: int) -> int:
    """The place behind the last hyphens of a key block's line, of which there may be two more than one looks for."""
    few = text[place : place + 2]
    return place + len(few) - len(few.lstrip("-"))


def _is_key_body(text: str) -> bool:
    return max(map(len, re.split(r"\\[nr]|[\s:,-]", text)), default=0) >= 24


def _is_random_sk(value: str) -> bool:
    """Whether a part of it is neither a word nor a number, as in names of things."""
    parts = value[3:].replace("_", "-").split("-")
    has_digit = any(char.isdigit() for char in value)
    return has_digit and not is_placeholder(value) and not all(map(_SK_PLAIN.fullmatch, parts))


def _is_password(user: str, password: str) -> bool:
    if _PORT.fullmatch(password) or is_placeholder(password) or is_plain_words(password):
        return False
    return password.casefold() != user.casefold()


def _is_login(value: str) -> bool:
    return not value.isdigit() and mixed(value) and not _WAYS.fullmatch(value)


def _headers(text: str) -> Iterator[Span]:
    lower_hint = "uthorization" in text or "UTHORIZATION" in text
    for found in _AUTHORIZATION.finditer(text) if lower_hint else ():
        scheme, value = found[1].lower(), found[2]
        if _is_basic(value) if scheme == "basic" else looks_typed(value):
            yield *found.span(2), "authorization header"
    if "auth" in text:
        for found in _DOCKER_AUTH.finditer(text):
            if _is_basic(found[1]):
                yield *found.span(1), "authorization header"


def _is_basic(value: str) -> bool:
    """Whether it is a name and a password, joined by a colon, in base64."""
    try:
        decoded = binascii.a2b_base64(value, strict_mode=True).decode()
    except (binascii.Error, ValueError):
        return False
    return ":" in decoded and decoded.isprintable()
