"""Keys as Textual names them, as a person reads them, and as settings.toml may spell them."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Final

from textual.binding import Binding
from textual.keys import Keys, format_key

_MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_OTHER_NAMES: Final = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "page_up": "pageup",
    "page_down": "pagedown",
    "spacebar": "space",
}
# What a terminal sends for them is what it sends for another key.
_SENT_AS: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+j": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}


class WrongKeyError(ValueError):
    """A key of settings.toml that cannot be used. why: in a clause. near: what may be meant instead, "" for nothing."""

    def __init__(self, why: str, near: str = "") -> None:
        self.why = why
        self.near = near
        super().__init__(why + (f"; did you mean {near}?" if near else ""))


def shown_key(key: str) -> str:
    """A key as a person reads it: "/", "ctrl+k", "⏎", "shift+↑"."""
    modifiers, _, base = key.rpartition("+")
    return (modifiers + "+" if modifiers else "") + format_key(base)


def read_keys(text: str) -> tuple[str, ...]:
    """The keys of a text such as "k,ctrl+k" or "/" in Textual's names; none for "". Raises WrongKeyError."""
    if text.strip() == ",":
        return ("comma",)
    found = [_read_key(part.strip()) for part in text.split(",") if part.strip()]
    return tuple(dict.fromkeys(found))


def _read_key(text: str) -> str:
    head, base = (text[:-1].rstrip("+"), "+") if text.endswith("+") else _split(text)
    modifiers = [part.strip().lower() for part in head.split("+") if part.strip()]
    unknown = next((part for part in modifiers if part not in _MODIFIERS), "")
    if unknown:
        raise WrongKeyError(f'"{text}" is not a key', nearest(unknown, _MODIFIERS))
    if len(base) == 1:
        base = _of_character(base, modifiers)
        modifiers = [part for part in modifiers if part != "shift"] if base.isupper() else modifiers
    else:
        base = _OTHER_NAMES.get(base.lower(), base.lower())
        if base not in _names():
            raise WrongKeyError(f'"{text}" is not a key', nearest(base, _names()))
    key = "+".join([*(name for name in _MODIFIERS if name in modifiers), base])
    if key in _SENT_AS:
        raise WrongKeyError(f'a terminal sends "{text}" as {_SENT_AS[key]}')
    return key


def _split(text: str) -> tuple[str, str]:
    head, _, base = text.rpartition("+")
    return head, base.strip()


def _of_character(character: str, modifiers: list[str]) -> str:
    if not character.isprintable():
        raise WrongKeyError("a control character is not a key")
    if character.isalpha() and modifiers:
        return character.upper() if modifiers == ["shift"] else character.lower()
    return next(iter(Binding.make_bindings([Binding(character, "")]))).key


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """All names of keys that are longer than one character, without modifiers."""
    named = {key.value.rpartition("+")[2] for key in Keys} - {""}
    punctuation = (Binding(sign, "") for sign in string.punctuation if sign != ",")
    named |= {binding.key for binding in Binding.make_bindings(punctuation)} | {"comma"}
    return frozenset(name for name in named if len(name) > 1 and not name.startswith("<"))


def nearest(name: str, names: frozenset[str] | tuple[str, ...]) -> str:
    """The most similar of some names, "" when none is like it."""
    from rapidfuzz import process
    from rapidfuzz.fuzz import ratio

    found = process.extractOne(name, sorted(names), scorer=ratio, score_cutoff=60)
    return found[0] if found is not None else ""
