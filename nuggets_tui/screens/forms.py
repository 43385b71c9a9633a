"""Small forms: a new fact, the tags of a note, a folder, a moment to look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.events import DescendantBlur
from textual.widgets import Input

from core.facts.edits import remember
from core.graph.edits import edit_note
from core.model.change import ChangeSet
from core.model.names import DEFAULT_NUGGET
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.text.normalise import normalise_content, squeeze
from nuggets_tui.cli.moments import moment
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import AskScreen, as_typed
from nuggets_tui.screens.typed import FieldsDialog, split_tags
from nuggets_tui.session import PendingConflict, Session, or_pending_conflict
from nuggets_tui.view import own_tags
from nuggets_tui.widgets.fields import (
    CompletedField,
    Field,
    Offer,
    key_offers,
    nugget_offers,
    tag_offers,
)

Saved = tuple[Note, ChangeSet]
Save = Callable[[dict[str, str]], Awaitable[Saved]]


@dataclass(frozen=True)
class Line:
    """A line of a form. offers_for: what may follow a text typed into it, given what stands in all lines."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    offers_for: Callable[[str, Mapping[str, str]], Sequence[Offer]] | None = None


class FormScreen(FieldsDialog[Saved | PendingConflict]):
    """Lines to fill in; a conflict waits in the log."""

    not_saved = "It is not saved. What you typed is still here; ctrl+s tries again."

    def __init__(
        self,
        heading: str,
        lines: Sequence[Line],
        save: Save,
        *,
        first: str = "",
        remarks: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None,
    ) -> None:
        """`remarks`: what is worth knowing of what stands in the lines, by their names."""
        super().__init__(classes="small")
        self.heading = heading
        self._form = tuple(lines)
        if len(self._form) == 1:
            self.keys = "⏎  save · esc  close"
        self._save_values = save
        self._first = first or lines[0].name
        self._remarks = remarks
        self._now: Mapping[str, str] = {}

    def compose_inside(self) -> ComposeResult:
        for line in self._form:
            if line.offers_for is None:
                yield Field(line.label, line.value, id=line.name, hint=line.hint)
            else:
                offers_for = partial(self._offers, line.offers_for)
                yield CompletedField(
                    line.label, line.value, id=line.name, hint=line.hint, offers_for=offers_for
                )

    def _offers(
        self, offers_for: Callable[[str, Mapping[str, str]], Sequence[Offer]], typed: str
    ) -> Sequence[Offer]:
        return offers_for(typed, self._now)

    @on(Input.Changed)
    def note_values(self) -> None:
        self._now = self.values

    def on_mount(self) -> None:
        self._now = self.values
        self.query_one(f"#{self._first}", Input).focus()

    @property
    def begun(self) -> Mapping[str, str]:
        """What stood in the lines at first."""
        return {line.name: line.value for line in self._form}

    @on(DescendantBlur)
    def remark(self) -> None:
        for name, said in (self._remarks(self.values) if self._remarks is not None else {}).items():
            self.query_one(f"#{name}", Field).remark(content(said, "$text-warning"))

    async def saved(self) -> Saved | PendingConflict:
        return await or_pending_conflict(self._save_values(self.values))


def fact_form(
    session: Session,
    nugget: str,
) -> FormScreen:
    async def save(values: dict[str, str]) -> Saved:
        edit = partial(remember, nugget=values["nugget"].strip(), key=values["key"], value=values["value"])
        return await session.change(f"remembered {values['key'].strip()}", edit)

    def known(values: Mapping[str, str]) -> Mapping[str, str]:
        holder = session.snapshot.by_name.get(values["nugget"].strip() or DEFAULT_NUGGET)
        found = holder.find(squeeze(values["key"])) if holder is not None and values["key"].strip() else None
        if found is None or normalise_content(values["value"]) == found[1].value:
            return {"key": ""}
        return {"key": f"now: {safe_line(found[1].value, 24)} · saving replaces it"}

    lines = (
        Line(
            "nugget",
            "Nugget",
            nugget or DEFAULT_NUGGET,
            "a collection of facts and notes, such as a project",
            lambda text, values: nugget_offers(session.snapshot, text),
        ),
        Line(
            "key",
            "Key",
            hint="what an agent will ask for, such as: test command",
            offers_for=lambda text, values: key_offers(session.snapshot, values["nugget"].strip(), text),
        ),
        Line("value", "Value", hint="the answer, such as: pytest -q"),
    )
    return FormScreen("Remember a fact", lines, save, first="key", remarks=known)


def tags_form(
    session: Session,
    base: Snapshot,
    note: Note,
) -> FormScreen:
    """The form for a note's tags; nugget, scope and type are tags of their own and stay."""

    async def save(values: dict[str, str]) -> Saved:
        edit = partial(edit_note, id=note.id, tags=split_tags(values["tags"], note.tags))
        return await session.change_from(base, f"tagged {note.title}", edit)

    line = Line(
        "tags",
        "Tags",
        # The next word begins where the cursor is.
        "".join(f"{tag} " for tag in own_tags(note)),
        "words separated by spaces",
        lambda text, values: tag_offers(base, text),
    )
    return FormScreen(f'Tags of "{note.title}"', (line,), save)


def folder_screen(folder: str) -> AskScreen[str]:
    """Asks for the folder of MEMORY.md."""
    said = (
        "MEMORY.md is the page that an agent reads when it starts. Claude Code has no project for the folder you "
        "started in, and the settings name no other. Type the folder of your MEMORY.md; one that is missing is "
        "created. You see a preview first."
    )
    return AskScreen(
        "Promote: to which MEMORY.md?", said, "Folder of MEMORY.md", as_typed,
        value=folder, hint="such as: ~/project", does="preview",
    )  # fmt: skip


def moment_screen(now: datetime) -> AskScreen[datetime]:
    """Asks for a moment, as `nuggets restore` takes it."""

    async def read(text: str) -> datetime:
        return moment(text, now.astimezone(), end_of_day=True)

    said = (
        "A day (2026-11-20 means its end), a time (2026-11-20 14:30 or 14:30), an age (2h, 3d), or yesterday."
    )
    return AskScreen("Look back to when?", said, "Moment", read, hint="such as: yesterday", does="go there")
