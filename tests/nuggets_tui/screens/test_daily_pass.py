"""The daily pass in the app: it waits as a badge, or runs by itself where that is allowed, and never twice a day."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, NOW, opened, small_memory

from core.daily import Presence, count_as_daily, daily_state, request_review, run_daily_pass
from core.facts.edits import record_hit
from core.graph.edits import create_note
from core.memory import Memory
from core.model.change import Author
from core.storage.journal.kept import runs
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.help import HelpScreen
from nuggets_tui.screens.review import ReviewScreen
from nuggets_tui.screens.share_review import PromotionReview

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

BADGE = "reflection due"
ALWAYS = "[reflection]\nhour = 0\n[schedule]\nwaking_from = 0\nwaking_to = 24\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory with something to clean up, whose pass is due whatever the zone of the machine."""
    memory = small_memory(tmp_path / "memory", reflection_due=True)
    untidy = "Said   with  gaps.\n\n\n\n\nAnd more."
    memory.change("noted", partial(create_note, nugget="project", title="Untidy", content=untidy))
    memory.close()
    (tmp_path / "memory" / "settings.toml").write_text(ALWAYS, encoding="utf-8")
    return tmp_path / "memory"


def graph(home: Path) -> bytes:
    return (home / "graph" / "graph.json").read_bytes()


@pytest.mark.parametrize("size", [(120, 40), NARROW])
async def test_a_due_pass_waits_as_a_badge_until_it_is_looked_through(
    home: Path, size: tuple[int, int]
) -> None:
    before = graph(home)
    async with opened(home, size) as app:
        await app.until(lambda: BADGE in app.text, "the badge")
        assert graph(home) == before
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("escape")
        await app.back_on_main()
        await app.main.daily.refresh().wait()
        # Closed without a decision, it was not looked through: it waits on.
        assert BADGE in app.text
        assert runs(home) == ()
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("a", "ctrl+s")
        await app.back_on_main()
        await app.until(lambda: BADGE not in app.text, "no badge")
        await app.until(lambda: len(runs(home)) == 1)
    assert graph(home) == before
    assert runs(home)[0].by == "person"
    assert not daily_state(home, NOW).due


@pytest.mark.parametrize("settings", [ALWAYS, f"{ALWAYS}app_applies = true\n"])
async def test_a_review_that_an_agent_asked_for_waits_as_a_badge_though_no_pass_is_due(
    home: Path, settings: str
) -> None:
    memory = Memory.open(home, author=Author("agent", "codex"))
    count_as_daily(memory, NOW, {})
    request_review(memory, NOW, 1)
    memory.close()
    (home / "settings.toml").write_text(settings, encoding="utf-8")
    before = graph(home)
    async with opened(home) as app:
        assert not daily_state(home, NOW).due
        await app.until(lambda: BADGE in app.text, "the badge")
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("escape")
        await app.back_on_main()
        await app.main.daily.refresh().wait()
        assert BADGE in app.text
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("a", "ctrl+s")
        await app.back_on_main()
        await app.until(lambda: BADGE not in app.text, "no badge")
        await app.until(lambda: daily_state(home, NOW).asked is None)
    assert graph(home) == before


async def test_what_somebody_left_undecided_is_not_applied_by_the_app_in_their_place(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as app:
        await app.until(lambda: BADGE in app.text)
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("escape")
        await app.back_on_main()
        (home / "settings.toml").write_text(f"{ALWAYS}app_applies = true\n", encoding="utf-8")
        before = graph(home)
        await app.main.daily.refresh().wait()
        assert BADGE in app.text
        assert graph(home) == before
        assert runs(home) == ()


async def test_what_was_accepted_counts_as_the_pass_of_today(home: Path) -> None:
    async with opened(home) as app:
        await app.until(lambda: BADGE in app.text)
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: len(runs(home)) == 1)
        assert BADGE not in app.text
    assert runs(home)[0].counts["changed"] >= 1


async def test_it_comes_and_goes_while_the_app_is_open(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    (tmp_path / "memory" / "settings.toml").write_text(ALWAYS, encoding="utf-8")
    now = NOW

    def clock() -> datetime:
        return now

    async with opened(tmp_path / "memory", clock=clock) as app:
        now += timedelta(days=1)
        await app.main.daily.refresh().wait()
        await app.until(lambda: BADGE in app.text)
        # Somebody else runs it.
        run_daily_pass(Memory.open(tmp_path / "memory", clock=clock))
        await app.main.daily.refresh().wait()
        await app.until(lambda: BADGE not in app.text)


@pytest.mark.parametrize("applies", [True, False])
async def test_where_a_daemon_runs_it_is_the_daemon_s_unless_that_may_not_apply(
    home: Path, applies: bool
) -> None:
    if not applies:
        (home / "settings.toml").write_text(f"{ALWAYS}daemon_applies = false\n", encoding="utf-8")
    with Presence(home) as presence:
        presence.hold("2026-11-18T11:00:00.000Z")
        async with opened(home) as app:
            await app.main.daily.refresh().wait()
            await app.pilot.pause()
            if not applies:
                await app.until(lambda: BADGE in app.text)
            assert (BADGE in app.text) is not applies


async def test_where_it_is_allowed_the_app_runs_it_and_says_how_to_take_it_back(home: Path) -> None:
    (home / "settings.toml").write_text(f"{ALWAYS}app_applies = true\n", encoding="utf-8")
    before = graph(home)
    async with opened(home) as app:
        await app.until(lambda: "The daily reflection checked" in app.notices)
        assert "u undoes it" in app.notices
        assert BADGE not in app.text
        assert graph(home) != before
        await app.until(lambda: app.log[0].author.kind == "reflection")
        await app.press("u")
        await app.until(lambda: app.log[0].kind == "undo")
        await app.main.daily.refresh().wait()
        assert BADGE not in app.text
    assert [note["content"] for note in _notes(home) if note["title"] == "Untidy"] == [
        note["content"] for note in _notes(home, before) if note["title"] == "Untidy"
    ]
    assert len(runs(home)) == 1


async def test_it_runs_nothing_while_a_dialog_is_open(home: Path) -> None:
    async with opened(home) as app:
        await app.until(lambda: BADGE in app.text)
        await app.press("question_mark")
        await app.screen(HelpScreen)
        (home / "settings.toml").write_text(f"{ALWAYS}app_applies = true\n", encoding="utf-8")
        await app.main.daily.refresh().wait()
        assert runs(home) == ()
        await app.press("escape")
        await app.back_on_main()
        await app.main.daily.refresh().wait()
        await app.until(lambda: len(runs(home)) == 1)


def _notes(home: Path, data: bytes | None = None) -> list[dict[str, str]]:
    import json

    return list(json.loads(graph(home) if data is None else data)["notes"])


@pytest.fixture
def promotes(home: Path, tmp_path: Path) -> Path:
    """The MEMORY.md that the memory of `home` could promote a note to."""
    with (home / "settings.toml").open("a", encoding="utf-8") as file:
        file.write(f'[promotion]\nthreshold = 1\nmemory_dir = "{tmp_path / "docs"}"\n')
    (tmp_path / "docs").mkdir()
    memory = Memory.open(home)
    note = next(note for note in memory.snapshot.notes if note.title == "Session store")
    for session in ("one", "two"):
        memory.change(
            "recalled", lambda draft, s=session: record_hit(draft, note.nugget_name, None, note.id, s)
        )
    memory.close()
    return tmp_path / "docs" / "MEMORY.md"


async def test_after_the_first_pass_with_something_to_promote_it_is_asked_once_whether_it_may(
    home: Path, promotes: Path
) -> None:
    async with opened(home) as app:
        await app.until(lambda: BADGE in app.text, "the badge")
        await app.press("r")
        await app.screen(ReviewScreen)
        await app.press("a", "ctrl+s")
        await app.screen(ChoiceScreen)
        assert "MEMORY.md" in app.text
        await app.press("escape")
        await app.back_on_main()
        await app.until(lambda: "for MEMORY.md: D" in app.text, "what waits")
        await app.press("D")
        await app.screen(ChoiceScreen)
        await app.press("down", "down", "enter")
        await app.back_on_main()
        await app.until(lambda: "for MEMORY.md: D" not in app.text, "nothing waits")
        assert 'automatic = "never"' in (home / "settings.toml").read_text(encoding="utf-8")
        await app.press("u")
        await app.until(lambda: "automatic" not in (home / "settings.toml").read_text(encoding="utf-8"))
    assert not promotes.exists()


async def test_yes_for_this_project_is_remembered_and_the_lines_are_shown(home: Path, promotes: Path) -> None:
    async with opened(home) as app:
        await app.until(lambda: BADGE in app.text, "the badge")
        await app.press("D")
        await app.screen(ChoiceScreen)
        await app.press("enter")
        await app.screen(PromotionReview)
        assert f'projects = ["{promotes.parent}"]' in (home / "settings.toml").read_text(encoding="utf-8")
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(promotes.exists)
