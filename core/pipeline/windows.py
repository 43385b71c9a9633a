"""How far a long text has been read: window by window, each written before the next one is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from core.pipeline.intake.redaction import MARK
from core.pipeline.intake.sentences import TextSpan, chunks, next_chunk
from core.text.secrets import find_secrets

# A window that says more than one answer holds is read in halves, down to this size (characters).
_SMALLEST: Final = 500
# What a text so short says may be just as much as an answer holds.
_SHORT: Final = 1_500
# Less than this part of what an answer holds is few.
_FEW: Final = 4
# So far around a window it is looked for credentials that reach into it (characters).
_VICINITY: Final = 20_000

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

    def after(self, window: TextSpan, *, size: int, facts: int) -> Progress:
        """The progress when a window was read. size: of the windows from now on. facts: how many it gave."""
        at = self.at if window in self.failed else window.end
        failed = tuple(one for one in self.failed if one != window)
        return replace(self, at=at, size=size, read=self.read + 1, failed=failed, facts=self.facts + facts)

    def without(self, window: TextSpan, error: str, error_class: str) -> Progress:
        """The progress when a window was given up for now, and why."""
        at, failed = max(self.at, window.end), (*self.failed, window)
        return replace(self, at=at, failed=failed, error=error, error_class=error_class)


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


@dataclass(frozen=True, slots=True)
class Reading:
    """Which part of its text was read. before, after: how far the text is read without and with it.

    outcome: what becomes of the job. windows: of the text in all. unread: characters that are not read then. so_far:
    the result of the job without this part. repeated: facts that an earlier part gave already, left out of the plan.
    """

    before: Progress = field(default_factory=Progress)
    after: Progress = field(default_factory=Progress)
    outcome: Outcome = "whole"
    windows: int = 1
    unread: int = 0
    so_far: Mapping[str, Any] = field(default_factory=dict)
    repeated: int = 0

    def result(self, now: int) -> dict[str, Any]:
        """What a job's result tells of how far its text is read. now: epoch ms."""
        kept = {"progress": asdict(self.after)} if self.unread else {}
        return {
            "windows": self.windows, "windowsRead": self.after.read, "unread": self.unread, "readAt": now, **kept
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class LongText:
    """A text with how it is cut and how far it was read. size, overlap: of windows, in characters. most: windows that
    are read at most. so_far: the result of its job by now.
    """

    text: str
    size: int
    overlap: int
    most: int
    progress: Progress
    so_far: Mapping[str, Any] = field(default_factory=dict)

    def window(self, size: int = 0) -> TextSpan:
        """What is to be read now: all of it where it fits; those that failed before come last. size: instead of the
        usual one.
        """
        ahead = self._ahead(self.progress, size) or next(iter(self.progress.failed), None)
        return ahead or TextSpan(0, len(self.text))

    def reading(self, after: Progress, last: TextSpan, repeated: int = 0) -> Reading:
        """How far the text is read with the window that was the last.

        Windows that failed are not tried twice in one go: the job ends, and a retry reads them.
        """
        outcome: Outcome = "whole"
        unread = len(self.text[after.at :].strip()) + sum(one.end - one.start for one in after.failed)
        if self._ahead(after) is not None or (after.failed and last in self.progress.failed):
            outcome = "goes_on"
        elif unread:
            outcome = "failed" if after.failed else "limited"
        ahead = chunks(self.text, after.size or self.size, self.overlap, start=after.at)
        windows = after.read + len(after.failed) + sum(1 for _ in ahead)
        return Reading(self.progress, after, outcome, windows, unread, self.so_far, repeated)

    def size_after(self, size: int, *, facts: int, most_facts: int) -> int:
        """The size of the next window after one of a size: larger again where that gave few facts."""
        grown = 2 * size if facts * _FEW < most_facts else size
        return 0 if grown >= self.size else grown

    def smaller(self, window: TextSpan, *, over: bool) -> int:
        """The size of window to try for one that says as much as an answer holds; 0 when it is small enough already.

        over: whether it said more than that, or the answer was cut off.
        """
        length = window.end - window.start
        if length <= _SMALLEST or not (over or len(self.text) > _SHORT):
            return 0
        return max(_SMALLEST, length // 2)

    def sent(self, window: TextSpan) -> str:
        """A window as it may be sent: a credential that reaches over its edge is marked in both parts."""
        text = self.text
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

    def _ahead(self, progress: Progress, size: int = 0) -> TextSpan | None:
        if progress.read + len(progress.failed) >= self.most * (1 + progress.more):
            return None
        return next_chunk(self.text, progress.at, size or progress.size or self.size, self.overlap)
