"""How the demo memory came to be: its notes and facts told again as the entries of a log, session by session."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from core.model.change import PROGRAM, Author, ChangeKind, ChangeSet, FactChange, NoteChange, NuggetChange
from core.model.draft_facts import DraftFacts
from core.model.fact import Fact, NuggetMeta
from core.model.names import iso
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from tools.demo.build import id_of
from tools.demo.handwritten import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.memory import Memory
    from tools.demo.handwritten import DemoEntry

_PERSON: Final = "mira"
_AUTHORS: Final = {
    _PERSON: Author("person", _PERSON),
    "reflection": Author("reflection"),
    "another program": PROGRAM,
}
_KINDS: Final[dict[str, ChangeKind]] = {"reflection": "reflection", "program": "outside"}


@dataclass(frozen=True)
class Chapter:
    """One entry of the log as data/history.toml tells it; that file says what each field means."""

    at: datetime
    by: Author
    says: str
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[frozenset[str], ...] = ()
    wrong: dict[str, str] = field(default_factory=dict)
    takes_back: bool = False
    recalls: bool = False

    @property
    def session(self) -> bool:
        """Whether it brings whatever is new."""
        return not (self.names or self.links or self.wrong or self.takes_back or self.recalls)

    @property
    def kind(self) -> ChangeKind:
        """What the log calls it."""
        return "hit" if self.recalls else "undo" if self.takes_back else _KINDS.get(self.by.kind, "edit")


@dataclass
class _EntryState:
    """How far one entry has been told: its note is there, with its last text, recalled, hidden."""

    entry: DemoEntry
    order: float
    there: bool = False
    edited: bool = False
    recalled: bool = False
    hidden: bool = False


def write_history(memory: Memory, written: list[DemoEntry], made: ChangeSet, *, whole: bool) -> None:
    """Makes a memory that holds exactly the entries, by the chapters of its story; it has to be empty.

    made: what would make the memory as it is to be in the end. whole: none of the entries is missing, so that the
    facts that are hidden in the end have stood in the very place that their notes keep.
    """
    final = [change.note for change in made.notes]
    story = _Story(written, final, whole=whole)
    for change_set in story.change_sets(lambda: memory.snapshot):
        memory.apply(change_set, keep_time=True)


class _Story:
    """Turns chapters into change sets, each thought out on the memory that those before it left."""

    def __init__(self, written: list[DemoEntry], final: Iterable[Note], *, whole: bool) -> None:
        table = read_table("data/history.toml")
        self._chapters = [_chapter(row) for row in table["entry"]]
        self._was: dict[str, list[list[str]]] = table["was"]
        self._final = {note.id: note for note in final}
        self._states = {state.entry.name: state for state in _unfolding(written, whole=whole)}
        self._placed: dict[str, list[float]] = {}
        self._links_to_come = {pair for chapter in self._chapters for pair in chapter.links}
        self._named = {name for chapter in self._chapters for name in chapter.names}
        self._tags_to_come = {name: c.tags for c in self._chapters for name in c.names if c.tags}
        self._holders: dict[str, set[str]] = {name: set() for name in self._states}
        for name, state in self._states.items():
            for target in state.entry.links:
                if target in self._states:
                    self._holders[name].add(target)
                    self._holders[target].add(name)
        self._names = {id_of(state.entry): name for name, state in self._states.items()}

    def change_sets(self, snapshot: Callable[[], Snapshot]) -> Iterator[ChangeSet]:
        """The entries of the log, oldest first. snapshot: gives the memory as the last one left it."""
        last: ChangeSet | None = None
        for number, chapter in enumerate(self._chapters, 1):
            id = f"{number:08x}"
            if chapter.takes_back:
                if last is None:
                    continue
                at = iso(chapter.at)
                made = last.inverse(id=id, at=at, author=chapter.by, reason=chapter.says)
            else:
                made = self._change_set(id, chapter, snapshot())
            last = None if made.empty else made
            if last is not None:
                yield last

    def _change_set(self, id: str, chapter: Chapter, snapshot: Snapshot) -> ChangeSet:
        touched = self._move_on(chapter)
        due = [state for name, state in self._states.items() if name in touched]
        known = snapshot.by_id
        # What is new is what the log says first.
        notes = sorted((self._note(state, chapter) for state in due), key=lambda note: note.id in known)
        facts = self._facts(due, snapshot)
        names = dict.fromkeys(note.nugget_name for note in notes)
        return ChangeSet(
            id=id,
            at=iso(chapter.at),
            author=chapter.by,
            reason=chapter.says,
            kind=chapter.kind,
            notes=tuple(NoteChange(id=note.id, before=known.get(note.id), after=note) for note in notes),
            facts=facts,
            nuggets=tuple(
                NuggetChange(name=name, before=None, after=NuggetMeta(name=name))
                for name in names
                if name not in snapshot.by_name
            ),
        )

    def _move_on(self, chapter: Chapter) -> set[str]:
        """Marks what a chapter tells; the names of all entries whose notes may differ by it."""
        if chapter.wrong:
            return {name for name in chapter.wrong if self._is_there(name)}
        if chapter.links:
            self._links_to_come -= set(chapter.links)
            return {name for pair in chapter.links for name in pair if self._is_there(name)}
        moved: set[str] = set()
        for name, state in self._states.items():
            entry, before = state.entry, (state.there, state.edited, state.recalled, state.hidden)
            if chapter.recalls:
                used = entry.used is not None and entry.used <= chapter.at
                state.recalled |= state.there and not state.hidden and used
            elif chapter.session:
                state.there |= entry.created <= chapter.at
            if name in chapter.names or (chapter.session and name not in self._named):
                state.edited |= state.there and _edited_by(entry, chapter)
                state.hidden |= state.there and entry.hidden is not None and entry.hidden <= chapter.at
            if before != (state.there, state.edited, state.recalled, state.hidden):
                moved.add(name)
        beside = {other for name in moved for other in self._holders[name] if self._is_there(other)}
        return moved | beside if not chapter.recalls else moved

    def _is_there(self, name: str) -> bool:
        return name in self._states and self._states[name].there

    def _note(self, state: _EntryState, chapter: Chapter) -> Note:
        """The note of an entry as far as it has been told."""
        entry, note = state.entry, self._final[id_of(state.entry)]
        links = tuple(link for link in note.links if self._is_linked(state, self._names[link.to]))
        changes: dict[str, Any] = {"links": links}
        if not state.recalled:
            changes |= {"hits": 0, "last_hit_session": "", "last_accessed_at": note.created_at}
        if not state.hidden:
            changes |= {"hidden": False, "archived_at": None, "hidden_fact": None}
        if not state.edited:
            held_back = self._tags_to_come.get(entry.name, ())
            changes |= {
                "content": self._earlier(entry),
                "tags": tuple(tag for tag in note.tags if tag not in held_back),
                "updated_at": note.created_at,
                "last_rewritten_at": None,
            }
        if entry.name in chapter.wrong:
            changes |= {"content": chapter.wrong[entry.name], "updated_at": iso(chapter.at)}
        return replace(note, **changes)

    def _is_linked(self, state: _EntryState, name: str) -> bool:
        """Whether a link is there already. A note that will be hidden gets its links as it is hidden."""
        other = self._states[name]
        waits = any(one.entry.hidden is not None and not one.hidden for one in (state, other))
        to_come = frozenset((state.entry.name, name)) in self._links_to_come
        return other.there and not waits and not to_come

    def _earlier(self, entry: DemoEntry) -> str:
        """What an entry said before it was edited; the same text when it never was."""
        if not _changes(entry) and (entry.name not in self._named or entry.hidden is not None):
            return entry.content
        if entry.name in self._was:
            text = entry.content
            for now, then in self._was[entry.name]:
                text = text.replace(now, then)
            return text
        lines, sentence, _ = entry.content.rpartition("\n")
        if sentence and not entry.content.endswith("```"):
            return lines.rstrip("\n")
        before, sentence, _ = entry.content.rpartition(". ")
        return f"{before}." if sentence else entry.content

    # Facts

    def _facts(self, due: list[_EntryState], snapshot: Snapshot) -> tuple[FactChange, ...]:
        """The changes of the fact files that go with notes; each fact stands where it does in the end."""
        working: dict[str, DraftFacts] = {}
        for state in due:
            entry = state.entry
            if entry.kind != "fact":
                continue
            if entry.nugget not in working:
                known = snapshot.by_name.get(entry.nugget)
                working[entry.nugget] = DraftFacts(known.facts if known is not None else ())
            placed = self._placed.setdefault(entry.nugget, [])
            place = bisect_left(placed, state.order)
            stands = placed[place : place + 1] == [state.order]
            if state.hidden:
                if stands:
                    working[entry.nugget].take(entry.title)
                    placed.pop(place)
                continue
            hits, session = (entry.hits, entry.session) if state.recalled else (0, "")
            fact = Fact(key=entry.title, value=entry.content, hits=hits, last_hit_session=session)
            working[entry.nugget].put(fact, place)
            if not stands:
                placed.insert(place, state.order)
        return tuple(change for name, facts in working.items() for change in facts.changes(name))


def _chapter(row: dict[str, Any]) -> Chapter:
    given = {name: row[name] for name in ("wrong", "takes_back", "recalls") if name in row}
    return Chapter(
        at=row["at"].astimezone(UTC),
        by=_AUTHORS.get(row["by"]) or Author("agent", row["by"]),
        says=row["says"],
        names=tuple(row.get("names", ())),
        tags=tuple(row.get("tags", ())),
        links=tuple(frozenset(pair) for pair in row.get("links", ())),
        **given,
    )


def _unfolding(written: list[DemoEntry], *, whole: bool) -> Iterator[_EntryState]:
    """The entries in the order in which they were made, each with its place among the facts of its nugget."""
    order: dict[str, float] = {}
    counts: dict[str, int] = {}
    for entry in written:
        if entry.kind == "fact" and entry.hidden is None:
            counts[entry.nugget] = counts.get(entry.nugget, -1) + 1
            order[entry.name] = counts[entry.nugget]
        else:
            order[entry.name] = entry.place - 0.5
    for entry in sorted(written, key=lambda entry: (entry.created, entry.name)):
        leaves = entry.hidden is not None
        never_seen = entry.kind == "fact" and leaves and not whole
        # A fact takes its counts along as it is hidden.
        yield _EntryState(entry, order[entry.name], hidden=never_seen, recalled=leaves)


def _changes(entry: DemoEntry) -> bool:
    """Whether an entry is edited some time after it was made."""
    return entry.edited is not None or entry.rewritten is not None


def _edited_by(entry: DemoEntry, chapter: Chapter) -> bool:
    """Whether an entry has its last text by the end of a chapter that may bring it."""
    moments = [moment for moment in (entry.edited, entry.rewritten) if moment is not None]
    return all(moment <= chapter.at for moment in moments)
