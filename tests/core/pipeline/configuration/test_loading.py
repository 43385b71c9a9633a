"""The configuration of a memory from its files: which one counts, and that none of them can stop anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.written_configuration import as_toml

from core.folder import user_configuration_folder
from core.pipeline.configuration import LoadedConfiguration, load_configuration, newer
from core.pipeline.modes import Mode, mode
from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.tree import all_settings, value_of
from core.settings.warnings import WarningKind

HOSTILE = [
    b"\xff\xfe",
    b"[pipeline",
    b"pipeline = 3\npipeline = 4",
    b"\x00",
    b"a = " + b"[" * 100_000,
    b"a = " + b"9" * 5_000,
]
HOSTILE_YAML = [
    b"\xff\xfe",
    b"memory: [",
    b"- a\n- b",
    b"just text",
    b"a: &a [*a]\n*a : 1",
    b"\x00",
    b"!!python/object:os.system {}",
]


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


def load(home: Path, user: Path, in_force: PipelineConfiguration | None = None) -> LoadedConfiguration:
    return load_configuration(home, {}, user_folder=user, in_force=in_force)


def polls(loaded: LoadedConfiguration) -> int:
    return loaded.configuration.worker.poll_ms


def test_without_files_the_defaults_count_and_none_is_made(home: Path, user: Path) -> None:
    loaded = load(home, user)
    assert loaded.configuration == PipelineConfiguration()
    assert loaded.warnings == ()
    assert list(home.iterdir()) == list(user.iterdir()) == []
    assert load(home / "nowhere", user / "nowhere").configuration == PipelineConfiguration()


def test_the_memory_goes_before_the_user_and_both_before_the_original(home: Path, user: Path) -> None:
    flat = "memory:\n  pipelineV2:\n    worker: {pollMs: %d, maxRetries: %d}\n    documentChunkSize: %d\n"
    put(user, "agent.yaml", flat % (4_000, 9, 5_000) + "    graph: {boostWeight: 0.5}\n")
    assert polls(load(home, user)) == 4_000
    put(home, "agent.yaml", flat % (3_000, 8, 4_000))
    assert polls(load(home, user)) == 3_000
    put(user, "settings.toml", "[pipeline.worker]\npollMs = 2_500\nmaxRetries = 7\n")
    assert polls(load(home, user)) == 2_500
    put(home, "settings.toml", "[search]\ndimension = 512\n[pipeline.worker]\npollMs = 2_222\n")
    loaded = load(home, user)
    assert polls(loaded) == 2_222
    assert loaded.configuration.worker.max_retries == 7
    assert loaded.configuration.documents.chunk_size == 4_000
    assert loaded.configuration.graph.boost_weight == 0.5
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
    configuration = loaded.configuration
    assert mode(configuration) is Mode.SHADOW
    assert (configuration.search.alpha, configuration.search.min_score) == (0.6, 0.2)
    assert (configuration.extraction.provider, configuration.extraction.min_confidence) == (
        "claude-code",
        0.8,
    )
    assert configuration.autonomous.allow_update_delete
    assert loaded.warnings == ()


def test_what_is_written_out_reads_back_the_same(home: Path, user: Path) -> None:
    put(home, "settings.toml", as_toml(PipelineConfiguration()))
    assert load(home, user).configuration == PipelineConfiguration()


def test_a_wrong_value_is_told_with_its_file_and_stops_nothing(home: Path, user: Path) -> None:
    put(
        user,
        "settings.toml",
        "[pipeline]\nenabled = 'yes'\nshadowMod = true\n[pipeline.worker]\npollMs = 1\n",
    )
    loaded = load(home, user)
    assert polls(loaded) == 100
    told = {(warning.name, warning.why): warning for warning in loaded.warnings}
    assert set(told) == {
        ("enabled", WarningKind.WRONG_TYPE),
        ("shadowMod", WarningKind.UNKNOWN_KEY),
        ("shadow_mode", WarningKind.GUARDED),
        ("worker.poll_ms", WarningKind.OUT_OF_RANGE),
    }
    assert {warning.where for warning in loaded.warnings} == {str(user / "settings.toml")}
    assert "did you mean pipeline.shadow_mode?" in told["shadowMod", WarningKind.UNKNOWN_KEY].message


@pytest.mark.parametrize(
    ("name", "data"),
    [("settings.toml", data) for data in HOSTILE] + [("agent.yaml", data) for data in HOSTILE_YAML],
)
def test_a_file_that_cannot_be_read_holds_the_pipeline_until_it_can_be(
    home: Path, user: Path, name: str, data: bytes
) -> None:
    put(home, name, data)
    loaded = load(home, user)
    assert mode(loaded.configuration) is Mode.OFF
    (warning,) = loaded.warnings
    assert warning.why is WarningKind.UNREADABLE
    assert warning.where == str(home / name)
    assert warning.message.isprintable()
    assert (home / name).read_bytes() == data


def test_a_file_that_breaks_while_it_is_used_changes_nothing(home: Path, user: Path) -> None:
    put(home, "settings.toml", "[pipeline]\nshadowMode = true\n")
    first = load(home, user)
    assert mode(first.configuration) is Mode.SHADOW
    put(home, "settings.toml", "[pipeline]\nshadowMode = tr")
    second = newer(first, home, {}, user_folder=user)
    assert second is not None
    assert second.configuration == first.configuration
    assert "the current settings stay" in second.warnings[0].message
    put(home, "settings.toml", "[pipeline]\nshadowMode = fal")
    third = newer(second, home, {}, user_folder=user)
    assert third is not None
    assert third.configuration == first.configuration
    put(home, "settings.toml", "[pipeline]\nshadowMode = false\n")
    fourth = newer(third, home, {}, user_folder=user)
    assert fourth is not None
    assert mode(fourth.configuration) is Mode.CONTROLLED_WRITE
    assert fourth.warnings == ()


def test_what_stood_in_for_a_file_broken_from_the_start_is_no_ones_wish(home: Path, user: Path) -> None:
    put(home, "settings.toml", "[pipeline")
    first = load(home, user)
    put(home, "settings.toml", "[pipeline.worker")
    second = newer(first, home, {}, user_folder=user)
    assert second is not None
    assert mode(second.configuration) is Mode.OFF
    put(home, "settings.toml", "[pipeline]\n")
    third = newer(second, home, {}, user_folder=user)
    assert third is not None
    assert mode(third.configuration) is Mode.CONTROLLED_WRITE


def test_files_are_read_again_only_when_one_of_them_is_another(home: Path, user: Path) -> None:
    loaded = load(home, user)
    assert newer(loaded, home, {}, user_folder=user) is None
    for folder, name in (
        (home, "settings.toml"),
        (user, "settings.toml"),
        (home, "agent.yaml"),
        (user, "agent.yaml"),
    ):
        put(folder, name, "")
        again = newer(loaded, home, {}, user_folder=user)
        assert again is not None, (folder, name)
        assert newer(again, home, {}, user_folder=user) is None
        loaded = again
    (home / "settings.toml").unlink()
    assert newer(loaded, home, {}, user_folder=user) is not None


def test_what_is_no_regular_file_is_not_waited_for(home: Path, user: Path) -> None:
    os.mkfifo(home / "settings.toml")
    (home / "agent.yaml").mkdir()
    loaded = load(home, user)
    assert [warning.where for warning in loaded.warnings] == [
        str(home / "settings.toml"),
        str(home / "agent.yaml"),
    ]
    assert all("not a regular file" in warning.message for warning in loaded.warnings)


def test_a_file_of_another_size_altogether_is_not_read_whole(home: Path, user: Path) -> None:
    put(home, "agent.yaml", b"# " + b"x" * 2_000_000)
    assert "longer than 1,000,000 characters" in load(home, user).warnings[0].message


def test_the_environment_names_an_ollama_where_no_file_does(home: Path, user: Path) -> None:
    there = {"OLLAMA_HOST": "models.lan:8080"}
    loaded = load_configuration(home, there, user_folder=user)
    assert loaded.configuration.extraction.endpoint == "http://models.lan:8080"
    put(home, "settings.toml", "[pipeline.extraction]\nendpoint = 'http://127.0.0.1:1234'\n")
    loaded = load_configuration(home, there, user_folder=user)
    assert loaded.configuration.extraction.endpoint == "http://127.0.0.1:1234"


@pytest.mark.parametrize(("provider", "seconds"), [("ollama", 45), ("claude-code", 60), ("opencode", 60)])
def test_a_command_has_more_time_unless_a_timeout_is_named(
    home: Path, user: Path, provider: str, seconds: int
) -> None:
    text = f"[pipeline.extraction]\nprovider = '{provider}'\n"
    put(home, "settings.toml", text)
    assert load(home, user).configuration.extraction.timeout == seconds * 1_000
    put(home, "settings.toml", text + "timeout = 45_000\n")
    assert load(home, user).configuration.extraction.timeout == 45_000


def test_the_users_folder_is_that_of_the_system(home: Path) -> None:
    folder = user_configuration_folder()
    assert folder.name == "nuggets"
    folder.mkdir(parents=True)
    put(folder, "settings.toml", "[pipeline.worker]\npollMs = 3_333\n")
    assert polls(load_configuration(home, {})) == 3_333


@given(st.binary(max_size=200), st.sampled_from(["settings.toml", "agent.yaml"]))
def test_whatever_stands_in_a_file_nothing_fails(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    put(folder, name, data)
    loaded = load(folder, folder / "nowhere")
    assert isinstance(loaded.configuration, PipelineConfiguration)
    assert all(warning.message.isprintable() for warning in loaded.warnings)


@pytest.mark.parametrize("days", ["0", "-1", "0.5", "-1e308"])
@pytest.mark.parametrize(
    "key", ["retention.removed_days", "retention.transcript_days", "continuity.retention_days"]
)
def test_no_day_is_never_a_shorter_time_than_none_said(home: Path, user: Path, key: str, days: str) -> None:
    part, name = key.split(".")
    put(home, "settings.toml", f"[pipeline.{part}]\n{name} = {days}\n")
    loaded = load_configuration(home, {}, user_folder=user)
    default = next(one.default for one in all_settings(PipelineConfiguration) if one.name == key)
    assert getattr(getattr(loaded.configuration, part), name) == default
    (warning,) = loaded.warnings
    assert (warning.name, warning.why, warning.used) == (key, WarningKind.OUT_OF_RANGE, default)


@pytest.mark.parametrize("content", HOSTILE)
def test_while_a_file_cannot_be_read_nothing_is_deleted_that_it_may_say_to_keep(
    home: Path, user: Path, content: bytes
) -> None:
    put(home, "settings.toml", content)
    put(user, "settings.toml", "[pipeline.retention]\nremoved_days = 1\n")
    found = load_configuration(home, {}, user_folder=user).configuration
    assert not found.retention.enabled
    assert (found.retention.removed_days, found.retention.transcript_days) == (3_650, 3_650)
    assert found.continuity.retention_days == 90
    # Once it was read, what was in force stays.
    put(home, "settings.toml", "[pipeline.retention]\nremoved_days = 60\n")
    good = load_configuration(home, {}, user_folder=user).configuration
    put(home, "settings.toml", content)
    stays = load_configuration(home, {}, user_folder=user, in_force=good).configuration
    assert stays.retention.removed_days == 60
    assert stays.retention.enabled


@pytest.mark.parametrize(
    ("written", "name", "strict"),
    [("shadow_mode = 'ture'", "shadow_mode", True), ("enabled = 'no'", "enabled", False),
     ("mutations_frozen = 1", "mutations_frozen", True), ("enabeld = false", "enabled", False),
     ("[pipeline.autonomus]\nenabled = false", "autonomous.enabled", False)],
)  # fmt: skip
def test_a_typing_error_loosens_no_guard(tmp_path: Path, written: str, name: str, strict: bool) -> None:
    (tmp_path / "settings.toml").write_text(f"[pipeline]\n{written}\n")
    found = load_configuration(tmp_path, {}, user_folder=tmp_path / "none")
    assert value_of(found.configuration, name) is strict
    assert (name, strict) in [(one.name, one.used) for one in found.warnings]
