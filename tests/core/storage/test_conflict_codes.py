"""Conflicts of the log say by a code what is in the way."""

from __future__ import annotations

import msgspec

from core.errors import ErrorCode
from core.model.entry import Conflict
from core.storage.journal.codec import read_conflict, write_conflict


def test_a_conflict_with_a_code_keeps_it_whatever_it_says() -> None:
    conflict = Conflict(what="deleted", code=ErrorCode.NAME_TAKEN, where="n", ours="\udcff")
    assert read_conflict(write_conflict(conflict)) == msgspec.structs.replace(conflict, ours="\ufffd")


def test_a_code_of_a_newer_version_does_not_keep_a_conflict_from_being_read() -> None:
    newer = b'{"what": "in the way", "code": "of-a-newer-version", "where": "n", "unknown": 7}'
    assert read_conflict(newer) == Conflict(what="in the way", where="n")


def test_one_conflict_is_the_same_as_another_by_what_it_is_about() -> None:
    one = Conflict(what="in one wording", code=ErrorCode.NAME_TAKEN, where="n", ours="a")
    assert one.named == Conflict(what="in another", code=ErrorCode.NAME_TAKEN, where="n", ours="a").named
    assert (
        one.named
        != Conflict(what="in one wording", code=ErrorCode.CHANGED_IN_TWO_WAYS, where="n", ours="a").named
    )
