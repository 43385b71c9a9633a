"""Entries of the history as JSON and as lines for a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core.errors import NotFoundError
from core.model.change import ChangeSet, FileChange, NuggetChange
from core.model.change_parts import change_parts
from core.model.entry import Conflict, Entry
from core.model.note import plain_value, to_file_dict
from nuggets_tui.cli.output import Line, Span, SpanStyle, bad, bold, dim, good, pick, shorten, table, warn
from nuggets_tui.differences import DiffLine, Sign, TitleOf, change_lines, mend_lines
from nuggets_tui.words import deed, deeds_of, local_time, participle, plural

if TYPE_CHECKING:
    from core.memory import Memory

# What a deed is called in JSON, where it differs from how a person is told.
_ACTIONS: Final = {
    "deleted": "removed", "forgot": "removed", "remembered": "added", "hid": "hidden", "edited": "changed",
    "dropped a recall of": "recall dropped",
}  # fmt: skip
_STYLES: Final[dict[Sign, SpanStyle]] = {"+": "good", "-": "bad", "#": "bold"}
_AUTHOR_WIDTH: Final = 20
_PREVIEWED: Final = 20
_VALUE_LINES: Final = 12


# JSON


def entry_documents(memory: Memory, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries of the history, each with what of it is taken back at present."""
    taken_back = memory.history.taken_back()
    return [entry_document(entry, taken_back) for entry in entries]


def applied_document(memory: Memory, done: ChangeSet) -> dict[str, Any]:
    """A change set that was just applied, as the log has it; one that stands in no log in the shape of an entry."""
    if not done.empty or memory.history.is_decision(done):
        try:
            return entry_document(memory.history.entry(done.id), memory.history.taken_back())
        except NotFoundError:
            pass
    return entry_document(Entry(seq=0, change_set=done))


def nothing_of(planned: ChangeSet) -> ChangeSet:
    """A change set that was not agreed to: it changes nothing."""
    return msgspec.structs.replace(planned, notes=(), facts=(), nuggets=(), files=())


def entry_document(entry: Entry, taken_back: Collection[str] = ()) -> dict[str, Any]:
    """An entry of the history, with each thing that can be taken back alone under its own id.

    taken_back: ids of entries and of such things that are taken back at present.
    """
    entry = _without_credentials(entry)
    made, conflict = entry.change_set, entry.conflict
    changes = [
        {"part": number, "id": part.id, "undone": part.id in taken_back or made.id in taken_back} | _change(part)
        for number, part in enumerate(change_parts(made), 1)
    ]  # fmt: skip
    told = {fact.nugget for fact in made.facts}
    whole: dict[str, Any] = {"part": None, "id": None, "undone": made.id in taken_back}
    for nugget in made.nuggets:
        if nugget.name not in told:
            sides = _sides(plain_value(nugget.before), plain_value(nugget.after))
            changes.append(whole | _named("nugget", _action(nugget), nugget.name, nugget=nugget.name) | sides)
    for mend in made.mends:
        # A file that was made sound, or, kind "undo", put back as it was.
        before: dict[str, Any] = {"sha256": mend.before, "kept": f"quarantine/{mend.kept}"}
        versions = [before, {"sha256": mend.after, "kept": None}]
        versions = versions[::-1] if made.kind == "undo" else versions
        changes.append(whole | _named("file", "changed", mend.path) | _sides(*versions))
    # Incoming is what waits, current what is in the file.
    names = "what code where field base incoming=ours current=theirs"
    return pick(
        entry, "id state undone", author=made.author.name or made.author.kind, authorKind=made.author.kind,
        about=made.about or None, changes=changes, conflict=pick(conflict, names) if conflict is not None else None,
    ) | pick(made, "at reason kind")  # fmt: skip


def _without_credentials(entry: Entry) -> Entry:
    """An entry with what looks like a credential in its notes and facts masked, wherever it says it."""
    from core.model.masks import Masks
    from core.model.secrets import secrets_of, secrets_of_fact

    made, conflict = entry.change_set, entry.conflict
    notes = [side for one in made.notes for side in (one.before, one.after) if side is not None]
    facts = [side for one in made.facts for side in (one.before, one.after) if side is not None]
    held = [*chain.from_iterable(map(secrets_of, notes)), *chain.from_iterable(map(secrets_of_fact, facts))]
    if not held:
        return entry
    masks = Masks(held)
    told = masks.conflict(conflict) if conflict is not None else None
    return msgspec.structs.replace(entry, change_set=masks.change_set(made), conflict=told)


def _change(part: ChangeSet) -> dict[str, Any]:
    """What a part is about: its first note, else its fact, else its file."""
    verb = deeds_of(part)[0].verb
    action = _ACTIONS.get(verb, verb)
    if part.notes:
        change, note = part.notes[0], part.notes[0].note
        named = _named("fact" if note.is_fact else "note", action, note.title, note.id, note.nugget_name)
        sides = (None if side is None else to_file_dict(side) for side in (change.before, change.after))
        return named | {"key": note.key if note.is_fact else None} | _sides(*sides)
    if part.facts:
        fact = part.facts[0]
        key = fact.after.key if fact.after is not None else fact.key
        named = _named("fact", action, key, nugget=fact.nugget)
        return named | {"key": key} | _sides(plain_value(fact.before), plain_value(fact.after))
    file = part.files[0]
    texts = (
        None if data is None else {"content": data.decode("utf-8", "replace")}
        for data in (file.before, file.after)
    )
    return _named("file", _action(file), file.path) | _sides(*texts)


def _named(
    what: str, action: str, title: str, note_id: str | None = None, nugget: str | None = None
) -> dict[str, Any]:
    named = {"what": what, "action": action, "noteId": note_id, "nuggetName": nugget}
    return named | {"key": None, "title": title}


def _action(change: FileChange | NuggetChange) -> str:
    return "added" if change.before is None else "removed" if change.after is None else "changed"


def _sides(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    """The fields in which two versions differ; whole versions where there is only one."""
    if before is None or after is None:
        return {"fields": list(before or after or ()), "before": before, "after": after}
    missing = object()
    names = [name for name in before | after if before.get(name, missing) != after.get(name, missing)]
    old, new = ({name: side[name] for name in names if name in side} for side in (before, after))
    return {"fields": names, "before": old, "after": new}


# Lines


def log_lines(entries: Iterable[Entry], taken_back: Collection[str]) -> list[Line]:
    """A line for each entry: when, by whom, what was done, its id, what became of it."""
    rows = []
    for entry in map(_without_credentials, entries):
        told, author = deed(entry.change_set), entry.change_set.author
        some = sum(id.startswith(f"{entry.id}.") for id in taken_back)
        mark = warn("undone" if entry.undone else f"{some} undone" if some else "")
        if entry.state == "conflict":
            mark = warn("conflict: waits for you")
        elif entry.state == "settled":
            mark = dim("conflict: resolved")
        quiet = entry.undone or entry.change_set.kind == "hit"
        rows.append(
            (
                dim(local_time(entry.change_set.at)),
                Span(shorten(str(author), _AUTHOR_WIDTH), "bold" if author.kind == "person" else ""),
                Span(f"{told.verb} {told.what}", "dim" if quiet else ""),
                dim(entry.id),
                mark,
            )
        )
    return table(rows, flexible=2)


def verbose_lines(entries: Iterable[Entry], taken_back: Collection[str], title_of: TitleOf) -> Iterator[Line]:
    """Every entry in full: its line, its reason, and each of its changes under the id that takes it back alone."""
    entries = [*map(_without_credentials, entries)]
    for entry, head in zip(entries, log_lines(entries, taken_back), strict=True):
        yield head
        made = entry.change_set
        told = deed(made)
        # Why it was done, unless that says no more than what was done.
        if made.reason and made.reason.replace("'", "") != f"{told.verb} {told.what}".replace("'", ""):
            yield dim(f"  {made.reason}")
        if entry.conflict is not None:
            yield from _indented(conflict_lines(entry.conflict), "  ")
        alone = change_parts(made)
        for part in alone:
            for difference in change_lines(part, title_of):
                yield from _difference_lines(difference, part.id if len(alone) > 1 else "")
        for mend in made.mends:
            yield from _difference_lines(mend_lines(mend, made.kind))
        yield ""


def _difference_lines(lines: Sequence[DiffLine], id: str = "") -> Iterator[Line]:
    """A difference, indented and coloured; `id` stands behind its heading."""
    for line in lines:
        text = line.text.expandtabs(4)
        is_head = line.sign == "#"
        shown = Span(
            text if line.sign in ("#", "~", "@") else f"{line.sign} {text}", _STYLES.get(line.sign, "dim")
        )
        yield ("  " if is_head else "    ", shown, dim(f"  {id}" if is_head and id else ""))


def conflict_lines(conflict: Conflict, names: tuple[str, str] = ("incoming", "current")) -> Iterator[Line]:
    """What was changed on both sides, and its three versions. names: what `ours` and `theirs` are called."""
    yield warn(f"{f'{conflict.where}: ' if conflict.where else ''}{conflict.what}")
    before, ours, theirs = ("before", conflict.base, dim), (names[0], conflict.ours, good), conflict.theirs
    width = max(len("before"), *map(len, names))
    for name, value, style in (before, ours, (names[1], theirs, bad)):
        lines = value.split("\n") if value else ["(nothing)"]
        for number, line in enumerate(lines[:_VALUE_LINES]):
            yield (dim(f"  {'' if number else name:{width}}  "), style(line))
        if len(lines) > _VALUE_LINES:
            yield dim(f"          … {plural(len(lines) - _VALUE_LINES, 'more line')}")


def waiting_lines(entry: Entry) -> Iterator[Line]:
    """The versions of a conflict that waits, and which is whose."""
    if entry.conflict is not None:
        yield from conflict_lines(entry.conflict)
        who = entry.change_set.author
        yield dim(f"  incoming: {who}'s change, which waits; current: what the files hold now")


def _indented(lines: Iterable[Line], indent: str) -> Iterator[Line]:
    for line in lines:
        yield (indent, *((line,) if isinstance(line, str | Span) else line))


def pending_conflict_lines(conflicts: Sequence[Entry], *, whole: bool = False) -> Iterator[Line]:
    """Conflicts that wait for a person, and how to settle one. whole: with their versions."""
    if not conflicts:
        return
    yield warn(f"{plural(len(conflicts), 'conflict waits', 'conflicts wait')} for your decision:")
    for entry in map(_without_credentials, conflicts):
        told = deed(entry.change_set)
        yield ("  ", bold(entry.id), f"  {entry.change_set.author}: {told.verb} {told.what}")
        if whole:
            yield from _indented(waiting_lines(entry), "    ")
    yield f"To see and resolve it: nuggets resolve {conflicts[0].id if len(conflicts) == 1 else 'ID'}"


def preview_lines(made: ChangeSet) -> list[Line]:
    """What a change set would do: a line for each of the first things, and how many more there are."""
    deeds = deeds_of(made)
    rows = [(dim(participle(told.verb)), bold(told.what), dim(told.note_id)) for told in deeds[:_PREVIEWED]]
    more = [dim(f"and {len(deeds) - _PREVIEWED:,} more")] if len(deeds) > _PREVIEWED else []
    return [*table(rows, flexible=1), *more]
