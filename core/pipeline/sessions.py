"""What happens in sessions, put down as it happens, the checkpoints that come of it, and what a session left.

All is on the disk before a checkpoint is due: whoever is killed meanwhile loses none, and the next one keeps it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from core.errors import ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.model.change import UNNAMED, Author
from core.pipeline.conversation import read_conversation
from core.pipeline.database.sessions import Activity, Checkpoint, Session, SessionMemory, is_due
from core.pipeline.database.tables import Tables
from core.pipeline.intake.redaction import redact
from core.pipeline.prediction import Ordered, order_notes
from core.pipeline.records import Ended, KeptCheckpoint, Recovery, SessionOverview, SessionPage
from core.pipeline.retention import BATCH, Kind, cutoff, drop, due, trusts_clock_in
from core.pipeline.session_events import LONGEST_DIGEST, LONGEST_SESSION, SessionEvent
from core.pipeline.session_scores import begin_score, counted_recalls, preview_score
from core.settings.pipeline_sections import ContinuityPart
from core.text.estimate import cut_to_tokens, estimate_tokens
from core.text.normalise import encodable

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.service import Pipeline

# A checkpoint that is due waits so long for what else happens at once.
DEBOUNCE_MS: Final = 2_500
# Who says nothing of whose session it is: a command may end one of an agent.
_NOBODY: Final = ("", Author("agent", UNNAMED).signature)
# Of a text so much is looked at; what is kept of it is shorter by far.
_LONGEST: Final = 8_000
# Of a session so many are looked through for a recovery.
_MOST: Final = 50
# More than the settings keep of one.
_MOST_KEPT: Final = 500
# Nobody wrote these: their text says itself when and why it was made.
_MADE: Final = frozenset(("periodic", "pre_compaction", "session_end", "pending"))
_CUT: Final = "\n[… cut to the budget]"
_CHARACTERS_A_TOKEN: Final = 4


class Sessions:
    """The sessions of agents, as their pipeline keeps them. What is read of them shows no credentials."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    @property
    def reads_conversations(self) -> bool:
        """Whether a conversation is read at the end of its session without a person handing it in."""
        return self._pipeline.configuration.continuity.read_conversations

    def follow(self, *events: SessionEvent) -> tuple[Checkpoint, ...]:
        """Puts down what happened in sessions, without credentials, as all hooks, tools and commands do, in one
        transaction with the job that each end leaves; the checkpoints that came of it: before a compaction, at the end,
        and every so many prompts and minutes as `continuity` says. Nothing where that switches it off. Raises
        InvalidInputError for a session without a name.
        """
        pipeline, configuration = self._pipeline, self._pipeline.configuration
        settings, attempts, now = configuration.continuity, configuration.worker.max_retries, pipeline.now()
        by = pipeline.author.signature
        clean = tuple(_clean(event._replace(author=event.author or by)) for event in events)
        if not settings.enabled or not clean:
            return ()
        kept: list[Checkpoint] = []
        with pipeline.database.write() as writer:
            for event in clean:
                kept += _take(writer, settings, event, now, attempts)
            kept += _settle(writer, settings, now)
        if any(event.kind == "end" for event in clean):
            pipeline.nudge()
        return tuple(kept)

    def settle_due(self, settings: ContinuityPart) -> None:
        """Keeps the checkpoints that are due. Nothing is written where none is."""
        now, database = self._pipeline.now(), self._pipeline.database
        if settings.enabled and database.reading.sessions.due(now):
            with database.write() as writer:
                _settle(writer, settings, now)

    def checkpoint(
        self, digest: str, *, session: str, project: str = "", cause: str = "agent", author: str = ""
    ) -> KeptCheckpoint:
        """Keeps what an agent says of its session, without credentials, so that it can be picked up again; what
        happened since the last one is added. One that says what the last one says is not kept again.

        A session keeps `continuity.maxCheckpointsPerSession`, the oldest go first. cause: what called for it, such as
        "agent" or "pre_compaction". author: who says it, else who opened the pipeline. Raises InvalidInputError for a
        blank or too long digest and for no session.
        """
        pipeline, now = self._pipeline, self._pipeline.now()
        settings, author = pipeline.configuration.continuity, author or pipeline.author.signature
        digest, session, project = (encodable(one).strip() for one in (digest, session, project))
        todo = "say in a few sentences what was done, decided and is still open"
        _check("the checkpoint", "digest", digest, LONGEST_DIGEST, todo=todo)
        _check("the checkpoint", "session", session, LONGEST_SESSION, todo="name the session")
        _check("the checkpoint", "project", project or "none", LONGEST_SESSION, todo="")
        redacted, named = redact(digest), redact(project).text
        with pipeline.database.write() as writer:
            rows = writer.sessions
            known = rows.session(session)
            if known is not None:
                rows.put(known._replace(pending=Activity(), due=None, since=now))
            text = "\n\n".join((redacted.text, *sections(Activity() if known is None else known.pending)))
            last = next(iter(rows.newest(session, 1)), None)
            if last is not None and (last.digest, last.project) == (text, named):
                count = rows.count_of(session)
                return KeptCheckpoint(last.id, session, named, redacted.count, count, 0, False)
            made = Checkpoint(0, session, named, author, cause, text, redacted.count, now)
            id = rows.insert_checkpoint(made)
            dropped = rows.drop_oldest(session, settings.max_checkpoints_per_session)
            _forget_old(writer, settings, now)
            return KeptCheckpoint(id, session, named, redacted.count, rows.count_of(session), dropped, True)

    def end(self, session: str, *, project: str = "", conversation: str = "", at: int | None = None) -> Ended:
        """Ends a session, with its last checkpoint. conversation: all of it, as its agent keeps it: is read whole as
        one long text. A job then finds out which of the memories helped that the session was given; what the words of
        the conversation tell of that is answered at once. Errors as `Pipeline.ingest` and `follow`.
        """
        pipeline, said, taken = self._pipeline, read_conversation(conversation).text, None
        # Before the end is put down: whoever is killed in between is told of the end again.
        if said.strip():
            taken = pipeline.ingest(
                said, project=project, session=session, source_type="session", transcript=conversation
            )
        kept = self.follow(SessionEvent("end", session, project, at=at))
        score = preview_score(
            pipeline.database, lambda: pipeline.memory, session, said, now=pipeline.now(),
            max_attempts=pipeline.configuration.worker.max_retries,
        )  # fmt: skip
        pipeline.nudge()
        return Ended(tuple(one for one in kept if one.session == session), taken, score)

    def all(self, most: int = 200) -> tuple[SessionOverview, ...]:
        """Those that something happened in last first."""
        return self._pipeline.shown(lambda reader: reader.sessions.overviews(most))

    def page(self, session: str) -> SessionPage:
        """All that is kept of a session: its checkpoints, what it was given, what of that helped, and its scores. What
        the memory counted for it is there before its end, too. Raises NotFoundError.
        """
        counted: tuple[tuple[str, int], ...] = ()
        with contextlib.suppress(NuggetsError):
            counted = counted_recalls(self._pipeline.memory, session)
        return self._pipeline.shown(lambda reader: _page_of(reader, session, counted))

    def recover(
        self, session: str = "", *, project: str = "", tokens: int | None = None, asking: str = ""
    ) -> Recovery | None:
        """What a session left at its checkpoints and since, newest first, in at most so many tokens (None: as
        `continuity.recoveryBudgetChars` says). Without a session, the last one of the project, or of all. None where
        nothing was left. asking: a session that begins, whose own doings are nothing to pick up.
        """
        if tokens is None:
            budget = self._pipeline.configuration.continuity.recovery_budget_chars
            tokens = budget // _CHARACTERS_A_TOKEN
        return self._pipeline.shown(lambda reader: _recovered(reader, session, project, tokens, asking))

    def ordered(self, notes: Sequence[Note], nugget: str = "") -> Ordered:
        """The ids of notes in the order in which to give them to a session that begins: as they are, but where the
        settings have a predictor. nugget: of the project that it is about. Never raises for what the predictor does.
        """
        pipeline, ids = self._pipeline, [note.id for note in notes]
        part = pipeline.configuration.predictor
        if not part.enabled:
            return Ordered(tuple(ids))
        with pipeline.database.checked_reading() as reader:
            helped = reader.sessions.helped_before(ids)
        return order_notes(part.source, notes, helped, nugget, pipeline.clock())


def _settle(writer: Tables, settings: ContinuityPart, now: int) -> list[Checkpoint]:
    kept = [_keep(writer, settings, session, "periodic", now) for session in writer.sessions.due(now)]
    _forget_old(writer, settings, now)
    return kept


def _forget_old(writer: Tables, settings: ContinuityPart, now: int) -> None:
    """Deletes checkpoints and sessions that are older than the settings keep them: one batch, others follow.
    None by a clock that has just leapt ahead.
    """
    before = cutoff(now, settings.retention_days)
    for kind in (Kind.CHECKPOINTS, Kind.SESSIONS) if trusts_clock_in(writer, now) else ():
        drop(writer, kind, due(writer, kind, before, BATCH), before, now)


def _check(where: str, what: str, text: str, longest: int, *, todo: str) -> None:
    """Raises InvalidInputError for a text that is empty or too long. todo: where it is empty."""
    if text and len(text) <= longest:
        return
    raise InvalidInputError(
        f"the {what} is longer than {longest:,} characters" if text else f"the {what} is empty",
        code=ErrorCode.TOO_LONG if text else ErrorCode.EMPTY, field=what, where=where, kept="nothing was written",
        todo="shorten it" if text else todo,
    )  # fmt: skip


def _clean(event: SessionEvent) -> SessionEvent:
    """Without credentials."""
    session = encodable(event.session).strip()
    _check("the session", "session", session, LONGEST_SESSION, todo="name the session")
    texts = tuple(redact(encodable(text[:_LONGEST])).text for text in event.texts)
    project = redact(encodable(event.project[:LONGEST_SESSION]).strip()).text
    return event._replace(session=session, project=project, texts=texts)


def _take(
    writer: Tables, settings: ContinuityPart, event: SessionEvent, now: int, max_attempts: int
) -> list[Checkpoint]:
    at = now if event.at is None else min(event.at, now)
    rows, kept = writer.sessions, list[Checkpoint]()
    known = rows.session(event.session)
    if known is not None and event.mark and event.mark <= known.marked:
        return kept
    if event.note_id:
        rows.add_recall(event.session, event.note_id, at)
    rows.add_ahead(event.session, event.ahead, at)
    if known is not None and known.due is not None and known.due <= at:
        # Of events that come in later than they happened, each goes into the checkpoint of its time.
        kept.append(_keep(writer, settings, known, "periodic", known.due))
        known = rows.session(event.session)
    former = known or Session(event.session, event.project, event.author, at, at, since=at)
    happened = _activity(event)
    session = former._replace(
        project=event.project or former.project,
        author=former.author if former.author and event.author in _NOBODY else event.author,
        updated=max(at, former.updated), ended=at if event.kind == "end" else None,
        prompts=former.prompts + happened.prompts, marked=max(event.mark, former.marked),
        pending=former.pending.merged(happened),
    )  # fmt: skip
    if event.kind in ("compaction", "end"):
        cause = "session_end" if event.kind == "end" else "pre_compaction"
        if session.pending.empty:
            rows.put(session)
        else:
            kept.append(_keep(writer, settings, session, cause, at))
        if event.kind == "end":
            begin_score(writer, event.session, now, max_attempts=max_attempts)
        return kept
    is_time = is_due(
        at - session.since, session.pending.prompts, interval=settings.time_interval_ms,
        prompt_interval=settings.prompt_interval,
    )  # fmt: skip
    rows.put(session._replace(due=at + DEBOUNCE_MS) if session.due is None and is_time else session)
    return kept


def _activity(event: SessionEvent) -> Activity:
    match event.kind:
        case "prompt":
            return Activity(prompts=1, snippets=event.texts)
        case "recall":
            return Activity(queries=event.texts)
        case "remember":
            return Activity(remembers=event.texts)
        case "edit":
            return Activity(files=event.texts)
        case "context":
            return Activity(context="\n".join(event.texts))
        case _:
            return Activity()


def _keep(writer: Tables, settings: ContinuityPart, session: Session, cause: str, at: int) -> Checkpoint:
    """Keeps what happened in a session since its last checkpoint as a checkpoint."""
    made = _made(session, cause, at)
    id = writer.sessions.insert_checkpoint(made)
    writer.sessions.drop_oldest(session.key, settings.max_checkpoints_per_session)
    writer.sessions.put(session._replace(pending=Activity(), due=None, since=at))
    return made._replace(id=id)


def _made(session: Session, cause: str, at: int) -> Checkpoint:
    """What happened in a session since its last checkpoint, or at its end in all of it, as one that is not kept yet."""
    ends = cause == "session_end"
    prompts = session.prompts if ends else session.pending.prompts
    began = session.started if ends else session.since
    text = digest(
        session.pending,
        cause=cause,
        project=session.project,
        prompts=prompts,
        milliseconds=at - began,
        now=at,
    )
    return Checkpoint(0, session.key, session.project, session.author, cause, text, 0, at)


def _recovered(reader: Tables, session: str, project: str, tokens: int, asking: str) -> Recovery | None:
    """See `Sessions.recover`. What happens in a session that begins is no work to be picked up, unless it has a
    checkpoint.
    """
    session, project = encodable(session).strip(), redact(encodable(project).strip()).text
    rows = reader.sessions
    name = session or rows.newest_session(project)
    kept = rows.newest(name, _MOST) if name else ()
    open_one = rows.session(session) if session else rows.newest_pending(project, asking)
    if open_one is not None and not open_one.pending.empty and (kept or open_one.key != asking):
        unkept = _made(open_one, "pending", open_one.updated)
        if open_one.key == name:
            kept = (unkept, *kept)
        elif not kept or unkept.created_at > kept[0].created_at:
            kept = (unkept, *rows.newest(open_one.key, _MOST))
    if not kept:
        return None
    newest, *earlier = kept
    whole = _section(newest)
    text = cut_to_tokens(whole, tokens, _CUT)
    cut, shown = text != whole, 1
    for checkpoint in () if cut else earlier:
        more = f"{text}\n\n{_section(checkpoint)}"
        if estimate_tokens(more) > tokens:
            break
        text, shown = more, shown + 1
    count = rows.count_of(newest.session) + (newest.cause == "pending")
    return Recovery(
        newest.session,
        newest.project,
        newest.author,
        newest.created_at,
        count,
        shown if text else 0,
        cut,
        text,
    )


def _page_of(reader: Tables, key: str, counted: Iterable[tuple[str, int]]) -> SessionPage:
    """All that is kept of a session. counted: notes whose recalls the memory counted for it, each with when, epoch ms.

    Raises NotFoundError.
    """
    rows = reader.sessions
    score = rows.score_of(key)
    known = {memory.note_id: memory for memory in rows.memories_of(key)}
    for note_id, at in counted:
        before = known.get(note_id, SessionMemory(note_id, 0, at))
        known[note_id] = before._replace(times=max(before.times, 1))
    overview = next(iter(rows.overviews(1, key)), None)
    if overview is None:
        if score is None and not known:
            raise NotFoundError("no session has this id", where=key, todo="nuggets session lists them")
        overview = SessionOverview(key, "", "", 0, 0, None, 0, 0, False)
    one = rows.session(key)
    pending = (_made(one, "pending", one.updated),) if one is not None and not one.pending.empty else ()
    overview = replace(overview, given=len(known), score=score)
    checkpoints = (*pending, *rows.newest(key, _MOST_KEPT))
    return SessionPage(overview, checkpoints, tuple(known.values()), rows.comparison_of(key))


def _section(checkpoint: Checkpoint) -> str:
    # Whatever has been learned since about credentials counts for what was kept before.
    said = redact(checkpoint.digest).text
    if checkpoint.cause in _MADE:
        return said
    at = datetime.fromtimestamp(checkpoint.created_at / 1000, UTC)
    return f"## Checkpoint of {at:%Y-%m-%d %H:%M} UTC ({checkpoint.cause})\n{said}"


_HEADS: Final = {"pre_compaction": "Pre-Compaction Checkpoint", "session_end": "Session End Checkpoint"}
_HEAD: Final = "Session Checkpoint"


def digest(activity: Activity, *, cause: str, project: str, prompts: int, milliseconds: int, now: int) -> str:
    """What happened, the lasting part first: who cuts the text keeps that. prompts: how many to tell of; milliseconds:
    how long the session has been; now: epoch ms. Sections that say nothing are left out.
    """
    at = datetime.fromtimestamp(now / 1000, UTC)
    count = f"{prompts} prompt{'' if prompts == 1 else 's'}"
    head = (
        f"## {_HEADS.get(cause, _HEAD)}\n"
        f"{at:%Y-%m-%d %H:%M} UTC, project {project or 'unknown'}, {count} in {duration(milliseconds)}"
    )
    return "\n\n".join((head, *sections(activity)))


def duration(milliseconds: int) -> str:
    """How long, in whole minutes: "0m", "45m", "1h", "1h 5m"."""
    hours, minutes = divmod(max(0, milliseconds) // 60_000, 60)
    if not hours:
        return f"{minutes}m"
    return f"{hours}h {minutes}m" if minutes else f"{hours}h"


def sections(activity: Activity) -> Iterator[str]:
    """What happened, a section each; those that say nothing are left out."""
    if activity.context:
        yield f"### Session Context\n{activity.context}"
    if activity.files:
        yield "\n".join(("### Edited Files", *(f"- {path}" for path in activity.files)))
    if activity.snippets:
        yield "\n".join(("### Recent Prompts", *(f"- {text}" for text in activity.snippets)))
    memory = (("Asked the memory", activity.queries), ("Stored in the memory", activity.remembers))
    said = [f"{head}: {'; '.join(texts)}" for head, texts in memory if texts]
    if said:
        yield "\n".join(("### Memory Activity", *said))
