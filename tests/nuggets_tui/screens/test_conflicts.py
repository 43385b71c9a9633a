"""Conflicts: nothing typed is lost, all versions are shown, and either or a third can be taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, agent_on, opened
from textual.widgets import TextArea

from core.errors import ConflictError
from core.facts.edits import remember
from core.graph.edits import delete_note, edit_note
from core.memory import Memory
from core.model.draft import Draft
from core.model.note import Note
from nuggets_tui.screens.conflict import ConflictScreen
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.editor import EditorScreen

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

Edit = Callable[[Draft], object]


def stored(home: Path, title: str) -> Note:
    """A note as it stands in the files."""
    return next(note for note in Memory.open(home).snapshot.notes if note.title == title)


def collide(home: Path, theirs: Edit, mine: Edit) -> str:
    """A change of mine, made from what stood before an agent's; the id under which it waits in the log."""
    me = Memory.open(home)
    draft = me.draft()
    mine(draft)
    agent_on(home).change("newer", theirs)
    with pytest.raises(ConflictError) as raised:
        me.apply(draft.change_set("edited by hand", author=me.author))
    assert raised.value.entry
    return raised.value.entry


def texts(home: Path, mine: str = "Mine", theirs: str = "Theirs") -> str:
    """Two texts for one note."""
    store = stored(home, "Session store").id
    return collide(
        home,
        lambda draft: edit_note(draft, store, content=theirs),
        lambda draft: edit_note(draft, store, content=mine),
    )


async def waiting_conflict(app: Driver) -> ConflictScreen:
    """The conflict screen, opened by its key."""
    await app.until(lambda: app.view.log.waiting)
    await app.press("c")
    return await app.screen(ConflictScreen)


async def type_over(app: Driver, home: Path) -> ConflictScreen:
    """Edits a note while an agent changes the same text, and saves."""
    await app.show("Session store")
    note_id = app.view.note_id
    await app.press("e")
    editor = await app.screen(EditorScreen)
    editor.query_one("#text", TextArea).text = "Mine, typed for an hour."
    agent_on(home).change("newer", lambda draft: edit_note(draft, note_id, content="Theirs"))
    await app.press("ctrl+s")
    return await app.screen(ConflictScreen)


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_saving_over_another_programs_text_shows_base_yours_and_theirs(
    home: Path, size: tuple[int, int]
) -> None:
    async with opened(home, size) as app:
        screen = await type_over(app, home)
        for shown in ("Redis holds sessions for an hour.", "Mine, typed for an hour.", "Yours", "claude's"):
            await app.until(lambda shown=shown: shown in app.text)  # type: ignore[misc]
        assert "esc decide later" in app.text
        versions = [screen.query_one(f"#{side}").region for side in ("base", "ours", "theirs", "result")]
        for one in versions:
            assert screen.region.contains_region(one)
            assert one.height >= 3
            assert not any(one.overlaps(other) for other in versions if other is not one)
        assert (versions[0].y == versions[1].y) == (size == WIDE)


async def test_a_conflict_that_comes_up_elsewhere_is_told_at_once_and_opened_by_its_key(home: Path) -> None:
    agent_on(home).change("stored", lambda draft: remember(draft, "prefs", "user:k", "base"))
    for name in ("prefs.nugget", "graph/graph"):
        copied = (home / f"{name}.json").read_bytes().replace(b'"base"', b'"theirs"')
        (home / f"{name} (1).json").write_bytes(copied)
    other = Memory.open(home)
    other.change("edited", lambda draft: remember(draft, "prefs", "user:k", "mine"))
    async with opened(home) as app:
        await app.until(lambda: app.view.log.loaded)
        assert "two ways" not in app.notices
        assert other.maintenance.resolve().conflicts
        app.main.audit.refresh()
        await app.until(lambda: "Changed in two ways: user:k" in app.notices)
        assert "c shows both" in app.notices
        screen = await waiting_conflict(app)
        await app.until(lambda: "theirs" in app.text and "mine" in app.text)
        assert screen.result == "mine", "what the copy says is looked at before it is taken"
        assert app.app.screen is screen


async def test_esc_leaves_what_was_typed_waiting_in_the_log(home: Path) -> None:
    async with opened(home) as app:
        await type_over(app, home)
        await app.press("escape")
        await app.back_on_main()
        assert "waits in the audit log" in app.notices
        await app.until(lambda: "! 1 conflict waits: c" in app.text)
        assert "! waits " in app.text
    assert stored(home, "Session store").content == "Theirs"
    async with opened(home) as app:
        await waiting_conflict(app)
        assert "Mine, typed for an hour." in app.text


async def test_yours_is_saved_over_theirs_and_u_brings_theirs_back(home: Path) -> None:
    async with opened(home) as app:
        await type_over(app, home)
        await app.press("y", "ctrl+s")
        await app.back_on_main()
        assert stored(home, "Session store").content == "Mine, typed for an hour."
        await app.until(lambda: app.view.log.loaded and not app.view.log.waiting)
        assert "conflict waits" not in app.text
        await app.press("u")
        await app.until(lambda: stored(home, "Session store").content == "Theirs")


async def test_a_conflict_is_known_to_its_key_before_the_log_shows_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as app:
        for name in ("read_log", "refresh"):
            monkeypatch.setattr(f"nuggets_tui.controllers.history.AuditController.{name}", lambda self: None)
        texts(home)
        await app.press("c")
        assert not app.view.waiting
        await app.screen(ConflictScreen)


async def test_theirs_stays_and_the_conflict_is_settled(home: Path) -> None:
    texts(home)
    async with opened(home) as app:
        await waiting_conflict(app)
        await app.press("t")
        assert "save claude's" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        assert stored(home, "Session store").content == "Theirs"
        await app.until(lambda: not app.view.log.waiting)
        assert "Resolved: kept claude's version" in app.notices
        assert "resolved" in app.text
        await app.press("u")
        await app.until(lambda: bool(app.view.log.waiting))
        assert stored(home, "Session store").content == "Theirs"


async def test_a_version_that_somebody_else_keeps_waiting_is_not_taken_unasked(home: Path) -> None:
    store = stored(home, "Session store").id
    agent = agent_on(home)
    draft = agent.draft()
    edit_note(draft, store, content="Theirs")
    Memory.open(home).change("newer", lambda draft: edit_note(draft, store, content="Mine"))
    with pytest.raises(ConflictError):
        agent.apply(draft.change_set("edited by claude", author=agent.author))
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        assert screen.result == "Mine"
        assert "save yours" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: not app.view.log.waiting)
    assert stored(home, "Session store").content == "Mine"


async def test_an_edited_result_takes_the_place_of_both(home: Path) -> None:
    texts(home)
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        await app.press("t", "e")
        await app.press(*" and mine")
        assert screen.edited
        assert "save as edited" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        assert stored(home, "Session store").content == "Theirs and mine"
        await app.until(lambda: not app.view.log.waiting)


async def test_letters_are_typed_in_the_result_and_act_beside_it(home: Path) -> None:
    texts(home)
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        await app.press("e", *"tye")
        assert screen.result == "Minetye"
        await app.press("escape", "t")
        assert screen.result == "Theirs"


async def test_leaving_asks_first_when_the_result_was_edited(home: Path) -> None:
    texts(home)
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        await app.press("e", *" x", "escape", "escape")
        await app.screen(ConfirmScreen)
        await app.press("n")
        await app.until(lambda: app.app.screen is screen)
        assert screen.result == "Mine x"
        await app.press("escape")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        assert app.view.log.waiting
    assert stored(home, "Session store").content == "Theirs"


async def test_an_empty_result_is_not_saved(home: Path) -> None:
    texts(home)
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        screen.query_one("#result", TextArea).text = " \n "
        await app.press("ctrl+s")
        await app.until(lambda: "result is empty" in app.notices)
        assert app.app.screen is screen


async def test_a_fact_and_its_note_take_the_same_result(home: Path) -> None:
    fact = stored(home, "test command").id
    collide(
        home,
        lambda draft: remember(draft, "project", "test command", "pytest -x"),
        lambda draft: edit_note(draft, fact, content="pytest -n auto"),
    )
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        screen.query_one("#result", TextArea).text = "pytest -x -n auto"
        await app.press("ctrl+s")
        await app.back_on_main()
    memory = Memory.open(home)
    assert memory.snapshot.by_id[fact].content == "pytest -x -n auto"
    assert memory.recall("test command", record=False).answer == "pytest -x -n auto"


@pytest.mark.parametrize("take", ["y", "t"])
async def test_a_note_deleted_meanwhile_comes_back_or_stays_away(home: Path, take: str) -> None:
    store = stored(home, "Session store").id
    collide(
        home,
        lambda draft: delete_note(draft, store),
        lambda draft: edit_note(draft, store, content="Mine"),
    )
    async with opened(home) as app:
        await waiting_conflict(app)
        assert "has been deleted since" in app.text
        assert "It is deleted." in app.text
        assert "e edit" not in app.text
        await app.press(take, "ctrl+s")
        await app.back_on_main()
        notes = {note.id: note.content for note in Memory.open(home).snapshot.notes}
        assert notes.get(store) == ("Mine" if take == "y" else None)


async def test_theirs_is_what_stands_in_the_files_now(home: Path) -> None:
    texts(home)
    store = stored(home, "Session store").id
    agent_on(home).change("newest", lambda draft: edit_note(draft, store, content="Newest of all"))
    async with opened(home) as app:
        await waiting_conflict(app)
        assert "Newest of all" in app.text


async def test_a_conflict_that_cannot_be_kept_leaves_the_editor_open_with_everything_in_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.storage.store.Store.keep_conflict", lambda *arguments: "")
    async with opened(home) as app:
        await app.show("Session store")
        note_id = app.view.note_id
        await app.press("e")
        editor = await app.screen(EditorScreen)
        editor.query_one("#text", TextArea).text = "Mine"
        agent_on(home).change("newer", lambda draft: edit_note(draft, note_id, content="Theirs"))
        await app.press("ctrl+s")
        await app.until(lambda: "changed in two ways" in app.notices)
        assert app.app.screen is editor
        assert editor.values["text"] == "Mine"


async def test_a_text_from_an_editor_outside_waits_when_it_meets_another(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stored(home, "Session store").id

    def edit_meanwhile(app: object, text: str) -> str:
        agent_on(home).change("newer", lambda draft: edit_note(draft, store, content="Theirs"))
        return "Mine from outside"

    monkeypatch.setattr("nuggets_tui.file_opening.edit_outside", edit_meanwhile)
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("E")
        screen = await app.screen(ConflictScreen)
        assert screen.result == "Mine from outside"


async def test_all_conflicts_that_wait_are_settled_alike(home: Path) -> None:
    note = stored(home, "Session store").id
    for number in range(3):
        texts(home, f"Mine {number}", f"Theirs {number}")
    async with opened(home) as app:
        screen = await waiting_conflict(app)
        await app.press("t")
        await app.press("a")
        assert "in all 3" in str(screen.key_line())
        await app.press("ctrl+s")
        await app.until(lambda: not app.view.log.waiting)
    assert Memory.open(home).snapshot.note(note).content == "Theirs 2"
    assert Memory.open(home).history.conflicts() == ()
