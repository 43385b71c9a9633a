"""The providers that a configuration names."""

from __future__ import annotations

from typing import Final

from core.pipeline.models.commands import ClaudeCode, OpenCode, OwnCommand
from core.pipeline.models.ollama import Ollama
from core.pipeline.models.provider import EmbeddingProvider, NamedProvider
from core.settings.pipeline_sections import DEFAULT_MODELS, PipelineConfiguration
from core.settings.pipeline_sections import Provider as ProviderName

# Room for twenty facts and fifty relations; a model that repeats itself ends there.
ANSWER_TOKENS: Final = 4_096
# What is extracted should not change from one call to the next.
TEMPERATURE: Final = 0.1


def provider_of(configuration: PipelineConfiguration) -> NamedProvider | None:
    """The provider of a configuration; None when it names none."""
    return _made(configuration.extraction.provider, configuration.extraction.model, configuration)


def fallback_of(configuration: PipelineConfiguration) -> NamedProvider | None:
    """The provider that is asked when the other fails, with its own model; None for none, or the same one."""
    name = configuration.extraction.fallback_provider
    if name == configuration.extraction.provider or configuration.extraction.provider == "none":
        return None
    return _made(name, DEFAULT_MODELS[name], configuration)


def embedder_of(configuration: PipelineConfiguration) -> EmbeddingProvider | None:
    """The provider of embeddings; None where no model is named for them."""
    part = configuration.embedding
    if not part.model or part.provider != "ollama":
        return None
    endpoint = part.endpoint or configuration.extraction.endpoint
    return Ollama(endpoint, part.model, dimensions=part.dimensions)


def reranker_of(configuration: PipelineConfiguration) -> NamedProvider | None:
    """The model that puts hits in order; None where none is named, or there is no provider."""
    part = configuration.reranker
    if not part.enabled or not part.model:
        return None
    return _made(configuration.extraction.provider, part.model, configuration)


def deadline_of(configuration: PipelineConfiguration) -> float:
    """Seconds that one call may take."""
    return configuration.extraction.timeout / 1_000


def _made(name: ProviderName, model: str, configuration: PipelineConfiguration) -> NamedProvider | None:
    if name == "ollama":
        endpoint = configuration.extraction.endpoint
        return Ollama(endpoint, model, max_tokens=ANSWER_TOKENS, context="fit", temperature=TEMPERATURE)
    if name == "claude-code":
        return ClaudeCode(model)
    if name == "command":
        return OwnCommand(configuration.extraction.command)
    return OpenCode(model) if name == "opencode" else None
