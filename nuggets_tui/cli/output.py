"""How answers leave the command line: one JSON document, or aligned lines that hold no raw control text."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import IO, Any, Final, Literal

import click
import msgspec

from nuggets_tui.safe_text import plain, safe_line

# JSON

# Of the shapes of all documents, as docs/json.md has them.
JSON_VERSION: Final = 1
# Lone surrogates cannot be encoded; control and direction characters would act on a terminal. As escapes they
# are the same text.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def camel(name: str) -> str:
    """A name as JSON spells it."""
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def as_json(value: object) -> Any:
    """A value as JSON has it: records as objects with names in camel case, whatever sort of class they are, and null
    for numbers that JSON does not know.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    kind = type(value)
    for known in ("__struct_fields__", "_fields", "__dataclass_fields__"):
        if hasattr(kind, known):
            return {camel(name): as_json(getattr(value, name)) for name in getattr(kind, known)}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    return value if isinstance(value, str | int) else str(value)


def pick(record: object, names: str, **more: object) -> dict[str, Any]:
    """Some fields of a record as JSON has them. names: with spaces between, "fact=nothing_but_it" where JSON calls it
    otherwise. more: by their names in JSON.
    """
    found = {}
    for name in names.split():
        shown, _, own = name.partition("=")
        found[camel(shown)] = as_json(getattr(record, own or shown))
    return found | {name: as_json(value) for name, value in more.items()}


def picks(records: Iterable[object], names: str) -> list[dict[str, Any]]:
    """Some fields of each record; see `pick`."""
    return [pick(record, names) for record in records]


def json_text(document: object, *, indent: bool = False) -> str:
    """The document as JSON, readable as Unicode."""
    text = json.dumps(as_json(document), ensure_ascii=False, indent=2 if indent else None)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_document(document: object, *, one_line: bool = False) -> None:
    """Writes one JSON document to standard output, indented for a person on a terminal unless it is one of many."""
    _write(json_text(document, indent=not one_line and is_terminal(sys.stdout)), sys.stdout)


# Lines

SpanStyle = Literal["", "dim", "bold", "good", "warn", "bad"]
_COLOURS: Final = {"good": "green", "warn": "yellow", "bad": "red"}
# Where no terminal says how much it can show: so many columns of one thing, and of an error.
LONGEST: Final = 200
_ERROR: Final = 1000
_NARROW: Final = 40


class Span(msgspec.Struct, frozen=True):
    """A piece of a line with a look of its own."""

    text: str
    style: SpanStyle = ""


Line = str | Span | Sequence["str | Span"]
# What is said beside the answer; a name; what is as it should be or came; what to look at; what is wrong or went.
dim, bold = partial(Span, style="dim"), partial(Span, style="bold")
good, warn, bad = partial(Span, style="good"), partial(Span, style="warn"), partial(Span, style="bad")


def undo_line(id: str | None, again: str = "undo it") -> list[Line]:
    """How what was done is undone; nothing where there is no entry of it."""
    return [dim(f"To {again}: nuggets undo {id}")] if id else []


def diff_lines(lines: Iterable[str]) -> Iterator[Line]:
    """Lines of a unified difference in colours."""
    for line in lines:
        yield Span(line, "good" if line.startswith("+") else "bad" if line.startswith("-") else "")


def render(line: Line, *, colour: bool) -> str:
    """One line for a terminal: every piece made safe, its look added when colours are wanted."""
    made = []
    for piece in (line,) if isinstance(line, str | Span) else line:
        span = piece if isinstance(piece, Span) else Span(piece)
        text, style = plain(span.text).replace("\n", " "), span.style
        if colour and style and text:
            text = click.style(
                text, fg=_COLOURS.get(style), dim=style == "dim" or None, bold=style == "bold" or None
            )
        made.append(text)
    return "".join(made)


def write_lines(lines: Iterable[Line], *, to_error: bool = False) -> None:
    """Writes lines to standard output, or to standard error."""
    stream = sys.stderr if to_error else sys.stdout
    environ = os.environ
    colour = is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    _write("\n".join(render(line, colour=colour) for line in lines), stream)


def write_error(message: str) -> None:
    """Writes one line to standard error, which holds no raw control text."""
    line = shorten(" ".join(message.split()) or "something went wrong", _ERROR)
    _write(render(("nuggets: ", line), colour=False), sys.stderr)


def _write(text: str, stream: IO[str] | None) -> None:
    if stream is None:
        return
    if text:
        stream.write(text + "\n")
    stream.flush()


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a stream is a terminal; one that is closed or missing is none."""
    try:
        return stream is not None and stream.isatty()
    except (ValueError, OSError):
        return False


def step_lines(
    steps: Iterable[Any], told: Mapping[str, tuple[str, str, str]], dry_run: bool
) -> Iterator[Line]:
    """Steps of setting something up. told: what is said of each once it is done, where it was so before ("" for
    nothing), and of a dry run.
    """
    for step in steps:
        done, was_so, would = told[step.step]
        said = was_so if step.already else would if dry_run else done
        if said:
            yield Span(said.format(step.what), "dim" if step.already else "")


# Tables


def table(
    rows: Iterable[Sequence[str | Span]], *, right: Iterable[int] = (), flexible: int = 0
) -> list[Line]:
    """Rows with aligned columns. right: columns that align right. flexible: the column that is cut when a terminal is
    too narrow; elsewhere a cell is cut after 200 columns.
    """
    spans = [[piece if isinstance(piece, Span) else Span(piece) for piece in row] for row in rows]
    cells = [[Span(shorten(safe_line(span.text), LONGEST), span.style) for span in row] for row in spans]
    if not cells:
        return []
    widths = [max(cell_width(row[place].text) for row in cells) for place in range(len(cells[0]))]
    excess = sum(widths) + 2 * (len(widths) - 1) - (terminal_width() or math.inf)
    if excess > 0:
        room = widths[flexible] = int(max(min(widths[flexible], 12), widths[flexible] - excess))
        for row in cells:
            row[flexible] = Span(shorten(row[flexible].text, room), row[flexible].style)
    return [_aligned(row, widths, frozenset(right)) for row in cells]


def _aligned(row: Sequence[Span], widths: Sequence[int], right: frozenset[int]) -> Line:
    last = max((place for place, cell in enumerate(row) if cell.text), default=0)
    pieces: list[str | Span] = []
    for place, cell in enumerate(row[: last + 1]):
        gap = " " * (widths[place] - cell_width(cell.text))
        pieces += (gap, cell) if place in right else (cell, gap if place < last else "")
        pieces.append("  " if place < last else "")
    return pieces


def terminal_width() -> int | None:
    """Columns of the terminal, or None when standard output is none."""
    return max(_NARROW, shutil.get_terminal_size().columns) if is_terminal(sys.stdout) else None


def cell_width(text: str) -> int:
    """Columns that a text takes on a terminal: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def shorten(text: str, width: int = LONGEST) -> str:
    """The text, cut to `width` columns with an ellipsis when it is longer."""
    if cell_width(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1].rstrip() + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"
