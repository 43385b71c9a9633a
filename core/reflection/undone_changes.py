"""Finds what a person undid of earlier runs, so that no unattended run does it again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from core.graph.edits import MERGED_INTO
from core.model.change import ChangeSet, NoteChange
from core.model.change_parts import change_parts
from core.model.entry import Entry
from core.model.note import Note, custom_tags
from core.reflection.linking import is_of_reflection
from core.reflection.refusals import Refusal, ground
from core.reflection.result import ChangeType, proposal_id

# So many entries of the log are enough: changes undone before them are more than a year old.
RUNS: Final = 400


def undone_changes(entries: Iterable[Entry], ids: Collection[str]) -> frozenset[Refusal]:
    """What runs did that is taken back, as if it had been refused when it was proposed.

    entries: of the log, those of reflection count. ids: of entries and of their parts ("<id>.<number>") that are
    taken back at present.
    """
    found: set[Refusal] = set()
    for entry in entries:
        whole = entry.change_set
        if whole.kind != "reflection":
            continue
        before = {change.id: change.before for change in whole.notes if change.before is not None}
        if entry.undone or entry.id in ids:
            found.update(_proposed(whole, before))
        elif any(id.startswith(f"{entry.id}.") for id in ids):
            for part in change_parts(whole):
                if part.id in ids:
                    found.update(_proposed(part, before))
    return frozenset(found)


def _proposed(change_set: ChangeSet, before: Mapping[str, Note]) -> Iterator[Refusal]:
    for change in change_set.notes:
        yield from _proposed_for(change, before)


def _proposed_for(change: NoteChange, before: Mapping[str, Note]) -> Iterator[Refusal]:
    """The proposals that one note's change may have come from; `before`: the notes that the run changed."""
    old, new = change.before, change.after
    if old is None or new is None:
        return

    def refusal(type: ChangeType, *others: Note, wanted: str = "") -> Refusal:
        notes = (old, *others)
        return proposal_id(type, *(note.id for note in notes)), ground(type, notes, wanted)

    if new.hidden and not old.hidden:
        survivor = before.get(str(new.extra.get(MERGED_INTO, "")))
        yield refusal("merge", survivor) if survivor is not None else refusal("hide")
    if new.content != old.content:
        yield refusal("rewrite")
    if new.tags != old.tags:
        added = sorted(set(custom_tags(new)) - set(old.tags))
        yield refusal("tag", wanted=" ".join(added))
    known = {(link.to, link.reason) for link in old.links}
    for link in new.links:
        other = before.get(link.to)
        if is_of_reflection(link) and (link.to, link.reason) not in known and other is not None:
            yield refusal("link", other)
