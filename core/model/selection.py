"""Finds the proposals that a person names by id."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def select_ids(ids: Sequence[str], named: Collection[str]) -> tuple[set[str], tuple[str, ...]]:
    """The ids that are meant by ids or unambiguous beginnings of ids, and what fits none or several."""
    known = set(ids)
    found: set[str] = set()
    unknown: list[str] = []
    for wanted in named:
        fitting = [wanted] if wanted in known else [id for id in ids if wanted and id.startswith(wanted)]
        if len(fitting) == 1:
            found.add(fitting[0])
        else:
            unknown.append(wanted)
    return found, tuple(unknown)
