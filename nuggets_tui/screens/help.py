"""Help: where you are first, then every key from the catalogue, what the words mean, and what the signs stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from nuggets_tui.commands import GROUPS, PALETTE_KEY
from nuggets_tui.key_map import DEFAULT, KeyMap, keys_of
from nuggets_tui.pane_help import Here
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.line_view import LineView

# What the words of the app mean, and whether the thing can be taken back.
WORDS: Final = (
    ("forget (a fact)", "out of recall, its note hidden", "can be taken back"),
    ("hide, bring back", "out of search and recall, kept in the file", "can be taken back"),
    (
        "merge",
        "one note keeps every line of both, the other is hidden with a link to it",
        "can be taken back",
    ),
    ("delete", "out of the files; the audit log still has it", "can be taken back from there"),
    ("recalled 7×", "in how many sessions an agent was answered with it", ""),
    ("nugget", "a named part of the memory, such as a project", ""),
    ("reflect", "propose a cleanup of the notes; nothing happens before you accept", "can be taken back"),
    (
        "conflict",
        "a change that met another one of the same text; it waits in the audit log and nothing of it is lost",
        "{conflicts} settles it",
    ),
    ("promote", "propose lines for MEMORY.md from what was recalled often", "can be taken back"),
    (
        "score",
        "of a hit: the sum of its parts, words + vector + boost + like (≈) + link (→); {why} explains it",
        "",
    ),
    (
        "golden search",
        "a kept search with the note that it must find among its first hits; {searches} shows whether it does",
        "",
    ),
    (
        "pipeline",
        "makes notes of texts that are handed in, with a model; {pipeline} shows it, {origin} a note's own text",
        "can be taken back",
    ),
    (
        "proposal",
        "what the pipeline found and does not write by itself; nothing happens before you accept",
        "",
    ),
    ("entity", "a name in the texts handed in, with what was said of it", ""),
    ("sure", "how far the best answer stands above noise, 0 to 1", ""),
)
# What can be typed into the search box.
FILTERS: Final = (
    ("words", "notes that hold them, or are near them in meaning, best first"),
    ('"exact words"', "notes with just these words come first"),
    ("+token", 'this word must be there; so too +"two words"; `code` is one phrase'),
    ("-staging", 'not with this word; so too -"two words" and -tag:old'),
    ("tag:auth", "with this tag; tag:a,b with either, tag:a tag:b with both"),
    ("title:jwt", 'with these words in the title; title:"two words"'),
    ("nugget:web", "in this nugget; scope:project, type:preference, subject:login likewise"),
    ("is:new", "new or changed since you were here before; what others did so bears the word new in Notes"),
    ("is:hidden", "hidden notes alone; is:pinned, is:fact, is:note (mirrors no fact) likewise"),
    ("is:secret", "seems to hold a credential"),
    ("has:links", "with links; has:tags, has:recalls likewise"),
    ("hits:>3", "recalled more often than that; hits:0 never"),
    ("updated:<30d", "changed in the last 30 days; h d w mo y; >1y longer ago; created: likewise"),
    ("updated:>2026-01", "changed after that month; a year or a day such as 2026-01-31 will do, or today"),
    ("tab  →", "take what is offered; ↑ offers another; the frame says how it was read"),
    ("↑", "in the empty box: what was searched before, again an older one"),
)
SIGNS: Final = (
    ("●  ◌", "live: files are watched; hollow: they cannot be read just now"),
    ("→  ←  +", "link out, link in, suggested link"),
    ("◆", "a fact, or the note that mirrors one"),
    ("★", "pinned"),
    ("•  new", "changed just now, for a moment; made or changed by others since you were here before"),
    ("✓", "before a row: selected"),
    ("⚿", "seems to hold a credential; {secrets} reviews and masks it"),
    ("⊘", "hidden"),
    ("a→b  b~", "in the results: a was typed and read as b; b~ where there is little room"),
    ("✓  ✗", "a golden search finds its note; lost: it does not"),
    ("×3", "recalled in three sessions"),
    ("↶", "taken back, wholly or in part"),
    ("◈", "in the audit log: a run of reflection, with what it did"),
    ("◷", "the past, read only: {time} begins to look back, esc comes back to now"),
    (
        "○ ● ◔ ‖ ✗",
        "the pipeline: off or nothing handed in yet, all done, at work, paused, stuck; {pipeline} opens it",
    ),
    ("!", "waits for you"),
)


_KEYS: Final = 10
_WORDS: Final = 18
_HEAD: Final = "bold $text-accent"
_MUTED: Final = "$text-muted"


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
    """A page to scroll and to look through. here: the place from which it was called, which comes first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "close", "close", show=False, id="help"),
        Binding("q", "close", "close", show=False),
        Binding("slash", "look", "look for", show=False, id="search"),
    ]
    heading = "Keys, words and signs"
    keys = "{search}  look for a word · ↑↓  scroll · esc  close"

    def __init__(self, here: Here | None = None) -> None:
        super().__init__(classes="large")
        self._here = here
        self._sections: list[Section] = []

    def compose_inside(self) -> ComposeResult:
        """The page, and the field to look for a word in it."""
        field = Input(id="look", classes="field", placeholder="a word, such as hide or log")
        field.display = False
        yield field
        yield LineView(id="lines")

    def on_mount(self) -> None:
        """The cursor keys scroll."""
        self._sections = help_sections(keys_of(self), self._here)
        self._show("")
        self.query_one(LineView).focus()

    def action_look(self) -> None:
        """A field to look for a word."""
        field = self.query_one("#look", Input)
        field.display = True
        field.focus()

    @on(Input.Changed, "#look")
    def look(self, event: Input.Changed) -> None:
        """Shows what of the help holds the words."""
        event.stop()
        self._show(event.value)

    @on(Input.Submitted, "#look")
    def read(self, event: Input.Submitted) -> None:
        """Goes to what was found."""
        event.stop()
        self.query_one(LineView).focus()

    def _show(self, looked_for: str) -> None:
        words = looked_for.casefold().split()
        found = [part for section in self._sections if (part := section.only(words)) is not None]
        self.query_one(LineView).show_lines(lambda width: section_lines(found, width))

    def action_close(self) -> None:
        """Leaves the field first, and with it what was looked for."""
        field = self.query_one("#look", Input)
        if not field.display:
            self.dismiss(None)
            return
        field.value = ""
        field.display = False
        self.query_one(LineView).focus()


def help_sections(keys: KeyMap = DEFAULT, here: Here | None = None) -> list[Section]:
    """The whole help in parts, with the keys that commands have."""
    sections = []
    if here is not None:
        at_hand = here.filled(keys)
        sections.append(Section(f"Here: {at_hand.name}", at_hand.keys, about=at_hand.about))
    sections.append(Section("Moving", _moving(keys)))
    for group in GROUPS:
        entries = tuple(
            (" ".join(command.shown_keys) or keys.key(command.name), command.title)
            for command in keys.commands
            if command.group == group and not command.name.startswith("pane_")
        )
        sections.append(Section(group, entries))
    sections.append(Section("In the search box", FILTERS, _WORDS))
    words = ((word, f"{meaning}; {undone}" if undone else meaning) for word, meaning, undone in WORDS)
    sections.append(Section("Words", tuple((word, keys.filled(said)) for word, said in words), _WORDS))
    sections.append(Section("Signs", tuple((sign, keys.filled(said)) for sign, said in SIGNS)))
    return sections


def _moving(keys: KeyMap) -> tuple[tuple[str, str], ...]:
    panes = [keys.key(command.name) for command in keys.commands if command.name.startswith("pane_")]
    known = panes == [str(number) for number in range(1, len(panes) + 1)]
    moves = (
        (("h j k l", "move as the arrow keys do"), ("^d ^u", "half a page down, up"))
        if keys.vim
        else (("j k", "move down, up"),)
    )
    return (
        (f"1 – {len(panes)}" if known else " ".join(panes), "to a pane"),
        ("← → tab", "to the pane before and the next one"),
        ("↑ ↓", "move; in the graph all four arrow keys walk along links"),
        *moves,
        (
            "esc",
            "leave a field; then clear the search, or leave a pane that fills the screen; close a dialog",
        ),
        ("^s", "save, apply"),
        (f"{keys.key('help')} f1", "help about the pane or dialog in use, then all; in a field f1"),
        (PALETTE_KEY[0], PALETTE_KEY[1] + ": type a part of the name"),
        ("^q", "leave, at once"),
    )


def section_lines(sections: Sequence[Section], width: int) -> list[Content]:
    """Parts of the help as lines of at most `width` cells."""
    if not sections:
        return [Content.styled("Nothing in the help holds these words.", _MUTED)]
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
    said = Content.styled(right, _MUTED)
    parts = [part.rstrip() for part in said.wrap(width - indent)] if width >= indent + 8 else [said]
    if len(left) >= size:
        return [head, *(Content(" " * indent) + part for part in parts)]
    first, *more = parts or [Content("")]
    return [Content.assemble(head, first), *(Content(" " * indent) + part for part in more)]
