"""The promotion of one memory: finds the MEMORY.md, remembers its bullets, and writes it."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import ErrorCode, NotFoundError, StorageError
from core.folder import CLAUDE_VARIABLE, MEMORY_FOLDER, PROJECTS_FOLDER
from core.model.change import Author, ChangeSet
from core.model.draft import Draft
from core.settings import PromotionSettings
from core.storage.files.atomic import absolute_path, read_file, remove_leftovers_of, working_directory
from core.storage.journal.promotions import keep_target, kept_target, kept_targets
from core.storage.personal.projects import folders_called, main_root

if TYPE_CHECKING:
    from core.model.entry import Entry
    from core.model.progress import Progress
    from core.model.promoted import Target
    from core.promotion import PromotionResult
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


# So many entries of the log are looked through for what was undone: older ones are more than a year old.
_ENTRIES: Final = 400


def undone_pages(log: Callable[..., Iterable[Entry]]) -> frozenset[str]:
    """Paths of the files whose newest entry in the log takes back what was written there. log: as `Memory.log`."""
    newest: dict[str, bool] = {}
    for entry in log(kind=("promotion", "undo", "redo"), limit=_ENTRIES):
        for change in entry.change_set.files:
            newest.setdefault(change.path, entry.change_set.kind == "undo")
    return frozenset(path for path, undone in newest.items() if undone)


class Promoter:
    """Promotes from one memory, given as what it does. apply: applies what is drafted, and drafts it anew when the
    files moved on meanwhile. now: an ISO 8601 time. guard: held while the memory is read. undone: as `undone_pages`.
    """

    def __init__(
        self,
        settings: PromotionSettings,
        author: Author,
        *,
        draft: Callable[[], Draft],
        apply: Callable[
            [Callable[[Draft], tuple[PromotionResult, ChangeSet]]], tuple[PromotionResult, ChangeSet]
        ],
        journal: Callable[[], Journal | None],
        now: Callable[[], str],
        guard: AbstractContextManager[object],
        undone: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._settings = settings
        self._author = author
        self._draft = draft
        self._apply = apply
        self._journal = journal
        self._now = now
        self._guard = guard
        self._undone = undone

    def path(self, memory_dir: str | None, cwd: str | None) -> str:
        """The file that is meant. Raises NotFoundError for none, StorageError without a working directory."""
        found = self._path(memory_dir, "" if memory_dir else cwd or str(working_directory()))
        if found is None:
            raise NotFoundError(
                "no MEMORY.md to promote to",
                code=ErrorCode.NO_MEMORY_PAGE,
                field="folder",
                kept="nothing was written",
                todo="name its folder (--memory-dir), or set promotion.memory_dir in settings.toml",
            )
        return found

    def _path(self, memory_dir: str | None, cwd: str) -> str | None:
        from core.promotion import target_path

        home = str(Path.home())
        claude = os.environ.get(CLAUDE_VARIABLE, "").strip() or os.path.join(home, ".claude")
        places = (main_root(cwd), cwd) if cwd else ()
        found = target_path(memory_dir, places, home, claude, self._settings, os.path.isdir)
        return None if found is None else str(absolute_path(Path(found)))

    def _project_of(self, path: str, cwd: str | None) -> str | None:
        """The name of the project whose agents read a page, "" where it is not known; None for a page of no project."""
        from core.promotion import project_folder

        folder = Path(path).parent
        if (folder.name, folder.parent.parent.name) != (MEMORY_FOLDER, PROJECTS_FOLDER):
            return None
        called, here = folder.parent.name, self._project(cwd)
        for place in (main_root(here), here) if here else ():
            if project_folder(place) == called:
                return os.path.basename(main_root(place))
        names = {os.path.basename(main_root(one)) for one in folders_called(called, project_folder)}
        return names.pop() if len(names) == 1 else ""

    def promote(
        self,
        path: str,
        cwd: str | None,
        *,
        dry_run: bool,
        accept: Collection[str] | None,
        refuse: Collection[str],
        unattended: bool,
        progress: Progress | None = None,
    ) -> PromotionResult:
        """Promotes to the file at a path. cwd: the project it was asked for in. unattended: as of `Memory.promote`.
        Errors as in `Memory.apply`.
        """
        from core.promotion import promote
        from core.promotion.choose import fits_into

        fits = fits_into(self._project_of(path, cwd), unattended=unattended)

        def proposed(draft: Draft, target: Target) -> PromotionResult:
            found = read_file(Path(path))
            return promote(
                draft,
                found[0] if found else None,
                path,
                self._settings,
                target=target,
                accept=accept,
                refuse=refuse,
                author=self._author,
                fits=fits,
                progress=progress,
            )

        def drafted(draft: Draft) -> tuple[PromotionResult, ChangeSet]:
            result = proposed(draft, kept_target(self._journal(), path))
            # Before the writing: a text that a crash kept from being written is harmless to remember.
            self._remember(result.target)
            return result, result.change_set

        if dry_run:
            with self._guard:
                draft, target = self._draft(), kept_target(self._journal(), path)
            return proposed(draft, target)
        remove_leftovers_of(Path(os.path.realpath(path)))
        result, _ = self._apply(drafted)
        self._remember(self._written(result, cwd))
        return result

    def _remember(self, target: Target) -> None:
        if target != kept_target(self._journal(), target.path) and (
            target.at or target.texts or target.refused
        ):
            keep_target(self._journal(), target)

    def _written(self, result: PromotionResult, cwd: str | None) -> Target:
        target = result.target
        if not result.change_set.files and (target.at or not result.count):
            return target
        project = self._project(cwd)
        owner = project if project and self._path(None, project) == target.path else target.cwd
        return msgspec.structs.replace(target, at=self._now(), cwd=owner, count=result.count)

    def _project(self, cwd: str | None) -> str:
        try:
            return cwd or str(working_directory())
        except StorageError:
            return ""

    def targets(self, cwd: str | None) -> tuple[PromotionTarget, ...]:
        """The present project's file first, where there is one, then the files written to, the latest first."""
        project = self._project(cwd)
        current = self._path(None, project) if project else None
        known = list(kept_targets(self._journal()))
        if current is not None and all(target.path != current for target in known):
            known.append(msgspec.structs.replace(kept_target(self._journal(), current), cwd=project))
        undone = self._undone() if any(target.at for target in known) else ()
        found = [
            PromotionTarget(
                target.path,
                target.cwd,
                target.at,
                _count(target),
                current=target.path == current,
                there=target.path == current or os.path.isdir(os.path.dirname(target.path)),
                undone=target.path in undone,
            )
            for target in known
        ]
        return tuple(sorted(found, key=lambda target: not target.current))


def _count(target: Target) -> int:
    """How many bullets of the page are ours now; of a page that cannot be read, how many were when it was written."""
    from core.promotion.page import MarkdownPage, split_lines
    from core.promotion.written import OurTexts

    if not target.texts:
        return 0
    try:
        found = read_file(Path(target.path))
    except StorageError:
        return target.count
    if found is None:
        return 0 if os.path.isdir(os.path.dirname(target.path)) else target.count
    page = MarkdownPage(split_lines(found[0].decode("utf-8", "surrogateescape").removeprefix("\ufeff")))
    ours = OurTexts(page, target.texts)
    return sum(bool(ours.of(bullet)) for bullet in page.bullets)
