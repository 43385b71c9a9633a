"""Tests of what all dialogs share: they answer once, also when work ends while something is asked over them."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, opened
from textual.widgets._toast import Toast, ToastHolder

from nuggets_tui.notices import notify, warn
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.forms import FormScreen
from nuggets_tui.screens.typed import LeaveScreen
from nuggets_tui.widgets.panes import Panes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def test_a_dialog_answers_once_and_what_was_asked_over_it_goes_with_it(home: Path) -> None:
    answers: list[object] = []
    async with opened(home) as app:
        below = ConfirmScreen("Below?", "said", yes="yes")
        above = ConfirmScreen("Above?", "said", yes="yes")
        app.app.push_screen(below, answers.append)
        app.app.push_screen(above, lambda answer: answers.append(("above", answer)))
        await app.screen(ConfirmScreen)
        below.dismiss(True)
        below.dismiss(False)
        above.dismiss(True)
        await app.back_on_main()
        await app.until(lambda: answers)
        below.dismiss(False)
        await app.pilot.pause()
        assert answers == [True]
        assert app.app.screen is app.main


async def test_two_notices_at_most_stand_and_esc_or_a_dialog_takes_them_away(home: Path) -> None:
    async with opened(home) as app:
        warn(app.main, "to know about")
        for number in range(5):
            notify(app.main, f"done {number}")
        await app.pilot.pause()
        assert [notice.message for notice in app.app._notifications] == ["to know about", "done 4"]
        await app.press("question_mark", "escape")
        assert "to know about" in app.notices
        assert "done" not in app.notices
        await app.back_on_main()
        await app.press("escape")
        assert app.notices == ""


async def test_a_notice_never_lies_on_the_field_in_use_and_goes_once_that_is_mended(home: Path) -> None:
    async with opened(home, NARROW) as app:
        app.app._disable_notifications = False
        await app.press("f")
        form = await app.screen(FormScreen)
        app.fill("#nugget", "no/name")
        app.fill("#key", "a key")
        app.fill("#value", "a value")
        await app.press("ctrl+s")
        await app.until(lambda: form.query(Toast))
        await app.pilot.pause()
        field = form.query_one("#nugget")
        assert form.focused is field
        assert "not a valid nugget name" in str(field.border_subtitle)
        assert not form.query_one(Toast).region.overlaps(field.region)
        await app.press("x")
        assert app.notices == ""
        assert not form.query(ToastHolder)
        await app.press("escape")
        await app.until(lambda: isinstance(app.app.screen, LeaveScreen | ConfirmScreen))
        # It lies on disk by then, against a crash.
        assert "nowhere" not in app.text


async def test_esc_leads_back_from_the_graph_to_the_pane_one_came_from(home: Path) -> None:
    async with opened(home, NARROW) as app:
        for pane in ("6", "2"):
            await app.press(pane, "g")
            assert app.main.query_one(Panes).active == "graph"
            await app.press("escape")
            assert app.main.query_one(Panes).active == {"6": "audit", "2": "notes"}[pane]


async def test_a_dialog_that_is_closed_before_it_stands_harms_nothing(home: Path) -> None:
    from nuggets_tui.screens.merge import MergeScreen

    async with opened(home) as app:
        note, other = app.view.snapshot.notes[:2]
        for _ in range(3):
            app.app.push_screen(MergeScreen(app.main.session, note, other))
            app.app.pop_screen()
            await app.pilot.pause()
        await app.back_on_main()
