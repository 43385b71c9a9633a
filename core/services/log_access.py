"""How the parts of a memory read its log: once more where it was damaged and begun anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from core.memory import Memory

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


class _OfMemory(Protocol):
    _memory: Memory


_Part = TypeVar("_Part", bound=_OfMemory)
_Method = Callable[Concatenate[_Part, _Arguments], _Result]


def of_the_log(method: _Method[_Part, _Arguments, _Result]) -> _Method[_Part, _Arguments, _Result]:
    """A method of a part of a memory that reads the log. It runs once more where the log was damaged and begun anew."""

    @wraps(method)
    def call(self: _Part, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return self._memory.with_sound_log(lambda: method(self, *args, **named))

    # A method for mypy, which takes what `wraps` gives for something else.
    return cast("_Method[_Part, _Arguments, _Result]", call)


def guarded(method: _Method[_Part, _Arguments, _Result]) -> _Method[_Part, _Arguments, _Result]:
    """As `of_the_log`, with the guard held."""

    @wraps(method)
    def held(self: _Part, *args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        with self._memory.guard:
            return method(self, *args, **named)

    return of_the_log(cast("_Method[_Part, _Arguments, _Result]", held))
