"""Runs the rules: over a snapshot for the findings, over a draft to mend what can be mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from core.model.draft import Draft
from core.model.progress import Progress
from core.model.snapshot import Snapshot
from core.verify.doubles import repeated_keys, several_notes, shared_ids
from core.verify.drift import (
    differing_values,
    lost_facts,
    lost_files,
    other_keys,
    unnoted_facts,
)
from core.verify.finding import Finding, Trouble
from core.verify.hiding import half_hidden, still_recalled
from core.verify.notes import false_links, one_way_links, wrong_tags, wrong_vectors
from core.verify.report import files, names, values
from core.verify.view import View

Rule = Callable[[View], Iterator[Trouble]]

# In this order: each leaves nothing to the ones before it. `shared_ids` tells notes by their places: it mends first.
RULES: Final[tuple[Rule, ...]] = (
    files,
    names,
    values,
    shared_ids,
    repeated_keys,
    half_hidden,
    other_keys,
    lost_files,
    lost_facts,
    several_notes,
    differing_values,
    still_recalled,
    unnoted_facts,
    false_links,
    one_way_links,
    wrong_tags,
    wrong_vectors,
)


def findings(snapshot: Snapshot, progress: Progress | None = None) -> list[Finding]:
    """Everything that is not right in a memory, rule by rule, each in file order. progress: told how many of the rules
    are through.
    """
    view = View(snapshot)
    if snapshot.graph_problem:
        # Of facts without their notes nothing can be said.
        return [trouble.finding for trouble in files(view)]
    found: list[Finding] = []
    for count, rule in enumerate(RULES):
        if progress is not None:
            progress(count, len(RULES))
        found += [trouble.finding for trouble in rule(view)]
    return found


def repair(draft: Draft) -> None:
    """Lays every repair over a fresh draft. Nothing is lost: what gives way waits in a hidden note.

    Verifying the memory afterwards finds nothing that has a repair.
    """
    view = View(draft.present())
    for rule in RULES:
        former: list[Finding] = []
        while (mended := _mend(draft, rule(view))) != former:
            former, view = mended, View(draft.present())


def _mend(draft: Draft, troubles: Iterator[Trouble]) -> list[Finding]:
    """Mends what a rule found, of each group the first; gives what it mended."""
    groups: set[tuple[str, ...]] = set()
    mended: list[Finding] = []
    # All are found first: the rule looks at a view that does not change while it is being mended.
    for trouble in list(troubles):
        if trouble.mend is not None and trouble.group not in groups:
            groups |= {trouble.group} - {()}
            trouble.mend(draft)
            mended.append(trouble.finding)
    return mended
