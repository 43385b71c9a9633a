"""Second files of one nugget: `x.nugget.json` beside `x.donna.json`, of which the latter is the nugget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.model.fact import Fact
from core.storage.files.atomic import read_file
from core.storage.format.documents import Loaded, NuggetDocument, nugget_of_file


@dataclass(frozen=True)
class SecondFile:
    """A fact file that is not used since another one of the same name is its nugget, in `used`."""

    document: NuggetDocument
    used: NuggetDocument

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.document.path

    @property
    def facts(self) -> list[Fact]:
        """What it holds, in order."""
        return [fact for fact in self.document.facts if fact is not None]

    def data(self) -> bytes | None:
        """Its bytes; None when it is not as it was read any more. Raises StorageError."""
        found = read_file(self.path)
        return found[0] if found is not None and found[1] == self.document.fingerprint else None


def second_files(loaded: Loaded) -> list[SecondFile]:
    """The second files that repairing can set aside, what they hold being in their nuggets then.

    What lies there under another name than the nugget's file was put there by somebody, and is left to them; so is a
    link, and a file in which something cannot be read or has no key.
    """
    if loaded.snapshot.read_only or loaded.snapshot.graph_problem:
        return []
    named: dict[str, NuggetDocument] = {}
    found: list[SecondFile] = []
    for document in loaded.nuggets.values():
        used = named.setdefault(document.meta.name, document)
        if used is not document and not used.broken and _is_whole(document):
            same = nugget_of_file(document.path.name) == nugget_of_file(used.path.name)
            if same and not document.path.is_symlink():
                found.append(SecondFile(document, used))
    return found


def _is_whole(document: NuggetDocument) -> bool:
    read = not (document.broken or document.problems or document.read_only)
    return read and all(fact is not None and fact.key.strip() for fact in document.facts)
