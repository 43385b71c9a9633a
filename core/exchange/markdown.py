"""Folders of Markdown notes: the vault that this program writes, and those of Obsidian, basic-memory and others.

A page of ours is front matter with the fields of a note, its text, and below a mark its links as [[links]].
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from core.exchange import bullets, front_matter
from core.exchange.dialect import CLAUDE
from core.exchange.memory_index import INDEX
from core.exchange.pages import (
    file_for,
    is_page,
    links_of,
    names_of,
    properties_of,
    prose,
    stem_of,
    tags_of,
    title_of,
    without_heading,
)  # fmt: skip
from core.exchange.records import (
    KEPT_FIELDS,
    FormatError,
    LeftOut,
    Parsed,
    Record,
    Reference,
    Source,
    SourceFile,
    as_texts,
    read_each,
    text_of,
    tidy_record,
    time_of,
)  # fmt: skip
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.infer import MetaInput
from core.model.note import (
    EXTRA,
    FILE_NAMES,
    PAGE,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    HiddenFact,
    Link,
    Note,
    custom_tags,
    plain_value,
    to_file_dict,
)  # fmt: skip
from core.model.snapshot import Snapshot
from core.text.exact import exact_form

VERSION: Final = 1
_OURS: Final = "nuggets"
# As JSON, what no editor has to show: unknown fields, a fact that left its file, a text that is no line of YAML.
_MORE: Final = "more"
_LINKS: Final = "%% nuggets:links %%"
_LINK: Final = re.compile(r"- (.*): \[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_KNOWN_TO_CLAUDE: Final = frozenset(
    ("name", "title", "description", "type", "metadata", "tags", "created", "updated")
)
_LINKED: Final = "linked"
_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]|\r\n?")
_KNOWN: Final = frozenset(("title", "tags", "created", "updated", "modified", "type", "permalink"))
# Fields of a note that stand elsewhere on its page.
_ELSEWHERE: Final = frozenset(("content", "links", "vector", "hiddenFact", PAGE))
_CHOICES: Final = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}
# A link that says why, as basic-memory writes it.
_RELATION: Final = re.compile(
    r"""\s*[-*] (?:"([^"\n]{1,100})"|'([^'\n]{1,100})'|([^\[\]\n]{1,100}?)) ?"""
    r"\[\[[^\[\]\n]{1,400}\]\](?:\s*\([^()]*\))?\s*"
)


# Writing


class Vault(NamedTuple):
    """The files of a vault by their paths, and what is not in it."""

    files: dict[str, bytes]
    left_out: tuple[LeftOut, ...]


def write(snapshot: Snapshot, without: Collection[str] = ()) -> Vault:
    """A memory as a vault. without: ids of notes, and "nugget: key" of facts without one, that are left out."""
    taken: set[str] = set()

    def name_for(title: str, mark: str) -> str:
        name = file_for(title, ())
        if name in taken:
            # Of many notes with one title each is named at once.
            name = file_for(f"{title[:40]} {mark}", taken)
        taken.add(name)
        return stem_of(name)

    def path_for(nugget: str, name: str) -> str:
        return f"{stem_of(file_for(nugget, ()))}/{name}.md"

    notes = [note for note in snapshot.notes if note.id not in without]
    names = {note.id: name_for(note.title, note.id[-8:]) for note in notes}
    left_out: list[LeftOut] = []
    files: dict[str, bytes] = {}
    for note in notes:
        facts = snapshot.facts_by_key.get(note.nugget_name, {}) if note.is_fact and not note.hidden else {}
        fact = facts.get(note.key)
        if fact is not None and fact.value != note.content:
            left_out.append(LeftOut(note.id, "its fact has another value, which is not in the vault"))
        files[path_for(note.nugget_name, names[note.id])] = _page(note, fact, names, snapshot)
    for nugget in snapshot.nuggets:
        for fact in nugget.facts:
            if (nugget.name, fact.key) in snapshot.fact_notes or f"{nugget.name}: {fact.key}" in without:
                continue
            fields = {"nuggetName": nugget.name, "title": fact.key, "kind": "fact", "hits": fact.hits}
            fields |= {"lastHitSession": fact.last_hit_session}
            path = path_for(nugget.name, name_for(fact.key, nugget.name))
            files[path] = _written(fields, {}, fact.value, [])
    return Vault(files, tuple(left_out))


def _page(note: Note, fact: Fact | None, names: Mapping[str, str], snapshot: Snapshot) -> bytes:
    kept = note.extra.get(KEPT_FIELDS)
    # Other names that its page had where it was imported from.
    aliases = as_texts(kept.get("aliases")) if isinstance(kept, dict) else ()
    held = to_file_dict(note)
    fields = {name: held[name] for name in FILE_NAMES.values() if name in held and name not in _ELSEWHERE}
    fields |= {"tags": list(custom_tags(note)), "aliases": list(dict.fromkeys((note.title, *aliases)))}
    more = {"extra": note.extra, "hiddenFact": plain_value(note.hidden_fact)}
    if fact is not None and (fact.hits, fact.last_hit_session) != (note.hits, note.last_hit_session):
        more["fact"] = {"hits": fact.hits, "lastHitSession": fact.last_hit_session}
    links = [
        f"- {' '.join(link.reason.split())}: [[{names[link.to]}|{_shown(snapshot.by_id[link.to].title)}]]"
        for link in note.links
        if link.to in names
    ]
    return _written(fields, more, note.content, links)


def _written(fields: dict[str, Any], more: dict[str, Any], content: str, links: list[str]) -> bytes:
    readable = _readable(content)
    if readable != content:
        # What a text file cannot say letter for letter.
        more["content"] = content
    more = {name: value for name, value in more.items() if value}
    fields = {_OURS: VERSION, **fields, _MORE: json.dumps(more) if more else ""}
    said = {name: value for name, value in fields.items() if value not in (None, "")}
    tail = "\n".join(["", "", _LINKS, "", *links]) if links or _LINKS in content else ""
    return f"{front_matter.write(said)}\n{readable}{tail}\n".encode("utf-8", "replace")


def _readable(content: str) -> str:
    """A text as an editor shows it and gives it back."""
    return _UNREADABLE.sub(lambda found: "\n" if found[0][0] == "\r" else "\ufffd", content)


def _shown(title: str) -> str:
    return _readable(" ".join(re.sub(r"[\[\]|]", " ", title).split())) or "…"


# Reading


class _OwnPage(NamedTuple):
    """A page of ours, taken apart. links: lines below the mark, as reason and name of a file."""

    note: Note
    recalls: _Recalls
    links: tuple[tuple[str, str], ...]
    stem: str


def read(source: Source) -> Parsed:
    """The notes of a folder of Markdown: those that this program wrote as they were, others as new ones."""
    own: list[_OwnPage] = []

    def said(file: SourceFile) -> Iterator[Record | None]:
        fields, body = front_matter.read(text_of(file))
        version = fields.pop(_OURS, None)
        if not isinstance(version, int):
            body = bullets.without_ours(body) if bullets.is_named(file) else body
            yield tidy_record(_foreign_page(file, fields, body))
        elif version > VERSION:
            raise FormatError("was written by a newer version of this program", file=file.name)
        elif fields.get("id"):
            own.append(_own_page(file, fields, body))
        else:
            yield _own_fact(file, fields, body)

    found = read_each((file for file in source.files if is_page(file.name)), said)
    return found._replace(whole=_snapshot_of(own) if own else None)


def _own_page(file: SourceFile, fields: dict[str, Any], body: str) -> _OwnPage:
    for name, allowed in _CHOICES.items():
        if fields.get(name) not in (None, "", *allowed):
            told = f"the front matter has a {name} that does not exist ({str(fields[name])[:40]!r})"
            raise FormatError(told, file=file.name)
    content, links = _body(body)
    try:
        more = msgspec.json.decode(str(fields.get(_MORE) or "{}"), type=_More)
        shaped = {"title": "", "confidence": 0.9, "nuggetName": file.name.split("/")[0]}
        shaped |= {name: fields[name] for name in FILE_NAMES.values() if fields.get(name) is not None}
        shaped |= {name: str(shaped[name]) for name in ("title", "sourceKey") if name in shaped}
        exact = more.content if more.content is not None and _readable(more.content) == content else content
        shaped |= {"content": exact, "tags": as_texts(fields.get("tags")), EXTRA: more.extra}
        note = msgspec.convert(shaped, Note)
        if more.hidden_fact is not None:
            known = {field.encode_name for field in msgspec.structs.fields(HiddenFact)}
            held = {name: value for name, value in more.hidden_fact.items() if name in known}
            held[EXTRA] = {name: value for name, value in more.hidden_fact.items() if name not in known}
            note = msgspec.structs.replace(note, hidden_fact=msgspec.convert(held, HiddenFact))
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        told = f"the front matter has a value that cannot be used ({str(error).replace('`', chr(39))})"
        raise FormatError(told, file=file.name) from error
    recalls = more.fact or _Recalls(note.hits, note.last_hit_session)
    return _OwnPage(note, recalls, links, stem_of(file.name))


def _own_fact(file: SourceFile, fields: dict[str, Any], body: str) -> Record:
    key, hits = str(fields.get("title", "")), fields.get("hits", 0)
    return Record(
        where=file.name, key=file.name, kind="fact", title=key, content=_body(body)[0],
        nugget=str(fields.get("nuggetName", "")), hits=hits if isinstance(hits, int) else 0,
        last_hit_session=str(fields.get("lastHitSession", "")),
    )  # fmt: skip


class _Recalls(msgspec.Struct, rename="camel"):
    hits: int = 0
    last_hit_session: str = ""


class _More(msgspec.Struct, rename="camel"):
    """What stands as JSON in the front matter of a page of ours."""

    extra: dict[str, Any] = {}
    hidden_fact: dict[str, Any] | None = None
    content: str | None = None
    fact: _Recalls | None = None


def _body(body: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text of a page of ours, and its links as reason and name of a file."""
    text = body.removeprefix("\n")
    content, mark, tail = text.rpartition(f"\n\n{_LINKS}\n")
    found = (_LINK.fullmatch(line.strip()) for line in tail.split("\n")) if mark else ()
    links = tuple((link[1], link[2].strip()) for link in found if link)
    return content if mark else text.removesuffix("\n"), links


def _snapshot_of(own: Iterable[_OwnPage]) -> Snapshot:
    pages = list(own)
    ids = {exact_form(page.stem): page.note.id for page in pages}
    notes: dict[str, Note] = {}
    facts: dict[str, dict[str, Fact]] = {}
    for page in pages:
        note = page.note
        links = tuple(
            Link(to=ids[exact_form(name)], reason=reason, created_at=note.created_at)
            for reason, name in page.links
            if exact_form(name) in ids
        )
        notes.setdefault(note.id, msgspec.structs.replace(note, links=links))
        if note.is_fact and not note.hidden:
            fact = Fact(key=note.key, value=note.content, **msgspec.structs.asdict(page.recalls))
            facts.setdefault(note.nugget_name, {}).setdefault(fact.key, fact)
    nuggets = tuple(
        Nugget(meta=NuggetMeta(name=name), facts=tuple(held.values())) for name, held in sorted(facts.items())
    )
    return Snapshot(notes=tuple(notes.values()), nuggets=nuggets)


def _foreign_page(file: SourceFile, fields: dict[str, Any], body: str) -> Record:
    title = title_of(file, fields.get("title"), body)
    properties = properties_of(fields)
    said, given = fields.get("type"), fields.get("scope")
    return Record(
        where=file.name,
        key=file.name,
        title=title,
        content=without_heading(body, title) if body.strip() else properties,
        tags=tuple(
            dict.fromkeys((*as_texts(fields.get("tags")), *as_texts(fields.get("tag")), *tags_of(body)))
        ),
        meta=MetaInput(type=said if said in TYPES else None, scope=given if given in SCOPES else None),
        created_at=time_of(fields.get("created")),
        updated_at=time_of(fields.get("updated")) or time_of(fields.get("modified")),
        names=names_of(file, fields, title),
        references=_references(f"{body}\n{properties}"),
        fields={
            name: value
            for name, value in fields.items()
            if name not in _KNOWN or (name == "type" and value not in TYPES)
        },
    )


def _references(text: str) -> tuple[Reference, ...]:
    """What a page links to. A relation, such as "- part of [[Name]]", says why."""
    found: dict[str, list[str]] = {}
    for _, line in prose(text):
        relation = _RELATION.fullmatch(line)
        reason = (relation[1] or relation[2] or relation[3]).strip() if relation is not None else ""
        for name in links_of(line):
            reasons = found.setdefault(name, [])
            reasons += [reason] if reason and reason[-1] != ":" and reason not in reasons else []
    return tuple(
        Reference(name, reason.replace("_", " "))
        for name, reasons in found.items()
        for reason in reasons or [_LINKED]
    )


# The memory folder of Claude Code: a page for each subject, and MEMORY.md, which lists them or holds bullets


def read_claude(source: Source) -> Parsed:
    """A note for each page, and one for each bullet of MEMORY.md that does not only point to a page."""
    pages = {file.name for file in source.files}

    def said(file: SourceFile) -> Iterable[Record | LeftOut | None]:
        if file.name.rpartition("/")[2] != INDEX:
            return [tidy_record(_claude_page(file))]
        return bullets.records_of(
            file.name, text_of(file), CLAUDE.usual,
            lambda bullet: any(f"{name}.md" in pages for name in links_of(bullet.content)),
        )  # fmt: skip

    return read_each((file for file in source.files if is_page(file.name)), said)


def _claude_page(file: SourceFile) -> Record:
    text = text_of(file)
    fields, _ = front_matter.read(text)
    said = CLAUDE.read(file.name, text)
    return Record(
        where=file.name, key=file.name, title=said.title, content=said.content.strip("\n") or properties_of(fields),
        tags=said.tags, meta=said.meta, created_at=said.created, updated_at=said.updated, names=said.names,
        references=said.links, fields={key: value for key, value in fields.items() if key not in _KNOWN_TO_CLAUDE},
    )  # fmt: skip
