"""Tests of what all dialogs share: they answer once, also when work ends while something is asked over them."""

from __future__ import annotations

from pathlib import Path

from app_kit import opened

from nuggets_tui.screens.confirm import ConfirmScreen


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
