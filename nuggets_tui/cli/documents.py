"""The `document` commands: files, pages and texts that a search finds, how far each is, and taking one out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from nuggets_tui.cli.groups import FOLDER, TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, can_ask, pass_call
from nuggets_tui.cli.options import LIMIT
from nuggets_tui.cli.output import Line, Span, SpanStyle, table, write_error, write_lines
from nuggets_tui.cli.pipeline import opened_pipeline, record_document
from nuggets_tui.document_deeds import NOTHING_SAVED, add_named
from nuggets_tui.safe_text import plain

if TYPE_CHECKING:
    from core.pipeline.records import AddedDocument, Document, DocumentHit
    from core.pipeline.service import Pipeline

_MODULE: Final = "nuggets_tui.cli.documents"
_EXCERPT: Final = 200
_NOT_FOUND: Final = 1


document_group = LazyGroup(
    "document",
    entries={
        "add": CommandEntry(f"{_MODULE}:add", "Make a file, a page or a text searchable."),
        "list": CommandEntry(f"{_MODULE}:list_", "List documents with how far each is."),
        "show": CommandEntry(f"{_MODULE}:show", "Show one document, and its text."),
        "search": CommandEntry(f"{_MODULE}:search", "Search the documents, best first."),
        "remove": CommandEntry(f"{_MODULE}:remove", "Take a document out of the search; notes stay."),
        "restore": CommandEntry(f"{_MODULE}:restore", "Bring a removed or replaced document back."),
    },
    by_default=lambda call: _list(call, removed=False, limit=50),
    help="""Make documents searchable: text, Markdown, HTML, PDF and pages of the web.

`nuggets daemon` reads and indexes them, or the app while it is open.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example("nuggets document add design.md", "nuggets document search 'retry policy'"),
)


@command(
    "add", epilog=example("nuggets document add design.md https://example.com/page", "nuggets document add -")
)
@click.argument("sources", type=FOLDER, nargs=-1, required=True, metavar="FILE|URL|-...")
@click.option("--title", type=TEXT, metavar="TEXT", help="Its title (default: what it calls itself).")
@click.option("--nugget", type=TEXT, metavar="NAME", help="Nugget for facts that are extracted from it.")
@click.option("--project", type=TEXT, metavar="NAME", help="Project it is about.")
@pass_call
def add(
    call: Invocation,
    /,
    sources: tuple[str, ...],
    title: str | None,
    nugget: str | None,
    project: str | None,
) -> None:
    """Make files, pages or standard input (-) searchable.

    What is there already is recognised; a changed file or page takes the place of its former version. A page is fetched
    by `nuggets daemon` or the open app, from public addresses only.
    """
    if title is not None and len(sources) > 1:
        raise InvalidInputError(
            "names one document", where="--title", kept=NOTHING_SAVED,
            todo="add one document at a time",
        )  # fmt: skip
    from core.pipeline.service import Pipeline

    added: list[AddedDocument] = []
    with Pipeline.open(call.folder, author=call.author) as pipeline:
        if pipeline.notice:
            write_error(f"warning: {pipeline.notice}")
        most = pipeline.configuration.documents.max_content_bytes
        for source in sources:
            named = {"title": title or "", "nugget": nugget or "", "project": project or ""}
            if source == "-":
                added.append(pipeline.add_document("text", "", _standard_input(most), **named))
            else:
                added.append(add_named(pipeline, source, **named))
    call.answer(lambda: [_added_document(one) for one in added], lambda: _added_lines(added))


@command("list", epilog=example("nuggets document list", "nuggets document list --all --json"))
@click.option("--all", "removed", is_flag=True, help="Include removed ones and former versions.")
@click.option("--limit", type=LIMIT, default=50, metavar="N", help="Show at most N (50).")
@pass_call
def list_(call: Invocation, /, removed: bool, limit: int) -> None:
    """List documents, the one added last first, with how far each is."""
    _list(call, removed=removed, limit=limit)


@command("show", epilog=example("nuggets document show design.md", "nuggets document show doc-0123 --text"))
@click.argument("document", type=TEXT, metavar="ID|PATH|TITLE")
@click.option("--text", "only_text", is_flag=True, help="Print its text alone.")
@pass_call
def show(call: Invocation, /, document: str, only_text: bool) -> None:
    """Show one document: where it comes from, how far it is, and its text."""
    with opened_pipeline(call) as pipeline:
        found = _needed(pipeline).document(_named(document))
        text = _needed(pipeline).document_text(found.id)
    call.answer(
        lambda: record_document(found) | {"text": text},
        lambda: text.splitlines() if only_text else (*_detail_lines(found), "", *text.splitlines()),
    )


@command("search", epilog=example("nuggets document search 'retry policy' --limit 3"))
@click.argument("query", type=TEXT)
@click.option("--limit", type=LIMIT, default=10, metavar="N", help="Show at most N (10).")
@pass_call
def search(call: Invocation, /, query: str, limit: int) -> int | None:
    """Search the documents for words, best first. Exit code 1 when nothing is found."""
    with opened_pipeline(call) as pipeline:
        hits = pipeline.search_documents(query, limit) if pipeline is not None else ()
        waiting = 0
        if pipeline is not None and not hits:
            waiting = sum(one.status not in ("done", "unchanged", "failed") for one in pipeline.documents())
    call.answer(lambda: [_hit_document(hit) for hit in hits], lambda: _hit_lines(hits, waiting))
    return None if hits else _NOT_FOUND


@command("remove", epilog=example("nuggets document remove design.md"))
@click.argument("document", type=TEXT, metavar="ID|PATH|TITLE")
@pass_call
def remove(call: Invocation, /, document: str) -> None:
    """Take a document out of the search. You can bring it back for 30 days. Every note that came of it stays."""
    with opened_pipeline(call) as pipeline:
        done = _needed(pipeline).remove_document(_named(document))
    call.answer(
        lambda: record_document(done),
        lambda: [
            ("Removed ", Span(_title(done), "bold"), Span(f"  nuggets document restore {done.id}", "dim"))
        ],
    )


@command("restore", epilog=example("nuggets document restore doc-0123456789abcdef"))
@click.argument("document", type=TEXT, metavar="ID")
@pass_call
def restore(call: Invocation, /, document: str) -> None:
    """Bring a document back that was removed, or that another version replaced."""
    with opened_pipeline(call) as pipeline:
        done = _needed(pipeline).restore_document(_named(document))
    call.answer(lambda: record_document(done), lambda: [("Restored ", Span(_title(done), "bold"))])


def _list(call: Invocation, *, removed: bool, limit: int) -> None:
    with opened_pipeline(call) as pipeline:
        found = pipeline.documents(removed=removed, most=limit) if pipeline is not None else ()
    call.answer(lambda: [record_document(one) for one in found], lambda: _list_lines(found))


def _needed(pipeline: Pipeline | None) -> Pipeline:
    if pipeline is None:
        raise NotFoundError("no document was added yet", todo="add one with nuggets document add")
    return pipeline


def _named(document: str) -> str:
    """An id or a title as it is, the path of a file as it was stored."""
    path = Path(document).expanduser()
    return str(path.absolute()) if path.is_file() else document


# What is added


def _standard_input(most: int) -> bytes:
    if sys.stdin is None:
        raise InvalidInputError("is closed", code=ErrorCode.EMPTY, where="standard input", kept=NOTHING_SAVED)
    if can_ask():
        write_lines(["Type the text. To end it, press ctrl+d on an empty line."], to_error=True)
    return sys.stdin.buffer.read(most + 1)


# As JSON


def _added_document(added: AddedDocument) -> dict[str, Any]:
    more = {"outcome": added.outcome, "jobId": added.job_id, "replaces": added.replaces or None}
    return record_document(added.document) | more


def _hit_document(hit: DocumentHit) -> dict[str, Any]:
    return record_document(hit) | {"type": hit.type, "importance": hit.importance, "tag": hit.tag}


# For people

_OUTCOMES: Final = {
    "new": "Added", "changed": "Added, to replace its former version:", "known": "Known already:",
    "restored": "Brought back:",
}  # fmt: skip
_STYLES: Final[dict[str, SpanStyle]] = {"failed": "bad", "done": "good", "unchanged": "dim"}


def _title(document: Document) -> str:
    return document.title or document.source or document.id


def _added_lines(added: Iterable[AddedDocument]) -> Iterator[Line]:
    waits = False
    for one in added:
        yield (
            f"{_OUTCOMES[one.outcome]} ",
            Span(_title(one.document), "bold"),
            Span(f"  {one.document.id}", "dim"),
        )
        waits |= one.job_id is not None
    if waits:
        yield Span("`nuggets daemon` indexes it, or the app while it is open.", "dim")


def _list_lines(found: Iterable[Document]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import document_state

    rows = [
        (
            one.id,
            Span(document_state(one), _STYLES.get(one.status, "") if one.removed_at is None else "dim"),
            Span(_title(one), "bold"),
            Span(one.source if one.source != _title(one) else "", "dim"),
            Span(one.error, "warn"),
        )
        for one in found
    ]
    yield from table(rows, flexible=2) or ["No documents."]


def _detail_lines(one: Document) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import age, document_state

    yield (Span(_title(one), "bold"), Span(f"  {one.id}", "dim"))
    yield f"{document_state(one)} · {one.length:,} characters · added {age(one.created_at, datetime.now(UTC))}"
    if one.source:
        yield Span(plain(one.source), "dim")
    if one.replaced_by:
        yield Span(f"replaced by {one.replaced_by}", "dim")
    if one.error:
        yield Span(one.error, "warn")


def _hit_lines(hits: Iterable[DocumentHit], waiting: int) -> Iterator[Line]:
    none = True
    for hit in hits:
        none = False
        text = " ".join(hit.text.split())
        yield (
            Span(hit.title or hit.document_id, "bold"),
            Span(f"  {hit.score:.2f}  {hit.document_id}, part {hit.place + 1}", "dim"),
        )
        yield "    " + text[:_EXCERPT] + ("…" if len(text) > _EXCERPT else "")
    if none:
        yield "No document says this."
    if none and waiting:
        wait = "1 document is" if waiting == 1 else f"{waiting:,} documents are"
        yield Span(f"{wait} not searchable yet: nuggets document", "dim")
