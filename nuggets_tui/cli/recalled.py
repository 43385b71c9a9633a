"""How a recall is answered: as lines, with what is said beside them, and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from core.text.normalise import squeeze
from nuggets_tui.cli.output import LONGEST, Line, Span, shorten
from nuggets_tui.words import (
    PASSAGE,
    about,
    certainty,
    how_sure,
    other_side_lines,
    whose_document,
    why_candidate,
)

if TYPE_CHECKING:
    from core.facts.recall import AnsweringPassage, OtherSide, Recall, Skipped
    from core.memory import Memory
    from core.model.judgement import Candidate
    from core.model.note import Note

NOT_FOUND: Final = 1


def said_beside(query: str, found: Recall) -> Iterator[str]:
    """What is said on standard error beside the lines of an answer."""
    short = shorten(query, LONGEST)
    if not found.found and found.passages and not found.candidates:
        yield f"no note answers {short!r}; these parts of documents may"
    elif found.judgement == "not sure":
        yield f"not sure what answers {short!r}; these notes may"
    elif not found.found:
        further = f"; to look further: nuggets search {shlex.quote(query)}" if short == query else ""
        yield f"nothing found for {short!r}{further}"


def candidate_lines(memory: Memory, found: Recall) -> Iterator[Line]:
    """The notes that may answer, each with why."""
    for one in found.candidates:
        note = memory.searched.by_id.get(one.note_id)
        said = about(memory, one.nugget_name, note, one.project, one.whose, datetime.now(UTC))
        is_fact = note is not None and note.is_fact
        yield from answer_lines(
            one.title,
            shorten(one.first_line, LONGEST),
            f"{said}; {certainty(one.likelihood)}",
            one.note_id,
            is_fact=is_fact,
        )
        why = why_candidate(one)
        yield from [Span(f"  {why}", "dim")] if why else []


def answer_lines(title: str, text: str, said: str, note_id: str = "", *, is_fact: bool) -> Iterator[Line]:
    """A note that answers, or may: a fact on one line, else the title and the passage below it. said: what is known of
    it. note_id: "" for one that need not be named.
    """
    behind = (Span(f"   ({said})", "dim"), Span(f"  {note_id}" if note_id else "", "dim"))
    title = shorten(title, LONGEST)
    if is_fact and "\n" not in text and len(text) <= PASSAGE:
        yield (Span(title, "bold"), f" = {text}", *behind)
    else:
        yield (Span(title, "bold"), *behind)
        yield from (f"  {line}" for line in text.split("\n") if text)


def passage_lines(found: Recall) -> Iterator[Line]:
    """The parts of documents beside the answer, marked as such."""
    for one in found.passages:
        yield (
            "",
            Span("document ", "dim"),
            Span(shorten(one.title or one.source, LONGEST), "bold"),
            Span(part(one), "dim"),
        )
        yield f"  {shorten(squeeze(one.text), LONGEST)}"


def part(one: AnsweringPassage) -> str:
    """Where a part of a document is, its score, and how likely it answers."""
    return f"  {one.document_id}, part {one.place + 1} · score {one.score:.2f} · {one.likelihood:.2f} likely"


def recall_document(found: Recall) -> dict[str, object]:
    """The answer for programs."""
    match = found.match
    return {
        "answer": found.answer,
        "confidence": found.confidence,
        "certainty": found.certainty,
        "margin": found.margin,
        "found": found.found,
        "key": found.key,
        "match": {"kind": match.kind, "strength": match.strength} if match else None,
        "nuggetName": found.nugget_name,
        "via": found.via,
        "noteId": found.note_id,
        **whose_document(found.whose),
        **({"project": found.project} if found.project else {}),
        **({} if found.found else _offered_document(found)),
        **({"disputedBy": [_side_document(one) for one in found.disputed_by]} if found.disputed_by else {}),
        **({"disputes": [_side_document(one) for one in found.disputes]} if found.disputes else {}),
        **({"passages": [_passage_document(one) for one in found.passages]} if found.passages else {}),
        **({"undecoded": found.undecoded} if found.undecoded else {}),
        **({"skipped": [_skipped_document(one) for one in found.skipped]} if found.skipped else {}),
    }


def _offered_document(found: Recall) -> dict[str, object]:
    return {
        "judgement": found.judgement,
        "candidates": [_candidate_document(one) for one in found.candidates],
    }


def _candidate_document(one: Candidate) -> dict[str, object]:
    return {
        "id": one.note_id,
        "title": one.title,
        "firstLine": one.first_line,
        "nuggetName": one.nugget_name,
        "why": why_candidate(one),
        "holds": list(one.holds),
        "lacks": list(one.lacks),
        "likelihood": one.likelihood,
        **whose_document(one.whose),
        **({"project": one.project} if one.project else {}),
    }


def _passage_document(one: AnsweringPassage) -> dict[str, object]:
    return {
        "documentId": one.document_id,
        "title": one.title,
        "source": one.source,
        "part": one.place + 1,
        "text": one.text,
        "score": one.score,
        "likelihood": one.likelihood,
    }


def _side_document(one: OtherSide) -> dict[str, str | None]:
    proposal = {"proposalId": one.proposal_id} if one.proposal_id else {}
    return {"noteId": one.note_id or None, "content": one.content, **proposal}


def _skipped_document(one: Skipped) -> dict[str, str]:
    return {"nuggetName": one.nugget_name, "reason": one.reason, "what": one.what}


def recall_lines(memory: Memory, found: Recall, related: Sequence[tuple[Note, str]] = ()) -> Iterator[Line]:
    """The answer, where it comes from, and the notes linked with it, each with the reason."""
    note = memory.searched.by_id.get(found.note_id or "")
    said = about(memory, found.nugget_name, note, found.project, found.whose, datetime.now(UTC))
    said, text = f"{said}; {how_sure(found)}", found.answer or ""
    if note is not None and len(text) > PASSAGE:
        from core.search import snippet

        whole = f"(of {len(text):,} characters; nuggets note show {note.id} prints all)"
        text = f"{snippet(text, found.matched, PASSAGE).text}\n{whole}"
    yield from answer_lines(found.key, text, said, is_fact=found.via == "facts")
    yield from (Span(shorten(line, LONGEST), "warn") for line in other_side_lines(found))
    for note, reason in related:
        yield ("", Span("→ ", "dim"), Span(note.title, "bold"), Span(f"  {reason}", "dim"))
        for line in note.content.split("\n"):
            yield "  " + line
