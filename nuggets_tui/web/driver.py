"""The driver of an app behind a page, which leaves as on `q` once its server is gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from textual.drivers.web_driver import WebDriver


class PageDriver(WebDriver):
    """Textual's own, for which a server that was killed is an error in whatever widget draws next."""

    _leaving = False

    def start_application_mode(self) -> None:
        with self._unless_gone():
            super().start_application_mode()

    def stop_application_mode(self) -> None:
        with self._unless_gone():
            super().stop_application_mode()

    def write(self, data: str) -> None:
        with self._unless_gone():
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        with self._unless_gone():
            super().write_meta(data)

    def write_binary_encoded(self, data: tuple[str | bytes, ...]) -> None:
        with self._unless_gone():
            super().write_binary_encoded(data)

    def run_input_thread(self) -> None:
        super().run_input_thread()
        self._leave()

    @contextmanager
    def _unless_gone(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        if not (self._leaving or self.exit_event.is_set()):
            self._leaving = True
            # Textual's driver takes this for the wish to leave, in whatever thread it comes up.
            os.kill(os.getpid(), signal.SIGTERM)
