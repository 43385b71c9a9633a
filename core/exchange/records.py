"""What a format says, before it is laid over a memory: records, what was left out, and where each came from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from core.model.infer import MetaInput
from core.model.names import iso, parse_iso
from core.model.snapshot import Snapshot
from core.text.normalise import normalise_content, normalise_line

Format = Literal["json", "markdown", "claude", "agents", "mcp-memory", "mem0", "engram", "donna"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
# What each is called in a sentence.
NAMES: Final[Mapping[str, str]] = {
    "json": "an export of this program", "markdown": "a folder of Markdown notes",
    "claude": "a memory of Claude Code", "agents": "instructions for agents",
    "mcp-memory": "a memory of the MCP reference server", "mem0": "an export of mem0 or mcp-memory-service",
    "engram": "an export of engram", "donna": "a folder of facts and notes",
}  # fmt: skip
# What else a source says of a note is kept in this field of it; a vault has it again.
KEPT_FIELDS: Final = "frontMatter"
# More than a memory holds; a larger source is split, so that no slip fills a memory with a million notes.
MOST_RECORDS: Final = 100_000
_TITLE: Final = 80
# A larger number is no time in seconds.
_SECONDS: Final = 10_000_000_000
# A note holds no fields that are nested deeper.
_DEEPEST_FIELD: Final = 12
_BLANK: Final = re.compile(r"[ \t]*")
_SENTENCE: Final = re.compile(r"(?<=[.!?。])\s")


class SourceFile(NamedTuple):
    """One file of a source. name: its path in the folder, with "/"; the file's name for a single one."""

    name: str
    data: bytes


class LeftOut(msgspec.Struct, frozen=True):
    """Something that a source holds and that is not imported, or that an export does not carry, and why.

    partly: the memory at this place is imported, and only a part of it is not: a link, a field.
    """

    where: str
    what: str
    partly: bool = False


class Source(NamedTuple):
    """What is read: a file, or those of a folder that a format may be in. name: of the file or folder.

    folder: whether it is one. names: of all that stands at its top.
    """

    name: str
    files: tuple[SourceFile, ...]
    folder: bool = False
    names: frozenset[str] = frozenset()
    path: str = ""
    left_out: tuple[LeftOut, ...] = ()


class Reference(msgspec.Struct, frozen=True):
    """A link of a record to another one, or to a note of the memory, by one of its names."""

    name: str
    reason: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One note or fact that a source proposes.

    where: the file, and the line where there are several in one. key: what names it within its source, so that it is
    known again after its note was edited. kind: "note" or "fact", whose key is the title then. nugget: "" for the one
    that the caller names. derived: whether the title is made of the content. names: by which others refer to it.
    fields: what else the source says of it, kept in the note.
    """

    where: str
    key: str
    title: str
    content: str
    kind: Literal["note", "fact"] = "note"
    nugget: str = ""
    derived: bool = False
    tags: tuple[str, ...] = ()
    meta: MetaInput = MetaInput()
    created_at: str = ""
    updated_at: str = ""
    hits: int = 0
    last_hit_session: str = ""
    names: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    fields: dict[str, Any] = msgspec.field(default_factory=dict)


class Parsed(NamedTuple):
    """All that a source says. whole: notes and facts that bear ids of this program, as they are to stand."""

    records: tuple[Record, ...] = ()
    whole: Snapshot | None = None
    left_out: tuple[LeftOut, ...] = ()


class FormatError(ValueError):
    """A source that cannot be read as its format. line: where, from 1, or 0."""

    def __init__(self, what: str, *, file: str = "", line: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.file = file
        self.line = line


def place(file: str, line: int = 0) -> str:
    """A file and a line of it, in a message."""
    return f"{file}: line {line:,}" if line else file


def text_of(file: SourceFile) -> str:
    """A file as text with plain line ends. Raises FormatError for what is no text in UTF-8, with the line."""
    data = file.data.removeprefix(b"\xef\xbb\xbf")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("is UTF-16, not UTF-8", file=file.name)
    nul = data.find(b"\0")
    if nul >= 0:
        raise FormatError("is not a text file", file=file.name, line=data.count(b"\n", 0, nul) + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("is not UTF-8", file=file.name, line=line) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_each(
    files: Iterable[SourceFile], read: Callable[[SourceFile], Iterable[Record | LeftOut | None]]
) -> Parsed:
    """What files say one by one; one that cannot be read is left out, and so is what says nothing (None)."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for file in files:
        try:
            for found in read(file):
                if isinstance(found, LeftOut):
                    left_out.append(found)
                elif found is None or not found.content:
                    left_out.append(LeftOut(file.name, "is empty"))
                else:
                    records.append(found)
        except FormatError as error:
            left_out.append(LeftOut(place(error.file or file.name, error.line), error.what))
    return Parsed(tuple(records), None, tuple(left_out))


def title_of(content: str) -> str:
    """A title for a text that has none: its first sentence, cut at a word."""
    first = next((line for line in content.split("\n") if line.strip()), "")
    plain = normalise_line(re.sub(r"\*\*|__|`", "", first)).lstrip("#>-*• ").strip()
    sentence = _SENTENCE.split(plain, maxsplit=1)[0]
    if len(sentence) <= _TITLE:
        return sentence.rstrip(".:") or sentence
    cut = sentence[:_TITLE].rsplit(" ", 1)[0]
    return f"{cut.rstrip(' ,;:')}…"


def time_of(value: object) -> str:
    """A time as the files hold it, of one that another program wrote, in UTC where it names no zone; "" for no time."""
    try:
        if isinstance(value, int | float):
            return iso(datetime.fromtimestamp(value, UTC)) if 0 < value < _SECONDS else ""
        moment = parse_iso(value.strip()) if isinstance(value, str) else None
        return iso(moment) if moment is not None else ""
    except (OverflowError, ValueError):
        return ""


def tidy_record(record: Record) -> Record | None:
    """The record with its texts as they are stored; None for one that says nothing."""
    content = normalise_content(record.content)
    title = normalise_line(record.title) or title_of(content)
    if not title or (record.kind == "fact" and not content):
        return None
    return msgspec.structs.replace(record, title=title, content=content)


def as_texts(value: object) -> tuple[str, ...]:
    """A list of texts, or texts with commas between them; what is none is left out."""
    if isinstance(value, str):
        return tuple(part for one in value.split(",") if (part := one.strip().lstrip("#")))
    if isinstance(value, list | tuple):
        found = (str(one).strip().lstrip("#") for one in value if isinstance(one, str | int | float))
        return tuple(filter(None, found))
    return ()


# JSON of other programs, one document or one a line, with the line of what cannot be read


def document_of(file: SourceFile) -> Any:
    """The one JSON value of a file. Raises FormatError with the line at fault."""
    said = text_of(file)
    try:
        return _DECODER.decode(said)
    except (ValueError, RecursionError) as error:
        raise _format_error(file, error, getattr(error, "lineno", 0)) from error


def lines_of(file: SourceFile) -> Iterator[tuple[int, Any | FormatError]]:
    """The values of a file that holds them on lines, several on one as well, each with the number of its line; an error
    for the rest of a line that is torn.
    """
    for number, line in enumerate(text_of(file).split("\n"), 1):
        at = 0
        while (at := _BLANK.match(line, at).end()) < len(line):  # type: ignore[union-attr]
            try:
                value, at = _DECODER.raw_decode(line, at)
                yield number, value
            except (ValueError, RecursionError) as error:
                yield number, _format_error(file, error, number)
                break


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)


def _format_error(file: SourceFile, error: Exception, line: int) -> FormatError:
    if isinstance(error, RecursionError):
        return FormatError("is nested too deeply", file=file.name, line=line)
    return FormatError(f"is not valid JSON ({getattr(error, 'msg', error)})", file=file.name, line=line)


def text(value: Any) -> str:
    """A text, "" for anything else."""
    return value if isinstance(value, str) else ""


def is_shallow(value: Any, depth: int = 0) -> bool:
    """Whether a value is nested no deeper than a note may hold."""
    if depth > _DEEPEST_FIELD:
        return False
    if isinstance(value, dict):
        return all(is_shallow(item, depth + 1) for item in value.values())
    return not isinstance(value, list) or all(is_shallow(item, depth + 1) for item in value)
