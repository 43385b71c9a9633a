"""A headless Chromium spoken to over its DevTools protocol: opens a page, types, takes pictures, hears the page."""

from __future__ import annotations

import asyncio
import base64
import itertools
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 60.0


def chromium() -> str | None:
    """Where a Chromium is, if there is one."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page in a Chromium of its own. `received`: the bytes that came over the page's WebSockets so far."""

    def __init__(self, program: str, size: tuple[int, int] = (1280, 800)) -> None:
        self.received = bytearray()
        self._program = program
        self._size = size
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._news = asyncio.Event()

    async def __aenter__(self) -> Browser:
        self._profile = Path(tempfile.mkdtemp(prefix="browser-"))
        width, height = self._size
        self._process = subprocess.Popen(
            [
                self._program, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader",
                "--disable-background-networking", "--no-first-run", "--remote-debugging-port=0",
                f"--user-data-dir={self._profile}", f"--window-size={width},{height}", "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._session = aiohttp.ClientSession()
        address = await asyncio.wait_for(self._address(), _PATIENCE)
        self._socket = await self._session.ws_connect(address, max_msg_size=0)
        self._listener = asyncio.ensure_future(self._listen())
        for domain in ("Page", "Network"):
            await self.call(f"{domain}.enable")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.cancel()
        await self._session.close()
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    async def _address(self) -> str:
        """The WebSocket of the one page, once the browser answers."""
        told = self._profile / "DevToolsActivePort"
        while not told.exists() or not told.read_text().strip():
            await asyncio.sleep(0.05)
        port = told.read_text().split()[0]
        while True:
            async with self._session.get(f"http://127.0.0.1:{port}/json") as answer:
                pages = [page for page in await answer.json() if page["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
            await asyncio.sleep(0.05)

    async def _listen(self) -> None:
        async for message in self._socket:
            told = message.json()
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told)
            elif told["method"] == "Network.webSocketFrameReceived":
                frame = told["params"]["response"]
                if frame["opcode"] == 2:
                    self.received += base64.b64decode(frame["payloadData"])
                    self._news.set()

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One call of the protocol; its result."""
        number = next(self._numbers)
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        told = await asyncio.wait_for(future, _PATIENCE)
        assert "error" not in told, told
        return dict(told["result"])

    async def open(self, url: str) -> None:
        """Goes to a page."""
        await self.call("Page.navigate", url=url)

    async def press(self, key: str) -> None:
        """Types one character."""
        for kind in ("keyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else ""
            )

    async def evaluate(self, expression: str) -> Any:
        """The value of some JavaScript in the page."""
        return (await self.call("Runtime.evaluate", expression=expression))["result"].get("value")

    async def picture(self) -> bytes:
        """What the page looks like, as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])

    async def news(self) -> None:
        """Waits until more came over the WebSocket."""
        await asyncio.wait_for(self._news.wait(), _PATIENCE)
        self._news.clear()
