"""A real Ollama, where OLLAMA_HOST names one that answers: the same calls as to the fake one."""

from __future__ import annotations

import os

import pytest
from kits.written_configuration import read_configuration

from core.pipeline.extract import extract
from core.pipeline.model_calls import provider_of
from core.pipeline.models.ollama import Ollama

# Taken before the tests are cut off from the environment of whoever runs them.
ENVIRON = dict(os.environ)
CONFIGURATION = read_configuration(environ=ENVIRON).configuration.extraction
TEXT = "We chose PostgreSQL over MongoDB for the billing service, because the reports need joins."


@pytest.fixture(scope="module")
def ollama() -> Ollama:
    if not ENVIRON.get("OLLAMA_HOST"):
        pytest.skip("OLLAMA_HOST names no Ollama")
    model = ENVIRON.get("NUGGETS_TEST_MODEL", CONFIGURATION.model)
    table = {"pipeline": {"extraction": {"endpoint": CONFIGURATION.endpoint, "model": model}}}
    found = provider_of(read_configuration(table).configuration)
    assert isinstance(found, Ollama)
    available = found.available()
    if not available.ok:
        pytest.skip(available.message)
    return found


@pytest.mark.timeout(600)
def test_it_extracts_facts(ollama: Ollama) -> None:
    extraction = extract(TEXT, ollama, deadline=500.0)
    assert extraction.facts
    assert any("PostgreSQL" in fact.content for fact in extraction.facts)
    assert extraction.model == ollama.model


@pytest.mark.timeout(600)
def test_it_counts_tokens_and_does_not_think(ollama: Ollama) -> None:
    schema = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
    answer = ollama.generate('Answer with {"facts": []}.', schema, 500.0)
    assert answer.text.startswith("{")
    assert answer.prompt_tokens
    assert answer.answer_tokens
    assert "<think>" not in answer.text


def test_it_tells_which_models_it_has(ollama: Ollama) -> None:
    assert ollama.models()
    assert Ollama(ollama.endpoint, "no-such-model:never").available().reason == "model_missing"
