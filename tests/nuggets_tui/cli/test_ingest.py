"""Handing in texts on the command line, and the conversations behind what is recalled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import note_object, write_graph
from kits.scripted_model import ScriptedModel

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


def test_a_nugget_that_is_new_is_said(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert "there is also project" in nuggets.ok("ingest", "--nugget", "projekt", input=SAID)
    assert nuggets.json("ingest", "--nugget", "Project", input="We use tabs")["nuggetName"] == "project"


def test_the_session_of_the_environment_is_taken(nuggets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nuggets.json("ingest", input="Nobody says whose")["session"] == ""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of-claude")
    assert nuggets.json("ingest", input="Claude says")["session"] == "of-claude"
    assert nuggets.json("ingest", "--session", "s1", input="Somebody says")["session"] == "s1"


def test_a_frozen_pipeline_keeps_and_holds(nuggets: Any) -> None:
    nuggets.home.mkdir(exist_ok=True)
    (nuggets.home / "settings.toml").write_text("[pipeline]\nmutationsFrozen = true\n")
    assert "it waits while the pipeline is frozen" in nuggets.ok("ingest", input=SAID)


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


def test_how_to_start_is_said_while_no_model_is_configured(nuggets: Any) -> None:
    nuggets.home.mkdir(exist_ok=True)
    (nuggets.home / "settings.toml").write_text('[pipeline.extraction]\nprovider = "none"\n')
    assert "no model is configured" in nuggets.ok("ingest", input=SAID).splitlines()[-1]


@pytest.mark.slow
def test_that_no_model_is_configured_is_said_also_while_proposals_wait(nuggets: Any) -> None:
    nuggets.ok("demo", "--dir", str(nuggets.home))
    last = nuggets.ok("ingest", input=SAID).splitlines()[-1]
    assert "proposals wait for your decision; no model is configured; 1 job is waiting" in last


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


@pytest.mark.slow
def test_a_note_that_the_pipeline_wrote_leads_back_to_its_conversation(nuggets: Any, tmp_path: Path) -> None:
    talk = tmp_path / "talk.txt"
    talk.write_text("user: hello\n" * 100 + SAID + "\nuser: bye" * 100)
    nuggets.ok("ingest", "--session", "s1", "--project", "app", "--transcript", str(talk), input=SAID)
    fact = {"content": SAID, "type": "decision", "confidence": 0.9}
    model = ScriptedModel(by_prompt=lambda _: {"facts": [fact], "entities": []})
    with Pipeline.open(nuggets.home, provider=model) as pipeline:
        for _ in range(4):
            pipeline.tick()
    found = nuggets.json("recall", "Caroline chose over MongoDB", "--expand")
    assert found["nuggetName"] == "app"
    assert [(one["session"], SAID in one["text"]) for one in found["transcripts"]] == [("s1", True)]


def test_without_expand_and_without_a_pipeline_nothing_is_looked_up(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert "transcripts" not in nuggets.json("recall", "test cmd")
    assert nuggets.json("recall", "test cmd", "--expand")["transcripts"] == []
    assert not Pipeline.exists(nuggets.home)


def test_credentials_of_a_conversation_are_not_given_back(nuggets: Any) -> None:
    remembered(nuggets, f"user: password: hunter2hunter2\n{SAID}")
    found = nuggets.json("recall", "which database was chosen for reports", "--expand")
    assert "hunter2" not in json.dumps(found)
    assert "[REDACTED]" in found["transcripts"][0]["text"]


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
