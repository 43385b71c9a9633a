"""Keys in turn: each is obeyed, and the dialog it opens stands, before the next one is looked at; vim's keys move."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, WorkerError

from nuggets_tui.textual_adapter import is_stopped, parent_of

# Work of these groups ends in a dialog, or leaves another note under the cursor: keys that were typed for that wait,
# but not for longer than somebody would.
_WAITED_FOR: Final = ("open", "change")
_PATIENCE: Final = 0.3
# Work of these groups fits lists to what is typed. What acts on their rows waits for it, however long; esc does not.
_FITTING: Final = ("pick", "search", "listing")
_LEAVING: Final = frozenset(("escape", "ctrl+q", "ctrl+c"))
_ERASING: Final = frozenset(("backspace", "delete"))
# What is typed into a field goes from the terminal to the field, to its screen, and in a message of its own once more.
_WAYS: Final = 3
_POLL: Final = 0.01
# A widget that goes while a key is on its way through it must not hold the keyboard.
_LOST_AFTER: Final = 1.0
_AS_ARROWS: Final = {"h": "left", "j": "down", "k": "up", "l": "right"}
_MOVES: Final = frozenset(("up", "down", "left", "right", "home", "end", "pageup", "pagedown"))
# Looking and leaving need nothing to be there.
_AT_ANY_TIME: Final = _MOVES | {
    *"123456", "tab", "shift+tab", "question_mark", "f1", "q", "escape", "ctrl+q", "ctrl+c"
}  # fmt: skip


class Before(NamedTuple):
    """What there was before a key: the screen on top, and work under way that keys wait for."""

    screen: Screen[object]
    openings: frozenset[Worker[object]]


class KeyQueue:
    """Has an app obey one key after the other.

    Textual hands a key to the widget in focus and looks at the next one while the first is still on its way up to
    the bindings. So a word typed right behind the key that opens a field would be obeyed letter by letter.

    obey: what the app does with a key on its own. vim: whether h, j, k and l move.
    """

    def __init__(self, app: App[Any], obey: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app = app
        self._obey = obey
        self.vim = False
        # Whether there is something to do with keys yet. Of a word that is typed ahead the first letters must not be
        # lost while the others are taken for commands.
        self._open = False
        self.waiting: deque[events.Key | events.Paste] = deque()
        self.under_way = False
        # Work that waits for the answer of a dialog.
        self.asking: set[Worker[Any]] = set()
        self._alarm: asyncio.TimerHandle | None = None
        # The field that was typed into since a key last waited for its list; whether one waits, and the end of that.
        self._typed_into: MessagePump | None = None
        self._waits_for_list = False
        self._fitting: asyncio.Task[None] | None = None

    async def take(self, event: events.Event) -> None:
        """Obeys an event; keys and pasted text wait for those before them."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await self._obey(event)
            return
        if self._waits_for_list and isinstance(event, events.Key) and event.key in _LEAVING:
            # Nobody waits for what they leave.
            if self._fitting is not None:
                self._fitting.cancel()
            self.waiting.clear()
            self._go_on()
        self.waiting.append(event)
        await self._obey_waiting()

    async def _obey_waiting(self) -> None:
        while self.waiting and not self.under_way and self._may_obey(self.waiting[0]):
            await self._obey_next()

    def _may_obey(self, event: events.Key | events.Paste) -> bool:
        if not self._app.screen_stack:
            return False
        return self._open or (isinstance(event, events.Key) and event.key in _AT_ANY_TIME)

    def hold(self) -> None:
        """Until `release` keys wait, but for those that need nothing to be there."""
        self._open = False

    async def release(self) -> None:
        """From now on keys are obeyed, those first that were pressed before."""
        self._open = True
        await self._obey_waiting()

    async def _obey_next(self) -> None:
        event = self.waiting.popleft()
        if isinstance(event, events.Key) and self.vim:
            event = self._moved(event)
        if self._types(event):
            self._typed_into = self._app.focused
        elif self._typed_into is not None and not (isinstance(event, events.Key) and event.key in _LEAVING):
            self.waiting.appendleft(event)
            self.under_way = self._waits_for_list = True
            field, self._typed_into = self._typed_into, None
            self._go_on_when_fitting(field)
            return
        if self._opens_nothing(event):
            await self._obey(event)
            return
        self.under_way = True
        before = Before(self._app.screen, self._openings())
        node: MessagePump = self._app.focused or self._app.screen
        await self._obey(event)
        if event.is_forwarded:
            self._go_on_in(_LOST_AFTER, lambda: self._go_on_when_ready(before))
            self._follow(event, node, self._alarm, lambda: self._go_on_behind(node, before))
        else:
            self._go_on_when_ready(before)

    def _follow(self, event: events.Event, node: MessagePump, turn: object, then: Callable[[], None]) -> None:
        """Calls `then` once an event that goes up from a node has been handled, wherever it was stopped."""

        def passed() -> None:
            parent = parent_of(node)
            if turn is not self._alarm:
                return
            # An event that the app sent is marked as stopped on its way back to it, too.
            stopped = is_stopped(event) and parent is not self._app
            if stopped or parent is None or node is self._app:
                then()
            else:
                self._follow(event, parent, turn, then)

        # Behind the event in the node's own queue.
        if not node.call_later(passed) and turn is self._alarm:
            then()

    def _go_on_behind(self, node: MessagePump, before: Before) -> None:
        """Goes on behind what a key made a widget tell its dialog, such as that a row was chosen: it may close."""
        screen = self._app.screen if self._app.screen_stack else before.screen
        if screen is not before.screen or not node.is_attached:
            self._go_on_when_ready(before)
            return
        self._go_on_in(_LOST_AFTER, lambda: self._go_on_when_ready(before))
        self._pass_up(node, self._alarm, lambda: self._go_on_when_ready(before))

    def _pass_up(self, node: MessagePump, turn: object, then: Callable[[], None]) -> None:
        """Calls `then` once all that waits now at a node and above it, up to its screen, has been handled."""

        def passed() -> None:
            parent = parent_of(node)
            if turn is not self._alarm:
                return
            if parent is None or isinstance(node, Screen):
                then()
            else:
                self._pass_up(parent, turn, then)

        if not node.call_later(passed) and turn is self._alarm:
            then()

    def _go_on_when_fitting(self, field: MessagePump, ways: int = _WAYS) -> None:
        """Goes on once a field and its screen have taken in what was typed, and their list shows what fits it."""
        self._go_on_in(_LOST_AFTER, self._go_on)
        if ways:
            self._pass_up(field, self._alarm, lambda: self._go_on_when_fitting(field, ways - 1))
        else:
            self._fitting = asyncio.create_task(self._fitted())

    async def _fitted(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        while under_way := [
            one for one in self._app.workers if one.group in _FITTING and not one.is_finished
        ]:
            # What is waited for goes on when this is not waited for any more; what a newer one replaces ends early.
            await asyncio.wait([asyncio.ensure_future(_ended(one)) for one in under_way])
        self._go_on()

    def _go_on_when_ready(self, before: Before, waited: float = 0.0) -> None:
        """Goes on once a dialog that the last key opens is ready for the next one."""
        screen = self._app.screen if self._app.screen_stack else before.screen
        if screen is not before.screen:
            # Behind what puts the focus where it begins.
            self._go_on_in(_LOST_AFTER, self._go_on)
            turn = self._alarm
            screen.call_later(lambda: self._go_on() if turn is self._alarm else None)
        elif waited < _PATIENCE and not all(one.is_finished for one in self._openings() - before.openings):
            self._go_on_in(_POLL, lambda: self._go_on_when_ready(before, waited + _POLL))
        else:
            self._go_on()

    def _openings(self) -> frozenset[Worker[object]]:
        found = (worker for worker in self._app.workers if worker.group in _WAITED_FOR)
        return frozenset(worker for worker in found if worker not in self.asking)

    def _go_on_in(self, seconds: float, then: Callable[[], None]) -> None:
        """Goes on after a while, unless something else does before; the alarm also tells one turn from the next."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(seconds, then)

    def _go_on(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self.under_way = self._waits_for_list = False
        self._fitting = None
        if self.waiting:
            self._app.call_later(self._obey_waiting)

    def _types(self, event: events.Key | events.Paste) -> bool:
        """Whether an event changes the text of a field."""
        return isinstance(self._app.focused, Input) and (
            isinstance(event, events.Paste) or event.key in _ERASING or self._is_typed(event)
        )

    def _opens_nothing(self, event: events.Key | events.Paste) -> bool:
        """Whether an event only types or moves: nothing behind it has to wait, so typing and scrolling cost no more."""
        if isinstance(event, events.Paste):
            return True
        # Up and down may lead out of a field.
        leaves = event.key in ("up", "down") and isinstance(self._app.focused, Input)
        return (event.key in _MOVES and not leaves) or self._is_typed(event)

    def _is_typed(self, event: events.Key) -> bool:
        focused = self._app.focused
        return focused is not None and focused.check_consume_key(event.key, event.character)

    # Vim

    def _moved(self, event: events.Key) -> events.Key:
        """The key as it is meant where h, j, k and l move."""
        taken = self._is_typed(event) or event.key in self._app.screen.active_bindings
        return event if taken or event.key not in _AS_ARROWS else events.Key(_AS_ARROWS[event.key], None)


async def _ended(worker: Worker[Any]) -> None:
    with suppress(WorkerError):
        await worker.wait()
