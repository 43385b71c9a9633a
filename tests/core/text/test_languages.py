"""Languages of texts by their function words, and words of each language with their forms, accents typed or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.languages import LANGUAGES, Language, language_of, respelt, stem_in, with_umlauts_spelt_out
from core.text.tokens import fold, stem, words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Datenbank läuft auf Port 5433, das Passwort liegt im Tresor", "german"),
        ("Staging-Datenbank laeuft auf Port 5433, Passwort im Vault", "german"),
        ("Nous avons choisi Postgres parce que les rapports en ont besoin", "french"),
        ("Elegimos Postgres porque los informes lo necesitan para las uniones", "spanish"),
        ("We chose Postgres because the reports need joins", "english"),
        ("The build may die in the des module, and der is a format of keys", "english"),
        ("It's the team's rule: don't deploy on Fridays", "english"),
        ("GitHub's API can't page", "english"),
        ("pour plus sans-serif fonts into header body footer title label chart table menu", "english"),
        ("Die Übersetzungen stehen in locales/de.json; Lücken fallen auf Englisch zurück", "german"),
        ("Zoë Müller met the cast of Die Fledermaus in Zürich", "english"), ("Die Ärzte live", "english"),
        ("supported locales en, de, fr, sv, cs, ar, he, ja", "english"),
        ("da de el en es fr it ja la le se", "english"),
        ("El servidor de correo está en Madrid", "spanish"), ("Datenbank Passwort", "english"),
        ("die", "english"), ("la base de datos", "english"), ("pytest -q --lf && git push", "english"),
        ("東京のサーバーは夜に止まる", "english"), ("Сервер в Москве", "english"), ("", "english"),
    ],
)  # fmt: skip
def test_a_text_is_in_the_language_whose_function_words_lead_clearly(text: str, language: Language) -> None:
    assert language_of(words(text), text) == language


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("german", "Größe Groesse Grosse größen"), ("german", "Einstellung Einstellungen einstellung"),
        ("german", "Häuser Haeuser Hauser Haus"), ("german", "Schlüssel Schluessel Schlussel Schlüsseln"),
        ("french", "déployé deploye déployée déployées deployees déployer"),
        ("french", "décision décisions decisions"), ("french", "café cafe cafés"),
        ("spanish", "configuración configuracion configuraciones"),
        ("spanish", "contraseña contrasena contraseñas"), ("spanish", "servidor servidores"),
    ],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem_in_its_language_accents_typed_or_not(
    language: Language, forms: str
) -> None:
    assert len({stem_in(word, language) for word in words(forms)}) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", ["4gb", "v2", "東京", "барсик", "go", "x" * 100])
def test_what_no_stemmer_touches_is_the_same_in_every_language(word: str, language: Language) -> None:
    assert stem_in(word, language) == stem(word)


def test_equal_letters_of_two_languages_are_two_stems() -> None:
    assert len({stem_in("gift", language) for language in LANGUAGES}) == len(LANGUAGES)
    assert stem_in("gifts", "english") == stem("gift")


@pytest.mark.parametrize(
    ("typed", "other"),
    [
        ("groesse", "grosse"), ("grosse", "groesse"), ("schlussel", "schluessel"),
        ("ubergroesse", "ubergrosse"),
    ],
)  # fmt: skip
def test_umlauts_are_written_the_other_way(typed: str, other: str) -> None:
    assert other in respelt(typed)


def test_umlauts_are_spelt_out_however_they_are_encoded() -> None:
    assert with_umlauts_spelt_out("Größe Gro\u0308ße Übung") == "Groeße Groeße Uebung"


@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_words_have_a_language_and_stems_in_each(some: list[str]) -> None:
    folded = [fold(word) for word in some]
    assert language_of(folded) in LANGUAGES
    for word in folded:
        assert len(respelt(word)) <= 7
        assert all(isinstance(stem_in(word, language), str) for language in LANGUAGES)
