"""What Inbox and Pipeline share: lists above each other, beside them what a row is about, and undo."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar, Final, NamedTuple

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.widgets import Static

from core.errors import NuggetsError
from nuggets_tui.notices import notify, notify_error
from nuggets_tui.pipeline_session import PipelineSession, PipelineView
from nuggets_tui.pipeline_status import STATUS_ICONS
from nuggets_tui.screens.dialog import Dialog, key_content
from nuggets_tui.screens.help import Here
from nuggets_tui.session import Session
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.row_list import Row, RowList

_EVERY: Final = 1.0
# Times on screen are told anew after so many looks at which nothing had changed.
_AGES: Final = 5
# Lines of the stack below which the lists without the cursor show their title alone.
_ROOMY: Final = 26
_KEPT: Final = 200
_STALE: Final = object()


class ListOf(NamedTuple):
    """One list. about: the title of what its row is about. keys: of its line, as `key_content` takes them."""

    title: str
    about: str
    empty: str
    keys: str


class ListsScreen(Dialog[None]):
    """Reads once a second while it is open. The list in use has the most room.

    news: told after each decision that may have changed the memory.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "list_beside(1)", show=False),
        Binding("left", "list_beside(-1)", show=False),
        Binding("tab", "switch", show=False, priority=True),
        Binding("u", "undo", show=False),
        Binding("q", "close", show=False),
    ]
    LISTS: ClassVar[Mapping[str, ListOf]]
    HERE: ClassVar[Here]
    # Ids of lists whose rows can be selected.
    MULTI: ClassVar[frozenset[str]] = frozenset()

    said = getters.query_one("#lists-said", Static)
    details_view = getters.query_one("#details", LineView)

    def __init__(self, pipeline: PipelineSession, session: Session, news: Callable[[], None]) -> None:
        super().__init__(classes="full lists")
        self.pipeline = pipeline
        self.session = session
        self.now_shown: PipelineView | None = None
        self.news = news
        self.open_list = next(iter(self.LISTS))
        # What takes back what was done here, the latest last; each says what became of it, "" where it failed.
        self.undoing: list[Callable[[], Awaitable[str]]] = []
        self._chosen = False
        self._same = self._reading = 0
        self._trouble: tuple[object, ...] = ()
        # What was read for the details, by the row that it is about, and of which state of that row.
        self.read_of: dict[str, tuple[object, object]] = {}
        self._about = ""

    def compose_inside(self) -> ComposeResult:
        yield Static(id="lists-said")
        with Horizontal(id="lists-sides"):
            with Vertical(id="stack"):
                for name, one in self.LISTS.items():
                    yield RowList(
                        id=name, classes="pane", multi_select=name in self.MULTI, empty_text=one.empty
                    )
            yield LineView(id="details", classes="pane")

    def on_mount(self) -> None:
        self.go_to(self.open_list)
        self.read()
        self.set_interval(_EVERY, self._refresh)

    # What is shown

    async def load(self) -> PipelineView:
        """Everything as it is now. Errors as `PipelineSession.shown`."""
        return await self.pipeline.shown()

    def show(self, shown: PipelineView) -> None:
        raise NotImplementedError

    def lines_of(self, shown: PipelineView, row: Row | None) -> tuple[MakeLines, str]:
        """What a row is about, and the key by which `fetch` is to read more of it, "" for nothing."""
        raise NotImplementedError

    async def fetch(self, wanted: str) -> object:
        """What else belongs to a row. None where it cannot be read, which was said."""
        raise NotImplementedError

    def read(self) -> None:
        """Everything as it is now, after something was done here."""
        self._same = _AGES
        self._read()

    def _refresh(self) -> None:
        # Where a look takes long, the next one waits for it.
        if not self._reading:
            self._read()

    @work(group="read", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        self._reading += 1
        try:
            shown = await self.load()
        except RuntimeError:
            # The memory was left meanwhile.
            return
        except NuggetsError as error:
            # Asked every second, it is said once.
            if error.identity != self._trouble:
                self._trouble = error.identity
                icon, style = STATUS_ICONS["stuck"]
                told = f"{icon} cannot be read now"
                told += "; this is the last known state" if self.now_shown else ""
                self.said.update(Content.styled(told, f"bold {style}"))
                notify_error(self, error)
            return
        finally:
            self._reading -= 1
        if not self.is_mounted:
            return
        over, self._trouble = bool(self._trouble), ()
        self._same += 1
        running = shown.status.running is not None
        if shown == self.now_shown and not (running or over) and self._same < _AGES:
            return
        self._same = 0
        self.now_shown = shown
        self.show(shown)
        self.refresh_keys()
        self.show_details()

    def list_of(self, name: str) -> RowList:
        return self.query_one(f"#{name}", RowList)

    def name_list(self, name: str, told: str) -> None:
        """Puts a list's number and title above it, with a few words of how it stands."""
        one = self.LISTS[name]
        number = f"{list(self.LISTS).index(name) + 1} " if len(self.LISTS) > 1 else ""
        self.list_of(name).border_title = Content(f"{number}{one.title}" + (f"  {told}" if told else ""))

    # From list to list

    def go_to(self, name: str) -> None:
        """Gives a list the cursor and the room; the others keep their titles, and a few rows where there is room."""
        self.open_list = name
        for other in self.LISTS:
            self.list_of(other).set_class(other == name, "-open")
        self.set_focus(self.list_of(name))
        self.show_details()

    def action_list(self, name: str) -> None:
        if self.list_of(name).display:
            self._chosen = True
            self.go_to(name)

    def action_list_beside(self, step: int) -> None:
        there = [name for name in self.LISTS if self.list_of(name).display]
        self.action_list(there[(there.index(self.open_list) + step) % len(there)])

    @property
    def chosen(self) -> bool:
        return self._chosen

    def action_switch(self) -> None:
        text = self.details_view
        self.set_focus(self.list_of(self.open_list) if text.has_focus else text)

    @on(RowList.RowSelected)
    def open_row(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.details_view.focus()

    @on(DescendantFocus)
    def follow(self, event: DescendantFocus) -> None:
        name = event.widget.id or ""
        if name in self.LISTS and name != self.open_list:
            self._chosen = True
            self.go_to(name)
        self.refresh_keys()

    @on(Resize)
    def fit(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if self.is_mounted:
            stack = self.query_one("#stack")
            stack.set_class(stack.size.height < _ROOMY and len(self.LISTS) > 1, "-tight")
            self.refresh_keys()

    def key_line(self) -> Content:
        if self.focused is not None and self.focused.id == "details":
            return key_content("↑↓  scroll · tab  back to the list · esc  close")
        return key_content(f"{self.LISTS[self.open_list].keys} · ?  help · esc  close")

    def here(self) -> Here:
        return self.HERE

    # What the row under the cursor is about

    @property
    def row(self) -> Row | None:
        """The row under the cursor of the list in use."""
        return self.list_of(self.open_list).cursor_row

    @on(RowList.RowHighlighted)
    def show_row(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        if event.row_list.id == self.open_list:
            self.show_details()

    def show_details(self) -> None:
        """Shows what the row under the cursor is about; reads what it needs for that."""
        shown = self.now_shown
        if shown is None:
            return
        row = self.row
        about = f"{self.open_list} {row.key if row is not None else ''}"
        make, wanted = self.lines_of(shown, row)
        text = self.details_view
        text.show_lines(make, keep_scroll=about == self._about)
        text.border_title = Content(self.LISTS[self.open_list].about if row is not None else "Status")
        self._about = about
        if wanted:
            self._fetch(wanted, row.data if row is not None else None)

    def known(self, key: str, data: object) -> tuple[object, str]:
        """What was read of a row, None before; and the key to fetch it by, "" where it is of this state of the row."""
        of, found = self.read_of.get(key, (None, None))
        return found, "" if of == data and found is not None else key

    @work(group="details", exclusive=True, exit_on_error=False)
    async def _fetch(self, wanted: str, data: object) -> None:
        found = await self.fetch(wanted)
        if found is None:
            return
        if len(self.read_of) > _KEPT:
            self.read_of.clear()
        self.read_of[wanted] = (data, found)
        if self.is_mounted:
            self.show_details()

    # What is done here

    def done(self, said: str, undo: Callable[[], Awaitable[str]] | None = None) -> None:
        """Says what was done here and how it is taken back, and shows everything as it is then."""
        if undo is not None:
            self.undoing.append(undo)
            said += ". u undoes it"
        notify(self, f"{said}.")
        # What was read of rows stands there until it is read again.
        self.read_of = {key: (_STALE, found) for key, (_, found) in self.read_of.items()}
        self.news()
        self.read()

    def action_undo(self) -> None:
        self._undo_last()

    @work(group="decide", exclusive=True, exit_on_error=False)
    async def _undo_last(self) -> None:
        if not self.undoing:
            notify(self, "There is nothing to undo here. Older changes are in the audit log.")
            return
        said = await self.attempt(self.undoing[-1]())
        if said:
            self.undoing.pop()
            self.done(said)
