"""The job of a document in turns: its text is read first, then some chunks a turn are written, each turn whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from core.pipeline.database.connection import Database
from core.pipeline.database.documents import NewChunk, Work, new_chunk, packed
from core.pipeline.database.jobs import Jobs, LostLeaseError
from core.pipeline.documents.fetch import Network, fetch
from core.pipeline.documents.media import ReadText, read_text
from core.pipeline.intake.chunks import chunks, next_chunk
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.records import Document, Job
from core.pipeline.writes.submit import LONGEST, Submission, store_submission
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable

# Chunks of one transaction, and transactions of one turn: others wait for neither long.
_AT_ONCE: Final = 10
_IN_A_TURN: Final = 20
_LONGEST_FIRST_LINE: Final = 80


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """What a turn is done with. now: epoch ms. between: renews the lease, and raises where it is lost."""

    database: Database
    configuration: PipelineConfiguration
    job: Job
    token: str
    now: Callable[[], int]
    between: Callable[[], None]
    network: Network | None = None


def take_turn(context: DocumentContext) -> str:
    """Does what comes next for a document, and ends the turn or the job; why there is nothing to do, "" otherwise.

    Stopped anywhere, the next turn goes on with the next chunk. Raises DocumentError, LostLeaseError, StorageError.
    """
    work = context.database.reading.documents.work_of(context.job.target)
    if work is None:
        return "document_removed"
    if work.document.status == "done":
        return "already_indexed"
    if work.text is None:
        _read(context, work)
    else:
        _index(context, work, work.text)
    return ""


# Reading


def _read(context: DocumentContext, work: Work) -> None:
    """Reads the text of a document, from its bytes or the web, and stores it with how it is to be cut."""
    document = work.document
    with context.database.write(lasting=False) as writer:
        writer.documents.set_status(document.id, "extracting", context.now())
    media_type, read = _text_of(context, work)
    context.between()
    text = encodable(read.text)
    settings = context.configuration.documents
    overlap = min(settings.chunk_overlap, settings.chunk_size // 2)
    count = sum(1 for _ in chunks(text, settings.chunk_size, overlap))
    stored, says = packed(text), content_hash(text)
    with context.database.write() as writer:
        _still_ours(writer.jobs.holds(context.job.id, context.token), context.job)
        same = writer.documents.found_text(document, says)
        if same is not None:
            writer.documents.drop_unchanged(document.id, same.id, context.now())
            _complete(writer.jobs, context, {"unchanged": same.id})
            return
        writer.documents.store_text(
            document.id,
            stored,
            length=len(text),
            content_hash=says,
            source_hash=hashlib.sha256(work.raw).hexdigest() if work.raw else "",
            title=document.title or encodable(read.title) or _title_of(document, text),
            media_type=media_type,
            chunk_size=settings.chunk_size,
            chunk_overlap=overlap,
            chunks=count,
            now=context.now(),
        )
        _put_back(writer.jobs, context, count, 0)


def _text_of(context: DocumentContext, work: Work) -> tuple[str, ReadText]:
    document = work.document
    if document.kind != "url":
        read = read_text(work.raw, document.media_type, where=document.source, between=context.between)
        return document.media_type, read
    most = context.configuration.documents.max_content_bytes
    page = fetch(document.source, most_bytes=most, network=context.network)
    read = read_text(
        page.data, page.media_type, charset=page.charset, where=document.source, strict=False,
        between=context.between,
    )  # fmt: skip
    return page.media_type, read


def _title_of(document: Document, text: str) -> str:
    """What a document is called that does not say so itself: by its file or address, or by how it begins."""
    if document.kind == "file":
        return PurePath(document.source).name
    if document.kind == "url":
        parts = urlsplit(document.source)
        return f"{parts.hostname or ''}{unquote(parts.path).rstrip('/')}"
    line = next((line.strip() for line in text.splitlines() if line.strip()), "").lstrip("# ")
    return line if len(line) <= _LONGEST_FIRST_LINE else line[: _LONGEST_FIRST_LINE - 1].rstrip() + "…"


# Indexing


def _index(context: DocumentContext, work: Work, text: str) -> None:
    """Writes the next chunks; with the last of them the document takes the place of its former version."""
    start, written = work.next_start, work.document.chunks_written
    for _ in range(_IN_A_TURN):
        batch = _next_chunks(work, text, start)
        if not batch:
            _finish(context, work, text, written)
            return
        with context.database.write(lasting=False) as writer:
            _still_ours(writer.jobs.holds(context.job.id, context.token), context.job)
            fits = writer.documents.write_chunks(
                work.document.id, work.content_hash, start, batch, context.now()
            )
        if not fits:
            # Its text was masked meanwhile: the next turn cuts what it says now.
            break
        start, written = batch[-1].end, written + len(batch)
        context.between()
    with context.database.write(lasting=False) as writer:
        _put_back(writer.jobs, context, max(work.document.chunks, written + 1), written)


def _next_chunks(work: Work, text: str, start: int) -> list[NewChunk]:
    batch: list[NewChunk] = []
    while len(batch) < _AT_ONCE:
        span = next_chunk(text, start, work.chunk_size, work.chunk_overlap)
        if span is None:
            break
        batch.append(new_chunk(span.of(text), span.end))
        start = span.end
    return batch


def _finish(context: DocumentContext, work: Work, text: str, written: int) -> None:
    document = work.document
    raw_id = document.raw_id
    if context.configuration.documents.extract_facts and not raw_id and len(text) <= LONGEST:
        raw_id = _submit(context, document, text)
    with context.database.write() as writer:
        _still_ours(writer.jobs.holds(context.job.id, context.token), context.job)
        writer.documents.finish(document.id, raw_id, context.now())
        _complete(writer.jobs, context, {"windows": written, "windowsRead": written, "unread": 0})


def _submit(context: DocumentContext, document: Document, text: str) -> str:
    """Hands the text in for its facts, once: the id follows from the document's."""
    raw_id = f"raw-{document.id.removeprefix('doc-')}"
    if context.database.reading.raw.raw_of(raw_id) is None:
        new = Submission(
            text, document.nugget, document.project, source_type="document", author=document.author
        )
        store_submission(
            context.database, context.configuration, new, raw_id=raw_id, now=context.now(),
            known_nuggets=(document.nugget,) if document.nugget else (),
        )  # fmt: skip
    return raw_id


# The job


def _still_ours(ours: bool, job: Job) -> None:
    if not ours:
        raise LostLeaseError(job.id)


def _put_back(jobs: Jobs, context: DocumentContext, windows: int, written: int) -> None:
    result = {"windows": windows, "windowsRead": written, "unread": 1, "readAt": context.now()}
    _still_ours(jobs.put_back(context.job.id, context.token, now=context.now(), result=result), context.job)


def _complete(jobs: Jobs, context: DocumentContext, result: dict[str, Any]) -> None:
    _still_ours(jobs.complete(context.job.id, context.token, now=context.now(), result=result), context.job)
