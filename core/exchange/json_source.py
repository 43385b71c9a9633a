"""JSON of other programs, one document or one a line, with the line of what cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from core.exchange.records import FormatError, SourceFile, text_of

_DEEPEST: Final = 12
# Each error counts the lines before it.
_MOST_TORN: Final = 8
_BLANK: Final = re.compile("[\ufeff \t]*")


def document_of(file: SourceFile) -> Any:
    """The one JSON value of a file. Raises FormatError with the line at fault."""
    try:
        return decoded(text_of(file))
    except json.JSONDecodeError as error:
        raise FormatError(f"is not valid JSON ({error.msg})", file=file.name, line=error.lineno) from error
    except RecursionError as error:
        raise FormatError("is nested too deeply", file=file.name) from error
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"is not valid JSON ({error})", file=file.name) from error


def lines_of(file: SourceFile) -> Iterator[tuple[int, Any | FormatError]]:
    """The values of a file that holds them on lines, each with the number of its line; an error for what is torn."""
    for number, line in enumerate(text_of(file).split("\n"), 1):
        at = torn = 0
        while (at := _BLANK.match(line, at).end()) < len(line):  # type: ignore[union-attr]
            try:
                value, at = _DECODER.raw_decode(line, at)
                yield number, value
            except (ValueError, RecursionError) as error:
                said = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
                if not torn:
                    yield number, FormatError(f"is not valid JSON ({said})", file=file.name, line=number)
                torn += 1
                # A line that was cut off may have the next one glued to it.
                end = error.pos if isinstance(error, json.JSONDecodeError) else at
                at = line.rfind('{"type"', at + 1, end + len('type"'))
                if at < 0 or torn == _MOST_TORN:
                    break


def decoded(text: str) -> Any:
    """A JSON value. Raises ValueError, for what is no number too; RecursionError."""
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)


def text(value: Any) -> str:
    """A text, "" for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> list[str]:
    """The texts of a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def is_shallow(value: Any, depth: int = 0) -> bool:
    """Whether a value is nested no deeper than a note may hold."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return all(is_shallow(item, depth + 1) for item in value.values())
    return not isinstance(value, list) or all(is_shallow(item, depth + 1) for item in value)
