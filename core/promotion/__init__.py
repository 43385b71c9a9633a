"""Promotion: writes often recalled notes into MEMORY.md, beside whatever a person wrote there."""

from core.promotion.result import Below, HeldBack, Length, PromotionEntry, PromotionResult
from core.promotion.run import promote
from core.promotion.target import target_path

__all__ = ["Below", "HeldBack", "Length", "PromotionEntry", "PromotionResult", "promote", "target_path"]
