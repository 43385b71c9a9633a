"""A whole memory laid into an empty one, each thing in its place and as it was."""

from __future__ import annotations

from core.exchange.plan import item_id
from core.exchange.result import ImportItem
from core.model.change import Author, ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.snapshot import Snapshot


def laid_down(snapshot: Snapshot, *, id: str, at: str, author: Author, reason: str) -> ChangeSet:
    """The change set of kind "import" that makes an empty memory what `snapshot` is."""
    facts = (
        FactChange(nugget=nugget.name, key=fact.key, before=None, after=fact, index=place)
        for nugget in snapshot.nuggets
        for place, fact in enumerate(nugget.facts)
    )
    return ChangeSet(
        id=id,
        at=at,
        author=author,
        reason=reason,
        kind="import",
        notes=tuple(NoteChange(id=note.id, before=None, after=note) for note in snapshot.notes),
        facts=tuple(facts),
        nuggets=tuple(NuggetChange(name=one.name, before=None, after=one.meta) for one in snapshot.nuggets),
    )


def items_of(snapshot: Snapshot) -> list[ImportItem]:
    """An item for each note, and for each fact that no note stands for; all of them are new."""
    found = [
        ImportItem(
            id=item_id("whole", note.kind, note.nugget_name, note.id, note.title, note.content),
            status="new",
            kind=note.kind,
            title=note.title,
            nugget=note.nugget_name,
            where=note.id,
            note_id=note.id,
        )
        for note in snapshot.notes
    ]
    for nugget in snapshot.nuggets:
        found += (
            ImportItem(
                id=item_id("whole", "fact", nugget.name, fact.key, fact.key, fact.value),
                status="new",
                kind="fact",
                title=fact.key,
                nugget=nugget.name,
                where=f"{nugget.name}: {fact.key}",
            )
            for fact in nugget.facts
            if (nugget.name, fact.key) not in snapshot.fact_notes
        )
    return found
