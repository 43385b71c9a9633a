"""Rules about notes by themselves: what a write corrects, and what only a person can put right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from core.errors import InvalidInputError, Restore
from core.folder import GRAPH_FILE
from core.model.draft import Draft
from core.model.names import check_nugget_name, parse_iso
from core.model.note import (
    FILE_NAMES,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    Link,
    Note,
    replace,
    vector_spec,
    with_system_tags,
)
from core.model.snapshot import Problem, ProblemKind
from core.verify.finding import (
    Finding,
    RepairableFinding,
    change_note,
    name_of,
    place_of_fact,
    present,
    quote,
)
from core.verify.view import VerifyView

_LISTED: Final = 4
_TIMES: Final = ("created_at", "updated_at", "last_accessed_at", "last_rewritten_at", "archived_at")
_KNOWN: Final = {
    "kind": ("fact", "note"),
    "scope": SCOPES,
    "type": TYPES,
    "source": SOURCES,
    "stability": STABILITIES,
}
_REPAIR_ITEM: Final = "Fix it in the file; in the app, ! shows its bytes."
_MOVE_FILE: Final = "Move it out of the folder once the other file has all you need from it."


# What every write corrects


def false_links(view: VerifyView) -> Iterator[RepairableFinding]:
    """Links to notes that are gone, to the note itself, or held twice."""
    notes = view.snapshot.by_id
    for note in view.snapshot.notes:
        seen: set[tuple[str, str]] = set()
        for link in note.links:
            target = name_of(notes[link.to]) if link.to in notes else quote(link.to)
            kind, what, repair = "", "", "removes the link"
            if link.to == note.id:
                kind, what = "link-to-itself", "itself"
            elif link.to not in notes and link.to not in view.snapshot.set_aside:
                kind, what = "dangling-link", f"{target}, which does not exist"
            elif (link.to, link.reason) in seen:
                kind, what, repair = "duplicate-link", f"{target} twice", "removes the second"
            seen.add((link.to, link.reason))
            if kind:
                detail = f"The note {name_of(note)} links to {what}."
                yield view.repairable(kind, note, detail, repair, partial(change_note, id=note.id))


def one_way_links(view: VerifyView) -> Iterator[RepairableFinding]:
    """Links that the other note does not return; a target that cannot be read is left alone."""
    notes = view.snapshot.by_id
    held = {(note.id, link.to, link.reason) for note in view.snapshot.notes for link in note.links}
    # All that one note is to link back to is repaired in one go: each time its links are all looked through.
    back_from: dict[str, list[tuple[str, Link]]] = {}
    links = [(note, link) for note in view.snapshot.notes for link in note.links]
    for note, link in links:
        target = notes.get(link.to)
        back = (link.to, note.id, link.reason)
        if target is None or link.to == note.id or back in held:
            continue
        held.add(back)
        detail = f"The note {name_of(note)} links to {name_of(target)} with the reason {quote(link.reason)}; "
        detail += "the other note does not link back."
        missing = back_from.setdefault(link.to, [])
        missing.append((note.id, link))
        link_back, repair = partial(_link_back, id=link.to, missing=missing), "adds the link back"
        yield view.repairable(
            "one-way-link", target, detail, repair, link_back, where=note.id, group=(link.to,)
        )


def _link_back(draft: Draft, id: str, missing: list[tuple[str, Link]]) -> None:
    """missing: the notes that link to this one, each with its link."""
    note = present(draft, id)
    back = [Link(to=to, reason=link.reason, created_at=link.created_at or draft.at) for to, link in missing]
    draft.put(replace(note, links=(*note.links, *back)))


def wrong_tags(view: VerifyView) -> Iterator[RepairableFinding]:
    """Tags that a write would change: nugget, scope and type must be among them, in small letters, with hyphens."""
    for note in view.snapshot.notes:
        right = with_system_tags(note)
        if right == note.tags:
            continue
        held, wanted = set(note.tags), set(right)
        missing = [tag for tag in right if tag not in held]
        gone = [tag for tag in note.tags if tag not in wanted]
        parts = [f"lack {_listed(missing)}"] if missing else []
        parts += [f"wrongly hold {_listed(gone)}"] if gone else []
        detail = f"The tags of {name_of(note)} {' and '.join(parts) or 'hold one of them twice'}."
        correct = partial(change_note, id=note.id)
        yield view.repairable("wrong-tags", note, detail, "corrects the tags", correct)


def _listed(tags: list[str]) -> str:
    shown = [quote(tag) for tag in tags[:_LISTED]]
    if len(tags) > _LISTED:
        shown.append(f"{len(tags) - _LISTED} more")
    return ", ".join(shown[:-1]) + " and " * (len(shown) > 1) + shown[-1]


def wrong_vectors(view: VerifyView) -> Iterator[RepairableFinding]:
    """Recipes of vectors that do not fit the note: the original searches by them."""
    for note in view.snapshot.notes:
        if vector_spec(note) != note.vector:
            detail = f"The search vector of {name_of(note)} does not match its text."
            compute = partial(change_note, id=note.id)
            yield view.repairable("wrong-vector", note, detail, "computes it again", compute)


# What only a person can put right


def files(view: VerifyView) -> Iterator[RepairableFinding]:
    """What could not be read, second files of one nugget, and files of a newer version."""
    if view.snapshot.read_only:
        detail = f"{view.snapshot.read_only}. Update nuggets-tui to write here again."
        yield RepairableFinding(Finding("newer-version", view.snapshot.home, detail))
    for problem in view.snapshot.problems:
        yield RepairableFinding(_describe(problem))


def _describe(problem: Problem) -> Finding:
    kind, where, what = problem.kind, problem.where, problem.what
    if kind is ProblemKind.SECOND_FILE:
        return Finding(kind, where, f"This is {what}.", todo=_MOVE_FILE)
    if kind is ProblemKind.UNREADABLE_FILE:
        return Finding(kind, where, f"{what[:1].upper()}{what[1:]}.", remedy=Restore("copy"))
    thing = "fact" if kind in (ProblemKind.UNREADABLE_FACT, ProblemKind.SHARED_KEY) else "note"
    return Finding(kind, where, f"This {thing} {what}.", todo=_REPAIR_ITEM)


def names(view: VerifyView) -> Iterator[RepairableFinding]:
    """Nuggets whose names no file can bear, or that differ by case alone; notes and facts without id or key."""
    lowered: dict[str, str] = {}
    for name in view.snapshot.nugget_names:
        other = lowered.setdefault(name.lower(), name)
        try:
            check_nugget_name(name, () if other == name else (other,))
        except InvalidInputError as error:
            detail = f"The name of the nugget {quote(name)} does not work on every system: {error.what}. "
            detail += "Move its facts and notes to a nugget with another name."
            yield RepairableFinding(Finding("nugget-name", name, detail))
    for note in view.snapshot.notes:
        if not note.id.strip():
            detail = f"The note {name_of(note)} has no id. Give it one in the file."
            yield RepairableFinding(Finding("no-id", str(GRAPH_FILE), detail))
    for nugget in view.snapshot.nuggets:
        for fact in nugget.facts:
            if not fact.key.strip():
                detail = f"A fact with the value {quote(fact.value)} has no key, so nobody can recall it. "
                detail += f"Give it one in {nugget.file}."
                yield RepairableFinding(Finding("no-key", place_of_fact(nugget.name, fact.key), detail))


def values(view: VerifyView) -> Iterator[RepairableFinding]:
    """Times that are no times, confidence outside [0, 1], and metadata that the format does not know."""
    for note in view.snapshot.notes:
        for name in _TIMES:
            text = getattr(note, name)
            if text and parse_iso(text) is None:
                detail = f"The {FILE_NAMES[name]} of {name_of(note)} is not a time: {quote(text)}. Fix it in the file."
                yield RepairableFinding(Finding("no-time", note.id, detail))
        if not 0 <= note.confidence <= 1:
            detail = f"The confidence of {name_of(note)} is {note.confidence:g}, not a number from 0 to 1. "
            detail += f"Set it with: nuggets note edit {note.id} --confidence NUMBER"
            yield RepairableFinding(Finding("confidence", note.id, detail))
        for name, known in _KNOWN.items():
            value = getattr(note, name)
            if value not in known:
                detail = f"The {name} of {name_of(note)} is {quote(value)}, which the format does not know. "
                yield RepairableFinding(
                    Finding(f"unknown-{name}", note.id, detail + _choose(note, name, known))
                )


def _choose(note: Note, name: str, known: tuple[str, ...]) -> str:
    choose = f"Choose one of {', '.join(known)}"
    return (
        f"{choose} in the file."
        if name == "kind"
        else (f"{choose}, with: nuggets note edit {note.id} --{name} {name.upper()}")
    )


ONLY_REPORTED: Final = (files, names, values)
CORRECTED: Final = (false_links, one_way_links, wrong_tags, wrong_vectors)
