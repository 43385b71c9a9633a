"""Memories with everything wrong that may be wrong in them, for laws of verifying and repairing.

Strategies are made once: Hypothesis takes longer to look into a new one than to draw from it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import HiddenFact, Link, Note, VectorSpec, normalised_note, replace
from core.model.snapshot import Problem, ProblemKind, Snapshot

NUGGETS = (*("memory",) * 6, "other", "../evil", "Other", "broken")
KEYS = (*("k", "j") * 3, "K", "user:k", " ", "")
VALUES = (*("v", "w") * 3, " v\n", "x y", "")
IDS = tuple(f"note-memory-{number:08x}" for number in range(12))
REASONS = ("kin", "", " kin")
TAGS = ("memory", "scope:user", "scope:self", "type:note", "type:fact", "Mixed Case", "own", "", "own")


@cache
def links() -> st.SearchStrategy[Link]:
    """Links to notes that are there, unreadable, or gone."""
    return st.builds(Link, to=st.sampled_from((*IDS, "aside", "gone")), reason=st.sampled_from(REASONS))


@cache
def hidden_facts() -> st.SearchStrategy[HiddenFact]:
    """Facts that wait in a note."""
    return st.builds(
        HiddenFact,
        key=st.sampled_from(KEYS),
        value=st.sampled_from(VALUES),
        hits=st.integers(0, 2),
        index=st.integers(0, 3),
    )


@cache
def notes() -> st.SearchStrategy[Note]:
    """Notes of few ids, keys and texts, so that they get into each other's way: with everything wrong in them, or
    with nothing wrong but what they say, so that mending one thing is not covered by mending another."""
    return _wrong_notes() | _wrong_notes().map(_set_right)


def _set_right(note: Note) -> Note:
    odd = {
        "scope": "user",
        "type": "fact",
        "source": "explicit_user",
        "stability": "durable",
        "confidence": 0.9,
    }
    return normalised_note(replace(note, **odd), lambda id: id in (*IDS, "aside"))


@cache
def _wrong_notes() -> st.SearchStrategy[Note]:
    return st.builds(
        Note,
        id=st.sampled_from(IDS),
        nugget_name=st.sampled_from(NUGGETS),
        title=st.sampled_from(KEYS),
        content=st.sampled_from(VALUES),
        tags=st.lists(st.sampled_from(TAGS), max_size=4).map(tuple),
        links=st.lists(links(), max_size=3).map(tuple),
        vector=st.just(VectorSpec(seed=3, basis=("kind:note",))),
        hidden=st.sampled_from((False, False, True)),
        kind=st.sampled_from((*("fact",) * 6, "note", "odd")),
        source_key=st.sampled_from((None, None, None, *KEYS)),
        hits=st.integers(0, 2),
        created_at=st.sampled_from(("2026-01-02T03:04:05.678Z", "yesterday", "")),
        archived_at=st.none() | st.just("2026-01-02T03:04:05.678Z"),
        subject=st.just("user:primary"),
        scope=st.sampled_from(("user", "self", "Odd Scope")),
        type=st.sampled_from(("note", "fact", "odd")),
        source=st.sampled_from(("explicit_user", "odd")),
        confidence=st.sampled_from((0.9, 7.0, -1.0)),
        stability=st.sampled_from(("durable", "odd")),
        hidden_fact=st.one_of(*(st.none() for _ in range(3)), hidden_facts()),
        extra=st.just({}) | st.just({"theirs": 1}),
    )


def _nugget(name: str, facts: list[Fact]) -> Nugget:
    # Of several with one name the first counts, and a snapshot has no other.
    counted: dict[str, Fact] = {}
    for fact in facts:
        counted.setdefault(fact.key, fact)
    return Nugget(meta=NuggetMeta(name=name), facts=tuple(counted.values()), file=f"{name}.nugget.json")


@cache
def facts() -> st.SearchStrategy[list[Fact]]:
    """Facts of one file, with keys that differ by case or a scope alone among them."""
    one = st.builds(Fact, key=st.sampled_from(KEYS), value=st.sampled_from(VALUES), hits=st.integers(0, 2))
    return st.lists(one, max_size=5)


@cache
def pairs() -> st.SearchStrategy[tuple[list[Note], list[Fact]]]:
    """Facts of the nugget "memory", each with a sound note, that drifted apart in one file or the other: another
    value, no note, no fact, further notes, hidden in one of the two, remembered anew beside a hidden one."""
    return st.lists(st.tuples(*(st.integers(0, 7) for _ in range(3))), min_size=1, max_size=4).map(_drifted)


def _drifted(drifts: list[tuple[int, int, int]]) -> tuple[list[Note], list[Fact]]:
    made: list[Note] = []
    stored: list[Fact] = []
    for number, (in_file, in_note, beside) in enumerate(drifts):
        key = f"user:k{number}"
        if in_file:
            stored.append(
                Fact(key=key, value=("v", "w", "x", "v", "w", "x", "v")[in_file - 1], hits=in_file % 3)
            )
        if in_note:
            made.append(
                _fact_note(len(made), key, "v" if in_note < 5 else "w", number, hidden=in_note in (4, 5))
            )
        if beside in (1, 2, 3):
            value = ("v", "w", "x")[beside - 1]
            made.append(_fact_note(len(made), key, value, number, hidden=beside != 2, waits=beside != 3))
        elif beside == 4 and made:
            made.append(made[-1])
        elif beside == 5 and stored:
            stored.append(stored[-1])
    return made, stored


def _fact_note(
    number: int, key: str, value: str, index: int, *, hidden: bool, waits: bool | None = None
) -> Note:
    note = Note(
        id=f"fact-memory-{number:08x}",
        nugget_name="memory",
        title=key,
        content=value,
        kind="fact",
        source_key=key,
        hidden=hidden,
        archived_at="2026-01-02T03:04:05.678Z" if hidden else None,
        hidden_fact=HiddenFact(key=key, value=value, index=index)
        if (hidden if waits is None else waits)
        else None,
        created_at="2026-01-02T03:04:05.678Z",
        updated_at="2026-01-02T03:04:05.678Z",
        last_accessed_at="2026-01-02T03:04:05.678Z",
        subject="user:primary",
        scope="user",
        type="fact",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
    )
    return normalised_note(note, lambda _: True)


@cache
def second_files() -> st.SearchStrategy[list[Fact] | None]:
    """What stands in a second file of the nugget "memory"; None for no such file."""
    key = st.sampled_from((*KEYS, *(f"user:k{number}" for number in range(4))))
    one = st.builds(Fact, key=key, value=st.sampled_from((*VALUES, "x", "other")), hits=st.integers(0, 2))
    return st.none() | st.lists(one, max_size=5)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A damaged memory: notes, fact files or none, and now and then something that could not be read."""
    nuggets = [_nugget(name, draw(facts())) for name in ("memory", "other") if draw(st.integers(0, 3))]
    problems: list[Problem] = []
    if draw(st.integers(0, 2)) == 0:
        nuggets.append(Nugget(meta=NuggetMeta(name="broken"), file="broken.nugget.json", problem="no JSON"))
        problems.append(
            Problem(
                ProblemKind.UNREADABLE_FILE,
                "broken.nugget.json",
                "cannot be read",
                "broken.nugget.json",
                "broken",
            )
        )
    if draw(st.integers(0, 4)) == 0:
        problems.append(
            Problem(
                ProblemKind.UNREADABLE_FACT,
                "memory.nugget.json: fact 3",
                "cannot be read",
                "memory.nugget.json",
                "memory",
            )
        )
    aside: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        problems.append(
            Problem(ProblemKind.UNREADABLE_NOTE, "graph.json: note 3", "cannot be read", "graph.json")
        )
        aside = {"set_aside": frozenset({"aside"})}
    made = draw(st.lists(notes(), max_size=8))
    drifted = draw(st.none() | pairs())
    if drifted is not None:
        made = [*made[:3], *drifted[0]]
        held = {nugget.name: list(nugget.facts) for nugget in nuggets}
        held["memory"] = [*drifted[1], *held.get("memory", [])[:1]]
        nuggets = [
            *(_nugget(name, facts) for name, facts in sorted(held.items()) if name != "broken"),
            *(nugget for nugget in nuggets if nugget.problem),
        ]
    counted: dict[str, Note] = {}
    for note in made:
        counted.setdefault(note.id, note)
    return Snapshot(notes=tuple(counted.values()), nuggets=tuple(nuggets), problems=tuple(problems), **aside)
