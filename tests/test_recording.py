"""The recording of the README: one SVG that shows its frames in turn."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.recording import Frame, animated

_FRAME = '<svg class="t" viewBox="0 0 100 50" xmlns="http://www.w3.org/2000/svg"><text>{}</text></svg>'


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=12))
def test_at_every_moment_exactly_one_frame_is_seen(seconds: list[float]) -> None:
    svg = animated([Frame(_FRAME.format(number), length) for number, length in enumerate(seconds)])
    ElementTree.fromstring(svg)
    spans = []
    for marks in re.findall(r"@keyframes at\d+\{(.*?\})\}", svg):
        seen = [(float(at), state) for at, state in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", marks)]
        begin = next(at for at, state in seen if state == "visible")
        spans.append((begin, next((at for at, state in seen if state == "hidden" and at > begin), 100.0)))
    assert spans[0][0] == 0
    assert spans[-1][1] == 100
    assert all(one[1] == other[0] for one, other in pairwise(spans))


def test_captions_are_text_and_never_markup() -> None:
    svg = animated([Frame(_FRAME.format("x"), 1, "<", 'a & b "c" </svg>')])
    assert "a & b" in "".join(ElementTree.fromstring(svg).itertext())


def test_a_recording_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        animated([])
    with pytest.raises(ValueError, match="viewBox"):
        animated([Frame("<svg></svg>", 1)])
