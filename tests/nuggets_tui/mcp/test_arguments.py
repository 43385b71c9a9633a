"""Arguments are read as models send them, and the list of tools is short."""

from __future__ import annotations

from typing import Any

import pytest

from nuggets_tui.mcp.arguments import CreateNoteArguments, SearchNotesArguments, as_meant

AS_SENT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"tags": '["build", "on call"]'}, {"tags": ["build", "on call"]}),
    ({"tags": "build, server"}, {"tags": ["build", "server"]}),
    ({"tags": ["a", None, 7, ""]}, {"tags": ["a", "7"]}),
    ({"tags": None}, {}),
    ({"tags": '["a"'}, {"tags": '["a"'}),
    ({"title": 7733}, {"title": "7733"}),
    ({"title": True}, {"title": "true"}),
    ({"title": "null"}, {"title": "null"}),
    ({"title": 10**5_000}, {"title": 10**5_000}),
    ({"title": None}, {}),
    ({"unknown": 5}, {"unknown": 5}),
]


@pytest.mark.parametrize(("sent", "meant"), AS_SENT, ids=range(len(AS_SENT)))
def test_arguments_as_models_send_them_become_those_of_the_tool(
    sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert as_meant(sent, CreateNoteArguments) == meant


@pytest.mark.parametrize("limit", [1.0, 1])
def test_whole_numbers_are_numbers_in_any_form(limit: object) -> None:
    assert as_meant({"limit": limit, "query": "a", "nugget": None}, SearchNotesArguments) == {
        "limit": 1,
        "query": "a",
    }
