"""`nuggets hook`: takes one event of an agent. The agent waits for it, so it loads next to nothing: what is to be kept
is put down in a small file, and a process of its own brings it into the memory.

It ends with exit code 0 whatever happens, and within its deadline.
"""

from __future__ import annotations

import os
import sys

from core.caught import count, put
from core.home import team_near
from core.projects import project_root
from core.user_folders import cache_folder, state_folder
from nuggets_tui.detached import start
from nuggets_tui.hooks.places import (
    BRIEFING,
    briefing_name,
    memory_folder,
    nugget_of,
    own_settings,
    version_of,
    write_log,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any, Final

# Seconds: after the first the process ends, whatever it is doing; for the second it waits for a briefing being made.
_DEADLINE: Final = 1.5
_PATIENCE: Final = 1.2
# The same where a session goes on: its compaction took longer, and its checkpoint is worth more than haste.
_DEADLINE_GOING_ON: Final = 4.0
_PATIENCE_GOING_ON: Final = 3.5
_LONGEST: Final = 16 << 20
_MOST_CAUGHT: Final = 500
_STARTS: Final = frozenset(("SessionStart", "sessionStart"))
_PROMPTS: Final = frozenset(("UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt"))
_TOOLS: Final = frozenset(("PostToolUse", "AfterTool", "afterFileEdit"))
_NO_HOOKS: Final = ("NUGGETS_NO_HOOKS", "SIGNET_NO_HOOKS")
_COMPACTIONS: Final = frozenset(("PreCompact", "PreCompress", "preCompact"))
_ENDS: Final = frozenset(("SessionEnd", "sessionEnd"))
# Characters of a prompt that are looked at, and that are kept.
_LOOKED_AT: Final = 4_000
_KEPT: Final = 200
_LONGEST_SESSION: Final = 1_000
# So many prompts wait to be put down together.
_PROMPTS_TOGETHER: Final = 10
_PLAIN: Final = frozenset(("opencode", "pi"))
# Where a session goes on, as its start says.
_GOES_ON: Final = frozenset(("compact", "resume"))


def main(arguments: Sequence[str]) -> None:
    """Takes the event on standard input, and ends the process."""
    agent, home = "", ""
    if any(map(os.environ.get, _NO_HOOKS)):
        # A session that only extracts facts for us.
        _end()
    try:
        _set_deadline(_DEADLINE)
        agent, home = _asked(arguments)
        _take(agent, home)
    except BaseException as error:
        # Nothing of the event is in the log, and nothing but the log tells of it.
        write_log(home or memory_folder(), agent, "", f"failed: {type(error).__name__}")
    _end()


def _end() -> None:
    # Without the interpreter's own last words, such as of a closed pipe; all that was said is out.
    os._exit(0)


def _set_deadline(seconds: float) -> None:
    try:
        import signal

        signal.signal(signal.SIGALRM, lambda number, frame: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, seconds)
    except (ImportError, AttributeError, ValueError):
        import threading

        timer = threading.Timer(seconds, os._exit, (0,))
        timer.daemon = True
        timer.start()


def _asked(arguments: Sequence[str]) -> tuple[str, str]:
    """The agent and the memory's folder that a call names; what it does not know is passed over."""
    agent, named = "", ""
    words = iter(arguments)
    for word in words:
        if word == "--home":
            named = next(words, "")
        elif word.startswith("--home="):
            named = word.partition("=")[2]
        elif not word.startswith("-") and not agent:
            agent = word.lower()[:32] if word.isalnum() else "unknown"
    return agent, memory_folder(named)


def _take(agent: str, home: str) -> None:
    if sys.stdin is None or sys.stdin.isatty():
        if sys.stderr is not None:
            sys.stderr.write("nuggets hook reads an event as JSON from standard input; agents call it.\n")
        return
    data = _read()
    if data is None:
        write_log(home, agent, "", f"the event is longer than {_LONGEST} bytes")
        return
    import json

    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        write_log(home, agent, "", "standard input is no JSON" if data.strip() else "standard input is empty")
        return
    if not isinstance(event, dict):
        write_log(home, agent, "", "standard input is JSON, but not an object")
        return
    name = event.get("hook_event_name")
    name = name if isinstance(name, str) and name.isalnum() and len(name) < 40 else ""
    if name in _STARTS:
        _brief(agent, home, name, event)
    elif name in _PROMPTS:
        if name == "beforeSubmitPrompt":
            # Cursor wants to be told that it may go on.
            os.write(1, b'{"continue": true}\n')
        _keep_said(agent, home, event)
    elif name in _TOOLS:
        _keep_paths(agent, home, event)
    elif name:
        if name in _COMPACTIONS or name in _ENDS:
            _keep_event(agent, home, event, "compaction" if name in _COMPACTIONS else "end")
        if name in _ENDS:
            _take_session(home, event, ended=True)
        folder = _text(event, "cwd", "workspace_roots")
        _bring_in(home, nugget_of(folder), _near(folder))
    else:
        write_log(home, agent, "", "the event has no hook_event_name")


def _read() -> bytes | None:
    """Standard input as a whole; None for too much of it, read to its end all the same."""
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 20):
        size += len(part)
        if size <= _LONGEST:
            parts.append(part)
    return b"".join(parts) if size <= _LONGEST else None


def _text(event: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = event.get(key)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and value and "\0" not in value:
            return value[:4096]
    return ""


# Catching


def _keep_said(agent: str, home: str, event: Mapping[str, Any]) -> None:
    from nuggets_tui.hooks.capture import statements

    _take_session(home, event)
    prompt = _prompt(event)
    found = list(statements(prompt))
    followed = _is_followed(home, event) and bool(prompt.strip())
    if not found and not followed:
        return
    said = [(kind, clean) for kind, text in found if (clean := _without_credentials(text))]
    caught: dict[str, object] = {"said": said} if said else {}
    if followed:
        begins = " ".join(prompt[:_LOOKED_AT].split())
        caught |= {"event": "prompt", "text": _without_credentials(begins)[:_KEPT]}
        caught["root"] = project_root(_text(event, "cwd", "workspace_roots"))
    if caught and _spool(agent, home, event, caught) and (said or _many_wait(home)):
        _start_worker(home)


def _without_credentials(text: str) -> str:
    """A text as it may be put down; "" for one that may tell a password in plain words."""
    from nuggets_tui.hooks.capture import is_plain

    if is_plain(text):
        return text
    from core.text.plain_passwords import plain_password
    from core.text.secrets import masked

    return "" if plain_password(text) else masked(text)


def _keep_event(agent: str, home: str, event: Mapping[str, Any], kind: str) -> None:
    """Puts down that a session ends or is compacted; whoever brings it in makes the checkpoint."""
    if _is_followed(home, event):
        root = project_root(_text(event, "cwd", "workspace_roots"))
        _spool(
            agent, home, event,
            {"event": kind, "text": "", "root": root, "transcript": _text(event, "transcript_path")},
        )  # fmt: skip


def _is_followed(home: str, event: Mapping[str, Any]) -> bool:
    """Whether checkpoints are made of a session: it has a name, and there is a memory."""
    return bool(_session(event)) and bool(version_of(home))


def _many_wait(home: str) -> bool:
    state = state_folder(home)
    return bool(state and count(state) >= _PROMPTS_TOGETHER)


def _session(event: Mapping[str, Any]) -> str:
    """The session that an event is of: as NUGGETS_SESSION says for all that an agent starts, else as that says."""
    said = _text(event, "session_id", "conversation_id", "thread_id").strip()[:_LONGEST_SESSION]
    return (os.environ.get("NUGGETS_SESSION", "").strip() or said) if said else ""


def _take_session(home: str, event: Mapping[str, Any], *, ended: bool = False) -> None:
    """Has the agent's servers and commands count for the session that it names to its hooks."""
    if _is_followed(home, event):
        command_module("session").hooked_session(home, _session(event), ended=ended)


def command_module(name: str) -> ModuleType:
    """A module of the command line, without the whole of it that its package loads with itself."""
    from importlib import import_module

    package = "nuggets_tui.cli"
    bare = None
    if package not in sys.modules:
        bare = sys.modules[package] = type(sys)(package)
        bare.__path__ = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli")]
    try:
        return import_module(f"{package}.{name}")
    finally:
        if bare is not None:
            del sys.modules[package]


def _prompt(event: Mapping[str, Any]) -> str:
    prompt = event.get("prompt")
    if isinstance(prompt, list):
        prompt = "\n".join(
            part.get("text", "")
            for part in prompt
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return prompt if isinstance(prompt, str) else ""


def _keep_paths(agent: str, home: str, event: Mapping[str, Any]) -> None:
    from nuggets_tui.hooks.capture import edited_paths

    folder = _text(event, "cwd", "workspace_roots")
    root = project_root(folder) if nugget_of(folder) else ""
    paths = list(dict.fromkeys(edited_paths(event, root)))[:20]
    if paths:
        # They wait for the end of the turn: one change for all of them.
        _spool(agent, home, event, {"root": root, "paths": paths})


def _spool(agent: str, home: str, event: Mapping[str, Any], caught: Mapping[str, object]) -> bool:
    """Puts down what is to be kept; it is there from the rename on, also for who is killed then. Whether it is."""
    import json
    import time

    state = state_folder(home)
    if not state:
        return False
    at = time.time_ns()
    record = {
        "agent": agent,
        "at": at // 1_000_000_000,
        "session": _session(event),
        "nugget": nugget_of(_text(event, "cwd", "workspace_roots")),
        **caught,
    }
    kept = put(state, at, json.dumps(record).encode(), _MOST_CAUGHT)
    if not kept:
        write_log(home, agent, "", "too much waits to be brought into the memory; this event was not kept")
    return kept


def _start_worker(home: str, *more: str) -> None:
    """Has what was caught brought into the memory by a process that nobody waits for, if anything was."""
    state = state_folder(home)
    if not more:
        try:
            if not state or not count(state):
                return
        except OSError:
            return
    # -P: nothing is imported from the agent's working directory.
    start([sys.executable, "-P", "-m", "nuggets_tui.hooks.worker", home, *more])


# Briefing


def _bring_in(home: str, nugget: str, near: str) -> None:
    """At the end of a turn or a session: has what was caught brought in, and the briefing of the next session made, so
    that it need not wait for it. Where neither is needed, no process is started.
    """
    known = version_of(home) or (near and team_near(near))
    if known and cache_folder(home) and _kept_briefing(home, nugget, near) == (None, ()):
        _start_worker(home, "--caught", "--briefing", nugget, near)
    else:
        _start_worker(home)


def _brief(agent: str, home: str, name: str, event: Mapping[str, Any]) -> None:
    """Prints the briefing in the form that the agent takes. One that is not ready in time is there the next time."""
    said: str | None
    folder = _text(event, "cwd", "workspace_roots")
    about = (nugget_of(folder), _near(folder))
    session = _session(event) if event.get("source") in _GOES_ON else ""
    if session:
        # Its checkpoint may be in what was just caught.
        _set_deadline(_DEADLINE_GOING_ON)
        said, ahead = _made_briefing(home, *about, session)
        if not said:
            said, ahead = _kept_briefing(home, *about)
    else:
        _start_worker(home)
        said, ahead = _kept_briefing(home, *about)
        if said is None:
            said, ahead = _made_briefing(home, *about)
    if said:
        import json

        if agent in _PLAIN:
            made = said
        elif agent == "cursor" or name == "sessionStart":
            made = json.dumps({"additional_context": said})
        else:
            made = json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": said}})
        os.write(1, made.encode("utf-8", "replace") + b"\n")
    _take_session(home, event)
    if _is_followed(home, event):
        # What it was given counts once its end tells what helped.
        _spool(agent, home, event, {"event": "start", "ahead": ahead, "root": project_root(folder)})


def _near(folder: str) -> str:
    """The folder in which an agent works; "" for none."""
    try:
        return os.path.abspath(folder) if folder else ""
    except OSError:
        return ""


def _kept_briefing(
    home: str, nugget: str, near: str, session: str = "", since: float | None = None
) -> tuple[str | None, Sequence[object]]:
    """The briefing that is kept for the memory as it is, or that was begun after a time, None for none; and its notes,
    each with its place. session: one that goes on, of which only what was begun after the time counts.
    """
    import json
    import time

    try:
        with open(os.path.join(cache_folder(home) or os.devnull, BRIEFING), "rb") as file:
            kept = json.loads(file.read(1 << 20))[briefing_name(nugget, near, session)]
        current = kept["state"] == [version_of(home), own_settings(), int(time.time()) // 86_400]
        if (current and not session) or (since is not None and kept["begun"] >= since):
            return str(kept["text"]), list(kept["ahead"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return None, ()


def _made_briefing(home: str, nugget: str, near: str, session: str = "") -> tuple[str, Sequence[object]]:
    """The briefing, made by another process, as long as there is time, and its notes; "" for none in time."""
    import time

    if not (version_of(home) or near) or not cache_folder(home):
        return "", ()
    since = time.time()
    _start_worker(home, *(["--caught"] if session else []), "--briefing", nugget, near, session)
    until = time.monotonic() + (_PATIENCE_GOING_ON if session else _PATIENCE)
    while time.monotonic() < until:
        time.sleep(0.02)
        # Others may write meanwhile, such as the count of a recall: what is newer than this session will do.
        said, ahead = _kept_briefing(home, nugget, near, session, since)
        if said is not None:
            return said, ahead
    return "", ()
