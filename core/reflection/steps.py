"""The steps of a pass: each is a proposal together with the edit that carries it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.graph.edits import edit_note, hide_note, link_notes
from core.graph.merging import merge_notes
from core.model.draft import Draft
from core.model.note import Note, custom_tags, replace
from core.reflection.duplicates import MERGE_REASON
from core.reflection.linking import link_reason, linked
from core.reflection.result import OTHER, ChangeType, ProposedChange, proposal_id
from core.reflection.tidy import tidied
from core.text.normalise import normalise_content


@dataclass(frozen=True)
class Step:
    """A proposal and its edit. `apply` lays the edit over a draft; False when it has no place there any more."""

    proposal: ProposedChange
    apply: Callable[[Draft], bool]


def _proposed(
    type: ChangeType,
    note: Note,
    deed: str,
    reason: str,
    confidence: float,
    other: str = "",
    wanted: str = "",
) -> ProposedChange:
    id = proposal_id(type, note.id, other) if other else proposal_id(type, note.id)
    return ProposedChange(
        id,
        type,
        note.nugget_name,
        note.id,
        deed,
        other,
        reason=reason,
        confidence=confidence,
        wanted=wanted,
    )


def _visible(draft: Draft, id: str) -> Note | None:
    note = draft.note(id)
    return None if note is None or note.hidden else note


def hide_step(note: Note, why: str, confidence: float) -> Step:
    """Archives a note of low value."""

    def apply(draft: Draft) -> bool:
        if _visible(draft, note.id) is None:
            return False
        hide_note(draft, note.id)
        return True

    return Step(_proposed("hide", note, f"hide: {why}", why, confidence), apply)


def rewrite_step(note: Note) -> Step:
    """Tidies a note's content, and the value of its fact."""

    def apply(draft: Draft) -> bool:
        current = _visible(draft, note.id)
        if current is None:
            return False
        edit_note(draft, note.id, content=tidied(current.content), rewritten=True)
        return True

    repeated, white = _what_goes(note.content)
    why = "a repeated line says nothing new" if repeated else "this white space has no meaning"
    # White space is dropped with certainty; a line could have been repeated on purpose.
    confidence = 0.9 if repeated else 1.0
    return Step(_proposed("rewrite", note, f"tidy: {_named(repeated, white)}", why, confidence), apply)


def _what_goes(content: str) -> tuple[int, bool]:
    """How many repeated lines go, and whether white space does."""
    white = normalise_content(content)
    lines = sum(bool(line) for line in white.split("\n"))
    return lines - sum(bool(line) for line in tidied(content).split("\n")), white != content


def _named(repeated: int, white: bool) -> str:
    parts = []
    if repeated:
        parts.append("1 repeated line" if repeated == 1 else f"{repeated} repeated lines")
    if white:
        parts.append("white space")
    return ", ".join(parts)


def tag_step(note: Note, tags: tuple[str, ...]) -> Step:
    """Gives a note the tags it lacks."""
    held, wanted = set(note.tags), set(tags)
    added = [tag for tag in tags if tag not in held]
    gone = [tag for tag in note.tags if tag not in wanted]
    said = [f"{word} {', '.join(some)}" for word, some in (("add", added), ("remove", gone)) if some]
    # Nugget, scope and type are certain; what a text is about is read from its words.
    meant = [tag for tag in custom_tags(replace(note, tags=tags)) if tag not in held]
    why = "taken from the title and text" if meant else "nugget, scope and type are always tags"

    def apply(draft: Draft) -> bool:
        current = _visible(draft, note.id)
        if current is None:
            return False
        draft.put(replace(current, tags=tags, updated_at=draft.at))
        return True

    detail = f"tags: {'; '.join(said) or 'sort'}"
    proposal = _proposed("tag", note, detail, why, 0.8 if meant else 1.0, wanted=" ".join(sorted(meant)))
    return Step(proposal, apply)


def merge_step(survivor: Note, other: Note, tags_of: Callable[[Note], tuple[str, ...]], alike: float) -> Step:
    """Merges a near-duplicate into the note that stays; `tags_of` gives the tags that its new content asks for.

    alike: the share of common words, in [0, 1].
    """

    def apply(draft: Draft) -> bool:
        before = _visible(draft, survivor.id)
        if before is None or _visible(draft, other.id) is None:
            return False
        merged = merge_notes(draft, survivor.id, other.id, reason=MERGE_REASON)
        if merged.content != before.content:
            content = merged.content if merged.is_fact else tidied(merged.content)
            merged = replace(merged, content=content, last_rewritten_at=draft.at)
        draft.put(replace(merged, tags=tags_of(merged)))
        return True

    detail = f'merge with {OTHER} ("{other.title}")'
    why = f"{alike:.0%} of their words are the same"
    return Step(_proposed("merge", survivor, detail, why, alike, other.id), apply)


def link_step(note: Note, other: Note, words: tuple[str, ...], confidence: float) -> Step:
    """Links a note to one that shares uncommon words with it. confidence: by how rare these are, in [0, 1]."""
    reason = link_reason(words)

    def apply(draft: Draft) -> bool:
        first, second = _visible(draft, note.id), _visible(draft, other.id)
        if first is None or second is None or linked(first, second):
            return False
        link_notes(draft, note.id, other.id, reason)
        return True

    why = f"few notes mention {', '.join(words)}"
    return Step(_proposed("link", note, f"link to {OTHER} ({reason})", why, confidence, other.id), apply)
