"""One setting: its value typed into a field, or chosen from a list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.widgets import Input, Static

from core.errors import InvalidInputError
from core.model.change import ChangeSet
from core.settings.tree import checked_setting
from nuggets_tui.safe_text import content
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.screens.typed import FieldsDialog
from nuggets_tui.setting_words import SETTING_WORDS, explain_setting, read_value, typed_value
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides


class SettingScreen(FieldsDialog[ChangeSet]):
    """A field for the value; it stays open, and says why, while the value is one that the setting cannot have."""

    not_saved = "The setting is unchanged. What you typed is still here."
    keys = "⏎  save · esc  close"

    def __init__(self, name: str, value: Any, save: Callable[[Any], Awaitable[ChangeSet]]) -> None:
        super().__init__(classes="small")
        self.heading = SETTING_WORDS[name]
        self._setting = name
        self._value = typed_value(value)
        self._save_value = save

    def compose_inside(self) -> ComposeResult:
        yield Static(content(explain_setting(self._setting)), classes="words")
        yield Field(f"{self._setting} in settings.toml", self._value, id="value")

    def on_mount(self) -> None:
        self.query_one("#value", Input).focus()

    @property
    def begun(self) -> Mapping[str, str]:
        return {"value": self._value}

    async def saved(self) -> ChangeSet:
        """Saves the value. Raises InvalidInputError for one that the setting cannot have."""
        value = read_value(self._setting, self.values["value"])
        if value is not None:
            try:
                value = checked_setting(self._setting, value)
            except InvalidInputError as error:
                raise InvalidInputError(
                    error.what, code=error.code, where=error.where, kept=error.kept, field="value"
                ) from None
        return await self._save_value(value)


def setting_choice(name: str, choices: Sequence[str], now: str, said: str) -> ChoiceScreen:
    """Answers with one of the words that a setting can be."""
    rows = [
        Row(choice, (sides(content(choice), content("now" if choice == now else "", MUTED)),))
        for choice in sorted(choices, key=lambda choice: choice != now)
    ]
    screen = ChoiceScreen(rows, SETTING_WORDS[name], said, "save")
    screen.set_classes("small setting")
    return screen
