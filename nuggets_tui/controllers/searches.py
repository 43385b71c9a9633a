"""The saved searches: opening them, running and saving one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller
from nuggets_tui.safe_text import safe_line
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.model.saved_search import SavedSearch
    from nuggets_tui.controllers.history import HistoryController
    from nuggets_tui.screens.searches import SearchesAnswer


class SearchesController(Controller):
    """The commands about searches as such."""

    def __init__(self, context: Context, history: HistoryController) -> None:
        super().__init__(context)
        self._history = history

    def open(self) -> None:
        """The saved searches."""
        from nuggets_tui.screens.searches import SearchesScreen

        self.context.open_dialog(SearchesScreen(self.session), self._searches_left)

    def _searches_left(self, answer: SearchesAnswer | None) -> None:
        if answer is None:
            return
        if answer.written:
            self.context.show_snapshot(self.session.snapshot)
        if answer.query:
            self.run(answer.query)

    def run(self, query: str) -> None:
        """Searches for something, and goes to what is found."""
        self.context.search_box.value = query
        self.context.go_to("notes")

    @property
    def at_hand(self) -> tuple[SavedSearch, ...]:
        """The saved searches; none before a memory is open."""
        return self.session.memory.searches.all if self.context.open_session is not None else ()

    def save_search(self) -> None:
        """Keeps what is searched under a name."""
        found = self.view.found
        if found is None:
            self.context.notify(
                self.view.keys.filled(
                    "Search first ({search}). Then {keep_search} saves the search under a name."
                ),
            )
            return
        from nuggets_tui.screens.searches import SaveSearchScreen

        self.context.open_dialog(SaveSearchScreen(self.session, found.query), self._search_saved)

    def _search_saved(self, done: ChangeSet | None) -> None:
        if done is not None:
            kept = self.view.keys.key("searches")
            told = deed(done)
            said = f"{told.verb.capitalize()} {safe_line(told.what, 120)}"
            self._history.changed(done, f"{said}: {kept} lists saved searches" if told.what else "")
