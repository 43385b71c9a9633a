"""Which folders one of Claude Code's may be for, by the names of those that are there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator


def folders_called(name: str, called: Callable[[str], str], above: str = os.sep) -> Iterator[str]:
    """The folders for which Claude Code has a folder of this name. called: the name that it gives to a text."""
    rest = name.removeprefix(called(os.sep)) if above == os.sep else name
    try:
        with os.scandir(above) as entries:
            near = [(one.path, called(one.name)) for one in entries if rest.startswith(called(one.name))]
    except OSError:
        return
    for path, own in near:
        if rest == own:
            yield path
        elif rest.startswith(f"{own}-") and os.path.isdir(path):
            yield from folders_called(rest[len(own) + 1 :], called, path)
