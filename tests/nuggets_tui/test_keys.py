"""Tests of keys as they are spelt, and of the key map that settings ask for."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import BindingsMap

from core.settings import AppSettings, Settings
from nuggets_tui.commands import (
    BY_NAME,
    COMMANDS,
    KeyMap,
    WrongKeyError,
    bindings,
    key_map,
    read_keys,
    shown_key,
)

# Pairs that share a key, since never both can be meant.
SHARED = ({"open_file", "open_broken"},)


def made(*, vim: bool = False, **keys: str | None) -> KeyMap:
    return key_map(Settings(keys=tuple(keys.items()), app=AppSettings(vim=vim)))


def test_keys_are_read_as_people_spell_them() -> None:
    for spelt, keys, shown in [
        ("/", ("slash",), "/"),
        ("k", ("k",), "k"),
        ("K", ("K",), "K"),
        ("shift+k", ("K",), "K"),
        ("ctrl+K", ("ctrl+k",), "ctrl+k"),
        (" ctrl+k , f2 ", ("ctrl+k", "f2"), "ctrl+k"),
        ("+", ("plus",), "+"),
        ("ctrl++", ("ctrl+plus",), "ctrl++"),
        (",", ("comma",), ","),
        ("?", ("question_mark",), "?"),
        ("question_mark", ("question_mark",), "?"),
        ("Esc", ("escape",), "esc"),
        ("pgup", ("pageup",), "pgup"),
        ("alt+shift+up", ("alt+shift+up",), "alt+shift+↑"),
        ("é", ("é",), "é"),
        ("x,x", ("x",), "x"),
    ]:
        assert read_keys(spelt) == keys
        assert shown_key(keys[0]) == shown


@pytest.mark.parametrize(
    ("spelt", "said"),
    [
        ("enterr", "did you mean enter"),
        ("ctlr+k", "did you mean ctrl"),
        ("ctrl+i", "as tab"),
        ("ctrl+m", "as enter"),
        ("nonsense", "is not a key"),
        ("\x1b", "control character"),
    ],
)
def test_what_is_no_key_is_refused_with_a_reason(spelt: str, said: str) -> None:
    with pytest.raises(WrongKeyError, match=said):
        read_keys(spelt)


def test_no_two_commands_have_one_key_but_for_known_pairs() -> None:
    owners: dict[str, set[str]] = {}
    for command in COMMANDS:
        for key in filter(None, command.keys.split(",")):
            owners.setdefault(key, set()).add(command.name)
    assert [names for names in owners.values() if len(names) > 1 and names not in SHARED] == []


def test_every_command_has_a_heading_and_is_carried_out_by_the_main_screen() -> None:
    from nuggets_tui.commands import GROUPS
    from nuggets_tui.opening import Opening
    from nuggets_tui.screens.main import MainScreen

    main = MainScreen(Opening(None))
    for command in COMMANDS:
        assert command.group in GROUPS
        assert callable(attrgetter(command.target.partition(":")[0])(main)), command.name


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"hide": "u"}, "u is already the key of undo; x stays"),
        ({"hide": "Z", "tags": "Z"}, "tags: Z is already the key of hide; t stays"),
        ({"hide": "k"}, "k is reserved for lists and fields; x stays"),
        ({"hide": "tab"}, "tab is reserved"),
        ({"hide": "contrl+y"}, 'hide: "contrl+y" is not a key'),
        ({"hide": None}, "hide must be a string"),
    ],
)
def test_a_key_that_cannot_be_had_is_told_and_the_usual_one_stays(
    wanted: dict[str, str | None], said: str
) -> None:
    found = made(**wanted)
    assert len(found.wrong) == 1
    assert said in found.wrong[0]
    loser = next(reversed(wanted))
    assert found.by_name[loser].keys == BY_NAME[loser].keys


_NAMES = [command.name for command in COMMANDS]
_SPELT = [*(command.keys for command in COMMANDS if command.keys), "f7", "f8,f9", "", "k", "Z,x", "nonsense"]


@given(
    st.dictionaries(st.sampled_from([*_NAMES, "serch"]), st.sampled_from(_SPELT) | st.none()), st.booleans()
)
def test_whatever_the_settings_say_no_key_gets_two_commands(wanted: dict[str, str | None], vim: bool) -> None:
    found = made(vim=vim, **wanted)
    owners: dict[str, set[str]] = {}
    for command in found.commands:
        for key in filter(None, command.keys.split(",")):
            owners.setdefault(key, set()).add(command.name)
    assert [names for names in owners.values() if len(names) > 1 and names not in SHARED] == []


@pytest.mark.parametrize(
    "wanted",
    [
        {"open_file": "O"},
        {"redo": "U"},
        {"pin": "P", "delete": "X"},
        {"undo": "U", "redo": "u"},
        {"hide": "Z,f7"},
        {"copy": ""},
        {"theme": "f9"},
    ],
)
def test_what_textual_binds_is_what_the_key_map_says(wanted: dict[str, str]) -> None:
    found = made(**wanted)
    bound = BindingsMap(bindings())
    assert not bound.apply_keymap(found.bound).clashed_bindings
    for command in found.commands:
        keys = {key for key, binding in bound if binding.id == command.name and not key.startswith("no_key")}
        assert keys == set(filter(None, command.keys.split(",")))


def test_with_the_vim_option_link_is_a_capital_and_l_is_not_to_be_had() -> None:
    found = made(vim=True, hide="l")
    assert (found.key("link"), found.key("graph")) == ("L", "g")
    assert "l is reserved" in found.wrong[0]
    assert made(vim=True, link="f3").key("link") == "f3"


def test_a_key_that_is_given_to_two_commands_is_kept_by_one_also_where_it_is_the_usual_one() -> None:
    assert "already the key of" in made(open="slash", search="slash").wrong[0]


def test_about_25_single_keys_are_bound_by_default_besides_the_numbers_of_panes() -> None:
    single = {
        key
        for command in COMMANDS
        if not command.key_when and command.name not in ("demo", "open_broken")
        for key in command.keys.split(",")
        if len(key) > 0 and len(shown_key(key)) == 1 and not key.isdecimal()
    }
    assert set("etxlmynfrpuTGgizwcq") < single
    assert len(single) <= 30
