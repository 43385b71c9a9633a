"""Answers made ahead, for recalls that have no time to open the memory: made, kept in the cache, and kept up to date.

What is asked most is a fact by its key, so the answers to all keys are made. Whole questions are kept as they are
asked. See `core.storage.cache.answers` for the files, `core.quick_recall` for who reads them.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from core.errors import NuggetsError
from core.home import OFF
from core.model.fact import Nugget
from core.model.note import uncounted
from core.model.note_origin import disputed_note
from core.model.snapshot import Snapshot
from core.services.repository import Repository
from core.settings import Settings
from core.storage.cache import answers
from core.storage.cache.answers import Answer, State, digest
from core.text.exact import exact_form
from core.text.mask import all_masked
from core.user_folders import cache_folder

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.search.signals import OpenChange

Presented = tuple[int, Sequence[bytes]]
"""How a recall is shown: the exit code, and the texts of `Answer`."""
Present = Callable[[str, "Recall"], Presented]
Entries = dict[bytes, tuple[bytes, int, bytes]]

# Of more facts, those of the first nuggets are answered ahead.
_MOST_FACTS: Final = 20_000
_MOST_ASKED: Final = 256
# Longer questions are not kept.
_LONGEST_ASKED: Final = 2000
_TROUBLE: Final = (OSError, ValueError, struct.error, OverflowError, MemoryError)


class AnswersMadeAhead:
    """The answers of one memory. ask: recalls without counting, over a snapshot, in one nugget or all. open_changes: of
    notes, by id.
    """

    def __init__(
        self,
        repository: Repository,
        settings: Callable[[], Settings],
        ask: Callable[[Snapshot, str, str | None], Recall],
        open_changes: Callable[[], Mapping[str, Sequence[OpenChange]]],
    ) -> None:
        self._repository = repository
        self._settings = settings
        self._ask = ask
        self._open_changes = open_changes
        self._home = os.fspath(repository.home)

    @cached_property
    def _folder(self) -> str | None:
        if self._repository.pages is not None:
            # Who answers quickly looks at the files of a home, and pages lie elsewhere.
            return None
        return cache_folder(self._home) if hasattr(os, "geteuid") else None

    # Following counted recalls

    @contextmanager
    def following(self) -> Iterator[None]:
        """Within this a recall is counted: the answers stay what they are, for files that are others."""
        before = self._repository.snapshot
        state = self._state_of(before)
        yield
        if state is not None:
            with contextlib.suppress(*_TROUBLE, NuggetsError):
                self._follow(state, before)

    def _state_of(self, snapshot: Snapshot) -> State | None:
        """The state that lies in the cache, if it is of this snapshot."""
        if self._folder is None:
            return None
        state = answers.read_state(self._folder)
        if state is None or snapshot is not self._repository.store.loaded.snapshot:
            return None
        return state if self._is_of(state.files) else None

    def _is_of(self, files: Mapping[str, tuple[answers.Version, bytes]]) -> bool:
        """Whether these are the versions of the files that are loaded."""
        versions = {name: version for name, (version, _) in files.items() if name not in answers.BESIDE}
        return versions == self._versions()

    def _versions(self) -> dict[str, answers.Version]:
        found: dict[str, answers.Version] = {answers.GRAPH: (0, 0, 0, 0)}
        for path, version in self._repository.store.loaded.fingerprints().items():
            if version is not None:
                found[os.path.relpath(path, self._home)] = tuple(version)  # type: ignore[assignment]
        return found

    def _follow(self, state: State, before: Snapshot) -> None:
        after = self._repository.snapshot
        if after is not self._repository.store.loaded.snapshot or not _same_answers(before, after):
            return
        at, looked = time.time_ns(), answers.looked_at(self._home, hashed=True)
        if looked is None or not self._is_of(looked):
            return
        for name in answers.BESIDE:
            if looked[name][0] != state.files[name][0]:
                return
        self._write_state(State(state.version, state.content, at, looked, _sessions(after)))

    def _write_state(self, state: State) -> None:
        assert self._folder is not None
        answers.replace(os.path.join(self._folder, answers.STATE_NAME), [state.packed()])

    # Making

    def keep(self, present: Present, asked: Iterable[tuple[str, str | None]] = ()) -> bool:
        """Makes what is missing, for the memory as it is now, and keeps it; whether it is kept and the files are still
        so. present: how a recall is shown. asked: questions, each with the nugget in which it is asked, None for all.
        """
        # Those whose settings name a team's notes have them asked as well, wherever they are.
        if self._folder is None or self._settings().team.folder.strip().casefold() not in ("", OFF):
            return False
        with contextlib.suppress(*_TROUBLE, NuggetsError):
            return self._keep(self._folder, present, list(asked))
        return False

    def _keep(self, folder: str, present: Present, asked: list[tuple[str, str | None]]) -> bool:
        from core.storage.cache.folder import claim_cache_folder

        at, looked = time.time_ns(), answers.looked_at(self._home, hashed=True)
        self._repository.refresh_read_only()
        snapshot, loaded = self._repository.snapshot, self._repository.store.loaded
        sound = snapshot is loaded.snapshot and not (
            snapshot.problems
            or snapshot.read_only
            or snapshot.graph_problem
            or self._repository.take_notices()
        )
        if not sound or looked is None or not self._is_of(looked) or not snapshot.nuggets + snapshot.notes:
            return False
        if not claim_cache_folder(Path(folder), self._repository.home):
            return False
        version, content = (
            answers.code_version(),
            _content(snapshot, self._settings(), looked),
        )
        with self._known(folder, version) as known:
            if known is None or known.content != content:
                # Nobody waits for answers that take a while to be made.
                answers.remove_state(folder)
            entries, same = self._entries(known, content, snapshot, present, asked)
        if not same:
            parts = answers.packed_table(version, content, entries)
            answers.replace(os.path.join(folder, answers.ANSWERS_NAME), parts)
        state = State(version, content, at, looked, _sessions(snapshot))
        self._write_state(state)
        return answers.holds(state, self._home)

    @contextmanager
    def _known(self, folder: str, version: bytes) -> Iterator[answers.Table | None]:
        handle = -1
        try:
            try:
                handle = answers.open_own(os.path.join(folder, answers.ANSWERS_NAME))
                table = answers.Table(handle)
            except _TROUBLE:
                table = None
            yield table if table is not None and table.version == version else None
        finally:
            if handle >= 0:
                os.close(handle)

    def _entries(
        self,
        known: answers.Table | None,
        content: bytes,
        snapshot: Snapshot,
        present: Present,
        asked: list[tuple[str, str | None]],
    ) -> tuple[Entries, bool]:
        """All entries, and whether they are those that are kept already."""
        same_content = known is not None and known.content == content
        former: Entries = {}
        if known is not None:
            for wanted, made_of, kind, *where in known.rows():
                if kind == answers.FACT or same_content:
                    with contextlib.suppress(*_TROUBLE):
                        former[wanted] = (made_of, kind, known.answer(*where))
        whole = same_content and known is not None and len(former) == known.count
        entries = {w: one for w, one in former.items() if one[1] == answers.FACT} if whole else {}
        if not whole:
            entries = self._of_facts(snapshot, former, present)
        before = [(w, one) for w, one in former.items() if one[1] == answers.ASKED]
        fresh = [
            one for one in (self._of_question(snapshot, *each, present, entries) for each in asked) if one
        ]
        latest = sorted({**dict(before), **dict(fresh)}.items(), key=lambda item: item[1][0])[-_MOST_ASKED:]
        return {**dict(latest), **entries}, whole and not fresh

    def _of_question(
        self, snapshot: Snapshot, text: str, nugget: str | None, present: Present, facts: Entries
    ) -> tuple[bytes, tuple[bytes, int, bytes]] | None:
        if len(text) > _LONGEST_ASKED or answers.question("folded", exact_form(text), nugget) in facts:
            return None
        made = self._answer(snapshot, text, nugget, present)
        if made is None:
            return None
        return answers.question("asked", text, nugget), (
            time.time_ns().to_bytes(answers.DIGEST_BYTES, "big"),
            answers.ASKED,
            made[1],
        )

    def _of_facts(self, snapshot: Snapshot, former: Entries, present: Present) -> Entries:
        entries: Entries = {}
        changes = self._open_changes()
        nuggets = [_Keyed(nugget, snapshot, changes) for nugget in snapshot.nuggets if nugget.facts]
        total = 0
        holders: dict[str, list[_Keyed]] = {}
        for one in nuggets:
            total += len(one.nugget.facts)
            if total > _MOST_FACTS:
                break
            for folded in one.groups:
                holders.setdefault(folded, []).append(one)
        for folded, holding in holders.items():
            self._of_group(snapshot, folded, holding, None, former, present, entries)
            for one in holding:
                if len(holding) == 1:
                    _copy(folded, one, entries)
                else:
                    self._of_group(snapshot, folded, [one], one.nugget.name, former, present, entries)
        return entries

    def _of_group(
        self,
        snapshot: Snapshot,
        folded: str,
        holding: Sequence[_Keyed],
        nugget: str | None,
        former: Entries,
        present: Present,
        entries: Entries,
    ) -> None:
        """The answers to keys that fold to one text: to each as it is spelt, and to any other spelling."""
        spelt = list(dict.fromkeys(key for one in holding for _, key in one.groups[folded]))
        made_of = digest(*(mark for one in holding for mark in one.marks(folded)))
        spellings = [("folded", spelt[0], folded)]
        if len(spelt) > 1:
            other = f"{spelt[0]} "
            spellings = [("same", key, key) for key in spelt]
            if other not in spelt:
                spellings.append(("folded", other, folded))
        for kind, text, name in spellings:
            wanted = answers.question(kind, name, nugget)
            known = former.get(wanted)
            if known is not None and known[0] == made_of:
                entries[wanted] = known
                continue
            made = self._answer(snapshot, text, nugget, present)
            if made is not None and made[0].match is not None and made[0].match.kind == "exact":
                entries[wanted] = (made_of, answers.FACT, made[1])

    def _answer(
        self, snapshot: Snapshot, text: str, nugget: str | None, present: Present
    ) -> tuple[Recall, bytes] | None:
        from core.services.recall import counted_key

        try:
            found = self._ask(snapshot, text, nugget)
        except NuggetsError:
            return None
        if found.provisional:
            return None
        code, texts = present(text, found)
        key = counted_key(found, snapshot.by_id.get(found.note_id) if found.note_id else None) or ""
        return found, Answer(code, found.found, found.nugget_name, key, found.note_id or "", texts).packed()


class _Keyed:
    """The keys of a nugget that answer something, by their folded text, and of what the answers are made."""

    def __init__(
        self,
        nugget: Nugget,
        snapshot: Snapshot,
        changes: Mapping[str, Sequence[OpenChange]],
    ) -> None:
        self.nugget = nugget
        self._changes = changes
        self.groups: dict[str, list[tuple[int, str]]] = {}
        self._notes = snapshot.fact_notes
        self._disputing = snapshot.disputing
        self._by_id = snapshot.by_id
        self._values = digest(repr(nugget.meta), repr([fact.value for fact in nugget.facts]))
        for place, fact in enumerate(nugget.facts):
            folded = exact_form(fact.key)
            if folded and not all_masked(fact.value):
                self.groups.setdefault(folded, []).append((place, fact.key))

    def marks(self, folded: str) -> Iterator[str | bytes]:
        """What the answers to these keys depend on in this nugget."""
        yield self._values
        for place, key in self.groups[folded]:
            note = self._notes.get((self.nugget.name, key))
            yield f"{place} {note.id if note is not None else ''}"
            yield key
            if note is not None:
                sides = (*self._disputing.get(note.id, ()), self._by_id.get(disputed_note(note)))
                yield from (repr((one.id, one.hidden, one.content)) for one in sides if one is not None)
                yield from map(repr, self._changes.get(note.id, ()))


def _copy(folded: str, one: _Keyed, entries: Entries) -> None:
    """A key that one nugget alone holds is answered so in that nugget, too."""
    names = [("folded", folded), *(("same", key) for _, key in one.groups[folded])]
    for kind, name in names:
        made = entries.get(answers.question(kind, name, None))
        if made is not None:
            entries[answers.question(kind, name, one.nugget.name)] = made


def _content(
    snapshot: Snapshot,
    settings: Settings,
    looked: Mapping[str, tuple[answers.Version, bytes]],
) -> bytes:
    """What decides all answers: the memory without what recalls change, the settings, and what the
    pipeline knows of the notes. looked: the versions of the files.
    """
    parts = [repr(replace(settings, problems=(), defaulted=(), unknown=()))]
    if any(looked[answers.PIPELINE[0]][0]):
        parts += (repr(looked[name]) for name in (*answers.PIPELINE, "settings.toml", "agent.yaml"))
    for nugget in snapshot.nuggets:
        parts.append(repr((nugget.meta, nugget.problem, [(fact.key, fact.value) for fact in nugget.facts])))
    parts += (repr(uncounted(note)) for note in snapshot.notes)
    return digest(*parts)


def _same_answers(before: Snapshot, after: Snapshot) -> bool:
    """Whether two snapshots differ by counted recalls at most."""
    if len(before.notes) != len(after.notes) or len(before.nuggets) != len(after.nuggets):
        return False
    for one, other in zip(before.notes, after.notes, strict=True):
        if one is not other and uncounted(one) != uncounted(other):
            return False
    for nugget, newer in zip(before.nuggets, after.nuggets, strict=True):
        if nugget is newer:
            continue
        if nugget.meta != newer.meta or len(nugget.facts) != len(newer.facts):
            return False
        if all(map(is_, nugget.facts, newer.facts)):
            continue
        if any((a.key, a.value) != (b.key, b.value) for a, b in zip(nugget.facts, newer.facts, strict=True)):
            return False
    return True


def _sessions(snapshot: Snapshot) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for nugget in snapshot.nuggets:
        for fact in nugget.facts:
            found.setdefault(answers.fact_target(nugget.name, fact.key), digest(fact.last_hit_session))
    for note in snapshot.notes:
        found.setdefault(answers.note_target(note.id), digest(note.last_hit_session))
    return found
