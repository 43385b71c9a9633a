"""What an import brings of a settings.toml: harmless keys that this version knows."""

from __future__ import annotations

import pytest

from core.storage.files.toml import imported_settings


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ('[search.pipeline]\nendpoint = "http://a.test"\n', "search.pipeline.endpoint"),
        ('[app]\neditor_of_tomorrow = "sh"\n', "app.editor_of_tomorrow"),
        ("[inference.more]\nx = 1\n", "inference.more.x"),
        ('[[search.servers]]\nurl = "http://a.test"\n', "search.servers"),
        ('[pipeline.extraction]\nprovider = "ollama"\n', "pipeline.extraction.provider"),
        ('search = "x"\n', "search"),
    ],
)
def test_a_setting_that_is_not_known_stays_out_and_is_named(text: str, left_out: str) -> None:
    kept, named = imported_settings(text.encode())
    assert named == (left_out,)
    assert left_out.rpartition(".")[2].encode() not in kept


def test_known_ones_come_as_they_are() -> None:
    text = (
        b'# mine\n[app]\ntheme = "nord"\n[search.words]\nk8s = ["kubernetes"]\n[keys]\n"note.edit" = "f4"\n'
    )
    assert imported_settings(text) == (text, ())
