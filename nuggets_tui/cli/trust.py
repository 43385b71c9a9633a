"""`nuggets accept`: which notes from elsewhere wait to be accepted, and accepting them, or taking that back."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import AmbiguousError, ErrorCode, InvalidInputError, NotFoundError
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span, shorten, table
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.note import Note

_KEPT: Final = "nothing was accepted"
_LONGEST: Final = 60


@command(
    "accept",
    epilog=example(
        "nuggets accept", 'nuggets accept "Deploy steps"', "nuggets accept --all",
        'nuggets accept --not "Deploy steps"',
    ),
)  # fmt: skip
@click.argument("ids", type=TEXT, nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="Accept every note that waits.")
@click.option("--not", "back", is_flag=True, help="Take it back: these are not accepted any more.")
@pass_call
def accept(call: Invocation, /, ids: tuple[str, ...], every: bool, back: bool) -> None:
    """Accept notes from elsewhere as they are now; without an ID, list those that wait.

    A note of the team's folder waits until you accept it, and so does what a sync brings where `[sync] trust = "ask"`.
    Until then no agent gets it unasked, and it is not promoted. When somebody else changes it, it waits again.

    No note is changed by this. `nuggets undo` takes it back. ID is a note's id, the unique start of it, or the exact
    title.
    """
    if every and (ids or back):
        _refuse("--all", "cannot be combined with an ID or --not")
    if back and not ids:
        _refuse("--not", "needs the ids of notes")
    memories = _memories(call)
    if not ids and not every:
        waiting = [(memory, note) for memory in memories for note in memory.unaccepted()]
        call.answer(
            lambda: {"waiting": [_document(*one) for one in waiting]}, lambda: _waiting_lines(waiting)
        )
        return
    chosen = {memory: list(memory.unaccepted()) for memory in memories} if every else _named(memories, ids)
    done = [(memory.accept(notes, accepted=not back), notes) for memory, notes in chosen.items() if notes]
    made = [(change_set, notes) for change_set, notes in done if change_set.id]
    undo = {
        change_set.id: "nuggets undo" if memory is memories[0] else _undo_of(memory)
        for memory, (change_set, _) in zip((one for one, notes in chosen.items() if notes), done, strict=True)
    }
    call.answer(
        lambda: {
            "accepted": not back,
            "notes": [note.id for change_set, notes in made for note in notes],
            "changeSets": [change_set.id for change_set, _ in made],
        },
        lambda: _done_lines(made, back, undo),
    )


def _refuse(where: str, why: str) -> None:
    raise InvalidInputError(why, code=ErrorCode.BAD_OPTIONS, where=where, kept=_KEPT)


def _memories(call: Invocation) -> list[Memory]:
    """The memory of the call, and the team's that is in reach."""
    own = call.memory
    beside = own.with_team()
    return [own] if beside is None else [own, beside.memory]


def _named(memories: Sequence[Memory], ids: Sequence[str]) -> dict[Memory, list[Note]]:
    """The notes that are meant, by their memories. Raises NotFoundError, AmbiguousError."""
    found: dict[Memory, list[Note]] = {memory: [] for memory in memories}
    for id in ids:
        meant: list[tuple[Memory, Note]] = []
        unclear: AmbiguousError | NotFoundError | None = None
        for memory in memories:
            try:
                meant.append((memory, memory.snapshot.resolve(id)))
            except (NotFoundError, AmbiguousError) as error:
                unclear = error if unclear is None or isinstance(error, AmbiguousError) else unclear
        if not meant or isinstance(unclear, AmbiguousError):
            assert unclear is not None
            raise unclear
        # Of two notes of one name the one is meant that waits.
        waiting = [(memory, note) for memory, note in meant if memory.not_accepted(note)]
        for memory, note in waiting or meant:
            found[memory].append(note)
    return found


def _document(memory: Memory, note: Note) -> dict[str, Any]:
    return {
        "id": note.id, "title": note.title, "content": note.content, "nugget": note.nugget_name,
        "from": "team" if memory.is_team else "sync",
    }  # fmt: skip


def _waiting_lines(waiting: Sequence[tuple[Memory, Note]]) -> Iterator[Line]:
    if not waiting:
        yield "Nothing waits to be accepted."
        return
    yield from table(
        [
            (
                Span(note.id, "dim"),
                Span("team" if memory.is_team else "sync", "warn"),
                Span(note.title, "bold"),
                Span(shorten(" ".join(note.content.split()), _LONGEST), "dim"),
            )
            for memory, note in waiting
        ],
        flexible=3,
    )
    yield Span("To read one: nuggets note show ID. To accept it: nuggets accept ID", "dim")


def _undo_of(team: Memory) -> str:
    return f"nuggets --home {shlex.quote(str(team.folder))} undo"


def _done_lines(
    made: Sequence[tuple[ChangeSet, list[Note]]], back: bool, undo: dict[str, str]
) -> Iterator[Line]:
    if not made:
        yield "None of these was accepted." if back else "Nothing waits to be accepted."
    for change_set, notes in made:
        what = Span(notes[0].title, "bold") if len(notes) == 1 else plural(len(notes), "note")
        yield (
            "No longer accepted: " if back else "Accepted ",
            what,
            ".",
            Span(f"  {undo[change_set.id]} {change_set.id}", "dim"),
        )
