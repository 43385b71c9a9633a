"""What a command warns of beside its answer, once it is done: a text that looks like it holds a credential."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from core.model.note import Note

Code = Literal["credential"]


class Caution(NamedTuple):
    """One warning. id: what it is about, as `nuggets secrets` takes it. kinds: of the credentials."""

    code: Code
    message: str
    id: str
    kinds: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The warning for programs; the credential itself is in none."""
        return {"code": self.code, "message": self.message, "id": self.id, "kinds": list(self.kinds)}


def of_note(note: Note) -> list[Caution]:
    """The warning of a note as it was written; none where somebody said that what it holds is no credential."""
    from core.model.secrets import secrets_of

    what = "fact" if note.is_fact else "note"
    kinds = tuple(dict.fromkeys(held.kind for held in secrets_of(note)))
    return of_credentials(what, note.id, kinds)


def of_credentials(what: str, id: str, kinds: Sequence[str], safe: str = "") -> list[Caution]:
    """The warning of what was found in a thing of the memory, if anything was. safe: what is not in danger."""
    if not kinds:
        return []
    message = (
        f"this {what} looks like it holds a credential ({', '.join(kinds)}){safe}; to mask it: nuggets secrets --mask "
        f"{id}; to allow it: nuggets secrets --none {id}"
    )
    return [Caution("credential", message, id, tuple(kinds))]
