"""The catalogue of commands: key, footer, palette entry and help of each come from one definition here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import msgspec
from textual.binding import Binding

from nuggets_tui.keys import shown_key

Needs = Literal["", "memory", "note", "suggestion", "graph", "search"]


class Command(msgspec.Struct, frozen=True):
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
        return tuple(shown_key(key) for key in self.keys.split(",") if key)

    @property
    def binding(self) -> Binding:
        """The command as a key binding of the main screen."""
        return Binding(
            self.keys or unbound(self.name),
            f"command('{self.name}')",
            self.label,
            id=self.name,
            tooltip=self.title,
            priority=self.at_once,
        )


FIND: Final = "Find and look"
CHANGE: Final = "Change the note shown in Note, or those selected"
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
    Command(
        "keep_search",
        "K",
        "keep",
        "Keep this search under a name, or make it a golden one",
        FIND,
        "search",
        20,
    ),
    Command("searches", "Q", "searches", "Kept and golden searches: run, change, let go", FIND, "memory"),
    Command(
        "tune", "percent_sign", "weights", "Weights of the search: turn them, see what moves", FIND, "memory"
    ),
    Command("back", "backspace", "back", "Go back to the note before", FIND, "memory"),
    Command(
        "select",
        "space",
        "select",
        "Select the note, or let it go; with shift and arrows a range",
        CHANGE,
        "note",
        4,
    ),
    Command("select_all", "ctrl+a", "all", "Select all notes of the list, or let them go", CHANGE, "memory"),
    Command("let_go", "", "let go", "Let the selection go (esc)", CHANGE, "note"),
    Command(
        "memories",
        "C",
        "memories",
        "Memories on this machine: Claude Code's to read, others to open",
        FIND,
        "",
        20,
    ),
    Command("edit", "e", "edit", "Edit title, text, tags and metadata", CHANGE, "note", 3),
    Command("edit_outside", "E", "editor", "Edit the text in $EDITOR", CHANGE, "note"),
    Command("tags", "t", "tags", "Change the tags", CHANGE, "note", 14),
    Command("pin", "P", "pin", "Pin or unpin: reflection leaves a pinned note alone", CHANGE, "note"),
    Command("hide", "x", "hide", "Hide, or bring back what is hidden", CHANGE, "note", 6),
    Command("delete", "X", "delete", "Delete for good (asks first)", CHANGE, "note"),
    Command("link", "l", "link", "Link to another note", CHANGE, "note", 7),
    Command(
        "merge", "m", "merge", "Merge another note into this one, or the two selected", CHANGE, "note", 8
    ),
    Command("move", "M", "move", "Move to another scope", CHANGE, "note"),
    Command("accept", "plus", "accept", "Make the suggested link under the cursor", CHANGE, "suggestion"),
    Command("copy", "y", "copy", "Copy the text to the clipboard", CHANGE, "note"),
    Command("copy_reference", "Y", "copy id", "Copy id and title to the clipboard", CHANGE, "note"),
    Command("open_file", "o", "open file", "Open the file named in the note in $EDITOR", CHANGE, "note", 20),
    Command("new_note", "n", "note", "Write a new note", MAKE, "memory", 4),
    Command("new_fact", "f", "fact", "Remember a new fact", MAKE, "memory", 5),
    Command("unsaved", "", "unsaved", "Go on with an unsaved text", MAKE, "memory"),
    Command("reflect", "r", "reflect", "Reflect: propose a cleanup and review it", CLEAN, "memory", 9),
    Command(
        "promote", "p", "promote", "Promote: propose lines for MEMORY.md and review them", CLEAN, "memory", 10
    ),
    Command(
        "automatic", "D", "daily promotion", "Say whether the daily pass writes MEMORY.md", CLEAN, "memory"
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
    Command(
        "overview",
        "G",
        "overview",
        "Overview: the whole memory as points, over the whole screen, and back",
        VIEW,
        "memory",
    ),
    Command("audit", "a", "log", "Go to the audit log", VIEW, "memory", 13),
    Command("log_of_note", "A", "log of note", "Audit log: this note alone, or everything", VIEW, "memory"),
    Command("log_recalls", "R", "recalls", "Audit log: recalls too, or leave them out", VIEW, "memory"),
    Command(
        "log_filter",
        "F",
        "filter",
        "Audit log: by author, kind, note, run, words, days; or all",
        VIEW,
        "memory",
    ),
    Command("time", "T", "time", "Time: the whole memory as it was at any moment", VIEW, "memory", 20),
    Command(
        "pipeline",
        "i",
        "pipeline",
        "Pipeline: texts handed in, proposals, work, entities, health",
        VIEW,
        "memory",
        20,
    ),
    Command(
        "origin",
        "O",
        "origin",
        "Where the note came from: the text and its sentence, what was decided",
        VIEW,
        "note",
    ),
    Command("zoom", "z", "zoom", "Maximise the pane with the cursor, and back", VIEW, "memory", 17),
    Command(
        "wider",
        "greater_than_sign",
        "wider",
        "The pane with the cursor wider (or pull its frame)",
        VIEW,
        "memory",
    ),
    Command("narrower", "less_than_sign", "narrower", "The pane with the cursor narrower", VIEW, "memory"),
    Command("higher", "right_curly_bracket", "higher", "The pane with the cursor higher", VIEW, "memory"),
    Command("lower", "left_curly_bracket", "lower", "The pane with the cursor lower", VIEW, "memory"),
    Command("usual_panes", "", "usual panes", "All panes as large as they were at first", VIEW, "memory"),
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
    Command(
        "help",
        "question_mark,f1",
        "help",
        "Keys, words and signs; first those of the pane in use",
        APP,
        "",
        2,
    ),
    Command("quit", "q", "quit", "Leave", APP, "", 2),
)
BY_NAME: Final = {command.name: command for command in COMMANDS}
GROUPS: Final = (FIND, CHANGE, MAKE, CLEAN, VIEW, APP)
# The palette's own key belongs to Textual; footer and help name it beside the commands.
PALETTE_KEY: Final = ("^p", "all commands")


def unbound(name: str) -> str:
    """What stands for the key of a command without one in a binding, so that a key map can give it one."""
    return f"no_key_of_{name}"


def bindings() -> list[Binding]:
    """The key bindings of the main screen."""
    return [command.binding for command in COMMANDS]


def footer_commands() -> list[Command]:
    """Commands for the footer in the order they stand there."""
    return [command for command in COMMANDS if command.footer]


def in_group(group: str) -> Iterator[Command]:
    """The commands under one heading of the help."""
    return (command for command in COMMANDS if command.group == group)
