"""Where a result, an answer or a note comes from: a score taken apart, the recall of a fact, a text, a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from core.model.note import Note
from nuggets_tui.pace import run_in_thread
from nuggets_tui.pipeline_words import EVENTS, age, author_name, submitted_line
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.screens.dialog import Dialog, LinesScreen
from nuggets_tui.session import Session
from nuggets_tui.view import Found
from nuggets_tui.why import LINES, MEANINGS, Given, Line, Why, number
from nuggets_tui.widgets.line_view import LineView, MakeLines, wrapped
from nuggets_tui.widgets.pipeline_details import sentence_lines
from nuggets_tui.widgets.row_text import FULL_BLEND, MUTED, PART_STYLES, bar, stacked
from nuggets_tui.words import STALE_SIGN, how_sure, other_side_lines, stale_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.facts.recall import Recall
    from core.model.judgement import Standing
    from core.pipeline.records import HistoryRow, Origin
    from core.search.results import Passage

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


_LABEL: Final = 12
_BAR: Final = 16
_OTHERS: Final = {False: "Runners-up", True: "Other facts the vectors return"}


def recall_screen(session: Session, nugget: str, key: str) -> LinesScreen[None]:
    """Shows what an agent would be answered; looking is counted nowhere."""

    async def ask() -> MakeLines:
        return partial(recall_lines, await session.read(session.memory.recall, key, nugget, record=False))

    return LinesScreen(
        f'Recall "{key}"',
        lambda width: [Content.styled("decoding …", MUTED)],
        about="What an agent gets for this key: which fact matched, how, how sure, and the runners-up.",
        more=ask,
    )


def recall_lines(found: Recall, width: int) -> Sequence[Content]:
    """A recall as lines of at most `width` cells."""
    if not found.found:
        offered = [(content(one.first_line, "bold"), *_stale(one.stale)) for one in found.candidates]
        none = Content("Not sure enough to answer." if offered else "Nothing matches this key.")
        return wrapped([none, *(line for lines in offered for line in (Content(""), *lines))], width)
    matched = f"{found.match.kind}, strength {found.match.strength:.2f}" if found.match else ""
    sure = Content.assemble((bar(found.certainty, _BAR), "$text-success"), f" {found.certainty:.2f}")
    lines = [
        content(found.answer or "", "bold"),
        *_stale(found.stale),
        Content(""),
        _labelled("key", content(f"{found.key}  ({found.nugget_name})")),
        _labelled("matched", content(matched)),
        _labelled("certainty", sure),
        _labelled("confidence", Content(f"{found.confidence:.4f}   margin {found.margin:.4f}")),
    ]
    if found.undecoded:
        lines[-1:] = [_labelled("", Content.styled(how_sure(found), "$text-warning"))]
    lines += [content(line, "$text-warning") for line in other_side_lines(found)]
    if found.runners_up:
        lines += [Content(""), Content.styled(_OTHERS[bool(found.undecoded)], "bold")]
        best = max((runner.similarity for runner in found.runners_up), default=0.0)
        top = max(best, 1e-9)
        for runner in found.runners_up:
            drawn = bar(max(0.0, runner.similarity / top), _BAR)
            similarity = f" {runner.similarity:6.3f}  "
            room = max(width - _BAR - len(similarity), 1)
            value = content(runner.value, MUTED).truncate(room, ellipsis=True)
            lines.append(Content.assemble((f"{drawn:<{_BAR}}", "$text-secondary"), similarity, value))
    return wrapped(lines, width)


def _stale(stale: Sequence[Standing]) -> list[Content]:
    return [
        content(f"{STALE_SIGN} {line}", "$text-warning") for line in stale_lines(stale, datetime.now(UTC))
    ]


def _labelled(label: str, value: Content) -> Content:
    return Content.assemble((f"{label:<{_LABEL}}", MUTED), value)


# Characters before and after the sentence.
_AROUND: Final = 20_000
_MOST: Final = 100


def origin_screen(
    note: Note, origin: Origin, history: Sequence[HistoryRow], now: datetime
) -> LinesScreen[None]:
    """The trail of one note back to its sentence."""

    def lines(width: int) -> list[Content]:
        told = f"{origin.told} · " if origin.told else ""
        lines = [
            content(safe_line(note.title), "bold"),
            content(submitted_line(origin, now), MUTED),
            Content(""),
            *sentence_lines(origin.content, origin.span, around=_AROUND),
            Content(""),
            Content.styled("Why it was written", f"bold {MUTED}"),
            content(f"{told}{origin.confidence:.0%} sure · {_asked(origin)}", MUTED),
        ]
        if history:
            lines += [Content(""), Content.styled("What happened", f"bold {MUTED}")]
            said = [
                f"{age(row.at, now)}  {EVENTS.get(row.event, row.event.replace('_', ' '))}"
                f" by {author_name(row.changed_by)}"
                for row in history[:_MOST]
            ]
            lines += [content(safe_line(one), MUTED) for one in dict.fromkeys(said)]
        return wrapped(lines, width)

    return LinesScreen(
        "Where this note came from",
        lines,
        about="The submitted text, word for word, with the sentence that the note was made from.",
    )


def _asked(origin: Origin) -> str:
    """The model and the version of what it was asked."""
    return " ".join(part for part in (origin.model or "no model", origin.prompt_version) if part)


def part_screen(passage: Passage, read: Callable[[str], str]) -> LinesScreen[None]:
    """Shows a part of a document, why it was found, and its whole text. read: gives that text."""

    async def whole() -> MakeLines:
        return partial(part_lines, passage, await run_in_thread(read, passage.found.document_id))

    return LinesScreen(
        f"Document: {passage.found.title or passage.found.source}",
        partial(part_lines, passage, ""),
        about="A part of a document that the search found. Documents are no notes: they are found beside them.",
        more=whole,
    )


def part_lines(passage: Passage, text: str, width: int) -> list[Content]:
    """The part, its score, and the whole text of its document, "" while it is not read."""
    found = passage.found
    score = f"words {passage.words:.2f} + vector {passage.vector:.2f} = {passage.blend:.2f}"
    lines = [
        content(f"part {found.place + 1} of {found.source or found.document_id}", MUTED),
        content(f"{score} · {passage.likelihood:.2f} likely to answer", MUTED),
        Content(""),
        *_paragraphs(found.text, width),
    ]
    if text:
        lines += [
            Content(""),
            Content.styled("The whole document", "bold"),
            Content(""),
            *_paragraphs(text, width),
        ]
    return lines


def _paragraphs(text: str, width: int) -> list[Content]:
    return wrapped(map(content, text.split("\n")), width)
