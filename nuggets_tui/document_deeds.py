"""Adding a document by what a person names: the path of a file, or the address of a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import ErrorCode, InvalidInputError, StorageError, remedy_for

if TYPE_CHECKING:
    from core.pipeline.records import AddedDocument
    from core.pipeline.service import Pipeline

_SCHEMES: Final = ("http://", "https://")
NOTHING_SAVED: Final = "nothing was saved"


def add_named(
    pipeline: Pipeline, source: str, *, title: str = "", nugget: str = "", project: str = ""
) -> AddedDocument:
    """Adds the file or page of a name. Raises InvalidInputError, StorageError, DocumentError."""
    if source.strip().lower().startswith(_SCHEMES):
        return pipeline.add_document("url", source.strip(), title=title, nugget=nugget, project=project)
    path, data = _file(source, pipeline.configuration.documents.max_content_bytes)
    return pipeline.add_document("file", path, data, title=title, nugget=nugget, project=project)


def _file(source: str, most: int) -> tuple[str, bytes]:
    """The absolute path of a file, and its bytes, or one more than may be."""
    if not source.strip():
        raise InvalidInputError(
            "the name is empty",
            code=ErrorCode.EMPTY,
            where="FILE",
            kept=NOTHING_SAVED,
            todo="give a file",
        )
    try:
        path = Path(source).expanduser().resolve()
        with path.open("rb") as stream:
            return str(path), stream.read(most + 1)
    except (OSError, RuntimeError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = remedy_for(error, Path())
        raise StorageError(
            f"cannot be read ({said})", remedy=remedy, where=source, kept=NOTHING_SAVED,
            todo="" if remedy else "give another file, an address, or -",
        ) from error  # fmt: skip
