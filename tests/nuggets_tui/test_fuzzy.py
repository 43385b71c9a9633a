"""Which titles fit what is typed, which comes first, and what of them is marked."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from nuggets_tui.commands import COMMANDS
from nuggets_tui.palette import Entry, found_entries, ranked_entries
from nuggets_tui.screens.picker import Match, fitting, folded

TITLES = (
    "Auth middleware", "Session store", "JWT token format", "Deploy day", "Amber willow", "Old scratch",
    "Tokens, expired",
)  # fmt: skip


def found(typed: str, titles: tuple[str, ...] = TITLES) -> list[str]:
    return [titles[match.place] for match in fitting(typed, [folded(title) for title in titles], 10)]


def marked(typed: str, title: str) -> str:
    (match,) = fitting(typed, [folded(title)], 1)
    return "".join(title[place] for place in match.marked)


def test_the_title_that_is_meant_comes_first() -> None:
    for typed, first in [
        ("amw", "Amber willow"),
        ("auth", "Auth middleware"),
        ("middle auth", "Auth middleware"),
        ("jtf", "JWT token format"),
        ("token", "Tokens, expired"),
        ("sesion stor", "Session store"),
        ("DEPLOY", "Deploy day"),
    ]:
        assert found(typed)[0] == first


def test_what_was_matched_is_marked() -> None:
    assert marked("amw", "Auth middleware") == "Amw"
    assert marked("jtf", "JWT token format") == "Jtf"
    assert marked("middle auth", "Auth middleware") == "Authmiddle"


def test_words_are_surer_than_letters_far_apart() -> None:
    matches = {TITLES[match.place]: match.strong for match in fitting("to", [folded(t) for t in TITLES], 10)}
    assert matches["JWT token format"]
    assert matches["Session store"]
    weak = fitting("amw", [folded("Auth middleware")], 1)
    assert not weak[0].strong


def test_nothing_typed_finds_nothing_and_equal_titles_keep_their_order() -> None:
    assert found("  ") == []
    assert [m.place for m in fitting("same", ["same", "same", "same"], 10)] == [0, 1, 2]


def test_who_types_on_waits_for_no_answer() -> None:
    assert fitting("a", ["a"] * 10_000, 10, lambda: True) == []


@given(st.text("ab^]-\\ [.*", max_size=8), st.lists(st.text("ab^]-\\ [.*", max_size=12), max_size=5))
def test_every_title_with_the_letters_in_order_is_found_and_no_other(typed: str, titles: list[str]) -> None:
    letters = typed.replace(" ", "")

    def in_order(title: str) -> bool:
        left = iter(title)
        return all(letter in left for letter in letters)

    words = typed.split()
    matches: list[Match] = fitting(typed, titles, 10)
    places = {match.place for match in matches}
    wanted = {n for n, t in enumerate(titles) if words and (in_order(t) or all(word in t for word in words))}
    assert places == wanted
    for match in matches:
        assert all(before < after for before, after in pairwise(match.marked))
        assert all(0 <= place < len(titles[match.place]) for place in match.marked)


def test_many_letters_against_many_titles_end() -> None:
    assert fitting("a" * 99 + "b", ["a" * 200] * 2_000, 10) == []


def test_the_palette_offers_commands_with_the_words_typed_before_letters_scattered_over_titles() -> None:
    entries = [
        Entry(
            command.name,
            command.group,
            Content(command.title),
            Content(""),
            (command.title, command.label),
            command.also,
            lambda: None,
        )
        for command in COMMANDS
    ]

    def found(typed: str) -> list[Entry]:
        return found_entries(ranked_entries(typed, entries), ())

    titled = {entry.title.plain for entry in found("theme")}
    assert titled
    assert all("theme" in title.lower() for title in titled)
    assert found("check mem")[0].key == "verify"
    assert not found("zqx")
    # What a command does finds it as well, behind those that are called so.
    assert [entry.key for entry in found("passwords")] == ["secrets"]
    assert found("repair")[0].key == "verify"
    assert {entry.group for entry in found("pipeline")[:2]} == {"Pipeline"}
