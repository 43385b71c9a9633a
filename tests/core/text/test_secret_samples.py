"""The table of planted credentials and harmless look-alikes: what is found, where it stands, and that masks hold."""

from __future__ import annotations

import base64
import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.secret_samples import HARMLESS, SPOKEN, credentials, planted, technical_lines

from core.pipeline.intake.redaction import redact
from core.text.secret_values import entropy
from core.text.secrets import find_secrets, looks_secret, masked

PLANTED = planted()
AROUND = (
    "{}", "Some words first.\n{}\nand some after", "- note: {}", "see below\n\n    {}\n", "Grüße, 密 {} 🙂",
)  # fmt: skip


def test_the_table_is_large_enough() -> None:
    assert len({text for text, _ in PLANTED}) >= 60
    assert len(set(HARMLESS)) >= 200


@pytest.mark.parametrize("around", AROUND)
def test_credentials_are_found_wherever_they_stand_and_no_look_alike_is_flagged(around: str) -> None:
    missed = [text for text, _ in PLANTED if not looks_secret(around.format(text))]
    assert len(missed) <= 0.05 * len(PLANTED), missed
    assert [text for text in SPOKEN if not looks_secret(around.format(text))] == []
    assert [text for text in HARMLESS if looks_secret(around.format(text))] == []


@pytest.mark.parametrize("around", ["{}", "Assistant: it says {}\nand goes on", "    {}"])
def test_of_two_hundred_lines_of_paths_digests_and_names_none_is_flagged(around: str) -> None:
    lines = technical_lines()
    assert len(set(lines)) >= 200
    assert [line for line in lines if looks_secret(around.format(line))] == []


@pytest.mark.parametrize("around", AROUND)
def test_no_model_is_shown_any_credential_of_a_common_kind(around: str) -> None:
    texts = credentials()
    assert len(texts) >= 60
    shown = [text for text, value in texts if value in redact(around.format(text)).text]
    assert shown == []


def test_entropy_is_in_bits_a_character() -> None:
    assert [entropy(text) for text in ("", "aaaa", "abcd")] == [0, 0, 2]


@given(st.binary(min_size=32, max_size=48))
def test_no_model_is_shown_random_bytes(data: bytes) -> None:
    encoded = base64.b64encode(hashlib.sha512(data).digest()).decode()
    assert encoded not in redact(f"the blob {encoded} is logged").text


@pytest.mark.slow
def test_all_look_alikes_in_one_text_are_still_none() -> None:
    assert find_secrets("\n\n".join(HARMLESS)) == ()


def test_the_span_is_the_value_alone_and_masking_leaves_the_rest_as_it_was() -> None:
    for text, value in PLANTED:
        assert [text[found.start : found.end] for found in find_secrets(text)] == [value], text
        told = masked(text)
        before, _, after = text.partition(value)
        assert told.startswith(f"{before}[masked: "), text
        assert told.endswith(f"]{after}"), text
        assert value not in told, text
        assert masked(told) == told, text
        assert find_secrets(told) == (), text


@given(
    st.lists(
        st.one_of(
            st.sampled_from([text for text, _ in PLANTED]), st.sampled_from(HARMLESS), st.text(max_size=20)
        ),
        max_size=6,
    )
)
def test_masking_any_mixture_once_is_enough(parts: list[str]) -> None:
    told = masked("\n".join(parts))
    assert find_secrets(told) == ()


@given(st.text(alphabet="password: is=\"'`-/@:.\n{}[]()<>aZ09$", max_size=200))
def test_any_text_is_read_and_spans_are_in_order(text: str) -> None:
    end = 0
    for found in find_secrets(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end
    assert find_secrets(masked(text)) == ()


ADVERSE = (
    '"', "=", "a.a.a.", "1.1.", "a:b ", '"a": ', "<a>x</a>", "@", "a@b.c:", "://a:b@", "token is ", "password: ",
    "key=", "PIN 1", "4111 ", "user: a\n", "login ", "curl ", "wifi ", "1a2b3c4d\n", '\\"', "密码", "İ", "aB3", "sk-",
    "seed phrase ", "foo:\nbar\n", "-----BEGIN " + "RSA PRIVATE KEY-----\n", "API_KEY=", "WIFI:", "token=aB3dE5 ",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("unit", ADVERSE)
def test_the_search_takes_time_in_step_with_the_length(unit: str) -> None:
    def seconds(size: int) -> float:
        began = time.process_time()
        find_secrets(unit * (size // len(unit)))
        return time.process_time() - began

    assert seconds(320_000) < 32 * max(seconds(32_000), 0.002)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "password " * 11_000, "password: " * 10_000, "token\n" * 17_000, "key: " * 20_000, "密码" * 50_000,
        "://" + "a:" * 50_000, "a://b:" * 16_000, ("x://u:" + "p" * 190 + " ") * 500, "sk-" * 33_000, "eyJ" * 33_000,
        "-----BEGIN " + "RSA PRIVATE KEY-----\n", ("-----BEGIN " + "RSA PRIVATE KEY-----\n") * 3_000,
        "-----BEGIN " + "RSA PRIVATE KEY-----\n" + "A" * 100_000, "mysql -u " * 11_000, "credentials " * 9_000,
        ("auth=\"" + "A" * 90) * 1_000, "password" + " " * 100_000, ("A_" * 50 + "PASSWORD=") * 900,
        "İ" * 50_000 + "password", "a" * 500_000, "token=" + "a1" * 100_000, "password for a " * 20_000,
        "-" * 100_000, ("PuTTY-User-Key-File-2\n") * 5_000, "sk-a" * 30_000,
    ],
)  # fmt: skip
def test_hostile_text_ends(text: str) -> None:
    find_secrets(text)
