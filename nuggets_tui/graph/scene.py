"""What stands in each cell of the overview: notes as points, links as faint lines, names, the marked note."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from core.model.note import Note
from nuggets_tui.graph.camera import ACROSS, DOWN, Camera, Numbers, Points
from nuggets_tui.graph.labels import Label, Wanted, placed
from nuggets_tui.graph.overview import Disc, Overview
from nuggets_tui.safe_text import cut

BLANK: Final = 0x20

# The bits of the dots of a braille character, by row and column.
_BITS: Final = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)
_LONGEST_LINE: Final = 512


@dataclass(frozen=True, eq=False)
class Raster:
    """Cells of a picture. signs: code points, shape (height, width); colours: numbers, -1 where there is nothing;
    crowd: how many notes a cell holds."""

    signs: NDArray[np.uint32]
    colours: NDArray[np.int16]
    crowd: Numbers


def points(camera: Camera, dots: Numbers, colour: Numbers, colours: int) -> Raster:
    """Notes at dots, each of a colour from 0 to `colours` - 1; the most frequent colour of a cell is the cell's.

    dots: shape (notes, 2), all inside the picture. Of two colours as frequent the lower number is taken.
    """
    wide, high = camera.dots
    x, y = dots[:, 0], dots[:, 1]
    lit = np.zeros((high, wide), dtype=bool)
    lit[y, x] = True
    bits = _cells(lit, camera)
    cell = (y // DOWN) * camera.width + x // ACROSS
    cells = camera.width * camera.height
    votes = np.bincount(cell * colours + colour, minlength=cells * colours).reshape(cells, colours)
    crowd = votes.sum(axis=1)
    most = np.where(crowd > 0, votes.argmax(axis=1), -1).astype(np.int16)
    shape = (camera.height, camera.width)
    signs = np.where(bits > 0, bits.astype(np.uint32) + _BRAILLE, BLANK).astype(np.uint32)
    return Raster(signs, most.reshape(shape), crowd.reshape(shape))


def seen(camera: Camera, dots: Numbers) -> NDArray[np.bool_]:
    """Which dots lie inside the picture."""
    wide, high = camera.dots
    x, y = dots[:, 0], dots[:, 1]
    return (x >= 0) & (x < wide) & (y >= 0) & (y < high)


def lines(camera: Camera, starts: Numbers, ends: Numbers) -> NDArray[np.uint8]:
    """The braille bits of straight lines between dots, shape (height, width); what lies outside is cut off."""
    wide, high = camera.dots
    lit = np.zeros((high, wide), dtype=bool)
    low, up = _clipped(starts.astype(np.float64), ends.astype(np.float64), (wide, high))
    there = low < up
    if there.any():
        start, way = starts[there].astype(np.float64), (ends - starts)[there].astype(np.float64)
        low, up = low[there][:, None], up[there][:, None]
        length = np.abs(way).max(axis=1, keepdims=True) * (up - low)
        # More steps than dots, so that rounding leaves none out.
        steps = int(min(max(length.max(), 1), _LONGEST_LINE) * 1.5) + 2
        along = low + (up - low) * np.linspace(0, 1, steps)[None]
        x = np.rint(start[:, :1] + way[:, :1] * along).astype(np.int64)
        y = np.rint(start[:, 1:] + way[:, 1:] * along).astype(np.int64)
        lit[np.clip(y, 0, high - 1), np.clip(x, 0, wide - 1)] = True
    return _cells(lit, camera)


def _clipped(starts: Points, ends: Points, size: tuple[int, int]) -> tuple[Points, Points]:
    """From which to which part of itself each line is inside the picture (Liang and Barsky, 1984)."""
    low, up = np.zeros(len(starts)), np.ones(len(starts))
    for axis in (0, 1):
        start, way = starts[:, axis], ends[:, axis] - starts[:, axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (0 - start) / way, (size[axis] - 1 - start) / way
        still = way == 0
        outside = still & ((start < 0) | (start >= size[axis]))
        low = np.where(still, low, np.maximum(low, np.minimum(one, other)))
        up = np.where(outside, -1.0, np.where(still, up, np.minimum(up, np.maximum(one, other))))
    return low, up


def _cells(lit: NDArray[np.bool_], camera: Camera) -> NDArray[np.uint8]:
    """The bits of each cell's eight dots."""
    bits = np.zeros((camera.height, camera.width), dtype=np.uint8)
    for (down, across), bit in np.ndenumerate(_BITS):
        bits |= lit[down::DOWN, across::ACROSS] * bit
    return bits


COLOURS: Final = 6
GHOST: Final = COLOURS
LEVELS: Final = 3
FAINT_LINE: Final = (COLOURS + 1) * LEVELS
CHOSEN_LINE: Final = FAINT_LINE + 1
PLAIN: Final = -1
_BRAILLE: Final = 0x2800

Cells = tuple[NDArray[np.uint32], NDArray[np.int16]]
"""Code point and style of each cell, shape (height, width). A style: a colour times LEVELS plus a level; or a line."""

# Links are drawn, the shortest first, as long as they cover no more than this part of the picture.
_LINE_INK: Final = 0.05
_MOST_LINES: Final = 600
_LINES_BELOW: Final = 4000
_TITLES_BELOW: Final = 160
# Where there are fewer notes than this part of the cells, a point is a sign of its own instead of a dot.
_SPARSE: Final = 0.12
_NOTE, _FACT, _HIDDEN, _SEVERAL = map(ord, "•◆○●")
_MOST_NAMES: Final = 300
# More discs than this take their colours in turn.
_MOST_COLOURED: Final = 400
_NAME_CELLS: Final = 28
_TITLE_CELLS: Final = 30
# Parts of the ninth decile of notes in a cell from which on a cell is drawn brighter.
_CROWDED: Final = (0.2, 0.5)


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
    def raster(self) -> Raster:
        """The points."""
        notes = self.in_view
        colour = np.asarray(self.colours, dtype=np.int64)[self.overview.community[notes]]
        colour[self.overview.hidden[notes]] = GHOST
        return points(self.camera, self.dots[notes], colour, COLOURS + 1)

    @cached_property
    def in_view(self) -> Numbers:
        """Numbers of the notes shown that lie in the picture."""
        return np.flatnonzero(self.shown & seen(self.camera, self.dots))

    @cached_property
    def _styles(self) -> NDArray[np.int16]:
        """The style of each cell: colour times LEVELS plus how crowded it is."""
        crowd, colours = self.raster.crowd, self.raster.colours
        full = max(float(np.quantile(crowd[crowd > 0], 0.9)), 1.0) if (crowd > 0).any() else 1.0
        level = sum((crowd >= share * full).astype(np.int16) for share in _CROWDED)
        return np.where(colours >= 0, colours * LEVELS + level, PLAIN).astype(np.int16)

    @cached_property
    def _links(self) -> Numbers:
        """The links between notes shown of which one end is in the picture at least; none among too many notes."""
        links = self.overview.links
        if len(self.in_view) > _LINES_BELOW:
            return links[:0]
        inside = np.zeros(len(self.overview.ids), dtype=bool)
        inside[self.in_view] = True
        near = np.flatnonzero(inside[links[:, 0]] | inside[links[:, 1]])
        one, other = links[near].T
        found: Numbers = links[near[self.shown[one] & self.shown[other]]]
        return found

    @cached_property
    def _drawn_links(self) -> Numbers:
        """The shortest links, as many as leave the points in sight."""
        links = self._links
        across, down = np.abs(self.dots[links[:, 0]] - self.dots[links[:, 1]]).T
        length = np.maximum(across, down)
        order = np.argsort(length, kind="stable")[:_MOST_LINES]
        wide, high = self.camera.dots
        return links[order[np.cumsum(length[order]) <= _LINE_INK * wide * high]]

    @cached_property
    def _signs(self) -> NDArray[np.uint32]:
        """The points: dots, or where they are few a sign for each."""
        notes, crowd, signs = self.in_view, self.raster.crowd, self.raster.signs
        if len(notes) > _SPARSE * crowd.size:
            return signs
        columns, rows = (self.dots[notes] // (ACROSS, DOWN)).T
        ids = self.overview.ids
        kinds = [
            _HIDDEN if self.overview.hidden[number] else _FACT if self.notes[ids[number]].is_fact else _NOTE
            for number in notes.tolist()
        ]
        signs = signs.copy()
        signs[rows, columns] = np.where(crowd[rows, columns] > 1, _SEVERAL, kinds)
        return signs

    @cached_property
    def cells(self) -> Cells:
        """Code point and style of each cell, without names and mark."""
        signs, styles = self._signs, self._styles
        links = self._drawn_links
        if len(links):
            bits = lines(self.camera, self.dots[links[:, 0]], self.dots[links[:, 1]])
            free = (styles == PLAIN) & (bits > 0)
            signs = np.where(free, bits.astype(np.uint32) + _BRAILLE, signs)
            styles = np.where(free, FAINT_LINE, styles).astype(np.int16)
        return signs, styles

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
        """Column and row of a note."""
        x, y = self.dots[note].tolist()
        return x // ACROSS, y // DOWN

    # Names ------------------------------------------------------------------------------------------

    @cached_property
    def _colour(self) -> Mapping[int, int]:
        """The colour of the largest community of each nugget."""
        sizes = sorted(
            zip(self.overview.communities, self.colours, strict=True), key=lambda pair: pair[0].count
        )
        return {disc.nugget: colour for disc, colour in sizes}

    @cached_property
    def labels(self) -> Sequence[Label]:
        """Names and titles that found room."""
        taken = self._signs != BLANK
        return placed(self._wanted(), taken, self.camera.width, self.camera.height)

    @cached_property
    def label_rows(self) -> Mapping[int, Sequence[Label]]:
        """The same by the rows they stand in."""
        rows: dict[int, list[Label]] = {}
        for label in self.labels:
            rows.setdefault(label.row, []).append(label)
        return rows

    @cached_property
    def _counts(self) -> tuple[Numbers, Numbers]:
        """How many notes are shown of each nugget, and of each community."""
        nuggets, communities = self.overview.nugget[self.shown], self.overview.community[self.shown]
        return (
            np.bincount(nuggets, minlength=len(self.overview.nuggets)),
            np.bincount(communities, minlength=len(self.overview.communities)),
        )

    def _wanted(self) -> Iterator[Wanted]:
        highest = {
            disc.nugget: disc
            for disc in sorted(self.overview.communities, key=lambda disc: disc.radius - disc.y)
        }
        if len(self.overview.nuggets) > 1:
            largest = sorted(self.overview.nuggets, key=lambda disc: (-disc.count, disc.name))
            for disc in largest[:_MOST_NAMES]:
                yield from self._nugget_name(disc, highest[disc.nugget])
        inner = [
            (disc, colour)
            for disc, colour, count in zip(
                self.overview.communities, self.colours, self._counts[1], strict=True
            )
            if count and disc.name
        ]
        for disc, colour in sorted(inner, key=lambda pair: (-pair[0].count, pair[0].key))[:_MOST_NAMES]:
            yield from self._name(disc, colour)
        yield from self._titles()

    def _nugget_name(self, disc: Disc, highest: Disc) -> Iterator[Wanted]:
        """At the upper rim of a nugget, so that the names of its communities have the middle."""
        count = int(self._counts[0][disc.nugget])
        if not count:
            return
        x = (disc.x + highest.x) / 2
        column, row = self.camera.cell(x, highest.y - highest.radius)
        if 0 <= column < self.camera.width and -1 <= row <= self.camera.height:
            text = f"{cut(disc.name, _NAME_CELLS)} {count:,}"
            yield Wanted(
                text, column, min(max(row, 0), self.camera.height - 1), "nugget", self._colour[disc.nugget]
            )

    def _name(self, disc: Disc, colour: int) -> Iterator[Wanted]:
        column, row = self.camera.cell(disc.x, disc.y)
        text = cut(disc.name, _NAME_CELLS)
        room = disc.radius * 2 * self.camera.across / ACROSS
        if 0 <= column < self.camera.width and 0 <= row < self.camera.height and room >= 0.8 * cell_len(text):
            yield Wanted(text, column, row, "community", colour)

    def _titles(self) -> Iterator[Wanted]:
        notes = self.in_view
        if len(notes) > _TITLES_BELOW:
            return
        links = np.bincount(self._links.ravel(), minlength=len(self.overview.ids))
        ordered = sorted(notes.tolist(), key=lambda number: (-links[number], self.overview.ids[number]))
        for number in ordered[: self.camera.height]:
            note = self.notes.get(self.overview.ids[number])
            if note is not None:
                column, row = self.cell(number)
                text = cut(note.title.strip(), _TITLE_CELLS)
                yield Wanted(text, column, row, "note", self.colours[self.overview.community[number]], True)


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
    here = overview.community[note]
    middle = np.array([(disc.x, disc.y) for disc in overview.communities])
    away = (middle - middle[here]) * (scene.camera.across, scene.camera.down)
    along = away @ np.array([across, down])
    aside = np.abs(away @ np.array([down, across]))
    filled = np.bincount(overview.community[scene.shown], minlength=len(middle)) > 0
    ahead = filled & (along > 0) & (aside <= 3 * along)
    if not ahead.any():
        return None
    goal = int(np.argmin(np.where(ahead, along + 2.5 * aside, np.inf)))
    members = np.flatnonzero(scene.shown & (overview.community == goal))
    return int(members[np.argmin(((overview.place[members] - middle[goal]) ** 2).sum(axis=1))])


def coloured(overview: Overview, former: Mapping[str, int], apart: bool) -> list[int]:
    """A colour for each community, other than those of its neighbours as far as there are colours.

    former: colours by key, which stay. apart: each community has its own; otherwise those of a nugget share one.
    """
    discs = overview.communities if apart else overview.nuggets
    few = len(discs) <= _MOST_COLOURED
    chosen = (_coloured_apart(discs, former) if few else np.arange(len(discs)) % COLOURS).tolist()
    return list(chosen) if apart else [chosen[disc.nugget] for disc in overview.communities]


def _coloured_apart(discs: Sequence[Disc], former: Mapping[str, int]) -> Numbers:
    """For each disc the colour whose other discs are farthest away, the large ones first."""
    chosen = np.array([former.get(disc.key, -1) for disc in discs], dtype=np.int64)
    middle = np.array([(disc.x, disc.y) for disc in discs]).reshape(-1, 2)
    radius = np.array([disc.radius for disc in discs])
    waiting = sorted(np.flatnonzero(chosen < 0).tolist(), key=lambda at: (-discs[at].count, discs[at].key))
    for number in waiting:
        gap = np.hypot(*(middle - middle[number]).T) - radius - radius[number]
        room = [float(gap[chosen == each].min(initial=np.inf)) for each in range(COLOURS)]
        used = np.bincount(chosen[chosen >= 0], minlength=COLOURS)
        chosen[number] = max(range(COLOURS), key=lambda each: (room[each], -used[each], -each))
    return chosen
