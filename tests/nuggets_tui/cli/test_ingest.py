"""Handing in texts on the command line, and the conversations behind what is recalled."""

from __future__ import annotations

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


def test_the_session_of_the_environment_is_taken(nuggets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nuggets.json("ingest", input="Nobody says whose")["session"] == ""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of-claude")
    assert nuggets.json("ingest", input="Claude says")["session"] == "of-claude"
    assert nuggets.json("ingest", "--session", "s1", input="Somebody says")["session"] == "s1"


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
