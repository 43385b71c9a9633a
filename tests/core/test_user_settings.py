"""The user's settings for all memories: read whatever they hold, changed without touching the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InvalidInputError
from core.user_settings import load_user_settings, save_user_settings, user_settings_file


def put(text: str | bytes) -> Path:
    """Writes the file."""
    path = user_settings_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_where_there_is_no_file_the_defaults_count_and_one_is_made_when_something_is_set() -> None:
    assert load_user_settings().app.theme == ""
    save_user_settings({"app.theme": None})
    assert not user_settings_file().exists()
    save_user_settings({"app.theme": "nord"})
    assert load_user_settings() == load_user_settings()
    assert load_user_settings().app.theme == "nord"
    assert load_user_settings().problems == ()


def test_all_else_of_the_file_stays_and_so_do_its_rights() -> None:
    path = put("# mine\n[pipeline]\nenabled = true # so\n")
    path.chmod(0o640)
    save_user_settings({"app.theme": "nord"})
    assert path.read_text().startswith("# mine\n[pipeline]\nenabled = true # so\n")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("# here\n")
    path = user_settings_file()
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    save_user_settings({"app.theme": "nord"})
    assert path.is_symlink()
    assert "nord" in real.read_text()


@pytest.mark.parametrize("bad", [b"[app", b"\xff\xfe", b"app = 3", b"[app]\ntheme = 3", b"[a]" * 3])
def test_a_file_that_cannot_be_used_is_said_and_never_stops_anything(bad: bytes) -> None:
    path = put(bad)
    found = load_user_settings()
    assert found.app.theme == ""
    assert all(str(path) in problem for problem in found.problems)
    assert path.read_bytes() == bad


def test_what_is_no_setting_is_refused_and_what_others_read_is_no_problem() -> None:
    put("[search]\ntext_weight = 'x'\n[anything]\nelse = 1\n")
    assert load_user_settings().problems == ()
    with pytest.raises(InvalidInputError):
        save_user_settings({"app.colour": "nord"})
