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


def test_what_looks_like_a_secret_is_listed_and_never_shown(leaky: Any) -> None:
    shown, document = leaky.ok("secrets"), leaky.json("secrets")
    assert "password" in shown
    assert VALUE not in shown
    assert VALUE not in str(document)
    assert len(document["secrets"]) == 2
    assert document["masked"] is False
    assert {place["what"] for place in document["places"]} >= {"file", "log"}


def test_masking_asks_first(leaky: Any, at_keyboard: Any) -> None:
    before = leaky.bytes()
    assert "--yes" in leaky.fails("secrets", "--mask")
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
    assert "final" in leaky.fails("undo", done["changeSet"])
    assert "no note or fact" in leaky.ok("secrets").lower()


def test_one_is_masked_by_its_id_and_the_values_it_shares_with_others(leaky: Any) -> None:
    leaky.ok("note", "add", "Other", "password: " + "An0ther!one", "--nugget", "home")
    ids = {note["title"]: note["id"] for note in leaky.json("notes")}
    leaky.ok("secrets", "--mask", "--yes", ids["Other"])
    assert ids["Other"] not in str(leaky.json("secrets"))
    assert len(leaky.json("secrets")["secrets"]) == 2
    assert "no secret" in leaky.fails("secrets", ids["Plain"], code=1)


def test_what_is_none_is_said_once(leaky: Any) -> None:
    for one in leaky.json("secrets")["secrets"]:
        leaky.ok("secrets", "--none", one["id"])
    assert leaky.json("secrets")["secrets"] == []
