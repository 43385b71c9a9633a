"""Whether the numbers of a statement stand in a sentence."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.pipeline.ground import numbers_stand_in


def test_a_number_may_be_grouped_spelt_or_named_with_its_unit_otherwise() -> None:
    for sentence, statement in [
        ("limit 1,000 requests", "1000 requests"),
        ("10 000 rows", "10000 rows"),
        ("timeout 30 s", "the timeout is 30 seconds"),
        ("timeout 30s", "the timeout is 30"),
        ("at 05:30 UTC", "at 5:30"),
        ("Python 3.11.4", "Python 3.11"),
        ("v2.14.0", "version 2.14"),
        ("three replicas", "3 replicas"),
        ("3 replicas", "three replicas"),
        ("drei Tage", "3 days"),
        ("3,5 Prozent", "3.5 percent"),
        ("16 H100, IPv6 only", "16 H100 with IPv6"),
        ("for 10, 20 or 30 users", "20 users"),
        ("２台、15分", "2 servers, 15 minutes"),
    ]:
        assert numbers_stand_in(statement, sentence), (sentence, statement)


def test_another_number_or_the_same_of_another_unit_does_not_stand_there() -> None:
    for sentence, statement in [
        ("limit 100", "limit 1000"),
        ("timeout 30 ms", "timeout 30 s"),
        ("Python 3.11", "Python 3.11.4"),
        ("Python 3.10", "Python 3.1"),
        ("two replicas", "three replicas"),
        ("at 5 am", "at 5 pm"),
        ("80 GB", "80 MB"),
        ("port 8080", "port 8081"),
        ("", "7"),
    ]:
        assert not numbers_stand_in(statement, sentence), (sentence, statement)


@given(st.text(alphabet="0123456789.,:-/ kKhHmMvVx%一万two half", max_size=60))
def test_a_text_has_its_own_numbers(text: str) -> None:
    assert numbers_stand_in(text, text)


def test_hostile_texts_are_read() -> None:
    for text in [*HOSTILE, "1," * 50_000, "1 " * 50_000, "1.1" * 30_000]:
        numbers_stand_in("1 and 2", text)
