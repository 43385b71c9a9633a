"""A workspace answers for all that a folder holds: the memory, and the pipeline where there is one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.service import Pipeline
from core.workspace import Workspace

VALUE = "Blau3" + "Katze!77"
OTHER = "Gelb4" + "Hund!88"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "memory")
    memory.change("b", lambda draft: create_note(draft, "", "Staging", f"The staging password is {VALUE}"))
    return memory


def test_a_folder_without_a_pipeline_is_verified_and_masked_as_its_memory_and_gets_none(
    memory: Memory,
) -> None:
    workspace = Workspace(memory)
    assert workspace.verify() == memory.maintenance.verify()
    assert workspace.secrets() == memory.secrets.holders()
    workspace.mask_secrets(workspace.masking())
    assert workspace.secrets() == ()
    assert not Pipeline.exists(memory.home)


@pytest.mark.slow
def test_a_credential_in_the_pipeline_alone_is_found_and_masked_with_those_of_the_notes(
    memory: Memory,
) -> None:
    with Pipeline.open(memory.home, memory=memory) as pipeline:
        raw_id = pipeline.ingest("Ben likes the dashboard.").raw_id
        # As a version that knew fewer credentials kept it.
        with pipeline.database.write() as writer:
            writer.connection.execute(
                "UPDATE raw_memories SET content = ? WHERE id = ?",
                (f"The password is {OTHER} for now.", raw_id),
            )
    workspace = Workspace(memory)
    assert [bool(one.note_id) for one in workspace.secrets()] == [True, False]
    assert len(memory.secrets.holders()) == 1
    plan = workspace.masking()
    workspace.mask_secrets(plan)
    assert workspace.secrets() == ()
    assert workspace.memory.secrets.left(plan) == ()
    for path in memory.home.rglob("*"):
        if path.is_file():
            assert VALUE.encode() not in path.read_bytes(), path
            assert OTHER.encode() not in path.read_bytes(), path


def test_repair_leaves_nothing_that_verify_found_and_is_one_entry_of_the_log(memory: Memory) -> None:
    graph = memory.home / "graph" / "graph.json"
    document = json.loads(graph.read_text())
    document["notes"][0]["links"] = [{"to": "note-web-00000000", "reason": "", "createdAt": "2026"}]
    graph.write_text(json.dumps(document))
    memory.refresh()
    workspace = Workspace(memory)
    assert [one.kind for one in workspace.verify() if one.repair]
    done = workspace.repair()
    assert workspace.verify() == ()
    assert [entry.id for entry in memory.history.log(limit=1)] == [done.id]
