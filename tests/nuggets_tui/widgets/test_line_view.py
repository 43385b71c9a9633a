"""The pane of ready lines: what is wrapped for it is shown whole."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.content import Content

from nuggets_tui.widgets.line_view import LineView


class _Harness(App[None]):
    CSS = "LineView { width: 20; height: 5; scrollbar-size-vertical: 1; }"

    def compose(self) -> ComposeResult:
        yield LineView(lambda width: Content("word " * 60).wrap(width))


async def test_no_line_is_cut_by_the_scroll_bar_that_its_own_length_brings() -> None:
    app = _Harness()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        view = app.query_one(LineView)
        assert view.max_scroll_y > 0
        longest = max(len(line) for line in view.text.splitlines())
        assert longest <= view.scrollable_content_region.width
