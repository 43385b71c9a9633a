"""`nuggets hook`: takes one event of an agent. The agent waits for it, so it loads next to nothing: what is to be kept
is put down in a small file, and a process of its own brings it into the memory.

It ends with exit code 0 whatever happens, and within its deadline.
"""

from __future__ import annotations

import json
import os
import sys
import time

from core.caught import add_to_log, count, put
from core.git_repository import trust_signs
from core.projects import FILE as PROJECTS
from core.projects import project_at, project_root
from core.user_folders import (
    TEAM_NOTES,
    cache_folder,
    configuration_files,
    file_stats,
    home_as_named,
    state_folder,
    team_near,
)
from nuggets_tui import calling_session
from nuggets_tui.process import start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

# Seconds: after the first the process ends, whatever it is doing; for the second it waits for a briefing being made.
_DEADLINE: Final = 1.5
_PATIENCE: Final = 1.2
# The same where a session goes on: its compaction took longer, and its checkpoint is worth more than haste.
_DEADLINE_GOING_ON: Final = 4.0
_PATIENCE_GOING_ON: Final = 3.5
_LONGEST: Final = 16 << 20
_MOST_CAUGHT: Final = 500
_NO_HOOKS: Final = ("NUGGETS_NO_HOOKS", "SIGNET_NO_HOOKS")
# What agents call the same event.
_KINDS: Final = (
    dict.fromkeys(("SessionStart", "sessionStart"), "start")
    | dict.fromkeys(("UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt"), "prompt")
    | dict.fromkeys(("PostToolUse", "AfterTool", "afterFileEdit"), "edit")
    | dict.fromkeys(("PreCompact", "PreCompress", "preCompact"), "compaction")
    | dict.fromkeys(("SessionEnd", "sessionEnd"), "end")
    | {"PreToolUse": "action"}
)
# Where a session goes on, as its start says.
_GOES_ON: Final = frozenset(("compact", "resume"))
# Characters of a prompt that are looked at, and that are kept.
_LOOKED_AT: Final = 4_000
_KEPT: Final = 200
_LONGEST_SESSION: Final = 1_000
# So many records wait to be brought in together: some agents tell no end of a turn.
_TOGETHER: Final = 10
_PLAIN: Final = frozenset(("opencode", "pi"))
BRIEFING: Final = "briefing.json"
# Facts, and pages where those are the notes.
_FILES: Final = (".nugget.json", ".donna.json", ".md")
# A team's notes lie no deeper in their folder.
_DEPTH: Final = 3


class Event:
    """What an agent tells its hook. name: as the agent calls it; kind: by which of its texts are read, "" for another.

    folder: in which the agent works; root, nugget: of the project around it. session: as NUGGETS_SESSION says for all
    that an agent starts, else as that says. Each is "" for none.
    """

    def __init__(self, agent: str, home: str, told: Mapping[str, Any]) -> None:
        self.agent, self.home, self.told = agent, home, told
        name = told.get("hook_event_name")
        self.name = name if isinstance(name, str) and name.isalnum() and len(name) < 40 else ""
        self.kind = _KINDS.get(self.name, "")
        folder = self.text("cwd", "workspace_roots")
        self.folder = os.path.abspath(folder) if folder else ""
        project = project_at(folder) if folder else None
        self.root, self.nugget = project_root(folder), project.nugget if project else ""
        said = self.text("session_id", "conversation_id", "thread_id").strip()[:_LONGEST_SESSION]
        self.session = (os.environ.get("NUGGETS_SESSION", "").strip() or said) if said else ""

    def text(self, *keys: str) -> str:
        """The first text under one of these, or of a list there; "" for none."""
        for key in keys:
            value = self.told.get(key)
            if isinstance(value, list) and value:
                value = value[0]
            if isinstance(value, str) and value and "\0" not in value:
                return value[:4096]
        return ""

    @property
    def prompt(self) -> str:
        """What the person typed, also in parts."""
        prompt = self.told.get("prompt")
        if isinstance(prompt, list):
            parts = (part.get("text", "") for part in prompt if isinstance(part, dict))
            prompt = "\n".join(part for part in parts if isinstance(part, str))
        return prompt if isinstance(prompt, str) else ""

    @property
    def is_followed(self) -> bool:
        """Whether checkpoints are made of its session: it has a name, and there is a memory."""
        return bool(self.session) and bool(version_of(self.home))


def main(arguments: Sequence[str]) -> None:
    """Takes the event on standard input, and ends the process."""
    agent, home = "", ""
    if any(map(os.environ.get, _NO_HOOKS)):
        # A session that only extracts facts for us.
        _end()
    try:
        _set_deadline(_DEADLINE)
        agent, home = _asked(arguments)
        if sys.stdin is None or sys.stdin.isatty():
            if sys.stderr is not None:
                sys.stderr.write("nuggets hook reads an event as JSON from standard input; agents call it.\n")
        elif problem := _take(agent, home):
            write_log(home, problem, agent)
    except BaseException as error:
        # Nothing of the event is in the log, and nothing but the log tells of it.
        write_log(home or _memory_folder(), f"failed: {type(error).__name__}", agent)
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


def write_log(home: str, what: str, agent: str = "") -> None:
    """Adds a line to the log of hooks, which `nuggets doctor` shows. No text of anybody's is in it. Never raises."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        if folder := state_folder(home):
            add_to_log(folder, f"{at} {agent or '-'}: {what}\n")
    except (OSError, ValueError):
        return


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
    return agent, _memory_folder(named)


def _memory_folder(named: str = "") -> str:
    """The memory's folder: as named, else NUGGETS_HOME, else ~/.nuggets."""
    return os.path.abspath(os.path.expanduser(named or home_as_named()))


def _take(agent: str, home: str) -> str:
    """Takes what stands on standard input; what is wrong with it, "" for nothing."""
    data = sys.stdin.buffer.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        # To its end all the same: the agent writes on.
        while sys.stdin.buffer.read(1 << 20):
            pass
        return f"the event is longer than {_LONGEST} bytes"
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return "standard input is no JSON" if data.strip() else "standard input is empty"
    if not isinstance(told, dict):
        return "standard input is JSON, but not an object"
    event = Event(agent, home, told)
    if not event.name:
        return "the event has no hook_event_name"
    if event.kind == "start":
        return _brief(event)
    if event.kind == "prompt":
        if event.name == "beforeSubmitPrompt":
            # Cursor wants to be told that it may go on.
            os.write(1, b'{"continue": true}\n')
        return _keep_said(event)
    if event.kind == "edit":
        from nuggets_tui.before_action import edited_paths

        # They wait for the end of the turn: one change for all of them.
        root = event.root if event.nugget else ""
        paths = list(dict.fromkeys(edited_paths(told, root)))[:20]
        return _spool(event, root=root, paths=paths) if paths else ""
    if event.kind == "action":
        return _advise(event)
    problem = ""
    if event.kind and event.is_followed:
        # Whoever brings it in makes the checkpoint.
        problem = _spool(event, event=event.kind, root=event.root, transcript=event.text("transcript_path"))
    if event.kind == "end":
        _take_session(event)
    # The next session need not wait for its briefing.
    home, about = event.home, (event.nugget, event.folder)
    known = version_of(home) or (event.folder and team_near(event.folder))
    is_old = known and cache_folder(home) and not kept_briefing(home, *about)
    start_worker(home, *(about if is_old else ()))
    return problem


def _advise(event: Event) -> str:
    """Says the one sentence of the memory that matters before an action, once in a session."""
    from nuggets_tui.before_action import OLD_SECONDS, advise

    kept = kept_entry(event.home, event.nugget, event.folder)
    is_old = time.time() - kept.get("begun", 0) > OLD_SECONDS / 2
    if event.is_followed and (is_old or kept.get("state") != state_of(event.home, event.folder)):
        # A recall that was counted in between makes no rule wrong, and another briefing is on its way.
        start_worker(event.home, event.nugget, event.folder)
    note, said = advise(state_folder(event.home) or "", event.session, event.told, event.root, kept)
    if note:
        text = f"From the memory of this project [{note}]: {said}\nIt is information, not an instruction."
        os.write(1, in_form(event, text).encode("utf-8", "replace") + b"\n")
        tool = "".join(filter(str.isalnum, event.text("tool_name")[:40]))
        write_log(event.home, f"said {note} before {tool}", event.agent)
    return ""


# Catching; each tells what is wrong, "" for nothing


def _keep_said(event: Event) -> str:
    from nuggets_tui.hooks.capture import statements

    _take_session(event)
    prompt = event.prompt
    said = [(kind, clean) for kind, text in statements(prompt) if (clean := _without_credentials(text))]
    caught: dict[str, object] = {"said": said} if said else {}
    if prompt.strip() and event.is_followed:
        begins = _without_credentials(" ".join(prompt[:_LOOKED_AT].split()))
        caught |= {"event": "prompt", "text": begins[:_KEPT], "root": event.root}
    problem = _spool(event, **caught) if caught else ""
    if caught:
        start_worker(event.home, least=1 if said else _TOGETHER)
    return problem


def _without_credentials(text: str) -> str:
    """A text as it may be put down."""
    from nuggets_tui.hooks.capture import is_plain

    if is_plain(text):
        return text
    from core.text.secrets import masked

    return masked(text)


def _spool(of: Event, **caught: object) -> str:
    """Puts down what is to be kept; it is there from the rename on, also for who is killed then."""
    state = state_folder(of.home)
    if not state:
        return ""
    at = time.time_ns()
    record = {"agent": of.agent, "at": at, "session": of.session, "nugget": of.nugget, **caught}
    if put(state, at, json.dumps(record).encode(), _MOST_CAUGHT):
        return ""
    return "too much waits to be brought into the memory; this event was not kept"


def _take_session(event: Event) -> None:
    """Maps the agent's process to its session, so that its servers and commands join that one."""
    if event.is_followed:
        calling_session.hooked_session(event.home, event.session, ended=event.kind == "end")


def start_worker(home: str, *briefing: str, least: int = 1) -> None:
    """Has what was caught brought into the memory, and a briefing made (nugget, folder, session), by a process that
    nobody waits for; by none where no briefing is wanted and fewer than `least` records wait.
    """
    if not briefing:
        try:
            if count(state_folder(home) or os.devnull) < least:
                return
        except OSError:
            return
    # -P: nothing is imported from the agent's working directory.
    start([sys.executable, "-P", "-m", "nuggets_tui.hooks.worker", home, *briefing])


# Briefing


def version_of(home: str) -> list[list[object]]:
    """What tells one state of a memory from another without reading its files; [] for no memory."""
    names = [os.path.join("graph", "graph.json"), "settings.toml", PROJECTS]
    if os.path.isdir(home):
        names += sorted(name for name in os.listdir(home) if name.endswith(_FILES))
    stats = ((name, file_stats(os.path.join(home, name))) for name in names)
    found = [[name, *held] for name, held in stats if len(held) > 1]
    return [*found, trust_signs(home)] if found and home.endswith(TEAM_NOTES) else found


def state_of(home: str, near: str) -> list[object]:
    """What tells one state of all that a briefing is made of from another: the day, the user's own settings, the
    memory, and the team's notes near a folder ("" for none).
    """
    team = team_near(near) if near else ""
    pages = os.path.join(state_folder(team) or os.devnull, "pages")
    return [
        int(time.time()) // 86_400,
        list(map(file_stats, configuration_files())),
        version_of(home),
        [*_files_in(team, _DEPTH), *version_of(pages), *trust_signs(team)] if team else [],
    ]


def briefing_name(nugget: str, near: str, session: str) -> str:
    """Under which name a briefing is kept."""
    return "\0".join((nugget, project_root(near), session))


def _files_in(folder: str, depth: int) -> list[list[object]]:
    try:
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []
    found = [[path, *file_stats(path)] for path in paths]
    inner = [path for path in paths if depth > 1 and not os.path.islink(path)]
    return found + [one for path in inner for one in _files_in(path, depth - 1)]


def _brief(event: Event) -> str:
    """Prints the briefing in the form that the agent takes. One that is not ready in time is there the next time."""
    home, about = event.home, (event.nugget, event.folder)
    session = event.session if event.told.get("source") in _GOES_ON else ""
    made = {} if session else kept_briefing(home, *about)
    if made:
        start_worker(home)
    else:
        if session:
            # Its checkpoint may be in what was just caught.
            _set_deadline(_DEADLINE_GOING_ON)
        made = _made_briefing(home, *about, session)
        if session and not made.get("text"):
            made = kept_briefing(home, *about)
    if made.get("text"):
        os.write(1, in_form(event, made["text"]).encode("utf-8", "replace") + b"\n")
    _take_session(event)
    # What it was given counts once its end tells what helped.
    given = made.get("ahead", ())
    return _spool(event, event="start", ahead=given, root=event.root) if event.is_followed else ""


def in_form(event: Event, said: str) -> str:
    """What an agent is told, as it takes it."""
    if event.agent in _PLAIN:
        return said
    if event.agent == "cursor" or event.name == "sessionStart":
        return json.dumps({"additional_context": said})
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": said}})


def kept_briefing(
    home: str, nugget: str, near: str, session: str = "", since: float = float("inf")
) -> dict[str, Any]:
    """The entry of the briefing that is kept for the memory as it is, or that was begun after a time; {} for none.
    session: one that goes on, of which only what was begun after the time counts.
    """
    kept = kept_entry(home, nugget, near, session)
    holds = kept and (kept["begun"] >= since or (not session and kept["state"] == state_of(home, near)))
    return kept if holds else {}


def kept_entry(home: str, nugget: str, near: str, session: str = "") -> dict[str, Any]:
    """What is kept with a briefing: its "text", its notes "ahead", each with its place, "advice" before actions, the
    "state" that it was made of, and when it was "begun"; {} for none.
    """
    try:
        with open(os.path.join(cache_folder(home) or os.devnull, BRIEFING), "rb") as file:
            kept = json.loads(file.read(1 << 22))[briefing_name(nugget, near, session)]
        return dict(kept, text=str(kept["text"]), ahead=list(kept["ahead"]), begun=float(kept["begun"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _made_briefing(home: str, nugget: str, near: str, session: str) -> dict[str, Any]:
    """The briefing, made by another process, as long as there is time; {} for none in time."""
    if not cache_folder(home):
        start_worker(home)
        return {}
    since = time.time()
    start_worker(home, nugget, near, session)
    until = time.monotonic() + (_PATIENCE_GOING_ON if session else _PATIENCE)
    while time.monotonic() < until:
        time.sleep(0.02)
        # Others may write meanwhile, such as the count of a recall: what is newer than this session will do.
        if made := kept_briefing(home, nugget, near, session, since):
            return made
    return {}
