"""The first line: whose memory this is, what it holds, whether it is live, and what happened last."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from core.folder import MEMORY_FOLDER
from nuggets_tui.key_map import KeyMap
from nuggets_tui.pipeline_status import NOT_BEGUN, STATUS_ICONS, PipelineIndicator
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.view import View, same_but
from nuggets_tui.words import COPY_PREFIX, plural, time_ago

_NAME: Final = Content.styled(" nuggets ", "bold $text-accent")
_EVENT_WIDTH: Final = 58
_LONGEST: Final = 100_000
_LEAST_EVENT: Final = 24
_GAP: Final = "   "
# Cells of the name of a memory, where its whole path has no room.
_MEMORY: Final = 18
_PAGES: Final = 30
_NOTHING_TO_IT: Final = (
    "note_id", "suggested", "origin", "new_since", "own", "arrived", "found", "hops", "fresh", "order",
    "show_hidden", "show_facts",
)  # fmt: skip


def _project(home: str) -> str:
    """What a folder of pages is called: by its project, whose folder bears the project's path."""
    folder = Path(home)
    return folder.parent.name.strip("-") if folder.name == MEMORY_FOLDER else folder.name


class HeaderLine(Widget):
    """The header; `now` moves on so that ages stay true."""

    view: reactive[View] = reactive(View(), repaint=False)
    now: reactive[datetime | None] = reactive[datetime | None](None)

    def watch_view(self, before: View, after: View) -> None:
        if not same_but(before, after, *_NOTHING_TO_IT):
            self.refresh()

    async def on_click(self, event: Click) -> None:
        action = event.style.meta.get("does")
        if action:
            await self.run_action(action)

    def render(self) -> Content:
        waits = [_live(self.view), *_waiting(self.view)]
        dues = _dues(self.view)
        # A calm status leaves the counts and what happened last their room, in fewer words if it must. A calm pipeline
        # has nothing to say; what waits to be sent has.
        statuses = [
            [*sync, *pipeline] for sync in _sync_status(self.view) for pipeline in [*_pipeline_status(self.view), []]
        ]  # fmt: skip
        for keeps, more in [
            *((keeps, [*status, *due]) for keeps in ("event", "counts", "") for due in dues for status in statuses),
            ("", []),
        ]:  # fmt: skip
            line = self._laid_out(Content(_GAP).join([*waits, *more]), keeps=keeps)
            if line is not None:
                return line
        # A part of what waits, without its key, says nothing: what has no room goes whole.
        line = _NAME
        for wait in waits:
            longer = Content(_GAP).join([line, wait])
            line = longer if longer.cell_length < self.size.width else line
        return line

    def _laid_out(self, waits: Content, *, keeps: str) -> Content | None:
        """The line with as much as fits beside what waits; None when that itself does not fit.

        keeps: what must stay beside it: the "event" where there is one, the "counts", or "" for nothing.
        """
        width = self.size.width - 1
        whole, short, named = self._left(full=True), self._left(), self._left(counts=False)
        room = width - short.cell_length - waits.cell_length - 2 * len(_GAP)
        busy = bool(self.view.busy)
        spare = width - whole.cell_length - waits.cell_length - 2 * len(_GAP)
        for left, event in (
            (whole, self._long_event(max(_EVENT_WIDTH, spare))),
            # How far long work is, and how to stop it, matters more than counts while it goes on.
            *(((named, self._event(_EVENT_WIDTH)),) if busy else ()),
            (short, self._long_event(room) if room >= _LEAST_EVENT else None),
            (short, None),
            (named, None),
            (_NAME, None),
        ):
            if (keeps and not busy and (left is _NAME or left is named)) or (
                keeps == "event" and event is None and self._event(_EVENT_WIDTH)
            ):
                continue
            right = Content(_GAP).join([waits, event]) if event is not None else waits
            gap = width - left.cell_length - right.cell_length
            if gap >= 2:
                return Content.assemble(left, *self._between(gap), right)
        return None

    def _between(self, gap: int) -> tuple[Content | str, ...]:
        """What fills the line: whom one waits for, where that takes room from nothing else."""
        said = _awaited(self.view)
        rest = gap - said.cell_length - len(_GAP)
        return (_GAP, said, " " * rest) if said and rest >= len(_GAP) else (" " * gap,)

    @property
    def _memory(self) -> str:
        """The name of the memory: its folder in a few cells, or what it is a copy of."""
        home = self.view.home
        if not home:
            return ""
        if Path(home).name.startswith(COPY_PREFIX):
            return "demo"
        if self.view.team_home:
            return cut(f"team: {Path(home).parent.parent.name}", _PAGES)
        if self.view.pages:
            return cut(f"Claude Code: {_project(home)}", _PAGES)
        path = short_path(home)
        short = path.startswith("~") and cell_len(path) <= _MEMORY
        return path if short else cut(Path(home).name or path, _MEMORY)

    def _left(self, *, full: bool = False, counts: bool = True) -> Content:
        view = self.view
        name = self._memory
        whose = "The team's notes, " if view.team_home else "Claude Code's pages, " if view.pages else ""
        whole = whose + short_path(view.home)
        parts = [content(whole if full and name != "demo" else name)] if name else []
        if not counts:
            return Content.assemble(_NAME, " ", *parts)
        if view.loaded or view.quick_counts is not None:
            snapshot = view.snapshot
            visible, hidden = view.counts
            parts += [
                Content(plural(view.nugget_count, "nugget")),
                Content(plural(snapshot.fact_count, "fact")),
                Content(plural(visible, "note")),
            ]
            if view.team is not None and view.past is None:
                said = plural(len(view.team.snapshot.visible), "team note")
                parts.append(Content.styled(said, Style.from_meta({"does": "screen.command('team_notes')"})))
            if view.untrusted and view.past is None:
                said = f"{plural(view.untrusted, 'project note')}: {view.keys.key('trust')}"
                parts.append(Content.styled(said, Style.from_meta({"does": "screen.command('trust')"})))
            if hidden:
                parts.append(Content(f"{hidden:,} hidden"))
        elif not view.trouble:
            parts.append(Content.styled("opening …", "$text-muted"))
        return Content.assemble(_NAME, " ", Content.styled(" · ", "$text-muted").join(parts))

    def _long_event(self, room: int) -> Content | None:
        """The event in all the room, but as long as usual where that cuts it all the same and that may stand."""
        event = self._event(room)
        cut = event is not None and self._event(_LONGEST) != event
        return self._event(min(_EVENT_WIDTH, room)) if cut and _awaited(self.view) else event

    def _event(self, limit: int) -> Content | None:
        """What goes on, or what happened last, in at most so many cells."""
        if self.view.busy:
            return Content.styled(f"◔ {self.view.busy}", "$text-accent").truncate(limit, ellipsis=True)
        last = self.view.log.last
        if last is None or self.now is None:
            return None
        when = f", {time_ago(last.at, self.now)}"
        said = Content.styled(safe_line(f"{last.author} {last.deed.verb} {last.deed.what}"), "$text-muted")
        return Content.assemble(_shortened(said, limit - len(when)), (when, "$text-muted"))


def _shortened(said: Content, limit: int) -> Content:
    """A text in at most so many cells; a cut one ends in a word, not in a comma."""
    if said.cell_length <= limit:
        return said
    cut = said.truncate(limit - 1)
    said_whole = cut.plain.rpartition(" ")[0].rstrip(" ,:") or cut.plain
    return Content.assemble(cut[: len(said_whole)], ("…" if said_whole == cut.plain else " …", "$text-muted"))


def _live(view: View) -> Content:
    if view.trouble:
        return Content.assemble(("◌ ", "bold $text-error"), ("cannot be read now", "$text-error"))
    if view.past is not None:
        said = "memory changed: esc shows it" if view.past.news else "the past, read only"
        return Content.assemble(("◷ ", "bold $text-secondary"), (said, "bold $text-secondary"))
    if view.snapshot.read_only:
        return Content.assemble(("◌ ", "$text-warning"), ("read only", "$text-warning"))
    if view.polling:
        return Content.assemble(("◐ ", "$text-warning"), ("looks every second", "$text-warning"))
    if view.loaded or view.quick_counts is not None:
        return Content.assemble(("● ", "$text-success"), "live")
    return Content("")


def _waiting(view: View) -> list[Content]:
    """What waits for a person, each with the key that opens it."""
    waits = []
    if view.waiting:
        said = plural(len(view.waiting), "conflict waits", "conflicts wait")
        waits.append(_badge(f"! {said}", "conflicts", view.keys))
    if not view.pipeline.calm:
        waits.append(_indicator(view.pipeline, view.keys))
    if view.promotable:
        waits.append(_badge(f"{plural(view.promotable, 'line')} for MEMORY.md", "automatic", view.keys))
    if view.snapshot.problems:
        waits.append(_badge(plural(len(view.snapshot.problems), "problem"), "problems", view.keys))
    return waits


def _dues(view: View) -> list[list[Content]]:
    """The daily pass that waits: with what it would propose, and in fewer words."""
    if not view.reflection_due:
        return [[]]
    counted = [f"reflection due, {plural(view.proposed, 'change')}"] if view.proposed else []
    return [[_badge(said, "reflect", view.keys)] for said in (*counted, "reflection due")]


def _awaited(view: View) -> Content:
    if view.awaited and view.past is None:
        return content(f"waiting for the first recall of {' and '.join(view.awaited)}", "$text-muted")
    return Content("")


def _pipeline_status(view: View) -> list[list[Content]]:
    """The pipeline's status while nothing of it waits for a person: in words, and by its icon alone."""
    if view.pages or not (view.pipeline.calm and view.loaded) or (view.empty and view.pipeline is NOT_BEGUN):
        return []
    return [[_indicator(view.pipeline, view.keys)], [_indicator(view.pipeline, view.keys, shortly=True)]]


def _sync_status(view: View) -> list[list[Content]]:
    """How the memory stands to its remote: in words, by its sign alone, and not at all; only that without a sync."""
    if view.sync is None or not view.loaded:
        return [[]]
    # Most memories have no sync, and no first frame shows one.
    from nuggets_tui.sync_words import sync_said

    said, style = sync_said(view.sync)
    key = view.keys.key("sync")
    does = Style.from_meta({"does": "screen.command('sync')"})
    words = Content.assemble(("⇅ ", f"bold {style}"), (f"{said}: ", style), (key, "bold $text-accent"))
    return [[words.stylize(does)], [Content.styled("⇅", f"bold {style}").stylize(does)], []]


def _indicator(indicator: PipelineIndicator, keys: KeyMap, *, shortly: bool = False) -> Content:
    mark, style = STATUS_ICONS[indicator.state]
    said = ("" if shortly else f"{indicator.text}: ", "$text-muted" if indicator.calm else style)
    command = "inbox" if indicator.state == "review" else "pipeline"
    lit = Content.assemble((f"{mark} ", f"bold {style}"), said, (keys.key(command), "bold $text-accent"))
    return lit.stylize(Style.from_meta({"does": f"screen.command('{command}')"}))


def _badge(text: str, command: str, keys: KeyMap) -> Content:
    key = keys.key(command)
    badge = Content.assemble((f"{text}: ", "$text-warning"), (key, "bold $text-accent"))
    return badge.stylize(Style.from_meta({"does": f"screen.command('{command}')"}))


def short_path(path: str) -> str:
    """A path with the person's own folder as "~"."""
    try:
        return str(Path("~") / Path(path).relative_to(Path.home())) if path else ""
    except (ValueError, RuntimeError):
        return path
