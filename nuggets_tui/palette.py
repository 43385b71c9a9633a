"""The palette: every command, every setting with its value, and notes by title, in groups, found by what is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from nuggets_tui.commands import GROUPS, NOTES, SEARCH, SETTINGS, VIEW
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import content, cut
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.picker import Match, fitting, folded
from nuggets_tui.setting_words import SETTING_WORDS, shown_value
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, note_marks, sides, title_style

if TYPE_CHECKING:
    from core.model.note import Note
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.screens.main import MainScreen

_MOST_NOTES: Final = 5
_MOST_LOOSE: Final = 12
# Below it a match is of first letters or of letters in this order; in a long description that says nothing.
_ALL_WORDS: Final = 3.0
_ASIDE: Final = 30
_NAME: Final = 40
_MARKED: Final = "bold underline $text-accent"


@dataclass(frozen=True)
class Entry:
    """A row of the palette. key: tells it from others. title, aside: what stands at its left and right end.

    names: what it is called, by which it is found first. about: what it does in other words. run: carries it out.
    """

    key: str
    group: str
    title: Content
    aside: Content
    names: tuple[str, ...]
    about: str
    run: Callable[[], object]


class Palette(Dialog[Entry]):
    """Answers with the entry that was chosen. notes: those to jump to, newest first; jump: shows one by its id."""

    CSS_PATH = "styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"list('{key.removeprefix('ctrl+')}')", "move", show=False, priority=True)
            for key in ("down", "up", "pagedown", "pageup", "ctrl+home", "ctrl+end")
        ),
    ]
    heading = "Commands"
    about = (
        "Type words of a command, of what it does, of a setting, or of a note's title. A group's name "
        'lists the group: "settings" lists every setting with its value.'
    )
    keys = "⏎  run · ↑↓  choose · esc  close"

    def __init__(
        self,
        entries: Sequence[Entry],
        notes: Sequence[Note] = (),
        jump: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(classes="large")
        self._entries = entries
        self._notes = notes
        self._jump = jump
        self._titles: list[str] | None = None
        self._queries = 0
        self._shown: dict[str, Entry] = {}
        # Whether notes are looked for, and enter was pressed meanwhile.
        self._looking = False
        self._entered = False

    def compose_inside(self) -> ComposeResult:
        yield Field("Find", id="words", hint="a command, a setting or a note")
        yield RowList(id="choices", empty_text="Nothing matches.")

    def on_mount(self) -> None:
        self.query_one("#words", Input).focus()
        self._show(grouped(self._entries))

    def _show(self, entries: Sequence[Entry]) -> None:
        self._shown = {entry.key: entry for entry in entries}
        self.query_one(RowList).set_rows(list(_rows(entries)), keep_cursor=False)

    @on(Input.Changed, "#words")
    def typed(self, event: Input.Changed) -> None:
        self._queries += 1
        ranked = ranked_entries(event.value, self._entries)
        self._show(found_entries(ranked, ()) if event.value.strip() else grouped(self._entries))
        self._looking = bool(event.value.strip() and self._notes and self._jump)
        if self._looking:
            self._find_notes(event.value, ranked, self._queries)

    @work(group="pick", exclusive=True, exit_on_error=False)
    async def _find_notes(self, text: str, ranked: Sequence[Ranked], query: int) -> None:
        found = await self.attempt(run_in_thread(self._matching, text, query))
        if query != self._queries or not self.is_current:
            return
        self._looking = False
        if found:
            self._show(found_entries(ranked, [(match, self._note_entry(match)) for match in found]))
        if self._entered:
            self._take()

    def _matching(self, text: str, query: int) -> Sequence[Match]:
        if self._titles is None:
            self._titles = [folded(note.title) for note in self._notes]
        return fitting(text, self._titles, _MOST_NOTES, lambda: query != self._queries)

    def _note_entry(self, match: Match) -> Entry:
        note, jump = self._notes[match.place], self._jump
        assert jump is not None
        title = content(note.title, title_style(note))
        for place in match.marked:
            if place < len(title):
                title = title.stylize(_MARKED, place, place + 1)
        return Entry(
            f"note {note.id}",
            NOTES,
            Content.assemble(note_marks(note), title),
            content(cut(note.nugget_name, _ASIDE), MUTED),
            (note.title,),
            "",
            partial(jump, note.id),
        )

    def action_list(self, key: str) -> None:
        self.query_one(RowList).action_move(key)

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        event.stop()
        if self._looking:
            self._entered = True
        else:
            self._take()

    @on(RowList.RowSelected)
    def chosen(self, event: RowList.RowSelected) -> None:
        event.stop()
        self._take()

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss(None)

    def _take(self) -> None:
        row = self.query_one(RowList).cursor_row
        if row is not None:
            self.dismiss(self._shown[row.key])


# What fits what was typed: how well (the lower the better), and the entry.
Rank = tuple[int, float]
Ranked = tuple[Rank, Entry]
_NAMED, _TITLED, _DESCRIBED, _LOOSE = range(4)


def ranked_entries(typed: str, entries: Sequence[Entry]) -> list[Ranked]:
    """The entries that fit what is typed: by a name or their group's, by what they do; or only loosely."""
    texts: list[str] = []
    owners: list[tuple[int, bool]] = []
    for place, entry in enumerate(entries):
        names = (*entry.names, entry.group)
        texts += [*map(folded, names), folded(f"{' '.join(entry.names)} {entry.about} {entry.group}")]
        owners += [*((place, True) for _ in names), (place, False)]
    ranks: dict[int, Rank] = {}
    for match in fitting(typed, texts, len(texts)):
        place, named = owners[match.place]
        if named or match.weight >= _ALL_WORDS:
            kind = _DESCRIBED if not named else _NAMED if match.strong else _LOOSE
            rank = (kind, -match.weight)
            ranks[place] = min(rank, ranks.get(place, rank))
    return sorted(((rank, entries[place]) for place, rank in ranks.items()), key=lambda one: one[0])


def found_entries(ranked: Sequence[Ranked], notes: Sequence[tuple[Match, Entry]]) -> list[Entry]:
    """What is listed, the group of the best first; what fits only loosely where nothing else does."""
    titled = [((_TITLED if match.strong else _LOOSE, -match.weight), entry) for match, entry in notes]
    both = sorted([*ranked, *titled], key=lambda one: one[0])
    listed = [one for one in both if one[0][0] != _LOOSE] or both[:_MOST_LOOSE]
    groups = dict.fromkeys(entry.group for _, entry in listed)
    return [entry for group in groups for _, entry in listed if entry.group == group]


def grouped(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for group in GROUPS for entry in entries if entry.group == group]


def _rows(entries: Sequence[Entry]) -> Iterator[Row]:
    group = ""
    for entry in entries:
        if entry.group != group:
            group = entry.group
            yield Row(f"group {group}", (Content.styled(group, "bold $text-accent"),), selectable=False)
        about = Content.styled(f"  {entry.about}", MUTED) if entry.about else Content("")
        yield Row(entry.key, (sides(Content.assemble(entry.title, about), entry.aside),))


# What there is to choose


def make_palette(app: NuggetsApp) -> Palette:
    """The palette over the screen in use: everything over the main screen, over a dialog what makes sense there."""
    from nuggets_tui.screens.main import MainScreen

    screen = app.screen
    system = [
        Entry(
            f"system {command.title}",
            VIEW,
            Content(command.title),
            Content(""),
            (command.title,),
            command.help,
            command.callback,
        )
        for command in app.get_system_commands(screen)
    ]
    if not isinstance(screen, MainScreen):
        return Palette(system)
    view = screen.view
    notes: Sequence[Note] = ()
    if view.loaded:
        from nuggets_tui.view import listed

        notes = listed(view.snapshot, "newest", view.show_hidden)
    entries = [*command_entries(screen), *search_entries(screen), *system, *setting_entries(screen)]
    return Palette(entries, notes, screen.open_note)


def command_entries(main: MainScreen) -> list[Entry]:
    """The commands of the catalogue that make sense now."""
    return [
        Entry(
            f"command {command.name}",
            command.group,
            Content(command.title),
            Content.styled(" ".join(command.shown_keys), "$text-accent"),
            (command.title, command.label, command.name.replace("_", " ")),
            command.also,
            partial(main.action_command, command.name),
        )
        for command in main.view.keys.commands
        if main.can(command.name)
    ]


def search_entries(main: MainScreen) -> list[Entry]:
    """The saved searches by their names, as far as they were read."""
    return [
        Entry(
            f"search {one.name}",
            SEARCH,
            content(f'Saved search "{cut(one.name, _NAME)}"'),
            content(cut(one.query, _ASIDE), MUTED),
            (one.name, f"saved search {one.name}"),
            "",
            partial(main.search.find, one.query),
        )
        for one in main.search.saved
    ]


def setting_entries(main: MainScreen) -> list[Entry]:
    """The settings with their values: of the user, and of this memory while it can be written."""
    settings = main.settings
    return [
        Entry(
            f"setting {one.key}",
            SETTINGS,
            Content(SETTING_WORDS[one.key]),
            Content.styled(shown_value(one.value), "$text-accent" if one.changed else MUTED),
            (SETTING_WORDS[one.key], one.key),
            one.key,
            partial(settings.change, one.key),
        )
        for one in settings.present()
    ]
