"""Runs the rules: over a snapshot for the findings, over a draft to repair what can be repaired."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from core.model.draft import Draft
from core.model.progress import Progress
from core.model.snapshot import Snapshot
from core.verify.facts import RULES as FACT_RULES
from core.verify.finding import Finding, RepairableFinding
from core.verify.notes import CORRECTED, ONLY_REPORTED, files
from core.verify.view import VerifyView

Rule = Callable[[VerifyView], Iterator[RepairableFinding]]

# In this order: each leaves nothing to the ones before it.
RULES: Final[tuple[Rule, ...]] = (*ONLY_REPORTED, *FACT_RULES, *CORRECTED)


def findings(snapshot: Snapshot, progress: Progress | None = None) -> list[Finding]:
    """Everything that is not right in a memory, rule by rule, each in file order. progress: told how many of the rules
    are through.
    """
    view = VerifyView(snapshot)
    if snapshot.graph_problem:
        # Of facts without their notes nothing can be said.
        return [repairable.finding for repairable in files(view)]
    found: list[Finding] = []
    for count, rule in enumerate(RULES):
        if progress is not None:
            progress(count, len(RULES))
        found += [repairable.finding for repairable in rule(view)]
    return found


def repair(draft: Draft) -> None:
    """Lays every repair over a fresh draft. Nothing is lost: what gives way waits in a hidden note.

    Verifying the memory afterwards finds nothing that has a repair.
    """
    view = VerifyView(draft.present())
    for rule in RULES:
        former: list[Finding] = []
        while (repaired := _repair(draft, rule(view))) != former:
            former, view = repaired, VerifyView(draft.present())


def _repair(draft: Draft, repairables: Iterator[RepairableFinding]) -> list[Finding]:
    """Mends what a rule found, of each group the first; gives what it repaired."""
    groups: set[tuple[str, ...]] = set()
    repaired: list[Finding] = []
    # All are found first: the rule looks at a view that does not change while it is being repaired.
    for repairable in list(repairables):
        if repairable.apply_repair is not None and repairable.group not in groups:
            groups |= {repairable.group} - {()}
            repairable.apply_repair(draft)
            repaired.append(repairable.finding)
    return repaired
