"""Promotion that remembers what it wrote: what follows a note, what stays a person's, what was refused."""

from __future__ import annotations

from typing import Any

import pytest
from kits.graph_kit import draft_of, make_note, memory_of

from core.model.note import Note, replace
from core.model.promoted import Target
from core.promotion import PromotionResult, promote
from core.promotion.refusal import marks_of
from core.settings import PromotionSettings

PATH = "/somewhere/MEMORY.md"


class Place:
    """A MEMORY.md with its notes and what is remembered of it, promoted to again and again."""

    def __init__(self, *notes: Note, page: str | None = None) -> None:
        self.notes = {note.id: note for note in notes}
        self.page = page
        self.target = Target(path=PATH)

    def look(self, **wanted: Any) -> PromotionResult:
        existing = None if self.page is None else self.page.encode()
        wanted = {"target": self.target} | wanted
        return promote(draft_of(memory_of(self.notes.values())), existing, PATH, **wanted)

    def promote(self, **wanted: Any) -> PromotionResult:
        result = self.look(**wanted)
        self.target = result.target
        for change in result.change_set.notes:
            assert change.after is not None
            self.notes[change.id] = change.after
        for file in result.change_set.files:
            self.page = (file.after or b"").decode()
        return result

    def refuse(self, *accepted: str) -> PromotionResult:
        """Promotes what is accepted and refuses the rest."""
        rest = [entry.id for entry in self.look().entries if entry.proposed and entry.id not in accepted]
        return self.promote(accept=accepted, refuse=rest)

    def change(self, id: str, **fields: Any) -> None:
        self.notes[id] = replace(self.notes[id], **fields)

    def says(self, result: PromotionResult | None = None) -> list[tuple[str, str]]:
        return [(entry.status, entry.title) for entry in (result or self.look()).entries]


def often(number: int, content: str, title: str, **fields: Any) -> Note:
    return make_note(number, content, title, **({"hits": 3} | fields))


def lines(place: Place) -> list[str]:
    assert place.page is not None
    return [line for line in place.page.split("\n") if line.startswith(("- ", "  "))]


ONE = "note-memory-00000001"
TWO = "note-memory-00000002"


@pytest.fixture
def place() -> Place:
    made = Place(often(1, "one\nand more", "first"), often(2, "two", "second"))
    made.promote()
    assert made.look().change_set.empty
    return made


# Our bullets follow their notes


def test_the_bullet_of_a_retitled_note_is_renamed_where_it_stands(place: Place) -> None:
    place.change(ONE, title="new name")
    result = place.promote()
    assert [entry.reason for entry in result.entries if entry.status == "updated"] == ['renamed from "first"']
    assert lines(place) == ["- **new name**: one", "  and more", "- **second**: two"]


def test_lines_that_a_note_lost_at_its_end_go_and_a_persons_remark_stays(place: Place) -> None:
    assert place.page is not None
    place.page = place.page.replace("  and more\n", "  and more\n  - mine\n")
    place.change(ONE, content="one")
    assert ("updated", "first") in place.says(place.promote())
    assert lines(place) == ["- **first**: one", "  - mine", "- **second**: two"]
    assert place.look().change_set.empty


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"hidden": True}, "hidden"),
        ({"stability": "temporary"}, "temporary"),
        ({"content": "  "}, "empty"),
        (
            {"content": "token ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"},
            "looks like a credential: GitHub token",
        ),
    ],
)
def test_the_bullet_of_a_note_that_is_not_to_stand_there_any_more_goes(
    place: Place, fields: dict[str, Any], reason: str
) -> None:
    place.change(ONE, **fields)
    result = place.promote()
    assert [(entry.status, entry.reason) for entry in result.entries] == [
        ("unchanged", ""),
        ("removed", reason),
    ]
    assert "ghp_" not in str(result.to_dict())
    assert lines(place) == ["- **second**: two"]


def test_a_note_that_belongs_to_another_section_by_now_moves_there(place: Place) -> None:
    place.change(TWO, scope="shared", subject="shared:project")
    result = place.promote()
    assert next((e.section, e.status, e.reason) for e in result.entries) == (
        "shared-context", "updated", 'moves here from "user"'
    )  # fmt: skip
    assert place.page is not None
    assert place.page.endswith(
        "## shared-context\n\n- **second**: two\n\n## user\n\n- **first**: one\n  and more\n"
    )
    assert place.look().change_set.empty


def test_what_stands_there_stays_up_to_date_also_below_a_raised_threshold(place: Place) -> None:
    raised = PromotionSettings(threshold=5)
    assert place.look(settings=raised).change_set.empty
    place.change(TWO, content="changed")
    place.promote(settings=raised)
    assert "- **second**: changed" in lines(place)


# What a person wrote stays theirs


def test_a_bullet_that_a_person_put_a_line_on_is_theirs(place: Place) -> None:
    assert place.page is not None
    place.page = before = place.page.replace("  and more\n", "  and more\n  my remark\n")
    place.change(ONE, content="three\nfour\nfive")
    assert ("edited", "first") in place.says(place.promote())
    assert place.page == before


@pytest.mark.parametrize("change", [{"content": "three"}, {"hidden": True}, {"title": "renamed"}, {}])
def test_a_bullet_that_a_person_edited_is_shown_as_theirs_and_kept(
    place: Place, change: dict[str, Any]
) -> None:
    assert place.page is not None
    place.page = place.page.replace("one\n", "one, and I know better\n")
    place.change(ONE, **change)
    before = place.page
    result = place.promote()
    assert place.page == before
    assert result.change_set.empty
    assert [entry.title for entry in result.edited] == [change.get("title", "first")]
    assert result.edited[0].reason.startswith("edited by hand")
    assert result.edited[0].before == "- **first**: one, and I know better\n  and more"


def test_an_edited_bullet_is_replaced_when_that_is_accepted_by_name(place: Place) -> None:
    assert place.page is not None
    place.page = place.page.replace("one\n", "one, and I know better\n")
    place.change(ONE, content="three")
    result = place.promote(accept=[place.look().edited[0].id])
    assert (result.updated, result.promoted, result.edited) == (1, 0, ())
    assert lines(place) == ["- **first**: three", "- **second**: two"]
    place.page = place.page.replace("three", "mine")
    del place.notes[ONE]
    result = place.promote(accept=[place.look().edited[0].id])
    assert result.removed == 1
    assert lines(place) == ["- **second**: two"]


def test_an_edited_bullet_that_a_person_wants_to_keep_is_not_shown_again_until_one_of_the_two_changes(
    place: Place,
) -> None:
    assert place.page is not None
    place.page = place.page.replace("one\n", "mine\n")
    place.refuse()
    assert place.look().edited == ()
    place.change(ONE, content="three")
    assert len(place.look().edited) == 1


def test_a_bullet_that_a_person_put_text_on_is_not_taken_out_unasked(place: Place) -> None:
    assert place.page is not None
    place.page = place.page.replace("  and more\n", "  and more\n  - my nested bullet\n")
    before = place.page
    del place.notes[ONE]
    result = place.promote()
    assert place.page == before
    assert [entry.status for entry in result.entries] == ["unchanged", "edited"]


# One by one, and refusals


def test_only_what_is_accepted_is_written_and_the_rest_is_not_proposed_again() -> None:
    place = Place(often(1, "one", "first"), often(2, "two", "second"))
    ids = {entry.title: entry.id for entry in place.look().entries}
    result = place.refuse(ids["first"])
    assert result.promoted == 1
    assert [entry.title for entry in result.refused] == ["second"]
    assert lines(place) == ["- **first**: one"]
    assert len(marks_of(place.notes[TWO])) == 1
    again = place.look()
    assert again.change_set.empty
    assert [entry.title for entry in again.refused] == ["second"]
    place.change(TWO, content="another text")
    assert place.says() == [("unchanged", "first"), ("new", "second")]


def test_what_was_refused_is_accepted_by_its_id_after_all() -> None:
    place = Place(often(1, "one", "first"))
    place.refuse()
    refused = place.look().refused[0]
    assert place.promote(accept=[refused.id[:8]]).promoted == 1
    assert lines(place) == ["- **first**: one"]
    assert marks_of(place.notes[ONE]) == []
    assert place.look().refused == ()


def test_a_refused_update_and_a_refused_removal_leave_the_bullet_as_it_is(place: Place) -> None:
    before = place.page
    place.change(ONE, content="three")
    place.change(TWO, hidden=True)
    result = place.refuse()
    assert {entry.status for entry in result.refused} == {"updated", "removed"}
    assert place.page == before
    assert place.look().change_set.empty
    place.change(ONE, content="four")
    assert ("updated", "first") in place.says()


def test_the_removal_of_a_deleted_notes_bullet_is_refused_for_good(place: Place) -> None:
    del place.notes[ONE]
    place.refuse()
    assert place.look().change_set.empty
    assert place.target.refused
    assert "- **first**: one" in lines(place)


# What is beside


def test_notes_just_under_the_threshold_are_told_with_the_recalls_they_miss() -> None:
    notes = [often(n, "text", f"note {n}", hits=n % 3) for n in range(1, 40)]
    below = Place(*notes, often(50, "text", "gone", hits=2, hidden=True)).look().below
    assert len(below) == 10
    assert {(note.hits, note.missing) for note in below} == {(2, 1)}
