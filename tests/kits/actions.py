"""Calls of agents and notes of invented projects, labelled by hand, and what is said before each call."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.grounding.advice import Advice, advice
from core.grounding.references import references
from core.model.judgement import Standing
from kits.drafts import make_note
from nuggets_tui.before_action import advice_for

ROOT = "/work/shop"
_LABELLED = Path(__file__).parents[1] / "data" / "actions.toml"


def told(call: str) -> dict[str, Any]:
    """The event of a call: "$ ..." is a command, another one a file that is edited."""
    given = {"command": call[2:]} if call.startswith("$ ") else {"file_path": f"{ROOT}/{call}"}
    return {"tool_input": given}


def standings(note: str, state: Any) -> list[Standing]:
    """All that a text names, in one state."""
    return [Standing(one.said, one.kind, one.name, state) for one in references(note, ROOT)]


def known(note: str) -> Sequence[Advice]:
    """What a note has to say, in a project that has all it names."""
    made = make_note(1, content=note)
    return advice([made], {made.id: standings(note, "fresh")})


def judged() -> dict[str, list[tuple[str, str]]]:
    """The pairs of call and note by how they came out: "right" and "missed" where the note matters, "quiet" and "wrong"
    on the controls of a note, "elsewhere" where it is said before a call that matters to another note.
    """
    notes = tomllib.loads(_LABELLED.read_text())["note"]
    every = [call for note in notes for call in note.get("before", ())]
    found: dict[str, list[tuple[str, str]]] = {
        name: [] for name in ("right", "missed", "quiet", "wrong", "elsewhere")
    }
    for note in notes:
        text, wanted, said = note["text"], note.get("before", ()), known(note["text"])
        for call in dict.fromkeys((*wanted, *note["quiet"], *every)):
            is_said = any(advice_for(told(call), ROOT, said))
            if call in wanted:
                found["right" if is_said else "missed"].append((call, text))
            elif call in note["quiet"]:
                found["wrong" if is_said else "quiet"].append((call, text))
            elif is_said:
                found["elsewhere"].append((call, text))
    return found
