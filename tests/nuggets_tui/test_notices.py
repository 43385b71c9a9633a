"""What notices say of errors: the app's keys in place of shell commands, and what became of a text being written."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kits.app_kit import NOW, Driver, small_memory
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets._toast import Toast

from core.errors import REMEDIES, BrokenFileError, Remedy, as_command  # fmt: skip
from nuggets_tui.application import NuggetsApp
from nuggets_tui.notices import _SECONDS, describe_error, dismiss_all, in_keys, notify, notify_error
from nuggets_tui.opening import Opening
from nuggets_tui.widgets.row_list import RowList


def test_every_remedy_is_said_in_a_shell_and_in_the_app_and_names_no_key_where_there_is_none() -> None:
    for name in REMEDIES:
        remedy = Remedy(name, "0a1b")
        assert as_command(remedy)
        assert in_keys(remedy)
        assert "{" not in in_keys(remedy) + as_command(remedy)


def test_a_text_of_a_person_is_never_taken_for_a_command() -> None:
    error = BrokenFileError(
        "is not JSON", where="nuggets verify --repair", todo="nuggets undo ID takes one back"
    )
    assert describe_error(error) == (
        "Is not JSON.",
        "nuggets verify --repair\nNuggets undo ID takes one back.",
    )


SHORT = 'Hid "Auth middleware". u undoes it-that.'
LONG = "Moved 12 notes to scope project, 3 were so already. " * 3 + "u takes back-this."
BROKEN = BrokenFileError("the note graph cannot be read (it ends in the middle of a value)",
                         where="/home/somebody/.nuggets/graph/graph.json", kept="the file was left as it is",
                         remedy=Remedy("repair-or-copy"))  # fmt: skip


def shown(app: Driver, text: str) -> bool:
    """Whether a notice stands, and all that stand have their place."""
    toasts = list(app.app.screen.query(Toast))
    said = any(text in toast._notification.message for toast in toasts)
    return said and all(toast.region.height for toast in toasts)


def test_a_notice_goes_within_six_seconds_and_an_error_stays_as_long_as_it_takes_to_read() -> None:
    assert _SECONDS["information"] <= 6
    assert _SECONDS["warning"] <= 6
    assert _SECONDS["error"] == 12


@asynccontextmanager
async def with_notices(home: Path, size: tuple[int, int]) -> AsyncIterator[Driver]:
    small_memory(home)
    opening = Opening(home, lambda: NOW)
    opening.open()
    nuggets = NuggetsApp(opening)
    async with nuggets.run_test(size=size, notifications=True) as pilot:
        app = Driver(nuggets, pilot)
        await app.ready()
        await app.show("Auth middleware")
        yield app


TOLD: list[list[str | Exception]] = [
    [SHORT], [SHORT, "Copied."], [LONG], [SHORT, LONG], [LONG, SHORT], [BROKEN, ValueError(SHORT)],
]  # fmt: skip


async def tell(app: Driver, told: Sequence[str | Exception]) -> list[Region]:
    """Posts notices in place of those that stand, and waits until they have their place; where they lie."""
    dismiss_all(app.app)
    for one in told:
        (notify if isinstance(one, str) else notify_error)(app.app, one)  # type: ignore[operator]
    last = told[-1] if isinstance(told[-1], str) else f"ValueError: {SHORT}"
    await app.until(lambda: shown(app, last))
    await app.pilot.pause()
    screen = app.app.screen
    seen = [screen.find_widget(toast).visible_region for toast in screen.query(Toast)]
    assert any(region.area for region in seen)
    return [region for region in seen if region.area]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_notices_cover_no_row_that_keys_act_on(tmp_path: Path, size: tuple[int, int]) -> None:
    async with with_notices(tmp_path / "memory", size) as app:
        for pane, key in itertools.product("126", ("home", "end")):
            await app.press(pane, key)
            rows = app.main.focused
            assert isinstance(rows, RowList)
            for told in TOLD:
                regions = await tell(app, told)
                assert not any(region.contains(rows.region.x + 1, rows.cursor_line) for region in regions)
                assert "▌" in app.text.splitlines()[rows.cursor_line]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (180, 50)])
async def test_notices_cover_neither_the_search_field_nor_the_head_of_a_note(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with with_notices(tmp_path / "memory", size) as app:
        top = app.main.query_one("#panes").region.y
        for told in TOLD:
            regions = await tell(app, told)
            assert all(region.y > top + 3 and region.bottom < size[1] for region in regions), (told, regions)
            # No line of a pane stands beside a notice in part.
            assert all((region.x, region.width) == (0, size[0]) for region in regions), (told, regions)
            last = told[-1]
            if isinstance(last, str):
                assert last.split()[-1] in " ".join(app.text.replace("│", " ").split())
            else:
                assert "was left as it is" in app.text


@pytest.mark.slow
@pytest.mark.parametrize(("size", "key"), [((80, 24), "n"), ((80, 24), "i"), ((120, 40), "ctrl+p")])
async def test_notices_cover_no_dialog_and_none_of_its_keys(
    tmp_path: Path, size: tuple[int, int], key: str
) -> None:
    async with with_notices(tmp_path / "memory", size) as app:
        await app.press(key)
        await app.until(lambda: isinstance(app.app.screen, ModalScreen))
        await app.pilot.pause()
        screen = app.app.screen
        parts = [one for name in ("#box", "#dialog-keys") for one in screen.query(name)]
        assert parts
        for told in TOLD:
            regions = await tell(app, told)
            for part in parts:
                assert part.region.height, (told, part)
                assert Region(0, 0, *size).contains_region(part.region)
                assert part.id != "dialog-keys" or screen.query_one("#box").region.contains_region(
                    part.region
                )
                assert not any(region.overlaps(part.region) for region in regions), (told, part, regions)
