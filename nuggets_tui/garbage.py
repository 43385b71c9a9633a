"""When Python looks for garbage: a memory is large and a look at all of it long, so not while somebody is here. And how
what is not used any more goes back to the system.
"""

from __future__ import annotations

import contextlib
import gc
from typing import Final

# Objects made before the young ones are looked at, and such looks before the middle-aged are.
_YOUNG: Final = 20_000
_MIDDLE: Final = 20
# Everything is looked at by `collect` alone, while nobody is at the keyboard.
_NEVER: Final = 1_000_000


def begin() -> None:
    """Everything loaded so far stays: it is kept out of the collector's way, which works again from now on."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    gc.enable()


def freeze() -> None:
    """Something large was made that stays, such as an index: it is kept out of the collector's way as well."""
    gc.freeze()


def give_back() -> None:
    """Gives memory that is free back to the system, where the C library would keep it for later (glibc, on Linux).
    Takes some milliseconds after large work; for a thread.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError, TypeError):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def collect() -> None:
    """Looks at everything that does not stay."""
    gc.collect()
