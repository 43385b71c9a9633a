"""The daily pass: checks whether it is due, and runs reflection and promotion once a day in one process."""

from __future__ import annotations

import contextlib
import os.path
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from core.errors import (
    BrokenFileError,
    ConflictError,
    ErrorCode,
    InvalidInputError,
    NotFoundError,
    NuggetsError,
    ReadOnlyError,
    Remedy,
    partly_done,
)
from core.folder import GRAPH_FILE, pages_of
from core.model.names import iso
from core.schedule import LastRun, due, latest, local_zone, next_due
from core.settings import Settings, load_settings
from core.storage.files.presence import DaemonOn
from core.storage.files.presence import Presence as Presence
from core.storage.files.presence import daemon_on as daemon_on
from core.storage.journal import kept
from core.storage.journal.kept import ReviewRequest, Run, daily_turn, finish, is_running, runs

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult

WhyNot = Literal["", "not due", "running", "no memory", "pages"]
# Tables of the settings that affect the daily pass; "" stands for a whole file that cannot be read.
_BEARING: Final = frozenset(("", "schedule", "reflection", "promotion"))
_RAN: Final = "what the pass changed is written and in the history"
_SAID: Final[dict[WhyNot, str]] = {
    "": "",
    "not due": "the daily pass is not due",
    "running": "another process is running the daily pass",
    "no memory": "there is no memory to clean up yet",
    "pages": "no pass runs unattended on Claude Code's pages; nuggets reflect runs one by hand",
}


@dataclass(frozen=True)
class DailyState:
    """The state of the daily pass.

    `last`: the run that counts, None for none. `running`: whether a process runs it just now. `daemon`: which runs on
    the folder; `daemon_applies` and `app_applies` as the settings are now, and False for Claude Code's pages: nothing
    changes those unasked, which `pages` says. `unsure`: what of the settings that bear on
    it cannot be used; it is not run unattended then. `asked`: the review that an agent asked for since the last pass.
    """

    last: Run | None
    due: bool
    next_due: datetime
    running: bool
    daemon: DaemonOn | None
    daemon_applies: bool
    app_applies: bool
    unsure: tuple[str, ...] = ()
    asked: ReviewRequest | None = None
    pages: bool = False

    @property
    def why_never_unattended(self) -> str:
        """In a clause: why no pass ever runs unattended here; "" where one may."""
        return _SAID["pages"] if self.pages else ""

    @property
    def waits_for_a_person(self) -> bool:
        """Whether a review was asked for, or the pass is due and nobody else runs it."""
        by_daemon = self.daemon is not None and self.daemon_applies
        return not self.running and (self.asked is not None or (self.due and not by_daemon))

    def to_dict(self) -> dict[str, Any]:
        """The state as JSON of the command line."""
        daemon = self.daemon
        running = daemon and {"pid": daemon.process and daemon.process.pid, "since": daemon.since or None}
        return {
            "due": self.due,
            "nextDue": iso(self.next_due),
            "lastRun": msgspec.to_builtins(self.last),
            "running": self.running,
            **({} if self.asked is None else {"reviewAsked": msgspec.to_builtins(self.asked)}),
            "daemon": running,
        }


@dataclass(frozen=True)
class DailyResult:
    """The result of a daily pass.

    `ran`: whether this call ran it; if not, `why_not` says why. `reflection`: its result, None where it did not run
    or failed. `promotions`: what was written, or found up to date, one for each MEMORY.md. `problems`: the errors.
    A pass whose reflection failed does not count as run, and stays due. `asks`: what would be promoted once a
    person agrees; None for nothing. `next_due`: in the local zone.
    """

    ran: bool
    why_not: WhyNot
    next_due: datetime
    last: Run | None = None
    reflection: ReflectionResult | None = None
    promotions: tuple[PromotionResult, ...] = ()
    problems: tuple[NuggetsError, ...] = ()
    asks: PromotionResult | None = None

    @property
    def summary(self) -> str:
        """In a clause: why it did not run, or what it did."""
        if not self.ran:
            return _SAID[self.why_not]
        if self.last is None:
            return "the cleanup failed"
        counts = self.last.counts
        looked = counts.get("inspected", 0)
        done = [f"{number:,} {name}" for name, number in counts.items() if name != "inspected" and number]
        said = ", ".join(done) or "nothing to do"
        return f"checked {looked:,} {'note' if looked == 1 else 'notes'}: {said}"

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON of the command line."""
        return {
            "ran": self.ran,
            "reason": self.why_not or None,
            "nextDue": iso(self.next_due),
            "lastRun": msgspec.to_builtins(self.last),
            "reflection": self.reflection.to_dict() if self.reflection is not None else None,
            "promotions": [promotion.to_dict() for promotion in self.promotions],
            "promotionWaits": pending_promotion_dict(self.asks),
            "problems": [problem.message for problem in self.problems],
        }


def pending_promotion_dict(asks: PromotionResult | None) -> dict[str, Any] | None:
    """A promotion that waits for a person's decision, as JSON of the command line."""
    return None if asks is None else {"path": asks.path, "lines": lines_of(asks)}


def daily_state(home: Path, now: datetime, zone: tzinfo | None = None) -> DailyState:
    """The state of the daily pass of a memory. Only reads settings and journal, and makes no file.

    zone: of the person's clock; None: the system's. Raises StorageError and ReadOnlyError for a journal that cannot
    be read.
    """
    settings, now = load_settings(home), now.astimezone(zone or local_zone())
    known = runs(home)
    last, pages = _counting(known, now), pages_of(home) is not None
    return DailyState(
        last=_record(known, last), due=due(now, last, settings), next_due=next_due(now, last, settings),
        running=is_running(home), daemon=daemon_on(home),
        daemon_applies=settings.schedule.daemon_applies and not pages,
        app_applies=settings.schedule.app_applies and not pages, unsure=_unsure(settings),
        asked=kept.review_request(home), pages=pages,
    )  # fmt: skip


def request_review(memory: Memory, now: datetime, changes: int) -> bool:
    """Leaves word that a person should look through a cleanup, which would make so many changes: the app and `status`
    show it until a pass ran or was looked through. Whether it could be kept: without a log it cannot. Raises
    StorageError, ReadOnlyError.
    """
    request = ReviewRequest(at=iso(now), by=str(memory.author), changes=changes)
    return kept.request_review(memory.home, request)


def _unsure(settings: Settings) -> tuple[str, ...]:
    """What is wrong with the settings of the pass: who may run it, when, and how much it may do."""
    return tuple(one.message for one in settings.problems if one.name.partition(".")[0] in _BEARING)


def run_daily_pass(
    memory: Memory,
    clock: Callable[[], datetime] | None = None,
    *,
    if_due: bool = True,
    promote: bool | None = None,
    zone: tzinfo | None = None,
) -> DailyResult:
    """Runs the daily reflection, and promotes where `promote`, else the setting schedule.promotes, says so.

    When several processes find it due at the same moment, one of them runs it. if_due=False: run it in any case,
    unless another process runs it now. clock: gives aware times; None for the memory's. An error of one part is in the
    result and does not stop the other. Raises what keeps the memory from being read or its log from being written.
    """
    # As they are now: a memory may have been open since yesterday.
    settings, zone = load_settings(memory.home), zone or local_zone()
    now = (clock or memory.clock)().astimezone(zone)

    def answer(known: tuple[Run, ...], why_not: WhyNot = "", **more: Any) -> DailyResult:
        last = _counting(known, now)
        return DailyResult(not why_not, why_not, next_due(now, last, settings), _record(known, last), **more)

    def wanted(known: tuple[Run, ...]) -> bool:
        return not if_due or due(now, _counting(known, now), settings)

    known = runs(memory.home)
    if not wanted(known):
        return answer(known, "not due")
    if if_due and memory.pages is not None:
        return answer(known, "pages")
    if if_due and _unsure(settings):
        todo = "fix that; the daily pass waits until then"
        raise InvalidInputError("; ".join(_unsure(settings)), code=ErrorCode.SETTINGS_UNSURE, todo=todo)
    memory.refresh()
    _check_usable(memory)
    if not (memory.snapshot.notes or memory.snapshot.nuggets):
        return answer(known, "no memory")
    with daily_turn(memory.home) as mine:
        known = runs(memory.home)
        if not mine or not wanted(known):
            return answer(known, "running" if wanted(known) else "not due")
        done = _carry_out(memory, now, _goals(memory, settings, promote))
    try:
        with partly_done(_RAN) if done.counts_as_run else contextlib.nullcontext():
            known = runs(memory.home)
    except NuggetsError as error:
        if done.counts_as_run or not done.problems:
            raise
        # What kept the pass from coming about says what became of it.
        raise done.problems[0] from error
    return answer(
        known, reflection=done.reflection, promotions=tuple(done.promotions), problems=tuple(done.problems),
        asks=pending_promotion(memory) if promote is None else None,
    )  # fmt: skip


def promotes_by(settings: Settings) -> str:
    """Whether the daily pass promotes: "ask", "projects", "always" or "never"."""
    return "always" if settings.schedule.promotes else settings.promotion.automatic


def pending_promotion(memory: Memory, cwd: str | None = None) -> PromotionResult | None:
    """What would be written into MEMORY.md if a person were asked and said yes; None once they have said, and where
    there is nothing to write. Looks at the file of the project of `cwd` (else of the working directory), then at that
    of the settings, then at those written to before; writes nothing.
    """
    settings = load_settings(memory.home)
    if promotes_by(settings) != "ask":
        return None
    folders = [os.path.dirname(target.path) for target in memory.promotion.targets(cwd) if target.there]
    if settings.promotion.memory_dir:
        folders.insert(1, os.path.expanduser(settings.promotion.memory_dir))
    for folder in dict.fromkeys(folders):
        with contextlib.suppress(NuggetsError):
            result = memory.promotion.promote(dry_run=True, memory_dir=folder)
            if lines_of(result):
                return result
    return None


def lines_of(result: PromotionResult) -> int:
    """How many lines of MEMORY.md come, go or change."""
    return result.promoted + result.updated + result.removed


def answer_promotion(memory: Memory, answer: str, path: str) -> ChangeSet:
    """Remembers in the settings whether the daily pass promotes: "project" (to the MEMORY.md at `path`), "always" (to
    that and every other one promoted to), "never", or "ask" again. One entry of the log. Errors as `save_settings`.
    """
    settings = load_settings(memory.home)
    known = settings.promotion.projects
    changes: dict[str, Any] = {"promotion.automatic": "projects" if answer == "project" else answer}
    if settings.schedule.promotes and answer != "always":
        changes["schedule.promotes"] = None
    folder = os.path.dirname(path)
    if answer in ("project", "always") and folder and folder not in known:
        changes["promotion.projects"] = (*known, folder)
    return memory.save_settings(changes)


def count_as_daily(memory: Memory, now: datetime, counts: Mapping[str, int]) -> None:
    """Records a reflection that somebody reviewed by hand as the pass of today, whatever they accepted.

    counts: as in `Run`; see `counts_of`. Records nothing without a log. Raises StorageError, ReadOnlyError.
    """
    finish(memory.home, _run(now.astimezone(local_zone()), memory.author.kind, dict(counts)))


@dataclass
class _Done:
    """What was done so far of a pass, and what went wrong."""

    reflection: ReflectionResult | None = None
    promotions: list[PromotionResult] = field(default_factory=list)
    problems: list[NuggetsError] = field(default_factory=list)
    counts_as_run: bool = False


def _carry_out(memory: Memory, now: datetime, goals: list[str] | None) -> _Done:
    """Both parts, each for itself; what was done is kept whatever becomes of the rest. goals: the folders to promote
    to, None for no promotion.
    """
    done = _Done()
    try:
        try:
            done.reflection = memory.reflect(unattended=True)
            done.counts_as_run = True
        except NuggetsError as error:
            done.problems.append(error)
            # What met a conflict waits in the log for a person; another try would only add to it.
            done.counts_as_run = isinstance(error, ConflictError)
        if goals is not None and not goals:
            todo = "promote once by hand, or set promotion.memory_dir in settings.toml"
            what, kept = "the daily pass found no MEMORY.md to promote to", "nothing was written"
            done.problems.append(NotFoundError(what, field="folder", kept=kept, todo=todo))
        for folder in goals or ():
            try:
                done.promotions.append(memory.promotion.promote(memory_dir=folder, unattended=True))
            except NuggetsError as error:
                done.problems.append(error)
    finally:
        if done.counts_as_run:
            counts, said = counts_of(done.reflection, done.promotions), [one.message for one in done.problems]
            with partly_done(_RAN, "the daily pass runs again next time"):
                finish(memory.home, _run(now, memory.author.kind, counts, tuple(said)))
    return done


def _goals(memory: Memory, settings: Settings, asked: bool | None) -> list[str] | None:
    """The folders whose MEMORY.md the pass promotes to, None where it does not promote.

    Where the process happens to stand says nothing of what a person wants written there.
    """
    mode = promotes_by(settings)
    if asked is False or (asked is None and mode not in ("projects", "always")):
        return None
    folders = dict.fromkeys(map(os.path.expanduser, settings.promotion.projects))
    targets = memory.promotion.targets()
    if asked is not None or mode != "projects":
        before = [target.path for target in targets if target.at and target.there]
        folders = {os.path.dirname(path): None for path in before} | folders
        if settings.promotion.memory_dir:
            folders |= {os.path.expanduser(settings.promotion.memory_dir): None}
    # What a person undid is not done again by a pass that nobody watches.
    undone = {os.path.dirname(target.path) for target in targets if target.undone}
    left = [folder for folder in folders if os.path.abspath(folder) not in undone]
    return left if left or not folders else None


def _check_usable(memory: Memory) -> None:
    """Raises what keeps a pass from being worth anything: a note graph that cannot be read, or nothing be written."""
    snapshot = memory.snapshot
    if snapshot.graph_problem:
        raise BrokenFileError(
            snapshot.graph_problem, remedy=Remedy("verify"), where=str(memory.home / GRAPH_FILE),
            kept="the file is unchanged",
        )  # fmt: skip
    if snapshot.read_only:
        raise ReadOnlyError(
            f"the memory is read-only ({snapshot.read_only})", code=ErrorCode.NEWER_VERSION, where=str(memory.home),
            kept="nothing was written",
        )  # fmt: skip


def _run(now: datetime, by: str, counts: dict[str, int], problems: tuple[str, ...] = ()) -> Run:
    return Run(at=iso(now), day=now.date().isoformat(), by=by, counts=counts, problems=problems)


def _counting(known: tuple[Run, ...], now: datetime) -> LastRun | None:
    return latest((last for run in known if (last := run.last_run) is not None), now)


def _record(known: tuple[Run, ...], last: LastRun | None) -> Run | None:
    return next((run for run in reversed(known) if last is not None and run.last_run == last), None)


def counts_of(
    reflection: ReflectionResult | None, promotions: Iterable[PromotionResult] = ()
) -> dict[str, int]:
    """How many notes a pass looked at, and how many it changed in which way; "promoted": lines of MEMORY.md added,
    removed or changed.
    """
    counts: dict[str, int] = {}
    if reflection is not None:
        counts = {"inspected": reflection.inspected}
        counts |= {name: count for name, count in reflection.counts.items() if count}
    written = [lines_of(promotion) for promotion in promotions if not promotion.change_set.empty]
    return counts | ({"promoted": sum(written)} if written else {})
