"""Conflicts of the log say by a code what is in the way, also those that a version wrote that had no codes."""

from __future__ import annotations

import json

import pytest

from core.errors import ErrorCode
from core.model.entry import Conflict
from core.storage.journal.codec import read_conflict, write_conflict

FORMER = {
    "another program keeps taking this change back": ErrorCode.CHANGE_TAKEN_BACK,
    "another program keeps bringing this fact back": ErrorCode.FACT_BROUGHT_BACK,
    "its content was changed in two ways": ErrorCode.CHANGED_IN_TWO_WAYS,
    "the fact was changed in two ways": ErrorCode.CHANGED_IN_TWO_WAYS,
    "the note was deleted meanwhile": ErrorCode.DELETED_MEANWHILE,
    "this key was stored meanwhile": ErrorCode.STORED_MEANWHILE,
    "a sentence of no version": ErrorCode.CONFLICT,
}


@pytest.mark.parametrize("what", FORMER)
def test_a_conflict_without_a_code_is_given_the_one_that_its_words_mean(what: str) -> None:
    former = json.dumps(
        {"what": what, "where": "note-1", "field": "", "base": "", "ours": "a", "theirs": "b"}
    )
    assert read_conflict(former.encode()).code is FORMER[what]


def test_a_conflict_with_a_code_keeps_it_whatever_it_says() -> None:
    conflict = Conflict(
        what="the note was deleted meanwhile", code=ErrorCode.KEY_TAKEN, where="n", ours="\udcff"
    )
    assert read_conflict(write_conflict(conflict)) == conflict


def test_a_code_of_a_newer_version_does_not_keep_a_conflict_from_being_read() -> None:
    newer = b'{"what": "in the way", "code": "of-a-newer-version", "where": "n", "unknown": 7}'
    assert read_conflict(newer) == Conflict(what="in the way", where="n")


def test_one_conflict_is_the_same_as_another_by_what_it_is_about() -> None:
    one = Conflict(what="in one wording", code=ErrorCode.KEY_TAKEN, where="n", ours="a")
    assert one.named == Conflict(what="in another", code=ErrorCode.KEY_TAKEN, where="n", ours="a").named
    assert one.named != Conflict(what="in one wording", code=ErrorCode.OTHER_NAME, where="n", ours="a").named
