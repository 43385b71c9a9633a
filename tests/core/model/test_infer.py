"""Metadata that nobody gave: explicit prefixes, whole words, documented confidences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.model.infer import (
    infer_meta,
    infer_scope,
    infer_stability,
    semantic_tags,
    subject_of,
)
from core.settings import InferenceSettings

RULES = InferenceSettings()
# The original looks for pieces of words: "file" in "my profile", "path" in "sympathy card".
MISLED = {"my profile": "user", "sympathy card": "user"}


def test_scopes_are_those_of_the_original_where_no_piece_of_a_word_misled_it(golden: Path) -> None:
    cases = json.loads((golden / "fhrr.json").read_bytes())["inferScope"]
    assert len(cases) >= 17
    ours = {case["key"]: infer_scope(case["key"], "", (), RULES) for case in cases}
    assert ours == {case["key"]: MISLED.get(case["key"], case["scope"]) for case in cases}


# Note titles of the golden store whose scope the original took from words in the content (or, "gear" aside,
# from pieces of words); ours is named here so that a change of the word lists shows.


@pytest.mark.parametrize("scope", ["self", "user", "shared", "project", "session"])
def test_an_explicit_prefix_wins_over_every_word(scope: str) -> None:
    for key in (f"{scope}:project file of my assistant", f"{scope.upper()}:x", f"  {scope}:x"):
        assert infer_scope(key, "user project file assistant", ("project",), RULES) == scope


@pytest.mark.parametrize(
    ("kind", "key", "type_"),
    [
        ("fact", "user:x", "fact"), ("note", "user:x", "note"), ("note", "self:x", "self_model"),
        ("fact", "project:x", "project"), ("fact", "user:pref:editor", "preference"),
        ("fact", "favorite color", "preference"), ("note", "self:voice style", "style"),
        ("note", "wife", "relationship"), ("note", "weekly reflection", "reflection"),
        ("fact", "prefix", "fact"),
    ],
)  # fmt: skip
def test_the_type_follows_key_and_scope(kind: str, key: str, type_: str) -> None:
    assert infer_meta(kind, key, "").type == type_


@pytest.mark.parametrize(
    ("key", "stability"),
    [
        ("_task", "temporary"), ("user:_task", "temporary"), ("tmp", "temporary"),
        ("temp: x", "temporary"), ("scratch-pad", "temporary"), ("TMP file", "temporary"),
        ("session:x", "temporary"), ("temp_dir", "temporary"), ("Template for releases", "durable"),
        ("Temperature", "durable"), ("Tempo", "durable"), ("scratched disc", "durable"),
        ("tmpfs", "durable"), ("my temp", "durable"), ("x", "durable"),
    ],
)  # fmt: skip
def test_only_scratch_prefixes_that_end_at_a_word_boundary_are_temporary(key: str, stability: str) -> None:
    assert infer_stability(infer_scope(key, "", (), RULES), key) == stability
    assert infer_meta("note", key, "").stability == stability


@pytest.mark.parametrize(
    ("key", "value", "scope", "type_"),
    [
        ("file:main.ts", "src/server/main.ts", "shared", "fact"),
        ("edited:src/app.py", "added the login form", "shared", "fact"),
        ("  Edited: src/app.py", "my favorite form", "shared", "fact"),
        ("shared:file:main.ts", "src/server/main.ts", "shared", "fact"),
        ("project:edited:main.ts", "twice", "project", "project"),
        ("user:file:main.ts", "x", "user", "fact"), ("file:my-preferences.css", "x", "shared", "fact"),
        ("edited:style/assistant.py", "x", "shared", "fact"),
        ("auth handler", "src/auth/middleware.ts:47", "shared", "fact"),
        ("login", "~/dev/my-app/assistant.py", "shared", "fact"),
        ("entry", "src/a.ts, src/b.ts", "shared", "fact"), ("logs", "/var/log/app/", "shared", "fact"),
        ("project entry", "src/main.rs", "project", "project"),
    ],
)  # fmt: skip
def test_what_tools_saw_of_files_is_shared_and_an_observation(
    key: str, value: str, scope: str, type_: str
) -> None:
    meta = infer_meta("fact", key, value)
    assert (meta.scope, meta.type, meta.source, meta.confidence) == (scope, type_, "tool_observation", 0.98)
    assert (meta.subject, meta.stability) == (subject_of(scope), "durable")


@pytest.mark.parametrize(
    ("key", "value", "scope"),
    [
        ("user:editor setup", "~/.config/nvim/init.lua", "user"),
        ("my notes", "/home/me/notes.md", "user"), ("session:draft", "/tmp/draft.md", "session"),
        ("framework", "Next.js", "user"), ("website", "github.com/me", "user"),
        ("profile: main", "blue and/or green", "user"), ("the edited: text", "short", "user"),
        ("where it is", "look into src/auth/main.ts first", "user"),
    ],
)  # fmt: skip
def test_what_a_person_said_stays_theirs(key: str, value: str, scope: str) -> None:
    meta = infer_meta("fact", key, value)
    assert (meta.scope, meta.source, meta.confidence) == (scope, "explicit_user", 0.9)


@pytest.mark.parametrize(
    ("key", "type_", "tags"),
    [
        ("learned: always lint", "note", ("learnings",)), ("user:lesson 5", "note", ("learnings",)),
        ("x", "preference", ("preferences",)), ("x", "style", ("style",)),
        ("file:main.ts", "fact", ("files",)), ("edited:main.ts", "fact", ("files",)), ("x", "note", ()),
    ],
)  # fmt: skip
def test_new_memories_are_tagged_by_what_they_speak_of(key: str, type_: str, tags: tuple[str, ...]) -> None:
    assert semantic_tags("note", key, type_, "explicit_user") == tags


@pytest.mark.parametrize(
    ("key", "content", "scope"),
    [
        ("editor", "prefers helix", "user"), ("name", "Jonas, prefers informal du", "user"),
        ("answers", "The user prefers short answers", "user"),
        ("tls", "server prefers TLS 1.3", "project"),
        ("flaky test", "the css uses prefers-reduced-motion", "project"),
    ],
)  # fmt: skip
def test_what_an_agent_says_of_a_program_is_no_preference_of_the_person(
    key: str, content: str, scope: str
) -> None:
    assert infer_meta("fact", key, content, nugget="shop", by_agent=True).scope == scope
