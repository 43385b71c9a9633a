"""The search box: says what is typed as it is typed, offers what may come next, and says how it was read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Final, Self

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Paste
from textual.geometry import Region
from textual.reactive import reactive
from textual.style import Style
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from nuggets_tui.notices import warn
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.textual_adapter import OfferingInput
from nuggets_tui.view import Asked, View
from nuggets_tui.widgets.row_list import PromptFrames
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.search.completion import Completion
    from core.search.query_syntax import Clause

_MOST: Final = 500
_GAP: Final = "   "
# A mark of our own instead of "@click", which would paint the words as a link.
_CLEARS: Final = Content(" · esc clears").stylize(Style.from_meta({"clears": True}))
# The words stand in the field as well: less of them is not worth the room.
_LEAST_WORDS: Final = 20
_BROKEN: Final = "$text-warning"


class Earlier:
    """What was searched in this run of the app, the newest last."""

    def __init__(self) -> None:
        self._searches: list[str] = []
        self._at = 0

    def add(self, text: str) -> None:
        """Remembers a search that was gone on with; the same one once."""
        if text.strip():
            self._searches = [one for one in self._searches if one != text] + [text]
        self._at = len(self._searches)

    def goes_on(self, text: str) -> bool:
        """Whether there is an earlier one to go back to: from an empty field, or from one that was gone back to."""
        return bool(self._searches) and (not text or text == self._shown)

    @property
    def _shown(self) -> str:
        return self._searches[self._at] if self._at < len(self._searches) else ""

    def before(self, text: str) -> str:
        self._at = max((len(self._searches) if not text else self._at) - 1, 0)
        return self._searches[self._at]


class SearchBox(OfferingInput, PromptFrames):
    """One line to type into. `offered`: what may stand at the cursor, the one that tab takes first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("enter,down", "to_results", "first hit", show=False),
        Binding("tab", "take_offer", "accept the suggestion", show=False),
        Binding("up", "other_offer", "another suggestion", show=False),
    ]

    view: reactive[View] = reactive(View(), repaint=False)

    _typing = False

    def __init__(self, said: SearchSaid) -> None:
        super().__init__(
            id="search",
            placeholder='words  "exact words"  -not  tag:auth  is:new  updated:<30d    f1 for more',
            select_on_focus=False,
            max_length=_MOST,
            suggester=_Offering(self),
        )
        self._said = said
        self.offered: tuple[Completion, ...] = ()
        self._earlier = Earlier()

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """The box has its place whatever is typed: a letter does not lay the screen out anew."""
        return super().refresh(
            *regions, repaint=repaint, layout=layout and not self._typing, recompose=recompose
        )

    @contextmanager
    def taking_value(self) -> Iterator[None]:
        """Another value is painted soon, and lays nothing out."""
        self._typing = True
        self.paint_soon()
        try:
            yield
        finally:
            self._typing = False

    def validate_value(self, value: str) -> str:
        return safe_line(value, _MOST)

    def on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        self._take_in(event.text)

    def action_paste(self) -> None:
        self._take_in(self.app.clipboard)

    def _take_in(self, pasted: str) -> None:
        start, end = sorted(self.selection)
        room = _MOST - len(self.value) + (end - start)
        line = " ".join(pasted.splitlines()).replace("\t", " ")
        if line[:room]:
            self.replace(line[:room], start, end)
        if len(line) > room:
            cut_off = f"{len(line) - room:,} pasted characters were cut"
            warn(self, f"The search box holds {_MOST} characters; {cut_off}.")

    def watch_view(self, before: View, after: View) -> None:
        if before.found is not after.found:
            self._said.results = _result_line(after)
            if after.found is not None:
                self._explain()

    def on_resize(self) -> None:
        self._explain()

    def action_leave(self) -> None:
        self._earlier.add(self.value)
        self.post_message(Asked(lambda main: main.search.leave(to_results=False)))

    def let_go(self) -> None:
        """Ends the search."""
        self.action_leave()
        self.value = ""

    def action_to_results(self) -> None:
        self._earlier.add(self.value)
        self.post_message(Asked(lambda main: main.search.leave(to_results=True)))

    # What may come next

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "take_offer":
            return bool(self.suggestion) and self.cursor_at_end
        if action == "other_offer":
            return self._earlier.goes_on(self.value) or len(self.offered) > 1
        return super().check_action(action, parameters)

    def action_take_offer(self) -> None:
        self.value = self.suggestion
        self.cursor_position = len(self.value)

    def action_other_offer(self) -> None:
        if self._earlier.goes_on(self.value):
            self.value = self._earlier.before(self.value)
            self.cursor_position = len(self.value)
            return
        first, *others = self.offered
        self._show_offers((*others, first))

    async def offer(self, typed: str) -> str | None:
        """Looks for what may stand at the end of a text; the text with the best of it, None for nothing."""
        from core.search.completion import complete, offers_of

        if not self.view.loaded:
            return None
        projects = tuple(self.view.projects.items())
        offers = await run_in_thread(offers_of, *self.view.searched, projects)
        if typed != self.value:
            return None
        self._show_offers(complete(typed, offers))
        return self.suggestion or None

    def _show_offers(self, offered: tuple[Completion, ...]) -> None:
        self.offered = offered
        value = self.value
        # Ghost text goes on behind what is typed, which keeps its own spelling.
        self.suggestion = value + offered[0].text[len(value) - offered[0].start :] if offered else ""
        self._explain()

    # What is said about it

    def _explain(self) -> None:
        read = None
        if self.value.strip():
            in_field = bool(self.offered) and self.value[: self.offered[0].start].endswith((":", ","))
            room = self._said.room
            read = _offers_line(self.offered) if in_field else _explained(self._clauses(), room)
        self._said.read = read or Content("")

    def _clauses(self) -> tuple[Clause, ...]:
        """How the query was read by the search that is shown; while that is under way, how it reads by itself."""
        found = self.view.found
        if found is not None and found.query == self.value and found.clauses:
            return found.clauses
        from core.search.query_syntax import parse_question

        return parse_question(self.value).clauses

    @on(Input.Changed)
    def post_query(self, event: Input.Changed) -> None:
        event.stop()
        self.offered = ()
        self._explain()
        self.post_message(Asked(lambda main: main.search.typed(event.value)))

    @on(Input.Submitted)
    def ignore_submitted(self, event: Input.Submitted) -> None:
        event.stop()


class SearchSaid(Widget):
    """The end of the search's line: how the query was read, and what was found."""

    read: reactive[Content] = reactive(Content(""))
    results: reactive[Content] = reactive(Content(""))

    @property
    def room(self) -> int:
        """Cells for how a query was read."""
        return max(0, self.size.width - self.results.cell_length - len(_GAP))

    def watch_read(self) -> None:
        """What could not be read may need more of the line than the query does."""
        line = self.parent
        if isinstance(line, Widget):
            needed = self.read.cell_length + self.results.cell_length + len(_GAP) + 2
            line.set_class(bool(self.read) and needed > line.size.width // 2, "-told")

    def render(self) -> Content:
        read = self.read.truncate(self.room, ellipsis=True)
        said = Content(_GAP if read and self.results else "").join([read, self.results])
        return said + _CLEARS if self.results and (said + _CLEARS).cell_length <= self.size.width else said

    def on_click(self, event: Click) -> None:
        if event.style.meta.get("clears"):
            event.stop()
            self.post_message(Asked(lambda main: main.search_box.let_go()))


class _Offering(Suggester):
    """Asks the box for what may come next."""

    def __init__(self, box: SearchBox) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._box = box

    async def get_suggestion(self, value: str) -> str | None:
        """The value with what is offered behind it."""
        return await self._box.offer(value)


def _explained(clauses: tuple[Clause, ...], room: int) -> Content | None:
    """How a query was read, what could not be read first; None for words alone."""
    words, others = clauses[:1], clauses[1:]
    if not words or not words[0].free:
        words, others = (), clauses
    if not others:
        return None
    told = [content(clause.text, _BROKEN) for clause in others if clause.broken]
    plain = [content(clause.text, MUTED) for clause in others if not clause.broken]
    if words:
        taken = sum(part.cell_length + 3 for part in (*told, *plain))
        line = content(cut(words[0].text, room - taken), MUTED)
        if line.plain == safe_line(words[0].text) or line.cell_length >= _LEAST_WORDS:
            plain.insert(0, line)
    return Content.styled(" · ", MUTED).join([*told, *plain])


def _offers_line(offered: tuple[Completion, ...]) -> Content:
    first, *others = offered
    about = f" {first.about}" if first.about else ""
    said = Content.assemble(("tab ", MUTED), content(first.text, "bold"), content(about, MUTED))
    if not others:
        return said
    more = Content("  ").join([content(one.text) for one in others])
    return Content.assemble(said, ("   ↑ ", MUTED), more)


def _result_line(view: View) -> Content:
    found = view.found
    if found is None:
        return Content("")
    milliseconds = found.seconds * 1000
    likely = sum(hit.sure for hit in found.hits)
    best = "best" if found.weighed else "newest"
    hits = f"{best} {len(found.hits)}" if found.capped else plural(len(found.hits), "hit")
    if likely < len(found.hits):
        hits += f", {likely} likely"
    if found.passages:
        hits += f", {plural(len(found.passages), 'part')} of documents"
    return Content(f"{hits} · {milliseconds:.0f} ms")
