"""Filtering the audit log from its key, and what the pane says of filters, days, runs and a log that cannot be read."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, NOW, WIDE, Driver, agent_on, opened

from core.errors import StorageError
from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.model.change import Author, ChangeSet
from nuggets_tui.log import Log, LogLine
from nuggets_tui.screens.dialog import AskScreen
from nuggets_tui.screens.entry import EntryScreen
from nuggets_tui.view import Past, View
from nuggets_tui.widgets.audit import AuditPane, AuditRows
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.words import Deed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


def tag_all(memory: Memory, author: Author, kind: str = "edit") -> ChangeSet:
    """Tags every note, as one entry."""
    draft = memory.draft()
    for note in memory.snapshot.notes:
        edit_note(draft, note.id, add_tags=["checked"])
    return memory.apply(draft.change_set("cleanup", author=author, kind=kind))  # type: ignore[arg-type]


async def choose(app: Driver, wanted: str) -> None:
    """Opens the filter, types it, and shows what fits."""
    await app.press("F")
    await app.screen(AskScreen)
    app.fill("#line", wanted)
    await app.press("enter")
    await app.back_on_main()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_filter_is_told_in_the_pane_and_the_same_key_lets_it_go(
    home: Path, size: tuple[int, int]
) -> None:
    agent_on(home).change("theirs", partial(create_note, nugget="project", title="Theirs", content="x"))
    tag_all(Memory.open(home, clock=lambda: NOW), Author("reflection"), "reflection")
    async with opened(home, size) as app:
        every = len(app.log)
        await choose(app, "by:agents since:7d")
        await app.until(lambda: [line.reason for line in app.log] == ["theirs"])
        assert "by agents · since 7d" in app.text
        await app.press("F")
        await app.until(lambda: len(app.log) == every)
        assert "by agents" not in app.text
        await choose(app, "did:reflection")
        await app.until(lambda: [line.kind for line in app.log] == ["reflection"])
        assert "◈" in app.text
        await app.press("escape")
        await app.until(lambda: len(app.log) == every)


async def test_words_are_looked_for_and_nothing_found_names_the_way_out(home: Path) -> None:
    agent_on(home).change("theirs", partial(create_note, nugget="project", title="Ünï code", content="x"))
    async with opened(home) as app:
        await choose(app, "ünï CODE")
        await app.until(lambda: [line.reason for line in app.log] == ["theirs"])
        await app.press("F")
        await choose(app, "no such words")
        await app.until(lambda: "No entry matches" in app.text)
        assert "clears them" in app.text


async def test_the_header_tells_the_newest_change_whatever_is_filtered(home: Path) -> None:
    agent_on(home).change("theirs", partial(create_note, nugget="project", title="Theirs", content="x"))
    async with opened(home) as app:
        await choose(app, "by:you")
        await app.until(lambda: app.view.log.scope.filtered and app.view.log.loaded)
        assert "claude added Theirs" in app.text.split("\n")[0]


async def test_an_entry_of_a_thousand_changes_opens_and_one_of_them_is_taken_back(tmp_path: Path) -> None:
    from kits.memory_files import note_object, write_graph

    write_graph(tmp_path, [note_object(number) for number in range(1, 1_001)])
    memory = Memory.open(tmp_path, clock=lambda: NOW)
    done = tag_all(memory, Author("agent", "claude"))
    assert done.size == 1_000
    memory.close()
    async with opened(tmp_path) as app:
        await app.press("a", "enter")
        screen = await app.screen(EntryScreen)
        changes = screen.query_one(RowList)
        assert changes.count == 1_000
        await app.press("end")
        row = changes.cursor_row
        assert row is not None
        await app.press("space")
        await app.until(lambda: "1 undone" in app.text)
    assert Memory.open(tmp_path).history.taken_back() == {row.key}


def test_a_pane_whose_log_cannot_be_read_says_so() -> None:
    pane = AuditPane()
    problem = StorageError("the history cannot be read", where="nuggets.db", todo="look at who may read it")
    pane._update_title(View(log=Log(loaded=True, complete=True, problem=problem.message)))
    assert "cannot be read" in str(pane.empty_text)
    assert "nuggets.db" in str(pane.empty_text)


# Rows


def line(
    seq: int, *, days: float = 0.0, what: str = "a note", author: str = "claude", counts: str = ""
) -> LogLine:
    """A line of the log, so many days old."""
    moment = NOW - timedelta(days=days)
    return LogLine(
        seq=seq, id=f"e{seq}", at=moment.isoformat(), author=Author("agent", author), kind="edit", reason="",
        deed=Deed("edited", what), counts=counts, day=moment.astimezone().toordinal(),
    )  # fmt: skip


def rows(*lines: LogLine, past: Past | None = None) -> AuditRows:
    """The rows of some lines, newest first."""
    return AuditRows(View(log=Log(lines=lines, loaded=True), now=NOW, past=past))


async def test_a_kind_of_change_that_is_none_is_said_and_the_line_stays(home: Path) -> None:
    async with opened(home) as app:
        await app.press("F")
        screen = await app.screen(AskScreen)
        app.fill("#line", "did:nothing")
        await app.press("enter")
        await app.until(lambda: "nothing" in app.notices)
        assert app.app.screen is screen
