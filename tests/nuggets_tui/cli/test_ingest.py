"""Handing in texts on the command line, and the conversations behind what is recalled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import note_object, write_graph

from core.pipeline.database.connection import Database
from core.pipeline.service import Pipeline

SAID = "Caroline chose PostgreSQL over MongoDB."


@pytest.fixture(autouse=True)
def _no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"):
        monkeypatch.delenv(name, raising=False)


def test_a_text_from_standard_input_is_kept_and_answered_with_every_field(nuggets: Any) -> None:
    found = nuggets.json("ingest", "--project", "/src/app", "--session", "s1", input=f"{SAID}\n")
    assert found == {
        "id": found["id"],
        "status": "queued",
        "jobId": 1,
        "duplicateOf": None,
        "nuggetName": "app",
        "project": "/src/app",
        "session": "s1",
        "entities": ["Caroline", "PostgreSQL", "MongoDB"],
        "protected": True,
        "warning": "",
    }
    with Pipeline.open(nuggets.home) as pipeline:
        raw = pipeline.raw(found["id"])
        assert (raw.content, raw.source_type, raw.author) == (f"{SAID}\n", "text", "agent:command line")
        assert [job.target for job in pipeline.jobs()] == [raw.id]


def test_a_text_from_a_file_is_kept(nuggets: Any, tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_bytes(f"# Größe\r\n\r\n{SAID}".encode())
    lines = nuggets.ok("ingest", str(file)).splitlines()
    assert lines[0].startswith("Saved as raw-")
    assert lines[0].endswith("facts found in it go to memory.")
    assert lines[1:3] == ["It mentions Caroline, PostgreSQL, MongoDB.", "It contains a decision."]
    assert "nuggets daemon" in lines[3]
    with Pipeline.open(nuggets.home) as pipeline:
        raw = pipeline.raw(lines[0].split()[2].rstrip(";"))
        assert (raw.content.encode(), raw.source_type) == (file.read_bytes(), "file")


def test_of_a_conversation_that_an_agent_kept_what_was_said_is_submitted(
    nuggets: Any, tmp_path: Path
) -> None:
    kept = [
        {"type": "session_meta", "payload": {"id": "s"}},
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": "We deploy with Nomad."},
        },
        {"type": "response_item", "payload": {"type": "reasoning", "summary": [{"text": "the marmot hums"}]}},
    ]
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(map(json.dumps, kept)))
    id = nuggets.json("ingest", str(path))["id"]
    shown = nuggets.ok("pipeline", "text", id)
    assert "We deploy with Nomad." in shown
    assert "marmot" not in shown
    plain = tmp_path / "users.jsonl"
    plain.write_text('{"type": "user", "name": "Anna of the marmots"}')
    assert "marmots" in nuggets.ok("pipeline", "text", nuggets.json("ingest", str(plain))["id"])


def test_a_repetition_is_said(nuggets: Any) -> None:
    first = nuggets.json("ingest", "-", input=SAID)["id"]
    again = nuggets.json("ingest", "-", input=SAID.upper())
    assert (again["status"], again["duplicateOf"], again["jobId"]) == ("duplicate", first, None)
    assert f"{first} says the same" in nuggets.ok("ingest", input=f"  {SAID}")


def test_the_session_of_the_environment_is_taken(nuggets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nuggets.json("ingest", input="Nobody says whose")["session"] == ""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of-claude")
    assert nuggets.json("ingest", input="Claude says")["session"] == "of-claude"
    assert nuggets.json("ingest", "--session", "s1", input="Somebody says")["session"] == "s1"


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (["-"], " \n", "standard input: is empty"),
        (["-"], b"\xff\xfe", "not UTF-8"),
        (["--nugget", " "], SAID, "--nugget"),
        (["--nugget", "a/b"], SAID, "not a valid nugget name"),
        (["--transcript", "talk.txt"], SAID, "name it with --session"),
        (["--session", "s", "--transcript", "-"], SAID, "cannot hold both"),
        (["--session", "s", "--transcript", "no/such/file"], SAID, "No such file"),
        (["no/such/file"], SAID, "No such file"),
        (["/"], SAID, "directory"),
        ([""], SAID, "FILE: the name is empty"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_anything_is(
    nuggets: Any, arguments: list[str], text: str | bytes, said: str
) -> None:
    assert said in nuggets.fails("ingest", *arguments, input=text)
    assert not Pipeline.exists(nuggets.home) or Database.open(nuggets.home).reading.connection.execute(
        "SELECT count(*) FROM raw_memories"
    ).fetchone()[0] == 0  # fmt: skip


def test_a_text_that_does_not_end_is_refused_before_it_fills_the_machine(
    nuggets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets_tui.cli.invocation.LONGEST_INPUT", 1_000)
    endless = Path("/dev/zero")
    if not endless.exists():
        endless = tmp_path / "long.txt"
        endless.write_text("a" * 1_001)
    for arguments in ((str(endless),), ("-", "--session", "s1", "--transcript", str(endless))):
        told = nuggets.fails("ingest", *arguments, input=SAID)
        assert "is longer than 1,000 bytes; nothing was saved; split it into parts" in told
    assert "is longer than 1,000 bytes" in nuggets.fails("ingest", input="a" * 1_001)
    assert not Pipeline.exists(nuggets.home)


# The conversation behind an answer


def remembered(nuggets: Any, transcript: str, session: str = "s1") -> str:
    """A note that came of a memory of a session, as the worker leaves it; its id."""
    talk = nuggets.home.parent / f"{session}.txt"
    talk.write_text(transcript, encoding="utf-8")
    raw = nuggets.json("ingest", "--session", session, "--transcript", str(talk), input=SAID)["id"]
    note = note_object(1, title="Database", content="PostgreSQL was chosen for the reports")
    write_graph(nuggets.home, [note])
    database = Database.open(nuggets.home)
    with database.write() as writer:
        writer.connection.execute(
            "INSERT INTO facts (id, raw_id, proposal_id, nugget, content, normalised_content, content_hash, "
            "type, confidence, note_id, status, model, prompt_version, created_at) "
            "VALUES ('f', ?, '', 'memory', 'x', 'x', 'x', 'fact', 0.9, ?, 'active', 'm', '1', 1)",
            (raw, note["id"]),
        )
    database.close()
    return str(note["id"])


def test_an_expanded_recall_gives_the_part_of_the_conversation(nuggets: Any) -> None:
    id = remembered(nuggets, "user: hello\n" * 100 + SAID + "\nuser: bye" * 100)
    found = nuggets.json("recall", "which database was chosen for reports", "--expand")
    assert found["noteId"] == id
    (talk,) = found["transcripts"]
    assert SAID in talk["text"]
    assert talk == talk | {"session": "s1", "cut": True, "revisions": 0, "noteIds": [id]}
    assert len(talk["text"]) <= 500
    lines = nuggets.ok("recall", "which database was chosen for reports", "--expand").splitlines()
    assert "≡ session s1" in lines
    assert any(SAID in line for line in lines)
    assert lines[-1].endswith(" …")


def test_without_expand_and_without_a_pipeline_nothing_is_looked_up(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert "transcripts" not in nuggets.json("recall", "test cmd")
    assert nuggets.json("recall", "test cmd", "--expand")["transcripts"] == []
    assert not Pipeline.exists(nuggets.home)


def test_a_damaged_conversation_leaves_the_answer(nuggets: Any) -> None:
    remembered(nuggets, SAID)
    database = Database.open(nuggets.home)
    with database.write() as writer:
        writer.connection.execute("UPDATE transcripts SET content = x'00'")
    database.close()
    result = nuggets("recall", "which database was chosen for reports", "--expand")
    assert result.exit_code == 0
    assert "PostgreSQL was chosen" in result.stdout
    assert "the conversation is not shown" in result.stderr
