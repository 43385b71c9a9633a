"""What each tool takes and answers: typed, described for a model, and checked on the way in and out."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from core.model.note import SCOPES, STABILITIES, TYPES
from core.pipeline.limits import LONGEST_DIGEST

LONGEST_CONTENT: Final = 1_000_000
LONGEST_TEXT: Final = 10_000_000
MOST_TAGS: Final = 50

_NUGGET: Final = "Name of a nugget: a collection of facts and notes, usually one for each project."
_NOTE_ID: Final = "Id of the note, the unique beginning of it, or its exact title."

# Texts that must say something: a blank one is refused before the engine is asked.
Question = Annotated[str, Field(min_length=1, max_length=4_000)]
Name = Annotated[str, Field(max_length=200)]
Title = Annotated[str, Field(min_length=1, max_length=1_000)]
Tag = Annotated[str, Field(min_length=1, max_length=200)]
NoteId = Annotated[str, Field(min_length=1, max_length=1_000, description=_NOTE_ID)]
Scope = Literal["self", "user", "shared", "project", "session"]
Type = Literal["fact", "note", "preference", "reflection", "self_model", "project", "relationship", "style"]
Stability = Literal["temporary", "durable"]
Whose = Annotated[
    Literal["", "yours", "team", "both"],
    Field(description="team: of this project's repository. Empty where no team's notes are in reach."),
]
assert (Scope.__args__, Type.__args__, Stability.__args__) == (SCOPES, TYPES, STABILITIES)  # type: ignore[attr-defined]


class Arguments(BaseModel):
    """What a tool takes: its names and no others."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")


class Answer(BaseModel):
    """What a tool answers."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class NoArguments(Arguments):
    """Nothing."""


# Facts


class RecallArguments(Arguments):
    query: Question = Field(description='What you want to know, in plain words, such as "test command".')
    nugget: Name = Field(default="", description=f"Ask only this nugget. {_NUGGET}")
    session: Name = Field(
        default="", description="Id of your conversation, if you have one: a recall counts once for each."
    )
    related: bool = Field(default=False, description="Also give the notes that are linked with the answer.")


class CandidateNote(Answer):
    id: str
    title: str
    first_line: str
    nugget: str
    why: str = Field(description="Words of the question that the note holds and lacks.")
    likelihood: float = Field(description="How likely it answers, from 0 to 1.")
    whose: Whose = ""


class OtherFact(Answer):
    nugget: str
    key: str
    value: str


class RelatedNote(Answer):
    id: str
    title: str
    text: str
    reason: str


class OtherSide(Answer):
    id: str
    text: str


class DocumentPart(Answer):
    """A part of a document, which is no note: getNote does not read it."""

    document_id: str
    title: str
    part: int = Field(description="Which part of the document, from 1.")
    text: str
    sure: bool = Field(description="Whether it is likely to answer the query.")
    score: float = Field(description="Comparable with the notes of this search only.")


class RecallAnswer(Answer):
    judgement: Literal["found", "not sure", "nothing"] = Field(
        description="found: an answer. not sure: candidates, none of them claimed. nothing: no answer."
    )
    answer: str = Field(default="", description="The value of the fact, or the text of the note.")
    truncated: bool = Field(default=False, description="The answer is longer; getNote gives all of it.")
    how: str = Field(default="", description="How the answer was found and how sure it is, in a sentence.")
    via: Literal["facts", "graph", ""] = Field(
        default="", description="facts: by the key of a fact. graph: by a search."
    )
    match: str = Field(default="", description="How the question fits: exact, fuzzy, ...")
    certainty: float = Field(default=0.0, description="From 0 to 1; below 0.9 check the answer.")
    key: str = Field(default="", description="Key of the fact, or title of the note.")
    nugget: str = ""
    note_id: str = ""
    whose: Whose = ""
    candidates: list[CandidateNote] = Field(
        default=[], description="Where it is not sure: the notes that may answer."
    )
    also: list[OtherFact] = Field(default=[], description="What other nuggets hold under the same key.")
    disputed_by: list[OtherSide] = Field(
        default=[], description="Newer notes that say otherwise; nobody decided yet: tell the user of both."
    )
    disputes: list[OtherSide] = Field(
        default=[], description="The older notes that the answer says otherwise than; nobody decided yet."
    )
    documents: list[DocumentPart] = Field(
        default=[], description="Parts of documents that may answer, beside the notes."
    )
    related: list[RelatedNote] = Field(default=[], description="Notes linked with the answer, if asked for.")
    notices: list[str] = []


class RememberArguments(Arguments):
    key: Title = Field(description='Short name of the fact, as somebody would ask for it: "test command".')
    value: Annotated[str, Field(min_length=1, max_length=LONGEST_CONTENT)] = Field(
        description="What is so. An existing key gets the new value; the old one stays in the history."
    )
    nugget: Name = Field(default="", description=f"{_NUGGET} Default: memory.")


class Warned(Answer):
    code: str
    message: str


class Written(Answer):
    """What every tool that changes notes or facts answers."""

    changed: bool = Field(description="False: all was so already, and nothing was written.")
    change_id: str = Field(default="", description="Entry of the history; `nuggets undo ID` takes it back.")
    warnings: list[Warned] = Field(
        default=[], description="What to tell the user, such as a credential in a text."
    )
    notices: list[str] = Field(default=[], description="What else happened to the memory.")
    team_folder: str = Field(default="", description="Where the note is the team's: the folder of its file.")


class RememberAnswer(Written):
    key: str
    value: str
    nugget: str
    note_id: str
    former_value: str = Field(default="", description='The value before, "" for a new key.')
    new_nugget: bool = Field(default=False, description="The nugget did not exist before.")


class ForgetArguments(Arguments):
    nugget: Annotated[str, Field(min_length=1, max_length=200)] = Field(description=_NUGGET)
    key: Title = Field(description="Exact key of the fact; listFacts lists them.")


class ForgetAnswer(Written):
    key: str
    nugget: str
    note_id: str = Field(description="The note of the fact, hidden now; nothing is lost.")


class ListFactsArguments(Arguments):
    nugget: Name = Field(default="", description=f"Only this nugget. {_NUGGET}")
    limit: int = Field(default=50, ge=1, le=200, description="At most so many facts.")
    offset: int = Field(default=0, ge=0, le=10_000_000, description="Pass over so many, to read on.")


class ListedFact(Answer):
    nugget: str
    key: str
    value: str
    hits: int = Field(description="In how many sessions it was recalled.")
    truncated: bool = Field(default=False, description="The value is longer; recall gives it.")


class ListedNugget(Answer):
    name: str
    facts: int
    notes: int = Field(description="Notes that are shown, those of facts included.")


class ListFactsAnswer(Answer):
    facts: list[ListedFact]
    total: int
    next_offset: int = Field(default=0, description="Where to read on, 0 for the end.")
    nuggets: list[ListedNugget]
    notices: list[str] = []


# Notes


class Metadata(Arguments):
    """Metadata of a note; what is left out is inferred, or stays."""

    scope: Scope | None = Field(
        default=None,
        description="Whom it concerns: user, project, self (you, the assistant), shared or session.",
    )
    type: Type | None = Field(default=None, description="What kind of memory it is.")
    stability: Stability | None = Field(default=None, description="temporary: need not outlive the session.")
    confidence: float | None = Field(default=None, ge=0, le=1, description="How sure it is, from 0 to 1.")
    subject: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="Who or what it is about."
    )


class CreateNoteArguments(Metadata):
    title: Title = Field(description="One line that says what the note is about; searches weigh it most.")
    content: Annotated[str, Field(max_length=LONGEST_CONTENT)] = Field(
        description="What was learned, self-contained, in Markdown."
    )
    nugget: Name = Field(default="", description=f"{_NUGGET} Default: memory.")
    tags: list[Tag] = Field(default=[], max_length=MOST_TAGS, description="A few words to find it by.")


class EditNoteArguments(Metadata):
    id: NoteId
    content: Annotated[str, Field(max_length=LONGEST_CONTENT)] | None = Field(
        default=None, description="The whole new text; it replaces the old one. Of a fact: its new value."
    )
    title: Title | None = Field(default=None, description="The new title. Of a fact: its new key.")
    add_tags: list[Tag] = Field(default=[], max_length=MOST_TAGS)
    remove_tags: list[Tag] = Field(default=[], max_length=MOST_TAGS)


class NoteAnswer(Written):
    note_id: str
    title: str
    nugget: str
    tags: list[str] = []
    new_nugget: bool = Field(default=False, description="The nugget did not exist before.")


class AddLinkArguments(Arguments):
    note_id: NoteId
    other_id: NoteId
    reason: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(
        default="related", description='Why they belong together, such as "uses the tokens".'
    )


class NamedNote(Answer):
    id: str
    title: str


class AddLinkAnswer(Written):
    notes: list[NamedNote]
    reason: str


class SearchNotesArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=4_000)] = Field(
        description=(
            'Words, and conditions if you need them: "exact words" -not +must tag:a nugget:n title:t is:fact '
            "updated:<30d hits:>3 is:team."
        )
    )
    limit: int = Field(default=10, ge=1, le=50, description="At most so many notes.")
    nugget: Name = Field(default="", description=f"Only this nugget. {_NUGGET}")
    scope: Scope | None = None
    type: Type | None = None
    subject: Name = ""
    tag: Name = ""
    include_hidden: bool = Field(default=False, description="Also hidden notes.")


class FoundNote(Answer):
    id: str
    title: str
    nugget: str
    snippet: str = Field(description="The piece of the text that matches, on one line.")
    sure: bool = Field(description="Whether it is likely to answer the query.")
    score: float = Field(description="Comparable within this search only.")
    hidden: bool = False
    whose: Whose = ""


class SearchNotesAnswer(Answer):
    judgement: Literal["found", "not sure", "nothing"]
    hits: list[FoundNote]
    documents: list[DocumentPart] = Field(default=[], description="Parts of documents, beside the notes.")
    misread: list[str] = Field(default=[], description="Conditions that were taken for plain words.")
    notices: list[str] = []


class GetNoteArguments(Arguments):
    id: NoteId
    offset: int = Field(
        default=0, ge=0, le=1_000_000_000, description="Character of the text to begin at, to read on."
    )


class LinkedNote(Answer):
    id: str
    title: str
    reason: str
    direction: Literal["to", "from"]


class GetNoteAnswer(Answer):
    id: str
    title: str
    content: str
    total_chars: int
    next_offset: int = Field(default=0, description="Where to read on, 0 for the end.")
    nugget: str
    kind: str = Field(description="fact: mirrors a fact, whose key is the title. note: stands by itself.")
    tags: list[str]
    scope: str
    type: str
    source: str = Field(description="explicit_user: the user said it. agent_reflection: an agent did.")
    stability: str
    confidence: float
    hits: int = Field(description="In how many sessions it was recalled.")
    hidden: bool
    created_at: str
    updated_at: str
    links: list[LinkedNote]
    whose: Whose = ""
    file: str = Field(default="", description="The file of the team's repository that it is.")


class HideNoteArguments(Arguments):
    id: NoteId


class HideNoteAnswer(Written):
    note_id: str
    title: str


# The whole memory


class ReflectArguments(Arguments):
    nugget: Name = Field(default="", description=f"Look only at this nugget. {_NUGGET}")
    limit: int | None = Field(default=None, ge=1, le=1_000, description="Look at no more than so many notes.")


class CleanupChange(Answer):
    id: str
    type: str = Field(description="rewrite, merge, hide, tag or link.")
    note_id: str
    title: str
    detail: str
    doubtful: bool = Field(description="Only the user's word carries it out.")


class ReflectAnswer(Answer):
    applied: bool = Field(description="False: nothing was changed, the changes wait for the user.")
    review_pending: bool = Field(description="The user was left word to review the changes.")
    inspected: int
    counts: dict[str, int] = Field(description="How many changes of each type.")
    changes: list[CleanupChange] = Field(description="The first of them.")
    total: int
    change_id: str = ""
    notices: list[str] = []


class PromoteArguments(Arguments):
    memory_dir: Annotated[str, Field(max_length=4_000)] = Field(
        default="", description="Folder of the MEMORY.md. Default: that of the current project."
    )
    dry_run: bool = Field(default=False, description="Makes no difference: the user alone writes it.")


class PromotedLine(Answer):
    status: str
    section: str
    title: str
    note_id: str


class PromoteAnswer(Answer):
    path: str
    promoted: int
    updated: int
    removed: int
    held_back: int = Field(
        description="Notes recalled often enough that look like credentials, or are temporary."
    )
    entries: list[PromotedLine] = Field(description="The lines that come, change or go; the first of them.")
    notices: list[str] = []


class IngestArguments(Arguments):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)] = Field(
        description="A summary, a decision, a log: kept to the letter. A local model extracts facts from it later."
    )
    nugget: Name = Field(default="", description=f"Where its facts go. {_NUGGET} Default: the project's.")
    project: Annotated[str, Field(max_length=1_000)] = Field(
        default="", description="Project that it is about, as a name or a folder."
    )
    session: Name = Field(default="", description="Id of your conversation, if you have one.")


class IngestAnswer(Answer):
    id: str
    status: str = Field(description="queued: waits for the model. duplicate: was said before. held: waits.")
    duplicate_of: str = ""
    nugget: str
    entities: list[str] = Field(description="Names that it mentions.")
    pipeline: str = Field(description="How it stands with the work on texts.")
    warnings: list[Warned] = []
    notices: list[str] = []


class CheckpointArguments(Arguments):
    digest: Annotated[str, Field(min_length=1, max_length=LONGEST_DIGEST)] = Field(
        description="What was done, decided and learned in this session, and what is still open."
    )
    project: Annotated[str, Field(max_length=1_000)] = Field(
        default="", description="Project that it is about. Default: the folder that the server runs in."
    )
    session: Name = Field(default="", description="Id of your conversation. Default: this connection's.")


class CheckpointAnswer(Answer):
    id: int
    session: str
    project: str
    new: bool = Field(description="False: the last checkpoint says the same.")
    redactions: int = Field(description="Credentials that were taken out.")
    count: int = Field(description="Checkpoints of the session; the oldest go when there are too many.")
    notices: list[str] = []


class RecoverArguments(Arguments):
    session: Name = Field(
        default="",
        description="Id of the conversation to pick up. Default: this one, else the last one of the project.",
    )
    project: Annotated[str, Field(max_length=1_000)] = Field(
        default="",
        description="Project whose last session is meant. Default: the folder that the server runs in.",
    )
    max_tokens: int | None = Field(
        default=None, ge=50, le=20_000, description="Budget of the answer. Default: 500."
    )


class RecoverAnswer(Answer):
    found: bool
    digest: str = Field(
        default="", description="The newest checkpoint, and earlier ones that fit. What an agent noted."
    )
    session: str = ""
    project: str = ""
    author: str = ""
    at: str = Field(default="", description="When the newest checkpoint was made, ISO 8601.")
    count: int = 0
    shown: int = 0
    truncated: bool = False
    notices: list[str] = []


class LastChange(Answer):
    id: str
    at: str
    author: str
    what: str


class StatusAnswer(Answer):
    home: str
    version: str
    author: str = Field(description="As whom your changes are logged.")
    session: str = Field(description="For which your recalls count.")
    facts: int
    notes: int = Field(description="Notes that are shown.")
    hidden: int
    nuggets: list[ListedNugget]
    conflicts: int = Field(description="Changes that wait for the user's decision: nuggets resolve.")
    proposals: int = Field(description="Extracted facts that wait for the user: nuggets pipeline proposals.")
    pipeline: str
    review_pending: bool = Field(description="A cleanup waits for the user: nuggets reflect.")
    read_only: str = ""
    last_change: LastChange | None = None
    problems: list[str] = Field(description="What cannot be read.")
    notices: list[str] = []


@cache
def input_schema(shape: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of arguments, without what only costs a model tokens."""
    return dict(_plain(shape.model_json_schema(by_alias=True, mode="validation")))


def as_meant(given: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments as models send them, in the types of a tool's schema: without those that say nothing, lists that came
    as text, texts that came as numbers. What fits no type stays, to be refused.
    """
    wanted, needed = schema.get("properties", {}), schema.get("required", ())
    typed = {name: _typed(value, wanted.get(name, {})) for name, value in given.items()}
    return {name: value for name, value in typed.items() if value is not None or name in needed}


def _typed(value: Any, schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if value in ("", "null") and (kind != "string" or "enum" in schema):
        return None
    if kind == "array":
        items = _listed(value)
        if not isinstance(items, list):
            return items
        return [one for item in items if (one := _typed(item, schema["items"])) not in ("", None)]
    if kind == "string" and isinstance(value, int | float):
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


def output_schema(shape: type[Answer]) -> dict[str, Any]:
    """The JSON Schema of an answer; every field stands in each."""
    return dict(_plain(shape.model_json_schema(by_alias=True, mode="serialization")))


def _plain(schema: Any, *, names: bool = False) -> Any:
    """A schema without titles and without the null that stands for an argument left out.

    names: the keys are names of properties, which may be called anything.
    """
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if names:
        return {name: _plain(one) for name, one in schema.items()}
    plain = {
        key: _plain(value, names=key in ("properties", "$defs"))
        for key, value in schema.items()
        if key != "title"
    }
    choices = plain.get("anyOf")
    if isinstance(choices, list) and plain.get("default", ...) is None:
        wanted = [one for one in choices if one != {"type": "null"}]
        if len(wanted) == 1 < len(choices):
            del plain["anyOf"], plain["default"]
            plain = wanted[0] | plain
    # The docstrings of shapes are for people who read the code.
    if plain.get("type") == "object" and "properties" in plain:
        plain.pop("description", None)
    return plain
