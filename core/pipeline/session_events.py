"""What happens in a session of an agent, as hooks, tools and commands tell of it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

EventKind = Literal["start", "prompt", "recall", "remember", "edit", "context", "compaction", "end"]


class SessionEvent(NamedTuple):
    """Something that happened in a session. texts: the prompt, the question, what was stored, edited paths.

    note_id: of a recall, what answered. ahead: of a beginning, the notes that the session was given before it asked, in
    order, each with its place without a predictor, counted from 1.

    mark: counts upwards in a session, for who may hand the same event in twice; 0 for who does not. at: epoch ms, None
    for now.
    """

    kind: EventKind
    session: str
    project: str = ""
    author: str = ""
    texts: tuple[str, ...] = ()
    mark: int = 0
    note_id: str = ""
    at: int | None = None
    ahead: tuple[tuple[str, int], ...] = ()


# Characters of the digest of a session's checkpoint: what is longer is no digest any more.
LONGEST_DIGEST: Final = 20_000
# Characters of the name of a session, and of its project.
LONGEST_SESSION: Final = 1_000
