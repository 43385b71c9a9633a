"""The judgement of a whole search: what the fitted rule promises, on its own memories and on small ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search import SearchIndex
from core.search.judge import FOUND_FROM, OFFERED_FROM, Evidence, by_rule, judged

sys.path.insert(0, str(Path(__file__).parents[3] / "tools" / "judgement"))

from benchmarks.retrieval_memories import asked as opened
from benchmarks.retrieval_sets import DataSet, languages_set, own_set, unanswered_set
from memories import SmallMemory, written


class Outcome(NamedTuple):
    """Claims that are right, wrong, and of what the memory does not tell of."""

    right: int
    wrong: int
    foreign: int


def asked(memory: SmallMemory) -> Outcome:
    index = SearchIndex()
    index.update(memory.snapshot)
    claimed = [(claim(index, text), answers) for text, answers in memory.asked]
    return Outcome(
        right=sum(id in answers for id, answers in claimed if id),
        wrong=sum(id not in answers for id, answers in claimed if id),
        foreign=sum(claim(index, text) != "" for text in foreign_to(memory)),
    )


def foreign_to(memory: SmallMemory) -> list[str]:
    """What was written beside a memory and a part of what others are asked."""
    return [*memory.near, *[text for text in memory.foreign if text not in memory.near][::8]]


def claim(index: SearchIndex, text: str) -> str:
    """The id of the note that is claimed to answer; "" for none."""
    result = index.result(text, 3)
    if result.judgement != "found":
        return ""
    return max(result.hits, key=lambda hit: hit.breakdown.likelihood).note.id


@pytest.mark.slow
def test_claims_are_right_and_few_questions_that_nothing_answers_are_claimed() -> None:
    memories = written()
    outcomes = [asked(memory) for memory in memories]
    right, wrong = sum(one.right for one in outcomes), sum(one.wrong for one in outcomes)
    assert right >= 0.92 * (right + wrong)
    assert right >= 0.62 * sum(len(one.asked) for one in memories)
    assert sum(one.foreign for one in outcomes) <= 0.05 * sum(len(foreign_to(one)) for one in memories)


@pytest.mark.slow
def test_on_a_memory_that_fitted_nothing_claims_are_right_and_foreign_questions_are_not_claimed() -> None:
    (held_out,) = languages_set().collections
    foreign = [text for one in written() if one.about != {"software"} for text, _ in one.asked]
    outcome = asked(
        SmallMemory(
            name="languages",
            members=frozenset(("languages",)),
            about=frozenset(("software",)),
            snapshot=held_out.snapshot,
            asked=tuple((query.text, frozenset(query.relevant)) for query in held_out.queries),
            foreign=tuple(foreign),
        )
    )
    assert outcome.right >= 0.85 * (outcome.right + outcome.wrong)
    assert outcome.right >= 0.7 * len(held_out.queries)
    assert outcome.foreign <= 0.04 * len(foreign[::8])


def recalled(data: DataSet) -> tuple[list[bool], list[bool], list[bool]]:
    """Of the questions that something answers whether search's first hit is right, and whether recall's answer is; and
    of the others whether recall answers.
    """
    first, right, foreign = [], [], []
    for part in data.collections:
        with opened(part.snapshot) as memory:
            for query in part.queries:
                answer = memory.recall(query.text).note_id
                if query.is_miss:
                    foreign.append(answer is not None)
                else:
                    first.append(any(id in query.relevant for id in memory.search(query.text, 1).ids))
                    right.append(answer in query.relevant)
    return first, right, foreign


@pytest.mark.slow
@pytest.mark.parametrize("data", [own_set, unanswered_set])
def test_recall_answers_few_questions_that_the_memory_does_not_and_most_that_it_does(
    data: Callable[[], DataSet],
) -> None:
    first, right, foreign = recalled(data())
    assert sum(foreign) <= 0.04 * len(foreign)
    assert sum(right) >= 0.8 * sum(first)


ANNA = (
    ("laptop", "Laptops", "Anna's laptop backs up with Time Machine, quota 1 TB."),
    ("router", "Router", "The router is an OPNsense box, updated on Saturdays."),
    ("mirror", "Mirror", "The mirror of the package index is filled at night."),
)


@pytest.mark.parametrize(
    "text", ["anna birthday", "when is Anna's birthday?", "anna's shoe size", "anna salary"]
)
def test_a_name_is_no_answer_where_no_note_tells_what_was_asked_of_it(text: str) -> None:
    index = index_of(*(note(*one) for one in ANNA))
    result = index.result(text)
    assert result.judgement != "found"
    assert [hit.note.id for hit in result.hits] == ["laptop"]
    explained = index.explain(text, "laptop")
    assert explained is not None
    assert explained.nowhere in (("birthday",), ("shoe",), ("salary",))
    assert index.result("how does Anna's laptop back up").judgement == "found"


def test_a_port_is_answered_by_the_fact_whose_value_it_is() -> None:
    facts = [
        note(f"f{place}", key, value, kind="fact", source_key=key)
        for place, (key, value) in enumerate(
            {
                "mailpit": "http://localhost:8025",
                "local postgres port": "5433",
                "editor": "helix, dark",
            }.items()
        )
    ]
    index = index_of(*facts)
    assert index.result("5433").judgement == index.result("8025").judgement == "found"


def test_a_single_word_that_one_note_alone_holds_is_no_answer_beside_unknown_ones() -> None:
    index = index_of(
        note("glossary", "Glossary", "dunning: asking again"), note("keys", "Key rotation", "Every 90 days")
    )
    assert index.result("what does dunning mean").judgement == "found"
    assert index.result("dunning of elephants in Borneo").judgement != "found"


def test_more_evidence_is_never_less_likely() -> None:
    steps = [place / 10 for place in range(11)]
    least = Evidence(0.5, titled=0.5)
    for name in ("coverage", "titled", "ahead", "more"):
        values = [by_rule(least._replace(**{name: value})) for value in steps]
        assert values == sorted(values)
        assert all(0 <= value <= 1 for value in values)
    assert by_rule(least._replace(lone=True)) < by_rule(least)
    assert by_rule(Evidence(0.0)) == 0
    assert [judged(value) for value in (0.0, OFFERED_FROM, FOUND_FROM)] == ["nothing", "not sure", "found"]
    assert (judged(0.2, 0.2, 0.1), judged(0.2, 0.1, 0.04)) == ("not sure", "nothing")


def test_two_notes_that_answer_as_well_are_no_claim_unless_the_newest_is_asked_for() -> None:
    index = index_of(
        note("old", "Rate limit", "The rate limit of the API is 60.", created_at="2026-01-01T00:00:00.000Z"),
        note("new", "Rate limit", "The rate limit of the API is 90.", created_at="2026-03-01T00:00:00.000Z"),
        *(note(f"k{place}", f"Kettle {place}", "boils tea on the stove") for place in range(30)),
    )
    assert index.result("rate limit of the API").judgement == "not sure"
    now = index.result("what is the rate limit of the API now")
    assert now.judgement == "found"
    assert max(now.hits, key=lambda hit: hit.breakdown.likelihood).note.id == "new"


def test_two_notes_that_say_the_same_are_one_claim() -> None:
    text = "The rate limit of the API is 60."
    index = index_of(note("a", "Rate limit", text), note("b", "Rate limit", text))
    assert index.result("rate limit").judgement == "found"


def test_a_long_note_is_judged_by_its_passage() -> None:
    filler = "Boring sentences about the weather in the harbour follow one another without end. " * 60
    scattered = (
        f"Postgres is named here. {filler} A pool of swimmers. {filler} Timeout of the referee. {filler}"
    )
    together = f"{filler} The timeout of the postgres pool is ten seconds. {filler}"
    question = "timeout of the postgres pool"
    apart = index_of(note("a", "Notes", scattered)).explain(question, "a")
    close = index_of(note("a", "Notes", together)).explain(question, "a")
    assert apart is not None
    assert close is not None
    assert close.best > apart.best + 0.1


def note(id: str, title: str, content: str, **fields: object) -> Note:
    return Note(id=id, nugget_name="web", title=title, content=content, **fields)  # type: ignore[arg-type]


def index_of(*notes: Note) -> SearchIndex:
    index = SearchIndex()
    index.update(Snapshot(notes=notes))
    return index


STONES = index_of(
    note("stones", "Stones", "granite sandstone marble"),
    *(note(f"k{place}", f"Kettle {place}", "boils tea on the stove") for place in range(30)),
)


def test_everything_in_common_is_ranked_and_what_is_less_likely_comes_last() -> None:
    result = STONES.result("granite sandstone marble kettle", 40)
    assert result.judgement == "found"
    assert len(result.hits) == 31
    sure = [hit.sure for hit in result.hits]
    assert sure == sorted(sure, reverse=True)
    assert [hit.note.id for hit in result.hits if hit.sure] == ["stones"]


def test_where_nothing_is_found_no_hit_is_sure() -> None:
    for text in ("granite of a volcano in Iceland", "zebra", "tea for the queen of Sheba"):
        result = STONES.result(text, 10)
        assert result.judgement != "found"
        assert not any(hit.sure for hit in result.hits)


def test_a_whole_query_word_for_word_or_a_title_leaves_no_doubt() -> None:
    assert STONES.result("Stones").judgement == "found"
    assert STONES.result("sandstone marble").judgement == "found"


@pytest.mark.parametrize("text", ["granit", "granite", "sandston marble"])
def test_a_word_half_typed_or_misspelt_is_found(text: str) -> None:
    assert STONES.result(text).judgement == "found"


def test_in_a_memory_of_one_note_a_word_of_it_counts_as_much_as_one_that_is_not() -> None:
    index = index_of(note("one", "Deploy day", "Deploys go out on Tuesdays."))
    assert index.result("deploy tuesdays").judgement == "found"
    assert index.result("deploy the submarine periscope").judgement != "found"
    assert index.result("periscope").judgement == "nothing"


def test_an_explanation_tells_the_judgement_and_the_likelihood() -> None:
    explained = STONES.explain("granite of a volcano in Iceland", "stones")
    assert explained is not None
    assert explained.judgement != "found"
    assert explained.best == explained.hit.breakdown.likelihood < FOUND_FROM
    assert not explained.hit.sure


def test_a_note_that_asks_what_is_asked_is_no_answer() -> None:
    said, text = "The copper kettle is descaled by the office kitchen", "descaling the copper kettle"
    assert claim(index_of(note("one", "Kettle", f"{said}.")), text) == "one"
    assert claim(index_of(note("one", "Kettle", f"{said}?")), text) == ""


def test_a_fact_is_not_claimed_for_another_thing_under_its_name() -> None:
    tea = [note(f"tea{number}", f"tea {number}", "green") for number in range(20)]
    index = index_of(note("one", "vpn port", "51820", kind="fact"), *tea)
    assert claim(index, "what is the vpn port") == "one"
    assert claim(index, "what is the vpn password") == ""


PROJECT = index_of(
    note(
        "scan",
        "Attachments are scanned",
        "Every attachment goes through ClamAV before anybody may download it.",
    ),
    note("keys", "Signing keys", "The upload keystore is in the vault Mobile, entry android-upload."),
    note("limits", "Rate limits", "Anonymous clients get 60 requests a minute."),
    note("keep", "Backups", "Dumps are stored for 35 days in Helsinki."),
    note("index", "Search index", "The index is made anew with just reindex."),
    note("dedup", "Deduplication", "Rows are deduplicated by event id."),
    *(
        note(f"f{place}", key, value, kind="fact", source_key=key)
        for place, (key, value) in enumerate(
            {
                "minimum supported rust version": "1.79",
                "test command": "cargo nextest run",
                "dev server port": "8042",
                "staging url": "https://staging.example",
                "payment provider": "Mollie",
                "raw data topic": "raw.v2",
            }.items()
        )
    ),
    *(note(f"k{place}", f"Kettle {place}", "boils tea on the stove") for place in range(20)),
)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("tset comand", "f1"),
        ("msrv", "f0"),
        ("how long are backups stored", "keep"),
        ("wie lange werden Backups aufbewahrt", "keep"),
        ("where is the upload keystore", "keys"),
        ("duplicate rows", "dedup"),
        ("Zahlungsanbieter", "f4"),
        ("port beim Entwicklungsserver", "f2"),
        ("cmd to test", "f1"),
    ],
)
def test_a_hurried_question_is_answered(text: str, right: str) -> None:
    assert claim(PROJECT, PROJECT.respelt(text)) == right


@pytest.mark.parametrize(
    "text",
    [
        "api key for ClamAV",
        "port of the admin server",
        "production url",
        "rate limits for partners",
        "signing keys for windows",
        "shipping provider",
        "how are rate limits numbered",
    ],
)
def test_what_is_known_of_another_thing_is_no_claim(text: str) -> None:
    assert claim(PROJECT, PROJECT.respelt(text)) == ""


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Rohdaten", "raw data"),
        ("Entwicklungsserver", "dev server"),
        ("wie oft reisen Dumps", "wie oft dumps"),
        ("we do run it", "we do run it"),
        ("raw", "raw"),
    ],
)
def test_unknown_words_are_read_as_what_the_notes_call_it(text: str, read: str) -> None:
    assert PROJECT.respelt(text) == read


def test_a_usual_word_is_not_taken_for_another_that_is_written_like_it() -> None:
    index = index_of(note("chart", "Chart", "leaked its bitmap"), note("port", "port", "8042"))
    assert claim(index, "which chat") == ""
    assert claim(index, "prot") == "port"
