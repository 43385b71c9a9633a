"""Whether the numbers of a statement stand in a text, however either writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.coding_sessions import coding_sessions
from kits.hostile import HOSTILE

from core.pipeline.intake.numbers import numbers_of


def test_a_number_written_otherwise_is_the_same_number() -> None:
    for text, statement in [
        ("limit 1,000 requests", "1000 requests"),
        ("limit 1.000 Anfragen", "1000"),
        ("10 000 rows", "10000 rows"),
        ("64k entries", "64,000 entries"),
        ("a limit of 1k", "1,000"),
        ("2.5 million rows", "2500000 rows"),
        ("timeout 30 s", "the timeout is 30 seconds"),
        ("timeout_ms = 30000", "a timeout of 30 seconds"),
        ("half a minute", "30 seconds"),
        ("2 MB flash", "2048 kB"),
        ("15分", "15 minutes"),
        ("5万", "50000"),
        ("at 5 pm", "at 17:00"),
        ("um 3 Uhr", "at 3:00"),
        ("05:30 UTC", "at 5:30"),
        ("at 14h30", "at 14:30"),
        ("Python 3.11.4", "Python 3.11"),
        ("v2.14.0", "version 2.14.0"),
        ("Python 3.11.4", "Python 3"),
        ("on 2026-11-17", "on 17.11.2026"),
        ("on 17 November 2026", "on 2026-11-17"),
        ("on 2026-11-17", "on November 17, 2026"),
        ("three replicas", "3 replicas"),
        ("3 replicas", "three replicas"),
        ("twenty-five", "25"),
        ("drei Tage", "3 days"),
        ("7 days", "one week"),
        ("16 H100", "16 H100"),
        ("4 KiB", "4096 bytes"),
        ("2 GiB", "2048 MiB"),
        ("5 to 10 minutes", "10 minutes, at least 5 minutes"),
        ("10 go to staging", "10 pods"),
        ("3 mo", "3 months"),
        ("disque de 5 To", "5 TB"),
        ("address 0x77", "0x77"),
        ("80 %", "80 percent"),
        ("3,5 Prozent", "3.5 percent"),
        ("IPv6 only", "IPv6"),
        ("for 10, 20 or 30 users", "20 users"),
        ("a limit", "one limit"),
        ("１２ layers", "12 layers"),
    ]:
        assert numbers_of(text).hold(statement)


def test_another_number_or_the_same_of_another_unit_does_not_stand_there() -> None:
    for text, statement in [
        ("limit 100", "limit 1000"),
        ("timeout 30 ms", "timeout 30 s"),
        ("Python 3.11", "Python 3.11.4"),
        ("Python 3.10", "Python 3.1"),
        ("5 retries", "6 retries"),
        ("two replicas", "three replicas"),
        ("at 5 am", "at 17:00"),
        ("H100", "H200"),
        ("0x76", "0x77"),
        ("5 minutes", "5 hours"),
        ("20 %", "30 %"),
        ("on 2026-11-17", "on 2026-11-18"),
        ("port 8080", "port 8081"),
        ("1.2.3", "1.2.4"),
        ("version 15", "15.2"),
        ("4 KiB", "4000 bytes"),
        ("1 GiB", "1000 MB"),
        ("5 to 10 minutes", "5 TB"),
        ("5-10 min", "5 hours"),
        ("80 GB", "80 MB"),
        ("none", "the pool has 50"),
        ("50 and 60", "110"),
        ("", "7"),
    ]:
        assert not numbers_of(text).hold(statement)


@pytest.mark.slow
def test_each_number_of_the_facts_labelled_in_sessions_stands_in_its_text() -> None:
    lacking = [
        (session.name, content)
        for session in coding_sessions()
        for content in (
            *(fact.content for fact in session.facts),
            *(change.new for change in session.changes),
        )
        if not numbers_of(session.text).hold(content)
    ]
    assert lacking == []


@given(st.text(alphabet="0123456789.,:-/ kKhHmMvVx%一万one half two", max_size=60))
def test_a_text_holds_its_own_numbers(text: str) -> None:
    assert numbers_of(text).hold(text)


@pytest.mark.slow
def test_hostile_texts_are_read() -> None:
    for text in [*HOSTILE, "1," * 50_000, "1 " * 50_000, "1.1" * 30_000, "two " * 30_000]:
        numbers_of(text).hold(text[:1_000])
