"""What stands on the screen when there is nothing to show yet, or when the memory cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from core.errors import NuggetsError
from core.folder import USUAL_HOME
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.notices import describe_error, step
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.view import View
from nuggets_tui.widgets.header import short_path
from nuggets_tui.widgets.line_view import MakeLines
from nuggets_tui.words import plural, time_ago

if TYPE_CHECKING:
    from core.memories import FoundMemory
    from nuggets_tui.agent_files import AgentHere

_MUTED = "$text-muted"
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
        return [Content.assemble((head, "bold"), ("   looking …", _MUTED)), Content("")]
    own = dict(zip(offers(here, view.home), OFFER_KEYS, strict=False))
    pages, others = here.pages, here.others(view.home)
    lines = [*_page_lines(pages, own), *_other_lines(view, others, own)]
    opens = (
        (("   ", ""), (key, _KEY), (" opens one of them", _MUTED))
        if lines
        else (("   no other memory", _MUTED),)
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
        lines.append(Content.assemble(*_offered(key, "import"), path, (said, _MUTED)))
    if len(others) > _MOST_NAMED:
        lines.append(Content.styled(f"and {len(others) - _MOST_NAMED} more", _MUTED))
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
                    ("●  ", "$text-success"), (one.title, "$text-secondary"), (f"  {waits}", _MUTED)
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
        Content.styled(f"{said}. For another folder: nuggets --home DIR, or set NUGGETS_HOME.", _MUTED),
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
            lines += [Content.assemble((f"{label:<7}", _MUTED), Content(safe_line(said)))]
    lines += [
        Content(""),
        Content.styled("This screen tries every second and opens the memory once it can be read.", _MUTED),
        Content(""),
        Content.assemble((keys.key("verify"), _KEY), ("  see what can be repaired, and repair it", _MUTED)),
        Content.assemble((keys.key("open_broken"), _KEY), ("  open the file in $EDITOR", _MUTED)),
        Content.assemble((keys.key("quit"), _KEY), ("  quit", _MUTED)),
    ]
    return partial(_wrapped, lines)


def _wrapped(lines: Sequence[Content], width: int) -> list[Content]:
    room = min(width, 92)
    return [part for line in lines for part in (line.wrap(room) if line.plain else [line])]
