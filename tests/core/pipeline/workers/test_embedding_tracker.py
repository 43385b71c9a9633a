"""The embedding tracker: what is due, what a failing text costs the others, outages, kills, and true counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kits.service_kit import Clock, configure

from core.graph.edits import create_note, edit_note, hide_note
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.database.notes import MadeVector
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.models.provider import (
    AVAILABLE,
    Availability,
    Embedded,
    ModelError,
    ModelHttpError,
    vector_of,
)
from core.pipeline.note_linking import text_of
from core.pipeline.service import Pipeline
from core.workspace import Workspace

VECTORS = {
    one["id"]: one
    for one in json.loads((Path(__file__).parents[1] / "vectors" / "embeddings.json").read_text())["embedding_tracker"]
}  # fmt: skip
SETTINGS = '[pipeline.embedding]\nmodel = "m"\n'


class Embedder:
    """A model in this process. answer: the numbers of a text, or an error in place of all answers."""

    name = "scripted"
    model = "m"
    identity = "scripted m"

    def __init__(self, answer: Callable[[str], list[float] | ModelError] | None = None) -> None:
        self.answer = answer or (lambda text: [1.0, float(len(text))])
        self.calls: list[list[str]] = []
        self.there: Availability = AVAILABLE

    def available(self) -> Availability:
        return self.there

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        self.calls.append(list(texts))
        made = [self.answer(text) for text in texts]
        error = next((one for one in made if isinstance(one, ModelError)), None)
        if error is not None:
            raise error
        return Embedded(tuple(map(vector_of, made)))


class Bench:
    """A memory with a pipeline whose embeddings a script makes, and a clock that is moved by hand."""

    def __init__(self, home: Path) -> None:
        self.home, self.clock, self.embedder = home, Clock(), Embedder()
        configure(home).joinpath("settings.toml").write_text(SETTINGS)
        self.memory = Memory.open(home, clock=self.clock)
        self.open()

    def open(self) -> None:
        self.pipeline = Pipeline.open(
            self.home, memory=self.memory, clock=self.clock, embedder=self.embedder, chance=lambda: 0.0
        )

    def settings(self, text: str) -> None:
        self.home.joinpath("settings.toml").write_text(text)

    def write(self, *texts: str) -> None:
        def build(draft: Any) -> None:
            for text in texts:
                create_note(draft, "shop", text.split()[0], text)

        self.clock.forward(seconds=1)
        self.memory.change("written", build)

    def drain(self, most: int = 100) -> None:
        self.clock.forward(minutes=2)
        for _ in range(most):
            if not self.pipeline.tick().did_something:
                return

    def id_of(self, title: str) -> str:
        return next(note.id for note in self.memory.snapshot.notes if note.title == title)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Notes, those that are embedded, those that fail."""
        found = self.pipeline.embedding_coverage()
        assert found is not None
        return found.notes, found.embedded_notes, found.failing

    def stored(self) -> list[tuple[str, str]]:
        with self.pipeline.database.checked_reading() as reader:
            rows = reader.connection.execute("SELECT target, text_hash FROM embeddings WHERE text_hash <> ''")
            return [tuple(row) for row in rows.fetchall()]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.pipeline.close()
    made.memory.close()


def test_all_notes_are_embedded_once_in_batches_and_no_note_twice(bench: Bench) -> None:
    bench.write(*(f"Note{number} says {number}" for number in range(20)))
    bench.drain()
    assert [len(call) for call in bench.embedder.calls] == [8, 8, 4]
    assert bench.counts == (20, 20, 0)
    bench.drain()
    assert len(bench.embedder.calls) == 3


def test_the_newest_notes_go_first(bench: Bench) -> None:
    for text in ("first says a", "second says b", "third says c"):
        bench.write(text)
    bench.settings(f"{SETTINGS}[pipeline.embedding_tracker]\nbatch_size = 1\n")
    bench.drain()
    assert [call[0].split()[0] for call in bench.embedder.calls] == ["third", "second", "first"]


def test_vector_03_another_model_makes_all_anew(bench: Bench) -> None:
    asked = VECTORS["embedding_tracker.03"]["input"]
    bench.settings(f'[pipeline.embedding]\nmodel = "{asked["embedding_model"]}"\n')
    bench.write("one says a")
    bench.drain()
    bench.settings(f'[pipeline.embedding]\nmodel = "{asked["configured"]}"\n')
    assert bench.counts == (1, 0, 0)
    bench.drain()
    assert bench.counts == (1, 1, 0)
    assert len(bench.embedder.calls) == 2
    bench.clock.forward(minutes=2)
    bench.drain()
    with bench.pipeline.database.checked_reading() as reader:
        assert [row[0] for row in reader.connection.execute("SELECT model FROM embeddings")] == ["b"]


def test_vector_04_and_05_a_text_is_embedded_anew_when_it_changes_and_none_is_without_a_hash(
    bench: Bench,
) -> None:
    assert VECTORS["embedding_tracker.04"]["expected"] == {"stale": False}
    assert VECTORS["embedding_tracker.05"]["expected"]["stale"]
    bench.write("one says a", "two says b")
    bench.drain()
    id = bench.id_of("one")
    bench.memory.change("edited", lambda draft: edit_note(draft, id, content="one says c"))
    bench.drain()
    assert [len(call) for call in bench.embedder.calls] == [2, 1]
    assert dict(bench.stored())[id] == content_hash(text_of(bench.memory.snapshot.by_id[id]))
    # Of no note is it unknown what it says: each that lives has its hash.
    with bench.pipeline.database.checked_reading() as reader:
        assert all(reader.note_names.hashes().values())


def test_vector_06_while_the_provider_is_away_nothing_is_asked_and_no_text_is_the_worse_for_it(
    bench: Bench,
) -> None:
    bench.embedder.there = Availability(False, "unreachable", "away")
    bench.write("one says a")
    bench.clock.forward(minutes=2)
    for _ in range(3):
        bench.pipeline.tick()
    assert bench.embedder.calls == []
    assert bench.counts == (1, 0, 0)
    found = bench.pipeline.embedding_coverage()
    assert found is not None
    assert "away" in found.waits
    bench.embedder.there = AVAILABLE
    bench.drain()
    assert bench.counts == (1, 1, 0)


def test_vector_07_of_three_texts_one_fails_two_are_kept_and_one_transaction_writes_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = VECTORS["embedding_tracker.07"]["expected"]
    bench.embedder.answer = lambda text: [float("nan")] if "bad" in text else [1.0, 2.0]
    bench.write("one says a", "two says bad", "three says c")
    bench.clock.forward(minutes=2)
    while not bench.embedder.calls:
        bench.pipeline.tick()
    with bench.pipeline.database.checked_reading() as reader:
        rows = reader.connection.execute("SELECT DISTINCT updated_at FROM embeddings").fetchall()
    assert bench.counts == (3, expected["processed"], expected["failed"])
    assert (len(rows) == 1) is expected["one_write_tx"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        [0.0, 0.0], [float("inf"), 1.0], [1.0, 2.0, 3.0], [],
        ModelHttpError("too long", status=400), ModelHttpError("broken", status=500),
    ],
    ids=["zero", "infinite", "other dimensions", "empty", "refused", "server error"],
)  # fmt: skip
def test_a_text_that_always_fails_never_stands_in_the_way_and_rests_longer_each_time(
    bench: Bench, fault: list[float] | ModelError
) -> None:
    bench.write(*(f"note{number} says {number}" for number in range(9)), "bad says x")
    bench.embedder.answer = lambda text: fault if "bad" in text else [1.0, 2.0]
    bench.drain()
    bench.clock.forward(minutes=1)
    bench.drain()
    assert bench.counts == (10, 9, 1)
    calls = len(bench.embedder.calls)
    for _ in range(24 * 3):
        bench.clock.forward(minutes=20)
        bench.pipeline.tick()
        bench.pipeline.tick()
    assert 0 < len(bench.embedder.calls) - calls <= 30
    bench.write("new says y")
    bench.drain()
    assert bench.counts == (11, 10, 1)
    bench.embedder.answer = lambda text: [1.0, 2.0]
    assert bench.pipeline.reembed() == 1
    assert bench.counts == (11, 11, 0)


def test_one_vector_of_other_dimensions_decides_nothing_even_when_it_comes_first(bench: Bench) -> None:
    bench.embedder.answer = lambda text: [1.0, 2.0, 3.0] if "first" in text else [1.0, 2.0]
    bench.write("first says x")
    bench.drain()
    bench.write(*(f"note{number} says {number}" for number in range(9)))
    bench.drain()
    bench.drain()
    assert bench.counts == (10, 9, 1)


def test_hidden_and_deleted_notes_are_skipped_and_come_back(bench: Bench) -> None:
    bench.write("one says a", "two says b")
    id = bench.id_of("one")
    bench.drain()
    bench.memory.change("hidden", lambda draft: hide_note(draft, id))
    bench.drain()
    assert bench.counts == (1, 1, 0)
    assert [target for target, _ in bench.stored()] == [bench.id_of("two")]
    bench.memory.history.undo()
    bench.drain()
    assert bench.counts == (2, 2, 0)


def test_a_vector_of_a_text_that_changed_meanwhile_is_not_written(database: Database) -> None:
    made = vector_of([1.0])
    assert made is not None
    with database.write() as writer:
        writer.connection.execute("INSERT INTO note_links VALUES ('note-1', 'now', 0, 0)")
        assert not writer.embeddings.store("m", MadeVector("note", "note-1", "before", made), 1)
        assert not writer.embeddings.store("m", MadeVector("note", "gone", "now", made), 1)
        assert writer.embeddings.store("m", MadeVector("note", "note-1", "now", made), 1)
        assert writer.connection.execute("SELECT count(*) FROM embeddings").fetchone()[0] == 1


def test_whoever_dies_after_the_call_leaves_all_as_it_was_and_the_next_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("one says a", "two says b")

    def dies(text: str) -> list[float]:
        raise KeyboardInterrupt

    bench.embedder.answer = dies
    bench.clock.forward(minutes=2)
    with pytest.raises(KeyboardInterrupt):
        bench.drain()
    bench.pipeline.close()
    bench.embedder.answer = lambda text: [1.0, 2.0]
    bench.open()
    bench.drain()
    assert bench.counts == (2, 2, 0)


def test_calls_count_in_the_ledger_and_half_of_the_budget_is_left_to_new_texts(bench: Bench) -> None:
    bench.settings(
        f"{SETTINGS}[pipeline.embedding_tracker]\nbatch_size = 1\n[pipeline.extraction]\ndaily_call_budget = 6\n"
    )
    bench.write(*(f"note{number} says {number}" for number in range(9)))
    bench.drain()
    assert len(bench.embedder.calls) == 3
    with bench.pipeline.database.checked_reading() as reader:
        rows = reader.connection.execute("SELECT purpose, outcome FROM llm_calls").fetchall()
    assert [tuple(row) for row in rows] == [("embedding", "ok")] * 3
    bench.clock.forward(days=1)
    bench.drain()
    assert len(bench.embedder.calls) == 6


def test_a_credential_is_not_sent_and_masking_leaves_no_vector_of_it(bench: Bench) -> None:
    key = "sk-proj-" + "Zq8vKp3Lx9Tn2Wb7Rd5Hs1Jc6Mf4Yg0A"
    bench.write(f"key says api_key={key}", "two says b")
    bench.drain()
    assert not any(key in text for call in bench.embedder.calls for text in call)
    before = dict(bench.stored())[bench.id_of("key")]
    workspace = Workspace(bench.memory)
    workspace.mask_secrets(workspace.masking([bench.id_of("key")]))
    assert before not in bench.home.joinpath("nuggets.db").read_bytes().decode("latin-1")
    bench.drain()
    assert bench.counts == (2, 2, 0)


def test_chunks_of_documents_are_embedded_too(bench: Bench) -> None:
    bench.pipeline.documents.add(
        "text", data=("The cache is emptied at noon. " * 200).encode(), title="Cache"
    )
    bench.drain()
    found = bench.pipeline.embedding_coverage()
    assert found is not None
    assert found.chunks > 1
    assert found.embedded_chunks == found.chunks
    bench.pipeline.documents.remove("Cache")
    found = bench.pipeline.embedding_coverage()
    assert found is not None
    assert found.chunks == 0
