"""What an import would do, or did: one item for each thing that the source proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from core.exchange.records import Format, LeftOut
from core.model.change import ChangeSet

# same: the memory holds it already. conflict: it holds something else of that name. left: --accept left it out.
Status = Literal["new", "same", "conflict", "left"]


class ImportItem(
    msgspec.Struct, frozen=True, kw_only=True, rename={"nugget": "nuggetName", "note_id": "noteId"}
):
    """One note or fact of the source. id: names it in --accept, the same each time. note_id: of the note in the memory.

    detail: why it is what it is. ours, theirs: the texts of a conflict, that of the memory first.
    """

    id: str
    status: Status
    kind: str
    title: str
    nugget: str
    where: str
    note_id: str = ""
    detail: str = ""
    ours: str = ""
    theirs: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The item as an object of the command line's JSON; texts of conflicts alone."""
        shaped: dict[str, Any] = msgspec.to_builtins(self) | {"noteId": self.note_id or None}
        hidden = () if self.status == "conflict" else ("ours", "theirs")
        return {name: value for name, value in shaped.items() if name not in hidden}


@dataclass(frozen=True)
class ImportResult:
    """An import. format: what the source was taken as; detected: whether that was told by its contents.

    history: how many entries of the log come along. unknown: ids that were accepted and that nothing has.
    """

    format: Format
    detected: bool
    source: str
    items: tuple[ImportItem, ...]
    left_out: tuple[LeftOut, ...]
    change_set: ChangeSet
    history: int = 0
    unknown: tuple[str, ...] = ()

    def of(self, status: Status) -> Sequence[ImportItem]:
        """The items of a status."""
        return [item for item in self.items if item.status == status]

    def to_dict(self) -> dict[str, Any]:
        """The import as an object of the command line's JSON, without its change set."""
        told = [(one.partly, {"where": one.where, "reason": one.what}) for one in self.left_out]
        return {
            "version": 1,
            "format": self.format,
            "detected": self.detected,
            "source": self.source,
            "imported": len(self.of("new")),
            "same": len(self.of("same")),
            "left": len(self.of("left")),
            "history": self.history,
            "conflicts": [item.to_dict() for item in self.of("conflict")],
            "skipped": [shaped for partly, shaped in told if not partly],
            "incomplete": [shaped for partly, shaped in told if partly],
            "entries": [item.to_dict() for item in self.items],
        }
