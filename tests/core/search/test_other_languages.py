"""Notes in German, French, Spanish and scripts without spaces are found as English ones are, beside each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import SearchIndex

GERMAN = (
    ("Datenbank", "Die Datenbank für Berichte läuft auf Port 5433, das Passwort liegt im Tresor von Anna."),
    ("Größe der Anhänge", "Anhänge dürfen nicht größer sein als 20 MB, weil der Server sie sonst ablehnt."),
    ("Sicherungen", "Wir machen jede Nacht eine Sicherung mit restic und prüfen sie an jedem Montag."),
    ("Auslieferung", "Das Skript deploy_prod.sh liefert auf fly.io aus; der Schlüssel ist FLY_API_TOKEN."),
)
FRENCH = (
    ("Sauvegardes", "Les sauvegardes sont faites chaque nuit avec restic, et vérifiées par Paul le lundi."),
    ("Décision sur le cache", "Nous avons décidé de ne pas mettre les prix dans le cache Redis."),
    ("Déploiement", "Le service est déployé par kubectl apply, jamais à la main."),
)
SPANISH = (
    ("Configuración", "La configuración del servidor está en settings.yaml y no se cambia a mano."),
    ("Contraseñas", "Las contraseñas se guardan en el gestor de Lucía, que las renueva cada mes."),
)
ENGLISH = (
    ("Retry policy", "Webhooks are retried five times with full jitter before they are dropped."),
    ("Die in the build", "A worker may die when the build takes more than 2 GB; restart it with make again."),
    ("Release plan", "We release on Tuesdays after the smoke tests have passed."),
    ("Café menu", "The café opens at nine and has a gift shop."),
)
JAPANESE = (("請求書テンプレート", "請求書は毎月1日に自動で送信される。担当は田中さん。"),)
ALL = (*GERMAN, *FRENCH, *SPANISH, *ENGLISH, *JAPANESE)

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]


@pytest.fixture
def index(make_note: MakeNote, make_index: MakeIndex) -> SearchIndex:
    return make_index(*(make_note(title, content) for title, content in ALL))


def first(index: SearchIndex, query: str) -> str:
    hits = index.result(query).hits
    return hits[0].note.title if hits else ""


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Wo liegt das Passwort der Datenbank?", "Datenbank"),
        ("Datenbanken", "Datenbank"),
        ("Wie groß dürfen Anhänge sein?", "Größe der Anhänge"),
        ("welcher Anhang ist zu gross", "Größe der Anhänge"),
        ("Wann prüfen wir die Sicherung?", "Sicherungen"),
        ("Wer prüft les sauvegardes", "Sauvegardes"),
        ("Qui vérifie la sauvegarde ?", "Sauvegardes"),
        ("pourquoi décider de ne pas cacher les prix", "Décision sur le cache"),
        ("comment déployer le service", "Déploiement"),
        ("¿Dónde está la configuración de los servidores?", "Configuración"),
        ("configuraciones", "Configuración"),
        ("quién renueva la contraseña", "Contraseñas"),
        ("how often is a webhook retried", "Retry policy"),
        ("why did the worker die", "Die in the build"),
        ("請求書 送信", "請求書テンプレート"),
        ("田中", "請求書テンプレート"),
    ],
)
def test_a_question_in_the_language_of_a_note_finds_it(index: SearchIndex, query: str, title: str) -> None:
    assert first(index, query) == title


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("what does deploy_prod.sh do", "Auslieferung"),
        ("where is the fly api token used", "Auslieferung"),
        ("who uses kubectl", "Déploiement"),
        ("Wo ist settings.yaml?", "Configuración"),
        ("Wofür haben wir Redis?", "Décision sur le cache"),
        ("¿Qué es el jitter?", "Retry policy"),
        ("Was macht Lucia?", "Contraseñas"),
        ("tanaka 田中 invoices", "請求書テンプレート"),
    ],
)
def test_a_question_in_one_language_finds_names_and_code_in_notes_of_another(
    index: SearchIndex, query: str, title: str
) -> None:
    assert first(index, query) == title


@pytest.mark.parametrize("note", ["Größe", "Groesse", "Grosse", "größe der anhaenge", "Gro\u0308ße"])
@pytest.mark.parametrize("query", ["Größe", "Groesse", "Grosse", "GRÖSSE", "Gro\u0308ße"])
@pytest.mark.parametrize(
    "rest", ["Die Anhänge sind zu groß für das Postfach und werden abgelehnt.", "20 MB", ""]
)
@pytest.mark.parametrize("beside", [ENGLISH, GERMAN[2:]])
def test_umlauts_typed_or_not_find_each_other_in_any_note(
    make_note: MakeNote,
    make_index: MakeIndex,
    note: str,
    query: str,
    rest: str,
    beside: tuple[tuple[str, str], ...],
) -> None:
    index = make_index(*(make_note(*other) for other in beside), make_note(note, rest))
    assert first(index, query) == note


@pytest.mark.parametrize(
    ("title", "query"), [("Café", "cafe"), ("Cafe", "café"), ("Señal", "senal"), ("naive", "naïve")]
)
def test_accents_typed_or_not_find_each_other(
    make_note: MakeNote, make_index: MakeIndex, title: str, query: str
) -> None:
    assert first(make_index(make_note("Tea", "kettle"), make_note(title, "quota")), query) == title


@pytest.mark.parametrize("query", ["Größe", "Groesse", "Grosse"])
def test_notes_that_write_umlauts_in_either_way_are_found_together(
    make_note: MakeNote, make_index: MakeIndex, query: str
) -> None:
    index = make_index(*(make_note(*note) for note in GERMAN[2:]), make_note("Größe"), make_note("Groesse"))
    assert {hit.note.title for hit in index.result(query).hits} == {"Größe", "Groesse"}


def test_an_english_word_is_no_other_spelling_of_another(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("Quota of moats"), make_note("Kettle poem"), make_note("Kettle pom"))
    assert [hit.note.title for hit in index.result("poem").hits] == ["Kettle poem"]


@pytest.mark.parametrize("name", ["Michael", "Michal"])
def test_beside_german_notes_another_spelling_never_stands_before_the_word_itself(
    make_note: MakeNote, make_index: MakeIndex, name: str
) -> None:
    names = (
        make_note("Michael", "reviews the builds"),
        make_note("Michal", "reviews the builds, all of them"),
    )
    assert first(make_index(*(make_note(*note) for note in GERMAN), *names), name) == name


def test_function_words_of_a_note_in_another_language_find_nothing(index: SearchIndex) -> None:
    for query in ("der das und", "les avec par", "que la del", "nicht weil sie", "chaque sont"):
        assert index.result(query).hits == (), query


def test_an_english_word_that_serves_grammar_elsewhere_stays_a_word(index: SearchIndex) -> None:
    assert [hit.note.title for hit in index.result("die").hits] == ["Die in the build"]
    assert first(index, "build die") == "Die in the build"


def test_a_sentence_of_a_note_in_another_language_is_found_word_for_word(index: SearchIndex) -> None:
    for title, content in (*GERMAN, *FRENCH, *SPANISH):
        phrase = " ".join(content.split()[1:8]).rstrip(",;.")
        hit = index.result(phrase).hits[0]
        assert hit.note.title == title
        assert any(reason.kind == "phrase" for reason in hit.breakdown.reasons), phrase


def test_words_of_other_languages_are_marked_in_the_form_that_stands_there(index: SearchIndex) -> None:
    hit = index.result("Datenbanken Berichten").hits[0]
    assert {"datenbank", "berichte"} <= set(hit.breakdown.matched)
    assert all("@" not in f"{reason.asked} {reason.found}" for reason in hit.breakdown.reasons)


def test_notes_in_other_languages_change_nothing_of_what_english_finds_in_english(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    english = [make_note(*note) for note in ENGLISH]
    alone = make_index(*english)
    beside = make_index(*english, *(make_note(*note) for note in (*GERMAN, *FRENCH, *SPANISH)))
    for query in (
        "retry policy",
        "smoke tests on tuesday",
        "worker restart",
        "gift shop",
        "full jitter drop",
    ):
        assert [hit.note.title for hit in alone.result(query).hits][:1] == [
            hit.note.title for hit in beside.result(query).hits
        ][:1]


@pytest.mark.slow
def test_an_index_that_followed_a_change_of_language_equals_a_fresh_one(make_note: MakeNote) -> None:
    notes = [make_note(*note) for note in ALL]
    followed = SearchIndex()
    followed.update(Snapshot(notes=tuple(notes)))
    english = "The database of reports listens on port 5433 and the password is with Anna."
    histories = [
        [replace(notes[0], content=english), *notes[1:]],
        notes[4:],
        [note for note in notes if note.title in dict(ENGLISH)],
        [replace(note, content=GERMAN[0][1]) for note in notes],
        notes,
    ]
    queries = (
        "Datenbanken der Berichte",
        "worker die",
        "les sauvegardes",
        "contrasena",
        "port 5433",
        "Grosse",
    )
    for history in histories:
        snapshot = Snapshot(notes=tuple(history))
        followed.update(snapshot)
        fresh, restored = SearchIndex(), SearchIndex()
        fresh.update(snapshot)
        restored.restore({name: bytes(block) for name, block in followed.blocks().items()}, snapshot)
        assert restored.read_anew == 0
        for query in queries:
            expected = [(hit.note.id, pytest.approx(hit.breakdown.blend)) for hit in fresh.result(query).hits]
            for other in (followed, restored):
                assert [(hit.note.id, hit.breakdown.blend) for hit in other.result(query).hits] == expected


def test_a_hit_explains_itself(index: SearchIndex) -> None:
    for query, title in (("Datenbanken", "Datenbank"), ("sauvegarde nuit", "Sauvegardes")):
        hit = index.result(query).hits[0]
        assert hit.note.title == title
        summed = sum(reason.value for reason in hit.breakdown.reasons)
        assert summed == pytest.approx(hit.breakdown.blend, abs=1e-6)
