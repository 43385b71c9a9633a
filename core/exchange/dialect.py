"""How notes are kept as pages of Markdown: what a page says, and how it is changed and made. Pure.

A page is front matter, a heading and a text. Claude Code's says title, description and type; one of a team says all of
its note but recalls and times. What a change does not concern keeps its bytes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple, TypeVar

from core.errors import InvalidInputError
from core.exchange import front_matter, pages
from core.exchange.front_matter import spelt
from core.exchange.memory_index import INDEX
from core.exchange.pages import Parts
from core.exchange.records import FormatError, Reference, SourceFile, as_texts, time_of
from core.model.infer import MetaInput, infer_meta, subject_of
from core.model.names import check_nugget_name
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES, Note, custom_tags, normalise_tag, replace
from core.settings import InferenceSettings
from core.text.normalise import normalise_line
from core.text.wiki import is_slug

# Why a note links to another where its page names no reason.
LINKED: Final = "linked"
_Listed = TypeVar("_Listed")
_TITLE: Final = 400
_HOOK: Final = 120
_YES: Final = ("true", "yes", "on")
_MARKER: Final = re.compile(r"^(?:<{7}|>{7})(?:[ \t].*)?\r?$", re.MULTILINE)
_PLAIN_NAME: Final = re.compile(r"[^\W_][\w./-]*")


class Said(NamedTuple):
    """What a page says of its note. names: by which other pages link to it, the surest first. links: to which names it
    links, and why. hidden: whether it says that its note is. nugget: "" for the dialect's. key: of a fact, "" for none.
    created, updated: ISO 8601, "" when it does not say.
    """

    title: str
    content: str
    meta: MetaInput = MetaInput()
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    links: tuple[Reference, ...] = ()
    created: str = ""
    updated: str = ""
    hidden: bool = False
    nugget: str = ""
    key: str = ""


@dataclass(frozen=True, eq=False)
class Dialect:
    """A kind of pages.

    nugget: what the notes belong to. fields: of the front matter, in the order in which they are written. usual: what a
    page means by not saying it. kinds: what a `type` says, where it is one word for all metadata. index: the page that
    lists the others, "" for none. whole: whether a page says all of its note: then it says hidden what is hidden, and
    stays; else the page of a hidden note leaves the folder, and links, tags and other metadata stay outside of it.
    """

    nugget: str
    fields: tuple[str, ...]
    usual: MetaInput
    kinds: Mapping[str, MetaInput] = field(default_factory=dict)
    index: str = ""
    whole: bool = False

    def read(self, file: str, page: str) -> Said:
        """What a page says. Raises FormatError."""
        return _read(self, file, page)

    def says(self, file: str, page: str) -> Said | None:
        """What a page says; None for one that cannot be read."""
        try:
            return _read(self, file, page)
        except FormatError:
            return None

    def meta_of(self, said: Said, rules: InferenceSettings | None = None) -> dict[str, Any]:
        """All metadata of a page's note. Where pages say it, nothing is inferred of the words: who edits them means to
        change nothing else.
        """
        words = ("", "", ()) if self.whole else (said.title, said.content, said.tags)
        return infer_meta("note", *words, said.meta, rules)._asdict()

    def kind_of(self, fields: Mapping[str, Any]) -> str:
        """The type that front matter names, alone or within `metadata`; "" for none that is known."""
        inner = fields.get("metadata")
        said = fields.get("type", inner.get("type") if isinstance(inner, dict) else None)
        return said if isinstance(said, str) and said in self.kinds else ""

    def changed(self, file: str, page: str, before: Note, after: Note) -> str:
        """A page that says what became of a note, its links aside. Raises FormatError."""
        said = self.read(file, page)
        if after.content not in (before.content, said.content):
            page = self._with_content(file, page, after.content)
        if after.title not in (before.title, said.title):
            page = self._with_title(file, page, after.title)
        if not self.whole:
            same = (before.scope, before.type) == (after.scope, after.type)
            return page if same else self._with_kind(file, page, after)
        # A note whose file somebody deleted is hidden, and its page does not say so.
        hidden = after.hidden if after.hidden != before.hidden else said.hidden
        if before.subject == after.subject == subject_of(before.scope):
            after = replace(after, subject=subject_of(after.scope))
        if _metadata(before) != _metadata(after) or hidden != said.hidden:
            page = self._with_metadata(file, page, replace(after, hidden=hidden))
        if set(custom_tags(before)) != set(custom_tags(after)):
            page = self._with_tags(file, page, after)
        return page

    def new(self, file: str, note: Note) -> str:
        """A page for a note that has none yet, without its links. Raises FormatError for what no page can say."""
        title, content = note.title, note.content
        if self.whole:
            page = f"# {title}\n\n{content}\n" if content else f"# {title}\n"
            return self._with_tags(
                file, self._with_metadata(file, self._with_title(file, page, title), note), note
            )
        name = pages.stem_of(file)
        lines = [f"name: {spelt(name)}"] + [f"title: {spelt(title)}"] * (title != name)
        lines += [f"description: {spelt(hook_of(content) or title)}", "metadata:", "  node_type: memory"]
        lines.append(f"  type: {self._fitting(note, '') or 'project'}")
        return "\n".join(["---", *lines, "---", "", content, ""])

    def with_links(
        self, file: str, page: str, added: Collection[Reference], gone: Collection[Reference]
    ) -> str:
        """A page that links to other names as well, and to some no more; the page itself where none says links. What
        its text links to stays. Raises FormatError.
        """
        if not self.whole:
            return page
        said = _links_in(_fields(page).get("links"))
        return (
            self._with_list(page, "links", _link_lines, _laid(said, added, gone)) if added or gone else page
        )

    def file_for(self, title: str, taken: Collection[str]) -> str:
        """A name for a new page that no file has. taken: names in lower case."""
        return pages.file_for(title, taken, pages.stem_of(self.index).lower() if self.index else "")

    # The title and the text

    def _given(self, fields: Mapping[str, Any]) -> str:
        """The title that front matter gives."""
        return _line(fields.get("title")) or ("" if self.whole else _line(fields.get("name")))

    def _parts(self, page: str) -> Parts:
        return pages.take_apart(page, self._given(_fields(page)))

    def _with_front(self, parts: Parts, name: str, *lines: str) -> Parts:
        front = front_matter.with_field(parts.front, name, lines, self.fields, parts.newline)
        return pages.with_front(parts, front)

    def _with_title(self, file: str, page: str, title: str) -> str:
        fields = _fields(page)
        given, parts = self._given(fields), self._parts(page)
        if not given or (parts.heading == given and parts.lead.strip()):
            parts = pages.with_heading(parts, title)
        if given:
            # A name as programs give them is what other pages, and Claude Code itself, know the page by.
            named = self.whole or _line(fields.get("title")) or is_slug(given)
            name = "title" if named else "name"
            parts = self._with_front(parts, name, f"{name}: {spelt(title)}")
        made = parts.joined()
        said = self.says(file, made)
        if said is None or said.title != title:
            made = self._with_front(parts, "title", f"title: {spelt(title)}").joined()
        return made if self.says(file, made) is not None else page

    def _with_content(self, file: str, page: str, content: str) -> str:
        title, parts = self.read(file, page).title, self._parts(page)
        for bare, body in self._texts(parts, "" if self.whole else _description(_fields(page)), content):
            made = pages.with_text(bare, body)
            said = self.read(file, made.joined())
            if (said.title, said.content.split()) == (title, content.split()):
                return made.joined()
        # The text begins with a heading, which is the page's title unless another one stands before it.
        headed = pages.with_heading(pages.with_text(parts, ""), title)
        return pages.with_text(headed, content).joined()

    def _texts(self, parts: Parts, description: str, content: str) -> Iterable[tuple[Parts, str]]:
        """Pages and the texts that they might get, so that description and text together say a content."""
        if description:
            first, _, rest = content.partition("\n\n")
            if first == description:
                yield parts, rest.lstrip("\n")
            said = f"description: {spelt(hook_of(content))}"
            parts = (
                parts
                if description in " ".join(content.split())
                else self._with_front(parts, "description", said)
            )
        yield parts, content

    # Metadata

    def _fitting(self, note: Note, former: str) -> str:
        """The type that fits a note's scope and type; the former one where it does or where none fits."""
        fits = {
            "feedback": note.type == "preference",
            "user": note.scope == "user" and note.type != "preference",
            "project": note.scope == "project",
            "reference": note.scope == "shared",
        }
        return former if fits.get(former) else next((kind for kind in fits if fits[kind]), former)

    def _with_kind(self, file: str, page: str, note: Note) -> str:
        """The page with the type that fits its note; the page itself where it has no place for one."""
        fields, parts = _fields(page), self._parts(page)
        former = self.kind_of(fields)
        kind = self._fitting(note, former)
        inner = fields.get("metadata")
        if not parts.front or kind == former:
            return page
        if isinstance(fields.get("type"), str):
            made = self._with_front(parts, "type", f"type: {kind}")
        elif inner is None or isinstance(inner, dict):
            lines = [f"  {name}: {_spelt(value)}" for name, value in {**(inner or {}), "type": kind}.items()]
            made = self._with_front(parts, "metadata", "metadata:", *lines)
        else:
            return page
        said = self.says(file, made.joined())
        return made.joined() if said is not None and kind in said.tags else page

    def _with_metadata(self, file: str, page: str, note: Note) -> str:
        """The page with metadata, nugget, key and hidden state of a note: a line for each that is not as usual."""
        for name, value in _metadata(note).items():
            if self._effective(file, page)[name] == value:
                continue
            parts = self._parts(page)
            page = self._with_front(parts, name).joined()
            if self._effective(file, page)[name] != value:
                page = self._with_front(parts, name, f"{name}: {_spelt(value)}").joined()
        return page

    def _effective(self, file: str, page: str) -> dict[str, object]:
        said = self.read(file, page)
        own = {"key": said.key, "nugget": said.nugget or self.nugget, "hidden": said.hidden}
        return {**self.meta_of(said), **own}

    def _with_tags(self, file: str, page: str, note: Note) -> str:
        wanted = tuple(dict.fromkeys(custom_tags(note)))
        said = custom_tags(replace(note, tags=self.read(file, page).tags))
        tags = _laid(said, wanted, set(said) - set(wanted))
        return (
            self._with_list(page, "tags", lambda tag: [f"- {spelt(tag)}"], tags) if tags != [*said] else page
        )

    def _with_list(
        self, page: str, name: str, spelled: Callable[[Any], list[str]], items: Iterable[Any]
    ) -> str:
        lines = [f"  {line}" for item in items for line in spelled(item)]
        return self._with_front(self._parts(page), name, *([f"{name}:", *lines] if lines else [])).joined()


# Reading


@lru_cache(maxsize=1 << 14)
def _read(dialect: Dialect, file: str, page: str) -> Said:
    if dialect.whole:
        _refuse(file, page)
    fields = _fields(page)
    given = dialect._given(fields)
    parts = pages.take_apart(page, given)
    title = given or _line(parts.heading) or pages.stem_of(file)
    body = parts.body
    prose = (found for _, line in pages.prose(body) for found in pages.links_of(line)) if "[" in body else ()
    links = [Reference(_name(name), LINKED) for name in prose]
    path, inner = _name(str(PurePosixPath(file).with_suffix(""))), fields.get("metadata")
    own = (path, _name(pages.stem_of(file)), _line(fields.get("name")))
    others = pages.names_of(SourceFile(file, b""), fields, title)
    said = Said(
        title,
        body,
        tags=_tags_in(fields.get("tags")),
        names=tuple(filter(None, dict.fromkeys((*own, *others)))),
        links=tuple(dict.fromkeys(links)),
        created=time_of(fields.get("created")),
        updated=time_of(inner.get("modified") if isinstance(inner, dict) else None)
        or time_of(fields.get("updated")),
    )
    if not dialect.whole:
        kind = dialect.kind_of(fields)
        return said._replace(
            content=_led(_description(fields), body),
            meta=dialect.kinds.get(kind, dialect.usual),
            tags=tuple(filter(None, dict.fromkeys((kind, *said.tags)))),
        )
    return said._replace(
        meta=_meta_in(fields, dialect.usual),
        links=tuple(dict.fromkeys((*_links_in(fields.get("links")), *links))),
        hidden=_text(fields.get("hidden")).lower() in _YES,
        nugget=_nugget(fields.get("nugget")),
        key=_line(fields.get("key")),
    )


def _refuse(file: str, page: str) -> None:
    """Raises FormatError for what git left to be resolved, for no text, and for front matter that cannot be read, which
    may say that the note is hidden.
    """
    marker = _MARKER.search(page) if "<<<<<<<" in page or ">>>>>>>" in page else None
    if marker is not None:
        line = page.count("\n", 0, marker.start()) + 1
        raise FormatError("it has markers of a merge conflict", file=file, line=line)
    if "\0" in page:
        raise FormatError("is not a text file", file=file, line=page.count("\n", 0, page.index("\0")) + 1)
    bare = pages.bare(page)
    if front_matter.fenced(bare) and not front_matter.split(bare)[0]:
        raise FormatError("the front matter is no YAML", file=file, line=1)


def _fields(page: str) -> dict[str, Any]:
    return front_matter.read(pages.bare(page))[0]


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _line(value: object) -> str:
    """A value that is one line."""
    return normalise_line(_text(value)[:_TITLE])


def _name(text: str) -> str:
    """The name of a page as links say it. Macs write accents as marks of their own."""
    name = normalise_line(unicodedata.normalize("NFC", text))
    for suffix in pages.PAGE_SUFFIXES:
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return name.removeprefix("./")


def _nugget(value: object) -> str:
    try:
        return check_nugget_name(_line(value))
    except InvalidInputError:
        return ""


def _description(fields: Mapping[str, Any]) -> str:
    found = fields.get("description")
    return " ".join(found.split()) if isinstance(found, str) else ""


def _led(description: str, body: str) -> str:
    """The text of a note: the description leads it, unless the page's own text has it anyway."""
    if not description or description in " ".join(body.split()):
        return body
    return f"{description}\n\n{body}" if body else description


def hook_of(content: str) -> str:
    """The first line of a text that says something, as much of it as fits one line of an index."""
    line = next((line.strip() for line in content.split("\n") if line.strip()), "")
    if len(line) <= _HOOK:
        return line
    return line[: _HOOK + 1].rpartition(" ")[0] or line[:_HOOK]


def _meta_in(fields: Mapping[str, Any], usual: MetaInput) -> MetaInput:
    """What front matter says of the metadata; what it does not say, or says in no word of ours, is as usual."""

    def word(name: str, allowed: Collection[str], usual: str | None) -> str | None:
        said = _line(fields.get(name)).lower()
        return said if said in allowed else usual

    sure = fields.get("confidence")
    known = isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1
    return MetaInput(
        subject=_line(fields.get("subject")) or None,
        scope=word("scope", SCOPES, usual.scope),
        type=word("type", TYPES, usual.type),
        source=word("source", SOURCES, usual.source),
        confidence=float(sure) if known and sure is not None else None,
        stability=word("stability", STABILITIES, usual.stability),
    )


def _tags_in(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(dict.fromkeys(filter(None, (normalise_tag(_text(one)) for one in value))))
    return tuple(dict.fromkeys(filter(None, map(normalise_tag, as_texts(_text(value))))))


def _links_in(value: object) -> tuple[Reference, ...]:
    """Links as people write them: a name, a list of names, a name with its reason, or `to` and `reason`."""
    if isinstance(value, list):
        return tuple(found for one in value for found in _links_in(one))
    if isinstance(value, dict):
        named = "to" in value and value.keys() <= {"to", "reason"}
        pairs = [(_text(value["to"]), value.get("reason"))] if named else list(value.items())
    else:
        pairs = [(_text(value).strip().removeprefix("[[").removesuffix("]]"), None)]
    said = ((_name(name), normalise_line(_text(reason))) for name, reason in pairs)
    return tuple(Reference(name, reason or LINKED) for name, reason in said if name)


# Writing


def _metadata(note: Note) -> dict[str, object]:
    """What a page says that says all. The subject is as usual for its scope, the confidence for its source."""
    names = ("scope", "type", "subject", "source", "stability", "confidence")
    found = {name: getattr(note, name) for name in names}
    return {**found, "key": note.source_key or "", "nugget": note.nugget_name, "hidden": note.hidden}


def _spelt(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return spelt(value)
    return (
        json.dumps(value)
        if isinstance(value, dict | list) or value is None
        else repr(value).removesuffix(".0")
    )


def _link_lines(link: Reference) -> list[str]:
    name = spelt(link.name)
    if link.reason == LINKED:
        return [f"- {name}"]
    if _PLAIN_NAME.fullmatch(link.name) and link.name != "to":
        return [f"- {link.name}: {spelt(link.reason)}"]
    return [f"- to: {name}", f"  reason: {spelt(link.reason)}"]


def _laid(old: Sequence[_Listed], new: Iterable[_Listed], gone: Collection[_Listed]) -> list[_Listed]:
    """A list with others among its items: in order where it is in order, else at its end."""
    kept = [one for one in old if one not in gone]
    added = sorted(set(new) - set(old), key=str)
    return sorted([*kept, *added], key=str) if kept == sorted(kept, key=str) else [*kept, *added]


CLAUDE: Final = Dialect(
    nugget="claude",
    fields=("name", "title", "description", "type", "metadata"),
    usual=MetaInput(source="agent_reflection"),
    kinds={
        "user": MetaInput(scope="user", source="agent_reflection"),
        "feedback": MetaInput(scope="user", type="preference", source="agent_reflection"),
        "project": MetaInput(scope="project", source="agent_reflection"),
        "reference": MetaInput(scope="shared", source="agent_reflection"),
    },
    index=INDEX,
)
TEAM: Final = Dialect(
    nugget="team",
    # What changes most stands last, apart from each other: two people who add a tag and a link change lines that git
    # brings together.
    fields=(
        "title", "key", "type", "scope", "subject", "source", "stability", "confidence", "nugget", "hidden",
        "links", "tags",
    ),
    usual=MetaInput(scope="shared", source="explicit_user", stability="durable"),
    whole=True,
)  # fmt: skip
