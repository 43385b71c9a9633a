"""The configuration of a memory from its files: which one counts, and that none of them can stop anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.pipeline.modes import Mode, mode
from core.settings import Settings, load_settings
from core.settings.pipeline_sections import PIPELINE_GUARDS
from core.settings.tree import value_of
from core.settings.warnings import WarningKind

HOSTILE_YAML = [
    b"\xff\xfe", b"memory: [", b"- a\n- b", b"just text", b"a: &a [*a]\n*a : 1", b"\x00",
    b"!!python/object:os.system {}",
]  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)


def load(home: Path, user: Path) -> Settings:
    return load_settings(home, {}, user_folder=user)


def polls(loaded: Settings) -> int:
    return loaded.pipeline.worker.poll_ms


def test_the_memory_goes_before_the_user_and_both_before_the_original(home: Path, user: Path) -> None:
    flat = "memory:\n  pipelineV2:\n    worker: {pollMs: %d, maxRetries: %d}\n    documentChunkSize: %d\n"
    put(user, "agent.yaml", flat % (4_000, 9, 5_000) + "    graph: {boostWeight: 0.5}\n")
    assert polls(load(home, user)) == 4_000
    put(home, "agent.yaml", flat % (3_000, 8, 4_000))
    assert polls(load(home, user)) == 3_000
    put(user, "settings.toml", "[pipeline.worker]\npollMs = 2_500\nmaxRetries = 7\n")
    assert polls(load(home, user)) == 2_500
    put(home, "settings.toml", "[pipeline.worker]\npollMs = 2_222\n")
    loaded = load(home, user)
    assert polls(loaded) == 2_222
    assert loaded.pipeline.worker.max_retries == 7
    assert loaded.pipeline.documents.chunk_size == 4_000
    assert loaded.pipeline.graph.boost_weight == 0.5
    assert loaded.warnings == ()


def test_a_configuration_of_the_original_is_read_with_its_names(home: Path, user: Path) -> None:
    text = (
        "# made by the original\nname: me\nsearch:\n  alpha: 0.6\n  min_score: 0.2\n  top_k: 20\nmemory:\n"
        "  database: memory/memories.db\n  pipelineV2:\n    enabled: true\n    shadowMode: true\n"
        "    extractionProvider: claude-code\n    extractionModel: haiku\n    minFactConfidenceForWrite: 0.8\n"
        "    autonomous:\n      allowUpdateDelete: yes\n"
    )
    put(home, "agent.yaml", text)
    loaded = load(home, user)
    configuration = loaded.pipeline
    assert mode(configuration) is Mode.SHADOW
    assert (configuration.search.alpha, configuration.search.min_score) == (0.6, 0.2)
    assert (configuration.extraction.provider, configuration.extraction.min_confidence) == (
        "claude-code",
        0.8,
    )
    assert configuration.autonomous.allow_update_delete
    assert loaded.warnings == ()


@pytest.mark.parametrize("data", HOSTILE_YAML)
def test_a_file_that_cannot_be_read_holds_the_pipeline_and_deletes_nothing_until_it_can_be(
    home: Path, user: Path, data: bytes
) -> None:
    put(user, "settings.toml", "[pipeline]\nenabled = true\n[pipeline.retention]\nremoved_days = 1\n")
    put(home, "agent.yaml", data)
    loaded = load(home, user)
    assert mode(loaded.pipeline) is Mode.OFF
    assert {name: value_of(loaded.pipeline, name) for name in PIPELINE_GUARDS} == PIPELINE_GUARDS
    assert loaded.schedule == Settings().schedule
    (warning,) = loaded.warnings
    assert (warning.name, warning.why) == ("pipeline", WarningKind.UNREADABLE)
    assert warning.where == str(home / "agent.yaml")
    assert warning.message.isprintable()
    assert (home / "agent.yaml").read_bytes() == data


@pytest.mark.parametrize(("provider", "seconds"), [("ollama", 45), ("claude-code", 60), ("opencode", 60)])
def test_a_command_has_more_time_unless_a_timeout_is_named(
    home: Path, user: Path, provider: str, seconds: int
) -> None:
    text = f"[pipeline.extraction]\nprovider = '{provider}'\n"
    put(home, "settings.toml", text)
    assert load(home, user).pipeline.extraction.timeout == seconds * 1_000
    put(home, "settings.toml", text + "timeout = 45_000\n")
    assert load(home, user).pipeline.extraction.timeout == 45_000


@pytest.mark.parametrize("days", ["0", "-1", "0.5", "-1e308", "100000", "'ever'"])
@pytest.mark.parametrize(
    "key", ["retention.removed_days", "retention.transcript_days", "continuity.retention_days"]
)
def test_days_that_cannot_be_read_never_delete_anything_sooner(
    home: Path, user: Path, key: str, days: str
) -> None:
    part, name = key.split(".")
    put(home, "settings.toml", f"[pipeline.{part}]\n{name} = {days}\n")
    loaded = load(home, user)
    longest = PIPELINE_GUARDS[key]
    assert value_of(loaded.pipeline, key) == longest
    (warning,) = loaded.warnings
    assert (warning.name, warning.why, warning.used) == (f"pipeline.{key}", WarningKind.UNUSABLE, longest)
