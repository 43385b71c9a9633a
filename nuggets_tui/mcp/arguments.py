"""What each tool takes: typed, described for a model, and read as models send it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

LONGEST_CONTENT: Final = 1_000_000
# Of a parameter that is taken but not listed: the tools' former ones stay valid and cost no tokens.
_UNLISTED: Final = {"unlisted": True}

Question = Annotated[str, Meta(min_length=1, max_length=4_000)]
Name = Annotated[str, Meta(max_length=200)]
Title = Annotated[str, Meta(min_length=1, max_length=1_000)]
Content = Annotated[str, Meta(max_length=LONGEST_CONTENT)]
Tags = Annotated[list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(max_length=50)]
NoteId = Annotated[str, Meta(min_length=1, max_length=1_000, description="Its id or exact title.")]
Nugget = Annotated[
    str, Meta(max_length=200, description="If not this project's: prefs for what the person prefers.")
]
Unlisted = Annotated[str, Meta(max_length=1_000, extra_json_schema=_UNLISTED)]
Scope = Literal["", "self", "user", "shared", "project", "session"]


class Arguments(Struct, rename="camel", forbid_unknown_fields=True):
    """What a tool takes: its names and no others."""


class RecallArguments(Arguments):
    query: Annotated[Question, Meta(description='What you want to know, such as "test command".')]
    nugget: Unlisted = ""
    session: Unlisted = ""


class RememberArguments(Arguments):
    key: Annotated[Title, Meta(description='As somebody would ask for it: "test command".')]
    value: Annotated[str, Meta(min_length=1, max_length=LONGEST_CONTENT)]
    nugget: Nugget = ""


class ForgetArguments(Arguments):
    id: Annotated[str, Meta(min_length=1, max_length=1_000, description="Its key, id or exact title.")]


class CreateNoteArguments(Arguments):
    title: Annotated[Title, Meta(description="One line that says what it is about.")]
    content: Annotated[Content, Meta(description="What was learned, self-contained, in Markdown.")]
    tags: Tags = []
    nugget: Nugget = ""
    scope: Annotated[Scope, Meta(extra_json_schema=_UNLISTED)] = ""


class EditNoteArguments(Arguments):
    id: NoteId
    title: Title | None = None
    content: Annotated[Content | None, Meta(description="The whole new text.")] = None
    add_tags: Tags = []
    remove_tags: Tags = []
    link_to: Annotated[str, Meta(max_length=1_000, description="Another note that belongs with it.")] = ""
    scope: Annotated[Scope, Meta(extra_json_schema=_UNLISTED)] = ""


class SearchNotesArguments(Arguments):
    query: Annotated[
        Question, Meta(description='Words; also "exact words", -not, tag:a, is:fact, updated:<30d.')
    ]
    limit: Annotated[int, Meta(ge=1, le=50)] = 8
    nugget: Unlisted = ""


class GetNoteArguments(Arguments):
    id: NoteId
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000, description="Character to read on from.")] = 0


class AddLinkArguments(Arguments):
    note_id: NoteId
    other_id: NoteId
    reason: Title = "related"


class ReflectArguments(Arguments):
    nugget: Name = ""
    limit: Annotated[int, Meta(ge=1, le=10_000)] | None = None


class PromoteArguments(Arguments):
    memory_dir: Annotated[str, Meta(max_length=4_000, pattern=r"^[^\0]*$")] = ""
    dry_run: bool = False


class CheckpointArguments(Arguments):
    digest: Annotated[
        str, Meta(min_length=1, max_length=LONGEST_CONTENT, description="Done, decided, still open.")
    ]
    session: Unlisted = ""
    project: Unlisted = ""


class RecoverArguments(Arguments):
    session: Unlisted = ""
    project: Unlisted = ""
    max_tokens: Annotated[int, Meta(ge=100, le=20_000, extra_json_schema=_UNLISTED)] = 2_000


def input_schema(takes: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of arguments, without what only costs a model tokens."""
    (_,), parts = msgspec.json.schema_components([takes])
    made = parts[takes.__name__]
    properties = {name: _plain(one) for name, one in made["properties"].items() if not one.get("unlisted")}
    needed = made.get("required", [])
    return {"type": "object", "properties": properties} | ({"required": needed} if needed else {})


_KEPT: Final = ("type", "description", "items", "enum")


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), {})
    both = chosen | schema
    kept = {name: both[name] for name in _KEPT if name in both}
    return kept | ({"items": _plain(kept["items"])} if "items" in kept else {})


def as_meant(given: dict[str, Any], takes: type[Arguments]) -> dict[str, Any]:
    """Arguments as models send them, in the types of a tool: without those that say nothing, lists that came as text,
    texts that came as numbers. What fits no type stays, to be refused.
    """
    kinds = {field.encode_name: str(field.type) for field in msgspec.structs.fields(takes)}
    typed = {name: _typed(value, kinds.get(name, "")) for name, value in given.items()}
    return {name: value for name, value in typed.items() if value is not None}


def _typed(value: Any, kind: str) -> Any:
    """A value in the type of a field, None for one that says nothing."""
    plain_text = "str" in kind and "list[" not in kind
    may_stay = "None" in kind or "Optional" in kind
    if (value == "null" and not plain_text) or (value == "" and (may_stay or not plain_text)):
        return None
    if "list[" in kind:
        items = _listed(value)
        return [_text(one) for one in items if one not in ("", None)] if isinstance(items, list) else items
    return _text(value) if plain_text or "Literal" in kind else value


def _text(value: Any) -> Any:
    if isinstance(value, int | float):
        with suppress(ValueError):  # a number of more digits than Python writes out
            return json.dumps(value)
    return value


def _listed(value: Any) -> Any:
    """The list that a value stands for: JSON in a text, words with commas between, or one of its items."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
        return value
    if isinstance(value, str):
        return [word.strip() for word in re.split(r"[,\n]", value)]
    return [value] if isinstance(value, int | float) else value
