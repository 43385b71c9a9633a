"""How one program keeps notes as pages of Markdown: what a page says, and how it is changed and made. Pure.

A module with these functions is a dialect: `claude_pages`, `team_pages`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple, Protocol

from core.exchange.records import Reference
from core.model.infer import MetaInput
from core.model.note import Note

# Why a note links to another where its page names no reason.
LINKED: Final = "linked"


class Said(NamedTuple):
    """What a page says of its note. names: by which other pages link to it, the surest first. links: to which names it
    links, and why. hidden: whether it says that its note is. nugget: "" for the dialect's. key: of a fact, "" for none.
    created, updated: ISO 8601, "" when it does not say.
    """

    title: str
    content: str
    meta: MetaInput = MetaInput()
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    links: tuple[Reference, ...] = ()
    created: str = ""
    updated: str = ""
    hidden: bool = False
    nugget: str = ""
    key: str = ""


class Dialect(Protocol):
    """What is asked of a kind of pages. NUGGET: what the notes belong to.

    WHOLE: whether a page says all of its note but recalls and times: tags, metadata, links, and whether it is hidden.
    What a hidden note's page says stays in the folder then, and the memory has nothing of a note that the page has not.
    """

    @property
    def NUGGET(self) -> str: ...

    @property
    def WHOLE(self) -> bool: ...

    def read_page(self, file: str, page: str, /) -> Said:
        """What a page says. Raises FormatError."""

    def changed_page(self, file: str, page: str, before: Note, after: Note, /) -> str:
        """A page that says what became of a note, its links aside; what stays as it was keeps its bytes. Raises
        FormatError.
        """

    def with_links(
        self, file: str, page: str, added: Collection[Reference], gone: Collection[Reference], /
    ) -> str:
        """A page that links to other names as well, and to some no more; the page itself where that is not said."""

    def new_page(self, file: str, note: Note, /) -> str:
        """A page for a note that has none yet, without its links."""

    def file_for(self, title: str, taken: Collection[str], /) -> str:
        """A name for a new page that no file has. taken: names in lower case."""


class Index(Protocol):
    """What is asked of a kind of pages of which one lists the others and may have words of its own. INDEX: its name."""

    @property
    def INDEX(self) -> str: ...

    def own_words(self, index: str, files: Collection[str], /) -> str:
        """The index without the lines that point to pages."""

    def places_of_words(self, index: str, files: Collection[str], /) -> tuple[int, ...]:
        """Where each part of its own words stands in the index."""

    def with_own_words(
        self, index: str, files: Collection[str], words: str, places: tuple[int, ...], /
    ) -> str:
        """The index with other words of its own. places: where they stood before, none where that is not known."""

    def entry_of(self, index: str, file: str, /) -> str:
        """The line of a page in the index, "" where it has none."""

    def with_entry(self, index: str, file: str, note: Note, line: str, places: tuple[int, ...], /) -> str:
        """The index with a line for a page. line, places: the lines that it had before, "" for none, and where."""

    def without_entry(self, index: str, file: str, /) -> tuple[str, str, tuple[int, ...]]:
        """The index without the lines of a page, those lines, and where they stood."""

    def with_other_entry(self, index: str, file: str, line: str, /) -> str:
        """The index with another line for a page that has one."""

    def retitled(self, line: str, title: str, /) -> str:
        """A line of the index in which the page bears another title."""
