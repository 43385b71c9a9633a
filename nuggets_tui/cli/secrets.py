"""`nuggets secrets`: what looks like a credential, listed without ever showing it, and masked for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.workspace import Workspace
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.invocation import Invocation, bad_input
from nuggets_tui.cli.options import YES, arg, command, flag
from nuggets_tui.cli.output import Line, bold, dim, good, pick, table, warn
from nuggets_tui.words import counted_holders, plural

if TYPE_CHECKING:
    from core.memory import Left, Masking

_SOUND = (
    "No note, fact or submitted text looks like it holds a credential. Earlier versions in the history are not "
    "searched."
)
_WORDS = {
    "file": "in {0}",
    "log": "in {0} of the history",
    "copy": "in {1}",
    "pipeline": "in {0} of the pipeline",
}
_PARTS = {
    "documents": ("document",), "chunks": ("chunk of a document", "chunks of documents"),
    "raw_memories": ("submitted text",), "proposals": ("proposal",), "facts": ("fact",),
    "history": ("entry of the history", "entries of the history"), "transcripts": ("transcript",),
    "note_edits": ("accepted change",), "attributes": ("statement",), "entities": ("entity", "entities"),
}  # fmt: skip


@command(
    "secrets",
    arg("ids", nargs=-1, metavar="[ID]..."),
    flag("--mask", "Mask them for good; delete backups that hold them."),
    flag("--none", "Mark what these hold now as no credential."),
    YES,
    examples=("nuggets secrets", "nuggets secrets --mask", "nuggets secrets --none note-web-1a2b3c4d"),
)
def secrets(call: Invocation, ids: tuple[str, ...], mask: bool, none: bool, yes: bool) -> int:
    """List notes, facts and submitted texts that look like they hold a credential. The credential is never shown.

    ID is a note's id, "nugget: key" for a fact without a note, or what the list shows for a text.

    --mask replaces the credential wherever it is stored: notes, facts, history, promoted lines, unsaved texts and the
    pipeline. It deletes backups and quarantined files that hold it. You cannot undo that. Then it searches every file
    of the memory. Exit code 1 when a file still holds the credential or cannot be read; the output names the file.
    """
    if mask:
        refuse_agents("masking")
    if mask and none:
        raise bad_input("cannot be combined", "--mask, --none")
    workspace = Workspace(call.memory)
    # Of notes as all commands take them, of facts "nugget: key".
    known = {one.id for one in workspace.secrets() if not one.note_id} if ids else ()
    wanted = [id if id in known else workspace.memory.snapshot.resolve(id).id for id in ids]
    if none:
        if not wanted:
            raise bad_input("needs the ids of notes or facts", "--none")
        done = workspace.mark_not_secret(wanted)
        what = plural(len(wanted), "note or fact", "notes and facts")
        undo = [dim(f"To undo it: nuggets undo {done.id}")] if done.id else []
        said = f"Marked {what} as no credential, until the text changes."
        call.answer({"notSecret": wanted, "changeSet": done.id or None}, [said, *undo])
        return 0
    plan = workspace.masking(wanted or None)
    if not mask or not plan.holders:
        call.answer(_document(plan, None), _lines(plan))
        return 1 if mask and plan.refused else 0
    if not yes:
        call.preview(_lines(plan))
    many = counted_holders(plan.holders)
    if not call.must_confirm(yes, "secrets --mask", f"Mask {many} for good? You cannot undo this."):
        call.answer(_document(plan, None), ["Nothing was masked."])
        return 0
    entry = workspace.mask_secrets(plan)
    left = workspace.memory.secrets.left(plan)
    document = _document(plan, None if entry.empty else entry.id, masked=True, left=left)
    call.answer(document, [*_refused(plan), *_done_lines(many, left)])
    return 1 if left or plan.refused else 0


def _document(
    plan: Masking, entry: str | None, *, masked: bool = False, left: Sequence[Left] = ()
) -> dict[str, Any]:
    found = [pick(one, "path why") for one in left]
    return plan.to_dict() | {"masked": masked, "changeSet": entry, "left": found}


def _lines(plan: Masking) -> Iterator[Line]:
    from core.text.secrets import masked

    if not plan.holders and not plan.refused:
        yield good(_SOUND)
        return
    rows = [
        (dim(one.id), warn(", ".join(one.kinds)), masked(one.title) if one.note_id or one.kept_id else "")
        for one in plan.holders
    ]
    yield from table(rows, flexible=2)
    yield from _refused(plan)
    kept = [place for place in plan.rewritten if not place.deleted]
    said = [_where(place.what, place.count, place.path.name, place.part) for place in kept]
    said += [f"in {path}" for path in plan.pages]
    if said:
        yield f"Stored {', '.join(said)}."
    deleted = [f"{place.path.parent.name}/{place.path.name}" for place in plan.places if place.deleted]
    if deleted:
        yield warn(f"Masking deletes what cannot be masked: {', '.join(deleted)}")
    if plan.untouched:
        yield warn(f"Not masked, check yourself: {', '.join(map(str, plan.untouched))}")
    if plan.holders:
        yield dim(
            "To mask all of it for good: nuggets secrets --mask. To allow one: nuggets secrets --none ID"
        )


def _refused(plan: Masking) -> Iterator[Line]:
    yield from ((dim(id), f"  cannot be masked: {reason}") for id, reason in plan.refused.items())


def _where(what: str, count: int, name: str, part: str) -> str:
    if what == "pipeline":
        told = plural(count, *_PARTS.get(part, ("row",)))
    else:
        told = plural(count, "entry", "entries") if what == "log" else f"{name} ({plural(count, 'thing')})"
    return _WORDS[what].format(told, name)


def _done_lines(many: str, left: Sequence[Left]) -> Iterator[Line]:
    yield (bold(f"Masked {many}"), ", also in the history and the pipeline; backups with it are deleted.")
    if not left:
        yield "Searched all files of the memory, its cache and unsaved texts: none holds it any more."
    for why, said in (("holds", "Still stored in"), ("unreadable", "Cannot be read, check yourself:")):
        named = ", ".join(str(one.path) for one in left if one.why == why)
        yield from [warn(f"{said} {named}")] if named else []
    yield "Whoever has seen the credential still has it. Replace it where it is used, too."
