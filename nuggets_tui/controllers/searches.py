"""Weights, kept searches and golden ones: opening them, and watching in the background that none is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.safe_text import safe_line
from nuggets_tui.view import View
from nuggets_tui.words import deed, plural

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.model.saved_search import SavedSearch
    from core.model.snapshot import Snapshot
    from core.search.search_checks import SearchCheckResult
    from core.settings import SearchSettings
    from nuggets_tui.controllers.history import HistoryController
    from nuggets_tui.screens.searches import SearchesAnswer
    from nuggets_tui.tuning import Trials

# Seconds without a change after which search checks are run anew.
_QUIET: Final = 1.5


class SearchesController(Controller):
    """The commands about searches as such."""

    def __init__(self, context: Context, history: HistoryController) -> None:
        super().__init__(context)
        self._history = history
        self._trials: Trials | None = None
        self._judge_timer: Timer | None = None
        self._judged: tuple[Snapshot, SearchSettings, tuple[SavedSearch, ...] | None] | None = None

    # Opening

    def tune(self) -> None:
        """The weights of the search, over the hits that they move."""
        from nuggets_tui.screens.tuning import TuningScreen

        query = self.view.found.query if self.view.found is not None else ""
        self.context.open_dialog(TuningScreen(self.session, query), self._tuned)

    def _tuned(self, done: ChangeSet | None) -> None:
        if done is not None and not done.empty:
            self._history.changed(done, "Saved the weights in settings.toml")

    def open(self) -> None:
        """The saved searches."""
        from nuggets_tui.screens.searches import SearchesScreen

        self.context.open_dialog(SearchesScreen(self.session, self.context.target), self._searches_left)

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
        """The saved searches; none before a thread has read their file."""
        read = self._judged is not None and self._judged[2] is not None
        return self.session.memory.searches if read and self.context.open_session is not None else ()

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

        note = self.context.target
        rank = next((hit.rank for hit in found.hits if note is not None and hit.note.id == note.id), 0)
        self.context.open_dialog(
            SaveSearchScreen(self.session, found.query, note, rank=rank), self._search_saved
        )

    def _search_saved(self, done: ChangeSet | None) -> None:
        if done is not None:
            kept = self.view.keys.key("searches")
            told = deed(done)
            said = f"{told.verb.capitalize()} {safe_line(told.what, 120)}"
            self._history.changed(done, f"{said}: {kept} lists saved searches" if told.what else "")

    # Watching

    def view_changed(self, view: View) -> None:
        """Search checks are run anew when the memory, the weights or the searches are others."""
        if not view.loaded or self.context.open_session is None or view.quick_counts is not None:
            return
        memory = self.session.memory
        # A look at the past is not what agents are answered from.
        if view.snapshot is not self.session.snapshot:
            return
        known = self._judged[2] if self._judged is not None and self._judged[2] is not None else None
        # The file is first read by a thread; from then on what it holds is at hand.
        now = (view.snapshot, memory.settings.search, memory.searches if known is not None else None)
        if self._judged is not None and _same(now, self._judged):
            return
        self._judged = now
        if self._trials is not None:
            self._trials.stop()
        if self._judge_timer is None:
            self._judge_timer = self.context.after(_QUIET, self._judge)
        else:
            self._judge_timer.reset()

    @background("judge", exclusive=True)
    async def _judge(self) -> None:
        from nuggets_tui.threads import run_in_thread
        from nuggets_tui.tuning import Trials

        self._judge_timer = None
        session = self.session
        searches = await run_in_thread(lambda: session.memory.searches)
        if session is not self.context.open_session:
            return
        if self._judged is not None:
            self._judged = (self._judged[0], self._judged[1], searches)
        checks = [search for search in searches if search.is_check]
        verdicts: tuple[SearchCheckResult, ...] | None = ()
        if checks:
            self._trials = Trials(session)
            verdicts = await self._trials.judge(checks, patient=True)
        if verdicts is None or session is not self.context.open_session:
            return
        lost = tuple(one.search.name for one in verdicts if one.lost)
        if lost != self.view.lost_searches:
            self._notify_lost(lost)
            self.context.show(lost_searches=lost)

    def _notify_lost(self, lost: tuple[str, ...]) -> None:
        fresh = [name for name in lost if name not in self.view.lost_searches]
        if not fresh:
            return
        named = (
            f'"{safe_line(fresh[0], 60)}"'
            if len(fresh) == 1
            else plural(len(fresh), "search check", "search checks")
        )
        words = "no longer finds its note" if len(fresh) == 1 else "no longer find their notes"
        head = "The search check " if len(fresh) == 1 else ""
        self.context.notify(f"{head}{named} {words}. " + self.view.keys.filled("{searches} shows details."))


def _same(
    now: tuple[Snapshot, SearchSettings, tuple[SavedSearch, ...] | None],
    judged: tuple[Snapshot, SearchSettings, tuple[SavedSearch, ...] | None],
) -> bool:
    return now[0] is judged[0] and now[1] == judged[1] and now[2] == judged[2]
