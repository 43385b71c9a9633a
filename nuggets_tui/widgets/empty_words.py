"""What an empty list says: what would fill it, and the keys for it."""

from __future__ import annotations

from textual.content import Content

from nuggets_tui.key_map import KeyMap


def empty_words(keys: KeyMap, said: str, *does: tuple[str, str]) -> Content:
    """Some words, and below them keys with what each does. does: names of commands, or keys themselves."""
    shown = [(keys.key(name) if name in keys.by_name else name, words) for name, words in does]
    size = max(len(key) for key, _ in shown)
    lines = [
        Content.assemble(
            (f"{key:<{size}}", "bold $text-accent"), f"  {words}".replace("\n", "\n" + " " * (size + 2))
        )
        for key, words in shown
    ]
    return Content("\n").join([Content(said), Content(""), *lines])
