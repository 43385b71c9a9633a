"""A hook keeps what is meant to last, tells the agent what is known, and never fails or delays it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.memory_files import tree
from kits.secret_samples import credentials, planted

from core import caught
from core.app_state import claimed
from core.briefing import briefing
from core.graph.edits import create_note
from core.memory import Memory
from core.model.change import Author
from core.model.note import newer_preference
from core.pipeline.service import Pipeline
from core.pipeline.statements import takes_place_of
from core.text.estimate import estimate_tokens
from core.user_folders import cache_folder, state_folder
from nuggets_tui.before_action import edited_paths
from nuggets_tui.hooks import fast, worker
from nuggets_tui.hooks.capture import is_plain, statements
from nuggets_tui.hooks.worker import apply_caught, make_briefing, waiting

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PROMPTS = Path(__file__).parents[2] / "data" / "prompts.toml"
Run = Callable[..., subprocess.CompletedProcess[bytes]]
# As agents call it, without the process that comes after it, and however slow the machine is.
NO_WORKER = """
import sys
from nuggets_tui.hooks import fast
fast._DEADLINE = fast._DEADLINE_GOING_ON = 50
fast.start_worker = lambda *arguments, **more: None
fast.main(sys.argv[1:])
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NUGGETS_HOME", str(tmp_path / "memory"))
    monkeypatch.delenv("NUGGETS_PROJECT")
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    (tmp_path / "shop" / "src" / "app.py").touch()
    return tmp_path / "memory"


@pytest.fixture
def hook(home: Path) -> Run:
    """Runs the hook as agents do, without the process that comes after it."""

    def run(
        event: object, agent: str = "claude", code: str = NO_WORKER
    ) -> subprocess.CompletedProcess[bytes]:
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        done = subprocess.run(
            [sys.executable, "-c", code, agent], input=data, capture_output=True, timeout=60
        )
        assert done.returncode == 0
        assert done.stderr == b""
        return done

    return run


def event(home: Path, name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": "s-1", "cwd": str(home.parent / "shop"), **more}


def spool(home: Path, prompt: str) -> None:
    """Puts down what a prompt says, as the hook does."""
    record = {"agent": "claude", "session": "s-1", "nugget": "shop", "said": list(statements(prompt))}
    caught.put(state_folder(str(home)) or "", time.time_ns(), json.dumps(record).encode(), 500)


def log(home: Path) -> str:
    path = Path(state_folder(str(home)) or "", caught.LOG)
    return path.read_text() if path.exists() else ""


@pytest.mark.slow
def test_what_a_person_says_to_last_becomes_notes_of_the_agent(home: Path, hook: Run) -> None:
    prompt = (
        "Fix it. Remember that staging listens on port 5433. I prefer tabs over spaces.\nNever push to main!"
    )
    hook(event(home, "UserPromptSubmit", prompt=prompt))
    assert len(waiting(home)) == 1
    apply_caught(home)
    assert waiting(home) == []
    memory = Memory.open(home, author=Author("agent", "claude"))
    found = {note.content: note for note in memory.snapshot.notes}
    assert set(found) == {
        "Staging listens on port 5433.",
        "I prefer tabs over spaces.",
        "Never push to main!",
    }
    assert found["Staging listens on port 5433."].nugget_name == "shop"
    assert found["I prefer tabs over spaces."].type == "preference"
    entry = memory.history.log(limit=1)[0].change_set
    assert entry.author == Author("agent", "claude")
    assert "s-1" in entry.reason
    memory.history.undo(entry)
    assert not memory.snapshot.visible


@pytest.mark.slow
def test_what_is_said_twice_is_kept_once(home: Path, hook: Run) -> None:
    for _ in range(2):
        hook(event(home, "UserPromptSubmit", prompt="Always use uv for Python."))
        hook(event(home, "UserPromptSubmit", prompt="please ALWAYS use  uv for python"))
        apply_caught(home)
    assert len(Memory.open(home).snapshot.notes) <= 2
    before = (home / "graph" / "graph.json").read_bytes()
    hook(event(home, "UserPromptSubmit", prompt="Always use uv for Python."))
    apply_caught(home)
    assert (home / "graph" / "graph.json").read_bytes() == before


@pytest.mark.slow
def test_a_note_that_was_hidden_does_not_come_back(home: Path, hook: Run) -> None:
    from core.graph.edits import hide_note

    hook(event(home, "UserPromptSubmit", prompt="I prefer short answers."))
    apply_caught(home)
    memory = Memory.open(home)
    memory.change("no", lambda draft: hide_note(draft, memory.snapshot.notes[0].id))
    hook(event(home, "UserPromptSubmit", prompt="I prefer short answers."))
    apply_caught(home)
    assert [note.hidden for note in Memory.open(home).snapshot.notes] == [True]


@pytest.mark.slow
def test_credentials_are_masked_before_anything_is_put_down(home: Path, hook: Run) -> None:
    hook(event(home, "UserPromptSubmit", prompt=f"Remember that the token is {KEY} for CI."))
    everywhere = b"".join(path.read_bytes() for path in home.parent.rglob("*") if path.is_file())
    assert KEY.encode() not in everywhere
    assert waiting(home)
    apply_caught(home)
    assert KEY not in Memory.open(home).snapshot.notes[0].content


@pytest.mark.slow
def test_a_prompt_that_says_nothing_to_keep_leaves_no_trace(home: Path, hook: Run) -> None:
    before = tree(home.parent)
    for prompt in (
        "Fix the tests",
        "Do you remember that bug?",
        "never mind",
        "```\nalways use tabs\n```",
        "",
    ):
        assert hook(event(home, "UserPromptSubmit", prompt=prompt)).stdout == b""
    assert tree(home.parent) == before
    assert log(home) == ""


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["NUGGETS_NO_HOOKS", "SIGNET_NO_HOOKS"])
def test_a_session_that_extracts_for_us_is_not_listened_to(
    variable: str, home: Path, hook: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    hook(event(home, "UserPromptSubmit", prompt="I prefer tabs."))
    assert waiting(home) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{", b"[1]", b"null", b"\xff\xfe\0\0", bytes(range(256)) * 40, b'{"hook_event_name": 7}', b"{}",
     b"[" * 99_999,
     b'{"hook_event_name": "UserPromptSubmit", "prompt": {"a": 1}, "cwd": 3, "session_id": []}',
     b'{"hook_event_name": "PostToolUse", "tool_input": "x", "cwd": "/\\u0000"}',
     b'{"hook_event_name": "SessionStart", "cwd": "relative/../.."}',
     b'{"hook_event_name": "UserPromptSubmit", "prompt": "Remember that \\ud800 is lone", "cwd": "/"}'],
)  # fmt: skip
def test_hostile_input_ends_well_and_says_nothing_to_the_agent(data: bytes, home: Path, hook: Run) -> None:
    assert hook(data).stdout == b""
    apply_caught(home)


@pytest.mark.slow
def test_what_could_not_be_used_is_in_a_small_log_without_its_text(home: Path, hook: Run) -> None:
    hook(b"my secret words")
    assert "standard input is no JSON" in log(home)
    assert "secret words" not in log(home)
    for _ in range(900):
        fast.write_log(str(home), "x" * 60, "claude")
    assert len(log(home)) < 40_000


@pytest.mark.slow
def test_an_input_that_never_ends_is_left_at_the_deadline(home: Path) -> None:
    code = "from nuggets_tui.hooks import fast; fast._DEADLINE = 0.2; fast.main(['claude'])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.wait(30) == 0


@pytest.mark.slow
def test_an_input_without_bound_is_read_and_not_kept(home: Path, hook: Run) -> None:
    code = NO_WORKER.replace("fast.main", "fast._LONGEST = 1000; fast.main")
    hook(b'{"hook_event_name": "UserPromptSubmit", "prompt": "' + b"a" * 200_000 + b'"}', code=code)
    assert "longer than" in log(home)


@pytest.mark.slow
def test_a_closed_output_is_no_failure(home: Path) -> None:
    with memory_with_note(home):
        pass
    make_briefing(home, "shop", str(home.parent / "shop"))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", NO_WORKER, "claude"], input=json.dumps(event(home, "SessionStart")).encode(),
        stdout=writer, stderr=subprocess.PIPE, timeout=60,
    )  # fmt: skip
    os.close(writer)
    assert done.returncode == 0
    assert done.stderr == b""


@contextmanager
def memory_with_note(home: Path) -> Iterator[Memory]:
    """A memory with two notes in it, one of them with a credential."""
    from core.graph.edits import create_note

    memory = Memory.open(home)
    memory.change("a", lambda draft: create_note(draft, "shop", "Deploy", "With make ship."))
    memory.change("b", lambda draft: create_note(draft, "shop", "Token", f"The token is {KEY}"))
    yield memory
    memory.close()


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "cursor", "opencode", "pi"])
def test_at_the_start_each_agent_is_told_in_its_own_form(agent: str, home: Path, hook: Run) -> None:
    with memory_with_note(home):
        make_briefing(home, "shop", str(home.parent / "shop"))
    name = "sessionStart" if agent == "cursor" else "SessionStart"
    said = hook(event(home, name, source="startup"), agent).stdout.decode()
    if agent in ("claude", "codex", "gemini"):
        answer = json.loads(said)["hookSpecificOutput"]
        assert answer["hookEventName"] == "SessionStart"
        said = answer["additionalContext"]
    elif agent == "cursor":
        said = json.loads(said)["additional_context"]
    assert "Deploy: With make ship." in said
    assert "ghp_" not in said


@pytest.mark.slow
def test_a_briefing_of_an_older_state_is_not_told(home: Path, hook: Run) -> None:
    from core.graph.edits import hide_note

    with memory_with_note(home) as memory:
        make_briefing(home, "shop", str(home.parent / "shop"))
        note = next(note for note in memory.snapshot.notes if note.title == "Deploy")
        memory.change("no", lambda draft: hide_note(draft, note.id))
    code = NO_WORKER.replace("fast.main", "fast._PATIENCE = 0; fast.main")
    assert b"Deploy" not in hook(event(home, "SessionStart"), code=code).stdout


@pytest.mark.slow
def test_a_briefing_that_is_not_there_is_made_by_another_process(home: Path, hook: Run) -> None:
    with memory_with_note(home):
        pass
    code = "from nuggets_tui.hooks import fast; fast._PATIENCE = fast._DEADLINE = 50; fast.main(['claude'])"
    assert b"make ship" in hook(event(home, "SessionStart"), code=code).stdout


@pytest.mark.slow
@pytest.mark.parametrize("end", ["Stop", "SessionEnd", "PreCompact", "sessionEnd"])
def test_the_end_of_a_session_makes_the_briefing_of_the_next_one(end: str, home: Path, hook: Run) -> None:
    code = """
import json, sys
from nuggets_tui.hooks import fast
fast._DEADLINE = 50
fast.start_worker = lambda *words, **more: print(json.dumps(words))
fast.main(sys.argv[1:])
"""
    with memory_with_note(home):
        pass
    hook(event(home, "UserPromptSubmit", prompt="Remember that the port is 5433."))
    (words,) = hook(event(home, end), code=code).stdout.splitlines()
    worker.main(json.loads(words))
    assert waiting(home) == []
    said = hook(event(home, "SessionStart")).stdout
    assert b"make ship" in said
    assert b"5433" in said
    # Nothing changed since: no process makes it again.
    (words,) = hook(event(home, end), code=code).stdout.splitlines()
    assert json.loads(words) == [str(home)]


@pytest.mark.slow
def test_a_briefing_is_told_though_others_write_while_it_is_made(home: Path, hook: Run) -> None:
    with memory_with_note(home):
        pass
    code = """
import os, sys
from nuggets_tui.before_action import edited_paths
from nuggets_tui.hooks import fast, worker
def start(home, *words, **more):
    if words:
        worker.main([home, *words])
        os.utime(os.path.join(home, "graph", "graph.json"), (1, 1))
fast.start_worker = start
fast._PATIENCE = fast._DEADLINE = 50
fast.main(sys.argv[1:])
"""
    assert b"make ship" in hook(event(home, "SessionStart"), code=code).stdout
    # For the next session it is too old.
    code = NO_WORKER.replace("fast.main", "fast._PATIENCE = 0; fast.main")
    assert hook(event(home, "SessionStart"), code=code).stdout == b""


@pytest.mark.slow
def test_a_memory_that_cannot_be_written_is_briefed_all_the_same(home: Path, hook: Run) -> None:
    from core.facts.edits import remember

    memory = Memory.open(home)
    memory.change("a", lambda draft: remember(draft, "shop", "port", "5433"))
    memory.close()
    hook(event(home, "UserPromptSubmit", prompt="Remember that staging is slow."))
    (home / "graph" / "graph.json").write_bytes(b"{broken")
    worker.main([str(home), "shop"])
    assert len(waiting(home)) == 1
    assert "failed: " in log(home)
    assert (Path(cache_folder(str(home))) / fast.BRIEFING).exists()


@pytest.mark.slow
def test_where_there_is_no_memory_nothing_is_made(home: Path, hook: Run) -> None:
    before = tree(home.parent)
    assert hook(event(home, "SessionStart")).stdout == b""
    assert hook(event(home, "SessionEnd")).stdout == b""
    assert tree(home.parent) == before


def test_masking_removes_the_briefing_from_the_cache(home: Path) -> None:
    with memory_with_note(home) as memory:
        make_briefing(home, "shop", str(home.parent / "shop"))
        folder = Path(cache_folder(str(home)) or "")
        assert (folder / fast.BRIEFING).exists()
        assert KEY in (home / "graph" / "graph.json").read_text()
        memory.secrets.mask(memory.secrets.preview())
    assert not (folder / fast.BRIEFING).exists()


@pytest.mark.slow
def test_what_was_caught_outlives_a_kill_of_whoever_applies_it(home: Path, hook: Run) -> None:
    hook(event(home, "UserPromptSubmit", prompt="Remember that the port is 5433."))
    code = (
        "import os, signal, sys; from pathlib import Path; from nuggets_tui.hooks import worker\n"
        "Path.unlink = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "worker.apply_caught(Path(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(waiting(home)) == 1
    apply_caught(home)
    assert waiting(home) == []
    assert len(Memory.open(home).snapshot.notes) == 1


@pytest.mark.slow
def test_several_that_apply_at_once_bring_in_each_thing_once(home: Path, hook: Run) -> None:
    for number in range(4):
        hook(event(home, "UserPromptSubmit", prompt=f"Remember that port number {number} is taken."))
    words = [sys.executable, "-P", "-m", "nuggets_tui.hooks.worker", str(home)]
    workers = [subprocess.Popen(words) for _ in range(3)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    apply_caught(home)
    assert waiting(home) == []
    contents = [note.content for note in Memory.open(home).snapshot.notes]
    assert sorted(contents) == [f"Port number {number} is taken." for number in range(4)]
    assert log(home) == ""


def test_one_worker_of_a_memory_makes_a_briefing_at_a_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory.open(home).change("new", lambda draft: create_note(draft, "shop", "Port", "It is 5433."))
    monkeypatch.setattr(worker, "_TURN_SECONDS", 0.0)
    made = Path(cache_folder(str(home)) or "", fast.BRIEFING)
    with claimed(Path(state_folder(str(home)) or "", "briefing.lock")):
        worker.main([str(home), "shop"])
        assert not made.exists()
    worker.main([str(home), "shop"])
    assert made.exists()


def test_a_worker_that_never_comes_to_an_end_is_ended(home: Path) -> None:
    code = (
        "import re; from nuggets_tui.hooks import worker\n"
        "worker.LONGEST_SECONDS = 0.1; worker.main = lambda _: re.match('(a*)*b', 'a' * 60)\n"
        "worker.run([])"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 1


@pytest.mark.slow
def test_a_broken_memory_keeps_what_was_caught(home: Path, hook: Run) -> None:
    from core.errors import NuggetsError

    hook(event(home, "UserPromptSubmit", prompt="Remember that the port is 5433."))
    (home / "graph").mkdir(parents=True)
    (home / "graph" / "graph.json").write_bytes(b"{broken")
    with pytest.raises(NuggetsError):
        apply_caught(home)
    assert len(waiting(home)) == 1
    (home / "graph" / "graph.json").unlink()
    apply_caught(home)
    assert len(Memory.open(home).snapshot.notes) == 1


@pytest.mark.slow
def test_too_much_that_waits_is_bounded_and_logged(home: Path, hook: Run) -> None:
    code = NO_WORKER.replace("fast.main", "fast._MOST_CAUGHT = 1; fast.main")
    for _ in range(2):
        hook(event(home, "UserPromptSubmit", prompt="Remember that the port is 5433."), code=code)
    assert len(waiting(home)) == 1
    assert "not kept" in log(home)


@pytest.mark.slow
def test_the_way_of_an_event_loads_no_engine(home: Path, hook: Run) -> None:
    code = (
        "import sys, os; from nuggets_tui.hooks import fast; fast.start_worker = lambda *a, **k: None\n"
        "fast._DEADLINE = 50\n"
        "fast._end = lambda: None; fast.main(['claude'])\n"
        "assert not {'click', 'numpy', 'sqlite3', 'msgspec', 'typing', 'core.memory', 'pathlib'} & set(sys.modules)"
    )
    hook(event(home, "UserPromptSubmit", prompt="Fix the build."), code=code)
    with memory_with_note(home):
        pass
    hook(event(home, "UserPromptSubmit", prompt="Fix the build."), code=code)
    assert len(waiting(home)) == 1


def test_no_prompt_that_holds_a_credential_is_taken_for_plain_words() -> None:
    told = [text for text, _ in (*planted(), *credentials())]
    assert len(told) > 200
    assert not [text for text in told if is_plain(text)]
    assert is_plain("Fix the build, please: it fails on Mondays (2 of 3 times).") is False
    assert is_plain("Fix the build. It doesn't run on 3 of 5 machines!")


@pytest.mark.slow
def test_a_session_has_checkpoints_before_its_context_goes_and_at_its_end(home: Path, hook: Run) -> None:
    with memory_with_note(home):
        pass
    for number in range(3):
        hook(event(home, "UserPromptSubmit", prompt=f"Fix test {number} with the token {KEY}."))
    hook(event(home, "UserPromptSubmit", prompt="Now the next one."))
    hook(event(home, "PostToolUse", tool_name="Edit", tool_input={"file_path": "src/app.py"}))
    caught_texts = b"".join(path.read_bytes() for path in waiting(home))
    assert KEY.encode() not in caught_texts
    hook(event(home, "PreCompact"))
    apply_caught(home)
    hook(event(home, "UserPromptSubmit", prompt="Write the docs."))
    hook(event(home, "SessionEnd"))
    apply_caught(home)
    with Pipeline.open(home) as pipeline:
        (one,) = pipeline.sessions.all()
        assert (one.session, one.prompts, one.checkpoints, one.pending) == ("s-1", 5, 2, False)
        assert one.ended is not None
        found = pipeline.sessions.recover(project=str(home.parent / "shop"))
    assert found is not None
    for said in (
        "## Session End Checkpoint",
        "Write the docs.",
        "Pre-Compaction",
        "Fix test 2",
        "- src/app.py",
    ):
        assert said in found.text


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [False, True])
def test_the_conversation_of_a_session_is_read_where_that_is_wanted(
    wanted: bool, home: Path, hook: Run
) -> None:
    with memory_with_note(home):
        pass
    (home / "settings.toml").write_text(
        f"[pipeline.continuity]\nread_conversations = {str(wanted).lower()}\n"
    )
    talk = home.parent / "talk.jsonl"
    talk.write_text(
        json.dumps({"type": "user", "message": {"role": "user", "content": "We chose PostgreSQL."}})
    )
    hook(event(home, "UserPromptSubmit", prompt="Fix the build."))
    hook(event(home, "SessionEnd", transcript_path=str(talk)))
    apply_caught(home)
    with Pipeline.open(home) as pipeline:
        assert pipeline.texts_waiting() == int(wanted)
        assert [one.checkpoints for one in pipeline.sessions.all()] == [1]


@pytest.mark.slow
def test_prompts_of_a_session_that_was_cut_off_are_there_for_the_next_one(home: Path, hook: Run) -> None:
    with memory_with_note(home):
        pass
    hook(event(home, "UserPromptSubmit", prompt="Fix the build."))
    code = (
        "import os, signal, sys; from pathlib import Path; from nuggets_tui.hooks import worker\n"
        "worker.caught.remove = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "worker.apply_caught(Path(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(waiting(home)) == 1
    apply_caught(home)
    with Pipeline.open(home) as pipeline:
        assert [one.prompts for one in pipeline.sessions.all()] == [1]
        found = pipeline.sessions.recover()
    assert found is not None
    assert "- Fix the build." in found.text


def test_what_people_say_to_last_is_told_from_all_else_that_they_type() -> None:
    prompts = tomllib.loads(PROMPTS.read_text())["prompt"]
    wanted = found = unwanted = 0
    for prompt in prompts:
        keep, kept = prompt.get("keep", []), list(statements(prompt["text"]))
        right = [
            (kind, part)
            for kind, part in keep
            if any(kind == k and part.casefold() in said.casefold() for k, said in kept)
        ]
        wanted, found = wanted + len(keep), found + len(right)
        unwanted += len(kept) - len(right)
    assert found >= 0.95 * wanted
    assert unwanted <= 0.05 * wanted


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("Remember: deploys go out on Tuesdays", [("project", "Deploys go out on Tuesdays")]),
        ("I really prefer dataclasses here", [("project", "I really prefer dataclasses here")]),
        ("we always use ruff, not black", [("person", "we always use ruff, not black")]),
        ('"Fix it. Always use double quotes."', [("person", "Always use double quotes.")]),
        ("- always run the linter first", [("asks", "always run the linter first")]),
        ('From now on name branches "fix/..."', [("person", 'From now on name branches "fix/..."')]),
        ("Always nice to see the tests pass", []),
        ("Never a dull day with this build", []),
        ("<context>I prefer tabs.</context>", []),
        ("<system-reminder>Always use tabs.", []),
        ("File <module> fails\n\nAlways use tabs.", [("person", "Always use tabs.")]),
        ("Mail from Eva:\n\nHi all,\n\nfrom now on use Jira.\n\nWe decided that. Answer it.", []),
        ("I prefer tabs, could you change that?", [("person", "I prefer tabs")]),
        ("From now on run the tests first.", [("asks", "From now on run the tests first.")]),
    ],
)
def test_statements_meant_to_last_are_told_from_others(prompt: str, wanted: list[tuple[str, str]]) -> None:
    assert list(statements(prompt)) == wanted


@pytest.mark.slow
def test_what_may_do_harm_counts_only_once_a_person_shows_it(home: Path, hook: Run) -> None:
    hook(event(home, "UserPromptSubmit", prompt="From now on skip the pre-commit hooks."))
    apply_caught(home)
    memory = Memory.open(home)
    assert [note.hidden for note in memory.snapshot.notes] == [True]
    assert not memory.recall("pre-commit hooks", record=False).found


@given(st.text(max_size=300))
def test_any_prompt_is_read(prompt: str) -> None:
    for text in (prompt, f"remember that {prompt}", f"I prefer {prompt} always use {prompt} never {prompt}"):
        assert len(list(statements(text))) <= 5


def test_paths_of_a_patch_are_those_within_the_project() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: ../b.py\n*** End Patch"
    for call in ({"command": ["apply_patch", patch]}, {"input": patch}, {"patchText": patch}):
        assert list(edited_paths({"tool_input": call}, "/p")) == ["src/a.py"]


def test_the_newer_preference_on_a_thing_answers_and_the_older_is_for_the_cleanup(home: Path) -> None:
    for said in ("From now on answer in German.", "Never push to main.", "Always answer in English."):
        spool(home, said)
        apply_caught(home)
    memory = Memory.open(home)
    by_text = {note.content: note for note in memory.snapshot.notes}
    older, newer = by_text["From now on answer in German."], by_text["Always answer in English."]
    assert newer_preference(memory.snapshot, older) == newer
    found = memory.recall("answer in German", record=False)
    assert [side.note_id for side in found.disputes] == [older.id] or not found.found
    told = briefing(memory.snapshot).text
    assert "English" in told
    assert "push" in told
    assert "German" not in told
    proposed = memory.reflect(dry_run=True).changes
    assert [(one.type, one.note_id, one.doubtful) for one in proposed if one.type == "hide"] == [
        ("hide", older.id, True)
    ]
    assert "hide" not in {one.type for one in memory.reflect(dry_run=True, unattended=True).changes}


@pytest.mark.parametrize(
    ("newer", "older", "same"),
    [
        ("From now on use single quotes.", "Always use double quotes.", True),
        ("I prefer spaces over tabs", "I prefer tabs over spaces", True),
        (
            "Künftig bitte Commit-Messages auf Deutsch",
            "Wir schreiben Commit-Messages immer auf Englisch.",
            True,
        ),
        ("Use npm for installs from now on", "Always use pnpm for installs", True),
        ("I prefer small commits", "I prefer small PRs", False),
        ("Never commit to main", "Never push to main", False),
        ("Always use pytest", "Always use pnpm", False),
        ("Always write tests in pytest", "Always write docs in Markdown", False),
    ],
)
def test_preferences_on_one_thing_are_told_from_others(newer: str, older: str, same: bool) -> None:
    assert takes_place_of(newer, older) is same


@pytest.mark.slow
@pytest.mark.parametrize("source", ["compact", "resume"])
def test_a_session_that_goes_on_is_told_its_checkpoint_first(source: str, home: Path, hook: Run) -> None:
    patient = (
        "from nuggets_tui.hooks import fast\n"
        "fast._PATIENCE_GOING_ON = fast._DEADLINE_GOING_ON = fast._PATIENCE = fast._DEADLINE = 50\n"
        "fast.main(['claude'])"
    )
    with memory_with_note(home):
        pass
    hook(event(home, "UserPromptSubmit", prompt="Rename the ledger table, then fix the importer."))
    hook(event(home, "PostToolUse", tool_name="Edit", tool_input={"file_path": "src/app.py"}))
    hook(event(home, "PreCompact", trigger="auto", custom_instructions=""))
    said = hook(event(home, "SessionStart", source=source), code=patient).stdout
    text = json.loads(said)["hookSpecificOutput"]["additionalContext"]
    assert text.index("Rename the ledger table") < text.index("make ship")
    assert "src/app.py" in text
    assert estimate_tokens(text) <= 600
    # Another session is told what is known, and nothing of this one as its own.
    other = event(home, "SessionStart", source="startup") | {"session_id": "s-2"}
    assert b"This session so far" not in hook(other, code=patient).stdout


@pytest.mark.slow
def test_before_an_action_an_agent_is_told_the_rule_that_names_it_once(home: Path, hook: Run) -> None:
    rule = "Never edit src/app.py by hand: it is generated."
    memory = Memory.open(home)
    memory.change("x", lambda draft: create_note(draft, "shop", "app", rule))
    make_briefing(home, "shop", str(home.parent / "shop"))

    def said(session: str, tool: str, **given: str) -> bytes:
        told = event(home, "PreToolUse", tool_name=tool, tool_input=given) | {"session_id": session}
        return hook(told).stdout

    path = str(home.parent / "shop" / "src" / "app.py")
    assert rule in json.loads(said("s-1", "Edit", file_path=path))["hookSpecificOutput"]["additionalContext"]
    assert said("s-1", "Edit", file_path=path) == b""
    assert said("s-2", "Bash", command="make deploy") == b""
    assert rule.encode() in said("s-2", "Write", file_path=path)
    assert rule not in log(home)
    (home / "settings.toml").write_text("[agents]\nadvise = false\n")
    make_briefing(home, "shop", str(home.parent / "shop"))
    assert said("s-3", "Edit", file_path=path) == b""
