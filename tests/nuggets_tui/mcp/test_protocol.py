"""The pipe: whatever comes in, the server answers by the protocol, lives on, and ends without a complaint."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from kits.mcp_client import HELLO, AgentClient, answers, call, raw_server, request

from core.memory import Memory
from core.storage.files.atomic import locked
from core.text.estimate import estimate_tokens
from nuggets_tui.mcp.tools import TOOLS

pytestmark = pytest.mark.slow
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602


def code(message: dict[str, Any]) -> int:
    """The code of an error of the protocol."""
    return int(message["error"]["code"])


def test_every_message_that_asks_for_an_answer_gets_one_under_its_id(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    told = answers(
        tmp_path / "memory",
        b"this is no JSON\n",
        b"\xff\xfe\x00\n",
        b"{}\n[]\n5\n\n",
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 1, "x": ' + deep + b"\n",
        b'{"method": "ping", "params": {"n": %s}, "id": "two"}\n' % (b"9" * 6_000),
        b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"x": "\xff \x01"\n',
        b'{"jsonrpc": "2.0", "id": 4, "method": 5}\n',
        b'{"jsonrpc": "2.0", "id": 5, "method": "\\udcff"}\n',
        b'{"jsonrpc": "2.0", "id": 6, "result": 5}\n',
        call(7, "remember", key="a" * 50_000_000, value="x"),
        call(8, "recall", query="a\0b"),
        b'[{"jsonrpc": "2.0", "id": 9, "method": "ping"}, {"jsonrpc": "2.0", "id": 10}]\n',
        b'{"jsonrpc": "2.0", "id": 11, "method": "ping", "params": []}\n',
    )
    unread = [PARSE_ERROR] * 2 + [INVALID_REQUEST] * 5 + [PARSE_ERROR] * 3
    assert [code(one) for one in told[None]] == unread
    assert {id: code(told[id][0]) for id in (4, 5, 10)} == {
        4: INVALID_REQUEST, 5: UNKNOWN_METHOD, 10: INVALID_REQUEST,
    }  # fmt: skip
    assert all("result" in told[id][0] for id in (7, 8, 9, 11))
    assert 6 not in told


def test_what_the_server_does_not_have_is_refused_and_ends_nothing(tmp_path: Path) -> None:
    told = answers(
        tmp_path / "memory",
        call(1, "deleteEverything"),
        request(2, "tools/call", name=["no name"]),
        request(3, "no/such/method"),
        request(4, "prompts/get", name="other"),
        *(
            request(f"read {number}", "resources/read", uri=uri)
            for number, uri in enumerate(
                ("nuggets://other", "file:///etc/passwd", "nuggets://briefing/a/b", 5)
            )
        ),
        request("read 4", "resources/read", uri="nuggets://briefing/no%20such"),
        request(None, "no/such/notification"),
        request(None, "notifications/cancelled", requestId=["no id"]),
        b'{"jsonrpc": "2.0", "id": "nobody asked", "result": {}}\n',
        b'{"jsonrpc": "2.0", "id": "nobody asked", "error": {}}\n',
        request(5, "tools/call", name="recall", arguments="no object"),
        request(6, "ping"),
    )
    refused = {1, 2, *(f"read {number}" for number in range(5))}
    assert {id: code(told[id][0]) for id in refused} == dict.fromkeys(refused, INVALID_PARAMS)
    assert {code(told[id][0]) for id in (3, 4)} == {UNKNOWN_METHOD}
    assert told[5][0]["result"]["_meta"]["nuggets/error"]["code"] == "invalid-input"
    assert told.keys() == refused | {3, 4, 5, 6}


def test_arguments_nested_deeply_are_refused_and_end_nothing(tmp_path: Path) -> None:
    depths = (100, 400, 900, 960, 990, 2_000, 20_000)
    deep = (
        call(depth, "searchNotes", query="X").replace(b'"X"', b"[" * depth + b"]" * depth) for depth in depths
    )
    told = answers(tmp_path / "memory", *deep, request("after", "ping"))
    # Of what is too deep to be read the id is not known.
    found = [*told.pop(None, []), *(told[depth][0] for depth in depths if depth in told)]
    assert len(found) == len(depths)
    assert all("error" in one or one["result"]["isError"] for one in found)
    assert told["after"]


def test_a_client_gets_the_version_that_it_speaks_else_the_newest(tmp_path: Path) -> None:
    given = {
        "2024-11-05": "2024-11-05",
        "2025-11-25": "2025-11-25",
        "1999-01-01": "2025-11-25",
        "": "2025-11-25",
    }
    asked = (request(one, "initialize", protocolVersion=one) for one in given)
    told = answers(tmp_path / "memory", *asked)
    assert {one: told[one][0]["result"]["protocolVersion"] for one in given} == given


def test_half_a_character_ends_no_call_and_is_stored_as_none(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    half = call(1, "remember", key="half HALF", value="HALF of it").replace(b"HALF", b"\\ud800")
    told = answers(home, half, call(2, "recall", query="half"))
    assert not any(one["result"].get("isError") for id in (1, 2) for one in told[id])
    ((fact,),) = (one.facts for one in Memory.open(home, reconcile=False).snapshot.nuggets)
    assert (fact.key, fact.value) == ("half \ufffd", "\ufffd of it")


def test_a_call_that_is_cancelled_while_it_waits_is_not_done(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    answers(home, call(1, "remember", key="before", value="x"))
    with raw_server(home) as (process, stdin, stdout, _):
        with locked(home):
            stdin.write(call(1, "remember", key="first", value="x"))
            stdin.write(call(2, "remember", key="second", value="x"))
            stdin.write(request(None, "notifications/cancelled", requestId=2))
            stdin.write(request(3, "ping"))
            stdin.flush()
            # Once this is answered, what was sent before it has been taken.
            assert json.loads(stdout.readline())["id"] == 3
        said, _ = process.communicate(timeout=60)
    assert [json.loads(line)["id"] for line in said.splitlines()] == [1]
    ((*facts,),) = (one.facts for one in Memory.open(home, reconcile=False).snapshot.nuggets)
    assert {fact.key for fact in facts} == {"before", "first"}


def test_an_agent_that_goes_without_a_word_leaves_a_sound_memory_and_no_complaint(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    with raw_server(home) as (process, stdin, stdout, stderr):
        stdin.write(request(1, "initialize", **HELLO))
        stdin.flush()
        stdout.readline()
        stdout.close()
        stdin.write(call(2, "remember", key="k", value="v"))
        stdin.close()
        # It ends in order, or as a program that writes into a closed pipe.
        assert process.wait(30) in (0, 141)
        assert stderr.read() == b""
    assert Memory.open(home).maintenance.verify() == ()


def test_an_interrupt_ends_the_server_without_a_traceback(tmp_path: Path) -> None:
    with raw_server(tmp_path / "memory") as (process, stdin, stdout, stderr):
        stdin.write(request(1, "ping"))
        stdin.flush()
        stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
        assert stderr.read() == b""


# What is listed


def test_nine_tools_are_listed_for_few_tokens_and_the_others_are_called_all_the_same(
    agent: AgentClient, home: Path
) -> None:
    listed = agent.portal.call(agent.client.list_tools).tools
    assert {tool.name for tool in listed} == {
        *("recall", "remember", "searchNotes", "getNote", "createNote", "editNote", "forget"),
        *("sessionCheckpoint", "sessionRecover"),
    }
    told = [
        {"name": one.name, "description": one.description, "input_schema": one.input_schema} for one in listed
    ]
    assert estimate_tokens(json.dumps(told)) <= 1_400
    assert sum(len(one.input_schema["properties"]) for one in listed) <= 20
    assert not [one.name for one in listed if one.output_schema or not one.annotations]
    (every,) = answers(home, request(1, "tools/list"), options=("--all-tools",))[1]
    assert [one["name"] for one in every["result"]["tools"]] == [tool.name for tool in TOOLS]


def test_arguments_that_are_handed_in_as_json_text_are_read(tmp_path: Path) -> None:
    params = {"name": "remember", "arguments": json.dumps({"key": "port", "value": "8080"})}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    told = answers(tmp_path / "memory", json.dumps(asked).encode() + b"\n")
    assert "isError" not in told[1][0]["result"]
