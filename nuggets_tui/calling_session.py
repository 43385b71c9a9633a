"""Which session a call belongs to: as given, as its agent says, or by the agent or terminal that it comes from; and in
which folder it is made.

An agent waits for its hooks, so this loads next to nothing.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_PROCESSES: Final = "/proc"
_VARIABLE: Final = "NUGGETS_SESSION"
_SHELLS: Final = frozenset(
    (
        "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "sh", "tcsh", "xonsh",
        "zsh",
    )
)  # fmt: skip
# What starts one command and ends with it. The system tells 15 letters of a name.
_WRAPPERS: Final = frozenset(
    (
        "bunx", "bwrap", "chronic", "codex-linux-san", "direnv", "doas", "env", "find", "firejail", "flock", "gosu",
        "gtime", "hatch", "ionice", "just", "make", "gmake", "mise", "nice", "nohup", "npm", "npx", "parallel", "pdm",
        "pipenv", "pipx", "pnpm", "poetry", "runuser", "script", "setpriv", "setsid", "sshd", "sshd-session", "stdbuf",
        "strace", "su", "sudo", "task", "time", "timeout", "unshare", "uv", "uvx", "watch", "xargs", "yarn",
    )
)  # fmt: skip
# Options of a shell that take the next word, as an editor's terminal starts it.
_WITH_A_WORD: Final = (b"--init-file", b"--rcfile", b"--init-command", b"-C", b"-o", b"-O", b"+o", b"+O")
_MOST_STEPS: Final = 64


class _Process:
    """A process. parent: its number; 0 for none. start: clock ticks since the machine started, "" where not told."""

    __slots__ = ("leads_terminal", "name", "number", "parent", "start")

    def __init__(self, number: int, name: str, parent: int, leads_terminal: bool, start: str) -> None:
        self.number = number
        self.name = name
        self.parent = parent
        self.leads_terminal = leads_terminal
        self.start = start


def named_session(given: str | None, home: str = "", *, server: bool = False) -> str:
    """The session as given, else NUGGETS_SESSION, else the one that Claude Code or Codex names, else the one that the
    hooks of the calling agent named last, else "". home: the memory's folder; "" does not ask for that of hooks.

    server: this process outlives conversations, so that hooks know better than the environment that it began with.
    """
    return _named(given, home, server=server)[0]


def session_id(given: str | None, home: str = "") -> str:
    """The session of a recall: as `named_session`, else one per day for the agent or the terminal that the call comes
    from.

    An agent starts a shell for each command, so that shells and what else starts a single command are passed over.
    The process is told by its number and start time, since numbers come again.
    """
    named, caller = _named(given, home)
    if named:
        return named
    from core.text.digests import blake2b

    mark = blake2b((caller or _caller()).encode(), digest_size=6).hexdigest()
    return f"cli-{time.strftime('%Y-%m-%d')}-{mark}"


def _named(given: str | None, home: str, *, server: bool = False) -> tuple[str, str]:
    """The session by its name, "" for none, and the calling process, "" where that was not asked for."""
    chosen = (given or "").strip() or os.environ.get(_VARIABLE, "").strip()
    if chosen:
        return chosen, ""
    from nuggets_tui.cli.calling_agent import sessions

    said = list(sessions())
    if not home or (len(said) == 1 and not server):
        return "+".join(said), ""
    caller = _caller()
    hooked = _hooked(home, caller)
    if hooked and server:
        return hooked, caller
    # One agent run by another inherits its variable: both together are one session, unless the inner one has hooks.
    return (hooked if hooked and (not said or hooked in said) else "+".join(said)), caller


def working_folder() -> str:
    """The folder that this process works in; "" where there is none any more."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _caller() -> str:
    """The process that a call comes from, by number and start."""
    number, start = _origin(os.getppid())
    return f"{number} {start}"


# The sessions that hooks name: an agent tells them which one it is, and its servers and commands nothing


def hooked_session(home: str, said: str, *, ended: bool = False) -> str:
    """Takes over, within a hook, the session that the calling agent named, so that its servers and commands are of the
    same one; the name that the session has: NUGGETS_SESSION goes before. ended: it is over. Never raises.
    """
    from core.caught import drop_session, keep_session

    name = os.environ.get(_VARIABLE, "").strip() or said.strip()
    caller = _caller()
    state = _state(home, caller)
    if state and said and ended:
        drop_session(state, caller)
    elif state and said:
        keep_session(state, caller, name)
    return name


def _hooked(home: str, caller: str) -> str:
    from core.caught import session_of

    state = _state(home, caller)
    return session_of(state, caller) if state else ""


def _state(home: str, caller: str) -> str:
    """Where the sessions of processes are kept; "" for nowhere. One that is not told from others has none."""
    from core.user_folders import state_folder

    return (state_folder(home) or "") if caller.partition(" ")[2] else ""


def _origin(number: int) -> tuple[int, str]:
    """Number and start of the process that a call comes from: the first, upwards, that does not pass commands on.

    Where that is cut off, as in a container that is entered for each command, it is the first process there is.
    """
    found = process = _process(number)
    for _ in range(_MOST_STEPS):
        if process is None:
            break
        found = process
        if process.parent <= 0 or not _passes_on(process):
            break
        process = _process(process.parent)
    if found is None:
        return number, ""
    if found.parent <= 0 and found.number != 1 and _passes_on(found):
        found = _process(1) or found
    return found.number, found.start


def _passes_on(process: _Process) -> bool:
    """Whether a process is there for one command: a wrapper, or a shell that nobody types into."""
    if process.name in _WRAPPERS:
        return True
    return process.name in _SHELLS and not (process.leads_terminal and _is_typed_into(process.number))


def _is_typed_into(number: int) -> bool:
    """Whether a shell was given neither a command nor a script."""
    try:
        with open(os.path.join(_PROCESSES, str(number), "cmdline"), "rb") as file:
            words = file.read().split(b"\0")[1:-1]
    except OSError:
        return True
    pairs = zip((b"", *words), words, strict=False)
    return all(
        before in _WITH_A_WORD or (word[:1] in (b"-", b"+") and (word[:2] == b"--" or b"c" not in word))
        for before, word in pairs
    )


def _process(number: int) -> _Process | None:
    """A process as the system tells it; None where it does not."""
    try:
        with open(os.path.join(_PROCESSES, str(number), "stat"), encoding="utf-8", errors="replace") as file:
            status = file.read()
    except OSError:
        return None
    # The name of the program stands in brackets and may hold anything, so fields count from the last bracket.
    head, _, rest = status.rpartition(")")
    fields = rest.split()
    if len(fields) < 20:
        return None
    # A runner may add what it runs to its name ("npm exec nuggets").
    name = head.partition("(")[2].partition(" ")[0]
    leads = fields[3] == str(number) and fields[4] != "0"
    return _Process(number, name, int(fields[1]), leads, fields[19])
