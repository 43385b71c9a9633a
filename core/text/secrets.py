"""Credentials in a text: known shapes, and what stands behind words such as "password"; found, told of and masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from core.text.mask import MASK, mask
from core.text.secret_runs import long_runs
from core.text.secret_shapes import Span, known_shapes, tokens
from core.text.secret_words import behind_words, in_elements
from core.text.spellings import (
    TextLayer,
    beneath,
    instead_of,
    unescaped,
    without_breaks,
    without_invisible,
)

# Masking one credential may leave another that stood in its shadow.
_ROUNDS: Final = 8
# JSON within JSON within JSON. Paths of Windows and patterns, which hold backslashes too, are read as they are.
_LAYERS: Final = 3
_ESCAPED: Final = re.compile(r"\\[\"'/]|\\u[0-9a-fA-F]{4}")
_PLAIN_LINES: Final = re.compile(r"^(?:[^\\\n]*\n)+", re.MULTILINE)
# A line that a backslash carries on.
_CARRIED_ON: Final = re.compile(r"\\\r?\n[ \t]*")
# A value that stands for itself is one wherever it stands again; of so many values in one text that is looked for.
_LEAST_AGAIN: Final = 6
_MOST_AGAIN: Final = 100
# Where a line may end within a token, and what its halves must be.
_WRAP: Final = re.compile(r"[\r\n](?:(?<=\S{8}[\r\n])|(?<=\S{8}\r\n))[\s>#|*]{0,80}+(?=\S{0,400}\d)\S{4}")
_BREAK: Final = re.compile(r"[\r\n][\s>#|*]*")
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_FIRST_HALF: Final = re.compile(r"(?=\D*\d).{8}", re.DOTALL)
_NEXT_HALF: Final = re.compile(r"(?=\D*\d)(?=.*[^\W\d_]).{4}", re.DOTALL)


class Secret(NamedTuple):
    """A credential in a text: where its value stands, and what kind it seems to be of."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> tuple[Secret, ...]:
    """What in a text looks like a credential, in order and without overlap; the spans are those of the values alone.

    Known shapes of keys and tokens, private key blocks, passwords inside web addresses, JWTs, what an Authorization
    header holds, logins, PINs and numbers of cards, values that look random right behind a word such as "token" or "api
    key", and values that mix letters with digits or signs behind such a word and "is", "=" or ":", or between the tags
    of XML; long runs that look random, and base64 that says any of these. They are found too where the text is escaped
    as in JSON, where a line ends within them, where letters that nobody sees stand in them, and where they stand again.
    Digests of commits, paths, names, addresses, placeholders and such words alone are no secrets. In time in step with
    the length of the text.
    """
    if "[masked: " in text:
        # What a mask says is no key word, and it stands where a value stood.
        text = MASK.sub(lambda found: "[" + "*" * (len(found[0]) - 2) + "]", text)
    found = tuple(_apart(list(_spans(text))))
    return tuple(_apart([*found, *_again(text, found)])) if found else ()


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


def _spans(text: str) -> Iterator[Span]:
    visible = without_invisible(text)
    shown = text if visible is None else visible.text
    below = () if visible is None else (visible,)
    yield from _through(below, _plainly(shown))
    if _ESCAPED.search(shown) is None:
        return
    without = instead_of(shown, _PLAIN_LINES, "\n\n")
    below = below if without is None else (*below, without)
    for _ in range(_LAYERS):
        view = unescaped(below[-1].text if below else text)
        if view is None:
            return
        below = (*below, view)
        yield from _through(below, _plainly(view.text))


def _plainly(text: str) -> Iterator[Span]:
    yield from _said(text)
    yield from in_elements(text)
    yield from long_runs(text, _said)
    yield from _over_lines(text)


def _said(text: str) -> Iterator[Span]:
    yield from known_shapes(text)
    yield from behind_words(text)


def _over_lines(text: str) -> Iterator[Span]:
    """Tokens that a line ends within, and values in lines that a backslash carries on."""
    joined = without_breaks(text) if _WRAP.search(text) else None
    for span in _over(joined, tokens(joined.text)) if joined is not None else ():
        if span[2] != "private key" and _is_wrapped(text[span[0] : span[1]]):
            yield span
    carried = instead_of(text, _CARRIED_ON, "") if "\\\n" in text or "\\\r" in text else None
    if carried is not None:
        yield from _over(carried, _said(carried.text))


def _over(view: TextLayer, found: Iterator[Span]) -> Iterator[Span]:
    """Those of the spans of a view of joined lines that a line ended within."""
    for start, end, kind in found:
        first, last = view.span(start, end)
        if last - first > end - start:
            yield first, last, kind


def _is_wrapped(text: str) -> bool:
    """Whether a token over lines is one, and no word that happens to follow at the beginning of the next line."""
    first, *others = _BREAK.split(text)
    return (
        not _BLANK_LINE.search(text)
        and _FIRST_HALF.match(first) is not None
        and all(map(_NEXT_HALF.match, others))
        and (len(others[0]) >= 8 or len(text) > 16)
    )


def _through(below: tuple[TextLayer, ...], spans: Iterator[Span]) -> Iterator[Span]:
    """Spans of the topmost view as spans of the text."""
    for start, end, kind in spans:
        yield (*(beneath(below, (start, end)) if below else (start, end)), kind)


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
