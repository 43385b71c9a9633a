"""Shapes of credentials: vendors' tokens, key blocks, signed texts, logins, PINs and numbers of cards, in one table.

A shape is tried only where one of its literals stands, and forward from there; one search finds the literals of all.
"""

# Each shape is one line, however long: so they read as the table that they are.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from core.text.secret_values import (
    any_of,
    has_digit,
    is_address_password,
    is_assigned,
    is_basic,
    is_card,
    is_login,
    is_mixed,
    is_placeholder,
    is_random_sk,
    is_strong,
)

Span = tuple[int, int, str]


class _Shape(NamedTuple):
    """A kind of credential. pattern: its last group, or all of it, is the value. test: of the value."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    test: Callable[[str], bool] | None = None


def _shape(kind: str, literals: str, pattern: str, test: Callable[[str], bool] | None = None) -> _Shape:
    """A shape in its own case, that begins with one of the literals."""
    return _Shape(kind, tuple(literals.lower().split()), re.compile(pattern), test)


def _said(kind: str, literals: str, pattern: str, test: Callable[[str], bool] | None = None) -> _Shape:
    """A shape in words of either case; "_" in a literal is a space."""
    found = tuple(literal.replace("_", " ") for literal in literals.split())
    return _Shape(kind, found, re.compile(pattern, re.IGNORECASE), test)


# A token stands alone: no letter, digit or hyphen before it.
_B: Final = r"(?<![\w-])"
_JOINED: Final = r"(?:(?:\s(?:for|of|to|on|für|vom|von|zum|der|del|du)\s[^\n:=\d]{1,40}?)?(?:\s?[:=]\s?|\s(?:is|was|ist|war|lautet|es|est)\s)|\s)[\"'`]?"
_VENDORS: Final = (
    _shape("age key", "AGE-SECRET-KEY-1", _B + r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,255}|\bgithub_pat_\w{22,255}"),
    _shape("GitLab token", "gl GR1348941", _B + r"(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|imt|oas|ffct)-[\w-]{20,255}|GR1348941[\w-]{20,50})"),
    _shape("Bitbucket token", "ATBB ATCTT3", _B + r"(?:ATBB[A-Za-z0-9]{24,}|ATCTT3xFfG[\w=-]{40,})"),
    _shape("AWS key", "AKIA ASIA ABIA ACCA", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    _shape("Google key", "AIza GOCSPX- ya29. 1//0", _B + r"(?:AIza[0-9A-Za-z_-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{40,})"),
    _shape("Slack token", "xox xapp- xwfp-", _B + r"(?:xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|x(?:app|wfp)-\d?-?[A-Za-z0-9-]{10,})"),
    _shape("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", _B + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    _shape("npm token", "npm_", _B + r"npm_[A-Za-z0-9]{36}(?!\w)"),
    _shape("PyPI token", "pypi-", _B + r"pypi-[A-Za-z0-9_-]{40,}"),
    _shape("RubyGems key", "rubygems_", _B + r"rubygems_[0-9a-f]{48}"),
    _shape("Hugging Face token", "hf_ api_org_", _B + r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _shape("SendGrid key", "SG.", _B + r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _shape("Twilio key", "SK", r"(?<![\w-])SK[0-9a-f]{32}\b"),
    _shape("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _B + r"do[opr]_v1_[0-9a-f]{64}"),
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
    _shape("Atlassian token", "ATATT3", _B + r"ATATT3[\w=-]{40,}"),
    _shape("Doppler token", "dp.", _B + r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    _shape("PlanetScale token", "pscale_", _B + r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    _shape("Supabase key", "sbp_ sb_secret_", _B + r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{24,})"),
    _shape("Contentful token", "CFPAT-", _B + r"CFPAT-[\w-]{43}"),
    _shape("Pulumi token", "pul-", _B + r"pul-[0-9a-f]{40}"),
    _shape("PagerDuty key", "pdus+", _B + r"pdus\+_[\w+]{10,}"),
    _shape("Facebook token", "EAAC EAAB", _B + r"EAA[BC][A-Za-z0-9]{60,}"),
    _shape("1Password token", "ops_eyJ A3-", _B + r"(?:ops_eyJ[\w+/=-]{100,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})"),
    _shape("Azure key", "AccountKey= SharedAccessKey= SharedSecret=", r"(?:AccountKey|SharedAccessKey|SharedSecret)=([A-Za-z0-9+/]{40,}={0,2})"),
    _shape("JWT", "eyJ", _B + r"eyJ[\w-]{10,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    _shape("Mail service key", "key- xkeysib- xsmtpsib- re_", _B + r"(?:key-[0-9a-f]{32}|x(?:key|smtp)sib-[0-9a-f]{64}-\w{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})\b"),
    _shape("webhook", "http", r"https?://(?:hooks\.slack\.com/(?:services|workflows)/T\w+/[AB]\w+/[\w/]{16,}|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}|[\w.-]+\.webhook\.office\.com/webhookb2/[\w@/-]{40,})"),
    _shape("signature of an address", "sig=", r"(?<=[?&;])sig=([A-Za-z0-9%+/=_-]{30,200})"),
    _shape("API key", "sk- sk_ pk_ rk_", _B + r"[spr]k[-_][A-Za-z0-9_-]{13,255}", is_random_sk),
)  # fmt: skip
_SAID: Final = (
    _shape("credential", "API_KEY ACCESS_KEY SECRET_KEY PRIVATE_KEY OPENAI_KEY ANTHROPIC_KEY TOKEN SECRET PASSWORD PASSWD", r"(?<![A-Za-z0-9])[A-Z_]{1,12}(?:_ID)?(?:=[\"']?|\s{0,3}[:=]\s{0,3}[\"']?(?=[^\s\"',;]{0,60}\d))([^\s\"',;]{3,400})", is_assigned),
    # Headers and addresses
    _said("authorization header", "authorization", r"\bAuthorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?f?Basic\s{1,3}([A-Za-z0-9+/._~-]{8,2000}={0,2})", is_basic),
    _said("authorization header", "authorization", r"\bAuthorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?f?(?:Token|ApiKey)\s{1,3}([A-Za-z0-9+/._~-]{8,2000}={0,2})", is_mixed),
    _said("authorization header", "bearer_", r"\bBearer\s{1,3}([A-Za-z0-9+/._~-]{8,2000}={0,2})", has_digit),
    _said("authorization header", "auth", r"auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9+/]{8,400}={0,2})", is_basic),
    _said("password in a web address", "://", r"(?<=[a-z0-9])://([^\s:/@?#\"'<>]{0,80}):(?!\1@)([^\s/\"'<>]{3,200}?)@(?=[\w.\[\]-]{1,255}(?:[:/?#,\s\"'`)>;]|$))", is_address_password),
    _said("token in a web address", "http:// https://", r"\bhttps?://([A-Za-z0-9_-]{20,100})@(?!o?\d{0,20}\.?ingest|sentry)[\w-]{1,80}\.", is_mixed),
    _said("recovery phrase", "mnemonic seed_phrase seed_words recovery_phrase recovery_words wallet_phrase wallet_words backup_phrase backup_words", r"\b(?:mnemonic|\w{1,9} (?:phrase|words))(?: is|:| =|=)?\s[\"'`]?((?:[a-z]{3,8}\s){11,23}[a-z]{3,8})\b"),
    # Commands
    _said("password", "-u --user", r"(?<=\s)(?:-u|--user|--userpwd)[ =][\"']?[\w.@%+-]{1,60}:([^\s\"']{4,100})", is_login),
    _said("password", "mysql mariadb", r"\b(?:mysql|mariadb)\w{0,20}(?=\s)(?:(?!mysql|mariadb)[^\n]){0,120}?\s(?-i:-p)([^\s\"']{4,100})", is_login),
    _said("password", ":5432: :5433: :6432:", r":(?:5432|5433|6432):[\w*-]{1,60}:[\w-]{1,60}:([^\s:\"'`]{4,100})", is_login),
    _said("password", "sqlcmd", r"\bsqlcmd(?=\s)(?:(?!sqlcmd)[^\n]){0,120}?\s(?-i:-P)\s?[\"']?([^\s\"']{4,100})", is_login),
    _said("password", "-u", r"(?<=\s)(?-i:-U)\s?[\"']?[\w.\\-]{1,60}%([^\s\"']{4,100})", is_login),
    _said("password", "sshpass", r"\bsshpass\s{1,9}-p\s{0,9}[\"']?([^\s\"']{4,100})", is_login),
    _said("password", "redis-cli mongo", r"\b(?:redis-cli|mongosh?|mongodump)(?=\s)(?:(?!redis|mongo)[^\n]){0,120}?\s(?:-a|-p)\s{1,9}[\"']?([^\s\"']{4,100})", is_login),
    _said("password", "_login_", r"(?<=[\w-]{2})\slogin\s(?:--?[a-z][\w-]{0,40}[ =])?([0-9a-f]{32,128}|[\w.-]{20,255})(?![\w./:-])", is_login),
    # Logins
    _said("password", "login", r"\blogin\s{1,40}\S{1,80}\s{1,40}password\s{1,40}(\S{4,100})", is_login),
    _said("password", "log sign connect ssh authenticate einloggen anmelden meld", r"\b(?:log(?:ged|ging|s)?[ -]?(?:in|on)|sign(?:ed|ing|s)?[ -]?(?:in|on)|connect(?:ed|ing|s)?|ssh(?:\sin)?|authenticates?|einloggen|anmelden|meldet?\s(?:dich|euch|sich|mich)(?:\san)?)(?:\s(?:to|into|at|on|bei|auf)\s(?:the\s|der\s|dem\s)?\S{1,60})?"
          r"\s(?:as|als)\s[\"'`]?[\w.@+-]{1,60}[\"'`]?,?\s(?:with|using|and|mit|und)\s(?:the\s|dem\s)?(?:password\s|passwort\s|pass\s|pw\s)?[\"'`]?([^\s\"'`,;]{4,99}[^\s\"'`,;.:)\]}>?])", is_login),
    _said("password", "login credential creds user/pass zugangsdaten identifiants basic_auth",
          r"\b(?:logins?|credentials?|creds|user/pass|zugangsdaten|identifiants|basic\sauth)(?:\s(?:for|to|of|at|on|für|auf|zu|pour|para)\s[^\n:=/]{1,40})?(?:\s?(?:is|are|sind|sont|:|=))?\s{1,3}[\w.@+-]{1,60}\s?[:/]\s?(?!/)([^\s\"'`,;]{5,100})", is_login),
    _said("password", "wifi:", r"\bWIFI:(?:(?!wifi:)[^\n]){0,120}?;?P:([^;\s]{8,63})"),
    # Numbers
    _said("PIN", "pin geheimzahl", r"(?<![\w-])(?:(?-i:PIN|Pin)|geheimzahl|pin(?=[ -]?(?:code|number|nummer)?\s?(?:[:=]|is\s|ist\s|lautet\s)))(?:[ -]?(?:code|number|nummer))?" + _JOINED + r"(\d(?:[ -]?\d){3,7})(?![\w-]|\.\d)"),
    _said("PIN", "cvv cvc", r"(?<![\w-])cv[vc]2?" + _JOINED + r"(\d{3,4})(?![\w-]|\.\d)"),
    _said("PIN", "door gate alarm entry entrance lock safe garage voicemail sim pass access security backup recovery verification tür zugang haus", r"(?:door|gate|alarm|entry|entrance|lock|safe|garage|voicemail|sim|pass|access|security|backup|recovery|verification|tür|zugangs|haus)[ -]?codes?" + _JOINED + r"([*#]?\d(?:[ -]?\d){3,9}[*#]?)(?![\w-]|\.\d)"),
)  # fmt: skip
# Shapes whose first sign may be any, searched for in the whole text where it has the literal; written in their own case.
_ANYWHERE: Final = (
    _shape("Mail service key", "-us", _B + r"[0-9a-f]{32}-us\d{1,2}\b"),
    _shape("Terraform token", ".atlasv1.", _B + r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    _shape("Telegram token", ":aa", r"(?<![\w-])\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _shape("Discord token", ".", r"[MNO](?<![\w-].)[A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    _shape("Azure key", "q~", _B + r"[\w.~-]{3}[78]Q~[\w.~-]{31,34}(?![\w~])"),
    _shape("password", "@", r":(?<=[\w.+-]:)(?<![\s\"'`(]:)([^\s:/@\"'`]{6,64})@(?=[\w-])", is_strong),
    _shape("password", "@", r"@(?<=[\w.+-]@)[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}[:;|]([^\s:;|/@]{6,64})(?=[\s\"'`,)]|$)", is_strong),
    _shape("password", ":", r"(?m:^)[ \t>*-]{0,4}(?!title|name|image|label|tag|type|class|chapter|section|version|file|fun|id|ref|key)[A-Za-z][\w.+-]{1,40}:([^\s:/_][^\s:/]{7,40})(?m:$)", is_strong),
    _shape("password", "w", r"(?<![^\s\"'`(])([^\s\"'`(]{6,64}+)[\"'`]?\s(?i:(?:is|as|ist|als)\s(?:(?:the|my|our|das|mein|unser)\s)?(?:(?!grant|hash)[\w-]{1,20}\s){0,2}(?:pass(?:word|wort|phrase|code)|kennwort)\b(?![ -]?(?:hash|grant|field|polic|manag|prompt|reset|length|flow|hint|type)))", is_strong),
    _shape("card number", "", r"[2-6](?<![\w.+-].)(?:(?:(?<=4)\d{3}|(?<=5)[1-5]\d\d|(?<=2)[2-7]\d\d|(?<=6)(?:011|5\d\d|4[4-9]\d))(?:[ -]?\d{4}){3}|(?<=3)[47]\d\d[ -]?\d{6}[ -]?\d{5})(?![\w-]|\.\d)", is_card),
)  # fmt: skip
_ANCHORED: Final = (*_VENDORS, *_SAID)
_AT: Final[dict[str, list[int]]] = {
    literal: [
        number for number, shape in enumerate(_ANCHORED) if any(map(literal.startswith, shape.literals))
    ]
    for literal in {literal for shape in _ANCHORED for literal in shape.literals}
}
_LITERAL: Final = re.compile(f"(?=({any_of(_AT)}))")
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


def known_shapes(text: str) -> Iterator[Span]:
    """Start, end and kind of each credential in a text that is told by its own shape, in no order."""
    yield from _blocks(text)
    lower = lowered(text)
    for shape in _ANYWHERE:
        if shape.literals and shape.literals[0] not in lower:
            continue
        for one in shape.pattern.finditer(text):
            yield from _value(shape, one)
    done = [0] * len(_ANCHORED)
    for literal in _LITERAL.finditer(lower):
        place = literal.start()
        for number in _AT[literal[1]]:
            if place >= done[number] and (found := _ANCHORED[number].pattern.match(text, place)):
                done[number] = found.end()
                yield from _value(_ANCHORED[number], found)


def _value(shape: _Shape, found: re.Match[str]) -> Iterator[Span]:
    group = shape.pattern.groups
    value = found[group]
    if not is_placeholder(value) and (shape.test is None or shape.test(value)):
        yield *found.span(group), shape.kind


def lowered(text: str) -> str:
    """Lower case, each character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one if len(one := char.lower()) == 1 else char for char in text)


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
