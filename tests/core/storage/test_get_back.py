"""An edit of ours that another program wrote over stays in reach, and somebody is told."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.beside import NUGGET, ONE, content_of, make_home, never_quiet, save_stale, values_of, write_later
from kits.memory_files import facts_of, write_nugget
from kits.original_writer import Original, read_graph

from core import Memory
from core.facts.edits import forget, remember
from core.graph.edits import create_note, edit_note, hide_note


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def _edited(home: Path) -> tuple[Memory, Original]:
    """A memory in which we changed a fact, and a program that had read it before."""
    memory = Memory.open(home)
    partner = Original(home, load=True)
    memory.refresh()
    memory.change("edit", partial(remember, nugget="memory", key="user:a", value="ours"))
    return memory, partner


def _way_back(notice: str) -> str:
    return notice.partition("undo ")[2].split()[0]


@pytest.mark.parametrize("seconds", [0.5, 9, 50])
def test_a_fact_written_over_soon_after_our_edit_is_told_with_a_way_back(home: Path, seconds: float) -> None:
    memory, partner = _edited(home)
    write_later(home / NUGGET, lambda: partner.remember("user:a", "theirs"), seconds)
    memory.refresh()
    assert values_of(home)["user:a"] == "theirs"
    (notice,) = memory.take_notices()
    assert notice.startswith('another program changed "user:a" in memory right after you did')
    assert memory.history.conflicts() == ()
    memory.history.undo(_way_back(notice))
    assert values_of(home)["user:a"] == "ours"
    assert memory.maintenance.verify() == ()


def test_the_way_back_leaves_what_else_the_program_did(home: Path) -> None:
    memory, partner = _edited(home)
    partner.remember("user:c", "theirs too")
    write_later(home / NUGGET, lambda: partner.remember("user:a", "theirs"))
    memory.refresh()
    notices = [one for one in memory.take_notices() if "user:a" in one]
    if notices:
        memory.history.undo(_way_back(notices[0]))
    assert values_of(home)["user:a"] == "ours"
    assert values_of(home)["user:c"] == "theirs too"


def test_a_change_long_after_ours_is_no_notice(home: Path) -> None:
    memory, partner = _edited(home)
    write_later(home / NUGGET, lambda: partner.remember("user:a", "theirs"), 120)
    memory.refresh()
    assert memory.take_notices() == ()


def test_who_had_seen_a_later_change_of_ours_had_seen_this_one(home: Path) -> None:
    memory, _ = _edited(home)
    memory.change("edit", partial(remember, nugget="memory", key="user:b", value="ours too"))
    partner = Original(home, load=True)
    write_later(home / NUGGET, lambda: partner.remember("user:a", "theirs"))
    memory.refresh()
    assert values_of(home) == {"user:a": "theirs", "user:b": "ours too"}
    assert memory.take_notices() == ()


def test_a_fact_that_we_forgot_and_another_program_remembers_anew_is_told(home: Path) -> None:
    memory, partner = _edited(home)
    memory.change("forget", partial(forget, nugget="memory", key="user:a"))
    write_later(home / NUGGET, lambda: partner.remember("user:a", "theirs"))
    memory.refresh()
    told = [notice for notice in memory.take_notices() if "user:a" in notice]
    assert told or "user:a" not in values_of(home)


def test_a_recall_of_an_edited_fact_is_no_notice(home: Path) -> None:
    memory, _ = _edited(home)
    write_later(home / NUGGET, lambda: Original(home, load=True).recall("user:a", "s-1"))
    memory.refresh()
    assert memory.take_notices() == ()


def _write_fact_alone(home: Path, key: str, value: str) -> None:
    """Saves the fact file as a program does that keeps no notes."""
    kept = [fact | {"value": value} if fact["key"] == key else fact for fact in facts_of(home, NUGGET)]
    write_later(home / NUGGET, lambda: write_nugget(home, "memory", kept))


def test_a_fact_written_over_while_its_note_says_ours_is_told_and_found_by_verify(home: Path) -> None:
    memory, _ = _edited(home)
    _write_fact_alone(home, "user:a", "theirs")
    memory.refresh()
    (notice,) = memory.take_notices()
    assert [finding.kind for finding in memory.maintenance.verify()] == ["value-differs"]
    memory.history.undo(_way_back(notice))
    assert values_of(home)["user:a"] == memory.snapshot.fact_notes["memory", "user:a"].content == "ours"
    assert memory.maintenance.verify() == ()


def test_a_hide_beside_an_unsettled_save_takes_the_fact_out_that_comes_back(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    held = facts_of(home, NUGGET)
    memory.change("new", partial(remember, nugget="memory", key="user:new", value="ours"))
    made = memory.snapshot.fact_notes["memory", "user:new"]
    others = [fact | {"hits": fact["hits"] + 1} for fact in held]
    with monkeypatch.context() as patch:
        never_quiet(patch)
        write_later(home / NUGGET, lambda: write_nugget(home, "memory", others))
        memory.refresh(patient=False)
        assert "user:new" not in values_of(home)
        memory.change("hide", partial(hide_note, id=made.id))
    memory.refresh()
    assert "user:new" not in values_of(home)
    assert memory.snapshot.note(made.id).hidden
    assert memory.maintenance.verify() == ()


@pytest.mark.parametrize(("seconds", "told"), [(20, True), (120, False)])
def test_a_note_that_is_back_as_it_was_soon_after_our_edit_is_told_with_a_way_back(
    home: Path, seconds: float, told: bool
) -> None:
    memory = Memory.open(home)
    before = read_graph(home)
    memory.change("edit", partial(edit_note, id=ONE, content="Ours."))
    save_stale(home, before, seconds)
    memory.refresh()
    notices = memory.take_notices()
    assert content_of(home) != "Ours."
    assert bool(notices) is told
    for notice in notices:
        assert notice.startswith('another program changed "Title 1" back right after you did')
        memory.history.undo(_way_back(notice))
        assert content_of(home) == "Ours."


def test_a_new_note_that_an_old_copy_takes_away_is_told_with_a_way_back(home: Path) -> None:
    memory = Memory.open(home)
    before = read_graph(home)
    made, _ = memory.change("new", lambda draft: create_note(draft, "memory", "Fresh", "Just written."))
    save_stale(home, before, 7)
    memory.refresh()
    (notice,) = memory.take_notices()
    memory.history.undo(_way_back(notice))
    assert memory.snapshot.note(made.id).content == "Just written."


def test_an_edit_by_who_had_read_ours_is_no_notice(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", partial(edit_note, id=ONE, content="Ours."))
    Original(home, load=False).edit_note(ONE, content="Theirs.")
    memory.refresh()
    assert memory.take_notices() == ()
    assert content_of(home) == "Theirs."
