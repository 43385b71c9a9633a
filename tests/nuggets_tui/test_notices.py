"""What notices say of errors: the app's keys in place of shell commands, and what became of a text being written."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NOW, Driver, small_memory
from textual.widgets._toast import Toast

from core.errors import BrokenFileError
from nuggets_tui.application import NuggetsApp
from nuggets_tui.notices import in_keys, let_all_go, say, say_error, told_error
from nuggets_tui.opening import Opening


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("nuggets verify --repair mends it", "V checks and repairs it"),
        ("nuggets verify --repair mends it, or put back a good copy of it",
         "V checks and repairs it, or put back a good copy of it"),
        ("nuggets verify --repair", "V checks and repairs it"),
        ("nuggets verify says whether it can be mended", "V says whether it can be mended"),
        ("nuggets restore lists the backups", "B lists the backups"),
        ("nuggets restore lists them", "B lists the backups"),
        ("Mend it, or put back a good copy with: nuggets restore.", "Mend it, or put back a good copy with B."),
        ("nuggets resolve 0a1b settles it", "c settles it"),
        ("set NUGGETS_HOME to another folder", "set NUGGETS_HOME to another folder"),
    ],
)  # fmt: skip
def test_a_shell_command_becomes_the_key_of_the_app(command: str, key: str) -> None:
    assert in_keys(command) == key


def test_an_error_names_the_key() -> None:
    error = BrokenFileError("is not JSON", where="graph.json", kept="it was left as it is",
                            todo="nuggets verify --repair mends it")  # fmt: skip
    assert told_error(error) == (
        "Is not JSON.",
        "graph.json\nIt was left as it is.\nV checks and repairs it.",
    )
    assert told_error(error, "Not saved.")[1].endswith(
        "Not saved.\nIn another terminal, nuggets verify --repair mends it."
    )
    assert "\nNot saved.\n" in told_error(ValueError("x"), "Not saved.")[1]


@pytest.mark.parametrize("todo", ["nuggets log --json lists more", "c settles it"])
def test_commands_and_keys_are_not_written_with_a_capital_letter(todo: str) -> None:
    assert told_error(BrokenFileError("x", todo=todo))[1] == f"{todo}."


SHORT = "Hid “Auth middleware”. u takes it back-that."
LONG = "Moved 12 notes to scope project, 3 were so already. " * 3 + "u takes back-this."
BROKEN = BrokenFileError("the note graph cannot be read (it ends in the middle of a value)",
                         where="/home/somebody/.nuggets/graph/graph.json", kept="the file was left as it is",
                         todo="nuggets verify --repair mends it, or put back a good copy of it")  # fmt: skip


def shown(app: Driver, text: str) -> bool:
    """Whether a notice stands, and all that stand have their place."""
    toasts = list(app.main.query(Toast))
    said = any(text in toast._notification.message for toast in toasts)
    return said and all(toast.region.height for toast in toasts)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (180, 50)])
async def test_notices_cover_no_head_of_a_pane(tmp_path: Path, size: tuple[int, int]) -> None:
    small_memory(tmp_path / "memory")
    opening = Opening(tmp_path / "memory", lambda: NOW)
    opening.open()
    nuggets = NuggetsApp(opening)
    async with nuggets.run_test(size=size, notifications=True) as pilot:
        app = Driver(nuggets, pilot)
        await app.ready()
        await app.show("Auth middleware")
        top = app.main.query_one("#panes").region.y
        assert top == 4
        for told in ([SHORT], [SHORT, "Copied."], [LONG], [SHORT, LONG], [LONG, SHORT]):
            let_all_go(app.main)
            for text in told:
                say(app.main, text)
            await app.until(lambda told=told: shown(app, told[-1]))
            regions = [toast.region for toast in app.main.query(Toast)]
            seen = " ".join(app.text.replace("│", " ").split())
            assert told[-1].split()[-1] in seen
            assert all(region.y >= 1 and region.bottom <= top for region in regions), (told, regions)
        let_all_go(app.main)
        say_error(app.main, BROKEN)
        say_error(app.main, ValueError(SHORT))
        await app.until(lambda: shown(app, f"ValueError: {SHORT}"))
        assert min(toast.region.y for toast in app.main.query(Toast)) > top + 3
        assert "was left as it is" in app.text
