"""Every key of the pipeline is read by code that does something with it, or is said to be reserved when it is set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.settings import load_settings
from core.settings.tree import settings_by_name
from core.settings.warnings import WarningKind

ROOT = Path(__file__).parents[4]
KEYS = [key for name, key in settings_by_name().items() if name.startswith("pipeline.")]


def test_each_key_of_the_documentation_and_more_is_read_by_code() -> None:
    assert len(KEYS) >= 83
    places = (ROOT / "core" / "pipeline", ROOT / "nuggets_tui")
    code = "\n".join(path.read_text("utf-8") for place in places for path in place.rglob("*.py"))
    read = set(re.findall(r"[.\"](\w+)\b", code))
    assert [key.name for key in KEYS if key.field not in read] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("telemetry_enabled = true", "telemetry_enabled"),
        ("[pipeline.telemetry]\nposthogApiKey = 'phc_hidden'", "telemetry"),
    ],
)
def test_a_reserved_key_is_named_with_a_code_when_somebody_sets_it(
    text: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text(f"[pipeline]\n{text}\n", encoding="utf-8")
    (warning,) = load_settings(tmp_path, {}, user_folder=tmp_path / "user").warnings
    assert (warning.name, warning.why) == (f"pipeline.{name}", WarningKind.RESERVED)
    # A text may be a secret.
    assert "hidden" not in warning.message + warning.given
