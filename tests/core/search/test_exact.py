"""Exact words: notes that hold them come first, and where none does they count as words."""

from __future__ import annotations

import pytest

from core import Memory
from core.graph.edits import create_note
from core.model.draft import Draft

NOTES = {
    "Login": "The auth token lives for an hour. Drafts are kept.",
    "Tokens for auth": "Token, token, token: auth has one for each page.",
    "Branches": "`git branch -d NAME` deletes what is merged; -D forces it.",
    "Draft policy": "A draft of a page is shown to nobody.",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory.open(tmp_path_factory.mktemp("memory"))

    def build(draft: Draft) -> None:
        for title, content in NOTES.items():
            create_note(draft, "web", title, content)

    memory.change("written", build)
    return memory


def titles(memory: Memory, text: str) -> list[str]:
    return [hit.note.title for hit in memory.search(text)]


def clauses(memory: Memory, text: str) -> list[str]:
    return [clause.text for clause in memory.search.result(text).clauses]


def test_notes_that_hold_the_exact_words_come_first_and_the_others_follow(memory: Memory) -> None:
    assert titles(memory, "auth token")[0] == "Tokens for auth"
    assert titles(memory, '"auth token"') == ["Login", "Tokens for auth"]
    assert '1 note contains "auth token" exactly; the notes below match its words' in clauses(
        memory, '"auth token"'
    )


def test_exact_words_that_no_note_holds_count_as_words_and_that_is_said(memory: Memory) -> None:
    assert titles(memory, '"token auth page"') == titles(memory, "token auth page")
    (said,) = [clause for clause in memory.search.result('"token auth page"').clauses if clause.broken]
    assert said.text == 'no note contains "token auth page" exactly; these words are searched one by one'


def test_a_plus_demands(memory: Memory) -> None:
    assert titles(memory, '+"auth token"') == ["Login"]
    assert titles(memory, "token +hour") == ["Login"]
    assert titles(memory, '+"token auth page"') == []


def test_what_is_left_out_is_said_and_a_word_that_no_note_holds_leaves_nothing_out(memory: Memory) -> None:
    assert titles(memory, "token -draft") == ["Tokens for auth"]
    assert "without: draft" in clauses(memory, "token -draft")
    assert set(titles(memory, "token -zebra")) == {"Login", "Tokens for auth"}
    assert clauses(memory, "token -zebra") == ["words: token -zebra"]


def test_flags_are_words_in_a_command_line(memory: Memory) -> None:
    for text in ("delete merged git branch -d -merged", "`git branch -d` merged"):
        assert titles(memory, text)[0] == "Branches", text
        assert not any("without" in clause for clause in clauses(memory, text))
    assert 'exact first: "git branch -d"' in clauses(memory, "`git branch -d` merged")


def test_the_parts_of_a_score_add_up_with_exact_words_too(memory: Memory) -> None:
    for hit in memory.search('"auth token" "draft"'):
        parts = hit.breakdown
        added = parts.vector + parts.text + parts.boost + parts.exact
        assert added == parts.blend
        given = sum(reason.value for reason in parts.reasons if reason.line == "exact")
        assert given == pytest.approx(parts.exact)


def test_without_the_language_the_whole_text_is_words(memory: Memory) -> None:
    result = memory.search.result('"auth token" -draft tag:none', syntax=False)
    assert [hit.note.title for hit in result.hits][:1] != []
    assert [clause.text for clause in result.clauses] == ['words: "auth token" -draft tag:none']
