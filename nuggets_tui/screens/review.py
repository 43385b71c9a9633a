"""The review screen: proposed changes row by row, each with its difference, before anything is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.model.change import ChangeSet
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.sides import SidesDialog
from nuggets_tui.waiting import Waiting, or_waiting
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides

Reviewed = tuple[ChangeSet, str]
Apply = Callable[[Collection[str]], Awaitable[Reviewed]]


@dataclass(frozen=True)
class ReviewItem:
    """One proposed change: what kind, which note, why, and the difference as lines."""

    key: str
    kind: str
    title: str
    detail: str
    lines: MakeLines


class ReviewScreen(SidesDialog[Reviewed | Waiting]):
    """Accepts or refuses changes; applies the accepted ones as one entry of the history.

    partly: whether changes can be refused one by one. apply: gets the keys of the accepted ones; None where there is
    nothing but to read. titles: of the two sides.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", show=False),
        Binding("a", "all", "all or none", show=False),
    ]

    def __init__(
        self,
        heading: str,
        subheading: str | Content,
        items: Sequence[ReviewItem],
        apply: Apply | None,
        *,
        partly: bool = True,
        titles: tuple[str, str] = ("Changes", "What it does"),
    ) -> None:
        super().__init__(classes="full")
        self.heading = heading
        self._about = content(subheading, MUTED) if isinstance(subheading, str) else subheading
        self._items = tuple(items)
        # Keys of what begins accepted, where changes are accepted one by one.
        self._proposed = frozenset(item.key for item in items)
        self._apply_accepted = apply
        self._partly = partly
        self._titles = titles

    def compose_inside(self) -> ComposeResult:
        """What is proposed at the left, the difference at the right."""
        yield Static(self._about, classes="words")
        changes = RowList(self.rows(), multi_select=self._partly, id="changes")
        if self._partly:
            changes.select(self._proposed)
        yield from self.two_sides(changes, LineView(id="difference"), self._titles)

    def on_mount(self) -> None:
        """Begins with the first change."""
        self.query_one(RowList).focus()

    @property
    def accepted(self) -> tuple[str, ...]:
        """Keys of the accepted changes, in the order proposed."""
        chosen = self.query_one(RowList).selected if self._partly and self.is_mounted else self._proposed
        return tuple(item.key for item in self._items if item.key in chosen)

    @property
    def decided(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.accepted)

    def rows(self) -> list[Row]:
        """A row for each change."""
        return list(map(_row, self._items))

    def key_line(self) -> Content:
        """The keys, with how many changes would be applied."""
        if self._apply_accepted is None:
            return key_content("tab  switch · esc  close")
        apply = f"apply {len(self.accepted)} of {len(self._items)}" if self._partly else "apply"
        choose = " · space  yes/no · a  all/none" if self._partly else ""
        return key_content(f"ctrl+s  {apply}{choose} · tab  switch · esc  close")

    @on(RowList.RowHighlighted)
    def show_difference(self, event: RowList.RowHighlighted) -> None:
        """Shows what the change under the cursor does."""
        event.stop()
        item = next(item for item in self._items if item.key == event.row.key)
        self.query_one("#difference", LineView).show_lines(item.lines)

    @on(RowList.SelectionChanged)
    def count(self, event: RowList.SelectionChanged) -> None:
        """Says how many changes would be applied."""
        event.stop()
        self.say_keys()

    def action_all(self) -> None:
        """Accepts all, or none when all are accepted."""
        if self._partly:
            changes = self.query_one(RowList)
            every = [item.key for item in self._items]
            changes.select([] if len(changes.selected) == len(every) else every)

    def action_apply(self) -> None:
        """Writes what was decided; closes when that is nothing."""
        if self.decided and self._apply_accepted is not None:
            self._apply(self._apply_accepted)
        else:
            self.dismiss(None)

    @work(group="apply", exclusive=True, exit_on_error=False)
    async def _apply(self, apply: Apply) -> None:
        done = await self.attempt(or_waiting(apply(self.accepted)))
        if done is not None:
            self.dismiss(done)


def _row(item: ReviewItem) -> Row:
    # The sign for accepted stands right before the text.
    title = Content.assemble(" ", content(item.title, "bold"))
    head = sides(title, content(item.kind, "$text-secondary"))
    return Row(item.key, (head, Content.assemble(" ", content(item.detail, MUTED))))
