"""The extra `pipeline`: without its libraries everything else runs, and it is told what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.pipeline.extra import install_command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
# As if they were not installed.
MISSING = "import sys\nfor name in ('httpcore2',): sys.modules[name] = None\n"


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def test_without_the_libraries_texts_are_kept_and_it_is_told_what_is_missing(tmp_path: Path) -> None:
    code = f"""{MISSING}
from core.pipeline.service import Pipeline
with Pipeline.open({str(tmp_path)!r}) as pipeline:
    done = pipeline.ingest("The billing service listens on port 8443.")
    ticked = pipeline.tick()
    print(done.status, pipeline.jobs()[0].status, pipeline.jobs()[0].attempts)
    print(pipeline.health().last_error)
    print(pipeline.status().why)
"""
    first, error, why = run(code).splitlines()
    assert first == "queued pending 0"
    assert install_command() in error
    assert "nuggets-tui[pipeline]" in why


def test_neither_library_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    code = f"""
from core.pipeline.service import Pipeline
with Pipeline.open({str(tmp_path)!r}) as pipeline:
    pipeline.ingest("The billing service listens on port 8443.")
    pipeline.status()
import json, sys
print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))
"""
    loaded = set(json.loads(run(code)))
    assert not loaded & {"httpx2", "httpcore2", "anyio", "ssl", "yaml", "numpy", "textual", "rich", "click"}


def test_the_extra_names_both_libraries() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {line.partition(">")[0] for line in extras["pipeline"]} == {"httpx2"}
    assert "nuggets-tui[pipeline]" in extras["dev"]
