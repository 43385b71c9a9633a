"""Builds the note of an accepted fact: its id, title, tags and metadata. Pure: the same fact gives the same note."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from core.model.draft import Draft
from core.model.infer import MetaInput, clamp, infer_meta, semantic_tags
from core.model.names import DEFAULT_NUGGET, check_nugget_name, iso, note_id
from core.model.note import ORIGIN, Note, normalise_tag, origin_of_note
from core.pipeline.database.note_edits import NoteEdit
from core.pipeline.intake.sentences import sentences
from core.text.normalise import normalise_content, normalise_line

# What nobody confirmed is held for no more than this.
UNCONFIRMED: Final = 0.60
_DIGITS: Final = 8
_TITLE: Final = 72
# A fact's type -> the note's type and a tag that keeps what the note's types do not tell apart.
_TYPES: Final[dict[str, tuple[str, str]]] = {
    "fact": ("fact", ""),
    "preference": ("preference", ""),
    "decision": ("project", "decision"),
    "procedural": ("project", "how-to"),
    "semantic": ("note", ""),
}
_TITLE_END: Final = re.compile(r"[\s.,;:!?…-]+$")


def note_ids(nugget: str, content_hash: str) -> Iterator[str]:
    """Ids for the note of a fact, the first choice first: `note-<nugget>-<8 hex>`, endless.

    The first is of the hash itself, each further one of the hash with a counter hashed again.
    """
    yield note_id("note", nugget, content_hash[:_DIGITS])
    for count in itertools.count(1):
        again = hashlib.sha256(f"{content_hash}:{count}".encode()).hexdigest()
        yield note_id("note", nugget, again[:_DIGITS])


def note_id_of(nugget: str, content_hash: str, taken: Callable[[str], bool]) -> str:
    """The first id for a fact's note that no other origin has."""
    return next(id for id in note_ids(nugget, content_hash) if not taken(id))


def title_of(content: str) -> str:
    """A title for a text: its first sentence as one line, cut at a word where it is longer than 72 characters."""
    line = normalise_line(content)
    first = next(iter(sentences(line)), None)
    said = line[first.start : first.end].strip() if first is not None else line
    if len(said) > _TITLE:
        cut = said[: _TITLE - 1]
        head = cut.rpartition(" ")[0] if " " in cut[_TITLE // 2 :] else cut
        return _TITLE_END.sub("", head) + "…"
    return _TITLE_END.sub("", said) or said or line


def fact_of(note: Note) -> str:
    """The id of the fact that a note was made from, "" for a note of others."""
    found = origin_of_note(note).get("fact")
    return found if isinstance(found, str) else ""


def note_of(draft: Draft, row: NoteEdit, id: str) -> Note:
    """The note of a row that adds one, under this id; its times are the row's, so that it is the same at each try.

    Raises InvalidInputError for a nugget whose name no file can bear.
    """
    nugget = _nugget(draft, row.text("nugget") or DEFAULT_NUGGET)
    content = normalise_content(row.text("content"))
    title = title_of(content)
    type_, tag = _TYPES.get(row.text("type"), _TYPES["fact"])
    project = normalise_tag(row.text("project").rstrip("/\\").replace("\\", "/").rpartition("/")[2])
    own = tuple(filter(None, (project, tag)))
    given = MetaInput(type=type_, source="inferred", confidence=_confidence(row), stability="durable")
    meta = infer_meta("note", title, content, own, given, draft.rules)
    at = iso(datetime.fromtimestamp(row.created_at / 1000, UTC))
    return Note(
        id=id,
        nugget_name=nugget,
        title=title,
        content=content,
        tags=(
            normalise_tag(nugget),
            *own,
            f"scope:{meta.scope}",
            f"type:{meta.type}",
            *semantic_tags("note", title, meta.type, meta.source),
        ),
        created_at=at,
        updated_at=at,
        last_accessed_at=at,
        extra={
            ORIGIN: {"memory": row.text("raw_id"), "fact": row.fact_id, "model": row.text("model")},
        },
        **meta._asdict(),
    )


def _nugget(draft: Draft, name: str) -> str:
    """The nugget of this name as it is spelled already, where only case differs."""
    known = draft.nugget_names()
    if name in known:
        return name
    same = next((other for other in sorted(known) if other.lower() == name.lower()), None)
    return same or check_nugget_name(name)


def _confidence(row: NoteEdit) -> float:
    given = row.payload.get("confidence")
    value = clamp(given) if isinstance(given, int | float) and given == given else 0.5
    return value if row.text("accepted_by") else min(UNCONFIRMED, value)
