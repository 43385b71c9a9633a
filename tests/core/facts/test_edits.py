"""Facts remembered, forgotten, cleared and recalled: each keeps the fact and its note one thing."""

from __future__ import annotations

import pytest
from kits.drafts import (
    LONG_AGO,
    NOW_TEXT,
    changed_fields,
    draft_over,
    facts_in,
    found,
    make_draft,
    make_fact_note,
    make_link,
    make_note,
)
from kits.hostile import HOSTILE

from core.errors import InvalidInputError
from core.facts.edits import clear, forget, record_hit, remember
from core.graph.edits import unhide_note
from core.model.draft import Draft
from core.model.fact import Fact, FactConfig, Nugget, NuggetMeta
from core.model.infer import MetaInput
from core.model.snapshot import Snapshot
from core.text.normalise import encodable

NOTE = make_fact_note(1, "k", "v", hits=3, last_hit_session="s-1")


def _visible(draft: Draft) -> dict[str, str]:
    return {note.key: note.content for note in draft.notes() if note.is_fact and not note.hidden}


def test_a_new_fact_gets_a_note_with_everything_right() -> None:
    draft = make_draft()
    note = remember(draft, "work", "user:pref:editor", "neovim\r\n")
    assert facts_in(draft, "work") == {"user:pref:editor": "neovim"}
    assert note.id.startswith("fact-work-")
    assert (note.kind, note.source_key, note.title, note.content) == (
        "fact",
        "user:pref:editor",
        "user:pref:editor",
        "neovim",
    )
    assert (note.scope, note.subject, note.type) == ("user", "user:primary", "preference")
    assert {"work", "scope:user", "type:preference", "preferences"} <= set(note.tags)
    assert note.created_at == note.updated_at == note.last_accessed_at == NOW_TEXT
    assert (note.hits, note.last_hit_session) == (0, "")


def test_a_new_nugget_has_the_documented_settings() -> None:
    draft = make_draft()
    remember(draft, "work", "k", "v")
    made = draft.change_set("new").nuggets[0].after
    assert made == NuggetMeta(
        name="work", version=4, D=16384, banks=4, ensembles=1, max_facts=0, config=FactConfig()
    )
    assert made.config == FactConfig(sharpen_p=1, corvacs_a=0, temp_T=0.9, orth_iters=1)
    assert made.capacity == 512


def test_a_known_key_gets_the_new_value_and_keeps_place_recalls_id_and_links() -> None:
    other = make_note(2, links=(make_link(NOTE),))
    note = make_fact_note(1, "k", "v", hits=3, links=(make_link(other),))
    draft = make_draft(note, other, facts={"j": "w", "k": "v", "l": "x"})
    after = remember(draft, "memory", "k", "new")
    assert list(facts_in(draft).items()) == [("j", "w"), ("k", "new"), ("l", "x")]
    assert changed_fields(note, after) == {"content", "updated_at", "vector"}
    assert [change.id for change in draft.change_set("again").notes] == [note.id]


def test_the_case_of_a_key_and_spaces_around_it_do_not_matter_and_the_stored_key_stays() -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    assert remember(draft, "memory", " K ", "new").id == NOTE.id
    assert facts_in(draft) == {"k": "new"}


def test_remembering_the_same_again_changes_nothing() -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    assert remember(draft, "memory", "k", " v  \n") == NOTE
    assert draft.change_set("again").empty


def test_given_metadata_reaches_the_note_of_a_known_key() -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    after = remember(draft, "memory", "k", "v", MetaInput(scope="self", confidence=0.3))
    assert (after.scope, after.confidence, after.updated_at) == ("self", 0.3, NOW_TEXT)
    assert "scope:self" in after.tags
    assert "scope:user" not in after.tags


def test_a_fact_without_a_note_gets_one_when_it_is_remembered() -> None:
    draft = make_draft(facts={"k": "v"})
    note = remember(draft, "memory", "k", "new")
    assert (note.key, note.content) == ("k", "new")
    assert facts_in(draft) == {"k": "new"}


def test_a_forgotten_key_remembered_anew_gets_a_new_note_and_the_hidden_one_stays() -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    hidden = forget(draft, "memory", "k")
    note = remember(draft, "memory", "k", "new")
    assert hidden is not None
    assert note.id != hidden.id
    assert found(draft, NOTE) == hidden
    assert _visible(draft) == facts_in(draft) == {"k": "new"}


@pytest.mark.parametrize(("key", "value"), [("", "v"), (" \n", "v"), ("k", ""), ("k", " \r\n ")])
def test_a_fact_needs_a_key_and_a_value(key: str, value: str) -> None:
    draft = make_draft()
    with pytest.raises(InvalidInputError, match="a fact needs"):
        remember(draft, "memory", key, value)
    assert draft.change_set("nothing").empty


@pytest.mark.parametrize("value", ["34", "UK", "no", "0", "-"])
def test_a_value_may_be_as_short_as_it_likes(value: str) -> None:
    draft = make_draft()
    remember(draft, "memory", "k", value)
    assert facts_in(draft) == {"k": value}


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_keys_and_values_are_stored_as_they_are(text: str) -> None:
    draft = make_draft()
    note = remember(draft, "memory", f"k {text} k", f"v {text} v")
    held = draft.nugget("memory")
    assert held is not None
    assert (held.facts[0].key, held.facts[0].value) == (note.title, note.content)
    assert encodable(text) in note.content
    assert forget(draft, "memory", f" k {text} k ") is not None
    assert facts_in(draft) == {}


@pytest.mark.parametrize("name", ["../evil", "a/b", "CON", ".x", "x" * 65, "Memory", "x."])
def test_a_name_that_no_file_may_bear_is_refused_before_anything_is_done(name: str) -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    with pytest.raises(InvalidInputError):
        remember(draft, name, "k", "v")
    assert draft.change_set("nothing").empty


def test_nuggets_of_one_draft_may_not_differ_by_case_alone_nor_from_names_in_the_graph() -> None:
    draft = make_draft(make_note(1))
    remember(draft, "Fresh", "k", "v")
    for name in ("fresh", "MEMORY"):
        with pytest.raises(InvalidInputError, match="only in case"):
            remember(draft, name, "k", "v")


def test_an_existing_nugget_of_an_odd_name_can_be_written() -> None:
    nugget = Nugget(meta=NuggetMeta(name="old name!"), file="x.nugget.json")
    draft = draft_over(Snapshot(nuggets=(nugget,)))
    remember(draft, "old name!", "k", "v")
    assert facts_in(draft, "old name!") == {"k": "v"}


@pytest.mark.parametrize("key", ["k", " k ", "K", "\tk\n"])
def test_forgetting_takes_the_fact_out_and_hides_its_note(key: str) -> None:
    draft = make_draft(NOTE, facts={"j": "w", "k": "v"})
    note = forget(draft, "memory", key)
    assert note is not None
    assert facts_in(draft) == {"j": "w"}
    assert changed_fields(NOTE, note) == {"hidden", "archived_at", "hidden_fact"}
    unhide_note(draft, note.id)
    assert facts_in(draft) == {"j": "w", "k": "v"}


def test_forgetting_what_is_not_there_changes_nothing() -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    for nugget, key in (("memory", "absent"), ("absent", "k"), ("memory", ""), ("memory", "kk")):
        assert forget(draft, nugget, key) is None
    assert draft.change_set("nothing").empty


def test_a_fact_that_never_had_a_note_is_not_lost_by_forgetting() -> None:
    draft = make_draft(facts={"k": "v"})
    note = forget(draft, "memory", "k")
    assert note is not None
    assert note.hidden
    assert note.hidden_fact is not None
    assert (note.hidden_fact.value, note.content) == ("v", "v")
    unhide_note(draft, note.id)
    assert facts_in(draft) == {"k": "v"}


def test_forgetting_leaves_no_note_of_the_fact_behind() -> None:
    twins = make_fact_note(1, "k", "v"), make_fact_note(2, "k", "v")
    draft = make_draft(*twins, make_fact_note(3, "k", "v", nugget_name="other"), facts={"k": "v"})
    forget(draft, "memory", "k")
    assert [found(draft, note).hidden for note in twins] == [True, True]
    assert [note.hidden_fact is not None for note in draft.notes()] == [True, False, False]
    assert _visible(draft) == {"k": "v"}


def test_clearing_forgets_every_fact_of_one_nugget_and_each_can_come_back_to_its_place() -> None:
    notes = [make_fact_note(number, key, key) for number, key in enumerate("abc")]
    stay = make_note(7)
    draft = make_draft(*notes, stay, facts={"a": "a", "b": "b", "c": "c", "d": "d"})
    assert clear(draft, "memory") == 4
    assert facts_in(draft) == {}
    assert found(draft, stay) == stay
    assert clear(draft, "memory") == clear(draft, "absent") == 0
    for note in (notes[1], notes[2], notes[0]):
        unhide_note(draft, note.id)
    assert "".join(facts_in(draft)) == "abc"


def test_a_recall_counts_once_for_each_session_on_fact_and_note() -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    assert record_hit(draft, "memory", "k", NOTE.id, "s-2")
    assert not record_hit(draft, "memory", "k", NOTE.id, "s-2")
    assert record_hit(draft, "memory", "k", NOTE.id, "s-3")
    after = found(draft, NOTE)
    held = draft.nugget("memory")
    assert held is not None
    assert changed_fields(NOTE, after) == {"hits", "last_hit_session", "last_accessed_at"}
    assert (after.hits, after.last_hit_session, after.last_accessed_at, after.updated_at) == (
        5,
        "s-3",
        NOW_TEXT,
        LONG_AGO,
    )
    assert (held.facts[0].hits, held.facts[0].last_hit_session) == (2, "s-3")


def test_a_recall_from_the_graph_counts_on_the_note_alone() -> None:
    note = make_note(1)
    draft = make_draft(note, facts={"k": "v"})
    assert record_hit(draft, "memory", None, note.id, "s-1")
    assert found(draft, note).hits == 1
    assert draft.change_set("hit").facts == ()


@pytest.mark.parametrize(
    ("key", "id", "session"),
    [("k", NOTE.id, ""), ("absent", None, "s"), (None, "absent", "s"), (None, None, "s")],
)
def test_a_recall_without_session_or_of_nothing_counts_nothing(
    key: str | None, id: str | None, session: str
) -> None:
    draft = make_draft(NOTE, facts={"k": "v"})
    assert not record_hit(draft, "memory", key, id, session)
    assert draft.change_set("nothing").empty


def test_unknown_fields_of_a_fact_stay_with_it() -> None:
    fact = Fact(key="k", value="v", extra={"later": 1})
    nugget = Nugget(meta=NuggetMeta(name="memory"), facts=(fact,))
    draft = draft_over(Snapshot(notes=(NOTE,), nuggets=(nugget,)))
    remember(draft, "memory", "k", "new")
    record_hit(draft, "memory", "k", NOTE.id, "s-9")
    held = draft.nugget("memory")
    assert held is not None
    assert held.facts[0].extra == {"later": 1}
    hidden = forget(draft, "memory", "k")
    assert hidden is not None
    assert hidden.hidden_fact is not None
    assert hidden.hidden_fact.extra == {"later": 1}
