"""Settings of the memory and of the user: their present values, and changing one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nuggets_tui.controllers.controller import Controller, background

if TYPE_CHECKING:
    from core.model.change import ChangeSet

# Somebody who looks through the themes means the one where they stop.
_PAUSE: Final = 0.5
_SWITCH: Final = ("on", "off")


class PresentSetting(NamedTuple):
    """A setting by name with its value. changed: whether it is another than the default."""

    key: str
    value: Any
    changed: bool


class SettingsController(Controller):
    """Shows and changes settings, each checked before anything is written."""

    def present(self) -> Iterator[PresentSetting]:
        """The user's settings; then those of the memory, while it is open and not looked at as it was."""
        from core.settings.tree import value_of
        from nuggets_tui.setting_words import DEFAULTS, USER

        app = self.app
        yield PresentSetting(f"{USER}theme", app.theme, bool(app.user_settings.theme))
        yield PresentSetting(f"{USER}vim", app.user_settings.vim, app.user_settings.vim)
        if self.view.loaded and not self.view.trouble and self.view.past is None:
            for name, default in DEFAULTS.items():
                if not name.startswith("app."):
                    value = value_of(self.session.memory.settings, name)
                    yield PresentSetting(name, value, value != default)

    @background("open")
    async def change(self, name: str) -> None:
        """Asks for another value of a setting."""
        from core.settings.tree import settings_by_name, value_of
        from nuggets_tui.screens.choice import SettingScreen, setting_choice
        from nuggets_tui.setting_words import SETTING_WORDS, USER, shown_value

        if name == f"{USER}theme":
            self.choose_theme()
            return
        if name == f"{USER}vim":
            now = shown_value(self.app.user_settings.vim)
            said = "Saved in your own settings, for all memories. It makes no entry of the history."
            chosen = await self.ask(setting_choice(name, _SWITCH, now, said))
            if chosen is not None:
                await self._save_vim(chosen)
            return
        memory = self.session.memory
        value = value_of(memory.settings, name)
        choices = _SWITCH if isinstance(value, bool) else settings_by_name()[name].choices

        async def save(value: Any) -> ChangeSet:
            return await self.session.write(memory.save_settings, {name: value})

        if choices:
            said = f"{name} in settings.toml of this memory. You can undo the change."
            choice = await self.ask(setting_choice(name, choices, shown_value(value), said))
            if choice is None:
                return
            done = await self.attempt(save(choice == _SWITCH[0] if choice in _SWITCH else choice))
        else:
            done = await self.ask(SettingScreen(name, value, save))
        if done is not None:
            unchanged = " as before" if done.empty else ""
            value = shown_value(value_of(memory.settings, name))
            self.main.history.changed(done, f'"{SETTING_WORDS[name]}" is {value}{unchanged}')

    async def _save_vim(self, choice: str) -> None:
        vim = choice == _SWITCH[0]
        if await self.attempt(asyncio.to_thread(_saved_for_user, "app.vim", vim)):
            self.app.vim_saved(vim)
            self.main.show(keys=self.app.key_map)
            self.main.show_keys()
            self.notify(f"Vim keys are {choice}, in all memories.")

    def help(self) -> None:
        self.app.action_help()

    def toggle_theme(self) -> None:
        self.app.action_toggle_theme()

    def choose_theme(self) -> None:
        self.app.action_change_theme()

    @background("theme", exclusive=True)
    async def save_theme(self, name: str) -> None:
        """Puts a theme into the user's settings, unless it is the one that the next start would show anyway."""
        await asyncio.sleep(_PAUSE)
        if name != self.app.first_theme() and await self.attempt(
            asyncio.to_thread(_saved_for_user, "app.theme", name)
        ):
            self.app.theme_saved(name)


def _saved_for_user(name: str, value: object) -> bool:
    from core.user_settings import save_user_settings

    save_user_settings({name: value})
    return True
