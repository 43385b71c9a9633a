"""One reflection pass: select notes, then archive, tidy, tag, merge and link, all in one change set."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from msgspec.structs import replace

from core.errors import InvalidInputError
from core.model.change import Author
from core.model.draft import Draft
from core.model.note import Note
from core.model.progress import Progress, counted
from core.model.selection import select_ids
from core.reflection.judge import pinned
from core.reflection.plan import SAID, ProposedChange, ReflectionResult, Step
from core.reflection.refusals import Refusal
from core.reflection.refusals import refuse as remember_refused
from core.reflection.rules import CLEANING, DOUBTING, EVERY, Rule, add_links, correct_scope, merge_duplicates
from core.reflection.view import PassView
from core.settings import ReflectionSettings

REFLECTION: Final = Author("reflection")
_SYSTEM_TAGS: Final = 3


def reflect(
    draft: Draft,
    settings: ReflectionSettings | None = None,
    *,
    accept: Collection[str] | None = None,
    refuse: Collection[str] = (),
    undone_changes: Collection[Refusal] = (),
    sure: bool = False,
    limit: int | None = None,
    max_archived: int | None = None,
    max_merged: int | None = None,
    nugget: str | None = None,
    scope: str | None = None,
    type: str | None = None,
    subject: str | None = None,
    author: Author = REFLECTION,
    progress: Progress | None = None,
) -> ReflectionResult:
    """A cleanup pass over a fresh draft; the result holds its proposals and the change set that does them.

    limit: how many notes it may look at closely; max_archived, max_merged: how many it may archive and merge away
    (the settings when None). A note that no rule has anything to say about is passed over and does not use up the
    limit, so that repeated passes reach every note; a pass that finds nothing gives an empty change set.

    accept: carry out only the proposals with these ids (or unambiguous beginnings of ids). refuse: remember these
    as refused and, unless `accept` says otherwise, carry out none. What fits no proposal is in `unknown`.
    undone_changes: not to be proposed either. sure: propose nothing doubtful. The pass
    is the same for the same snapshot. progress: told how many notes of how many were looked through. Raises
    InvalidInputError for a negative limit.
    """
    settings = _within(settings or ReflectionSettings(), limit, max_archived, max_merged)
    asked = {"nugget_name": nugget, "scope": scope, "type": type, "subject": subject}
    ordered = _needy_first(
        draft.snapshot.notes, {name: one for name, one in asked.items() if one is not None}
    )
    if accept is None and not refuse:
        run = _Pass(draft, settings, undone_changes, progress, sure=sure)
        return _result(draft, run, ordered, [step.proposal for step in run.steps(ordered)], author)
    again = Draft(draft.snapshot, now=draft.now, ids=draft.ids, rules=draft.rules)
    rehearsal = _Pass(again, settings, undone_changes, progress, sure=sure)
    steps = list(rehearsal.steps(ordered))
    ids = [step.proposal.id for step in steps]
    wanted, unknown = select_ids(ids, accept or ())
    unwanted, unknown_too = select_ids(ids, refuse)
    wanted -= unwanted
    done = [step.proposal for step in steps if step.proposal.id in wanted and step.apply(draft)]
    refused = remember_refused(draft, (step.proposal for step in steps if step.proposal.id in unwanted))
    return _result(draft, rehearsal, ordered, done, author, unknown + unknown_too, refused)


def _within(
    settings: ReflectionSettings, limit: int | None, max_archived: int | None, max_merged: int | None
) -> ReflectionSettings:
    """The settings with the limits of this pass. Raises InvalidInputError for a negative one."""
    asked = {"max_notes": limit, "max_archived": max_archived, "max_merged": max_merged}
    given = {name: number for name, number in asked.items() if number is not None}
    for name, number in given.items():
        if number < 0:
            where = "limit" if name == "max_notes" else name
            raise InvalidInputError("must not be negative", where=where, kept="nothing was changed")
    return replace(settings, **given)


def _result(
    draft: Draft,
    run: _Pass,
    ordered: list[Note],
    changes: list[ProposedChange],
    author: Author,
    unknown: tuple[str, ...] = (),
    refused: int = 0,
) -> ReflectionResult:
    change_set = draft.change_set(_reason(changes, refused), author=author, kind="reflection")
    return ReflectionResult(
        ran_at=draft.at,
        inspected=min(run.limit, len(ordered)),
        changes=tuple(changes),
        change_set=change_set,
        unknown=unknown,
        left_archived=run.caps.left_over("hide"),
        left_merged=run.caps.left_over("merge"),
        limit_reached=len(run.selected) < len(ordered) and len(run.selected) == run.limit,
        refused=refused,
    )


def _reason(changes: list[ProposedChange], refused: int) -> str:
    counts = [(word, sum(change.type == type for change in changes)) for type, word in SAID.items()]
    counts.append(("refused", refused))
    return "reflection: " + (
        ", ".join(f"{word} {count}" for word, count in counts if count) or "nothing to do"
    )


def _needy_first(notes: Iterable[Note], wanted: Mapping[str, str]) -> list[Note]:
    """Visible notes without a pin that have the wanted values, the most in need first.

    A note that lacks tags or links comes before one that has them, an older one before a younger one. The
    order needs no clock, so that a preview and the pass after it look at the same notes.
    """

    def need(note: Note) -> tuple[int, str, str]:
        # With nugget, scope and type alone a note has not been tagged by anyone.
        return -((len(note.tags) <= _SYSTEM_TAGS) + (not note.links)), note.updated_at, note.id

    shown = (note for note in notes if not note.hidden and not pinned(note))
    return sorted(
        (note for note in shown if all(getattr(note, name) == one for name, one in wanted.items())), key=need
    )


class _Caps:
    """Counts changes of capped types and knows those that the caps keep back. Other types are never kept back."""

    def __init__(self, most: Mapping[str, int]) -> None:
        self._most = most
        self.done: dict[str, set[str]] = {type: set() for type in most}
        self.left: dict[str, set[str]] = {type: set() for type in most}

    def allow(self, change: ProposedChange) -> bool:
        """Whether there is room for a change; one for which there is none is left for the next pass."""
        if len(self.done.get(change.type, ())) < self._most.get(change.type, 1):
            return True
        self.left[change.type].add(change.id)
        return False

    def count(self, change: ProposedChange) -> None:
        """Counts a change that was carried out."""
        self.done.get(change.type, set()).add(change.id)

    def left_over(self, type: str) -> int:
        """How many changes of a type wait for the next pass."""
        return len(self.left[type] - self.done[type])


class _Pass:
    """The rules at work on one draft. Each step is laid over the draft before the next is thought of."""

    def __init__(
        self,
        draft: Draft,
        settings: ReflectionSettings,
        undone_changes: Collection[Refusal],
        progress: Progress | None = None,
        *,
        sure: bool = False,
    ) -> None:
        self._progress = progress
        self._sure = sure
        self._draft = draft
        self._settings = settings
        self._view = PassView(draft, settings, undone_changes)
        self.caps = _Caps({"hide": settings.max_archived, "merge": settings.max_merged})
        self.limit = settings.max_notes
        self.selected: list[str] = []

    def steps(self, ordered: list[Note]) -> Iterator[Step]:
        """The five operations in sequence over the first notes, up to the limit, that any of them concerns."""
        self.selected = [note.id for note in ordered]
        if self.limit < len(ordered):
            planned = _Caps({"hide": self._settings.max_archived, "merge": self._settings.max_merged})
            looked_at = counted(self.selected, self._progress)
            wanted = (id for id in looked_at if self._something_to_do(id, planned))
            chosen = list(islice(wanted, self.limit))
            for type, ids in planned.left.items():
                self.caps.left[type] |= ids
            # What is doubtful may be left again and again, and must not use up the limit.
            if not self._sure and len(chosen) < self.limit:
                known = frozenset(chosen)
                more = (id for id in self.selected if id not in known and self._something_doubtful(id))
                chosen += islice(more, self.limit - len(chosen))
            self.selected = chosen
        for id in counted(self.selected, self._progress):
            for rule in CLEANING:
                yield from self._carried_out(self._proposed(rule, id))
        yield from self._merged()
        # No doubtful link takes the place of one that is sure.
        for sure in (True,) if self._sure else (True, False):
            for id in counted(self.selected, self._progress if sure else None):
                yield from self._carried_out(self._proposed(add_links, id, sure=sure))
        # Last: notes of one scope are compared with each other.
        for id in self.selected:
            yield from self._carried_out(self._proposed(correct_scope, id))

    def _proposed(self, rule: Rule, id: str, *, sure: bool = False) -> Iterator[Step]:
        """What a rule proposes for a note and nobody refused. sure: nothing doubtful."""
        sure = sure or self._sure
        note = self._view.visible(id)
        if note is not None:
            for step in rule(self._view, note, self._settings):
                if not (sure and step.proposal.doubtful) and not self._view.refused(step.proposal):
                    yield step

    def _something_to_do(self, id: str, planned: _Caps) -> bool:
        """Whether a pass would do anything sure for a note, what the caps leave for the next pass not counted."""
        for rule in EVERY:
            step = next(self._proposed(rule, id, sure=True), None)
            known = step is None or step.proposal.id in planned.done.get(step.proposal.type, ())
            if step is not None and not known and planned.allow(step.proposal):
                planned.count(step.proposal)
                return True
        return False

    def _something_doubtful(self, id: str) -> bool:
        """Whether a pass would propose anything for a note that only a person carries out."""
        return any(next(self._proposed(rule, id), None) for rule in DOUBTING)

    def _carried_out(self, steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            if self.caps.allow(step.proposal) and step.apply(self._draft):
                self.caps.count(step.proposal)
                self._view.carried_out(step.proposal)
                yield step

    def _merged(self) -> Iterator[Step]:
        """Merges until no more are near: a note that took in another one is looked at again."""
        waiting = deque(self.selected)
        mine = frozenset(self.selected)
        while waiting:
            first = islice(self._proposed(merge_duplicates, waiting.popleft()), 1)
            for step in self._carried_out(first):
                if step.proposal.note_id in mine:
                    waiting.append(step.proposal.note_id)
                yield step
