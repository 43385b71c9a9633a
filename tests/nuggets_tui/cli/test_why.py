"""Why a note answers a question, or not: `--explain`, and the notes that are offered when nothing is sure."""

from __future__ import annotations

from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW

QUESTION = "how do we roll back"
# Of these words one note holds one: likely enough to be offered, not to be the answer.
UNSURE = "rollback zeppelin"
OFFERED = {"id", "title", "firstLine", "nuggetName", "why", "holds", "lacks", "likelihood"}


@pytest.fixture
def filled(nuggets: Any) -> Any:
    """Three notes, two of one title, and a fact."""
    for title, content, nugget in (
        ("Deploy", "With make deploy on Mondays", "ops"),
        ("Rollback", "Roll back with make rollback; ask Anna first\nand tell the others", "ops"),
        ("Deploy", "Another note about staging", "web"),
    ):
        nuggets.ok("note", "add", title, content, "--nugget", nugget)
    nuggets.ok("remember", "ops", "db port", "5432")
    return nuggets


def hits(nuggets: Any) -> int:
    return sum(note["hits"] for note in nuggets.notes())


def explained(nuggets: Any, question: str, note: str, *more: str) -> Any:
    (found,) = nuggets.json("search", question, "--explain", note, *more)
    return found


# One note


def test_a_note_is_explained_by_its_title_its_id_and_the_beginning_of_its_id(filled: Any) -> None:
    found = explained(filled, QUESTION, "Rollback")
    assert (found["rank"], found["obstacle"], found["judgement"]) == (1, None, "found")
    for name in (found["id"], found["id"][:-2], "rollback"):
        assert explained(filled, QUESTION, name)["id"] == found["id"]
    shown = filled.ok("search", QUESTION, "--explain", "Rollback")
    assert shown.splitlines()[0].split()[1:] == ["Rollback", found["id"]]


def test_what_keeps_a_note_out_is_told_and_counts_no_recall(filled: Any) -> None:
    missed = explained(filled, "zzyzx", "Rollback")
    assert (missed["rank"], missed["obstacle"]) == (0, "nothing in common")
    assert explained(filled, "roll back -anna nugget:web", "Rollback")["obstacle"] == "filters"
    filled.ok("note", "hide", "Rollback")
    assert explained(filled, QUESTION, "Rollback")["obstacle"] == "hidden"
    assert hits(filled) == 0


@pytest.mark.parametrize("command", ["search", "recall"])
def test_a_note_that_is_not_there_or_not_clear_is_one_line_and_nothing_is_counted(
    filled: Any, command: str
) -> None:
    before = filled.bytes()
    for name, code in (("nowhere", 1), ("Deploy", 2), ("\x1b[31mred\u202e", 1), ("y" * 5_000, 1)):
        for more in ((), ("--json",)):
            line = filled.fails(command, QUESTION, "--explain", name, *more, code=code)
            assert line.isprintable()
            assert len(line) < 500
    assert filled.bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_questions_and_titles_are_explained_harmlessly(nuggets: Any, hostile: str) -> None:
    text = hostile.replace("\ud800", "")[:2_000] or "x"
    made = nuggets.json("note", "add", text, f"token {text}")
    for question in ("token", text, f"{text} lamp post"):
        for command in ("search", "recall"):
            result = nuggets(command, "--explain", made["id"], "--", question)
            assert result.exit_code in (0, 1, 2), result.stderr
            assert not RAW.search((result.stdout + result.stderr).replace("\n", ""))


# All of an answer


def test_recall_explains_the_note_that_answered_or_that_is_named(filled: Any) -> None:
    answer = filled.json("recall", QUESTION, "--explain")
    (told,) = answer["explained"]
    assert (told["id"], told["rank"]) == (answer["noteId"], 1)
    assert "explained" not in filled.json("recall", QUESTION)
    answer = filled.json("recall", "db port", "--explain", "Rollback")
    (told,) = answer["explained"]
    assert (answer["answer"], told["title"], told["obstacle"]) == ("5432", "Rollback", "nothing in common")


def test_recall_reads_the_question_as_words_unless_its_syntax_is_asked_for(filled: Any) -> None:
    asked = ("recall", "roll back -anna nugget:web", "--explain", "Rollback")
    assert filled.json(*asked, code=1)["explained"][0]["obstacle"] is None
    assert filled.json(*asked, "--syntax", code=1)["explained"][0]["obstacle"] == "filters"


@pytest.mark.slow
def test_recall_explains_what_may_answer_and_ends_with_one(filled: Any) -> None:
    answer = filled.json("recall", UNSURE, "--explain", code=1)
    assert [one["id"] for one in answer["explained"]] == [one["id"] for one in answer["candidates"]]
    assert filled("recall", UNSURE, "--explain").exit_code == 1
    assert filled.json("recall", "zzyzx", "--explain", code=1)["explained"] == []
    assert filled.fails("recall", "zzyzx", "--explain", code=1)
    (missed,) = filled.json("recall", "zzyzx", "--explain", "Rollback", code=1)["explained"]
    assert missed["obstacle"] == "nothing in common"


@pytest.mark.slow
def test_search_explains_every_hit(filled: Any) -> None:
    found = filled.json("search", "deploy make", "--explain")
    assert [one["rank"] for one in found] == list(range(1, len(found) + 1))
    assert len(found) > 1
    assert filled.json("search", "zzyzx", "--explain", code=1) == []


@pytest.mark.slow
def test_a_flag_to_explain_before_the_only_text_takes_it_for_the_query(filled: Any) -> None:
    assert filled.json("recall", "--explain", "db port")["answer"] == "5432"
    assert filled.json("search", "--explain", "rollback")[0]["title"] == "Rollback"
    for command in ("recall", "search"):
        assert "QUERY" in filled.fails(command, "--explain")


# What may answer


def test_notes_that_may_answer_are_offered_with_what_they_hold_and_lack(filled: Any) -> None:
    answer = filled.json("recall", UNSURE, code=1)
    assert (answer["found"], answer["answer"], answer["judgement"]) == (False, None, "not sure")
    (offered,) = answer["candidates"]
    assert set(offered) == OFFERED
    assert (offered["title"], offered["nuggetName"]) == ("Rollback", "ops")
    assert offered["firstLine"] == "Roll back with make rollback; ask Anna first"
    assert (offered["holds"], offered["lacks"]) == (["rollback"], ["zeppelin"])
    assert 0.4 <= offered["likelihood"] < 0.7
    result = filled("recall", UNSURE)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    head, *below = result.stdout.splitlines()
    assert (head.split()[0], head.split()[-1]) == ("Rollback", offered["id"])
    assert below[0].strip() == offered["firstLine"]
    assert hits(filled) == 0


def test_a_question_without_a_word_finds_nothing_and_an_empty_one_is_bad_input(filled: Any) -> None:
    answer = filled.json("recall", "?", code=1)
    assert (answer["found"], answer["judgement"], answer["candidates"]) == (False, "nothing", [])
    for command in ("recall", "search"):
        for question in ("", " "):
            assert "nuggets search" not in filled.fails(command, question)


def test_a_mistyped_word_is_said_with_the_word_it_was_taken_for(nuggets: Any) -> None:
    for number in range(6):
        nuggets.ok("note", "add", f"Note {number}", f"Something about subject{number}.")
    nuggets.ok("note", "add", "Postgres", "Version 17 since November.")
    offered = nuggets.json("recall", "postgers elephants", code=1)["candidates"][0]
    assert offered["holds"] == ["postgers"]
    assert '"postgers" taken as "postgres"' in offered["why"]
