"""The first line: whose memory this is, what it holds, whether it is live, and what happened last."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.view import View
from nuggets_tui.words import ago, deed, plural

_NAME: Final = Content.styled(" nuggets ", "bold $text-accent")
_EVENT_WIDTH: Final = 46


class HeaderLine(Widget):
    """The header; `now` moves on so that ages stay true."""

    view: reactive[View] = reactive(View())
    now: reactive[datetime | None] = reactive[datetime | None](None)

    def render(self) -> Content:
        """The line itself: what does not fit goes, the counts and the live sign last."""
        width = self.size.width - 1
        live, event = _live(self.view), self._event(_EVENT_WIDTH)
        for left, right in (
            (self._left(full=True), Content("   ").join([live, event]) if event else live),
            (self._left(full=False), Content("   ").join([live, event]) if event else live),
            (self._left(full=False), live),
        ):
            gap = width - left.cell_length - right.cell_length
            if gap >= 2:
                return Content.assemble(left, " " * gap, right)
        return self._left(full=False).truncate(width, ellipsis=True)

    def _left(self, *, full: bool) -> Content:
        view = self.view
        parts = [content(short_path(view.home))] if full else []
        if view.loaded or view.glanced is not None:
            snapshot = view.snapshot
            visible, hidden = view.counts
            parts += [
                Content(plural(len(snapshot.nuggets), "nugget")),
                Content(plural(snapshot.fact_count, "fact")),
                Content(plural(visible, "note")),
            ]
            if hidden:
                parts.append(Content(f"{hidden:,} hidden"))
        elif not view.trouble:
            parts.append(Content.styled("opening …", "$text-muted"))
        return Content.assemble(_NAME, " ", Content.styled(" · ", "$text-muted").join(parts))

    def _event(self, limit: int) -> Content | None:
        if self.view.busy:
            return Content.styled(f"◔ {self.view.busy} …", "$text-accent")
        history = [entry for entry in self.view.history if entry.kind != "hit"]
        if not history or self.now is None:
            return None
        last = history[-1]
        told = deed(last)
        text = safe_line(f"{last.author} {told.verb} {told.what}")
        age = ago(last.at, self.now)
        return Content.assemble(
            Content.styled(text, "$text-muted").truncate(limit, ellipsis=True),
            (f", {age}" if age == "now" else f", {age} ago", "$text-muted"),
        )


def _live(view: View) -> Content:
    if view.trouble:
        return Content.assemble(("◌ ", "bold $text-error"), ("not readable just now", "$text-error"))
    if view.snapshot.read_only:
        return Content.assemble(("◌ ", "$text-warning"), ("read only", "$text-warning"))
    problems = len(view.snapshot.problems)
    if problems:
        return Content.assemble(("● ", "$text-warning"), (plural(problems, "problem"), "$text-warning"))
    if view.loaded or view.glanced is not None:
        return Content.assemble(("● ", "$text-success"), "live")
    return Content("")


def short_path(path: str) -> str:
    """A path with the person's own folder as "~"."""
    try:
        return str(Path("~") / Path(path).relative_to(Path.home())) if path else ""
    except (ValueError, RuntimeError):
        return path
