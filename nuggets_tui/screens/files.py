"""Choosing among the files that a note speaks of, each with where it lies here."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from textual.content import Content

from nuggets_tui.file_opening import Found
from nuggets_tui.safe_text import content, cut
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides

_NAME, _PATH = 60, 70


class FilesScreen(ChoiceScreen):
    """Answers with the place of a reference among those given."""

    heading = "Open which file?"
    about = (
        "Files are looked for in the folder in which the app was started and in the root of its repository; absolute "
        "paths and those from ~ as they are."
    )
    keys = "⏎  open in $EDITOR · esc  close"

    def __init__(self, named: Sequence[Found]) -> None:
        # Those that are there come first, otherwise as the note has them.
        order = sorted(range(len(named)), key=lambda place: named[place].path is None)
        super().__init__([Row(str(place), (_row(named[place]),)) for place in order])
        self.said = "Files that the note names."
        if any(one.surprising for one in named):
            self.said = "Files that the note names. Some lie outside of the folder the app was started in."


def _row(found: Found) -> Callable[[int], Content]:
    if found.path is None:
        return sides(content(cut(str(found.reference), _NAME), MUTED), content("not here", MUTED))
    return sides(
        content(cut(str(found.reference), _NAME)), content(cut(_shortened(found.path), _PATH), MUTED)
    )


def _shortened(path: Path) -> str:
    home = os.path.expanduser("~")
    spelled = str(path)
    return f"~{spelled[len(home) :]}" if home != "/" and spelled.startswith(f"{home}{os.sep}") else spelled
