"""Which session a call belongs to: as given, as its agent says, or by the agent or terminal that it comes from."""

from __future__ import annotations

import os
import time
from typing import Final, NamedTuple

from nuggets_tui.cli.agents import sessions

_PROCESSES: Final = "/proc"
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


class _Process(NamedTuple):
    """A process. parent: its number; 0 for none. start: clock ticks since the machine started, "" where not told."""

    number: int
    name: str
    parent: int
    leads_terminal: bool
    start: str


def named_session(given: str | None) -> str:
    """The session as given, else NUGGETS_SESSION, else the one that Claude Code or Codex names, else ""."""
    chosen = (given or "").strip() or os.environ.get("NUGGETS_SESSION", "").strip()
    # One agent run by another inherits its variable: both together are one session.
    return chosen or "+".join(sessions())


def session_id(given: str | None) -> str:
    """The session of a recall: as given, else NUGGETS_SESSION, else the one that Claude Code or Codex names, else one
    per day for the agent or the terminal that the call comes from.

    An agent starts a shell for each command, so that shells and what else starts a single command are passed over.
    The process is told by its number and start time, since numbers come again.
    """
    named = named_session(given)
    if named:
        return named
    from core.text.digests import blake2b

    number, start = _origin(os.getppid())
    mark = blake2b(f"{number} {start}".encode(), digest_size=6).hexdigest()
    return f"cli-{time.strftime('%Y-%m-%d')}-{mark}"


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
