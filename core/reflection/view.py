"""The view that rules get: the notes as changed so far, and values computed once for all of them."""

from __future__ import annotations

from collections.abc import Collection

from core.model.draft import Draft
from core.model.note import Note
from core.model.note_origin import newer_preference
from core.reflection.duplicates import Duplicates
from core.reflection.judge import improved_tags, low_value, pinned
from core.reflection.linking import Rarity, Related, SharedContext
from core.reflection.plan import ProposedChange, hide_step
from core.reflection.refusals import Refusal, ground, refused
from core.reflection.words import TokenCache
from core.settings import ReflectionSettings

# How sure it is that an older preference is over: a person looks at it.
_DOUBTFUL = 0.5


class PassView:
    """A memory in the middle of a pass. Rules read it and change nothing; the pass tells it what was carried out."""

    def __init__(
        self,
        draft: Draft,
        settings: ReflectionSettings,
        undone_changes: Collection[Refusal] = (),
    ) -> None:
        self.draft = draft
        self._undone_changes = frozenset(undone_changes)
        self._ids_undone = {id for id, _ in undone_changes}
        self._settings = settings
        self.vocabulary = TokenCache()
        visible = draft.snapshot.visible
        self._beside_pinned = _linked_with([note for note in visible if pinned(note)], draft)
        self.duplicates = Duplicates(visible, self.vocabulary, settings.jaccard)
        self._contexts: dict[str, SharedContext] = {}
        self._rarity: Rarity | None = None
        self._low: dict[str, tuple[Note, tuple[str, float] | None]] = {}

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
        found = low_value(note, self._settings, self.draft.rules)
        if newer_preference(self.draft.snapshot, note) is not None:
            found = "a newer preference says otherwise", _DOUBTFUL
        if found is not None and self.refused(hide_step(note, *found).proposal):
            found = None
        self._low[note.id] = (note, found)
        return found

    def refused(self, change: ProposedChange) -> bool:
        """Whether a person refused this change, or took it back, and nothing it was proposed for changed since."""
        notes = list(filter(None, (self.visible(change.note_id), self.visible(change.other_id))))
        if change.id in self._ids_undone:
            made_for = ground(change.type, notes, change.wanted)
            if (change.id, made_for) in self._undone_changes:
                return True
        return refused(change, *notes)

    def tags(self, note: Note) -> tuple[str, ...]:
        """The tags that a note should bear."""
        return improved_tags(note, self.vocabulary.tokens(note), self._settings, self.draft.rules)

    def may_be_merged_away(self, note: Note) -> bool:
        """Whether no pinned note would have to change, as its links would be pointed elsewhere."""
        return note.id not in self._beside_pinned

    def visible_links(self, note: Note) -> int:
        """How many visible notes a note is linked to, several reasons counted once."""
        return len({link.to for link in note.links if self.visible(link.to) is not None})

    def related(self, note: Note) -> list[Related]:
        """Notes of the same nugget that share uncommon words with a note; the strongest first."""
        nugget = note.nugget_name
        if nugget not in self._contexts:
            ids = (other.id for other in self.draft.snapshot.visible if other.nugget_name == nugget)
            notes = [other for other in map(self.visible, ids) if other is not None]
            if self._rarity is None:
                self._rarity = Rarity(self.draft.snapshot.visible, self.vocabulary)
            self._contexts[nugget] = SharedContext(notes, self.vocabulary, self._rarity)
        return self._contexts[nugget].candidates(note, self._settings.shared_tokens)

    def carried_out(self, change: ProposedChange) -> None:
        """Takes in that a change was laid over the draft."""
        if change.type in ("hide", "merge"):
            # Fewer notes hold its words now, so other words may be uncommon.
            self._contexts.pop(change.nugget_name, None)
        survivor = self.visible(change.note_id)
        if change.type == "merge" and survivor is not None:
            self.duplicates.update(survivor)


def _linked_with(notes: list[Note], draft: Draft) -> set[str]:
    """Ids of all notes that one of these is linked with, in either direction."""
    if not notes:
        return set()
    pointing = {holder for note in notes for holder, _ in draft.snapshot.links_in.get(note.id, ())}
    return pointing | {link.to for note in notes for link in note.links}
