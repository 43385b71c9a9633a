"""The tools that an agent has, each a thin call of the engine, with its answer typed and in words."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from core.errors import ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.model.names import did_you_mean, iso
from nuggets_tui import deeds
from nuggets_tui.cli.cautions import Caution, of_credentials, of_note
from nuggets_tui.mcp import shapes
from nuggets_tui.mcp.session import AgentSession
from nuggets_tui.words import deed, how_sure, plural, whose_words, why_candidate

if TYPE_CHECKING:
    from core.facts.recall import OtherSide, Recall
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.infer import MetaInput
    from core.model.joined import Whose
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.pipeline.records import PipelineStatus

# Characters of a text that an answer holds; getNote reads on from there.
_LONGEST_TEXT: Final = 16_000
_LONGEST_VALUE: Final = 300
_LONGEST_LINE: Final = 200
_MOST_LISTED: Final = 20
_MOST_LINKS: Final = 50


class Told(NamedTuple):
    """What a tool answers: in words for a model, and typed."""

    text: str
    answer: shapes.Answer


class Tool(NamedTuple):
    """A tool. writes: it changes the memory, one call after the other. destructive: what was there may look otherwise
    afterwards, though nothing is lost. idempotent: a second call changes nothing more.
    """

    name: str
    title: str
    description: str
    takes: type[shapes.Arguments]
    answers: type[shapes.Answer]
    run: Callable[[AgentSession, Any], Told]
    writes: bool = True
    destructive: bool = False
    idempotent: bool = True


# Facts


def _recall(session: AgentSession, given: shapes.RecallArguments) -> Told:
    memory = session.reading()
    uncounted = memory.uncounted_recalls
    found = memory.recall(given.query, given.nugget or None, given.session or session.id)
    session.asked(given.query, found.note_id or "" if found.found else "", given.session)
    notices = [f"{one.nugget_name} was passed over: {one.what}" for one in found.skipped]
    if memory.uncounted_recalls > uncounted:
        notices.append("the recall could not be counted; the answer is not affected")
    notices += memory.take_team_notices()
    answer = shapes.RecallAnswer(
        judgement=found.judgement if not found.found else "found",
        answer=(found.answer or "")[:_LONGEST_TEXT],
        truncated=len(found.answer or "") > _LONGEST_TEXT,
        how=_how(found),
        via=found.via,  # type: ignore[arg-type]
        match=found.match.kind if found.match else "",
        certainty=round(found.certainty, 3),
        key=found.key,
        nugget=found.nugget_name,
        note_id=found.note_id or "",
        whose=found.whose,
        candidates=[
            shapes.CandidateNote(
                id=one.note_id,
                title=_line(one.title),
                first_line=_line(one.first_line),
                nugget=one.nugget_name,
                why=why_candidate(one),
                likelihood=round(one.likelihood, 3),
                whose=one.whose,
            )
            for one in found.candidates
        ],
        also=[
            shapes.OtherFact(nugget=one.nugget_name, key=one.key, value=one.answer[:_LONGEST_VALUE])
            for one in found.also[:_MOST_LISTED]
        ],
        documents=[
            shapes.DocumentPart(
                document_id=one.document_id,
                title=_line(one.title or one.source),
                part=one.place + 1,
                text=one.text[:_LONGEST_VALUE],
                sure=one.sure,
                score=round(one.score, 3),
            )
            for one in found.passages
        ],
        disputed_by=_sides(found.disputed_by),
        disputes=_sides(found.disputes),
        related=[
            shapes.RelatedNote(
                id=note.id, title=note.title, text=note.content[:_LONGEST_VALUE], reason=_line(reason)
            )
            for note, reason in (
                deeds.related(memory.searched, found.note_id)[:_MOST_LISTED] if given.related else ()
            )
        ],
        notices=notices,
    )
    return Told("\n".join(_recall_lines(answer)), answer)


def _sides(notes: tuple[OtherSide, ...]) -> list[shapes.OtherSide]:
    return [shapes.OtherSide(id=one.id, text=one.content[:_LONGEST_VALUE]) for one in notes[:_MOST_LISTED]]


def _how(found: Recall) -> str:
    """How an answer was found, in a sentence."""
    if not found.found or found.match is None:
        return ""
    if found.via == "graph":
        return f"the note that a search ranks best, likelihood {found.match.strength:.2f}: check it"
    said = {
        "exact": "the key that you asked for",
        "tokens": "the key with the words of your question",
        "substring": "a key that contains your question, or is contained in it",
        "fuzzy": "the key that is spelt most like your question",
    }.get(found.match.kind, "the key that fits best")
    return f"{said}, {how_sure(found)}"


def _recall_lines(answer: shapes.RecallAnswer) -> Iterator[str]:
    if answer.judgement == "found":
        yield answer.answer
        if answer.truncated:
            yield f"(cut; read on with getNote {answer.note_id})"
        whose = whose_words(answer.whose)
        where = " · ".join(filter(None, (answer.nugget, answer.key, answer.note_id, whose)))
        yield f"Found: {where} ({answer.how})"
    elif answer.judgement == "not sure":
        yield "Not sure. One of these notes may answer; getNote reads it:"
        for one in answer.candidates:
            yield f"- {one.title}: {one.first_line} [{one.id}] ({one.why}){_whose(one)}"
    else:
        yield "Nothing in the memory answers this. Once you know the answer, store it with remember."
    for fact in answer.also:
        yield f"{fact.nugget} holds {fact.key} too: {_line(fact.value)}"
    yield from map(_document_line, answer.documents)
    for side in answer.disputed_by:
        yield f"Disputed, nobody decided yet. Another note says: {_line(side.text)} [{side.id}]"
    for side in answer.disputes:
        yield f"It disputes a note, nobody decided yet: {_line(side.text)} [{side.id}]"
    for note in answer.related:
        yield f"Linked ({note.reason}): {note.title}: {_line(note.text)} [{note.id}]"
    yield from _notes(answer.notices)


def _whose(one: shapes.CandidateNote | shapes.FoundNote) -> str:
    """Whose a note is, behind its line."""
    said = whose_words(one.whose)
    return f" ({said})" if said else ""


def _remember(session: AgentSession, given: shapes.RememberArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    known = memory.snapshot.nugget_names
    made, former, change_set = deeds.remember(memory, given.nugget, given.key, given.value)
    session.stored(made.key)
    holder = memory.snapshot.by_name.get(made.nugget_name)
    notices = [f"{holder.name}: {holder.capacity_warning}"] if holder and holder.capacity_warning else []
    answer = shapes.RememberAnswer(
        **_written(memory, change_set, of_note(memory.snapshot.by_id.get(made.id, made)), notices),
        key=made.key,
        value=made.content[:_LONGEST_VALUE],
        nugget=made.nugget_name,
        note_id=made.id,
        former_value=(former or "")[:_LONGEST_VALUE] if former != made.content else "",
        new_nugget=made.nugget_name not in known,
    )
    key = _line(made.key)
    said = f"Remembered {key} in {made.nugget_name}."
    if former is not None and former != made.content:
        said += f" It was: {_line(former)}"
    return _told(answer, said if answer.changed else f"{key} in {made.nugget_name} says so already.")


def _forget(session: AgentSession, given: shapes.ForgetArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    snapshot = memory.snapshot
    if given.nugget not in snapshot.nugget_names:
        raise snapshot.no_nugget(given.nugget)
    gone, change_set = deeds.forget(memory, given.nugget, given.key)
    if gone is None:
        holder = memory.snapshot.by_name.get(given.nugget)
        raise NotFoundError(
            f"no fact has the key {_line(given.key)!r}",
            where=given.nugget,
            kept="nothing was changed",
            todo=did_you_mean(given.key, [fact.key for fact in holder.facts] if holder else ())
            or "listFacts lists the keys",
        )
    answer = shapes.ForgetAnswer(
        **_written(memory, change_set), key=gone.key, nugget=gone.nugget_name, note_id=gone.id
    )
    return _told(answer, f"Forgot {_line(gone.key)} in {gone.nugget_name}. Its note is kept, hidden.")


def _list_facts(session: AgentSession, given: shapes.ListFactsArguments) -> Told:
    snapshot = session.reading().snapshot
    if given.nugget:
        deeds.check_fact_file(snapshot, given.nugget)
        chosen = [snapshot.nugget(given.nugget)]
    else:
        chosen = list(snapshot.nuggets)
    facts = [(holder.name, fact) for holder in chosen for fact in holder.facts]
    shown = facts[given.offset : given.offset + given.limit]
    end = given.offset + len(shown)
    answer = shapes.ListFactsAnswer(
        facts=[
            shapes.ListedFact(
                nugget=nugget,
                key=fact.key,
                value=fact.value[:_LONGEST_VALUE],
                hits=fact.hits,
                truncated=len(fact.value) > _LONGEST_VALUE,
            )
            for nugget, fact in shown
        ],
        total=len(facts),
        next_offset=end if end < len(facts) else 0,
        nuggets=_nuggets(snapshot, {given.nugget} if given.nugget else None),
        notices=[_line(f"{one.where}: {one.what}") for one in snapshot.problems if one.nugget][:_MOST_LISTED],
    )
    lines = [f"{one.nugget} · {one.key}: {_line(one.value)}" for one in answer.facts]
    if answer.next_offset:
        lines.append(f"{len(shown)} of {len(facts)} facts; read on with offset {answer.next_offset}")
    return Told("\n".join([*(lines or ["No facts."]), *_notes(answer.notices)]), answer)


def _nuggets(snapshot: Snapshot, wanted: set[str] | None = None) -> list[shapes.ListedNugget]:
    notes = Counter(note.nugget_name for note in snapshot.visible)
    return [
        shapes.ListedNugget(
            name=name,
            facts=len(snapshot.by_name[name].facts) if name in snapshot.by_name else 0,
            notes=notes[name],
        )
        for name in snapshot.nugget_names
        if wanted is None or name in wanted
    ]


# Notes


def _create_note(session: AgentSession, given: shapes.CreateNoteArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    known = memory.snapshot.nugget_names
    (made,), change_set = deeds.add_note(
        memory, given.nugget, given.title, given.content, given.tags, _metadata(given)
    )
    session.stored(made.title)
    answer = _note_answer(memory, made, change_set, new=made.nugget_name not in known)
    return _told(answer, f"Added the note {_line(made.title)} [{made.id}] to {made.nugget_name}.")


def _edit_note(session: AgentSession, given: shapes.EditNoteArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    held = deeds.held(memory, given.id)
    (made,), change_set = deeds.edit_note(
        held.memory,
        held.ids[0],
        content=given.content,
        title=given.title,
        add_tags=given.add_tags,
        remove_tags=given.remove_tags,
        meta=_metadata(given),
    )
    if not held.team:
        session.stored(made.title)
    answer = _note_answer(held.memory, made, change_set, team=held.team)
    said = "Changed" if answer.changed else "Nothing to change:"
    return _told(answer, f"{said} {_line(made.title)} [{made.id}].")


def _metadata(given: shapes.Metadata) -> MetaInput:
    from core.model.infer import MetaInput

    return MetaInput(
        subject=given.subject,
        scope=given.scope,
        type=given.type,
        confidence=given.confidence,
        stability=given.stability,
    ).checked()


def _note_answer(
    memory: Memory, note: Note, change_set: ChangeSet, *, new: bool = False, team: bool = False
) -> shapes.NoteAnswer:
    return shapes.NoteAnswer(
        **_written(memory, change_set, of_note(note), team=team),
        note_id=note.id,
        title=note.title,
        nugget=note.nugget_name,
        tags=list(note.tags),
        new_nugget=new,
    )


def _add_link(session: AgentSession, given: shapes.AddLinkArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    held = deeds.held(memory, given.note_id, given.other_id)
    pair, change_set = deeds.link(held.memory, held.ids[0], held.ids[1], given.reason)
    answer = shapes.AddLinkAnswer(
        **_written(held.memory, change_set, team=held.team),
        notes=[shapes.NamedNote(id=note.id, title=note.title) for note in pair],
        reason=given.reason,
    )
    said = "Linked" if answer.changed else "They are linked already:"
    return _told(answer, f"{said} {_line(pair[0].title)} and {_line(pair[1].title)} ({given.reason}).")


def _search_notes(session: AgentSession, given: shapes.SearchNotesArguments) -> Told:
    from core.search import Filters, snippet

    memory = deeds.with_graph(session.reading())
    searched = memory.searched
    if given.nugget and given.nugget not in searched.nugget_names:
        raise searched.no_nugget(given.nugget)
    wanted = Filters(
        nugget=given.nugget or None,
        scope=given.scope,
        type=given.type,
        subject=given.subject or None,
        tag=given.tag or None,
        include_hidden=given.include_hidden,
    )
    found = memory.search_result(given.query, given.limit, wanted)
    session.asked(given.query)
    answer = shapes.SearchNotesAnswer(
        judgement=memory.judgement(given.query, wanted, found),
        hits=[
            shapes.FoundNote(
                id=hit.note.id,
                title=hit.note.title,
                nugget=hit.note.nugget_name,
                snippet=snippet(hit.note.content, hit.breakdown.matched).text,
                sure=hit.sure,
                score=round(hit.breakdown.blend, 3),
                hidden=hit.note.hidden,
                whose=hit.whose,
            )
            for hit in found.hits
        ],
        documents=[
            shapes.DocumentPart(
                document_id=one.found.document_id,
                title=_line(one.found.title or one.found.source),
                part=one.found.place + 1,
                text=snippet(one.found.text, one.matched).text,
                sure=one.sure,
                score=round(one.blend, 3),
            )
            for one in found.passages
        ],
        misread=[clause.text for clause in found.clauses if clause.broken],
        notices=list(memory.take_team_notices()),
    )
    lines = [
        f"- {_line(hit.title)}: {hit.snippet} [{hit.id}]{'' if hit.sure else ' (less likely)'}{_whose(hit)}"
        for hit in answer.hits
    ]
    lines += map(_document_line, answer.documents)
    lines += [f"Taken for words: {one}" for one in answer.misread]
    lines = lines or ["No note has anything of this."]
    return Told("\n".join([*lines, *_notes(answer.notices)]), answer)


def _document_line(one: shapes.DocumentPart) -> str:
    less = "" if one.sure else " (less likely)"
    return f"- Document {one.title}, part {one.part}: {_line(one.text)} [{one.document_id}]{less}"


def _get_note(session: AgentSession, given: shapes.GetNoteArguments) -> Told:
    from core.graph.neighbours import neighbours
    from core.model.note import custom_tags

    memory = deeds.with_graph(session.reading())
    held = deeds.held(memory, given.id)
    snapshot, note = held.memory.snapshot, held.notes[0]
    beside = memory.with_team()
    whose: Whose = "" if beside is None else "team" if held.team else beside.joined.whose(note.id)
    around = neighbours(snapshot, note.id)
    sides: tuple[tuple[Any, Any], ...] = (("to", around.outgoing), ("from", around.incoming))
    links = [
        shapes.LinkedNote(id=other.id, title=other.title, reason=_line(link.reason), direction=way)
        for way, linked in sides
        for other, link in linked
        if not other.hidden
    ]
    piece = note.content[given.offset : given.offset + _LONGEST_TEXT]
    end = given.offset + len(piece)
    answer = shapes.GetNoteAnswer(
        id=note.id,
        title=note.title,
        content=piece,
        total_chars=len(note.content),
        next_offset=end if end < len(note.content) else 0,
        nugget=note.nugget_name,
        kind=note.kind,
        tags=list(custom_tags(note)),
        scope=note.scope,
        type=note.type,
        source=note.source,
        stability=note.stability,
        confidence=note.confidence,
        hits=note.hits,
        hidden=note.hidden,
        created_at=note.created_at,
        updated_at=note.updated_at,
        links=links[:_MOST_LINKS],
        whose=whose,
        file=deeds.page_of(held.memory, note) if held.team else "",
    )
    about = (
        note.id,
        note.nugget_name,
        note.scope,
        note.type,
        note.source,
        f"confidence {note.confidence:.2f}",
        whose_words(answer.whose),
        answer.file,
    )
    lines = [
        f"# {_line(note.title)}{' (hidden)' if note.hidden else ''}",
        " · ".join(filter(None, about)),
        piece,
    ]
    if answer.next_offset:
        lines.append(f"(of {len(note.content):,} characters; read on with offset {answer.next_offset})")
    lines += [f"{one.direction}: {_line(one.title)} [{one.id}] ({one.reason})" for one in answer.links]
    return Told("\n".join(lines), answer)


def _hide_note(session: AgentSession, given: shapes.HideNoteArguments) -> Told:
    from core.graph import edits

    memory = deeds.with_graph(session.reading())
    held = deeds.held(memory, given.id)
    done = deeds.edit_each(held.memory, held.ids, "hid", edits.hide_note)
    note = done.notes[0]
    answer = shapes.HideNoteAnswer(
        **_written(held.memory, done.change_set, team=held.team), note_id=note.id, title=note.title
    )
    said = "Hid" if answer.changed else "Hidden already:"
    return _told(answer, f"{said} {_line(note.title)} [{note.id}]. It is kept and can be shown again.")


# The whole memory


def _reflect(session: AgentSession, given: shapes.ReflectArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    snapshot = memory.snapshot
    if given.nugget and given.nugget not in snapshot.nugget_names:
        raise snapshot.no_nugget(given.nugget)
    where: dict[str, Any] = {"nugget": given.nugget or None, "limit": given.limit}
    applies = memory.settings.schedule.agents_apply
    done = memory.reflect(unattended=True, **where) if applies else memory.reflect(dry_run=True, **where)
    pending = False
    if applies and not given.nugget:
        _count_as_daily(memory, session.clock(), done)
    elif not applies and done.changes:
        pending = _ask_for_review(memory, session.clock(), len(done.changes))
    applied = applies and not done.change_set.empty
    notes = snapshot.by_id
    answer = shapes.ReflectAnswer(
        applied=applied,
        review_pending=pending,
        inspected=done.inspected,
        counts=dict(Counter(change.type for change in done.changes)),
        changes=[
            shapes.CleanupChange(
                id=change.id,
                type=change.type,
                note_id=change.note_id,
                title=_line(notes[change.note_id].title if change.note_id in notes else change.note_id),
                detail=_line(
                    change.describe_with(notes[change.other_id].title if change.other_id in notes else "")
                ),
                doubtful=change.doubtful,
            )
            for change in done.changes[:_MOST_LISTED]
        ],
        total=len(done.changes),
        change_id=done.change_set.id if applied else "",
        notices=list(memory.take_notices()),
    )
    return Told("\n".join(_reflection_lines(answer)), answer)


def _count_as_daily(memory: Memory, now: datetime, done: Any) -> None:
    """The pass of today ran; that there is another one does no harm."""
    from contextlib import suppress

    from core.daily import count_as_daily, counts_of

    with suppress(NuggetsError):
        count_as_daily(memory, now, counts_of(done))


def _ask_for_review(memory: Memory, now: datetime, changes: int) -> bool:
    """Leaves word for the user, in the log, which is begun if there is none yet."""
    from core.daily import request_review

    memory.refresh(patient=False)
    return request_review(memory, now, changes)


def _reflection_lines(answer: shapes.ReflectAnswer) -> Iterator[str]:
    looked = f"Looked at {plural(answer.inspected, 'note')}"
    if not answer.total:
        yield f"{looked}. Nothing to clean up."
        return
    if answer.applied:
        yield f"{looked}. Changed: {_counts(answer.counts)}. To undo: nuggets undo {answer.change_id}"
    elif answer.review_pending:
        yield (
            f"{looked}. Nothing was changed. {plural(answer.total, 'change waits', 'changes wait')} for the user's "
            f"review ({_counts(answer.counts)}), in the app (r) or with: nuggets reflect"
        )
    else:
        yield f"{looked}. Nothing was changed. Proposed: {_counts(answer.counts)}; tell the user: nuggets reflect"
    yield from (f"- {one.type}: {one.title}: {one.detail}" for one in answer.changes)
    if answer.total > len(answer.changes):
        yield f"and {answer.total - len(answer.changes)} more"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _promote(session: AgentSession, given: shapes.PromoteArguments) -> Told:
    memory = deeds.with_graph(session.reading())
    folder = given.memory_dir or None
    if "\0" in given.memory_dir:
        raise InvalidInputError(
            "is no name of a folder",
            code=ErrorCode.BAD_NAME,
            field="memoryDir",
            where="memoryDir",
            kept="nothing was written",
        )
    done = memory.promote(dry_run=True, memory_dir=folder, cwd=session.project or None)
    lines = [entry for entry in done.entries if entry.status in ("new", "updated", "removed")]
    answer = shapes.PromoteAnswer(
        path=done.path,
        promoted=done.promoted,
        updated=done.updated,
        removed=done.removed,
        held_back=len(done.held_back),
        entries=[
            shapes.PromotedLine(
                status=entry.status,
                section=_line(entry.section),
                title=_line(entry.title),
                note_id=entry.note_id,
            )
            for entry in lines[:_MOST_LISTED]
        ],
        notices=list(memory.take_notices()),
    )
    counts = {"new": done.promoted, "changed": done.updated, "removed": done.removed}
    said = _counts({name: number for name, number in counts.items() if number})
    if not said:
        return Told(f"Nothing to promote: {done.path} is as it should be.", answer)
    head = f"Nothing was written. Proposed for {done.path}: {said}; tell the user: nuggets promote"
    return Told("\n".join([head, *(f"- {one.status}: {one.title}" for one in answer.entries)]), answer)


def _ingest(session: AgentSession, given: shapes.IngestArguments) -> Told:
    from nuggets_tui.cli.session import named_session

    with session.pipeline(memory=bool(given.nugget)) as pipeline:
        done = pipeline.ingest(
            given.text,
            nugget=given.nugget,
            project=given.project,
            session=given.session or named_session(None, str(session.home), server=True),
            source_type="mcp",
        )
        raw = pipeline.raw(done.raw_id)
        kinds = pipeline.credentials_in(raw.id)
        status = pipeline.status()
        notices = [pipeline.notice] if pipeline.notice else []
    answer = shapes.IngestAnswer(
        id=done.raw_id,
        status=done.status,
        duplicate_of=done.duplicate_of or "",
        nugget=raw.nugget,
        entities=list(done.entities[:_MOST_LISTED]),
        pipeline=status.why,
        warnings=_warnings(of_credentials("text", raw.id, kinds, ", which no model sees")),
        notices=notices,
    )
    said = f"Saved as {done.raw_id}."
    if done.status == "duplicate":
        said += f" {done.duplicate_of} says the same, so no facts are extracted again."
    else:
        said += f" Facts found in it go to {raw.nugget}. Pipeline: {status.why}"
    warned = (f"Warning, tell the user: {one.message}" for one in answer.warnings)
    return Told("\n".join([said, *warned, *_notes(answer.notices)]), answer)


def _checkpoint(session: AgentSession, given: shapes.CheckpointArguments) -> Told:
    done, notice = session.checkpoint(given.digest, session=given.session, project=given.project)
    notices = [notice] if notice else []
    answer = shapes.CheckpointAnswer(
        id=done.id,
        session=done.session,
        project=done.project,
        new=done.new,
        redactions=done.redactions,
        count=done.count,
        notices=notices,
    )
    said = f"Kept checkpoint {done.id} of the session {_line(done.session)}" if done.new else "Kept already"
    taken = f", {plural(done.redactions, 'credential')} taken out" if done.redactions else ""
    return Told("\n".join([f"{said}{taken}. sessionRecover gives it back.", *_notes(notices)]), answer)


def _recover(session: AgentSession, given: shapes.RecoverArguments) -> Told:
    found, notices = None, []
    if session.has_pipeline():
        project = given.project or session.project
        with session.pipeline() as pipeline:
            if given.session:
                found = pipeline.recover(given.session, tokens=given.max_tokens)
            else:
                # What this very session left goes before, and a project that is named before any other.
                own = session.id
                found = None if given.project else pipeline.recover(own, tokens=given.max_tokens, asking=own)
                found = found or pipeline.recover(project=project, tokens=given.max_tokens, asking=own)
            notices = [pipeline.notice] if pipeline.notice else []
    if found is None:
        of = f"the session {_line(given.session)}" if given.session else "this project"
        said = "\n".join([f"There is no checkpoint of {of}.", *_notes(notices)])
        return Told(said, shapes.RecoverAnswer(found=False, notices=notices))
    at = datetime.fromtimestamp(found.at / 1000, UTC)
    answer = shapes.RecoverAnswer(
        found=True,
        digest=found.text,
        session=found.session,
        project=found.project,
        author=found.author.partition(":")[2] or found.author,
        at=iso(at),
        count=found.count,
        shown=found.shown,
        truncated=found.cut,
        notices=notices,
    )
    more = f", {found.count - found.shown} earlier left out" if found.count > found.shown else ""
    head = f"Session {_line(found.session)}, {plural(found.count, 'checkpoint')}{more}:"
    return Told(f"{head}\n{found.text}", answer)


def _status(session: AgentSession, given: shapes.NoArguments) -> Told:
    from core.daily import daily_state

    memory = session.reading()
    snapshot = memory.snapshot
    problems = [f"{one.where}: {one.what}" for one in snapshot.problems]
    if memory.log_problem is not None:
        problems.append(memory.log_problem.message)
    try:
        asked = daily_state(session.home, session.clock()).asked is not None
        last = memory.log(limit=1)
    except NuggetsError as error:
        # What keeps the log from being read stands among the problems.
        problems += [error.message] if memory.log_problem is None else []
        asked, last = False, ()
    status = _pipeline_status(session, problems)
    change = deed(last[0].change_set) if last else None
    answer = shapes.StatusAnswer(
        home=str(session.home),
        version=version_of_product(),
        author=str(session.author),
        session=session.id,
        facts=snapshot.fact_count,
        notes=len(snapshot.visible),
        hidden=len(snapshot.notes) - len(snapshot.visible),
        nuggets=_nuggets(snapshot),
        conflicts=0 if memory.log_problem is not None else len(memory.conflicts()),
        proposals=status.proposals_open if status else 0,
        pipeline=status.why if status else "",
        review_pending=asked,
        read_only=snapshot.read_only,
        last_change=shapes.LastChange(
            id=last[0].change_set.id,
            at=last[0].change_set.at,
            author=str(last[0].change_set.author),
            what=_line(f"{change.verb} {change.what}"),
        )
        if change
        else None,
        problems=[_line(one) for one in problems[:_MOST_LISTED]],
        notices=list(memory.take_notices()),
    )
    return Told("\n".join(_status_lines(answer)), answer)


def _pipeline_status(session: AgentSession, problems: list[str]) -> PipelineStatus | None:
    from core.pipeline.service import status_before

    try:
        if not session.has_pipeline():
            return status_before(session.home)
        with session.pipeline() as pipeline:
            return pipeline.status()
    except NuggetsError as error:
        problems.append(error.message)
        return None


def _status_lines(answer: shapes.StatusAnswer) -> Iterator[str]:
    yield f"Memory {answer.home}: {plural(answer.facts, 'fact')}, {plural(answer.notes, 'note')}"
    yield f"You write as {answer.author}; your recalls count for the session {answer.session}."
    if answer.nuggets:
        shown = answer.nuggets[:_MOST_LISTED]
        named = ", ".join(f"{one.name} ({plural(one.facts, 'fact')})" for one in shown)
        more = len(answer.nuggets) - len(shown)
        yield f"Nuggets: {named}{f' and {more} more' if more else ''}"
    if answer.last_change:
        yield f"Last change: {answer.last_change.author} {answer.last_change.what} ({answer.last_change.at})"
    if answer.pipeline:
        yield f"Pipeline: {answer.pipeline}"
    waits = (
        (answer.conflicts, "conflict", "nuggets resolve"),
        (answer.proposals, "proposal", "nuggets pipeline proposals"),
    )
    for number, what, command in waits:
        if number:
            yield f"For the user: {plural(number, what)} to decide on, with {command}"
    if answer.review_pending:
        yield "For the user: a cleanup to review, with nuggets reflect"
    if answer.read_only:
        yield f"Read only: {answer.read_only}"
    yield from (f"Problem: {one}" for one in answer.problems)
    yield from _notes(answer.notices)


def version_of_product() -> str:
    """The version of this installation, "" where it runs from its sources."""
    try:
        return version("nuggets-tui")
    except PackageNotFoundError:
        return ""


# What several answer with


def _written(
    memory: Memory,
    change_set: ChangeSet,
    cautions: Iterable[Caution] = (),
    notices: Iterable[str] = (),
    team: bool = False,
) -> dict[str, Any]:
    """What every answer to a change holds. team: whether the memory is that of a team."""
    changed = not change_set.empty
    return {
        "changed": changed,
        "change_id": change_set.id if changed else "",
        "warnings": _warnings(cautions),
        "notices": [*notices, *memory.take_notices()],
        "team_folder": str(memory.folder) if team else "",
    }


def _warnings(cautions: Iterable[Caution]) -> list[shapes.Warned]:
    return [shapes.Warned(code=one.code, message=one.message) for one in cautions]


def _told(answer: shapes.Written, said: str) -> Told:
    lines = [said]
    if answer.change_id:
        home = f"--home {shlex.quote(answer.team_folder)} " if answer.team_folder else ""
        lines.append(f"To undo: nuggets {home}undo {answer.change_id}")
    lines += [f"Warning, tell the user: {one.message}" for one in answer.warnings]
    lines += _notes(answer.notices)
    return Told("\n".join(lines), answer)


def _notes(notices: Iterable[str]) -> list[str]:
    """What the agent should be told beside the answer, as lines."""
    return [f"Note: {one}" for one in notices]


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


TOOLS: Final = (
    Tool(
        "recall", "Recall from memory",
        "Answers a question from the long-term memory of this user and project: commands, conventions, decisions, "
        "preferences, where things are. Ask it first, before you search the code or the web, and whenever a task "
        "begins. It says how it found the answer. When it is not sure it claims none and gives up to three candidates. "
        "The recall is counted, once for each session; nothing else changes.",
        shapes.RecallArguments, shapes.RecallAnswer, _recall, writes=False,
    ),
    Tool(
        "remember", "Remember a fact",
        "Stores one short fact under a key, so that a later session recalls it: a command, a path, a name, a "
        "preference. Use it as soon as you learn something that will be needed again. An existing key gets the new "
        "value. For what needs more than a few lines use createNote. Never store credentials.",
        shapes.RememberArguments, shapes.RememberAnswer, _remember,
    ),
    Tool(
        "forget", "Forget a fact",
        "Takes a fact that is wrong or out of date out of recall. Its note is kept, hidden, and can be brought back. "
        "If only the value changed, use remember with the same key instead.",
        shapes.ForgetArguments, shapes.ForgetAnswer, _forget, destructive=True, idempotent=False,
    ),
    Tool(
        "listFacts", "List facts",
        "Lists the facts of one nugget, or of all, with their keys and values. To answer a question use recall, which "
        "is quicker and ranks.",
        shapes.ListFactsArguments, shapes.ListFactsAnswer, _list_facts, writes=False,
    ),
    Tool(
        "createNote", "Write a note",
        "Writes a note for later sessions: a decision with its reasons, how something works, a lesson. Make it "
        "self-contained. Search first (searchNotes), and edit a note that says it already.",
        shapes.CreateNoteArguments, shapes.NoteAnswer, _create_note, idempotent=False,
    ),
    Tool(
        "editNote", "Edit a note",
        "Changes the text, title, tags or metadata of a note; what you leave out stays. The note of a fact changes "
        "the fact, too. The former version stays in the history.",
        shapes.EditNoteArguments, shapes.NoteAnswer, _edit_note, destructive=True,
    ),
    Tool(
        "addLink", "Link two notes",
        "Links two notes, both ways, with a reason, so that one is found with the other.",
        shapes.AddLinkArguments, shapes.AddLinkAnswer, _add_link,
    ),
    Tool(
        "searchNotes", "Search notes",
        "Searches all notes and ranks them, the best first, each with the piece that matches. Use it to look further "
        "than recall, or to find the id of a note. It counts nothing.",
        shapes.SearchNotesArguments, shapes.SearchNotesAnswer, _search_notes, writes=False,
    ),
    Tool(
        "getNote", "Read a note",
        "Gives one note with its text, metadata and links. A long text comes in pieces; read on with offset.",
        shapes.GetNoteArguments, shapes.GetNoteAnswer, _get_note, writes=False,
    ),
    Tool(
        "hideNote", "Hide a note",
        "Takes a note out of search and recall. It is kept and can be shown again; a hidden fact leaves its nugget.",
        shapes.HideNoteArguments, shapes.HideNoteAnswer, _hide_note, destructive=True,
    ),
    Tool(
        "reflectAndCleanMemory", "Propose a cleanup",
        "Looks for near-duplicates to merge, notes to archive, and links and tags to add. By default it changes "
        "nothing: the changes wait for the user's review, and the answer says so. Where the user's settings allow it "
        "(agents_apply), what is sure is done at once, as one change that can be undone.",
        shapes.ReflectArguments, shapes.ReflectAnswer, _reflect, destructive=True,
    ),
    Tool(
        "promoteFacts", "Propose lines for MEMORY.md",
        "Tells which notes that were recalled in several sessions would go into MEMORY.md, the page that agents read "
        "at their start. It writes nothing: the user does, with nuggets promote or in the app.",
        shapes.PromoteArguments, shapes.PromoteAnswer, _promote, writes=False,
    ),
    Tool(
        "ingest", "Submit a text",
        "Keeps a whole text to the letter, such as a summary of a session or a decision; a local model extracts facts "
        "from it later. Use it when you have more than you can put into notes yourself.",
        shapes.IngestArguments, shapes.IngestAnswer, _ingest, idempotent=False,
    ),
    Tool(
        "sessionCheckpoint", "Keep a checkpoint",
        "Keeps what was done, decided and is still open, so that the work can be picked up after a crash, a restart "
        "or a compaction of your context. Call it at milestones and before your context is compacted. Credentials are "
        "taken out.",
        shapes.CheckpointArguments, shapes.CheckpointAnswer, _checkpoint,
    ),
    Tool(
        "sessionRecover", "Pick up a session",
        "Gives back the checkpoints of a session, the newest first, within a budget of tokens. Call it when you begin "
        "and find that something was under way, or after a compaction.",
        shapes.RecoverArguments, shapes.RecoverAnswer, _recover, writes=False,
    ),
    Tool(
        "status", "Status of the memory",
        "Says what is in the memory, as whom you write, what waits for the user, and what cannot be read.",
        shapes.NoArguments, shapes.StatusAnswer, _status, writes=False,
    ),
)  # fmt: skip
