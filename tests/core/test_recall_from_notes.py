"""What a recall answers when no key is meant: the best of facts and notes, where one judgement says that it answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note, hide_note
from core.model.build import new_note
from core.model.draft import Draft
from core.search import SearchIndex

FACTS = {
    "test command": "pnpm test --run",
    "code freeze": "23 November to 1 December, fixes with two reviews only",
    "preferred editor": "Helix, theme gruvbox",
}
NOTES = {
    "Tests get their clock handed in": "The suite runs once a week in Kiritimati.",
    "Incident 12: charged twice": "The provider answered after 31 s. Customers were refunded in Lisbon.",
    "Key rotation": "Every 90 days, with the new key first.",
    "Glossary": "dunning: asking again, politely at first. clearing: money we hold.",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory.open(tmp_path_factory.mktemp("memory"))

    def build(draft: Draft) -> None:
        for key, value in FACTS.items():
            remember(draft, "work", key, value)
        for title, content in NOTES.items():
            create_note(draft, "work", title, content)
        hide_note(draft, create_note(draft, "work", "A secret of old", "The password was xyzzy").id)

    memory.change("written for the questions", build)
    return memory


def answer(memory: Memory, query: str) -> str | None:
    found = memory.recall(query, record=False)
    assert found.found == (found.judgement == "found")
    assert 0 <= found.certainty <= 1
    return found.key if found.found else None


def test_a_word_of_the_title_and_words_of_the_text_find_a_note_together(memory: Memory) -> None:
    assert answer(memory, "how do I run the tests") == "test command"
    assert answer(memory, "how many reviews during the freeze") == "code freeze"
    assert answer(memory, "which theme does the editor have") == "preferred editor"
    assert answer(memory, "why were customers charged twice") == "Incident 12: charged twice"


def test_a_lone_word_of_a_value_beside_another_is_no_evidence_for_a_fact(memory: Memory) -> None:
    assert answer(memory, "gruvbox december") is None


def test_a_text_of_a_note_answers_alone_when_it_holds_all_that_is_asked_for(memory: Memory) -> None:
    assert answer(memory, "what does dunning mean") == "Glossary"
    assert answer(memory, "dunning elephants") is None


def test_mistyped_joined_and_parted_words_are_understood(memory: Memory, tmp_path: Path) -> None:
    assert answer(memory, "incidnet 12") == "Incident 12: charged twice"
    assert answer(memory, "glosary") == "Glossary"
    assert answer(memory, "keyrotation") == "Key rotation"
    other = Memory.open(tmp_path)
    other.change("one", lambda draft: create_note(draft, "work", "timezone", "UTC everywhere"))
    assert answer(other, "which time zone") == "timezone"


def test_what_is_foreign_to_every_note_outweighs_one_word_that_is_not(memory: Memory) -> None:
    for query in (
        "the purple elephant in the freeze",
        "key of the castle gate",
        "editor of the daily newspaper",
    ):
        assert answer(memory, query) is None


def test_hidden_notes_and_those_of_other_nuggets_never_answer(memory: Memory) -> None:
    assert answer(memory, "password secret of old") is None
    memory.change("elsewhere", lambda draft: create_note(draft, "home", "Bins", "Paper on Monday."))
    assert not memory.recall("glossary", "home", record=False).found
    assert memory.recall("glossary", "work", record=False).key == "Glossary"


def test_queries_without_a_telling_word_are_answered_by_nothing(memory: Memory) -> None:
    for query in ("", "?", "what is the", "user", "show me", "5", "\ud800"):
        found = memory.recall(query, record=False)
        assert (found.judgement, found.candidates) == ("nothing", ())


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("incidnet chrged", "Incident 12: charged twice"),
        ("rotaton kye", "Key rotation"),
        ("cod freze", "code freeze"),
    ],
)
def test_two_mistyped_words_are_answered_or_offered_as_a_search_finds_them(
    memory: Memory, query: str, title: str
) -> None:
    assert memory.search(query)[0].note.title == title
    found = memory.recall(query, record=False)
    assert found.key == title or [one.title for one in found.candidates][:1] == [title]


def test_where_it_is_not_sure_the_best_notes_come_along_and_nothing_is_counted(memory: Memory) -> None:
    before = memory.snapshot
    found = memory.recall("asking politely elephants", session="s-1")
    assert (found.judgement, found.found, found.answer, found.via, found.note_id) == (
        "not sure", False, None, "", None,
    )  # fmt: skip
    (candidate,) = found.candidates
    assert (candidate.title, candidate.holds, candidate.lacks) == (
        "Glossary",
        ("asking", "politely"),
        ("elephants",),
    )
    assert candidate.first_line == NOTES["Glossary"]
    assert memory.snapshot is before


def test_at_most_three_candidates_come_along(tmp_path: Path) -> None:
    other = Memory.open(tmp_path)

    def build(draft: Draft) -> None:
        for number in range(25):
            name = "Gasket" if number < 5 else f"Kettle{number}"
            create_note(draft, "web", f"{name} {number}", f"Torque {number} of the pump.")

    other.change("many", build)
    found = other.recall("torque of a gasket", record=False)
    assert (found.judgement, len(found.candidates)) == ("not sure", 3)


def test_an_agents_quotes_flags_and_colons_are_words_unless_it_asks_for_the_language(memory: Memory) -> None:
    for query in ('"why" were customers -charged "twice over"', "tag:none why customers charged twice"):
        assert answer(memory, query) == "Incident 12: charged twice"
    assert memory.recall("customers charged twice tag:none", record=False, syntax=True).judgement == "nothing"
    found = memory.recall("customers charged twice -Lisbon", record=False, syntax=True)
    assert found.note_id is None


def test_a_key_that_is_meant_answers_before_any_note(memory: Memory) -> None:
    found = memory.recall("code freeze", record=False)
    assert (found.via, found.key, found.judgement) == ("facts", "code freeze", "found")
    assert memory.recall("customers charged twice", record=False).via == "graph"


@given(st.text(st.characters(), max_size=40), st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_any_text_may_be_asked(memory: Memory, query: str, syntax: bool) -> None:
    memory.recall(query, record=False, syntax=syntax)


def test_words_joined_or_parted_as_no_note_has_them_stay_as_they_are(memory: Memory) -> None:
    index: SearchIndex = memory.search.index()
    for text in ("key rotation", "zebra crossing", "", "why?", "x" * 500):
        assert index.respelt(text) == text
    assert index.respelt("the keyrotation") == "the key rotation"


@pytest.mark.parametrize("content", ["", " \n"])
def test_a_note_without_a_text_answers_with_its_title(tmp_path: Path, content: str) -> None:
    memory = Memory.open(tmp_path)
    memory.change(
        "as others write",
        lambda draft: new_note(draft, "note", "work", "Zebra crossings are lit at night", content),
    )
    found = memory.recall("zebra crossings at night", record=False)
    assert (found.found, found.answer) == (True, "Zebra crossings are lit at night")


def test_a_note_that_lacks_a_word_of_the_question_is_a_less_certain_answer(memory: Memory) -> None:
    sure = memory.recall("why were customers charged twice", record=False)
    less = memory.recall("why were customers in Tromso charged twice", record=False)
    assert sure.found
    assert less.certainty < sure.certainty
