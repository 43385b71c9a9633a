"""Texts that were handed in to the demo memory, with what was found in them waiting for a decision."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.model.change import Author
from tools.demo.handwritten import read_table
from tools.demo.resizing import DEMO, numbered

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.models.provider import Answer, Availability, Schema

_PERSON: Final = "mira"
_PROJECT: Final = "ferry"
_NUGGET: Final = "project"
# No visit asks a model that it was not told of: what the demo shows was found beforehand.
_SETTINGS: Final = """\
# In the demo nothing found in a text is written before you accept it, and no model is asked.
# With one of your own: provider = "ollama".

[pipeline]
shadow_mode = true

[pipeline.extraction]
provider = "none"
"""
_CANDIDATE: Final = re.compile(r"^(C\d+): (.*)$", re.MULTILINE)
_FACT: Final = re.compile(r"^(F\d+): (\{.*\}) beside ", re.MULTILINE)
_SURE: Final = 0.86


def submit_texts(home: Path) -> None:
    """Hands the texts in to a demo memory and works on them; of its notes none is touched."""
    from core.memory import Memory

    settings = home / "settings.toml"
    settings.touch(mode=0o600)
    settings.write_text(_SETTINGS, encoding="utf-8")
    ids = numbered()
    with closing(Memory.open(home, author=DEMO)) as memory:
        for row in read_table("data/texts.toml")["text"]:
            _work_on(row, memory, lambda: f"{int(ids(), 16):016x}")


def _work_on(row: Mapping[str, Any], memory: Memory, ids: Callable[[], str]) -> None:
    from core.pipeline.service import Pipeline

    at: datetime = row["at"]
    by = Author("person", _PERSON) if row["by"] == _PERSON else Author("agent", row["by"])
    with Pipeline.open(
        memory.home, memory=memory, author=by, clock=lambda: at, ids=ids, chance=lambda: 0.0,
        provider=_FoundBefore(row), name="demo",
    ) as pipeline:  # fmt: skip
        pipeline.ingest(row["text"].strip(), nugget=_NUGGET, project=_PROJECT, session=row["session"])
        while pipeline.tick().did_something:
            pass


@dataclass(frozen=True, slots=True)
class _FoundBefore:
    """A model that knows what is to be found in one text."""

    row: Mapping[str, Any]
    name = identity = model = "the demo"

    def available(self) -> Availability:
        """It is there."""
        from core.pipeline.models.provider import AVAILABLE

        return AVAILABLE

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """Facts and relations of the text, or what becomes of facts."""
        from core.pipeline.models.provider import Answer

        candidates = {label: json.loads(shown) for label, shown in _CANDIDATE.findall(prompt)}
        if not candidates:
            return Answer(json.dumps(self._found()), model="the demo", done_reason="stop")
        decided = [
            {"fact": label, **self._decided(json.loads(shown)["content"], candidates)}
            for label, shown in _FACT.findall(prompt)
        ]
        said = {"decisions": decided} if len(decided) > 1 else decided[0]
        return Answer(json.dumps(said), model="the demo", done_reason="stop")

    def _found(self) -> dict[str, Any]:
        from core.pipeline.ground import source_spans

        text: str = self.row["text"]
        spans = source_spans(text, [fact["says"] for fact in self.row["fact"]])
        return {
            "facts": [
                {
                    "content": fact["says"], "quote": text[slice(*span)] if span else "", "type": fact["type"],
                    "confidence": fact["sure"],
                }
                for fact, span in zip(self.row["fact"], spans, strict=True)
            ],
            "entities": [
                {
                    "source": one["source"], "relationship": one["what"], "target": one["target"],
                    "confidence": _SURE,
                }
                for one in self.row["relation"]
            ],
        }  # fmt: skip

    def _decided(self, says: str, candidates: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """An update where the story names what is replaced and it is among the candidates, else an addition."""
        fact = next(one for one in self.row["fact"] if one["says"] == says)
        replaced = fact.get("replaces", "")
        for label, shown in candidates.items():
            if replaced and replaced in shown["content"]:
                return {"action": "update", "targetId": label, "confidence": _SURE, "reason": fact["why"]}
        return {"action": "add", "targetId": None, "confidence": _SURE, "reason": "nothing known says it"}
