"""Whatever a file holds, the configuration that comes of it is valid."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.written_configuration import as_table, as_toml, camel_case, read_configuration, read_toml

from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.tree import sections, settings_by_name, value_of

KEYS = {
    name.removeprefix("pipeline."): key
    for name, key in settings_by_name().items()
    if name.startswith("pipeline.")
}
_names = st.sampled_from(
    [name for key, one in KEYS.items() for name in (camel_case(one.field), one.field, key.replace(".", "_"))]
)
_sections = st.sampled_from(sorted(one.removeprefix("pipeline.") for one in sections() if "pipeline." in one))
_strange_names = st.one_of(
    st.text(max_size=20), st.integers(), st.none(), st.booleans(), st.floats(), st.just("\ud800")
)
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**400), max_value=10**400),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(min_value=0, max_value=1),
    st.integers(min_value=0, max_value=700_000),
    st.text(max_size=30),
    st.sampled_from(
        ["ollama", "claude-code", "opencode", "none", "observe", "execute", "http://[", "-x", "\ud800"]
    ),
    st.binary(max_size=5),
    st.just(datetime.date(2026, 1, 1)),
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(_names, _strange_names), inner, max_size=4)
    ),
    max_leaves=8,
)
_tables = st.dictionaries(
    st.one_of(_names, _sections, _strange_names),
    st.one_of(_values, st.dictionaries(st.one_of(_names, _strange_names), _values, max_size=8)),
    max_size=12,
)


@pytest.mark.slow
@given(_tables, st.one_of(st.none(), _tables), st.text(max_size=30))
def test_any_mapping_gives_a_valid_configuration_that_is_written_and_read_back(
    table: dict[Any, Any], other: dict[Any, Any] | None, host: str
) -> None:
    configuration, warnings = read_configuration(
        {"pipeline": table}, {"memory": {"pipelineV2": other}, **table}, environ={"OLLAMA_HOST": host}
    )
    # Types, ranges and choices are those of the parts.
    assert msgspec.convert(as_table(configuration), PipelineConfiguration, strict=True) == configuration
    for name, key in KEYS.items():
        assert type(value_of(configuration, name)) is type(key.default)
    for warning in warnings:
        assert warning.message.isprintable()
        assert len(warning.message) < 500
    again = read_configuration({"pipeline": as_table(configuration)})
    assert again == (configuration, ())
    assert read_toml(as_toml(configuration)) == (configuration, ())


@pytest.mark.slow
@given(_values)
def test_any_value_in_the_place_of_a_table_is_read_and_switches_nothing_on(value: Any) -> None:
    for document in ({"pipeline": value}, {"memory": value}, {"memory": {"pipelineV2": value}}):
        settings, original = (document, None) if "pipeline" in document else (None, document)
        found = read_configuration(settings, original)
        assert not found.configuration.enabled or isinstance(value, dict) or not value


def test_a_table_that_holds_itself_is_read() -> None:
    table: dict[str, Any] = {"enabled": False}
    table["worker"] = table
    table["extraction"] = {"model": table}
    assert not read_configuration({"pipeline": table}).configuration.enabled


def test_a_name_as_long_as_a_book_is_told_in_one_line() -> None:
    (warning,) = read_configuration({"pipeline": {"x" * 1_000_000: "y" * 1_000_000}}).warnings
    assert len(warning.message) < 200
