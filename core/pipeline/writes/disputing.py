"""Notes of open changes: how a note that disputes another is marked, and how it takes the other's place."""

from __future__ import annotations

from typing import Final

from core.graph.edits import link_notes
from core.model.draft import Draft
from core.model.note import Note, custom_tags, replace
from core.model.note_origin import ORIGIN, origin_of_note
from core.pipeline.writes.note_of import title_of

# The tag of such a note and the reason of its link; its title says it in words.
DISPUTES: Final = "disputes"
REPLACES: Final = "replaces"
_LONGEST_TITLE: Final = 72


def disputing_title(content: str, old: Note) -> str:
    """The title of a note that disputes another: what it says, and the title of the other."""
    other = old.title if len(old.title) <= _LONGEST_TITLE else f"{old.title[: _LONGEST_TITLE - 1].rstrip()}…"
    return f"{title_of(content)} ({DISPUTES}: {other})"


def mark_disputing(draft: Draft, note: Note, old: Note) -> Note:
    """Marks a new note as disputing an old one, and links the two."""
    title = disputing_title(note.content, old)
    draft.put(
        replace(
            note,
            title=title,
            tags=(*note.tags, DISPUTES),
            extra=note.extra | {ORIGIN: origin_of_note(note) | {"disputes": old.id, "title": title}},
        )
    )
    return link_notes(draft, note.id, old.id, DISPUTES)[0]


def take_place(draft: Draft, note: Note, old: Note | None) -> Note:
    """Takes the mark off a note, and gives it the tags of the old one that it replaces; the two are linked.

    A title that a person gave it since stays. old: None where it is gone.
    """
    origin = origin_of_note(note)
    marked, kept = origin.get("title"), {k: v for k, v in origin.items() if k not in ("disputes", "title")}
    former = (tag for tag in (custom_tags(old) if old is not None else ()) if tag != DISPUTES)
    tags = dict.fromkeys((*(tag for tag in note.tags if tag != DISPUTES), *former))
    after = replace(
        note,
        title=title_of(note.content) if note.title == marked else note.title,
        tags=tuple(tags),
        extra=note.extra | {ORIGIN: kept},
    )
    if after != note:
        draft.put(replace(after, updated_at=draft.at))
    if old is None:
        return after
    for one, other in ((note.id, old), (old.id, note)):
        _drop_link(draft, one, other.id)
    return link_notes(draft, note.id, old.id, REPLACES)[0]


def _drop_link(draft: Draft, holder: str, target: str) -> None:
    note = draft.note(holder)
    if note is None:
        return
    links = tuple(link for link in note.links if (link.to, link.reason) != (target, DISPUTES))
    if links != note.links:
        draft.put(replace(note, links=links, updated_at=draft.at))
