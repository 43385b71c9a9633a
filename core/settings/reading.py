"""Values as files give them, to settings that can be used and a warning for each that was not taken as it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from core.settings.tree import Setting, Tree, fitted, near_name, sections, settings_by_name, value_of
from core.settings.warnings import ConfigurationWarning, WarningKind, printable, shown

# A file of another kind given by mistake would otherwise fill the screen.
MOST_UNKNOWN: Final = 30


class Given(NamedTuple):
    """A value as a file gives it. name: of its setting or section, or of what is none. spelt: the same as it stands
    there. place: of the table in which it stands, from the one that counts first. where: the file. table: its name in
    the file, "" for all of it. original: whether the table is the Signet pipeline's own. users: whether the file is the
    user's own.
    """

    name: str
    spelt: str
    value: Any
    where: str
    place: int = 0
    table: str = ""
    original: bool = False
    users: bool = True

    def warning(
        self, name: str, used: Any, why: WarningKind, hint: str = "", *, hidden: bool = False
    ) -> ConfigurationWarning:
        """What is told of it. hidden: where its text may be a secret."""
        given = (
            "a text" if isinstance(self.value, str) and (hidden or "@" in self.value) else shown(self.value)
        )
        told = used if isinstance(used, bool | int | float | str) else None
        return ConfigurationWarning(name, given, told, why, hint, self.where, self.table)


class Reading(NamedTuple):
    """values: by name, of the settings that are given and not their own. taken: names of those of which a given value
    counts.
    """

    values: dict[str, Any]
    taken: set[str]
    warnings: list[ConfigurationWarning]


def given_in(
    table: Mapping[Any, Any], tree: Tree, more: Given, known: Callable[[str], str] = str
) -> Iterator[Given]:
    """All that a table gives. more: the file and the table's place, for each. known: a name as the tree has it."""
    for spelt, value in table.items():
        name = known(spelt) if isinstance(spelt, str) else shown(spelt)
        if name not in sections(tree):
            yield more._replace(name=name, spelt=str(spelt), value=value)
        elif isinstance(value, Mapping):
            for inner, inside in value.items():
                full = known(f"{name}.{inner}") if isinstance(inner, str) else f"{name}.{shown(inner)}"
                yield more._replace(name=full, spelt=f"{spelt}.{inner}", value=inside)
        elif value is not None:
            yield more._replace(name=name, spelt=spelt, value=value)


def read(
    tree: Tree,
    given: Iterable[Given],
    fallback: msgspec.Struct,
    guards: Mapping[str, object],
    *,
    clamps: bool = False,
) -> Reading:
    """The settings that files give; of several values for one the first that can be used counts. Never raises.

    fallback: what counts where none can. guards: what counts where the value or the name of a guard cannot be read.
    clamps: see `fitted`.
    """
    by_name: dict[str, list[Given]] = {}
    for one in given:
        by_name.setdefault(one.name, []).append(one)
    reading = Reading({}, set(), [])
    known = settings_by_name(tree)
    for setting in known.values():
        if found := by_name.pop(setting.name, None):
            _choose(setting, found, reading, value_of(fallback, setting.name), guards, clamps)
    strangers = [one for found in by_name.values() for one in found]
    for number, one in enumerate(strangers):
        strict = _meant_guards(one, tree, guards)
        whole = [name for name, setting in known.items() if setting.section == one.name != ""]
        reading.values.update({name: value_of(fallback, name) for name in whole} | strict)
        if number < MOST_UNKNOWN:
            reading.warnings.append(_stranger(one, tree))
        reading.warnings.extend(
            one.warning(name, used, WarningKind.GUARDED, f"{printable(one.spelt)} may mean it", hidden=True)
            for name, used in strict.items()
        )
    if len(strangers) > MOST_UNKNOWN:
        told = f"and {len(strangers) - MOST_UNKNOWN} more"
        hint = "only the first are listed"
        last = ConfigurationWarning(told, "", None, WarningKind.UNKNOWN_KEY, hint, strangers[0].where)
        reading.warnings.append(last)
    return reading


def _choose(
    setting: Setting,
    found: list[Given],
    reading: Reading,
    value: Any,
    guards: Mapping[str, object],
    clamps: bool,
) -> None:
    """Puts into the reading what counts of the values given for one setting, and what is told of them."""
    first: Given | None = None
    told: list[tuple[Given, WarningKind, str]] = []
    # In one table the setting's own name goes before one of the top level that means the same.
    for one in sorted(found, key=lambda one: (one.place, "." not in one.spelt)):
        fit = fitted(setting, one.value, clamps=clamps)
        if first is None:
            if fit.why is not None:
                told.append((one, fit.why, fit.hint))
            if fit.value is not None:
                first, value = one, fit.value
            elif setting.name in guards:
                first, value = one, guards[setting.name]
        elif one.place == first.place and fit.value is not None and fit.value != value:
            told.append((one, WarningKind.OVERRIDDEN, f"as {first.spelt} and {one.spelt}"))
    reading.values[setting.name] = value
    if first is not None:
        reading.taken.add(setting.name)
    reading.warnings.extend(one.warning(setting.name, value, why, hint) for one, why, hint in told)


def _meant_guards(one: Given, tree: Tree, guards: Mapping[str, object]) -> dict[str, object]:
    """The guards that a mistyped name may mean, or a section that is no table holds, with their strict values."""
    if one.original:
        return {}
    section, _, inner = one.name.rpartition(".")
    near = one.name if one.name in sections(tree) else near_name(inner, section, tree)
    if section and not near.startswith(f"{section}."):
        return {}
    return {
        name: strict
        for name, strict in guards.items()
        if near and (name == near or name.startswith(f"{near}."))
    }


def _stranger(one: Given, tree: Tree) -> ConfigurationWarning:
    """The warning for what is no setting."""
    if one.name in sections(tree):
        return one.warning(one.name, None, WarningKind.WRONG_TYPE, "a table")
    name, (section, _, inner) = printable(one.spelt), one.name.rpartition(".")
    if one.original:
        # Its own pipeline knows more settings than this one.
        return one.warning(name, None, WarningKind.NOT_USED, hidden=True)
    near = near_name(inner, section, tree)
    full = f"{one.table}.{near}" if one.table else near
    # A text under a name that nobody knows may be anything, a secret too.
    return one.warning(
        name, None, WarningKind.UNKNOWN_KEY, f"did you mean {full}?" if near else "", hidden=True
    )
