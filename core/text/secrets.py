"""Credentials in a text: known shapes, and what stands behind words such as "password"; found, told of and masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from core.text.mask import MASK, mask
from core.text.secret_guesses import loosely, weighed
from core.text.secret_lines import over_lines
from core.text.secret_shapes import Span, known_shapes
from core.text.secret_words import behind_words, in_elements
from core.text.spellings import TextLayer, beneath, unescaped, without_invisible

# Masking one credential may leave another that stood in its shadow.
_ROUNDS: Final = 8
# JSON within JSON within JSON. Paths of Windows and patterns, which hold backslashes too, are read as they are.
_LAYERS: Final = 3
_ESCAPED: Final = re.compile(r"\\[\"'/]|\\u[0-9a-fA-F]{4}")


class Secret(NamedTuple):
    """A credential in a text: where its value stands, and what kind it seems to be of."""

    start: int
    end: int
    kind: str


class Strictness(Enum):
    """How surely something must be a credential to be found.

    CAREFUL: what people are told of and asked about. GENEROUS: all that might be one, key words with their values;
    for what a model is shown, where one too many costs little.
    """

    CAREFUL = "careful"
    GENEROUS = "generous"


def find_secrets(text: str, strictness: Strictness = Strictness.CAREFUL) -> tuple[Secret, ...]:
    """What in a text looks like a credential, in order and without overlap; the spans are those of the values alone.

    Known shapes of keys and tokens, private key blocks, passwords inside web addresses, JWTs, what an
    Authorization header holds, values that look random right behind a word such as "token" or "api key", and
    values that mix letters with digits or signs behind such a word and "is", "=" or ":", or between the tags of XML.
    They are found too where the text is escaped as in JSON, where a line ends within them, and where letters that
    nobody sees stand in them. Digests of commits, paths, names, addresses, placeholders and such words alone are no
    secrets.
    """
    if "[masked: " in text:
        # What a mask says is no key word, and it stands where a value stood.
        text = MASK.sub(lambda found: "[" + "*" * (len(found[0]) - 2) + "]", text)
    if strictness is Strictness.CAREFUL:
        return tuple(_apart(list(_spans(text))))
    spans = [*loosely(text), *_spans(text[: weighed(text)])]
    return tuple(_apart([span for span in spans if span[0] < span[1]]))


def _spans(text: str) -> Iterator[Span]:
    visible = without_invisible(text)
    shown = text if visible is None else visible.text
    below = () if visible is None else (visible,)
    yield from _through(below, _plainly(shown))
    if _ESCAPED.search(shown) is None:
        return
    for _ in range(_LAYERS):
        view = unescaped(below[-1].text if below else text)
        if view is None:
            return
        below = (*below, view)
        yield from _through(below, _plainly(view.text))


def _plainly(text: str) -> Iterator[Span]:
    yield from known_shapes(text)
    yield from behind_words(text)
    yield from in_elements(text)
    yield from over_lines(text)


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
    return without_secrets(text, Strictness.CAREFUL, mask)[0]


def without_secrets(text: str, strictness: Strictness, mark: Callable[[str], str]) -> tuple[str, int]:
    """The text with each credential replaced by what `mark` makes of its kind, and how many there were."""
    count = 0
    for _ in range(_ROUNDS):
        found = find_secrets(text, strictness)
        if not found:
            break
        count += len(found)
        parts: list[str] = []
        place = 0
        for secret in found:
            parts += [text[place : secret.start], mark(secret.kind)]
            place = secret.end
        text = "".join(parts) + text[place:]
    return text, count
