"""Tags as a person types them, in the app and on the command line; those that files hold stay as they are."""

from __future__ import annotations

from collections.abc import Collection

from core.model.note import normalise_tag

_SIGNS = ("#", "+")


def typed_tag(typed: str, known: Collection[str] = ()) -> str:
    """A tag without the one # or + that people put before it; as typed where `known` holds it so."""
    if normalise_tag(typed) in known:
        return typed
    tag = typed.lstrip()
    return tag[1:] if tag.startswith(_SIGNS) and len(tag) > 1 else typed


def split_tags(text: str, known: Collection[str] = ()) -> list[str]:
    """Tags as typed: parted by spaces or commas. known: as in `typed_tag`."""
    return [typed_tag(tag, known) for tag in text.replace(",", " ").split()]
