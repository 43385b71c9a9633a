"""The records that the pipeline gives its fronts: frozen, typed, times in epoch milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from core.model.change import ChangeSet
from core.pipeline.modes import Mode
from core.settings.warnings import ConfigurationWarning

if TYPE_CHECKING:
    from core.pipeline.database.sessions import Checkpoint, Comparison, SessionMemory, SessionScore
    from core.pipeline.retention import Kind

RawStatus = Literal["queued", "held", "extracted", "skipped", "duplicate", "failed"]
JobStatus = Literal["held", "pending", "leased", "completed", "dead"]
JobType = Literal["extract", "structural_classify", "document_ingest", "hints", "session_end"]
ProposalStatus = Literal["proposed", "review", "applied", "deduped", "none", "rejected", "blocked", "skipped"]
DocumentKind = Literal["text", "file", "url"]
DocumentStatus = Literal[
    "queued", "extracting", "chunking", "embedding", "indexing", "done", "failed", "unchanged"
]


class ProposalReason(StrEnum):
    """Why a proposal was not written, or not written yet; the closed list that audit rows use."""

    WRITTEN = ""
    SHADOW = "shadow"
    LOW_CONFIDENCE = "low_fact_confidence"
    EMPTY = "empty_fact_content"
    DUPLICATE = "duplicate_content"
    UNGROUNDED = "ungrounded"
    INSTRUCTION = "instruction"
    DESTRUCTIVE_DISABLED = "destructive_mutations_disabled"
    DESTRUCTIVE_REVIEW = "destructive_review"
    CONTRADICTION = "contradiction"
    UNCHECKED = "contradiction_unchecked"
    TARGET_GONE = "target_gone"
    TARGET_CHANGED = "target_changed"
    REFUSED = "refused_by_person"
    UNDONE = "undone_by_person"
    UNDECIDED = "undecided"
    PINNED = "delete_pinned_requires_force"
    NOTHING_NEW = "nothing_new"
    REPLACED = "replaced_by_later"
    SAME_AS = "same_as_another_note"


@dataclass(frozen=True, slots=True)
class RawMemory:
    """A text as it was submitted. id: "raw-" and 16 hexadecimal digits. duplicate_of: "" or an earlier one's id.

    model, prompt_version: who read it, and as what it was asked; "" before. removed_at: since when a person removed it;
    gone_at: since when it is deleted and can be brought back no more, so that its content is "".
    """

    id: str
    content: str
    content_hash: str
    source_type: str
    source_id: str
    project: str
    nugget: str
    author: str
    status: RawStatus
    duplicate_of: str
    protected: bool
    created_at: int
    extracted_at: int | None
    model: str
    prompt_version: str = ""
    removed_at: int | None = None
    removed_by: str = ""
    gone_at: int | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a text that was submitted: its row, whether a job waits for it, and what the rules linked.

    warning: what of it could not be kept (its transcript), "" when all was.
    """

    raw_id: str
    status: RawStatus
    job_id: int | None
    duplicate_of: str
    entities: tuple[str, ...]
    protected: bool
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a document. id: "doc-" and 16 hexadecimal digits. source: the path or the address, "" for a text.

    status: "unchanged" for a version that says what the one before it says. length: characters of its text. chunks: how
    many it has in all, chunks_written: how many of them are found by now. raw_id: the text that facts are extracted
    from, "" for none. replaced_by: the version that took its place, "" for none. removed_at: since when it is found no
    more; None for a present one.
    """

    id: str
    kind: DocumentKind
    source: str
    title: str
    media_type: str
    status: DocumentStatus
    error: str
    length: int
    chunks: int
    chunks_written: int
    nugget: str
    project: str
    author: str
    raw_id: str
    replaced_by: str
    created_at: int
    updated_at: int
    done_at: int | None
    removed_at: int | None


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """What became of a document that was added. outcome: a first or another version waits for its job, what is there
    already says the same, or a removed one is back. job_id: None where nothing has to be done. replaces: the version
    that it takes the place of once it is indexed, "" for none.
    """

    document: Document
    outcome: Literal["new", "changed", "known", "restored"]
    job_id: int | None = None
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A chunk of a document that a query finds. place: of the chunk in the document, from 0. score: in 0 to 1, the best
    of the hits has 1. content_hash: of the chunk's text; chunk_id: the same for each document that has this text.
    """

    document_id: str
    title: str
    source: str
    chunk_id: int
    place: int
    text: str
    content_hash: str
    score: float
    nugget: str
    updated_at: int

    @property
    def type(self) -> str:
        """What kind of memory it is."""
        return "document_chunk"

    @property
    def importance(self) -> float:
        """How much it weighs beside other memories, 0 to 1."""
        return 0.3

    @property
    def tag(self) -> str:
        """The tag that all chunks of the document share."""
        return f"document:{self.title}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A part of the conversation that notes come from: `text` stands at `start` of `length` characters.

    revisions: how many further texts of the session there are that do not continue this one. notes: their ids.
    """

    session: str
    project: str
    text: str
    start: int
    length: int
    revisions: int
    notes: tuple[str, ...]
    updated_at: int

    @property
    def cut(self) -> bool:
        """Whether it is only a part."""
        return len(self.text) < self.length


@dataclass(frozen=True, slots=True)
class KeptCheckpoint:
    """A checkpoint as it is kept. count: how many its session has now. dropped: older ones that went for it. new:
    whether it says anything that the session's last one did not.
    """

    id: int
    session: str
    project: str
    redactions: int
    count: int
    dropped: int
    new: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a session left. text: its newest checkpoint, and of earlier ones what the budget had room for, as Markdown.

    at: of the newest, epoch ms. count: how many there are; shown: how many stand in the text. cut: the newest one
    itself had to be cut.
    """

    session: str
    project: str
    author: str
    at: int
    count: int
    shown: int
    cut: bool
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that ended. checkpoints: that came of it. text: its conversation as it was taken in, None for none.
    score: what is known at once; a job finds out the rest.
    """

    checkpoints: tuple[Checkpoint, ...]
    text: Ingested | None
    score: SessionScore


@dataclass(frozen=True, slots=True)
class SessionOverview:
    """A session in short. ended: None while it goes on or was cut off. checkpoints: how many are kept; pending: whether
    anything happened since the last one. given: how many memories it was given, ahead or as answers; score: how much
    they helped, None before its end. Times are in epoch milliseconds.
    """

    session: str
    project: str
    author: str
    started: int
    updated: int
    ended: int | None
    prompts: int
    checkpoints: int
    pending: bool
    given: int = 0
    score: SessionScore | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """All that is kept of a session. checkpoints: the newest first. memories: what it was given, the first first.

    comparison: how good the order was in which it was given some ahead; None where that was not to be told.
    """

    overview: SessionOverview
    checkpoints: tuple[Checkpoint, ...]
    memories: tuple[SessionMemory, ...]
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work. target: what it is about, the id of a raw memory or of an entity. run_after: epoch ms.

    windows: of its text, windows_read: those read by now, unread: characters not read by now; 0 before the first.
    """

    id: int
    type: JobType
    target: str
    status: JobStatus
    attempts: int
    max_attempts: int
    run_after: int
    leased_by: str
    leased_at: int | None
    lease_expires_at: int | None
    error: str
    error_class: str
    created_at: int
    updated_at: int
    completed_at: int | None
    failed_at: int | None
    preview: str = ""
    windows: int = 0
    windows_read: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """What should become of one fact, and what did. span: where in the raw text it comes from, None if nowhere.

    told: the model's or rule's words. target_note: the note it would change or repeat, "" for an addition.
    note_id: the note it became. contradiction: how it contradicts its target, "" when it does not. prompt_version: of
    the prompts that it came of. becomes: of a listed change that edits its note, what the note says then.
    """

    id: str
    raw_id: str
    action: Literal["add", "update", "delete", "none"]
    content: str
    type: str
    fact_confidence: float
    grounded: bool
    target_note: str
    target_content: str
    confidence: float
    told: str
    decided_by: str
    model: str
    nugget: str
    created_at: int
    status: ProposalStatus = "proposed"
    reason: str = ""
    review_needed: bool = False
    contradiction: str = ""
    span: tuple[int, int] | None = None
    note_id: str = ""
    resolved_at: int | None = None
    resolved_by: str = ""
    prompt_version: str = ""
    becomes: str = ""

    @property
    def open(self) -> bool:
        """Whether a person may still accept or refuse it."""
        return self.status in ("proposed", "review", "blocked")

    @property
    def changes(self) -> bool:
        """Whether it changes or hides a note that is there."""
        return self.action in ("update", "delete")

    @property
    def sure(self) -> float:
        """How sure it is altogether, 0 to 1: of the fact and of what to do with it."""
        return min(self.fact_confidence, self.confidence)


@dataclass(frozen=True, slots=True)
class NoteHints:
    """The questions by which a note is found, too, as a model made them of what it says now.

    removed: those that a person removed. enabled: whether hints are made and used. made: whether a model was asked
    about what the note says now.
    """

    note_id: str
    hints: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    enabled: bool = False
    made: bool = False


class Refused(int):
    """How many proposals a person refused. change_set: the entry of the log that `undo` takes back, None for none."""

    change_set: ChangeSet | None

    def __new__(cls, count: int, change_set: ChangeSet | None = None) -> Refused:
        """Of so many."""
        made = super().__new__(cls, count)
        made.change_set = change_set
        return made


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of proposals that a person accepted: their ids. skipped: with why, one clause each.

    written: they are in the graph. waiting: accepted and in the history, and the graph could not be written yet; they
    follow when the memory is next opened. change_set: what was done to the graph, for a preview afterwards and for
    undo; None when nothing was.
    settled: other proposals that they replace or repeat, and that wait no more.
    """

    written: tuple[str, ...] = ()
    deduped: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    waiting: tuple[str, ...] = ()
    change_set: ChangeSet | None = None
    settled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One row of the audit, which is never changed. event: "none" for a decision; "created", "updated", "deleted" and
    others for what was done. metadata: the rest, for decisions under the names of the reference (proposedAction, ...).
    """

    id: int
    at: int
    event: str
    changed_by: str
    reason: str
    raw_id: str
    proposal_id: str
    fact_id: str
    note_id: str
    old_content: str
    new_content: str
    model: str
    prompt_version: str
    latency_ms: int | None
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextTrail:
    """What was read of a submitted text, and what came of it.

    job: the one that reads it, None where none ever did. unread: spans of the text that no model has read. proposals:
    one for each fact that was found, in the order of the text. entities: the names of what it mentions. tombstone:
    since when it is removed, None for a present one; deleted since, its content is "".
    """

    raw: RawMemory
    job: Job | None
    unread: tuple[tuple[int, int], ...]
    proposals: tuple[StoredProposal, ...]
    entities: tuple[str, ...]

    @property
    def unread_length(self) -> int:
        """Characters that no model has read."""
        return sum(end - start for start, end in self.unread)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a note came from: the raw memory, the sentence in it, the model, and how it was decided.

    fact: as the model found it. decided_by: "rule" or "model". removed_at: since when the text is removed; deleted_at:
    since when retention has deleted it, so that its content is "". Both epoch ms, None for never.
    """

    note_id: str
    raw_id: str
    content: str
    span: tuple[int, int] | None
    source_type: str
    source_id: str
    author: str
    model: str
    prompt_version: str
    told: str
    confidence: float
    created_at: int
    project: str = ""
    proposal_id: str = ""
    fact_id: str = ""
    fact: str = ""
    decided_by: str = ""
    removed_at: int | None = None
    deleted_at: int | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with counts: mentions, attributes, relations. review: attributes that wait for a person's word."""

    id: int
    name: str
    canonical_name: str
    type: str
    pinned: bool
    mentions: int
    attributes: int
    relations: int
    aliases: tuple[str, ...] = ()
    review: int = 0


@dataclass(frozen=True, slots=True)
class EntityAttribute:
    """What is said of an entity. aspect: "" until it was classified. superseded_by: the id of a newer one."""

    id: int
    aspect: str
    kind: Literal["attribute", "constraint"]
    content: str
    confidence: float
    importance: float
    status: Literal["active", "superseded", "retracted"]
    superseded_by: int | None
    superseded_why: str
    review_needed: bool
    raw_id: str


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """A relation of an entity. outgoing: whether the entity is its source. confidence: the average of the evidence."""

    id: int
    type: str
    other_id: int
    other: str
    outgoing: bool
    confidence: float
    evidence: int


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A raw memory that names an entity."""

    raw_id: str
    mention_text: str
    confidence: float
    created_at: int
    preview: str


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Everything about one entity. aspects: names with their weights."""

    entity: Entity
    aspects: tuple[tuple[str, float], ...] = ()
    attributes: tuple[EntityAttribute, ...] = ()
    relations: tuple[EntityRelation, ...] = ()
    mentions: tuple[EntityMention, ...] = ()


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """How a provider has been. state: unknown before the first call. open_until: epoch ms while its breaker is open.

    calls_today: of all providers, as the budget counts them. fallbacks_today: calls that another provider answered
    because this one had failed. median_latency_ms: of its answers today. last_error_kind: a model's ErrorKind.
    """

    name: str
    model: str
    state: Literal["unknown", "healthy", "failing", "open", "off"]
    failures: int
    open_until: int
    last_ok_at: int | None
    last_error: str
    calls_today: int
    budget: int
    median_latency_ms: int | None
    tokens_today: int
    fallbacks_today: int = 0
    last_error_kind: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingCoverage:
    """How far vectors are made with a model. failing: texts that failed last, and are tried again; error: of one.

    notes, chunks: how many there are; embedded_notes, embedded_chunks: how many of them have the vector of what they
    say now. dimensions: of the vectors, 0 for none yet. waits: why none can be made just now, "" where nothing is in
    the way.
    """

    model: str
    notes: int = 0
    embedded_notes: int = 0
    chunks: int = 0
    embedded_chunks: int = 0
    failing: int = 0
    error: str = ""
    dimensions: int = 0
    waits: str = ""

    @property
    def missing(self) -> int:
        """How many vectors are still to be made."""
        return self.notes + self.chunks - self.embedded_notes - self.embedded_chunks

    @property
    def share(self) -> float:
        """Which part of notes and chunks has its vector, in [0, 1]; 1 where there is nothing to embed."""
        total = self.notes + self.chunks
        return 1.0 if not total else 1.0 - self.missing / total


class PipelineState(StrEnum):
    """The status in the header."""

    OFF = "off"  # grey: no model is configured, or the pipeline is off; it says how to start
    IDLE = "idle"  # nothing waits
    WORKING = "working"
    REVIEW = "review"  # proposals wait for a person
    PAUSED = "paused"  # frozen, or the breaker is open, or the budget is spent
    STUCK = "stuck"  # red: there is work and nothing has been written


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """Everything in counts. jobs: by status. why: what the status means, in words, with what to do.

    unread: texts of which a part was not read. documents: those that are found. embeddings: None without a model.
    """

    mode: Mode
    frozen: bool
    light: PipelineState
    why: str
    jobs: dict[JobStatus, int] = field(default_factory=dict)
    proposals_open: int = 0
    raw: int = 0
    facts: int = 0
    entities: int = 0
    last_written_at: int | None = None
    running: Job | None = None
    provider: ProviderHealth | None = None
    warnings: tuple[ConfigurationWarning, ...] = ()
    unread: int = 0
    documents: int = 0
    embeddings: EmbeddingCoverage | None = None

    @property
    def no_model(self) -> bool:
        """Whether no model is configured, also while proposals can be decided on."""
        return self.provider is not None and self.provider.state == "off"

    @property
    def rests(self) -> bool:
        """Whether a text that is submitted now waits: no model, or the work is off, paused or stuck."""
        return self.no_model or self.light in (PipelineState.OFF, PipelineState.PAUSED, PipelineState.STUCK)


@dataclass(frozen=True, slots=True)
class RemovedText:
    """A text that was removed, or brought back. notes: those that were hidden or shown by that; change_set: as which
    change, None for no note. left: notes of a text that is back which stay hidden, since others say the same by now.
    """

    raw_id: str
    notes: tuple[str, ...] = ()
    change_set: ChangeSet | None = None
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedRemoval:
    """What the removal of a text would do. notes: that it would hide; proposals: of the text that stay open; waits:
    whether the text waits and would not be read; days: for how long it can be brought back.
    """

    raw_id: str
    notes: tuple[str, ...] = ()
    proposals: int = 0
    waits: bool = False
    days: int = 30


@dataclass(frozen=True, slots=True)
class Sweep:
    """What retention deleted, or would delete now. counts: rows of each kind, in the order in which they go. whole:
    nothing is left that is over.
    """

    counts: Mapping[Kind, int]
    dry_run: bool = False
    whole: bool = True

    @property
    def total(self) -> int:
        """All rows of all kinds."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class TickResult:
    """What one tick did. job: the one that was worked on, as it is now; None when none could be. notes: how many
    were written.

    delay_ms: how long a loop may rest before the next one, 0 for not at all. read: whether the job got on: it was done,
    or a part of its text.
    linked: notes of which is known anew what they name. swept: rows that were kept long enough and are deleted.
    repaired: what maintenance put right. embedded: texts of which a vector was made, or tried.
    """

    released: int = 0
    reaped: int = 0
    job: Job | None = None
    notes: int = 0
    delay_ms: int = 0
    warnings: tuple[str, ...] = ()
    read: bool = False
    linked: int = 0
    swept: int = 0
    repaired: int = 0
    embedded: int = 0

    @property
    def did_something(self) -> bool:
        done = (
            self.released,
            self.reaped,
            self.job,
            self.linked,
            self.swept,
            self.repaired,
            self.embedded,
        )
        return any(done)
