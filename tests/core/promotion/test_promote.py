"""Promotion into MEMORY.md: what gets in, what stays, and that nothing else moves."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.graph_kit import draft_of, make_note, memory_of
from kits.hostile import HOSTILE

from core.errors import BrokenFileError
from core.model.note import Note, replace
from core.promotion import PromotionResult, promote
from core.promotion.choose import section_of
from core.settings import PromotionSettings
from core.text.memory_page import MarkdownPage, split_lines

PATH = "/somewhere/MEMORY.md"


BEGAN = "Auto-promoted from nuggets graph notes (3+ recalls across sessions)."


def run(notes: list[Note], existing: bytes | None = None, **wanted: Any) -> PromotionResult:
    return promote(draft_of(memory_of(notes)), existing, PATH, **wanted)


def written(notes: list[Note], existing: bytes | str | None = None) -> str:
    before = existing.encode() if isinstance(existing, str) else existing
    result = run(notes, before)
    after = result.change_set.files[0].after if result.change_set.files else before
    return (after or b"").decode("utf-8", "surrogateescape")


def often(number: int, content: str, title: str, **fields: Any) -> Note:
    return make_note(number, content, title, **({"hits": 3} | fields))


def bullets(text: str) -> list[tuple[str, str]]:
    return [(found.section, found.title) for found in MarkdownPage(split_lines(text)).bullets]


# What the original wrote, and what is otherwise here on purpose


def scenario(golden: Path, name: str) -> tuple[list[Note], str | None, list[dict[str, Any]]]:
    found = json.loads((golden / "promote.json").read_text(encoding="utf-8"))["scenarios"][name]
    return [msgspec.convert(note, Note) for note in found["graph"]["notes"]], found["before"], found["runs"]


def test_golden_new_file_is_the_same_but_for_indented_lines(golden: Path) -> None:
    notes, _, runs = scenario(golden, "none")
    assert written(notes) == runs[0]["after"].replace("\nthen give up", "\n  then give up")
    assert run(notes).promoted == runs[0]["returned"] == 7
    assert run(notes).updated == 0


@pytest.mark.parametrize("name", ["none", "human_text", "same_key_changed", "hidden_temporary"])
def test_golden_files_of_the_original_are_continued_and_the_second_run_does_nothing(
    golden: Path, name: str
) -> None:
    notes, _, runs = scenario(golden, name)
    first = written(notes, runs[0]["after"])
    result = run(notes, first.encode())
    assert result.change_set.empty
    assert (result.promoted, result.updated, result.diff) == (0, 0, "")
    assert len(bullets(first)) == len(set(bullets(first)))


# What is promoted, and where


def test_a_note_needs_to_be_visible_durable_recalled_often_and_say_something() -> None:
    notes = [
        often(1, "yes", "in"),
        often(2, "no", "hidden", hidden=True),
        often(3, "no", "temporary", stability="temporary"),
        often(4, "no", "seldom", hits=2),
        often(5, "  ", "empty"),
    ]
    assert [entry.title for entry in run(notes).entries] == ["in"]
    assert [entry.title for entry in run(notes, settings=PromotionSettings(threshold=2)).entries] == [
        "in",
        "seldom",
    ]


@pytest.mark.parametrize(
    ("fields", "section"),
    [
        ({"scope": "self", "tags": ("learnings",)}, "assistant-self"),
        ({"scope": "user", "tags": ("preferences",)}, "user"),
        ({"subject": "user:denis", "scope": "shared"}, "user"),
        ({"scope": "shared"}, "shared-context"),
        ({"scope": "project", "tags": ("learnings",)}, "shared-context"),
        ({"scope": "session", "tags": ("learnings", "preferences")}, "preferences"),
        ({"scope": "session", "tags": ("learnings",)}, "learnings"),
        ({"scope": "session", "nugget_name": "work"}, "work"),
    ],
)
def test_the_first_section_that_fits_is_taken(fields: dict[str, Any], section: str) -> None:
    assert section_of(make_note(1, "x", **fields)) == section


def test_sections_stand_in_order_preferences_learnings_then_alphabetical() -> None:
    notes = [
        often(1, "a", "one"),
        often(2, "a", "two", scope="session", nugget_name="zoo"),
        often(3, "a", "three", scope="self"),
        often(4, "a", "four", scope="session", tags=("preferences",)),
        often(5, "a", "five", scope="session", tags=("learnings",)),
    ]
    wanted = ["preferences", "learnings", "assistant-self", "user", "zoo"]
    assert [section for section, _ in bullets(written(notes))] == wanted
    assert [entry.section for entry in run(notes).entries] == wanted
    grown = written(notes[:2])
    for count in (3, 4, 5):
        grown = written(notes[:count], grown)
    assert grown == written(notes)


def test_notes_that_look_like_a_secret_are_never_promoted() -> None:
    notes = [
        often(1, "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a", "github"),
        often(2, "Tr0ub4dor&3", "wifi password"),
        often(3, "the password is in the safe", "hint"),
    ]
    result = run(notes)
    assert [entry.title for entry in result.entries] == ["hint"]
    assert [note.note_id for note in result.held_back if note.secret] == [notes[0].id, notes[1].id]
    assert "ghp_" not in result.diff


def test_the_result_as_json_has_the_documented_fields() -> None:
    found = run([often(1, "x", "t")]).to_dict()
    assert found.keys() >= {"promoted", "updated", "path", "entries", "diff"}
    entry = found["entries"][0]
    documented = {"section": "user", "title": "t", "noteId": "note-memory-00000001", "status": "new"}
    assert entry | documented == entry
    assert (entry["hits"], entry["text"], entry["line"]) == (3, "- **t**: x", 7)
    assert found["length"] == {"now": 0, "after": 7, "limit": 200, "over": 0, "unread": []}
    assert found["path"] == PATH
    assert "+- **t**: x\n" in found["diff"]


# Again and again


@pytest.mark.parametrize("hidden", [True])
def test_the_bullet_of_a_note_that_was_hidden_or_forgotten_goes(hidden: bool) -> None:
    notes = [often(1, "one\ntwo", "gone"), often(2, "x", "stays")]
    after = written([replace(notes[0], hidden=hidden), notes[1]], written(notes))
    assert bullets(after) == [("user", "stays")]
    assert "two" not in after
    assert run([replace(notes[0], hidden=True), notes[1]], written(notes).encode()).removed == 1


def test_a_bullet_that_a_person_moved_elsewhere_is_not_written_again_while_it_says_the_same() -> None:
    notes = [often(1, "one", "t")]
    moved = "# Memory\n\n## About me\n\n- **t**: one\n"
    assert run(notes, moved.encode()).change_set.empty
    assert bullets(written([often(1, "two", "t")], moved)) == [("About me", "t"), ("user", "t")]


def test_notes_of_one_title_in_two_nuggets_both_get_a_bullet_and_equal_ones_share_it() -> None:
    notes = [
        often(1, "one", "t"),
        often(2, "two", "t", nugget_name="b"),
        often(3, "one", "t", nugget_name="c"),
    ]
    after = written(notes)
    assert after.endswith("- **t**: one\n- **t**: two\n")
    assert run(notes, after.encode()).change_set.empty
    changed = [replace(notes[1], content="three"), notes[0]]
    assert written(changed, after).endswith("- **t**: one\n- **t**: three\n")


def test_what_a_person_adds_below_our_bullet_stays_when_the_note_changes() -> None:
    before = (
        f"{BEGAN}\n\n## user\n\n- **t**: one\n  more of it\n  - my nested bullet\n    and its text\n\n"
        "  my own paragraph of the item\n- **u**: x\n"
    )
    after = written([often(1, "two", "t"), often(2, "y", "new")], before)
    assert after == before.replace("one\n  more of it", "two") + "- **new**: y\n"


# A note cannot break the file

_TITLES = st.sampled_from(
    ["a**: b", "# x", "`", "__proto__", "\\", "*", "a <!-- b", "- x", "t\n## y", "**", "[x](y)"]
)
_CONTENTS = st.lists(
    st.sampled_from(["## x", "- **t**: y", "```", "~~~", "---", "===", "<!--", "-->", "1. a", "> q", "    code", "",
                     "**b**", "plain", "<pre>", "# ", "+ a", "***", "*", "\t- tab", "\u2028## z", "\x0c# f"]),
    min_size=1, max_size=6,
).map("\n".join)  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(_TITLES, _CONTENTS), min_size=1, max_size=4, unique_by=lambda pair: pair[0]))
def test_no_title_and_no_content_makes_a_heading_a_bullet_or_open_code(pairs: list[tuple[str, str]]) -> None:
    notes = [often(number, content, title) for number, (title, content) in enumerate(pairs)]
    text = written(notes)
    page = MarkdownPage(split_lines(text))
    said = [note for note in notes if note.content.strip()]
    assert [heading.name for heading in page.headings] == (["Memory", "user"] if said else [])
    assert [found.title for found in page.bullets] == [" ".join(note.title.split()) for note in said]
    assert not any(page.opaque)
    assert run(notes, text.encode()).change_set.empty
    changed = [replace(note, content="short") for note in said]
    assert written(changed, text) == written(changed)


NESTED = "Steps:\n- build\n  - wheel\n    * for macOS\n  -\n- ship\n\n1. tag\n2) push\n\t+ **now**"
NESTED += "\n2024. was late\n- # no heading"


def test_a_list_in_a_note_reads_as_a_list_and_is_no_list_that_a_person_put_there() -> None:
    notes = [often(1, NESTED, "release"), often(2, "- first\n- second", "list"), often(3, "- 5", "value")]
    after = written(notes)
    assert (
        "- **release**: Steps:\n  • build\n    • wheel\n      • for macOS\n    •\n  • ship\n  (1) tag\n  (2) push\n"
        "  \t• \\*\\*now\\*\\*\n  2024\\. was late\n  • # no heading\n"
    ) in after
    assert "- **list**: • first\n  • second\n" in after
    assert "- **value**: - 5\n" in after
    assert run(notes, after.encode()).change_set.empty
    remark = after.replace("  • second\n", "  • second\n  - mine\n")
    changed = [notes[0], often(2, "- third\n- fourth", "list"), notes[2]]
    assert written(changed, remark) == remark.replace("• first\n  • second", "• third\n  • fourth")


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_contents_and_nugget_names_are_written_and_found_again(text: str) -> None:
    notes = [
        often(1, f"{text}\n{text}", "plain"),
        often(2, "content", text),
        often(3, "content", "odd nugget", scope="session", nugget_name=text),
    ]
    after = written(notes)
    assert run(notes, after.encode("utf-8", "surrogateescape")).change_set.empty
    assert not {"\x1b", "\x07", "\x9b", "\x00"} & set(after)
    after.encode("utf-8")


@pytest.mark.parametrize("name", ["C#", "x ##", "<!-- a", "a\n## b", "*", "\\", " spaced  out "])
def test_odd_nugget_names_make_one_section_that_is_found_again(name: str) -> None:
    notes = [often(n, f"text {n}", f"t{n}", scope="session", nugget_name=name) for n in (1, 2)]
    text = written(notes, written(notes[:1]))
    assert [heading.level for heading in MarkdownPage(split_lines(text)).headings] == [1, 2]
    assert run(notes, text.encode()).change_set.empty


# What a person wrote stays byte for byte

_PIECES = (
    "prose of mine {n}\nover two lines\n", "## user\n\nwords in the section {n}\n",
    "## user\n- mine {n}\n  - nested\n\n    deep paragraph\n- **key {n}**: mine\n",
    "## learnings\n```md\n## user\n- **note1**: not ours {n}\n\n```\n",
    "<!-- hidden {n}\n## user\n- **note1**: not ours\n-->\n", "text <!-- inline {n}\ngoes on --> here\n",
    "### sub {n}\n\n- **sub {n}**: v\n", "Title {n}\n=====\n\nUnder {n}\n-----\ntext\n",
    "| a | b |\n|---|---|\n| {n} | 2 |\n", "> quote {n}\n> ## user\n", "- item {n}\n  ```\n  ## code\n",
    "1. one {n}\n2. two\n", "~~~\n- **note2**: {n}\n~~~\n", "<pre>\n## user {n}\n\n- **note3**: x\n</pre>\n",
    "    indented code {n}\n\n", "# Top {n}\n", "## zebra\n", "* **starred {n}**: x\n+ plus\n", "   \n\n",
    "caf\udce9 latin bytes {n}\n", "line\u2028separator {n}\u0085x\n",
)  # fmt: skip
_OPEN_ENDS = (
    "", "", "no newline at the end", "```\nnever closed\n## user\n", "<!-- never closed\n- **note1**: x",
)  # fmt: skip


@pytest.mark.slow
def test_an_independent_reader_of_markdown_finds_every_bullet_in_a_list() -> None:
    reader = pytest.importorskip("markdown_it").MarkdownIt()
    contents = ("short", "two\nlines", "## x\n- **y**: z", "```\ncode", "a\n\nb\n  c", "x\n===", "1. a\n2. b")
    for seed in range(60):
        dice = random.Random(seed)
        pieces = [dice.choice(_PIECES).replace("{n}", str(n)) for n in range(dice.randint(0, 6))]
        text = "".join(pieces) + dice.choice(_OPEN_ENDS)
        notes = [
            often(n, dice.choice(contents), f"note{n}", scope=dice.choice(["user", "shared", "session"]))
            for n in range(4)
        ]
        tokens = reader.parse(written(notes, text.encode("utf-8", "surrogateescape")))
        items = [
            tokens[n + 2].content for n, token in enumerate(tokens[:-2]) if token.type == "list_item_open"
        ]
        for note in notes:
            assert any(item.startswith(f"**{note.title}**: ") for item in items), (seed, note.title)


def test_line_ends_byte_order_mark_and_a_missing_newline_are_kept() -> None:
    began = BEGAN.encode()
    before = b"\xef\xbb\xbf" + began + b"\r\n\r\n## user\r\n\r\n- **t**: old\r\nlast"
    result = run([often(1, "a\nb", "t"), often(2, "x", "u")], before)
    assert result.change_set.files[0].after == (
        b"\xef\xbb\xbf" + began + b"\r\n\r\n## user\r\n\r\n- **t**: a\r\n  b\r\nlast\r\n- **u**: x\r\n"
    )
    only = run([often(1, "new", "t")], began + b"\n\n## user\n\n- **t**: old")
    assert only.change_set.files[0].after == began + b"\n\n## user\n\n- **t**: new"


def test_on_a_page_that_promotion_did_not_begin_a_bullet_of_a_notes_title_is_the_persons() -> None:
    before = "# Mine\n\n## user\n\n- **t**: tabs, I insist\n- **gone**: two spaces\n"
    gone = replace(often(2, "two spaces", "gone"), hidden=True)
    result = run([often(1, "2 spaces", "t"), gone], before.encode())
    assert result.change_set.files == ()
    assert {(entry.title, entry.status) for entry in result.edited} == {("t", "edited"), ("gone", "edited")}


@pytest.mark.parametrize("existing", ["## user\n".encode("utf-16"), b"a\x00b"])
def test_a_file_that_is_no_utf8_text_is_an_error_that_names_it(existing: bytes) -> None:
    with pytest.raises(BrokenFileError, match=r"MEMORY\.md"):
        run([often(1, "x", "t")], existing)


def test_a_rule_below_an_underlined_heading_is_no_second_one() -> None:
    page = MarkdownPage(split_lines("One\n---\nTwo\n===\n\n---\n\n- a\n---\n"))
    assert [(one.level, one.name) for one in page.headings] == [(2, "One"), (1, "Two")]
