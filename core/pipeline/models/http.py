"""Requests to a model's server: bounded in time and size, with errors in our tree. The library is an extra."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from core.pipeline.extra import install_command
from core.pipeline.models.provider import (
    ModelHttpError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnreadableAnswerError,
)

if TYPE_CHECKING:
    import httpx2

LARGEST_REPLY: Final = 16_000_000
CONNECT_SECONDS: Final = 5.0
_MOST_DIGITS: Final = 12
MORE_TIME: Final = "raise extraction.timeout in settings.toml, or choose a smaller model"

# Calls that are under way at most, those that nobody waits for any more among them.
MOST_AT_ONCE: Final = 8

_T = TypeVar("_T")
_turns: Final = threading.BoundedSemaphore(MOST_AT_ONCE)
_own: Final = threading.local()


class Reply(NamedTuple):
    """A reply as it came. body: not more than LARGEST_REPLY bytes. wait: seconds that it asks for, None for none."""

    status: int
    body: bytes
    wait: float | None = None


class _Connections:
    """The connections of one call, for whoever waits for it to cut them; one that is opened later is cut at once."""

    def __init__(self) -> None:
        self._opened: list[socket.socket] = []
        self._lock = threading.Lock()
        self._over = False

    def trace(self, event: str, told: Mapping[str, Any]) -> None:
        """What the library tells of its steps: a connection is there once it is opened, again once it is secured."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            opened = told["return_value"].get_extra_info("socket")
            with self._lock:
                self._opened.append(opened)
                if self._over:
                    _cut(opened)

    def cut(self) -> None:
        """Ends every wait on them."""
        with self._lock:
            self._over = True
            for opened in self._opened:
                _cut(opened)


def request(
    method: str, url: str, body: Mapping[str, Any] | None, seconds: float, *, who: str, where: str
) -> Reply:
    """One request, JSON in the body, and the whole reply. No redirect is followed.

    seconds: for each wait for the next bytes; the sum is bounded by `within`. who, where: as errors name the server.
    Raises a ModelError.
    """
    try:
        import httpx2
    except ImportError:
        error = ModelUnavailableError(
            f"{who} needs the library httpx2", todo=f"install it with: {install_command()}"
        )
        error.library_missing = True
        raise error from None
    # ASCII only, since half of a surrogate pair has no UTF-8.
    content = None if body is None else json.dumps(body).encode("ascii")
    headers = {"Content-Type": "application/json"} if content is not None else {}
    try:
        client = _client(_is_here(url), url.startswith("https:"))
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        with client.stream(
            method, url, content=content, headers=headers, timeout=timeout, extensions=trace_of_call()
        ) as reply:
            gathered = bytearray()
            for chunk in reply.iter_bytes():
                gathered += chunk
                if len(gathered) > LARGEST_REPLY:
                    raise UnreadableAnswerError(f"{who} sent more than {LARGEST_REPLY:,} bytes", where=where)
            wait = seconds_to_wait(reply.headers.get("retry-after", ""), reply.headers.get("date", ""))
            return Reply(reply.status_code, bytes(gathered), wait)
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise ModelUnavailableError(f"{who} cannot be reached ({_said(error)})", where=where) from error
    except httpx2.TimeoutException:
        raise ModelTimeoutError(f"{who} timeout", where=where) from None
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        raise ModelHttpError(f"{who} closed the connection ({_said(error)})", where=where) from error
    except (httpx2.InvalidURL, httpx2.HTTPError, UnicodeError, ValueError, OSError) as error:
        raise ModelHttpError(f"{who} cannot be used ({_said(error)})", where=where) from error


def seconds_to_wait(retry_after: str, date: str) -> float | None:
    """The seconds that a header Retry-After asks to wait, given as such or as a moment; None for what says neither.

    date: the header of that name, when the server thinks it is.
    """
    text = retry_after.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text[:_MOST_DIGITS])
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError):
        return None
    try:
        now = parsedate_to_datetime(date)
    except (ValueError, IndexError, TypeError):
        now = datetime.now(UTC)
    try:
        return max(0.0, (until.astimezone(UTC) - now.astimezone(UTC)).total_seconds())
    except (OverflowError, ValueError):
        return None


def within(seconds: float, late: str, where: str, call: Callable[[float], _T]) -> _T:
    """What a call gives, or a ModelTimeoutError saying `late` when it takes longer altogether.

    The call gets the seconds, to bound each of its waits by; it runs in a thread of its own. A timeout of a
    connection counts from the last byte, so that a reply that drips would never end: when the call is late its
    connections are cut, and the thread ends. No more than MOST_AT_ONCE threads are there, whatever keeps one.
    """
    ends = time.monotonic() + seconds
    results: list[_T] = []
    errors: list[BaseException] = []
    connections = _Connections()
    turns, held = _turns, [True]

    def give_back() -> None:
        # By the thread, or by who could not start it; whoever comes second finds it done.
        with contextlib.suppress(IndexError):
            held.pop()
            turns.release()

    def run() -> None:
        _own.connections = connections
        try:
            results.append(call(seconds))
        except BaseException as error:
            errors.append(error)
        finally:
            give_back()

    if not turns.acquire(timeout=seconds):
        raise ModelTimeoutError(late, where=where, todo=MORE_TIME)
    thread = threading.Thread(target=run, name="asking a model", daemon=True)
    try:
        thread.start()
    except BaseException:
        give_back()
        raise
    try:
        thread.join(max(0.0, ends - time.monotonic()))
        # Taken before the cut: to the call that is an error of its own, or the end of a page that never ended.
        result, error = results[:], next(iter(errors), None)
    finally:
        connections.cut()
    if result:
        return result[0]
    if error is not None and not isinstance(error, ModelTimeoutError):
        raise error
    raise ModelTimeoutError(late, where=where, todo=MORE_TIME)


def trace_of_call() -> dict[str, Any]:
    """What a request takes along so that `within` can cut its connections; nothing outside of a call."""
    connections: _Connections | None = getattr(_own, "connections", None)
    return {} if connections is None else {"trace": connections.trace}


def _cut(opened: socket.socket) -> None:
    with contextlib.suppress(OSError):
        # Of a secured connection too the one below: what runs in the other thread keeps its state.
        socket.socket.shutdown(opened, socket.SHUT_RDWR)


@cache
def _client(here: bool, secure: bool) -> httpx2.Client:
    """A client that holds no connection open: one left over may have died, and a call is long against a connection.

    A proxy of the environment is for other machines; certificates are loaded only where they are used.
    """
    import httpx2

    limits = httpx2.Limits(max_keepalive_connections=0)
    return httpx2.Client(trust_env=not here, verify=secure, limits=limits, follow_redirects=False)


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _said(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return "".join(letter if letter.isprintable() else " " for letter in text[:200])
