"""Remembers in the notes what a person refused, so that no later pass proposes it again."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2s
from typing import Final

from core.model.draft import Draft
from core.model.note import Note, replace
from core.reflection.result import ChangeType, ProposedChange, proposal_id
from core.reflection.tidy import tidied
from core.text.normalise import squeeze

# A field of a note that the original does not know and keeps: id of a proposal -> what it was refused for.
REFUSED: Final = "refusedChanges"
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
    return ProposedChange(
        id=proposal_id("merge", first.id, second.id),
        type="merge",
        nugget_name=first.nugget_name,
        note_id=first.id,
        deed="",
        other_id=second.id,
    )


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
