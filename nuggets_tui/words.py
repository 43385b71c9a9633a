"""How the app says things in words: ages, counts, what a change set did, what was recalled, secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core.folder import FACT_SUFFIXES
from core.model.change import OURSELVES, FileChange, drops_recall
from core.model.fact import Fact
from core.model.names import duration, iso, parse_iso
from core.model.note import Note
from nuggets_tui.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Collection

    from core.facts.recall import Recall, Undecoded
    from core.memory import Memory
    from core.model.change import ChangeSet, FactChange, NoteChange
    from core.model.joined import Whose
    from core.model.judgement import Standing
    from core.model.secrets import Holder
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
    from core.sync import SyncResult, SyncState

_PINNED = "pinned"
# What stands before the deeds of a change set that repeats, restores or mends.
_PREFIXES = {"redo": "redid:", "restore": "restored:", "repair": "repaired:"}
# Of what touches no note its reason says what was done.
_OF_NOTHING = {"decision": "decided:", "undo": "undid:", "redo": "redid:"}
_PARTICIPLES = {
    "hid": "hidden", "forgot": "forgotten", "wrote": "written", "refused a change of": "kept unchanged",
    "dropped a recall of": "recalled fewer times",
}  # fmt: skip
# What is done to facts as well: said of the note of a fact alone, it says so.
_OF_FACTS_TOO = frozenset({"added", "deleted", "hid", "brought back", "edited", "renamed", "changed"})
# What a note's deed may be called for its fact to come or to go with it.
_COMING, _GOING = frozenset({"added", "brought back"}), frozenset({"hid", "deleted", "merged away"})
# Characters of a text that an answer gives whole.
PASSAGE: Final = 600
# Characters of the value of a setting.
_SETTING: Final = 40
# Names said of a change of many things, and characters of each.
_NAMED, _NAME = 3, 60


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 note", "2 notes", "2 searches"."""
    ending = "es" if one.endswith("ch") else "s"
    return f"{count:,} {one if count == 1 else many or one + ending}"


def selected_text(count: int, away: int) -> str:
    """What a list's title says of a selection; away: how many of it the list does not show. "" for none."""
    return f" · {count:,} selected" + (f" ({away:,} not here)" if away else "") if count else ""


def counted_holders(holders: Collection[Holder]) -> str:
    """How many there are, with their noun."""
    if not any(one.kept_id for one in holders):
        return plural(len(holders), "note or fact", "notes and facts")
    if all(one.kept_id for one in holders):
        return plural(len(holders), "text")
    return plural(len(holders), "note, fact or text", "notes, facts and texts")


def ago(stamp: str, now: datetime) -> str:
    """The age of a file's time as a short text: "now", "2 s", "5 min", "3 h", "12 d", "4 mo", "2 y"; "" for no time."""
    moment = parse_iso(stamp)
    return "" if moment is None else duration((now - moment).total_seconds())


def time_ago(stamp: str, now: datetime) -> str:
    """How long ago a file's time is: "now", "5 min ago"; "" for no time."""
    age = ago(stamp, now)
    return age if age in ("", "now") else f"{age} ago"


def local_time(stamp: str, zone: tzinfo | None = None) -> str:
    """A file's time in full on the local clock: "2026-11-21 09:41:07"; the text itself when it is no time."""
    moment = parse_iso(stamp)
    return stamp if moment is None else f"{moment.astimezone(zone):%Y-%m-%d %H:%M:%S}"


def data_size(count: int) -> str:
    """A number of bytes as a person says it: "512 B", "1.3 MB"."""
    for unit, divisor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= divisor:
            return f"{count / divisor:.1f} {unit}"
    return f"{count} B"


class Deed(msgspec.Struct, frozen=True):
    """What one change did: a verb, what it was done to, and the note that it is about ("" for none or several).

    noun: what kind of thing it was done to: "note", "fact" or "file".
    """

    verb: str
    what: str
    note_id: str = ""
    noun: str = "note"


def deed(change_set: ChangeSet, *, quoted: bool = False) -> Deed:
    """A whole change set in one line: the one thing it did, or how many things of each kind and some by name.

    quoted: with titles and keys in quotation marks, as they stand in a sentence.
    """
    if change_set.empty and change_set.kind in _OF_NOTHING:
        return Deed(_OF_NOTHING[change_set.kind], change_set.reason)
    if "." in change_set.about:
        from core.model.change_parts import without_ends_of_links

        # Links go with their note: what was undone is the part, not what it was linked with.
        change_set = without_ends_of_links(change_set)
    if change_set.kind == "undo" and not change_set.mends:
        told = _done(_turned_back(change_set), quoted)
        return Deed("undid:", f"{told.verb} {told.what}", told.note_id)
    deeds = deeds_of(change_set)
    if change_set.kind == "promotion" and deeds:
        goal = next((item for item in deeds if item.noun == "file"), deeds[0])
        return Deed("promoted", f"to {goal.what}")
    told = _done(change_set, quoted)
    if change_set.kind == "hit" and change_set.author == OURSELVES:
        # Another program had dropped it.
        return Deed("counted again:", told.what, told.note_id, told.noun)
    if change_set.kind == "mask" and deeds:
        return Deed("masked", told.what, told.note_id, told.noun)
    if change_set.kind in _PREFIXES and deeds:
        return Deed(_PREFIXES[change_set.kind], f"{told.verb} {told.what}", told.note_id, told.noun)
    if change_set.kind == "import" and change_set.author == OURSELVES:
        return Deed("carried over", "the history of another folder", told.note_id)
    if change_set.kind == "import" and deeds:
        what = told.what if len(deeds) > 1 and told.verb == "added" else f"{told.what} ({told.verb})"
        return Deed("imported", what, told.note_id)
    return told


def _turned_back(change_set: ChangeSet) -> ChangeSet:
    """What a change set that takes something back took back."""
    return change_set.inverse(
        id=change_set.id, at=change_set.at, author=change_set.author, reason=change_set.reason
    )


def _done(change_set: ChangeSet, quoted: bool) -> Deed:
    """A change set in one line, whatever its kind."""
    deeds = deeds_of(change_set)
    if quoted:
        deeds = tuple(map(_quoted, deeds))
    if not deeds:
        repaired = ", ".join(mend.path for mend in change_set.mends)
        if repaired and change_set.kind == "undo":
            return Deed("undid:", f"repaired {repaired}")
        if repaired:
            return Deed("repaired", repaired)
        return Deed("repaired:" if change_set.kind == "repair" else "changed", change_set.reason)
    if len(deeds) == 1:
        return _of_its_fact(change_set, deeds[0])
    pair = _linked_pair(change_set, deeds)
    if pair is not None:
        return pair
    merged = [item for item in deeds if item.verb == "merged away"]
    whole = change_set.kind in ("edit", "undo", "redo")
    if whole and len(merged) == 1 and _of_one_merge(change_set, merged[0].note_id):
        survivor = _survivor(change_set)
        if merged[0].what in (survivor, _in_quotes(survivor)):
            return Deed("merged", f"two notes called {merged[0].what}")
        into = _in_quotes(survivor) if quoted and survivor else survivor or "another note"
        return Deed("merged", f"{merged[0].what} into {into}")
    return _many(change_set, deeds)


def _quoted(told: Deed) -> Deed:
    """A deed done to a note or a fact, with its name in quotation marks."""
    if told.noun not in ("note", "fact"):
        return told
    return msgspec.structs.replace(told, what=_in_quotes(told.what))


def _in_quotes(name: str) -> str:
    return f'"{safe_line(name, _NAME - 2)}"'


def _of_its_fact(change_set: ChangeSet, told: Deed) -> Deed:
    """A deed done to the note of a fact, of which the fact knows nothing, as that."""
    fact_note = bool(change_set.notes) and change_set.notes[0].note.is_fact
    if told.noun != "note" or not fact_note or told.verb not in _OF_FACTS_TOO:
        return told
    return msgspec.structs.replace(told, what=f"note of {told.what}")


def _of_one_merge(change_set: ChangeSet, away: str) -> bool:
    """Whether every note that changed is one of the two merged, or was linked with one of them."""
    from core.graph.edits import MERGED_INTO

    gone = next((change.after for change in change_set.notes if change.id == away), None)
    pair = {away, str(gone.extra.get(MERGED_INTO, "")) if gone is not None else ""}
    return all(
        change.id in pair
        or any(link.to in pair for note in (change.before, change.after) if note for link in note.links)
        for change in change_set.notes
    )


def counted(change_set: ChangeSet) -> str:
    """How many things of each kind a change set does: "2 notes added, 1 fact hidden"; "" for nothing."""
    groups = _grouped(deeds_of(change_set))
    return ", ".join(
        f"{_amount(change_set, verb, group)} {participle(verb)}" for verb, group in groups.items()
    )


def things(change_set: ChangeSet) -> str:
    """How many things a change set does something to, of whatever kind: "2 things"."""
    size = len(change_set.notes) + len(facts_alone(change_set)) + len(change_set.files)
    return plural(size, "thing")


def participle(verb: str) -> str:
    """A deed's verb behind what it was or would be done to: "hid" as "hidden"."""
    return _PARTICIPLES.get(verb, verb)


def _grouped(deeds: tuple[Deed, ...]) -> dict[str, list[Deed]]:
    groups: dict[str, list[Deed]] = {}
    for item in deeds:
        groups.setdefault(item.verb, []).append(item)
    return groups


def _many(change_set: ChangeSet, deeds: tuple[Deed, ...]) -> Deed:
    """Several deeds: how many of each kind, and the names of some; the first kind's verb stands for all."""
    groups = _grouped(deeds)
    first, *others = groups
    said = _amount(change_set, first, groups[first])
    said += "".join(f", {verb} {_amount(change_set, verb, groups[verb])}" for verb in others)
    named = [item for group in groups.values() for item in group]
    names = ", ".join(safe_line(item.what, _NAME) for item in named[:_NAMED])
    more = ", …" if len(named) > _NAMED else ""
    return Deed(first, f"{said}: {names}{more}", noun=named[0].noun)


def _amount(change_set: ChangeSet, verb: str, group: list[Deed]) -> str:
    pairs = _pairs(change_set, verb)
    if pairs:
        return plural(pairs, "pair")
    nouns = {item.noun for item in group}
    return plural(len(group), nouns.pop() if len(nouns) == 1 else "thing")


def _pairs(change_set: ChangeSet, verb: str) -> int:
    """How many pairs of notes were linked, or unlinked; both ends of a link are one pair. 0 for other verbs."""
    if verb not in ("linked", "unlinked"):
        return 0
    pairs: set[frozenset[str]] = set()
    for change in change_set.notes:
        if change.before is None or change.after is None:
            continue
        had = {link.to for link in change.before.links}
        has = {link.to for link in change.after.links}
        others = has - had if verb == "linked" else had - has
        pairs.update(frozenset((change.id, other)) for other in others)
    return len(pairs)


def deeds_of(change_set: ChangeSet) -> tuple[Deed, ...]:
    """What a change set did, thing by thing; a fact and its note count as one where both were changed alike."""
    together, alone = _covered_by_notes(change_set)
    found: list[Deed] = []
    for place, change in enumerate(change_set.notes):
        fact = together.get(place)
        verb = _note_verb(change) if fact is None else _verb_of_both(change, fact)
        found.append(Deed(verb, change.note.title, change.id, "note" if fact is None else "fact"))
    found += [Deed(_fact_verb(change), change.key, noun="fact") for change in alone]
    for file in change_set.files:
        own = list(_file_deeds(file))
        verb = "set aside" if file.after is None and file.path.endswith(FACT_SUFFIXES) else "wrote"
        found += own or [Deed(verb, file.path.replace("\\", "/").rpartition("/")[2], noun="file")]
    return tuple(found)


def facts_alone(change_set: ChangeSet) -> list[FactChange]:
    """What a change set did to facts that no note of it tells."""
    return _covered_by_notes(change_set)[1]


def _covered_by_notes(change_set: ChangeSet) -> tuple[dict[int, FactChange], list[FactChange]]:
    """The changes of facts that changes of their notes tell, by the place of the latter, and the others."""
    notes: dict[tuple[str, str], list[int]] = {}
    for place, change in enumerate(change_set.notes):
        for note in (change.after, change.before):
            if note is not None and note.is_fact:
                places = notes.setdefault((note.nugget_name, note.key), [])
                places += [place] if place not in places else []
    together: dict[int, FactChange] = {}
    alone: list[FactChange] = []
    for fact in change_set.facts:
        own = notes.get((fact.nugget, fact.after.key if fact.after is not None else fact.key), ())
        fitting = [
            place for place in own if place not in together and _shows_the_same(change_set.notes[place], fact)
        ]
        # Of several notes the one that people saw before.
        best = min(fitting, key=lambda place: _shown(change_set.notes[place].before) is None, default=None)
        if best is None:
            alone.append(fact)
        else:
            together[best] = fact
    return together, alone


def _shows_the_same(change: NoteChange, fact: FactChange) -> bool:
    """Whether a note shows, after its change, what its fact says after its own."""
    note = _shown(change.after)
    if note is None or fact.after is None:
        return note is None and fact.after is None
    from core.model.compare import alike

    return alike(note.content, fact.after.value)


def _shown(note: Note | None) -> Note | None:
    return None if note is None or note.hidden else note


def _verb_of_both(change: NoteChange, fact: FactChange) -> str:
    """The verb for a fact that changed with its note."""
    verb, of_fact = _note_verb(change), _fact_verb(fact)
    if of_fact == "remembered":
        return verb if verb in _COMING else of_fact
    if of_fact == "forgot":
        return verb if verb in _GOING else of_fact
    # A note that comes or goes does not bring or take a fact that was there before and after.
    return of_fact if verb in (*_COMING, *_GOING) else verb


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
            if name == "hits" and drops_recall(change):
                return "dropped a recall of"
            if name == "tags" and before.scope != after.scope:
                return "moved"
            if name == "links" and len(after.links) < len(before.links):
                return "unlinked"
            return (_pin_verb(before, after) or verb) if name == "tags" else verb
    return "refused a change of" if refuses_more(before, after) else "changed"


def refuses_more(before: Note, after: Note) -> bool:
    """Whether a change that reflection proposed was refused."""
    if before.extra == after.extra:
        return False
    from core.reflection.proposals import REFUSED

    return REFUSED in after.extra and before.extra.get(REFUSED) != after.extra[REFUSED]


def _pin_verb(before: Note, after: Note) -> str:
    """The verb for tags that differ by the pin alone; "" when they differ otherwise."""
    if set(before.tags) ^ set(after.tags) != {_PINNED}:
        return ""
    return "pinned" if _PINNED in after.tags else "unpinned"


def _fact_verb(change: FactChange) -> str:
    if change.before is None:
        return "remembered"
    if change.after is None:
        return "forgot"
    if change.before.key != change.after.key:
        return "renamed"
    if drops_recall(change) and change.before.value == change.after.value:
        return "dropped a recall of"
    recalled = change.after.hits > change.before.hits
    return "recalled" if recalled and change.before.value == change.after.value else "changed"


def _linked_pair(change_set: ChangeSet, deeds: tuple[Deed, ...]) -> Deed | None:
    if len(deeds) == 2 and {item.verb for item in deeds} in ({"linked"}, {"unlinked"}):
        sign = "↔" if deeds[0].verb == "linked" else "|"
        return Deed(deeds[0].verb, f"{deeds[0].what} {sign} {deeds[1].what}")
    return None


def _survivor(change_set: ChangeSet) -> str:
    from core.graph.edits import MERGED_INTO

    goals = {change.after.extra.get(MERGED_INTO) for change in change_set.notes if change.after is not None}
    for change in change_set.notes:
        if change.id in goals:
            return change.note.title
    return ""


def left_for_later(result: ReflectionResult) -> str:
    """What a cleanup pass leaves for the next one, "" for nothing it knows of."""
    counts = ((result.left_archived, "to archive"), (result.left_merged, "to merge"))
    kept_back = " and ".join(f"{count:,} more {what}" for count, what in counts if count)
    if kept_back:
        wait = "waits" if result.left_archived + result.left_merged == 1 else "wait"
        return f"{kept_back} {wait} for the next pass."
    if result.limit_reached:
        return "More notes may wait for the next pass."
    return ""


def describe_waiting_promotion(result: PromotionResult) -> str:
    """A promotion that waits for a person's word, and how they give it."""
    from core.daily import lines_of

    return describe_waiting_lines(lines_of(result), result.path)


def describe_waiting_lines(lines: int, path: str) -> str:
    """The same of so many lines of the file at a path."""
    return (
        f"{plural(lines, 'line')} for {safe_line(path)} wait for your decision: nuggets promote "
        "--automatic project, always or never"
    )


_UNDECODED: Final[Mapping[Undecoded, str]] = {
    "overfull": "read from the fact file: the nugget holds too many facts for its vectors",
    "costly": "read from the fact file: decoding the nugget would take too long",
    "unsure": "read from the fact file: the nugget's vectors are not sure",
}


def other_side_lines(found: Recall) -> list[str]:
    """The notes that say otherwise than an answer, while nobody decided between them, a line each."""
    sides = [("disputed by", one) for one in found.disputed_by]
    sides += [("disputes", one) for one in found.disputes]
    from core.text.normalise import squeeze

    return [f"{how} {one.id}, undecided: {squeeze(one.content)}" for how, one in sides]


def stale_lines(stale: Iterable[Standing], now: datetime) -> list[str]:
    """What a note names and its project has no more as named, a line each; a change alone is no reason to doubt it."""
    return [stale_line(one, now) for one in stale if one.state != "changed"]


def stale_line(one: Standing, now: datetime) -> str:
    """What became of one reference, and when."""
    age = time_ago(iso(datetime.fromtimestamp(one.at, UTC)), now) if one.at else ""
    by = ", ".join(filter(None, (age, one.commit[:7])))
    return f"{one} ({by})" if by else str(one)


def about(memory: Memory, nugget: str, note: Note | None, project: str, whose: str, now: datetime) -> str:
    """Where something is from, how old it is, and who wrote it. project: another one that it is from, "" for none."""
    said = [f"from project {project}" if project else nugget]
    if note is not None:
        said += [time_ago(note.updated_at or note.created_at, now), memory.history.author_of(note.id)]
    return ", ".join(filter(None, [*said, "the team's" if whose == "team" else ""]))


def certainty(value: float) -> str:
    """How sure something is, in [0, 1], as it is shown: "certainty .93"."""
    return f"certainty {f'{value:.2f}'.removeprefix('0')}"


def how_sure(found: Recall) -> str:
    """The certainty of an answer, and why the vectors were of no use where they were asked."""
    why = f"; {_UNDECODED[found.undecoded]}" if found.undecoded else ""
    return f"{certainty(found.certainty)}{why}"


def whose_words(whose: Whose) -> str:
    """Whose a note is, for people; "" where no team's notes are in reach."""
    return {"": "", "yours": "yours", "team": "team", "both": "yours and the team's"}[whose]


COPY_PREFIX: Final = "nuggets-demo-"
"""How the name of a folder begins that holds a copy of the demo."""
SIGN: Final = "⚿"
STALE_SIGN: Final = "≠"
_ready = False


def kinds_in(item: Note | Fact) -> tuple[str, ...]:
    """The kinds of credentials that a note or fact seems to hold; none before `load` was called."""
    if not _ready:
        return ()
    from core.model.secrets import secrets_of, secrets_of_fact

    held = secrets_of(item) if isinstance(item, Note) else secrets_of_fact(item)
    return tuple(dict.fromkeys(one.kind for one in held))


def load() -> None:
    """Loads the detector, which takes longer than a frame may; for a thread, behind the first frame."""
    global _ready
    import core.model.secrets  # noqa: F401

    _ready = True


_LONGEST: Final = 40


def _file_deeds(change: FileChange) -> Iterator[Deed]:
    """What was done to settings or saved searches, one by one; nothing for other files and for what cannot be read."""
    import tomllib

    from core.model.saved_search import SEARCHES_FILE, TABLE
    from core.settings import SETTINGS_FILE

    if change.path not in (SETTINGS_FILE, SEARCHES_FILE):
        return
    try:
        before, after = (
            tomllib.loads((data or b"").decode("utf-8")) for data in (change.before, change.after)
        )
    except (ValueError, RecursionError):
        return
    if change.path == SEARCHES_FILE:
        old, new = (side.get(TABLE, {}) for side in (before, after))
        if not isinstance(old, dict) or not isinstance(new, dict):
            return
    else:
        old, new = dict(_settings_in(before)), dict(_settings_in(after))
    for name in dict.fromkeys([*new, *old]):
        if old.get(name) == new.get(name):
            continue
        if change.path == SEARCHES_FILE:
            verb = "saved" if name not in old else "deleted" if name not in new else "changed"
            yield Deed(verb, f'the search "{name}"', noun="search")
        else:
            said = str(new[name])[:_SETTING] if name in new else "its default"
            yield Deed("set", f"{name} to {said}", noun="setting")


def _settings_in(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _settings_in(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def sync_said(state: SyncState) -> tuple[str, str]:
    """The state in the header and its style. What came in stands there until the next sync or visit."""
    for holds, said, style in (
        (state.offline, "offline", "$text-warning"),
        (state.problem, "sync stopped", "$text-error"),
        (state.conflicts, plural(state.conflicts, "conflict waits", "conflicts wait"), "$text-warning"),
        (state.to_send, f"{state.to_send:,} to send", "$text-accent"),
        (state.came_in, f"{state.came_in:,} came in", "$text-muted"),
    ):
        if holds:
            return said, style
    return "in step", "$text-muted"


def result_said(result: SyncResult) -> str:
    state = result.state
    parts = []
    if result.came_in:
        parts.append(f"{plural(result.came_in, 'note')} came in")
    if result.sent:
        parts.append(f"{plural(result.sent, 'note')} sent")
    if not state.remote and result.committed:
        parts.append(f"{plural(result.committed, 'note')} committed on this machine")
    kept = len(result.kept_here) + len(result.brought_back)
    said = f"Synced: {', '.join(parts)}." if parts else "Synced: nothing to send, and nothing came in."
    if state.offline:
        came_in = f" {plural(result.came_in, 'note')} came in before." if result.came_in else ""
        said = "Offline: the remote could not be reached. Your changes are committed, and the next sync sends them."
        said += came_in
    if kept:
        said += f" {plural(kept, 'note')}, deleted on one side and changed on the other, kept."
    if result.left_out:
        said += f" Left out: {plural(len(result.left_out), 'file')} that no memory has."
    return said
