"""A memory's history: its entries, undo, redo and conflicts."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

import msgspec

from core.errors import (
    ConflictError,
    ErrorCode,
    InvalidInputError,
    NotFoundError,
    NuggetsError,
    Remedy,
    StorageError,
    partly_done,
)
from core.model.change import Author, ChangeKind, ChangeSet, FactChange, NoteChange
from core.model.change_parts import count_parts, part_reference, referenced_parts, select_parts
from core.model.entry import Conflict, Entry
from core.model.note import Note, custom_tags, replace
from core.services.log_access import guarded
from core.storage.journal.codec import EntryFilters, note_item
from core.storage.journal.journal import Journal
from core.storage.merge.merge import concerning, in_step, rebase
from core.storage.merge.three_way import Decide, same_meaning, take_ours, take_theirs
from core.storage.store import Store
from core.text.normalise import normalise_content, normalise_line

if TYPE_CHECKING:
    from core.memory import Memory
    from core.timeline import Timeline

OWN_KINDS: Final[tuple[ChangeKind, ...]] = (
    "edit", "reflection", "promotion", "import", "restore", "repair", "decision",
)  # fmt: skip
_TURNS: Final[tuple[ChangeKind, ...]] = ("undo", "redo")
_TOLD: Final = {"undo": "undid", "redo": "redid"}
_KEPT: Final = "nothing was written"
_MOST_DIGITS: Final = 9
# Entries that are told where nobody says how many.
_MOST: Final = 100
_OLDEST: Final = "SELECT at FROM entry WHERE state NOT IN ('pending', 'version') ORDER BY seq LIMIT 1"
_COUNTS: Final = (
    "SELECT author_kind, author_name, kind, count(*) FROM entry WHERE state NOT IN ('pending', 'version') "
    "GROUP BY 1, 2, 3"
)
# Of the rows of a group it is that with the least `seq` whose id is told.
_CALLERS: Final = (
    "SELECT made_by, id, min(seq) FROM entry WHERE kind = 'hit' AND state = 'done' AND made_by <> '' AND seq > ? "
    "GROUP BY made_by"
)
_MAKERS: Final = (
    "SELECT author_kind, author_name, at FROM entry JOIN touched USING (seq) "
    "WHERE item = ? AND state = 'done' AND kind <> 'hit' ORDER BY seq"
)


class History:
    """The log of one memory, as one of several that may be open on it. Each call raises StorageError for a log that
    cannot be read.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def _store(self) -> Store:
        return self._memory.store

    @property
    def _journal(self) -> Journal:
        """The journal. Raises NotFoundError when there is none yet, StorageError, ReadOnlyError for one that cannot be
        read.
        """
        if self._store.log_problem is not None:
            raise self._store.log_problem
        if self._store.journal is None:
            raise NotFoundError("the history is empty")
        return self._store.journal

    @property
    def problem(self) -> NuggetsError | None:
        """Why the log cannot be read; None when it can, and when there is none yet."""
        return self._store.log_problem

    @guarded
    def log(self, **filters: Unpack[EntryFilters]) -> tuple[Entry, ...]:
        """Everything that ever changed, newest first; the newest hundred where no limit is given."""
        filters.setdefault("limit", _MOST)
        journal = self._store.journal
        return () if journal is None else journal.entries(**filters)

    @guarded
    def clear(self) -> None:
        """Deletes every entry for good, with the conflicts that wait; notes and facts stay as they are. Nothing that
        was done before can be undone then. Raises LockTimeoutError, StorageError, ReadOnlyError.
        """
        self._store.clear_history()

    @guarded
    def newest(self) -> int:
        """The number (`seq`) of the newest entry, 0 for none; no entry is read for it."""
        journal = self._store.journal
        return 0 if journal is None else journal.last_seq

    @guarded
    def began(self) -> str:
        """When the oldest entry was made, "" for an empty log; no entry is read for it."""
        return "".join(at for (at,) in self._rows(_OLDEST))

    def _rows(self, query: str, *values: object) -> Iterable[tuple[Any, ...]]:
        """What the log answers; no entry is read for it."""
        journal = self._store.journal
        return () if journal is None else journal.rows(query, values)

    @guarded
    def counts(self) -> tuple[tuple[str, str, str, int], ...]:
        """The number of entries by kind and name of the author and kind of the change set."""
        return tuple((kind, name, made, count) for kind, name, made, count in self._rows(_COUNTS))

    @guarded
    def callers(self, after: int = 0) -> dict[str, str]:
        """Whose recalls were counted: signatures of authors ("agent:claude"), whatever session they counted for, each
        with the id of the oldest of them. after: the number (`seq`) of an entry, for recalls since.
        """
        return {signature: id for signature, id, _ in self._rows(_CALLERS, after)}

    @guarded
    def makers(self, note_id: str) -> tuple[tuple[Author, str], ...]:
        """Who changed a note and when, oldest first, recalls left out."""
        return tuple((Author(kind, name), at) for kind, name, at in self._rows(_MAKERS, note_item(note_id)))

    def author_of(self, note_id: str) -> str:
        """Who last wrote a note, as people call them; "" where the history does not know."""
        with contextlib.suppress(NuggetsError):
            return str(next((who for who, _ in reversed(self.makers(note_id))), ""))
        return ""

    @guarded
    def has(self, id: str) -> bool:
        """Whether the log has an entry of this id."""
        with contextlib.suppress(NotFoundError):
            return self._journal.entry(id).id == id
        return False

    @guarded
    def timeline(self) -> Timeline:
        """Every state of the memory as far back as the log reaches. Only reads. Errors as in `Memory.refresh`."""
        from core.timeline import timeline_of

        self._memory.refresh_read_only()
        return timeline_of(self._memory.snapshot, self._memory)

    @guarded
    def entry(self, id: str) -> Entry:
        """The entry with this id, or with the only one that begins so. Raises NotFoundError, AmbiguousError."""
        if not id.strip():
            raise InvalidInputError("the id is empty", code=ErrorCode.EMPTY, field="id", remedy=Remedy("log"))
        if self._store.journal is None and self._store.log_problem is None:
            raise NotFoundError("no such entry", field="entry", remedy=Remedy("log"), where=id)
        return self._journal.entry(id.strip())

    @guarded
    def is_decision(self, done: ChangeSet) -> bool:
        """Whether a change set is a decision that touches no note, or takes one back or repeats it."""
        if done.kind == "decision" or not (done.empty and done.about):
            return done.kind == "decision"
        return self.entry(done.about).change_set.kind == "decision"

    @guarded
    def taken_back(self) -> frozenset[str]:
        """Ids of entries, and "<id>.<number>" of parts, that are undone at present."""
        return self._store.journal.undone() if self._store.journal is not None else frozenset()

    # Taking back

    @guarded
    def undo(self, what: ChangeSet | str | None = None, part: int | None = None) -> ChangeSet:
        """Undoes an entry of the log, whoever made it, or one part of it (`part`, or "<id>.<number>"), as a new change
        set. Later changes to other fields stay. None: the last change of this memory's author, made through this
        window or before it was opened.

        Raises NotFoundError when there is nothing to take back, InvalidInputError for what is taken back already or
        was masking (with the change before it as its remedy, where the last one was meant), ConflictError that says
        what stands in the way.
        """
        self._memory.finish_changes()
        wanted: frozenset[int] | None = None
        if isinstance(what, ChangeSet):
            known = self._known(what)
            if known is None or what.kind == "hit":
                # A recall stands in the log together with others; this one alone is meant.
                about = what.id if known is None else ""
                return self._turned(what, "undo", about, what.reason, backwards=True)
            entry = known
        elif what is None:
            entry = self._last_own()
        else:
            entry, wanted = self._named(what)
        wanted = wanted if part is None else frozenset({part})
        if entry.state == "conflict":
            told = "this change waits as a conflict and is not written yet"
            raise _refused(told, entry.id, Remedy("resolve", entry.id))
        if entry.change_set.kind == "mask":
            raise _refused("masking cannot be undone: the value is stored nowhere any more", entry.id)
        if entry.change_set.kind in _TURNS:
            return self._turn_back(entry)
        if entry.change_set.mends and wanted is None:
            return self._undo_repair(entry)
        return self._turn(entry, wanted, "undo")

    @guarded
    def redo(self, what: str | None = None) -> ChangeSet:
        """Redoes an undone entry by id, a part of it, or what this author undid last.

        Raises NotFoundError when there is nothing to redo, InvalidInputError, ConflictError.
        """
        self._memory.finish_changes()
        if what is None:
            return self._redo_of(self._last_taken_back())
        entry, wanted = self._named(what)
        if entry.change_set.kind == "undo":
            return self._turn_back(entry)
        if entry.change_set.kind == "redo":
            raise _refused("is not undone", entry.id)
        return self._turn(entry, wanted, "redo")

    def _redo_of(self, undone: Entry) -> ChangeSet:
        """Redoes what an undo took back."""
        about = undone.change_set.about
        with contextlib.suppress(NotFoundError):
            if about:
                return self._turn(*self._named(about), "redo")
        # A recall stands in the log together with others, and the log may not tell any more what an entry made.
        reason = f"change {about}" if about else "a recall"
        return self._turned(undone.change_set, "redo", about, reason, backwards=True)

    def _turn_back(self, entry: Entry) -> ChangeSet:
        """Taking an undo back is a redo, and the other way round."""
        about = entry.change_set.about
        turns = self._journal.turns(about.partition(".")[0])
        if turns and turns[0].id != entry.id:
            raise _refused("was undone or redone since", entry.id, todo=f"give the id {about} instead")
        return (
            self._redo_of(entry)
            if entry.change_set.kind == "undo"
            else self._turn(*self._named(about), "undo")
        )

    def _turn(self, entry: Entry, wanted: frozenset[int] | None, kind: Literal["undo", "redo"]) -> ChangeSet:
        """Takes the parts of an entry that stand back, or does those again that do not. wanted: these alone. Raises
        NotFoundError for a number that it does not have, InvalidInputError where no part is so.
        """
        if kind == "redo" and entry.change_set.mends and entry.undone and wanted is None:
            raise _refused("is a file repair and cannot be redone", entry.id, Remedy("repair-again"))
        count, back = count_parts(entry.change_set), self._journal.undone()
        every = frozenset(range(1, count + 1))
        if unknown := sorted((wanted or frozenset()) - every):
            what = f"this entry has {count} changes, but no number {unknown[0]}"
            raise NotFoundError(what, field="entry", where=entry.id)
        gone = every if entry.id in back else frozenset(n for n in every if f"{entry.id}.{n}" in back)
        numbers = (gone if kind == "redo" else every - gone) & (every if wanted is None else wanted)
        if not numbers and (count or entry.undone is not (kind == "redo")):
            about = entry.id if wanted is None else part_reference(entry.id, wanted, count)
            if kind == "redo":
                raise _refused("is not undone", about)
            raise _refused("is already undone", about, Remedy("redo", about))
        made, about = select_parts(entry.change_set, numbers), part_reference(entry.id, numbers, count)
        return self._turned(made, kind, about, made.reason, backwards=kind == "undo", entry=entry)

    def _turned(
        self,
        made: ChangeSet,
        kind: Literal["undo", "redo"],
        about: str,
        reason: str,
        *,
        backwards: bool,
        entry: Entry | None = None,
    ) -> ChangeSet:
        """Writes a change as an undo or a redo. reason: of what is turned; what has nothing to write bears it as it is,
        and its kind says the rest. backwards: whether its inverse is written.
        """
        if not made.empty:
            # The entry names what it undoes or redoes, or some of its parts.
            some = " part of" if referenced_parts(about) is not None else ""
            reason = f"{_TOLD[kind]}{some}: {reason}"
        turned = made.inverse(id="", at="", author=self._memory.author, reason="") if backwards else made
        turned = self._made(turned, kind, reason, about)
        later = self._later(made, entry) if entry is not None else []
        try:
            gone = self._where_already_undone(turned, about) if later else ""
            if gone:
                what = "nothing is left of it to undo"
                raise ConflictError(what, code=ErrorCode.NOTHING_TO_UNDO, where=gone, kept=_KEPT)
            self._check_additions(turned)
            done = self._memory.apply_deciding(turned, None)
        except ConflictError as error:
            id, dot, _ = about.partition(".")
            if later:
                # Reflection says who it is in its reasons already.
                said = ((one.id, one.change_set) for one in later[:3])
                by = (
                    (id, "" if one.kind == "reflection" else f"{one.author}: ", one.reason)
                    for id, one in said
                )
                named = ", ".join(f"{id} ({who}{reason})" for id, who, reason in by)
                error.reword(todo=f"later changes are in the way: {named}; undo them first")
            elif dot:
                todo = f"another change of the same entry is in the way: undo that first, or undo {id} as a whole"
                error.reword(todo=todo)
            raise
        if done.empty and about:
            # Somebody had done it already; the entry counts as turned all the same.
            with partly_done("the memory is already as it should be"):
                self._note_down(done)
        if about:
            # The conflict waits again whose resolution was undone, and is settled when that is redone.
            with contextlib.suppress(NotFoundError):
                conflict = self._journal.entry(about).change_set.about
                if conflict and self._journal.entry(conflict).conflict is not None:
                    self._store.set_conflict_state(conflict, "conflict" if kind == "undo" else "settled")
        return done

    def _check_additions(self, turned: ChangeSet) -> None:
        """Raises ConflictError where a note goes that has got tags or links since: nothing would bring these back."""
        for change in turned.notes:
            now = self._memory.snapshot.by_id.get(change.id)
            if change.after is not None or change.before is None or now is None:
                continue
            linked = {link.to for link in now.links} - {link.to for link in change.before.links}
            if linked or set(custom_tags(now)) - set(custom_tags(change.before)):
                raise ConflictError("it was tagged or linked since", where=now.title, kept=_KEPT)

    def _where_already_undone(self, inverse: ChangeSet, about: str) -> str:
        """Where nothing is left to take back, "" for nowhere; parts of one entry share the links between them."""
        id, dot, _ = about.partition(".")
        if not dot and any(one.startswith(f"{id}.") for one in self._journal.undone()):
            return ""
        left = rebase(inverse, self._store.load(), take_ours)
        notes = {change.id for change in left.notes}
        keys = {(one.nugget, fact.key) for one in left.facts for fact in (one.before, one.after) if fact}
        for change in inverse.notes:
            if change.id not in notes and _says_more(change.before, change.after, links=not dot):
                return change.id
        for one in inverse.facts:
            own = {(one.nugget, fact.key) for fact in (one.before, one.after) if fact}
            recalled = one.before and one.after and one.before.value == one.after.value
            if own.isdisjoint(keys) and not recalled:
                return f"{one.nugget}: {one.key}"
        return ""

    def _later(self, made: ChangeSet, entry: Entry) -> list[Entry]:
        """What was done since to the same things and is not taken back itself, newest first."""
        found = self._journal.later(made, entry.seq)
        passed_over = {entry.id, *(one.id for one in found if one.undone)}
        return [
            one
            for one in found
            if not one.undone and one.change_set.about.partition(".")[0] not in passed_over
        ]

    def _undo_repair(self, entry: Entry) -> ChangeSet:
        """Puts the bytes back that were there before a file was repaired."""
        mends = entry.change_set.mends
        if entry.undone and not self._store.is_repaired(mends):
            raise _refused("is already undone", entry.id, Remedy("repair-again"))
        undone = ChangeSet(id="", at="", author=self._memory.author, reason="", mends=mends)
        undone = self._made(undone, "undo", f"undid: {entry.change_set.reason}", entry.id)
        self._store.revert_repair(undone, self._memory.author.signature, recorded=entry.undone)
        if not entry.undone:
            self._memory.window.made.append(undone.id)
        return undone

    def _made(self, change_set: ChangeSet, kind: ChangeKind, reason: str, about: str) -> ChangeSet:
        """A change set as this author makes it now."""
        id, at = self._memory.stamp()
        return msgspec.structs.replace(
            change_set, id=id, at=at, author=self._memory.author, kind=kind, reason=reason, about=about
        )

    def _note_down(self, done: ChangeSet) -> None:
        """Puts what wrote nothing into the log: it counts as done, and `undo` finds it in its turn."""
        self._store.note_down(done, self._memory.author.signature)
        self._memory.window.made.append(done.id)

    def _known(self, change_set: ChangeSet) -> Entry | None:
        if self._store.journal is None:
            return None
        with contextlib.suppress(NotFoundError):
            found = self._journal.entry(change_set.id)
            return found if found.id == change_set.id and found.state == "done" else None
        return None

    def _named(self, what: str) -> tuple[Entry, frozenset[int] | None]:
        """The entry that "<id>" or "<id>.<number>,<number>" names, and the numbers."""
        id, dot, numbers = what.strip().partition(".")
        if not dot:
            return self.entry(id), None
        each = numbers.split(",")
        if not all(one.isascii() and one.isdigit() and len(one) <= _MOST_DIGITS for one in each):
            raise InvalidInputError(
                "is not the id of a change", field="entry", remedy=Remedy("log"), where=what
            )
        return self.entry(id), frozenset(map(int, each))

    def _own(self, kinds: Iterable[str], passing: Collection[str] = ()) -> Iterator[Entry]:
        """Entries of this author, newest first: those made here, then those that were there before.

        passing: ids of entries that are passed over unread.

        What the same person does meanwhile in another window, or from a shell, is none of these: nobody takes back
        what they do not see.
        """
        window, kinds = self._memory.window, tuple(kinds)
        try:
            journal = self._journal
        except NotFoundError:
            return
        for id in reversed(tuple(window.made)):
            if id in passing:
                continue
            with contextlib.suppress(NotFoundError):
                entry = journal.entry(id)
                if entry.state == "done" and entry.change_set.kind in kinds:
                    yield entry
        yield from journal.mine(self._memory.author.signature, kinds, passing, up_to=window.opened_at)

    def _last_own(self) -> Entry:
        journal = self._store.journal
        if journal is not None and self._store.log_problem is None and journal.pending_count():
            raise StorageError(
                "the newest change is not finished yet", where=str(journal.path),
                kept="nothing was undone", todo="free disk space or close the file elsewhere, and try again",
            )  # fmt: skip
        masked: Entry | None = None
        for entry in self._own((*OWN_KINDS, "mask"), self.taken_back()):
            if entry.change_set.kind == "mask":
                masked = masked or entry
            elif not entry.undone and (not entry.change_set.empty or entry.change_set.kind == "decision"):
                if masked is not None:
                    # Whoever undoes what they did last does not mean what they did before it.
                    what = "your last change masked a credential, and masking cannot be undone"
                    before = f"the change before it is: {entry.change_set.reason}"
                    raise _refused(f"{what}; {before}", masked.id, Remedy("undo", entry.id))
                return entry
        what, code = "you have no change to undo", ErrorCode.NOTHING_TO_UNDO
        raise NotFoundError(what, code=code, remedy=Remedy("log-others"))

    @guarded
    def next_turn(self, kind: Literal["undo", "redo"]) -> str:
        """When what `undo` or `redo` without an id takes back was made; "" where there is nothing. ISO 8601."""
        try:
            entry = self._last_own() if kind == "undo" else self._last_taken_back()
        except NotFoundError:
            return ""
        except InvalidInputError as error:
            # It refuses, and says why.
            entry = self.entry(error.where)
        return entry.change_set.at

    def _last_taken_back(self) -> Entry:
        undone = self.taken_back()
        for entry in self._own((*OWN_KINDS, *_TURNS)):
            id, _, _ = entry.change_set.about.partition(".")
            numbers = referenced_parts(entry.change_set.about)
            back = id in undone or (numbers is not None and all(f"{id}.{one}" in undone for one in numbers))
            if entry.change_set.kind == "undo" and back:
                return entry
            if entry.change_set.kind not in _TURNS:
                break
        what, code = "there is nothing to redo", ErrorCode.NOTHING_TO_UNDO
        raise NotFoundError(what, code=code, remedy=Remedy("redo-older"))

    # Conflicts

    def conflicts(self) -> tuple[Entry, ...]:
        """Changes that met a conflict and wait for a person, newest first."""
        return self.log(state="conflict")

    @guarded
    def resolve_conflict(
        self, id: str, take: Literal["ours", "theirs"], text: str | None = None
    ) -> ChangeSet:
        """Resolves a conflict: "ours" writes the change that waits, "theirs" keeps what the files hold. text: written
        instead of both, where the conflict is about a text. Where nothing is left to write, the resolution is recorded
        as a "decision"; undoing a resolution lets the conflict wait again.

        Parts of the change that conflict with nothing are written in each case. Raises NotFoundError,
        InvalidInputError, ConflictError.
        """
        self._memory.finish_changes()
        entry = self.entry(id)
        if entry.state != "conflict":
            raise InvalidInputError("is not an open conflict", where=entry.id, kept=_KEPT)
        held, decide = _decided(entry, take, text)
        present = self._store.load()
        if held.kind == "restore" or (held.kind == "outside" and take == "ours"):
            held = in_step(held, present)
        elif held.kind == "import":
            held = rebase(held, present, decide)
        kind: ChangeKind = "edit" if held.kind in ("outside", "restore") else held.kind
        made = self._made(held, kind, f"resolved: {held.reason}", entry.id)
        done = self._memory.apply_deciding(made, decide)
        written = partly_done("the change itself was written", remedy=Remedy("resolve-again", entry.id))
        with contextlib.nullcontext() if done.empty else written:
            if done.empty:
                # Nothing had to be written, and the person decided all the same.
                done = msgspec.structs.replace(done, kind="decision")
                self._note_down(done)
            self._store.set_conflict_state(entry.id, "settled")
        return done

    def resolve_all_conflicts(self, take: Literal["ours", "theirs"]) -> tuple[ChangeSet, ...]:
        """Resolves every conflict that waits in the same way, oldest first; what was written for each.

        A conflict that cannot be resolved goes on waiting. The first error of that kind is raised once all were
        tried.
        """
        done: list[ChangeSet] = []
        refused: NuggetsError | None = None
        for entry in reversed(self.conflicts()):
            try:
                done.append(self.resolve_conflict(entry.id, take))
            except ConflictError as error:
                refused = refused or error
        if refused is not None:
            raise refused
        return tuple(done)


def _decided(entry: Entry, take: str, text: str | None) -> tuple[ChangeSet, Decide]:
    """The change set that resolves a conflict, and which side counts where it conflicts still."""
    held, conflict = entry.change_set, entry.conflict
    if text is not None:
        return _worded(held, conflict, text), take_ours
    decide: Decide = take_ours if take == "ours" else take_theirs
    if take == "theirs" and held.kind == "restore":
        # What another program made of it is to stand from now on, and is a person's wish.
        held = held.inverse(id="", at=held.at, author=held.author, reason=held.reason, kind="restore")
    elif take == "theirs" and held.kind == "import" and conflict is not None:
        # What came from elsewhere stands in no other change's way: it was thought out on what the files hold.
        part = concerning(held, conflict)
        notes = tuple(one for one in held.notes if one not in part.notes)
        facts = tuple(one for one in held.facts if one not in part.facts)
        held = msgspec.structs.replace(held, notes=notes, facts=facts)
    return held, decide


def _refused(what: str, where: str, remedy: Remedy | None = None, todo: str = "") -> InvalidInputError:
    """What cannot be undone or redone."""
    code = ErrorCode.CANNOT_UNDO
    return InvalidInputError(what, code=code, where=where, kept=_KEPT, remedy=remedy, todo=todo)


def _says_more(before: Note | None, after: Note | None, *, links: bool) -> bool:
    """Whether two versions of a note differ in more than recalls and times."""
    if before is None or after is None:
        return True
    tagged = set(custom_tags(before)) != set(custom_tags(after))
    linked = links and before.links != after.links
    return tagged or linked or not same_meaning(before, after)


def _worded(change_set: ChangeSet, conflict: Conflict | None, text: str) -> ChangeSet:
    """The change set with a person's own text where the conflict is: in a note, in its fact, or in both."""
    if conflict is None:
        return change_set
    named = conflict.field in ("title", "key")
    words = normalise_line(text) if named else normalise_content(text)
    part = concerning(change_set, conflict)

    def worded_note(change: NoteChange) -> NoteChange:
        if change.after is None or change not in part.notes:
            return change
        given: dict[str, Any] = {"title": words} if named else {"content": words}
        if named and change.after.is_fact:
            given["source_key"] = words
        return msgspec.structs.replace(change, after=replace(change.after, **given))

    def worded_fact(change: FactChange) -> FactChange:
        if change.after is None or change not in part.facts:
            return change
        given = {"key": words} if named else {"value": words}
        return msgspec.structs.replace(change, after=msgspec.structs.replace(change.after, **given))

    return msgspec.structs.replace(
        change_set,
        notes=tuple(map(worded_note, change_set.notes)),
        facts=tuple(map(worded_fact, change_set.facts)),
    )
