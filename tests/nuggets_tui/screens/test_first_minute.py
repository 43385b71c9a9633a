"""Tests of the first minute: an agent is connected and memories are imported from the app, with a preview of each."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event

import pytest
from kits.agent_files import SERVERS, tree
from kits.app_kit import NARROW, WIDE, Driver, agent_on, assert_harmless, opened, small_memory
from kits.memory_files import fact_object, write_nugget

from core.facts.edits import remember
from core.memory import Memory
from nuggets_tui import pace
from nuggets_tui.notices import dismiss_all
from nuggets_tui.pace import LongWork
from nuggets_tui.palette import Palette
from nuggets_tui.screens.dialog import AskScreen, ChoiceScreen
from nuggets_tui.screens.first_minutes import AgentScreen
from nuggets_tui.screens.memories import ImportReview

pytestmark = pytest.mark.slow
_OURS = (".local", ".nuggets", ".cache", "memory", ".config/nuggets")


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with Claude Code, its pages and its settings, and no other agent."""
    home = tmp_path / "person"
    pages = home / ".claude" / "projects" / "-work-web" / "memory"
    pages.mkdir(parents=True)
    (pages / "MEMORY.md").write_text(
        "# What I know\n\n- Tests run with `pytest -q`\n- Deploys go out on Tuesdays\n"
    )
    (home / ".claude" / "settings.json").write_text('{"model": "opus", "permissions": {"allow": []}}\n')
    (home / ".claude.json").write_text(SERVERS)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home / "bin"))
    return home


def of_agents(user: Path) -> dict[str, bytes | None]:
    """The person's files but for our own."""
    return {path: data for path, data in tree(user).items() if not path.startswith(_OURS)}


async def choose_in_palette(app: Driver, words: str) -> None:
    await app.press("ctrl+p")
    await app.screen(Palette)
    app.fill("#words", words)
    await app.pilot.pause()
    await app.press("enter")


async def test_an_empty_memory_offers_one_key_each_for_what_was_found(person: Path) -> None:
    small_memory(person / ".donna")
    async with opened(person / ".nuggets") as app:
        await app.until(lambda: "connect Claude Code" in " ".join(app.text.split()))
        said = " ".join(app.text.split())
        assert "1 import Claude Code 1 project with 1 page" in said
        assert "2 import ~/.donna" in said
        assert "3 connect Claude Code" in said
        assert "connect Codex" not in said
        await app.press("1")
        await app.screen(ImportReview)
        await app.press("escape")
        await app.back_on_main()
        await app.press("3")
        await app.screen(AgentScreen)
        await app.press("escape")
        await app.back_on_main()
        await app.press("4")
        assert app.app.screen is app.main
    assert not (person / ".nuggets").exists()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_an_agent_is_connected_after_a_preview_and_taken_back_byte_for_byte(
    person: Path, size: tuple[int, int]
) -> None:
    before = of_agents(person)
    home = person / "memory"
    small_memory(home)
    async with opened(home, size) as app:
        await choose_in_palette(app, "connect agent")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "not connected" in app.text)
        assert "not found on this machine" in app.text
        await app.press("enter")
        await app.screen(AgentScreen)
        await app.until(lambda: "+" in app.text and '"nuggets"' in app.text)
        assert of_agents(person) == before
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Claude Code is connected" in app.notices)
        server = json.loads((person / ".claude.json").read_bytes())["mcpServers"]["nuggets"]
        assert server["args"][-3:] == ["mcp", "--home", str(home)]
        assert "nuggets" in (person / ".claude" / "CLAUDE.md").read_text()
        await choose_in_palette(app, "connect agent")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "connected with this memory" in app.text)
        await app.press("enter")
        await app.screen(AgentScreen)
        await app.until(lambda: "there is nothing to change" in " ".join(app.text.split()))
        await app.press("d")
        await app.until(lambda: "This would disconnect Claude Code" in app.text)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "no longer connected" in app.notices)
    assert of_agents(person) == before


async def test_a_file_that_changed_after_the_preview_is_shown_again_before_it_is_written(
    person: Path,
) -> None:
    home = person / "memory"
    small_memory(home)
    async with opened(home) as app:
        app.main.agents.preview("claude")
        screen = await app.screen(AgentScreen)
        (person / ".claude.json").write_text('{"mine": 1}\n')
        before = of_agents(person)
        await app.press("ctrl+s")
        await app.until(lambda: "changed meanwhile" in app.notices)
        assert app.app.screen is screen
        assert of_agents(person) == before
        await app.press("ctrl+s")
        await app.back_on_main()
    assert json.loads((person / ".claude.json").read_bytes())["mine"] == 1
    assert "nuggets" in json.loads((person / ".claude.json").read_bytes())["mcpServers"]


async def test_a_file_of_an_agent_that_cannot_be_read_is_named_and_nothing_is_written(person: Path) -> None:
    (person / ".claude.json").write_text('{"mcpServers": ')
    before = of_agents(person)
    home = person / "memory"
    small_memory(home)
    async with opened(home) as app:
        app.main.agents.preview("claude")
        await app.until(lambda: ".claude.json" in app.notices)
        assert app.app.screen is app.main
    assert of_agents(person) == before


async def test_the_first_recall_of_a_connected_agent_is_waited_for_and_told_once(person: Path) -> None:
    home = person / ".nuggets"
    async with opened(home) as app:
        await app.until(lambda: "connect Claude Code" in " ".join(app.text.split()))
        await app.press("2")
        await app.screen(AgentScreen)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "waiting for its first recall" in app.text)
        assert "waiting for the first recall of Claude Code" in app.text.splitlines()[0]
        agent = agent_on(home, "codex")
        agent.change("learned", lambda draft: remember(draft, "web", "test command", "pytest -q"))
        agent.recall("test command", session="one")
        await app.until(lambda: app.view.snapshot.fact_count == 1)
        agent = agent_on(home, "claude")
        assert app.view.awaited == ("Claude Code",)
        agent.recall("test command", session="two")
        await app.until(lambda: "Claude Code recalled" in app.notices)
        assert "test command" in app.notices
        assert not app.view.awaited
        dismiss_all(app.main)
        agent.recall("test command", session="three")
        agent.change("more", lambda draft: remember(draft, "web", "deploy", "make ship"))
        await app.until(lambda: app.view.snapshot.fact_count == 2)
        assert "for the first time" not in app.notices
    async with opened(home) as app:
        await app.until(lambda: not app.main.running("first-recall"))
        assert not app.view.awaited


async def test_pages_are_imported_after_a_review_as_one_entry_that_undo_takes_back(person: Path) -> None:
    home = person / ".nuggets"
    async with opened(home) as app:
        await app.until(lambda: "import" in app.text)
        await app.press("1")
        await app.screen(ImportReview)
        await app.until(lambda: "import 2 of 2" in " ".join(app.text.split()))
        assert not home.exists()
        await app.press("space")
        await app.until(lambda: "import 1 of 2" in " ".join(app.text.split()))
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: len(app.view.snapshot.notes) == 1)
        await app.until(lambda: "Imported 1 note" in app.notices)
        await app.until(lambda: [line.kind for line in app.log] == ["import"])
        await app.press("u")
        await app.until(lambda: app.view.empty)


async def test_a_whole_memory_is_imported_into_an_empty_one_with_its_history(person: Path) -> None:
    small_memory(person / ".donna")
    home = person / ".nuggets"
    async with opened(home) as app:
        await app.until(lambda: "2  import" in app.text)
        await app.press("2")
        await app.screen(ImportReview)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: not app.view.empty)
    assert Memory.open(home).snapshot.notes == Memory.open(person / ".donna").snapshot.notes


async def test_what_differs_from_the_memory_is_shown_and_never_imported(person: Path, home: Path) -> None:
    table = write_nugget(
        person,
        "project",
        [fact_object("test command", "make test"), fact_object("colour", "\x1b]0;x\x07blue")],
    )
    async with opened(home) as app:
        await choose_in_palette(app, "import")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "Another file or folder" in app.text)
        await app.press("end", "enter")
        await app.screen(AskScreen)
        app.fill("#line", str(table))
        await app.press("enter")
        review = await app.screen(ImportReview)
        await app.until(lambda: "import 1 of 1" in " ".join(app.text.split()))
        await app.press("down")
        await app.until(lambda: "make test" in app.text and "pytest -q" in app.text)
        assert_harmless(app)
        await app.press("space")
        assert review.accepted == ("0",)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: app.view.snapshot.fact_count == 3)
    facts = {fact.key: fact.value for fact in Memory.open(home).snapshot.by_name["project"].facts}
    assert facts["test command"] == "pytest -q"


async def test_an_imported_credential_is_warned_of(person: Path, home: Path) -> None:
    page = person / "AGENTS.md"
    page.write_text("# Rules\n\n- The deploy key is AKIAIOSFODNN7EXAMPLQ\n")
    async with opened(home) as app:
        app.main.imports.preview(str(page))
        await app.screen(ImportReview)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "may hold a credential" in app.notices)


def files_of(home: Path) -> dict[str, bytes | None]:
    """The files of a memory but for the log, which says that the app was opened."""
    return {path: data for path, data in tree(home).items() if not path.startswith("nuggets.db")}


@pytest.mark.parametrize("words", ["comparing", "importing"])
async def test_an_import_says_how_far_it_is_and_esc_stops_it_with_nothing_changed(
    person: Path, home: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.0)
    table = person / "memory.jsonl"
    entity = '{{"type": "entity", "name": "key {0}", "observations": ["says {0}"]}}\n'
    table.write_text("".join(entity.format(one) for one in range(64)))
    before, count = files_of(home), len(Memory.open(home).snapshot.notes)
    reached, go_on = Event(), Event()
    report = LongWork.report_progress

    def reports_and_waits(work: LongWork, done: int, total: int) -> None:
        report(work, done, total)
        if work.words == words and done == 16 and not go_on.is_set():
            reached.set()
            assert go_on.wait(30)

    monkeypatch.setattr(LongWork, "report_progress", reports_and_waits)
    async with opened(home) as app:
        app.main.imports.preview(str(table))
        if words == "importing":
            review = await app.screen(ImportReview)
            await app.press("ctrl+s")
        await app.until(reached.is_set)
        await app.until(lambda: f"{words} 16 of 64 … esc stops" in app.text)
        await app.press("escape")
        await app.until(lambda: f"{words} 16 of 64, stopping" in app.text)
        go_on.set()
        await app.until(lambda: "Stopped. Nothing changed." in app.notices)
        assert files_of(home) == before
        assert "import" not in [line.kind for line in app.log]
        if words == "comparing":
            assert app.app.screen is app.main
            return
        # What was chosen stands, and may be imported after all.
        assert app.app.screen is review
        await app.until(lambda: "import 64 of 64" in " ".join(app.text.split()))
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: len(app.view.snapshot.notes) == count + 64)


async def test_single_files_are_listed_with_how_much_they_say_and_imported_by_one_key(
    person: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = person / "work"
    work.mkdir()
    (work / "AGENTS.md").write_text("- Answer in short sentences\n- Run the linter\n")
    (work / "memory.jsonl").write_text(
        json.dumps({"type": "entity", "name": "colour", "observations": ["\x1b]0;x\x07blue"]})
    )
    monkeypatch.chdir(work)
    async with opened(home) as app:
        await choose_in_palette(app, "import")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "AGENTS.md" in app.text and "2 items" in app.text and "1 item," in app.text)
        assert "instructions for agents" in app.text
        assert_harmless(app)
        await app.press("end", "up")
        await app.until(lambda: "memory.jsonl" in app.text)
        await app.press("enter")
        await app.screen(ImportReview)
        await app.until(lambda: "MCP reference server" in " ".join(app.text.split()))
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "colour" in {note.title for note in app.view.snapshot.notes})
