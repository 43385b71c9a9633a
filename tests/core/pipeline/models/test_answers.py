from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline.models.answers import DEEPEST, LONGEST_ANSWER, clamped, last_object
from core.pipeline.models.provider import (
    Answer,
    EmptyAnswerError,
    ModelHttpError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)

GOOD = '{"facts": [1], "entities": []}'


def read(text: str, done: str = "stop") -> dict[str, object]:
    return dict(last_object(Answer(text, done_reason=done), ("facts",)))


def test_the_answer_is_found_whatever_stands_around_it() -> None:
    for text in [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{json.dumps(GOOD)}\n```",
        f"Sure:\n{GOOD}\nDone, {{really}}.",
        f"Use {{braces}} and {{ more: {GOOD}",
        f'An example {{"facts": []}} and then {GOOD}',
        f'<think>{{"facts": [2]}}</think>{GOOD}',
        f'<THINKING>{{"facts": [2]}} <think> deeper</THINKING>{GOOD}',
        f'I quote {{"facts": [2]}} and stop.</think>\n{GOOD}',
        f'{{"facts": [2]}} </think> {{"facts": [3]}} </think> {GOOD}',
        f'{{"result": {{"data": {GOOD}}}}}',
        f"[{GOOD}]",
        '{"facts": [1,], "entities": [],}',
        json.dumps(GOOD),
        f'{{"other": {{}}}} {GOOD} {{"other": 1}}',
        f"<think>the text names Anna, so I say {GOOD}",
        f'<think>hm <think> first {{"facts": [2]}}, rather {GOOD}',
        f'<think>one</think> <think>two, never closed {{"other": 1}} {GOOD} That is all.',
        f'{GOOD} <think>was that right? {{"facts": []}}',
    ]:
        assert read(text)["facts"] == [1]


def test_a_tag_within_a_string_of_the_answer_is_text() -> None:
    content = "qwen3 writes <think> and </think> around it"
    assert read(json.dumps({"facts": [content]}))["facts"] == [content]


def test_what_holds_no_answer_is_an_error_that_says_why() -> None:
    for text, error in [
        ("", EmptyAnswerError),
        (" \n", EmptyAnswerError),
        ("<think>hm</think> \n", EmptyAnswerError),
        (f"{GOOD}</think>", EmptyAnswerError),
        ("not json at all", UnreadableAnswerError),
        ("[]", UnreadableAnswerError),
        ("{}", UnreadableAnswerError),
        ('{"facts": NaN}', UnreadableAnswerError),
        ('{"facts": [-Infinity]}', UnreadableAnswerError),
        ("<think>maybe {so} or not", TruncatedAnswerError),
        ('<think>maybe {"facts": [{"con', TruncatedAnswerError),
        (GOOD[:-1], TruncatedAnswerError),
        ('{"facts": [{"content": "cut he', TruncatedAnswerError),
        (f'Example {GOOD} answer {{"facts": [{{"con', TruncatedAnswerError),
        ("x" * (LONGEST_ANSWER + 1), UnreadableAnswerError),
    ]:
        with pytest.raises(error):
            read(text)


def test_every_cut_of_an_answer_is_truncated_or_unreadable() -> None:
    whole = '{"facts": [{"content": "a \\"b\\" c", "confidence": 0.75}, true, null], "entities": []}'
    for end in range(2, len(whole)):
        with pytest.raises(TruncatedAnswerError):
            read(whole[:end])


def test_an_answer_that_ran_out_of_room_is_truncated_even_where_it_looks_whole() -> None:
    with pytest.raises(TruncatedAnswerError):
        read(GOOD, done="length")


MEGABYTE = 1_000_000


@pytest.mark.slow
def test_a_megabyte_of_anything_is_read_within_its_bounds() -> None:
    for unit in [
        "{",
        "}",
        '{"',
        '{"a":',
        '{":',
        '{"a":[',
        '{"a":[{},',
        '{"\\',
        '{"\\q"',
        '{"\\\\"',
        "<think>",
        "</think>",
        "<think></think>",
        '{"facts":',
        '{"facts":[],',
        '{"facts":{"a":1},"x',
        '"',
        "[",
        "{ ",
        '{"a":"b',
        "```",
        "\\",
        '{"a":1}',
        '{"a":tru',
        '{\n"',
    ]:
        for text in (unit * (MEGABYTE // len(unit)), f"{unit * (MEGABYTE // len(unit))}{GOOD}"):
            with suppress(EmptyAnswerError, UnreadableAnswerError, TruncatedAnswerError):
                read(text)


def test_nesting_beyond_the_bound_is_refused_without_recursion() -> None:
    deep = '{"facts":' + "[" * 500_000 + "]" * 500_000 + "}"
    with pytest.raises(UnreadableAnswerError):
        read(deep)
    edge = DEEPEST - 1
    assert read('{"facts":' + "[" * edge + "]" * edge + "}")


texts = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(st.dictionaries(texts, json_values), st.booleans())
def test_json_is_read_as_the_library_reads_it(value: dict[str, object], ascii_only: bool) -> None:
    text = json.dumps({"facts": value}, ensure_ascii=ascii_only)
    assert read(text) == json.loads(text, parse_int=lambda raw: int(raw) if len(raw) <= 18 else float(raw))


@given(st.text())
def test_any_text_gives_an_object_or_a_typed_error(text: str) -> None:
    for tried in (text, '{"facts": ' + text, f"<think>{text}{GOOD}"):
        with suppress(EmptyAnswerError, UnreadableAnswerError, TruncatedAnswerError):
            assert "facts" in read(tried)


def test_lone_surrogates_become_text_that_can_be_stored() -> None:
    assert read('{"facts": ["a\\ud800b"]}')["facts"] == ["a\ufffdb"]


def test_confidence_is_a_fraction() -> None:
    for value, expected in [
        (0.7, 0.7),
        (1.5, 1),
        (-0.3, 0),
        (None, 0.5),
        ("0.9", 0.9),
        (" .75 ", 0.75),
        ("0,8", 0.8),
        ("1.5", 1),
        ("-0.3", 0),
        ("90 %", 0.9),
        ("85%", 0.85),
        ("70 percent", 0.7),
        ("9/10", 0.9),
        ("~0.9", 0.9),
        ("0.9 (certain)", 0.9),
        ("high", 0.9),
        ("Very High", 0.95),
        ("high confidence", 0.9),
        ("medium", 0.6),
        ("LOW", 0.3),
        ("", 0.5),
        ("1/0", 0.5),
        ("-", 0.5),
        ("%", 0.5),
        ("nan", 0.5),
        ("inf", 0.5),
        ("1e400", 0.5),
        ("9" * 5_000, 0.5),
        ("as the text says", 0.5),
        (["0.9"], 0.5),
        (True, 0.5),
        (float("inf"), 0.5),
        (10**400, 1),
    ]:
        assert clamped(value) == expected  # type: ignore[arg-type]


def test_an_error_says_during_what_it_came_and_keeps_what_it_knows() -> None:
    error = ModelHttpError("connection refused", where="ollama", status=503).during("LLM extraction failed")
    assert error.what == "LLM extraction failed: connection refused"
    assert (error.status, error.where, error.kind, error.retryable) == (503, "ollama", "http", True)
    assert str(error) == "ollama: LLM extraction failed: connection refused"
    assert not ModelHttpError("bad request", status=400).retryable
