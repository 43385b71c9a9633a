"""The notes of a team in their project's repository: what a page says, and how it is changed and made. Pure.

A page is a heading and a text. Front matter says what is not as usual, a line each, in one order: no times, no counts,
so that a difference shows what somebody meant. A link stands on one of its two pages. A file with markers of a merge
conflict is no page until somebody resolved it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from core.errors import InvalidInputError
from core.exchange import front_matter, page_text, pages
from core.exchange.dialect import LINKED, Said
from core.exchange.page_text import Parts
from core.exchange.records import FormatError, Reference, SourceFile, time_of
from core.model.infer import Meta, MetaInput, infer_meta, subject_of
from core.model.names import check_nugget_name
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES, Note, custom_tags, normalise_tag, replace
from core.text.normalise import normalise_line

NUGGET: Final = "team"
WHOLE: Final = True
# The fields of the front matter in their order. What changes most stands last, apart from each other: two people who
# add a tag and a link change lines that git brings together.
_FIELDS: Final = (
    "title", "key", "type", "scope", "subject", "source", "stability", "confidence", "nugget", "hidden",
    "links", "tags",
)  # fmt: skip
# What a page means by not saying it.
USUAL: Final = MetaInput(scope="shared", source="explicit_user", stability="durable")
# Before the confidence, which is as usual for its source.
_METADATA: Final = ("scope", "type", "subject", "source", "stability")
_TITLE: Final = 400
_YES: Final = ("true", "yes", "on")
_MARKER: Final = re.compile(r"^(?:<{7}|>{7})(?:[ \t].*)?\r?$", re.MULTILINE)
_PLAIN_NAME: Final = re.compile(r"[^\W_][\w./-]*")
_FLOW: Final = re.compile(r"""(["']?[\w-]+["']?[ \t]*:[ \t]*)\[(.*)\]([ \t]*(?:#.*)?)""")
_BLOCK: Final = re.compile(r"""["']?[\w-]+["']?[ \t]*:[ \t]*(?:#.*)?""")
_ITEM: Final = re.compile(r"([ ]*)-(?: |$)")
_SIGNS_OF_FLOW: Final = re.compile(r"[,\[\]{}]")


@lru_cache(maxsize=4096)
def read_page(file: str, page: str) -> Said:
    """What a page says. Raises FormatError."""
    marker = _MARKER.search(page) if "<<<<<<<" in page or ">>>>>>>" in page else None
    if marker is not None:
        line = page.count("\n", 0, marker.start()) + 1
        raise FormatError("it has markers of a merge conflict", file=file, line=line)
    if "\0" in page:
        raise FormatError("is not a text file", file=file, line=page.count("\n", 0, page.index("\0")) + 1)
    if page_text.defies_reading(page):
        # It may say that its note is hidden.
        raise FormatError("the front matter is no YAML", file=file, line=1)
    fields = page_text.fields_of(page)
    given = _line(fields.get("title"))
    parts = page_text.take_apart(page, given)
    title = given or _line(parts.heading) or pages.stem_of(file)
    body = parts.text.replace("\r\n", "\n")
    prose = (found for _, line in pages.prose(body) for found in pages.links_of(line)) if "[" in body else ()
    links = (*_links_in(fields.get("links")), *(Reference(_name(name), LINKED) for name in prose))
    path = _name(str(PurePosixPath(file).with_suffix("")))
    others = pages.names_of(SourceFile(file, b""), fields, title)
    return Said(
        title=title,
        content=body,
        meta=_meta_in(fields),
        tags=tuple(dict.fromkeys(_tags_in(fields.get("tags")))),
        names=tuple(dict.fromkeys((path, _name(pages.stem_of(file)), *others))),
        links=tuple(dict.fromkeys(links)),
        created=time_of(fields.get("created")),
        updated=time_of(fields.get("updated")),
        hidden=_text(fields.get("hidden")).lower() in _YES,
        nugget=_nugget(fields.get("nugget")),
        key=_line(fields.get("key")),
    )


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _line(value: object) -> str:
    """A value that is one line."""
    return normalise_line(_text(value)[:_TITLE])


def _nugget(value: object) -> str:
    try:
        return check_nugget_name(_line(value))
    except InvalidInputError:
        return ""


def _name(text: str) -> str:
    """The name of a page as links say it. Macs write accents as marks of their own."""
    name = normalise_line(unicodedata.normalize("NFC", text))
    for suffix in pages.PAGE_SUFFIXES:
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return name.removeprefix("./")


def _meta_in(fields: dict[str, Any]) -> MetaInput:
    """What front matter says of the metadata; what it does not say, or says in no word of ours, is as usual."""

    def word(name: str, allowed: Collection[str], usual: str | None) -> str | None:
        said = _line(fields.get(name)).lower()
        return said if said in allowed else usual

    sure = fields.get("confidence")
    known = isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1
    return MetaInput(
        subject=_line(fields.get("subject")) or None,
        scope=word("scope", SCOPES, USUAL.scope),
        type=word("type", TYPES, USUAL.type),
        source=word("source", SOURCES, USUAL.source),
        confidence=float(sure) if known and sure is not None else None,
        stability=word("stability", STABILITIES, USUAL.stability),
    )


def _tags_in(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(filter(None, (normalise_tag(_text(one)) for one in value)))
    said = (one.strip().lstrip("#") for one in _text(value).split(","))
    return tuple(filter(None, map(normalise_tag, said)))


def _links_in(value: object) -> tuple[Reference, ...]:
    """Links as people write them: a name, a list of names, a name with its reason, or `to` and `reason`."""
    if isinstance(value, list):
        return tuple(found for one in value for found in _links_in(one))
    if isinstance(value, dict):
        if "to" in value and value.keys() <= {"to", "reason"}:
            pairs = [(_text(value["to"]), value.get("reason"))]
        else:
            pairs = list(value.items())
    else:
        pairs = [(_text(value).strip().removeprefix("[[").removesuffix("]]"), None)]
    named = ((_name(name), normalise_line(_text(reason))) for name, reason in pairs)
    return tuple(Reference(name, reason or LINKED) for name, reason in named if name)


def file_for(title: str, taken: Collection[str]) -> str:
    """A name for a new page that no file has. taken: names in lower case."""
    return pages.file_for(title, taken)


def new_page(file: str, note: Note) -> str:
    """A page for a note that has none yet, without its links. Raises FormatError for what no page can say."""
    page = f"# {note.title}\n\n{note.content}\n" if note.content else f"# {note.title}\n"
    return _with_tags(file, _with_metadata(file, _with_title(file, page, note.title), note), note)


def changed_page(file: str, page: str, before: Note, after: Note) -> str:
    """A page that says what became of a note, its links aside; what stays as it was keeps its bytes.

    Raises FormatError.
    """
    said = read_page(file, page)
    if after.content not in (before.content, said.content):
        page = _with_content(file, page, after.content)
    if after.title not in (before.title, said.title):
        page = _with_title(file, page, after.title)
    # A note whose file somebody deleted is hidden, and its page does not say so.
    hidden = after.hidden if after.hidden != before.hidden else said.hidden
    if before.subject == after.subject == subject_of(before.scope):
        after = replace(after, subject=subject_of(after.scope))
    if _metadata_of(before) != _metadata_of(after) or hidden != said.hidden:
        page = _with_metadata(file, page, replace(after, hidden=hidden))
    if set(custom_tags(before)) != set(custom_tags(after)):
        page = _with_tags(file, page, after)
    return page


def _metadata_of(note: Note) -> dict[str, object]:
    fields = {name: getattr(note, name) for name in _METADATA}
    return {
        **fields,
        "key": note.source_key or "",
        "nugget": note.nugget_name,
        "confidence": note.confidence,
        "hidden": note.hidden,
    }


def _with_content(file: str, page: str, content: str) -> str:
    said = read_page(file, page)
    parts = page_text.take_apart(page, _line(page_text.fields_of(page).get("title")))
    made = page_text.with_text(parts, content)
    now = read_page(file, made.joined())
    if (now.title, now.content) == (said.title, content):
        return made.joined()
    # The text begins with a heading, which is the page's title unless another one stands before it.
    headed = page_text.with_heading(parts._replace(lead=parts.lead or ""), said.title)
    return page_text.with_text(headed, content).joined()


def _with_title(file: str, page: str, title: str) -> str:
    given = _line(page_text.fields_of(page).get("title"))
    parts = page_text.take_apart(page, given)
    heads = bool(parts.heading) and (not given or parts.heading == given)
    if heads or not given:
        parts = page_text.with_heading(parts, title)
    if given:
        parts = page_text.with_field(parts, "title", title)
    if read_page(file, parts.joined()).title == title:
        return parts.joined()
    return _with_line(parts, "title", page_text.spelt(title)).joined()


def _with_line(parts: Parts, name: str, value: str) -> Parts:
    """The page with another value of a field, as it is spelt; "" for a field that goes."""
    behind = _FIELDS[: _FIELDS.index(name)]
    return page_text.with_field_lines(parts, name, [f"{name}: {value}"] if value else [], behind)


def _with_metadata(file: str, page: str, note: Note) -> str:
    """The page with metadata, nugget, key and hidden state of a note."""
    for name, value in _metadata_of(note).items():
        said = read_page(file, page)
        if _effective(said)[name] == value:
            continue
        parts = page_text.take_apart(page)
        bare = _with_line(parts, name, "").joined()
        if _effective(read_page(file, bare))[name] == value:
            page = bare
        elif isinstance(value, str) and page_text.field_lines(parts, name):
            page = page_text.with_field(parts, name, value).joined()
        else:
            page = _with_line(parts, name, _spelt(value)).joined()
    return page


def _effective(said: Said) -> dict[str, object]:
    """What a page says of its note, or means by not saying it."""
    found: Meta = infer_meta("note", "", "", (), said.meta)
    return {**vars(found), "key": said.key, "nugget": said.nugget or NUGGET, "hidden": said.hidden}


def _spelt(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return page_text.spelt(value) if isinstance(value, str) else repr(value).removesuffix(".0")


def _with_tags(file: str, page: str, note: Note) -> str:
    wanted = tuple(dict.fromkeys(custom_tags(note)))
    said = set(custom_tags(replace(note, tags=read_page(file, page).tags)))
    added = [_New(tag, [f"- {page_text.spelt(tag)}"], _in_flow(tag)) for tag in wanted if tag not in said]
    return _with_items(page, "tags", _tags_in, added, said - set(wanted), lambda tag: tag)


def with_links(file: str, page: str, added: Collection[Reference], gone: Collection[Reference]) -> str:
    """A page that links to other names as well, and to some no more. What its text links to stays. Raises FormatError.

    An added reason stands behind the name of what is linked to.
    """
    said = set(_links_in(page_text.fields_of(page).get("links")))
    new = [_New(link, *_link_spelt(link)) for link in added if link not in said]
    return _with_items(page, "links", _links_in, new, said & set(gone), lambda link: (link.name, link.reason))


def _link_spelt(link: Reference) -> tuple[list[str], str | None]:
    """A link as an item of a list in lines, and of one in brackets where that can say it."""
    name = page_text.spelt(link.name)
    if link.reason == LINKED:
        return [f"- {name}"], _in_flow(link.name)
    if _PLAIN_NAME.fullmatch(link.name) and link.name != "to":
        return [f"- {link.name}: {page_text.spelt(link.reason)}"], None
    return [f"- to: {name}", f"  reason: {page_text.spelt(link.reason)}"], None


def _in_flow(text: str) -> str:
    spelt = page_text.spelt(text)
    return page_text.spelt(text, '"') if _SIGNS_OF_FLOW.search(spelt) else spelt


# Lists of the front matter


class _New(NamedTuple):
    """What comes into a list: what it says, its lines, and how it stands between brackets (None where it cannot)."""

    value: Any
    lines: list[str]
    inline: str | None


class _Item(NamedTuple):
    """An item of a list: what it says, and its lines, or the text between the commas."""

    values: tuple[Any, ...]
    lines: list[str]


def _with_items(
    page: str,
    name: str,
    says: Callable[[object], tuple[Any, ...]],
    added: Sequence[_New],
    gone: Collection[Any],
    order: Callable[[Any], Any],
) -> str:
    """The page with more items in a list, and some no more; each other line keeps its bytes. A list in order stays so.

    says: what a value says. order: by what a list is in order.
    """
    if not added and not gone:
        return page
    parts = page_text.take_apart(page)
    lines = page_text.field_lines(parts, name)
    behind = _FIELDS[: _FIELDS.index(name)]
    made = _edited(lines, name, says, added, gone, order)
    return page_text.with_field_lines(parts, name, made, behind).joined()


def _edited(
    lines: list[str],
    name: str,
    says: Callable[[object], tuple[Any, ...]],
    added: Sequence[_New],
    gone: Collection[Any],
    order: Callable[[Any], Any],
) -> list[str]:
    flow = _FLOW.fullmatch(lines[0]) if len(lines) == 1 else None
    if flow is not None:
        items = [
            _Item(_said(says, [f"[{raw}]"]), [raw])
            for one in front_matter.flow_items(flow[2])
            if (raw := one.strip())
        ]
        kept = _kept(items, gone)
        if kept is not None and all(one.inline is not None for one in added):
            inside = _placed(kept, [(one.value, [one.inline or ""]) for one in added], order)
            texts = [item.lines[0] for item in inside]
            return [f"{flow[1]}[{', '.join(texts)}]{flow[3]}"] if texts else []
        if kept is not None:
            lines = [f"{name}:", *(f"  - {item.lines[0]}" for item in items)]
    if lines and _BLOCK.fullmatch(lines[0]):
        head, items, indent = _items_of(lines, says)
        kept = _kept(items, gone)
        if kept is not None and items:
            new = [(one.value, [f"{indent}{line}" for line in one.lines]) for one in added]
            placed = _placed(kept, new, order)
            return [*head, *(line for item in placed for line in item.lines)] if placed else []
    # Not there yet, or written in a way that says several things at once.
    said = [one for one in _said(says, lines[:1], lines[1:], name) if one not in gone] if lines else []
    items = [_Item((one,), [f"  {line}" for line in _lines_for(one)]) for one in said]
    items = _placed(items, [(one.value, [f"  {line}" for line in one.lines]) for one in added], order)
    return [f"{name}:", *(line for item in items for line in item.lines)] if items else []


def _lines_for(said: Any) -> list[str]:
    return _link_spelt(said)[0] if isinstance(said, Reference) else [f"- {page_text.spelt(said)}"]


def _said(
    says: Callable[[object], tuple[Any, ...]], first: list[str], rest: Iterable[str] = (), name: str = ""
) -> tuple[Any, ...]:
    """What lines say that are a value, or a whole field."""
    text = "\n".join(["---", *(first if name else [f"v: {first[0]}"] if first else ["v:"]), *rest, "---", ""])
    fields, _ = front_matter.read(text)
    return says(next(iter(fields.values()), None))


def _items_of(
    lines: list[str], says: Callable[[object], tuple[Any, ...]]
) -> tuple[list[str], list[_Item], str]:
    """The line with the name and what precedes the first item, the items, and how far they are indented."""
    starts = [at for at, line in enumerate(lines) if at and _ITEM.match(line)]
    indents = [found[1] for at in starts if (found := _ITEM.match(lines[at])) is not None]
    if not indents:
        return lines, [], ""
    indent = indents[0]
    starts = [at for at, one in zip(starts, indents, strict=True) if one == indent]
    ends = [*starts[1:], len(lines)]
    items = [
        _Item(_said(says, [], lines[at:end]), lines[at:end]) for at, end in zip(starts, ends, strict=True)
    ]
    return lines[: starts[0]], items, indent


def _kept(items: list[_Item], gone: Collection[Any]) -> list[_Item] | None:
    """The items without those that go; None where one of them says something that stays as well."""
    if any(item.values and 0 < sum(one in gone for one in item.values) < len(item.values) for item in items):
        return None
    return [item for item in items if not item.values or item.values[0] not in gone]


def _placed(
    items: list[_Item], added: Iterable[tuple[Any, list[str]]], order: Callable[[Any], Any]
) -> list[_Item]:
    """Items with new ones among them: in order where they are in order, else at the end."""
    keys = [order(item.values[0]) for item in items if item.values]
    ordered = keys == sorted(keys) and len(keys) == len(items)
    found = list(items)
    for said, lines in added:
        later = (at for at, item in enumerate(found) if ordered and order(item.values[0]) > order(said))
        found.insert(next(later, len(found)), _Item((said,), lines))
    return found
