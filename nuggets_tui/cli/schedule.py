"""The `schedule` commands: how the system itself is told to run the daily pass."""

from __future__ import annotations

import os
import plistlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path
from typing import Final, Literal

import click

from core.errors import InvalidInputError
from nuggets_tui.cli.groups import CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span
from nuggets_tui.started import program

Kind = Literal["systemd", "cron", "launchd"]
_NAME = "nuggets-reflect"
_LABEL = "org.nuggets.reflect"
_REFUSED_BY_SYSTEMD = frozenset("\"'\\$")


@dataclass(frozen=True)
class Part:
    """One text and the file it belongs into; `path` is "" for a line of the crontab."""

    path: str
    text: str


@dataclass(frozen=True)
class Plan:
    """What to put where, and the command that makes it work then."""

    kind: Kind
    parts: tuple[Part, ...]
    then: str

    def to_dict(self) -> dict[str, object]:
        """The plan as JSON of the command line."""
        parts = [{"path": part.path or None, "text": part.text} for part in self.parts]
        return {"kind": self.kind, "parts": parts, "then": self.then}


def plan(kind: Kind, program: Sequence[str], home: Path, minute: int, *, usual: bool) -> Plan:
    """The plan for a memory. program: the words that start `nuggets`. home: an absolute path. minute: of the set time.

    usual: the memory is the one that needs no name; another's files get names of their own. Each hour at the minute of
    the set time it is asked whether the pass is due: at the set time it is, later a missed one is caught up. Raises
    InvalidInputError for a path that cannot stand in such a file.
    """
    words = [*program, "--home", str(home), "reflect", "--if-due"]
    for word in words:
        if not word.isprintable():
            raise InvalidInputError(
                "a path with unprintable characters cannot be scheduled", where=repr(word), kept="nothing was written",
                todo="use a symbolic link with a plain name",
            )  # fmt: skip
    mark = (
        "" if usual else "-" + blake2s(str(home).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    )
    makers = {"systemd": _systemd, "cron": _cron, "launchd": _launchd}
    return makers[kind](words, minute, mark)


def _systemd(words: Sequence[str], minute: int, mark: str) -> Plan:
    name = _NAME + mark
    folder = "~/.config/systemd/user"
    # systemd starts no program with such characters in its name; what that one starts in turn it does not look at.
    program = ["/bin/sh", "-c", 'exec "$0" "$@"'] if set(words[0]) & _REFUSED_BY_SYSTEMD else []
    service = (
        "[Unit]\n"
        f"Description=Daily reflection of the memory in {_percent(words[words.index('--home') + 1])}\n\n"
        "[Service]\n"
        "Type=oneshot\n"
        f"ExecStart={' '.join(map(_systemd_word, [*program, *words]))}\n"
    )
    timer = (
        "[Unit]\n"
        "Description=Asks every hour whether the daily reflection is due\n\n"
        "[Timer]\n"
        f"OnCalendar=*-*-* *:{minute:02}:00\n"
        "Persistent=true\n\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )
    parts = Part(f"{folder}/{name}.service", service), Part(f"{folder}/{name}.timer", timer)
    return Plan(
        "systemd", parts, f"systemctl --user daemon-reload && systemctl --user enable --now {name}.timer"
    )


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _systemd_word(word: str) -> str:
    """A word of ExecStart: quoted, and with nothing in it that systemd would put something else for."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{_percent(escaped)}"'


def _cron(words: Sequence[str], minute: int, mark: str) -> Plan:
    # In a crontab a bare % ends the line. What is said of a pass that is not due would be mailed every hour.
    line = " ".join(map(shlex.quote, words)).replace("%", "\\%")
    return Plan("cron", (Part("", f"{minute} * * * * {line} >/dev/null\n"),), "crontab -e, and add the line")


def _launchd(words: Sequence[str], minute: int, mark: str) -> Plan:
    label = _LABEL + mark
    document = {
        "Label": label,
        "ProgramArguments": list(words),
        "StartCalendarInterval": {"Minute": minute},
        "RunAtLoad": True,
        "ProcessType": "Background",
    }
    path = f"~/Library/LaunchAgents/{label}.plist"
    text = plistlib.dumps(document, sort_keys=False).decode()
    return Plan("launchd", (Part(path, text),), f"launchctl bootstrap gui/$(id -u) {path}")


_VARIABLES: Final = "MEMORY_REFLECTION_"

schedule_group = LazyGroup(
    "schedule",
    entries={
        "print": CommandEntry(
            "nuggets_tui.cli.schedule:print_", "Print a systemd timer, crontab line or plist."
        )
    },
    help="Let the system run the daily pass.",
    no_args_is_help=False,
    subcommand_metavar="COMMAND ...",
)


@command("print", epilog=example("nuggets schedule print", "nuggets schedule print --cron"))
@click.option("--systemd", "kind", flag_value="systemd", help="Print a user unit and its timer.")
@click.option("--cron", "kind", flag_value="cron", help="Print a crontab line.")
@click.option("--launchd", "kind", flag_value="launchd", help="Print a plist for launchd (macOS).")
@pass_call
def print_(call: Invocation, /, kind: Kind | None) -> None:
    """Print what makes the system run `nuggets reflect --if-due` for this memory. Nothing is installed.

    The system then asks every hour whether the pass is due, so a missed one is caught up. Without an option it prints
    what fits this system. Where `nuggets daemon` runs, you do not need it.
    """
    from core.settings import load_settings

    home = call.folder.absolute()
    minute = load_settings(home).reflection.minute
    made = plan(kind or _usual_kind(), program(), home, minute, usual=_is_usual(home))
    call.answer(made.to_dict, lambda: _lines(made))


def _usual_kind() -> Kind:
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if Path("/run/systemd/system").is_dir() else "cron"


def _is_usual(home: Path) -> bool:
    try:
        return home == Path("~/.nuggets").expanduser()
    except RuntimeError:
        return False


def _lines(made: Plan) -> Iterator[Line]:
    for part in made.parts:
        if part.path:
            yield Span(f"# {part.path}" if made.kind != "launchd" else f"<!-- {part.path} -->", "dim")
        yield from part.text.splitlines()
        yield ""
    mark = ("<!-- ", " -->") if made.kind == "launchd" else ("# ", "")
    yield Span(f"{mark[0]}then: {made.then}{mark[1]}", "dim")
    named = sorted(name for name in os.environ if name.startswith(_VARIABLES))
    if named:
        left = f"{', '.join(named)}: set in this shell only; put it into settings.toml instead"
        yield Span(f"{mark[0]}{left}{mark[1]}", "warn")
