"""What all dialogs share: a box over the main screen with a title, and a line of its keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual import on
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

from nuggets_tui.key_map import keys_of
from nuggets_tui.notices import attempt, dismiss_information
from nuggets_tui.safe_text import safe_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nuggets_tui.screens.help import Here

__all__ = ["Dialog", "key_content"]

_Answer = TypeVar("_Answer")
# Cells from which two sides fit beside each other.
_WIDE: Final = 100
# And from which a list has room for whole sentences.
_BROAD: Final = 160
# Lines from which a list and what is said of its row fit one below the other.
_TALL: Final = 20
_Result = TypeVar("_Result")


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
        from nuggets_tui.screens.help import dialog_here

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
