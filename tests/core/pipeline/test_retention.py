"""What is old and needed by nothing is deleted in its order; all that anything needs stays, also through a kill."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.faults import end_before_step
from kits.laws import examples
from kits.retention_kit import (
    NOW,
    Text,
    age,
    bury,
    link,
    put,
    put_history,
    put_job,
    rehearsed,
    rows_of,
    swept,
)
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.errors import ConflictError
from core.pipeline.database.connection import Database
from core.pipeline.database.sessions import SessionScore
from core.pipeline.knowledge_graph import merge_entities, part_entity
from core.pipeline.retention import BATCH, DAY_MS, Kind, sweep
from core.settings.pipeline_sections import PipelineConfiguration

VECTORS = json.loads((Path(__file__).parent / "vectors" / "retention.json").read_text(encoding="utf-8"))
BY_ID = {vector["id"]: vector for vector in VECTORS}
# The tables of the reference, as they are called here.
NAMES = {
    "memory_entity_mentions": Kind.MENTIONS,
    "embeddings": Kind.EMBEDDINGS,
    "memories": Kind.TEXTS,
    "memory_history": Kind.HISTORY,
    "completed_jobs": Kind.COMPLETED_JOBS,
    "dead_jobs": Kind.DEAD_JOBS,
}
WINDOWS = {"tombstone": "removed_days", "completed": "completed_job_days", "dead": "dead_job_days"}


def counts(done: Any) -> dict[Kind, int]:
    return {kind: count for kind, count in done.counts.items() if count}


def count(database: Database, table: str) -> int:
    return int(database.reading.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


# The vectors of the reference


def test_rows_go_in_the_order_of_the_reference() -> None:
    order = [NAMES[name] for name in BY_ID["retention.01"]["expected"]]
    assert order == [kind for kind in Kind if kind in order]


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if "kind" in one["input"]], ids=lambda one: one["id"]
)
def test_each_kind_is_kept_for_its_window(vector: dict[str, Any], database: Database) -> None:
    given, expected = vector["input"], vector["expected"]["purged"]
    assert getattr(PipelineConfiguration().retention, WINDOWS[given["kind"]]) == given["window_days"]
    with database.write() as writer:
        if given["kind"] == "tombstone":
            put(writer, Text(1, removed=given["age_days"]))
        else:
            put_job(writer, "raw-0", given["kind"], given["age_days"])
    assert (sum(swept(database).counts.values()) == 1) is expected


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if "links_purged" in one["input"]], ids=lambda one: one["id"]
)
def test_an_entity_goes_with_its_last_mention_unless_it_is_pinned(
    vector: dict[str, Any], database: Database
) -> None:
    given, expected = vector["input"], vector["expected"]
    with database.write() as writer:
        put(writer, Text(0, removed=31, names=frozenset({"Kafka", "Redis"})))
        for number in range(1, given["entity_mentions"]):
            put(writer, Text(number, names=frozenset({"Kafka", "Redis"})))
        kafka = writer.entities.entity_named("kafka")
        assert kafka is not None
        writer.entities.pin(kafka, given.get("pinned", False), NOW)
    swept(database)
    there = database.reading.entities.entity_of(kafka)
    assert ("kept" if there is not None else "deleted") == expected["entity"]
    assert "mentions" not in expected or (there is not None and there.mentions == expected["mentions"])
    if expected.get("relations") == "deleted":
        assert count(database, "relations") == 0


# Windows and batches


@pytest.mark.parametrize(
    ("kind", "days"), [(Kind.TEXTS, 30), (Kind.HISTORY, 180), (Kind.COMPLETED_JOBS, 14), (Kind.DEAD_JOBS, 30)]
)
def test_what_is_as_old_as_its_window_stays_and_a_millisecond_more_is_too_old(
    kind: Kind, days: int, database: Database
) -> None:
    for more, expected in ((0, 0), (1 / DAY_MS, 1)):
        with database.write() as writer:
            match kind:
                case Kind.TEXTS:
                    put(writer, Text(int(more > 0)))
                    bury(writer, f"raw-{int(more > 0)}", age(days + more))
                case Kind.HISTORY:
                    put_history(writer, days + more, raw_id="raw-none")
                case _:
                    put_job(writer, f"raw-{more}", kind.removesuffix("_jobs"), days + more)
        assert swept(database).counts[kind] == expected


def test_one_transaction_takes_a_batch_and_the_next_one_the_rest(database: Database) -> None:
    with database.write() as writer:
        for number in range(BATCH + 1):
            put_job(writer, f"raw-{number}", "completed", 20)
    left: list[int] = []
    done = swept(database, rest=lambda seconds: left.append(count(database, "jobs")))
    assert left == [1, 0]
    assert done.counts[Kind.COMPLETED_JOBS] == BATCH + 1


def test_the_time_that_is_over_ends_a_sweep_and_the_next_one_goes_on(database: Database) -> None:
    with database.write() as writer:
        put_job(writer, "raw-1", "completed", 20)
    assert not sweep(database, PipelineConfiguration(), lambda ids: frozenset(), now=NOW, seconds=0).whole
    assert swept(database).whole
    assert count(database, "jobs") == 0


# What is needed stays

ages = st.sampled_from([None, 0, 29, 31, 400])
texts = st.builds(
    Text,
    st.just(0),
    removed=ages,
    status=st.sampled_from(["extracted", "skipped", "failed", "queued", "held"]),
    protected=st.sampled_from([False] * 4 + [True]),
    fact=st.sampled_from(["", "", "retracted", "denied", "active"]),
    proposal=st.sampled_from(["", "", "applied", "rejected", "skipped", "proposed", "review", "blocked"]),
    edited=st.booleans(),
    job=st.sampled_from(["", "", "completed", "pending", "leased", "held"]),
    aimed=st.sampled_from([False] * 4 + [True]),
    again=st.sampled_from([False] * 4 + [True]),
    shown=st.sampled_from([False] * 4 + [True]),
    pinned=st.sampled_from([False] * 4 + [True]),
    names=st.frozensets(st.sampled_from(["Kafka", "Redis", "Nginx", "Vault"]), max_size=3),
)
stores = st.lists(texts, max_size=8).map(
    lambda found: [Text(**{**_fields(text), "number": number}) for number, text in enumerate(found)]
)


def _fields(text: Text) -> dict[str, Any]:
    return {name: getattr(text, name) for name in Text.__dataclass_fields__}


def _goes(text: Text) -> bool:
    """Whether nothing needs a text any more that was removed long ago."""
    waits = text.status in ("queued", "held") or text.job in ("pending", "leased", "held")
    open_one = text.proposal in ("proposed", "review", "blocked")
    stands = text.fact == "active" or (bool(text.fact) and (text.shown or text.pinned or text.aimed))
    needed = waits or open_one or stands or text.protected or text.again
    return text.removed is not None and text.removed > 30 and not needed


@pytest.mark.slow
@given(stores, st.integers(0, 3), st.integers(0, 30))
@settings(max_examples=examples(30))
def test_a_sweep_deletes_exactly_what_nothing_needs_as_its_dry_run_says(
    tmp_path_factory: pytest.TempPathFactory, store: list[Text], pinned: int, stopped: int
) -> None:
    database = Database.open(tmp_path_factory.mktemp("one"))
    with database.write() as writer:
        for text in store:
            put(writer, text)
        writer.connection.execute("UPDATE entities SET pinned = 1 WHERE id <= ?", (pinned,))
    before = rows_of(database)
    rehearsal = rehearsed(database, store)
    assert rows_of(database) == before
    other = tmp_path_factory.mktemp("other")
    with closing(sqlite3.connect(other / "nuggets.db")) as copy:
        database.reading.connection.backup(copy)
    done = swept(database, store)
    assert done == rehearsal
    _holds_what_is_needed(database, store, before)
    assert counts(swept(database, store)) == {}
    _holds_when_stopped(Database.open(other), store, rows_of(database), stopped)
    database.close()


def _holds_what_is_needed(
    database: Database, store: list[Text], before: dict[str, list[tuple[object, ...]]]
) -> None:
    after = rows_of(database)
    reader = database.reading
    going = {text.id for text in store if _goes(text)}
    there = {row[0]: row[1] for row in after["raw_memories"] if row[1]}
    assert there.keys() == {str(row[0]) for row in before["raw_memories"]} - going
    # What waits, what is still to be written and what was learned is there to the last column.
    for table, column, kept in (
        ("proposals", "status", ("proposed", "review", "blocked", "rejected")),
        ("note_edits", "id", None),
        ("facts", "id", None),
        ("jobs", "status", ("held", "pending", "leased")),
    ):
        names = [row[1] for row in reader.connection.execute(f"PRAGMA table_info({table})")]
        at = names.index(column)
        wanted = [row for row in before[table] if kept is None or row[at] in kept]
        assert [row for row in after[table] if row in wanted] == wanted, table
    assert reader.connection.execute("PRAGMA foreign_key_check").fetchall() == []
    # Of each text that is gone it is said that it was removed, and when it was deleted.
    for text in store:
        raw = reader.raw.raw_of(text.id)
        assert raw is not None
        assert (raw.gone_at == NOW) is (text.id in going)
        assert any(row.event == "text_purged" for row in reader.history.history_of(text.id)) is (
            text.id in going
        )
        if text.removed is not None and text.fact and text.shown and text.removed > 30:
            assert raw.removed_at is None or text.id in there
    mentioned = {name for text in store if text.id not in going for name in text.names}
    named = {entity.name for entity in reader.entities.entities()}
    keeps = {entity.name for entity in reader.entities.entities() if entity.pinned}
    assert named == mentioned | keeps
    assert all(row[1] not in going for row in after["mentions"])


class Stopped(Exception):
    """Ends a sweep between two of its transactions."""


def _holds_when_stopped(
    other: Database, store: list[Text], whole: dict[str, list[tuple[object, ...]]], stopped: int
) -> None:
    """A sweep that ends after any transaction leaves what the next one finishes."""
    left = stopped

    def rest(seconds: float) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Stopped

    try:
        swept(other, store, rest)
    except Stopped:
        swept(other, store)
    assert rows_of(other) == whole
    other.close()


@pytest.mark.parametrize("fact", ["", "denied"])
def test_a_merge_of_names_is_undone_after_a_text_that_named_them_is_deleted(
    database: Database, fact: str
) -> None:
    with database.write() as writer:
        put(writer, Text(1, removed=40, fact=fact, names=frozenset({"Postgres"})))
        put(writer, Text(2, names=frozenset({"PostgreSQL"})))
        put(writer, Text(3, names=frozenset({"Postgres"})))
        kept, other = (writer.entities.entity_named(name) for name in ("postgresql", "postgres"))
        assert kept is not None
        assert other is not None
    merge_entities(database, kept, other, by="person", now=NOW)
    swept(database)
    part_entity(database, kept, "Postgres", by="person", now=NOW)
    back = database.reading.entities.entity_named("postgres")
    assert back is not None
    page = database.reading.entities.entity_page(back)
    assert page is not None
    assert [mention.raw_id for mention in page.mentions] == ["raw-3"]
    assert database.reading.connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert counts(swept(database)) == {}


def test_while_the_notes_cannot_be_read_no_text_with_notes_is_deleted(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path), clock=clock) as p:
        raw_id = p.ingest("Bob uses Kafka.").raw_id
        drain(p)
        p.remove_text(raw_id)
        clock.forward(days=31)
        graph = tmp_path / "graph" / "graph.json"
        whole = graph.read_bytes()
        graph.write_bytes(whole[:-40])
        assert p.sweep().counts[Kind.TEXTS] == 0
        assert p.raw(raw_id).content == "Bob uses Kafka."
        graph.write_bytes(whole)
        assert p.sweep().counts[Kind.TEXTS] == 1


# The history


def test_the_history_of_what_stands_or_waits_stays_and_the_rest_goes(database: Database) -> None:
    with database.write() as writer:
        put(writer, Text(1, fact="active"))
        put(writer, Text(2, proposal="review"))
        put(writer, Text(3, status="held"))
        put(writer, Text(4, fact="retracted"))
        put(writer, Text(5, protected=True))
        put_history(writer, 200, raw_id="raw-1", note_id="note-1")
        put_history(writer, 200, proposal_id="proposal-2")
        put_history(writer, 200, raw_id="raw-3")
        put_history(writer, 200, raw_id="raw-5")
        put_history(writer, 200, "text_purged", raw_id="raw-9")
        put_history(writer, 200, raw_id="raw-4", note_id="note-4")
        put_history(writer, 200, raw_id="raw-none")
        put_history(writer, 179, raw_id="raw-none")
    assert counts(swept(database)) == {Kind.HISTORY: 2}
    assert count(database, "history") == 6


def test_the_audit_is_append_only_but_for_what_retention_lets_go(database: Database) -> None:
    with database.write() as writer:
        put_history(writer, 200, raw_id="raw-1")
        put_history(writer, 1, raw_id="raw-1")
    for number in (1, 2):
        with pytest.raises(Exception, match="append-only"), database.write() as writer:
            writer.connection.execute("DELETE FROM history WHERE id = ?", (number,))
    swept(database)
    with pytest.raises(Exception, match="append-only"), database.write() as writer:
        writer.connection.execute("DELETE FROM history")
    assert count(database, "history") == 1


# Jobs


def test_a_job_that_can_be_taken_up_again_stays(database: Database) -> None:
    with database.write() as writer:
        put_job(writer, "raw-1", "completed", 400, "unread")
        put_job(writer, "raw-4", "dead", 400, "parse")
        put_job(writer, "raw-5", "pending", 400)
        put_job(writer, "raw-6", "leased", 400)
        put_job(writer, "raw-7", "held", 400)
    assert counts(swept(database)) == {Kind.DEAD_JOBS: 1}


# Sessions and conversations


def test_old_sessions_recalls_and_conversations_go_but_not_what_is_undelivered_or_leads_to_a_note(
    database: Database,
) -> None:
    with database.write() as writer:
        rows = writer.connection
        for session, days in (("old", 200), ("new", 1), ("due", 200)):
            rows.execute(
                "INSERT INTO sessions VALUES (?, '', '', ?, ?, NULL, 1, 0, 0, '{}', ?)",
                (session, age(days), age(days), age(days) if session == "due" else None),
            )
            rows.execute(
                "INSERT INTO checkpoints (session_key, project, author, cause, digest, redactions, created_at)"
                " VALUES (?, '', '', 'agent', 'd', 0, ?)",
                (session, age(days)),
            )
            writer.sessions.add_recall(session, "note-1", age(days))
            writer.sessions.store_score(
                SessionScore(session, age(days), 0.5, 1, 1, status="by_words", rounds=1)
            )
            rows.execute(
                "INSERT INTO transcripts VALUES (?, 0, ?, 0, '', 0, ?, ?)",
                (session, zlib.compress(b"said"), age(days), age(days)),
            )
        put(writer, Text(1, fact="active"))
        rows.execute("UPDATE raw_memories SET source_id = 'due'")
    assert counts(swept(database)) == {
        Kind.TRANSCRIPTS: 1, Kind.CHECKPOINTS: 2, Kind.SESSIONS: 1, Kind.SESSION_MEMORIES: 2, Kind.SESSION_SCORES: 2,
    }  # fmt: skip
    assert database.reading.sessions.session("due") is not None
    assert set(database.reading.transcripts.of_sessions(["old", "new", "due"])) == {"new", "due"}


def test_a_session_whose_end_is_still_to_be_looked_at_keeps_all_that_is_known_of_it(
    database: Database,
) -> None:
    with database.write() as writer:
        rows = writer.connection
        rows.execute(
            "INSERT INTO sessions VALUES ('s', '', '', ?, ?, NULL, 1, 0, 0, '', NULL)", (age(400), age(400))
        )
        rows.execute(
            "INSERT INTO checkpoints (session_key, project, author, cause, digest, redactions, created_at)"
            " VALUES ('s', '', '', 'agent', 'd', 0, ?)", (age(400),),
        )  # fmt: skip
        writer.sessions.add_recall("s", "note-1", age(400))
        writer.sessions.store_score(SessionScore("s", age(400), None, 1, 0))
        rows.execute(
            "INSERT INTO transcripts VALUES ('s', 0, ?, 0, '', 0, ?, ?)",
            (zlib.compress(b"said"), age(400), age(400)),
        )
        put_job(writer, "s", "pending", 400)
    assert counts(swept(database)) == {}
    with database.write() as writer:
        writer.connection.execute("UPDATE jobs SET status = 'completed', completed_at = ?", (NOW,))
    assert sum(swept(database).counts.values()) == 5


# Documents


def test_embeddings_go_with_their_chunks(database: Database) -> None:
    with database.write() as writer:
        rows = writer.connection
        for number in (1, 2):
            rows.execute(
                "INSERT INTO chunks (id, content, terms, content_hash, created_at)"
                " VALUES (?, 'c', 'c', ?, 0)", (number, f"h{number}"),
            )  # fmt: skip
        rows.execute(
            "INSERT INTO documents (id, kind, source, title, media_type, status, source_hash, nugget,"
            " project, author, created_at, updated_at)"
            " VALUES ('doc-1', 'text', '', '', '', 'done', '', '', '', '', 0, 0)"
        )
        rows.execute("INSERT INTO document_chunks VALUES ('doc-1', 0, 2)")
        for target, text in (("1", "gone"), ("2", "kept")):
            rows.execute(
                "INSERT INTO embeddings (kind, target, model, text_hash, updated_at) VALUES ('chunk', ?, 'm', ?, 0)",
                (target, text),
            )
        rows.execute(
            "INSERT INTO embeddings (kind, target, model, text_hash, updated_at) VALUES ('note', '1', 'm', 'note', 0)"
        )
    rehearsal = rehearsed(database)
    assert swept(database) == rehearsal
    assert counts(rehearsal) == {Kind.EMBEDDINGS: 1, Kind.CHUNKS: 1}
    left = database.reading.connection.execute("SELECT text_hash FROM embeddings ORDER BY 1")
    assert [row[0] for row in left] == ["kept", "note"]


def test_removed_documents_go_with_the_parts_that_no_other_one_has(tmp_path: Path) -> None:
    clock = Clock()
    shared = "The shared paragraph stands in both. " * 6
    with open_pipeline(
        configure(tmp_path, "[pipeline.documents]\nchunk_size = 200\nchunk_overlap = 0"), clock=clock
    ) as p:
        first = p.documents.add(
            "text",
            data=(shared + "".join(f"Line {n} of the first says apples. " for n in range(60))).encode(),
        ).document
        second = p.documents.add(
            "text",
            data=(shared + "".join(f"Line {n} of the second says pears. " for n in range(60))).encode(),
        ).document
        drain(p)
        p.documents.remove(first.id)
        clock.forward(days=29)
        assert p.sweep().counts[Kind.DOCUMENTS] == 0
        p.documents.restore(first.id)
        assert p.documents.search("apples")
        p.documents.remove(first.id)
        clock.forward(days=31)
        rehearsal = p.sweep(dry_run=True)
        done = p.sweep()
        assert done.counts == rehearsal.counts
        assert done.counts[Kind.DOCUMENTS] == 1
        assert done.counts[Kind.CHUNKS] > 5
        assert [one.id for one in p.documents.all(removed=True)] == [second.id]
        assert p.documents.search("pears")
        assert p.documents.search("shared paragraph")
        assert (
            p.database.reading.connection.execute(
                "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT chunk_id FROM document_chunks)"
            ).fetchone()[0]
            == 0
        )
        assert "document_purged" in [row.event for row in p.history(first.id)]
        # The same bytes are a new document.
        again = p.documents.add(
            "text",
            data=(shared + "".join(f"Line {n} of the first says apples. " for n in range(60))).encode(),
        )
        assert again.outcome == "new"
        drain(p)
        assert p.documents.search("apples")


# The worker


def swept_at(pipeline: Any) -> int | None:
    return pipeline.database.reading.meta.number("swept_at")  # type: ignore[no-any-return]


@pytest.mark.parametrize("lines", ["", "enabled = false", "shadow_mode = true"])
def test_the_worker_sweeps_every_six_hours_whatever_the_mode(tmp_path: Path, lines: str) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path, lines), clock=clock) as p:
        drain(p)
        first = swept_at(p)
        clock.forward(hours=5)
        drain(p)
        assert swept_at(p) == first == clock.ms - 5 * 3_600_000
        with p.database.write() as writer:
            writer.connection.execute(
                "INSERT INTO llm_calls (at, day, provider, model, purpose, raw_id, latency_ms, outcome, error)"
                " VALUES (0, '', '', '', '', '', 0, 'ok', '')"
            )
        clock.forward(hours=1)
        assert sum(one.swept for one in drain(p)) == 1
        assert swept_at(p) == clock.ms


@pytest.mark.parametrize(
    "lines", ["mutations_frozen = true", "[pipeline.retention]\nenabled = false", "paused"]
)
def test_nothing_is_swept_while_all_is_frozen_paused_or_retention_is_off(tmp_path: Path, lines: str) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path, "" if lines == "paused" else lines), clock=clock) as p:
        if lines == "paused":
            p.pause(0)
        drain(p)
        assert swept_at(p) is None


# A clock that was wrong


def tick_often(p: Any, clock: Clock, hours: int) -> int:
    """Rows deleted by ticks of so many hours."""
    deleted = 0
    for _ in range(hours):
        clock.forward(hours=1)
        deleted += sum(one.swept for one in drain(p))
    return deleted


@pytest.mark.slow
@pytest.mark.parametrize("earlier", ["after the first sweep", "before any sweep"])
def test_a_clock_that_is_wrong_for_some_hours_deletes_nothing(tmp_path: Path, earlier: str) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path), clock=clock) as p:
        text = p.ingest("Bob uses Kafka at Acme.")
        p.ingest("Ann uses Redis.")
        drain(p)
        if earlier == "before any sweep":
            with p.database.write() as writer:
                for name in ("swept_at", "clock_trusted_at"):
                    writer.meta.drop(name)
        p.remove_text(text.raw_id)
        p.sessions.checkpoint("We moved the cache.", session="one")
        before, right = rows_of(p.database), clock.now
        clock.forward(days=3650)
        assert tick_often(p, clock, 20) == 0
        assert p.sessions.recover("one") is not None
        # Wrong in another way, then right again, with the clocks of several processes apart by a moment.
        clock.now = right.replace(year=right.year + 1)
        drain(p)
        clock.forward(seconds=-1)
        assert tick_often(p, clock, 20) == 0
        clock.now = right
        clock.forward(hours=2)
        drain(p)
        after = rows_of(p.database)
        for table in ("raw_memories", "jobs", "llm_calls", "checkpoints", "history"):
            assert set(before[table]) <= set(after[table])
        assert p.restore_text(text.raw_id).notes


def test_after_a_long_time_in_which_nothing_ran_the_sweep_waits_for_a_day(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path), clock=clock) as p:
        text = p.ingest("Bob uses Kafka at Acme.")
        drain(p)
        p.remove_text(text.raw_id)
        clock.forward(days=40)
        drain(p)
        assert tick_often(p, clock, 23) == 0
        assert tick_often(p, clock, 2) > 0
        with pytest.raises(ConflictError, match="deleted it"):
            p.restore_text(text.raw_id)


def test_a_text_that_is_removed_while_the_clock_is_behind_is_kept_for_as_long(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path), clock=clock) as p:
        text = p.ingest("Bob uses Kafka at Acme.")
        document = p.documents.add("text", data=b"Kafka listens.").document
        drain(p)
        right = clock.now
        clock.now = right.replace(year=1971)
        p.remove_text(text.raw_id)
        p.documents.remove(document.id)
        clock.now = right
        clock.forward(days=29)
        p.sweep()
        assert p.restore_text(text.raw_id).notes
        assert p.documents.restore(document.id).id == document.id


# Killed


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system makes no copy of a process")
def test_a_sweep_that_is_killed_before_any_transaction_loses_nothing_and_is_finished_by_the_next(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    store = [
        Text(number, removed=40 if number % 2 else None, fact="denied", edited=True,
             names=frozenset({f"Name{number % 5}", "Kafka"}))
        for number in range(30)
    ]  # fmt: skip
    chance = random.Random(3)
    database = Database.open(home)
    with database.write() as writer:
        for text in store:
            put(writer, text)
            put_job(writer, text.id, chance.choice(["completed", "dead"]), chance.choice([1, 50]))
        link(writer, store[0].id, {"Kafka"})
    database.close()
    codes = []
    for step in range(100):
        copy = tmp_path / f"copy-{step}"
        shutil.copytree(home, copy)
        child = os.fork()
        if child == 0:
            try:
                end_before_step(step, (Database, "write"))
                swept(Database.open(copy), store)
            except BaseException:
                os._exit(1)
            os._exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        after = Database.open(copy)
        assert after.reading.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        swept(after, store)
        assert {row[0] for row in rows_of(after)["raw_memories"] if row[1]} == {
            text.id for text in store if not _goes(text)
        }
        assert after.reading.connection.execute("PRAGMA foreign_key_check").fetchall() == []
        after.close()
        if codes[-1] == 0:
            break
    assert codes == [9] * (len(codes) - 1) + [0]
    assert len(codes) > 8


# By their keys, however many others are as old
