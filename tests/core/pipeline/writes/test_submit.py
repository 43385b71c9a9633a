"""A text that was handed in is kept to the letter, linked once, and waits for a worker."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.errors import InvalidInputError
from core.pipeline.database.connection import Database
from core.pipeline.records import Ingested, RawMemory
from core.pipeline.transaction_guard import CallInsideTransactionError, assert_outside_transaction
from core.pipeline.writes.submit import LONGEST, Submission, nugget_of, store_submission
from core.settings.pipeline_sections import PipelineConfiguration

FOLDER = Path(__file__).parents[1] / "vectors"
ON = PipelineConfiguration()
OFF = PipelineConfiguration(enabled=False)
FROZEN = PipelineConfiguration(mutations_frozen=True)
Remember = Callable[..., Ingested]


def vectors(name: str) -> Any:
    found = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return pytest.mark.parametrize("vector", found, ids=lambda vector: vector["id"])


@pytest.fixture
def submit(database: Database) -> Remember:
    """Hands in a text with ids and times that count upwards."""
    numbers = itertools.count(1)

    def remembering(text: str, configuration: PipelineConfiguration = ON, **given: Any) -> Ingested:
        number = next(numbers)
        known = given.pop("known_nuggets", ())
        return store_submission(
            database, configuration, Submission(text, **given),
            raw_id=f"raw-{number:016x}", now=number * 1000, known_nuggets=known,
        )  # fmt: skip

    return remembering


def rows(database: Database, query: str, *given: object) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in database.reading.connection.execute(query, given)]


def count_raw(database: Database) -> int:
    return int(rows(database, "SELECT count(*) FROM raw_memories")[0][0])


def stored(database: Database, raw_id: str) -> RawMemory:
    found = database.reading.raw.raw_of(raw_id)
    assert found is not None
    return found


def knowledge(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """All rows that a re-run must not add to, but for times."""
    return {
        "entities": rows(database, "SELECT id, name, canonical_name, type FROM entities ORDER BY id"),
        "mentions": rows(database, "SELECT entity_id, target, mention_text FROM mentions ORDER BY 1, 2"),
        "aspects": rows(database, "SELECT entity_id, name, weight FROM aspects ORDER BY id"),
        "attributes": rows(database, "SELECT entity_id, aspect_id, content, kind FROM attributes ORDER BY id"),
        "relations": rows(database, "SELECT source_id, target_id, type, strength FROM relations ORDER BY id"),
        "evidence": rows(database, "SELECT relation_id, raw_id, confidence FROM relation_evidence ORDER BY 1, 2"),
    }  # fmt: skip


def counts(database: Database) -> dict[str, int]:
    return {table: len(found) for table, found in knowledge(database).items()}


def names_of(database: Database, raw_id: str) -> set[str]:
    found = rows(
        database,
        "SELECT canonical_name FROM mentions JOIN entities ON entities.id = entity_id WHERE target = ?",
        raw_id,
    )
    return {name for (name,) in found}


@vectors("normalisation")
def test_a_stored_text_has_the_hash_that_the_format_says_and_its_own_wording(
    database: Database, submit: Remember, vector: dict[str, Any]
) -> None:
    if not vector["expected"]["storageContent"]:
        with pytest.raises(InvalidInputError):
            submit(vector["input"])
        return
    raw = stored(database, submit(vector["input"]).raw_id)
    assert raw.content == vector["input"]
    assert raw.content_hash == vector["expected"]["contentHash"]


@vectors("decision_patterns")
def test_a_decision_protects_the_memory_and_its_clause(
    database: Database, submit: Remember, vector: dict[str, Any]
) -> None:
    expected = vector["expected"]["protected"]
    ingested = submit(vector["input"])
    assert ingested.protected == stored(database, ingested.raw_id).protected == expected
    kinds = rows(database, "SELECT DISTINCT kind, importance FROM attributes")
    assert kinds in ([], [("constraint", 0.85)] if expected else [("attribute", 0.5)])


def test_everything_of_a_memory_is_there_when_it_was_taken_in(database: Database, submit: Remember) -> None:
    text = "Caroline  decided to use\nPostgreSQL.\n"
    ingested = submit(text, nugget="app", project="/src/app", session="s1", author="agent")
    assert ingested == Ingested(
        "raw-0000000000000001", "queued", 1, "", ("Caroline", "PostgreSQL"), protected=True
    )
    raw = stored(database, ingested.raw_id)
    assert (raw.content, raw.nugget, raw.project, raw.source_id, raw.author, raw.created_at) == (
        text, "app", "/src/app", "s1", "agent", 1000,
    )  # fmt: skip
    job = rows(database, "SELECT type, target, status, attempts, max_attempts, run_after FROM jobs")
    assert job == [("extract", raw.id, "pending", 0, 3, 1000)]
    assert rows(database, "SELECT confidence FROM relation_evidence") == [(0.3,)]


def test_the_same_text_again_is_kept_and_adds_neither_job_nor_mention(
    database: Database, submit: Remember
) -> None:
    first = submit("Caroline moved to Seattle. Melanie likes green tea.")
    before = knowledge(database)
    again = submit("caroline moved to Seattle.   Melanie likes green tea!")
    assert (again.status, again.duplicate_of, again.job_id) == ("duplicate", first.raw_id, None)
    assert stored(database, again.raw_id).content.startswith("caroline moved")
    assert knowledge(database) == before
    assert rows(database, "SELECT target FROM jobs") == [(first.raw_id,)]


def test_a_repetition_of_a_repetition_points_to_the_first(submit: Remember) -> None:
    first = submit("We use tabs")
    submit("we use tabs")
    assert submit("We use tabs!").duplicate_of == first.raw_id


def test_names_that_only_the_repetition_spells_as_names_are_linked_to_the_first(
    database: Database, submit: Remember
) -> None:
    first = submit("we met caroline in seattle")
    assert first.entities == ()
    submit("We met Caroline in Seattle")
    assert names_of(database, first.raw_id) == {"caroline", "seattle"}


def test_a_repetition_that_decides_protects_what_it_repeats(database: Database, submit: Remember) -> None:
    first = submit("We decided to ship?")
    assert not first.protected
    submit("We decided to ship.")
    assert stored(database, first.raw_id).protected


def test_the_same_text_for_another_nugget_is_no_repetition(submit: Remember) -> None:
    submit("We use tabs", nugget="one")
    assert submit("We use tabs", nugget="two").status == "queued"


def test_a_text_whose_memory_failed_may_come_again(database: Database, submit: Remember) -> None:
    first = submit("We use tabs")
    with database.write() as writer:
        writer.raw.set_status(first.raw_id, "failed")
    assert submit("We use tabs").status == "queued"


def test_what_a_model_made_of_a_memory_is_noted_with_it(database: Database, submit: Remember) -> None:
    first = submit("We use tabs")
    with database.write() as writer:
        writer.raw.set_status(first.raw_id, "extracted", now=5, model="m", prompt_version="2")
    raw = stored(database, first.raw_id)
    assert (raw.status, raw.extracted_at, raw.model) == ("extracted", 5, "m")
    assert count_raw(database) == 1


def test_a_frozen_pipeline_takes_texts_in_and_holds_them(database: Database, submit: Remember) -> None:
    ingested = submit("Caroline moved to Seattle", FROZEN)
    assert ingested.status == "held"
    assert rows(database, "SELECT status FROM jobs") == [("held",)]
    assert names_of(database, ingested.raw_id) == {"caroline", "seattle"}
    with database.write() as writer:
        assert writer.jobs.release_held(9) == 1
    assert stored(database, ingested.raw_id).status == "queued"
    assert rows(database, "SELECT status FROM jobs") == [("pending",)]


def test_a_pipeline_that_is_off_keeps_text_and_job(database: Database, submit: Remember) -> None:
    assert submit("We use tabs", OFF).status == "queued"
    assert rows(database, "SELECT status FROM jobs") == [("pending",)]


@pytest.mark.parametrize("text", ["", "  \n\t", "\u3000\ufeff", "\x1c"])
def test_blank_texts_are_refused(database: Database, submit: Remember, text: str) -> None:
    with pytest.raises(InvalidInputError):
        submit(text)
    assert count_raw(database) == 0


def test_texts_longer_than_a_database_can_hold_are_refused(submit: Remember, monkeypatch: Any) -> None:
    monkeypatch.setattr("core.pipeline.writes.submit.LONGEST", 100)
    assert LONGEST > 1_000_000
    with pytest.raises(InvalidInputError, match="in parts"):
        submit("tabs " * 100)
    assert "longer than 100" in submit("We use tabs", session="s", transcript="x" * 101).warning


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_kept_to_the_letter(database: Database, submit: Remember, text: str) -> None:
    given = f"Anna said {text} to Bob"
    ingested = submit(given, project=text, session=text, author=text, source_type=text, transcript=text)
    kept = stored(database, ingested.raw_id).content
    assert kept == (given if given.isascii() or "\ud800" not in given else given.replace("\ud800", "\ufffd"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1))
def test_any_text_is_kept_to_the_letter(database: Database, submit: Remember, text: str) -> None:
    nugget = f"n{count_raw(database)}"
    try:
        ingested = submit(text, nugget=nugget)
    except InvalidInputError:
        assert not text.replace("\ufeff", "").strip()
    else:
        assert stored(database, ingested.raw_id).content == text
        before = counts(database)
        assert submit(text, nugget=nugget).duplicate_of == ingested.raw_id
        assert counts(database) == before


# Where the facts of a text go


def test_facts_of_a_project_go_to_a_nugget_of_its_name() -> None:
    for project, nugget in [
        ("", "memory"),
        ("app", "app"),
        ("/home/me/app/", "app"),
        ("C:\\src\\My App", "My-App"),
        ("/src/.config", "config"),
        ("Größe", "Groe"),
        ("日本語", "memory"),
        ("../..", "memory"),
        ("nul", "memory"),
        ("x" * 100, "x" * 64),
    ]:
        assert nugget_of(project) == nugget


@given(st.text())
def test_any_project_names_a_nugget_that_can_be(project: str) -> None:
    from core.model.names import check_nugget_name

    check_nugget_name(nugget_of(project))


def test_a_nugget_that_is_there_is_taken_in_its_own_spelling() -> None:
    assert nugget_of("/src/app", ["App"]) == "App"
    assert nugget_of("/src/app", ["APP", "App", "app"]) == "app"
    assert nugget_of("größe", ["größe"]) == "größe"


def test_a_named_nugget_goes_before_the_project(database: Database, submit: Remember) -> None:
    assert stored(database, submit("We use tabs", nugget="style", project="app").raw_id).nugget == "style"
    assert (
        stored(database, submit("Or not", nugget="größe", known_nuggets=("größe",)).raw_id).nugget == "größe"
    )
    assert stored(database, submit("Or so", nugget=" app ", known_nuggets=("App",)).raw_id).nugget == "App"


def test_a_name_that_no_nugget_can_bear_is_refused_before_anything_is_written(
    database: Database, submit: Remember
) -> None:
    with pytest.raises(InvalidInputError):
        submit("We use tabs", nugget="a/b")
    assert count_raw(database) == 0


def test_a_session_that_named_its_project_once_need_not_again(database: Database, submit: Remember) -> None:
    submit("We use tabs", session="s1", project="app")
    submit("We use spaces", session="s1", project="other")
    later = stored(database, submit("We use neither", session="s1").raw_id)
    assert (later.project, later.nugget) == ("other", "other")
    assert stored(database, submit("We use both", session="s2").raw_id).nugget == "memory"


# Entities that are known


def test_two_names_of_one_entity_are_no_pair(database: Database, submit: Remember) -> None:
    submit("We met Caroline")
    with database.write() as writer:
        writer.entities.merge(1, writer.entities.find_or_make_entity("Carol", "extracted", 1), 1)
    submit("We met Caroline, whom we call Carol")
    assert rows(database, "SELECT count(*) FROM relations") == [(0,)]
    assert rows(database, "SELECT count(*) FROM mentions") == [(2,)]


def test_a_pair_has_no_direction(database: Database, submit: Remember) -> None:
    submit("We met Anna with Carla")
    submit("We met Carla with Anna")
    assert rows(database, "SELECT type, strength FROM relations") == [("related_to", 0.3)]
    assert rows(database, "SELECT count(*) FROM relation_evidence") == [(2,)]


def test_what_was_said_becomes_a_constraint_once_it_is_decided(database: Database, submit: Remember) -> None:
    submit("Has Anna decided to use tabs?")
    before = rows(database, "SELECT content, kind FROM attributes")
    submit("So Anna decided to use tabs")
    assert before == [("decided to use tabs", "attribute")]
    assert rows(database, "SELECT content, kind, importance FROM attributes") == [
        ("decided to use tabs", "constraint", 0.85)
    ]


# One transaction


def test_when_a_step_fails_nothing_of_the_memory_is_there(
    database: Database, submit: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("core.pipeline.database.jobs.Jobs.enqueue", failing)
    with pytest.raises(Exception, match="disk"):
        submit("We met Anna with Carla")
    monkeypatch.undo()
    assert count_raw(database) == 0
    assert not any(knowledge(database).values())
    assert submit("We met Anna with Carla").status == "queued"


@pytest.mark.slow
def test_nothing_can_be_asked_of_a_model_while_a_text_is_taken_in(
    submit: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "core.pipeline.database.jobs.Jobs.enqueue", lambda *_, **__: assert_outside_transaction("a call")
    )
    with pytest.raises(CallInsideTransactionError):
        submit("We use tabs")


def test_of_many_that_say_the_same_at_once_one_is_the_first(database: Database, tmp_path: Path) -> None:
    others = [database, Database.open(tmp_path)]

    def take_in(number: int) -> Ingested:
        return store_submission(
            others[number % 2], ON, Submission("We met Anna"), raw_id=f"raw-{number}", now=number
        )

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(take_in, range(16)))
    others[1].close()
    (first,) = (one.raw_id for one in done if one.status == "queued")
    assert {one.duplicate_of for one in done} == {"", first}
    assert rows(database, "SELECT target FROM jobs") == [(first,)]
    assert rows(database, "SELECT target FROM mentions") == [(first,)]


# Transcripts


@vectors("transcripts")
def test_vectors_of_transcripts(
    database: Database, submit: Remember, monkeypatch: pytest.MonkeyPatch, vector: dict[str, Any]
) -> None:
    given, expected = vector["input"], vector["expected"]
    if "write_same_session_twice" in given:
        for number, text in enumerate(given["write_same_session_twice"]):
            submit(f"Text {number}", session="s", transcript=text)
        kept = database.reading.transcripts.of_sessions(["s"])["s"]
        assert {"content": kept.content, "revisions": list(kept.revisions)} == expected
    elif "remember" in given:
        ingested = submit("We use tabs", transcript=given["remember"]["transcript"])
        assert bool(rows(database, "SELECT * FROM transcripts")) == expected["written"]
        assert "the name of a session" in ingested.warning
    elif "recall" in given:
        sessions = given["recall"]["sessions"]
        for number, session in enumerate(sessions):
            submit(f"Text {number}", session=session, transcript=f"talk of {session}")
        asked: list[str] = []
        database.reading.connection.set_trace_callback(asked.append)
        found = database.reading.transcripts.of_sessions(sessions)
        database.reading.connection.set_trace_callback(None)
        assert (len(asked), len(found)) == (expected["lookups"], expected["distinct_keys"])
    else:
        assert given == {"memory_tx_ok_transcript_tx_fails": True}
        monkeypatch.setattr(
            "core.pipeline.database.texts.Transcripts.keep",
            lambda *_, **__: (_ for _ in ()).throw(sqlite3.OperationalError("disk full")),
        )
        ingested = submit("We use tabs", session="s", transcript="talk")
        assert stored(database, ingested.raw_id).content == "We use tabs"
        assert "disk full" in ingested.warning


def test_the_transcript_of_a_repetition_is_kept_too(database: Database, submit: Remember) -> None:
    submit("We use tabs", session="s1")
    submit("We use tabs", session="s2", transcript="talk")
    assert set(database.reading.transcripts.of_sessions(["s1", "s2"])) == {"s2"}
