"""Commands about notes: notes, and note add, show, edit, hide, unhide, delete, link, unlink, merge and more."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from core import verbs
from core.errors import ErrorCode, NotFoundError
from core.model.note import SCOPES, Note, custom_tags
from nuggets_tui.cli import options
from nuggets_tui.cli.facts import capacity_warning
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation, bad_input, read_text
from nuggets_tui.cli.options import NOTES, TAGS, UNTAGS, VECTORS, Group, arg, choice, command, flag, opt
from nuggets_tui.cli.output import Line, Span, bold, dim, pick, picks, shorten, table, undo_line, warn
from nuggets_tui.listing import ORDERS, Order, listing
from nuggets_tui.words import stale_lines

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.pipeline.records import HistoryRow, NoteHints, Origin
    from nuggets_tui.widgets.note_view import NoteAuthors

NOTHING: Final = "Nothing to change:"

note = Group("note", "Work on one note. ID is a note's id, the unique start of it, or the exact title.")


@command(
    "notes", *options.LISTING,
    choice(
        "--sort", ORDERS, "Order of the notes; care lists those that need a look first.", default="newest",
        show_default=True,
    ),
    options.limit(),
    flag("--facts", "List the facts of the nugget that --nugget names, with their values."),
    flag("--team", "List the notes of the team, in this project's repository."),
    VECTORS,
    examples=(
        "nuggets notes --nugget project --sort recalls --limit 20",
        "nuggets notes --facts --nugget project",
    ),
)  # fmt: skip
def notes(call: Invocation, sort: Order, limit: int | None, facts: bool, team: bool, **values: Any) -> None:
    """List notes, or the facts of a nugget."""
    if facts:
        _list_facts(call, values["nugget"], limit)
        return
    if team:
        call.at_team()
    snapshot = call.memory.snapshot
    wanted = options.filters(snapshot, values)
    found = [note for note in listing(snapshot, sort, True).notes if wanted.admits(note)]
    shown = found[:limit]
    rows = [
        (
            dim(note.id), Span(note.title, "dim" if note.hidden else "bold"), f"{note.hits}×" if note.hits else "",
            dim(note.updated_at[:10]), warn("hidden" if note.hidden else ""),
        )
        for note in (() if call.as_json else shown)
    ]  # fmt: skip
    more = [dim(f"{len(shown):,} of {len(found):,} notes")] if len(found) > len(shown) else []
    lines = [*(table(rows, right=(2,), flexible=1) or ["No notes."]), *more]
    call.answer(lambda: [_document(call, note) for note in shown], lines)


def _list_facts(call: Invocation, nugget: str | None, limit: int | None) -> None:
    if nugget is None:
        raise bad_input("needs --nugget", "--facts", kept="", todo="nuggets status lists the nuggets")
    memory = call.memory_as_it_is
    verbs.check_facts(memory)
    verbs.check_fact_file(memory.snapshot, nugget)
    holder = memory.snapshot.nugget(nugget)
    shown = holder.facts[:limit]
    rows = [(bold(one.key), one.value, dim(f"recalled {one.hits}×" if one.hits else "")) for one in shown]
    lines = table(rows, flexible=1) or [f"No facts in {nugget}."]
    call.answer(picks(shown, "key value hits"), [*lines, *capacity_warning(holder)])


# One note


@note.add(
    "add", arg("title"), arg("content"),
    opt(
        "--nugget", "NAME", "Nugget it belongs to (default: memory; for agents, their project's).", default="",
    ),
    opt("--tag tags", "TAG", "A tag; may be repeated.", multiple=True), *options.METADATA, VECTORS,
    examples=('nuggets note add "JWT format" "RS256; key in keys/" --nugget project --tag auth',),
)  # fmt: skip
def add(call: Invocation, title: str, content: str, nugget: str, tags: Sequence[str], **values: Any) -> None:
    """Write a new note. CONTENT - reads standard input. Metadata that you leave out is inferred."""
    meta, text = options.meta_input(values), read_text(content)
    known = call.memory.snapshot.nugget_names
    made, _, like = verbs.add_note(call.memory, nugget, title, text, tags, meta)
    new = options.new_nugget(made.nugget_name, known) if nugget else ""
    _answer_note(call, made, "Added", new, verbs.second_one(like), written=True)


@note.add("show", arg("id"), VECTORS)
def show(call: Invocation, id: str) -> None:
    """Show a note with its metadata and links."""
    (id,) = call.at(id)
    found = call.memory.snapshot.note(id)
    stale = call.memory.stale_references([found]).get(id, ())
    doubts = [warn(shorten(line)) for line in stale_lines(stale, datetime.now(UTC))]
    document = lambda: _document(call, found) | ({"stale": stale} if stale else {})  # noqa: E731
    call.answer(document, lambda: [*_note_lines(call, found), *doubts, *_files(call, found)])


@note.add(
    "edit", arg("id"),
    opt("--content", "TEXT", "New content; - reads standard input."),
    opt("--title", "TEXT", "New title (of a fact: its key)."),
    TAGS, UNTAGS, *options.METADATA, VECTORS,
    examples=('nuggets note edit "JWT format" --content - --tag security < text.md',),
)  # fmt: skip
def edit(
    call: Invocation, id: str, content: str | None, title: str | None, tags: Sequence[str], untags: Sequence[str],
    **values: Any,
) -> None:  # fmt: skip
    """Change a note's text, tags or metadata. Editing the note of a fact changes the fact, too."""
    meta = options.meta_input(values)
    verbs.check_edit(id, content, title, tags, untags, meta)
    (id,) = call.at(id)
    text = None if content is None else read_text(content)
    (made,), done = verbs.edit_note(
        call.memory, id, content=text, title=title, add_tags=tags, remove_tags=untags, meta=meta
    )
    written = content is not None or title is not None
    _answer_note(call, made, NOTHING if done.empty else "Changed", written=written)


@note.add("hide", NOTES, VECTORS)
def hide(call: Invocation, ids: Sequence[str]) -> None:
    """Hide notes from recall and search. A hidden fact leaves its nugget; unhide brings it back."""
    from core.graph.edits import hide_note

    _each(call, ids, "hid", hide_note)


@note.add("unhide", NOTES, VECTORS)
def unhide(call: Invocation, ids: Sequence[str]) -> None:
    """Show hidden notes again. A fact returns to the place it had."""
    from core.graph.edits import unhide_note

    _each(call, ids, "brought back", unhide_note)


@note.add(
    "tag", NOTES, TAGS, UNTAGS, VECTORS,
    examples=('nuggets note tag "JWT format" "Session store" --tag auth --untag draft',),
)  # fmt: skip
def tag(call: Invocation, ids: Sequence[str], tags: Sequence[str], untags: Sequence[str]) -> None:
    """Add and remove tags of notes, as one change: all of them or none. +TAG is short for --tag TAG."""
    from core.graph.edits import edit_note

    titles = {note.title for note in call.memory.search.snapshot.notes}
    plus = [id for id in ids if len(id) > 1 and id.startswith("+") and id not in titles]
    ids, added = [id for id in ids if id not in plus], (*tags, *plus)
    if not ids or not (added or untags):
        todo, what = "nuggets note tag ID... --tag TAG --untag TAG", "tag" if ids else "note"
        raise bad_input(f"no {what} was given", "", "the notes are unchanged", todo, ErrorCode.EMPTY)

    def edit(draft: Draft, id: str) -> Note:
        found = draft.note(id)
        gone = verbs.tags_of(found, untags)
        return edit_note(draft, id, add_tags=verbs.tags_of(found, added), remove_tags=gone)

    _each(call, ids, "tagged", edit)


@note.add(
    "move", arg("scope", click.Choice(SCOPES)), NOTES, VECTORS,
    examples=('nuggets note move project "JWT format" "Session store"',),
)  # fmt: skip
def move(call: Invocation, scope: str, ids: Sequence[str]) -> None:
    """Move notes to another scope. Subject and stability follow, unless somebody chose them."""
    from core.graph.edits import move_to_scope

    _each(call, ids, f"moved to scope {scope}:", partial(move_to_scope, scope=scope))


def _each(call: Invocation, ids: Sequence[str], done: str, edit_one: Callable[[Draft, str], Note]) -> None:
    """Edits several notes as one change: all of them or, when one is not there, none."""
    ids = call.at(*ids)
    edited = verbs.edit_each(call.memory, ids, done, edit_one)
    said = [
        (f"{done.capitalize() if edited.changed(one) else NOTHING} ", bold(one.title), f" ({one.id}).")
        for one in edited.notes
    ]
    document = [_document(call, one) for one in edited.notes]
    call.answer(document, [*said, *_files(call, *edited.notes, changed=True)])


@note.add("delete", arg("id"), options.YES)
def delete(call: Invocation, id: str, yes: bool) -> None:
    """Delete a note, its fact and the links to it. To keep the note, hide it instead. nuggets undo brings it back."""
    (id,) = call.at(id)
    found = call.memory.snapshot.note(id)
    agreed = call.agreed(f"Delete {found.title[:80]!r}?", yes=yes, needs_yes=f"delete {id}")
    if agreed:
        verbs.delete(call.memory, id)
    said: Line = ("Deleted ", bold(found.title), f" ({id}). To undo it: {_undo(call)}")
    call.answer({"deleted": agreed, "id": id}, [said if agreed else NOTHING_CHANGED])


@note.add(
    "link", arg("a"), arg("b"), opt("--reason", "TEXT", "Why they are linked.", default="related", show_default=True),
    VECTORS, examples=('nuggets note link "JWT format" "Auth middleware" --reason "uses the tokens"',),
)  # fmt: skip
def link(call: Invocation, a: str, b: str, reason: str) -> None:
    """Link two notes, both ways. Linked notes get a second link only for another reason."""
    from core.graph.edits import link_reasons

    a, b = call.at(a, b)
    pair, done = verbs.link(call.memory, a, b, reason)
    reasons = shorten("; ".join(link_reasons(pair[0], pair[1])))
    already = (NOTHING, f" are already linked ({reasons}).")
    _answer_pair(call, pair, *(already if done.empty else ("Linked",)))


@note.add("unlink", arg("a"), arg("b"), opt("--reason", "TEXT", "Only the link with this reason."), VECTORS)
def unlink(call: Invocation, a: str, b: str, reason: str | None) -> None:
    """Remove the links between two notes, or only the one with a reason."""
    a, b = call.at(a, b)
    pair, done = verbs.unlink(call.memory, a, b, reason)
    _answer_pair(call, pair, NOTHING if done.empty else "Unlinked")


def _side(name: str) -> click.Option:
    both = name in ("content", "tags")
    return choice(
        f"--{name}", ("survivor", "other", *(("both",) if both else ())),
        f"Whose {'text' if name == 'content' else name} the merged note gets.",
        default="both" if both else "survivor", show_default=True,
    )  # fmt: skip


@note.add(
    "merge", arg("survivor"), arg("other"),
    *map(_side, ("title", "content", "tags", "scope", "type", "stability", "confidence")),
    flag("--not-duplicates", "Merge nothing, and keep the cleanup from proposing it."), VECTORS,
    examples=('nuggets note merge "Test database" "Data base" --title other',),
)  # fmt: skip
def merge(
    call: Invocation, survivor: str, other: str, not_duplicates: bool, **choices: Literal["survivor", "other"]
) -> None:
    """Merge a note into another. The survivor gets every line, tag and link; the other is hidden."""
    from core.graph.merging import MergeChoices

    kept, gone = call.at(survivor, other)
    if not_duplicates:
        pair = verbs.not_duplicates(call.memory, kept, gone).notes
        _answer_pair(call, pair, "Marked as no duplicates:")
        return
    _answer_note(call, verbs.merge(call.memory, kept, gone, MergeChoices(**choices)).notes[0], "Merged into")


# Where a note came from


@note.add("origin", arg("id"), examples=('nuggets note origin "JWT format"',))
def origin(call: Invocation, id: str) -> None:
    """Show where a note came from: who made and changed it, and the text it was made from.

    For a note from the pipeline, it shows the sentence, the fact, the model and the version of its prompt.
    """
    from nuggets_tui.pipeline_words import stamp
    from nuggets_tui.widgets.note_view import made_by_pipeline, origin_of, trail_of

    found = call.memory.snapshot.resolve(id)
    authors = origin_of(call.memory, found)
    with call.pipeline() as pipeline:
        known = pipeline.origin(found.id) if pipeline is not None else None
        history = pipeline.history(found.id) if pipeline is not None else ()
    model = trail_of(found, known).model if known is not None or made_by_pipeline(found) else ""
    document = pick(found, "id title", madeBy=authors.made_by or None, changedBy=authors.changed_by or None)
    document |= {"text": None, "fact": None, "model": model or None, "promptVersion": None}
    if known is not None:
        document["text"] = pick(
            known, "id=raw_id span author session=source_id project source_type", sentence=_sentence(known),
            removedAt=stamp(known.removed_at) or None, deletedAt=stamp(known.deleted_at) or None,
        )  # fmt: skip
        names = "id=fact_id content=fact proposal=proposal_id confidence decided_by reason=told"
        document["fact"] = pick(known, names, at=stamp(known.created_at))
        document["promptVersion"] = known.prompt_version or None
    document["history"] = [pick(row, "event by=changed_by reason", at=stamp(row.at)) for row in history]
    call.answer(document, lambda: _origin_lines(found, authors, known, history, model))


def _origin_lines(
    note: Note, authors: NoteAuthors, known: Origin | None, history: Sequence[HistoryRow], model: str
) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import EVENTS, age, author_name, removed_line, submitted_line
    from nuggets_tui.widgets.note_view import SOURCES

    now = datetime.now(UTC)
    yield (bold(note.title), dim(f"  {note.id}"))
    made = f"made by {authors.made_by}" if authors.made_by else ""
    changed = f"changed by {authors.changed_by}" if authors.changed_by else ""
    said = " · ".join(filter(None, (made, changed, SOURCES.get(note.source, note.source))))
    yield from [dim(said)] if said else []
    if known is None:
        none = "No submitted text: the pipeline did not make it."
        yield f"The pipeline made it with {model}; its text is gone." if model else none
        return
    yield f"fact   {known.fact}"
    yield ("text   ", bold(known.raw_id), dim(f"  {submitted_line(known, now)}"))
    if known.removed_at is not None:
        yield warn(f"       {removed_line(known.removed_at, known.deleted_at)}")
    if known.deleted_at is None:
        yield from (f"       {line}" for line in _sentence(known).split("\n"))
    asked = " ".join(filter(None, (known.model or "no model", known.prompt_version)))
    yield f"model  {asked}, {known.confidence:.0%} sure"
    yield from [f"why    {known.told}"] if known.told else []
    happened = (
        f"{age(row.at, now)}  {EVENTS.get(row.event, row.event.replace('_', ' '))} by {author_name(row.changed_by)}"
        for row in history
    )
    yield from (dim(f"       {one}") for one in dict.fromkeys(happened))
    if known.deleted_at is None:
        yield dim(f"nuggets pipeline text {known.raw_id} shows the whole text")


def _sentence(known: Origin) -> str:
    """The sentence of the text; the whole text where none is known."""
    return known.content[slice(*(known.span or (0, len(known.content))))].strip()


@note.add(
    "hints", arg("id"), opt("--remove", "N|TEXT", "Remove this hint, by number or text; repeatable.", multiple=True),
    examples=('nuggets note hints "JWT format"', 'nuggets note hints "JWT format" --remove 2'),
)  # fmt: skip
def hints(call: Invocation, id: str, remove: tuple[str, ...]) -> None:
    """List the questions that also find a note. A model writes them if `pipeline.hints.enabled` is set.

    A question you remove no longer finds the note, even after the hints are made again. nuggets undo puts it back.
    """
    found = call.memory.snapshot.resolve(id)
    done = known = None
    with call.pipeline() as pipeline:
        if pipeline is not None:
            known = pipeline.hints(found.id)
        if remove:
            if pipeline is None or known is None:
                raise NotFoundError("the note has no hints", where=found.id, kept="nothing was changed")
            # By their number, from 1, or their text.
            meant = {one.casefold(): one for one in known.hints}
            meant |= {str(number): one for number, one in enumerate(known.hints, 1)}
            for one in remove:
                if one.strip().casefold() not in meant:
                    raise NotFoundError("the note has no such hint", where=one, kept="nothing was changed")
            done = pipeline.remove_hints(found.id, [meant[one.strip().casefold()] for one in remove])
            known = pipeline.hints(found.id)
    document = {
        "noteId": found.id, "enabled": known is not None and known.enabled, "made": known is not None and known.made,
        "hints": known.hints if known else (), "removed": known.removed if known else (),
        "changeSet": done.id if done is not None else None,
    }  # fmt: skip
    said = [f"{done.reason[:1].upper()}{done.reason[1:]}.", *undo_line(done.id)] if done else []
    call.answer(document, [*said, bold(found.title), *_hint_lines(known)])


def _hint_lines(found: NoteHints | None) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import HINTS_OFF, hints_state

    if found is not None:
        yield from (f"{number:>2}  {hint}" for number, hint in enumerate(found.hints, 1))
        yield from (dim(f" –  {hint}  (removed)") for hint in found.removed)
    said = hints_state(found) if found is not None else HINTS_OFF
    yield from [dim(said)] if said else []


# How notes are answered


def _document(call: Invocation, note: Note) -> dict[str, Any]:
    """A note as its file has it; its vector recipe, which tells a reader nothing, only where it was asked for."""
    from core.model.note import to_file_dict

    document = to_file_dict(note)
    if not call.with_vectors:
        del document["vector"]
    of_team = {} if call.team is None else {"whose": "team", "file": verbs.page_of(call.team, note)}
    return document | of_team


def _files(call: Invocation, *notes: Note, changed: bool = False) -> list[Line]:
    """The files of the team's notes, and how a change of them is undone: in the history of one's own it is not."""
    if call.team is None:
        return []
    files = [file for note in notes if (file := verbs.page_of(call.team, note))]
    undo = [dim(f"To undo it: {_undo(call)}")] if changed else []
    return [warn(f"team: {', '.join(files) or call.team.folder}"), *undo]


def _undo(call: Invocation) -> str:
    """The command that undoes what was done."""
    home = "" if call.team is None else f"--home {shlex.quote(str(call.team.folder))} "
    return f"nuggets {home}undo"


def _answer_note(call: Invocation, note: Note, done: str, *also: str, written: bool = False) -> None:
    """Answers with a note. written: its title or text was typed, so that what looks like a credential is said."""
    said = (f"{done} ", bold(note.title), " ".join(filter(None, (f" ({note.id}).", *also))))
    cautions = verbs.warnings_of(note) if written else ()
    call.answer(lambda: _document(call, note), [said, *_files(call, note, changed=True)], cautions)


def _answer_pair(call: Invocation, pair: tuple[Note, ...], done: str, then: str = ".") -> None:
    said = (f"{done} ", bold(pair[0].title), " and ", bold(pair[1].title), then)
    call.answer(lambda: [_document(call, one) for one in pair], [said, *_files(call, *pair, changed=True)])


def _note_lines(call: Invocation, note: Note) -> Iterator[Line]:
    """One note in full: what it is, its content, its links."""
    from core.graph.neighbours import neighbours

    yield bold(note.title)
    nugget, sure = f"nugget {note.nugget_name}", f"confidence {note.confidence:.2f}"
    facts = (note.id, nugget, note.scope, note.type, note.stability, sure, note.source)
    yield dim(" · ".join(filter(None, facts)))
    happened = (
        f"hidden {(note.archived_at or '')[:10]}".rstrip() if note.hidden else "",
        f"recalled {note.hits}×" if note.hits else "never recalled",
        f"changed {note.updated_at[:10]}" if note.updated_at else "",
        f"created {note.created_at[:10]}" if note.created_at else "",
    )
    yield dim(" · ".join(filter(None, happened)))
    tags = custom_tags(note)
    yield from [f"tags: {', '.join(tags)}"] if tags else []
    yield from ["", *note.content.split("\n")] if note.content else []
    around = neighbours(call.memory.snapshot, note.id)
    linked = [("→", *one) for one in around.outgoing] + [("←", *one) for one in around.incoming]
    yield from [""] if linked else []
    for arrow, other, link in linked:
        hidden = warn("  hidden" if other.hidden else "")
        yield (f"{arrow} ", other.title, dim(f"  {link.reason}"), dim(f"  {other.id}"), hidden)
