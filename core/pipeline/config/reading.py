"""From parsed files to a valid configuration and the warnings a person is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.errors import BrokenFileError, InvalidInputError
from core.pipeline.config.cross_checks import cross_checked, with_value
from core.pipeline.config.environment import ollama_endpoint
from core.pipeline.config.given_values import GivenValue, Table, given_values, unknown_names
from core.pipeline.config.keys import Key, all_keys, key_named
from core.pipeline.config.parts import COMMAND_TIMEOUT, DEFAULT_MODELS, PipelineConfiguration
from core.pipeline.config.values import Fitted, fitted
from core.pipeline.config.warnings import ConfigurationWarning, WarningKind, printable, shown

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


def read_configuration(
    settings: Any = None,
    original: Any = None,
    *,
    environ: Mapping[str, str] | None = None,
    settings_name: str = "settings.toml",
    original_name: str = "agent.yaml",
) -> ParsedConfiguration:
    """The configuration that parsed files give.

    settings: settings.toml as plain data; its table [pipeline] counts, then [memory.pipelineV2]. original: the
    reference's agent.yaml, of which memory.pipelineV2 counts, and alpha and min_score of search. None for a file that
    is not there. What stands in the settings goes before the original's file, and both before `environ`
    (OLLAMA_HOST). Raises InvalidInputError when a file is no mapping at all; everything else becomes a warning.
    """
    tables: list[Table] = []
    warnings: list[ConfigurationWarning] = []
    for document, name in ((settings, settings_name), (original, original_name)):
        if document is not None:
            found, more = tables_of(_mapping(document, name), name, original=document is original)
            tables += found
            warnings += more
    read = read_tables(*tables, environ=environ)
    return ParsedConfiguration(read.configuration, (*warnings, *read.warnings))


def tables_of(
    document: Mapping[Any, Any], where: str, *, original: bool
) -> tuple[list[Table], list[ConfigurationWarning]]:
    """The pipeline's tables of one parsed file, the one that counts first before the other. original: agent.yaml."""
    tables: list[Table] = []
    warnings: list[ConfigurationWarning] = []
    if not original:
        _add(tables, warnings, document, ("pipeline",), where)
    _add(tables, warnings, document, ("memory", "pipelineV2"), where)
    search = document.get("search")
    if original and isinstance(search, Mapping):
        known = {name: search[name] for name in _ORIGINAL_SEARCH if name in search}
        tables.append(Table(where, {"search": known}))
    return tables, warnings


def read_toml(
    text: str, *, environ: Mapping[str, str] | None = None, name: str = "settings.toml"
) -> ParsedConfiguration:
    """The configuration in a text of TOML, as `read_configuration`. Raises BrokenFileError for what is no TOML."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        said = "nested too deeply" if isinstance(error, RecursionError) else error
        raise BrokenFileError(
            f"the pipeline's configuration cannot be read ({said})",
            where=name,
            kept="no file was changed",
            todo="fix the file, or move it away to use the defaults",
        ) from error
    return read_configuration(document, environ=environ, settings_name=name)


def read_tables(*tables: Table, environ: Mapping[str, str] | None = None) -> ParsedConfiguration:
    """The configuration that the pipeline's tables of several files give; the earlier table counts. Never raises."""
    values: dict[str, Any] = {}
    warnings: list[ConfigurationWarning] = []
    given: set[str] = set()
    provider = _chosen(
        key_named("extraction.provider"), given_values(key_named("extraction.provider"), tables)
    )
    for key in all_keys():
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
    if "search.alpha" in given and "search.minScore" not in given:
        values["search.minScore"] = _MIN_SCORE_WITH_ALPHA
    if "extraction.timeout" not in given and provider.value in ("claude-code", "opencode"):
        values["extraction.timeout"] = COMMAND_TIMEOUT
    if "extraction.endpoint" not in given:
        address, warning = ollama_endpoint(environ or {})
        values["extraction.endpoint"] = address or values["extraction.endpoint"]
        warnings += [warning] if warning else []
    configuration = PipelineConfiguration()
    for name, value in values.items():
        if value != key_named(name).default:
            configuration = with_value(configuration, name, value)
    configuration, conflicts = cross_checked(configuration, given)
    warnings += conflicts
    for table in tables:
        warnings += unknown_names(table)
    return ParsedConfiguration(configuration, tuple(warnings))


def _mapping(document: Any, where: str) -> Mapping[Any, Any]:
    if isinstance(document, Mapping):
        return document
    raise InvalidInputError(
        f"the configuration must be a table, not {shown(document)}",
        where=where,
        kept="no file was changed",
        todo="fix the file, or move it away to use the defaults",
    )


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
    tables.append(Table(where, inner))


def _chosen(key: Key, found: list[GivenValue]) -> _Chosen:
    """The first value that the key can have, else the default."""
    first: tuple[GivenValue, Fitted] | None = None
    told: list[tuple[GivenValue, WarningKind, str]] = []
    refused: list[GivenValue] = []
    for candidate in found:
        fit = fitted(key, candidate.value)
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


def _model(key: Key, found: list[GivenValue], provider: _Chosen) -> _Chosen:
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
    return ConfigurationWarning(warning.name, warning.given, used, warning.why, warning.hint, warning.where)


def _warning(key: Key, candidate: GivenValue, used: Any, why: WarningKind, hint: str) -> ConfigurationWarning:
    given = "a text" if _may_be_secret(key, candidate.value) else shown(candidate.value)
    if key.section and why is not WarningKind.OVERRIDDEN and candidate.flat:
        hint = "; ".join(part for part in (hint, f"written as {printable(candidate.spelt)}") if part)
    return ConfigurationWarning(key.name, given, used, why, hint, candidate.where)


def _may_be_secret(key: Key, given: Any) -> bool:
    return isinstance(given, str) and (
        key.field == "posthog_api_key" or (key.field == "endpoint" and "@" in given)
    )
