"""Loads the predictor that the user's own settings name, and nothing that a project brings along."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from core.pipeline.prediction.predictor import NullPredictor, Predictor

_LONGEST_WHY: Final = 200
# The path for imports is the process's; one thread at a time narrows it.
_narrowing: Final = threading.Lock()


def load_predictor(source: str) -> tuple[Predictor, str]:
    """The predictor of a name such as "package.module:name", and what is wrong with it; one that says nothing for ""
    and for whatever cannot be loaded. name: a predictor, or what makes one when it is called without anything.

    The caller answers for where the name comes from: the code is run.
    """
    if not source:
        return NullPredictor(), ""
    module, separator, name = source.partition(":")
    words = (*module.split("."), *name.split("."))
    if not separator or not all(word.isidentifier() for word in words):
        return NullPredictor(), "must be written as module:name"
    try:
        with _without_working_folder():
            found: object = importlib.import_module(module)
        for word in name.split("."):
            found = getattr(found, word)
        if isinstance(found, type) or not hasattr(found, "score"):
            found = found()  # type: ignore[operator]
        if not callable(getattr(found, "score", None)):
            return NullPredictor(), "has no method score"
    except BaseException as error:
        # Somebody else's code, which may even ask to exit.
        return NullPredictor(), f"{type(error).__name__}: {error}"[:_LONGEST_WHY]
    return found, ""  # type: ignore[return-value]


@contextmanager
def _without_working_folder() -> Iterator[None]:
    """Meanwhile nothing is imported from the folder that the process was started in: it may be anybody's project."""
    with _narrowing:
        before = list(sys.path)
        try:
            here = os.path.realpath(os.getcwd())
        except OSError:
            here = ""
        sys.path[:] = [path for path in before if path and os.path.realpath(path) != here]
        try:
            yield
        finally:
            sys.path[:] = before
