"""Keys that another program renamed when it loaded: what it made a new note of keeps its id, links and the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from core.errors import ErrorCode
from core.model.basis import custom_tags, normalised_note, unique_links
from core.model.change import NoteChange
from core.model.compare import alike
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import SCOPES, Note, replace
from core.storage.reconcile.item_repairs import FactStep, ItemRepair, OutsideSave, facts_of

_SCOPED: Final = re.compile(rf"\s*(?:{'|'.join(SCOPES)}):", re.IGNORECASE)


@dataclass(frozen=True)
class Renamed:
    """A fact that was renamed. `value`: the one it is to have."""

    nugget: str
    former: str
    key: str
    value: str

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Both keys, each with the nugget."""
        return (self.nugget, self.former), (self.nugget, self.key)


def scoped(key: str) -> tuple[str, ...]:
    """The keys that the original may give to this one when it loads; none for one that names its scope."""
    return () if _SCOPED.match(key) else tuple(f"{scope}:{key}" for scope in SCOPES)


def renamed_facts(save: OutsideSave) -> Iterator[Renamed]:
    """Facts that stand in their files under a scoped key now, with the value that they had, or had before us."""
    for nugget in save.nuggets:
        baseline, now = facts_of(save.baseline, nugget), facts_of(save.now, nugget)
        for change in save.found.facts:
            if change.nugget != nugget or change.key in now or change.key not in baseline:
                continue
            values = _values(save, nugget, baseline[change.key])
            for key in scoped(change.key):
                if key in now and key not in baseline and any(alike(now[key].value, one) for one in values):
                    yield Renamed(nugget, change.key, key, values[0])
                    break


def _values(save: OutsideSave, nugget: str, fact: Fact) -> tuple[str, ...]:
    """The fact's value, and the one that it had before a change of ours which the other program had not seen."""
    own = save.own(("fact", nugget, fact.key))
    change = own.fact if own is not None else None
    if change is None or change.before is None or change.after is None or change.after.value != fact.value:
        return (fact.value,)
    return fact.value, change.before.value


def kept_notes(save: OutsideSave, renamed: list[Renamed]) -> Iterator[ItemRepair]:
    """For each renamed fact its old note under the new key, instead of the one that the other program made."""
    for one in renamed:
        old = save.baseline.fact_notes.get((one.nugget, one.former))
        if old is None or old.hidden:
            continue
        made = save.visible(one.nugget, one.key)
        stands = save.now.by_id.get(old.id)
        if made is not None and made.id == old.id:
            continue
        repair = _repair(save, old, one.former, one.key)
        _replace_note(repair, stands, _as(old, one.key, one.former, made, save), made)
        _carry_fact(save, repair, one)
        yield repair


def swapped_notes(save: OutsideSave) -> Iterator[ItemRepair]:
    """Notes that we had just brought under a scoped key, and that the other program, not knowing, made again.

    It had read the graph before us; the fact is the same, so its note keeps its id.
    """
    for change in save.found.notes:
        old = change.before
        if change.after is not None or old is None or not old.is_fact or old.hidden:
            continue
        own = save.own(("note", old.id))
        made = save.visible(old.nugget_name, old.key)
        if own is None or not own.restored or made is None or made.id in save.baseline.by_id:
            continue
        facts = [facts_of(snapshot, old.nugget_name).get(old.key) for snapshot in (save.baseline, save.now)]
        if any(fact is None or not alike(fact.value, made.content) for fact in facts):
            continue
        repair = _repair(save, old, old.key, old.key)
        _replace_note(repair, None, _as(old, old.key, old.key, made, save), made)
        yield repair


def hidden_renamed(save: OutsideSave, passed_over: Collection[tuple[str, str]]) -> Iterator[ItemRepair]:
    """Hidden facts that another program brought back under a scoped key: hidden again, now under that key.

    It is the one by which the other program knows them. passed_over: nuggets and keys that were judged otherwise.
    """
    for nugget in save.nuggets:
        baseline, now = facts_of(save.baseline, nugget), facts_of(save.now, nugget)
        new = {k: fact for k, fact in now.items() if k not in baseline and (nugget, k) not in passed_over}
        if not new:
            continue
        ids = dict.fromkeys(
            (*save.now.hidden_facts.get(nugget, ()), *save.baseline.hidden_facts.get(nugget, ()))
        )
        for id in ids:
            stands = save.now.by_id.get(id)
            holder = stands if stands is not None else save.baseline.by_id[id]
            kept = holder.hidden_fact
            if kept is None or not holder.hidden or kept.key in now:
                continue
            key = next((k for k in scoped(kept.key) if k in new and alike(new[k].value, kept.value)), None)
            if key is None:
                continue
            fact, made = new.pop(key), save.visible(nugget, key)
            hits = max((kept.hits, kept.last_hit_session), (fact.hits, fact.last_hit_session))
            hidden = msgspec.structs.replace(kept, key=key, hits=hits[0], last_hit_session=hits[1])
            repair = _repair(save, holder, kept.key, key)
            repair.finding = "out"
            after = replace(_as(holder, key, kept.key, made, save), hidden_fact=hidden)
            _replace_note(repair, stands, after, made)
            repair.facts.append(FactStep(nugget=nugget, key=key, after=None))
            yield repair


def renamed_things(save: OutsideSave) -> bool:
    """Whether another program renamed keys, or made the notes of such facts anew."""
    renamed = list(renamed_facts(save))
    found = (*kept_notes(save, renamed), *swapped_notes(save), *hidden_renamed(save, ()))
    return bool(renamed or found)


def _repair(save: OutsideSave, note: Note, former: str, key: str) -> ItemRepair:
    conflict = Conflict(
        what="another program keeps renaming this fact",
        code=ErrorCode.FACT_RENAMED_BACK,
        where=note.id,
        field="source_key",
        base=former,
        ours=key,
        theirs=key,
    )
    own = save.own(("note", note.id))
    return ItemRepair(item=("note", note.id), finding="renamed", own=own, conflict=conflict)


def _replace_note(repair: ItemRepair, stands: Note | None, after: Note, made: Note | None) -> None:
    # Whether its links still hold is seen to when it is written.
    after = normalised_note(after, lambda _: True)
    repair.notes.append(NoteChange(id=after.id, before=stands, after=after))
    if made is not None:
        repair.notes.append(NoteChange(id=made.id, before=made, after=None))
        repair.instead[made.id] = after.id


def _as(old: Note, key: str, former: str, made: Note | None, save: OutsideSave) -> Note:
    """The old note under its new key, with what came to the newly made one since."""
    now = save.now.by_id.get(old.id)
    links = (*old.links, *(now.links if now is not None else ()))
    note = replace(
        old, source_key=key, title=key if old.title == former else old.title, links=unique_links(links)
    )
    if made is None:
        return note
    recalls = max(old, made, key=lambda one: one.hits)
    own_links = (link for link in made.links if link.to != old.id)
    return replace(
        note,
        tags=tuple(dict.fromkeys((*old.tags, *custom_tags(made)))),
        links=unique_links((*note.links, *own_links)),
        hits=recalls.hits,
        last_hit_session=recalls.last_hit_session,
        updated_at=max(old.updated_at, made.updated_at),
        last_accessed_at=max(old.last_accessed_at, made.last_accessed_at),
        extra=made.extra | old.extra,
    )


def _carry_fact(save: OutsideSave, repair: ItemRepair, one: Renamed) -> None:
    """What the other program dropped of the fact itself: recalls, unknown fields, a value that it had not seen."""
    old, new = facts_of(save.baseline, one.nugget)[one.former], facts_of(save.now, one.nugget)[one.key]
    recalls = max(old, new, key=lambda fact: fact.hits)
    after = msgspec.structs.replace(
        new,
        value=new.value if alike(new.value, one.value) else one.value,
        hits=recalls.hits,
        last_hit_session=recalls.last_hit_session,
        extra=old.extra | new.extra,
    )
    if after != new:
        repair.facts.append(FactStep(nugget=one.nugget, key=one.key, after=after))
