"""Choosing a note: type words, walk the list with the arrow keys, enter takes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import content, cut
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.session import Session
from nuggets_tui.view import listed
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import marked, note_marks, title_style, with_reasons

_MOST: Final = 100
_WORDS: Final = 3
_MARKED: Final = "bold underline $text-accent"
_REASON: Final = "related"
# Cells of each thing said of a note.
_ABOUT: Final = 44


@dataclass(frozen=True)
class _Choice:
    """A note to choose. why: it is offered; marked: characters of its title that fit; words: that its text has."""

    note: Note
    why: str = ""
    words: tuple[str, ...] = ()
    marked: tuple[int, ...] = ()


class PickerScreen(Dialog[tuple[str, str]]):
    """Answers with the id of the chosen note and the reason typed ("" when none is asked for)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "down", show=False, priority=True),
        Binding("up", "move(-1)", "up", show=False, priority=True),
        Binding("ctrl+s", "take", "take", show=False),
    ]
    about = (
        'Type words of a note, or letters of its title in order: amw finds "Auth middleware". Titles '
        "come first, then texts."
    )

    def __init__(
        self,
        session: Session,
        snapshot: Snapshot,
        note: Note | None,
        heading: str,
        *,
        ask_reason: bool = False,
        hidden: bool = False,
        first: Mapping[str, str] | None = None,
    ) -> None:
        """`note`: the one that another is chosen for, if any; it is not offered. `hidden`: hidden notes too.

        first: ids of notes that come first while nothing is typed, each with the reason, such as "suggested".
        """
        super().__init__(classes="large")
        self.heading = heading
        if note is not None:
            self.heading += f' "{note.title}"' if ask_reason else f": {note.title}"
        self.keys = "⏎  choose note · ↑↓  choose · esc  close"
        if ask_reason:
            self.keys = "⏎  give a reason, then link · ↑↓  choose · esc  close"
        self._session = session
        self._snapshot = snapshot
        self._known = {note.id} if note is not None else set()
        self._hidden = hidden
        self._first = dict(first or {})
        self._note = note
        self._titles: tuple[Sequence[Note], list[str]] | None = None
        self._queries = 0
        self._ask_reason = ask_reason

    def compose_inside(self) -> ComposeResult:
        yield Field("Which note?", id="words", hint="words or letters of its title, or words of its text")
        yield RowList(id="choices", empty_text="No other note matches.")
        if self._ask_reason:
            yield Field("Reason", _REASON, id="reason")

    def on_mount(self) -> None:
        self.query_one("#words", Input).focus()
        self.refresh_choices("")

    @on(Input.Changed, "#words")
    def typed(self, event: Input.Changed) -> None:
        self.refresh_choices(event.value)

    @work(group="pick", exclusive=True, exit_on_error=False)
    async def refresh_choices(self, text: str) -> None:
        self._queries += 1
        found = await self.attempt(run_in_thread(self._fitting, text, self._queries))
        if found is not None:
            self.query_one(RowList).set_rows(list(map(self._row, found)), keep_cursor=False)

    def _fitting(self, text: str, query: int) -> Sequence[_Choice]:
        def stopped() -> bool:
            # Those who typed on wait for no answer to what they typed before.
            return query != self._queries

        notes, titles = self._offered()
        if not text.strip():
            return self._at_first(notes)

        titled = [
            (match.strong, _Choice(notes[match.place], marked=match.marked))
            for match in fitting(text, titles, _MOST, stopped)
        ]
        sure = [choice for strong, choice in titled if strong]
        maybe = [choice for strong, choice in titled if not strong]
        known = self._known | {choice.note.id for choice in sure}
        inside = [choice for choice in self._by_text(text, stopped) if choice.note.id not in known]
        known |= {choice.note.id for choice in inside}
        return [*sure, *inside, *(choice for choice in maybe if choice.note.id not in known)][:_MOST]

    def _offered(self) -> tuple[Sequence[Note], list[str]]:
        """The notes to choose from, newest first, and their titles as they are compared."""
        if self._titles is None:
            newest = listed(self._snapshot, "newest", self._hidden, show_facts=True)
            notes = [note for note in newest if note.id not in self._known]
            self._titles = notes, [folded(note.title) for note in notes]
        return self._titles

    def _at_first(self, notes: Sequence[Note]) -> Sequence[_Choice]:
        """What is likely meant before anything is typed, then the newest."""
        by_id = self._snapshot.by_id
        likely = [
            _Choice(by_id[id], why)
            for id, why in self._first.items()
            if id in by_id and id not in self._known and (self._hidden or not by_id[id].hidden)
        ]
        known = {choice.note.id for choice in likely}
        rest = (_Choice(note) for note in notes[:_MOST] if note.id not in known)
        return [*likely, *rest][:_MOST]

    def _by_text(self, text: str, stopped: Callable[[], bool]) -> Sequence[_Choice]:
        from core.search import Filters

        filters = Filters(include_hidden=self._hidden)
        hits = self._session.memory.search(text, _MOST, filters, stopped=stopped)
        return [
            _Choice(
                hit.note, f"in its text: {', '.join(hit.breakdown.matched[:_WORDS])}", hit.breakdown.matched
            )
            for hit in hits
        ]

    def _row(self, choice: _Choice) -> Row:
        note = choice.note
        title = content(note.title, title_style(note))
        for place in choice.marked:
            if place < len(title):
                title = title.stylize(_MARKED, place, place + 1)
        if choice.words:
            title = marked(note.title, choice.words, title_style(note))
        stored = self._stored_reason(note)
        linked = f"linked: {stored}" if stored else ""
        about = [cut(part, _ABOUT) for part in (choice.why, linked, note.nugget_name) if part]
        return Row(note.id, (with_reasons(Content.assemble(note_marks(note), title), about, whole=True),))

    def _stored_reason(self, note: Note) -> str:
        """Why a note is linked to the one that another is chosen for; "" where it is not."""
        from core.graph.edits import link_reasons

        return "; ".join(link_reasons(self._note, note)) if self._note is not None else ""

    def action_move(self, step: int) -> None:
        choices = self.query_one(RowList)
        choices.action_move("down" if step > 0 else "up")

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        event.stop()
        self._go_on(event.input)

    @on(RowList.RowSelected)
    def clicked(self, event: RowList.RowSelected) -> None:
        event.stop()
        self._go_on(self.query_one(RowList))

    def _go_on(self, widget: Widget) -> None:
        if not self._ask_reason or widget.id == "reason":
            self.action_take()
        elif (row := self.query_one(RowList).cursor_row) is not None:
            reason = self.query_one("#reason", Input)
            stored = self._stored_reason(self._snapshot.by_id[row.key])
            if stored and reason.value == _REASON:
                reason.value = stored
            reason.focus()
            reason.select_all()

    def action_take(self) -> None:
        row = self.query_one(RowList).cursor_row
        if row is None:
            return
        reason = self.query_one("#reason", Input).value if self._ask_reason else ""
        self.dismiss((row.key, reason))


# Titles looked at before it is asked whether anybody still waits.
_CHUNK: Final = 4_000
# So many are weighed; of a letter that stands in nearly every title more would say nothing.
_WEIGHED: Final = 3_000
_LONGEST: Final = 200
_LONGEST_TYPED: Final = 100
_STARTS: Final = re.compile(r"(?:(?<=[\W_])|^)[^\W_]")


@dataclass(frozen=True)
class Match:
    """A title that fits. place: in the sequence given; marked: characters that were matched.

    weight: the higher the better; 3 and more: all words stand there; 2 and more: letters that begin words; below that
    only letters in this order.
    """

    place: int
    weight: float
    marked: tuple[int, ...]

    @property
    def strong(self) -> bool:
        """Whether it surely is what was meant."""
        return self.weight >= 2


def folded(title: str) -> str:
    """A title as it is compared: in small letters, each in its place."""
    small = title[:_LONGEST].lower()
    return small if len(small) == len(title[:_LONGEST]) else title[:_LONGEST]


def fitting(
    typed: str, titles: Sequence[str], most: int, stopped: Callable[[], bool] = lambda: False
) -> list[Match]:
    """The titles that fit best, best first; of equal ones the earlier. titles: as `folded` gives them.

    stopped: asked now and then; once it says yes, what was found so far is given.
    """
    words = typed.lower()[:_LONGEST_TYPED].split()
    if not words:
        return []
    letters = "".join(words)
    # Possessive, so that there is no going back: the first place of each letter is as good as any.
    in_order = re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in letters))
    found: list[Match] = []
    for start in range(0, len(titles), _CHUNK):
        if stopped() or len(found) >= _WEIGHED:
            break
        for place, title in enumerate(titles[start : start + _CHUNK], start):
            if in_order.match(title) or all(word in title for word in words):
                found.append(Match(place, *_weighed(title, words, letters)))
    return sorted(found, key=lambda match: (-match.weight, match.place))[:most]


def _weighed(title: str, words: Sequence[str], letters: str) -> tuple[float, tuple[int, ...]]:
    if all(word in title for word in words):
        at = [_place_of(word, title) for word in words]
        marked = {place + step for place, word in zip(at, words, strict=True) for step in range(len(word))}
        begin = sum(_begins(title, place) for place in at)
        return 3 + begin / len(words) + len(letters) / (len(title) + 1), tuple(sorted(marked))
    starts = [match.start() for match in _STARTS.finditer(title)]
    initials = _in_order(letters, [(start, title[start]) for start in starts])
    if initials:
        return 2 + len(letters) / (starts.index(initials[-1]) - starts.index(initials[0]) + 2), initials
    places = _in_order(letters, enumerate(title))
    return len(letters) / (places[-1] - places[0] + 1), places


def _place_of(word: str, title: str) -> int:
    """Where a word stands in a title: at the start of one, where it does."""
    found = (match.start() for match in re.finditer(re.escape(word), title))
    return next((place for place in found if _begins(title, place)), title.find(word))


def _begins(title: str, place: int) -> bool:
    return place == 0 or not title[place - 1].isalnum()


def _in_order(letters: str, offered: Iterable[tuple[int, str]]) -> tuple[int, ...]:
    """The places of letters that stand in this order; none where they do not."""
    places: list[int] = []
    for place, letter in offered:
        if len(places) < len(letters) and letter == letters[len(places)]:
            places.append(place)
    return tuple(places) if len(places) == len(letters) else ()
