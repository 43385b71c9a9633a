"""Dialogs in which one row of a list is chosen, and one for a setting whose value is typed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from core.daily import lines_of
from core.errors import InvalidInputError
from core.model.change import ChangeSet
from core.promotion import PromotionResult
from core.search.completion import offers_of
from core.settings.tree import checked_setting
from nuggets_tui.file_opening import Found
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.typed import FieldsDialog
from nuggets_tui.setting_words import SETTING_WORDS, explain_setting, read_value, typed_value
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, path_line, sides
from nuggets_tui.words import data_size, local_time, plural, time_ago

if TYPE_CHECKING:
    from core.memory import Backup, PromotionTarget
    from core.model.note import Link, Note
    from core.model.snapshot import Snapshot
    from nuggets_tui.widgets.note_view import Neighbour

_NAME, _PATH = 60, 70
HIDE: Final = "hide"
SHOW: Final = "show"
ANOTHER: Final = "another folder"
_ANSWERS: Final = (
    ("project", "Yes, for this project", "each daily pass writes this MEMORY.md only"),
    ("always", "Always", "each daily pass writes every MEMORY.md you promoted to"),
    ("never", "Never", "you promote by hand"),
    (SHOW, "Show me the lines first", "and ask again later"),
)


class ChoiceScreen(Dialog[str]):
    """Answers with the key of the chosen row. said: what comes of choosing. does: what enter does."""

    said = ""

    def __init__(
        self,
        rows: Sequence[Row],
        heading: str = "",
        said: str = "",
        does: str = "",
        empty: Content | str = "",
    ) -> None:
        super().__init__(classes="large")
        self._rows = rows
        self._empty = empty
        self.heading = heading or self.heading
        self.said = said or self.said
        if does:
            self.keys = f"⏎  {does} · ↑↓  move · esc  close"

    def compose_inside(self) -> ComposeResult:
        yield Static(content(self.said, MUTED), classes="words")
        yield RowList(self._rows, id="choices", empty_text=self._empty)

    def on_mount(self) -> None:
        self.query_one(RowList).focus()

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.dismiss(event.row.key)


def _row(key: str, left: str, right: str) -> Row:
    return Row(key, (sides(content(left), content(right, MUTED)),))


def tag_choice(tags: Sequence[str], snapshot: Snapshot, team: Snapshot | None) -> ChoiceScreen:
    """Answers with one of some tags."""
    counts = dict(offers_of(snapshot, team)["tag"])
    rows = [_row(tag, tag, plural(counts.get(tag, 0), "note")) for tag in tags]
    said = "A click on a tag of a note lists its notes, too."
    return ChoiceScreen(rows, "List the notes with which tag?", said, "list")


def project_choice(projects: Mapping[str, str], snapshot: Snapshot) -> ChoiceScreen:
    """Answers with one of some projects."""
    counts = Counter(projects.get(note.nugget_name, "") for note in snapshot.visible)
    nuggets: dict[str, list[str]] = {}
    for nugget, project in projects.items():
        nuggets.setdefault(project, []).append(nugget)
    rows = []
    for name in sorted(nuggets):
        others = cut(", ".join(one for one in nuggets[name] if one != name), _NAME)
        rows.append(_row(name, name, plural(counts[name], "note") + (f" · {others}" if others else "")))
    said = "A project owns the nuggets first written from it, and those that have its name."
    return ChoiceScreen(rows, "Show notes of which project?", said, "list")


def link_choice(note: Note, links: Sequence[tuple[Note, Link]]) -> ChoiceScreen:
    """Answers with the place of one of a note's links."""
    rows = [
        _row(str(place), other.title, cut(link.reason, _NAME)) for place, (other, link) in enumerate(links)
    ]
    heading = f'Unlink "{safe_line(note.title, _NAME)}" from'
    return ChoiceScreen(rows, heading, "You can undo it.", "unlink")


def neighbour_choice(shown: Note, other: Note, neighbour: Neighbour) -> ChoiceScreen:
    """Answers with HIDE, or anything else to remove the link alone, where there is one."""
    hide = (
        ("Bring it back", "into search and recall") if other.hidden else ("Hide it", "from search and recall")
    )
    rows = [Row(HIDE, (content(hide[0], "bold"), content(hide[1], MUTED)))]
    if neighbour.suggestion is None:
        unlink = f'Unlink it from "{safe_line(shown.title, _NAME)}"'
        reason = content(cut(neighbour.reason, _PATH), MUTED)
        rows.insert(0, Row("unlink", (content(unlink, "bold"), reason)))
    return ChoiceScreen(rows, safe_line(other.title, _NAME), "You can undo it.", "choose")


def automatic_choice(result: PromotionResult) -> ChoiceScreen:
    """Answers as `core.daily.answer_promotion` takes it, or SHOW."""
    lines = plural(lines_of(result), "line")
    said = f"The daily pass can write often recalled notes to MEMORY.md: now {lines} of {safe_line(result.path)}."
    rows = [Row(key, (content(answer), content(more, MUTED))) for key, answer, more in _ANSWERS]
    return ChoiceScreen(rows, "Promote with the daily pass?", said, "choose")


def backup_choice(backups: tuple[Backup, ...], now: datetime) -> ChoiceScreen:
    """Answers with the name of the chosen backup."""
    rows = []
    for backup in backups:
        when = Content.assemble(
            (local_time(backup.at), "bold"), (f"  {time_ago(backup.at, now) or 'now'}", MUTED)
        )
        about = content(f"{backup.reason} · {data_size(backup.size)}", MUTED)
        rows.append(Row(backup.name, (sides(when, about),)))
    said = "You see a preview first. Nothing is written until you apply it."
    return ChoiceScreen(rows, "Go back to a backup", said, "preview")


def file_choice(named: Sequence[Found]) -> ChoiceScreen:
    """Answers with the place of a reference among those given; those that are there come first."""
    rows = []
    for place in sorted(range(len(named)), key=lambda place: named[place].path is None):
        path, name = named[place].path, cut(str(named[place].reference), _NAME)
        style, there = ("", cut(_shortened(path), _PATH)) if path is not None else (MUTED, "not found")
        rows.append(Row(str(place), (sides(content(name, style), content(there, MUTED)),)))
    said = "Files named in the note."
    if any(one.surprising for one in named):
        said = "Files named in the note. Some are outside the folder where you started the app."
    screen = ChoiceScreen(rows, "Open which file?", said, "open in $EDITOR")
    screen.about = (
        "A relative path is looked up in the folder where you started the app, then in its repository's root."
    )
    return screen


def _shortened(path: Path) -> str:
    home = os.path.expanduser("~")
    spelled = str(path)
    return f"~{spelled[len(home) :]}" if home != "/" and spelled.startswith(f"{home}{os.sep}") else spelled


def target_choice(targets: tuple[PromotionTarget, ...], now: datetime) -> ChoiceScreen:
    """Answers with the chosen file's folder, or ANOTHER. Those whose folder is gone are told and cannot be chosen.
    targets: the present project first, then those written to last.
    """
    another = Row(ANOTHER, (content("Another folder …", "bold"), Content("")))
    said = "MEMORY.md is the page that an agent reads when it starts. You see a preview before anything is written."
    rows = [*(_target_row(target, now) for target in targets), another]
    return ChoiceScreen(rows, "Promote: to which MEMORY.md?", said, "preview")


def _target_row(target: PromotionTarget, now: datetime) -> Row:
    folder = Path(target.path).parent
    name = Path(target.cwd).name if target.cwd else folder.name
    title = content(name or str(folder), "bold" if target.there else MUTED)
    if not target.there:
        said = content("not possible: its folder no longer exists", "$text-warning")
    else:
        said = content("the current project" if target.current else "", "$text-success")
    promoted = f"{plural(target.count, 'note')} promoted {time_ago(target.at, now)}"
    written = promoted if target.at else "nothing promoted yet"
    head = sides(title, Content.assemble(said, content(f"  {written}", MUTED)))
    return Row(str(folder), (head, path_line(target.path)), target.there)


class SettingScreen(FieldsDialog[ChangeSet]):
    """A field for the value; it stays open, and says why, while the value is one that the setting cannot have."""

    not_saved = "The setting is unchanged. What you typed is still here."
    keys = "⏎  save · esc  close"

    def __init__(self, name: str, value: Any, save: Callable[[Any], Awaitable[ChangeSet]]) -> None:
        super().__init__(classes="small")
        self.heading = SETTING_WORDS[name]
        self._setting = name
        self._value = typed_value(value)
        self._save_value = save

    def compose_inside(self) -> ComposeResult:
        yield Static(content(explain_setting(self._setting)), classes="words")
        yield Field(f"{self._setting} in settings.toml", self._value, id="value")

    def on_mount(self) -> None:
        self.query_one("#value", Input).focus()

    @property
    def begun(self) -> Mapping[str, str]:
        return {"value": self._value}

    async def saved(self) -> ChangeSet:
        """Saves the value. Raises InvalidInputError for one that the setting cannot have."""
        value = read_value(self._setting, self.values["value"])
        if value is not None:
            try:
                value = checked_setting(self._setting, value)
            except InvalidInputError as error:
                raise InvalidInputError(
                    error.what, code=error.code, where=error.where, kept=error.kept, field="value"
                ) from None
        return await self._save_value(value)


def setting_choice(name: str, choices: Sequence[str], now: str, said: str) -> ChoiceScreen:
    """Answers with one of the words that a setting can be."""
    rows = [
        Row(choice, (sides(content(choice), content("now" if choice == now else "", MUTED)),))
        for choice in sorted(choices, key=lambda choice: choice != now)
    ]
    screen = ChoiceScreen(rows, SETTING_WORDS[name], said, "save")
    screen.set_classes("small setting")
    return screen
