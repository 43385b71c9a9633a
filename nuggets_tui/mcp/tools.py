"""The tools that an agent has: each a thin call of the engine, answered in one short text that a model reads."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from core import verbs
from core.model.infer import MetaInput
from core.verbs import Caution, warnings_of
from nuggets_tui.answers import candidate_lines, recall_lines
from nuggets_tui.cli.output import render
from nuggets_tui.mcp import arguments
from nuggets_tui.mcp.session import AgentSession
from nuggets_tui.words import about as about_note
from nuggets_tui.words import plural, stale_lines

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.note import Note
    from nuggets_tui.cli.output import Line

# Characters of a text that an answer holds; getNote reads on from there.
_LONGEST_TEXT: Final = 16_000
_LONGEST_LINE: Final = 160
_MOST_LISTED: Final = 20


class Tool(NamedTuple):
    """A tool. writes: it changes the memory, one call after the other. destructive: what was there may look otherwise
    afterwards, though nothing is lost. listed: clients are told of it unasked.
    """

    name: str
    description: str
    takes: type[arguments.Arguments]
    run: Callable[[AgentSession, Any], str]
    writes: bool = True
    destructive: bool = False
    listed: bool = True


# Asking


def _recall(session: AgentSession, given: arguments.RecallArguments) -> str:
    memory = session.reading()
    found = memory.recall(given.query, given.nugget or None, given.session or session.id, decode=False)
    session.asked(given.query, found.note_id or "" if found.found else "", given.session)
    lines = [render(line, colour=False) for line in _answer_lines(memory, found, session.clock())]
    lines += [f"Document {one.title or one.source}: {_line(one.text)}" for one in found.passages]
    lines += [f"Note: {one.nugget_name} was passed over: {one.what}" for one in found.skipped]
    return _text(lines, memory.search.take_notices())


def _answer_lines(memory: Memory, found: Recall, now: datetime) -> Iterator[Line]:
    if found.found:
        yield from recall_lines(memory, found, now, lambda note_id: f"getNote {note_id} gives all")
    elif found.candidates:
        yield "Not sure. Check before you use one of these (getNote reads it):"
        yield from candidate_lines(memory, found, now)
    else:
        yield "Nothing known. Once you know it, store it with remember."


def _search_notes(session: AgentSession, given: arguments.SearchNotesArguments) -> str:
    from core.search import Filters, snippet

    memory = verbs.with_graph(session.reading())
    searched = memory.search.snapshot
    if given.nugget and given.nugget not in searched.nugget_names:
        raise searched.no_nugget(given.nugget)
    found = memory.search.result(given.query, given.limit, Filters(nugget=given.nugget or None))
    session.asked(given.query)
    lines, stale = [], memory.stale_references(hit.note for hit in found.hits)
    for hit in found.hits:
        said = (
            f"from project {hit.project}" if hit.project else "",
            "" if hit.sure else "less likely",
            "the team's" if hit.whose == "team" else "",
            "hidden" if hit.note.hidden else "",
            *map(_line, stale_lines(stale.get(hit.note.id, ()), session.clock())),
        )
        piece = snippet(hit.note.content, hit.breakdown.matched).text
        behind = "".join(f" ({one})" for one in said if one)
        lines.append(f"- {_line(hit.note.title)}: {piece} [{hit.note.id}]{behind}")
    lines += [
        f"- Document {_line(one.found.title or one.found.source)}: {snippet(one.found.text, one.matched).text}"
        for one in found.passages
    ]
    lines = lines or ["No note has anything of this."]
    lines += [f"Taken for words: {clause.text}" for clause in found.clauses if clause.broken]
    return _text(lines, memory.search.take_notices())


def _get_note(session: AgentSession, given: arguments.GetNoteArguments) -> str:
    from core.graph.neighbours import neighbours
    from core.model.note import custom_tags

    memory = verbs.with_graph(session.reading())
    held = verbs.held(memory, given.id)
    snapshot, note = held.memory.snapshot, held.notes[0]
    around = neighbours(snapshot, note.id)
    piece = note.content[given.offset : given.offset + _LONGEST_TEXT]
    end = given.offset + len(piece)
    facts = (
        note.id,
        about_note(held.memory, note.nugget_name, note, "", "", session.clock()),
        *(f"#{tag}" for tag in custom_tags(note)),
        "the team's" if held.team else "",
        "hidden" if note.hidden else "",
    )
    lines = [f"# {_line(note.title)}", " · ".join(filter(None, facts)), piece]
    if end < len(note.content):
        lines.append(f"(of {len(note.content):,} characters; read on with offset {end})")
    linked = {other.id: (other, link) for other, link in (*around.incoming, *around.outgoing)}
    shown = [(other, link) for other, link in linked.values() if not other.hidden][:_MOST_LISTED]
    lines += [f"Linked: {_line(other.title)} [{other.id}] ({_line(link.reason)})" for other, link in shown]
    return _text(lines)


# Writing


def _remember(session: AgentSession, given: arguments.RememberArguments) -> str:
    memory = verbs.with_graph(session.reading())
    done = verbs.remember(memory, given.nugget, given.key, given.value, by_agent=True)
    made = done.note
    session.stored(made.key)
    key, where = _line(made.key), made.nugget_name
    if done.change_set.empty:
        return f"{key} in {where} says so already."
    changed = done.former is not None and done.former != made.content
    said = f"Remembered {key} in {where}{_about_user(made)}."
    said += f" It was: {_line(done.former or '')}" if changed else ""
    said = f"{said} {verbs.second_one(done.like)}".strip()
    return _told(memory, said, done.change_set, warnings_of(memory.snapshot.by_id.get(made.id, made)))


def _create_note(session: AgentSession, given: arguments.CreateNoteArguments) -> str:
    memory = verbs.with_graph(session.reading())
    made, change_set, like = verbs.add_note(
        memory, given.nugget, given.title, given.content, given.tags,
        MetaInput(scope=given.scope or None), by_agent=True,
    )  # fmt: skip
    session.stored(made.title)
    said = f"Added {_line(made.title)} [{made.id}] to {made.nugget_name}{_about_user(made)}."
    return _told(memory, f"{said} {verbs.second_one(like)}".strip(), change_set, warnings_of(made))


def _about_user(note: Note) -> str:
    return ", as about the user in all projects" if note.scope == "user" else ""


def _edit_note(session: AgentSession, given: arguments.EditNoteArguments) -> str:
    linked = [given.link_to] if given.link_to.strip() else []
    held = verbs.held(verbs.with_graph(session.reading()), given.id, *linked)
    done = verbs.edit_note(
        held.memory, held.ids[0], content=given.content, title=given.title, add_tags=given.add_tags,
        remove_tags=given.remove_tags, meta=MetaInput(scope=given.scope or None), link_to=held.ids[1] if linked else "",
    )  # fmt: skip
    note = done.notes[0]
    if not held.team:
        session.stored(note.title)
    said = f"{'Nothing to change:' if done.change_set.empty else 'Changed'} {_line(note.title)} [{note.id}]."
    said += f" It's linked with {_line(held.notes[1].title)}." if linked else ""
    return _told(held.memory, said, done.change_set, warnings_of(note), held.team)


def _forget(session: AgentSession, given: arguments.ForgetArguments) -> str:
    from core.graph import edits

    memory = verbs.with_graph(session.reading())
    nugget = _holder(memory, given.id.strip())
    if nugget:
        gone, change_set = verbs.forget(memory, nugget, given.id.strip())
        assert gone is not None
        return _told(memory, f"Forgot {_line(gone.key)} in {nugget}. It's hidden, not lost.", change_set)
    held = verbs.held(memory, given.id)
    done = verbs.edit_each(held.memory, held.ids, "hid", edits.hide_note)
    note = done.notes[0]
    said = f"{'Hidden already:' if done.change_set.empty else 'Hid'} {_line(note.title)} [{note.id}]."
    return _told(held.memory, f"{said} It's not lost.", done.change_set, (), held.team)


def _holder(memory: Memory, key: str) -> str:
    """The nugget that holds a fact of this key: the project's before any other; "" for none."""
    holding = [one.name for one in memory.snapshot.nuggets if one.find(key) is not None]
    own = memory.standpoint.nugget if memory.standpoint is not None else ""
    return own if own in holding else holding[0] if len(holding) == 1 else ""


def _add_link(session: AgentSession, given: arguments.AddLinkArguments) -> str:
    memory = verbs.with_graph(session.reading())
    held = verbs.held(memory, given.note_id, given.other_id)
    pair, change_set = verbs.link(held.memory, held.ids[0], held.ids[1], given.reason)
    said = "They are linked already:" if change_set.empty else "Linked"
    said = f"{said} {_line(pair[0].title)} and {_line(pair[1].title)} ({_line(given.reason)})."
    return _told(held.memory, said, change_set, (), held.team)


# The whole memory


def _reflect(session: AgentSession, given: arguments.ReflectArguments) -> str:
    from core.daily import request_review

    memory = verbs.with_graph(session.reading())
    snapshot = memory.snapshot
    if given.nugget and given.nugget not in snapshot.nugget_names:
        raise snapshot.no_nugget(given.nugget)
    done = memory.reflect(dry_run=True, nugget=given.nugget or None, limit=given.limit)
    looked = f"Looked at {plural(done.inspected, 'note')}."
    if not done.changes:
        return f"{looked} Nothing to clean up."
    memory.refresh(patient=False)
    request_review(memory, session.clock(), len(done.changes))
    waits = plural(len(done.changes), "change waits", "changes wait")
    review = f"{waits} for the user's review, in the app (r) or with: nuggets reflect"
    lines = [f"{looked} Nothing was changed. {review}"]
    lines += [
        f"- {one.type}: {_line(snapshot.by_id[one.note_id].title)}" for one in done.changes[:_MOST_LISTED]
    ]
    return _text(lines, memory.take_notices())


def _promote(session: AgentSession, given: arguments.PromoteArguments) -> str:
    memory = verbs.with_graph(session.reading())
    done = memory.promotion.promote(
        dry_run=True, memory_dir=given.memory_dir or None, cwd=session.project or None
    )
    listed = [one for one in done.entries if one.status in ("new", "updated", "removed")]
    if not listed:
        return f"Nothing to promote: {done.path} is as it should be."
    said = f"Nothing was written. Proposed for {done.path}, {plural(len(listed), 'line')}"
    lines = [f"{said}; tell the user: nuggets promote"]
    lines += [f"- {one.status}: {_line(one.title)}" for one in listed[:_MOST_LISTED]]
    return _text(lines, memory.take_notices())


def _checkpoint(session: AgentSession, given: arguments.CheckpointArguments) -> str:
    done, notice = session.checkpoint(given.digest, session=given.session, project=given.project)
    said = f"Kept checkpoint {done.id} of the session {_line(done.session)}" if done.new else "Kept already"
    taken = f", {plural(done.redactions, 'credential')} taken out" if done.redactions else ""
    return _text([f"{said}{taken}. sessionRecover gives it back."], filter(None, [notice]))


def _recover(session: AgentSession, given: arguments.RecoverArguments) -> str:
    if not session.has_pipeline():
        return "There is no checkpoint of this project."
    project, own = given.project or session.project, session.id
    with session.pipeline() as pipeline:
        found = None
        if given.session or not given.project:
            # What this very session left goes before, and a project that is named before any other.
            found = pipeline.sessions.recover(
                given.session or own, tokens=given.max_tokens, asking="" if given.session else own
            )
        if found is None and not given.session:
            found = pipeline.sessions.recover(project=project, tokens=given.max_tokens, asking=own)
        notice = pipeline.notice
    if found is None:
        of = f"the session {_line(given.session)}" if given.session else "this project"
        return _text([f"There is no checkpoint of {of}."], filter(None, [notice]))
    at = datetime.fromtimestamp(found.at / 1000, UTC)
    more = f", {found.count - found.shown} earlier left out" if found.count > found.shown else ""
    head = f"Session {_line(found.session)}, {at:%Y-%m-%d %H:%M}, {plural(found.count, 'checkpoint')}{more}:"
    return _text([head, found.text], filter(None, [notice]))


# What several answer with


def _told(
    memory: Memory, said: str, change_set: ChangeSet, cautions: Iterable[Caution] = (), team: bool = False
) -> str:
    """The answer to a change. team: whether the memory is that of a team."""
    lines = [said]
    if not change_set.empty:
        home = f"--home {shlex.quote(str(memory.folder))} " if team else ""
        lines.append(f"To undo: nuggets {home}undo {change_set.id}")
    lines += [f"Warning, tell the user: {one.message}" for one in cautions]
    return _text(lines, memory.take_notices())


def _text(lines: Iterable[str], notices: Iterable[str] = ()) -> str:
    return "\n".join([*lines, *(f"Note: {one}" for one in notices)])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


TOOLS: Final = (
    Tool(
        "recall",
        "Asks the memory of this project and user: commands, conventions, decisions, preferences, where things are. "
        "Ask it first, before you search code or the web, and when a task begins.",
        arguments.RecallArguments, _recall, writes=False,
    ),
    Tool(
        "remember",
        "Stores a short fact for later sessions as soon as you learn it. An existing key gets the new value. "
        "Never store credentials.",
        arguments.RememberArguments, _remember,
    ),
    Tool(
        "searchNotes", "Lists notes that match, best first, each with the passage.",
        arguments.SearchNotesArguments, _search_notes, writes=False,
    ),
    Tool(
        "getNote", "Reads a whole note, with its links.",
        arguments.GetNoteArguments, _get_note, writes=False,
    ),
    Tool(
        "createNote",
        "Stores what takes more than a line: a decision with its reasons, how something works, a lesson.",
        arguments.CreateNoteArguments, _create_note,
    ),
    Tool(
        "editNote", "Changes a note; what you leave out stays, and the old version is kept.",
        arguments.EditNoteArguments, _edit_note, destructive=True,
    ),
    Tool(
        "forget", "Takes a wrong or outdated fact or note out of recall. It's hidden and can be restored.",
        arguments.ForgetArguments, _forget, destructive=True,
    ),
    Tool(
        "sessionCheckpoint",
        "Saves where you are, so that work can be picked up after a crash or a compaction. Call it at milestones and "
        "before your context is compacted.",
        arguments.CheckpointArguments, _checkpoint,
    ),
    Tool(
        "sessionRecover", "Gives back the last checkpoint here. Call it when you begin and work was under way.",
        arguments.RecoverArguments, _recover, writes=False,
    ),
    Tool("addLink", "Links two notes, both ways.", arguments.AddLinkArguments, _add_link, listed=False),
    Tool(
        "reflectAndCleanMemory", "Proposes a cleanup, which waits for the user's review.",
        arguments.ReflectArguments, _reflect, listed=False,
    ),
    Tool(
        "promoteFacts", "Tells what would go into MEMORY.md; the user writes it.",
        arguments.PromoteArguments, _promote, writes=False, listed=False,
    ),
)  # fmt: skip
