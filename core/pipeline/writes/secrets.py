"""Credentials in all that a memory's folder holds: its notes and facts, and what the pipeline holds.

What is masked stands in both, so `Workspace.mask_secrets` masks both at once: first the notes with their log and
backups, then all rows of the pipeline in one transaction. Whoever is stopped in between finds them there again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.errors import BrokenFileError, partly_done
from core.folder import DATABASE_FILE
from core.model.change import ChangeSet
from core.model.secrets import Held, Holder, mark_of
from core.pipeline.database import masking as rows
from core.pipeline.database.connection import Database, open_read_only
from core.pipeline.database.tables import Tables
from core.storage.database import SIDE_FILES
from core.storage.masking import GO_ON, HALFWAY, REASON, Place
from core.text.secrets import find_secrets, masked

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.masks import Masks
    from core.model.progress import Progress
    from core.services.secrets import Masking

NOT_SECRET: Final = "marked as not a secret"
# Characters of a text that somebody waits for; looking at so many takes half a second.
_AT_ONCE: Final = 500_000


def secrets(memory: Memory, progress: Progress | None = None) -> tuple[Holder, ...]:
    """Notes, facts and texts that were submitted that look as if they held a credential, and were not said to hold
    none; the pipeline's own records where they hold another one. Errors as `Memory.secrets`, and of the database.
    """
    return (*memory.secrets.holders(progress), *_stored_texts(memory))


def masking(memory: Memory, ids: Collection[str] | None = None) -> Masking:
    """What `mask` would do, everywhere; see `Secrets.preview`. ids: those of texts and proposals as well."""
    kept = _stored_texts(memory)
    wanted, of_notes = (kept, None) if ids is None else _apart(kept, ids)
    plan = memory.secrets.preview(of_notes, wanted)
    if not plan.masks or not Database.exists(memory.home):
        return plan
    from core.services.secrets import shares

    also = tuple(one for one in kept if one not in plan.holders and shares(one, plan.masks))
    own = {memory.home / (DATABASE_FILE + side) for side in SIDE_FILES}
    others = tuple(place for place in plan.places if place.what != "untouched" or place.path not in own)
    return replace(plan, holders=(*plan.holders, *also), places=(*others, *_places(memory, plan.masks)))


def mask(memory: Memory, plan: Masking, *, now: int) -> ChangeSet:
    """Masks what was previewed, everywhere; see `Workspace.mask_secrets`. now: epoch ms. Raises LockTimeoutError,
    StorageError.
    """
    if not plan.masks or not Database.exists(memory.home):
        return memory.secrets.mask(plan)
    with closing(Database.open(memory.home)) as database, partly_done(HALFWAY, GO_ON):
        done = memory.secrets.mask(plan)
        with database.write() as writer:
            counts, raw_ids = writer.masking.mask_rows(plan.masks)
            for raw_id in raw_ids or ("",):
                writer.history.append(
                    at=now, event="masked", changed_by=memory.author.signature, reason=REASON, raw_id=raw_id,
                    metadata={"rows": counts},
                )  # fmt: skip
        database.leave_no_byte()
    return done


def mark_not_secret(memory: Memory, ids: Collection[str]) -> ChangeSet:
    """Remembers that what these hold now is no secret; see `Memory.say_not_secret`. ids: as in `masking`."""
    wanted, of_notes = _apart(_stored_texts(memory), ids)
    if wanted:
        with closing(Database.open(memory.home)) as database, database.write() as writer:
            for held in {held for one in wanted for held in one.secrets}:
                name = rows.NO_SECRET + mark_of(held.value)
                writer.insert_row("meta", clash="REPLACE", name=name, value=1)
    if of_notes:
        return memory.secrets.mark_not_secret(of_notes)
    return ChangeSet(id="", at="", author=memory.author, reason=NOT_SECRET)


# What the database holds


def kinds_in(reader: Tables, text: str) -> tuple[str, ...]:
    """The kinds of what in a text, or in the beginning of a very long one, looks like a credential."""
    refused = reader.masking.load_not_secrets()
    text = text[:_AT_ONCE]
    found = (one for one in find_secrets(text) if mark_of(text[one.start : one.end]) not in refused)
    return tuple(dict.fromkeys(one.kind for one in found))


def _stored_texts(memory: Memory) -> tuple[Holder, ...]:
    """What of the database people are told of: each text that was submitted, of other rows those alone that hold what
    no earlier one holds. A masking that was stopped is finished first.
    """
    if not Database.exists(memory.home):
        return ()
    try:
        with open_read_only(memory.home) as reader:
            stopped = reader.masking.unfinished()
            found = tuple(_holders(reader.masking.texts(), reader.masking.load_not_secrets()))
    except BrokenFileError:
        # It can neither be looked into nor masked; masking says so.
        return ()
    if stopped:
        with closing(Database.open(memory.home)) as database:
            database.leave_no_byte()
    return found


def _holders(kept: Iterable[rows.StoredText], refused: Collection[str]) -> Iterator[Holder]:
    known: set[str] = set()
    for one in kept:
        found = tuple(
            dict.fromkeys(Held(kind, one.text[start:end]) for start, end, kind in find_secrets(one.text))
        )
        found = tuple(held for held in found if mark_of(held.value) not in refused)
        if not found or (
            not one.id.startswith(("raw-", "doc-")) and known.issuperset(held.value for held in found)
        ):
            continue
        known.update(held.value for held in found)
        title = next((line.strip() for line in masked(one.text).splitlines() if line.strip()), "")
        yield Holder("", one.nugget, "", title, found, one.id, one.text)


def _apart(kept: tuple[Holder, ...], ids: Collection[str]) -> tuple[tuple[Holder, ...], list[str]]:
    """What is named of the database, and the other ids, which are for the memory to know."""
    by_id = {one.id: one for one in kept}
    named = tuple(by_id[id] for id in dict.fromkeys(ids) if id in by_id)
    return named, [id for id in ids if id not in by_id]


def _places(memory: Memory, masks: Masks) -> tuple[Place, ...]:
    """How many rows of each table are masked; the file itself, left alone, where it cannot be read."""
    path = memory.home / DATABASE_FILE
    try:
        with open_read_only(memory.home) as reader:
            counts = reader.masking.counts(masks)
    except BrokenFileError:
        return (Place("untouched", path),)
    return tuple(Place("pipeline", path, count, table) for table, count in counts.items())
