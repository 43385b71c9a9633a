"""From entries written by hand and made-up ones to the notes and facts of one change set."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING
from zlib import crc32

from core.errors import InvalidInputError
from core.model.change import ChangeSet
from core.model.fact import Fact
from core.model.infer import infer_meta, semantic_tags
from core.model.names import iso, note_id
from core.model.note import HiddenFact, Link, Note
from tools.demo.resizing import DEMO, fact_of_note, put_all

if TYPE_CHECKING:
    from core.model.draft import Draft
    from tools.demo.handwritten import DemoEntry


def change_set(draft: Draft, notes: int | None) -> ChangeSet:
    """The demo memory as one change set on a draft of an empty memory; the same one at each call.

    notes: how many in all, None for those written by hand; fewer are the oldest of these, more are made up.
    """
    from tools.demo.handwritten import entries

    if notes is not None and notes < 1:
        raise InvalidInputError(f"must be at least 1, not {notes}", where="notes", kept="nothing was written")
    written = entries()
    kept = oldest(written, notes)
    made = list(notes_of(kept))
    facts = [(entry.nugget, fact_of(entry)) for entry in kept if entry.kind == "fact" and not entry.hidden]
    if notes is not None and notes > len(made):
        from tools.demo.generated import generate

        more = generate(notes - len(made), taken={note.id for note in made})
        made.extend(more)
        facts.extend((note.nugget_name, fact_of_note(note)) for note in more if note.is_fact)
    put_all(draft, made, facts)
    return draft.change_set("wrote the demo memory", author=DEMO, kind="import")


def oldest(entries: list[DemoEntry], count: int | None) -> list[DemoEntry]:
    """The entries as given or, when fewer are wanted, the oldest of them."""
    if count is None or count >= len(entries):
        return entries
    by_age = sorted(entries, key=lambda entry: (entry.created, entry.name))
    names = {entry.name for entry in by_age[:count]}
    return [entry for entry in entries if entry.name in names]


def notes_of(entries: list[DemoEntry]) -> Iterator[Note]:
    """The notes of the entries, oldest first, with links in both directions; links to what is missing go."""
    by_name = {entry.name: entry for entry in entries}
    links: dict[str, list[Link]] = {name: [] for name in by_name}
    for entry in entries:
        for target, reason in entry.links.items():
            if target in by_name:
                join(links, entry, by_name[target], reason)
    for entry in sorted(entries, key=lambda entry: (entry.created, entry.name)):
        yield note_of(entry, tuple(links[entry.name]))


def join(links: dict[str, list[Link]], one: DemoEntry, other: DemoEntry, reason: str) -> None:
    """Notes a link on both sides, made as soon as both notes were there."""
    at = iso(max(one.created, other.created))
    links[one.name].append(Link(to=id_of(other), reason=reason, created_at=at))
    links[other.name].append(Link(to=id_of(one), reason=reason, created_at=at))


def id_of(entry: DemoEntry) -> str:
    """The id of the entry's note; it follows from the entry's name alone."""
    return note_id(entry.kind, entry.nugget, f"{crc32(entry.name.encode()):08x}")


def note_of(entry: DemoEntry, links: tuple[Link, ...]) -> Note:
    """The note of one entry with every field set; the draft settles tags and vector recipe."""
    meta = infer_meta(entry.kind, entry.title, entry.content, entry.tags, entry.meta)
    semantic = semantic_tags(entry.kind, entry.title, meta.type, meta.source)
    is_fact = entry.kind == "fact"
    return Note(
        id=id_of(entry),
        nugget_name=entry.nugget,
        title=entry.title,
        content=entry.content,
        tags=(entry.nugget, *entry.tags, f"scope:{meta.scope}", f"type:{meta.type}", *semantic),
        links=links,
        hidden=entry.hidden is not None,
        kind=entry.kind,
        source_key=entry.title if is_fact else None,
        hits=entry.hits,
        last_hit_session=entry.session,
        created_at=iso(entry.created),
        updated_at=iso(entry.edited or entry.created),
        last_accessed_at=iso(entry.used or entry.created),
        last_rewritten_at=_maybe_iso(entry.rewritten),
        archived_at=_maybe_iso(entry.hidden),
        subject=meta.subject,
        scope=meta.scope,
        type=meta.type,
        source=meta.source,
        confidence=meta.confidence,
        stability=meta.stability,
        hidden_fact=hidden_fact_of(entry) if is_fact and entry.hidden else None,
    )


def fact_of(entry: DemoEntry) -> Fact:
    """The fact of one entry as it stands in the fact file."""
    return Fact(key=entry.title, value=entry.content, hits=entry.hits, last_hit_session=entry.session)


def hidden_fact_of(entry: DemoEntry) -> HiddenFact:
    """What a hidden fact's note keeps, so that the fact can come back whole to its place."""
    return HiddenFact(
        key=entry.title,
        value=entry.content,
        hits=entry.hits,
        last_hit_session=entry.session,
        index=entry.place,
    )


def _maybe_iso(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)
