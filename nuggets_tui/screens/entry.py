"""An entry of the audit log, whole: who, when, why, every difference, and taking it back, or one change of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.errors import ConflictError, NuggetsError
from core.model.change import ChangeSet
from core.model.entry import Entry
from nuggets_tui.commands import keys_of
from nuggets_tui.differences import titles
from nuggets_tui.notices import notify, notify_error
from nuggets_tui.safe_text import content, safe_block, safe_line
from nuggets_tui.screens.conflict import in_the_way
from nuggets_tui.screens.dialog import ConfirmScreen, Dialog, key_content
from nuggets_tui.session import Session
from nuggets_tui.widgets.audit import TAKEN_BACK, TURNS
from nuggets_tui.widgets.fields import Sides
from nuggets_tui.widgets.line_view import LineView, change_lines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import Deed, counted, deed, deeds_of, plural, time_ago

_AGAIN = "redo"
# So many things go back without a question.
_FEW = 20


class EntryScreen(Dialog[None]):
    """One change set. `parts`: what of it can be taken back alone. `changed`: told of every change made from here, and
    of the key that turns it back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "take_back", "undo", show=False, id="undo"),
        Binding("enter", "take_back_if_asked", "undo", show=False),
        Binding("ctrl+r", "do_again", "redo", show=False, id="redo"),
        Binding("space", "turn_one", "undo this change", show=False, priority=True),
    ]
    about = (
        "One entry of the audit log: who, when, why, and every line that differs. You can undo it in "
        "whole or in part, whoever made it."
    )

    def __init__(
        self,
        session: Session,
        entry: Entry,
        parts: Sequence[ChangeSet],
        taken_back: frozenset[str],
        changed: Callable[[ChangeSet, str], None],
        description: Deed | None = None,
        *,
        undoing: bool = False,
    ) -> None:
        """description: what the entry did in a line, where somebody reckoned that already. undoing: whether it was
        opened to be undone: then enter does that, and it closes.
        """
        super().__init__(classes="full" if parts else "large")
        description = description or deed(entry.change_set)
        self.heading = f"{entry.change_set.author} {description.verb} {description.what}"
        self._session = session
        self._entry = entry
        self._parts = {part.id: part for part in parts}
        self._numbered = tuple(parts)
        self._things = entry.change_set.size
        self._taken_back = taken_back
        self._report_changed = changed
        self._undoing = undoing and self._whole_does() not in ("", _AGAIN)
        if self._undoing:
            self.heading = f"Undo this? {self.heading}"

    def compose_inside(self) -> ComposeResult:
        yield Static(self._about(), classes="words", id="about")
        difference = LineView(self._lines_of(self._entry.change_set), id="lines")
        if self._parts:
            yield Sides(RowList(id="changes"), difference, ("Changes", "What it did"))
        else:
            yield difference
        yield Static("", id="way")

    def on_mount(self) -> None:
        self.query_one("#way").display = False
        if self._parts:
            self._show_rows()
        (self.query_one(RowList) if self._parts else self.query_one(LineView)).focus()

    # What is shown

    def _about(self) -> Content:
        entry = self._entry
        change_set = entry.change_set
        when = time_ago(change_set.at, self._session.clock())
        size = plural(self._things, "thing") if self._things != 1 else ""
        said = [safe_line(change_set.reason, 300), size, when, f"entry {safe_line(entry.id, 40)}"]
        about = Content.styled(" · ".join(part for part in said if part), MUTED)
        state = self._state()
        return Content.assemble(about, "   ", state) if state else about

    def _state(self) -> Content:
        entry = self._entry
        if entry.state == "settled":
            return Content.styled("not written: a resolved conflict", "$text-warning")
        if entry.undone:
            return Content.styled(f"{TAKEN_BACK} undone", "bold $text-warning")
        some = len(self._taken_back & self._parts.keys())
        return Content.styled(f"{TAKEN_BACK} {some} undone", "$text-warning") if some else Content("")

    def _show_rows(self) -> None:
        """The changes, each made into a row as it comes into view: there may be ten thousand of them."""
        numbered, places = self._numbered, {id: place for place, id in enumerate(self._parts)}
        self.query_one(RowList).set_source(
            len(numbered),
            lambda index: _row(numbered[index], self._entry.undone or numbered[index].id in self._taken_back),
            height=2,
            key_at=lambda index: numbered[index].id,
            index_of=places.get,
        )

    def _lines_of(self, change_set: ChangeSet) -> Callable[[int], list[Content]]:
        return partial(change_lines, change_set, title_of=titles(self._session.snapshot))

    def key_line(self) -> Content:
        keys = []
        whole = self._whole_does()
        if whole:
            enter = "⏎ " if self._undoing and not self._parts else ""
            keys.append(f"{enter}{keys_of(self).key('redo' if whole == _AGAIN else 'undo')}  {whole}")
        one = self._one_does()
        if one:
            keys.append(f"space  {one}")
        if self._parts:
            keys.append("tab  switch")
        return key_content(" · ".join([*keys, "esc  close"]))

    def _whole_does(self) -> str:
        """What u does, or U for doing it again; "" for nothing."""
        entry = self._entry
        if entry.state != "done" or entry.change_set.kind in TURNS:
            return ""
        if entry.undone:
            return _AGAIN
        return "undo all" if self._parts else "undo"

    def _one_does(self) -> str:
        """What the space key does; "" for nothing."""
        part = self._part_id
        if not part or self._entry.undone or self._entry.state != "done":
            return ""
        return "redo this change" if part in self._taken_back else "undo this change"

    @property
    def _part_id(self) -> str:
        row = self.query_one(RowList).cursor_row if self._parts and self.is_mounted else None
        return row.key if row is not None else next(iter(self._parts), "")

    @on(RowList.RowHighlighted)
    def show_part(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self.query_one(LineView).show_lines(self._lines_of(self._parts[event.row.key]))
        self.refresh_keys()

    # Back and forth

    def action_take_back(self) -> None:
        does, size = self._whole_does(), self._things
        if not does:
            notify(self, "There is nothing to undo here.")
        elif does == _AGAIN:
            notify(self, f"This is already undone. {keys_of(self).key('redo')} redoes it.")
        elif size <= _FEW:
            self._turn(self._entry.id)
        else:
            said = f"This undoes {size:,} changes.\n{keys_of(self).key('redo')} redoes them."
            question = ConfirmScreen("Undo all of it?", said, yes="undo all")
            self.app.push_screen(question, self._take_back_if)

    def action_take_back_if_asked(self) -> None:
        if self._undoing:
            self.action_take_back()

    def _take_back_if(self, sure: bool | None) -> None:
        if sure:
            self._turn(self._entry.id)

    def action_do_again(self) -> None:
        part = self._part_taken_back()
        if self._whole_does() == _AGAIN:
            self._turn(self._entry.id, again=True)
        elif part:
            self._turn(part, again=True)
        else:
            notify(self, "Nothing here is undone, so there is nothing to redo.")

    def _part_taken_back(self) -> str:
        """The change under the cursor if it is taken back, else the first that is; "" for none."""
        if self._entry.state != "done" or self._entry.undone:
            return ""
        return next((id for id in (self._part_id, *self._parts) if id in self._taken_back), "")

    def action_turn_one(self) -> None:
        if self._one_does():
            self._turn(self._part_id, again=self._part_id in self._taken_back)

    @work(group="turn", exclusive=True, exit_on_error=False)
    async def _turn(self, what: str, *, again: bool = False) -> None:
        try:
            done = await self._session.write(
                self._session.memory.history.redo if again else self._session.memory.history.undo, what
            )
        except ConflictError as error:
            self._notify_obstacle(error)
            return
        except NuggetsError as error:
            notify_error(self, error)
            return
        self._entry, self._taken_back = await self._session.entry_now(self._entry.id)
        # Of a single change, u would take back the rest of the entry too.
        one_again = again and what in self._parts
        self._report_changed(done, "space undoes it" if one_again else "")
        if self._undoing and self._entry.undone:
            self.dismiss(None)
        else:
            self._show_again()

    def _show_again(self) -> None:
        self.query_one("#about", Static).update(self._about())
        self.query_one("#way").display = False
        if self._parts:
            self._show_rows()
        self.refresh_keys()

    def _notify_obstacle(self, error: ConflictError) -> None:
        """Stays on screen: the person needs it to find what to take back first."""
        way = self.query_one("#way", Static)
        way.update(
            Content.assemble(
                ("This cannot be undone now. ", "bold $text-warning"),
                safe_block(in_the_way(error, self._session.snapshot, keys_of(self)), 1000),
            )
        )
        way.display = True


def _row(part: ChangeSet, undone: bool) -> Row:
    description, deeds = deed(part), deeds_of(part)
    what, said = description.what, description.verb
    if len({each.verb for each in deeds}) > 1 and description.verb == deeds[0].verb:
        # The thing itself, then all that was done to it and its neighbours.
        what, said = deeds[0].what, counted(part)
    title = Content.assemble(" ", content(what, MUTED if undone else "bold"))
    sign = Content.styled(f"{TAKEN_BACK} undone", MUTED) if undone else Content("")
    return Row(part.id, (sides(title, sign), Content.assemble(" ", content(said, MUTED))))
