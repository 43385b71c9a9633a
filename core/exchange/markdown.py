"""Folders of Markdown notes: the vault that this program writes, and those of Obsidian, basic-memory and others.

A note is one file: front matter with all its fields, its text, and below a mark its links as [[links]].
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2s
from typing import Any, Final, NamedTuple

import msgspec

from core.exchange import bullets, front_matter
from core.exchange.pages import (
    is_page,
    links_of,
    names_of,
    properties_of,
    prose,
    stem_of,
    tags_of,
    title_of,
    without_heading,
)
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
    place,
    text_of,
    tidy_record,
    time_of,
)
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.infer import MetaInput
from core.model.note import (
    EXTRA,
    FILE_NAMES,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    HiddenFact,
    Link,
    Note,
    custom_tags,
    plain_value,
)
from core.model.snapshot import Snapshot
from core.text.exact import exact_form

VERSION: Final = 1
_OURS: Final = "nuggets"
_LINKS: Final = "%% nuggets:links %%"
_LINK: Final = re.compile(r"- (.*): \[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_LINKED: Final = "linked"
_NAME_LENGTH: Final = 60
_NAME_BYTES: Final = 150
_ID: Final = re.compile(r"(?:fact|note)-.*-([0-9a-f]{8})")
_UNREADABLE: Final = re.compile("[\x00\ud800-\udfff]|\r\n?")
_KNOWN: Final = frozenset(("title", "tags", "created", "updated", "modified", "type", "permalink"))
# Fields of a note by their names in front matter, where those are others than in the file.
_NAMES: Final = {
    "nugget_name": "nugget", "source_key": "key", "created_at": "created", "updated_at": "updated",
    "last_accessed_at": "accessed", "last_rewritten_at": "rewritten", "archived_at": "archived",
}  # fmt: skip
_FIELDS: Final = {
    name: _NAMES.get(name, in_file)
    for name, in_file in FILE_NAMES.items()
    if name not in ("content", "links", "vector", "page", "hidden_fact")
}
_OF_FACT: Final = {"hits": "hits", "last_hit_session": "lastHitSession", EXTRA: "fields"}
_CHOICES: Final = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}
OBSERVATION: Final = re.compile(r"\s*[-*] \[([^\[\]()\n]{2,60})\] \S")
_RELATION: Final = re.compile(
    r"\s*[-*] (?:\"([^\"\n]{1,100})\"|'([^'\n]{1,100})'|([^\[\]\n]{1,100}?)) ?\[\[([^\[\]\n]{1,400})\]\]"
)
_LINKS_TO: Final = "links to"


# Writing


class Vault(NamedTuple):
    """The files of a vault by their paths, and what is not in it."""

    files: dict[str, bytes]
    left_out: tuple[LeftOut, ...]


def write(snapshot: Snapshot, without: Collection[str] = ()) -> Vault:
    """A memory as a vault. without: ids of notes, and "nugget: key" of facts without one, that are left out."""
    notes = [note for note in snapshot.notes if note.id not in without]
    names = _file_names({note.id: note.title for note in notes})
    left_out: list[LeftOut] = []
    files: dict[str, bytes] = {}
    for note in notes:
        facts = snapshot.facts_by_key.get(note.nugget_name, {}) if note.is_fact and not note.hidden else {}
        fact = facts.get(note.key)
        if fact is not None and fact.value != note.content:
            left_out.append(LeftOut(note.id, "its fact has another value, which is not in the vault"))
        files[f"{_folder(note.nugget_name)}/{names[note.id]}.md"] = _page(note, fact, names, snapshot)
    for nugget in snapshot.nuggets:
        for fact in nugget.facts:
            id = f"{nugget.name}: {fact.key}"
            if (nugget.name, fact.key) not in snapshot.fact_notes and id not in without:
                name = f"{_safe_name(fact.key)} - {_digest(id)}"
                fields = {"nugget": nugget.name, "title": fact.key, "kind": "fact", "key": fact.key}
                page = _written(fields | _fact_fields(fact), fact.value, [])
                files[f"{_folder(nugget.name)}/{name}.md"] = page
    return Vault(files, tuple(left_out))


def _page(note: Note, fact: Fact | None, names: Mapping[str, str], snapshot: Snapshot) -> bytes:
    kept = note.extra.get(KEPT_FIELDS)
    # Other names that its page had where it was imported from.
    aliases = as_texts(kept.get("aliases")) if isinstance(kept, dict) else ()
    fields = {said: plain_value(getattr(note, name)) for name, said in _FIELDS.items()}
    fields |= {
        "aliases": list(dict.fromkeys((note.title, *aliases))),
        "tags": list(custom_tags(note)),
        "hiddenFact": plain_value(note.hidden_fact),
        "fields": note.extra or None,
    }
    if fact is not None:
        own = _fact_fields(fact)
        same = _fact_fields(Fact(key="", value="", hits=note.hits, last_hit_session=note.last_hit_session))
        fields["fact"] = own if own != same else None
    links = [
        f"- {' '.join(link.reason.split())}: [[{names[link.to]}|{_shown(snapshot.by_id[link.to].title)}]]"
        for link in note.links
        if link.to in names
    ]
    return _written(fields, note.content, links)


def _fact_fields(fact: Fact) -> dict[str, Any]:
    return {"hits": fact.hits, "lastHitSession": fact.last_hit_session, "fields": fact.extra or None}


def _written(fields: dict[str, Any], content: str, links: list[str]) -> bytes:
    readable = _readable(content)
    if readable != content:
        # What a text file cannot say letter for letter stands in the front matter as well.
        fields["content"] = content
    said = {_OURS: VERSION} | {name: value for name, value in fields.items() if value not in (None, "")}
    tail = "\n".join(["", "", _LINKS, "", *links]) if links or _LINKS in content else ""
    return f"{front_matter.write(said)}\n{readable}{tail}\n".encode("utf-8", "replace")


def _readable(content: str) -> str:
    """A text as an editor shows it and gives it back."""
    return _UNREADABLE.sub(lambda found: "\n" if found[0][0] == "\r" else "\ufffd", content)


def _shown(title: str) -> str:
    return _readable(" ".join(re.sub(r"[\[\]|]", " ", title).split())) or "…"


def _file_names(titles: Mapping[str, str]) -> dict[str, str]:
    """A name for the file of each note: its title as far as every system takes it, and the end of its id.

    It depends on the note alone, so that it stays when others come; those that would be alike bear a longer mark.
    """
    short = {id: f"{_safe_name(title)} - {_mark(id)}" for id, title in titles.items()}
    taken = Counter(exact_form(name) for name in short.values())
    return {
        id: name if taken[exact_form(name)] == 1 else f"{name}-{_digest(id, 8)}" for id, name in short.items()
    }


def _mark(id: str) -> str:
    found = _ID.fullmatch(id)
    return found[1] if found else _digest(id)


def _digest(text: str, size: int = 4) -> str:
    return blake2s(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _safe_name(title: str) -> str:
    """The beginning of a title with letters, digits, spaces and hyphens alone."""
    kept = "".join(
        char if char.isalnum() or char in " -_" or unicodedata.category(char).startswith("M") else " "
        for char in unicodedata.normalize("NFC", title[:400])
    )
    name = " ".join(kept.split())[:_NAME_LENGTH].strip(" -")
    while len(name.encode()) > _NAME_BYTES:
        name = name[:-1].rstrip(" -")
    return name or "note"


def _folder(nugget: str) -> str:
    plain = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}", nugget)
    reserved = re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", nugget)
    return nugget if plain and not reserved else f"{_safe_name(nugget)} - {_digest(nugget)}"


# Reading


class _OwnPage(NamedTuple):
    """A page of ours, taken apart. links: lines below the mark, as reason and name of a file."""

    note: Note
    fact: Fact | None
    links: tuple[tuple[str, str], ...]
    stem: str


def read(source: Source) -> Parsed:
    """The notes of a folder of Markdown: those that this program wrote as they were, others as new ones."""
    own: list[_OwnPage] = []
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for file in filter(lambda one: is_page(one.name), source.files):
        try:
            fields, body = front_matter.read(text_of(file))
            version = fields.pop(_OURS, None)
            if not isinstance(version, int):
                body = bullets.without_ours(body) if bullets.is_named(file) else body
                record = tidy_record(_foreign_page(file, fields, body))
                if record is None or not record.content:
                    left_out.append(LeftOut(file.name, "is empty"))
                else:
                    records.append(record)
            elif version > VERSION:
                raise FormatError("was written by a newer version of this program", file=file.name)
            elif fields.get("id"):
                own.append(_own_page(file, fields, body))
            else:
                records.append(_own_fact(file, fields, body))
        except FormatError as error:
            left_out.append(LeftOut(place(error.file or file.name, error.line), error.what))
    return Parsed(tuple(records), _snapshot_of(own) if own else None, tuple(left_out))


def _own_page(file: SourceFile, fields: dict[str, Any], body: str) -> _OwnPage:
    content, links = _body(fields, body)
    for name, allowed in _CHOICES.items():
        if fields.get(name) not in (None, "", *allowed):
            told = f"the front matter has a {name} that does not exist ({str(fields[name])[:40]!r})"
            raise FormatError(told, file=file.name)
    shaped = {
        FILE_NAMES[name]: fields[said] for name, said in _FIELDS.items() if fields.get(said) is not None
    }
    shaped |= {name: str(shaped[name]) for name in ("title", "sourceKey") if name in shaped}
    shaped |= {"content": content, "tags": as_texts(fields.get("tags"))}
    shaped = {"title": "", "confidence": 0.9} | shaped
    if shaped.get("kind") == "fact":
        shaped.setdefault("sourceKey", shaped["title"])
    hidden, extra, said = fields.get("hiddenFact"), fields.get("fields"), fields.get("fact")
    fact = None
    try:
        note = msgspec.convert(shaped, Note)
        if isinstance(hidden, dict):
            note = msgspec.structs.replace(note, hidden_fact=_hidden_fact(hidden))
        if isinstance(extra, dict):
            note = msgspec.structs.replace(note, extra=extra)
        if note.is_fact and not note.hidden:
            own = (
                said
                if isinstance(said, dict)
                else {"hits": note.hits, "lastHitSession": note.last_hit_session}
            )
            fact = _fact(note.key, content, own)
    except msgspec.ValidationError as error:
        told = f"the front matter has a value that cannot be used ({str(error).replace('`', chr(39))})"
        raise FormatError(told, file=file.name) from error
    return _OwnPage(note, fact, links, stem_of(file.name))


def _fact(key: str, value: str, said: Mapping[str, Any]) -> Fact:
    """A fact with its recalls and unknown fields. Raises ValidationError."""
    given = {name: said[field] for name, field in _OF_FACT.items() if said.get(field) is not None}
    return msgspec.convert({"key": key, "value": value, **given}, Fact)


def _hidden_fact(shaped: dict[str, Any]) -> HiddenFact:
    known = {field.encode_name for field in msgspec.structs.fields(HiddenFact)} - {EXTRA}
    extra = {name: value for name, value in shaped.items() if name not in known}
    return msgspec.convert(
        {name: shaped[name] for name in shaped if name in known} | {EXTRA: extra}, HiddenFact
    )


def _body(fields: Mapping[str, Any], body: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text of a page of ours, and its links as reason and name of a file."""
    text = body.removeprefix("\n")
    content, mark, tail = text.rpartition(f"\n\n{_LINKS}\n")
    found = (_LINK.fullmatch(line.strip()) for line in tail.split("\n")) if mark else ()
    links = tuple((link[1], link[2].strip()) for link in found if link)
    content = content if mark else text.removesuffix("\n")
    exact = fields.get("content")
    return exact if isinstance(exact, str) and _readable(exact) == content else content, links


def _own_fact(file: SourceFile, fields: dict[str, Any], body: str) -> Record:
    hits = fields.get("hits", 0)
    return Record(
        where=file.name,
        key=file.name,
        kind="fact",
        title=str(fields.get("key", fields.get("title", ""))),
        content=_body(fields, body)[0],
        nugget=str(fields.get("nugget", "")),
        hits=hits if isinstance(hits, int) else 0,
        last_hit_session=str(fields.get("lastHitSession", "")),
    )


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
        if page.fact is not None:
            facts.setdefault(note.nugget_name, {}).setdefault(page.fact.key, page.fact)
    nuggets = tuple(
        Nugget(meta=NuggetMeta(name=name), facts=tuple(held.values())) for name, held in sorted(facts.items())
    )
    return Snapshot(notes=tuple(notes.values()), nuggets=nuggets)


def _foreign_page(file: SourceFile, fields: dict[str, Any], body: str) -> Record:
    title = title_of(file, fields.get("title"), body)
    properties = properties_of(fields)
    references = dict.fromkeys(
        name for text in (body, properties) for _, line in prose(text) for name in links_of(line)
    )
    said, given = fields.get("type"), fields.get("scope")
    return Record(
        where=file.name,
        key=file.name,
        title=title,
        content=without_heading(body, title) if body.strip() else properties,
        tags=tuple(
            dict.fromkeys((*as_texts(fields.get("tags")), *as_texts(fields.get("tag")), *tags_of(body)))
        ),
        meta=MetaInput(
            type=said if said in TYPES else None,
            scope=given if given in SCOPES else None,
        ),
        created_at=time_of(fields.get("created")),
        updated_at=time_of(fields.get("updated")) or time_of(fields.get("modified")),
        names=names_of(file, fields, title),
        references=tuple(Reference(name, _LINKED) for name in references),
        fields={
            name: value
            for name, value in fields.items()
            if name not in _KNOWN or (name == "type" and value not in TYPES)
        },
    )


def read_basic_memory(source: Source) -> Parsed:
    """A note for each page. Its text stays whole; a relation is a link, with its type as the reason."""
    found = read(source)
    return found._replace(records=tuple(map(_with_relations, found.records)))


def _with_relations(record: Record) -> Record:
    found: dict[Reference, None] = {}
    links: dict[str, None] = {}
    for _, line in prose(record.content):
        relation = _RELATION.match(line)
        if relation is not None:
            reason = (relation[1] or relation[2] or relation[3]).strip()
            name = next(links_of(f"[[{relation[4]}]]"), "")
            found[Reference(name, reason.replace("_", " ") or _LINKS_TO)] = None
        links |= dict.fromkeys(links_of(line))
    typed = {reference.name for reference in found}
    plain = (Reference(name, _LINKS_TO) for name in links if name not in typed)
    return msgspec.structs.replace(record, references=tuple(one for one in (*found, *plain) if one.name))
