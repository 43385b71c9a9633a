"""Workspace: one folder of a coding agent's memory, with its memory and its pipeline.

What concerns both is asked for here: a credential, or a note that is not as it should be, may stand in either.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from core.errors import ErrorCode, InvalidInputError, partly_done
from core.git_repository import trust_signs

if TYPE_CHECKING:
    from core.briefing import Briefing, Orderer
    from core.memory import Finding, Holder, Masking, Memory
    from core.model.change import ChangeSet
    from core.model.note import Note
    from core.model.progress import Progress
    from core.model.snapshot import Snapshot
    from core.pipeline.recall import PipelineSignals
    from core.pipeline.service import Pipeline
    from core.projects import Project, Standpoint


# Tokens of what a session left that are read for the briefing of the next one.
_LEFT_OPEN = 150
# And of one that goes on.
_SO_FAR = 400


def has_pipeline(home: str | Path) -> bool:
    """Whether a text was ever submitted to the memory in a folder; looking makes no file."""
    from core.storage.database import has_pipeline

    return has_pipeline(home)


def open_memory(path: str | Path | None = None, *, patient: bool = True, **named: Any) -> Memory:
    """Opens a memory whose searches know what its pipeline knows. Arguments and errors as of `Memory.open`.

    patient: whether a search waits a moment where settings name a model for it; `core.search.signals.waiting` says so
    for single ones.
    """
    from core.memory import Memory

    memory = Memory.open(path, **named)
    found: list[PipelineSignals] = []

    def known() -> PipelineSignals | None:
        """What the pipeline knows of notes; it is loaded once there is one."""
        if not found and has_pipeline(memory.home):
            from core.pipeline.recall import PipelineSignals

            note_of = lambda id: memory.snapshot.by_id.get(id)  # noqa: E731
            found.append(PipelineSignals(memory.home, note_of=note_of, patient=patient))
        return found[0] if found else None

    memory.search.pipeline = known
    memory.recalls.changes = lambda note_id: source.open_changes(note_id) if (source := known()) else {}
    return memory


def use_team_near(memory: Memory, start: Callable[[], str | Path]) -> None:
    """Puts the team's notes that are in reach of a folder beside a memory, as long as a person lets them be used; see
    `Memory.use_team`. Nothing is looked for before it is wanted. start: gives the folder in which somebody works.
    """
    memory.search.use_team(_NearTeam(memory, start))


def refuse_untrusted(memory: Memory) -> None:
    """For what an agent is given: raises InvalidInputError for a team's notes as a memory of their own, unless a person
    lets them be used.
    """
    from core.folder import is_team_folder

    # A repository may ship a link to its own notes under any name.
    folder = Path(os.path.realpath(memory.folder))
    if memory.is_team or is_team_folder(folder):
        from core.team.trust import must_be_trusted

        if not must_be_trusted(folder, memory.settings):
            raise InvalidInputError(
                "you said that this project's notes are not to be used", code=ErrorCode.NOT_TRUSTED,
                where=str(memory.folder), kept="nothing was read", todo="nuggets team trust",
            )  # fmt: skip


class _NearTeam:
    """Gives the memory of the team in reach. Whether it may be used is asked again whenever that may have changed.

    Raises InvalidInputError, once, where nobody said yet that it may, and what keeps that from being known.
    """

    def __init__(self, memory: Memory, start: Callable[[], str | Path]) -> None:
        self._own = memory
        self._start = start
        self._found: Memory | None = None
        self._seen: object = None

    def __call__(self) -> Memory | None:
        folder = self._folder()
        seen = folder and (folder, trust_signs(str(folder.parent.parent)), self._own.settings.team.trust)
        if seen != self._seen:
            self._seen, self._found = seen, None
            self._found = self._opened(folder) if folder is not None else None
        return self._found

    def _folder(self) -> Path | None:
        from core.folder import folder_in_reach
        from core.places import home_of

        own = self._own
        if own.is_team:
            # The notes of one team have no other team's beside them.
            return None
        try:
            folder = folder_in_reach(self._start(), own.settings.team.folder, os.environ)
        except FileNotFoundError:
            # Who works in a folder that is gone is near nothing.
            return None
        if folder is None or folder in (own.home, own.folder) or home_of(folder) == own.home:
            return None
        return folder

    def _opened(self, folder: Path) -> Memory | None:
        from core.team.trust import must_be_trusted

        if not must_be_trusted(folder, self._own.settings):
            return None
        team = self._own.open(folder, author=self._own.author, reconcile=False, tolerant=True)
        # Files of ours belong into no repository.
        return team if team.pages is not None else None


def briefing_of(
    memory: Memory,
    *,
    project: Project | None = None,
    tokens: int | None = None,
    left_open: str = "",
    picked_up: str = "",
    order: Orderer | None = None,
) -> Briefing:
    """What an agent should know at the start, of this memory and of the team's notes beside it, each of these marked.

    project: the one at hand; None for the memory's. Else as `core.briefing.briefing`; who puts notes in order, and the
    places, know of one's own alone.
    """
    from dataclasses import replace

    from core.briefing import DEFAULT_TOKENS, Order, briefing
    from core.model.note import replace as with_fields

    room = DEFAULT_TOKENS if tokens is None else tokens
    project = project or memory.project
    beside = memory.search.beside()
    if beside is None:
        here, snapshot = memory.seen_from(project, memory.snapshot), memory.snapshot
        return briefing(
            snapshot, here=here, tokens=room, left_open=left_open, picked_up=picked_up, order=order,
            mark=_stale_marks(memory, snapshot, here),
        )  # fmt: skip

    def of_team(note: Note) -> bool:
        return beside.joined.whose(note.id) == "team"

    def ordered(notes: Sequence[Note]) -> Order:
        own = [note for note in notes if not of_team(note)]
        found = Order(tuple(note.id for note in own)) if order is None else order(own)
        return Order((*found.note_ids, *(note.id for note in notes if of_team(note))), found.line)

    # What the team of this project keeps concerns it, whatever nugget it is in.
    nugget = project.nugget if project is not None else ""
    notes = (
        with_fields(note, nugget_name=nugget) if nugget and of_team(note) else note
        for note in beside.snapshot.notes
    )
    snapshot = replace(beside.snapshot, notes=tuple(notes))
    here = memory.seen_from(project, snapshot)
    stale_mark = _stale_marks(memory, snapshot, here)
    made = briefing(
        snapshot, here=here, tokens=room, left_open=left_open, picked_up=picked_up, order=ordered,
        mark=lambda note: ", ".join(filter(None, ("team" if of_team(note) else "", stale_mark(note)))),
    )  # fmt: skip
    own = {note.id for note in beside.joined.own.notes}
    return structs.replace(made, places=tuple(one for one in made.places if one[0] in own))


def _stale_marks(memory: Memory, snapshot: Snapshot, here: Standpoint | None) -> Callable[[Note], str]:
    """Says what a note names of the code and is not there any more; "" for nothing. Git is asked once for all notes."""
    own = [note for note in snapshot.visible if here is None or not here.owner_of(note.nugget_name)]
    stale = memory.stale_of(own)

    def mark(note: Note) -> str:
        found = stale.get(note.id)
        return "; ".join(str(one) for one in found.references if one.state != "changed") if found else ""

    return mark


def session_briefing(
    memory: Memory,
    *,
    project: Project | None = None,
    tokens: int | None = None,
    folder: str = "",
    session: str = "",
    failed: Callable[[str], None] = lambda what: None,
) -> Briefing:
    """`briefing_of` with what the pipeline knows, where there is one: what a session left, and the order of notes.

    folder: of the project at hand. session: one that goes on after a compaction or a pause, "" for a new one. failed:
    is told what is wrong with the pipeline; a session begins with what is known, whatever that is.
    """
    from core.briefing import Order
    from core.errors import NuggetsError
    from core.pipeline.service import Pipeline
    from core.projects import project_root

    def ordered(pipeline: Pipeline, notes: Sequence[Note]) -> Order:
        done = pipeline.sessions.ordered(notes, project.nugget if project is not None else "")
        if done.fault:
            failed(f"the predictor: {done.fault}")
        line = "The order within each section is that of a predictor." if done.active else ""
        return Order(done.note_ids, line)

    if memory.pages is None and Pipeline.exists(memory.home):
        try:
            with Pipeline.open(memory.home, memory=memory) as pipeline:
                so_far = _so_far(pipeline, session)
                left = "" if so_far or not folder else _left_open(pipeline, project_root(folder))
                return briefing_of(
                    memory, project=project, tokens=tokens, left_open=left, picked_up=so_far,
                    order=lambda notes: ordered(pipeline, notes),
                )  # fmt: skip
        except NuggetsError as error:
            failed(f"the pipeline was not asked: {error.code}")
    return briefing_of(memory, project=project, tokens=tokens)


def _left_open(pipeline: Pipeline, project: str) -> str:
    """What the last session in a project left, in at most three lines; "" for nothing."""
    found = pipeline.sessions.recover(project=project, tokens=_LEFT_OPEN)
    lines = [line for line in found.text.splitlines() if line.startswith("- ")][:3] if found else []
    return "\n".join(line if len(line) <= 160 else f"{line[:159]}…" for line in lines)


def _so_far(pipeline: Pipeline, session: str) -> str:
    """What a session that goes on has left at its last checkpoint and since, without headings; "" for nothing."""
    found = pipeline.sessions.recover(session, tokens=_SO_FAR) if session else None
    lines = found.text.splitlines() if found else ()
    return "\n".join(line for line in lines if line.strip() and not line.startswith("#"))


class Workspace:
    """A memory and the pipeline of its folder, where it has one. Safe to use from several threads.

    now: milliseconds since 1970, as the pipeline's database holds times.
    """

    def __init__(self, memory: Memory, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self.memory = memory
        self._now = now

    # Putting right

    def verify(self, progress: Progress | None = None) -> tuple[Finding, ...]:
        """Every problem, the memory's own first. Errors as `Maintenance.verify`."""
        from core.pipeline.writes.following import drift

        return (*self.memory.maintenance.verify(progress), *drift(self.memory, faults_only=True))

    def repair(self) -> ChangeSet:
        """Repairs what can be repaired without asking. Returns what changed in the notes; of several change sets, the
        last. Errors as `Maintenance.repair`.
        """
        from core.pipeline.writes.following import repair_drift

        done = self.memory.maintenance.repair()
        written = partly_done("the repairs of notes and facts are in the history")
        with nullcontext() if done.empty else written:
            brought = repair_drift(self.memory, now=self._now())
        return brought[-1] if brought and done.empty else done

    # Secrets

    def secrets(self, progress: Progress | None = None) -> tuple[Holder, ...]:
        """Everything that seems to hold a credential. Errors as `Memory.secrets`, and of the database."""
        from core.pipeline.writes.secrets import secrets

        return secrets(self.memory, progress)

    def masking(self, ids: Collection[str] | None = None) -> Masking:
        """What `mask_secrets` would do, everywhere; writes nothing. Errors as `Secrets.preview`."""
        from core.pipeline.writes.secrets import masking

        return masking(self.memory, ids)

    def mask_secrets(self, masking: Masking) -> ChangeSet:
        """Masks what was previewed. You cannot undo it. An empty change set is in no log: only the pipeline's database
        held the credential then.

        Errors as `Secrets.mask`, and LockTimeoutError while the pipeline writes notes.
        """
        from core.pipeline.writes.secrets import mask

        return mask(self.memory, masking, now=self._now())

    def mark_not_secret(self, ids: Collection[str]) -> ChangeSet:
        """Marks what these hold now as no credential. Errors as `Secrets.mark_not_secret`."""
        from core.pipeline.writes.secrets import mark_not_secret

        return mark_not_secret(self.memory, ids)
