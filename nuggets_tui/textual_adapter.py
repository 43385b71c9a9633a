"""What the fronts use of Textual 8.2 and Rich 15 under a name that begins with an underscore, each with the reason.

No other file does. A new version of Textual that lacks one of these names, or has come to have a public way, is dealt
with here.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from textual._styles_cache import StylesCache
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.cache import FIFOCache
from textual.color import Color
from textual.events import Key
from textual.geometry import Size
from textual.message import Message
from textual.notifications import Notification
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input
from textual.widgets._toast import ToastRack

if TYPE_CHECKING:
    from rich.segment import Segment
    from textual.driver import Driver
    from textual.message_pump import MessagePump
    from textual.style import Style

# All that is used here and by `widgets.value_list`, by the module or class that has it: a test asks the installed
# versions for them.
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "textual.app.App": ("_unnotify", "_refresh_notifications", "_handle_exception"),
    "textual.widgets._toast.ToastRack": ("_toast_id",),
    "textual._xterm_parser.XTermParser": ("_sequence_to_key_events",),
    "textual.widgets._select.SelectOverlay": ("_move_page",),
    "textual.widgets.Input": ("_suggestion", "_watch_value"),
    "textual.widget.Widget": ("_scroll_update",),
    "textual._styles_cache.StylesCache": ("get_inner_outer",),
    "textual.strip.Strip": (
        "_segments", "_cell_length", "_render_cache", "_link_ids", "_cell_count",
        "_divide_cache", "_crop_cache", "_style_cache", "_filter_cache", "_line_length_cache", "_crop_extend_cache",
        "_offsets_cache",
    ),
}  # fmt: skip

_App = TypeVar("_App", bound=type[App[Any]])
_STRICT: Final = "getincrementaldecoder"
_PARSER: Final = "XTermParser"
# The marks around what is pasted.
_PASTE: Final = "\x1b[200~"
_PASTED: Final = "\x1b[201~"
# The caches of a line, each with its size.
_CACHES: Final = {
    "_divide_cache": 4, "_crop_cache": 16, "_style_cache": 16, "_filter_cache": 4, "_line_length_cache": 4,
    "_crop_extend_cache": 4, "_offsets_cache": 4,
}  # fmt: skip


# Notices: Textual shows and forgets them, and lets nobody ask which there are or take one away.


def notices_of(app: App[Any]) -> list[Notification]:
    """The notices that have not run out."""
    return list(app._notifications)


def take_away(app: App[Any], gone: Iterable[Notification]) -> None:
    """Takes notices off the screen before their time."""
    taken = False
    for notice in gone:
        taken = True
        app._unnotify(notice, refresh=False)
        # Textual would take the notice away and leave a line for it.
        for holder in app.screen.query(f"#{ToastRack._toast_id(notice)}") if app.screen_stack else ():
            holder.remove()
    if taken:
        app._refresh_notifications()


# Events on their way up: a node that is not in the tree any more has a parent, and nothing says who stopped an event.


def parent_of(node: MessagePump) -> MessagePump | None:
    """Where the events of a node go next."""
    return node._parent


def is_stopped(event: Message) -> bool:
    """Whether an event goes no further up."""
    return event._stop_propagation


# The app.


def any_terminal(app: App[Any]) -> None:
    """Rich takes a terminal of the name "dumb" to have 80 by 25 cells, whatever it has: Textual, which sees it to be of
    another size, would lay the screen out anew for ever. Rich reads the name in the environment that it was given.
    """
    app.console._environ = {**app.console._environ, "TERM": ""}


def passing_over(late: Callable[[Any, Exception], bool]) -> Callable[[_App], _App]:
    """Makes an app pass over errors of which `late` says so; every error that nobody caught ends Textual's own app."""

    def decorated(app_class: _App) -> _App:
        handle: Callable[[App[Any], Exception], None] = app_class._handle_exception

        def handle_exception(app: App[Any], error: Exception) -> None:
            if late(app, error):
                app.log.error(error)
            else:
                handle(app, error)

        setattr(app_class, "_handle_exception", handle_exception)  # noqa: B010
        return app_class

    return decorated


# Widgets.


class OfferingInput(Input):
    """A field that tells and changes what it offers behind the cursor, which Textual's own keeps to itself."""

    @property
    def suggestion(self) -> str:
        """The whole text with what is offered behind it; "" for nothing."""
        return self._suggestion

    @suggestion.setter
    def suggestion(self, text: str) -> None:
        self._suggestion = text

    def taking_value(self) -> AbstractContextManager[None]:
        """What is around it when Textual follows another value, by which it would lay out the whole screen."""
        return nullcontext()

    def _watch_value(self, value: str) -> None:
        with self.taking_value():
            super()._watch_value(value)


def let_go_of_closed_widgets() -> None:
    """Textual remembers the grounds of lines by the cache of the widget that asked, and so keeps all that the last
    1,024 widgets drew, closed ones too. The grounds are the same for all: now they are remembered for all together.
    """
    remembered = StylesCache.get_inner_outer
    if hasattr(remembered, "__wrapped__"):
        shared = lru_cache(1024)(remembered.__wrapped__)

        def get_inner_outer(_: StylesCache, base: Color, background: Color) -> tuple[Style, Style]:
            return shared(StylesCache, base, background)

        setattr(StylesCache, "get_inner_outer", get_inner_outer)  # noqa: B010


def make_caches_late() -> None:
    """Textual gives each line seven caches when it makes it, and most lines use none or two of them: objects to make,
    and to pass over whenever Python looks for garbage. Now each is made when it is asked for the first time.
    """
    if set(Strip.__slots__) == set(NAMES["textual.strip.Strip"]):
        setattr(Strip, "__init__", _line_without_caches)  # noqa: B010
        setattr(Strip, "__getattr__", _cache_of_line)  # noqa: B010


def _line_without_caches(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    strip._segments = list(segments)
    strip._cell_length = cell_length
    strip._render_cache = strip._link_ids = strip._cell_count = None


def _cache_of_line(strip: Strip, name: str) -> FIFOCache[Any, Any]:
    """Called for what a line does not have yet."""
    size = _CACHES.get(name)
    if size is None:
        raise AttributeError(
            f"{type(strip).__name__!r} object has no attribute {name!r}", name=name, obj=strip
        )
    cache: FIFOCache[Any, Any] = FIFOCache(size)
    setattr(strip, name, cache)
    return cache


def resize_content(view: ScrollView, size: Size) -> None:
    """Sets the size of what a view scrolls over, in cells. Where a scroll bar comes or goes, it sees to its room.

    Textual's own way lays the whole screen out anew, since a widget may grow with its content. Ours, but for those of
    automatic height, have a place of their own whatever they hold, and what is typed or moved onto the screen would
    wait for it.
    """
    if size == view.virtual_size:
        return
    view.set_reactive(ScrollView.virtual_size, size)
    if view.is_attached:
        view._scroll_update(size)
        if view.show_vertical_scrollbar:
            # A bar that was away has not heard of what was scrolled meanwhile.
            view.vertical_scrollbar.position = view.scroll_y
        view.refresh(layout=view.styles.is_auto_height)


# What no terminal should send, and Textual takes to be the end of the app: bytes that are no UTF-8 become U+FFFD, and
# keys that name no character are passed over.


class AnyKeys(XTermParser):
    """Textual's own reader of what the terminal sends, for keys of any number and for pasted text with escapes in it:
    Textual takes what follows one for keys, and obeys them.
    """

    _pasting = False
    # Not pasted: what came last, where the mark of a paste may have begun. Pasted: where the mark of its end may have.
    _last = ""

    def feed(self, data: str) -> Iterable[Message]:
        """Reads on. Of pasted text, escape characters are left out; "" ends it all."""
        known = self._unescaped(data) if data else ""
        if known or not data:
            yield from super().feed(known)

    def _unescaped(self, data: str) -> str:
        known = ""
        while data:
            text = self._last + data
            if not self._pasting:
                before, mark, after = text.partition(_PASTE)
                fresh = (before + mark)[len(self._last) :]
                self._pasting, self._last = bool(mark), "" if mark else text[1 - len(_PASTE) :]
            else:
                before, mark, after = text.partition(_PASTED)
                begun = (_PASTED[:size] for size in range(len(_PASTED) - 1, 0, -1))
                open_mark = "" if mark else next(filter(before.endswith, begun), "")
                # Textual drops this character, too.
                fresh = before.removesuffix(open_mark).replace("\x1b", "\0") + mark
                self._pasting, self._last = not mark, open_mark
            known, data = known + fresh, after
        return known

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        try:
            yield from super()._sequence_to_key_events(sequence, alt)
        except (ValueError, OverflowError):
            # Were there no key at all, what follows would be taken to belong to it.
            yield Key("unknown", None)


def reading_any_bytes(driver: type[Driver]) -> type[Driver]:
    """The driver class itself, the modules it is made of told to decode whatever is typed; on Windows, bytes come
    decoded.
    """
    # Both are made inside the loop that reads: only the names by which they are found can be given another meaning.
    for each in driver.__mro__:
        names = vars(sys.modules[each.__module__])
        if names.get(_STRICT) is codecs.getincrementaldecoder:
            names[_STRICT] = _lenient
        if names.get(_PARSER) is XTermParser:
            names[_PARSER] = AnyKeys
    return driver


def _lenient(encoding: str) -> partial[codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")
