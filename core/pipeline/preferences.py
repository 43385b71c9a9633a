"""Preferences that a person states one after the other: whether the newer takes the older one's place, by their words.

"Answer in German" and "answer in English" are two on one thing; "small commits" and "small PRs" are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from core.model.draft import Draft
from core.model.note import ORIGIN, Note, is_stated_preference, origin_of_note, replace
from core.pipeline.contradiction import contradicts_in_words, denials
from core.pipeline.words import WORDS
from core.text.tokens import stem, words

# What states a preference without saying of what.
_LIGHT: Final = WORDS["light in preferences"]
_BEFORE_VALUE: Final = frozenset(
    ("in", "auf", "en", "with", "mit", "con", "avec", "as", "als", "comme", "como")
)
_BEFORE_TOPIC: Final = frozenset(("for", "für", "fur", "pour", "para"))
# Languages in which a noun comes before what is said of it.
_ROMANCE: Final = frozenset(
    ("je", "nous", "préfère", "prefere", "toujours", "les", "des", "prefiero", "siempre", "los", "las")
)
_COMPARED: Final = re.compile(r"\b(?:over|than|instead|not|statt|als|plutôt|que|antes)\b", re.IGNORECASE)


class _Said(NamedTuple):
    """The words that carry a preference, stemmed, and the preposition before each, "" for none."""

    words: tuple[str, ...]
    leads: tuple[str, ...]
    romance: bool


def _read(text: str) -> _Said:
    kept: list[tuple[str, str]] = []
    said, lead = words(text.casefold()), ""
    for word in said:
        if word in _BEFORE_VALUE or word in _BEFORE_TOPIC:
            lead = word
        elif word not in _LIGHT and not _COMPARED.fullmatch(word):
            kept.append((stem(word), lead))
            lead = ""
    return _Said(
        tuple(word for word, _ in kept), tuple(lead for _, lead in kept), not _ROMANCE.isdisjoint(said)
    )


def takes_place_of(newer: str, older: str) -> bool:
    """Whether a preference says otherwise on the same thing than another: the opposite, or the same but for one word,
    which says how the thing is or what is used for it.
    """
    if contradicts_in_words(newer, older):
        return True
    new, old = _read(newer), _read(older)
    if len(new.words) != len(old.words) or len(new.words) < 2 or (denials(newer) and denials(older)):
        # Two things may be forbidden at once.
        return False
    differ = [
        place for place, pair in enumerate(zip(new.words, old.words, strict=True)) if pair[0] != pair[1]
    ]
    if differ and sorted(new.words) == sorted(old.words):
        return bool(_COMPARED.search(newer) and _COMPARED.search(older))
    if len(differ) != 1:
        return False
    place = differ[0]
    if new.leads[place] in _BEFORE_VALUE and new.leads[place] == old.leads[place]:
        return place > 0
    if new.romance and old.romance:
        return place > 0 and not new.leads[place]
    return place + 1 < len(new.words) and (not new.leads[place + 1] or new.leads[place + 1] in _BEFORE_TOPIC)


def dispute_older(draft: Draft, note: Note, among: Iterable[Note]) -> None:
    """Marks a new preference as disputing the newest of the older ones on the same thing, if there is one."""
    others = [
        one
        for one in among
        if one.id != note.id and is_stated_preference(one) and takes_place_of(note.content, one.content)
    ]
    if others:
        old = max(others, key=lambda one: one.created_at)
        draft.put(replace(note, extra=note.extra | {ORIGIN: origin_of_note(note) | {"disputes": old.id}}))
