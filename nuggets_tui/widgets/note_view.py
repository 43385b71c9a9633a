"""The Note pane: what is known of one note, and its text as rendered Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from textual.content import Content
from textual.reactive import reactive

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.safe_text import content
from nuggets_tui.secret_signs import SIGN, kinds_in
from nuggets_tui.view import View, own_tags
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.markdown_lines import markdown_lines, plain_lines
from nuggets_tui.widgets.row_text import MUTED, PINNED
from nuggets_tui.words import time_ago

_NOTHING: Final = Content.styled("Choose a note in Notes, or search with /.", MUTED)
_MOST_TAGS: Final = 40


class NotePane(LineView):
    """One note."""

    view: reactive[View] = reactive(View())

    def __init__(self) -> None:
        super().__init__(id="note", classes="pane")
        self.border_title = Content("3 Note")

    # Until the first frame is out, a text stands there as it is: reading Markdown has to be imported first.
    plainly: reactive[bool] = reactive(True)

    def watch_plainly(self) -> None:
        """The reader of Markdown is there."""
        self._show(self.view, keep_scroll=True)

    def watch_view(self, before: View, after: View) -> None:
        """Shows another note from its beginning, or the same as it is now where it was being read."""
        note = after.note
        if before.note is note and before.now is after.now and before.loaded == after.loaded:
            return
        same = before.note_id == after.note_id
        self._show(after, keep_scroll=same)
        kind = "" if note is None else " · fact" if note.is_fact else ""
        self.border_title = Content.assemble("3 Note", (kind, MUTED))

    def _show(self, view: View, *, keep_scroll: bool) -> None:
        if view.note is not None and not view.loaded:
            self.show_lines(partial(_title_lines, view.note), keep_scroll=keep_scroll)
            return
        make = partial(note_lines, view.note, view.snapshot, view.now, plainly=self.plainly)
        self.show_lines(make, keep_scroll=keep_scroll)


def note_lines(
    note: Note | None, snapshot: Snapshot, now: datetime | None, width: int, *, plainly: bool = False
) -> Sequence[Content]:
    """A note as lines of at most `width` cells: title, metadata, tags, dates, text (its Markdown read or `plainly`)."""
    if note is None:
        return _NOTHING.wrap(width)
    lines = [*content(note.title, "bold").wrap(width)]
    for part in (_secret(note), _state(note, snapshot), _metadata(note), _tags(note), _dates(note, now)):
        if part:
            lines.extend(part.wrap(width))
    read = plain_lines if plainly else markdown_lines
    return [*lines, Content(""), *read(note.content, width)]


def _title_lines(note: Note, width: int) -> Sequence[Content]:
    return [*content(note.title, "bold").wrap(width), Content.styled("reading …", MUTED)]


def _joined(parts: Sequence[str], style: str = MUTED) -> Content:
    return content(" · ".join(part for part in parts if part), style)


def _state(note: Note, snapshot: Snapshot) -> Content:
    said = []
    if note.hidden:
        from core.graph.edits import MERGED_INTO

        goal = snapshot.by_id.get(str(note.extra.get(MERGED_INTO, "")))
        said.append(f"⊘ merged into {goal.title}" if goal else "⊘ hidden; x brings it back")
    if PINNED in note.tags:
        said.append("★ pinned")
    return _joined(said, "$text-warning" if note.hidden else "$text-accent")


def _secret(note: Note) -> Content:
    kinds = kinds_in(note)
    said = f"{SIGN} seems to hold a secret ({', '.join(kinds)}); S reviews and masks it" if kinds else ""
    return content(said, "$text-error") if said else Content("")


def _metadata(note: Note) -> Content:
    recalls = f"recalled {note.hits}×" if note.hits else "never recalled"
    # Nugget, scope and type often bear one name; said once is enough.
    names = dict.fromkeys((note.nugget_name, note.scope, note.type, note.stability))
    return _joined([*names, f"{note.confidence:.2f}", recalls])


def _tags(note: Note) -> Content:
    tags = [content(tag, "$text-secondary") for tag in own_tags(note)[:_MOST_TAGS] if tag != PINNED]
    return Content("  ").join(tags) if tags else Content("")


def _dates(note: Note, now: datetime | None) -> Content:
    if now is None:
        return Content("")
    said = []
    for word, stamp in (
        ("made", note.created_at),
        ("changed", note.updated_at),
        ("read", note.last_accessed_at),
    ):
        age = time_ago(stamp, now) if stamp else ""
        if age and not (word != "made" and stamp == note.created_at):
            said.append(f"{word} {age}")
    return _joined(said)
