"""An entry of the audit log, whole: who, when, why, every difference, and taking it back, or one change of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import work
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
from nuggets_tui.screens.dialog import BrowseScreen, ConfirmScreen, key_content
from nuggets_tui.session import Session
from nuggets_tui.widgets.audit import TAKEN_BACK, TURNS
from nuggets_tui.widgets.line_view import LineView, MakeLines, change_lines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import Deed, counted, deed, deeds_of, plural, time_ago

_AGAIN = "redo"
# So many things go back without a question.
_FEW = 20


class EntryScreen(BrowseScreen[None]):
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
    titles = ("Changes", "What it did")

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
        self._session = session
        self._entry = entry
        self._parts = {part.id: part for part in parts}
        self._taken_back = taken_back
        self._report_changed = changed
        self._undoing = undoing and self._whole_does() not in ("", _AGAIN)
        description = description or deed(entry.change_set)
        heading = f"{entry.change_set.author} {description.verb} {description.what}"
        heading = f"Undo this? {heading}" if self._undoing else heading
        super().__init__(heading, self._told(), classes="full" if parts else "large")

    def compose_inside(self) -> ComposeResult:
        if self._parts:
            yield from super().compose_inside()
        else:
            yield Static(self.said, classes="words")
            yield LineView(self._lines_of(self._entry.change_set), id="difference")
        way = Static("", id="way")
        way.display = False
        yield way

    def on_mount(self) -> None:
        (self.rows if self._parts else self.lines).focus()

    # What is shown

    def _told(self) -> Content:
        entry, change_set = self._entry, self._entry.change_set
        when = time_ago(change_set.at, self._session.clock())
        size = plural(change_set.size, "thing") if change_set.size != 1 else ""
        said = [safe_line(change_set.reason, 300), size, when, f"entry {safe_line(entry.id, 40)}"]
        about = Content.styled(" · ".join(part for part in said if part), MUTED)
        some = len(self._taken_back & self._parts.keys())
        if entry.state == "settled":
            state = Content.styled("not written: a resolved conflict", "$text-warning")
        elif entry.undone:
            state = Content.styled(f"{TAKEN_BACK} undone", "bold $text-warning")
        elif some:
            state = Content.styled(f"{TAKEN_BACK} {some} undone", "$text-warning")
        else:
            return about
        return Content.assemble(about, "   ", state)

    def fill(self, rows: RowList) -> None:
        """The changes, each made into a row as it comes into view: there may be ten thousand of them."""
        parts, places = tuple(self._parts.values()), {id: place for place, id in enumerate(self._parts)}
        rows.set_source(
            len(parts),
            lambda index: _row(parts[index], self._entry.undone or parts[index].id in self._taken_back),
            height=2,
            key_at=lambda index: parts[index].id,
            index_of=places.get,
        )

    def detail(self, row: Row, index: int) -> MakeLines:
        return self._lines_of(self._parts[row.key])

    def _lines_of(self, change_set: ChangeSet) -> MakeLines:
        return partial(change_lines, change_set, title_of=titles(self._session.snapshot))

    def key_line(self) -> Content:
        keys = []
        whole, one = self._whole_does(), self._one_does()
        if whole:
            enter = "⏎ " if self._undoing and not self._parts else ""
            keys.append(f"{enter}{keys_of(self).key('redo' if whole == _AGAIN else 'undo')}  {whole}")
        keys += [f"space  {one}"] if one else []
        keys += ["tab  switch"] if self._parts else []
        return key_content(" · ".join([*keys, "esc  close"]))

    def _whole_does(self) -> str:
        """What u does, or ctrl+r for doing it again; "" for nothing."""
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
        row = self.row if self._parts else None
        return row.key if row is not None else next(iter(self._parts), "")

    # Back and forth

    def action_take_back(self) -> None:
        does, size = self._whole_does(), self._entry.change_set.size
        again = f"{keys_of(self).key('redo')} redoes"
        if not does:
            notify(self, "There is nothing to undo here.")
        elif does == _AGAIN:
            notify(self, f"This is already undone. {again} it.")
        elif size <= _FEW:
            self._turn(self._entry.id)
        else:
            said = f"This undoes {size:,} changes.\n{again} them."
            question = ConfirmScreen("Undo all of it?", said, yes="undo all")
            self.if_sure(question, lambda: self._turn(self._entry.id))

    def action_take_back_if_asked(self) -> None:
        if self._undoing:
            self.action_take_back()

    def action_do_again(self) -> None:
        """Redoes the entry; else the change under the cursor if it is taken back, or the first that is."""
        stands = self._entry.state == "done" and not self._entry.undone
        parts = (id for id in (self._part_id, *self._parts) if stands and id in self._taken_back)
        if self._whole_does() == _AGAIN:
            self._turn(self._entry.id, again=True)
        elif part := next(parts, ""):
            self._turn(part, again=True)
        else:
            notify(self, "Nothing here is undone, so there is nothing to redo.")

    def action_turn_one(self) -> None:
        if self._one_does():
            self._turn(self._part_id, again=self._part_id in self._taken_back)

    @work(group="turn", exclusive=True, exit_on_error=False)
    async def _turn(self, what: str, *, again: bool = False) -> None:
        history, way = self._session.memory.history, self.query_one("#way", Static)
        try:
            done = await self._session.write(history.redo if again else history.undo, what)
        except ConflictError as error:
            # Stays on screen: the person needs it to find what to take back first.
            why = safe_block(in_the_way(error, self._session.snapshot, keys_of(self)), 1000)
            way.update(Content.assemble(("This cannot be undone now. ", "bold $text-warning"), why))
            way.display = True
            return
        except NuggetsError as error:
            notify_error(self, error)
            return
        self._entry, self._taken_back = await self._session.entry_now(self._entry.id)
        # Of a single change, u would take back the rest of the entry too.
        self._report_changed(done, "space undoes it" if again and what in self._parts else "")
        if self._undoing and self._entry.undone:
            self.dismiss(None)
            return
        self.say(self._told())
        way.display = False
        if self._parts:
            self.fill(self.rows)
        self.refresh_keys()


def _row(part: ChangeSet, undone: bool) -> Row:
    description, deeds = deed(part), deeds_of(part)
    what, said = description.what, description.verb
    if len({each.verb for each in deeds}) > 1 and description.verb == deeds[0].verb:
        # The thing itself, then all that was done to it and its neighbours.
        what, said = deeds[0].what, counted(part)
    title = Content.assemble(" ", content(what, MUTED if undone else "bold"))
    sign = Content.styled(f"{TAKEN_BACK} undone", MUTED) if undone else Content("")
    return Row(part.id, (sides(title, sign), Content.assemble(" ", content(said, MUTED))))
