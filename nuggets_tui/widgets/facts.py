"""The Facts pane: per nugget how full it is, and its facts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, islice
from typing import Final

from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.fact import Fact, Nugget
from nuggets_tui.messages import FactOpened, NotePicked
from nuggets_tui.safe_text import content
from nuggets_tui.view import View
from nuggets_tui.widgets.bars import capacity_bar, capacity_level
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, columns, sides

_BAR: Final = 5
_KEYS_MEASURED: Final = 500
_LEVEL_STYLES: Final = {"warning": "$text-warning", "critical": "$text-error"}
_EMPTY: Final = Content.assemble(
    "No facts yet. Facts are short answers\nthat agents recall by a key.\n\n",
    ("f", "bold $text-accent"), "  remembers one; those of agents\n   appear by themselves.",
)  # fmt: skip


class FactsPane(RowList):
    """Nuggets as headings with their load, facts below them."""

    view: reactive[View] = reactive(View())

    def __init__(self) -> None:
        super().__init__(id="facts", classes="pane", empty_text=_EMPTY)
        self.border_title = Content("1 Facts")
        self._nuggets: tuple[Nugget, ...] = ()
        self._key_widths: dict[str, int] = {}
        self._starts: list[int] = [0]

    def watch_view(self, before: View, after: View) -> None:
        """Shows other facts; the cursor stays on its fact."""
        if before.snapshot.nuggets is after.snapshot.nuggets:
            return
        self._nuggets = after.snapshot.nuggets
        self._key_widths.clear()
        self._starts = list(accumulate((1 + len(nugget.facts) for nugget in self._nuggets), initial=0))
        self.set_source(self._starts[-1], self._make_row, height=self._lines_at(), key_at=self._key_at)
        if before.loaded:
            known = before.snapshot.by_name
            self.glow({key for nugget in self._nuggets for key in _fresh(known.get(nugget.name), nugget)})

    @property
    def current_nugget(self) -> str:
        """The nugget that the cursor is in; "" when there is none."""
        return self._at(self.cursor)[0].name if 0 <= self.cursor < self.count else ""

    def _at(self, index: int) -> tuple[Nugget, Fact | None]:
        place = bisect_right(self._starts, index) - 1
        nugget = self._nuggets[place]
        offset = index - self._starts[place] - 1
        return nugget, nugget.facts[offset] if offset >= 0 else None

    def _lines_at(self) -> int | Callable[[int], int]:
        tall = {start for start, nugget in zip(self._starts, self._nuggets, strict=False) if _warning(nugget)}
        return (lambda index: 2 if index in tall else 1) if tall else 1

    def _key_width(self, nugget: Nugget) -> int:
        if nugget.name not in self._key_widths:
            longest = max(map(len, islice((fact.key for fact in nugget.facts), _KEYS_MEASURED)))
            self._key_widths[nugget.name] = longest
        return self._key_widths[nugget.name]

    def _key_at(self, index: int) -> str:
        nugget, fact = self._at(index)
        return _key(nugget.name, fact.key) if fact else f"nugget {nugget.name}"

    def _make_row(self, index: int) -> Row:
        nugget, fact = self._at(index)
        if fact is None:
            return Row(self._key_at(index), (_heading(nugget), *_warning(nugget)), selectable=False)
        hits = Content.styled(f"×{fact.hits}", MUTED) if fact.hits else Content("")
        line = columns(content(fact.key), content(fact.value, MUTED), hits, wanted=self._key_width(nugget))
        return Row(_key(nugget.name, fact.key), (line,), data=FactOpened(nugget.name, fact.key))

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


def _key(nugget: str, key: str) -> str:
    return f"fact {nugget}\n{key}"


def _fresh(before: Nugget | None, after: Nugget) -> list[str]:
    """Keys of rows whose facts are new or other than before."""
    if before is None or before.facts is after.facts:
        return [] if before is not None else [_key(after.name, fact.key) for fact in after.facts]
    known = {fact.key: fact for fact in before.facts}
    return [_key(after.name, fact.key) for fact in after.facts if known.get(fact.key) != fact]


def _heading(nugget: Nugget) -> Callable[[int], Content]:
    used, capacity = len(nugget.facts), nugget.meta.capacity
    style = _LEVEL_STYLES.get(capacity_level(used, capacity), "$text-secondary")
    load = Content.assemble((f"{used}/{capacity} ", MUTED), (capacity_bar(used, capacity, _BAR), style))
    return sides(content(nugget.name, "bold"), load)


def _warning(nugget: Nugget) -> tuple[Content, ...]:
    said = nugget.problem or nugget.capacity_warning
    return (content(f"! {said}", "$text-warning"),) if said else ()
