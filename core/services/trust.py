"""Which notes from elsewhere a person accepted here: what waits, who accepts it, and what follows from an edit.

In a person's own memory all counts as accepted but what a sync brought while the setting sync.trust asked; title and
text each keep that until somebody accepts or rewrites the note. Of a team's notes none counts as accepted but those
that were, as they were then, or that were written here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from core.errors import ErrorCode, InvalidInputError, NuggetsError
from core.model.change import ChangeSet
from core.model.note import Note, custom_tags
from core.storage.journal.journal import Journal
from core.storage.journal.schema import JOURNAL_FILE, BrokenJournalError
from core.storage.journal.verdicts import Verdict, verdicts
from core.text.normalise import squeeze

if TYPE_CHECKING:
    from core.services.repository import Repository

_MARK_BYTES: Final = 16
# So many titles are named in the log.
_NAMED: Final = 3
_LONGEST: Final = 60
# What somebody writes by hand; all else keeps what stood before.
_WRITTEN: Final = ("edit", "import")
# What brings earlier texts back: they count as they did.
_BROUGHT_BACK: Final = ("undo", "redo", "restore")
_Known = Mapping[str, Mapping[str, bool]]
Judge = Callable[[Note], bool]


def _mark(*said: object) -> str:
    data = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_MARK_BYTES).hexdigest()


def marks_of(note: Note, *, whole: bool) -> tuple[str, ...]:
    """What stands for what a note says: one mark for all of it, or one for its title and one for its text.

    White space alone makes no difference: other programs squeeze it.
    """
    title, content = squeeze(note.title), squeeze(note.content)
    if not whole:
        return _mark("title", title), _mark("content", content)
    reasons = sorted({squeeze(link.reason) for link in note.links})
    about = (note.kind, note.source_key, note.subject, note.scope, note.type, note.stability)
    return (_mark("note", title, content, sorted(custom_tags(note)), about, reasons),)


class Trust:
    """What counts as accepted in one memory. asks: as `Memory.asks_to_accept`. team: whether its notes are a team's."""

    def __init__(self, repository: Repository, asks: Callable[[], bool], *, team: bool) -> None:
        self._repository = repository
        self._asks = asks
        self._team = team
        self._known: tuple[Journal, object, _Known] | None = None

    # Asking

    def judge(self) -> Judge:
        """Tells of each note whether it counts as accepted, as things stand now. Where that cannot be read, no note
        does.
        """
        if not self._asks():
            return lambda note: True
        known = self._read()
        if known is None:
            return lambda note: False
        return lambda note: self._accepted(known, note)

    def is_accepted(self, note: Note) -> bool:
        """Whether a note counts as accepted, as it is given."""
        return self.judge()(note)

    def waiting(self) -> tuple[Note, ...]:
        """The visible notes that wait to be accepted."""
        accepted = self.judge()
        return tuple(note for note in self._repository.snapshot.visible if not accepted(note))

    def state(self) -> object:
        """What decides which notes count as accepted, compared by value."""
        asks = self._asks()
        known = self._read() if asks else {}
        return asks, None if known is None else sorted((id, sorted(of.items())) for id, of in known.items())

    def _marks(self, note: Note) -> tuple[str, ...]:
        return marks_of(note, whole=self._team)

    def _accepted(self, known: _Known, note: Note) -> bool:
        # Of a person's own memory few notes ever waited.
        said = known.get(note.id)
        if said is None:
            return not self._team
        return all(said.get(mark, not self._team) for mark in self._marks(note))

    def _read(self) -> _Known | None:
        """What was said of each note; None where it cannot be read."""
        with self._repository.guard:
            store = self._repository.store
            try:
                if store.journal is not None:
                    return self._read_in(store.journal)
                path = self._repository.home / JOURNAL_FILE
                if store.log_problem is not None:
                    return None
                if not path.exists() or not path.stat().st_size:
                    return {}
                with closing(Journal(path, read_only=True)) as journal:
                    return verdicts(journal)
            except (NuggetsError, BrokenJournalError, OSError):
                return None

    def _read_in(self, journal: Journal) -> _Known:
        # Read anew after `_changed`, and when somebody else has written: a save asks several times.
        version, held = journal.written_elsewhere, self._known
        if held is None or held[0] is not journal or held[1] != version:
            held = self._known = journal, version, verdicts(journal)
        return held[2]

    # Accepting

    def accept(self, notes: Iterable[Note], *, accepted: bool = True) -> ChangeSet:
        """Accepts notes as they are given, whatever they say by now, or takes that back; as one entry of the log, which
        `undo` takes back. Empty where nothing is to be done. Raises InvalidInputError where nothing asks for it,
        LockTimeoutError, StorageError, ReadOnlyError.
        """
        repository = self._repository
        if not self._asks():
            name = "team.trust" if self._team else "sync.trust"
            raise InvalidInputError(
                "every note counts as accepted here", code=ErrorCode.UNKNOWN_VALUE, where=str(repository.home),
                kept="nothing was changed", todo=f'to be asked, set {name} to "ask" in settings.toml',
            )  # fmt: skip
        with repository.guard:
            known = self.judge()
            turned = [note for note in {one.id: one for one in notes}.values() if known(note) != accepted]
            said = [Verdict(note.id, mark, accepted) for note in turned for mark in self._marks(note)]
            if not turned:
                return ChangeSet(
                    id="", at=repository.now(), author=repository.author, reason="", kind="decision"
                )
            done = repository.record_decision(repository.ids(), _reason(turned, accepted), said)
            self._changed()
            return done

    def follow(self) -> None:
        """Follows what was undone or redone of the log."""
        with suppress(NuggetsError, BrokenJournalError):
            self._repository.store.follow_verdicts()
        self._changed()

    def _changed(self) -> None:
        """Has made anew what was made ahead of the notes that counted as accepted."""
        import os
        import secrets

        from core.app_state import write_cached
        from core.storage.cache.answers import remove_state
        from core.storage.cache.folder import cache_folder
        from core.user_folders import ACCEPTED

        self._known = None
        home = self._repository.home
        write_cached(home, ACCEPTED, secrets.token_hex(8).encode())
        folder = cache_folder(home, os.environ)
        if folder is not None:
            with suppress(OSError):
                remove_state(str(folder))

    # Following changes

    def arriving(self, change_set: ChangeSet) -> None:
        """Notes down that what a sync brings waits to be accepted, before it is written. Raises as `Memory.apply`."""
        if self._team or not self._asks():
            return
        said = []
        for change in change_set.notes:
            if change.after is not None:
                former = self._marks(change.before) if change.before is not None else ()
                said += [
                    Verdict(change.id, mark, False)
                    for mark in self._marks(change.after)
                    if mark not in former
                ]
        self._keep(said)

    def before(self, change_set: ChangeSet) -> None:
        """Before a change made here: what waits goes on waiting where nobody wrote the note by hand."""
        if not self._team:
            self._keep([one for one in self._following(change_set) if not one.accepted])

    def after(self, change_set: ChangeSet) -> None:
        """After a change made here, as it was made: a note that a person or an agent made, and a text that a person
        wrote anew, are accepted by that. All other edits leave it as it was.
        """
        masked = change_set.notes if change_set.kind == "mask" else ()
        present = {one.id: self._marks(one.after) for one in masked if one.after is not None}
        self._keep(list(self._following(change_set)), present)

    def _following(self, change_set: ChangeSet) -> Iterator[Verdict]:
        if change_set.kind in ("hit", "decision") or not change_set.notes:
            return
        known = self._read()
        if known is None or (not self._team and not any(change.id in known for change in change_set.notes)):
            return
        by_hand = change_set.kind in _WRITTEN and change_set.author.kind in ("person", "agent")
        # Whoever wrote a text anew has read it. A page may tell an agent to edit it, and a title that is changed while
        # another text comes in says nothing of that text.
        a_person = change_set.author.kind == "person"
        for change in change_set.notes:
            before, after = change.before, change.after
            if after is None or (before is not None and self._marks(before) == self._marks(after)):
                continue
            if by_hand and (
                before is None or (a_person and squeeze(before.content) != squeeze(after.content))
            ):
                accepted = True
            elif change_set.kind in _BROUGHT_BACK or before is None:
                continue
            else:
                accepted = self._accepted(known, before)
            if accepted != self._accepted(known, after):
                yield from self._verdicts(known, before, after, accepted)

    def _verdicts(self, known: _Known, before: Note | None, after: Note, accepted: bool) -> Iterator[Verdict]:
        """What is said of a note after a change. What waited of it goes on waiting, and so does what is new of it."""
        former = self._marks(before) if before is not None else ()
        for mark in self._marks(after):
            if accepted or mark not in former:
                yield Verdict(after.id, mark, accepted)

    def _keep(
        self, said: list[Verdict], masked: Mapping[str, Collection[str]] = MappingProxyType({})
    ) -> None:
        """masked: notes of which nothing else than these marks is to be known any more."""
        if not said and not masked:
            return
        known = self._read() or {}
        fresh = [one for one in said if known.get(one.note, {}).get(one.mark) != one.accepted]
        only = {id: marks for id, marks in masked.items() if id in known}
        if fresh or only:
            self._repository.store.keep_verdicts(fresh, only)
            self._changed()


def _reason(notes: list[Note], accepted: bool) -> str:
    titles = ", ".join(_title(note) for note in notes[:_NAMED])
    more = f" and {len(notes) - _NAMED} more" if len(notes) > _NAMED else ""
    return f"{'accepted' if accepted else 'no longer accepted'}: {titles}{more}"


def _title(note: Note) -> str:
    title = squeeze(note.title) or note.id
    return title if len(title) <= _LONGEST else title[: _LONGEST - 1] + "…"
