"""The key map: which keys each command has, once settings.toml and the vim option have been read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from nuggets_tui.commands import AT_TIMES, BY_NAME, COMMANDS, PALETTE_KEY, Command, unbound
from nuggets_tui.keys import WrongKeyError, nearest, read_keys, shown_key

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from core.settings import Settings
    from nuggets_tui.view import View

# What the option for vim changes about the commands, so that l is free to move.
_VIM: Final = {"link": "L"}
# Keys of lists, panes and fields: a command that took one would work in some places only.
_FIXED: Final = frozenset(
    (
        "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "j", "k", "enter", "space", "tab",
        "shift+tab", "escape", "shift+up", "shift+down", "ctrl+p", "ctrl+q", "ctrl+c",
    )
)  # fmt: skip
_FIXED_BY_VIM: Final = frozenset(("h", "l"))
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_NAMED: Final = 40


class KeyMap(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The commands with the keys that they have. wrong: what of the settings could not be followed, as sentences."""

    commands: tuple[Command, ...] = COMMANDS
    vim: bool = False
    wrong: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Command]:
        return {command.name: command for command in self.commands}

    def key(self, name: str) -> str:
        """The first key of a command as a person reads it; how to reach it without one."""
        command = self.by_name[name]
        return next(iter(command.shown_keys), f"{PALETTE_KEY[0]} {command.label}")

    def filled(self, text: str) -> str:
        """A text of ours with a command's key in place of its name in braces: "{undo} undoes it"."""
        return _PLACE.sub(lambda found: self.key(found[1]) if found[1] in self.by_name else found[0], text)

    def is_bound(self, name: str, view: View) -> bool:
        """Whether the key of a command counts now. One that somebody set always does."""
        command = self.by_name[name]
        return command.key_when is None or command.keys != BY_NAME[name].keys or command.key_when(view)

    def bound_at_times(self, key: str, view: View) -> Command | None:
        """The command that a key is bound to only at times, when it has no meaning now."""
        command = AT_TIMES.get(key)
        owners = (one for one in self.commands if key in one.keys.split(","))
        return None if any(self.is_bound(one.name, view) for one in owners) else command

    @property
    def bound(self) -> dict[str, str]:
        """The keys that are other than in the catalogue, by command, as Textual takes them."""
        changed = {command.name for command in self.commands if command.keys != BY_NAME[command.name].keys}
        freed = {
            key
            for name in changed
            for keys in (BY_NAME[name].keys, self.by_name[name].keys)
            for key in keys.split(",")
            if key
        }
        # Textual takes a key from all that share it, so those who keep it are given it anew.
        return {
            command.name: command.keys or unbound(command.name)
            for command in self.commands
            if command.name in changed or freed & set(command.keys.split(","))
        }


DEFAULT: Final = KeyMap()


def key_map(settings: Settings) -> KeyMap:
    """The key map that some settings ask for. What cannot be followed keeps the keys it has in the catalogue."""
    if not settings.keys and not settings.app.vim:
        return DEFAULT
    vim = settings.app.vim
    standard = {
        name: _VIM.get(name, command.keys) if vim else command.keys for name, command in BY_NAME.items()
    }
    wanted: dict[str, str] = {}
    wrong = []
    for name, text in settings.keys:
        try:
            wanted[name] = _wanted(name, text, standard, vim)
        except WrongKeyError as error:
            wrong.append(str(error) + ("" if error.near else "."))
    wrong += _resolve_duplicates(wanted, standard)
    keys = standard | wanted
    commands = tuple(replace(command, keys=keys[command.name]) for command in COMMANDS)
    return KeyMap(commands, vim, tuple(wrong))


def _in_a_clause(error: WrongKeyError) -> str:
    return (error.why + (f"; did you mean {error.near}" if error.near else ""))[:200]


def _wanted(name: str, text: str | None, standard: Mapping[str, str], vim: bool) -> str:
    """The keys that a line of the settings asks for. Raises WrongKeyError."""
    if name not in BY_NAME:
        near = nearest(name[:_NAMED], tuple(BY_NAME))
        raise WrongKeyError(f'There is no command "{name[:_NAMED]}"', near)
    stays = f"; {_stays(name, standard)}"
    if text is None:
        raise WrongKeyError(f'{name} must be a string such as "k" or "k,ctrl+k"{stays}')
    try:
        keys = read_keys(text[:1000])
    except WrongKeyError as error:
        raise WrongKeyError(f"{name}: {_in_a_clause(error)}{stays}") from None
    fixed = (_FIXED | _FIXED_BY_VIM if vim else _FIXED) - set(standard[name].split(","))
    taken = next((key for key in keys if key in fixed), "")
    if taken:
        raise WrongKeyError(f"{name}: {shown_key(taken)} is reserved for lists and fields{stays}")
    return ",".join(keys)


def _resolve_duplicates(wanted: dict[str, str], standard: Mapping[str, str]) -> list[str]:
    """Takes out of what is wanted what would give a key to two commands, the later line first; says so."""
    wrong = []
    while (found := _double(wanted, standard)) is not None:
        key, loser, owner = found
        wrong.append(f"{loser}: {shown_key(key)} is already the key of {owner}; {_stays(loser, standard)}.")
        del wanted[loser]
    return wrong


def _double(wanted: Mapping[str, str], standard: Mapping[str, str]) -> tuple[str, str, str] | None:
    """A key that a command would get although it is another's, that command, and the other."""
    owners = {
        key: name for name, keys in standard.items() if name not in wanted for key in keys.split(",") if key
    }
    for name, keys in wanted.items():
        for key in filter(None, keys.split(",")):
            owner = owners.get(key, name)
            # Two commands may share a key in the catalogue where never both can be meant.
            shared = all(key in standard[one].split(",") for one in (name, owner))
            if owner != name and not shared:
                return key, name, owners[key]
            owners[key] = name
    return None


def _stays(name: str, standard: Mapping[str, str]) -> str:
    keys = [shown_key(key) for key in standard[name].split(",") if key]
    return f"{' '.join(keys)} stays" if keys else "it stays without a key"


def keys_of(node: DOMNode) -> KeyMap:
    """The key map of the app, or of the app that something is part of."""
    found = getattr(node, "key_map", None) or getattr(node.app, "key_map", DEFAULT)
    return found if isinstance(found, KeyMap) else DEFAULT
