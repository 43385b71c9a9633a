"""What notices say of errors: the app's keys in place of shell commands, and what became of a text being written."""

from __future__ import annotations

import pytest

from core.errors import BrokenFileError
from nuggets_tui.notices import in_keys, told_error


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("nuggets verify --repair mends it", "V checks and repairs it"),
        ("nuggets verify --repair mends it, or put back a good copy of it",
         "V checks and repairs it, or put back a good copy of it"),
        ("nuggets verify --repair", "V checks and repairs it"),
        ("nuggets verify says whether it can be mended", "V says whether it can be mended"),
        ("nuggets restore lists the backups", "B lists the backups"),
        ("nuggets restore lists them", "B lists the backups"),
        ("Mend it, or put back a good copy with: nuggets restore.", "Mend it, or put back a good copy with B."),
        ("nuggets resolve 0a1b settles it", "c settles it"),
        ("set NUGGETS_HOME to another folder", "set NUGGETS_HOME to another folder"),
    ],
)  # fmt: skip
def test_a_shell_command_becomes_the_key_of_the_app(command: str, key: str) -> None:
    assert in_keys(command) == key


def test_an_error_names_the_key() -> None:
    error = BrokenFileError("is not JSON", where="graph.json", kept="it was left as it is",
                            todo="nuggets verify --repair mends it")  # fmt: skip
    assert told_error(error) == (
        "Is not JSON.",
        "graph.json\nIt was left as it is.\nV checks and repairs it.",
    )
    assert told_error(error, "Not saved.")[1].endswith(
        "Not saved.\nIn another terminal, nuggets verify --repair mends it."
    )
    assert "\nNot saved.\n" in told_error(ValueError("x"), "Not saved.")[1]


@pytest.mark.parametrize("todo", ["nuggets log --json lists more", "c settles it"])
def test_commands_and_keys_are_not_written_with_a_capital_letter(todo: str) -> None:
    assert told_error(BrokenFileError("x", todo=todo))[1] == f"{todo}."
