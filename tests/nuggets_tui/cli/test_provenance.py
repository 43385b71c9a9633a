"""From a submitted text to what came of it, and from a note back to its text, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.pipeline.models.provider import ModelHttpError, Provider

TEXT = (
    "Anna moved the billing service to PostgreSQL. The office cat is called Turing.\nNothing else happened."
)
MOVED, CAT = "Anna moved the billing service to PostgreSQL.", "The office cat is called Turing."
Work = Callable[..., str]


@pytest.fixture
def worked(nuggets: Any) -> Work:
    """Submits a text, works on it, and gives its id."""

    def work(text: str = TEXT, *, settings: str = "", model: Provider | None = None) -> str:
        configure(nuggets.home, settings)
        with open_pipeline(nuggets.home, model, Clock()) as pipeline:
            done = pipeline.ingest(text, session="s-7", project="app")
            drain(pipeline)
        return done.raw_id

    return work


def test_what_no_model_has_read_is_said_with_its_places_and_why(nuggets: Any, worked: Work) -> None:
    raw_id = worked(model=ScriptedModel(always=ModelHttpError("Ollama HTTP 400: bad", status=400)))
    told = nuggets.json("pipeline", "text", raw_id)
    assert (told["status"], told["unread"]) == ("failed", [{"start": 0, "end": len(TEXT)}])
    lines = nuggets.ok("pipeline", "text", raw_id)
    assert f"{len(TEXT)} of {len(TEXT)} characters are not read" in lines
    assert "Ollama HTTP 400: bad" in lines
