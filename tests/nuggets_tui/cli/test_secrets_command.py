"""`nuggets secrets`: lists what looks like a credential without ever showing it, and masks it for good."""

from __future__ import annotations

from typing import Any

import pytest

VALUE = "Blau3" + "Katze!77"


@pytest.fixture
def leaky(nuggets: Any) -> Any:
    nuggets.ok("note", "add", "Wifi", f"The password is {VALUE}", "--nugget", "home")
    nuggets.ok("remember", "home", f"wifi password {VALUE}", f"password: {VALUE}")
    nuggets.ok("note", "add", "Plain", "The password is in the vault.", "--nugget", "home")
    return nuggets


def test_undo_right_after_masking_undoes_nothing_and_names_what_came_before(leaky: Any) -> None:
    leaky.ok("secrets", "--mask", "--yes")
    before = leaky.json("log")
    said = leaky.fails("undo")
    assert "masking cannot be undone" in said
    assert leaky.json("log") == before
    earlier = before["entries"][1]["id"] if isinstance(before, dict) else before[1]["id"]
    assert f"nuggets undo {earlier}" in said
    leaky.ok("undo", earlier)


def test_masked_it_stands_nowhere_any_more(leaky: Any) -> None:
    done = leaky.json("secrets", "--mask", "--yes")
    assert done["masked"]
    assert len(done["secrets"]) == 2
    for path in leaky.home.rglob("*"):
        assert not path.is_file() or VALUE.encode() not in path.read_bytes()
    assert VALUE not in leaky.ok("log", "--json")
    assert "masking cannot be undone" in leaky.fails("undo", done["changeSet"])
    assert "no note, fact or submitted text" in leaky.ok("secrets").lower()


def test_what_cannot_be_masked_is_named_and_fails_the_command(nuggets: Any) -> None:
    token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    nuggets.ok("remember", "web", "db", "password: Zx9qWert7kk")
    nuggets.ok("remember", f"pw-{token}", "one", "two")
    note = nuggets.json("note", "add", "Login", f"export API_KEY={token}", "--nugget", "web")["id"]
    for _ in range(2):
        done = nuggets.json("secrets", "--mask", "--yes", code=1)
        assert [one["id"] for one in done["refused"]] == [note]
