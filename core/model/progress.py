"""The callback by which long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

Progress = Callable[[int, int], None]
"""Told now and then how much of how much is done. What it raises ends the work, which has changed nothing by then."""
_Item = TypeVar("_Item")
_REPORT_EVERY: Final = 16


def counted(items: Sequence[_Item], progress: Progress | None) -> Iterator[_Item]:
    """The items one by one; `progress` is told between them how many of how many went by."""
    for count, item in enumerate(items):
        if progress is not None and not count % _REPORT_EVERY:
            progress(count, len(items))
        yield item


def watched(items: Iterable[_Item], progress: Progress | None) -> Iterator[_Item]:
    """The items one by one; between them `progress` may end the work, but is told no count: it is of something else."""
    for count, item in enumerate(items):
        if progress is not None and not count % _REPORT_EVERY:
            progress(0, 0)
        yield item
