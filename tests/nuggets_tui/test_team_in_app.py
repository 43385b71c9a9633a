"""The team's notes in the app: beside a person's own, and in their place."""

from __future__ import annotations

import os
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from kits.app_kit import NARROW, NOW, WIDE, Driver, opened, small_memory
from kits.claude_pages import tree
from textual.widgets import TextArea

from core.graph.edits import create_note
from core.memory import Memory
from core.team import answer_for, entry_for, remember, trust_folder
from nuggets_tui.controllers.team import TeamController
from nuggets_tui.screens.conflict import ConflictScreen
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.share_review import ShareReview
from nuggets_tui.session import Session
from nuggets_tui.widgets.notes import NotesPane

pytestmark = pytest.mark.slow

NOTES = {
    "vpn-for-staging.md": "---\ntitle: VPN for staging\ntags: [deploy]\n---\n\nConnect to the VPN, then run deploy.\n",
    "release-day.md": "---\ntitle: Release day\n---\n\nReleases go out on Thursdays. See [[VPN for staging]].\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a team's notes, in which the app is started."""
    folder = tmp_path / "shop" / ".nuggets" / "notes"
    folder.mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    trust_folder(folder)
    monkeypatch.chdir(tmp_path / "shop")
    small_memory(tmp_path / "own").close()
    return tmp_path / "shop"


async def with_team(app: Driver) -> None:
    await app.until(lambda: app.view.team is not None, "the team's notes")


def pane(app: Driver, name: str) -> str:
    """What stands in a pane."""
    region = app.main.query_one(f"#{name}").region
    lines = app.text.split("\n")[region.y : region.bottom]
    return "\n".join(line[region.x : region.right] for line in lines)


async def search(app: Driver, text: str) -> None:
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)


async def show(app: Driver, title: str) -> None:
    """Shows a note of the team's, as a hit does."""
    assert app.view.team is not None
    note = next(note for note in app.view.team.snapshot.notes if note.title == title)
    app.main.show_note(note.id)
    app.main.go_to("note")
    await app.pilot.pause()


async def test_after_a_search_of_the_teams_notes_the_row_under_the_cursor_is_shown(
    project: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        await search(app, "is:team")
        await app.press("enter")
        assert app.view.of_team(app.view.note_id)
        await app.press("escape")
        await app.until(lambda: app.view.found is None, "no search")
        await app.until(lambda: not app.view.of_team(app.view.note_id), "a note of the list")
        row = app.main.query_one("#notes", NotesPane).cursor_row
        assert row is not None
        assert row.data == app.view.note_id


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_who_has_no_notes_yet_finds_the_teams_and_is_back_at_how_to_begin(
    project: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    (tmp_path / "new").mkdir()
    async with opened(tmp_path / "new", size) as app:
        await with_team(app)
        await app.until(lambda: "search it from here" in app.text, "how to begin")
        await search(app, "releases")
        await app.until(lambda: "Release day" in app.text and "Welcome" not in app.text, "the hit")
        assert app.main.focused is app.main.search_box
        await app.press("enter")
        await app.until(lambda: app.view.note is not None and app.view.note.title == "Release day")
        await app.press("escape")
        await app.until(lambda: "Welcome" in app.text and "Release day" not in app.text, "how to begin again")
        await app.until(lambda: app.view.note is None, "no key changes what nobody sees")
        await app.until(lambda: app.main.focused is app.main.query_one("#message"), "what is shown")


async def test_the_teams_notes_are_listed_for_who_has_none_and_the_first_own_note_joins_them(
    project: Path, tmp_path: Path
) -> None:
    home = tmp_path / "new"
    home.mkdir()
    async with opened(home, WIDE) as app:
        await with_team(app)
        app.main.team.list_alone()
        await app.until(lambda: "VPN for staging" in app.text and "Welcome" not in app.text, "the list")
        Memory.open(home).change("first", lambda draft: create_note(draft, "web", "Mine", "Of my own."))
        await app.until(lambda: not app.view.empty, "the first note")
        app.main.team.list_alone()
        await app.until(lambda: "Mine" in pane(app, "notes") and "Welcome" not in app.text, "one's own")


async def test_a_team_note_is_edited_in_its_file_and_undone_there(project: Path, tmp_path: Path) -> None:
    page = project / ".nuggets" / "notes" / "release-day.md"
    before, own = page.read_bytes(), (tmp_path / "own" / "graph" / "graph.json").read_bytes()
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        await show(app, "Release day")
        await app.until(lambda: "on Thursdays" in app.text)
        await app.press("e")
        screen = await app.screen(EditorScreen)
        area = screen.query_one(TextArea)
        area.text = area.text.replace("Thursdays", "Fridays")
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: b"Fridays" in page.read_bytes(), "the file says it")
        await app.until(lambda: "on Fridays" in app.text, "the pane says it")
        assert "in the team's notes" in app.notices
        await app.press("u")
        await app.until(lambda: page.read_bytes() == before, "undone")
        await app.press("ctrl+r")
        await app.until(lambda: b"Fridays" in page.read_bytes(), "done again")
    assert (tmp_path / "own" / "graph" / "graph.json").read_bytes() == own


async def test_undo_takes_back_the_newest_change_of_either_memory(project: Path, tmp_path: Path) -> None:
    page = project / ".nuggets" / "notes" / "release-day.md"
    before = page.read_bytes()
    times = iter(range(100_000))
    clock = lambda: NOW + timedelta(seconds=next(times))  # noqa: E731
    async with opened(tmp_path / "own", WIDE, clock=clock) as app:
        await with_team(app)
        await show(app, "Release day")
        app.main.notes.pin()
        await app.until(lambda: "pinned" in app.view.note.tags, "the team's note is pinned")
        await app.show("Deploy day")
        app.main.notes.pin()
        await app.until(lambda: "pinned" in app.view.note.tags, "one's own is, too")
        await app.press("u")
        await app.until(lambda: "pinned" not in app.view.note.tags, "one's own first")
        await show(app, "Release day")
        assert "pinned" in app.view.note.tags
        await app.press("u")
        await app.until(lambda: "pinned" not in app.view.note.tags, "then the team's")
    assert page.read_bytes() == before


async def test_what_somebody_else_changed_meanwhile_is_a_conflict_that_can_be_resolved(
    project: Path, tmp_path: Path
) -> None:
    page = project / ".nuggets" / "notes" / "release-day.md"
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        await show(app, "Release day")
        await app.press("e")
        screen = await app.screen(EditorScreen)
        area = screen.query_one(TextArea)
        area.text = area.text.replace("Thursdays", "Fridays")
        page.write_text(page.read_text().replace("Thursdays", "Mondays"))
        await app.press("ctrl+s")
        await app.screen(ConflictScreen)
        await app.until(lambda: "Mondays" in app.text and "Fridays" in app.text, "both versions")
        await app.press("escape")
        await app.back_on_main()
        await app.until(lambda: "1 conflict waits" in app.text.split("\n")[0], "the header says it")
        await app.press("c")
        await app.screen(ConflictScreen)
        await app.press("escape")


async def test_what_a_pull_brings_appears(project: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        (project / ".nuggets" / "notes" / "new.md").write_text("---\ntitle: New\n---\n\nJust pulled.\n")
        await app.until(lambda: "3 team notes" in app.text.split("\n")[0])


async def test_own_and_team_notes_selected_together_are_not_changed_together(
    project: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        ids = {app.view.team.snapshot.notes[0].id, app.view.snapshot.visible[0].id}
        app.main.selection.select(frozenset(ids))
        await app.press("x")
        assert "1 of the 2 selected notes are the team's" in app.notices
        assert all(app.view.find(id) is not None and not app.view.find(id).hidden for id in ids)


async def test_the_teams_memory_opens_in_place_and_the_same_key_goes_back(
    project: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        await app.press("N")
        await app.until(lambda: app.view.loaded and app.view.team_home, "the team's memory")
        await app.until(lambda: "Release day" in app.text and "Deploy day" not in app.text)
        assert "team: shop" in app.text.split("\n")[0]
        await app.ready()
        await app.press("N")
        await app.until(lambda: app.view.loaded and not app.view.team_home, "one's own again")
        await app.until(lambda: "Deploy day" in app.text)
        await with_team(app)


async def test_the_key_of_the_teams_memory_counts_before_it_was_found(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, find = threading.Event(), TeamController._folder

    def folder_later(controller: TeamController, session: Session) -> Path | None:
        found.wait()
        return find(controller, session)

    monkeypatch.setattr(TeamController, "_folder", folder_later)
    async with opened(tmp_path / "own", WIDE) as app:
        await app.press("N")
        assert app.view.team is None
        found.set()
        await app.until(lambda: app.view.loaded and app.view.team_home, "the team's memory")


async def test_without_a_team_folder_nothing_of_it_is_there(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(tmp_path / "own", WIDE) as app:
        await app.main.team.opened()
        assert app.view.team is None
        assert "team" not in app.text
        assert not app.main.can("team")
        assert not app.main.can("team_notes")
        await app.press("N")
        assert app.notices == ""


def test_nothing_of_the_app_lies_in_the_repository(project: Path) -> None:
    folder = project / ".nuggets" / "notes"
    memory = Memory.open(folder)
    memory.close()
    assert sorted(path.name for path in folder.iterdir()) == sorted(NOTES)


async def test_the_teams_notes_are_listed_alone_and_their_rows_say_so(project: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        app.main.team.list_alone()
        await app.until(lambda: app.view.found is not None and len(app.view.found.hits) == 2)
        await app.until(lambda: "VPN for staging" in app.text and "Session store" not in app.text)
        app.main.team.list_alone()
        await app.until(lambda: app.view.found is None and "Session store" in app.text)


async def test_nothing_of_a_project_is_shown_until_a_key_and_a_yes_trust_it(
    project: Path, tmp_path: Path
) -> None:
    remember(entry_for(project / ".nuggets" / "notes"), trusted=False)
    os.remove(Path(os.environ["NUGGETS_STATE"], "trusted.json"))
    async with opened(tmp_path / "own", WIDE) as app:
        await app.until(lambda: app.view.untrusted == 2, "two notes wait")
        assert app.view.team is None
        await search(app, "releases go out")
        await app.until(lambda: app.view.found is not None)
        assert "Thursdays" not in app.text
        await app.press("escape", "ctrl+t")
        await app.screen(ConfirmScreen)
        await app.press("enter")
        await app.back_on_main()
        assert (app.view.untrusted, app.view.team) == (2, None)
        await app.press("ctrl+t")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await with_team(app)
        assert app.view.untrusted == 0
        assert not app.main.can("trust")
    assert answer_for(entry_for(project / ".nuggets" / "notes"))


async def test_notes_are_shared_after_a_review_of_their_files_and_undone(
    project: Path, tmp_path: Path
) -> None:
    folder = project / ".nuggets" / "notes"
    before = tree(folder)
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        await app.show("Auth middleware")
        await app.press("H")
        await app.screen(ShareReview)
        await app.until(lambda: "# Auth middleware" in app.text, "the file as it will be")
        assert "1 of 1" in app.text
        assert tree(folder) == before
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: len(tree(folder)) == 3, "written")
        assert "Wrote 1 file in the team's notes" in app.notices
        await app.until(lambda: "3 team notes" in app.text.split("\n")[0])
        await app.press("u")
        await app.until(lambda: tree(folder) == before, "undone")


async def test_what_may_hold_a_credential_is_refused_with_the_reason_and_the_rest_is_shared(
    project: Path, tmp_path: Path
) -> None:
    memory = Memory.open(tmp_path / "own")
    token = "ghp_" + "a1B2" * 9
    memory.change(
        "add", lambda draft: create_note(draft, "project", "Deploy token", f"The token is {token}.")
    )
    memory.close()
    folder = project / ".nuggets" / "notes"
    async with opened(tmp_path / "own", WIDE) as app:
        await with_team(app)
        ids = {note.id for note in app.view.snapshot.visible if note.title in ("Deploy token", "Deploy day")}
        app.main.selection.select(frozenset(ids))
        await app.press("H")
        await app.screen(ShareReview)
        assert "refused" in app.text
        assert "may hold a credential" in app.text
        assert token not in app.text
        await app.press("a", "a", "down", "space", "up", "space")
        await app.press("a")
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: len(tree(folder)) == 3, "the other one is written")
        assert not any(token.encode() in data for data in tree(folder).values())


async def test_where_no_folder_is_sharing_offers_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    monkeypatch.chdir(project)
    small_memory(tmp_path / "own").close()
    async with opened(tmp_path / "own", WIDE) as app:
        await app.main.team.opened()
        await app.show("Auth middleware")
        app.main.team.share()
        await app.screen(ConfirmScreen)
        assert not (project / ".nuggets").exists()
        await app.press("y")
        await app.screen(ShareReview)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: (project / ".nuggets" / "notes" / "auth-middleware.md").exists())
