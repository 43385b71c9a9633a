"""Pages of a team: what is written is read again, and a change touches the lines that it concerns."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core.exchange.dialect import TEAM as dialect
from core.exchange.records import FormatError, Reference
from core.model.infer import MetaInput, infer_meta
from core.model.note import (
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    Note,
    custom_tags,
    normalise_tag,
    normalised_note,
    replace,
)
from core.text.normalise import normalise_content, normalise_line

LAWS = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
WORDS = st.sampled_from(
    [
        "a", "b c", "x: y", "- z", "# h", "'q", '"d"', "yes", "2024", "[a]", "{b}", "to", "&x", "é", "名",
        "a,b", "#tag", "a #b",
    ]
)  # fmt: skip
TITLES = st.one_of(TEXT, WORDS).map(lambda text: normalise_line(text)[:200].strip()).filter(bool)
TAGS = st.lists(st.one_of(TEXT, WORDS).map(normalise_tag).filter(bool), max_size=4, unique=True)
LINKS = st.lists(
    st.builds(
        Reference,
        st.one_of(WORDS, st.sampled_from(["vpn-setup", "api/limits", "2024-plan", "über"])),
        st.one_of(WORDS, st.just("linked"), TEXT.map(normalise_line).filter(bool)),
    ),
    max_size=4,
    unique=True,
)


def note(**fields: Any) -> Note:
    usual = infer_meta("note", "", "", (), dialect.usual)._asdict()
    made = Note(
        **{"id": "note-team-1", "nugget_name": "team", "title": "T", "content": "", **usual, **fields}
    )
    return normalised_note(made, lambda _: True)


@st.composite
def notes(draw: Any) -> Note:
    content = normalise_content("\n".join(draw(st.lists(st.one_of(TEXT, WORDS), max_size=5))))
    meta = infer_meta(
        "note", "", "", (),
        MetaInput(
            subject=draw(st.one_of(st.none(), st.just("user:ada"))),
            scope=draw(st.sampled_from(SCOPES)),
            type=draw(st.sampled_from(TYPES)),
            source=draw(st.sampled_from(SOURCES)),
            confidence=draw(st.one_of(st.none(), st.floats(0, 1))),
            stability=draw(st.sampled_from(STABILITIES)),
        ),
    )  # fmt: skip
    return note(
        title=draw(TITLES), content=content, tags=tuple(draw(TAGS)), hidden=draw(st.booleans()),
        source_key=draw(st.one_of(st.none(), TITLES)), nugget_name=draw(st.sampled_from(["team", "other"])),
        **meta._asdict(),
    )  # fmt: skip


def said(page: str, of: Note) -> Note:
    """A note with what a page says."""
    found = dialect.read("some-page.md", page)
    return normalised_note(
        replace(
            of, title=found.title, content=found.content, tags=found.tags, hidden=found.hidden,
            source_key=found.key or None, nugget_name=found.nugget or dialect.nugget,
            **infer_meta("note", "", "", (), found.meta)._asdict(),
        ),
        lambda _: True,
    )  # fmt: skip


def _plain(made: Note) -> Note:
    """Without the order of its tags, which says nothing."""
    return replace(made, tags=tuple(sorted(made.tags)), vector=note().vector)


@pytest.mark.slow
@LAWS
@given(made=notes(), links=LINKS)
def test_what_is_written_is_read_again(made: Note, links: list[Reference]) -> None:
    page = dialect.with_links("some-page.md", dialect.new("some-page.md", made), links, ())
    assert _plain(said(page, made)) == _plain(made)
    wanted = {Reference(link.name.removesuffix(".md"), link.reason) for link in links}
    assert wanted <= set(dialect.read("some-page.md", page).links)
    assert dialect.with_links("some-page.md", page, (), links) == dialect.new("some-page.md", made)


@pytest.mark.slow
@LAWS
@given(before=notes(), after=notes())
def test_a_change_says_what_became_of_the_note_and_another_one_takes_it_back(
    before: Note, after: Note
) -> None:
    page = dialect.new("some-page.md", before)
    changed = dialect.changed("some-page.md", page, before, after)
    assert _plain(said(changed, after)) == _plain(after)
    assert dialect.changed("some-page.md", changed, after, after) == changed
    again = dialect.changed("some-page.md", changed, after, before)
    assert _plain(said(again, before)) == _plain(before)


@pytest.mark.slow
@LAWS
@given(made=notes(), other=notes(), links=LINKS)
def test_a_change_of_one_field_changes_its_lines_alone(
    made: Note, other: Note, links: list[Reference]
) -> None:
    page = dialect.with_links("p.md", dialect.new("p.md", made), links, ())
    assume(made.content)
    for change in (
        {"tags": (*made.tags, "zz-new")},
        {"source_key": "another key"},
        {"hidden": not made.hidden},
        {"confidence": 0.123},
        {"content": f"{made.content}\n\nOne more line."},
    ):
        after = normalised_note(replace(made, **change), lambda _: True)
        changed = dialect.changed("p.md", page, made, after)
        old, new = page.split("\n"), changed.split("\n")
        added, gone = [line for line in new if line not in old], [line for line in old if line not in new]
        assert len(added) <= 3, change
        assert len(gone) <= 2, change


LINES = [
    "---", "tags: [a, 'b", "tags:", "  - a", "- b", "links: {a: b}", "links: [[a]]", "  - to: x", "    reason: y",
    "hidden: yes", "confidence: 2", "type: banana", "title: 2024", "# T", "key: |", "  block", "tags: a, b # c",
    "nugget: ../evil", "&a x: *a", "unknown: kept", "\ttab: x", "...", "<<<<<<< HEAD", "text", "",
]  # fmt: skip


@pytest.mark.slow
@LAWS
@given(
    data=st.one_of(
        st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
    ),
    fields=st.lists(st.sampled_from(LINES), max_size=12),
    newline=st.sampled_from(["\n", "\r\n"]),
    made=notes(),
)
def test_no_bytes_crash_it_and_unknown_lines_stay(
    data: bytes, fields: list[str], newline: str, made: Note
) -> None:
    for page in (
        data.decode("utf-8", "replace"),
        newline.join(["---", *fields, "---", "text"]),
        newline.join(fields),
    ):
        try:
            found = dialect.read("p.md", page)
        except FormatError:
            continue
        assert found.title
        before = said(page, made)
        after = normalised_note(
            replace(before, tags=(*before.tags, "zz"), hidden=not before.hidden), lambda _: True
        )
        try:
            changed = dialect.changed("p.md", page, before, after)
        except FormatError:
            # An edit that would leave front matter which cannot be read is refused.
            continue
        now = dialect.read("p.md", changed)
        assert "zz" in now.tags
        assert now.hidden is not found.hidden
        assert (now.title, now.content.split()) == (found.title, found.content.split())
        if "unknown: kept" in page:
            assert "unknown: kept" in changed
        linked = dialect.with_links("p.md", changed, [Reference("some note", "why: so")], ())
        assert set(now.links) | {Reference("some note", "why: so")} == set(dialect.read("p.md", linked).links)


@pytest.mark.parametrize(
    ("field", "link"),
    [
        ("links: billing", ("billing", "linked")),
        ("links: [billing, other]", ("billing", "linked")),
        ("links: [[billing]]", ("billing", "linked")),
        ("links:\n  - ./billing.md", ("billing", "linked")),
        ("links:\n  - billing: it pays", ("billing", "it pays")),
        ("links:\n- to: billing\n  reason: it pays", ("billing", "it pays")),
        ("links:\n  billing: it pays", ("billing", "it pays")),
    ],
)
def test_links_are_read_as_people_write_them(field: str, link: tuple[str, str]) -> None:
    links = dialect.read("p.md", f"---\n{field}\n---\n# T\n").links
    assert link in [(one.name, one.reason) for one in links]


def _git(folder: Path, *arguments: str) -> int:
    named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *named, *arguments], cwd=folder, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"tags": ("b", "m", "zz")}, {"content": "Another text."}),
        ({"tags": ("b", "m", "zz")}, {"scope": "user"}),
        ({"tags": ("a", "b", "m")}, {"tags": ("b", "m", "zz")}),
        ({"hidden": True}, {"title": "Another title"}),
        ({"scope": "user"}, {"content": "First.\n\nMiddle.\n\nNew end."}),
    ],
)
def test_git_merges_branches_that_change_different_fields_of_one_note(
    tmp_path: Path, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    base = note(title="Title", content="First.\n\nMiddle.\n\nEnd.", tags=("b", "m"))
    page = dialect.with_links("p.md", dialect.new("p.md", base), [Reference("x", "linked")], ())
    path = tmp_path / "p.md"
    for name, change in (("base", {}), ("ours", ours), ("theirs", theirs)):
        after = normalised_note(replace(base, **change), lambda _: True)
        (tmp_path / name).write_text(dialect.changed("p.md", page, base, after))
    assert _git(tmp_path, "merge-file", "ours", "base", "theirs") == 0
    path.write_text((tmp_path / "ours").read_text())
    merged = said(path.read_text(), base)
    for field, value in {**ours, **theirs}.items():
        if field == "tags":
            assert set(ours.get("tags", ())) | set(theirs.get("tags", ())) == set(custom_tags(merged))
        else:
            assert getattr(merged, field) == value
