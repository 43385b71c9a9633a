"""Rules about a note's links, its tags and its vector recipe, which every write corrects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from core.model.draft import Draft
from core.model.note import Link, replace, vector_spec, with_system_tags
from core.verify.finding import RepairableFinding, name_of, quote
from core.verify.repair_edits import present
from core.verify.view import VerifyView

_LISTED: Final = 4


def false_links(view: VerifyView) -> Iterator[RepairableFinding]:
    """Links to notes that are gone, to the note itself, or held twice."""
    known = view.snapshot.by_id.keys() | view.snapshot.set_aside
    for note in view.snapshot.notes:
        seen: set[tuple[str, str]] = set()
        for link in note.links:
            apply_repair = partial(_set_right, id=note.id)
            if link.to == note.id:
                detail = f"The note {name_of(note)} links to itself."
                yield view.repairable("link-to-itself", note, detail, "removes the link", apply_repair)
            elif link.to not in known:
                detail = f"The note {name_of(note)} links to {quote(link.to)}, which does not exist."
                yield view.repairable("dangling-link", note, detail, "removes the link", apply_repair)
            elif (link.to, link.reason) in seen:
                detail = f"The note {name_of(note)} links to {_target(view, link)} twice."
                yield view.repairable("duplicate-link", note, detail, "removes the second", apply_repair)
            seen.add((link.to, link.reason))


def one_way_links(view: VerifyView) -> Iterator[RepairableFinding]:
    """Links that the other note does not return; a target that cannot be read is left alone."""
    notes = view.snapshot.by_id
    held = {(note.id, link.to, link.reason) for note in view.snapshot.notes for link in note.links}
    # All that one note is to link back to is repaired in one go: each time its links are all looked through.
    back_from: dict[str, list[tuple[str, Link]]] = {}
    for note in view.snapshot.notes:
        for link in note.links:
            target = notes.get(link.to)
            back = (link.to, note.id, link.reason)
            if target is None or link.to == note.id or back in held:
                continue
            held.add(back)
            detail = (
                f"The note {name_of(note)} links to {name_of(target)} with the reason {quote(link.reason)}; "
            )
            detail += "the other note does not link back."
            missing = back_from.setdefault(link.to, [])
            missing.append((note.id, link))
            apply_repair = partial(_link_back, id=link.to, missing=missing)
            yield view.repairable(
                "one-way-link",
                target,
                detail,
                "adds the link back",
                apply_repair,
                where=note.id,
                group=(link.to,),
            )


def wrong_tags(view: VerifyView) -> Iterator[RepairableFinding]:
    """Tags that a write would change: nugget, scope and type must be among them, in small letters, with hyphens."""
    for note in view.snapshot.notes:
        right = with_system_tags(note)
        if right == note.tags:
            continue
        held, wanted = set(note.tags), set(right)
        missing = [tag for tag in right if tag not in held]
        gone = [tag for tag in note.tags if tag not in wanted]
        parts = []
        if missing:
            parts.append(f"lack {_listed(missing)}")
        if gone:
            parts.append(f"wrongly hold {_listed(gone)}")
        detail = f"The tags of {name_of(note)} {' and '.join(parts) or 'hold one of them twice'}."
        apply_repair = partial(_set_right, id=note.id)
        yield view.repairable("wrong-tags", note, detail, "corrects the tags", apply_repair)


def wrong_vectors(view: VerifyView) -> Iterator[RepairableFinding]:
    """Recipes of vectors that do not fit the note: the original searches by them."""
    for note in view.snapshot.notes:
        if vector_spec(note) != note.vector:
            detail = f"The search vector of {name_of(note)} does not match its text."
            apply_repair = partial(_set_right, id=note.id)
            yield view.repairable("wrong-vector", note, detail, "computes it again", apply_repair)


def _listed(tags: list[str]) -> str:
    shown = [quote(tag) for tag in tags[:_LISTED]]
    if len(tags) > _LISTED:
        shown.append(f"{len(tags) - _LISTED} more")
    return ", ".join(shown[:-1]) + " and " * (len(shown) > 1) + shown[-1]


def _target(view: VerifyView, link: Link) -> str:
    target = view.snapshot.by_id.get(link.to)
    return name_of(target) if target is not None else quote(link.to)


def _set_right(draft: Draft, id: str) -> None:
    draft.put(present(draft, id))


def _link_back(draft: Draft, id: str, missing: list[tuple[str, Link]]) -> None:
    """missing: the notes that link to this one, each with its link."""
    note = present(draft, id)
    back = [Link(to=to, reason=link.reason, created_at=link.created_at or draft.at) for to, link in missing]
    draft.put(replace(note, links=(*note.links, *back)))
