"""Credentials that are taken out, and words that stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.model.secrets import mark_of
from core.pipeline.intake.redaction import MARK, Redacted, redact, shown
from core.text import secrets

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "redaction.json").read_text("utf-8"))


def test_texts_are_redacted_as_the_format_says() -> None:
    for vector in VECTORS:
        found, expected = redact(vector["input"]), vector["expected"]
        if isinstance(expected, str):
            assert found.text == expected
        else:
            assert (found.count > 0, found.text != vector["input"]) == (
                expected["redacted"],
                expected["redacted"],
            )


def test_known_shapes_are_taken_out_and_what_stands_around_stays() -> None:
    for secret, around in [
        ("sk-proj-" + "abcdefghij1234567890ABCD", "my {} key"),
        ("AKIA" + "IOSFODNN7QRSTUVW", "id {}."),
        ("s3cr" + "etpw", "postgres://app:{}@db.internal/x"),
        ("tul" + "ips", "https://user:{}@host/x"),
        ("eyJhbGciOiJIUzI1" + "NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "jwt {} end"),
        ("-----BEGIN RSA PRIVATE " + "KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "a\n{}\nb"),
        ("hunt" + "er2", "my password is {} ok"),
        ("k3Jh5Lq9Zx" + "81Mn0Pb4Vc7Td2Rf6Gy8Ws1", "blob {}"),
    ]:
        assert redact(around.format(secret)).text == around.format(MARK)


def test_digests_paths_names_and_prose_stay() -> None:
    for text in [
        "id 3fa85f64-5717-4562-b3fc-2c963f66afa6",
        "sk-learn-estimators and pk_customer",
        "max_tokens: 4096",
        "Bearer authentication now",
        "src/very/long/path/to/some/module2/file_name_here/x.py",
        "password=${DB_PASSWORD}",
        "kubernetes-service-account-token-v2",
        "a-branch-name-with-many-words-and-a-number-2026",
    ]:
        assert redact(text).text == text


PIECES = [
    "password",
    "token",
    "=",
    ": ",
    " ",
    "hunter2x",
    "$A=",
    "Bearer ",
    MARK,
    "sk-",
    "abc123def456",
    "://",
    "a:b@c ",
    "\n",
]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
    assert (once.count == 0) == (once.text == text)


def test_hostile_texts_are_redacted() -> None:
    for text in HOSTILE:
        assert redact(f"{text} password=hunter2hunter2").count >= 1


@pytest.mark.parametrize(
    "text",
    [
        "<password>hunter2!x9</password>",
        '{\\"token\\": \\"aB3dE5fG7hJ9kL1mN3\\"}',
        "my password is:\n  hunter2!x9\nthanks",
    ],
)
def test_what_people_are_told_of_is_kept_from_models_too(text: str) -> None:
    found = secrets.find_secrets(text)
    assert found
    shown = redact(text).text
    assert all(text[one.start : one.end] not in shown for one in found)


def test_people_see_dots_of_the_same_length_for_what_a_record_holds() -> None:
    value = "Blau3" + "Katze!77"
    record = Redacted(f"The password is {value}, {value} again.", 3)
    told = shown((record, {"said": [value], "text": record.text}))
    dotted = record.text.replace(value, "•" * len(value))
    assert told == (Redacted(dotted, 3), {"said": ["•" * len(value)], "text": dotted})
    assert shown(told) == told
    assert shown(record, {mark_of(value)}) == record
