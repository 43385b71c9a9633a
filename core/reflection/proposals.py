"""What a pass proposes, how that is carried out, and the result of the pass; and what no pass proposes again: what a
person refused, kept in the notes, and what they undid, read from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2s
from typing import Any, Final, Literal, NamedTuple

import msgspec

from core.graph.edits import MERGED_INTO
from core.model.change import ChangeSet, NoteChange
from core.model.change_parts import change_parts
from core.model.draft import Draft
from core.model.entry import Entry
from core.model.note import Note, custom_tags, replace
from core.reflection.linking import is_of_reflection
from core.reflection.words import tidied
from core.text.normalise import squeeze

ChangeType = Literal["rewrite", "merge", "hide", "tag", "link", "scope", "repoint"]
# What counts of each type are called, in JSON and on the command line; and in the history, in the order told there.
COUNTED: Final[dict[ChangeType, str]] = {
    "rewrite": "rewritten", "merge": "merged", "hide": "hidden", "tag": "tagged", "link": "linked",
    "scope": "rescoped", "repoint": "repointed",
}  # fmt: skip
SAID: Final[dict[ChangeType, str]] = {
    "hide": "archived", "rewrite": "tidied", "tag": "tagged", "merge": "merged", "link": "linked",
    "scope": "given to projects", "repoint": "repointed",
}  # fmt: skip
# A link below this rests on two words or on common ones: it is for a person to accept. Three rare words give 0.75.
SURE: Final = 0.7
# Stands in a deed where the other note is named; no text of a note holds it.
OTHER: Final = "\0"
# A field of a note that the original does not know and keeps: id of a proposal -> what it was refused for.
REFUSED: Final = "refusedChanges"
# So many entries of the log are enough: changes undone before them are more than a year old.
RUNS: Final = 400
# Id of a proposal, and a fingerprint of what it was made for.
Refusal = tuple[str, str]


class ProposedChange(msgspec.Struct, frozen=True):
    """One change that a pass proposes.

    id: follows from what is changed and how, so that it is the same in a preview and in the pass that accepts it.
    note_id: the note that stays after a merge, or that wanted the link. other_id: the one that is merged away or linked
    to, "" for none. deed: what would be done, `OTHER` for that note; reason: why; both may hold text of notes.
    confidence: how sure the rule is that a person would agree, in [0, 1]. wanted: what it asks for beyond its type and
    notes, such as the tags.
    """

    id: str
    type: ChangeType
    nugget_name: str
    note_id: str
    deed: str
    other_id: str = ""
    reason: str = ""
    confidence: float = 1.0
    wanted: str = ""

    def detail(self, other: str = "") -> str:
        """What would be done. other: what the other note is called, "" for its id."""
        before, place, after = self.deed.partition(OTHER)
        return f"{before}{other or self.other_id}{after}" if place else self.deed

    @property
    def doubtful(self) -> bool:
        """Whether only a person's word carries it out: a link on little ground, hiding what may say something, whom a
        note is about, and where the code is that it names.
        """
        return self.type in ("link", "hide", "scope", "repoint") and self.confidence < SURE

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON of the command line."""
        return {
            "id": self.id,
            "type": self.type,
            "nuggetName": self.nugget_name,
            "noteId": self.note_id,
            "detail": self.detail(),
            "reason": self.reason,
            "confidence": round(self.confidence, 3),
            "doubtful": self.doubtful,
        }


class ReflectionResult(msgspec.Struct, frozen=True):
    """A pass: when it ran (ISO 8601, UTC), how many notes it inspected, and what it changed.

    unknown: accepted or refused ids that it does not propose. left_archived, left_merged: changes that it came upon and
    the caps leave for the next one. limit_reached: others may be waiting. refused: changes remembered as refused.
    """

    ran_at: str
    inspected: int
    changes: tuple[ProposedChange, ...]
    change_set: ChangeSet
    unknown: tuple[str, ...] = ()
    left_archived: int = 0
    left_merged: int = 0
    limit_reached: bool = False
    refused: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many changes of each type there are, by what they are called; a link and its way back count as one."""
        return {name: sum(one.type == type for one in self.changes) for type, name in COUNTED.items()}

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON of the command line."""
        return {
            "ranAt": self.ran_at,
            "inspected": self.inspected,
            **self.counts,
            "changes": [change.to_dict() for change in self.changes],
            "left": {"merged": self.left_merged, "hidden": self.left_archived},
            "refused": self.refused,
        }


class Step(NamedTuple):
    """A proposal and its edit of both notes as they are by then, which answers False where it has no place any more."""

    proposal: ProposedChange
    edit: Callable[[Draft, Note, Note], object]

    def apply(self, draft: Draft) -> bool:
        """Lays the edit over a draft; False when it has no place there any more."""
        note, other = (draft.note(id) for id in (self.proposal.note_id, self.proposal.other_id))
        other = other if self.proposal.other_id else note
        if note is None or other is None or note.hidden or other.hidden:
            return False
        return self.edit(draft, note, other) is not False


def proposal_id(type: ChangeType, *note_ids: str) -> str:
    """A short id that follows from the type and the notes, whichever of them comes first."""
    digest = blake2s("\0".join(sorted(note_ids)).encode("utf-8", "surrogatepass"), digest_size=5)
    return f"{type}-{digest.hexdigest()}"


def proposed(
    type: ChangeType, note: Note, deed: str, reason: str, confidence: float, other: str = "", wanted: str = ""
) -> ProposedChange:
    """A change of a note, with the id that follows from it."""
    id = proposal_id(type, *filter(None, (note.id, other)))
    return ProposedChange(id, type, note.nugget_name, note.id, deed, other, reason, confidence, wanted)


# Never again


def refused(change: ProposedChange, notes: Sequence[Note], undone: Collection[Refusal]) -> bool:
    """Whether a change was refused or undone, and none of the notes that it concerns says anything else since."""
    known = [one for note in notes if (one := _refusals(note))]
    if not known and not undone:
        return False
    made_for = ground(change.type, notes, change.wanted)
    return (change.id, made_for) in undone or any(one.get(change.id) == made_for for one in known)


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
        if whole.kind == "reflection":
            before = {change.id: change.before for change in whole.notes if change.before is not None}
            undone = [whole] if entry.undone or entry.id in ids else []
            if not undone and any(id.startswith(f"{entry.id}.") for id in ids):
                undone = [part for part in change_parts(whole) if part.id in ids]
            found.update(one for part in undone for change in part.notes for one in _of_one(change, before))
    return frozenset(found)


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
        yield refusal("repoint")
    if new.tags != old.tags:
        added = sorted(set(custom_tags(new)) - set(old.tags))
        yield refusal("tag", wanted=" ".join(added))
    known = {(link.to, link.reason) for link in old.links}
    for link in new.links:
        other = before.get(link.to)
        if is_of_reflection(link) and (link.to, link.reason) not in known and other is not None:
            yield refusal("link", other)
