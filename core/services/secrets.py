"""Finds credentials in a memory and masks them: a preview first, then everywhere in its folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core.errors import InvalidInputError, NotFoundError, Remedy, partly_done
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.masks import Masks
from core.model.note import replace
from core.model.progress import Progress
from core.model.secrets import Holder, held_in, holders, refused_marks, secrets_of, secrets_of_fact
from core.model.snapshot import Snapshot
from core.services.log_access import of_the_log
from core.storage.cache import cache_folder, remove_cache
from core.storage.files.atomic import read_file, replace_file
from core.storage.journal.kept import kept_targets
from core.storage.masking import (
    GO_ON,
    HALFWAY,
    REASON,
    Left,
    Place,
    file_left,
    files_left,
    mask_folder,
    places,
)
from core.storage.personal.unsaved_files import unsaved_folder
from core.unsaved import mask_unsaved

if TYPE_CHECKING:
    from core.memory import Memory

_IN_A_NAME: Final = "the credential is in the id of a note or the name of a nugget"


@dataclass(frozen=True)
class Masking:
    """What masking would do: which notes and facts, and where else the same values stand. It never shows a value.

    places: where they stand, in all stores. refused: notes and facts that cannot be masked, each with the reason.
    """

    holders: tuple[Holder, ...]
    places: tuple[Place, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    masks: Masks = field(default_factory=lambda: Masks(()), repr=False)

    @property
    def rewritten(self) -> tuple[Place, ...]:
        """What is rewritten, or deleted."""
        return tuple(place for place in self.places if place.what not in ("untouched", "page"))

    @property
    def pages(self) -> tuple[Path, ...]:
        """MEMORY.md files whose bullets of ours are masked."""
        return tuple(place.path for place in self.places if place.what == "page")

    @property
    def untouched(self) -> tuple[Path, ...]:
        """Files in the folder that are left alone though they hold a value, or cannot be looked into."""
        return tuple(place.path for place in self.places if place.what == "untouched")

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without any value."""
        secrets = [
            {"id": one.id, "noteId": one.note_id or None, "nugget": one.nugget, "kinds": list(one.kinds)}
            for one in self.holders
        ]
        places = [
            {"what": one.what, "path": str(one.path), "count": one.count, "deleted": one.deleted}
            | ({"part": one.part} if one.part else {})
            for one in self.rewritten
        ]
        return {
            "secrets": secrets,
            "places": places,
            "pages": [str(path) for path in self.pages],
            "untouched": [str(path) for path in self.untouched],
            "refused": [{"id": id, "reason": reason} for id, reason in self.refused.items()],
        }


def _chosen(snapshot: Snapshot, ids: Collection[str] | None) -> tuple[Holder, ...]:
    """The notes and facts that look as if they held a credential; of them those named, by id or "nugget: key".

    Raises NotFoundError for a name of none of them.
    """
    found = tuple(holders(snapshot))
    strange = [id for id in ids or () if id not in {one.id for one in found}]
    if strange:
        raise NotFoundError(
            "holds nothing that looks like a credential", where=", ".join(strange), kept="nothing was masked",
            remedy=Remedy("list-secrets"),
        )  # fmt: skip
    return tuple(one for one in found if ids is None or one.id in ids)


def _mark_not_secret(draft: Draft, ids: Collection[str]) -> None:
    """Marks what these notes and facts hold as no secret, as long as it stays as it is.

    ids: of notes, or "nugget: key" for a fact without a note. Raises InvalidInputError for one that holds none.
    """
    by_id = {one.id: one for one in holders(draft.snapshot)}
    for id in ids:
        holder = by_id.get(id)
        if holder is None:
            raise InvalidInputError(
                "holds nothing that looks like a credential", where=id, kept="nothing was changed"
            )
        note = draft.note(holder.note_id) if holder.note_id else draft.fact_note(holder.nugget, holder.key)
        if note is not None:
            marks = refused_marks(note.extra, (*secrets_of(note), *holder.secrets))
            draft.put(replace(note, extra=marks, updated_at=draft.at))
            continue
        found = draft.find_fact(holder.nugget, holder.key)
        if found is not None:
            fact = found[1]
            extra = refused_marks(fact.extra, secrets_of_fact(fact))
            draft.put_fact(holder.nugget, msgspec.structs.replace(fact, extra=extra))


class Secrets:
    """The credentials in one memory: found, and masked everywhere in its folder."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def holders(self, progress: Progress | None = None) -> tuple[Holder, ...]:
        """Notes and facts that seem to hold a credential and were not marked as holding none."""
        return tuple(holders(self._memory.snapshot, progress))

    def mark_not_secret(self, ids: Collection[str]) -> ChangeSet:
        """Marks what these notes and facts hold now as no credential. Errors as in `Memory.change`."""
        return self._memory.change("marked as not a secret", lambda draft: _mark_not_secret(draft, ids))[1]

    @of_the_log
    def preview(self, ids: Collection[str] | None = None, kept: Collection[Holder] = ()) -> Masking:
        """What `mask` would do, everywhere; writes nothing. ids: of notes, or "nugget: key"; None: all of `holders`.
        kept: credentials in another store of the folder, which masks itself. Raises NotFoundError, StorageError,
        BrokenFileError.
        """
        memory = self._memory
        with memory.guard:
            memory.refresh_read_only()
            snapshot = memory.snapshot
            found = (*_chosen(snapshot, ids), *kept)
            # What stands in ids and names cannot be taken out.
            names = (*snapshot.by_id, *snapshot.nugget_names)
            refused = {
                one.id: _IN_A_NAME
                for one in found
                if any(held.value in name for held in one.secrets for name in names)
            }
            found = tuple(one for one in found if one.id not in refused)
            masks = Masks(held for one in found for held in one.secrets)
            if not masks:
                return Masking((), refused=refused)
            pages = (Place("page", path) for path in self._pages() if _masked_page(path, masks) is not None)
            found_places = (*pages, *places(memory.store, masks, memory.settings.inference))
            # Everything else with the same values is masked too, and named.
            also = tuple(one for one in holders(snapshot) if one not in found and shares(one, masks))
            return Masking((*found, *also), found_places, refused, masks)

    @of_the_log
    def mask(self, masking: Masking) -> ChangeSet:
        """Masks what was previewed, in notes, facts, log, backups and all else of the folder. You cannot undo it.

        Returns the entry of the log, which holds only masked texts. If it is stopped in between, run it again to
        finish. Errors as in `Memory.apply`.
        """
        memory, masks = self._memory, masking.masks
        with memory.guard:
            memory.refresh(patient=False)
            id, at = memory.stamp()
            done = ChangeSet(id=id, at=at, author=memory.author, reason=REASON, kind="mask")
            with partly_done(HALFWAY, GO_ON):
                done = self._mask(masks, done) if masks else done
            held_in.cache_clear()
            # The next undo says that this one cannot be undone.
            memory.window.made.append(done.id)
            memory.search.forget()
            memory.refresh(patient=False)
            return done

    def _mask(self, masks: Masks, done: ChangeSet) -> ChangeSet:
        """Masks what lies outside the folder, then all in it, the notes last: who is stopped in between finds the
        values in these still.
        """
        memory = self._memory
        for path in self._pages():
            told = _masked_page(path, masks)
            if told is not None:
                replace_file(path.resolve(), told, mode=path.stat().st_mode & 0o777)
        mask_unsaved(memory.home, masks)
        cache = cache_folder(memory.home, os.environ)
        if cache is not None:
            remove_cache(cache)
        done = mask_folder(memory.store, masks, memory.settings.inference, done, memory.author.signature)
        if cache is not None:
            # Another program may have written it again meanwhile.
            remove_cache(cache)
        return done

    def left(self, masking: Masking) -> tuple[Left, ...]:
        """Checks a masking: every file of the folder, the cache, the unsaved texts and the MEMORY.md files that still
        holds one of the values in some spelling, or that cannot be read. Writes nothing.
        """
        if not masking.masks:
            return ()
        with self._memory.guard:
            home, masks = self._memory.store.home, masking.masks
            outside = (cache_folder(home, os.environ), unsaved_folder(home, os.environ))
            folders = [home, *(folder for folder in outside if folder is not None)]
            pages = (file_left(path, masks) for path in self._pages())
            return (*files_left(folders, masks), *(page for page in pages if page is not None))

    def _pages(self) -> list[Path]:
        """The MEMORY.md files that notes were promoted to."""
        journal = self._memory.store.journal
        if journal is None:
            return []
        items = journal.rows("SELECT DISTINCT item FROM touched WHERE substr(item, 1, 2) = 'p '")
        paths = [target.path for target in kept_targets(journal)]
        return list(map(Path, dict.fromkeys([*paths, *(item[2:] for (item,) in items)])))


def _masked_page(path: Path, masks: Masks) -> bytes | None:
    """A MEMORY.md with values masked in bullets like ours, everything else byte for byte; None when there is no file,
    or nothing in it to be masked.
    """
    from core.text.memory_page import continues, read_title

    found = read_file(path)
    if found is None or not masks.may_hold(found[0]):
        return None
    inside = False

    def is_ours(line: bytes) -> bool:
        nonlocal inside
        text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
        inside = read_title(text) is not None or (inside and continues(text))
        return inside

    # A value may stand over several lines of a bullet.
    blocks = ((ours, b"".join(lines)) for ours, lines in groupby(found[0].splitlines(keepends=True), is_ours))
    told = b"".join(masks.data(block) if ours else block for ours, block in blocks)
    return None if told == found[0] else told


def shares(holder: Holder, masks: Masks) -> bool:
    """Whether something of what it holds is masked."""
    return any(masks.text(held.value) != held.value for held in holder.secrets)
