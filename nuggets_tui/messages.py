"""What the widgets of the main screen say to it; it alone changes the state they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from core.search.results import Passage
    from core.text.file_references import FileReference


@dataclass(eq=False, repr=False)
class NotePicked(Message):
    """A note is to be shown in Note; none, with the id "", for a fact without a note. `follow`: it was opened on
    purpose, so the one before can be gone back to.
    """

    note_id: str
    follow: bool = False


@dataclass(eq=False, repr=False)
class PassageWanted(Message):
    """A part of a document is to be shown, with its whole text."""

    passage: Passage


@dataclass(eq=False, repr=False)
class NotesSelected(Message):
    """Other notes are selected in a pane, which is asked for them when this is heard: more may have come."""

    pane: str


@dataclass(eq=False, repr=False)
class PaneWanted(Message):
    """A pane is to get the cursor (and, where only one is shown, the space)."""

    pane: str


@dataclass(eq=False, repr=False)
class SearchTyped(Message):
    """The text of the search box is now this."""

    text: str


@dataclass(eq=False, repr=False)
class TagWanted(Message):
    """The notes with a tag are to be listed."""

    tag: str


@dataclass(eq=False, repr=False)
class SearchLeft(Message):
    """The cursor leaves the search box: to the first hit, or back to where it was."""

    to_results: bool


@dataclass(eq=False, repr=False)
class FactOpened(Message):
    """The recall behind a fact is to be shown."""

    nugget: str
    key: str


@dataclass(eq=False, repr=False)
class FileWanted(Message):
    """A file that a note speaks of is to be opened in the editor."""

    reference: FileReference


@dataclass(eq=False, repr=False)
class EntryOpened(Message):
    """An entry of the audit log is to be shown whole."""

    entry_id: str


@dataclass(eq=False, repr=False)
class MoreLogWanted(Message):
    """Older entries of the audit log are wanted: somebody comes near the end of those that were read."""
