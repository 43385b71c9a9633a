"""CLAUDE.md, AGENTS.md and their like: instructions for agents, of which each bullet is a memory."""

from __future__ import annotations

import re
from typing import Final

from core.exchange.bullets import bullets_of
from core.exchange.records import FormatError, LeftOut, Parsed, Record, Source, SourceFile, place, text_of
from core.model.infer import MetaInput

FILES: Final = frozenset(
    (
        "claude.md",
        "claude.local.md",
        "agents.md",
        "agents.override.md",
        "gemini.md",
        "copilot-instructions.md",
    )
)
# What `nuggets agent install` put into the page. It tells how to ask the memory and is none of it.
_OURS: Final = re.compile(r"^<!-- nuggets:begin.*?^<!-- nuggets:end -->[^\r\n]*", re.MULTILINE | re.DOTALL)
_PERSONAL: Final = ("/.claude", "/.codex", "/.gemini")


def read(source: Source) -> Parsed:
    """A note for each bullet; what stands between them is named, our own lines aside."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    folder = source.path.rstrip("/") if source.folder else source.path.rpartition("/")[0]
    meta = MetaInput(scope="user" if folder.endswith(_PERSONAL) else "project", source="explicit_user")
    for file in filter(is_named, source.files) if source.folder else source.files:
        try:
            found, lines = bullets_of(file.name, without_ours(text_of(file)))
        except FormatError as error:
            left_out.append(LeftOut(place(error.file or file.name, error.line), error.what))
            continue
        records += (bullet.record(meta) for bullet in found)
        if lines:
            what = f"{len(lines):,} lines are no bullets" if len(lines) > 1 else "is no bullet"
            left_out.append(LeftOut(place(file.name, lines[0]), what))
    return Parsed(tuple(records), None, tuple(left_out))


def is_named(file: SourceFile) -> bool:
    """Whether a file has a name of instructions for agents."""
    return file.name.rpartition("/")[2].lower() in FILES


def without_ours(text: str) -> str:
    """Our lines as blank ones, so that the others keep their numbers."""
    return _OURS.sub(lambda found: "\n" * found[0].count("\n"), text)
