"""What goes on at the session at the same time."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import NOW, small_memory

from core.services.recall import RecallService
from nuggets_tui.session import Session


async def test_neither_a_search_nor_a_change_waits_for_facts_that_are_decoded_for_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = small_memory(tmp_path / "memory")
    session = Session(memory, lambda: NOW)
    decoding, done = threading.Event(), threading.Event()
    recall = RecallService.recall

    def slow(*arguments: Any, **named: Any) -> Any:
        decoding.set()
        assert done.wait(60)
        return recall(*arguments, **named)

    monkeypatch.setattr(RecallService, "recall", slow)
    found = await session.find("auth")
    assert found is not None
    asked = asyncio.ensure_future(session.recall("auth"))
    await asyncio.to_thread(decoding.wait, 60)
    again = await asyncio.wait_for(session.find("token"), 60)
    assert again is not None
    assert again.hits
    await asyncio.wait_for(session.change("seen", lambda draft: None), 60)
    assert not asked.done()
    done.set()
    await asked
