"""The command as a process of its own: streams, pipes, a real terminal, and what it imports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from kits import forked
from kits.forked import ForkedSpawn

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "nuggets_tui.cli"]
# Sets a title, rings, clears the screen, turns the direction of text round, starts a sequence with one byte.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\x08\ufeff [bold]x[/bold] 日本語 \x00\x7f"

HEAVY = {"textual", "rich", "numpy", "netext", "watchfiles", "asyncio", "snowballstemmer", "rapidfuzz"}


def environment(home: Path, **more: str) -> dict[str, str]:
    wanted = {
        "HOME": str(home.parent),
        "NUGGETS_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
    }
    return {"PATH": os.environ["PATH"]} | wanted | more


def run(home: Path, *args: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    # What is set more is what Python itself begins with.
    return (subprocess.run if more else forked.run)(
        [*COMMAND, *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(home, **more),
        timeout=60,
        check=False,
    )


def write_graph(home: Path, *texts: str) -> None:
    """A graph file as another program might have left it, every text of a note set to each of `texts`."""
    plain_fields = {"vector": {"seed": 0, "basis": []}, "hidden": False, "kind": "note", "hits": 0}
    own = ("nuggetName", "title", "subject", "scope", "type", "source", "stability", "createdAt", "updatedAt")
    notes = [
        plain_fields
        | {"id": f"note-demo-0000000{place}", "confidence": 0.9, "lastHitSession": "", "lastAccessedAt": ""}
        | dict.fromkeys(own, text)
        | {"content": f"{text}\n{text}", "tags": [text]}
        | {"links": [{"to": "note-demo-00000000", "reason": text, "createdAt": ""}]}
        for place, text in enumerate(texts)
    ]
    (home / "graph").mkdir(parents=True)
    document = json.dumps({"version": 3, "notes": notes}, indent=2)
    (home / "graph" / "graph.json").write_text(document + "\n", encoding="utf-8")


def test_what_one_process_remembers_the_next_recalls(home: Path) -> None:
    assert run(home, "remember", "project", "test cmd", "pytest -q").returncode == 0
    answered = run(home, "recall", "test cmd", "--json")
    assert answered.returncode == 0
    assert json.loads(answered.stdout)["answer"] == "pytest -q"


def test_without_a_terminal_there_is_help_and_exit_code_two(home: Path) -> None:
    result = run(home)
    assert result.returncode == 2
    assert b"Usage: nuggets" in result.stdout
    assert b"Traceback" not in result.stderr


def test_a_broken_graph_ends_with_one_line_and_keeps_its_bytes(home: Path) -> None:
    write_graph(home, "One")
    graph = home / "graph" / "graph.json"
    graph.write_bytes(graph.read_bytes()[:-50])
    before = graph.read_bytes()
    result = run(home, "note", "add", "Two", "Text", "--json")
    assert (result.returncode, result.stdout) == (2, b"")
    assert len(result.stderr.splitlines()) == 1
    assert b"graph.json" in result.stderr
    assert graph.read_bytes() == before


@pytest.mark.parametrize(
    "more", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "LC_ALL": "POSIX"}]
)
def test_a_terminal_that_cannot_encode_gets_utf8(home: Path, more: dict[str, str]) -> None:
    write_graph(home, "日本 \ud800 é")
    shown = run(home, "note", "show", "note-demo-00000000", **more)
    assert shown.returncode == 0
    assert "日本" in shown.stdout.decode("utf-8")
    document = json.loads(run(home, "notes", "--json", **more).stdout.decode("utf-8"))
    assert document[0]["title"] == "日本 \ufffd é"


def test_a_closed_pipe_ends_quietly(home: Path) -> None:
    write_graph(home, "x" * 200_000)
    process = subprocess.Popen(
        [*COMMAND, "note", "show", "note-demo-00000000"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(home),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert said == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_takes_nothing_is_one_line(home: Path) -> None:
    write_graph(home, "One")
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [*COMMAND, "notes"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
            env=environment(home), timeout=60, check=False,
        )  # fmt: skip
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("note", "show", "note-demo-00000001"), 0),
        (("note", "show", "note-demo-0"), 2),
        (("note", "show", HOSTILE.replace("\x00", "")), 1),
        (("notes",), 0),
        (("notes", "--json"), 0),
        (("status",), 0),
        (("search", "direction bold"), 0),
        (("recall", "bold owned"), 0),
    ],
)
@pytest.mark.parametrize("colour", [False, True])
def test_hostile_notes_reach_no_terminal_raw(
    home: Path, args: tuple[str, ...], code: int, colour: bool
) -> None:
    write_graph(home, "plain", HOSTILE, "x" * 1_000_000 if args == ("notes",) else "")
    more = {} if colour else {"NO_COLOR": "1"}
    child = ForkedSpawn([*COMMAND, *args], env=environment(home, **more), dimensions=(24, 80), timeout=60)
    child.expect(pexpect.EOF)
    child.close()
    shown = child.before.decode("utf-8")
    assert shown.strip()
    if colour:
        shown = re.sub(r"\x1b\[\d+m", "", shown)
    assert not re.findall(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", shown
    )
    assert child.exitstatus == code


def test_a_terminal_shows_the_person_a_question(home: Path) -> None:
    run(home, "remember", "project", "a key", "1")
    child = ForkedSpawn([*COMMAND, "forget", "project", "--all"], env=environment(home), timeout=60)
    child.expect("Forget 1 fact of project\\? \\[y/N\\]")
    child.sendline("y")
    child.expect("Forgot 1 fact")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.parametrize(
    "args",
    [
        ["status"],
        ["--help"],
        ["status", "--json"],
        ["notes"],
        ["note", "show", "One"],
        ["log", "-v"],
        ["restore"],
    ],
)
def test_a_command_imports_only_what_it_needs(home: Path, args: list[str]) -> None:
    write_graph(home, "One")
    script = (
        "import sys\n"
        "from nuggets_tui.cli import main\n"
        f"sys.argv = ['nuggets', *{args!r}]\n"
        "try:\n    main()\n"
        f"finally:\n    print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment(home), timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.decode() == "[]\n"


def test_the_demo_is_written_where_it_is_wanted(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "demo memory"
    result = run(home, "demo", "--dir", str(target), "--json")
    assert result.returncode == 0, result.stderr
    written = json.loads(result.stdout)
    assert written["home"] == str(target)
    assert not home.exists()
    listed: Any = json.loads(run(home, "status", "--json", "--home", str(target)).stdout)
    assert sum(nugget["noteCount"] for nugget in listed["nuggets"]) == written["noteCount"] > 300
    again = run(home, "demo", "--dir", str(target))
    assert again.returncode == 2


ASCII_ONLY = {"LC_ALL": "C", "PYTHONUTF8": "0"}


def test_valid_utf8_is_understood_where_the_locale_is_plain_ascii(home: Path) -> None:
    added = run(home, "note", "add", "Größe 日本 🙂", "naïve", "--tag", "тег", "--json", **ASCII_ONLY)
    assert added.returncode == 0, added.stderr
    document = json.loads(added.stdout)
    assert (document["title"], document["content"]) == ("Größe 日本 🙂", "naïve")
    assert "тег" in document["tags"]
    found = run(home, "search", "größe", "--json", **ASCII_ONLY)
    assert [hit["title"] for hit in json.loads(found.stdout)] == ["Größe 日本 🙂"]
    target = home.parent / "données"
    written = run(home, "demo", "--dir", str(target), **ASCII_ONLY)
    assert written.returncode == 0, written.stderr
    assert (target / "graph" / "graph.json").exists()
    assert run(home, "notes", "--home", str(target), **ASCII_ONLY).returncode == 0


@pytest.mark.parametrize("more", [{}, ASCII_ONLY])
def test_bytes_that_are_no_text_are_refused_in_any_locale(home: Path, more: dict[str, str]) -> None:
    for args in (("note", "add", "t", "caf\udce9"), ("promote", "--memory-dir", "caf\udce9")):
        result = run(home, *args, **more)
        assert result.returncode == 2
        assert b"not valid UTF-8 text" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not home.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
@pytest.mark.parametrize(
    "args", [("promote",), ("promote", "--memory-dir", "docs"), ("notes", "--home", "memory")]
)
def test_a_working_directory_that_is_gone_is_said_to_be_gone(
    home: Path, tmp_path: Path, args: tuple[str, ...]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    run(home, "remember", "project", "key", "value")
    shell = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    result = subprocess.run(
        ["sh", "-c", shell, "sh", str(folder), *COMMAND, *args], stdin=subprocess.DEVNULL,
        capture_output=True, env=environment(home), timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 2
    assert b"the working directory no longer exists" in result.stderr
    assert len(result.stderr.splitlines()) == 1
