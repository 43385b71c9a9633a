"""The Facts pane: per nugget how full it is, and its facts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from itertools import accumulate, islice
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.fact import Fact, Nugget
from core.model.note import Note
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.view import Asked, View
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import (
    MUTED,
    capacity_bar,
    capacity_level,
    columns,
    empty_words,
    set_border_text,
    sides,
)
from nuggets_tui.words import SIGN, STALE_SIGN, kinds_in, selected_text

_NO_PLACE: Final = Content("The pages of Claude Code hold notes and no facts.")
_NO_PLACE_OF_TEAM: Final = Content("A team's memory holds notes and no facts.")


def _empty(keys: KeyMap, *, pages: bool = False, team: bool = False) -> Content:
    if pages:
        return _NO_PLACE_OF_TEAM if team else _NO_PLACE
    said = "No facts yet. Facts are short answers that agents recall by a key."
    return empty_words(keys, said, ("new_fact", "adds one. Facts from agents\nappear at once."))


class FactPlace(NamedTuple):
    """Where the fact of a row is."""

    nugget: str
    key: str


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
        present = _empty(after.keys, pages=after.pages, team=after.team_home)
        self.empty_text = present if after.past is None else "There were no facts at this moment."
        if before.selected is not after.selected and after.selected is not self.selected:
            self.select(after.selected)
        if before.selected is not after.selected or (
            after.selected and before.snapshot is not after.snapshot
        ):
            self._show_title(after)
        was, now = before.snapshot, after.snapshot
        same = was.nuggets is now.nuggets
        same = same and (was.notes is now.notes or was.fact_notes is now.fact_notes)
        if same and before.stale is after.stale:
            return
        self._fact_rows = rows = FactRows(after.snapshot.nuggets, after.snapshot.fact_notes, after.stale)
        self.set_source(rows.count, rows.row, height=rows.height, key_at=rows.key, mark_at=rows.mark)
        if before.loaded and before.past == after.past:
            known = before.snapshot.by_name
            self.glow({key for nugget in rows.nuggets for key in _fresh(known.get(nugget.name), nugget)})

    @on(RowList.SelectionChanged)
    def post_selection(self, event: RowList.SelectionChanged) -> None:
        event.stop()
        if self.selected is not self.view.selected:
            self.post_message(Asked(lambda main: main.selection.select(self.selected)))

    def _show_title(self, view: View) -> None:
        """How many are selected, for commands act on them from here too, and how many of those are elsewhere."""
        notes = map(view.snapshot.by_id.get, view.selected)
        away = sum(note is None or not note.is_fact or note.hidden for note in notes)
        said = selected_text(len(view.selected), away)
        set_border_text(self, Content.assemble("1 Facts", (said, "$text-accent")))

    def holds(self, key: str) -> bool:
        """Whether there is a row with this key."""
        return self._source.find(key, self.cursor) >= 0

    @property
    def current_nugget(self) -> str:
        """The nugget that the cursor is in; "" when there is none."""
        return self._fact_rows.at(self.cursor)[0].name if 0 <= self.cursor < self.count else ""

    @on(RowList.RowHighlighted)
    def pick(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        if self.has_focus:
            self._show_note()

    def on_focus(self) -> None:
        self._show_note()

    @property
    def fact(self) -> FactPlace | None:
        row = self.cursor_row
        return row.data if row is not None and isinstance(row.data, FactPlace) else None

    @property
    def note(self) -> Note | None:
        """The note of the fact under the cursor; None for a fact without one."""
        fact = self.fact
        return self.view.snapshot.fact_notes.get((fact.nugget, fact.key)) if fact is not None else None

    @property
    def note_under_cursor(self) -> str:
        """The id of the fact's note; "" for a fact without one."""
        return self.note.id if self.note is not None else ""

    def _show_note(self) -> None:
        if self.fact is not None:
            note_id = self.note_under_cursor
            self.post_message(Asked(lambda main: main.pick_note(note_id)))

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        event.stop()
        if isinstance(fact := event.row.data, FactPlace):
            self.post_message(Asked(lambda main: main.open_fact(*fact)))


def _fresh(before: Nugget | None, after: Nugget) -> list[str]:
    """Keys of rows whose facts are new or other than before."""
    known = {fact.key: fact for fact in before.facts} if before is not None else {}
    if before is not None and before.facts is after.facts:
        return []
    return [fact_key(after.name, fact.key) for fact in after.facts if known.get(fact.key) != fact]


_BAR: Final = 5
_SHORT_BAR: Final = 3
# Cells of a row that has room for its recalls, whatever its value takes.
_HITS_FROM: Final = 56
# Cells between key and value, and at the end of a row.
_GAP: Final = 3
_MEASURED: Final = 500
# More of a key than any pane has room for.
_KEY_CELLS: Final = 200
# The column of keys takes so much of a row at most.
_KEY_SHARE: Final = 0.4
_LONGEST_SHARE: Final = 0.6
_LEVEL_STYLES: Final = {"warning": "$text-warning", "critical": "$text-error"}


class FactRows:
    """Rows of some nuggets, made when asked for; immutable."""

    def __init__(
        self,
        nuggets: tuple[Nugget, ...] = (),
        mirrors: Mapping[tuple[str, str], Note] | None = None,
        stale: Collection[str] = (),
    ) -> None:
        self.nuggets, self._stale = nuggets, stale
        self._mirrors = mirrors or {}
        self._starts = list(accumulate((1 + len(nugget.facts) for nugget in nuggets), initial=0))
        self._widest = lru_cache(_MEASURED)(self._longest_key)

    @property
    def count(self) -> int:
        """How many rows there are, headings among them."""
        return self._starts[-1]

    @property
    def height(self) -> int | Callable[[int], int]:
        """Lines of a row: headings with a warning have two."""
        tall = {start for start, nugget in zip(self._starts, self.nuggets, strict=False) if _warning(nugget)}
        return (lambda index: 2 if index in tall else 1) if tall else 1

    def at(self, index: int) -> tuple[Nugget, Fact | None]:
        """The nugget that a row belongs to, and its fact; None for a heading."""
        place = bisect_right(self._starts, index) - 1
        nugget = self.nuggets[place]
        offset = index - self._starts[place] - 1
        return nugget, nugget.facts[offset] if offset >= 0 else None

    def key(self, index: int) -> str:
        nugget, fact = self.at(index)
        return fact_key(nugget.name, fact.key) if fact else f"nugget {nugget.name}"

    def mark(self, index: int) -> str:
        """The id of the note that a row's fact is selected by; "" for a heading and a fact without one."""
        nugget, fact = self.at(index)
        note = self._mirrors.get((nugget.name, fact.key)) if fact is not None else None
        return note.id if note is not None else ""

    def row(self, index: int) -> Row:
        nugget, fact = self.at(index)
        if fact is None:
            return Row(self.key(index), (_heading(nugget), *_warning(nugget)), selectable=False)
        wanted = self._widest(bisect_right(self._starts, index) - 1)
        return Row(
            self.key(index),
            (_fact_line(fact, wanted, self._sign(nugget, fact)),),
            data=FactPlace(nugget.name, fact.key),
        )

    def _sign(self, nugget: Nugget, fact: Fact) -> tuple[str, str]:
        """The sign of a credential, or of code that is gone; what was said of the note counts for its fact."""
        note = self._mirrors.get((nugget.name, fact.key))
        told = note is not None and (note.title, note.content) == (fact.key, fact.value)
        if kinds_in(note if note is not None and told else fact):
            return SIGN, "$text-error"
        return (STALE_SIGN, "$text-warning") if note is not None and note.id in self._stale else ("", "")

    def _longest_key(self, place: int) -> int:
        """Cells of the longest of a nugget's keys; of a very large nugget, of its first keys."""
        keys = (safe_line(fact.key, _KEY_CELLS) for fact in islice(self.nuggets[place].facts, _MEASURED))
        return max(map(cell_len, keys), default=0)


def _fact_line(fact: Fact, wanted: int, sign: tuple[str, str]) -> Callable[[int], Content]:
    """Key, value, sign and hits. The key is whole where it takes at most three fifths."""
    hits = Content.styled(f"{fact.hits}×", MUTED) if fact.hits else Content("")
    if sign[0]:
        hits = Content.assemble(sign, " " if fact.hits else "", hits)
    key, value = content(fact.key), content(fact.value, MUTED)

    def line(width: int) -> Content:
        # In one column, but for keys that need more of it than most.
        size = max(min(wanted, int(width * _KEY_SHARE)), min(key.cell_length, int(width * _LONGEST_SHARE)))
        # A value says more than how often it was asked for.
        whole = size + value.cell_length + hits.cell_length + _GAP + 1 <= width
        right = hits if whole or width >= _HITS_FROM or sign[0] else Content("")
        return columns(key, value, right, wanted=size, share=1.0)(width)

    return line


def fact_key(nugget: str, key: str) -> str:
    return f"fact {nugget}\n{key}"


def _heading(nugget: Nugget) -> Callable[[int], Content]:
    used, capacity = len(nugget.facts), nugget.meta.capacity
    style = _LEVEL_STYLES.get(capacity_level(used, capacity), "$text-secondary")
    name = content(nugget.name, "bold")

    def line(width: int) -> Content:
        # A short bar rather than half a name.
        for size in (_BAR, _SHORT_BAR):
            load = Content.assemble(
                (f"{used}/{capacity} ", MUTED), (capacity_bar(used, capacity, size), style)
            )
            if name.cell_length + load.cell_length + 2 <= width:
                break
        return sides(name, load)(width)

    return line


def _warning(nugget: Nugget) -> tuple[Content, ...]:
    said = nugget.problem or nugget.capacity_warning
    return (content(f"! {said}", "$text-warning"),) if said else ()
