"""Fetches a page from the public internet, and from nowhere else.

Each address is looked up once, checked, and connected to as checked: a name that means another address a moment later
leads nowhere. Redirects are followed by the same rules. Proxies of the environment are not used.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from core.pipeline.documents.errors import DocumentError, Fault
from core.pipeline.transaction_guard import assert_outside_transaction

SECONDS: Final = 30.0
MOST_REDIRECTS: Final = 5
LONGEST_ADDRESS: Final = 4_000
_PORTS: Final = {"http": 80, "https": 443}
# Below these only the two above; of the rest none that other services than the web are at (Fetch standard, "bad port").
_FREE_PORTS: Final = 1_024
_BAD_PORTS: Final = frozenset(
    (1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
     10080, 11211)
)  # fmt: skip
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_PASSING: Final = frozenset((408, 425, 429))
_BLOCK: Final = 65_536
_AGENT: Final = "nuggets-tui (reads one page for its user)"
_TYPES: Final = frozenset(("application/json", "application/xml", "application/xhtml+xml"))
# Networks whose addresses hold an IPv4 address, and where it begins in them (bits from the right).
_WITH_IPV4: Final = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
# Teredo, the former "compatible" addresses, and those of a site: nothing public is reached through them.
_NEVER: Final = tuple(
    map(ipaddress.IPv6Network, ("2001::/32", "::/96", "fec0::/10", "64:ff9b:1::/48", "2001:db8::/32"))
)
Found = tuple[int, str, int]


class Page(NamedTuple):
    """What a server sent. data: decompressed. media_type: in lower case, without parameters. charset: "" if unsaid."""

    data: bytes
    media_type: str
    charset: str
    address: str


def _resolve(host: str, port: int) -> list[Found]:
    """The addresses of a name: family, address, port."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(int(family), str(at[0]), int(at[1])) for family, _, _, _, at in found]


@dataclass(frozen=True, slots=True)
class Network:
    """How names are looked up, and what may be connected to beside public addresses: pairs of address and port, which
    tests alone name.
    """

    resolve: Callable[[str, int], list[Found]] = _resolve
    also: frozenset[tuple[str, int]] = frozenset()

    def may_reach(self, address: str, port: int) -> bool:
        """Whether an address may be connected to."""
        return (address, port) in self.also or is_public(address)


def is_public(address: str) -> bool:
    """Whether an IP address, however it is written, is one of the public internet: not of this machine, of a network of
    its own or of a provider (CGNAT), not for many at once, and not reserved.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return is_public(str(found.ipv4_mapped))
        for network, bits in _WITH_IPV4:
            if found in network:
                return is_public(str(ipaddress.IPv4Address(int(found) >> bits & 0xFFFF_FFFF)))
        if any(found in network for network in _NEVER):
            return False
    return found.is_global and not (
        found.is_multicast or found.is_private or found.is_loopback or found.is_link_local or found.is_reserved
        or found.is_unspecified
    )  # fmt: skip


def check_address(address: str) -> str:
    """An address as it is fetched, without its fragment. Raises DocumentError for one that is none of a page."""
    parts = _parts(address.strip())
    return urlunsplit(parts._replace(fragment=""))


def fetch(address: str, *, most_bytes: int, seconds: float = SECONDS, network: Network | None = None) -> Page:
    """Fetches a page.

    most_bytes: of the page, decompressed. seconds: for all of it, redirects included. Raises DocumentError, and
    CallInsideTransactionError within a write transaction.
    """
    assert_outside_transaction("fetching a page")
    ends = time.monotonic() + seconds
    used = network or Network()
    current = check_address(address)
    for _ in range(MOST_REDIRECTS + 1):
        with _answer(current, used, ends, seconds) as answer:
            if answer.status not in _REDIRECTS:
                return _page(answer, current, most_bytes)
            to = answer.getheader("location")
        if not to:
            raise DocumentError("Fetch failed: a redirect to nowhere", Fault.REFUSED, where=address)
        current = check_address(urljoin(current, to.strip()))
    raise DocumentError(f"Too many redirects (>{MOST_REDIRECTS})", Fault.REDIRECTS, where=address)


# Addresses


def _parts(address: str) -> SplitResult:
    def bad(what: str) -> DocumentError:
        return DocumentError(
            what, Fault.BAD_ADDRESS, where=address[:200], todo="give an address like https://…"
        )

    if len(address) > LONGEST_ADDRESS:
        raise bad(f"the address is longer than {LONGEST_ADDRESS:,} characters")
    if any(letter.isspace() or not letter.isprintable() or letter == "\\" for letter in address):
        raise bad("the address holds a space or a control character")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise bad("the address cannot be read") from None
    if parts.scheme not in _PORTS:
        raise bad(f"unsupported protocol: {parts.scheme[:40] or 'none'}")
    if parts.username is not None or parts.password is not None:
        raise bad("the address holds a user name or a password")
    if not host:
        raise bad("the address names no server")
    wanted = _PORTS[parts.scheme] if port is None else port
    if wanted not in _PORTS.values() and (wanted < _FREE_PORTS or wanted in _BAD_PORTS):
        raise bad(f"port {wanted} is not one of the web")
    try:
        plain = (
            host if ":" in host else host.encode("idna" if not host.isascii() else "ascii").decode("ascii")
        )
    except UnicodeError:
        raise bad("the server's name cannot be read") from None
    netloc = f"[{plain}]" if ":" in plain else plain
    if port is not None and port != _PORTS[parts.scheme]:
        netloc += f":{port}"
    return parts._replace(
        netloc=netloc,
        path=quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._"),
        query=quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]"),
    )


def _checked(parts: SplitResult, network: Network, ends: float, seconds: float) -> list[Found]:
    """The addresses of a server, of which every one may be connected to."""
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    found = _in_time(lambda: network.resolve(host, port), host, ends, seconds)
    if not found:
        raise DocumentError("Fetch failed: the server has no address", Fault.UNREACHABLE, where=host)
    if not all(network.may_reach(address, at) for _, address, at in found):
        raise DocumentError(
            "blocked for SSRF protection: the address is not one of the public internet", Fault.BLOCKED, where=host,
            kept="nothing was sent to it", todo="save the page to a file, and add that",
        )  # fmt: skip
    return found


def _in_time(ask: Callable[[], list[Found]], host: str, ends: float, seconds: float) -> list[Found]:
    """What a look-up gives, which nothing can interrupt; whoever asked goes on when it takes too long."""
    found: list[list[Found]] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            found.append(ask())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="looking up a server", daemon=True)
    thread.start()
    thread.join(max(0.0, ends - time.monotonic()))
    if found:
        return found[0]
    if not errors:
        raise _late(host, seconds)
    if isinstance(errors[0], OSError | UnicodeError):
        raise DocumentError(
            f"Fetch failed: the server is not known ({_said(errors[0])})", Fault.UNREACHABLE, where=host
        ) from errors[0]
    raise errors[0]


# One request


@contextlib.contextmanager
def _answer(
    address: str, network: Network, ends: float, seconds: float
) -> Iterator[http.client.HTTPResponse]:
    """The beginning of an answer. Whatever the server does, all of it ends in time: its connection is cut then."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    found = _checked(parts, network, ends, seconds)
    late = threading.Event()
    opened: list[socket.socket] = []

    def cut() -> None:
        late.set()
        for each in opened:
            with contextlib.suppress(OSError):
                # Of a secured connection too the one below.
                socket.socket.shutdown(each, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, ends - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        connected = _connected(found, opened, ends)
        if parts.scheme == "https":
            connected = _tls().wrap_socket(connected, server_hostname=host, do_handshake_on_connect=False)
            opened.append(connected)
            connected.do_handshake()
        connection = http.client.HTTPConnection(host, timeout=max(0.1, ends - time.monotonic()))
        connection.sock = connected
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        headers = {
            "Host": parts.netloc, "User-Agent": _AGENT, "Accept": "text/html, text/*;q=0.9, application/json;q=0.8",
            "Accept-Encoding": "gzip, deflate", "Connection": "close",
        }  # fmt: skip
        connection.request("GET", target, headers=headers)
        yield connection.getresponse()
        if late.is_set():
            raise _late(host, seconds)
    except TimeoutError:
        raise _late(host, seconds) from None
    except ssl.SSLCertVerificationError as error:
        raise DocumentError(
            f"Fetch failed: the server's certificate is not valid ({_said(error)})", Fault.REFUSED, where=host
        ) from error
    except (OSError, http.client.HTTPException, zlib.error) as error:
        if late.is_set():
            raise _late(host, seconds) from None
        raise DocumentError(f"Fetch failed: {_said(error)}", Fault.UNREACHABLE, where=host) from error
    except DocumentError as error:
        if late.is_set() and error.fault is not Fault.TIMEOUT:
            raise _late(host, seconds) from None
        raise
    finally:
        timer.cancel()
        for each in opened:
            each.close()


def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _connected(found: list[Found], opened: list[socket.socket], ends: float) -> socket.socket:
    """A connection to the first of the checked addresses that answers."""
    last: OSError = OSError("no address answers")
    for family, address, port in found:
        left = ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        made = socket.socket(family, socket.SOCK_STREAM)
        opened.append(made)
        made.settimeout(left)
        try:
            made.connect((address, port))
        except TimeoutError:
            raise
        except OSError as error:
            last = error
            continue
        return made
    raise last


def _page(answer: http.client.HTTPResponse, address: str, most_bytes: int) -> Page:
    host = urlsplit(address).hostname or ""
    if not 200 <= answer.status < 300:
        passing = answer.status >= 500 or answer.status in _PASSING
        raise DocumentError(
            f"Fetch failed: {_status(answer.status)}", Fault.SERVER if passing else Fault.REFUSED, where=host
        )
    media_type, charset = _content_type(answer.getheader("content-type"))
    if not (media_type.startswith("text/") or media_type in _TYPES or media_type.endswith("+xml")):
        raise DocumentError(
            f"Unsupported content type: {media_type[:80]}", Fault.UNSUPPORTED, where=host,
            todo="save it to a file, and add that",
        )  # fmt: skip
    declared = answer.getheader("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:18]) > most_bytes:
        raise _too_large(f"{int(declared[:18])} bytes exceeds", most_bytes, host)
    inflating = _inflating(answer.getheader("content-encoding", ""), host)
    gathered, received = bytearray(), 0
    while block := answer.read(_BLOCK):
        received += len(block)
        if received > most_bytes:
            raise _too_large("more than", most_bytes, host)
        for part in (block,) if inflating is None else inflating.parts(block):
            gathered += part
            if len(gathered) > most_bytes:
                raise _too_large("more than", most_bytes, host)
    if answer.length or (inflating is not None and received and not inflating.whole):
        raise DocumentError("Fetch failed: the page ended too early", Fault.UNREACHABLE, where=host)
    return Page(bytes(gathered), media_type, charset, address)


def _inflating(encoding: str, host: str) -> _Inflating | None:
    """What decompresses an answer; None for one that is not compressed."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in ("gzip", "x-gzip", "deflate"):
        raise DocumentError(f"Unsupported content encoding: {name[:80]}", Fault.UNSUPPORTED, where=host)
    return _Inflating(gzip=name != "deflate")


class _Inflating:
    """Decompresses what comes, in parts that are never large, whatever they are made of. Several compressed parts may
    follow each other. whole: whether the last one has ended.
    """

    def __init__(self, *, gzip: bool) -> None:
        self._bits = zlib.MAX_WBITS | 16 if gzip else zlib.MAX_WBITS
        self._gzip = gzip
        self._inflater = zlib.decompressobj(self._bits)
        self._begun = False

    @property
    def whole(self) -> bool:
        return self._inflater.eof

    def parts(self, block: bytes) -> Iterator[bytes]:
        """The decompressed bytes of the next block."""
        if not self._begun and not self._gzip and block and block[0] & 0x0F != 8:
            # Some servers call that deflate, too, which has no header.
            self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._begun = True
        while block:
            yield self._inflater.decompress(block, _BLOCK)
            if self._inflater.eof:
                block = self._inflater.unused_data
                if not self._gzip or not block.startswith(b"\x1f\x8b"):
                    return
                self._inflater = zlib.decompressobj(self._bits)
            else:
                block = self._inflater.unconsumed_tail


def _content_type(header: str | None) -> tuple[str, str]:
    """The media type and the charset that a server names; plain text where it names nothing."""
    if header is None or not header.strip():
        return "text/plain", ""
    kind, *parameters = header.split(";")
    charset = ""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'")[:40]
    return kind.strip().lower(), charset


def _status(status: int) -> str:
    """A status in the standard's words: those of the server are a stranger's."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _too_large(what: str, most: int, host: str) -> DocumentError:
    said = f"{what} {most} limit" if "exceeds" in what else f"{what} {most} bytes"
    return DocumentError(
        f"Content too large: {said}", Fault.TOO_LARGE, where=host, todo="raise documents.max_content_bytes"
    )


def _late(host: str, seconds: float) -> DocumentError:
    return DocumentError(f"Fetch timeout after {seconds:g} s", Fault.TIMEOUT, where=host)


def _said(error: Exception) -> str:
    # Without the number, which tells people nothing.
    said = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return "".join(letter if letter.isprintable() else " " for letter in said[:200])
