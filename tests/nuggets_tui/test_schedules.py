"""What is printed for systemd and cron starts the program and memory that were meant, whatever their names."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInputError
from nuggets_tui.cli.background import Plan, plan

ODD = '/home/o\'hara/my "own" 100% $HOME `x` \\n; # ü memory'
words = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1).filter(str.isprintable)


def made(kind: str, program: str, home: str) -> Plan:
    return plan(kind, [program], Path(home), 7, usual=False)  # type: ignore[arg-type]


def systemd_words(line: str) -> list[str]:
    """The words of an ExecStart line, as systemd's own documentation says they are read, but for a leading shell."""
    found = re.findall(r'"((?:\\.|[^"\\])*)"', line)
    words = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%").replace("$$", "$") for word in found]
    return words[3:] if words[:3] == ["/bin/sh", "-c", 'exec "$0" "$@"'] else words


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
@pytest.mark.parametrize("name", ["plain", "with space 100%", ODD.replace("/", " ")])
def test_systemd_finds_nothing_wrong_with_what_is_printed(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    for part in plan("systemd", [str(program)], tmp_path, 7, usual=True).parts:
        (tmp_path / Path(part.path).name).write_text(part.text)
    units = [str(path) for path in tmp_path.glob("nuggets-reflect.*")]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not [line for line in done.stderr.splitlines() if "nuggets-reflect" in line]


def cron_words(line: str) -> list[str]:
    """What a shell is given of a crontab line; cron takes the backslash from \\%, and a bare % ends the command."""
    command = line.split(" ", 5)[5].rstrip("\n")
    assert not re.search(r"(?<!\\)%", command)
    return shlex.split(command.replace("\\%", "%").removesuffix(" >/dev/null"))


@given(words, words)
def test_every_name_reaches_the_program_as_it_is(program: str, name: str) -> None:
    program, home = f"/opt/{program}", str(Path(f"/srv/{name}"))
    wanted = [program, "--home", home, "reflect", "--if-due"]
    service = made("systemd", program, home).parts[0].text
    (line,) = [line for line in service.splitlines() if line.startswith("ExecStart=")]
    assert systemd_words(line) == wanted
    assert cron_words(made("cron", program, home).parts[0].text) == wanted


@pytest.mark.slow
def test_a_shell_is_given_what_was_meant(tmp_path: Path) -> None:
    text = made("cron", "/bin/echo", ODD).parts[0].text
    command = text.split(" ", 5)[5].rstrip("\n").replace("\\%", "%").removesuffix(" >/dev/null")
    said = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout
    assert said == f"--home {ODD} reflect --if-due\n"


def test_a_program_that_systemd_would_not_start_itself_is_started_by_a_shell(tmp_path: Path) -> None:
    program = tmp_path / ODD.replace("/", "=")
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    program.chmod(0o700)
    service = made("systemd", str(program), ODD).parts[0].text
    (line,) = [line for line in service.splitlines() if line.startswith("ExecStart=")]
    words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:\\.|[^"\\])*)"', line)]
    command = [word.replace("%%", "%").replace("$$", "$") for word in words]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == f"--home|{ODD}|reflect|--if-due|"


def test_it_is_asked_every_hour_at_the_minute_of_the_set_time() -> None:
    assert made("cron", "/n", "/m").parts[0].text.startswith("7 * * * * ")
    assert "OnCalendar=*-*-* *:07:00\n" in made("systemd", "/n", "/m").parts[1].text


def test_two_memories_have_files_of_their_own() -> None:
    one, two = made("systemd", "/n", "/one"), made("systemd", "/n", "/two")
    assert {part.path for part in one.parts}.isdisjoint(part.path for part in two.parts)
    assert "nuggets-reflect." in plan("systemd", ["/n"], Path("/one"), 0, usual=True).parts[0].path


def test_a_name_that_cannot_stand_there_is_refused() -> None:
    for name in ["/a\nb", "/a\x1b[2J", "/\ud800", "/a\u202eb"]:
        for kind in ["systemd", "cron"]:
            with pytest.raises(InvalidInputError, match="cannot be scheduled"):
                made(kind, "/n", name)
