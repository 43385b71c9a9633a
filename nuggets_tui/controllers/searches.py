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
    from core.model.kept import KeptSearch
    from core.model.snapshot import Snapshot
    from core.search.goldens import Verdict
    from core.settings import SearchSettings
    from nuggets_tui.controllers.history import HistoryController
    from nuggets_tui.screens.searches import SearchesAnswer
    from nuggets_tui.tuning import Trials

# Seconds without a change after which golden searches are judged anew.
_QUIET: Final = 1.5


class SearchesController(Controller):
    """The commands about searches as such."""

    def __init__(self, context: Context, history: HistoryController) -> None:
        super().__init__(context)
        self._history = history
        self._trials: Trials | None = None
        self._judge_timer: Timer | None = None
        self._judged: tuple[Snapshot, SearchSettings, tuple[KeptSearch, ...] | None] | None = None

    # Opening

    def tune(self) -> None:
        """The weights of the search, over the hits that they move."""
        from nuggets_tui.screens.tuning import TuningScreen

        query = self.view.found.query if self.view.found is not None else ""
        self.context.open_dialog(TuningScreen(self.desk, query), self._tuned)

    def _tuned(self, done: ChangeSet | None) -> None:
        if done is not None and not done.empty:
            self._history.changed(done, "Saved the weights in settings.toml")

    def open(self) -> None:
        """The kept searches."""
        from nuggets_tui.screens.searches import SearchesScreen

        self.context.open_dialog(SearchesScreen(self.desk, self.view.note), self._searches_left)

    def _searches_left(self, answer: SearchesAnswer | None) -> None:
        if answer is None:
            return
        if answer.written:
            self.context.show_snapshot(self.desk.snapshot)
        if answer.query:
            self.context.search_box.value = answer.query
            self.context.go_to("notes")

    def keep(self) -> None:
        """Keeps what is searched under a name."""
        found = self.view.found
        if found is None:
            self.context.say(
                self.view.keys.filled(
                    "Search first ({search}). Then {keep_search} saves the search under a name."
                ),
            )
            return
        from nuggets_tui.screens.searches import KeepScreen

        note = self.view.note
        rank = next((hit.rank for hit in found.hits if note is not None and hit.note.id == note.id), 0)
        self.context.open_dialog(KeepScreen(self.desk, found.query, note, rank=rank), self._search_kept)

    def _search_kept(self, done: ChangeSet | None) -> None:
        if done is not None:
            kept = self.view.keys.key("searches")
            told = deed(done)
            said = f"{told.verb.capitalize()} {safe_line(told.what, 120)}"
            self._history.changed(done, f"{said}: {kept} lists saved searches" if told.what else "")

    # Watching

    def view_changed(self, view: View) -> None:
        """Golden searches are judged anew when the memory, the weights or the searches are others."""
        if not view.loaded or self.context.open_desk is None or view.glanced is not None:
            return
        memory = self.desk.memory
        # A look at the past is not what agents are answered from.
        if view.snapshot is not self.desk.snapshot:
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
        from nuggets_tui.threads import aside
        from nuggets_tui.tuning import Trials

        self._judge_timer = None
        desk = self.desk
        searches = await aside(lambda: desk.memory.searches)
        if desk is not self.context.open_desk:
            return
        if self._judged is not None:
            self._judged = (self._judged[0], self._judged[1], searches)
        goldens = [search for search in searches if search.golden]
        verdicts: tuple[Verdict, ...] | None = ()
        if goldens:
            self._trials = Trials(desk)
            verdicts = await self._trials.judge(goldens, patient=True)
        if verdicts is None or desk is not self.context.open_desk:
            return
        lost = tuple(one.search.name for one in verdicts if one.lost)
        if lost != self.view.lost_searches:
            self._tell_lost(lost)
            self.context.show(lost_searches=lost)

    def _tell_lost(self, lost: tuple[str, ...]) -> None:
        fresh = [name for name in lost if name not in self.view.lost_searches]
        if not fresh:
            return
        named = (
            f"“{safe_line(fresh[0], 60)}”"
            if len(fresh) == 1
            else plural(len(fresh), "search check", "search checks")
        )
        words = "no longer finds its note" if len(fresh) == 1 else "no longer find their notes"
        head = "The search check " if len(fresh) == 1 else ""
        self.context.say(f"{head}{named} {words}. " + self.view.keys.filled("{searches} shows details."))


def _same(
    now: tuple[Snapshot, SearchSettings, tuple[KeptSearch, ...] | None],
    judged: tuple[Snapshot, SearchSettings, tuple[KeptSearch, ...] | None],
) -> bool:
    return now[0] is judged[0] and now[1] == judged[1] and now[2] == judged[2]
