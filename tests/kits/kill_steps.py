"""For a process that is to end, as kill -9 would end it, right before a step that reaches the disk."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from core.storage.files import exchange
from core.storage.journal.journal import Journal


def end_before_step(number: int, *transactions: tuple[type, str]) -> None:
    """Ends this process before the step of this number, counted from 0 and from now on.

    Steps are what files and journal are written by, and the beginning and the end of each transaction. transactions:
    classes and the names of their methods that open one, besides the journal's.
    """
    left = number

    def step() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(9)

    def stepping(work: Callable[..., Any]) -> Callable[..., Any]:
        def carried_out(*given: Any, **named: Any) -> Any:
            step()
            return work(*given, **named)

        return carried_out

    def around(plain: Callable[..., Any]) -> Callable[..., Any]:
        @contextlib.contextmanager
        def transaction(self: object, **named: Any) -> Iterator[Any]:
            step()
            with plain(self, **named) as opened:
                yield opened
                step()

        return transaction

    functions = ((exchange, "_swap"), (os, "fsync"), (os, "replace"), (os, "link"), (os, "unlink"))
    for holder, name in (*functions, (Journal, "begin"), (Journal, "mark_written")):
        setattr(holder, name, stepping(getattr(holder, name)))
    for kind, name in ((Journal, "transaction"), *transactions):
        setattr(kind, name, around(getattr(kind, name)))
