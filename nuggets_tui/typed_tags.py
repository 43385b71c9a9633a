"""Tags as a person types them, in the app and on the command line; those that files hold stay as they are."""

from __future__ import annotations

from collections.abc import Collection

from core.verbs import typed_tag


def split_tags(text: str, known: Collection[str] = ()) -> list[str]:
    """Tags as typed: parted by spaces or commas. known: as in `typed_tag`."""
    return [typed_tag(tag, known) for tag in text.replace(",", " ").split()]
