"""Names of Textual that begin with an underscore stand in one file, and the installed version has them all."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path
from weakref import ref

import pytest
from rich.segment import Segment
from textual.app import App
from textual.cache import FIFOCache
from textual.events import Key, Paste
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Static

from nuggets_tui.textual_adapter import (
    NAMES,
    AnyKeys,
    any_terminal,
    let_go_of_closed_widgets,
    make_caches_late,
)

FRONTS = Path(__file__).parents[2] / "nuggets_tui"
# Textual's, and its list of a field, which inherits.
ADAPTERS = {"textual_adapter.py", "value_list.py"}
# Of the standard library: `os._exit`, and `_asdict` of a named tuple.
STANDARD = {"_exit", "_asdict"}


def test_the_installed_version_has_every_name() -> None:
    for place, names in NAMES.items():
        module, _, name = place.rpartition(".")
        owner = getattr(importlib.import_module(module), name)
        assert [one for one in names if not hasattr(owner, one)] == []
    app = App[None]()
    assert app._notifications is not None
    assert app._parent is None
    assert not Message()._stop_propagation
    any_terminal(app)
    assert not app.console.is_dumb_terminal


@pytest.mark.slow
async def test_what_a_closed_widget_drew_is_let_go() -> None:
    let_go_of_closed_widgets()
    app = App[None]()
    async with app.run_test() as pilot:
        widget = Static("some text")
        await app.mount(widget)
        await pilot.pause()
        drawn = ref(widget._styles_cache)
        await widget.remove()
        await pilot.pause()
        del widget
        # Until something else is drawn, the screen holds what was.
        await app.mount(Static("another text"))
        await pilot.pause()
        gc.collect()
        assert drawn() is None


def test_a_line_has_no_cache_until_it_is_used_and_then_remembers() -> None:
    make_caches_late()
    line = Strip([Segment("some text")])

    def caches() -> list[object]:
        return [held for held in gc.get_referents(line) if isinstance(held, FIFOCache)]

    assert caches() == []
    cut, other = line.crop(0, 4), line.crop(5, 9)
    assert (cut.text, other.text) == ("some", "text")
    assert line.crop(0, 4) is cut
    assert len(caches()) == 1
    parts = line.divide([4, 9])
    assert [part.text for part in parts] == ["some", " text"]
    assert line.divide([4, 9])[0] is parts[0]
    assert len(caches()) == 2
    assert line.adjust_cell_length(12).text == "some text   "
    with pytest.raises(AttributeError, match="no_such_name"):
        line.no_such_name  # noqa: B018


PASTED = "A \x1b[31mred\x1b[0m B\nx \x1b]0;t\x07 \x1b[A \x1b[200~\x1b"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1_000])
def test_pasted_text_keeps_its_order_and_none_of_it_is_a_key(size: int) -> None:
    sent = f"a\x1b[A\x1b[200~{PASTED}\x1b[201~b\x1b[200~\x1b[201~c"
    reader = AnyKeys()
    said = [event for at in range(0, len(sent), size) for event in reader.feed(sent[at : at + size])]
    assert [event.key for event in said if isinstance(event, Key)] == ["a", "up", "b", "c"]
    (pasted,) = [event.text for event in said if isinstance(event, Paste) and event.text]
    assert pasted == PASTED.replace("\x1b", "")
    assert said.index(next(event for event in said if isinstance(event, Paste))) == 2
