"""searches.toml of a memory: the saved searches, read again when the file changes, and changed one at a time."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from core.errors import BrokenFileError, ErrorCode, InvalidInputError, NotFoundError, Notice, NuggetsError
from core.model.saved_search import SEARCHES_FILE, TABLE, SavedSearch, checked
from core.storage.files.atomic import read_file

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.draft import Draft

_KEPT: Final = "nothing was written"


class _Loaded(NamedTuple):
    """One version of the file. problem: what of it cannot be read, in words; broken: why none of it can be."""

    searches: tuple[SavedSearch, ...] = ()
    problem: str = ""
    broken: BrokenFileError | None = None


class SavedSearches:
    """The saved searches of one memory, read when somebody first asks for them. Safe to use from several threads."""

    path: Final = SEARCHES_FILE

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._file = memory.home / SEARCHES_FILE
        self._guard = threading.RLock()
        self._loaded: _Loaded | None = None
        self._notice: Notice | None = None

    @property
    def all(self) -> tuple[SavedSearch, ...]:
        """The saved searches, in the order of the file; none where it cannot be read, which `broken` and the notices
        name.
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

    def _read(self) -> _Loaded:
        with self._guard:
            if self._loaded is None:
                self._loaded = _Loaded()
                self.reload()
            return self._loaded

    @property
    def state(self) -> object:
        """What is held of the file, compared by value."""
        return self._loaded.searches if self._loaded is not None else ()

    def reload(self) -> None:
        """Reads the searches again, once somebody asked for them."""
        with self._guard:
            if self._loaded is None:
                return
            try:
                found = read_file(self._file)
                table = self._table(found[0]) if found is not None else {}
            except NuggetsError as error:
                self._notice = Notice.of(error, error.kept)
                if isinstance(error, BrokenFileError):
                    self._loaded = _Loaded((), error.what, error)
                return
            searches, passed_over = list[SavedSearch](), list[str]()
            for name, given in table.items():
                query = given.get("query") if isinstance(given, dict) else None
                search = SavedSearch(name, query if isinstance(query, str) else "")
                try:
                    checked(search)
                    searches.append(search)
                except InvalidInputError:
                    passed_over.append(name)
            problem = f"skipped what is not a saved search: {', '.join(passed_over)}" if passed_over else ""
            self._loaded = _Loaded(tuple(searches), problem)
            self._notice = Notice(problem, where=str(self._file)) if problem else self._notice

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call: what cannot be read of the searches."""
        taken, self._notice = self._notice, None
        return (taken,) if taken is not None else ()

    def save(self, search: SavedSearch, instead_of: str = "") -> ChangeSet:
        """Saves a search under its name, as one entry of the log that `undo` undoes.

        instead_of: the name of the search that it replaces. Raises InvalidInputError for a search that makes no
        sense or a name that is taken, BrokenFileError for a file that cannot be read; errors as in `Memory.apply`.
        """

        def edit(draft: Draft) -> str:
            wanted = checked(search)
            before, known = self._to_change()
            if wanted.name != instead_of and wanted.name in known:
                what = "a saved search with this name exists"
                raise InvalidInputError(
                    what, code=ErrorCode.NAME_TAKEN, field="name", where=wanted.name, kept=_KEPT
                )
            self._put(draft, before, known, wanted, {instead_of} - {wanted.name, ""})
            return f'saved the search "{wanted.name}"'

        return self._memory.change_file(edit)

    def delete(self, names: Collection[str]) -> ChangeSet:
        """Deletes saved searches, as one entry of the log that `undo` undoes. Raises NotFoundError, and
        BrokenFileError for a file that cannot be read; errors as in `Memory.apply`.
        """

        def edit(draft: Draft) -> str:
            before, known = self._to_change()
            for name in names:
                if name not in known:
                    what = "no saved search has this name"
                    raise NotFoundError(what, field="search", where=name, kept=_KEPT)
            self._put(draft, before, known, None, set(names))
            one = f'the search "{next(iter(names), "")}"'
            return f"deleted {one if len(names) == 1 else f'{len(names)} searches'}"

        return self._memory.change_file(edit)

    def _to_change(self) -> tuple[bytes | None, dict[str, Any]]:
        """The file as it is now and what it holds by name. Raises BrokenFileError: no change replaces such a file."""
        found = read_file(self._file)
        data = found[0] if found is not None else None
        return data, self._table(data or b"")

    def _put(
        self,
        draft: Draft,
        before: bytes | None,
        known: dict[str, Any],
        put: SavedSearch | None,
        out: Collection[str],
    ) -> None:
        from core.storage.files.toml import with_values

        changes: dict[tuple[str, ...], Any] = {}
        for name in out:
            given = known.get(name)
            if isinstance(given, dict):
                changes |= {(TABLE, name, key): None for key in given}
            elif given is not None:
                changes[TABLE, name] = None
        if put is not None:
            changes[TABLE, put.name, "query"] = put.query
        after = with_values(before, changes, str(self._file))
        if after != (before or b""):
            draft.put_file(SEARCHES_FILE, before, after)

    def _table(self, data: bytes) -> dict[str, Any]:
        from core.storage.files.toml import parsed_toml

        try:
            table = parsed_toml(data).get(TABLE, {})
            if isinstance(table, dict):
                return table
            why = f"{TABLE} is not a table"
        except ValueError as error:
            why = str(error)
        raise BrokenFileError(
            f"cannot be read ({why})", where=str(self._file), kept="the file is unchanged",
            todo="fix the file or move it away",
        )  # fmt: skip
