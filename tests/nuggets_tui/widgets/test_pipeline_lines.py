"""Rows and texts of the Pipeline screen: harmless whatever they hold, and saying what became of each fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import pytest
from kits.app_kit import NOW
from kits.fake_pipeline import CHOSEN, TEXT, make_job, make_proposal, make_raw
from textual.content import Content

from core.pipeline.records import (
    JobStatus,
    PipelineState,
    ProposalReason,
    ProposalStatus,
)
from nuggets_tui.pipeline_status import STATUS_ICONS, WORDS
from nuggets_tui.pipeline_words import (
    REASONS,
    STATES,
    job_state,
)
from nuggets_tui.widgets import pipeline_details as details
from nuggets_tui.widgets.pipeline_details import proposal_row, work_rows
from nuggets_tui.widgets.row_list import Row


def row_text(row: Row, width: int) -> str:
    """A row as it is drawn."""
    lines = [line(width) if callable(line) else line for line in row.lines]
    assert all(line.cell_length <= max(width, 4) for line in lines if width > 8)
    return "\n".join(line.plain for line in lines)


def plain(lines: Sequence[Content]) -> str:
    """Lines as text, the breaks of the width taken out."""
    return " ".join(" ".join(line.plain for line in lines).split())


def test_the_sentence_that_a_fact_comes_from_is_marked_in_its_text() -> None:
    start = TEXT.index(CHOSEN)
    (line,) = details.sentence_lines(TEXT, (start, start + len(CHOSEN)))
    assert line.plain == TEXT
    marked = [line.plain[span.start : span.end] for span in line.spans if "underline" in str(span.style)]
    assert marked == [CHOSEN]
    long = "a" * 5_000 + CHOSEN + "b" * 5_000
    (line,) = details.sentence_lines(long, (5_000, 5_000 + len(CHOSEN)), around=10)
    assert line.plain == f"…{'a' * 10}{CHOSEN}{'b' * 10}…"


def test_every_state_and_reason_that_the_pipeline_knows_has_its_words() -> None:
    assert set(get_args(ProposalStatus)) == set(STATES)
    assert {str(reason) for reason in ProposalReason} <= set(REASONS)
    assert {str(light) for light in PipelineState} == set(STATUS_ICONS) == set(WORDS)
    for status in get_args(JobStatus):
        assert job_state(make_job(1, status), NOW)


def test_jobs_stand_under_headings_with_what_needs_a_person_before_what_waits() -> None:
    states = ("completed", "pending", "dead", "held", "leased")
    rows = work_rows([make_job(n, state) for n, state in enumerate(states)], NOW)
    headings = [row.key.removeprefix("heading ") for row in rows if not row.selectable]
    assert headings == ["Running", "Dead", "Waiting", "Held", "Done"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"grounded": False, "span": None}, "not in the text"),
        ({"contradiction": "negation (0.85)", "action": "delete"}, "contradicts a note"),
        ({"action": "update"}, "changes a note"),
        ({"review_needed": True}, "not stated plainly"),
        ({"confidence": 0.4}, "less than 50% sure"),
        ({"fact_confidence": 0.4}, "less than 50% sure"),
    ],
)
def test_in_shadow_mode_too_a_row_warns_of_what_is_to_be_said_against_it(
    fields: dict[str, Any], said: str
) -> None:
    proposal = make_proposal(1, CHOSEN, **fields)
    assert f"! {said}" in row_text(proposal_row(proposal, NOW), 66)
    assert "Shadow mode" not in plain(details.proposal_lines(proposal, make_raw(), None, NOW, 80))
