"""Credentials in a text: known shapes, what stands behind words such as "password", and what looks random."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple

from core.text import secret_values as values
from core.text.mask import MASK, mask
from core.text.secret_values import TABLES, any_of, entropy, is_placeholder, is_random, is_wordy

Span = tuple[int, int, str]
_Strength = Literal["password", "token", "key"]

# Masking one credential may leave another that stood in its shadow.
_ROUNDS: Final = 8
# Quotes within a text that is itself quoted, as JSON in JSON has them: once, twice, three times.
_ESCAPED_QUOTES: Final = tuple(
    re.compile(rf"(?P<closes>(?<=\w))?(?<!\\)(?P<escape>\\{{1,{most}}})(?P<quote>[\"'])")
    for most in (1, 3, 7)
)
# A value that stands for itself is one wherever it stands again; of so many values in one text that is looked for.
_LEAST_AGAIN: Final = 6
_MOST_AGAIN: Final = 100


class Secret(NamedTuple):
    """A credential in a text: where its value stands, and what kind it seems to be of."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> tuple[Secret, ...]:
    """What in a text looks like a credential, in order and without overlap; the spans are those of the values alone.

    Known shapes of keys and tokens, private key blocks, passwords inside web addresses, JWTs, what an Authorization
    header holds, logins, PINs and numbers of cards; values that mix letters with digits or signs behind such a word as
    "password" and "is", "=" or ":", or between the tags of XML, and that look random right behind it; long runs that
    look random. They are found in quotes that are escaped as in JSON too, and where they stand again. Digests of
    commits, paths, names, addresses, placeholders and such words alone are no secrets. In time in step with the length
    of the text.
    """
    if "[masked: " in text:
        # What a mask says is no key word, and it stands where a value stood.
        text = MASK.sub(lambda found: "[" + "*" * (len(found[0]) - 2) + "]", text)
    spans = list(_spans(text))
    seen = {text}
    for escaped in _ESCAPED_QUOTES if "\\" in text else ():
        quoted = escaped.sub(_bare_quote, text)
        spans += _spans(quoted) if quoted not in seen else ()
        seen.add(quoted)
    found = tuple(_apart(spans))
    return tuple(_apart([*found, *_again(text, found)])) if found else ()


def _spans(text: str) -> Iterator[Span]:
    lower = _lowered(text)
    yield from _shapes(text, lower)
    yield from _behind_words(text, lower)
    yield from _long_runs(text)


def _lowered(text: str) -> str:
    """Lower case, each character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one if len(one := char.lower()) == 1 else char for char in text)


def _bare_quote(found: re.Match[str]) -> str:
    """A quote without its escape, in the same place: a space stands outside of it for each backslash."""
    space = " " * len(found["escape"])
    return found["quote"] + space if found["closes"] is not None else space + found["quote"]


def _again(text: str, found: tuple[Secret, ...]) -> Iterator[Span]:
    starts = {one.start for one in found}
    kinds = {text[one.start : one.end]: one.kind for one in found}
    for value, kind in list(kinds.items())[:_MOST_AGAIN]:
        if len(value) < _LEAST_AGAIN or value.isalpha() or value.isdigit():
            continue
        place = text.find(value)
        while place >= 0:
            if place not in starts:
                yield place, place + len(value), kind
            place = text.find(value, place + len(value))


def _apart(spans: list[Span]) -> Iterator[Secret]:
    """Spans in order; of those that overlap one, from the first start to the last end, under the first one's name."""
    held: Secret | None = None
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if held is not None and start < held.end:
            held = held._replace(end=max(held.end, end))
            continue
        if held is not None:
            yield held
        held = Secret(start, end, kind)
    if held is not None:
        yield held


def looks_secret(text: str) -> str | None:
    """What kind of credential a text seems to hold, or None; as in `find_secrets`."""
    found = find_secrets(text)
    return found[0].kind if found else None


def masked(text: str) -> str:
    """The text with each credential's value replaced by a word for its kind; all else is as it was.

    A masked text holds no credential any more.
    """
    return without_secrets(text, lambda kind, _: mask(kind))[0]


def without_secrets(text: str, instead: Callable[[str, str], str]) -> tuple[str, int]:
    """The text with each credential replaced by what `instead` makes of its kind and value, and how many there were."""
    count = 0
    for _ in range(_ROUNDS):
        parts: list[str] = []
        place = 0
        for secret in find_secrets(text):
            value = text[secret.start : secret.end]
            told = instead(secret.kind, value)
            count += told != value
            parts += [text[place : secret.start], told]
            place = secret.end
        changed = "".join(parts) + text[place:]
        if changed == text:
            break
        text = changed
    return text, count


# Known shapes: one search finds the literals of all, and a shape is tried only where one of its own stands.


class _Shape(NamedTuple):
    """A row of the table."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    test: Callable[[str], bool] | None = None

    def spans(self, found: re.Match[str]) -> Iterator[Span]:
        group = self.pattern.groups
        value = found[group]
        if not is_placeholder(value) and (self.test is None or self.test(value)):
            yield *found.span(group), self.kind


def _rows(table: str, flags: int = 0) -> tuple[_Shape, ...]:
    return tuple(
        _Shape(
            kind,
            tuple(literal.replace("_", " ") if flags else literal for literal in literals.split()),
            re.compile(pattern, flags),
            getattr(values, test[0]) if test else None,
        )
        for kind, literals, pattern, *test in TABLES[table]
    )


_ANYWHERE: Final = _rows("anywhere")
_ANCHORED: Final = (*_rows("tokens"), *_rows("sayings", re.IGNORECASE))
_AT: Final[dict[str, list[int]]] = {
    literal: [
        number for number, shape in enumerate(_ANCHORED) if any(map(literal.startswith, shape.literals))
    ]
    for literal in {literal for shape in _ANCHORED for literal in shape.literals}
}
_LITERAL: Final = re.compile(f"(?=({any_of(_AT)}))")


def _shapes(text: str, lower: str) -> Iterator[Span]:
    for shape in _ANYWHERE:
        if all(literal in lower for literal in shape.literals):
            for one in shape.pattern.finditer(text):
                yield from shape.spans(one)
    done = [0] * len(_ANCHORED)
    for literal in _LITERAL.finditer(lower):
        place = literal.start()
        for number in _AT[literal[1]]:
            if place >= done[number] and (found := _ANCHORED[number].pattern.match(text, place)):
                done[number] = found.end()
                yield from _ANCHORED[number].spans(found)


# Values behind words, in many languages.


def _word_list(name: str) -> list[str]:
    return [word.replace("_", " ") for word in TABLES["words"][name].split()]


def _any_word(name: str) -> str:
    """A pattern of any of a list's words, for use in a verbose one."""
    return any_of(_word_list(name)).replace(r"\ ", r"\s")


_STRENGTHS: Final[dict[str, _Strength]] = {
    **dict.fromkeys(_word_list("key"), "key"),
    **{
        f"{first}{between}{second}": "token"
        for first in _word_list("token_begins")
        for between in ("", " ", "_", "-")
        for second in _word_list("token_ends")
    },
    **dict.fromkeys(_word_list("token"), "token"),
    **dict.fromkeys(_word_list("password"), "password"),
}
_WORD: Final = re.compile(any_of(_STRENGTHS))
_OTHER_KEYS: Final = tuple(_word_list("other_keys"))
_NO_SPACES: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SUFFIX: Final = (
    rf"(?:s?(?![^\W\d_])(?:[_\-. ]{any_of(_word_list('suffixes'))}(?![^\W\d_]))?(?:_?\d{{1,2}}(?!\d))?)?"
)
# From the name of an element of XML, or an attribute that says it, to its content.
_TAG: Final = r"""(?:(?:\s[\w:]{1,40}=["'][^"'<>\n]{0,60}["'])?["']?>\s{0,40}(?:<value>|<!\[CDATA\[\s{0,40})?
    |</key>\s{0,40}<string>)"""
_BETWEEN: Final = rf"""(?:\s?[(（][^()（）\n]{{1,40}}[)）]
    |\s{_any_word("prepositions")}\s[^\n:=]{{1,40}}?)?"""
_VERB: Final = rf"""(?:{_any_word("verbs")}|(?P<abroad>{_any_word("abroad")}))(?:\s{_any_word("adverbs")})?:?\s+
    |(?:has\sbeen\s|was\s|now\s)?(?:re)?(?:changed|set|updated|rotated|geändert|changé)\s(?:to|auf|en)\s+"""
# A value below its word stands alone in its line, or behind an empty one.
_BELOW: Final = r"""(?:[ \t*_]{0,4}(?:\r?\n[ \t>]{0,20}){1,2}
    (?=[^\s-]\S{3,300}[ \t]{0,8}(?:\r?\n|$))(?-i:(?![a-z]+(?:\s|$))))"""
_AFTER: Final = re.compile(
    rf"""{_SUFFIX}["'`*_\])}}>]{{0,4}}{_BETWEEN}
    (?:(?:\s{{0,3}}(?:=>|:=|->|→|=|:|：|＝|–|—|\|)|["']?\s(?:value|content)\s?=|{_TAG})(?:{_BELOW}|[ \t*_]{{0,4}})
    |\s?{_any_word("spaceless")}|\s+(?:{_VERB}))""",
    re.IGNORECASE | re.VERBOSE,
)
_SPACE_AFTER: Final = re.compile(rf"{_SUFFIX}[\"']?\s+", re.IGNORECASE)
_ENGLISH: Final = re.compile("pass|pw|psk|key|secret|token|cred|bearer")
_QUOTED: Final = re.compile(
    r"(?P<quote>[\"'`])(?P<value>(?:(?!(?P=quote))[^\n\\]|\\[^\n]){1,200}+)(?P=quote)(?!\w)"
    r"|[«„“「『‘](?P<other>[^«»„“”「」『』‘’\n]{1,200})[»“”」』’]"
)
_BARE: Final = re.compile(
    r"[\"'`“„«「]?(?P<value>[^\s\"'`,;<>«»„“”「」]+"
    r"(?:(?:(?<=\w)\"(?=\w)|(?:(?<=&amp)|(?<=&lt)|(?<=&gt));)[^\s\"'`,;<>«»„“”「」]+)*)"
)
_LONGEST: Final = 400
_ASCII: Final = re.compile(r"[!-~]+")
_TRAILING: Final = re.compile(r"(?:[.)\]}>*:]|\\[nr])+$")
_ENV: Final = re.compile(r"(?:^|[\n;])\s{0,8}(?:export\s|set\s|ENV\s)?[A-Z][A-Z0-9_]*$")
_SETTING: Final = re.compile(r"(?i:set|chang|reset|updat|rotat|switch)\w{0,4}\b[^.\n]{0,30}$")
# Without a digit or sign shortly behind it, a word tells of no credential.
_HOPE: Final = re.compile(r"\d|[!$%&^#@~=:：＝]|\s(?:is|to|ist|lautet|est)\s[\"'`]")
_IN_SIGHT: Final = 180
_SPACE: Final = re.compile(r"\s")
# So many words for credentials are weighed in one run without white space.
_MOST_IN_RUN: Final = 50
_LOOK_BACK: Final = 40


def _behind_words(text: str, lower: str) -> Iterator[Span]:
    """Each value that stands behind a word for credentials and looks like one, in no order."""
    hope, run_end, in_run = -1, 0, 0
    for found in _WORD.finditer(lower):
        start, end = found.span()
        if run_end <= start:
            run_end, in_run = _next(_SPACE, text, start), 0
        in_run += 1
        if in_run > _MOST_IN_RUN:
            continue
        if hope < end:
            hope = _next(_HOPE, text, end)
        if hope - end <= _IN_SIGHT and _begins(text, start, found[0]):
            yield from _behind(text, start, end, found[0])


def _next(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.search(text, place)
    return found.start() if found is not None else len(text)


def _begins(text: str, start: int, word: str) -> bool:
    """Whether a word begins here: behind no letter, but for a capital (dbPassword) and long words (pgpassword)."""
    if start == 0 or _NO_SPACES.match(word):
        return True
    is_key = _STRENGTHS[word] == "key"
    if is_key and text[max(0, start - 14) : start].rstrip(" _-").lower().endswith(_OTHER_KEYS):
        return False
    before = text[start - 1]
    if not before.isalnum() or (text[start].isupper() and before.islower()):
        return True
    return not before.isdigit() and len(word) > 5 and word.isascii() and not is_key


def _behind(text: str, start: int, end: int, word: str) -> Iterator[Span]:
    strength = _STRENGTHS[word]
    joined = _AFTER.match(text, end)
    if joined is not None and _is_a_verb(joined, word, text[max(0, start - _LOOK_BACK) : start]):
        found = _value(text, joined.end(), word, query=text[start - 1 : start] in ("?", "&"))
        if found is not None and _tells(text, start, end, joined, found):
            yield *found, strength
            return
    spaced = _SPACE_AFTER.match(text, end) if strength != "key" else None
    found = _value(text, spaced.end(), word) if spaced is not None else None
    if found is None:
        return
    value, before = text[slice(*found)], text[max(0, start - _LOOK_BACK) : found[0]]
    if (strength == "password" and values.is_strong(value)) or is_random(value.rstrip(")]}>"), before):
        yield *found, strength


def _is_a_verb(joined: re.Match[str], word: str, before: str) -> bool:
    """Whether a word that may be a verb is one: behind an English word only "to" is, when something is set to it."""
    if not joined["abroad"] or not _ENGLISH.search(word):
        return True
    return joined["abroad"].lower() == "to" and _SETTING.search(before) is not None


def _tells(text: str, start: int, end: int, joined: re.Match[str], found: tuple[int, int]) -> bool:
    """Whether a value behind a word and a sign or verb is a credential."""
    value, before = text[slice(*found)], text[max(0, start - _LOOK_BACK) : found[0]]
    word = text[start:end]
    is_setting = word.isupper() and text[end : joined.end()] == "="
    in_settings = is_setting and _ENV.search(text, max(0, start - 60), end) is not None
    strength = _STRENGTHS[_lowered(word)]
    if strength == "password":
        return values.is_password(value, assigned=in_settings)
    if strength == "key":
        return values.is_key(value)
    return values.is_token(value, before)


def _value(text: str, place: int, word: str, *, query: bool = False) -> tuple[int, int] | None:
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
    run = _ASCII.match(text, start, end) if _NO_SPACES.match(word[-1]) else None
    end = run.end() if run is not None else end
    if query and (ampersand := text.find("&", start, end)) > start:
        end = ampersand
    trailing = _TRAILING.search(text, start, end)
    end = trailing.start() if trailing else end
    return (start, end) if end > start else None


# Long runs that look random.

# As much of a run as is weighed.
_HEAD: Final = 120
# Bits a character. Random base64 of 32 signs lies above 4, words and numbers joined below.
_RANDOM: Final = 3.5
# Of signs that look random there must be so many.
_LEAST_RANDOM: Final = 16
# Where so many random runs stand it is data: from then on each that is no digest counts, wherever it stands.
_MOST_WEIGHED: Final = 5_000
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{32,}+={0,2}")
_MIXED: Final = re.compile(r"(?=.*\d)(?=.*[A-Za-z])")
_HEX: Final = re.compile(r"(?:[A-Za-z]+\d*[-_=])?(?:[0-9a-fA-F-]+|0[xX][0-9a-fA-F]+)")
_JOINT: Final = re.compile(r"[-_/+=]+")
_NONE: Final = {name: re.compile(pattern, re.VERBOSE) for name, pattern in TABLES["runs"].items()}
_LONGEST_LABEL: Final = 40


def _long_runs(text: str) -> Iterator[Span]:
    """Each long run that looks random, and is no digest, path, address, identifier or text in base64."""
    if "-----BEGIN" in text:
        text = _NONE["block"].sub(lambda block: " " * len(block[0]), text)
    weighed = 0
    for run in _RUN.finditer(text):
        if _looks_encoded(run[0], weighed < _MOST_WEIGHED):
            weighed += 1
            if weighed >= _MOST_WEIGHED or not _is_placed(text, run.start(), run[0]):
                yield *run.span(), "random token"


def _is_text(run: str) -> bool:
    """Whether it is base64 of a text that people read."""
    signs = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        said = binascii.a2b_base64(signs + "=" * (-len(signs) % 4)).decode()
    except ValueError:
        return False
    return said.replace("\n", "").isprintable()


def _looks_encoded(run: str, weighed: bool) -> bool:
    """Whether a long run is encoded data: random enough, no digest, no joined words. weighed: False to look for digests
    alone.
    """
    if set(run.rstrip("=")) == {"A"}:
        # Zero bytes in base64: no digest, since a digest of that length has digits.
        return True
    head = run[:_HEAD]
    if not _MIXED.match(head) or _HEX.fullmatch(head):
        return False
    if not weighed:
        return True
    parts = _JOINT.split(head)
    if _NONE["public"].fullmatch(run):
        return False
    if is_placeholder(run) or entropy(head) < _RANDOM or _is_text(run):
        return False
    parts = [part for part in parts if not _HEX.fullmatch(part)]
    random = sum(len(part) for part in parts if not is_wordy(part))
    return random >= _LEAST_RANDOM and 2 * random >= sum(map(len, parts))


def _is_placed(text: str, start: int, run: str) -> bool:
    """Whether a run is none because of where it stands: behind the name of a digest, in a path or address."""
    if _NONE["digest"].match(run) or _NONE["labelled"].search(text, max(0, start - _LONGEST_LABEL), start):
        return True
    before = text[max(0, start - 160) : start]
    word = (before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else "") + run[:160]
    if "/" not in word and "\\" not in word:
        return False
    if _NONE["address"].search(word):
        return not _NONE["capability"].search(word)
    named = [part for part in re.split(r"[/\\]", word) if len(part) > 2 and part.isascii() and is_wordy(part)]
    return len(named) >= 2 and 2 * sum(map(len, named)) >= len(word)
