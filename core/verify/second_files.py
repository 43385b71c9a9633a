"""Merges what only a second file of a nugget holds into the nugget, so that the file can be set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from core.model.build import as_hidden_fact
from core.model.change import FactChange
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import Note, replace
from core.verify.facts import keep_in_hidden_note

# Asked with a key: what was done to the fact on purpose, as the log tells it, newest first.
Meant = Callable[[str], Sequence[FactChange]]


def bring_in_second_file(draft: Draft, nugget: str, facts: Iterable[Fact], meant: Meant) -> None:
    """Lays over the draft what the facts of a second file add to those of the nugget.

    A fact that stands there alone joins the nugget, unless its note is hidden or it was forgotten on purpose. Of two
    values the one counts that a person or agent gave the fact last and that the other was before; the other one is
    kept in a hidden note. What this leaves between facts and notes is for the other repairs.
    """
    for fact in facts:
        found = draft.find_fact(nugget, fact.key)
        held = found[1] if found is not None and found[1].key == fact.key else None
        if held is not None and alike(held.value, fact.value):
            _count_recalls(draft, nugget, held, fact)
        elif held is None:
            _bring(draft, nugget, fact, meant(fact.key))
        else:
            _choose(draft, nugget, held, fact, meant(fact.key))


def _count_recalls(draft: Draft, nugget: str, held: Fact, other: Fact) -> None:
    """Both counted the same recalls for as long as they were one: the more recalled one knows of all."""
    if other.hits > held.hits:
        counted = msgspec.structs.replace(held, hits=other.hits, last_hit_session=other.last_hit_session)
        draft.put_fact(nugget, counted)


def _bring(draft: Draft, nugget: str, fact: Fact, meant: Sequence[FactChange]) -> None:
    """A fact of which the nugget has none."""
    if _was_left_out(fact.key, meant):
        if not _was(fact.value, meant):
            _keep(draft, nugget, fact)
    elif draft.fact_note(nugget, fact.key, hidden=False) is None and _hidden(draft, nugget, fact.key):
        # What is hidden stays hidden.
        _keep(draft, nugget, fact)
    else:
        draft.put_fact(nugget, fact)


def _choose(draft: Draft, nugget: str, held: Fact, other: Fact, meant: Sequence[FactChange]) -> None:
    """A fact with another value in each file."""
    note = draft.fact_note(nugget, held.key, hidden=False)
    last = meant[0].after if meant else None
    newer = last is not None and alike(last.value, other.value) and _was(held.value, meant)
    if newer and note is not None and not alike(note.content, other.value):
        often = max(held, other, key=lambda fact: fact.hits)
        both = msgspec.structs.replace(
            held, value=other.value, hits=often.hits, last_hit_session=often.last_hit_session
        )
        if alike(note.content, held.value):
            draft.put(replace(note, content=other.value, updated_at=draft.at))
        draft.put_fact(nugget, both)
        _keep(draft, nugget, held)
    elif not _was(other.value, meant) and (note is None or not alike(note.content, other.value)):
        _keep(draft, nugget, other)


def _was_left_out(key: str, meant: Sequence[FactChange]) -> bool:
    """Whether the last that was done to a fact on purpose was to forget, hide or rename it."""
    return bool(meant) and (meant[0].after is None or meant[0].after.key != key)


def _was(value: str, meant: Sequence[FactChange]) -> bool:
    """Whether a fact had this value and was given another one, or forgotten, on purpose."""
    return any(
        change.before is not None
        and alike(change.before.value, value)
        and (change.after is None or not alike(change.after.value, value))
        for change in meant
    )


def _hidden(draft: Draft, nugget: str, key: str) -> list[Note]:
    return [note for note in draft.fact_notes(nugget, key) if note.hidden]


def _keep(draft: Draft, nugget: str, fact: Fact) -> None:
    """Keeps a value in a hidden note, from which it can be brought back, unless one keeps it already."""
    kept = (
        note.hidden_fact.value if note.hidden_fact is not None else note.content
        for note in _hidden(draft, nugget, fact.key)
    )
    if fact.value.strip() and not any(alike(value, fact.value) for value in kept):
        keep_in_hidden_note(draft, nugget, as_hidden_fact(fact, draft.end_of_facts(nugget)))
