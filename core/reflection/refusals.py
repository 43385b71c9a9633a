"""What no pass proposes again: what a person refused, kept in the notes, and what they undid, read from the log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2s
from typing import Final

from core.graph.edits import MERGED_INTO
from core.model.change import ChangeSet, NoteChange
from core.model.change_parts import change_parts
from core.model.draft import Draft
from core.model.entry import Entry
from core.model.note import Note, custom_tags, replace
from core.reflection.linking import is_of_reflection
from core.reflection.plan import ChangeType, ProposedChange, proposal_id, proposed
from core.reflection.words import tidied
from core.text.normalise import squeeze

# A field of a note that the original does not know and keeps: id of a proposal -> what it was refused for.
REFUSED: Final = "refusedChanges"
# So many entries of the log are enough: changes undone before them are more than a year old.
RUNS: Final = 400
# Id of a proposal, and a fingerprint of what it was made for.
Refusal = tuple[str, str]


def refused(change: ProposedChange, *notes: Note) -> bool:
    """Whether a change was refused and none of its notes says anything else since. `notes`: those it concerns."""
    if not any(REFUSED in note.extra for note in notes):
        return False
    made_for = ground(change.type, notes, change.wanted)
    return any(_refusals(note).get(change.id) == made_for for note in notes)


def not_duplicates(first: Note, second: Note) -> ProposedChange:
    """The merge to refuse for two notes that are no duplicates."""
    return proposed("merge", first, "", "", 1.0, second.id)


def refuse(draft: Draft, changes: Iterable[ProposedChange]) -> int:
    """Remembers changes as refused, each in its note, for what the draft's notes say now; how many it could.

    A refusal holds until a title or a content of one of its notes changes, white space aside; that of tags also
    until other tags are asked for. It moves no date. A change whose notes are gone or hidden has nothing to hold.
    """
    count = 0
    for change in changes:
        ids = filter(None, (change.note_id, change.other_id))
        notes = [note for id in ids if (note := draft.note(id)) is not None and not note.hidden]
        if len(notes) < 1 + bool(change.other_id):
            continue
        held = {**_refusals(notes[0]), change.id: ground(change.type, notes, change.wanted)}
        draft.put(replace(notes[0], extra=notes[0].extra | {REFUSED: held}))
        count += 1
    return count


def _refusals(note: Note) -> dict[str, object]:
    found = note.extra.get(REFUSED)
    return found if isinstance(found, dict) else {}


def ground(type: ChangeType, notes: Iterable[Note], wanted: str = "") -> str:
    """A fingerprint of what a proposal was made for: the notes that it concerns, and what it asks for beyond them.

    Read as tidied, so that it does not matter whether tidying was accepted (unless tidying itself is refused), and
    without white space, which the original squeezes at each of its saves.
    """
    texts = [wanted]
    for note in sorted(notes, key=lambda note: note.id):
        content = note.content if type == "rewrite" else tidied(note.content)
        texts += [squeeze(note.title), squeeze(content)]
    return blake2s("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


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
            found.update(_refusals_for(whole, before))
        elif any(id.startswith(f"{entry.id}.") for id in ids):
            for part in change_parts(whole):
                if part.id in ids:
                    found.update(_refusals_for(part, before))
    return frozenset(found)


def _refusals_for(change_set: ChangeSet, before: Mapping[str, Note]) -> Iterator[Refusal]:
    for change in change_set.notes:
        yield from _of_one(change, before)


def _of_one(change: NoteChange, before: Mapping[str, Note]) -> Iterator[Refusal]:
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
