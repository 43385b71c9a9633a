"""Binds what a text names to a project as it is at one moment: where it stands, and how it looks there.

A name that the project does not have then, or has in several places, is not bound: nothing is ever said of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Final, NamedTuple

from core.grounding.references import Reference
from core.grounding.trees import Line, Tree

# Lines of a definition that are looked at, and files in which commands of one kind are looked for.
_BODY: Final = 80
_MOST_MANIFESTS: Final = 20
_SCRIPTS: Final = frozenset(("npm", "pnpm", "yarn", "bun", "npx", "bunx"))
_MANIFESTS: Final = {
    **dict.fromkeys(_SCRIPTS, ("package.json", "")),
    "make": ("Makefile", "makefile", "GNUmakefile", ".mk"),
    "just": ("justfile", "Justfile", ".justfile", ".just"),
    "run": ("pyproject.toml", ""),
}
_TABLES: Final = ("dependencies", "devDependencies", "scripts", "gui-scripts")
# Names, and all that stands behind them and below, further in.
_BELOW: Final = r"(?![=:])(.*(?:\n(?:[ \t].*)?)*)"
_TARGET: Final = {
    "make": re.compile(rf"^([\w.%/-]+(?:[ \t]+[\w.%/-]+)*)[ \t]*::?{_BELOW}", re.MULTILINE),
    "just": re.compile(rf"^@?([\w-]+)(?:[ \t][^:=\n]*)?:{_BELOW}", re.MULTILINE),
}
_CONFIGURATION: Final = (
    "*.toml", "*.yml", "*.yaml", "*.json", "*.json5", "*.jsonc", "*.ini", "*.cfg", "*.conf", "*.properties", "*.env",
    "*.kdl",
)  # fmt: skip
# Texts that speak of code and hold none.
_PROSE: Final = re.compile(
    r"\.(?:md|mdx|rst|adoc|txt|org)\Z|(?:\A|/)(?:CHANGELOG|CHANGES|NEWS)", re.IGNORECASE
)
_TESTS: Final = re.compile(
    r"(?:\A|/)(?:tests?|__tests__|spec|fixtures|examples?)/|(?:\A|/)test_|[._](?:test|spec)\."
)
_WORDS_OF_DEFINITION: Final = (
    "def|class|fn|func|function|fun|struct|enum|trait|interface|type|typedef|module|namespace|object|record|protocol"
    "|macro_rules!|const|let|var|val|static|union|mixin|extension"
)
# What stands before a call and makes no definition of it.
_NOT_BEFORE: Final = (
    "return|await|yield|throw|raise|new|else|if|while|for|case|in|not|and|or|assert|del|go|defer|print"
    "|echo|do"
)
# What defines a name, which stands as "\0" in it: one expression for all names, since it takes long to compile.
_DEFINITION: Final = re.compile(
    rf"(?:^|[\s(])(?:{_WORDS_OF_DEFINITION})\s+(?:\([^)]*\)\s*)?(?:[\w<>*&]+(?:\.|::))?\0(?![\w$-])"
    rf"|^\s*(?:(?!(?:{_NOT_BEFORE})\b)[\w<>\[\],.*&?:]+\s+)+[*&]?(?:\w+::)?\0\s*\([^;]*[^;,]?$"
    r"|^\s*(?:async\s+|\*\s*)?\0\s*\([^;]*\)\s*(?::[^=;]+)?(?:\{|=>).*$"
    r"|^\s*(?:self\.|this\.|exports\.)?\0\s*(?::[^=]+)?=(?!=)"
    r"|^\s*['\"]?\0['\"]?\s*:\s*(?:async\s*)?(?:function\b|\()"
    r"|^\s*#\s*define\s+\0(?!\w)"
)


class Bound(NamedTuple):
    """A reference as a project had it. path: the file that has it, "" for a variable, which may stand anywhere. blob:
    the file's digest, "" for a folder. commit: that was checked out, "" for none. at: when, in seconds since 1970.
    marks: digests that tell the named lines, the definition or the script; of a line with the one before and behind it.
    """

    reference: Reference
    path: str = ""
    blob: str = ""
    commit: str = ""
    at: int = 0
    marks: tuple[str, ...] = ()


def bind(
    found: Sequence[Reference], tree: Tree, commit: str = "", at: int = 0, folder: str = ""
) -> list[Bound]:
    """Those of some references that a project has, each with where and how.

    folder: of the page that names them, where paths are looked for first.
    """
    lines, bound = lines_of(found, tree), list[Bound]()
    for one in found:
        path, marks = _place(one, tree, lines(one), folder)
        blob = tree.blob(path) if one.kind not in ("variable", "key") else ""
        bound += [Bound(one, path, blob, commit, at, marks)] if path else []
    return bound


def _place(one: Reference, tree: Tree, lines: Sequence[Line], folder: str) -> tuple[str, tuple[str, ...]]:
    """The file that has what is named, "" for none or one of several, and its marks."""
    if one.kind == "file":
        # A bare name is the one file of that name.
        alike = tree.by_name.get(one.name, ()) if "/" not in one.name else ()
        readings = (f"{folder}/{one.name}" if folder else one.name, one.name, *alike[: len(alike) == 1])
        path = next((path for path in readings if tree.has(path)), "")
        marks = marks_of_line(tree.text(path), one.line) if path and one.line else ()
        # A line that the file does not have was never named.
        return path if any(marks) or not one.line else "", marks
    if one.kind == "command":
        tool = one.name.partition(" ")[0]
        known = ((path, targets(tool, tree.text(path)).get(one.word)) for path in manifests(tool, tree))
        return next(((path, (mark(body) or "-",)) for path, body in known if body is not None), ("", ()))
    if one.kind == "symbol":
        places = definitions(one.name, tree, lines)
        bodies = [(at.path, (mark_of_body(tree.text(at.path), at.number),)) for at in places[:1]]
        return bodies[0] if len(places) == 1 else ("", ())
    held = lines_of_setting(one, tree, lines)
    return held[0].path if held else "", ()


def lines_of(found: Iterable[Reference], tree: Tree) -> Callable[[Reference], Sequence[Line]]:
    """Gives the lines that hold the last part of a symbol, a variable or a key, which are all looked for at once."""
    wanted = [one for one in found if one.kind not in ("file", "command")]
    keys = tree.lines_with({one.word for one in wanted if one.kind == "key"}, *_CONFIGURATION)
    others = tree.lines_with({one.word for one in wanted if one.kind != "key"})
    return lambda one: (keys if one.kind == "key" else others).get(one.word, ())


def mark(text: str) -> str:
    """A digest of a text, white space aside; "" for a text without any other."""
    squeezed = " ".join(text.split())
    return hashlib.blake2b(squeezed.encode("utf-8", "replace"), digest_size=6).hexdigest() if squeezed else ""


def marks_of_line(text: str | None, number: int) -> tuple[str, ...]:
    """The marks of a line (from 1) with the one before and behind it; () where the text has no such line."""
    lines = ["", *(text or "").split("\n"), ""]
    if not text or not 0 < number < len(lines) - 1:
        return ()
    return tuple(mark(line) for line in lines[number - 1 : number + 2])


def definitions(name: str, tree: Tree, lines: Iterable[Line]) -> list[Line]:
    """Where a symbol is defined, of the lines that hold its last part; in tests only where nowhere else."""
    *around, last = name.split(".")
    found = [line for line in lines if _DEFINITION.search(line.text.replace(last, "\0"))]
    held = re.compile(rf"\b{re.escape(around[-1])}\b") if around else None

    @cache
    def may_define(path: str) -> bool:
        holds = held is None or around[-1] in path or held.search(tree.text(path) or "")
        return bool(holds) and not _PROSE.search(path)

    found = [line for line in found if may_define(line.path)]
    code = [line for line in found if not _TESTS.search(line.path)]
    return code or found


def mark_of_body(text: str | None, number: int) -> str:
    """The mark of a definition that begins in a line (from 1): with all below it that stands further in."""
    first, *rest = (text or "").split("\n")[number - 1 : number - 1 + _BODY] or [""]
    deep = len(first) - len(first.lstrip())
    below = takewhile(
        lambda line: not line.strip() or line[: deep + 1].isspace() or line.strip()[0] in "){", rest
    )
    return mark("\n".join([first, *below]))


def manifests(tool: str, tree: Tree) -> list[str]:
    """The files that say what a tool can be told to do, those of the project's own folder first."""
    # What they include has its ending.
    *names, ending = _MANIFESTS.get(tool, ("",))
    found = [path for name in names for path in tree.by_name.get(name, ())]
    found += [path for path in tree.blobs if path.endswith(ending)] if tool in _TARGET else []
    return sorted(found, key=lambda path: (path.count("/"), path))[:_MOST_MANIFESTS]


def targets(tool: str, text: str | None) -> Mapping[str, str]:
    """What a tool can be told to do by one of its files, each with its script; none of a file that cannot be read."""
    if not text:
        return {}
    if tool in _TARGET:
        return {name: match[2] for match in _TARGET[tool].finditer(text) for name in match[1].split()}
    try:
        import tomllib

        read = json.loads(text) if tool in _SCRIPTS else tomllib.loads(text)
        tools = read.get("tool", {}) if tool not in _SCRIPTS else {}
        # The version of a library that is run is no script that may change.
        return {
            str(name): str(said) if "scripts" in table else "-"
            for project in (read, *(tools.get(one, {}) for one in ("poetry", "pdm")), read.get("project", {}))
            for table in _TABLES if isinstance(project.get(table), dict)
            for name, said in project[table].items()
        }  # fmt: skip
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}


def lines_of_setting(one: Reference, tree: Tree, lines: Iterable[Line]) -> list[Line]:
    """The lines that set or read a variable, or that set a configuration key whose other parts the file sets too."""
    if one.kind == "variable":
        return [line for line in lines if not _PROSE.search(line.path)]
    *around, last = (
        re.compile(rf"(?:^|[\[{{,.\s])[\"']?{re.escape(part)}[\"']?\s*[:=\].]", re.MULTILINE)
        for part in one.name.split(".")
    )
    held = [line for line in lines if last.search(line.text)]
    paths = sorted({line.path for line in held}, key=lambda path: (path.count("/"), path))
    within = {
        path for path in paths[:_MOST_MANIFESTS] if all(part.search(tree.text(path) or "") for part in around)
    }
    return [line for line in held if line.path in within]
