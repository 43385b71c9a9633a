"""One reflection pass: select notes, then archive, tidy, tag, merge and link, all in one change set."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from core.errors import InvalidInputError
from core.model.change import Author
from core.model.draft import Draft
from core.model.note import Note
from core.reflection.archive import low_value
from core.reflection.duplicates import Duplicates, fact_agrees, survivor_first, were_merged
from core.reflection.linking import SharedContext, may_link, visible_links
from core.reflection.result import ProposedChange, ReflectionResult
from core.reflection.select import needy_first, pinned
from core.reflection.steps import Step, hide_step, link_step, merge_step, rewrite_step, tag_step
from core.reflection.tagging import improved_tags
from core.reflection.tidy import tidied
from core.reflection.vocabulary import Vocabulary
from core.settings import ReflectionSettings

REFLECTION: Final = Author("reflection")


def reflect(
    draft: Draft,
    settings: ReflectionSettings | None = None,
    *,
    accept: Collection[str] | None = None,
    limit: int | None = None,
    nugget: str | None = None,
    scope: str | None = None,
    type: str | None = None,
    subject: str | None = None,
    author: Author = REFLECTION,
) -> ReflectionResult:
    """A cleanup pass over a fresh draft; the result holds its proposals and the change set that does them.

    limit: how many notes it may look at closely (the setting when None). A note that no rule has anything to
    say about is passed over and does not use up the limit, so that repeated passes reach every note; a pass
    that finds nothing gives an empty change set. accept: carry out only the proposals with these ids (or
    unambiguous beginnings of ids); what fits no proposal is in `unknown`. The pass is the same for the same
    snapshot. Raises InvalidInputError for a negative limit.
    """
    settings = settings or ReflectionSettings()
    limit = settings.max_notes if limit is None else limit
    if limit < 0:
        raise InvalidInputError("must not be negative", where="limit", kept="nothing was changed")
    ordered = needy_first(draft.snapshot.notes, nugget=nugget, scope=scope, type=type, subject=subject)
    inspected = min(limit, len(ordered))
    if accept is None:
        steps = list(_Pass(draft, settings).steps(ordered, limit))
        return _result(draft, inspected, [step.proposal for step in steps], author)
    rehearsal = Draft(draft.snapshot, now=draft.now, ids=draft.ids, rules=draft.rules)
    steps = list(_Pass(rehearsal, settings).steps(ordered, limit))
    wanted, unknown = _chosen([step.proposal.id for step in steps], accept)
    done = [step.proposal for step in steps if step.proposal.id in wanted and step.apply(draft)]
    return _result(draft, inspected, done, author, unknown)


def _chosen(ids: list[str], accept: Collection[str]) -> tuple[set[str], tuple[str, ...]]:
    known = set(ids)
    chosen: set[str] = set()
    unknown: list[str] = []
    for wanted in accept:
        fitting = [wanted] if wanted in known else [id for id in ids if wanted and id.startswith(wanted)]
        if len(fitting) == 1:
            chosen.add(fitting[0])
        else:
            unknown.append(wanted)
    return chosen, tuple(unknown)


def _result(
    draft: Draft,
    inspected: int,
    changes: list[ProposedChange],
    author: Author,
    unknown: tuple[str, ...] = (),
) -> ReflectionResult:
    change_set = draft.change_set(_reason(changes), author=author, kind="reflection")
    return ReflectionResult(draft.at, inspected, tuple(changes), change_set, unknown)


def _reason(changes: list[ProposedChange]) -> str:
    said = (
        ("hide", "archived"),
        ("rewrite", "tidied"),
        ("tag", "tagged"),
        ("merge", "merged"),
        ("link", "linked"),
    )
    counts = [(word, sum(change.type == type for change in changes)) for type, word in said]
    return "reflection: " + (
        ", ".join(f"{word} {count}" for word, count in counts if count) or "nothing to do"
    )


class _Pass:
    """The rules at work on one draft. Each step is laid over the draft before the next is thought of."""

    def __init__(self, draft: Draft, settings: ReflectionSettings) -> None:
        self._draft = draft
        self._settings = settings
        self._vocabulary = Vocabulary()
        visible = draft.snapshot.visible
        self._beside_pinned = _linked_with([note for note in visible if pinned(note)], draft)
        self._duplicates = Duplicates(visible, self._vocabulary, settings.jaccard)
        self._contexts: dict[str, SharedContext] = {}
        self._selected: frozenset[str] = frozenset()

    def steps(self, ordered: list[Note], limit: int) -> Iterator[Step]:
        """The five operations in sequence over the first `limit` notes that any of them concerns."""
        selected = [note.id for note in ordered]
        if limit < len(ordered):
            selected = list(islice(filter(self._something_to_do, selected), limit))
        self._selected = frozenset(selected)
        for id in selected:
            yield from self._carried_out(self._cleaning(id))
        yield from self._merged(selected)
        for id in selected:
            yield from self._carried_out(self._linking(id))

    def _something_to_do(self, id: str) -> bool:
        return any(True for rule in (self._cleaning, self._merging, self._linking) for _ in rule(id))

    def _carried_out(self, steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            if step.apply(self._draft):
                if step.proposal.type in ("hide", "merge"):
                    # Fewer notes hold its words now, so other words may be uncommon.
                    self._contexts.pop(step.proposal.nugget_name, None)
                yield step

    def _merged(self, selected: list[str]) -> Iterator[Step]:
        """Merges until no more are near: a note that took in another one is looked at again."""
        waiting = deque(selected)
        while waiting:
            for step in self._carried_out(islice(self._merging(waiting.popleft()), 1)):
                survivor = self._draft.note(step.proposal.note_id)
                assert survivor is not None
                self._duplicates.update(survivor)
                if survivor.id in self._selected:
                    waiting.append(survivor.id)
                yield step

    def _visible(self, id: str) -> Note | None:
        note = self._draft.note(id)
        return None if note is None or note.hidden else note

    def _partner(self, id: str) -> Note | None:
        """A note that another may be merged with or linked to: not pinned, nor about to be archived."""
        note = self._visible(id)
        return None if note is None or pinned(note) or self._low_value(note) else note

    def _low_value(self, note: Note) -> str | None:
        return low_value(note, self._settings, self._draft.rules)

    def _tags(self, note: Note) -> tuple[str, ...]:
        return improved_tags(note, self._vocabulary.tokens(note), self._settings, self._draft.rules)

    def _cleaning(self, id: str) -> Iterator[Step]:
        note = self._visible(id)
        if note is None:
            return
        why = self._low_value(note)
        if why is not None:
            yield hide_step(note, why)
            return
        tidy = tidied(note.content)
        # A fact of nothing but white space has no tidy value; it is for a person to see to.
        if tidy != note.content and (tidy or not note.is_fact) and fact_agrees(self._draft, note):
            yield rewrite_step(note)
        tags = self._tags(note)
        if tags != note.tags:
            yield tag_step(note, tags)

    def _merging(self, id: str) -> Iterator[Step]:
        note = self._visible(id)
        if note is None or self._low_value(note):
            return
        for found in self._duplicates.of(note):
            candidate = self._partner(found)
            if candidate is None or were_merged(note, candidate):
                continue
            survivor, other = survivor_first(note, candidate)
            agree = fact_agrees(self._draft, survivor) and fact_agrees(self._draft, other)
            if agree and other.id not in self._beside_pinned:
                yield merge_step(survivor, other, self._tags)

    def _linking(self, id: str) -> Iterator[Step]:
        note = self._visible(id)
        if note is None or self._low_value(note):
            return
        if self._wanted_links(note) <= 0:
            return
        for found, words in self._context(note.nugget_name).candidates(note, self._settings.shared_tokens):
            current, candidate = self._visible(id), self._partner(found.id)
            if current is None or self._wanted_links(current) <= 0:
                return
            if candidate is not None and may_link(current, candidate, self._settings):
                yield link_step(current, candidate, words)

    def _wanted_links(self, note: Note) -> int:
        return self._settings.wanted_links - visible_links(note, lambda id: self._visible(id) is not None)

    def _context(self, nugget: str) -> SharedContext:
        if nugget not in self._contexts:
            ids = (note.id for note in self._draft.snapshot.visible if note.nugget_name == nugget)
            notes = [note for note in map(self._visible, ids) if note is not None]
            self._contexts[nugget] = SharedContext(notes, self._vocabulary)
        return self._contexts[nugget]


def _linked_with(notes: list[Note], draft: Draft) -> set[str]:
    """Ids of all notes that one of these is linked with, in either direction."""
    if not notes:
        return set()
    pointing = {holder for note in notes for holder, _ in draft.snapshot.links_in.get(note.id, ())}
    return pointing | {link.to for note in notes for link in note.links}
