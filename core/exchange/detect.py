"""Which format a source is in, by what its files hold, and by their names where that says nothing."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from core.exchange import (
    agent_instructions,
    basic_memory,
    claude,
    csv_facts,
    engram,
    front_matter,
    markdown,
    mcp_memory,
    mem0,
)
from core.exchange.json_source import document_of, lines_of
from core.exchange.pages import is_page, prose
from core.exchange.records import Format, FormatError, Parsed, Source, SourceFile, text_of
from core.folder import FACT_SUFFIXES, GRAPH_FILE

MARK: Final = "nuggets-memory"
MANIFEST: Final = ".nuggets-export.json"
# Of a large folder so many pages are looked into.
_LOOKED_INTO: Final = 60
_CLAUDE_FOLDER: Final = re.compile(r"/projects/[^/]+/memory/?$")
_READERS: Final = {
    "markdown": markdown.read,
    "claude": claude.read,
    "agents": agent_instructions.read,
    "mcp-memory": mcp_memory.read,
    "mem0": mem0.read,
    "engram": engram.read,
    "basic-memory": basic_memory.read,
    "csv": csv_facts.read,
}


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
    if claude.INDEX in names or _CLAUDE_FOLDER.search(path.replace("\\", "/")):
        return "claude"
    return None


def format_of(source: Source) -> Format | None:
    """The format of a source; None for one that is not known."""
    if source.folder:
        return folder_format(source.names, source.path) or _of_pages(source)
    return _of_file(source.files[0]) if source.files else None


def _of_pages(source: Source) -> Format | None:
    """A folder with one page of ours is a vault of ours, whatever else somebody put into it."""
    pages = [file for file in source.files if is_page(file.name)]
    if pages and all(map(agent_instructions.is_named, pages)):
        return "agents"
    pages = pages[:_LOOKED_INTO]
    found = [_of_page(page) for page in pages]
    order: tuple[Format, ...] = ("markdown", "claude", "basic-memory")
    return next((format for format in order if format in found), "markdown" if pages else None)


def _of_page(file: SourceFile) -> Format | None:
    """The format that a page shows; None for one as anybody writes it."""
    try:
        text = text_of(file)
        fields, body = front_matter.read(text)
    except FormatError:
        return None
    if isinstance(fields.get("nuggets"), int):
        return "markdown"
    if isinstance(fields.get("name"), str) and "description" in fields and claude.type_of(fields):
        return "claude"
    if isinstance(fields.get("permalink"), str):
        return "basic-memory"
    observations = sum(basic_memory.OBSERVATION.match(line) is not None for _, line in prose(body[:20_000]))
    return "basic-memory" if observations > 1 else None


def _of_file(file: SourceFile) -> Format | None:
    name = file.name.lower()
    if file.name.endswith(FACT_SUFFIXES):
        return "donna"
    if name in agent_instructions.FILES:
        return "agents"
    if file.name == claude.INDEX:
        return "claude"
    if is_page(name):
        return _of_page(file) or "markdown"
    begins = file.data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if begins in (b"{", b"["):
        return _of_json(file)
    try:
        first = text_of(file).split("\n", 1)[0]
    except FormatError:
        return None
    return "csv" if csv_facts.header_of(first) is not None else None


def _of_json(file: SourceFile) -> Format | None:
    """By the fields of a JSON document. Raises FormatError, with the line, for one that cannot be read."""
    if f'"{MARK}"'.encode() in file.data[:400]:
        return "json"
    try:
        document = document_of(file)
    except FormatError:
        begins = islice((value for _, value in lines_of(file)), _LOOKED_INTO)
        if any(isinstance(value, dict) and value.get("type") in mcp_memory.KINDS for value in begins):
            return "mcp-memory"
        raise
    if isinstance(document, dict):
        return _of_object(document)
    held = (
        next((item for item in document if isinstance(item, dict)), {}) if isinstance(document, list) else {}
    )
    return "mem0" if any(isinstance(held.get(name), str) for name in mem0.TEXTS) else None


def _of_object(document: dict[str, Any]) -> Format | None:
    def has_list(*names: str) -> bool:
        return any(isinstance(document.get(name), list) for name in names)

    if document.get("format") == MARK:
        return "json"
    if has_list("facts") and isinstance(document.get("name"), str):
        return "donna"
    if has_list("notes") and "version" in document:
        return "donna"
    if has_list("entities") or document.get("type") in mcp_memory.KINDS:
        return "mcp-memory"
    if has_list("observations"):
        return "engram"
    return "mem0" if has_list(*mem0.LISTS) else None
