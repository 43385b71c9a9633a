"""The review screen: proposed changes row by row, each with its difference, before anything is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, overload

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.model.change import ChangeSet
from nuggets_tui.long_work import StoppedError
from nuggets_tui.notices import notify
from nuggets_tui.pending_conflict import PendingConflict, or_pending_conflict
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog, key_content
from nuggets_tui.widgets.fields import Sides
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

Reviewed = tuple[ChangeSet, str]
Apply = Callable[[Collection[str]], Awaitable[Reviewed]]
_ROW_LINES: Final = 2


@dataclass(frozen=True)
class ReviewItem:
    """One proposed change: what kind, which note, why, and the difference as lines."""

    key: str
    kind: str
    title: str
    detail: str
    lines: MakeLines


class ReviewItems(Sequence[ReviewItem]):
    """Items of which each is made when it is looked at."""

    def made(self, index: int) -> ReviewItem:
        """The item at a place from 0 on."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> ReviewItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[ReviewItem]: ...
    def __getitem__(self, index: int | slice) -> ReviewItem | list[ReviewItem]:
        places = range(len(self))
        if isinstance(index, slice):
            return [self.made(place) for place in places[index]]
        return self.made(places[index])


class ReviewScreen(Dialog[Reviewed | PendingConflict]):
    """Accepts or refuses changes; applies the accepted ones as one entry of the history.

    partly: whether changes can be refused one by one. apply: gets the keys of the accepted ones; None where there is
    nothing but to read. titles: of the two sides. keys: of the items, where those are made only when they are looked
    at. choosable: keys of what can be accepted, where not all can; the rest stands there to be known.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", show=False),
        Binding("a", "all", "all or none", show=False),
    ]
    about = (
        "Proposed changes, each with what it does and why. Nothing is written until you apply. What "
        "you apply is one entry of the audit log; you can undo it."
    )

    def __init__(
        self,
        heading: str,
        subheading: str | Content,
        items: Sequence[ReviewItem],
        apply: Apply | None,
        *,
        partly: bool = True,
        titles: tuple[str, str] = ("Changes", "What it does"),
        keys: Sequence[str] | None = None,
        choosable: Collection[str] | None = None,
    ) -> None:
        super().__init__(classes="full")
        self.heading = heading
        self._about = content(subheading, MUTED) if isinstance(subheading, str) else subheading
        self._items = items
        self._keys = tuple(item.key for item in items) if keys is None else tuple(keys)
        self._choosable = frozenset(self._keys if choosable is None else choosable)
        # Keys of what begins accepted, where changes are accepted one by one.
        self._proposed = self._choosable
        self._apply_accepted = apply
        self._partly = partly
        self._titles = titles
        self._writing = False
        # Whether somebody said that they are done with it, if only by leaving all for later; esc says nothing.
        self.answered = False

    def compose_inside(self) -> ComposeResult:
        yield Static(self._about, classes="words")
        changes = RowList(multi_select=self._partly, id="changes")
        self.fill(changes)
        if self._partly:
            changes.select(self.begins_accepted)
        yield Sides(changes, LineView(id="difference"), self._titles)

    def on_mount(self) -> None:
        self.query_one(RowList).focus()

    @property
    def begins_accepted(self) -> frozenset[str]:
        """Keys of what has a tick at first."""
        return self._proposed

    @property
    def accepted(self) -> tuple[str, ...]:
        """Keys of the accepted changes, in the order proposed."""
        mounted = self._partly and self.is_mounted
        chosen = self.query_one(RowList).selected if mounted else self.begins_accepted
        return tuple(key for key in self._keys if key in chosen)

    @property
    def decided(self) -> bool:
        return bool(self.accepted)

    def fill(self, changes: RowList) -> None:
        """Puts a row for each change into the list; rows are made when they come into view."""
        items, keys, choosable = self._items, self._keys, self._choosable
        changes.set_source(
            len(keys), lambda index: self.row(items[index]), height=_ROW_LINES, key_at=keys.__getitem__,
            mark_at=lambda index: keys[index] if keys[index] in choosable else "",
        )  # fmt: skip

    def row(self, item: ReviewItem) -> Row:
        # The sign for accepted stands right before the text.
        title = Content.assemble(" ", content(item.title, "bold"))
        head = sides(title, content(item.kind, "$text-secondary"))
        return Row(item.key, (head, Content.assemble(" ", content(item.detail, MUTED))))

    def key_line(self) -> Content:
        if self._writing:
            return Content.styled(f"◔ writing {plural(len(self.accepted), 'change')} …", "$text-accent")
        if self._apply_accepted is None:
            return key_content("tab  switch · esc  close")
        apply = f"apply {len(self.accepted):,} of {len(self._choosable):,}" if self._partly else "apply"
        choose = " · space  yes/no · a  all/none" if self._partly else ""
        return key_content(f"ctrl+s  {apply}{choose} · tab  switch · esc  close")

    @on(RowList.RowHighlighted)
    def show_difference(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        item = self._items[event.index]
        self.query_one("#difference", LineView).show_lines(item.lines)

    @on(RowList.SelectionChanged)
    def count(self, event: RowList.SelectionChanged) -> None:
        event.stop()
        self.refresh_keys()

    def action_all(self) -> None:
        if self._partly:
            changes = self.query_one(RowList)
            changes.select([] if changes.selected == self._choosable else self._choosable)

    def action_apply(self) -> None:
        if self._writing:
            return
        self.answered = True
        if self.decided and self._apply_accepted is not None:
            self._apply(self._apply_accepted)
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        if not self._writing:
            super().action_close()

    @work(group="apply", exclusive=True, exit_on_error=False)
    async def _apply(self, apply: Apply) -> None:
        self._writing = True
        self.refresh_keys()
        done = await self.attempt(self._unless_stopped(or_pending_conflict(apply(self.accepted))))
        self._writing = False
        if done is not None:
            self.dismiss(done)
        else:
            self.answered = False
            self.refresh_keys()

    async def _unless_stopped(
        self, asked: Awaitable[Reviewed | PendingConflict]
    ) -> Reviewed | PendingConflict | None:
        """What was asked for; None where somebody stopped it before anything was written."""
        try:
            return await asked
        except StoppedError:
            notify(self, "Stopped. Nothing changed.")
            return None


class DecidingReview(ReviewScreen):
    """What is refused one by one is not proposed again; what is left for later is.

    proposed: keys of what begins accepted; all when not given. doubtful: those of them that begin left for
    later. others: keys of what may be accepted besides. What is in neither stands there to be known, dimmed unless it
    is in `plain`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l", "later", "later", show=False)]

    def __init__(
        self,
        heading: str,
        subheading: str | Content,
        items: Sequence[ReviewItem],
        apply: Apply,
        *,
        proposed: Collection[str] | None = None,
        doubtful: Collection[str] = (),
        others: Collection[str] = (),
        plain: Collection[str] = (),
        titles: tuple[str, str] = ("Changes", "What it does"),
    ) -> None:
        choosable = None if proposed is None else {*proposed, *others}
        super().__init__(heading, subheading, items, apply, titles=titles, choosable=choosable)
        if proposed is not None:
            self._proposed = frozenset(proposed)
        self._plain = frozenset(plain)
        self._doubtful = frozenset(doubtful)
        self._later = self._doubtful
        self._refused: frozenset[str] = frozenset()

    @property
    def begins_accepted(self) -> frozenset[str]:
        """Keys of what has a tick at first: what is proposed and not doubtful."""
        return self._proposed - self._doubtful

    @property
    def refused(self) -> tuple[str, ...]:
        """Keys of the changes that are refused for good, in the order shown."""
        left = self._proposed.difference(self.accepted) - self._later
        return tuple(key for key in self._keys if key in left)

    @property
    def decided(self) -> bool:
        """Whether there is anything to write: what is refused is remembered."""
        return bool(self.accepted or self.refused)

    def key_line(self) -> Content:
        if not self._choosable:
            return key_content("tab  switch · esc  close")
        refused = len(self.refused)
        apply = f"apply {len(self.accepted)} of {len(self._choosable)}" + (
            f", refuse {refused}" if refused else ""
        )
        return key_content(f"ctrl+s  {apply} · space  yes/no · l  later · a  all · esc  close")

    @on(RowList.SelectionChanged)
    def mark(self, event: RowList.SelectionChanged) -> None:
        # What is selected by now: an event may speak of what was so a moment ago.
        self._later -= event.row_list.selected
        self.fill(event.row_list)

    def action_all(self) -> None:
        wanted = self._proposed.difference(self.refused)
        all_accepted = wanted <= set(self.accepted)
        self._later = wanted if all_accepted else frozenset()
        self.query_one(RowList).select([] if all_accepted else wanted)

    def action_later(self) -> None:
        changes = self.query_one(RowList)
        row = changes.cursor_row
        if row is None:
            return
        if row.key in self._proposed:
            self._later |= {row.key}
            if row.key in changes.selected:
                changes.select(changes.selected - {row.key})
            else:
                self.fill(changes)
                self.refresh_keys()
        changes.action_move("down")

    def fill(self, changes: RowList) -> None:
        """Puts a row for each change into the list, with what becomes of it."""
        self._refused = frozenset(self.refused)
        super().fill(changes)

    def row(self, item: ReviewItem) -> Row:
        refused = item.key in self._refused
        later, stands = item.key in self._later, item.key in self._choosable | self._plain
        title = content(item.title, "bold" if stands and not (refused or later) else MUTED)
        head = sides(Content.assemble(" ", title), content(item.kind, "$text-secondary" if stands else MUTED))
        if refused:
            detail = Content.styled(" ✗ refused, not proposed again", "$text-warning")
        elif later:
            if item.key in self._doubtful:
                detail = Content.assemble((" … uncertain: ", MUTED), content(item.detail, MUTED))
            else:
                detail = Content.assemble((" … kept for later: ", MUTED), content(item.detail, MUTED))
        elif item.key in self._doubtful:
            detail = Content.assemble((" ! uncertain: ", "$text-warning"), content(item.detail, MUTED))
        else:
            detail = Content.assemble(" ", content(item.detail, MUTED))
        return Row(item.key, (head, detail))
