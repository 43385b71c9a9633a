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
from typing import IO, Any, Final, Literal

import click
import msgspec

from nuggets_tui.safe_text import plain, safe_line

SpanStyle = Literal["", "dim", "bold", "good", "warn", "bad"]

_COLOURS: Final = {"good": "green", "warn": "yellow", "bad": "red"}
_NARROW: Final = 40
# Where no terminal says how much it can show: so many columns of one thing, and of an error.
LONGEST: Final = 200
_ERROR: Final = 1000


class Span(msgspec.Struct, frozen=True):
    """A piece of a line with a look of its own."""

    text: str
    style: SpanStyle = ""


Line = str | Span | Sequence["str | Span"]


def dim(text: str) -> Span:
    """What is said beside the answer."""
    return Span(text, "dim")


def bold(text: str) -> Span:
    """A name."""
    return Span(text, "bold")


def good(text: str) -> Span:
    """What is as it should be, or came."""
    return Span(text, "good")


def warn(text: str) -> Span:
    """What somebody should look at."""
    return Span(text, "warn")


def bad(text: str) -> Span:
    """What is wrong, or went."""
    return Span(text, "bad")


# JSON

# Of the shapes of all documents, as docs/json.md has them.
JSON_VERSION: Final = 1
# Lone surrogates cannot be encoded; control and direction characters would act on a terminal. As escapes they
# are the same text.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_UNDERSCORE: Final = re.compile(r"_(\w)")


def camel(name: str) -> str:
    """A name as JSON spells it."""
    return _UNDERSCORE.sub(lambda match: match[1].upper(), name)


def as_json(value: object) -> Any:
    """A value as JSON has it: records as objects with names in camel case, whatever sort of class they are."""
    if value is None or type(value) in (str, int, float, bool):
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
    return value if isinstance(value, str | int | float) else str(value)


def pick(record: object, names: str, **more: object) -> dict[str, Any]:
    """Some fields of a record as JSON has them. names: with spaces between, "fact=nothing_but_it" where JSON calls it
    otherwise. more: by their names in JSON.
    """
    found = {}
    for name in names.split():
        shown, _, own = name.partition("=")
        found[camel(shown)] = as_json(getattr(record, own or shown))
    return found | {name: as_json(value) for name, value in more.items()}


def json_text(document: object, *, indent: bool = False) -> str:
    """The document as JSON, readable as Unicode; numbers that JSON does not know become null."""
    try:
        text = _dump(document, indent)
    except ValueError:
        text = _dump(_finite(document), indent)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _dump(document: object, indent: bool) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2 if indent else None)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def write_document(document: object) -> None:
    """Writes one JSON document to standard output, indented for a person on a terminal."""
    _write(json_text(document, indent=is_terminal(sys.stdout)), sys.stdout)


def write_json_line(document: object) -> None:
    """Writes one JSON document as one line of many to standard output."""
    _write(json_text(document), sys.stdout)


# Lines


def render(line: Line, *, colour: bool) -> str:
    """One line for a terminal: every piece made safe, its look added when colours are wanted."""
    pieces = (line,) if isinstance(line, str | Span) else line
    return "".join(_piece(piece, colour) for piece in pieces)


def _piece(piece: str | Span, colour: bool) -> str:
    span = piece if isinstance(piece, Span) else Span(piece)
    text = plain(span.text).replace("\n", " ")
    if not colour or not span.style or not text:
        return text
    style = span.style
    return click.style(text, fg=_COLOURS.get(style), dim=style == "dim" or None, bold=style == "bold" or None)


def write_lines(lines: Iterable[Line], *, to_error: bool = False) -> None:
    """Writes lines to standard output, or to standard error."""
    stream = sys.stderr if to_error else sys.stdout
    colour = wants_colour(stream)
    _write("\n".join(render(line, colour=colour) for line in lines), stream)


def write_error(message: str) -> None:
    """Writes one line to standard error."""
    _write(error_line(message), sys.stderr)


def error_line(message: str) -> str:
    """What is written to standard error, as one line that holds no raw control text."""
    line = shorten(" ".join(message.split()) or "something went wrong", _ERROR)
    return render(("nuggets: ", line), colour=False)


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


def wants_colour(stream: IO[str] | None) -> bool:
    """Whether looks are shown: on a terminal that can, unless NO_COLOR is set."""
    environ = os.environ
    return is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def step_lines(
    steps: Iterable[Any], told: Mapping[str, tuple[str, str, str]], dry_run: bool
) -> Iterator[Line]:
    """Steps of setting something up. told: what is said of each once it is done, where it was so before ("" for
    nothing), and of a dry run.
    """
    for one in steps:
        done, was_so, would = told[one.step]
        said = was_so if one.already else would if dry_run else done
        if said:
            yield Span(said.format(one.what), "dim" if one.already else "")


# Tables


def table(
    rows: Sequence[Sequence[str | Span]], *, right: Iterable[int] = (), flexible: int = 0
) -> list[Line]:
    """Rows with aligned columns. right: columns that align right. flexible: the column that is cut when a terminal is
    too narrow; elsewhere a cell is cut after 200 columns.
    """
    if not rows:
        return []
    cells = [[_cell(piece) for piece in row] for row in rows]
    widths = [max(cell_width(row[place].text) for row in cells) for place in range(len(cells[0]))]
    excess = sum(widths) + 2 * (len(widths) - 1) - (terminal_width() or math.inf)
    if excess > 0:
        room = widths[flexible] = int(max(min(widths[flexible], 12), widths[flexible] - excess))
        for row in cells:
            row[flexible] = Span(shorten(row[flexible].text, room), row[flexible].style)
    rights = frozenset(right)
    return [_aligned(row, widths, rights) for row in cells]


def _cell(piece: str | Span) -> Span:
    span = piece if isinstance(piece, Span) else Span(piece)
    return Span(shorten(safe_line(span.text), LONGEST), span.style)


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


def shorten(text: str, width: int) -> str:
    """The text, cut to `width` columns with an ellipsis when it is longer."""
    if cell_width(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1].rstrip() + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"
