"""Commands about notes: notes, and note add, show, edit, hide, unhide, delete, link, unlink, merge."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from core.errors import ErrorCode, InvalidInputError
from core.model.note import SCOPES, Link, Note, custom_tags
from core.model.snapshot import Snapshot
from nuggets_tui import deeds
from nuggets_tui.cli.cautions import of_note
from nuggets_tui.cli.groups import TEXT, CommandEntry, LazyGroup, command, example, vectors_option
from nuggets_tui.cli.invocation import Invocation, must_confirm, pass_call, read_text
from nuggets_tui.cli.options import (
    LIMIT,
    filters,
    listing_options,
    meta_input,
    metadata_options,
    new_nugget,
    yes_option,
)
from nuggets_tui.cli.output import LONGEST, Line, Span, shorten, table
from nuggets_tui.listing import ORDERS, Order, listing

if TYPE_CHECKING:
    from core.model.draft import Draft

_HERE: Final = "nuggets_tui.cli.notes"
_ENTRIES: Final = {
    "add": CommandEntry(f"{_HERE}:add", "Write a new note."),
    "show": CommandEntry(f"{_HERE}:show", "Show a note with its metadata and links."),
    "origin": CommandEntry(
        "nuggets_tui.cli.provenance:origin", "Show where a note came from: text, fact, model."
    ),
    "hints": CommandEntry(
        "nuggets_tui.cli.provenance:hints", "List or remove the questions that find a note, too."
    ),
    "edit": CommandEntry(f"{_HERE}:edit", "Change a note's text, tags or metadata."),
    "hide": CommandEntry(f"{_HERE}:hide", "Hide notes from recall and search; they can come back."),
    "unhide": CommandEntry(f"{_HERE}:unhide", "Show hidden notes again."),
    "tag": CommandEntry(f"{_HERE}:tag", "Add and remove tags of notes."),
    "move": CommandEntry(f"{_HERE}:move", "Move notes to another scope."),
    "delete": CommandEntry(f"{_HERE}:delete", "Delete a note, its fact and the links to it."),
    "link": CommandEntry(f"{_HERE}:link", "Link two notes, both ways."),
    "unlink": CommandEntry(f"{_HERE}:unlink", "Remove the links between two notes."),
    "merge": CommandEntry(f"{_HERE}:merge", "Merge a note into another."),
}
NOTHING: Final = "Nothing to change:"
ID_HELP: Final = "ID is a note's id, the unique start of it, or the exact title."

note_group = LazyGroup(
    "note",
    entries=_ENTRIES,
    help=f"Work on one note. {ID_HELP}",
    no_args_is_help=False,
    subcommand_metavar="COMMAND ...",
)


@command("notes", epilog=example("nuggets notes --nugget project --sort recalls --limit 20"))
@listing_options
@click.option(
    "--sort",
    type=click.Choice(ORDERS),
    default="newest",
    show_default=True,
    help="Order of the notes; care puts first those that most need a look.",
)
@click.option("--limit", type=LIMIT, metavar="N", help="Show at most N.")
@click.option("--team", is_flag=True, help="List the notes of the team, in this project's repository.")
@vectors_option
@pass_call
def notes(call: Invocation, /, sort: Order, limit: int | None, team: bool, **values: Any) -> None:
    """List notes."""
    if team:
        call.at_team()
    snapshot = call.memory.snapshot
    wanted = filters(snapshot, values)
    found = [note for note in listing(snapshot, sort, True).notes if wanted.admits(note)]
    shown = found[:limit]
    call.answer(lambda: [_document(call, note) for note in shown], lambda: _list_lines(shown, len(found)))


def _list_lines(shown: list[Note], found: int) -> list[Line]:
    if not shown:
        return ["No notes."]
    lines = note_table(shown)
    if found > len(shown):
        lines.append(Span(f"{len(shown):,} of {found:,} notes", "dim"))
    return lines


@command(
    "add", epilog=example('nuggets note add "JWT format" "RS256; key in keys/" --nugget project --tag auth')
)
@click.argument("title", type=TEXT)
@click.argument("content", type=TEXT)
@click.option(
    "--nugget",
    type=TEXT,
    default="",
    metavar="NAME",
    help="Nugget it belongs to (default: memory; an agent's: that of its project).",
)
@click.option("--tag", "tags", type=TEXT, multiple=True, metavar="TAG", help="A tag; may be repeated.")
@metadata_options
@vectors_option
@pass_call
def add(
    call: Invocation, /, title: str, content: str, nugget: str, tags: Sequence[str], **values: Any
) -> None:
    """Write a new note. CONTENT - reads standard input. Metadata that you leave out is inferred."""
    meta = meta_input(values)
    text = read_text(content)
    known = call.memory.snapshot.nugget_names
    made, _, like = deeds.add_note(call.memory, nugget, title, text, tags, meta)
    new = new_nugget(made.nugget_name, known) if nugget else ""
    also = " ".join(filter(None, (new, deeds.second_one(like))))
    _answer_note(call, made, "Added", also, written=True)


@command("show")
@click.argument("id", type=TEXT)
@vectors_option
@pass_call
def show(call: Invocation, /, id: str) -> None:
    """Show a note with its metadata and links."""
    (id,) = call.at(id)
    snapshot = call.memory.snapshot
    note = snapshot.note(id)
    call.answer(lambda: _document(call, note), lambda: [*note_lines(snapshot, note), *_where(call, note)])


@command("edit", epilog=example('nuggets note edit "JWT format" --content - --tag security < text.md'))
@click.argument("id", type=TEXT)
@click.option("--content", type=TEXT, metavar="TEXT", help="New content; - reads standard input.")
@click.option("--title", type=TEXT, metavar="TEXT", help="New title (of a fact: its key).")
@click.option("--tag", "tags", type=TEXT, multiple=True, metavar="TAG", help="Add a tag; may be repeated.")
@click.option(
    "--untag", "untags", type=TEXT, multiple=True, metavar="TAG", help="Remove a tag; may be repeated."
)
@metadata_options
@vectors_option
@pass_call
def edit(
    call: Invocation,
    /,
    id: str,
    content: str | None,
    title: str | None,
    tags: Sequence[str],
    untags: Sequence[str],
    **values: Any,
) -> None:
    """Change a note's text, tags or metadata. The note of a fact changes the fact, too."""
    meta = meta_input(values)
    deeds.check_edit(id, content, title, tags, untags, meta)
    (id,) = call.at(id)
    (made,), done = deeds.edit_note(
        call.memory,
        id,
        content=None if content is None else read_text(content),
        title=title,
        add_tags=tags,
        remove_tags=untags,
        meta=meta,
    )
    written = content is not None or title is not None
    _answer_note(call, made, "Changed" if not done.empty else NOTHING, written=written)


@command("hide")
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@vectors_option
@pass_call
def hide(call: Invocation, /, ids: Sequence[str]) -> None:
    """Hide notes from recall and search. A hidden fact leaves its nugget and can come back whole."""
    from core.graph import edits

    _each(call, ids, "hid", edits.hide_note)


@command("unhide")
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@vectors_option
@pass_call
def unhide(call: Invocation, /, ids: Sequence[str]) -> None:
    """Show hidden notes again. A fact returns to the place it had."""
    from core.graph import edits

    _each(call, ids, "brought back", edits.unhide_note)


@command("tag", epilog=example('nuggets note tag "JWT format" "Session store" --tag auth --untag draft'))
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@click.option("--tag", "tags", type=TEXT, multiple=True, metavar="TAG", help="Add a tag; may be repeated.")
@click.option(
    "--untag", "untags", type=TEXT, multiple=True, metavar="TAG", help="Remove a tag; may be repeated."
)
@vectors_option
@pass_call
def tag(call: Invocation, /, ids: Sequence[str], tags: Sequence[str], untags: Sequence[str]) -> None:
    """Add and remove tags of notes, as one change: all of them or none. +TAG is short for --tag TAG."""
    from core.graph.edits import edit_note

    titles = {note.title for note in call.memory.searched.notes}
    plus = [id for id in ids if len(id) > 1 and id.startswith("+") and id not in titles]
    ids, added = [id for id in ids if id not in plus], (*tags, *plus)
    if not ids or not (added or untags):
        missing = "tag" if ids else "note"
        raise InvalidInputError(
            f"no {missing} was given",
            code=ErrorCode.EMPTY,
            field="change",
            kept="the notes are unchanged",
            todo="nuggets note tag ID... --tag TAG --untag TAG",
        )

    def edit(draft: Draft, id: str) -> Note:
        note = draft.note(id)
        gone = deeds.tags_of(note, untags)
        return edit_note(draft, id, add_tags=deeds.tags_of(note, added), remove_tags=gone)

    _each(call, ids, "tagged", edit)


@command("move", epilog=example('nuggets note move project "JWT format" "Session store"'))
@click.argument("scope", type=click.Choice(SCOPES))
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@vectors_option
@pass_call
def move(call: Invocation, /, scope: str, ids: Sequence[str]) -> None:
    """Move notes to another scope. Subject and stability follow, unless somebody chose them."""
    from core.graph.edits import move_to_scope

    _each(call, ids, f"moved to scope {scope}:", partial(move_to_scope, scope=scope))


def _each(call: Invocation, ids: Sequence[str], done: str, edit_one: Callable[[Draft, str], Note]) -> None:
    """Edits several notes as one change: all of them or, when one is not there, none."""
    ids = call.at(*ids)
    edited = deeds.edit_each(call.memory, ids, done, edit_one)
    call.answer(
        lambda: [_document(call, note) for note in edited.notes],
        lambda: [
            *(
                (f"{done.capitalize() if edited.changed(note) else NOTHING} ", *_named(note))
                for note in edited.notes
            ),
            *_changed(call, *edited.notes),
        ],
    )


@command("delete")
@click.argument("id", type=TEXT)
@yes_option
@pass_call
def delete(call: Invocation, /, id: str, yes: bool) -> None:
    """Delete a note, its fact and the links to it. To keep the note, hide it instead. nuggets undo brings it back."""
    from core.graph import edits

    (id,) = call.at(id)
    note = call.memory.snapshot.note(id)
    if not must_confirm(call, yes, f"delete {note.id}", f"Delete {note.title[:80]!r}?"):
        call.answer(lambda: {"deleted": False, "id": note.id}, lambda: ["Nothing was changed."])
        return
    call.change(f"deleted {note.title!r}", lambda draft: edits.delete_note(draft, note.id))
    call.answer(
        lambda: {"deleted": True, "id": note.id},
        lambda: [("Deleted ", Span(note.title, "bold"), f" ({note.id}). To undo it: {_undo(call)}")],
    )


@command(
    "link", epilog=example('nuggets note link "JWT format" "Auth middleware" --reason "uses the tokens"')
)
@click.argument("a", type=TEXT)
@click.argument("b", type=TEXT)
@click.option(
    "--reason", type=TEXT, default="related", show_default=True, metavar="TEXT", help="Why they are linked."
)
@vectors_option
@pass_call
def link(call: Invocation, /, a: str, b: str, reason: str) -> None:
    """Link two notes, both ways. Notes that are linked already get another link only for another reason."""
    from core.graph import edits

    a, b = call.at(a, b)
    (first, second), done = deeds.link(call.memory, a, b, reason)
    pair = first, second
    if done.empty:
        why = shorten("; ".join(edits.link_reasons(*pair)), LONGEST)
        _answer_pair(call, pair, NOTHING, f" are already linked ({why}).")
    else:
        _answer_pair(call, pair, "Linked")


@command("unlink")
@click.argument("a", type=TEXT)
@click.argument("b", type=TEXT)
@click.option("--reason", type=TEXT, metavar="TEXT", help="Only the link with this reason.")
@vectors_option
@pass_call
def unlink(call: Invocation, /, a: str, b: str, reason: str | None) -> None:
    """Remove the links between two notes, or only the one with a reason."""
    from core.graph import edits

    first, second = _pair(call, a, b)
    pair, done = call.memory.change(
        f"unlinked {first.title!r} and {second.title!r}",
        lambda draft: edits.unlink_notes(draft, first.id, second.id, reason),
    )
    _answer_pair(call, pair, "Unlinked" if not done.empty else NOTHING)


def _choice(name: str, *, both: bool = False) -> Callable[[Any], Any]:
    sides = ("survivor", "other", "both") if both else ("survivor", "other")
    of = "text" if name == "content" else name
    return click.option(
        f"--{name}",
        type=click.Choice(sides),
        default="both" if both else "survivor",
        show_default=True,
        help=f"Whose {of} the merged note gets.",
    )


@command("merge", epilog=example('nuggets note merge "Test database" "Data base" --title other'))
@click.argument("survivor", type=TEXT)
@click.argument("other", type=TEXT)
@_choice("title")
@_choice("content", both=True)
@_choice("tags", both=True)
@_choice("scope")
@_choice("type")
@_choice("stability")
@_choice("confidence")
@click.option("--not-duplicates", is_flag=True, help="Merge nothing, and keep the cleanup from proposing it.")
@vectors_option
@pass_call
def merge(
    call: Invocation,
    /,
    survivor: str,
    other: str,
    not_duplicates: bool,
    **choices: Literal["survivor", "other"],
) -> None:
    """Merge a note into another. The survivor gets every line, tag and link; the other is hidden."""
    from core.graph.merging import MergeChoices, merge_notes

    kept, gone = _pair(call, survivor, other)
    if not_duplicates:
        _refuse_merge(call, kept, gone)
        return
    made = call.change(
        f"merged {gone.title!r} into {kept.title!r}",
        lambda draft: merge_notes(draft, kept.id, gone.id, choices=MergeChoices(**choices)),
    )
    _answer_note(call, made, "Merged into")


def _refuse_merge(call: Invocation, first: Note, second: Note) -> None:
    from core.reflection.proposals import not_duplicates, refuse

    if first.id == second.id:
        raise InvalidInputError(
            "both are the same note",
            where=first.id,
            kept="nothing was changed",
        )
    change = not_duplicates(first, second)
    reason = f"{first.title!r} and {second.title!r} are no duplicates"
    if not call.change(reason, lambda draft: refuse(draft, [change])):
        raise InvalidInputError(
            "a hidden note cannot be merged",
            where=f"{first.id}, {second.id}",
            kept="nothing was changed",
        )
    _answer_pair(call, (first, second), "Marked as no duplicates:")


def _pair(call: Invocation, a: str, b: str) -> tuple[Note, Note]:
    a, b = call.at(a, b)
    snapshot = call.memory.snapshot
    return snapshot.note(a), snapshot.note(b)


def _current(call: Invocation, note: Note) -> Note:
    """The note as it was written; another program's change of the moment before may be in it."""
    return call.memory.snapshot.by_id.get(note.id, note)


def _document(call: Invocation, note: Note) -> dict[str, Any]:
    """A note as its file has it; its vector recipe, which tells a reader nothing, only where it was asked for."""
    from core.model.note import to_file_dict

    document = to_file_dict(note)
    if not call.with_vectors:
        del document["vector"]
    if call.team is not None:
        document |= {"whose": "team", "file": deeds.page_of(call.team, note)}
    return document


def _where(call: Invocation, *notes: Note) -> Iterator[Line]:
    """The files of the team's notes; nothing for one's own."""
    if call.team is not None:
        files = [file for note in notes if (file := deeds.page_of(call.team, note))]
        yield Span(f"team: {', '.join(files) or call.team.folder}", "warn")


def _changed(call: Invocation, *notes: Note) -> Iterator[Line]:
    """The same, and how the change is undone: in the history of one's own it is not."""
    yield from _where(call, *notes)
    if call.team is not None:
        yield Span(f"To undo it: {_undo(call)}", "dim")


def _undo(call: Invocation) -> str:
    """The command that undoes what was done."""
    return (
        "nuggets undo" if call.team is None else f"nuggets --home {shlex.quote(str(call.team.folder))} undo"
    )


def _named(note: Note) -> tuple[str | Span, ...]:
    return Span(note.title, "bold"), f" ({note.id})."


def _answer_note(call: Invocation, note: Note, done: str, also: str = "", *, written: bool = False) -> None:
    """Answers with a note. written: its title or text was typed, so that what looks like a credential is said."""
    note = _current(call, note)
    call.answer(
        lambda: _document(call, note),
        lambda: [(f"{done} ", *_named(note), f" {also}" if also else ""), *_changed(call, note)],
        of_note(note) if written else (),
    )


def _answer_pair(call: Invocation, pair: tuple[Note, Note], done: str, then: str = ".") -> None:
    notes = [_current(call, note) for note in pair]
    call.answer(
        lambda: [_document(call, note) for note in notes],
        lambda: [
            (f"{done} ", Span(notes[0].title, "bold"), " and ", Span(notes[1].title, "bold"), then),
            *_changed(call, *notes),
        ],
    )


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
        yield f"created {day(note.created_at)}"


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
