"""Merging two notes by hand: field by field what the merged one takes, with the result as it would be."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from core.graph.merging import MergeChoices, merge_notes
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.note import Note
from core.reflection.proposals import not_duplicates, refuse
from nuggets_tui.listing import own_tags
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.review import Reviewed
from nuggets_tui.session import PendingConflict, Session, or_pending_conflict
from nuggets_tui.widgets.line_view import LineView, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides

_FIELDS: Final = {
    "title": "Title", "content": "Text", "tags": "Tags", "scope": "Scope", "type": "Type",
    "stability": "Stability", "confidence": "Confidence",
}  # fmt: skip
_OF_BOTH: Final = ("content", "tags")
_SIDE_LABELS: Final = {"survivor": "kept note", "other": "hidden note", "both": "both"}
_LONGEST: Final = 20_000
_Answer = Callable[[], Awaitable[Reviewed]]


class MergeScreen(Dialog[Reviewed | PendingConflict]):
    """One note takes in another, which is then hidden. Answers with the change set: the merge, or "no duplicates"."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "merge", "merge", show=False),
        Binding("space,right", "choose(1)", "next choice", show=False),
        Binding("left", "choose(-1)", "previous choice", show=False),
        Binding("x", "swap", "swap", show=False),
        Binding("n", "no_duplicates", "not duplicates", show=False),
        Binding("tab", "switch", "switch", show=False),
    ]
    keys = "ctrl+s  merge · space  choose · x  swap · n  not duplicates · esc  close"
    about = (
        "Two notes become one, field by field; the other is hidden with a link to it. Every line of "
        "both is kept unless you choose one text; edit the merged note afterwards."
    )

    def __init__(self, session: Session, survivor: Note, other: Note) -> None:
        super().__init__(classes="full")
        self.heading = "Merge two notes"
        self._session = session
        self._survivor = survivor
        self._other = other
        self.choices = MergeChoices()
        # What is shown, and the choices it is made of.
        self._shown: tuple[tuple[str, MergeChoices], ChangeSet] | None = None

    def compose_inside(self) -> ComposeResult:
        yield Static(self._words(), id="merging", classes="words")
        with Horizontal(id="sides"):
            fields = RowList(self._rows(), id="changes", classes="pane")
            fields.border_title = Content("Field by field")
            yield fields
            with Vertical(id="outcome"):
                for id, title in (("becomes", "Merged note"), ("versions-of-field", "What both say")):
                    view = LineView(id=id, classes="pane")
                    view.border_title = Content(title)
                    yield view

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self._preview()

    def _words(self) -> Content:
        kept, gone = (safe_line(note.title, 60) for note in (self._survivor, self._other))
        return content(f'Keeps "{kept}". Hides "{gone}", with a link to the kept note. x swaps them.', MUTED)

    def _rows(self) -> list[Row]:
        return [self._row(name, label) for name, label in _FIELDS.items()]

    def _row(self, name: str, label: str) -> Row:
        mine, theirs = _value(self._survivor, name), _value(self._other, name)
        side = getattr(self.choices, name)
        said = "same" if mine == theirs else _SIDE_LABELS[side]
        shown = theirs if side == "other" else mine
        if side == "both" and mine != theirs:
            shown = "every line of both" if name == "content" else _union(mine, theirs)
        style = MUTED if said == "same" else "$text-accent"
        head = sides(Content.assemble(" ", content(label, "bold")), content(said, style))
        return Row(name, (head, Content.assemble(" ", content(safe_line(shown, 200), MUTED))))

    # Choosing

    @property
    def field(self) -> str:
        row = self.query_one(RowList).cursor_row
        return row.key if row is not None else "title"

    def action_choose(self, step: int) -> None:
        name = self.field
        if _value(self._survivor, name) == _value(self._other, name):
            return
        options = ("both", "survivor", "other") if name in _OF_BOTH else ("survivor", "other")
        place = options.index(getattr(self.choices, name))
        chosen: dict[str, Any] = {name: options[(place + step) % len(options)]}
        self._choose(dataclasses.replace(self.choices, **chosen))

    def action_swap(self) -> None:
        self._survivor, self._other = self._other, self._survivor
        turned = {"survivor": "other", "other": "survivor", "both": "both"}
        chosen: dict[str, Any] = {name: turned[getattr(self.choices, name)] for name in _FIELDS}
        self.query_one("#merging", Static).update(self._words())
        self._choose(dataclasses.replace(self.choices, **chosen))

    def _choose(self, choices: MergeChoices) -> None:
        self.choices = choices
        self.query_one(RowList).set_rows(self._rows())
        self._show_both()
        self._preview()

    @on(RowList.RowHighlighted)
    def show_field(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self._show_both()

    @on(RowList.RowSelected)
    def enter(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.action_choose(1)

    def action_switch(self) -> None:
        self.focus_next()

    # Showing

    def _show_both(self) -> None:
        name = self.field
        shown = [
            (_SIDE_LABELS[side].capitalize(), _value(note, name))
            for side, note in (("survivor", self._survivor), ("other", self._other))
        ]
        self.query_one("#versions-of-field", LineView).show_lines(partial(_both_lines, shown))

    @work(group="preview", exclusive=True, exit_on_error=False)
    async def _preview(self) -> None:
        proposed = await self.attempt(self._proposed())
        if proposed is not None:
            view = self.query_one("#becomes", LineView)
            view.show_lines(partial(_note_lines, self._merged_note(proposed)), keep_scroll=True)

    def _merged_note(self, proposed: ChangeSet) -> Note:
        after = next(change.after for change in proposed.notes if change.id == self._survivor.id)
        assert after is not None
        return after

    async def _proposed(self) -> ChangeSet:
        """The merge as it is chosen; the one that is shown, where it is."""
        chosen = (self._survivor.id, self.choices)
        if self._shown is None or self._shown[0] != chosen:
            edit = partial(merge_notes, survivor_id=chosen[0], other_id=self._other.id, choices=self.choices)
            proposed = await self._session.preview(f"merged into {self._survivor.title}", edit)
            self._shown = (chosen, proposed)
        return self._shown[1]

    # Answering

    def action_merge(self) -> None:
        self._answer(self._merged)

    def action_no_duplicates(self) -> None:
        self._answer(self._refused)

    @work(group="answer", exclusive=True, exit_on_error=False)
    async def _answer(self, answer: _Answer) -> None:
        done = await self.attempt(or_pending_conflict(answer()))
        if done is not None:
            self.dismiss(done)

    async def _merged(self) -> Reviewed:
        return await self._session.write(self._session.memory.apply, await self._proposed()), ""

    async def _refused(self) -> Reviewed:
        change = not_duplicates(self._survivor, self._other)

        def edit(draft: Draft) -> int:
            return refuse(draft, [change])

        reason = f"{self._survivor.title} and {self._other.title} are no duplicates"
        _, done = await self._session.change(reason, edit)
        return done, "Not duplicates: reflection no longer proposes to merge these two"


def _value(note: Note, name: str) -> str:
    if name == "tags":
        return " ".join(own_tags(note))
    if name == "confidence":
        return f"{note.confidence:g}"
    return str(getattr(note, name))


def _union(first: str, second: str) -> str:
    return " ".join(dict.fromkeys([*first.split(), *second.split()]))


def _both_lines(values: Iterable[tuple[str, str]], width: int) -> list[Content]:
    lines: list[Content] = []
    for heading, value in values:
        lines += [Content.styled(heading, "bold"), *_text_lines(value or "nothing"), Content("")]
    return wrapped(lines, width)


def _note_lines(note: Note, width: int) -> list[Content]:
    about = (note.scope, note.type, note.stability, f"confidence {note.confidence:g}")
    head = [
        content(safe_line(note.title), "bold"),
        content(safe_line(" · ".join(filter(None, about))), MUTED),
        content(safe_line(" ".join(f"#{tag}" for tag in own_tags(note))), "$text-secondary"),
        Content(""),
    ]
    return wrapped([*head, *_text_lines(note.content)], width)


def _text_lines(text: str) -> list[Content]:
    shown = [content(plain(line.expandtabs(4))) for line in text[:_LONGEST].split("\n")]
    return [*shown, Content.styled("… and more", MUTED)] if len(text) > _LONGEST else shown
