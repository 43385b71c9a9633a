"""Models behind a command: a prompt in, text out, ended with all its children when the time is over.

Claude Code, whose tools are switched off; OpenCode, which is never asked; and the command that a person configures.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Final, NamedTuple

from core.pipeline.models.answers import excerpt
from core.pipeline.models.provider import (
    AVAILABLE,
    Answer,
    AskedToWaitError,
    Availability,
    CommandFailedError,
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelTimeoutError,
    ModelUnavailableError,
    Schema,
    UnreadableAnswerError,
)
from core.pipeline.transaction_guard import assert_outside_transaction
from core.settings.pipeline_sections import DEFAULT_MODELS

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
    command = shutil.which(arguments[0], path=environ.get("PATH"))
    if command is None:
        raise ModelUnavailableError(
            f"the command {arguments[0]} for the model {name} was not found",
            todo="install it or choose another provider",
        )
    if not _turns.acquire(timeout=seconds):
        raise late
    try:
        # What lies in the working directory (instructions, files) would become part of the prompt. The other files have
        # no name: whatever ends this process, nothing of a text is left.
        with (
            tempfile.TemporaryDirectory(prefix="nuggets-") as folder,
            tempfile.TemporaryFile() as asked,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as error,
        ):
            asked.write((text or "").encode("utf-8", "replace"))
            asked.seek(0)
            try:
                process = subprocess.Popen(
                    [command, *arguments[1:]], env=dict(environ), cwd=folder, start_new_session=True,
                    stdin=subprocess.DEVNULL if text is None else asked, stdout=output, stderr=error,
                )  # fmt: skip
            except (OSError, ValueError) as why:
                said = why.strerror if isinstance(why, OSError) and why.strerror else why
                raise ModelUnavailableError(f"{name} cannot be started ({said})") from why
            try:
                while process.poll() is None:
                    if os.fstat(output.fileno()).st_size + os.fstat(error.fileno()).st_size > LARGEST_OUTPUT:
                        # It would say as much again while it is waited for.
                        grace = 0.0
                        raise UnreadableAnswerError(f"{name} sent more than {LARGEST_OUTPUT:,} bytes")
                    if (left := ends - time.monotonic()) <= 0:
                        raise late
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(min(left, _LOOK_SECONDS))
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


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Ends a command that still runs, and its children: asked first, killed after the grace."""
    if process.poll() is not None:
        return
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    # Its children too, which may have stayed when it went.
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.kill()
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _plain(said: IO[bytes]) -> str:
    """What was written, without the marks that a terminal would act upon."""
    said.seek(0)
    return _ESCAPES.sub("", said.read(LARGEST_OUTPUT).decode("utf-8", "replace"))


# Longer prompts stand on no command line, where everybody on the machine can read them.
SHORT: Final = 200
# A text is read, never acted upon: no tools, no MCP servers, no hooks, no settings of a user or a project, no skills,
# one turn. A command that does not know one of these options ends with an error before it reads the text.
UNARMED: Final = (
    "--tools", "", "--strict-mcp-config", "--mcp-config", '{"mcpServers":{}}', "--setting-sources", "",
    "--settings", '{"disableAllHooks":true,"permissions":{"deny":["Read"]}}', "--disable-slash-commands",
    "--max-turns", "1",
)  # fmt: skip
# The first version that was seen to take all of them.
OLDEST: Final = (2, 0, 70)
_VERSION: Final = re.compile(r"(?<![\d.])(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
# A text from anywhere is read by this command: no credential that it does not need for its own login is within its
# reach, no agent that signs or logs in elsewhere, nothing that loads code into it (NODE_OPTIONS, LD_PRELOAD). Names of
# proxies are written in small letters, too, and those of Windows as each likes.
# To start; the key chain of macOS finds the login under USER.
_OF_THE_SYSTEM: Final = """
PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR TMP TEMP LANG LANGUAGE USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA
LOCALAPPDATA PROGRAMDATA SYSTEMDRIVE SYSTEMROOT WINDIR COMSPEC PATHEXT CLAUDE_CODE_GIT_BASH_PATH
"""
_OF_THE_NETWORK: Final = """
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY CLAUDE_CODE_PROXY_RESOLVES_HOSTS NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA
SSL_CERT_FILE SSL_CERT_DIR CLAUDE_CODE_CERT_STORE
"""
# With ANTHROPIC_*.
_OF_THE_LOGIN: Final = """
CLAUDE_CONFIG_DIR CLAUDE_SECURESTORAGE_CONFIG_DIR CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_OAUTH_REFRESH_TOKEN
CLAUDE_CODE_OAUTH_SCOPES CLAUDE_CODE_CLIENT_CERT CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_KEY_PASSPHRASE
CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_MANTLE CLAUDE_CODE_USE_ANTHROPIC_AWS CLAUDE_CODE_USE_VERTEX
CLAUDE_CODE_USE_FOUNDRY CLAUDE_CODE_SKIP_BEDROCK_AUTH CLAUDE_CODE_SKIP_MANTLE_AUTH CLAUDE_CODE_SKIP_ANTHROPIC_AWS_AUTH
CLAUDE_CODE_SKIP_VERTEX_AUTH CLAUDE_CODE_SKIP_FOUNDRY_AUTH
"""
# What a person switched off stays off.
_SWITCHED_OFF: Final = """
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_TELEMETRY DISABLE_ERROR_REPORTING DISABLE_AUTOUPDATER DO_NOT_TRACK
"""
_KEPT_NAMES: Final = frozenset((_OF_THE_SYSTEM + _OF_THE_NETWORK + _OF_THE_LOGIN + _SWITCHED_OFF).split())
_KEPT_BEGINNINGS: Final = ("ANTHROPIC_", "LC_", "XDG_")
# By the switch of each cloud the beginnings of the names that its login needs.
_CLOUDS: Final = {
    "CLAUDE_CODE_USE_BEDROCK": "AWS_",
    "CLAUDE_CODE_USE_MANTLE": "AWS_",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS": "AWS_",
    "CLAUDE_CODE_USE_VERTEX": "GOOGLE_ GCLOUD_ CLOUDSDK_ CLOUD_ML_REGION VERTEX_REGION_",
    "CLAUDE_CODE_USE_FOUNDRY": "AZURE_",
}
# So that hooks of a memory do not answer to a session that only extracts.
_QUIET: Final = {"NO_COLOR": "1", "NUGGETS_NO_HOOKS": "1", "SIGNET_NO_HOOKS": "1"}


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """A model that the command `claude` asks. grace: seconds between asking a late one to end and killing it."""

    model: str = DEFAULT_MODELS["claude-code"]
    command: str = "claude"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    grace: float = GRACE_SECONDS
    name: str = "claude-code"

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name} {self.model}".rstrip()

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer; the schema is left out, since the command takes none. See `Provider.generate`."""
        assert_outside_transaction("asking Claude Code")
        # The command reads each file that is named behind an "@", tools or not. Texts stand in prompts as JSON strings,
        # so that the escape says the same.
        prompt = prompt.replace("@", r"\u0040")
        # On the command line only what is short, and nothing that would be read as an option there.
        shown = 0 < len(prompt) <= SHORT and not prompt.startswith("-") and "\0" not in prompt
        arguments = [
            self.command, "-p", *([prompt] if shown else []), *(["--model", self.model] if self.model else []),
            "--no-session-persistence", "--output-format", "text", *UNARMED,
        ]  # fmt: skip
        said = run(
            self.name, arguments, None if shown else prompt, deadline, environ=own_environ(self.environ),
            grace=self.grace,
        )  # fmt: skip
        return Answer(answer_text(self.name, said), self.model)

    def available(self) -> Availability:
        """Whether `claude --version` ends well and tells a version that can be kept from its tools."""
        assert_outside_transaction("asking Claude Code")
        asked = [self.command, "--version"]
        try:
            said = run(self.name, asked, None, AVAILABLE_SECONDS, environ=own_environ(self.environ))
        except ModelError as error:
            missing = isinstance(error, ModelUnavailableError)
            return Availability(False, "no_command" if missing else "unreachable", error.message)
        if said.code != 0:
            told = f"`{' '.join(asked)}` ended with exit code {said.code}"
            return Availability(False, "unreachable", told)
        found = _VERSION.search(said.output)
        if found is not None and tuple(map(int, found.groups())) >= OLDEST:
            return AVAILABLE
        oldest = ".".join(map(str, OLDEST))
        version = f"{self.command} {found[0]}" if found else f"a {self.command} of unknown version"
        why = f"{version} cannot switch its tools off; update it to {oldest} or newer"
        return Availability(False, "no_command", why)


def own_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Of an environment what the command needs to start, to be logged in and to reach its server, and nothing else;
    hooks and colours are off. What belongs to a cloud is there where the command is told to use that cloud.
    """
    clouds = tuple(
        prefix for switch, names in _CLOUDS.items() if environ.get(switch) for prefix in names.split()
    )
    kept = {
        name: value
        for name, value in environ.items()
        if name.upper() in _KEPT_NAMES or name.startswith((*_KEPT_BEGINNINGS, *clouds))
    }
    return kept | _QUIET


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """A model behind the command that a person's own settings name: the prompt goes to its standard input, and what it
    says is the answer. It runs with their environment, in an empty folder.
    """

    command: str
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    model: str = ""
    name: str = "command"

    @property
    def identity(self) -> str:
        """Name and command line."""
        return f"{self.name} {self.command}"

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer; the schema is left out. See `Provider.generate`."""
        assert_outside_transaction("asking a command")
        arguments = self._arguments()
        if not arguments:
            raise ModelUnavailableError(NO_COMMAND, todo=SET_COMMAND)
        said = run(arguments[0], arguments, prompt, deadline, environ={**self.environ, **_QUIET})
        return Answer(answer_text(arguments[0], said))

    def available(self) -> Availability:
        """Whether there is such a command; it is not started."""
        arguments = self._arguments()
        if arguments and shutil.which(arguments[0], path=self.environ.get("PATH")):
            return AVAILABLE
        why = f"the command {arguments[0]} was not found" if arguments else f"{NO_COMMAND}; {SET_COMMAND}"
        return Availability(False, "no_command", why)

    def _arguments(self) -> list[str]:
        with contextlib.suppress(ValueError):
            return shlex.split(self.command)
        return []


NO_COMMAND: Final = "no command is named that can be started"
SET_COMMAND: Final = "set extraction.command under [pipeline] in your own settings"
# What was seen of 1.18: MCP servers of a user's folder start whatever the configuration handed over says, a bound on
# turns is not kept, and an agent without tools that it does not know becomes its usual one with all of them.
WHY: Final = "OpenCode cannot switch its tools and MCP servers off"
TODO: Final = 'set extraction.provider to "ollama" or "claude-code"'
NEVER_ASKED: Final = f"{WHY}, so it is never asked; {TODO}"


@dataclass(frozen=True, slots=True)
class OpenCode:
    """A provider that a configuration may name and that is never asked. No command is run."""

    model: str = ""
    name: str = "opencode"

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name} {self.model}".rstrip()

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """Raises ModelUnavailableError."""
        raise ModelUnavailableError(WHY, todo=TODO)

    def available(self) -> Availability:
        """Never; it says what to choose instead."""
        return Availability(False, "no_command", f"{WHY}; {TODO}")
