"""`nuggets secrets`: lists what looks like a credential without ever showing it, and masks it for good."""

from __future__ import annotations

import json
from typing import Any

import pytest

VALUE = "Blau3" + "Katze!77"


@pytest.fixture
def leaky(nuggets: Any) -> Any:
    nuggets.ok("note", "add", "Wifi", f"The password is {VALUE}", "--nugget", "home")
    nuggets.ok("remember", "home", f"wifi password {VALUE}", f"password: {VALUE}")
    nuggets.ok("note", "add", "Plain", "The password is in the vault.", "--nugget", "home")
    return nuggets


def test_what_looks_like_a_secret_is_listed_and_never_shown(leaky: Any) -> None:
    shown, document = leaky.ok("secrets"), leaky.json("secrets")
    assert "password" in shown
    assert VALUE not in shown
    assert VALUE not in str(document)
    assert len(document["secrets"]) == 2
    assert document["masked"] is False
    assert {place["what"] for place in document["places"]} >= {"file", "log"}


def test_undo_right_after_masking_undoes_nothing_and_names_what_came_before(leaky: Any) -> None:
    leaky.ok("secrets", "--mask", "--yes")
    before = leaky.json("log")
    said = leaky.fails("undo")
    assert "masking cannot be undone" in said
    assert leaky.json("log") == before
    earlier = before["entries"][1]["id"] if isinstance(before, dict) else before[1]["id"]
    assert f"nuggets undo {earlier}" in said
    leaky.ok("undo", earlier)


@pytest.mark.slow
def test_masking_asks_first(leaky: Any, at_keyboard: Any) -> None:
    before = leaky.bytes()
    # Where nobody can be asked, what would be masked is shown all the same.
    refused = leaky("secrets", "--mask")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "wifi password" in refused.stderr
    assert VALUE not in refused.stderr
    assert "--yes" in refused.stderr.splitlines()[-1]
    at_keyboard()
    assert "Nothing was masked" in leaky("secrets", "--mask", input="n\n").stdout
    assert leaky.bytes() == before
    assert "Masked 2" in leaky("secrets", "--mask", input="y\n").stdout
    assert leaky.json("secrets")["secrets"] == []


def test_masked_it_stands_nowhere_any_more(leaky: Any) -> None:
    done = leaky.json("secrets", "--mask", "--yes")
    assert done["masked"]
    assert len(done["secrets"]) == 2
    for path in leaky.home.rglob("*"):
        assert not path.is_file() or VALUE.encode() not in path.read_bytes()
    assert VALUE not in leaky.ok("log", "--json")
    assert "masking cannot be undone" in leaky.fails("undo", done["changeSet"])
    assert "no note, fact or submitted text" in leaky.ok("secrets").lower()


def test_what_is_none_is_said_once(leaky: Any) -> None:
    for one in leaky.json("secrets")["secrets"]:
        leaky.ok("secrets", "--none", one["id"])
    assert leaky.json("secrets")["secrets"] == []


@pytest.mark.slow
def test_a_text_that_was_handed_in_is_listed_and_masked_with_all_that_came_of_it(nuggets: Any) -> None:
    handed = nuggets.json("ingest", input=f"Anna runs staging. The staging password is {VALUE} for now.")[
        "id"
    ]
    shown = nuggets.ok("secrets")
    assert handed in shown
    assert "[masked: password]" in shown
    assert "in 1 submitted text of the pipeline" in shown
    assert VALUE not in shown
    document = nuggets.json("secrets", handed)
    assert document["secrets"][0] == {"id": handed, "noteId": None, "nugget": "memory", "kinds": ["password"]}
    assert document["places"][0] | {"path": ""} == {
        "what": "pipeline", "path": "", "count": 1, "deleted": False, "part": "raw_memories",
    }  # fmt: skip
    assert document["untouched"] == []
    done = nuggets.json("secrets", "--mask", "--yes")
    assert done["masked"]
    assert done["changeSet"] is None
    for path in nuggets.home.rglob("*"):
        assert not path.is_file() or VALUE.encode() not in path.read_bytes()
    assert "no note, fact or submitted text" in nuggets.ok("secrets").lower()


@pytest.mark.slow
def test_a_file_that_holds_it_after_all_is_named_and_the_command_ends_with_one(leaky: Any) -> None:
    mine = leaky.home / "mine.txt"
    mine.write_text(f"I wrote {VALUE}")
    done = leaky("secrets", "--mask", "--yes", "--json")
    assert done.exit_code == 1
    assert [one["path"] for one in json.loads(done.stdout)["left"]] == [str(mine)]
    assert mine.read_text() == f"I wrote {VALUE}"


def test_what_cannot_be_masked_is_named_and_fails_the_command(nuggets: Any) -> None:
    token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    nuggets.ok("remember", "web", "db", "password: Zx9qWert7kk")
    nuggets.ok("remember", f"pw-{token}", "one", "two")
    note = nuggets.json("note", "add", "Login", f"export API_KEY={token}", "--nugget", "web")["id"]
    for _ in range(2):
        done = nuggets.json("secrets", "--mask", "--yes", code=1)
        assert [one["id"] for one in done["refused"]] == [note]
