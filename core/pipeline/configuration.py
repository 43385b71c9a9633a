"""The pipeline's configuration: from the files of a memory and of the user to values that can be used, and warnings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from core.folder import PIPELINE_FILE, pages_of, user_configuration_folder
from core.pipeline.modes import Mode, mode
from core.settings import SETTINGS_FILE
from core.settings.pipeline_sections import (
    COMMAND_TIMEOUT,
    DEFAULT_ENDPOINT,
    DEFAULT_MODELS,
    PipelineConfiguration,
)
from core.settings.tree import Setting, all_settings, sections, setting_named, unknown_keys
from core.settings.values import LONGEST_TEXT, Fitted, fitted, web_address
from core.settings.warnings import ConfigurationWarning, WarningKind, printable, shown

ORIGINAL_FILE: Final = "agent.yaml"
# Where the pipeline's keys stand in settings.toml, as warnings name them.
TABLE: Final = "pipeline"
_LARGEST: Final = 1_000_000
# What tells one version of a file from another; None for no file.
FileVersions = tuple[tuple[Path, tuple[int, ...] | None], ...]


class LoadedConfiguration(NamedTuple):
    """A configuration that can be used, what was not taken as given, and the files as they were when it was read.

    last_good: the last configuration for which every file could be read; None when there was none yet. reserved: of
    the keys that do nothing, those that were set. names_model: whether a file says which model is asked.
    """

    configuration: PipelineConfiguration
    warnings: tuple[ConfigurationWarning, ...]
    versions: FileVersions
    last_good: PipelineConfiguration | None
    reserved: tuple[ConfigurationWarning, ...] = ()
    names_model: bool = False

    @property
    def all_warnings(self) -> tuple[ConfigurationWarning, ...]:
        """All that a person is told of it."""
        return (*self.warnings, *self.reserved)


class _UnreadableError(Exception):
    """Says why a file cannot be read."""


def load_configuration(
    home: Path,
    environ: Mapping[str, str] | None = None,
    *,
    user_folder: Path | None = None,
    in_force: PipelineConfiguration | None = None,
) -> LoadedConfiguration:
    """The configuration of the memory in `home`. Never fails: no value that is mistyped stops anything.

    Read are settings.toml of the memory, that of the user's configuration folder, then an agent.yaml of the original
    beside either; what stands in an earlier file counts. While one of them cannot be read, what is in force stays;
    where nothing is yet, the pipeline is off, since the file may say so, and raw texts are kept. user_folder: None
    for the system's. environ: None for that of the process.
    """
    environ = os.environ if environ is None else environ
    files = _files(home, user_folder)
    # Before they are read: a file that changes in between is read once more.
    versions = _file_versions(files)
    tables: list[Table] = []
    warnings: list[ConfigurationWarning] = []
    good = True
    for path, parse in files:
        try:
            document = parse(path)
            if document is None:
                continue
            if not isinstance(document, Mapping):
                raise _UnreadableError("not a table")
        except _UnreadableError as error:
            good = False
            warnings.append(_unreadable(path, str(error), in_force))
            continue
        found, more = tables_of(document, str(path), original=path.name == ORIGINAL_FILE)
        if path.parent != (user_folder or user_configuration_folder()):
            found, refused = without_own(found)
            more += refused
        tables += found
        warnings += more
    read = _guarded(read_tables(*tables, environ=environ))
    configuration = read.configuration
    if not good:
        configuration = _kept_whole(configuration) if in_force is None else in_force
    last_good = configuration if good else in_force
    idle = tuple(reserved_keys(tuple(tables)))
    for name in ("extraction.provider", "extraction.fallback_provider"):
        if value_of(configuration, name) == "opencode":
            hint = 'OpenCode is never asked; set "ollama" or "claude-code"'
            warnings.append(
                ConfigurationWarning(name, "opencode", None, WarningKind.NOT_USED, hint, table=TABLE)
            )
    names = any(
        given_values(_key(name), tuple(tables)) for name in ("extraction.provider", "extraction.model")
    )
    return LoadedConfiguration(configuration, (*warnings, *read.warnings), versions, last_good, idle, names)


def has_work(home: Path) -> bool:
    """Whether a memory has a pipeline, or a model is named for one: hints, embeddings and the names of a person's own
    notes need no submitted text. Makes nothing.
    """
    if os.path.lexists(home / PIPELINE_FILE):
        return True
    if not os.access(home, os.W_OK) or pages_of(home) is not None:
        return False
    loaded = load_configuration(home)
    found = loaded.configuration
    named = loaded.names_model and found.extraction.provider != "none"
    return mode(found) is not Mode.OFF and (named or found.hints.enabled or bool(found.embedding.model))


# A typing error in these loosens nothing: it makes the strict value count.
_STRICT: dict[str, Any] = {
    "enabled": False, "shadow_mode": True, "mutations_frozen": True, "autonomous.enabled": False,
    "autonomous.frozen": True, "autonomous.maintenance_mode": "observe",
}  # fmt: skip
_MISTYPED = (WarningKind.WRONG_TYPE, WarningKind.UNKNOWN_CHOICE, WarningKind.NO_VALUE)


def _guarded(read: ParsedConfiguration) -> ParsedConfiguration:
    configuration, warnings = read
    for place, warning in enumerate(warnings):
        strict = _STRICT.get(warning.name)
        if (
            strict is not None
            and any(warning.why is kind for kind in _MISTYPED)
            and warning.used == _key(warning.name).default
        ):
            configuration = with_value(configuration, warning.name, strict)
            mended = replace(warning, used=strict)
            warnings = (*warnings[:place], mended, *warnings[place + 1 :])
    return ParsedConfiguration(configuration, warnings)


def newer(
    loaded: LoadedConfiguration,
    home: Path,
    environ: Mapping[str, str] | None = None,
    *,
    user_folder: Path | None = None,
) -> LoadedConfiguration | None:
    """The configuration read again when one of its files is another than it was; None when none is."""
    if _file_versions(_files(home, user_folder)) == loaded.versions:
        return None
    return load_configuration(home, environ, user_folder=user_folder, in_force=loaded.last_good)


def _files(home: Path, user_folder: Path | None) -> list[tuple[Path, Callable[[Path], Any]]]:
    folders = [home, user_folder or user_configuration_folder()]
    return [(folder / SETTINGS_FILE, _toml) for folder in folders] + [
        (folder / ORIGINAL_FILE, _yaml) for folder in folders
    ]


def _file_versions(files: list[tuple[Path, Callable[[Path], Any]]]) -> FileVersions:
    return tuple((path, _version(path)) for path, _ in files)


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _text(path: Path) -> str | None:
    try:
        if path.exists() and not path.is_file():
            raise _UnreadableError("not a regular file")
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _UnreadableError(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _UnreadableError("not UTF-8 text") from error
    if len(text) > _LARGEST:
        raise _UnreadableError(f"longer than {_LARGEST:,} characters")
    return text


def _toml(path: Path) -> Any:
    import tomllib

    text = _text(path)
    try:
        return None if text is None else tomllib.loads(text)
    except ValueError as error:
        raise _UnreadableError(str(error)) from error
    except RecursionError:
        raise _UnreadableError("nested too deeply") from None


def _yaml(path: Path) -> Any:
    text = _text(path)
    if text is None:
        return None
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise _UnreadableError(" ".join(str(error).split())) from error
    except RecursionError:
        raise _UnreadableError("nested too deeply") from None


def _unreadable(path: Path, why: str, in_force: PipelineConfiguration | None) -> ConfigurationWarning:
    counts = "the pipeline is off until you fix it" if in_force is None else "the current settings stay"
    return ConfigurationWarning(path.name, counts, None, WarningKind.UNREADABLE, why, str(path))


def _kept_whole(configuration: PipelineConfiguration) -> PipelineConfiguration:
    """Off, and with nothing deleted that the file which cannot be read may say to keep."""
    for key in all_settings(PipelineConfiguration):
        if _says_what_is_old(key):
            configuration = with_value(configuration, key.name, int(key.high))
    retention = replace(configuration.retention, enabled=False)
    return replace(configuration, enabled=False, retention=retention)


def _says_what_is_old(key: Setting) -> bool:
    """Whether a key is the number of days after which something is deleted."""
    return key.name.endswith("_days") and key.name.startswith(("retention.", "continuity."))


# Parsed files

# The reference asks more of a candidate as soon as the share of the vector score was chosen.
_MIN_SCORE_WITH_ALPHA = 0.3
_ORIGINAL_SEARCH = ("alpha", "min_score", "minScore")


class ParsedConfiguration(NamedTuple):
    """A configuration whose every value is within its range, and what was not taken as given."""

    configuration: PipelineConfiguration
    warnings: tuple[ConfigurationWarning, ...]


class _Chosen(NamedTuple):
    value: Any
    given: GivenValue | None
    warnings: list[ConfigurationWarning]
    refused: list[GivenValue]


def tables_of(
    document: Mapping[Any, Any], where: str, *, original: bool
) -> tuple[list[Table], list[ConfigurationWarning]]:
    """The pipeline's tables of one parsed file, the one that counts first before the other. original: agent.yaml."""
    tables: list[Table] = []
    warnings: list[ConfigurationWarning] = []
    if not original:
        _add(tables, warnings, document, (TABLE,), where)
    _add(tables, warnings, document, ("memory", "pipelineV2"), where)
    search = document.get("search")
    if original and isinstance(search, Mapping):
        known = {name: search[name] for name in _ORIGINAL_SEARCH if name in search}
        tables.append(Table(where, {"search": known}, ""))
    return tables, warnings


def read_tables(*tables: Table, environ: Mapping[str, str] | None = None) -> ParsedConfiguration:
    """The configuration that the pipeline's tables of several files give; the earlier table counts. Never raises."""
    values: dict[str, Any] = {}
    warnings: list[ConfigurationWarning] = []
    given: set[str] = set()
    provider = _chosen(_key("extraction.provider"), given_values(_key("extraction.provider"), tables))
    for key in all_settings(PipelineConfiguration):
        if key.name == "extraction.provider":
            chosen = provider
        elif key.name == "extraction.model":
            chosen = _model(key, given_values(key, tables), provider)
        else:
            chosen = _chosen(key, given_values(key, tables))
        values[key.name] = chosen.value
        warnings += chosen.warnings
        if chosen.given is not None:
            given.add(key.name)
    if "search.alpha" in given and "search.min_score" not in given:
        values["search.min_score"] = _MIN_SCORE_WITH_ALPHA
    if "extraction.timeout" not in given and provider.value in ("claude-code", "opencode"):
        values["extraction.timeout"] = COMMAND_TIMEOUT
    if "extraction.endpoint" not in given:
        address, warning = ollama_endpoint(environ or {})
        values["extraction.endpoint"] = address or values["extraction.endpoint"]
        warnings += [warning] if warning else []
    configuration = PipelineConfiguration()
    for name, value in values.items():
        if value != _key(name).default:
            configuration = with_value(configuration, name, value)
    configuration, conflicts = cross_checked(configuration, given)
    warnings += conflicts
    for table in tables:
        warnings += unknown_keys(PipelineConfiguration, table.values, table.where, table.path)
    return ParsedConfiguration(configuration, tuple(warnings))


def _add(
    tables: list[Table],
    warnings: list[ConfigurationWarning],
    document: Mapping[Any, Any],
    path: tuple[str, ...],
    where: str,
) -> None:
    """Adds the table at the path, or a warning for something else on the way to it."""
    inner: Any = document
    for depth, name in enumerate(path, start=1):
        inner = inner.get(name)
        if inner is None:
            return
        if not isinstance(inner, Mapping):
            told = ".".join(path[:depth])
            warnings.append(
                ConfigurationWarning(
                    told, shown(inner), None, WarningKind.WRONG_TYPE, "must be a table", where
                )
            )
            return
    tables.append(Table(where, inner, ".".join(path)))


def _chosen(key: Setting, found: list[GivenValue]) -> _Chosen:
    """The first value that the key can have, else the default."""
    first: tuple[GivenValue, Fitted] | None = None
    told: list[tuple[GivenValue, WarningKind, str]] = []
    refused: list[GivenValue] = []
    for candidate in found:
        fit = fitted(key, candidate.value)
        if _says_what_is_old(key) and fit.why is WarningKind.OUT_OF_RANGE and fit.value == key.low:
            # 0 or -1 may be meant for ever: nothing is deleted sooner for it.
            fit = fit._replace(value=None)
        if first is None:
            if fit.why is not None:
                told.append((candidate, fit.why, fit.hint))
            if fit.value is not None:
                first = candidate, fit
            else:
                refused.append(candidate)
        elif candidate.place == first[0].place and fit.value is not None and fit.value != first[1].value:
            told.append((candidate, WarningKind.OVERRIDDEN, f"as {first[0].spelt} and {candidate.spelt}"))
    value = key.default if first is None else first[1].value
    warnings = [_warning(key, candidate, value, why, hint) for candidate, why, hint in told]
    return _Chosen(value, first[0] if first else None, warnings, refused)


def _model(key: Setting, found: list[GivenValue], provider: _Chosen) -> _Chosen:
    """The model, which belongs to its provider: one named beside another provider is not taken.

    A model in a file that counts more than the provider's was meant for it too. "" stands for the provider's own.
    """
    beside = provider.given or (provider.refused[0] if provider.refused else None)
    if beside is None:
        usable = found
    elif provider.given is None:
        usable = [candidate for candidate in found if candidate.place < beside.place]
    else:
        usable = [candidate for candidate in found if candidate.place <= beside.place]
        usable.sort(key=lambda one: (one.place, one.place == beside.place and one.flat != beside.flat))
    chosen = _chosen(key, usable)
    own = DEFAULT_MODELS[provider.value]
    value = own if chosen.given is None else chosen.value or own
    warnings = [_replaced(warning, value) for warning in chosen.warnings]
    if provider.given is None and beside is not None:
        warnings += [
            _warning(key, candidate, value, WarningKind.CROSS_CHECK, "its provider cannot be used")
            for candidate in found
            if candidate not in usable
        ]
    return _Chosen(value, chosen.given, warnings, chosen.refused)


def _replaced(warning: ConfigurationWarning, used: Any) -> ConfigurationWarning:
    """The warning with another value that is used."""
    return replace(warning, used=used)


def _warning(
    key: Setting, candidate: GivenValue, used: Any, why: WarningKind, hint: str
) -> ConfigurationWarning:
    given = "a text" if _may_be_secret(key, candidate.value) else shown(candidate.value)
    if key.section and why is not WarningKind.OVERRIDDEN and candidate.flat:
        hint = "; ".join(part for part in (hint, f"written as {printable(candidate.spelt)}") if part)
    return ConfigurationWarning(key.name, given, used, why, hint, candidate.where, TABLE)


def _may_be_secret(key: Setting, given: Any) -> bool:
    return isinstance(given, str) and (
        key.field == "posthog_api_key" or (key.field == "endpoint" and "@" in given)
    )


# Values given for a key


class Table(NamedTuple):
    """The pipeline's table of one file. where: the file's name, as warnings tell it; path: of the table in the file."""

    where: str
    values: Mapping[Any, Any]
    path: str = TABLE


class GivenValue(NamedTuple):
    """A value given for a key. place: which table, counted from the one that counts first. flat: a legacy name."""

    place: int
    flat: bool
    spelt: str
    value: Any
    where: str


def given_values(key: Setting, tables: tuple[Table, ...]) -> list[GivenValue]:
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
    return [
        spelt
        for name in names
        for spelt, attribute in sections(PipelineConfiguration).items()
        if attribute == name
    ]


def reserved_keys(tables: tuple[Table, ...]) -> Iterator[ConfigurationWarning]:
    """A warning for each reserved key that was given another value than its own."""
    for key in all_settings(PipelineConfiguration):
        given = given_values(key, tables) if key.reserved else ()
        for candidate in given:
            if candidate.value is not None and candidate.value != key.default:
                # A text may be a secret; what it says does not matter here.
                told = "a text" if isinstance(candidate.value, str) else shown(candidate.value)
                yield ConfigurationWarning(
                    key.name, told, None, WarningKind.RESERVED, where=candidate.where, table=TABLE
                )
                break


def without_own(tables: list[Table]) -> tuple[list[Table], list[ConfigurationWarning]]:
    """The tables without what counts in the user's own settings alone, and a warning for each value of that."""
    kept = list(tables)
    told: list[ConfigurationWarning] = []
    for key in all_settings(PipelineConfiguration):
        if not key.own:
            continue
        for place, table in enumerate(kept):
            values = dict(table.values)
            for section in _spellings([key.section]):
                inner = values.get(section)
                if not isinstance(inner, Mapping):
                    continue
                refused = [inner[name] for name in key.nested if inner.get(name) not in (None, key.default)]
                values[section] = {name: value for name, value in inner.items() if name not in key.nested}
                told += [_not_own(key, table.where)] if refused else []
            kept[place] = table._replace(values=values)
    return kept, told


def _not_own(key: Setting, where: str) -> ConfigurationWarning:
    place = user_configuration_folder() / SETTINGS_FILE
    why = f"it names code, so it counts in your own settings alone: {place}"
    return ConfigurationWarning(key.name, "a text", None, WarningKind.NOT_USED, why, where, TABLE)


# Keys that must fit each other

# Calls to a model that are made while a job is leased.
_TIMEOUTS = ("extraction.timeout", "hints.timeout", "semantic_contradiction_timeout_ms")


def _key(name: str) -> Setting:
    return setting_named(name, PipelineConfiguration)


def value_of(configuration: PipelineConfiguration, name: str) -> Any:
    """The value of a key by its told name. Raises KeyError for none."""
    key = _key(name)
    part: Any = getattr(configuration, key.section) if key.section else configuration
    return getattr(part, key.field)


def with_value(configuration: PipelineConfiguration, name: str, value: Any) -> PipelineConfiguration:
    """The configuration with another value for a key, which must be one it can have. Raises KeyError for no key."""
    key = _key(name)
    if not key.section:
        return replace(configuration, **{key.field: value})
    part = replace(getattr(configuration, key.section), **{key.field: value})
    return replace(configuration, **{key.section: part})


def cross_checked(
    configuration: PipelineConfiguration, given: AbstractSet[str]
) -> tuple[PipelineConfiguration, tuple[ConfigurationWarning, ...]]:
    """The configuration with keys that fit each other, and a warning for each that changed.

    given: told names of the keys that a person has set. An overlap is at most half a window, a piece at most what is
    sent, a least weight at most the greatest. A lease is at least twice each time limit of a model: where only the
    lease was set, limits that were not set yield; else the lease grows.
    """
    found: list[ConfigurationWarning] = []

    def put(name: str, value: int | float, hint: str, other: str) -> None:
        nonlocal configuration
        before = value_of(configuration, name)
        if value != before:
            told = f"{hint} {TABLE}.{other}"
            found.append(
                ConfigurationWarning(name, shown(before), value, WarningKind.CROSS_CHECK, told, table=TABLE)
            )
            configuration = with_value(configuration, name, value)

    half = configuration.documents.chunk_size // 2
    put(
        "documents.chunk_overlap",
        min(configuration.documents.chunk_overlap, half),
        "at most half of",
        "documents.chunk_size",
    )
    guardrails = configuration.guardrails
    put(
        "guardrails.chunk_target_chars",
        min(guardrails.chunk_target_chars, guardrails.max_content_chars),
        "at most",
        "guardrails.max_content_chars",
    )
    feedback = configuration.feedback
    put(
        "feedback.min_aspect_weight",
        min(feedback.min_aspect_weight, feedback.max_aspect_weight),
        "at most",
        "feedback.max_aspect_weight",
    )
    lease = "worker.lease_timeout_ms"
    if lease in given:
        limit = configuration.worker.lease_timeout_ms // 2
        for name in _TIMEOUTS:
            if name not in given:
                put(name, min(value_of(configuration, name), limit), "at most half of", lease)
    longest = max(_TIMEOUTS, key=lambda name: value_of(configuration, name))
    put(
        lease,
        max(configuration.worker.lease_timeout_ms, 2 * value_of(configuration, longest)),
        "at least twice",
        longest,
    )
    return configuration, tuple(found)


# What the environment says: where Ollama answers, as its own client reads it

VARIABLE = "OLLAMA_HOST"
_PORT = 11434
# Addresses that a server listens on; a client reaches it on its own machine.
_EVERYWHERE = ("0.0.0.0", "[::]")


def ollama_endpoint(environ: Mapping[str, str]) -> tuple[str, ConfigurationWarning | None]:
    """The address in OLLAMA_HOST, "" when it is not set; a warning when it is none.

    Forms: `host`, `host:port`, `:port`, `[ipv6]:port`, each with or without http:// or https://. Without a port it is
    11434, with a scheme and no port that of the scheme.
    """
    text = environ.get(VARIABLE, "").strip().strip("\"'").strip()
    if not text:
        return "", None
    address = _address(text) if len(text) <= LONGEST_TEXT and text.isprintable() else ""
    if address:
        return address, None
    warning = ConfigurationWarning(
        "extraction.endpoint",
        shown(text),
        DEFAULT_ENDPOINT,
        WarningKind.UNFIT_TEXT,
        "host:port",
        VARIABLE,
        TABLE,
    )
    return "", warning


def _address(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    host, slash, path = rest.partition("/")
    if host.startswith(":") and not host.startswith("::"):
        host = "localhost" + host
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    after_name = host.rpartition("]")[2]
    if not separator and ":" not in after_name:
        host = f"{host}:{_PORT}"
    for everywhere in _EVERYWHERE:
        if host == everywhere or host.startswith(everywhere + ":"):
            host = ("127.0.0.1" if everywhere == "0.0.0.0" else "[::1]") + host[len(everywhere) :]
    return web_address(f"{scheme.lower()}://{host}{slash}{path}")
