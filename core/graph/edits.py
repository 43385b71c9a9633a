"""Edits of notes, of one or of many: each lays one change over a draft; a fact and its note change together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from core.errors import ConflictError, ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.model.build import as_hidden_fact, as_visible_fact, new_note
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.infer import MetaInput, infer_stability, subject_of
from core.model.names import DEFAULT_NUGGET, check_nugget_name
from core.model.note import (
    METADATA_FIELDS,
    HiddenFact,
    Link,
    Note,
    custom_tags,
    normalise_tag,
    replace,
    with_system_tags,
)
from core.text.normalise import normalise_content, normalise_line, squeeze
from core.text.wiki import is_slug, with_renamed_links

MERGED_INTO = "mergedInto"
GIVEN_HITS_TO = "mergedHits"
# The reason of a link for which nobody gave one.
RELATED = "related"


def create_note(
    draft: Draft,
    nugget: str,
    title: str,
    content: str,
    *,
    tags: Iterable[str] = (),
    meta: MetaInput | None = None,
) -> Note:
    """Creates a note in a nugget. A note from an agent gets the source of an agent, not of the user.

    Raises InvalidInputError for an empty title, or a name that no nugget can have.
    """
    nugget = nugget or (draft.team.nugget if draft.team is not None else DEFAULT_NUGGET)
    known = draft.nugget_names()
    check_nugget_name(nugget, () if nugget in known else known)
    title = _title(title)
    content = normalise_content(content)
    given = tuple(filter(None, map(normalise_tag, tags)))
    by_agent = draft.author.is_known_agent
    return new_note(draft, "note", nugget, title, content, tags=given, meta=meta, by_agent=by_agent)


def edit_note(
    draft: Draft,
    id: str,
    *,
    content: str | None = None,
    title: str | None = None,
    tags: Iterable[str] | None = None,
    add_tags: Iterable[str] = (),
    remove_tags: Iterable[str] = (),
    meta: MetaInput | None = None,
    rewritten: bool = False,
) -> Note:
    """Changes the given fields of a note. A visible fact note carries the change into its fact.

    `tags` replaces all tags but nugget, scope and type. `rewritten` marks the work of reflection. Raises
    NotFoundError, InvalidInputError, and ConflictError when a fact's new title is another fact's key.
    """
    before = after = existing(draft, id)
    if content is not None and content != before.content:
        after = replace(after, content=normalise_content(content))
    if title is not None and title != before.title:
        after = replace(after, title=_title(title))
    after = replace(after, **(meta or MetaInput()).checked().given)
    after = replace(after, tags=_edited_tags(before, tags, add_tags, remove_tags))
    if before.is_fact and (after.title, after.content) != (before.title, before.content):
        after = _carry_to_fact(draft, before, after)
    fields = ("title", "content", "source_key", "hidden_fact", *METADATA_FIELDS)
    same = all(getattr(before, name) == getattr(after, name) for name in fields)
    if same and with_system_tags(before) == with_system_tags(after):
        return before
    after = replace(after, updated_at=draft.at, **({"last_rewritten_at": draft.at} if rewritten else {}))
    if before.page is not None and after.title != before.title:
        _rename_links(draft, before, after.title)
    return draft.put(after)


def _rename_links(draft: Draft, note: Note, title: str) -> None:
    """Has other pages link to the new title of a page that they know by its old one."""
    assert note.page is not None
    stem = note.page.file.rpartition("/")[2].rpartition(".")[0]
    named = re.search(rf"""(?m)^name:[ \t]*(["']?){re.escape(note.title)}\1[ \t]*\r?$""", note.page.text)
    # A name without spaces stays in the page beside its title: it is what Claude Code knows it by.
    if note.title.casefold() == stem.casefold() or (named and is_slug(note.title)):
        return
    for other in tuple(draft.notes()):
        if other.page is not None and other.id != note.id and not other.hidden:
            content = with_renamed_links(other.content, note.title, title)
            if content != other.content:
                draft.put(replace(other, content=content, updated_at=draft.at))


def _edited_tags(
    note: Note, tags: Iterable[str] | None, add: Iterable[str], remove: Iterable[str]
) -> tuple[str, ...]:
    kept = note.tags
    if tags is not None:
        own = custom_tags(note)
        wanted = tuple(dict.fromkeys(filter(None, map(normalise_tag, tags))))
        if set(wanted) != set(own):
            system = [tag for tag in note.tags if tag not in own]
            nugget = normalise_tag(note.nugget_name)
            kept = (nugget, *wanted, *(tag for tag in system if tag != nugget))
    unwanted = custom_tags(replace(note, tags=tuple(map(normalise_tag, remove))))
    return tuple(
        dict.fromkeys(tag for tag in (*kept, *filter(None, map(normalise_tag, add))) if tag not in unwanted)
    )


def _carry_to_fact(draft: Draft, before: Note, after: Note) -> Note:
    """Brings a fact note's new title and content into its fact (or into the fact that hiding put aside)."""
    if not after.content:
        raise InvalidInputError(
            "a fact needs a value", code=ErrorCode.EMPTY, field="content", where=before.id,
            kept="nothing was changed", todo="to remove the fact, hide or delete its note",
        )  # fmt: skip
    renamed, changed = before.title != after.title, before.content != after.content
    if renamed:
        after = replace(after, source_key=after.title)
    found = draft.find_fact(before.nugget_name, before.key) if not before.hidden else None
    former = before.hidden_fact if before.hidden else found and found[1]
    if former is None:
        return after
    key = after.title if renamed else former.key
    fields = {"key": key, "value": after.content if changed else former.value}
    if isinstance(former, HiddenFact):
        return replace(after, hidden_fact=msgspec.structs.replace(former, **fields))
    other = draft.find_fact(before.nugget_name, after.title if renamed else before.key)
    if other is not None and other[1].key != former.key:
        raise ConflictError(
            f"the nugget {before.nugget_name} already has a fact {key!r}", code=ErrorCode.NAME_TAKEN, field="title",
            where=before.id, kept="both facts are unchanged", todo="choose another title or edit that fact",
            ours=after.content, theirs=other[1].value,
        )  # fmt: skip
    draft.rename_fact(before.nugget_name, former.key, msgspec.structs.replace(former, **fields))
    return after


def hide_note(draft: Draft, id: str) -> Note:
    """Hides a note. A fact leaves its file and is kept inside the note, so that it can come back whole."""
    note = existing(draft, id)
    if note.hidden:
        return note
    taken = _take_fact(draft, note) if note.is_fact else None
    kept = {"hidden_fact": as_hidden_fact(taken[1], taken[0])} if taken is not None else {}
    return draft.put(replace(note, hidden=True, archived_at=draft.at, **kept))


def _take_fact(draft: Draft, note: Note) -> tuple[int, Fact] | None:
    """Takes the note's fact out, unless another visible note mirrors the same fact."""
    found = draft.find_fact(note.nugget_name, note.key)
    if found is None:
        return None
    mirrors = draft.fact_notes(note.nugget_name, found[1].key, hidden=False)
    if any(other.id != note.id for other in mirrors):
        return None
    return draft.take_fact(note.nugget_name, found[1].key)


def unhide_note(draft: Draft, id: str) -> Note:
    """Shows a hidden note again, with its fact at its former place. Raises ConflictError when its key is taken."""
    note = existing(draft, id)
    if not note.hidden:
        return note
    if (note.is_fact or note.hidden_fact is not None) and _has_fact(draft, note):
        _restore_fact(draft, note)
    extra = {name: value for name, value in note.extra.items() if name != MERGED_INTO}
    return draft.put(replace(note, hidden=False, archived_at=None, hidden_fact=None, extra=extra))


def _has_fact(draft: Draft, note: Note) -> bool:
    """Whether a fact note's nugget is, or may become, a file. Raises InvalidInputError when a fact waits for none.

    Another program may name a nugget as no file can be named; hiding such a note took no fact out of any file.
    """
    if draft.has_nugget(note.nugget_name):
        return True
    try:
        check_nugget_name(note.nugget_name, draft.nugget_names())
    except InvalidInputError as error:
        if note.hidden_fact is None:
            return False
        what = "its fact cannot be restored: the nugget has no file and none can be created"
        todo = "store the fact in another nugget"
        raise InvalidInputError(f"{what} ({error.message})", where=note.id, todo=todo) from error
    return True


def _restore_fact(draft: Draft, note: Note) -> None:
    """Puts the fact of a hidden note back into its file, unless it is there: a crash, or the original, left it."""
    kept, index = note.hidden_fact, None
    fact = Fact(key=note.key, value=note.content, hits=note.hits, last_hit_session=note.last_hit_session)
    if kept is not None:
        fact, index = as_visible_fact(kept), kept.index
    there = draft.find_fact(note.nugget_name, fact.key)
    if there is None:
        draft.put_fact(note.nugget_name, fact, index)
        return
    mirrored = bool(draft.fact_notes(note.nugget_name, there[1].key, hidden=False))
    if squeeze(there[1].value) != squeeze(fact.value) or (kept is not None and mirrored):
        raise ConflictError(
            f"the nugget {note.nugget_name} has a new fact with the key {fact.key!r}", code=ErrorCode.NAME_TAKEN,
            where=note.id, kept="the new fact and the hidden note are unchanged",
            todo="edit or forget the new fact first", ours=fact.value, theirs=there[1].value,
        )  # fmt: skip


def delete_note(draft: Draft, id: str) -> None:
    """Takes a note out of the files, its fact and the links to it as well."""
    note = existing(draft, id)
    if note.is_fact and not note.hidden:
        _take_fact(draft, note)
    pointing = draft.holders(id)
    draft.remove(id)
    for other in pointing:
        draft.put(other)


def link_notes(draft: Draft, a: str, b: str, reason: str = RELATED) -> tuple[Note, Note]:
    """Links two notes both ways; the same link (target and reason) is not made twice.

    "related" says no more than any other reason: notes that are linked already get no such link beside it.
    """
    reason = normalise_line(reason) or RELATED
    if a == b:
        raise InvalidInputError("a note cannot be linked to itself", where=a, kept="nothing was changed")
    for one in _to_hold(existing(draft, a), existing(draft, b), reason):
        _add_link(draft, a, b, one)
        _add_link(draft, b, a, one)
    return existing(draft, a), existing(draft, b)


def already_linked(first: Note, second: Note, reason: str = RELATED) -> bool:
    """Whether linking two notes for a reason would change nothing."""
    wanted = _to_hold(first, second, normalise_line(reason) or RELATED)
    return all(_holds(first, second.id, one) and _holds(second, first.id, one) for one in wanted)


def link_reasons(first: Note, second: Note) -> tuple[str, ...]:
    """The reasons of the links between two notes, in either direction, each once."""
    reasons = [link.reason for link in first.links if link.to == second.id]
    reasons += [link.reason for link in second.links if link.to == first.id]
    return tuple(dict.fromkeys(reasons))


def _to_hold(first: Note, second: Note, reason: str) -> tuple[str, ...]:
    """The reasons for which both notes are to link to each other."""
    return (link_reasons(first, second) if reason == RELATED else ()) or (reason,)


def _holds(note: Note, target: str, reason: str) -> bool:
    # White space makes no other reason: a save of another program may squeeze it.
    reason = squeeze(reason)
    return any(link.to == target and squeeze(link.reason) == reason for link in note.links)


def _add_link(draft: Draft, holder: str, target: str, reason: str) -> None:
    note, other = existing(draft, holder), existing(draft, target)
    if not _holds(note, other.id, reason):
        links = (*note.links, Link(to=other.id, reason=reason, created_at=draft.at))
        draft.put(replace(note, links=links, updated_at=draft.at))


def unlink_notes(draft: Draft, a: str, b: str, reason: str | None = None) -> tuple[Note, Note]:
    """Removes the links between two notes, or the one with this reason. Raises NotFoundError if there is none."""
    first, second = existing(draft, a), existing(draft, b)
    reason = normalise_line(reason) if reason is not None else None
    kept_a, kept_b = _without(first, b, reason), _without(second, a, reason)
    if kept_a == first.links and kept_b == second.links:
        raise NotFoundError(
            "these notes are not linked", field="link", where=f"{a} and {b}", kept="nothing was changed"
        )
    return (
        draft.put(replace(first, links=kept_a, updated_at=draft.at)),
        draft.put(replace(second, links=kept_b, updated_at=draft.at)),
    )


def _without(note: Note, target: str, reason: str | None) -> tuple[Link, ...]:
    return tuple(
        link
        for link in note.links
        if link.to != target or (reason is not None and normalise_line(link.reason) != reason)
    )


def existing(draft: Draft, id: str) -> Note:
    """The note as the draft has it. Raises NotFoundError."""
    found = draft.note(id)
    if found is None:
        raise NotFoundError("no such note", field="note", where=id, kept="nothing was changed")
    return found


def _title(title: str) -> str:
    tidy = normalise_line(title)
    if not tidy:
        raise InvalidInputError(
            "a title cannot be empty", code=ErrorCode.EMPTY, field="title", kept="nothing was written",
            todo="give a title",
        )  # fmt: skip
    return tidy


# Many notes at once, laid over one draft note by note, so that they are one change set

EditOne = Callable[[Draft, str], object]
"""Edits the note of an id; it leaves the draft as it was when it raises."""


class EditedEach(NamedTuple):
    """The result of editing many notes: ids of those that changed, in the order given, and why others could not be
    edited.
    """

    changed: tuple[str, ...]
    refused: tuple[tuple[str, NuggetsError], ...]


def edit_each(
    draft: Draft, ids: Iterable[str], edit: EditOne, *, report: Callable[[int], object] | None = None
) -> EditedEach:
    """Edits each of some notes; one that cannot be edited does not stop the others. tell: called before each note with
    how many are done; an exception from it ends the work.
    """
    changed: list[str] = []
    refused: list[tuple[str, NuggetsError]] = []
    for done, id in enumerate(dict.fromkeys(ids)):
        if report is not None:
            report(done)
        before = draft.note(id)
        try:
            edit(draft, id)
        except NuggetsError as error:
            refused.append((id, error))
        else:
            if draft.note(id) is not before:
                changed.append(id)
    return EditedEach(tuple(changed), tuple(refused))


def move_to_scope(draft: Draft, id: str, *, scope: str) -> Note:
    """Moves a note to another scope. What was inferred from the scope follows it: whom it is about, how long it lasts.

    A subject or a stability that somebody chose stays. Raises NotFoundError, InvalidInputError for an unknown scope.
    """
    note = existing(draft, id)
    MetaInput(scope=scope).checked()
    inferred = infer_stability(note.scope, note.title, draft.rules)
    subject = subject_of(scope) if note.subject == subject_of(note.scope) else None
    stability = infer_stability(scope, note.title, draft.rules) if note.stability == inferred else None
    return edit_note(draft, id, meta=MetaInput(scope=scope, subject=subject, stability=stability))
