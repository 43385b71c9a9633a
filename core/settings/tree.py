"""All settings as one tree: each by name, with what it may be, and whether a given value is one that it can have.

Settings are told in snake case, with their tables: "search.vector_weight", "pipeline.worker.poll_ms".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from typing import Any, Final, NamedTuple, TypeVar, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from core.errors import InvalidInputError
from core.settings.sections import FREE, LONGEST_TEXT, Settings

_Whole = TypeVar("_Whole", bound=msgspec.Struct)

# Seconds of a unit in which lengths of time are written, and the shortest and longest that there may be.
_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_INTERVAL: Final = re.compile(r"([0-9]{1,9})\s?([a-z]+)", re.IGNORECASE)
_SHORTEST, _LONGEST = 10, 7 * 86_400


class Setting(NamedTuple):
    """One setting, as its definition says. type: with all that bounds it. title: what people read of it where settings
    are listed, "" for the pipeline's. form: what more it must be than its type, "address", "interval" or "days". low,
    high: the least and the most that it may be, ±inf for no bound and for what is no number; above: whether `low`
    itself is too little.
    """

    name: str
    type: Any
    default: Any
    title: str = ""
    form: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: bool = False

    @property
    def field(self) -> str:
        """Its name in its table."""
        return self.name.rpartition(".")[2]

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
        low, high = plain_number(self.low), plain_number(self.high)
        if self.high == math.inf:
            return f"above {low}" if self.above else f"{low} or more"
        return f"above {low} and at most {high}" if self.above else f"from {low} to {high}"


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
def settings_by_name() -> Mapping[str, Setting]:
    """Each setting by its name, in the order in which they are defined."""
    return {one.name: one for one in _settings_of(Settings(), "")}


def _settings_of(part: msgspec.Struct, prefix: str) -> Iterator[Setting]:
    for field in msgspec.structs.fields(part):
        name, more = prefix + field.name, dict[str, Any]()
        if isinstance(field.default, msgspec.Struct):
            yield from _settings_of(field.default, f"{name}.")
        elif name not in FREE:
            for meta in (one for one in getattr(field.type, "__metadata__", ()) if isinstance(one, Meta)):
                low, above = (meta.gt, True) if meta.gt is not None else (meta.ge, None)
                said = {
                    "title": meta.title, "low": low, "high": meta.le, "above": above, **(meta.extra or {}),
                }  # fmt: skip
                more |= {what: value for what, value in said.items() if value is not None}
            yield Setting(name, field.type, field.default, **more)


@cache
def sections() -> frozenset[str]:
    """The names of the tables."""
    return frozenset(name.rpartition(".")[0] for name in settings_by_name()) - {""}


def value_of(whole: msgspec.Struct, name: str) -> Any:
    """The value of a setting by name."""
    return reduce(getattr, name.split("."), whole)


def with_values(whole: _Whole, values: Mapping[str, Any]) -> _Whole:
    """The settings with other values, by name, each of which must be one that its setting can have."""
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        head, _, rest = name.partition(".")
        parts.setdefault(head, {})[rest] = value
    changed = {
        head: part[""] if "" in part else with_values(getattr(whole, head), part)
        for head, part in parts.items()
    }
    return replace(whole, **changed)


# One value


def usable(setting: Setting, given: Any) -> Any:
    """The given value in the type of the setting, None for one that it cannot have: out of range, of another type, no
    finite number, more than one line of text. Never raises; no type is made into another.
    """
    try:
        value = msgspec.convert(given, setting.type)
    except (msgspec.ValidationError, RecursionError):
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, str):
        return value
    if len(value) > LONGEST_TEXT or not value.isprintable():
        return None
    text = value.strip()
    if setting.form == "address":
        # "" leaves it to another setting, where that is the default.
        return web_address(text) or (None if text or setting.default else "")
    if setting.form == "interval" and text:
        return text if _SHORTEST <= (seconds_of(text) or 0) <= _LONGEST else None
    return text


def web_address(text: str) -> str:
    """The address without a slash at its end, or "" for what is no http or https address."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        return ""
    return text.rstrip("/") if known and not any(letter.isspace() for letter in text) else ""


def checked_setting(name: str, value: Any) -> Any:
    """A value for the setting "table.name" in the type that this has. Raises InvalidInputError for one that it cannot
    have, and for no setting.
    """
    setting = settings_by_name().get(name)
    if setting is None:
        raise InvalidInputError("no such setting", where=name, kept="no file was changed")
    found = usable(setting, value)
    if found is None:
        must = setting.allowed or f"a value like {setting.default!r}"
        raise InvalidInputError(f"must be {must}", where=name, kept="no file was changed")
    return found


# Names that mean nothing here

_LONGEST_NAME: Final = 80
# A letter or two stand in half of the names.
_SHORTEST_MEANT: Final = 3


def near_name(name: str) -> str:
    """The name of the setting or table most like an unknown one, "" for none alike; of its own table first."""
    from rapidfuzz import process

    section, _, inner = name.rpartition(".")
    folded, names = _folded(inner[:_LONGEST_NAME]), _folded_names()
    own = {one: fold for one, fold in names.items() if one.rpartition(".")[0] == section}
    least = (100, 100) if len(folded) < _SHORTEST_MEANT else (70, 75)
    for choices, cutoff in ((own, 100), (names, 100), (own, least[0]), (names, least[1])):
        if best := process.extractOne(folded, choices, score_cutoff=cutoff):
            return str(best[2])
    return ""


@cache
def _folded_names() -> dict[str, str]:
    return {one: _folded(one.rpartition(".")[2]) for one in (*settings_by_name(), *sections())}


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
