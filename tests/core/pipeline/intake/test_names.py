"""What counts as a name, and what only has a capital."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.coding_sessions import coding_sessions
from kits.hostile import HOSTILE

from core.pipeline.intake.names import SCANNED, canonical_name, find_names

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "linker_names.json").read_text("utf-8"))


def names(text: str, *known: str) -> list[str]:
    return [found.name for found in find_names(text, frozenset(known))]


def test_names_are_those_that_the_format_says() -> None:
    for vector in VECTORS:
        assert names(vector["input"]) == vector["expected"]


def test_scripts_code_and_everyday_capitals() -> None:
    for text, expected in [
        ("we use React; Vue: Svelte", ["React", "Vue", "Svelte"]),
        ("Docker; Podman; Kubernetes", ["Docker", "Podman", "Kubernetes"]),
        ("on Friday in May the Todo Status", []),
        ("with Élodie Durand and Łukasz", ["Élodie Durand", "Łukasz"]),
        ("E\u0301lodie Durand came", ["Élodie Durand"]),
        ("Иван Петров работает", ["Иван Петров"]),
        ("see `snake_case` and `camelCase`, not `npm` or `ls -la`", ["snake_case", "camelCase"]),
        ("take @scope/pkg today", ["@scope/pkg"]),
        ("read src/auth/keys.py:12 first", ["src/auth/keys.py"]),
        ("see https://Example.com/Foo/Bar.py", []),
        ("GPT-4 beats Qwen3", ["GPT-4", "Qwen3"]),
        ("we met Dr. Smith", ["Smith"]),
        ("use SQLAlchemy in VSCode with LLaMA", ["SQLAlchemy", "VSCode", "LLaMA"]),
        (
            "ask Senior Engineer Maya Lindqvist, Herr Brandt or Frau Dr. Keller",
            ["Maya Lindqvist", "Brandt", "Keller"],
        ),
        ("予約アプリKazenoの検索はRedisです", ["Kazeno", "Redis"]),
        ("我们用PostgreSQL而不是MongoDB", ["PostgreSQL", "MongoDB"]),
        ("Redis를 Valkey로 바꿨습니다", ["Redis", "Valkey"]),
        ("田中さんがGoogle Cloudを担当しています", ["田中", "Google Cloud"]),
        ("the API, the JSON of its URLs and an ID", []),
        ("Don't ask. I'm here. They've gone", []),
    ]:
        assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Deployment uses docker",
        "Caching helped",
        "Current",
        "Bananas everywhere",
        "Quickly, quickly",
        "- Banana",
    ],
)
def test_a_word_that_only_opens_a_sentence_is_no_name(text: str) -> None:
    assert names(text) == []


def test_what_people_say_in_between_and_nouns_of_german_are_no_names() -> None:
    for text in [
        "Noted. Running it now.",
        "Assistant: Noted. Looking into that.",
        "**User:** Perfect, thanks",
        "Nutzer: Wunderbar. Wir testen morgen.",
        "Utilisateur : Très bien. Merci !",
        "Usuario: Perfecto. Ya no.",
        "## Next Steps And Open Questions",
        "Traces go there. Alerts go here.",
        "Wir haben die Datei beim Import der Lieferanten gelesen und den Vertrag mit der Bank gekündigt",
    ]:
        assert names(text) == []


@pytest.mark.parametrize(
    "printed",
    [
        "    Building Target Emberfall",
        "2026-11-17T09:12:44Z INFO Listening On Port",
        "[ 97%] Linking Executable Emberfall",
        "\tat com.acme.Ledger.settle(Ledger.java:211)",
        "```\nSuccessfully Built Wheel\n```",
        "$ docker run Postgres",
        "Traceback (most recent call last):",
    ],
)
def test_what_a_program_printed_names_nothing(printed: str) -> None:
    assert names(f"Here is what it said:\n{printed}\nand Maya saw it") == ["Maya"]


def test_names_of_twenty_labelled_sessions_are_found_and_little_else() -> None:
    right, wrong, missed = set[str](), set[str](), set[str]()
    for session in coding_sessions():
        labelled = {f"{session.name} {canonical_name(name)}" for name in session.names}
        found = {f"{session.name} {name.canonical_name}" for name in find_names(session.text)}
        right |= labelled & found
        wrong |= found - labelled
        missed |= labelled - found
    assert len(coding_sessions()) >= 20
    assert len(right) >= 0.92 * len(right | wrong), sorted(wrong)
    assert len(right) >= 0.75 * len(right | missed), sorted(missed)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Bananas everywhere. We like Bananas", ()),
        ("Bananas everywhere", ("bananas",)),
        ("Bananas likes tea. Bananas everywhere", ()),
    ],
)
def test_a_word_that_opens_a_sentence_counts_where_something_says_so(
    text: str, known: tuple[str, ...]
) -> None:
    assert names(text, *known) == ["Bananas"]


def test_who_does_something_is_a_name_whatever_it_is() -> None:
    for name in ["Caroline", "Redis"]:
        for said in [
            "emailed the plan",
            "threw a party",
            "understands Rust",
            "will call back",
            "quickly replied",
            "also swims",
            "just refactored it",
            "who painted it left",
            "hasn't called",
            "died in 1969",
        ]:
            assert find_names(f"{name} {said}")[0].name == name


def test_what_happens_to_everyday_things_makes_no_name_of_them() -> None:
    for text in [
        "Bananas rotted",
        "Deploys failed",
        "Merged the branch",
        "Coffee helped",
        "Lunch was late",
        "Traffic increased",
        "Nothing happened",
        "Customers who asked got it",
        "Fixed parser crash",
        "Weather changed",
    ]:
        assert names(text) == []


def test_a_word_that_stands_in_lower_case_too_is_no_name() -> None:
    assert names("Bananas makes sense. We like bananas") == []


def test_a_name_is_listed_once_with_all_its_places() -> None:
    text = "We met Anna. With ANNA's, no: with Anna’s friend"
    found = find_names(text)
    assert [one.canonical_name for one in found] == ["anna"]
    assert [span.of(text) for span in found[0].spans] == ["Anna", "ANNA", "Anna"]


@given(
    st.text()
    | st.lists(st.sampled_from(["Anna", "`a_b`", "a/b.py", ", ", " ", ". ", "\n", "the", "`", "'s"])).map(
        "".join
    )
)
def test_each_place_holds_its_name(text: str) -> None:
    found = find_names(text)
    assert len({one.canonical_name for one in found}) == len(found)
    for one in found:
        assert one.spans == tuple(sorted(set(one.spans)))
        assert all(canonical_name(span.of(text)) == one.canonical_name for span in one.spans)
    assert [one.spans[0] for one in found] == sorted(one.spans[0] for one in found)


def test_hostile_texts_are_read() -> None:
    for text in HOSTILE:
        find_names(text)
        find_names(f"Anna likes {text}")


def test_no_more_than_the_first_part_of_a_text_is_looked_at() -> None:
    for unit in ["A", "Aa ", "`", "`a_b` ", "a/", "a.b ", "'", "((", ". ", "Aa, ", "…", "\n", "@a/b "]:
        text = unit * (1_000_000 // len(unit))
        assert find_names(text) == find_names(text[:SCANNED])
