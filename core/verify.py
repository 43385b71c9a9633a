"""Finds what is wrong with notes, facts and their notes, and repairs it with one change set that can be undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import msgspec

from core.errors import InvalidInputError, Remedy, as_command, opens_with_command
from core.folder import GRAPH_FILE
from core.model.build import as_hidden_fact, as_visible_fact, new_note
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.names import check_nugget_name, parse_iso
from core.model.note import (
    FILE_NAMES,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    HiddenFact,
    Link,
    Note,
    replace,
    sound_links,
    vector_spec,
    with_system_tags,
)  # fmt: skip
from core.model.progress import Progress
from core.model.snapshot import ProblemKind, Snapshot
from core.text.normalise import squeeze

_SHOWN: Final = 60
_LISTED: Final = 4
_TIMES: Final = ("created_at", "updated_at", "last_accessed_at", "last_rewritten_at", "archived_at")
_KNOWN: Final = {
    "kind": ("fact", "note"), "scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES,
}  # fmt: skip
_FIX_ITEM: Final = "Fix it in the file; in the app, ! shows its bytes."
_MOVE_FILE: Final = "Move it out of the folder once the other file has all you need from it."


class RepairKind(StrEnum):
    """What repairing a finding is: a change of notes and facts, which is undone from the log; a file made sound, or a
    part of it, whose bytes are kept in the quarantine; the pipeline's database brought in step.
    """

    CHANGE = "change"
    FILE = "file"
    PART = "part"
    PIPELINE = "pipeline"


class Finding(msgspec.Struct, frozen=True):
    """Something that is not right. `where`: a note's id, "nugget: key" or a path. `description`: a sentence.

    means: what repairing is, None when a person must act. `repair` says in one clause what repairing does; where there
    is none, `todo`, a sentence, and `remedy` say what a person does, if `description` does not.
    """

    kind: str
    where: str
    description: str
    repair: str = ""
    means: RepairKind | None = None
    todo: str = ""
    remedy: Remedy | None = None

    @property
    def detail(self) -> str:
        """All of it in words, for somebody at a shell."""
        return " ".join(filter(None, (self.description, self.todo, _command(self.remedy))))

    def to_dict(self) -> dict[str, str]:
        """The finding as an object of the command line's JSON."""
        return {"kind": self.kind, "where": self.where, "detail": self.detail, "repair": self.repair}


class RepairableFinding(NamedTuple):
    """A finding and what repairs it (None: a person must).

    `group`: what mending decides about. Of one group one is mended at a time, and the rule looks again, since
    what was right for the next one may not be any more; () stands alone.
    """

    finding: Finding
    apply_repair: Callable[[Draft], object] | None = None
    group: tuple[str, ...] = ()


def sentence(clause: str) -> str:
    """A clause as a sentence; "" for none."""
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


def _command(remedy: Remedy | None) -> str:
    """A remedy as a sentence. A command stays as it is typed."""
    words = as_command(remedy)
    return f"{words}." if opens_with_command(remedy) else sentence(words)


def quote(text: str) -> str:
    """A title, key or value inside a sentence: one line, shortened, in quotation marks."""
    line = squeeze(text)
    return f'"{line[: _SHOWN - 1]}…"' if len(line) > _SHOWN else f'"{line}"'


def name_of(note: Note) -> str:
    """A note inside a sentence: its title, or its id when it has none."""
    return quote(note.title if note.title.strip() else note.id)


# A nugget's name and the place of one of its facts.
FactPlace = tuple[str, int]


class VerifyView:
    """One snapshot as the rules see it. A note mirrors a fact when it is visible and has its key; equal text
    wins over text that is equal when case is folded, as in recall.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.broken = {nugget.name for nugget in snapshot.nuggets if nugget.problem}
        kinds = ProblemKind.UNREADABLE_NOTE, ProblemKind.UNREADABLE_FACT
        unread = [problem for problem in snapshot.problems if problem.kind in kinds]
        # An unreadable fact may be the one that is looked for, an unreadable note the one that stands for a fact.
        self._unsure = self.broken | {problem.nugget for problem in unread if problem.nugget}
        self.unsure_notes = any(not problem.nugget for problem in unread)
        # Of each nugget the places of its facts by key, and by key as recall folds it.
        self._places: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
        for nugget in snapshot.nuggets:
            exact, folded = self._places[nugget.name] = {}, {}
            for place, fact in enumerate(nugget.facts):
                exact[fact.key] = place
                folded.setdefault(fact.key.strip().casefold(), place)

    def unsure(self, nugget: str) -> bool:
        """Whether facts of a nugget may stand in its file, or in one that should be its file, without being read."""
        return nugget in self._unsure or (bool(self.broken) and nugget not in self.snapshot.by_name)

    def fact(self, place: FactPlace) -> Fact:
        """The fact at a place."""
        return self.snapshot.by_name[place[0]].facts[place[1]]

    def find(self, nugget: str, key: str) -> FactPlace | None:
        """The place of the fact with this key; an empty key is nobody's."""
        if not key.strip():
            return None
        exact, folded = self._places.get(nugget, ({}, {}))
        place = exact.get(key)
        if place is None:
            place = folded.get(key.strip().casefold())
        return None if place is None else (nugget, place)

    def facts(self) -> Iterator[tuple[FactPlace, Fact]]:
        """Every fact that can be recalled: it has a key."""
        for nugget in self.snapshot.nuggets:
            for place, fact in enumerate(nugget.facts):
                if fact.key.strip():
                    yield (nugget.name, place), fact

    def visible_mirrors(self) -> Iterator[Note]:
        """The notes that stand for a fact, and in which none waits."""
        facts = (note for note in self.snapshot.notes if note.is_fact and not note.hidden)
        return (note for note in facts if note.hidden_fact is None)

    @cached_property
    def mirrors(self) -> dict[FactPlace, list[Note]]:
        """For each fact the notes that mirror it, the best first: its very key, then its very value."""
        pairs = ((note, self.find(note.nugget_name, note.key)) for note in self.visible_mirrors())
        found = self._by_place(pairs)
        for place, notes in found.items():
            fact = self.fact(place)
            notes.sort(key=lambda note: (note.key != fact.key, not alike(note.content, fact.value)))
        return found

    @cached_property
    def hidden_mirrors(self) -> dict[FactPlace, list[Note]]:
        """For each fact the hidden notes that were made for its key."""
        notes = (note for note in self.snapshot.notes if note.hidden and (note.hidden_fact or note.is_fact))
        return self._by_place((note, self.hidden_fact_place(note)) for note in notes)

    @cached_property
    def half_hidden(self) -> dict[FactPlace, list[Note]]:
        """For each fact the visible notes in which a fact of its key waits, as if they were hidden."""
        notes = (note for note in self.snapshot.notes if not note.hidden and note.hidden_fact is not None)
        return self._by_place((note, self.hidden_fact_place(note)) for note in notes)

    def _by_place(self, notes: Iterable[tuple[Note, FactPlace | None]]) -> dict[FactPlace, list[Note]]:
        found: dict[FactPlace, list[Note]] = {}
        for note, place in notes:
            if place is not None:
                found.setdefault(place, []).append(note)
        return found

    def hidden_fact_place(self, note: Note) -> FactPlace | None:
        """The place of the fact that waits in a note, or that the note mirrors, when it stands in the file too."""
        kept = note.hidden_fact
        place = self.find(note.nugget_name, kept.key) if kept is not None else None
        return place or (self.find(note.nugget_name, note.key) if note.is_fact else None)

    @cached_property
    def renamed(self) -> dict[FactPlace, Note]:
        """Facts without a note, each with the note without a fact that differs by a scope before the key alone."""
        found: dict[FactPlace, Note] = {}
        for note in self.visible_mirrors():
            place = self._counterpart(note)
            if place is not None:
                found.setdefault(place, note)
        return found

    def _counterpart(self, note: Note) -> FactPlace | None:
        if self.find(note.nugget_name, note.key) is not None:
            return None
        scope, colon, rest = note.key.partition(":")
        keys = [rest] if colon and scope in SCOPES else [f"{scope}:{note.key}" for scope in SCOPES]
        for key in keys:
            place = self.find(note.nugget_name, key)
            free = place is not None and not self.mirrors.get(place)
            if place is not None and free and alike(self.fact(place).value, note.content):
                return place
        return None

    def may_hold_facts(self, nugget: str) -> bool:
        """Whether a nugget has a file, or one may be made for it."""
        if nugget in self.snapshot.by_name:
            return True
        try:
            check_nugget_name(nugget, self.snapshot.nugget_names)
        except InvalidInputError:
            return False
        return True

    def repairable(
        self, kind: str, note: Note, detail: str, repair: str, apply_repair: Callable[[Draft], object], *,
        where: str = "", group: tuple[str, ...] = (),
    ) -> RepairableFinding:  # fmt: skip
        """A finding that is repaired by changing `note`. While the file of its fact is broken, only a person can."""
        where = where or note.id
        if note.is_fact and note.nugget_name in self.broken:
            return _told(
                kind,
                where,
                f"{detail} The fact file of {quote(note.nugget_name)} cannot be read: fix that first.",
            )
        return RepairableFinding(Finding(kind, where, detail, repair, RepairKind.CHANGE), apply_repair, group)


def _told(kind: str, where: str, detail: str) -> RepairableFinding:
    """A finding about which only a person can do something."""
    return RepairableFinding(Finding(kind, where, detail))


# Running the checks


def findings(snapshot: Snapshot, progress: Progress | None = None) -> list[Finding]:
    """Everything that is not right in a memory, check by check, each in file order. progress: told how many of the
    checks are through.
    """
    view = VerifyView(snapshot)
    if snapshot.graph_problem:
        # Of facts without their notes nothing can be said.
        return [one.finding for one in _files(view)]
    found: list[Finding] = []
    for count, check in enumerate(_CHECKS):
        if progress is not None:
            progress(count, len(_CHECKS))
        found += [one.finding for one in check(view)]
    return found


def repair(draft: Draft) -> None:
    """Lays every repair over a fresh draft. Nothing is lost: what gives way waits in a hidden note.

    Verifying the memory afterwards finds nothing that has a repair.
    """
    view = VerifyView(draft.present())
    for check in _CHECKS:
        former: list[Finding] = []
        while (repaired := _repair(draft, check(view))) != former:
            former, view = repaired, VerifyView(draft.present())


def _repair(draft: Draft, found: Iterator[RepairableFinding]) -> list[Finding]:
    """Mends what a check found, of each group the first; gives what it repaired."""
    groups: set[tuple[str, ...]] = set()
    repaired: list[Finding] = []
    # All are found first: the check looks at a view that does not change while it is being repaired.
    for one in list(found):
        if one.apply_repair is not None and one.group not in groups:
            groups |= {one.group} - {()}
            one.apply_repair(draft)
            repaired.append(one.finding)
    return repaired


def _present(draft: Draft, id: str) -> Note:
    """The note that a check found, as earlier repairs have left it."""
    note = draft.note(id)
    assert note is not None
    return note


def _change_note(draft: Draft, id: str, stamp: str = "", **fields: Any) -> None:
    """Writes a note with these fields, which puts right what every write does. stamp: the time that becomes now."""
    draft.put(replace(_present(draft, id), **fields, **({stamp: draft.at} if stamp else {})))


# What only a person can put right


def _files(view: VerifyView) -> Iterator[RepairableFinding]:
    """What could not be read, second files of one nugget, and files of a newer version."""
    if view.snapshot.read_only:
        detail = f"{view.snapshot.read_only}. Update nuggets-tui to write here again."
        yield _told("newer-version", view.snapshot.home, detail)
    for problem in view.snapshot.problems:
        kind, where, what = problem.kind, problem.where, problem.what
        if kind is ProblemKind.SECOND_FILE:
            found = Finding(kind, where, f"This is {what}.", todo=_MOVE_FILE)
        elif kind is ProblemKind.UNREADABLE_FILE:
            found = Finding(kind, where, sentence(what), remedy=Remedy("restore-copy"))
        else:
            of_fact = kind in (ProblemKind.UNREADABLE_FACT, ProblemKind.SHARED_KEY)
            found = Finding(kind, where, f"This {'fact' if of_fact else 'note'} {what}.", todo=_FIX_ITEM)
        yield RepairableFinding(found)


def _names(view: VerifyView) -> Iterator[RepairableFinding]:
    """Nuggets whose names no file can bear, or that differ by case alone; notes and facts without id or key."""
    lowered: dict[str, str] = {}
    for name in view.snapshot.nugget_names:
        other = lowered.setdefault(name.lower(), name)
        try:
            check_nugget_name(name, () if other == name else (other,))
        except InvalidInputError as error:
            detail = f"The name of the nugget {quote(name)} does not work on every system: {error.what}. "
            yield _told(
                "nugget-name", name, f"{detail}Move its facts and notes to a nugget with another name."
            )
    for note in view.snapshot.notes:
        if not note.id.strip():
            detail = f"The note {name_of(note)} has no id. Give it one in the file."
            yield _told("no-id", str(GRAPH_FILE), detail)
    for nugget in view.snapshot.nuggets:
        for fact in (one for one in nugget.facts if not one.key.strip()):
            detail = f"A fact with the value {quote(fact.value)} has no key, so nobody can recall it. "
            yield _told("no-key", f"{nugget.name}: {fact.key}", f"{detail}Give it one in {nugget.file}.")


def _values(view: VerifyView) -> Iterator[RepairableFinding]:
    """Times that are no times, confidence outside [0, 1], and metadata that the format does not know."""
    for note in view.snapshot.notes:
        edit = f"nuggets note edit {note.id}"
        for name in _TIMES:
            text = getattr(note, name)
            if text and parse_iso(text) is None:
                detail = f"The {FILE_NAMES[name]} of {name_of(note)} is not a time: {quote(text)}. Fix it in the file."
                yield _told("no-time", note.id, detail)
        if not 0 <= note.confidence <= 1:
            detail = f"The confidence of {name_of(note)} is {note.confidence:g}, not a number from 0 to 1. "
            yield _told("confidence", note.id, f"{detail}Set it with: {edit} --confidence NUMBER")
        for name, known in _KNOWN.items():
            value = getattr(note, name)
            if value not in known:
                how = " in the file." if name == "kind" else f", with: {edit} --{name} {name.upper()}"
                detail = f"The {name} of {name_of(note)} is {quote(value)}, which the format does not know. "
                yield _told(f"unknown-{name}", note.id, f"{detail}Choose one of {', '.join(known)}{how}")


# A fact and its note: both exist once, say the same and are hidden alike


def _half_hidden(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible notes in which a fact waits as if they were hidden: a stale save, or the work of another program."""
    for note in view.snapshot.notes:
        if note.hidden or note.hidden_fact is None or view.unsure(note.nugget_name):
            continue
        place = view.hidden_fact_place(note)
        if place is None:
            yield _without_its_fact(view, note, note.hidden_fact)
        else:
            yield _beside_its_fact(view, note, note.hidden_fact, place)


def _beside_its_fact(view: VerifyView, note: Note, kept: HiddenFact, place: FactPlace) -> RepairableFinding:
    fact = view.fact(place)
    if view.mirrors.get(place):
        detail = f"The note {name_of(note)} is visible, although it keeps a hidden fact; "
        detail += f"another note now mirrors the fact {quote(fact.key)}."
        words, mend = "hides it again", partial(_hide_again, id=note.id)
    elif alike(fact.value, kept.value):
        detail = f"The note {name_of(note)} was hidden with its fact, and another program restored both."
        words = f"hides it again and removes the fact {quote(fact.key)} from the fact file"
        mend = partial(_hide_again, id=note.id, key=fact.key)
    else:
        detail = f"The note {name_of(note)} was hidden with its fact; the key {quote(fact.key)} now has another value."
        words = f"links it to the new value and keeps {quote(kept.value)} in a hidden note"
        mend = partial(_part_from_old_value, id=note.id)
    return view.repairable("half-hidden", note, detail, words, mend, group=(place[0], fact.key))


def _without_its_fact(view: VerifyView, note: Note, kept: HiddenFact) -> RepairableFinding:
    detail = f"The note {name_of(note)} is visible, but its fact {quote(kept.key)} is still hidden in it "
    detail += "and agents do not recall it."
    fact = as_visible_fact(kept)
    if note.is_fact and note.key.strip():
        fact = msgspec.structs.replace(fact, key=note.key)
    if not view.may_hold_facts(note.nugget_name):
        detail += f" No file can have the name {quote(note.nugget_name)}: store the fact in another nugget."
    elif not fact.key.strip():
        detail += " The fact has no key: give the note a title, or hide it."
    else:
        mend = partial(_bring_back, id=note.id, fact=fact, index=kept.index)
        group = (note.nugget_name, fact.key)
        return view.repairable(
            "half-hidden", note, detail, "restores the fact to the fact file", mend, group=group
        )
    return _told("half-hidden", note.id, detail)


def _hide_again(draft: Draft, id: str, key: str = "") -> None:
    if key:
        _take_out(draft, id, key)
    note = _present(draft, id)
    draft.put(replace(note, hidden=True, archived_at=note.archived_at or draft.at))


def _part_from_old_value(draft: Draft, id: str) -> None:
    note = _present(draft, id)
    assert note.hidden_fact is not None
    keep_in_hidden_note(draft, note.nugget_name, note.hidden_fact)
    draft.put(replace(note, hidden_fact=None, archived_at=None))


def _bring_back(draft: Draft, id: str, fact: Fact, index: int) -> None:
    note = _present(draft, id)
    draft.put_fact(note.nugget_name, fact, index)
    draft.put(replace(note, hidden_fact=None, archived_at=None))


def _other_keys(view: VerifyView) -> Iterator[RepairableFinding]:
    """Notes whose key differs from their fact's by a scope before it, or by case."""
    pairs = [*view.renamed.items(), *((place, notes[0]) for place, notes in view.mirrors.items())]
    for place, note in pairs:
        key = view.fact(place).key
        if note.key != key:
            detail = f"The note {name_of(note)} calls its fact {quote(note.key)}, but the fact file says {quote(key)}."
            title = key if note.title == note.key else note.title
            rename = partial(_change_note, id=note.id, stamp="updated_at", source_key=key, title=title)
            yield view.repairable(
                "key-differs", note, detail, f"renames it to {quote(key)} in the note", rename
            )


def _lost_facts(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible fact notes whose fact is not in its file, or whose file is gone, so that no agent recalls it."""
    renamed = {note.id for note in view.renamed.values()}
    for note in view.visible_mirrors():
        nugget, key = note.nugget_name, note.key
        if view.unsure(nugget) or view.find(nugget, key) is not None or note.id in renamed:
            continue
        where = f"{nugget}: {key}"
        detail = f"The fact {quote(key)} is in its note, but not in the fact file: agents do not recall it."
        if not view.may_hold_facts(nugget):
            detail += f" No file can have the name {quote(nugget)}: store the fact in another nugget."
        elif not (key.strip() and note.content.strip()):
            detail += f" The note {note.id} lacks the text or key of the fact: edit it or hide it."
        else:
            words, put_back = "restores the fact with the note's text", partial(_put_back, id=note.id)
            group = (nugget, key.strip().casefold())
            yield view.repairable("missing-fact", note, detail, words, put_back, where=where, group=group)
            continue
        yield _told("missing-fact", where, detail)


def _put_back(draft: Draft, id: str) -> None:
    note = _present(draft, id)
    fact = Fact(key=note.key, value=note.content, hits=note.hits, last_hit_session=note.last_hit_session)
    draft.put_fact(note.nugget_name, fact)


def _several_notes(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible notes that mirror one fact: the one that says what the fact says stays."""
    for place, notes in view.mirrors.items():
        for note in notes[1:]:
            detail = f"The note {name_of(note)} mirrors the fact {quote(view.fact(place).key)}, "
            detail += f"which the note {notes[0].id} mirrors already."
            hide = partial(_change_note, id=note.id, stamp="archived_at", hidden=True)
            yield view.repairable("several-notes", note, detail, "hides it", hide)


def _differing_values(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts whose note says something else. Which is newer cannot be told, so neither is lost.

    The note's text wins: it is what people are shown and what is promoted.
    """
    for place, notes in view.mirrors.items():
        fact, note = view.fact(place), notes[0]
        if alike(fact.value, note.content):
            continue
        detail = f"Agents recall {quote(fact.value)} for {quote(fact.key)}, but its note says {quote(note.content)}."
        words = "gives the fact the note's text"
        if fact.value.strip():
            words += f" and keeps {quote(fact.value)} in a hidden note"
        mend = partial(_take_text, id=note.id, nugget=place[0], fact=fact)
        if not note.content.strip():
            words = "gives the note the fact's value"
            mend = partial(_change_note, id=note.id, stamp="updated_at", content=fact.value)
        yield view.repairable("value-differs", note, detail, words, mend, where=f"{place[0]}: {fact.key}")


def _take_text(draft: Draft, id: str, nugget: str, fact: Fact) -> None:
    draft.put_fact(nugget, msgspec.structs.replace(fact, value=_present(draft, id).content))
    if fact.value.strip():
        # At the end: the old value leaves no gap among the facts that the places of others would count.
        keep_in_hidden_note(draft, nugget, as_hidden_fact(fact, draft.end_of_facts(nugget)))


def _still_recalled(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts that agents recall although their notes are hidden: a stale save brought them back."""
    for place, fact in view.facts() if not view.unsure_notes else ():
        note = _hidden_note_of(view, place, fact)
        if note is not None:
            detail = (
                f"The note {name_of(note)} is hidden, but agents still recall its fact {quote(fact.key)}."
            )
            words = "removes the fact from the fact file and keeps it in the hidden note"
            take_out = partial(_take_out, id=note.id, key=fact.key)
            yield view.repairable("hidden-but-recalled", note, detail, words, take_out)


def _hidden_note_of(view: VerifyView, place: FactPlace, fact: Fact) -> Note | None:
    """The hidden note that says what a fact says, unless a visible note stands for the fact."""
    if view.mirrors.get(place) or view.half_hidden.get(place):
        return None
    said = (
        (note, note.content if note.hidden_fact is None else note.hidden_fact.value)
        for note in view.hidden_mirrors.get(place, ())
    )
    notes = [note for note, value in said if alike(value, fact.value)]
    return min(notes, key=lambda note: note.hidden_fact is None, default=None)


def _take_out(draft: Draft, id: str, key: str) -> None:
    """Takes a fact out of its file and into its note; one that waits there already keeps its place."""
    note = _present(draft, id)
    taken = draft.take_fact(note.nugget_name, key)
    assert taken is not None
    kept = as_hidden_fact(taken[1], taken[0])
    former = note.hidden_fact
    if former is not None:
        latest = max(former, kept, key=lambda fact: fact.hits)
        counts = {"hits": latest.hits, "last_hit_session": latest.last_hit_session}
        kept = msgspec.structs.replace(former, key=kept.key, **counts)
    draft.put(replace(note, hidden_fact=kept))


def keep_in_hidden_note(draft: Draft, nugget: str, kept: HiddenFact) -> None:
    """Makes the note that forgetting such a fact would leave behind, from which it can be brought back."""
    note = new_note(draft, "fact", nugget, kept.key, kept.value)
    counts = {"hits": kept.hits, "last_hit_session": kept.last_hit_session}
    draft.put(replace(note, **counts, hidden=True, archived_at=draft.at, hidden_fact=kept))


def _unnoted_facts(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts that no note stands for, so that panes, search and promotion do not know them."""
    for place, fact in view.facts() if not view.unsure_notes else ():
        stand_ins = view.mirrors.get(place) or view.half_hidden.get(place) or place in view.renamed
        if not stand_ins and _hidden_note_of(view, place, fact) is None:
            detail = f"The fact {quote(fact.key)} has no note, so search and promotion miss it."
            make = partial(_make_note, nugget=place[0], fact=fact)
            where = f"{place[0]}: {fact.key}"
            finding = Finding("missing-note", where, detail, "creates its note", RepairKind.CHANGE)
            yield RepairableFinding(finding, make)


def _make_note(draft: Draft, nugget: str, fact: Fact) -> None:
    note = new_note(draft, "fact", nugget, fact.key, fact.value)
    draft.put(replace(note, hits=fact.hits, last_hit_session=fact.last_hit_session))


# What every write corrects


def _uncorrected(view: VerifyView) -> Iterator[RepairableFinding]:
    """Links that lead nowhere, tags that are not those of the format, recipes of vectors that do not fit the note."""
    known = view.snapshot.by_id.keys() | view.snapshot.set_aside
    for note in view.snapshot.notes:
        correct = partial(_change_note, id=note.id)
        links = sound_links(note, known.__contains__)
        if links != note.links:
            had, left_over = Counter(link.to for link in note.links), Counter(link.to for link in links)
            left = list((had - left_over).elements())
            detail = f"The note {name_of(note)} links to {_listed(left)}: a note that is gone, itself, or one twice."
            yield view.repairable("wrong-links", note, detail, "removes the links", correct)
        tags = with_system_tags(note)
        if tags != note.tags:
            held, wanted = set(note.tags), set(tags)
            missing = [tag for tag in tags if tag not in held]
            gone = [tag for tag in note.tags if tag not in wanted]
            parts = [f"lack {_listed(missing)}"] if missing else []
            parts += [f"wrongly hold {_listed(gone)}"] if gone else []
            detail = f"The tags of {name_of(note)} {' and '.join(parts) or 'hold one of them twice'}."
            yield view.repairable("wrong-tags", note, detail, "corrects the tags", correct)
        if vector_spec(note) != note.vector:
            detail = f"The search vector of {name_of(note)} does not match its text."
            yield view.repairable("wrong-vector", note, detail, "computes it again", correct)


def _listed(names: list[str]) -> str:
    shown = [quote(name) for name in names[:_LISTED]]
    if len(names) > _LISTED:
        shown.append(f"{len(names) - _LISTED} more")
    return ", ".join(shown[:-1]) + " and " * (len(shown) > 1) + shown[-1]


def _one_way_links(view: VerifyView) -> Iterator[RepairableFinding]:
    """Links that the other note does not return; a target that cannot be read is left alone."""
    notes = view.snapshot.by_id
    held = {(note.id, link.to, link.reason) for note in view.snapshot.notes for link in note.links}
    # All that one note is to link back to is repaired in one go: each time its links are all looked through.
    back_from: dict[str, list[tuple[str, Link]]] = {}
    links = [(note, link) for note in view.snapshot.notes for link in note.links]
    for note, link in links:
        target, back = notes.get(link.to), (link.to, note.id, link.reason)
        if target is None or link.to == note.id or back in held:
            continue
        held.add(back)
        detail = f"The note {name_of(note)} links to {name_of(target)} with the reason {quote(link.reason)}; "
        detail += "the other note does not link back."
        missing = back_from.setdefault(link.to, [])
        missing.append((note.id, link))
        mend = partial(_link_back, id=link.to, missing=missing)
        yield view.repairable(
            "one-way-link", target, detail, "adds the link back", mend, where=note.id, group=(link.to,)
        )


def _link_back(draft: Draft, id: str, missing: list[tuple[str, Link]]) -> None:
    """missing: the notes that link to this one, each with its link."""
    note = _present(draft, id)
    back = [Link(to=to, reason=link.reason, created_at=link.created_at or draft.at) for to, link in missing]
    draft.put(replace(note, links=(*note.links, *back)))


# In this order: each leaves nothing to the ones before it.
_CHECKS: Final[tuple[Callable[[VerifyView], Iterator[RepairableFinding]], ...]] = (
    _files, _names, _values, _half_hidden, _other_keys, _lost_facts, _several_notes, _differing_values,
    _still_recalled, _unnoted_facts, _uncorrected, _one_way_links,
)  # fmt: skip
