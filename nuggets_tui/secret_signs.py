"""The sign on notes and facts that look as if they held a credential; not yet there for the first frame."""

from __future__ import annotations

import sys
from typing import Final

from core.model.fact import Fact
from core.model.note import Note

SIGN: Final = "⚿"
_MODULE: Final = "core.model.secrets"


def kinds_in(item: Note | Fact) -> tuple[str, ...]:
    """The kinds of credentials that a note or fact seems to hold; none as long as nothing has loaded the detector.

    Loading it takes longer than a frame may: whoever shows the first one calls `load` behind it.
    """
    found = sys.modules.get(_MODULE)
    if found is None or not hasattr(found, "forget_texts"):
        return ()
    held = found.secrets_of(item) if isinstance(item, Note) else found.secrets_of_fact(item)
    return tuple(dict.fromkeys(one.kind for one in held))


def load() -> None:
    """Loads the detector; for a thread."""
    import core.model.secrets  # noqa: F401
