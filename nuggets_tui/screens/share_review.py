"""Reviews of files as they will be: notes shared with a team, lines for MEMORY.md."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import work
from textual.content import Content

from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.review import Apply, DecidingReview, Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.line_view import MakeLines, diff_text_lines, text_difference, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, bar, sides
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.promotion import LeftOut, Length, PromotionEntry, PromotionResult
    from core.team import SharedFile, SharePlan
    from core.team.sharing import LinkLeftOut, Refused

_WHY = {
    "hidden": "The note is hidden. Bring it back to share it.",
    "changed-there": "The team's file was changed since you shared it. Edit the team's note instead.",
}
_SHORT = {
    "hidden": "hidden",
    "changed-there": "changed by the team",
    "credential": "may hold a credential",
}


class ShareReview(ReviewScreen):
    """What sharing would write into the project's folder; what is refused stands there with its reason."""

    about = (
        "Each file as it will be in the project's folder. A note that may hold a credential is refused, and a path of "
        "somebody's home folder is pointed out. Nothing is committed: review and commit the files with git."
    )

    def __init__(self, plan: SharePlan, folder: str, apply: Apply) -> None:
        left_out: dict[str, list[LinkLeftOut]] = {}
        for link in plan.left_out:
            left_out.setdefault(link.title, []).append(link)
        files = [_file_item(one, left_out.get(one.title, ())) for one in plan.files]
        super().__init__(
            f"Share {plural(len(plan.files), 'note')} with the team" if files else "Share with the team",
            _about(plan, folder),
            [*files, *map(_refused_item, plan.refused)],
            apply if files else None,
            titles=("Notes", "The file"),
            choosable=[one.note for one in plan.files],
        )

    def item_row(self, item: ReviewItem) -> Row:
        """The row of a note; a refused one stands back."""
        if item.key in self._choosable:
            return super().item_row(item)
        head = sides(
            Content.assemble(" ", content(item.title, MUTED)), Content.styled(item.kind, "$text-warning")
        )
        return Row(item.key, (head, Content.assemble(" ", content(item.detail, "$text-warning"))))


def _about(plan: SharePlan, folder: str) -> str:
    said = [f"Files in {folder}."]
    if plan.refused:
        said.append(f"{plural(len(plan.refused), 'note is', 'notes are')} refused.")
    if plan.same:
        said.append(f"{plural(len(plan.same), 'note')} of these the team has already.")
    said.append("Nothing is written until you apply, and nothing is committed.")
    return " ".join(said)


def _file_item(one: SharedFile, left_out: Sequence[LinkLeftOut]) -> ReviewItem:
    kind = "new file" if one.before is None else "changes"
    return ReviewItem(one.note, kind, one.title, one.file, partial(_file_lines, one, left_out))


def _file_lines(one: SharedFile, left_out: Sequence[LinkLeftOut], width: int) -> list[Content]:
    lines = [content(one.file, "bold"), Content("")]
    for found in one.homes:
        lines.append(
            content(f"Line {found.line} names a path of a home folder: {found.what}", "$text-warning")
        )
    if one.before is None:
        lines += [content(line) for line in one.after.rstrip("\n").split("\n")]
    else:
        lines += text_difference(one.before, one.after)
    if left_out:
        lines.append(Content(""))
        lines += [
            content(f'Left out: the link to "{link.to}", which is not shared.', MUTED) for link in left_out
        ]
    return wrapped(lines, width)


def _refused_item(one: Refused) -> ReviewItem:
    return ReviewItem(one.id, "refused", one.title, _SHORT[one.code], partial(_refused_lines, one))


def _refused_lines(one: Refused, width: int) -> list[Content]:
    return wrapped(list(_reasons(one)), width)


def _reasons(one: Refused) -> Iterator[Content]:
    yield Content.styled("This note is not shared.", "bold $text-warning")
    yield Content("")
    if not one.found:
        yield content(_WHY[one.code] + (f" {one.where}" if one.where else ""))
    for found in one.found:
        # What it is stays where it is.
        yield content(f"Line {found.line} looks like it holds a credential ({found.what}).")
    if one.found:
        yield Content("")
        yield Content.styled("Change what the note says, then share it again.", MUTED)


_PAGE: Final = "page"
_INTRODUCTION: Final = "Nothing is written until you apply. Lines you wrote yourself stay as they are."
_METER_CELLS: Final = 16
# From this share on the meter warns that there is little room left.
_NEARLY_FULL: Final = 0.9
_PROPOSED: Final = ("new", "updated", "removed")


class PromotionReview(DecidingReview):
    """Entries of MEMORY.md. What is refused one by one is not proposed again until its text changes.

    What a person edited in the file, and what they refused before, stays as it is unless it is accepted here. Notes
    that are not proposed stand below, dimmed.
    """

    def __init__(self, session: Session, result: PromotionResult) -> None:
        proposed = [entry for entry in result.entries if entry.status in _PROPOSED]
        items = [
            _page_item(result),
            *(_entry_item(entry, result.length.limit) for entry in (*proposed, *result.edited)),
            *(_entry_item(entry, result.length.limit, refused=True) for entry in result.refused),
            *map(_below_item, result.below),
            *map(_held_back_item, result.held_back),
        ]
        super().__init__(
            "Promotion: MEMORY.md to review",
            _promotion_review_about(result),
            items,
            self._written,
            proposed=[entry.id for entry in proposed],
            others=[entry.id for entry in (*result.edited, *result.refused)],
            plain=[_PAGE],
            titles=("Lines", "Difference"),
        )
        self._session = session
        self._result = result

    def fill(self, changes: RowList) -> None:
        """Also shows the page as it becomes with what was decided."""
        super().fill(changes)
        if self.is_mounted:
            self._show_page()

    @work(group="preview", exclusive=True, exit_on_error=False)
    async def _show_page(self) -> None:
        folder, accepted = str(Path(self._result.path).parent), self.accepted
        promote = self._session.memory.promotion.promote
        asked = self._session.read(
            promote, memory_dir=folder, dry_run=True, accept=accepted, refuse=self.refused
        )
        result = await self.attempt(asked)
        if result is None:
            return
        self._items = (_page_item(result), *self._items[1:])
        self.say(_promotion_review_about(result))
        super().fill(self.rows)
        if self.rows.cursor == 0:
            self.lines.show_lines(self._items[0].lines, keep_scroll=True)

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        folder = str(Path(self._result.path).parent)
        done = await self._session.write(
            self._session.memory.promotion.promote, memory_dir=folder, accept=accepted, refuse=self.refused
        )
        counts = ((done.promoted, "new line"), (done.updated, "changed line"), (done.removed, "removed line"))
        said = [plural(number, what) for number, what in counts if number]
        wrote = f"Wrote {', '.join(said)} to {safe_line(done.path, 200)}" if said else "Wrote nothing"
        if self.refused:
            wrote += f"; {len(self.refused)} refused and not proposed again"
        return done.change_set, wrote


def _promotion_review_about(result: PromotionResult) -> Content:
    """Which page, and how long it becomes."""
    return Content("\n").join([content(result.path, "bold"), meter(result), content(_INTRODUCTION, MUTED)])


def _page_item(result: PromotionResult) -> ReviewItem:
    return ReviewItem(_PAGE, "", "The whole page", _counts(result), partial(_page_lines, result))


def worth_showing(result: PromotionResult) -> bool:
    """Whether there is anything to choose or to know."""
    return bool(
        not result.change_set.empty or result.edited or result.refused or result.below or result.held_back
    ) or bool(result.length.over)


def meter(result: PromotionResult) -> Content:
    """A bar for the page's length against the lines that agents read, and the same in words."""
    length = result.length
    share = length.after / length.limit
    drawn = bar(min(share, 1.0), _METER_CELLS)
    said = f" {length.after} of the {length.limit} lines that agents read"
    if length.now != length.after:
        said += f" (now {length.now})"
    if not length.over:
        style = "$text-warning" if share >= _NEARLY_FULL else "$text-success"
        left = f", {plural(length.limit - length.after, 'line')} left" if share >= _NEARLY_FULL else ""
        return Content.assemble((drawn, style), content(said + left, MUTED))
    unread = [entry.title for entry in result.unread]
    few = ", ".join(safe_line(title, 40) for title in unread[:3]) + (", …" if len(unread) > 3 else "")
    below = f"; agents do not read {few}" if unread else ""
    return Content.assemble(
        (drawn, "$text-error"), content(f"{said}: too long by {_lines_of(length)}{below}", "$text-error")
    )


def _lines_of(length: Length) -> str:
    return plural(length.over, "line")


def _counts(result: PromotionResult) -> str:
    counts = ((result.promoted, "to add"), (result.updated, "to update"), (result.removed, "to remove"))
    return ", ".join(f"{number} {what}" for number, what in counts if number) or "nothing to write"


def _page_lines(result: PromotionResult, width: int) -> list[Content]:
    if not result.diff:
        return wrapped([content("MEMORY.md is up to date.", MUTED)], width)
    lines = [line for line in result.diff.split("\n") if not line.startswith(("---", "+++"))]
    return wrapped(diff_text_lines(lines), width)


def _entry_item(entry: PromotionEntry, limit: int, *, refused: bool = False) -> ReviewItem:
    # Of a note that is gone nobody knows its recalls.
    detail = [*([f"recalled {entry.hits}×"] if entry.hits else []), entry.section]
    if refused:
        detail.insert(0, "refused before")
    elif entry.status == "edited":
        detail.insert(0, "kept")
    if entry.reason:
        detail.append(entry.reason)
    if entry.line > limit:
        detail.append(f"below line {limit}")
    return ReviewItem(
        entry.id, entry.status, entry.title, " · ".join(detail), _wrapped_lines(_entry_lines(entry, refused))
    )


def _entry_lines(entry: PromotionEntry, refused: bool) -> Iterator[Content]:
    yield Content.assemble(content("Section ", MUTED), content(entry.section, "bold"))
    if entry.hits:
        yield content(f"Recalled {entry.hits}×", MUTED)
    if entry.reason:
        yield content(f"Why: {entry.reason}", MUTED)
    if entry.status == "edited":
        yield content("The line stays as it is unless you accept this change.", "$text-warning")
    if refused:
        yield content("You refused this text before; space accepts it after all.", "$text-warning")
    if entry.line:
        yield content(f"Line {entry.line} of the page", MUTED)
    yield Content("")
    before = [f"-{line}" for line in entry.before.split("\n")] if entry.before else []
    after = [f"+{line}" for line in entry.text.split("\n")] if entry.text else []
    if before != [f"-{line[1:]}" for line in after]:
        yield from diff_text_lines([*before, *after])
    else:
        yield from diff_text_lines(after)


def _below_item(note: LeftOut) -> ReviewItem:
    lacks = plural(note.missing, "more recall")
    said = [
        Content.assemble(content("Section ", MUTED), content(note.section, "bold")),
        content(f"Recalled {note.hits}×; {lacks} and it is proposed.", MUTED),
    ]
    return ReviewItem(
        f"below {note.note_id}", "below", note.title, f"{lacks} · {note.section}", _wrapped_lines(said)
    )


def _held_back_item(note: LeftOut) -> ReviewItem:
    said = [
        content(f"Left out: {note.reason}.", "$text-warning" if note.secret else MUTED),
        content(f"Recalled {note.hits}×, which would be often enough.", MUTED),
    ]
    return ReviewItem(f"held {note.note_id}", "left out", note.title, note.reason, _wrapped_lines(said))


def _wrapped_lines(lines: Iterable[Content]) -> MakeLines:
    return partial(wrapped, list(lines))
