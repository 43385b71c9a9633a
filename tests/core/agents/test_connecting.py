"""What is put into the files of agents is taken out again, and nothing else in them is touched."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.agent_files import (
    BROKEN_JSON,
    BROKEN_TOML,
    COMMAND,
    JSON_FILES,
    NAMES,
    PAGES,
    TOML_FILES,
    jsonc,
    place,
    tree,
)

from core.agents.connecting import Connections, standings
from core.agents.jsonc import JsonText, PieceError
from core.agents.pieces import JsonPiece, PagePiece, TomlPiece
from core.agents.targets import Command, Target, is_hook, is_server, targets
from core.errors import BrokenFileError, ConflictError, NuggetsError, ReadOnlyError, StorageError
from core.storage.files import others


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def connections(tmp_path: Path) -> Connections:
    return Connections(tmp_path / "state" / "agents")


def files_of(name: str, home: Path) -> list[Target]:
    return list(targets(name, place(home), COMMAND))


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def samples(target: Target) -> Mapping[str, bytes]:
    return {JsonPiece: JSON_FILES, TomlPiece: TOML_FILES, PagePiece: PAGES}.get(type(target.piece), {})  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("name", NAMES)
def test_where_there_is_nothing_removing_leaves_nothing(
    name: str, home: Path, connections: Connections
) -> None:
    connections.install(name, files_of(name, home))
    assert {one.state for one in standings(files_of(name, home))} == {"current"}
    connections.remove(name, files_of(name, home))
    assert tree(home) == {}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", sorted({*JSON_FILES, *TOML_FILES, *PAGES}))
def test_each_realistic_file_is_byte_for_byte_as_before_also_when_the_record_is_lost(
    name: str, kind: str, home: Path, tmp_path: Path
) -> None:
    for target in files_of(name, home):
        if kind in samples(target):
            write(target.path, samples(target)[kind])
    first = tree(home)
    connections = Connections(tmp_path / "state")
    connections.install(name, files_of(name, home))
    assert {one.state for one in standings(files_of(name, home))} == {"current"}
    connected = tree(home)
    again = connections.install(name, files_of(name, home))
    assert {change.kind for change in again} == {"unchanged"}
    assert tree(home) == connected
    connections.remove(name, files_of(name, home))
    assert tree(home) == first
    assert {change.kind for change in connections.remove(name, files_of(name, home))} == {"unchanged"}
    # Without what we know: the entries go, and what others wrote stays.
    connections.install(name, files_of(name, home))
    Connections(None).remove(name, files_of(name, home))
    assert {one.state for one in standings(files_of(name, home))} == {"absent"}


@pytest.mark.parametrize("name", NAMES)
def test_what_others_add_meanwhile_stays_and_ours_goes(
    name: str, home: Path, connections: Connections
) -> None:
    files = files_of(name, home)
    connections.install(name, files)
    for target in files:
        if isinstance(target.piece, JsonPiece):
            value = json.loads(target.path.read_bytes())
            target.path.write_text(json.dumps(value | {"added": 1}, indent=4))
        elif isinstance(target.piece, TomlPiece):
            target.path.write_bytes(target.path.read_bytes() + b'\n[mcp_servers.other]\ncommand = "x"\n')
        elif isinstance(target.piece, PagePiece):
            target.path.write_bytes(b"Above.\n\n" + target.path.read_bytes() + b"Below.\n")
    connections.remove(name, files)
    for target in files:
        if isinstance(target.piece, JsonPiece):
            value = json.loads(target.path.read_bytes())
            assert value == {**target.piece.seed, "added": 1}
        elif isinstance(target.piece, TomlPiece):
            assert tomllib.loads(target.path.read_text()) == {"mcp_servers": {"other": {"command": "x"}}}
        elif isinstance(target.piece, PagePiece):
            assert target.path.read_bytes() == b"Above.\n\nBelow.\n"


@pytest.mark.parametrize("name", NAMES)
def test_another_command_takes_the_place_of_the_former_one(
    name: str, home: Path, connections: Connections
) -> None:
    for target in files_of(name, home):
        if samples(target):
            write(target.path, next(reversed(samples(target).values())))
    first = tree(home)
    connections.install(name, files_of(name, home))
    moved = targets(name, place(home), Command(("/new place/nuggets",), "/data/memory"))
    assert "outdated" in {one.state for one in standings(moved)}
    connections.install(name, moved)
    assert {one.state for one in standings(moved)} == {"current"}
    connections.remove(name, moved)
    assert tree(home) == first


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_changes_nothing(name: str, home: Path, tmp_path: Path) -> None:
    write(home / ".claude.json", JSON_FILES["servers"])
    before = tree(tmp_path)
    connections = Connections(tmp_path / "state")
    changes = connections.install(name, files_of(name, home), dry_run=True)
    assert {change.kind for change in changes} <= {"created", "changed"}
    assert tree(tmp_path) == before
    connections.install(name, files_of(name, home))
    connected = tree(tmp_path)
    connections.remove(name, files_of(name, home), dry_run=True)
    assert tree(tmp_path) == connected


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_named_and_no_file_is_touched(
    name: str, home: Path, connections: Connections
) -> None:
    for number, target in enumerate(files_of(name, home)):
        broken = {
            JsonPiece: BROKEN_JSON,
            TomlPiece: BROKEN_TOML,
            PagePiece: (b"\xff\xfea\0", b"<!-- nuggets:begin\n"),
        }
        for data in broken.get(type(target.piece), ()):
            if target.part == "hooks" and data == b'{"mcpServers": [], "mcp": []}':
                continue
            write(target.path, data)
            before = tree(home)
            for call in (connections.install, connections.remove):
                if call == connections.remove and data == b'{"mcpServers": [], "mcp": []}':
                    continue
                with pytest.raises(BrokenFileError) as caught:
                    call(name, files_of(name, home))
                assert str(target.path) in caught.value.message
                assert caught.value.exit_code == 2
                assert tree(home) == before
            assert standings(files_of(name, home))[number].state == "broken"
        target.path.unlink(missing_ok=True)


def test_an_entry_of_somebody_else_under_our_name_is_left_alone(home: Path, connections: Connections) -> None:
    foreign = {
        ".claude.json": b'{"mcpServers": {"nuggets": {"command": "npx", "args": ["other-nuggets"]}}}',
        ".codex/config.toml": b'[mcp_servers.nuggets]\ncommand = "npx"\n',
        ".config/opencode/plugins/nuggets.js": b"export const X = 1\n",
    }
    for path, data in foreign.items():
        write(home / path, data)
    before = tree(home)
    for name in ("claude", "codex", "opencode"):
        with pytest.raises(ConflictError):
            connections.install(name, files_of(name, home))
        assert "foreign" in {one.state for one in standings(files_of(name, home))}
        connections.remove(name, files_of(name, home))
        assert tree(home) == before


def test_an_entry_made_by_hand_that_is_as_ours_counts(home: Path, connections: Connections) -> None:
    write(
        home / ".codex/config.toml",
        b'[mcp_servers]\nnuggets = { command = "/opt/nuggets/bin/nuggets", args = ["mcp"] }\n',
    )
    connections.install("codex", files_of("codex", home))
    assert (home / ".codex/config.toml").read_bytes().count(b"nuggets =") == 1
    assert {one.state for one in standings(files_of("codex", home))} == {"current"}


def test_how_pi_shows_the_tools_is_the_users_to_say(home: Path, connections: Connections) -> None:
    connections.install("pi", files_of("pi", home))
    server = next(one for one in files_of("pi", home) if one.part == "server")
    entry = json.loads(server.path.read_text())["mcpServers"]["nuggets"]
    assert entry["exposure"] == "direct"
    own = server.path.read_text().replace('"direct"', '"codemode"')
    server.path.write_text(own)
    assert server.piece.state(own.encode()) == "current"
    connections.install("pi", files_of("pi", home))
    assert server.path.read_text() == own


def test_what_a_person_sets_in_our_entries_counts_and_stays(home: Path, connections: Connections) -> None:
    connections.install("claude", files_of("claude", home))
    config, settings = home / ".claude.json", home / ".claude" / "settings.json"
    value = json.loads(config.read_bytes())
    value["mcpServers"]["nuggets"]["env"] = {"NUGGETS_CACHE": "off"}
    config.write_text(json.dumps(value, indent=2))
    settings.write_text(settings.read_text().replace('"timeout": 5', '"timeout": 9'))
    assert {one.state for one in standings(files_of("claude", home))} == {"current"}
    changes = connections.install("claude", files_of("claude", home))
    assert {change.kind for change in changes} == {"unchanged"}
    connections.install("claude", targets("claude", place(home), Command(("/new/nuggets",))))
    server = json.loads(config.read_bytes())["mcpServers"]["nuggets"]
    assert server["command"] == "/new/nuggets"
    assert server["env"] == {"NUGGETS_CACHE": "off"}


def test_a_hook_of_ours_in_a_group_with_others_counts_and_goes_alone(
    home: Path, connections: Connections
) -> None:
    settings = home / ".claude" / "settings.json"
    write(settings, b'{"model": "x"}\n')
    connections.install("claude", files_of("claude", home))
    other = {"type": "command", "command": "say hello"}
    value = json.loads(settings.read_bytes())
    value["hooks"]["SessionStart"][0]["hooks"].append(other)
    settings.write_text(json.dumps(value, indent=2) + "\n")
    assert {one.state for one in standings(files_of("claude", home))} == {"current"}
    assert {one.kind for one in connections.install("claude", files_of("claude", home))} == {"unchanged"}
    connections.install("claude", targets("claude", place(home), Command(("/new/nuggets",))))
    assert settings.read_bytes().count(b"/new/nuggets hook") == 6
    assert b"/opt/nuggets" not in settings.read_bytes()
    connections.remove("claude", files_of("claude", home))
    assert json.loads(settings.read_bytes()) == {
        "model": "x",
        "hooks": {"SessionStart": [{"hooks": [other]}]},
    }


def test_a_table_that_codex_wrote_anew_is_ours_still(home: Path, connections: Connections) -> None:
    config = home / ".codex" / "config.toml"
    write(config, b'model = "o5" # mine\n')
    connections.install("codex", files_of("codex", home))
    config.write_bytes(
        b'model = "o5" # mine\n[mcp_servers.nuggets]\ncommand = "/opt/nuggets/bin/nuggets"\nargs = [\n  "mcp",\n]\n\n'
        b'[mcp_servers.nuggets.env]\nA = "1"\n\n# theirs\n[mcp_servers.other]\ncommand = "echo"\n'
    )
    assert {one.state for one in standings(files_of("codex", home))} == {"current"}
    moved = targets("codex", place(home), Command(("/new/nuggets",), "/m"))
    connections.install("codex", moved)
    server = tomllib.loads(config.read_text())["mcp_servers"]["nuggets"]
    assert server == {"command": "/new/nuggets", "args": ["mcp", "--home", "/m"], "env": {"A": "1"}}
    connections.remove("codex", files_of("codex", home))
    assert config.read_bytes() == b'model = "o5" # mine\n\n# theirs\n[mcp_servers.other]\ncommand = "echo"\n'


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["/opt/bin/nuggets", "mcp"], True),
        (["C:\\\\bin\\\\nuggets.exe", "mcp", "--home", "x"], True),
        (["/usr/bin/python3", "-P", "-m", "nuggets_tui.cli", "mcp"], True),
        (["uvx", "nuggets-tui[pdf]", "mcp"], True),
        (["npx", "-y", "nuggets", "mcp"], False),
        (["/opt/bin/golden-nuggets", "mcp"], False),
        (["/opt/bin/nuggets", "serve"], False),
        (["mcp"], False),
        ([], False),
    ],
)
def test_an_entry_of_this_program_is_told_from_others(words: list[str], ours: bool) -> None:
    assert is_server({"command": words}) is ours
    assert is_server({"command": words[0] if words else 3, "args": words[1:]}) is ours
    assert is_hook({"command": shlex.join(words).replace("mcp", "hook")}) is ours


def test_links_rights_and_groups_stay(home: Path, connections: Connections) -> None:
    real = home / "dotfiles" / "settings.json"
    write(real, JSON_FILES["servers"])
    real.chmod(0o640)
    link = home / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    (home / ".claude" / "CLAUDE.md").symlink_to(home / "dotfiles" / "not there.md")
    connections.install("claude", files_of("claude", home))
    assert link.is_symlink()
    assert b"hook claude" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    assert (home / "dotfiles" / "not there.md").is_file()
    connections.remove("claude", files_of("claude", home))
    assert real.read_bytes() == JSON_FILES["servers"]
    assert not (home / "dotfiles" / "not there.md").exists()
    assert (home / ".claude" / "CLAUDE.md").is_symlink()


def test_a_read_only_file_is_not_replaced(home: Path, connections: Connections) -> None:
    page = home / ".claude" / "CLAUDE.md"
    write(page, b"# Rules\n")
    page.chmod(0o444)
    before = tree(home)
    with pytest.raises(ReadOnlyError):
        connections.install("claude", files_of("claude", home))
    assert tree(home) == before


def test_a_link_in_a_circle_is_one_clear_error(home: Path, connections: Connections) -> None:
    (home / ".claude.json").symlink_to(home / ".claude.json")
    with pytest.raises(NuggetsError):
        connections.install("claude", files_of("claude", home))
    assert "broken" in {one.state for one in standings(files_of("claude", home))}


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_when_a_file_cannot_be_written_the_others_are_as_before(
    fails_at: int, home: Path, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".claude.json", JSON_FILES["servers"])
    before = tree(home)
    calls = []
    whole = others.put_in_place

    def failing(staged: Any) -> object:
        calls.append(1)
        if len(calls) == fails_at:
            others.discard([staged])
            raise StorageError("the disk is full")
        return whole(staged)

    monkeypatch.setattr(others, "put_in_place", failing)
    with pytest.raises(StorageError):
        connections.install("claude", files_of("claude", home))
    monkeypatch.setattr(others, "put_in_place", whole)
    assert tree(home) == before
    connections.install("claude", files_of("claude", home))
    connections.remove("claude", files_of("claude", home))
    assert tree(home) == before


def test_what_an_agent_writes_between_reading_and_writing_is_kept(
    home: Path, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".claude.json", b'{"numStartups": 1}')
    whole, done = others.stage_file, []

    def meanwhile(path: Path, *parts: bytes, mode: int) -> object:
        if path.name == ".claude.json" and not done:
            done.append(1)
            path.write_bytes(b'{"numStartups": 2}')
        return whole(path, *parts, mode=mode)

    monkeypatch.setattr(others, "stage_file", meanwhile)
    connections.install("claude", files_of("claude", home))
    value = json.loads((home / ".claude.json").read_bytes())
    assert value["numStartups"] == 2
    assert "nuggets" in value["mcpServers"]


def test_one_page_that_two_agents_read_keeps_its_lines_until_the_last_is_removed(
    tmp_path: Path, home: Path, connections: Connections
) -> None:
    project = tmp_path / "project"
    write(project / "AGENTS.md", b"# Project\n")
    first = tree(project)
    there = place(home, project=project)
    for name in ("codex", "opencode", "pi"):
        connections.install(name, targets(name, there, COMMAND))
    assert (project / "AGENTS.md").read_bytes().count(b"nuggets:begin") == 1
    for name in ("codex", "pi"):
        connections.remove(name, targets(name, there, COMMAND))
        assert b"nuggets:begin" in (project / "AGENTS.md").read_bytes()
    connections.remove("opencode", targets("opencode", there, COMMAND))
    assert tree(project) == first


def test_variables_move_the_files(home: Path, tmp_path: Path) -> None:
    moved = {
        "claude": ("CLAUDE_CONFIG_DIR", "{}/.claude.json"),
        "codex": ("CODEX_HOME", "{}/config.toml"),
        "opencode": ("XDG_CONFIG_HOME", "{}/opencode/opencode.json"),
        "pi": ("PI_CODING_AGENT_DIR", "{}/mcp.json"),
        "gemini": ("GEMINI_CLI_HOME", "{}/.gemini/settings.json"),
    }
    for name, (variable, path) in moved.items():
        found = targets(name, place(home, {variable: str(tmp_path / "x")}), COMMAND)
        assert str(found[0].path) == path.format(tmp_path / "x")
        assert not any(target.path.is_relative_to(home) for target in found)


def test_what_others_wrote_into_a_file_of_ours_stays_when_ours_changed_since(
    home: Path, connections: Connections
) -> None:
    connections.install("claude", files_of("claude", home))
    config, page = home / ".claude.json", home / ".claude" / "CLAUDE.md"
    config.write_text(json.dumps(json.loads(config.read_bytes()) | {"added": 1}))
    page.write_bytes(b"Above.\n\n" + page.read_bytes())
    moved = targets("claude", place(home), Command(("/new/nuggets",)))
    connections.install("claude", moved)
    connections.remove("claude", moved)
    assert json.loads(config.read_bytes()) == {"added": 1}
    assert page.read_bytes() == b"Above.\n\n"


def test_what_is_known_of_files_is_for_its_owner_alone(home: Path, tmp_path: Path) -> None:
    write(home / ".claude.json", JSON_FILES["servers"])
    Connections(tmp_path / "state").install("claude", files_of("claude", home))
    known = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert known
    assert not any(path.stat().st_mode & 0o077 for path in known)


@pytest.mark.slow
@pytest.mark.parametrize("killed_at", [1, 2, 3])
@pytest.mark.parametrize("then", ["install", "remove"])
def test_after_a_kill_between_two_files_it_can_be_finished_and_taken_back(
    killed_at: int, then: str, home: Path, tmp_path: Path
) -> None:
    write(home / ".claude.json", JSON_FILES["servers"])
    write(home / ".claude" / "CLAUDE.md", PAGES["no end of line"])
    before = tree(home)
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from core.agents import connecting\nfrom core.agents.targets import *\nfrom core.storage.files import others\n"
        "count, whole = [], others.put_in_place\n"
        "def put(staged):\n"
        "    count.append(1)\n"
        "    if len(count) == int(sys.argv[3]):\n"
        "        others.discard([staged]); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return whole(staged)\n"
        "others.put_in_place = put\n"
        "files = targets('claude', Place(Path(sys.argv[1]), {}), Command(('/opt/nuggets/bin/nuggets',)))\n"
        "connecting.Connections(Path(sys.argv[2])).install('claude', files)\n"
    )
    words = [sys.executable, "-c", code, str(home), str(tmp_path / "state"), str(killed_at)]
    assert subprocess.run(words, timeout=60, check=False).returncode == -signal.SIGKILL
    connections = Connections(tmp_path / "state")
    if then == "install":
        connections.install("claude", files_of("claude", home))
        assert {one.state for one in standings(files_of("claude", home))} == {"current"}
    connections.remove("claude", files_of("claude", home))
    assert tree(home) == before


def test_a_configuration_of_opencode_2_gets_the_server_where_that_reads_it(
    home: Path, connections: Connections
) -> None:
    config = home / ".config" / "opencode" / "opencode.jsonc"
    data = b'{ // two\n  "mcp": {"servers": {"x": {"type": "local", "command": ["x"]}}}\n}\n'
    write(config, data)
    connections.install("opencode", files_of("opencode", home))
    assert b'"nuggets": {"type": "local"' in config.read_bytes()
    assert {one.state for one in standings(files_of("opencode", home))} == {"current"}
    connections.remove("opencode", files_of("opencode", home))
    assert config.read_bytes() == data


@pytest.mark.parametrize("depth", [150, 300, 600, 950, 5000])
def test_what_is_nested_deeply_is_kept_or_refused(depth: int) -> None:
    piece = targets("claude", place(Path("/home/x")), COMMAND)[0].piece
    data = b'{"a": ' + b"[" * depth + b"]" * depth + b"}"
    try:
        made = piece.put(data)
    except PieceError:
        assert depth > 200
        return
    assert piece.take(made, data) == data


@pytest.mark.parametrize(
    "text",
    [b"{ // mine\n}\n", b'{"a": [1,],}\n', b"\xef\xbb\xbf{}\n", b'{"disableAllHooks": true}\n'],
    ids=["comment", "comma", "BOM", "hooks off"],
)
def test_a_file_that_the_agent_ignores_is_not_called_connected(
    home: Path, connections: Connections, text: bytes
) -> None:
    files = files_of("claude", home)
    hooks = next(target for target in files if target.part == "hooks")
    write(hooks.path, text)
    connections.install("claude", files)
    (found,) = [one for one in standings(files) if one.target == hooks]
    assert (found.state, found.shown, found.works) == ("current", "ignored", False)
    assert found.problem
    assert all(one.works for one in standings(files) if one.target != hooks)
    connections.remove("claude", files)
    assert hooks.path.read_bytes() == text


@pytest.mark.parametrize("text", [b"{ // mine\n}\n", b'{"a": 1,}\n'])
def test_an_agent_that_reads_comments_works_with_them(
    home: Path, connections: Connections, text: bytes
) -> None:
    files = files_of("opencode", home)
    write(files[0].path, text)
    connections.install("opencode", files)
    assert all(one.works and not one.problem for one in standings(files_of("opencode", home)))


def test_hooks_beside_those_of_codex_own_file_are_said(home: Path, connections: Connections) -> None:
    config = files_of("codex", home)[0].path
    before = b'[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "x"\n'
    write(config, before)
    connections.install("codex", files_of("codex", home))
    found = standings(files_of("codex", home))
    assert [one.target.part for one in found if one.problem] == ["hooks"]
    assert all(one.works for one in found)
    connections.remove("codex", files_of("codex", home))
    assert config.read_bytes() == before


@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_instructions_stand_where_codex_reads_them(
    home: Path, connections: Connections, begin: bytes, end: bytes
) -> None:
    files = files_of("codex", home)
    page = files[-1].path
    short = begin + b"# Rules" + end
    write(page, short)
    connections.install("codex", files)
    assert page.read_bytes().startswith(short)
    long = page.read_bytes().replace(b"# Rules", b"# Rules" + b"\nmore" * 8_000)
    write(page, long)
    assert standings(files)[-1].state == "outdated"
    connections.install("codex", files)
    assert standings(files)[-1].state == "current"
    assert b"nuggets:end" in page.read_bytes()[: 32 * 1024]
    connections.remove("codex", files)
    assert page.read_bytes() == short.replace(b"# Rules", b"# Rules" + b"\nmore" * 8_000)


# Laws


def is_part_of(text: bytes, whole: bytes) -> bool:
    """Whether a text is another one from which characters were taken."""
    rest = iter(whole)
    return all(char in rest for char in text)


@pytest.mark.slow
@given(data=jsonc(), which=st.sampled_from(("claude", "opencode", "gemini", "cursor")), hooks=st.booleans())
def test_any_json_with_comments_is_the_same_after_ours_went(
    data: tuple[str, object], which: str, hooks: bool
) -> None:
    text, value = data
    files = targets(which, place(Path("/home/x")), COMMAND)
    piece = next(
        target.piece for target in files
        if isinstance(target.piece, JsonPiece) and (target.part == "hooks") == (hooks and which != "opencode")
    )  # fmt: skip
    assert isinstance(piece, JsonPiece)
    try:
        made = piece.put(text.encode())
    except PieceError:
        # Only where our place is taken by something that is no object or list.
        places = [
            value.get(keys[0]) for keys in piece.entries if isinstance(value, dict) and keys[0] in value
        ]
        assert any(not isinstance(found, dict) for found in places)
        return
    assert piece.state(made) == "current"
    assert piece.put(made) == made
    # Ours came in between, and what is taken out again is ours.
    assert is_part_of(text.encode(), made)
    taken = piece.take(made, text.encode())
    assert is_part_of(taken, made)
    assert JsonText(taken.decode()).value == value
    # Where the first state is not known, at most empty places for ours are left.
    assert piece.state(piece.take(made)) == "absent"


@given(
    tables=st.dictionaries(
        st.sampled_from(("model", "tui", "a b", "mcp_servers")),
        st.dictionaries(
            st.sampled_from(("x", "y", "docs")), st.one_of(st.integers(), st.text(max_size=5)), max_size=3
        ),
        max_size=3,
    ),
    newline=st.sampled_from(("\n", "\r\n")),
    end=st.booleans(),
)
def test_any_toml_is_the_same_after_ours_went(
    tables: dict[str, dict[str, object]], newline: str, end: bool
) -> None:
    lines = ["# mine"]
    for name, rows in tables.items():
        lines.append(f'["{name}"] # {name}')
        lines += [
            f"{key}  =  {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "")
            for key, value in rows.items()
        ]
    data = (newline.join(lines) + (newline if end else "")).encode()
    piece = targets("codex", place(Path("/home/x")), COMMAND)[0].piece
    made = piece.put(data)
    assert made.startswith(data)
    assert piece.state(made) == "current"
    assert piece.put(made) == made
    assert piece.take(made, data) == data


@given(data=st.binary(max_size=60), more=st.binary(max_size=10))
def test_any_page_is_the_same_after_ours_went(data: bytes, more: bytes) -> None:
    piece = PagePiece("instructions", "Ask memory.\n")
    try:
        made = piece.put(data)
    except PieceError:
        assert b"\0" in data or data.startswith((b"\xff\xfe", b"\xfe\xff"))
        return
    assert made.startswith(data)
    assert piece.take(made, data) == data
