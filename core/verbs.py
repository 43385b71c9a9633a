"""Verbs: what people and agents do to a memory, by command, by tool or in the app.

Each takes plain arguments, makes one change of the history, and returns a record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from core.errors import (
    BrokenFileError,
    ErrorCode,
    InvalidInputError,
    NotFoundError,
    Remedy,
    StorageError,
    remedy_for,
)
from core.folder import GRAPH_FILE, pages_named
from core.model.note import normalise_tag

if TYPE_CHECKING:
    from core.graph.merging import MergeChoices
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.draft import Draft
    from core.model.infer import MetaInput
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.pipeline.records import AddedDocument
    from core.pipeline.service import Pipeline


# Characters of a note that is named beside another.
_LONGEST_HELD: Final = 120
NOTHING_SAVED: Final = "nothing was saved"
_TAG_SIGNS: Final = ("#", "+")


class Remembered(NamedTuple):
    """A fact that was stored. former: its value before, None for a new key. like: another one of nearly this key."""

    note: Note
    former: str | None
    change_set: ChangeSet
    like: Note | None = None


class Added(NamedTuple):
    """A new note. like: another one of nearly this title, in the same nugget."""

    note: Note
    change_set: ChangeSet
    like: Note | None = None


class Caution(NamedTuple):
    """A warning beside what was done. code: always "credential". id: what it is about, as `nuggets secrets` takes it.
    kinds: of the credentials.
    """

    code: str
    message: str
    id: str
    kinds: tuple[str, ...]


class Done(NamedTuple):
    """Notes as they were written, and what changed of them; an empty change set where all was so already."""

    notes: tuple[Note, ...]
    change_set: ChangeSet

    def changed(self, note: Note) -> bool:
        """Whether the note is another one than before."""
        return any(change.id == note.id for change in self.change_set.notes)


def with_graph(memory: Memory) -> Memory:
    """The memory, whose notes can be read. Raises BrokenFileError where they cannot."""
    if memory.snapshot.graph_problem:
        graph = memory.home / GRAPH_FILE
        mends = graph.is_file() and os.access(graph, os.R_OK)
        raise BrokenFileError(
            memory.snapshot.graph_problem, where=str(graph), kept="it is unchanged",
            remedy=Remedy("repair") if mends else Remedy("verify"), todo="facts and recall still work",
        )  # fmt: skip
    return memory


class Held(NamedTuple):
    """Notes and the memory that has them. team: whether it is that of a team, beside one's own."""

    memory: Memory
    notes: tuple[Note, ...]
    team: bool

    @property
    def ids(self) -> list[str]:
        return [note.id for note in self.notes]


def held(memory: Memory, *texts: str) -> Held:
    """The notes that texts name, as `Memory.holding` finds them. Errors as there, and InvalidInputError where some are
    one's own and some the team's: a link or a merge over both would hold for nobody else of the team.
    """
    found = [memory.search.holding(text) for text in texts]
    holders = {id(holder): holder for holder, _ in found}
    if len(holders) > 1:
        raise InvalidInputError(
            "some of these notes are yours and some are the team's",
            where=", ".join(texts),
            kept="nothing was changed",
            todo="name notes of one of the two",
        )
    holder = next(iter(holders.values()), memory)
    return Held(holder, tuple(note for _, note in found), holder is not memory)


def page_of(memory: Memory, note: Note) -> str:
    """The file that a note is, in a memory of pages; "" in others, and for one that is taken out of the folder."""
    if memory.pages is None or note.page is None:
        return ""
    return str(memory.pages / note.page.file)


def check_facts(memory: Memory) -> None:
    """Raises InvalidInputError for a memory that has no place for facts."""
    if memory.pages is not None:
        raise InvalidInputError(
            f"{pages_named(memory.pages)} hold no facts, only notes",
            code=ErrorCode.NO_PLACE,
            where=str(memory.pages),
            kept="nothing was changed",
        )


def remember(memory: Memory, nugget: str, key: str, value: str, *, by_agent: bool = False) -> Remembered:
    """Stores a fact, where `filing` says; an existing key gets the new value. Errors as there, as
    `core.facts.edits.remember` and `Memory.change`.
    """
    from core.facts import edits
    from core.model.infer import MetaInput

    check_facts(memory)
    nugget, meta = filing(memory, nugget, key, value, MetaInput(), by_agent=by_agent)
    like = _alike(memory.snapshot, nugget, key)
    former: list[str] = []

    def store(draft: Draft) -> Note:
        there = draft.nugget(nugget)
        known = there.find(key.strip()) if there else None
        former[:] = [known[1].value] if known else []
        return edits.remember(draft, nugget, key, value, None if known else meta)

    known_nuggets = memory.snapshot.nugget_names
    made, change_set = memory.change(f"remembered {key!r}", store)
    memory.note_written(made, known_nuggets)
    return Remembered(made, former[0] if former else None, change_set, None if former else like)


def second_one(like: Note | None) -> str:
    """Says that something of nearly this name is there already; "" for none."""
    if like is None:
        return ""
    held = " ".join(like.content.split())
    held = held if len(held) <= _LONGEST_HELD else f"{held[: _LONGEST_HELD - 1]}…"
    return f"{like.title} exists: {held} [{like.id}]; this is a second one."


def forget(memory: Memory, nugget: str, key: str) -> tuple[Note | None, ChangeSet]:
    """Takes a fact out of recall; its note, hidden now, or None for no such key. Errors as `Memory.change`."""
    from core.facts import edits

    check_facts(memory)
    return memory.change(f"forgot {key!r}", lambda draft: edits.forget(draft, nugget, key))


def add_note(
    memory: Memory,
    nugget: str,
    title: str,
    content: str,
    tags: Sequence[str],
    meta: MetaInput,
    *,
    by_agent: bool = False,
) -> Added:
    """Writes a new note, where `filing` says; tags as typed. Errors as there, as `core.graph.edits.create_note` and
    `Memory.change`.
    """
    from core.graph import edits

    _check_says_something(content)
    nugget, meta = filing(memory, nugget, title, content, meta, by_agent=by_agent)
    like = _alike(memory.snapshot, nugget, title)
    typed = tags_of(None, tags)
    known_nuggets = memory.snapshot.nugget_names
    made, change_set = memory.change(
        f"added {title!r}",
        lambda draft: edits.create_note(draft, nugget, title, content, tags=typed, meta=meta),
    )
    memory.note_written(made, known_nuggets)
    return Added(_current(memory, made), change_set, like)


def filing(
    memory: Memory, given: str, title: str, content: str, meta: MetaInput, *, by_agent: bool
) -> tuple[str, MetaInput]:
    """The nugget that a text goes to and what is known of it, as an agent writes: to the project at hand, unless it is
    about the person (`core.model.infer.scope_of`). What a person names is taken as given. by_agent: whoever writes is
    an agent, whatever its name.

    Raises InvalidInputError for a name that is nearly one of the memory's.
    """
    from core.model.infer import holds_here, infer_meta
    from core.model.names import PERSONS_NUGGETS

    here = memory.standpoint
    by_agent = by_agent or memory.author.is_known_agent
    if memory.pages is not None or (given and not by_agent):
        return given, meta
    if here is None:
        return nugget_named(memory, given, ""), meta
    if given.casefold() in PERSONS_NUGGETS and holds_here(f"{title}: {content}"):
        given = ""
    nugget = nugget_named(memory, given, here.nugget)
    if meta.scope is None and nugget.casefold() not in PERSONS_NUGGETS and not here.owner_of(nugget):
        rules = memory.settings.inference
        found = infer_meta("note", title, content, (), meta, rules, nugget=nugget, by_agent=True)
        meta = replace(meta, scope=found.scope, type=found.type if found.scope == "user" else meta.type)
    return nugget, meta


def nugget_named(memory: Memory, given: str, usual: str) -> str:
    """The nugget that is given, else the usual one, as the memory spells it; "" for none.

    Raises InvalidInputError for a name that is nearly one of the memory's.
    """
    name = given.strip() or usual
    names = {known.casefold(): known for known in memory.snapshot.nugget_names}
    folded = name.casefold()
    if folded in names or not given.strip() or folded == usual.casefold():
        return names.get(folded, name)
    near = next((known for other, known in names.items() if _misspelt(folded, other)), "")
    if near:
        raise InvalidInputError(
            f"there is no nugget {name!r}", field="nugget", where="nugget",
            kept="nothing was written", todo=f"did you mean {near}?",
        )  # fmt: skip
    return name


def _misspelt(name: str, known: str) -> bool:
    """Whether a name is another one with a slip in it: of names with numbers each is meant."""
    from rapidfuzz.distance import OSA

    if sorted(filter(str.isdigit, name)) != sorted(filter(str.isdigit, known)):
        return False
    if len(name) < 5:
        return len(name) > 2 and sorted(name) == sorted(known)
    return OSA.normalized_similarity(name, known) >= 0.8


def _alike(snapshot: Snapshot, nugget: str, title: str) -> Note | None:
    """The note of a nugget whose key or title is nearly, but not quite, this one; None for none."""
    from rapidfuzz.fuzz import token_sort_ratio
    from rapidfuzz.process import extractOne

    folded = title.strip().casefold()
    known = {
        note.title.casefold(): note
        for note in snapshot.visible
        if note.nugget_name == nugget and not (note.is_fact and note.title.casefold() == folded)
    }
    best = extractOne(folded, known.keys(), scorer=token_sort_ratio, score_cutoff=85)
    return known[best[0]] if best else None


def _check_says_something(content: str) -> None:
    """In the app a title may say all; a command or a call without a text has lost it."""
    if not content.strip():
        raise InvalidInputError(
            "the note has no text", code=ErrorCode.EMPTY, field="content", where="content",
            kept="nothing was written",
        )  # fmt: skip


def edit_note(
    memory: Memory,
    id: str,
    *,
    content: str | None,
    title: str | None,
    add_tags: Sequence[str],
    remove_tags: Sequence[str],
    meta: MetaInput,
    link_to: str = "",
) -> Done:
    """Changes what was given of a note, named as `Snapshot.resolve` reads it; tags as typed. link_to: another note that
    is linked with it. Errors as `check_edit`, `core.graph.edits` and `Memory.change`.
    """
    from core.graph import edits

    if not link_to:
        check_edit(id, content, title, add_tags, remove_tags, meta)
    if content is not None:
        _check_says_something(content)
    note = memory.snapshot.resolve(id)
    added, off = tags_of(note, add_tags), tags_of(note, remove_tags)

    def edit(draft: Draft) -> Note:
        made = edits.edit_note(
            draft, note.id, content=content, title=title, add_tags=added, remove_tags=off, meta=meta
        )
        return edits.link_notes(draft, note.id, link_to, "related")[0] if link_to else made

    made, change_set = memory.change(f"edited {note.title!r}", edit)
    if content is not None:
        memory.note_written(made, memory.snapshot.nugget_names)
    return Done((_current(memory, made),), change_set)


def check_edit(
    id: str,
    content: str | None,
    title: str | None,
    add_tags: Sequence[str],
    remove_tags: Sequence[str],
    meta: MetaInput,
) -> None:
    """Raises InvalidInputError where nothing of a note was given to change."""
    if content is None and title is None and not add_tags and not remove_tags and not meta.given:
        raise InvalidInputError(
            "no change was given", code=ErrorCode.EMPTY, field="change", where=id,
            kept="the note is unchanged", todo="see --help",
        )  # fmt: skip


def edit_each(memory: Memory, ids: Sequence[str], done: str, edit_one: Callable[[Draft, str], Note]) -> Done:
    """Edits several notes as one change: all of them or, when one is not there, none. done: how the log calls it."""
    snapshot = memory.snapshot
    meant = list(dict.fromkeys(snapshot.resolve(id).id for id in ids))
    title = snapshot.note(meant[0]).title
    reason = f"{done} {title!r}" if len(meant) == 1 else f"{done} {len(meant)} notes"
    edited, change_set = memory.change(reason, lambda draft: [edit_one(draft, id) for id in meant])
    return Done(tuple(_current(memory, note) for note in edited), change_set)


def link(memory: Memory, a: str, b: str, reason: str) -> Done:
    """Links two notes, both ways. Errors as `core.graph.edits.link_notes` and `Memory.change`."""
    from core.graph import edits

    first, second = memory.snapshot.resolve(a), memory.snapshot.resolve(b)
    pair, change_set = memory.change(
        f"linked {first.title!r} and {second.title!r}: {reason}",
        lambda draft: edits.link_notes(draft, first.id, second.id, reason),
    )
    return Done(tuple(_current(memory, note) for note in pair), change_set)


def unlink(memory: Memory, a: str, b: str, reason: str | None) -> Done:
    """Removes the links between two notes, or only the one with a reason. Errors as `link`."""
    from core.graph import edits

    first, second = memory.snapshot.resolve(a), memory.snapshot.resolve(b)
    pair, change_set = memory.change(
        f"unlinked {first.title!r} and {second.title!r}",
        lambda draft: edits.unlink_notes(draft, first.id, second.id, reason),
    )
    return Done(tuple(_current(memory, note) for note in pair), change_set)


def merge(memory: Memory, survivor: str, other: str, choices: MergeChoices) -> Done:
    """Merges a note into another, which alone is returned. Errors as `core.graph.merging.merge_notes`."""
    from core.graph.merging import merge_notes

    kept, gone = memory.snapshot.resolve(survivor), memory.snapshot.resolve(other)
    made, change_set = memory.change(
        f"merged {gone.title!r} into {kept.title!r}",
        lambda draft: merge_notes(draft, kept.id, gone.id, choices=choices),
    )
    return Done((_current(memory, made),), change_set)


def not_duplicates(memory: Memory, a: str, b: str) -> Done:
    """Keeps the cleanup from proposing to merge two notes. Raises InvalidInputError for one note, and a hidden one."""
    from core.reflection.proposals import not_duplicates, refuse

    first, second = memory.snapshot.resolve(a), memory.snapshot.resolve(b)
    if first.id == second.id:
        raise InvalidInputError("both are the same note", where=first.id, kept="nothing was changed")
    refused, change_set = memory.change(
        f"{first.title!r} and {second.title!r} are no duplicates",
        lambda draft: refuse(draft, [not_duplicates(first, second)]),
    )
    if not refused:
        raise InvalidInputError(
            "a hidden note cannot be merged", where=f"{first.id}, {second.id}", kept="nothing was changed"
        )
    return Done((_current(memory, first), _current(memory, second)), change_set)


def delete(memory: Memory, id: str) -> ChangeSet:
    """Deletes a note, its fact and the links to it. Errors as `Memory.change`."""
    from core.graph import edits

    note = memory.snapshot.resolve(id)
    return memory.change(f"deleted {note.title!r}", lambda draft: edits.delete_note(draft, note.id))[1]


def forget_all(memory: Memory, nugget: str) -> int:
    """Forgets every fact of a nugget; how many there were. Errors as `Memory.change`."""
    from core.facts import edits

    return memory.change(f"cleared {nugget}", lambda draft: edits.clear(draft, nugget))[0]


def typed_tag(typed: str, known: Collection[str] = ()) -> str:
    """A tag without the one # or + that people put before it; as typed where `known` holds it so."""
    if normalise_tag(typed) in known:
        return typed
    tag = typed.lstrip()
    return tag[1:] if tag.startswith(_TAG_SIGNS) and len(tag) > 1 else typed


def tags_of(note: Note | None, typed: Sequence[str]) -> list[str]:
    """Tags as typed, several with commas between them; those that the note bears as it has them."""
    known = note.tags if note is not None else ()
    parts = (part for tag in typed for part in ([tag] if normalise_tag(tag) in known else tag.split(",")))
    return [typed_tag(tag.strip(), known) for tag in parts if tag.strip()]


def check_fact_file(snapshot: Snapshot, nugget: str) -> None:
    """Raises NotFoundError for a nugget of which only notes are there."""
    notes = [note for note in snapshot.notes if note.nugget_name == nugget]
    if nugget in snapshot.by_name or not notes:
        return
    if any(note.is_fact and not note.hidden for note in notes):
        raise NotFoundError(
            "its fact file is missing, but the notes of its facts are there", remedy=Remedy("repair-facts"),
            where=nugget, kept="nothing was changed",
        )  # fmt: skip
    raise NotFoundError("this nugget has notes, but no facts", where=nugget)


def related(snapshot: Snapshot, note_id: str | None) -> list[tuple[Note, str]]:
    """Visible notes linked with one, each once, with the reasons."""
    if note_id is None or note_id not in snapshot.by_id:
        return []
    from core.graph.neighbours import neighbours

    around = neighbours(snapshot, note_id)
    reasons: dict[str, list[str]] = {}
    for other, link in (*around.outgoing, *around.incoming):
        if not other.hidden:
            reasons.setdefault(other.id, []).append(link.reason)
    return [(snapshot.by_id[id], "; ".join(dict.fromkeys(said))) for id, said in reasons.items()]


def _current(memory: Memory, note: Note) -> Note:
    """The note as it was written; another program's change of the moment before may be in it."""
    return memory.snapshot.by_id.get(note.id, note)


# Warnings


def warnings_of(note: Note) -> list[Caution]:
    """The warning of a note as it was written; none where somebody said that what it holds is no credential."""
    from core.model.secrets import secrets_of

    kinds = tuple(dict.fromkeys(held.kind for held in secrets_of(note)))
    return credential_warning("fact" if note.is_fact else "note", note.id, kinds)


def credential_warning(what: str, id: str, kinds: Sequence[str], safe: str = "") -> list[Caution]:
    """The warning of what was found in a thing of the memory, if anything was. safe: what is not in danger."""
    if not kinds:
        return []
    message = (
        f"this {what} looks like it holds a credential ({', '.join(kinds)}){safe}; to mask it: nuggets secrets --mask "
        f"{id}; to allow it: nuggets secrets --none {id}"
    )
    return [Caution("credential", message, id, tuple(kinds))]


# Documents


def add_document(
    pipeline: Pipeline, source: str, *, title: str = "", nugget: str = "", project: str = ""
) -> AddedDocument:
    """Adds the file or the page that a path or an address names. Raises InvalidInputError, StorageError."""
    if source.strip().lower().startswith(("http://", "https://")):
        return pipeline.documents.add("url", source.strip(), title=title, nugget=nugget, project=project)
    if not source.strip():
        raise InvalidInputError(
            "the name is empty", code=ErrorCode.EMPTY, where="FILE", kept=NOTHING_SAVED, todo="give a file"
        )
    try:
        path = Path(source).expanduser().resolve()
        with path.open("rb") as stream:
            # One byte more than may be says that it is too long.
            data = stream.read(pipeline.configuration.documents.max_content_bytes + 1)
    except (OSError, RuntimeError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = remedy_for(error, Path())
        raise StorageError(
            f"cannot be read ({said})", remedy=remedy, where=source, kept=NOTHING_SAVED,
            todo="" if remedy else "give another file, an address, or -",
        ) from error  # fmt: skip
    return pipeline.documents.add("file", str(path), data, title=title, nugget=nugget, project=project)
