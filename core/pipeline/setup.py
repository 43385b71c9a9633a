"""Finds a model, tries it with one text, and says which settings name it. Writes nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from core.errors import InvalidInputError, NotFoundError
from core.pipeline.extract import extract
from core.pipeline.model_calls import deadline_of, provider_of
from core.pipeline.models.ollama import Ollama
from core.pipeline.models.provider import ModelError, UnreadableAnswerError
from core.settings.pipeline_sections import DEFAULT_MODELS, PipelineConfiguration

TEXT: Final = "We chose PostgreSQL over MongoDB for the billing service because the reports need joins."
HOW_TO_BEGIN: Final = (
    "install Ollama and start it with `ollama serve`, or let Claude Code answer: --provider claude-code"
)
# Of names of models that make vectors or put hits in order, and answer nothing.
_NO_ANSWERS: Final = ("embed", "bge-", "minilm", "rerank", "e5-")


@dataclass(frozen=True, slots=True)
class TriedModel:
    """A model that found facts in a text. where: its server, "" for a command. models: all that the server has.

    seconds: that it took. settings: values by name, as `Memory.save_settings` takes them.
    """

    provider: str
    model: str
    where: str
    models: tuple[str, ...]
    facts: tuple[str, ...]
    seconds: float
    settings: dict[str, Any]


def try_model(
    configuration: PipelineConfiguration, provider: Literal["ollama", "claude-code"], wanted: str = ""
) -> TriedModel:
    """Looks for a provider and its models, takes one, and has it read a text.

    wanted: the model, "" for the configured one where it is there, else the first that answers questions. Raises
    NotFoundError, and InvalidInputError for a model that finds nothing; a ModelError where none can be asked.
    """
    part = configuration.extraction
    names: tuple[str, ...] = ()
    where = ""
    usual = part.model if part.provider == provider else DEFAULT_MODELS[provider]
    model = wanted or usual
    if provider == "ollama":
        where = part.endpoint
        try:
            names = tuple(dict.fromkeys(Ollama(where, "").models()))
        except ModelError as error:
            error.reword(todo=error.todo or HOW_TO_BEGIN)
            raise
        model = _chosen(names, usual, wanted)
    asked = msgspec.structs.replace(part, provider=provider, model=model)
    found = provider_of(msgspec.structs.replace(configuration, extraction=asked))
    assert found is not None
    there = found.available()
    if not there.ok:
        raise NotFoundError(there.message, where=provider, kept="nothing was changed")
    began = time.monotonic()
    try:
        facts = tuple(one.content for one in extract(TEXT, found, deadline=deadline_of(configuration)).facts)
    except UnreadableAnswerError as error:
        raise _finds_nothing(model, error.what) from error
    if not facts:
        raise _finds_nothing(model, "it answered, and found no fact in the text that it was tried with")
    settings = {"pipeline.extraction.provider": provider, "pipeline.extraction.model": model}
    return TriedModel(provider, model, where, names, facts, time.monotonic() - began, settings)


def _chosen(names: Sequence[str], usual: str, wanted: str) -> str:
    told = [name for name in names if not any(part in name.lower() for part in _NO_ANSWERS)]
    for name in filter(None, (wanted, usual)):
        if name in names or f"{name}:latest" in names:
            return name
        if wanted:
            raise NotFoundError(
                f"the server has no model {wanted}", where="--model", kept="nothing was changed",
                todo=f"fetch it with `ollama pull {wanted}`" + (f", or take {', '.join(told)}" if told else ""),
            )  # fmt: skip
    if told:
        return told[0]
    raise NotFoundError(
        "the server has no model yet", where="Ollama", kept="nothing was changed",
        todo=f"fetch one with `ollama pull {DEFAULT_MODELS['ollama']}` (2.5 GB), and come back",
    )  # fmt: skip


def _finds_nothing(model: str, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"{model} cannot do this work: {why}", where="--model", kept="nothing was changed",
        todo="name a larger one with --model",
    )  # fmt: skip
