"""A memory in German, French and Spanish: recall, exact words and exclusions reach it as they reach an English one."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Memory
from core.graph.edits import create_note
from core.model.draft import Draft

GERMAN = {
    "Staging": "Die Datenbank läuft auf Port 5433, das Passwort liegt im Tresor von Anna.",
    "Größe der Anhänge": "Anhänge dürfen nicht größer sein als 20 MB, weil der Server sie sonst ablehnt.",
    "Sicherungen": "Wir machen jede Nacht eine Sicherung mit restic und prüfen sie an jedem Montag.",
    "Rechnungen": "Eine Rechnung, die verschickt ist, wird nicht mehr geändert, sondern storniert.",
    "Entwurf": "Ein Entwurf wird niemandem gezeigt, der nicht zum Team gehört.",
}
FRENCH = {
    "Sauvegardes": "Les sauvegardes sont faites chaque nuit et vérifiées par Paul le lundi.",
    "Clés": "Les clés de chiffrement sont renouvelées tous les trois mois et gardées dans Vault.",
}
SPANISH = {
    "Contraseñas": "Las contraseñas se guardan en el gestor de Lucía, que las renueva cada mes.",
    "Pruebas": "Las pruebas que tardan más de un minuto se ejecutan sólo por la noche.",
}
ENGLISH = {
    "Retry policy": "Webhooks are retried five times with full jitter before they are dropped.",
    "Release plan": "We release on Tuesdays after the smoke tests have passed.",
    "Worker": "A worker may die when the build takes more than 2 GB.",
    "Invoices": "Invoices are sent on Fridays and rounded line by line.",
    "Colours": "The brand blue is used for links alone, never for warnings.",
}
FOREIGN = (
    "Wo liegt das Passwort der Datenbank?",
    "Wie groß darf ein Anhang sein?",
    "Wer prüft die Sicherung am Montag?",
    "Qui vérifie les sauvegardes ?",
    "quand renouveler une clé de chiffrement",
    "¿Quién renueva la contraseña?",
    "cuándo se ejecuta una prueba lenta",
)


def memory_of(home: Path, notes: dict[str, str]) -> Memory:
    memory = Memory.open(home)

    def build(draft: Draft) -> None:
        for title, content in notes.items():
            create_note(draft, "team", title, content)

    memory.change("written", build)
    return memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return memory_of(tmp_path_factory.mktemp("memory"), {**GERMAN, **FRENCH, **SPANISH, **ENGLISH})


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return memory_of(tmp_path_factory.mktemp("english"), ENGLISH)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Wo liegt das Passwort der Datenbank?", "Staging"),
        ("Wie gross darf ein Anhang sein?", "Größe der Anhänge"),
        ("Wer prüft die Sicherungen am Montag?", "Sicherungen"),
        ("werden verschickte Rechnungen storniert", "Rechnungen"),
        ("Qui vérifie la sauvegarde ?", "Sauvegardes"),
        ("quand renouveler une clé de chiffrement", "Clés"),
        ("¿Quién renueva la contraseña?", "Contraseñas"),
        ("cuándo se ejecuta una prueba que tarda un minuto", "Pruebas"),
        ("how often are webhooks retried", "Retry policy"),
        ("¿Qué es el jitter?", "Retry policy"),
        ("was ist im Vault", "Clés"),
        ("Groesse der Anhaenge", "Größe der Anhänge"),
        ("grosse der anhange", "Größe der Anhänge"),
    ],
)
def test_recall_answers_a_question_in_the_language_of_the_note(
    memory: Memory, question: str, title: str
) -> None:
    found = memory.recall(question, record=False)
    assert found.found, found
    assert found.key == title


@pytest.mark.parametrize("question", FOREIGN)
def test_an_english_memory_knows_nothing_of_a_question_in_another_language(
    english: Memory, question: str
) -> None:
    assert english.search.result(question).judgement == "nothing"
    found = english.recall(question, record=False)
    assert not found.found
    assert not found.candidates


@pytest.mark.parametrize(
    "question",
    ["Wie heißt der Hund von Jonas?", "où est la piscine de Lyon", "¿cuánto cuesta el billete de tren?"],
)
def test_a_memory_in_many_languages_knows_nothing_of_what_only_shares_function_words(
    memory: Memory, question: str
) -> None:
    assert memory.search.result(question).judgement == "nothing"
    assert not memory.recall(question, record=False).found


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ('"auf Port 5433"', "Staging"),
        ('"nicht größer sein"', "Größe der Anhänge"),
        ('+"sondern storniert"', "Rechnungen"),
        ('"sont renouvelées tous les"', "Clés"),
        ('"que las renueva"', "Contraseñas"),
    ],
)
def test_exact_words_find_the_note_that_holds_them_function_words_among_them(
    memory: Memory, words: str, title: str
) -> None:
    result = memory.search.result(words)
    assert result.hits[0].note.title == title
    assert not [clause for clause in result.clauses if clause.broken]


@pytest.mark.parametrize(
    ("words", "left_out", "left"),
    [
        ("Nacht Passwort -Datenbank", "Staging", "Sicherungen"),
        ("noche mes -contraseñas", "Contraseñas", "Pruebas"),
    ],
)
def test_a_word_of_a_note_in_another_language_is_excluded(
    memory: Memory, words: str, left_out: str, left: str
) -> None:
    titles = [hit.note.title for hit in memory.search(words)]
    assert left in titles
    assert left_out not in titles


def test_a_question_that_parts_or_joins_words_is_recalled_as_the_note_has_them(memory: Memory) -> None:
    found = memory.recall("Größe der An hänge", record=False)
    assert found.found
    assert found.key == "Größe der Anhänge"
