"""Conversations are kept whole, without credentials, and found again by the notes that came of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.errors import BrokenFileError
from core.pipeline.database.connection import Database
from core.pipeline.database.texts import pack
from core.pipeline.intake.redaction import MARK, redact
from core.pipeline.writes.submit import Submission, store_submission
from core.settings.pipeline_sections import PipelineConfiguration

Keep = Callable[[str], str]


@pytest.fixture
def put(database: Database) -> Keep:
    def putting(text: str) -> str:
        with database.write() as writer:
            return writer.transcripts.keep(pack(redact(text)), session="s", project="", now=len(text))

    return putting


def kept(database: Database) -> list[str]:
    found = database.reading.transcripts.of_sessions(["s"])["s"]
    return [found.content, *found.revisions]


def test_a_conversation_that_goes_on_takes_the_place_of_its_beginning(database: Database, put: Keep) -> None:
    assert put("user: hello") == "new"
    assert put("user: hello\nagent: yes?") == "longer"
    assert kept(database) == ["user: hello\nagent: yes?"]
    assert database.reading.transcripts.of_sessions(["s"])["s"].updated_at == len("user: hello\nagent: yes?")


def test_credentials_do_not_reach_the_disk(database: Database, put: Keep, tmp_path: Path) -> None:
    put("user: my password: hunter2hunter2, and go on")
    assert MARK in kept(database)[0]
    assert database.reading.transcripts.of_sessions(["s"])["s"].redactions == 1
    database.close()
    for file in tmp_path.iterdir():
        assert b"hunter2" not in file.read_bytes()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_conversations_are_kept(database: Database, put: Keep, text: str) -> None:
    from core.text.normalise import encodable

    put(encodable(text))
    assert kept(database) == [encodable(text)]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("ab", max_size=4), min_size=1, max_size=8))
def test_no_conversation_is_lost_and_none_is_kept_twice(database: Database, texts: list[str]) -> None:
    with database.write() as writer:
        writer.connection.execute("DELETE FROM transcripts")
        for text in texts:
            writer.transcripts.keep(pack(redact(text)), session="s", project="", now=1)
    found = kept(database)
    assert len(set(found)) == len(found)
    assert set(found) <= set(texts)
    for text in texts:
        assert any(one.startswith(text) for one in found)


def test_a_damaged_transcript_is_told_as_one(database: Database, put: Keep) -> None:
    put("talk")
    with database.write() as writer:
        writer.connection.execute("UPDATE transcripts SET content = x'00'")
    with pytest.raises(BrokenFileError):
        database.reading.transcripts.of_sessions(["s"])


# What notes come from


TALK = "\n".join(f"user: line {number} of a long talk" for number in range(200))
SAID = "We chose PostgreSQL over MongoDB."


def note_of(database: Database, raw_id: str, note_id: str, fact: str) -> None:
    """A note that was made of a memory, as the worker stores it."""
    with database.write() as writer:
        writer.connection.execute(
            "INSERT INTO facts (id, raw_id, proposal_id, nugget, content, normalised_content, content_hash, "
            "type, confidence, note_id, status, model, prompt_version, created_at) "
            "VALUES (?, ?, '', 'memory', ?, ?, ?, 'fact', 0.9, ?, 'active', 'm', '1', 1)",
            (f"fact-{note_id}", raw_id, fact, fact, fact, note_id),
        )


def take_in(database: Database, raw_id: str, text: str, session: str, transcript: str | None) -> None:
    handed = Submission(text, session=session, transcript=transcript)
    store_submission(database, PipelineConfiguration(), handed, raw_id=raw_id, now=1)


def test_a_note_leads_to_the_part_of_the_conversation_where_it_was_said(database: Database) -> None:
    take_in(database, "raw-1", SAID, "s1", f"{TALK}\nuser: {SAID}\n{TALK}")
    note_of(database, "raw-1", "note-memory-1", "The project uses PostgreSQL")
    (found,) = database.reading.transcripts.conversations(["note-memory-1", "note-memory-1"], 200)
    assert SAID in found.text
    assert found.cut
    assert len(found.text) <= 200
    assert (found.session, found.notes, found.revisions) == ("s1", ("note-memory-1",), 0)


def test_a_later_revision_is_shown_when_it_was_said_there(database: Database) -> None:
    take_in(database, "raw-1", "Hello", "s1", "another talk")
    take_in(database, "raw-2", SAID, "s1", f"user: {SAID}")
    note_of(database, "raw-2", "note-memory-1", "The project uses PostgreSQL")
    (found,) = database.reading.transcripts.conversations(["note-memory-1"], 200)
    assert (found.text, found.cut, found.revisions) == (f"user: {SAID}", False, 1)


def test_notes_of_one_session_share_its_conversation(database: Database) -> None:
    take_in(database, "raw-1", SAID, "s1", TALK)
    take_in(database, "raw-2", "Tabs it is", "s2", None)
    note_of(database, "raw-1", "note-memory-1", "one")
    note_of(database, "raw-1", "note-memory-2", "two")
    note_of(database, "raw-2", "note-memory-3", "three")
    found = database.reading.transcripts.conversations(
        ["note-memory-3", "note-memory-2", "note-memory-1", "other"], 100
    )
    assert [one.notes for one in found] == [("note-memory-2", "note-memory-1")]
    assert database.reading.transcripts.conversations([], 100) == ()


def test_a_note_that_was_changed_by_a_proposal_leads_to_its_conversation(database: Database) -> None:
    take_in(database, "raw-1", f"Hello. {SAID}", "s1", f"{TALK}\nuser: {SAID}")
    with database.write() as writer:
        writer.connection.execute(
            "INSERT INTO proposals (id, raw_id, job_id, place, action, content, type, fact_confidence, grounded, "
            "target_note, target_content, confidence, told, decided_by, model, prompt_version, status, reason, "
            "review_needed, contradiction, span_start, span_end, note_id, created_at) "
            "VALUES ('p', 'raw-1', 1, 0, 'update', 'PostgreSQL', 'fact', 0.9, 1, 'n', '', 0.9, '', 'm', 'm', '1', "
            "'applied', '', 0, '', 7, ?, 'n', 1)",
            (7 + len(SAID),),
        )
    (found,) = database.reading.transcripts.conversations(["n"], 100)
    assert SAID in found.text
