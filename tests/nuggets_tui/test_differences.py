"""What a change did, line by line."""

from __future__ import annotations

from functools import partial

from kits.drafts import make_draft, make_fact_note, make_note

from core.facts.edits import remember
from core.graph.edits import create_note, delete_note, link_notes
from core.model.change import ChangeSet
from core.model.draft import Draft
from nuggets_tui.differences import DiffLine, change_lines, text_lines
from nuggets_tui.widgets.line_view import text_difference

ONE, OTHER = make_note(1, title="One", content="first\nsecond"), make_note(2, title="Other")


def shown(edit: object, draft: Draft | None = None, **titles: str) -> list[str]:
    """The lines of what an edit does to the notes above, each with its sign."""
    draft = draft or make_draft(ONE, OTHER)
    edit(draft)  # type: ignore[operator]
    change_set = draft.change_set("why")
    return [
        f"{line.sign} {line.text}"
        for lines in change_lines(change_set, lambda id: titles.get(id, "?"))
        for line in lines
    ]


def test_a_new_and_a_deleted_note_are_shown_whole() -> None:
    assert shown(partial(create_note, nugget="memory", title="New", content="a\nb")) == [
        "# New", "+ the whole note", "+ a", "+ b",
    ]  # fmt: skip
    assert shown(partial(delete_note, id=ONE.id)) == ["# One", "- the whole note", "- first", "- second"]


def test_links_are_shown_by_title_at_both_ends() -> None:
    draft = make_draft(ONE, OTHER)
    edit = partial(link_notes, a=ONE.id, b=OTHER.id, reason="kin")
    lines = [
        line.text
        for lines in change_lines(_changed(draft, edit), {ONE.id: "One", OTHER.id: "Other"}.__getitem__)
        for line in lines
    ]
    assert 'link to "Other" (kin)' in lines
    assert 'link to "One" (kin)' in lines


def _changed(draft: Draft, edit: object) -> ChangeSet:
    edit(draft)  # type: ignore[operator]
    return draft.change_set("why")


def test_a_fact_stands_with_its_note_once() -> None:
    note = make_fact_note(3, "test cmd", "pytest")
    draft = make_draft(note, facts={"test cmd": "pytest"})
    lines = shown(partial(remember, nugget="memory", key="test cmd", value="pytest -q"), draft)
    assert lines.count("# test cmd") == 1
    assert lines[-2:] == ["- pytest", "+ pytest -q"]


def test_lines_are_left_out_only_where_some_are() -> None:
    before = [str(number) for number in range(20)]
    changed = [*before[:3], "x", *before[4:12], "y", *before[13:]]
    lines = [line for line in text_lines("\n".join(before), "\n".join(changed)) if line.sign != " "]
    assert [f"{line.sign}{line.text}" for line in lines] == ["-3", "+x", "@⋯", "-12", "+y"]
    late = text_lines("\n".join(before), "\n".join([*before[:12], "y", *before[13:]]))
    assert late[0] == DiffLine("@", "⋯")


def styled_parts(before: str, after: str) -> list[tuple[str, list[str]]]:
    """Each line of a difference with the words of it that stand out."""
    found = []
    for line in text_difference(before, after):
        spans = [span for span in line.spans if "underline" in str(span.style)]
        found.append((line.plain, [line.plain[span.start : span.end] for span in spans]))
    return found


def test_words_that_changed_within_a_line_stand_out_by_more_than_colour() -> None:
    parts = styled_parts("Deploys go out on Tuesdays.", "Deploys go out on Fridays, early.")
    assert parts == [
        ("- Deploys go out on Tuesdays.", ["Tuesdays"]),
        ("+ Deploys go out on Fridays, early.", ["Fridays, early"]),
    ]


def test_as_many_lines_as_stand_for_each_other_are_compared_and_the_rest_is_plain() -> None:
    parts = styled_parts("keep this word\nand this line", "keep that word")
    assert parts == [
        ("- keep this word", ["this"]),
        ("- and this line", []),
        ("+ keep that word", ["that"]),
    ]
