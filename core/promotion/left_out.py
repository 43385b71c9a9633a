"""Names what a promotion leaves out and why: notes below the threshold, temporary ones, and credentials."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import Final

from core.model.note import Note
from core.promotion.bullet import title_of
from core.promotion.choose import often_recalled, secret_in, section_of, unfit
from core.promotion.result import Below, HeldBack
from core.settings import PromotionSettings
from core.text.secrets import looks_secret

_MOST: Final = 10
_NO_TITLE: Final = "(its title looks like a credential)"


def below(notes: Iterable[Note], settings: PromotionSettings, there: Collection[str]) -> tuple[Below, ...]:
    """The ten notes nearest below the threshold that were recalled at all, the nearest and latest first.

    there: ids of notes that stand in the file already.
    """
    near = [
        note
        for note in notes
        if 0 < note.hits < settings.threshold and note.id not in there and not note.hidden and note.durable
    ]
    # A few more than are shown: the look for secrets is what takes time.
    nearest = heapq.nlargest(3 * _MOST, near, key=lambda note: (note.hits, note.last_accessed_at, note.id))
    fit = [note for note in nearest if not unfit(note)][:_MOST]
    return tuple(
        Below(note.id, title_of(note), section_of(note), note.hits, settings.threshold - note.hits)
        for note in fit
    )


def held_back(notes: Iterable[Note], settings: PromotionSettings) -> tuple[HeldBack, ...]:
    """Visible notes that are recalled often enough, and are temporary or look to hold a secret; in file order."""
    found = []
    for note in notes:
        if note.hidden or not often_recalled(note, settings) or not note.content.strip():
            continue
        reason = unfit(note)
        if reason:
            secret = bool(secret_in(note))
            title = _NO_TITLE if looks_secret(note.title) else title_of(note)
            found.append(HeldBack(note.id, title, section_of(note), note.hits, reason, secret))
    return tuple(found)
