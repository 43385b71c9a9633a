"""Finds communities of notes within each nugget, by tags and links.

Label propagation (Raghavan, Albert and Kumara, 2007) with tags as anchors: a note votes for its own tags, its
linked neighbours of the same nugget vote for the community they are in. In every round half of the notes, taken
in turn, go where most votes are; that keeps pairs from swapping for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

ROUNDS: Final = 10
MOST_IN_NUGGET: Final = 24
_JOIN_ROUNDS: Final = 30
_TAG_VOTE: Final = 1.0
_LINK_VOTE: Final = 0.75
# Who is undecided stays.
_STAY_VOTE: Final = 0.2
# A tag that more of a nugget's notes have than this says nothing about them.
_DULL_SHARE: Final = 0.5
_DULL_FROM: Final = 8


@dataclass(frozen=True, eq=False)
class Material:
    """What communities are told by, for notes numbered from 0.

    nugget: of each note, shape (notes,). tagged: rows (note, tag), where a tag is numbered apart for each nugget;
    tag_nugget: the nugget of each tag. links: rows (note, note), each pair once. turn: 0 or 1 for each note.
    """

    nugget: Numbers
    tagged: Numbers
    tag_nugget: Numbers
    links: Numbers
    turn: Numbers


def communities(material: Material) -> Numbers:
    """The community of each note, shape (notes,): -1 for none, a tag's number, or tags + number of a note.

    The last is for notes that no tag holds together but links do. Communities of a few notes are none, and a
    nugget has `MOST_IN_NUGGET` at most, the largest.
    """
    notes, tags = len(material.nugget), len(material.tag_nugget)
    if not notes:
        return np.empty(0, dtype=np.int64)
    sizes = np.bincount(material.nugget, minlength=1)
    tagged = _distinctive(material, sizes)
    links = material.links[material.nugget[material.links[:, 0]] == material.nugget[material.links[:, 1]]]
    start, end = np.concatenate((links, links[:, ::-1])).T
    every = np.arange(notes)
    label = _widest_tag(tagged, np.bincount(tagged[:, 1], minlength=tags), notes, tags)
    for number in range(ROUNDS):
        voters = np.concatenate((tagged[:, 0], end, every))
        votes = np.concatenate((tagged[:, 1], label[start], label))
        weights = np.repeat((_TAG_VOTE, _LINK_VOTE, _STAY_VOTE), (len(tagged), len(end), notes))
        chosen = _most_voted(voters, votes, weights, notes, tags + notes)
        moved = np.where(material.turn == number % 2, chosen, label)
        if number > 1 and np.array_equal(moved, label):
            break
        label = moved
    label = _joined(label, links, tags, tags + notes)
    return _large_enough(label, material.nugget, sizes, tags + notes)


def _distinctive(material: Material, sizes: Numbers) -> Numbers:
    """The rows of `tagged` whose tag sets some notes of the nugget apart from others."""
    tagged = material.tagged
    if not len(tagged):
        return tagged
    spread = np.bincount(tagged[:, 1], minlength=len(material.tag_nugget))
    size = sizes[material.tag_nugget]
    telling = (size < _DULL_FROM) | (spread <= _DULL_SHARE * size)
    return tagged[telling[tagged[:, 1]] & (spread[tagged[:, 1]] > 1)]


def _widest_tag(tagged: Numbers, spread: Numbers, notes: int, tags: int) -> Numbers:
    """For each note the tag that most notes have; a label of its own for a note without one."""
    label = np.arange(tags, tags + notes)
    order = np.lexsort((-tagged[:, 1], spread[tagged[:, 1]]))
    # The last one written stays: the widest.
    label[tagged[order, 0]] = tagged[order, 1]
    return label


def _most_voted(
    voters: Numbers, votes: Numbers, weights: NDArray[np.float64], notes: int, labels: int
) -> Numbers:
    key = voters * labels + votes
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    sums = np.add.reduceat(weights[order], first)
    voter, vote = np.divmod(key[first], labels)
    ranked = np.lexsort((-vote, sums, voter))
    chosen = np.empty(notes, dtype=np.int64)
    chosen[voter[ranked]] = vote[ranked]
    return chosen


def _joined(label: Numbers, links: Numbers, tags: int, labels: int) -> Numbers:
    """The communities that no tag holds together, joined in pairs while that raises modularity (Newman, 2004).

    Voting alone leaves many small ones. In every round those pairs join that are each other's best choice.
    """
    untagged = links[(label[links] >= tags).all(axis=1)]
    for _ in range(_JOIN_ROUNDS):
        names, ends = np.unique(label[untagged], return_inverse=True)
        ends = ends.reshape(-1, 2)
        degree = np.bincount(ends.ravel(), minlength=len(names))
        apart = ends[ends[:, 0] != ends[:, 1]]
        both = np.concatenate((apart, apart[:, ::-1]))
        pairs, joint = np.unique(both[:, 0] * len(names) + both[:, 1], return_counts=True)
        one, other = np.divmod(pairs, max(len(names), 1))
        gain = joint - degree[one] * degree[other] / (2 * max(len(untagged), 1))
        order = np.lexsort((-other, gain, one))
        best = np.full(len(names), -1)
        best[one[order]] = np.where(gain[order] > 0, other[order], -1)
        mutual = np.flatnonzero((best >= 0) & (best[best] == np.arange(len(names))))
        if not len(mutual):
            break
        renamed = np.arange(labels)
        renamed[names[mutual]] = np.minimum(names[mutual], names[best[mutual]])
        label = renamed[label]
    return label


def _large_enough(label: Numbers, nugget: Numbers, sizes: Numbers, labels: int) -> Numbers:
    count = np.bincount(label, minlength=labels)
    home = np.zeros(labels, dtype=np.int64)
    home[label] = nugget
    least = np.maximum(3, np.sqrt(sizes) / 4)
    kept = np.flatnonzero((count > 0) & (count >= least[home]))
    order = kept[np.lexsort((kept, -count[kept], home[kept]))]
    starts = np.searchsorted(home[order], np.arange(len(sizes)))
    rank = np.arange(len(order)) - starts[home[order]]
    taken = np.zeros(labels, dtype=bool)
    taken[order[rank < MOST_IN_NUGGET]] = True
    return np.where(taken[label], label, -1)
