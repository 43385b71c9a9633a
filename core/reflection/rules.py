"""The rules. Each is a pure function of one shape: what a pass sees, a note, the settings -> proposed steps.

A step bears its reason and how sure the rule is, in [0, 1]. A rule yields the step it wants most first and goes on
when it is not carried out; it sees the memory with the steps before it carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from core.model.note import Note
from core.reflection.duplicates import fact_agrees, jaccard, survivor_first, were_merged
from core.reflection.judge import is_wrongly_of_person
from core.reflection.linking import may_link
from core.reflection.plan import Step, hide_step, link_step, merge_step, rewrite_step, scope_step, tag_step
from core.reflection.view import PassView
from core.reflection.words import tidied
from core.settings import ReflectionSettings

Rule = Callable[[PassView, Note, ReflectionSettings], Iterator[Step]]


def archive_low_value(view: PassView, note: Note, settings: ReflectionSettings) -> Iterator[Step]:
    """Archives a note that says nothing, or that was only a scratch note."""
    found = view.low_value(note)
    if found is not None:
        yield hide_step(note, *found)


def normalise_prose(view: PassView, note: Note, settings: ReflectionSettings) -> Iterator[Step]:
    """Takes white space that means nothing and repeated lines out of prose and lists."""
    if note.page is not None or view.low_value(note):
        # White space and repeated lines of a page are of those who write it.
        return
    tidy = tidied(note.content)
    # A fact of nothing but white space has no tidy value; it is for a person to see to.
    if tidy != note.content and (tidy or not note.is_fact) and fact_agrees(view.draft, note):
        yield rewrite_step(note)


def improve_tags(view: PassView, note: Note, settings: ReflectionSettings) -> Iterator[Step]:
    """Adds the tags that scope, type, title and content ask for."""
    if view.low_value(note):
        return
    tags = view.tags(note)
    if tags != note.tags:
        yield tag_step(note, tags)


def correct_scope(view: PassView, note: Note, settings: ReflectionSettings) -> Iterator[Step]:
    """Gives a note to its project that an agent wrote as the person's without a word about them."""
    if not view.low_value(note) and is_wrongly_of_person(note, view.draft.rules):
        yield scope_step(note)


def merge_duplicates(view: PassView, note: Note, settings: ReflectionSettings) -> Iterator[Step]:
    """Merges a note with a near-duplicate, the shorter into the longer; as sure as their words are alike."""
    if view.low_value(note):
        return
    for found in view.duplicates.of(note):
        candidate = view.partner(found)
        if candidate is None or were_merged(note, candidate):
            continue
        survivor, other = survivor_first(note, candidate)
        agree = fact_agrees(view.draft, survivor) and fact_agrees(view.draft, other)
        if agree and view.may_be_merged_away(other):
            alike = jaccard(frozenset(view.vocabulary.tokens(survivor)), view.vocabulary.tokens(other))
            yield merge_step(survivor, other, view.tags, alike)


def add_links(view: PassView, note: Note, settings: ReflectionSettings) -> Iterator[Step]:
    """Links a note with few links to notes that share uncommon words with it."""
    if view.low_value(note) or view.visible_links(note) >= settings.wanted_links:
        return
    for found, words, confidence in view.related(note):
        current, candidate = view.visible(note.id), view.partner(found.id)
        if current is None or view.visible_links(current) >= settings.wanted_links:
            return
        if candidate is not None and may_link(current, candidate, settings):
            yield link_step(current, candidate, words, confidence)


# In the order in which a pass follows them.
CLEANING: Final[tuple[Rule, ...]] = (archive_low_value, normalise_prose, improve_tags)
EVERY: Final[tuple[Rule, ...]] = (*CLEANING, merge_duplicates, add_links, correct_scope)
# Those that propose what only a person's word carries out.
DOUBTING: Final[tuple[Rule, ...]] = (archive_low_value, add_links, correct_scope)
