"""A submitted text with what was read of it and what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from core.errors import NotFoundError
from core.pipeline.database.tables import Tables
from core.pipeline.records import Job, RawMemory, TextTrail
from core.pipeline.windows import progress_of

# Longer numbers are no ids of rows.
_LONGEST_JOB_ID: Final = 18


def text_trail(reader: Tables, said: str) -> TextTrail:
    """The trail of a text, by its id or a beginning of it, or by the number of its job.

    Raises NotFoundError, AmbiguousError, InvalidInputError for "".
    """
    raw = reader.raw.raw_of(text_named(reader, said))
    assert raw is not None
    job = next((one for one in reader.jobs.jobs(target=raw.id, most=50) if one.type == "extract"), None)
    return TextTrail(
        raw,
        job,
        _unread(reader, raw, job),
        reader.proposals.of_raw(raw.id),
        reader.entities.named_in(raw.id),
        reader.raw.tombstone(raw.id),
    )


def text_named(reader: Tables, said: str) -> str:
    """The id of the text that somebody means, as for `text_trail`."""
    raw_id = _target_of_job(reader, said.strip()) or reader.raw.resolve_id(said)
    if reader.raw.raw_of(raw_id) is not None:
        return raw_id
    buried = reader.raw.tombstone(raw_id)
    if buried is not None:
        raise NotFoundError(
            f"this text was removed, and retention deleted it{on_day(buried.gone)}", where=said,
            kept="what was made of it is in the notes and their history",
        )  # fmt: skip
    raise NotFoundError(
        "no submitted text or job has this id", where=said, todo="nuggets pipeline jobs lists them"
    )


def on_day(moment: int | None) -> str:
    """ " on 2026-11-23" for a moment in epoch ms, "" where it is none that a calendar has."""
    try:
        return "" if moment is None else f" on {datetime.fromtimestamp(moment / 1000, UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return ""


def _target_of_job(reader: Tables, said: str) -> str:
    """The id of the text that a job of this number reads, "" where no job has it."""
    if not (said.isascii() and said.isdigit() and len(said) <= _LONGEST_JOB_ID):
        return ""
    job = reader.jobs.job(int(said))
    if job is not None and job.type != "extract":
        raise NotFoundError("this job is about an entity, not about a text", where=f"job {said}")
    return "" if job is None else job.target


def _unread(reader: Tables, raw: RawMemory, job: Job | None) -> tuple[tuple[int, int], ...]:
    """The spans that no model has read, in order."""
    if job is None or not job.windows:
        return () if raw.status == "extracted" or not raw.content else ((0, len(raw.content)),)
    if not job.unread:
        return ()
    progress = progress_of(reader.jobs.result_of(job.id), len(raw.content))
    ahead = [(progress.at, len(raw.content))] if raw.content[progress.at :].strip() else []
    return tuple(sorted([*((one.start, one.end) for one in progress.failed), *ahead]))
