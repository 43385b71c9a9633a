"""Intake: when this returns, the submitted text is safe on disk, linked, and queued for a worker."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from core.errors import ErrorCode, InvalidInputError, NuggetsError
from core.model.names import DEFAULT_NUGGET, check_nugget_name, known_nugget
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import KnownNames
from core.pipeline.database.tables import Tables
from core.pipeline.database.texts import pack
from core.pipeline.intake.linker import Links, link
from core.pipeline.intake.names import SCANNED
from core.pipeline.intake.normalisation import Normalised, normalise
from core.pipeline.intake.redaction import redact, shown
from core.pipeline.records import Ingested, RawMemory, RawStatus
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable

# Characters. No more than SQLite can hold of the longest ones.
LONGEST: Final = 100 * 1024 * 1024
_LONGEST_NUGGET: Final = 64
_NO_NUGGET_SIGNS: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Submission:
    """A text as it comes in. session: whose memory it is, also the key of its transcript; nugget: where facts go."""

    text: str
    nugget: str = ""
    project: str = ""
    session: str = ""
    source_type: str = "text"
    author: str = ""
    transcript: str | None = None


def store_submission(
    database: Database,
    configuration: PipelineConfiguration,
    submission: Submission,
    *,
    raw_id: str,
    now: int,
    known_nuggets: Collection[str] = (),
) -> Ingested:
    """Stores a text verbatim, with what the rules link in it and the job that a worker will do, in one transaction.

    A text that says what an earlier one of its nugget says is kept as its repetition, without a job. Of text that
    UTF-8 cannot hold, lone surrogates are replaced. The transcript is redacted and stored in a transaction of its
    own: `warning` says when that failed. raw_id: a new id; now: epoch ms; known_nuggets: names of the memory.

    Calls no model and no network. Raises InvalidInputError for a blank or endless text and for a name that no
    nugget can bear, StorageError when the disk refuses.
    """
    text = encodable(submission.text)
    forms = normalise(text)
    _check(text, forms)
    nugget = known_nugget(encodable(submission.nugget).strip(), known_nuggets)
    if nugget and nugget not in known_nuggets:
        check_nugget_name(nugget)
    session, project = _plain(submission.session), _plain(submission.project)
    # Before the transaction, since a long text takes a tenth of a second.
    with database.checked_reading() as reader:
        links = link(shown(text[:SCANNED]), KnownNames(reader.entities))
    with database.write() as writer:
        project = project or writer.text(
            # That of the newest text of the session that names one.
            "SELECT project FROM raw_memories WHERE source_id = ? AND source_id <> '' AND project <> ''"
            " ORDER BY created_at DESC, rowid DESC LIMIT 1",
            session,
        )
        raw = RawMemory(
            id=raw_id,
            content=text,
            content_hash=forms.content_hash,
            source_type=_plain(submission.source_type),
            source_id=session,
            project=project,
            nugget=nugget or nugget_of(project, known_nuggets),
            author=_plain(submission.author),
            status="held" if configuration.mutations_frozen else "queued",
            duplicate_of="",
            protected=False,
            created_at=now,
            extracted_at=None,
            model="",
        )
        ingested = _store(writer, raw, forms, links, configuration.worker.max_retries)
    if submission.transcript is None:
        return ingested
    return replace(ingested, warning=_keep_transcript(database, submission.transcript, session, project, now))


def nugget_of(project: str, known: Collection[str] = ()) -> str:
    """The nugget that facts of a project go to: of its name, or of the last part of its path, else "memory"."""
    if project in known:
        return project
    last = next((part for part in reversed(re.split(r"[/\\]", project)) if part.strip()), "")
    plain = unicodedata.normalize("NFKD", last).encode("ascii", "ignore").decode()
    name = _NO_NUGGET_SIGNS.sub("-", plain).strip("-.")[:_LONGEST_NUGGET].rstrip("-.")
    try:
        check_nugget_name(name)
    except InvalidInputError:
        return DEFAULT_NUGGET
    return known_nugget(name, known)


def _store(writer: Tables, raw: RawMemory, forms: Normalised, links: Links, attempts: int) -> Ingested:
    earlier = writer.raw.earlier_same(raw.nugget, forms.content_hash)
    status: RawStatus = "duplicate" if earlier else raw.status
    stored = replace(raw, status=status, duplicate_of=earlier, protected=links.protected)
    writer.raw.insert(stored)
    # What a repetition names is linked to the memory that it repeats, so that saying it again counts nothing twice.
    writer.entities.store_links(links, earlier or raw.id, raw.created_at)
    if earlier and links.protected:
        writer.run("UPDATE raw_memories SET protected = 1 WHERE id = ?", earlier)
    job = None
    if not earlier:
        job = writer.jobs.enqueue(
            type="extract", target=raw.id, now=raw.created_at, max_attempts=attempts, held=status == "held"
        )
    names = tuple(one.name for one in links.entities)
    return Ingested(raw.id, status, job, earlier, names, links.protected)


def _keep_transcript(database: Database, text: str, session: str, project: str, now: int) -> str:
    """Keeps a transcript; what kept it from that, in words, or ""."""
    if not session:
        return "the transcript was not kept: it needs the name of a session"
    if len(text) > LONGEST:
        return f"the transcript was not kept: it is longer than {LONGEST:,} characters"
    try:
        packed = pack(redact(encodable(text)))
        with database.write() as writer:
            writer.transcripts.keep(packed, session=session, project=project, now=now)
    except (NuggetsError, sqlite3.Error) as error:
        said = error.what if isinstance(error, NuggetsError) else error
        return f"the transcript was not kept ({said})"
    return ""


def _check(text: str, forms: Normalised) -> None:
    why = ""
    if not forms.storage_content.strip():
        why, code, todo = "it is empty", ErrorCode.EMPTY, "submit some words"
    elif len(text) > LONGEST:
        why, code, todo = (
            f"it is longer than {LONGEST:,} characters",
            ErrorCode.TOO_LONG,
            "submit it in parts",
        )
    if why:
        raise InvalidInputError(
            why, code=code, field="text", where="the text", kept="nothing was written", todo=todo
        )


def _plain(text: str) -> str:
    return encodable(text).strip()
