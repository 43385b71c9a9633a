"""Credentials that were handed in: seen, never shown, and masked in every row and byte that the pipeline keeps."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.forked import forked_process
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, chunks_of, configure, drain, open_pipeline
from kits.writes_kit import fact, found

from core.errors import StorageError
from core.graph.edits import create_note
from core.memory import Memory
from core.model.secrets import Holder
from core.pipeline.database import masking as rows
from core.pipeline.database.connection import Database
from core.pipeline.intake.normalisation import normalise
from core.pipeline.service import Pipeline
from core.pipeline.writes import secrets
from core.pipeline.writes.following import drift
from core.services.secrets import Masking, Secrets
from core.storage.journal.schema import HISTORY_TABLES
from core.workspace import Workspace

VALUE = "Blau3" + "Katze!77"
OTHER = "Gelb4" + "Hund!88"
TOKEN = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
TEXT = f"Anna runs the staging server. The staging password is {VALUE} for now. Ben likes the new staging dashboard."
NOW = Clock().ms


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[Pipeline]:
    with open_pipeline(configure(tmp_path / "memory")) as opened:
        yield opened


def everything(home: Path) -> dict[str, bytes]:
    """The bytes of each file, and what stands pressed in the transcripts."""
    found = {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with closing(sqlite3.connect(f"file:{home / 'nuggets.db'}?mode=ro", uri=True)) as reader:
        for number, (content,) in enumerate(reader.execute("SELECT content FROM transcripts")):
            found[f"transcript {number}"] = zlib.decompress(content)
    return found


def assert_gone(home: Path, *values: str) -> None:
    for name, data in everything(home).items():
        for value in values:
            for form in (value, value.lower(), json.dumps(value)[1:-1]):
                assert form.encode() not in data, (name, value)


def stored(pipeline: Pipeline, raw_id: str) -> str:
    """A text as it stands in the database."""
    raw = pipeline.database.reading.raw.raw_of(raw_id)
    assert raw is not None
    return raw.content


def put_everywhere(pipeline: Pipeline, raw_id: str, text: str = TEXT) -> None:
    """Rows of each kind that hold the text, however they came by it."""
    with pipeline.database.write() as writer:
        writer.connection.execute(
            "UPDATE facts SET content = ?, normalised_content = lower(?) WHERE raw_id = ?",
            (text, text, raw_id),
        )
        writer.connection.execute(
            "UPDATE proposals SET content = ?1, target_content = ?1, told = ?1 WHERE raw_id = ?2",
            (text, raw_id),
        )
        writer.connection.execute("UPDATE note_edits SET content = ?", (text,))
        writer.connection.execute(
            "UPDATE jobs SET result = ?, error = ?", (json.dumps({"warnings": [text]}), text)
        )
        writer.connection.execute(
            "INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content,"
            " new_content, model, prompt_version, metadata)"
            " VALUES (1, 'added', 'x', ?1, ?2, '', '', '', ?1, ?1, '', '', ?3)",
            (text, raw_id, json.dumps({"said": [text]})),
        )
        for name in (f"{VALUE} one", f"{VALUE} two"):
            writer.connection.execute(
                "INSERT INTO entities (name, canonical_name, type, created_at, updated_at)"
                " VALUES (?, lower(?), 'x', 1, 1)",
                (name, name),
            )
        say_of(writer, 1, text)
        writer.connection.execute(
            "INSERT INTO transcripts VALUES ('s', 0, ?, ?, '', 0, 1, 1)",
            (zlib.compress(text.encode()), len(text)),
        )
        writer.connection.execute(
            "INSERT INTO llm_calls (at, day, provider, model, purpose, raw_id, latency_ms, outcome, error)"
                       " VALUES (1, '', '', '', '', '', 1, 'http', ?)", (text,))  # fmt: skip


def say_of(writer: sqlite3.Connection, entity_id: int, content: str) -> None:
    writer.connection.execute(
        "INSERT INTO attributes (entity_id, raw_id, fact_id, kind, content, normalised_content, confidence, importance,"
        " status, created_at, updated_at) VALUES (?1, '', '', 'attribute', ?2, lower(?2), .5, .5, 'active', 1, 1)",
        (entity_id, content),
    )


def everywhere(pipeline: Pipeline) -> str:
    raw_id = pipeline.ingest(TEXT).raw_id
    drain(pipeline)
    put_everywhere(pipeline, raw_id)
    return raw_id


def masked(pipeline: Pipeline) -> Masking:
    plan = secrets.masking(pipeline.memory)
    Workspace(pipeline.memory, lambda: NOW).mask_secrets(plan)
    return plan


def test_a_text_that_was_handed_in_is_told_of_and_its_value_is_never_shown(pipeline: Pipeline) -> None:
    raw_id = pipeline.ingest(TEXT, nugget="web").raw_id
    (held,) = secrets.secrets(pipeline.memory)
    assert isinstance(held, Holder)
    assert (held.id, held.nugget, held.kinds, held.note_id) == (raw_id, "web", ("password",), "")
    assert VALUE not in repr(held)
    assert held.title.startswith("Anna runs the staging server. The staging password is [masked: password]")
    plan = secrets.masking(pipeline.memory)
    assert VALUE not in json.dumps(plan.to_dict())
    assert plan.to_dict()["secrets"] == [
        {"id": raw_id, "noteId": None, "nugget": "web", "kinds": ["password"]}
    ]


@pytest.mark.slow
def test_masked_it_stands_in_no_row_and_no_byte(pipeline: Pipeline) -> None:
    raw_id = everywhere(pipeline)
    assert any(VALUE.lower().encode() in data for data in everything(pipeline.home).values())
    plan = masked(pipeline)
    assert_gone(pipeline.home, VALUE)
    counts = {place.part: place.count for place in plan.rewritten if place.what == "pipeline"}
    assert counts["raw_memories"] == 1
    assert set(counts) >= {
        "proposals",
        "facts",
        "history",
        "note_edits",
        "transcripts",
        "attributes",
        "entities",
        "jobs",
    }
    assert plan.untouched == ()
    assert pipeline.raw(raw_id).content == TEXT.replace(VALUE, "[masked: password]")
    assert not secrets.secrets(pipeline.memory)
    assert not secrets.masking(pipeline.memory).holders


@pytest.mark.slow
def test_whatever_people_ask_the_pipeline_for_shows_no_credential(pipeline: Pipeline) -> None:
    raw_id = everywhere(pipeline)
    document = pipeline.documents.add(
        "file", f"/notes/{VALUE}.txt", TEXT.encode(), title=f"password: {VALUE}"
    ).document
    drain(pipeline)
    answers: list[object] = [
        document, pipeline.documents.all(), pipeline.documents.text(document.id), pipeline.documents.search("staging"),
        pipeline.jobs(), pipeline.proposals(all=True), pipeline.raw(raw_id), pipeline.text(raw_id),
        pipeline.history(raw_id), pipeline.status(), pipeline.sessions.all(),
        *(pipeline.entity(one.id) for one in pipeline.entities("staging")),
        *(pipeline.origin(note.id) for note in pipeline.memory.snapshot.notes),
    ]  # fmt: skip
    assert [answer for answer in answers if VALUE in repr(answer)] == []
    assert "•" * len(VALUE) in pipeline.raw(raw_id).content
    secrets.mark_not_secret(pipeline.memory, [raw_id])
    assert pipeline.raw(raw_id).content == TEXT


def columns_with(path: Path, value: str) -> set[str]:
    """Each column of each table in which a value stands, with its case or without."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reader:
        return {
            f"{table}.{column}"
            for table, column, _ in texts_of_tables(reader)
            if reader.execute(
                f"SELECT 1 FROM {table} WHERE instr(lower({column}), ?)", (value.lower(),)
            ).fetchone()
        }


def texts_of_tables(reader: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """The columns of all tables that hold texts, each with the table's definition."""
    return reader.execute(
        "SELECT tables.name, columns.name, tables.sql FROM sqlite_master tables"
        " JOIN pragma_table_info(tables.name) columns WHERE tables.type = 'table' AND columns.type = 'TEXT'"
        " AND tables.name NOT LIKE '%_fts%' AND tables.name NOT LIKE 'sqlite_%'"
    ).fetchall()


def plant(home: Path, value: str) -> set[str]:
    """Puts a value into each column of each table that may hold any text; which these are."""
    with closing(sqlite3.connect(home / "nuggets.db", isolation_level=None)) as writer:
        planted = set()
        tables: dict[str, list[str]] = {}
        for table, column, sql in texts_of_tables(writer):
            if (
                table not in HISTORY_TABLES
                and f"CHECK ({column} IN" not in sql
                and f"CHECK({column} IN" not in sql
            ):
                tables.setdefault(table, []).append(column)
        writer.execute("PRAGMA ignore_check_constraints = ON")
        for table, columns in tables.items():
            info = writer.execute(f"PRAGMA table_info({table})").fetchall()
            row = {
                name: f"about {value} {'id' if name in ('raw_id', 'document_id') else name}"
                if name in columns
                else f"{kind}"
                if kind == "TEXT"
                else b""
                if kind == "BLOB"
                else 7
                for _, name, kind, _, _, _ in info
            }
            checked = {name: word for name, word in CLOSED.items() if name in row and name not in columns}
            row |= (
                checked
                if table != "raw_memories"
                else {**checked, "status": "extracted", "duplicate_of": None}
            )
            names = ", ".join(f'"{name}"' for name in row)
            marks = ", ".join("?" * len(row))
            writer.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
            planted |= {f"{table}.{column}" for column in columns if row[column] is not None}
        return planted


# One word of each closed list.
CLOSED = {
    "status": "active",
    "kind": "attribute",
    "op": "add",
    "action": "none",
    "type": "extract",
    "cause": "explicit",
}


@pytest.mark.parametrize("word", [VALUE, "dragon"])
def test_a_credential_in_any_column_is_gone_once_it_is_masked(pipeline: Pipeline, word: str) -> None:
    pipeline.ingest(f"The Wi-Fi password: {word}")
    if word == VALUE:
        planted = plant(pipeline.home, word)
        assert len(planted) > 100
        assert columns_with(pipeline.home / "nuggets.db", word) >= planted
    else:
        with pipeline.database.write() as writer:
            writer.entities.find_or_make_entity(word, "system", 1)
    plan = masked(pipeline)
    assert columns_with(pipeline.home / "nuggets.db", word) == set()
    assert not pipeline.memory.secrets.left(plan)


@pytest.mark.slow
def test_the_same_value_is_masked_in_notes_log_and_database_at_once(pipeline: Pipeline) -> None:
    pipeline.memory.change("w", lambda draft: create_note(draft, "web", "Wifi", f"password: {VALUE}"))
    everywhere(pipeline)
    note = next(one for one in secrets.secrets(pipeline.memory) if one.note_id)
    plan = secrets.masking(pipeline.memory, [note.id])
    assert {one.id for one in plan.holders} > {note.id}
    done = Workspace(pipeline.memory, lambda: NOW).mask_secrets(plan)
    assert done.kind == "mask"
    assert not done.empty
    assert_gone(pipeline.home, VALUE)
    assert not drift(pipeline.memory)


@pytest.mark.slow
def test_the_span_of_a_fact_still_points_at_its_sentence(pipeline: Pipeline) -> None:
    raw_id = pipeline.ingest(TEXT).raw_id
    drain(pipeline)
    before = {one.id: one for one in pipeline.proposals(all=True)}
    masked(pipeline)
    content = pipeline.raw(raw_id).content
    for after in pipeline.proposals(all=True):
        former = before[after.id].span
        assert former is not None
        assert after.span is not None
        assert content[slice(*after.span)] == TEXT[slice(*former)].replace(VALUE, "[masked: password]")
    assert len(before) == 3


@pytest.mark.slow
def test_the_audit_is_append_only_again_and_tells_of_the_masking(pipeline: Pipeline) -> None:
    raw_id = everywhere(pipeline)
    masked(pipeline)
    (told,) = [row for row in pipeline.history(raw_id) if row.event == "masked"]
    assert told.reason == "masked a secret"
    counts = told.metadata["rows"]
    assert isinstance(counts, dict)
    assert counts["raw_memories"] == 1
    for statement in ("DELETE FROM history", "UPDATE history SET reason = ''"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"), pipeline.database.write() as writer:
            writer.connection.execute(statement)


@pytest.mark.slow
def test_what_stops_it_leaves_rows_and_audit_as_they_were(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw_id = everywhere(pipeline)
    before = pipeline.history(raw_id)
    monkeypatch.setattr(rows.Masking, "index_anew", lambda _: (_ for _ in ()).throw(StorageError("no")))
    with pytest.raises(StorageError):
        masked(pipeline)
    monkeypatch.undo()
    assert pipeline.history(raw_id) == before
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), pipeline.database.write() as writer:
        writer.connection.execute("DELETE FROM history")
    masked(pipeline)
    assert_gone(pipeline.home, VALUE)


def _mask_until_killed(home: Path, call: int) -> None:
    calls = itertools.count(1)

    def step() -> None:
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)

    def killing(work: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*given: object, **named: object) -> object:
            step()
            done = work(*given, **named)
            step()
            return done

        return stepped

    for owner, name in (
        (rows.Masking, "mask_rows"), (Secrets, "mask"), (Database, "vacuum"), (Database, "empty_log"),
    ):  # fmt: skip
        setattr(owner, name, killing(getattr(owner, name)))
    with open_pipeline(home) as pipeline:
        masked(pipeline)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process")
@pytest.mark.parametrize("call", range(1, 10))
def test_killed_at_any_step_it_is_finished_the_next_time(tmp_path: Path, call: int) -> None:
    home = configure(tmp_path / "memory")
    with open_pipeline(home) as pipeline:
        note = f"The password is {VALUE}"
        pipeline.memory.change("w", lambda draft: create_note(draft, "web", "Wifi", note))
        everywhere(pipeline)
    child = forked_process(target=_mask_until_killed, args=(home, call))
    child.start()
    child.join()
    assert child.exitcode == (0 if call > 8 else -signal.SIGKILL)
    with open_pipeline(home) as pipeline:
        if secrets.secrets(pipeline.memory):
            masked(pipeline)
        assert not secrets.secrets(pipeline.memory)
        assert_gone(home, VALUE)
        assert not drift(pipeline.memory)


@pytest.mark.slow
def test_what_differs_in_the_value_alone_stays_two(pipeline: Pipeline) -> None:
    pipeline.ingest(TEXT)
    drain(pipeline)
    with pipeline.database.write() as writer:
        for rowid, value in ((1, VALUE), (2, OTHER)):
            content = f"the password is {value}"
            writer.connection.execute(
                "UPDATE facts SET content = ?, content_hash = ? WHERE rowid = ?",
                (content, normalise(content).content_hash, rowid),
            )
            writer.entities.find_or_make_entity(f"Server {value}", "system", 1)
            writer.entities.find_or_make_aspect(1, f"password {value}", 1)
            writer.entities.merge(
                1, writer.entities.find_or_make_entity(f"the {value} one", "extracted", 1), 1
            )
            say_of(writer, 1, f"has the password {value}")
    masked(pipeline)
    assert_gone(pipeline.home, VALUE, OTHER)
    reader = pipeline.database.reading.connection
    for query, said in (
        ("SELECT content FROM facts WHERE rowid < 3", "the password is [masked: password]"),
        ("SELECT name FROM entities WHERE name LIKE 'Server%'", "Server [masked: password]"),
        ("SELECT name FROM aspects WHERE name LIKE 'password%'", "password [masked: password]"),
        ("SELECT name FROM entities WHERE name LIKE 'the %'", "the [masked: password] one"),
        (
            "SELECT content FROM attributes WHERE content LIKE 'has the%'",
            "has the password [masked: password]",
        ),
    ):
        assert [row[0] for row in reader.execute(query)] == [said, said]


def test_what_is_no_secret_is_said_once(pipeline: Pipeline) -> None:
    raw_id = pipeline.ingest(TEXT).raw_id
    done = secrets.mark_not_secret(pipeline.memory, [raw_id])
    assert done.empty
    assert not secrets.secrets(pipeline.memory)
    pipeline.ingest(f"The deploy token is {TOKEN}.")
    assert len(secrets.secrets(pipeline.memory)) == 1
    assert not any(VALUE.encode() in value for value in [repr(row[0]).encode() for row in
                   pipeline.database.reading.connection.execute("SELECT name FROM meta")])  # fmt: skip


@pytest.mark.slow
def test_a_proposal_that_alone_holds_one_is_told_of(pipeline: Pipeline) -> None:
    pipeline.ingest("Anna runs the staging server. Ben likes the dashboard of it.")
    drain(pipeline)
    with pipeline.database.write() as writer:
        writer.connection.execute(
            "UPDATE proposals SET target_content = ? WHERE place = 0", (f"password: {VALUE}",)
        )
    (held,) = secrets.secrets(pipeline.memory)
    assert held.id.startswith("proposal-")
    masked(pipeline)
    assert_gone(pipeline.home, VALUE)


@pytest.mark.slow
def test_somebody_who_reads_for_long_is_told_of_and_it_is_finished_later(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    everywhere(pipeline)
    opened = Database.open
    monkeypatch.setattr(Database, "open", lambda home: opened(home, seconds=0.05))
    with closing(sqlite3.connect(pipeline.home / "nuggets.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM jobs").fetchone()
        with pytest.raises(StorageError, match="reading"):
            masked(pipeline)
        other.execute("COMMIT")
    masked(pipeline)
    assert not secrets.secrets(pipeline.memory)
    assert_gone(pipeline.home, VALUE)


def test_a_database_that_cannot_be_read_is_left_alone_and_told_of(tmp_path: Path) -> None:
    with closing(Memory.open(tmp_path / "memory")) as memory:
        memory.change("w", lambda draft: create_note(draft, "web", "Wifi", f"The password is {VALUE}"))
        (tmp_path / "memory" / "nuggets.db").write_bytes(b"no database at all" * 100)
        plan = secrets.masking(memory)
        assert [path.name for path in plan.untouched] == ["nuggets.db"]


def test_no_model_sees_a_credential_and_no_fact_holds_one(tmp_path: Path) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> Line:
        prompts.append(prompt)
        if '"contradicts"' in prompt:
            return {"contradicts": False, "confidence": 0.9, "reasoning": "both"}
        if '"action"' in prompt:
            labels = [line.partition(":")[0] for line in prompt.splitlines() if line.startswith("F")]
            one = {"action": "update", "targetId": "C1", "confidence": 0.9, "reason": "newer"}
            return (
                {"decisions": [{"fact": label, **one} for label in labels]}
                if '"decisions"' in prompt
                else one
            )
        if '"results"' in prompt:
            return {"results": []}
        return found(
            "The staging server of the shop has a password, [REDACTED]",
            fact(f"The staging server of the shop still wants the password {VALUE}"),
            entities=[
                {"source": "staging server", "relationship": "wants", "target": TOKEN, "confidence": 0.9}
            ],
        )

    home = configure(tmp_path / "memory", "semanticContradictionEnabled = true")
    with open_pipeline(home, ScriptedModel(by_prompt=answer)) as pipeline:
        noted = f"The staging server of the shop wants the password {VALUE} from everybody"
        pipeline.memory.change("w", lambda draft: create_note(draft, "memory", "Staging", noted))
        text = f"The staging server of the shop wants a password from everybody. password: {VALUE}, token {TOKEN}"
        raw_id = pipeline.ingest(text).raw_id
        drain(pipeline)
        assert len(prompts) >= 2
        for prompt in prompts:
            assert VALUE not in prompt
            assert TOKEN not in prompt
        assert any("Stored:" in prompt for prompt in prompts)
        assert stored(pipeline, raw_id) == text
        for proposal in pipeline.proposals(all=True):
            assert VALUE not in proposal.content
            assert proposal.span is not None
            assert text[slice(*proposal.span)].startswith("The staging server")
        assert pipeline.database.reading.raw.found_in(raw_id) == ()


def packed_documents(home: Path) -> bytes:
    """The texts of all documents, as they are read."""
    with closing(sqlite3.connect(f"file:{home / 'nuggets.db'}?mode=ro", uri=True)) as reader:
        texts = [row[0] for row in reader.execute("SELECT content FROM documents WHERE content IS NOT NULL")]
    return b"\n".join(map(zlib.decompress, texts))


@pytest.mark.parametrize("ticks", [0, 1, 2])
def test_a_document_that_holds_a_credential_is_named_and_masked_wherever_it_stands(
    pipeline: Pipeline, ticks: int
) -> None:
    text = f"{'One word after another. ' * 300}{TEXT} The end."
    added = pipeline.documents.add("file", f"/notes/{VALUE}.txt", text.encode(), title=f"Of {VALUE}").document
    for _ in range(ticks):
        pipeline.tick()
    assert [held.id for held in secrets.secrets(pipeline.memory)] == [added.id]
    plan = secrets.masking(pipeline.memory, [added.id])
    assert "documents" in {place.part for place in plan.rewritten}
    Workspace(pipeline.memory, lambda: NOW).mask_secrets(plan)
    assert_gone(pipeline.home, VALUE)
    assert VALUE.encode() not in packed_documents(pipeline.home)
    assert not secrets.secrets(pipeline.memory)
    # It is indexed whole all the same, and found by what it says now.
    drain(pipeline)
    done = pipeline.documents.get(added.id)
    chunks = chunks_of(pipeline.database, added.id)
    assert (done.status, done.chunks, len(chunks)) == ("done", len(chunks), len(chunks))
    assert chunks[-1].endswith("The end.")
    assert VALUE not in "".join(chunks)
    assert [hit.document_id for hit in pipeline.documents.search("staging dashboard")] == [added.id]
    assert pipeline.documents.search(VALUE) == () or VALUE not in pipeline.documents.search(VALUE)[0].text
    assert_gone(pipeline.home, VALUE)
