"""The app behind a page as its server holds it: textual-serve's own, whose process ends for certain."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from nuggets_tui.web.frames import Focus, Resized, Typed

# Seconds that an app has to leave as it does on `q`, and then to leave when it is told to by a signal.
_TO_LEAVE: Final = 4.0
_TO_END: Final = 1.0
# Named as Textual wants it, so that the server loads nothing that draws.
_DRIVER: Final = "nuggets_tui.web.driver:PageDriver"
# What the driver writes before anything else.
_READY: Final = b"__GANGLION__\n"


class AppBehindPage(AppService):
    """Starts the app of one page, hands it what the page sends, and sees it gone when the page is.

    words: the command. Of textual-serve 1.1 it uses what has no public name: the process, the task that reads from it,
    and the making of both.
    """

    def __init__(
        self, words: Sequence[str], websocket: web.WebSocketResponse, downloads: DownloadManager
    ) -> None:
        async def close() -> None:
            await websocket.close()

        super().__init__(
            words[0], write_bytes=websocket.send_bytes, write_str=websocket.send_str, close=close,
            download_manager=downloads,
        )  # fmt: skip
        self._words = tuple(words)

    async def take(self, frame: Typed | Resized | Focus) -> None:
        """Hands one message of the page to the app."""
        match frame:
            case Typed(data):
                await self.send_bytes(data)
            case Resized(columns, rows):
                await self.set_terminal_size(columns, rows)
            case Focus(here):
                await (self.focus() if here else self.blur())

    async def run(self) -> None:
        """Hands on what the app draws and asks for, until it ends; then the page is closed."""
        assert self._process is not None
        drawn = self._process.stdout
        assert drawn is not None
        handlers = {b"D": self.on_data, b"M": self.on_meta, b"P": self.on_packed}
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await drawn.readuntil(_READY)
            while True:
                kind, size = await drawn.readexactly(1), await drawn.readexactly(4)
                await handlers[kind](await drawn.readexactly(int.from_bytes(size, "big")))
        await self.remote_close()

    async def on_data(self, payload: bytes) -> None:
        """What the app draws; once the page is gone it is read all the same, or the app would wait in its writing."""
        await _unless_gone(self.remote_write_bytes, payload)

    async def stop(self) -> None:
        """Asks the app to leave, then tells it to, then ends it. Comes back when there is no process any more."""
        process, task = self._process, self._task
        self._process = self._task = None
        if process is None:
            return
        try:
            with contextlib.suppress(Exception):
                await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
            if not await _ends(self._asked_to_leave(process), _TO_LEAVE):
                _signal(process.terminate)
                await _ends(process.wait(), _TO_END)
        finally:
            # Also when the server itself will wait no longer.
            _signal(process.kill)
            if task is not None:
                task.cancel()
        await _ends(process.wait(), _TO_END)
        if task is not None:
            await _ends(asyncio.gather(task, return_exceptions=True), _TO_END)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        # Without a shell in between, so that what is ended is the app itself.
        pipe = asyncio.subprocess.PIPE
        environment = self._build_environment(width, height) | {"TEXTUAL_DRIVER": _DRIVER}
        process = await asyncio.create_subprocess_exec(*self._words, stdin=pipe, stdout=pipe, env=environment)
        assert process.stdin is not None
        self._process, self._stdin = process, process.stdin
        return process

    async def _asked_to_leave(self, process: asyncio.subprocess.Process) -> None:
        # An app that reads nothing any more lets this wait, too.
        await self.send_meta({"type": "quit"})
        await process.wait()


async def _unless_gone(write: Callable[[bytes], Awaitable[None]], payload: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        await write(payload)


async def _ends(work: Awaitable[object], seconds: float) -> bool:
    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        return False
    return True


def _signal(send: Callable[[], None]) -> None:
    with contextlib.suppress(ProcessLookupError):
        send()
