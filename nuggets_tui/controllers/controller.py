"""What the controllers of the main screen have in common, and how one begins work in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from textual.screen import Screen
from textual.worker import Worker

from nuggets_tui import notices
from nuggets_tui.pace import LongWork, StoppedError

if TYPE_CHECKING:
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session
    from nuggets_tui.view import View

_Controller = TypeVar("_Controller", bound="Controller")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Controller:
    """One topic of the main screen: what it remembers and the commands it carries out.

    The screen owns it and tells it what happens by the methods below.
    """

    def __init__(self, main: MainScreen) -> None:
        self.main = main

    @property
    def app(self) -> NuggetsApp:
        return self.main.app  # type: ignore[return-value]

    @property
    def view(self) -> View:
        return self.main.view

    @property
    def session(self) -> Session:
        return self.main.session

    def notify(self, text: str) -> None:
        notices.notify(self.main, text)

    def warn(self, text: str) -> None:
        """A notice of something to know about."""
        notices.warn(self.main, text)

    def notify_error(self, error: Exception) -> None:
        """A notice of an error: what happened and where, what was kept safe, what to do."""
        notices.notify_error(self.main, error)

    async def ask(self, dialog: Screen[_Result]) -> _Result | None:
        """The answer of a dialog, None where it was left; for work in the background."""
        return await self.app.ask(dialog)

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """The result of something asked of the session; None when it failed, which a notice then says."""
        return await notices.attempt(self.main, asked)

    async def long_work(
        self, words: str, asked: Awaitable[_Result], work: LongWork | None = None
    ) -> _Result | None:
        """As `attempt`, with a sign in the header once it takes long, and how far it is. esc stops a `work` that can be
        stopped.
        """

        async def unless_stopped() -> _Result | None:
            work_or_words = work or LongWork(words, stops=False)
            try:
                return await self.main.works.run(work_or_words, asked)
            except StoppedError:
                if work_or_words.asked_for:
                    self.notify("Stopped. Nothing changed.")
                return None

        return await self.attempt(unless_stopped())

    async def look(self, words: str, begin: Callable[[LongWork], Awaitable[_Result]]) -> _Result | None:
        """Long work that somebody waits for and esc stops. begin: gets what it reports its progress to."""
        work = LongWork(words)
        return await self.long_work(words, begin(work), work)

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
            return controller.main.run_worker(
                work, name=method.__name__, group=group, exclusive=exclusive, exit_on_error=False
            )

        return begin

    return decorated
