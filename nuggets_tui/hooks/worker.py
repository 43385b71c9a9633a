"""Brings into the memory what hooks caught, and makes the briefing: a process of its own, for which no agent waits."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core import caught
from core.errors import LockTimeoutError, NuggetsError
from core.projects import project_root
from core.user_folders import cache_folder, state_folder
from nuggets_tui.cli.calling_agent import AGENTS
from nuggets_tui.hooks.places import BRIEFING, briefing_name, own_settings, version_of, write_log

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import Author
    from core.model.draft import Draft

PREFERENCES: Final = "prefs"
DEFAULT: Final = "learnings"
_TITLE: Final = 60
# Bytes.
_LONGEST_CONVERSATION: Final = 100 << 20
# What a record may say that happened in a session.
_KINDS: Final = ("start", "prompt", "compaction", "end")
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


def _apply_all(home: Path, state: str) -> int:
    groups: dict[tuple[str, str], list[tuple[Path, dict[str, Any]]]] = {}
    for path in waiting(home):
        record = _record(path)
        if record is None:
            write_log(str(home), "", "", "what was caught cannot be read; it is set aside")
            caught.set_aside(str(path))
            continue
        groups.setdefault((record["agent"], record["session"]), []).append((path, record))
    made = 0
    for (agent, session), records in groups.items():
        made += _apply(home, agent, session, [record for _, record in records])
        _follow(home, agent, session, records)
        for path, _ in records:
            caught.remove(str(path))
    caught.remove_unfinished(state, time.time() - _OLD_SECONDS)
    return made


def _record(path: Path) -> dict[str, Any] | None:
    """What a file says; None for one that says nothing that is known."""
    try:
        record = json.loads(path.read_bytes())
        said, paths = record.get("said", []), record.get("paths", [])
        texts = [record["agent"], record["session"], record["nugget"], record.get("root", ""), *paths]
        texts += [record.get("event", ""), record.get("text", ""), record.get("transcript", "")]
        texts += [text for pair in said for text in pair]
        sound = all(isinstance(text, str) for text in texts) and all(len(pair) == 2 for pair in said)
        return record if sound else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _apply(home: Path, agent: str, session: str, records: Sequence[Mapping[str, Any]]) -> int:
    from core.memory import Memory

    if not any(record.get("said") for record in records):
        return 0
    memory = Memory.open(home, author=_author(agent), reconcile=False)
    where = f" in session {session[:36]}" if session else ""

    def edit(draft: Draft) -> int:
        return sum(_capture(draft, record) for record in records)

    try:
        if not any(_is_new(memory, record) for record in records):
            return 0
        made, _ = memory.change(f"caught by the hook{where}", edit)
        return 1 if made else 0
    finally:
        memory.close()


def _author(agent: str) -> Author:
    from core.model.change import UNNAMED, Author

    return Author("agent", agent if agent in {one.name for one in AGENTS} else UNNAMED)


def _follow(home: Path, agent: str, session: str, records: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
    """Puts down what happened in a session. Who is killed before the records are removed does it again, which adds
    nothing.
    """
    from core.folder import pages_of
    from core.pipeline.session_events import SessionEvent

    events = []
    for path, record in records:
        about: dict[str, Any] = {
            "session": session,
            "project": project_root(record.get("root", "")),
            "at": _milliseconds(path),
        }
        mark = _nanoseconds(path)
        if record.get("paths"):
            events.append(SessionEvent("edit", texts=tuple(record["paths"]), mark=mark, **about))
        if record.get("event") in _KINDS:
            texts = (record["text"],) if record.get("text") else ()
            ahead = _ahead(record.get("ahead"))
            events.append(SessionEvent(record["event"], texts=texts, mark=mark, ahead=ahead, **about))
    if not session or not events or not version_of(str(home)) or pages_of(home) is not None:
        return
    from core.pipeline.service import Pipeline

    with Pipeline.open(home, author=_author(agent)) as pipeline:
        pipeline.follow_session(*events)
        last = records[-1][1]
        if last.get("event") == "end":
            # Once more with its conversation, where that is wanted, and what the memory counted for it.
            reads = pipeline.reads_conversations
            said = _conversation(str(home), last.get("transcript", "")) if reads else ""
            pipeline.end_session(
                session,
                project=project_root(last.get("root", "")),
                conversation=said,
                at=_milliseconds(records[-1][0]),
            )


def _ahead(given: object) -> tuple[tuple[str, int], ...]:
    """The notes that a session was given, each with its place; what is no such pair is passed over."""
    pairs = (
        [one for one in given if isinstance(one, list) and len(one) == 2] if isinstance(given, list) else []
    )
    return tuple((id, place) for id, place in pairs if isinstance(id, str) and isinstance(place, int))


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


def _nanoseconds(path: Path) -> int:
    """When a record was put down, as its name says."""
    head = path.name.partition("-")[0]
    return int(head) if head.isdigit() else 0


def _milliseconds(path: Path) -> int | None:
    return _nanoseconds(path) // 1_000_000 or None


def _is_new(memory: Memory, record: Mapping[str, Any]) -> bool:
    """Whether a record says anything that the memory does not hold."""
    known = {_plain(note.content) for note in memory.snapshot.notes}
    return any(_plain(text) not in known for _, text in record.get("said", ()))


def _capture(draft: Draft, record: Mapping[str, Any]) -> int:
    """Lays what a record says over the draft; how many notes that made."""
    from core.graph.edits import create_note, hide_note
    from core.model.infer import MetaInput
    from core.pipeline.preferences import dispute_older
    from nuggets_tui.hooks.capture import ASKS, PERSON, is_preference

    nugget = _nugget(draft, record["nugget"] or DEFAULT)
    known = {_plain(note.content) for note in draft.notes()}
    made = 0
    for kind, text in record.get("said", ()):
        if not text.strip() or _plain(text) in known:
            continue
        known.add(_plain(text))
        of_person = kind == PERSON
        prefers = of_person or is_preference(text)
        meta = MetaInput(
            source="explicit_user",
            scope="user" if of_person else "project",
            type="preference" if prefers else None,
        )
        into = _nugget(draft, PREFERENCES) if of_person else nugget
        note = create_note(draft, into, _title(text), text, tags=("captured",), meta=meta)
        if kind == ASKS:
            # It counts once a person shows it.
            hide_note(draft, note.id)
        elif prefers:
            dispute_older(draft, note, [one for one in draft.notes() if one.nugget_name == into])
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
