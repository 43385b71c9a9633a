"""docs/json.md: every command is on the page, and prints what the page says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kits.synced import own_git

from core.pipeline.service import Pipeline
from nuggets_tui.cli import ENTRIES, program
from nuggets_tui.cli.output import JSON_VERSION

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`.+?`) \| (.+) \|$", PAGE, re.MULTILINE)
NAMED = {name.strip("`"): shape.strip("`") for name, shape in ROWS if name[1].isupper()}
_TOKEN = re.compile(r"\.\.\.|[\w]+\??|[{}\[\]:,]")


def _commands() -> dict[str, str]:
    found = {}
    for names, told in ROWS:
        for name in re.findall(r"`([^`]+)`", names):
            if not name[0].isupper():
                found[name] = told
    return found


COMMANDS = _commands()


class Shape:
    """One shape of the page. fields: by name, with whether each must be there; None for what is no object."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.place = 0

    def check(self, value: Any, where: str) -> None:
        """Fails for a value of another shape."""
        token = self._next()
        if token == "{":
            self._object(value, where)
        elif token == "[":
            self._array(value, where)
        elif value is not None:
            Shape(NAMED[token]).check(value, where)

    def _next(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1]

    def _object(self, value: Any, where: str) -> None:
        assert value is None or isinstance(value, dict), where
        known: set[str] = set()
        is_open = False
        while (token := self._next()) != "}":
            if token == ",":
                continue
            if token == "...":
                is_open = True
                continue
            name, needed = token.rstrip("?"), not token.endswith("?")
            known.add(name)
            assert value is None or name in value or not needed, f"{where}.{name} is missing"
            if self.tokens[self.place] == ":":
                self.place += 1
                self.check((value or {}).get(name), f"{where}.{name}")
        unknown = set(value or ()) - known
        assert is_open or not unknown, f"{where}: {unknown} are not on the page"

    def _array(self, value: Any, where: str) -> None:
        assert value is None or isinstance(value, list), where
        if self.tokens[self.place] == "]":
            self.place += 1
            return
        start = self.place
        for number, one in enumerate(value or [None]):
            self.place = start
            self.check(one, f"{where}[{number}]")
        assert self._next() == "]"


def _shape_of(command: str) -> str:
    shape = COMMANDS[command]
    return next(part for part in re.findall(r"`([^`]+)`", shape) if part[0] in "{[" or part in NAMED)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    own_git(tmp_path, monkeypatch)
    return tmp_path / "memory"


def _index() -> None:
    """Does what the daemon does with documents."""
    with Pipeline.open("memory") as pipeline:
        for _ in range(6):
            pipeline.tick()


def _calls(run: Any) -> Iterator[tuple[str, Any]]:
    """The name of each command as the page has it, and what it printed."""
    yield "remember", run("remember", "web", "port", "8080")
    yield "projects", run("projects")
    yield "remember", run("remember", "web", "db password", "hunter2horse!Battery9")
    page = run(
        "note", "add", "Deploy page", "How to deploy the web server", "--nugget", "web", "--tag", "ops"
    )
    yield "note add", page
    other = run("note", "add", "Deploy page two", "How to deploy the web server again", "--nugget", "web")
    yield "note link", run("note", "link", page["id"], other["id"], "--reason", "related")
    yield "note show", run("note", "show", page["id"], "--vectors")
    yield "note edit", run("note", "edit", page["id"], "--content", "To deploy: make deploy")
    yield "note tag", run("note", "tag", page["id"], "--tag", "x")
    yield "note move", run("note", "move", "user", page["id"])
    yield "note hide", run("note", "hide", other["id"])
    yield "note unhide", run("note", "unhide", other["id"])
    yield "note unlink", run("note", "unlink", page["id"], other["id"])
    for words in ("port", "port --expand", "deploy --explain", "deploy", "zebra"):
        yield "recall", run("recall", *words.split())
    for words in ("status", "notes", "log", "verify", "resolve", "secrets", "searches"):
        yield words, run(words)
    assert run("notes", "--facts", "--nugget", "web")[0].keys() == {"key", "value", "hits"}
    yield "search", run("search", "deploy")
    Shape(NAMED["Explanation"]).check(run("search", "deploy", "--explain", page["id"])[0], "search --explain")
    yield "searches keep", run("searches", "keep", "s", "deploy")
    yield "searches", run("searches")
    yield "searches drop", run("searches", "drop", "s")
    for words in ("sync init --dry-run", "sync init", "sync", "sync status", "sync off"):
        yield words.removesuffix(" --dry-run"), run(*words.split())
    for words in ("team init", "team", "team index", "status"):
        yield words, run(*words.split())
    yield "team share", run("team", "share", page["id"], "--dry-run")
    yield "undo", run("undo")
    yield "redo", run("redo")
    yield "reflect", run("reflect", "--dry-run")
    yield "reflect --if-due", run("reflect", "--if-due")
    yield "promote", run("promote", "--dry-run", "--memory-dir", "pages")
    yield "promote --automatic", run("promote", "--automatic", "never")
    yield "schedule print", run("schedule", "print", "--cron")
    text = run("ingest", "-")
    yield "ingest", text
    yield "pipeline text", run("pipeline", "text", text["id"])
    yield "note origin", run("note", "origin", page["id"])
    yield "note hints", run("note", "hints", page["id"])
    (document,) = run("document", "add", "-")
    _index()
    yield "document add", [document]
    for command in ("document", "document list"):
        yield command, run(*command.split())
    yield "document show", run("document", "show", document["id"])
    yield "document search", run("document", "search", "tea")
    yield "document remove", run("document", "remove", document["id"])
    yield "document restore", run("document", "restore", document["id"])
    for command in ("pipeline", "pipeline status", "pipeline jobs", "pipeline proposals", "pipeline pause"):
        yield command, run(*command.split())
    yield "pipeline resume", run("pipeline", "resume")
    yield "pipeline remove", run("pipeline", "remove", text["id"])
    yield "pipeline restore", run("pipeline", "restore", text["id"])
    yield "pipeline sweep", run("pipeline", "sweep", "--dry-run")
    yield "pipeline health", run("pipeline", "health")
    named = ("pipeline", "maintain", "--action", "checkFtsConsistency")
    yield "pipeline maintain", run(*named, "--dry-run")
    yield "pipeline maintain", run(*named)
    yield "pipeline clear", run("pipeline", "clear", "--yes")
    yield "session checkpoint", run("session", "checkpoint", "Fixed. Open: docs.")
    Path("talk.txt").write_text("User: Anna likes tea.")
    yield "session end", run("session", "end", "--transcript", "talk.txt")
    yield "session recover", run("session", "recover")
    yield "session recover", run("session", "recover", "--session", "unknown")
    yield "session", run("session")
    yield "session list", run("session", "list")
    yield "session show", run("session", "show")
    yield "note merge", run("note", "merge", page["id"], other["id"])
    yield "note delete", run("note", "delete", page["id"], "--yes")
    yield "forget", run("forget", "web", "port")
    assert run("forget", "web", "--all", "--yes") == {"cleared": 1}
    yield "export", run("export", "memory.json")
    yield "import", run("import", "memory.json", "--dry-run")
    yield "agent status", run("agent", "status")
    yield "agent install", run("agent", "install", "codex", "--dry-run")
    yield "agent remove", run("agent", "remove", "codex", "--dry-run")
    yield "doctor", run("doctor")
    yield "history clear", run("history", "clear", "--yes")
    yield "completion", run("completion", "fish")
    yield "--version", run("--version")


@pytest.mark.slow
def test_every_command_prints_the_document_that_the_page_describes(home: Path) -> None:
    def run(*words: str) -> Any:
        done = CliRunner().invoke(program, ["--home", str(home), *words, "--json"], input="Anna likes tea.")
        assert done.exit_code in (0, 1), (words, done.stderr)
        return json.loads(done.stdout)

    tried = set()
    for command, document in _calls(run):
        Shape(_shape_of(command)).check(document, command)
        tried.add(command)
    # What takes a terminal, a backup, a project or a set of questions, or never ends, has tests of its own.
    own = {
        "bench",
        "blame",
        "check",
        "watch",
        "restore",
        "demo --dir",
        "team trust",
        "projects join",
        "projects rename",
    }
    assert COMMANDS.keys() - tried == own


def test_the_page_names_every_command_and_no_other() -> None:
    lines_only = set(re.findall(r"`([a-z-]+)`", PAGE.rsplit("\n\n", 1)[1]))
    named = {command.split()[0] for command in COMMANDS if not command.startswith("-")}
    assert named | lines_only == ENTRIES.keys()


def test_the_page_and_the_program_say_the_same_version() -> None:
    assert f"version {JSON_VERSION} of the shapes" in PAGE
    assert json.loads(CliRunner().invoke(program, ["--json", "--version"]).stdout)["json"] == JSON_VERSION
