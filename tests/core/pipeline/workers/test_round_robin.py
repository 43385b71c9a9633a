"""Taking turns among types of jobs."""

from __future__ import annotations

from core.pipeline.records import JobType
from core.pipeline.workers.runner import RoundRobin

EXTRACT: JobType = "extract"
CLASSIFY: JobType = "structural_classify"


def test_types_that_both_have_work_take_turns() -> None:
    rounds, served = RoundRobin((EXTRACT, CLASSIFY)), []
    for _ in range(4):
        turn = rounds.turns({EXTRACT, CLASSIFY})[0]
        rounds.served(turn)
        served.append(turn)
    assert served == [EXTRACT, CLASSIFY, EXTRACT, CLASSIFY]


def test_a_type_without_work_is_passed_over_and_keeps_its_turn() -> None:
    rounds = RoundRobin((EXTRACT, CLASSIFY))
    rounds.served(rounds.turns({CLASSIFY})[0])
    rounds.served(rounds.turns({CLASSIFY})[0])
    assert rounds.turns({EXTRACT, CLASSIFY}) == (EXTRACT, CLASSIFY)
    assert rounds.turns(()) == ()
