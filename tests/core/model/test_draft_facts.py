from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.model.draft_facts import DraftFacts, HiddenIndexes, index_among_all
from core.model.fact import Fact, Nugget, NuggetMeta

KEYS = ("a", "A ", "b", "B", "c", "d")
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(("put", "take", "rename")),
        st.sampled_from(KEYS),
        st.one_of(st.none(), st.integers(-1, 8)),
    ),
    max_size=12,
)


class _Plain:
    """Facts as a plain list, in the order they stand, each with where it stood."""

    def __init__(self, before: list[Fact]) -> None:
        self.before = before
        self.held: list[tuple[int | None, Fact]] = list(enumerate(before))

    def at(self, key: str) -> int | None:
        return next((place for place, (_, fact) in enumerate(self.held) if fact.key == key), None)

    def put(self, fact: Fact, place: int | None) -> None:
        at = self.at(fact.key)
        if at is not None:
            self.held[at] = self.held[at][0], fact
            return
        here = {origin for origin, _ in self.held}
        out = (o for o, old in enumerate(self.before) if old.key == fact.key and o not in here)
        origin = next(out, None)
        if origin is not None:
            place = sum(other is not None and other < origin for other, _ in self.held)
        at = len(self.held) if place is None else max(0, min(place, len(self.held)))
        self.held.insert(at, (origin, fact))

    def rename(self, key: str, fact: Fact) -> None:
        if fact.key != key:
            self.take(fact.key)
        at = self.at(key)
        if at is not None:
            self.held[at] = self.held[at][0], fact

    def take(self, key: str) -> tuple[int, Fact] | None:
        at = self.at(key)
        return None if at is None else (at, self.held.pop(at)[1])

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(fact for _, fact in self.held)


@given(st.lists(st.sampled_from(KEYS), max_size=6, unique=True), _STEPS)
def test_facts_stand_as_in_a_plain_list_whatever_is_put_taken_and_renamed(
    begin: list[str], steps: list[tuple[str, str, int | None]]
) -> None:
    before = [Fact(key=key, value=str(place)) for place, key in enumerate(begin)]
    drafted, plain = DraftFacts(tuple(before)), _Plain(before)
    for number, (step, key, place) in enumerate(steps):
        new = Fact(key=key, value=f"new {number}")
        if step == "put":
            drafted.put(new, place)
            plain.put(new, place)
        elif step == "take":
            assert drafted.take(key) == plain.take(key)
        elif plain.at(key) is not None:
            renamed = Fact(key=KEYS[number % len(KEYS)], value=new.value)
            drafted.rename(key, renamed)
            plain.rename(key, renamed)
        assert drafted.facts == plain.facts
        nugget = Nugget(meta=NuggetMeta(name="memory"), facts=plain.facts)
        assert [drafted.find(name) for name in (*KEYS, "x")] == [nugget.find(name) for name in (*KEYS, "x")]
    gone = {place for place, _ in enumerate(before)} - {origin for origin, _ in plain.held}
    assert {change.index for change in drafted.changes("m") if change.after is None} == gone


_INDEXES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9))
_MOVES = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.one_of(st.none(), st.integers(0, 9))), max_size=10
)


@given(_INDEXES, _MOVES)
def test_a_hidden_fact_finds_its_place_also_where_two_have_the_same_index(
    begin: dict[str, int], moves: list[tuple[str, int | None]]
) -> None:
    hidden, plain = HiddenIndexes(begin), dict(begin)
    for id, index in [("a", begin.get("a")), *moves]:
        if index is None:
            hidden.drop(id)
            plain.pop(id, None)
        else:
            hidden.put(id, index)
            plain[id] = index
        assert len(hidden) == len(plain)
        for number in range(12):
            assert hidden.index_of(number) == index_among_all(number, plain.values())
            assert hidden.place_of(number) == max(0, number - sum(other < number for other in plain.values()))
