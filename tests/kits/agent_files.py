"""Files of agents as they are found: realistic ones by hand, and any that hypothesis thinks of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from core.agents.targets import Command, Place

NAMES: Final = ("claude", "codex", "opencode", "pi", "cursor", "gemini")
COMMAND: Final = Command(("/opt/nuggets/bin/nuggets",))

SERVERS: Final = """{
  "numStartups": 41,
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "server-filesystem", "."]},
    "docs": {
      "url": "https://example.com/mcp"
    }
  },
  "projects": {"/home/a/p": {"mcpServers": {}, "history": ["äöü 日本 \\u00e9"]}}
}
"""
COMMENTED: Final = """// Mine, do not touch
{
\t"theme": "dark", // at night
\t/* servers */
\t"mcpServers": {
\t\t"files": { "command": "npx", }, // trailing
\t\t// the end
\t},
\t"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}], "Stop": [ ],},
}
"""
JSON_FILES: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "blank": b" \n\n",
    "object": b"{}",
    "spread": b"{\n}\n",
    "no end of line": b'{"a": 1}',
    "one line": b'{"mcpServers":{"x":{"command":"x"}},"hooks":{}}',
    "servers": SERVERS.encode(),
    "commented": COMMENTED.encode(),
    "CRLF": SERVERS.replace("\n", "\r\n").encode(),
    "BOM": b"\xef\xbb\xbf" + SERVERS.encode(),
    "only comments": b"{\n  // nothing yet\n}\n",
}
TOML_FILES: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "comment": b"# mine",
    "servers": b'model = "o5"\n\n[mcp_servers.docs]\ncommand = "npx" # docs\nargs = ["-y"]\n\n'
    b'[projects."/a b"]\ntrust_level = "trusted"\n',
    "CRLF": b'model = "o5"\r\n[tui]\r\nnotifications = true\r\n',
    "BOM": b'\xef\xbb\xbfmodel = "o5"\n',
    "no end of line": b"[features]\nhooks = true",
    "list of tables": b'[[hooks.Stop]]\nmatcher = ""\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n',
}
PAGES: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "text": "# Rules\n\n- speak plainly äöü\n".encode(),
    "no end of line": b"# Rules",
    "CRLF": b"# Rules\r\n\r\nBe kind.\r\n",
    "BOM": b"\xef\xbb\xbf# Rules\n",
    "latin": "Grüße\n".encode("latin-1"),
    "blank lines": b"# Rules\n\n\n",
}
BROKEN_JSON: Final = (
    b'{"a": 1', b'{"a": 1,,}', b"[1, 2]", b"nonsense", b'{"mcpServers": [], "mcp": []}', b"\xff\xfe{\0}\0",
    b'{"a": "\xff"}', b'{"a" 1}', b"{'a': 1}", b"{" * 900, b'{"a": 1} x', b"[" * 5000,
)  # fmt: skip
BROKEN_TOML: Final = (
    b"a = ",
    b"[mcp_servers",
    b"mcp_servers = {}\nmcp_servers = {}\n",
    b"a = 1\na = 2\n",
    b"\xff\xfea",
)


def place(home: Path, environ: Mapping[str, str] | None = None, project: Path | None = None) -> Place:
    """A user's files in `home`, moved by no variable but those given."""
    return Place(home, environ or {}, project)


def tree(folder: Path) -> dict[str, bytes | None]:
    """All files below a folder with their bytes; folders and links have None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(folder.rglob("*"))
    }


_KEYS: Final = st.sampled_from(
    ("a", "b", "theme", "mcpServers", "mcp", "hooks", "ä", 'q"', "x//y", "nuggets2")
)
_SCALARS: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 10**20),
    st.text(max_size=6),
    st.sampled_from(("// no", "/* no */", "\\")),
)
_SPACE: Final = st.sampled_from(("", " ", "\n", "\n  ", "\n\t", "\r\n  ", " // note, {[\n", " /* , ] } */ "))


@st.composite
def jsonc(draw: st.DrawFn) -> tuple[str, Any]:
    """An object as JSON with comments, trailing commas and any white space, and its value."""
    value = draw(_object(2))
    return draw(_SPACE).lstrip(" ") + _written(draw, value) + draw(_SPACE), value


def _object(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    inner = (
        _SCALARS if depth == 0 else st.one_of(_SCALARS, _object(depth - 1), st.lists(_SCALARS, max_size=2))
    )
    places = {
        "mcpServers": _object(0) if depth == 2 else inner,
        "mcp": _object(0) if depth == 2 else inner,
        "hooks": st.dictionaries(
            st.sampled_from(("SessionStart", "Stop", "PreCompact")),
            st.lists(
                st.fixed_dictionaries({"hooks": st.just([{"type": "command", "command": "date"}])}),
                max_size=2,
            ),
            max_size=2,
        )
        if depth == 2
        else inner,
    }
    return st.lists(_KEYS, unique=True, max_size=4).flatmap(
        lambda keys: st.fixed_dictionaries({key: places.get(key, inner) for key in keys})
    )


def _written(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        parts = [
            f"{draw(_SPACE)}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(_SPACE)}:{draw(_SPACE)}"
            f"{_written(draw, inner)}{draw(_SPACE)}"
            for key, inner in value.items()
        ]
        return "{" + _joined(draw, parts) + "}"
    if isinstance(value, list):
        return (
            "["
            + _joined(draw, [f"{draw(_SPACE)}{_written(draw, inner)}{draw(_SPACE)}" for inner in value])
            + "]"
        )
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def _joined(draw: st.DrawFn, parts: list[str]) -> str:
    if not parts:
        return draw(_SPACE)
    return ",".join(parts) + ("," + draw(_SPACE) if draw(st.booleans()) else "")
