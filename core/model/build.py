"""Builds a new note, and hides a fact inside its note: shared by edits of notes and of facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from core.model.draft import Draft
from core.model.fact import Fact
from core.model.infer import Meta, MetaInput, infer_meta, semantic_tags
from core.model.note import HiddenFact, Note, normalise_tag


def new_note(
    draft: Draft,
    kind: str,
    nugget: str,
    title: str,
    content: str,
    *,
    tags: Iterable[str] = (),
    meta: MetaInput | None = None,
    by_agent: bool = False,
    **fields: Any,
) -> Note:
    """Lays a new note over the draft: "fact" (it mirrors the fact whose key is the title) or "note".

    Metadata that is not given is inferred. by_agent: as in `infer_meta`. Title, content and tags are taken as they
    are. fields: others of the note that are not as usual. Raises InvalidInputError for metadata that the format does
    not know.
    """
    given = tuple(tags)
    checked = (meta or MetaInput()).checked()
    if draft.team is not None:
        usual = draft.team.meta
        checked = msgspec.structs.replace(
            checked, scope=checked.scope or usual.scope, stability=checked.stability or usual.stability
        )
    inferred = infer_meta(kind, title, content, given, checked, draft.rules, nugget=nugget, by_agent=by_agent)
    of_nugget, *derived = derived_tags(kind, nugget, title, inferred)
    id, page = draft.new_place(kind, nugget, title)
    return draft.put(
        Note(
            id=id,
            nugget_name=nugget,
            title=title,
            content=content,
            tags=(of_nugget, *given, *derived),
            kind=kind,
            source_key=title if kind == "fact" else None,
            **{
                "created_at": draft.at, "updated_at": draft.at, "last_accessed_at": draft.at,
                **inferred._asdict(), "page": page, **fields,
            },
        )
    )  # fmt: skip


def derived_tags(kind: str, nugget: str, title: str, meta: Meta | Note) -> list[str]:
    """The tags that follow from what else is known of a note: its nugget, scope and type, then those of their sense."""
    said = semantic_tags(kind, title, meta.type, meta.source)
    return [normalise_tag(nugget), f"scope:{meta.scope}", f"type:{meta.type}", *said]


def as_hidden_fact(fact: Fact, index: int) -> HiddenFact:
    """A fact as it waits inside its hidden note; `index` is the place that it had."""
    return HiddenFact(**msgspec.structs.asdict(fact), index=index)


def as_visible_fact(kept: HiddenFact) -> Fact:
    """The fact that waited inside a hidden note."""
    return Fact(**{name: getattr(kept, name) for name in Fact.__struct_fields__})
