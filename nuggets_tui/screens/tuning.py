"""Turning the weights of the search: hits and golden searches follow at once, and nothing is kept before ctrl+s."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from core.model.change import ChangeSet
from nuggets_tui.safe_text import content, cut
from nuggets_tui.screens.confirm import ConfirmScreen, close_if_sure
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.searches_text import lost_in_words, rank_of
from nuggets_tui.session import Session
from nuggets_tui.tuning import (
    USUAL,
    WEIGHTS,
    Moved,
    Trials,
    Weight,
    changes,
    describe_moves,
    move_sign,
    moved,
)
from nuggets_tui.view import Found
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, note_marks, sides, title_style
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.search import Hit
    from core.search.search_checks import SearchCheckResult
    from core.settings import SearchSettings

_LABEL: Final = 12
_NUMBER: Final = 6
_MOVE: Final = 4
# Seconds after a turn in which the next one is not disturbed by judging.
_STILL: Final = 0.06
_NOTHING = "Search for something first. The hits then move here as you adjust the weights."


class TuningScreen(Dialog[ChangeSet]):
    """Weights on the left; on the right the hits with their moves, and the golden searches. Answers with what was
    written.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "turn(1)", "more", show=False, priority=True),
        Binding("left", "turn(-1)", "less", show=False, priority=True),
        Binding("l", "turn(1)", "more", show=False),
        Binding("h", "turn(-1)", "less", show=False),
        Binding("shift+right,L", "turn(1, True)", "a little more", show=False, priority=True),
        Binding("shift+left,H", "turn(-1, True)", "a little less", show=False, priority=True),
        Binding("d", "usual", "default", show=False),
        Binding("D", "all_usual", "reset all", show=False),
        Binding("ctrl+s", "save", "save", show=False),
        Binding("percent_sign,q", "close", "close", show=False),
    ]
    heading = "Search weights"
    keys = "←  less · →  more · shift  fine · d  default · D  reset all · ctrl+s  save · esc  close"
    not_saved = "The weights are not saved; ctrl+s tries again."

    def __init__(self, session: Session, query: str) -> None:
        super().__init__(classes="full")
        self._session = session
        self._query = query
        self._trials = Trials(session)
        self.before: SearchSettings = session.memory.settings.search
        self.tried: SearchSettings = self.before
        self._first: Found | None = None
        self.found: Found | None = None
        self.stood: dict[str, SearchCheckResult] = {}
        self.verdicts: tuple[SearchCheckResult, ...] = ()
        # What stands in the frame and below the weights.
        self._marked = False
        self._meaning = Content("")

    def compose_inside(self) -> ComposeResult:
        """The weights beside what they do."""
        with Horizontal(id="tuning"):
            with Vertical(id="turning"):
                yield RowList(id="weights")
                yield Static(id="meaning")
            with Vertical(id="turned"):
                yield Static(id="asked", classes="headline")
                yield RowList(
                    id="hits",
                    empty_text="No note matches with these weights." if self._query else _NOTHING,
                )
                yield Static(id="goldens-said", classes="headline")
                yield RowList(id="goldens")

    def on_mount(self) -> None:
        """Everything as it is with the weights in force."""
        self.query_one("#goldens").display = self.query_one("#goldens-said").display = False
        self._show_weights()
        self.query_one("#weights").focus()
        self.begin()

    def on_unmount(self) -> None:
        """Nobody waits any more."""
        self._trials.stop()

    @property
    def unsaved(self) -> bool:
        """Whether a weight is another than in force."""
        return self.tried != self.before

    @property
    def _weight(self) -> Weight:
        row = self.query_one("#weights", RowList).cursor_row
        return next((one for one in WEIGHTS if row is not None and one.name == row.key), WEIGHTS[0])

    # Turning

    def action_turn(self, steps: int, fine: bool = False) -> None:
        """The weight under the cursor, a step further."""
        self._try(self._weight.stepped(self.tried, steps, fine=fine))

    def action_usual(self) -> None:
        """The weight under the cursor as it is by default."""
        self._try(self._weight.put(self.tried, self._weight.usual))

    def action_all_usual(self) -> None:
        """Every weight here as it is by default."""
        settings = self.tried
        for weight in WEIGHTS:
            settings = weight.put(settings, weight.usual)
        self._try(settings)

    def _try(self, settings: SearchSettings) -> None:
        if settings != self.tried:
            self.tried = settings
            self._trials.stop_judging()
            self._show_weights()
            self.follow()

    @work(group="begin", exclusive=True, exit_on_error=False)
    async def begin(self) -> None:
        """The hits and verdicts that moves are told against."""
        self.follow()
        checks = [
            search
            for search in await asyncio.to_thread(lambda: self._session.memory.searches)
            if search.is_check
        ]
        if not checks or not self._is_open:
            return
        self.query_one("#goldens").display = self.query_one("#goldens-said").display = True
        self._checks = checks
        # A set of trials of its own: what is tried meanwhile does not end it.
        judged = await self.attempt(Trials(self._session).judge(checks, self.before, self._keep_former))
        if judged is not None and self._is_open:
            self._keep_former(judged)
            self.check()

    _checks: Sequence[object] = ()

    @property
    def _is_open(self) -> bool:
        """Whether its lists are there: what was asked for may come while they are taken away."""
        return self.is_mounted and bool(self.query("#goldens"))

    def _keep_former(self, verdicts: tuple[SearchCheckResult, ...]) -> None:
        self.stood = {one.search.name: one for one in verdicts}
        if self._is_open and not self.unsaved:
            self._show_checks(verdicts)

    @work(group="follow", exclusive=True, exit_on_error=False)
    async def follow(self) -> None:
        """The hits with the weights as they are turned now, and then the search checks."""
        if self._query:
            found = await self.attempt(self._trials.rank(self._query, self.tried))
            if found is None or not self._is_open:
                return
            if self._first is None:
                self._first = found
            self._show_hits(found)
        self.check()

    @work(group="check", exclusive=True, exit_on_error=False)
    async def check(self) -> None:
        """Runs the search checks with the weights as they are turned now: those in doubt are looked at first."""
        if not self.stood:
            return
        await asyncio.sleep(_STILL)
        tried = self.tried
        order = sorted(self.stood.values(), key=lambda one: (not one.lost, -one.rank))
        searches = [one.search for one in order]

        def report_progress(verdicts: tuple[SearchCheckResult, ...]) -> None:
            if self._is_open and tried is self.tried:
                self._show_checks(verdicts)

        await self.attempt(self._trials.judge(searches, tried, report_progress))

    # Showing

    def _show_weights(self) -> None:
        rows = [Row(one.name, (partial(_weight_line, one, self.tried, self.before),)) for one in WEIGHTS]
        self.query_one("#weights", RowList).set_rows(rows)
        self._show_meaning()
        # Each change of a frame draws all that is in it.
        if self.unsaved is not self._marked:
            self._marked = self.unsaved
            said = Content.styled("not saved", "$text-warning") if self.unsaved else Content("")
            self.query_one("#box").border_subtitle = said

    @on(RowList.RowHighlighted, "#weights")
    def explain(self, event: RowList.RowHighlighted) -> None:
        """Says what the weight under the cursor does."""
        event.stop()
        self._show_meaning()

    def _show_meaning(self) -> None:
        weight = self._weight
        usual = f"{weight.shown(USUAL)} by default"
        if weight.of(self.before) not in (weight.of(self.tried), weight.usual):
            usual += f", {weight.shown(self.before)} before"
        said = Content.assemble(weight.meaning, "\n\n", (f"{usual}\nsearch.{weight.name}", MUTED))
        if said != self._meaning:
            self._meaning = said
            self.query_one("#meaning", Static).update(said, layout=False)

    def _show_hits(self, found: Found) -> None:
        self.found = found
        moves = moved(self._first.hits if self._first is not None else (), found.hits)
        self.query_one("#asked", Static).update(_query_line(found, moves), layout=False)
        hits = found.hits
        self.query_one("#hits", RowList).set_source(
            len(hits),
            lambda place: _hit_row(hits[place], moves),
            key_at=lambda place: hits[place].note.id,
            keep_cursor=False,
        )

    def _show_checks(self, verdicts: tuple[SearchCheckResult, ...]) -> None:
        self.verdicts = verdicts
        shown = sorted(verdicts, key=lambda one: (not one.lost, not self._differs(one), one.search.name))
        self.query_one("#goldens", RowList).set_source(
            len(shown),
            lambda place: _check_row(shown[place], self.stood.get(shown[place].search.name)),
            key_at=lambda place: shown[place].search.name,
            keep_cursor=False,
        )
        lost, total = lost_in_words(verdicts), len(self._checks)
        said = [(plural(total, "search check", "search checks"), "bold")]
        if lost:
            said.append((f" · ✗ {lost.partition(' ')[0]} failed", "bold $text-error"))
        if len(verdicts) < total:
            said.append((f" · {len(verdicts):,} checked", MUTED))
        elif not lost:
            said.append((" · ✓ all found", "$text-success"))
        self.query_one("#goldens-said", Static).update(Content.assemble(*said), layout=False)

    def _differs(self, verdict: SearchCheckResult) -> bool:
        former = self.stood.get(verdict.search.name)
        return former is not None and (former.rank, former.lost) != (verdict.rank, verdict.lost)

    # Leaving

    def action_save(self) -> None:
        """Writes the weights into settings.toml."""
        if self.unsaved:
            self._save()
        else:
            self.dismiss(None)

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save(self) -> None:
        changed = changes(self.before, self.tried)
        done = await self.attempt(asyncio.to_thread(self._session.memory.save_settings, changed))
        if done is not None:
            self.dismiss(done)

    def action_close(self) -> None:
        """Leaves the weights as they were; asks when one was turned."""
        if not self.unsaved:
            self.dismiss(None)
            return
        count = len(changes(self.before, self.tried))
        said = f"{plural(count, 'weight')} changed and not saved. Searches keep using the saved weights."
        question = ConfirmScreen(
            "Discard the new weights?", said, yes="discard them", no="keep adjusting", leaves=True
        )
        close_if_sure(self, question)


def _weight_line(weight: Weight, settings: SearchSettings, before: SearchSettings, width: int) -> Content:
    changed = weight.of(settings) != weight.of(before)
    number = f"{weight.shown(settings):>{_NUMBER}}"
    style = "$text-accent" if changed else ""
    # What was turned bears a sign as well as a colour.
    sign = "*" if changed else " "
    return Content.assemble(
        (f"{sign}{weight.label:<{_LABEL}}", f"bold {style}" if changed else ""),
        _slider(weight, settings, max(0, width - _LABEL - _NUMBER - 3), style or "$text-primary"),
        (number, "bold"),
        " ",
    )


def _slider(weight: Weight, settings: SearchSettings, width: int, style: str) -> Content:
    """A line with a knob at the value and a mark at the default."""
    full = max(weight.full, weight.of(settings))

    def cell(value: float) -> int:
        return min(round(value / full * (width - 1)), width - 1)

    if width <= 0:
        return Content("")
    knob, usual = cell(weight.of(settings)), cell(weight.usual)
    signs = ["━"] * knob + ["●"] + ["─"] * (width - 1 - knob)
    if usual != knob:
        signs[usual] = "┿" if usual < knob else "┼"
    return Content.assemble(("".join(signs[: knob + 1]), style), ("".join(signs[knob + 1 :]), MUTED))


def _query_line(found: Found, moves: Moved) -> Content:
    hits = f"best {len(found.hits)}" if found.capped else plural(len(found.hits), "hit")
    said = f"  {hits} · {describe_moves(moves)}"
    return Content.assemble(content(cut(found.query, 40), "bold $text-accent"), (said, MUTED))


def _hit_row(hit: Hit, moves: Moved) -> Row:
    places = moves.up.get(hit.note.id)
    sign = move_sign(places)
    style = "$text-accent" if places is None else "$text-success" if places > 0 else "$text-warning"
    title = Content.assemble(
        (f"{sign:>{_MOVE}} ", style),
        (f"{hit.rank:>2} ", MUTED),
        note_marks(hit.note),
        content(hit.note.title, title_style(hit.note)),
    )
    score = f"{hit.breakdown.blend:.2f}" if hit.breakdown.blend else ""
    return Row(hit.note.id, (sides(title, Content.styled(score, "bold")),))


def _check_row(verdict: SearchCheckResult, former: SearchCheckResult | None) -> Row:
    lost = verdict.lost
    head = Content.assemble(
        ("✗ " if lost else "✓ ", "bold $text-error" if lost else "$text-success"),
        content(verdict.search.name, "$text-error" if lost else ""),
    )
    now = rank_of(verdict)
    was = rank_of(former) if former is not None else now
    places = now if now == was else f"{was} → {now}"
    aside = Content.assemble(
        ("failed " if lost else "", "bold $text-error"),
        (places, "bold"),
        (f" (first {verdict.search.within})", MUTED),
    )
    return Row(verdict.search.name, (sides(head, aside),))
