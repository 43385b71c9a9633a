"""Why a note is among the results, or why it is not: its score taken apart, with bars that add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from core.model.note import Note
from nuggets_tui.safe_text import content, cut
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.session import Session
from nuggets_tui.view import Found
from nuggets_tui.why import LINES, MEANINGS, Given, Line, Why, number
from nuggets_tui.widgets.bars import FULL_BLEND, PART_STYLES, stacked
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_text import MUTED

_NAME: Final = 8
_NUMBER: Final = 6
_INDENT: Final = _NAME + _NUMBER + 2
_MOST_BAR: Final = 52
_MOST_GIVEN: Final = 12
_STYLE_OF: Final = {
    name: style for (_, name), style in zip(LINES, (*PART_STYLES, "$text", "$text-muted"), strict=True)
}


class WhyScreen(Dialog[None]):
    """Explains one note's place in a search; the arrow keys go on to the hits beside it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "previous hit", show=False),
        Binding("right", "step(1)", "next hit", show=False),
        Binding("w,q", "close", "close", show=False),
    ]
    about = (
        "The score of a note in this search, part by part, down to single words. For a note that is "
        "not a hit: what keeps it out."
    )

    def __init__(self, session: Session, found: Found, note: Note) -> None:
        super().__init__(classes="large")
        self.heading = "Why this note is a hit, or not"
        self.keys = "↑↓  scroll · ← →  previous and next hit · esc  close"
        self._session = session
        self._found = found
        self._note = note

    def compose_inside(self) -> ComposeResult:
        yield LineView(lambda width: [Content.styled("computing …", MUTED)], id="lines")

    def on_mount(self) -> None:
        self.query_one(LineView).focus()
        self.ask()

    def action_step(self, step: int) -> None:
        notes = [hit.note for hit in self._found.hits]
        ids = [note.id for note in notes]
        place = ids.index(self._note.id) + step if self._note.id in ids else 0
        if 0 <= place < len(notes):
            self._note = notes[place]
            self.ask()

    @work(group="why", exclusive=True, exit_on_error=False)
    async def ask(self) -> None:
        """Shows the answer when it is there."""
        note = self._note
        answer = await self.attempt(self._session.why(self._found, note.id))
        if self.is_mounted and note is self._note:
            lines = partial(why_lines, answer, note.title, self._found.query)
            self.query_one(LineView).show_lines(lines)


def why_lines(answer: Why | None, title: str, query: str, width: int) -> Sequence[Content]:
    """An explanation as lines of at most `width` cells. answer: None for a note that is gone."""
    lines = [*content(cut(title, 2 * width), "bold").wrap(width)]
    asked = cut(query, max(8, width - len("searched for: ")))
    lines.append(Content.assemble(("searched for: ", MUTED), (asked, "$text-accent")))
    lines.append(Content(""))
    if answer is None:
        return [*lines, *Content("This note is no longer in the memory.").wrap(width)]
    sign, style = ("✓ ", "bold $text-success") if answer.is_hit else ("✗ ", "bold $text-warning")
    lines += _hanging(Content.styled(sign, style), content(answer.outcome, "bold"), width)
    for sentence in answer.sentences:
        lines += _hanging(Content("  "), content(sentence), width)
    if answer.lines:
        lines += [Content(""), *_score(answer, width), Content(""), *_meanings(answer, width)]
    return lines


def _score(answer: Why, width: int) -> Iterator[Content]:
    bar = max(0, min(_MOST_BAR, width - _INDENT))
    full = max(FULL_BLEND, answer.blend)
    start = 0.0
    for line in answer.lines:
        style = _STYLE_OF[line.name]
        begins = start + min(line.value, 0.0)
        yield _headed(line.name, line.value, stacked([(abs(line.value), style)], bar, full, begins))
        start += line.value
        if line.about:
            yield from _hanging(Content(" " * _INDENT), Content.styled(line.about, MUTED), width)
        yield from _reasons(line, width)
    yield Content.styled("─" * min(width, _INDENT + bar), MUTED)
    spans = [(line.value, _STYLE_OF[line.name]) for line in answer.lines]
    if any(value < 0 for value, _ in spans):
        # What one part takes away from the others has no colour of its own.
        spans = [(max(answer.blend, 0.0), "")]
    yield _headed("score", answer.blend, stacked(spans, bar, full))


def _headed(name: str, value: float, bar: Content) -> Content:
    return Content.assemble((f"{name:<{_NAME}}", "bold"), (f"{number(value):>{_NUMBER}}", "bold"), "  ", bar)


def _reasons(line: Line, width: int) -> Iterator[Content]:
    for given in line.given[:_MOST_GIVEN]:
        yield from _reason(given, width)
    rest = line.given[_MOST_GIVEN:]
    if rest:
        value = sum(given.value for given in rest)
        yield from _reason(Given(f"{len(rest)} more", value, quiet=True), width)


def _reason(given: Given, width: int) -> list[Content]:
    head = Content.assemble(" " * _NAME, (f"{number(given.value):>{_NUMBER}}", MUTED), "  ")
    return _hanging(head, content(given.text, MUTED if given.quiet else ""), width)


def _meanings(answer: Why, width: int) -> Iterator[Content]:
    shown = {line.name for line in answer.lines}
    for name, meaning in MEANINGS:
        if name in shown:
            head = Content.styled(f"{name:<{_NAME}}", f"{_STYLE_OF[name]}")
            yield from _hanging(head, Content.styled(meaning, MUTED), width)


def _hanging(head: Content, text: Content, width: int) -> list[Content]:
    """A text with a head before its first line, the others as far to the right."""
    size = head.cell_length
    first, *more = text.wrap(max(width - size, 8)) or [Content("")]
    return [Content.assemble(head, first), *(Content(" " * size) + part for part in more)]
