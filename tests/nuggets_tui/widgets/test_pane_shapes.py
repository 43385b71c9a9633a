"""In every size each pane stands on screen and is usable."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size

from nuggets_tui.widgets.panes import (
    LEAST_HEIGHT,
    LEAST_WIDTH,
    LOW,
    NARROW,
    PANES,
    shape_for,
)

sizes = st.builds(Size, st.integers(NARROW, 300), st.integers(LOW, 120))


@given(sizes)
def test_all_panes_fill_the_space_and_none_is_too_small(size: Size) -> None:
    regions = shape_for(size)
    whole = Region(0, 0, *size)
    assert set(regions) == set(PANES)
    assert sum(region.area for region in regions.values()) == whole.area
    places = list(regions.values())
    for number, region in enumerate(places):
        assert whole.contains_region(region)
        assert region.width >= LEAST_WIDTH
        assert region.height >= LEAST_HEIGHT
        assert not any(region.overlaps(other) for other in places[number + 1 :])
