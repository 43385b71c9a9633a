"""`nuggets session` shows what a session was given, what of that helped, and what was kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.pipeline.service import Pipeline
from core.pipeline.session_events import SessionEvent

TALK = "User: Which port?\nAssistant: Postgres is on port 5433.\n"


@pytest.fixture
def recalled(nuggets: Any, tmp_path: Path) -> Any:
    """A session in which a fact was recalled, and another one was given ahead."""
    nuggets("remember", "web", "port", "Postgres port 5433")
    nuggets("remember", "web", "drink", "Anna likes green tea")
    nuggets("recall", "port", "--session", "talk-1")
    tea = nuggets.json("recall", "drink", "--session", "other")["noteId"]
    with Pipeline.open(nuggets.home) as pipeline:
        pipeline.sessions.follow(
            SessionEvent("start", "talk-1", "/work/web", ahead=((tea, 1),)),
            SessionEvent("prompt", "talk-1", texts=("Fix the build",)),
        )
    return nuggets


def test_a_session_shows_what_it_was_given_while_it_goes_on(recalled: Any) -> None:
    said = recalled.ok("session", "show", "talk-1")
    assert "open, or cut off" in said
    assert "port (fact-web-" in said
    assert ": recalled\n" in said
    assert ": given at the start\n" in said
    assert "- Fix the build" in said
    found = recalled.json("session", "show")
    assert [(one["title"], one["times"], one["ahead"]) for one in found["memories"]] == [
        ("drink", 0, 1), ("port", 1, 0)
    ]  # fmt: skip
    assert (found["scored"], found["order"], found["endedAt"]) == (None, None, None)


@pytest.mark.slow
def test_after_its_end_a_session_says_what_helped_and_how_that_was_told(
    recalled: Any, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.txt"
    talk.write_text(TALK)
    assert "1 of 2 memories helped." in recalled.ok(
        "session", "end", "--session", "talk-1", "--transcript", str(talk)
    )
    (listed,) = [one for one in recalled.ok("session").splitlines() if one.startswith("talk-1")]
    assert "1 of 2 memories helped" in listed
    said = recalled.ok("session", "show", "talk")
    assert "the app or `nuggets daemon` finds out the rest" in said
    with Pipeline.open(recalled.home) as pipeline:
        (recalled.home / "settings.toml").write_text('[pipeline.extraction]\nprovider = "none"\n')
        for _ in range(5):
            pipeline.tick()
    said = recalled.ok("session", "show", "talk")
    assert "1 of 2 memories helped: told by the words of the conversation" in said
    assert ": recalled, helped 100%" in said
    assert ": given at the start, did not help" in said
    found = recalled.json("session", "show", "talk-1")
    assert (found["scored"]["status"], found["scored"]["score"], found["scored"]["used"]) == (
        "by_words",
        None,
        1,
    )
    listed = recalled.json("session")[0]
    assert (listed["given"], listed["used"], listed["score"], listed["lexicalUse"]) == (2, 1, None, 0.5)
