"""What the main screen shows at one moment: one immutable value, handed down to every pane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace
from textual.message import Message

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.listing import ORDER_NAMES, ORDERS, Order, care_reasons, listing, own_tags, topics
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
