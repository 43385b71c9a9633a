"""Texts that break careless programs: a parameter of every test that shows or stores a note."""

from __future__ import annotations

import re

HOSTILE = (
    "[/x]",
    "a[/]b",
    "[red]not red[/red]",
    "list[int] and [x] todo",
    "\x1b[2J\x1b]0;owned\x07\x1b]52;c;aGk=\x07",
    "\x9b31mred\x85",
    "abc\u202edef\u2066ghi\u2069",
    "\ud800 lone",
    "nul\x00 bell\x07 del\x7f",
    "日本語のノート",
    "e\u0301\u0301\u0301 👩‍👩‍👧 ﷽",
    "שלום عليكم",
    "x" * 100_000,
    "",
)

# What a terminal would obey: nothing of it may come to stand on the screen.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
