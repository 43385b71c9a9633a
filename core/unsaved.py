"""Texts that somebody is still writing, kept outside the memory so that no crash takes them.

A text is kept until it is saved or discarded on purpose. One whose process is gone, however it went, is offered to the
next; those of a process that lives are not.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.model.masks import Masks
from core.storage.personal.unsaved_files import UnsavedFiles, unsaved_folder


class Unsaved(msgspec.Struct, frozen=True):
    """A text that is being written.

    kind: what is being filled in, such as "note", "fact" or "conflict". about: the id of what it is about, "" for
    something new. title: how a person knows it. begun: what the fields held at first; values: what they hold now, by
    name. at: when it was kept, ISO 8601 in UTC.
    """

    kind: str
    about: str = ""
    title: str = ""
    begun: Mapping[str, str] = {}
    values: Mapping[str, str] = {}
    at: str = ""

    @property
    def changed(self) -> dict[str, str]:
        """The fields that hold something else than at first."""
        return {name: value for name, value in self.values.items() if value != self.begun.get(name, "")}


@dataclass(frozen=True)
class Offered:
    """A text of a process that is gone, or that was put aside. Pass `name` to `UnsavedTexts.take`."""

    name: str
    unsaved: Unsaved


class UnsavedFile:
    """One text on its way to disk. Safe to use from several threads; an ended one is never written again."""

    def __init__(self, files: UnsavedFiles, name: str) -> None:
        self._files = files
        self._name = name
        self._guard = threading.Lock()
        self._ended = False
        self._written: Unsaved | None = None

    def write(self, unsaved: Unsaved) -> None:
        """Keeps the text as it is now, safe on disk. Does nothing once it is ended. Raises StorageError."""
        with self._guard:
            if self._ended or (self._written and unsaved == replace(self._written, at=unsaved.at)):
                return
            self._files.write(self._name, _encoded(unsaved))
            self._written = unsaved

    def remove(self) -> None:
        """Removes the text from disk: it is as it was at first. Raises StorageError."""
        with self._guard:
            if not self._ended:
                self._files.remove(self._name)
                self._written = None

    def end(self) -> None:
        """The text is saved or discarded: its file goes. Raises StorageError."""
        with self._guard:
            self._ended = True
            self._files.remove(self._name)

    def put_aside(self, unsaved: Unsaved) -> None:
        """Keeps the text for later: it is offered again. Raises StorageError."""
        self.write(unsaved)
        with self._guard:
            if not self._ended:
                self._ended = True
                self._files.put_aside(self._name)


class UnsavedTexts:
    """The unsaved texts of one memory, as one process has them."""

    def __init__(self, files: UnsavedFiles) -> None:
        self._files = files

    @classmethod
    def of(cls, home: Path, environ: Mapping[str, str] | None = None) -> UnsavedTexts | None:
        """Those of the memory in `home`; None when there is no place for them, or NUGGETS_STATE is "off"."""
        folder = unsaved_folder(home, os.environ if environ is None else environ)
        return cls(UnsavedFiles(folder)) if folder is not None else None

    def keep(self) -> UnsavedFile:
        """A place for another text. Nothing is written yet."""
        return UnsavedFile(self._files, self._files.new_name())

    def offered(self) -> tuple[Offered, ...]:
        """The texts that can be continued, newest first. Never raises: skips what cannot be read."""
        found: list[Offered] = []
        for name, body in self._files.found():
            unsaved = _decoded(body)
            if unsaved is not None:
                found.append(Offered(name, unsaved))
        return tuple(sorted(found, key=lambda one: one.unsaved.at, reverse=True))

    def take(self, offered: Offered) -> UnsavedFile | None:
        """Makes an offered text one of this process; None when another process was quicker. Raises StorageError."""
        name = self._files.claim(offered.name)
        return UnsavedFile(self._files, name) if name is not None else None

    def discard(self, offered: Offered) -> None:
        """Removes an offered text for good. Raises StorageError."""
        self._files.remove(offered.name)

    def close(self) -> None:
        """Lets the texts of this process be there for the next one."""
        self._files.close()


def mask_unsaved(home: Path, masks: Masks, environ: Mapping[str, str] | None = None) -> int:
    """Masks credentials in the texts of a memory, damaged ones too, also where a process is writing them still; how
    many were changed. What somebody goes on to write is kept as they write it. Raises StorageError.
    """
    folder = unsaved_folder(home, os.environ if environ is None else environ)
    files = UnsavedFiles(folder) if folder is not None else None
    changed = 0
    for name, body in files.all() if files is not None else ():
        unsaved = _decoded(body)
        told = body if unsaved is None else _encoded(_masked(unsaved, masks))
        told = masks.data(body if unsaved is not None and told == _encoded(unsaved) else told)
        if files is not None and told != body:
            files.replace(name, told)
            changed += 1
    return changed


def _masked(unsaved: Unsaved, masks: Masks) -> Unsaved:
    begun, values = (
        {name: masks.text(text) for name, text in fields.items()}
        for fields in (unsaved.begun, unsaved.values)
    )
    return replace(unsaved, title=masks.text(unsaved.title), begun=begun, values=values)


def _encoded(unsaved: Unsaved) -> bytes:
    # Stored text may hold what UTF-8 has no bytes for; as an escape it comes back as it was.
    return json.dumps({"version": 1, **msgspec.to_builtins(unsaved)}, ensure_ascii=True).encode("ascii")


def _decoded(body: bytes) -> Unsaved | None:
    """The text of a file; None for one that is damaged, or of a later version."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(body)
        if not isinstance(found, dict) or found.pop("version", None) != 1:
            return None
        return msgspec.convert(found, Unsaved)
    return None
