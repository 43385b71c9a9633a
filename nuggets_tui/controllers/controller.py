"""What the controllers of the main screen have in common, and how one begins work in the background."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from textual.worker import Worker

from nuggets_tui.controllers.context import Context

if TYPE_CHECKING:
    from nuggets_tui.session import Session
    from nuggets_tui.view import View

_Controller = TypeVar("_Controller", bound="Controller")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Controller:
    """One topic of the main screen: what it remembers and the commands it carries out.

    The screen owns it and tells it what happens by the methods below. Other controllers that it needs are handed to it.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    @property
    def view(self) -> View:
        """What the main screen shows."""
        return self.context.view

    @property
    def session(self) -> Session:
        """The session of the open memory."""
        return self.context.session

    # What the screen tells

    def mounted(self) -> None:
        """The screen is there; the memory may not be."""

    def first_frame_shown(self) -> None:
        """The memory that was opened stands on the screen."""

    def snapshot_shown(self) -> None:
        """Another snapshot is shown: the memory changed, or somebody looks at another time."""

    def log_shown(self) -> None:
        """More of the log was read, or other entries of it."""

    def welcomed(self) -> None:
        """A memory that holds nothing is shown: over the whole screen stands how to begin."""

    def leaving(self) -> None:
        """The memory is left, for another one."""

    def closing(self) -> None:
        """The memory is left with the app."""
        self.leaving()


def background(
    group: str, *, exclusive: bool = False
) -> Callable[
    [Callable[Concatenate[_Controller, _Arguments], Coroutine[Any, Any, _Result]]],
    Callable[Concatenate[_Controller, _Arguments], Worker[_Result]],
]:
    """Makes a coroutine method of a controller begin as work of a group; exclusive: in place of that under way.

    The groups "open" and "change" are those that keys wait for (`key_input`).
    """

    def decorated(
        method: Callable[Concatenate[_Controller, _Arguments], Coroutine[Any, Any, _Result]],
    ) -> Callable[Concatenate[_Controller, _Arguments], Worker[_Result]]:
        @wraps(method)
        def begin(
            controller: _Controller, /, *arguments: _Arguments.args, **named: _Arguments.kwargs
        ) -> Worker[_Result]:
            work = partial(method, controller, *arguments, **named)
            return controller.context.run(work, method.__name__, group, exclusive=exclusive)

        return begin

    return decorated
