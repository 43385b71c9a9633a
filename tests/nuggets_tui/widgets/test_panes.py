"""Where the panes stand, and which keys fit into the line at the bottom."""

from __future__ import annotations

import pytest
from textual.geometry import Region, Size

from nuggets_tui.commands import COMMANDS, footer_commands
from nuggets_tui.widgets.header import _fitting
from nuggets_tui.widgets.panes import PANES, TABS, regions_for

SIZES = [(100, 18), (120, 35), (160, 45), (161, 45), (240, 80), (99, 40), (120, 17), (80, 18), (40, 6)]


def test_regions_fill_the_space_and_never_overlap() -> None:
    for zoomed in [True, False]:
        for active in PANES:
            for size in SIZES:
                regions = regions_for(Size(*size), active, zoomed)  # type: ignore[arg-type]
                whole = Region(0, 0, *size)
                assert active in regions
                assert sum(region.area for region in regions.values()) == whole.area
                places = list(regions.values())
                for number, region in enumerate(places):
                    assert whole.contains_region(region)
                    for other in places[number + 1 :]:
                        assert not region.overlaps(other)


@pytest.mark.parametrize("size", [(100, 18), (120, 35), (161, 45)])
def test_all_panes_are_shown_when_there_is_room(size: tuple[int, int]) -> None:
    regions = regions_for(Size(*size), "notes", False)
    assert set(regions) == set(PANES)
    for region in regions.values():
        assert region.width >= 20
        assert region.height >= 4


def test_under_a_hundred_columns_one_pane_is_shown_under_tabs() -> None:
    assert set(regions_for(Size(99, 40), "graph", False)) == {TABS, "graph"}


def test_the_key_line_fits_and_keeps_help_and_quit_longest() -> None:
    for width in range(20, 200, 7):
        items = _fitting(footer_commands(), width, "Incident review of the payment webhook")
        line = "  ".join(item.plain for item in items)
        assert len(line) <= max(width, 15)
        if width >= 60:
            assert "x hide Incident" in line
            assert "help" in line
            assert "quit" in line
            assert "search" in line


@pytest.mark.parametrize(
    ("pane", "first"),
    [
        ("facts", "⏎ open  f fact  e edit  x hide"),
        ("notes", "e edit  x hide  n note  l link"),
        ("note", "e edit  x hide  t tags  y copy  esc back"),
        ("neighbours", "⏎ open  + accept  x hide  l link  esc back"),
        ("graph", "g fullscreen  x hide  [  ] hops"),
        ("audit", "u undo  x hide  ⏎ open  F filter"),
    ],
)
def test_the_key_line_begins_with_what_the_pane_is_for_and_names_what_no_other_program_has(
    pane: str, first: str
) -> None:
    waits = ("why", "conflicts", "open_broken", "problems", "trust")
    shown = [command for command in footer_commands(pane) if command.name not in waits]
    line = "  ".join(item.plain for item in _fitting(shown, 119, ""))
    assert line.startswith(first)
    for key in (
        "u undo",
        "T time",
        "G overview",
        "/ search",
        "? help",
        "ctrl+p commands",
        "q quit",
    ):
        assert key in line, line


def test_no_two_commands_share_a_name() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
