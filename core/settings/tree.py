"""All settings as one tree: each by name, with how files may spell it, and the one table of names that mean nothing.

Settings are told in snake case: "search.vector_weight", and of the table [pipeline] without its name, "worker.poll_ms".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from core.settings.sections import Also, Own, Reserved, Settings, TimeSpan, Words
from core.settings.warnings import ConfigurationWarning, WarningKind, printable, shown

Kind = Literal["switch", "integer", "number", "choice", "text", "list"]
Tree = type[msgspec.Struct]
"""`Settings`, or `PipelineConfiguration` for the table [pipeline]."""


class Setting(NamedTuple):
    """One setting, as its definition says. `section` and `field` are attribute names, section "" for the top level.

    low, high: inclusive, for numbers; above: greater than `low`, which itself is too low. choices: of a choice. nested:
    its names within the section. flat: legacy names on the top level. reserved: it is accepted
    and does nothing. own: whether it counts in the user's own settings alone. span: of a text that is a length of time.
    """

    name: str
    section: str
    field: str
    kind: Kind
    default: Any
    words: Words
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    choices: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    reserved: bool = False
    own: bool = False
    span: TimeSpan | None = None

    @property
    def reference(self) -> str:
        """Its name as the Signet pipeline tells it: "worker.pollMs"."""
        return camel_case(self.name)

    def holds(self, value: Any) -> bool:
        """Whether a value of the right type is one that the setting can have; a number that is not finite never is."""
        if self.kind == "choice":
            return value in self.choices
        if self.span is not None:
            seconds = seconds_of(value)
            return not value or (seconds is not None and self.span.shortest <= seconds <= self.span.longest)
        if self.kind not in ("integer", "number"):
            return True
        return (
            math.isfinite(value) and self.low <= value <= self.high and not (self.above and value == self.low)
        )

    @property
    def allowed(self) -> str:
        """What it may be, in words such as "from 0 to 1"; "" where there is no more to say than its type."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.span is not None:
            low, high = map(_written, self.span)
            return f'a time such as "10m" or "2h", from {low} to {high}, or "" for never'
        if self.low == -math.inf:
            return ""
        low, high = plain_number(self.low), plain_number(self.high)
        if self.high == math.inf:
            return f"above {low}" if self.above else f"{low} or more"
        return f"above {low} and at most {high}" if self.above else f"from {low} to {high}"


# Seconds of a unit in which lengths of time are written.
_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_SPAN: Final = re.compile(r"([0-9]{1,9})\s?([a-z]+)", re.IGNORECASE)


def seconds_of(text: str) -> float | None:
    """The seconds of a length of time such as "90s", "10m", "2h" or "1d"; None for another text."""
    found = _SPAN.fullmatch(text.strip())
    unit = _UNITS.get(found[2].lower()) if found else None
    return None if found is None or unit is None else float(int(found[1]) * unit)


def _written(seconds: float) -> str:
    """Seconds in the largest unit of which they are a multiple."""
    unit = max((unit for unit in ("s", "m", "h", "d") if seconds % _UNITS[unit] == 0), key=_UNITS.__getitem__)
    return f"{int(seconds // _UNITS[unit])}{unit}"


def plain_number(number: float) -> str:
    """A number as people write it: 1,000,000 and 0.5, never 1e+06."""
    return f"{number:,.15g}"


def setting_values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Each setting by name, with its value."""
    for one in all_settings():
        yield one.name, getattr(getattr(settings, one.section), one.field)


# Walking the tree


@cache
def all_settings(tree: Tree = Settings) -> tuple[Setting, ...]:
    """The settings in the order in which they are defined."""
    found: list[Setting] = []
    for field, hint, default in _fields(tree):
        base, marks = _unwrapped(hint)
        if isinstance(default, msgspec.Struct):
            of_section = tuple(mark for mark in marks if isinstance(mark, Reserved))
            found += [_setting(*inner, section=field, of_section=of_section) for inner in _fields(base)]
        elif marks:
            found.append(_setting(field, hint, default))
    return tuple(found)


def setting_named(name: str, tree: Tree = Settings) -> Setting:
    """The setting of a name, or of the Signet pipeline's name for it. Raises KeyError for none."""
    return _by_name(tree)[name]


@cache
def _by_name(tree: Tree) -> dict[str, Setting]:
    settings = all_settings(tree)
    return {one.reference: one for one in settings} | {one.name: one for one in settings}


@cache
def sections(tree: Tree = Settings) -> dict[str, str]:
    """Attribute name of each section by each name it goes by."""
    names = [field for field, _, default in _fields(tree) if isinstance(default, msgspec.Struct)]
    return {spelt: name for name in names for spelt in (camel_case(name), name)}


def _fields(part: type[msgspec.Struct]) -> Iterator[tuple[str, Any, Any]]:
    """Name, annotation and default of each field."""
    hints = get_type_hints(part, include_extras=True)
    return ((field, hints[field], getattr(part(), field)) for field in part.__struct_fields__)


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type, and what is said of it."""
    return (get_args(hint)[0], hint.__metadata__) if hasattr(hint, "__metadata__") else (hint, ())


def _has(marks: tuple[Any, ...], kind: type) -> bool:
    return any(isinstance(mark, kind) for mark in marks)


def _setting(
    field: str, hint: Any, default: Any, section: str = "", of_section: tuple[Reserved, ...] = ()
) -> Setting:
    base, marks = _unwrapped(hint)
    marks += of_section
    words, also = Words(""), Also()
    low, high, above = -math.inf, math.inf, False
    for mark in marks:
        if isinstance(mark, Words):
            words = mark
        elif isinstance(mark, Also):
            also = mark
        elif isinstance(mark, Meta):
            above = mark.gt is not None
            low = next((bound for bound in (mark.ge, mark.gt) if bound is not None), low)
            high = high if mark.le is None else mark.le
    camel = camel_case(field)
    return Setting(
        name=f"{section}.{field}" if section else field,
        section=section,
        field=field,
        kind=_kind(base),
        default=default,
        words=words,
        low=low,
        high=high,
        above=above,
        choices=tuple(map(str, get_args(base))) if get_origin(base) is Literal else (),
        nested=tuple(dict.fromkeys((camel, field, *also.nested))),
        flat=tuple(spelt for name in also.flat for spelt in (name, snake_case(name))),
        reserved=_has(marks, Reserved),
        own=_has(marks, Own),
        span=next((mark for mark in marks if isinstance(mark, TimeSpan)), None),
    )


def _kind(base: Any) -> Kind:
    if get_origin(base) is Literal:
        return "choice"
    if get_origin(base) is tuple:
        return "list"
    kinds: dict[Any, Kind] = {bool: "switch", int: "integer", float: "number", str: "text"}
    return kinds[base]


def snake_case(camel: str) -> str:
    """`chunkTargetChars` as `chunk_target_chars`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)


def camel_case(snake: str) -> str:
    """`chunk_target_chars` as `chunkTargetChars`."""
    head, *rest = snake.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


# Names that mean nothing here

# A file of another kind submitted by mistake would otherwise fill the screen.
MOST_UNKNOWN: Final = 30
_LONGEST_NAME: Final = 80
_SHORTEST_MEANT: Final = 3
# Tables of settings.toml that are no sections: what each is for, its reader knows.
_OTHER_TABLES: Final = ("keys", "pipeline", "memory")
# What a section holds beside its settings.
_INNER_TABLES: Final[Mapping[str, tuple[str, ...]]] = {"search": ("words",)}
NOT_USED: Final[dict[str, tuple[str, ...]]] = {
    "": (
        "paused", "nativeShadowEnabled", "allowRemoteProviders", "traversal", "subagents", "synthesis",
        "procedural", "dependencySynthesis", "significance", "writeGate", "modelRegistry", "reflections",
        "extractionStrength", "extractionCommand", "workerMaxLoadPerCpu", "workerOverloadBackoffMs",
        "graphExtractionWritesEnabled", "rerankerUseExtractionModel", "writeGateEnabled",
        "writeGateThreshold", "writeGateContinuityDiscount"
    ),
    "extraction": (
        "strength", "command", "escalation", "rateLimit", "structuredOutput", "allowRemoteProviders"
    ),
    "worker": ("maxLoadPerCpu", "overloadBackoffMs", "threadedExtraction"),
    "graph": ("extractionWritesEnabled",),
    "reranker": ("useExtractionModel",),
    "guardrails": ("contextBudgetChars",),
    "telemetry": ("memorySearchQaEnabled",),
    "structural": (
        "enabled", "dependencyBatchSize", "synthesisEnabled", "synthesisIntervalMs", "synthesisTopEntities",
        "synthesisMaxFacts", "synthesisMaxStallMs", "supersessionEnabled", "supersessionSweepEnabled",
        "supersessionSemanticFallback", "supersessionMinConfidence"
    ),
    "hints": ("maxTokens",),
    "search": (
        "topK", "top_k", "rehearsal_enabled", "rehearsal_weight", "rehearsal_half_life_days"
    ),
}  # fmt: skip


def unknown_settings(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Tables and keys of a settings.toml that name no setting, as `table` or `table.key`; [pipeline] has its own."""
    known = sections()
    found: list[str] = []
    for name, given in table.items():
        if name in _OTHER_TABLES:
            continue
        if name not in known or not isinstance(given, dict):
            found.append(name)
            continue
        own = (*_INNER_TABLES.get(name, ()), *(one.field for one in all_settings() if one.section == name))
        found.extend(f"{name}.{inner}" for inner in given if inner not in own)
    return tuple(sorted(found))


def unknown_setting(name: str, where: str) -> ConfigurationWarning:
    """The warning for such a name."""
    section, _, inner = name.rpartition(".")
    near = near_name(inner, section)
    return ConfigurationWarning(printable(name), "", None, WarningKind.UNKNOWN_KEY, _meant(near), where)


def unknown_keys(
    tree: Tree, table: Mapping[Any, Any], where: str, path: str
) -> Iterator[ConfigurationWarning]:
    """A warning for each name in the pipeline's table that is no key, with the nearest that is; for sections that are
    no tables too. path: of the table in the file.
    """
    strangers = list(_strangers(tree, table))
    yield from (_stranger(tree, *stranger, where, path) for stranger in strangers[:MOST_UNKNOWN])
    if len(strangers) > MOST_UNKNOWN:
        more = f"and {len(strangers) - MOST_UNKNOWN} more"
        yield ConfigurationWarning(
            more, "", None, WarningKind.UNKNOWN_KEY, "only the first are listed", where
        )
    for name, value in table.items():
        if isinstance(name, str) and name in sections(tree) and not isinstance(value, Mapping | None):
            yield ConfigurationWarning(
                name, shown(value), None, WarningKind.WRONG_TYPE, "must be a table", where, path
            )


def _strangers(tree: Tree, table: Mapping[Any, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Section ("" for the top level), name and value of what is no key."""
    for name, value in table.items():
        section = sections(tree).get(name) if isinstance(name, str) else None
        if section is None:
            if not isinstance(name, str) or name not in _top_names(tree):
                yield "", name, value
        elif isinstance(value, Mapping):
            for inner, inner_value in value.items():
                if not isinstance(inner, str) or inner not in _nested_names(tree, section):
                    yield name, inner, inner_value


def _stranger(tree: Tree, section: str, name: Any, value: Any, where: str, path: str) -> ConfigurationWarning:
    if not isinstance(name, str):
        told = f"{section}.{shown(name)}" if section else shown(name)
        return ConfigurationWarning(told, "", None, WarningKind.UNKNOWN_KEY, where=where, table=path)
    full = f"{section}.{name}" if section else name
    # A text under a name that nobody knows may be anything, a secret too.
    given = "a text" if isinstance(value, str) else shown(value)
    own = sections(tree).get(section, "")
    if name in NOT_USED.get(own, ()):
        hint = "a key of the Signet pipeline"
        return ConfigurationWarning(printable(full), given, None, WarningKind.NOT_USED, hint, where, path)
    near = near_name(name, own, tree)
    hint = _meant(f"{path}.{near}" if near else "")
    return ConfigurationWarning(printable(full), given, None, WarningKind.UNKNOWN_KEY, hint, where, path)


def _meant(near: str) -> str:
    return f"did you mean {near}?" if near else ""


def near_name(name: str, section: str, tree: Tree = Settings) -> str:
    """The name of the setting or section most like an unknown one, "" for none alike.

    The same letters in another spelling or place go before what is only alike, and its own section before others.
    """
    from rapidfuzz import process

    folded = _folded(name[:_LONGEST_NAME])
    own, others = _near_choices(section, tree)
    cutoffs = ((own, 100), (others, 100), (own, 70), (others, 75))
    # A letter or two stand in half of the names.
    for choices, cutoff in cutoffs if len(folded) >= _SHORTEST_MEANT else cutoffs[:2]:
        best = process.extractOne(folded, choices, score_cutoff=cutoff)
        if best:
            return best[2]
    return ""


@cache
def _near_choices(section: str, tree: Tree) -> tuple[dict[str, str], dict[str, str]]:
    """Folded spellings by told name: those of the section (and for the top level flat names), and all others."""
    own = {one.name: _folded(one.field) for one in all_settings(tree) if one.section == section}
    others = {one.name: _folded(one.field) for one in all_settings(tree) if one.section != section}
    if not section:
        own |= {name: _folded(name) for one in all_settings(tree) for name in one.flat[1::2]}
        own |= {name: _folded(name) for name in sections(tree).values()}
    return own, others


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


@cache
def _top_names(tree: Tree) -> frozenset[str]:
    named = (name for one in all_settings(tree) for name in (one.flat if one.section else one.nested))
    return frozenset(named) | frozenset(sections(tree))


@cache
def _nested_names(tree: Tree, section: str) -> frozenset[str]:
    return frozenset(name for one in all_settings(tree) if one.section == section for name in one.nested)
