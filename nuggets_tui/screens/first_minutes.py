"""What stands on the screen when there is nothing to show yet, or when the memory cannot be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.errors import NuggetsError
from core.folder import USUAL_HOME
from nuggets_tui.agent_files import PART_WORDS, STATE_WORDS, AgentHere, changed_files, difference
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.notices import describe_error, step, warn
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import BrowseScreen, ChoiceScreen, key_content
from nuggets_tui.view import View
from nuggets_tui.widgets.header import short_path
from nuggets_tui.widgets.line_view import MakeLines, diff_text_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, path_line, sides
from nuggets_tui.words import plural, time_ago

if TYPE_CHECKING:
    from core.agents.connecting import FileChange, Standing
    from core.memories import FoundMemory

_KEY = "bold $text-accent"
_MOST_NAMED: Final = 4
OFFER_KEYS: Final = "123456789"


class Offer(NamedTuple):
    """Something to begin with by one key. agent: the one to connect. path: what to import instead, "" to choose it."""

    agent: str = ""
    path: str = ""


class Here(NamedTuple):
    """What was found on this machine."""

    memories: Sequence[FoundMemory]
    agents: Sequence[AgentHere] = ()

    @property
    def pages(self) -> list[FoundMemory]:
        """The memories of Claude Code that can be read."""
        return [one for one in self.memories if one.kind == "claude" and not one.problem]

    def others(self, home: str) -> list[FoundMemory]:
        """Memories as this program keeps them, but for the one that is open."""
        return [one for one in self.memories if one.kind == "nuggets" and one.path != home]


def offers(here: Here, home: str) -> tuple[Offer, ...]:
    """What to begin with: memories to bring in, then agents to connect; as many as there are keys for. Nothing for a
    folder whose name may be a slip of the pen.
    """
    if not (Path(home).is_dir() or _is_usual(Path(home))):
        return ()
    pages = here.pages
    found = [Offer(path=pages[0].path if len(pages) == 1 else "")] if pages else []
    found += [Offer(path=one.path) for one in here.others(home)[:_MOST_NAMED]]
    found += [Offer(agent=one.name) for one in here.agents if one.installed and not one.connected]
    return tuple(found[: len(OFFER_KEYS)])


def welcome_lines(view: View, here: Here | None = None) -> MakeLines:
    """How to begin with a memory that holds nothing: with what is on this machine, with the demo, or from nothing.

    here: what is on this machine; None while it is looked for.
    """
    home = Path(view.home)
    if home.is_dir() or _is_usual(home):
        lines = [*_welcome(view, here), *_connect(view), *_where(home)]
    else:
        lines = [*_no_such_folder(view, here.memories if here is not None else ())]
        lines += _found_lines(view, None if here is None else Here(here.pages))
        lines += [*_first_keys(view.keys), *_connect(view)[:-1]]
    return partial(_wrapped, lines)


def _of_team(view: View) -> list[Content]:
    """The notes of the team in whose project one works, and the key for them."""
    if view.team is None:
        return []
    said = plural(len(view.team.snapshot.visible), "note")
    keys = view.keys
    return [
        Content.styled("In this project", "bold"),
        Content.assemble((keys.key("team"), _KEY), f"  open the team's memory: {said}"),
        Content.assemble((keys.key("search"), _KEY), "  search it from here"),
        Content(""),
    ]


def _is_usual(home: Path) -> bool:
    try:
        return home.resolve() == Path(USUAL_HOME).expanduser().resolve()
    except (RuntimeError, OSError):
        return False


def _no_such_folder(view: View, found: Sequence[FoundMemory]) -> list[Content]:
    """A slip of the pen must not look like a new memory."""
    from core.memories import nearest_memories

    lines = [
        Content.styled("There is no such folder.", "bold $text-warning"),
        content(view.home, "$text-secondary"),
        Content(""),
        Content(
            "You named it with --home or NUGGETS_HOME. For a new memory, go ahead: your first change "
            "creates the folder. If the name is wrong, quit and correct it, or open another memory "
            "from here."
        ),
        Content(""),
    ]
    near = nearest_memories(Path(view.home), found)
    if near:
        lines.append(Content.styled("Memories nearby", "bold"))
        lines += [content(short_path(one.path), "$text-secondary") for one in near]
        lines.append(Content(""))
    return lines


def _welcome(view: View, here: Here | None) -> list[Content]:
    there = "This memory is empty." if Path(view.home).is_dir() else "There is no memory yet."
    return [
        Content.styled(f"Welcome. {there}", "bold $text-accent"),
        Content(""),
        *_found_lines(view, here),
        *_of_team(view),
        *_first_keys(view.keys),
        Content(
            "Coding agents keep what they learn in a folder: short facts that they recall by a key, "
            "and notes linked to each other. Here you watch them learn, find anything in a second, "
            "and correct what is wrong. Nothing is lost: you can undo whatever you hide or change."
        ),
        Content(""),
    ]


def _first_keys(keys: KeyMap) -> list[Content]:
    parts = (
        ("Look around", ((("demo", "explore a copy of a sample memory"),),)),
        (
            "Start empty",
            (
                (("new_fact", "remember a first fact"), ("new_note", "write a first note")),
                (("pipeline", "submit a text: a local model extracts facts"),),
                (("help", "keys, words and signs"), ("quit", "quit")),
            ),
        ),
    )
    lines = []
    for heading, rows in parts:
        lines.append(Content.styled(heading, "bold"))
        for row in rows:
            said = [Content.assemble((f"{keys.key(name):<2}", _KEY), f" {words:<28}") for name, words in row]
            lines.append(Content("").join(said).rstrip())
        lines.append(Content(""))
    return lines


def _found_lines(view: View, here: Here | None) -> list[Content]:
    """What is here, each with the key that brings it in or connects it; None: it is looked for."""
    key = view.keys.key("memories")
    head = "Found on this machine"
    if here is None:
        # The line is there from the beginning, so that little moves once they are found.
        return [Content.assemble((head, "bold"), ("   looking …", MUTED)), Content("")]
    own = dict(zip(offers(here, view.home), OFFER_KEYS, strict=False))
    pages, others = here.pages, here.others(view.home)
    lines = [*_page_lines(pages, own), *_other_lines(view, others, own)]
    opens = (
        (("   ", ""), (key, _KEY), (" opens one of them", MUTED))
        if lines
        else (("   no other memory", MUTED),)
    )
    lines = [Content.assemble((head, "bold"), *opens), *lines]
    if not (pages or others) and not any(one.installed for one in here.agents):
        return [*lines, Content("")]
    return [*lines, *_agent_lines(view, here.agents, own), Content("")]


def _page_lines(pages: Sequence[FoundMemory], own: Mapping[Offer, str]) -> list[Content]:
    if not pages:
        return []
    files = plural(sum(one.files for one in pages), "page")
    said = f"{plural(len(pages), 'project')} with {files}, read-only here"
    key = own.get(Offer(path=pages[0].path if len(pages) == 1 else ""))
    return [Content.assemble(*_offered(key, "import"), ("Claude Code  ", "$text-secondary"), said)]


def _other_lines(view: View, others: Sequence[FoundMemory], own: Mapping[Offer, str]) -> list[Content]:
    lines = []
    for one in others[:_MOST_NAMED]:
        age = f", {time_ago(one.at, view.now)}" if one.at and view.now else ""
        said = f"  {plural(one.files, 'file')}{age}"
        path = content(short_path(one.path), "$text-secondary")
        key = own.get(Offer(path=one.path))
        lines.append(Content.assemble(*_offered(key, "import"), path, (said, MUTED)))
    if len(others) > _MOST_NAMED:
        lines.append(Content.styled(f"and {len(others) - _MOST_NAMED} more", MUTED))
    return lines


def _agent_lines(view: View, agents: Sequence[AgentHere], own: Mapping[Offer, str]) -> list[Content]:
    """The agents to connect in one line, and those that are, with whether their first recall is waited for."""
    parts = [
        Content.assemble(*_offered(key, "connect"), (one.title, "$text-secondary"))
        for one in agents
        if (key := own.get(Offer(agent=one.name))) is not None
    ]
    lines = [Content("   ").join(parts)] if parts else []
    for one in agents:
        if one.connected:
            waits = (
                "waiting for its first recall" if one.title in view.awaited else "connected with this memory"
            )
            lines.append(
                Content.assemble(
                    ("●  ", "$text-success"), (one.title, "$text-secondary"), (f"  {waits}", MUTED)
                )
            )
    return lines


def _offered(key: str | None, verb: str) -> tuple[tuple[str, str], ...]:
    return () if key is None else ((f"{key:<3}", _KEY), (f"{verb} ", ""))


def _connect(view: View) -> list[Content]:
    """How an agent is connected that was not found, and what of it is seen here."""
    return [
        Content.styled("Connect an agent", "bold"),
        Content.assemble(
            "A connected agent asks this memory and keeps what it learns: ",
            (view.keys.key("connect"), _KEY),
            " shows how, as does",
        ),
        Content.styled("  nuggets agent install claude", "$text-secondary"),
        Content(
            "Instead of claude: codex, opencode, pi, cursor or gemini. --dry-run shows every line first."
        ),
        Content.assemble(
            "Any other agent can call ",
            ('nuggets recall "what you look for"', "$text-secondary"),
            " and nuggets remember. What it writes appears here at once.",
        ),
        Content(""),
    ]


def _where(home: Path) -> list[Content]:
    said = "Nothing is written yet" if home.is_dir() else "Your first change creates it"
    return [
        Content.assemble(("Where  ", "bold"), content(short_path(str(home)), "$text-secondary")),
        Content.styled(f"{said}. For another folder: nuggets --home DIR, or set NUGGETS_HOME.", MUTED),
    ]


def trouble_lines(error: Exception, keys: KeyMap = DEFAULT) -> MakeLines:
    """Why the memory cannot be opened, calmly: what, where, what was kept safe, what to do."""
    title, _ = describe_error(error, keys=keys)
    lines = [Content.styled("This memory cannot be opened now.", "bold $text-warning"), Content("")]
    where, kept, todo = "", "", ""
    if isinstance(error, NuggetsError):
        where, kept, todo = error.where, error.kept, step(error, keys)
    for label, said in (("What", title), ("Where", where), ("Safe", kept), ("To do", todo)):
        if said:
            lines += [Content.assemble((f"{label:<7}", MUTED), Content(safe_line(said)))]
    lines += [
        Content(""),
        Content.styled("This screen tries every second and opens the memory once it can be read.", MUTED),
        Content(""),
        Content.assemble((keys.key("verify"), _KEY), ("  see what can be repaired, and repair it", MUTED)),
        Content.assemble((keys.key("open_broken"), _KEY), ("  open the file in $EDITOR", MUTED)),
        Content.assemble((keys.key("quit"), _KEY), ("  quit", MUTED)),
    ]
    return partial(_wrapped, lines)


def _wrapped(lines: Sequence[Content], width: int) -> list[Content]:
    room = min(width, 92)
    return [part for line in lines for part in (line.wrap(room) if line.plain else [line])]


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
