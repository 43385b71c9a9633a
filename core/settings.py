"""Settings of one memory: documented defaults, then settings.toml in the folder, then the environment."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from core.errors import ErrorCode, InvalidInputError

SETTINGS_FILE: Final = "settings.toml"

# Words, each with those that mean the same.
Synonyms = tuple[tuple[str, tuple[str, ...]], ...]

_Part = TypeVar("_Part", bound=msgspec.Struct)


class SearchSettings(msgspec.Struct, frozen=True):
    """Weights of the blend and what bounds it; a weight of 0 switches a part off.

    associative_weight: of the likeness to the best hits. link_weight: of the blend of the best linked note.
    pair_weight: of pairs of neighbouring words in the vector score. meaning_weight: of words that mean nearly what a
    typed one does, beside the word itself. relevance_floor: share of a query that a note must cover to stand above
    the line; below it is what is less likely. dimension: phases of a search vector.
    """

    vector_weight: float = 0.42
    text_weight: float = 0.48
    durable_boost: float = 0.05
    own_boost: float = 0.03
    confidence_boost: float = 0.05
    associative_weight: float = 0.21
    link_weight: float = 0.06
    pair_weight: float = 1.0
    meaning_weight: float = 0.7
    relevance_floor: float = 0.15
    temperature: float = 0.35
    softmax_over: int = 20
    dimension: int = 16384


class ReflectionSettings(msgspec.Struct, frozen=True):
    """Limits of a reflection pass. `hour` and `minute`: when the daily pass is due, local time.

    max_notes: notes a pass changes at most. jaccard: share of common words that makes two notes duplicates.
    shared_tokens: words two notes must share to be linked. wanted_links: notes with fewer get links.
    max_links: links that reflection makes on one note at most. often_recalled: from so many recalls on a note
    is never archived. derived_tags: tags that a note gets from what it says, nugget, scope and type included.
    max_archived, max_merged: notes that one run archives, and merges away, at most; the rest waits for the next.
    """

    hour: int = 9
    minute: int = 0
    max_notes: int = 10
    jaccard: float = 0.9
    shared_tokens: int = 2
    wanted_links: int = 2
    max_links: int = 8
    often_recalled: int = 3
    derived_tags: int = 6
    max_archived: int = 5
    max_merged: int = 5


class ScheduleSettings(msgspec.Struct, frozen=True):
    """Who runs the daily pass unattended, and the waking hours (local time) in which a missed one is caught up.

    daemon_applies, app_applies: whether `nuggets daemon` and the open app run it by themselves; else it waits for a
    person. promotes: whether what is often recalled is written into MEMORY.md along with it.
    """

    waking_from: int = 8
    waking_to: int = 22
    daemon_applies: bool = True
    app_applies: bool = False
    promotes: bool = False


class PromotionSettings(msgspec.Struct, frozen=True):
    """What is promoted, and where to when neither the call nor the project folder says.

    automatic: whether the daily pass promotes: "ask" until a person has said, "projects" to the folders in `projects`,
    "always" also to every MEMORY.md that was promoted to before, "never".
    threshold: recalls from which on a note is promoted. memory_dir: "" for none. read_lines: how many lines of
    MEMORY.md agents read.
    """

    threshold: int = 3
    memory_dir: str = ""
    read_lines: int = 200
    automatic: str = "ask"
    projects: tuple[str, ...] = ()


class BackupSettings(msgspec.Struct, frozen=True):
    """How many backups of each kind are kept: those of a day, and those before a large change."""

    keep: int = 14


class LedgerSettings(msgspec.Struct, frozen=True):
    """How large the journal grows, in megabytes, before its oldest entries go to archives."""

    max_mb: int = 64


class InferenceSettings(msgspec.Struct, frozen=True):
    """Words that tell whom or what a memory speaks of when no prefix does; matched as whole words."""

    assistant_words: tuple[str, ...] = ("assistant", "itself", "persona", "your voice", "my voice", "agent's")
    project_words: tuple[str, ...] = ("project", "milestone", "sprint", "roadmap")
    shared_words: tuple[str, ...] = (
        "api", "branch", "build", "ci", "cli", "cluster", "code", "command", "config", "container", "database",
        "deploy", "deployment", "docker", "endpoint", "env", "file", "files", "function", "git", "host", "kubernetes",
        "lint", "makefile", "module", "package", "path", "pipeline", "port", "postgres", "production", "prod",
        "redis", "release", "repo", "repository", "schema", "script", "server", "service", "sql", "staging", "test",
        "tests", "tool", "toolbox", "url", "workflow",
    )  # fmt: skip
    user_words: tuple[str, ...] = (
        "user", "friend", "wife", "husband", "partner", "favorite", "favourite", "likes", "prefers", "preference",
        "birthday", "i", "my", "mine",
    )  # fmt: skip
    preference_words: tuple[str, ...] = ("pref", "prefs", "preference", "preferences", "prefers", "favorite",
                                         "favourite")  # fmt: skip
    style_words: tuple[str, ...] = ("style", "tone", "voice", "formatting", "convention", "conventions")
    relationship_words: tuple[str, ...] = (
        "relationship",
        "friend",
        "wife",
        "husband",
        "partner",
        "colleague",
    )
    temporary_prefixes: tuple[str, ...] = ("tmp", "temp", "scratch")


class AppSettings(msgspec.Struct, frozen=True):
    """How the terminal app is used. vim: h, j, k and l move, and half pages with ctrl+d and ctrl+u. theme: "" for the
    app's own. tips: whether the header of a new memory names what is worth trying.
    """

    vim: bool = False
    theme: str = ""
    tips: bool = True


class Settings(msgspec.Struct, frozen=True):
    """All settings of a memory. keys: what the table [keys] gives to each command of the app, in its order; None for
    what is no text. Which commands and keys there are, the app knows. synonyms: what the table [search.words] gives:
    words, each with those that mean the same.
    """

    search: SearchSettings = SearchSettings()
    reflection: ReflectionSettings = ReflectionSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    promotion: PromotionSettings = PromotionSettings()
    inference: InferenceSettings = InferenceSettings()
    backups: BackupSettings = BackupSettings()
    ledger: LedgerSettings = LedgerSettings()
    app: AppSettings = AppSettings()
    keys: tuple[tuple[str, str | None], ...] = ()
    synonyms: Synonyms = ()
    # Names in settings.toml that this version does not know: ignored, and told.
    unknown: tuple[str, ...] = ()
    # What could not be used, each in one line that says what counts instead, and side by side with these the names of
    # the settings, "table" or "table.name"; "" for the whole file.
    problems: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()


class _Range(NamedTuple):
    """What a number may be; `above`: greater than `low`, which itself is too low."""

    low: float
    high: float = math.inf
    above: bool = False

    def holds(self, number: float) -> bool:
        """Whether a number lies in the range; one that is not finite never does."""
        return (
            math.isfinite(number)
            and self.low <= number <= self.high
            and not (self.above and number == self.low)
        )

    def __str__(self) -> str:
        low, high = plain_number(self.low), plain_number(self.high)
        if self.high == math.inf:
            return f"above {low}" if self.above else f"{low} or more"
        return f"above {low} and at most {high}" if self.above else f"from {low} to {high}"


def plain_number(number: float) -> str:
    """A number as people write it: 1,000,000 and 0.5, never 1e+06."""
    return f"{number:,.15g}"


class _OneOf(tuple[str, ...]):
    """Words of which a setting is one."""

    def holds(self, value: object) -> bool:
        return value in self

    def __str__(self) -> str:
        return f"one of {', '.join(self)}"


AUTOMATIC: Final = _OneOf(("ask", "projects", "always", "never"))
# A reflection pass over no notes, or one that makes no links, is a way to switch it off.
_RANGES: Final[Mapping[str, _Range | _OneOf]] = {
    "promotion.automatic": AUTOMATIC,
    "search.vector_weight": _Range(0),
    "search.text_weight": _Range(0),
    "search.durable_boost": _Range(0),
    "search.own_boost": _Range(0),
    "search.confidence_boost": _Range(0),
    "search.associative_weight": _Range(0),
    "search.link_weight": _Range(0),
    "search.pair_weight": _Range(0),
    "search.meaning_weight": _Range(0, 1),
    "search.relevance_floor": _Range(0, 1),
    "search.temperature": _Range(0, above=True),
    "search.softmax_over": _Range(1),
    "search.dimension": _Range(1, 2**20),
    "reflection.hour": _Range(0, 23),
    "reflection.minute": _Range(0, 59),
    "reflection.max_notes": _Range(0, 1_000_000),
    "reflection.jaccard": _Range(0, 1, above=True),
    "reflection.shared_tokens": _Range(1),
    "reflection.wanted_links": _Range(0),
    "reflection.max_links": _Range(0),
    "reflection.often_recalled": _Range(1),
    "reflection.derived_tags": _Range(1),
    "reflection.max_archived": _Range(0, 1_000_000),
    "reflection.max_merged": _Range(0, 1_000_000),
    "schedule.waking_from": _Range(0, 23),
    "schedule.waking_to": _Range(0, 24),
    "promotion.threshold": _Range(1),
    "promotion.read_lines": _Range(1),
    "backups.keep": _Range(1, 10_000),
    "ledger.max_mb": _Range(1, 100_000),
}
_ENVIRONMENT: Final = {
    "MEMORY_REFLECTION_HOUR": "hour",
    "MEMORY_REFLECTION_MINUTE": "minute",
    "MEMORY_REFLECTION_MAX_NOTES": "max_notes",
}


_OUTCOME: Final = ("unknown", "problems", "defaulted")
# Tables of the same file that the ingestion pipeline reads by itself.
_OF_OTHERS: Final = ("pipeline", "memory")


def load_settings(
    home: Path, environ: Mapping[str, str] | None = None, in_force: Settings | None = None
) -> Settings:
    """Settings for the memory in `home`. Never fails: no command is to stop for a value mistyped.

    For a value of the wrong type or out of range, and for all of a settings.toml that cannot be read, the one in
    force counts, else the default; `problems` then says so. Unknown tables and keys are ignored, so that a newer
    version's file still loads.
    """
    path = home / SETTINGS_FILE
    loading = _Loading(str(path), in_force or Settings(), [])
    found = loading.of_file(path)
    found = loading.of_environment(found, os.environ if environ is None else environ)
    return replace(
        found,
        problems=tuple(told for _, told in loading.problems),
        defaulted=tuple(name for name, _ in loading.problems),
    )


class _Loading(NamedTuple):
    """What one loading found wrong: (name of a setting, what is told of it). fallback: what counts instead."""

    where: str
    fallback: Settings
    problems: list[tuple[str, str]]

    def of_file(self, path: Path) -> Settings:
        """The settings that a file gives."""
        try:
            if path.exists() and not path.is_file():
                raise OSError(0, "not a regular file")
            table = _parsed(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            table = {}
        # ValueError: no UTF-8, no TOML, a number of thousands of digits.
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            counts = "the defaults apply" if _is_plain(self.fallback) else "the current settings stay"
            told = f"the settings cannot be read ({said}); {counts}".replace("\n", " ")
            self.problems.append(("", f"{self.where}: {told}"))
            return replace(self.fallback, unknown=())
        found = Settings()
        for section in found.__struct_fields__:
            if section not in (*_OUTCOME, "keys", "synonyms"):
                part = self._part(section, getattr(found, section), table.get(section, {}))
                found = replace(found, **{section: part})
        return replace(
            found, unknown=_unknown(found, table), keys=self._keys(table), synonyms=self._synonyms(table)
        )

    def of_environment(self, settings: Settings, environ: Mapping[str, str]) -> Settings:
        """The settings with what the environment says in place of what the file does."""
        changes: dict[str, int] = {}
        for variable, name in _ENVIRONMENT.items():
            text = environ.get(variable, "").strip()
            if not text:
                continue
            allowed = _RANGES[f"reflection.{name}"]
            try:
                number = int(text)
            except ValueError:
                number = -1
            if allowed.holds(number):
                changes[name] = number
            else:
                counts = _counts(getattr(settings.reflection, name))
                told = f"{variable}: must be a whole number {allowed}, not {text!r}; {counts}"
                self.problems.append((f"reflection.{name}", told))
        if not changes:
            return settings
        return replace(settings, reflection=replace(settings.reflection, **changes))

    def _part(self, section: str, part: _Part, given: object) -> _Part:
        fallback: _Part = getattr(self.fallback, section)
        if not isinstance(given, dict):
            self._wrong(section, "a table", fallback)
            return fallback
        changes: dict[str, Any] = {}
        for name, value in given.items():
            if name in part.__struct_fields__:
                try:
                    allowed = _RANGES.get(f"{section}.{name}")
                    changes[name] = _checked(value, getattr(part, name), allowed)
                except _Unfit as unfit:
                    changes[name] = getattr(fallback, name)
                    self._wrong(f"{section}.{name}", str(unfit), changes[name])
        return replace(part, **changes)

    def _keys(self, table: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
        given = table.get("keys", {})
        if not isinstance(given, dict):
            self._wrong("keys", "a table", self.fallback.keys)
            return self.fallback.keys
        return tuple((name, value if isinstance(value, str) else None) for name, value in given.items())

    def _synonyms(self, table: Mapping[str, Any]) -> Synonyms:
        """What stands in [search.words]: for each word a list of others, or one."""
        search = table.get("search", {})
        given = search.get("words", {}) if isinstance(search, dict) else {}
        if not isinstance(given, dict):
            self._wrong("search.words", "a table", self.fallback.synonyms)
            return self.fallback.synonyms
        made = []
        for word, others in given.items():
            try:
                made.append((word, _checked([others] if isinstance(others, str) else others, (), None)))
            except _Unfit as unfit:
                self._wrong(f"search.words.{word}", str(unfit), None)
        return tuple(made)

    def _wrong(self, name: str, wanted: str, counting: object) -> None:
        self.problems.append((name, f"{self.where}: {name} must be {wanted}; {_counts(counting)}"))


def _is_plain(settings: Settings) -> bool:
    return replace(settings, unknown=(), problems=(), defaulted=()) == Settings()


def _counts(value: object) -> str:
    """Which value counts, where it can be said shortly."""
    if isinstance(value, bool):
        return f"{str(value).lower()} is used"
    return f"{value!r} is used" if isinstance(value, int | float) else "the current value stays"


def _parsed(text: str) -> dict[str, Any]:
    # Most memories have no such file, and the app's first frame waits for what is loaded before it.
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def checked_setting(name: str, value: Any) -> Any:
    """A value for the setting "table.name" in the type that this has. Raises InvalidInputError for one that it cannot
    have, and for no setting.
    """
    section, _, key = name.partition(".")
    part = getattr(Settings(), section, None)
    if not isinstance(part, msgspec.Struct) or not hasattr(part, key):
        raise InvalidInputError(
            "no such setting", code=ErrorCode.NO_SUCH_SETTING, where=name, kept="no file was changed"
        )
    try:
        given = list(value) if isinstance(value, tuple) else value
        return _checked(given, getattr(part, key), _RANGES.get(name))
    except _Unfit as unfit:
        raise InvalidInputError(
            f"must be {unfit}", code=ErrorCode.UNKNOWN_VALUE, where=name, kept="no file was changed"
        ) from None


def setting_values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Each setting that `checked_setting` knows, as "table.name", with its value."""
    for section in settings.__struct_fields__:
        part = getattr(settings, section)
        if isinstance(part, msgspec.Struct):
            for name in part.__struct_fields__:
                yield f"{section}.{name}", getattr(part, name)


def allowed_values(name: str) -> str:
    """What a setting may be, in words such as "from 0 to 1"; "" where there is no more to say than its type."""
    allowed = _RANGES.get(name)
    return "" if allowed is None else str(allowed)


def setting_choices(name: str) -> tuple[str, ...]:
    """The words of which a setting is one; none where it is something else."""
    allowed = _RANGES.get(name)
    return tuple(allowed) if isinstance(allowed, _OneOf) else ()


def _unknown(settings: Settings, table: Mapping[str, Any]) -> tuple[str, ...]:
    """Tables and keys of the file that name no setting, as `table` or `table.key`."""
    found: list[str] = []
    for section, given in table.items():
        if section == "keys" or section in _OF_OTHERS:
            continue
        part = getattr(settings, section, None)
        if not isinstance(part, msgspec.Struct) or not isinstance(given, dict):
            found.append(section)
            continue
        known = ("words",) if section == "search" else ()
        found.extend(f"{section}.{name}" for name in given if name not in known and not hasattr(part, name))
    return tuple(sorted(found))


class _Unfit(ValueError):
    """Says what a value must be."""


def _checked(value: Any, default: Any, allowed: _Range | _OneOf | None) -> Any:
    """The value in the type of the default. Raises _Unfit."""
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise _Unfit("a list of strings, none of them empty")
        return tuple(value)
    if isinstance(default, float) and type(value) is int:
        value = float(value) if abs(value) < 2**53 else math.inf
    if type(value) is not type(default):
        raise _Unfit(f"a value like {default!r}")
    if allowed is not None and not allowed.holds(value):
        raise _Unfit(f"{allowed}, not {value}")
    return value
