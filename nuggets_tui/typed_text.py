"""Texts and tags as they are typed: kept against a crash, and what becomes of one that is gone on with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from core.model.names import iso
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.verbs import typed_tag
from nuggets_tui.view import own_tags

if TYPE_CHECKING:
    from core.unsaved import Unsaved, UnsavedFile

_METADATA = ("scope", "type", "source", "stability")


@dataclass(frozen=True)
class TypedTextStore:
    """Where the text of one dialog is kept. kind, about, title: as in `core.unsaved.Unsaved`."""

    kept: UnsavedFile
    clock: Callable[[], datetime]
    kind: str
    about: str = ""
    title: str = ""

    def unsaved(self, begun: Mapping[str, str], values: Mapping[str, str]) -> Unsaved:
        from core.unsaved import Unsaved

        title = self.title or values.get("title", "").strip()
        return Unsaved(self.kind, self.about, title, dict(begun), dict(values), iso(self.clock()))

    def write(self, begun: Mapping[str, str], values: Mapping[str, str]) -> None:
        """Keeps the text; for a thread. Raises StorageError."""
        if any(value != begun.get(name, "") for name, value in values.items()):
            self.kept.write(self.unsaved(begun, values))
        else:
            self.kept.remove()


def fields_of(note: Note) -> dict[str, str]:
    """What the fields of the editor hold for a note."""
    return {
        "title": note.title,
        "tags": " ".join(own_tags(note)),
        "text": note.content,
        **{name: getattr(note, name) for name in _METADATA},
        "confidence": f"{note.confidence:g}",
    }


def is_saved(unsaved: Unsaved, snapshot: Snapshot) -> bool:
    """Whether a text stands in the memory as it was typed: it was saved at the last moment."""
    from core.text.normalise import normalise_content, squeeze

    def stands(note: Note) -> bool:
        fields = fields_of(note)
        return all(
            squeeze(value) == squeeze(fields.get(name, ""))
            if name != "text"
            else normalise_content(value) == note.content
            for name, value in unsaved.changed.items()
            if name != "nugget"
        )

    if unsaved.kind == "note" and unsaved.about:
        note = snapshot.by_id.get(unsaved.about)
        return note is not None and stands(note)
    titled = (note for note in snapshot.notes if note.title == squeeze(unsaved.values.get("title", "")))
    return unsaved.kind == "note" and any(map(stands, titled))


def as_begun(snapshot: Snapshot, note: Note, begun: Mapping[str, str]) -> tuple[Snapshot, Note]:
    """The memory as it was when somebody began to edit a note, as far as it is known; what another program changed
    of the note since then is a conflict when it is saved.
    """
    from core.text.normalise import normalise_content, squeeze

    present = fields_of(note)
    # A field may show white space and line ends otherwise than they are stored.
    changes: dict[str, object] = {
        name: begun[name]
        for name in ("title", *_METADATA)
        if squeeze(begun.get(name, present[name])) != squeeze(present[name])
    }
    if normalise_content(begun.get("text", note.content)) != normalise_content(note.content):
        changes["content"] = begun["text"]
    if begun.get("tags", present["tags"]) != present["tags"]:
        own = own_tags(note)
        changes["tags"] = (
            *(tag for tag in note.tags if tag not in own),
            *begun["tags"].split(),
        )
    if not changes:
        return snapshot, note
    former = msgspec.structs.replace(note, **changes)
    notes = tuple(former if one is note else one for one in snapshot.notes)
    return replace(_facts_as_begun(snapshot, note, former), notes=notes), former


def _facts_as_begun(snapshot: Snapshot, note: Note, former: Note) -> Snapshot:
    """The memory with the fact that a note mirrors as the note was."""
    nugget = snapshot.by_name.get(note.nugget_name)
    if nugget is None or not note.is_fact or note.hidden or note.content == former.content:
        return snapshot
    facts = tuple(
        msgspec.structs.replace(fact, value=former.content) if fact.key == note.key else fact
        for fact in nugget.facts
    )
    changed = msgspec.structs.replace(nugget, facts=facts)
    return replace(snapshot, nuggets=tuple(changed if one is nugget else one for one in snapshot.nuggets))


_SIGNS = ("#", "+")


def split_tags(text: str, known: Collection[str] = ()) -> list[str]:
    """Tags as typed: parted by spaces or commas. known: as in `typed_tag`."""
    return [typed_tag(tag, known) for tag in text.replace(",", " ").split()]
