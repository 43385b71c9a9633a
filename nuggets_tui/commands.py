"""The catalogue of commands: key, footer, palette entry and help of each come from one definition here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

if TYPE_CHECKING:
    from textual.screen import Screen

Needs = Literal["", "memory", "note", "suggestion", "graph", "search"]


@dataclass(frozen=True)
class Command:
    """One thing a person can do on the main screen.

    name: of the action and in key maps. keys: as Textual names them. label: in the footer. title: in the palette
    and the help. group: the help's heading. needs: what must be there for the command to make sense. footer: its
    rank in the footer, the lowest stays longest; 0 keeps it out. at_once: the key is obeyed before the next one
    is looked at, so that a fast typist's words all land in the field it opens.
    """

    name: str
    keys: str
    label: str
    title: str
    group: str
    needs: Needs = ""
    footer: int = 0
    at_once: bool = False

    @property
    def shown_keys(self) -> tuple[str, ...]:
        """The keys as a person reads them."""
        return tuple(_SHOWN.get(key, key.replace("ctrl+", "^")) for key in self.keys.split(",") if key)

    @property
    def binding(self) -> Binding:
        """The command as a key binding of the main screen."""
        return Binding(
            self.keys,
            f"command('{self.name}')",
            self.label,
            id=self.name,
            tooltip=self.title,
            priority=self.at_once,
        )


_SHOWN: Final = {
    "slash": "/",
    "question_mark": "?",
    "exclamation_mark": "!",
    "plus": "+",
    "backspace": "⌫",
    "enter": "⏎",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "tab": "tab",
}

FIND: Final = "Find and look"
CHANGE: Final = "Change the note shown in Note"
MAKE: Final = "Make"
CLEAN: Final = "Clean up and take back"
VIEW: Final = "View"
APP: Final = "The app"

COMMANDS: Final[tuple[Command, ...]] = (
    Command("search", "slash", "search", "Search notes and facts", FIND, "memory", 1, at_once=True),
    Command("open", "enter", "open", "Open what the cursor is on", FIND, "memory"),
    Command(
        "why", "w", "why", "Why is the note here, or why not: its score in this search", FIND, "search", 2
    ),
    Command("why_not", "W", "why not", "Why is a note not among the results? Choose one", FIND, "search", 3),
    Command("back", "backspace", "back", "Go back to the note before", FIND, "memory"),
    Command("edit", "e", "edit", "Edit title, text, tags and metadata", CHANGE, "note", 3),
    Command("edit_outside", "E", "editor", "Edit the text in $EDITOR", CHANGE, "note"),
    Command("tags", "t", "tags", "Change the tags", CHANGE, "note", 14),
    Command("pin", "P", "pin", "Pin or unpin: reflection leaves a pinned note alone", CHANGE, "note"),
    Command("hide", "x", "hide", "Hide, or bring back what is hidden", CHANGE, "note", 6),
    Command("delete", "X", "delete", "Delete for good (asks first)", CHANGE, "note"),
    Command("link", "l", "link", "Link to another note", CHANGE, "note", 7),
    Command("merge", "m", "merge", "Merge another note into this one", CHANGE, "note", 8),
    Command("accept", "plus", "accept", "Make the suggested link under the cursor", CHANGE, "suggestion"),
    Command("copy", "y", "copy", "Copy the text to the clipboard", CHANGE, "note"),
    Command("new_note", "n", "note", "Write a new note", MAKE, "memory", 4),
    Command("new_fact", "f", "fact", "Remember a new fact", MAKE, "memory", 5),
    Command("reflect", "r", "reflect", "Reflect: propose a cleanup and review it", CLEAN, "memory", 9),
    Command(
        "promote", "p", "promote", "Promote: propose lines for MEMORY.md and review them", CLEAN, "memory", 10
    ),
    Command("undo", "u", "undo", "Undo: take back my last change", CLEAN, "memory", 11),
    Command("redo", "U", "redo", "Redo: do again what I took back", CLEAN, "memory", 18),
    Command("conflicts", "c", "conflict", "Settle a conflict that waits", CLEAN, "memory", 3),
    Command("open_broken", "o", "open file", "Open the broken file in $EDITOR", CLEAN, "", 3),
    Command("problems", "exclamation_mark", "unreadable", "What could not be read", CLEAN, "memory", 3),
    Command("verify", "V", "check", "Check the memory, and review repairs", CLEAN, "memory", 19),
    Command("secrets", "S", "secrets", "Secrets: review what looks like one, mask it", CLEAN, "memory"),
    Command("restore", "B", "restore", "Go back to a backup", CLEAN, "memory"),
    Command("show_hidden", "v", "hidden", "Show hidden notes, or leave them out", VIEW, "memory", 15),
    Command(
        "sort", "s", "sort", "Sort the notes: newest, most recalled, title, needs care", VIEW, "memory", 16
    ),
    Command("graph", "g", "graph", "The graph over the whole screen, and back", VIEW, "memory", 12),
    Command("audit", "a", "log", "Go to the audit log", VIEW, "memory", 13),
    Command("log_of_note", "A", "log of note", "Audit log: this note alone, or everything", VIEW, "memory"),
    Command("log_recalls", "R", "recalls", "Audit log: recalls too, or leave them out", VIEW, "memory"),
    Command("zoom", "z", "zoom", "Maximise the pane with the cursor, and back", VIEW, "memory", 17),
    Command("fewer_hops", "left_square_bracket", "nearer", "Graph: one hop less", VIEW, "graph"),
    Command("more_hops", "right_square_bracket", "farther", "Graph: one hop more", VIEW, "graph"),
    Command("pane_facts", "1", "facts", "Go to Facts", VIEW, "memory"),
    Command("pane_notes", "2", "notes", "Go to Notes, or Results while searching", VIEW, "memory"),
    Command("pane_note", "3", "note", "Go to Note", VIEW, "memory"),
    Command("pane_neighbours", "4", "neighbours", "Go to Neighbours", VIEW, "memory"),
    Command("pane_graph", "5", "graph", "Go to Graph", VIEW, "memory"),
    Command("pane_audit", "6", "log", "Go to the audit log", VIEW, "memory"),
    Command("theme", "", "theme", "Switch between the dark and the light theme", VIEW),
    Command("demo", "d", "demo", "Open a copy of the demo memory (only in an empty memory)", APP),
    Command("help", "question_mark", "help", "Keys, words and signs", APP, "", 2),
    Command("quit", "q", "quit", "Leave", APP, "", 2),
)
BY_NAME: Final = {command.name: command for command in COMMANDS}
GROUPS: Final = (FIND, CHANGE, MAKE, CLEAN, VIEW, APP)
# The palette's own key belongs to Textual; footer and help name it beside the commands.
PALETTE_KEY: Final = ("^p", "all commands")

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
        "c settles it",
    ),
    ("promote", "propose lines for MEMORY.md from what was recalled often", "can be taken back"),
    (
        "score",
        "of a hit: the sum of its parts, words + vector + boost + like (≈) + link (→); w explains it",
        "",
    ),
    ("sure", "how far the best answer stands above noise, 0 to 1", ""),
)
# What can be typed into the search box.
FILTERS: Final = (
    ("words", "notes that hold them, or are near them in meaning, best first"),
    ('"exact words"', "these words stand there just so"),
    ("-staging", 'not with this word; so too -"two words" and -tag:old'),
    ("tag:auth", "with this tag; tag:a,b with either, tag:a tag:b with both"),
    ("title:jwt", 'with these words in the title; title:"two words"'),
    ("nugget:web", "in this nugget; scope:project, type:preference, subject:login likewise"),
    ("is:new", "new or changed within a day"),
    ("is:hidden", "hidden notes alone; is:pinned, is:fact, is:note (mirrors no fact) likewise"),
    ("is:secret", "seems to hold a credential"),
    ("has:links", "with links; has:tags, has:recalls likewise"),
    ("hits:>3", "recalled more often than that; hits:0 never"),
    ("updated:<30d", "changed in the last 30 days; h d w mo y; >1y longer ago; created: likewise"),
    ("updated:>2026-01", "changed after that month; a year or a day such as 2026-01-31 will do, or today"),
    ("tab  →", "take what is offered; ↑ offers another; the frame says how it was read"),
)
SIGNS: Final = (
    ("●  ◌", "live: files are watched; hollow: they cannot be read just now"),
    ("→  ←  +", "link out, link in, suggested link"),
    ("◆", "a fact, or the note that mirrors one"),
    ("★", "pinned"),
    ("⚿", "seems to hold a credential; S reviews and masks it"),
    ("⊘", "hidden"),
    ("a→b  b~", "in the results: a was typed and read as b; b~ where there is little room"),
    ("×3", "recalled in three sessions"),
    ("↶", "taken back, wholly or in part"),
    ("!", "waits for you"),
)


def bindings() -> list[Binding]:
    """The key bindings of the main screen."""
    return [command.binding for command in COMMANDS if command.keys]


def footer_commands() -> list[Command]:
    """Commands for the footer in the order they stand there."""
    return [command for command in COMMANDS if command.footer]


def in_group(group: str) -> Iterator[Command]:
    """The commands under one heading of the help."""
    return (command for command in COMMANDS if command.group == group)


class Commanded(Protocol):
    """A screen that carries out commands of the catalogue."""

    def can(self, name: str) -> bool:
        """Whether the command makes sense now."""

    async def action_command(self, name: str) -> None:
        """Carries the command out."""


class CommandProvider(Provider):
    """The catalogue in the command palette."""

    def _available(self) -> list[Command]:
        screen: Screen[object] = self.screen
        if not hasattr(screen, "action_command"):
            return []
        able = cast("Commanded", screen)
        return [command for command in COMMANDS if able.can(command.name)]

    def _run(self, command: Command) -> Callable[[], Awaitable[None]]:
        return partial(cast("Commanded", self.screen).action_command, command.name)

    async def discover(self) -> Hits:
        """Every command that makes sense now."""
        for command in self._available():
            yield DiscoveryHit(_display(Content(command.title), command), self._run(command), command.title)

    async def search(self, query: str) -> Hits:
        """Commands whose title or name matches what is typed."""
        matcher = self.matcher(query)
        for command in self._available():
            score = max(map(matcher.match, (command.title, command.label)))
            if score > 0:
                shown = _display(matcher.highlight(command.title), command)
                yield Hit(score, shown, self._run(command), command.title)


def _display(title: Content, command: Command) -> Content:
    keys = " ".join(command.shown_keys)
    return Content.assemble(title, "  ", (keys, "$text-accent")) if keys else title
