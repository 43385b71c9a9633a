"""The whole memory as points on a plane: nuggets as discs, in them communities, in them notes near what they link to.

Where a note lies depends on its id, its community and its links, so that a change moves what it touches and
little else: discs keep their places while their sizes stay about the same, and the pull of links fades with every
link (it is a contraction). Coordinates have no unit; a disc of n notes has a radius of about sqrt(n).
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.graph.communities import Material, Numbers, communities
from core.graph.edits import MERGED_INTO
from core.model.note import Note, custom_tags, replace
from core.model.snapshot import Snapshot

Points = NDArray[np.float64]
Place = tuple[float, float, float]
"""x, y, radius."""
_PULL: Final = 0.7
_PULLS: Final = 8
# How far links may pull a note from the place that its id gives it, in radii of its community.
_REACH: Final = 0.7
# More than 0.5 makes the middle of a disc denser than its rim.
_DENSE_MIDDLE: Final = 0.62
# Screens are wider than high.
_WIDE: Final = 1.35
_ROOM: Final = 1.05
_AT_ONCE: Final = 1000
# A radius grows in steps of 7 %: a note more mostly leaves a disc, and so its fellows, alone.
_STEP: Final = 1.15
_GAP: Final = 1.06
# Places tried for a disc, on a spiral from the middle; more discs than this have a cell of their own each.
_SPOTS, _MOST_TRIED = 1500, 300
_GOLDEN_ANGLE: Final = pi * (3 - 5**0.5)


@dataclass(frozen=True)
class Disc:
    """Where notes that belong together lie: how many they are, the middle, the radius, and what names them.

    `name` is "" for the notes of a nugget that are in no community; `nugget` numbers the disc of the nugget.
    """

    name: str
    key: str
    nugget: int
    count: int
    x: float
    y: float
    radius: float


@dataclass(frozen=True, eq=False)
class Overview:
    """Notes as points, hidden ones among them.

    place: shape (notes, 2). community, nugget: numbers of discs, shape (notes,). links: rows (note, note), each
    pair once, no note with itself; merged-away notes are linked to their survivors.
    """

    ids: tuple[str, ...]
    place: Points
    community: Numbers
    nugget: Numbers
    hidden: NDArray[np.bool_]
    links: Numbers
    communities: tuple[Disc, ...]
    nuggets: tuple[Disc, ...]

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The number of each note, by id."""
        return {id: number for number, id in enumerate(self.ids)}

    def linked(self, note: int) -> Numbers:
        """Numbers of the notes that one is linked with, in order."""
        here = self.links[(self.links[:, 0] == note) | (self.links[:, 1] == note)]
        return np.unique(here[here != note])


def lay_out_overview(
    snapshot: Snapshot, former: Overview | None = None, pause: Callable[[], None] = lambda: None
) -> Overview:
    """Places every note of a memory. The same notes give the same places.

    former: the places before, which communities and nuggets keep as far as they can. pause: called after every
    few milliseconds of work that holds the interpreter; what it raises ends the work.
    """
    gathered = gather(snapshot, pause)
    nugget, links = gathered.material.nugget, gathered.material.links
    label = communities(gathered.material)
    pause()
    # Numbers for (nugget, community); the notes of a nugget that are in none count as one.
    labels = len(gathered.tags) + len(gathered.notes) + 1
    pairs, community = np.unique(nugget * labels + label + 1, return_inverse=True)
    home, label = np.divmod(pairs, labels)
    count = np.bincount(community, minlength=len(pairs))
    names = _names(gathered, community, label - 1)
    keys = [f"{gathered.nuggets[at]}\0{key}" for at, (_, key) in zip(home.tolist(), names, strict=True)]
    outer_before, inner_before = _before(former)
    radius = np.array([_stepped_radius(int(number)) for number in count])
    middle = np.zeros((len(pairs), 2))
    outer = np.ones(len(gathered.nuggets))
    for number, name in enumerate(gathered.nuggets):
        pause()
        inside = np.flatnonzero(home == number)
        middle[inside] = packed([keys[at] for at in inside], radius[inside], inner_before.get(name, {}))
        outer[number] = _around(middle[inside], radius[inside]) * _ROOM
    ground = packed(gathered.nuggets, outer, outer_before, _WIDE)
    middle += ground[home]
    # Column by column, as it is read wherever it is drawn.
    place = np.asfortranarray(_places(gathered, community, middle, radius, pause))
    sizes = np.bincount(nugget, minlength=len(outer))
    return Overview(
        tuple(note.id for note in gathered.notes), place, community, nugget, gathered.hidden,
        np.asfortranarray(links),
        tuple(
            Disc(name, keys[at], int(home[at]), int(count[at]), *_place(middle[at], radius[at]))
            for at, (name, _) in enumerate(names)
        ),
        tuple(
            Disc(name, name, at, int(sizes[at]), *_place(ground[at], outer[at]))
            for at, name in enumerate(gathered.nuggets)
        ),
    )  # fmt: skip


def _place(middle: Points, radius: float) -> Place:
    return float(middle[0]), float(middle[1]), float(radius)


def _before(former: Overview | None) -> tuple[dict[str, Place], dict[str, dict[str, Place]]]:
    """Where discs were before: nuggets by name, and by nugget its communities, as seen from its middle."""
    inner: dict[str, dict[str, Place]] = {}
    if former is None:
        return {}, inner
    for disc in former.communities:
        home = former.nuggets[disc.nugget]
        inner.setdefault(home.key, {})[disc.key] = (disc.x - home.x, disc.y - home.y, disc.radius)
    return {disc.key: (disc.x, disc.y, disc.radius) for disc in former.nuggets}, inner


def _names(gathered: Gathered, community: Numbers, label: Numbers) -> list[tuple[str, str]]:
    """What names each community, a tag or the title of its most linked note, and a key that stays the same."""
    tags, links = len(gathered.tags), gathered.material.links
    degree = np.bincount(links.ravel(), minlength=len(gathered.notes))
    found: list[tuple[str, str]] = []
    for number, each in enumerate(label.tolist()):
        if each < 0:
            found.append(("", ""))
        elif each < tags:
            found.append((gathered.tags[each], f"tag {gathered.tags[each]}"))
        else:
            members = np.flatnonzero(community == number)
            hub = int(members[np.argmax(degree[members])])
            found.append((gathered.notes[hub].title, f"note {gathered.notes[each - tags].id}"))
    return found


def _stepped_radius(count: int) -> float:
    return float(_STEP ** (round(log(max(count, 1)) / log(_STEP)) / 2))


def _around(middles: Points, radii: Points) -> float:
    """The radius around 0 within which all discs lie."""
    return float((np.hypot(middles[:, 0], middles[:, 1]) + radii).max(initial=0))


def packed(keys: Sequence[str], radii: Points, former: Mapping[str, Place], wide: float = 1.0) -> Points:
    """Middles of discs that do not overlap, shape (discs, 2), around 0.

    radii: shape (discs,). former: places that discs had, which they keep where nothing else lies there; all others
    lie as near to 0 as there is room, the large ones first. wide: how much wider than high all should be.
    """
    count = len(keys)
    if count > _MOST_TRIED:
        spread: Points = np.arange(count, dtype=np.float64) + 0.5
        return _spiral(spread, np.sqrt(spread) * radii.max() * 2 * _GAP, wide)
    number: Points = np.arange(_SPOTS, dtype=np.float64)
    extent = 2 * float(np.sqrt((radii**2).sum())) + 2 * float(radii.max(initial=0))
    spots = _spiral(number, np.sqrt(number / _SPOTS) * extent, wide)
    middles, there = np.zeros((count, 2)), np.zeros(count, dtype=bool)
    for at in sorted(range(count), key=lambda at: (keys[at] not in former, -radii[at], keys[at])):
        before = former.get(keys[at])
        tried = spots if before is None else np.concatenate((np.array([before[:2]]), spots))
        away = tried[:, None] - middles[there][None]
        room = np.hypot(away[..., 0], away[..., 1]) - (radii[there] + radii[at]) * _GAP
        free = np.flatnonzero(room.min(axis=1, initial=np.inf) >= -1e-9)
        beyond = (_around(middles[there], radii[there]) + radii[at] * _GAP * 1.01, 0.0)
        middles[at] = tried[free[0]] if len(free) else beyond
        there[at] = True
    return middles


def _spiral(number: Points, out: Points, wide: float) -> Points:
    angle = number * _GOLDEN_ANGLE
    return np.stack((np.cos(angle) * out * wide, np.sin(angle) * out), axis=1)


def _places(
    gathered: Gathered, community: Numbers, middle: Points, radius: Points, pause: Callable[[], None]
) -> Points:
    """Each note by chance in its community's disc, then drawn towards what it is linked with."""
    angle = gathered.chance[:, 0] * 2 * np.pi
    out = gathered.chance[:, 1] ** _DENSE_MIDDLE * radius[community]
    home = middle[community] + np.stack((np.cos(angle) * out, np.sin(angle) * out), axis=1)
    links = gathered.material.links
    if not len(links):
        return home
    start, end = np.concatenate((links, links[:, ::-1])).T
    near = np.maximum(np.bincount(end, minlength=len(home)), 1)[:, None]
    linked = (np.bincount(end, minlength=len(home)) > 0)[:, None]
    reach = (_REACH * radius[community])[:, None]
    place = home
    for _ in range(_PULLS):
        pause()
        seen = np.stack([np.bincount(end, place[start, axis], len(home)) for axis in (0, 1)], axis=1)
        pull = np.where(linked, seen / near - home, 0) * _PULL
        length = np.hypot(pull[:, 0], pull[:, 1])[:, None]
        # Bent off smoothly, so that notes drawn from afar do not all lie on one circle.
        place = home + pull * (reach / (reach + length))
    inward = place - middle[community]
    far = np.hypot(inward[:, 0], inward[:, 1])
    held = np.minimum(1, radius[community] / np.maximum(far, 1e-9))
    return middle[community] + inward * held[:, None]


@dataclass(frozen=True, eq=False)
class Gathered:
    """The notes in numbered order, with the names of nuggets and tags that `material` numbers.

    chance: two numbers in [0, 1) for each note that depend on its id alone, shape (notes, 2).
    """

    notes: Sequence[Note]
    nuggets: Sequence[str]
    tags: Sequence[str]
    material: Material
    chance: NDArray[np.float64]
    hidden: NDArray[np.bool_]


def gather(snapshot: Snapshot, pause: Callable[[], None]) -> Gathered:
    """Reads the notes of a memory; `pause` is called after every few milliseconds."""
    notes = tuple(snapshot.by_id.values())
    nuggets = tuple(sorted({note.nugget_name for note in notes}))
    nugget_number = {name: number for number, name in enumerate(nuggets)}
    number_of = {note.id: number for number, note in enumerate(notes)}
    pause()
    # Per nugget, what each tag is numbered as; None for tags that every note of its kind has.
    tag_numbers: list[dict[str, int | None]] = [{} for _ in nuggets]
    tags: list[str] = []
    tag_nugget: list[int] = []
    tagged, pairs, codes = array("q"), array("q"), array("Q")
    for number, note in enumerate(notes):
        if number % _AT_ONCE == 0:
            pause()
        home = nugget_number[note.nugget_name]
        known = tag_numbers[home]
        codes.append(zlib.crc32(note.id.encode("utf-8", "replace")))
        for tag in note.tags:
            if tag not in known:
                known[tag] = len(tags) if custom_tags(replace(note, tags=(tag,))) else None
                if known[tag] is not None:
                    tags.append(tag)
                    tag_nugget.append(home)
            meant = known[tag]
            if meant is not None:
                tagged.extend((number, meant))
        for link in note.links:
            other = number_of.get(link.to)
            if other is not None and other != number:
                pairs.extend((number, other) if number < other else (other, number))
        if note.extra:
            survivor = number_of.get(str(note.extra.get(MERGED_INTO, "")))
            if survivor is not None and survivor != number:
                pairs.extend((min(number, survivor), max(number, survivor)))
    pause()
    nugget = np.fromiter((nugget_number[note.nugget_name] for note in notes), np.int64, len(notes))
    code = np.frombuffer(codes, dtype=np.uint64)
    material = Material(
        nugget,
        _rows(tagged, len(tags) + 1),
        np.array(tag_nugget, dtype=np.int64),
        _rows(pairs, len(notes) + 1),
        (code & np.uint64(1)).astype(np.int64),
    )
    hidden = np.fromiter((note.hidden for note in notes), np.bool_, len(notes))
    return Gathered(
        notes, nuggets, tags, material, np.stack((_chance(code, 1), _chance(code, 2)), axis=1), hidden
    )


def _rows(pairs: array[int], base: int) -> Numbers:
    """The pairs as rows, each once, in order."""
    both = np.frombuffer(pairs, dtype=np.int64).reshape(-1, 2)
    order = np.sort(both[:, 0] * base + both[:, 1])
    once = order[np.concatenate((order[:1] == order[:1], order[1:] != order[:-1]))]
    return np.stack(np.divmod(once, base), axis=1)


def _chance(code: NDArray[np.uint64], turn: int) -> NDArray[np.float64]:
    """Numbers in [0, 1), as splitmix64 (Steele, Lea and Flood, 2014) scatters them."""
    mixed = code + np.uint64(turn * 0x9E3779B97F4A7C15 % (1 << 64))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) / float(1 << 53)
