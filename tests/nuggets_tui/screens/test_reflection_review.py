"""Reviewing a cleanup pass: each change accepted, refused for good, or left for later; the run in the log."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, opened, small_memory

from core.graph.edits import create_note
from core.memory import Memory
from nuggets_tui.screens.entry import EntryScreen
from nuggets_tui.screens.review import ReflectionReview
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory with two near-duplicates, a scratch note and notes worth linking."""
    memory = small_memory(tmp_path / "memory")
    text = "The test database listens on port 5433, user postgres, in the compose file."
    for title in ("Test database", "Test database again"):
        memory.change("twice", partial(create_note, nugget="project", title=title, content=text))
    memory.change("scratch", partial(create_note, nugget="project", title="tmp", content="x"))
    return tmp_path / "memory"


async def reviewing(app: Driver) -> ReflectionReview:
    """Asks for a cleanup."""
    await app.press("r")
    return await app.screen(ReflectionReview)


def go_to(review: ReflectionReview, kind: str) -> str:
    """Puts the cursor on the first change of a kind; its key."""
    key = next(item.key for item in review._items if item.kind.startswith(kind))
    review.query_one(RowList).move_to(key)
    return key


def proposed(home: Path) -> set[str]:
    return {change.id for change in Memory.open(home).reflect(dry_run=True).changes}


async def test_esc_in_the_details_goes_back_to_the_list_first(home: Path) -> None:
    async with opened(home) as app:
        review = await reviewing(app)
        await app.press("enter")
        assert review.query_one("#difference").has_focus
        await app.press("escape")
        assert app.app.screen is review
        assert review.query_one(RowList).has_focus
        await app.press("escape")
        await app.back_on_main()


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_what_is_unticked_is_refused_says_so_and_is_not_proposed_again(
    home: Path, size: tuple[int, int]
) -> None:
    async with opened(home, size) as app:
        review = await reviewing(app)
        whole = len(review.accepted)
        merge = go_to(review, "merge")
        await app.press("space")
        assert review.refused == (merge,)
        assert f"apply {whole - 1} of {whole}, refuse 1" in app.text
        assert "esc close" in app.text
        assert "refused, not" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "1 refused and not proposed again" in app.notices)
    assert merge not in proposed(home)
    assert "refused 1" in Memory.open(home).history.log(limit=1)[0].change_set.reason


async def test_what_is_left_for_later_is_neither_done_nor_refused(home: Path) -> None:
    async with opened(home) as app:
        review = await reviewing(app)
        merge = go_to(review, "merge")
        await app.press("l")
        assert merge not in review.accepted
        assert review.refused == ()
        assert "kept for later" in app.text
        hide = go_to(review, "hide")
        await app.press("space", "up", "l")
        assert review.refused == ()
        assert {merge, hide}.isdisjoint(review.accepted)
        await app.press("ctrl+s")
        await app.back_on_main()
    assert {merge, hide} <= proposed(home)


async def test_refusing_everything_writes_the_refusals_and_u_takes_them_back(home: Path) -> None:
    async with opened(home) as app:
        review = await reviewing(app)
        keys = [item.key for item in review._items]
        changes = review.query_one(RowList)
        for key in keys:
            changes.move_to(key)
            await app.press("space")
        assert set(review.refused) == set(keys)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: f"{len(keys)} refused" in app.notices)
        assert proposed(home).isdisjoint(keys)
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
    assert set(keys) <= proposed(home)


async def test_the_log_shows_a_run_with_counts_and_takes_back_one_change_or_the_run(home: Path) -> None:
    async with opened(home) as app:
        review = await reviewing(app)
        go_to(review, "merge")
        await app.press("space", "ctrl+s")
        await app.back_on_main()
        await app.until(lambda: app.log and app.log[0].author.kind == "reflection")
        await app.press("a", "enter")
        entry = await app.screen(EntryScreen)
        assert "archived 1" in app.text
        assert "refused 1" in app.text
        parts = list(entry._parts)
        hidden = next(id for id, part in entry._parts.items() if part.notes[0].note.title == "tmp")
        entry.query_one(RowList).move_to(hidden)
        await app.press("space")
        await app.until(lambda: "1 undone" in app.text)
        tmp = next(note for note in Memory.open(home).snapshot.notes if note.title == "tmp")
        assert not tmp.hidden
        await app.press("u")
        await app.until(lambda: entry._entry.undone)
        assert len(parts) > 1
    assert Memory.open(home).reflect(dry_run=True).counts["merged"] == 1


async def test_a_doubtful_link_has_no_tick_and_is_neither_made_nor_refused_unless_a_person_says(
    home: Path,
) -> None:
    memory = Memory.open(home)
    for title, text in (("Port", "staging database listens elsewhere"), ("Copy", "staging database dumped")):
        memory.change("w", partial(create_note, nugget="ops", title=title, content=text))
    async with opened(home) as app:
        review = await reviewing(app)
        link = go_to(review, "link")
        assert link not in review.accepted
        assert review.refused == ()
        assert "uncertain" in app.text
        await app.press("space")
        assert link in review.accepted
        await app.press("space")
        assert review.refused == (link,)
        await app.press("l", "ctrl+s")
        await app.back_on_main()
    assert link in proposed(home)


async def test_a_row_shows_no_link_that_another_row_proposes(home: Path) -> None:
    memory = Memory.open(home)
    for title, text in {
        "Owner": "alice owns the billing importer parser and the staging quagga zebra",
        "Breakage": "the billing importer parser breaks",
        "Animals": "staging has a quagga, a zebra and more",
    }.items():
        memory.change("w", partial(create_note, nugget="project", title=title, content=text))
    async with opened(home) as app:
        review = await reviewing(app)
        linked = [item for item in review._items if item.kind.startswith("link")]
        assert len(linked) > 1
        for item in linked:
            shown = "\n".join(line.plain for line in item.lines(200))
            assert shown.count("+ link to") == 1
            others = [other for other in linked if other.title == item.title and other.detail != item.detail]
            assert all(other.detail.split('"')[1] not in shown for other in others)
