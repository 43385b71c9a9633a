"""Projects in the app: beside a note's nugget, on hits of another one, and as a condition."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import WIDE, opened

from core.facts.edits import remember
from core.memory import Memory
from core.model.infer import MetaInput
from core.projects import Project, register
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.widgets.search_box import SearchBox

pytestmark = pytest.mark.slow


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory of two projects, as seen from one of them."""
    home, meta = tmp_path / "own", MetaInput(scope="project")
    memory = Memory.open(home)
    for nugget, value in (("deploys", "cargo nextest run"), ("website", "pnpm test")):
        memory.change("x", lambda draft, n=nugget, v=value: remember(draft, n, "test command", v, meta))
    memory.close()
    register(str(home), Project("scanner", "/work/scanner"), "deploys", ())
    monkeypatch.setenv("NUGGETS_PROJECT", "website")
    return home


async def test_a_hit_of_another_project_says_so(own: Path) -> None:
    async with opened(own, WIDE) as app:
        await app.press("slash", *"test", "space", *"command")
        await app.until(lambda: app.view.found is not None and len(app.view.found.hits) == 2)
        first, second = app.view.found.hits
        assert (first.note.nugget_name, first.project) == ("website", "")
        assert (second.note.nugget_name, second.project) == ("deploys", "scanner")
        await app.until(lambda: "from project scanner" in app.text)


async def test_the_notes_of_a_chosen_project_are_listed(own: Path) -> None:
    async with opened(own, WIDE) as app:
        app.main.search.find_project()
        await app.screen(ChoiceScreen)
        await app.press("enter")
        await app.back_on_main()
        assert app.main.query_one(SearchBox).value == "project:scanner"
        await app.until(lambda: app.view.found is not None and not app.view.found.weighed)
        assert [hit.note.nugget_name for hit in app.view.found.hits] == ["deploys"]
        await app.until(lambda: "project scanner" in app.text)
