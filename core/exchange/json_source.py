"""JSON of other programs, one document or one a line, with the line of what cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from core.exchange.records import FormatError, SourceFile, text_of

_DEEPEST: Final = 12


def document_of(file: SourceFile) -> Any:
    """The one JSON value of a file. Raises FormatError with the line at fault."""
    try:
        return _decoded(text_of(file))
    except json.JSONDecodeError as error:
        raise FormatError(f"is not valid JSON ({error.msg})", file=file.name, line=error.lineno) from error
    except RecursionError as error:
        raise FormatError("is nested too deeply", file=file.name) from error
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"is not valid JSON ({error})", file=file.name) from error


def lines_of(file: SourceFile) -> Iterator[tuple[int, Any | FormatError]]:
    """The values of a file that holds one on each line; an error for a line that holds none."""
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, _decoded(line)
        except (ValueError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            yield number, FormatError(f"is not valid JSON ({said})", file=file.name, line=number)


def _decoded(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


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
