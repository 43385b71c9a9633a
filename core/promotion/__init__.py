"""Promotion: writes often recalled notes into MEMORY.md, beside whatever a person wrote there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.promotion.target import project_folder

if TYPE_CHECKING:
    from core.promotion.result import LeftOut, Length, PromotionEntry, PromotionResult
    from core.promotion.run import promote

__all__ = [
    "LeftOut", "Length", "PromotionEntry", "PromotionResult", "project_folder", "promote",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Loaded when asked for: `status` wants to know of a page, and promotes nothing.
    if name == "promote":
        from core.promotion.run import promote

        return promote
    if name in __all__:
        from core.promotion import result

        return getattr(result, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
