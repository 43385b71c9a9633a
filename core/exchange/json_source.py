"""JSON of other programs, one document or one a line, with the line of what cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from core.exchange.records import FormatError, SourceFile, text_of

_DEEPEST: Final = 12
_BLANK: Final = re.compile(r"[ \t]*")


def document_of(file: SourceFile) -> Any:
    """The one JSON value of a file. Raises FormatError with the line at fault."""
    said = text_of(file)
    try:
        return decoded(said)
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


def decoded(text: str) -> Any:
    """A JSON value. Raises ValueError, for what is no number too; RecursionError."""
    return json.loads(text, parse_constant=_no_number)


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
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return all(is_shallow(item, depth + 1) for item in value.values())
    return not isinstance(value, list) or all(is_shallow(item, depth + 1) for item in value)
