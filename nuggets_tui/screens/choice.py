"""Dialogs in which one row of a list is chosen: a backup, a file, a MEMORY.md, whether passes may write it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from core.daily import lines_of
from core.promotion import PromotionResult
from core.search.completion import offers_of
from nuggets_tui.file_opening import Found
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, cut_middle, sides
from nuggets_tui.words import data_size, local_time, plural, time_ago

if TYPE_CHECKING:
    from core.memory import Backup, PromotionTarget
    from core.model.note import Link, Note
    from core.model.snapshot import Snapshot
    from nuggets_tui.widgets.neighbours import Neighbour


_NAME, _PATH = 60, 70


class ChoiceScreen(Dialog[str]):
    """Answers with the key of the chosen row. `said`: what comes of choosing."""

    said = ""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(classes="large")
        self._rows = rows

    def compose_inside(self) -> ComposeResult:
        yield Static(content(self.said, MUTED), classes="words")
        yield RowList(self._rows, id="choices")

    def on_mount(self) -> None:
        self.query_one(RowList).focus()

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.dismiss(event.row.key)


class TagsScreen(ChoiceScreen):
    """Answers with one of some tags."""

    heading = "List the notes with which tag?"
    keys = "⏎  list · ↑↓  choose · esc  close"
    said = "A click on a tag of a note lists its notes, too."

    def __init__(self, tags: Sequence[str], snapshot: Snapshot, team: Snapshot | None) -> None:
        counts = dict(offers_of(snapshot, team)["tag"])
        super().__init__([_tag_row(tag, counts.get(tag, 0)) for tag in tags])


class ProjectsScreen(ChoiceScreen):
    """Answers with one of some projects."""

    heading = "Show notes of which project?"
    keys = "⏎  list · ↑↓  choose · esc  close"
    said = "A project owns the nuggets first written from it, and those that have its name."

    def __init__(self, projects: Mapping[str, str], snapshot: Snapshot) -> None:
        counts = Counter(projects.get(note.nugget_name, "") for note in snapshot.visible)
        nuggets: dict[str, list[str]] = {}
        for nugget, project in projects.items():
            nuggets.setdefault(project, []).append(nugget)
        super().__init__([_project_row(name, nuggets[name], counts[name]) for name in sorted(nuggets)])


def _project_row(name: str, nuggets: Sequence[str], count: int) -> Row:
    others = ", ".join(one for one in nuggets if one != name)
    said = f"{plural(count, 'note')}{f' · {cut(others, _NAME)}' if others else ''}"
    return Row(name, (sides(content(name), content(said, MUTED)),))


def _tag_row(tag: str, count: int) -> Row:
    return Row(tag, (sides(content(tag), content(plural(count, "note"), MUTED)),))


class LinksScreen(ChoiceScreen):
    """Answers with the place of one of a note's links."""

    keys = "⏎  unlink · ↑↓  choose · esc  close"
    said = "You can undo it."

    def __init__(self, note: Note, links: Sequence[tuple[Note, Link]]) -> None:
        self.heading = f'Unlink "{safe_line(note.title, _NAME)}" from'
        super().__init__(
            [
                Row(str(place), (sides(content(other.title), content(cut(link.reason, _NAME), MUTED)),))
                for place, (other, link) in enumerate(links)
            ]
        )


HIDE: Final = "hide"


class NeighbourScreen(ChoiceScreen):
    """Answers with HIDE, or anything else to remove the link alone, where there is one."""

    keys = "⏎  choose · ↑↓  move · esc  close"
    said = "You can undo it."

    def __init__(self, shown: Note, other: Note, neighbour: Neighbour) -> None:
        self.heading = safe_line(other.title, _NAME)
        unlink = f'Unlink it from "{safe_line(shown.title, _NAME)}"'
        hide = (
            ("Bring it back", "into search and recall")
            if other.hidden
            else ("Hide it", "from search and recall")
        )
        rows = [Row(HIDE, (content(hide[0], "bold"), content(hide[1], MUTED)))]
        if neighbour.suggestion is None:
            reason = content(cut(neighbour.reason, _PATH), MUTED)
            rows.insert(0, Row("unlink", (content(unlink, "bold"), reason)))
        super().__init__(rows)


SHOW = "show"
_ANSWERS = (
    ("project", "Yes, for this project", "each daily pass writes this MEMORY.md only"),
    ("always", "Always", "each daily pass writes every MEMORY.md you promoted to"),
    ("never", "Never", "you promote by hand"),
    (SHOW, "Show me the lines first", "and ask again later"),
)


class AutomaticScreen(ChoiceScreen):
    """Answers as `core.daily.answer_promotion` takes it, or SHOW."""

    heading = "Promote with the daily pass?"
    keys = "⏎  choose · ↑↓  move · esc  not now"

    def __init__(self, result: PromotionResult) -> None:
        lines = plural(lines_of(result), "line")
        self.said = (
            f"The daily pass can write often recalled notes to MEMORY.md: now {lines} of "
            f"{safe_line(result.path)}."
        )
        super().__init__([Row(key, (content(said), content(more, MUTED))) for key, said, more in _ANSWERS])


class BackupsScreen(ChoiceScreen):
    """Answers with the name of the chosen backup."""

    heading = "Go back to a backup"
    keys = "⏎  preview · ↑↓  choose · esc  close"
    said = "You see a preview first. Nothing is written until you apply it."

    def __init__(self, backups: tuple[Backup, ...], now: datetime) -> None:
        super().__init__([_row(backup, now) for backup in backups])


def _row(backup: Backup, now: datetime) -> Row:
    when = Content.assemble(
        (local_time(backup.at), "bold"), (f"  {time_ago(backup.at, now) or 'now'}", MUTED)
    )
    said = content(f"{backup.reason} · {data_size(backup.size)}", MUTED)
    return Row(backup.name, (sides(when, said),))


class FilesScreen(ChoiceScreen):
    """Answers with the place of a reference among those given."""

    heading = "Open which file?"
    about = (
        "A relative path is looked up in the folder where you started the app, then in its repository's root."
    )
    keys = "⏎  open in $EDITOR · esc  close"

    def __init__(self, named: Sequence[Found]) -> None:
        # Those that are there come first, otherwise as the note has them.
        order = sorted(range(len(named)), key=lambda place: named[place].path is None)
        super().__init__([Row(str(place), (_file_row(named[place]),)) for place in order])
        self.said = "Files named in the note."
        if any(one.surprising for one in named):
            self.said = "Files named in the note. Some are outside the folder where you started the app."


def _file_row(found: Found) -> Callable[[int], Content]:
    if found.path is None:
        return sides(content(cut(str(found.reference), _NAME), MUTED), content("not found", MUTED))
    return sides(
        content(cut(str(found.reference), _NAME)), content(cut(_shortened(found.path), _PATH), MUTED)
    )


def _shortened(path: Path) -> str:
    home = os.path.expanduser("~")
    spelled = str(path)
    return f"~{spelled[len(home) :]}" if home != "/" and spelled.startswith(f"{home}{os.sep}") else spelled


ANOTHER: Final = "another folder"


class TargetsScreen(ChoiceScreen):
    """Answers with the chosen file's folder, or ANOTHER. Those whose folder is gone are told and cannot be chosen."""

    heading = "Promote: to which MEMORY.md?"
    keys = "⏎  preview · ↑↓  choose · esc  close"
    said = "MEMORY.md is the page that an agent reads when it starts. You see a preview before anything is written."

    def __init__(self, targets: tuple[PromotionTarget, ...], now: datetime) -> None:
        """`targets`: the present project first, then those written to last."""
        another = Row(ANOTHER, (content("Another folder …", "bold"), Content("")))
        super().__init__([*(_target_row(target, now) for target in targets), another])


def _target_row(target: PromotionTarget, now: datetime) -> Row:
    folder = Path(target.path).parent
    name = Path(target.cwd).name if target.cwd else folder.name
    title = content(name or str(folder), "bold" if target.there else MUTED)
    if not target.there:
        said = content("not possible: its folder no longer exists", "$text-warning")
    elif target.current:
        said = content("the current project", "$text-success")
    else:
        said = Content("")
    promoted = f"{plural(target.count, 'note')} promoted {time_ago(target.at, now)}"
    written = promoted if target.at else "nothing promoted yet"
    head = sides(title, Content.assemble(said, content(f"  {written}", MUTED)))
    return Row(
        str(folder), (head, lambda width: content(cut_middle(target.path, width - 1), MUTED)), target.there
    )
