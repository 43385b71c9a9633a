"""Documents on their way to a search: found again, replaced whole, gone on with after a kill, never fetched twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kits.faults import end_before_step
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, chunks_of, configure, drain
from kits.web_server import page, web_server
from kits.writes_kit import parrot

from core.errors import AmbiguousError, InvalidInputError, NotFoundError
from core.model.change import PERSON
from core.pipeline import documents as document_job
from core.pipeline.database.connection import Database
from core.pipeline.document_text import DocumentError, Fault
from core.pipeline.models.provider import ModelUnavailableError
from core.pipeline.records import Document
from core.pipeline.service import Pipeline

Opened = Callable[..., Pipeline]
VECTORS = {
    one["id"].partition(".")[2]: one
    for one in json.loads((Path(__file__).parents[1] / "vectors" / "documents.json").read_text("utf-8"))
}
SMALL = "[pipeline.documents]\nchunk_size = 200\nchunk_overlap = 20"


def words(count: int, tag: str = "w") -> bytes:
    return " ".join(f"{tag}{number}" for number in range(count)).encode()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    pipelines: list[Pipeline] = []
    numbers = iter(range(1, 1_000_000))

    def made(lines: str = SMALL, clock: Clock | None = None, **given: Any) -> Pipeline:
        given.setdefault("provider", parrot())
        pipeline = Pipeline.open(
            configure(tmp_path / "memory", lines), author=PERSON, clock=clock or Clock(),
            ids=lambda: f"{next(numbers):016x}", chance=lambda: 0.0, name="worker", **given,
        )  # fmt: skip
        pipelines.append(pipeline)
        return pipeline

    yield made
    for pipeline in pipelines:
        pipeline.close()


def indexed(pipeline: Pipeline, *given: Any, **named: Any) -> Document:
    added = pipeline.documents.add(*given, **named)
    drain(pipeline)
    return pipeline.documents.get(added.document.id)


def found(pipeline: Pipeline, query: str) -> list[str]:
    return [hit.document_id for hit in pipeline.documents.search(query)]


def rows(pipeline: Pipeline, table: str) -> int:
    return int(pipeline.database.reading.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_a_file_is_read_cut_and_found_by_its_words(opened: Opened) -> None:
    pipeline = opened()
    done = indexed(pipeline, "file", "/notes/plan.md", b"# The Plan\n\n" + words(200) + b" quetzal")
    assert (done.status, done.title, done.chunks) == ("done", "The Plan", done.chunks_written)
    assert done.chunks > 3
    (hit,) = pipeline.documents.search("Quetzal?")
    wanted = VECTORS["06"]["expected"]
    assert (hit.type, hit.importance) == (wanted["type"], wanted["importance"])
    assert hit.tag == wanted["tag"].replace("<title>", "The Plan")
    assert hit.text.endswith("quetzal")
    assert hit.score == 1.0
    assert pipeline.documents.text(done.id).endswith("quetzal")


@pytest.mark.parametrize("query", ["数据", "数据库", "CAFE", "postgresql", "café"])
def test_words_of_any_script_are_found_as_a_search_spells_them(opened: Opened, query: str) -> None:
    pipeline = opened()
    done = indexed(pipeline, "text", "", "我们使用 PostgreSQL 数据库. Meet at the Café.".encode())
    assert found(pipeline, query) == [done.id]


def test_a_text_that_stands_twice_is_stored_once_and_is_one_hit(opened: Opened) -> None:
    pipeline = opened("[pipeline.documents]\nchunk_size = 200\nchunk_overlap = 0")
    line = (b"x" * 99 + b"\n") * 2
    one = indexed(pipeline, "text", "", line + line)
    assert (one.chunks, rows(pipeline, "chunks")) == (2, VECTORS["03"]["expected"]["memory_rows"])
    before = rows(pipeline, "chunks")
    other = indexed(pipeline, "file", "/other", line + b"more words")
    assert other.status == "done"
    assert rows(pipeline, "chunks") - before == VECTORS["04"]["expected"]["rows_added"] + 1
    assert sorted(found(pipeline, "x" * 99)) == sorted((one.id, other.id))


def test_the_same_document_is_known_and_a_changed_one_takes_its_place_when_it_is_whole(
    opened: Opened,
) -> None:
    pipeline = opened()
    first = indexed(pipeline, "file", "/a.txt", b"alpha " + words(90))
    assert pipeline.documents.add("file", "/a.txt", b"alpha " + words(90)).outcome == "known"
    assert pipeline.documents.add("file", "/copy.txt", b"alpha " + words(90)).document.id == first.id
    changed = pipeline.documents.add("file", "/a.txt", b"omega " + words(90))
    assert (changed.outcome, changed.replaces) == ("changed", first.id)
    pipeline.tick()
    assert (found(pipeline, "alpha"), found(pipeline, "omega")) == ([first.id], [])
    drain(pipeline)
    assert (found(pipeline, "alpha"), found(pipeline, "omega")) == ([], [changed.document.id])
    assert pipeline.documents.get(first.id).replaced_by == changed.document.id
    # And back again: what is in the file counts.
    back = pipeline.documents.add("file", "/a.txt", b"alpha " + words(90))
    drain(pipeline)
    assert found(pipeline, "alpha") == [back.document.id]


def test_a_removed_document_is_found_no_more_keeps_its_text_and_comes_back(opened: Opened) -> None:
    pipeline = opened()
    done = indexed(pipeline, "text", "", b"the quetzal sings")
    pipeline.documents.remove(done.id)
    assert (found(pipeline, "quetzal"), pipeline.documents.all()) == ([], ())
    assert pipeline.documents.text(done.id) == "the quetzal sings"
    with pytest.raises(NotFoundError):
        pipeline.documents.remove(done.id)
    pipeline.documents.restore(done.id)
    assert found(pipeline, "quetzal") == [done.id]
    pipeline.documents.remove(done.id[:12])
    assert pipeline.documents.add("text", "", b"the quetzal sings").outcome == "restored"
    assert found(pipeline, "quetzal") == [done.id]
    events = [row.event for row in pipeline.history(done.id)]
    assert events == [
        "document_added", "document_removed", "document_restored", "document_removed", "document_restored",
    ]  # fmt: skip


def test_a_replaced_version_can_be_brought_back(opened: Opened) -> None:
    pipeline = opened()
    first = indexed(pipeline, "file", "/a", b"alpha")
    later = indexed(pipeline, "file", "/a", b"omega")
    pipeline.documents.restore(first.id)
    assert (found(pipeline, "alpha"), found(pipeline, "omega")) == ([first.id], [])
    assert pipeline.documents.get(later.id).replaced_by == first.id


def test_one_removed_before_it_is_read_is_read_once_it_is_back(opened: Opened) -> None:
    pipeline = opened()
    added = pipeline.documents.add("text", "", b"the quetzal sings").document
    pipeline.documents.remove(added.id)
    drain(pipeline)
    assert found(pipeline, "quetzal") == []
    pipeline.documents.restore(added.id)
    drain(pipeline)
    assert found(pipeline, "quetzal") == [added.id]


def test_a_document_is_named_by_its_id_path_or_title_and_only_if_that_is_clear(opened: Opened) -> None:
    pipeline = opened()
    one = indexed(pipeline, "file", "/a", b"alpha", title="Notes")
    indexed(pipeline, "file", "/b", b"omega", title="Notes")
    assert pipeline.documents.get("/a").id == pipeline.documents.get(one.id).id == one.id
    with pytest.raises(AmbiguousError):
        pipeline.documents.remove("Notes")
    for said in ("", "nothing", "%"):
        with pytest.raises(NotFoundError):
            pipeline.documents.get(said)


def test_what_is_too_large_or_bears_no_name_is_refused_with_nothing_stored(opened: Opened) -> None:
    pipeline = opened("[pipeline.documents]\nmax_content_bytes = 1024")
    with pytest.raises(DocumentError, match="Content too large: 1025 bytes exceeds 1024 limit"):
        pipeline.documents.add("file", "/a", b"x" * 1025)
    with pytest.raises(InvalidInputError):
        pipeline.documents.add("text", "", b"x", nugget="../evil")
    with pytest.raises(DocumentError):
        pipeline.documents.add("url", "http://me:pw@site.test/")
    assert rows(pipeline, "documents") == rows(pipeline, "jobs") == 0


# Pages


def test_a_page_is_fetched_once_and_a_look_that_finds_nothing_new_changes_nothing(opened: Opened) -> None:
    said = [b"<title>Birds</title><p>The quetzal sings."]
    with web_server(lambda path, connection: page(said[0])) as server:
        pipeline = opened(network=server.network)
        first = indexed(pipeline, "url", "http://site.test/birds#top")
        assert (first.title, first.source, first.status) == ("Birds", "http://site.test/birds", "done")
        again = pipeline.documents.add("url", "http://site.test/birds")
        assert (again.outcome, again.replaces) == ("changed", first.id)
        drain(pipeline)
        assert pipeline.documents.get(again.document.id).status == "unchanged"
        assert found(pipeline, "quetzal") == [first.id]
        said[0] = b"<p>The tucan sings."
        third = indexed(pipeline, "url", "http://site.test/birds")
        assert (found(pipeline, "quetzal"), found(pipeline, "tucan")) == ([], [third.id])
        assert server.asked == ["/birds"] * 3


def test_a_page_that_cannot_be_had_fails_with_its_reason_and_leaves_the_former_one(opened: Opened) -> None:
    answers = [page(b"<p>The quetzal sings."), page(status="404 Gone fishing")]
    with web_server(lambda path, connection: answers[0]) as server:
        pipeline = opened(network=server.network)
        first = indexed(pipeline, "url", "http://site.test/")
        answers.pop(0)
        later = indexed(pipeline, "url", "http://site.test/")
        assert (later.status, later.error) == ("failed", "site.test: Fetch failed: 404 Not Found")
        assert found(pipeline, "quetzal") == [first.id]
        (dead,) = pipeline.jobs("dead")
        assert (dead.type, dead.attempts, dead.error_class) == ("document_ingest", 1, str(Fault.REFUSED))
        answers.insert(0, page(b"<p>The quetzal is back."))
        pipeline.retry(dead.id)
        drain(pipeline)
        assert found(pipeline, "quetzal") == [later.id]


def test_a_server_that_is_away_is_asked_again_as_often_as_is_set(opened: Opened) -> None:
    clock = Clock()
    with web_server(page(status="503 x")) as server:
        pipeline = opened("[pipeline.worker]\nmax_retries = 2", clock=clock, network=server.network)
        added = pipeline.documents.add("url", "http://site.test/").document
        drain(pipeline)
        assert pipeline.documents.get(added.id).status != "failed"
        clock.forward(seconds=200)
        drain(pipeline)
        assert pipeline.documents.get(added.id).status == "failed"
        assert len(server.asked) == 2


def test_a_document_that_failed_troubles_nobody_once_it_is_removed_and_is_tried_again_once_it_is_back(
    opened: Opened,
) -> None:
    with web_server(page(status="503 x")) as server:
        pipeline = opened("[pipeline.worker]\nmax_retries = 1", network=server.network)
        failed = indexed(pipeline, "url", "http://site.test/")
        assert pipeline.status().jobs == {"dead": 1}
        assert [one.action for one in pipeline.diagnose().recommendations] == ["requeueDeadJobs"]
        pipeline.documents.remove(failed.id)
        assert pipeline.status().jobs == {"completed": 1}
        assert pipeline.jobs()[0].error == ""
        assert "requeueDeadJobs" not in [one.action for one in pipeline.diagnose().recommendations]
        assert pipeline.documents.restore(failed.id).status == "failed"
        drain(pipeline)
        assert pipeline.status().jobs == {"completed": 1, "dead": 1}


# Work


def test_the_states_are_seen_in_their_order_with_how_far_it_is(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_job, "_AT_ONCE", 2)
    monkeypatch.setattr(document_job, "_IN_A_TURN", 1)
    pipeline = opened()
    added = pipeline.documents.add("text", "", words(300)).document
    seen: list[tuple[str, int, int]] = []
    while not seen or seen[-1][0] != "done":
        one = pipeline.documents.get(added.id)
        seen.append((one.status, one.chunks_written, one.chunks))
        if one.status != "done":
            pipeline.tick()
    chunks = seen[-1][2]
    assert chunks > 4
    assert [status for status, _, _ in seen[:3]] == ["queued", "chunking", "indexing"]
    assert [written for _, written, _ in seen[2:]] == [*range(2, chunks, 2), chunks, chunks][: len(seen) - 2]
    assert {total for _, _, total in seen[1:]} == {chunks}


@pytest.mark.slow
def test_a_long_document_keeps_no_other_waiting(opened: Opened) -> None:
    clock = Clock()
    pipeline = opened(clock=clock)
    pipeline.documents.add("text", "", words(40_000))
    short = pipeline.documents.add("text", "", b"the quetzal sings").document
    for _ in range(6):
        clock.forward(seconds=1)
        pipeline.tick()
    assert pipeline.documents.get(short.id).status == "done"


def test_documents_are_indexed_while_the_model_is_away_or_there_is_none(opened: Opened) -> None:
    class Away(ScriptedModel):
        def available(self) -> Any:
            raise ModelUnavailableError("away")

    for number, given in enumerate(({"provider": Away([])}, {})):
        lines = '[pipeline.extraction]\nprovider = "none"' if not given else ""
        pipeline = opened(lines, **(given or {"provider": None}))
        done = indexed(pipeline, "text", "", f"quetzal number {number}".encode())
        assert done.status == "done"


def test_while_frozen_a_document_waits_and_off_it_does_too(opened: Opened) -> None:
    pipeline = opened("mutations_frozen = true")
    added = pipeline.documents.add("text", "", b"the quetzal sings").document
    drain(pipeline)
    assert pipeline.documents.get(added.id).status == "queued"
    configure(pipeline.home, "enabled = false")
    drain(pipeline)
    assert pipeline.documents.get(added.id).status == "queued"
    configure(pipeline.home, "")
    drain(pipeline)
    assert pipeline.documents.get(added.id).status == "done"


def test_facts_are_extracted_where_a_setting_says_so_and_only_once(opened: Opened) -> None:
    pipeline = opened("[pipeline.documents]\nextract_facts = true")
    done = indexed(pipeline, "text", "", b"Anna runs the staging server.", nugget="shop")
    raw = pipeline.raw(done.raw_id)
    assert (raw.source_type, raw.nugget, raw.status) == ("document", "shop", "extracted")
    assert [note.nugget_name for note in pipeline.memory.snapshot.notes] == ["shop"]
    pipeline.documents.remove(done.id)
    drain(pipeline)
    assert len(pipeline.memory.snapshot.notes) == 1
    plain = indexed(opened(), "text", "", b"Ben likes the dashboard.")
    assert plain.raw_id == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_killed_at_any_step_it_goes_on_with_the_next_chunk(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_job, "_AT_ONCE", 2)
    monkeypatch.setattr(document_job, "_IN_A_TURN", 1)
    text = words(120) + b" quetzal"
    pipeline = opened()
    whole = indexed(pipeline, "file", "/whole", text)
    wanted = chunks_of(pipeline.database, whole.id)
    pipeline.close()
    clock, killed = Clock(), 0
    for step in range(0, 60, 3):
        name = f"/{step}"
        child = os.fork()
        if child == 0:
            try:
                end_before_step(step, (Database, "write"))
                with opened(clock=clock) as dying:
                    indexed(dying, "file", name, name.encode() + b" " + text)
            finally:
                os._exit(0)
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        # The lease of the one that was killed runs out.
        clock.forward(minutes=11)
        with opened(clock=clock) as next_one:
            done = indexed(next_one, "file", name, name.encode() + b" " + text)
            stored = next_one.database.reading.documents
            assert done.status == "done"
            assert len(chunks_of(next_one.database, done.id)) == done.chunks
            assert stored.text_of(done.id) == (name.encode() + b" " + text).decode()
            assert chunks_of(next_one.database, done.id)[-1] == wanted[-1] or done.chunks >= len(wanted)
            assert found(next_one, f"quetzal {step}")
    assert killed > 6
