"""Words that mean the same: from the table, a person's own, and tags; after exact words, and never as these."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from benchmarks.retrieval_sets import outside_set

from core.bench import ndcg
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.statements import ATTRIBUTE_OPPOSITES, OPPOSITES
from core.search import SearchIndex
from core.search.query_syntax import parse_query
from core.search.terms import TABLE, by_stem, meanings, terms
from core.settings import SearchSettings
from core.text.languages import LANGUAGES, stem_in
from core.text.tokens import STOP_WORDS, stem

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]
OFF = SearchSettings(meaning_weight=0.0)
PARAPHRASES = Path(__file__).parents[2] / "benchmarks" / "paraphrases.json"
LARGEST, LETTERS = 700_000, "abcdefghijklmnopqrstuvwxyz"
LINE = re.compile(r"[a-z0-9]+(@german)? [a-z0-9]+( [a-z0-9]*[a-z][0-9]{2,3}){0,40}")
# Who asks for a kind is told of its things, and not the other way round.
OF_KIND = 90


def ids(index: SearchIndex, *named: str) -> list[str]:
    state = index._state
    assert state is not None
    found = {note.title: note.id for note in state.notes}
    return [found[name] for name in named]


def titles(index: SearchIndex, text: str, settings: SearchSettings | None = None) -> list[str]:
    return [hit.note.title for hit in index.result(text, settings=settings).hits]


# The table


@pytest.fixture(scope="module")
def table() -> dict[str, dict[str, int]]:
    lines = [line for line in TABLE.read_text("ascii").splitlines() if not line.startswith("#")]
    assert all(map(LINE.fullmatch, lines))
    assert lines == sorted(lines)
    found = {}
    for line in lines:
        name, _, *near = line.split(" ")
        found[name] = {entry.rstrip("0123456789"): int(entry[-2:]) for entry in near}
    return found


@pytest.mark.slow
def test_the_table_says_the_same_of_both_words_of_a_pair(table: dict[str, dict[str, int]]) -> None:
    assert len(table) > 10_000
    for name, near in table.items():
        # A German stem leads to English ones, which lead to the English stem of the German word.
        for other, likeness in near.items() if "@" not in name else ():
            assert OF_KIND in (likeness, back := table[other].get(name)) or back == likeness
            assert 0 < likeness < 100


@pytest.mark.slow
def test_the_table_is_small_where_it_is_shipped() -> None:
    import zlib

    assert len(zlib.compress(TABLE.read_bytes(), 6)) < LARGEST


def test_no_opposites_stand_for_each_other(table: dict[str, dict[str, int]]) -> None:
    pairs = [list(pair) for pair in OPPOSITES + ATTRIBUTE_OPPOSITES]
    pairs += [
        ["fast", "slow"],
        ["slowest", "fast"],
        ["wife", "husband"],
        ["limit", "unlimited"],
        ["red", "blue"],
    ]
    assert [pair for pair in pairs if stem(pair[1]) in table.get(stem(pair[0]), {})] == []


@pytest.mark.slow
def test_no_language_takes_opposites_or_forms_of_one_word_for_near_words() -> None:
    pairs = [*OPPOSITES, *ATTRIBUTE_OPPOSITES, ("sell", "buy"), ("high", "lower")]
    for one, other in [*pairs, *(pair[::-1] for pair in pairs)]:
        for near in meanings(stem(one)):
            for language in LANGUAGES:
                found = stem_in(near.word, language)
                own = stem_in(one, language) if near.likeness < 0.95 else ""
                assert found not in (own, stem_in(other, language)), (one, near.word)


def test_numbers_names_of_days_and_words_of_grammar_are_not_in_the_table(
    table: dict[str, dict[str, int]],
) -> None:
    assert not {"five", "thousand", "twelv", "tuesday", "februari"} & table.keys()
    assert not STOP_WORDS & {line.split(" ")[1] for line in TABLE.read_text("ascii").splitlines()[3:]}


def test_words_that_agents_ask_with_have_their_neighbours() -> None:
    for asked, meant in (
        ("delete", "removed"),
        ("database", "sqlite"),
        ("fetch", "retrieve"),
        ("salary", "wages"),
        ("login", "authentication"),
        ("car", "vehicle"),
        ("bug", "defect"),
        ("repo", "repository"),
    ):
        assert stem(meant) in {one.stem for one in meanings(stem(asked))}


# In a search


def test_a_note_in_other_words_is_found_and_the_exact_word_stands_before_it(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("Purge", "Old rows are removed. Remove, remove, remove: removing is what it is for."),
        make_note(
            "Long", f"Nobody may delete the archive. {'Much is said about boats and harbours here. ' * 40}"
        ),
        make_note("Weather", "It rains."),
    )
    assert titles(index, "delete") == ["Long", "Purge"]
    assert titles(index, "delete", OFF) == ["Long"]
    assert titles(index, "erase") == titles(index, "erase now please")


def test_what_means_the_same_never_counts_as_a_word_of_the_query(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("Purge", "rows are removed"), make_note("Weather", "it rains"))
    [hit] = index.result("delete").hits
    assert hit.breakdown.coverage == 0.0
    found = index.explain("delete", hit.note.id)
    assert found is not None
    assert found.hit.breakdown.query_words().missing == ("delete",)
    assert found.obstacle == ""
    assert hit.breakdown.matched == ("removed",)


def test_the_breakdown_says_which_word_was_meant_and_how_nearly(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("Purge", "rows are removed"), make_note("Weather", "it rains"))
    [hit] = index.result("delete").hits
    [reason] = [reason for reason in hit.breakdown.reasons if reason.kind == "meaning"]
    assert (reason.line, reason.asked, reason.found) == ("text", "delete", "remove")
    assert reason.value == pytest.approx(hit.breakdown.text)
    assert reason.likeness == {one.stem: one.likeness for one in meanings("delet")}["remov"]


@pytest.mark.parametrize(
    "query", ["delete", "delete the archive", "delete rows when it rains", "fetch salary rows"]
)
def test_parts_and_reasons_add_up(query: str, make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(
        make_note("Purge", "rows are removed, and erased, and removed"),
        make_note("Archive", "nobody may delete the archive"),
        make_note("Pay", "wages are retrieved by a job"),
        make_note("Weather", "it rains"),
    )
    for hit in index.result(query).hits:
        parts = hit.breakdown
        given = sum(reason.value for reason in parts.reasons if reason.line == "text")
        assert given == pytest.approx(parts.text)
        assert 0 <= parts.text_score <= 1
        assert parts.blend == pytest.approx(parts.text + parts.vector + parts.boost)


def test_a_note_with_the_word_itself_gains_nothing_by_its_neighbours(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("Both", "delete and remove rows"), make_note("Weather", "it rains"))
    with_table, without = index.result("delete rows").hits, index.result("delete rows", settings=OFF).hits
    assert with_table[0].breakdown.blend == pytest.approx(without[0].breakdown.blend)


def test_a_word_of_the_query_is_not_taken_for_the_neighbour_of_another(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("Removal", "remove the cache"),
        *(make_note(f"Weather {day}", "it rains") for day in range(9)),
    )
    [hit] = index.result("delete or remove").hits
    assert {reason.kind for reason in hit.breakdown.reasons} & {"word", "meaning"} == {"word"}


def test_switched_off_nothing_differs_from_a_search_without_the_table(
    make_note: MakeNote, make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index(make_note("Purge", "old rows are removed"), make_note("Weather", "it rains"))

    def unread(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("core.search.terms.meanings", unread)
    assert titles(index, "old rows", OFF) == ["Purge"]


def test_a_long_query_finds_what_holds_one_word_of_the_same_meaning(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("Garage", "the car stands outside"), *(make_note(f"Rain {day}", "wet") for day in range(9))
    )
    long = "whose vehicle needs somebody patient upstairs tomorrow"
    assert titles(index, long) == ["Garage"]
    assert titles(index, long, OFF) == []
    index.synonyms = (("patient", ("rain",)),)
    assert len(titles(index, long)) == 10


def test_no_note_gains_more_by_a_near_word_than_one_by_the_word_itself(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    said = f"Delete the cache of the printer. {'Much is said about boats and harbours here. ' * 40}"
    index = make_index(
        make_note("Exact", said),
        make_note("Near", "remove cache, removed, removing, removes: remove"),
        make_note("Weather", "it rains"),
    )
    exact, near = (index.explain("delete cache", name) for name in ids(index, "Exact", "Near"))
    assert exact is not None
    assert near is not None
    gains = [
        next(
            reason.value
            for reason in found.hit.breakdown.reasons
            if reason.line == "text" and reason.asked == "delete"
        )
        for found in (exact, near)
    ]
    assert gains[0] > gains[1] > 0


def test_what_is_only_a_little_like_the_query_is_no_hit_and_says_so(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("tea", "green"), make_note("kettle", "boil"), make_note("Weather", "it rains")
    )
    assert titles(index, "kettle") == ["kettle"]
    found = index.explain("kettle", ids(index, "tea")[0])
    assert found is not None
    assert found.obstacle == "too little in common"
    assert 0 == found.hit.breakdown.coverage < found.hit.breakdown.reached < found.floor


@pytest.mark.slow
def test_questions_in_other_words_find_more_with_the_table_than_without() -> None:
    data = outside_set(PARAPHRASES).of_split("all")
    gains: dict[float, list[float]] = {0.0: [], SearchSettings().meaning_weight: []}
    for part in data.collections:
        index = SearchIndex()
        index.update(part.snapshot)
        for weight, found in gains.items():
            settings = SearchSettings(meaning_weight=weight)
            for query in part.queries:
                hits = index.result(query.text, settings=settings).hits
                found.append(ndcg([hit.note.id for hit in hits], query.relevant))
    without, with_table = (fmean(found) for found in gains.values())
    assert with_table >= without + 0.06


# Notes in several languages

GERMAN = (
    ("Abgleich", "Die Rollouts werden von Anna gemacht und nicht von der Maschine."),
    ("Rechnung", "Eine Rechnung, die verschickt ist, wird nicht mehr geändert, sondern storniert."),
    ("Entwurf", "Ein Entwurf wird niemandem gezeigt, der nicht zum Team gehört."),
)


def test_a_near_word_is_found_in_a_note_of_another_language_after_the_word_itself(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    notes = [make_note(*note) for note in GERMAN]
    index = make_index(
        *notes,
        make_note("Inventar", "Die Notebooks sind von Anna, und ein Notebook ist nicht mehr da."),
        make_note("Ausleihe", "Ein Laptop wird nicht verschickt, sondern von Anna übergeben."),
        make_note("Weather", "It rains."),
    )
    state = index._state
    assert state is not None
    assert state.count("notebook@german")
    assert not state.count("notebook")
    assert titles(index, "laptop") == ["Ausleihe", "Inventar"]
    assert titles(index, "laptop", OFF) == ["Ausleihe"]
    hit = index.result("laptop").hits[1]
    assert [(reason.asked, reason.found) for reason in hit.breakdown.reasons if reason.kind == "meaning"] == [
        ("laptop", "notebooks")
    ]
    assert set(hit.breakdown.matched) == {"notebook", "notebooks"}


@pytest.mark.parametrize("query", ["delete", "rechnungen", "storniere", "backups", "sell", "die"])
def test_beside_notes_in_other_languages_no_near_word_is_a_reading_of_the_query(
    query: str, make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        *(make_note(*note) for note in GERMAN),
        make_note("Buyer", "Der buyer wird nicht gefragt, und die backups sind von Anna."),
        make_note("Removal", "removed, deleted, erased, buyers and sellers, a backup, they die and are dead"),
    )
    state = index._state
    assert state is not None
    for term in terms(state, parse_query(query, state.languages), 1.0, {}):
        typed = {reading.stem for reading in term.readings} | set(state.stems_of(term.word))
        near = [reading.stem for reading in term.meanings]
        assert not typed.intersection(near)
        assert len(set(near)) == len(near)


def test_function_words_of_a_question_in_another_language_have_no_near_words(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    english = make_note("Worker", "kill it when it is dead"), make_note("History", "a battle was fought")
    assert titles(make_index(*english), "die") == ["Worker"]
    for others in ((), GERMAN):
        index = make_index(*english, *(make_note(*note) for note in others), make_note("Weather", "rain"))
        found = titles(index, "Wann war die Maschine von Frau Huber und die von Anna in der Werkstatt?")
        assert not {"Worker", "History"}.intersection(found)


def test_own_synonyms_stand_for_any_form_of_a_word_in_another_language(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(*(make_note(*note) for note in GERMAN), make_note("Weather", "It rains."))
    assert titles(index, "Fakturen") == []
    index.synonyms = (("Faktura", ("Rechnung",)), ("Fakturen", ("Rechnungen",)))
    assert titles(index, "Fakturen") == ["Rechnung"]
    index.synonyms = (("invoice", ("Rechnungen",)),)
    assert titles(index, "invoices") == ["Rechnung"]
    index = make_index(make_note("Billing", "an invoice is sent"), *(make_note(*note) for note in GERMAN))
    index.synonyms = (("invoice", ("Rechnung",)),)
    assert titles(index, "Rechnungen") == ["Rechnung", "Billing"]


# A person's own


def test_own_synonyms_count_both_ways_and_go_before_the_table(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("Cluster", "kubernetes runs in Frankfurt"),
        make_note("Short", "k9s upgrade on Sunday"),
        make_note("Weather", "it rains"),
    )
    assert titles(index, "k9s") == ["Short"]
    index.synonyms = (("k9s", ("kubernetes",)),)
    assert titles(index, "k9s") == ["Short", "Cluster"]
    assert titles(index, "kubernetes") == ["Cluster", "Short"]
    assert titles(index, "kubernetes", OFF) == ["Cluster"]


def test_several_words_may_stand_for_one(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(
        make_note("Whole", "continuous integration takes an hour"),
        make_note("Half", "an integration of the bank"),
        make_note("Weather", "it rains"),
    )
    index.synonyms = (("ci", ("continuous integration",)),)
    assert titles(index, "ci")[0] == "Whole"


def test_a_word_of_ones_own_answers_as_the_word_itself_and_one_of_the_table_is_not_sure(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("Cluster", "kubernetes runs in Frankfurt"),
        make_note("Purge", "old rows are removed at night"),
        *(make_note(f"Weather {day}", "it rains") for day in range(9)),
    )
    assert index.result("k9s Frankfurt").judgement != "found"
    index.synonyms = (("k9s", ("kubernetes",)),)
    assert index.result("k9s").judgement == "found"
    assert index.result("delete").judgement != "found"


@pytest.mark.parametrize("given", [("", ("",)), ("the", ("and",)), ("same", ("same",)), ("!", ("?", "…"))])
def test_synonyms_of_no_word_change_nothing(
    given: tuple[str, tuple[str, ...]], make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("One", "the same and more"), make_note("Weather", "it rains"))
    before = [hit.breakdown.blend for hit in index.result("same !").hits]
    index.synonyms = (given,)
    assert [hit.breakdown.blend for hit in index.result("same !").hits] == before
    assert by_stem((given,)) is by_stem((given,))


# Tags


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("db port", "database port"), ("env of the build", "build environment"), ("deps update", "dependency updates"),
        ("PR template", "pull request template"), ("deploy cmd", "deploy command"), ("repo owner", "repository owner"),
        ("datenbank port", "database port"), ("sicherung", "backup"),
        ("passwort des servers", "password of the server"),
    ],
)  # fmt: skip
def test_short_forms_and_german_words_find_what_they_stand_for(asked: str, title: str) -> None:
    titles = (
        "database port", "build environment", "dependency updates", "pull request template", "deploy command", "backup",
        "repository owner", "password of the server", "unit tests", "port of the gateway", "deploy day",
        "owner of the van",
    )  # fmt: skip
    notes = (
        Note(id=f"n{place}", nugget_name="web", title=one, content="as written there")
        for place, one in enumerate(titles)
    )
    index = SearchIndex()
    index.update(Snapshot(notes=tuple(notes)))
    result = index.result(asked, 3)
    best = max(result.hits, key=lambda hit: hit.breakdown.likelihood)
    assert (result.judgement, best.note.title) == ("found", title)
