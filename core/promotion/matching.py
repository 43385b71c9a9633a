"""Matches notes with the bullets of a page: what to add, update or remove, and what a person edited."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.model.note import Note
from core.model.progress import Progress, counted, watched
from core.model.promoted import Target, WrittenText
from core.promotion.bullet import bullet, plain_lines, title_of
from core.promotion.choose import Fits, everything, often_recalled, section_of, unfit
from core.promotion.page import Bullet, MarkdownPage
from core.promotion.refusal import mark_of
from core.promotion.result import EntryStatus, PromotionEntry, shown
from core.promotion.written import OurTexts, written_text
from core.settings import PromotionSettings

_EDITED: Final = "edited by hand"
# The line below the heading of a page that promotion began, the original's or ours.
_BEGAN: Final = re.compile(r"Auto-promoted from nuggets? graph notes\b")


@dataclass(frozen=True)
class EntryProposal:
    """An entry with what carries it out: (start, end, new lines) in the page, and lines that its section gets.

    marks: what refusals are remembered by, the first for a new one. remembered: what is kept of the text once it is
    done.
    """

    entry: PromotionEntry
    marks: tuple[str, ...]
    edits: tuple[tuple[int, int, list[str]], ...] = ()
    fresh: tuple[str, ...] = ()
    remembered: WrittenText | None = None


class Matching:
    """One page and the notes of a memory. Every bullet is claimed by one note at most.

    A bullet that says just what we once wrote is ours, to the last of those lines, wherever a person moved it. Without
    a memory of it, one of a note's title in the note's section is.
    """

    def __init__(
        self,
        page: MarkdownPage,
        notes: Iterable[Note],
        target: Target,
        settings: PromotionSettings,
        progress: Progress | None = None,
        fits: Fits = everything,
    ) -> None:
        self._progress = progress
        self._page = page
        self._path = target.path
        self._ours = OurTexts(page, target.texts)
        # Without a memory of the page, what bears a note's title there is ours on a page that promotion began, and a
        # person's on any other.
        began = any(_BEGAN.match(line) for line in page.bare)
        self._trusts_titles = began and not (target.texts or target.at)
        known = list(notes)
        self._by_id = {note.id: note for note in known}
        self._why = {
            note.id: unfit(note) for note in watched(known, progress) if self._concerns(note, settings)
        }
        concerned = [note for note in known if note.id in self._why]
        # What stands there of a note that belongs elsewhere stays as it is.
        self._live = [note for note in concerned if not self._why[note.id] and fits(note)]
        # What stands there is kept up to date, but nothing is added that is not recalled often.
        self._often = {note.id for note in concerned if often_recalled(note, settings)}
        self._gone = [note for note in concerned if self._why[note.id]]
        self._free: dict[tuple[str, str], list[Bullet]] = defaultdict(list)
        self._by_title: dict[str, list[str]] = defaultdict(list)
        swallowed = self._swallowed(concerned)
        for found in page.bullets:
            if found.line not in swallowed:
                self._free[found.section, found.title].append(found)
                self._by_title[found.title].append(found.section)
        self._said: set[tuple[str, ...]] = set()
        self._made: list[EntryProposal] = []

    def proposals(self) -> list[EntryProposal]:
        """All entries, those that stay as they are among them."""
        progress = self._progress
        waiting = [n for n in counted(self._live, progress) if not self._stands_in(section_of(n), n)]
        waiting = [n for n in watched(waiting, progress) if not self._stands_elsewhere(n)]
        waiting = [
            n for n in watched(waiting, progress) if not self._repeated(n) and not self._updates_own(n)
        ]
        waiting = [
            n for n in watched(waiting, progress) if not self._repeated(n) and not self._updates_namesake(n)
        ]
        self._take_out_gone()
        for note in watched(waiting, progress):
            if note.id in self._often and not self._repeated(note):
                lines = bullet(note)
                self._propose(note, "new", section_of(note), lines, fresh=tuple(lines))
        return self._made

    def _concerns(self, note: Note, settings: PromotionSettings) -> bool:
        often = often_recalled(note, settings) and bool(note.content.strip())
        return often or note.id in self._ours.by_note

    def _swallowed(self, notes: Sequence[Note]) -> set[int]:
        """Lines that look like bullets but belong to the text of a note above them."""
        by_title: dict[str, list[Note]] = defaultdict(list)
        for note in notes:
            by_title[title_of(note)].append(note)
        ours = {
            line
            for found in self._page.bullets
            for text in self._ours.of(found)
            for line in range(found.line + 1, found.line + text.lines)
        }
        return ours | {
            line
            for found in self._page.bullets
            for note in by_title.get(found.title, ())
            for line in range(found.line + 1, self._end(found, note))
        }

    # Notes that are to stand there

    def _stands_in(self, section: str, note: Note) -> bool:
        """Whether a section says just what the note says, and is where the note belongs or a person put it."""
        for found in self._free[section, title_of(note)]:
            lines = bullet(note, found.marker)
            if not self._says(found, lines) or self._said_more(found, note, len(lines)):
                continue
            self._claim(found)
            text = self._ours.of_note(found, note.id)
            if self._to_move(found, text, note):
                self._move(note, found, len(lines))
            else:
                home = text.section if text is not None else section_of(note)
                self._propose(note, "unchanged", section, lines, there=(found, len(lines)), home=home)
            return True
        return False

    def _said_more(self, found: Bullet, note: Note, count: int) -> bool:
        """Whether a bullet says a longer text that we once wrote for a note: its last lines are to go."""
        return any(text.note_id == note.id and text.lines > count for text in self._ours.of(found))

    def _stands_elsewhere(self, note: Note) -> bool:
        return any(self._stands_in(section, note) for section in self._by_title[title_of(note)])

    def _to_move(self, found: Bullet, text: WrittenText | None, note: Note) -> bool:
        """Whether a bullet stands where we put it though its note belongs elsewhere by now."""
        if text is None or text.section != found.section or found.section == section_of(note):
            return False
        return not self._ours.hangs_below(found.line + text.lines)

    def _repeated(self, note: Note) -> bool:
        """Whether another note of the section has the same title and text."""
        return (section_of(note), *bullet(note)) in self._said

    def _updates_own(self, note: Note) -> bool:
        """Whether a bullet says what we once wrote for this note, under whatever title."""
        best: tuple[bool, int] | None = None
        chosen: tuple[Bullet, WrittenText] | None = None
        for title in {text.title for text in self._ours.by_note.get(note.id, ())}:
            for section in self._by_title[title]:
                for found in self._free[section, title]:
                    text = self._ours.of_note(found, note.id)
                    rank = (section != section_of(note), found.line)
                    if text is not None and (best is None or rank < best):
                        best, chosen = rank, (found, text)
        if chosen is None:
            return False
        found, text = chosen
        self._claim(found)
        if self._to_move(found, text, note):
            self._move(note, found, text.lines)
            return True
        self._replace(note, found, found.line + text.lines, "updated", home=text.section)
        return True

    def _updates_namesake(self, note: Note) -> bool:
        """Whether a bullet that may be ours bears the note's title in its section, or once did.

        One that a person edited since stays theirs, unless they say otherwise.
        """
        section, title = section_of(note), title_of(note)
        bullets = self._free[section, title] if note.id in self._often else []
        for found in bullets:
            if self._ours.of(found) or self._trusts_titles:
                self._claim(found)
                self._replace(note, found, self._end(found, note), "updated")
                return True
        edited = bullets[0] if bullets else self._edited_of(note.id)
        if edited is None:
            return False
        self._claim(edited)
        ours_once = (edited.section, edited.title) in self._ours.places
        reason = _EDITED if ours_once else "written by someone else"
        self._replace(note, edited, self._end(edited, note), "edited", reason=reason)
        return True

    def _edited_of(self, note_id: str) -> Bullet | None:
        """A bullet that stands where we wrote one for the note and says something else by now."""
        places = [(text.section, text.title) for text in reversed(self._ours.by_note.get(note_id, ()))]
        return next(
            (found for place in places for found in self._free[place] if not self._ours.of(found)), None
        )

    def _move(self, note: Note, found: Bullet, count: int) -> None:
        lines = bullet(note, found.marker)
        reason = f'moves here from "{found.section}"'
        self._propose(
            note, "updated", section_of(note), lines, there=(found, count), reason=reason,
            edits=((found.line, found.line + count, []),), fresh=tuple(lines),
        )  # fmt: skip

    def _replace(
        self, note: Note, found: Bullet, end: int, status: EntryStatus, *, home: str = "", reason: str = ""
    ) -> None:
        lines = bullet(note, found.marker)
        if status == "updated" and found.title != title_of(note):
            reason = f'renamed from "{found.title}"'
        self._propose(
            note, status, found.section, lines, there=(found, end - found.line), home=home, reason=reason,
            edits=((found.line, end, lines),),
        )  # fmt: skip

    def _propose(
        self,
        note: Note,
        status: EntryStatus,
        section: str,
        lines: list[str],
        *,
        there: tuple[Bullet, int] | None = None,
        home: str = "",
        reason: str = "",
        edits: tuple[tuple[int, int, list[str]], ...] = (),
        fresh: tuple[str, ...] = (),
    ) -> None:
        """there: the bullet that stands for the note now, and its lines. home: the section that we put it into."""
        marker = there[0].marker if there is not None else "- "
        before = self._text(there[0].line, there[0].line + there[1]) if there is not None else ""
        after = "\n".join(lines)
        plain = after[len(marker) :]
        marks = [mark_of(self._path, "write", section_of(note), plain)]
        if status == "edited":
            marks.insert(0, mark_of(self._path, "replace", section_of(note), plain, before))
        self._said.add((section_of(note), *bullet(note)))
        entry = PromotionEntry(
            f"{status}-{marks[0]}",
            shown(section),
            title_of(note),
            note.id,
            status,
            note.hits,
            after,
            before,
            reason,
        )
        remembered = written_text(note.id, home or section_of(note), title_of(note), lines, marker)
        self._made.append(EntryProposal(entry, tuple(marks), edits, fresh, remembered))

    # Notes that are not to stand there any more

    def _take_out_gone(self) -> None:
        for note_id in self._ours.by_note:
            if note_id not in self._by_id or self._why.get(note_id):
                self._take_out_ours(note_id)
        for note in self._gone:
            if note.id not in self._ours.by_note:
                self._take_out_alike(note)

    def _take_out_ours(self, note_id: str) -> None:
        """Takes out the bullets that we wrote for a note; what a person put on them, or made of them, is shown."""
        reason = self._why.get(note_id) or "deleted"
        places = {(text.section, text.title) for text in self._ours.by_note[note_id]}
        titles = dict.fromkeys(title for _, title in sorted(places))
        for title in titles:
            for section in list(dict.fromkeys(self._by_title[title])):
                for found in list(self._free[section, title]):
                    text = self._ours.of_note(found, note_id)
                    if text is not None:
                        self._remove(note_id, found, found.line + text.lines, reason)
        edited = self._edited_of(note_id)
        if edited is not None:
            self._remove(note_id, edited, self._ours.own_end(edited.line), reason, edited=True)

    def _take_out_alike(self, note: Note) -> None:
        """Takes out the bullet of a note of which nothing is remembered, if it is as we wrote it to the last line."""
        for found in list(self._free[section_of(note), title_of(note)]):
            lines = bullet(note, found.marker)
            end = found.line + len(lines)
            if self._says(found, lines) and self._ours.own_end(found.line) == end:
                self._remove(note.id, found, end, self._why[note.id], edited=not self._trusts_titles)
                return

    def _remove(self, note_id: str, found: Bullet, end: int, reason: str, *, edited: bool = False) -> None:
        self._claim(found)
        edited = edited or self._ours.hangs_below(end)
        status: EntryStatus = "edited" if edited else "removed"
        note = self._by_id.get(note_id)
        before = self._text(found.line, end)
        mark = mark_of(self._path, "remove", found.section, before[len(found.marker) :])
        said = f"{_EDITED}, and its note is {reason}" if edited else reason
        entry = PromotionEntry(
            f"{status}-{mark}", shown(found.section), shown(found.title), note_id, status,
            note.hits if note else 0, "", before, said,
        )  # fmt: skip
        remembered = None
        if not edited:
            lines = [line.rstrip() for line in self._page.bare[found.line : end]]
            remembered = written_text(note_id, found.section, found.title, lines, found.marker)
        self._made.append(EntryProposal(entry, (mark,), ((found.line, end, []),), remembered=remembered))

    # The page

    def _claim(self, found: Bullet) -> None:
        self._free[found.section, found.title].remove(found)

    def _says(self, found: Bullet, lines: list[str]) -> bool:
        """Whether a bullet begins with just these lines; what was put below them is no matter."""
        there = self._page.bare[found.line : found.line + len(lines)]
        return [line.rstrip() for line in there] == lines

    def _end(self, found: Bullet, note: Note) -> int:
        """The line below a bullet that we or the original wrote, of which nothing is remembered.

        The original writes the lines of a note's content unindented; they are its own where they are just those.
        """
        ours = self._ours.of(found)
        if ours:
            return found.line + ours[0].lines
        rest = plain_lines(note)[1:]
        below = [line.strip() for line in self._page.bare[found.line + 1 : found.line + 1 + len(rest)]]
        return found.line + 1 + len(rest) if rest and below == rest else self._ours.own_end(found.line)

    def _text(self, start: int, end: int) -> str:
        return shown("\n".join(line.rstrip() for line in self._page.bare[start:end]))


def distinct(proposals: Sequence[EntryProposal]) -> Iterator[EntryProposal]:
    """The proposals with ids of their own: equal ones are numbered."""
    counts: dict[str, int] = defaultdict(int)
    for one in proposals:
        counts[one.entry.id] += 1
        number = counts[one.entry.id]
        yield one if number == 1 else replace(one, entry=replace(one.entry, id=f"{one.entry.id}-{number}"))
