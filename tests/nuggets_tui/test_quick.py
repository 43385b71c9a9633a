"""`nuggets recall` in a hurry: to the byte what the usual way prints, counted once, and nobody waits for the rest."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import fact_object, facts_of, note_object, write_graph, write_nugget
from kits.quick_kit import make_ahead, quick

from core import Memory
from core.facts import edits
from core.quick_recall import SWITCH
from core.storage import waiting
from core.storage.cache import answers
from core.text.mask import all_masked
from core.user_folders import cache_folder
from nuggets_tui.cli import output, program
from nuggets_tui.cli.recalled import present
from nuggets_tui.quick import (
    COLOURED_LINES,
    ERRORS,
    INDENTED_JSON,
    JSON,
    JSON_ERRORS,
    LINES,
    UNCOUNTED,
    question_of,
    recall,
)

ROOT = Path(__file__).parents[2]
CLOCKLESS = {"NUGGETS_SESSION": "already counted"}

# Same answers

_PIECES = st.sampled_from(
    ["port", "Port", "PORT", "Straße", "STRASSE", "é", "e\u0301", "日本", " ", ":", "user", "db"]
)
_KEYS = st.lists(_PIECES, min_size=1, max_size=3).map("".join).filter(str.strip)
_VALUES = st.sampled_from(
    ["8080", "5432", "a\nb", "\x1b[2J", "••••••••", "‮x", "日本 \ud83d\ude00", " "]
) | st.text(max_size=8)
_FACTS = st.lists(st.tuples(_KEYS, _VALUES), min_size=1, max_size=6)


def _usual(home: Path, words: Sequence[str]) -> tuple[int, bytes, bytes]:
    done = CliRunner().invoke(program, ["recall", "--home", str(home), *words], env=CLOCKLESS)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout_bytes, done.stderr_bytes


def _same(home: Path, query: str, nugget: str | None, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether there was a quick answer; it is what the usual way prints in each form."""
    found = quick(home, query, nugget)
    if found is None:
        return False
    words = ["--", query] if nugget is None else ["--nugget", nugget, "--", query]
    assert _usual(home, words) == (found.code, found.texts[LINES], found.texts[ERRORS])
    assert _usual(home, ["--json", *words]) == (found.code, found.texts[JSON], found.texts[JSON_ERRORS])
    with monkeypatch.context() as patch:
        patch.setattr(output, "is_terminal", lambda stream: True)
        patch.setenv("TERM", "xterm")
        assert _usual(home, ["--json", *words])[1] == found.texts[INDENTED_JSON]
        assert _usual(home, words)[1] == found.texts[COLOURED_LINES]
    return True


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(web=_FACTS, db=_FACTS, spelt=st.lists(_KEYS, max_size=3))
def test_a_quick_answer_is_what_a_recall_of_the_memory_gives(
    tmp_path_factory: pytest.TempPathFactory,
    web: list[tuple[str, str]],
    db: list[tuple[str, str]],
    spelt: list[str],
) -> None:
    home = tmp_path_factory.mktemp("law") / "memory"
    for name, facts in (("web", web), ("db", db)):
        write_nugget(home, name, [fact_object(key, value) for key, value in dict(facts).items()], D=64)
    memory = Memory.open(home)
    if not memory.keep_answers(present, [(query, nugget) for query in spelt for nugget in (None, "db")]):
        return
    keys = [key for key, _ in (*web, *db)]
    wanted = dict.fromkeys([*keys, *map(str.upper, keys), *(f" {key} " for key in keys), *spelt])
    for nugget in (None, "web", "db"):
        answers_there = 0
        for query in wanted:
            found = quick(home, query, nugget)
            if found is not None:
                answers_there += 1
                told = present(query, memory.recall(query, nugget, record=False))
                assert (found.code, found.texts) == told
        # Every key of a fact that is not masked is answered quickly.
        values = dict(web if nugget == "web" else db if nugget == "db" else (*web, *db)).values()
        assert answers_there or all(map(all_masked, values))


@pytest.mark.slow
def test_questions_by_meaning_are_answered_alike_found_not_sure_and_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "memory"
    notes = [
        note_object(
            1, title="Deploy of the web server", content="Run make deploy on the build host.\nThen wait."
        ),
        note_object(2, title="Backups", content="Backups run each night at two."),
        note_object(
            3, title="Deploy of the database", content="Ask Anna before each deploy of the database."
        ),
    ]
    write_graph(home, notes)
    write_nugget(
        home, "memory", [fact_object("deploy command", "make deploy"), fact_object("port", "1")], D=64
    )
    Memory.open(home).close()
    queries = (
        "when do backups run?", "what is the deploy comand", "who is asked before deploys", "deploy", "xylophone",
        "it's \"quoted\" & odd", "?", "Deploy of the web server",
    )  # fmt: skip
    assert make_ahead(home, [(query, None) for query in queries])
    assert [query for query in queries if not _same(home, query, None, monkeypatch)] == []
    assert {quick(home, query).code for query in queries} == {0, 1}  # type: ignore[union-attr]


def test_what_is_masked_is_in_no_answer_made_ahead(tmp_path: Path) -> None:
    home, secret = tmp_path / "memory", "ghp_" + "a1B2c3D4e5F6" * 3
    write_nugget(home, "web", [fact_object("github token", secret), fact_object("port", "1")], D=64)
    Memory.open(home).close()
    assert make_ahead(home)
    cached = Path(cache_folder(str(home)) or "", answers.ANSWERS_NAME)
    assert secret.encode() in cached.read_bytes()
    done = CliRunner().invoke(program, ["--home", str(home), "secrets", "--mask", "--yes"])
    assert done.exit_code == 0, done.stderr
    assert not cached.exists()
    assert make_ahead(home)
    assert secret.encode() not in cached.read_bytes()
    assert quick(home, "github token") is None
    assert quick(home, "port") is not None


# What is asked


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["recall", "port"], ("port", False, None, None, None)),
        (["--json", "recall", "a b", "--nugget", "web"], ("a b", True, "web", None, None)),
        (["--home", "M", "recall", "--session=7", "port", "--as", "codex"], ("port", False, None, "7", "codex")),
        (["recall", "--json", "--json", "port", "--home=M"], ("port", True, None, None, None)),
    ],
)  # fmt: skip
def test_a_plain_recall_is_taken_with_its_options_at_any_place(
    arguments: list[str], wanted: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SWITCH)
    asked = question_of(arguments)
    assert asked is not None
    assert (asked.query, asked.as_json, asked.nugget, asked.session, asked.as_name) == wanted
    assert os.path.isabs(asked.home)


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall"],
        ["recall", ""],
        ["recall", "a", "b"],
        ["recall", "--", "a"],
        ["recall", "-a"],
        ["recall", "a", "--expand"],
        ["recall", "a", "--explain"],
        ["recall", "a", "--syntax"],
        ["recall", "a", "--help"],
        ["recall", "a", "--nugget"],
        ["recall", "a", "--nugget", ""],
        ["recall", "a", "--nugget", "--json"],
        ["recall", "a", "--nugget", "x", "--nugget", "y"],
        ["--nugget", "x", "recall", "a"],
        ["--version", "recall", "a"],
        ["recall", "a", "--json=1"],
        ["recall", "\udcff"],
        ["remember", "recall", "a"],
        ["search", "recall"],
        ["--home", "", "recall", "a"],
    ],
)
def test_anything_else_is_left_to_the_command_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SWITCH)
    assert question_of(arguments) is None


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("off", "0", "No"):
        monkeypatch.setenv(SWITCH, value)
        assert question_of(["recall", "port"]) is None


# As a process


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(SWITCH)
    monkeypatch.setenv("NUGGETS_CACHE", str(tmp_path / "caches"))
    home = tmp_path / "memory"
    write_nugget(home, "web", [fact_object("port", "8080"), fact_object("host", "web.local")], D=64)
    Memory.open(home).change("mirror", lambda draft: edits.remember(draft, "web", "user", "app"))
    return home


def _run(home: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "nuggets_tui", "--home", str(home), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False, **more)


def _wait_for_the_other(home: Path) -> None:
    """Until the process that nobody waits for is done."""
    folder = cache_folder(str(home))
    assert folder is not None
    with open(os.path.join(folder, answers.LOCK_NAME), "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


@pytest.mark.slow
def test_the_second_recall_is_quick_and_both_are_counted(home: Path) -> None:
    usual = _run(home, "recall", "port", "--session", "one", "--as", "codex")
    assert usual.stdout.startswith(b"8080\n")
    assert facts_of(home, "web.nugget.json")[0]["hits"] == 1
    _wait_for_the_other(home)
    assert quick(home, "host") is not None
    swift = _run(home, "recall", "port", "--session", "two", "--as", "codex")
    assert (swift.returncode, swift.stdout, swift.stderr) == (usual.returncode, usual.stdout, usual.stderr)
    shown = json.loads(_run(home, "facts", "web", "--json").stdout)
    assert shown[0]["hits"] == 2
    _wait_for_the_other(home)
    entries = Memory.open(home).log(kind="hit")
    assert [entry.change_set.author.name for entry in entries] == ["two", "one"]
    assert quick(home, "host") is not None
    assert b"not an agent" in _run(home, "recall", "port", "--as", "pipeline").stderr


LOADED = """
import sys
sys.argv = ["nuggets", "recall", "port", "--home", sys.argv[1]]
from nuggets_tui.entry import main
try:
    main()
finally:
    heavy = {"click", "msgspec", "numpy", "sqlite3", "pathlib", "json", "hashlib", "subprocess", "core.errors"}
    print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.slow
def test_a_quick_recall_loads_nothing_that_takes_time(home: Path) -> None:
    make_ahead(home)
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(home)], cwd=ROOT, capture_output=True, check=False
    )
    assert done.stdout.startswith(b"8080\n")
    assert done.stderr == b"[]\n"
    _wait_for_the_other(home)


@pytest.mark.slow
def test_where_no_record_can_be_left_the_usual_way_counts(home: Path) -> None:
    make_ahead(home)
    (home / ".recalls").write_bytes(b"")
    assert _run(home, "recall", "port").stdout.startswith(b"8080\n")
    assert facts_of(home, "web.nugget.json")[0]["hits"] == 1
    _wait_for_the_other(home)


def test_a_recall_that_cannot_be_counted_withholds_no_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    make_ahead(home)

    def full(*_: str) -> str:
        raise OSError("the disk is full")

    monkeypatch.setattr(waiting, "put", full)
    for words, told in (((), b"nuggets: " + UNCOUNTED.encode() + b"\n"), (("--json",), b"")):
        asked = question_of(["recall", "port", "--home", str(home), *words])
        assert asked is not None
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", os.fdopen(os.dup(1), "w"))
            patch.setattr(sys, "stderr", os.fdopen(os.dup(2), "w"))
            assert recall(asked) == 0
        out, err = capfdbinary.readouterr()
        assert b"8080" in out
        assert err == told


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly_and_the_recall_counts(home: Path) -> None:
    make_ahead(home)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "nuggets_tui", "--home", str(home), "recall", "port"]
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
    _wait_for_the_other(home)
    assert facts_of(home, "web.nugget.json")[0]["hits"] == 1


@pytest.mark.slow
def test_twenty_processes_at_once_all_count(home: Path) -> None:
    make_ahead(home)
    command = [sys.executable, "-m", "nuggets_tui", "--home", str(home), "recall", "port", "--session"]
    running = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stdout=subprocess.PIPE) for number in range(20)
    ]
    said = {process.communicate()[0] for process in running}
    assert len(said) == 1
    _wait_for_the_other(home)
    Memory.open(home).close()
    assert facts_of(home, "web.nugget.json")[0]["hits"] == 20
