"""Completion of what is typed in a shell: its script, and the names of a memory's own things."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from core.errors import InvalidInputError, NuggetsError
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.safe_text import plain

if TYPE_CHECKING:
    from nuggets_tui.quick_scan import Names

# So many names are offered at most.
_MOST: Final = 200
# Which parameters name a note, by the command or group that they belong to.
_NOTES: Final = {
    "note": ("id", "ids", "a", "b", "survivor", "other"),
    "why": ("note",),
    "log": ("note",),
    "restore": ("note",),
    "searches": ("must_find",),
    "secrets": ("ids",),
}
# A name with spaces is one word: quoted, unless whoever types has begun with a quotation mark.
_BASH: Final = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete $1)
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames ;;
            file) COMPREPLY=(); compopt -o default ;;
            plain)
                case ${COMP_WORDS[COMP_CWORD]} in
                    [\\"\\']*) COMPREPLY+=("$value") ;;
                    *) COMPREPLY+=("$(printf '%%q' "$value")") ;;
                esac ;;
        esac
    done
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    source_template = _BASH


_SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": _Bash, "zsh": ZshComplete, "fish": FishComplete}


@command(
    "completion",
    epilog=example(
        "nuggets completion bash > ~/.local/share/bash-completion/completions/nuggets",
        'nuggets completion zsh > "${fpath[1]}/_nuggets"',
        "nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
    ),
)
@click.argument("shell", type=click.Choice(list(_SHELLS)), required=False)
@pass_call
def completion(call: Invocation, /, shell: str | None) -> None:
    """Print the script that completes commands, options and names in your shell: bash, zsh or fish.

    Without SHELL, the one that you use.
    """
    named = shell or os.path.basename(os.environ.get("SHELL", ""))
    if named not in _SHELLS:
        raise InvalidInputError("is not known", where="SHELL", todo=f"name one of {', '.join(_SHELLS)}")
    root = click.get_current_context().find_root()
    name = root.info_name or "nuggets"
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    made = _SHELLS[named](root.command, {}, name, variable)
    # Bash itself would be asked for its version.
    script = made.source_template % made.source_vars()
    call.answer(lambda: {"shell": named, "script": script}, lambda: script.rstrip("\n").split("\n"))


def completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The names of the memory's things that a value may be. Opens no log, writes nothing, never fails."""
    offered: Iterable[tuple[str, str]]
    try:
        if param.name == "nugget":
            offered = ((name, "") for name in _names(ctx).nuggets)
        elif (ctx.info_name, param.name) in (("forget", "key"), ("remember", "key"), ("recall", "query")):
            offered = _keys(ctx, _names(ctx))
        elif param.name in _NOTES.get(_subject(ctx), ()):
            offered = _notes(_names(ctx), incomplete)
        else:
            return []
    except (NuggetsError, OSError, RuntimeError):
        return []
    # A name with a line break would be two, and one that a terminal acts upon is not for a terminal.
    fitting = {name: told for name, told in offered if name.startswith(incomplete) and name == plain(name)}
    lines = [(name, told) for name, told in fitting.items() if name and "\n" not in name]
    return [CompletionItem(name, help=" ".join(plain(told).split()) or None) for name, told in lines[:_MOST]]


def _subject(ctx: click.Context) -> str:
    """The command, or the group that it stands in."""
    parent = ctx.parent
    return (parent.info_name if parent is not None and parent.parent is not None else ctx.info_name) or ""


def _names(ctx: click.Context) -> Names:
    from nuggets_tui.quick_scan import names_in

    folder: Path = ctx.find_root().ensure_object(Invocation).folder
    return names_in(folder)


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
