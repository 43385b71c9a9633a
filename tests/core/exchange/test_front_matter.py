"""Front matter: what is written is read again, what people type is read, and what could lead astray is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples

from core.exchange import front_matter
from core.exchange.records import FormatError

TEXTS = st.text(max_size=20)
NAMES = st.text(min_size=1, max_size=12)
VALUES = st.one_of(
    TEXTS,
    st.integers(-(10**15), 10**15),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.lists(TEXTS, max_size=4),
    st.dictionaries(TEXTS, TEXTS | st.integers(0, 9), max_size=3),
)


@settings(max_examples=examples(300))
@given(st.dictionaries(NAMES, VALUES, max_size=5), st.text(max_size=40))
def test_what_is_written_is_read_again(fields: dict[str, object], body: str) -> None:
    text = front_matter.write(fields) + body
    found, rest, _ = front_matter.read(text)
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
        "title": "A plain title",
        "tags": ["auth", "two words", "three, four", 5],
        "done": True,
        "rank": 3,
        "share": 1.5,
        "empty": None,
        "when": "2026-01-02",
        "url": "https://example.org/a:b",
        "aliases": ["one", "two"],
        "metadata": {"type": "user", "inner": {"deep": "yes it is"}},
        "folded": "first second\n\nthird\n",
        "kept": "first\n  second\n",
        "long": "goes on here",
        "up": "[[Note]]",
        "list": [{"name": "a", "size": 1}, {"name": "b"}],
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &bomb [x]\nb: [*bomb, *bomb]", 2),
        ("ok: 1\nb: *loop", 3),
        ("a: !!python/object/apply:os.system ['true']", 2),
        ("a: [&x 1]", 2),
        ("<<: {a: 1}", 2),
        ("no field here", 2),
        ("a: 1\na: 2", 3),
        ('a: "unclosed', 2),
        ("a: [1, 2", 2),
        ("a: {x: y", 2),
        ("a:\n\tb: 1", 3),
        ("a:\n" + "\n".join("  " * depth + "k:" for depth in range(1, 40)), 9),
        ("a: " + "[" * 5000 + "]" * 5000, 2),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as error:
        read(text)
    assert error.value.line == line


@settings(max_examples=examples(300))
@given(st.text(alphabet="ab:-#[]{}\"'&*!|> \n\t,", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(FormatError):
        front_matter.read(f"---\n{text}\n---\nbody")
