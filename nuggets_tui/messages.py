"""What the widgets of the main screen say to it; it alone changes the state they show."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class NotePicked(Message):
    """A note is to be shown in Note. `follow`: it was opened on purpose, so the one before can be gone back to."""

    note_id: str
    follow: bool = False


@dataclass
class PaneWanted(Message):
    """A pane is to get the cursor (and, where only one is shown, the space)."""

    pane: str


@dataclass
class SearchTyped(Message):
    """The text of the search box is now this."""

    text: str


@dataclass
class SearchLeft(Message):
    """The cursor leaves the search box: to the first hit, or back to where it was."""

    to_results: bool


@dataclass
class FactOpened(Message):
    """The recall behind a fact is to be shown."""

    nugget: str
    key: str


@dataclass
class EntryOpened(Message):
    """An entry of the audit log is to be shown whole."""

    entry_id: str


@dataclass
class MoreLogWanted(Message):
    """Older entries of the audit log are wanted: somebody comes near the end of those that were read."""
