"""The lines between panes: wherever they are moved, every pane stays on screen and usable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size

from nuggets_tui.widgets.pane_shapes import (
    LEAST_HEIGHT,
    LEAST_WIDTH,
    LOW,
    NARROW,
    PANES,
    USUAL,
    PaneName,
    moved,
    resized,
    shape_for,
)

sizes = st.builds(Size, st.integers(NARROW, 300), st.integers(LOW, 120))
any_shares = st.fixed_dictionaries({name: st.floats(0, 1) for name in USUAL})


@given(sizes, any_shares)
def test_however_the_lines_lie_all_panes_fill_the_space_and_none_is_too_small(
    size: Size, shares: dict[str, float]
) -> None:
    regions = shape_for(size, shares).regions
    whole = Region(0, 0, *size)
    assert set(regions) == set(PANES)
    assert sum(region.area for region in regions.values()) == whole.area
    places = list(regions.values())
    for number, region in enumerate(places):
        assert whole.contains_region(region)
        assert region.width >= LEAST_WIDTH
        assert region.height >= LEAST_HEIGHT
        assert not any(region.overlaps(other) for other in places[number + 1 :])


@given(sizes, any_shares, st.sampled_from(range(5)), st.integers(-50, 400))
def test_a_line_goes_where_it_is_pulled_or_as_near_as_it_may(
    size: Size, shares: dict[str, float], number: int, place: int
) -> None:
    divider = shape_for(size, shares).dividers[number]
    after = shape_for(size, moved(shares, divider, place)).named(divider.name)
    assert after.at == min(max(place, divider.low), divider.high)


@given(sizes, st.sampled_from(PANES), st.integers(1, 5))
def test_a_pane_grows_by_what_is_asked_and_shrinks_back(size: Size, pane: PaneName, cells: int) -> None:
    before = shape_for(size, USUAL)
    wider = resized(size, USUAL, pane, columns=cells)
    gained = shape_for(size, wider).regions[pane].width - before.regions[pane].width
    assert 0 <= gained <= cells
    if gained == cells:
        assert shape_for(size, resized(size, wider, pane, columns=-cells)).regions == before.regions


@pytest.mark.parametrize("size", [Size(120, 35), Size(200, 50)])
def test_every_line_can_be_taken_at_the_frames_of_both_sides(size: Size) -> None:
    shape = shape_for(size, USUAL)
    assert len(shape.dividers) == 5
    for divider in shape.dividers:
        x, y = divider.region.offset
        middle = (
            (x, y + divider.region.height // 2) if divider.upright else (x + divider.region.width // 2, y)
        )
        assert shape.divider_at(*middle) == divider
        inside = next(region for region in shape.regions.values() if region.contains(*middle))
        assert middle[0] in (inside.x, inside.right - 1) or middle[1] in (inside.y, inside.bottom - 1)
