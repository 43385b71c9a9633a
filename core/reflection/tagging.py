"""The rule that adds missing tags: from scope, type, title and content."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from core.model.infer import has_word, semantic_tags
from core.model.note import Note, normalise_tag, replace, with_system_tags
from core.settings import InferenceSettings, ReflectionSettings

_FILE: Final = re.compile(r"(?:[~.]{0,2}/)?(?:[\w.@-]+/)+[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,5}(?::\d+)*")
_LONGEST_PATH: Final = 300
_REFLECTION_WORDS: Final = ("reflect", "reflection", "reflections")


def improved_tags(
    note: Note, tokens: Collection[str], settings: ReflectionSettings, words: InferenceSettings
) -> tuple[str, ...]:
    """The tags that a note should bear: its own, in their order, then those that are missing.

    tokens: the folded words of title and content. Nugget, scope and type come first among the derived ones;
    what speaks of preferences, lessons, style, reflection or files follows, `settings.derived_tags` in all.
    Tags that anyone gave are never cut; only a tag of a scope or type that the note no longer has goes.
    Improving twice changes nothing more.
    """
    right = _system_tags(note.tags, note.nugget_name, note.scope, note.type)
    derived = [normalise_tag(note.nugget_name), f"scope:{note.scope}", f"type:{note.type}"]
    derived.extend(tag for tag in _meaning(note, tokens, words) if tag not in derived)
    missing = [tag for tag in derived[: max(3, settings.derived_tags)] if tag not in right]
    return (*right, *missing)


@lru_cache(maxsize=50_000)
def _system_tags(tags: tuple[str, ...], nugget: str, scope: str, type_: str) -> tuple[str, ...]:
    bare = Note(id="", nugget_name=nugget, title="", content="", tags=tags)
    return with_system_tags(replace(bare, scope=scope, type=type_))


def _meaning(note: Note, tokens: Collection[str], words: InferenceSettings) -> list[str]:
    found = list(semantic_tags(note.kind, note.title, note.type, note.source))
    if not _folded(words.preference_words).isdisjoint(tokens):
        found.append("preferences")
    if has_word(note.title, _REFLECTION_WORDS):
        found.append("reflection")
    if "/" in note.content and speaks_of_files(note.content):
        found.append("files")
    return list(dict.fromkeys(found))


@lru_cache(maxsize=8)
def _folded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)


def speaks_of_files(text: str) -> bool:
    """Whether a path with folder and extension stands in the text (src/auth/main.ts, not a web address)."""
    for word in text.split():
        likely = "/" in word and "." in word and "://" not in word and len(word) <= _LONGEST_PATH
        if likely and _FILE.fullmatch(word.strip("`'\"()[]{}<>,;:!?.*")):
            return True
    return False
