"""An Ollama on this machine's loopback that says what a script tells it to, and misbehaves as real ones do."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from core.settings.pipeline_sections import PipelineConfiguration
from kits.scripted_model import with_quotes
from kits.written_configuration import read_configuration


@dataclass(frozen=True)
class Reply:
    """One answer to /api/generate or /api/embed.

    text: what the model said. thinking: its thoughts beside that. done_reason: "length" for an answer that was cut.
    status: of the reply; with another than 200, text is the error. body: the reply's body instead of all this.
    drop: the connection is closed before the reply, or within its body. delay: seconds before anything is sent.
    drip: seconds between the single bytes of the body, head_drip: of an endless head. fields: put over those of the
    reply, None takes one out. headers: of the reply, such as Retry-After.
    """

    text: str = ""
    thinking: str = ""
    done_reason: str = "stop"
    status: int = 200
    body: str | bytes | None = None
    drop: Literal["", "before", "within"] = ""
    delay: float = 0.0
    drip: float = 0.0
    head_drip: float = 0.0
    prompt_tokens: int = 11
    answer_tokens: int = 7
    fields: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


Line = Reply | str | dict[str, Any] | list[Any]


@dataclass(frozen=True)
class ReceivedRequest:
    """One request that came in. json: its body, None where there is none."""

    method: str
    path: str
    json: Any
    headers: dict[str, str]


class FakeOllama:
    """Answers with the lines of a script, one a call, or with what a function of the prompt gives.

    A line is a Reply, a text, or what is said as JSON. models: those that are there; None takes every model for
    there. tags_status: the status of /api/tags. vector_of: the numbers of a text, or a Reply in place of the whole
    answer. Use as a context manager.
    """

    def __init__(
        self,
        script: list[Line] | None = None,
        *,
        by_prompt: Callable[[str], Line] | None = None,
        models: tuple[str, ...] | None = ("qwen3:4b",),
        tags_status: int = 200,
        vector_of: Callable[[str], list[float] | Reply] | None = None,
    ) -> None:
        self.script: list[Line] = list(script or [])
        self.by_prompt = by_prompt
        self.models = models
        self.tags_status = tags_status
        self.vector_of = vector_of
        self.requests: list[ReceivedRequest] = []
        self.closing = threading.Event()
        self._turn = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.ollama = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The address, as `extraction.endpoint` or OLLAMA_HOST takes it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def prompts(self) -> list[str]:
        """The prompts of all calls so far."""
        return [asked.json["prompt"] for asked in self.requests if asked.path == "/api/generate"]

    @property
    def embedded(self) -> list[list[str]]:
        """The texts of each call for embeddings so far."""
        return [asked.json["input"] for asked in self.requests if asked.path == "/api/embed"]

    def configuration(self, **extraction: Any) -> PipelineConfiguration:
        """A configuration whose model is this one. extraction: further keys of that section."""
        table = {"extraction": {"endpoint": self.url, **extraction}}
        read = read_configuration({"pipeline": table}, environ={})
        assert not read.warnings
        return read.configuration

    def take(self, asked: ReceivedRequest) -> Reply:
        """Puts a request down and gives the reply that is next."""
        with self._turn:
            self.requests.append(asked)
            if asked.path == "/api/embed":
                return self._embedding(asked)
            if asked.path != "/api/generate":
                return Reply()
            if self.models is not None and asked.json["model"] not in self.models:
                return Reply(f"model '{asked.json['model']}' not found", status=404)
            if self.by_prompt is not None:
                line = self.by_prompt(asked.json["prompt"])
            elif self.script:
                line = self.script.pop(0)
            else:
                line = Reply("the script has ended", status=500)
        if isinstance(line, dict | list):
            line = json.dumps(with_quotes(line, asked.json["prompt"]) if isinstance(line, dict) else line)
        return Reply(line) if isinstance(line, str) else line

    def _embedding(self, asked: ReceivedRequest) -> Reply:
        if self.vector_of is None:
            return Reply(body="404 page not found", status=404)
        if self.models is not None and asked.json["model"] not in self.models:
            return Reply(f"model '{asked.json['model']}' not found", status=404)
        made = [self.vector_of(text) for text in asked.json["input"]]
        refused = next((one for one in made if isinstance(one, Reply)), None)
        if refused is not None:
            return refused
        return Reply(body=json.dumps({"embeddings": made, "prompt_eval_count": 3}))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    ollama: FakeOllama


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        ollama = self.server.ollama
        ollama.take(ReceivedRequest("GET", self.path, None, dict(self.headers)))
        if self.path == "/api/tags":
            listed = [{"name": name, "model": name} for name in ollama.models or ()]
            self._send(ollama.tags_status, json.dumps({"models": listed}).encode())
        else:
            self._send(200, b"Ollama is running")

    def do_POST(self) -> None:
        ollama = self.server.ollama
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = ollama.take(ReceivedRequest("POST", self.path, said, dict(self.headers)))
        if self.path not in ("/api/generate", "/api/embed"):
            self._send(404, b"404 page not found")
            return
        if reply.delay and ollama.closing.wait(reply.delay):
            return
        if reply.drop == "before":
            self._break_off()
            return
        self._send(reply.status, _body(reply, said), reply)

    def _send(self, status: int, body: bytes, reply: Reply | None = None) -> None:
        try:
            if reply is not None and reply.head_drip:
                self._drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 50_000, reply.head_drip)
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (reply.headers if reply is not None else {}).items():
                self.send_header(name, value)
            self.end_headers()
            if reply is not None and reply.drop == "within":
                self.wfile.write(body[: len(body) // 2])
                self._break_off()
            elif reply is not None and reply.drip:
                self._drip(body, reply.drip)
            else:
                self.wfile.write(body)
        except OSError:
            self.close_connection = True  # whoever asked has gone

    def _drip(self, body: bytes, seconds: float) -> None:
        for byte in body:
            if self.server.ollama.closing.wait(seconds):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def _break_off(self) -> None:
        self.close_connection = True
        # Reset, not an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def _body(reply: Reply, asked: dict[str, Any]) -> bytes:
    if reply.body is not None:
        return reply.body if isinstance(reply.body, bytes) else reply.body.encode()
    if reply.status != 200:
        return json.dumps({"error": reply.text}).encode()
    said: dict[str, Any] = {
        "model": asked["model"],
        "created_at": "2026-11-18T12:00:00Z",
        "response": reply.text,
        "done": True,
        "done_reason": reply.done_reason,
        "prompt_eval_count": reply.prompt_tokens,
        "eval_count": reply.answer_tokens,
        **({"thinking": reply.thinking} if reply.thinking else {}),
    }
    said |= reply.fields
    return json.dumps({name: value for name, value in said.items() if value is not None}).encode()
