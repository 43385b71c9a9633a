"""A snapshot's look-ups: by id, title and part of an id; facts, links and names."""

from __future__ import annotations

import pytest
from kits.drafts import make_fact_note, make_link, make_note

from core.errors import AmbiguousError, NotFoundError
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import replace
from core.model.snapshot import Snapshot

A = make_note(1, title="Same")
B = make_note(2, title="Same", hidden=True)
C = make_note(0x1F, title="Other", links=(make_link(A), make_link(B, "see")))
D = replace(make_note(4, title="same"), id="note-memory-1000000f")
SNAPSHOT = Snapshot(
    notes=(A, B, C, D), nuggets=(Nugget(meta=NuggetMeta(name="work"), facts=(Fact(key="k", value="v"),)),)
)


@pytest.mark.parametrize(("text", "found"), [
    (A.id, A), (B.id, B), (f" {C.id} ", C), ("note-memory-1", D), ("0000001f", C), ("1000", D), ("Other", C),
    ("OTHER", C), ("Same", A), ("same", D),
])  # fmt: skip
def test_a_note_is_found_by_id_part_of_it_or_title(text: str, found: object) -> None:
    assert SNAPSHOT.resolve(text) is found


@pytest.mark.parametrize("text", ["absent", "memory-0", "note-memory-00000001-more", "Sam"])
def test_what_fits_nothing_is_not_found(text: str) -> None:
    with pytest.raises(NotFoundError):
        SNAPSHOT.resolve(text)


def test_two_visible_notes_of_one_title_are_not_chosen_between() -> None:
    with pytest.raises(AmbiguousError):
        Snapshot(notes=(A, replace(D, title="Same"))).resolve("Same")


def test_the_visible_note_of_a_fact_wins_over_a_hidden_one() -> None:
    hidden, shown = make_fact_note(1, "k", "old", hidden=True), make_fact_note(2, "k", "new")
    assert Snapshot(notes=(hidden, shown)).fact_notes["memory", "k"] is shown
    assert Snapshot(notes=(shown, hidden)).fact_notes["memory", "k"] is shown
    assert Snapshot(notes=(hidden,)).fact_notes["memory", "k"] is hidden


def test_names_counts_and_nuggets() -> None:
    assert SNAPSHOT.nugget_names == ("memory", "work")
    assert SNAPSHOT.fact_count == 1
    assert SNAPSHOT.nugget("work").find("K") == (0, Fact(key="k", value="v"))
    assert SNAPSHOT.visible == (A, C, D)
    for name in ("memory", "absent"):
        with pytest.raises(NotFoundError, match="memory, work"):
            SNAPSHOT.nugget(name)


@pytest.mark.parametrize(
    ("facts", "words"),
    [(0, ""), (409, ""), (410, "warning"), (460, "warning"), (461, "critical"), (600, "critical")],
)
def test_a_full_nugget_warns_above_80_and_90_percent(facts: int, words: str) -> None:
    nugget = Nugget(meta=NuggetMeta(name="n"), facts=tuple(Fact(key=str(n), value="v") for n in range(facts)))
    assert nugget.meta.capacity == 512
    assert nugget.capacity_warning.partition(":")[0] == words
    assert nugget.capacity_used_pct == round(facts / 5.12, 1)


def test_an_exact_key_wins_over_one_that_differs_by_case() -> None:
    nugget = Nugget(meta=NuggetMeta(name="n"), facts=(Fact(key="K", value="1"), Fact(key="k", value="2")))
    assert nugget.find("k") == (1, Fact(key="k", value="2"))
    assert nugget.find(" K ") == (0, Fact(key="K", value="1"))
    assert nugget.find("x") is None
