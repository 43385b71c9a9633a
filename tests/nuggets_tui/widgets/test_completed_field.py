"""What a field offers is what the memory has; typing wins, and nothing hostile is offered."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import opened, small_memory

from core.graph.edits import create_note
from core.memory import Memory
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.forms import FormScreen
from nuggets_tui.widgets.fields import CompletedField, Field, key_offers, nugget_offers, tag_offers


@pytest.fixture
def home(tmp_path: Path) -> Path:
    memory = small_memory(tmp_path / "memory")
    memory.change(
        "more", lambda draft: create_note(draft, "prefs", "Style", "Two spaces.", tags=["auth-flow", "redis"])
    )
    return tmp_path / "memory"


def test_tags_are_offered_by_use_and_none_twice(home: Path) -> None:
    snapshot = Memory.open(home).snapshot
    assert [offer.word for offer in tag_offers(snapshot, "au")] == ["auth", "auth-flow"]
    assert [offer.word for offer in tag_offers(snapshot, "auth au")] == ["auth-flow"]
    assert [(offer.rest, offer.about) for offer in tag_offers(snapshot, "x, RE")] == [
        ("dis", "2 notes"),
        ("lease", "1 note"),
    ]
    for nothing in ("", "auth ", "redis, ", "zz", "release"):
        assert not tag_offers(snapshot, nothing)


def test_nuggets_and_keys_are_offered_with_what_they_hold(home: Path) -> None:
    snapshot = Memory.open(home).snapshot
    assert [offer.word for offer in nugget_offers(snapshot, "PR")] == ["project", "prefs"]
    assert [(offer.word, offer.about) for offer in key_offers(snapshot, "project", "te")] == [
        ("test command", "= pytest -q")
    ]
    assert not key_offers(snapshot, "project", "")
    assert not key_offers(snapshot, "nowhere", "te")


@pytest.mark.slow
async def test_tab_takes_what_is_offered_and_else_goes_on(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Deploy day")
        await app.press("t")
        form = await app.screen(FormScreen)
        field = form.query_one("#tags", CompletedField)
        await app.press(*"au")
        await app.until(lambda: field.offered)
        assert "tab auth 2 notes" in app.text
        await app.press("up")
        await app.press("tab")
        assert field.value == "release auth-flow"
        await app.press("space", *"re")
        await app.until(lambda: field.offered)
        # Typing on wins over what is offered.
        await app.press("q", "ctrl+s")
        await app.back_on_main()
        tags = set(Memory.open(home).snapshot.resolve("Deploy day").tags)
        assert {"release", "auth-flow", "req"} <= tags


@pytest.mark.slow
async def test_a_key_that_is_there_is_said_before_it_is_replaced(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1", "f")
        form = await app.screen(FormScreen)
        field = form.query_one("#key", CompletedField)
        await app.press(*"te")
        await app.until(lambda: field.offered)
        await app.press("tab")
        assert field.value == "test command"
        await app.press("tab")
        assert form.query_one("#value").has_focus
        await app.until(lambda: "now: pytest -q · saving replaces it" in app.text)
        await app.press(*"make", "ctrl+s")
        await app.back_on_main()
        assert Memory.open(home).recall("test command", record=False).answer == "make"


@pytest.mark.slow
async def test_what_is_wrong_is_said_beside_the_field(home: Path) -> None:
    async with opened(home) as app:
        await app.press("n")
        editor = await app.screen(EditorScreen)
        await app.press("ctrl+s")
        title = editor.query_one("#title", Field)
        await app.until(lambda: "cannot be empty" in str(title.border_subtitle))
        await app.press("T")
        assert not str(title.border_subtitle)
        editor.query_one("#confidence", Field).value = "much"
        await app.press("ctrl+s")
        confidence = editor.query_one("#confidence", Field)
        await app.until(lambda: confidence.has_focus and "number" in str(confidence.border_subtitle))
