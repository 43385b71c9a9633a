"""The recall behind a fact: which key matched and how, how sure the answer is, and what came after it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.screens.basic import LinesScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.bars import bar
from nuggets_tui.widgets.diff_lines import wrapped
from nuggets_tui.widgets.line_view import MakeLines
from nuggets_tui.words import how_sure, other_side_lines

if TYPE_CHECKING:
    from core.facts.recall import Recall

_LABEL: Final = 12
_BAR: Final = 16
_MUTED: Final = "$text-muted"
_OTHERS: Final = {False: "Runners-up", True: "Other facts the vectors return"}


def recall_screen(session: Session, nugget: str, key: str) -> LinesScreen[None]:
    """Shows what an agent would be answered; looking is counted nowhere."""

    async def ask() -> MakeLines:
        return partial(recall_lines, await session.read(session.memory.recall, key, nugget, record=False))

    return LinesScreen(
        f'Recall "{key}"',
        lambda width: [Content.styled("decoding …", _MUTED)],
        about="What an agent gets for this key: which fact matched, how, how sure, and the runners-up.",
        more=ask,
    )


def recall_lines(found: Recall, width: int) -> Sequence[Content]:
    """A recall as lines of at most `width` cells."""
    if not found.found:
        return wrapped([Content("Nothing matches this key.")], width)
    matched = f"{found.match.kind}, strength {found.match.strength:.2f}" if found.match else ""
    sure = Content.assemble((bar(found.certainty, _BAR), "$text-success"), f" {found.certainty:.2f}")
    lines = [
        content(found.answer or "", "bold"),
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
            value = content(runner.value, _MUTED).truncate(room, ellipsis=True)
            lines.append(Content.assemble((f"{drawn:<{_BAR}}", "$text-secondary"), similarity, value))
    return wrapped(lines, width)


def _labelled(label: str, value: Content) -> Content:
    return Content.assemble((f"{label:<{_LABEL}}", _MUTED), value)
