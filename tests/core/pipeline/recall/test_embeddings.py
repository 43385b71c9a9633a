"""Search with embeddings and reranking: found by meaning, explained, waited for by nobody, and off by itself."""

from __future__ import annotations

import json
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from kits.fake_ollama import FakeOllama, Reply

from core.graph.edits import create_note, edit_note
from core.pipeline.database.connection import Database
from core.pipeline.database.notes import MadeVector
from core.pipeline.meaning import VectorMatrix
from core.pipeline.model_calls import embedder_of
from core.pipeline.service import Pipeline
from core.search import SearchResult
from core.search.signals import waiting
from core.settings import load_settings
from core.workspace import open_memory
from nuggets_tui.cli import program

NOTES = (
    "Payments|All invoices are settled through Acme.",
    "Rollback|The previous release is put back with one command.",
    "Lunch|On Fridays the canteen closes early.",
    "Money|The budget of the team is small.",
)
# What each text is about: money, releases, food.
ABOUT = {
    "invoice": 0,
    "settle": 0,
    "remuneration": 0,
    "budget": 0.3,
    "release": 1,
    "undeploy": 1,
    "canteen": 2,
}


def numbers(text: str) -> list[float] | Reply:
    made = [0.01, 0.01, 0.01, 0.05]
    for word, axis in ABOUT.items():
        if word in text.lower():
            made[int(axis)] += 1.0 if axis == int(axis) else 0.5
    return made


class Bench:
    """A memory whose notes are embedded by a server of this process."""

    def __init__(self, home: Path, ollama: FakeOllama) -> None:
        self.home, self.ollama = home, ollama
        self.settings()
        self.memory = open_memory(home)

        def build(draft: Any) -> None:
            for text in NOTES:
                create_note(draft, "shop", *text.split("|"))

        self.memory.change("written", build)
        self.embed()

    def settings(self, more: str = "", embedding: str = "", timeout: int = 5_000) -> None:
        self.home.joinpath("settings.toml").write_text(
            f'[pipeline.extraction]\nendpoint = "{self.ollama.url}"\n[pipeline.embedding]\nmodel = "m"\n'
            f"query_timeout_ms = {timeout}\n{embedding}\n{more}"
        )

    def embed(self) -> None:
        with Pipeline.open(self.home, memory=self.memory) as pipeline:
            for _ in range(50):
                if not pipeline.tick().did_something:
                    break
            found = pipeline.embedding_coverage()
            assert found is not None
            assert found.missing == 0

    def search(self, text: str) -> SearchResult:
        return self.memory.search.result(text)

    def titles(self, text: str) -> list[str]:
        return [hit.note.title for hit in self.search(text).hits]

    def id_of(self, title: str) -> str:
        return next(note.id for note in self.memory.snapshot.notes if note.title == title)

    def queries(self) -> int:
        return sum(call != [] and call[0].islower() and "\n" not in call[0] for call in self.ollama.embedded)


Opened = Callable[..., Bench]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    with ExitStack() as stack:

        def make(vector_of: Any = numbers, **named: Any) -> Bench:
            ollama = stack.enter_context(FakeOllama(models=("m", "order"), vector_of=vector_of, **named))
            bench = Bench(tmp_path, ollama)
            stack.callback(bench.memory.close)
            return bench

        yield make


def kinds(result: SearchResult, title: str) -> list[str]:
    (hit,) = [hit for hit in result.hits if hit.note.title == title]
    return [reason.kind for reason in hit.breakdown.reasons if reason.line == "signals"]


@pytest.mark.slow
def test_a_note_that_shares_no_word_is_found_explained_and_never_claimed(opened: Opened) -> None:
    bench = opened()
    found = bench.search("remuneration")
    assert found.hits[0].note.title == "Payments"
    assert kinds(found, "Payments") == ["embedding", "gravity"]
    assert found.judgement != "found"
    assert not found.more
    parts = found.hits[0].breakdown
    assert sum(reason.value for reason in parts.reasons if reason.line == "signals") == pytest.approx(
        parts.signals
    )
    why = bench.memory.search.explain("remuneration", bench.id_of("Rollback"))
    assert why is not None
    assert why.obstacle == "nothing in common"
    bench.settings(embedding="weight = 0")
    assert bench.titles("remuneration") == []
    bench.home.joinpath("settings.toml").write_text("")
    assert bench.titles("remuneration") == []


def test_a_note_is_lifted_by_its_meaning_and_the_lift_is_a_line_of_its_own(opened: Opened) -> None:
    bench = opened()
    bench.settings(embedding="weight = 0")
    before = {hit.note.title: hit.breakdown.blend for hit in bench.search("team budget").hits}
    bench.settings(embedding="weight = 0.2")
    found = bench.search("team budget")
    (hit,) = [hit for hit in found.hits if hit.note.title == "Money"]
    assert kinds(found, "Money") == ["embedding"]
    assert 0.1 < hit.breakdown.signals <= 0.2
    assert hit.breakdown.blend == pytest.approx(before["Money"] + hit.breakdown.signals)


def test_a_note_that_says_something_else_by_now_is_not_found_by_what_it_said(opened: Opened) -> None:
    bench = opened()
    id = bench.id_of("Payments")
    bench.memory.change("edited", lambda draft: edit_note(draft, id, content="Nothing of that any more."))
    assert "Payments" not in bench.titles("remuneration")


def test_who_types_waits_for_nobody_and_gets_the_same_a_moment_later(opened: Opened) -> None:
    bench = opened()
    with waiting(False):
        found = bench.search("remuneration")
        assert (found.hits, found.more, bench.queries()) == ((), True, 0)
    with waiting(True):
        assert bench.titles("remuneration")[:1] == ["Payments"]
    with waiting(False):
        found = bench.search("remuneration")
        assert [hit.note.title for hit in found.hits][:1] == ["Payments"]
        assert not found.more
    assert bench.queries() == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [Reply(delay=60.0), Reply("busy", status=500), Reply(body='{"embeddings": [[NaN, 1, 1, 1]]}'),
     Reply(body='{"embeddings": [[0, 0, 0, 0]]}'), Reply(body='{"embeddings": [[1.0, 2.0]]}'), Reply(drop="before"),
     Reply(body="<html>")],
    ids=["slow", "error", "NaN", "zero", "other dimensions", "dropped", "no JSON"],
)  # fmt: skip
def test_a_search_is_as_without_embeddings_when_the_model_fails_and_does_not_ask_it_again_at_once(
    opened: Opened, reply: Reply
) -> None:
    bench = opened(lambda text: reply if text.startswith("canteen") else numbers(text))
    bench.settings(timeout=50 if reply.delay else 5_000)
    assert bench.titles("canteen fridays") == ["Lunch"]
    assert bench.titles("canteen closes") == ["Lunch"]
    # A vector that fits no note is one all the same.
    answered = reply.body == '{"embeddings": [[1.0, 2.0]]}'
    assert bench.queries() == 1 + answered or reply.delay


def files(home: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a memory, with the time at which it was written."""
    return {
        str(path.relative_to(home)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file()
    }


RERANKER = '[pipeline.reranker]\nenabled = true\nmodel = "order"\ntimeout_ms = 20000\n'


@pytest.mark.slow
def test_a_search_that_asks_models_writes_nothing(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = opened(by_prompt=ordering)
    bench.settings(RERANKER)
    monkeypatch.setenv("NUGGETS_HOME", str(bench.home))
    bench.memory.close()
    before = files(bench.home)
    done = CliRunner().invoke(program, ["search", "remuneration of the release"])
    assert "Payments" in done.output
    assert (bench.queries(), len(bench.ollama.prompts)) == (1, 1)
    # What the command's connections hold open goes with its process.
    assert {
        path: held for path, held in files(bench.home).items() if not path.endswith(("-shm", "-wal"))
    } == before


def test_a_read_only_memory_is_searched_by_meaning(opened: Opened) -> None:
    bench = opened(by_prompt=ordering)
    bench.settings(RERANKER)
    bench.memory.close()
    paths = [bench.home, *bench.home.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    before = files(bench.home)
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        bench.memory = open_memory(bench.home, reconcile=False)
        assert bench.titles("remuneration")[:1] == ["Payments"]
        assert (bench.queries(), len(bench.ollama.prompts)) == (1, 1)
    finally:
        bench.memory.close()
        for path, mode in modes.items():
            path.chmod(mode)
    assert files(bench.home) == before


@pytest.mark.slow
def test_searches_ask_nobody_who_is_left_alone_and_no_more_than_their_share_of_the_day(
    opened: Opened,
) -> None:
    bench = opened()
    budget = "daily_call_budget = 5\n[pipeline.embedding]\nmodel"

    def spare() -> None:
        text = bench.home.joinpath("settings.toml").read_text()
        bench.home.joinpath("settings.toml").write_text(text.replace("[pipeline.embedding]\nmodel", budget))

    spare()
    identity = embedder_of(load_settings(bench.home).pipeline).identity  # type: ignore[union-attr]
    with closing(Database.open(bench.home)) as database, database.write() as writer:
        now = time.time_ns() // 1_000_000
        writer.calls.failed(identity, now, error="down", error_class="unavailable", open_until=now + 60_000)
    assert bench.titles("remuneration") == []
    assert bench.queries() == 0
    with closing(Database.open(bench.home)) as database, database.write() as writer:
        writer.calls.close_breaker(identity, forget=True)
    # Each is a search in a memory that was opened anew, of one process.
    for count, text in enumerate(("remuneration one", "remuneration two", "remuneration three")):
        with closing(open_memory(bench.home, reconcile=False)) as memory:
            memory.search(text)
        assert bench.queries() == min(count + 1, 2)
    database = Database.open(bench.home)
    rows = database.reading.connection.execute("SELECT purpose FROM llm_calls").fetchall()
    database.close()
    assert {row[0] for row in rows} == {"embedding"}


@pytest.mark.slow
def test_embeddings_put_the_first_hits_in_order(opened: Opened) -> None:
    bench = opened()

    def build(draft: Any) -> None:
        create_note(draft, "shop", "Team invoice", "invoice of the team")
        create_note(draft, "shop", "Team lunch", "canteen of the team team team")

    bench.memory.change("more", build)
    bench.embed()
    bench.settings("[pipeline.reranker]\nenabled = true\n", embedding="weight = 0")
    plain = bench.titles("team")
    bench.settings("[pipeline.reranker]\nenabled = true\ntop_n = 1\n", embedding="weight = 0")
    assert bench.titles("team")[0] in plain


def ordering(prompt: str) -> Any:
    """Puts what speaks of the release first."""
    lines = [line for line in prompt.splitlines() if line.startswith("[")]
    places = sorted(range(len(lines)), key=lambda place: "release" not in lines[place])
    return {"order": [place + 1 for place in places]}


@pytest.mark.slow
def test_a_model_puts_the_first_hits_in_order_once_and_each_is_told(opened: Opened) -> None:
    bench = opened(by_prompt=ordering)
    plain = bench.titles("team release")
    assert plain[0] == "Rollback" or "Rollback" in plain
    words = "the budget of the team, the release"
    bench.settings()
    before = bench.titles(words)
    bench.settings('[pipeline.reranker]\nenabled = true\nmodel = "order"\ntimeout_ms = 20000\n')
    with waiting(False):
        found = bench.search(words)
        assert [hit.note.title for hit in found.hits] == before
        assert found.more
    found = bench.search(words)
    assert found.hits[0].note.title == "Rollback"
    assert sorted(hit.note.title for hit in found.hits) == sorted(before)
    blends = [hit.breakdown.blend for hit in found.hits]
    assert blends == sorted(blends, reverse=True)
    if before[0] != "Rollback":
        assert "rerank" in kinds(found, "Rollback")
    asked = len(bench.ollama.prompts)
    why = bench.memory.search.explain(words, bench.id_of("Rollback"))
    assert why is not None
    assert why.hit.rank == 1
    gone = bench.memory.search.explain(words, bench.id_of("Lunch"))
    assert gone is not None
    assert (gone.obstacle == "") is ("Lunch" in before)
    bench.search(words)
    assert len(bench.ollama.prompts) == asked == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply", [Reply(delay=60.0), Reply("busy", status=500), "no idea", {"order": []}], ids=str
)
def test_a_reranker_that_is_late_or_talks_nonsense_leaves_the_order_and_no_work_goes_on(
    opened: Opened, reply: Any
) -> None:
    bench = opened(by_prompt=lambda prompt: reply)
    before = bench.titles("team release")
    late = isinstance(reply, Reply) and reply.delay > 0
    timeout = 100 if late else 20_000
    bench.settings(f'[pipeline.reranker]\nenabled = true\nmodel = "order"\ntimeout_ms = {timeout}\n')
    assert bench.titles("team release") == before
    assert bench.titles("team release") == before
    assert len(bench.ollama.prompts) == 1 or late


def test_without_a_model_no_module_for_it_is_loaded_and_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("")
    memory = open_memory(tmp_path)
    memory.change("written", lambda draft: create_note(draft, "shop", "One", "says a"))
    with Pipeline.open(tmp_path, memory=memory) as pipeline:
        pipeline.tick()
    for name in ("core.pipeline.meaning", "core.pipeline.meaning"):
        sys.modules.pop(name, None)
    memory.search("says")
    assert "core.pipeline.meaning" not in sys.modules
    memory.close()


def test_the_matrix_follows_the_database_and_takes_four_bytes_a_number(database: Database) -> None:
    matrix, query = VectorMatrix("note"), array("f", [1.0, 0.0])

    def put(*pairs: tuple[str, list[float]]) -> None:
        with database.write() as writer:
            for id, vector in pairs:
                writer.connection.execute("INSERT OR IGNORE INTO note_links VALUES (?, ?, 0, 0)", (id, id))
                writer.embeddings.store("m", MadeVector("note", id, id, array("f", vector)), 1)

    assert matrix.near(database.reading, "m", query) is None
    put(("a", [2.0, 0.0]), ("b", [0.0, 3.0]), ("wide", [1.0, 1.0, 1.0]))
    near = matrix.near(database.reading, "m", query)
    assert near is not None
    assert (near.cosine("a"), near.cosine("b"), near.cosine("wide")) == (1.0, 0.0, None)
    put(("c", [-1.0, 0.0]))
    with database.write() as writer:
        writer.connection.execute("DELETE FROM note_links WHERE note_id = 'a'")
    near = matrix.near(database.reading, "m", query)
    assert near is not None
    assert (near.cosine("a"), near.cosine("b"), near.cosine("c")) == (None, 0.0, -1.0)
    assert near.cosines.dtype == np.float32
    assert matrix.near(database.reading, "other", query) is None
    assert json.dumps(near.targets) == '["b", "c"]'


@pytest.mark.slow
def test_a_part_of_a_document_is_found_by_its_meaning_and_words_still_find_without_the_model(
    opened: Opened,
) -> None:
    bench = opened(lambda text: Reply("busy", status=500) if text == "canteen" else numbers(text))
    with Pipeline.open(bench.home, memory=bench.memory) as pipeline:
        pipeline.documents.add("text", data=b"All invoices are settled on Mondays.", title="Invoices")
        pipeline.documents.add("text", data=b"The canteen has soup.", title="Soup")
    bench.embed()
    with Pipeline.open(bench.home, memory=bench.memory) as pipeline:
        assert [hit.title for hit in pipeline.documents.search("remuneration")] == ["Invoices"]
        assert [hit.title for hit in pipeline.documents.search("soup invoices")][:1] == ["Invoices"]
        assert [hit.title for hit in pipeline.documents.search("canteen")] == ["Soup"]
        pipeline.documents.remove("Invoices")
        assert pipeline.documents.search("remuneration") == ()


def with_documents(bench: Bench) -> None:
    with Pipeline.open(bench.home, memory=bench.memory) as pipeline:
        pipeline.documents.add("text", data=b"Every invoice is settled on Mondays.", title="Invoices")
        pipeline.documents.add("text", data=b"The canteen has soup.", title="Soup")
    bench.embed()


def passages(bench: Bench, text: str) -> list[str]:
    return [one.found.title for one in bench.search(text).passages]


@pytest.mark.slow
def test_a_part_of_a_document_is_found_beside_notes_by_its_meaning_and_takes_no_place(opened: Opened) -> None:
    bench = opened()
    before = bench.titles("remuneration")
    with_documents(bench)
    asked = bench.queries()
    found = bench.search("remuneration")
    assert [hit.note.title for hit in found.hits] == before
    (passage,) = found.passages
    assert (passage.found.title, passage.matched, passage.sure) == ("Invoices", (), False)
    assert 0.0 < passage.blend == passage.words + passage.vector
    assert bench.queries() == asked
    (offered,) = bench.memory.recall("remuneration", record=False).passages
    assert (offered.title, offered.sure) == ("Invoices", False)
    said = CliRunner().invoke(program, ["search", "--home", str(bench.home), "remuneration"]).output
    assert "document Invoices" in said
    with waiting(False):
        assert passages(bench, "remuneration") == ["Invoices"]
        assert passages(bench, "remuneration of others") == []
    bench.settings(embedding="weight = 0")
    assert passages(bench, "remuneration") == []


@pytest.mark.slow
def test_a_part_that_shares_words_gains_by_its_meaning_and_conditions_hold(opened: Opened) -> None:
    bench = opened()
    with_documents(bench)
    bench.settings(embedding="weight = 0")
    (plain,) = bench.search("mondays invoice").passages
    bench.settings()
    (lifted,) = bench.search("mondays invoice").passages
    assert plain.words == lifted.words
    assert plain.blend < lifted.blend
    assert "Invoices" not in passages(bench, "remuneration nugget:other")
    result = bench.memory.search.result("remuneration +soup", syntax=True)
    assert "Invoices" not in [one.found.title for one in result.passages]


@pytest.mark.slow
def test_the_only_document_is_not_found_by_a_meaning_that_most_notes_have_more_of(opened: Opened) -> None:
    bench = opened()

    def build(draft: Any) -> None:
        for number in range(30):
            create_note(draft, "ops", f"Step {number}", f"Release step {number}.")

    bench.memory.change("more", build)
    with Pipeline.open(bench.home, memory=bench.memory) as pipeline:
        pipeline.documents.add("text", data=b"The canteen after a release.", title="Feast")
    bench.embed()
    assert passages(bench, "settle undeploy") == []
    assert passages(bench, "canteen") == ["Feast"]
