"""Fields to type into that show stored text harmlessly and keep it as it is, some with words to complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

from rich.highlighter import Highlighter
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Select, TextArea
from textual.widgets._select import SelectCurrent, SelectOverlay

from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.textual_adapter import OfferingInput
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.row_text import MUTED

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot

_LONGEST: Final = 60


class _Harmless(Highlighter):
    """Draws a text harmlessly, in place of lighting it up."""

    def __call__(self, text: str | Text) -> Text:
        """The text as it is drawn; what is stored stays."""
        return Text(plain(str(text)), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Nothing of it is lit up."""


class Field(OfferingInput):
    """One line with a label in its border. What is stored stays; only what is drawn is made harmless."""

    def __init__(self, label: str, value: str = "", *, id: str, hint: str = "") -> None:
        super().__init__(
            value, id=id, placeholder=hint, select_on_focus=False, classes="field", highlighter=_Harmless()
        )
        self.border_title = Content(label)

    def watch_value(self) -> None:
        self.remark("")

    def remark(self, said: Content | str) -> None:
        """Says something about what stands in the field, in its border; "" takes it away."""
        self.border_subtitle = Content(said) if isinstance(said, str) else said

    def complain(self, text: str) -> None:
        """Says in the border what is wrong with the field, and gives it the cursor."""
        self.remark(content(safe_line(text, _LONGEST), "bold $text-error"))
        self.focus()


class TextField(TextArea):
    """Several lines with a label in the border; drawn harmlessly, kept as they are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "to_start", "start", show=False),
        Binding("ctrl+end", "to_end", "end", show=False),
    ]

    def __init__(self, label: str, text: str, *, id: str) -> None:
        super().__init__(
            text, id=id, soft_wrap=True, show_line_numbers=False, classes="field", tab_behavior="focus"
        )
        self.border_title = Content(label)

    def get_line(self, line_index: int) -> Text:
        return Text(plain(self.document.get_line(line_index)), end="", no_wrap=True)

    def action_to_start(self) -> None:
        self.move_cursor((0, 0))

    def action_to_end(self) -> None:
        self.move_cursor(self.document.end)


class Sides(Horizontal):
    """The list and the lines beside each other, each with its title; tab goes from one to the other, and esc
    from the lines to the list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "switch", "switch", show=False),
        Binding("escape", "to_rows", "to the list", show=False),
    ]

    def __init__(self, rows: RowList, lines: LineView, titles: tuple[str, str]) -> None:
        super().__init__(rows, lines, id="sides")
        self._rows, self._lines = rows, lines
        for side, title in zip((rows, lines), titles, strict=True):
            side.add_class("pane")
            side.border_title = Content(title)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "to_rows" or self._lines.has_focus

    def action_to_rows(self) -> None:
        self._rows.focus()

    def action_switch(self) -> None:
        (self._lines if self._rows.has_focus else self._rows).focus()


class _Values(SelectOverlay):
    """Textual pages by lines that it counts when the list is first drawn. A key may come before that."""

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)


class Choice(Select[str]):
    """A list that opens under the field."""

    def compose(self) -> ComposeResult:
        yield SelectCurrent(self.prompt)
        yield _Values().data_bind(compact=Select.compact)


_MOST: Final = 6
_SHOWN: Final = 24


class Offer(NamedTuple):
    """What may be taken: the rest of the word being typed, the whole word, and what it means in a few words."""

    rest: str
    word: str
    about: str = ""


OffersFor = Callable[[str], Sequence[Offer]]


class CompletedField(Field):
    """One line with ghost text: tab or → takes what is offered, ↑ offers another; tab without an offer goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "take_offer", "accept the suggestion", show=False),
        Binding("up", "other_offer", "another suggestion", show=False),
    ]

    # What may be taken, the one that tab takes first.
    offered: tuple[Offer, ...] = ()

    def __init__(
        self, label: str, value: str = "", *, id: str, offers_for: OffersFor, hint: str = ""
    ) -> None:
        """`offers_for`: what may follow a text, best first; asked in a thread."""
        super().__init__(label, value, id=id, hint=hint)
        self.suggester = _Offering(self)
        self._offers_for = offers_for

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "take_offer":
            return bool(self.suggestion) and self.cursor_at_end
        if action == "other_offer":
            return bool(self.suggestion) and len(self.offered) > 1
        return super().check_action(action, parameters)

    def action_take_offer(self) -> None:
        self.value = self.suggestion
        self.cursor_position = len(self.value)

    def action_other_offer(self) -> None:
        first, *others = self.offered
        self._show((*others, first))

    def on_blur(self) -> None:
        if self.offered:
            self._show(())

    async def offer(self, typed: str) -> str | None:
        """Looks for what may follow a text; the text with the best of it, None for nothing."""
        found = await run_in_thread(self._offers, typed)
        if typed != self.value or not self.has_focus:
            return None
        self._show(tuple(one for one in found if plain(one.word) == one.word)[:_MOST])
        return self.suggestion or None

    def _offers(self, typed: str) -> Sequence[Offer]:
        return self._offers_for(typed)

    def watch_value(self) -> None:
        super().watch_value()
        self.offered = ()

    def _show(self, offered: tuple[Offer, ...]) -> None:
        self.offered = offered
        self.suggestion = self.value + offered[0].rest if offered else ""
        self.remark(_offer_line(offered) if offered else "")


class _Offering(Suggester):
    """Asks the field for what may come next."""

    def __init__(self, field: CompletedField) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._field = field

    async def get_suggestion(self, value: str) -> str | None:
        """The value with what is offered behind it."""
        return await self._field.offer(value)


def tag_offers(snapshot: Snapshot, typed: str) -> Sequence[Offer]:
    """The tags of a memory that go on as the last word does, most used first, without those in the field already."""
    from core.search.completion import offers_of

    words = typed.replace(",", " ")
    before, _, begun = words.rpartition(" ")
    present = {word.casefold() for word in before.split()}
    usable = ((tag, count) for tag, count in offers_of(snapshot)["tag"] if tag.casefold() not in present)
    return _begun_with(begun, ((tag, count) for tag, count in usable if not set(tag) & set(" ,\t\n")))


def nugget_offers(snapshot: Snapshot, typed: str) -> Sequence[Offer]:
    """The nuggets of a memory that go on as is typed, those with most notes first."""
    from core.search.completion import offers_of

    counted = offers_of(snapshot)["nugget"]
    known = {name for name, _ in counted}
    return _begun_with(
        typed.lstrip(), [*counted, *((name, 0) for name in snapshot.nugget_names if name not in known)]
    )


def key_offers(snapshot: Snapshot, nugget: str, typed: str) -> Sequence[Offer]:
    """The keys of a nugget that go on as is typed, in file order, each with what it answers."""
    holder = snapshot.by_name.get(nugget)
    begun = typed.lstrip().casefold()
    if holder is None or not begun:
        return ()
    return [
        Offer(fact.key[len(begun) :], fact.key, f"= {safe_line(fact.value, _SHOWN)}")
        for fact in holder.facts
        if _goes_on(begun, fact.key)
    ]


def _begun_with(begun: str, counted: Iterable[tuple[str, int]]) -> Sequence[Offer]:
    folded = begun.casefold()
    if not folded:
        return ()
    return [
        Offer(word[len(begun) :], word, f"{count:,} {'note' if count == 1 else 'notes'}" if count else "")
        for word, count in counted
        if _goes_on(folded, word)
    ]


def _goes_on(begun: str, word: str) -> bool:
    folded = word.casefold()
    # Where folding changes the length, the rest of the word cannot be told by counting.
    return folded.startswith(begun) and len(word) > len(begun) and len(folded) == len(word)


def _offer_line(offered: tuple[Offer, ...]) -> Content:
    first, *others = offered
    about = f" {first.about}" if first.about else ""
    said = Content.assemble(
        ("tab ", MUTED), content(safe_line(first.word, _SHOWN), "bold"), content(about, MUTED)
    )
    if not others:
        return said
    more = Content("  ").join([content(safe_line(one.word, _SHOWN)) for one in others[:3]])
    return Content.assemble(said, ("  ↑ ", MUTED), more)
