"""Every setting of settings.toml: its type, what it may be, its default, and what it is called; the tables of the
pipeline are in a file of their own.

`Meta` bounds and names it. All that reads, checks, lists or explains settings goes by this.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from core.settings.pipeline_sections import PIPELINE_GUARDS, PipelineConfiguration
from core.settings.warnings import ConfigurationWarning, WarningKind

# Words, each with those that mean the same.
Synonyms = tuple[tuple[str, tuple[str, ...]], ...]
Weight = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Ratio = Annotated[float, Meta(gt=0, le=1)]
Hour = Annotated[int, Meta(ge=0, le=23)]
Until = Annotated[int, Meta(ge=0, le=24)]
Natural = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Most = Annotated[int, Meta(ge=0, le=1_000_000)]
Automatic = Literal["ask", "projects", "always", "never"]
Texts = tuple[Annotated[str, Meta(pattern=r"\S")], ...]
"""Texts, none of them empty."""
Interval = Annotated[str, Meta(extra={"form": "interval"})]
"""A length of time such as "10m"; "" for never."""

LONGEST_TEXT: Final = 500
# What counts where a guard's value or name cannot be read: a typing error loosens none.
GUARDS: Final[dict[str, object]] = {
    "schedule.daemon_applies": False, "schedule.app_applies": False, "schedule.promotes": False,
    "promotion.automatic": "ask", "sync.every": "", "sync.on_exit": False,
    "team.trust": "ask", "team.folder": "off",
} | {f"pipeline.{name}": value for name, value in PIPELINE_GUARDS.items()}  # fmt: skip
# What counts in the user's own settings alone: a memory's may come with a project, from anybody.
OWN: Final = ("pipeline.predictor.source", "pipeline.extraction.command")
# Attributes of `Settings` that are no tables of settings: tables whose names a person chooses, and what reading tells.
FREE: Final = ("keys", "synonyms", "names_model", "warnings")


class SearchSettings(msgspec.Struct, frozen=True):
    """Weights of the blend and what bounds it; a weight of 0 switches a part off.

    pair_weight: of pairs of neighbouring words in the vector score. meaning_weight: of words that mean nearly what a
    typed one does, beside the word itself. relevance_floor: share of a query that a note must cover to stand above
    the line; below it is what is less likely.
    """

    vector_weight: Annotated[Weight, Meta(title="Search: weight of overall similarity")] = 0.42
    text_weight: Annotated[Weight, Meta(title="Search: weight of shared words")] = 0.48
    durable_boost: Annotated[Weight, Meta(title="Search: bonus of durable notes")] = 0.05
    own_boost: Annotated[Weight, Meta(title="Search: bonus of notes about you or the assistant")] = 0.03
    confidence_boost: Annotated[Weight, Meta(title="Search: bonus of confident notes")] = 0.05
    pair_weight: Annotated[Weight, Meta(title="Search: weight of word order")] = 1.0
    meaning_weight: Annotated[Share, Meta(title="Search: weight of words that mean the same")] = 0.7
    relevance_floor: Annotated[Share, Meta(title="Search: share of the query a likely hit matches")] = 0.15
    temperature: Annotated[float, Meta(gt=0, title="Search: how evenly hits share their score")] = 0.35
    softmax_over: Annotated[Count, Meta(title="Search: hits that share the score")] = 20
    passages: Annotated[int, Meta(ge=0, le=50, title="Search: parts of documents beside the notes")] = 3


class ReflectionSettings(msgspec.Struct, frozen=True):
    """Limits of a reflection pass; hours are local time. What a run leaves waits for the next. derived_tags: nugget,
    scope and type included.
    """

    hour: Annotated[Hour, Meta(title="Daily pass: hour when it is due")] = 9
    minute: Annotated[int, Meta(ge=0, le=59, title="Daily pass: minute when it is due")] = 0
    max_notes: Annotated[Most, Meta(title="Reflection: most notes changed in one pass")] = 10
    jaccard: Annotated[Ratio, Meta(title="Reflection: share of common words that makes duplicates")] = 0.9
    shared_tokens: Annotated[Count, Meta(title="Reflection: common words that make a link")] = 2
    wanted_links: Annotated[Natural, Meta(title="Reflection: links that a note should have")] = 2
    max_links: Annotated[Natural, Meta(title="Reflection: most links made on one note")] = 8
    often_recalled: Annotated[
        Count, Meta(title="Reflection: recalls that keep a note from being archived")
    ] = 3
    derived_tags: Annotated[Count, Meta(title="Reflection: tags derived for a note")] = 6
    max_archived: Annotated[Most, Meta(title="Reflection: most notes archived in one pass")] = 5
    max_merged: Annotated[Most, Meta(title="Reflection: most notes merged in one pass")] = 5


class ScheduleSettings(msgspec.Struct, frozen=True):
    """Who runs the daily pass unattended (else it waits for a person), and the waking hours (local time) in which a
    missed one is caught up. promotes: whether what is often recalled is written into MEMORY.md along with the pass.
    """

    waking_from: Annotated[Hour, Meta(title="Daily pass: hour from which a missed one is caught up")] = 8
    waking_to: Annotated[Until, Meta(title="Daily pass: hour until which a missed one is caught up")] = 22
    daemon_applies: Annotated[bool, Meta(title="Daily pass: the daemon runs it by itself")] = True
    app_applies: Annotated[bool, Meta(title="Daily pass: the open app runs it by itself")] = False
    promotes: Annotated[bool, Meta(title="Daily pass: always promotes")] = False


class PromotionSettings(msgspec.Struct, frozen=True):
    """What is promoted, and where to when neither the call nor the project folder says.

    automatic: whether the daily pass promotes: "ask" until a person has said, "projects" to the folders in `projects`,
    "always" also to every MEMORY.md that was promoted to before, "never".
    """

    threshold: Annotated[Count, Meta(title="Promotion: recalls until a note is promoted")] = 3
    memory_dir: Annotated[str, Meta(title="Promotion: folder of MEMORY.md")] = ""
    read_lines: Annotated[Count, Meta(title="Promotion: lines of MEMORY.md that agents read")] = 200
    automatic: Annotated[Automatic, Meta(title="Promotion: whether the daily pass promotes")] = "ask"
    projects: Annotated[Texts, Meta(title="Promotion: folders that the daily pass promotes to")] = ()


class BackupSettings(msgspec.Struct, frozen=True):
    """How many backups of each kind are kept: those of a day, and those before a large change."""

    keep: Annotated[int, Meta(ge=1, le=10_000, title="Backups kept of each kind")] = 14


class SyncSettings(msgspec.Struct, frozen=True):
    """When a memory whose sync is set up is synced unasked. every: so often, by the daemon and the open app; "" for
    never. on_exit: when the app is closed, or the daemon ends.
    """

    every: Annotated[Interval, Meta(title="Sync: how often, unasked")] = ""
    on_exit: Annotated[bool, Meta(title="Sync: when the app is closed or the daemon ends")] = False


class TeamSettings(msgspec.Struct, frozen=True):
    """The team's notes in a project's repository. trust: whose are used: "ask" for those of projects that a person
    trusts, "all" for everybody's. folder: where they are: "" for the nearest .nuggets/notes at or above the working
    directory, "off" for none, else a folder.
    """

    trust: Annotated[Literal["ask", "all"], Meta(title="Team: which projects' notes are used")] = "ask"
    folder: Annotated[str, Meta(title="Team: folder of its notes")] = ""


class AgentSettings(msgspec.Struct, frozen=True):
    """What agents are told unasked. advise: before an agent edits a file or runs a command, a rule that names it."""

    advise: Annotated[bool, Meta(title="Agents: rules before an action")] = True


class InferenceSettings(msgspec.Struct, frozen=True):
    """Words that tell whom or what a memory speaks of when no prefix does; matched as whole words."""

    assistant_words: Annotated[Texts, Meta(title="Words that mean the assistant")] = (
        "assistant", "itself", "persona", "your voice", "my voice", "agent's",
    )  # fmt: skip
    project_words: Annotated[Texts, Meta(title="Words that mean a project")] = (
        "project", "milestone", "sprint", "roadmap",
    )  # fmt: skip
    shared_words: Annotated[Texts, Meta(title="Words that mean shared knowledge")] = (
        "api", "branch", "build", "ci", "cli", "cluster", "code", "command", "config", "container", "database",
        "deploy", "deployment", "docker", "endpoint", "env", "file", "files", "function", "git", "host", "kubernetes",
        "lint", "makefile", "module", "package", "path", "pipeline", "port", "postgres", "production", "prod",
        "redis", "release", "repo", "repository", "schema", "script", "server", "service", "sql", "staging", "test",
        "tests", "tool", "toolbox", "url", "workflow",
    )  # fmt: skip
    user_words: Annotated[Texts, Meta(title="Words that mean the user")] = (
        "user", "friend", "wife", "husband", "partner", "favorite", "favourite", "likes", "prefers", "preference",
        "birthday", "i", "my", "mine",
    )  # fmt: skip
    preference_words: Annotated[Texts, Meta(title="Words that mean a preference")] = (
        "pref", "prefs", "preference", "preferences", "prefers", "favorite", "favourite",
    )  # fmt: skip
    style_words: Annotated[Texts, Meta(title="Words that mean a style")] = (
        "style", "tone", "voice", "formatting", "convention", "conventions",
    )  # fmt: skip
    relationship_words: Annotated[Texts, Meta(title="Words that mean a relationship")] = (
        "relationship", "friend", "wife", "husband", "partner", "colleague",
    )  # fmt: skip
    temporary_prefixes: Annotated[Texts, Meta(title="Beginnings of titles that mean temporary")] = (
        "tmp", "temp", "scratch",
    )  # fmt: skip


class AppSettings(msgspec.Struct, frozen=True):
    """How the terminal app is used: counts in the user's own file alone. vim: h, j, k and l move, and half pages with
    ctrl+d and ctrl+u. theme: "" for the app's own.
    """

    vim: Annotated[bool, Meta(title="Vim keys")] = False
    theme: Annotated[str, Meta(title="Theme")] = ""


class Settings(msgspec.Struct, frozen=True):
    """All settings of a memory. keys: what the table [keys] gives to each command of the app, in its order; None for
    what is no text. Which commands and keys there are, the app knows. synonyms: what the table [search.words] gives:
    words, each with those that mean the same. names_model: whether a file says which model the pipeline asks.
    """

    search: SearchSettings = SearchSettings()
    reflection: ReflectionSettings = ReflectionSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    promotion: PromotionSettings = PromotionSettings()
    inference: InferenceSettings = InferenceSettings()
    backups: BackupSettings = BackupSettings()
    sync: SyncSettings = SyncSettings()
    team: TeamSettings = TeamSettings()
    agents: AgentSettings = AgentSettings()
    app: AppSettings = AppSettings()
    pipeline: PipelineConfiguration = PipelineConfiguration()
    keys: tuple[tuple[str, str | None], ...] = ()
    synonyms: Synonyms = ()
    names_model: bool = False
    warnings: tuple[ConfigurationWarning, ...] = ()

    @property
    def problems(self) -> tuple[ConfigurationWarning, ...]:
        """What could not be used: all that is warned of but names that mean nothing here, which are ignored."""
        ignored = (WarningKind.UNKNOWN_KEY, WarningKind.NOT_USED, WarningKind.RESERVED)
        return tuple(one for one in self.warnings if one.why not in ignored)

    @property
    def of_pipeline(self) -> tuple[ConfigurationWarning, ...]:
        """What is told of the pipeline's settings."""
        return tuple(one for one in self.warnings if not one.name or one.name.startswith("pipeline"))
