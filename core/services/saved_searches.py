"""searches.toml of a memory: the saved searches, read again when the file changes."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from core.errors import BrokenFileError, ErrorCode, InvalidInputError, NotFoundError, Notice, NuggetsError
from core.model.saved_search import SEARCHES_FILE, SavedSearch, checked

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.draft import Draft
    from core.storage.personal.toml_files import LoadedSearches

_KEPT: Final = "nothing was written"


class SavedSearches:
    """The saved searches of one memory, Safe to use from several threads.

    The file is read when somebody first asks for it.
    """

    path: Final = SEARCHES_FILE

    def __init__(self, memory: Memory) -> None:
        self._home = memory.home
        self._change_file = memory.change_file
        self._guard = threading.RLock()
        self._loaded: LoadedSearches | None = None
        self._notice: Notice | None = None

    @property
    def all(self) -> tuple[SavedSearch, ...]:
        """The saved searches, in the order of the file. Empty for a file that cannot be read, which `broken` and the
        notices name.
        """
        return self._read().searches

    @property
    def problem(self) -> str:
        """What of the file cannot be read, in words; "" for all well."""
        return self._read().problem

    @property
    def broken(self) -> BrokenFileError | None:
        """Why none of the saved searches can be read; None for all well. The file stays as it is."""
        return self._read().broken

    @property
    def state(self) -> object:
        """What whoever watches the memory is told of when it is another: compared by value."""
        return self._loaded.searches if self._loaded is not None else ()

    def save(self, search: SavedSearch, instead_of: str = "") -> ChangeSet:
        """Saves a search under its name, as one entry of the log that `undo` undoes.

        instead_of: the name of the search that it replaces. Raises InvalidInputError for a search that makes no
        sense or a name that is taken, BrokenFileError for a file that cannot be read; errors as in `Memory.apply`.
        """

        def edit(draft: Draft) -> str:
            wanted, known = checked(search), self._names_to_change()
            if wanted.name != instead_of and wanted.name in known:
                raise InvalidInputError(
                    "a saved search with this name exists",
                    code=ErrorCode.NAME_TAKEN,
                    field="name",
                    where=wanted.name,
                    kept=_KEPT,
                )
            self._change(draft, [wanted], {instead_of} - {wanted.name, ""})
            return f'saved the search "{wanted.name}"'

        return self._change_file(edit)

    def delete(self, names: Collection[str]) -> ChangeSet:
        """Deletes saved searches, as one entry of the log that `undo` undoes. Raises NotFoundError, and
        BrokenFileError for a file that cannot be read; errors as in `Memory.apply`.
        """

        def edit(draft: Draft) -> str:
            known = self._names_to_change()
            for name in names:
                if name not in known:
                    raise NotFoundError(
                        "no saved search has this name", field="search", where=name, kept=_KEPT
                    )
            self._change(draft, [], set(names))
            return (
                f'deleted the search "{next(iter(names))}"'
                if len(names) == 1
                else f"deleted {len(names)} searches"
            )

        return self._change_file(edit)

    def _change(self, draft: Draft, put: Collection[SavedSearch], out: Collection[str]) -> None:
        from core.storage.personal.toml_files import changed_searches

        before, after = changed_searches(self._home, put, out)
        if after != (before or b""):
            draft.put_file(SEARCHES_FILE, before, after)

    def _read(self) -> LoadedSearches:
        if self._loaded is None:
            self._reload()
        assert self._loaded is not None
        return self._loaded

    def reload(self) -> None:
        """Reads the searches again, once somebody asked for them."""
        if self._loaded is not None:
            self._reload()

    def _names_to_change(self) -> set[str]:
        """Those of the file as it is now. Raises BrokenFileError where it cannot be read: no change replaces it."""
        self._reload()
        if self._loaded is not None and self._loaded.broken is not None:
            raise self._loaded.broken
        return {search.name for search in self.all}

    def _reload(self) -> None:
        from core.storage.personal.toml_files import LoadedSearches, load_searches, searches_version

        with self._guard:
            try:
                if self._loaded is not None and searches_version(self._home) == self._loaded.version:
                    return
                self._loaded = load_searches(self._home)
            except NuggetsError as error:
                self._loaded = self._loaded or LoadedSearches()
                self._notice = Notice.of(error, error.kept)
                return
            if self._loaded.problem:
                where = str(self._home / SEARCHES_FILE)
                broken = self._loaded.broken
                self._notice = (
                    Notice.of(broken, broken.kept) if broken else Notice(self._loaded.problem, where=where)
                )

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call: what cannot be read of the searches."""
        taken, self._notice = self._notice, None
        return (taken,) if taken is not None else ()
