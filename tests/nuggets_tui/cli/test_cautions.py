"""A text that looks like it holds a credential is written all the same, and said to at once, with what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

VALUE = "Blau3" + "Katze!77"
SAID = f"The password is {VALUE}"


def warned(nuggets: Any, *args: str, input: str | None = None) -> dict[str, Any]:
    """The one warning of a call, said alike on standard error and in JSON; it never holds the value."""
    told = nuggets(*args, input=input)
    assert told.exit_code == 0
    assert VALUE not in told.stderr
    asked = nuggets(*args, "--json", input=input)
    assert asked.exit_code == 0
    assert asked.stderr == ""
    (warning,) = json.loads(asked.stdout)["warnings"]
    assert VALUE not in str(warning)
    assert warning["code"] == "credential"
    assert warning["kinds"] == ["password"]
    assert "looks like it holds a credential (password)" in told.stderr
    assert told.stderr.startswith("warning: ")
    for way in ("--mask", "--none"):
        assert f"nuggets secrets {way} {warning['id']}" in warning["message"]
    return dict(warning)


def test_remember_stores_it_and_says_so(nuggets: Any) -> None:
    warning = warned(nuggets, "remember", "home", "wifi password", VALUE)
    assert nuggets.json("notes", "--facts", "--nugget", "home")[0]["value"] == VALUE
    assert warning["id"] == nuggets.notes()[0]["id"]


def test_note_add_says_it_of_a_title_too(nuggets: Any) -> None:
    warning = warned(nuggets, "note", "add", "Wifi", "-", input=SAID)
    assert [note["content"] for note in nuggets.notes()] == [SAID, SAID]
    assert warning["id"] == nuggets.notes()[1]["id"]
    warned(nuggets, "note", "add", SAID, "in the title")


def test_note_edit_says_it_of_what_was_typed_alone(nuggets: Any) -> None:
    id = nuggets.json("note", "add", "Wifi", "in the vault")["id"]
    warned(nuggets, "note", "edit", id, "--content", SAID)
    told = nuggets("note", "edit", id, "--tag", "wifi")
    assert (told.exit_code, told.stderr) == (0, "")
    assert "warnings" not in nuggets.json("note", "edit", id, "--untag", "wifi")


def test_ingest_says_it_of_the_text(nuggets: Any) -> None:
    warning = warned(nuggets, "ingest", "-", input=f"Anna runs staging. {SAID} there.")
    assert warning["id"].startswith("raw-")
    assert "no model sees" in warning["message"]


@pytest.mark.parametrize("what", ["note", "text"])
def test_the_ways_it_names_end_it(nuggets: Any, what: str) -> None:
    args = ("note", "add", "Wifi", SAID) if what == "note" else ("ingest", "-")
    said = None if what == "note" else SAID
    warning = nuggets.json(*args, input=said)["warnings"][0]
    nuggets.ok("secrets", "--none", warning["id"])
    if what == "note":
        again = nuggets.json("note", "edit", warning["id"], "--content", SAID + ".")
    else:
        again = nuggets.json(*args, input=said)
    assert "warnings" not in again
    other = nuggets.json("note", "add", "Other", "password: " + "An0ther!one")["warnings"][0]
    nuggets.ok("secrets", "--mask", other["id"], "--yes")
    assert "An0ther" not in str(nuggets.notes())
