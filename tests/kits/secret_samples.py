"""Planted credentials of many vendors and shapes, and harmless texts that look like them."""

from __future__ import annotations

import tomllib
from pathlib import Path

_DATA = Path(__file__).parents[1] / "data"
_SAMPLES = tomllib.loads((_DATA / "secret_samples.toml").read_text(encoding="utf-8"))
HARMLESS: tuple[str, ...] = tuple(_SAMPLES["harmless"])
# One line each, of which something is found.
SPOKEN: tuple[str, ...] = tuple(text.replace("¦", "") for text in _SAMPLES["spoken"])


def planted() -> list[tuple[str, str]]:
    """Each text with the credential that stands in it."""
    return list(map(_read, _SAMPLES["planted"]))


def credentials() -> list[tuple[str, str]]:
    """One text of each common kind, with the credential that stands in it."""
    return list(map(_read, _SAMPLES["credentials"]))


def technical_lines() -> list[str]:
    """Lines of paths, addresses, digests, identifiers and programs' output in which no credential stands."""
    return (_DATA / "harmless_lines.txt").read_text("utf-8").splitlines()


def _read(marked: str) -> tuple[str, str]:
    marked = marked.replace("¦", "")
    inside = marked.partition("⟦")[2].partition("⟧")[0]
    return marked.replace("⟦", "").replace("⟧", ""), inside
