"""In every size each pane stands on screen and is usable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size

from nuggets_tui.widgets.panes import LEAST_HEIGHT, LOW, NARROW, PANES, TABS, WIDE, regions_for

sizes = st.builds(Size, st.integers(20, 300), st.integers(4, 120))


@given(sizes, st.sampled_from(PANES), st.booleans(), st.booleans())
def test_panes_fill_the_space_and_none_is_too_small(
    size: Size, active: str, zoomed: bool, searching: bool
) -> None:
    regions = regions_for(size, active, zoomed, searching=searching)  # type: ignore[arg-type]
    whole = Region(0, 0, *size)
    assert active in regions
    assert sum(region.area for region in regions.values()) == whole.area
    places = list(regions.values())
    for number, region in enumerate(places):
        assert whole.contains_region(region)
        assert TABS in regions or (region.width >= 16 and region.height >= LEAST_HEIGHT)
        assert not any(region.overlaps(other) for other in places[number + 1 :])


@pytest.mark.parametrize("size", [(100, LOW), (120, 35), (159, 45), (160, 45), (240, 80)])
def test_all_panes_are_shown_when_there_is_room_and_the_graph_where_there_is_much(
    size: tuple[int, int],
) -> None:
    regions = regions_for(Size(*size), "notes", False)
    assert set(PANES) - set(regions) == (set() if size[0] >= WIDE else {"graph"})
    assert all(region.width >= 28 for region in regions.values())


@pytest.mark.parametrize("size", [(NARROW - 1, 40), (120, LOW - 1)])
def test_where_there_is_little_room_one_pane_is_shown_under_tabs(size: tuple[int, int]) -> None:
    assert set(regions_for(Size(*size), "neighbours", False)) == {TABS, "neighbours"}


def test_while_one_searches_facts_and_log_give_their_room_unless_one_is_there() -> None:
    size = Size(120, 40)
    assert set(regions_for(size, "notes", False, searching=True)) == {"notes", "note", "neighbours"}
    assert {"facts", "audit"} <= set(regions_for(size, "audit", False, searching=True))
