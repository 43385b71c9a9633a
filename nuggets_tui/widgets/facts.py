"""The Facts pane: per nugget how full it is, and its facts."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.fact import Nugget
from nuggets_tui.key_map import DEFAULT, KeyMap
from nuggets_tui.messages import FactOpened, NotePicked, NotesSelected
from nuggets_tui.view import View
from nuggets_tui.widgets.empty_words import empty_words
from nuggets_tui.widgets.fact_rows import FactRows, fact_key
from nuggets_tui.widgets.row_list import Row, RowList


def _empty(keys: KeyMap) -> Content:
    said = "No facts yet. Facts are short answers\nthat agents recall by a key."
    return empty_words(keys, said, ("new_fact", "remembers one; those of agents\nappear by themselves."))


class FactsPane(RowList):
    """Nuggets as headings with their load, facts below them."""

    view: reactive[View] = reactive(View(), repaint=False)

    def __init__(self) -> None:
        super().__init__(
            id="facts", classes="pane", empty_text=_empty(DEFAULT), multi_select=True, keep_selected=True
        )
        self.border_title = Content("1 Facts")
        self._fact_rows = FactRows()

    def watch_view(self, before: View, after: View) -> None:
        """Shows other facts; the cursor stays on its fact."""
        self.empty_text = _empty(after.keys) if after.past is None else "There was no fact at this moment."
        if before.selected is not after.selected:
            if after.selected is not self.selected:
                self.select(after.selected)
            said = f" · {len(after.selected):,} selected" if after.selected else ""
            self.border_title = Content.assemble("1 Facts", (said, "$text-accent"))
        was, now = before.snapshot, after.snapshot
        same = was.nuggets is now.nuggets
        if same and (was.notes is now.notes or was.fact_notes is now.fact_notes):
            return
        self._fact_rows = rows = FactRows(after.snapshot.nuggets, after.snapshot.fact_notes)
        self.set_source(rows.count, rows.row, height=rows.height, key_at=rows.key, mark_at=rows.mark)
        if before.loaded and before.past == after.past:
            known = before.snapshot.by_name
            self.glow({key for nugget in rows.nuggets for key in _fresh(known.get(nugget.name), nugget)})

    @on(RowList.SelectionChanged)
    def tell_selection(self, event: RowList.SelectionChanged) -> None:
        """A fact is selected by its note; the screen keeps what is selected."""
        event.stop()
        if self.selected is not self.view.selected:
            self.post_message(NotesSelected("facts"))

    @property
    def current_nugget(self) -> str:
        """The nugget that the cursor is in; "" when there is none."""
        return self._fact_rows.at(self.cursor)[0].name if 0 <= self.cursor < self.count else ""

    @on(RowList.RowHighlighted)
    def pick(self, event: RowList.RowHighlighted) -> None:
        """Shows the fact's note, once a person moves here."""
        event.stop()
        if self.has_focus:
            self._show_note(event.row)

    def on_focus(self) -> None:
        """Shows the note of the fact that the cursor is on."""
        if self.cursor_row is not None:
            self._show_note(self.cursor_row)

    def _show_note(self, row: Row) -> None:
        if isinstance(row.data, FactOpened):
            note = self.view.snapshot.fact_notes.get((row.data.nugget, row.data.key))
            if note is not None:
                self.post_message(NotePicked(note.id))

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        """Shows the recall behind the fact."""
        event.stop()
        if isinstance(event.row.data, FactOpened):
            self.post_message(FactOpened(event.row.data.nugget, event.row.data.key))


def _fresh(before: Nugget | None, after: Nugget) -> list[str]:
    """Keys of rows whose facts are new or other than before."""
    known = {fact.key: fact for fact in before.facts} if before is not None else {}
    if before is not None and before.facts is after.facts:
        return []
    return [fact_key(after.name, fact.key) for fact in after.facts if known.get(fact.key) != fact]
