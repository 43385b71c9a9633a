"""Discs put beside each other on a plane: close together, never overlapping, what is linked near each other."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from math import log, pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Place = tuple[float, float, float]
"""x, y, radius."""

MOST_RELAXED: Final = 240
_STEP: Final = 1.15
_GAP: Final = 1.06
_BODY_GAP: Final = 1.12
_DRAW_ROUNDS: Final = 150
_GATHER_ROUNDS: Final = 120
_PART_ROUNDS: Final = 400
_SPOTS: Final = 1500
_GOLDEN_ANGLE: Final = pi * (3 - 5**0.5)


def stepped_radius(count: int) -> float:
    """The radius for `count` notes, in steps of 7 %: a note more mostly leaves a disc, and so its fellows, alone."""
    return float(_STEP ** (round(log(max(count, 1)) / log(_STEP)) / 2))


def packed(
    keys: Sequence[str],
    radii: Points,
    links: Points,
    former: Mapping[str, Place],
    wide: float = 1.0,
) -> Points:
    """Middles of discs, shape (discs, 2), around 0.

    radii: shape (discs,). links: how many links join two discs, shape (discs, discs). former: places that discs
    had; with the same radii for the same keys they are the answer. wide: how much wider than high all should be.
    """
    known = [former.get(key) for key in keys]
    same = len(known) == len(former) and all(
        place is not None and abs(place[2] - radius) < 1e-3 * radius
        for place, radius in zip(known, radii, strict=True)
    )
    if same:
        return np.array([place[:2] for place in known if place is not None]).reshape(-1, 2)
    if len(keys) < 3:
        return _side_by_side(keys, radii)
    if len(keys) > MOST_RELAXED:
        return _spiral(radii, wide)
    if any(known):
        # What was there before stays where it was, as far as it has not grown.
        return _parted(inherit_places(keys, radii, former, wide), radii)
    extent = float(np.sqrt((radii**2).sum()))
    start = np.array([_by_chance(key, extent, wide) for key in keys]).reshape(-1, 2)
    return _centred(_parted(_gathered(start, radii, links, wide), radii), radii)


def inherit_places(
    keys: Sequence[str], radii: Points, former: Mapping[str, Place], wide: float = 1.0
) -> Points:
    """The middles that discs had; new ones, the large ones first, as near to 0 as there is room for them."""
    middles = np.zeros((len(keys), 2))
    there = np.array([key in former for key in keys], dtype=bool)
    for at in np.flatnonzero(there).tolist():
        middles[at] = former[keys[at]][:2]
    extent = around(middles[there], radii[there]) + 2 * float(radii.max(initial=0))
    out = np.sqrt(np.arange(_SPOTS) / _SPOTS) * extent
    angle = np.arange(_SPOTS) * _GOLDEN_ANGLE
    spots = np.stack((np.cos(angle) * out * wide, np.sin(angle) * out), axis=1)
    for at in sorted(np.flatnonzero(~there).tolist(), key=lambda at: (-radii[at], keys[at])):
        away = spots[:, None] - middles[there][None]
        room = (np.hypot(away[..., 0], away[..., 1]) - (radii[there] + radii[at]) * _GAP).min(
            axis=1, initial=np.inf
        )
        free = np.flatnonzero(room >= 0)
        middles[at] = spots[free[0] if len(free) else int(room.argmax())]
        there[at] = True
    return middles


def drawn_together(
    bodies: Points, offsets: Points, body: NDArray[np.int64], radii: Points, wide: float, settled: bool
) -> Points:
    """Middles of bodies that are each made of discs, as close together as discs of two bodies may be.

    bodies: shape (bodies, 2). offsets: of each disc from the middle of its body, shape (discs, 2). settled: the
    bodies stay where they are as far as they do not overlap.
    """
    if len(radii) > MOST_RELAXED or len(bodies) < 2:
        return bodies
    apart = body[:, None] != body[None]
    weight: Points = np.bincount(body, weights=radii**2, minlength=len(bodies))[body].astype(np.float64)
    inwards = np.array([1 / wide, wide]) * 0.03
    rounds = 0 if settled else _DRAW_ROUNDS
    for number in range(rounds + _PART_ROUNDS):
        if number < rounds:
            bodies = bodies - bodies * inwards * (1 - number / rounds)
        push, overlap = _push(bodies[body] + offsets, radii * _BODY_GAP, apart, weight)
        if number >= rounds and overlap <= 0:
            break
        moves = np.stack([np.bincount(body, push[:, axis], len(bodies)) for axis in (0, 1)], axis=1)
        bodies = bodies + moves * 1.2
    return bodies


def around(middles: Points, radii: Points) -> float:
    """The radius around 0 within which all discs lie."""
    return float((np.hypot(middles[:, 0], middles[:, 1]) + radii).max(initial=0))


def _by_chance(key: str, extent: float, wide: float) -> tuple[float, float]:
    chance = zlib.crc32(key.encode("utf-8", "replace"))
    angle, out = (chance & 0xFFFF) / 0x10000 * 2 * pi, (chance >> 16) / 0x10000
    return (
        float(np.cos(angle) * out**0.5 * extent * wide),
        float(np.sin(angle) * out**0.5 * extent),
    )


def _side_by_side(keys: Sequence[str], radii: Points) -> Points:
    """One disc, or two that touch."""
    if len(keys) < 2:
        return np.zeros((len(keys), 2))
    reach = float(radii.sum()) * _GAP
    x, y = _by_chance(min(keys), 1.0, 1.0)
    way = np.array([x, y]) / max(float(np.hypot(x, y)), 1e-9)
    middles: Points = np.stack((way * reach * radii[1], -way * reach * radii[0])) / radii.sum()
    return middles


def _spiral(radii: Points, wide: float) -> Points:
    """Places for more discs than can be compared in pairs: each in a cell of its own, on a spiral."""
    number = np.arange(len(radii)) + 0.5
    out = np.sqrt(number) * radii.max() * 2 * _GAP
    angle = number * _GOLDEN_ANGLE
    return np.stack((np.cos(angle) * out * wide, np.sin(angle) * out), axis=1)


def _gathered(middles: Points, radii: Points, links: Points, wide: float) -> Points:
    """Draws discs to the middle and to those they are linked with, while they push each other apart."""
    share = links / np.maximum(links.sum(axis=1, keepdims=True), 1)
    joined = links.sum(axis=1, keepdims=True) > 0
    inwards = np.array([1 / wide, wide])
    for number in range(_GATHER_ROUNDS):
        warmth = 1 - number / _GATHER_ROUNDS
        pull = np.where(joined, share @ middles - middles, 0) * 0.08 * warmth
        middles = middles + pull - middles * inwards * (0.02 + 0.08 * warmth)
        middles = middles + _push(middles, radii)[0]
    return middles


def _parted(middles: Points, radii: Points) -> Points:
    for _ in range(_PART_ROUNDS):
        push, overlap = _push(middles, radii)
        if overlap <= 0:
            break
        middles = middles + push * 1.1
    return middles


def _push(
    middles: Points, radii: Points, pairs: NDArray[np.bool_] | None = None, weight: Points | None = None
) -> tuple[Points, float]:
    """By how much each disc has to move so that no two overlap, and the widest overlap.

    pairs: which discs must not overlap, all when not given. weight: the heavier of two stays nearer to its place.
    """
    across = middles[:, 0][:, None] - middles[:, 0]
    down = middles[:, 1][:, None] - middles[:, 1]
    distance = np.hypot(across, down)
    wanted = (radii[:, None] + radii) * _GAP
    overlap = wanted - distance
    np.fill_diagonal(overlap, 0)
    overlap[overlap < 1e-3 * wanted] = 0
    if pairs is not None:
        overlap *= pairs
    widest = float(overlap.max(initial=0))
    if not widest:
        return np.zeros_like(middles), 0.0
    nowhere = distance < 1e-9
    if nowhere.sum() > len(radii):
        # Discs on one spot part along angles of their own.
        number = np.arange(len(radii))
        angle = (number[:, None] + number) * _GOLDEN_ANGLE + (number[:, None] > number) * pi
        across, down = np.where(nowhere, np.cos(angle), across), np.where(nowhere, np.sin(angle), down)
        distance = np.where(nowhere, 1.0, distance)
    heavy = radii**2 if weight is None else weight
    # Of two discs the heavier one yields less.
    share = overlap * heavy / (heavy[:, None] + heavy) / np.maximum(distance, 1e-9) * 0.5
    return np.stack(((across * share).sum(axis=1), (down * share).sum(axis=1)), axis=1), widest


def _centred(middles: Points, radii: Points) -> Points:
    low = (middles - radii[:, None]).min(axis=0, initial=np.inf)
    high = (middles + radii[:, None]).max(axis=0, initial=-np.inf)
    return middles - (low + high) / 2 if len(middles) else middles
