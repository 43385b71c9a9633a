"""Matches notes with the bullets of a page: what to add, update or remove, and what a person edited."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from core.model.note import Note
from core.model.progress import Progress, counted, watched
from core.model.promoted import Target, WrittenText
from core.promotion.bullet import bullet, title_of
from core.promotion.choose import Admission, often_recalled, section_of, unfit
from core.promotion.refusal import mark_of
from core.promotion.result import EntryStatus, PromotionEntry, shown
from core.settings import PromotionSettings
from core.text.memory_page import Bullet, MarkdownPage, digest_of

_EDITED: Final = "edited by hand"
# The line below the heading of a page that promotion began, the original's or ours.
_BEGAN: Final = re.compile(r"Auto-promoted from nuggets? graph notes\b")


class Proposal(msgspec.Struct, frozen=True):
    """An entry with what carries it out.

    marks: what refusals are remembered by, the first for a new one. there: the bullet that goes or is replaced; lines:
    what is written, in its place or, where `moves`, in the entry's section. wrote: what is remembered once it is done.
    """

    entry: PromotionEntry
    marks: tuple[str, ...]
    there: Bullet | None
    lines: tuple[str, ...]
    moves: bool
    wrote: WrittenText | None


class Matching:
    """One page and the notes of a memory. Every bullet is claimed by one note at most.

    A bullet is ours while it says what we last wrote for its note, wherever a person moved it.
    """

    def __init__(
        self, page: MarkdownPage, notes: Iterable[Note], target: Target, settings: PromotionSettings,
        admission: Admission, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self._page, self._path, self._admission, self._progress = page, target.path, admission, progress
        self._texts = {text.note_id: text for text in target.texts}
        self._notes = {note.id: note for note in notes}
        self._often = {id for id, note in self._notes.items() if often_recalled(note, settings)}
        # Without a memory of the page, what bears a note's title there is ours on a page that promotion began, and a
        # person's on any other.
        began = any(_BEGAN.match(line) for line in page.bare)
        self._trusts_titles = began and not (target.texts or target.at)
        self._by_title: dict[str, list[Bullet]] = defaultdict(list)
        for found in page.bullets:
            self._by_title[found.title].append(found)
        self._said: set[tuple[str, ...]] = set()
        self._made: list[Proposal] = []

    def proposals(self) -> list[Proposal]:
        """All proposals, those for what stays as it is among them; ids of equal ones are numbered."""
        concerned = [n for n in self._notes.values() if n.id in self._often or n.id in self._texts]
        why = {note.id: self._why_not(note) for note in watched(concerned, self._progress)}
        waiting = [note for note in concerned if not why[note.id]]
        for match in (self._stands, self._says_it, self._bears_its_title, self._said_already):
            waiting = [note for note in counted(waiting, self._progress) if not match(note)]
        for id in dict.fromkeys((*self._texts, *why)):
            if id not in why or why[id]:
                self._take_out(id, why.get(id, "deleted"))
        for note in waiting:
            fit = self._admission.unasked(note) and not self._admission.outdated(note)
            if note.id in self._often and fit and not self._said_already(note):
                self._propose(note, "new", None)
        return list(self._numbered())

    def _why_not(self, note: Note) -> str:
        owner = self._admission.owner(note)
        known = self._admission.takes_out and note.id in self._texts
        gone = "about code that is gone" if known and self._admission.outdated(note) else ""
        return unfit(note) or (f"of project {owner}" if owner else gone)

    # Notes that are to stand there

    def _stands(self, note: Note) -> bool:
        """Whether a bullet says what we last wrote for a note."""
        text = self._texts.get(note.id)
        found = self._ours(text) if text else None
        if found is None or text is None:
            return False
        left_there = found.section == text.section and not self._hangs_below(found)
        if left_there and found.section != section_of(note):
            self._propose(note, "updated", found, reason=f'moves here from "{found.section}"', moves=True)
            return True
        same = digest_of(bullet(note, found.marker), found.marker) == text.digest
        renamed = f'renamed from "{found.title}"' if found.title != title_of(note) else ""
        self._propose(note, "unchanged" if same else "updated", found, reason=renamed, home=text.section)
        return True

    def _ours(self, text: WrittenText) -> Bullet | None:
        found = [one for one in self._by_title[text.title] if self._page.digest(one) == text.digest]
        return min(found, key=lambda one: (one.section != text.section, one.line), default=None)

    def _says_it(self, note: Note) -> bool:
        """Whether a bullet that we know nothing of says what the note says, in its section or elsewhere."""
        said = digest_of(bullet(note), "- ")
        found = [one for one in self._by_title[title_of(note)] if self._page.digest(one) == said]
        if not found:
            return False
        best = min(found, key=lambda one: (one.section != section_of(note), one.line))
        self._propose(note, "unchanged", best, home=section_of(note))
        return True

    def _bears_its_title(self, note: Note) -> bool:
        """Whether a bullet bears the note's title in its section, or stands where we wrote one: it is a person's by
        now. On a page that promotion began and nothing is remembered of, it is ours, as far as it is indented.
        """
        found = self._edited(note.id, (section_of(note), title_of(note)) if note.id in self._often else None)
        if found is None:
            return False
        lines = bullet(note, found.marker)
        begins = self._page.bare[found.line : found.line + len(lines)]
        if self._trusts_titles and digest_of(begins, found.marker) != digest_of(lines, found.marker):
            below = range(found.line + 1, found.end)
            end = next((line for line in below if not self._page.bare[line][0].isspace()), found.end)
            self._propose(note, "updated", found, end=end)
        else:
            reason = _EDITED if note.id in self._texts else "written by someone else"
            self._propose(note, "edited", found, reason=reason)
        return True

    def _edited(self, note_id: str, place: tuple[str, str] | None) -> Bullet | None:
        text = self._texts.get(note_id)
        ours = {one.digest for one in self._texts.values()}
        for section, title in filter(None, (place, (text.section, text.title) if text else None)):
            for found in self._by_title[title]:
                if found.section == section and self._page.digest(found) not in ours:
                    return found
        return None

    def _said_already(self, note: Note) -> bool:
        """Whether another note of the section has the same title and text."""
        return (section_of(note), *bullet(note)) in self._said

    def _propose(
        self, note: Note, status: EntryStatus, there: Bullet | None, *, reason: str = "", home: str = "",
        moves: bool = False, end: int | None = None,
    ) -> None:  # fmt: skip
        """home: the section that we put it into. end: the line below those of the bullet that are ours."""
        marker = there.marker if there is not None else "- "
        lines = bullet(note, marker)
        before = ""
        if there is not None:
            self._by_title[there.title].remove(there)
            there = there if end is None else dataclasses.replace(there, end=end)
            before = self._text(there)
        own, plain = section_of(note), "\n".join(lines)[len(marker) :]
        marks = [mark_of(self._path, "write", own, plain)]
        if status == "edited":
            marks.insert(0, mark_of(self._path, "replace", own, plain, before))
        self._said.add((own, *bullet(note)))
        section = there.section if there is not None and not moves else own
        entry = PromotionEntry(
            f"{status}-{marks[0]}", shown(section), title_of(note), note.id, status, note.hits,
            "\n".join(lines) if status != "unchanged" else before, before, reason,
        )  # fmt: skip
        wrote = WrittenText(note.id, home or section, title_of(note), digest_of(lines, marker))
        self._made.append(Proposal(entry, tuple(marks), there, tuple(lines), moves, wrote))

    # Notes that are not to stand there any more

    def _take_out(self, note_id: str, reason: str) -> None:
        """Takes out the bullet of a note; one that a person edited, or put something on, is shown."""
        text, note = self._texts.get(note_id), self._notes.get(note_id)
        found, edited = (self._ours(text) if text else None), False
        if found is None and text is not None:
            found, edited = self._edited(note_id, None), True
        elif found is None and note is not None:
            said = digest_of(bullet(note), "- ")
            same = (one for one in self._by_title[title_of(note)] if one.section == section_of(note))
            found = next((one for one in same if self._page.digest(one) == said), None)
            edited = not self._trusts_titles
        if found is None:
            return
        edited = edited or self._hangs_below(found)
        self._by_title[found.title].remove(found)
        before = self._text(found)
        mark = mark_of(self._path, "remove", found.section, before[len(found.marker) :])
        entry = PromotionEntry(
            f"{'edited' if edited else 'removed'}-{mark}", shown(found.section), shown(found.title), note_id,
            "edited" if edited else "removed", note.hits if note else 0, "", before,
            f"{_EDITED}, and its note is {reason}" if edited else reason,
        )  # fmt: skip
        self._made.append(Proposal(entry, (mark,), found, (), False, None))

    # The page

    def _text(self, found: Bullet) -> str:
        return shown("\n".join(line.rstrip() for line in self._page.bare[found.line : found.end]))

    def _hangs_below(self, found: Bullet) -> bool:
        """Whether somebody's text hangs on a bullet: the next line that says anything is indented."""
        page = self._page
        below = next((line for line in range(found.end, len(page.bare)) if not page.blank(line)), None)
        return below is not None and page.bare[below].startswith(("  ", "\t"))

    def _numbered(self) -> Iterator[Proposal]:
        counts: dict[str, int] = defaultdict(int)
        for one in self._made:
            id = one.entry.id
            counts[id] += 1
            numbered = msgspec.structs.replace(one.entry, id=f"{id}-{counts[id]}")
            yield one if counts[id] == 1 else msgspec.structs.replace(one, entry=numbered)
