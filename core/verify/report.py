"""Rules that only report: unreadable parts, names that no file can have, values that the format does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from core.errors import InvalidInputError, Restore
from core.folder import GRAPH_FILE
from core.model.names import check_nugget_name, parse_iso
from core.model.note import FILE_NAMES, SCOPES, SOURCES, STABILITIES, TYPES, Note
from core.model.snapshot import Problem, ProblemKind
from core.verify.finding import Finding, RepairableFinding, name_of, place_of_fact, quote
from core.verify.view import VerifyView

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
            detail += f"Set it with: {_set_to(note, 'confidence', 'NUMBER')}"
            yield RepairableFinding(Finding("confidence", note.id, detail))
        for name, known in _KNOWN.items():
            value = getattr(note, name)
            if value not in known:
                detail = f"The {name} of {name_of(note)} is {quote(value)}, which the format does not know. "
                yield RepairableFinding(
                    Finding(f"unknown-{name}", note.id, detail + _choose(note, name, known))
                )


def _choose(note: Note, name: str, known: tuple[str, ...]) -> str:
    if name == "kind":
        return f"Choose one of {', '.join(known)} in the file."
    return f"Choose one of {', '.join(known)}, with: {_set_to(note, name, name.upper())}"


def _set_to(note: Note, name: str, value: str) -> str:
    return f"nuggets note edit {note.id} --{name} {value}"
