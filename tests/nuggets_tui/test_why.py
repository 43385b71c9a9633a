"""An explanation in words says what keeps a note out or puts it where it is, and its numbers add up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.app_kit import small_memory

from core.memory import Memory
from core.search import Filters
from core.search.query_syntax import parse_question
from core.search.results import ScoreReason
from nuggets_tui.why import SearchRequest, Why, neighbours, why

SHOWN = 10


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A small memory."""
    return small_memory(tmp_path / "memory")


def ask(memory: Memory, query: str, title: str, filters: Filters | None = None, shown: int = SHOWN) -> Why:
    """The answer to why a note of a title is, or is not, among the hits."""
    note = next(note for note in memory.snapshot.notes if note.title == title)
    explanation = memory.search.explain(query, note.id, filters, shown=shown)
    assert explanation is not None
    hits = memory.search(query, shown, filters)
    asked = SearchRequest(parse_question(query), datetime.now(UTC), filters=filters, shown=hits)
    return why(explanation, asked, lambda id: memory.snapshot.by_id[id].title)


def test_a_hit_is_told_its_rank_and_its_parts_add_up(memory: Memory) -> None:
    answer = ask(memory, "jwt tokens", "JWT token format")
    assert answer.is_hit
    assert answer.outcome == "Hit 1 of 2."
    assert [line.name for line in answer.lines] == ["words", "vector", "boost"]
    assert sum(line.value for line in answer.lines) == pytest.approx(answer.blend)
    for line in answer.lines:
        assert sum(given.value for given in line.given) == pytest.approx(line.value)


def test_a_note_that_conditions_alone_admit_has_no_score_to_take_apart(memory: Memory) -> None:
    answer = ask(memory, "tag:redis", "Session store")
    assert answer.is_hit
    assert "meets every condition" in answer.outcome
    assert not answer.lines
    assert not answer.sentences


def test_a_note_that_is_kept_out_is_told_where_it_would_stand(memory: Memory) -> None:
    out = ask(memory, "jwt tokens -rs256", "JWT token format")
    assert any(
        sentence.startswith("With a score of ") and "it would be hit 1 of 2" in sentence
        for sentence in out.sentences
    )
    only = ask(memory, "redis -hour", "Session store")
    assert any("it would be the only hit" in sentence for sentence in only.sentences)


def test_neighbours_keep_the_reading_that_gives_most() -> None:
    reasons = [
        ScoreReason("text", "spelling", "tokn", "token", 0.3),
        ScoreReason("vector", "form", "tokens", "token", 0.1),
        ScoreReason("vector", "word", "auth", "auth", 0.4),
    ]
    assert neighbours(reasons) == {"token": "tokn"}
