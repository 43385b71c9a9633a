"""Finds what a text names of a project: files, symbols, commands, environment variables and configuration keys.

Found by shape alone, and generously: a name counts only once a project was seen to have it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from core.text.file_references import file_references

Kind = Literal["file", "symbol", "command", "variable", "key"]

# Nobody waits for more of a text than this, and for no more references of one text.
_READ: Final = 100_000
_MOST: Final = 60
_LONGEST: Final = 300
_IDENTIFIER: Final = r"[A-Za-z_$][A-Za-z0-9_$]*"
# A path without an ending that files have: only with a folder, and outside of addresses.
_PATH: Final = re.compile(r"(?<![\w/.:@%~$-])(?:\./)?(?:[\w.@+-]+/)+[\w.@+-]*(?![\w:/@])")
# A path with spaces in it: only between quotation marks.
_SPACED: Final = re.compile(r"(?<=[`\"])(?=[^`\"\n]*[/.])[\w.@+-][\w.@+/-]*(?: [\w.@+/-]+){1,8}(?=[`\"])")
# `name()`, `Class.method`, `module::name()`: between backticks, or with its brackets.
_CALLED: Final = re.compile(rf"(?<![\w.$/:#])({_IDENTIFIER}(?:(?:\.|::|#){_IDENTIFIER})*)\(\)")
_QUOTED: Final = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
_SYMBOL: Final = re.compile(rf"{_IDENTIFIER}(?:(?:\.|::|#){_IDENTIFIER})*(?:\(\))?")
# A name by itself is a symbol where it is written as one: parseConfig, parse_config, HttpClient.
_HUMPED: Final = re.compile(r"[a-z0-9][A-Z]|[a-zA-Z]_[a-zA-Z]|[A-Z][a-z]+[A-Z]")
_VARIABLE: Final = re.compile(r"(?<![\w$./-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w(])")
_KEY: Final = re.compile(r"[a-z][\w-]*(?:\.[A-Za-z_][\w-]*){1,4}")
_COMMAND: Final = re.compile(
    r"(?<![\w./-])(?:(npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+|exec\s+)?|(npx|bunx)\s+|(make|just)\s+(?:-\S+\s+)*"
    r"|(?:uv|poetry|pdm|hatch)\s+(run)\s+)"
    r"([A-Za-z@][\w:./@-]*)"
)


class Reference(NamedTuple):
    """What a text names. said: as it stands there. name: what is looked for: the path as written, the symbol with its
    container ("Class.method"), "tool target" of a command. line: of a file, 0 for none. start: in characters.
    """

    kind: Kind
    said: str
    name: str
    line: int = 0
    start: int = 0

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from others, wherever it stands."""
        return self.kind, self.name, self.line

    @property
    def word(self) -> str:
        """The last part of a dotted name, the target of a command."""
        return self.name.partition(" ")[2] if self.kind == "command" else self.name.rpartition(".")[2]


def references(text: str, root: str = "") -> tuple[Reference, ...]:
    """What a text names, in order, each once; at most 60.

    root: the project's folder. A path inside of it, absolute or from "~", is told relative to it; one that leads out of
    it is left out, and so are addresses.
    """
    text = text[:_READ]
    found: dict[tuple[str, str, int], Reference] = {}
    for one in sorted([*_files(text, root), *_named(text)], key=lambda one: one.start):
        if len(one.said) <= _LONGEST:
            found.setdefault(one.key, one)
    return tuple(list(found.values())[:_MOST])


def _files(text: str, root: str) -> Iterator[Reference]:
    known = file_references(text)
    covered = {at for one in known for at in range(one.start, one.end)}
    found = [(text[one.start : one.end], one.path, one.line, one.start) for one in known]
    for match in (*_PATH.finditer(text), *_SPACED.finditer(text)):
        said = match[0].rstrip(".")
        if said.strip("./") and match.start() not in covered:
            found.append((said, said, 0, match.start()))
    for said, path, line, start in found:
        if name := relative(path, root):
            yield Reference("file", said, name, line, start)


def relative(path: str, root: str) -> str:
    """A path as its project has it, with "/" between its parts; "" for one outside of the project."""
    path = path.replace("\\", "/")
    if path.startswith("~/"):
        path = os.path.expanduser("~") + path[1:]
    if os.path.isabs(path):
        bases = (root, os.path.realpath(root)) if root else ()
        path = next((path[len(base) + 1 :] for base in bases if path.startswith(f"{base}/")), "")
    path = os.path.normpath(path) if path else ""
    return "" if path in ("", ".") or path.startswith(("..", "~", "$", "%")) or path[1:2] == ":" else path


def _named(text: str) -> Iterator[Reference]:
    for match in _COMMAND.finditer(text):
        tool, target = next(filter(None, match.groups()[:4])), match[5].rstrip(".:")
        yield Reference("command", match[0].rstrip(".:"), f"{tool} {target}", 0, match.start())
    for match in _VARIABLE.finditer(text):
        yield Reference("variable", match[0], match[0], 0, match.start())
    for match in _CALLED.finditer(text):
        yield _symbol(match[0], match.start())
    for quoted in _QUOTED.finditer(text):
        said, start = quoted[1], quoted.start(1)
        joined = said.endswith("()") or "::" in said or "#" in said or ("." in said and said[0].isupper())
        written_so = (joined or _HUMPED.search(said)) and not _VARIABLE.fullmatch(said)
        if written_so and _SYMBOL.fullmatch(said):
            yield _symbol(said, start)
        if _KEY.fullmatch(said) and not said.endswith("()"):
            yield Reference("key", said, said, 0, start)


def _symbol(said: str, start: int) -> Reference:
    return Reference("symbol", said, re.sub(r"::|#", ".", said.removesuffix("()")), 0, start)
