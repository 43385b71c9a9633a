"""The audit log while somebody reads it and while nobody does, and where keys, commands and filters are explained."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import agent_on, opened

from core.graph.edits import create_note
from nuggets_tui.widgets.audit import AuditPane

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def test_the_log_shows_the_newest_entries_while_nobody_reads_it(home: Path) -> None:
    async with opened(home) as app:
        other, audit = agent_on(home), app.main.query_one(AuditPane)
        for number in range(audit.scrollable_content_region.height + 4):
            other.change("why", partial(create_note, nugget="project", title=f"Fresh {number}", content="x"))
            await app.until(lambda n=number: len(app.log) == n + 2, f"change {number}")  # type: ignore[misc]
            await app.pilot.pause()
            assert (audit.cursor, audit.scroll_offset.y) == (0, 0)
            assert f"added        Fresh {number}" in app.text
        await app.press("a", "end")
        assert audit.scroll_offset.y > 0
        await app.press("2")
        await app.until(lambda: (audit.cursor, audit.scroll_offset.y) == (0, 0), "the newest entry")
