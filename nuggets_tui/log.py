"""The audit log as the app holds it: a line for each entry read so far, newest first, and how more are read."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from core.errors import InvalidInputError
from core.model.change import Author, ChangeKind
from core.model.entry import Entry, EntryState
from core.model.names import iso, parse_iso
from nuggets_tui.words import Deed, counted, deed, deeds_of

if TYPE_CHECKING:
    from core.memory import Memory

_PAGE: Final = 500


class Deeds(msgspec.Struct, frozen=True):
    """A sort of change that can be asked for: by kinds of change sets, or by the verbs of what they did."""

    name: str
    label: str
    kinds: tuple[ChangeKind, ...] = ()
    verbs: tuple[str, ...] = ()


DEEDS: Final = (
    Deeds("added", "added, remembered", verbs=("added", "remembered")),
    Deeds(
        "edited", "edited, renamed, tagged",
        verbs=("edited", "renamed", "changed", "tagged", "moved", "pinned", "unpinned"),
    ),
    Deeds("linked", "linked, unlinked", verbs=("linked", "unlinked")),
    Deeds("hid", "hidden, forgotten, brought back", verbs=("hid", "forgot", "brought back")),
    Deeds("merged", "merged", verbs=("merged away",)),
    Deeds("deleted", "deleted", verbs=("deleted",)),
    Deeds("reflection", "reflection runs", kinds=("reflection",)),
    Deeds("promotion", "promotions to MEMORY.md", kinds=("promotion",)),
    Deeds("undo", "undone, redone", kinds=("undo", "redo")),
    Deeds("import", "imported", kinds=("import",)),
    Deeds("restore", "restored", kinds=("restore",)),
    Deeds("repair", "repaired", kinds=("repair",)),
    Deeds("decision", "decisions", kinds=("decision",)),
    Deeds("mask", "credentials masked", kinds=("mask",)),
    Deeds("outside", "made by other programs", kinds=("outside",)),
    Deeds("hit", "recalls", kinds=("hit",)),
)  # fmt: skip
BY_NAME: Final = {deeds.name: deeds for deeds in DEEDS}
AUTHORS: Final = {
    "person": "you",
    "agent": "agents",
    "reflection": "reflection",
    "pipeline": "the pipeline",
    "program": "other programs",
}
_PEOPLE: Final = {label.removeprefix("the "): kind for kind, label in AUTHORS.items()} | {"me": "person"}
_CONDITION: Final = re.compile(r'\b(by|did|since|run):("[^"]*"|\S+)')
_MOST_WORDS: Final = 200


class Scope(msgspec.Struct, frozen=True):
    """What of the log is wanted. Of one field any of its values will do; what several fields ask for holds at once.

    recalls: these too. note_id: what concerns this note. authors: kinds or names. deeds: names of DEEDS. run: the id of
    an entry, with what became of it. text: words. since: an ISO time; `since_said` is how it is told.
    """

    recalls: bool = False
    note_id: str = ""
    authors: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()
    run: str = ""
    text: str = ""
    since: str = ""
    since_label: str = ""

    def asked(self) -> dict[str, Any]:
        """What the journal itself narrows by, as `History.log` takes it."""
        asked: dict[str, Any] = {
            "author": self.authors or None,
            "note": self.note_id or None,
            "run": self.run or None,
            "text": self.text or None,
            "since": self.since or None,
        }
        wanted = [BY_NAME[name] for name in self.deeds]
        if wanted and not any(deeds.verbs for deeds in wanted):
            asked["kind"] = [kind for deeds in wanted for kind in deeds.kinds]
        return {name: value for name, value in asked.items() if value is not None}

    def admits(self, entry: Entry) -> bool:
        """Whether an entry that the journal found is listed."""
        kind = entry.change_set.kind
        if not self.deeds:
            return self.recalls or kind != "hit"
        wanted = [BY_NAME[name] for name in self.deeds]
        if any(kind in deeds.kinds for deeds in wanted):
            return True
        verbs = {verb for deeds in wanted for verb in deeds.verbs}
        if not verbs or (kind == "hit" and not self.recalls):
            return False
        return any(deed.verb in verbs for deed in deeds_of(entry.change_set))

    @property
    def lists_recalls(self) -> bool:
        """Whether recalls may be among what is listed."""
        return self.recalls or "hit" in self.deeds

    @property
    def slow(self) -> bool:
        """Whether entries have to be looked through one by one, so that what is found may lie far back."""
        return bool(self.text) or any(BY_NAME[name].verbs for name in self.deeds)

    @property
    def filtered(self) -> bool:
        """Whether anything but the note and the recalls narrows the log."""
        return self != Scope(recalls=self.recalls, note_id=self.note_id)

    def cleared(self) -> Scope:
        return Scope(recalls=self.recalls, note_id=self.note_id)

    def describe(self) -> str:
        """The filters in words: "by reflection · last 7 days"; "" for none."""
        said = []
        if self.authors:
            said.append(f"by {' or '.join(AUTHORS.get(author, author) for author in self.authors)}")
        if self.deeds:
            said.append(" or ".join(BY_NAME[name].label.split(",")[0] for name in self.deeds))
        if self.run:
            said.append("one run")
        if self.since:
            said.append(self.since_label or f"since {self.since}")
        if self.text:
            said.append(f'"{self.text}"')
        return " · ".join(said)


def listed(memory: Memory, scope: Scope, limit: int, until: str | None = None) -> list[Entry]:
    """The newest entries that a scope admits, at most so many. until: an ISO time. Raises StorageError."""
    found: list[Entry] = []
    before: int | None = None
    while len(found) < limit:
        page = memory.history.log(limit=_PAGE, before=before, until=until, **scope.asked())
        found += [entry for entry in page if scope.admits(entry)]
        if len(page) < _PAGE:
            break
        before = page[-1].seq
    return found[:limit]


def read_filter(text: str, scope: Scope, now: datetime) -> Scope:
    """The scope narrowed as it is typed: by:claude did:hid since:7d run:ID, and words. Raises InvalidInputError."""
    from nuggets_tui.cli.moments import moment

    asked: dict[str, list[str]] = {}

    def take(found: re.Match[str]) -> str:
        asked.setdefault(found[1], []).append(found[2].strip('"'))
        return " "

    words = " ".join(_CONDITION.sub(take, text).split())[:_MOST_WORDS]
    unknown = [name for name in asked.get("did", ()) if name not in BY_NAME]
    if unknown:
        raise InvalidInputError(
            f'no kind of change is called "{unknown[0][:80]}"', todo=f"give one of {', '.join(BY_NAME)}"
        )
    since = asked.get("since", [""])[-1]
    return replace(
        scope.cleared(),
        authors=tuple(_PEOPLE.get(name.casefold(), name) for name in asked.get("by", ())),
        deeds=tuple(asked.get("did", ())),
        run=asked.get("run", [""])[-1],
        text=words,
        since=iso(moment(since, now.astimezone())) if since else "",
        since_label=since if since in ("", "today") else f"since {since}",
    )


PAGE: Final = 200
# Entries looked at for one page before giving up for now: among recalls there may be few others.
_MOST_PAGES: Final = 10
# Entries that words are looked for in at a time.
_WINDOW: Final = 500


class LogLine(msgspec.Struct, frozen=True):
    """One entry as the log lists it: who did what and when, and what became of it, without the change itself.

    counts: of a reflection run, how many things it did. day: the local day as `date.toordinal` has it, 0 for no time.
    """

    seq: int
    id: str
    at: str
    author: Author
    kind: ChangeKind
    reason: str
    deed: Deed
    state: EntryState = "done"
    undone: bool = False
    counts: str = ""
    day: int = 0


class Log(msgspec.Struct, frozen=True, eq=False):
    """The log as far as it was read. `waiting`: ids of the conflicts that wait for a person, newest first, of all.

    `taken_back` holds ids of entries, and "<id>.<number>" of their parts. `seen_to` and `read_to` are the numbers of
    the newest and the oldest entry that was looked at; `complete` says that there are no older ones. Nothing is known
    before it is `loaded`. `latest`: the newest change of all, where the scope leaves some out. `problem`: why the log
    cannot be read, "" when it can.
    """

    lines: tuple[LogLine, ...] = ()
    waiting: tuple[str, ...] = ()
    taken_back: frozenset[str] = frozenset()
    scope: Scope = Scope()
    seen_to: int = 0
    read_to: int = 0
    complete: bool = False
    loaded: bool = False
    latest: LogLine | None = None
    problem: str = ""

    @property
    def newest(self) -> int:
        """The number of the newest line, 0 for none."""
        return self.lines[0].seq if self.lines else 0

    @property
    def last(self) -> LogLine | None:
        """The newest entry that changed something and is no recall, whatever the scope leaves out."""
        if self.latest is not None:
            return self.latest
        return next((line for line in self.lines if line.state == "done" and line.kind != "hit"), None)

    def parts_taken_back(self, line: LogLine) -> int:
        """How many parts of an entry are taken back while the entry as a whole is not."""
        return 0 if line.undone else sum(each.startswith(f"{line.id}.") for each in self.taken_back)


def newest_entries(memory: Memory, former: Log, scope: Scope) -> Log:
    """The log as it is now. What was read before is not read again."""
    log = _continued(memory, former) if former.loaded and former.scope == scope else None
    if log is None:
        log = _page(memory, Log(scope=scope, loaded=True, seen_to=memory.history.newest()))
    problem = memory.history.problem
    log = replace(log, problem=problem.message if problem is not None else "")
    return _marked(memory, _with_latest(memory, log))


def older_entries(memory: Memory, former: Log) -> Log:
    """The log with one more page at its end."""
    return former if former.complete or not former.loaded else _page(memory, former)


def _page(memory: Memory, log: Log) -> Log:
    """About one page of what the scope admits, below what was read."""
    found: list[LogLine] = []
    read_to, scope = log.read_to or log.seen_to + 1, log.scope
    complete = False
    for _ in range(_MOST_PAGES):
        # Words are looked for in so many entries at a time: nobody else waits for the memory meanwhile.
        end = read_to - _WINDOW - 1 if scope.text else None
        page = memory.history.log(
            limit=None if scope.text else PAGE, before=read_to, after=end, **scope.asked()
        )
        found += [log_line(entry) for entry in page if scope.admits(entry)]
        if end is not None:
            read_to, complete = max(end + 1, 1), end <= 0
        else:
            read_to, complete = page[-1].seq if page else read_to, len(page) < PAGE
        if complete or len(found) >= PAGE:
            break
    return replace(log, lines=(*log.lines, *found), read_to=read_to, complete=complete)


def _continued(memory: Memory, former: Log) -> Log | None:
    """The former log with the entries that are new since; None when it does not go on where it was.

    They are read one by one: an entry can hold a whole memory, and none is to be read twice.
    """
    scope, known = former.scope, _stays(former)
    seen_to = memory.history.newest()
    if former.seen_to > seen_to or bool(former.problem) != (memory.history.problem is not None):
        # Another journal stands there now.
        return None
    found: list[LogLine] = []
    before = None
    for _ in range(PAGE):
        page = memory.history.log(limit=1, before=before, after=known, **scope.asked())
        if not page:
            break
        before = page[0].seq
        found += [log_line(entry) for entry in page if scope.admits(entry)]
    else:
        return None
    lines = (*found, *(line for line in former.lines if line.seq <= known))
    return replace(former, lines=lines, seen_to=seen_to)


def _with_latest(memory: Memory, log: Log) -> Log:
    """The log with the newest change of all, where it may not be among its lines."""
    if not (log.scope.filtered or log.scope.note_id):
        return replace(log, latest=None)
    if log.latest is not None and log.latest.seq == log.seen_to:
        return log
    before = None
    for _ in range(_MOST_PAGES):
        page = memory.history.log(limit=1, before=before)
        if not page:
            break
        if page[0].change_set.kind != "hit" and page[0].state == "done":
            return replace(log, latest=log_line(page[0]))
        before = page[0].seq
    return log


def _stays(former: Log) -> int:
    """The number of the newest entry that is still as it was read: the newest recalls may have become one since."""
    if not former.scope.lists_recalls:
        return former.seen_to
    return next((line.seq for line in former.lines if line.kind != "hit"), 0)


def log_line(entry: Entry) -> LogLine:
    """An entry as the log lists it."""
    change_set = entry.change_set
    return LogLine(
        seq=entry.seq,
        id=entry.id,
        at=change_set.at,
        author=change_set.author,
        kind=change_set.kind,
        reason=change_set.reason,
        deed=deed(change_set),
        state=entry.state,
        undone=entry.undone,
        counts=counted(change_set) if change_set.kind == "reflection" and change_set.size > 1 else "",
        day=_day(change_set.at),
    )


def _day(stamp: str) -> int:
    moment = parse_iso(stamp)
    try:
        return moment.astimezone().toordinal() if moment is not None else 0
    except (OverflowError, OSError, ValueError):
        return 0


def _marked(memory: Memory, log: Log) -> Log:
    """The log with every entry's state as it is now, also of those that were read before."""
    waiting, taken_back = tuple(entry.id for entry in memory.history.conflicts()), memory.history.taken_back()
    lines = tuple(_as_it_is(line, line.id in taken_back, line.id in waiting) for line in log.lines)
    return replace(log, lines=lines, waiting=waiting, taken_back=taken_back)


def _as_it_is(line: LogLine, undone: bool, waits: bool) -> LogLine:
    state: EntryState = "settled" if line.state == "conflict" and not waits else line.state
    return line if (line.undone, line.state) == (undone, state) else replace(line, undone=undone, state=state)
