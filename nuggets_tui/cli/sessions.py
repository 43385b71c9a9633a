"""The `session` commands: what happens in a session of an agent, its checkpoints, and picking it up again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from core.model.names import iso
from core.pipeline.session_events import EventKind, SessionEvent
from core.projects import project_root
from nuggets_tui.calling_session import session_id, working_folder
from nuggets_tui.cli.groups import FOLDER, TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.ingest import read_file
from nuggets_tui.cli.invocation import Invocation, pass_call, read_text
from nuggets_tui.cli.options import LIMIT, WholeNumber
from nuggets_tui.cli.output import Line, Span, table, write_error
from nuggets_tui.session_words import given_words, helped_words, memory_lines, score_lines
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.database.sessions import Checkpoint, SessionScore
    from core.pipeline.records import Ended, KeptCheckpoint, Recovery, SessionOverview, SessionPage
    from core.pipeline.service import Pipeline

NOT_FOUND: Final = 1
# A page says no more of it than fits a look.
_MOST_SHOWN: Final = 20
_MOST_LOOKED_AT: Final = 5_000
_TOKENS: Final = WholeNumber(min=50)
_MODULE: Final = "nuggets_tui.cli.sessions"


session_group = LazyGroup(
    "session",
    entries={
        "list": CommandEntry(f"{_MODULE}:list_", "List sessions, the latest first."),
        "show": CommandEntry(
            f"{_MODULE}:show", "Show all of one: checkpoints, what it recalled, what helped."
        ),
        "start": CommandEntry(f"{_MODULE}:start", "Begin one, and show what the one before left."),
        "prompt": CommandEntry(
            f"{_MODULE}:prompt", "Put a prompt down; every so often a checkpoint comes of it."
        ),
        "checkpoint": CommandEntry(
            f"{_MODULE}:checkpoint", "Keep a checkpoint: what was done, what is open."
        ),
        "end": CommandEntry(f"{_MODULE}:end", "End one, with a last checkpoint."),
        "recover": CommandEntry(f"{_MODULE}:recover", "Show what a session left, to go on from there."),
    },
    by_default=lambda call: _print_sessions(call, 50),
    help="""Keep the place of an agent's session, so that work can go on after a crash or a compaction.

The hooks of `nuggets agent install` call these by themselves.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example(
        "nuggets session", "nuggets session recover", "nuggets session checkpoint 'Tests pass. Open: docs.'"
    ),
)
_session_option = click.option(
    "--session",
    type=TEXT,
    metavar="ID",
    help="Which one (default: NUGGETS_SESSION, else of this terminal or agent).",
)
_project_option = click.option(
    "--project", type=TEXT, metavar="NAME", help="Project it is about (default: the folder you are in)."
)


@command("list", epilog=example("nuggets session list --limit 5"))
@click.option("--limit", type=LIMIT, default=50, metavar="N", help="Show at most N (50).")
@pass_call
def list_(call: Invocation, /, limit: int) -> None:
    """List sessions, the latest first, with how many checkpoints are kept of each."""
    _print_sessions(call, limit)


@command("show", epilog=example("nuggets session show", "nuggets session show s1 --json"))
@click.argument("session", type=TEXT, required=False, metavar="[ID]")
@pass_call
def show(call: Invocation, /, session: str | None) -> None:
    """Show all that is kept of a session: its checkpoints, what it was given, and how much of that helped.

    Without an ID it is the latest one. The beginning of an ID will do, as long as no other session begins so.
    """
    from core.errors import NotFoundError

    if not _exists(call):
        raise NotFoundError("there is no session", where=session or "", todo="nuggets session lists them")
    with _made(call, memory=True) as pipeline:
        page = pipeline.session(_found(pipeline, session))
    titles = {
        one.note_id: note.title
        for one in page.memories
        if (note := call.memory.snapshot.by_id.get(one.note_id)) is not None
    }
    call.answer(lambda: _page_document(page, titles), lambda: _page_lines(page, titles))


@command("start", epilog=example("nuggets session start --project app"))
@_session_option
@_project_option
@pass_call
def start(call: Invocation, /, session: str | None, project: str | None) -> None:
    """Begin a session. Shows what the last one of the project left, if it did not end."""
    name, about = session_id(session, str(call.folder)), _project(project)
    with _made(call) as pipeline:
        pipeline.follow_session(SessionEvent("start", name, about))
        found = pipeline.recover(project=about, asking=name)
        left = found if found is not None and found.session != name and not _ended(pipeline, found) else None
    call.answer(
        lambda: {"session": name, "project": about, "left": _recovery_document(left) if left else None},
        lambda: [f"Session {name} begins.", *(_recovery_lines(left) if left else ())],
    )


@command("prompt", epilog=example("nuggets session prompt 'Fix the tests'"))
@click.argument("text", type=TEXT)
@_session_option
@_project_option
@pass_call
def prompt(call: Invocation, /, text: str, session: str | None, project: str | None) -> None:
    """Put a prompt down, - for standard input. Its beginning stands in the next checkpoint, without credentials."""
    _follow(call, "prompt", session, project, read_text(text))


@command("checkpoint", epilog=example("nuggets session checkpoint 'Tests pass. Open: docs.'"))
@click.argument("text", type=TEXT)
@_session_option
@_project_option
@pass_call
def checkpoint(call: Invocation, /, text: str, session: str | None, project: str | None) -> None:
    """Keep a checkpoint of what was done, decided and is still open, - for standard input."""
    said = read_text(text)
    with _made(call) as pipeline:
        done = pipeline.checkpoint(
            said, session=session_id(session, str(call.folder)), project=_project(project), cause="explicit"
        )
    call.answer(lambda: _kept_document(done), lambda: [_kept_line(done)])


@command("end", epilog=example("nuggets session end", "nuggets session end --transcript talk.jsonl"))
@_session_option
@_project_option
@click.option(
    "--transcript", type=FOLDER, metavar="FILE",
    help="The whole conversation, as text or as the agent keeps it; is read whole for facts.",
)  # fmt: skip
@pass_call
def end(call: Invocation, /, session: str | None, project: str | None, transcript: str | None) -> None:
    """End a session. What happened since its last checkpoint is kept as its last one.

    The conversation tells which of the memories that were recalled in the session helped.
    """
    name, about = session_id(session, str(call.folder)), _project(project)
    said = read_file(transcript, errors="replace") if transcript is not None else ""
    with _made(call) as pipeline:
        done = pipeline.end_session(name, project=about, conversation=said)
    if said and done.text is None and not call.as_json:
        write_error("warning: nothing was said in the conversation")
    if done.text is not None and done.text.warning and not call.as_json:
        write_error(f"warning: {done.text.warning}")
    call.answer(lambda: _ended_document(name, about, done), lambda: _ended_lines(name, done))


@command(
    "recover",
    epilog=example("nuggets session recover", "nuggets session recover --session s1 --max-tokens 2000"),
)
@click.option("--session", type=TEXT, metavar="ID", help="Which one (default: the last one of the project).")
@_project_option
@click.option("--max-tokens", type=_TOKENS, metavar="N", help="Budget of the answer (500).")
@pass_call
def recover(
    call: Invocation, /, session: str | None, project: str | None, max_tokens: int | None
) -> int | None:
    """Show what a session left at its checkpoints and since, newest first. Exit code 1 when there is nothing."""
    found = None
    if _exists(call):
        with _made(call) as pipeline:
            about = "" if session else _project(project)
            found = pipeline.recover(session or "", project=about, tokens=max_tokens)
    call.answer(
        lambda: _recovery_document(found),
        lambda: _recovery_lines(found) if found else ["There is nothing to pick up."],
    )
    return None if found else NOT_FOUND


def _found(pipeline: Pipeline, said: str | None) -> str:
    """The session that an ID, or an unambiguous beginning of one, means; the latest one for none.

    Raises NotFoundError, AmbiguousError.
    """
    from core.errors import AmbiguousError, NotFoundError

    names = [one.session for one in pipeline.sessions(_MOST_LOOKED_AT)]
    if not said and names:
        return names[0]
    begun = [name for name in names if said and name.startswith(said)]
    if said is None or (not begun and said not in names):
        # One that is no longer listed may have been given something.
        if said:
            return said
        raise NotFoundError("there is no session", where="", todo="nuggets session lists them")
    if said in names or len(begun) == 1:
        return said if said in names else begun[0]
    raise AmbiguousError(f"{len(begun)} sessions begin so", where=said, todo="give more of the ID")


def _follow(call: Invocation, kind: EventKind, session: str | None, project: str | None, *texts: str) -> None:
    name, about = session_id(session, str(call.folder)), _project(project)
    with _made(call) as pipeline:
        kept = pipeline.follow_session(SessionEvent(kind, name, about, texts=texts))
        own = tuple(one for one in kept if one.session == name)
    call.answer(
        lambda: {
            "session": name,
            "project": about,
            "checkpoints": [_checkpoint_document(one) for one in own],
        },
        lambda: [f"Kept checkpoint {one.id} of the session {one.session}." for one in own],
    )


def _print_sessions(call: Invocation, most: int) -> None:
    found: tuple[SessionOverview, ...] = ()
    if _exists(call):
        with _made(call) as pipeline:
            found = pipeline.sessions(most)
    call.answer(lambda: [_session_document(one) for one in found], lambda: _session_lines(found))


def _exists(call: Invocation) -> bool:
    from core.pipeline.service import Pipeline

    return Pipeline.exists(call.folder)


@contextmanager
def _made(call: Invocation, *, memory: bool = False) -> Iterator[Pipeline]:
    """memory: what it counted is asked for."""
    from core.pipeline.service import Pipeline

    with Pipeline.open(call.folder, author=call.author, memory=call.memory if memory else None) as pipeline:
        if pipeline.notice:
            write_error(f"warning: {pipeline.notice}")
        yield pipeline


def _project(given: str | None) -> str:
    return project_root(working_folder()) if given is None else given


def _ended(pipeline: Pipeline, found: Recovery) -> bool:
    return any(one.session == found.session and one.ended is not None for one in pipeline.sessions())


# As JSON


def _ended_document(name: str, about: str, done: Ended) -> dict[str, Any]:
    return {
        "session": name,
        "project": about,
        "checkpoints": [_checkpoint_document(one) for one in done.checkpoints],
        "text": done.text.raw_id if done.text is not None else None,
        "warning": done.text.warning if done.text is not None else "",
        **_score_document(done.score),
    }


def _score_document(score: SessionScore) -> dict[str, Any]:
    return {
        "status": score.status,
        "score": score.score,
        "lexicalUse": score.lexical,
        "recalled": score.recalled,
        "used": score.used,
    }


def _page_document(page: SessionPage, titles: Mapping[str, str]) -> dict[str, Any]:
    score, compared = page.overview.score, page.comparison
    return {
        **_session_document(page.overview),
        "kept": [_checkpoint_document(one) for one in page.checkpoints],
        "scored": None
        if score is None
        else {
            **_score_document(score),
            "confidence": score.confidence,
            "novelContext": score.novel,
            "reasoning": score.reasoning,
            "model": score.model,
            "scoredAt": _time(score.scored),
        },
        "memories": [
            {
                "noteId": one.note_id,
                "title": titles.get(one.note_id),
                "at": _time(one.at),
                "times": one.times,
                "ahead": one.ahead,
                "relevance": one.relevance,
                "lexicalUse": one.lexical,
            }
            for one in page.memories
        ],
        "order": None
        if compared is None
        else {
            "predictor": compared.predictor,
            "ndcg": compared.ndcg,
            "baseline": compared.baseline,
            "average": compared.averages.average,
            "drifts": compared.averages.drifts,
        },
    }


def _time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else iso(datetime.fromtimestamp(milliseconds / 1000, UTC))


def _session_document(one: SessionOverview) -> dict[str, Any]:
    return {
        "session": one.session,
        "project": one.project,
        "author": one.author,
        "startedAt": _time(one.started),
        "updatedAt": _time(one.updated),
        "endedAt": _time(one.ended),
        "prompts": one.prompts,
        "checkpoints": one.checkpoints,
        "pending": one.pending,
        "given": one.given,
        "used": one.score.used if one.score is not None else None,
        "score": one.score.score if one.score is not None else None,
        "lexicalUse": one.score.lexical if one.score is not None else None,
    }


def _checkpoint_document(one: Checkpoint) -> dict[str, Any]:
    return {"id": one.id, "trigger": one.cause, "at": _time(one.created_at), "text": one.digest}


def _kept_document(done: KeptCheckpoint) -> dict[str, Any]:
    return {
        "id": done.id,
        "session": done.session,
        "project": done.project,
        "new": done.new,
        "redactions": done.redactions,
        "count": done.count,
        "dropped": done.dropped,
    }


def _recovery_document(found: Recovery | None) -> dict[str, Any]:
    if found is None:
        return {"found": False}
    return {
        "found": True,
        "session": found.session,
        "project": found.project,
        "author": found.author,
        "at": _time(found.at),
        "count": found.count,
        "shown": found.shown,
        "truncated": found.cut,
        "text": found.text,
    }


# For people


def _ended_lines(name: str, done: Ended) -> Iterator[Line]:
    yield f"Session {name} ended."
    for one in done.checkpoints:
        yield f"Kept checkpoint {one.id}."
    if done.text is not None:
        yield f"Saved the conversation as {done.text.raw_id}."
    if done.score.recalled:
        yield f"{helped_words(done.score)}."


def _kept_line(done: KeptCheckpoint) -> str:
    if not done.new:
        return "Kept already."
    taken = f", {plural(done.redactions, 'credential')} taken out" if done.redactions else ""
    return f"Kept checkpoint {done.id} of the session {done.session}{taken}."


def _recovery_lines(found: Recovery) -> Iterator[Line]:
    yield Span(f"Session {found.session}, {plural(found.count, 'checkpoint')}", "bold")
    yield from found.text.splitlines()


def _page_lines(page: SessionPage, titles: Mapping[str, str]) -> Iterator[Line]:
    one, score = page.overview, page.overview.score
    yield Span(f"Session {one.session}", "bold")
    ended = f"ended {_minute(one.ended)}" if one.ended is not None else "open, or cut off"
    yield Span(
        f"{one.project or 'no project'} · {plural(one.prompts, 'prompt')} · began {_minute(one.started)} · {ended}",
        "dim",
    )
    yield ""
    yield Span("What it was given", "bold")
    yield from memory_lines(page, titles)
    if score is not None:
        yield ""
        yield Span("How much that helped", "bold")
        yield from score_lines(page)
    yield ""
    yield Span(f"Checkpoints: {len(page.checkpoints)}", "bold")
    for kept in page.checkpoints[:_MOST_SHOWN]:
        yield Span(f"{_minute(kept.created_at)}  {kept.cause.replace('_', ' ')}", "dim")
        yield from (f"  {line}" for line in kept.digest.splitlines() if line.strip())


def _minute(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _session_lines(found: tuple[SessionOverview, ...]) -> Iterator[Line]:
    rows = [
        (
            one.session,
            Span("ended" if one.ended is not None else "open", "dim" if one.ended is not None else ""),
            plural(one.prompts, "prompt"),
            plural(one.checkpoints, "checkpoint") + (" and more to keep" if one.pending else ""),
            helped_words(one.score) if one.score is not None and one.given else given_words(one.given),
            Span(one.project, "dim"),
            Span(f"{datetime.fromtimestamp(one.updated / 1000, UTC):%Y-%m-%d %H:%M} UTC", "dim"),
        )
        for one in found
    ]
    yield from table(rows, flexible=5) or ["No sessions."]
