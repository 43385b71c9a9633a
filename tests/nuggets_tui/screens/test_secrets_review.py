"""Secrets in the app: a sign where they stand, a review that never shows them, and masking that asks once more."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import WIDE, opened, small_memory

from core.facts.edits import remember
from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.service import Pipeline
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.review import SecretsReview

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

VALUE = "Blau3" + "Katze!77"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    memory = small_memory(tmp_path / "memory")
    memory.change(
        "w", partial(create_note, nugget="project", title="Wifi", content=f"The password is {VALUE}")
    )
    memory.change("f", partial(remember, nugget="project", key="db password", value=VALUE))
    memory.close()
    return tmp_path / "memory"


async def test_signs_stand_on_notes_facts_and_in_the_note(home: Path) -> None:
    async with opened(home, WIDE) as app:
        app.main.arrangement.show_facts()
        await app.until(lambda: app.text.count("⚿") >= 3)
        await app.until(lambda: "may hold a credential" in app.text)


async def test_masking_asks_once_more_and_then_it_stands_nowhere(home: Path) -> None:
    async with opened(home, WIDE) as app:
        await app.press("S")
        await app.screen(SecretsReview)
        await app.until(lambda: "[masked: password]" in app.text)
        assert VALUE not in app.text
        await app.press("ctrl+s")
        await app.screen(ConfirmScreen)
        assert "Nobody can undo this" in app.text.replace("\n", " ")
        await app.press("n")
        await app.screen(SecretsReview)
        assert Memory.open(home).secrets.holders()
        await app.press("ctrl+s")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        await app.until(lambda: "Masked 2" in app.notices)
        await app.until(lambda: "⚿" not in app.text)
    for path in home.rglob("*"):
        assert not path.is_file() or VALUE.encode() not in path.read_bytes(), path


async def test_a_text_that_was_handed_in_is_shown_masked_and_masked_for_good(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home).close()
    with Pipeline.open(home) as pipeline:
        pipeline.ingest(f"Anna runs staging.\nThe staging password is {VALUE} for now.")
    async with opened(home, WIDE) as app:
        await app.press("S")
        await app.screen(SecretsReview)
        await app.until(lambda: "[masked: password] for now" in app.text)
        assert "1 text may" in app.text
        assert VALUE not in app.text
        await app.press("ctrl+s")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        await app.until(lambda: "Masked 1 text" in app.notices)
    for path in home.rglob("*"):
        assert not path.is_file() or VALUE.encode() not in path.read_bytes(), path


async def test_a_credential_is_said_as_soon_as_it_is_saved_and_only_then(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory").close()
    async with opened(tmp_path / "memory", WIDE) as app:
        await app.show("Session store")
        await app.press("e", *" password: An0ther!one", "ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "may hold a credential (password). S masks or allows it" in app.notices)
        assert "An0ther" in Memory.open(tmp_path / "memory").search("session store")[0].note.content
        app.app.clear_notifications()
        await app.press("t", *" new", "ctrl+s")
        await app.until(lambda: "redis  new" in app.text)
        assert "credential" not in app.notices


async def test_undo_right_after_masking_names_the_change_before_it_and_asks(home: Path) -> None:
    async with opened(home, WIDE) as app:
        await app.press("S")
        await app.screen(SecretsReview)
        await app.until(lambda: "[masked: password]" in app.text)
        await app.press("ctrl+s")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        await app.until(lambda: "Masked 2" in app.notices)
        await app.press("u")
        await app.screen(ConfirmScreen)
        await app.until(lambda: "Masking cannot be undone" in app.text)
        assert 'The change before it: added "db password"' in app.text
        await app.press("n")
        await app.back_on_main()
        assert Memory.open(home).snapshot.by_name["project"].find("db password")
        await app.press("u")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.until(lambda: "Undid: " in app.notices)
    assert not Memory.open(home).snapshot.by_name["project"].find("db password")
