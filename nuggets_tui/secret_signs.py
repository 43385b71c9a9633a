"""The sign on notes and facts that look as if they held a credential; not yet there for the first frame."""

from __future__ import annotations

from typing import Final

from core.model.fact import Fact
from core.model.note import Note

SIGN: Final = "⚿"
_ready = False


def kinds_in(item: Note | Fact) -> tuple[str, ...]:
    """The kinds of credentials that a note or fact seems to hold; none before `load` was called."""
    if not _ready:
        return ()
    from core.model.secrets import secrets_of, secrets_of_fact

    held = secrets_of(item) if isinstance(item, Note) else secrets_of_fact(item)
    return tuple(dict.fromkeys(one.kind for one in held))


def load() -> None:
    """Loads the detector, which takes longer than a frame may; for a thread, behind the first frame."""
    global _ready
    import core.model.secrets  # noqa: F401

    _ready = True
