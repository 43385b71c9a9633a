"""The Note pane: what is known of one note, and its text as rendered Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.key_map import DEFAULT, KeyMap
from nuggets_tui.listing import PINNED, topics
from nuggets_tui.messages import Asked
from nuggets_tui.origin import SOURCES, NoteAuthors, Trail
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.markdown_lines import markdown_lines, plain_lines
from nuggets_tui.widgets.row_text import MUTED, tag_at, tag_text
from nuggets_tui.words import SIGN, STALE_SIGN, kinds_in, stale_line, time_ago

if TYPE_CHECKING:
    from core.model.judgement import Stale

_NOT_THERE: Final = Content.styled("The note did not exist at this moment.", MUTED)
_NOTHING_FOUND: Final = Content.styled("No note matches the search.", MUTED)
_MOST_TAGS: Final = 40
# Cells of a session's id and of an author's name.
_SESSION: Final = 28
_AUTHOR: Final = 28
# And of a sentence that it was made of; the whole text is a key away.
_SENTENCE: Final = 240
# So many of the questions that it answers.
_HINTS: Final = 3
_FILE: Final = "underline"
_STATES: Final = {"moved": "$text-warning", "gone": "strike $text-error", "changed": "$text-accent"}


class NotePane(LineView):
    """One note."""

    view: reactive[View] = reactive(View(), repaint=False)

    def __init__(self) -> None:
        super().__init__(id="note", classes="pane")
        self.border_title = Content("3 Note")

    # Until the first frame is out, a text stands there as it is: reading Markdown has to be imported first.
    plainly: reactive[bool] = reactive(True)

    def watch_plainly(self) -> None:
        self._show(self.view, keep_scroll=True)

    def watch_view(self, before: View, after: View) -> None:
        note = after.note
        if (
            before.note is note
            and before.loaded == after.loaded
            and not changed_between(
                before, after, "now", "keys", "origin", "projects", "stale", "code_changed"
            )
        ):
            return
        same = before.note_id == after.note_id
        self._show(after, keep_scroll=same)
        kind = "" if note is None else " · fact" if note.is_fact else ""
        self.border_title = Content.assemble("3 Note", (kind, MUTED))

    def on_click(self, event: Click) -> None:
        tag = tag_at(event)
        if tag:
            event.stop()
            self.post_message(Asked(lambda main: main.search.find_tagged(tag)))
            return
        offset = event.get_content_offset(self)
        line = self.line_at(offset.y) if offset is not None else None
        if offset is None or line is None:
            return
        from core.text.file_references import file_references

        place = _characters(line.plain, offset.x)
        found = (one for one in file_references(line.plain) if one.start <= place < one.end)
        if (named := next(found, None)) is not None:
            event.stop()
            self.post_message(Asked(lambda main: main.files.find_and_open(named)))

    def _show(self, view: View, *, keep_scroll: bool) -> None:
        if view.note is not None and not view.loaded:
            self.show_lines(partial(_title_lines, view.note), keep_scroll=keep_scroll)
            return
        if view.note is None and view.found is not None and view.found.nothing:
            self.show_lines(_NOTHING_FOUND.wrap, keep_scroll=keep_scroll)
            return
        if view.note is None and view.note_id and view.past is not None:
            self.show_lines(_NOT_THERE.wrap, keep_scroll=keep_scroll)
            return
        project = view.projects.get(view.note.nugget_name, "") if view.note is not None else ""
        make = partial(
            note_lines, view.note, view.around, view.now, plainly=self.plainly, keys=view.keys, origin=view.origin,
            file=_file_of(view), project=project,
            stale=view.stale.get(view.note_id) or view.code_changed.get(view.note_id),
        )  # fmt: skip
        self.show_lines(make, keep_scroll=keep_scroll)


def note_lines(
    note: Note | None,
    snapshot: Snapshot,
    now: datetime | None,
    width: int,
    *,
    plainly: bool = False,
    keys: KeyMap = DEFAULT,
    origin: NoteAuthors | None = None,
    file: str = "",
    project: str = "",
    stale: Stale | None = None,
) -> Sequence[Content]:
    """A note as lines of at most `width` cells: title, metadata, tags, dates, text (its Markdown read or `plainly`).

    origin: who made and changed it, where that is known of this note. file: that of a note of the team's, "" for
    others. project: the one that its nugget belongs to, "" for none. stale: what it names and the code no longer has.
    """
    if note is None:
        said = f"Choose a note in Notes, or search with {keys.key('search')}."
        return Content.styled(said, MUTED).wrap(width)
    lines = [*content(note.title, "bold").wrap(width)]
    known = origin if origin is not None and origin.note_id == note.id else None
    for part in (
        _secret(note, keys),
        _joined(("team", file), "$text-secondary", width) if file else None,
        _state(note, snapshot, keys),
        _stale(stale, now, keys),
        _metadata(note, project, width),
        _tags(note),
        _dates(note, now, known, width),
        *_trail(note, known.trail if known is not None else None, keys, width),
        *_hints(known.hints if known is not None else (), width),
    ):
        if part:
            lines.extend(part.wrap(width))
    if plainly:
        return [*lines, Content(""), *plain_lines(note.content, width)]
    text = markdown_lines(note.content, width)
    return [*lines, Content(""), *(with_files(line, stale) for line in text)]


def _file_of(view: View) -> str:
    """The file of the note shown, in the team's folder, where it is one of the team's; "" for others."""
    page = view.note.page if view.note is not None else None
    if page is None or not (view.team_home or view.of_team(view.note_id)):
        return ""
    return page.file


def with_files(line: Content, stale: Stale | None = None) -> Content:
    """A line with the files that it speaks of underlined, and what is not as it was in the style of its state."""
    for one in stale.references if stale is not None else ():
        for found in re.finditer(rf"(?<![\w./-]){re.escape(one.said)}(?![\w/-])", line.plain):
            line = line.stylize(_STATES.get(one.state, ""), *found.span())
    if "." not in line.plain and ":" not in line.plain and "#" not in line.plain:
        return line
    from core.text.file_references import file_references

    for reference in file_references(line.plain):
        line = line.stylize(_FILE, reference.start, reference.end)
    return line


def _characters(text: str, cells: int) -> int:
    """How many characters stand before a cell of a line."""
    taken = 0
    for place, char in enumerate(text):
        taken += cell_len(char)
        if taken > cells:
            return place
    return len(text)


def _title_lines(note: Note, width: int) -> Sequence[Content]:
    return [*content(note.title, "bold").wrap(width), Content.styled("reading …", MUTED)]


def _joined(parts: Sequence[str], style: str = MUTED, width: int = 0) -> Content:
    """Parts with points between them; where they take several lines of `width` cells, none begins with a point."""
    lines: list[str] = []
    for part in map(safe_line, filter(None, parts)):
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and (not width or cell_len(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(part)
    return Content("\n").join(content(line, style) for line in lines)


def _state(note: Note, snapshot: Snapshot, keys: KeyMap) -> Content:
    said = []
    if note.hidden:
        from core.graph.edits import MERGED_INTO

        goal = snapshot.by_id.get(str(note.extra.get(MERGED_INTO, "")))
        said.append(
            f'⊘ merged into "{goal.title}"' if goal else f"⊘ hidden; {keys.key('hide')} brings it back"
        )
    if PINNED in note.tags:
        said.append("★ pinned")
    return _joined(said, "$text-warning" if note.hidden else "$text-accent")


def _stale(stale: Stale | None, now: datetime | None, keys: KeyMap) -> Content:
    """What became of the code that a note names, a line each."""
    if stale is None or now is None:
        return Content("")
    lines = [
        content(f"{STALE_SIGN} {stale_line(one, now)}", MUTED if one.state == "changed" else "$text-warning")
        for one in stale.references
    ]
    said = f"{keys.key('reflect')} proposes what to do about it"
    return Content("\n").join([*lines, content(said, MUTED)] if stale.lost else lines)


def _secret(note: Note, keys: KeyMap) -> Content:
    kinds = kinds_in(note)
    if not kinds:
        return Content("")
    masks = f"{keys.key('secrets')} reviews and masks it"
    return content(f"{SIGN} may hold a credential ({', '.join(kinds)}); {masks}", "$text-error")


def _metadata(note: Note, project: str, width: int) -> Content:
    recalls = f"recalled {note.hits}×" if note.hits else "never recalled"
    place = ("in project", project) if project == note.nugget_name else ("in", note.nugget_name)
    of = project if project != note.nugget_name else ""
    named = (place, ("project", of), ("scope", note.scope), ("type", note.type), ("", note.stability))
    said = [f"{label} {name}".strip() for label, name in named if name]
    source = SOURCES.get(note.source, note.source)
    return _joined([*said, f"confidence {note.confidence:.2f}", source, recalls], width=width)


def _tags(note: Note) -> Content:
    tags = list(map(tag_text, topics(note)[:_MOST_TAGS]))
    return Content("  ").join(tags) if tags else Content("")


def _dates(note: Note, now: datetime | None, origin: NoteAuthors | None, width: int) -> Content:
    if now is None:
        return Content("")
    said = []
    session = cut(note.last_hit_session, _SESSION)
    for word, stamp, who in (
        ("created", note.created_at, _by(origin.made_by) if origin is not None else ""),
        ("changed", note.updated_at, _by(origin.changed_by) if origin is not None else ""),
        ("read", note.last_accessed_at, f" in {session}" if session else ""),
    ):
        age = time_ago(stamp, now) if stamp else ""
        if age and not (word != "created" and stamp == note.created_at):
            said.append(f"{word} {age}{who}")
    return _joined(said, width=width)


def _trail(note: Note, trail: Trail | None, keys: KeyMap, width: int) -> Sequence[Content]:
    """The sentence that the pipeline made the note of, and who handed it in."""
    if trail is None:
        return ()
    # A note that is its sentence says it itself.
    other = trail.sentence and trail.sentence.casefold() != note.content.strip().casefold()
    sentence = f'"{cut(trail.sentence, _SENTENCE)}"' if other else ""
    said = [
        f"submitted by {safe_line(trail.handed_by, _AUTHOR)}"
        if trail.handed_by
        else "created by the pipeline"
    ]
    said += [f"session {cut(trail.session, _SESSION)}"] if trail.session else []
    said += [cut(trail.model, _AUTHOR)] if trail.model else []
    said += [f"{keys.key('origin')} shows the text"] if trail.sentence else []
    return content(sentence, "italic $text-secondary"), _joined(said, width=width)


def _hints(hints: Sequence[str], width: int) -> Sequence[Content]:
    """The questions that the note answers, as a model made them: a few, each a line."""
    if not hints:
        return ()
    shown = [content(f"? {cut(one, max(20, width - 2))}", MUTED) for one in hints[:_HINTS]]
    more = [f"and {len(hints) - _HINTS} more"] if len(hints) > _HINTS else []
    said = " · ".join(["It answers, says the model", *more, '"hints" in ctrl+p removes one'])
    return Content.styled(said, MUTED), *shown


def _by(author: str) -> str:
    return f" by {safe_line(author, _AUTHOR)}" if author else ""
