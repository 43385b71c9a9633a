"""Where new facts go in a file in which some cannot be read, and which notes a change reaches."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kits.counted_steps import steps_of
from kits.drafts import make_note

from core.model.change import FactChange, NoteChange
from core.model.fact import Fact, NuggetMeta
from core.model.note import replace
from core.model.snapshot import Problem, ProblemKind
from core.storage.format.codec import write_fact, write_note
from core.storage.format.documents import GraphDocument, NuggetDocument, changed_graph, changed_nugget


def _document(legible: list[bool]) -> NuggetDocument:
    facts = tuple(
        Fact(key=f"old {place}", value="") if known else None for place, known in enumerate(legible)
    )
    raws = tuple(write_fact(fact, None, None) if fact is not None else b"{}" for fact in facts)
    return NuggetDocument(path=Path("m.nugget.json"), raws=raws, items=facts, meta=NuggetMeta(name="m"))


def _added(indexes: list[int | None]) -> list[FactChange]:
    return [
        FactChange(
            nugget="m", key=f"new {place}", before=None, after=Fact(key=f"new {place}", value=""), index=index
        )
        for place, index in enumerate(indexes)
    ]


@given(st.lists(st.booleans(), max_size=8), st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=6))
def test_a_new_fact_gets_its_number_among_those_that_can_be_read(
    legible: list[bool], indexes: list[int | None]
) -> None:
    document = _document(legible)
    wanted: list[str | None] = [fact.key if fact is not None else None for fact in document.facts]
    for place, index in sorted(enumerate(indexes), key=lambda one: (one[1] is None, one[1] or 0)):
        readable = [at for at, key in enumerate(wanted) if key is not None]
        at = readable[index] if index is not None and index < len(readable) else len(wanted)
        wanted.insert(at, f"new {place}")
    made = changed_nugget(document, _added(indexes))
    assert [fact.key if fact is not None else None for fact in made.facts] == wanted
    assert [raw == b"{}" for raw in made.raws] == [key is None for key in wanted]


def test_twice_as_many_facts_are_laid_into_a_file_in_twice_the_steps() -> None:
    def steps(count: int) -> int:
        document, added = _document([True, False] + [True] * count), _added([*range(count)])
        return steps_of(lambda: changed_nugget(document, added))

    assert steps(120) / steps(60) < 2.2


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12, unique_by=lambda one: one[0]))
def test_of_few_notes_or_many_a_change_reaches_those_that_can_be_read(
    standing: list[tuple[int, bool]],
) -> None:
    notes = tuple(
        make_note(place, id=f"note {id}") if known else None for place, (id, known) in enumerate(standing)
    )
    raws = tuple(write_note(note, None, None) if note is not None else b"{}" for note in notes)
    problems = (Problem(ProblemKind.UNREADABLE_NOTE, "graph.json", "cannot be read"),) * notes.count(None)
    graph = GraphDocument(path=Path("graph.json"), raws=raws, items=notes, problems=problems)
    changes = [
        NoteChange(id=note.id, before=note, after=replace(note, title="new"))
        for note in notes
        if note is not None
    ]
    made = changed_graph(graph, changes)
    assert (made or graph).notes == tuple(
        replace(note, title="new") if note is not None else None for note in notes
    )
