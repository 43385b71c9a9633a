"""What happens in sessions, put down as it happens, and the checkpoints that come of it.

All is on the disk before a checkpoint is due: whoever is killed meanwhile loses none, and the next one keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core.errors import ErrorCode, InvalidInputError
from core.model.change import UNNAMED, Author
from core.pipeline.continuity.activity import Activity, is_due
from core.pipeline.continuity.digests import digest
from core.pipeline.database.checkpoints import Checkpoint
from core.pipeline.database.connection import Database
from core.pipeline.database.sessions import Session
from core.pipeline.database.tables import Tables
from core.pipeline.intake.redaction import redact
from core.pipeline.limits import LONGEST_SESSION
from core.pipeline.retention import BATCH, Kind, cutoff, drop, due, trusts_clock_in
from core.pipeline.session_events import SessionEvent
from core.pipeline.writes.session_scores import begin_score
from core.settings.pipeline_sections import ContinuityPart
from core.text.normalise import encodable

# A checkpoint that is due waits so long for what else happens at once.
DEBOUNCE_MS: Final = 2_500
# Who says nothing of whose session it is: a command may end one of an agent.
_NOBODY: Final = ("", Author("agent", UNNAMED).signature)
# Of a text so much is looked at; what is kept of it is shorter by far.
_LONGEST: Final = 8_000


def store_events(
    database: Database,
    settings: ContinuityPart,
    events: Iterable[SessionEvent],
    *,
    now: int,
    max_attempts: int = 3,
) -> tuple[Checkpoint, ...]:
    """Puts down what happened, lasting, in one transaction, with the job that each end of a session leaves; the
    checkpoints that came of it. Nothing where the settings switch it off. max_attempts: of the jobs.

    Raises InvalidInputError for a session without a name or with too long a one.
    """
    clean = tuple(_clean(event) for event in events)
    if not settings.enabled or not clean:
        return ()
    kept: list[Checkpoint] = []
    with database.write() as writer:
        for event in clean:
            kept += _take(writer, settings, event, now, max_attempts)
        kept += _settle(writer, settings, now)
    return tuple(kept)


def settle_due(database: Database, settings: ContinuityPart, *, now: int) -> tuple[Checkpoint, ...]:
    """Keeps the checkpoints that are due; those that came of it. Nothing is written where none is."""
    if not settings.enabled or not database.reading.sessions.due(now):
        return ()
    with database.write() as writer:
        return tuple(_settle(writer, settings, now))


def forget_old(writer: Tables, settings: ContinuityPart, now: int) -> None:
    """Deletes checkpoints and sessions that are older than the settings keep them: one batch, others follow.
    None by a clock that has just leapt ahead.
    """
    if not trusts_clock_in(writer, now):
        return
    before = cutoff(now, settings.retention_days)
    for kind in (Kind.CHECKPOINTS, Kind.SESSIONS):
        keys = due(writer, kind, before, BATCH)
        if keys:
            drop(writer, kind, keys, before, now)


def pending_checkpoint(session: Session) -> Checkpoint:
    """What happened in a session since its last checkpoint, as one that is not kept yet."""
    text = digest(
        session.pending,
        cause="pending",
        project=session.project,
        prompts=session.pending.prompts,
        milliseconds=session.updated - session.since,
        now=session.updated,
    )
    return Checkpoint(0, session.key, session.project, session.author, "pending", text, 0, session.updated)


def consumed(writer: Tables, key: str, now: int) -> Activity:
    """What happened in a session since its last checkpoint, from now on told by the one that is being kept."""
    session = writer.sessions.session(key)
    if session is None:
        return Activity()
    writer.sessions.put(session._replace(pending=Activity(), due=None, since=now))
    return session.pending


def check_session(session: str) -> None:
    """Raises InvalidInputError for a session without a name or with too long a one."""
    if session and len(session) <= LONGEST_SESSION:
        return
    raise InvalidInputError(
        f"the session is longer than {LONGEST_SESSION:,} characters"
        if session
        else "the session has no name",
        code=ErrorCode.TOO_LONG if session else ErrorCode.EMPTY,
        field="session",
        where="the session",
        kept="nothing was written",
        todo="shorten it" if session else "name the session",
    )


def _clean(event: SessionEvent) -> SessionEvent:
    """Without credentials."""
    session = encodable(event.session).strip()
    check_session(session)
    texts = tuple(redact(encodable(text[:_LONGEST])).text for text in event.texts)
    project = redact(encodable(event.project[:LONGEST_SESSION]).strip()).text
    return event._replace(session=session, project=project, texts=texts)


def _take(
    writer: Tables, settings: ContinuityPart, event: SessionEvent, now: int, max_attempts: int
) -> list[Checkpoint]:
    at = now if event.at is None else min(event.at, now)
    known = writer.sessions.session(event.session)
    if known is not None and event.mark and event.mark <= known.marked:
        return []
    if event.note_id:
        writer.session_memories.add(event.session, event.note_id, at)
    writer.session_memories.add_ahead(event.session, event.ahead, at)
    kept = []
    if known is not None and known.due is not None and known.due <= at:
        # Of events that come in later than they happened, each goes into the checkpoint of its time.
        kept.append(_keep(writer, settings, known, "periodic", known.due))
        known = writer.sessions.session(event.session)
    former = known or Session(event.session, event.project, event.author, at, at, since=at)
    happened = _activity(event)
    session = former._replace(
        project=event.project or former.project,
        author=former.author if former.author and event.author in _NOBODY else event.author,
        updated=max(at, former.updated),
        ended=at if event.kind == "end" else None,
        prompts=former.prompts + happened.prompts,
        marked=max(event.mark, former.marked),
        pending=former.pending.merged(happened),
    )
    if event.kind in ("compaction", "end"):
        cause = "session_end" if event.kind == "end" else "pre_compaction"
        if session.pending.empty:
            writer.sessions.put(session)
        else:
            kept.append(_keep(writer, settings, session, cause, at))
        if event.kind == "end":
            begin_score(writer, event.session, now, max_attempts=max_attempts)
        return kept
    if session.due is None and is_due(
        at - session.since,
        session.pending.prompts,
        interval=settings.time_interval_ms,
        prompt_interval=settings.prompt_interval,
    ):
        session = session._replace(due=at + DEBOUNCE_MS)
    writer.sessions.put(session)
    return kept


def _activity(event: SessionEvent) -> Activity:
    match event.kind:
        case "prompt":
            return Activity(prompts=1, snippets=event.texts)
        case "recall":
            return Activity(queries=event.texts)
        case "remember":
            return Activity(remembers=event.texts)
        case "edit":
            return Activity(files=event.texts)
        case "context":
            return Activity(context="\n".join(event.texts))
        case _:
            return Activity()


def _settle(writer: Tables, settings: ContinuityPart, now: int) -> list[Checkpoint]:
    kept = [_keep(writer, settings, session, "periodic", now) for session in writer.sessions.due(now)]
    forget_old(writer, settings, now)
    return kept


def _keep(writer: Tables, settings: ContinuityPart, session: Session, cause: str, at: int) -> Checkpoint:
    ends = cause == "session_end"
    text = digest(
        session.pending,
        cause=cause,
        project=session.project,
        prompts=session.prompts if ends else session.pending.prompts,
        milliseconds=at - (session.started if ends else session.since),
        now=at,
    )
    made = Checkpoint(0, session.key, session.project, session.author, cause, text, 0, at)
    id = writer.checkpoints.insert(made)
    writer.checkpoints.drop_oldest(session.key, settings.max_checkpoints_per_session)
    writer.sessions.put(session._replace(pending=Activity(), due=None, since=at))
    return made._replace(id=id)
