"""A web server on the loopback address that answers as it is told, and the network through which it may be reached."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

from core.pipeline.fetch import Network

# Takes the path that was asked for; gives the whole answer, or writes to the connection itself and gives None.
Answer = Callable[[str, socket.socket], "bytes | None"]


def page(
    body: bytes = b"<p>Hello</p>",
    *,
    status: str = "200 OK",
    kind: str | None = "text/html; charset=utf-8",
    **more: str,
) -> bytes:
    """An answer as bytes. more: headers, with _ for -."""
    headers = {"Content-Length": str(len(body)), "Connection": "close"}
    if kind is not None:
        headers["Content-Type"] = kind
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


class WebServer:
    """Answers each connection in a thread. asked: the paths; heads: what was sent with them."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def network(self) -> Network:
        """Reaches this server alone, under the name site.test and its address."""
        return Network(lambda host, port: [(socket.AF_INET, "127.0.0.1", self.port)], self.only)

    @property
    def only(self) -> frozenset[tuple[str, int]]:
        return frozenset((("127.0.0.1", self.port),))

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                block = connection.recv(65_536)
                head += block
                if not block or head.startswith(b"\x16\x03"):
                    break
            self.heads.append(head)
            path = head.split(b" ")[1].decode() if head.startswith(b"GET ") else ""
            self.asked.append(path)
            answer = self.answer(path, connection)
            if answer is not None:
                connection.sendall(answer)

    def close(self) -> None:
        self.over.set()
        self._socket.close()


@contextlib.contextmanager
def web_server(answer: Answer | bytes) -> Iterator[WebServer]:
    """A server that answers so, everything the same where bytes are given."""
    server = WebServer((lambda path, connection: answer) if isinstance(answer, bytes) else answer)
    try:
        yield server
    finally:
        server.close()
