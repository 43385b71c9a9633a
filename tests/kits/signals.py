"""Signals as the processes that tests start get them, however the tests were started."""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import Final

_HEEDED: Final = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")


def heed_signals_in_children() -> None:
    """What was ignored from the start (by `nohup`, or in the background of a shell) stays without effect here, but a
    new program has it by default: unlike an ignored signal, a handled one is not inherited.
    """
    for name in _HEEDED:
        number = getattr(signal, name, None)
        with suppress(ValueError):
            if number is not None and signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
