"""What a person should be told of a memory's files and log: kept until somebody asks."""

from __future__ import annotations

from core.errors import NuggetsError


class Notices:
    """Notices, each once, in the order in which they came."""

    def __init__(self) -> None:
        self._notices: list[str] = []
        self._of_the_log = ""

    def say(self, notice: str) -> None:
        """Keeps a notice until somebody asks."""
        if notice not in self._notices:
            self._notices.append(notice)

    def tell(self, error: NuggetsError) -> None:
        """Keeps what went wrong aside from what was asked for. What was kept safe of that is not known here."""
        self.say(_told(error))

    def tell_of_log(self, error: NuggetsError) -> None:
        """Keeps that the log cannot be written, until it can be."""
        self._of_the_log = _told(error)

    def log_is_sound(self) -> None:
        """The log can be written: nothing is to be told of it."""
        self._of_the_log = ""

    def take(self) -> tuple[str, ...]:
        """The notices since the last call."""
        taken = tuple(dict.fromkeys([*self._notices, *filter(None, [self._of_the_log])]))
        self._notices, self._of_the_log = [], ""
        return taken


def _told(error: NuggetsError) -> str:
    head = f"{error.where}: {error.what}" if error.where else error.what
    return "; ".join(part for part in (head, error.todo) if part)
