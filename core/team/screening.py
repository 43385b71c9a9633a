"""What should not get into a repository that others read: credentials, and paths of one's home folder. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from core.text.secrets import find_secrets

_NAME: Final = r"[^\W\d][\w.-]*"
_HOMES: Final = (
    # /home/ada, /Users/ada, /root, and the same behind file:// or a drive of Windows.
    re.compile(rf"(?<![\w.-])(?:/mnt)?(?:/[a-z])?/(?:home|Users)/{_NAME}"),
    re.compile(r"(?<![\w./-])/root(?=/)"),
    re.compile(rf"(?<!\w)[a-z]:[\\/]+users[\\/]+{_NAME}", re.IGNORECASE),
    re.compile(r"(?<![\w~/.-])~(?:[\w.-]+)?[\\/](?=[\w.])"),
)
# The name of a machine's one user says nothing of anybody.
_NOBODY: Final = ("root", "user", "home", "runner", "node")
_SHOWN: Final = 60


class Found(NamedTuple):
    """Something to look at before a text is shared. kind: "credential" or "home". line: where, from 1. what: the kind
    of the credential, or the path.
    """

    kind: str
    line: int
    what: str


def screened(text: str, *, home: str = "", user: str = "") -> list[Found]:
    """What to look at before a text is shared. home, user: the home folder and the user name of this machine."""
    found = [Found("credential", _line(text, one.start), one.kind) for one in find_secrets(text)]
    patterns = list(_HOMES)
    if len(home.strip("/\\")) > 1:
        patterns.append(re.compile(rf"{re.escape(home.rstrip('/'))}(?![\w.-])"))
    if len(user) > 1 and user.lower() not in _NOBODY:
        patterns.append(re.compile(rf"[\\/]{re.escape(user)}(?![\w.-])", re.IGNORECASE))
    spans: dict[int, Found] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            line = _line(text, match.start())
            spans.setdefault(line, Found("home", line, match[0][:_SHOWN]))
    return [*found, *(spans[line] for line in sorted(spans))]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
