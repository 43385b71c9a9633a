"""Credentials that are known by the word before them: "password is ...", "api_key=...", in many languages."""

# The patterns read as the tables that they are.
# ruff: noqa: E501, SIM905

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from core.text.secret_shapes import Span, lowered
from core.text.secret_values import (
    any_of,
    is_password,
    is_strong,
    is_token,
    looks_keyed,
    looks_random,
)

_Strength = Literal["password", "token", "key"]

# "_" is a space.
_PASSWORDS: Final = """password passwd passphrase passcode pwd pass pw psk passwort paßwort kennwort zugangscode mot_de_passe
    mots_de_passe mdp contraseña contrasen\u0303a contrasena contrasenya clave senha palavra-passe parola parolă wachtwoord
    lösenord losenord adgangskode kodeord passord salasana hasło haslo heslo jelszó jelszo şifre sifre lozinka geslo parool
    slaptažodis lykilorð fjalëkalimi пароль пароля паролем парола гасло лозинка κωδικός κωδικος συνθηματικό סיסמה סיסמא
    كلمة_المرور كلمة_السر رمز_عبور گذرواژه पासवर्ड রহস্যশব্দ পাসওয়ার্ড รหัสผ่าน mật_khẩu mat_khau kata_sandi kata_laluan sandi 密码 密碼 口令
    パスワード 暗証番号 비밀번호 암호"""
_TOKENS: Final = """secret token credential bearer jeton токен секрет 令牌 密钥 密鑰 トークン 토큰 api-schlüssel api_schlüssel clé_api
    clé_d'api clave_api clave_de_api chave_api chave_de_api chiave_api ключ_api api-ключ apiキー api키"""
_OF_TOKENS: Final = """api access auth private signing encryption client account master deploy session app secret service
    admin webhook storage license"""
_STRENGTHS: Final[dict[str, _Strength]] = {
    **dict.fromkeys(("key", "schlüssel", "ключ", "密匙"), "key"),
    **{
        f"{first}{between}{second}": "token"
        for first in _OF_TOKENS.split()
        for between in ("", " ", "_", "-")
        for second in ("key", "secret", "token")
    },
    **{word.replace("_", " "): "token" for word in _TOKENS.split()},
    **{word.replace("_", " "): "password" for word in _PASSWORDS.split()},
}
_WORD: Final = re.compile(any_of(_STRENGTHS))
_NO_SPACES: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_KEYS: Final = tuple(
    """public primary foreign partition cache sort object s3 redis idempotency dedup dedupe row index unique map lookup
    shortcut hot arrow ssh host site translation message i18n natural composite range hash group blob storage file""".split()
)
_SUFFIX: Final = (
    r"s?(?![^\W\d_])(?:[_\-. ](?:key|value|string|base|text|raw|plain|prod|dev|test|staging|live|admin|user|root|db)"
    r"(?![^\W\d_]))?(?:_?\d{1,2}(?!\d))?"
)
# From the name of an element of XML, or an attribute that says it, to its content.
_TAG: Final = r"""(?:(?:\s[\w:]{1,40}=["'][^"'<>\n]{0,60}["'])?["']?>\s{0,40}(?:<value>|<!\[CDATA\[\s{0,40})?|</key>\s{0,40}<string>)"""
_BETWEEN: Final = r"""(?:\s?\([^()\n]{1,40}\)|
    \s(?:for|of|to|on|at|in|from|от|для|на|к|du|des?|de\sla|del|da|do|dla|di|für|vom|von|zum|am|im|van|voor|på|til|för)
    \s[^\n:=]{1,40}?)?"""
# Verbs that are another word in English stand behind words of other languages alone.
_ABROAD: Final = "on|to|je|var|es|era"
_VERB: Final = r"""(?:is|was|are|ist|lautet|war|est|é|è|är|er|jest|là|adalah|это|هو|هي|הוא|היא|है|%s)
    (?:\s(?:now|still|currently|again|just|simply|jetzt|nun|maintenant|ahora|agora|set\sto|changed\sto))?[:]?\s+
    |(?:has\sbeen\s|was\s|now\s)?(?:re)?(?:changed|set|updated|rotated|geändert|changé)\s(?:to|auf|en)\s+"""
# A value below its word stands alone in its line, or behind an empty one.
_BELOW: Final = r"(?:[ \t*_]{0,4}(?:\r?\n[ \t>]{0,20}){1,2}(?P<below>(?=[^\s-]\S{3,300}[ \t]{0,8}(?:\r?\n|$))(?-i:(?![a-z]+(?:\s|$)))))"
_AFTER, _AFTER_ABROAD = (
    re.compile(
        rf"""(?:{_SUFFIX})?["'`*_\])}}>]{{0,4}}{_BETWEEN}
        (?:(?P<sign>\s{{0,3}}(?:=>|:=|->|→|=|:|：|＝|–|—|\|)|["']?\s(?:value|content)\s?=|{_TAG})(?:{_BELOW}|[ \t*_]{{0,4}})
        |\s+(?:{_VERB % verbs})|(?P<to>\s+to\s+))""",
        re.IGNORECASE | re.VERBOSE,
    )
    for verbs in ("is", _ABROAD)
)
_SPACE_AFTER: Final = re.compile(rf"(?:{_SUFFIX})?[\"']?\s+", re.IGNORECASE)
_NO_SPACE_AFTER: Final = re.compile(
    r"(?:[（(][^)）\n]{1,30}[)）])?\s?(?P<sign>=>|:=|=|:|：|＝|是|为|為|は|が|는|은|가|이|คือ|→)\s?(?P<to>(?!))?",
    re.IGNORECASE,
)
_ENGLISH: Final = re.compile("pass|pw|psk|key|secret|token|cred|bearer")
_AFTER_WORD: Final = {
    word: _NO_SPACE_AFTER
    if _NO_SPACES.match(word[-1])
    else _AFTER
    if _ENGLISH.search(word)
    else _AFTER_ABROAD
    for word in _STRENGTHS
}
_QUOTED: Final = re.compile(
    r"(?P<quote>[\"'`])(?P<value>(?:(?!(?P=quote))[^\n\\]|\\[^\n]){1,200}+)(?P=quote)(?!\w)|[«„“「『‘](?P<other>[^«»„“”「」『』‘’\n]{1,200})[»“”」』’]"
)
_BARE: Final = re.compile(
    r"[\"'`“„«「]?(?P<value>[^\s\"'`,;<>«»„“”「」]+(?:(?:(?<=\w)\"(?=\w)|(?:(?<=&amp)|(?<=&lt)|(?<=&gt));)[^\s\"'`,;<>«»„“”「」]+)*)"
)
_LONGEST: Final = 400
_ASCII: Final = re.compile(r"[!-~]+")
_TRAILING: Final = re.compile(r"(?:[.)\]}>*:]|\\[nr])+$")
_ENV: Final = re.compile(r"(?:^|[\n;])\s{0,8}(?:export\s|set\s|ENV\s)?[A-Z][A-Z0-9_]*$")
_SETTING: Final = re.compile(r"(?i:set|chang|reset|updat|rotat|switch)\w{0,4}\b[^.\n]{0,30}$")
_PAIR: Final = re.compile(r"[\w.@+-]{1,60}[:/].")
# Without a digit or sign shortly behind it, a word tells of no credential.
_HOPE: Final = re.compile(r"\d|[!$%&^#@~=:：＝]|\s(?:is|to|ist|lautet|est)\s[\"'`]")
_IN_SIGHT: Final = 180
_SPACE: Final = re.compile(r"\s")
# So many words for credentials are weighed in one run without white space.
_MOST_IN_RUN: Final = 50
_LOOK_BACK: Final = 40


def behind_words(text: str) -> Iterator[Span]:
    """Start, end and kind of each value that stands behind a word for credentials and looks like one, in no order."""
    hope, run_end, in_run = -1, 0, 0
    for found in _WORD.finditer(lowered(text)):
        start, end = found.span()
        if run_end <= start:
            run_end, in_run = _next(_SPACE, text, start), 0
        in_run += 1
        if in_run > _MOST_IN_RUN:
            continue
        if hope < end:
            hope = _next(_HOPE, text, end)
        strength = _STRENGTHS[found[0]]
        if hope - end <= _IN_SIGHT and _begins(text, start, found[0], strength):
            yield from _behind(text, start, end, found[0], strength)


def _next(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.search(text, place)
    return found.start() if found is not None else len(text)


def _begins(text: str, start: int, word: str, strength: _Strength) -> bool:
    """Whether a word begins here: behind no letter, but for a capital (dbPassword) and long words (pgpassword)."""
    if start == 0 or _NO_SPACES.match(word):
        return True
    if strength == "key" and text[max(0, start - 14) : start].rstrip(" _-").lower().endswith(_OTHER_KEYS):
        return False
    if word == "clave" and text.endswith(("palabra ", "palabras "), 0, start):
        return False
    before = text[start - 1]
    if not before.isalnum() or (text[start].isupper() and before.islower()):
        return True
    return not before.isdigit() and len(word) > 5 and word.isascii() and strength != "key"


def _behind(text: str, start: int, end: int, word: str, strength: _Strength) -> Iterator[Span]:
    after = _AFTER_WORD[word]
    joined = after.match(text, end)
    if joined is not None and (
        joined["to"] is None or _SETTING.search(text, max(0, start - _LOOK_BACK), start)
    ):
        found = _value(
            text,
            joined.end(),
            spaceless=after is _NO_SPACE_AFTER,
            query=text[start - 1 : start] in ("?", "&"),
        )
        signed = joined["sign"] is not None
        if found is not None and _tells(text, start, end, joined.end(), found, strength, signed=signed):
            yield *found, strength
            return
    spaced = _SPACE_AFTER.match(text, end) if strength != "key" else None
    found = _value(text, spaced.end()) if spaced is not None else None
    if found is None:
        return
    value = text[slice(*found)]
    if strength == "password" and text.endswith("--", 0, start):
        told = is_password(value)
    else:
        strong = strength == "password" and is_strong(value)
        told = strong or looks_random(value.rstrip(")]}>"), text[max(0, start - _LOOK_BACK) : found[0]])
    if told:
        yield *found, strength


def _tells(
    text: str, start: int, end: int, joint: int, found: tuple[int, int], strength: _Strength, *, signed: bool
) -> bool:
    """Whether a value behind a word and a sign or verb is a credential."""
    value, before = text[slice(*found)], text[max(0, start - _LOOK_BACK) : found[0]]
    word = text[start:end]
    in_settings = (
        word.isupper() and text[end:joint] == "=" and bool(_ENV.search(text, max(0, start - 60), end))
    )
    if strength == "password":
        if not signed and word.lower() == "parola":
            # Italian for a word.
            return False
        return is_password(value, assigned=in_settings)
    if strength == "key":
        return looks_keyed(value) or (in_settings and len(value) >= 16 and looks_random(value, ""))
    if word.lower() == "credential" and _PAIR.match(value):
        return False
    return is_token(value, before) if signed else looks_random(value, before)


def _value(text: str, place: int, *, spaceless: bool = False, query: bool = False) -> tuple[int, int] | None:
    """Where the value that begins here stands, without quotes and without what ends a sentence."""
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        start, end = quoted.span("value" if quoted["value"] is not None else "other")
        if text.find(" ", start, end) < 0:
            return start, end
    bare = _BARE.match(text, place, place + _LONGEST)
    if bare is None:
        return None
    start, end = bare.span("value")
    run = _ASCII.match(text, start, end) if spaceless else None
    end = run.end() if run is not None else end
    if query and (ampersand := text.find("&", start, end)) > start:
        end = ampersand
    trailing = _TRAILING.search(text, start, end)
    end = trailing.start() if trailing else end
    return (start, end) if end > start else None
