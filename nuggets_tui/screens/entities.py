"""Entities that are one thing: choosing the other one, looking at what a merge does, and giving another name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from nuggets_tui.pipeline_session import PipelineSession
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.pipeline_details import entity_row, merge_lines
from nuggets_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from core.pipeline.records import Entity, EntityPage


class EntityPicker(Dialog[int]):
    """Answers with the id of the entity that is the same thing as another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "down", show=False, priority=True),
        Binding("up", "move(-1)", "up", show=False, priority=True),
    ]
    keys = "⏎  look at the merge · ↑↓  choose · esc  close"
    about = "Choose the entity that is the same thing. You see what a merge does before anything changes."

    def __init__(self, pipeline: PipelineSession, entity: Entity) -> None:
        super().__init__(classes="large")
        self.heading = f'Which entity is the same as "{entity.name}"?'
        self._pipeline = pipeline
        self._entity = entity

    def compose_inside(self) -> ComposeResult:
        """Part of a name, and the list."""
        yield Field("Find", id="words", hint="part of a name")
        yield RowList(id="choices", empty_text="No other entity has such a name.")

    def on_mount(self) -> None:
        """Begins with names that are alike."""
        self.query_one("#words", Input).focus()
        self.refresh_choices("")

    @on(Input.Changed, "#words")
    def typed(self, event: Input.Changed) -> None:
        """Another part of a name, other entities."""
        self.refresh_choices(event.value)

    @work(group="pick", exclusive=True, exit_on_error=False)
    async def refresh_choices(self, text: str) -> None:
        """Shows the entities that fit."""
        found = await self.attempt(self._pipeline.merge_candidates(self._entity, text.strip()))
        if found is not None and self.is_mounted:
            self.query_one(RowList).set_rows([entity_row(one) for one in found], keep_cursor=False)

    def action_move(self, step: int) -> None:
        """Walks the list while the cursor stays in the field."""
        choices = self.query_one(RowList)
        choices.action_cursor_down() if step > 0 else choices.action_cursor_up()

    @on(Input.Submitted)
    @on(RowList.RowSelected)
    def take(self, event: Input.Submitted | RowList.RowSelected) -> None:
        """Closes with the entity under the cursor."""
        from core.pipeline.records import Entity

        event.stop()
        row = self.query_one(RowList).cursor_row
        if row is not None and isinstance(row.data, Entity):
            self.dismiss(row.data.id)


class MergeReview(Dialog[tuple[int, int]]):
    """What a merge of two entities would do. Answers with the id that is kept and the one that goes into it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "merge", "merge", show=False),
        Binding("w", "swap", "swap", show=False),
        Binding("n", "close", "no", show=False),
    ]
    keys = "y  merge · w  keep the other name · ↑↓  scroll · n  cancel"
    about = (
        "One entity stays, with its name. The other's names become other names of it, and all that the texts say of "
        "either is said of it. Nothing is lost, and u in the Pipeline screen undoes it."
    )

    def __init__(self, kept: EntityPage, other: EntityPage) -> None:
        super().__init__(classes="large")
        self._kept, self._other = kept, other
        self._name_it()

    def _name_it(self) -> None:
        kept, other = self._kept.entity.name, self._other.entity.name
        self.heading = f'Merge "{other}" into "{kept}"?'

    def compose_inside(self) -> ComposeResult:
        """Both, and what becomes of them."""
        yield LineView(partial(merge_lines, self._kept, self._other), id="lines")

    def on_mount(self) -> None:
        """Keys scroll it."""
        self.query_one("#lines").focus()

    def action_swap(self) -> None:
        """Keeps the other one instead."""
        self._kept, self._other = self._other, self._kept
        self._name_it()
        self.query_one("#box").border_title = content(self.heading)
        self.query_one("#lines", LineView).show_lines(partial(merge_lines, self._kept, self._other))

    def action_merge(self) -> None:
        """Closes with who is kept."""
        self.dismiss((self._kept.entity.id, self._other.entity.id))


class AliasScreen(Dialog[str]):
    """Asks for another name of an entity. Answers with it as typed."""

    keys = "⏎  save · esc  close"

    def __init__(self, entity: Entity) -> None:
        super().__init__(classes="small")
        self.heading = f'Another name of "{entity.name}"'
        self._names = entity.aliases

    def compose_inside(self) -> ComposeResult:
        """The names that it has, and the line."""
        has = f" It has these already: {', '.join(self._names[:8])}." if self._names else ""
        yield Static(content(f"Later texts that use this name mean this entity.{has}"), classes="words")
        yield Field("Name", id="name", hint="such as: pg, for PostgreSQL")

    def on_mount(self) -> None:
        """The cursor goes into the line."""
        self.query_one("#name", Input).focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Closes with the name, if one was typed."""
        event.stop()
        if event.value.strip():
            self.dismiss(event.value.strip())
