"""A memory on its way: opened in a thread, with what fills the first frame ahead of it."""

from __future__ import annotations

import contextlib
import heapq
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.folder import FACT_SUFFIXES, GRAPH_FILE, PLACE_FILE
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note
from core.places import home_of

if TYPE_CHECKING:
    from core.memory import Memory
    from core.projects import Project
    from core.settings import Settings
    from core.user_settings import UserSettings

# Seconds that a thread keeps the interpreter while another waits for it: a key goes through several such waits.
TURN: Final = 0.0005
_FRAME_PATIENCE: Final = 2.0


class Opening:
    """A memory on its way: `future` brings it, or the error that stands in the way. Nothing is written.

    Of a large memory `quick_scan` brings what fills the first frame; all of it is read once that is shown.
    """

    def __init__(self, home: Path | None, clock: Callable[[], datetime] | None = None) -> None:
        self.home = None if home is None else home_of(home)
        self.clock = clock or (lambda: datetime.now(UTC))
        self.quick_scan: Future[QuickScan | None] = Future()
        self.future: Future[Memory] = Future()
        self.frame_shown = threading.Event()

    def start(self) -> Opening:

        scan = begin_quick_scan(self.home) if self.home is not None else lambda: None
        threading.Thread(target=self._scan_and_open, args=(scan,), name="opening", daemon=True).start()
        return self

    def at_hand(self, seconds: float) -> QuickScan | None:
        """The quick scan, if it comes within some seconds; of a small memory waits for the whole instead."""
        done, _ = wait((self.quick_scan,), timeout=seconds)
        scan = self.quick_scan.result() if done else None
        if done and scan is None:
            wait((self.future,), timeout=seconds)
        return scan

    def _scan_and_open(self, scanning: Callable[[], QuickScan | None]) -> None:
        scan = None
        try:
            scan = scanning()
        finally:
            self.quick_scan.set_result(scan)
        if scan is not None:
            # Two threads share one interpreter: reading everything now would only hold the first frame up.
            self.frame_shown.wait(_FRAME_PATIENCE)
            # From here on keys are answered while everything is read.
            sys.setswitchinterval(TURN)
        self.open()

    def open(self) -> None:
        if not self.quick_scan.done():
            self.quick_scan.set_result(None)
        try:
            from core.workspace import open_memory
            from nuggets_tui.view import prepare

            # The log is brought up to date once the first frame is shown.
            memory = open_memory(self.home, clock=self.clock, reconcile=None, patient=False)
            prepare(memory.snapshot)
            if memory.pages is None:
                memory.use_project(_project_here())
                # Worked out in this thread.
                _ = memory.projects
            self.future.set_result(memory)
        except BaseException as error:
            self.future.set_exception(error)


def _project_here() -> Project | None:
    from core.projects import project_at

    try:
        return project_at(os.getcwd())
    except FileNotFoundError:
        # Who works in a folder that is gone works on no project.
        return None


def user_settings_ahead() -> UserSettings:
    """What the user has set for all memories."""
    from core.user_settings import load_user_settings

    return load_user_settings()


def settings_ahead(home: Path | None) -> Settings:
    """The settings of a memory that is being opened; the defaults where they cannot be read: its opening tells that."""
    from core.folder import default_home
    from core.settings import Settings, load_settings

    try:
        return load_settings((home or default_home()).expanduser())
    except (RuntimeError, OSError):
        return Settings()


# Bytes of a note graph from which a quick scan is worth it.
AT_LEAST: Final = 2_000_000
# Of files that are not quite as they should be.
_TROUBLE: Final = (OSError, ValueError, msgspec.MsgspecError, RecursionError)


class _Line(msgspec.Struct, rename="camel", gc=False):
    id: str
    title: str
    nugget_name: str = ""
    kind: str = "note"
    hidden: bool = False
    created_at: str = ""
    updated_at: str = ""


class _Graph(msgspec.Struct):
    notes: list[_Line] = []


class _Facts(msgspec.Struct):
    facts: list[Fact] = []


class QuickScan(msgspec.Struct, frozen=True):
    """What a quick scan shows. `newest`: visible notes but those of facts, newest first, with id, title, kind and dates
    alone. `nugget_count`: of all nuggets, those too of which only notes speak.
    """

    newest: tuple[Note, ...]
    nuggets: tuple[Nugget, ...]
    visible: int
    hidden: int
    nugget_count: int = 0


class Names(msgspec.Struct, frozen=True):
    """What things of a memory are called. keys: of the facts, by nugget. notes: those of facts and hidden ones too,
    newest first, with id, title, kind and dates alone.
    """

    nuggets: tuple[str, ...] = ()
    keys: dict[str, tuple[str, ...]] = {}
    notes: tuple[Note, ...] = ()


def names_in(home: Path) -> Names:
    """The names of a memory, for who types one; none of what cannot be read. Reads, changes nothing."""
    lines: list[_Line] = []
    nuggets: tuple[Nugget, ...] = ()
    with contextlib.suppress(*_TROUBLE):
        nuggets = _nuggets(home)
    with contextlib.suppress(*_TROUBLE):
        lines = _lines(home / GRAPH_FILE, mapped=False)
    lines.sort(key=lambda line: (max(line.updated_at, line.created_at), line.id), reverse=True)
    return Names(
        nuggets=tuple(sorted({line.nugget_name for line in lines} | {nugget.name for nugget in nuggets})),
        keys={nugget.name: tuple(fact.key for fact in nugget.facts) for nugget in nuggets},
        notes=tuple(map(_note, lines)),
    )


def quick_scan(
    home: Path, *, at_least: int = AT_LEAST, newest: int = 100, mapped: bool = False
) -> QuickScan | None:
    """The quick scan at the memory in a folder, or None: it is small, or not quite as it should be.

    mapped: the note graph is read in place, which is quicker; should another program cut the file off meanwhile, the
    system ends this process. Reads, changes nothing, and leaves every judgement of the files to the loading that
    follows.
    """
    path = home / GRAPH_FILE
    try:
        if (home / PLACE_FILE).exists() or not _worth_it(path, at_least):
            return None
        lines = _lines(path, mapped)
        nuggets = _nuggets(home)
    except _TROUBLE:
        return None
    visible = [line for line in lines if not line.hidden]
    # The notes of facts stand in Facts.
    notes = (line for line in visible if line.kind != "fact")
    top = heapq.nlargest(newest, notes, key=lambda line: (max(line.updated_at, line.created_at), line.id))
    names = {line.nugget_name for line in lines} | {nugget.name for nugget in nuggets}
    return QuickScan(tuple(map(_note, top)), nuggets, len(visible), len(lines) - len(visible), len(names))


def begin_quick_scan(home: Path, *, at_least: int = AT_LEAST) -> Callable[[], QuickScan | None]:
    """Begins the quick scan; what is returned waits for it.

    Where that is safe it is taken by a copy of this process, so that whoever goes on meanwhile does not share their
    interpreter with it, and needs no memory for it. Meant to be called before other threads begin.
    """
    if not _worth_it(home / GRAPH_FILE, at_least):
        return lambda: None
    # A copy of a process has one thread, and whatever lock another one held stays locked in it.
    if sys.platform != "linux" or threading.active_count() > 1:
        return lambda: quick_scan(home, at_least=at_least)
    try:
        answer, answering = os.pipe()
    except OSError:
        return lambda: quick_scan(home, at_least=at_least)
    try:
        process = os.fork()
    except OSError:
        os.close(answer)
        os.close(answering)
        return lambda: quick_scan(home, at_least=at_least)
    if not process:
        _answer(home, at_least, answering)
    os.close(answering)
    return lambda: _answered(process, answer)


def _worth_it(path: Path, at_least: int) -> bool:
    try:
        return path.stat().st_size >= at_least
    except (OSError, ValueError):
        return False


def _answer(home: Path, at_least: int, answering: int) -> None:
    """What the copy of the process does; it does not return."""
    with contextlib.suppress(BaseException), os.fdopen(answering, "wb") as pipe:
        pipe.write(msgspec.msgpack.encode(quick_scan(home, at_least=at_least, mapped=True)))
    # Nothing that the copy inherited may end twice: no buffers are written, no handlers run.
    os._exit(0)


def _answered(process: int, answer: int) -> QuickScan | None:
    with os.fdopen(answer, "rb") as pipe:
        said = pipe.read()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)
    # An answer that was cut off is none; the loading that follows finds out why.
    with contextlib.suppress(msgspec.MsgspecError):
        return msgspec.msgpack.decode(said, type=QuickScan | None)
    return None


def _lines(path: Path, mapped: bool) -> list[_Line]:
    with path.open("rb") as file:
        if not mapped:
            return msgspec.json.decode(file.read(), type=_Graph).notes
        # In the copy of the process alone: the first frame does without it.
        import mmap

        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return msgspec.json.decode(data, type=_Graph).notes


def _nuggets(home: Path) -> tuple[Nugget, ...]:
    found: dict[str, Nugget] = {}
    for suffix in FACT_SUFFIXES:
        for path in sorted(home.glob(f"[!.]*{suffix}")):
            data = path.read_bytes()
            meta = msgspec.json.decode(data, type=NuggetMeta)
            facts = msgspec.json.decode(data, type=_Facts).facts
            found.setdefault(meta.name, Nugget(meta=meta, facts=tuple(facts), file=path.name))
    return tuple(found[name] for name in sorted(found))


def _note(line: _Line) -> Note:
    return Note(
        id=line.id,
        nugget_name="",
        title=line.title,
        content="",
        kind=line.kind,
        created_at=line.created_at,
        updated_at=line.updated_at,
    )
