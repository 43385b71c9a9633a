"""Inbox, Pipeline and the light: deciding over proposals, retrying, looking things up, and running while open."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import NOW, Driver, agent_on, assert_harmless, opened, small_memory
from kits.fake_pipeline import (
    AT,
    CHOSEN,
    TEXT,
    FakePipeline,
    filled,
    make_health,
    make_job,
    make_proposal,
)
from kits.hostile import HOSTILE

from core.errors import StorageError
from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.database.sessions import SessionMemory, SessionScore
from core.pipeline.records import PipelineState, Recovery, SessionOverview, SessionPage
from nuggets_tui import pipeline_session
from nuggets_tui.screens.dialog import LinesReview
from nuggets_tui.screens.inbox import InboxScreen, ProposalsReview
from nuggets_tui.screens.pipeline import ListsScreen, PipelineScreen, SubmitScreen
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory in which something was handed in."""
    small_memory(tmp_path / "memory")
    Database.open(tmp_path / "memory").close()
    return tmp_path / "memory"


@pytest.fixture
def fake(home: Path, monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    """Its pipeline, in the middle of its work."""
    fake = filled(Memory.open(home))

    def instead(memory: Memory, clock: Callable[[], datetime]) -> FakePipeline:
        return fake

    monkeypatch.setattr(pipeline_session, "open_pipeline", instead)
    return fake


async def on_screen(app: Driver, kind: type[ListsScreen] = PipelineScreen) -> Any:
    """The Pipeline page, or the Inbox, with what it shows."""
    await app.press("i" if kind is InboxScreen else "J")
    screen = await app.screen(kind)
    await app.until(lambda: screen.now_shown is not None)
    await app.pilot.pause()
    return screen


def details(screen: ListsScreen) -> str:
    """What the row under the cursor is about, on one line."""
    return " ".join(screen.query_one("#details", LineView).text.split())


def written(home: Path) -> set[str]:
    """The texts of all visible notes."""
    return {note.content for note in Memory.open(home).snapshot.visible}


async def test_a_session_shows_what_it_left_and_without_sessions_there_is_no_list(
    home: Path, fake: FakePipeline
) -> None:
    async with opened(home) as app:
        screen = await on_screen(app)
        assert not screen.query_one("#sessions", RowList).display
        await app.press("3")
        assert screen.open_list == "work"
        now = AT
        fake.followed = tuple(
            SessionOverview(name, f"/work/{name}", "agent:claude", now, now - place, None, 7, 2, True)
            for place, name in enumerate(("shop", HOSTILE[4]))
        )
        fake.left = {
            name: Recovery(
                name,
                "",
                "agent:claude",
                now,
                2,
                2,
                False,
                f"Begun.\n{'so on ' * 40}\n- Fix the build of {name}.",
            )
            for name in ("shop", HOSTILE[4])
        }
        overview = fake.followed[0]
        score = SessionScore("shop", now, 0.5, 2, 1, "scored", 0.8, 0.9, reasoning="It served.", rounds=1)
        memories = tuple(
            SessionMemory(id, times, now, helped, ahead, ahead, helped, True)
            for id, times, helped, ahead in (("note-gone", 2, 1.0, 0), ("note-other", 0, 0.0, 1))
        )
        page = SessionPage(dataclasses.replace(overview, score=score, given=2), (), memories, None)
        fake.followed = (page.overview, *fake.followed[1:])
        fake.kept = {"shop": page}
        await app.until(lambda: screen.query_one("#sessions", RowList).display)
        await app.press("3")
        await app.until(lambda: "Fix the build of shop." in details(screen))
        assert "7 prompts · 2 checkpoints" in details(screen)
        for said in (
            "a note that is gone (note-gone): recalled 2 times, helped 100%",
            "(note-other): given at the start, did not help",
            "1 of 2 memories helped: told by a model",
            "It served.",
        ):
            assert said in details(screen)
        assert "1 of 2 helped" in app.text
        # Each line of what it left is a line, and a long one goes on below.
        assert all(one in app.text for one in ("Begun.", "- Fix the build of shop."))
        await app.press("down")
        await app.until(lambda: "Fix the build" in details(screen) and "shop" not in details(screen))
        assert_harmless(app)
        await app.press("right")
        assert screen.open_list == "health"


async def test_one_proposal_is_accepted_with_a_key_and_taken_back_with_another(
    home: Path, fake: FakePipeline
) -> None:
    async with opened(home) as app:
        screen = await on_screen(app, InboxScreen)
        await app.press("a")
        await app.until(lambda: "u undoes it" in app.notices)
        assert CHOSEN in written(home)
        await app.until(lambda: len(screen.now_shown.proposals) == 3)
        assert any(note.content == CHOSEN for note in app.view.snapshot.notes)
        await app.press("u")
        await app.until(lambda: CHOSEN not in written(home))
        await app.until(lambda: all(note.content != CHOSEN for note in app.view.snapshot.visible))
        # It waits again, as before.
        await app.until(lambda: len(screen.now_shown.proposals) == 4)
        assert all(one.open for one in screen.now_shown.proposals)
        assert screen.now_shown.status.proposals_open == 4
        assert "✓ written" not in app.text
        await app.press("u")
        await app.until(lambda: "nothing to undo" in app.notices)


@pytest.mark.parametrize(
    ("model", "light", "said"),
    [
        ("off", PipelineState.OFF, ". It waits: no model is configured."),
        ("healthy", PipelineState.WORKING, ". New facts are being extracted."),
    ],
)
async def test_a_submitted_text_is_said_to_be_read_only_where_a_model_reads_it(
    home: Path, fake: FakePipeline, model: str, light: PipelineState, said: str
) -> None:
    fake.provider, fake.light = make_health(state=model), light
    async with opened(home) as app:
        screen = await on_screen(app)
        assert "n submit" in screen.key_line().plain
        await app.press("n")
        submit = await app.screen(SubmitScreen)
        submit.query_one("#text").text = TEXT  # type: ignore[attr-defined]
        await app.press("ctrl+s")
        await app.until(lambda: "Submitted; it names 1 entity" in app.notices)
        assert said in app.notices


async def test_several_proposals_go_through_the_review_and_nothing_is_written_before(
    home: Path, fake: FakePipeline
) -> None:
    before = written(home)
    async with opened(home) as app:
        await on_screen(app, InboxScreen)
        await app.press("space", "space", "down", "space", "a")
        review = await app.screen(ProposalsReview)
        assert "accept" not in fake.calls
        # What wants a close look is accepted only when it is ticked.
        assert len(review.accepted) == 2
        await app.press("space")
        assert len(review.refused) == 1
        await app.press("ctrl+s")
        await app.screen(InboxScreen)
        await app.until(lambda: "1 proposal accepted, 1 refused" in app.notices)
        assert len(written(home) - before) == 1
        assert [one.status for one in fake.settled[-2:]] == ["applied", "rejected"]
        assert len(fake.waiting) == 2


async def test_what_is_uncertain_begins_unticked_in_the_review_and_says_why_also_when_it_is_ticked(
    home: Path, fake: FakePipeline
) -> None:
    fake.waiting.append(make_proposal(9, "Ann may buy a cat.", review_needed=True))
    async with opened(home) as app:
        await on_screen(app, InboxScreen)
        await app.press("ctrl+a", "a")
        review = await app.screen(ProposalsReview)
        assert len(review.begins_accepted) == 2
        for why in ("contradicts a note", "not in the text", "not stated plainly"):
            await app.until(lambda why=why: f"… uncertain: {why}" in app.text)
        await app.press("a")
        assert len(review.accepted) == 5
        await app.until(lambda: app.text.count("! uncertain: ") == 3)


async def test_what_others_changed_since_the_last_visit_stands_below_by_who_did_it(
    home: Path, fake: FakePipeline
) -> None:
    async with opened(home) as app:
        await app.press("n", *"Mine", "ctrl+s")
        await app.until(lambda: any(note.title == "Mine" for note in app.view.snapshot.notes))
    agent_on(home, at=NOW + timedelta(hours=1)).change(
        "added", lambda draft: create_note(draft, "project", "Of an agent", "It was seen.")
    )
    async with opened(home, clock=lambda: NOW + timedelta(hours=2)) as app:
        screen = await on_screen(app, InboxScreen)
        await app.until(lambda: "Of an agent" in app.text)
        assert "1 change since your last visit" in app.text
        assert "4 open" in app.text
        await app.press("end")
        await app.until(lambda: "It was seen." in details(screen))
        await app.press("a")
        await app.until(lambda: "written already" in app.notices)
        await app.press("u", "enter")
        await app.until(
            lambda: all(note.hidden or note.title != "Of an agent" for note in app.view.snapshot.notes)
        )
        await app.until(lambda: "1 change since" not in app.text)


async def test_refusing_one_needs_a_key_and_refusing_several_a_yes(home: Path, fake: FakePipeline) -> None:
    async with opened(home) as app:
        screen = await on_screen(app, InboxScreen)
        await app.press("x")
        await app.until(lambda: "Refused 1 proposal" in app.notices)
        await app.press("ctrl+a", "x")
        await app.until(lambda: "Refuse 3 proposals?" in app.text)
        await app.press("n")
        assert len(fake.waiting) == 3
        await app.press("x", "y")
        await app.until(lambda: not fake.waiting)
        await app.press("v")
        await app.until(lambda: len(screen.now_shown.proposals) == 6)
        assert "✗ refused" in app.text
        await app.press("a")
        await app.until(lambda: "already decided" in app.notices)
    assert "accept" not in fake.calls


async def test_a_dead_job_says_why_and_is_tried_again(home: Path, fake: FakePipeline) -> None:
    async with opened(home) as app:
        screen = await on_screen(app)
        # A key that acts on a row of another list does nothing here.
        await app.press("4", "r")
        assert "retry" not in fake.calls
        await app.press("1")
        assert "running 12 s" in app.text
        await app.press("down")
        await app.until(lambda: "model_missing" in details(screen))
        assert 'model "qwen3:4b" not found' in details(screen)
        await app.press("a", "r")
        await app.until(lambda: "will be retried" in app.notices)
        assert "accept" not in fake.calls
        assert all(job.status != "dead" for job in fake.work)
        fake.work += [make_job(20, "dead"), make_job(21, "dead")]
        await app.press("R")
        await app.until(lambda: "Retrying 2 dead jobs" in app.notices)


async def test_health_shows_model_budget_and_each_warning_and_work_can_rest(
    home: Path, fake: FakePipeline
) -> None:
    async with opened(home) as app:
        screen = await on_screen(app)
        await app.press("4")
        assert "214 of 2,000" in app.text
        await app.until(lambda: "1.8 s a call" in details(screen))
        await app.press("end")
        await app.until(lambda: "2000 is used" in details(screen))
        await app.press("p")
        await app.until(lambda: "‖ paused" in app.text)
        assert fake.paused
        await app.press("p")
        await app.until(lambda: not fake.paused)


async def test_health_shows_each_part_and_a_repair_only_after_a_look_at_what_it_does(
    home: Path, fake: FakePipeline
) -> None:
    async with opened(home) as app:
        screen = await on_screen(app)
        await app.until(lambda: "degraded 90%" in app.text)
        await app.press("4")
        await app.until(lambda: "1 job failed for good." in details(screen))
        await app.press("f")
        await app.screen(LinesReview)
        assert "job 9 is tried again: Notes from the call with the supplier" in app.text
        await app.press("n")
        assert "maintain" not in fake.calls
        await app.press("f")
        await app.screen(LinesReview)
        await app.press("y")
        await app.until(lambda: "1 thing put right" in app.text)
        assert fake.calls.count("maintain") == 1
        await app.until(lambda: "healthy 99%" in app.text)
        await app.press("f")
        await app.until(lambda: "Nothing is recommended." in app.notices)


async def test_a_memory_without_a_pipeline_gets_none_by_being_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "memory"
    memory = small_memory(home)
    fake = FakePipeline(memory, light=PipelineState.IDLE)
    opens: list[str] = []

    def instead(memory: Memory, clock: Callable[[], datetime]) -> FakePipeline:
        opens.append("opened")
        return fake

    monkeypatch.setattr(pipeline_session, "open_pipeline", instead)
    async with opened(home) as app:
        assert "○ pipeline: J" in app.text.split("\n")[0]
        screen = await on_screen(app)
        assert "nothing submitted yet" in app.text
        assert "ollama pull qwen3:4b" in details(screen)
        await app.press("2", "R", "p", "4", "1", "a", "x", "u")
        assert not opens
        assert not Database.exists(home)
        await app.press("n")
        await app.screen(SubmitScreen)
        await app.press("ctrl+s")
        await app.screen(PipelineScreen)
        assert not opens
        await app.press("n")
        submit = await app.screen(SubmitScreen)
        submit.query_one("#text").text = TEXT  # type: ignore[attr-defined]
        await app.press("ctrl+s")
        await app.until(lambda: "Submitted; it names 1 entity" in app.notices)
    assert [raw.content for raw in fake.texts.values()] == [TEXT]


async def test_the_app_runs_the_pipeline_beside_keys_and_lets_it_go_at_the_end(
    home: Path, fake: FakePipeline
) -> None:
    async with opened(home) as app:
        await app.until(lambda: fake.running)
        assert "MainThread" not in fake.threads
    assert fake.closed
    assert not fake.running


async def test_the_app_leaves_the_work_to_a_daemon(
    home: Path, fake: FakePipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = True
    monkeypatch.setattr("core.daily.daemon_on", lambda home: object() if there else None)
    async with opened(home) as app:
        await app.until(lambda: app.view.pipeline.state == "review")
        assert "start" not in fake.calls
        there = False
        app.main.pipeline.refresh()
        await app.until(lambda: fake.running)
        there = True
        app.main.pipeline.refresh()
        await app.until(lambda: not fake.running)


async def test_a_pipeline_that_cannot_be_read_is_said_once_and_stops_nothing(
    home: Path, fake: FakePipeline
) -> None:
    fake.error = StorageError("the pipeline's database cannot be used", where="nuggets.db")
    async with opened(home) as app:
        await app.until(lambda: "cannot be used" in app.notices)
        assert "✗ pipeline unreadable: J" in app.text
        app.app.clear_notifications()
        app.main.pipeline.refresh()
        await app.pilot.pause(0.1)
        assert not app.notices
        fake.error = None
        app.main.pipeline.refresh()
        await app.until(lambda: "! 4 proposals: i" in app.text)
