"""What a page may send, and what is refused."""

from __future__ import annotations

import json

import pytest

from nuggets_tui.web.frames import (
    MOST_COLUMNS,
    MOST_ROWS,
    Focus,
    Frame,
    Ping,
    Resized,
    Typed,
    UnreadableFrameError,
    read_frame,
)

MALFORMED = [
    "", "nonsense", "{}", "[]", "5", "null", "[null]", '["what"]', '[["stdin"], 1]', '["stdin"]', '["stdin", 5]',
    '["stdin", "a", "b"]', '["resize"]', '["resize", {}]', '["resize", {"width": "9", "height": 1}]',
    '["resize", {"width": true, "height": 2}]', '["resize", {"width": 1.5, "height": 2}]',
    '["resize", {"width": NaN, "height": 2}]', '["ping"]', '["ping", []]', '["ping", "' + "x" * 200 + '"]',
    '["focus", 1]', "[" * 100_000, "[" + "9" * 9_000 + "]", '["resize", {"width": ' + "9" * 9_000 + ', "height": 1}]',
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_what_our_page_does_not_send_is_refused(text: str) -> None:
    with pytest.raises(UnreadableFrameError):
        read_frame(text)


@pytest.mark.parametrize(
    ("message", "frame"),
    [
        (["stdin", "jé\x1b[A"], Typed("jé\x1b[A".encode())),
        (["stdin", "\ud800"], Typed(b"?")),
        (["resize", {"width": 120, "height": 40}], Resized(120, 40)),
        (["ping", "17"], Ping("17")),
        (["focus"], Focus(True)),
        (["blur"], Focus(False)),
    ],
)
def test_what_our_page_sends_is_read(message: object, frame: Frame) -> None:
    assert read_frame(json.dumps(message)) == frame


@pytest.mark.parametrize("size", [100_000, 10**40, -5, 0])
def test_no_page_makes_its_app_draw_more_cells_than_it_can_bear(size: int) -> None:
    found = read_frame(json.dumps(["resize", {"width": size, "height": size}]))
    assert isinstance(found, Resized)
    assert 0 < found.columns <= MOST_COLUMNS
    assert 0 < found.rows <= MOST_ROWS
