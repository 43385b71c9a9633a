"""Checkpoints of sessions: kept without credentials, and put together again for whoever picks a session up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.pipeline.continuity.digests import sections
from core.pipeline.database.checkpoints import Checkpoint, OfSession
from core.pipeline.database.connection import Database
from core.pipeline.database.session_memories import SessionMemory
from core.pipeline.database.sessions import Session
from core.pipeline.database.tables import Tables
from core.pipeline.intake.redaction import redact
from core.pipeline.limits import LONGEST_DIGEST, LONGEST_SESSION
from core.pipeline.records import KeptCheckpoint, Recovery, SessionOverview, SessionPage
from core.pipeline.writes.sessions import consumed, forget_old, pending_checkpoint
from core.settings.pipeline_sections import ContinuityPart
from core.text.estimate import cut_to_tokens, estimate_tokens
from core.text.normalise import encodable

# Of a session so many are looked through for a recovery.
_MOST: Final = 50
# More than the settings keep of one.
_MOST_KEPT: Final = 500
# Nobody wrote these: their text says itself when and why it was made.
_MADE: Final = frozenset(("periodic", "pre_compaction", "session_end", "pending"))
_CUT: Final = "\n[… cut to the budget]"


class CheckpointSubmission(NamedTuple):
    """A checkpoint as it comes in. cause: what called for it. author: who says it."""

    digest: str
    session: str
    project: str
    cause: str
    author: str


def store_checkpoint(
    database: Database, settings: ContinuityPart, submission: CheckpointSubmission, *, now: int
) -> KeptCheckpoint:
    """Keeps a checkpoint, lasting, and drops the oldest ones of its session beyond what the settings keep. What
    happened in the session since the last one is added. now: epoch ms.

    One that says what the last one of its session says is not kept again. Raises InvalidInputError for a blank or too
    long digest and for a session without a name.
    """
    digest = encodable(submission.digest).strip()
    session, project = (encodable(one).strip() for one in (submission.session, submission.project))
    _check(digest, session, project)
    redacted, named = redact(digest), redact(project)
    with database.write() as writer:
        rows = writer.checkpoints
        text = "\n\n".join((redacted.text, *sections(consumed(writer, session, now))))
        checkpoint = Checkpoint(
            0, session, named.text, submission.author, submission.cause, text, redacted.count, now
        )
        last = next(iter(rows.newest(session, 1)), None)
        if last is not None and (last.digest, last.project) == (checkpoint.digest, checkpoint.project):
            count = rows.count_of(session)
            return KeptCheckpoint(last.id, session, last.project, redacted.count, count, 0, False)
        id = rows.insert(checkpoint)
        dropped = rows.drop_oldest(session, settings.max_checkpoints_per_session)
        forget_old(writer, settings, now)
        return KeptCheckpoint(id, session, named.text, redacted.count, rows.count_of(session), dropped, True)


def recovered(
    reader: Tables, session: str, project: str, tokens: int, *, asking: str = ""
) -> Recovery | None:
    """What a session left, newest first, in at most so many tokens: what happened since its last checkpoint, and its
    checkpoints. None where nothing was left.

    session: "" for the last one of the project, or ("") of all. asking: a session that begins; what happens in it is
    no work to be picked up, unless it has a checkpoint.
    """
    session, project = encodable(session).strip(), redact(encodable(project).strip()).text
    rows = reader.checkpoints
    name = session or rows.newest_session(project) or ""
    kept = rows.newest(name, _MOST) if name else ()
    open_one = (
        reader.sessions.session(session) if session else reader.sessions.newest_pending(project, asking)
    )
    if open_one is not None and not open_one.pending.empty and (kept or open_one.key != asking):
        unkept = pending_checkpoint(open_one)
        if open_one.key == name:
            kept = (unkept, *kept)
        elif not kept or unkept.created_at > kept[0].created_at:
            kept = (unkept, *rows.newest(open_one.key, _MOST))
    if not kept:
        return None
    newest, *earlier = kept
    whole = _section(newest)
    text = cut_to_tokens(whole, tokens, _CUT)
    cut, shown = text != whole, 1
    for checkpoint in () if cut else earlier:
        more = f"{text}\n\n{_section(checkpoint)}"
        if estimate_tokens(more) > tokens:
            break
        text, shown = more, shown + 1
    return Recovery(
        newest.session,
        newest.project,
        newest.author,
        newest.created_at,
        rows.count_of(newest.session) + (newest.cause == "pending"),
        shown if text else 0,
        cut,
        text,
    )


def overviews(reader: Tables, most: int) -> tuple[SessionOverview, ...]:
    """The sessions, those that something happened in last first, those that only have checkpoints among them."""
    kept = {row.session: row for row in reader.checkpoints.by_session(most)}
    followed = {one.key: one for one in reader.sessions.sessions(most)}
    found = [_overview(key, followed.get(key), kept.get(key)) for key in {**followed, **kept}]
    shown = sorted(found, key=lambda one: (-one.updated, one.session))[:most]
    names = [one.session for one in shown]
    counts, scores = reader.session_memories.counts_of(names), reader.session_memories.scores_of(names)
    return tuple(
        replace(one, given=counts.get(one.session, (0, 0))[0], score=scores.get(one.session)) for one in shown
    )


def page_of(reader: Tables, key: str, counted: Iterable[tuple[str, int]] = ()) -> SessionPage:
    """All that is kept of a session. counted: notes whose recalls the memory counted for it, each with when, epoch ms.

    Raises NotFoundError.
    """
    rows = reader.session_memories
    one, score, kept_of = reader.sessions.session(key), rows.score_of(key), rows.memories_of(key)
    known = {memory.note_id: memory for memory in kept_of}
    for note_id, at in counted:
        before = known.get(note_id)
        if before is None:
            known[note_id] = SessionMemory(note_id, 1, at, None, 0, 0, None, confirmed=False)
        elif not before.times:
            known[note_id] = before._replace(times=1)
    given = tuple(known.values())
    kept = reader.checkpoints.newest(key, _MOST_KEPT)
    if one is None and score is None and not (kept or given):
        raise NotFoundError("no session has this id", where=key, todo="nuggets session lists them")
    last = kept[0] if kept else None
    row = OfSession(
        key, last.project, last.author, len(kept), kept[-1].created_at, last.created_at
    ) if last else None  # fmt: skip
    overview = replace(_overview(key, one, row), given=len(given), score=score)
    pending = (pending_checkpoint(one),) if one is not None and not one.pending.empty else ()
    return SessionPage(overview, (*pending, *kept), given, reader.comparisons.of(key))


def _overview(key: str, one: Session | None, row: OfSession | None) -> SessionOverview:
    return SessionOverview(
        key,
        (one.project if one else "") or (row.project if row else ""),
        one.author if one else row.author if row else "",
        one.started if one else row.first if row else 0,
        max(one.updated if one else 0, row.last if row else 0),
        one.ended if one else None,
        one.prompts if one else 0,
        row.number if row else 0,
        one is not None and not one.pending.empty,
    )


def _section(checkpoint: Checkpoint) -> str:
    # Whatever has been learned since about credentials counts for what was kept before.
    said = redact(checkpoint.digest).text
    if checkpoint.cause in _MADE:
        return said
    at = datetime.fromtimestamp(checkpoint.created_at / 1000, UTC)
    return f"## Checkpoint of {at:%Y-%m-%d %H:%M} UTC ({checkpoint.cause})\n{said}"


def _check(digest: str, session: str, project: str) -> None:
    if not digest:
        raise InvalidInputError(
            "it is empty",
            code=ErrorCode.EMPTY,
            field="digest",
            where="the checkpoint",
            kept="nothing was written",
            todo="say in a few sentences what was done, decided and is still open",
        )
    if not session:
        raise InvalidInputError(
            "the session has no name",
            code=ErrorCode.EMPTY,
            field="session",
            where="the checkpoint",
            kept="nothing was written",
            todo="name the session",
        )
    for field, text, longest in (
        ("digest", digest, LONGEST_DIGEST),
        ("session", session, LONGEST_SESSION),
        ("project", project, LONGEST_SESSION),
    ):
        if len(text) > longest:
            raise InvalidInputError(
                f"the {field} is longer than {longest:,} characters",
                code=ErrorCode.TOO_LONG,
                field=field,
                where="the checkpoint",
                kept="nothing was written",
                todo="shorten it",
            )
