"""The rule that archives notes of low value; a fact is never one, however short its value."""

from __future__ import annotations

import unicodedata

from core.model.infer import is_scratch
from core.model.note import Note
from core.reflection.tidy import tidied
from core.reflection.vocabulary import without_scope
from core.settings import InferenceSettings, ReflectionSettings
from core.text.tokens import words as tokens

_SHORT = 2
_LOOKED_AT = 100
_DOUBTFUL = 0.5
_WHITE = frozenset(" \t\n\r\f\v")


def low_value(note: Note, settings: ReflectionSettings, words: InferenceSettings) -> tuple[str, float] | None:
    """Why a note is of low value and how sure that is in [0, 1], or None when it is worth keeping.

    Empty content; content of two characters or fewer (as tidied) under a title of
    one word, never recalled, for a longer title and its short text may be question and answer; a title that starts
    with a scratch word (a whole word: "temp list", not "Template") and was never recalled. What is recalled
    often stays in any case. Unasked, only scratch notes and empty ones under one word are hidden.
    """
    if note.is_fact or note.hits >= settings.often_recalled:
        return None
    # Tidying drops nothing but white space and what is said twice, so what says enough here says enough tidied.
    short = len(set(note.content[:_LOOKED_AT]) - _WHITE) <= _SHORT
    content = tidied(note.content).strip() if short else note.content
    named = sum(1 for _ in tokens(without_scope(note.title)))
    if not content:
        return "it is empty", 1.0 if named <= 1 else _DOUBTFUL
    if note.hits:
        return None
    scratch = is_scratch(note.title, words)
    if len(content) <= _SHORT and named <= 1 and not _says_much(content):
        return "two characters or fewer, never recalled", 0.9 if scratch else _DOUBTFUL
    if scratch:
        return "a scratch note, never recalled", 0.8
    return None


def _says_much(content: str) -> bool:
    """Two characters that are written two columns wide are a word (Chinese, Japanese, Korean)."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" and char.isalpha() for char in content)
    return wide >= _SHORT
