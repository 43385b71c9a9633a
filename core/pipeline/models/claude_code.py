"""Claude Code as a model: its command runs for one answer, without anything that could act on the text."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.pipeline.models.commands import GRACE_SECONDS, CommandOutput, answer_text, run, version_of
from core.pipeline.models.provider import AVAILABLE, Answer, Availability, Schema
from core.pipeline.transaction_guard import assert_outside_transaction
from core.settings.pipeline_sections import DEFAULT_MODELS

# Longer prompts stand on no command line, where everybody on the machine can read them.
SHORT: Final = 200
# What a command line may hold everywhere.
_LONGEST_ARGUMENT: Final = 8_000
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
_NO_HOOKS: Final = ("NUGGETS_NO_HOOKS", "SIGNET_NO_HOOKS")


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """A model that the command `claude` asks. grace: seconds between asking a late one to end and killing it."""

    model: str = DEFAULT_MODELS["claude-code"]
    command: str = "claude"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    grace: float = GRACE_SECONDS
    name: str = "claude-code"

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer; the schema is left out, since the command takes none. See `Provider.generate`."""
        assert_outside_transaction("asking Claude Code")
        prompt = without_mentions(prompt)
        said = self._run(prompt, is_short(prompt), deadline)
        if said.code != 0 and not is_short(prompt) and _refuses_input(said) and _is_argument(prompt):
            said = self._run(prompt, True, deadline)
        return Answer(answer_text(self.name, said), self.model)

    def arguments(self, prompt: str | None) -> list[str]:
        """The command line. prompt: None when it comes on standard input."""
        return [
            self.command, "-p", *([] if prompt is None else [prompt]), *(["--model", self.model] if self.model else []),
            "--no-session-persistence", "--output-format", "text", *UNARMED,
        ]  # fmt: skip

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name} {self.model}".rstrip()

    def available(self) -> Availability:
        """Whether `claude --version` ends well and tells a version that can be kept from its tools."""
        assert_outside_transaction("asking Claude Code")
        told = version_of(self.name, self.command, own_environ(self.environ))
        if isinstance(told, Availability):
            return told
        found = _VERSION.search(told)
        if found is not None and tuple(map(int, found.groups())) >= OLDEST:
            return AVAILABLE
        oldest = ".".join(map(str, OLDEST))
        said = f"{self.command} {found[0]}" if found else f"a {self.command} of unknown version"
        why = f"{said} cannot switch its tools off; update it to {oldest} or newer"
        return Availability(False, "no_command", why)

    def _run(self, prompt: str, as_argument: bool, deadline: float) -> CommandOutput:
        arguments = self.arguments(prompt if as_argument else None)
        text = None if as_argument else prompt
        environ = own_environ(self.environ)
        return run(self.name, arguments, text, deadline, environ=environ, grace=self.grace)


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
    return kept | {"NO_COLOR": "1"} | dict.fromkeys(_NO_HOOKS, "1")


def without_mentions(prompt: str) -> str:
    """A prompt in which no "@" stands: the command reads each file that is named behind one, tools or not.

    Texts stand in prompts as JSON strings, so that the escape says the same.
    """
    return prompt.replace("@", r"\u0040")


def is_short(prompt: str) -> bool:
    """Whether a prompt goes on the command line: short, and nothing that would be read as an option there."""
    return 0 < len(prompt) <= SHORT and _is_argument(prompt)


def _is_argument(prompt: str) -> bool:
    return len(prompt) <= _LONGEST_ARGUMENT and not prompt.startswith("-") and "\0" not in prompt


def _refuses_input(said: CommandOutput) -> bool:
    """Whether an old version asks for the prompt on its command line."""
    told = said.error.lower()
    return "prompt" in told and ("argument" in told or "stdin" in told)
