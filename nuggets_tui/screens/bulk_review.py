"""The review of one change of many notes: each is accepted or refused, and what is accepted is one entry of the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Final, overload

from textual.content import Content

from core.model.change import NoteChange
from core.model.infer import said_scope
from core.model.note import Note
from nuggets_tui.bulk import Proposal, carry_out
from nuggets_tui.differences import TitleOf, titles
from nuggets_tui.remedies import message
from nuggets_tui.safe_text import cut, plain, safe_line
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.diff_lines import note_change_lines, wrapped
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

_SHOWN: Final = 4_000
# Titles named before something goes for good, and cells of each.
_NAMED, _NAME = 5, 60


class BulkReview(ReviewScreen):
    """What one command would change of many notes."""

    def __init__(self, session: Session, proposal: Proposal, selected: int, undo_key: str = "u") -> None:
        """`selected`: how many notes were selected; some of them may not change."""
        super().__init__(
            proposal.edit.title,
            _about(proposal, selected, undo_key),
            ProposalItems(proposal),
            self._carry_out,
            keys=proposal.edited.changed,
        )
        self._session = session
        self._proposal = proposal

    async def _carry_out(self, accepted: Collection[str]) -> Reviewed:
        done, count = await carry_out(self._session, self._proposal, accepted)
        said = self._proposal.edit.reason(count)
        return done, said[:1].upper() + said[1:]

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
        self.app.push_screen(question, self._sure)

    def _sure(self, sure: bool | None) -> None:
        if sure:
            super().action_apply()


def _about(proposal: Proposal, selected: int, undo_key: str) -> str:
    edited = proposal.edited
    said = [f"{selected:,} selected."]
    as_it_is = selected - len(edited.changed) - len(edited.refused)
    if as_it_is:
        said.append(f"{as_it_is:,} {'needs' if as_it_is == 1 else 'need'} no change.")
    if edited.refused:
        id, error = edited.refused[0]
        note = proposal.base.by_id.get(id)
        name = f'"{cut(note.title, _NAME)}": ' if note is not None else ""
        first = "" if len(edited.refused) == 1 else " the first is "
        said.append(f"{len(edited.refused):,} cannot be changed:{first or ' '}{name}{message(error)}.")
    said.append(f"Nothing is written until you apply. {undo_key} then undoes all of it.")
    return " ".join(safe_line(part) for part in said)


class ProposalItems(Sequence[ReviewItem]):
    """An item for each note that would change, made when it is looked at."""

    def __init__(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self._ids = proposal.edited.changed
        self._title_of = titles(proposal.base)

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> ReviewItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[ReviewItem]: ...
    def __getitem__(self, index: int | slice) -> ReviewItem | list[ReviewItem]:
        if isinstance(index, slice):
            return [self._item(id) for id in self._ids[index]]
        return self._item(self._ids[index])

    def _item(self, id: str) -> ReviewItem:
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
        shown += [Content(""), *_text(before)]
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


def _text(note: Note) -> list[Content]:
    return [Content.styled(f"  {plain(line)}", MUTED) for line in note.content[:_SHOWN].split("\n")]
