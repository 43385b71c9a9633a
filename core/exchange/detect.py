"""Which format a source is in, by what its files hold, and by their names where that says nothing."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from core.exchange import bullets, foreign, front_matter, markdown
from core.exchange.dialect import CLAUDE
from core.exchange.memory_index import INDEX
from core.exchange.pages import is_page
from core.exchange.records import (
    Format,
    FormatError,
    Parsed,
    Source,
    SourceFile,
    document_of,
    lines_of,
    text_of,
)
from core.folder import FACT_SUFFIXES, GRAPH_FILE

MARK: Final = "nuggets-memory"
MANIFEST: Final = ".nuggets-export.json"
# Of a large folder so many pages are looked into.
_LOOKED_INTO: Final = 60
_CLAUDE_FOLDER: Final = re.compile(r"/projects/[^/]+/memory/?$")
_READERS: Final = {
    "markdown": markdown.read, "claude": markdown.read_claude, "agents": bullets.read_instructions,
    "mcp-memory": foreign.read_graph, "mem0": foreign.read_list, "engram": foreign.read_list,
}  # fmt: skip
# By the list that a JSON object has, and what else it must have; the first that fits.
_LISTS: Final[tuple[tuple[str, str, Format], ...]] = (
    ("facts", "name", "donna"), ("notes", "version", "donna"), ("entities", "entities", "mcp-memory"),
    ("observations", "observations", "engram"), ("results", "results", "mem0"),
    ("memories", "memories", "mem0"),
)  # fmt: skip


def parse(source: Source, format: Format) -> Parsed:
    """What a source says in a format that other programs write. Raises FormatError."""
    found = _READERS[format](source)
    return found._replace(left_out=(*source.left_out, *found.left_out))


def folder_format(names: frozenset[str], path: str) -> Format | None:
    """The format of a folder by what stands at its top; None where its pages have to be looked into."""
    if GRAPH_FILE.parts[0] in names or any(name.endswith(FACT_SUFFIXES) for name in names):
        return "donna"
    if MANIFEST in names or ".obsidian" in names:
        return "markdown"
    if INDEX in names or _CLAUDE_FOLDER.search(path.replace("\\", "/")):
        return "claude"
    return None


def format_of(source: Source) -> Format | None:
    """The format of a source; None for one that is not known. Raises FormatError for JSON that cannot be read."""
    if source.folder:
        return folder_format(source.names, source.path) or _of_pages(source)
    return _of_file(source.files[0]) if source.files else None


def _of_pages(source: Source) -> Format | None:
    """A folder with one page of ours is a vault of ours, whatever else somebody put into it."""
    pages = [file for file in source.files if is_page(file.name)]
    if pages and all(map(bullets.is_named, pages)):
        return "agents"
    found = [_of_page(page) for page in pages[:_LOOKED_INTO]]
    if "markdown" not in found and "claude" in found:
        return "claude"
    return "markdown" if pages else None


def _of_page(file: SourceFile) -> Format | None:
    """The format that a page shows; None for one as anybody writes it."""
    try:
        fields, _ = front_matter.read(text_of(file))
    except FormatError:
        return None
    if isinstance(fields.get("nuggets"), int):
        return "markdown"
    is_claude = isinstance(fields.get("name"), str) and "description" in fields and CLAUDE.kind_of(fields)
    return "claude" if is_claude else None


def _of_file(file: SourceFile) -> Format | None:
    if file.name.endswith(FACT_SUFFIXES):
        return "donna"
    if bullets.is_named(file):
        return "agents"
    if file.name == INDEX:
        return "claude"
    if is_page(file.name):
        return _of_page(file) or "markdown"
    is_json = file.data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    return _of_json(file) if is_json else None


def _of_json(file: SourceFile) -> Format | None:
    if f'"{MARK}"'.encode() in file.data[:400]:
        return "json"
    try:
        document: Any = document_of(file)
    except FormatError:
        begins = islice((value for _, value in lines_of(file)), _LOOKED_INTO)
        if any(isinstance(value, dict) and value.get("type") in foreign.KINDS for value in begins):
            return "mcp-memory"
        raise
    if isinstance(document, list):
        held = next((item for item in document if isinstance(item, dict)), {})
        return "mem0" if any(isinstance(held.get(name), str) for name in ("memory", "text")) else None
    if not isinstance(document, dict):
        return None
    if document.get("type") in foreign.KINDS:
        return "mcp-memory"
    return next(
        (
            format
            for name, other, format in _LISTS
            if isinstance(document.get(name), list) and other in document
        ),
        "json" if document.get("format") == MARK else None,
    )
