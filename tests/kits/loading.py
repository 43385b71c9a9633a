"""Compiles and loads what all workers of a run load, each of them another part first.

All load all files. Where none is compiled yet, with every assert of the tests rewritten, each would compile all of
them, which takes 13 seconds, at the same time as the others. This way each finds most of them compiled.
"""

from __future__ import annotations

import compileall
import sys
from pathlib import Path
from typing import Final

import pytest
from _pytest.pathlib import ImportMode, import_path

_TESTS: Final = Path(__file__).parents[1]
_PLAIN: Final = (_TESTS.parent / "core", _TESTS.parent / "nuggets_tui", _TESTS / "kits")


def load_ones_share(config: pytest.Config) -> None:
    """Compiles and loads every nth file, where this is one of n workers that collect all tests."""
    given = getattr(config, "workerinput", None)
    if given is None or [Path(each).resolve() for each in config.args] != [_TESTS]:
        return
    number, workers = int(given["workerid"].removeprefix("gw")), given["workercount"]
    for path in sorted(path for folder in _PLAIN for path in folder.rglob("*.py"))[number::workers]:
        compileall.compile_file(path, quiet=2)
    for path in sorted(_TESTS.rglob("test_*.py"))[number::workers]:
        before = set(sys.modules)
        try:
            import_path(
                path, mode=ImportMode.importlib, root=config.rootpath, consider_namespace_packages=False
            )
        except (Exception, pytest.skip.Exception):
            # Pytest says what is wrong, when it comes to this file.
            for name in set(sys.modules) - before:
                del sys.modules[name]
