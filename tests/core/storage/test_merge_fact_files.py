"""Three versions of one fact file merged into one: the laws, the places of facts, renamed keys and conflicts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import fact_object
from kits.three_versions import Facts, facts_in, merged, nugget

from core.storage.merge.files import MergeResult

LAWS = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FACTS: Facts = [fact_object(key, key.upper()) for key in "abcde"]


def with_fact(facts: Facts, key: str, **fields: Any) -> Facts:
    return [fact | fields if fact["key"] == key else fact for fact in facts]


@st.composite
def edited_facts(draw: st.DrawFn, side: str) -> Facts:
    facts = list(FACTS)
    for key in "abcde":
        edit = draw(st.sampled_from(("", "", "", "value", "hits", "unknown", "gone")))
        if edit == "gone":
            facts = [fact for fact in facts if fact["key"] != key]
        fields = {
            "value": {"value": f"by {side}"},
            "hits": {"hits": 2, "last_hit_session": side},
            "unknown": {side: 1},
        }
        facts = with_fact(facts, key, **fields.get(edit, {}))
    new = draw(st.lists(st.sampled_from("xyz"), unique=True, max_size=2))
    return [*facts, *(fact_object(f"{key} of {side}") for key in new)]


@pytest.mark.slow
@LAWS
@given(ours=edited_facts("ours"), theirs=edited_facts("theirs"))
def test_the_laws_hold_for_facts_too(ours: Facts, theirs: Facts) -> None:
    base, mine, other = nugget(FACTS), nugget(ours), nugget(theirs)
    assert merged(base, mine, base) == (MergeResult(True), mine)
    assert sorted(json.loads(merged(base, base, other)[1])["facts"], key=str) == sorted(theirs, key=str)
    one, forward = merged(base, mine, other)
    two, backward = merged(base, other, mine)
    assert one.merged is two.merged
    if one.merged:
        assert sorted(json.loads(forward)["facts"], key=str) == sorted(json.loads(backward)["facts"], key=str)
    keys = [[fact["key"] for fact in side] for side in (FACTS, ours, theirs)]
    found = list(facts_in(forward))
    assert set(found) >= (set(keys[1]) | set(keys[2])) - (set("abcde") - set(keys[1])) - (
        set("abcde") - set(keys[2])
    )
    assert [key for key in found if key in keys[1]] == [key for key in keys[1] if key in found]


def test_facts_keep_the_places_they_have_in_ours_and_new_ones_of_theirs_follow() -> None:
    ours = nugget([fact_object("first"), *FACTS])
    theirs = nugget([fact_object("new"), *reversed(with_fact(FACTS, "b", value="T"))])
    result, data = merged(nugget(FACTS), ours, theirs)
    assert list(facts_in(data)) == ["first", *"abcde", "new"]
    assert facts_in(data)["b"] == "T"
    assert result == MergeResult(True, facts=2)
    assert nugget([fact_object("first")])[:-100].startswith(data[:60])


def test_a_key_that_another_program_put_a_scope_before_stays_in_its_place() -> None:
    theirs = nugget([fact | {"key": f"user:{fact['key']}"} for fact in FACTS])
    ours = nugget(with_fact(FACTS, "b", value="O"))
    result, data = merged(nugget(FACTS), ours, theirs)
    assert result.merged
    assert facts_in(data) == {f"user:{key}": "O" if key == "b" else key.upper() for key in "abcde"}


def test_a_key_stored_by_both_sides_stands_once() -> None:
    one, other = (
        nugget([*FACTS, fact_object("new", value, hits=hits)]) for value, hits in (("v", 1), ("v", 3))
    )
    result, data = merged(nugget(FACTS), one, other)
    assert result.merged
    assert json.loads(data)["facts"][-1] == fact_object("new", "v", hits=3)
    result, data = merged(nugget(FACTS), one, nugget([*FACTS, fact_object("new", "w")]))
    assert [(conflict.ours, conflict.theirs) for conflict in result.conflicts] == [("v", "w")]
    assert facts_in(data)["new"] == "v"


def test_settings_of_a_nugget_merge() -> None:
    result, data = merged(
        nugget(FACTS, version=3), nugget(FACTS, banks=8), nugget(FACTS, max_facts=9, extra="x")
    )
    top = json.loads(data)
    assert result.merged
    assert (top["version"], top["banks"], top["max_facts"], top["extra"]) == (4, 8, 9, "x")
