"""Errors speak in types: a code for each, the field at fault, what can be done; and notices say what they are about."""

from __future__ import annotations

import re
from pathlib import Path

import core
from core.errors import (
    REMEDIES,
    ErrorCode,
    InvalidInputError,
    Notice,
    Remedy,
    StorageError,
)


def test_codes_are_stable_names_each_of_its_own() -> None:
    assert len({str(code) for code in ErrorCode}) == len(ErrorCode)
    assert [code for code in ErrorCode if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)] == []
    assert [
        code.name
        for code in ErrorCode
        if code.name.replace("_", "-").lower() != code.replace("utf-8", "utf8")
    ] == []


def test_an_error_says_its_code_field_and_remedy_and_its_words_follow_from_them() -> None:
    error = InvalidInputError(
        "no value", code=ErrorCode.EMPTY, field="value", remedy=Remedy("repair"), todo="or leave it"
    )
    assert (error.code, error.field, error.remedy) == (ErrorCode.EMPTY, "value", Remedy("repair"))
    assert error.todo == "nuggets verify --repair fixes it; or leave it"
    assert str(error) == error.message == f"no value; {error.todo}"
    assert InvalidInputError("x").code is ErrorCode.INVALID_INPUT
    assert InvalidInputError.code is ErrorCode.INVALID_INPUT


def test_every_remedy_that_is_given_is_known() -> None:
    given = re.compile(r"Remedy\(\s*\"([^\"]*)\"(?: if .*? else \"([^\"]*)\")?")
    root = Path(core.__path__[0]).parent
    sources = [path for name in ("core", "nuggets_tui") for path in (root / name).rglob("*.py")]
    found = {name for path in sources for names in given.findall(path.read_text()) for name in names if name}
    assert found <= {*REMEDIES}


def test_a_notice_says_what_it_is_about_whatever_its_words() -> None:
    error = StorageError(
        "is full", where="nuggets.db", kept="nothing was written", remedy=Remedy("free-space")
    )
    notice = Notice.of(error)
    assert notice == "nuggets.db: is full; free space on the disk and try again"
    assert notice.said == "nuggets.db: is full"
    assert notice.is_about(error)
    assert notice.is_about(StorageError("in other words", where="nuggets.db"))
    assert not notice.is_about(StorageError("is full", where="graph.json"))
    assert Notice.of(error, error.kept) == error.message
    settings = Notice("colours is no setting", code=ErrorCode.SETTINGS_UNSURE)
    assert settings.is_about(InvalidInputError("in other words", code=ErrorCode.SETTINGS_UNSURE))
    assert not settings.is_about(InvalidInputError("colours is no setting"))
