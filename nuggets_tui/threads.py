"""Work off the event loop that nobody has to wait for when the app ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


async def run_in_thread(
    function: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
) -> _Result:
    """What a function returns, run in a thread that ends with the program.

    For reading and reckoning alone: `asyncio.to_thread`, which the program waits for at its end, is for writing.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_Result] = loop.create_future()

    def resolve(result: _Result | None, error: BaseException | None) -> None:
        if answer.cancelled():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, failure = None, None
        try:
            result = function(*arguments, **named)
        except BaseException as error:
            failure = error
        # The loop may be gone when the app has ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(resolve, result, failure)

    threading.Thread(target=work, name=f"run-in-thread-{function.__name__}", daemon=True).start()
    return await answer
