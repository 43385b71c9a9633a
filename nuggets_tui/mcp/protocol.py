"""The Model Context Protocol as far as a server of tools needs it: JSON-RPC, a message a line, over standard input and
output.

One thread reads. Calls run in threads of their own: reads beside each other, changes one after the other.
"""

from __future__ import annotations

import json
import os
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, Final, NamedTuple

from core.text.normalise import encodable

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
# Reads that run at once: an agent asks several things in one go, and each takes a core.
_READS: Final = 4

Params = Mapping[str, Any]
Reply = dict[str, Any]


class ProtocolError(Exception):
    """What the caller is answered instead of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Method(NamedTuple):
    """What answers a method. writes: True and False run in a thread, None at once."""

    answer: Callable[[Params], Reply]
    writes: Callable[[Params], bool] | None = None


class Connection:
    """One client at the other end. methods: by their names; notified: gets notifications, and answers by their ids.

    Raises BrokenPipeError where the client reads no answers any more.
    """

    def __init__(
        self,
        received: IO[bytes],
        sent: int,
        methods: Mapping[str, Method],
        notified: Callable[[str, Params], None],
    ) -> None:
        self._received, self._sent, self._methods, self._notified = received, sent, methods, notified
        self._reads = ThreadPoolExecutor(_READS, "read")
        self._writes = ThreadPoolExecutor(1, "write")
        self._running: dict[str | int, Future[None]] = {}
        self._sending = threading.Lock()
        self._gone = False

    def run(self) -> None:
        """Answers until the client closes its end, and then what was asked before."""
        for line in self._received:
            if line.strip():
                self._take(line)
            if self._gone:
                break
        self._reads.shutdown()
        self._writes.shutdown()
        if self._gone:
            raise BrokenPipeError

    def ask(self, method: str, id: str) -> None:
        """Asks the client something; its answer is a notification named by the id."""
        self._send({"jsonrpc": "2.0", "id": id, "method": method})

    def _take(self, line: bytes) -> None:
        try:
            message = _whole(json.loads(line.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, "The message is no JSON that can be read")
            return
        for one in message if isinstance(message, list) and message else [message]:
            self._handle(one)

    def _handle(self, message: Any) -> None:
        given = message if isinstance(message, dict) else {}
        id, method, params = given.get("id"), given.get("method"), given.get("params")
        id = id if isinstance(id, str | int) and not isinstance(id, bool) else None
        params = params if isinstance(params, dict) else {}
        if isinstance(method, str) and "id" not in given:
            self._hear(method, params)
        elif isinstance(method, str) and id is not None:
            self._call(id, method, params)
        elif isinstance(given.get("result"), dict):
            self._notified(str(id), given["result"])
        elif not {"result", "error"} & given.keys():
            self._refuse(id, INVALID_REQUEST, "This is no request")

    def _hear(self, method: str, params: Params) -> None:
        id = params.get("requestId")
        if method != "notifications/cancelled":
            self._notified(method, params)
        elif isinstance(id, str | int) and (waiting := self._running.get(id)) is not None:
            waiting.cancel()

    def _call(self, id: str | int, method: str, params: Params) -> None:
        found = self._methods.get(method)
        if found is None:
            self._refuse(id, UNKNOWN_METHOD, f"Unknown method: {method[:100]}")
        elif found.writes is None:
            self._answer(id, found, params)
        else:
            pool = self._writes if found.writes(params) else self._reads
            running = self._running[id] = pool.submit(self._answer, id, found, params)
            running.add_done_callback(lambda _: self._running.pop(id, None))

    def _answer(self, id: str | int, method: Method, params: Params) -> None:
        try:
            self._send({"jsonrpc": "2.0", "id": id, "result": method.answer(params)})
        except ProtocolError as error:
            self._refuse(id, error.code, error.message)
        except Exception as error:
            if os.environ.get("NUGGETS_DEBUG") == "1":
                traceback.print_exception(error)
            self._refuse(id, INTERNAL_ERROR, f"This is a bug in nuggets-tui: {type(error).__name__}")

    def _refuse(self, id: str | int | None, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    def _send(self, message: Reply) -> None:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        with self._sending:
            try:
                rest = memoryview(f"{text}\n".encode("utf-8", "replace"))
                while rest and not self._gone:
                    rest = rest[os.write(self._sent, rest) :]
            except BrokenPipeError:
                self._gone = True


def _whole(value: Any) -> Any:
    """A value whose texts are all text: JSON may spell half of a character, which nothing can store."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {encodable(name): _whole(one) for name, one in value.items()}
    return list(map(_whole, value)) if isinstance(value, list) else value


def streams() -> tuple[IO[bytes], int]:
    """Standard input and output for nobody but the protocol: what else prints goes to standard error, and programs that
    are started read nothing.
    """
    received, sent = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return received, sent
