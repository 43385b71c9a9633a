"""`pipeline text` and `note origin`: from a submitted text to the notes that it became, and from a note back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span, SpanStyle
from nuggets_tui.cli.pipeline import needed_pipeline, opened_pipeline, record_document

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.records import HistoryRow, Origin, StoredProposal, TextTrail
    from nuggets_tui.origin import NoteAuthors


@command(
    "text", epilog=example("nuggets pipeline text raw-0123456789abcdef", "nuggets pipeline text 17 --json")
)
@click.argument("id", type=TEXT)
@pass_call
def text(call: Invocation, /, id: str) -> None:
    """Show a submitted text word for word, what of it was read, and what came of each fact in it.

    ID is the id of the text, the start of it, or the number of its job.
    """
    with needed_pipeline(call) as pipeline:
        found = pipeline.text(id)
    call.answer(lambda: _text_document(found), lambda: _text_lines(found))


@command("origin", epilog=example('nuggets note origin "JWT format"'))
@click.argument("id", type=TEXT)
@pass_call
def origin(call: Invocation, /, id: str) -> None:
    """Show where a note came from: who made and changed it, and of a note that the pipeline made the text with its
    sentence, the fact, the model and the version of its prompt.
    """
    from nuggets_tui.origin import origin_of

    note = call.memory.snapshot.resolve(id)
    authors = origin_of(call.memory, note)
    with opened_pipeline(call) as pipeline:
        known = pipeline.origin(note.id) if pipeline is not None else None
        history = pipeline.history(note.id) if pipeline is not None else ()
    call.answer(
        lambda: _origin_document(note, authors, known, history),
        lambda: _origin_lines(note, authors, known, history),
    )


# A text


def _text_document(found: TextTrail) -> dict[str, Any]:
    from nuggets_tui.pipeline_words import stamp

    raw, job = found.raw, found.job
    return {
        "id": raw.id,
        "status": raw.status,
        "content": raw.content,
        "nuggetName": raw.nugget,
        "project": raw.project,
        "session": raw.source_id,
        "sourceType": raw.source_type,
        "author": raw.author,
        "submittedAt": stamp(raw.created_at),
        "readAt": stamp(raw.extracted_at) or None,
        "model": raw.model,
        "promptVersion": raw.prompt_version,
        "duplicateOf": raw.duplicate_of or None,
        "entities": list(found.entities),
        "job": record_document(job) if job is not None else None,
        "unread": [{"start": start, "end": end} for start, end in found.unread],
        "facts": [record_document(one) for one in found.proposals],
    }


def _text_lines(found: TextTrail) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import submitted_line

    raw = found.raw
    yield Span(raw.id, "bold")
    yield Span(submitted_line(raw, datetime.now(UTC)), "dim")
    yield from _reading_lines(found)
    if found.entities:
        yield f"names  {', '.join(found.entities)}"
    if found.proposals:
        yield f"facts  {len(found.proposals):,}"
    elif raw.status == "extracted":
        yield "facts  none found"
    yield from (_fact_line(one) for one in found.proposals)
    yield ""
    yield from raw.content.split("\n")


def _reading_lines(found: TextTrail) -> Iterator[Line]:
    """What was read of it, and by whom."""
    from nuggets_tui.pipeline_words import age, job_state

    raw, job, now = found.raw, found.job, datetime.now(UTC)
    by = " ".join(part for part in (raw.model, raw.prompt_version) if part)
    if raw.duplicate_of:
        yield Span(f"read   not again: {raw.duplicate_of} says the same", "dim")
    elif raw.status == "skipped":
        yield Span("read   by no model: it says too little", "dim")
    elif raw.status == "held":
        yield Span("read   not yet: the pipeline is frozen", "warn")
    elif not found.unread:
        yield f"read   whole, {age(raw.extracted_at, now)}" + (f", by {by}" if by else "")
    else:
        share = f"{found.unread_length:,} of {len(raw.content):,} characters are not read"
        state = f" ({job_state(job, now)})" if job is not None else ""
        yield Span(f"read   {share}{state}", "warn")
        if found.unread != ((0, len(raw.content)),):
            yield Span(
                f"       those {', '.join(f'{start:,} to {end:,}' for start, end in found.unread)}", "dim"
            )
    if job is not None and job.error:
        yield Span(f"job    {job.id}: {job.error}", "bad" if job.status == "dead" else "warn")


def _fact_line(one: StoredProposal) -> Line:
    from nuggets_tui.pipeline_words import STATES, reason_of

    sign, _, word = STATES[one.status]
    why = reason_of(one)
    told = f"waits for you: {why}".removesuffix(": ") if one.open else "; ".join(filter(None, (word, why)))
    at = one.note_id or one.target_note or one.id
    style: SpanStyle = "warn" if one.open else "good" if one.status == "applied" else "dim"
    return (f"  {sign or '!'} ", Span(one.content), Span(f"  {told}", style), Span(f"  {at}", "dim"))


# A note


def _origin_document(
    note: Note, authors: NoteAuthors, known: Origin | None, history: tuple[HistoryRow, ...]
) -> dict[str, Any]:
    from nuggets_tui.pipeline_words import stamp

    return {
        "id": note.id,
        "title": note.title,
        "madeBy": authors.made_by or None,
        "changedBy": authors.changed_by or None,
        "text": None
        if known is None
        else {
            "id": known.raw_id,
            "sentence": _sentence(known),
            "span": list(known.span) if known.span is not None else None,
            "author": known.author,
            "session": known.source_id,
            "project": known.project,
            "sourceType": known.source_type,
        },
        "fact": None
        if known is None
        else {
            "id": known.fact_id,
            "content": known.fact,
            "proposal": known.proposal_id,
            "confidence": known.confidence,
            "decidedBy": known.decided_by,
            "reason": known.told,
            "at": stamp(known.created_at),
        },
        "model": _model(note, known) or None,
        "promptVersion": (known.prompt_version or None) if known is not None else None,
        "history": [
            {"at": stamp(row.at), "event": row.event, "by": row.changed_by, "reason": row.reason}
            for row in history
        ],
    }


def _origin_lines(
    note: Note, authors: NoteAuthors, known: Origin | None, history: tuple[HistoryRow, ...]
) -> Iterator[Line]:
    from nuggets_tui.origin import SOURCES
    from nuggets_tui.pipeline_words import EVENTS, age, author_name, submitted_line

    now = datetime.now(UTC)
    yield (Span(note.title, "bold"), Span(f"  {note.id}", "dim"))
    people = [f"made by {authors.made_by}" if authors.made_by else ""]
    people += [f"changed by {authors.changed_by}" if authors.changed_by else ""]
    said = " · ".join(part for part in (*people, SOURCES.get(note.source, note.source)) if part)
    if said:
        yield Span(said, "dim")
    if known is None:
        model = _model(note, known)
        yield (
            f"The pipeline made it with {model}; its text is gone."
            if model
            else "No submitted text: the pipeline did not make it."
        )
        return
    yield f"fact   {known.fact}"
    yield ("text   ", Span(known.raw_id, "bold"), Span(f"  {submitted_line(known, now)}", "dim"))
    yield from (f"       {line}" for line in _sentence(known).split("\n"))
    asked = " ".join(part for part in (known.model or "no model", known.prompt_version) if part)
    yield f"model  {asked}, {known.confidence:.0%} sure"
    if known.told:
        yield f"why    {known.told}"
    happened = (
        f"{age(row.at, now)}  {EVENTS.get(row.event, row.event.replace('_', ' '))} by {author_name(row.changed_by)}"
        for row in history
    )
    yield from (Span(f"       {one}", "dim") for one in dict.fromkeys(happened))
    yield Span(f"nuggets pipeline text {known.raw_id} shows the whole text", "dim")


def _sentence(known: Origin) -> str:
    """The sentence of the text; the whole text where none is known."""
    start, end = known.span or (0, len(known.content))
    return known.content[start:end].strip()


def _model(note: Note, known: Origin | None) -> str:
    from nuggets_tui.origin import made_by_pipeline, trail_of

    return trail_of(note, known).model if known is not None or made_by_pipeline(note) else ""
