"""The memory folder of Claude Code as a place for notes: what its pages say, and how they are changed and made.

A page is front matter (name, description, metadata.type) and a text with [[links]]; MEMORY.md has a line for each.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from core.exchange import claude, page_text, pages
from core.exchange.dialect import LINKED, Said
from core.exchange.pages import links_of, names_of, prose, stem_of
from core.exchange.records import Reference, SourceFile, as_texts, time_of
from core.model.infer import MetaInput
from core.model.note import Note
from core.text.memory_page import begins_bullet, continues, parts_of
from core.text.wiki import is_slug

INDEX: Final = claude.INDEX
NUGGET: Final = "claude"
WHOLE: Final = False
_TITLE: Final = 200
_HOOK: Final = 120
_META: Final = {
    "user": MetaInput(scope="user", source="agent_reflection"),
    "feedback": MetaInput(type="preference", source="agent_reflection"),
    "project": MetaInput(scope="project", source="agent_reflection"),
    "reference": MetaInput(scope="shared", source="agent_reflection"),
}
_OTHER: Final = MetaInput(source="agent_reflection")
_ENTRY: Final = re.compile(r"\[([^\[\]]*)\]\(<?(?:\./)?([^()<>\n]+?\.(?:md|markdown))>?\)", re.IGNORECASE)
_SIGNS: Final = re.compile(r"[#>*+`|\[\]-]|\d+[.)]\s")


@lru_cache(maxsize=4096)
def read_page(file: str, page: str) -> Said:
    """What a page says. Raises FormatError."""
    fields = page_text.fields_of(page)
    given = _given_title(fields)
    parts = page_text.take_apart(page, given)
    title = given or parts.heading or stem_of(file)
    body = parts.text.replace("\r\n", "\n")
    description = _description(fields)
    content = _with_description(description, body)
    kind = claude.type_of(fields)
    inner = fields.get("metadata")
    modified = inner.get("modified") if isinstance(inner, dict) else None
    links = dict.fromkeys(found for _, line in prose(body) for found in links_of(line)) if "[" in body else ()
    name = _text(fields.get("name"))
    names = (*filter(None, (name,)), *names_of(SourceFile(file, b""), fields, title))
    return Said(
        title=title,
        content=content,
        meta=_META.get(kind, _OTHER),
        tags=(*filter(None, (kind,)), *as_texts(fields.get("tags"))),
        names=tuple(dict.fromkeys(names)),
        links=tuple(Reference(link, LINKED) for link in links),
        created=time_of(fields.get("created")),
        updated=time_of(modified) or time_of(fields.get("updated")),
    )


def _given_title(fields: dict[str, Any]) -> str:
    return _text(fields.get("title")) or _text(fields.get("name"))


def _text(value: object) -> str:
    """A value that is a title: one line."""
    return " ".join(value.split())[:_TITLE].strip() if isinstance(value, str) else ""


def _description(fields: dict[str, Any]) -> str:
    found = fields.get("description")
    return " ".join(found.split()) if isinstance(found, str) else ""


def _with_description(description: str, body: str) -> str:
    """The text of a note: the description leads it, unless the page's own text has it anyway."""
    if not description or description in " ".join(body.split()):
        return body
    return f"{description}\n\n{body}" if body else description


def changed_page(file: str, page: str, before: Note, after: Note) -> str:
    """A page that says what became of a note; what stays as it was keeps its bytes. Raises FormatError."""
    said, kind = read_page(file, page), claude.type_of(page_text.fields_of(page))
    if (before.scope, before.type) != (after.scope, after.type):
        wanted = kind_of(after.scope, after.type, kind)
        page = _with_kind(file, page, wanted) if wanted != kind else page
    if after.content not in (before.content, said.content):
        page = _with_content(file, page, after.content)
    if after.title not in (before.title, said.title):
        page = _with_title(file, page, after.title)
    return page


def with_links(file: str, page: str, added: Collection[Reference], gone: Collection[Reference]) -> str:
    """The page itself: links with their reasons stand in no page of Claude Code."""
    return page


def _with_kind(file: str, page: str, kind: str) -> str:
    fields = page_text.fields_of(page)
    parts = page_text.take_apart(page, _given_title(fields))
    if not parts.front:
        # What a page without front matter is, it does not say.
        return page
    if isinstance(fields.get("type"), str):
        return page_text.with_field(parts, "type", kind).joined()
    if "metadata" in fields and not isinstance(fields["metadata"], dict | None):
        return page
    return _readable(file, page_text.with_field(parts, "metadata", kind, inner="type").joined(), page)


def _with_title(file: str, page: str, title: str) -> str:
    fields = page_text.fields_of(page)
    given = _given_title(fields)
    parts = page_text.take_apart(page, given)
    if parts.heading and (not given or parts.heading == given) and parts.lead.strip():
        parts = page_text.with_heading(parts, title)
        if not given:
            return parts.joined()
    elif not given:
        return page_text.with_heading(parts, title).joined()
    if "title" in fields and _text(fields["title"]):
        changed = page_text.with_field(parts, "title", title)
    elif is_slug(given):
        # Other pages, and Claude Code itself, know it by this name.
        changed = page_text.with_field(parts, "title", title, behind="name")
    else:
        changed = page_text.with_field(parts, "name", title)
    return _readable(file, changed.joined(), page)


def _with_content(file: str, page: str, content: str) -> str:
    fields = page_text.fields_of(page)
    parts = page_text.take_apart(page, _given_title(fields))
    description = _description(fields)
    body = parts.text.replace("\r\n", "\n")
    if not description:
        return page_text.with_text(parts, content).joined()
    led = _with_description(description, body) != body
    if led and content == description:
        return page_text.with_text(parts, "").joined()
    if led and content.startswith(f"{description}\n\n"):
        kept = page_text.with_text(parts, content.removeprefix(f"{description}\n\n")).joined()
        if read_page(file, kept).content.split() == content.split():
            return kept
    first, _, rest = content.partition("\n\n")
    if led and rest.strip() and "\n" not in first and not _SIGNS.match(first):
        described = page_text.with_field(parts, "description", first)
        made = page_text.with_text(described, rest.lstrip("\n")).joined()
        if _says(file, made, content):
            return made
    if description not in " ".join(content.split()):
        parts = page_text.with_field(parts, "description", hook_of(content))
    return _readable(file, page_text.with_text(parts, content).joined(), page)


def _says(file: str, page: str, content: str) -> bool:
    try:
        return read_page(file, page).content.split() == content.split()
    except ValueError:
        return False


def _readable(file: str, made: str, page: str) -> str:
    """What was made of a page, if it can be read again; the page itself where its front matter defied the change."""
    try:
        read_page(file, made)
    except ValueError:
        return page
    return made


def new_page(file: str, note: Note) -> str:
    """A page as Claude Code makes one."""
    name, title, content = stem_of(file), note.title, note.content
    kind = kind_of(note.scope, note.type, "")
    lines = [f"name: {page_text.spelt(name)}"]
    lines += [f"title: {page_text.spelt(title)}"] if title != name else []
    lines += [f"description: {page_text.spelt(hook_of(content) or title)}"]
    lines += ["metadata:", "  node_type: memory", f"  type: {kind or 'project'}"]
    return "\n".join(["---", *lines, "---", "", content, ""])


def hook_of(content: str) -> str:
    """The first line of a text that says something, as much of it as fits one line of the index."""
    line = next((line.strip() for line in content.split("\n") if line.strip()), "")
    if len(line) <= _HOOK:
        return line
    head, _, _ = line[: _HOOK + 1].rpartition(" ")
    return head or line[:_HOOK]


def kind_of(scope: str, type_: str, former: str) -> str:
    """The type that fits a note's scope and type; the former one where it does or where none fits."""
    fits = {
        "user": scope == "user" and type_ != "preference",
        "feedback": type_ == "preference",
        "project": scope == "project",
        "reference": scope == "shared",
    }
    if fits.get(former):
        return former
    return next((kind for kind in ("feedback", "user", "project", "reference") if fits[kind]), former)


def file_for(title: str, taken: Collection[str]) -> str:
    """A name for a new page that no file has. taken: names in lower case."""
    return pages.file_for(title, taken, stem_of(INDEX).lower())


# MEMORY.md, in the parts that `core.text.memory_page` cuts it into


def _entry(part: str) -> str:
    """The page that a bullet of the index points to, "" for none."""
    found = _ENTRY.search(part) if begins_bullet(part) else None
    if found is None or "://" in found[2] or "\n" in part[: found.start()]:
        return ""
    return found[2].strip()


def own_words(index: str, files: Collection[str]) -> str:
    """The index without the bullets that point to pages."""
    return "".join(part for part in parts_of(index) if _entry(part) not in files)


def places_of_words(index: str, files: Collection[str]) -> tuple[int, ...]:
    """Where each part of its own words stands in the index."""
    return tuple(at for at, part in enumerate(parts_of(index)) if _entry(part) not in files)


def with_own_words(index: str, files: Collection[str], words: str, places: tuple[int, ...] = ()) -> str:
    """The index with other words of its own. places: where they stood before; else they take those of the words that
    they replace.
    """
    parts, after = parts_of(index), parts_of(words)
    if len(places) == len(after):
        entries = [part for part in parts if _entry(part) in files]
        made: list[str] = []
        for place, part in zip(places, after, strict=True):
            free = max(0, place - len(made))
            made += [*entries[:free], part]
            entries = entries[free:]
        end = max((at for at, part in enumerate(made, 1) if _entry(part) in files), default=len(made))
        return _joined([*made[:end], *entries, *made[end:]])
    before = [part for part in parts if _entry(part) not in files]
    pointing: list[list[str]] = [[]]
    for part in parts:
        if _entry(part) in files:
            pointing[-1].append(part)
        else:
            pointing.append([])
    made = []
    for _, i, j, k, m in page_text.compared(before, after):
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


def with_entry(index: str, file: str, note: Note, line: str = "", places: tuple[int, ...] = ()) -> str:
    """The index with a bullet for a page, where it has none, behind the last one. line, places: the bullets that it had
    before, and where; they come back there, unless that is within a paragraph now.
    """
    title, hook = note.title, hook_of(note.content)
    parts = parts_of(index)
    if any(_entry(part) == file for part in parts):
        return index
    target = f"<{file}>" if " " in file else file
    newline = "\r\n" if "\r\n" in index else "\n"
    new = f"- [{_shown(title)}]({target})" + (f" — {hook}" if hook and hook != title else "") + newline
    # No line can point to a file of some names.
    for number, text in enumerate(parts_of(line or (new if _entry(new) == file else ""))):
        at = places[number] if number < len(places) else len(parts) + 1
        if at > len(parts) or (at < len(parts) and continues(parts[at])):
            at = max((at for at, part in enumerate(parts, 1) if _entry(part)), default=len(parts))
        if at < len(parts):
            text = text if text.endswith("\n") else text + newline
        elif parts and not parts[-1].endswith("\n"):
            text = text.rstrip("\r\n")
        parts = parts_of(_joined([*parts[:at], text, *parts[at:]]))
    return "".join(parts)


def without_entry(index: str, file: str) -> tuple[str, str, tuple[int, ...]]:
    """The index without the bullets of a page, of which there may be several; those bullets, and where they stood."""
    parts = parts_of(index)
    places = tuple(at for at, part in enumerate(parts) if _entry(part) == file)
    kept = [part for at, part in enumerate(parts) if at not in places]
    if places and kept and not parts[-1].endswith("\n") and kept[-1].rstrip("\r\n"):
        # The file had no line break at its end, and is to have none.
        kept[-1] = kept[-1].rstrip("\r\n")
    return "".join(kept), "".join(parts[at] for at in places), places


def entry_of(index: str, file: str) -> str:
    """The line of a page, "" where it has none."""
    return next((line for line in parts_of(index) if _entry(line) == file), "")


def with_other_entry(index: str, file: str, line: str) -> str:
    """The index with another line for a page that has one."""
    parts = parts_of(index)
    at = next((at for at, one in enumerate(parts) if _entry(one) == file), None)
    if at is None:
        return index
    ends = parts[at][len(parts[at].rstrip("\r\n")) :]
    parts[at] = line.rstrip("\r\n") + ends
    return "".join(parts)


def retitled(line: str, title: str) -> str:
    """A line of the index in which the page bears another title."""
    found = _ENTRY.search(line)
    if found is None:
        return line
    return f"{line[: found.start(1)]}{_shown(title)}{line[found.end(1) :]}"


def _shown(title: str) -> str:
    return re.sub(r"[\[\]]", "", title)
