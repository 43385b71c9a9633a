"""What a change did to the files a person keeps beside the notes: settings that were set, searches that were kept."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from core.model.change import FileChange
from core.model.saved_search import SEARCHES_FILE, TABLE
from core.settings import SETTINGS_FILE

_LONGEST: Final = 40


class FileDeed(NamedTuple):
    """One thing done: a verb in the past, what it was done to, and of what kind that is."""

    verb: str
    what: str
    noun: str


def file_deeds(change: FileChange) -> tuple[FileDeed, ...]:
    """What was done, value by value or search by search; nothing for other files and for what cannot be read."""
    if change.path not in (SETTINGS_FILE, SEARCHES_FILE):
        return ()
    try:
        before, after = (
            tomllib.loads((data or b"").decode("utf-8")) for data in (change.before, change.after)
        )
    except (ValueError, RecursionError):
        return ()
    told = _searches if change.path == SEARCHES_FILE else _settings
    return tuple(told(before, after))


def _searches(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FileDeed]:
    old, new = (side.get(TABLE, {}) for side in (before, after))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    for name in dict.fromkeys([*new, *old]):
        if old.get(name) != new.get(name):
            verb = "saved" if name not in old else "deleted" if name not in new else "changed"
            yield FileDeed(verb, f'the search "{name}"', "search")


def _settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FileDeed]:
    old, new = dict(_values(before)), dict(_values(after))
    for name in dict.fromkeys([*new, *old]):
        if name not in new:
            yield FileDeed("set", f"{name} to its default", "setting")
        elif old.get(name) != new[name]:
            yield FileDeed("set", f"{name} to {str(new[name])[:_LONGEST]}", "setting")


def _values(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _values(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
