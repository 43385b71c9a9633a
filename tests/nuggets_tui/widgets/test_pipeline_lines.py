"""Rows and texts of the Pipeline screen: harmless whatever they hold, and saying what became of each fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import pytest
from kits.app_kit import NOW
from kits.fake_pipeline import AT, CHOSEN, MINUTE, TEXT, make_health, make_job, make_proposal, make_raw
from textual.content import Content

from core.pipeline.modes import Mode
from core.pipeline.records import (
    Document,
    HistoryRow,
    JobStatus,
    PipelineState,
    PipelineStatus,
    ProposalReason,
    ProposalStatus,
)
from nuggets_tui.pipeline_status import STATUS_ICONS, WORDS, indicator_of
from nuggets_tui.pipeline_words import (
    REASONS,
    STATES,
    age,
    author_name,
    job_state,
    model_state,
    outcomes,
    stamp,
    until,
)
from nuggets_tui.widgets import pipeline_details as details
from nuggets_tui.widgets.pipeline_details import health_rows, proposal_row, work_rows
from nuggets_tui.widgets.row_list import Row

WIDTHS = (4, 20, 31, 66, 120)


def row_text(row: Row, width: int) -> str:
    """A row as it is drawn."""
    lines = [line(width) if callable(line) else line for line in row.lines]
    assert all(line.cell_length <= max(width, 4) for line in lines if width > 8)
    return "\n".join(line.plain for line in lines)


def plain(lines: Sequence[Content]) -> str:
    """Lines as text, the breaks of the width taken out."""
    return " ".join(" ".join(line.plain for line in lines).split())


def make_status(**fields: Any) -> PipelineStatus:
    """How a pipeline stands that has nothing to do."""
    known: dict[str, Any] = {
        "mode": Mode.SHADOW,
        "frozen": False,
        "light": PipelineState.IDLE,
        "why": "nothing to do",
    }
    return PipelineStatus(**(known | fields))


def make_row(event: str, proposal: str, text: str, reason: str = "") -> HistoryRow:
    """A row of the audit."""
    return HistoryRow(
        1, AT, event, "pipeline-v2", reason, "raw-1", proposal, "", "", "", text, "m", "1", None
    )


def test_the_sentence_that_a_fact_comes_from_is_marked_in_its_text() -> None:
    start = TEXT.index(CHOSEN)
    (line,) = details.sentence_lines(TEXT, (start, start + len(CHOSEN)))
    assert line.plain == TEXT
    marked = [line.plain[span.start : span.end] for span in line.spans if "underline" in str(span.style)]
    assert marked == [CHOSEN]
    long = "a" * 5_000 + CHOSEN + "b" * 5_000
    (line,) = details.sentence_lines(long, (5_000, 5_000 + len(CHOSEN)), around=10)
    assert line.plain == f"…{'a' * 10}{CHOSEN}{'b' * 10}…"


@pytest.mark.parametrize("span", [None, (5, 2), (-3, 4), (0, 10**9)])
def test_a_text_without_a_sentence_to_mark_is_shown_from_its_beginning(span: tuple[int, int] | None) -> None:
    (line,) = details.sentence_lines(TEXT, span)
    assert line.plain == TEXT


def test_every_state_and_reason_that_the_pipeline_knows_has_its_words() -> None:
    assert set(get_args(ProposalStatus)) == set(STATES)
    assert {str(reason) for reason in ProposalReason} <= set(REASONS)
    assert {str(light) for light in PipelineState} == set(STATUS_ICONS) == set(WORDS)
    for status in get_args(JobStatus):
        assert job_state(make_job(1, status), NOW)


@pytest.mark.parametrize(
    ("light", "said"),
    [
        (PipelineState.OFF, "pipeline off"),
        (PipelineState.IDLE, "pipeline"),
        (PipelineState.WORKING, "pipeline 3"),
        (PipelineState.REVIEW, "2 proposals"),
        (PipelineState.PAUSED, "pipeline paused"),
        (PipelineState.STUCK, "pipeline stuck"),
    ],
)
def test_the_light_says_in_a_few_words_what_it_means(light: PipelineState, said: str) -> None:
    indicator = indicator_of(make_status(light=light, jobs={"pending": 2, "leased": 1}, proposals_open=2))
    assert indicator.text == said
    assert indicator.calm == (light in (PipelineState.OFF, PipelineState.IDLE, PipelineState.WORKING))


def test_what_came_of_a_text_is_said_fact_by_fact() -> None:
    rows = (
        make_row("none", "one", "Kept."),
        make_row("created", "one", "Kept.", "extracted-fact"),
        make_row("none", "two", "Doubtful.", "low_fact_confidence"),
        make_row("none", "three", "Proposed.", "shadow"),
        make_row("refused", "three", "Proposed.", "refused_by_person"),
        make_row("none", "four", "Accepted.", "shadow"),
        make_row("accepted", "four", "Accepted."),
        make_row("created", "four", "Accepted."),
        make_row("entities_merged", "", "other"),
    )
    assert outcomes(rows) == (
        ("Kept.", "written", True),
        ("Doubtful.", "not sure enough to be written without you", False),
        ("Proposed.", "refused", False),
        ("Accepted.", "written", True),
    )
    said = plain(details.job_lines(make_job(1, "completed", completed_at=AT), make_raw(), rows, NOW, 200))
    assert "✓ Kept. written" in said
    assert "– Doubtful. not sure enough" in said
    nothing = plain(details.job_lines(make_job(1, "completed", completed_at=AT), make_raw(), (), NOW, 200))
    assert "no facts found in it" in nothing


def test_jobs_stand_under_headings_with_what_needs_a_person_before_what_waits() -> None:
    states = ("completed", "pending", "dead", "held", "leased")
    rows = work_rows([make_job(n, state) for n, state in enumerate(states)], NOW)
    headings = [row.key.removeprefix("heading ") for row in rows if not row.selectable]
    assert headings == ["Running", "Dead", "Waiting", "Held", "Done"]


def test_times_far_off_the_calendar_are_no_times() -> None:
    assert stamp(None) == ""
    assert stamp(10**18) == ""
    assert age(AT - 5 * MINUTE, NOW) == "5 min ago"
    assert until(AT + 28_000, NOW) == "in 28 s"
    assert until(AT - 1, NOW) == "now"
    assert until(10**18, NOW) == ""


def test_who_handed_something_in_is_named_as_in_the_audit_log() -> None:
    assert author_name("agent:claude") == "claude"
    assert author_name("person") == "you"
    assert author_name("pipeline-shadow") == "the pipeline in shadow mode"
    assert author_name("somebody") == "somebody"


def test_a_model_that_rests_says_when_it_is_asked_again() -> None:
    health = make_health(state="open", open_until=AT + 30_000)
    assert model_state(health, NOW) == "paused after failures, next try in 30 s"
    assert model_state(health) == "paused after failures"


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


def test_a_proposal_that_was_accepted_and_undone_says_so() -> None:
    undone = make_proposal(1, CHOSEN, status="review", reason=ProposalReason.UNDONE)
    assert "decided and undone" in row_text(proposal_row(undone, NOW), 80)


def test_a_list_of_the_latest_jobs_says_of_how_many() -> None:
    rows = work_rows([make_job(n, "completed") for n in range(3)], NOW, {"completed": 1_200})
    assert "Done the last 3 of 1,200" in " ".join(row_text(rows[0], 60).split())
    (heading, *_) = work_rows([make_job(1, "completed")] * 3, NOW, {"completed": 3})
    assert "Done 3" in " ".join(row_text(heading, 60).split())


def test_a_document_whose_job_failed_so_far_says_why_and_when_it_is_tried_again() -> None:
    document = Document(
        "doc-1", "url", "https://example.com/x", "", "text/html", "extracting", "", 0, 0, 0, "n", "", "person", "", "",
        AT, AT, None, None,
    )  # fmt: skip
    job = make_job(
        1, type="document_ingest", target="doc-1", attempts=1, run_after=AT + 60_000, error="HTTP 503"
    )
    said = plain(details.document_lines(document, NOW, 60, job=job))
    assert said.count("https://example.com/x") == 1
    assert "its job: try 2 of 3 in" in said
    assert "HTTP 503" in said


def test_where_no_model_is_configured_the_health_says_so_and_names_none() -> None:
    status = PipelineStatus(
        Mode.SHADOW, False, PipelineState.IDLE, "", provider=make_health(name="none", model="", state="off")
    )
    rows = {row.key: row_text(row, 80) for row in health_rows(status, None, NOW)}
    assert rows["model"].split() == ["Model", "not", "configured"]
    said = [str(line) for line in details.health_lines(status, NOW, 80)]
    assert said[said.index("Model") + 1] == "not configured"
