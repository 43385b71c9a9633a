"""Brings into the memory what hooks caught, and makes the briefing: a process of its own, for which no agent waits."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from core import caught
from core.errors import LockTimeoutError, NuggetsError
from core.model.change import UNNAMED, Author
from core.projects import project_root
from core.user_folders import cache_folder, state_folder
from nuggets_tui.before_action import advice_of, forget_sessions
from nuggets_tui.cli.calling_agent import AGENTS
from nuggets_tui.hooks.fast import BRIEFING, briefing_name, state_of, version_of, write_log

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.pipeline.session_events import SessionEvent

PREFERENCES: Final = "prefs"
DEFAULT: Final = "learnings"
# Bytes.
_LONGEST_CONVERSATION: Final = 100 << 20
# A worker that is at it for so long is given up; one that waits for another is, after so long.
LONGEST_SECONDS: Final = 120.0
_TURN_SECONDS: Final = 5.0
# A file that was not finished after so long is of a process that was killed.
_OLD_SECONDS: Final = 3600.0
_MOST_BRIEFINGS: Final = 20


class Caught(msgspec.Struct):
    """What a hook put down. said: whom each sentence is about, and the sentence. event: what happened in the session,
    "" for nothing that is told of it. ahead: the notes that it was given, each with its place. at: when, ns since 1970.
    """

    agent: str
    session: str
    nugget: str
    said: list[tuple[str, str]] = []
    paths: list[str] = []
    root: str = ""
    event: Literal["", "start", "prompt", "compaction", "end"] = ""
    text: str = ""
    transcript: str = ""
    ahead: list[tuple[str, int]] = []
    at: int = 0

    def events(self) -> Iterator[SessionEvent]:
        """What it tells of the session; what is handed in twice adds nothing."""
        from core.pipeline.session_events import SessionEvent

        told = SessionEvent(
            "edit", self.session, project_root(self.root), texts=tuple(self.paths), mark=self.at,
            at=self.at // 1_000_000 or None,
        )  # fmt: skip
        if self.paths:
            yield told
        if self.event:
            texts = (self.text,) if self.text else ()
            yield told._replace(kind=self.event, texts=texts, ahead=tuple(self.ahead))


def main(arguments: Sequence[str]) -> None:
    """For the memory in the folder that comes first: applies what was caught, then makes the briefing for what follows,
    if anything does: the project's nugget, the folder in which the agent works, and the session that goes on.
    """
    home, *briefing = arguments
    for briefs in (False, True) if briefing else (False,):
        try:
            if briefs:
                make_briefing(Path(home), *briefing[:3])
            else:
                apply_caught(Path(home))
        except Exception as error:
            known = f"{error.code}: {error.what}" if isinstance(error, NuggetsError) else ""
            write_log(home, f"failed: {known or type(error).__name__}")


def waiting(home: Path) -> list[Path]:
    """What was caught and is not in the memory yet, oldest first."""
    state = state_folder(str(home))
    return [Path(path) for path in caught.paths(state)] if state else []


def apply_caught(home: Path) -> None:
    """Writes what waits into the memory and removes it. One process does it at a time.

    Safe to run again after a crash: what is in the memory already is not added twice. Raises NuggetsError; what was
    not written then goes on waiting.
    """
    from core.app_state import claimed

    state = state_folder(str(home)) or os.devnull
    # Whoever holds the lock looks once more when it is done.
    with contextlib.suppress(LockTimeoutError):
        while waiting(home):
            with claimed(Path(state, f"{caught.FOLDER}.lock")):
                _apply_all(home, state)


def _apply_all(home: Path, state: str) -> None:
    groups: dict[tuple[str, str], list[tuple[Path, Caught]]] = {}
    for path in waiting(home):
        try:
            record = msgspec.json.decode(path.read_bytes(), type=Caught)
        except (OSError, ValueError):
            write_log(str(home), "what was caught cannot be read; it is set aside")
            caught.set_aside(str(path))
            continue
        groups.setdefault((record.agent, record.session), []).append((path, record))
    for (agent, session), entries in groups.items():
        author = Author("agent", agent if agent in {one.name for one in AGENTS} else UNNAMED)
        records = [record for _, record in entries]
        _keep_said(home, author, session, records)
        _follow(home, author, session, records)
        for path, _ in entries:
            caught.remove(str(path))
    caught.remove_unfinished(state, time.time() - _OLD_SECONDS)
    forget_sessions(state)


def _keep_said(home: Path, author: Author, session: str, records: Sequence[Caught]) -> None:
    from core.memory import Memory

    said = [(record.nugget or DEFAULT, *one) for record in records for one in record.said]
    if not said:
        return
    memory = Memory.open(home, author=author, reconcile=False)
    where = f" in session {session[:36]}" if session else ""
    try:
        memory.change(f"caught by the hook{where}", lambda draft: _capture(draft, said))
    finally:
        memory.close()


def _capture(draft: Draft, said: Iterable[tuple[str, str, str]]) -> None:
    """Lays what was said over the draft: the nugget of its project, whom it is about, and the sentence."""
    from core.graph.edits import create_note, hide_note
    from core.model.infer import MetaInput
    from core.pipeline.statements import dispute_older
    from core.pipeline.writes.notes import title_of
    from nuggets_tui.hooks.capture import ASKS, PERSON, is_preference

    known = {_plain(note.content) for note in draft.notes()}
    spelt = {name.lower(): name for name in draft.nugget_names()}
    for project, kind, text in said:
        if not text.strip() or _plain(text) in known:
            continue
        known.add(_plain(text))
        prefers = kind == PERSON or is_preference(text)
        nugget, scope = (PREFERENCES, "user") if kind == PERSON else (project, "project")
        nugget = spelt.setdefault(nugget.lower(), nugget)
        meta = MetaInput(source="explicit_user", scope=scope, type="preference" if prefers else None)
        note = create_note(draft, nugget, title_of(text), text, tags=("captured",), meta=meta)
        if kind == ASKS:
            # It counts once a person shows it.
            hide_note(draft, note.id)
        elif prefers:
            dispute_older(draft, note, [one for one in draft.notes() if one.nugget_name == nugget])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!; ")


def _follow(home: Path, author: Author, session: str, records: Sequence[Caught]) -> None:
    """Puts down what happened in a session."""
    from core.folder import pages_of
    from core.pipeline.service import Pipeline

    events = [event for record in records for event in record.events()]
    if not session or not events or not version_of(str(home)) or pages_of(home) is not None:
        return
    with Pipeline.open(home, author=author) as pipeline:
        pipeline.sessions.follow(*events)
        last = records[-1]
        if last.event == "end":
            # Once more with its conversation, where that is wanted, and what the memory counted for it.
            said = _conversation(str(home), last.transcript) if pipeline.sessions.reads_conversations else ""
            pipeline.sessions.end(session, project=events[-1].project, conversation=said, at=events[-1].at)


def _conversation(home: str, path: str) -> str:
    """What was said in a session; "" for what cannot be read."""
    from core.pipeline.conversation import read_conversation

    try:
        if not path or os.stat(path).st_size > _LONGEST_CONVERSATION:
            return ""
        return read_conversation(Path(path).read_bytes().decode("utf-8", "replace")).text
    except (OSError, ValueError, NuggetsError) as error:
        write_log(home, f"the conversation cannot be read: {type(error).__name__}")
        return ""


# The briefing


def make_briefing(home: Path, nugget: str, near: str = "", session: str = "") -> str:
    """Makes the briefing for a project and keeps it for the memory as it is now; the text. near: the folder in which
    the agent works, where a team's notes are in reach of it. session: one that goes on, "" for a new one.

    One process of a memory does it at a time: each start of a session asks for it. Raises NuggetsError.
    """
    from core.app_state import claimed, write_cached

    state = state_folder(str(home))
    with claimed(Path(state, "briefing.lock"), _TURN_SECONDS) if state else contextlib.nullcontext():
        # True of the memory as it is before it is read.
        entry: dict[str, Any] = {"state": state_of(str(home), near), "begun": time.time()}
        entry |= _briefing(home, nugget, near, session)
        name, kept = briefing_name(nugget, near, session), {}
        with contextlib.suppress(OSError, ValueError, AttributeError, KeyError, TypeError):
            found = json.loads(Path(cache_folder(str(home)) or os.devnull, BRIEFING).read_bytes())
            # One of another day, settings or memory would hold texts that may be gone from it.
            kept = {one: old for one, old in found.items() if old["state"][:3] == entry["state"][:3]}
        kept.pop(name, None)
        kept = dict([*kept.items()][-_MOST_BRIEFINGS:]) | {name: entry}
        write_cached(home, BRIEFING, json.dumps(kept).encode())
    return str(entry["text"])


def _briefing(home: Path, nugget: str, near: str, session: str) -> dict[str, Any]:
    from core.memory import Memory
    from core.projects import Project, project_at
    from core.workspace import refuse_untrusted, session_briefing, use_team_near
    from nuggets_tui.safe_text import plain

    memory = Memory.open(home, reconcile=False, tolerant=True)
    try:
        if near:
            use_team_near(memory, lambda: near)
            memory.use_project(project_at(near))
        refuse_untrusted(memory)
        project = memory.project or (Project(nugget) if nugget else None)
        made = session_briefing(
            memory, project=project, folder=near, session=session,
            failed=lambda what: write_log(str(home), what),
        )  # fmt: skip
        text = plain(made.text) if made.notes or made.picked_up else ""
        return {"text": text, "ahead": made.places, "advice": advice_of(memory)}
    finally:
        memory.close()


def run(arguments: Sequence[str]) -> None:
    """`main` as a process of its own, which ends in time, also in one call that never returns: what was caught waits
    for the next one.
    """
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True, file=nowhere)
        main(arguments)


if __name__ == "__main__":
    run(sys.argv[1:])
