"""Bullets of a page, each as one memory: as CLAUDE.md, AGENTS.md and their like hold them, and MEMORY.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import blake2s
from itertools import pairwise
from typing import Final, NamedTuple

from core.exchange import front_matter
from core.exchange.records import (
    LeftOut,
    Parsed,
    Record,
    Source,
    SourceFile,
    place,
    read_each,
    text_of,
    tidy_record,
    title_of,
)  # fmt: skip
from core.model.infer import MetaInput

_BULLET: Final = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)")
_TITLED: Final = re.compile(r"\*\*((?:\\.|[^\\*]|\*(?!\*))+?):?\*\*:?(?:\s+[—–-])?(?=\s|$)\s*")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|~=])")
_TAG: Final = re.compile(r"[^\w-]+")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
INSTRUCTIONS: Final = frozenset(
    (
        "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md",
        "copilot-instructions.md",
    )
)  # fmt: skip
# What `nuggets agent install` put into the page. It tells how to ask the memory and is none of it.
_OURS: Final = re.compile(r"^<!-- nuggets:begin.*?^<!-- nuggets:end -->[^\r\n]*", re.MULTILINE | re.DOTALL)
_PERSONAL: Final = ("/.claude", "/.codex", "/.gemini")


class Bullet(NamedTuple):
    """One bullet with what belongs to it. headings: it stands below them, the outermost first."""

    file: str
    line: int
    content: str
    headings: tuple[str, ...]

    def record(self, meta: MetaInput) -> Record:
        """The bullet as a memory: what it begins with in bold is its title, else its first sentence."""
        titled = _TITLED.match(self.content)
        title = _plain(titled[1]) if titled else ""
        content = _plain(self.content[titled.end() :] if titled else self.content)
        if not content:
            title, content = "", title
        bare = (title or content).encode("utf-8", "replace")
        made = Record(
            where=place(self.file, self.line),
            key=f"{self.file}#{blake2s(bare, digest_size=8).hexdigest()}",
            title=title or title_of(content),
            content=content,
            derived=not title,
            tags=tuple(
                filter(None, [_TAG.sub("-", one.lower()).strip("-_")[:40] for one in self.headings[-1:]])
            ),
            meta=meta,
            names=(title,) if title else (),
        )
        return tidy_record(made) or made


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text).strip()


def bullets_of(file: str, text: str) -> tuple[list[Bullet], list[int]]:
    """The bullets of a page, and the numbers of the lines that are none, headings, comments and rules aside.

    What belongs to a bullet is as CommonMark has it, inner bullets and code among it.
    """
    from markdown_it import MarkdownIt

    # Comments become blank lines, so that the others keep their numbers.
    lines = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    start = front_matter.split(text)[0].count("\n")
    tokens = MarkdownIt("commonmark").disable("inline").parse("\n".join([*[""] * start, *lines[start:]]))
    found: list[Bullet] = []
    others: list[int] = []
    headings: list[tuple[int, str]] = []
    for token, inside in pairwise([*tokens, *tokens[-1:]]):
        first, end = token.map or (0, 0)
        if token.type == "heading_open" and token.level == 0:
            depth = int(token.tag[1])
            headings = [*(one for one in headings if one[0] < depth), (depth, inside.content.strip())]
        elif token.type == "list_item_open" and token.level == 1 and (begins := _BULLET.match(lines[first])):
            inner = [
                line[min(begins.end(), len(line) - len(line.lstrip())) :] for line in lines[first + 1 : end]
            ]
            body = "\n".join([lines[first][begins.end() :], *inner]).rstrip()
            found.append(Bullet(file, first + 1, body, tuple(name for _, name in headings)))
        elif token.level == 0 and token.nesting >= 0 and not token.type.endswith(("_list_open", "hr")):
            others += [number for number, line in enumerate(lines[first:end], first + 1) if line.strip()]
    return found, others


# Instructions for agents


def read_instructions(source: Source) -> Parsed:
    """A note for each bullet; what stands between them is named, our own lines aside."""
    folder = source.path.rstrip("/") if source.folder else source.path.rpartition("/")[0]
    meta = MetaInput(scope="user" if folder.endswith(_PERSONAL) else "project", source="explicit_user")
    files = filter(is_named, source.files) if source.folder else source.files
    return read_each(files, lambda file: records_of(file.name, without_ours(text_of(file)), meta))


def records_of(
    file: str, text: str, meta: MetaInput, passed: Callable[[Bullet], bool] = lambda _: False
) -> Iterator[Record | LeftOut]:
    """The bullets of a page but those that are passed over, and what counts the lines that are none."""
    found, lines = bullets_of(file, text)
    yield from (bullet.record(meta) for bullet in found if not passed(bullet))
    if lines:
        what = f"{len(lines):,} lines are no bullets" if len(lines) > 1 else "is no bullet"
        yield LeftOut(place(file, lines[0]), what)


def is_named(file: SourceFile) -> bool:
    """Whether a file has a name of instructions for agents."""
    return file.name.rpartition("/")[2].lower() in INSTRUCTIONS


def without_ours(text: str) -> str:
    """Our lines as blank ones, so that the others keep their numbers."""
    return _OURS.sub(lambda found: "\n" * found[0].count("\n"), text)
