"""Answers of the memory as lines, for the command line and for agents alike: what answers, and what may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from core.text.normalise import squeeze
from nuggets_tui.cli.output import LONGEST, Line, bold, dim, shorten, warn
from nuggets_tui.words import PASSAGE, about, certainty, how_sure, other_side_lines, stale_lines

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.memory import Memory
    from core.model.judgement import Candidate
    from core.model.note import Note

# Says how the whole of a note is read, by its id.
Reads = Callable[[str], str]
_LONGEST_TITLE: Final = 160


def recall_lines(memory: Memory, found: Recall, now: datetime, reads: Reads) -> Iterator[Line]:
    """What answers, where it comes from, and what says otherwise."""
    note = memory.search.snapshot.by_id.get(found.note_id or "")
    said = about(memory, found.nugget_name, note, found.project, found.whose, now)
    text = found.answer or ""
    if note is not None and len(text) > PASSAGE:
        from core.search import snippet

        whole = f"(of {len(text):,} characters; {reads(note.id)})"
        text = f"{snippet(text, found.matched, PASSAGE).text}\n{whole}"
    is_fact = found.via == "facts"
    yield from answer_lines(found.key, text, f"{said}; {how_sure(found)}", is_fact=is_fact)
    beside = (*stale_lines(found.stale, now), *other_side_lines(found))
    yield from (warn(shorten(line, LONGEST)) for line in beside)


def candidate_lines(memory: Memory, found: Recall, now: datetime) -> Iterator[Line]:
    """The notes that may answer, each with why."""
    for one in found.candidates:
        note = memory.search.snapshot.by_id.get(one.note_id)
        said = about(memory, one.nugget_name, note, one.project, one.whose, now)
        line, said = shorten(one.first_line, LONGEST), f"{said}; {certainty(one.likelihood)}"
        yield from answer_lines(one.title, line, said, one.note_id, is_fact=note is not None and note.is_fact)
        yield from (warn(f"  {shorten(stale, LONGEST)}") for stale in stale_lines(one.stale, now))
        why = why_candidate(one)
        yield from [dim(f"  {why}")] if why else []


def answer_lines(title: str, text: str, said: str, note_id: str = "", *, is_fact: bool) -> Iterator[Line]:
    """A note that answers, or may: a fact on one line, else the title and the passage below it. said: what is known of
    it. note_id: "" for one that need not be named.
    """
    behind = (dim(f"   ({said})"), dim(f"  {note_id}" if note_id else ""))
    name = shorten(squeeze(title), _LONGEST_TITLE)
    if is_fact and "\n" not in text and len(text) <= PASSAGE:
        yield (bold(name), f" = {text}", *behind)
    elif "\n" not in text and text.casefold().startswith(title.casefold().rstrip("….!")):
        # A note made of one sentence begins with its title.
        yield (bold(text), *behind)
    else:
        yield (bold(name), *behind)
        yield from (f"  {line}" for line in text.split("\n") if text)


def why_candidate(one: Candidate) -> str:
    """Why a note may answer and is not sure to: the words of the question that it holds and lacks."""
    meant = dict(one.guessed)
    held = [f'"{word}" taken as "{meant[word]}"' if word in meant else word for word in one.holds]
    said = [f"{verb} {', '.join(words)}" for verb, words in (("holds", held), ("lacks", one.lacks)) if words]
    return "; ".join(said)


def passage_lines(found: Recall) -> Iterator[Line]:
    """The parts of documents beside the answer, marked as such."""
    for one in found.passages:
        place = (
            f"  {one.document_id}, part {one.place + 1} · score {one.score:.2f} · {one.likelihood:.2f} likely"
        )
        yield (dim("document "), bold(shorten(one.title or one.source, LONGEST)), dim(place))
        yield f"  {shorten(squeeze(one.text), LONGEST)}"


def related_lines(related: list[tuple[Note, str]]) -> Iterator[Line]:
    """Notes linked with an answer, each with the reason."""
    for note, reason in related:
        yield (dim("→ "), bold(note.title), dim(f"  {reason}"))
        yield from (f"  {line}" for line in note.content.split("\n"))
