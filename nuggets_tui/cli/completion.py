"""The scripts with which a shell completes commands, options and names."""

from __future__ import annotations

import os
from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from nuggets_tui.cli.invocation import Invocation, bad_input
from nuggets_tui.cli.options import arg, command

# A name is one literal word, and inert. Bash inserts it as it is told: escaped where no quotation mark is open.
_BASH: Final = """\
%(complete_func)s() {
    local IFS=$'\\n' response type value word=${COMP_WORDS[COMP_CWORD]}
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete "$1")
    while IFS=',' read -r type value; do
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames ;;
            file) COMPREPLY=(); compopt -o default ;;
            plain)
                case $word in
                    \\"*) [[ ${word:1} == *\\"* ]] || COMPREPLY+=("$value") ;;
                    \\'*) [[ ${word:1} == *\\'* ]] || COMPREPLY+=("$value") ;;
                    *[\\"\\'\\`]*) ;;
                    *) COMPREPLY+=("$(printf '%%q' "$value")") ;;
                esac ;;
        esac
    done <<< "$response"
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


# A name may hold commas: only the first one parts it from its kind.
_FISH: Final = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) \
%(prog_name)s)
    for completion in $response
        set -l parts (string split -m 1 "," -- $completion)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                printf '%%s\\n' $parts[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Bash(BashComplete):
    source_template = _BASH


class _Fish(FishComplete):
    source_template = _FISH


_SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": _Bash, "zsh": ZshComplete, "fish": _Fish}


@command(
    "completion",
    arg("shell", click.Choice(list(_SHELLS)), required=False),
    examples=(
        "mkdir -p ~/.local/share/bash-completion/completions",
        "nuggets completion bash > ~/.local/share/bash-completion/completions/nuggets",
        'nuggets completion zsh > "${fpath[1]}/_nuggets"',
        "mkdir -p ~/.config/fish/completions",
        "nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
    ),
)
def completion(call: Invocation, shell: str | None) -> None:
    """Print the script that completes commands, options and names in your shell: bash, zsh or fish.

    Without SHELL, it is the one you use.
    """
    named = shell or os.path.basename(os.environ.get("SHELL", ""))
    if named not in _SHELLS:
        raise bad_input(
            "is not a shell that can be completed", "SHELL", "", f"name one of {', '.join(_SHELLS)}"
        )
    root = click.get_current_context().find_root()
    name = root.info_name or "nuggets"
    made = _SHELLS[named](root.command, {}, name, f"_{name.replace('-', '_').upper()}_COMPLETE")
    # Bash itself would be asked for its version.
    script = made.source_template % made.source_vars()
    call.answer({"shell": named, "script": script}, script.rstrip("\n").split("\n"))
