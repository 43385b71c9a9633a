"""Connecting agents: which of them, and what becomes of each of an agent's files before anything is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from nuggets_tui.agent_files import PART_WORDS, STATE_WORDS, AgentHere, changed_files, difference
from nuggets_tui.notices import warn
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.screens.dialog import BrowseScreen, key_content
from nuggets_tui.widgets.header import short_path
from nuggets_tui.widgets.line_view import MakeLines, diff_text_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, path_line, sides
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.agents.connecting import FileChange, Standing

_STYLES: Final = {
    "current": "$text-success", "outdated": "$text-warning", "foreign": "$text-error", "broken": "$text-error",
    "ignored": "$text-error", "absent": MUTED,
}  # fmt: skip
# What an agent's files become: for connecting it, or with `remove` for taking that back.
Changes = tuple["FileChange", ...]
Plan = Callable[[bool], Awaitable[Changes]]
# The same carried out, where they still become what was shown; else what they would become now.
CarryOut = Callable[[bool, Changes], Awaitable[tuple[bool, Changes]]]


def agents_choice(agents: Sequence[AgentHere]) -> ChoiceScreen:
    """Answers with the name of an agent. Those that are not on this machine are told last and cannot be chosen."""
    here = [one for one in agents if one.installed or not one.untouched]
    away = [one for one in agents if one not in here]
    absent = Content.styled("not found on this machine", MUTED)
    rows = [
        *map(_agent_row, here),
        *(Row(one.name, (sides(content(one.title, MUTED), absent), Content("")), False) for one in away),
    ]
    said = (
        "A connected agent asks this memory and keeps what it learns here. You see every line before anything is "
        "written, and you can take it back."
    )
    return ChoiceScreen(rows, "Connect an agent", said, "preview" if here else "")


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
    return Row(one.name, (sides(content(one.title, "bold"), said), path_line(safe_line(paths, 2_000))))


class AgentScreen(BrowseScreen[str]):
    """An agent's files at the left, at the right the lines that come and go. Answers with what was done.

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
    titles = ("Files", "What changes")

    def __init__(
        self, agent: AgentHere, changes: Changes, plan: Plan, carry_out: CarryOut, *, remarks: Sequence[str]
    ) -> None:
        self._agent = agent
        self._changes = changes
        self._plan = plan
        self._carry_out = carry_out
        self._remarks = remarks
        self._remove = self._writing = False
        super().__init__(agent.title, self._told())

    def _told(self) -> Content:
        title, changed = self._agent.title, changed_files(self._changes)
        if not changed:
            done = "is not connected" if self._remove else "is connected with this memory"
            return content(f"{title} {done}; there is nothing to change.", "$text-success")
        what = "disconnect" if self._remove else "connect"
        files = plural(len(changed), "file")
        lines = [f"This would {what} {title}: {files}. Nothing is written until you apply."]
        lines += [] if self._remove else self._remarks
        return content(" ".join(lines), MUTED)

    def fill(self, rows: RowList) -> None:
        made = []
        for place, change in enumerate(self._changes):
            parts = ", ".join(PART_WORDS[part] for part in change.parts)
            kind = "still used" if change.kind == "kept" else change.kind
            style = MUTED if change.kind in ("unchanged", "kept") else "$text-secondary"
            head = sides(content(parts, "bold"), Content.styled(kind, style))
            made.append(Row(str(place), (head, path_line(short_path(str(change.path))))))
        rows.set_rows(made, keep_cursor=False)

    def detail(self, row: Row, index: int) -> MakeLines:
        change = self._changes[index]
        standings = [one for one in self._agent.standings if one.target.path == change.path]
        return partial(_file_lines, change, standings)

    def key_line(self) -> Content:
        if self._writing:
            return Content.styled("◔ writing …", "$text-accent")
        keys = []
        if changed_files(self._changes):
            keys.append(f"ctrl+s  {'disconnect' if self._remove else 'connect'}")
        if not self._agent.untouched:
            keys.append(f"d  {'back to connecting' if self._remove else 'disconnect'}")
        return key_content(" · ".join([*keys, "tab  switch", "esc  close"]))

    def action_close(self) -> None:
        if not self._writing:
            super().action_close()

    @work(group="plan", exclusive=True, exit_on_error=False)
    async def action_other(self) -> None:
        if not self._writing and not self._agent.untouched:
            found = await self.attempt(self._plan(not self._remove))
            if found is not None:
                self._remove = not self._remove
                self._show(found)

    def _show(self, changes: Changes) -> None:
        self._changes = changes
        self.say(self._told())
        self.fill(self.rows)
        self.show_detail()

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
            self._show(done[1])
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
