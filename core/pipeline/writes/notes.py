"""What becomes of notes: the note of an accepted fact, a change laid over a draft, and what a note says after one.

Pure: the same row over the same draft gives the same notes.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from core.graph.edits import edit_note, hide_note, link_notes
from core.model.build import derived_tags
from core.model.compare import alike
from core.model.draft import Draft
from core.model.infer import MetaInput, clamp, infer_meta
from core.model.names import DEFAULT_NUGGET, check_nugget_name, iso, known_nugget, note_id
from core.model.note import ORIGIN, Note, custom_tags, normalise_tag, origin_of_note, replace
from core.pipeline.intake.normalisation import normalise
from core.pipeline.intake.sentences import sentences
from core.pipeline.records import StoredProposal
from core.pipeline.statements import contradicts_in_words, denies_another, saying, similarity
from core.text.normalise import code_lines, normalise_content, normalise_line

# What nobody confirmed is held for no more than this.
UNCONFIRMED: Final = 0.60
_DIGITS: Final = 8
_TITLE: Final = 72
# A fact's type -> the note's type and a tag that keeps what the note's types do not tell apart.
_TYPES: Final[dict[str, tuple[str, str]]] = {
    "fact": ("fact", ""),
    "preference": ("preference", ""),
    "decision": ("project", "decision"),
    "procedural": ("project", "how-to"),
    "semantic": ("note", ""),
}
_TITLE_END: Final = re.compile(r"[\s.,;:!?…-]+$")


Op = Literal["add", "update", "hide"]


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """One thing that is to be done to one note, since a proposal was accepted. at: when, epoch ms. accepted_by: the
    person who said so, "" for nobody. content: what the note says then; expected: what it says now. project: of the
    text; replaces: the note whose place an added one takes, "" for none.
    """

    op: Op
    proposal: StoredProposal
    fact_id: str
    note_id: str
    at: int
    accepted_by: str = ""
    content: str = ""
    expected: str = ""
    project: str = ""
    replaces: str = ""


def note_ids(nugget: str, content_hash: str) -> Iterator[str]:
    """Ids for the note of a fact, the first choice first: `note-<nugget>-<8 hex>`, endless.

    The first is of the hash itself, each further one of the hash with a counter hashed again.
    """
    yield note_id("note", nugget, content_hash[:_DIGITS])
    for count in itertools.count(1):
        again = hashlib.sha256(f"{content_hash}:{count}".encode()).hexdigest()
        yield note_id("note", nugget, again[:_DIGITS])


def title_of(content: str) -> str:
    """A title for a text: its first sentence as one line, cut at a word where it is longer than 72 characters."""
    line = normalise_line(content)
    first = next(iter(sentences(line)), None)
    said = line[first.start : first.end].strip() if first is not None else line
    if len(said) > _TITLE:
        cut = said[: _TITLE - 1]
        head = cut.rpartition(" ")[0] if " " in cut[_TITLE // 2 :] else cut
        return _TITLE_END.sub("", head) + "…"
    return _TITLE_END.sub("", said) or said or line


def fact_of(note: Note) -> str:
    """The id of the fact that a note was made from, "" for a note of others."""
    found = origin_of_note(note).get("fact")
    return found if isinstance(found, str) else ""


def note_of(draft: Draft, edit: NoteEdit, id: str) -> Note:
    """The note that an edit adds, under this id; its times are the edit's, so that it is the same at each try.

    Raises InvalidInputError for a nugget whose name no file can bear.
    """
    known, proposal = draft.nugget_names(), edit.proposal
    nugget = known_nugget(proposal.nugget or DEFAULT_NUGGET, known)
    if nugget not in known:
        check_nugget_name(nugget)
    content = normalise_content(edit.content)
    title = title_of(content)
    type_, tag = _TYPES.get(proposal.type, _TYPES["fact"])
    project = normalise_tag(edit.project.rstrip("/\\").replace("\\", "/").rpartition("/")[2])
    own = tuple(filter(None, (project, tag)))
    confidence = clamp(proposal.fact_confidence)
    if not edit.accepted_by:
        confidence = min(UNCONFIRMED, confidence)
    given = MetaInput(type=type_, source="inferred", confidence=confidence, stability="durable")
    meta = infer_meta("note", title, content, own, given, draft.rules)
    of_nugget, *derived = derived_tags("note", nugget, title, meta)
    at = iso(datetime.fromtimestamp(edit.at / 1000, UTC))
    return Note(
        id=id,
        nugget_name=nugget,
        title=title,
        content=content,
        tags=(of_nugget, *own, *derived),
        created_at=at,
        updated_at=at,
        last_accessed_at=at,
        extra={ORIGIN: {"memory": proposal.raw_id, "fact": edit.fact_id, "model": proposal.model}},
        **meta._asdict(),
    )


# A change over a draft

# The reason of the link between a note and the one whose place it took.
_REPLACES: Final = "replaces"


class AppliedEdit(NamedTuple):
    """What became of an edit. written: whether the note was not as the edit wants it before. former, now: the note's
    text before and after.
    """

    written: bool
    former: str = ""
    now: str = ""


def apply_edit(draft: Draft, edit: NoteEdit) -> AppliedEdit | None:
    """Lays an edit over the draft; None where the note has moved on since. What is there already is not written again.
    An added note that takes the place of an old one bears that one's tags, and the two are linked.
    """
    content, there, hides = normalise_content(edit.content), draft.note(edit.note_id), edit.op == "hide"
    if edit.op == "add":
        if draft.exists(edit.note_id):
            return None
        note, old = note_of(draft, edit, edit.note_id), draft.note(edit.replaces)
        if old is not None:
            note = replace(note, tags=tuple(dict.fromkeys((*note.tags, *custom_tags(old)))))
        draft.put(note)
        if old is not None:
            link_notes(draft, note.id, old.id, _REPLACES)
        return AppliedEdit(True, now=note.content)
    if there is None or there.hidden:
        return AppliedEdit(False) if hides else None
    former = there.content
    if not hides and alike(former, content):
        return AppliedEdit(False)
    if not alike(former, normalise_content(edit.expected)):
        return None
    if hides:
        hide_note(draft, there.id)
        return AppliedEdit(True, former)
    named_so = not there.is_fact and there.title == title_of(former)
    edit_note(draft, there.id, content=content, title=title_of(content) if named_so else None)
    return AppliedEdit(True, former, content)


# What a note says after a change

_ALIKE: Final = 0.5
_LEAST_WORDS: Final = 2
# What opens a line and stays when its sentence is replaced: bullets, numbers, boxes to tick, headings, quotes.
_OPENING: Final = re.compile(r"\s*(?:(?:[-*+•>]|#{1,6}|\d{1,3}[.)]|\[[ xX]\])\s+)*")
_JOINT: Final = re.compile(
    r"[;；]\s*|(?<!\s),?\s++(?:(?=\()|(?:[–—-]|and|but|while|whereas|und|aber|während|et|mais|y|pero|e|ma|mas|maar)\s+)"
)
_LIST_JOINT: Final = re.compile(rf"{_JOINT.pattern}|,\s+")


class _Part(NamedTuple):
    """A sentence or clause, from start to end. before, after: where the clauses beside it end and begin."""

    start: int
    end: int
    before: int
    after: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


def revised(text: str, statement: str, beside: Collection[str] = ()) -> str:
    """The text of a note after a change; the statement itself where the note says nothing else.

    beside: statements that were accepted meanwhile, which this one joins and does not replace. Where no sentence is
    clearly the one that changed, the statement is added, so that no text is lost.
    """
    parts = _parts(text, statement)
    alone = len(parts) < 2 and len(text.split()) == sum(len(part.of(text).split()) for part in parts)
    if not beside and (alone or normalise(statement).content_hash == normalise(text).content_hash):
        return statement
    said = [normalise_content(one).rstrip(".。") for one in beside]
    kept = [(at, at + len(one)) for one in said if (at := text.find(one)) >= 0]
    free = (part for part in parts if all(part.end <= start or end <= part.start for start, end in kept))
    weighed = [(weight, part) for part in free if (weight := _weight(statement, part.of(text)))]
    if not weighed:
        if "\n" in text:
            return f"{text}\n\n{statement}"
        return f"{text}{'' if text.endswith(('.', '!', '?', '。', '…')) else '.'} {statement}"
    changed = max(weighed)[1]
    head, tail = text[: changed.before], text[changed.after :]
    if changed.before < changed.start:
        head += ". "
    if changed.after > changed.end:
        tail = f". {tail[0].upper()}{tail[1:]}"
    return f"{head}{statement.rstrip('.。') if tail[:1] in ('.', '!', '?', '。') else statement}{tail}"


def _weight(statement: str, part: str) -> tuple[bool, float] | None:
    """How surely a part of a note is what a statement changes, None where it may be another."""
    kind, new, old = contradicts_in_words(statement, part), saying(statement), saying(part)
    alike = similarity(new.meaning, old.meaning)
    clear = (kind is not None or alike >= _ALIKE) and not denies_another(new, old)
    return (kind is not None, alike) if clear else None


def _parts(text: str, statement: str) -> list[_Part]:
    """The sentences of a text, those cut into clauses of which only some are about what a statement says."""
    found: list[_Part] = []
    start, lines = 0, text.split("\n")
    for line, code in zip(lines, code_lines(lines), strict=True):
        end = start + len(line)
        opening = _OPENING.match(text, start, end)
        begin = opening.end() if opening else start
        # A sentence in a table or in code would break it.
        if not code and not line.startswith("|"):
            for one in _sentences(text, begin, end):
                found += _clauses(text, *one, statement)
        start = end + 1
    return found


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the sentences of a line are; a single word, as an abbreviation leaves it, is none of its own."""
    found: list[tuple[int, int]] = []
    for one in sentences(text[start:end]):
        said = text[start + one.start : start + one.end]
        begin = start + one.end - len(said.lstrip())
        if found and (_is_word(said) or _is_word(text[slice(*found[-1])])):
            begin = found.pop()[0]
        found.append((begin, start + one.start + len(said.rstrip())))
    return found


def _is_word(said: str) -> bool:
    return said.isascii() and len(said.split()) < _LEAST_WORDS


def _clauses(text: str, start: int, end: int, statement: str) -> list[_Part]:
    """A sentence, cut where only some of its clauses are about what a statement says."""
    for joint in (_JOINT, _LIST_JOINT):
        cuts = [(start, start), *(one.span() for one in joint.finditer(text, start, end)), (end, end)]
        parts = [_Part(one[1], next[0], one[0], next[1]) for one, next in itertools.pairwise(cuts)]
        said = [saying(part.of(text)).meaning for part in parts]
        about = saying(statement).meaning
        apart = any(len(words & about) <= len(words) / 2 for words in said)
        if len(parts) < 2 or not apart or any(len(words) < _LEAST_WORDS for words in said):
            continue
        # One comma may merely set the place or time apart.
        if joint is _JOINT or len(parts) > 2 or any(_weight(statement, part.of(text)) for part in parts):
            return parts
    return [_Part(start, end, start, end)]
