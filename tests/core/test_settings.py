"""Settings: what a file and the environment may say, and that what makes no sense is told in one clear line."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.settings import SETTINGS_FILE, Settings, SettingsReader, load_settings
from core.settings.sections import GUARDS
from core.settings.tree import seconds_of, settings_by_name, usable, value_of
from core.settings.warnings import WarningKind


def load(home: Path, text: str | bytes, **environ: str) -> Settings:
    (home / SETTINGS_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_settings(home, environ, user_folder=home / "user")


def unknown(settings: Settings) -> list[str]:
    return [one.name for one in settings.warnings if one.why is WarningKind.UNKNOWN_KEY]


def test_without_a_file_the_defaults_hold_and_nothing_is_made(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none", {}) == Settings()
    assert list(tmp_path.iterdir()) == []


def test_what_the_file_says_holds_and_what_it_says_in_unknown_words_is_passed_over(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        "[search]\nvector_weight = 1\nlater = true\n[reflection]\njaccard = 1\nmax_notes = 0\n"
        '[inference]\nuser_words = ["me"]\nstyle_words = []\n[later]\nx = 1\n"" = 1\n[backups]\nkept = 3\n',
    )
    assert (found.search.vector_weight, found.reflection.jaccard, found.reflection.max_notes) == (1.0, 1.0, 0)
    assert (found.inference.user_words, found.inference.style_words) == (("me",), ())
    assert (set(unknown(found)), found.problems) == ({"search.later", "later", "backups.kept"}, ())


SENSELESS = (
    "search: vector_weight = nan, text_weight = inf, text_weight = -0.1, own_boost = -inf, temperature = 0, "
    "temperature = -1.0, softmax_over = 0, passages = 2000000, softmax_over = true, vector_weight = true, "
    f"durable_boost = 1{'0' * 400}",
    "reflection: hour = 24, hour = -1, minute = 60, minute = 1.5, max_notes = -1, jaccard = 0, jaccard = nan, "
    "jaccard = 1.01, shared_tokens = 0, wanted_links = -1, max_links = -2, often_recalled = 0, derived_tags = 0",
    "promotion: threshold = 0, threshold = -3, memory_dir = 5",
    'backups: keep = 0, keep = 10001, keep = 1.5, keep = "all"',
    'inference: user_words = ["me"; ""], temporary_prefixes = [" "], style_words = [1], style_words = "tone"',
    'app: vim = 1, theme = 3, theme = "a\\nb"',
)


@pytest.mark.parametrize("row", SENSELESS, ids=lambda row: row.partition(":")[0])
def test_a_senseless_value_is_told_in_one_line_that_names_it_and_its_default_counts(
    tmp_path: Path, row: str
) -> None:
    section, _, lines = row.partition(": ")
    for line in lines.split(", "):
        found = load(tmp_path, f"[{section}]\n{line.replace(';', ',')}\n")
        name = f"{section}.{line.partition(' ')[0]}"
        (told,) = found.problems
        assert (told.name, told.where, told.code) == (name, str(tmp_path / SETTINGS_FILE), "unusable"), line
        assert told.message.isprintable()
        assert found == replace(Settings(), warnings=found.warnings)


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    found = load(tmp_path, "[reflection]\nhour = 3\nminute = 7\n", MEMORY_REFLECTION_HOUR="22")
    assert (found.reflection.hour, found.reflection.minute) == (22, 7)
    for text in ("x", "24", "-1", "1.5", "\u0661\u0662\u0663", "9" * 5_000):
        found = load(tmp_path, "[reflection]\nhour = 7\n", MEMORY_REFLECTION_HOUR=text)
        (told,) = found.problems
        assert (told.name, told.where, told.used) == ("reflection.hour", "MEMORY_REFLECTION_HOUR", 9)
        assert found.reflection.hour == 9


HOSTILE = [
    b"\xff\xfe", b"[search", b"search = 3\nsearch = 4", b"\x00", b"a = " + b"[" * 100_000,
    b"a = " + b"9" * 5_000, b"# " + b"x" * 2_000_000,
]  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE)
def test_of_a_file_that_cannot_be_read_the_defaults_count_and_its_guards_are_strict(
    tmp_path: Path, data: bytes
) -> None:
    found = load(tmp_path, data)
    (told,) = found.problems
    assert (told.name, told.why, told.where) == ("", WarningKind.UNREADABLE, str(tmp_path / SETTINGS_FILE))
    assert told.message.isprintable()
    assert (found.search, found.reflection) == (Settings().search, Settings().reflection)
    assert {name: value_of(found, name) for name in GUARDS} == GUARDS
    assert (tmp_path / SETTINGS_FILE).read_bytes() == data


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / SETTINGS_FILE)
    (tmp_path / "agent.yaml").mkdir()
    found = load_settings(tmp_path, {}, user_folder=tmp_path / "user")
    assert [(one.name, one.hint) for one in found.warnings] == [
        ("", "not a regular file"),
        ("pipeline", "not a regular file"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[team]\ntrust = "al"\nfolder = 3\n[schedule]\ndaemon_applies = "fasle"\napp_applies = 1\n',
        "[schedule]\ndaemon_aplies = false\nagent_applies = true\n[team]\nfolderr = 'off'\n",
        "team = 1\nschedule = 'daemon_applies = false'\n", "[schedule]\ndaemon_applies = false\n[team\n",
        "[schedul]\ndaemon_applies = false\n[teem]\nfolder = 'off'\n",
    ],
)  # fmt: skip
def test_a_typing_error_loosens_no_guard_and_is_told(tmp_path: Path, text: str) -> None:
    found = load(tmp_path, text)
    assert (found.team.trust, found.team.folder) == ("ask", "off")
    assert (found.schedule.daemon_applies, found.schedule.app_applies) == (False, False)
    assert found.problems


def test_no_guard_is_looser_than_what_somebody_wrote_nearly_right(tmp_path: Path) -> None:
    for name, strict in GUARDS.items():
        section, _, field = name.rpartition(".")
        for key, value in ((field, "{x = 1}"), (f"{field}x", "1"), (field.replace("_", "-") + "s", "true")):
            found = load(tmp_path, f"[{section}]\n{key} = {value}\n")
            assert value_of(found, name) == strict, (name, key)
            assert any(one.message.isprintable() for one in found.problems), (name, key)


def test_keys_and_ways_of_the_app_are_plain_data(tmp_path: Path) -> None:
    found = load(
        tmp_path, '[app]\nvim = true\ntheme = "nord"\n[keys]\nsearch = "ctrl+k"\nhide = 3\nserch = ""\n'
    )
    assert (found.app.vim, found.app.theme) == (True, "nord")
    assert found.keys == (("search", "ctrl+k"), ("hide", None), ("serch", ""))
    assert found.warnings == ()
    found = load(tmp_path, "keys = 3")
    assert ([one.name for one in found.problems], found.keys) == (["keys"], ())


def test_a_reader_reads_again_only_when_a_file_is_another(tmp_path: Path) -> None:
    reader = SettingsReader(tmp_path)
    before = reader.read()
    assert reader.read() is before
    for name in ("settings.toml", "agent.yaml"):
        (tmp_path / name).write_text("")
        again = reader.read()
        assert again is not before
        assert reader.read() is again
        before = again


@pytest.mark.parametrize(
    ("text", "kept", "wrong"),
    [
        ('[search.words]\nk8s = ["kubernetes", "kube"]\nci = "build"',
         (("k8s", ("kubernetes", "kube")), ("ci", ("build",))), []),
        ("[search]\nwords = 3", (), ["search.words"]),
        ('[search.words]\na = 3\nb = "c"', (("b", ("c",)),), ["search.words.a"]),
        ('[search.words]\na = ["x", ""]', (), ["search.words.a"]),
        ('[search.words]\na = {b = "c"}', (), ["search.words.a"]),
    ],
)  # fmt: skip
def test_words_that_mean_the_same_are_read_as_a_list_or_as_one(
    text: str, kept: Any, wrong: list[str], tmp_path: Path
) -> None:
    settings = load(tmp_path, text)
    assert (settings.synonyms, [one.name for one in settings.problems]) == (kept, wrong)


def test_every_setting_has_a_default_that_it_may_have_and_those_that_are_listed_a_name_of_their_own() -> None:
    for setting in settings_by_name().values():
        assert usable(setting, setting.default) == setting.default, setting.name
        assert bool(setting.title) is (not setting.name.startswith("pipeline.")), setting.name
    titles = [setting.title for setting in settings_by_name().values() if setting.title]
    assert len(set(titles)) == len(titles)


def test_how_often_to_sync_is_a_length_of_time(tmp_path: Path) -> None:
    for text, seconds in (
        ("10s", 10), ("90 s", 90), ("10m", 600), ("10min", 600), ("2H", 7200), ("7d", 604_800),
    ):  # fmt: skip
        found = load(tmp_path, f'[sync]\nevery = "{text}"\non_exit = true\n')
        assert (found.problems, found.sync.on_exit, seconds_of(found.sync.every)) == ((), True, seconds)
    for text in ("soon", "9s", "8d", "10", "m", "-1m", "1.5h", "10m5s", "٣m", "9" * 400 + "s"):
        found = load(tmp_path, f'[sync]\nevery = "{text}"\n')
        assert (found.sync.every, [one.name for one in found.problems]) == ("", ["sync.every"])


@given(st.binary(max_size=200), st.sampled_from(["settings.toml", "agent.yaml"]))
def test_whatever_stands_in_a_file_nothing_fails(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / name).write_bytes(data)
    found = load_settings(folder, {}, user_folder=folder / "nowhere")
    assert all(warning.message.isprintable() for warning in found.warnings)


def test_the_pages_show_each_setting_with_its_default(tmp_path: Path) -> None:
    block = re.compile(r"```toml\n(\[(?:promotion|pipeline)\]\n.*?)```", re.DOTALL)
    for page in ("files-and-settings.md", "pipeline.md"):
        shown = "".join(block.findall(Path("docs", page).read_text("utf-8")))
        assert shown
        found = load(tmp_path, shown)
        plain = replace(found, names_model=False, promotion=replace(found.promotion, memory_dir=""))
        assert plain == Settings()
