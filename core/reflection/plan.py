"""What a pass proposes: each change with the edit that carries it out, and the result of the pass."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2s
from typing import Any, Final, Literal, NamedTuple

import msgspec

from core.graph.edits import edit_note, hide_note, link_notes
from core.graph.merging import merge_notes
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.infer import MetaInput, subject_of
from core.model.note import Note, custom_tags, replace
from core.reflection.duplicates import MERGE_REASON
from core.reflection.linking import link_reason, linked
from core.reflection.words import tidied
from core.text.normalise import normalise_content

ChangeType = Literal["rewrite", "merge", "hide", "tag", "link", "scope"]
# What counts of each type are called, in JSON and on the command line; and in the history, in the order told there.
COUNTED: Final[dict[ChangeType, str]] = {
    "rewrite": "rewritten", "merge": "merged", "hide": "hidden", "tag": "tagged", "link": "linked",
    "scope": "rescoped",
}  # fmt: skip
SAID: Final[dict[ChangeType, str]] = {
    "hide": "archived", "rewrite": "tidied", "tag": "tagged", "merge": "merged", "link": "linked",
    "scope": "given to projects",
}  # fmt: skip
# A link below this rests on two words or on common ones: it is for a person to accept. Three rare words give 0.75.
SURE: Final = 0.7
_UNSURE: Final = 0.5
# Stands in a deed where the other note is named; no text of a note holds it.
OTHER: Final = "\0"


class ProposedChange(msgspec.Struct, frozen=True):
    """One change that a pass proposes.

    `id` follows from what is changed and how, so that it is the same in a preview and in the pass that
    accepts it. `note_id`: the note that stays after a merge, or the one that wanted the link. `other_id`: the
    note that is merged away or linked to, "" where there is none. `deed`: what would be done, with `OTHER` where that
    note is named; `reason`: why; both may hold text of notes. `confidence`: how sure the rule is that a person would
    agree, in [0, 1]. `wanted`: what it asks for beyond its type and notes, such as the tags.
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

    @property
    def detail(self) -> str:
        """What would be done, the other note named by its id."""
        return self.describe_with(self.other_id)

    def describe_with(self, other: str) -> str:
        """What would be done. other: what the other note is called, "" for its id."""
        before, place, after = self.deed.partition(OTHER)
        return f"{before}{other or self.other_id}{after}" if place else self.deed

    @property
    def doubtful(self) -> bool:
        """Whether only a person's word carries it out: a link on little ground, hiding what may say something, and
        whom a note is about.
        """
        return self.type in ("link", "hide", "scope") and self.confidence < SURE

    @property
    def counted(self) -> str:
        """What counts of its type are called."""
        return COUNTED[self.type]

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON of the command line."""
        return {
            "id": self.id,
            "type": self.type,
            "nuggetName": self.nugget_name,
            "noteId": self.note_id,
            "detail": self.detail,
            "reason": self.reason,
            "confidence": round(self.confidence, 3),
            "doubtful": self.doubtful,
        }


class ReflectionResult(msgspec.Struct, frozen=True):
    """A pass: when it ran, how many notes it inspected, what it changed, and the change set that does it.

    `ran_at` is an ISO 8601 time in UTC. `unknown`: accepted or refused ids that this pass does not propose.
    `left_archived`, `left_merged`: changes that the pass came upon and the caps of a run leave for the next one.
    `limit_reached`: it looked at as many notes as it may, others may be waiting. `refused`: changes that are
    remembered as refused.
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
    """A proposal and its edit of the note and the other one as they are by then, which answers False where there is no
    place for it any more.
    """

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


def hide_step(note: Note, why: str, confidence: float) -> Step:
    """Archives a note of low value."""
    return Step(
        proposed("hide", note, f"hide: {why}", why, confidence),
        lambda draft, note, _: hide_note(draft, note.id),
    )


def rewrite_step(note: Note) -> Step:
    """Tidies a note's content, and the value of its fact."""
    white = normalise_content(note.content)
    repeated = _full_lines(white) - _full_lines(tidied(note.content))
    parts = [f"{repeated} repeated lines" if repeated > 1 else "1 repeated line"] if repeated else []
    parts += ["white space"] if white != note.content else []
    why = "a repeated line says nothing new" if repeated else "this white space has no meaning"
    # White space is dropped with certainty; a line could have been repeated on purpose.
    proposal = proposed("rewrite", note, f"tidy: {', '.join(parts)}", why, 0.9 if repeated else 1.0)
    return Step(
        proposal,
        lambda draft, note, _: edit_note(draft, note.id, content=tidied(note.content), rewritten=True),
    )


def _full_lines(text: str) -> int:
    return sum(bool(line) for line in text.split("\n"))


def tag_step(note: Note, tags: tuple[str, ...]) -> Step:
    """Gives a note the tags it lacks."""
    added = [tag for tag in tags if tag not in set(note.tags)]
    gone = [tag for tag in note.tags if tag not in set(tags)]
    said = [f"{word} {', '.join(some)}" for word, some in (("add", added), ("remove", gone)) if some]
    # Nugget, scope and type are certain; what a text is about is read from its words.
    meant = [tag for tag in custom_tags(replace(note, tags=tags)) if tag in added]
    why = "taken from the title and text" if meant else "nugget, scope and type are always tags"
    detail, wanted = f"tags: {'; '.join(said) or 'sort'}", " ".join(sorted(meant))
    return Step(
        proposed("tag", note, detail, why, 0.8 if meant else 1.0, wanted=wanted),
        lambda draft, note, _: draft.put(replace(note, tags=tags, updated_at=draft.at)),
    )


def scope_step(note: Note) -> Step:
    """Makes a note the project's that says it is the person's."""
    meta = MetaInput(scope="project", subject=subject_of("project"))
    why = "nothing in it is about you, so it should not hold in every project"
    return Step(
        proposed("scope", note, "scope: user → project", why, _UNSURE),
        lambda draft, note, _: edit_note(draft, note.id, meta=meta),
    )


def merge_step(survivor: Note, other: Note, tags_of: Callable[[Note], tuple[str, ...]], alike: float) -> Step:
    """Merges a near-duplicate into the note that stays; `tags_of` gives the tags that its new content asks for.

    alike: the share of common words, in [0, 1].
    """

    def edit(draft: Draft, before: Note, gone: Note) -> None:
        merged = merge_notes(draft, before.id, gone.id, reason=MERGE_REASON)
        if merged.content != before.content:
            content = merged.content if merged.is_fact else tidied(merged.content)
            merged = replace(merged, content=content, last_rewritten_at=draft.at)
        draft.put(replace(merged, tags=tags_of(merged)))

    detail, why = f'merge with {OTHER} ("{other.title}")', f"{alike:.0%} of their words are the same"
    return Step(proposed("merge", survivor, detail, why, alike, other.id), edit)


def link_step(note: Note, other: Note, words: tuple[str, ...], confidence: float) -> Step:
    """Links a note to one that shares uncommon words with it. confidence: by how rare these are, in [0, 1]."""
    reason, why = link_reason(words), f"few notes mention {', '.join(words)}"
    return Step(
        proposed("link", note, f"link to {OTHER} ({reason})", why, confidence, other.id),
        lambda draft, one, two: not linked(one, two) and link_notes(draft, one.id, two.id, reason),
    )
