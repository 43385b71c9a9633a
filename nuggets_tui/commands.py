"""The catalogue of commands: key, footer, palette entry and help of each come from one definition here."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec.structs import replace
from textual.binding import Binding
from textual.keys import Keys, format_key

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from core.settings import Settings
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.view import View

Needs = Literal["", "opened", "memory", "history", "note", "suggestion", "graph", "search"]


class Command(msgspec.Struct, frozen=True):
    """One thing a person can do on the main screen.

    name: of the action and in key maps. keys: as Textual names them. label: in the footer. title: in the palette
    and the help. group: the heading in palette and help. target: the method of the main screen or of one of its
    controllers that carries it out, and behind a colon what that is given. also: what it is about in words that its
    title does not have. needs: what must be there for the command to make sense. footer: its rank in the footer, the
    lowest stays longest; 0 keeps it out. at_once: the key is obeyed before the next one is looked at, so that a fast
    typist's words all land in the field it opens. when: whether it makes sense now, where `needs` is not enough to
    say. explains: whether the key says why it can do nothing; somebody who presses it is in need of help.
    key_when: while the key of the catalogue is bound, where that is not always.
    """

    name: str
    keys: str
    label: str
    title: str
    group: str
    target: str = ""
    needs: Needs = ""
    footer: int = 0
    at_once: bool = False
    when: Callable[[View], bool] | None = None
    explains: Callable[[View], bool] | None = None
    key_when: Callable[[View], bool] | None = None
    also: str = ""

    def run(self, main: MainScreen) -> None:
        """Carries it out."""
        path, _, given = self.target.partition(":")
        attrgetter(path)(main)(*([given] if given else []))

    def makes_sense(self, view: View) -> bool:
        """Whether there is something for the command to do."""
        return (self.when or _THERE[self.needs])(view)

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


def _always(view: View) -> bool:
    return True


def _opened(view: View) -> bool:
    return view.loaded


def _holds_something(view: View) -> bool:
    return view.loaded and not view.empty


def _can_be_searched(view: View) -> bool:
    return _holds_something(view) or _has_team(view)


def _takes_facts(view: View) -> bool:
    # Pages of Claude Code have no place for them.
    return view.loaded and not view.pages


def _can_be_promoted(view: View) -> bool:
    return _holds_something(view) and not view.pages


def _is_synced(view: View) -> bool:
    return view.loaded and view.sync is not None and not view.trouble


def _has_arrivals(view: View) -> bool:
    return _is_synced(view) and view.sync is not None and bool(view.sync.entries)


def _has_team(view: View) -> bool:
    return view.loaded and view.team is not None


def _may_switch(view: View) -> bool:
    return _has_team(view) or view.team_home


def _may_switch_yet(view: View) -> bool:
    # As long as it is not known, the key is not refused: it waits.
    return view.loaded and (_may_switch(view) or not view.team_known)


def _may_share(view: View) -> bool:
    return view.loaded and not view.pages and not view.trouble and view.note is not None


def _is_untrusted(view: View) -> bool:
    return view.loaded and view.untrusted > 0


def _has_history(view: View) -> bool:
    # A memory that holds nothing any more may still get something back.
    return view.loaded and (not view.empty or bool(view.log.lines))


def _has_links(view: View) -> bool:
    note = view.note
    return view.loaded and note is not None and bool(note.links or view.around.links_in.get(note.id))


def _has_log(view: View) -> bool:
    return _holds_something(view) and (view.note is not None or bool(view.log.scope.note_id))


@lru_cache(maxsize=64)
def names_a_file(text: str) -> bool:
    """Whether a text speaks of a file, wherever that may be."""
    from core.text.file_references import file_references

    return bool(file_references(text))


def _names_a_file(view: View) -> bool:
    note = view.note
    return view.loaded and note is not None and not view.trouble and names_a_file(note.content)


def _something_broken(view: View) -> bool:
    return bool(view.trouble or view.snapshot.problems)


def _broken_or_past(view: View) -> bool:
    return view.past is not None or _something_broken(view)


def _nothing_there(view: View) -> bool:
    return view.empty or bool(view.trouble)


_THERE: Final[dict[Needs, Callable[[View], bool]]] = {
    "": _always,
    "opened": _opened,
    "memory": _holds_something,
    "history": _has_history,
    "note": lambda view: view.loaded and view.note is not None,
    "suggestion": lambda view: view.loaded and bool(view.suggested),
    "graph": _opened,
    "search": _opened,
}

NOTES: Final = "Notes"
FACTS: Final = "Facts"
SEARCH: Final = "Search"
HISTORY: Final = "History"
VIEW: Final = "View"
MEMORY: Final = "Memory"
PIPELINE: Final = "Pipeline"
SETTINGS: Final = "Settings"


def _commands() -> tuple[Command, ...]:
    # fmt: off
    return (
        Command("search", "slash", "search", "Search notes and facts", SEARCH, "search.focus", "memory", 1,
            at_once=True, when=_can_be_searched, also="find, filter, query"),
        Command("open", "enter", "open", "Open the row under the cursor", NOTES, "open_under_cursor",
            "memory"),
        Command("why", "w", "why", "Why this note is a hit or not: its score in this search", SEARCH,
            "search.why", "search", 2, when=lambda view: view.found is not None and view.note is not None,
            explains=_always, also="explain, score, rank"),
        Command("why_not", "", "why not", "Why a note is missing from the results: choose it", SEARCH,
            "search.why_not", "search", 3, when=lambda view: view.found is not None, explains=_always,
            also="explain, not found"),
        Command("same_tag", "", "same tag", "Search the notes with a tag of this note (or click a tag)",
            SEARCH, "search.find_same_tag", "note",
            when=lambda view: view.loaded and view.note is not None and bool(view.topics)),
        Command("project_notes", "", "project", "List the notes of one project", SEARCH,
            "search.find_project", "opened", when=lambda view: view.loaded and bool(view.projects)),
        Command("keep_search", "", "save", "Save this search", SEARCH, "search.save", "search", 20,
            when=lambda view: view.found is not None, explains=_always, also="bookmark, regression"),
        Command("searches", "", "searches", "Saved searches: run, change, delete", SEARCH,
            "search.open_saved", "memory", also="bookmarks"),
        Command("back", "backspace", "back", "Go back to the previous note", NOTES, "reading.back", "memory",
            also="previous, history of notes"),
        Command("select", "space", "select",
            "Select or deselect the note and move down; shift+↑↓ selects a range", NOTES, "selection.toggle",
            "note", 4),
        Command("select_all", "ctrl+a", "all", "Select or deselect all notes in the list", NOTES,
            "selection.select_all", "memory"),
        Command("let_go", "", "deselect", "Clear the selection (esc)", NOTES, "selection.clear",
            when=lambda view: bool(view.selected)),
        Command("memories", "C", "memories", "Memories on this machine: read Claude Code's, open others",
            MEMORY, "memories.choose", "", 20, key_when=_nothing_there,
            also="switch, other folder, projects"),
        Command("import", "", "import",
            "Import what others remember: Claude Code, CLAUDE.md, Obsidian, mem0 ...", MEMORY,
            "imports.choose", "opened", also="bring in, migrate, AGENTS.md, MCP memory, vault, ~/.donna"),
        Command("sync", "ctrl+s", "sync", "Sync now: send your changes, take in those of other machines",
            MEMORY, "sync.sync_now", "opened", when=_is_synced, key_when=_is_synced),
        Command("team", "N", "team", "The team's memory: open it in place of your own, and back", MEMORY,
            "team.switch", "opened", 21, when=_may_switch, explains=_may_switch_yet,
            key_when=_may_switch_yet),
        Command("trust", "ctrl+t", "trust", "Use the notes of the project you are in (asks first)", MEMORY,
            "team.trust", "opened", 3, when=_is_untrusted, key_when=_is_untrusted),
        Command("came_in", "I", "came in", "Sync: what came in last, with undo", MEMORY, "sync.show_arrivals",
            "opened", when=_has_arrivals, key_when=_has_arrivals),
        Command("share", "H", "share",
            "Share with the team: review the files in the project, then write them", NOTES, "team.share",
            "note", 21, when=_may_share, key_when=_has_team),
        Command("team_notes", "", "team's notes", "Search: list the team's notes alone, and back", SEARCH,
            "team.list_alone", "opened", when=_has_team),
        Command("connect", "", "connect", "Connect an agent: what it adds to which file, status, disconnect",
            MEMORY, "agents.connect", "opened",
            also="install, Claude Code, Codex, OpenCode, Pi, Cursor, Gemini, MCP, hooks, remove"),
        Command("edit", "e", "edit", "Edit the title, text, tags and metadata", NOTES, "unsaved_texts.edit",
            "note", 3, also="change, rename, correct, confidence, scope"),
        Command("edit_outside", "", "editor", "Edit the text in $EDITOR", NOTES, "notes.edit_outside", "note",
            also="vim, nano, external editor"),
        Command("tags", "t", "tags", "Change the tags", NOTES, "notes.tags", "note", 14,
            also="label, category"),
        Command("pin", "", "pin", "Pin or unpin: reflection leaves pinned notes alone", NOTES, "notes.pin",
            "note", also="keep, protect, favourite, star"),
        Command("hide", "x", "hide", "Hide, or bring back a hidden note", NOTES, "notes.hide", "note", 6,
            also="archive, forget a fact, unhide, restore"),
        Command("delete", "", "delete", "Delete for good (asks first)", NOTES, "notes.delete", "note",
            also="remove, erase"),
        Command("link", "l", "link", "Link to another note", NOTES, "notes.link", "note", 7,
            also="connect, relate"),
        Command("unlink", "", "unlink",
            "Unlink from another note: the link under the cursor, or one of the note's", NOTES,
            "notes.remove_link", "note", when=_has_links),
        Command("merge", "m", "merge", "Merge another note into this one, or the two selected", NOTES,
            "notes.merge", "note", 8, also="join, combine, duplicates"),
        Command("move", "", "move", "Move to another scope", NOTES, "notes.move", "note",
            also="nugget, shared, project, user"),
        Command("accept", "plus", "accept", "Accept the suggested link under the cursor", NOTES,
            "notes.accept", "suggestion"),
        Command("copy", "y", "copy", "Copy the text to the clipboard", NOTES, "files.copy", "note",
            also="clipboard, yank"),
        Command("copy_reference", "", "copy id", "Copy the id and title to the clipboard", NOTES,
            "files.copy_reference", "note"),
        Command("open_file", "o", "open file", "Open the file named in the note in $EDITOR", NOTES,
            "files.open_named", "note", 20, when=_names_a_file, explains=lambda view: not view.trouble,
            key_when=_names_a_file, also="source, code, path"),
        Command("new_note", "n", "note", "Write a new note", NOTES, "notes.new_note", "opened", 4,
            also="add, create"),
        Command("new_fact", "f", "fact", "Remember a new fact", FACTS, "notes.new_fact", "opened", 5,
            when=_takes_facts, also="add, create, key and value"),
        Command("unsaved", "", "unsaved", "Continue an unsaved text", NOTES, "unsaved_texts.choose", "memory",
            also="draft, recover, kept for later"),
        Command("reflect", "r", "reflect", "Reflect: propose a cleanup and review it", MEMORY,
            "maintenance.reflect", "memory", 9, also="tidy, duplicates, archive, merge, links"),
        Command("promote", "p", "promote", "Promote: propose lines for MEMORY.md and review them", MEMORY,
            "promotion.promote", "memory", 10, when=_can_be_promoted, also="CLAUDE.md, bullets"),
        Command("automatic", "", "daily promotion", "Choose whether the daily pass writes MEMORY.md", MEMORY,
            "promotion.ask_again", "memory", when=_can_be_promoted, also="schedule, every day"),
        Command("undo", "u", "undo", "Undo your last change; in the log, the entry under the cursor", HISTORY,
            "history.undo", "history", 11, also="revert, take back"),
        Command("redo", "ctrl+r", "redo", "Redo what you undid last", HISTORY, "history.redo", "history", 18,
            also="again, repeat"),
        Command("conflicts", "c", "conflict", "Resolve a waiting conflict", HISTORY, "history.resolve_newest",
            "memory", 3, when=lambda view: bool(view.waiting), explains=_opened,
            also="both versions, merge, compare"),
        Command("open_broken", "o", "open file", "Open the broken file in $EDITOR", MEMORY,
            "maintenance.open_broken", "", 3, when=lambda view: bool(view.trouble),
            key_when=lambda view: bool(view.trouble)),
        Command("problems", "exclamation_mark", "unreadable", "List what could not be read", MEMORY,
            "maintenance.show_problems", "memory", 3,
            when=lambda view: bool(view.snapshot.problems or view.trouble), explains=_always,
            key_when=_something_broken, also="broken, quarantine, damaged"),
        Command("verify", "V", "check", "Check the memory and review repairs", MEMORY, "maintenance.verify",
            "memory", 19, when=lambda view: bool(view.trouble) or _holds_something(view), explains=_always,
            key_when=_something_broken, also="repair, damaged, health, fsck"),
        Command("secrets", "", "secrets", "Credentials: review and mask what looks like one", MEMORY,
            "maintenance.find_secrets", "memory", also="passwords, tokens, API keys, scrub"),
        Command("restore", "B", "restore", "Go back to a backup", MEMORY, "maintenance.restore", "history",
            explains=_always, key_when=_broken_or_past, also="roll back, recover, yesterday's files"),
        Command("show_hidden", "", "hidden", "Show hidden notes, or leave them out", VIEW,
            "arrangement.show_hidden", "memory", 15, also="archived, forgotten"),
        Command("show_facts", "", "fact notes", "Show fact notes in Notes, or leave them to Facts", VIEW,
            "arrangement.show_facts", "memory"),
        Command("sort", "", "sort", "Sort the notes: newest, most recalled, title, needs care", VIEW,
            "arrangement.sort", "memory", 16, also="order, oldest"),
        Command("graph", "g", "graph", "Graph: full screen, and back", VIEW, "arrangement.graph", "memory",
            12),
        Command("overview", "G", "overview", "Overview: the whole memory as points, full screen, and back",
            VIEW, "arrangement.overview", "memory"),
        Command("audit", "", "log", "Go to the audit log", HISTORY, "audit.go", "memory", 13,
            also="history, changes, who"),
        Command("log_of_note", "A", "log of note", "Audit log: this note only, or everything", HISTORY,
            "audit.show_note_alone", "memory", when=_has_log),
        Command("log_recalls", "R", "recalls", "Audit log: show recalls, or leave them out", HISTORY,
            "audit.show_recalls", "memory"),
        Command("log_filter", "F", "filter", "Audit log: filter by author, kind, note, run, words or days",
            HISTORY, "audit.filter", "memory", also="history, who, when"),
        Command("time", "T", "time", "Time travel: the whole memory as it was at any moment", HISTORY,
            "time_travel.start_time_travel", "memory", 20,
            also="history, past, yesterday, rewind, compare with now"),
        Command("inbox", "i", "inbox", "Inbox: proposals, and what others changed since your last visit",
            HISTORY, "pipeline.open_inbox", "opened", 20,
            also="proposals, accept, refuse, new since my last visit"),
        Command("pipeline", "J", "pipeline", "Pipeline: jobs, documents, sessions, health", PIPELINE,
            "pipeline.open", "opened", when=_takes_facts,
            also="ingest, submit, model, queue, documents, sessions, health"),
        Command("origin", "", "origin", "Where the note came from: its text, its sentence, the decision",
            PIPELINE, "pipeline.show_origin", "note", also="source, provenance"),
        Command("zoom", "z", "zoom", "Maximise the current pane, and back", VIEW, "arrangement.zoom",
            "memory", 17, also="full screen, enlarge"),
        Command("fewer_hops", "left_square_bracket", "fewer hops", "Graph: one hop fewer", VIEW,
            "arrangement.fewer_hops", "graph"),
        Command("more_hops", "right_square_bracket", "more hops", "Graph: one hop more", VIEW,
            "arrangement.more_hops", "graph"),
        Command("pane_facts", "1", "facts", "Go to Facts", FACTS, "go_to:facts", "memory"),
        Command("pane_notes", "2", "notes", "Go to Notes, or Results while searching", VIEW, "go_to:notes",
            "memory"),
        Command("pane_note", "3", "note", "Go to Note", VIEW, "go_to:note", "memory"),
        Command("pane_neighbours", "4", "neighbours", "Go to Neighbours", VIEW, "go_to:neighbours", "memory"),
        Command("pane_graph", "5", "graph", "Go to Graph", VIEW, "go_to:graph", "memory"),
        Command("pane_audit", "6", "log", "Go to the audit log", VIEW, "go_to:audit", "memory"),
        Command("themes", "", "theme", "Choose a theme", SETTINGS, "settings.choose_theme",
            also="colours, appearance"),
        Command("theme", "", "dark or light", "Switch between the dark and the light theme", SETTINGS,
            "settings.toggle_theme", also="colours, light, dark"),
        Command("demo", "d", "demo", "Open a copy of the demo memory (only in an empty memory)", MEMORY,
            "opening.open_demo", when=lambda view: view.empty),
        Command("help", "question_mark,f1", "help", "Keys, words and signs; the current pane comes first",
            SETTINGS, "settings.help", "", 2, also="manual, shortcuts, symbols"),
        Command("quit", "q", "quit", "Quit", SETTINGS, "leave", "", 2, also="exit, close"),
    )
    # fmt: on


COMMANDS: Final = _commands()
BY_NAME: Final = {command.name: command for command in COMMANDS}
# Keys that are bound only at times. One that is bound whenever its command makes sense leaves nothing to tell.
AT_TIMES: Final = {
    command.keys: command
    for command in COMMANDS
    if command.key_when and command.key_when not in (command.when, command.explains)
}
GROUPS: Final = (NOTES, FACTS, SEARCH, HISTORY, VIEW, MEMORY, PIPELINE, SETTINGS)
# The palette's own key belongs to Textual; footer and help name it beside the commands.
PALETTE_KEY: Final = ("ctrl+p", "commands")


def unbound(name: str) -> str:
    """What stands for the key of a command without one in a binding, so that a key map can give it one."""
    return f"no_key_of_{name}"


def bindings() -> list[Binding]:
    """The key bindings of the main screen."""
    return [command.binding for command in COMMANDS]


# What each pane is for comes first in its footer; of these the first four stay longest.
_OF_PANE: Final[dict[str, tuple[str, ...]]] = {
    "facts": ("open", "new_fact", "edit", "hide"),
    "notes": ("why", "edit", "hide", "new_note", "link"),
    "note": ("why", "edit", "hide", "tags", "copy"),
    "neighbours": ("open", "accept", "hide", "link"),
    "graph": ("graph", "hide", "fewer_hops", "more_hops"),
    "audit": ("undo", "hide", "open", "log_filter", "log_of_note", "log_recalls"),
}
OVERVIEW: Final = "overview"
"""The place of the graph while it shows the whole memory."""
# What acts on several notes at once, wherever they are selected.
_OF_SELECTION: Final = ("hide", "tags", "pin", "let_go")
# Then, wherever one is, what no other program has; the first two stay as long as what the pane is for.
_EVERYWHERE: Final = ("undo", "time", "overview", "inbox")
_LONGEST: Final = ("search", "help", "quit")
_SHORTER: Final = {"log_of_note": "note", "graph": "fullscreen", "fewer_hops": "", "more_hops": "hops"}


def _own_key(name: str, keys: str, label: str) -> Command:
    """A key that a pane answers itself."""
    return Command(name, keys, label, "", VIEW)


_OF_TEXTS: Final = (_own_key("step_back", "escape", "back"),)
_OF_OVERVIEW: Final = (
    _own_key("open_point", "enter", "open"),
    _own_key("nearer_points", "plus", "zoom in"),
    _own_key("farther_points", "minus", "zoom out"),
    _own_key("this_nugget", "n", "this nugget"),
    _own_key("leave_points", "escape", "back"),
)


@cache
def footer_commands(pane: str = "notes", *, selected: bool = False) -> tuple[Command, ...]:
    """Commands for the footer of a pane, or of the overview, in the order they stand there, each with its rank. Those
    of no catalogue are keys of the pane itself. selected: whether notes are selected.
    """
    own = _own_commands(pane, selected)
    last = [BY_NAME[name] for name in (*_EVERYWHERE, *_LONGEST[1:])]
    known = {one.name for one in (*own, *last)}
    between = [one for one in COMMANDS if one.footer and one.name not in known]
    if pane == OVERVIEW:
        # The overview is over everything else, and takes some of their keys for itself.
        last = [one for one in last if one.name != "overview"]
        between = [BY_NAME["hide"], BY_NAME["search"]]

    def ranked(place: int, command: Command) -> Command:
        if command.name in _LONGEST[1:] or (command.name == "search" and not selected):
            return replace(command, footer=1)
        if command.name in ("conflicts", "open_broken", "problems", "trust"):
            # Shown only while something waits.
            return replace(command, footer=2)
        if command.name == "hide":
            # It names what all keys of a row act on.
            return replace(command, footer=2)
        if command in own and (place < _first_of(pane) or selected):
            return replace(command, footer=3, label=_SHORTER.get(command.name, command.label))
        if command.name in _EVERYWHERE[:2] and command not in own:
            return replace(command, footer=4)
        if command in own:
            return replace(command, footer=5, label=_SHORTER.get(command.name, command.label))
        return replace(command, footer=6 if command in last else 7 + command.footer)

    shown = (*own, *between, *(one for one in last if one not in own))
    return tuple(ranked(place, command) for place, command in enumerate(shown))


def _first_of(pane: str) -> int:
    """How many keys of the pane itself stay where there is room for little: half of a pair of keys says nothing."""
    return 1 if pane in ("graph", "facts") else 2


def _own_commands(pane: str, selected: bool) -> list[Command]:
    if pane == OVERVIEW:
        return list(_OF_OVERVIEW)
    if selected:
        deselect = replace(BY_NAME["let_go"], keys="escape")
        return [deselect if name == "let_go" else BY_NAME[name] for name in _OF_SELECTION]
    own = [BY_NAME[name] for name in _OF_PANE.get(pane, _OF_PANE["notes"])]
    return own + list(_OF_TEXTS if pane in ("note", "neighbours") else ())


_MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_OTHER_NAMES: Final = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "page_up": "pageup",
    "page_down": "pagedown",
    "spacebar": "space",
}
# What a terminal sends for them is what it sends for another key.
_SENT_AS: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+j": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}


class WrongKeyError(ValueError):
    """A key of settings.toml that cannot be used. why: in a clause. near: what may be meant instead, "" for nothing."""

    def __init__(self, why: str, near: str = "") -> None:
        self.why = why
        self.near = near
        super().__init__(why + (f"; did you mean {near}?" if near else ""))


def shown_key(key: str) -> str:
    """A key as a person reads it: "/", "ctrl+k", "⏎", "shift+↑"."""
    modifiers, _, base = key.rpartition("+")
    return (modifiers + "+" if modifiers else "") + format_key(base)


def read_keys(text: str) -> tuple[str, ...]:
    """The keys of a text such as "k,ctrl+k" or "/" in Textual's names; none for "". Raises WrongKeyError."""
    if text.strip() == ",":
        return ("comma",)
    found = [_read_key(part.strip()) for part in text.split(",") if part.strip()]
    return tuple(dict.fromkeys(found))


def _read_key(text: str) -> str:
    head, base = (text[:-1].rstrip("+"), "+") if text.endswith("+") else _split(text)
    modifiers = [part.strip().lower() for part in head.split("+") if part.strip()]
    unknown = next((part for part in modifiers if part not in _MODIFIERS), "")
    if unknown:
        raise WrongKeyError(f'"{text}" is not a key', nearest(unknown, _MODIFIERS))
    if len(base) == 1:
        base = _of_character(base, modifiers)
        modifiers = [part for part in modifiers if part != "shift"] if base.isupper() else modifiers
    else:
        base = _OTHER_NAMES.get(base.lower(), base.lower())
        if base not in _names():
            raise WrongKeyError(f'"{text}" is not a key', nearest(base, _names()))
    key = "+".join([*(name for name in _MODIFIERS if name in modifiers), base])
    if key in _SENT_AS:
        raise WrongKeyError(f'a terminal sends "{text}" as {_SENT_AS[key]}')
    return key


def _split(text: str) -> tuple[str, str]:
    head, _, base = text.rpartition("+")
    return head, base.strip()


def _of_character(character: str, modifiers: list[str]) -> str:
    if not character.isprintable():
        raise WrongKeyError("a control character is not a key")
    if character.isalpha() and modifiers:
        return character.upper() if modifiers == ["shift"] else character.lower()
    return next(iter(Binding.make_bindings([Binding(character, "")]))).key


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """All names of keys that are longer than one character, without modifiers."""
    named = {key.value.rpartition("+")[2] for key in Keys} - {""}
    punctuation = (Binding(sign, "") for sign in string.punctuation if sign != ",")
    named |= {binding.key for binding in Binding.make_bindings(punctuation)} | {"comma"}
    return frozenset(name for name in named if len(name) > 1 and not name.startswith("<"))


def nearest(name: str, names: frozenset[str] | tuple[str, ...]) -> str:
    """The most similar of some names, "" when none is like it."""
    from rapidfuzz import process
    from rapidfuzz.fuzz import ratio

    found = process.extractOne(name, sorted(names), scorer=ratio, score_cutoff=60)
    return found[0] if found is not None else ""


# What the option for vim changes about the commands, so that l is free to move.
_VIM: Final = {"link": "L"}
# Keys of lists, panes and fields: a command that took one would work in some places only.
_FIXED: Final = frozenset(
    (
        "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "j", "k", "enter", "space", "tab",
        "shift+tab", "escape", "shift+up", "shift+down", "ctrl+p", "ctrl+q", "ctrl+c",
    )
)  # fmt: skip
_FIXED_BY_VIM: Final = frozenset(("h", "l"))
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_NAMED: Final = 40


class KeyMap(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The commands with the keys that they have. wrong: what of the settings could not be followed, as sentences."""

    commands: tuple[Command, ...] = COMMANDS
    vim: bool = False
    wrong: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Command]:
        return {command.name: command for command in self.commands}

    def key(self, name: str) -> str:
        """The first key of a command as a person reads it; how to reach it without one."""
        command = self.by_name[name]
        return next(iter(command.shown_keys), f"{PALETTE_KEY[0]} {command.label}")

    def filled(self, text: str) -> str:
        """A text of ours with a command's key in place of its name in braces: "{undo} undoes it"."""
        return _PLACE.sub(lambda found: self.key(found[1]) if found[1] in self.by_name else found[0], text)

    def is_bound(self, name: str, view: View) -> bool:
        """Whether the key of a command counts now. One that somebody set always does."""
        command = self.by_name[name]
        return command.key_when is None or command.keys != BY_NAME[name].keys or command.key_when(view)

    def bound_at_times(self, key: str, view: View) -> Command | None:
        """The command that a key is bound to only at times, when it has no meaning now."""
        command = AT_TIMES.get(key)
        owners = (one for one in self.commands if key in one.keys.split(","))
        return None if any(self.is_bound(one.name, view) for one in owners) else command

    @property
    def bound(self) -> dict[str, str]:
        """The keys that are other than in the catalogue, by command, as Textual takes them."""
        changed = {command.name for command in self.commands if command.keys != BY_NAME[command.name].keys}
        freed = {
            key
            for name in changed
            for keys in (BY_NAME[name].keys, self.by_name[name].keys)
            for key in keys.split(",")
            if key
        }
        # Textual takes a key from all that share it, so those who keep it are given it anew.
        return {
            command.name: command.keys or unbound(command.name)
            for command in self.commands
            if command.name in changed or freed & set(command.keys.split(","))
        }


DEFAULT: Final = KeyMap()


def key_map(settings: Settings) -> KeyMap:
    """The key map that some settings ask for. What cannot be followed keeps the keys it has in the catalogue."""
    if not settings.keys and not settings.app.vim:
        return DEFAULT
    vim = settings.app.vim
    standard = {
        name: _VIM.get(name, command.keys) if vim else command.keys for name, command in BY_NAME.items()
    }
    wanted: dict[str, str] = {}
    wrong = []
    for name, text in settings.keys:
        try:
            wanted[name] = _wanted(name, text, standard, vim)
        except WrongKeyError as error:
            wrong.append(str(error) + ("" if error.near else "."))
    wrong += _resolve_duplicates(wanted, standard)
    keys = standard | wanted
    commands = tuple(replace(command, keys=keys[command.name]) for command in COMMANDS)
    return KeyMap(commands, vim, tuple(wrong))


def _in_a_clause(error: WrongKeyError) -> str:
    return (error.why + (f"; did you mean {error.near}" if error.near else ""))[:200]


def _wanted(name: str, text: str | None, standard: Mapping[str, str], vim: bool) -> str:
    """The keys that a line of the settings asks for. Raises WrongKeyError."""
    if name not in BY_NAME:
        near = nearest(name[:_NAMED], tuple(BY_NAME))
        raise WrongKeyError(f'There is no command "{name[:_NAMED]}"', near)
    stays = f"; {_stays(name, standard)}"
    if text is None:
        raise WrongKeyError(f'{name} must be a string such as "k" or "k,ctrl+k"{stays}')
    try:
        keys = read_keys(text[:1000])
    except WrongKeyError as error:
        raise WrongKeyError(f"{name}: {_in_a_clause(error)}{stays}") from None
    fixed = (_FIXED | _FIXED_BY_VIM if vim else _FIXED) - set(standard[name].split(","))
    taken = next((key for key in keys if key in fixed), "")
    if taken:
        raise WrongKeyError(f"{name}: {shown_key(taken)} is reserved for lists and fields{stays}")
    return ",".join(keys)


def _resolve_duplicates(wanted: dict[str, str], standard: Mapping[str, str]) -> list[str]:
    """Takes out of what is wanted what would give a key to two commands, the later line first; says so."""
    wrong = []
    while (found := _double(wanted, standard)) is not None:
        key, loser, owner = found
        wrong.append(f"{loser}: {shown_key(key)} is already the key of {owner}; {_stays(loser, standard)}.")
        del wanted[loser]
    return wrong


def _double(wanted: Mapping[str, str], standard: Mapping[str, str]) -> tuple[str, str, str] | None:
    """A key that a command would get although it is another's, that command, and the other."""
    owners = {
        key: name for name, keys in standard.items() if name not in wanted for key in keys.split(",") if key
    }
    for name, keys in wanted.items():
        for key in filter(None, keys.split(",")):
            owner = owners.get(key, name)
            # Two commands may share a key in the catalogue where never both can be meant.
            shared = all(key in standard[one].split(",") for one in (name, owner))
            if owner != name and not shared:
                return key, name, owners[key]
            owners[key] = name
    return None


def _stays(name: str, standard: Mapping[str, str]) -> str:
    keys = [shown_key(key) for key in standard[name].split(",") if key]
    return f"{' '.join(keys)} stays" if keys else "it stays without a key"


def keys_of(node: DOMNode) -> KeyMap:
    """The key map of the app, or of the app that something is part of."""
    found = getattr(node, "key_map", None) or getattr(node.app, "key_map", DEFAULT)
    return found if isinstance(found, KeyMap) else DEFAULT
