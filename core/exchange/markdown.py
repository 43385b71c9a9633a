"""Folders of Markdown notes: the vault that this program writes, and those of Obsidian and others.

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

from core.exchange import agent_instructions, front_matter
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
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    HiddenFact,
    Link,
    Note,
    custom_tags,
    normalised_note,
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


# Writing


class Vault(NamedTuple):
    """The files of a vault by their paths, and what is not in it."""

    files: dict[str, bytes]
    left_out: tuple[LeftOut, ...]


def write(snapshot: Snapshot, without: Collection[str] = ()) -> Vault:
    """A memory as a vault. without: ids of notes, and "nugget: key" of facts without one, that are left out."""
    notes = [note for note in snapshot.notes if note.id not in without]
    names = _names({note.id: note.title for note in notes})
    left_out: list[LeftOut] = []
    facts = {(nugget.name, fact.key): fact for nugget in reversed(snapshot.nuggets) for fact in nugget.facts}
    files: dict[str, bytes] = {}
    for note in notes:
        fact = facts.get((note.nugget_name, note.key)) if note.is_fact and not note.hidden else None
        if fact is not None and fact.value != note.content:
            left_out.append(LeftOut(note.id, "its fact has another value, which is not in the vault"))
        files[f"{_folder(note.nugget_name)}/{names[note.id]}.md"] = _page(note, fact, names, snapshot)
    for nugget in snapshot.nuggets:
        for fact in nugget.facts:
            id = f"{nugget.name}: {fact.key}"
            if (nugget.name, fact.key) not in snapshot.fact_notes and id not in without:
                name = f"{_safe_name(fact.key)} - {_digest(id)}"
                files[f"{_folder(nugget.name)}/{name}.md"] = _page_of_fact(nugget.name, fact)
    return Vault(files, tuple(left_out))


def _page(note: Note, fact: Fact | None, names: Mapping[str, str], snapshot: Snapshot) -> bytes:
    fields: dict[str, Any] = {
        _OURS: VERSION,
        "id": note.id,
        "nugget": note.nugget_name,
        "title": note.title,
        "aliases": list(dict.fromkeys((note.title, *_aliases_of(note)))),
        "kind": note.kind,
        "key": note.source_key,
        "tags": list(custom_tags(note)),
        "scope": note.scope,
        "type": note.type,
        "subject": note.subject,
        "source": note.source,
        "confidence": note.confidence,
        "stability": note.stability,
        "hidden": note.hidden,
        "hits": note.hits,
        "lastHitSession": note.last_hit_session,
        "created": note.created_at,
        "updated": note.updated_at,
        "accessed": note.last_accessed_at,
        "rewritten": note.last_rewritten_at,
        "archived": note.archived_at,
        "hiddenFact": plain_value(note.hidden_fact) if note.hidden_fact is not None else None,
        "fact": _fact_fields(fact, note) if fact is not None else None,
        "fields": note.extra or None,
    }
    links = [
        f"- {' '.join(link.reason.split())}: [[{names[link.to]}|{_shown(snapshot.by_id[link.to].title)}]]"
        for link in note.links
        if link.to in names
    ]
    return _written(fields, note.content, links)


def _aliases_of(note: Note) -> tuple[str, ...]:
    """Other names that its page had where it was imported from."""
    kept = note.extra.get(KEPT_FIELDS)
    return as_texts(kept.get("aliases")) if isinstance(kept, dict) else ()


def _fact_fields(fact: Fact, note: Note) -> dict[str, Any] | None:
    """What a fact says otherwise than its note; None for a fact that says the same."""
    own: dict[str, Any] = {"hits": fact.hits, "lastHitSession": fact.last_hit_session}
    same = own == {"hits": note.hits, "lastHitSession": note.last_hit_session}
    own |= {"fields": fact.extra} if fact.extra else {}
    return None if same and not fact.extra else own


def _page_of_fact(nugget: str, fact: Fact) -> bytes:
    fields: dict[str, Any] = {
        _OURS: VERSION, "nugget": nugget, "title": fact.key, "kind": "fact", "key": fact.key, "hits": fact.hits,
        "lastHitSession": fact.last_hit_session, "fields": fact.extra or None,
    }  # fmt: skip
    return _written(fields, fact.value, [])


def _written(fields: dict[str, Any], content: str, links: list[str]) -> bytes:
    readable = _readable(content)
    if readable != content:
        # What a text file cannot say letter for letter stands in the front matter as well.
        fields["content"] = content
    said = {name: value for name, value in fields.items() if value is not None and value != ""}
    tail = "\n".join(["", "", _LINKS, "", *links]) if links or _LINKS in content else ""
    return f"{front_matter.write(said)}\n{readable}{tail}\n".encode("utf-8", "replace")


def _readable(content: str) -> str:
    """A text as an editor shows it and gives it back."""
    return _UNREADABLE.sub(lambda found: "\n" if found[0][0] == "\r" else "\ufffd", content)


def _shown(title: str) -> str:
    return _readable(" ".join(re.sub(r"[\[\]|]", " ", title).split())) or "…"


def _names(titles: Mapping[str, str]) -> dict[str, str]:
    """A name for the file of each note: its title as far as every system takes it, and the end of its id.

    It depends on the note alone, so that it stays when others come; those that would be alike bear a longer mark.
    """
    short = {id: f"{_safe_name(title)} - {_mark(id)}" for id, title in titles.items()}
    taken = Counter(exact_form(name) for name in short.values())
    return {
        id: name
        if taken[exact_form(name)] == 1
        else f"{name}-{blake2s(_bytes(id), digest_size=8).hexdigest()}"
        for id, name in short.items()
    }


def _mark(id: str) -> str:
    found = _ID.fullmatch(id)
    return found[1] if found else _digest(id)


def _digest(text: str) -> str:
    return blake2s(_bytes(text), digest_size=4).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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
    for file in source.files:
        if not is_page(file.name):
            continue
        try:
            fields, body = front_matter.read(text_of(file))
            if isinstance(fields.get(_OURS), int) and fields.get("id"):
                own.append(_own_page(file, fields, body))
            elif isinstance(fields.get(_OURS), int):
                records.append(_own_fact(file, fields, body))
            else:
                body = agent_instructions.without_ours(body) if agent_instructions.is_named(file) else body
                record = tidy_record(_foreign_page(file, fields, body))
                if record is None or not record.content:
                    left_out.append(LeftOut(file.name, "is empty"))
                else:
                    records.append(record)
        except FormatError as error:
            left_out.append(LeftOut(place(error.file or file.name, error.line), error.what))
    whole = _snapshot_of(own) if own else None
    return Parsed(tuple(records), whole, tuple(left_out))


def _own_page(file: SourceFile, fields: dict[str, Any], body: str) -> _OwnPage:
    version = fields.pop(_OURS)
    if version > VERSION:
        raise FormatError("was written by a newer version of this program", file=file.name)
    content, links = _body(body)
    exact = fields.pop("content", None)
    if isinstance(exact, str) and _readable(exact) == content:
        content = exact
    fact = fields.pop("fact", None)
    shaped = {
        "id": fields.get("id"),
        "nuggetName": fields.get("nugget"),
        "title": _text(fields.get("title", "")),
        "content": content,
        "tags": list(as_texts(fields.get("tags"))),
        "kind": fields.get("kind", "note"),
        "sourceKey": _text(fields["key"]) if fields.get("key") is not None else None,
        "hidden": fields.get("hidden", False),
        "hits": fields.get("hits", 0),
        "lastHitSession": fields.get("lastHitSession", ""),
        "createdAt": fields.get("created", ""),
        "updatedAt": fields.get("updated", ""),
        "lastAccessedAt": fields.get("accessed", ""),
        "lastRewrittenAt": fields.get("rewritten"),
        "archivedAt": fields.get("archived"),
        "subject": fields.get("subject", ""),
        "scope": _one_of(fields, "scope", SCOPES, file),
        "type": _one_of(fields, "type", TYPES, file),
        "source": _one_of(fields, "source", SOURCES, file),
        "confidence": fields.get("confidence", 0.9),
        "stability": _one_of(fields, "stability", STABILITIES, file),
    }
    if shaped["sourceKey"] is None and shaped["kind"] == "fact":
        shaped["sourceKey"] = shaped["title"]
    extra = fields.get("fields")
    try:
        note = msgspec.convert({name: value for name, value in shaped.items() if value is not None}, Note)
        hidden = fields.get("hiddenFact")
        if isinstance(hidden, dict):
            note = msgspec.structs.replace(note, hidden_fact=_hidden_fact(hidden))
        if isinstance(extra, dict):
            note = msgspec.structs.replace(note, extra=extra)
    except msgspec.ValidationError as error:
        raise FormatError(
            f"the front matter has a value that cannot be used ({_said(error)})", file=file.name
        ) from error
    return _OwnPage(note, _fact_of(note, fact), links, stem_of(file.name))


def _said(error: msgspec.ValidationError) -> str:
    return str(error).replace("`", "'")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _one_of(fields: Mapping[str, Any], name: str, allowed: Collection[str], file: SourceFile) -> str:
    value = fields.get(name, "")
    if value in ("", None) or value in allowed:
        return str(value or "")
    raise FormatError(
        f"the front matter has a {name} that does not exist ({str(value)[:40]!r})", file=file.name
    )


def _hidden_fact(shaped: dict[str, Any]) -> HiddenFact:
    known = {field.encode_name for field in msgspec.structs.fields(HiddenFact)} - {"extra"}
    found = msgspec.convert({name: value for name, value in shaped.items() if name in known}, HiddenFact)
    extra = {name: value for name, value in shaped.items() if name not in known}
    return msgspec.structs.replace(found, extra=extra) if extra else found


def _fact_of(note: Note, said: Any) -> Fact | None:
    """The fact that a visible fact note stands for."""
    if not note.is_fact or note.hidden:
        return None
    fact = Fact(key=note.key, value=note.content, hits=note.hits, last_hit_session=note.last_hit_session)
    if not isinstance(said, dict):
        return fact
    hits, session, extra = said.get("hits"), said.get("lastHitSession"), said.get("fields")
    return msgspec.structs.replace(
        fact,
        hits=hits if isinstance(hits, int) else fact.hits,
        last_hit_session=session if isinstance(session, str) else fact.last_hit_session,
        extra=extra if isinstance(extra, dict) else {},
    )


def _body(body: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text of a page of ours, and its links as reason and name of a file."""
    text = body.removeprefix("\n")
    head, mark, tail = text.rpartition(f"\n\n{_LINKS}\n")
    if not mark:
        return text.removesuffix("\n"), ()
    found = (_LINK.fullmatch(line.strip()) for line in tail.split("\n"))
    return head, tuple((link[1], link[2].strip()) for link in found if link)


def _own_fact(file: SourceFile, fields: dict[str, Any], body: str) -> Record:
    content, _ = _body(body)
    exact, hits = fields.get("content"), fields.get("hits", 0)
    return Record(
        where=file.name,
        key=file.name,
        kind="fact",
        title=_text(fields.get("key", fields.get("title", ""))),
        content=exact if isinstance(exact, str) and _readable(exact) == content else content,
        nugget=_text(fields.get("nugget", "")),
        hits=hits if isinstance(hits, int) else 0,
        last_hit_session=_text(fields.get("lastHitSession", "")),
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
        note = msgspec.structs.replace(note, links=links)
        notes.setdefault(note.id, normalised_note(note, lambda id: True))
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
