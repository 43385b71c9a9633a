"""One promotion: choose notes, match them with the bullets that are there, and write what differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from core.errors import BrokenFileError
from core.model.change import PERSON, Author
from core.model.draft import Draft
from core.model.note import Note
from core.promotion.bullet import bullet, is_continuation, plain_lines, title_of
from core.promotion.choose import holds_secret, managed_sections, section_of, section_order, worth_promoting
from core.promotion.page import Bullet, Page, split_lines
from core.promotion.result import Entry, EntryStatus, PromotionResult, unified_diff
from core.promotion.write import line_end, replaced, with_bullets
from core.settings import PromotionSettings

_BYTE_ORDER_MARK: Final = "\ufeff"
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff")


def promote(
    draft: Draft,
    existing: bytes | None,
    path: str,
    settings: PromotionSettings | None = None,
    *,
    author: Author = PERSON,
) -> PromotionResult:
    """What MEMORY.md becomes when the notes that are recalled often enough are written into it.

    existing: the bytes of the file at `path`, None when there is none. A bullet is ours when it stands in the
    section of a note and bears the note's title; everything else stays byte for byte. A bullet of a note that
    was hidden or forgotten goes if it still says just what the note says. Promoting twice changes nothing
    more; the change set holds one file, or nothing. Raises BrokenFileError for a file that is no UTF-8 text.
    """
    settings = settings or PromotionSettings()
    text = _decoded(existing, path)
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    worth = [note for note in draft.notes() if worth_promoting(note, settings)]
    withheld = [note for note in worth if not note.hidden and holds_secret(note)]
    secret = {note.id for note in withheld}
    job = _Promotion(
        split_lines(text[len(mark) :]),
        [note for note in worth if not note.hidden and note.id not in secret],
        [note for note in worth if note.hidden],
    )
    managed = managed_sections(draft.notes())
    after = mark + "".join(job.written(managed, _header(settings)))
    if after != text:
        draft.put_file(path, existing, after.encode("utf-8", "surrogateescape"))
    entries = tuple(sorted(job.entries, key=lambda entry: section_order(entry.section)))
    return PromotionResult(
        path,
        entries,
        unified_diff(text, after, path),
        draft.change_set(_reason(entries), author=author, kind="promotion"),
        tuple(note.id for note in withheld),
    )


def _decoded(existing: bytes | None, path: str) -> str:
    if existing and (existing.startswith(_OTHER_ENCODINGS) or b"\0" in existing):
        raise BrokenFileError(
            "this is no UTF-8 text",
            where=path,
            kept="its bytes were left as they are",
            todo="save it as UTF-8 or name another folder",
        )
    return (existing or b"").decode("utf-8", "surrogateescape")


def _header(settings: PromotionSettings) -> list[str]:
    """The first lines of a new file, as the original writes them."""
    return [
        "# Memory",
        "",
        f"Auto-promoted from nugget graph notes ({settings.threshold}+ recalls across sessions).",
    ]


def _reason(entries: Iterable[Entry]) -> str:
    said = (("new", "added"), ("updated", "updated"), ("removed", "removed"))
    statuses = [entry.status for entry in entries]
    counts = [f"{word} {statuses.count(status)}" for status, word in said if status in statuses]
    return "promotion: " + (", ".join(counts) or "nothing to do")


class _Promotion:
    """Notes matched with the bullets of a page. `entries` says what becomes of each."""

    def __init__(self, lines: list[str], notes: list[Note], hidden: list[Note]) -> None:
        self._lines = lines
        self._page = Page(lines)
        self._notes = notes
        self._hidden = hidden
        self._free: dict[tuple[str, str], list[Bullet]] = defaultdict(list)
        self._sections: dict[str, list[str]] = defaultdict(list)
        swallowed = self._swallowed()
        for found in self._page.bullets:
            if found.line not in swallowed:
                self._free[found.section, found.title].append(found)
                self._sections[found.title].append(found.section)
        self._edits: list[tuple[int, int, list[str]]] = []
        self._said: set[tuple[str, ...]] = set()
        self.entries: list[Entry] = []

    def written(self, managed: frozenset[str], header: list[str]) -> list[str]:
        """The lines of the page with everything in place."""
        waiting = [note for note in self._notes if not self._stands_in(section_of(note), note)]
        waiting = [note for note in waiting if not self._stands_elsewhere(note)]
        waiting = [note for note in waiting if not self._repeated(note) and not self._updates(note)]
        for note in self._hidden:
            self._take_out(note)
        fresh: dict[str, list[str]] = defaultdict(list)
        for note in waiting:
            if not self._repeated(note):
                fresh[section_of(note)].extend(bullet(note))
                self._record(note, "new")
        lines = replaced(self._lines, self._edits)
        if fresh and not "".join(lines).strip():
            lines.extend(f"{line}{line_end(lines)}" for line in header)
        for section in sorted(fresh, key=section_order):
            lines = with_bullets(lines, section, fresh[section], managed.__contains__)
        return lines

    def _swallowed(self) -> set[int]:
        """Lines that look like bullets but belong to the text of a note above them."""
        by_title: dict[str, list[Note]] = defaultdict(list)
        for note in (*self._notes, *self._hidden):
            by_title[title_of(note)].append(note)
        return {
            line
            for found in self._page.bullets
            for note in by_title.get(found.title, ())
            for line in range(found.line + 1, self._end(found, note))
        }

    def _stands_in(self, section: str, note: Note) -> bool:
        """Whether a section says just what the note says."""
        for found in self._free[section, title_of(note)]:
            if self._says(found, bullet(note, found.marker)):
                self._free[section, title_of(note)].remove(found)
                self._record(note, "unchanged")
                return True
        return False

    def _stands_elsewhere(self, note: Note) -> bool:
        """Whether another section does, where a person may have moved the bullet."""
        return any(self._stands_in(section, note) for section in self._sections[title_of(note)])

    def _repeated(self, note: Note) -> bool:
        """Whether another note of the section has the same title and text."""
        return (section_of(note), *bullet(note)) in self._said

    def _updates(self, note: Note) -> bool:
        """Whether the section has a bullet of this title, which then gets the note's text."""
        bullets = self._free[section_of(note), title_of(note)]
        if not bullets:
            return False
        found = bullets.pop(0)
        self._edits.append((found.line, self._end(found, note), bullet(note, found.marker)))
        self._record(note, "updated")
        return True

    def _take_out(self, note: Note) -> None:
        """Takes out the bullet of a hidden note, if it is as we wrote it to the last line."""
        bullets = self._free[section_of(note), title_of(note)]
        for found in bullets:
            lines = bullet(note, found.marker)
            if self._says(found, lines) and self._own_end(found) == found.line + len(lines):
                self._edits.append((found.line, self._own_end(found), []))
                bullets.remove(found)
                self._record(note, "removed")
                return

    def _says(self, found: Bullet, lines: list[str]) -> bool:
        """Whether a bullet begins with just these lines; what was put below them is no matter."""
        there = self._page.bare[found.line : found.line + len(lines)]
        return [line.rstrip() for line in there] == lines

    def _own_end(self, found: Bullet) -> int:
        end = found.line + 1
        while end < len(self._lines) and not self._page.opaque[end] and is_continuation(self._page.bare[end]):
            end += 1
        return end

    def _end(self, found: Bullet, note: Note) -> int:
        """The line below a bullet that we or the original wrote.

        The original writes the lines of a note's content unindented; they are its own where they are just those.
        """
        rest = plain_lines(note)[1:]
        below = [line.strip() for line in self._page.bare[found.line + 1 : found.line + 1 + len(rest)]]
        return found.line + 1 + len(rest) if rest and below == rest else self._own_end(found)

    def _record(self, note: Note, status: EntryStatus) -> None:
        if status != "removed":
            self._said.add((section_of(note), *bullet(note)))
        self.entries.append(Entry(section_of(note), title_of(note), note.id, status))
