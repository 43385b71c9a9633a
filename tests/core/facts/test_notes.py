"""The note that answers what no key does: what must be asked for, what tells notes apart, what never answers."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.facts.notes import NoteIndex
from core.facts.wording import read_query
from core.model.note import Note, replace


def note(number: int, title: str, content: str, **fields: Any) -> Note:
    return Note(
        id=f"note-work-{number:08x}", nugget_name="work", title=title, content=content, kind="note", **fields
    )


def fact(number: int, key: str, value: str, **fields: Any) -> Note:
    return Note(
        id=f"fact-work-{number:08x}",
        nugget_name="work",
        title=key,
        content=value,
        kind="fact",
        source_key=key,
        **fields,
    )


NOTES = (
    fact(1, "test command", "pnpm test --run"),
    fact(2, "code freeze", "23 November to 1 December, fixes with two reviews only"),
    fact(3, "preferred editor", "Helix, theme gruvbox"),
    note(4, "Tests get their clock handed in", "The suite runs once a week in Kiritimati."),
    note(
        5,
        "Incident 12: charged twice",
        "The provider answered after 31 s. Customers were refunded in Lisbon.",
    ),
    note(6, "Key rotation", "Every 90 days, with the new key first.", tags=("security",)),
    note(7, "Glossary", "dunning: asking again, politely at first. clearing: money we hold."),
    note(8, "A secret of old", "The password was xyzzy", hidden=True),
)


def best(query: str, notes: tuple[Note, ...] = NOTES, nugget: str | None = None) -> str | None:
    index = NoteIndex()
    index.update(notes)
    match = index.best(read_query(query), nugget)
    assert match is None or 0 < match.strength <= 1
    return None if match is None else match.note.title


def test_a_word_of_the_title_and_words_of_the_text_find_a_note_together() -> None:
    assert best("how do I run the tests") == "test command"
    assert best("how many reviews during the freeze") == "code freeze"
    assert best("which theme does the editor have") == "preferred editor"
    assert best("why were customers charged twice") == "Incident 12: charged twice"


def test_the_words_of_a_value_alone_are_no_evidence_for_a_fact() -> None:
    assert best("helix") is None
    assert best("gruvbox december") is None


def test_a_text_of_a_note_answers_alone_only_when_it_holds_all_that_is_asked_for() -> None:
    assert best("what does dunning mean") == "Glossary"
    assert best("dunning elephants") is None


def test_tags_and_the_name_of_the_nugget_help() -> None:
    assert best("security of key rotation at work") == "Key rotation"


def test_mistyped_joined_and_parted_words_of_titles_are_understood() -> None:
    assert best("incidnet 12") == "Incident 12: charged twice"
    assert best("glosary") == "Glossary"
    assert best("keyrotation") == "Key rotation"
    assert best("time zone", (fact(1, "timezone", "UTC"),)) == "timezone"


def test_what_is_foreign_to_every_note_outweighs_one_word_that_is_not() -> None:
    for query in (
        "the purple elephant in the freeze",
        "key of the castle gate",
        "editor of the daily newspaper",
    ):
        assert best(query) is None


def test_hidden_notes_and_those_of_other_nuggets_never_answer() -> None:
    assert best("password secret of old") is None
    assert best("glossary", nugget="home") is None
    assert best("glossary", nugget="work") == "Glossary"


def test_queries_without_a_telling_word_find_nothing() -> None:
    for query in ("", "?", "what is the", "user", "show me", "5", "\ud800"):
        assert best(query) is None
    assert best("anything", ()) is None


def test_of_equal_notes_the_fact_and_then_the_more_recalled_answers() -> None:
    same = (note(1, "lint command", "x"), fact(2, "lint command", "x"))
    index = NoteIndex()
    index.update(same)
    match = index.best(read_query("lint command"))
    assert match is not None
    assert match.note.is_fact
    assert best("old plan", (note(1, "old plan", "x"), note(2, "plan of old", "x", hits=3))) == "plan of old"


def test_an_index_brought_up_to_date_answers_as_a_new_one() -> None:
    index = NoteIndex()
    index.update(NOTES)
    changed = (*NOTES[1:6], note(7, "Glossary", "thaw: payouts go on."), note(9, "Thaw", "after a freeze"))
    index.update(changed)
    for query in (
        "how do I run the tests",
        "what does dunning mean",
        "thaw of payouts",
        "code freeze",
        "thaws",
    ):
        found = index.best(read_query(query))
        assert (found.note.title if found else None) == best(query, changed)


@given(st.text(st.characters(), max_size=40), st.lists(st.text(st.characters(), max_size=20), max_size=5))
@settings(max_examples=100, deadline=None)
def test_any_text_may_be_asked_of_any_notes(query: str, texts: list[str]) -> None:
    best(query, tuple(note(number, text, text[::-1]) for number, text in enumerate(texts)))


CHANGES = st.lists(st.sampled_from(["text", "title", "hide", "drop", "add", "double"]), max_size=4)


@given(st.lists(CHANGES, max_size=4), st.data())
@settings(deadline=None)
def test_an_index_that_followed_a_memory_in_steps_answers_as_a_new_one(
    rounds: list[list[str]], data: st.DataObject
) -> None:
    index = NoteIndex()
    notes = list(NOTES)
    number = 100
    for changes in rounds:
        for change in changes:
            place = data.draw(st.integers(0, max(len(notes) - 1, 0)))
            number += 1
            if change == "add" or not notes:
                notes.append(note(number, f"Round {number} rotation", "What was added says Lisbon and key."))
            elif change == "drop":
                del notes[place]
            elif change == "double":
                notes.append(notes[place])
            elif change == "text":
                notes[place] = replace(notes[place], content=f"Reviews in Lisbon, {number} of them.")
            elif change == "title":
                notes[place] = replace(notes[place], title=f"Editor of Lisbon {number}")
            else:
                notes[place] = replace(notes[place], hidden=not notes[place].hidden)
        present = tuple(notes)
        if data.draw(st.booleans()):
            index.update(present, lambda: data.draw(st.booleans()))
        assert index.update(present)
    index.update(tuple(notes))
    anew = NoteIndex()
    anew.update(tuple(notes))
    for query in ("lisbon", "key rotation", "editor theme", "reviews", "roun", "how is Lisbon refunded"):
        one, other = index.best(read_query(query)), anew.best(read_query(query))
        assert (one is None) == (other is None)
        assert one is None or other is None or (one.note.id, one.strength) == (other.note.id, other.strength)
