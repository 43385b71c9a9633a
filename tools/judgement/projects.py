"""Asks the memories of single projects beside this file, and prints how recall answers.

    python tools/judgement/projects.py [dev|held] [--each]

right: claimed, with the answer. first: not claimed, yet offered first. near: questions one word away from what is
known, which nothing answers. Nothing is fitted or decided on the held ones. --each: prints every question not answered
rightly.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memories import HERE

from core import Memory
from core.facts.edits import remember
from core.model.draft import Draft
from core.model.note import Note


def projects(half: str) -> Iterator[dict[str, Any]]:
    """The projects of a half with their notes and questions."""
    data = tomllib.loads((HERE / "projects" / f"{half}.toml").read_text(encoding="utf-8"))
    yield from data["project"]


def written(home: Path, project: Mapping[str, Any]) -> Memory:
    """A memory with what is known of a project."""
    name = project["name"]

    def build(draft: Draft) -> None:
        for key, value in project["facts"]:
            remember(draft, name, key, value)
        for place, (title, content) in enumerate(project["notes"]):
            draft.put(Note(id=f"note-{name}-{place:04x}", nugget_name=name, title=title, content=content))

    memory = Memory.open(home)
    memory.change("written for the questions", build)
    return memory


def outcome(memory: Memory, text: str, right: str) -> tuple[str, str]:
    """How a question is answered, and by what. right: key or title of the answer, "" for none."""
    found = memory.recall(text, record=False)
    if found.found:
        how = "near" if not right else "right" if found.key == right else "wrong"
        return how, f"{found.key} {found.certainty:.2f}"
    offered = [one.title for one in found.candidates]
    how = "first" if right and offered[:1] == [right] else "offered" if right in offered else "nothing"
    return how, ", ".join(f"{one.title} {one.likelihood:.2f}" for one in found.candidates)


def main() -> None:
    """Prints a line for each project, and their sum."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("half", nargs="?", choices=("dev", "held"), default="dev")
    parser.add_argument("--each", action="store_true")
    given = parser.parse_args()
    total, asked, unanswerable = Counter[str](), 0, 0
    for project in projects(given.half):
        with tempfile.TemporaryDirectory() as folder:
            memory, counts = written(Path(folder), project), Counter[str]()
            for text, right in (*project["questions"], *((text, "") for text in project["near"])):
                how, what = outcome(memory, text, right)
                counts[how] += how != "nothing" or bool(right)
                if given.each and how not in (("right",) if right else ("nothing", "offered")):
                    print(f"{how:<8} {text!r} -> {right!r}: {what}")
            memory.close()
        total += counts
        asked, unanswerable = asked + len(project["questions"]), unanswerable + len(project["near"])
        print(f"{project['name']:<12}{dict(counts)}")
    print(
        f"{given.half}: right {total['right']}, wrong {total['wrong']}, first {total['first']}, offered"
        f" {total['offered']}, nothing {total['nothing']} of {asked}; near {total['near']} of {unanswerable} claimed"
    )


if __name__ == "__main__":
    main()
