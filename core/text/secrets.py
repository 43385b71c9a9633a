"""Credentials in a text: known shapes, and what stands behind words such as "password"; found, told of and masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from core.text.mask import MASK, mask
from core.text.secret_runs import long_runs
from core.text.secret_shapes import Span, known_shapes
from core.text.secret_words import behind_words

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
    seen = text
    for escaped in _ESCAPED_QUOTES if "\\" in text else ():
        if (quoted := escaped.sub(_bare_quote, text)) != seen:
            spans += _spans(quoted)
            seen = quoted
    found = tuple(_apart(spans))
    return tuple(_apart([*found, *_again(text, found)])) if found else ()


def _bare_quote(found: re.Match[str]) -> str:
    """A quote without its escape, in the same place: a space stands outside of it for each backslash."""
    space = " " * len(found["escape"])
    return found["quote"] + space if found["closes"] is not None else space + found["quote"]


def _spans(text: str) -> Iterator[Span]:
    yield from known_shapes(text)
    yield from behind_words(text)
    yield from long_runs(text)


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
