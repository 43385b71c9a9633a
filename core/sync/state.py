"""What a sync is called in words and as a state: its commits' messages, its result, and how a memory stands. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, get_args

from core.model.change import PROGRAM, Author, AuthorKind

AUTHOR_TRAILER: Final = "Nuggets-Author"
MACHINE_TRAILER: Final = "Nuggets-Machine"
_SUBJECT: Final = 72
_LONGEST: Final = 60
_AUTHORS: Final = 3


class Standing(StrEnum):
    """How a memory stands to its remote, the most pressing first: what a header shows in one word."""

    OFF = "off"
    CONFLICT = "conflict"
    OFFLINE = "offline"
    STOPPED = "stopped"
    TO_SEND = "to-send"
    IN_STEP = "in-step"


@dataclass(frozen=True)
class SyncState:
    """How a memory stands to its remote.

    remote: its address, "" for none. to_send: how many notes and facts changed here since. came_in: how many the last
    sync brought. conflicts: how many wait. offline: whether the last sync could not reach the remote. problem: why, or
    why it did not follow it, "" for nothing; where, safe, todo: what that concerns, what was kept safe and what to do.
    at: when the last sync ended, "" for never. entries: ids of those of the log that brought what last came in,
    whenever that was.
    """

    set_up: bool = False
    remote: str = ""
    branch: str = ""
    machine: str = ""
    to_send: int = 0
    came_in: int = 0
    conflicts: int = 0
    offline: bool = False
    problem: str = ""
    where: str = ""
    safe: str = ""
    todo: str = ""
    at: str = ""
    entries: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """The one state that counts most."""
        for holds, standing in (
            (not self.set_up, Standing.OFF),
            (self.conflicts > 0, Standing.CONFLICT),
            (self.offline, Standing.OFFLINE),
            (bool(self.problem), Standing.STOPPED),
            (self.to_send > 0, Standing.TO_SEND),
        ):
            if holds:
                return standing
        return Standing.IN_STEP


@dataclass(frozen=True)
class SyncResult:
    """What one sync did. committed: notes and facts that its commit holds. came_in, sent: how many. change_sets:
    ids of the entries of the log that brought them. kept_here, brought_back: what was changed on one side and deleted
    on the other; the edit stands. left_out: paths in the remote of what looks like a file of a memory
    and is none.
    """

    state: SyncState
    committed: int = 0
    came_in: int = 0
    sent: int = 0
    change_sets: tuple[str, ...] = ()
    kept_here: tuple[str, ...] = ()
    brought_back: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Commit:
    """What a commit says of who made it. person: the name that git has for them."""

    subject: str = ""
    person: str = ""
    machine: str = ""
    authors: tuple[str, ...] = ()


def message(signatures: Collection[str], machine: str, *, count: int = 0, merges: str = "") -> str:
    """A commit's message: who did what, then trailers. signatures: of those who changed so many notes and facts, "" for
    another program. merges: what is merged, "" for nothing.
    """
    names = [str(author_of(signature)) for signature in sorted(signatures)]
    more = f" and {len(names) - _AUTHORS} more" if len(names) > _AUTHORS else ""
    things = f"{count:,} {'note' if count == 1 else 'notes'}"
    subject = merges or f"{', '.join(names[:_AUTHORS]) or author_of('')}{more} changed {things}"
    trailers = [f"{MACHINE_TRAILER}: {_line(machine)}"]
    trailers += [f"{AUTHOR_TRAILER}: {_line(one) or PROGRAM.signature}" for one in sorted(signatures)]
    return f"{_shortened(subject, _SUBJECT)}\n\n" + "\n".join(trailers) + "\n"


def author_of(signature: str) -> Author:
    """The author that a signature names; another program for one that makes no sense."""
    kind, _, name = signature.partition(":")
    for known in get_args(AuthorKind):
        if kind == known:
            return Author(known, _shortened(_line(name), _LONGEST))
    return PROGRAM


def _line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def arrival(commits: Iterable[Commit], own_name: str) -> tuple[Author, str]:
    """The author and the reason of what came in with these commits, newest first. own_name: whose machine this is, as
    git calls them: such a person is "you".
    """
    commits = list(commits)
    # A merge of ours says nothing of its own.
    told = [one for one in commits if one.authors or not one.machine] or commits[:1]
    machines = list(dict.fromkeys(_shortened(_line(one.machine), _LONGEST) for one in told if one.machine))
    known = dict.fromkeys((signature, one.person) for one in told for signature in one.authors or ("person",))
    names = list(dict.fromkeys(_named(signature, person, own_name) for signature, person in known))
    where = f" on {', '.join(machines)}" if machines else ""
    named = _shortened(", ".join(names[:_AUTHORS]), _LONGEST)
    kinds = {author_of(signature).kind for signature, _ in known}
    kind: AuthorKind = kinds.pop() if len(kinds) == 1 and len(names) == 1 else "program"
    subjects = list(dict.fromkeys(_line(one.subject) for one in told if one.subject))
    said = subjects[0] if len(subjects) == 1 else f"{len(subjects)} syncs"
    return Author(kind, f"{named or 'another machine'}{where}"), _shortened(f"came in by sync: {said}", 200)


def _named(signature: str, person: str, own_name: str) -> str:
    author = author_of(signature)
    if author.name or author.kind != "person":
        return str(author)
    return str(author) if not person or person == own_name else _shortened(_line(person), _LONGEST)
