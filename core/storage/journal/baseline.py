"""The files of a folder as its ledger last saw them: what differs from that came from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint
from core.storage.format.documents import Document, GraphDocument, remembered_graph, remembered_nugget
from core.storage.format.reading import Loaded, assembled
from core.storage.journal.ledger import Ledger
from core.storage.journal.seen import SeenFile, look, seen_files, seen_raws, settled_files

# The fingerprint of no file.
NEVER: Final = Fingerprint(0, 0, 0)


class Baseline:
    """What one ledger last saw of the files, as far as this process was there to see it, else as the ledger tells."""

    def __init__(self, home: Path, rules: InferenceSettings) -> None:
        self.home = home
        self.rules = rules
        # The files as the ledger last saw them, when this object was there to see it.
        self._former: dict[Path, Document] = {}
        self._last_seen: Loaded | None = None

    def forget(self) -> None:
        """The ledger was closed: what it saw is read from it the next time."""
        self._former = {}
        self._last_seen = None

    def begin(self, ledger: Ledger, loaded: Loaded) -> None:
        """Has a new ledger remember the files as they are."""
        documents = loaded.documents()
        with ledger.transaction(durable=True) as connection:
            for path, document in documents.items():
                look(connection, self.name(path), document, {}, fingerprint=document.fingerprint)
        self._former = documents

    def remember(self, loaded: Loaded) -> None:
        """Keeps the files as the ledger has seen them now, so that they need not be read from it."""
        self._former = loaded.documents()
        self._last_seen = loaded

    def put(self, path: Path, document: Document) -> None:
        """Keeps one file as the ledger has seen it now."""
        self._former[path] = document

    def name(self, path: Path) -> str:
        """How the ledger names a file."""
        return str(path.relative_to(self.home))

    def moved(self, loaded: Loaded, ledger: Ledger) -> set[str]:
        """Files that are not as they were last seen; those that cannot be read are passed over."""
        return self._moved(loaded, seen_files(ledger))

    def in_step(self, loaded: Loaded, ledger: Ledger) -> bool:
        """Whether no file moved, and no entry is to be finished."""
        seen, finished = settled_files(ledger)
        return finished and not self._moved(loaded, seen)

    def _moved(self, loaded: Loaded, known_files: Mapping[str, SeenFile]) -> set[str]:
        broken = {self.name(path) for path in loaded.broken()}
        seen = {file: one.fingerprint for file, one in known_files.items() if file not in broken}
        now = {self.name(path): made for path, made in loaded.fingerprints().items()}
        known = {self.name(path): document.fingerprint for path, document in self._former.items()}

        def same(file: str) -> bool:
            was, made, own = seen[file], now.get(file), known.get(file)
            # Of a version that this process saw itself it knows more than the ledger remembers.
            written_since = own is not None and own.same_data(was) and own != made
            return was is not None and was.same_data(made) and not written_since

        return {file for file in {*seen, *now} if file not in seen or not same(file)}

    def seen(self, ledger: Ledger, loaded: Loaded) -> Loaded:
        """The folder as the ledger last saw it; what did not change since is shared with `loaded`."""
        documents = loaded.documents()
        graph = loaded.graph if loaded.graph.broken else GraphDocument(path=loaded.graph.path)
        # A file that cannot be read now says nothing about what was in it.
        nuggets = {path: document for path, document in loaded.nuggets.items() if document.broken}
        for file, one in seen_files(ledger).items():
            path = self.home / file
            if path in nuggets or (path == graph.path and graph.broken):
                continue
            former = self._former.get(path)
            # Of what cannot be read the ledger remembers more than the file showed.
            at_hand = (former if former is not None and not former.problems else None, documents.get(path))
            found = next((d for d in at_hand if d is not None and is_version(d, one.fingerprint)), None)
            if found is None:
                found = self.remembered(ledger, path, one.head, loaded.graph)
            if isinstance(found, GraphDocument):
                graph = found
            else:
                nuggets[path] = found
        ordered = {path: nuggets[path] for path in sorted(nuggets, key=lambda path: path.name)}
        last = self._last_seen
        if last is not None and last.graph is graph and _same(last.nuggets, ordered):
            return last
        return assembled(self.home, graph, ordered, loaded)

    def remembered(self, ledger: Ledger, path: Path, head: bytes, graph: GraphDocument) -> Document:
        """A file as the ledger holds it, with the last readable version of what cannot be read any more."""
        raws = seen_raws(ledger, self.name(path))
        if path != graph.path:
            return remembered_nugget(path, head, raws)
        # A version of no file, but of one that was there.
        return replace(remembered_graph(path, head, raws, self.rules, graph), fingerprint=NEVER)


def is_version(document: Document, made: Fingerprint | None) -> bool:
    """Whether a document is the version of its file that the ledger knows."""
    return made is document.fingerprint or (made is not None and made.same_data(document.fingerprint))


def _same(some: Mapping[Path, Document], others: Mapping[Path, Document]) -> bool:
    """Whether both hold the very same documents."""
    return some.keys() == others.keys() and all(some[path] is others[path] for path in some)
