"""What the Pipeline screen does with entities: finds one by name, pins it, settles what may be outdated of it."""

from __future__ import annotations

from textual import on, work
from textual.widgets import Input

from nuggets_tui.notices import say
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.pipeline_deciding import PipelineDeciding
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import RowList


class PipelineEntities(PipelineDeciding):
    """The commands of the list of entities. query: the part of a name that they are looked for by."""

    query_text = ""

    @property
    def entities(self) -> RowList:
        """The list of entities."""
        return self.query_one("#entities", RowList)

    def go_to(self, name: str) -> None:
        """Gives a list the cursor, and the room."""
        raise NotImplementedError

    def end_search(self) -> None:
        """All entities again."""
        field = self.query_one("#query", Field)
        field.value, self.query_text = "", ""
        field.display = False
        self.go_to("entities")
        self.read()

    def action_find(self) -> None:
        """Looks for an entity by its name."""
        field = self.query_one("#query", Field)
        field.display = True
        self.go_to("entities")
        field.focus()

    @on(Input.Changed, "#query")
    def find(self, event: Input.Changed) -> None:
        """Entities as the name is typed."""
        event.stop()
        self.query_text = event.value.strip()
        self.read()

    @on(Input.Submitted, "#query")
    def found(self, event: Input.Submitted) -> None:
        """Enter goes to the list."""
        event.stop()
        self.go_to("entities")

    @work(group="open", exclusive=True, exit_on_error=False)
    async def action_settle(self) -> None:
        """Asks about what may be outdated of the entity under the cursor, one after the other."""
        from core.pipeline.records import Entity

        row = self.entities.cursor_row
        page = None
        if row is not None and isinstance(row.data, Entity):
            page = await self.attempt(self.pipeline.entity(row.data.id))
        if page is None:
            return
        flagged = [one for one in page.attributes if one.review_needed]
        if not flagged:
            say(self, "Nothing that is said of it may be outdated.")
            return
        said = {one.id: one.content for one in page.attributes}
        first = flagged[0]
        newer = said.get(first.superseded_by or 0, "") or first.superseded_why
        text = f"Said of {page.entity.name}:\n\n{first.content}\n\nand later:\n\n{newer}"
        question = ConfirmScreen("Is it outdated?", text, yes="outdated", no="both hold")
        question.keys += " · esc  later"

        def answered(outdated: bool | None) -> None:
            if outdated is not None:
                self._settle(first.id, outdated, len(flagged) > 1)

        self.app.push_screen(question, answered)

    @work(group="decide", exit_on_error=False)
    async def _settle(self, attribute_id: int, outdated: bool, more: bool) -> None:
        if await self.attempt(self.pipeline.settle(attribute_id, outdated)) is None:
            return
        say(self, "It counts as outdated from now on." if outdated else "Both hold.")
        self.read()
        if more:
            self.action_settle()

    @work(group="decide", exit_on_error=False)
    async def action_pin(self) -> None:
        """Pins the entity under the cursor, or lets it go."""
        from core.pipeline.records import Entity

        row = self.entities.cursor_row
        if row is None or not isinstance(row.data, Entity):
            return
        await self.attempt(self.pipeline.pin(row.data.id, not row.data.pinned))
        self.read()
