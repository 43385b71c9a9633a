"""The tabs over a single pane: all six panes with their numbers, each of them clickable."""

from __future__ import annotations

from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from nuggets_tui.commands import BY_NAME
from nuggets_tui.messages import Asked
from nuggets_tui.view import View
from nuggets_tui.widgets.pane_shapes import PANE_TITLES, PANES, PaneName


class TabLine(Widget):
    """One line of tabs. `results`: whether Notes shows results just now. `zoomed`: whether there is room for all.

    How many are selected stands behind the tabs: the list that is selected in may be behind another pane.
    """

    view: reactive[View] = reactive(View(), repaint=False)

    active: reactive[PaneName] = reactive[PaneName]("notes")
    results: reactive[bool] = reactive(False)
    zoomed: reactive[bool] = reactive(False)

    def watch_view(self, before: View, after: View) -> None:
        if before.selected is not after.selected:
            self.refresh()

    async def on_click(self, event: Click) -> None:
        pane, action = event.style.meta.get("pane"), event.style.meta.get("does")
        if pane:
            self.post_message(Asked(lambda main: main.go_to(pane)))
        elif action:
            await self.run_action(action)

    def render(self) -> Content:
        tabs = Content("").join(self._tab(number, name) for number, name in enumerate(PANES, 1))
        room = self.size.width - 1 - tabs.cell_length
        ends = [_all_panes()] if self.zoomed else []
        count = len(self.view.selected)
        if count:
            said = f"✓ {count:,} selected"
            needed = len(said) + 2 + sum(end.cell_length + 3 for end in ends)
            ends.insert(0, Content.styled(said if needed <= room else f"✓{count:,}", "bold $text-accent"))
        end = Content("   ").join(ends)
        gap = room - end.cell_length
        return Content.assemble(tabs, " " * gap, end) if ends and gap > 1 else tabs

    def _tab(self, number: int, name: PaneName) -> Content:
        title = "Results" if name == "notes" and self.results else PANE_TITLES[name]
        if name == self.active:
            tab = Content.assemble(
                ("▌", "$text-accent"), (f"{number} {title}", "bold"), ("▐", "$text-accent")
            )
        else:
            tab = Content.assemble((f" {number} ", "$text-accent"), (f"{title} ", "$text-muted"))
        # A mark of our own instead of "@click", which would paint every tab as a link.
        return tab.stylize(Style.from_meta({"pane": name}))


def _all_panes() -> Content:
    key = BY_NAME["zoom"].shown_keys
    said = Content.assemble((key[0] if key else "", "bold $text-accent"), (" all panes", "$text-muted"))
    return said.stylize(Style.from_meta({"does": "screen.command('zoom')"}))
