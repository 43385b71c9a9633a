"""The review: proposed changes row by row, each with its difference, before anything is written; and all reviews."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, overload

from msgspec.structs import replace
from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.model.change import ChangeSet, NoteChange
from core.model.snapshot import Snapshot
from core.text.secrets import masked
from nuggets_tui import differences
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.differences import DiffLine, titles
from nuggets_tui.notices import in_keys, is_typed, notify
from nuggets_tui.pace import StoppedError
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.dialog import BrowseScreen, ConfirmScreen, key_content
from nuggets_tui.session import PendingConflict, Session, or_pending_conflict
from nuggets_tui.widgets.line_view import MakeLines, note_change_lines, styled_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import counted, counted_holders, facts_alone, left_for_later, plural, things

if TYPE_CHECKING:
    from core.memory import Finding, Holder
    from core.reflection import ProposedChange, ReflectionResult

Reviewed = tuple[ChangeSet, str]
Apply = Callable[[Collection[str]], Awaitable[Reviewed]]


@dataclass(frozen=True)
class ReviewItem:
    """One proposed change: what kind, which note, why, and the difference as lines."""

    key: str
    kind: str
    title: str
    detail: str
    lines: MakeLines


class ReviewItems(Sequence[ReviewItem]):
    """Items of which each is made when it is looked at."""

    def made(self, index: int) -> ReviewItem:
        """The item at a place from 0 on."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> ReviewItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[ReviewItem]: ...
    def __getitem__(self, index: int | slice) -> ReviewItem | list[ReviewItem]:
        places = range(len(self))
        if isinstance(index, slice):
            return [self.made(place) for place in places[index]]
        return self.made(places[index])


class ReviewScreen(BrowseScreen[Reviewed | PendingConflict]):
    """Accepts or refuses changes; applies the accepted ones as one entry of the history.

    partly: whether changes can be refused one by one. apply: gets the keys of the accepted ones; None where there is
    nothing but to read. keys: of the items, where those are made only when they are looked at. choosable: keys of what
    can be accepted, where not all can; the rest stands there to be known.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", "apply", show=False),
        Binding("a", "all", "all or none", show=False),
    ]
    about = (
        "Proposed changes, each with what it does and why. Nothing is written until you apply. What "
        "you apply is one entry of the audit log; you can undo it."
    )

    def __init__(
        self,
        heading: str,
        subheading: str | Content,
        items: Sequence[ReviewItem],
        apply: Apply | None,
        *,
        partly: bool = True,
        titles: tuple[str, str] = ("Changes", "What it does"),
        keys: Sequence[str] | None = None,
        choosable: Collection[str] | None = None,
    ) -> None:
        super().__init__(heading, subheading)
        self._items = items
        self._keys = tuple(item.key for item in items) if keys is None else tuple(keys)
        self._choosable = frozenset(self._keys if choosable is None else choosable)
        # Keys of what begins accepted, where changes are accepted one by one.
        self._proposed = self._choosable
        self._apply_accepted = apply
        self.multi_select = partly
        self.titles = titles
        self._writing = False
        # Whether somebody said that they are done with it, if only by leaving all for later; esc says nothing.
        self.answered = False

    def on_mount(self) -> None:
        if self.multi_select:
            self.rows.select(self.begins_accepted)

    @property
    def begins_accepted(self) -> frozenset[str]:
        """Keys of what has a tick at first."""
        return self._proposed

    @property
    def accepted(self) -> tuple[str, ...]:
        """Keys of the accepted changes, in the order proposed."""
        mounted = self.multi_select and self.is_mounted
        chosen = self.rows.selected if mounted else self.begins_accepted
        return tuple(key for key in self._keys if key in chosen)

    @property
    def decided(self) -> bool:
        return bool(self.accepted)

    def fill(self, rows: RowList) -> None:
        """Puts a row for each change into the list; rows are made when they come into view."""
        items, keys, choosable = self._items, self._keys, self._choosable
        rows.set_source(
            len(keys), lambda index: self.item_row(items[index]), height=2, key_at=keys.__getitem__,
            mark_at=lambda index: keys[index] if keys[index] in choosable else "",
        )  # fmt: skip

    def item_row(self, item: ReviewItem) -> Row:
        # The sign for accepted stands right before the text.
        title = Content.assemble(" ", content(item.title, "bold"))
        head = sides(title, content(item.kind, "$text-secondary"))
        return Row(item.key, (head, Content.assemble(" ", content(item.detail, MUTED))))

    def detail(self, row: Row, index: int) -> MakeLines:
        return self._items[index].lines

    def key_line(self) -> Content:
        if self._writing:
            return Content.styled(f"◔ writing {plural(len(self.accepted), 'change')} …", "$text-accent")
        if self._apply_accepted is None:
            return key_content("tab  switch · esc  close")
        apply = f"apply {len(self.accepted):,} of {len(self._choosable):,}" if self.multi_select else "apply"
        choose = " · space  yes/no · a  all/none" if self.multi_select else ""
        return key_content(f"ctrl+s  {apply}{choose} · tab  switch · esc  close")

    @on(RowList.SelectionChanged)
    def count(self, event: RowList.SelectionChanged) -> None:
        event.stop()
        self.refresh_keys()

    def action_all(self) -> None:
        if self.multi_select:
            self.rows.select([] if self.rows.selected == self._choosable else self._choosable)

    def action_apply(self) -> None:
        if self._writing:
            return
        self.answered = True
        if self.decided and self._apply_accepted is not None:
            self._apply(self._apply_accepted)
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        if not self._writing:
            super().action_close()

    @work(group="apply", exclusive=True, exit_on_error=False)
    async def _apply(self, apply: Apply) -> None:
        async def unless_stopped() -> Reviewed | PendingConflict | None:
            try:
                return await or_pending_conflict(apply(self.accepted))
            except StoppedError:
                notify(self, "Stopped. Nothing changed.")
                return None

        self._writing = True
        self.refresh_keys()
        done = await self.attempt(unless_stopped())
        self._writing = False
        if done is not None:
            self.dismiss(done)
        else:
            self.answered = False
            self.refresh_keys()


class DecidingReview(ReviewScreen):
    """What is refused one by one is not proposed again; what is left for later is.

    proposed: keys of what begins accepted; all when not given. doubtful: those of them that begin left for
    later. others: keys of what may be accepted besides. What is in neither stands there to be known, dimmed unless it
    is in `plain`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l", "later", "later", show=False)]

    def __init__(
        self,
        heading: str,
        subheading: str | Content,
        items: Sequence[ReviewItem],
        apply: Apply,
        *,
        proposed: Collection[str] | None = None,
        doubtful: Collection[str] = (),
        others: Collection[str] = (),
        plain: Collection[str] = (),
        titles: tuple[str, str] = ("Changes", "What it does"),
    ) -> None:
        choosable = None if proposed is None else {*proposed, *others}
        super().__init__(heading, subheading, items, apply, titles=titles, choosable=choosable)
        if proposed is not None:
            self._proposed = frozenset(proposed)
        self._plain = frozenset(plain)
        self._doubtful = self._later = frozenset(doubtful)

    @property
    def begins_accepted(self) -> frozenset[str]:
        """Keys of what has a tick at first: what is proposed and not doubtful."""
        return self._proposed - self._doubtful

    @property
    def refused(self) -> tuple[str, ...]:
        """Keys of the changes that are refused for good, in the order shown."""
        left = self._proposed.difference(self.accepted) - self._later
        return tuple(key for key in self._keys if key in left)

    @property
    def decided(self) -> bool:
        """Whether there is anything to write: what is refused is remembered."""
        return bool(self.accepted or self.refused)

    def key_line(self) -> Content:
        if not self._choosable:
            return key_content("tab  switch · esc  close")
        refuse = f", refuse {len(self.refused)}" if self.refused else ""
        apply = f"apply {len(self.accepted)} of {len(self._choosable)}{refuse}"
        return key_content(f"ctrl+s  {apply} · space  yes/no · l  later · a  all · esc  close")

    @on(RowList.SelectionChanged)
    def mark(self, event: RowList.SelectionChanged) -> None:
        # What is selected by now: an event may speak of what was so a moment ago.
        self._later -= event.row_list.selected
        self.fill(event.row_list)

    def action_all(self) -> None:
        wanted = self._proposed.difference(self.refused)
        all_accepted = wanted <= set(self.accepted)
        self._later = wanted if all_accepted else frozenset()
        self.rows.select([] if all_accepted else wanted)

    def action_later(self) -> None:
        row, rows = self.row, self.rows
        if row is None:
            return
        if row.key in self._proposed:
            self._later |= {row.key}
            if row.key in rows.selected:
                rows.select(rows.selected - {row.key})
            else:
                self.fill(rows)
                self.refresh_keys()
        rows.action_move("down")

    def item_row(self, item: ReviewItem) -> Row:
        """A row with what becomes of it."""
        accepted = item.key in (self.rows.selected if self.is_mounted else self.begins_accepted)
        later, stands = item.key in self._later, item.key in self._choosable | self._plain
        refused = item.key in self._proposed and not (accepted or later)
        title = content(item.title, "bold" if stands and not (refused or later) else MUTED)
        head = sides(Content.assemble(" ", title), content(item.kind, "$text-secondary" if stands else MUTED))
        doubtful = item.key in self._doubtful
        if refused:
            detail = Content.styled(" ✗ refused, not proposed again", "$text-warning")
        elif later or doubtful:
            sign = "…" if later else "!"
            word = "uncertain" if doubtful else "kept for later"
            style = MUTED if later else "$text-warning"
            detail = Content.assemble((f" {sign} {word}: ", style), content(item.detail, MUTED))
        else:
            detail = Content.assemble(" ", content(item.detail, MUTED))
        return Row(item.key, (head, detail))


# Which reviews there are


def restore_review(
    session: Session, proposed: ChangeSet, moment: str, *, one_note: bool = False
) -> ReviewScreen:
    """Going back to a moment, thing by thing; it is done whole or not at all. moment: what it is called."""

    async def apply(accepted: Collection[str]) -> Reviewed:
        return await session.write(session.memory.apply, proposed), ""

    said = (
        f"Changes {things(proposed)}: {counted(proposed)}. It is one entry of the audit log; you can undo it."
    )
    items = _items(proposed, session.snapshot)
    heading = f"Restore a note from {moment}" if one_note else f"Restore {moment}"
    return ReviewScreen(heading, said, items, apply, partly=False)


def _items(proposed: ChangeSet, snapshot: Snapshot) -> list[ReviewItem]:
    """A change set thing by thing; a fact goes with its note."""
    title_of = titles(snapshot)
    items = [
        ReviewItem(f"note {number}", _verb(change), change.note.title, _detail(change),
                   partial(_lines, partial(differences.note_lines, change, title_of=title_of)))
        for number, change in enumerate(proposed.notes)
    ]  # fmt: skip
    for number, fact in enumerate(facts_alone(proposed)):
        lines = partial(_lines, partial(differences.fact_lines, fact))
        items.append(ReviewItem(f"fact {number}", "fact", fact.key, fact.nugget, lines))
    for file in proposed.files:
        lines = partial(_lines, partial(differences.file_lines, file))
        items.append(ReviewItem(f"file {file.path}", "file", file.path, "", lines))
    return items


def _verb(change: NoteChange) -> str:
    if change.before is None:
        return "restore"
    if change.after is None:
        return "delete"
    return "hide" if change.after.hidden and not change.before.hidden else "set back"


def _detail(change: NoteChange) -> str:
    """Where the note is, and what becomes of it."""
    if change.before is None:
        said = "comes back as it was then"
    elif change.after is None:
        said = "did not exist then"
    else:
        fields = ", ".join(differences.changed_fields(change))
        said = f"as it was then: {fields}" if fields else "as it was then"
    return f"{change.note.nugget_name} · {said}"


def _lines(make: Callable[[], list[DiffLine]], width: int) -> list[Content]:
    return wrapped(styled_lines(make()), width)


def verify_review(session: Session, findings: Sequence[Finding], keys: KeyMap = DEFAULT) -> ReviewScreen:
    """What is not right in the memory; what can be mended without asking is mended as one entry of the log."""
    repairable = sum(finding.means is not None for finding in findings)

    async def repair(accepted: Collection[str]) -> Reviewed:
        return await session.write(session.workspace.repair), f"Repaired {plural(repairable, 'finding')}"

    said = f"{plural(len(findings), 'finding')}. "
    if repairable == len(findings):
        said += "All can be repaired, as one entry of the audit log; you can undo it."
    elif repairable:
        said += f"{repairable:,} can be repaired, as one entry that you can undo. You decide the rest."
    else:
        said += "You decide these; each says how."
    items = [_finding_item(str(number), each, session.snapshot, keys) for number, each in enumerate(findings)]
    return ReviewScreen(
        "Memory check",
        said,
        items,
        repair if repairable else None,
        partly=False,
        titles=("Findings", "What it is"),
    )


def _describe(finding: Finding, keys: KeyMap) -> str:
    """A finding in words, with the app's keys for what a person can do about it."""
    words = in_keys(finding.remedy, keys)
    if words:
        words = (words if is_typed(finding.remedy) else words[:1].upper() + words[1:]) + "."
    return " ".join(filter(None, (finding.description, finding.todo, words)))


def _finding_item(key: str, finding: Finding, snapshot: Snapshot, keys: KeyMap) -> ReviewItem:
    note = snapshot.by_id.get(finding.where)

    def lines(width: int) -> list[Content]:
        shown = [content(_describe(finding, keys)), Content("")]
        if finding.means is not None:
            shown.append(Content.assemble(("To repair: ", "$text-success"), content(finding.repair)))
        else:
            settles = f"It waits in the audit log: {keys.key('conflicts')} resolves it."
            waits = settles if finding.kind == "conflict" else ""
            shown.append(Content.styled(waits or "You decide.", "$text-warning"))
        return wrapped([*shown, Content(""), content(finding.where, "$text-muted")], width)

    where = note.title if note is not None else finding.where.removeprefix(f"{snapshot.home}/")
    return ReviewItem(key, "repair" if finding.means is not None else "for you", where, finding.kind, lines)


_SHOWN: Final = 4_000
_NO_PAIR: Final[frozenset[str]] = frozenset()
# The fields of a note that a kind of change touches; merging touches all.
_FIELDS: Final = {"rewrite": ("title", "content"), "hide": ("hidden",), "tag": ("tags",), "link": ("links",)}


class ReflectionReview(DecidingReview):
    """Changes of a cleanup pass. What is refused one by one is not proposed again; what is left for later is."""

    def __init__(self, session: Session, result: ReflectionResult) -> None:
        pairs = {change.id: _pair(change) for change in result.changes if change.type == "link"}
        items = [
            _item(change, _without(result.change_set, pairs, change.id), session.snapshot)
            for change in result.changes
        ]
        said = (
            f"Checked {plural(result.inspected, 'note')}. Nothing changes until you apply. What you "
            f"refuse (space) is not proposed again. {left_for_later(result)}"
        )
        doubtful = [change.id for change in result.changes if change.doubtful]
        if doubtful:
            said += f" {plural(len(doubtful), 'uncertain change')}, unticked."
        super().__init__(
            "Reflection: review the cleanup", said.rstrip(), items, self._written, doubtful=doubtful
        )
        self._session = session

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        done = await self._session.write(self._session.memory.reflect, accept=accepted, refuse=self.refused)
        said = f"Cleaned up: {len(done.changes)} of {plural(len(self._items), 'change')} accepted"
        if done.refused:
            said += f", {done.refused} refused and not proposed again"
        return done.change_set, said


_Pair = frozenset[str]


def _pair(change: ProposedChange) -> _Pair:
    return frozenset((change.note_id, change.other_id))


def _without(change_set: ChangeSet, pairs: Mapping[str, _Pair], own: str) -> tuple[NoteChange, ...]:
    """What is done to each note, without the links that other rows propose. pairs: the notes that each row links."""
    others = {pair for row, pair in pairs.items() if row != own} - {pairs.get(own, _NO_PAIR)}

    def alone(change: NoteChange) -> NoteChange:
        if change.before is None or change.after is None:
            return change
        had = change.before.links
        links = tuple(
            link
            for link in change.after.links
            if link in had or frozenset((change.id, link.to)) not in others
        )
        return replace(change, after=replace(change.after, links=links))

    return tuple(map(alone, change_set.notes)) if others else change_set.notes


def _item(change: ProposedChange, changes: Sequence[NoteChange], snapshot: Snapshot) -> ReviewItem:
    note, other = snapshot.by_id.get(change.note_id), snapshot.by_id.get(change.other_id)
    title = note.title if note else change.nugget_name
    # People know notes by their titles.
    detail = change.detail(f'"{other.title}"' if other else "")
    if change.type == "merge" and other is not None:
        # Its deed names the other note by id and title.
        detail = f'merge with "{other.title}"'
    concerned = {change.note_id, change.other_id} if change.type == "merge" else {change.note_id}
    names = _FIELDS.get(change.type)
    why = f"Why: {safe_line(change.reason)}; {change.confidence:.0%} sure."

    def lines(width: int) -> list[Content]:
        shown = [Content.styled(safe_line(detail), MUTED), Content.styled(why, MUTED), Content("")]
        for each in changes:
            if each.id in concerned:
                shown += [*note_change_lines(each, names, title_of=titles(snapshot)), Content("")]
        if change.type == "hide" and note is not None:
            shown += [Content.styled(f"  {plain(line)}", MUTED) for line in note.content[:_SHOWN].split("\n")]
        return wrapped(shown, width)

    return ReviewItem(change.id, f"{change.type} {change.confidence:.0%}", title, detail, lines)


_SECRETS_REVIEW_SHOWN = 4_000
# What is kept beside notes, by how its id begins.
_WHAT = {"raw": "text", "fact": "fact", "proposal": "proposal"}
_QUESTION = (
    "This masks what looks like a credential in {0}, wherever the same value is stored: notes, "
    "facts, the pipeline, the history and MEMORY.md. It deletes backups and quarantined files that hold it."
    "\n\nNobody can undo this. Masking does not revoke a credential: change it where you use it, too."
)


class SecretsReview(ReviewScreen):
    """Notes and facts that look as if they held a credential; nothing shows it in clear."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("n", "none", "none", show=False)]

    def __init__(self, session: Session, found: Collection[Holder]) -> None:
        self._session = session
        self._found = {one.id: one for one in found}
        items = [_secrets_review_item(one, session.snapshot) for one in found]
        said = f"{counted_holders(found)} may hold a credential. Promotion skips credentials."
        super().__init__("Review credentials", said, items, self._mask, titles=("Found", "Masked text"))

    def key_line(self) -> Content:
        if self._writing:
            return super().key_line()
        return key_content(
            f"ctrl+s  mask {len(self.accepted)} of {len(self._items)} · space  yes/no · a  all/none · "
            "n  not a credential · esc  close"
        )

    def action_apply(self) -> None:
        if self._writing:
            return
        if not self.accepted:
            self.dismiss(None)
            return
        self._ask()

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _ask(self) -> None:
        plan = await self.attempt(self._session.read(self._session.workspace.masking, self.accepted))
        if plan is not None:
            deleted = [safe_line(place.path.name, 200) for place in plan.places if place.deleted]
            many = counted_holders([self._found[id] for id in self.accepted])
            question = _QUESTION.format(many) + (f"\n\nDeleted: {', '.join(deleted)}" if deleted else "")
            self.app.push_screen(ConfirmScreen("Mask for good?", question, yes="mask for good"), self._sure)

    def _sure(self, sure: bool | None) -> None:
        if sure:
            super().action_apply()

    async def _mask(self, accepted: Collection[str]) -> Reviewed:
        session, workspace = self._session, self._session.workspace
        plan = await session.read(workspace.masking, accepted)
        done = await session.write(workspace.mask_secrets, plan)
        said = f"Masked {counted_holders(plan.holders)}, in the history too"
        left = await session.read(workspace.memory.secrets.left, plan)
        if left:
            named = ", ".join(safe_line(str(one.path), 200) for one in left[:3])
            said += f"; not masked, or not readable: {named}"
        return done, said

    def action_none(self) -> None:
        row = self.row
        if row is not None and not self._writing:
            self._none(row.key)

    @work(group="apply", exclusive=True, exit_on_error=False)
    async def _none(self, id: str) -> None:
        done = await self.attempt(self._session.write(self._session.workspace.mark_not_secret, [id]))
        if done is not None:
            self.dismiss((done, "Marked as not a credential until its text changes"))


def _secrets_review_item(holder: Holder, snapshot: Snapshot) -> ReviewItem:
    note = snapshot.by_id.get(holder.note_id)
    fact = None
    if note is None and holder.nugget in snapshot.by_name:
        found = snapshot.by_name[holder.nugget].find(holder.key)
        fact = found[1] if found else None
    title = note.title if note is not None else holder.key
    text = note.content if note is not None else fact.value if fact is not None else holder.text
    what = _WHAT.get(holder.kept_id.partition("-")[0], "transcript") if holder.kept_id else ""
    kinds = ", ".join(holder.kinds)
    return ReviewItem(
        holder.id, what or ("fact" if note is None or note.is_fact else "note"),
        holder.title if what else masked(title), kinds,
        partial(_secrets_review_lines, title, text, kinds),
    )  # fmt: skip


def _secrets_review_lines(title: str, text: str, kinds: str, width: int) -> list[Content]:
    # Read together, as they were when it was found; what follows the title is the text.
    whole = masked(f"{title}: {text}" if title else text)
    shown = [content(f"May hold: {kinds}", "$text-warning"), Content("")]
    shown += [Content(plain(line)) for line in whole[:_SECRETS_REVIEW_SHOWN].split("\n")]
    return wrapped(shown, width)
