"""`pipeline text` and `note origin`: from a submitted text to the notes that it became, and from a note back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from core.errors import NotFoundError
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span, SpanStyle
from nuggets_tui.cli.pipeline import needed_pipeline, opened_pipeline, record_document

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.model.note import Note
    from core.pipeline.records import HistoryRow, NoteHints, Origin, StoredProposal, TextTrail
    from nuggets_tui.origin import NoteAuthors


@command(
    "text", epilog=example("nuggets pipeline text raw-0123456789abcdef", "nuggets pipeline text 17 --json")
)
@click.argument("id", type=TEXT)
@pass_call
def text(call: Invocation, /, id: str) -> None:
    """Show a submitted text, what of it was read, and what came of each fact in it. Credentials are shown as dots.

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


@command(
    "hints", epilog=example('nuggets note hints "JWT format"', 'nuggets note hints "JWT format" --remove 2')
)
@click.argument("id", type=TEXT)
@click.option(
    "--remove",
    type=TEXT,
    multiple=True,
    metavar="N|TEXT",
    help="Remove this hint, by number or text; repeatable.",
)
@pass_call
def hints(call: Invocation, /, id: str, remove: tuple[str, ...]) -> None:
    """List the questions by which a note is found, too. A model makes them where `pipeline.hints.enabled` is set.

    What you remove finds the note no more, also when hints are made again. nuggets undo puts it back.
    """
    note = call.memory.snapshot.resolve(id)
    done = None
    with opened_pipeline(call) as pipeline:
        found = pipeline.hints(note.id) if pipeline is not None else None
        if remove:
            if pipeline is None or found is None:
                raise NotFoundError("the note has no hints", where=note.id, kept="nothing was changed")
            done = pipeline.remove_hints(note.id, _named_hints(found, remove))
            found = pipeline.hints(note.id)
    call.answer(
        lambda: _hints_document(note, found, done),
        lambda: _hints_lines(note, found, done),
    )


def _named_hints(found: NoteHints, named: Sequence[str]) -> list[str]:
    """Hints by their number, from 1, or their text. Raises NotFoundError for what means none."""
    by_name = {one.casefold(): one for one in found.hints} | {
        str(number): one for number, one in enumerate(found.hints, 1)
    }
    for one in named:
        if one.strip().casefold() not in by_name:
            raise NotFoundError("the note has no such hint", where=one, kept="nothing was changed")
    return [by_name[one.strip().casefold()] for one in named]


def _hints_document(note: Note, found: NoteHints | None, done: ChangeSet | None) -> dict[str, Any]:
    return {
        "noteId": note.id,
        "enabled": found is not None and found.enabled,
        "made": found is not None and found.made,
        "hints": list(found.hints) if found is not None else [],
        "removed": list(found.removed) if found is not None else [],
        "changeSet": done.id if done is not None else None,
    }


def _hints_lines(note: Note, found: NoteHints | None, done: ChangeSet | None) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import HINTS_OFF, hints_state

    if done is not None:
        yield (f"{done.reason[:1].upper()}{done.reason[1:]}.", Span(f"  nuggets undo {done.id}", "dim"))
    yield Span(note.title, "bold")
    for number, hint in enumerate(found.hints if found is not None else (), 1):
        yield f"{number:>2}  {hint}"
    for hint in found.removed if found is not None else ():
        yield Span(f" –  {hint}  (removed)", "dim")
    said = hints_state(found) if found is not None else HINTS_OFF
    if said:
        yield Span(said, "dim")


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
        "removedAt": stamp(found.raw.removed_at) or None,
        "deletedAt": stamp(found.raw.gone_at) or None,
        "entities": list(found.entities),
        "job": record_document(job) if job is not None else None,
        "unread": [{"start": start, "end": end} for start, end in found.unread],
        "facts": [record_document(one) for one in found.proposals],
    }


def _text_lines(found: TextTrail) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import removed_line, submitted_line

    raw = found.raw
    yield Span(raw.id, "bold")
    yield Span(submitted_line(raw, datetime.now(UTC)), "dim")
    if found.raw.removed_at is not None:
        yield Span(removed_line(found.raw.removed_at, found.raw.gone_at), "warn")
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
        yield Span(
            "read   by no model" + (": it says too little" if found.raw.removed_at is None else ""), "dim"
        )
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
            "removedAt": stamp(known.removed_at) or None,
            "deletedAt": stamp(known.deleted_at) or None,
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
    from nuggets_tui.pipeline_words import EVENTS, age, author_name, removed_line, submitted_line

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
    if known.removed_at is not None:
        yield Span(f"       {removed_line(known.removed_at, known.deleted_at)}", "warn")
    if known.deleted_at is None:
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
    if known.deleted_at is None:
        yield Span(f"nuggets pipeline text {known.raw_id} shows the whole text", "dim")


def _sentence(known: Origin) -> str:
    """The sentence of the text; the whole text where none is known."""
    start, end = known.span or (0, len(known.content))
    return known.content[start:end].strip()


def _model(note: Note, known: Origin | None) -> str:
    from nuggets_tui.origin import made_by_pipeline, trail_of

    return trail_of(note, known).model if known is not None or made_by_pipeline(note) else ""
