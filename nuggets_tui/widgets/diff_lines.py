"""Differences as lines: what goes with "-", what comes with "+", so that they read without colour too."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from textual.content import Content

from core.model.change import ChangeSet, FactChange, FileChange, NoteChange
from core.model.note import METADATA_FIELDS, Note
from nuggets_tui.safe_text import plain, safe_line
from nuggets_tui.words import plural

_MUTED: Final = "$text-muted"
_STYLES: Final = {"+": "$text-success", "-": "$text-error", "@": "$text-secondary"}
_LONGEST: Final = 60_000
_MOST_LINES: Final = 2_000
_CONTEXT: Final = 3


TitleOf = Callable[[str], str]


def change_lines(change_set: ChangeSet, width: int, title_of: TitleOf = str) -> list[Content]:
    """Everything a change set does, wrapped at `width` cells. title_of: a note's title for its id."""
    lines: list[Content] = []
    mirrored = {(change.note.nugget_name, change.note.key) for change in change_set.notes}
    for change in change_set.notes:
        lines += [*note_change_lines(change, title_of=title_of), Content("")]
    for fact in change_set.facts:
        if (fact.nugget, fact.key) not in mirrored:
            lines += [*_fact_lines(fact), Content("")]
    for file in change_set.files:
        lines += [*_file_lines(file), Content("")]
    return wrapped(lines[:_MOST_LINES], width)


def note_change_lines(
    change: NoteChange, names: Iterable[str] | None = None, *, title_of: TitleOf = str
) -> list[Content]:
    """What happens to one note; `names` narrows it to some fields. title_of: a note's title for its id."""
    before, after = change.before, change.after
    lines = [Content.styled(safe_line(change.note.title), "bold")]
    if before is None or after is None:
        sign = "+" if before is None else "-"
        note = change.note
        lines.append(_signed(sign, "the whole note"))
        lines += [_signed(sign, line) for line in note.content[:_LONGEST].split("\n")]
        return lines
    wanted = None if names is None else set(names)
    for name in ("title", "hidden", "content", "tags", "links", *METADATA_FIELDS):
        old, new = getattr(before, name), getattr(after, name)
        if old == new or (wanted is not None and name not in wanted):
            continue
        lines += _field_lines(name, before, after, title_of)
    if len(lines) == 1 and before.hits != after.hits:
        lines.append(_signed("+", f"recalled {after.hits}×, before {before.hits}×"))
    return lines


def _field_lines(name: str, before: Note, after: Note, title_of: TitleOf) -> list[Content]:
    if name == "hidden":
        return [
            _signed("+", "hidden from search and recall") if after.hidden else _signed("+", "brought back")
        ]
    if name == "content":
        return text_difference(before.content, after.content)
    if name in ("tags", "links"):
        old, new = _named(name, before, title_of), _named(name, after, title_of)
        gone = [_signed("-", f"{name[:-1]} {each}") for each in old if each not in new]
        return gone + [_signed("+", f"{name[:-1]} {each}") for each in new if each not in old]
    return [
        _signed("-", f"{name}: {getattr(before, name)}"),
        _signed("+", f"{name}: {getattr(after, name)}"),
    ]


def _named(name: str, note: Note, title_of: TitleOf) -> list[str]:
    if name == "tags":
        return list(note.tags)
    return [f"to “{title_of(link.to)}” ({link.reason})" for link in note.links]


def text_difference(before: str, after: str) -> list[Content]:
    """The lines in which two texts differ, with some around them."""
    if len(before) + len(after) > _LONGEST:
        return [Content.styled(f"text of {len(before):,} characters, now {len(after):,}", _MUTED)]
    found = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=_CONTEXT)
    return diff_text_lines(list(found)[2:])


def diff_text_lines(lines: Sequence[str]) -> list[Content]:
    """Lines of a unified difference, coloured."""
    shown = []
    for line in lines[:_MOST_LINES]:
        if line.startswith("@@"):
            shown.append(Content.styled("⋯", _STYLES["@"]))
        elif line.startswith(("+", "-")):
            shown.append(_signed(line[0], line[1:]))
        else:
            shown.append(Content.styled(f"  {plain(line[1:].expandtabs(4))}", _MUTED))
    if len(lines) > _MOST_LINES:
        shown.append(Content.styled(f"… {plural(len(lines) - _MOST_LINES, 'more line')}", _MUTED))
    return shown


def _fact_lines(change: FactChange) -> list[Content]:
    lines = [Content.styled(safe_line(f"{change.key} (fact of {change.nugget})"), "bold")]
    if change.before is not None:
        lines.append(_signed("-", change.before.value))
    if change.after is not None:
        lines.append(_signed("+", change.after.value))
    return lines


def _file_lines(change: FileChange) -> list[Content]:
    before = (change.before or b"").decode("utf-8", "replace")
    after = (change.after or b"").decode("utf-8", "replace")
    return [Content.styled(safe_line(change.path), "bold"), *text_difference(before, after)]


def _signed(sign: str, text: str) -> Content:
    return Content.styled(f"{sign} {plain(text[:_LONGEST].expandtabs(4))}", _STYLES[sign])


def wrapped(lines: Iterable[Content], width: int) -> list[Content]:
    """Lines wrapped at a width; the rest of a long line stands below it."""
    return [part for line in lines for part in (line.wrap(width) if line.plain else [line])]
