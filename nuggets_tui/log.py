"""The audit log as the app holds it: a line for each entry read so far, newest first, and how more are read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from core.model.change import Author, ChangeKind
from core.model.entry import Entry, EntryState
from nuggets_tui.words import Deed, deed

if TYPE_CHECKING:
    from core.memory import Memory

PAGE: Final = 200
# Entries looked at for one page before giving up for now: among recalls there may be few others.
_PAGES_LOOKED_AT: Final = 10


@dataclass(frozen=True)
class LogLine:
    """One entry as the log lists it: who did what and when, and what became of it, without the change itself."""

    seq: int
    id: str
    at: str
    author: Author
    kind: ChangeKind
    reason: str
    told: Deed
    state: EntryState = "done"
    undone: bool = False


@dataclass(frozen=True)
class Scope:
    """What of the log is wanted: recalls too, or what concerns one note alone ("" for all)."""

    recalls: bool = False
    note_id: str = ""

    def admits(self, entry: Entry) -> bool:
        """Whether an entry is listed."""
        return self.recalls or entry.change_set.kind != "hit"


@dataclass(frozen=True, eq=False)
class Log:
    """The log as far as it was read. `waiting`: ids of the conflicts that wait for a person, newest first, of all.

    `taken_back` holds ids of entries, and "<id>.<number>" of their parts. `seen_to` and `read_to` are the numbers of
    the newest and the oldest entry that was looked at; `complete` says that there are no older ones. Nothing is known
    before it is `loaded`.
    """

    lines: tuple[LogLine, ...] = ()
    waiting: tuple[str, ...] = ()
    taken_back: frozenset[str] = field(default=frozenset())
    scope: Scope = Scope()
    seen_to: int = 0
    read_to: int = 0
    complete: bool = False
    loaded: bool = False

    @property
    def newest(self) -> int:
        """The number of the newest line, 0 for none."""
        return self.lines[0].seq if self.lines else 0

    @property
    def last(self) -> LogLine | None:
        """The newest entry that changed something and is no recall."""
        return next((line for line in self.lines if line.state == "done" and line.kind != "hit"), None)

    def parts_taken_back(self, line: LogLine) -> int:
        """How many parts of an entry are taken back while the entry as a whole is not."""
        return 0 if line.undone else sum(each.startswith(f"{line.id}.") for each in self.taken_back)


def newest_entries(memory: Memory, former: Log, scope: Scope) -> Log:
    """The log as it is now. What was read before is not read again."""
    log = _continued(memory, former) if former.loaded and former.scope == scope else None
    return _marked(memory, log if log is not None else _page(memory, Log(scope=scope, loaded=True)))


def older_entries(memory: Memory, former: Log) -> Log:
    """The log with one more page at its end."""
    return former if former.complete or not former.loaded else _page(memory, former)


def _page(memory: Memory, log: Log) -> Log:
    """About one page of what the scope admits, below what was read."""
    found: list[LogLine] = []
    seen_to, read_to = log.seen_to, log.read_to
    for _ in range(_PAGES_LOOKED_AT):
        page = memory.log(limit=PAGE, before=read_to or None, note=log.scope.note_id or None)
        found += [_line(entry) for entry in page if log.scope.admits(entry)]
        if page:
            seen_to, read_to = max(seen_to, page[0].seq), page[-1].seq
        if len(page) < PAGE or len(found) >= PAGE:
            break
    lines = (*log.lines, *found)
    return replace(log, lines=lines, seen_to=seen_to, read_to=read_to, complete=len(page) < PAGE)


def _continued(memory: Memory, former: Log) -> Log | None:
    """The former log with the entries that are new since; None when it does not go on where it was.

    They are read one by one: an entry can hold a whole memory, and none is to be read twice.
    """
    scope, known = former.scope, _stays(former)
    newest = memory.log(limit=1, note=scope.note_id or None)
    if former.seen_to > (newest[0].seq if newest else 0):
        # Another ledger stands there now.
        return None
    found: list[LogLine] = []
    seen_to, before = former.seen_to, None
    for _ in range(PAGE):
        page = memory.log(limit=1, before=before, note=scope.note_id or None)
        if not page or page[0].seq <= known:
            break
        seen_to, before = max(seen_to, page[0].seq), page[0].seq
        found += [_line(entry) for entry in page if scope.admits(entry)]
        if page[0].seq == known + 1:
            break
    else:
        return None
    lines = (*found, *(line for line in former.lines if line.seq <= known))
    read_to = former.read_to or (lines[-1].seq if lines else seen_to)
    return replace(former, lines=lines, seen_to=seen_to, read_to=read_to)


def _stays(former: Log) -> int:
    """The number of the newest entry that is still as it was read: the newest recalls may have become one since."""
    if not former.scope.recalls:
        return former.seen_to
    return next((line.seq for line in former.lines if line.kind != "hit"), 0)


def _line(entry: Entry) -> LogLine:
    change_set = entry.change_set
    return LogLine(
        seq=entry.seq,
        id=entry.id,
        at=change_set.at,
        author=change_set.author,
        kind=change_set.kind,
        reason=change_set.reason,
        told=deed(change_set),
        state=entry.state,
        undone=entry.undone,
    )


def _marked(memory: Memory, log: Log) -> Log:
    """The log with every entry's state as it is now, also of those that were read before."""
    waiting, taken_back = tuple(entry.id for entry in memory.conflicts()), memory.taken_back()
    lines = tuple(_as_it_is(line, line.id in taken_back, line.id in waiting) for line in log.lines)
    return replace(log, lines=lines, waiting=waiting, taken_back=taken_back)


def _as_it_is(line: LogLine, undone: bool, waits: bool) -> LogLine:
    state: EntryState = "settled" if line.state == "conflict" and not waits else line.state
    return line if (line.undone, line.state) == (undone, state) else replace(line, undone=undone, state=state)
