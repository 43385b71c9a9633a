"""The review of what is shared with a team: each note as the file that it will be, and what is refused and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.screens.review import Apply, ReviewItem, ReviewScreen
from nuggets_tui.widgets.diff_lines import text_difference, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

if TYPE_CHECKING:
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
        )
        self._files = frozenset(one.note for one in plan.files)

    @property
    def begins_accepted(self) -> frozenset[str]:
        return self._files

    @property
    def accepted(self) -> tuple[str, ...]:
        """Ids of the notes to share, in the order proposed."""
        return tuple(key for key in super().accepted if key in self._files)

    def action_all(self) -> None:
        changes = self.query_one(RowList)
        changes.select([] if changes.selected == self._files else self._files)

    @on(RowList.SelectionChanged)
    def keep_refused(self, event: RowList.SelectionChanged) -> None:
        if not event.row_list.selected <= self._files:
            event.row_list.select(event.row_list.selected & self._files)

    def row(self, item: ReviewItem) -> Row:
        """The row of a note; a refused one stands back."""
        if item.key in self._files:
            return super().row(item)
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
