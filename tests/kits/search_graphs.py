"""Generated graphs of notes for the laws of search, ways in which they change, and hits in a form to compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import strategies as st

from core.model.note import SCOPES, Link, Note, replace
from core.model.snapshot import Snapshot
from core.search import Filters, Hit, SearchIndex

WORDS = ("kettle", "boil", "boiling", "tea", "Tee", "postgres", "café", "京都", "秋", "userName", "retry_policy",
         "the", "note", "v1.4.0", "gateway", "gateways", "[x]", "\ud800", "release", "plan", "=>", "☕", "물은",
         "a" * 70, "what")  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
# Beside words of the notes: slips, beginnings, parts and single characters of them, and any text at all.
QUERIES = (
    TEXTS
    | st.sampled_from(
        ("kettel", "boi", "gate", "postgers plna", "ettl", "都", "물", "the what", "™", "A" * 70)
    )
    | st.text(max_size=20)
)
FILTERS = st.builds(
    Filters,
    nugget=st.sampled_from((None, "memory", "ops")),
    scope=st.sampled_from((None, *SCOPES)),
    tag=st.sampled_from((None, "kettle", "tea")),
    include_hidden=st.booleans(),
)
_HUGE = " ".join(f"line{number} kettle" for number in range(300))
_CONTENTS = TEXTS | st.just(_HUGE)


@cache
@st.composite
def notes(draw: st.DrawFn, most: int = 12) -> tuple[Note, ...]:
    """A graph: some notes hidden, linked, untitled, huge, with another's id or a confidence that is no number."""
    return tuple(draw(_one(most)) for _ in range(draw(st.integers(0, most))))


@cache
@st.composite
def _one(draw: st.DrawFn, ids: int) -> Note:
    nugget, scope = draw(st.sampled_from(("memory", "ops"))), draw(st.sampled_from(SCOPES))
    return Note(
        id=draw(_ids(ids)),
        nugget_name=nugget,
        title=draw(TEXTS),
        content=draw(_CONTENTS),
        tags=(nugget, draw(st.sampled_from(WORDS)), f"scope:{scope}", "type:note"),
        links=tuple(Link(to=to, reason="kin", created_at="") for to in draw(st.lists(_ids(ids), max_size=3))),
        scope=scope,
        type="note",
        subject=draw(st.sampled_from(("user:primary", "user:denis"))),
        confidence=draw(st.floats(allow_nan=True, allow_infinity=True)),
        stability=draw(st.sampled_from(("durable", "temporary"))),
        hidden=draw(st.booleans()),
        updated_at=draw(st.sampled_from(("2026-01-01", "2026-02-01"))),
    )


@cache
def _ids(most: int) -> st.SearchStrategy[str]:
    return st.integers(0, most).map(lambda number: f"note-memory-{number:08x}")


@st.composite
def histories(draw: st.DrawFn) -> list[Snapshot]:
    """Snapshots that follow one another: notes added, gone, edited, hidden, shown, moved; and back to an older one."""
    found = [Snapshot(notes=draw(notes(6)))]
    for _ in range(draw(st.integers(1, 6))):
        now = list(found[-1].notes)
        for _ in range(draw(st.integers(1, 4))):
            place = draw(st.integers(0, max(len(now) - 1, 0)))
            match draw(st.sampled_from(("add", "gone", "edit", "hide", "links", "move"))):
                case "add":
                    now.insert(place, draw(_one(6)))
                case "gone" if now:
                    del now[place]
                case "edit" if now:
                    now[place] = replace(now[place], content=draw(TEXTS), title=draw(TEXTS))
                case "hide" if now:
                    now[place] = replace(now[place], hidden=not now[place].hidden)
                case "links" if now:
                    now[place] = replace(now[place], links=draw(_one(6)).links, confidence=0.5)
                case "move" if now:
                    now.append(now.pop(place))
        older = draw(st.booleans()) and draw(st.booleans())
        found.append(draw(st.sampled_from(found)) if older else Snapshot(notes=tuple(now)))
    return found


def index_of(found: Sequence[Note]) -> SearchIndex:
    """A new index over some notes."""
    index = SearchIndex()
    index.update(Snapshot(notes=tuple(found)))
    return index


def numbers(hit: Hit) -> list[float]:
    """Every number of a hit."""
    parts = hit.breakdown
    return [
        *(parts.vector, parts.text, parts.boost, parts.blend),
        *(
            parts.vector_score,
            parts.text_score,
            parts.coverage,
        ),
        *(hit.score, hit.rank),
    ]


def same(found: Sequence[Hit], wanted: Sequence[Hit]) -> bool:
    """Whether two searches gave the same notes with the same numbers (to 1e-9), in the same order."""
    return [_name(hit) for hit in found] == [_name(hit) for hit in wanted] and all(
        numbers(one) == pytest.approx(numbers(other), abs=1e-9)
        and one.breakdown.matched == other.breakdown.matched
        and _reasons(one) == _reasons(other)
        for one, other in zip(found, wanted, strict=True)
    )


def _name(hit: Hit) -> tuple[str, str, str]:
    return hit.note.id, hit.note.title, hit.note.content


def _reasons(hit: Hit) -> list[tuple[str, str, str, str, float]]:
    """Reasons in an order of their own: of those with nearly the same value either may come first."""
    return sorted((*reason[:4], round(reason.value, 6)) for reason in hit.breakdown.reasons)


def close(one: float, other: float) -> bool:
    """Whether two numbers are equal but for what floats cannot tell apart."""
    return math.isclose(one, other, rel_tol=0, abs_tol=1e-9)
