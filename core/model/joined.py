"""A person's own notes and a team's as one snapshot, so that one search ranks both, and whose each note is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final, Literal

import msgspec

from core.errors import NotFoundError
from core.model.note import Note, custom_tags
from core.model.note import replace as with_fields
from core.model.snapshot import Snapshot

Whose = Literal["", "yours", "team", "both"]
"""Whose a note is: "" where no team's notes are in reach, "both" for one that both say alike."""

# Begins the id that a team's note has here where a note of one's own bears its id.
TEAM_PREFIX: Final = "team:"


class Joined:
    """Own notes as they are, in their order, and behind them those of the team that one's own do not say as well.

    names: for each note of the team, by its id there, the id that it has in `snapshot`; of what both say, the id of
    one's own.
    """

    def __init__(self, own: Snapshot, team: Snapshot, snapshot: Snapshot, names: Mapping[str, str]) -> None:
        self.own = own
        self.team = team
        self.snapshot = snapshot
        self.names = names

    @cached_property
    def in_team(self) -> Mapping[str, str]:
        """For each note of `snapshot` that the team has, by its id, the id that it has there."""
        return {name: id for id, name in self.names.items()}

    def whose(self, note_id: str) -> Whose:
        """Whose a note of `snapshot` is, by its id."""
        if note_id not in self.in_team:
            return "yours"
        return "both" if note_id in self.own.by_id else "team"

    def resolve(self, text: str) -> Note:
        """The note that a text names, as `Snapshot.resolve` reads it: of one's own, else of the team's. Errors as
        there.
        """
        try:
            return self.own.resolve(text)
        except NotFoundError as error:
            wanted = self.names.get(text.strip(), text)
            theirs = [note for note in self.snapshot.notes if note.id in self.in_team]
            try:
                return self.snapshot.resolve(wanted, within=theirs)
            except NotFoundError:
                raise error from None


def join(own: Snapshot, team: Snapshot) -> Joined:
    """Both as one. The same in both are notes of one title and text, unless only one of them is hidden or the team's
    has a tag that one's own lacks. What else bears an id of one's own gets another one.
    """
    names = _names(own, team)
    twins = {id for id, name in names.items() if name in own.by_id}
    added = [_as_named(note, names) for note in team.by_id.values() if note.id not in twins]
    return Joined(own, team, replace(own, notes=(*own.notes, *added)), names)


def _names(own: Snapshot, team: Snapshot) -> dict[str, str]:
    said: dict[tuple[str, str, bool], list[Note]] = {}
    for note in team.by_id.values():
        said.setdefault(_said(note), []).append(note)
    names: dict[str, str] = {}
    for note in own.by_id.values():
        for other in said.get(_said(note), ()):
            if other.id not in names and set(custom_tags(other)) <= set(note.tags):
                names[other.id] = note.id
                break
    taken = own.by_id.keys() | own.set_aside
    for id in team.by_id:
        if id not in names:
            name = id
            while name in taken or (name != id and name in team.by_id):
                name = f"{TEAM_PREFIX}{name}"
            names[id] = name
    return names


def _said(note: Note) -> tuple[str, str, bool]:
    return note.title.strip(), note.content.strip(), note.hidden


def _as_named(note: Note, names: Mapping[str, str]) -> Note:
    """A team's note under its name here, with the links that lead to others of the team; itself where it is so."""
    links = tuple(
        link if names[link.to] == link.to else msgspec.structs.replace(link, to=names[link.to])
        for link in note.links
        if link.to in names
    )
    same = len(links) == len(note.links) and all(a is b for a, b in zip(links, note.links, strict=True))
    if same and names[note.id] == note.id:
        return note
    return with_fields(note, id=names[note.id], links=links)
