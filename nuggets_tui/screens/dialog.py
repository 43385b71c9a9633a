"""What all dialogs share: a box over the main screen with a title, and a line of its keys."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Event, Mount
from textual.geometry import Size
from textual.reactive import reactive
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from core.daily import lines_of
from core.promotion import PromotionResult
from core.search.completion import offers_of
from nuggets_tui.commands import KeyMap, keys_of
from nuggets_tui.file_opening import Found
from nuggets_tui.notices import attempt, dismiss_information
from nuggets_tui.safe_text import content, cut, safe_block, safe_line
from nuggets_tui.setting_words import SETTING_WORDS
from nuggets_tui.widgets.fields import CompletedField, Field, OffersFor, Sides
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, path_line, sides
from nuggets_tui.words import data_size, local_time, plural, time_ago

if TYPE_CHECKING:
    from rich.console import RenderableType

    from core.memory import Backup, PromotionTarget
    from core.model.note import Link, Note
    from core.model.snapshot import Snapshot
    from nuggets_tui.widgets.note_view import Neighbour

__all__ = ["Dialog", "key_content"]

_Answer = TypeVar("_Answer")
# Cells from which two sides fit beside each other.
_WIDE: Final = 100
# And from which a list has room for whole sentences.
_BROAD: Final = 160
# Lines from which a list and what is said of its row fit one below the other.
_TALL: Final = 20
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Here:
    """A place in the app: its name, what it shows, keys of its own with what they do there, and commands that act on
    its rows.
    """

    name: str
    about: str
    keys: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()

    def filled(self, keys: KeyMap, usable: Collection[str] | None = None) -> Here:
        """With the keys and titles of its commands. usable: commands that make sense now; others are left out."""
        named = [name for name in self.commands if usable is None or name in usable]
        does = ((keys.key(name), keys.by_name[name].title) for name in named)
        return Here(self.name, keys.filled(self.about), (*self.keys, *does))


class Dialog(ModalScreen[_Answer]):
    """A box. esc closes it without an answer; its help says what it is about, and its keys. In its line of keys the
    name of a command in braces stands for the command's key.
    """

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", show=False),
        # Behind Textual's own, which copies what is marked.
        Binding("ctrl+c", "app.help_quit", "quit", show=False),
        Binding("question_mark,f1", "app.help", "help", show=False, id="help"),
    ]
    # What stands beside each other in a wide terminal stands one below the other in a narrow one.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide"), (_BROAD, "-broad")]  # noqa: RUF012  Textual's own is no class variable.
    VERTICAL_BREAKPOINTS = [(0, "-low"), (_TALL, "-tall")]  # noqa: RUF012  As above.
    heading = ""
    about = ""
    _answered = False
    # Whether the app is to end once this has closed.
    quitting = False
    keys = "esc  close"
    # What a notice says of a text being written here, when it could not be saved.
    not_saved = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(safe_line(self.heading, 200))
            yield from self.compose_inside()
            yield DialogKeys(self.key_line(), id="dialog-keys")

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Mount) or self.query(DialogKeys):
            await super().on_event(event)

    def render(self) -> RenderableType:
        """What is seen behind the box: the screen below, in darker colours.

        Textual takes the screen that it did not draw yet in this frame. For a mouse that is over a dialog with two
        more above it this is the one above, which shows the dialog in turn: both would be drawn without end.
        """
        stack, background = self.app.screen_stack, self.styles.background
        place = stack.index(self) if self in stack else 0
        if not place or background.a == 1:
            return super().render()
        return BackgroundScreen(stack[place - 1], background)

    @on(Mount)
    def _make_room(self) -> None:
        dismiss_information(self)

    def compose_inside(self) -> ComposeResult:
        raise NotImplementedError

    def key_line(self) -> Content:
        return key_content(keys_of(self).filled(self.keys))

    def refresh_keys(self) -> None:
        self.query_one(DialogKeys).line = self.key_line()

    @property
    def unsaved(self) -> bool:
        """Whether something typed here would be lost."""
        return False

    def here(self) -> Here:
        return dialog_here(safe_line(self.heading, 200), self.about, self.key_line())

    def dismiss(self, result: _Answer | None = None) -> AwaitComplete:
        """Closes with an answer, once. What was asked over it has no meaning any more and closes too: Textual would
        take that for the dialog itself when work ends below it.
        """
        if self._answered or self not in self.app.screen_stack:
            return AwaitComplete()
        self._answered = True
        while self.app.screen is not self:
            self.app.pop_screen()
        if self.quitting:
            self.app.call_later(self.app.action_quit)
        return super().dismiss(result)

    def action_close(self) -> None:
        self.dismiss(None)

    def if_sure(self, question: ModalScreen[bool], then: Callable[[], object]) -> None:
        """Asks, and does it after a yes."""

        def answered(sure: bool | None) -> None:
            if sure:
                then()

        self.app.push_screen(question, answered)

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """The result of something asked of the session; None when it failed, which a notice then says."""
        return await attempt(self, asked, self.not_saved)


_PRESSED_AS: Final = {
    "⏎": "enter",
    "esc": "escape",
    "←": "left",
    "→": "right",
    "+": "plus",
    "?": "question_mark",
    "/": "slash",
}
_BETWEEN: Final = "   "
# Keys to move with: the mouse has its own ways.
_NOT_FOR_THE_MOUSE: Final = ("↑", "↓", "↑↓")


def key_content(keys: str) -> Content:
    """ "ctrl+s  save · esc  close" with the keys marked, and with what a click presses."""
    return Content(_BETWEEN).join(map(_item, keys.split(" · ")))


def _item(part: str) -> Content:
    key, _, label = part.partition("  ")
    item = Content.assemble((key, "bold $text-accent"), (f" {label}", "$text-muted"))
    first = key.split(" ")[0]
    if first in _NOT_FOR_THE_MOUSE:
        return item
    # A mark of our own instead of "@click", which would paint every key as a link.
    return item.stylize(Style.from_meta({"press": _PRESSED_AS.get(first, first)}))


class DialogKeys(Widget):
    """The keys in as many lines as they take: none is left out, least of all the one that leaves."""

    line: reactive[Content] = reactive(Content(), layout=True)

    def __init__(self, line: Content, *, id: str) -> None:
        super().__init__(id=id)
        self.set_reactive(DialogKeys.line, line)

    def render(self) -> Content:
        lines = self._lines(self.size.width)
        if len(lines) <= self.size.height:
            return Content("\n").join(lines)
        *keys, leaves = self.line.split(_BETWEEN)
        while (
            keys
            and sum(key.cell_length + len(_BETWEEN) for key in keys) + leaves.cell_length > self.size.width
        ):
            keys.pop()
        return Content(_BETWEEN).join([*keys, leaves])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def _lines(self, width: int) -> list[Content]:
        lines: list[Content] = []
        for key in self.line.split(_BETWEEN):
            if lines and lines[-1].cell_length + len(_BETWEEN) + key.cell_length <= width:
                lines[-1] = Content.assemble(lines[-1], _BETWEEN, key)
            else:
                lines.append(key)
        return lines

    def on_click(self, event: Click) -> None:
        key = event.style.meta.get("press")
        if key:
            event.stop()
            self.app.simulate_key(key)


class LinesScreen(Dialog[_Answer]):
    """Shows lines. more: reads what comes in their place; where it fails, a notice says it. about: for the help."""

    keys = "↑↓  scroll · esc  close"

    def __init__(
        self,
        heading: str,
        lines: MakeLines,
        *,
        about: str,
        more: Callable[[], Awaitable[MakeLines]] | None = None,
    ) -> None:
        super().__init__(classes="large")
        self.heading = heading
        self.about = about
        self._lines = lines
        self._more = more

    def compose_inside(self) -> ComposeResult:
        yield LineView(self._lines, id="lines")

    def on_mount(self) -> None:
        self.query_one(LineView).focus()
        if self._more is not None:
            self._read(self._more())

    @work(group="read", exclusive=True, exit_on_error=False)
    async def _read(self, asked: Awaitable[MakeLines]) -> None:
        found = await self.attempt(asked)
        if found is not None:
            self.query_one(LineView).show_lines(found)


class LinesReview(LinesScreen[bool]):
    """What something would do, before it is done. Answers whether it is to be done. yes: what y does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", "yes", show=False),
        Binding("n", "close", "no", show=False),
    ]

    def __init__(self, heading: str, lines: MakeLines, *, yes: str, about: str) -> None:
        super().__init__(heading, lines, about=about)
        self.keys = f"y  {yes} · ↑↓  scroll · n  cancel"

    def action_agree(self) -> None:
        self.dismiss(True)


class AskScreen(Dialog[_Answer]):
    """Asks for one line. take: makes the answer of it; what it raises is said, and the line stays. does: what enter
    does. empty: whether nothing is an answer too.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "take", "continue", show=False)]

    def __init__(
        self,
        heading: str,
        said: str,
        label: str,
        take: Callable[[str], Awaitable[_Answer]],
        *,
        value: str = "",
        hint: str = "",
        does: str,
        empty: bool = False,
        offers_for: OffersFor | None = None,
    ) -> None:
        super().__init__(classes="small")
        self.heading = heading
        self.about = said
        self.keys = f"⏎  {does} · esc  close"
        self._field = (
            Field(label, value, id="line", hint=hint)
            if offers_for is None
            else CompletedField(label, value, id="line", hint=hint, offers_for=offers_for)
        )
        self._answer = take
        self._empty = empty

    def compose_inside(self) -> ComposeResult:
        yield Static(content(self.about), classes="words")
        yield self._field

    def on_mount(self) -> None:
        self._field.focus()

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        if self._field.value.strip() or self._empty:
            self._take(self._field.value.strip())

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _take(self, text: str) -> None:
        answer = await self.attempt(self._answer(text))
        if answer is not None:
            self.dismiss(answer)


class BrowseScreen(Dialog[_Answer]):
    """A list, and beside it what there is to say of the row under the cursor. titles: of the two sides."""

    titles: tuple[str, str] = ("", "")
    multi_select = False
    rows = getters.query_one("#changes", RowList)
    lines = getters.query_one("#difference", LineView)

    def __init__(self, heading: str = "", said: str | Content = "", *, classes: str = "full") -> None:
        super().__init__(classes=classes)
        self.heading = heading or self.heading
        self.said = content(said, "$text-muted") if isinstance(said, str) else said

    def compose_inside(self) -> ComposeResult:
        yield Static(self.said, classes="words")
        rows = RowList(id="changes", multi_select=self.multi_select)
        self.fill(rows)
        yield Sides(rows, LineView(id="difference"), self.titles)

    def on_mount(self) -> None:
        self.query("#changes").focus()

    def fill(self, rows: RowList) -> None:
        """Puts what there is into the list."""
        raise NotImplementedError

    def detail(self, row: Row, index: int) -> MakeLines | None:
        """What to say of a row; None: what stands there stays."""
        raise NotImplementedError

    def say(self, said: Content) -> None:
        """Other words above the two sides."""
        self.query_one(".words", Static).update(said)

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows.cursor_row if self.is_mounted else None

    def show_detail(self) -> None:
        """What is said of the row under the cursor, which is another one now, or has changed."""
        row = self.row
        if row is not None and (make := self.detail(row, self.rows.cursor)) is not None:
            self.lines.show_lines(make)
        self.refresh_keys()

    def open_row(self, row: Row, index: int) -> None:
        """What enter and a click do."""
        self.lines.focus()

    @on(RowList.RowSelected, "#changes")
    def row_opened(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.open_row(event.row, event.index)

    @on(RowList.RowHighlighted, "#changes")
    def follow_cursor(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self.show_detail()


async def as_typed(text: str) -> str:
    """The line itself as the answer."""
    return text


class ConfirmScreen(Dialog[bool]):
    """y does it; n, esc and enter do not. leaves: it was esc that asked whether to leave, and esc once more does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,enter", "answer(False)", "no", show=False),
    ]

    def __init__(
        self, heading: str, text: str, *, yes: str, no: str = "cancel", leaves: bool = False
    ) -> None:
        super().__init__(classes="small")
        self.heading = heading
        self.keys = f"{'esc' if leaves else 'y'}  {yes} · n  {no}"
        self._text = text
        self._leaves = leaves

    def compose_inside(self) -> ComposeResult:
        yield Static(Content(safe_block(self._text, 2000)), classes="words")

    def action_answer(self, sure: bool) -> None:
        self.dismiss(sure)

    def action_close(self) -> None:
        if self._leaves:
            self.action_answer(True)
        else:
            super().action_close()


def dialog_here(name: str, about: str, line: Content) -> Here:
    """A dialog as a place, its keys read off the line at its bottom, where they are set apart by their style."""
    starts = sorted((span.start, span.end) for span in line.spans if "bold" in str(span.style))
    ends = [*(start for start, _ in starts), len(line.plain)][1:]
    pairs = [
        (line.plain[start:stop], line.plain[stop:end].strip())
        for (start, stop), end in zip(starts, ends, strict=True)
    ]
    return Here(name, about, tuple(pairs))


_NAME, _PATH = 60, 70
HIDE: Final = "hide"
SHOW: Final = "show"
ANOTHER: Final = "another folder"
_ANSWERS: Final = (
    ("project", "Yes, for this project", "each daily pass writes this MEMORY.md only"),
    ("always", "Always", "each daily pass writes every MEMORY.md you promoted to"),
    ("never", "Never", "you promote by hand"),
    (SHOW, "Show me the lines first", "and ask again later"),
)


class ChoiceScreen(Dialog[str]):
    """Answers with the key of the chosen row. said: what comes of choosing. does: what enter does."""

    said = ""

    def __init__(
        self,
        rows: Sequence[Row],
        heading: str = "",
        said: str = "",
        does: str = "",
        empty: Content | str = "",
    ) -> None:
        super().__init__(classes="large")
        self._rows = rows
        self._empty = empty
        self.heading = heading or self.heading
        self.said = said or self.said
        if does:
            self.keys = f"⏎  {does} · ↑↓  move · esc  close"

    def compose_inside(self) -> ComposeResult:
        yield Static(content(self.said, MUTED), classes="words")
        yield RowList(self._rows, id="choices", empty_text=self._empty)

    def on_mount(self) -> None:
        self.query_one(RowList).focus()

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.dismiss(event.row.key)


def _row(key: str, left: str, right: str) -> Row:
    return Row(key, (sides(content(left), content(right, MUTED)),))


def tag_choice(tags: Sequence[str], snapshot: Snapshot, team: Snapshot | None) -> ChoiceScreen:
    """Answers with one of some tags."""
    counts = dict(offers_of(snapshot, team)["tag"])
    rows = [_row(tag, tag, plural(counts.get(tag, 0), "note")) for tag in tags]
    said = "A click on a tag of a note lists its notes, too."
    return ChoiceScreen(rows, "List the notes with which tag?", said, "list")


def project_choice(projects: Mapping[str, str], snapshot: Snapshot) -> ChoiceScreen:
    """Answers with one of some projects."""
    counts = Counter(projects.get(note.nugget_name, "") for note in snapshot.visible)
    nuggets: dict[str, list[str]] = {}
    for nugget, project in projects.items():
        nuggets.setdefault(project, []).append(nugget)
    rows = []
    for name in sorted(nuggets):
        others = cut(", ".join(one for one in nuggets[name] if one != name), _NAME)
        rows.append(_row(name, name, plural(counts[name], "note") + (f" · {others}" if others else "")))
    said = "A project owns the nuggets first written from it, and those that have its name."
    return ChoiceScreen(rows, "Show notes of which project?", said, "list")


def link_choice(note: Note, links: Sequence[tuple[Note, Link]]) -> ChoiceScreen:
    """Answers with the place of one of a note's links."""
    rows = [
        _row(str(place), other.title, cut(link.reason, _NAME)) for place, (other, link) in enumerate(links)
    ]
    heading = f'Unlink "{safe_line(note.title, _NAME)}" from'
    return ChoiceScreen(rows, heading, "You can undo it.", "unlink")


def neighbour_choice(shown: Note, other: Note, neighbour: Neighbour) -> ChoiceScreen:
    """Answers with HIDE, or anything else to remove the link alone, where there is one."""
    hide = (
        ("Bring it back", "into search and recall") if other.hidden else ("Hide it", "from search and recall")
    )
    rows = [Row(HIDE, (content(hide[0], "bold"), content(hide[1], MUTED)))]
    if neighbour.suggestion is None:
        unlink = f'Unlink it from "{safe_line(shown.title, _NAME)}"'
        reason = content(cut(neighbour.reason, _PATH), MUTED)
        rows.insert(0, Row("unlink", (content(unlink, "bold"), reason)))
    return ChoiceScreen(rows, safe_line(other.title, _NAME), "You can undo it.", "choose")


def automatic_choice(result: PromotionResult) -> ChoiceScreen:
    """Answers as `core.daily.answer_promotion` takes it, or SHOW."""
    lines = plural(lines_of(result), "line")
    said = f"The daily pass can write often recalled notes to MEMORY.md: now {lines} of {safe_line(result.path)}."
    rows = [Row(key, (content(answer), content(more, MUTED))) for key, answer, more in _ANSWERS]
    return ChoiceScreen(rows, "Promote with the daily pass?", said, "choose")


def backup_choice(backups: tuple[Backup, ...], now: datetime) -> ChoiceScreen:
    """Answers with the name of the chosen backup."""
    rows = []
    for backup in backups:
        when = Content.assemble(
            (local_time(backup.at), "bold"), (f"  {time_ago(backup.at, now) or 'now'}", MUTED)
        )
        about = content(f"{backup.reason} · {data_size(backup.size)}", MUTED)
        rows.append(Row(backup.name, (sides(when, about),)))
    said = "You see a preview first. Nothing is written until you apply it."
    return ChoiceScreen(rows, "Go back to a backup", said, "preview")


def file_choice(named: Sequence[Found]) -> ChoiceScreen:
    """Answers with the place of a reference among those given; those that are there come first."""
    rows = []
    for place in sorted(range(len(named)), key=lambda place: named[place].path is None):
        path, name = named[place].path, cut(str(named[place].reference), _NAME)
        style, there = ("", cut(_shortened(path), _PATH)) if path is not None else (MUTED, "not found")
        rows.append(Row(str(place), (sides(content(name, style), content(there, MUTED)),)))
    said = "Files named in the note."
    if any(one.surprising for one in named):
        said = "Files named in the note. Some are outside the folder where you started the app."
    screen = ChoiceScreen(rows, "Open which file?", said, "open in $EDITOR")
    screen.about = (
        "A relative path is looked up in the folder where you started the app, then in its repository's root."
    )
    return screen


def _shortened(path: Path) -> str:
    home = os.path.expanduser("~")
    spelled = str(path)
    return f"~{spelled[len(home) :]}" if home != "/" and spelled.startswith(f"{home}{os.sep}") else spelled


def target_choice(targets: tuple[PromotionTarget, ...], now: datetime) -> ChoiceScreen:
    """Answers with the chosen file's folder, or ANOTHER. Those whose folder is gone are told and cannot be chosen.
    targets: the present project first, then those written to last.
    """
    another = Row(ANOTHER, (content("Another folder …", "bold"), Content("")))
    said = "MEMORY.md is the page that an agent reads when it starts. You see a preview before anything is written."
    rows = [*(_target_row(target, now) for target in targets), another]
    return ChoiceScreen(rows, "Promote: to which MEMORY.md?", said, "preview")


def _target_row(target: PromotionTarget, now: datetime) -> Row:
    folder = Path(target.path).parent
    name = Path(target.cwd).name if target.cwd else folder.name
    title = content(name or str(folder), "bold" if target.there else MUTED)
    if not target.there:
        said = content("not possible: its folder no longer exists", "$text-warning")
    else:
        said = content("the current project" if target.current else "", "$text-success")
    promoted = f"{plural(target.count, 'note')} promoted {time_ago(target.at, now)}"
    written = promoted if target.at else "nothing promoted yet"
    head = sides(title, Content.assemble(said, content(f"  {written}", MUTED)))
    return Row(str(folder), (head, path_line(target.path)), target.there)


def setting_choice(name: str, choices: Sequence[str], now: str, said: str) -> ChoiceScreen:
    """Answers with one of the words that a setting can be."""
    rows = [
        Row(choice, (sides(content(choice), content("now" if choice == now else "", MUTED)),))
        for choice in sorted(choices, key=lambda choice: choice != now)
    ]
    screen = ChoiceScreen(rows, SETTING_WORDS[name], said, "save")
    screen.set_classes("small setting")
    return screen
