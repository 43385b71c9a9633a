"""The server of `nuggets serve`: textual-serve on the loopback address, for those alone who hold the printed URL."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import aiohttp_jinja2
import jinja2
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError
from textual_serve.server import Server

from core.errors import InvalidInputError
from nuggets_tui.safe_text import plain
from nuggets_tui.web.behind import AppBehindPage
from nuggets_tui.web.frames import LARGEST, Ping, UnreadableFrameError, clamped, read_frame

HOST: Final = "127.0.0.1"
PORT: Final = 8642
_PORTS_TRIED: Final = 20
_KEY_BYTES: Final = 16
_NOT_FOR_YOU: Final = "This page is only for browsers on the machine that runs it.\n"
_NOTHING_HERE: Final = "There is nothing here. Open the full URL that `nuggets serve` printed.\n"
# Each has a process of its own.
_MOST_PAGES: Final = 12
_TOO_MANY: Final = "Too many pages are open. Close one and try again.\n"
_HEARTBEAT: Final = 15.0
# Seconds in which an app takes what was typed, or never will.
_STUCK_AFTER: Final = 10.0
_USUAL_SIZE: Final = (80, 24)
_MOST_DIGITS: Final = 9
_LOG: Final = logging.getLogger("nuggets.serve")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def listening(port: int | None) -> socket.socket:
    """A socket on the loopback address: at the port asked for, else at the first free one from PORT on.

    Raises InvalidInputError for a port that is taken or not allowed.
    """
    ports = (port,) if port is not None else (*range(PORT, PORT + _PORTS_TRIED), 0)
    for number in ports:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, number))
            listener.listen()
        except OSError as error:
            listener.close()
            if port is None and error.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            raise InvalidInputError(
                f"cannot be used ({error.strerror})", where=f"--port {number}",
                todo="name another port, or leave out --port to use a free one",
            ) from error  # fmt: skip
        return listener
    raise InvalidInputError("no port is free", where=HOST)


class _OneLine(logging.Formatter):
    """An entry of the server's log: what happened, without the way through the code."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            said = "refused a request that is not HTTP"
        else:
            said = record.getMessage() + (f": {error!r}" if error is not None else "")
        return plain(f"nuggets serve: {' '.join(said.split())}")


class LoopbackServer(Server):
    """Shows the app on one memory to browsers of this machine.

    Any page of the web can make a browser of this machine send requests here, so three things are asked of each: the
    secret in its path, a Host that is this server (against names that are made to resolve to it), and, where a browser
    names one, this server as the Origin.
    """

    def __init__(self, home: Path, listener: socket.socket, *, report: Callable[[str], None]) -> None:
        port = listener.getsockname()[1]
        words = _command(home)
        super().__init__(shlex.join(words), host=HOST, port=port, title="nuggets")
        self.templates_path = Path(__file__).parent / "templates"
        self._listener = listener
        self._report = report
        self._words = words
        self._pages: set[asyncio.Task[object]] = set()
        self._host, self._other_name = f"{HOST}:{port}", f"localhost:{port}"
        self.root = f"/{secrets.token_urlsafe(_KEY_BYTES)}"

    @property
    def url(self) -> str:
        """What a person opens."""
        return f"{self.public_url}{self.root}/"

    def serve(self, debug: bool = False) -> None:
        """Serves until interrupted or terminated."""
        self.debug = debug
        self.initialize_logging()
        web.run_app(
            self._make_app(), sock=self._listener, loop=asyncio.new_event_loop(), print=lambda *_: None,
            access_log=None, shutdown_timeout=5.0,
        )  # fmt: skip

    def initialize_logging(self) -> None:
        """Only what goes wrong is said, on standard error, a line each."""
        handler = logging.StreamHandler()
        handler.setFormatter(_OneLine())
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
        # It warns of processes that ended while the server did.
        logging.getLogger("asyncio").setLevel(logging.ERROR)

    async def on_startup(self, app: web.Application) -> None:
        """Says the URL once it answers."""
        self._report(self.url)

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(self.templates_path))
        root = self.root
        app.add_routes(
            [
                web.get(f"{root}/", self.handle_index, name="index"),
                web.get(f"{root}/ws", self.handle_websocket, name="websocket"),
                web.get(f"{root}/download/{{key}}", self.handle_download, name="download"),
                web.static(f"{root}/static", self.statics_path, name="static"),
            ]
        )
        app.on_startup.append(self.on_startup)
        app.on_shutdown.append(self.on_shutdown)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        if request.headers.get("Origin") not in (None, self.public_url):
            raise web.HTTPForbidden(text=_NOT_FOR_YOU)
        if request.host == self._other_name:
            raise web.HTTPFound(f"{self.public_url}{request.path_qs}")
        if request.host != self._host:
            raise web.HTTPForbidden(text=_NOT_FOR_YOU)
        try:
            response = await handler(request)
        except web.HTTPNotFound as error:
            error.text = _NOTHING_HERE
            raise
        if not response.prepared:
            response.headers.update(self._protection(self._host))
        return response

    @staticmethod
    def _protection(host: str) -> dict[str, str]:
        """Headers by which the page loads nothing from elsewhere, and tells nobody its address."""
        allowed = (
            "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'; "
            "base-uri 'none'; form-action 'none'"
        )
        return {
            "Content-Security-Policy": allowed,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Drives the app behind a page until either leaves; a page that sends what ours does not is closed."""
        if len(self._pages) >= _MOST_PAGES:
            raise web.HTTPServiceUnavailable(text=_TOO_MANY)
        task = asyncio.current_task()
        assert task is not None
        self._pages.add(task)
        websocket = web.WebSocketResponse(heartbeat=_HEARTBEAT, max_msg_size=LARGEST)
        try:
            await websocket.prepare(request)
            await self._drive(websocket, *_size_asked_for(request))
        except ConnectionError:
            # The page went away.
            pass
        except asyncio.CancelledError:
            # The server ends.
            await websocket.close()
        finally:
            self._pages.discard(task)
        return websocket

    async def _drive(self, websocket: web.WebSocketResponse, columns: int, rows: int) -> None:
        app = AppBehindPage(self._words, websocket, self.download_manager)
        try:
            await app.start(columns, rows)
            async for message in websocket:
                if message.type != WSMsgType.TEXT:
                    raise UnreadableFrameError
                frame = read_frame(message.data)
                if isinstance(frame, Ping):
                    await websocket.send_json(["pong", frame.echo])
                else:
                    async with asyncio.timeout(_STUCK_AFTER):
                        await app.take(frame)
        except TimeoutError:
            _LOG.warning("closed a page: its app takes no more keys")
        except UnreadableFrameError:
            _LOG.warning("closed a page: it sent an unknown message")
            await websocket.close(code=WSCloseCode.POLICY_VIOLATION)
        finally:
            await app.stop()

    async def on_shutdown(self, app: web.Application) -> None:
        """Lets the app behind each page leave as it does on `q`, before the server goes."""
        pages = tuple(self._pages)
        for page in pages:
            page.cancel()
        await asyncio.gather(*pages, return_exceptions=True)


def _command(home: Path) -> tuple[str, ...]:
    """The command of the process behind a page. It is told whose child it is, so that it knows when that is gone."""
    return sys.executable, "-m", "nuggets_tui.web.page", str(home), str(os.getpid())


def _size_asked_for(request: web.Request) -> tuple[int, int]:
    """The cells of the page as its address says them, where it says something of use."""
    columns, rows = (request.query.get(name, "") for name in ("width", "height"))
    sound = all(text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS for text in (columns, rows))
    return clamped(int(columns), int(rows)) if sound else _USUAL_SIZE
