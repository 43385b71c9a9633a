"""Infers metadata that nobody gave, from the key or title, the content and the tags."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from core.errors import InvalidInputError
from core.model.names import PERSONS_NUGGETS
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES
from core.settings import InferenceSettings

_ALLOWED: Final = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}
_SUBJECTS: Final = {"self": "assistant:self", "user": "user:primary", "session": "session:current"}
_CONFIDENCE: Final = {
    "explicit_user": 0.9, "tool_observation": 0.98, "agent_reflection": 0.75, "inferred": 0.60, "system": 0.9,
}  # fmt: skip
_SAID: Final = frozenset(("explicit_user", "agent_reflection"))
_PREFIX: Final = re.compile(r"\s*(self|user|shared|project|session):", re.IGNORECASE)
# What tools put before the name of a file that they saw or changed.
_FILE_KEY: Final = re.compile(r"\s*(?:file|edited):", re.IGNORECASE)

# What holds in one project, and what is said of the person or for everywhere. Compiled by the first who writes: a
# program that only reads starts without them.
_HERE: Final = (
    r"\b(?:in|for|of) th(?:is|e) (?:repo(?:sitory)?|project|code ?base|monorepo)\b|\bhere\b"
    r"|\bin diese[mr] (?:projekt|repo)|\bdans ce (?:projet|dépôt)|\ben este (?:proyecto|repo)"
)
_OF_PERSON: Final = (
    r"\b(?:user|he|she|person)\s+(?:\w+ly\s+)?(?:prefers?|likes?|wants?|dislikes?|hates?|lives?|works?|speaks?)\b"
    r"|(?:^|[:,;.] )prefers\b(?!-)|\b(?:user|personal) preferences?\b"
    r"|\bI(?:['’]m| am| prefer| like| want| live| work)\b"
    r"|\b(?:my|user['’]s) (?:name|editor|preference|time ?zone|language|shell|email|birthday|pronouns?|keyboard)"
    r"|\b(?:in|for|across) all (?:\w+ )?(?:projects|repos\w*)\b|\beverywhere\b"
    r"|\b(?:be)?nutzer (?:bevorzugt|mag|möchte)|\bl['’]utilisateur (?:préfère|aime|veut)"
    r"|\bel usuario (?:prefiere|quiere)"
)


class MetaInput(msgspec.Struct, frozen=True):
    """Metadata given by hand; what is None is inferred. `confidence` is clamped to [0, 1]."""

    subject: str | None = None
    scope: str | None = None
    type: str | None = None
    source: str | None = None
    confidence: float | None = None
    stability: str | None = None

    def checked(self) -> MetaInput:
        """The same, when every given value is one that the format knows. Raises InvalidInputError."""
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                must = f"must be one of {', '.join(allowed)}, not {value!r}"
                raise InvalidInputError(must, field=name, where=name)
        if self.confidence is not None and math.isnan(self.confidence):
            must, name = "must be a number from 0 to 1", "confidence"
            raise InvalidInputError(must, field=name, where=name)
        return self

    @property
    def given(self) -> dict[str, str | float]:
        """The fields that were given, by name, confidence clamped."""
        given = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {
            name: clamp(value) if name == "confidence" else value
            for name, value in given
            if value is not None
        }


class Meta(NamedTuple):
    """Complete metadata of a note."""

    subject: str
    scope: str
    type: str
    source: str
    confidence: float
    stability: str


def clamp(value: float) -> float:
    """A confidence brought into [0, 1]."""
    return min(1.0, max(0.0, float(value)))


def subject_of(scope: str) -> str:
    """Whom a memory of a scope is about, when nobody said it."""
    return _SUBJECTS.get(scope, "shared:project")


def said_scope(key: str) -> str:
    """The scope that a key or title names before a colon, such as "project: build"; "" for none."""
    prefix = _PREFIX.match(key)
    return prefix[1].lower() if prefix else ""


def names_file(key: str) -> bool:
    """Whether a key or title names a file as tools do: "file:main.ts", "edited:src/app.py", behind any scope."""
    return bool(_FILE_KEY.match(_PREFIX.sub("", key, count=1)))


def holds_here(text: str) -> bool:
    """Whether a text says that it holds in one project."""
    return bool(re.search(_HERE, text, re.IGNORECASE))


def scope_of(
    key: str, content: str, tags: Iterable[str], rules: InferenceSettings, nugget: str, *, by_agent: bool
) -> str:
    """As `infer_scope`; but what an agent writes is its project's, unless the nugget is a person's, or the text says of
    whom it is: a prefix of the key, the person, or everywhere.
    """
    if not by_agent or nugget.casefold() in PERSONS_NUGGETS:
        return infer_scope(key, content, tags, rules)
    text = f"{key}: {content}"
    about_person = re.search(_OF_PERSON, text, re.IGNORECASE) and not holds_here(text)
    return said_scope(key) or ("user" if about_person else "project")


def infer_scope(key: str, content: str, tags: Iterable[str], rules: InferenceSettings) -> str:
    """Scope of a memory: explicit prefix, then words of the key, then of tags and content; "user" where none says it.

    What names a file is "shared", by its key or, where neither key nor tags say more, by a path for a content.
    """
    if said := said_scope(key):
        return said
    if key.strip().startswith("_") or names_file(key):
        return "shared"
    scope = _scope_of_words(key, rules) or _scope_of_words(" ".join(tags), rules)
    return scope or ("shared" if _is_path(content) else _scope_of_words(content, rules) or "user")


def _is_path(content: str) -> bool:
    # Most contents need no look, and most programs never ask.
    if not any(sign in content for sign in "/\\:#"):
        return False
    from core.text.file_references import is_path

    return is_path(content)


def _scope_of_words(text: str, rules: InferenceSettings) -> str:
    scopes = {
        "self": rules.assistant_words,
        "project": rules.project_words,
        "shared": rules.shared_words,
        "user": rules.user_words,
    }
    return next((scope for scope, words in scopes.items() if has_word(text, words)), "")


def infer_meta(
    kind: str,
    key: str,
    content: str,
    tags: Iterable[str] = (),
    given: MetaInput | None = None,
    rules: InferenceSettings | None = None,
    *,
    nugget: str = "",
    by_agent: bool = False,
) -> Meta:
    """All metadata of a memory of this kind ("fact" or "note"); what is given wins over what is inferred.

    nugget: the one that it is written into. by_agent: an agent says it, so that it is not taken for what the user said.
    """
    given = given or MetaInput()
    rules = rules or InferenceSettings()
    tags = tuple(tags)
    scope = given.scope or scope_of(key, content, tags, rules, nugget, by_agent=by_agent)
    source = given.source or _infer_source(scope, key, content, by_agent)
    confidence = given.confidence if given.confidence is not None else _CONFIDENCE.get(source, 0.9)
    # What an agent says of the person answers, and is in the briefing, in all projects.
    told = by_agent and scope == "user" and not given.scope and nugget.casefold() not in PERSONS_NUGGETS
    return Meta(
        subject=given.subject or subject_of(scope),
        scope=scope,
        type=given.type or ("preference" if told else _infer_type(kind, scope, key, tags, rules)),
        source=source,
        confidence=clamp(confidence),
        stability=given.stability or infer_stability(scope, key, rules),
    )


def said_anew(
    key: str, content: str, scope: str, source: str, confidence: float, *, by_agent: bool
) -> tuple[str, float]:
    """Source and confidence of a memory once its content was replaced by somebody's own words.

    It is theirs from then on, unless its source or confidence were chosen by hand.
    """
    inferred = _infer_source(scope, key, content, by_agent)
    if {source, inferred} <= _SAID and confidence == _CONFIDENCE[source]:
        return inferred, _CONFIDENCE[inferred]
    return source, confidence


def _infer_source(scope: str, key: str, content: str, by_agent: bool) -> str:
    """Files are what tools observe; a path that a key keeps for a person or the assistant is what they said."""
    if names_file(key) or (scope in ("shared", "project") and _is_path(content)):
        return "tool_observation"
    return "agent_reflection" if by_agent or scope == "self" else "explicit_user"


def _infer_type(kind: str, scope: str, key: str, tags: tuple[str, ...], rules: InferenceSettings) -> str:
    # The name of a file says nothing of the memory: "file:style.css" is no matter of style.
    said = " ".join(tags) if names_file(key) else " ".join((key, *tags))
    by_words = {
        "preference": rules.preference_words,
        "reflection": ("reflection", "reflect"),
        "style": rules.style_words,
        "relationship": rules.relationship_words,
    }
    by_scope = {"self": "self_model", "project": "project"}.get(scope, "fact" if kind == "fact" else "note")
    return next((type_ for type_, words in by_words.items() if has_word(said, words)), by_scope)


def infer_stability(scope: str, key: str, rules: InferenceSettings | None = None) -> str:
    """ "temporary" for the session's scope and for keys that start with "_" or a scratch prefix as a whole word."""
    rules = rules or InferenceSettings()
    name = _PREFIX.sub("", key, count=1).strip()
    if scope == "session" or name.startswith("_") or is_scratch(name, rules):
        return "temporary"
    return "durable"


def is_scratch(title: str, rules: InferenceSettings | None = None) -> bool:
    """Whether a title starts with a scratch prefix that ends at a word boundary ("temp", not "Template")."""
    pattern = _word_pattern((rules or InferenceSettings()).temporary_prefixes)
    return pattern is not None and pattern.match(title.strip()) is not None


def semantic_tags(kind: str, key: str, type_: str, source: str) -> tuple[str, ...]:
    """Tags that say what a new memory is about: preferences, learnings, files, style, reflection."""
    found: list[str] = []
    name = _PREFIX.sub("", key, count=1).strip().lower()
    if name.startswith(("learned", "learning", "lesson")):
        found.append("learnings")
    if type_ == "preference":
        found.append("preferences")
    if type_ in ("style", "reflection"):
        found.append(type_)
    if names_file(key):
        found.append("files")
    return tuple(found)


def has_word(text: str, words: Iterable[str]) -> bool:
    """Whether one of the words stands in the text as a whole word; "_", "-", ":" and "." part words."""
    pattern = _word_pattern(tuple(words))
    return pattern is not None and bool(pattern.search(text))


@lru_cache(maxsize=256)
def _word_pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    if not words:
        return None
    choice = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![^\W_])(?:{choice})(?![^\W_])", re.IGNORECASE)
