"""The commands import and export: previews, answers, JSON, exit codes, standard input and output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kits.memory_files import tree

SAMPLES = Path(__file__).parents[2] / "golden" / "exchange"
AGENTS = str(SAMPLES / "agents" / "AGENTS.md")


def test_each_imported_credential_is_a_warning_that_names_its_note(nuggets: Any, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    nuggets("remember", "home", "token", token)
    known = {note["id"] for note in nuggets.notes()}
    (tmp_path / "many.md").write_text("".join(f"- token {one} is {token}\n" for one in range(7)))
    document = json.loads(nuggets("import", "many.md", "--format", "agents", "--json").stdout)
    assert {one["code"] for one in document["warnings"]} == {"credential"}
    assert {one["id"] for one in document["warnings"]} == {note["id"] for note in nuggets.notes()} - known
    (tmp_path / "more.md").write_text("".join(f"- token {one} was {token}\n" for one in range(7)))
    # As many as are read: the last line counts the others.
    assert len(nuggets("import", "more.md", "--format", "agents").stderr.splitlines()) == 6


def test_export_and_import_through_pipes_give_the_same_memory(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("import", AGENTS)
    nuggets.ok("remember", "memory", "editor", "Helix")
    nuggets.ok("forget", "memory", "editor")
    data = nuggets("export", "-").stdout_bytes
    assert json.loads(data)["format"] == "nuggets-memory"
    nuggets.ok("--home", "second", "import", "-", input=data)
    assert tree(tmp_path / "second") == tree(nuggets.home)
