"""Every key of the app leads to something that it does."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode

import nuggets_tui
from nuggets_tui.application import NuggetsApp


def _classes() -> Iterator[type[DOMNode]]:
    for found in pkgutil.walk_packages(nuggets_tui.__path__, "nuggets_tui."):
        if not found.name.endswith("__main__"):
            for each in vars(importlib.import_module(found.name)).values():
                if isinstance(each, type) and issubclass(each, DOMNode) and each.__module__ == found.name:
                    yield each


def _leads_nowhere(owner: type[DOMNode], action: str) -> bool:
    name = action.partition("(")[0].strip().rpartition(".")[2]
    homes = (owner,) if "." not in action.partition("(")[0] else (NuggetsApp, *_classes())
    return not any(hasattr(home, f"{kind}{name}") for home in homes for kind in ("action_", "_action_"))


def test_every_key_of_every_screen_and_widget_leads_to_an_action() -> None:
    bindings = [
        (owner, binding)
        for owner in _classes()
        for binding in Binding.make_bindings(vars(owner).get("BINDINGS", ()))
    ]
    assert len(bindings) > 100
    lost = [
        (owner.__name__, binding.key, binding.action)
        for owner, binding in bindings
        if _leads_nowhere(owner, binding.action)
    ]
    assert lost == []
