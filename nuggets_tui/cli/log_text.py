"""Entries of the log as JSON and as lines for a person."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from core.model.change import (
    ChangeKind,
    ChangeSet,
    FactChange,
    FileChange,
    FileRepair,
    NoteChange,
    NuggetChange,
)
from core.model.change_parts import change_parts
from core.model.entry import Conflict, Entry
from core.model.note import plain_value, to_file_dict
from nuggets_tui.cli.output import Line, Span, SpanStyle, shorten, table
from nuggets_tui.differences import DiffLine, Sign, TitleOf, change_lines, mend_lines
from nuggets_tui.words import deed, deeds_of, local_time, participle, plural

# What a deed is called in JSON, where it differs from how a person is told.
_ACTIONS: Final = {
    "deleted": "removed",
    "forgot": "removed",
    "remembered": "added",
    "hid": "hidden",
    "edited": "changed",
    "dropped a recall of": "recall dropped",
}
_STYLES: Final[dict[Sign, SpanStyle]] = {
    "+": "good",
    "-": "bad",
    " ": "dim",
    "@": "dim",
    "#": "bold",
    "~": "dim",
}
_UNSIGNED: Final = ("#", "~", "@")
_AUTHOR_WIDTH: Final = 20
_PREVIEWED: Final = 20
_VALUE_LINES: Final = 12


# JSON


def entry_document(entry: Entry, taken_back: Collection[str] = ()) -> dict[str, Any]:
    """An entry of the log, with each thing that can be taken back alone under its own id.

    taken_back: ids of entries and of such things that are taken back at present.
    """
    entry = _without_credentials(entry)
    change_set = entry.change_set
    author = change_set.author
    return {
        "id": entry.id,
        "at": change_set.at,
        "author": author.name or author.kind,
        "authorKind": author.kind,
        "reason": change_set.reason,
        "kind": change_set.kind,
        "state": entry.state,
        "undone": entry.undone,
        "about": change_set.about or None,
        "changes": _changes(change_set, taken_back),
        "conflict": conflict_document(entry.conflict) if entry.conflict is not None else None,
    }


def _without_credentials(entry: Entry) -> Entry:
    """An entry with what looks like a credential in its notes and facts masked, wherever it says it."""
    from core.model.masks import Masks
    from core.model.secrets import secrets_of, secrets_of_fact

    change_set, conflict = entry.change_set, entry.conflict
    notes = [side for one in change_set.notes for side in (one.before, one.after) if side is not None]
    facts = [side for one in change_set.facts for side in (one.before, one.after) if side is not None]
    held = [*chain.from_iterable(map(secrets_of, notes)), *chain.from_iterable(map(secrets_of_fact, facts))]
    if not held:
        return entry
    masks = Masks(held)
    told = masks.conflict(conflict) if conflict is not None else None
    return msgspec.structs.replace(entry, change_set=masks.change_set(change_set), conflict=told)


def change_set_document(change_set: ChangeSet) -> dict[str, Any]:
    """A change set that stands in no log, in the shape of an entry."""
    return entry_document(Entry(seq=0, change_set=change_set))


def conflict_document(conflict: Conflict) -> dict[str, Any]:
    """One thing that was changed in two ways, with its three values as text: incoming waits, current is in the file."""
    told = msgspec.structs.asdict(conflict)
    return told | {"incoming": told.pop("ours"), "current": told.pop("theirs")}


def _changes(change_set: ChangeSet, taken_back: Collection[str]) -> list[dict[str, Any]]:
    found = []
    for number, part in enumerate(change_parts(change_set), 1):
        undone = part.id in taken_back or change_set.id in taken_back
        found.append({"part": number, "id": part.id, "undone": undone} | _change(part))
    told = {fact.nugget for fact in change_set.facts}
    unnamed: dict[str, Any] = {"part": None, "id": None, "undone": change_set.id in taken_back}
    found += [unnamed | _nugget_change(change) for change in change_set.nuggets if change.name not in told]
    found += [unnamed | _mend(mend, change_set.kind) for mend in change_set.mends]
    return found


def _mend(mend: FileRepair, kind: ChangeKind) -> dict[str, Any]:
    """A file that was made sound, or, kind "undo", put back as it was."""
    before: dict[str, Any] = {"sha256": mend.before, "kept": f"quarantine/{mend.kept}"}
    sides = [before, {"sha256": mend.after, "kept": None}]
    named: dict[str, Any] = {"what": "file", "action": "changed", "noteId": None, "nuggetName": None}
    return named | {"key": None, "title": mend.path} | _sides(*(sides[::-1] if kind == "undo" else sides))


def _change(part: ChangeSet) -> dict[str, Any]:
    """What a part is about: its first note, else its fact, else its file."""
    verb = deeds_of(part)[0].verb
    action = _ACTIONS.get(verb, verb)
    if part.notes:
        return _note_change(part.notes[0], action)
    if part.facts:
        return _fact_change(part.facts[0], action)
    return _file_change(part.files[0])


def _note_change(change: NoteChange, action: str) -> dict[str, Any]:
    note = change.note
    return {
        "what": "fact" if note.is_fact else "note",
        "action": action,
        "noteId": note.id,
        "nuggetName": note.nugget_name,
        "key": note.key if note.is_fact else None,
        "title": note.title,
    } | _sides(
        to_file_dict(change.before) if change.before is not None else None,
        to_file_dict(change.after) if change.after is not None else None,
    )


def _fact_change(change: FactChange, action: str) -> dict[str, Any]:
    key = change.after.key if change.after is not None else change.key
    return {
        "what": "fact",
        "action": action,
        "noteId": None,
        "nuggetName": change.nugget,
        "key": key,
        "title": key,
    } | _sides(plain_value(change.before), plain_value(change.after))


def _file_change(change: FileChange) -> dict[str, Any]:
    texts = [
        None if data is None else {"content": data.decode("utf-8", "replace")}
        for data in (change.before, change.after)
    ]
    return {
        "what": "file",
        "action": _action(change),
        "noteId": None,
        "nuggetName": None,
        "key": None,
        "title": change.path,
    } | _sides(*texts)


def _nugget_change(change: NuggetChange) -> dict[str, Any]:
    return {
        "what": "nugget",
        "action": _action(change),
        "noteId": None,
        "nuggetName": change.name,
        "key": None,
        "title": change.name,
    } | _sides(plain_value(change.before), plain_value(change.after))


def _action(change: FileChange | NuggetChange) -> str:
    return "added" if change.before is None else "removed" if change.after is None else "changed"


def _sides(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    """The fields in which two versions differ; whole versions where there is only one."""
    if before is None or after is None:
        return {"fields": list(before or after or ()), "before": before, "after": after}
    missing = object()
    names = [name for name in before | after if before.get(name, missing) != after.get(name, missing)]
    return {
        "fields": names,
        "before": {name: before[name] for name in names if name in before},
        "after": {name: after[name] for name in names if name in after},
    }


# Lines


def log_lines(entries: Sequence[Entry], taken_back: Collection[str]) -> list[Line]:
    """A line for each entry: when, by whom, what was done, its id, what became of it."""
    return table([_cells(_without_credentials(entry), taken_back) for entry in entries], flexible=2)


def _cells(entry: Entry, taken_back: Collection[str]) -> tuple[Span, ...]:
    told, author = deed(entry.change_set), entry.change_set.author
    style: SpanStyle = "dim" if entry.undone or entry.change_set.kind == "hit" else ""
    return (
        Span(local_time(entry.change_set.at), "dim"),
        Span(shorten(str(author), _AUTHOR_WIDTH), "bold" if author.kind == "person" else ""),
        Span(f"{told.verb} {told.what}", style),
        Span(entry.id, "dim"),
        _mark(entry, taken_back),
    )


def _mark(entry: Entry, taken_back: Collection[str]) -> Span:
    if entry.state == "conflict":
        return Span("conflict: waits for you", "warn")
    if entry.state == "settled":
        return Span("conflict: resolved", "dim")
    if entry.undone:
        return Span("undone", "warn")
    some = sum(id.startswith(f"{entry.id}.") for id in taken_back)
    return Span(f"{some} undone" if some else "", "warn")


def verbose_lines(entries: Sequence[Entry], taken_back: Collection[str], title_of: TitleOf) -> Iterator[Line]:
    """Every entry in full: its line, its reason, and each of its changes under the id that takes it back alone."""
    entries = [*map(_without_credentials, entries)]
    heads = log_lines(entries, taken_back)
    for entry, head in zip(entries, heads, strict=True):
        yield head
        yield from _reason(entry.change_set)
        if entry.conflict is not None:
            yield from _indented(conflict_lines(entry.conflict))
        alone = change_parts(entry.change_set)
        for part in alone:
            for difference in change_lines(part, title_of):
                yield from difference_lines(difference, part.id if len(alone) > 1 else "")
        for mend in entry.change_set.mends:
            yield from difference_lines(mend_lines(mend, entry.change_set.kind))
        yield ""


def _reason(change_set: ChangeSet) -> Iterator[Line]:
    """Why it was done, unless that says no more than what was done."""
    told, reason = deed(change_set), change_set.reason
    if reason and reason.replace("'", "") != f"{told.verb} {told.what}".replace("'", ""):
        yield Span(f"  {reason}", "dim")


def difference_lines(lines: Sequence[DiffLine], id: str = "") -> Iterator[Line]:
    """A difference, indented and coloured; `id` stands behind its heading."""
    for line in lines:
        text = line.text.expandtabs(4)
        shown = Span(text if line.sign in _UNSIGNED else f"{line.sign} {text}", _STYLES[line.sign])
        if line.sign == "#" and id:
            yield ("  ", shown, Span(f"  {id}", "dim"))
        else:
            yield ("  " if line.sign == "#" else "    ", shown)


def conflict_lines(conflict: Conflict, names: tuple[str, str] = ("incoming", "current")) -> Iterator[Line]:
    """What was changed in two ways, and its three versions. names: what `ours` and `theirs` are called."""
    place = f"{conflict.where}: " if conflict.where else ""
    yield Span(f"{place}{conflict.what}", "warn")
    sides: tuple[tuple[str, str, SpanStyle], ...] = (
        ("before", conflict.base, "dim"),
        (names[0], conflict.ours, "good"),
        (names[1], conflict.theirs, "bad"),
    )
    width = max(len(name) for name, *_ in sides)
    for name, value, style in sides:
        lines = value.split("\n") if value else ["(nothing)"]
        for number, line in enumerate(lines[:_VALUE_LINES]):
            yield (Span(f"  {'' if number else name:{width}}  ", "dim"), Span(line, style))
        if len(lines) > _VALUE_LINES:
            yield Span(f"          … {plural(len(lines) - _VALUE_LINES, 'more line')}", "dim")


def sides_line(entry: Entry) -> Line:
    """Which version is whose."""
    who = entry.change_set.author
    return Span(f"  incoming: {who}'s change, which waits; current: what the files hold now", "dim")


def _indented(lines: Iterator[Line]) -> Iterator[Line]:
    for line in lines:
        pieces = (line,) if isinstance(line, str | Span) else line
        yield ("  ", *pieces)


def pending_conflict_lines(conflicts: Sequence[Entry], *, whole: bool = False) -> Iterator[Line]:
    """Conflicts that wait for a person, and how to settle one. whole: with their versions."""
    if not conflicts:
        return
    said = plural(len(conflicts), "conflict waits", "conflicts wait")
    yield Span(f"{said} for your decision:", "warn")
    for entry in map(_without_credentials, conflicts):
        told = deed(entry.change_set)
        yield ("  ", Span(entry.id, "bold"), f"  {entry.change_set.author}: {told.verb} {told.what}")
        if whole and entry.conflict is not None:
            yield from _indented(_indented(iter((*conflict_lines(entry.conflict), sides_line(entry)))))
    name = conflicts[0].id if len(conflicts) == 1 else "ID"
    yield f"To see and resolve it: nuggets resolve {name}"


def preview_lines(change_set: ChangeSet) -> list[Line]:
    """What a change set would do: a line for each of the first things, and how many more there are."""
    deeds = deeds_of(change_set)
    rows = [
        (Span(participle(told.verb), "dim"), Span(told.what, "bold"), Span(told.note_id, "dim"))
        for told in deeds[:_PREVIEWED]
    ]
    lines = table(rows, flexible=1)
    if len(deeds) > _PREVIEWED:
        lines.append(Span(f"and {len(deeds) - _PREVIEWED:,} more", "dim"))
    return lines
