"""Tells our bullets from a person's by remembering the texts that we wrote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2s
from typing import Final

from core.model.promoted import WrittenText
from core.promotion.bullet import is_continuation
from core.promotion.page import Bullet, MarkdownPage

# An undo goes back a few texts of a note; what is older than that counts as a person's.
_TEXTS_OF_A_NOTE: Final = 8
_MOST_TEXTS: Final = 5_000


def written_text(note_id: str, section: str, title: str, lines: Sequence[str], marker: str) -> WrittenText:
    """A bullet, as lines without their ends, in the form in which it is remembered."""
    bare = [lines[0][len(marker) :], *lines[1:]]
    return WrittenText(note_id, section, title, len(bare), _digest(bare), _digest(map(str.strip, bare)))


def with_texts(former: Sequence[WrittenText], new: Iterable[WrittenText]) -> tuple[WrittenText, ...]:
    """What is remembered, with newer texts; the oldest of a note, and of all, go when they become many."""
    kept = {(text.note_id, text.digest): text for text in former}
    newest = {text.note_id: text for text in former}
    for text in new:
        if newest.get(text.note_id) != text:
            kept.pop((text.note_id, text.digest), None)
            kept[text.note_id, text.digest] = newest[text.note_id] = text
    counts: dict[str, int] = defaultdict(int)
    chosen = []
    for text in reversed(kept.values()):
        counts[text.note_id] += 1
        if counts[text.note_id] <= _TEXTS_OF_A_NOTE:
            chosen.append(text)
    return tuple(reversed(chosen[:_MOST_TEXTS]))


class OurTexts:
    """Which bullets of a page say just what we once wrote, and how many lines of them are ours."""

    def __init__(self, page: MarkdownPage, texts: Sequence[WrittenText]) -> None:
        self._page = page
        self.by_note: dict[str, list[WrittenText]] = defaultdict(list)
        self._by_title: dict[str, list[WrittenText]] = defaultdict(list)
        for text in texts:
            self.by_note[text.note_id].append(text)
            self._by_title[text.title].append(text)
        self.places = frozenset((text.section, text.title) for text in texts)
        self._found = {bullet.line: tuple(self._matching(bullet)) for bullet in page.bullets}

    def of(self, bullet: Bullet) -> tuple[WrittenText, ...]:
        """The texts that a bullet says, the newest first; empty for a bullet that is a person's."""
        return self._found[bullet.line]

    def of_note(self, bullet: Bullet, note_id: str) -> WrittenText | None:
        """The newest text of a note that a bullet says."""
        return next((text for text in self.of(bullet) if text.note_id == note_id), None)

    def own_end(self, start: int) -> int:
        """The line below those that can be ours by their looks."""
        page, end = self._page, start + 1
        while end < len(page.bare) and not page.opaque[end] and is_continuation(page.bare[end]):
            end += 1
        return end

    def hangs_below(self, end: int) -> bool:
        """Whether somebody's text hangs on the bullet that ends here: the next line that says anything is indented."""
        page = self._page
        below = next((line for line in range(end, len(page.bare)) if not page.blank(line)), None)
        return below is not None and page.bare[below].startswith(("  ", "\t"))

    def _matching(self, bullet: Bullet) -> Iterator[WrittenText]:
        for text in reversed(self._by_title.get(bullet.title, ())):
            newest = self.by_note[text.note_id][-1] is text
            # A longer text of ours that a person changed below its beginning is no older, shorter one.
            if self._says(bullet, text) and (newest or self.own_end(bullet.line) == bullet.line + text.lines):
                yield text

    def _says(self, bullet: Bullet, text: WrittenText) -> bool:
        lines = [line.rstrip() for line in self._page.bare[bullet.line : bullet.line + text.lines]]
        if len(lines) < text.lines:
            return False
        lines[0] = lines[0][len(bullet.marker) :]
        if _digest(lines) == text.digest:
            return True
        flat = not any(line[:1].isspace() for line in lines[1:])
        return text.lines > 1 and flat and _digest(map(str.strip, lines)) == text.loose


def _digest(lines: Iterable[str]) -> str:
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return blake2s(data, digest_size=12).hexdigest()
