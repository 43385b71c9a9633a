"""What the help says first: of the pane or dialog from which it was called, what it shows and its own keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from textual.content import Content

from nuggets_tui.key_map import KeyMap, commands_in


@dataclass(frozen=True)
class Here:
    """A place in the app: its name, what it shows, and keys with what they do there."""

    name: str
    about: str
    keys: tuple[tuple[str, str], ...] = ()

    def filled(self, keys: KeyMap, usable: Collection[str] | None = None) -> Here:
        """With the keys that commands have, in place of their names in braces. usable: commands that make sense now;
        keys of others are left out.
        """
        does = tuple(
            (keys.filled(key), keys.filled(said))
            for key, said in self.keys
            if usable is None or set(commands_in(key)) <= set(usable)
        )
        return Here(self.name, keys.filled(self.about), does)


PLACES: Final = {
    "search": Here(
        "Search",
        "Searches as you type. Other word forms, misspelt and unfinished words match too; the frame "
        'says how each was read. "In the search box" below lists what else you can type.',
        (
            ("⏎ or ↓", "go to the first hit"),
            ("tab", "accept the suggestion"),
            ("↑", "show another suggestion"),
            ("esc", "leave the box and keep the results; again clears the search"),
        ),
    ),
    "facts": Here(
        "Facts",
        "Short answers that agents recall by a key, grouped by nugget. The bar says how full the "
        "nugget is. 3× behind a fact: recalled in three sessions.",
        (
            ("⏎", "what an agent gets for this key: the match, how sure it is, and the runners-up"),
            ("{new_fact}", "add a fact to the nugget under the cursor"),
            ("{edit}", "edit the fact"),
            ("{hide}", "forget the fact; {undo} brings it back"),
            (
                "{select}  shift+↑↓",
                "select several facts; commands act on all of them",
            ),
        ),
    ),
    "notes": Here(
        "Notes, or Results while you search",
        'All notes, in the order named in the title; notes of facts only after the command "Show fact '
        'notes", as Facts lists them. While you search: the answer an agent would '
        "get, then the hits, with bars for the parts of their score. Note shows the note under the "
        "cursor.",
        (
            ("⏎", "read it in Note"),
            ("{sort}", "change the order"),
            ("{show_hidden}", "show hidden notes too"),
            ("{why}", "while you search: why the note is here"),
            ("{why_not}", "while you search: why another note is missing"),
            (
                "{select}",
                "select or deselect the note and move down; a click in the gutter or ctrl+click selects, too",
            ),
            ("shift+↑↓", "select a range; shift also works with page up, page down, home, end and a click"),
            ("{select_all}", "select or deselect all in the list; esc deselects all"),
        ),
    ),
    "note": Here(
        "Note",
        "The text of one note with its nugget, type, confidence, source, recalls and tags. Below: "
        "when it was created, changed and read, and by whom, where that is known.",
        (
            ("↑ ↓", "scroll"),
            ("{edit}", "edit it here"),
            ("{edit_outside}", "edit it in $EDITOR"),
            ("{tags} {hide}", "tags; hide or bring back"),
            ("{pin}", "pin it: reflection leaves it alone"),
            ("{back}", "back to the previous note"),
        ),
    ),
    "neighbours": Here(
        "Neighbours",
        "Links from the note (→) and to it (←), each with its reason and age, and suggested links (+).",
        (
            ("⏎", "go to the other note"),
            ("esc", "go back"),
            ("{hide}", "hide the other note, or unlink it"),
            ("{accept}", "accept the suggested link under the cursor"),
            ("{link}", "link the other note to a note of your choice"),
        ),
    ),
    "graph": Here(
        "Graph",
        "The notes around the one shown in Note, up to three links away. The heavy line is the link "
        "to the note under the cursor; its reason stands below. The overview shows the whole memory as "
        "points, grouped by nugget, tags and links (• a note, ◆ a fact, ● several, ○ hidden), with the names "
        "of the largest groups.",
        (
            ("← →", "follow a link"),
            ("↑ ↓", "go to the next note of the column"),
            ("⏎", "put the note under the cursor in the middle"),
            ("{fewer_hops} {more_hops}", "one hop fewer, one hop more"),
            ("{graph}", "fill the screen, and back"),
            ("{overview}", "the overview, and back"),
            (
                "+ -  shift+arrows  n",
                "in the overview: zoom; go to the next community; show this nugget only",
            ),
        ),
    ),
    "audit": Here(
        "Audit log",
        "Every change, newest first: when, who, what, and whether it was undone. Recalls are left out.",
        (
            ("⏎", "open the entry: see what changed line by line"),
            ("{undo}", "undo the entry under the cursor; you see first what that takes back"),
            ("{log_of_note}", "show this note's entries only, or everything"),
            ("{log_recalls}", "show recalls too"),
            ("{log_filter}", "filter by author, kind, note, run, words and days; esc clears it"),
            ("{conflicts}", "resolve a waiting conflict"),
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
