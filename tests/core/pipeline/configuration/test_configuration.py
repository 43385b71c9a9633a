"""The pipeline's configuration: every key of the reference, read with warnings and never with an error."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from kits.written_configuration import ParsedConfiguration, camel_case, read_configuration

from core.settings.pipeline_sections import PIPELINE_GUARDS, PipelineConfiguration
from core.settings.tree import settings_by_name, usable, value_of
from core.settings.warnings import WarningKind

VECTORS = Path(__file__).parents[1] / "vectors"
CONFIG = json.loads((VECTORS / "config.json").read_text(encoding="utf-8"))["config"]
# What nothing is ever sent for is reserved, and has no setting.
TABLE = [
    row
    for row in json.loads((VECTORS / "configuration_table.json").read_text(encoding="utf-8"))
    if not row["name"].startswith("telemetry")
]
KEYS = {
    name.removeprefix("pipeline."): one
    for name, one in settings_by_name().items()
    if name.startswith("pipeline.")
}
BY_REFERENCE = {camel_case(name): name for name in KEYS}

# Where this pipeline decides otherwise than the reference's table: its model is local, the reranker is off unless set,
# and decisions to change or delete are blocked unless somebody allows them.
OURS = {
    "extraction.provider": "ollama",
    "extraction.model": "qwen3:4b",
    "reranker.enabled": False,
    "autonomous.allowUpdateDelete": False,
}

# Names of the reference's older files, on the top level of the table.
LEGACY = {
    "extractionProvider": "extraction.provider", "extractionModel": "extraction.model",
    "extractionEndpoint": "extraction.endpoint", "extractionBaseUrl": "extraction.endpoint",
    "extractionTimeout": "extraction.timeout", "minFactConfidenceForWrite": "extraction.min_confidence",
    "extractionFallbackProvider": "extraction.fallback_provider", "workerPollMs": "worker.poll_ms",
    "workerMaxRetries": "worker.max_retries", "leaseTimeoutMs": "worker.lease_timeout_ms",
    "workerLeaseTimeoutMs": "worker.lease_timeout_ms", "graphEnabled": "graph.enabled",
    "graphBoostWeight": "graph.boost_weight", "graphBoostTimeoutMs": "graph.boost_timeout_ms",
    "rerankerEnabled": "reranker.enabled", "rerankerModel": "reranker.model", "rerankerTopN": "reranker.top_n",
    "rerankerTimeoutMs": "reranker.timeout_ms", "autonomousEnabled": "autonomous.enabled",
    "autonomousFrozen": "autonomous.frozen", "allowUpdateDelete": "autonomous.allow_update_delete",
    "maintenanceIntervalMs": "autonomous.maintenance_interval_ms",
    "maintenanceMode": "autonomous.maintenance_mode", "repairReembedCooldownMs": "repair.reembed_cooldown_ms",
    "repairReembedHourlyBudget": "repair.reembed_hourly_budget",
    "repairRequeueCooldownMs": "repair.requeue_cooldown_ms",
    "repairRequeueHourlyBudget": "repair.requeue_hourly_budget",
    "repairDedupCooldownMs": "repair.dedup_cooldown_ms", "repairDedupHourlyBudget": "repair.dedup_hourly_budget",
    "repairDedupSemanticThreshold": "repair.dedup_semantic_threshold",
    "repairDedupBatchSize": "repair.dedup_batch_size", "documentChunkSize": "documents.chunk_size",
    "documentWorkerIntervalMs": "documents.worker_interval_ms", "documentChunkOverlap": "documents.chunk_overlap",
    "documentMaxContentBytes": "documents.max_content_bytes",
}  # fmt: skip


def _read(table: Any) -> ParsedConfiguration:
    return read_configuration({"pipeline": table})


def _table(flat: dict[str, Any]) -> dict[str, Any]:
    """A vector's input as a table: `section.key`, with `flat` and `nested` before a name as the vectors write it."""
    table: dict[str, Any] = {}
    for name, value in flat.items():
        section, _, key = name.removeprefix("nested ").removeprefix("flat ").rpartition(".")
        (table.setdefault(section, {}) if section else table)[key] = value
    return table


def _numbers(value: Any) -> list[Any]:
    return [math.nan, math.inf, -math.inf] if value == "NaN or Infinity" else [value]


def _ours(vector: dict[str, Any]) -> dict[str, Any]:
    """What is expected here: where the reference takes the nearest value in range, or the default of a guard, the
    default counts, and of a guard the strict value.
    """
    expected = dict(vector["expected"])
    for name, value in vector["input"].items():
        known = BY_REFERENCE.get(name)
        if known and name in expected and usable(KEYS[known], value) is None:
            expected[name] = PIPELINE_GUARDS.get(known, KEYS[known].default)
    return expected


@pytest.mark.parametrize("vector", CONFIG, ids=lambda vector: vector["id"])
def test_values_are_read_as_the_reference_reads_them(vector: dict[str, Any]) -> None:
    expected = _ours(vector)
    expected.pop("warnings", None)
    inputs = [{}]
    for name, value in vector["input"].items():
        inputs = [{**known, name: number} for known in inputs for number in _numbers(value)]
    for given in inputs:
        for reading in (
            _read(_table(given)),
            read_configuration(original={"memory": {"pipelineV2": _table(given)}}),
        ):
            if expected == {"all": "defaults"}:
                assert reading == (PipelineConfiguration(), ())
            elif vector["id"] != "config.23":
                assert {
                    name: value_of(reading.configuration, BY_REFERENCE[name]) for name in expected
                } == expected
                told = {camel_case(warning.name.removeprefix("pipeline.")) for warning in reading.warnings}
                assert {name for name, value in expected.items() if given.get(name, value) != value} <= told


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_each_key_of_the_reference_has_its_default_and_its_range(row: dict[str, Any]) -> None:
    key = KEYS[BY_REFERENCE[row["name"]]]
    assert key.default == OURS.get(row["name"], row["default"])
    assert type(key.default) is type(OURS.get(row["name"], row["default"]))
    if "range" in row:
        assert [key.low, key.high] == row["range"]
    assert set(row.get("choices", ())) <= set(key.choices)


def test_every_legacy_name_is_read_and_yields_to_the_nested_one() -> None:
    for legacy, name in LEGACY.items():
        key = KEYS[name]
        others: tuple[Any, ...] = (*key.choices, key.low, not key.default, "http://example.test:1")
        other = next(one for one in others if one != key.default and usable(key, one) == one)
        reading = _read({legacy: other})
        if name != "worker.lease_timeout_ms":
            # A lease is at least twice the time limits.
            assert value_of(reading.configuration, name) == other, legacy
        assert WarningKind.UNKNOWN_KEY not in [warning.why for warning in reading.warnings], legacy
        section, _, field = name.rpartition(".")
        assert (
            value_of(_read({legacy: other, section: {field: key.default}}).configuration, name) == key.default
        )


@pytest.mark.parametrize(
    ("table", "name", "meant"),
    [
        ({"worker": {"polMs": 1}}, "worker.polMs", "worker.poll_ms"),
        ({"pollMs": 1}, "pollMs", "worker.poll_ms"), ({"dampning": {}}, "dampning", "dampening"),
        ({"shadow": True}, "shadow", "shadow_mode"),
        ({"hints": {"chunkSize": 1}}, "hints.chunkSize", "documents.chunk_size"),
        ({"worker": {"MaxRetries": 1}}, "worker.MaxRetries", "worker.max_retries"),
        ({"zzzzqqqq": 1}, "zzzzqqqq", ""),
    ],
)  # fmt: skip
def test_an_unknown_key_is_told_with_the_one_that_was_meant(
    table: dict[str, Any], name: str, meant: str
) -> None:
    (warning,) = _read(table).warnings
    why = WarningKind.GUARDED if meant in PIPELINE_GUARDS else WarningKind.UNKNOWN_KEY
    assert (warning.name, warning.why) == (f"pipeline.{name}", why)
    assert warning.hint == (f"did you mean pipeline.{meant}?" if meant else "")
    assert warning.message.startswith(f"settings.toml: pipeline.{name}: ")


def test_what_only_the_original_knows_is_no_slip_of_the_pen_in_its_own_table() -> None:
    table = {"traversal": {"enabled": True}, "hints": {"maxTokens": 3}}
    reading = read_configuration(original={"memory": {"pipelineV2": table}})
    assert {(warning.name, warning.why) for warning in reading.warnings} == {
        ("pipeline.traversal", WarningKind.NOT_USED),
        ("pipeline.hints.maxTokens", WarningKind.NOT_USED),
    }


def test_a_file_of_another_kind_does_not_fill_the_screen() -> None:
    warnings = _read({f"qx{number}zz": number for number in range(5000)}).warnings
    assert len(warnings) == 31
    assert warnings[-1].name == "pipeline and 4970 more"


def test_secrets_stand_in_no_warning() -> None:
    table = {
        "telemetry": {"posthogApiKey": "phc_hidden\n"},
        "apiKey": "sk-hidden",
        "extraction": {"endpoint": "ftp://me:hidden@host"},
    }
    table["telemetry"]["posthogApiKey"] = "phc\x00hidden"
    warnings = _read(table).warnings
    assert len(warnings) == 3
    assert not any("hidden" in warning.message + warning.given for warning in warnings)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"documents": {"chunkSize": 1000, "chunkOverlap": 501}}, {"documents.chunkOverlap": 500}),
        ({"documents": {"chunkSize": 300}}, {"documents.chunkOverlap": 150}),
        ({"guardrails": {"chunkTargetChars": 900}}, {"guardrails.chunkTargetChars": 500}),
        ({"extraction": {"timeout": 300_000}}, {"worker.leaseTimeoutMs": 600_000}),
        (
            {"worker": {"leaseTimeoutMs": 60_000}, "extraction": {"timeout": 40_000}},
            {"worker.leaseTimeoutMs": 90_000},
        ),
        ({"feedback": {"minAspectWeight": 0.9, "maxAspectWeight": 0.4}}, {"feedback.minAspectWeight": 0.4}),
    ],
)
def test_keys_that_do_not_fit_each_other_are_put_right_and_told(
    table: dict[str, Any], expected: dict[str, Any]
) -> None:
    reading = _read(table)
    for name, value in expected.items():
        assert value_of(reading.configuration, BY_REFERENCE[name]) == value
    assert reading.warnings
    assert {warning.why for warning in reading.warnings} == {WarningKind.CROSS_CHECK}


@pytest.mark.parametrize(
    ("table", "provider", "model"),
    [
        ({"extraction": {"provider": "claude-code"}}, "claude-code", "haiku"),
        ({"extraction": {"provider": "opencode"}}, "opencode", ""),
        ({"extraction": {"model": "gemma3"}}, "ollama", "gemma3"),
        ({"extractionProvider": "claude-code", "extractionModel": "sonnet"}, "claude-code", "sonnet"),
        ({"extraction": {"provider": "gpt", "model": "gpt-9"}}, "ollama", "qwen3:4b"),
        ({"extraction": {"provider": "claude-code", "model": "--version"}}, "claude-code", "haiku"),
    ],
)  # fmt: skip
def test_a_model_stays_with_its_provider(table: dict[str, Any], provider: str, model: str) -> None:
    extraction = _read(table).configuration.extraction
    assert (extraction.provider, extraction.model) == (provider, model)


@pytest.mark.parametrize(
    ("variable", "endpoint"),
    [
        ("gpu", "http://gpu:11434"), ("gpu:8080", "http://gpu:8080"), (":8080", "http://localhost:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"), ("0.0.0.0:9", "http://127.0.0.1:9"),
        ("https://gpu.example/", "https://gpu.example"), ("[::1]:8080", "http://[::1]:8080"),
        ("::1", "http://[::1]:11434"), ("  'gpu' ", "http://gpu:11434"), ("", "http://localhost:11434"),
    ],
)  # fmt: skip
def test_ollama_is_where_the_environment_says(variable: str, endpoint: str) -> None:
    reading = read_configuration(environ={"OLLAMA_HOST": variable})
    assert reading.configuration.extraction.endpoint == endpoint
    assert reading.warnings == ()
