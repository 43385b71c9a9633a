"""Notes as lines for a person: a list of them, and one in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.model.basis import custom_tags
from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from nuggets_tui.cli.output import Line, Span, table


def note_table(notes: Sequence[Note]) -> list[Line]:
    """A line for each note: id, title, how often recalled, when changed, whether hidden."""
    return table(
        [
            (
                Span(note.id, "dim"),
                Span(note.title, "dim" if note.hidden else "bold"),
                f"{note.hits}×" if note.hits else "",
                Span(day(note.updated_at), "dim"),
                Span("hidden" if note.hidden else "", "warn"),
            )
            for note in notes
        ],
        right=(2,),
        flexible=1,
    )


def note_lines(snapshot: Snapshot, note: Note) -> Iterator[Line]:
    """One note in full: what it is, its content, its links."""
    yield Span(note.title, "bold")
    nugget, sure = f"nugget {note.nugget_name}", f"confidence {note.confidence:.2f}"
    facts = (note.id, nugget, note.scope, note.type, note.stability, sure, note.source)
    yield Span(" · ".join(part for part in facts if part), "dim")
    yield Span(" · ".join(_history(note)), "dim")
    tags = custom_tags(note)
    if tags:
        yield ("tags: ", ", ".join(tags))
    if note.content:
        yield ""
        yield from note.content.split("\n")
    links = tuple(_link_lines(snapshot, note))
    if links:
        yield ""
        yield from links


def _history(note: Note) -> Iterator[str]:
    if note.hidden:
        yield f"hidden {day(note.archived_at or '')}".rstrip()
    yield f"recalled {note.hits}×" if note.hits else "never recalled"
    if note.updated_at:
        yield f"changed {day(note.updated_at)}"
    if note.created_at:
        yield f"made {day(note.created_at)}"


def _link_lines(snapshot: Snapshot, note: Note) -> Iterator[Line]:
    from core.graph.neighbours import neighbours

    around = neighbours(snapshot, note.id)
    for arrow, links in (("→", around.outgoing), ("←", around.incoming)):
        for other, link in links:
            yield _link_line(arrow, other, link)


def _link_line(arrow: str, other: Note, link: Link) -> Line:
    hidden = Span("  hidden", "warn" if other.hidden else "")
    return (
        f"{arrow} ",
        other.title,
        Span(f"  {link.reason}", "dim"),
        Span(f"  {other.id}", "dim"),
        *((hidden,) if other.hidden else ()),
    )


def day(time: str) -> str:
    """The date in an ISO 8601 time."""
    return time[:10]
