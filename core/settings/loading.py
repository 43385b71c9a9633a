"""Settings of one memory: the defaults, then what its files and those of the user say, then the environment.

One rule for whatever cannot be used, a value or a whole file: the default counts, of a guard the strict value, and a
warning says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from core.settings.pipeline_sections import (
    ALIASES,
    COMMAND_TIMEOUT,
    DEFAULT_ENDPOINT,
    DEFAULT_MODELS,
    RESERVED,
)
from core.settings.sections import GUARDS, LONGEST_TEXT, OWN, Settings, Texts
from core.settings.warnings import ConfigurationWarning, WarningKind, printable, shown
from core.user_folders import file_stats

SETTINGS_FILE: Final = "settings.toml"
# Of the Signet pipeline, whose settings are understood.
ORIGINAL_FILE: Final = "agent.yaml"
OLLAMA_VARIABLE: Final = "OLLAMA_HOST"
_MOST_DIGITS: Final = 20
_PIPELINE: Final = "pipeline"
_WORDS: Final = "search.words"
_LARGEST: Final = 1_000_000
# A file of another kind given by mistake would otherwise fill the screen.
_MOST_UNKNOWN: Final = 30
_ENVIRONMENT: Final = {
    "MEMORY_REFLECTION_HOUR": "reflection.hour",
    "MEMORY_REFLECTION_MINUTE": "reflection.minute",
    "MEMORY_REFLECTION_MAX_NOTES": "reflection.max_notes",
}
_PROVIDER, _MODEL = "pipeline.extraction.provider", "pipeline.extraction.model"
_ENDPOINT: Final = "pipeline.extraction.endpoint"
# The reference asks more of a candidate as soon as the share of the vector score was chosen.
_MIN_SCORE_WITH_ALPHA: Final = 0.3
# Calls to a model that are made while a job is leased.
_TIMEOUTS: Final = ("extraction.timeout", "hints.timeout", "semantic_contradiction_timeout_ms")


class Source(NamedTuple):
    """A file of settings as it was read. table: what it holds. own: whether it is the memory's settings.toml, which
    gives all settings; other files give those of the pipeline. users: whether it is in the user's own folder. unread:
    why it cannot be read, "" where it can.
    """

    where: str
    table: Mapping[Any, Any]
    own: bool = False
    users: bool = False
    unread: str = ""

    @property
    def original(self) -> bool:
        """Whether the file is the Signet pipeline's."""
        return self.where.endswith(ORIGINAL_FILE)

    @property
    def settings(self) -> Mapping[Any, Any]:
        """The settings that count in it, by our tables."""
        if self.own:
            return {name: value for name, value in self.table.items() if name != "keys"}
        if not self.original:
            return {_PIPELINE: self.table.get(_PIPELINE, {})}
        memory = self.table.get("memory") or {}
        pipeline = (memory.get("pipelineV2") or {}) if isinstance(memory, Mapping) else memory
        search = _table(self.table, "search")
        known = {name: search[name] for name in ("alpha", "min_score", "minScore") if name in search}
        return {_PIPELINE: {"search": known, **pipeline} if isinstance(pipeline, Mapping) else pipeline}


class Given(NamedTuple):
    """A value as a file gives it. name: of its setting or table, or of what is none. spelt: as it stands there.
    place: of its source, from the one that counts first; -1 for the environment.
    """

    name: str
    spelt: str
    value: Any
    source: Source
    place: int = -1

    def warning(self, why: WarningKind, used: Any = None, hint: str = "") -> ConfigurationWarning:
        """What is told of it; a text under a name that nobody knows may be anything, a secret too."""
        known = why is WarningKind.UNUSABLE
        is_text = isinstance(self.value, str) and (not known or "@" in self.value)
        told = used if isinstance(used, bool | int | float | str) else None
        name, given = (
            self.name if known else printable(self.spelt),
            "a text" if is_text else shown(self.value),
        )
        return ConfigurationWarning(name, given, told, why, hint, self.source.where)


class SettingsReader:
    """The settings of a memory, read again when one of their files is another than it was."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._read: tuple[object, Settings] | None = None

    def read(self) -> Settings:
        """The settings as they are now."""
        # Before they are read: a file that changes in between is read once more.
        versions = [file_stats(str(path)) for path in _files(self._home, _user_folder())]
        if self._read is None or self._read[0] != versions:
            self._read = versions, load_settings(self._home)
        return self._read[1]


def load_settings(
    home: Path, environ: Mapping[str, str] | None = None, *, user_folder: Path | None = None
) -> Settings:
    """Settings for the memory in `home`. Never fails: no command is to stop for a value mistyped.

    The memory's settings.toml gives all of them; for the pipeline, the user's settings.toml and an agent.yaml of the
    Signet pipeline beside either count too, in this order. user_folder: None for the system's. environ: None for that
    of the process.
    """
    users = user_folder or _user_folder()
    sources: list[Source] = []
    for path in _files(home, users):
        table, unread = _document(path)
        if table or unread:
            sources.append(
                Source(str(path), table, path == home / SETTINGS_FILE, path.parent == users, unread)
            )
    environ = os.environ if environ is None else environ
    variables = {name: text for name in (*_ENVIRONMENT, OLLAMA_VARIABLE) if (text := environ.get(name, ""))}
    # Most memories have no such file, and what their first frame waits for reads no tree of settings.
    return settings_of(sources, variables) if sources or variables else Settings()


def _user_folder() -> Path | None:
    from core.folder import user_configuration_folder

    try:
        return user_configuration_folder()
    except (OSError, RuntimeError):
        return None


def _files(home: Path, user_folder: Path | None) -> list[Path]:
    """Those that may give settings, from the one that counts first."""
    folders = dict.fromkeys(folder for folder in (home, user_folder) if folder is not None)
    return [folder / name for name in (SETTINGS_FILE, ORIGINAL_FILE) for folder in folders]


def _document(path: Path) -> tuple[dict[Any, Any], str]:
    """What a file holds, nothing for no file; and why it cannot be read."""
    try:
        if path.exists() and not path.is_file():
            return {}, "not a regular file"
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            return {}, f"longer than {_LARGEST:,} characters"
        if path.name != ORIGINAL_FILE:
            import tomllib

            return tomllib.loads(text), ""
        import yaml

        found = yaml.safe_load(text) or {}
        return (found, "") if isinstance(found, dict) else ({}, "not a table")
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except UnicodeDecodeError:
        return {}, "not UTF-8 text"
    except RecursionError:
        return {}, "nested too deeply"
    except ImportError:
        return {}, "PyYAML is not installed"
    except Exception as error:
        # What the system, TOML and YAML raise has no common class.
        return {}, " ".join(str(getattr(error, "strerror", None) or error).split())


# What the files give


def _all_given(sources: Sequence[Source], environ: Mapping[str, str]) -> Iterator[Given]:
    """Every value that is given, from what counts first."""
    for variable, name in _ENVIRONMENT.items():
        if text := environ.get(variable, "").strip():
            number = int(text) if len(text) < _MOST_DIGITS and text.isdecimal() else text
            yield Given(name, variable, number, Source(variable, {}))
    for place, source in enumerate(sources):
        found = [Given(*one, source, place) for one in _flat(source.settings)]
        # A setting's own name goes before one of the top level that means the same.
        yield from sorted(found, key=lambda one: -one.spelt.count("."))


def _flat(table: Mapping[Any, Any], above: str = "", spelt_above: str = "") -> Iterator[tuple[str, str, Any]]:
    """Each value with its name and the spelling of it; a table of settings that is no table as a whole.

    Names of the pipeline are read in any spelling: `worker.poll_ms` as `worker.pollMs`, `workerPollMs`,
    `worker_poll_ms`.
    """
    from core.settings.tree import sections

    for key, value in table.items():
        text = key if isinstance(key, str) else shown(key)
        name, spelt = above + text, spelt_above + text
        if name.startswith(f"{_PIPELINE}."):
            name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
            name = _aliases().get(name, name)
        if name in sections() and isinstance(value, Mapping):
            yield from _flat(value, f"{name}.", f"{spelt}.")
        elif name != _WORDS:
            yield name, spelt, value


@cache
def _aliases() -> dict[str, str]:
    """Other names of the pipeline's settings, by which the Signet pipeline knows them."""
    from core.settings.tree import settings_by_name

    names = {f"{_PIPELINE}.{alias}": f"{_PIPELINE}.{name}" for alias, name in ALIASES.items()}
    for name in settings_by_name():
        top, _, inner = name.partition(".")
        if top == _PIPELINE and "." in inner:
            flat = inner.replace(".", "_")
            # Of documents the Signet pipeline speaks in the singular.
            for one in (flat, flat.replace("documents_", "document_", 1)):
                names.setdefault(f"{_PIPELINE}.{one}", name)
    return names


def _table(above: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    found = above.get(name)
    return found if isinstance(found, Mapping) else {}


def _free_tables(source: Source, warnings: list[ConfigurationWarning]) -> dict[str, Any]:
    """What [keys] and [search.words] give, whose names a person chooses, by attribute of `Settings`."""

    def right(name: str, value: Any, type: Any, hint: str) -> Any:
        try:
            return msgspec.convert(value, type)
        except (msgspec.ValidationError, RecursionError):
            warnings.append(Given(name, name, value, source).warning(WarningKind.UNUSABLE, None, hint))
            return None

    keys = right("keys", source.table.get("keys", {}), dict[str, Any], "a table") or {}
    words = right(_WORDS, _table(source.table, "search").get("words", {}), dict[str, Any], "a table") or {}
    listed, synonyms = "a list of strings, none of them empty", list[tuple[str, Any]]()
    for word, others in words.items():
        several = [others] if isinstance(others, str) else others
        synonyms.append((word, right(f"{_WORDS}.{word}", several, Texts, listed)))
    return {
        "keys": tuple((name, key if isinstance(key, str) else None) for name, key in keys.items()),
        "synonyms": tuple((word, others) for word, others in synonyms if others is not None),
    }


# From what is given to settings


def settings_of(sources: Sequence[Source], environ: Mapping[str, str]) -> Settings:
    """The settings that files give, the first that names one counts; the environment before all of them. Never raises.

    Unknown tables and keys are ignored, so that a newer version's file still loads, unless they are nearly a guard's.
    """
    from core.settings.tree import settings_by_name, usable, with_values

    known, warnings = settings_by_name(), list[ConfigurationWarning]()
    free, strict = dict[str, Any](), dict[str, object]()
    first, strangers = dict[str, Given](), list[Given]()
    for one in _all_given(sources, environ):
        if one.name in OWN and not one.source.users:
            why = "it names code, so it counts in your own settings alone"
            warnings += [one.warning(WarningKind.NOT_USED, None, why)] if one.value else []
        elif one.name in known:
            first.setdefault(one.name, one)
        else:
            strangers.append(one)
    for source in sources:
        free = _free_tables(source, warnings) if source.own else free
        if source.unread:
            name = "" if source.own else _PIPELINE
            strict |= {guard: value for guard, value in GUARDS.items() if guard.startswith(name)}
            unread = WarningKind.UNREADABLE
            warnings.append(ConfigurationWarning(name, "", None, unread, source.unread, source.where))
    names_model = bool({_PROVIDER, _MODEL} & first.keys())
    defaults = _defaults(first, environ.get(OLLAMA_VARIABLE, ""), warnings)
    values = dict(defaults)
    for name, one in first.items():
        value = usable(known[name], one.value)
        if value is None:
            value = GUARDS.get(name, defaults.get(name, known[name].default))
            warnings.append(one.warning(WarningKind.UNUSABLE, value, known[name].allowed))
        elif value == "opencode":
            hint = 'OpenCode is never asked; set "ollama" or "claude-code"'
            warnings.append(one.warning(WarningKind.NOT_USED, None, hint))
        values[name] = value
    values[_MODEL] = values[_MODEL] or defaults[_MODEL]
    values |= strict | _meant_guards(strangers, warnings)
    settings = _fitting_each_other(with_values(Settings(), values), warnings)
    return replace(settings, **free, names_model=names_model, warnings=tuple(warnings))


def _defaults(
    first: dict[str, Given], ollama_host: str, warnings: list[ConfigurationWarning]
) -> dict[str, Any]:
    """Defaults that go by what else is given. A model that stands in a file which counts less than the one that names
    the provider, or beside a provider that cannot be used, belongs to another one: it is taken out of what is given.
    """
    from core.settings.tree import settings_by_name, usable, web_address

    provider, known = first.get(_PROVIDER), settings_by_name()[_PROVIDER]
    named = None if provider is None else usable(known, provider.value)
    if provider is not None and _MODEL in first and (named is None or first[_MODEL].place > provider.place):
        del first[_MODEL]
    named = named or known.default
    found: dict[str, Any] = {_MODEL: DEFAULT_MODELS[named]}
    if named in ("claude-code", "command", "opencode"):
        found["pipeline.extraction.timeout"] = COMMAND_TIMEOUT
    if "pipeline.search.alpha" in first:
        found["pipeline.search.min_score"] = _MIN_SCORE_WITH_ALPHA
    if text := ollama_host.strip().strip("\"'").strip():
        # As Ollama's own client reads it: `host`, `host:port`, `:port`, `[ipv6]:port`, each with or without a scheme.
        scheme, _, rest = text.rpartition("://")
        rest = f"[{rest}]" if rest.count(":") > 1 and not rest.startswith("[") else rest
        try:
            parts = urlsplit(f"{scheme or 'http'}://{'localhost' * rest.startswith(':')}{rest}")
            port = parts.port or (None if scheme else 11434)
            # A server listens everywhere; a client reaches it on its own machine.
            host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(parts.hostname or "", parts.hostname or "")
            host = f"[{host}]" if ":" in host else host
            address = web_address(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}")
        except ValueError:
            address = ""
        address = address if len(text) <= LONGEST_TEXT and text.isprintable() else ""
        found[_ENDPOINT] = address or DEFAULT_ENDPOINT
        if not address and _ENDPOINT not in first:
            variable = Given(_ENDPOINT, _ENDPOINT, ollama_host, Source(OLLAMA_VARIABLE, {}))
            warnings.append(variable.warning(WarningKind.UNUSABLE, DEFAULT_ENDPOINT, "host:port"))
    return found


def _meant_guards(strangers: Sequence[Given], warnings: list[ConfigurationWarning]) -> dict[str, object]:
    """The guards that mistyped names may mean, or that tables hold which are none, with their strict values."""
    from core.settings.tree import near_name, sections

    found: dict[str, object] = {}
    for one in strangers[:_MOST_UNKNOWN]:
        is_table, above = one.name in sections(), one.name.rpartition(".")[0]
        # The Signet pipeline knows more settings than this one.
        passed = WarningKind.RESERVED if one.name in RESERVED else WarningKind.NOT_USED
        ignored = passed is WarningKind.RESERVED or one.source.original
        near = one.name if is_table else "" if ignored else near_name(one.name)
        meant = near if not above or near.startswith(f"{above}.") else ""
        guards = {
            name: value for name, value in GUARDS.items() if meant and f"{name}.".startswith(f"{meant}.")
        }
        found |= guards
        unknown = WarningKind.GUARDED if guards else WarningKind.UNKNOWN_KEY
        why = WarningKind.UNUSABLE if is_table else passed if ignored else unknown
        hint = "a table" if is_table else f"did you mean {near}?" if near else ""
        used = next(iter(guards.values())) if len(guards) == 1 else None
        warnings.append(one.warning(why, used, hint))
    if rest := strangers[_MOST_UNKNOWN:]:
        # A file of another kind: nobody looks through all of it for what each may mean.
        ignored = all(one.source.original for one in rest)
        found |= {} if ignored else GUARDS
        more = f"{rest[0].name.partition('.')[0]} and {len(rest)} more"
        why = WarningKind.NOT_USED if ignored else WarningKind.GUARDED
        warnings.append(rest[0]._replace(spelt=more).warning(why))
    return found


def _fitting_each_other(settings: Settings, warnings: list[ConfigurationWarning]) -> Settings:
    """The settings with those of the pipeline that go together put right, and a warning for each that changed: an
    overlap is at most half a window, a piece at most what is sent, a least weight at most the greatest, and a lease at
    least twice each time limit of a model.
    """
    from core.settings.tree import value_of, with_values

    pipeline = settings.pipeline
    documents, texts, feedback = pipeline.documents, pipeline.guardrails, pipeline.feedback
    longest = max(_TIMEOUTS, key=lambda name: float(value_of(pipeline, name)))
    for name, fitting, rule in (
        ("documents.chunk_overlap", min(documents.chunk_overlap, documents.chunk_size // 2),
         "at most half of pipeline.documents.chunk_size"),
        ("guardrails.chunk_target_chars", min(texts.chunk_target_chars, texts.max_content_chars),
         "at most pipeline.guardrails.max_content_chars"),
        ("feedback.min_aspect_weight", min(feedback.min_aspect_weight, feedback.max_aspect_weight),
         "at most pipeline.feedback.max_aspect_weight"),
        ("worker.lease_timeout_ms", max(pipeline.worker.lease_timeout_ms, 2 * value_of(pipeline, longest)),
         f"at least twice pipeline.{longest}"),
    ):  # fmt: skip
        before, full = value_of(pipeline, name), f"{_PIPELINE}.{name}"
        if before != fitting:
            warnings.append(ConfigurationWarning(full, shown(before), fitting, WarningKind.CROSS_CHECK, rule))
            settings = with_values(settings, {full: fitting})
    return settings
