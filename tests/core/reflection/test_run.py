"""A whole pass: what it promises about memories, not about single rules."""

from __future__ import annotations

import itertools
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.graph_kit import NOW, applied, draft_of, facts_of, linked, make_fact, make_note, memory_of
from kits.hostile import HOSTILE
from kits.laws import examples

from core.errors import InvalidInputError
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.reflection import ReflectionResult, reflect
from core.reflection.linking import made_links
from core.settings import ReflectionSettings
from core.text.normalise import squeeze

EVERYTHING = 1_000_000


def a_pass(snapshot: Snapshot, **wanted: Any) -> ReflectionResult:
    if wanted.get("limit") == EVERYTHING:
        wanted = {"max_archived": EVERYTHING, "max_merged": EVERYTHING} | wanted
    return reflect(draft_of(snapshot), **wanted)


def until_done(snapshot: Snapshot, limit: int | None = None) -> tuple[Snapshot, int]:
    """The memory after accepting passes until one has nothing to say, and how many did."""
    for count in itertools.count():
        result = a_pass(snapshot, limit=limit)
        if not result.changes:
            assert result.change_set.empty
            return snapshot, count
        assert count < 200
        snapshot = applied(snapshot, result.change_set)
    raise AssertionError


def kinds(result: ReflectionResult) -> list[str]:
    return [change.type for change in result.changes]


# What the original did, pass by pass, and what is otherwise here on purpose


def scenario(golden: Path, name: str) -> tuple[Snapshot, list[dict[str, Any]]]:
    found = json.loads((golden / "reflect.json").read_text(encoding="utf-8"))["scenarios"][name]
    notes = [msgspec.convert(note, Note) for note in found["before"]["graph/graph.json"]["notes"]]
    return memory_of(notes), [run["result"] for run in found["runs"]]


def number(id: str) -> int:
    return int(id[-8:], 16)


def test_golden_low_value_archives_the_same_notes_but_no_fact_and_no_template(golden: Path) -> None:
    snapshot, theirs = scenario(golden, "low_value")
    result = a_pass(snapshot)
    hidden = {number(change.note_id) for change in result.changes if change.type == "hide"}
    of_original = {number(c["noteId"]) for run in theirs for c in run["changes"] if c["type"] == "hide"}
    # 5 is "Template for weekly report", 7 "Temperature log", 9 the fact user:age = 34.
    assert hidden == of_original - {5, 7, 9}
    assert result.inspected == theirs[0]["inspected"] == 10
    assert result.ran_at == "2026-11-20T09:00:00.000Z"


def test_golden_repeated_lines_go_in_prose_while_paragraphs_and_yaml_stay(golden: Path) -> None:
    snapshot, _ = scenario(golden, "whitespace_duplicates")
    result = a_pass(snapshot)
    after = applied(snapshot, result.change_set)
    assert [note.content for note in after.notes] == [
        "milk\n\nbread\neggs and ham",
        "roses are red\n\nviolets are blue",
        "nothing to do here at all",
        "a:\nb: 1\nb: 1\n\nc: 2",
        "first line",
    ]
    assert facts_of(after)["memory", "user:two lines"] == "first line"
    assert result.counts["rewritten"] == 3
    assert {note.last_rewritten_at for note in after.notes} == {None, result.ran_at}


def test_golden_near_duplicates_merge_as_in_the_original_and_in_one_pass(golden: Path) -> None:
    snapshot, theirs = scenario(golden, "near_duplicates")
    result = a_pass(snapshot)
    pairs = [{number(c.note_id), number(c.other_id)} for c in result.changes if c.type == "merge"]
    # The original needs a second day for the third twin and then keeps the other of the twins.
    assert pairs == [{1, 2}, {5, 6}, {7, 8}, {7, 9}]
    assert result.counts["merged"] == sum(run["merged"] for run in theirs)
    after = applied(snapshot, result.change_set)
    survivor = next(note for note in after.notes if number(note.id) == 2)
    assert survivor.content.split("\n")[0].endswith("juliet")
    assert survivor.last_rewritten_at == result.ran_at


def test_golden_missing_links_join_the_same_notes_once(golden: Path) -> None:
    snapshot, _ = scenario(golden, "missing_links")
    after = applied(snapshot, a_pass(snapshot).change_set)
    joined = {frozenset((number(note.id), number(link.to))) for note in after.notes for link in note.links}
    # The original made these three, each of the first two twice; facts are linked here as well.
    assert {frozenset((1, 2)), frozenset((3, 4)), frozenset((2, 7))} <= joined
    assert not any(5 in pair for pair in joined)
    for note in after.notes:
        assert len({link.to for link in note.links}) == len(note.links)


def test_golden_other_subjects_are_not_merged(golden: Path) -> None:
    snapshot, theirs = scenario(golden, "different_subjects")
    result = a_pass(snapshot)
    merged = [(change.note_id, change.other_id) for change in result.changes if change.type == "merge"]
    assert [(number(a), number(b)) for a, b in merged] == [(4, 6)]
    assert result.counts["merged"] == theirs[0]["merged"]


@pytest.mark.parametrize(
    "name", ["low_value", "whitespace_duplicates", "near_duplicates", "missing_links", "different_subjects"]
)
def test_golden_memories_need_one_pass_and_a_second_one_proposes_nothing(golden: Path, name: str) -> None:
    snapshot, _ = scenario(golden, name)
    assert until_done(snapshot, EVERYTHING)[1] <= 1


# Selection and limits


def test_at_most_the_set_number_of_notes_is_inspected_and_hidden_ones_do_not_count() -> None:
    hidden = [make_note(n, "", hidden=True) for n in range(50)]
    live = [make_note(n, f"say{n}\nsay{n}") for n in range(50, 75)]
    result = a_pass(memory_of([*hidden, *live]))
    assert (result.inspected, result.counts["rewritten"], result.limit_reached) == (10, 10, True)
    assert {change.note_id for change in result.changes} == {note.id for note in live[:10]}


def test_old_notes_that_lack_tags_or_links_come_first() -> None:
    tagged = make_note(1, "", tags=("mine",))
    young, old = make_note(9, ""), make_note(3, "")
    both = linked(make_note(0, "", tags=("mine",)), make_note(20, "words", tags=("mine",)))
    result = a_pass(memory_of([*both, tagged, young, old]), limit=3)
    assert [change.note_id for change in result.changes] == [old.id, young.id, tagged.id]


def test_notes_with_nothing_to_do_never_use_up_the_limit() -> None:
    clean = [make_note(n, f"settled{n} matter{n}") for n in range(200)]
    late = make_note(900, "say\nsay")
    assert [change.note_id for change in a_pass(memory_of([*clean, late])).changes] == [late.id]


def test_repeated_passes_reach_every_note() -> None:
    notes = [make_note(n, f"line{n}\nline{n}") for n in range(47)]
    after, passes = until_done(memory_of(notes))
    assert passes == 5
    assert [note.content for note in after.notes] == [f"line{n}" for n in range(47)]


def test_filters_narrow_a_pass_to_a_nugget_scope_type_or_subject() -> None:
    notes = [
        make_note(1, "", nugget_name="other"),
        make_note(2, "", scope="shared"),
        make_note(3, "", type="style"),
        make_note(4, "", subject="user:denis"),
    ]
    filters = ({"nugget": "other"}, {"scope": "shared"}, {"type": "style"}, {"subject": "user:denis"})
    for note, wanted in zip(notes, filters, strict=True):
        assert [change.note_id for change in a_pass(memory_of(notes), **wanted).changes] == [note.id]


def test_a_limit_of_none_is_the_setting_and_a_negative_one_is_refused() -> None:
    snapshot = memory_of([make_note(n, "") for n in range(5)])
    assert a_pass(snapshot, settings=ReflectionSettings(max_notes=2)).counts["hidden"] == 2
    assert a_pass(snapshot, limit=0).change_set.empty
    for name in ("limit", "max_archived", "max_merged"):
        with pytest.raises(InvalidInputError, match=name):
            a_pass(snapshot, **{name: -1})


def test_a_pinned_note_is_left_alone_even_by_merges_and_links_of_others() -> None:
    text = "the importer reads invoice files from billing exports"
    pinned = make_note(1, text, "import", tags=("pinned",))
    beside = replace(make_note(2, f"{text} daily", "import"), links=linked(pinned, make_note(2, ""))[1].links)
    pinned = linked(pinned, beside)[0]
    notes = [pinned, beside, make_note(3, text, "import"), make_note(4, "", tags=("Pinned",))]
    after = applied(memory_of(notes), a_pass(memory_of(notes), limit=EVERYTHING).change_set)
    assert after.by_id[pinned.id] == pinned
    assert after.by_id[notes[3].id] == notes[3]


def test_a_pass_with_nothing_to_do_is_an_empty_change_set_that_moves_no_date() -> None:
    snapshot = memory_of([make_note(1, "settled matter"), make_note(2, "other words")])
    result = a_pass(snapshot)
    assert result.change_set.empty
    assert result.to_dict() == {
        "ranAt": result.ran_at,
        "inspected": 2,
        "rewritten": 0,
        "merged": 0,
        "hidden": 0,
        "tagged": 0,
        "linked": 0,
        "rescoped": 0,
        "repointed": 0,
        "changes": [],
        "left": {"merged": 0, "hidden": 0},
        "refused": 0,
    }


def test_the_result_as_json_has_the_documented_fields() -> None:
    found = a_pass(memory_of([make_note(1, "")])).to_dict()
    assert found["hidden"] == 1
    assert found["changes"][0].keys() == {
        "id", "type", "nuggetName", "noteId", "detail", "reason", "confidence", "doubtful",
    }  # fmt: skip
    assert (found["changes"][0]["reason"], found["changes"][0]["confidence"]) == ("it is empty", 1.0)
    assert found["changes"][0]["nuggetName"] == "memory"


# Accepting some


def busy_memory() -> Snapshot:
    near = "bravo charlie delta echo foxtrot golf hotel india"
    return memory_of(
        [
            make_note(1, ""),
            make_note(2, "milk\nmilk"),
            make_note(3, near, "alpha"),
            make_note(4, f"{near} juliet", "alpha"),
            make_note(5, "alice owns the billing importer"),
            make_note(6, "the billing importer breaks"),
            make_note(7, "look into src/auth/token.py"),
        ]
    )


def test_accepting_ids_carries_out_just_those() -> None:
    snapshot = busy_memory()
    preview = a_pass(snapshot)
    assert set(kinds(preview)) == {"hide", "rewrite", "merge", "link", "tag"}
    for size in (1, 2, len(preview.changes)):
        for chosen in itertools.combinations(preview.changes, size):
            result = a_pass(snapshot, accept={change.id for change in chosen})
            assert result.changes == chosen
            assert not result.change_set.empty


def test_accepting_everything_is_the_same_as_a_plain_pass() -> None:
    snapshot = busy_memory()
    plain = a_pass(snapshot)
    accepted = a_pass(snapshot, accept=[change.id for change in plain.changes])
    assert accepted.change_set.notes == plain.change_set.notes
    assert accepted.to_dict() == plain.to_dict()


def test_accepting_nothing_changes_nothing_and_unknown_ids_are_named() -> None:
    assert a_pass(busy_memory(), accept=()).change_set.empty
    result = a_pass(busy_memory(), accept=["link-unknown", ""])
    assert result.change_set.empty
    assert result.unknown == ("link-unknown", "")


def test_ids_are_the_same_at_another_time_and_may_be_shortened() -> None:
    snapshot = busy_memory()
    later = reflect(draft_of(snapshot, NOW + timedelta(days=40)))
    now = a_pass(snapshot)
    assert [change.id for change in later.changes] == [change.id for change in now.changes]
    assert len({change.id for change in now.changes}) == len(now.changes)
    merge = next(change for change in now.changes if change.type == "merge")
    assert a_pass(snapshot, accept=[merge.id[:8]]).changes == (merge,)


def test_refusing_to_tidy_does_not_turn_a_merge_around() -> None:
    words = "one two three four five six seven eight nine"
    snapshot = memory_of([make_note(1, f"{words}\n{words}", "same"), make_note(2, f"{words} ten", "same")])
    merge = next(change for change in a_pass(snapshot).changes if change.type == "merge")
    assert a_pass(snapshot, accept={merge.id}).changes == (merge,)


# Merging


def test_a_merge_keeps_every_line_repoints_links_and_adds_recalls_once() -> None:
    near = "bravo charlie delta echo foxtrot golf hotel india"
    friend = make_note(9, "unrelated friend")
    short, friend = linked(make_note(1, near, "alpha", hits=2, tags=("left",)), friend)
    long = make_note(2, f"{near} juliet", "alpha", hits=3, tags=("right",))
    after, _ = until_done(memory_of([short, long, friend]), EVERYTHING)
    survivor, away = after.by_id[long.id], after.by_id[short.id]
    assert (survivor.hits, survivor.hidden, away.hidden) == (5, False, True)
    assert set(survivor.content.split("\n")) == {near, f"{near} juliet"}
    assert {"left", "right"} <= set(survivor.tags)
    assert {link.to for link in survivor.links} == {friend.id, short.id}
    assert [link.to for link in away.links] == [survivor.id]
    assert [link.to for link in after.by_id[friend.id].links] == [survivor.id]


def test_nothing_merges_into_a_hidden_note_and_no_note_is_linked_to_itself() -> None:
    text = "bravo charlie delta echo foxtrot golf hotel india"
    notes = linked(
        make_note(1, f"{text} juliet", "alpha", hidden=True),
        make_note(2, text, "alpha"),
        make_note(3, text, "alpha"),
    )
    after, _ = until_done(memory_of(notes), EVERYTHING)
    assert [note.hidden for note in after.notes] == [True, False, True]
    assert all(link.to != note.id for note in after.notes for link in note.links)


def test_a_note_that_was_merged_and_brought_back_is_not_merged_again() -> None:
    text = "bravo charlie delta echo foxtrot golf hotel india"
    snapshot, _ = until_done(memory_of([make_note(1, text, "a"), make_note(2, text, "a")]), EVERYTHING)
    notes = [replace(note, hidden=False, archived_at=None) for note in snapshot.notes]
    assert a_pass(memory_of(notes)).counts["merged"] == 0


def test_merged_facts_leave_one_fact_that_still_answers() -> None:
    first, second = (
        make_fact(1, "user:Home town", "Lima", hits=1),
        make_fact(2, "user:home_town", "Lima", hits=4),
    )
    snapshot = memory_of([first, second])
    result = a_pass(snapshot)
    after = applied(snapshot, result.change_set)
    assert facts_of(after) == {("memory", "user:home_town"): "Lima"}
    assert after.nuggets[0].facts[0].hits == after.by_id[second.id].hits == 5


def test_tidying_a_fact_reaches_its_value_and_a_drifted_one_is_left_alone() -> None:
    agreed, drifted = make_fact(1, "user:list", "one\none"), make_fact(2, "user:other", "two\ntwo")
    snapshot = memory_of([agreed, drifted])
    snapshot = Snapshot(
        notes=(agreed, replace(drifted, content="three\nthree")), nuggets=memory_of([agreed, drifted]).nuggets
    )
    result = a_pass(snapshot)
    assert [change.note_id for change in result.changes] == [agreed.id]
    assert facts_of(applied(snapshot, result.change_set))["memory", "user:list"] == "one"


# Links


def test_no_note_becomes_a_hub_and_no_pair_is_linked_twice() -> None:
    hub = make_note(0, " ".join(f"term{n} thing{n}" for n in range(30)), "overview")
    around = [make_note(n + 1, f"term{n} thing{n} alone{n}") for n in range(30)]
    after, _ = until_done(memory_of([hub, *around]))
    assert all(made_links(note) <= 8 for note in after.notes)
    assert made_links(after.by_id[hub.id]) == 8
    for note in after.notes:
        assert len({link.to for link in note.links}) == len(note.links)


def test_links_name_the_uncommon_words_and_go_both_ways() -> None:
    notes = [make_note(1, "alice owns the billing importer"), make_note(2, "the billing importer breaks")]
    after = applied(memory_of(notes), a_pass(memory_of(notes)).change_set)
    assert [[(link.to, link.reason) for link in note.links] for note in after.notes] == [
        [(notes[1].id, "shared context: billing, importer")],
        [(notes[0].id, "shared context: billing, importer")],
    ]


# Promises about any memory

_WORDS = st.sampled_from(
    ["billing", "importer", "alpha", "beta", "gamma", "кот", "京都", "紅葉", "not", "5", "```", "x"]
)
_LINES = st.lists(st.lists(_WORDS, max_size=7).map(" ".join), max_size=5).map("\n".join)


@st.composite
def memories(draw: st.DrawFn) -> Snapshot:
    notes: list[Note] = []
    for place in range(draw(st.integers(0, 12))):
        copied = notes and draw(st.booleans())
        content = draw(st.sampled_from(notes)).content if copied else draw(_LINES)
        is_fact = draw(st.integers(0, 3)) == 0
        note = make_note(
            place,
            content or ("v" if is_fact else ""),
            f"user:key {place}"
            if is_fact
            else draw(st.sampled_from(["alpha", "tmp", "file: x", "кот", ""])) or "t",
            kind="fact" if is_fact else "note",
            scope=draw(st.sampled_from(["user", "shared"])),
            hidden=not is_fact and draw(st.integers(0, 4)) == 0,
            hits=draw(st.integers(0, 4)),
            tags=draw(st.sampled_from([(), ("mine",), ("pinned",), tuple("abcdefgh")])),
        )
        notes.append(note)
    for _ in range(draw(st.integers(0, 4)) if len(notes) > 1 else 0):
        a, b = draw(st.lists(st.integers(0, len(notes) - 1), min_size=2, max_size=2, unique=True))
        notes[a], notes[b] = linked(notes[a], notes[b])
    return memory_of(notes)


@pytest.mark.slow
@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(memories(), st.sampled_from([1, 3, EVERYTHING]))
def test_passes_come_to_an_end_and_leave_a_sound_memory(before: Snapshot, limit: int) -> None:
    after, passes = until_done(before, limit)
    assert passes <= (1 if limit == EVERYTHING else 60)
    assert len(after.notes) == len(before.notes)
    lines = {squeeze(line) for note in after.notes for line in note.content.split("\n")}
    for note in before.notes:
        assert {squeeze(line) for line in note.content.split("\n")} - {""} <= lines
        if "pinned" in note.tags or note.hidden:
            assert after.by_id[note.id].content == note.content
        assert set(note.tags) <= set(after.by_id[note.id].tags)
    for note in after.notes:
        targets = [link.to for link in note.links]
        assert note.id not in targets
        for link in note.links:
            assert any(back.to == note.id for back in after.by_id[link.to].links)
        if note.is_fact and not note.hidden:
            assert facts_of(after)[note.nugget_name, note.key] == note.content
    visible_facts = {(note.nugget_name, note.key) for note in after.visible if note.is_fact}
    assert set(facts_of(after)) == visible_facts


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(memories(), st.data())
def test_any_part_of_a_pass_is_a_change_set_that_fits(before: Snapshot, data: st.DataObject) -> None:
    proposed = [change.id for change in a_pass(before, limit=EVERYTHING).changes]
    chosen = data.draw(st.sets(st.sampled_from(proposed))) if proposed else set()
    result = a_pass(before, limit=EVERYTHING, accept=chosen)
    assert {change.id for change in result.changes} <= chosen
    for change in result.change_set.notes:
        assert change.before == before.by_id[change.id]
    after = applied(before, result.change_set)
    assert all(link.to in after.by_id and link.to != note.id for note in after.notes for link in note.links)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_neither_breaks_a_pass_nor_changes(text: str) -> None:
    notes = [make_note(1, f"keep {text} here", text or "t"), make_note(2, f"keep {text} here", text or "t")]
    after, _ = until_done(memory_of([*notes, make_fact(3, f"user:{text[:50]}", "v")]), EVERYTHING)
    assert squeeze(f"keep {text} here") in {squeeze(note.content) for note in after.notes}
