"""The pipeline in words: times, reasons and states as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, get_args

from core.model.change import Author, AuthorKind
from core.model.names import iso
from nuggets_tui.words import ago, plural, time_ago

if TYPE_CHECKING:
    from core.pipeline.records import (
        Document,
        HistoryRow,
        Job,
        JobStatus,
        Origin,
        PipelineStatus,
        ProviderHealth,
        RawMemory,
        StoredProposal,
    )

# What a proposal would do, or did: its sign, its colour, and the words.
ACTIONS: Final = {
    "add": ("+", "$text-success", "add a note"),
    "update": ("~", "$text-secondary", "replace a note"),
    "delete": ("⊘", "$text-warning", "hide a note"),
    "none": ("=", "$text-muted", "add nothing: it is known"),
}
# Why a proposal was not written, or not yet, by the names of `core.pipeline.records.Reason`.
REASONS: Final = {
    "": "",
    "shadow": "shadow mode: nothing is written before you accept it",
    "low_fact_confidence": "not sure enough to be written without you",
    "empty_fact_content": "it is empty",
    "duplicate_content": "a note already says the same",
    "ungrounded": "no sentence of the text states this: check it",
    "instruction": "it is an instruction, permission or preference: check it",
    "destructive_mutations_disabled": "it changes a note: you decide",
    "destructive_review": "it changes a note: you decide",
    "contradiction": "it contradicts a note",
    "target_gone": "its note no longer exists",
    "target_changed": "its note has changed since",
    "refused_by_person": "refused",
    "undone_by_person": "you accepted it and undid that",
    "undecided": "the model gave no usable decision: you decide",
    "delete_pinned_requires_force": "the note is pinned, so it stays",
    "nothing_new": "it holds nothing new",
    "replaced_by_later": "a later statement replaces it",
}
_SHORT_REASONS: Final = {
    "low_fact_confidence": "unsure",
    "ungrounded": "not in the text",
    "instruction": "an instruction",
    "destructive_mutations_disabled": "changes a note",
    "destructive_review": "changes a note",
    "contradiction": "contradicts a note",
    "duplicate_content": "known",
    "undecided": "undecided",
    "nothing_new": "known",
    "undone_by_person": "you accepted and undid it",
}
# What is to be said against a proposal comes before these.
_SAYING_LITTLE: Final = ("", "shadow")
# What became of a proposal: sign, colour, word.
STATES: Final = {
    "proposed": ("", "$text-muted", ""),
    "review": ("!", "$text-warning", "check it"),
    "applied": ("✓", "$text-success", "written"),
    "deduped": ("=", "$text-muted", "already known"),
    "none": ("=", "$text-muted", "nothing new"),
    "rejected": ("✗", "$text-muted", "refused"),
    "blocked": ("!", "$text-warning", "check it"),
    "skipped": ("–", "$text-muted", "left out"),
}
JOB_TYPES: Final = {
    "extract": "extracting facts",
    "structural_classify": "grouping an entity's facts",
    "document_ingest": "indexing a document",
    "hints": "making hints of a note",
}
_DOCUMENT_STATES: Final = {
    "queued": "queued", "extracting": "reading", "chunking": "cutting", "embedding": "embedding",
    "indexing": "indexing", "done": "searchable", "failed": "failed", "unchanged": "unchanged",
}  # fmt: skip
_WORK: Final[tuple[tuple[JobStatus, str], ...]] = (
    ("leased", "running"),
    ("pending", "waiting"),
    ("held", "held"),
    ("dead", "dead"),
)
MODES: Final = {
    "off": "off: submitted texts wait",
    "shadow": "shadow: proposes every change, writes nothing without you",
    "controlled-write": "writes new notes without asking; changes of notes wait for you",
    "full": "writes new notes without asking; changes of notes wait for you",
    "frozen": "frozen: texts are kept, none is read",
}
# The same where there is little room.
SHORT_MODES: Final = {
    "off": "off", "shadow": "shadow", "controlled-write": "writes notes", "full": "writes notes", "frozen": "frozen",
}  # fmt: skip
# Events of the audit that say what became of a fact; "": its reason does.
_OUTCOMES: Final = {"none": "", "accepted": "accepted", "refused": "refused", "created": "written"}
# Events of the audit as the trail of a note tells them.
EVENTS: Final = {"none": "decided", "created": "written", "updated": "changed", "deleted": "hidden"}
_KINDS: Final = get_args(AuthorKind)
# What the audit calls the pipeline, in its two ways of working.
_ITSELF: Final = {"pipeline-v2": "the pipeline", "pipeline-shadow": "the pipeline in shadow mode"}
_PLAIN_SOURCES: Final = ("", "text", "session")
_STATES_OF_MODEL: Final = {
    "unknown": "not asked yet",
    "healthy": "well",
    "failing": "failing",
    "open": "paused after failures",
    "off": "none",
}


def stamp(moment: int | None) -> str:
    """Epoch milliseconds as files hold times; "" for none."""
    if moment is None:
        return ""
    try:
        return iso(datetime.fromtimestamp(moment / 1000, UTC))
    except (OverflowError, OSError, ValueError):
        return ""


def age(moment: int | None, now: datetime) -> str:
    """How long ago: "now", "5 min ago"; "" for no time."""
    return time_ago(stamp(moment), now)


def until(moment: int, now: datetime) -> str:
    """In how long: "in 30 s"; "now" for what is past."""
    milliseconds = moment - int(now.timestamp() * 1000)
    if milliseconds < 1000:
        return "now"
    try:
        return f"in {ago(iso(now), datetime.fromtimestamp(moment / 1000, UTC))}"
    except (OverflowError, OSError, ValueError):
        return ""


def reason_of(proposal: StoredProposal, *, short: bool = False) -> str:
    """Why a proposal waits or was not written; "" for nothing to say."""
    reason = str(proposal.reason)
    if proposal.contradiction and reason in _SAYING_LITTLE:
        reason = "contradiction"
    elif proposal.open and not proposal.grounded and reason in _SAYING_LITTLE:
        reason = "ungrounded"
    return _SHORT_REASONS.get(reason, "") if short else REASONS.get(reason, reason.replace("_", " "))


def job_state(job: Job, now: datetime) -> str:
    """How it stands with a job, in a few words."""
    part = f"part {job.windows_read + 1} of {job.windows}, " if job.windows_read and job.unread else ""
    if job.status == "leased":
        return f"{part}running {ago(stamp(job.leased_at), now)}".rstrip()
    if job.status == "pending":
        when = until(job.run_after, now)
        tried = f"try {job.attempts + 1} of {job.max_attempts} " if job.attempts else ""
        return f"{part}{tried}{when}" if when != "now" else f"{part}{tried}waiting".strip()
    if job.status == "dead":
        return f"dead after {plural(job.attempts, 'try', 'tries')}"
    if job.status == "held":
        return "held"
    if job.unread:
        return f"{job.windows_read} of {job.windows} parts read"
    return age(job.completed_at, now) or "done"


def document_state(document: Document) -> str:
    """How far a document is, in a few words, with its share of chunks while it is indexed."""
    if document.removed_at is not None and document.status != "unchanged":
        return "replaced" if document.replaced_by else "removed"
    said = _DOCUMENT_STATES[document.status]
    if document.status in ("chunking", "embedding", "indexing") and document.chunks:
        return f"{said} {document.chunks_written:,} of {document.chunks:,}"
    return f"{said}, {plural(document.chunks, 'chunk')}" if document.status == "done" else said


def model_state(provider: ProviderHealth, now: datetime | None = None) -> str:
    """How a model has been; with a time, also when one that rests is asked again."""
    said = _STATES_OF_MODEL.get(provider.state, provider.state)
    if now is not None and provider.state == "open" and provider.open_until:
        said += f", next try {until(provider.open_until, now)}"
    return said


def mode_of(status: PipelineStatus) -> str:
    """The mode by its name in `MODES`: what is frozen reads nothing, whatever it would do with what it reads."""
    return "frozen" if status.frozen and status.mode != "off" else str(status.mode)


def counts(status: PipelineStatus) -> str:
    """What waits and what runs, in counts; "" for nothing."""
    return ", ".join(f"{status.jobs[name]:,} {word}" for name, word in _WORK if status.jobs.get(name))


def outcomes(history: Iterable[HistoryRow]) -> tuple[tuple[str, str, bool], ...]:
    """What came of a text, by its audit: each fact found in it, what became of that, and whether it was written."""
    found: dict[str, tuple[str, str, bool]] = {}
    for row in history:
        if not row.proposal_id or row.event not in _OUTCOMES:
            continue
        written = found.get(row.proposal_id, ("", "", False))[2] or row.event == "created"
        said = _OUTCOMES[row.event] or REASONS.get(row.reason, row.reason.replace("_", " "))
        found[row.proposal_id] = (row.new_content or row.old_content, "written" if written else said, written)
    return tuple(found.values())


def author_name(signature: str) -> str:
    """Who handed something in or decided, as the audit log names them: "claude" for "agent:claude"."""
    if signature in _ITSELF:
        return _ITSELF[signature]
    kind, _, name = signature.partition(":")
    if kind not in _KINDS:
        return signature
    return str(Author(kind, name))  # type: ignore[arg-type]


def submitted_line(text: RawMemory | Origin, now: datetime) -> str:
    """When and by whom a text was handed in, in which session, about which project."""
    said = f"submitted {age(text.created_at, now)}"
    said += f" by {author_name(text.author)}" if text.author else ""
    said += f" · session {text.source_id}" if text.source_id else ""
    project = getattr(text, "project", "")
    said += f" · project {project}" if project else ""
    return said + (f" · {text.source_type}" if text.source_type not in _PLAIN_SOURCES else "")
