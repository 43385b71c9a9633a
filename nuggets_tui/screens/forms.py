"""Small forms: a new fact, the tags of a note, the folder to promote to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from core.facts.edits import remember
from core.graph.edits import edit_note
from core.model.change import ChangeSet
from core.model.names import DEFAULT_NUGGET
from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.desk import Desk
from nuggets_tui.safe_text import content
from nuggets_tui.screens.confirm import ConfirmScreen, close_if_sure
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.view import own_tags
from nuggets_tui.waiting import Waiting, or_waiting
from nuggets_tui.widgets.fields import Field

Saved = tuple[Note, ChangeSet]
Save = Callable[[dict[str, str]], Awaitable[Saved]]


@dataclass(frozen=True)
class Line:
    """A line of a form."""

    name: str
    label: str
    value: str = ""
    hint: str = ""


class FormScreen(Dialog[Saved | Waiting]):
    """Lines to fill in. It stays open, with everything in it, while saving fails; a conflict waits in the log."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "save", show=False)]
    keys = "ctrl+s  save · tab  next field · esc  close"
    not_saved = "It is not saved; what you typed is still here, and ctrl+s tries again."

    def __init__(self, heading: str, lines: Sequence[Line], save: Save, *, first: str = "") -> None:
        super().__init__(classes="small")
        self.heading = heading
        self._form = tuple(lines)
        self._save_values = save
        self._first = first or lines[0].name

    def compose_inside(self) -> ComposeResult:
        """The lines."""
        for line in self._form:
            yield Field(line.label, line.value, id=line.name, hint=line.hint)

    def on_mount(self) -> None:
        """The cursor goes where typing begins."""
        self.query_one(f"#{self._first}", Input).focus()

    @property
    def values(self) -> dict[str, str]:
        """What stands in the lines."""
        return {line.name: self.query_one(f"#{line.name}", Input).value for line in self._form}

    @on(Input.Submitted)
    def go_on(self, event: Input.Submitted) -> None:
        """Enter goes to the next line, from the last one it saves."""
        event.stop()
        if event.input.id == self._form[-1].name:
            self.action_save()
        else:
            self.focus_next()

    def action_save(self) -> None:
        """Saves."""
        self._save()

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save(self) -> None:
        done = await self.attempt(or_waiting(self._save_values(self.values)))
        if done is not None:
            self.dismiss(done)

    @property
    def unsaved(self) -> bool:
        """Whether a line was changed."""
        return self.values != {line.name: line.value for line in self._form}

    def action_close(self) -> None:
        """Asks first when something was typed."""
        if not self.unsaved:
            self.dismiss(None)
            return
        question = ConfirmScreen("Close without saving?", "What you typed here will be gone.", yes="close")
        close_if_sure(self, question)


def fact_form(desk: Desk, nugget: str) -> FormScreen:
    """The form for a new fact."""

    async def save(values: dict[str, str]) -> Saved:
        edit = partial(remember, nugget=values["nugget"].strip(), key=values["key"], value=values["value"])
        return await desk.change(f"remembered {values['key'].strip()}", edit)

    lines = (
        Line("nugget", "Nugget", nugget or DEFAULT_NUGGET, "a named part of the memory, such as a project"),
        Line("key", "Key", hint="what an agent will ask for, such as: test command"),
        Line("value", "Value", hint="the answer, such as: pytest -q"),
    )
    return FormScreen("Remember a fact", lines, save, first="key")


def tags_form(desk: Desk, base: Snapshot, note: Note) -> FormScreen:
    """The form for a note's tags; nugget, scope and type are tags of their own and stay."""

    async def save(values: dict[str, str]) -> Saved:
        edit = partial(edit_note, id=note.id, tags=split_tags(values["tags"]))
        return await desk.change_from(base, f"tagged {note.title}", edit)

    line = Line("tags", "Tags", " ".join(own_tags(note)), "words, with spaces between them")
    return FormScreen(f"Tags of {note.title}", (line,), save)


def split_tags(text: str) -> list[str]:
    """Tags as typed: parted by spaces or commas."""
    return text.replace(",", " ").split()


class FolderScreen(Dialog[str]):
    """Asks for the folder of MEMORY.md. Answers with it as typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "take", "go on", show=False)]
    heading = "Promote: where is MEMORY.md?"
    keys = "⏎  show what would be written · esc  close"

    def __init__(self, folder: str) -> None:
        super().__init__(classes="small")
        self._folder = folder

    def compose_inside(self) -> ComposeResult:
        """Why it is asked, and the line."""
        said = (
            "This folder is no project known to Claude Code, and the settings name no folder. "
            "Nothing is written before you have seen it; a folder that is missing is made then."
        )
        yield Static(content(said), classes="words")
        yield Field("Folder of MEMORY.md", self._folder, id="folder", hint="such as: ~/project")

    def on_mount(self) -> None:
        """The cursor goes into the line."""
        self.query_one("#folder", Input).focus()

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        """Enter goes on."""
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        """Closes with the folder, if one was typed."""
        folder = self.query_one("#folder", Input).value.strip()
        if folder:
            self.dismiss(folder)
