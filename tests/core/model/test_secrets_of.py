"""Which notes and facts bear the sign of a credential, and what masks do to texts, notes and change sets."""

from __future__ import annotations

import json

from kits.drafts import make_note

from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.masks import Masks, is_distinctive
from core.model.note import HiddenFact, Link, replace, vector_spec
from core.model.secrets import NOT_SECRET, Held, holders, refused_marks, secrets_of, secrets_of_fact
from core.model.snapshot import Snapshot

VALUE = "Blau3" + "Katze!77"
MASKS = Masks([Held("password", VALUE)])


def test_title_and_text_are_read_together() -> None:
    assert secrets_of(make_note(1, title="db password", content=VALUE))
    assert secrets_of_fact(Fact(key="db password", value=VALUE))
    assert not secrets_of(make_note(1, title="cat", content=VALUE))


def test_a_fact_is_told_of_once_with_its_note_and_alone_without_one() -> None:
    note = make_note(1, kind="fact", title="password", source_key="password", content=VALUE)
    facts = (Fact(key="password", value=VALUE), Fact(key="pw", value=VALUE))
    found = list(
        holders(Snapshot(notes=(note,), nuggets=(Nugget(meta=NuggetMeta(name="memory"), facts=facts),)))
    )
    assert [one.id for one in found] == [note.id, "memory: pw"]
    assert VALUE not in repr(found)


def test_what_was_said_to_be_none_holds_for_that_value_alone() -> None:
    note = make_note(1, title="password", content=VALUE)
    told = replace(note, extra=refused_marks({"other": 1}, secrets_of(note)))
    assert not secrets_of(told)
    assert told.extra["other"] == 1
    assert VALUE not in json.dumps(told.extra[NOT_SECRET])
    assert secrets_of(replace(told, content="An0ther!one"))


def test_a_masked_note_holds_it_in_no_field_and_its_recipe_is_right() -> None:
    note = make_note(
        1, title=f"pw {VALUE}", content=f"password {VALUE}", tags=("a", VALUE.lower()),
        links=(Link(to="x", reason=f"uses {VALUE}"),), hidden_fact=HiddenFact(key="k", value=VALUE),
        extra={"deep": [{"er": VALUE}]},
    )  # fmt: skip
    told = MASKS.note(note)
    assert VALUE not in repr(told)
    assert "blau3katze" not in repr(told).lower()
    assert told.vector == vector_spec(told)
    assert told.id == note.id
    assert MASKS.note(told) is told


def test_words_and_short_numbers_are_masked_only_where_they_look_like_a_credential() -> None:
    masks = Masks([Held("password", "dragon"), Held("password", "123456")])
    assert masks.text("the dragon book has 123456 words") == "the dragon book has 123456 words"
    assert masks.text("password: dragon") == "password: [masked: password]"
    assert masks.pair("password", "123456") == ("password", "[masked: password]")
    assert not is_distinctive("dragon")
    assert is_distinctive(VALUE)
