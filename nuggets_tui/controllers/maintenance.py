"""Keeping a memory in order: cleanup, secrets, checking, backups, and what could not be read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.safe_text import safe_line
from nuggets_tui.session import Session
from nuggets_tui.words import left_for_later, plural

if TYPE_CHECKING:
    from core.model.change import ChangeSet


class MaintenanceController(Controller):
    """Proposes what would put a memory in order, and writes what is accepted."""

    @background("open")
    async def reflect(self) -> None:
        from nuggets_tui.screens.review import ReflectionReview

        session, daily = self.session, self.main.daily
        result = await self.look(
            "looking for notes to clean up",
            lambda work: session.read(session.memory.reflect, dry_run=True, progress=work.report_progress),
        )
        if result is None:
            return
        if not result.changes:
            looked = f"checked {plural(result.inspected, 'note')}"
            self.notify(f"Nothing to clean up: {looked}. {left_for_later(result)}".rstrip())
            daily.reflection_reviewed(result, None)
            return
        screen = ReflectionReview(session, result)
        done = await self.ask(screen)
        self.main.history.reviewed(done)
        if screen.answered:
            daily.reflection_reviewed(result, done[0] if isinstance(done, tuple) else None)
        else:
            daily.reflection_left()

    @background("open")
    async def find_secrets(self) -> None:
        """Looks for what seems to be a credential."""
        session = self.session
        found = await self.look(
            "looking for credentials",
            lambda work: session.read(session.workspace.secrets, work.report_progress),
        )
        if found:
            from nuggets_tui.screens.review import SecretsReview

            done = await self.ask(SecretsReview(session, found))
            self.main.history.reviewed(done)
        elif found is not None:
            self.notify(
                "No note, fact or submitted text seems to hold a credential. Earlier versions in the "
                "history are not searched.",
            )

    # Putting right

    @background("open")
    async def show_problems(self) -> None:
        from nuggets_tui.screens.problems import ProblemsScreen, unreadable

        session = await self._session_at_hand()
        found = await self.attempt(session.read(unreadable, session.memory)) if session is not None else None
        if session is None or found is None:
            return
        if not found:
            self.notify("Everything is readable. There is nothing to list.")
            return
        command = await self.ask(ProblemsScreen(session, found))
        # In trouble the last good state stays until the files can be read again, which is seen without this.
        if self.main.open_session is not None and not self.view.trouble:
            self.main.show_snapshot(self.session.snapshot)
        if command == "verify":
            self.verify()
        elif command == "restore":
            self.restore()

    async def _session_at_hand(self) -> Session | None:
        """The session, in trouble one without what cannot be read; None, with a notice, when there is none."""
        if self.view.trouble:
            return await self.attempt(Session.in_trouble(self.main.opening.home, self.main.opening.clock))
        if self.main.open_session is None:
            self.notify("The memory is still being opened.")
        return self.main.open_session

    def open_broken(self) -> None:
        """The file that cannot be read, in the person's own editor; the app opens it again by itself."""
        from nuggets_tui.file_opening import open_outside

        if self.main.opening.broken_file is not None:
            try:
                open_outside(self.app, self.main.opening.broken_file)
            except NuggetsError as error:
                self.notify_error(error)

    @background("open")
    async def verify(self) -> None:
        """Checks the memory, and shows what is not right and what would be repaired."""
        from nuggets_tui.screens.review import verify_review

        session = await self._session_at_hand()
        if session is None:
            return
        found = await self.look(
            "checking the memory", lambda work: session.write(session.workspace.verify, work.report_progress)
        )
        if found:
            done = await self.ask(verify_review(session, found, self.view.keys))
            self.main.history.reviewed(done)
        elif found is not None:
            self.notify("No problems: facts, notes, links, tags and files agree.")

    @background("open")
    async def restore(self) -> None:
        """Chooses a backup, and shows what going back to it would change."""
        from nuggets_tui.screens.dialog import backup_choice
        from nuggets_tui.screens.review import restore_review

        if self.view.trouble:
            broken, keys = self.main.opening.broken_file, self.view.keys
            name = safe_line(broken.name, 100) if broken is not None else "The memory"
            opens = f"; {keys.key('open_broken')} opens the file" if broken is not None else ""
            self.notify(
                f"{name} cannot be read now. Repair it first, then restore a backup: {keys.key('verify')} "
                f"checks and repairs it{opens}.",
            )
            return
        session = await self._session_at_hand()
        backups = (
            await self.attempt(session.read(session.memory.maintenance.backups))
            if session is not None
            else None
        )
        if session is None or backups is None:
            return
        if not backups:
            self.notify("There is no backup yet: the first change of each day makes one.")
            return
        chosen = await self.ask(backup_choice(backups, session.clock()))
        if chosen is None:
            return
        restoration = session.memory.maintenance.restoration
        proposed = await self.look(
            "reading the backup",
            lambda work: session.read(restoration, chosen, progress=work.report_progress),
        )
        if proposed is not None and proposed.empty:
            self.notify("Nothing to restore: the memory is as it was in this backup.")
        elif proposed is not None:
            done = await self.ask(restore_review(session, proposed, f"the backup {chosen}"))
            self.main.history.reviewed(done)


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
        from core.settings.tree import checked_setting, settings_by_name, value_of
        from nuggets_tui.screens.dialog import AskScreen, setting_choice
        from nuggets_tui.setting_words import (
            SETTING_WORDS,
            USER,
            explain_setting,
            read_value,
            shown_value,
            typed_value,
        )

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

        async def typed(text: str) -> ChangeSet:
            read = read_value(name, text)
            return await save(read if read is None else checked_setting(name, read))

        if choices:
            said = f"{name} in settings.toml of this memory. You can undo the change."
            choice = await self.ask(setting_choice(name, choices, shown_value(value), said))
            if choice is None:
                return
            done = await self.attempt(save(choice == _SWITCH[0] if choice in _SWITCH else choice))
        else:
            done = await self.ask(
                AskScreen(
                    SETTING_WORDS[name],
                    explain_setting(name),
                    f"{name} in settings.toml",
                    typed,
                    value=typed_value(value),
                    does="save",
                    empty=True,
                )
            )
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
