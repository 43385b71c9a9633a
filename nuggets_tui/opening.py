"""A memory on its way: opened in a thread, with what fills the first frame ahead of it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.places import home_of

if TYPE_CHECKING:
    from core.memory import Memory
    from core.projects import Project
    from core.settings import Settings
    from core.user_settings import UserSettings
    from nuggets_tui.quick_scan import QuickScan


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
        from nuggets_tui.quick_scan import begin_quick_scan

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
