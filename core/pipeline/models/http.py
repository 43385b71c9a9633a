"""Requests to a model's server: bounded in time and size, with errors in our tree. The library is an extra."""

from __future__ import annotations

import ipaddress
import json
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

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
MORE_TIME: Final = "give it more time (extraction.timeout) or choose a smaller model"
INSTALL: Final = "pip install 'nuggets-tui[pipeline]'"

_T = TypeVar("_T")


class LibraryMissingError(ModelUnavailableError):
    """The extra `pipeline` is not installed."""


class Reply(NamedTuple):
    """A reply as it came. body: not more than LARGEST_REPLY bytes."""

    status: int
    body: bytes


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
        raise LibraryMissingError(
            f"{who} needs the library httpx2", todo=f"install it with {INSTALL}"
        ) from None
    # ASCII only, since half of a surrogate pair has no UTF-8.
    content = None if body is None else json.dumps(body).encode("ascii")
    headers = {"Content-Type": "application/json"} if content is not None else {}
    try:
        client = _client(_is_here(url), url.startswith("https:"))
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        with client.stream(method, url, content=content, headers=headers, timeout=timeout) as reply:
            gathered = bytearray()
            for chunk in reply.iter_bytes():
                gathered += chunk
                if len(gathered) > LARGEST_REPLY:
                    raise UnreadableAnswerError(f"{who} sent more than {LARGEST_REPLY:,} bytes", where=where)
            return Reply(reply.status_code, bytes(gathered))
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise ModelUnavailableError(f"{who} cannot be reached ({_said(error)})", where=where) from error
    except httpx2.TimeoutException:
        raise ModelTimeoutError(f"{who} timeout", where=where) from None
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        raise ModelHttpError(f"{who} broke off the connection ({_said(error)})", where=where) from error
    except (httpx2.InvalidURL, httpx2.HTTPError, UnicodeError, ValueError, OSError) as error:
        raise ModelHttpError(f"{who} cannot be asked ({_said(error)})", where=where) from error


def within(seconds: float, late: str, where: str, call: Callable[[float], _T]) -> _T:
    """What a call gives, or a ModelTimeoutError saying `late` when it takes longer altogether.

    The call gets the seconds, to bound each of its waits by; it runs in a thread of its own, which is left to end by
    itself when it is late: a timeout of a connection counts from the last byte, so that a slow reply never ends.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call(seconds))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="asking a model", daemon=True)
    thread.start()
    thread.join(seconds)
    if results:
        return results[0]
    if errors and not isinstance(errors[0], ModelTimeoutError):
        raise errors[0]
    raise ModelTimeoutError(late, where=where, todo=MORE_TIME)


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
