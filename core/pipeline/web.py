"""One HTTP exchange, bounded in time and size, with addresses that its caller has looked up and checked.

The deadline is for all of it: looking the name up, connecting, each byte read. A timeout of a connection alone counts
from the last byte, so that a reply that drips would never end. The library is an extra.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

CONNECT_SECONDS: Final = 5.0
PORTS: Final = {"http": 80, "https": 443}
_PIECE: Final = 16_384
# Family, address, port.
Found = tuple[int, str, int]
Resolve = Callable[[str, int], list[Found]]


class Reply(NamedTuple):
    """A reply as it came. headers: by their names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class WebError(Exception):
    """Why an exchange came to nothing. told: in words that hold no control characters."""

    def __init__(
        self,
        kind: Literal[
            "no_library", "timeout", "unknown", "unreachable", "certificate", "broken", "bad", "too_large"
        ],
        told: str = "",
    ) -> None:
        super().__init__(told)
        self.kind = kind
        self.told = told


def look_up(host: str, port: int) -> list[Found]:
    """The addresses of a name. Raises OSError, UnicodeError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(int(family), str(at[0]), int(at[1])) for family, _, _, _, at in found]


class Deadline:
    """The end of an exchange. seconds: from now on."""

    def __init__(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then. Raises WebError when it is over."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise WebError("timeout")
        return left

    def resolved(self, resolve: Resolve, host: str, port: int) -> list[Found]:
        """What a look-up gives. One that hangs is left behind in its thread. Raises WebError."""
        told: queue.SimpleQueue[list[Found] | BaseException] = queue.SimpleQueue()

        def ask() -> None:
            try:
                told.put(resolve(host, port))
            except BaseException as error:
                told.put(error)

        threading.Thread(target=ask, name="looking up an address", daemon=True).start()
        try:
            found = told.get(timeout=self.left())
        except queue.Empty:
            raise WebError("timeout") from None
        if isinstance(found, OSError | UnicodeError):
            raise WebError("unknown", said(found)) from found
        if isinstance(found, BaseException):
            raise found
        return found


def exchange(
    method: str,
    url: str,
    deadline: Deadline,
    most_bytes: int,
    *,
    addresses: Callable[[str, int], list[Found]] | None = None,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    check_head: Callable[[int, Mapping[str, str]], bool] = lambda status, headers: True,
) -> Reply:
    """Sends a request and reads the whole reply; no redirect is followed.

    addresses: those of a name that may be connected to; the first that answers is. Without it any is, and a proxy of
    the environment is used for other machines. check_head: whether the body is to be read; may raise. Raises WebError,
    and whatever `addresses` and `check_head` raise.
    """
    try:
        import httpcore2
    except ImportError:
        raise WebError("no_library") from None
    import ssl
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host, find = parts.hostname or "", addresses or (lambda *at: deadline.resolved(look_up, *at))
    proxy = "" if addresses or proxy_bypass(host) or _is_here(host) else getproxies().get(parts.scheme, "")
    # Certificates take long to load.
    secured = ssl.create_default_context() if parts.scheme == "https" else None
    backend = _backend(httpcore2, deadline, find)
    try:
        with (
            (
                httpcore2.HTTPProxy(proxy, ssl_context=secured, network_backend=backend)
                if proxy
                else httpcore2.ConnectionPool(secured, network_backend=backend)
            ) as pool,
            pool.stream(method, url, headers=list((headers or {}).items()), content=content) as answer,
        ):
            told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers}
            gathered = bytearray()
            for block in answer.iter_stream() if check_head(answer.status, told) else ():
                gathered += block
                if len(gathered) > most_bytes:
                    raise WebError("too_large")
            return Reply(answer.status, told, bytes(gathered))
    except httpcore2.ConnectTimeout as error:
        raise WebError(
            "unreachable" if deadline.ends > time.monotonic() else "timeout", said(error)
        ) from None
    except httpcore2.TimeoutException:
        raise WebError("timeout") from None
    except httpcore2.ConnectError as error:
        if isinstance(error.__context__, ssl.SSLCertVerificationError):
            raise WebError("certificate", said(error.__context__)) from error
        raise WebError("unreachable", said(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise WebError("broken", said(error)) from error
    except (httpcore2.UnsupportedProtocol, UnicodeError, ValueError, OSError) as error:
        raise WebError("bad", said(error)) from error


def _backend(library: Any, deadline: Deadline, find: Callable[[str, int], list[Found]]) -> Any:
    """Connects to addresses as they were found, whatever a name means by now, and bounds each wait by the deadline."""

    class Stream(library.NetworkStream):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return bytes(self.inner.read(max_bytes, deadline.left()))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            for place in range(0, len(buffer), _PIECE):
                self.inner.write(buffer[place : place + _PIECE], deadline.left())

        def close(self) -> None:
            self.inner.close()

        def start_tls(self, ssl_context: Any, *named: Any, **more: Any) -> Any:
            more["timeout"] = deadline.left()
            return Stream(self.inner.start_tls(ssl_context, *named[:1], **more))

        def get_extra_info(self, info: str) -> Any:
            return self.inner.get_extra_info(info)

    class Backend(library.SyncBackend):  # type: ignore[misc]
        def connect_tcp(self, host: str, port: int, *asked: Any, **more: Any) -> Any:
            *others, last = find(host, port)
            for _, at, its_port in others:
                try:
                    return Stream(super().connect_tcp(at, its_port, min(deadline.left(), CONNECT_SECONDS)))
                except (library.ConnectError, library.ConnectTimeout):
                    continue
            return Stream(super().connect_tcp(*last[1:], min(deadline.left(), CONNECT_SECONDS)))

    return Backend()


def _is_here(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def said(error: BaseException) -> str:
    """What an error says, tame, and without the number of the system, which tells people nothing."""
    system = error if isinstance(error, OSError) else error.__context__
    told = (isinstance(system, OSError) and system.strerror) or str(error) or type(error).__name__
    return "".join(letter if letter.isprintable() else " " for letter in told[:200])
