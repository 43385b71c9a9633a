"""Made-up notes for a demo memory of any size: the same ones at each call, in time linear in their number."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, TypeVar

from core.model.names import iso, note_id
from core.model.note import Link, Note, replace
from nuggets_tui.demo import DEMO_NOW

NUGGETS: Final = ("project", "locations", "prefs", "learnings", "ops", "people")
_START: Final = datetime(2026, 8, 20, 7, 0, tzinfo=UTC)
_FACT_EVERY: Final = 20
_FACTS_PER_NUGGET: Final = 250
_MORE_NUGGETS: Final = ("web", "platform", "data", "partners", "legal")
_NOTES_PER_NEW_NUGGET: Final = 400
_LINKS_MOST: Final = 8
_SCOPES: Final = {
    "prefs": "user",
    "people": "user",
    "locations": "shared",
    "ops": "shared",
    "platform": "shared",
}
_SUBJECTS: Final = {"user": "user:primary"}
_SOURCES: Final = (
    ("explicit_user", 0.9),
    ("explicit_user", 0.9),
    ("tool_observation", 0.98),
    ("agent_reflection", 0.75),
    ("inferred", 0.6),
)
_SLOT: Final = re.compile(r"\{(\w+)\}")

_Item = TypeVar("_Item")
Slots = dict[str, Callable[[], str]]


@dataclass(frozen=True)
class Topic:
    """What a made-up note speaks of: its nugget, its words, and where its code would be."""

    nugget: str
    folder: str
    components: list[str]
    nouns: list[str]
    actions: list[str]
    past: list[str]
    tags: list[str]


def generate(count: int, taken: set[str], end: datetime = DEMO_NOW) -> list[Note]:
    """`count` notes of about 60 words with tags, a mean of two links, and few facts among them; oldest first.

    taken: ids that are in use already. end: when the last of them may have been made.
    """
    writer = _Writer(count, end)
    free = _free_ids(taken)
    times = sorted(writer.random.random() for _ in range(count))
    drafts = [writer.write(place, time, free) for place, time in enumerate(times)]
    links = _linked(writer, drafts)
    return [replace(note, links=tuple(links[place])) for place, (note, _) in enumerate(drafts)]


def _free_ids(taken: set[str]) -> Callable[[str, str], str]:
    """Ids that look arbitrary and never repeat: multiples of an odd number run through all 32-bit numbers."""
    state = 0

    def next_id(kind: str, nugget: str) -> str:
        nonlocal state
        while True:
            state = (state + 0x9E3779B1) & 0xFFFFFFFF
            made = note_id(kind, nugget, f"{state:08x}")
            if made not in taken:
                return made

    return next_id


class _Writer:
    """Composes notes from the vocabulary with one seeded source of numbers."""

    def __init__(self, count: int, end: datetime) -> None:
        self.end = end
        table = tomllib.loads((Path(__file__).parent / "data" / "vocabulary.toml").read_text("utf-8"))
        self.random = Random(20261118)
        self.words: dict[str, list[str]] = {
            name: rows for name, rows in table.items() if name not in ("topics", "facts")
        }
        self.topics = [Topic(**row) for row in table["topics"].values()]
        self.names = (*NUGGETS, *_MORE_NUGGETS[: count // _NOTES_PER_NEW_NUGGET])
        self.sentences = [_parts(text) for text in table["sentences"]]
        self.values = {name: [_parts(text) for text in rows] for name, rows in table["facts"].items()}
        self.titles = [_parts(text) for text in table["titles"]]
        self.keys: dict[str, Iterator[tuple[str, str]]] = {}
        self.facts: dict[str, int] = {}

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self.random.random() * len(items))]

    def some(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """Different items, as many as asked for."""
        chosen: dict[int, _Item] = {}
        while len(chosen) < count:
            place = self.below(len(items))
            chosen.setdefault(place, items[place])
        return list(chosen.values())

    def below(self, limit: int) -> int:
        return int(self.random.random() * limit)

    def write(self, place: int, time: float, free: Callable[[str, str], str]) -> tuple[Note, int]:
        """One note without links, and the number of its topic."""
        number = self.below(len(self.topics))
        topic = self.topics[number]
        nugget = topic.nugget if topic.nugget in self.names else self.names[number % len(self.names)]
        created = self.end - (DEMO_NOW - _START) * (1 - time)
        key = self._next_key(nugget) if place % _FACT_EVERY == _FACT_EVERY - 1 else None
        slots = self._slots(topic)
        if key is None:
            title, content = self._title(slots), self._content(slots)
        else:
            title, content = key[0], _filled(self.pick(self.values[key[1]]), slots)
        return self._note(free, nugget, topic, created, title, content, key is not None), number

    def _note(
        self,
        free: Callable[[str, str], str],
        nugget: str,
        topic: Topic,
        created: datetime,
        title: str,
        content: str,
        is_fact: bool,
    ) -> Note:
        rare = self.random.random()
        scope = "session" if rare > 0.985 and not is_fact else _SCOPES.get(nugget, "project")
        hidden = rare < 0.03 and not is_fact
        type_ = "fact" if is_fact else "project" if scope == "project" else "note"
        source, confidence = self.pick(_SOURCES)
        hits = self._hits()
        used = created + (self.end - created) * self.random.random() if hits else created
        edited = created + (self.end - created) * self.random.random() if rare > 0.7 else created
        tags = {topic.tags[0], self.pick(topic.tags), self.pick(topic.tags)} if rare > 0.1 else set()
        return Note(
            id=free("fact" if is_fact else "note", nugget),
            nugget_name=nugget,
            title=title,
            content=content,
            tags=(nugget, *sorted(tags), f"scope:{scope}", f"type:{type_}"),
            hidden=hidden,
            kind="fact" if is_fact else "note",
            source_key=title if is_fact else None,
            hits=hits,
            last_hit_session=f"claude-{used:%Y-%m-%d}-{self.below(4) + 1}" if hits else "",
            created_at=iso(created),
            updated_at=iso(edited),
            last_accessed_at=iso(used),
            archived_at=iso(min(edited + timedelta(days=2), self.end)) if hidden else None,
            subject="session:current" if scope == "session" else _SUBJECTS.get(scope, "shared:project"),
            scope=scope,
            type=type_,
            source=source,
            confidence=confidence,
            stability="temporary" if scope == "session" else "durable",
        )

    def _hits(self) -> int:
        """Recalls: most notes have none, few have many."""
        chance = self.random.random()
        hits = 0
        while chance > 0.8 and hits < 14:
            hits += 1
            chance = (chance - 0.8) / 0.2 * 0.55 + 0.45
        return hits

    def _slots(self, topic: Topic) -> Slots:
        """What may stand in the gaps of a sentence; a note speaks of a few things, more than once."""
        nouns = self.some(topic.nouns, 3)
        actions = self.some(topic.actions, 2)
        components = self.some(topic.components, 2)
        other = self.pick(self.topics)
        unit = self.pick(self.words["units"])
        call = f"{actions[0]} {nouns[0]}"
        slots: Slots = {name: partial(self.pick, self.words[rows]) for name, rows in _WORD_LISTS}
        slots["noun"] = lambda: self.pick(nouns)
        slots["action"] = lambda: self.pick(actions)
        slots["past"] = lambda: self.pick(topic.past)
        slots["component"] = lambda: components[0]
        slots["second"] = lambda: components[1]
        slots["other"] = lambda: self.pick(other.nouns)
        slots["number"] = lambda: str(self.below(10 ** (1 + self.below(4))) + 2)
        slots["few"] = lambda: str(self.below(28) + 2)
        slots["digits"] = lambda: f"{self.below(1000):03d}"
        slots["ticket"] = lambda: f"FY-{self.below(9000) + 1000}"
        slots["call"] = lambda: _camel(call)
        slots["unit"] = lambda: unit
        slots["an_adjective"] = lambda: _with_article(self.pick(self.words["adjectives"]))
        slots["path"] = lambda: f"{topic.folder}/{_kebab(nouns[0])}.ts:{self.below(400) + 1}"
        slots["Noun"] = lambda: _first_upper(nouns[0])
        slots["Adjective"] = lambda: _first_upper(self.pick(self.words["adjectives"]))
        return slots

    def _title(self, slots: Slots) -> str:
        return _first_upper(_filled(self.pick(self.titles), slots))

    def _content(self, slots: Slots) -> str:
        """Four to six sentences, some of them on lines of their own."""
        text, after_block = "", False
        for parts in self.some(self.sentences, 4 + self.below(3)):
            sentence = _first_upper(_filled(parts, slots))
            block = sentence.startswith(("- ", "```"))
            gap = "\n\n" if block or after_block or self.below(6) == 0 else " "
            text += (gap if text else "") + sentence
            after_block = block
        return text

    def _next_key(self, nugget: str) -> tuple[str, str] | None:
        """The next unused key of a nugget's facts and what it asks for; None when it has enough facts."""
        if self.facts.get(nugget, 0) >= _FACTS_PER_NUGGET:
            return None
        self.facts[nugget] = self.facts.get(nugget, 0) + 1
        if nugget not in self.keys:
            things = [t for t in self.topics if t.nugget == nugget] + [
                t for t in self.topics if t.nugget != nugget
            ]
            self.keys[nugget] = (
                (f"{attribute} of {component}", attribute)
                for topic in things
                for component in topic.components
                for attribute in self.values
            )
        return next(self.keys[nugget])


_WORD_LISTS: Final = (
    ("adjective", "adjectives"),
    ("person", "people"),
    ("cause", "causes"),
    ("effect", "effects"),
    ("remedy", "remedies"),
    ("moment", "moments"),
    ("environment", "environments"),
)


def _linked(writer: _Writer, drafts: list[tuple[Note, int]]) -> list[list[Link]]:
    """For each note its links, on both sides: about one new link a note, to an older note."""
    links: list[list[Link]] = [[] for _ in drafts]
    by_topic: dict[int, list[int]] = {}
    for place, (note, topic) in enumerate(drafts):
        older = by_topic.setdefault(topic, [])
        for _ in range(_link_count(writer)):
            target = _older_place(writer, older, place)
            if target is None or len(links[target]) >= _LINKS_MOST:
                continue
            other = drafts[target][0]
            if any(link.to == other.id for link in links[place]):
                continue
            reason = writer.pick(writer.words["reasons"])
            links[place].append(Link(to=other.id, reason=reason, created_at=note.created_at))
            links[target].append(Link(to=note.id, reason=reason, created_at=note.created_at))
        older.append(place)
    return links


def _link_count(writer: _Writer) -> int:
    chance = writer.random.random()
    return 0 if chance < 0.32 else 1 if chance < 0.75 else 2 if chance < 0.95 else 3


def _older_place(writer: _Writer, older: list[int], place: int) -> int | None:
    """An older note: nearly always of the same topic, rather a recent one or a hub (every 25th) than any."""
    chance = writer.random.random()
    if not older or chance < 0.08:
        return writer.below(place) if place else None
    if chance < 0.3:
        return older[writer.below(len(older)) // 25 * 25]
    recent = older[-40:] if chance < 0.8 else older
    return writer.pick(recent)


def _parts(text: str) -> tuple[list[str], list[str]]:
    """A sentence cut at its gaps: the fixed pieces, one more than gaps, and the names of the gaps."""
    pieces = _SLOT.split(text)
    return pieces[::2], pieces[1::2]


def _filled(parts: tuple[list[str], list[str]], slots: Slots) -> str:
    fixed, gaps = parts
    pieces = [fixed[0]]
    for gap, after in zip(gaps, fixed[1:], strict=True):
        pieces.append(slots[gap]())
        pieces.append(after)
    return "".join(pieces)


def _with_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _camel(text: str) -> str:
    parts: list[str] = re.findall(r"[A-Za-z0-9]+", text)
    return parts[0].lower() + "".join(word.capitalize() for word in parts[1:])


def _kebab(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))
