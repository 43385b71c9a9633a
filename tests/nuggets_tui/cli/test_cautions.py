"""A text that looks like it holds a credential is written all the same, and said to at once, with what to do."""

from __future__ import annotations

import json
from typing import Any

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


def test_note_add_says_it_of_a_title_too(nuggets: Any) -> None:
    warning = warned(nuggets, "note", "add", "Wifi", "-", input=SAID)
    assert [note["content"] for note in nuggets.notes()] == [SAID, SAID]
    assert warning["id"] == nuggets.notes()[1]["id"]
    warned(nuggets, "note", "add", SAID, "in the title")


def test_ingest_says_it_of_the_text(nuggets: Any) -> None:
    warning = warned(nuggets, "ingest", "-", input=f"Anna runs staging. {SAID} there.")
    assert warning["id"].startswith("raw-")
    assert "no model sees" in warning["message"]
