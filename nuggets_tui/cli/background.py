"""Commands that let work be done in the background: daemon, and schedule for the system's own timers."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2s
from pathlib import Path
from types import FrameType
from typing import Final, Literal, NamedTuple, NoReturn

import click

from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.invocation import NOT_FOUND, Invocation, bad_input
from nuggets_tui.cli.options import Group, command, flag, opt
from nuggets_tui.cli.output import Line, dim, pick, warn, write_lines
from nuggets_tui.process import program

_SHORTEST, _LONGEST = 1.0, 3600.0


# The daemon


class _Ended(BaseException):
    """A signal asked for the end."""


@command(
    "daemon", flag("--once", "Do once what is due and what waits in the pipeline, then exit."),
    opt(
        "--interval", "SECONDS", "Check at least this often (default: 60).",
        click.FloatRange(_SHORTEST, _LONGEST), default=60.0,
    ),
    flag("--pipeline only_pipeline", "With --once: only the pipeline, no cleanup and no sync."),
    flag("--verbose", "Print when the next pass is due."),
    examples=("nuggets daemon", "nuggets daemon --once --verbose"),
)  # fmt: skip
def daemon(call: Invocation, once: bool, interval: float, only_pipeline: bool, verbose: bool) -> int | None:
    """Run the daily pass, the pipeline and syncs in the background, until you press ctrl+c. There is one daemon per
    folder.

    A missed pass is caught up on in waking hours. Each pass prints one line on standard error. What it changes is one
    entry of the history, which you can undo. Settings: [reflection] hour and minute, [schedule].

    Meanwhile it extracts facts from submitted texts (nuggets ingest). Settings: [pipeline]. It also syncs, if you have
    set that up (nuggets sync). Settings: [sync]. With --once, exit code 1 means that texts wait and none could be read,
    or that a sync failed.
    """
    from nuggets_tui.daemon import Daemon, PipelineBeside, Together
    from nuggets_tui.sync_beside import SyncBeside

    if only_pipeline and not once:
        raise bad_input("needs --once", "--pipeline")
    if not only_pipeline:
        refuse_agents("running the daily pass")
    folder, said = call.absolute_folder, ""
    _end_on_signals()

    # Of a process that runs for months, also when nobody reads its lines any more.
    def report(line: str) -> None:
        with contextlib.suppress(OSError):
            write_lines([f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}  {line}"], to_error=True)

    def chat(line: str) -> None:
        nonlocal said
        if verbose and line != said:
            said = line
            with contextlib.suppress(OSError):
                write_lines([line])

    def clock() -> datetime:
        return datetime.now(UTC)

    if not folder.exists():
        report(f"there is no memory in {folder} yet; waiting for one")
    pipeline = PipelineBeside(folder, clock=clock, report=report)
    beside = Together(pipeline, SyncBeside(folder, clock=clock, report=report))
    worker = Daemon(
        folder, clock=clock, wait=time.sleep, report=report, chat=chat, interval=interval, beside=beside
    )
    try:
        done = pipeline.once() if only_pipeline else worker.run(once=once)
        return None if done else NOT_FOUND
    except _Ended:
        return None


def _end_on_signals() -> None:
    def end(number: int, frame: FrameType | None) -> NoReturn:
        # What is being put away now is put away in peace.
        for each in wanted:
            signal.signal(each, signal.SIG_IGN)
        raise _Ended

    wanted = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32":
        wanted.append(signal.SIGHUP)
    # Who started it with nohup, or in the background of a script, said which signals are not for it.
    wanted = [each for each in wanted if signal.getsignal(each) is not signal.SIG_IGN]
    for each in wanted:
        signal.signal(each, end)


# The system's own timers

Kind = Literal["systemd", "cron"]
_REFUSED_BY_SYSTEMD: Final = frozenset("\"'\\$")
_TIMER: Final = """\
[Unit]
Description=Asks every hour whether the daily reflection is due

[Timer]
OnCalendar=*-*-* *:{minute:02}:00
Persistent=true

[Install]
WantedBy=timers.target
"""


class Part(NamedTuple):
    """One text and the file it belongs into; `path` is "" for a line of the crontab."""

    path: str
    text: str


class Plan(NamedTuple):
    """What to put where, and the command that makes it work then."""

    kind: Kind
    parts: tuple[Part, ...]
    then: str


def plan(kind: Kind, program: Sequence[str], home: Path, minute: int, *, usual: bool) -> Plan:
    """The plan for a memory. program: the words that start `nuggets`. home: an absolute path. minute: of the set time.

    usual: the memory is the one that needs no name; another's files get names of their own. Each hour at the minute of
    the set time it is asked whether the pass is due: at the set time it is, later a missed one is caught up. Raises
    InvalidInputError for a path that cannot stand in such a file.
    """
    words = [*program, "--home", str(home), "reflect", "--if-due"]
    for word in words:
        if not word.isprintable():
            said = "a path with unprintable characters cannot be scheduled"
            raise bad_input(said, repr(word), "nothing was written", "use a symbolic link with a plain name")
    if kind == "cron":
        # In a crontab a bare % ends the line. What is said of a pass that is not due would be mailed every hour.
        line = " ".join(map(shlex.quote, words)).replace("%", "\\%")
        part = Part("", f"{minute} * * * * {line} >/dev/null\n")
        return Plan("cron", (part,), "crontab -e, and add the line")
    digest = blake2s(str(home).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    name = "nuggets-reflect" if usual else f"nuggets-reflect-{digest}"
    # systemd starts no program with such characters in its name; what that one starts in turn it does not look at.
    shell = ["/bin/sh", "-c", 'exec "$0" "$@"'] if set(words[0]) & _REFUSED_BY_SYSTEMD else []
    # Each word of ExecStart is quoted, with nothing in it that systemd would put something else for.
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "$": "$$", "%": "%%"})
    command = " ".join(f'"{word.translate(escapes)}"' for word in [*shell, *words])
    described = str(home).replace("%", "%%")
    service = (
        f"[Unit]\nDescription=Daily reflection of the memory in {described}\n\n"
        f"[Service]\nType=oneshot\nExecStart={command}\n"
    )
    file = f"~/.config/systemd/user/{name}"
    parts = (Part(f"{file}.service", service), Part(f"{file}.timer", _TIMER.format(minute=minute)))
    then = f"systemctl --user daemon-reload && systemctl --user enable --now {name}.timer"
    return Plan("systemd", parts, then)


schedule = Group("schedule", "Let the system run the daily pass.")


@schedule.add(
    "print", flag("--systemd kind", "Print a user unit and its timer.", flag_value="systemd"),
    flag("--cron kind", "Print a crontab line.", flag_value="cron"),
    examples=("nuggets schedule print", "nuggets schedule print --cron"),
)  # fmt: skip
def print_(call: Invocation, kind: Kind | None) -> None:
    """Print the timer that runs `nuggets reflect --if-due` for this memory. Nothing is installed.

    The system then asks every hour whether the pass is due, so a missed one is caught up. Without an option, it prints
    what fits this system. You do not need it where `nuggets daemon` runs.
    """
    from core.settings import load_settings

    home = call.folder.absolute()
    minute = load_settings(home).reflection.minute
    fits: Kind = "systemd" if Path("/run/systemd/system").is_dir() else "cron"
    made = plan(kind or fits, program(), home, minute, usual=str(home) == os.path.expanduser("~/.nuggets"))
    lines: list[Line] = []
    for part in made.parts:
        lines += [*([dim(f"# {part.path}")] if part.path else []), *part.text.splitlines(), ""]
    lines.append(dim(f"# then: {made.then}"))
    named = sorted(name for name in os.environ if name.startswith("MEMORY_REFLECTION_"))
    if named:
        said = "set in this shell only; put it into settings.toml instead"
        lines.append(warn(f"# {', '.join(named)}: {said}"))
    parts = [{"path": part.path or None, "text": part.text} for part in made.parts]
    call.answer(pick(made, "kind then", parts=parts), lines)
