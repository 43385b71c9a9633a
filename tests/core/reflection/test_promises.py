"""What reflection promises about any memory at all: generated ones, with much of what real ones hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.graph_kit import applied, draft_of, facts_of, linked, make_note, memory_of
from kits.laws import examples

from core.graph.edits import MERGED_INTO
from core.model.note import HiddenFact, Note, replace
from core.model.snapshot import Snapshot
from core.reflection import ReflectionResult, reflect
from core.reflection.linking import made_links
from core.reflection.words import tidied
from core.settings import ReflectionSettings
from core.text.normalise import squeeze

pytestmark = pytest.mark.slow

EVERYTHING = 1_000_000
FULL = {"limit": EVERYTHING, "max_archived": EVERYTHING, "max_merged": EVERYTHING}
LIMITS: list[dict[str, int]] = [{}, {"limit": 1}, {"max_archived": 1, "max_merged": 1}, FULL]
DEFAULTS = ReflectionSettings()

_BLOCKS = (
    "The billing importer reads invoice files from the export folder.",
    "Invoices are billed on Mondays.\nInvoices are billed on Mondays.",
    "кот спит на тёплом подоконнике весь день",
    "кот спит на тёплом подоконнике",
    "京都の紅葉は十一月が見頃です",
    "```yaml\nsteps:\n  - run: a\n  - run: a\n\n\nend: 1\n```",
    "rollback:\n  1. stop\n  1. stop",
    "    indented = code()\n    indented = code()",
    "| a | b |\n|---|---|\n| 1 | 1 |\n| 1 | 1 |",
    "- [ ] todo\n- [ ] todo\n- [x] done",
    "# Heading\ntext\n# Heading\ntext",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu",
    "see src/auth/token.ts:10 and src/auth/token.ts:10",
    "👩‍👩‍👧 👍",
    "line with trailing   \n\n\n\nand gaps",
    "no",
    "34",
    "",
    "\r\nwindows\r\nlines\r\n",
)
_TITLES = (
    "alpha",
    "Template of a day",
    "tmp",
    "temp list",
    "Scratch",
    "billing importer",
    "кот",
    "京都",
    "Auth?",
)


@st.composite
def memories(draw: st.DrawFn) -> Snapshot:
    """Notes and facts of two nuggets: copies and near copies, pins, hidden ones, links in chains and to many."""
    notes: list[Note] = []
    for place in range(draw(st.integers(0, 14))):
        blocks = draw(st.lists(st.sampled_from(_BLOCKS), min_size=1, max_size=3))
        content = "\n\n".join(blocks)
        fact = draw(st.integers(0, 3)) == 0
        # Two keys in two spellings each, so that facts can be near-duplicates as well.
        key = draw(st.sampled_from(("user:Home town", "user:home_town", "user:key", "user:Key")))
        nugget = draw(st.sampled_from(("memory", "other")))
        taken = {(note.nugget_name, note.key) for note in notes if note.is_fact}
        if fact and (nugget, key) in taken:
            key = f"user:key {place}"
        hidden = draw(st.integers(0, 5)) == 0
        value = draw(st.sampled_from(("34", "no", "UK", "Lima", "Лима", "one\none"))) if fact else content
        note = make_note(
            place,
            value,
            key if fact else draw(st.sampled_from(_TITLES)),
            nugget_name=nugget,
            kind="fact" if fact else "note",
            scope=draw(st.sampled_from(("user", "shared"))),
            hidden=hidden,
            hits=draw(st.integers(0, 4)),
            tags=draw(st.sampled_from(((), (), ("mine",), ("pinned",), tuple("abcdefgh")))),
        )
        if fact and hidden:
            note = replace(note, hidden_fact=HiddenFact(key=key, value=value, hits=note.hits))
        notes.append(note)
    places = (
        st.tuples(st.integers(0, len(notes) - 1), st.integers(0, len(notes) - 1)) if notes else st.nothing()
    )
    pairs = draw(st.sets(places.filter(lambda pair: pair[0] < pair[1]), max_size=6)) if len(notes) > 1 else ()
    for a, b in sorted(pairs):
        notes[a], notes[b] = linked(notes[a], notes[b])
    return memory_of(notes)


def a_pass(snapshot: Snapshot, **wanted: Any) -> ReflectionResult:
    return reflect(draft_of(snapshot), **wanted)


def passes(snapshot: Snapshot, **limits: int) -> Iterator[tuple[Snapshot, ReflectionResult, Snapshot]]:
    """Each pass that had something to do, accepted whole: the memory before, the pass, the memory after."""
    for _ in range(300):
        result = a_pass(snapshot, **limits)
        if not result.changes:
            assert result.change_set.empty
            return
        after = applied(snapshot, result.change_set)
        yield snapshot, result, after
        snapshot = after
    raise AssertionError("passes do not come to an end")


def until_done(snapshot: Snapshot, **limits: int) -> Snapshot:
    for _, _, after in passes(snapshot, **limits):
        snapshot = after
    return snapshot


def lines_of(notes: tuple[Note, ...]) -> set[str]:
    return {squeeze(line) for note in notes for line in note.content.splitlines()} - {""}


_generated = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_generated
@given(memories(), st.sampled_from(LIMITS))
def test_once_nothing_is_left_another_pass_proposes_nothing_with_any_limit(
    before: Snapshot, limits: dict[str, int]
) -> None:
    after = until_done(before, **limits)
    for others in LIMITS:
        again = a_pass(after, **others)
        assert again.changes == ()
        assert again.change_set.empty
        assert (again.left_archived, again.left_merged, again.limit_reached) == (0, 0, False)


@_generated
@given(memories(), st.sampled_from(LIMITS))
def test_every_line_is_still_in_some_note_and_no_note_is_gone(
    before: Snapshot, limits: dict[str, int]
) -> None:
    after = until_done(before, **limits)
    assert [note.id for note in after.notes] == [note.id for note in before.notes]
    assert lines_of(before.notes) <= lines_of(after.notes)
    for note in before.notes:
        assert set(note.tags) - {"scope:user"} <= set(after.by_id[note.id].tags)
        if not after.by_id[note.id].hidden:
            # A note loses no line but a repeated one, whatever was merged into it.
            assert lines_of((note,)) <= lines_of((after.by_id[note.id],))


@_generated
@given(memories(), st.sampled_from(LIMITS))
def test_facts_and_notes_agree_after_every_pass(before: Snapshot, limits: dict[str, int]) -> None:
    for _, _, after in passes(before, **limits):
        facts = facts_of(after)
        visible = {(note.nugget_name, note.key): note for note in after.visible if note.is_fact}
        assert set(facts) == set(visible)
        for place, note in visible.items():
            assert facts[place] == note.content
        hits = {(nugget.name, fact.key): fact.hits for nugget in after.nuggets for fact in nugget.facts}
        assert hits == {place: note.hits for place, note in visible.items()}
        assert all(note.hidden_fact is not None for note in after.notes if note.is_fact and note.hidden)


@_generated
@given(memories(), st.sampled_from(LIMITS))
def test_links_lead_to_other_notes_both_ways_and_make_no_hub(
    before: Snapshot, limits: dict[str, int]
) -> None:
    after = until_done(before, **limits)
    for note in after.notes:
        targets = [link.to for link in note.links]
        assert note.id not in targets
        assert len({(link.to, link.reason) for link in note.links}) == len(targets)
        for target in targets:
            assert any(back.to == note.id for back in after.by_id[target].links)
        # Merging joins the links of both; reflection itself stops at the limit.
        if not any(other.extra.get(MERGED_INTO) == note.id for other in after.notes):
            assert made_links(note) <= DEFAULTS.max_links


@_generated
@given(memories(), st.sampled_from(LIMITS))
def test_recalls_of_a_survivor_are_those_of_all_that_went_into_it_each_once(
    before: Snapshot, limits: dict[str, int]
) -> None:
    after = until_done(before, **limits)

    def survivor(note: Note) -> Note:
        while MERGED_INTO in note.extra:
            note = after.by_id[str(note.extra[MERGED_INTO])]
        return note

    sums: dict[str, int] = {}
    for note in after.notes:
        kept = survivor(note).id
        sums[kept] = sums.get(kept, 0) + before.by_id[note.id].hits
    for id, hits in sums.items():
        assert after.by_id[id].hits == hits


@_generated
@given(memories(), st.sampled_from(LIMITS))
def test_a_pass_keeps_to_its_limits_and_leaves_pins_hidden_notes_and_facts_of_worth_alone(
    before: Snapshot, limits: dict[str, int]
) -> None:
    for earlier, result, after in passes(before, **limits):
        assert result.counts["hidden"] <= limits.get("max_archived", DEFAULTS.max_archived)
        assert result.counts["merged"] <= limits.get("max_merged", DEFAULTS.max_merged)
        for change in result.changes:
            assert 0 <= change.confidence <= 1
            assert change.reason
            note = earlier.by_id[change.note_id]
            assert not note.hidden
            if change.type == "hide":
                assert not note.is_fact
                assert note.hits < DEFAULTS.often_recalled
                assert "Template" not in note.title or len(note.content) <= 2
        touched = {change.id for change in result.change_set.notes}
        for note in earlier.notes:
            if note.id not in touched:
                assert after.by_id[note.id] == note
            if "pinned" in note.tags:
                assert note.id not in touched
            if note.hidden:
                same = after.by_id[note.id]
                assert (same.content, same.hidden, same.tags) == (note.content, True, note.tags)


@_generated
@given(memories())
def test_repeated_passes_of_one_note_reach_what_a_full_pass_reaches(before: Snapshot) -> None:
    whole, bit_by_bit = until_done(before, **FULL), until_done(before, limit=1)
    # Which of several equal partners is merged or linked first may differ; what is archived and tidied may not.
    for note in whole.notes:
        other = bit_by_bit.by_id[note.id]
        merged = MERGED_INTO in note.extra or MERGED_INTO in other.extra
        if not merged:
            assert note.hidden == other.hidden
    assert all(
        tidied(note.content) == note.content for note in bit_by_bit.visible if "pinned" not in note.tags
    )


@_generated
@given(memories(), st.data())
def test_what_is_refused_is_not_proposed_again_while_its_notes_say_the_same(
    before: Snapshot, data: st.DataObject
) -> None:
    snapshot = before
    refused: dict[str, tuple[tuple[str, str], ...]] = {}

    def texts(where: Snapshot, *ids: str) -> tuple[tuple[str, str], ...]:
        return tuple((where.by_id[id].title, where.by_id[id].content) for id in ids if id)

    for _ in range(60):
        proposed = a_pass(snapshot, **FULL).changes
        for change in proposed:
            if change.type in ("hide", "rewrite", "tag") and change.id in refused:
                assert texts(snapshot, change.note_id) != refused[change.id]
        if not proposed:
            return
        decided = data.draw(st.lists(st.booleans(), min_size=len(proposed), max_size=len(proposed)))
        yes = [change for change, accepted in zip(proposed, decided, strict=True) if accepted]
        no = [change for change, accepted in zip(proposed, decided, strict=True) if not accepted]
        result = a_pass(snapshot, accept=[c.id for c in yes], refuse=[c.id for c in no], **FULL)
        assert not result.unknown
        snapshot = applied(snapshot, result.change_set)
        refused |= {change.id: texts(snapshot, change.note_id) for change in no}
    raise AssertionError("decisions do not come to an end")
