"""Claude Code as a model: how its command is called, and what is made of each way to end; OpenCode is never called."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from kits.written_configuration import read_configuration

from core.pipeline.model_calls import deadline_of, provider_of
from core.pipeline.models import commands
from core.pipeline.models.commands import (
    OLDEST,
    SHORT,
    UNARMED,
    ClaudeCode,
    CommandOutput,
    OpenCode,
    OwnCommand,
    answer_text,
    own_environ,
)
from core.pipeline.models.provider import (
    AskedToWaitError,
    CommandFailedError,
    EmptyAnswerError,
    ModelHttpError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from core.pipeline.transaction_guard import CallInsideTransactionError, holding_a_transaction
from core.settings import load_settings

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "providers.json").read_text(encoding="utf-8"))
SECONDS = 60.0
LONG = "a longer prompt than a command line should show; " * 10

# Puts down how it was called, then does what the body says.
_HEAD = f"""#!{sys.executable} -S
import json, os, signal, sys, time
standard = sys.stdin.read()
PUT_DOWN = sys.argv[0] + ".calls"
with open(PUT_DOWN, "a") as file:
    called = {{"argv": sys.argv[1:], "stdin": standard, "cwd": os.getcwd(), "files": os.listdir()}}
    file.write(json.dumps(called | {{"environ": dict(os.environ)}}) + "\\n")
def done(name):
    with open(PUT_DOWN + ".signs", "a") as file:
        file.write(name + "\\n")
"""


class Command:
    """A command of a name that does what a few lines of Python say, and what it was called with."""

    def __init__(self, folder: Path, name: str, body: str) -> None:
        self.path = folder / name
        self.path.write_text(_HEAD + body, encoding="utf-8")
        self.path.chmod(0o755)
        self.put_down = folder / f"{name}.calls"
        self.environ = {**os.environ, "PATH": str(folder)}

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.put_down.read_text(encoding="utf-8").splitlines()]

    @property
    def signs(self) -> list[str]:
        path = Path(f"{self.put_down}.signs")
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def claude(folder: Path, body: str, **named: Any) -> tuple[Command, ClaudeCode]:
    command = Command(folder, "claude", body)
    return command, ClaudeCode(environ=command.environ, **named)


def vector(key: str) -> dict[str, Any]:
    (found,) = [one for one in VECTORS["providers"] if key in one["input"]]
    return dict(found)


@pytest.mark.slow
def test_the_command_line_is_that_of_the_vector(tmp_path: Path) -> None:
    one = vector("claude")
    given, expected = one["input"]["claude"], one["expected"]
    command, model = claude(tmp_path, "print('  hello \\n')", model=given["model"])
    assert model.generate(given["prompt"], None, SECONDS).text == "hello"
    assert ["claude", *command.calls[0]["argv"]] == [*expected["argv"], *UNARMED]
    read = read_configuration({"pipeline": {"extraction": {"provider": "claude-code"}}}).configuration
    assert deadline_of(read) * 1000 == expected["timeout_ms"]


@pytest.mark.slow
def test_an_exit_code_is_told_as_in_the_vector(tmp_path: Path) -> None:
    one = vector("stderr")
    said, code = one["input"]["stderr"], one["input"]["claude_exit"]
    _, model = claude(tmp_path, f"sys.stderr.write({said!r})\nsys.exit({code})")
    with pytest.raises(ModelHttpError) as caught:
        model.generate(LONG, None, SECONDS)
    assert caught.value.what == one["expected"]["error"]
    assert caught.value.retryable


LIMITS = (
    ("Claude AI usage limit reached|1790003600", 3600.0),
    ("5-hour limit reached ∙ resets 3pm", None),
    ("You've hit your limit · resets 3pm (Europe/Berlin)", None),
    ("Claude usage limit reached. Your limit will reset at 3pm.", None),
    ("You've reached your weekly limit", None),
    ("Credit balance is too low", None),
    (
        'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"Number of tokens"}}',
        None,
    ),
    ("Error: usage limit exceeded, upgrade your plan", None),
)
OUTAGES = (
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    'API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}',
    "API Error: Connection error.",
    "API Error (Request timed out.)",
    "Invalid API key · Please run /login",
    "OAuth token has expired. Please obtain a new token",
    "TypeError: fetch failed: getaddrinfo ENOTFOUND api.anthropic.com",
    "connect ECONNREFUSED 127.0.0.1:443",
)


@pytest.mark.parametrize(("told", "seconds"), LIMITS)
@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("as_error", [False, True])
def test_a_reached_limit_of_use_is_known_however_the_command_ends(
    told: str, seconds: float | None, code: int, as_error: bool
) -> None:
    if as_error and not code:
        return
    said = CommandOutput(code, "" if as_error else told, told if as_error else "")
    with pytest.raises(AskedToWaitError) as caught:
        answer_text("claude-code", said, lambda: 1_790_000_000.0)
    assert caught.value.seconds == seconds
    assert caught.value.outage


def test_a_provider_that_a_command_cannot_use_is_an_outage() -> None:
    for code in [0, 1]:
        for told in OUTAGES:
            with pytest.raises(ModelHttpError) as caught:
                answer_text("claude-code", CommandOutput(code, told, ""))
            assert caught.value.outage


@pytest.mark.parametrize(
    "text",
    [
        '{"facts": [{"content": "The usage limit reached 80 % in May", "type": "fact", "confidence": 0.9}]}',
        '{"facts": [{"content": "A fetch failed with HTTP 500 in checkout", "type": "fact", "confidence": 0.9}]}',
        "The usage limit reached 80 % in May. " * 20,
    ],
)
def test_an_answer_that_speaks_of_limits_and_errors_is_an_answer(text: str) -> None:
    assert answer_text("claude-code", CommandOutput(0, text, "")) == text.strip()


@pytest.mark.parametrize("told", ["error: unknown option '--tools'", "", "Prompt is too long"])
def test_what_a_command_does_not_explain_is_no_outage(told: str) -> None:
    with pytest.raises(CommandFailedError) as caught:
        answer_text("claude-code", CommandOutput(1, "", told))
    assert not caught.value.outage


@pytest.mark.slow
def test_no_output_is_told_as_in_the_vector(tmp_path: Path) -> None:
    one = vector("stdout")
    _, model = claude(tmp_path, f"sys.stdout.write({one['input']['stdout']!r})")
    with pytest.raises(EmptyAnswerError) as caught:
        model.generate(LONG, None, SECONDS)
    assert caught.value.what == one["expected"]["error"]


@pytest.fixture
def late_once_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command's time begins to count when it has put down its first sign, however slow the machine is."""
    started = subprocess.Popen

    def ready(arguments: Any, **given: Any) -> Any:
        process = started(arguments, **given)
        signs = Path(given["env"]["PATH"]) / "claude.calls.signs"
        waiting = threading.Event()
        while not signs.exists():
            waiting.wait(0.005)
        return process

    monkeypatch.setattr(subprocess, "Popen", ready)


@pytest.mark.slow
@pytest.mark.usefixtures("late_once_ready")
def test_a_late_command_is_asked_to_end_and_then_killed_as_in_the_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = vector("claude_runs_ms")
    after = f"SIGKILL after {commands.GRACE_SECONDS * 1000:.0f} ms"
    assert one["expected"]["signals"] == ["SIGTERM", after]
    sent: list[tuple[str, bool]] = []
    send = commands._signal

    def noted(process: Any, number: int) -> None:
        sent.append((signal.Signals(number).name, process.poll() is None))
        send(process, number)

    monkeypatch.setattr(commands, "_signal", noted)
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ndone('ready')\nwhile True: time.sleep(9)"
    command, model = claude(tmp_path, body, grace=0.05)
    with pytest.raises(ModelTimeoutError) as caught:
        model.generate("hi", None, one["input"]["timeoutMs"] / 1000)
    assert caught.value.what == one["expected"]["error"]
    # It still ran when it was killed.
    assert sent == [("SIGTERM", True), ("SIGKILL", True)]
    assert command.signs == ["ready"]


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_command_that_does_not_stop_talking_is_killed_before_it_fills_the_machine(
    tmp_path: Path, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "LARGEST_OUTPUT", 1_000_000)
    body = f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: sys.{stream}.write('a' * 100_000)"
    _, model = claude(tmp_path, body)
    with pytest.raises(UnreadableAnswerError, match="claude-code sent more than 1,000,000 bytes"):
        model.generate("a prompt", None, SECONDS)


@pytest.mark.slow
@pytest.mark.usefixtures("late_once_ready")
def test_a_command_that_ends_when_asked_is_not_killed(tmp_path: Path) -> None:
    body = (
        "signal.signal(signal.SIGTERM, lambda *_: (done('tidied up'), sys.exit(0)))\n"
        "done('ready')\nwhile True: time.sleep(9)"
    )
    command, model = claude(tmp_path, body, grace=60.0)
    with pytest.raises(ModelTimeoutError):
        model.generate("hi", None, 0.02)
    assert command.signs == ["ready", "tidied up"]


@pytest.mark.slow
@pytest.mark.usefixtures("late_once_ready")
def test_children_of_a_late_command_are_ended_with_it(tmp_path: Path) -> None:
    body = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nchild = os.fork()\n"
        "if child: done(str(child))\nwhile True: time.sleep(9)"
    )
    command, model = claude(tmp_path, body, grace=0.05)
    with pytest.raises(ModelTimeoutError):
        model.generate("hi", None, 0.02)
    status = Path(f"/proc/{command.signs[0]}/stat")
    waiting = threading.Event()
    # A signal takes a moment; whoever adopted the child may not have taken leave of it. A child that stays fails the
    # test by its time limit.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while status.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z":
            waiting.wait(0.005)


@pytest.mark.slow
def test_the_environment_is_without_what_the_vector_names(tmp_path: Path) -> None:
    removed = vector("claude_env_removed")["expected"]
    assert removed == ["CLAUDECODE", "CLAUDE_CODE_*"]
    command, model = claude(tmp_path, "print('well')")
    command.environ |= {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_SSE_PORT": "4711",
        "CLAUDE_CODE_SESSION_ID": "s1",
        "CLAUDE_CONFIG_DIR": "/x",
        "NO_COLOR": "",
    }
    model.generate(LONG, None, SECONDS)
    (call,) = command.calls
    assert not [name for name in call["environ"] if name == "CLAUDECODE" or name.startswith("CLAUDE_CODE_")]
    assert call["environ"]["CLAUDE_CONFIG_DIR"] == "/x"
    assert [call["environ"][name] for name in ("NO_COLOR", "SIGNET_NO_HOOKS", "NUGGETS_NO_HOOKS")] == [
        "1"
    ] * 3
    assert "CLAUDECODE" in command.environ
    assert own_environ({}) == {"NO_COLOR": "1", "SIGNET_NO_HOOKS": "1", "NUGGETS_NO_HOOKS": "1"}


@pytest.mark.parametrize(
    "names",
    [
        "HOME USER LOGNAME PATH TMPDIR LANG LC_ALL LC_CTYPE XDG_CONFIG_HOME XDG_RUNTIME_DIR SYSTEMROOT USERPROFILE",
        "HTTPS_PROXY https_proxy NO_PROXY no_proxy ALL_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE",
        "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_USE_BEDROCK AWS_PROFILE AWS_REGION AWS_SECRET_ACCESS_KEY AWS_BEARER_TOKEN_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX GOOGLE_APPLICATION_CREDENTIALS CLOUD_ML_REGION ANTHROPIC_VERTEX_PROJECT_ID",
        "CLAUDE_CODE_USE_FOUNDRY AZURE_CLIENT_ID AZURE_TENANT_ID ANTHROPIC_FOUNDRY_RESOURCE",
    ],
)
def test_each_way_to_be_logged_in_reaches_the_command(names: str) -> None:
    given = {name: f"value of {name}" for name in names.split()}
    assert own_environ(given).items() >= given.items()


def test_what_the_command_does_not_need_for_its_login_is_kept_from_it() -> None:
    others = (
        "SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GITHUB_TOKEN GH_TOKEN OPENAI_API_KEY GEMINI_API_KEY NPM_TOKEN "
        "AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_SECRET DATABASE_URL PGPASSWORD "
        "NODE_OPTIONS LD_PRELOAD DYLD_INSERT_LIBRARIES BASH_ENV PYTHONPATH NUGGETS_HOME CLAUDE_CODE_SHELL_PREFIX "
        "OTEL_EXPORTER_OTLP_HEADERS MCP_TOKEN KUBECONFIG DOCKER_HOST EDITOR ANTHROPICS MY_ANTHROPIC_API_KEY XDG"
    )
    given = dict.fromkeys(others.split(), "secret")
    assert own_environ({**given, "CLAUDE_CODE_USE_BEDROCK": ""}).keys() - own_environ({}).keys() == {
        "CLAUDE_CODE_USE_BEDROCK"
    }
    # One cloud's switch gives no other cloud's credentials.
    assert own_environ({**given, "CLAUDE_CODE_USE_BEDROCK": "1"}).keys() - own_environ({}).keys() == {
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_SECRET_ACCESS_KEY",
    }


@pytest.mark.slow
@pytest.mark.parametrize("prompt", [LONG, "-p is no prompt", "x" * (SHORT + 1), "nul \0 here", ""])
def test_a_prompt_stands_on_the_command_line_only_when_it_is_short_and_plain(
    tmp_path: Path, prompt: str
) -> None:
    command, model = claude(tmp_path, "print('well')")
    assert model.generate(prompt, None, SECONDS).text == "well"
    (call,) = command.calls
    assert call["stdin"] == prompt
    usual = ["-p", "--model", "haiku", "--no-session-persistence", "--output-format", "text"]
    assert call["argv"] == [*usual, *UNARMED]


@pytest.mark.slow
def test_a_text_reaches_no_tool_no_server_no_hook_no_settings_and_no_second_turn(tmp_path: Path) -> None:
    command, model = claude(tmp_path, "print('well')")
    for prompt in ("hi", LONG):
        model.generate(prompt, None, SECONDS)
    for call in command.calls:
        argv = call["argv"]
        after = {name: argv[place + 1] for place, name in enumerate(argv[:-1]) if name.startswith("--")}
        assert after["--tools"] == ""
        assert after["--setting-sources"] == ""
        assert after["--max-turns"] == "1"
        assert json.loads(after["--mcp-config"]) == {"mcpServers": {}}
        assert json.loads(after["--settings"])["disableAllHooks"] is True
        assert {"--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"} <= set(argv)
        assert not [one for one in argv if "allow" in one.lower() or "skip" in one or "continue" in one]
        assert call["files"] == []


@pytest.mark.slow
@pytest.mark.parametrize("text", ["@/etc/passwd", "see @~/.ssh/id_rsa, @../x", '@"a b"', "\\@/x"])
def test_a_text_that_mentions_a_file_does_not_have_it_read(tmp_path: Path, text: str) -> None:
    command, model = claude(tmp_path, "print('well')")
    for prompt in (json.dumps(text), f"Text: {json.dumps(text * 100)}"):
        model.generate(prompt, None, SECONDS)
    for call in command.calls:
        assert "@" not in call["stdin"] + " ".join(call["argv"])
    # A model reads the same text.
    assert json.loads(command.calls[1]["stdin"].removeprefix("Text: ")) == text * 100


@pytest.mark.slow
def test_an_older_command_that_knows_no_such_option_is_neither_offered_nor_asked(tmp_path: Path) -> None:
    body = (
        "if '--version' in sys.argv:\n    print('2.0.20 (Claude Code)')\nelse:\n"
        "    sys.stderr.write(\"error: unknown option '--tools'\")\n    sys.exit(1)"
    )
    command, model = claude(tmp_path, body)
    found = model.available()
    assert (found.ok, found.reason) == (False, "no_command")
    assert "2.0.20 cannot switch its tools off" in found.message
    with pytest.raises(ModelHttpError, match="unknown option"):
        model.generate(LONG, None, SECONDS)
    assert ["--tools" in call["argv"] for call in command.calls] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "offered"),
    [
        (".".join(map(str, OLDEST)), True),
        ("10.0.0 (Claude Code)", True),
        ("2.0.9 (Claude Code)", False),
        ("1.99.99", False),
        ("a wrapper of mine", False),
        ("", False),
    ],
)
def test_only_a_version_that_is_known_to_take_every_option_is_offered(
    tmp_path: Path, said: str, offered: bool
) -> None:
    _, model = claude(tmp_path, f"print({said!r})")
    assert model.available().ok is offered


@pytest.mark.slow
def test_a_command_runs_in_an_empty_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    command, model = claude(tmp_path, "print('well')")
    model.generate(LONG, None, SECONDS)
    (call,) = command.calls
    assert call["files"] == []
    assert not Path(call["cwd"]).exists()


@pytest.mark.slow
def test_marks_for_a_terminal_are_no_part_of_an_answer(tmp_path: Path) -> None:
    _, model = claude(tmp_path, "print('\\x1b[1;31mwe\\x1b[0mll\\x1b]0;title\\x07')")
    assert model.generate(LONG, None, SECONDS).text == "well"


@pytest.mark.slow
def test_no_command_is_told_apart_from_one_that_fails(tmp_path: Path) -> None:
    nowhere = {**os.environ, "PATH": str(tmp_path)}
    absent = ClaudeCode(environ=nowhere)
    with pytest.raises(ModelUnavailableError, match="was not found"):
        absent.generate(LONG, None, SECONDS)
    assert absent.available().reason == "no_command"
    _, broken = claude(tmp_path, "sys.exit(3)")
    assert broken.available().reason == "unreachable"
    assert "exit code 3" in broken.available().message


def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    command, model = claude(tmp_path, "")
    command.path.write_bytes(b"\x7fELF nonsense")
    with pytest.raises(ModelUnavailableError, match="cannot be started"):
        model.generate(LONG, None, SECONDS)
    assert not model.available().ok


@pytest.mark.slow
def test_a_command_is_there_when_it_tells_its_version(tmp_path: Path) -> None:
    command, model = claude(tmp_path, "print('2.1.0 (Claude Code)')")
    found = model.available()
    assert (found.ok, found.message) == (True, "")
    assert command.calls[0]["argv"] == ["--version"]


def test_opencode_is_never_started_since_it_cannot_be_kept_from_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = Command(tmp_path, "opencode", "print('well')")
    for name, value in command.environ.items():
        monkeypatch.setenv(name, value)
    read = read_configuration({"pipeline": {"extraction": {"provider": "opencode"}}}).configuration
    model = provider_of(read)
    assert model is not None
    found = model.available()
    assert (found.ok, found.reason) == (False, "no_command")
    assert '"ollama" or "claude-code"' in found.message
    with pytest.raises(ModelUnavailableError, match="cannot switch its tools"):
        model.generate(LONG, None, SECONDS)
    assert OpenCode("a/b").identity == "opencode a/b"
    assert not command.put_down.exists()


@pytest.mark.slow
def test_a_persons_own_command_gets_the_prompt_and_its_words_are_the_answer(tmp_path: Path) -> None:
    command = Command(tmp_path, "mine", "print('well')")
    model = OwnCommand(f"{command.path} --model 'a b'", command.environ)
    assert model.available().ok
    assert model.generate("see @/etc/passwd", None, SECONDS).text == "well"
    (call,) = command.calls
    assert (call["argv"], call["stdin"], call["files"]) == (["--model", "a b"], "see @/etc/passwd", [])
    for nothing in ("", "an 'unclosed quote", str(tmp_path / "absent")):
        absent = OwnCommand(nothing, command.environ)
        assert absent.available().reason == "no_command"
        with pytest.raises(ModelUnavailableError):
            absent.generate("hi", None, SECONDS)


def test_only_a_persons_own_settings_name_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    home, own = tmp_path / "memory", tmp_path / "config" / "nuggets" / "settings.toml"
    for path in (home / "settings.toml", own):
        path.parent.mkdir(parents=True, exist_ok=True)
    said = '[pipeline.extraction]\nprovider = "command"\ncommand = "mine"\n'
    (home / "settings.toml").write_text(said, encoding="utf-8")
    model = provider_of(load_settings(home).pipeline)
    assert (model and model.available().reason) == "no_command"
    own.write_text('[pipeline.extraction]\ncommand = "theirs -x"\n', encoding="utf-8")
    model = provider_of(load_settings(home).pipeline)
    assert isinstance(model, OwnCommand)
    assert model.command == "theirs -x"


@pytest.mark.slow
def test_no_more_commands_run_at_once_than_a_machine_bears(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, model = claude(tmp_path, "print('well')")
    taken = threading.BoundedSemaphore(1)
    monkeypatch.setattr(commands, "_turns", taken)
    with taken, pytest.raises(ModelTimeoutError, match="claude-code timeout after 50ms"):
        model.generate(LONG, None, 0.05)
    assert model.generate(LONG, None, SECONDS).text == "well"
    assert commands.MOST_AT_ONCE == 4


def test_no_command_runs_inside_a_transaction(tmp_path: Path) -> None:
    command, model = claude(tmp_path, "print('well')")
    with holding_a_transaction():
        for call in (lambda: model.generate(LONG, None, SECONDS), model.available):
            with pytest.raises(CallInsideTransactionError):
                call()
    assert not command.put_down.exists()
