"""The result of a reflection pass: its proposals, its counts and one change set."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2s
from typing import Any, Final, Literal

from core.model.change import ChangeSet

ChangeType = Literal["rewrite", "merge", "hide", "tag", "link"]
# What counts of each type are called, in JSON and on the command line; and in the history, in the order told there.
COUNTED: Final[dict[ChangeType, str]] = {
    "rewrite": "rewritten", "merge": "merged", "hide": "hidden", "tag": "tagged", "link": "linked",
}  # fmt: skip
SAID: Final[dict[ChangeType, str]] = {
    "hide": "archived", "rewrite": "tidied", "tag": "tagged", "merge": "merged", "link": "linked",
}  # fmt: skip
# A link below this rests on two words or on common ones: it is for a person to accept. Three rare words give 0.75.
SURE: Final = 0.7


# Stands in a deed where the other note is named; no text of a note holds it.
OTHER: Final = "\0"


@dataclass(frozen=True)
class ProposedChange:
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
        """Whether only a person's word carries it out: a link on little ground, or hiding what may say something."""
        return self.type in ("link", "hide") and self.confidence < SURE

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


@dataclass(frozen=True)
class ReflectionResult:
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
    def rewritten(self) -> int:
        """Notes with tidied content."""
        return self._count("rewrite")

    @property
    def merged(self) -> int:
        """Pairs of near-duplicates that become one note."""
        return self._count("merge")

    @property
    def hidden(self) -> int:
        """Low-value notes that are archived."""
        return self._count("hide")

    @property
    def tagged(self) -> int:
        """Notes with better tags."""
        return self._count("tag")

    @property
    def linked(self) -> int:
        """New links; a link and its way back count as one."""
        return self._count("link")

    @property
    def counts(self) -> dict[str, int]:
        """How many changes of each type there are, by what they are called."""
        return {name: self._count(type) for type, name in COUNTED.items()}

    def _count(self, type: ChangeType) -> int:
        return sum(change.type == type for change in self.changes)

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


def proposal_id(type: ChangeType, *note_ids: str) -> str:
    """A short id that follows from the type and the notes, whichever of them comes first."""
    digest = blake2s("\0".join(sorted(note_ids)).encode("utf-8", "surrogatepass"), digest_size=5)
    return f"{type}-{digest.hexdigest()}"
