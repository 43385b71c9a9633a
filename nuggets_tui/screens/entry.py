"""An entry of the audit log, whole: who, when, why, every difference, and taking it back, or one change of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.errors import ConflictError, NuggetsError
from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.compare import Differences, differences
from core.model.entry import Entry
from core.model.progress import Progress
from core.model.snapshot import Snapshot
from nuggets_tui.commands import keys_of
from nuggets_tui.differences import TitleOf, changed_fields, fact_lines, note_lines, titles
from nuggets_tui.notices import notify, notify_error
from nuggets_tui.safe_text import content, safe_block, safe_line
from nuggets_tui.screens.conflict import in_the_way
from nuggets_tui.screens.dialog import BrowseScreen, ConfirmScreen, key_content
from nuggets_tui.session import Session
from nuggets_tui.widgets.audit import TAKEN_BACK, TURNS
from nuggets_tui.widgets.line_view import LineView, MakeLines, change_lines, styled_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import Deed, counted, deed, deeds_of, plural, time_ago

_AGAIN = "redo"
# So many things go back without a question.
_FEW = 20


class EntryScreen(BrowseScreen[None]):
    """One change set. `parts`: what of it can be taken back alone. `changed`: told of every change made from here, and
    of the key that turns it back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "take_back", "undo", show=False, id="undo"),
        Binding("enter", "take_back_if_asked", "undo", show=False),
        Binding("ctrl+r", "do_again", "redo", show=False, id="redo"),
        Binding("space", "turn_one", "undo this change", show=False, priority=True),
    ]
    about = (
        "One entry of the audit log: who, when, why, and every line that differs. You can undo it in "
        "whole or in part, whoever made it."
    )
    titles = ("Changes", "What it did")

    def __init__(
        self,
        session: Session,
        entry: Entry,
        parts: Sequence[ChangeSet],
        taken_back: frozenset[str],
        changed: Callable[[ChangeSet, str], None],
        description: Deed | None = None,
        *,
        undoing: bool = False,
    ) -> None:
        """description: what the entry did in a line, where somebody reckoned that already. undoing: whether it was
        opened to be undone: then enter does that, and it closes.
        """
        self._session = session
        self._entry = entry
        self._parts = {part.id: part for part in parts}
        self._taken_back = taken_back
        self._report_changed = changed
        self._undoing = undoing and self._whole_does() not in ("", _AGAIN)
        description = description or deed(entry.change_set)
        heading = f"{entry.change_set.author} {description.verb} {description.what}"
        heading = f"Undo this? {heading}" if self._undoing else heading
        super().__init__(heading, self._told(), classes="full" if parts else "large")

    def compose_inside(self) -> ComposeResult:
        if self._parts:
            yield from super().compose_inside()
        else:
            yield Static(self.said, classes="words")
            yield LineView(self._lines_of(self._entry.change_set), id="difference")
        way = Static("", id="way")
        way.display = False
        yield way

    def on_mount(self) -> None:
        (self.rows if self._parts else self.lines).focus()

    # What is shown

    def _told(self) -> Content:
        entry, change_set = self._entry, self._entry.change_set
        when = time_ago(change_set.at, self._session.clock())
        size = plural(change_set.size, "thing") if change_set.size != 1 else ""
        said = [safe_line(change_set.reason, 300), size, when, f"entry {safe_line(entry.id, 40)}"]
        about = Content.styled(" · ".join(part for part in said if part), MUTED)
        some = len(self._taken_back & self._parts.keys())
        if entry.state == "settled":
            state = Content.styled("not written: a resolved conflict", "$text-warning")
        elif entry.undone:
            state = Content.styled(f"{TAKEN_BACK} undone", "bold $text-warning")
        elif some:
            state = Content.styled(f"{TAKEN_BACK} {some} undone", "$text-warning")
        else:
            return about
        return Content.assemble(about, "   ", state)

    def fill(self, rows: RowList) -> None:
        """The changes, each made into a row as it comes into view: there may be ten thousand of them."""
        parts, places = tuple(self._parts.values()), {id: place for place, id in enumerate(self._parts)}
        rows.set_source(
            len(parts),
            lambda index: _row(parts[index], self._entry.undone or parts[index].id in self._taken_back),
            height=2,
            key_at=lambda index: parts[index].id,
            index_of=places.get,
        )

    def detail(self, row: Row, index: int) -> MakeLines:
        return self._lines_of(self._parts[row.key])

    def _lines_of(self, change_set: ChangeSet) -> MakeLines:
        return partial(change_lines, change_set, title_of=titles(self._session.snapshot))

    def key_line(self) -> Content:
        keys = []
        whole, one = self._whole_does(), self._one_does()
        if whole:
            enter = "⏎ " if self._undoing and not self._parts else ""
            keys.append(f"{enter}{keys_of(self).key('redo' if whole == _AGAIN else 'undo')}  {whole}")
        keys += [f"space  {one}"] if one else []
        keys += ["tab  switch"] if self._parts else []
        return key_content(" · ".join([*keys, "esc  close"]))

    def _whole_does(self) -> str:
        """What u does, or ctrl+r for doing it again; "" for nothing."""
        entry = self._entry
        if entry.state != "done" or entry.change_set.kind in TURNS:
            return ""
        if entry.undone:
            return _AGAIN
        return "undo all" if self._parts else "undo"

    def _one_does(self) -> str:
        """What the space key does; "" for nothing."""
        part = self._part_id
        if not part or self._entry.undone or self._entry.state != "done":
            return ""
        return "redo this change" if part in self._taken_back else "undo this change"

    @property
    def _part_id(self) -> str:
        row = self.row if self._parts else None
        return row.key if row is not None else next(iter(self._parts), "")

    # Back and forth

    def action_take_back(self) -> None:
        does, size = self._whole_does(), self._entry.change_set.size
        again = f"{keys_of(self).key('redo')} redoes"
        if not does:
            notify(self, "There is nothing to undo here.")
        elif does == _AGAIN:
            notify(self, f"This is already undone. {again} it.")
        elif size <= _FEW:
            self._turn(self._entry.id)
        else:
            said = f"This undoes {size:,} changes.\n{again} them."
            question = ConfirmScreen("Undo all of it?", said, yes="undo all")
            self.if_sure(question, lambda: self._turn(self._entry.id))

    def action_take_back_if_asked(self) -> None:
        if self._undoing:
            self.action_take_back()

    def action_do_again(self) -> None:
        """Redoes the entry; else the change under the cursor if it is taken back, or the first that is."""
        stands = self._entry.state == "done" and not self._entry.undone
        parts = (id for id in (self._part_id, *self._parts) if stands and id in self._taken_back)
        if self._whole_does() == _AGAIN:
            self._turn(self._entry.id, again=True)
        elif part := next(parts, ""):
            self._turn(part, again=True)
        else:
            notify(self, "Nothing here is undone, so there is nothing to redo.")

    def action_turn_one(self) -> None:
        if self._one_does():
            self._turn(self._part_id, again=self._part_id in self._taken_back)

    @work(group="turn", exclusive=True, exit_on_error=False)
    async def _turn(self, what: str, *, again: bool = False) -> None:
        history, way = self._session.memory.history, self.query_one("#way", Static)
        try:
            done = await self._session.write(history.redo if again else history.undo, what)
        except ConflictError as error:
            # Stays on screen: the person needs it to find what to take back first.
            why = safe_block(in_the_way(error, self._session.snapshot, keys_of(self)), 1000)
            way.update(Content.assemble(("This cannot be undone now. ", "bold $text-warning"), why))
            way.display = True
            return
        except NuggetsError as error:
            notify_error(self, error)
            return
        self._entry, self._taken_back = await self._session.entry_now(self._entry.id)
        # Of a single change, u would take back the rest of the entry too.
        self._report_changed(done, "space undoes it" if again and what in self._parts else "")
        if self._undoing and self._entry.undone:
            self.dismiss(None)
            return
        self.say(self._told())
        way.display = False
        if self._parts:
            self.fill(self.rows)
        self.refresh_keys()


def _row(part: ChangeSet, undone: bool) -> Row:
    description, deeds = deed(part), deeds_of(part)
    what, said = description.what, description.verb
    if len({each.verb for each in deeds}) > 1 and description.verb == deeds[0].verb:
        # The thing itself, then all that was done to it and its neighbours.
        what, said = deeds[0].what, counted(part)
    title = Content.assemble(" ", content(what, MUTED if undone else "bold"))
    sign = Content.styled(f"{TAKEN_BACK} undone", MUTED) if undone else Content("")
    return Row(part.id, (sides(title, sign), Content.assemble(" ", content(said, MUTED))))


# Stands for the whole memory where an id of a note is answered otherwise.
ALL: Final = ""
# What became of a thing, with its sign and style, in the order in which it is listed.
_SINCE: Final = {
    "changed since": ("~", "$text-warning"), "deleted since": ("-", "$text-error"),
    "added since": ("+", "$text-success"), "recalled since": ("×", MUTED),
}  # fmt: skip
_CHANGED, _RECALLED = "changed since", "recalled since"
# What a recall moves, and nothing that anybody wrote.
_MOVED: Final = ("hits", "last_hit_session", "last_accessed_at", "last_rewritten_at", "updated_at", "vector")


@dataclass(frozen=True)
class Compared:
    """What differs, as changes from then to now, in the order they are listed."""

    rows: tuple[tuple[str, NoteChange | FactChange], ...]
    title_of: TitleOf


def compared(then: Snapshot, now: Snapshot, progress: Progress | None = None) -> Compared:
    """What differs between two states; a fact goes with the note that mirrors it. progress: as `differences`."""
    order = list(_SINCE)
    rows = _rows(differences(then, now, progress))
    return Compared(tuple(sorted(rows, key=lambda row: (order.index(_since(row[1])), row[0]))), titles(now))


def _rows(found: Differences) -> Iterator[tuple[str, NoteChange | FactChange]]:
    mirrored = {(change.note.nugget_name, change.note.key) for change in found.notes if change.note.is_fact}
    for number, change in enumerate(found.notes):
        yield f"n {number:07}", change
    for number, fact in enumerate(found.facts):
        if (fact.nugget, fact.key) not in mirrored:
            yield f"x {number:07}", fact


def _since(change: NoteChange | FactChange) -> str:
    before, after = change.before, change.after
    if before is None:
        return "added since"
    if after is None:
        return "deleted since"
    names = (name for name in after.__struct_fields__ if name not in _MOVED)
    same = all(getattr(before, name) == getattr(after, name) for name in names)
    return _RECALLED if same else _CHANGED


class CompareScreen(BrowseScreen[str]):
    """Answers with the id of a note to bring back, or ALL. when: the moment in words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "bring_back", "restore this note", show=False),
        Binding("B", "go_back", "restore everything", show=False),
    ]
    titles = ("Differs", "Then and now")

    def __init__(self, found: Compared, when: str, note_id: str) -> None:
        self._found = found
        self._begin = note_id
        counts = Counter(_since(change) for _, change in found.rows)
        recalled = counts.pop(_RECALLED, 0)
        named = ", ".join(f"{counts[since]:,} {since}" for since in _SINCE if counts[since])
        parts = [f"{plural(counts.total(), 'difference')}: {named}"] if counts else []
        if recalled:
            only = f"{recalled:,} only {_RECALLED}; at the end of the list"
            parts.append(only if counts else f"{recalled:,} {_RECALLED}")
        super().__init__(f"Compared with now: {when}", f"{'. '.join(parts)}.  - then   + now")

    def fill(self, rows: RowList) -> None:
        found = self._found.rows
        rows.set_source(
            len(found),
            lambda index: _compare_row(*found[index]),
            height=2,
            key_at=lambda index: found[index][0],
        )

    def on_mount(self) -> None:
        begin = (
            key
            for key, change in self._found.rows
            if isinstance(change, NoteChange) and self._begin == change.id
        )
        if (key := next(begin, "")) and self._begin:
            # Where it stands is known once the list has its height.
            self.call_after_refresh(self.rows.move_to, key)

    def key_line(self) -> Content:
        one = "b  restore this note · " if self._restorable is not None else ""
        return key_content(f"{one}B  restore everything · tab  switch · esc  close")

    @property
    def _restorable(self) -> NoteChange | None:
        change = self.row.data if self.row is not None else None
        return change if isinstance(change, NoteChange) and change.before is not None else None

    def detail(self, row: Row, index: int) -> MakeLines:
        return partial(_lines, self._found.rows[index][1], self._found.title_of)

    def action_bring_back(self) -> None:
        change = self._restorable
        if change is None:
            notify(self, "You can only restore a note that existed then. B restores everything.")
        else:
            self.dismiss(change.id)

    def action_go_back(self) -> None:
        self.dismiss(ALL)


def _lines(change: NoteChange | FactChange, title_of: TitleOf, width: int) -> list[Content]:
    lines = note_lines(change, title_of=title_of) if isinstance(change, NoteChange) else fact_lines(change)
    return wrapped(styled_lines(lines), width)


def _compare_row(key: str, change: NoteChange | FactChange) -> Row:
    since = _since(change)
    if isinstance(change, NoteChange):
        title, where = change.note.title, change.note.nugget_name
    else:
        title, where = change.key, change.nugget
    head = sides(content(title, MUTED if since == _RECALLED else "bold"), content(where, MUTED))
    fields = ", ".join(changed_fields(change)) if since == _CHANGED else ""
    sign, style = _SINCE[since]
    return Row(
        key,
        (head, Content.assemble((f"{sign} {since}", style), (fields and f": {fields}", MUTED))),
        data=change,
    )
