"""What the main screen shows at one moment: one immutable value, handed down to every pane."""

from __future__ import annotations

import threading
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from itertools import compress, count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace
from textual.message import Message

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.log import Log
from nuggets_tui.pipeline_status import NOT_BEGUN, PipelineIndicator

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.graph.neighbours import Suggestion
    from core.model.judgement import Stale
    from core.search import Hit, SearchResult
    from core.search.query_syntax import Clause
    from core.search.results import Passage
    from core.sync import SyncState
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.widgets.note_view import NoteAuthors

__all__ = [
    "ORDERS",
    "ORDER_NAMES",
    "Found",
    "Order",
    "Past",
    "TeamNotes",
    "View",
    "answering",
    "care_reasons",
    "changed_between",
    "changed_notes",
    "listed",
    "own_tags",
    "prepare",
    "same_but",
]  # fmt: skip

_EMPTY: Final = Snapshot()
_NO_LOG: Final = Log()


class Found(msgspec.Struct, frozen=True):
    """What a search brought: hits best first, the answer an agent's recall would give, and the time it took.

    capped: there may be more hits. clauses: how the query was read, and what became of its words.
    nowhere: words that no note holds. instead: queries that find something, where this one found nothing. more: whether
    the same search finds out more for who waits a moment. passages: parts of documents beside the hits.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    recall: Recall | None = None
    seconds: float = 0.0
    capped: bool = False
    clauses: tuple[Clause, ...] = ()
    nowhere: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    more: bool = False
    passages: tuple[Passage, ...] = ()

    @staticmethod
    def of(query: str, result: SearchResult, seconds: float, limit: int) -> Found:
        """What a search for at most `limit` hits brought, before its recall."""
        capped = len(result.hits) >= limit
        return Found(
            query, result.hits, None, seconds, capped, result.clauses, result.nowhere, result.instead,
            result.more, result.passages,
        )  # fmt: skip

    @property
    def nothing(self) -> bool:
        """Whether there is neither a hit nor the answer of a recall."""
        return not (self.hits or self.passages) and not (self.recall is not None and self.recall.found)

    @property
    def weighed(self) -> bool:
        """Whether hits have scores; without words to weigh the newest comes first."""
        return not self.hits or bool(self.hits[0].breakdown.blend)


class Past(msgspec.Struct, frozen=True):
    """The moment of the past that is shown. at: when that state came to be, as files hold times, "" before the log.

    seq: the number of the newest entry of the log that it still has, 0 for none. changes_after: how many were made
    since; begins: whether nothing older is known. news: whether the memory changed while one looked back.
    """

    position: int
    at: str
    seq: int
    changes_after: int
    begins: bool = False
    news: bool = False


class TeamNotes(msgspec.Struct, frozen=True, eq=False):
    """The team's notes beside a person's own. folder: where they lie. waiting: entries of their log with a conflict."""

    folder: str
    snapshot: Snapshot
    waiting: tuple[str, ...] = ()


class View(msgspec.Struct, frozen=True, eq=False):
    """The state of the main screen.

    `pages`: whether its notes are pages of Markdown, which lie in `home`; `team_home`: whether those are a team's, else
    they are Claude Code's.
    `note_id` is the note shown in the Note pane, `selected` the ids of the notes that commands act on instead.
    `found` is None while nothing is searched. `fresh` names the notes that the last change touched. `busy` names
    long work under way, and `trouble` why the files cannot be read just now; "" when there is none.
    `polling`: the system has no free watches, so the files are looked at now and then.
    `show_facts`: whether Notes lists the notes of facts, which Facts lists too.
    `reflection_due`: the daily pass waits for the person; `proposed`: how many changes it would propose, 0 while that
    is not known. `promotable`: lines for MEMORY.md that wait until the person says whether the pass may write them.
    `origin`: where a note comes from, once the log was asked; of the note shown when it bears its id.
    `new_since`: when the person was here before, as files hold times; "" for never. `own`: ids of notes that the
    person changed since, each with the time of that change, which is no news. Before a large memory is `loaded`, its
    newest titles and its facts may be there, with the counts of visible and hidden notes and of nuggets in
    `quick_counts`. `past`: the moment that `snapshot` shows in place of the present, None for the present. `pipeline`:
    its status. `awaited`: titles of the connected agents
    whose first recall has not arrived. `sync`: how the memory stands to its remote, None where no sync is set up.
    `team`: the notes of the team in whose project one works, None where it has none, and `team_known`: whether that was
    looked up yet. `untrusted`: how many notes the project has that are not used until the person says so. `arrived`:
    ids of notes that a sync brought or changed since the person was here before, whenever that was written.
    `projects`: the name of its project for each nugget that is not the person's. `stale`: what notes name of code that
    moved or is gone, by the ids of those that do; `code_changed`: of code that is where it was and only changed.
    """

    home: str = ""
    pages: bool = False
    team_home: bool = False
    snapshot: Snapshot = _EMPTY
    log: Log = _NO_LOG
    now: datetime | None = None
    note_id: str = ""
    selected: frozenset[str] = frozenset()
    order: Order = "newest"
    show_hidden: bool = False
    show_facts: bool = False
    found: Found | None = None
    suggested: tuple[Suggestion, ...] = ()
    origin: NoteAuthors | None = None
    new_since: str = ""
    own: frozenset[tuple[str, str]] = frozenset()
    hops: int = 1
    fresh: frozenset[str] = frozenset()
    trouble: str = ""
    polling: bool = False
    busy: str = ""
    reflection_due: bool = False
    proposed: int = 0
    promotable: int = 0
    loaded: bool = False
    quick_counts: tuple[int, int, int] | None = None
    keys: KeyMap = DEFAULT
    past: Past | None = None
    pipeline: PipelineIndicator = NOT_BEGUN
    awaited: tuple[str, ...] = ()
    sync: SyncState | None = None
    team: TeamNotes | None = None
    team_known: bool = False
    untrusted: int = 0
    arrived: frozenset[str] = frozenset()
    projects: Mapping[str, str] = {}
    stale: Mapping[str, Stale] = {}
    code_changed: Mapping[str, Stale] = {}

    @property
    def counts(self) -> tuple[int, int]:
        """How many notes are visible and how many hidden."""
        if self.quick_counts is not None:
            return self.quick_counts[:2]
        visible = len(self.snapshot.visible)
        return visible, len(self.snapshot.notes) - visible

    @property
    def nugget_count(self) -> int:
        """How many nuggets there are, those too of which only notes speak."""
        return self.quick_counts[2] if self.quick_counts is not None else len(self.snapshot.nugget_names)

    @property
    def topics(self) -> tuple[str, ...]:
        """The tags of the note shown that say what it is about."""
        return topics(self.note) if self.note is not None else ()

    @property
    def note(self) -> Note | None:
        """The note shown in the Note pane, if there is one."""
        return self.find(self.note_id)

    @property
    def around(self) -> Snapshot:
        """The memory that holds the note shown: the person's own, or the team's."""
        return self.holder(self.note_id)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Entries with a conflict that waits for a person: of their own log, then of the team's."""
        return (*self.log.waiting, *(self.team.waiting if self.team is not None else ()))

    @property
    def searched(self) -> tuple[Snapshot, Snapshot | None]:
        """The notes that a search looks at: a person's own and the team's, which has none in the past."""
        return self.snapshot, self.team.snapshot if self.team is not None and self.past is None else None

    def of_team(self, note_id: str) -> bool:
        """Whether a note is one of the team's beside a person's own."""
        team = self.team
        if team is None or self.past is not None or note_id in self.snapshot.by_id:
            return False
        return note_id in team.snapshot.by_id

    def holder(self, note_id: str) -> Snapshot:
        """The memory that holds a note: the team's where only that does, else the person's own."""
        return self.team.snapshot if self.team is not None and self.of_team(note_id) else self.snapshot

    def find(self, note_id: str) -> Note | None:
        """A note of the person's or of the team's, as it is now."""
        return self.holder(note_id).by_id.get(note_id)

    @property
    def empty(self) -> bool:
        """Whether the memory holds nothing at all."""
        return self.loaded and not self.snapshot.notes and not self.snapshot.fact_count

    @property
    def begins(self) -> bool:
        """Whether how to begin stands in place of the panes: a memory that holds nothing, unless a search shows the
        team's notes.
        """
        return self.empty and (self.team is None or self.found is None)

    def with_(self, **changes: object) -> View:
        return replace(self, **changes)


_FIELDS: Final = View.__struct_fields__


def changed_between(before: View, after: View, *names: str) -> bool:
    """Whether one of the named fields is another object than before."""
    return any(getattr(before, name) is not getattr(after, name) for name in names)


def same_but(before: View, after: View, *names: str) -> bool:
    """Whether all but the named fields are the same objects."""
    return not any(getattr(before, name) is not getattr(after, name) for name in _FIELDS if name not in names)


def changed_notes(before: Snapshot, after: Snapshot) -> frozenset[str]:
    """Ids of notes that are new or other than before."""
    known = before.by_id
    return frozenset(
        note.id for note in after.notes if (was := known.get(note.id)) is not note and was != note
    )


def answering(recall: Recall, snapshot: Snapshot) -> Note | None:
    """The note that a recall answered from, or that mirrors the fact it answered with."""
    return snapshot.by_id.get(recall.note_id or "") or snapshot.fact_notes.get(
        (recall.nugget_name, recall.key)
    )


def prepare(snapshot: Snapshot) -> Snapshot:
    """The same snapshot, with everything made that panes look up in it; for a thread, before it is shown."""
    _ = snapshot.by_id, snapshot.by_name, snapshot.visible, snapshot.links_in, snapshot.fact_notes
    listed(snapshot, "newest", False)
    return snapshot


def listed(snapshot: Snapshot, order: Order, show_hidden: bool, show_facts: bool = False) -> Sequence[Note]:
    """The notes of the Notes pane in the order asked for."""

    return listing(snapshot, order, show_hidden, show_facts).notes


class Asked(Message):
    """The main screen is to do something, once it hears of it."""

    def __init__(self, what: Callable[[MainScreen], object]) -> None:
        super().__init__()
        self.what = what


Order = Literal["newest", "recalls", "title", "care"]
ORDERS: Final[tuple[Order, ...]] = ("newest", "recalls", "title", "care")
ORDER_NAMES: Final[dict[Order, str]] = {
    "newest": "newest first",
    "recalls": "most recalled",
    "title": "by title",
    "care": "needs care",
}
PINNED: Final = "pinned"
"""The tag of a note that reflection leaves alone."""
_DULL_TAGS: Final = ("scope:", "type:")
_ID: Final = attrgetter("id")


def care_reasons(note: Note, snapshot: Snapshot) -> tuple[str, ...]:
    """What a note lacks, worst first: tags of its own, links, or ever having been recalled."""
    reasons = []
    if not own_tags(note):
        reasons.append("untagged")
    if not note.links and not snapshot.links_in.get(note.id):
        reasons.append("unlinked")
    if not note.hits:
        reasons.append("never recalled")
    return tuple(reasons)


def own_tags(note: Note) -> tuple[str, ...]:
    """The tags that say more than nugget, scope and type do."""
    nugget = note.nugget_name.lower()
    return tuple(tag for tag in note.tags if tag != nugget and not tag.startswith(_DULL_TAGS))


def topics(note: Note) -> tuple[str, ...]:
    """The tags that say what a note is about: its own ones, without the sign of a pinned note."""
    return tuple(tag for tag in own_tags(note) if tag != PINNED)


MANY: Final = 20_000
"""Notes above which an order is made in a thread."""
# A sort holds the interpreter from its beginning to its end: larger ones are made of pieces of so many notes.
_PIECE: Final = 4_000
# So many new notes are put in their places one by one sooner than everything is sorted again.
_FEW: Final = 500
# Orders kept of one snapshot: the one shown, and the one that everybody comes back to.
_KEPT: Final = 2


@dataclass(frozen=True, eq=False)
class Listing:
    """Notes in an order, their ids, and the place of each by its id."""

    notes: Sequence[Note] = ()
    ids: Sequence[str] = ()
    places: Mapping[str, int] = field(default_factory=dict)


Wanted = tuple[Order, bool, bool]
_made: Final[WeakKeyDictionary[Snapshot, dict[Wanted, Listing]]] = WeakKeyDictionary()
_guard: Final = threading.Lock()


def listing_at_hand(
    snapshot: Snapshot, order: Order, show_hidden: bool, show_facts: bool = True
) -> Listing | None:
    """The listing if it need not be waited for: made before, or of so few notes that it is made at once."""
    with _guard:
        known = _made.get(snapshot, {}).get((order, show_hidden, show_facts))
    if known is not None or len(snapshot.notes) > MANY:
        return known
    return listing(snapshot, order, show_hidden, show_facts)


def listing(snapshot: Snapshot, order: Order, show_hidden: bool, show_facts: bool = True) -> Listing:
    """The notes of a memory in the order asked for; safe to call in any thread. show_facts: with the visible notes of
    facts, which Facts lists too. The hidden ones of facts that were forgotten stand nowhere else.
    """
    wanted = (order, show_hidden, show_facts)
    with _guard:
        known = _made.get(snapshot, {}).get(wanted)
    if known is None:
        known = _listing(snapshot, wanted)
        with _guard:
            kept = _made.setdefault(snapshot, {})
            kept[wanted] = known
            while len(kept) > _KEPT:
                kept.pop(next(iter(kept)))
    return known


def filtered(notes: Sequence[Note], snapshot: Snapshot, order: Order) -> Listing:
    """Some notes of a memory, given newest first, in the order asked for."""
    return _of(notes if order == "newest" else _sorted(notes, snapshot, order))


def _listing(snapshot: Snapshot, wanted: Wanted) -> Listing:
    order, show_hidden, show_facts = wanted
    notes: Sequence[Note] = snapshot.notes if show_hidden else snapshot.visible
    if not show_facts:
        notes = [note for note in notes if note.kind != "fact" or note.hidden]
    former = _former(snapshot, wanted) if order == "newest" else None
    amended = _amended(former.notes, notes) if former is not None else None
    return _of(amended if amended is not None else _sorted(notes, snapshot, order))


def _former(snapshot: Snapshot, wanted: Wanted) -> Listing | None:
    """The same listing of the newest other state of the memory, while that is shown somewhere."""
    with _guard:
        others = [
            (other.revision, made[wanted])
            for other, made in _made.items()
            if wanted in made and other is not snapshot and other.home == snapshot.home
        ]
    return max(others, key=lambda pair: pair[0])[1] if others else None


def _amended(former: Sequence[Note], notes: Sequence[Note]) -> list[Note] | None:
    """Notes newest first, made of such a list that differs in a few of them; None where it differs in many."""
    # An agent's write waits for this: loops over all notes take three times as long as these calls.
    present, known = set(map(id, notes)), set(map(id, former))
    new, gone = present - known, known - present
    fresh = list(compress(notes, map(new.__contains__, map(id, notes)))) if new else []
    oldest_first = list(reversed(former))
    if gone:
        oldest_first = list(compress(oldest_first, map(present.__contains__, map(id, oldest_first))))
    if len(fresh) > _FEW or len(oldest_first) + len(fresh) != len(notes):
        return None
    for note in fresh:
        insort(oldest_first, note, key=_newest)
    oldest_first.reverse()
    return oldest_first


def _of(ordered: Sequence[Note]) -> Listing:
    ids = tuple(map(_ID, ordered))
    return Listing(ordered, ids, dict(zip(ids, count())))


def _sorted(notes: Sequence[Note], snapshot: Snapshot, order: Order) -> list[Note]:
    if order == "newest":
        return _ordered(notes, _newest, reverse=True)
    if order == "recalls":
        return _ordered(notes, lambda note: (-note.hits, note.title.casefold()))
    if order == "title":
        return _ordered(notes, lambda note: (note.title.casefold(), note.id))
    return _ordered(
        notes, lambda note: (-len(care_reasons(note, snapshot)), note.updated_at or note.created_at)
    )


def _newest(note: Note) -> tuple[str, str]:
    return (max(note.updated_at, note.created_at), note.id)


def _ordered(notes: Sequence[Note], key: Callable[[Note], Any], *, reverse: bool = False) -> list[Note]:
    """As `sorted`, such that other threads get their turn every few milliseconds."""
    if len(notes) <= MANY:
        return sorted(notes, key=key, reverse=reverse)
    sign = -1 if reverse else 1
    # The place tells equal notes apart as a stable sort would, and keeps two notes from ever being compared.
    keyed = [(key(note), sign * place, note) for place, note in enumerate(notes)]
    pieces = [
        sorted(keyed[start : start + _PIECE], reverse=reverse) for start in range(0, len(keyed), _PIECE)
    ]
    return [note for _, _, note in merge(*pieces, reverse=reverse)]
