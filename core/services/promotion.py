"""The promotion of one memory: finds the MEMORY.md, remembers its bullets, and writes it."""

from __future__ import annotations

import os.path
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import ErrorCode, InvalidInputError, NotFoundError, StorageError
from core.folder import CLAUDE_VARIABLE, MEMORY_FOLDER, PROJECTS_FOLDER
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.projects import Project, Registered, Standpoint, known_projects, project_of, project_root
from core.promotion.target import MEMORY_FILE, project_folder
from core.services.log_access import of_the_log
from core.storage.files.atomic import absolute_path, read_file, remove_leftovers_of, working_directory
from core.storage.journal.kept import keep_target, kept_target, kept_targets
from core.storage.personal.page_homes import folders_called
from core.text.memory_page import MarkdownPage, split_lines

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.note import Note
    from core.model.progress import Progress
    from core.model.promoted import Target
    from core.promotion import PromotionResult
    from core.promotion.choose import Admission
    from core.storage.journal.journal import Journal


@dataclass(frozen=True)
class PromotionTarget:
    """A MEMORY.md that was written to, or the one of the present project.

    cwd: the project it belongs to, "" for none. at: ISO 8601 time of the last writing, "" for never. count: how many
    bullets of the page are ours, none where the writing was undone. current: the present project's. there: whether its
    folder is, or can be made. undone: whether the last thing done to the page was to undo a promotion: none that nobody
    asked for does it again.
    """

    path: str
    cwd: str
    at: str
    count: int
    current: bool
    there: bool
    undone: bool = False


# Scopes of notes that are about the person, wherever they were written.
_OF_A_PERSON: Final = ("user", "self")
# So many entries of the log are looked through for what was undone: older ones are more than a year old.
_ENTRIES: Final = 400


class Promoter:
    """The promotion of one memory. It reads settings, the log and the project at hand from the memory as it goes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @of_the_log
    def promote(
        self,
        *,
        dry_run: bool = False,
        memory_dir: str | Path | None = None,
        cwd: str | Path | None = None,
        accept: Collection[str] | None = None,
        refuse: Collection[str] = (),
        unattended: bool = False,
        progress: Progress | None = None,
    ) -> PromotionResult:
        """Writes often recalled notes into MEMORY.md.

        The file is the one in `memory_dir`, else in the project folder of `cwd` (else of the working directory),
        else in the setting. A project's page holds its notes and the person's, as `core.projects` tells them apart.
        accept, refuse: ids of entries, as `core.promotion.promote` reads them. unattended: nobody looks at what is
        written, so that a project's page gets what was written from there and what is about the person. progress:
        called with how many of the candidates are looked at. Raises NotFoundError when there is no such file,
        InvalidInputError for a memory of pages, StorageError when the working directory is gone; errors as in
        `Memory.apply`.
        """
        from core.promotion import promote

        memory, project = self._memory, str(cwd) if cwd is not None else None
        if memory.pages is not None:
            of_team = "nothing is promoted from the notes of a team"
            what = (
                of_team
                if memory.is_team
                else "Claude Code reads these pages itself, so nothing is promoted from them"
            )
            raise InvalidInputError(
                what, code=ErrorCode.NO_PLACE, where=str(memory.pages), kept="nothing was written"
            )

        def proposed(draft: Draft, target: Target) -> PromotionResult:
            found = read_file(Path(path))
            return promote(
                draft, found[0] if found else None, path, memory.settings.promotion, target=target,
                accept=accept, refuse=refuse, author=memory.author, admission=admission, progress=progress,
            )  # fmt: skip

        def drafted(draft: Draft) -> tuple[PromotionResult, ChangeSet]:
            result = proposed(draft, self._kept(path))
            return result, result.change_set

        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else memory.guard:
            with memory.guard:
                memory.refresh_read_only() if dry_run else memory.refresh()
                named = str(memory_dir) if memory_dir is not None else None
                found = self._path(named, "" if named else self._folder(project))
                if found is None:
                    raise NotFoundError(
                        "no MEMORY.md to promote to", field="folder", kept="nothing was written",
                        todo="name its folder (--memory-dir), or set promotion.memory_dir in settings.toml",
                    )  # fmt: skip
                path = found
                admission = self._admission(path, project, unattended=unattended)
                draft, target = memory.draft(), self._kept(path)
            if dry_run:
                return proposed(draft, target)
            remove_leftovers_of(Path(os.path.realpath(path)))
            result, _ = memory.apply_drafted(drafted)
            target = result.target
            if result.change_set.files or (target.texts and not target.at):
                here = self._here_or_nowhere(project)
                owner = here if here and self._path(None, here) == target.path else target.cwd
                target = msgspec.structs.replace(target, at=memory.now(), cwd=owner)
            if target != kept_target(self._journal, path) and (target.at or target.refused):
                keep_target(self._journal, target)
            return result

    @of_the_log
    def targets(self, cwd: str | Path | None = None) -> tuple[PromotionTarget, ...]:
        """The MEMORY.md of the project of `cwd` (else of the working directory), then those written to before, the
        latest first.
        """
        if self._memory.pages is not None:
            return ()
        with self._memory.guard:
            project = self._here_or_nowhere(str(cwd) if cwd is not None else None)
            current = self._path(None, project) if project else None
            known = list(kept_targets(self._journal))
            if current is not None and all(target.path != current for target in known):
                known.append(msgspec.structs.replace(kept_target(self._journal, current), cwd=project))
            undone = self._undone() if any(target.at for target in known) else ()
        found = [
            PromotionTarget(
                one.path, one.cwd, one.at, _count(one), current=one.path == current, undone=one.path in undone,
                there=one.path == current or os.path.isdir(os.path.dirname(one.path)),
            )
            for one in known
        ]  # fmt: skip
        return tuple(sorted(found, key=lambda target: not target.current))

    @property
    def _journal(self) -> Journal | None:
        return self._memory.store.journal

    def _undone(self) -> dict[str, bytes]:
        """The files whose newest entry in the log takes back what was written there, with what that left of each."""
        newest: dict[str, bytes | None] = {}
        for entry in self._memory.history.log(kind=("promotion", "undo", "redo"), limit=_ENTRIES):
            for change in entry.change_set.files:
                left = (change.after or b"") if entry.change_set.kind == "undo" else None
                newest.setdefault(change.path, left)
        return {path: after for path, after in newest.items() if after is not None}

    def _kept(self, path: str) -> Target:
        """What is remembered of a page. Where an undo was the last to write it, the texts are those that its bullets
        say now in the same places.
        """
        target = kept_target(self._journal, path)
        left = self._undone().get(path) if target.texts else None
        if left is None:
            return target
        page = _page(left)
        said = {(one.section, one.title): page.digest(one) for one in page.bullets}
        texts = [
            msgspec.structs.replace(text, digest=said.get((text.section, text.title), text.digest))
            for text in target.texts
        ]
        return msgspec.structs.replace(target, texts=tuple(texts))

    # Which page, and what may stand on it

    def _path(self, memory_dir: str | None, cwd: str) -> str | None:
        """The MEMORY.md to write; None when nothing says where.

        memory_dir: the folder that was asked for; it wins. Else the project folder that Claude Code keeps for `cwd`, if
        it is there; else the folder in the settings.
        """
        claude = os.environ.get(CLAUDE_VARIABLE, "").strip() or os.path.expanduser("~/.claude")
        projects = (os.path.join(claude, PROJECTS_FOLDER, project_folder(place)) for place in _places(cwd))
        folder = next((os.path.join(one, MEMORY_FOLDER) for one in projects if os.path.isdir(one)), "")
        folder = memory_dir or folder or self._memory.settings.promotion.memory_dir
        return str(absolute_path(Path(os.path.expanduser(folder), MEMORY_FILE))) if folder else None

    def _folder(self, cwd: str | None) -> str:
        """Where the project lies that is promoted for; "" for a named one of which no folder is known."""
        if cwd:
            return cwd
        project = self._memory.project
        if project is None:
            return str(working_directory())
        # Somebody may work in a folder of the project, or have named it from elsewhere.
        here = str(working_directory()) if project.root else ""
        return here if project.root in _places(here) else project.root

    def _here_or_nowhere(self, cwd: str | None) -> str:
        try:
            return self._folder(cwd)
        except StorageError:
            return ""

    def _admission(self, path: str, cwd: str | None, *, unattended: bool) -> Admission:
        """What may stand on a page: on that of a project, its notes and the person's; on any other, all."""
        from core.promotion.choose import EVERY_NOTE, Admission

        known = known_projects(str(self._memory.home))
        project = self._project_of(path, cwd, known)

        # Asked of the code once for all notes, and only where a note may be added.
        stale = cache(lambda: self._memory.stale_of(self._memory.snapshot.visible))

        def outdated(note: Note) -> bool:
            found = stale().get(note.id)
            return found is not None and found.outdated

        if project is None:
            return EVERY_NOTE._replace(outdated=outdated, takes_out=not unattended)
        here = Standpoint(project, known, self._memory.snapshot)

        def is_ours(note: Note) -> bool:
            return note.scope in _OF_A_PERSON or here.may_promote(note.nugget_name)

        def owner(note: Note) -> str:
            nugget = note.nugget_name
            return "" if is_ours(note) else here.owner_of(nugget) or (nugget if here.is_own(nugget) else "")

        return Admission(owner, lambda note: not unattended or is_ours(note), outdated, not unattended)

    def _project_of(self, path: str, cwd: str | None, known: Sequence[Registered]) -> Project | None:
        """The project whose agents read a page, one without a name where it is not known; None for a page of none."""
        folder = Path(path).parent
        if (folder.name, folder.parent.parent.name) != (MEMORY_FOLDER, PROJECTS_FOLDER):
            return None
        called, kept = folder.parent.name, kept_target(self._journal, path).cwd
        for place in (self._here_or_nowhere(cwd), kept, *(one.root for one in known)):
            if any(project_folder(one) == called for one in _places(place)):
                return project_of(place) or Project("")
        roots = {project_root(one) for one in folders_called(called, project_folder)}
        return (project_of(roots.pop()) if len(roots) == 1 else None) or Project("")


def _places(folder: str) -> tuple[str, ...]:
    """For which folders Claude Code may keep one, for somebody who works in this one."""
    return (project_root(os.path.realpath(folder)), project_root(folder), folder) if folder else ()


def _page(data: bytes) -> MarkdownPage:
    return MarkdownPage(split_lines(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")))


def _count(target: Target) -> int:
    """How many bullets of the page are ours now; of a page that cannot be read, how many were when it was written."""
    digests = {text.digest for text in target.texts}
    try:
        found = read_file(Path(target.path)) if digests else None
    except StorageError:
        return len(digests)
    if found is None:
        return 0 if os.path.isdir(os.path.dirname(target.path)) else len(digests)
    page = _page(found[0])
    return sum(page.digest(one) in digests for one in page.bullets)
