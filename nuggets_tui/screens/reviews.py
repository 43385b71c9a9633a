"""Proposals for the review screen: a repair, going back to a backup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from core.model.change import ChangeSet, NoteChange
from core.model.snapshot import Snapshot
from nuggets_tui import differences
from nuggets_tui.differences import DiffLine, titles
from nuggets_tui.key_map import DEFAULT, KeyMap
from nuggets_tui.remedies import in_keys, is_typed
from nuggets_tui.safe_text import content
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.diff_lines import styled_lines, wrapped
from nuggets_tui.words import counted, facts_alone, plural, things

if TYPE_CHECKING:
    from core.memory import Finding


def restore_review(
    session: Session, proposed: ChangeSet, moment: str, *, one_note: bool = False
) -> ReviewScreen:
    """Going back to a moment, thing by thing; it is done whole or not at all. moment: what it is called."""

    async def apply(accepted: Collection[str]) -> Reviewed:
        return await session.write(session.memory.apply, proposed), ""

    said = (
        f"Changes {things(proposed)}: {counted(proposed)}. It is one entry of the audit log; you can undo it."
    )
    items = _items(proposed, session.snapshot)
    heading = f"Restore a note from {moment}" if one_note else f"Restore {moment}"
    return ReviewScreen(heading, said, items, apply, partly=False)


def _items(proposed: ChangeSet, snapshot: Snapshot) -> list[ReviewItem]:
    """A change set thing by thing; a fact goes with its note."""
    title_of = titles(snapshot)
    items = [
        ReviewItem(f"note {number}", _verb(change), change.note.title, _detail(change),
                   partial(_lines, partial(differences.note_lines, change, title_of=title_of)))
        for number, change in enumerate(proposed.notes)
    ]  # fmt: skip
    for number, fact in enumerate(facts_alone(proposed)):
        lines = partial(_lines, partial(differences.fact_lines, fact))
        items.append(ReviewItem(f"fact {number}", "fact", fact.key, fact.nugget, lines))
    for file in proposed.files:
        lines = partial(_lines, partial(differences.file_lines, file))
        items.append(ReviewItem(f"file {file.path}", "file", file.path, "", lines))
    return items


def _verb(change: NoteChange) -> str:
    if change.before is None:
        return "restore"
    if change.after is None:
        return "delete"
    return "hide" if change.after.hidden and not change.before.hidden else "set back"


def _detail(change: NoteChange) -> str:
    """Where the note is, and what becomes of it."""
    if change.before is None:
        said = "comes back as it was then"
    elif change.after is None:
        said = "did not exist then"
    else:
        fields = ", ".join(differences.changed_fields(change))
        said = f"as it was then: {fields}" if fields else "as it was then"
    return f"{change.note.nugget_name} · {said}"


def _lines(make: Callable[[], list[DiffLine]], width: int) -> list[Content]:
    return wrapped(styled_lines(make()), width)


def verify_review(session: Session, findings: Sequence[Finding], keys: KeyMap = DEFAULT) -> ReviewScreen:
    """What is not right in the memory; what can be mended without asking is mended as one entry of the log."""
    repairable = sum(finding.means is not None for finding in findings)

    async def repair(accepted: Collection[str]) -> Reviewed:
        return await session.write(session.workspace.repair), f"Repaired {plural(repairable, 'finding')}"

    said = f"{plural(len(findings), 'finding')}. "
    if repairable == len(findings):
        said += "All can be repaired, as one entry of the audit log; you can undo it."
    elif repairable:
        said += f"{repairable:,} can be repaired, as one entry that you can undo. You decide the rest."
    else:
        said += "You decide these; each says how."
    items = [_finding_item(str(number), each, session.snapshot, keys) for number, each in enumerate(findings)]
    return ReviewScreen(
        "Memory check",
        said,
        items,
        repair if repairable else None,
        partly=False,
        titles=("Findings", "What it is"),
    )


def _describe(finding: Finding, keys: KeyMap) -> str:
    """A finding in words, with the app's keys for what a person can do about it."""
    words = in_keys(finding.remedy, keys)
    if words:
        words = (words if is_typed(finding.remedy) else words[:1].upper() + words[1:]) + "."
    return " ".join(filter(None, (finding.description, finding.todo, words)))


def _finding_item(key: str, finding: Finding, snapshot: Snapshot, keys: KeyMap) -> ReviewItem:
    note = snapshot.by_id.get(finding.where)

    def lines(width: int) -> list[Content]:
        shown = [content(_describe(finding, keys)), Content("")]
        if finding.means is not None:
            shown.append(Content.assemble(("To repair: ", "$text-success"), content(finding.repair)))
        else:
            settles = f"It waits in the audit log: {keys.key('conflicts')} resolves it."
            waits = settles if finding.kind == "conflict" else ""
            shown.append(Content.styled(waits or "You decide.", "$text-warning"))
        return wrapped([*shown, Content(""), content(finding.where, "$text-muted")], width)

    where = note.title if note is not None else finding.where.removeprefix(f"{snapshot.home}/")
    return ReviewItem(key, "repair" if finding.means is not None else "for you", where, finding.kind, lines)
