"""Documents added, removed and brought back: each in one transaction, with a row of the audit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, Literal

from core.errors import AmbiguousError, NotFoundError
from core.model.names import check_nugget_name
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.documents.errors import DocumentError, Fault
from core.pipeline.documents.fetch import check_address
from core.pipeline.documents.media import PLAIN, check_readable, media_type_of
from core.pipeline.intake.normalisation import HASH_VERSION
from core.pipeline.modes import Intake, intake
from core.pipeline.records import AddedDocument, Document, DocumentKind
from core.settings.pipeline_sections import PipelineConfiguration
from core.text.normalise import encodable

_LONGEST_TITLE: Final = 200


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document as it comes in. source: its path or address, "" for a text that has none. data: b"" for an address.

    title: "" for what the document or its name says.
    """

    kind: DocumentKind
    source: str = ""
    data: bytes = b""
    title: str = ""
    nugget: str = ""
    project: str = ""
    author: str = ""


def add_document(
    database: Database, configuration: PipelineConfiguration, new: NewDocument, *, document_id: str, now: int
) -> AddedDocument:
    """Stores a document as it came, with the job that reads it, in one transaction; nothing is fetched.

    The same bytes are recognised, whatever their name, and a document that was removed is brought back by them. Another
    version of a file or page takes the place of the one that is there once it is indexed. document_id: a new one. now:
    epoch ms. Raises DocumentError for what cannot be a document or is too large, StorageError.
    """
    source = check_address(new.source) if new.kind == "url" else encodable(new.source)
    where = source or "the text"
    if new.nugget:
        check_nugget_name(new.nugget)
    media_type = PLAIN if new.kind == "url" else media_type_of(source, new.data)
    if new.kind != "url":
        _check_size(len(new.data), configuration, where)
        check_readable(new.data, media_type, where)
    source_hash = hashlib.sha256(new.data).hexdigest() if new.kind != "url" else ""
    document = Document(
        id=document_id, kind=new.kind, source=source, title=" ".join(encodable(new.title).split())[:_LONGEST_TITLE],
        media_type=media_type, status="queued", error="", length=0, chunks=0, chunks_written=0, nugget=new.nugget,
        project=new.project, author=new.author, raw_id="", replaced_by="", created_at=now, updated_at=now,
        done_at=None, removed_at=None,
    )  # fmt: skip
    with database.write() as writer:
        known = _known(writer, configuration, document, source_hash, now)
        if known is not None:
            return known
        before = writer.documents.of_source(source)
        for one in before:
            if one.status != "done":
                # Nobody waits for a version that is no longer the newest.
                writer.documents.remove(one.id, now)
                writer.jobs.withdraw_failed(one.id, now)
        writer.documents.insert(
            document,
            raw=new.data if new.kind != "url" else None,
            source_hash=source_hash,
            hash_version=HASH_VERSION,
        )
        found = next((one for one in before if one.status == "done"), None)
        job = _queue(writer, configuration, document, now)
        _record(writer, "document_added", document, found.id if found else "", now)
    return AddedDocument(document, "changed" if found else "new", job, found.id if found else "")


def remove_document(database: Database, said: str, *, by: str, now: int) -> Document:
    """Makes a document one that is found no more; its text, and all notes that came of it, stay. Raises NotFoundError,
    also for one that is removed already, and AmbiguousError.
    """
    with database.write() as writer:
        document = resolve(writer, said)
        # A clock that was set back shortens no window.
        if not writer.documents.remove(document.id, max(now, writer.history.last_at() or now)):
            raise NotFoundError("this document is removed already", where=said, kept="nothing was changed")
        writer.jobs.withdraw_failed(document.id, now)
        _record(writer, "document_removed", document, "", now, by)
        return _now(writer, document.id)


def restore_document(
    database: Database, configuration: PipelineConfiguration, said: str, *, by: str, now: int
) -> Document:
    """Lets a document be found again, or a version that another one replaced. Raises NotFoundError, also for one that
    was not removed, and AmbiguousError.
    """
    with database.write() as writer:
        document = resolve(writer, said)
        if not writer.documents.restore(document.id, now):
            raise NotFoundError("this document was not removed", where=said, kept="nothing was changed")
        if document.status != "done":
            _queue(writer, configuration, document, now)
        _record(writer, "document_restored", document, "", now, by)
        return _now(writer, document.id)


def resolve(reader: Tables, said: str) -> Document:
    """The document that somebody means: by its id or an unambiguous beginning of it, its path, address or title.

    Raises NotFoundError, AmbiguousError.
    """
    found = reader.documents.named(said.strip()) if said.strip() else ()
    if not found:
        raise NotFoundError(
            "no such document",
            where=said,
            kept="nothing was changed",
            todo="list them with nuggets document list --all",
        )
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
    if newest is not None:
        # Its newest version counts: a file may have been changed, and changed back.
        same = newest if writer.documents.source_hash_of(newest.id) == source_hash else None
    else:
        same = writer.documents.same_bytes(source_hash)
    if same is not None:
        return AddedDocument(same, "known")
    gone = writer.documents.same_bytes(source_hash, removed=True) if newest is None else None
    if gone is None or not writer.documents.restore(gone.id, now):
        return None
    job = _queue(writer, configuration, gone, now) if gone.status != "done" else None
    _record(writer, "document_restored", gone, "", now, new.author)
    return AddedDocument(_now(writer, gone.id), "restored", job)


def _queue(writer: Tables, configuration: PipelineConfiguration, document: Document, now: int) -> int | None:
    return writer.jobs.enqueue(
        type="document_ingest",
        target=document.id,
        now=now,
        max_attempts=configuration.worker.max_retries,
        held=intake(configuration) is Intake.HELD,
    )


def _now(writer: Tables, document_id: str) -> Document:
    found = writer.documents.document(document_id)
    assert found is not None
    return found


def _record(
    writer: Tables,
    event: Literal["document_added", "document_removed", "document_restored"],
    document: Document,
    replaces: str,
    now: int,
    by: str = "",
) -> None:
    writer.history.append(
        at=now,
        event=event,
        changed_by=by or document.author,
        reason="",
        raw_id=document.id,
        new_content=document.title or document.source,
        metadata={"replaces": replaces} if replaces else {},
    )


def _check_size(size: int, configuration: PipelineConfiguration, where: str) -> None:
    most = configuration.documents.max_content_bytes
    if size > most:
        raise DocumentError(
            f"Content too large: {size} bytes exceeds {most} limit", Fault.TOO_LARGE, where=where,
            kept="nothing was saved", todo="raise documents.max_content_bytes in settings.toml",
        )  # fmt: skip
