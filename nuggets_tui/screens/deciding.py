"""A review in which each proposed change is accepted, refused for good, or left for later."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.review import Apply, ReviewItem, ReviewScreen
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides


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
        super().__init__(heading, subheading, items, apply, titles=titles)
        if proposed is not None:
            self._proposed = frozenset(proposed)
        self._choosable = self._proposed.union(others)
        self._plain = frozenset(plain)
        self._doubtful = frozenset(doubtful)
        self._later = self._doubtful
        self._refused: frozenset[str] = frozenset()

    @property
    def begins_accepted(self) -> frozenset[str]:
        """Keys of what has a tick at first: what is proposed and not doubtful."""
        return self._proposed - self._doubtful

    @property
    def accepted(self) -> tuple[str, ...]:
        """Keys of the accepted changes, in the order shown."""
        return tuple(key for key in super().accepted if key in self._choosable)

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
        """The keys, with how many changes would be applied and refused."""
        if not self._choosable:
            return key_content("tab  switch · esc  close")
        refused = len(self.refused)
        apply = f"apply {len(self.accepted)} of {len(self._choosable)}" + (
            f", refuse {refused}" if refused else ""
        )
        return key_content(f"ctrl+s  {apply} · space  yes/no · l  later · a  all · esc  close")

    @on(RowList.SelectionChanged)
    def mark(self, event: RowList.SelectionChanged) -> None:
        """Says in each row what becomes of it; what cannot be chosen is not."""
        # What is selected by now: an event may speak of what was so a moment ago.
        chosen = event.row_list.selected
        self._later -= chosen
        if chosen <= self._choosable:
            self.fill(self.query_one(RowList))
        else:
            event.row_list.select(chosen & self._choosable)

    def action_all(self) -> None:
        """Accepts all that is proposed; when it is accepted, leaves all for later."""
        all_accepted = self._proposed <= set(self.accepted)
        self._later = self._proposed if all_accepted else frozenset()
        self.query_one(RowList).select([] if all_accepted else self._proposed)

    def action_later(self) -> None:
        """Leaves the change under the cursor for later, and steps on."""
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
                self.say_keys()
        changes.action_cursor_down()

    def fill(self, changes: RowList) -> None:
        """Puts a row for each change into the list, with what becomes of it."""
        self._refused = frozenset(self.refused)
        super().fill(changes)

    def row(self, item: ReviewItem) -> Row:
        """The row of a change."""
        refused = item.key in self._refused
        later, stands = item.key in self._later, item.key in self._choosable | self._plain
        title = content(item.title, "bold" if stands and not (refused or later) else MUTED)
        head = sides(Content.assemble(" ", title), content(item.kind, "$text-secondary" if stands else MUTED))
        if refused:
            detail = Content.styled(" ✗ refused, not proposed again", "$text-warning")
        elif later:
            if item.key in self._doubtful:
                detail = Content.assemble((" … not sure: ", MUTED), content(item.detail, MUTED))
            else:
                detail = Content.styled(" … left for later", MUTED)
        else:
            detail = Content.assemble(" ", content(item.detail, MUTED))
        return Row(item.key, (head, detail))
