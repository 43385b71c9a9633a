"""The pipeline in words: times, reasons and states as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, get_args

from core.model.change import Author, AuthorKind
from core.model.names import iso
from nuggets_tui.words import ago, plural, time_ago

if TYPE_CHECKING:
    from core.pipeline.health import MaintenanceRun
    from core.pipeline.records import (
        Document,
        EmbeddingCoverage,
        HistoryRow,
        Job,
        JobStatus,
        NoteHints,
        Origin,
        PipelineStatus,
        PlannedRemoval,
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
# A proposal that is less sure than this is uncertain, whatever its mode asks for.
_UNSURE: Final = 0.5
# Why a proposal was not written, or not yet, by the names of `core.pipeline.records.Reason`.
REASONS: Final = {
    "": "",
    "shadow": "shadow mode: nothing is written before you accept it",
    "low_fact_confidence": "not sure enough to be written without you",
    "empty_fact_content": "it is empty",
    "duplicate_content": "a note already says the same",
    "ungrounded": "no sentence of the text states this: check it",
    "instruction": "it tells whoever reads it what to do: check it",
    "destructive_mutations_disabled": "it changes a note: you decide",
    "destructive_review": "it changes a note: you decide",
    "contradiction": "it contradicts a note",
    "contradiction_unchecked": "the model did not say whether it contradicts the note: compare both",
    "target_gone": "its note no longer exists",
    "target_changed": "its note has changed since",
    "refused_by_person": "refused",
    "undone_by_person": "you decided on it and undid that",
    "undecided": "the model gave no usable decision: you decide",
    "unsupported": "the text does not state it plainly; it may be an order, a wish or a guess: check it",
    "unsure": f"it is less than {_UNSURE:.0%} sure: check it",
    "delete_pinned_requires_force": "the note is pinned, so it stays",
    "nothing_new": "it holds nothing new",
    "replaced_by_later": "a later statement replaces it",
    "same_as_another_note": "another note says the same",
}
_SHORT_REASONS: Final = {
    "low_fact_confidence": "unsure",
    "ungrounded": "not in the text",
    "instruction": "an instruction",
    "destructive_mutations_disabled": "changes a note",
    "destructive_review": "changes a note",
    "contradiction": "contradicts a note",
    "contradiction_unchecked": "not compared",
    "duplicate_content": "known",
    "undecided": "undecided",
    "unsupported": "not stated plainly",
    "unsure": f"less than {_UNSURE:.0%} sure",
    "nothing_new": "known",
    "undone_by_person": "decided and undone",
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
    "session_end": "scoring a session",
}
_DOCUMENT_STATES: Final = {
    "queued": "queued", "extracting": "reading", "chunking": "cutting", "embedding": "embedding",
    "indexing": "indexing", "done": "searchable", "failed": "failed", "unchanged": "unchanged",
}  # fmt: skip
# Said wherever the hints of a note are shown.
HINTS_OFF: Final = (
    "Hints are off. To turn them on, set enabled = true under [pipeline.hints] in settings.toml, or"
    " pipeline.hints.enabled in the app's settings (ctrl+p)."
)
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
# The domains of the health.
DOMAINS: Final = {
    "queue": "Jobs", "provider": "Model", "index": "Search tables", "storage": "Storage",
    "mutation": "Changes", "duplicate": "Duplicates",
}  # fmt: skip
# What each repair does, and the colours of a status of the health.
REPAIRS: Final = {
    "requeueDeadJobs": "try dead jobs again, once each",
    "releaseStaleLeases": "take jobs back from workers that are gone",
    "checkFtsConsistency": "put the search tables right",
    "triggerRetentionSweep": "delete what is past its retention",
    "deduplicateMemories": "propose merges of facts that say the same",
    "reembedMissingMemories": "make missing embeddings",
}
HEALTH_STYLES: Final = {
    "healthy": "$text-success", "degraded": "$text-warning", "unhealthy": "$text-error", "unknown": "$text-muted",
}  # fmt: skip
# What maintenance does by itself.
MAINTENANCE: Final = {
    "execute": "Maintenance runs what is recommended by itself.",
    "observe": "Maintenance only recommends: maintenance_mode is observe in settings.toml.",
    "off": "Maintenance does nothing by itself: autonomous is off or frozen in settings.toml.",
}
_GATES: Final = {
    "": "",
    "frozen": "frozen in settings.toml",
    "disabled": "autonomous is off in settings.toml",
    "tried": "tried today, and it improved nothing",
    "cooldown": "it ran a short while ago",
    "budget": "it ran as often as it may in an hour",
}
# Events of the audit that say what became of a fact; "": its reason does.
_OUTCOMES: Final = {
    "none": "",
    "accepted": "accepted",
    "refused": "refused",
    "created": "written",
    "replaced": "",
}
# What retention deletes, one and several of it.
SWEPT: Final[dict[str, tuple[str, str]]] = {
    "mentions": ("mention of a name", "mentions of names"),
    "entities": ("name that nothing mentions any more", "names that nothing mentions any more"),
    "relations": ("relation of names", "relations of names"),
    "texts": ("removed text", "removed texts"),
    "documents": ("removed document", "removed documents"),
    "chunks": ("part of a removed document", "parts of removed documents"),
    "embeddings": ("embedding of such a part", "embeddings of such parts"),
    "history": ("row of the pipeline's history", "rows of the pipeline's history"),
    "completed_jobs": ("finished job", "finished jobs"),
    "dead_jobs": ("failed job", "failed jobs"),
    "calls": ("call to a model", "calls to models"),
    "transcripts": ("conversation", "conversations"),
    "checkpoints": ("checkpoint", "checkpoints"),
    "sessions": ("session", "sessions"),
    "session_memories": ("recall in a session", "recalls in sessions"),
    "session_scores": ("score of a session", "scores of sessions"),
}
# Events of the audit as the trail of a note tells them.
EVENTS: Final = {"none": "decided", "created": "written", "updated": "changed", "deleted": "hidden"}
_RUNS: Final = {"running": "running", "interrupted": "interrupted", "recommended": "recommended"}
_KINDS: Final = get_args(AuthorKind)
# What the audit calls the pipeline, in its two ways of working.
_ITSELF: Final = {"pipeline-v2": "the pipeline", "pipeline-shadow": "the pipeline in shadow mode"}
_PLAIN_SOURCES: Final = ("", "text", "session")
_STATES_OF_MODEL: Final = {
    "unknown": "not asked yet",
    "healthy": "well",
    "failing": "failing",
    "open": "paused after failures",
    "off": "not configured",
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
    elif proposal.open and reason in _SAYING_LITTLE:
        reason = _doubt(proposal) or reason
    return _SHORT_REASONS.get(reason, "") if short else REASONS.get(reason, reason.replace("_", " "))


def is_uncertain(proposal: StoredProposal) -> bool:
    """Whether a person should look closely before a proposal is accepted; `reason_of` says why."""
    return (
        proposal.status != "proposed"
        or proposal.changes
        or bool(proposal.contradiction)
        or bool(_doubt(proposal))
    )


def _doubt(proposal: StoredProposal) -> str:
    """What is to be said against an addition that no rule keeps from waiting among the others."""
    if proposal.changes:
        return "destructive_review"
    if not proposal.grounded:
        return "ungrounded"
    if proposal.review_needed:
        return "unsupported"
    return "unsure" if proposal.sure < _UNSURE else ""


def hints_state(found: NoteHints) -> str:
    """What is to be said of the hints of a note beside them; "" for nothing."""
    if not found.enabled:
        return HINTS_OFF
    if not found.made:
        return (
            "No model was asked about this note yet: `nuggets daemon` does it, or the app while it is open."
        )
    return "" if found.hints else "The model found no question that this note answers."


def job_state(job: Job, now: datetime, *, whole: bool = False) -> str:
    """How it stands with a job, in a few words. whole: where no sign beside it says that it is done."""
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
    since = age(job.completed_at, now)
    return f"done {since}".rstrip() if whole or not since else since


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


def gate_words(gate: str, free_at: int, now: datetime) -> str:
    """Why a repair may not run now; "" when it may. free_at: epoch ms, 0 for not known."""
    said = _GATES[gate]
    return f"{said}; again {until(free_at, now)}" if said and free_at else said


def run_words(run: MaintenanceRun, now: datetime | None = None) -> str:
    """What came of a run of a repair. now: to say when one that may not run may run again."""
    what = REPAIRS[run.action]
    if run.status == "denied":
        held = _GATES[run.gate] if now is None else gate_words(run.gate, run.until, now)
        return f"{what}: not now, {held}"
    if run.status == "failed":
        return f"{what}: failed, {run.error}"
    if run.status in ("running", "interrupted", "recommended"):
        return f"{what}: {_RUNS[run.status]}"
    done = plural(run.did, "thing") + " put right" if run.did else "nothing to put right"
    return f"{what}: {done}" + (f", {run.left:,} left" if run.left else "")


def outcomes(history: Iterable[HistoryRow]) -> tuple[tuple[str, str, bool], ...]:
    """What came of a text, by its audit: each fact found in it, what became of that, and whether it was written."""
    found: dict[str, tuple[str, str, bool]] = {}
    for row in history:
        if not row.proposal_id or row.event not in _OUTCOMES:
            continue
        said = _OUTCOMES[row.event] or REASONS.get(row.reason, row.reason.replace("_", " "))
        if row.event == "replaced":
            # By what a later part of the text says, which has a row of its own.
            found[row.proposal_id] = (row.old_content, said, False)
            continue
        written = found.get(row.proposal_id, ("", "", False))[2] or row.event == "created"
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


def removal_words(planned: PlannedRemoval) -> Iterator[str]:
    """What the removal of a text would do, in sentences."""
    hidden = plural(len(planned.notes), "note")
    yield f"{hidden} that came of it will be hidden." if planned.notes else "No note of it is shown."
    if planned.waits:
        yield "It waits, and will not be read."
    if planned.proposals:
        stay = "proposal of it stays open" if planned.proposals == 1 else "proposals of it stay open"
        yield f"{planned.proposals:,} {stay}."
    yield f"You can restore it for {plural(planned.days, 'day')}; then it is deleted."


def removed_at(history: Iterable[HistoryRow]) -> int | None:
    """Since when a text is removed, by its audit, epoch ms; None for one that is not."""
    at = None
    for row in history:
        if row.event in ("text_removed", "text_restored"):
            at = row.at if row.event == "text_removed" else None
    return at


def removed_line(removed: int, deleted: int | None) -> str:
    """When a text was removed, and that retention has deleted it since."""
    said = f"removed on {stamp(removed)[:10]}"
    return said if deleted is None else f"{said}; the text was deleted by retention on {stamp(deleted)[:10]}"


def submitted_line(text: RawMemory | Origin, now: datetime) -> str:
    """When and by whom a text was handed in, in which session, about which project."""
    said = f"submitted {age(text.created_at, now)}"
    said += f" by {author_name(text.author)}" if text.author else ""
    said += f" · session {text.source_id}" if text.source_id else ""
    project = getattr(text, "project", "")
    said += f" · project {project}" if project else ""
    return said + (f" · {text.source_type}" if text.source_type not in _PLAIN_SOURCES else "")


def embedding_counts(coverage: EmbeddingCoverage) -> str:
    """How many vectors are made, in a few words."""
    made = coverage.embedded_notes + coverage.embedded_chunks
    return f"{made:,} of {coverage.notes + coverage.chunks:,}"


def embedding_state(coverage: EmbeddingCoverage) -> str:
    """How far vectors are made, and what is in the way."""
    said = f"{coverage.model}: {coverage.embedded_notes:,} of {plural(coverage.notes, 'note')}"
    if coverage.chunks:
        said += f", {coverage.embedded_chunks:,} of {plural(coverage.chunks, 'part')} of documents"
    if coverage.failing:
        why = f" ({coverage.error})" if coverage.error else ""
        said += f"; {coverage.failing:,} failed and will be tried again{why}"
    return f"{said}; {coverage.waits}" if coverage.waits and coverage.missing else said
