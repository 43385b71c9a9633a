"""Who may see the app that `nuggets serve` shows, and how it ends."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from kits.memory_files import tree

from core.errors import InvalidInputError
from nuggets_tui.web.server import HOST, listening

pytestmark = pytest.mark.slow

_PATIENCE = 30.0


async def _status(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status


async def test_the_page_answers_to_its_whole_url_on_this_machine_alone(served: str) -> None:
    parts = urlsplit(served)
    root = f"{parts.scheme}://{parts.netloc}"
    assert parts.hostname == HOST
    assert await _status(served) == 200
    assert await _status(f"{root}/") == 404
    assert await _status(f"{root}/ws") == 404
    assert await _status(f"{root}/{'A' * 22}/") == 404
    assert await _status(served.replace(HOST, "localhost")) == 200


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}]
)
async def test_other_pages_of_the_web_are_refused_even_with_the_secret(
    served: str, headers: dict[str, str]
) -> None:
    assert await _status(served, **headers) == 403
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{served}ws", headers=headers)
        assert refused.value.status == 403


async def test_the_page_may_load_nothing_from_elsewhere(served: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(served) as answer:
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        page = await answer.text()
    assert "//" not in page.replace(f"http://{urlsplit(served).netloc}", "").replace("ws://", "")


async def _first_bytes(session: aiohttp.ClientSession, url: str) -> aiohttp.ClientWebSocketResponse:
    page = await session.ws_connect(f"{url}ws?width=100&height=30")
    assert await page.receive_bytes(timeout=_PATIENCE)
    return page


async def test_the_app_of_a_page_leaves_with_the_server(
    served: str, server: subprocess.Popen[str], tmp_path: Path
) -> None:
    before = {name for name in tree(tmp_path / "memory") if "ledger" not in name}
    async with aiohttp.ClientSession() as session:
        page = await _first_bytes(session, served)
        server.terminate()
        async for _ in page:
            pass
    _, complaints = server.communicate(timeout=_PATIENCE)
    assert server.returncode == 0
    assert "Traceback" not in complaints
    assert {name for name in tree(tmp_path / "memory") if "ledger" not in name} == before


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the children of a process")
async def test_a_page_that_sends_nonsense_is_closed_with_its_app_and_a_line_in_the_log(
    served: str, server: subprocess.Popen[str]
) -> None:
    async with aiohttp.ClientSession() as session:
        for nonsense in ('["resize", {"width": "x"}]', b"\0\1"):
            page = await session.ws_connect(f"{served}ws?width=999999999&height=99999999999")
            await (page.send_str(nonsense) if isinstance(nonsense, str) else page.send_bytes(nonsense))
            async for _ in page:
                pass
            assert page.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION
        assert await _status(f"{served}ws") == 400
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        _wait_for_the_end_of(children.read_text().split())
        end = time.monotonic() + _PATIENCE
        while children.read_text().split():
            assert time.monotonic() < end
    place = urlsplit(served)
    with socket.create_connection((place.hostname, place.port)) as other:
        other.sendall(b"GET / HTTP/9.9\r\n\r\n")
        assert b"400" in other.recv(100)
    server.terminate()
    _, log = server.communicate(timeout=_PATIENCE)
    assert "Traceback" not in log
    assert [line.partition(": ")[0] for line in log.splitlines()[1:]] == ["nuggets serve"] * 3, log


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the children of a process")
async def test_an_app_that_does_not_answer_ends_with_its_page(
    served: str, server: subprocess.Popen[str]
) -> None:
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    async with aiohttp.ClientSession() as session:
        await _first_bytes(session, served)
        os.kill(int(children.read_text()), signal.SIGSTOP)
    _wait_for_the_end_of(children.read_text().split())
    end = time.monotonic() + _PATIENCE
    while children.read_text().split():
        assert time.monotonic() < end


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the children of a process")
async def test_the_app_of_a_page_ends_when_the_server_is_killed(
    served: str, server: subprocess.Popen[str]
) -> None:
    async with aiohttp.ClientSession() as session:
        await _first_bytes(session, served)
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        assert children
        server.send_signal(signal.SIGKILL)
        _wait_for_the_end_of(children)
        assert not any(_lives(int(child)) for child in children)
    _, complaints = server.communicate(timeout=_PATIENCE)
    # The app writes where its server did.
    assert len(complaints.splitlines()) == 1, complaints


def _wait_for_the_end_of(processes: Iterable[str]) -> None:
    """Waits for processes that may be another's children, and leaves the processor to them meanwhile."""
    for process in processes:
        try:
            ended = os.pidfd_open(int(process))
        except ProcessLookupError:
            continue
        try:
            assert select.select([ended], [], [], _PATIENCE)[0]
        finally:
            os.close(ended)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
        # One that ended and that nobody asked after yet has no command line any more.
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_port_that_is_taken_is_said_and_another_is_found_when_none_was_asked_for() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with pytest.raises(InvalidInputError, match="port"):
            listening(taken.getsockname()[1])
    with listening(None) as one, listening(None) as two:
        assert one.getsockname()[1] != two.getsockname()[1]
        assert one.getsockname()[0] == HOST
