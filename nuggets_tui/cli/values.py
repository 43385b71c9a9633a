"""The types of values that commands take, and the names of a memory's own things that complete them in a shell."""

from __future__ import annotations

import os
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import NuggetsError
from nuggets_tui.cli.invocation import Invocation
from nuggets_tui.safe_text import plain

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from nuggets_tui.quick_scan import Names

# So many names are offered at most.
_MOST: Final = 200
# What every shell takes as it is, between quotation marks of any kind and outside of them.
_INERT: Final = frozenset(string.ascii_letters + string.digits + " _.,:@%+/-")
# Which parameters name a note, by the command or group that they belong to.
_NOTES: Final = {
    "note": ("id", "ids", "a", "b", "survivor", "other"),
    "team": ("ids",),
    "log": ("note",),
    "restore": ("note",),
    "secrets": ("ids",),
}


class Text(click.ParamType[str]):
    """Text as it was typed. Refuses bytes that are no text, which no file of a memory could hold."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The names of the memory's things that it may be."""
        return completed(ctx, param, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value; bytes that the system's own encoding had no characters for are read as UTF-8."""
        text = str(value)
        try:
            # Where the locale is plain ASCII, whatever else was typed comes as surrogates, one for each byte.
            return os.fsencode(text).decode("utf-8") if any(map(_is_surrogate, text)) else text
        except UnicodeError:
            self.fail("is not valid UTF-8 text.", param, ctx)


class Folder(Text):
    """A folder in the spelling that the system gave and takes back; of text that is valid."""

    name = "folder"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Left to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value itself."""
        super().convert(value, param, ctx)
        return str(value)


class WholeNumber(click.IntRange):
    """A whole number within bounds, called so."""

    name = "whole number"


class Number(click.types.FloatParamType):
    """A number, called so."""

    name = "number"


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


TEXT, FOLDER, COUNT = Text(), Folder(), WholeNumber(min=1)


# Names that complete a value


def completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The names of the memory's things that a value may be. Opens no log, writes nothing, never fails."""
    from click.shell_completion import CompletionItem

    from core.projects import known_projects

    offered: Iterable[tuple[str, str]]
    try:
        if param.name == "nugget":
            offered = ((name, "") for name in _names(ctx).nuggets)
        elif param.name == "in_project" or (_subject(ctx), param.name) == ("projects", "name"):
            offered = ((one.name, one.root) for one in known_projects(str(_folder(ctx))))
        elif (ctx.info_name, param.name) in (("forget", "key"), ("remember", "key"), ("recall", "words")):
            offered = _keys(ctx, _names(ctx))
        elif (ctx.info_name, param.name) == ("search", "words"):
            projects = [f"project:{one.name}" for one in known_projects(str(_folder(ctx)))]
            nuggets = [f"nugget:{name}" for name in _names(ctx).nuggets]
            offered = ((one, "") for one in (*projects, *nuggets) if not set(one) & set(" ,"))
        elif param.name in _NOTES.get(_subject(ctx), ()):
            offered = _notes(_names(ctx), incomplete)
        else:
            return []
    except (NuggetsError, OSError, RuntimeError):
        return []
    fitting = {name: told for name, told in offered if name.startswith(incomplete) and _inert(name)}
    told_of = {name: " ".join(plain(told).split()) for name, told in list(fitting.items())[:_MOST]}
    return [CompletionItem(name, help=told or None) for name, told in told_of.items()]


def _inert(name: str) -> bool:
    """Whether no shell acts upon a name, whatever quotation is open where it is typed, and no terminal does.

    Names come from other machines, teams and agents. Shells nest quotations, and not one of them completes all of
    theirs soundly: a note of another title is completed by its id.
    """
    ascii_only = {char for char in name if char.isascii()}
    spaces = any(char.isspace() and char != " " for char in name)
    return name[:1].isalnum() and ascii_only <= _INERT and not spaces and name == plain(name)


def _subject(ctx: click.Context) -> str:
    """The command, or the group that it stands in."""
    parent = ctx.parent
    return (parent.info_name if parent is not None and parent.parent is not None else ctx.info_name) or ""


def _names(ctx: click.Context) -> Names:
    from nuggets_tui.quick_scan import names_in

    return names_in(_folder(ctx))


def _folder(ctx: click.Context) -> Path:
    return ctx.find_root().ensure_object(Invocation).folder


def _keys(ctx: click.Context, names: Names) -> Iterator[tuple[str, str]]:
    wanted = ctx.params.get("nugget")
    for nugget, keys in names.keys.items():
        if wanted in (None, nugget):
            yield from ((key, nugget) for key in keys)


def _notes(names: Names, incomplete: str) -> Iterator[tuple[str, str]]:
    """Titles once one was begun; else ids, each with its title."""
    for note in names.notes:
        yield note.id, note.title
        if incomplete:
            yield note.title, note.id
