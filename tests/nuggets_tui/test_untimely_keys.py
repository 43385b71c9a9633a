"""A key or a click may come before a dialog stands, while it closes, and where it has no room: nothing ends the app."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from kits.app_kit import Driver, opened, small_memory
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from nuggets_tui.screens.dialog import Dialog

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

_LAST: Final = ("close",)
_KEYS: Final = (
    ("x", "x"), ("backspace", None), ("pageup", None), ("pagedown", None), ("home", None), ("end", None), ("up", None),
    ("tab", "\t"), ("enter", "\r"),
)  # fmt: skip


def actions_of(widget: Widget) -> list[str]:
    """What the keys of a widget do by themselves, what closes it last."""
    keys = [key for kind in type(widget).__mro__ for key in vars(kind).get("BINDINGS", ())]
    found = dict.fromkeys(binding.action for binding in Binding.make_bindings(keys))
    return sorted((action for action in found if "." not in action), key=lambda action: action in _LAST)


async def press_all(app: Driver, widgets: list[Widget]) -> None:
    """Has widgets do all that keys make them do, and gives them keys and the mouse, without a pause."""
    for widget in widgets:
        for action in actions_of(widget):
            await app.app.run_action(action, widget)
        if isinstance(widget, Screen):
            continue
        for key, character in _KEYS if widget.can_focus else ():
            widget.post_message(events.Key(key, character))
        for x, y in ((0, 0), (widget.size.width - 1, widget.size.height - 1)):
            for kind in (
                events.MouseDown,
                events.MouseMove,
                events.MouseUp,
                events.MouseScrollDown,
                events.Click,
            ):
                widget.post_message(kind(widget, x, y, 0, 0, 1, False, False, False, x, y))


@pytest.mark.parametrize(
    ("size", "early", "opened_by"),
    [
        ((1, 1), True, ("i a", "e", "T T", "ctrl+p")),
        ((20, 7), False, ("t", "l", "F", "6 enter")),
        ((80, 24), True, ("Q", "i", "question_mark", "space space M")),
    ],
)
async def test_no_key_or_click_at_a_wrong_moment_ends_the_app(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    early: bool,
    opened_by: tuple[str, ...],
) -> None:
    small_memory(tmp_path / "memory")
    pushed: list[Screen[Any]] = []
    ever: list[Screen[Any]] = []
    push: Any = App.push_screen

    def remember(app: App[None], screen: Screen[Any], *given: Any, **named: Any) -> Any:
        pushed.append(screen)
        ever.append(screen)
        return push(app, screen, *given, **named)

    monkeypatch.setattr(App, "push_screen", remember)
    async with opened(tmp_path / "memory", size) as app:
        for keys in opened_by:
            pushed.clear()
            app.main.notes_pane.focus()
            await app.pilot.pause()
            for key in keys.split():
                # Without a pause behind it: what it opens is only being made.
                await app.pilot.press(key)
            if early:
                await press_all(app, [one for one in pushed if isinstance(one, Dialog)])
            await app.pilot.pause()
            while (dialog := app.app.screen) is not app.main:
                widgets = [dialog, *dialog.walk_children(Widget)]
                if not early:
                    await press_all(app, widgets[1:])
                if isinstance(dialog, Dialog):
                    Dialog.dismiss(dialog)
                await press_all(app, widgets)
                await app.pilot.pause()
                await press_all(app, widgets)
            assert app.app._exception is None
            assert app.app.is_running
        assert len({type(screen) for screen in ever}) >= 3


async def test_a_fact_or_an_entry_opened_while_no_memory_is_open_does_nothing(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    async with opened(tmp_path / "memory") as app:
        entry, session = app.log[0].id, app.main.open_session
        app.main.open_session = None
        app.main.open_fact("project", "test command")
        app.main.open_entry(entry)
        await app.pilot.pause()
        app.main.open_session = session
        assert app.app.screen is app.main
        assert app.app._exception is None
