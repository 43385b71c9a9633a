"""What others did: said of the note shown, marked since the last visit, and told beside the note itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from kits.app_kit import NOW, agent_on, opened, small_memory

from core.graph.edits import delete_note, edit_note

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def test_who_changes_the_note_shown_is_said_and_of_another_note_nothing(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    agent = agent_on(home)
    notes = {note.title: note.id for note in agent.snapshot.notes}
    async with opened(home) as app:
        await app.show("Session store")
        agent.change("other", lambda draft: edit_note(draft, notes["Deploy day"], content="On Mondays."))
        await app.until(lambda: app.view.snapshot.note(notes["Deploy day"]).content == "On Mondays.")
        agent.change("shown", lambda draft: edit_note(draft, notes["Session store"], content="Valkey."))
        await app.until(lambda: "Session store" in app.notices, "the notice")
        assert '"Session store", the note shown, was changed by claude' in app.notices
        assert "Deploy day" not in app.notices
        await app.until(lambda: app.view.origin is not None and app.view.origin.changed_by == "claude")
        agent.change("gone", lambda draft: delete_note(draft, notes["Session store"]))
        await app.until(
            lambda: '"Session store", the note shown, was deleted by claude' in app.notices,
            "the second notice",
        )


async def test_what_is_new_since_the_last_visit_bears_the_word_and_nothing_does_at_the_first(
    tmp_path: Path,
) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    async with opened(home) as app:
        assert " new " not in app.text
    agent = agent_on(home, at=NOW + timedelta(hours=2))
    note = next(note for note in agent.snapshot.notes if note.title == "Session store")
    agent.change("seen", lambda draft: edit_note(draft, note.id, content="Valkey."))
    async with opened(home, clock=lambda: NOW + timedelta(hours=3)) as app:
        await app.until(lambda: app.view.new_since, "the last visit")
        await app.pilot.pause()
        marked = [line for line in app.text.splitlines() if " new 60 min" in line or " new 1 h" in line]
        assert len(marked) == 1
        assert "Session store" in marked[0]
        # What the person does is no news to them.
        await app.show("Deploy day")
        await app.press("P")
        await app.until(lambda: app.log[0].deed.verb == "pinned", "the pin")
        await app.pilot.pause()
        assert sum(" new " in line for line in app.text.splitlines()) == 1


async def test_what_was_said_of_trouble_goes_when_the_trouble_goes(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    graph = home / "graph" / "graph.json"
    whole = graph.read_bytes()
    async with opened(home) as app:
        graph.write_bytes(whole[:40])
        await app.until(lambda: app.view.trouble and "cannot be read" in app.notices, "the trouble")
        graph.write_bytes(whole)
        await app.until(lambda: "readable again" in app.notices, "the good news")
        assert "cannot be read" not in app.notices
