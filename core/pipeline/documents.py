"""Documents: what a person does with them, and the job that reads and cuts them."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from core.errors import AmbiguousError, NotFoundError
from core.model.names import check_nugget_name
from core.pipeline.database.documents import Work, new_chunk
from core.pipeline.database.jobs import Jobs
from core.pipeline.database.tables import Tables
from core.pipeline.database.texts import packed
from core.pipeline.document_text import (
    PLAIN,
    DocumentError,
    Fault,
    check_readable,
    media_type_of,
    read_text,
)
from core.pipeline.fetch import check_address, fetch
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.intake.sentences import chunks
from core.pipeline.records import AddedDocument, Document, DocumentHit, DocumentKind
from core.pipeline.writes.submit import LONGEST, Submission, store_submission
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable

if TYPE_CHECKING:
    from core.pipeline.service import Pipeline
    from core.pipeline.workers.runner import JobContext

_LONGEST_TITLE: Final = 200


class Documents:
    """The documents of a memory: added, removed and brought back, each in one transaction, with a row of the audit.

    What is read of them shows no credentials.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def add(
        self,
        kind: DocumentKind,
        source: str = "",
        data: bytes = b"",
        *,
        title: str = "",
        nugget: str = "",
        project: str = "",
        author: str = "",
    ) -> AddedDocument:
        """Stores a document as it came, and queues the job that makes it searchable; nothing is fetched here.

        source: the path of a file, or the address of a page; data: the bytes of a file or text. title: "" for what the
        document or its name says. nugget: where its facts go, where `documents.extract_facts` asks for them. The same
        bytes are recognised, whatever their name, and bring a removed document back; a changed one takes the place of
        its former version once it is indexed. Raises DocumentError, InvalidInputError, StorageError.
        """
        pipeline, configuration, now = self._pipeline, self._pipeline.configuration, self._pipeline.now()
        is_page = kind == "url"
        source = check_address(source) if is_page else encodable(source)
        if nugget:
            check_nugget_name(nugget)
        media_type, source_hash = PLAIN, ""
        if not is_page:
            where, most = source or "the text", configuration.documents.max_content_bytes
            media_type, source_hash = media_type_of(source, data), hashlib.sha256(data).hexdigest()
            if len(data) > most:
                raise DocumentError(
                    f"Content too large: {len(data)} bytes exceeds {most} limit", Fault.TOO_LARGE, where=where,
                    kept="nothing was saved", todo="raise documents.max_content_bytes in settings.toml",
                )  # fmt: skip
            check_readable(data, media_type, where)
        new = Document(
            id=f"doc-{pipeline.ids()}", kind=kind, source=source,
            title=" ".join(encodable(title).split())[:_LONGEST_TITLE], media_type=media_type, status="queued",
            error="", length=0, chunks=0, chunks_written=0, nugget=nugget, project=project,
            author=author or pipeline.author.signature, raw_id="", replaced_by="", created_at=now, updated_at=now,
            done_at=None, removed_at=None,
        )  # fmt: skip
        with pipeline.database.write() as writer:
            added = _known(writer, configuration, new, source_hash, now)
            if added is None:
                added = _insert(writer, configuration, new, None if is_page else data, source_hash, now)
        pipeline.nudge()
        return pipeline.shown(lambda _: added)

    def all(self, *, removed: bool = False, most: int = 200) -> tuple[Document, ...]:
        """The one added last first. removed: former versions and removed ones too."""
        return self._pipeline.shown(lambda reader: reader.documents.documents(removed=removed, most=most))

    def get(self, said: str) -> Document:
        """The document of an id, of an unambiguous beginning of one, or of a path, address or title.

        Raises NotFoundError, AmbiguousError.
        """
        return self._pipeline.shown(lambda reader: _resolve(reader, said))

    def text(self, document_id: str) -> str:
        """The text that was read of a document; "" before that."""
        return self._pipeline.shown(lambda reader: reader.documents.text_of(document_id))

    def search(self, query: str, limit: int = 10) -> tuple[DocumentHit, ...]:
        """The chunks of documents that share words with a query, or mean something similar where a model for
        embeddings is named; best first. Waits for that model as long as `embedding.query_timeout_ms` says.
        """
        pipeline, configuration = self._pipeline, self._pipeline.configuration
        if configuration.embedding.model:
            from core.pipeline.signals import search_documents

            return pipeline.shown(
                lambda _: search_documents(
                    pipeline.database, pipeline.beyond_words(), configuration, query, limit
                )
            )
        counted = pipeline.database.counted_chunk_words
        return pipeline.shown(lambda reader: reader.documents.search(query, limit, counted))

    def remove(self, said: str) -> Document:
        """Makes a document one that is found no more, until `restore`. Its notes stay.

        Raises NotFoundError, AmbiguousError.
        """
        now, by = self._pipeline.now(), self._pipeline.author.signature
        with self._pipeline.database.write() as writer:
            document = _resolve(writer, said)
            # A clock that was set back shortens no window.
            if not writer.documents.remove(document.id, max(now, writer.history.last_at() or now)):
                raise NotFoundError(
                    "this document is removed already", where=said, kept="nothing was changed"
                )
            writer.jobs.withdraw(document.id, now, dead=True)
            _record(writer, "document_removed", document, now, by)
        return self.get(document.id)

    def restore(self, said: str) -> Document:
        """Lets a document be found again that was removed or replaced. Raises NotFoundError, AmbiguousError."""
        pipeline, now = self._pipeline, self._pipeline.now()
        with pipeline.database.write() as writer:
            document = _resolve(writer, said)
            if not writer.documents.restore(document.id, now):
                raise NotFoundError("this document was not removed", where=said, kept="nothing was changed")
            if document.status != "done":
                _queue(writer, pipeline.configuration, document, now)
            _record(writer, "document_restored", document, now, pipeline.author.signature)
        pipeline.nudge()
        return self.get(document.id)


def _resolve(reader: Tables, said: str) -> Document:
    """The document that somebody means; see `Documents.get`."""
    found = reader.documents.named(said.strip()) if said.strip() else ()
    if not found:
        raise NotFoundError(
            "no such document", where=said, kept="nothing was changed",
            todo="list them with nuggets document list --all",
        )  # fmt: skip
    if len(found) > 1:
        raise AmbiguousError(
            f"this is {len(found)} documents or more", where=said, kept="nothing was changed",
            todo=f"name one by its id, such as {found[0].id}",
        )  # fmt: skip
    return found[0]


def _known(
    writer: Tables, configuration: PipelineConfiguration, new: Document, source_hash: str, now: int
) -> AddedDocument | None:
    """What is there already for the same bytes; None for new ones, and for a page, which must be looked at."""
    there = [
        one for one in writer.documents.of_source(new.source) if one.status not in ("failed", "unchanged")
    ]
    if new.kind == "url":
        waits = next((one for one in there if one.status != "done"), None)
        return AddedDocument(waits, "known") if waits else None
    newest = there[0] if there else None
    same = newest or writer.documents.same_bytes(source_hash)
    # Its newest version counts: a file may have been changed, and changed back.
    if same is not None and writer.documents.source_hash_of(same.id) == source_hash:
        return AddedDocument(same, "known")
    gone = writer.documents.same_bytes(source_hash, removed=True) if newest is None else None
    if gone is None or not writer.documents.restore(gone.id, now):
        return None
    job = _queue(writer, configuration, gone, now) if gone.status != "done" else None
    _record(writer, "document_restored", gone, now, new.author)
    return AddedDocument(_now(writer, gone.id), "restored", job)


def _insert(
    writer: Tables,
    configuration: PipelineConfiguration,
    new: Document,
    data: bytes | None,
    source_hash: str,
    now: int,
) -> AddedDocument:
    """A new document, or a new version of one."""
    before = writer.documents.of_source(new.source)
    for one in before:
        if one.status != "done":
            # Nobody waits for a version that is no longer the newest.
            writer.documents.remove(one.id, now)
            writer.jobs.withdraw(one.id, now, dead=True)
    writer.documents.insert(new, raw=data, source_hash=source_hash)
    former = next((one.id for one in before if one.status == "done"), "")
    job = _queue(writer, configuration, new, now)
    _record(writer, "document_added", new, now, replaces=former)
    return AddedDocument(new, "changed" if former else "new", job, former)


def _queue(writer: Tables, configuration: PipelineConfiguration, document: Document, now: int) -> int | None:
    return writer.jobs.enqueue(
        type="document_ingest", target=document.id, now=now, max_attempts=configuration.worker.max_retries,
        held=configuration.mutations_frozen,
    )  # fmt: skip


def _now(writer: Tables, document_id: str) -> Document:
    found = writer.documents.document(document_id)
    assert found is not None
    return found


def _record(
    writer: Tables, event: str, document: Document, now: int, by: str = "", replaces: str = ""
) -> None:
    writer.history.append(
        at=now, event=event, changed_by=by or document.author, raw_id=document.id,
        new_content=document.title or document.source, metadata={"replaces": replaces} if replaces else {},
    )  # fmt: skip


# Chunks of one transaction, and transactions of one turn: others wait for neither long.
_AT_ONCE: Final = 10
_IN_A_TURN: Final = 20
_LONGEST_FIRST_LINE: Final = 80


def take_turn(context: JobContext) -> str:
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


def _read(context: JobContext, work: Work) -> None:
    """Reads the text of a document, from its bytes or the web, and stores it with how it is to be cut."""
    document = work.document
    with context.database.write(lasting=False) as writer:
        writer.documents.set_status(document.id, "extracting", context.now())
    data, media_type, charset, is_page = work.raw, document.media_type, "", document.kind == "url"
    if is_page:
        most = context.configuration.documents.max_content_bytes
        page = fetch(document.source, most_bytes=most, network=context.network)
        data, media_type, charset = page.data, page.media_type, page.charset
    read = read_text(
        data,
        media_type,
        charset=charset,
        where=document.source,
        strict=not is_page,
        between=context.heartbeat,
    )
    context.heartbeat()
    text = encodable(read.text)
    settings = context.configuration.documents
    overlap = min(settings.chunk_overlap, settings.chunk_size // 2)
    count = sum(1 for _ in chunks(text, settings.chunk_size, overlap))
    stored, says = packed(text), content_hash(text)
    with context.database.write() as writer:
        context.require(writer.jobs.holds(context.job.id, context.lease.token))
        same = writer.documents.found_text(document, says)
        if same is not None:
            writer.documents.drop_unchanged(document.id, same.id, context.now())
            _complete(writer.jobs, context, {"unchanged": same.id})
            return
        writer.documents.store_text(
            document.id, stored, length=len(text), content_hash=says,
            source_hash=hashlib.sha256(work.raw).hexdigest() if work.raw else "",
            title=document.title or encodable(read.title) or _title_of(document, text), media_type=media_type,
            chunk_size=settings.chunk_size, chunk_overlap=overlap, chunks=count, now=context.now(),
        )  # fmt: skip
        _put_back(writer.jobs, context, count, 0)


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


def _index(context: JobContext, work: Work, text: str) -> None:
    """Writes the next chunks; with the last of them the document takes the place of its former version."""
    start, written = work.next_start, work.document.chunks_written
    for _ in range(_IN_A_TURN):
        spans = chunks(text, work.chunk_size, work.chunk_overlap, start=start)
        batch = [new_chunk(span.of(text), span.end) for span in islice(spans, _AT_ONCE)]
        if not batch:
            _finish(context, work, text, written)
            return
        with context.database.write(lasting=False) as writer:
            context.require(writer.jobs.holds(context.job.id, context.lease.token))
            fits = writer.documents.write_chunks(
                work.document.id, work.content_hash, start, batch, context.now()
            )
        if not fits:
            # Its text was masked meanwhile: the next turn cuts what it says now.
            break
        start, written = batch[-1].end, written + len(batch)
        context.heartbeat()
    with context.database.write(lasting=False) as writer:
        _put_back(writer.jobs, context, max(work.document.chunks, written + 1), written)


def _finish(context: JobContext, work: Work, text: str, written: int) -> None:
    document = work.document
    raw_id = document.raw_id
    if context.configuration.documents.extract_facts and not raw_id and len(text) <= LONGEST:
        raw_id = _submit(context, document, text)
    with context.database.write() as writer:
        context.require(writer.jobs.holds(context.job.id, context.lease.token))
        writer.documents.finish(document.id, raw_id, context.now())
        _complete(writer.jobs, context, {"windows": written, "windowsRead": written, "unread": 0})


def _submit(context: JobContext, document: Document, text: str) -> str:
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


def _put_back(jobs: Jobs, context: JobContext, windows: int, written: int) -> None:
    result = {"windows": windows, "windowsRead": written, "unread": 1, "readAt": context.now()}
    context.require(jobs.put_back(context.job.id, context.lease.token, now=context.now(), result=result))


def _complete(jobs: Jobs, context: JobContext, result: dict[str, Any]) -> None:
    context.require(jobs.complete(context.job.id, context.lease.token, now=context.now(), result=result))
