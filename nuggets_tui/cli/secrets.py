"""`nuggets secrets`: what looks like a credential, listed without ever showing it, and masked for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from core.errors import InvalidInputError
from core.workspace import Workspace
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, must_confirm, pass_call
from nuggets_tui.cli.options import yes_option
from nuggets_tui.cli.output import Line, Span, table
from nuggets_tui.words import counted_holders, plural

if TYPE_CHECKING:
    from core.memory import Holder, Left, Masking

_SOUND = (
    "No note, fact or submitted text looks like it holds a credential. Earlier versions in the history are not "
    "searched."
)
_WORDS = {
    "file": "in {0}", "log": "in {0} of the history", "copy": "in {1}", "pipeline": "in {0} of the pipeline",
}  # fmt: skip
_PARTS = {
    "documents": ("document",), "chunks": ("chunk of a document", "chunks of documents"),
    "raw_memories": ("submitted text",), "proposals": ("proposal",), "facts": ("fact",),
    "history": ("entry of the history", "entries of the history"), "transcripts": ("transcript",),
    "note_edits": ("accepted change",), "attributes": ("statement",), "entities": ("entity", "entities"),
}  # fmt: skip


@command(
    "secrets",
    epilog=example("nuggets secrets", "nuggets secrets --mask", "nuggets secrets --none note-web-1a2b3c4d"),
)
@click.argument("ids", type=TEXT, nargs=-1, metavar="[ID]...")
@click.option("--mask", is_flag=True, help="Mask them for good; delete backups that hold them.")
@click.option("--none", "none", is_flag=True, help="Mark what these hold now as no credential.")
@yes_option
@pass_call
def secrets(call: Invocation, /, ids: tuple[str, ...], mask: bool, none: bool, yes: bool) -> int:
    """List notes, facts and submitted texts that look like they hold a credential. The credential is never shown.

    ID is a note's id, "nugget: key" for a fact without a note, or what the list shows for a text.

    --mask replaces the credential wherever it is stored: notes, facts, history, promoted lines, unsaved texts and the
    pipeline. It deletes backups and quarantined files that hold it. You cannot undo that. Then it searches every file
    of the memory. Exit code 1 when a file still holds the credential or cannot be read; the output names the file.
    """
    if mask:
        refuse_agents("masking")
    if mask and none:
        raise InvalidInputError(
            "cannot be combined",
            where="--mask, --none",
            kept="nothing was changed",
        )
    workspace = Workspace(call.memory)
    wanted = _resolved(workspace, ids)
    if none:
        if not wanted:
            raise InvalidInputError(
                "needs the ids of notes or facts",
                where="--none",
                kept="nothing was changed",
            )
        done = workspace.mark_not_secret(wanted)
        call.answer(
            lambda: {"notSecret": wanted, "changeSet": done.id or None}, lambda: _none_lines(wanted, done.id)
        )
        return 0
    plan = workspace.masking(wanted or None)
    if not mask or not plan.holders:
        call.answer(lambda: _document(plan, None), lambda: _lines(plan))
        return 1 if mask and plan.refused else 0
    if not yes:
        call.preview(_lines(plan))
    many = counted_holders(plan.holders)
    if not must_confirm(call, yes, "secrets --mask", f"Mask {many} for good? You cannot undo this."):
        call.answer(lambda: _document(plan, None), lambda: ["Nothing was masked."])
        return 0
    entry = workspace.mask_secrets(plan)
    left = workspace.memory.secrets.left(plan)
    call.answer(
        lambda: _document(plan, None if entry.empty else entry.id, masked=True, left=left),
        lambda: (*_refused(plan), *_done_lines(many, left)),
    )
    return 1 if left or plan.refused else 0


def _resolved(workspace: Workspace, ids: Sequence[str]) -> list[str]:
    """The ids in full; of notes as all commands take them, of facts "nugget: key"."""
    if not ids:
        return []
    known = {one.id for one in workspace.secrets() if not one.note_id}
    return [id if id in known else workspace.memory.snapshot.resolve(id).id for id in ids]


def _document(
    plan: Masking, entry: str | None, *, masked: bool = False, left: Sequence[Left] = ()
) -> dict[str, Any]:
    found = [{"path": str(one.path), "why": one.why} for one in left]
    return plan.to_dict() | {"masked": masked, "changeSet": entry, "left": found}


def _lines(plan: Masking) -> Iterator[Line]:
    if not plan.holders and not plan.refused:
        yield Span(_SOUND, "good")
        return
    yield from table([_row(one) for one in plan.holders], flexible=2)
    yield from _refused(plan)
    kept = [place for place in plan.rewritten if not place.deleted]
    said = [_where(place.what, place.count, place.path.name, place.part) for place in kept]
    said += [f"in {path}" for path in plan.pages]
    if said:
        yield f"Stored {', '.join(said)}."
    deleted = [f"{place.path.parent.name}/{place.path.name}" for place in plan.places if place.deleted]
    if deleted:
        yield Span(f"Masking deletes what cannot be masked: {', '.join(deleted)}", "warn")
    yield from _untouched(plan)
    if plan.holders:
        yield Span(
            "To mask all of it for good: nuggets secrets --mask. To allow one: nuggets secrets --none ID",
            "dim",
        )


def _refused(plan: Masking) -> Iterator[Line]:
    for id, reason in plan.refused.items():
        yield (Span(id, "dim"), f"  cannot be masked: {reason}")


def _row(one: Holder) -> tuple[str | Span, ...]:
    from core.text.secrets import masked

    title = masked(one.title) if one.note_id or one.kept_id else ""
    return (Span(one.id, "dim"), Span(", ".join(one.kinds), "warn"), title)


def _where(what: str, count: int, name: str, part: str) -> str:
    if what == "pipeline":
        told = plural(count, *_PARTS.get(part, ("row",)))
    else:
        told = plural(count, "entry", "entries") if what == "log" else f"{name} ({plural(count, 'thing')})"
    return _WORDS[what].format(told, name)


def _untouched(plan: Masking) -> Iterator[Line]:
    if plan.untouched:
        named = ", ".join(str(path) for path in plan.untouched)
        yield Span(f"Not masked, check yourself: {named}", "warn")


def _none_lines(ids: Sequence[str], entry: str) -> Iterator[Line]:
    yield f"Marked {plural(len(ids), 'note or fact', 'notes and facts')} as no credential, until the text changes."
    if entry:
        yield Span(f"To undo it: nuggets undo {entry}", "dim")


def _done_lines(many: str, left: Sequence[Left]) -> Iterator[Line]:
    yield (
        Span(f"Masked {many}", "bold"),
        ", also in the history and the pipeline; backups with it are deleted.",
    )
    if not left:
        yield "Searched all files of the memory, its cache and unsaved texts: none holds it any more."
    for why, said in (
        ("holds", "Still stored in"),
        ("unreadable", "Cannot be read, check yourself:"),
    ):
        named = ", ".join(str(one.path) for one in left if one.why == why)
        if named:
            yield Span(f"{said} {named}", "warn")
    yield "Whoever has seen the credential still has it. Replace it where it is used, too."
