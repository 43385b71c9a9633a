"""The pipeline's configuration: from the files of a memory and of the user to values that can be used, and warnings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from core.folder import pages_of, user_configuration_folder
from core.pipeline.modes import Mode, mode
from core.settings import SETTINGS_FILE
from core.settings.loading import UnreadableError, read_text, read_toml
from core.settings.pipeline_sections import (
    ALIASES,
    COMMAND_TIMEOUT,
    DEFAULT_ENDPOINT,
    DEFAULT_MODELS,
    GUARDS,
    OWN,
    RESERVED,
    PipelineConfiguration,
)
from core.settings.reading import Given, given_in, read
from core.settings.tree import (
    LONGEST_TEXT,
    all_settings,
    fitted,
    settings_by_name,
    value_of,
    web_address,
    with_values,
)
from core.settings.warnings import ConfigurationWarning, WarningKind, shown

ORIGINAL_FILE: Final = "agent.yaml"
# Where the pipeline's keys stand in settings.toml, as warnings name them.
TABLE: Final = "pipeline"
# What tells one version of a file from another; None for no file.
FileVersions = tuple[tuple[Path, tuple[int, ...] | None], ...]
Warnings = tuple[ConfigurationWarning, ...]


class LoadedConfiguration(NamedTuple):
    """A configuration that can be used, what was not taken as given, and the files as they were when it was read.

    last_good: the last configuration for which every file could be read; None when there was none yet. names_model:
    whether a file says which model is asked.
    """

    configuration: PipelineConfiguration
    warnings: Warnings
    versions: FileVersions
    last_good: PipelineConfiguration | None
    names_model: bool = False


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
    own_folder = user_folder or user_configuration_folder()
    files = _files(home, own_folder)
    # Before they are read: a file that changes in between is read once more.
    versions = tuple((path, _version(path)) for path in files)
    given: list[Given] = []
    unread: list[ConfigurationWarning] = []
    for place, path in enumerate(files):
        try:
            document = _parsed(path)
            given += given_of(document, str(path), place, users=path.parent == own_folder)
        except UnreadableError as error:
            counts = (
                "the pipeline is off until you fix it" if in_force is None else "the current settings stay"
            )
            unread.append(
                ConfigurationWarning("", counts, None, WarningKind.UNREADABLE, str(error), str(path))
            )
    configuration, warnings = configuration_of(given, os.environ if environ is None else environ)
    last_good = in_force if unread else configuration
    if unread:
        configuration = _kept_whole(configuration) if in_force is None else in_force
    for name in ("extraction.provider", "extraction.fallback_provider"):
        if value_of(configuration, name) == "opencode":
            hint = 'OpenCode is never asked; set "ollama" or "claude-code"'
            never = ConfigurationWarning(name, "opencode", None, WarningKind.NOT_USED, hint, table=TABLE)
            warnings = (never, *warnings)
    names = any(one.name in ("extraction.provider", "extraction.model") for one in given)
    return LoadedConfiguration(configuration, (*unread, *warnings), versions, last_good, names)


def newer(
    loaded: LoadedConfiguration,
    home: Path,
    environ: Mapping[str, str] | None = None,
    *,
    user_folder: Path | None = None,
) -> LoadedConfiguration | None:
    """The configuration read again when one of its files is another than it was; None when none is."""
    if all(_version(path) == version for path, version in loaded.versions):
        return None
    return load_configuration(home, environ, user_folder=user_folder, in_force=loaded.last_good)


def has_work(home: Path) -> bool:
    """Whether a memory has a pipeline, or a model is named for one: hints, embeddings and the names of a person's own
    notes need no submitted text. Makes nothing.
    """
    from core.storage.database import has_pipeline

    if has_pipeline(home):
        return True
    if not os.access(home, os.W_OK) or pages_of(home) is not None:
        return False
    loaded = load_configuration(home)
    found = loaded.configuration
    named = loaded.names_model and found.extraction.provider != "none"
    return mode(found) is not Mode.OFF and (named or found.hints.enabled or bool(found.embedding.model))


def _files(home: Path, user_folder: Path) -> list[Path]:
    return [folder / name for name in (SETTINGS_FILE, ORIGINAL_FILE) for folder in (home, user_folder)]


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _parsed(path: Path) -> Mapping[Any, Any]:
    """What a file holds, nothing for no file. Raises UnreadableError."""
    if path.name != ORIGINAL_FILE:
        return read_toml(path) or {}
    text = read_text(path)
    if text is None:
        return {}
    import yaml

    try:
        document = yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise UnreadableError(" ".join(str(error).split())) from error
    except RecursionError:
        raise UnreadableError("nested too deeply") from None
    if not isinstance(document, Mapping):
        raise UnreadableError("not a table")
    return document


def _kept_whole(configuration: PipelineConfiguration) -> PipelineConfiguration:
    """Off, and with nothing deleted that the file which cannot be read may say to keep."""
    settings = all_settings(PipelineConfiguration)
    longest = {one.name: one.high for one in settings if one.form == "days"}
    return with_values(configuration, {**longest, "enabled": False, "retention.enabled": False})


# What the files give

# The reference asks more of a candidate as soon as the share of the vector score was chosen.
_MIN_SCORE_WITH_ALPHA: Final = 0.3
_IDLE: Final = "it is accepted and does nothing"
_ORIGINAL_SEARCH: Final = ("alpha", "min_score", "minScore")


def given_of(
    document: Mapping[Any, Any], where: str, place: int = 0, *, users: bool = True
) -> Iterator[Given]:
    """What one parsed file gives. place: of the file, from the one that counts first. users: whether it is the user's
    own, which alone may name code. Raises UnreadableError for something else in a table's place.
    """
    original = Path(where).name == ORIGINAL_FILE
    tables: list[tuple[str, Mapping[Any, Any]]] = []
    if not original:
        tables.append((TABLE, _table(document, TABLE)))
    tables.append(("memory.pipelineV2", _table(_table(document, "memory"), "pipelineV2")))
    search = document.get("search")
    if original and isinstance(search, Mapping):
        known = {name: search[name] for name in _ORIGINAL_SEARCH if name in search}
        tables.append(("", {"search": known}))
    for number, (path, table) in enumerate(tables):
        more = Given("", "", None, where, 2 * place + number, TABLE, path != TABLE, users)
        yield from given_in(table, PipelineConfiguration, more, _known_name)


def _table(document: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    found = document.get(name)
    if not isinstance(found, Mapping | None):
        raise UnreadableError(f"{name} is {shown(found)} and no table")
    return found or {}


def _known_name(spelt: str) -> str:
    """A name of a file as the tree has it: `worker.poll_ms` for `worker.pollMs`, `workerPollMs`, `worker_poll_ms`."""
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in spelt)
    return _flat_names().get(name, name)


@cache
def _flat_names() -> dict[str, str]:
    inner = [one for one in all_settings(PipelineConfiguration) if one.section]
    names = {f"{one.section}_{one.field}": one.name for one in inner}
    # Of documents the Signet pipeline speaks in the singular.
    return (
        names | {f"document_{one.field}": one.name for one in inner if one.section == "documents"} | ALIASES
    )


def configuration_of(
    given: Iterable[Given], environ: Mapping[str, str]
) -> tuple[PipelineConfiguration, Warnings]:
    """The configuration that all files give, each value within its range, and what was not taken as given."""
    usable: list[Given] = []
    warnings: list[ConfigurationWarning] = []
    for one in given:
        if one.name.partition(".")[0] in RESERVED:
            warnings.append(one.warning(one.name, None, WarningKind.RESERVED, _IDLE, hidden=True))
        elif one.name in OWN and not one.users:
            if one.value:
                place = user_configuration_folder() / SETTINGS_FILE
                why = f"it names code, so it counts in your own settings alone: {place}"
                warnings.append(one.warning(one.name, None, WarningKind.NOT_USED, why, hidden=True))
        else:
            usable.append(one)
    usable, default, about_models = _with_own_model(usable)
    address, about_address = ollama_endpoint(environ)
    if _is_given("search.alpha", usable):
        default["search.min_score"] = _MIN_SCORE_WITH_ALPHA
    if address:
        default["extraction.endpoint"] = address
    fallback = with_values(PipelineConfiguration(), default)
    reading = read(PipelineConfiguration, usable, fallback, GUARDS, clamps=True)
    configuration = with_values(fallback, reading.values)
    if not configuration.extraction.model:
        own = DEFAULT_MODELS[configuration.extraction.provider]
        configuration = with_values(configuration, {"extraction.model": own})
    configuration, conflicts = cross_checked(configuration, reading.taken)
    if about_address and "extraction.endpoint" not in reading.taken:
        warnings.append(about_address)
    return configuration, (*warnings, *about_models, *reading.warnings, *conflicts)


def _is_given(name: str, given: list[Given]) -> bool:
    return _first(name, given) is not None


def _first(name: str, given: list[Given]) -> Given | None:
    """The value that counts of those given for a setting; None where none can be used."""
    setting = settings_by_name(PipelineConfiguration)[name]
    return next(
        (
            one
            for one in given
            if one.name == name and fitted(setting, one.value, clamps=True).value is not None
        ),
        None,
    )


def _with_own_model(given: list[Given]) -> tuple[list[Given], dict[str, Any], Warnings]:
    """What is given without models that belong to another provider; the defaults of the provider; and what is told.

    A model that stands in a file which counts more than the provider's was meant for it too. Beside a provider that
    cannot be used none is taken.
    """
    provider, model = "extraction.provider", "extraction.model"
    named = [one for one in given if one.name == provider]
    counting = _first(provider, given)
    name = PipelineConfiguration().extraction.provider if counting is None else counting.value
    default: dict[str, Any] = {model: DEFAULT_MODELS[name]}
    if name in ("claude-code", "opencode"):
        default["extraction.timeout"] = COMMAND_TIMEOUT
    if not named:
        return given, default, ()
    last = named[0].place - 1 if counting is None else counting.place
    foreign = [one for one in given if one.name == model and one.place > last]
    why = "its provider cannot be used"
    told = tuple(one.warning(model, default[model], WarningKind.CROSS_CHECK, why) for one in foreign)
    return [one for one in given if one not in foreign], default, told if counting is None else ()


# Keys that must fit each other

# Calls to a model that are made while a job is leased.
_TIMEOUTS: Final = ("extraction.timeout", "hints.timeout", "semantic_contradiction_timeout_ms")


def cross_checked(
    configuration: PipelineConfiguration, given: AbstractSet[str]
) -> tuple[PipelineConfiguration, Warnings]:
    """The configuration with keys that fit each other, and a warning for each that changed.

    given: names of the keys that a person has set. An overlap is at most half a window, a piece at most what is sent, a
    least weight at most the greatest. A lease is at least twice each time limit of a model: where only the lease was
    set, limits that were not set yield; else the lease grows.
    """
    found: list[ConfigurationWarning] = []

    def put(name: str, value: float, hint: str, other: str) -> None:
        nonlocal configuration
        before = value_of(configuration, name)
        if value != before:
            told, kind = f"{hint} {TABLE}.{other}", WarningKind.CROSS_CHECK
            found.append(ConfigurationWarning(name, shown(before), value, kind, told, table=TABLE))
            configuration = with_values(configuration, {name: value})

    def at_most(name: str, most: float, hint: str, other: str) -> None:
        put(name, min(value_of(configuration, name), most), hint, other)

    half = configuration.documents.chunk_size // 2
    at_most("documents.chunk_overlap", half, "at most half of", "documents.chunk_size")
    for name, other in (
        ("guardrails.chunk_target_chars", "guardrails.max_content_chars"),
        ("feedback.min_aspect_weight", "feedback.max_aspect_weight"),
    ):
        at_most(name, value_of(configuration, other), "at most", other)
    lease = "worker.lease_timeout_ms"
    if lease in given:
        for name in _TIMEOUTS:
            if name not in given:
                at_most(name, configuration.worker.lease_timeout_ms // 2, "at most half of", lease)
    longest = max(_TIMEOUTS, key=lambda name: value_of(configuration, name))
    least = max(configuration.worker.lease_timeout_ms, 2 * value_of(configuration, longest))
    put(lease, least, "at least twice", longest)
    return configuration, tuple(found)


# What the environment says: where Ollama answers, as its own client reads it

VARIABLE: Final = "OLLAMA_HOST"
_PORT: Final = 11434
# Addresses that a server listens on; a client reaches it on its own machine.
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}


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
    variable = Given("", "", text, VARIABLE, table=TABLE)
    return "", variable.warning("extraction.endpoint", DEFAULT_ENDPOINT, WarningKind.UNFIT_TEXT, "host:port")


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
    for everywhere, here in _EVERYWHERE.items():
        if host == everywhere or host.startswith(everywhere + ":"):
            host = here + host[len(everywhere) :]
    return web_address(f"{scheme.lower()}://{host}{slash}{path}")
