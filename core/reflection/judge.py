"""What the rules look at in one note: whether it is worth keeping, which tags it should bear, whether it is pinned."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import Final

from core.model.build import derived_tags
from core.model.infer import has_word, is_scratch, scope_of, subject_of
from core.model.names import PERSONS_NUGGETS
from core.model.note import Note, normalise_tag, with_system_tags
from core.reflection.words import tidied, without_scope
from core.settings import InferenceSettings, ReflectionSettings
from core.text.file_references import file_references
from core.text.tokens import words as tokens_of

PINNED: Final = "pinned"
_SHORT: Final = 2
_DOUBTFUL: Final = 0.5
_REFLECTION_WORDS: Final = ("reflect", "reflection", "reflections")


def pinned(note: Note) -> bool:
    """Whether the note bears the tag that keeps reflection away from it."""
    return PINNED in note.tags or PINNED in map(str.casefold, note.tags)


def low_value(note: Note, settings: ReflectionSettings, words: InferenceSettings) -> tuple[str, float] | None:
    """Why a note is of low value and how sure that is in [0, 1], or None when it is worth keeping.

    Empty content; content of two characters or fewer (as tidied) under a title of
    one word, never recalled, for a longer title and its short text may be question and answer; a title that starts
    with a scratch word (a whole word: "temp list", not "Template") and was never recalled. What is recalled
    often stays in any case, and so does a fact, however short its value. Unasked, only scratch notes and empty ones
    under one word are hidden.
    """
    if note.is_fact or note.hits >= settings.often_recalled:
        return None
    # Tidying drops nothing but white space and what is said twice, so what says enough here says enough tidied.
    short = len(set("".join(note.content[:100].split()))) <= _SHORT
    content = tidied(note.content).strip() if short else note.content
    named = sum(1 for _ in tokens_of(without_scope(note.title)))
    if not content:
        return "it is empty", 1.0 if named <= 1 else _DOUBTFUL
    if note.hits:
        return None
    scratch = is_scratch(note.title, words)
    # Two characters that are written two columns wide are a word (Chinese, Japanese, Korean).
    wide = sum(unicodedata.east_asian_width(char) in "WF" and char.isalpha() for char in content[:_SHORT])
    if len(content) <= _SHORT and named <= 1 and wide < _SHORT:
        return "two characters or fewer, never recalled", 0.9 if scratch else _DOUBTFUL
    return ("a scratch note, never recalled", 0.8) if scratch else None


def is_wrongly_of_person(note: Note, words: InferenceSettings) -> bool:
    """Whether a note of a project's nugget says that it is the person's, and no rule would make it theirs today."""
    of_person = note.nugget_name.casefold() in PERSONS_NUGGETS or note.type == "preference"
    if of_person or (note.scope, note.subject) != ("user", subject_of("user")):
        return False
    by_agent = note.source != "explicit_user"
    tags = [tag for tag in note.tags if tag != normalise_tag("scope:user")]
    return scope_of(note.title, note.content, tags, words, note.nugget_name, by_agent=by_agent) != "user"


def improved_tags(
    note: Note, tokens: Collection[str], settings: ReflectionSettings, words: InferenceSettings
) -> tuple[str, ...]:
    """The tags that a note should bear: its own, in their order, then those that are missing.

    tokens: the folded words of title and content. Nugget, scope and type come first among the derived ones;
    what speaks of preferences, lessons, style, reflection or files follows, `settings.derived_tags` in all.
    Tags that anyone gave are never cut; only a tag of a scope or type that the note no longer has goes.
    Improving twice changes nothing more.
    """
    right = with_system_tags(note)
    derived = derived_tags(note.kind, note.nugget_name, note.title, note)
    if any(word.casefold() in tokens for word in words.preference_words):
        derived.append("preferences")
    if has_word(note.title, _REFLECTION_WORDS):
        derived.append("reflection")
    if "/" in note.content and any("/" in one.path for one in file_references(note.content)):
        derived.append("files")
    most = max(3, settings.derived_tags)
    missing = [tag for tag in [*dict.fromkeys(derived)][:most] if tag not in right]
    return (*right, *missing)
