"""Puts a table that is made from the program between two marks of a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def between_marks(page: str, begin: str, table: str, end: str) -> str:
    """A page with this table between its marks. Raises ValueError for a page without them."""
    head, mark, rest = page.partition(begin)
    _, last, tail = rest.partition(end)
    if not mark or not last:
        raise ValueError(f"the page has no place for the table: {begin} ... {end}")
    return f"{head}{begin}\n{table}\n{end}{tail}"


def renew(path: str, with_table: Callable[[str], str]) -> None:
    """Renews the table in a file."""
    page = Path(path)
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
