"""Notes on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest


def add(nuggets: Any, title: str, content: str = "Some text.", *more: str) -> dict[str, Any]:
    return dict(nuggets.json("note", "add", title, content, "--nugget", "project", *more))


# One note


def test_a_note_is_added_in_the_shape_of_the_graph_file_with_metadata_by_hand(nuggets: Any) -> None:
    made = add(
        nuggets, "JWT format", "RS256.", "--tag", "Auth Flow", "--tag", "#keys", "--vectors", "--scope", "user",
        "--type", "style", "--source", "system", "--confidence", "0.7", "--stability", "temporary",
        "--subject", "user:anna",
    )  # fmt: skip
    assert made == nuggets.notes()[0]
    assert made["nuggetName"] == "project"
    assert {"auth-flow", "keys", "project"} <= set(made["tags"])
    assert (made["scope"], made["type"], made["source"]) == ("user", "style", "system")
    assert (made["confidence"], made["stability"], made["subject"]) == (0.7, "temporary", "user:anna")
    assert nuggets.json("note", "show", made["id"], "--vectors") == made
    assert nuggets.json("note", "add", "A title", "Text")["nuggetName"] == "memory"


def test_content_comes_from_standard_input(nuggets: Any) -> None:
    text = "# Heading\n\n    indented – code\n\ttab\nlast"
    made = nuggets.json("note", "add", "From a pipe", "-", input=text)
    assert made["content"] == text
    changed = nuggets.json("note", "edit", made["id"], "--content", "-", input="other\r\nlines\r\n")
    assert changed["content"] == "other\nlines"


def test_what_cannot_be_stored_is_refused(nuggets: Any) -> None:
    assert "UTF-8" in nuggets.fails("note", "add", "x", "-", input=b"\xff\xfe\x00")
    for title in ("", "   ", "\n"):
        assert "title" in nuggets.fails("note", "add", title, "x")
    nuggets.fails("note", "add", "x", "x", "--confidence", "1.5")
    assert not nuggets.home.exists()


def test_show_tells_what_a_person_wants_to_know(nuggets: Any) -> None:
    made = add(nuggets, "JWT format", "First line.\nSecond line.", "--tag", "auth")
    other = add(nuggets, "Auth middleware")
    nuggets.ok("note", "link", made["id"], other["id"], "--reason", "uses tokens")
    shown = nuggets.ok("note", "show", "JWT format").splitlines()
    assert shown[0] == "JWT format"
    assert {"First line.", "Second line.", "tags: auth"} <= set(shown)
    assert [line for line in shown if line.startswith("→ Auth middleware  uses tokens")]


def test_a_note_is_named_by_prefix_title_and_end_of_its_id(nuggets: Any) -> None:
    first, second = add(nuggets, "One"), add(nuggets, "Two")
    for name in (first["id"], first["id"][:-2], "One", "one", first["id"].rpartition("-")[2]):
        assert nuggets.json("note", "show", name)["id"] == first["id"]
    said = nuggets.fails("note", "show", "note-project-")
    assert first["id"] in said
    assert second["id"] in said
    assert "nowhere" in nuggets.fails("note", "show", "nowhere", code=1)


@pytest.mark.parametrize(
    "args",
    [
        ("note", "show"), ("note", "delete"), ("search", "a question", "--explain"), ("log", "--note"),
        ("restore", "1h", "--note"),
    ],
)  # fmt: skip
def test_a_mistyped_title_gets_a_suggestion_wherever_a_note_is_named(
    nuggets: Any, args: tuple[str, ...]
) -> None:
    nuggets.ok("note", "add", "Zebra crossing", "Look left first.")
    assert 'did you mean "Zebra crossing"?' in nuggets.fails(*args, "Zebra crosing", code=1)


def test_an_edit_changes_what_it_names_and_one_of_nothing_is_refused(nuggets: Any) -> None:
    made = add(nuggets, "JWT format", "Old.", "--tag", "auth", "--tag", "old", "--scope", "shared")
    changed = nuggets.json(
        "note", "edit", made["id"], "--title", "Token format", "--content", "New.", "--tag", "fresh",
        "--untag", "old", "--scope", "user", "--vectors",
    )  # fmt: skip
    assert (changed["title"], changed["content"], changed["scope"]) == ("Token format", "New.", "user")
    assert {"auth", "fresh", "scope:user"} <= set(changed["tags"])
    assert not {"old", f"scope:{made['scope']}"} & set(changed["tags"])
    assert changed == nuggets.notes()[0]
    nuggets.fails("note", "edit", made["id"])


def test_delete_asks_a_person_and_needs_a_yes_elsewhere(nuggets: Any, at_keyboard: Any) -> None:
    made, other = add(nuggets, "One"), add(nuggets, "Two")
    assert "--yes" in nuggets.fails("note", "delete", made["id"])
    assert nuggets.json("note", "delete", other["id"], "--yes") == {"deleted": True, "id": other["id"]}
    at_keyboard()
    assert json.loads(nuggets.ok("note", "delete", "One", "--json", input="n\n"))["deleted"] is False
    assert len(nuggets.notes()) == 1
    nuggets.ok("note", "delete", "One", input="y\n")
    assert nuggets.notes() == []


# Several


def test_several_notes_are_hidden_and_brought_back_together_or_none(nuggets: Any) -> None:
    one, two = add(nuggets, "One"), add(nuggets, "Two")
    hidden = nuggets.json("note", "hide", one["id"], "Two", one["id"])
    assert [(note["id"], note["hidden"]) for note in hidden] == [(one["id"], True), (two["id"], True)]
    assert nuggets.json("notes") == []
    shown = nuggets.json("note", "unhide", one["id"], two["id"])
    assert [(note["hidden"], "archivedAt" in note) for note in shown] == [(False, False)] * 2
    before = nuggets.bytes()
    for args in (("hide", "One", "nowhere"), ("move", "project", "One", "nowhere")):
        nuggets.fails("note", *args, code=1)
    for words in ("tag One", "tag +keys", "move galaxy One"):
        nuggets.fails("note", *words.split())
    assert nuggets.bytes() == before


def test_several_notes_are_tagged_and_moved_as_one_change_each(nuggets: Any) -> None:
    one, two = add(nuggets, "One", "x", "--tag", "draft"), add(nuggets, "Two", "x", "--scope", "user")
    tagged = nuggets.json("note", "tag", "One", two["id"], "+c++", "--tag", "Auth Flow", "--untag", "#draft")
    assert [note["id"] for note in tagged] == [one["id"], two["id"]]
    for note in nuggets.notes():
        assert {"auth-flow", "c++"} <= set(note["tags"])
        assert "draft" not in note["tags"]
    moved = nuggets.json("note", "move", "session", "One", "Two")
    assert [(note["scope"], note["subject"], note["stability"]) for note in moved] == [
        ("session", "session:current", "temporary")
    ] * 2
    nuggets.ok("undo")
    assert [note["scope"] for note in nuggets.notes()] == [one["scope"], "user"]
    nuggets.ok("undo")
    assert [note["tags"] for note in nuggets.notes()] == [one["tags"], two["tags"]]


def test_links_stand_on_both_notes_and_go_from_both(nuggets: Any) -> None:
    one, two = add(nuggets, "One"), add(nuggets, "Two")
    pair = nuggets.json("note", "link", "One", "Two", "--reason", "follows")
    assert [note["id"] for note in pair] == [one["id"], two["id"]]
    links = [(note["links"][0]["to"], note["links"][0]["reason"]) for note in pair]
    assert links == [(two["id"], "follows"), (one["id"], "follows")]
    before, entries = nuggets.bytes(), len(nuggets.json("log"))
    for again in (
        ("One", "Two"),
        ("Two", "One", "--reason", "related"),
        ("One", "Two", "--reason", " follows "),
    ):
        nuggets.ok("note", "link", *again)
    assert (nuggets.bytes(), len(nuggets.json("log"))) == (before, entries)
    nuggets.fails("note", "unlink", "One", "Two", "--reason", "other", code=1)
    assert [note["links"] for note in nuggets.json("note", "unlink", "One", "Two")] == [[], []]
    nuggets.fails("note", "unlink", "One", "Two", code=1)
    nuggets.fails("note", "link", "One", "One")


def test_a_merge_keeps_every_line_or_takes_each_field_from_the_note_that_is_named(nuggets: Any) -> None:
    add(nuggets, "Short", "alpha", "--tag", "one", "--scope", "user", "--confidence", "0.2")
    add(nuggets, "Long", "beta", "--tag", "two", "--scope", "project")
    survivor = nuggets.json("note", "merge", "Short", "Long")
    assert (survivor["title"], survivor["content"].split()) == ("Short", ["alpha", "beta"])
    assert [note["title"] for note in nuggets.json("notes")] == ["Short"]
    nuggets.ok("undo")
    merged = nuggets.json(
        "note", "merge", "Short", "Long", "--title", "other", "--content", "other", "--tags", "survivor",
        "--scope", "other", "--confidence", "survivor",
    )  # fmt: skip
    assert (merged["title"], merged["content"], merged["scope"]) == ("Long", "beta", "project")
    assert (merged["confidence"], "one" in merged["tags"], "two" in merged["tags"]) == (0.2, True, False)
    nuggets.fails("note", "merge", "Short", "Long", "--title", "both")


def test_two_notes_can_be_told_apart_for_good(nuggets: Any) -> None:
    text = "Bravo charlie delta echo foxtrot golf hotel india juliet."
    for title in ("Twin", "Twin two"):
        nuggets.ok("note", "add", title, text, "--nugget", "p")
    assert nuggets.json("reflect", "--dry-run")["merged"] == 1
    nuggets.ok("note", "merge", "Twin", "Twin two", "--not-duplicates")
    assert nuggets.json("reflect", "--dry-run")["merged"] == 0
    assert not any(note["hidden"] for note in nuggets.notes())
    nuggets.fails("note", "merge", "Twin", "Twin", "--not-duplicates")
    nuggets.ok("undo")
    assert nuggets.json("reflect", "--dry-run")["merged"] == 1


# The list


@pytest.mark.slow
def test_notes_are_filtered_sorted_and_limited(nuggets: Any) -> None:
    add(nuggets, "beta", "x", "--tag", "red", "--scope", "user", "--type", "style")
    add(nuggets, "Alpha", "x", "--scope", "shared", "--subject", "user:anna")
    nuggets.ok("note", "add", "gamma", "x", "--nugget", "other", "--scope", "shared")

    def titles(*args: str) -> list[str]:
        return [note["title"] for note in nuggets.json("notes", "--sort", "title", *args)]

    assert titles() == ["Alpha", "beta", "gamma"]
    assert titles("--limit", "2") == ["Alpha", "beta"]
    assert titles("--nugget", "other") == ["gamma"]
    assert titles("--tag", "red") == titles("--type", "style") == ["beta"]
    assert titles("--scope", "shared") == ["Alpha", "gamma"]
    assert titles("--subject", "user:anna") == ["Alpha"]
    assert titles("--scope", "session") == []
    nuggets.ok("note", "hide", "gamma")
    assert titles() == ["Alpha", "beta"]
    assert titles("--include-hidden") == ["Alpha", "beta", "gamma"]
    for order in ("newest", "recalls", "care"):
        assert len(nuggets.json("notes", "--sort", order)) == 2
    assert "1 of 2 notes" in nuggets.ok("notes", "--limit", "1")
    assert "project" in nuggets.fails("notes", "--nugget", "projct", code=1)


def test_a_new_nugget_is_named_with_the_one_it_may_have_been_meant_for(nuggets: Any) -> None:
    assert "project is a new nugget." in nuggets.ok("note", "add", "One", "x", "--nugget", "project")
    assert "new nugget" not in nuggets.ok("note", "add", "Two", "x", "--nugget", "project")
    said = nuggets.ok("note", "add", "Three", "x", "--nugget", "projcet")
    assert "projcet is a new nugget; there is also project." in said


@pytest.mark.slow
def test_json_of_notes_leaves_out_vectors_unless_they_are_asked_for(nuggets: Any) -> None:
    one = nuggets.json("note", "add", "One", "text")["id"]
    two = nuggets.json("note", "add", "Two", "text")["id"]
    for args in (
        ("note", "show", one), ("note", "edit", one, "--title", "Eins"), ("note", "tag", one, "--tag", "x"),
        ("note", "move", "shared", one), ("note", "link", one, two), ("note", "hide", one), ("notes",),
    ):  # fmt: skip
        found, asked = nuggets.json(*args), nuggets.json(*args, "--vectors")
        found, asked = (one if isinstance(one, dict) else one[0] for one in (found, asked))
        assert ("vector" in found, set(asked["vector"])) == (False, {"seed", "basis"}), args
    assert all("vector" in note for note in nuggets.notes())
