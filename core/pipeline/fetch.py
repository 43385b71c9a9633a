"""Fetches a page from the public internet, and from nowhere else.

Each address is looked up once, checked, and connected to as checked: a name that means another address a moment later
leads nowhere. Redirects are followed by the same rules. Proxies of the environment are not used. Nothing compressed is
asked for, and none is read: so no page is larger than what came. The library is an extra.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from core.pipeline.document_text import DocumentError, Fault
from core.pipeline.extra import install_command
from core.pipeline.transaction_guard import assert_outside_transaction
from core.pipeline.web import PORTS, Deadline, Found, Reply, WebError, exchange, look_up

SECONDS: Final = 30.0
MOST_REDIRECTS: Final = 5
LONGEST_ADDRESS: Final = 4_000
# Below these only the two above; of the rest none that other services than the web are at (Fetch standard, "bad port").
_FREE_PORTS: Final = 1_024
_BAD_PORTS: Final = frozenset(
    (1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
     10080, 11211)
)  # fmt: skip
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_PASSING: Final = frozenset((408, 425, 429))
_HEADERS: Final = {
    "User-Agent": "nuggets-tui (reads one page for its user)", "Accept-Encoding": "identity", "Connection": "close",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.8",
}  # fmt: skip
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


class Page(NamedTuple):
    """What a server sent. media_type: in lower case, without parameters. charset: "" if unsaid."""

    data: bytes
    media_type: str
    charset: str
    address: str


@dataclass(frozen=True, slots=True)
class Network:
    """How names are looked up, and what may be connected to beside public addresses: pairs of address and port, which
    tests alone name.
    """

    resolve: Callable[[str, int], list[Found]] = look_up
    also: frozenset[tuple[str, int]] = frozenset()

    def checked(self, deadline: Deadline, host: str, port: int) -> list[Found]:
        """The addresses of a server, of which every one may be connected to. Raises DocumentError, WebError."""
        found = deadline.resolved(self.resolve, host, port)
        if not found:
            raise WebError("unknown", "it has no address")
        if not all((address, at) in self.also or is_public(address) for _, address, at in found):
            raise DocumentError(
                "blocked for SSRF protection: the address is not one of the public internet", Fault.BLOCKED,
                where=host, kept="nothing was sent to it", todo="save the page to a file, and add that",
            )  # fmt: skip
        return found


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

    most_bytes: of the page. seconds: for all of it, redirects included. Raises DocumentError, and
    CallInsideTransactionError within a write transaction.
    """
    assert_outside_transaction("fetching a page")
    current, ends, known = check_address(address), Deadline(seconds), network or Network()
    host = urlsplit(current).hostname or ""
    for _ in range(MOST_REDIRECTS + 1):
        try:
            reply = _answer(current, ends, most_bytes, known)
        except WebError as error:
            raise _of_web(error, host, seconds, most_bytes) from error
        if reply.status not in _REDIRECTS:
            media_type, charset = _content_type(reply.headers.get("content-type"))
            return Page(reply.body, media_type, charset, current)
        told = reply.headers.get("location", "").strip()
        if not told:
            raise DocumentError("Fetch failed: a redirect to nowhere", Fault.REFUSED, where=address)
        current = check_address(urljoin(current, told))
        host = urlsplit(current).hostname or ""
    raise DocumentError(f"Too many redirects (>{MOST_REDIRECTS})", Fault.REDIRECTS, where=address)


def _answer(address: str, ends: Deadline, most_bytes: int, network: Network) -> Reply:
    """What a server answers; of a redirect the head alone."""
    host = urlsplit(address).hostname or ""

    def check_head(status: int, told: Mapping[str, str]) -> bool:
        if status not in _REDIRECTS:
            _check_head(status, told, host, most_bytes)
        return status not in _REDIRECTS

    return exchange(
        "GET", address, ends, most_bytes, addresses=lambda *at: network.checked(ends, *at), headers=_HEADERS,
        check_head=check_head,
    )  # fmt: skip


def _of_web(error: WebError, host: str, seconds: float, most_bytes: int) -> DocumentError:
    match error.kind:
        case "no_library":
            todo = f"install it with: {install_command()}"
            return DocumentError(
                "fetching a page needs the library httpx2", Fault.LIBRARY_MISSING, where=host, todo=todo
            )
        case "timeout":
            return DocumentError(f"Fetch timeout after {seconds:g} s", Fault.TIMEOUT, where=host)
        case "too_large":
            return _too_large(f"more than {most_bytes} bytes", host)
        case "certificate":
            what = f"the server's certificate is not valid ({error.told})"
            return DocumentError(f"Fetch failed: {what}", Fault.REFUSED, where=host)
        case "unknown":
            what = f"the server is not known ({error.told})"
            return DocumentError(f"Fetch failed: {what}", Fault.UNREACHABLE, where=host)
    return DocumentError(f"Fetch failed: {error.told}", Fault.UNREACHABLE, where=host)


def _check_head(status: int, told: Mapping[str, str], host: str, most_bytes: int) -> None:
    """Raises DocumentError for a page that is not to be read."""
    if not 200 <= status < 300:
        passing = status >= 500 or status in _PASSING
        try:
            # In the standard's words: those of the server are a stranger's.
            what = f"{status} {HTTPStatus(status).phrase}"
        except ValueError:
            what = str(status)
        raise DocumentError(f"Fetch failed: {what}", Fault.SERVER if passing else Fault.REFUSED, where=host)
    media_type, _ = _content_type(told.get("content-type"))
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
        raise _too_large(f"{int(declared[:18])} bytes exceeds {most_bytes} limit", host)


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


def _too_large(what: str, host: str) -> DocumentError:
    return DocumentError(
        f"Content too large: {what}", Fault.TOO_LARGE, where=host, todo="raise documents.max_content_bytes"
    )


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
    if parts.scheme not in PORTS:
        raise bad(f"unsupported protocol: {parts.scheme[:40] or 'none'}")
    if parts.username is not None or parts.password is not None:
        raise bad("the address holds a user name or a password")
    if not host:
        raise bad("the address names no server")
    wanted = PORTS[parts.scheme] if port is None else port
    if wanted not in PORTS.values() and (wanted < _FREE_PORTS or wanted in _BAD_PORTS):
        raise bad(f"port {wanted} is not one of the web")
    try:
        plain = (
            host if ":" in host else host.encode("idna" if not host.isascii() else "ascii").decode("ascii")
        )
    except UnicodeError:
        raise bad("the server's name cannot be read") from None
    netloc = f"[{plain}]" if ":" in plain else plain
    if port is not None and port != PORTS[parts.scheme]:
        netloc += f":{port}"
    return parts._replace(
        netloc=netloc,
        path=quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._"),
        query=quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]"),
    )
