"""Brings into the memory what hooks caught, and makes the briefing: a process of its own, for which no agent waits."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from core import caught
from core.errors import LockTimeoutError, NuggetsError
from core.projects import project_root
from core.user_folders import cache_folder, state_folder
from nuggets_tui.cli.calling_agent import AGENTS
from nuggets_tui.hooks.places import BRIEFING, briefing_name, own_settings, version_of, write_log

if TYPE_CHECKING:
    from core.model.change import Author
    from core.model.draft import Draft

PREFERENCES: Final = "prefs"
DEFAULT: Final = "learnings"
_TITLE: Final = 60
# Bytes.
_LONGEST_CONVERSATION: Final = 100 << 20
# A worker that is at it for so long is given up; one that waits for another is, after so long.
LONGEST_SECONDS: Final = 120.0
_TURN_SECONDS: Final = 5.0
# A file that was not finished after so long is of a process that was killed.
_OLD_SECONDS: Final = 3600.0
_MOST_BRIEFINGS: Final = 20


def main(arguments: Sequence[str]) -> None:
    """For the memory in the folder that comes first: applies what was caught (nothing more named, or --caught), then
    makes the briefing (--briefing NUGGET FOLDER SESSION: the folder in which the agent works, and the session that goes
    on, if one does).
    """
    home, *more = arguments
    if not more or "--caught" in more:
        _tried(home, lambda: apply_caught(Path(home)))
    if "--briefing" in more:
        about = more[more.index("--briefing") + 1 :]
        _tried(home, lambda: _make_briefing_alone(Path(home), *about[:3]))


def _tried(home: str, call: Callable[[], object]) -> None:
    """A call whose error is put down in the log of hooks."""
    try:
        call()
    except NuggetsError as error:
        write_log(home, "", "", f"failed: {error.code}: {error.what}")
    except Exception as error:
        write_log(home, "", "", f"failed: {type(error).__name__}")


def apply_caught(home: Path) -> int:
    """Writes what waits into the memory and removes it; how many changes that made. One process does it at a time.

    Who is killed in between does it again: what is in the memory already is not added twice. Raises NuggetsError; what
    was not written then goes on waiting.
    """
    from core.app_state import claimed

    state = state_folder(str(home)) or os.devnull
    made = 0
    while waiting(home):
        try:
            with claimed(Path(state, f"{caught.FOLDER}.lock")):
                made += _apply_all(home, state)
        except LockTimeoutError:
            # Whoever holds it looks once more when it is done.
            return made
    return made


def waiting(home: Path) -> list[Path]:
    """What was caught and is not in the memory yet, oldest first."""
    state = state_folder(str(home))
    return [Path(path) for path in caught.paths(state)] if state else []


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

    @property
    def milliseconds(self) -> int | None:
        """The time as the pipeline has it; None for none."""
        return self.at // 1_000_000 or None


def _apply_all(home: Path, state: str) -> int:
    groups: dict[tuple[str, str], list[tuple[Path, Caught]]] = {}
    for path in waiting(home):
        try:
            record = msgspec.json.decode(path.read_bytes(), type=Caught)
        except (OSError, ValueError):
            write_log(str(home), "", "", "what was caught cannot be read; it is set aside")
            caught.set_aside(str(path))
            continue
        # As the file's name says.
        head = path.name.partition("-")[0]
        record.at = int(head) if head.isdigit() else 0
        groups.setdefault((record.agent, record.session), []).append((path, record))
    made = 0
    for (agent, session), entries in groups.items():
        records = [record for _, record in entries]
        made += _apply(home, agent, session, records)
        _follow(home, agent, session, records)
        for path, _ in entries:
            caught.remove(str(path))
    caught.remove_unfinished(state, time.time() - _OLD_SECONDS)
    return made


def _apply(home: Path, agent: str, session: str, records: Sequence[Caught]) -> int:
    from core.memory import Memory

    said = [(record.nugget or DEFAULT, *one) for record in records for one in record.said]
    if not said:
        return 0
    memory = Memory.open(home, author=_author(agent), reconcile=False)
    where = f" in session {session[:36]}" if session else ""
    try:
        made, _ = memory.change(f"caught by the hook{where}", lambda draft: _capture(draft, said))
        return 1 if made else 0
    finally:
        memory.close()


def _author(agent: str) -> Author:
    from core.model.change import UNNAMED, Author

    return Author("agent", agent if agent in {one.name for one in AGENTS} else UNNAMED)


def _follow(home: Path, agent: str, session: str, records: Sequence[Caught]) -> None:
    """Puts down what happened in a session. Who is killed before the records are removed does it again, which adds
    nothing.
    """
    from core.folder import pages_of
    from core.pipeline.session_events import SessionEvent

    events = []
    for one in records:
        about: dict[str, Any] = {
            "session": session,
            "project": project_root(one.root),
            "at": one.milliseconds,
        }
        if one.paths:
            events.append(SessionEvent("edit", texts=tuple(one.paths), mark=one.at, **about))
        if one.event:
            texts = (one.text,) if one.text else ()
            events.append(SessionEvent(one.event, texts=texts, mark=one.at, ahead=tuple(one.ahead), **about))
    if not session or not events or not version_of(str(home)) or pages_of(home) is not None:
        return
    from core.pipeline.service import Pipeline

    with Pipeline.open(home, author=_author(agent)) as pipeline:
        pipeline.follow_session(*events)
        last = records[-1]
        if last.event == "end":
            # Once more with its conversation, where that is wanted, and what the memory counted for it.
            said = _conversation(str(home), last.transcript) if pipeline.reads_conversations else ""
            pipeline.end_session(
                session, project=project_root(last.root), conversation=said, at=last.milliseconds
            )


def _conversation(home: str, path: str) -> str:
    """What was said in a session; "" for what cannot be read."""
    from core.pipeline.continuity.conversation import read_conversation

    try:
        if not path or os.stat(path).st_size > _LONGEST_CONVERSATION:
            return ""
        return read_conversation(Path(path).read_bytes().decode("utf-8", "replace")).text
    except (OSError, ValueError, NuggetsError) as error:
        write_log(home, "", "", f"the conversation cannot be read: {type(error).__name__}")
        return ""


def _capture(draft: Draft, said: Sequence[tuple[str, str, str]]) -> int:
    """Lays what was said over the draft, each with the nugget of its project; how many notes that made."""
    from core.graph.edits import create_note, hide_note
    from core.model.infer import MetaInput
    from core.pipeline.preferences import dispute_older
    from nuggets_tui.hooks.capture import ASKS, PERSON, is_preference

    known = {_plain(note.content) for note in draft.notes()}
    made = 0
    for project, kind, text in said:
        if not text.strip() or _plain(text) in known:
            continue
        known.add(_plain(text))
        prefers = kind == PERSON or is_preference(text)
        meta = MetaInput(
            source="explicit_user",
            scope="user" if kind == PERSON else "project",
            type="preference" if prefers else None,
        )
        nugget = _nugget(draft, PREFERENCES if kind == PERSON else project)
        note = create_note(draft, nugget, _title(text), text, tags=("captured",), meta=meta)
        if kind == ASKS:
            # It counts once a person shows it.
            hide_note(draft, note.id)
        elif prefers:
            dispute_older(draft, note, [one for one in draft.notes() if one.nugget_name == nugget])
        made += 1
    return made


def _nugget(draft: Draft, name: str) -> str:
    """A nugget's name as it is spelt in the memory."""
    return next((known for known in draft.nugget_names() if known.lower() == name.lower()), name)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!; ")


def _title(text: str) -> str:
    words = text.split()
    title = ""
    for word in words:
        if len(title) + len(word) > _TITLE:
            return f"{title}…" if title else f"{word[:_TITLE]}…"
        title = f"{title} {word}".strip()
    return title.rstrip(".!;,")


# The briefing


def _make_briefing_alone(home: Path, *about: str) -> None:
    """One process of a memory does it at a time: each start of a session asks for it."""
    from core.app_state import claimed

    state = state_folder(str(home))
    with claimed(Path(state, "briefing.lock"), _TURN_SECONDS) if state else contextlib.nullcontext():
        make_briefing(home, *about)


def make_briefing(home: Path, nugget: str, near: str = "", session: str = "") -> str:
    """Makes the briefing for a project and keeps it for the memory as it is now; the text. near: the folder in which
    the agent works, where a team's notes are in reach of it. session: one that goes on, "" for a new one.
    """
    from core.app_state import write_cached
    from core.memory import Memory
    from core.projects import Project, project_at
    from core.workspace import refuse_untrusted, session_briefing, use_team_near
    from nuggets_tui.safe_text import plain

    begun, version, own = time.time(), version_of(str(home)), own_settings()
    name = briefing_name(nugget, near, session)
    memory = Memory.open(home, reconcile=False, tolerant=True)
    if near:
        use_team_near(memory, lambda: near)
        memory.use_project(project_at(near))
    try:
        refuse_untrusted(memory)
        project = memory.project or (Project(nugget) if nugget else None)
        made = session_briefing(
            memory, project=project, folder=near, session=session,
            failed=lambda what: write_log(str(home), "", "", what),
        )  # fmt: skip
        text = plain(made.text) if made.notes or made.picked_up else ""
    finally:
        memory.close()
    folder = cache_folder(str(home))
    if folder:
        # True of the memory as it was then; what is of another state would hold texts that may be gone from it.
        state = [version, own, int(begun) // 86_400]
        kept: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError, AttributeError, KeyError, TypeError):
            found = json.loads((Path(folder) / BRIEFING).read_bytes())
            kept = {one: entry for one, entry in found.items() if entry["state"] == state and one != name}
        kept = dict([*kept.items()][-_MOST_BRIEFINGS:])
        kept[name] = {"state": state, "begun": begun, "text": text, "ahead": made.places}
        write_cached(home, BRIEFING, json.dumps(kept).encode())
    return text


def run(arguments: Sequence[str]) -> None:
    """`main` as a process of its own, which ends in time, also in one call that never returns: what was caught waits
    for the next one.
    """
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True, file=nowhere)
        main(arguments)


if __name__ == "__main__":
    run(sys.argv[1:])
