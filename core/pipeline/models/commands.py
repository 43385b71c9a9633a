"""Models behind a command: a prompt in, text out, ended with all its children when the time is over."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from core.pipeline.models.answer_parsing import excerpt
from core.pipeline.models.provider import (
    AskedToWaitError,
    Availability,
    CommandFailedError,
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnreadableAnswerError,
)

MOST_AT_ONCE: Final = 4
GRACE_SECONDS: Final = 2.0
AVAILABLE_SECONDS: Final = 3.0
SHOWN_ERROR: Final = 300
LARGEST_OUTPUT: Final = 16_000_000
# How often it is looked how much a command has said.
_LOOK_SECONDS: Final = 0.1
# Each is a whole runtime: more of them at once than this would take the machine from the person.
_turns: Final = threading.BoundedSemaphore(MOST_AT_ONCE)
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


# What the commands say where a limit of use is reached, with the moment that it ends (seconds since the epoch), where
# they name one; where their server cannot be reached; where nobody is logged in.
_LIMIT: Final = re.compile(
    r"(?:usage|session|weekly|hourly|daily|\d+-hour|opus|sonnet|spending|your|plan|quota) (?:limit|cap|quota)"
    r"(?: has been| was| is)? (?:reached|exceeded|hit)(?:\|(?P<until>\d{9,11})\b)?"
    r"|(?:hit|reached|exceeded) (?:your|the)(?: \w+){0,2} (?:limit|cap|quota)"
    r"|credit balance is too low|out of (?:extra )?(?:usage|credits)|insufficient (?:credits|quota)",
    re.IGNORECASE,
)
_API_ERROR: Final = re.compile(r"API Error\b", re.IGNORECASE)
_STATUS: Final = re.compile(
    r"\b(?:API Error|HTTP|status(?: code)?|statusCode\"?)\W{0,4}([45]\d\d)\b", re.IGNORECASE
)
_UNREACHED: Final = re.compile(
    r"overloaded_error|api_error|\bE(?:CONNREFUSED|CONNRESET|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE)\b"
    r"|API Error\W+(?:Connection|Request timed out|Unable to connect)|connection error|fetch failed|socket hang up"
    r"|network error|getaddrinfo",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(
    r"authentication_error|invalid api key|please run /login|not logged in|oauth token (?:has )?(?:expired|revoked)"
    r"|unauthorized",
    re.IGNORECASE,
)


class _TooMuchError(Exception):
    """A command says more than any answer is long."""


class CommandOutput(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    output: str
    error: str


def run(
    name: str,
    arguments: Sequence[str],
    text: str | None,
    seconds: float,
    *,
    environ: Mapping[str, str],
    grace: float = GRACE_SECONDS,
) -> CommandOutput:
    """What a command says to a text on its standard input; None gives it none.

    name: of the provider, as errors tell it. seconds: for waiting for a turn and the command together; then it is
    asked to end, and killed with its children after `grace` more. It runs in an empty folder. Raises
    ModelTimeoutError, ModelUnavailableError when there is no such command, UnreadableAnswerError for endless output.
    """
    ends = time.monotonic() + seconds
    late = ModelTimeoutError(
        f"{name} timeout after {round(seconds * 1000)}ms", todo="raise extraction.timeout in settings.toml"
    )
    if not _turns.acquire(timeout=seconds):
        raise late
    try:
        # What lies in the working directory (instructions, files) would become part of the prompt.
        with tempfile.TemporaryDirectory(prefix="nuggets-") as folder:
            process = _started(name, arguments, text, environ, folder)
            try:
                sent = None if text is None else text.encode("utf-8", "replace")
                output, error = _heard(process, sent, ends)
            except subprocess.TimeoutExpired:
                raise late from None
            except _TooMuchError:
                # It would say as much again while it is waited for.
                grace = 0.0
                raise UnreadableAnswerError(f"{name} sent more than {LARGEST_OUTPUT:,} bytes") from None
            finally:
                _end(process, grace)
            return CommandOutput(process.returncode, _plain(output), _plain(error))
    finally:
        _turns.release()


def answer_text(name: str, said: CommandOutput, now: Callable[[], float] = time.time) -> str:
    """The text of a command that ended well. Raises ModelHttpError when it did not, EmptyAnswerError for no text.

    What keeps the provider from answering at all is told apart from what else may go wrong by the exit code and what
    the command says; some versions end well and say it in place of an answer. now: seconds since the epoch.
    """
    text = said.output.strip()
    if said.code != 0:
        told = excerpt((said.error.strip() or text)[:SHOWN_ERROR], SHOWN_ERROR)
        raise _error_of(f"{said.error}\n{text}", f"{name} exit {said.code}: {told}", now)
    if not text:
        raise EmptyAnswerError(f"{name} returned empty output")
    if len(text) <= SHOWN_ERROR and ("{" not in text or _API_ERROR.match(text)):
        error = _error_of(text, f"{name}: {excerpt(text, SHOWN_ERROR)}", now)
        if error.outage:
            raise error
    return text


def _error_of(told: str, what: str, now: Callable[[], float]) -> ModelHttpError:
    """The error for what a command says of its end. The texts are those of the commands, not ours."""
    limit = _LIMIT.search(told)
    status = next((int(found) for found in _STATUS.findall(told)), None)
    if limit is not None or status == 429 or "rate_limit_error" in told:
        seconds = max(0.0, int(limit["until"]) - now()) if limit and limit["until"] else None
        return AskedToWaitError(what, status=status, seconds=seconds)
    if status is not None or _UNREACHED.search(told):
        return ModelHttpError(what, status=status)
    if _LOGIN.search(told):
        return ModelHttpError(what, status=401, todo="log in with the command itself")
    return CommandFailedError(what)


def version_of(name: str, command: str, environ: Mapping[str, str]) -> str | Availability:
    """What `<command> --version` says within three seconds; why it says nothing, where it does not end well."""
    try:
        said = run(name, [command, "--version"], None, AVAILABLE_SECONDS, environ=environ)
    except ModelUnavailableError as error:
        return Availability(False, "no_command", error.message)
    except ModelError as error:
        return Availability(False, "unreachable", error.message)
    if said.code != 0:
        return Availability(False, "unreachable", f"`{command} --version` ended with exit code {said.code}")
    return said.output


def _started(
    name: str, arguments: Sequence[str], text: str | None, environ: Mapping[str, str], folder: str
) -> subprocess.Popen[bytes]:
    command = shutil.which(arguments[0], path=environ.get("PATH"))
    if command is None:
        raise ModelUnavailableError(
            f"the command {arguments[0]} for the model {name} was not found",
            todo="install it or choose another provider",
        )
    try:
        return subprocess.Popen(
            [command, *arguments[1:]], env=dict(environ), cwd=folder,
            stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ModelUnavailableError(f"{name} cannot be started ({said})") from error


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Ends a command that still runs, and its children: asked first, killed after the grace."""
    if process.poll() is not None:
        return
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=grace)
    # Its children too, which may have stayed when it went.
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.kill()
    try:
        process.communicate(timeout=grace)
    except subprocess.TimeoutExpired:
        # Somebody else holds its pipes; they are closed, not waited for.
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        process.wait()


def _heard(process: subprocess.Popen[bytes], sent: bytes | None, ends: float) -> tuple[bytes, bytes]:
    """Output and errors of a command that ended by itself. Raises TimeoutExpired, _TooMuchError."""
    while True:
        left = max(0.0, ends - time.monotonic())
        try:
            return process.communicate(sent, timeout=min(left, _LOOK_SECONDS))
        except subprocess.TimeoutExpired as yet:
            if len(yet.output or b"") + len(yet.stderr or b"") > LARGEST_OUTPUT:
                raise _TooMuchError from None
            if left <= _LOOK_SECONDS:
                raise
            sent = None


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _plain(output: bytes) -> str:
    """Text without the marks that a terminal would act upon."""
    return _ESCAPES.sub("", output.decode("utf-8", "replace"))
