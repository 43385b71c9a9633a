"""The `session` commands: what happens in a session of an agent, its checkpoints, and picking it up again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from core.errors import AmbiguousError, NotFoundError
from core.model.names import iso
from core.projects import project_root
from core.verbs import NOTHING_SAVED
from nuggets_tui.calling_session import session_id, working_folder
from nuggets_tui.cli.invocation import NOT_FOUND, Invocation, read_file, read_text
from nuggets_tui.cli.options import Group, arg, limit, opt
from nuggets_tui.cli.output import Line, Span, bold, dim, pick, table
from nuggets_tui.cli.values import FOLDER, WholeNumber
from nuggets_tui.session_words import given_words, helped_words, memory_lines, score_lines
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.database.sessions import Checkpoint, SessionScore
    from core.pipeline.records import SessionOverview, SessionPage
    from core.pipeline.service import Pipeline

# A page says no more of it than fits a look.
_MOST_SHOWN: Final = 20
_MOST_LOOKED_AT: Final = 5_000
_SESSION: Final = opt(
    "--session", "ID", "Which one (default: NUGGETS_SESSION, else of this terminal or agent)."
)
_PROJECT: Final = opt("--project", "NAME", "Project it is about (default: the folder you are in).")
_TRANSCRIPT: Final = (
    "The whole conversation, as text or in the agent's own format; all of it is read for facts."
)

session = Group(
    "session",
    "Keep checkpoints of an agent's session, so that work can go on after a crash or a compaction.\n\n"
    "The hooks of `nuggets agent install` do this by themselves.",
    usual="list",
    examples=(
        "nuggets session",
        "nuggets session recover",
        "nuggets session checkpoint 'Tests pass. Open: docs.'",
    ),
)


@session.add("list", limit("Show at most N (50).", default=50), examples=("nuggets session list --limit 5",))
def list_(call: Invocation, limit: int) -> None:
    """List sessions, latest first, with how many checkpoints each has."""
    with call.pipeline() as pipeline:
        found = pipeline.sessions.all(limit) if pipeline is not None else ()
    rows = [
        (
            one.session,
            Span("ended" if one.ended is not None else "open", "dim" if one.ended is not None else ""),
            plural(one.prompts, "prompt"),
            plural(one.checkpoints, "checkpoint") + (" and more to keep" if one.pending else ""),
            helped_words(one.score) if one.score is not None and one.given else given_words(one.given),
            dim(one.project),
            dim(_minute(one.updated)),
        )
        for one in found
    ]
    call.answer([_session_document(one) for one in found], table(rows, flexible=5) or ["No sessions."])


@session.add(
    "show", arg("session", required=False, metavar="[ID]"),
    examples=("nuggets session show", "nuggets session show s1 --json"),
)  # fmt: skip
def show(call: Invocation, session: str | None) -> None:
    """Show what is kept of a session: its checkpoints, the memories it was given, and how much they helped.

    Without ID, it is the latest one. The unique start of an ID will do.
    """
    with call.pipeline() as pipeline:
        if pipeline is None:
            raise _no_session(session or "")
    with call.made_pipeline(call.memory) as pipeline:
        page = pipeline.sessions.page(_found(pipeline, session))
    notes = call.memory.snapshot.by_id
    titles = {one.note_id: notes[one.note_id].title for one in page.memories if one.note_id in notes}
    score, compared = page.overview.score, page.comparison
    scored = order = None
    if score is not None:
        more = pick(score, "confidence novel_context=novel reasoning model", scoredAt=_time(score.scored))
        scored = _score_document(score) | more
    if compared is not None:
        order = pick(compared, "predictor ndcg baseline") | pick(compared.averages, "average drifts")
    names = "note_id times ahead relevance lexical_use=lexical"
    document = _session_document(page.overview) | {
        "kept": [_checkpoint_document(one) for one in page.checkpoints],
        "scored": scored,
        "memories": [
            pick(one, names, title=titles.get(one.note_id), at=_time(one.at)) for one in page.memories
        ],
        "order": order,
    }
    call.answer(document, lambda: _page_lines(page, titles))


def _no_session(where: str) -> NotFoundError:
    return NotFoundError("there is no session", where=where, todo="nuggets session lists them")


def _found(pipeline: Pipeline, said: str | None) -> str:
    """The session that an ID, or an unambiguous beginning of one, means; the latest one for none.

    Raises NotFoundError, AmbiguousError.
    """
    names = [one.session for one in pipeline.sessions.all(_MOST_LOOKED_AT)]
    if not said and not names:
        raise _no_session("")
    begun = [name for name in names if name.startswith(said or "")]
    if not said or (said not in names and len(begun) == 1):
        return begun[0]
    if said not in names and begun:
        raise AmbiguousError(f"{len(begun)} sessions begin so", where=said, todo="give more of the ID")
    # One that is no longer listed may have been given something.
    return said


# What an agent without hooks tells


@session.add(
    "checkpoint", arg("text"), _SESSION, _PROJECT,
    examples=("nuggets session checkpoint 'Tests pass. Open: docs.'",),
)  # fmt: skip
def checkpoint(call: Invocation, text: str, session: str | None, project: str | None) -> None:
    """Keep a checkpoint: what was done, what was decided, what is open. TEXT - reads standard input."""
    said, name = read_text(text), session_id(session, str(call.folder))
    with call.made_pipeline() as pipeline:
        done = pipeline.sessions.checkpoint(said, session=name, project=_project(project), cause="explicit")
    taken = f", {plural(done.redactions, 'credential')} taken out" if done.redactions else ""
    kept = f"Kept checkpoint {done.id} of the session {done.session}{taken}."
    document = pick(done, "id session project new redactions count dropped")
    call.answer(document, [kept if done.new else "Kept already."])


@session.add(
    "end", _SESSION, _PROJECT, opt("--transcript", "FILE", _TRANSCRIPT, FOLDER),
    examples=("nuggets session end", "nuggets session end --transcript talk.jsonl"),
)  # fmt: skip
def end(call: Invocation, session: str | None, project: str | None, transcript: str | None) -> None:
    """End a session. What happened since its last checkpoint is kept as one more.

    The conversation shows which of the recalled memories helped.
    """
    name, about = session_id(session, str(call.folder)), _project(project)
    said = read_file(transcript, NOTHING_SAVED, errors="replace") if transcript is not None else ""
    with call.made_pipeline() as pipeline:
        done = pipeline.sessions.end(name, project=about, conversation=said)
    warning = done.text.warning if done.text is not None else ""
    shown = warning or ("nothing was said in the conversation" if said and done.text is None else "")
    call.note(f"warning: {shown}" if shown else "")
    text = done.text.raw_id if done.text is not None else None
    document: dict[str, Any] = {"session": name, "project": about, "text": text, "warning": warning}
    document["checkpoints"] = [_checkpoint_document(one) for one in done.checkpoints]
    saved = f"Saved the conversation as {text}." if text else ""
    helped = f"{helped_words(done.score)}." if done.score.recalled else ""
    kept = (f"Kept checkpoint {one.id}." for one in done.checkpoints)
    lines = filter(None, [f"Session {name} ended.", *kept, saved, helped])
    call.answer(document | _score_document(done.score), lines)


@session.add(
    "recover", opt("--session", "ID", "Which one (default: the last one of the project)."), _PROJECT,
    opt("--max-tokens", "N", "Most tokens of the answer (500).", WholeNumber(min=50)),
    examples=("nuggets session recover", "nuggets session recover --session s1 --max-tokens 2000"),
)  # fmt: skip
def recover(call: Invocation, session: str | None, project: str | None, max_tokens: int | None) -> int | None:
    """Show a session's checkpoints and what happened since, newest first. Exit code 1 when there is nothing."""
    found = None
    with call.pipeline() as pipeline:
        if pipeline is not None:
            about = "" if session else _project(project)
            found = pipeline.sessions.recover(session or "", project=about, tokens=max_tokens)
    lines: list[Line] = ["There is nothing to recover."]
    document: dict[str, Any] = {"found": False}
    if found is not None:
        head = bold(f"Session {found.session}, {plural(found.count, 'checkpoint')}")
        lines = [head, *found.text.splitlines()]
        names = "session project author count shown truncated=cut text"
        document = pick(found, names, found=True, at=_time(found.at))
    call.answer(document, lines)
    return None if found else NOT_FOUND


def _project(given: str | None) -> str:
    return project_root(working_folder()) if given is None else given


# As JSON


def _score_document(score: SessionScore) -> dict[str, Any]:
    return pick(score, "status score lexical_use=lexical recalled used")


def _time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else iso(datetime.fromtimestamp(milliseconds / 1000, UTC))


def _session_document(one: SessionOverview) -> dict[str, Any]:
    score = one.score
    return pick(
        one, "session project author prompts checkpoints pending given", startedAt=_time(one.started),
        updatedAt=_time(one.updated), endedAt=_time(one.ended), used=score.used if score is not None else None,
        score=score.score if score is not None else None, lexicalUse=score.lexical if score is not None else None,
    )  # fmt: skip


def _checkpoint_document(one: Checkpoint) -> dict[str, Any]:
    return pick(one, "id trigger=cause text=digest", at=_time(one.created_at))


# For people


def _page_lines(page: SessionPage, titles: Mapping[str, str]) -> Iterator[Line]:
    one = page.overview
    yield bold(f"Session {one.session}")
    ended = f"ended {_minute(one.ended)}" if one.ended is not None else "open, or cut off"
    began = f"{plural(one.prompts, 'prompt')} · began {_minute(one.started)}"
    yield dim(f"{one.project or 'no project'} · {began} · {ended}")
    lines: list[Line] = ["", bold("What it was given"), *memory_lines(page, titles)]
    if one.score is not None:
        lines += ["", bold("How much that helped"), *score_lines(page)]
    yield from (*lines, "", bold(f"Checkpoints: {len(page.checkpoints)}"))
    for kept in page.checkpoints[:_MOST_SHOWN]:
        yield dim(f"{_minute(kept.created_at)}  {kept.cause.replace('_', ' ')}")
        yield from (f"  {line}" for line in kept.digest.splitlines() if line.strip())


def _minute(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"
