"""How much one run archives and merges at most, and that what it leaves is reached by the next ones."""

from __future__ import annotations

from typing import Any

from kits.graph_kit import applied, draft_of, make_note, memory_of

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.reflection import ReflectionResult, reflect
from core.settings import ReflectionSettings

FULL = 1_000_000


def a_pass(snapshot: Snapshot, **wanted: Any) -> ReflectionResult:
    return reflect(draft_of(snapshot), **wanted)


def twins(count: int) -> list[Note]:
    """Pairs of equal notes; no two pairs share a word."""
    return [
        make_note(100 + 2 * place + side, f"word{place} thing{place} matter{place}", f"name{place}")
        for place in range(count)
        for side in (0, 1)
    ]


def test_a_run_archives_and_merges_five_each_and_says_what_it_leaves() -> None:
    empty = [make_note(n, "") for n in range(12)]
    result = a_pass(memory_of([*empty, *twins(8)]), limit=FULL)
    assert (result.counts["hidden"], result.counts["merged"]) == (5, 5)
    assert (result.left_archived, result.left_merged) == (7, 3)
    assert result.to_dict()["left"] == {"merged": 3, "hidden": 7}


def test_the_caps_are_settings_and_a_full_pass_may_lift_them() -> None:
    snapshot = memory_of([*(make_note(n, "") for n in range(12)), *twins(8)])
    settings = ReflectionSettings(max_archived=2, max_merged=1)
    few = a_pass(snapshot, settings=settings, limit=FULL)
    assert (few.counts["hidden"], few.counts["merged"]) == (2, 1)
    whole = a_pass(snapshot, settings=settings, limit=FULL, max_archived=FULL, max_merged=FULL)
    assert (whole.counts["hidden"], whole.counts["merged"], whole.left_archived, whole.left_merged) == (
        12,
        8,
        0,
        0,
    )


def test_what_the_caps_leave_does_not_use_up_the_limit() -> None:
    empty = [make_note(n, "") for n in range(40)]
    late = [make_note(900 + n, f"say{n}\nsay{n}") for n in range(4)]
    result = a_pass(memory_of([*empty, *late]))
    assert (result.counts["hidden"], result.counts["rewritten"]) == (5, 4)


def test_caps_of_nothing_switch_archiving_and_merging_off_and_the_rest_goes_on() -> None:
    snapshot = memory_of([*(make_note(n, "") for n in range(30)), *twins(20), make_note(999, "say\nsay")])
    settings = ReflectionSettings(max_archived=0, max_merged=0)
    result = a_pass(snapshot, settings=settings)
    seen = set()
    while result.changes:
        seen |= {change.type for change in result.changes}
        snapshot = applied(snapshot, result.change_set)
        result = a_pass(snapshot, settings=settings)
    assert seen == {"rewrite", "link"}
    assert not any(note.hidden for note in snapshot.notes)
    assert (result.left_archived, result.left_merged) == (30, 20)


def test_repeated_passes_reach_all_that_the_caps_left() -> None:
    snapshot = memory_of([*(make_note(n, "") for n in range(23)), *twins(17)])
    passes = 0
    while (result := a_pass(snapshot)).changes:
        assert result.counts["hidden"] <= 5
        assert result.counts["merged"] <= 5
        snapshot = applied(snapshot, result.change_set)
        passes += 1
        assert passes < 20
    assert sum(note.hidden for note in snapshot.notes) == 23 + 17


def test_three_of_a_kind_count_as_two_merges() -> None:
    three = [make_note(n, "alpha beta gamma", "name") for n in range(3)]
    result = a_pass(memory_of(three), max_merged=1)
    assert (result.counts["merged"], result.left_merged) == (1, 1)


def test_a_note_that_waits_to_be_archived_is_neither_tidied_tagged_merged_nor_linked() -> None:
    text = "alice owns the billing importer\nalice owns the billing importer"
    notes = [make_note(n, text, f"scratch {n}") for n in range(2)]
    result = a_pass(memory_of([*notes, make_note(9, "the billing importer breaks")]), max_archived=0)
    assert (result.changes, result.left_archived) == ((), 2)
