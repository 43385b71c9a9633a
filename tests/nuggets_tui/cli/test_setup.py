"""A model set up as a new user does it, its first fact, and two entities that are one thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kits.fake_ollama import FakeOllama, Line


def first_sentence(prompt: str) -> Line:
    """Takes the first sentence of a text for a decision."""
    text = json.loads(prompt.rpartition("Text: ")[2].rpartition("\nAnswer:")[0])
    said = text.split(". ")[0]
    return {
        "facts": [{"content": said, "quote": said, "type": "decision", "confidence": 0.9}],
        "entities": [],
    }


def test_from_a_bare_folder_to_the_first_fact_in_three_commands(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = ("nomic-embed-text:latest", "llama3.2:3b")
    with FakeOllama(by_prompt=first_sentence, models=there) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        tried = nuggets.json("pipeline", "setup", "--dry-run")
        assert (tried["model"], tried["models"]) == ("llama3.2:3b", list(there))
        assert len(tried["facts"]) == 1
        assert not (nuggets.home / "settings.toml").exists()
        made = nuggets.json("pipeline", "setup", "--yes")["changeSet"]
        nuggets.ok("ingest", "-", input="We chose PostgreSQL over MongoDB because the reports need joins.")
        nuggets.ok("daemon", "--once", "--pipeline")
        assert [note["content"] for note in nuggets.notes()] == [
            "We chose PostgreSQL over MongoDB because the reports need joins."
        ]
        # The same once more changes nothing.
        assert nuggets.json("pipeline", "setup", "--yes")["changeSet"] is None
        nuggets.ok("undo", made)
    assert not (nuggets.home / "settings.toml").exists()


@pytest.mark.parametrize(
    ("models", "options", "says"),
    [
        ((), (), "ollama pull qwen3:4b"),
        (("bge-m3:latest",), (), "ollama pull qwen3:4b"),
        (("llama3:8b",), ("--model", "mistral"), "llama3:8b"),
    ],
)
def test_a_model_that_is_not_there_is_told_with_what_fetches_it(
    nuggets: Any,
    monkeypatch: pytest.MonkeyPatch,
    models: tuple[str, ...],
    options: tuple[str, ...],
    says: str,
) -> None:
    with FakeOllama(models=models) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert says in nuggets.fails("pipeline", "setup", "--yes", *options, code=1)


@pytest.mark.parametrize("said", ["I cannot do that.", {"facts": [], "entities": []}])
def test_a_model_that_finds_nothing_is_not_kept(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch, said: Line
) -> None:
    with FakeOllama([said]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert "--model" in nuggets.fails("pipeline", "setup", "--yes", code=2)
    assert not (nuggets.home / "settings.toml").exists()
    assert "ollama serve" in nuggets.fails("pipeline", "setup", "--yes", code=2)


def test_two_names_of_one_thing_become_one_entity_and_two_again(nuggets: Any) -> None:
    for text in ("The team runs Postgres in Frankfurt.", "Anna tuned PostgreSQL for the reports."):
        nuggets.ok("ingest", "-", input=text)
    merged = nuggets.json("pipeline", "merge", "postgresql", "Postgres")
    assert (merged["name"], merged["aliases"]) == ("PostgreSQL", ["Postgres"])
    assert "Postgres" not in [one["name"] for one in nuggets.json("pipeline", "entities")]
    nuggets.ok("pipeline", "part", "PostgreSQL", "Postgres")
    assert "Postgres" in [one["name"] for one in nuggets.json("pipeline", "entities", "post")]
    assert "pipeline entities" in nuggets.fails("pipeline", "merge", "PostgreSQL", "Oracle", code=1)
