"""How commands of the catalogue are carried out, and those that find, look and arrange."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import work

from nuggets_tui.commands import BY_NAME
from nuggets_tui.notices import say
from nuggets_tui.screens.main_opening import MainOpening
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.search_box import SearchBox

if TYPE_CHECKING:
    from core.model.note import Note
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.screens.main import MainScreen

_MOST_HOPS = 3


class MainCommands(MainOpening):
    """The commands of the main screen."""

    # Carrying out

    async def action_command(self, name: str) -> None:
        """Carries out a command of the catalogue, on the note that the cursor has come to by now."""
        notes = self.query_one(NotesPane)
        if notes.unheard and self.focused is notes:
            self.show_note(notes.unheard)
        notes.unheard = ""
        if self.answers(name):
            BY_NAME[name].run(cast("MainScreen", self))

    @property
    def _window(self) -> NuggetsApp:
        return self.app  # type: ignore[return-value]

    # Finding and looking

    def do_search(self) -> None:
        """The cursor goes to the search box."""
        self.set_focus(self.query_one(SearchBox))

    def do_open(self) -> None:
        """Opens what the cursor is on; lists see to the key themselves, so this is for palette and mouse."""
        if isinstance(self.focused, RowList):
            self.focused.action_open()

    def do_why(self) -> None:
        """The score of the note shown, taken apart."""
        if not self._searched():
            return
        if self.view.note is None:
            words = "No note is shown: choose one in Results, or ask for any note with {why_not}."
            say(self, self.view.keys.filled(words))
        else:
            self._explain(self.view.note)

    def do_why_not(self) -> None:
        """Chooses a note, hidden ones among them, and says what keeps it out."""
        if not self._searched():
            return
        from nuggets_tui.screens.picker import PickerScreen

        heading = "Why is it not among the results?"
        picker = PickerScreen(self.desk, self.view.snapshot, None, heading, hidden=True)

        def picked(choice: tuple[str, str] | None) -> None:
            note = self.view.snapshot.by_id.get(choice[0]) if choice is not None else None
            if note is not None:
                self._explain(note)

        self.app.push_screen(picker, picked)

    def _searched(self) -> bool:
        """Whether there is a search to ask about; says so when there is none."""
        if self.view.found is None:
            words = "Search first ({search}): then {why} says why the note is a result, {why_not} why another is not."
            say(self, self.view.keys.filled(words))
        return self.view.found is not None

    def _explain(self, note: Note) -> None:
        from nuggets_tui.screens.why import WhyScreen

        if self.view.found is not None:
            self.app.push_screen(WhyScreen(self.desk, self.view.found, note))

    def open_fact(self, nugget: str, key: str) -> None:
        """The recall behind a fact."""
        from nuggets_tui.screens.recall import RecallScreen

        self.app.push_screen(RecallScreen(self.desk, nugget, key))

    # The app

    @work(group="change", exit_on_error=False)
    async def do_demo(self) -> None:
        """A copy of the demo memory."""
        home = await self.long_work("writing the demo memory", self._window.make_demo())
        if home is not None:
            notice = f"A copy of the demo memory, in {home}. It goes when you leave; change what you like."
            self.open_another(home, notice)

    def do_help(self) -> None:
        """Keys, words and signs, those of the pane in use first."""
        from nuggets_tui.pane_help import PLACES
        from nuggets_tui.screens.help import HelpScreen

        focused = self.focused.id if self.focused is not None else None
        self.app.push_screen(HelpScreen(PLACES.get(focused or "")))

    def do_quit(self) -> None:
        """Leaves."""
        self.app.exit()
