"""Checkpoints of sessions: kept without credentials, and put together again for whoever picks a session up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from core.errors import ErrorCode, InvalidInputError
from core.pipeline.database.checkpoints import Checkpoint, Checkpoints
from core.pipeline.database.connection import Database
from core.pipeline.intake.normalisation import encodable
from core.pipeline.intake.redaction import redact
from core.pipeline.limits import LONGEST_DIGEST
from core.pipeline.records import KeptCheckpoint, Recovery
from core.text.estimate import cut_to_tokens, estimate_tokens

_LONGEST_NAME: Final = 1_000
# Of a session so many are looked through for a recovery.
_MOST: Final = 50
_CUT: Final = "\n[… cut to the budget]"


class CheckpointSubmission(NamedTuple):
    """A checkpoint as it comes in. cause: what called for it. author: who says it."""

    digest: str
    session: str
    project: str
    cause: str
    author: str


def store_checkpoint(
    database: Database, submission: CheckpointSubmission, *, most: int, now: int
) -> KeptCheckpoint:
    """Keeps a checkpoint, lasting, and drops the oldest ones of its session beyond `most`. now: epoch ms.

    One that says what the last one of its session says is not kept again. Raises InvalidInputError for a blank or too
    long digest and for a session without a name.
    """
    digest = encodable(submission.digest).strip()
    session, project = (encodable(one).strip() for one in (submission.session, submission.project))
    _check(digest, session, project)
    redacted, named = redact(digest), redact(project)
    checkpoint = Checkpoint(
        0, session, named.text, submission.author, submission.cause, redacted.text, redacted.count, now
    )
    with database.write() as writer:
        rows = writer.checkpoints
        last = next(iter(rows.newest(session, 1)), None)
        if last is not None and (last.digest, last.project) == (checkpoint.digest, checkpoint.project):
            count = rows.count_of(session)
            return KeptCheckpoint(last.id, session, last.project, redacted.count, count, 0, False)
        id = rows.insert(checkpoint)
        dropped = rows.drop_oldest(session, most)
        return KeptCheckpoint(id, session, named.text, redacted.count, rows.count_of(session), dropped, True)


def recovered(rows: Checkpoints, session: str, project: str, tokens: int) -> Recovery | None:
    """What a session left, newest first, in at most so many tokens. session: "" for the one with the newest checkpoint
    of the project, or ("") of all. None where nothing was left.
    """
    session, project = encodable(session).strip(), redact(encodable(project).strip()).text
    name = session or rows.newest_session(project)
    found = rows.newest(name, _MOST) if name else ()
    if not found:
        return None
    newest, *earlier = found
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
        rows.count_of(newest.session),
        shown if text else 0,
        cut,
        text,
    )


def _section(checkpoint: Checkpoint) -> str:
    at = datetime.fromtimestamp(checkpoint.created_at / 1000, UTC)
    # Whatever has been learned since about credentials counts for what was kept before.
    return f"## Checkpoint of {at:%Y-%m-%d %H:%M} UTC ({checkpoint.cause})\n{redact(checkpoint.digest).text}"


def _check(digest: str, session: str, project: str) -> None:
    if not digest:
        raise InvalidInputError(
            "it is empty",
            code=ErrorCode.EMPTY_TEXT,
            field="digest",
            where="the checkpoint",
            kept="nothing was written",
            todo="say in a few sentences what was done, decided and is still open",
        )
    if not session:
        raise InvalidInputError(
            "the session has no name",
            code=ErrorCode.EMPTY_NAME,
            field="session",
            where="the checkpoint",
            kept="nothing was written",
            todo="name the session",
        )
    for field, text, longest in (
        ("digest", digest, LONGEST_DIGEST),
        ("session", session, _LONGEST_NAME),
        ("project", project, _LONGEST_NAME),
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
