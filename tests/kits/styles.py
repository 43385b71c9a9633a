"""Styles parsed once for all apps of a run: each app parses the same forty files, most of what its start takes."""

from __future__ import annotations

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import CSSLocation, Stylesheet

_parsed: dict[tuple[object, ...], list[RuleSet]] = {}
# Colours and other variables as last given to a stylesheet, which replaces and never changes them, and their values.
_variables: tuple[dict[str, str], frozenset[tuple[str, str]]] = ({}, frozenset())
_parse_rules = Stylesheet._parse_rules


def share_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every stylesheet take rules that another one has parsed, from the same text with the same colours."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parsed_once)


def _parsed_once(
    sheet: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    global _variables
    if sheet._variables is not _variables[0]:
        _variables = sheet._variables, frozenset(sheet._variables.items())
    key = (css, read_from, is_default_rules, tie_breaker, scope, _variables[1])
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, read_from, is_default_rules, tie_breaker, scope)
    return _parsed[key]
