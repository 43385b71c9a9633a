"""Credentials that are known by the word before them: "password is ...", "api_key=...", in many languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from core.text.secret_shapes import Span, is_strong, lowered
from core.text.secret_values import (
    is_long_digest,
    is_passphrase,
    looks_keyed,
    looks_random,
    passwordlike,
    tokenlike,
)

_Strength = Literal["password", "token", "key"]

_PASSWORDS: Final = (
    "password", "passwd", "passphrase", "passcode", "pwd", "pass", "pw", "psk",
    "passwort", "paßwort", "kennwort", "zugangscode", "mot de passe", "mots de passe", "mdp", "contraseña",
    "contrasen\u0303a", "contrasena", "contrasenya", "clave", "senha", "palavra-passe", "parola", "parolă",
    "wachtwoord", "lösenord", "losenord", "adgangskode", "kodeord", "passord", "salasana", "hasło", "haslo", "heslo",
    "jelszó", "jelszo", "şifre", "sifre", "lozinka", "geslo", "parool", "slaptažodis", "lykilorð", "fjalëkalimi",
    "пароль", "пароля", "паролем", "парола", "гасло", "лозинка", "κωδικός", "κωδικος", "συνθηματικό",
    "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "رمز عبور", "گذرواژه", "पासवर्ड", "রহস্যশব্দ", "পাসওয়ার্ড",
    "รหัสผ่าน", "mật khẩu", "mat khau", "kata sandi", "kata laluan", "sandi",
    "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호",
)  # fmt: skip
_TOKENS: Final = (
    "secret", "token", "credential", "bearer", "jeton", "токен", "секрет", "令牌", "密钥", "密鑰", "トークン", "토큰",
    "api-schlüssel", "api schlüssel", "clé api", "clé d'api", "clave api", "clave de api", "chave api", "chave de api",
    "chiave api", "ключ api", "api-ключ", "apiキー", "api키",
    *(
        f"{first}{between}{second}"
        for first in ("api", "access", "auth", "private", "signing", "encryption", "client", "account", "master",
                      "deploy", "session", "app", "secret", "service", "admin", "webhook", "storage", "license")
        for between in ("", " ", "_", "-")
        for second in ("key", "secret", "token")
    ),
)  # fmt: skip
_STRENGTHS: Final[dict[str, _Strength]] = {}
_STRENGTHS.update((word, "key") for word in ("key", "schlüssel", "ключ", "密匙"))
_STRENGTHS.update((word, "token") for word in _TOKENS)
_STRENGTHS.update((word, "password") for word in _PASSWORDS)
# The long words are found where the short ones in them are.
_SHORT: Final = ("pass", "pw", "key", "secret", "token")
_STEMS: Final = (*_SHORT, *(word for word in _STRENGTHS if not any(stem in word for stem in _SHORT)))
_ASCII_STEMS: Final = tuple(stem for stem in _STEMS if stem.isascii())
# For each stem how far before it a word may begin, and how long that is; the longest first.
_AT_STEM: Final = {
    stem: sorted(
        {(word.index(stem), len(word)) for word in _STRENGTHS if stem == word or (stem in word and stem in _SHORT)},
        key=lambda found: -found[1],
    )
    for stem in _STEMS
}  # fmt: skip
_NO_SPACES: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_KEYS: Final = (
    "public",
    "primary",
    "foreign",
    "partition",
    "cache",
    "sort",
    "object",
    "s3",
    "redis",
    "idempotency",
    "dedup",
    "dedupe",
    "row",
    "index",
    "unique",
    "map",
    "lookup",
    "shortcut",
    "hot",
    "arrow",
    "ssh",
    "host",
    "site",
    "translation",
    "message",
    "i18n",
    "natural",
    "composite",
    "range",
    "hash",
    "group",
    "blob",
    "storage",
    "file",
)
_SUFFIX: Final = (
    r"s?(?![^\W\d_])(?:[_\-. ](?:key|value|string|base|text|raw|plain|prod|dev|test|staging|live|admin|user|root|db)"
    r"(?![^\W\d_]))?(?:_?\d{1,2}(?!\d))?"
)
_BETWEEN: Final = r"""(?:\s?\([^()\n]{1,40}\)|
    \s(?:for|of|to|on|at|in|from|от|для|на|к|du|des?|de\sla|del|da|do|dla|di|für|vom|von|zum|am|im|van|voor|på|til|för)
    \s[^\n:=]{1,40}?)?"""
# Verbs that are another word in English stand behind words of other languages alone.
_ABROAD: Final = "on|to|je|var|es|era"
_VERB: Final = r"""(?:is|was|are|ist|lautet|war|est|é|è|är|er|jest|là|adalah|это|هو|هي|הוא|היא|है|%s)
    (?:\s(?:now|still|currently|again|just|simply|jetzt|nun|maintenant|ahora|agora|set\sto|changed\sto))?[:]?\s+
    |(?:has\sbeen\s|was\s|now\s)?(?:re)?(?:changed|set|updated|rotated|geändert|changé)\s(?:to|auf|en)\s+"""
_AFTER, _AFTER_ABROAD = (
    re.compile(
        rf"""(?:{_SUFFIX})?["'`*_\])}}>]{{0,4}}{_BETWEEN}
        (?:(?P<sign>\s{{0,3}}(?:=>|:=|->|→|=|:|：|＝|–|—)|["']?\s(?:value|content)\s?=)[ \t*_]{{0,4}}
        |\s+(?:{_VERB % verbs})|(?P<to>\s+to\s+))""",
        re.IGNORECASE | re.VERBOSE,
    )
    for verbs in ("is", _ABROAD)
)
_ENGLISH: Final = ("pass", "pw", "psk", "key", "secret", "token", "cred", "bearer")
_SPACE_AFTER: Final = re.compile(rf"(?:{_SUFFIX})?[\"']?\s+", re.IGNORECASE)
_NO_SPACE_AFTER: Final = re.compile(
    r"(?:[（(][^)）\n]{1,30}[)）])?\s?(?P<sign>=>|:=|=|:|：|＝|是|为|為|は|が|는|은|가|이|คือ|→)\s?",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"(?P<quote>[\"'`])(?P<value>(?:(?!(?P=quote))[^\n\\]|\\[^\n]){1,200}+)(?P=quote)(?!\w)|[«„“「『‘](?P<other>[^«»„“”「」『』‘’\n]{1,200})[»“”」』’]"
)
_CONTENT: Final = r"\s*(?:<!\[CDATA\[\s*)?(?P<value>[^\s<>](?:[^<>\"\n]{0,400}[^\s<>\"\]])?)\s*(?:\]\]>\s*)?"
_ELEMENT: Final = re.compile(
    r"<(?P<name>[A-Za-z_][\w:.-]{0,60})(?P<more>\s[^<>]{0,200})?>\s*(?:<value>)?" + _CONTENT + "</"
)
_ATTRIBUTE: Final = re.compile(r"""\s(?:key|name|id)\s?=\s?["']([^"'<>]{1,80})["']""", re.IGNORECASE)
_PROPERTY: Final = re.compile(r"<key>(?P<name>[^<>]{1,80})</key>\s{0,40}<string>" + _CONTENT + "</string>")
_BARE: Final = re.compile(r"(?:[^\s\"'`,;<>«»„“”「」]|(?<=\w)\"(?=\w)){1,400}")
_ASCII: Final = re.compile(r"[!-~]+")
_TRAILING: Final = re.compile(r"(?:[.)\]}>*:]|\\[nr])+$")
_ENV: Final = re.compile(r"(?:^|[\n;])\s{0,8}(?:export\s|set\s|ENV\s)?[A-Z][A-Z0-9_]*$")
_SETTING: Final = re.compile(r"(?i:set|chang|reset|updat|rotat|switch)\w{0,4}\b[^.\n]{0,30}$")
# Without a digit or sign in sight nothing that follows is a credential.
_HOPE: Final = re.compile(r"\d|[!$%&^#@~=:：＝]|\s(?:is|to|ist|lautet|est)\s[\"'`]")
_IN_SIGHT: Final = 180
_SPACE: Final = re.compile(r"\s")
# So many words for credentials are weighed in one run without white space.
_MOST_IN_RUN: Final = 50
_PAIR: Final = re.compile(r"[\w.@+-]{1,60}[:/].")
_LOOK_BACK: Final = 40


def behind_words(text: str) -> Iterator[Span]:
    """Start, end and kind of each value that stands behind a word for credentials and looks like one, in no order."""
    lower = lowered(text)
    seen: set[int] = set()
    for stem in _ASCII_STEMS if lower.isascii() else _STEMS:
        place, hope, run_end, looks = lower.find(stem), -1, 0, 0
        while place >= 0:
            if hope < place:
                hope = _next(_HOPE, text, place)
            if run_end <= place:
                run_end, looks = _next(_SPACE, text, place), 0
            looks += 1
            if hope - place > _IN_SIGHT or looks > _MOST_IN_RUN:
                place = lower.find(stem, max(place + 1, min(hope - _IN_SIGHT, run_end)))
                continue
            named = _word_at(text, lower, place, stem)
            if named is not None and named[1] not in seen:
                seen.add(named[1])
                yield from _behind(text, *named)
            place = lower.find(stem, place + 1)


def _next(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.search(text, place)
    return found.start() if found is not None else len(text)


def _word_at(text: str, lower: str, place: int, stem: str) -> tuple[int, int, _Strength] | None:
    """The longest word for credentials of which a stem is found here: its start and end, and how much it says."""
    for offset, length in _AT_STEM[stem]:
        start = place - offset
        word = lower[start : start + length] if start >= 0 else ""
        strength = _STRENGTHS.get(word)
        if strength is not None and _begins(text, start, word, strength):
            return start, start + length, strength
    return None


def _begins(text: str, start: int, word: str, strength: _Strength) -> bool:
    """Whether a word begins here: behind no letter, but for a capital (dbPassword) and long words (pgpassword)."""
    if start == 0 or _NO_SPACES.match(word):
        return True
    before = text[start - 1]
    if strength == "key" and text[max(0, start - 14) : start].rstrip(" _-").lower().endswith(_OTHER_KEYS):
        return False
    if word == "clave" and text.endswith(("palabra ", "palabras "), 0, start):
        return False
    if not before.isalnum():
        return True
    if before.isdigit():
        return False
    if text[start].isupper() and before.islower():
        return True
    return len(word) > 5 and word.isascii() and strength != "key"


def in_elements(text: str) -> Iterator[Span]:
    """Start, end and kind of each value that stands between tags of XML of which one names a credential."""
    for pattern in (_ELEMENT, _PROPERTY) if "</" in text else ():
        for found in pattern.finditer(text):
            said = _ATTRIBUTE.search(found["more"] or "") if pattern is _ELEMENT else None
            name, value = said[1] if said is not None else found["name"], found["value"]
            told = next(behind_words(f'{name}: "{value}"'), None)
            if told is not None:
                yield *found.span("value"), told[2]


def _behind(text: str, start: int, end: int, strength: _Strength) -> Iterator[Span]:
    spaceless = _NO_SPACES.match(text, end - 1) is not None
    abroad = not any(stem in text[start:end].lower() for stem in _ENGLISH)
    joined = (_NO_SPACE_AFTER if spaceless else _AFTER_ABROAD if abroad else _AFTER).match(text, end)
    set_to = joined is not None and not spaceless and joined["to"] is not None
    if joined is not None and not (set_to and not _SETTING.search(text, max(0, start - _LOOK_BACK), start)):
        found = _value(
            text, joined.end(), spaceless=spaceless, query=text[max(0, start - 1) : start] in ("?", "&")
        )
        signed = joined["sign"] is not None
        if found is not None and _tells(text, start, end, joined.end(), found, strength, signed=signed):
            yield *found, strength
            return
    if strength == "key":
        return
    spaced = _SPACE_AFTER.match(text, end)
    found = _value(text, spaced.end()) if spaced is not None else None
    if found is None:
        return
    value = text[slice(*found)]
    option = strength == "password" and text[max(0, start - 2) : start] == "--"
    before = text[max(0, start - _LOOK_BACK) : found[0]]
    strong = strength == "password" and is_strong(value)
    if (
        passwordlike(value, assigned=False)
        if option
        else strong or looks_random(value.rstrip(")]}>"), before)
    ):
        yield *found, strength


def _tells(
    text: str, start: int, end: int, joint: int, found: tuple[int, int], strength: _Strength, *, signed: bool
) -> bool:
    """Whether a value behind a word and a sign or verb is a credential."""
    value, before = text[slice(*found)], text[max(0, start - _LOOK_BACK) : found[0]]
    in_settings = (
        text[end:joint] == "="
        and text[start:end].isupper()
        and _ENV.search(text, max(0, start - 60), end) is not None
    )
    if not signed and text[start:end].lower() == "parola":
        # Italian for a word.
        return False
    if strength == "password":
        if found[0] > joint and is_passphrase(value):
            return True
        return passwordlike(value, assigned=in_settings)
    if strength == "key":
        return looks_keyed(value) or (in_settings and len(value) >= 16 and looks_random(value, ""))
    if in_settings and is_long_digest(value):
        return True
    if text[start:end].lower() == "credential" and _PAIR.match(value):
        return False
    return tokenlike(value, before) if signed else looks_random(value, before)


def _value(text: str, place: int, *, spaceless: bool = False, query: bool = False) -> tuple[int, int] | None:
    """Where the value that begins here stands, without quotes and without what ends a sentence."""
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        start, end = quoted.span("value" if quoted["value"] is not None else "other")
        inside = text[start:end]
        if " " not in inside or is_passphrase(inside):
            return start, end
        place = start
    bare = _BARE.match(text, place + (text[place : place + 1] in ('"', "'", "`", "“", "„", "«", "「")))
    if bare is None:
        return None
    start, end = bare.span()
    if spaceless and text[start].isascii():
        run = _ASCII.match(text, start, end)
        end = run.end() if run else end
    if query:
        ampersand = text.find("&", start, end)
        end = ampersand if ampersand > start else end
    trailing = _TRAILING.search(text, start, end)
    end = trailing.start() if trailing else end
    return (start, end) if end > start else None
