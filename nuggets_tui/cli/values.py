"""The types of values that commands take, and the names of a memory's own things that complete them in a shell."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import NuggetsError
from nuggets_tui.cli.invocation import Invocation
from nuggets_tui.safe_text import plain

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from nuggets_tui.opening import Names

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
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
            return os.fsencode(text).decode("utf-8") if _SURROGATE.search(text) else text
        except UnicodeError:
            self.fail("is not valid UTF-8 text.", param, ctx)


class Folder(Text):
    """A file or folder in the spelling that the system gave and takes back; of text that is valid."""

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


TEXT, FOLDER, COUNT = Text(), Folder(), WholeNumber(min=1)


# Names that complete a value


def completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the memory's things that a value may be. Opens no log, writes nothing, never fails."""
    from click.shell_completion import CompletionItem

    try:
        offered = _offered(ctx, param.name or "", incomplete)
        fitting = {name: told for name, told in offered if name.startswith(incomplete) and _inert(name)}
    except (NuggetsError, OSError, RuntimeError):
        return []
    told_of = {name: " ".join(plain(told).split()) for name, told in list(fitting.items())[:_MOST]}
    return [CompletionItem(name, help=told or None) for name, told in told_of.items()]


def _offered(ctx: click.Context, param: str, incomplete: str) -> Iterable[tuple[str, str]]:
    """Names that a parameter may have, each with what it is told with."""
    from core.projects import known_projects
    from nuggets_tui.opening import names_in

    folder = ctx.find_root().ensure_object(Invocation).folder
    parent, name = ctx.parent, ctx.info_name or ""
    # The command, or the group that it stands in.
    subject = (parent.info_name or "") if parent is not None and parent.parent is not None else name
    if param == "nugget":
        return [(name, "") for name in names_in(folder).nuggets]
    if param == "in_project" or (subject, param) == ("projects", "name"):
        return [(one.name, one.root) for one in known_projects(str(folder))]
    if (name, param) in (("forget", "key"), ("remember", "key"), ("recall", "words")):
        wanted = ctx.params.get("nugget")
        every = names_in(folder).keys.items()
        return [(key, nugget) for nugget, keys in every if wanted in (None, nugget) for key in keys]
    if (name, param) == ("search", "words"):
        asked = [f"project:{one.name}" for one in known_projects(str(folder))]
        asked += [f"nugget:{name}" for name in names_in(folder).nuggets]
        return [(one, "") for one in asked if not set(one) & set(" ,")]
    return _notes(names_in(folder), incomplete) if param in _NOTES.get(subject, ()) else []


def _notes(names: Names, incomplete: str) -> Iterator[tuple[str, str]]:
    """Titles once one was begun; else ids, each with its title."""
    for note in names.notes:
        yield note.id, note.title
        if incomplete:
            yield note.title, note.id


def _inert(name: str) -> bool:
    """Whether no shell acts upon a name, whatever quotation is open where it is typed, and no terminal does.

    Names come from other machines, teams and agents. Shells nest quotations, and not one of them completes all of
    theirs soundly: a note of another title is completed by its id.
    """
    ascii_only = {char for char in name if char.isascii()}
    spaces = any(char.isspace() and char != " " for char in name)
    return name[:1].isalnum() and ascii_only <= _INERT and not spaces and name == plain(name)
