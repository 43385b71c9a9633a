"""A writer of pages that is killed at any step: no page is lost or half written, and log and pages agree.

Every fourth step is tried here, with NUGGETS_KILLS=1 each.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.claude_pages import note_of, tree, write_folder
from kits.forked import run
from kits.team_pages import write_team

from core import Memory
from core.graph.edits import create_note, hide_note
from core.verify import findings

pytestmark = pytest.mark.slow

EVERY = 1 if "NUGGETS_KILLS" in os.environ else 4
ROOT = Path(__file__).parents[3]

AT_STEP = """
import sys
sys.path.insert(0, "tests")
from kits.claude_pages import note_of
from kits.faults import end_before_step
from core import Memory
from core.graph.edits import create_note, edit_note, hide_note, link_notes, unhide_note
memory = Memory.open(sys.argv[1])
def id_of(file):
    return note_of(memory, file).id
first, second, third = sys.argv[4:]
deeds = {
    "title": lambda draft: edit_note(draft, id_of(first), title="Renamed", content="New text."),
    "hide": lambda draft: (hide_note(draft, id_of(second)), edit_note(draft, id_of(third), content="Edited.")),
    "link": lambda draft: link_notes(draft, id_of(second), id_of(third), "both"),
    "new": lambda draft: create_note(draft, "claude", "Made here", "Its text."),
    "show": lambda draft: unhide_note(draft, id_of("billing.md")),
}
end_before_step(int(sys.argv[2]))
if sys.argv[3] == "undo":
    memory.history.undo()
else:
    memory.change(sys.argv[3], deeds[sys.argv[3]])
print("done", flush=True)
"""


# Whose folder, and three of its pages.
CLAUDE = (write_folder, "deploy-needs-vpn.md", "feedback_pnpm.md", "debugging.md")
TEAM = (write_team, "deploy-to-staging.md", "vpn-setup.md", "plain.md")
Kind = tuple[Callable[[Path], Path], str, str, str]


def _started(root: Path, kind: Kind, deed: str) -> Path:
    """A folder right before the deed."""
    folder = kind[0](root)
    memory = Memory.open(folder)
    if deed == "show":
        memory.change("hide", lambda draft: hide_note(draft, note_of(memory, "billing.md").id))
    if deed == "undo":
        memory.change("new", lambda draft: create_note(draft, "claude", "Made here", "Its text."))
    memory.close()
    return folder


def _run(folder: Path, kind: Kind, step: int, deed: str) -> bytes:
    ended = run(
        [sys.executable, "-c", AT_STEP, str(folder), str(step), deed, *kind[1:]],
        cwd=ROOT, stdout=subprocess.PIPE, timeout=60,
    )  # fmt: skip
    said: bytes = ended.stdout
    return said


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "deed"),
    [(CLAUDE, deed) for deed in ("title", "new")]
    + [(TEAM, deed) for deed in ("hide", "link", "show", "undo")],
    ids=lambda one: one if isinstance(one, str) else "team" if one is TEAM else "claude",
)
def test_killed_before_any_step_the_change_is_whole_or_not_there(
    kind: Kind, deed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_STATE", str(tmp_path / "state-0"))
    whole = _started(tmp_path / "whole", kind, deed)
    before = tree(whole)
    assert _run(whole, kind, 100_000, deed) == b"done\n"
    after = tree(whole)
    seen = set()
    for step in range(0, 200, EVERY):
        monkeypatch.setenv("NUGGETS_STATE", str(tmp_path / f"state-{step + 1}"))
        folder = _started(tmp_path / f"at-{step}", kind, deed)
        assert tree(folder) == before
        done = _run(folder, kind, step, deed)
        memory = Memory.open(folder)
        found = tree(folder)
        assert found in (before, after), step
        seen.add(found == after)
        assert memory.snapshot.problems == ()
        assert findings(memory.snapshot) == []
        assert memory.history.conflicts() == ()
        assert all(entry.change_set.kind != "outside" for entry in memory.history.log()), step
        assert memory.store.journal is not None
        assert memory.store.journal.pending_count() == 0
        if found == after and deed != "undo":
            memory.history.undo()
            assert tree(folder) == before, step
        if done:
            break
    assert seen == {True, False}
