"""Checkpoints: what an agent noted of its session is there after a crash, without credentials, within its budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.service_kit import Clock, configure, open_pipeline

from core.errors import ErrorCode, InvalidInputError
from core.text.estimate import estimate_tokens

SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def texts(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("nuggets.db*"))


def test_a_checkpoint_comes_back_to_its_session_newest_first(home: Path) -> None:
    clock = Clock()
    with open_pipeline(home, clock=clock) as pipeline:
        assert pipeline.sessions.recover() is None
        pipeline.sessions.checkpoint("Read the code. Open: the tests.", session="s1", project="app")
        clock.forward(minutes=5)
        kept = pipeline.sessions.checkpoint("Wrote the tests. Open: docs.", session="s1", project="app")
        assert (kept.count, kept.dropped, kept.new) == (2, 0, True)
        pipeline.sessions.checkpoint("Elsewhere.", session="s2", project="web")
        found = pipeline.sessions.recover("s1")
        assert found is not None
        assert (found.session, found.project, found.count, found.shown, found.cut) == (
            "s1",
            "app",
            2,
            2,
            False,
        )
        assert found.text.index("Wrote the tests") < found.text.index("Read the code")
        assert found.at == clock.ms


def test_without_a_session_the_newest_of_the_project_is_picked_up(home: Path) -> None:
    with open_pipeline(home) as pipeline:
        pipeline.sessions.checkpoint("One.", session="s1", project="app")
        pipeline.sessions.checkpoint("Two.", session="s2", project="app")
        pipeline.sessions.checkpoint("Three.", session="s3", project="web")
        assert [
            one and one.session
            for one in (pipeline.sessions.recover(project="app"), pipeline.sessions.recover())
        ] == [
            "s2",
            "s3",
        ]
        assert pipeline.sessions.recover(project="unknown") is None
        assert pipeline.sessions.recover("unknown") is None


def test_credentials_are_taken_out_before_a_checkpoint_is_kept(home: Path) -> None:
    with open_pipeline(home) as pipeline:
        kept = pipeline.sessions.checkpoint(
            f"The key is {SECRET}.", session="s1", project=f"https://me:{SECRET}@host/app"
        )
        assert kept.redactions == 1
        found = pipeline.sessions.recover("s1")
        assert found is not None
        assert SECRET not in found.text + found.project
        assert "[REDACTED]" in found.text
    assert SECRET.encode() not in texts(home)


def test_a_recovery_costs_no_more_than_its_budget_and_says_where_it_was_cut(home: Path) -> None:
    with open_pipeline(home) as pipeline:
        for number in range(5):
            pipeline.sessions.checkpoint(f"Step {number}. " + "Ärger und Wörter. " * 40, session="s1")
        for tokens in (1, 10, 60, 240, 300, 700, 5_000):
            found = pipeline.sessions.recover("s1", tokens=tokens)
            assert found is not None
            assert estimate_tokens(found.text) <= tokens
            assert found.cut == (tokens < 240) == ("cut to the budget" in found.text or not found.text)
            assert found.text.count("## Checkpoint") in (found.shown, 0)
        # As the settings say, 2000 characters.
        found = pipeline.sessions.recover("s1")
        assert found is not None
        assert 400 < estimate_tokens(found.text) <= 500


def test_a_session_keeps_as_many_checkpoints_as_the_settings_say_the_oldest_go(home: Path) -> None:
    configure(home, "[pipeline.continuity]\nmaxCheckpointsPerSession = 3\nrecoveryBudgetChars = 400")
    with open_pipeline(home) as pipeline:
        pipeline.sessions.checkpoint("Mine.", session="other")
        kept = [pipeline.sessions.checkpoint(f"Step {number}.", session="s1") for number in range(5)]
        assert [(one.count, one.dropped) for one in kept] == [(1, 0), (2, 0), (3, 0), (3, 1), (3, 1)]
        found = pipeline.sessions.recover("s1")
        assert found is not None
        assert "Step 4" in found.text
        assert "Step 1" not in found.text
        assert pipeline.sessions.recover("other") is not None
        assert not pipeline.status().warnings


def test_saying_the_same_again_keeps_nothing_twice(home: Path) -> None:
    with open_pipeline(home) as pipeline:
        first = pipeline.sessions.checkpoint("The same.", session="s1")
        again = pipeline.sessions.checkpoint("  The same.\n", session="s1")
        assert (again.id, again.count, again.new) == (first.id, 1, False)


@pytest.mark.parametrize(
    ("digest", "session", "code"),
    [
        ("  \n", "s1", ErrorCode.EMPTY),
        ("Done.", " ", ErrorCode.EMPTY),
        ("x" * 20_001, "s1", ErrorCode.TOO_LONG),
        ("Done.", "s" * 1_001, ErrorCode.TOO_LONG),
    ],
)
def test_a_checkpoint_that_says_nothing_or_too_much_is_refused(
    home: Path, digest: str, session: str, code: ErrorCode
) -> None:
    with open_pipeline(home) as pipeline:
        with pytest.raises(InvalidInputError) as refused:
            pipeline.sessions.checkpoint(digest, session=session)
        assert refused.value.code is code
        assert pipeline.sessions.recover() is None
