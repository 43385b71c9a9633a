from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.writes_kit import CONTROLLED, FULL, SHADOW

from core.pipeline.decide import ACTIONS, Action
from core.pipeline.modes import Mode, mode
from core.pipeline.records import ProposalReason
from core.pipeline.writes.committing import Ruling, ruling
from core.settings.pipeline_sections import PipelineConfiguration

LEAST = 0.7
cases = st.fixed_dictionaries(
    {
        "action": st.sampled_from(ACTIONS),
        "confidence": st.floats(0, 1),
        "normalised": st.sampled_from(["", "anna likes tea"]),
        "grounded": st.booleans(),
        "contradictory": st.booleans(),
        "pinned": st.booleans(),
        "repeats": st.booleans(),
        "order": st.booleans(),
    }
)


def _ruling(mode: Mode, action: Action = "add", **case: Any) -> Ruling:
    given: dict[str, Any] = {"confidence": 1.0, "normalised": "anna likes tea"} | case
    return ruling(action, mode, LEAST, **given)


@given(cases, st.sampled_from([Mode.SHADOW, Mode.CONTROLLED_WRITE, Mode.FULL]))
def test_only_a_sure_grounded_addition_is_written_without_a_person(case: dict[str, Any], mode: Mode) -> None:
    rule = _ruling(mode, **case)
    written = (
        mode is not Mode.SHADOW
        and case["action"] == "add"
        and case["confidence"] >= LEAST
        and bool(case["normalised"])
        and case["grounded"]
        and not case["order"]
    )
    assert (rule.status == "applied") is written
    assert (rule.reason is ProposalReason.WRITTEN) is written
    if rule.status == "review":
        assert rule.review_needed


@pytest.mark.parametrize(
    ("configuration", "status", "reason"),
    [
        (SHADOW, "proposed", ProposalReason.SHADOW),
        (CONTROLLED, "blocked", ProposalReason.DESTRUCTIVE_DISABLED),
        (FULL, "review", ProposalReason.DESTRUCTIVE_REVIEW),
    ],
)
@pytest.mark.parametrize("action", ["update", "delete"])
def test_updates_and_deletions_are_never_carried_out_by_themselves(
    configuration: PipelineConfiguration, status: str, reason: ProposalReason, action: Action
) -> None:
    rule = _ruling(mode(configuration), action)
    assert (rule.status, rule.reason) == (status, reason)


def test_a_contradiction_asks_for_a_look_also_where_the_change_is_blocked() -> None:
    case: dict[str, Any] = {"action": "update", "contradictory": True}
    assert _ruling(Mode.CONTROLLED_WRITE, **case) == (
        "blocked",
        ProposalReason.DESTRUCTIVE_DISABLED,
        True,
    )
    assert _ruling(Mode.FULL, **case) == ("review", ProposalReason.CONTRADICTION, True)
    assert _ruling(Mode.SHADOW, **case).review_needed


def test_confidence_is_no_gate_in_shadow() -> None:
    assert _ruling(Mode.SHADOW, confidence=0.1) == (
        "proposed",
        ProposalReason.SHADOW,
        False,
    )


def test_what_no_sentence_says_and_what_tells_somebody_what_to_do_waits_and_says_which() -> None:
    for grounded, order, reason in (
        (False, False, ProposalReason.UNGROUNDED),
        (True, True, ProposalReason.INSTRUCTION),
    ):
        case: dict[str, Any] = {"grounded": grounded, "order": order}
        assert _ruling(Mode.CONTROLLED_WRITE, **case) == ("review", reason, True)
        assert _ruling(Mode.SHADOW, **case) == ("proposed", ProposalReason.SHADOW, True)


def test_the_gate_before_the_very_text_that_is_stored_says_duplicate() -> None:
    for current in (Mode.SHADOW, Mode.CONTROLLED_WRITE):
        assert _ruling(current, "none", repeats=True)[:2] == (
            "deduped",
            ProposalReason.DUPLICATE,
        )
        assert _ruling(current, "none")[:2] == ("none", ProposalReason.NOTHING_NEW)
