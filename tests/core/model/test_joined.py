"""Laws of one's own notes and a team's as one: none is lost, none changes what the other says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from kits.laws import examples
from kits.search_graphs import notes

from core.errors import AmbiguousError, NotFoundError
from core.model.joined import Joined, join
from core.model.note import Link, Note, custom_tags
from core.model.snapshot import Snapshot

SNAPSHOTS = notes(6).map(lambda some: Snapshot(notes=some))


def note(id: str, title: str = "Deploy", content: str = "make deploy", **fields: object) -> Note:
    return Note(id=id, nugget_name="ops", title=title, content=content, **fields)  # type: ignore[arg-type]


def joined(own: list[Note], team: list[Note]) -> Joined:
    return join(Snapshot(notes=tuple(own)), Snapshot(notes=tuple(team)))


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(SNAPSHOTS, SNAPSHOTS)
def test_laws_of_joining(own: Snapshot, team: Snapshot) -> None:
    both = join(own, team)
    no_own_note_is_lost_or_changed(both)
    every_note_of_the_team_is_found_under_one_id(both)
    links_stay_within_each(both)


def no_own_note_is_lost_or_changed(both: Joined) -> None:
    count = len(both.own.notes)
    assert all(a is b for a, b in zip(both.snapshot.notes[:count], both.own.notes, strict=True))
    assert all(both.whose(one.id) in ("yours", "both") for one in both.own.notes)
    assert both.snapshot.nuggets == both.own.nuggets


def every_note_of_the_team_is_found_under_one_id(both: Joined) -> None:
    assert set(both.names) == set(both.team.by_id)
    assert len(set(both.names.values())) == len(both.names)
    for id, name in both.names.items():
        theirs, here = both.team.by_id[id], both.snapshot.by_id[name]
        assert (theirs.title.strip(), theirs.content.strip(), theirs.hidden) == (
            here.title.strip(),
            here.content.strip(),
            here.hidden,
        )
        assert set(custom_tags(theirs)) <= set(here.tags)
        assert both.whose(name) == ("both" if name in both.own.by_id else "team")
        assert both.in_team[name] == id
    added = both.snapshot.notes[len(both.own.notes) :]
    assert not {one.id for one in added} & both.own.by_id.keys()


def links_stay_within_each(both: Joined) -> None:
    theirs = set(both.names.values())
    for one in both.snapshot.notes[len(both.own.notes) :]:
        assert all(link.to in theirs for link in one.links)


def test_what_both_say_alike_is_one_note_and_what_differs_stands_apart() -> None:
    one = joined([note("own-1")], [note("team-1")])
    assert [(found.id, one.whose(found.id)) for found in one.snapshot.notes] == [("own-1", "both")]
    for other in (
        note("team-1", content="make release"),
        note("team-1", title="Release"),
        note("team-1", hidden=True),
        note("team-1", tags=("ops", "urgent")),
    ):
        two = joined([note("own-1")], [other])
        assert [two.whose(found.id) for found in two.snapshot.notes] == ["yours", "team"]


def test_a_note_of_the_team_with_an_id_of_ones_own_gets_another_one() -> None:
    both = joined(
        [note("n-1"), note("team:n-1", "Old", "b")],
        [note("n-1", "Theirs", "c"), note("n-2", "Linked", "d", links=(Link(to="n-1", reason="see"),))],
    )
    theirs, linked = both.snapshot.notes[2:]
    assert theirs.id not in ("n-1", "team:n-1")
    assert linked.links == (Link(to=theirs.id, reason="see"),)
    assert both.in_team[theirs.id] == "n-1"
    assert both.resolve(theirs.id) is theirs
    assert both.resolve("n-1").title == "Deploy"


def test_a_name_means_ones_own_note_first_then_the_teams() -> None:
    both = joined(
        [note("own-1", "Deploy", "mine")], [note("team-1", "Deploy", "theirs"), note("team-2", "Logs")]
    )
    assert both.resolve("Deploy").id == "own-1"
    assert both.resolve("Logs").id == both.resolve("team-2").id == "team-2"
    with pytest.raises(NotFoundError):
        both.resolve("nothing")
    with pytest.raises(AmbiguousError):
        both.resolve("team-")
