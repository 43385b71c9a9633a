"""What the help says first: of the pane or dialog from which it was called, what it shows and its own keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.content import Content

from nuggets_tui.key_map import KeyMap


@dataclass(frozen=True)
class Here:
    """A place in the app: its name, what it shows, and keys with what they do there."""

    name: str
    about: str
    keys: tuple[tuple[str, str], ...] = ()

    def filled(self, keys: KeyMap) -> Here:
        """With the keys that commands have, in place of their names in braces."""
        does = tuple((keys.filled(key), keys.filled(said)) for key, said in self.keys)
        return Here(self.name, keys.filled(self.about), does)


PLACES: Final = {
    "search": Here(
        "Search",
        "Searches as you type, in words as you remember them: other forms, misspelt and unfinished words are read as "
        "those that the memory knows. The frame says how it was read. Below, “In the search box” lists what else "
        "may be typed.",
        (
            ("⏎ or ↓", "to the first hit"),
            ("tab", "take what is offered"),
            ("↑", "offer another"),
            ("esc", "leave; what was found stays. Once more clears the search"),
        ),
    ),
    "facts": Here(
        "Facts",
        "Short answers that agents recall by a key, under the nugget that holds them with a bar for how full it is. "
        "×3 behind a fact: recalled in three sessions.",
        (
            ("⏎", "the recall behind the fact: which key matched, how, how sure, and the runners-up"),
            ("{new_fact}", "remember a new fact in the nugget under the cursor"),
            ("{edit}", "edit the fact"),
            ("{hide}", "forget the fact, or bring it back"),
            (
                "{select}  shift+↑↓",
                "select facts, by the notes that mirror them: commands act on all of them",
            ),
        ),
    ),
    "notes": Here(
        "Notes, or Results while something is searched",
        "All notes in the order that the title names; while something is searched, the answer an agent would get, then "
        "the hits with the parts of their score as bars. The note under the cursor is shown in Note.",
        (
            ("⏎", "read it in Note"),
            ("{sort}", "another order"),
            ("{show_hidden}", "hidden notes too"),
            ("{why} {why_not}", "while searching: why the note is here, or why another is not"),
            ("{select}", "select the note, or let it go; in the gutter a click does, and with ctrl"),
            ("shift+↑↓", "select a range; so with page up and down, home, end, and a click"),
            ("{select_all}", "select all that the list shows, or let them go; esc lets all go"),
        ),
    ),
    "note": Here(
        "Note",
        "The text of one note, and what is known of it: nugget, kind, how sure, from whom, how often recalled, tags, "
        "when it was made, changed and read, and by whom or in which session where that is known.",
        (
            ("↑ ↓", "scroll"),
            ("{edit} {edit_outside}", "edit it here, or in $EDITOR"),
            ("{tags} {pin} {hide}", "tags; pin; hide or bring back"),
            ("{back}", "back to the note before"),
        ),
    ),
    "neighbours": Here(
        "Neighbours",
        "Links out of the note (→), links into it (←) with the reason and age of each, and suggested links (+).",
        (
            ("⏎", "go to the other note"),
            ("{back}", "come back"),
            ("{accept}", "make the suggested link under the cursor"),
            ("{link}", "link to a note of your choice"),
        ),
    ),
    "graph": Here(
        "Graph",
        "The notes around the one shown in Note, up to three links away. The line by which the cursor came is heavy, "
        "and words at the line and below say why that link is there. Or the whole memory as points, in discs of what "
        "belongs together by nugget, tags and links (• a note, ◆ a fact, ● several, ○ hidden, where there is room).",
        (
            ("← →", "walk along a link"),
            ("↑ ↓", "to the next note of the column"),
            ("⏎", "put the note under the cursor in the middle"),
            ("{fewer_hops} {more_hops}", "one link less, one link more"),
            ("+ -", "nearer and farther away: titles, boxes, boxes with tags and first line"),
            ("{graph}", "fill the screen, and back"),
            ("{overview}", "the whole memory as points, and back"),
            ("shift+arrows n", "there: to the next community; this nugget alone"),
        ),
    ),
    "audit": Here(
        "Audit log",
        "Everything that ever changed, newest first: when, who, what, and what became of it. Recalls are left out.",
        (
            ("⏎", "open the entry: what changed line by line, and taking it back"),
            ("{log_of_note}", "only what concerns the note shown, or everything"),
            ("{log_recalls}", "recalls too"),
            ("{log_filter}", "by author, kind, note, run, words and days; esc lets that go"),
            ("{conflicts}", "settle a conflict that waits"),
        ),
    ),
}


def dialog_here(name: str, about: str, line: Content) -> Here:
    """A dialog as a place, its keys read off the line at its bottom, where they are set apart by their style."""
    starts = sorted((span.start, span.end) for span in line.spans if "bold" in str(span.style))
    ends = [*(start for start, _ in starts), len(line.plain)][1:]
    pairs = [
        (line.plain[start:stop], line.plain[stop:end].strip())
        for (start, stop), end in zip(starts, ends, strict=True)
    ]
    return Here(name, about, tuple(pairs))
