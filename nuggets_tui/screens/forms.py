"""Small forms: a new fact, the tags of a note, a folder, a moment to look at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar, Final, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import DescendantBlur
from textual.widgets import Input, Static

from core.facts.edits import remember
from core.graph.edits import edit_note
from core.model.change import ChangeSet
from core.model.names import DEFAULT_NUGGET
from core.model.note import Note
from core.model.saved_search import SavedSearch
from core.model.snapshot import Snapshot
from core.text.normalise import normalise_content, squeeze
from nuggets_tui.cli.moments import moment
from nuggets_tui.commands import keys_of
from nuggets_tui.listing import own_tags
from nuggets_tui.notices import notify
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import AskScreen, Dialog, as_typed
from nuggets_tui.screens.typed import FieldsDialog, split_tags
from nuggets_tui.session import PendingConflict, Session, or_pending_conflict
from nuggets_tui.widgets.fields import (
    CompletedField,
    Field,
    Offer,
    key_offers,
    nugget_offers,
    tag_offers,
)
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, columns
from nuggets_tui.words import deed, plural

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


_EMPTY: Final = "No saved searches yet.\nSearch for something, then {keep_search} saves the search."
_NAME: Final = 28


class SearchesAnswer(NamedTuple):
    """What is to happen next: a query to run, or nothing but that something was written."""

    query: str = ""
    written: bool = False


class SearchesScreen(Dialog[SearchesAnswer]):
    """The saved searches. enter runs one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", show=False),
        Binding("x", "delete", "delete", show=False),
        Binding("s", "mark", "select", show=False),
        Binding("u", "undo", "undo", show=False),
        Binding("Q,q", "close", "close", show=False),
    ]
    heading = "Saved searches"
    keys = "⏎  search · e  change · s  select · x  delete · u  undo · esc  close"

    def __init__(self, session: Session) -> None:
        super().__init__(classes="large")
        self._session = session
        self._searches: tuple[SavedSearch, ...] = ()
        self._written = False
        # Ids of the entries that were written here and are not taken back, the latest last.
        self._done: list[str] = []

    def compose_inside(self) -> ComposeResult:
        yield Static(id="searches-said", classes="headline")
        yield RowList(id="choices", empty_text=keys_of(self).filled(_EMPTY), multi_select=True)

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self.read()

    @work(group="read", exclusive=True, exit_on_error=False)
    async def read(self) -> None:
        found = await self.attempt(asyncio.to_thread(lambda: self._session.memory.searches.all))
        if found is None or not self.is_mounted:
            return
        self._searches = found
        self._show()

    def _show(self) -> None:
        ordered = self._searches
        rows = self.query_one(RowList)
        # Until the cursor is moved it stays on the first, whichever that comes to be.
        rows.set_source(
            len(ordered),
            lambda place: _row(ordered[place]),
            key_at=lambda place: ordered[place].name,
            mark_at=lambda place: ordered[place].name,
            keep_cursor=rows.cursor > 0,
        )
        said = Content.styled(plural(len(self._searches), "search", "searches"), "bold")
        self.query_one("#searches-said", Static).update(said)

    @property
    def _under_cursor(self) -> SavedSearch | None:
        row = self.query_one(RowList).cursor_row
        return next((one for one in self._searches if row is not None and one.name == row.key), None)

    @on(RowList.RowSelected)
    def run_one(self, event: RowList.RowSelected) -> None:
        event.stop()
        search = self._under_cursor
        if search is not None:
            self.dismiss(SearchesAnswer(search.query, self._written))

    def action_mark(self) -> None:
        self.query_one(RowList).action_toggle_row()

    def action_close(self) -> None:
        self.dismiss(SearchesAnswer(written=self._written))

    def action_edit(self) -> None:
        search = self._under_cursor
        if search is None:
            return
        self.app.push_screen(SaveSearchScreen(self._session, search.query, search), self._edited)

    def _edited(self, done: ChangeSet | None) -> None:
        if done is not None and not done.empty:
            self._written = True
            self._done.append(done.id)
            self.read()

    @work(group="write", exclusive=True, exit_on_error=False)
    async def action_delete(self) -> None:
        rows, search = self.query_one(RowList), self._under_cursor
        names = sorted(rows.selected) or ([search.name] if search is not None else [])
        if not names:
            return
        done = await self.attempt(asyncio.to_thread(self._session.memory.searches.delete, names))
        if done is not None:
            rows.select(())
            one = (
                f'"{safe_line(names[0], 40)}"'
                if len(names) == 1
                else plural(len(names), "search", "searches")
            )
            notify(self, f"Deleted {one}. u undoes it.")
            self._edited(done)

    @work(group="write", exclusive=True, exit_on_error=False)
    async def action_undo(self) -> None:
        if not self._done:
            notify(self, "There is nothing to undo here.")
            return
        done = await self.attempt(self._session.write(self._session.memory.history.undo, self._done[-1]))
        if done is not None:
            self._done.pop()
            report_progress = deed(done)
            notify(self, f"{report_progress.verb.capitalize()} {safe_line(report_progress.what, 200)}.")
            self.read()


def _row(search: SavedSearch) -> Row:
    name, query = content(search.name, "bold"), content(search.query, MUTED)
    return Row(search.name, (columns(name, query, Content(""), wanted=_NAME, share=0.3),))


class SaveSearchScreen(FieldsDialog[ChangeSet]):
    """Keeps a search under a name."""

    not_saved = "It is not saved. What you typed is still here; enter tries again."
    keys = "⏎  save · tab  next field · esc  close"

    def __init__(self, session: Session, query: str, former: SavedSearch | None = None) -> None:
        """former: the saved search that is changed."""
        super().__init__(classes="small")
        self.heading = "Save this search" if former is None else f'The saved search "{former.name}"'
        self._session = session
        self._former = former or SavedSearch(query, query)
        self._editing = former is not None

    def compose_inside(self) -> ComposeResult:
        begun = self.begun
        yield Field("Name", begun["name"], id="name")
        yield Field("Search", begun["query"], id="query")

    def on_mount(self) -> None:
        name = self.query_one("#name", Input)
        name.focus()
        name.select_all()

    @on(Input.Submitted)
    def go_on(self, event: Input.Submitted) -> None:
        event.stop()
        # Not the next field, as in longer forms.
        event.prevent_default()
        self.action_save()

    @property
    def begun(self) -> Mapping[str, str]:
        """What stood in the fields at first."""
        former = self._former
        return {"name": former.name[:100], "query": former.query}

    async def saved(self) -> ChangeSet:
        values = self.values
        search = SavedSearch(values["name"], values["query"])
        former = self._former.name if self._editing else ""
        return await asyncio.to_thread(self._session.memory.searches.save, search, former)
