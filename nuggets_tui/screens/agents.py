"""Connecting agents: which of them, and what becomes of each of an agent's files before anything is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from nuggets_tui.agent_files import PART_WORDS, STATE_WORDS, AgentHere, changed_files, difference
from nuggets_tui.notices import warn
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.screens.dialog import Dialog, key_content
from nuggets_tui.widgets.fields import Sides
from nuggets_tui.widgets.header import short_path
from nuggets_tui.widgets.line_view import LineView, diff_text_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, cut_middle, sides
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.agents.connecting import FileChange, Standing

_STYLES: Final = {
    "current": "$text-success", "outdated": "$text-warning", "foreign": "$text-error", "broken": "$text-error",
    "ignored": "$text-error", "absent": MUTED,
}  # fmt: skip
_PATH: Final = 200
# What an agent's files become: for connecting it, or with `remove` for taking that back.
Changes = tuple["FileChange", ...]
Plan = Callable[[bool], Awaitable[Changes]]
# The same carried out, where they still become what was shown; else what they would become now.
CarryOut = Callable[[bool, Changes], Awaitable[tuple[bool, Changes]]]


class AgentsScreen(ChoiceScreen):
    """Answers with the name of an agent. Those that are not on this machine are told last and cannot be chosen."""

    heading = "Connect an agent"
    keys = "⏎  preview · ↑↓  choose · esc  close"
    said = (
        "A connected agent asks this memory and keeps what it learns here. You see every line before anything is "
        "written, and you can take it back."
    )

    def __init__(self, agents: Sequence[AgentHere]) -> None:
        here = [one for one in agents if one.installed or not one.untouched]
        away = [one for one in agents if one not in here]
        if not here:
            self.keys = "esc  close"
        super().__init__([*map(_agent_row, here), *map(_absent_row, away)])


def _agent_row(one: AgentHere) -> Row:
    worst = next((each for each in one.standings if each.shown in ("foreign", "broken", "ignored")), None)
    if one.connected:
        said = Content.styled("connected with this memory", "$text-success")
    elif worst is not None:
        said = content(STATE_WORDS[worst.shown], "$text-error")
    elif one.untouched:
        said = Content.styled("not connected", MUTED)
    else:
        said = Content.styled("connected in part, or with another memory", "$text-warning")
    paths = " ".join(dict.fromkeys(short_path(str(each.target.path)) for each in one.standings))
    return Row(
        one.name,
        (
            sides(content(one.title, "bold"), said),
            lambda width: content(cut_middle(safe_line(paths, 2_000), width - 1), MUTED),
        ),
    )


def _absent_row(one: AgentHere) -> Row:
    said = Content.styled("not found on this machine", MUTED)
    return Row(one.name, (sides(content(one.title, MUTED), said), Content("")), selectable=False)


class AgentScreen(Dialog[str]):
    """An agent's files at the left, at the right the lines that come and go. Answers with what was done, as a sentence.

    plan, carry_out: what connecting would do, or with True taking it back, and the same carried out.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", show=False),
        Binding("d", "other", "disconnect", show=False),
    ]
    about = (
        "The files of an agent, and every line that connecting it adds. All else in them stays byte for byte. "
        "Nothing is written until you apply; taking it back leads to the files as they were."
    )

    def __init__(
        self,
        agent: AgentHere,
        changes: Changes,
        plan: Plan,
        carry_out: CarryOut,
        *,
        remove: bool = False,
        remarks: Sequence[str] = (),
    ) -> None:
        super().__init__(classes="full")
        self.heading = agent.title
        self._agent = agent
        self._changes = changes
        self._plan = plan
        self._carry_out = carry_out
        self._remove = remove
        self._remarks = remarks
        self._writing = False

    def compose_inside(self) -> ComposeResult:
        yield Static(self._said(), classes="words")
        yield Sides(RowList(id="changes"), LineView(id="difference"), ("Files", "What changes"))

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self._show()

    def _said(self) -> Content:
        title, changed = self._agent.title, changed_files(self._changes)
        if not changed:
            done = "is not connected" if self._remove else "is connected with this memory"
            return content(f"{title} {done}; there is nothing to change.", "$text-success")
        what = "disconnect" if self._remove else "connect"
        lines = [
            f"This would {what} {title}: {plural(len(changed), 'file')}. Nothing is written until you apply."
        ]
        lines += [] if self._remove else self._remarks
        return content(" ".join(lines), MUTED)

    def _show(self) -> None:
        self.query_one(".words", Static).update(self._said())
        rows = self.query_one(RowList)
        rows.set_rows(
            [self._row(str(place), one) for place, one in enumerate(self._changes)], keep_cursor=False
        )
        if self._changes:
            self._show_file(0)
        self.refresh_keys()

    def _row(self, key: str, change: FileChange) -> Row:
        parts = ", ".join(PART_WORDS[part] for part in change.parts)
        path = short_path(str(change.path))
        kind = "still used" if change.kind == "kept" else change.kind
        style = MUTED if change.kind in ("unchanged", "kept") else "$text-secondary"
        return Row(
            key,
            (
                sides(content(parts, "bold"), Content.styled(kind, style)),
                lambda width: content(cut_middle(safe_line(path, _PATH), width - 1), MUTED),
            ),
        )

    def _show_file(self, place: int) -> None:
        change = self._changes[place]
        standings = [one for one in self._agent.standings if one.target.path == change.path]
        self.query_one("#difference", LineView).show_lines(partial(_file_lines, change, standings))

    @property
    def _connected(self) -> bool:
        """Whether there is something that can be taken back."""
        return not self._agent.untouched

    def key_line(self) -> Content:
        if self._writing:
            return Content.styled("◔ writing …", "$text-accent")
        keys = []
        if changed_files(self._changes):
            keys.append(f"ctrl+s  {'disconnect' if self._remove else 'connect'}")
        if self._connected:
            keys.append(f"d  {'back to connecting' if self._remove else 'disconnect'}")
        return key_content(" · ".join([*keys, "tab  switch", "esc  close"]))

    @on(RowList.RowHighlighted)
    def show_difference(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        if event.index < len(self._changes):
            self._show_file(event.index)

    def action_close(self) -> None:
        if not self._writing:
            super().action_close()

    @work(group="plan", exclusive=True, exit_on_error=False)
    async def action_other(self) -> None:
        if self._writing or not self._connected:
            return
        wanted = not self._remove
        found = await self.attempt(self._plan(wanted))
        if found is not None:
            self._remove, self._changes = wanted, found
            self._show()

    @work(group="apply", exit_on_error=False)
    async def action_apply(self) -> None:
        if self._writing:
            return
        if not changed_files(self._changes):
            self.dismiss(None)
            return
        self._writing = True
        self.refresh_keys()
        done = await self.attempt(self._carry_out(self._remove, self._changes))
        self._writing = False
        if done is None:
            self.refresh_keys()
        elif not done[0]:
            self._changes = done[1]
            self._show()
            warn(self, "A file changed meanwhile. Nothing was written: look again.")
        else:
            self.dismiss("disconnected" if self._remove else "connected")


def _file_lines(change: FileChange, standings: Sequence[Standing], width: int) -> list[Content]:
    lines = [content(short_path(str(change.path)), "bold")]
    if change.real != change.path:
        lines.append(content(f"a link to {change.real}", MUTED))
    for one in standings:
        said = f"now: {PART_WORDS[one.target.part]} {STATE_WORDS[one.shown]}"
        lines.append(content(f"{said}: {one.problem}" if one.problem else said, _STYLES[one.shown]))
    lines.append(Content(""))
    shown = difference(change)
    if change.kind == "deleted":
        lines.append(Content.styled("The file was made for it and is deleted.", MUTED))
    elif change.kind == "kept":
        lines.append(Content.styled("Another agent still reads these lines: they stay.", MUTED))
    elif not shown:
        lines.append(Content.styled("Nothing changes here.", MUTED))
    return wrapped([*lines, *diff_text_lines(shown)], width)
