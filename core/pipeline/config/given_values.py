"""Where a key may be given: in which file, under which name; and the names that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from core.pipeline.config.keys import NOT_USED, Key, all_keys, sections, snake_case
from core.pipeline.config.warnings import ConfigurationWarning, WarningKind, printable, shown

# A file of another kind submitted by mistake would otherwise fill the screen.
MOST_UNKNOWN: Final = 30
_LONGEST_NAME: Final = 80


class Table(NamedTuple):
    """The pipeline's table of one file. where: the file's name, as warnings tell it."""

    where: str
    values: Mapping[Any, Any]


class GivenValue(NamedTuple):
    """A value given for a key. place: which table, counted from the one that counts first. flat: a legacy name."""

    place: int
    flat: bool
    spelt: str
    value: Any
    where: str


def given_values(key: Key, tables: tuple[Table, ...]) -> list[GivenValue]:
    """All values given for a key: earlier tables first, and in each the nested names before the flat ones."""
    found: list[GivenValue] = []
    for place, table in enumerate(tables):
        names = [key.section] if key.section else []
        for section in _spellings(names):
            inner = table.values.get(section)
            if isinstance(inner, Mapping):
                found += [
                    GivenValue(place, False, f"{section}.{name}", inner[name], table.where)
                    for name in key.nested
                    if name in inner
                ]
        top = key.flat if key.section else key.nested
        found += [
            GivenValue(place, bool(key.section), name, table.values[name], table.where)
            for name in top
            if name in table.values
        ]
    return found


def _spellings(names: list[str]) -> list[str]:
    return [spelt for name in names for spelt, attribute in sections().items() if attribute == name]


def unknown_names(table: Table) -> Iterator[ConfigurationWarning]:
    """A warning for each name that is no key, with the nearest that is; for sections that are no tables too."""
    strangers = list(_unknown_values(table))
    yield from (_warning(*stranger, table.where) for stranger in strangers[:MOST_UNKNOWN])
    if len(strangers) > MOST_UNKNOWN:
        more = f"and {len(strangers) - MOST_UNKNOWN} more"
        yield ConfigurationWarning(
            more, "", None, WarningKind.UNKNOWN_KEY, "only the first are listed", table.where
        )
    for name, value in table.values.items():
        if isinstance(name, str) and name in sections() and not isinstance(value, Mapping | None):
            yield ConfigurationWarning(
                name, shown(value), None, WarningKind.WRONG_TYPE, "must be a table", table.where
            )


def without_effect(tables: tuple[Table, ...]) -> Iterator[ConfigurationWarning]:
    """A warning for each key that does nothing yet and was given another value than the one it has anyway."""
    for key in all_keys():
        given = () if key.has_effect else given_values(key, tables)
        for candidate in given:
            if candidate.value is not None and candidate.value != key.default:
                # A text may be a secret; what it says does not matter here.
                told = "a text" if isinstance(candidate.value, str) else shown(candidate.value)
                yield ConfigurationWarning(
                    key.name, told, None, WarningKind.WITHOUT_EFFECT, where=candidate.where
                )
                break


def _unknown_values(table: Table) -> Iterator[tuple[str, Any, Any]]:
    """Section ("" for the top level), name and value of what is no key."""
    for name, value in table.values.items():
        section = sections().get(name) if isinstance(name, str) else None
        if section is None:
            if not isinstance(name, str) or name not in _top_names():
                yield "", name, value
        elif isinstance(value, Mapping):
            for inner, inner_value in value.items():
                if not isinstance(inner, str) or inner not in _nested_names(section):
                    yield name, inner, inner_value


def _warning(section: str, name: Any, value: Any, where: str) -> ConfigurationWarning:
    if not isinstance(name, str):
        told = f"{section}.{shown(name)}" if section else shown(name)
        return ConfigurationWarning(told, "", None, WarningKind.UNKNOWN_KEY, where=where)
    full = f"{section}.{name}" if section else name
    # A text under a name that nobody knows may be anything, a secret too.
    given = "a text" if isinstance(value, str) else shown(value)
    if name in NOT_USED.get(sections().get(section, ""), ()):
        hint = "a key of the Signet pipeline"
        return ConfigurationWarning(printable(full), given, None, WarningKind.NOT_USED, hint, where)
    near = near_name(name, sections().get(section, ""))
    hint = f"did you mean {near}?" if near else ""
    return ConfigurationWarning(printable(full), given, None, WarningKind.UNKNOWN_KEY, hint, where)


def near_name(name: str, section: str = "") -> str:
    """The told name of the key or section most like an unknown one, "" for none alike.

    The same letters in another spelling or place go before what is only alike, and its own section before others.
    """
    from rapidfuzz import process

    folded = _folded(name[:_LONGEST_NAME])
    own, others = _near_choices(section)
    for choices, cutoff in ((own, 100), (others, 100), (own, 70), (others, 75)):
        best = process.extractOne(folded, choices, score_cutoff=cutoff)
        if best:
            return best[2]
    return ""


@cache
def _near_choices(section: str) -> tuple[dict[str, str], dict[str, str]]:
    """Folded spellings by told name: those of the section (and for the top level flat names), and all others."""
    own = {key.name: _folded(key.nested[0]) for key in all_keys() if key.section == section}
    others = {key.name: _folded(key.nested[0]) for key in all_keys() if key.section != section}
    if not section:
        own |= {name: _folded(name) for key in all_keys() for name in key.flat[::2]}
        own |= {name: _folded(name) for name in sections() if snake_case(name) != name or "_" not in name}
    return own, others


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


@cache
def _top_names() -> frozenset[str]:
    return frozenset(
        name for key in all_keys() for name in (key.flat if key.section else key.nested)
    ) | frozenset(sections())


@cache
def _nested_names(section: str) -> frozenset[str]:
    return frozenset(name for key in all_keys() if key.section == section for name in key.nested)
