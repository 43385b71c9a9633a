"""Settings: what a file and the environment may say, and that what makes no sense is told in one clear line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec import Meta
from msgspec.structs import asdict, replace

from core.memory import Memory
from core.pipeline.configuration import load_configuration
from core.settings import SETTINGS_FILE, Settings, load_settings
from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.tree import Setting, all_settings, fitted, seconds_of
from core.settings.warnings import WarningKind


def load(home: Path, text: str, **environ: str) -> Settings:
    (home / SETTINGS_FILE).write_text(text, encoding="utf-8")
    return load_settings(home, environ)


def unknown(settings: Settings) -> list[str]:
    return [one.name for one in settings.warnings if one.why is WarningKind.UNKNOWN_KEY]


def test_without_a_file_the_defaults_hold_and_nothing_is_made(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none", {}) == Settings()
    assert list(tmp_path.iterdir()) == []


def test_what_the_file_says_holds_and_what_it_says_in_unknown_words_is_passed_over(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        "[search]\nvector_weight = 1\nlater = true\n[reflection]\njaccard = 1\nmax_notes = 0\n"
        '[promotion]\nthreshold = 1\n[inference]\nuser_words = ["me"]\nstyle_words = []\n[later]\nx = 1\n',
    )
    assert (found.search.vector_weight, found.reflection.jaccard) == (1.0, 1.0)
    assert (found.reflection.max_notes, found.promotion.threshold) == (0, 1)
    assert (found.inference.user_words, found.inference.style_words) == (("me",), ())


def test_every_default_would_be_accepted(tmp_path: Path) -> None:
    plain = Settings()
    lines = [
        line
        for section in ("search", "reflection", "promotion", "backups")
        for line in (
            f"[{section}]",
            *(
                f"{name} = {json.dumps(value)}"
                for name, value in asdict(getattr(plain, section)).items()
                if value != ""
            ),
        )
    ]
    assert load(tmp_path, "\n".join(lines)) == plain


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ("search", "vector_weight = nan"),
        ("search", "text_weight = inf"),
        ("search", "text_weight = -0.1"),
        ("search", "own_boost = -inf"),
        ("search", "durable_boost = 1" + "0" * 400),
        ("search", "temperature = 0"),
        ("search", "temperature = -1.0"),
        ("search", "softmax_over = 0"),
        ("search", "passages = 2000000"),
        ("search", "softmax_over = true"),
        ("search", "vector_weight = true"),
        ("reflection", "hour = 24"),
        ("reflection", "hour = -1"),
        ("reflection", "minute = 60"),
        ("reflection", "minute = 1.5"),
        ("reflection", "max_notes = -1"),
        ("reflection", "jaccard = 0"),
        ("reflection", "jaccard = 1.01"),
        ("reflection", "jaccard = nan"),
        ("reflection", "shared_tokens = 0"),
        ("reflection", "wanted_links = -1"),
        ("reflection", "max_links = -2"),
        ("reflection", "often_recalled = 0"),
        ("reflection", "derived_tags = 0"),
        ("promotion", "threshold = 0"),
        ("promotion", "threshold = -3"),
        ("promotion", "memory_dir = 5"),
        ("backups", "keep = 0"),
        ("backups", "keep = 10001"),
        ("backups", "keep = 1.5"),
        ("backups", 'keep = "all"'),
        ("inference", 'user_words = ["me", ""]'),
        ("inference", 'temporary_prefixes = [" "]'),
        ("inference", "style_words = [1]"),
        ("inference", 'style_words = "tone"'),
    ],
)
def test_a_senseless_value_is_told_in_one_line_that_names_it_and_its_default_counts(
    tmp_path: Path, section: str, line: str
) -> None:
    found = load(tmp_path, f"[{section}]\n{line}\n")
    name = f"{section}.{line.partition(' ')[0]}"
    (told,) = found.problems
    assert (told.name, told.where) == (name, str(tmp_path / SETTINGS_FILE))
    assert told.message.isprintable()
    assert getattr(found, section) == getattr(Settings(), section)


def test_beside_a_wrong_value_all_others_hold(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        "search = 5\n[promotion]\nthreshold = 'x'\nread_lines = 7\n[backups]\nkeep = 0\n[app]\nvim = true\n",
    )
    assert {one.name: one.used for one in found.problems} == {
        "search": None,
        "promotion.threshold": 3,
        "backups.keep": 14,
    }
    assert (found.promotion.threshold, found.promotion.read_lines) == (3, 7)
    assert (found.search, found.app.vim) == (Settings().search, True)


def test_where_settings_are_in_force_these_count_in_place_of_what_cannot_be_used(tmp_path: Path) -> None:
    before = load(tmp_path, "[search]\ntext_weight = 0.9\n[backups]\nkeep = 4\n")
    (tmp_path / SETTINGS_FILE).write_text("[search]\ntext_weight = -1\n")
    after = load_settings(tmp_path, {}, before)
    assert (after.search.text_weight, after.backups.keep) == (0.9, 14)
    assert [(one.name, one.hint, one.used) for one in after.problems] == [
        ("search.text_weight", "0 or more", 0.9)
    ]
    (tmp_path / SETTINGS_FILE).write_text("[search\n")
    broken = load_settings(tmp_path, {}, before)
    assert (broken.search.text_weight, broken.backups.keep) == (0.9, 4)
    assert [(one.name, one.why) for one in broken.problems] == [("", WarningKind.UNREADABLE)]


def test_the_line_says_what_would_be_accepted(tmp_path: Path) -> None:
    (told,) = load(tmp_path, "[reflection]\njaccard = 0.0\n").problems
    assert (told.hint, told.given, told.used) == ("above 0 and at most 1", "0", 0.9)
    (told,) = load(tmp_path, "[promotion]\nthreshold = 0\n").problems
    assert (told.hint, told.given, told.used) == ("1 or more", "0", 3)


@pytest.mark.parametrize("text", ["x", "24", "-1", "1.5", "\u0661\u0662\u0663"])
def test_a_senseless_variable_is_told_by_its_name_and_the_file_counts(tmp_path: Path, text: str) -> None:
    found = load(tmp_path, "[reflection]\nhour = 7\n", MEMORY_REFLECTION_HOUR=text)
    (told,) = found.problems
    assert (told.name, told.where, told.hint) == ("reflection.hour", "MEMORY_REFLECTION_HOUR", "from 0 to 23")
    assert (found.reflection.hour, told.used) == (7, 7)


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    found = load(tmp_path, "[reflection]\nhour = 3\nminute = 7\n", MEMORY_REFLECTION_HOUR="22")
    assert (found.reflection.hour, found.reflection.minute) == (22, 7)


@pytest.mark.parametrize("text", ["[search", "[search]\nsoftmax_over = 1" + "0" * 5000])
def test_a_file_that_is_no_toml_is_told_and_the_defaults_count(tmp_path: Path, text: str) -> None:
    found = load(tmp_path, text)
    assert (found.problems[0].name, found.problems[0].where) == ("", str(tmp_path / SETTINGS_FILE))
    assert (found.search, found.reflection) == (Settings().search, Settings().reflection)


@pytest.mark.parametrize(
    "text",
    [
        '[team]\ntrust = "al"\nfolder = 3\n[schedule]\ndaemon_applies = "fasle"\n',
        "[schedule]\ndaemon_aplies = false\nagent_applies = true\n[team]\nfolderr = 'off'\n",
        "team = 1\nschedule = 'daemon_applies = false'\n",
        "[schedule]\ndaemon_applies = false\n[team\n",
        "[schedul]\ndaemon_applies = false\n[teem]\nfolder = 'off'\n",
    ],
)
def test_a_typing_error_loosens_no_guard_and_is_told(tmp_path: Path, text: str) -> None:
    loose = load(tmp_path, '[team]\ntrust = "all"\n[schedule]\napp_applies = true\n')
    (tmp_path / SETTINGS_FILE).write_text(text)
    for found in (load_settings(tmp_path, {}), load_settings(tmp_path, {}, loose)):
        assert (found.team.trust, found.team.folder) == ("ask", "off")
        assert (found.schedule.daemon_applies, found.schedule.app_applies) == (False, False)
        assert found.problems


def test_it_is_told_where_a_file_is_no_toml(tmp_path: Path) -> None:
    assert "line 2, column 7" in load(tmp_path, "[app]\nvim = tru\n").problems[0].hint


def test_a_file_that_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    (told,) = load(tmp_path, f"x = {'[' * 100_000}").problems
    assert (told.hint, told.where) == ("nested too deeply", str(tmp_path / SETTINGS_FILE))


def test_names_that_mean_nothing_are_ignored_and_told(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(
        "nonsense = 3\n[promotion]\nmemory_dri = 'x'\nthreshold = 4\n[colours]\n[backups]\nkept = 3\n"
    )
    settings = load_settings(tmp_path, {})
    assert set(unknown(settings)) == {"backups.kept", "colours", "nonsense", "promotion.memory_dri"}
    assert settings.promotion.threshold == 4


def test_how_many_backups_are_kept_can_be_set(tmp_path: Path) -> None:
    settings = load(tmp_path, "[backups]\nkeep = 10000\n")
    assert settings.backups.keep == 10_000
    assert settings.warnings == ()


def test_who_runs_the_daily_pass_and_when_it_is_caught_up_can_be_set(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "[schedule]\nwaking_from = 0\nwaking_to = 24\ndaemon_applies = false\napp_applies = true\npromotes = true\n",
    )
    found = settings.schedule
    assert (found.waking_from, found.waking_to) == (0, 24)
    assert (found.daemon_applies, found.app_applies, found.promotes) == (False, True, True)
    plain = Settings().schedule
    assert (plain.daemon_applies, plain.app_applies, plain.promotes) == (True, False, False)
    for line in (
        "waking_from = 24",
        "waking_to = 25",
        "waking_to = -1",
        "daemon_applies = 1",
        'promotes = "yes"',
    ):
        (told,) = load(tmp_path, f"[schedule]\n{line}\n").problems
        assert told.name == f"schedule.{line.split()[0]}"


def test_keys_and_ways_of_the_app_are_plain_data(tmp_path: Path) -> None:
    found = load(
        tmp_path, '[app]\nvim = true\ntheme = "nord"\n[keys]\nsearch = "ctrl+k"\nhide = 3\nserch = ""\n'
    )
    assert (found.app.vim, found.app.theme) == (True, "nord")
    assert found.keys == (("search", "ctrl+k"), ("hide", None), ("serch", ""))
    assert unknown(found) == []
    assert (Settings().app.vim, Settings().app.theme, Settings().keys) == (False, "", ())


@pytest.mark.parametrize("text", ["keys = 3", "[app]\nvim = 1", "[app]\ntheme = 3", "app = 3"])
def test_keys_that_are_no_table_and_ways_of_another_type_are_told(tmp_path: Path, text: str) -> None:
    found = load(tmp_path, text)
    assert found.problems[0].name in ("keys", "app", "app.vim", "app.theme")
    assert (found.app, found.keys) == (Settings().app, ())


def test_settings_that_change_between_the_opening_and_the_first_look_count(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, reconcile=False)
    (tmp_path / SETTINGS_FILE).write_text("[app]\nvim = true\n")
    memory.refresh()
    assert memory.settings.app.vim


def test_what_the_pipeline_reads_in_the_same_file_is_nothing_unknown(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(
        "[pipeline]\nshadowMode = true\n[memory.pipelineV2]\nenabled = true\n[pipelines]\n", encoding="utf-8"
    )
    found = load_settings(tmp_path, {})
    assert unknown(found) == ["pipelines"]
    assert found.problems == ()


def test_words_that_mean_the_same_are_read_as_a_list_or_as_one(tmp_path: Path) -> None:
    settings = load(
        tmp_path, '[search]\nmeaning_weight = 0.5\n[search.words]\nk8s = ["kubernetes", "kube"]\nci = "build"'
    )
    assert settings.synonyms == (("k8s", ("kubernetes", "kube")), ("ci", ("build",)))
    assert settings.search.meaning_weight == 0.5
    assert settings.warnings == ()


@pytest.mark.parametrize(
    ("text", "name", "kept"),
    [
        ("[search]\nwords = 3", "search.words", ()),
        ('[search.words]\na = 3\nb = "c"', "search.words.a", (("b", ("c",)),)),
        ('[search.words]\na = ["x", ""]', "search.words.a", ()),
        ('[search.words]\na = {b = "c"}', "search.words.a", ()),
    ],
)
def test_synonyms_that_cannot_be_read_are_told_and_the_others_count(
    text: str, name: str, kept: tuple[tuple[str, tuple[str, ...]], ...], tmp_path: Path
) -> None:
    settings = load(tmp_path, text)
    assert settings.synonyms == kept
    assert [one.name for one in settings.problems] == [name]


def test_a_range_is_written_as_people_write_numbers() -> None:
    number = Setting("a.b", float, 1.0, ())
    assert number.allowed == ""
    assert number._replace(metas=(Meta(ge=0, le=1_000_000),)).allowed == "from 0 to 1,000,000"
    assert number._replace(metas=(Meta(gt=0.001, le=0.5),)).allowed == "above 0.001 and at most 0.5"
    assert number._replace(metas=(Meta(ge=2_500_000.5),)).allowed == "2,500,000.5 or more"
    assert number._replace(metas=(Meta(gt=0),)).allowed == "above 0"


def test_every_setting_has_a_default_that_it_may_have_and_those_that_are_listed_a_name_of_their_own() -> None:
    for setting in (*all_settings(), *all_settings(PipelineConfiguration)):
        assert fitted(setting, setting.default).why in (None, WarningKind.NO_VALUE), setting.name
    titles = [setting.title for setting in all_settings()]
    assert all(titles)
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("90 s", 90), ("10m", 600), ("10min", 600), ("2H", 7200), ("7d", 604_800)],
)
def test_how_often_to_sync_is_a_length_of_time(tmp_path: Path, text: str, seconds: float) -> None:
    found = load(tmp_path, f'[sync]\nevery = "{text}"\non_exit = true\n')
    assert (found.problems, found.sync.on_exit) == ((), True)
    assert seconds_of(found.sync.every) == seconds


@pytest.mark.parametrize(
    "text", ["soon", "9s", "8d", "10", "m", "-1m", "1.5h", "10m5s", "٣m", "9" * 400 + "s"]
)
def test_another_text_is_none_and_no_sync_runs_unasked(tmp_path: Path, text: str) -> None:
    found = load(tmp_path, f'[sync]\nevery = "{text}"\n')
    assert (found.sync.every, [one.name for one in found.problems]) == ("", ["sync.every"])
    assert "from 10s to 7d" in found.problems[0].hint


def test_where_a_table_is_no_table_what_is_in_force_of_it_stays(tmp_path: Path) -> None:
    before = load(tmp_path, "[backups]\nkeep = 4\n[schedule]\napp_applies = true\nwaking_to = 20\n")
    (tmp_path / SETTINGS_FILE).write_text("backups = 1\nschedule = 'x'\n")
    after = load_settings(tmp_path, {}, before)
    assert (after.backups.keep, after.schedule.waking_to, after.schedule.app_applies) == (4, 20, False)


def test_a_name_in_quotes_and_an_empty_one_change_nothing_else(tmp_path: Path) -> None:
    found = load(tmp_path, '"" = 3\n[backups]\nkeep = 4\n"" = 1\n')
    assert (found.backups.keep, len(unknown(found))) == (4, 2)


def test_the_pages_show_each_setting_with_its_default(tmp_path: Path) -> None:
    block = re.compile(r"```toml\n(\[(?:promotion|pipeline)\]\n.*?)```", re.DOTALL)
    shown = {
        page: "".join(block.findall(Path("docs", page).read_text("utf-8")))
        for page in ("files-and-settings.md", "pipeline.md")
    }
    assert all(shown.values())
    plain = load(tmp_path, shown["files-and-settings.md"])
    assert replace(plain, promotion=Settings().promotion) == Settings()
    assert replace(plain.promotion, memory_dir="") == Settings().promotion
    (tmp_path / SETTINGS_FILE).write_text(shown["pipeline.md"], encoding="utf-8")
    loaded = load_configuration(tmp_path, {}, user_folder=tmp_path / "user")
    assert (loaded.configuration, loaded.warnings) == (PipelineConfiguration(), ())
