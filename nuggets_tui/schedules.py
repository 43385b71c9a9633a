"""Texts that have the system run `nuggets reflect --if-due`: a systemd unit with its timer, a crontab line, a plist."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path
from typing import Literal

from core.errors import InvalidInputError

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
                "a path with such characters cannot be scheduled", where=repr(word), kept="nothing was written",
                todo="use a link to it with a plain name",
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
