"""One change of many notes: proposed from what a person saw, reviewed row by row, written as one entry of the log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from core.graph.edits import (
    EditedEach,
    EditOne,
    delete_note,
    edit_each,
    edit_note,
    hide_note,
    link_notes,
    move_to_scope,
    unhide_note,
)
from core.model.change import ChangeSet, NoteChange
from core.model.draft import Draft
from core.model.note import Note, custom_tags, normalise_tag
from core.model.snapshot import Snapshot
from nuggets_tui.listing import PINNED
from nuggets_tui.safe_text import cut
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from nuggets_tui.session import Session

_NAME: Final = 40
# Notes between two words on how far a proposal is.
_REPORT_EVERY: Final = 50


@dataclass(frozen=True)
class BulkEdit:
    """An edit that many notes can get.

    edit: of one note. title: such as "Hide 3 notes". done: the verb of the log and of the notice afterwards, `suffix`
    what follows the notes there. kind: the word in the row of each note. detail: the second line of that row. question:
    asked before it is written, about what would go; "" for none.
    """

    ids: tuple[str, ...]
    edit: EditOne
    title: str
    done: str
    kind: str
    detail: Callable[[NoteChange], str] = lambda change: change.note.nugget_name
    suffix: str = ""
    question: str = ""

    def reason(self, count: int) -> str:
        """What the log says of so many notes."""
        return f"{self.done} {plural(count, 'note')}{self.suffix}"


@dataclass(frozen=True, eq=False)
class Proposal:
    """What an edit of many notes would change in what a person saw: `base`."""

    edit: BulkEdit
    base: Snapshot
    edited: EditedEach
    changes: Mapping[str, NoteChange]


def propose(
    session: Session, base: Snapshot, edit: BulkEdit, report_progress: Callable[[int, int], object]
) -> Proposal:
    """Works out what an edit would change, for a thread; writes nothing.

    told: called with how many of how many notes are looked at; what it raises ends the work.
    """
    draft, count = _draft(session, base), len(edit.ids)
    edited = edit_each(
        draft, edit.ids, edit.edit, report=lambda done: done % _REPORT_EVERY or report_progress(done, count)
    )
    change_set = draft.change_set("")
    changes = {change.id: change for change in change_set.notes}
    # A note whose edit comes to nothing in the end is no change.
    changed = tuple(id for id in edited.changed if id in changes)
    return Proposal(edit, base, edited._replace(changed=changed), changes)


async def carry_out(session: Session, proposal: Proposal, accepted: Collection[str]) -> tuple[ChangeSet, int]:
    """Writes the accepted changes; what was written, and of how many notes. What is gone by now is left out."""
    present, wanted = session.snapshot.by_id, set(accepted)
    ids = [id for id in proposal.edited.changed if id in wanted and id in present]
    edit = proposal.edit
    _, done = await session.change_from(
        proposal.base, edit.reason(len(ids)), partial(edit_each, ids=ids, edit=edit.edit)
    )
    return done, len(ids)


def _draft(session: Session, base: Snapshot) -> Draft:
    present = session.memory.draft()
    return Draft(base, now=present.now, ids=present.ids, rules=present.rules, author=present.author)


# The edits that there are


def hiding(notes: Sequence[Note]) -> BulkEdit:
    """Hides the visible ones; when all are hidden, brings them back."""
    visible = [note for note in notes if not note.hidden]
    if not visible:
        return BulkEdit(_ids(notes), unhide_note, f"Bring back {_count(notes)}", "brought back", "bring back")
    return BulkEdit(_ids(visible), hide_note, f"Hide {_count(visible)}", "hid", "hide")


def deleting(notes: Sequence[Note]) -> BulkEdit:
    return BulkEdit(
        _ids(notes),
        delete_note,
        f"Delete {_count(notes)} for good",
        "deleted",
        "delete",
        question="This deletes the notes and all links to them. You can undo it from the audit log.",
    )


def pinning(notes: Sequence[Note]) -> BulkEdit:
    """Pins those that are not; when all are pinned, lets them go."""
    loose = [note for note in notes if PINNED not in note.tags]
    if not loose:
        edit = partial(edit_note, remove_tags=(PINNED,))
        return BulkEdit(_ids(notes), edit, f"Unpin {_count(notes)}", "unpinned", "unpin")
    return BulkEdit(
        _ids(loose), partial(edit_note, add_tags=(PINNED,)), f"Pin {_count(loose)}", "pinned", "pin"
    )


def tagging(notes: Sequence[Note], add: Iterable[str], remove: Iterable[str]) -> BulkEdit:
    """Gives them tags and takes others off."""
    add, remove = (tuple(dict.fromkeys(filter(None, map(normalise_tag, tags)))) for tags in (add, remove))
    # A tag in both lines is meant to be there: it was typed to be added.
    remove = tuple(tag for tag in remove if tag not in add)
    return BulkEdit(
        _ids(notes),
        partial(edit_note, add_tags=add, remove_tags=remove),
        f"Change the tags of {_count(notes)}",
        "tagged",
        "tags",
        detail=_tags_that_differ,
        suffix=f": {' '.join([*(f'+{tag}' for tag in add), *(f'-{tag}' for tag in remove)])}",
    )


def _tags_that_differ(change: NoteChange) -> str:
    before, after = (set(note.tags) if note is not None else set() for note in (change.before, change.after))
    came, went = sorted(after - before), sorted(before - after)
    return " ".join([*(f"+{tag}" for tag in came), *(f"-{tag}" for tag in went)])


def moving(notes: Sequence[Note], scope: str) -> BulkEdit:
    return BulkEdit(
        _ids(notes),
        partial(move_to_scope, scope=scope),
        f"Move {_count(notes)} to scope {scope}",
        "moved",
        f"to {scope}",
        detail=lambda change: f"{change.before.scope if change.before else ''} → {scope}",
        suffix=f" to scope {scope}",
    )


def linking(notes: Sequence[Note], target: Note, reason: str) -> BulkEdit:
    others = [note for note in notes if note.id != target.id]
    name = cut(target.title, _NAME)
    return BulkEdit(
        _ids(others),
        partial(link_notes, b=target.id, reason=reason),
        f'Link {_count(others)} to "{name}"',
        "linked",
        "link",
        detail=lambda change: f"↔ {name}",
        suffix=f" to {name}",
    )


def tag_counts(notes: Iterable[Note]) -> list[tuple[str, int]]:
    """The tags that notes bear besides nugget, scope and type, and how many bear each; the most common first."""
    counts: dict[str, int] = {}
    for note in notes:
        for tag in custom_tags(note):
            counts[tag] = counts.get(tag, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _ids(notes: Iterable[Note]) -> tuple[str, ...]:
    return tuple(note.id for note in notes)


def _count(notes: Sequence[Note]) -> str:
    return plural(len(notes), "note")
