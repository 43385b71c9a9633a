"""The Notes pane: all notes in an order, or what a search found, with the answer an agent would get on top."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual import on, work
from textual.cache import LRUCache
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive

from core.model.note import Note
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.listing import (
    MANY,
    ORDER_NAMES,
    Listing,
    care_reasons,
    filtered,
    listing,
    listing_at_hand,
    topics,
)
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.view import Asked, Found, View, changed_between
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import (
    MUTED,
    empty_words,
    note_marks,
    set_border_text,
    tag_at,
    tag_text,
    title_style,
    with_label,
    with_reasons,
)
from nuggets_tui.words import ago, selected_text

if TYPE_CHECKING:
    from datetime import datetime

_ROWS_KEPT: Final = 512
# Cells of what a note belongs to, and of its age.
_LABEL: Final = 12
_TEAM: Final = "team"
_AGE: Final = 4
# Of what a search did not find: characters of a word and of a query, and how many words are named.
_WORD: Final = 30
_QUERY: Final = 60
_WORDS: Final = 4
# Cells of the frame beside a title, of those within it.
_TITLE_GAPS: Final = 4
_NONE_THEN: Final = Content("There were no notes at this moment.")


def _empty(keys: KeyMap) -> Content:
    said = "No notes yet. Notes are texts that agents\nor you write, linked to each other."
    return empty_words(keys, said, ("new_note", "writes one"))


def _all_hidden(keys: KeyMap) -> Content:
    return empty_words(keys, "Every note is hidden.", ("show_hidden", "shows hidden notes"))


def _facts_alone(keys: KeyMap) -> Content:
    said = 'Only facts so far, and Facts lists them.\nThe command "Show fact notes" lists them here.'
    return empty_words(keys, said, ("new_note", "writes a note"), ("pane_facts", "goes to Facts"))


def _empty_text(view: View) -> Content:
    if not view.snapshot.notes:
        return _empty(view.keys) if view.past is None else _NONE_THEN
    visible, _ = view.counts
    return _facts_alone(view.keys) if visible and not view.show_facts else _all_hidden(view.keys)


def _nothing_found(found: Found, keys: KeyMap) -> Content:
    lines = ["Nothing found."]
    if found.nowhere:
        words = ", ".join(f'"{cut(word, _WORD)}"' for word in found.nowhere[:_WORDS])
        lines.append(f"No note contains {words}.")
    if found.instead:
        lines += ["", "Nearest:", *(f"  {safe_line(query, _QUERY)}" for query in found.instead)]
    does = (("esc", "clears the search"), ("why_not", "explains why a note is missing"))
    return empty_words(keys, "\n".join(lines), *does)


def _listed(view: View) -> bool:
    """Whether what is shown is a list in an order: all notes, or those that conditions alone admit."""
    return view.found is None or (bool(view.found.hits) and not view.found.weighed)


def _at_hand(view: View) -> Listing | None:
    """The listing of a view, if nobody has to wait for it."""
    if view.found is None:
        return listing_at_hand(view.snapshot, view.order, view.show_hidden, view.show_facts)
    return _made(view) if view.order == "newest" or len(view.found.hits) <= MANY else None


def _made(view: View) -> Listing:
    """The listing of a view; for a thread, where there are many notes."""
    if view.found is None:
        return listing(view.snapshot, view.order, view.show_hidden, view.show_facts)
    return filtered([hit.note for hit in view.found.hits], view.snapshot, view.order)


def _query(view: View) -> str | None:
    return view.found.query if view.found is not None else None


def _asks_the_same(one: View, other: View) -> bool:
    return _order_of(one) == _order_of(other) and _query(one) == _query(other)


def _order_of(view: View) -> tuple[str, bool, bool]:
    return view.order, view.show_hidden, view.show_facts


def _title(note: Note, stale: bool) -> Content:
    return Content.assemble(note_marks(note, stale=stale), content(note.title, title_style(note)))


def _label(note: Note, project: str, *, team: bool = False) -> Content:
    """What a note belongs to: the team, its first tag, or its nugget with a project of another name."""
    if team:
        return Content.styled(_TEAM, "$text-secondary")
    tags = topics(note)
    if tags:
        return tag_text(tags[0], _LABEL)
    names = [note.nugget_name, *([project] if project not in ("", note.nugget_name) else [])]
    return content(" · ".join(cut(name, _LABEL) for name in names), MUTED)


def _age(stamp: str, now: datetime) -> str:
    """How old a note is. Ages in the list move on every half a minute: seconds would stand still."""
    age = ago(stamp, now)
    return ("now" if age.endswith(" s") else age).rjust(_AGE)


class NotesPane(RowList):
    """Notes while nothing is searched, results while something is. Conditions alone filter the list of notes."""

    view: reactive[View] = reactive(View(), repaint=False)

    def __init__(self) -> None:
        super().__init__(
            id="notes", classes="pane", empty_text=_empty(DEFAULT), multi_select=True, keep_selected=True
        )
        self.border_title = Content("2 Notes")
        self._listing = Listing()
        # What the rows show: an order may come later than it was asked for.
        self._shown = View()
        self._listing_wanted: View | None = None
        self._drawn: LRUCache[str, tuple[Note, tuple[str, str], bool, Row]] = LRUCache(_ROWS_KEPT)
        # The note that the cursor came to, while the screen has not heard of it.
        self.unheard = ""

    def watch_view(self, before: View, after: View) -> None:
        if after.selected is not self.selected and before.selected is not after.selected:
            self.select(after.selected)
        if not _listed(after):
            if changed_between(before, after, "found", "snapshot", "stale"):
                self._show_results(before, after)
            elif before.selected is not after.selected:
                self._show_title()
        elif changed_between(
            before, after, "found", "snapshot", "now", "keys", "new_since", "own", "arrived", "stale"
        ) or (_order_of(before) != _order_of(after)):
            self._show_notes(after)
        elif before.selected is not after.selected:
            self._show_title()
        if before.fresh is not after.fresh:
            self.glow(after.fresh)

    def in_order(self, ids: Collection[str]) -> list[Note]:
        """The notes of these ids as they are now: those of the list in its order, then the others."""
        find, places = self.view.find, self._listing.places
        listed = filter(ids.__contains__, self._listing.ids)
        others = (id for id in sorted(ids) if id not in places)
        found = map(find, dict.fromkeys((*listed, *others)))
        return [note for note in found if note is not None]

    @property
    def note_under_cursor(self) -> str:
        """The id of a note; "" for a part of a document, and where nothing is listed."""
        return _note_of(self.cursor_row) if self.cursor_row is not None else ""

    def holds(self, id: str) -> bool:
        """Whether a note is among the rows."""
        if _listed(self.view):
            return id in self._listing.places
        return self.view.found is not None and any(hit.note.id == id for hit in self.view.found.hits)

    def make_rows_anew(self) -> None:
        self._drawn.clear()
        super().make_rows_anew()

    def _show_notes(self, view: View) -> None:
        """Shows the notes in their order: at once, or when a thread has made it."""
        made = _at_hand(view)
        if made is not None:
            self._listing_wanted = None
            self._show_listing(made, view)
            return
        working = self._listing_wanted is not None
        self._listing_wanted = view
        self._show_title()
        if not working:
            self._make_listing()

    @work(group="listing", exit_on_error=False)
    async def _make_listing(self) -> None:
        try:
            while (view := self._listing_wanted) is not None:
                made = await run_in_thread(_made, view)
                wanted, now = self._listing_wanted, self.view
                if view is wanted:
                    self._listing_wanted = None
                # The notes may have changed again meanwhile; what is there by now is shown until that is ready.
                if wanted is not None and _asks_the_same(view, now):
                    self._show_listing(made, view)
        finally:
            self._listing_wanted = None

    def _show_listing(self, made: Listing, view: View) -> None:
        before, self._shown = self._shown, view
        if before.loaded:
            # What an agent writes is waited for too.
            self.paint_soon()
        self._listing = made
        self.empty_text = _empty_text(view)
        # The list asks for the keys of its former rows too, so each source keeps its own notes.
        notes, ids = made.notes, made.ids
        self.set_source(
            len(notes),
            lambda index: self._note_row(notes[index]),
            key_at=ids.__getitem__,
            index_of=made.places.get,
            mark_at=ids.__getitem__,
            keep_cursor=before.order == view.order and (view.found is None or _query(before) == _query(view)),
        )
        searched = before.found is not None and view.found is None and self.view.note_id
        if searched and not self.move_to(self.view.note_id):
            # A hit that is not in this list, as a team's note: the keys act on the row under the cursor again.
            self._post_highlight()
        self._show_title()

    def _show_results(self, before: View, after: View) -> None:
        from nuggets_tui.widgets.results import result_rows

        assert after.found is not None
        self.paint_soon()
        self._shown = after
        same = before.found is not None and before.found.query == after.found.query
        if same and before.found is not None and before.found.recall is None and self.cursor <= 0:
            # An answer that comes a moment after the hits is the first row for whoever still types.
            same = self.has_focus
        self.empty_text = _nothing_found(after.found, after.keys)
        rows = result_rows(after.found, after.snapshot, after.stale)
        # The answer of a recall stands for its note, as a hit does.
        self.set_source(
            len(rows),
            rows.__getitem__,
            height=[len(row.lines) for row in rows],
            key_at=lambda index: rows[index].key,
            mark_at=lambda index: _note_of(rows[index]),
            keep_cursor=same,
        )
        self._show_title()

    @property
    def _without_facts(self) -> bool:
        """Whether notes of facts are left out, of those that there are."""
        view = self.view
        return not view.show_facts and any(nugget.facts for nugget in view.snapshot.nuggets)

    def _show_title(self) -> None:
        """What is shown in which order, or how many are selected and how many of those are elsewhere."""
        view, found = self.view, self.view.found
        name = "2 Notes" if found is None else "2 Results"
        if view.selected:
            here = self._listing.places
            if found is not None and not _listed(view):
                here = {hit.note.id: hit.rank for hit in found.hits}
            away = len(view.selected) - sum(map(here.__contains__, view.selected))
            said = selected_text(len(view.selected), away)
            set_border_text(self, Content.assemble(name, (said, "$text-accent")))
            return
        if not _listed(view):
            order = "best first"
        elif self._listing_wanted is not None:
            order = f"sorting: {ORDER_NAMES[view.order]} …"
        else:
            order = ORDER_NAMES[view.order] + (" · with hidden" if view.show_hidden and found is None else "")
        more = " · no facts" if found is None and self._without_facts else ""
        said = f" · {order}{more}"
        if cell_len(name + said) > self.size.width - _TITLE_GAPS:
            said = f" · {order}"
        set_border_text(self, Content.assemble(name, (said, MUTED)))

    def on_resize(self) -> None:
        self._show_title()

    @on(RowList.SelectionChanged)
    def post_selection(self, event: RowList.SelectionChanged) -> None:
        event.stop()
        if self.selected is not self.view.selected:
            self.post_message(Asked(lambda main: main.selection.select(self.selected)))

    def _note_row(self, note: Note) -> Row:
        if self._shown.order == "care":
            reasons = care_reasons(note, self._shown.snapshot)
            return Row(
                note.id, (with_reasons(_title(note, note.id in self.view.stale), reasons),), data=note.id
            )
        words, stale = self._right_side(note, self.view.now), note.id in self.view.stale
        # A row that would say the same is the same one, and is not drawn again when others came in above it.
        drawn = self._drawn.get(note.id)
        if drawn is not None and drawn[0] is note and drawn[1:3] == (words, stale):
            return drawn[3]
        new, said = words
        right = Content.assemble((new, "bold $text-success"), (said, MUTED))
        label = _label(note, self.view.projects.get(note.nugget_name, ""), team=self.view.of_team(note.id))
        row = Row(note.id, (with_label(_title(note, stale), label, right),), data=note.id)
        self._drawn[note.id] = note, words, stale, row
        return row

    def _right_side(self, note: Note, now: datetime | None) -> tuple[str, str]:
        """What stands at the right end: whether the note is new, and its age or how often it was recalled."""
        stamp = max(note.updated_at, note.created_at)
        said = f"{note.hits}×" if self._shown.order == "recalls" else _age(stamp, now) if now else ""
        return ("new ", said.lstrip()) if self._is_news(note, stamp) else ("", said)

    def _is_news(self, note: Note, stamp: str) -> bool:
        """Whether others made or changed a note since the person was here before, or a sync brought it since."""
        view = self.view
        since = view.new_since if view.past is None else ""
        came = bool(since) and (stamp > since or note.id in view.arrived)
        return came and (note.id, note.updated_at) not in view.own

    def _post_highlight(self) -> None:
        super()._post_highlight()
        row = self.cursor_row
        self.unheard = row.data if row is not None and isinstance(row.data, str) and self.has_focus else ""

    @on(RowList.RowHighlighted)
    def pick(self, event: RowList.RowHighlighted) -> None:
        if event.index != self.cursor or not isinstance(event.row.data, str):
            # The cursor has gone on, or to what Note does not show.
            return
        event.stop()
        if self.has_focus or not self.view.note_id or self._leads():
            self._pick(event.row.data)

    def on_click(self, event: Click) -> None:
        tag = tag_at(event)
        if tag and not (event.shift or event.ctrl):
            event.stop()
            event.prevent_default()
            self.post_message(Asked(lambda main: main.search.find_tagged(tag)))

    def _leads(self) -> bool:
        """Whether the best hit is to be shown while words are typed."""
        return (
            self.view.found is not None
            and self.screen.focused is not None
            and self.screen.focused.id == "search"
        )

    def on_focus(self) -> None:
        row = self.cursor_row
        if row is not None and isinstance(row.data, str):
            self._pick(row.data)

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        event.stop()
        if isinstance(event.row.data, str):
            note_id = event.row.data
            self.post_message(Asked(lambda main: main.open_note(note_id)))
            return
        from core.search.results import Passage

        if isinstance(passage := event.row.data, Passage):
            self.post_message(Asked(lambda main: main.search.open_passage(passage)))

    def _pick(self, note_id: str) -> None:
        self.post_message(Asked(lambda main: main.pick_note(note_id)))


def _note_of(row: Row) -> str:
    """The id of the note that a result stands for; "" for a part of a document."""
    return row.data if isinstance(row.data, str) else ""
