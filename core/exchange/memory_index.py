"""MEMORY.md as the index of Claude Code's pages: a bullet for each, and between them words of the person's own."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from core.exchange.pages import compared
from core.text.memory_page import begins_bullet, continues, parts_of

INDEX: Final = "MEMORY.md"
_ENTRY: Final = re.compile(r"\[([^\[\]]*)\]\(<?(?:\./)?([^()<>\n]+?\.(?:md|markdown))>?\)", re.IGNORECASE)


def _entry(part: str) -> str:
    """The page that a bullet points to, "" for none."""
    found = _ENTRY.search(part) if begins_bullet(part) else None
    if found is None or "://" in found[2] or "\n" in part[: found.start()]:
        return ""
    return found[2].strip()


def entries(index: str, files: Collection[str]) -> list[str]:
    """The bullets that point to pages."""
    return [part for part in parts_of(index) if _entry(part) in files]


def own_words(index: str, files: Collection[str]) -> str:
    """The index without the bullets that point to pages."""
    return "".join(part for part in parts_of(index) if _entry(part) not in files)


def with_own_words(index: str, files: Collection[str], words: str) -> str:
    """The index with other words of its own; the bullets that point to pages stay between those that stay."""
    parts, after = parts_of(index), parts_of(words)
    before = [part for part in parts if _entry(part) not in files]
    pointing: list[list[str]] = [[]]
    for part in parts:
        if _entry(part) in files:
            pointing[-1].append(part)
        else:
            pointing.append([])
    made: list[str] = []
    for _, i, j, k, m in compared(before, after):
        for offset in range(max(j - i, m - k)):
            made += pointing[i + offset] if i + offset < j else ()
            made += after[k + offset : k + offset + 1] if k + offset < m else ()
    return _joined([*made, *pointing[-1]])


def _joined(parts: list[str]) -> str:
    """Parts as a text, in which all but the last end, and none becomes the end of a bullet before it."""
    newline = "\r\n" if any(part.endswith("\r\n") for part in parts) else "\n"
    made = ""
    for number, part in enumerate(parts):
        made += newline if number and not made.endswith("\n") else ""
        made += newline if number and begins_bullet(parts[number - 1]) and continues(part) else ""
        made += part
    return made


def new_line(file: str, title: str, hook: str) -> str:
    """A bullet for a page; "" for a file whose name no bullet can say."""
    target = f"<{file}>" if " " in file else file
    made = f"- [{_shown(title)}]({target})" + (f" — {hook}" if hook and hook != title else "")
    return made if _entry(made) == file else ""


def with_lines(index: str, file: str, lines: str) -> str:
    """The index with bullets for a page, where it has none: behind the last one that points to a page."""
    parts, new = parts_of(index), parts_of(lines)
    if not new or any(_entry(part) == file for part in parts):
        return index
    at = max((at for at, part in enumerate(parts, 1) if _entry(part)), default=len(parts))
    open_end = at == len(parts) and bool(parts) and not parts[-1].endswith("\n")
    made = _joined([*parts[:at], *new, *parts[at:]])
    if at == len(parts):
        newline = "\r\n" if "\r\n" in index else "\n"
        made = made.rstrip("\r\n") + ("" if open_end else newline)
    return made


def without_lines(index: str, file: str) -> tuple[str, str]:
    """The index without the bullets of a page, of which there may be several, and those bullets."""
    parts = parts_of(index)
    kept = [part for part in parts if _entry(part) != file]
    if len(kept) < len(parts) and kept and not parts[-1].endswith("\n"):
        # The file had no line break at its end, and is to have none.
        kept[-1] = kept[-1].rstrip("\r\n") or kept[-1]
    return "".join(kept), "".join(part for part in parts if _entry(part) == file)


def with_other_lines(index: str, file: str, lines: str) -> str:
    """The index with another text for each bullet of a page, in its place."""
    new = iter(parts_of(lines))
    parts = parts_of(index)
    for at, part in enumerate(parts):
        if _entry(part) == file and (line := next(new, None)) is not None:
            parts[at] = line.rstrip("\r\n") + part[len(part.rstrip("\r\n")) :]
    return "".join(parts)


def retitled(lines: str, title: str) -> str:
    """Bullets in the first of which the page bears another title."""
    found = _ENTRY.search(lines)
    return lines if found is None else f"{lines[: found.start(1)]}{_shown(title)}{lines[found.end(1) :]}"


def _shown(title: str) -> str:
    return re.sub(r"[\[\]]", "", title)
