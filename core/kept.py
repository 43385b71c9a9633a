"""A memory's kept searches: read again when their file changes, kept and let go one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from core.configured import ConfiguredMemory
from core.errors import InvalidInputError, NotFoundError, NuggetsError
from core.model.change import ChangeSet
from core.model.kept import SEARCHES_FILE, KeptSearch, checked

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.storage.merging import Decide
    from core.storage.searches_file import Kept

    Drafted = Callable[[Draft], tuple[None, ChangeSet]]

_KEPT = "nothing was written"


class KeepingMemory(ConfiguredMemory):
    """A memory with searches under names, in searches.toml of its folder."""

    _kept: Kept | None = None
    _kept_notice = ""

    @property
    def searches(self) -> tuple[KeptSearch, ...]:
        """The searches that are kept, in the order of the file. Empty for a file that cannot be read, of which
        `take_notices` tells; its bytes are in the quarantine then.
        """
        if self._kept is None:
            with self._guard:
                self._look_at_searches()
        return self._kept.searches if self._kept is not None else ()

    @property
    def searches_problem(self) -> str:
        """What of the file of searches cannot be read, in words; "" for all well."""
        _ = self.searches
        return self._kept.problem if self._kept is not None else ""

    def keep_search(self, search: KeptSearch, instead_of: str = "") -> ChangeSet:
        """Keeps a search under its name, as one entry of the log that `undo` takes back.

        instead_of: the name of the one that it takes the place of. Raises InvalidInputError for a search that makes no
        sense and a name that another one has, NotFoundError for a note that is not there; errors as in `apply`.
        """
        search = checked(search)
        if search.golden and search.must_find not in self.snapshot.by_id:
            raise NotFoundError("no note has this id", where=search.must_find, kept=_KEPT)

        def drafted(draft: Draft) -> tuple[None, ChangeSet]:
            if search.name != instead_of and any(search.name == one.name for one in self.searches):
                raise InvalidInputError(
                    "a search of this name is kept already", where=search.name, kept=_KEPT
                )
            out = {instead_of} - {search.name, ""}
            return None, self._searches_changed(draft, f"kept the search {search.name}", [search], out)

        return self._write_searches(drafted)

    def let_searches_go(self, names: Collection[str]) -> ChangeSet:
        """Lets kept searches go, as one entry of the log that `undo` takes back. Raises NotFoundError; errors as in
        `apply`.
        """

        def drafted(draft: Draft) -> tuple[None, ChangeSet]:
            known = {search.name for search in self.searches}
            for name in names:
                if name not in known:
                    raise NotFoundError("no such search is kept", where=name, kept=_KEPT)
            one = next(iter(names)) if len(names) == 1 else f"{len(names)} searches"
            reason = f"let the search {one} go" if len(names) == 1 else f"let {one} go"
            return None, self._searches_changed(draft, reason, [], set(names))

        return self._write_searches(drafted)

    def _write_searches(self, drafted: Drafted) -> ChangeSet:
        with self._guard:
            self._look_at_searches()
            return self._apply_drafted(drafted)[1]

    def _searches_changed(
        self, draft: Draft, reason: str, put: Collection[KeptSearch], out: Collection[str]
    ) -> ChangeSet:
        from core.storage.searches_file import changed_searches

        before, after = changed_searches(self.home, put, out)
        if after != (before or b""):
            draft.put_file(SEARCHES_FILE, before, after)
        return draft.change_set(reason, author=self.author)

    def refresh(self, *, patient: bool = True) -> bool:
        """As `ConfiguredMemory.refresh`; searches that another program changed count from then on."""
        newer = super().refresh(patient=patient)
        if self._kept is not None:
            with self._guard:
                self._look_at_searches()
        return newer

    def _apply_deciding(self, change_set: ChangeSet, decide: Decide | None, made_by: str = "") -> ChangeSet:
        done = super()._apply_deciding(change_set, decide, made_by)
        if any(change.path == SEARCHES_FILE for change in done.files):
            with self._guard:
                self._look_at_searches()
        return done

    def _look_at_searches(self) -> None:
        """Reads the searches again when their file is another one."""
        from core.storage.searches_file import Kept, kept_searches, searches_version

        try:
            if self._kept is not None and searches_version(self.home) == self._kept.version:
                return
            self._kept = kept_searches(self.home, self._clock)
        except NuggetsError as error:
            self._kept = self._kept or Kept()
            self._kept_notice = error.message
            return
        if self._kept.problem:
            self._kept_notice = f"{self.home / SEARCHES_FILE}: {self._kept.problem}"

    def take_notices(self) -> tuple[str, ...]:
        """As `ConfiguredMemory.take_notices`; what cannot be read of the searches is among them."""
        said, self._kept_notice = self._kept_notice, ""
        return (*super().take_notices(), *([said] if said else []))

    def _beside(self) -> object:
        return super()._beside(), self._kept.searches if self._kept is not None else ()
