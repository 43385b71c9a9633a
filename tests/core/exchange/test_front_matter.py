"""Front matter: what is written is read again, what people type is read, and what could lead astray is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples

from core.exchange import front_matter

TEXTS = st.text(max_size=20)
NAMES = st.text(min_size=1, max_size=12)
VALUES = st.one_of(
    TEXTS, st.integers(-(10**15), 10**15), st.floats(allow_nan=False, allow_infinity=False), st.booleans(),
    st.none(), st.lists(TEXTS, max_size=4), st.dictionaries(TEXTS, TEXTS | st.integers(0, 9), max_size=3),
)  # fmt: skip


@settings(max_examples=examples(300))
@given(st.dictionaries(NAMES, VALUES, max_size=5), st.text(max_size=40))
def test_what_is_written_is_read_again(fields: dict[str, object], body: str) -> None:
    text = front_matter.write(fields) + body
    found, rest = front_matter.read(text)
    assert found == {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
    }
    assert rest == body


def read(text: str) -> dict[str, object]:
    return front_matter.read(f"---\n{text}\n---\n")[0]


def test_what_people_type_is_read() -> None:
    assert read(
        "title: A plain title  # said aside\n"
        "# a comment\n"
        "tags: [auth, 'two words', \"three, four\", 5]\n"
        "done: true\n"
        "rank: 3\n"
        "share: 1.5\n"
        "empty:\n"
        "when: 2026-01-02\n"
        "url: https://example.org/a:b\n"
        'aliases:\n- one\n- "two"\n'
        "metadata:\n  type: user\n  inner:\n    deep: yes it is\n"
        "folded: >\n  first\n  second\n\n  third\n"
        "kept: |\n  first\n    second\n"
        "long: goes on\n  here\n"
        "up: [[Note]]\n"
        "list:\n  - name: a\n    size: 1\n  - name: b"
    ) == {
        "title": "A plain title", "tags": ["auth", "two words", "three, four", 5], "done": True, "rank": 3,
        "share": 1.5, "empty": None, "when": "2026-01-02", "url": "https://example.org/a:b",
        "aliases": ["one", "two"], "metadata": {"type": "user", "inner": {"deep": "yes it is"}},
        "folded": "first second\nthird\n", "kept": "first\n  second\n", "long": "goes on here",
        "up": "[[Note]]", "list": [{"name": "a", "size": 1}, {"name": "b"}],
    }  # fmt: skip


def test_values_that_people_leave_without_quotation_marks_are_read() -> None:
    assert read(
        "description: Use this: never that\nby: @ann\ndone: true\ntags: [a, b]\nup: [[A]], [[B]]"
    ) == {
        "description": "Use this: never that", "by": "@ann", "done": True, "tags": ["a", "b"],
        "up": "[[A]], [[B]]",
    }  # fmt: skip


@pytest.mark.parametrize(
    "inner",
    [
        "Harbour Works Ltd.\n12 Pier Road", "title: {{title}}\n{{#tags}}- {{.}}{{/tags}}", "no field here",
        "a: 1\na: 2", 'a: "unclosed', "a:\n\tb: 1", "a: !!python/object/apply:os.system\n - x",
        "a: &bomb [x]\nb:\n - *bomb", "a:\n" + "\n".join("  " * depth + "k:" for depth in range(1, 40)),
        "a:\n " + "[" * 5000 + "]" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_yaml_stays_in_the_text_of_its_page(inner: str) -> None:
    page = f"---\n{inner}\n---\nDear reader,\n"
    assert front_matter.read(page) == ({}, page)


@settings(max_examples=examples(300))
@given(st.text(alphabet="ab:-#[]{}\"'&*!|> \n\t,", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert "body" in front_matter.read(f"---\n{text}\n---\nbody")[1]
