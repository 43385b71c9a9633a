"""What stands on the screen when there is nothing to show yet, or when the memory cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.content import Content

from core.errors import NuggetsError
from core.folder import DONNA_HOME, USUAL_HOME
from nuggets_tui.key_map import DEFAULT, KeyMap
from nuggets_tui.notices import describe_error
from nuggets_tui.remedies import step
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.view import View
from nuggets_tui.widgets.header import short_path
from nuggets_tui.widgets.line_view import MakeLines
from nuggets_tui.words import plural, time_ago

if TYPE_CHECKING:
    from core.memories import FoundMemory

_MUTED = "$text-muted"
_KEY = "bold $text-accent"
_MOST_NAMED: Final = 4


def welcome_lines(view: View, found: Sequence[FoundMemory] | None = None) -> MakeLines:
    """How to begin with a memory that holds nothing: with what is on this machine, with the demo, or from nothing.

    found: the memories that are on this machine; None while they are looked for.
    """
    home = Path(view.home)
    if home.is_dir() or _is_usual(home):
        lines = [*_welcome(view, found), *_CONNECT, *_where(home)]
    else:
        pages = None if found is None else [one for one in found if one.kind == "claude"]
        lines = [*_no_such_folder(view, found or ()), *_found_lines(view, pages), *_first_keys(view.keys)]
        lines += _CONNECT[:-1]
    return partial(_wrapped, lines)


def _is_usual(home: Path) -> bool:
    """Whether nobody named the folder."""
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


def _welcome(view: View, found: Sequence[FoundMemory] | None) -> list[Content]:
    there = "This memory is empty." if Path(view.home).is_dir() else "There is no memory yet."
    return [
        Content.styled(f"Welcome. {there}", "bold $text-accent"),
        Content(""),
        *_elsewhere(view, found or ()),
        *_found_lines(view, found),
        *_first_keys(view.keys),
        Content(
            "Coding agents keep what they learn in a folder: short facts that they recall by a key, "
            "and notes linked to each other. Here you watch them learn, find anything in a second, "
            "and correct what is wrong. Nothing is lost: you can undo whatever you hide or change."
        ),
        Content(""),
    ]


def _elsewhere(view: View, found: Sequence[FoundMemory]) -> list[Content]:
    """The memory that the newest build of the original keeps in its own folder, where there is none here."""
    name = Path(DONNA_HOME).name
    if Path(view.home).is_dir() or not any(Path(one.path).name == name for one in found):
        return []
    path = next(one.path for one in found if Path(one.path).name == name)
    said = Content.assemble(
        ("There is a memory in ", "bold"),
        content(short_path(path), "bold $text-accent"),
        (
            f": {view.keys.key('memories')} opens it, as does nuggets --home {safe_line(short_path(path))}",
            "",
        ),
    )
    return [said, Content("")]


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


def _found_lines(view: View, found: Sequence[FoundMemory] | None) -> list[Content]:
    """How many memories of which kind there are, and the newest by name; None: they are looked for."""
    key = view.keys.key("memories")
    head = "Found on this machine"
    if found is None:
        # The line is there from the beginning, so that little moves once they are found.
        return [Content.assemble((head, "bold"), ("   looking …", _MUTED)), Content("")]
    pages = [one for one in found if one.kind == "claude" and not one.problem]
    others = [one for one in found if one.kind == "nuggets" and one.path != view.home]
    if not pages and not others:
        return [Content.assemble((head, "bold"), ("   no other memory", _MUTED)), Content("")]
    lines = [Content.assemble((head, "bold"), ("   ", ""), (key, _KEY), (" opens one of them", _MUTED))]
    if pages:
        files = plural(sum(one.files for one in pages), "page")
        said = f"{plural(len(pages), 'project')} with {files}, read-only here"
        lines.append(Content.assemble(("Claude Code  ", "$text-secondary"), said))
    for one in others[:_MOST_NAMED]:
        age = f", {time_ago(one.at, view.now)}" if one.at and view.now else ""
        said = f"  {plural(one.files, 'file')}{age}"
        lines.append(Content.assemble(content(short_path(one.path), "$text-secondary"), (said, _MUTED)))
    if len(others) > _MOST_NAMED:
        lines.append(Content.styled(f"and {len(others) - _MOST_NAMED} more", _MUTED))
    return [*lines, Content("")]


_CONNECT: Final = (
    Content.styled("Connect an agent", "bold"),
    Content("Add two lines to the file that your agent reads at its start (CLAUDE.md, AGENTS.md):"),
    Content.styled(
        '  Before you search the code, ask the memory: nuggets recall "what you look for".', "$text-secondary"
    ),
    Content.styled(
        '  To keep what you learn: nuggets remember NUGGET "short key" "value".', "$text-secondary"
    ),
    Content.styled("What the agent writes appears here at once.", _MUTED),
    Content(""),
)


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
