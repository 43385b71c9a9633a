"""Links rest on telling words: how sure a link is, what is for a person to accept, what an unwatched run makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.graph_kit import draft_of, make_note, memory_of

from core.graph.edits import create_note
from core.memory import Memory
from core.reflection import reflect
from core.reflection.linking import Rarity, SharedContext
from core.reflection.words import TokenCache, independent, is_informative


@pytest.mark.parametrize(
    "word", ["because", "every", "first", "time", "only", "everything", "https", "two", "without"]
)
def test_words_of_any_text_are_no_ground_for_a_link(word: str) -> None:
    assert not is_informative(word)


def test_forms_of_one_word_count_as_one_shared_word() -> None:
    assert independent(["invoice", "invoices", "ledger"]) == ["invoice", "ledger"]


def test_a_word_is_the_more_telling_the_fewer_notes_hold_it() -> None:
    notes = [make_note(number, f"ledger {'importer' if number < 2 else ''}") for number in range(40)]
    rarity = Rarity(notes, TokenCache())
    assert rarity.of("importer") == 1
    assert rarity.of("ledger") < 0.01
    assert rarity.confidence(["importer", "ledger"]) == pytest.approx(0.5, abs=0.01)


def test_a_link_is_surer_the_more_rare_words_are_shared() -> None:
    notes = [
        make_note(1, "alice owns the billing importer parser"),
        make_note(2, "the billing importer and its parser break"),
        make_note(3, "alice says the billing address"),
        *(make_note(number, f"matter{number}") for number in range(4, 30)),
    ]
    found = SharedContext(notes, TokenCache()).candidates(notes[0], 2)
    assert [other.id for other, _, _ in found] == [notes[1].id, notes[2].id]
    assert found[0].confidence > 0.7 > found[1].confidence


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("会議の資料は月曜日に準備しておくこと", "駐車場の予約は月曜日に準備しておくこと"),
        ("회의 자료는 월요일까지 반드시 준비해야 합니다", "주차장 예약은 월요일까지 반드시 확인해야 합니다"),
        ("会议资料必须在星期一之前准备好", "停车位预订必须在星期一之前准备好"),
        ("เอกสารประชุมต้องเตรียมให้เสร็จก่อนวันจันทร์", "ที่จอดรถต้องเตรียมให้เสร็จก่อนวันจันทร์"),
    ],
)
def test_pieces_of_words_make_no_link_sure(one: str, other: str) -> None:
    notes = [make_note(1, one), make_note(2, other), *(make_note(n, f"matter{n}") for n in range(3, 30))]
    assert not [
        change for change in reflect(draft_of(memory_of(notes)), sure=True).changes if change.type == "link"
    ]
    named = [make_note(number, f"{text} billing importer parser") for number, text in ((1, one), (2, other))]
    made = reflect(draft_of(memory_of([*named, *notes[2:]])), sure=True).changes
    assert [change.type for change in made] in (["link"], ["merge"])


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """One pair of notes that share three rare words, and one that shares two."""
    opened = Memory.open(tmp_path)
    for title, content in {
        "Owner": "alice owns the billing importer parser",
        "Breakage": "the billing importer parser breaks",
        "Port": "staging database listens elsewhere",
        "Copy": "staging database gets dumped",
    }.items():
        opened.change("w", partial(create_note, nugget="project", title=title, content=content))
    return opened


def test_an_unwatched_run_makes_only_links_that_are_sure(memory: Memory) -> None:
    proposed = [change for change in memory.reflect(dry_run=True).changes if change.type == "link"]
    assert [change.doubtful for change in proposed] == [False, True]
    assert memory.reflect(unattended=True).counts["linked"] == 1
    linked = {note.title for note in memory.snapshot.notes if note.links}
    assert linked == {"Owner", "Breakage"}


def test_a_doubtful_link_is_made_when_it_is_named(memory: Memory) -> None:
    doubtful = next(change for change in memory.reflect(dry_run=True).changes if change.doubtful)
    assert [change.id for change in memory.reflect(accept=[doubtful.id]).changes] == [doubtful.id]


def test_doubtful_links_do_not_use_up_the_limit_of_a_pass() -> None:
    weak = [make_note(number, f"staging database unique{number}") for number in range(4)]
    untidy = make_note(9, "milk\nmilk\nbread")
    result = reflect(draft_of(memory_of([*weak, untidy])), limit=1)
    assert [change.note_id for change in result.changes if not change.doubtful] == [untidy.id]
