"""An index that followed a memory through its changes answers as one that was made of the last snapshot."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.search_graphs import QUERIES, WORDS, histories, index_of, same

from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import Filters, SearchIndex
from core.search import index as index_module
from core.search.documents import Reader, digest_of, same_for_search, searched_fields
from core.search.query_syntax import Query, parse_query
from core.text.languages import Language

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]

EVERYTHING = Filters(include_hidden=True)


@pytest.mark.slow
@settings(deadline=None)
@given(histories(), QUERIES)
def test_an_index_that_followed_equals_a_fresh_one(history: list[Snapshot], query: str) -> None:
    index = SearchIndex()
    for snapshot in history:
        index.update(snapshot)
        index.result(query)
    fresh = index_of(history[-1].notes)
    for filters in (None, EVERYTHING):
        assert same(index.result(query, 100, filters).hits, fresh.result(query, 100, filters).hits)
    for note in history[-1].notes:
        one, other = index.explain(query, note.id), fresh.explain(query, note.id)
        assert one is not None
        assert other is not None
        assert one.hit.note is other.hit.note
        assert (one.total, one.obstacle) == (other.total, other.obstacle)
        assert same([one.hit], [other.hit])


@pytest.mark.slow
def test_an_index_stays_equal_to_a_fresh_one_while_it_is_put_together_anew(make_note: MakeNote) -> None:
    chance = random.Random(3)
    words = [word for word in WORDS if len(word) > 1]

    def text() -> str:
        return " ".join(chance.choices(words, k=5)) + f" w{chance.randrange(400)}"

    notes = [make_note(text(), text()) for _ in range(60)]
    index = index_of(notes)
    read_before = index.result("kettle gateway", 100).hits
    for step in range(45):
        for place in chance.sample(range(len(notes)), 14):
            notes[place] = replace(notes[place], content=text(), updated_at=f"2026-03-{step:02}")
        notes.append(make_note(text(), text()))
        del notes[chance.randrange(len(notes))]
        snapshot = Snapshot(notes=tuple(notes))
        index.update(snapshot)
        if step % 4 == 0 or step > 34:
            fresh = index_of(notes)
            for query in ("kettle gateway", "postgers plan", "w7 w31 w200", "bo", "京都", "=>"):
                assert same(index.result(query, 100).hits, fresh.result(query, 100).hits), (step, query)
    # What a hit tells lazily is of the state that it was found in.
    assert same(read_before, read_before)
    assert all(hit.breakdown.reasons and hit.breakdown.matched for hit in read_before)


@pytest.mark.slow
def test_words_that_are_gone_crowd_nothing_out(make_note: MakeNote) -> None:
    note = make_note("log", "kettledrummer")
    index = index_of([note])
    for number in range(300):
        index.update(Snapshot(notes=(replace(note, content=f"kettle{number:03}"),)))
    last = Snapshot(notes=(note,))
    index.update(last)
    for query in ("kettle", "kettled", "ketledrummer"):
        assert same(index.result(query).hits, index_of([note]).result(query).hits), query
        assert index.result(query).hits, query


def test_an_update_reads_only_notes_whose_text_changed(
    make_note: MakeNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [make_note(f"kettle {number}", "boil") for number in range(50)]
    index = index_of(notes)
    read: list[str] = []
    original = Reader.read

    def watched(self: Reader, note: Note, *given: Any) -> object:
        read.append(note.id)
        return original(self, note, *given)

    monkeypatch.setattr(Reader, "read", watched)
    changed, new = make_note("teapot", id=notes[3].id), make_note("cup")
    hidden = replace(notes[4], hidden=True, confidence=0.1, updated_at="2027-01-01")
    index.update(Snapshot(notes=(*notes[:3], changed, hidden, *notes[5:], new)))
    assert read == [changed.id, new.id]
    assert len(index.result("kettle", 100).hits) == 48
    assert len(index.result("teapot", 100).hits) == 1


def test_a_note_that_changed_in_hiddenness_alone_is_not_stale(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    note = make_note("kettle", "boil")
    index = make_index(note)
    index.update(Snapshot(notes=(replace(note, hidden=True),)))
    assert index.result("kettle").hits == ()
    index.update(Snapshot(notes=(replace(note, content="water", title="x"),)))
    assert index.result("kettle").hits == ()
    assert index.result("water").hits


@given(st.data())
def test_two_versions_are_the_same_for_search_only_if_their_documents_are(data: st.DataObject) -> None:
    texts = st.sampled_from(("", "a", "b", "\0", "a\0b", "1 a"))
    one, other = (
        Note(id="x", nugget_name="n", title=data.draw(texts), content=data.draw(texts), tags=(data.draw(texts),),
             subject=data.draw(texts))
        for _ in range(2)
    )  # fmt: skip
    fields = [(note.title, note.content, note.tags, note.subject) for note in (one, other)]
    if same_for_search(one, other):
        assert digest_of(searched_fields(one)) == digest_of(searched_fields(other))
    if digest_of(searched_fields(one)) == digest_of(searched_fields(other)):
        reader = Reader()
        assert reader.read(one) == reader.read(other), fields


@pytest.mark.slow
def test_a_search_sees_one_state_though_the_index_goes_on_meanwhile(make_note: MakeNote) -> None:
    before = [
        make_note(f"kettle {number}", f"boil{number} tea", updated_at="2026-01-01") for number in range(30)
    ]
    after = [make_note(f"gateway {number}", f"kettle{number} plan") for number in range(700)]
    index = index_of(before)
    wanted = index.result("kettle boil7", 100).hits
    asked = 0

    def goes_on() -> bool:
        nonlocal asked
        asked += 1
        index.update(Snapshot(notes=tuple(after[: 350 * asked])))
        return False

    hits = index.result("kettle boil7", 100, stopped=goes_on).hits
    assert asked >= 2
    assert same(hits, wanted)
    assert [hit.breakdown.reasons for hit in hits] == [hit.breakdown.reasons for hit in wanted]
    assert len(index.result("gateway", 1000).hits) == 700


@pytest.mark.slow
def test_searching_while_the_index_is_updated_sees_one_state_or_the_other(make_note: MakeNote) -> None:
    few = Snapshot(notes=tuple(make_note(f"kettle {n}", "boil") for n in range(20)))
    more = Snapshot(notes=(*few.notes, *(make_note(f"kettle {n}", f"tea{n} boil") for n in range(20))))
    index = SearchIndex()
    index.update(few)
    stop = threading.Event()
    counts: set[int] = set()
    failed: list[BaseException] = []

    def look() -> None:
        try:
            while not stop.is_set():
                hits = index.result("kettle", 100).hits
                counts.add(len(hits))
                for hit in hits[:3]:
                    assert hit.breakdown.reasons
                    assert index.explain("kettle bo", hit.note.id) is None or hit.breakdown.matched
        except BaseException as error:
            failed.append(error)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    for _ in range(10):
        index.update(more)
        index.update(few)
    stop.set()
    for looker in lookers:
        looker.join()
    assert failed == []
    assert counts <= {20, 40}


def test_a_search_that_is_stopped_at_any_moment_gives_nothing(make_note: MakeNote) -> None:
    index = index_of([make_note(f"kettle {n}", "boil") for n in range(5)])
    whole = index.result("kettle", 10).hits
    asked = 0

    def counted() -> bool:
        nonlocal asked
        asked += 1
        return False

    assert index.result("kettle", 10, stopped=counted).hits == whole
    assert asked
    for moment in range(asked):
        answers = iter([*[False] * moment, *[True] * asked])
        assert index.result("kettle", 10, stopped=lambda: next(answers)).hits == ()  # noqa: B023
    said = iter([True])
    assert index.result("kettle", 10, stopped=lambda: next(said, False)).hits == ()
    assert index.result("", stopped=lambda: True).hits == ()


def test_explain_sees_one_state_though_the_index_goes_on_meanwhile(
    make_note: MakeNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [make_note(f"kettle {number}", "boil") for number in range(30)]
    index = index_of(notes)

    def goes_on(text: str, languages: Sequence[Language]) -> Query:
        index.update(Snapshot(notes=tuple(make_note("tea", "green") for _ in range(600))))
        return parse_query(text, languages)

    monkeypatch.setattr(index_module, "parse_query", goes_on)
    explained = index.explain("kettle", notes[7].id)
    assert explained is not None
    assert explained.hit.note is notes[7]


def test_an_update_that_fails_leaves_the_index_as_it_was(
    make_note: MakeNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [make_note(f"kettle {number}", "boil") for number in range(3)]
    index = index_of(notes)
    with monkeypatch.context() as patched:
        patched.setattr("core.search.state.State.__init__", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            index.update(Snapshot(notes=(*notes, make_note("tea", "nine"))))
    last = (*notes, make_note("tea", "ten"))
    index.update(Snapshot(notes=last))
    assert same(index.result("tea kettle").hits, index_of(last).result("tea kettle").hits)
