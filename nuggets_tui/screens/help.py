"""Help: where you are first, then every key from the catalogue, what the words mean, and what the signs stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from nuggets_tui.commands import DEFAULT, GROUPS, PALETTE_KEY, KeyMap, keys_of
from nuggets_tui.screens.dialog import Dialog, Here
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_text import MUTED

# What the words of the app mean, and whether the thing can be taken back.
WORDS: Final = (
    ("forget (a fact)", "take it out of recall; its hidden note keeps it", "you can undo it"),
    (
        "hide, bring back",
        "take a note out of search and recall, and back; the file keeps it",
        "you can undo it",
    ),
    (
        "merge",
        "make one note of two: it keeps every line of both, the other is hidden with a link to it",
        "you can undo it",
    ),
    ("delete", "remove a note from the files; the audit log keeps it", "you can undo it from there"),
    ("recalled 7×", "in how many sessions an agent got it as an answer", ""),
    ("nugget", "a named collection of facts and notes, usually one for each project", ""),
    ("reflect", "propose a cleanup of the notes; nothing changes until you accept it", "you can undo it"),
    (
        "conflict",
        "a text that was changed in two ways; it waits in the audit log, and both versions are kept",
        "{conflicts} resolves it",
    ),
    ("promote", "propose lines for MEMORY.md from often recalled notes", "you can undo it"),
    (
        "score",
        "how well a hit fits: words + vector + boost + like (≈) + link (→); {why} explains it",
        "",
    ),
    (
        "pipeline",
        "turns submitted texts into notes, with a model; {pipeline} opens it, {origin} shows the "
        "text of a note",
        "you can undo it",
    ),
    (
        "proposal",
        "a change that the pipeline does not write without you; it waits in the Inbox ({inbox})",
        "",
    ),
    (
        "team's notes",
        "Markdown files in .nuggets/notes of the project you are in; a change of one changes its file",
        "you can undo it",
    ),
    ("share", "write a note of your own into the team's folder; you commit it with git", "you can undo it"),
    (
        "accept",
        "say that a note from a repository or a sync is right as it is; until then no agent gets it unasked",
        "you can undo it",
    ),
    ("sure", "how far the best answer is above noise, from 0 to 1", ""),
)
# What can be typed into the search box.
FILTERS: Final = (
    ("words", "notes that hold these words or similar ones, best first"),
    ('"exact words"', "notes with exactly these words come first"),
    ("+token", 'must have this word; also +"two words"; `code` is one phrase'),
    ("-staging", 'must not have this word; also -"two words" and -tag:old'),
    ("tag:auth", "with this tag; tag:a,b means either, tag:a tag:b means both"),
    ("title:jwt", 'with these words in the title; title:"two words"'),
    ("nugget:web", "in this nugget; also project:web, scope:project, type:preference, subject:login"),
    ("is:stale", "names code that moved or is gone since"),
    ("is:new", "new or changed since your last visit; Notes marks what others wrote as new"),
    ("is:hidden", "hidden notes only; also is:pinned, is:fact, is:note (no fact)"),
    ("is:secret", "seems to hold a credential"),
    ("has:links", "with links; also has:tags, has:recalls"),
    ("hits:>3", "recalled more than three times; hits:0 means never"),
    ("updated:<30d", "changed in the last 30 days; units h d w mo y; >1y means longer ago; also created:"),
    ("updated:>2026-01", "changed after that month; also a year, a day such as 2026-01-31, or today"),
    ("tab  →", "accept the suggestion; ↑ shows another; the line says how the query was read"),
    ("↑", "in the empty box: your last search; again for older ones"),
)
SIGNS: Final = (
    (
        "●  ◐  ◌",
        "live: the app watches the files; half: the system has no free watches, so it looks every second; "
        "hollow: the files cannot be read now",
    ),
    ("→  ←  +", "link from the note, link to it, suggested link"),
    ("◆", "a fact, or its note"),
    ("★", "pinned"),
    ("•  new", "changed a moment ago; written by others since your last visit"),
    ("✓", "a selected row"),
    ("⚿", "seems to hold a credential; {secrets} reviews and masks it"),
    ("⊘", "hidden"),
    ("a→b  b~", "in the results: you typed a, it was read as b; b~ where space is short"),
    ("3×", "recalled in three sessions"),
    ("↶", "undone, in whole or in part"),
    ("◈", "in the audit log: a reflection run"),
    ("◷", "time travel, read only: {time} starts it, esc returns to now"),
    (
        "○ ● ◔ ‖ ✗",
        "the pipeline: off or unused, all done, working, paused, stuck; {pipeline} opens it",
    ),
    ("!", "needs your decision"),
)


# The heading of what has a key of its own; the groups of the palette hold the rest.
DAILY: Final = "Keys for every day"
# And of what makes no sense where one is.
LATER: Final = "Not now: each of these needs something first"
_KEYS: Final = 13
_WORDS: Final = 18
_HEAD: Final = "bold $text-accent"


@dataclass(frozen=True)
class Section:
    """A heading, words below it, and what it explains; size: columns of what stands at the left."""

    heading: str
    entries: tuple[tuple[str, str], ...]
    size: int = _KEYS
    about: str = ""

    def only(self, words: Sequence[str]) -> Section | None:
        """What of it holds all the words, in small letters; the whole where they stand in the heading."""
        if all(word in self.heading.casefold() for word in words):
            return self
        found = tuple(
            entry for entry in self.entries if all(word in " ".join(entry).casefold() for word in words)
        )
        return Section(self.heading, found, self.size) if found else None


class HelpScreen(Dialog[None]):
    """A page to scroll and to look through. here: the place from which it was called, which comes first. usable: as
    in `help_sections`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "close", "close", show=False, id="help"),
        Binding("q", "close", "close", show=False),
        Binding("slash", "search", "find", show=False, id="search"),
    ]
    heading = "Keys, words and signs"
    keys = "{search}  find a word · ↑↓  scroll · esc  close"

    def __init__(self, here: Here | None = None, usable: Mapping[str, bool] | None = None) -> None:
        super().__init__(classes="large")
        self._here = here
        self._usable = usable
        self._sections: list[Section] = []

    def compose_inside(self) -> ComposeResult:
        field = Field("Find", id="search", hint="a word, such as hide or log")
        field.display = False
        yield field
        yield LineView(id="lines")

    def on_mount(self) -> None:
        self._sections = help_sections(keys_of(self), self._here, self._usable)
        self._show("")
        self.query_one(LineView).focus()

    def action_search(self) -> None:
        field = self.query_one("#search", Input)
        field.display = True
        field.focus()

    @on(Input.Changed, "#search")
    def search(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    @on(Input.Submitted, "#search")
    def read(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(LineView).focus()

    def _show(self, query: str) -> None:
        words = query.casefold().split()
        found = [part for section in self._sections if (part := section.only(words)) is not None]
        self.query_one(LineView).show_lines(lambda width: section_lines(found, width))

    def action_close(self) -> None:
        field = self.query_one("#search", Input)
        if not field.display:
            self.dismiss(None)
            return
        field.value = ""
        field.display = False
        self.query_one(LineView).focus()


def help_sections(
    keys: KeyMap = DEFAULT, here: Here | None = None, usable: Mapping[str, bool] | None = None
) -> list[Section]:
    """The whole help in parts, with the keys that commands have. usable: the commands that make sense now, each with
    whether its key counts; by default all do, and the keys of those that have them always.
    """
    sections = []
    if here is not None:
        at_hand = here.filled(keys, usable)
        sections.append(Section(f"Here: {at_hand.name}", at_hand.keys, about=at_hand.about))
    sections.append(Section("Moving", _moving(keys)))
    listed = [command for command in keys.commands if not command.name.startswith("pane_")]
    counts = {one.name: one.key_when is None for one in listed} if usable is None else usable
    daily = {one.name for one in listed if one.keys and counts.get(one.name)}
    sections.append(
        Section(DAILY, tuple((" ".join(one.shown_keys), one.title) for one in listed if one.name in daily))
    )
    for group in GROUPS:
        entries = tuple(
            (keys.key(one.name) if usable is None else f"{PALETTE_KEY[0]} {one.label}", one.title)
            for one in listed
            if one.group == group and one.name in counts and one.name not in daily
        )
        if entries:
            sections.append(Section(f"{group}, in {PALETTE_KEY[0]}", entries))
    later = tuple(
        (" ".join(one.shown_keys) or keys.key(one.name), one.title)
        for one in listed
        if one.name not in counts
    )
    if later:
        sections.append(Section(LATER, later))
    sections.append(Section("In the search box", FILTERS, _WORDS))
    words = ((word, f"{meaning}; {undone}" if undone else meaning) for word, meaning, undone in WORDS)
    sections.append(Section("Words", tuple((word, keys.filled(said)) for word, said in words), _WORDS))
    sections.append(Section("Signs", tuple((sign, keys.filled(said)) for sign, said in SIGNS)))
    return sections


def _moving(keys: KeyMap) -> tuple[tuple[str, str], ...]:
    panes = [keys.key(command.name) for command in keys.commands if command.name.startswith("pane_")]
    known = panes == [str(number) for number in range(1, len(panes) + 1)]
    move = ("h j k l", "move as the arrow keys do") if keys.vim else ("j k", "move down, up")
    return (
        (f"1 – {len(panes)}" if known else " ".join(panes), "go to a pane"),
        ("← → tab", "previous and next pane"),
        ("↑ ↓", "move; in the graph, all four arrow keys follow links"),
        move,
        (
            "esc",
            "go back one step: to the note or pane before; clear the search, close a dialog",
        ),
        ("ctrl+s", "save, apply"),
        (f"{keys.key('help')} f1", "help on the current pane or dialog, then everything else; f1 in a field"),
        (PALETTE_KEY[0], PALETTE_KEY[1] + ": type part of a name"),
        ("ctrl+q", "quit; asks where typed text is not saved. ctrl+c twice quits, too"),
    )


def section_lines(sections: Sequence[Section], width: int) -> list[Content]:
    """Parts of the help as lines of at most `width` cells."""
    if not sections:
        return [Content.styled("The help does not mention these words.", MUTED)]
    lines: list[Content] = []
    for section in sections:
        lines += [Content("")] if lines else []
        lines.append(Content.styled(section.heading, _HEAD))
        if section.about:
            wrapped = Content(section.about).wrap(max(width - 2, 8))
            lines += [*(Content.assemble("  ", line) for line in wrapped), Content("")]
        for left, right in section.entries:
            lines += _entry(left, right, section.size, width)
    return [part for line in lines for part in (line.wrap(width) if line.cell_length > width else [line])]


def _entry(left: str, right: str, size: int, width: int) -> list[Content]:
    """What is explained, and the explanation in a column of its own, wrapped where it must be."""
    head, indent = Content.styled(f"  {left:<{size}}", "bold"), 2 + size
    said = Content.styled(right, MUTED)
    parts = [part.rstrip() for part in said.wrap(width - indent)] if width >= indent + 8 else [said]
    if len(left) >= size:
        return [head, *(Content(" " * indent) + part for part in parts)]
    first, *more = parts or [Content("")]
    return [Content.assemble(head, first), *(Content(" " * indent) + part for part in more)]


PLACES: Final = {
    "search": Here(
        "Search",
        "Searches as you type. Other word forms, misspelt and unfinished words match too; the frame "
        'says how each was read. "In the search box" below lists what else you can type.',
        (
            ("⏎ or ↓", "go to the first hit"),
            ("tab", "accept the suggestion; ↑ shows another"),
            ("esc", "leave the box and keep the results; again clears the search"),
        ),
    ),
    "facts": Here(
        "Facts",
        "Short answers that agents recall by a key, grouped by nugget. The bar says how full the "
        "nugget is. 3× behind a fact: recalled in three sessions.",
        (("⏎", "what an agent gets for this key: the match, how sure it is, and the runners-up"),),
        ("new_fact", "edit", "hide", "select"),
    ),
    "notes": Here(
        "Notes, or Results while you search",
        'All notes, in the order named in the title; notes of facts only after the command "Show fact '
        'notes", as Facts lists them. While you search: the answer an agent would '
        "get, then the hits, with bars for the parts of their score. Note shows the note under the "
        "cursor.",
        (("⏎", "read it in Note"),),
        ("sort", "show_hidden", "why", "why_not", "select", "select_all"),
    ),
    "note": Here(
        "Note",
        "The text of one note with its nugget, type, confidence, source, recalls and tags. Below: "
        "when it was created, changed and read, and by whom, where that is known.",
        (("↑ ↓", "scroll"),),
        ("edit", "edit_outside", "tags", "hide", "pin", "back"),
    ),
    "neighbours": Here(
        "Neighbours",
        "Links from the note (→) and to it (←), each with its reason and age, and suggested links (+).",
        (("⏎", "go to the other note"), ("esc", "go back")),
        ("hide", "accept", "link"),
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
            (
                "+ -  shift+arrows  n",
                "in the overview: zoom; go to the next community; show this nugget only",
            ),
        ),
        ("fewer_hops", "more_hops", "graph", "overview"),
    ),
    "audit": Here(
        "Audit log",
        "Every change, newest first: when, who, what, and whether it was undone. Recalls are left out.",
        (("⏎", "open the entry: see what changed line by line"),),
        ("undo", "log_of_note", "log_recalls", "log_filter", "conflicts"),
    ),
}
