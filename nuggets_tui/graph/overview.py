"""The whole memory as points on a plane: nuggets as discs, in them communities, in them notes near what they link to.

Where a note lies depends on its id, its community and its links, so that a change moves what it touches and
little else: discs keep their places while their sizes stay about the same, and the pull of links fades with every
link (it is a contraction). Coordinates have no unit; a disc of n notes has a radius of about sqrt(n).
"""

from __future__ import annotations

import dataclasses
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from core.graph.communities import Material, communities
from core.graph.edits import MERGED_INTO
from core.model.note import Note, custom_tags, replace
from core.model.snapshot import Snapshot
from nuggets_tui.safe_text import cut

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

Numbers = NDArray[np.int64]


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


# Dots of a cell: a braille character.
ACROSS, DOWN = 2, 4
BLANK, _BRAILLE = 0x20, 0x2800
# The bits of the dots of a braille character, by row and column.
_BITS: Final = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)
# Styles of a cell: nothing, a colour, a hidden note, and lines.
COLOURS: Final = 6
PLAIN, GHOST, FAINT_LINE, CHOSEN_LINE = -1, COLOURS, COLOURS + 1, COLOURS + 2
# A picture may be stretched by this much to fill its pane.
_STRETCH: Final = 1.7
_MARGIN: Final = 3
_LONGEST_LINE: Final = 512
# Links are drawn, the shortest first, as long as they cover no more than this part of the picture.
_LINE_INK: Final = 0.05
_MOST_LINES: Final = 600
_LINES_BELOW: Final = 4000
# Where there are fewer notes than this part of the cells, a point is a sign of its own instead of a dot.
_SPARSE: Final = 0.12
_NOTE, _FACT, _HIDDEN, _SEVERAL = map(ord, "•◆○●")
# So many of the largest groups are named; notes bear their titles where fewer are in the picture.
_MOST_NAMES: Final = 8
_TITLES_BELOW: Final = 160
_NAME_CELLS: Final = 28
Cells = tuple[NDArray[np.uint32], NDArray[np.int16]]
"""Code point and style of each cell, shape (height, width)."""


@dataclass(frozen=True)
class Camera:
    """Which part of the plane is seen: `x`, `y` in the middle of `width` x `height` cells; `across`, `down`: dots for
    one unit.
    """

    width: int
    height: int
    x: float = 0.0
    y: float = 0.0
    across: float = 1.0
    down: float = 1.0

    @property
    def dots(self) -> tuple[int, int]:
        """Dots of the picture, across and down."""
        return self.width * ACROSS, self.height * DOWN

    def dot(self, place: Points) -> Numbers:
        """The dots at places, shape (notes, 2); those outside the picture have numbers outside it."""
        wide, high = self.dots
        found = np.empty(place.shape, dtype=np.int64, order="F")
        # Axis by axis: three times as fast as with arrays of two columns.
        for axis, (middle, scale, size) in enumerate(
            ((self.x, self.across, wide), (self.y, self.down, high))
        ):
            found[:, axis] = np.floor(place[:, axis] * scale + (size / 2 - middle * scale))
        return found

    def cell(self, x: float, y: float) -> tuple[int, int]:
        across, down = self.dot(np.array([[x, y]]))[0].tolist()
        return across // ACROSS, down // DOWN

    def closer(self, times: float, x: float, y: float) -> Camera:
        """Another place, so many times as large."""
        return dataclasses.replace(self, across=self.across * times, down=self.down * times, x=x, y=y)


def fitting(discs: Iterable[Disc], width: int, height: int) -> Camera:
    """The camera that sees all of some discs."""
    found = list(discs)
    if not found or width <= 0 or height <= 0:
        return Camera(max(width, 0), max(height, 0))
    left, right = min(disc.x - disc.radius for disc in found), max(disc.x + disc.radius for disc in found)
    top, bottom = min(disc.y - disc.radius for disc in found), max(disc.y + disc.radius for disc in found)
    across = max(width * ACROSS - 2 * _MARGIN, 1) / max(right - left, 1e-6)
    down = max(height * DOWN - 2 * _MARGIN, 1) / max(bottom - top, 1e-6)
    across, down = min(across, down * _STRETCH), min(down, across * _STRETCH)
    return Camera(width, height, (left + right) / 2, (top + bottom) / 2, across, down)


def _bits(lit: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The braille bits of each cell of a field of dots."""
    bits = np.zeros((lit.shape[0] // DOWN, lit.shape[1] // ACROSS), dtype=np.uint8)
    for (down, across), bit in np.ndenumerate(_BITS):
        bits |= lit[down::DOWN, across::ACROSS] * bit
    return bits


def lines(camera: Camera, starts: Numbers, ends: Numbers) -> NDArray[np.uint8]:
    """The braille bits of straight lines between dots, shape (height, width); what lies outside is cut off."""
    wide, high = camera.dots
    lit = np.zeros((high, wide), dtype=bool)
    start, way = starts.astype(np.float64), (ends - starts).astype(np.float64)
    # From which to which part of itself each line is inside (Liang and Barsky, 1984).
    low, up = np.zeros(len(start)), np.ones(len(start))
    for axis, size in enumerate((wide, high)):
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = -start[:, axis] / way[:, axis], (size - 1 - start[:, axis]) / way[:, axis]
        still = way[:, axis] == 0
        outside = still & ((start[:, axis] < 0) | (start[:, axis] >= size))
        low = np.where(still, low, np.maximum(low, np.minimum(one, other)))
        up = np.where(outside, -1.0, np.where(still, up, np.minimum(up, np.maximum(one, other))))
    there = low < up
    if there.any():
        start, way, low, up = start[there], way[there], low[there][:, None], up[there][:, None]
        length = (np.abs(way).max(axis=1, keepdims=True) * (up - low)).max()
        # More steps than dots, so that rounding leaves none out.
        steps = int(min(max(length, 1), _LONGEST_LINE) * 1.5) + 2
        along = low + (up - low) * np.linspace(0, 1, steps)[None]
        x = np.rint(start[:, :1] + way[:, :1] * along).astype(np.int64)
        y = np.rint(start[:, 1:] + way[:, 1:] * along).astype(np.int64)
        lit[np.clip(y, 0, high - 1), np.clip(x, 0, wide - 1)] = True
    return _bits(lit)


@dataclass(frozen=True)
class Label:
    """A text at its first cell. colour: a style, PLAIN for the title of a note; group: whether it names one."""

    text: str
    column: int
    row: int
    colour: int
    group: bool


@dataclass(frozen=True, eq=False)
class Scene:
    """An overview seen through a camera.

    nugget: the number of the only nugget shown, None for all. colours: for each community a number below COLOURS.
    """

    overview: Overview
    notes: Mapping[str, Note]
    camera: Camera
    colours: Sequence[int]
    nugget: int | None = None
    show_hidden: bool = False

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Which notes are shown, in the picture or beside it."""
        wanted = ~self.overview.hidden | self.show_hidden
        return wanted if self.nugget is None else wanted & (self.overview.nugget == self.nugget)

    @cached_property
    def dots(self) -> Numbers:
        """The dot of each note, shape (notes, 2)."""
        return self.camera.dot(self.overview.place)

    @cached_property
    def in_view(self) -> Numbers:
        """Numbers of the notes shown that lie in the picture."""
        (wide, high), (x, y) = self.camera.dots, self.dots.T
        return np.flatnonzero(self.shown & (x >= 0) & (x < wide) & (y >= 0) & (y < high))

    @cached_property
    def crowd(self) -> Numbers:
        """How many notes each cell holds, shape (height, width)."""
        crowd: Numbers = self._votes.sum(axis=2)
        return crowd

    @cached_property
    def _votes(self) -> Numbers:
        """How many notes of each style a cell holds, shape (height, width, styles)."""
        notes, width, height = self.in_view, self.camera.width, self.camera.height
        style = np.asarray(self.colours, dtype=np.int64)[self.overview.community[notes]]
        style[self.overview.hidden[notes]] = GHOST
        x, y = self.dots[notes].T
        cell = ((y // DOWN) * width + x // ACROSS) * (COLOURS + 1) + style
        return np.bincount(cell, minlength=width * height * (COLOURS + 1)).reshape(height, width, -1)

    @cached_property
    def _links(self) -> Numbers:
        """The links between notes shown of which one end is in the picture at least; none among too many notes."""
        links = self.overview.links
        if len(self.in_view) > _LINES_BELOW:
            return links[:0]
        inside = np.zeros(len(self.overview.ids), dtype=bool)
        inside[self.in_view] = True
        one, other = links.T
        found: Numbers = links[(inside[one] | inside[other]) & self.shown[one] & self.shown[other]]
        return found

    @cached_property
    def cells(self) -> Cells:
        """Code point and style of each cell, without names and mark; of several colours the most frequent counts."""
        notes, crowd = self.in_view, self.crowd
        wide, high = self.camera.dots
        lit = np.zeros((high, wide), dtype=bool)
        lit[self.dots[notes, 1], self.dots[notes, 0]] = True
        bits = _bits(lit)
        signs = np.where(bits > 0, bits.astype(np.uint32) + _BRAILLE, BLANK).astype(np.uint32)
        styles = np.where(crowd > 0, self._votes.argmax(axis=2), PLAIN).astype(np.int16)
        if len(notes) <= _SPARSE * crowd.size:
            columns, rows = (self.dots[notes] // (ACROSS, DOWN)).T
            kinds = [self._sign(number) for number in notes.tolist()]
            signs[rows, columns] = np.where(crowd[rows, columns] > 1, _SEVERAL, kinds)
        links = self._links
        length = np.abs(self.dots[links[:, 0]] - self.dots[links[:, 1]]).max(axis=1, initial=0)
        order = np.argsort(length, kind="stable")[:_MOST_LINES]
        drawn = links[order[np.cumsum(length[order]) <= _LINE_INK * wide * high]]
        if len(drawn):
            faint = lines(self.camera, self.dots[drawn[:, 0]], self.dots[drawn[:, 1]])
            free = (styles == PLAIN) & (faint > 0)
            signs = np.where(free, faint.astype(np.uint32) + _BRAILLE, signs).astype(np.uint32)
            styles = np.where(free, FAINT_LINE, styles).astype(np.int16)
        return signs, styles

    def _sign(self, number: int) -> int:
        if self.overview.hidden[number]:
            return _HIDDEN
        return _FACT if self.notes[self.overview.ids[number]].is_fact else _NOTE

    def cells_with(self, note: int) -> Cells:
        """The same with the links of one note."""
        signs, styles = self.cells
        others = self.overview.linked(note)
        others = others[self.shown[others]]
        if not len(others):
            return signs, styles
        bits = lines(self.camera, np.repeat(self.dots[note][None], len(others), axis=0), self.dots[others])
        there = bits > 0
        dotted = (signs >= _BRAILLE) & (signs < _BRAILLE + 0x100)
        former = np.where(dotted & (styles != FAINT_LINE), signs - _BRAILLE, 0).astype(np.uint32)
        # A point with a sign of its own keeps it, in the colour of the line that leads there.
        drawn = there & (dotted | (signs == BLANK))
        signs = np.where(drawn, (former | bits) + _BRAILLE, signs)
        return signs.astype(np.uint32), np.where(there, CHOSEN_LINE, styles).astype(np.int16)

    def cell(self, note: int) -> tuple[int, int]:
        x, y = self.dots[note].tolist()
        return x // ACROSS, y // DOWN

    # Names

    @cached_property
    def labels(self) -> Mapping[int, Sequence[Label]]:
        """The names of the largest groups, and titles of notes where these are few, as they have room, by row."""
        used = np.zeros((self.camera.height, self.camera.width), dtype=bool)
        points = self.cells[1] >= 0
        rows: dict[int, list[Label]] = {}
        for label in (*self._names(), *self._titles()):
            end = label.column + cell_len(label.text)
            around = slice(max(label.column - 1, 0), end + 1)
            taken = used[label.row, around].any()
            if taken or (not label.group and points[label.row, label.column : end].any()):
                continue
            used[label.row, around] = True
            rows.setdefault(label.row, []).append(label)
        return rows

    def _names(self) -> Iterator[Label]:
        """Of nuggets where there are several, else of communities, across their middles."""
        overview = self.overview
        whole = self.nugget is None and len(overview.nuggets) > 1
        discs = overview.nuggets if whole else overview.communities
        belongs = overview.nugget if whole else overview.community
        counts = np.bincount(belongs[self.shown], minlength=len(discs))
        for number in sorted(range(len(discs)), key=lambda at: (-counts[at], discs[at].key))[:_MOST_NAMES]:
            disc = discs[number]
            text = f"{cut(disc.name, _NAME_CELLS)} {counts[number]:,}"
            column, row = self.camera.cell(disc.x, disc.y)
            width, cells = self.camera.width, cell_len(text)
            if (
                counts[number]
                and disc.name
                and cells <= width
                and 0 <= column < width
                and 0 <= row < self.camera.height
            ):
                here = np.flatnonzero(self.shown & (belongs == number))
                colour = self.colours[overview.community[here[0]]]
                yield Label(text, min(max(column - cells // 2, 0), width - cells), row, colour, True)

    def _titles(self) -> Iterator[Label]:
        notes = self.in_view
        if len(notes) > _TITLES_BELOW:
            return
        links = np.bincount(self._links.ravel(), minlength=len(self.overview.ids))
        ordered = sorted(notes.tolist(), key=lambda number: (-links[number], self.overview.ids[number]))
        for number in ordered[: self.camera.height]:
            text = cut(self.notes[self.overview.ids[number]].title.strip(), _NAME_CELLS)
            column, row = self.cell(number)
            cells = cell_len(text)
            for start in (column + 2, column - cells - 1):
                if cells and 0 <= start <= self.camera.width - cells:
                    yield Label(text, start, row, PLAIN, False)
                    break


# From note to note


def nearest(scene: Scene, column: int, row: int) -> int | None:
    """The number of the note shown that is nearest to a cell; None when none is shown."""
    shown = np.flatnonzero(scene.shown)
    if not len(shown):
        return None
    away = scene.dots[shown] - (column * ACROSS + ACROSS / 2, row * DOWN + DOWN / 2)
    return int(shown[np.argmin((away**2).sum(axis=1))])


def beyond(scene: Scene, note: int, across: int, down: int) -> int | None:
    """The number of the next note in a direction, at least one cell away; None when there is none."""
    for notes in (scene.in_view, np.flatnonzero(scene.shown)):
        x, y = scene.dots[notes, 0], scene.dots[notes, 1]
        here_x, here_y = scene.dots[note].tolist()
        along, aside = ((x - here_x) * across, y - here_y) if across else ((y - here_y) * down, x - here_x)
        aside = np.abs(aside)
        cells = (x // ACROSS - here_x // ACROSS) * across + (y // DOWN - here_y // DOWN) * down
        ahead = np.flatnonzero((cells > 0) & (aside <= 3 * along))
        if len(ahead):
            return int(notes[ahead[np.argmin(along[ahead] + 2.5 * aside[ahead])]])
    return None


def next_disc(scene: Scene, note: int, across: int, down: int) -> int | None:
    """The number of the note in the middle of the next community in a direction; None when there is none."""
    overview = scene.overview
    middle = np.array([(disc.x, disc.y) for disc in overview.communities])
    away = (middle - middle[overview.community[note]]) * (scene.camera.across, scene.camera.down)
    along = away @ np.array([across, down])
    aside = np.abs(away @ np.array([down, across]))
    filled = np.bincount(overview.community[scene.shown], minlength=len(middle)) > 0
    ahead = filled & (along > 0) & (aside <= 3 * along)
    if not ahead.any():
        return None
    goal = int(np.argmin(np.where(ahead, along + 2.5 * aside, np.inf)))
    members = np.flatnonzero(scene.shown & (overview.community == goal))
    return int(members[np.argmin(((overview.place[members] - middle[goal]) ** 2).sum(axis=1))])


def coloured(overview: Overview, former: dict[str, int], apart: bool) -> list[int]:
    """A colour for each community: its own where they are told apart, else that of its nugget.

    former: the colours by key, which stay; what is new gets the one used least, the large ones first.
    """
    discs = overview.communities if apart else overview.nuggets
    for disc in sorted(discs, key=lambda disc: (-disc.count, disc.key)):
        if disc.key not in former:
            used = list(former.values())
            former[disc.key] = min(range(COLOURS), key=used.count)
    return [former[disc.key if apart else discs[disc.nugget].key] for disc in overview.communities]
