"""One reflection pass: archive, tidy, tag, merge and link, all in one change set."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Final

from msgspec.structs import replace as replace_settings

from core.errors import InvalidInputError
from core.graph.edits import edit_note, hide_note, link_notes
from core.graph.merging import merge_notes
from core.model.change import Author
from core.model.draft import Draft
from core.model.infer import MetaInput, subject_of
from core.model.judgement import Stale
from core.model.names import select_ids
from core.model.note import Note, custom_tags, newer_preference, replace
from core.model.progress import Progress, counted
from core.reflection import proposals
from core.reflection.duplicates import Duplicates, fact_agrees, jaccard, survivor_first, were_merged
from core.reflection.judge import improved_tags, is_wrongly_of_person, low_value, pinned
from core.reflection.linking import OF_REFLECTION, Rarity, Related, SharedContext, linked, may_link
from core.reflection.proposals import OTHER, ProposedChange, ReflectionResult, Refusal, Step, proposed
from core.reflection.words import TokenCache, tidied
from core.settings import ReflectionSettings
from core.text.normalise import normalise_content

REFLECTION: Final = Author("reflection")
_MERGE_REASON: Final = "merged by reflection"
_SYSTEM_TAGS: Final = 3
# How sure it is that an older preference is over, and that a note is a project's: a person looks at it.
_UNSURE: Final = 0.5


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
    stale: Mapping[str, Stale] | None = None,
    progress: Progress | None = None,
) -> ReflectionResult:
    """A cleanup pass over a fresh draft; the result holds its proposals and the change set that does them.

    limit: how many notes it may look at closely; max_archived, max_merged: how many it may archive and merge away
    (the settings when None). A note that no rule has anything to say about is passed over and does not use up the
    limit, so that repeated passes reach every note; a pass that finds nothing gives an empty change set.

    accept: carry out only the proposals with these ids (or unambiguous beginnings of ids). refuse: remember these
    as refused and, unless `accept` says otherwise, carry out none. What fits no proposal is in `unknown`.
    undone_changes: not to be proposed either. stale: what notes name of code that moved or is gone, by their ids. sure:
    propose nothing doubtful. The pass is the same for the same snapshot. progress: told how many notes of how many were
    looked through. Raises InvalidInputError for a negative limit.
    """
    limits = {"max_notes": limit, "max_archived": max_archived, "max_merged": max_merged}
    for name, number in limits.items():
        if number is not None and number < 0:
            where = name.replace("max_notes", "limit")
            raise InvalidInputError("must not be negative", where=where, kept="nothing was changed")
    given = {name: number for name, number in limits.items() if number is not None}
    settings = replace_settings(settings or ReflectionSettings(), **given)
    ordered = _needy_first(draft.snapshot.notes, nugget_name=nugget, scope=scope, type=type, subject=subject)
    chosen = accept is not None or bool(refuse)
    # What a person chose from is thought of beside the draft, and only what they accept is laid over it.
    beside = Draft(draft.snapshot, now=draft.now, ids=draft.ids, rules=draft.rules) if chosen else draft
    run = Pass(beside, settings, undone_changes, progress, sure=sure, stale=stale)
    steps, refused = list(run.steps(ordered)), 0
    unknown: tuple[str, ...] = ()
    if chosen:
        ids = [step.proposal.id for step in steps]
        wanted, unfit = select_ids(ids, accept or ())
        unwanted, unfit_too = select_ids(ids, refuse)
        unknown = unfit + unfit_too
        turned_down = [step.proposal for step in steps if step.proposal.id in unwanted]
        steps = [one for one in steps if one.proposal.id in wanted - unwanted and one.apply(draft)]
        refused = proposals.refuse(draft, turned_down)
    changes = tuple(step.proposal for step in steps)
    counts = [(word, sum(one.type == type for one in changes)) for type, word in proposals.SAID.items()]
    told = ", ".join(f"{word} {count}" for word, count in (*counts, ("refused", refused)) if count)
    return ReflectionResult(
        ran_at=draft.at,
        inspected=min(settings.max_notes, len(ordered)),
        changes=changes,
        change_set=draft.change_set(
            f"reflection: {told or 'nothing to do'}", author=REFLECTION, kind="reflection"
        ),
        unknown=unknown,
        left_archived=len(run.left["hide"] - run.done["hide"]),
        left_merged=len(run.left["merge"] - run.done["merge"]),
        limit_reached=settings.max_notes <= len(run.concerned) < len(ordered),
        refused=refused,
    )


def _needy_first(notes: Iterable[Note], **wanted: str | None) -> list[Note]:
    """Visible notes without a pin that have the wanted values, the most in need first.

    A note that lacks tags or links comes before one that has them, an older one before a younger one. The
    order needs no clock, so that a preview and the pass after it look at the same notes.
    """

    def need(note: Note) -> tuple[int, str, str]:
        # With nugget, scope and type alone a note has not been tagged by anyone.
        return -((len(note.tags) <= _SYSTEM_TAGS) + (not note.links)), note.updated_at, note.id

    shown = (note for note in notes if not note.hidden and not pinned(note))
    asked = (
        note for note in shown if all(one in (None, getattr(note, name)) for name, one in wanted.items())
    )
    return sorted(asked, key=need)


class Pass:
    """A memory in the middle of a pass: the notes as changed so far, and values computed once for all of them.

    Rules read it and change nothing; each step is laid over the draft before the next is thought of.
    """

    def __init__(
        self,
        draft: Draft,
        settings: ReflectionSettings,
        undone_changes: Collection[Refusal] = (),
        progress: Progress | None = None,
        *,
        sure: bool = False,
        stale: Mapping[str, Stale] | None = None,
    ) -> None:
        self.draft, self.settings, self.stale = draft, settings, stale or {}
        self._progress, self.only_sure, self._sure = progress, sure, True
        self._undone_changes = frozenset(undone_changes)
        self.vocabulary = TokenCache()
        visible = draft.snapshot.visible
        kept = [note for note in visible if pinned(note)]
        # Notes that a pinned one is linked with, in either direction: it would have to change, were they merged away.
        self.beside_pinned = {link.to for note in kept for link in note.links} | {
            holder for note in kept for holder, _ in draft.snapshot.links_in.get(note.id, ())
        }
        self.duplicates = Duplicates(visible, self.vocabulary, settings.jaccard)
        self._contexts: dict[str, SharedContext] = {}
        self._rarity = Rarity(visible, self.vocabulary)
        self._low: dict[str, tuple[Note, tuple[str, float] | None]] = {}
        self._most = {"hide": settings.max_archived, "merge": settings.max_merged}
        # Ids of changes by type: carried out, and left by the caps for the next pass; and of notes looked at closely.
        self.done: defaultdict[str, set[str]] = defaultdict(set)
        self.left: defaultdict[str, set[str]] = defaultdict(set)
        self.concerned: set[str] = set()

    # What rules see

    def visible(self, id: str) -> Note | None:
        """The note as it is now; None for one that is hidden or gone."""
        note = self.draft.note(id)
        return None if note is None or note.hidden else note

    def partner(self, id: str) -> Note | None:
        """A note that another may be merged with or linked to: not pinned, nor about to be archived."""
        note = self.visible(id)
        return None if note is None or pinned(note) or self.low_value(note) else note

    def low_value(self, note: Note) -> tuple[str, float] | None:
        """Why a note is to be archived and how sure that is; None when it is worth keeping, or a person kept it."""
        known = self._low.get(note.id)
        if known is not None and known[0] is note:
            return known[1]
        found = low_value(note, self.settings, self.draft.rules)
        if newer_preference(self.draft.snapshot, note) is not None:
            found = "a newer preference says otherwise", _UNSURE
        if found is None and note.id in self.stale and self.stale[note.id].outdated:
            gone = (str(one) for one in self.stale[note.id].references if one.state == "gone")
            found = "; ".join(islice(gone, 3)), _UNSURE
        if found is not None and self.refused(_hiding(note, *found)):
            found = None
        self._low[note.id] = (note, found)
        return found

    def refused(self, change: ProposedChange) -> bool:
        """Whether a person refused this change, or took it back, and nothing it was proposed for changed since."""
        notes = list(filter(None, (self.visible(change.note_id), self.visible(change.other_id))))
        return proposals.refused(change, notes, self._undone_changes)

    def tags(self, note: Note) -> tuple[str, ...]:
        """The tags that a note should bear."""
        return improved_tags(note, self.vocabulary.tokens(note), self.settings, self.draft.rules)

    def visible_links(self, note: Note) -> int:
        """How many visible notes a note is linked to, several reasons counted once."""
        return len({link.to for link in note.links if self.visible(link.to) is not None})

    def related(self, note: Note) -> list[Related]:
        """Notes of the same nugget that share uncommon words with a note; the strongest first."""
        nugget = note.nugget_name
        if nugget not in self._contexts:
            ids = (other.id for other in self.draft.snapshot.visible if other.nugget_name == nugget)
            notes = list(filter(None, map(self.visible, ids)))
            self._contexts[nugget] = SharedContext(notes, self.vocabulary, self._rarity)
        return self._contexts[nugget].candidates(note, self.settings.shared_tokens)

    def steps(self, ordered: Iterable[Note]) -> Iterator[Step]:
        """What the rules want for these notes, carried out in sequence; what is doubtful last, since it may be left
        again and again, and must not use up the limit or take the place of what is sure.
        """
        ids, most = [note.id for note in ordered], self.settings.max_notes
        if most < len(ids):
            planned: defaultdict[str, set[str]] = defaultdict(set)
            looked_at = counted(ids, self._progress)
            needy = (id for id in looked_at if any(self._has_place(rule, id, planned) for rule in EVERY))
            self.concerned = set(islice(needy, most))
        for id in counted(ids, self._progress):
            for rule in CLEANING:
                yield from self._carried_out(rule, id)
        yield from self._merged(ids)
        for id in counted(ids, self._progress):
            yield from self._carried_out(add_links, id)
        self._sure = self.only_sure
        for rule in () if self._sure else DOUBTING:
            for id in ids:
                yield from self._carried_out(rule, id)

    def _has_place(self, rule: Rule, id: str, planned: dict[str, set[str]]) -> bool:
        """Whether a rule proposes anything for a note that neither a cap leaves nor another note has planned."""
        change = next((step.proposal for step in self._wanted(rule, id)), None)
        most = self._most.get(change.type) if change is not None else None
        if change is None or most is None or change.id in planned[change.type]:
            return change is not None and most is None
        has_place = len(planned[change.type]) < most
        (planned if has_place else self.left)[change.type].add(change.id)
        return has_place

    def _wanted(self, rule: Rule, id: str) -> Iterator[Step]:
        """What a rule proposes for a note and nobody refused."""
        note = self.visible(id)
        if note is not None and (rule is archive_low_value or not self.low_value(note)):
            for step in rule(self, note):
                doubtful = step.proposal.doubtful and self._sure
                if not doubtful and not self.refused(step.proposal):
                    yield step

    def _carried_out(self, rule: Rule, id: str) -> Iterator[Step]:
        if len(self.concerned) >= self.settings.max_notes and id not in self.concerned:
            return
        for step in self._wanted(rule, id):
            change = step.proposal
            if len(self.done[change.type]) >= self._most.get(change.type, math.inf):
                self.left[change.type].add(change.id)
            elif step.apply(self.draft):
                self.done[change.type].add(change.id)
                self.concerned.add(id)
                if change.type in ("hide", "merge"):
                    # Fewer notes hold its words now, so other words may be uncommon.
                    self._contexts.pop(change.nugget_name, None)
                survivor = self.visible(change.note_id)
                if change.type == "merge" and survivor is not None:
                    self.duplicates.update(survivor)
                yield step

    def _merged(self, ids: list[str]) -> Iterator[Step]:
        """Merges until no more are near: a note that took in another one is looked at again."""
        waiting, mine = deque(ids), frozenset(ids)
        while waiting:
            for step in islice(self._carried_out(merge_duplicates, waiting.popleft()), 1):
                if step.proposal.note_id in mine:
                    waiting.append(step.proposal.note_id)
                yield step


# The rules: what a pass sees and a note -> proposed steps, each with its reason and how sure the rule is, in [0, 1]. A
# rule yields the step it wants most first and goes on when it is not carried out. Only the first is asked about a note
# that is to be archived.
Rule = Callable[[Pass, Note], Iterator[Step]]


def archive_low_value(run: Pass, note: Note) -> Iterator[Step]:
    """Archives a note that says nothing, or that was only a scratch note."""
    found = run.low_value(note)
    if found is not None:
        yield Step(_hiding(note, *found), lambda draft, note, _: hide_note(draft, note.id))


def _hiding(note: Note, why: str, confidence: float) -> ProposedChange:
    return proposed("hide", note, f"hide: {why}", why, confidence)


def normalise_prose(run: Pass, note: Note) -> Iterator[Step]:
    """Takes white space that means nothing and repeated lines out of prose and lists, and out of facts."""
    tidy, white = tidied(note.content), normalise_content(note.content)
    # White space and repeated lines of a page are of those who write it. A fact of nothing but white space has no tidy
    # value; it is for a person to see to.
    theirs = note.page is not None or (note.is_fact and not tidy)
    if tidy == note.content or theirs or not fact_agrees(run.draft, note):
        return
    repeated = sum(map(bool, white.split("\n"))) - sum(map(bool, tidy.split("\n")))
    parts = [f"{repeated} repeated line{'s' if repeated > 1 else ''}"] if repeated else []
    parts += ["white space"] if white != note.content else []
    why = "a repeated line says nothing new" if repeated else "this white space has no meaning"
    # White space is dropped with certainty; a line could have been repeated on purpose.
    change = proposed("rewrite", note, f"tidy: {', '.join(parts)}", why, 0.9 if repeated else 1.0)
    yield Step(
        change,
        lambda draft, note, _: edit_note(draft, note.id, content=tidied(note.content), rewritten=True),
    )


def improve_tags(run: Pass, note: Note) -> Iterator[Step]:
    """Adds the tags that scope, type, title and content ask for."""
    tags = run.tags(note)
    if tags == note.tags:
        return
    added = [tag for tag in tags if tag not in set(note.tags)]
    gone = [tag for tag in note.tags if tag not in set(tags)]
    said = [f"{word} {', '.join(some)}" for word, some in (("add", added), ("remove", gone)) if some]
    # Nugget, scope and type are certain; what a text is about is read from its words.
    meant = [tag for tag in custom_tags(replace(note, tags=tags)) if tag in added]
    why = "taken from the title and text" if meant else "nugget, scope and type are always tags"
    detail, wanted = f"tags: {'; '.join(said) or 'sort'}", " ".join(sorted(meant))
    yield Step(
        proposed("tag", note, detail, why, 0.8 if meant else 1.0, wanted=wanted),
        lambda draft, note, _: draft.put(replace(note, tags=tags, updated_at=draft.at)),
    )


def merge_duplicates(run: Pass, note: Note) -> Iterator[Step]:
    """Merges a note with a near-duplicate, the shorter into the longer; as sure as their words are alike."""

    def edit(draft: Draft, before: Note, gone: Note) -> None:
        merged = merge_notes(draft, before.id, gone.id, reason=_MERGE_REASON)
        if merged.content != before.content:
            content = merged.content if merged.is_fact else tidied(merged.content)
            merged = replace(merged, content=content, last_rewritten_at=draft.at)
        draft.put(replace(merged, tags=run.tags(merged)))

    for found in run.duplicates.of(note):
        candidate = run.partner(found)
        if candidate is None or were_merged(note, candidate):
            continue
        survivor, other = survivor_first(note, candidate)
        agree = fact_agrees(run.draft, survivor) and fact_agrees(run.draft, other)
        if agree and other.id not in run.beside_pinned:
            alike = jaccard(frozenset(run.vocabulary.tokens(survivor)), run.vocabulary.tokens(other))
            deed, why = f'merge with {OTHER} ("{other.title}")', f"{alike:.0%} of their words are the same"
            yield Step(proposed("merge", survivor, deed, why, alike, other.id), edit)


def add_links(run: Pass, note: Note) -> Iterator[Step]:
    """Links a note with few links to notes that share uncommon words with it; as sure as these are rare."""
    if run.visible_links(note) >= run.settings.wanted_links:
        return
    for found, words, confidence in run.related(note):
        current, candidate = run.visible(note.id), run.partner(found.id)
        if current is None or run.visible_links(current) >= run.settings.wanted_links:
            return
        if candidate is not None and may_link(current, candidate, run.settings):
            said = ", ".join(words)
            reason, why = f"{OF_REFLECTION}{said}", f"few notes mention {said}"
            deed = f"link to {OTHER} ({reason})"
            yield Step(
                proposed("link", current, deed, why, confidence, candidate.id),
                partial(_link, reason),
            )


def _link(reason: str, draft: Draft, note: Note, other: Note) -> object:
    return not linked(note, other) and link_notes(draft, note.id, other.id, reason)


def correct_scope(run: Pass, note: Note) -> Iterator[Step]:
    """Gives a note to its project that an agent wrote as the person's without a word about them."""
    if is_wrongly_of_person(note, run.draft.rules):
        meta = MetaInput(scope="project", subject=subject_of("project"))
        why = "nothing in it is about you, so it should not hold in every project"
        yield Step(
            proposed("scope", note, "scope: user → project", why, _UNSURE),
            lambda draft, note, _: edit_note(draft, note.id, meta=meta),
        )


# Those that propose what only a person's word carries out come last.
def repoint(run: Pass, note: Note) -> Iterator[Step]:
    """Names files and commands where they are now."""
    stale = run.stale.get(note.id)
    if stale is None or stale.repointed(note.content) == note.content or not fact_agrees(run.draft, note):
        return
    moved = "; ".join(str(one) for one in stale.references if one.state == "moved")
    yield Step(
        proposed("repoint", note, f"repoint: {moved}", "the code moved since this was written", _UNSURE),
        lambda draft, note, _: edit_note(draft, note.id, content=stale.repointed(note.content)),
    )


CLEANING: Final[tuple[Rule, ...]] = (archive_low_value, normalise_prose, improve_tags)
EVERY: Final[tuple[Rule, ...]] = (*CLEANING, merge_duplicates, add_links)
DOUBTING: Final[tuple[Rule, ...]] = (archive_low_value, add_links, correct_scope, repoint)
