"""What a page of Claude Code says, and how it is changed: what stays as it was keeps its bytes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core.exchange import memory_index
from core.exchange.dialect import CLAUDE as dialect
from core.exchange.dialect import Said
from core.exchange.records import FormatError
from core.model.note import Note
from core.text.normalise import normalise_content, normalise_line

LAWS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
CHARACTERS = st.characters(exclude_categories=["Cs"], max_codepoint=0x2FFF)
TEXT = st.text(st.one_of(st.sampled_from("ab \n\n-#:[]()'\"`*|&%"), CHARACTERS), max_size=50)
KINDS = {
    "user": ("user", "note"),
    "feedback": ("user", "preference"),
    "project": ("project", "note"),
    "reference": ("shared", "note"),
}
FRONT = st.sampled_from(
    [
        "",
        "---\nname: slug\n---\n",
        "---\nname: A name\ndescription: what it is\ntype: user\n---\n",
        '---\nname: slug\ntitle: "T: t"\ndescription: >\n  two\n  lines\nmetadata: \n'
        "  node_type: memory\n  type: project\n---\n",
        "---\n# comment\ndescription: 'it''s'  # why\nother: [1, 2]\n---\n",
        "---\nmetadata:\n---\n",
        "---\r\nname: crlf\r\nmetadata:\r\n  type: feedback\r\n---\r\n",
    ]
)  # fmt: skip


def _said(page: str) -> Said:
    try:
        return dialect.read("file-name.md", page)
    except FormatError:
        assume(False)
        raise


def _note(title: str, content: str, kind: str = "") -> Note:
    """A note as the type of a page makes it; "" for another type than any page has."""
    scope, type_ = KINDS.get(kind, ("self", "note"))
    return Note(
        id="note-claude-1", nugget_name="claude", title=title, content=content, scope=scope, type=type_
    )


def _changed(page: str, **fields: str) -> str:
    said = _said(page)
    before = _note(said.title, said.content)
    after = _note(
        fields.get("title", said.title), fields.get("content", said.content), fields.get("kind", "")
    )
    return dialect.changed("file-name.md", page, before, after)


@pytest.mark.slow
@LAWS
@given(front=FRONT, body=TEXT)
def test_a_page_to_which_nothing_is_changed_is_the_same(front: str, body: str) -> None:
    assert _changed(front + body) == front + body


@pytest.mark.slow
@LAWS
@given(front=FRONT, body=TEXT, content=TEXT)
def test_a_page_says_the_text_that_it_was_given(front: str, body: str, content: str) -> None:
    content = normalise_content(content)
    before = _said(front + body)
    made = _changed(front + body, content=content)
    said = dialect.read("file-name.md", made)
    assert said.title == before.title or not front
    if not content.startswith("#") and content.strip():
        assert said.content.split() == content.split()
    assert _changed(made, content=said.content) == made


@pytest.mark.slow
@LAWS
@given(front=FRONT, body=TEXT, title=TEXT)
def test_a_page_says_the_title_that_it_was_given_and_its_text_stays(
    front: str, body: str, title: str
) -> None:
    title = " ".join(normalise_line(title).split())
    assume(title.strip())
    before = _said(front + body)
    said = dialect.read("file-name.md", _changed(front + body, title=title))
    assert said.content == before.content
    if title.isprintable():
        assert said.title == title


@pytest.mark.slow
@LAWS
@given(front=FRONT, body=TEXT, kind=st.sampled_from(["user", "feedback", "project", "reference"]))
def test_a_page_says_the_type_that_it_was_given_where_it_has_front_matter(
    front: str, body: str, kind: str
) -> None:
    before = _said(front + body)
    said = dialect.read("file-name.md", _changed(front + body, kind=kind))
    assert (said.title, said.content) == (before.title, before.content)
    assert (kind in said.tags) == bool(front)


@pytest.mark.slow
@LAWS
@given(title=TEXT, content=TEXT, kind=st.sampled_from(["user", "feedback", "project", "reference", ""]))
def test_a_new_page_says_what_it_was_made_of(title: str, content: str, kind: str) -> None:
    title, content = " ".join(normalise_line(title).split()), normalise_content(content)
    assume(title.strip() and title.isprintable() and content.strip() and not content.startswith("#"))
    file = dialect.file_for(title, {"note.md"})
    said = dialect.read(file, dialect.new(file, _note(title, content, kind)))
    assert (said.title, said.content.split()) == (title, content.split())
    assert said.tags == (kind or "project",)


@pytest.mark.parametrize(
    ("title", "file"),
    [
        ("Deploy: needs the VPN", "deploy-needs-the-vpn.md"), ("../../etc/passwd", "etc-passwd.md"),
        ("CON", "con-note.md"), ("Memory", "memory-note.md"), ("Über Größe", "über-größe.md"),
        ("...", "note-2.md"), ("a" * 300, "a" * 60 + ".md"), ("部署" * 60, "部署" * 20 + ".md"),
    ],
)  # fmt: skip
def test_names_of_new_pages_are_safe_on_every_system(title: str, file: str) -> None:
    assert dialect.file_for(title, {"note.md"}) == file


@pytest.mark.slow
@LAWS
@given(
    index=st.lists(
        st.sampled_from(
            ["- [A](a.md) — x\n", "- [B](b.md)\n", "words\n", "\n", "# Head\n", "- [u](https://x.md)\n"]
        )
    ),
    end=st.sampled_from(["", "words", "- [A](a.md)"]),
    file=st.sampled_from(["a.md", "b.md", "c.md"]),
    words=st.lists(st.sampled_from(["words\n", "other\n", "\n", "# Head\n"])),
)
def test_the_index_loses_and_gets_back_a_line_and_other_words(
    index: list[str], end: str, file: str, words: list[str]
) -> None:
    text, files = "".join(index) + end, {"a.md", "b.md"}
    without, lines = memory_index.without_lines(text, file)
    if lines:
        assert memory_index.entries(without, {file}) == []
        back = memory_index.with_lines(without, file, lines)
        assert [one.strip() for one in memory_index.entries(back, {file})] == [
            one.strip() for one in memory_index.entries(text, {file})
        ]
        assert memory_index.own_words(back, {file}).split() == memory_index.own_words(text, {file}).split()
    else:
        assert without == text
    own = memory_index.own_words(text, files)
    assert memory_index.with_own_words(text, files, own) in (text, text + "\n")
    changed = memory_index.with_own_words(text, files, "".join(words))
    assert memory_index.own_words(changed, files).split() == "".join(words).split()
    assert memory_index.entries(changed, files) or not memory_index.entries(text, files)
