"""Completion in a shell: commands, options and the names of the memory, quickly and without a trace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from kits.memory_files import tree

from core.projects import Project, register
from core.user_folders import cache_folder
from nuggets_tui.cli import ENTRIES, program
from nuggets_tui.cli.completion import _SHELLS, _Bash
from nuggets_tui.cli.invocation import Invocation

ROOT = Path(__file__).parents[3]


def complete(*words: str) -> list[str]:
    """What may stand in the place of the last word."""
    made = _Bash(program, {"obj": Invocation()}, "nuggets", "_NUGGETS_COMPLETE")
    return [item.value for item in made.get_completions(list(words[:-1]), words[-1])]


@pytest.fixture
def memory(home: Path, nuggets: object) -> Path:
    run = nuggets.ok  # type: ignore[attr-defined]
    run("remember", "web", "test cmd", "pytest")
    run("remember", "zoo", "lion", "roars")
    run("note", "add", "Deploy page", "make deploy", "--nugget", "web")
    run("note", "add", "Deploy\x1b[2J twice", "again", "--nugget", "ops")
    return home


@pytest.mark.slow
def test_commands_are_completed_in_every_group(memory: Path) -> None:
    assert complete("") == list(ENTRIES)
    assert complete("re") == [name for name in ENTRIES if name.startswith("re")]
    assert complete("note", "un") == ["unhide", "unlink"]
    assert "--json" in complete("recall", "--")
    assert complete("note", "move", "sh") == ["shared"]


def test_the_names_of_the_memory_are_completed(memory: Path) -> None:
    assert complete("notes", "--facts", "--nugget", "") == ["ops", "web", "zoo"]
    assert complete("recall", "--nugget", "z") == ["zoo"]
    assert complete("forget", "web", "") == ["test cmd"]
    assert complete("recall", "l") == ["lion"]
    ids = complete("note", "show", "")
    assert len(ids) == 4
    assert all(id.startswith(("note-", "fact-")) for id in ids)
    # One that a terminal or a shell would act upon is not offered.
    assert complete("note", "edit", "Dep") == ["Deploy page"]
    assert complete("log", "--note", "Dep") == ["Deploy page"]
    assert complete("undo", "") == []
    assert complete("remember", "web", "test cmd", "") == []


def test_a_search_is_completed_with_projects_and_nuggets(memory: Path) -> None:
    register(str(memory), Project("shop", "/work/shop"), "zoo", ())
    assert complete("search", "token", "project:s") == ["project:shop"]
    assert complete("search", "nugget:z") == ["nugget:zoo"]


def test_completing_leaves_no_trace_and_bears_damage(memory: Path) -> None:
    before = tree(memory)
    complete("note", "show", "")
    assert tree(memory) == before
    (memory / "graph" / "graph.json").write_bytes(b"{")
    assert complete("notes", "--facts", "--nugget", "") == ["web", "zoo"]
    (memory / "web.nugget.json").write_bytes(b"[]")
    assert complete("note", "show", "") == []
    assert cache_folder(str(memory)) is not None


@pytest.mark.slow
def test_completing_commands_loads_none_of_them(home: Path) -> None:
    script = (
        "import sys\n"
        "from nuggets_tui.cli import program\n"
        "from nuggets_tui.cli.completion import _Bash\n"
        "_Bash(program, {}, 'nuggets', 'X').get_completions([], '')\n"
        "print(sorted({'nuggets_tui.cli.facts', 'nuggets_tui.cli.notes', 'core.memory', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("shell", list(_SHELLS))
def test_the_script_of_each_shell_is_printed(home: Path, nuggets: object, shell: str) -> None:
    script = nuggets.ok("completion", shell)  # type: ignore[attr-defined]
    assert f"_NUGGETS_COMPLETE={shell}_complete" in script
    assert nuggets.json("completion", shell) == {"shell": shell, "script": script}  # type: ignore[attr-defined]


def test_the_shell_that_is_used_is_taken_where_none_is_named(
    home: Path, nuggets: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "fish_complete" in nuggets.ok("completion")  # type: ignore[attr-defined]
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "bash, zsh, fish" in nuggets.fails("completion")  # type: ignore[attr-defined]


# What zsh reads at its start: completes what was typed, writes it down and ends.
ZSHRC = """
autoload -U compinit; compinit -u -d {folder}/dump
source {folder}/script
told() {{ print -rn -- "$BUFFER" > {folder}/told; exit }}
zle -N told
bindkey '^X' told
bindkey '^I' complete-word
unsetopt auto_list auto_menu list_beep
"""
# What bash reads: ctrl+x writes down what stands in its line, and empties it; ctrl+o ends it.
BASHRC = """
source {folder}/script
told() {{ printf '%s\\0' "$READLINE_LINE" >> {folder}/told; READLINE_LINE=; }}
gone() {{ exit; }}
bind -x '"\\C-x": told'
bind -x '"\\C-o": gone'
"""
NAMES = ("test cmd", "Zebra, then: lions @1", "Ant $(touch run) \\")


@pytest.fixture
def shell(
    memory: Path, nuggets: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Path]:
    """Makes the script of a shell, with a program `nuggets` on its path; the script."""
    for name in NAMES[1:]:
        nuggets.ok("note", "add", name, "x", "--nugget", "web")  # type: ignore[attr-defined]
    programs = tmp_path / "programs"
    programs.mkdir()
    program_file = programs / "nuggets"
    program_file.write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -c "
        '\'import sys; sys.argv[0] = "nuggets"; from nuggets_tui.entry import main; main()\' "$@"\n'
    )
    program_file.chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    def made(name: str) -> Path:
        script = tmp_path / "script"
        script.write_text(nuggets.ok("completion", name))  # type: ignore[attr-defined]
        return script

    return made


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_gets_each_name_whole_with_what_it_is(shell: Callable[[str], Path]) -> None:
    words = ("nuggets recall te", "nuggets note show Zeb", "nuggets note show Ant", "nuggets note unli")
    asked = "; ".join(f"complete -C '{word}'" for word in words)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {shell('fish')}; {asked}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    found = [line.split("\t") for line in done.stdout.splitlines()]
    assert [name for name, *_ in found] == [*NAMES[:2], "unlink"], done.stderr
    assert found[0][1] == "web"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("nuggets recall te", "nuggets recall test\\ cmd "),
        ("nuggets recall 'te", "nuggets recall 'test cmd' "),
        ('nuggets note show "Ant', 'nuggets note show "Ant'),
        ('nuggets note show `nuggets note show "Ant', 'nuggets note show `nuggets note show "Ant'),
        ("nuggets note show Zeb", "nuggets note show Zebra,\\ then:\\ lions\\ @1 "),
    ],
)
def test_zsh_types_a_name_as_one_word(
    shell: Callable[[str], Path], tmp_path: Path, typed: str, wanted: str
) -> None:
    import pty

    shell("zsh")
    (tmp_path / ".zshrc").write_text(ZSHRC.format(folder=tmp_path))
    process, handle = pty.fork()
    if process == 0:
        os.execvpe("zsh", ["zsh", "-d", "-i"], {**os.environ, "ZDOTDIR": str(tmp_path), "TERM": "dumb"})
    os.write(handle, f"{typed}\t\x18".encode())
    with suppress(OSError):
        while os.read(handle, 4096):
            pass
    os.waitpid(process, 0)
    os.close(handle)
    assert (tmp_path / "told").read_text() == wanted


def typed_in_bash(folder: Path, lines: list[str]) -> list[str]:
    """What stands in the line of bash after each of some lines was typed, and tab pressed."""
    import pty

    (folder / "bashrc").write_text(BASHRC.format(folder=folder))
    process, handle = pty.fork()
    if process == 0:
        os.execvpe("bash", ["bash", "--rcfile", str(folder / "bashrc"), "-i"], {**os.environ, "TERM": "dumb"})
    os.write(handle, "".join(f"{line}\t\x18" for line in lines).encode() + b"\x0f")
    with suppress(OSError):
        while os.read(handle, 4096):
            pass
    os.waitpid(process, 0)
    os.close(handle)
    return (folder / "told").read_text().split("\0")[:-1]


@pytest.mark.slow
def test_bash_types_a_name_as_one_word(shell: Callable[[str], Path], tmp_path: Path) -> None:
    shell("bash")
    typed = ["nuggets recall te", "nuggets recall 'te", 'nuggets recall "te', "nuggets compl"]
    assert typed_in_bash(tmp_path, typed) == [
        "nuggets recall test\\ cmd ",
        "nuggets recall 'test cmd' ",
        'nuggets recall "test cmd" ',
        "nuggets completion ",
    ]


# Each as the title of a note, which may come from another machine or an agent.
COMMANDS = (
    "Bee `touch run`", 'Cat "; touch run; "', "Dog '; touch run; '", "Eel !! x", "Fox \\", "Hen:$(touch run)=x",
    "Gnu \\$(touch run) \\' $(touch run) \\'", "Ibis; touch run", "Jay <(touch run) & *",
)  # fmt: skip


@pytest.mark.slow
def test_whatever_bash_types_for_somebody_is_one_literal_word(
    shell: Callable[[str], Path], nuggets: object, tmp_path: Path
) -> None:
    shell("bash")
    for title in COMMANDS:
        nuggets.ok("note", "add", title, "x", "--nugget", "web")  # type: ignore[attr-defined]
    folder = tmp_path / "empty"
    folder.mkdir()
    tried = [
        (title, f"nuggets note show {mark}{title[:3]}")
        for title in COMMANDS
        for mark in ("", "'", '"', "x'y'\"")
    ]
    after = typed_in_bash(tmp_path, [before for _, before in tried])
    assert after == [before for _, before in tried]


@pytest.mark.parametrize("title", [*COMMANDS, "=ls", "~root", "a\u00a0b", 'u"$(touch run)', "x{1,2}", "q?*"])
def test_a_title_that_any_shell_acts_upon_is_completed_by_its_id(
    memory: Path, nuggets: object, title: str
) -> None:
    made = nuggets.json("note", "add", title, "x", "--nugget", "web")  # type: ignore[attr-defined]
    assert complete("note", "show", title[:2]) == []
    assert made["id"] in complete("note", "show", "")
