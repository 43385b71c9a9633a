"""A field that offers what the memory has already: tags, nuggets, keys. Typing always wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.suggester import Suggester

from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.threads import run_in_thread
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_text import MUTED

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot

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
