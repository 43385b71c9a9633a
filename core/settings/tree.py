"""All settings as one tree: each by name, with what it may be, and a given value made to fit it or refused.

Settings are told in snake case: "search.vector_weight", and of the table [pipeline] without its name, "worker.poll_ms".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from core.errors import InvalidInputError
from core.settings.sections import Settings
from core.settings.warnings import WarningKind

Tree = type[msgspec.Struct]
"""`Settings`, or `PipelineConfiguration` for the table [pipeline]."""
_Whole = TypeVar("_Whole", bound=msgspec.Struct)

LONGEST_TEXT: Final = 500
# Seconds of a unit in which lengths of time are written, and the shortest and longest that there may be.
_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_INTERVAL: Final = re.compile(r"([0-9]{1,9})\s?([a-z]+)", re.IGNORECASE)
_SHORTEST, _LONGEST = 10, 7 * 86_400


class Setting(NamedTuple):
    """One setting, as its definition says. type: with all that bounds it; metas: these bounds, and its title."""

    name: str
    type: Any
    default: Any
    metas: tuple[Meta, ...]

    def _said(self, what: str) -> Any:
        return next((said for meta in self.metas if (said := getattr(meta, what)) is not None), None)

    @property
    def section(self) -> str:
        """The attribute that its section is; "" for the top level."""
        return self.name.rpartition(".")[0]

    @property
    def field(self) -> str:
        """The attribute of its section that it is."""
        return self.name.rpartition(".")[2]

    @property
    def title(self) -> str:
        """What people read of it where settings are listed; "" for the pipeline's."""
        return self._said("title") or ""

    @property
    def form(self) -> str:
        """What more it must be than its type: "address", "interval", "days"; "" for nothing."""
        return str((self._said("extra") or {}).get("form", ""))

    @property
    def low(self) -> Any:
        """The least that it may be, or what it must be above; -inf for no bound and for what is no number."""
        low = self._said("ge") if self._said("ge") is not None else self._said("gt")
        return -math.inf if low is None else low

    @property
    def high(self) -> Any:
        """The most that it may be."""
        return math.inf if self._said("le") is None else self._said("le")

    @property
    def choices(self) -> tuple[str, ...]:
        """What it may be, where it is one of a few words."""
        base = get_args(self.type)[0] if hasattr(self.type, "__metadata__") else self.type
        return get_args(base) if get_args(base) and isinstance(get_args(base)[0], str) else ()

    @property
    def allowed(self) -> str:
        """What it may be, in words such as "from 0 to 1"; "" where there is no more to say than its type."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.form == "interval":
            return 'a time such as "10m" or "2h", from 10s to 7d, or "" for never'
        if self.form == "address":
            return "an address such as http://localhost:11434"
        if isinstance(self.default, tuple):
            return "a list of strings, none of them empty"
        if self.low == -math.inf:
            return "true or false" if isinstance(self.default, bool) else ""
        low, high, above = plain_number(self.low), plain_number(self.high), self._said("gt") is not None
        if self.high == math.inf:
            return f"above {low}" if above else f"{low} or more"
        return f"above {low} and at most {high}" if above else f"from {low} to {high}"


def seconds_of(text: str) -> float | None:
    """The seconds of a length of time such as "90s", "10m", "2h" or "1d"; None for another text."""
    found = _INTERVAL.fullmatch(text.strip())
    unit = _UNITS.get(found[2].lower()) if found else None
    return None if found is None or unit is None else float(int(found[1]) * unit)


def plain_number(number: float) -> str:
    """A number as people write it: 1,000,000 and 0.5, never 1e+06."""
    return f"{number:,.15g}"


# Walking the tree


@cache
def all_settings(tree: Tree = Settings) -> tuple[Setting, ...]:
    """The settings in the order in which they are defined."""
    found: list[Setting] = []
    for outer in msgspec.structs.fields(tree):
        if isinstance(outer.default, msgspec.Struct):
            inner = msgspec.structs.fields(outer.default)
            found += [_setting(f"{outer.name}.{one.name}", one.type, one.default) for one in inner]
        elif not isinstance(outer.default, tuple):
            found.append(_setting(outer.name, outer.type, outer.default))
    return tuple(found)


def _setting(name: str, type: Any, default: Any) -> Setting:
    metas = tuple(meta for meta in getattr(type, "__metadata__", ()) if isinstance(meta, Meta))
    return Setting(name, type, default, metas)


@cache
def settings_by_name(tree: Tree = Settings) -> Mapping[str, Setting]:
    """Each setting by its name."""
    return {one.name: one for one in all_settings(tree)}


@cache
def sections(tree: Tree = Settings) -> frozenset[str]:
    """The attribute names of the sections."""
    return frozenset(one.section for one in all_settings(tree)) - {""}


def value_of(whole: msgspec.Struct, name: str) -> Any:
    """The value of a setting by name."""
    section, _, field = name.rpartition(".")
    return getattr(getattr(whole, section) if section else whole, field)


def with_values(whole: _Whole, values: Mapping[str, Any]) -> _Whole:
    """The settings with other values, by name, each of which must be one that its setting can have."""
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, field = name.rpartition(".")
        parts.setdefault(section, {})[field] = value
    top = parts.pop("", {})
    return replace(
        whole, **top, **{name: replace(getattr(whole, name), **part) for name, part in parts.items()}
    )


def setting_values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Each setting by name, with its value."""
    return ((one.name, value_of(settings, one.name)) for one in all_settings())


# One value


class Fitted(NamedTuple):
    """A value that a setting can have, or None; why it is not the given one, and what would be allowed."""

    value: Any
    why: WarningKind | None = None
    hint: str = ""


def fitted(setting: Setting, given: Any, *, clamps: bool = False) -> Fitted:
    """The given value in the type of the setting. Never raises; no type is made into another.

    clamps: whether the nearest number counts for one out of range or between two whole ones; else none does. A number
    of days never becomes more than none: 0 may be meant for ever.
    """
    if given is None:
        return Fitted(None, WarningKind.NO_VALUE)
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if number and isinstance(given, float) and not math.isfinite(given):
        return Fitted(None, WarningKind.NOT_FINITE, setting.allowed)
    try:
        value = msgspec.convert(given, setting.type)
    except (msgspec.ValidationError, RecursionError):
        pass
    else:
        return _text(setting, value) if isinstance(value, str) else Fitted(value)
    if number and type(setting.default) in (int, float):
        why = WarningKind.OUT_OF_RANGE
        near = min(max(given, setting.low), setting.high)
        if near == given and isinstance(setting.default, int):
            why = WarningKind.ROUNDED
        if not clamps or (setting.form == "days" and near != given and near == setting.low):
            return Fitted(None, why, setting.allowed)
        if isinstance(setting.default, int):
            near = math.floor(near + 0.5)
        return Fitted(type(setting.default)(near), None if near == given else why, setting.allowed)
    if isinstance(given, str) and isinstance(setting.default, str):
        why = WarningKind.UNKNOWN_CHOICE if setting.choices else WarningKind.UNFIT_TEXT
        return Fitted(None, why, setting.allowed + _meant_choice(given, setting.choices))
    return Fitted(None, WarningKind.WRONG_TYPE, setting.allowed)


def _text(setting: Setting, value: str) -> Fitted:
    if len(value) > LONGEST_TEXT or not value.isprintable():
        return Fitted(
            None, WarningKind.UNFIT_TEXT, f"at most {LONGEST_TEXT} printable characters, on one line"
        )
    text = value.strip()
    if setting.form == "address" and text:
        text = web_address(text)
    elif setting.form == "address" and setting.default:
        # Where no address is the default, another setting says it.
        return Fitted(None, WarningKind.NO_VALUE)
    elif setting.form == "interval" and text:
        text = text if _SHORTEST <= (seconds_of(text) or 0) <= _LONGEST else ""
    if value.strip() and not text:
        return Fitted(None, WarningKind.UNFIT_TEXT, setting.allowed)
    return Fitted(text)


def _meant_choice(given: str, choices: tuple[str, ...]) -> str:
    from rapidfuzz import process

    near = process.extractOne(given[:LONGEST_TEXT].lower(), choices, score_cutoff=60)
    return f"; did you mean {near[0]}?" if near else ""


def web_address(text: str) -> str:
    """The address without a slash at its end, or "" for what is no http or https address."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        return ""
    return text.rstrip("/") if usable and not any(letter.isspace() for letter in text) else ""


def checked_setting(name: str, value: Any) -> Any:
    """A value for the setting "table.name" in the type that this has. Raises InvalidInputError for one that it cannot
    have, and for no setting.
    """
    setting = settings_by_name().get(name)
    if setting is None:
        raise InvalidInputError("no such setting", where=name, kept="no file was changed")
    fit = fitted(setting, value)
    if fit.value is None:
        must = setting.allowed or f"a value like {setting.default!r}"
        raise InvalidInputError(f"must be {must}", where=name, kept="no file was changed")
    return fit.value


# Names that mean nothing here

_LONGEST_NAME: Final = 80
# A letter or two stand in half of the names.
_SHORTEST_MEANT: Final = 3


def near_name(name: str, section: str, tree: Tree = Settings) -> str:
    """The name of the setting or section most like an unknown one, "" for none alike; of its own section first."""
    from rapidfuzz import process

    folded = _folded(name[:_LONGEST_NAME])
    names = _folded_names(tree)
    own = {one: fold for one, fold in names.items() if one.rpartition(".")[0] == section}
    least = (100, 100) if len(folded) < _SHORTEST_MEANT else (70, 75)
    for choices, cutoff in ((own, 100), (names, 100), (own, least[0]), (names, least[1])):
        best = process.extractOne(folded, choices, score_cutoff=cutoff)
        if best:
            return str(best[2])
    return ""


@cache
def _folded_names(tree: Tree) -> dict[str, str]:
    return {one.name: _folded(one.field) for one in all_settings(tree)} | {
        one: _folded(one) for one in sections(tree)
    }


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
