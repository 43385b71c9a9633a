"""One change of many notes: what is asked before, what would become of each, written as one entry of the log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from core.graph.edits import (
    EditedEach,
    EditOne,
    delete_note,
    edit_each,
    edit_note,
    hide_note,
    link_notes,
    move_to_scope,
    unhide_note,
)
from core.model.change import NoteChange
from core.model.infer import said_scope
from core.model.note import SCOPES, Note, custom_tags, normalise_tag
from core.model.snapshot import Snapshot
from nuggets_tui.differences import TitleOf, titles
from nuggets_tui.listing import PINNED
from nuggets_tui.notices import message, notify
from nuggets_tui.safe_text import content, cut, plain, safe_line
from nuggets_tui.screens.dialog import ChoiceScreen, ConfirmScreen
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewItems, ReviewScreen
from nuggets_tui.screens.typed import FieldsDialog, split_tags
from nuggets_tui.session import Session
from nuggets_tui.widgets.fields import CompletedField, Offer, tag_offers
from nuggets_tui.widgets.line_view import note_change_lines, wrapped
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

# Tags named at once, and cells of each.
_TAGS: Final = 24
_TAG: Final = 30
# Titles named before something goes for good, and cells of each.
_NAMED, _NAME = 5, 60
_SHOWN: Final = 4_000
# Notes between two words on how far a proposal is.
_REPORT_EVERY: Final = 50
_SCOPE_MEANINGS: Final = {
    "self": "about the assistant itself",
    "user": "about you, in every project",
    "shared": "known to all projects",
    "project": "about this project",
    "session": "for this session only; never promoted",
}


@dataclass(frozen=True)
class BulkEdit:
    """An edit that notes can get.

    edit: of one note. title: of the review, such as "Hide 3 notes". done: the verb of the log, `suffix` what follows
    the notes there. kind: the word in the row of each note. detail: the second line of that row. question: asked before
    it is written, about what would go; "" for none.
    """

    ids: tuple[str, ...]
    edit: EditOne
    title: str
    done: str
    kind: str
    detail: Callable[[NoteChange], str] = lambda change: change.note.nugget_name
    suffix: str = ""
    question: str = ""


@dataclass(frozen=True, eq=False)
class Proposal:
    """What an edit of many notes would change in what a person saw: `base`."""

    edit: BulkEdit
    base: Snapshot
    edited: EditedEach
    changes: Mapping[str, NoteChange]


def propose(
    session: Session, base: Snapshot, edit: BulkEdit, report_progress: Callable[[int, int], object]
) -> Proposal:
    """Works out what an edit would change, for a thread; writes nothing. What report_progress raises ends the work."""
    draft, count = session.draft(base), len(edit.ids)
    edited = edit_each(
        draft, edit.ids, edit.edit, report=lambda done: done % _REPORT_EVERY or report_progress(done, count)
    )
    changes = {change.id: change for change in draft.change_set("").notes}
    # A note whose edit comes to nothing in the end is no change.
    changed = tuple(id for id in edited.changed if id in changes)
    return Proposal(edit, base, edited._replace(changed=changed), changes)


async def carry_out(session: Session, proposal: Proposal, accepted: Collection[str]) -> Reviewed:
    """Writes the accepted changes, and says of how many notes. What is gone by now is left out."""
    present, wanted, edit = session.snapshot.by_id, set(accepted), proposal.edit
    ids = [id for id in proposal.edited.changed if id in wanted and id in present]
    reason = f"{edit.done} {plural(len(ids), 'note')}{edit.suffix}"
    _, done = await session.change_from(proposal.base, reason, partial(edit_each, ids=ids, edit=edit.edit))
    return done, reason[:1].upper() + reason[1:]


# The edits that there are


def hiding(notes: Sequence[Note]) -> BulkEdit:
    """Hides the visible ones; when all are hidden, brings them back."""
    visible = [note for note in notes if not note.hidden]
    if not visible:
        return BulkEdit(_ids(notes), unhide_note, f"Bring back {_count(notes)}", "brought back", "bring back")
    return BulkEdit(_ids(visible), hide_note, f"Hide {_count(visible)}", "hid", "hide")


def deleting(notes: Sequence[Note]) -> BulkEdit:
    question = "This deletes the notes and all links to them. You can undo it from the audit log."
    title = f"Delete {_count(notes)} for good"
    return BulkEdit(_ids(notes), delete_note, title, "deleted", "delete", question=question)


def pinning(notes: Sequence[Note]) -> BulkEdit:
    """Pins those that are not; when all are pinned, lets them go."""
    loose = [note for note in notes if PINNED not in note.tags]
    if not loose:
        edit = partial(edit_note, remove_tags=(PINNED,))
        return BulkEdit(_ids(notes), edit, f"Unpin {_count(notes)}", "unpinned", "unpin")
    edit = partial(edit_note, add_tags=(PINNED,))
    return BulkEdit(_ids(loose), edit, f"Pin {_count(loose)}", "pinned", "pin")


def tagging(notes: Sequence[Note], add: Iterable[str], remove: Iterable[str]) -> BulkEdit:
    """Gives them tags and takes others off."""
    add, remove = (tuple(dict.fromkeys(filter(None, map(normalise_tag, tags)))) for tags in (add, remove))
    # A tag in both lines is meant to be there: it was typed to be added.
    remove = tuple(tag for tag in remove if tag not in add)

    def differing(change: NoteChange) -> str:
        before, after = (set(note.tags) if note else set() for note in (change.before, change.after))
        signed = [
            (f"+{tag}" for tag in sorted(after - before)),
            (f"-{tag}" for tag in sorted(before - after)),
        ]
        return " ".join(each for group in signed for each in group)

    return BulkEdit(
        _ids(notes),
        partial(edit_note, add_tags=add, remove_tags=remove),
        f"Change the tags of {_count(notes)}",
        "tagged",
        "tags",
        detail=differing,
        suffix=f": {' '.join([*(f'+{tag}' for tag in add), *(f'-{tag}' for tag in remove)])}",
    )


def moving(notes: Sequence[Note], scope: str) -> BulkEdit:
    return BulkEdit(
        _ids(notes),
        partial(move_to_scope, scope=scope),
        f"Move {_count(notes)} to scope {scope}",
        "moved",
        f"to {scope}",
        detail=lambda change: f"{change.before.scope if change.before else ''} → {scope}",
        suffix=f" to scope {scope}",
    )


def linking(notes: Sequence[Note], target: Note, reason: str) -> BulkEdit:
    others = [note for note in notes if note.id != target.id]
    name = cut(target.title, 40)
    return BulkEdit(
        _ids(others),
        partial(link_notes, b=target.id, reason=reason),
        f'Link {_count(others)} to "{name}"',
        "linked",
        "link",
        detail=lambda change: f"↔ {name}",
        suffix=f" to {name}",
    )


def _ids(notes: Iterable[Note]) -> tuple[str, ...]:
    return tuple(note.id for note in notes)


def _count(notes: Sequence[Note]) -> str:
    return plural(len(notes), "note")


# What is asked


class TagsWanted(NamedTuple):
    """Tags to add to notes and tags to take off; review: whether each note is to be looked at before."""

    add: list[str]
    remove: list[str]
    review: bool


class TagsOfManyScreen(FieldsDialog[TagsWanted]):
    """Answers with the tags to add and those to take off, and says beforehand of how many notes each."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+r", "review", "review each note", show=False)]
    keys = "ctrl+s  apply · ctrl+r  review each note · tab  next field · esc  close"
    _review = False

    def __init__(self, snapshot: Snapshot, notes: Sequence[Note]) -> None:
        super().__init__(classes="small")
        self.heading = f"Change the tags of {len(notes):,} selected notes"
        self._snapshot = snapshot
        self._selected = len(notes)
        # The tags that the notes bear, and how many bear each; the most common first.
        counts: dict[str, int] = {}
        for tag in (tag for note in notes for tag in custom_tags(note)):
            counts[tag] = counts.get(tag, 0) + 1
        self._worn = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def compose_inside(self) -> ComposeResult:
        parts = [
            Content.assemble(content(cut(tag, _TAG), "$text-secondary"), (f" {count:,}", MUTED))
            for tag, count in self._worn.items()
        ]
        yield Static(
            _few(parts) or Content.styled("The selected notes have no tags yet.", MUTED), classes="words"
        )
        hint = "words separated by spaces"
        yield CompletedField("Add", id="add", hint=hint, offers_for=partial(tag_offers, self._snapshot))
        yield CompletedField("Remove", id="remove", hint=hint, offers_for=self._removable)
        yield Static(id="preview", classes="words")

    def on_mount(self) -> None:
        self.query_one("#add", Input).focus()

    def _removable(self, typed: str) -> list[Offer]:
        """The tags that can be taken off and go on as the last word does."""
        return [offer for offer in tag_offers(self._snapshot, typed) if offer.word in self._worn]

    @on(Input.Changed)
    def preview(self) -> None:
        worn = {normalise_tag(tag): count for tag, count in self._worn.items()}
        add, remove = self._tags
        said = [
            (f"+{cut(tag, _TAG)}", self._selected - worn.get(normalise_tag(tag), 0))
            for tag in dict.fromkeys(add)
        ]
        said += [(f"-{cut(tag, _TAG)}", worn.get(normalise_tag(tag), 0)) for tag in dict.fromkeys(remove)]
        parts = [
            Content.assemble(content(tag, "$text-accent"), (f" on {plural(count, 'note')}", MUTED))
            for tag, count in said
        ]
        self.query_one("#preview", Static).update(_few(parts))

    @property
    def begun(self) -> Mapping[str, str]:
        return {}

    @property
    def _tags(self) -> tuple[list[str], list[str]]:
        return split_tags(self.values["add"]), split_tags(self.values["remove"], self._worn)

    def action_review(self) -> None:
        self._review = True
        self.action_save()

    def action_save(self) -> None:
        if any(self._tags):
            self.dismiss(TagsWanted(*self._tags, self._review))
        else:
            notify(self, "Type a tag to add or remove.")


def _few(parts: list[Content]) -> Content:
    more = [Content.styled(f"and {len(parts) - _TAGS:,} more", MUTED)] if len(parts) > _TAGS else []
    return Content("   ").join([*parts[:_TAGS], *more])


class ScopeScreen(ChoiceScreen):
    """Answers with the scope that notes are to move to."""

    keys = "⏎  move there · ↑↓  choose · esc  close"
    said = (
        "The scope says whom a note concerns. Its subject and stability follow, unless you or an "
        "agent set them."
    )

    def __init__(self, notes: Sequence[Note]) -> None:
        what = f"{len(notes):,} selected notes" if len(notes) > 1 else f'"{safe_line(notes[0].title, 60)}"'
        self.heading = f"Move {what} to another scope"
        rows = []
        for scope in SCOPES:
            count = sum(note.scope == scope for note in notes)
            here = "" if not count else "here now" if len(notes) == 1 else f"{plural(count, 'note')} here now"
            head = sides(Content.styled(scope, "bold"), Content.styled(here, "$text-secondary"))
            rows.append(Row(scope, (head, Content.styled(f"  {_SCOPE_MEANINGS[scope]}", MUTED))))
        super().__init__(rows)


# What would become of each


class BulkReview(ReviewScreen):
    """What one command would change of many notes."""

    def __init__(self, session: Session, proposal: Proposal, selected: int, undo_key: str = "u") -> None:
        """`selected`: how many notes were selected; some of them may not change."""
        super().__init__(
            proposal.edit.title,
            _about(proposal, selected, undo_key),
            ProposalItems(proposal),
            partial(carry_out, session, proposal),
            keys=proposal.edited.changed,
        )
        self._proposal = proposal

    def action_apply(self) -> None:
        edit, accepted = self._proposal.edit, self.accepted
        if not edit.question or not accepted or self._writing:
            super().action_apply()
            return
        notes = self._proposal.base.by_id
        named = [f'"{cut(notes[id].title, _NAME)}"' for id in accepted[:_NAMED]]
        more = f"\n… and {len(accepted) - _NAMED:,} more" if len(accepted) > _NAMED else ""
        question = ConfirmScreen(
            f"{edit.kind.capitalize()} {plural(len(accepted), 'note')} for good?",
            "\n".join(named) + more + f"\n\n{edit.question}",
            yes=f"{edit.kind} {'it' if len(accepted) == 1 else 'them'}",
        )
        self.if_sure(question, super().action_apply)


def _about(proposal: Proposal, selected: int, undo_key: str) -> str:
    changed, refused = proposal.edited
    said = [f"{selected:,} selected."]
    as_it_is = selected - len(changed) - len(refused)
    if as_it_is:
        said.append(f"{as_it_is:,} {'needs' if as_it_is == 1 else 'need'} no change.")
    if refused:
        id, error = refused[0]
        note = proposal.base.by_id.get(id)
        name = f'"{cut(note.title, _NAME)}": ' if note is not None else ""
        first = " " if len(refused) == 1 else " the first is "
        said.append(f"{len(refused):,} cannot be changed:{first}{name}{message(error)}.")
    said.append(f"Nothing is written until you apply. {undo_key} then undoes all of it.")
    return " ".join(safe_line(part) for part in said)


class ProposalItems(ReviewItems):
    """An item for each note that would change, made when it is looked at."""

    def __init__(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self._ids = proposal.edited.changed
        self._title_of = titles(proposal.base)

    def __len__(self) -> int:
        return len(self._ids)

    def made(self, index: int) -> ReviewItem:
        id = self._ids[index]
        edit, change = self._proposal.edit, self._proposal.changes[id]
        note = change.before or change.note
        links = len(self._proposal.base.links_in.get(id, ())) if change.after is None else 0
        lines = partial(_lines, change, self._title_of, links)
        return ReviewItem(id, edit.kind, note.title, edit.detail(change), lines)


def _lines(change: NoteChange, title_of: TitleOf, links: int, width: int) -> list[Content]:
    shown = note_change_lines(change, title_of=title_of)
    before, after = change.before, change.after
    remarks = list(_remarks(before, after, links))
    if remarks:
        shown += [Content(""), *(Content.styled(remark, "$text-warning") for remark in remarks)]
    if before is not None and after is not None and before.hidden != after.hidden:
        text = before.content[:_SHOWN].split("\n")
        shown += [Content(""), *(Content.styled(f"  {plain(line)}", MUTED) for line in text)]
    return wrapped(shown, width)


def _remarks(before: Note | None, after: Note | None, links: int) -> Iterator[str]:
    """What the difference itself does not say."""
    if links:
        yield f"{plural(links, 'link')} to it {'is' if links == 1 else 'are'} deleted too."
    if before is None or after is None:
        return
    if before.is_fact and after.hidden and not before.hidden:
        yield "Agents no longer recall its fact. The hidden note keeps it."
    said = said_scope(after.title)
    if before.scope != after.scope and said and said != after.scope:
        yield f"Its title still begins with {said}: and does not change."
