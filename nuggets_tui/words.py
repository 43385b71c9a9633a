"""How the app says things in words: ages, counts, and what a change set did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from core.model.names import parse_iso

if TYPE_CHECKING:
    from core.model.change import ChangeSet, FactChange, NoteChange

_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (86_400 * 60, 86_400, "d"))
_MONTH = 86_400 * 30.44
_KIND_WORDS = {"reflection": "reflected", "promotion": "promoted", "import": "imported", "undo": "took back"}


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 note", "2 notes"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ago(stamp: str, now: datetime) -> str:
    """The age of a file's time as a short text: "now", "2 s", "5 min", "3 h", "12 d", "4 mo", "2 y"; "" for no time."""
    moment = parse_iso(stamp)
    if moment is None:
        return ""
    seconds = max(0.0, (now - moment).total_seconds())
    if seconds < 1:
        return "now"
    for limit, unit, name in _STEPS:
        if seconds < limit:
            return f"{int(seconds // unit)} {name}"
    months = int(seconds // _MONTH)
    return f"{months} mo" if months < 24 else f"{months // 12} y"


def clock_time(stamp: str, now: datetime, zone: tzinfo | None = None) -> str:
    """A file's time on the local clock: "09:41" today, "21 Nov" this year, "21 Nov 24" before; "" for no time."""
    moment = parse_iso(stamp)
    if moment is None:
        return ""
    local, today = moment.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %y}"


@dataclass(frozen=True)
class Deed:
    """What one change did: a verb, what it was done to, and the note to show for it ("" for none)."""

    verb: str
    what: str
    note_id: str = ""


def deed(change_set: ChangeSet) -> Deed:
    """A whole change set in one line: the one thing it did, or how many things of each kind."""
    deeds = deeds_of(change_set)
    if not deeds:
        return Deed("changed", change_set.reason)
    if change_set.kind in _KIND_WORDS:
        return Deed(_KIND_WORDS[change_set.kind], _summary(change_set, deeds), deeds[0].note_id)
    if len(deeds) == 1:
        return deeds[0]
    pair = _linked_pair(change_set, deeds)
    if pair is not None:
        return pair
    merged = next((item for item in deeds if item.verb == "merged away"), None)
    if merged is not None:
        return Deed("merged", f"{merged.what} into {_survivor(change_set)}", merged.note_id)
    counts = Counter(item.verb for item in deeds)
    return Deed("changed", ", ".join(f"{verb} {count}" for verb, count in counts.items()), deeds[0].note_id)


def deeds_of(change_set: ChangeSet) -> tuple[Deed, ...]:
    """What a change set did, thing by thing; a fact and its note count as one."""
    found = [Deed(_note_verb(change), change.note.title, change.id) for change in change_set.notes]
    mirrored = {(change.note.nugget_name, change.note.key) for change in change_set.notes}
    for change in change_set.facts:
        if (change.nugget, change.key) not in mirrored:
            found.append(Deed(_fact_verb(change), change.key))
    found.extend(Deed("wrote", file.path.replace("\\", "/").rpartition("/")[2]) for file in change_set.files)
    return tuple(found)


def _note_verb(change: NoteChange) -> str:
    before, after = change.before, change.after
    if before is None:
        return "added"
    if after is None:
        return "deleted"
    if before.hidden != after.hidden:
        from core.graph.edits import MERGED_INTO

        if after.hidden:
            return "merged away" if MERGED_INTO in after.extra else "hid"
        return "brought back"
    for name, verb in (
        ("title", "renamed"),
        ("content", "edited"),
        ("links", "linked"),
        ("tags", "tagged"),
        ("hits", "recalled"),
    ):
        if getattr(before, name) != getattr(after, name):
            if name == "links" and len(after.links) < len(before.links):
                return "unlinked"
            return verb
    return "changed"


def _fact_verb(change: FactChange) -> str:
    if change.before is None:
        return "remembered"
    if change.after is None:
        return "forgot"
    return "recalled" if change.before.value == change.after.value else "changed"


def _linked_pair(change_set: ChangeSet, deeds: tuple[Deed, ...]) -> Deed | None:
    if len(deeds) == 2 and {item.verb for item in deeds} in ({"linked"}, {"unlinked"}):
        sign = "↔" if deeds[0].verb == "linked" else "|"
        return Deed(deeds[0].verb, f"{deeds[0].what} {sign} {deeds[1].what}", change_set.notes[0].id)
    return None


def _survivor(change_set: ChangeSet) -> str:
    from core.graph.edits import MERGED_INTO

    goals = {change.after.extra.get(MERGED_INTO) for change in change_set.notes if change.after is not None}
    for change in change_set.notes:
        if change.id in goals:
            return change.note.title
    return "another note"


def _summary(change_set: ChangeSet, deeds: tuple[Deed, ...]) -> str:
    if change_set.kind == "undo":
        return change_set.reason or deeds[0].what
    if change_set.kind == "promotion":
        return f"to {deeds[0].what}"
    if len(deeds) == 1:
        return f"{deeds[0].what} ({deeds[0].verb})"
    counts = Counter(item.verb for item in deeds)
    return ", ".join(f"{verb} {count}" for verb, count in counts.items())
