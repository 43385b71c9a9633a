"""The Note pane: what is known of one note, and its text as rendered Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
from rich.cells import cell_len
from textual import on
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive

from core.errors import NuggetsError
from core.model.change import Author
from core.model.names import parse_iso
from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.listing import PINNED, topics
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.view import Asked, View, changed_between
from nuggets_tui.widgets.line_view import LineView, markdown_lines, plain_lines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import (
    MUTED,
    columns,
    empty_words,
    set_border_text,
    tag_at,
    tag_text,
    title_style,
)
from nuggets_tui.words import SIGN, STALE_SIGN, ago, kinds_in, stale_line, time_ago

if TYPE_CHECKING:
    from core.graph.neighbours import Suggestion
    from core.memory import Memory
    from core.model.judgement import Stale
    from core.pipeline.records import Origin as PipelineOrigin

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
    """A note as lines of at most `width` cells: title, a line on where it is from, text (its Markdown read or
    `plainly`), then tags, metadata and dates.

    origin: who made and changed it, where that is known of this note. file: that of a note of the team's, "" for
    others. project: the one that its nugget belongs to, "" for none. stale: what it names and the code no longer has.
    """
    if note is None:
        said = f"Choose a note in Notes, or search with {keys.key('search')}."
        return Content.styled(said, MUTED).wrap(width)
    known = origin if origin is not None and origin.note_id == note.id else None
    above = (
        content(note.title, "bold"),
        _brief(note, project, now, known),
        _secret(note, keys),
        _joined(("team", file), "$text-secondary", width) if file else None,
        _state(note, snapshot, keys),
        _stale(stale, now, keys),
    )
    below = (
        _tags(note),
        _metadata(note, project, width),
        _dates(note, now, known, width),
        *_trail(note, known.trail if known is not None else None, keys, width),
        *_hints(known.hints if known is not None else (), width),
    )
    if plainly:
        text = plain_lines(note.content, width)
    else:
        text = [with_files(line, stale) for line in markdown_lines(note.content, width)]
    empty = Content("")
    return [*_wrapped(above, width), empty, *text, empty, *_wrapped(below, width)]


def _wrapped(parts: Iterable[Content | None], width: int) -> list[Content]:
    return [line for part in parts if part for line in part.wrap(width)]


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
    recalls = "" if note.hits else "never recalled"
    place = ("in project", project) if project == note.nugget_name else ("in", note.nugget_name)
    of = project if project != note.nugget_name else ""
    named = (place, ("project", of), ("scope", note.scope), ("type", note.type), ("", note.stability))
    said = [f"{label} {name}".strip() for label, name in named if name]
    source = SOURCES.get(note.source, note.source)
    return _joined([*said, f"confidence {note.confidence:.2f}", source, recalls], width=width)


def _brief(note: Note, project: str, now: datetime | None, origin: NoteAuthors | None) -> Content:
    """Where a note is from, in one line: project, author, age, recalls."""
    author = "" if origin is None else safe_line(origin.changed_by or origin.made_by, _AUTHOR)
    age = "" if now is None else time_ago(note.updated_at or note.created_at, now)
    recalls = f"recalled {note.hits}×" if note.hits else ""
    return _joined([project or note.nugget_name, author, age, recalls])


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


# The field in which a note that the pipeline made names the text that it was made of.
_FIELD: Final = "origin"
# A note bears the time at which its change was made; the entry of the log follows within moments.
_AT_ONCE: Final = timedelta(minutes=1)
SOURCES: Final = {
    "explicit_user": "from the user",
    "agent_reflection": "from an agent",
    "tool_observation": "from a tool",
    "inferred": "inferred",
    "system": "from the system",
}


class Trail(msgspec.Struct, frozen=True):
    """The text that the pipeline made a note of: its sentence, who handed it in, in which session, and the model.

    "" for what is not known.
    """

    sentence: str = ""
    handed_by: str = ""
    session: str = ""
    model: str = ""


class NoteAuthors(msgspec.Struct, frozen=True):
    """Who made a note and who changed it last, as names to show; "" where the log does not tell.

    trail: back to the text that it was made of; None for a note that the pipeline did not make. hints: questions that
    find it, too, as a model made them.
    """

    note_id: str
    made_by: str = ""
    changed_by: str = ""
    trail: Trail | None = None
    hints: tuple[str, ...] = ()


def made_by_pipeline(note: Note) -> bool:
    """Whether a note says of itself that the pipeline made it."""
    return isinstance(note.extra.get(_FIELD), dict)


def trail_of(note: Note, known: PipelineOrigin | None) -> Trail:
    """The trail of a note that the pipeline made: what the pipeline knows, else what the note itself says."""
    if known is None:
        said = note.extra.get(_FIELD)
        model = said.get("model") if isinstance(said, dict) else ""
        return Trail(model=model if isinstance(model, str) else "")
    from nuggets_tui.pipeline_words import author_name

    start, end = known.span or (0, len(known.content))
    by = author_name(known.author) if known.author else ""
    return Trail(known.content[start:end].strip(), by, known.source_id, known.model)


def origin_of(memory: Memory, note: Note) -> NoteAuthors:
    """Where a note comes from. What a program did without a name is told by nobody; a log that cannot be read tells
    nothing."""
    try:
        makers = memory.history.makers(note.id)
    except NuggetsError:
        return NoteAuthors(note.id)
    return NoteAuthors(
        note.id, _author_at(note.created_at, makers), _author_at(note.updated_at, makers[::-1])
    )


def _author_at(stamp: str, makers: tuple[tuple[Author, str], ...]) -> str:
    """The first of some authors whose change is of this time."""
    moment = parse_iso(stamp)
    if moment is None:
        return ""
    for author, at in makers:
        made = parse_iso(at)
        if made is not None and abs(made - moment) <= _AT_ONCE:
            return "" if author.kind == "program" else str(author)
    return ""


# Cells of a row that has room for the age of its link.
_DATED: Final = 36
_SIGN_STYLES: Final = {"→": "$text-secondary", "←": "$text-secondary", "+": "bold $text-success"}


def _empty(keys: KeyMap) -> Content:
    return empty_words(keys, "No links yet.", ("link", "in Notes links the note to another"))


class Neighbour(msgspec.Struct, frozen=True):
    """What a row stands for: a note, the reason of its link, and the suggestion when the link is not made yet."""

    note_id: str
    reason: str
    suggestion: Suggestion | None = None


class NeighboursPane(RowList):
    """Links of the note shown in Note."""

    view: reactive[View] = reactive(View(), repaint=False)

    def __init__(self) -> None:
        super().__init__(id="neighbours", classes="pane", empty_text=_empty(DEFAULT))
        self.border_title = Content("4 Neighbours")

    def watch_view(self, before: View, after: View) -> None:
        if before.note_id == after.note_id and not changed_between(
            before, after, "snapshot", "team", "suggested", "keys", "now"
        ):
            return
        self.empty_text = _empty(after.keys) if after.loaded and after.note is not None else ""
        whose = content(f" · {after.note.title}", MUTED) if after.note is not None else ""
        set_border_text(self, Content.assemble("4 Neighbours", whose))
        self.set_rows(_rows(after), keep_cursor=before.note_id == after.note_id)

    @property
    def neighbour(self) -> Neighbour | None:
        """What the row under the cursor stands for."""
        row = self.cursor_row
        return row.data if row is not None and isinstance(row.data, Neighbour) else None

    @property
    def note_under_cursor(self) -> str:
        return self.neighbour.note_id if self.neighbour is not None else ""

    @on(RowList.RowSelected)
    def follow(self, event: RowList.RowSelected) -> None:
        event.stop()
        if isinstance(event.row.data, Neighbour):
            note_id = event.row.data.note_id
            self.post_message(Asked(lambda main: main.pick_note(note_id, follow=True)))


def _rows(view: View) -> list[Row]:
    if view.note is None or not view.loaded:
        return []
    from core.graph.neighbours import neighbours

    found = neighbours(view.around, view.note_id)
    rows = [_link_row("→", note, link, view.now) for note, link in found.outgoing]
    rows += [_link_row("←", note, link, view.now) for note, link in found.incoming]
    for suggestion in view.suggested:
        reason = "suggested: " + ", ".join(suggestion.shared)
        rows.append(_row("+", suggestion.note, reason, suggestion=suggestion))
    # Several links may join the same two notes. A suggestion that was accepted stays the same row, with the cursor.
    times: Counter[str] = Counter()
    for place, row in enumerate(rows):
        rows[place] = msgspec.structs.replace(row, key=f"{row.key} {times[row.key]}")
        times[row.key] += 1
    return rows


def _link_row(sign: str, note: Note, link: Link, now: datetime | None) -> Row:
    return _row(sign, note, link.reason, ago(link.created_at, now) if now is not None else "")


def _row(sign: str, note: Note, reason: str, age: str = "", suggestion: Suggestion | None = None) -> Row:
    hidden = Content.styled("⊘ ", "$text-warning") if note.hidden else Content("")
    title = Content.assemble((f"{sign} ", _SIGN_STYLES[sign]), hidden, content(note.title, title_style(note)))
    wanted = len(note.title) + 2 + len(hidden)
    dated = columns(title, content(reason, MUTED), Content.styled(age, MUTED), wanted=wanted, share=0.6)
    plain = columns(title, content(reason, MUTED), Content(""), wanted=wanted, share=0.6)

    def line(width: int) -> Content:
        # In a small pane the reason says more than the date.
        return dated(width) if width >= _DATED else plain(width)

    return Row(note.id, (line,), data=Neighbour(note.id, reason, suggestion))
