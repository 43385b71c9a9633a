"""Fetches a page from the public internet, and from nowhere else.

Each address is looked up once, checked, and connected to as checked: a name that means another address a moment later
leads nowhere. Redirects are followed by the same rules. Proxies of the environment are not used. Nothing compressed is
asked for, and none is read: so no page is larger than what came. The library is an extra.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from core.pipeline.document_text import DocumentError, Fault
from core.pipeline.extra import install_command
from core.pipeline.models.http import trace_of_call, within
from core.pipeline.models.provider import ModelTimeoutError
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
    """What a server sent. media_type: in lower case, without parameters. charset: "" if unsaid."""

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

    most_bytes: of the page. seconds: for all of it, redirects included: then its connections are cut, and whatever it
    waits for is left behind. Raises DocumentError, and CallInsideTransactionError within a write transaction.
    """
    assert_outside_transaction("fetching a page")
    first = check_address(address)

    def follow(left: float) -> Page:
        current = first
        for _ in range(MOST_REDIRECTS + 1):
            answer = _answer(current, network or Network(), most_bytes, left)
            if isinstance(answer, Page):
                return answer
            if not answer:
                raise DocumentError("Fetch failed: a redirect to nowhere", Fault.REFUSED, where=address)
            current = check_address(urljoin(current, answer))
        raise DocumentError(f"Too many redirects (>{MOST_REDIRECTS})", Fault.REDIRECTS, where=address)

    host = urlsplit(first).hostname or ""
    try:
        return within(seconds, "", host, follow)
    except ModelTimeoutError:
        raise DocumentError(f"Fetch timeout after {seconds:g} s", Fault.TIMEOUT, where=host) from None


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


def _addresses(host: str, port: int, network: Network) -> list[Found]:
    """The addresses of a server, of which every one may be connected to."""
    try:
        found = network.resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise DocumentError(
            f"Fetch failed: the server is not known ({_said(error)})", Fault.UNREACHABLE, where=host
        ) from error
    if not found:
        raise DocumentError("Fetch failed: the server has no address", Fault.UNREACHABLE, where=host)
    if not all(network.may_reach(address, at) for _, address, at in found):
        raise DocumentError(
            "blocked for SSRF protection: the address is not one of the public internet", Fault.BLOCKED, where=host,
            kept="nothing was sent to it", todo="save the page to a file, and add that",
        )  # fmt: skip
    return found


# One request


def _answer(address: str, network: Network, most_bytes: int, seconds: float) -> Page | str:
    """The page of an address, or where it redirects to. seconds: for each wait."""
    try:
        import httpcore2
    except ImportError:
        raise DocumentError(
            "fetching a page needs the library httpx2", Fault.LIBRARY_MISSING, where=address,
            todo=f"install it with: {install_command()}",
        ) from None  # fmt: skip
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    found = _addresses(host, port, network)

    class Pinned(httpcore2.SyncBackend):
        """Connects to the first of the checked addresses that answers, whatever the name means by now."""

        def connect_tcp(self, host: str, port: int, *asked: Any, **said: Any) -> httpcore2.NetworkStream:
            for _, at, its_port in found[:-1]:
                try:
                    return super().connect_tcp(at, its_port, *asked, **said)
                except httpcore2.ConnectError:
                    continue
            return super().connect_tcp(found[-1][1], found[-1][2], *asked, **said)

    headers = {
        "Host": parts.netloc, "User-Agent": _AGENT, "Accept": "text/html, text/*;q=0.9, application/json;q=0.8",
        "Accept-Encoding": "identity", "Connection": "close",
    }  # fmt: skip
    # Certificates take long to load.
    secured = _tls() if parts.scheme == "https" else None
    waits = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
    try:
        with (
            httpcore2.ConnectionPool(secured, network_backend=Pinned()) as pool,
            pool.stream(
                "GET",
                address,
                headers=list(headers.items()),
                extensions={"timeout": waits, **trace_of_call()},
            ) as answer,
        ):
            told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers}
            if answer.status in _REDIRECTS:
                return told.get("location", "").strip()
            media_type, charset = _check_head(answer.status, told, host, most_bytes)
            gathered = bytearray()
            for block in answer.iter_stream():
                gathered += block
                if len(gathered) > most_bytes:
                    raise _too_large("more than", most_bytes, host)
            return Page(bytes(gathered), media_type, charset, address)
    except httpcore2.TimeoutException:
        raise DocumentError(f"Fetch timeout after {seconds:g} s", Fault.TIMEOUT, where=host) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        if isinstance(error.__context__, ssl.SSLCertVerificationError):
            said = f"the server's certificate is not valid ({_said(error.__context__)})"
            raise DocumentError(f"Fetch failed: {said}", Fault.REFUSED, where=host) from error
        raise DocumentError(f"Fetch failed: {_said(error)}", Fault.UNREACHABLE, where=host) from error


def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _check_head(status: int, told: dict[str, str], host: str, most_bytes: int) -> tuple[str, str]:
    """The media type and the charset of a page that may be read. Raises DocumentError."""
    if not 200 <= status < 300:
        passing = status >= 500 or status in _PASSING
        raise DocumentError(
            f"Fetch failed: {_status(status)}", Fault.SERVER if passing else Fault.REFUSED, where=host
        )
    media_type, charset = _content_type(told.get("content-type"))
    if not (media_type.startswith("text/") or media_type in _TYPES or media_type.endswith("+xml")):
        raise DocumentError(
            f"Unsupported content type: {media_type[:80]}", Fault.UNSUPPORTED, where=host,
            todo="save it to a file, and add that",
        )  # fmt: skip
    encoding = told.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise DocumentError(f"Unsupported content encoding: {encoding[:80]}", Fault.UNSUPPORTED, where=host)
    declared = told.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:18]) > most_bytes:
        raise _too_large(f"{int(declared[:18])} bytes exceeds", most_bytes, host)
    return media_type, charset


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


def _said(error: Exception) -> str:
    # Without the number, which tells people nothing.
    said = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return "".join(letter if letter.isprintable() else " " for letter in said[:200])
