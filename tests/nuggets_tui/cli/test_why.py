"""Why a note answers a question, or not: `why`, `--explain`, and the notes that are offered when nothing is sure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW

QUESTION = "how do we roll back"
# Of these words one note holds one: likely enough to be offered, not to be the answer.
UNSURE = "rollback zeppelin"
OFFERED = {"id", "title", "firstLine", "nuggetName", "why", "holds", "lacks", "likelihood"}


@pytest.fixture
def filled(nuggets: Any) -> Any:
    """Four notes, two of one title, and a fact."""
    for title, content, nugget in (
        ("Deploy", "With make deploy on Mondays", "ops"),
        ("Rollback", "Roll back with make rollback; ask Anna first\nand tell the others", "ops"),
        ("Deploy", "Another note about staging", "web"),
    ):
        nuggets.ok("note", "add", title, content, "--nugget", nugget)
    nuggets.ok("remember", "ops", "db port", "5432")
    return nuggets


def note_id(nuggets: Any, title: str) -> str:
    return next(note["id"] for note in nuggets.notes() if note["title"] == title)


def hits(nuggets: Any) -> int:
    return sum(note["hits"] for note in nuggets.notes())


# why QUESTION NOTE


def test_why_takes_a_note_by_its_title_its_id_and_the_beginning_of_its_id(filled: Any) -> None:
    id = note_id(filled, "Rollback")
    (by_title,) = filled.json("why", QUESTION, "Rollback")
    assert (by_title["id"], by_title["rank"], by_title["obstacle"]) == (id, 1, None)
    assert by_title["judgement"] == "found"
    for name in (id, id[:-2], "rollback"):
        assert filled.json("why", QUESTION, name)[0]["id"] == id
    shown = filled.ok("why", QUESTION, "Rollback")
    assert shown.splitlines()[0].split()[1:] == ["Rollback", id]
    assert "The only hit." in shown
    assert '"roll"' in shown


def test_why_says_what_keeps_a_note_out_and_counts_no_recall(filled: Any) -> None:
    (missed,) = filled.json("why", "zzyzx", "Rollback")
    assert (missed["rank"], missed["obstacle"]) == (0, "nothing in common")
    assert "nothing in common" in filled.ok("why", "zzyzx", "Rollback")
    filled.ok("note", "hide", "Rollback")
    assert "It is hidden" in filled.ok("why", QUESTION, "Rollback")
    assert hits(filled) == 0


def test_why_reads_the_question_as_words_unless_its_syntax_is_asked_for(filled: Any) -> None:
    question = "roll back -anna nugget:web"
    assert filled.json("why", question, "Rollback")[0]["obstacle"] is None
    (read,) = filled.json("why", "--syntax", question, "Rollback")
    assert (read["rank"], bool(read["obstacle"])) == (0, True)
    assert "It does not meet: " in filled.ok("why", "--syntax", question, "Rollback")


@pytest.mark.parametrize("question", ["", "   ", "?", "the", "\u200b"])
def test_a_question_without_a_word_is_explained_as_one_that_asks_nothing(filled: Any, question: str) -> None:
    (found,) = filled.json("why", question, "Rollback")
    assert found["rank"] == 0
    said = filled.ok("why", question, "Rollback")
    assert "Hit " not in said
    assert "only hit" not in said


@pytest.mark.parametrize(
    "args", [("why", QUESTION), ("search", QUESTION, "--explain"), ("recall", QUESTION, "--explain")]
)
def test_a_note_that_is_not_there_or_not_clear_is_one_line_and_nothing_is_counted(
    filled: Any, args: tuple[str, ...]
) -> None:
    before = filled.bytes()
    for name, code, said in (
        ("nowhere", 1, "no note has this id or title"),
        ("Deploy", 2, "matches 2 notes"),
        ("\x1b[31mred\u202e", 1, "no note has this id or title"),
        ("y" * 5_000, 1, "no note has this id or title"),
    ):
        for more in ((), ("--json",)):
            line = filled.fails(*args, name, *more, code=code)
            assert said in line
            assert line.isprintable()
            assert len(line) < 500
    assert filled.bytes() == before


def test_why_without_a_note_names_what_is_missing(filled: Any) -> None:
    assert "NOTE" in filled.fails("why", QUESTION)
    assert "the id is empty" in filled.fails("why", QUESTION, "")
    assert "QUESTION" in filled.fails("why")


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_questions_and_titles_are_explained_harmlessly(nuggets: Any, hostile: str) -> None:
    text = hostile.replace("\ud800", "")[:2_000] or "x"
    made = nuggets.json("note", "add", text, f"token {text}")
    for question in ("token", text, f"{text} lamp post"):
        for args in (
            ("why", "--", question, made["id"]),
            ("recall", "--explain", made["id"], "--", question),
        ):
            result = nuggets(*args)
            assert result.exit_code in (0, 1), (args, result.stderr)
            assert not RAW.search((result.stdout + result.stderr).replace("\n", ""))
        assert json.loads(nuggets("why", "--json", "--", question, made["id"]).stdout)[0]["id"] == made["id"]


# recall --explain, search --explain


def test_recall_explains_the_note_that_answered(filled: Any) -> None:
    answer = filled.json("recall", QUESTION, "--explain")
    assert answer["found"]
    (told,) = answer["explained"]
    assert (told["id"], told["rank"]) == (answer["noteId"], 1)
    assert "explained" not in filled.json("recall", QUESTION)
    shown = filled.ok("recall", QUESTION, "--explain")
    assert "Roll back with make rollback" in shown.splitlines()[1]
    assert "The only hit." in shown


def test_recall_explains_the_note_that_is_named_though_another_one_answers(filled: Any) -> None:
    answer = filled.json("recall", "db port", "--explain", "Rollback")
    assert answer["answer"] == "5432"
    (told,) = answer["explained"]
    assert (told["title"], told["obstacle"]) == ("Rollback", "nothing in common")
    shown = filled.ok("recall", "db port", "--explain", "Rollback")
    assert shown.startswith("db port = 5432 ")
    assert "nothing in common" in shown


@pytest.mark.slow
def test_recall_explains_what_may_answer_and_ends_with_one(filled: Any) -> None:
    answer = filled.json("recall", UNSURE, "--explain", code=1)
    assert [one["id"] for one in answer["explained"]] == [one["id"] for one in answer["candidates"]]
    result = filled("recall", UNSURE, "--explain")
    assert result.exit_code == 1
    assert 'Missing words: "zeppelin"' in result.stdout
    assert filled.json("recall", "zzyzx", "--explain", code=1)["explained"] == []
    assert "nothing found" in filled.fails("recall", "zzyzx", "--explain", code=1)
    (missed,) = filled.json("recall", "zzyzx", "--explain", "Rollback", code=1)["explained"]
    assert missed["obstacle"] == "nothing in common"


@pytest.mark.slow
def test_search_explains_every_hit_or_the_note_that_is_named(filled: Any) -> None:
    found = filled.json("search", "deploy make", "--explain")
    assert [one["rank"] for one in found] == list(range(1, len(found) + 1))
    assert len(found) > 1
    shown = filled.ok("search", "deploy make", "--explain")
    assert shown.count("Hit ") >= len(found)
    assert filled.json("search", "--explain", "Rollback", "deploy make")[0]["title"] == "Rollback"
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
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [f"nuggets: not sure what answers '{UNSURE}'; these notes may"]
    head, *below = result.stdout.splitlines()
    assert (head.split()[0], head.split()[-1]) == ("Rollback", offered["id"])
    assert below == [
        "  Roll back with make rollback; ask Anna first",
        "  holds rollback; lacks zeppelin",
    ]
    assert hits(filled) == 0


@pytest.mark.slow
def test_what_is_not_asked_of_a_nugget_offers_none_of_its_notes(filled: Any) -> None:
    assert filled.json("recall", UNSURE, "--nugget", "web", code=1)["candidates"] == []
    assert len(filled.json("recall", UNSURE, "--nugget", "ops", code=1)["candidates"]) == 1
    assert "no such nugget" in filled.fails("recall", UNSURE, "--nugget", "nowhere", "--json", code=1)
    filled.ok("note", "hide", "Rollback")
    assert filled.json("recall", UNSURE, code=1)["candidates"] == []


def test_a_question_without_a_word_finds_nothing(filled: Any) -> None:
    answer = filled.json("recall", "?", code=1)
    assert (answer["found"], answer["judgement"], answer["candidates"]) == (False, "nothing", [])
    assert "look further" in filled.fails("recall", "?", code=1)


@pytest.mark.parametrize("question", ["", " "])
def test_an_empty_question_is_bad_input_and_sends_nobody_further(filled: Any, question: str) -> None:
    assert "look further" not in filled.fails("recall", question)


@pytest.mark.parametrize("hostile", [text for text in HOSTILE if text.strip()])
def test_hostile_notes_are_offered_harmlessly(nuggets: Any, hostile: str) -> None:
    text = hostile.replace("\ud800", "")[:2_000]
    nuggets.ok("note", "add", f"{text} gasket", f"{text}\n torque of the gasket")
    for question in ("gasket of a periscope", f"gasket {text[:100]} periscope lamp"):
        result = nuggets("recall", "--", question)
        assert result.exit_code in (0, 1)
        assert not RAW.search((result.stdout + result.stderr).replace("\n", ""))
        # An answer is given whole.
        assert result.exit_code == 0 or all(len(line) < 400 for line in result.stdout.splitlines())
        document = json.loads(nuggets("recall", "--json", "--", question).stdout)
        assert not RAW.search(json.dumps(document, ensure_ascii=True))


def test_a_mistyped_word_is_said_with_the_word_it_was_taken_for(nuggets: Any) -> None:
    for number in range(6):
        nuggets.ok("note", "add", f"Note {number}", f"Something about subject{number}.")
    nuggets.ok("note", "add", "Postgres", "Version 17 since November.")
    offered = nuggets.json("recall", "postgers elephants", code=1)["candidates"][0]
    assert offered["holds"] == ["postgers"]
    assert offered["why"] == 'holds "postgers" taken as "postgres"; lacks elephants'
