"""The whole way in the app, with a real pipeline and a model on this machine's loopback: a text becomes a note."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.app_kit import opened, small_memory
from kits.fake_ollama import FakeOllama

from core.daily import count_as_daily
from core.memory import Memory
from core.workspace import has_pipeline
from nuggets_tui.screens.dialog import AskScreen, LinesReview, LinesScreen
from nuggets_tui.screens.inbox import InboxScreen, ProposalsReview
from nuggets_tui.screens.pipeline import PipelineScreen, SubmitScreen
from nuggets_tui.widgets.fields import CompletedField, Field, TextField
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

TEXT = (
    "We looked at the numbers again. We chose PostgreSQL over MongoDB because the reports need joins. "
    "Anna Berger moves the old data on Tuesday."
)
CHOSEN = "The team chose PostgreSQL over MongoDB because the reports need joins."
MOVES = "Anna Berger moves the old data on Tuesday."
ANSWER = {
    "facts": [
        {"content": CHOSEN, "type": "decision", "confidence": 0.92},
        {"content": MOVES, "type": "fact", "confidence": 0.81},
    ],
    "entities": [],
}


def contents(home: Path) -> set[str]:
    """What the visible notes say."""
    return {note.content for note in Memory.open(home).snapshot.visible}


async def test_a_text_handed_in_becomes_proposals_and_those_accepted_notes_with_a_trail(
    tmp_path: Path,
) -> None:
    home = tmp_path / "memory"
    memory = small_memory(home)
    count_as_daily(memory, datetime.now(UTC), {})
    with FakeOllama(by_prompt=lambda prompt: ANSWER) as ollama:
        settings = f'[pipeline]\nshadowMode = true\n[pipeline.extraction]\nendpoint = "{ollama.url}"\n'
        (home / "settings.toml").write_text(settings, encoding="utf-8")
        async with opened(home, clock=lambda: datetime.now(UTC)) as app:
            await app.press("J")
            screen = await app.screen(PipelineScreen)
            await app.until(lambda: screen.now_shown is not None)
            assert not has_pipeline(home)
            await app.press("n")
            submit = await app.screen(SubmitScreen)
            submit.query_one(TextField).text = TEXT
            submit.query_one("#nugget", CompletedField).value = "shop"
            await app.press("ctrl+s")
            # Nobody pressed anything more: the app does the work while it is open.
            await app.until(lambda: screen.now_shown is not None and len(screen.now_shown.proposals) == 2)
            assert contents(home).isdisjoint((CHOSEN, MOVES))
            await app.press("escape", "i")
            await app.screen(InboxScreen)
            await app.until(lambda: "2 to decide" in app.text)
            await app.press("ctrl+a", "a")
            review = await app.screen(ProposalsReview)
            assert len(review.accepted) == 2
            await app.press("ctrl+s")
            await app.screen(InboxScreen)
            await app.until(lambda: contents(home) >= {CHOSEN, MOVES})
            await app.press("escape")
            await app.back_on_main()
            await app.until(lambda: any(note.content == CHOSEN for note in app.view.snapshot.notes))
            assert {note.nugget_name for note in app.view.snapshot.notes if note.content == CHOSEN} == {
                "shop"
            }
            await app.show(next(note.title for note in app.view.snapshot.notes if note.content == CHOSEN))
            shown = app.main.query_one("#note", LineView)
            await app.until(lambda: "We chose PostgreSQL over MongoDB" in " ".join(shown.text.split()))
            assert "submitted by you" in shown.text
            await app.press("O")
            origin = await app.screen(LinesScreen)
            assert TEXT in " ".join(origin.query_one(LineView).text.split())
            await app.press("escape")
            await app.back_on_main()
            # What I accepted is the last thing I did: the key for that takes it back, on the main screen too.
            await app.press("u")
            await app.until(lambda: contents(home).isdisjoint((CHOSEN, MOVES)))
        assert len(ollama.prompts) >= 1


async def test_a_refusal_is_undone_and_redone_on_the_main_screen_also_after_a_restart(tmp_path: Path) -> None:
    from kits.service_kit import drain, open_pipeline

    home = tmp_path / "memory"
    memory = small_memory(home)
    count_as_daily(memory, datetime.now(UTC), {})
    (home / "settings.toml").write_text(
        '[pipeline]\nshadowMode = true\n[pipeline.extraction]\nprovider = "none"\n', encoding="utf-8"
    )
    with open_pipeline(home) as pipeline:
        pipeline.ingest(TEXT)
        drain(pipeline)
        wanted = len(pipeline.proposals())
        assert wanted >= 2
        async with opened(home, clock=lambda: datetime.now(UTC)) as app:
            await app.press("i")
            screen = await app.screen(InboxScreen)
            await app.until(lambda: screen.now_shown is not None)
            await app.press("ctrl+a", "x", "y")
            await app.until(lambda: not pipeline.proposals())
            await app.until(lambda: "u undoes it" in app.notices)
            await app.press("escape")
            await app.back_on_main()
            await app.press("u")
            await app.until(lambda: len(pipeline.proposals()) == wanted)
            assert f"Undid: refused {wanted} proposals. U redoes it." in app.notices
            await app.press("U")
            await app.until(lambda: not pipeline.proposals())
        async with opened(home, clock=lambda: datetime.now(UTC)) as app:
            await app.press("u")
            await app.until(lambda: len(pipeline.proposals()) == wanted)


async def test_a_document_is_added_indexed_while_the_app_is_open_removed_and_back(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    memory = small_memory(home)
    count_as_daily(memory, datetime.now(UTC), {})
    (home / "settings.toml").write_text('[pipeline.extraction]\nprovider = "none"\n', encoding="utf-8")
    (tmp_path / "design.md").write_text("# Retry policy\n\nThe quetzal client retries.", encoding="utf-8")
    async with opened(home, clock=lambda: datetime.now(UTC)) as app:
        await app.press("J")
        screen = await app.screen(PipelineScreen)
        await app.until(lambda: screen.now_shown is not None)
        await app.press("d")
        asked = await app.screen(AskScreen)
        asked.query_one("#line", Field).value = str(tmp_path / "none.md")
        await app.press("enter")
        await app.until(lambda: "Cannot be read" in app.notices)
        asked.query_one("#line", Field).value = str(tmp_path / "design.md")
        await app.press("enter")
        await app.screen(PipelineScreen)

        def states() -> list[str]:
            return [one.status for one in screen.now_shown.documents] if screen.now_shown else []

        await app.until(lambda: states() == ["done"])
        await app.press("2")
        await app.until(lambda: screen.query_one("#documents", RowList).has_focus)
        assert "Retry policy" in app.text
        assert "searchable, 1 chunk" in app.text
        await app.press("x")
        await app.until(lambda: states() == [])
        await app.press("u")
        await app.until(lambda: states() == ["done"])


async def test_a_text_is_removed_with_its_notes_after_a_look_and_brought_back_also_another_day(
    tmp_path: Path,
) -> None:
    from kits.service_kit import drain, open_pipeline

    home = tmp_path / "memory"
    memory = small_memory(home)
    count_as_daily(memory, datetime.now(UTC), {})
    (home / "settings.toml").write_text('[pipeline.extraction]\nprovider = "none"\n', encoding="utf-8")
    with open_pipeline(home) as pipeline:
        raw_id = pipeline.ingest(f"{MOVES} [bold]Kafka[/] carries the events.").raw_id
        drain(pipeline)
    assert MOVES in contents(home)
    async with opened(home, clock=lambda: datetime.now(UTC)) as app:
        await app.press("J", "1")
        screen = await app.screen(PipelineScreen)
        await app.until(
            lambda: "x removes it and hides its notes" in " ".join(screen.details_view.text.split())
        )
        await app.press("x")
        review = await app.screen(LinesReview)
        shown = " ".join(review.query_one(LineView).text.split())
        assert "2 notes that came of it will be hidden." in shown
        assert MOVES in shown
        await app.press("n")
        await app.screen(PipelineScreen)
        assert MOVES in contents(home)
        await app.press("x")
        await app.screen(LinesReview)
        await app.press("y")
        await app.until(lambda: MOVES not in contents(home))
        await app.until(lambda: "Removed the text, 2 notes hidden. u undoes it." in app.notices)
        await app.until(lambda: "u brings it back" in " ".join(screen.details_view.text.split()))
        # It is removed: there is nothing to remove.
        await app.press("x")
        await app.until(lambda: "removed already" in app.notices)
        await app.press("u")
        await app.until(lambda: MOVES in contents(home))
        await app.until(lambda: "The text is back, 2 notes shown." in app.notices)
    with open_pipeline(home) as pipeline:
        pipeline.remove_text(raw_id)
    async with opened(home, clock=lambda: datetime.now(UTC)) as app:
        await app.press("J", "1")
        screen = await app.screen(PipelineScreen)
        await app.until(lambda: "u brings it back" in " ".join(screen.details_view.text.split()))
        await app.press("u")
        await app.until(lambda: MOVES in contents(home))
