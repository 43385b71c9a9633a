"""Credentials in a text: known shapes, and what stands behind words such as "password"; found, told of and masked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from core.text.mask import MASK, mask
from core.text.secret_shapes import Span, known_shapes
from core.text.secret_words import behind_words

# Masking one credential may leave another that stood in its shadow.
_ROUNDS: Final = 8


class Secret(NamedTuple):
    """A credential in a text: where its value stands, and what kind it seems to be of."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> tuple[Secret, ...]:
    """What in a text looks like a credential, in order and without overlap; the spans are those of the values alone.

    Known shapes of keys and tokens, private key blocks, passwords inside web addresses, JWTs, what an
    Authorization header holds, values that look random right behind a word such as "token" or "api key", and
    values that mix letters with digits or signs behind such a word and "is", "=" or ":". Digests of commits, paths,
    names, addresses, placeholders and such words alone are no secrets.
    """
    if "[masked: " in text:
        # What a mask says is no key word, and it stands where a value stood.
        text = MASK.sub(lambda found: "[" + "*" * (len(found[0]) - 2) + "]", text)
    return tuple(_apart([*known_shapes(text), *behind_words(text)]))


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
    for _ in range(_ROUNDS):
        found = find_secrets(text)
        if not found:
            return text
        for secret in reversed(found):
            text = text[: secret.start] + mask(secret.kind) + text[secret.end :]
    return text
