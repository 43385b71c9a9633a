"""How far a long text has been read: window by window, each written before the next one is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from core.pipeline.intake.chunks import chunks, next_chunk
from core.pipeline.intake.redaction import MARK
from core.pipeline.intake.sentences import TextSpan
from core.text.secrets import find_secrets

# A window that says more than one answer holds is read in halves, down to this size (characters).
_SMALLEST: Final = 500
# What a text so short says may be just as much as an answer holds.
_SHORT: Final = 1_500
# Less than this part of what an answer holds is few.
_FEW: Final = 4
# So far around a window it is looked for credentials that reach into it (characters).
_VICINITY: Final = 20_000


@dataclass(frozen=True, slots=True)
class Windows:
    """How a text is cut. size, overlap: in characters. most: windows of one text that are read at most."""

    size: int
    overlap: int
    most: int


Outcome = Literal["goes_on", "whole", "limited", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one text has been read, as its job keeps it.

    at: all before it was read or is in `failed`. size: of the windows, 0 for the configured one; smaller for a text
    that says much. read: windows read. failed: windows that no answer could be had about; error and error_class: why
    the last of them. facts: how many were found, which numbers the next. length: of the text; where it changed, the
    places mean nothing any more. more: how often a person asked for more than the limit allows.
    """

    at: int = 0
    size: int = 0
    read: int = 0
    failed: tuple[TextSpan, ...] = ()
    error: str = ""
    error_class: str = ""
    facts: int = 0
    length: int = 0
    more: int = 0

    @property
    def begun(self) -> bool:
        """Whether any of the text was done with before."""
        return bool(self.at or self.failed)

    def next_window(self, text: str, windows: Windows, size: int = 0) -> TextSpan | None:
        """The window that is to be read now, None when there is none; those that failed before come last.

        size: instead of the usual one.
        """
        return self._ahead(text, windows, size) or next(iter(self.failed), None)

    def after(self, window: TextSpan, *, size: int, facts: int) -> Progress:
        """The progress when a window was read. size: of the windows from now on. facts: how many it gave."""
        again = window in self.failed
        return replace(
            self,
            at=self.at if again else window.end,
            size=size,
            read=self.read + 1,
            failed=tuple(one for one in self.failed if one != window),
            facts=self.facts + facts,
        )

    def without(self, window: TextSpan, error: str, error_class: str) -> Progress:
        """The progress when a window was given up for now, and why."""
        at, failed = max(self.at, window.end), (*self.failed, window)
        return replace(self, at=at, failed=failed, error=error, error_class=error_class)

    def outcome(self, text: str, windows: Windows, last: TextSpan, before: Progress) -> Outcome:
        """What becomes of the job now. last: the window that was done with. before: the progress before it.

        Windows that failed are not tried twice in one go: the job ends, and a retry reads them.
        """
        if self._ahead(text, windows) is not None:
            return "goes_on"
        if self.failed:
            return "goes_on" if last in before.failed else "failed"
        return "limited" if self.unread(text) else "whole"

    def windows_in_all(self, text: str, windows: Windows) -> int:
        """How many windows the text has: those done with, and those ahead as they would be cut now."""
        ahead = chunks(text, self.size or windows.size, windows.overlap, start=self.at)
        return self.read + len(self.failed) + sum(1 for _ in ahead)

    def unread(self, text: str) -> int:
        """How many characters were not read."""
        return len(text[self.at :].strip()) + sum(one.end - one.start for one in self.failed)

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)

    def _ahead(self, text: str, windows: Windows, size: int = 0) -> TextSpan | None:
        if self.read + len(self.failed) >= windows.most * (1 + self.more):
            return None
        return next_chunk(text, self.at, size or self.size or windows.size, windows.overlap)


NOTHING_READ: Final = Progress()


def progress_of(kept: Mapping[str, Any], length: int) -> Progress:
    """The progress that a job kept, for a text of so many characters. A text that was changed is begun anew, for its
    places have moved; its facts are numbered on.
    """
    found = kept.get("progress")
    if not isinstance(found, Mapping):
        return Progress(length=length)
    if found.get("length") != length:
        return Progress(facts=int(found.get("facts", 0)), length=length)
    failed = tuple(TextSpan(int(start), int(end)) for start, end in found.get("failed", ()))
    return Progress(**{**found, "failed": failed})


def smaller(window: TextSpan, text: str, *, over: bool) -> int:
    """The size of window to try for one that says as much as an answer holds; 0 when it is small enough already.

    over: whether it said more than that, or the answer was cut off.
    """
    length = window.end - window.start
    if length <= _SMALLEST or not (over or len(text) > _SHORT):
        return 0
    return max(_SMALLEST, length // 2)


def size_after(size: int, windows: Windows, *, facts: int, most_facts: int) -> int:
    """The size of the next window after one of a size: larger again where it gave few of the facts it might have."""
    grown = 2 * size if facts * _FEW < most_facts else size
    return 0 if grown >= windows.size else grown


def window_text(text: str, window: TextSpan) -> str:
    """A window as it may be sent: a credential that reaches over its edge is marked in both parts."""
    if window.start == 0 and window.end >= len(text):
        return text
    begin = max(0, window.start - _VICINITY)
    parts, place = [], window.start
    for secret in find_secrets(text[begin : window.end + _VICINITY]):
        start, end = begin + secret.start, begin + secret.end
        if end <= place or start >= window.end:
            continue
        parts += [text[place : max(place, start)], MARK]
        place = min(end, window.end)
    return "".join(parts) + text[place : window.end]
