"""The first line: whose memory this is, what it holds, whether it is live, and what happened last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Final

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from core.folder import MEMORY_FOLDER
from nuggets_tui.commands import BY_NAME, PALETTE_KEY, Command, KeyMap
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
        """The fullest line that fits: what waits for a person goes last, before it the name, the counts, what happened
        last, and what is calm.
        """
        width, busy = self.size.width - 1, self.view.busy
        waits = [_live(self.view), *_waiting(self.view)]
        if busy:
            # How far long work is, and how to stop it.
            waits.append(Content.styled(f"◔ {busy}", "$text-accent").truncate(_EVENT_WIDTH, ellipsis=True))
        sync, pipeline, due = _sync_status(self.view), _pipeline_status(self.view), _dues(self.view)
        whole, short, named = self._left(full=True), self._left(), self._left(counts=False)
        calms = [
            [*sync[0], *pipeline[0], *due[0]],
            [*sync[0], *pipeline[-1], *due[0]],
            [*sync[-1], *due[0]],
            [*sync[-1], *pipeline[-1], *due[-1]],
            [*sync[-1], *due[-1]],
        ]
        for left, least, calm in (
            (whole, _EVENT_WIDTH, calms[0]),
            *((short, _LEAST_EVENT, calm) for calm in calms),
            *((left, 0, calm) for left in (short, named) for calm in calms),
            (_NAME, 0, due[-1]),
            (_NAME, 0, []),
        ):
            right = Content(_GAP).join([*waits, *calm])
            room = width - left.cell_length - right.cell_length - 2 * len(_GAP)
            event = self._event(max(room, _LEAST_EVENT)) if least and not busy else None
            if event is not None:
                right = Content(_GAP).join([right, event])
                least = min(least, self._event(_LONGEST).cell_length)  # type: ignore[union-attr]
            gap = width - left.cell_length - right.cell_length
            if gap >= 2 and (event is None or room >= least):
                return Content.assemble(left, *self._between(gap), right)
        # A part of what waits, without its key, says nothing: what has no room goes whole.
        line = _NAME
        for wait in waits:
            longer = Content(_GAP).join([line, wait])
            line = longer if longer.cell_length < self.size.width else line
        return line

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

    def _event(self, limit: int) -> Content | None:
        """What happened last, in at most so many cells."""
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
        return [[]]
    return [[_indicator(view.pipeline, view.keys)], [_indicator(view.pipeline, view.keys, shortly=True)]]


def _sync_status(view: View) -> list[list[Content]]:
    """How the memory stands to its remote: in words, and by its sign alone; nothing without a sync."""
    if view.sync is None or not view.loaded:
        return [[]]
    # Most memories have no sync, and no first frame shows one.
    from nuggets_tui.words import sync_said

    said, style = sync_said(view.sync)
    key = view.keys.key("sync")
    does = Style.from_meta({"does": "screen.command('sync')"})
    words = Content.assemble(("⇅ ", f"bold {style}"), (f"{said}: ", style), (key, "bold $text-accent"))
    return [[words.stylize(does)], [Content.styled("⇅", f"bold {style}").stylize(does)]]


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


_KEY_BAR_GAP = "  "
# Up to this rank commands stay whatever the title of the row is; of a line's width it has so much at least.
_SURE: Final = 4
_TITLE_SHARE: Final = 0.18


class KeyBar(Widget):
    """Commands with their keys, as many as fit; those of the lowest rank stay longest."""

    commands: reactive[tuple[Command, ...]] = reactive[tuple[Command, ...]](())
    object: reactive[str] = reactive("")
    """Title of the note that the commands of a row act on."""
    hint: reactive[str] = reactive("")

    async def on_click(self, event: Click) -> None:
        action = event.style.meta.get("does")
        if action:
            await self.run_action(action)

    def render(self) -> Content:
        if self.hint:
            return Content.styled(f" {self.hint}", "$text-muted")
        width = self.size.width - 1
        return Content(" ") + Content(_KEY_BAR_GAP).join(_fitting(self.commands, width, self.object))


def _fitting(commands: Sequence[Command], width: int, title: str) -> list[Content]:
    """The commands that fit. Which of the first ones do depends on no title; it has what they leave, before others."""
    commands = [command for command in commands if command.keys]
    ranked = sorted(commands, key=lambda each: each.footer)
    sure = [command for command in ranked if command.footer <= _SURE]
    named = title and any(command.name == "hide" for command in commands)
    least = int(width * _TITLE_SHARE) if named else 0
    # A space stands before the title.
    kept, room = _taken(sure, width - len(PALETTE_KEY[0]) - least - bool(named))
    title = cut(title, least + room) if named else ""
    room += least - cell_len(title)
    palette = PALETTE_KEY if room > len(PALETTE_KEY[1]) else (PALETTE_KEY[0], "")
    room -= len(palette[1]) + 1
    if len(kept) == len(sure):
        kept += _taken(ranked[len(sure) :], room)[0]
    # The first key of a pair has its words behind the second one.
    shown = [
        _of(command, title)
        for command, following in zip_longest(commands, commands[1:])
        if command in kept and (command.label or following in kept)
    ]
    last = 1 if commands and commands[-1] in kept else 0
    return [*shown[: len(shown) - last], _item(*palette, "app.command_palette"), *shown[len(shown) - last :]]


def _taken(ranked: Sequence[Command], room: int) -> tuple[list[Command], int]:
    """The first commands that have room together, and the room left."""
    taken = []
    for command in ranked:
        left = room - _of(command).cell_length - len(_KEY_BAR_GAP)
        if left < 0:
            break
        taken.append(command)
        room = left
    return taken, room


def _of(command: Command, title: str = "") -> Content:
    # What is no command of the catalogue is a key of the pane itself.
    known = command.name in BY_NAME
    action = f"screen.command('{command.name}')" if known else f"app.simulate_key('{command.keys}')"
    named = f" {title}" if title and command.name == "hide" else ""
    return _item(command.shown_keys[0], command.label + named, action)


def _item(key: str, label: str, action: str) -> Content:
    text = Content.assemble((key, "bold $text-accent"), (f" {label}" if label else "", "$text-muted"))
    # A mark of our own instead of "@click", which would paint every key as a link.
    return text.stylize(Style.from_meta({"does": action}))
