"""Notes on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest


def add(nuggets: Any, title: str, content: str = "Some text.", *more: str) -> dict[str, Any]:
    return dict(nuggets.json("note", "add", title, content, "--nugget", "project", *more))


def test_a_note_is_added_in_the_shape_of_the_graph_file(nuggets: Any) -> None:
    made = add(nuggets, "JWT format", "RS256.", "--tag", "Auth Flow", "--tag", "keys", "--vectors")
    assert made == nuggets.notes()[0]
    assert made["nuggetName"] == "project"
    assert {"auth-flow", "keys", "project"} <= set(made["tags"])
    assert nuggets.json("note", "show", made["id"], "--vectors") == made


def test_a_note_takes_metadata_by_hand(nuggets: Any) -> None:
    made = add(
        nuggets, "JWT format", "RS256.", "--scope", "user", "--type", "style", "--source", "system",
        "--confidence", "0.7", "--stability", "temporary", "--subject", "user:anna",
    )  # fmt: skip
    assert (made["scope"], made["type"], made["source"]) == ("user", "style", "system")
    assert (made["confidence"], made["stability"], made["subject"]) == (0.7, "temporary", "user:anna")


def test_without_a_nugget_a_note_goes_to_memory(nuggets: Any) -> None:
    assert nuggets.json("note", "add", "A title", "Text")["nuggetName"] == "memory"


def test_content_comes_from_standard_input(nuggets: Any) -> None:
    text = "# Heading\n\n    indented – code\n\ttab\nlast"
    made = nuggets.json("note", "add", "From a pipe", "-", input=text)
    assert made["content"] == text
    changed = nuggets.json("note", "edit", made["id"], "--content", "-", input="other\r\nlines\r\n")
    assert changed["content"] == "other\nlines"


def test_standard_input_that_is_no_text_is_refused(nuggets: Any) -> None:
    assert "UTF-8" in nuggets.fails("note", "add", "x", "-", input=b"\xff\xfe\x00")
    assert not nuggets.home.exists()


@pytest.mark.parametrize("title", ["", "   ", "\n"])
def test_an_empty_title_is_refused(nuggets: Any, title: str) -> None:
    assert "title" in nuggets.fails("note", "add", title, "x")


def test_show_tells_what_a_person_wants_to_know(nuggets: Any) -> None:
    made = add(nuggets, "JWT format", "First line.\nSecond line.", "--tag", "auth")
    other = add(nuggets, "Auth middleware")
    nuggets.ok("note", "link", made["id"], other["id"], "--reason", "uses tokens")
    shown = nuggets.ok("note", "show", "JWT format").splitlines()
    assert shown[0] == "JWT format"
    assert "First line." in shown
    assert "Second line." in shown
    assert "tags: auth" in shown
    assert [line for line in shown if line.startswith("→ Auth middleware  uses tokens")]


def test_a_note_is_found_by_prefix_title_and_end_of_its_id(nuggets: Any) -> None:
    made = add(nuggets, "JWT format")
    for name in (made["id"], made["id"][:-2], "JWT format", "jwt format", made["id"].rpartition("-")[2]):
        assert nuggets.json("note", "show", name)["id"] == made["id"]


def test_a_name_that_fits_several_notes_is_refused(nuggets: Any) -> None:
    first, second = add(nuggets, "One"), add(nuggets, "Two")
    said = nuggets.fails("note", "show", "note-project-")
    assert first["id"] in said
    assert second["id"] in said


def test_an_unknown_note_is_not_found(nuggets: Any) -> None:
    add(nuggets, "One")
    assert "nowhere" in nuggets.fails("note", "show", "nowhere", code=1)


def test_an_edit_changes_what_it_names(nuggets: Any) -> None:
    made = add(nuggets, "JWT format", "Old.", "--tag", "auth", "--tag", "old", "--scope", "shared")
    changed = nuggets.json(
        "note", "edit", made["id"], "--title", "Token format", "--content", "New.", "--tag", "fresh",
        "--untag", "old", "--scope", "user", "--vectors",
    )  # fmt: skip
    assert (changed["title"], changed["content"], changed["scope"]) == ("Token format", "New.", "user")
    assert {"auth", "fresh", "scope:user"} <= set(changed["tags"])
    assert not {"old", f"scope:{made['scope']}"} & set(changed["tags"])
    assert changed == nuggets.notes()[0]


def test_an_edit_of_nothing_is_refused(nuggets: Any) -> None:
    made = add(nuggets, "One")
    assert "no change was given" in nuggets.fails("note", "edit", made["id"])


def test_several_notes_are_hidden_and_brought_back_together(nuggets: Any) -> None:
    one, two = add(nuggets, "One"), add(nuggets, "Two")
    hidden = nuggets.json("note", "hide", one["id"], "Two", one["id"])
    assert [(note["id"], note["hidden"]) for note in hidden] == [(one["id"], True), (two["id"], True)]
    assert nuggets.json("notes") == []
    shown = nuggets.json("note", "unhide", one["id"], two["id"])
    assert [note["hidden"] for note in shown] == [False, False]
    assert all("archivedAt" not in note for note in shown)


def test_one_unknown_note_among_several_changes_none(nuggets: Any) -> None:
    add(nuggets, "One")
    before = nuggets.bytes()
    nuggets.fails("note", "hide", "One", "nowhere", code=1)
    assert nuggets.bytes() == before


def test_delete_needs_a_yes_without_a_terminal(nuggets: Any) -> None:
    made = add(nuggets, "One")
    assert "--yes" in nuggets.fails("note", "delete", made["id"])
    assert len(nuggets.notes()) == 1
    assert nuggets.json("note", "delete", made["id"], "--yes") == {"deleted": True, "id": made["id"]}
    assert nuggets.notes() == []


def test_delete_asks_a_person(nuggets: Any, at_keyboard: Any) -> None:
    made = add(nuggets, "One")
    at_keyboard()
    assert json.loads(nuggets.ok("note", "delete", "One", "--json", input="n\n"))["deleted"] is False
    assert len(nuggets.notes()) == 1
    assert made["id"] in nuggets.ok("note", "delete", "One", input="y\n")
    assert nuggets.notes() == []


def test_links_stand_on_both_notes_and_go_from_both(nuggets: Any) -> None:
    one, two = add(nuggets, "One"), add(nuggets, "Two")
    pair = nuggets.json("note", "link", "One", "Two", "--reason", "follows")
    assert [note["id"] for note in pair] == [one["id"], two["id"]]
    assert [(n["links"][0]["to"], n["links"][0]["reason"]) for n in pair] == [
        (two["id"], "follows"),
        (one["id"], "follows"),
    ]
    nuggets.fails("note", "unlink", "One", "Two", "--reason", "other", code=1)
    assert [note["links"] for note in nuggets.json("note", "unlink", "One", "Two")] == [[], []]
    nuggets.fails("note", "unlink", "One", "Two", code=1)
    nuggets.fails("note", "link", "One", "One")


def test_merge_keeps_every_line_and_hides_the_other(nuggets: Any) -> None:
    add(nuggets, "One", "first")
    add(nuggets, "Two", "second")
    survivor = nuggets.json("note", "merge", "One", "Two")
    assert survivor["title"] == "One"
    assert survivor["content"].split() == ["first", "second"]
    assert [note["title"] for note in nuggets.json("notes")] == ["One"]


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
    assert titles("--tag", "red") == ["beta"]
    assert titles("--scope", "shared") == ["Alpha", "gamma"]
    assert titles("--type", "style") == ["beta"]
    assert titles("--subject", "user:anna") == ["Alpha"]
    assert titles("--scope", "session") == []
    nuggets.ok("note", "hide", "gamma")
    assert titles() == ["Alpha", "beta"]
    assert titles("--include-hidden") == ["Alpha", "beta", "gamma"]
    for order in ("newest", "recalls", "care"):
        assert len(nuggets.json("notes", "--sort", order)) == 2
    assert "1 of 2 notes" in nuggets.ok("notes", "--limit", "1")


def test_notes_of_an_unknown_nugget_are_not_found(nuggets: Any) -> None:
    add(nuggets, "One")
    assert "project" in nuggets.fails("notes", "--nugget", "projct", code=1)


def test_a_merge_takes_each_field_from_the_note_that_is_named(nuggets: Any) -> None:
    nuggets.ok(
        "note",
        "add",
        "Short",
        "alpha",
        "--nugget",
        "p",
        "--tag",
        "one",
        "--scope",
        "user",
        "--confidence",
        "0.2",
    )
    nuggets.ok("note", "add", "Long", "beta", "--nugget", "p", "--tag", "two", "--scope", "project")
    merged = nuggets.json(
        "note", "merge", "Short", "Long", "--title", "other", "--content", "other", "--tags", "survivor",
        "--scope", "other", "--confidence", "survivor",
    )  # fmt: skip
    assert (merged["title"], merged["content"], merged["scope"]) == ("Long", "beta", "project")
    assert merged["confidence"] == 0.2
    assert "one" in merged["tags"]
    assert "two" not in merged["tags"]
    nuggets.fails("note", "merge", "Short", "Long", "--title", "both")


def test_two_notes_can_be_told_apart_for_good(nuggets: Any) -> None:
    text = "Bravo charlie delta echo foxtrot golf hotel india juliet."
    for title in ("Twin", "Twin two"):
        nuggets.ok("note", "add", title, text, "--nugget", "p")
    assert nuggets.json("reflect", "--dry-run")["merged"] == 1
    assert "Marked as no duplicates" in nuggets.ok("note", "merge", "Twin", "Twin two", "--not-duplicates")
    assert nuggets.json("reflect", "--dry-run")["merged"] == 0
    assert not any(note["hidden"] for note in nuggets.notes())
    nuggets.fails("note", "merge", "Twin", "Twin", "--not-duplicates")
    nuggets.ok("undo")
    assert nuggets.json("reflect", "--dry-run")["merged"] == 1


def test_several_notes_are_tagged_and_moved_as_one_change_each(nuggets: Any) -> None:
    one, two = add(nuggets, "One", "x", "--tag", "draft"), add(nuggets, "Two", "x", "--scope", "user")
    tagged = nuggets.json("note", "tag", "One", two["id"], "--tag", "Auth Flow", "--untag", "draft")
    assert [note["id"] for note in tagged] == [one["id"], two["id"]]
    assert all("auth-flow" in note["tags"] and "draft" not in note["tags"] for note in nuggets.notes())
    moved = nuggets.json("note", "move", "session", "One", "Two")
    assert [(note["scope"], note["subject"], note["stability"]) for note in moved] == [
        ("session", "session:current", "temporary")
    ] * 2
    nuggets.ok("undo")
    assert [note["scope"] for note in nuggets.notes()] == [one["scope"], "user"]
    nuggets.ok("undo")
    assert [note["tags"] for note in nuggets.notes()] == [one["tags"], two["tags"]]


def test_no_tag_an_unknown_scope_and_a_note_that_is_not_there_change_nothing(nuggets: Any) -> None:
    add(nuggets, "One")
    before = nuggets.notes()
    nuggets.fails("note", "tag", "One")
    nuggets.fails("note", "move", "galaxy", "One")
    nuggets.fails("note", "move", "project", "One", "nowhere", code=1)
    assert nuggets.notes() == before


def test_one_sign_that_people_put_before_a_tag_is_taken_off(nuggets: Any) -> None:
    made = add(nuggets, "JWT format", "RS256.", "--tag", "#auth", "--tag", "c++")
    assert {"auth", "c++"} <= set(made["tags"])
    assert "#auth" not in made["tags"]
    (tagged,) = nuggets.json("note", "tag", "JWT format", "--tag", "+keys", "--untag", "#auth")
    assert ("keys" in tagged["tags"], "auth" in tagged["tags"]) == (True, False)


def test_a_plus_before_a_word_gives_a_tag_and_no_tag_says_how(nuggets: Any) -> None:
    add(nuggets, "JWT format")
    (tagged,) = nuggets.json("note", "tag", "JWT format", "+keys")
    assert "keys" in tagged["tags"]
    assert "--tag TAG --untag TAG" in nuggets.fails("note", "tag", "JWT format")
    assert "no note was given" in nuggets.fails("note", "tag", "+keys")


def test_show_names_the_nugget_and_add_says_when_it_is_a_new_one(nuggets: Any) -> None:
    assert "project is a new nugget." in nuggets.ok("note", "add", "One", "x", "--nugget", "project")
    assert "new nugget" not in nuggets.ok("note", "add", "Two", "x", "--nugget", "project")
    assert "nugget project" in nuggets.ok("note", "show", "Two")
    said = nuggets.ok("note", "add", "Three", "x", "--nugget", "projcet")
    assert "projcet is a new nugget; there is also project." in said


@pytest.mark.slow
def test_json_of_notes_leaves_out_vectors_unless_they_are_asked_for(nuggets: Any) -> None:
    one = nuggets.json("note", "add", "One", "text")["id"]
    two = nuggets.json("note", "add", "Two", "text")["id"]
    for args in (
        ("note", "show", one), ("note", "edit", one, "--title", "Eins"), ("note", "tag", one, "--tag", "x"),
        ("note", "move", "shared", one), ("note", "link", one, two), ("note", "unlink", one, two),
        ("note", "hide", one), ("note", "unhide", one), ("notes",), ("note", "merge", one, two),
    ):  # fmt: skip
        found = nuggets.json(*args)
        assert "vector" not in (found if isinstance(found, dict) else found[0]), args
        asked = nuggets.json(*args, "--vectors") if args[1:2] not in (("unlink",), ("merge",)) else None
        if asked:
            assert set((asked if isinstance(asked, dict) else asked[0])["vector"]) == {"seed", "basis"}, args
    assert all("vector" in note for note in nuggets.notes())


@pytest.mark.parametrize(
    "args",
    [
        ("note", "show"),
        ("note", "hide"),
        ("note", "delete"),
        ("search", "a question", "--explain"),
        ("log", "--note"),
        ("restore", "1h", "--note"),
    ],
)
def test_a_mistyped_title_gets_a_suggestion_wherever_a_note_is_named(
    nuggets: Any, args: tuple[str, ...]
) -> None:
    nuggets.ok("note", "add", "Zebra crossing", "Look left first.")
    assert 'did you mean "Zebra crossing"?' in nuggets.fails(*args, "Zebra crosing", code=1)


@pytest.mark.parametrize("reason", [(), ("--reason", "related"), ("--reason", " uses  tokens ")])
@pytest.mark.parametrize("ends", [("JWT format", "Other"), ("Other", "JWT format")])
def test_linking_notes_that_are_linked_already_says_so_and_writes_nothing(
    nuggets: Any, reason: tuple[str, ...], ends: tuple[str, str]
) -> None:
    for title in ("JWT format", "Other"):
        nuggets.ok("note", "add", title, "text")
    nuggets.ok("note", "link", "JWT format", "Other", "--reason", "uses tokens")
    before, entries = nuggets.bytes(), len(nuggets.json("log"))
    said = nuggets.ok("note", "link", *ends, *reason)
    assert "already linked (uses tokens)" in said
    assert nuggets.bytes() == before
    assert len(nuggets.json("log")) == entries
