"""The placeholder of a masked credential."""

from __future__ import annotations

import re
from typing import Final

MASK: Final = re.compile(r"\[masked: [^\]\n]{1,60}\]")
# What is shown to a model in place of one.
REDACTED: Final = "[REDACTED]"
_NO_TEXT: Final = re.compile(r"[\W_]*", re.UNICODE)


def mask(kind: str) -> str:
    """What is put in place of a credential."""
    return f"[masked: {kind}]"


def all_masked(text: str) -> bool:
    """Whether nothing is left of a text but what stands in place of credentials: it tells nobody anything."""
    return "[masked: " in text and _NO_TEXT.fullmatch(MASK.sub("", text)) is not None
