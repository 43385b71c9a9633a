"""The promotion review: line by line, with the page's length, and the choice of the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, Driver, opened, small_memory

from core.memory import Memory
from core.model.note import replace
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.share_review import PromotionReview
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow

OFTEN = ("Session store", "Deploy day")


def set_hits(memory: Memory, hits: dict[str, int]) -> None:
    notes = [note for note in memory.snapshot.notes if note.title in hits]
    memory.change(
        "recalled", lambda draft: [draft.put(replace(note, hits=hits[note.title])) for note in notes]
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory with two notes to promote and one that lacks a recall, that promotes to the folder "docs"."""
    memory = small_memory(tmp_path / "memory")
    set_hits(memory, dict.fromkeys(OFTEN, 5) | {"JWT token format": 2})
    (tmp_path / "docs").mkdir()
    (memory.home / "settings.toml").write_text(f'[promotion]\nmemory_dir = "{tmp_path / "docs"}"\n')
    return memory.home


def page(tmp_path: Path) -> str:
    return (tmp_path / "docs" / "MEMORY.md").read_text(encoding="utf-8")


def shown(app: Driver) -> str:
    """What stands at the right, on one line."""
    return " ".join(app.app.screen.query_one("#difference", LineView).text.split())


async def test_each_line_is_accepted_refused_or_left_for_later(home: Path, tmp_path: Path) -> None:
    async with opened(home) as app:
        await app.press("p")
        review = await app.screen(PromotionReview)
        assert len(review.accepted) == 2
        await app.press("down", "space")
        assert "apply 1 of 2, refuse 1" in app.text
        assert "refused, not proposed again" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 new line" in app.notices)
        assert "1 refused and not proposed again" in app.notices
        titles = [title for title in OFTEN if f"**{title}**" in page(tmp_path)]
        assert len(titles) == 1
        await app.press("p")
        review = await app.screen(PromotionReview)
        assert review.accepted == ()
        assert "refused before" in app.text
        await app.press("a", "l", "ctrl+s")
        await app.back_on_main()
    assert [title for title in OFTEN if f"**{title}**" in page(tmp_path)] == titles


@pytest.mark.parametrize("key", ["space", "l"])
async def test_the_whole_page_is_shown_as_it_will_be_written(home: Path, tmp_path: Path, key: str) -> None:
    async with opened(home) as app:
        await app.press("p")
        review = await app.screen(PromotionReview)
        await app.press("down", key, "home")
        await app.until(lambda: len(review.accepted) == 1 and "1 to add" in app.text)
        previewed = [title for title in OFTEN if title in shown(app)]
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 new line" in app.notices)
        assert previewed == [title for title in OFTEN if title in page(tmp_path)]


async def test_what_is_left_for_later_is_proposed_again(home: Path, tmp_path: Path) -> None:
    async with opened(home) as app:
        await app.press("p")
        review = await app.screen(PromotionReview)
        await app.press("down", "l")
        assert (len(review.accepted), review.refused) == (1, ())
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 new line" in app.notices)
        await app.press("p")
        review = await app.screen(PromotionReview)
        assert len(review.accepted) == 1


async def test_notes_under_the_threshold_are_shown_and_cannot_be_chosen(home: Path) -> None:
    async with opened(home) as app:
        await app.press("p")
        review = await app.screen(PromotionReview)
        assert "JWT token format" in app.text
        assert "1 more recall" in app.text
        await app.press("end", "space")
        assert len(review.accepted) == 2
        assert len(review.query_one(RowList).selected) == 2
        await app.press("home", "space")
        assert len(review.query_one(RowList).selected) == 2


async def test_a_line_edited_by_hand_is_kept_unless_it_is_accepted(home: Path, tmp_path: Path) -> None:
    memory = Memory.open(home)
    memory.promotion.promote()
    edited = page(tmp_path).replace("Redis holds sessions for an hour.", "My own words.")
    (tmp_path / "docs" / "MEMORY.md").write_text(edited)
    async with opened(home) as app:
        await app.press("p")
        review = await app.screen(PromotionReview)
        assert review.accepted == ()
        assert "edited" in app.text
        await app.press("down")
        assert "The line stays as it is unless you accept this change." in shown(app)
        assert "- - **Session store**: My own words. + - **Session store**: Redis holds" in shown(app)
        await app.press("space")
        assert len(review.accepted) == 1
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 changed line" in app.notices)
    assert "Redis holds sessions" in page(tmp_path)


async def test_several_pages_are_a_choice_with_the_present_projects_first(home: Path, tmp_path: Path) -> None:
    memory = Memory.open(home)
    for name in ("docs", "other", "gone"):
        memory.promotion.promote(memory_dir=tmp_path / name)
    (tmp_path / "gone" / "MEMORY.md").unlink()
    (tmp_path / "gone").rmdir()
    set_hits(memory, {"Auth middleware": 5})
    async with opened(home, NARROW) as app:
        await app.press("p")
        choice = await app.screen(ChoiceScreen)
        rows = choice.query_one(RowList)
        assert rows.cursor == 0
        assert "the current project" in app.text
        assert "its folder no longer exists" in app.text
        assert rows.move_to(str(tmp_path / "other"))
        await app.press("enter")
        await app.screen(PromotionReview)
        before = (tmp_path / "docs" / "MEMORY.md").read_bytes()
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 new line" in app.notices)
        assert "Auth middleware" in (tmp_path / "other" / "MEMORY.md").read_text()
        assert (tmp_path / "docs" / "MEMORY.md").read_bytes() == before
    assert "Auth middleware" in (tmp_path / "other" / "MEMORY.md").read_text()
    assert "Auth middleware" not in page(tmp_path)
