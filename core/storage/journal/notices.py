"""What a person should be told of a memory's files and log: kept until somebody asks."""

from __future__ import annotations

from core.errors import Notice, NuggetsError


class Notices:
    """Notices, each once, in the order in which they came."""

    def __init__(self) -> None:
        self._notices: list[str] = []

    def add(self, notice: str) -> None:
        """Keeps a notice until somebody asks."""
        if notice not in self._notices:
            self._notices.append(notice)

    def add_error(self, error: NuggetsError) -> None:
        """Keeps what went wrong aside from what was asked for. What was kept safe of that is not known here."""
        self.add(Notice.of(error))

    def take(self, *others: str) -> tuple[str, ...]:
        """The notices since the last call, with others after them; each once."""
        taken = tuple(dict.fromkeys([*self._notices, *filter(None, others)]))
        self._notices = []
        return taken
