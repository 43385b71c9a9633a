"""What a change did, line by line: what went with "-", what came with "+", for the app and the command line alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from core.model.change import ChangeKind, ChangeSet, FactChange, FileChange, FileRepair, NoteChange
from core.model.fact import Fact
from core.model.note import METADATA_FIELDS, Note
from core.model.snapshot import Snapshot
from nuggets_tui.words import facts_alone, plural, refuses_more

# "+" came, "-" went, " " stands around it, "@" leaves lines out, "#" heads what follows, "~" says something about it.
Sign = Literal["+", "-", " ", "@", "#", "~"]
TitleOf = Callable[[str], str]

_FIELD_WORDS: Final = {"content": "text", "hidden": "whether it is hidden", "nugget_name": "nugget"}
_LONGEST: Final = 60_000
_MOST_LINES: Final = 2_000
_CONTEXT: Final = 3
# A place before which nothing is left out.
_FROM_THE_START: Final = re.compile(r"@@ -(?:0,0|1(?:,[1-9]\d*)?) ")


def titles(snapshot: Snapshot) -> TitleOf:
    """Titles of notes for their ids; of a note that is gone, the id itself."""
    notes = snapshot.by_id
    return lambda note_id: notes[note_id].title if note_id in notes else note_id


class DiffLine(NamedTuple):
    """One line of a difference; `text` is as it is stored, to be made safe by whoever shows it."""

    sign: Sign
    text: str


def change_lines(change_set: ChangeSet, title_of: TitleOf = str) -> Iterator[list[DiffLine]]:
    """Everything that a change set does, thing by thing; a fact stands with the note that mirrors it.

    title_of: a note's title for its id.
    """
    for change in change_set.notes:
        yield note_lines(change, title_of=title_of)
    for fact in facts_alone(change_set):
        yield fact_lines(fact)
    for file in change_set.files:
        yield file_lines(file)
    for mend in change_set.mends:
        yield mend_lines(mend, change_set.kind)


def note_lines(
    change: NoteChange, names: Iterable[str] | None = None, *, title_of: TitleOf = str
) -> list[DiffLine]:
    """What happened to one note; `names` narrows it to some fields."""
    before, after = change.before, change.after
    lines = [DiffLine("#", change.note.title)]
    if before is None or after is None:
        sign: Sign = "+" if before is None else "-"
        lines.append(DiffLine(sign, "the whole note"))
        return lines + [DiffLine(sign, line) for line in change.note.content[:_LONGEST].split("\n")]
    wanted = None if names is None else set(names)
    for name in ("title", "hidden", "content", "tags", "links", *METADATA_FIELDS):
        if getattr(before, name) != getattr(after, name) and (wanted is None or name in wanted):
            lines += _field_lines(name, before, after, title_of)
    if len(lines) == 1 and before.hits != after.hits:
        lines.append(_recalls_line(before, after))
    if wanted is None and refuses_more(before, after):
        lines.append(
            DiffLine("~", "a change proposed by reflection is refused and will not be proposed again")
        )
    return lines


def changed_fields(change: NoteChange | FactChange) -> tuple[str, ...]:
    """What of a note or a fact changed, in words a person knows; nothing for one that came or went."""
    before, after = change.before, change.after
    if before is None or after is None:
        return ()
    if isinstance(before, Fact):
        names: tuple[str, ...] = ("key", "value")
    else:
        names = ("title", "content", "tags", "links", "hidden", *METADATA_FIELDS)
    changed = (name for name in names if getattr(before, name) != getattr(after, name))
    return tuple(_FIELD_WORDS.get(name, name) for name in changed)


def _field_lines(name: str, before: Note, after: Note, title_of: TitleOf) -> list[DiffLine]:
    if name == "hidden":
        return [DiffLine("+", "hidden from search and recall" if after.hidden else "brought back")]
    if name == "content":
        return text_lines(before.content, after.content)
    if name in ("tags", "links"):
        old, new = _named(name, before, title_of), _named(name, after, title_of)
        gone = [DiffLine("-", f"{name[:-1]} {each}") for each in old if each not in new]
        return gone + [DiffLine("+", f"{name[:-1]} {each}") for each in new if each not in old]
    return [
        DiffLine("-", f"{name}: {getattr(before, name)}"),
        DiffLine("+", f"{name}: {getattr(after, name)}"),
    ]


def _named(name: str, note: Note, title_of: TitleOf) -> list[str]:
    if name == "tags":
        return list(note.tags)
    return [f'to "{title_of(link.to)}" ({link.reason})' for link in note.links]


def fact_lines(change: FactChange) -> list[DiffLine]:
    """What happened to a fact of which no note is at hand."""
    lines = [DiffLine("#", f"{change.key} (fact of {change.nugget})")]
    before, after = change.before, change.after
    if before is not None and after is not None and before.value == after.value and before.hits != after.hits:
        return [*lines, _recalls_line(before, after)]
    if change.before is not None:
        lines += [DiffLine("-", line) for line in change.before.value[:_LONGEST].split("\n")]
    if change.after is not None:
        lines += [DiffLine("+", line) for line in change.after.value[:_LONGEST].split("\n")]
    return lines


def _recalls_line(before: Note | Fact, after: Note | Fact) -> DiffLine:
    return DiffLine(
        "+" if after.hits > before.hits else "-", f"recalled {after.hits}×, {before.hits}× before"
    )


def file_lines(change: FileChange) -> list[DiffLine]:
    """What happened to a file outside the memory."""
    before = (change.before or b"").decode("utf-8", "replace")
    after = (change.after or b"").decode("utf-8", "replace")
    return [DiffLine("#", change.path), *text_lines(before, after)]


def mend_lines(mend: FileRepair, kind: ChangeKind) -> list[DiffLine]:
    """What happened to a file that could not be read: it was made sound, or, kind "undo", put back as it was."""
    before, after = f"as it was; its bytes are in quarantine/{mend.kept}", "a readable file"
    gone, came = (after, before) if kind == "undo" else (before, after)
    return [DiffLine("#", mend.path), DiffLine("-", gone), DiffLine("+", came)]


def text_lines(before: str, after: str) -> list[DiffLine]:
    """The lines in which two texts differ, with some around them."""
    if len(before) + len(after) > _LONGEST:
        return [DiffLine("~", f"{len(before):,} characters, now {len(after):,}")]
    old, new = (text.split("\n") if text else [] for text in (before, after))
    import difflib

    return unified_lines(list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:])


def unified_lines(lines: Sequence[str]) -> list[DiffLine]:
    """Lines of a unified difference, without its heading."""
    shown: list[DiffLine] = []
    for line in lines[:_MOST_LINES]:
        if line.startswith("@@"):
            if not _FROM_THE_START.match(line):
                shown.append(DiffLine("@", "⋯"))
        elif line.startswith("+"):
            shown.append(DiffLine("+", line[1:]))
        elif line.startswith("-"):
            shown.append(DiffLine("-", line[1:]))
        else:
            shown.append(DiffLine(" ", line[1:]))
    if len(lines) > _MOST_LINES:
        shown.append(DiffLine("~", f"… {plural(len(lines) - _MOST_LINES, 'more line')}"))
    return shown
