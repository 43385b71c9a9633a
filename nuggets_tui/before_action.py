"""Which files a tool's call is about, and what the hook before it says: at most one sentence of the memory, once in a
session, and only where it is sure.

The agent waits for it, so it loads next to nothing and reads what the last briefing was kept with.
"""

from __future__ import annotations

import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Final

    from core.grounding.advice import Advice
    from core.memory import Memory

FOLDER: Final = "advised"
# Words that stand before a command and are none of it.
_BEFORE: Final = frozenset(("sudo", "time", "env", "command", "exec", "nohup", "then", "do", "else"))
_PARTS: Final = re.compile(r"[&|;\n(){}]+")
# What stands between quotation marks or in a document that follows is no command.
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|<<.*", re.DOTALL)
_ORDER: Final = ("file", "command", "folder")
_LONGEST_PATH: Final = 400
_LONGEST_PATCH: Final = 200_000
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
_PATH_KEYS: Final = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "file")
_PATCH_KEYS: Final = ("command", "input", "patch", "patchText")
_PASSED_OVER: Final = frozenset(
    ("node_modules", "__pycache__", "dist", "build", "target", "venv", "vendor", "tmp", "coverage")
)
_LONGEST_COMMAND: Final = 4_000
# How old a look at the memory may be; and when a session is sure to be over.
OLD_SECONDS: Final = 600
_FORGOTTEN_SECONDS: Final = 7 * 86_400


def advice_for(told: Mapping[str, Any], root: str, known: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """What fits an action, best first. told: the event; known: kind, name, note and sentence of each, with its rank."""
    given = told.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else ""
    paths = set(filter(None, (_inside(path, root) for path in _named_paths(told))))
    fits = [one for one in known if any(_names_path(one, path) for path in paths)]
    fits += [
        one for one in known if isinstance(command, str) and _names_command(one, command[:_LONGEST_COMMAND])
    ]
    yield from sorted(fits, key=lambda one: (_ORDER.index(one[0]), -len(one[1]), -one[4]))


def edited_paths(event: Mapping[str, Any], root: str) -> Iterator[str]:
    """Paths of files in the project that a tool's call was about, from its root on; none that is made or hidden."""
    for path in map(str.strip, _named_paths(event)):
        inner = _inside(path, root) if path.isprintable() else ""
        parts = inner.split("/")
        if inner and not any(part in _PASSED_OVER or part.startswith(".") for part in parts):
            yield inner


def _named_paths(event: Mapping[str, Any]) -> Iterator[str]:
    """The paths that a tool's call names, also those in a patch."""
    for part in (event, event.get("tool_input"), event.get("tool_response")):
        if not isinstance(part, dict):
            continue
        paths = [part.get(key) for key in _PATH_KEYS]
        for value in map(part.get, _PATCH_KEYS):
            for text in value if isinstance(value, list) else [value]:
                paths += _PATCHED.findall(text[:_LONGEST_PATCH]) if isinstance(text, str) else []
        yield from (path for path in paths if isinstance(path, str) and 0 < len(path) <= _LONGEST_PATH)


def _inside(path: str, root: str) -> str:
    """A path as its project has it; "" for one outside of it."""
    if "\0" in path or not root:
        return ""
    full = os.path.realpath(os.path.join(root, path))
    base = os.path.join(os.path.realpath(root), "")
    return full[len(base) :].replace(os.sep, "/") if full.startswith(base) else ""


def _names_path(one: Sequence[Any], path: str) -> bool:
    kind, name = one[:2]
    # A name without an ending may be that of a file.
    return bool(path) and (path == name or (kind == "folder" and path.startswith(f"{name}/")))


def _names_command(one: Sequence[Any], command: str) -> bool:
    """Whether the words of a command begin one of those on a command line."""
    if one[0] != "command":
        return False
    wanted = str(one[1]).split()
    for part in _PARTS.split(_QUOTED.sub("_", command)):
        words = part.split()
        while words and (words[0] in _BEFORE or re.fullmatch(r"[A-Za-z_]\w*=\S*", words[0])):
            words.pop(0)
        if words[: len(wanted)] == wanted:
            return True
    return False


def first_time(state: str, session: str, note: str) -> bool:
    """Whether a session is told of a note for the first time, which is put down."""
    from hashlib import sha256

    folder = os.path.join(state, FOLDER)
    path = os.path.join(folder, sha256(session.encode("utf-8", "replace")).hexdigest()[:32])
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(path, "a+", encoding="utf-8") as file:
            file.seek(0)
            if note in file.read().split("\n"):
                return False
            file.write(f"{note}\n")
    except OSError:
        return False
    return True


def forget_sessions(state: str) -> None:
    """Removes what was put down for sessions that are sure to be over."""
    folder = os.path.join(state, FOLDER)
    try:
        for name in os.listdir(folder):
            if os.path.getmtime(os.path.join(folder, name)) < time.time() - _FORGOTTEN_SECONDS:
                os.remove(os.path.join(folder, name))
    except OSError:
        return


def advise(
    state: str, session: str, told: Mapping[str, Any], root: str, kept: Mapping[str, Any]
) -> tuple[str, str]:
    """The id and the sentence of the note that matters before an action, of which a session was not told; "" for none.

    kept: what the last briefing was kept with.
    """
    if state and session and time.time() - kept.get("begun", 0) < OLD_SECONDS:
        for _, _, note, said, _ in advice_for(told, root, kept.get("advice", ())):
            if first_time(state, session, note):
                return note, said
    return "", ""


def advice_of(memory: Memory) -> list[Advice]:
    """What the project's notes and the person's preferences say before actions; nothing where that is switched off."""
    from core.grounding.advice import advice
    from core.grounding.service import text_of
    from core.model.note import is_stated_preference
    from nuggets_tui.safe_text import safe_line

    here, visible = memory.standpoint, memory.snapshot.visible
    if here is None or memory.pages is not None or not memory.settings.agents.advise:
        return []
    notes = [note for note in visible if here.is_own(note.nugget_name) or is_stated_preference(note)]
    found = advice(notes, memory.grounding.standings(map(text_of, notes)))
    return [one._replace(said=safe_line(one.said)) for one in found]
