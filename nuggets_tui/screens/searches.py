"""The saved searches: run, changed, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from core.model.change import ChangeSet
from core.model.saved_search import SavedSearch
from nuggets_tui.commands import keys_of
from nuggets_tui.notices import notify
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.typed import FieldsDialog
from nuggets_tui.session import Session
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, columns
from nuggets_tui.words import deed, plural

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
