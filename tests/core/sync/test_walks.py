"""Any number of machines, any order of edits and syncs: in the end all memories are equal and no edit is lost.

Few walks here; NUGGETS_SYNC_WALKS=500 makes it the full test, and NUGGETS_SYNC_SEED begins with another one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.synced import Walk, own_git

pytestmark = pytest.mark.slow

WALKS = int(os.environ.get("NUGGETS_SYNC_WALKS", "3"))
SEED = int(os.environ.get("NUGGETS_SYNC_SEED", "1"))
STEPS = 30


@pytest.mark.timeout(60 + 20 * WALKS)
def test_after_any_edits_and_syncs_all_machines_are_equal_and_no_edit_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_git(tmp_path, monkeypatch)
    for seed in range(SEED, SEED + WALKS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        walk = Walk(folder, 2 + seed % 4, seed)
        try:
            for _ in range(STEPS):
                walk.step()
            walk.quiet()
            walk.check()
        except BaseException:
            print(f"seed {seed}:", *walk.told, sep="\n")
            raise
        finally:
            for machine in walk.machines:
                machine.memory.close()
