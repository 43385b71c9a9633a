"""Pages fetched: from the public internet alone, whatever names and redirects say, and never more than is allowed."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from kits.web_server import page, web_server

from core.pipeline.database.connection import Database
from core.pipeline.document_text import DocumentError, Fault, read_text
from core.pipeline.fetch import Network, Page, check_address, fetch, is_public
from core.pipeline.transaction_guard import CallInsideTransactionError
from core.pipeline.web import Found

VECTORS = {
    one["id"].partition(".")[2]: one
    for one in json.loads((Path(__file__).parent / "vectors" / "url_fetch.json").read_text("utf-8"))
}
MOST = 100_000


def get(server: Any, path: str = "/", *, most: int = MOST, seconds: float = 10.0) -> Page:
    return fetch(f"http://site.test{path}", most_bytes=most, seconds=seconds, network=server.network)


def refused(call: Any) -> DocumentError:
    with pytest.raises(DocumentError) as raised:
        call()
    return raised.value


@pytest.mark.parametrize("name", ["01", "02", "03", "06", "07"])
def test_vectors_of_pages(name: str) -> None:
    asked, wanted = VECTORS[name]["input"], VECTORS[name]["expected"]
    kind = asked.get("content_type", "text/html")
    with web_server(page(asked["body"].encode(), kind=kind)) as server:
        found = get(server)
    read = read_text(found.data, found.media_type, charset=found.charset, strict=False)
    assert read.text == wanted["content"]
    assert read.title == wanted.get("title", "")
    assert found.media_type == wanted.get("contentType", found.media_type)


def test_vectors_of_refusals() -> None:
    with web_server(page(kind="application/pdf")) as server:
        assert VECTORS["05"]["expected"]["error"] in str(refused(lambda: get(server)))
    with web_server(page(b"x" * 11)) as server:
        assert VECTORS["08"]["expected"]["error"] in str(refused(lambda: get(server, most=10)))
    with web_server(page(status="404 Whatever they like")) as server:
        assert VECTORS["10"]["expected"]["error"] in str(refused(lambda: get(server)))
    with web_server(page(status="302 Found", Location="/again")) as server:
        assert VECTORS["13"]["expected"]["error"] in str(refused(lambda: get(server)))
        assert len(server.asked) == 6
    with web_server(page(status="302 Found", Location="http://169.254.169.254/")) as server:

        def resolve(host: str, port: int) -> list[Found]:
            at = (host, port) if host[0].isdigit() else ("127.0.0.1", server.port)
            return [(socket.AF_INET, *at)]

        network = Network(resolve, server.only)
        error = refused(lambda: fetch("http://site.test/", most_bytes=MOST, network=network))
    assert VECTORS["14"]["expected"]["error"] in str(error)
    assert error.fault is Fault.BLOCKED


def test_a_name_that_no_server_has_is_told_in_words_without_the_number_of_the_system() -> None:
    def resolve(host: str, port: int) -> list[Found]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    error = refused(lambda: fetch("http://site.test/", most_bytes=MOST, network=Network(resolve)))
    assert error.fault is Fault.UNREACHABLE
    assert str(error) == "site.test: Fetch failed: the server is not known (Name or service not known)"


def test_a_server_on_this_machine_is_never_asked() -> None:
    with web_server(page()) as server:
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"):
            error = refused(
                lambda host=host: fetch(f"http://{host}:{server.port}/", most_bytes=MOST, seconds=5)
            )
            assert error.fault in (Fault.BLOCKED, Fault.UNREACHABLE), host
        assert server.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "239.1.1.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "::", "::1", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::ffff:100.64.0.1", "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "2001:db8::1",
        "no address", "",
    ],
)  # fmt: skip
def test_no_address_of_a_network_of_its_own_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


def test_a_name_that_changes_its_address_is_connected_to_as_it_was_checked() -> None:
    asked: list[str] = []
    with web_server(page(b"public")) as public, web_server(page(b"private")) as private:

        def rebinding(host: str, port: int) -> list[Found]:
            asked.append(host)
            return [(socket.AF_INET, "127.0.0.1", (public if len(asked) == 1 else private).port)]

        found = fetch("http://site.test/", most_bytes=MOST, network=Network(rebinding, public.only))
        assert (found.data, asked, private.asked) == (b"public", ["site.test"], [])


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with web_server(page()) as server:
        both = [(socket.AF_INET, "127.0.0.1", server.port), (socket.AF_INET, "10.0.0.1", 80)]
        network = Network(lambda host, port: both, server.only)
        error = refused(lambda: fetch("http://site.test/", most_bytes=MOST, network=network))
        assert (error.fault, server.asked) == (Fault.BLOCKED, [])


@pytest.mark.parametrize(
    "address",
    [
        "ftp://site.test/", "file:///etc/passwd", "javascript:x", "site.test", "http://", "http://me:pw@site.test/",
        "http://me@site.test/", "http://site.test:22/", "http://site.test:0/", "http://site.test:6379/",
        "http://site.test:99999/", "http://site.test/\r\nX: y", "http://site.test/a b", "http://si\\te.test/",
        "http://[::1", "http://" + "a" * 5_000,
    ],
)  # fmt: skip
def test_an_address_that_is_none_of_a_page_is_refused_before_anything_is_looked_up(address: str) -> None:
    network = Network(lambda host, port: pytest.fail("was looked up"))
    assert refused(lambda: fetch(address, most_bytes=MOST, network=network)).fault is Fault.BAD_ADDRESS


def test_an_address_is_kept_as_it_is_fetched() -> None:
    assert check_address(" https://Site.Test:443/ä?q=ö#part ") == "https://site.test/%C3%A4?q=%C3%B6"
    assert check_address("http://bücher.test") == "http://xn--bcher-kva.test/"


def test_a_redirect_to_another_protocol_leads_nowhere() -> None:
    with web_server(page(status="301 Moved", Location="file:///etc/passwd")) as server:
        assert refused(lambda: get(server)).fault is Fault.BAD_ADDRESS


def test_nothing_compressed_is_asked_for_and_none_is_read() -> None:
    for encoding in ("gzip", "deflate", "br", "gzip, gzip"):
        with web_server(page(gzip.compress(b"\0" * 5_000_000), Content_Encoding=encoding)) as server:
            assert refused(lambda server=server: get(server)).fault is Fault.UNSUPPORTED
            assert b"accept-encoding: identity" in server.heads[0].lower()


def test_a_page_without_an_end_is_stopped_at_the_limit_and_one_cut_short_is_no_page() -> None:
    def endless(path: str, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    with web_server(endless) as server:
        assert refused(lambda: get(server)).fault is Fault.TOO_LARGE
    for answer in (
        page(b"x" * 10, Content_Length="20"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"not http at all\r\n\r\n",
        b"",
    ):
        with web_server(answer) as server:
            error = refused(lambda server=server: get(server))
            assert (error.fault, error.permanent) == (Fault.UNREACHABLE, False)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["never", "in the head", "in the body"])
def test_a_server_that_drips_is_left_in_time(when: str) -> None:
    def drip(path: str, connection: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        if when != "never":
            connection.sendall(head + (b"\r\n" if when == "in the body" else b"X: "))
            while not server.over.wait(0.02):
                connection.sendall(b"x")
        server.over.wait(10)

    with web_server(drip) as server:
        assert refused(lambda: get(server, seconds=0.3)).fault is Fault.TIMEOUT


@pytest.mark.slow
def test_a_look_up_that_hangs_is_left_in_time() -> None:
    with web_server(page()) as server:
        network = Network(lambda host, port: server.over.wait(10) and [], server.only)  # type: ignore[arg-type,return-value]
        error = refused(lambda: fetch("http://site.test/", most_bytes=MOST, seconds=0.2, network=network))
    assert error.fault is Fault.TIMEOUT


def test_a_secured_page_names_its_host_and_checks_the_certificate() -> None:
    with web_server(b"no certificate") as server:
        error = refused(lambda: fetch("https://site.test/", most_bytes=MOST, network=server.network))
        assert error.fault is Fault.UNREACHABLE
        assert b"site.test" in server.heads[0]
        assert server.heads[0].startswith(b"\x16\x03")


def test_what_passes_by_itself_may_be_tried_again() -> None:
    for status, passing in (("503 x", True), ("429 x", True), ("403 x", False), ("410 x", False)):
        with web_server(page(status=status)) as server:
            assert refused(lambda server=server: get(server)).permanent is not passing


def test_nothing_is_fetched_within_a_transaction(database: Database) -> None:
    with database.write(), pytest.raises(CallInsideTransactionError):
        fetch("http://site.test/", most_bytes=MOST)
