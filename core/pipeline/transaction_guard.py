"""Forbids model and network calls while this thread holds a write transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_held = threading.local()


class CallInsideTransactionError(RuntimeError):
    """A mistake of the program: a call that may take seconds, made while every other writer waits."""


@contextmanager
def holding_a_transaction() -> Iterator[None]:
    """Within this, `assert_outside_transaction` raises in this thread. It may be nested."""
    _held.depth = depth() + 1
    try:
        yield
    finally:
        _held.depth -= 1


def depth() -> int:
    """How many write transactions this thread is within."""
    return int(getattr(_held, "depth", 0))


def assert_outside_transaction(call: str) -> None:
    """Raises CallInsideTransactionError within a write transaction of this thread. call: what is about to be done."""
    if depth():
        raise CallInsideTransactionError(f"{call} inside a write transaction of the pipeline's database")
