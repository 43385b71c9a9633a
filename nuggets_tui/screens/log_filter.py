"""Choosing what of the audit log is shown: by whom, what was done, since when, which note, run or words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from core.memory import Memory
from core.model.entry import Entry
from core.model.note import Note
from nuggets_tui.log import AUTHORS, DAYS, DEEDS, Scope, since_days
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import clock_time, counted, plural

_MOST_NAMES: Final = 8
_MOST_RUNS: Final = 12
_MOST_WORDS: Final = 200
_NAME: Final = 24
# Parts a row's key from what it stands for; no author's name can hold it.
_SEPARATOR: Final = "\0"


@dataclass(frozen=True)
class Offered:
    """What the log holds to choose from. kinds and names: of authors, deeds: by kind of change set, with how many."""

    kinds: Counter[str]
    names: Counter[tuple[str, str]]
    deeds: Counter[str]
    runs: Sequence[Entry]


def offered(memory: Memory) -> Offered:
    """What the log holds to choose from. Raises StorageError."""
    kinds: Counter[str] = Counter()
    names: Counter[tuple[str, str]] = Counter()
    deeds: Counter[str] = Counter()
    for author, name, kind, count in memory.history.counts():
        deeds[kind] += count
        if kind != "hit":
            kinds[author] += count
            # Sessions that only recalled are no authors that anybody would ask for.
            names[author, name] += count if name else 0
    runs = memory.history.log(limit=_MOST_RUNS, kind="reflection")
    return Offered(kinds, +names, deeds, runs)


class LogFilterScreen(Dialog[Scope]):
    """Answers with the scope of what was chosen. `note`: the one shown, if any."""

    heading = "Filter the audit log"
    keys = "⏎  apply · ↓  go to the list · space  choose · esc  close"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "show_log", "show", show=False),
        Binding("tab", "switch", "switch", show=False, priority=True),
        Binding("down", "to_list", "go to the list", show=False),
    ]

    def __init__(self, scope: Scope, found: Offered, note: Note | None, now: datetime) -> None:
        super().__init__(classes="large")
        self._scope = scope
        self._offered = found
        self._note = note
        self._now = now
        self._former: frozenset[str] = frozenset()

    def compose_inside(self) -> ComposeResult:
        yield Field("Words in titles and reasons", self._scope.text, id="words", hint="such as: auth token")
        choices = RowList(self._rows(), multi_select=True, id="choices")
        choices.select(self._chosen_before())
        yield choices

    def on_mount(self) -> None:
        self.query_one("#words", Input).focus()

    # What there is to choose

    def _rows(self) -> list[Row]:
        found = self._offered
        rows = [_heading("By")]
        for kind, label in AUTHORS.items():
            if found.kinds[kind]:
                rows.append(_row("by", kind, label, f"{found.kinds[kind]:,}"))
                names = [(name, count) for (of, name), count in found.names.most_common() if of == kind]
                rows += [
                    _row("by", name, f"  {name}", f"{count:,}")
                    for name, count in names[:_MOST_NAMES]
                    if name not in AUTHORS
                ]
        rows.append(_heading("Since"))
        rows += [_row("since", str(days), label) for days, label in DAYS.items()]
        if self._note is not None:
            rows += [_heading("Note"), _row("of", self._note.id, f'this note: "{self._note.title}"')]
        rows.append(_heading("Kind of change"))
        for deeds in DEEDS:
            count = sum(found.deeds[kind] for kind in deeds.kinds)
            if count or deeds.verbs:
                rows.append(_row("did", deeds.name, deeds.label, f"{count:,}" if count else ""))
        if found.runs:
            rows.append(_heading("One reflection run"))
            rows += [self._run_row(entry) for entry in found.runs]
        return rows

    def _run_row(self, entry: Entry) -> Row:
        change_set = entry.change_set
        said = f"{clock_time(change_set.at, self._now):<7} {counted(change_set)}"
        return _row("run", entry.id, said, plural(change_set.size, "change"))

    def _chosen_before(self) -> frozenset[str]:
        scope = self._scope
        chosen = [("by", author) for author in scope.authors] + [("did", name) for name in scope.deeds]
        chosen += [("of", scope.note_id)] if scope.note_id else []
        chosen += [("run", scope.run)] if scope.run else []
        return frozenset(_SEPARATOR.join(each) for each in chosen)

    # Choosing

    @on(RowList.SelectionChanged)
    def keep_one(self, event: RowList.SelectionChanged) -> None:
        event.stop()
        for sort in ("since", "run"):
            chosen = [key for key in event.keys if _sort(key) == sort]
            if len(chosen) > 1:
                newest = self._newest_of(chosen)
                event.row_list.select(event.keys - set(chosen) | {newest})
        self._former = event.row_list.selected

    def _newest_of(self, chosen: Sequence[str]) -> str:
        return next((key for key in chosen if key not in self._former), chosen[0])

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.action_show_log()

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        event.stop()
        author = self._named_author
        if author is None:
            self.action_show_log()
        else:
            chosen = {*self.query_one(RowList).selected, f"by{_SEPARATOR}{author}"}
            self.dismiss(self._scope_of(chosen, ""))

    def action_switch(self) -> None:
        words, choices = self.query_one("#words", Input), self.query_one(RowList)
        (choices if words.has_focus else words).focus()

    def action_to_list(self) -> None:
        self.query_one(RowList).focus()

    @on(Input.Changed)
    def recognise(self, event: Input.Changed) -> None:
        event.stop()
        if self._named_author is not None:
            who = safe_line(self._words, _NAME)
            said = Content.assemble(("⏎ ", "bold $text-accent"), content(f"changes by {who}", MUTED))
            more = Content.assemble(("  ctrl+s ", "bold $text-accent"), content("as a word", MUTED))
            self.query_one("#words", Field).remark(said + more)

    @property
    def _words(self) -> str:
        return " ".join(self.query_one("#words", Input).value.split())[:_MOST_WORDS]

    @property
    def _named_author(self) -> str | None:
        """The author that is typed, where nothing else is; None for none."""
        typed = self._words.casefold()
        names = {name.casefold(): name for _, name in self._offered.names}
        kinds = {label.casefold(): kind for kind, label in AUTHORS.items() if self._offered.kinds[kind]}
        return {**kinds, **names}.get(typed)

    def action_show_log(self) -> None:
        choices = self.query_one(RowList)
        text = self._words
        chosen = choices.selected
        if not chosen and choices.has_focus and choices.cursor_row is not None and not text:
            chosen = frozenset((choices.cursor_row.key,))
        self.dismiss(self._scope_of(chosen, text))

    def _scope_of(self, chosen: Iterable[str], text: str) -> Scope:
        by_sort: dict[str, list[str]] = {}
        for key in sorted(chosen):
            sort, _, value = key.partition(_SEPARATOR)
            by_sort.setdefault(sort, []).append(value)

        def first(sort: str) -> str:
            return next(iter(by_sort.get(sort, ())), "")

        scope = replace(
            self._scope.cleared(),
            authors=tuple(by_sort.get("by", ())),
            deeds=tuple(by_sort.get("did", ())),
            note_id=first("of"),
            run=first("run"),
            text=text,
        )
        return since_days(scope, int(first("since") or 0), self._now)


def _sort(key: str) -> str:
    return key.partition(_SEPARATOR)[0]


def _heading(said: str) -> Row:
    return Row(said, (Content.styled(said, f"bold {MUTED}"),), selectable=False)


def _row(sort: str, value: str, label: str, count: str = "") -> Row:
    said = content(safe_line(label, 200))
    return Row(f"{sort}{_SEPARATOR}{value}", (sides(said, Content.styled(count, MUTED)),))
