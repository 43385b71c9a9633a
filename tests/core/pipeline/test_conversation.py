"""What is read of a conversation: what people and the agent said, whatever agent kept it and whatever broke in it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from core.errors import ErrorCode, InvalidInputError
from core.pipeline.conversation import read_conversation
from core.pipeline.service import Pipeline

# A thought, or what a tool said; in no file does it stand where somebody said it.
HIDDEN = "the marmot hums"


def claude(role: str, *parts: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"type": role, "sessionId": "s", "message": {"role": role, "content": content}, **fields}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-01T10:00:00Z", "type": kind, "payload": payload}


def item(role: str, text: str) -> dict[str, Any]:
    part = {"type": "input_text" if role != "assistant" else "output_text", "text": text}
    return codex("response_item", type="message", role=role, content=[part])


def lines(*records: dict[str, Any]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


THOUGHT = {"type": "thinking", "thinking": HIDDEN}
TALK = (
    claude("user", "Which port?"),
    claude("assistant", THOUGHT, "It is 5433.", {"type": "tool_use", "input": {"command": HIDDEN}}),
    claude("user", {"type": "tool_result", "content": HIDDEN}),
    {"type": "summary", "summary": HIDDEN},
    claude("user", "Thanks."),
)
SAID = "User: Which port?\n\nAssistant: It is 5433.\n\nUser: Thanks."


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e", "\t"])
def test_a_line_of_a_conversation_ends_at_a_line_feed_alone(sign: str) -> None:
    """Though JSON allows no control character within a string."""
    text = lines(claude("user", "Left SIGN right"), *TALK).replace("SIGN", sign)
    assert read_conversation(text) == (f"User: Left {sign} right\n\n{SAID}", 0)


def test_a_broken_line_is_left_out_and_counted() -> None:
    for place in [0, 1, len(TALK)]:
        for broken, left_out in [
            ("\0" * 90, 0),
            ('{"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "' + HIDDEN, 1),
            (f'g": "{HIDDEN}"}}]}}}}\n[1]\n"x"\n' + "[" * 100_000, 4),
        ]:
            kept = lines(*TALK).split("\n")
            text = "\n".join((*kept[:place], broken, *kept[place:]))
            assert read_conversation(text) == (SAID, left_out)
            assert read_conversation(text.replace("\n", "\r\n")) == (SAID, left_out)


def test_plain_text_stays_as_it_is() -> None:
    for plain in (
        "",
        " \n",
        "Just words.\n{}\nAnd more.",
        '["a"]\n1',
        "[12:01] Ada: hello\u2028there",
        "a\0b",
    ):
        assert read_conversation(plain) == (plain, 0)


@pytest.mark.parametrize(
    "other",
    ["{broken", "{}", "[]", '{"type": "entity", "name": "x"}', '[{"thinking": "x"}]', '{"a": [1]}\n{"b": 2}'],
)
def test_json_that_is_no_conversation_is_refused_and_ends_nothing(other: str, tmp_path: Path) -> None:
    with Pipeline.open(tmp_path) as pipeline:
        for hand_in in (
            lambda: pipeline.sessions.end("s1", conversation=other),
            lambda: pipeline.ingest("Words.", session="s1", transcript=other),
        ):
            with pytest.raises(InvalidInputError) as caught:
                hand_in()
            assert caught.value.code == ErrorCode.UNREADABLE_SOURCE
        assert pipeline.sessions.all() == ()
        assert pipeline.texts_waiting() == 0


def test_a_rollout_of_codex_is_read_each_message_once() -> None:
    summary = "We moved the quay to Zig."
    rollout = (
        codex("session_meta", id="c1", cwd="/src/shop", source="cli", instructions=HIDDEN),
        item("developer", HIDDEN),
        item("user", f"# AGENTS.md instructions for /src/shop\n\n<INSTRUCTIONS>\n{HIDDEN}\n</INSTRUCTIONS>"),
        item("user", f"<user_instructions>\n{HIDDEN}\n</user_instructions>"),
        item("user", f"<environment_context>\n<cwd>{HIDDEN}</cwd>\n</environment_context>"),
        item("user", f"# Context from my IDE setup:\n{HIDDEN}\n## My request for Codex:\nMove the quay."),
        codex("event_msg", type="user_message", message="Move the quay."),
        codex("event_msg", type="agent_reasoning", text=HIDDEN),
        codex("response_item", type="reasoning", summary=[{"type": "summary_text", "text": HIDDEN}]),
        codex("response_item", type="function_call_output", output=HIDDEN),
        codex("event_msg", type="agent_message", message="Done."),
        item("assistant", "Done."),
        item("user", "Again."),
        codex("event_msg", type="user_message", message="Again."),
        codex("event_msg", type="agent_message", message="Done."),
        item("assistant", "Done."),
        item("assistant", summary),
        codex("compacted", message=f"Another model began.\n{summary}", replacement_history=[HIDDEN]),
        codex("event_msg", type="user_message", message="Only shown."),
    )
    said = "User: Move the quay.\n\nAssistant: Done.\n\nUser: Again.\n\nAssistant: Done.\n\nUser: Only shown."
    assert read_conversation(lines(*rollout)) == (said, 0)
    old = (
        {"id": "c0", "instructions": HIDDEN},
        item("user", "Move it.")["payload"],
        {"record_type": "state"},
    )
    assert read_conversation(lines(*old)) == ("User: Move it.", 0)


def test_an_export_of_opencode_is_read() -> None:
    def message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
        return {"info": {"role": role, **info}, "parts": list(parts)}

    text = {"type": "text", "text": HIDDEN}
    export = {
        "info": {"id": "ses_1", "title": HIDDEN, "directory": "/src"},
        "messages": [
            message(
                "user",
                {"type": "text", "text": "Move the quay."},
                {**text, "synthetic": True},
                {**text, "ignored": True},
                {"type": "file", "filename": HIDDEN},
                summary={"title": HIDDEN, "diffs": []},
            ),
            message(
                "assistant",
                {"type": "reasoning", "text": HIDDEN},
                {"type": "tool", "state": {"output": HIDDEN}},
                {"type": "text", "text": "Moved."},
            ),
            message("user", {"type": "compaction", "auto": True}),
            message("assistant", text, summary=True, mode="compaction"),
        ],
    }
    said = ("User: Move the quay.\n\nAssistant: Moved.", 0)
    assert read_conversation(json.dumps(export, indent=2)) == said
    assert read_conversation(json.dumps(export["messages"])) == said
    export["info"] = {"id": "ses_2", "parentID": "ses_1"}
    assert read_conversation(json.dumps(export)) == ("", 0)


def test_conversations_of_gemini_are_read() -> None:
    messages: list[dict[str, Any]] = [
        {"type": "info", "content": HIDDEN},
        {"type": "user", "content": f"Move it.\n{HIDDEN}", "displayContent": "Move it."},
        {"type": "gemini", "content": "Moved.", "thoughts": [{"subject": HIDDEN}], "toolCalls": [{"result": HIDDEN}]},
    ]  # fmt: skip
    first = {"sessionId": "g", "projectHash": "0"}
    said = ("User: Move it.\n\nAssistant: Moved.", 0)
    assert read_conversation(json.dumps({**first, "messages": messages})) == said
    assert read_conversation(lines(first, *messages, {"$set": {"summary": HIDDEN}})) == said
    history = [
        {"role": "user", "parts": [{"text": "This is the Gemini CLI. We are setting up the context for our chat."}]},
        {"role": "user", "parts": [{"text": "Move it."}, {"functionResponse": {"output": HIDDEN}}]},
        {"role": "model", "parts": [{"text": HIDDEN, "thought": True}, {"text": "Moved."}]},
    ]  # fmt: skip
    assert (
        read_conversation(json.dumps(history)) == read_conversation(json.dumps({"history": history})) == said
    )
    assert read_conversation(json.dumps({**first, "kind": "subagent", "messages": messages})) == ("", 0)


def test_what_the_program_around_the_agent_wrote_is_nobodys_words() -> None:
    for record in [
        claude("user", HIDDEN, isSidechain=True),
        claude("assistant", HIDDEN, isSidechain=True),
        claude("assistant", HIDDEN, parent_tool_use_id="toolu_1"),
        claude("user", HIDDEN, isMeta=True),
        claude("user", HIDDEN, isCompactSummary=True, isVisibleInTranscriptOnly=True),
        claude(
            "user", f"This session is being continued from a previous conversation that ran out.\n{HIDDEN}"
        ),
        claude("assistant", HIDDEN, isApiErrorMessage=True),
        {"type": "assistant", "message": {"role": "assistant", "model": "<synthetic>", "content": HIDDEN}},
        {"type": "system", "content": HIDDEN},
        {"type": "progress", "data": {"message": claude("assistant", HIDDEN)}},
        claude("user", "[Request interrupted by user for tool use]"),
        *(
            claude("user", f"<{tag}>{HIDDEN}\nand {HIDDEN}</{tag}>")
            for tag in (
                "system-reminder",
                "command-message",
                "command-name",
                "local-command-stdout",
                "local-command-caveat",
                "bash-input",
                "bash-stderr",
                "user-prompt-submit-hook",
                "task-notification",
                "ide_opened_file",
                "hook_context",
                "session_context",
                "turn_aborted",
                "user_shell_command",
                "subagent_notification",
            )
        ),
        claude("user", f"<system-reminder>\nIt was cut off: {HIDDEN}"),
    ]:
        assert read_conversation(lines(TALK[0], record, *TALK[1:])) == (SAID, 0)


def test_what_stands_beside_the_words_of_the_program_stays() -> None:
    for typed, said in (
        (
            f"Use <b> tags.\n<system-reminder>{HIDDEN}</system-reminder>\nOn port 80.",
            "Use <b> tags.\n\nOn port 80.",
        ),
        ("<command-name>/fix</command-name>\n<command-args>port 80</command-args>", "port 80"),
        ("What does <system-reminder> mean?", "What does <system-reminder> mean?"),
        ("<task>Move the quay.</task>", "<task>Move the quay.</task>"),
    ):
        assert read_conversation(lines(claude("user", typed))).text == f"User: {said}"
    thinking = claude("assistant", f"<think>\n{HIDDEN}\n</think>\nMoved.")
    assert read_conversation(lines(thinking)).text == "Assistant: Moved."


def test_hostile_conversations_are_read_in_time_in_step_with_their_length() -> None:
    def seconds(size: int) -> float:
        began = time.process_time()
        for sign in (
            "<system-reminder>",
            "<a",
            "<a_",
            "</think>",
            "<hook-",
            "-----hook",
            "\n# AGENTS.md instructions",
        ):
            for role in ("user", "assistant"):
                read_conversation(lines(claude(role, sign * (size // len(sign)))))
        return time.process_time() - began

    assert seconds(400_000) < 40 * max(seconds(40_000), 0.005)


def test_what_was_left_out_of_a_conversation_is_said(tmp_path: Path) -> None:
    with Pipeline.open(tmp_path) as pipeline:
        ended = pipeline.sessions.end("s1", conversation=lines(*TALK) + '\n{"type": "user", "mess')
        assert ended.text is not None
        assert ended.text.warning
        assert pipeline.raw(ended.text.raw_id).content == SAID
        assert not pipeline.ingest("Words.", session="s1", transcript=lines(*TALK)).warning


def test_lines_that_can_be_no_record_are_left_out_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = json.loads
    monkeypatch.setattr(json, "loads", lambda text, **options: (read.append(text), real(text, **options))[1])
    said = read_conversation("\n".join([json.dumps(claude("user", "We use uv.")), *["<"] * 5_000]))
    assert said == ("User: We use uv.", 5_000)
    assert len(read) < 10
