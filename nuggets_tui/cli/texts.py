"""Commands that hand in texts: ingest for facts, and document for what a search is to find."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import ErrorCode
from core.verbs import NOTHING_SAVED, add_document, credential_warning
from nuggets_tui.calling_session import named_session
from nuggets_tui.cli.invocation import (
    NOT_FOUND,
    STANDARD_INPUT,
    Invocation,
    ask_to_type,
    bad_input,
    read_file,
)
from nuggets_tui.cli.options import Group, arg, command, flag, limit, must_be_named, new_nugget, opt
from nuggets_tui.cli.output import Line, Span, SpanStyle, as_json, bold, dim, pick, table, warn
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.records import Document

_EXCERPT: Final = 200
_WHO_WORKS: Final = (
    "`nuggets daemon` extracts the facts, or the app while it is open; "
    "`nuggets pipeline` says whether a model answers."
)
_DOCUMENT: Final = arg("document", metavar="ID|PATH|TITLE")
_NONE: Final = ("no document was added yet", "add one with nuggets document add")
_OUTCOMES: Final = {
    "new": "Added", "changed": "Added, to replace its former version:", "known": "Known already:",
    "restored": "Brought back:",
}  # fmt: skip
_STYLES: Final[dict[str, SpanStyle]] = {"failed": "bad", "done": "good", "unchanged": "dim"}


@command(
    "ingest", arg("file", FOLDER, default="-"),
    opt("--nugget", "NAME", "Nugget for its facts (default: the project's, else memory)."),
    opt("--project", "NAME", "Project it is about, as a name or a folder."),
    opt("--session", "ID", "Conversation it comes from."),
    opt("--transcript", "FILE", "The whole conversation; stored without credentials.", FOLDER),
    examples=(
        'echo "We chose PostgreSQL over MongoDB." | nuggets ingest',
        "nuggets ingest summary.md --project app --session s1 --transcript talk.txt",
    ),
)  # fmt: skip
def ingest(
    call: Invocation, file: str, nugget: str | None, project: str | None, session: str | None,
    transcript: str | None,
) -> None:  # fmt: skip
    """Submit a text for fact extraction: FILE, or - for standard input.

    From a conversation file of Claude Code, Codex, OpenCode or Gemini, only what was said is submitted.

    When this command ends, the whole text is safe on disk, whether a model answers or not. `nuggets daemon` or the open
    app extracts the facts.
    """
    from core.pipeline.conversation import conversation_or_text

    named = named_session(session, str(call.folder))
    must_be_named(file or "", "FILE", NOTHING_SAVED, "give a file, or -")
    must_be_named(transcript, "--transcript", NOTHING_SAVED, "give a file, or -")
    must_be_named(nugget, "--nugget", NOTHING_SAVED)
    if transcript is not None and not named:
        todo = "name it with --session"
        raise bad_input("a transcript needs a session", "--transcript", NOTHING_SAVED, todo)
    if file == transcript == "-":
        said, todo = "cannot hold both the text and the transcript", "give one of them as a file"
        raise bad_input(said, STANDARD_INPUT, NOTHING_SAVED, todo)
    text = conversation_or_text(read_file(file, NOTHING_SAVED))
    talk = read_file(transcript, NOTHING_SAVED, errors="replace") if transcript is not None else None
    memory = call.memory_as_it_is if nugget else None
    known = memory.snapshot.nugget_names if memory else ()
    with call.made_pipeline(memory) as pipeline:
        done = pipeline.ingest(
            text, nugget=nugget or "", project=project or "", session=named,
            source_type="text" if file == "-" else "file", transcript=talk,
        )  # fmt: skip
        raw = pipeline.raw(done.raw_id)
        kinds = pipeline.credentials_in(raw.id)
        status = None if call.as_json else pipeline.status()
    call.note(f"warning: {done.warning}" if done.warning else "")
    document = pick(done, "id=raw_id status job_id entities protected warning")
    document |= pick(
        raw, "nugget_name=nugget project session=source_id", duplicateOf=done.duplicate_of or None
    )
    what = {
        "duplicate": f"; {done.duplicate_of} says the same, so no facts are extracted again.",
        "held": "; it waits while the pipeline is frozen (mutations_frozen).",
    }.get(done.status, f"; facts found in it go to {raw.nugget}.")
    lines: list[Line] = [("Saved as ", bold(done.raw_id), what)]
    lines += [f"It mentions {', '.join(done.entities)}."] if done.entities else []
    lines += ["It contains a decision."] if done.protected else []
    lines += filter(None, [new_nugget(raw.nugget, known) if nugget else ""])
    if status is not None and done.status != "duplicate":
        lines.append(warn(f"Pipeline: {status.why}") if status.rests else dim(_WHO_WORKS))
    call.answer(document, lines, credential_warning("text", raw.id, kinds, ", which no model sees"))


# Documents

document = Group(
    "document",
    "Make documents searchable: text, Markdown, HTML, PDF and web pages.\n\n"
    "`nuggets daemon` or the open app reads and indexes them.",
    usual="list",
    examples=("nuggets document add design.md", "nuggets document search 'retry policy'"),
)


@document.add(
    "add", arg("sources", FOLDER, nargs=-1, required=True, metavar="FILE|URL|-..."),
    opt("--title", "TEXT", "Its title (default: taken from the text)."),
    opt("--nugget", "NAME", "Nugget for facts that are extracted from it."),
    opt("--project", "NAME", "Project it is about."),
    examples=("nuggets document add design.md https://example.com/page", "nuggets document add -"),
)  # fmt: skip
def add(
    call: Invocation, sources: tuple[str, ...], title: str | None, nugget: str | None, project: str | None
) -> None:
    """Make files, pages or standard input (-) searchable.

    What was added before is recognised; a changed file or page replaces its former version. A page is fetched by
    `nuggets daemon` or the open app, from public addresses only.
    """
    if title is not None and len(sources) > 1:
        raise bad_input("can name only one document", "--title", NOTHING_SAVED, "add one document at a time")
    named = {"title": title or "", "nugget": nugget or "", "project": project or ""}
    added = []
    with call.made_pipeline() as pipeline:
        for source in sources:
            if source != "-":
                added.append(add_document(pipeline, source, **named))
                continue
            if sys.stdin is None:
                raise bad_input("is closed", STANDARD_INPUT, NOTHING_SAVED, code=ErrorCode.EMPTY)
            ask_to_type()
            # One byte more than may be says that it is too long.
            data = sys.stdin.buffer.read(pipeline.configuration.documents.max_content_bytes + 1)
            added.append(pipeline.documents.add("text", "", data, **named))
    told = [
        as_json(one.document) | pick(one, "outcome job_id", replaces=one.replaces or None) for one in added
    ]
    lines: list[Line] = [(f"{_OUTCOMES[one.outcome]} ", *_called(one.document)) for one in added]
    if any(one.job_id is not None for one in added):
        lines.append(dim("`nuggets daemon` indexes it, or the app while it is open."))
    call.answer(told, lines)


@document.add(
    "list", flag("--all removed", "Include removed ones and former versions."),
    limit("Show at most N (50).", default=50),
    examples=("nuggets document list", "nuggets document list --all --json"),
)  # fmt: skip
def list_(call: Invocation, removed: bool, limit: int) -> None:
    """List documents, newest first, with their state."""
    from nuggets_tui.pipeline_words import document_state

    with call.pipeline() as pipeline:
        found = pipeline.documents.all(removed=removed, most=limit) if pipeline is not None else ()
    rows = []
    for one in found:
        state = Span(document_state(one), _STYLES.get(one.status, "") if one.removed_at is None else "dim")
        source = dim(one.source if one.source != _title(one) else "")
        rows.append((one.id, state, bold(_title(one)), source, warn(one.error)))
    call.answer(found, table(rows, flexible=2) or ["No documents."])


@document.add(
    "show", _DOCUMENT, flag("--text only_text", "Print only its text."),
    examples=("nuggets document show design.md", "nuggets document show doc-0123 --text"),
)  # fmt: skip
def show(call: Invocation, document: str, only_text: bool) -> None:
    """Show one document: its source, its state and its text."""
    from nuggets_tui.pipeline_words import age, document_state

    with call.needed_pipeline(*_NONE) as pipeline:
        one = pipeline.documents.get(_named(document))
        text = pipeline.documents.text(one.id)
    added = f"added {age(one.created_at, datetime.now(UTC))}"
    head: list[Line] = [
        _called(one),
        f"{document_state(one)} · {one.length:,} characters · {added}",
        *([dim(one.source)] if one.source else []),
        *([dim(f"replaced by {one.replaced_by}")] if one.replaced_by else []),
        *([warn(one.error)] if one.error else []),
        "",
    ]
    call.answer(lambda: as_json(one) | {"text": text}, [*([] if only_text else head), *text.splitlines()])


@document.add(
    "search", arg("query"), limit("Show at most N (10).", default=10),
    examples=("nuggets document search 'retry policy' --limit 3",),
)  # fmt: skip
def search(call: Invocation, query: str, limit: int) -> int | None:
    """Search the documents for words, best first. Exit code 1 when nothing is found."""
    waiting = 0
    with call.pipeline() as pipeline:
        hits = pipeline.documents.search(query, limit) if pipeline is not None else ()
        if pipeline is not None and not hits:
            waiting = sum(
                one.status not in ("done", "unchanged", "failed") for one in pipeline.documents.all()
            )
    lines: list[Line] = [] if hits else ["No document says this."]
    for hit in hits:
        text = " ".join(hit.text.split())
        place = f"  {hit.score:.2f}  {hit.document_id}, part {hit.place + 1}"
        lines.append((bold(hit.title or hit.document_id), dim(place)))
        lines.append(f"    {text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}")
    if waiting:
        still = plural(waiting, "document is", "documents are")
        lines.append(dim(f"{still} not searchable yet: nuggets document"))
    call.answer([as_json(hit) | pick(hit, "type importance tag") for hit in hits], lines)
    return None if hits else NOT_FOUND


@document.add("remove", _DOCUMENT, examples=("nuggets document remove design.md",))
def remove(call: Invocation, document: str) -> None:
    """Remove a document from search. You can restore it for 30 days. Notes made from it stay."""
    with call.needed_pipeline(*_NONE) as pipeline:
        done = pipeline.documents.remove(_named(document))
    call.answer(done, [("Removed ", bold(_title(done)), dim(f"  nuggets document restore {done.id}"))])


@document.add(
    "restore", arg("document", metavar="ID"), examples=("nuggets document restore doc-0123456789abcdef",)
)
def restore(call: Invocation, document: str) -> None:
    """Restore a removed document, or one that another version replaced."""
    with call.needed_pipeline(*_NONE) as pipeline:
        done = pipeline.documents.restore(_named(document))
    call.answer(done, [("Restored ", bold(_title(done)))])


def _named(document: str) -> str:
    """An id or a title as it is, the path of a file as it was stored."""
    path = Path(document).expanduser()
    return str(path.absolute()) if path.is_file() else document


def _called(document: Document) -> tuple[Span, ...]:
    """Its title and its id, where these are two."""
    title = _title(document)
    return (bold(title), dim(f"  {document.id}" if title != document.id else ""))


def _title(document: Document) -> str:
    return document.title or document.source or document.id
