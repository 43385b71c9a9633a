"""Merges two notes: what the survivor takes from each, and where links and recalls go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from core.errors import InvalidInputError
from core.graph.edits import GIVEN_HITS_TO, MERGED_INTO, edit_note, existing, hide_note, link_notes
from core.model.draft import Draft
from core.model.note import Note, custom_tags, replace, unique_links
from core.model.snapshot import Snapshot
from core.text.union import merged_content

Side = Literal["survivor", "other"]
Sides = Literal["survivor", "other", "both"]


@dataclass(frozen=True)
class MergeChoices:
    """Which of two notes each field of the merged one comes from. The scope brings its subject along.

    content "both": every line of both. tags "both": the tags of both, each once; nugget, scope and type are tags
    in any case.
    """

    title: Side = "survivor"
    content: Sides = "both"
    tags: Sides = "both"
    scope: Side = "survivor"
    type: Side = "survivor"
    stability: Side = "survivor"
    confidence: Side = "survivor"


EVERYTHING: Final = MergeChoices()


def merge_notes(
    draft: Draft,
    survivor_id: str,
    other_id: str,
    reason: str = "merged",
    choices: MergeChoices = EVERYTHING,
) -> Note:
    """Merges one note into another: every line of both, tags, links and recalls; the other is hidden.

    choices: which note each field comes from. A text that the survivor does not take stays in the hidden note or in
    the history. Links of the merged-away note then point to the survivor, and it keeps one link to the survivor.
    Recalls are added once, also when the same pair is merged again, either way round.

    Raises InvalidInputError for a hidden note, ConflictError for a fact that would take a key which another fact
    has.
    """
    survivor, other = existing(draft, survivor_id), existing(draft, other_id)
    if survivor.id == other.id:
        raise InvalidInputError("a note cannot be merged with itself", where=survivor.id)
    for note in (survivor, other):
        if note.hidden:
            raise InvalidInputError(
                "a hidden note cannot be merged", where=note.id, kept="nothing was changed",
                todo="show it first",
            )  # fmt: skip
    counted = _counted_in(draft, other, survivor)
    counts_us = _counted_in(draft, survivor, other)
    sides = {"survivor": survivor, "other": other}
    both = choices.content == "both"
    text = merged_content(survivor.content, other.content) if both else sides[choices.content].content
    tagged = replace(survivor, tags=(*survivor.tags, *custom_tags(other)))
    tags = custom_tags(tagged if choices.tags == "both" else sides[choices.tags])
    survivor = edit_note(draft, survivor.id, content=text, tags=tags)
    _repoint_links(draft, survivor.id, other.id)
    survivor = existing(draft, survivor.id)
    if not counted:
        latest = max(survivor, other, key=lambda note: note.last_accessed_at)
        hits = max(survivor.hits, other.hits) if counts_us else survivor.hits + other.hits
        survivor = draft.put(
            replace(
                survivor,
                hits=hits,
                last_hit_session=survivor.last_hit_session or other.last_hit_session,
                last_accessed_at=latest.last_accessed_at,
            )
        )
        found = draft.find_fact(survivor.nugget_name, survivor.key) if survivor.is_fact else None
        if found is not None:
            counts = {"hits": survivor.hits, "last_hit_session": survivor.last_hit_session}
            draft.put_fact(survivor.nugget_name, msgspec.structs.replace(found[1], **counts))
    hidden = hide_note(draft, other.id)
    extra = hidden.extra | {
        MERGED_INTO: survivor.id,
        GIVEN_HITS_TO: list(dict.fromkeys([*given_hits_to(hidden), survivor.id])),
    }
    draft.put(replace(hidden, extra=extra))
    link_notes(draft, survivor.id, other.id, reason)
    if choices.title == "other":
        # Only now: of two facts the other one has given up its key.
        edit_note(draft, survivor.id, title=other.title)
    # Whom a note speaks of belongs to its scope.
    chosen_by = {"subject": "scope", **{name: name for name in ("scope", "type", "stability", "confidence")}}
    taken = {
        name: getattr(other, name)
        for name, choice in chosen_by.items()
        if getattr(choices, choice) == "other"
    }
    return draft.put(replace(existing(draft, survivor.id), updated_at=draft.at, **taken))


def _counted_in(draft: Draft, giver: Note, holder: Note) -> bool:
    """Whether a note's recalls are in another's count, given to it by one merge or by several in a row."""
    waiting, seen = [giver], {giver.id}
    while waiting:
        for id in given_hits_to(waiting.pop()):
            if id == holder.id:
                return True
            between = draft.note(id)
            if between is not None and id not in seen:
                seen.add(id)
                waiting.append(between)
    return False


def survivor(snapshot: Snapshot, id: str) -> str:
    """The id of the note that a note was merged into, directly or through others; else its own."""
    seen = {id}
    while True:
        note = snapshot.by_id.get(id)
        into = note.extra.get(MERGED_INTO) if note is not None and note.hidden else None
        if not isinstance(into, str) or into in seen or into not in snapshot.by_id:
            return id
        seen.add(into)
        id = into


def given_hits_to(note: Note) -> list[str]:
    """Ids of the notes that have this note's recalls in their own count."""
    found = note.extra.get(GIVEN_HITS_TO)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _repoint_links(draft: Draft, survivor_id: str, other_id: str) -> None:
    """Moves every link of `other` to the survivor, on both ends."""
    other = existing(draft, other_id)
    moved = [link for link in other.links if link.to != survivor_id]
    survivor = existing(draft, survivor_id)
    kept = [link for link in survivor.links if link.to != other_id]
    draft.put(replace(survivor, links=unique_links([*kept, *moved])))
    draft.put(replace(other, links=()))
    for holder in draft.holders(other_id):
        links = [
            msgspec.structs.replace(link, to=survivor_id) if link.to == other_id else link
            for link in holder.links
        ]
        draft.put(replace(holder, links=unique_links(links), updated_at=draft.at))
