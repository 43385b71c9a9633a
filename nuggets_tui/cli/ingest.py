"""The command that hands raw text to the pipeline, and the conversations that what is recalled came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from core.errors import ErrorCode, InvalidInputError, NuggetsError, StorageError, remedy_for
from nuggets_tui.calling_session import named_session
from nuggets_tui.cli.cautions import of_credentials
from nuggets_tui.cli.groups import FOLDER, TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call, read_text, text_of
from nuggets_tui.cli.options import new_nugget
from nuggets_tui.cli.output import Line, Span, write_error

if TYPE_CHECKING:
    from core.pipeline.records import Conversation, Ingested, PipelineStatus, RawMemory

_NOTHING: Final = "nothing was saved"
_WHO_WORKS: Final = (
    "`nuggets daemon` extracts the facts, or the app while it is open; "
    "`nuggets pipeline` says whether a model answers."
)


@command(
    "ingest",
    epilog=example(
        'echo "We chose PostgreSQL over MongoDB." | nuggets ingest',
        "nuggets ingest summary.md --project app --session s1 --transcript talk.txt",
    ),
)
@click.argument("file", type=FOLDER, default="-")
@click.option(
    "--nugget", type=TEXT, metavar="NAME", help="Nugget for its facts (default: the project's, else memory)."
)
@click.option("--project", type=TEXT, metavar="NAME", help="Project it is about, as a name or a folder.")
@click.option("--session", type=TEXT, metavar="ID", help="Conversation it comes from.")
@click.option(
    "--transcript", type=FOLDER, metavar="FILE", help="The whole conversation; stored without credentials."
)
@pass_call
def ingest(
    call: Invocation,
    /,
    file: str,
    nugget: str | None,
    project: str | None,
    session: str | None,
    transcript: str | None,
) -> None:
    """Submit a text for fact extraction: FILE, or - for standard input.

    Of a conversation as Claude Code, Codex, OpenCode or Gemini keeps it, only what was said is submitted.

    When this command ends, the whole text is safe on disk, whether a model answers or not. `nuggets daemon`
    extracts the facts, or the app while it is open.
    """
    from core.pipeline.conversation import conversation_or_text
    from core.pipeline.service import Pipeline

    session = named_session(session, str(call.folder))
    _check(file, nugget, session, transcript)
    text = conversation_or_text(read_file(file))
    talk = read_file(transcript, errors="replace") if transcript is not None else None
    memory = call.memory_as_it_is if nugget else None
    known = memory.snapshot.nugget_names if memory else ()
    with Pipeline.open(call.folder, memory=memory, author=call.author) as pipeline:
        if pipeline.notice:
            write_error(f"warning: {pipeline.notice}")
        done = pipeline.ingest(
            text,
            nugget=nugget or "",
            project=project or "",
            session=session,
            source_type="text" if file == "-" else "file",
            transcript=talk,
        )
        raw = pipeline.raw(done.raw_id)
        kinds = pipeline.credentials_in(raw.id)
        status = None if call.as_json else pipeline.status()
    if done.warning and not call.as_json:
        write_error(f"warning: {done.warning}")
    hint = new_nugget(raw.nugget, known) if nugget else ""
    call.answer(
        lambda: _document(done, raw),
        lambda: _lines(done, raw, hint, status),
        of_credentials("text", raw.id, kinds, ", which no model sees"),
    )


def _check(file: str, nugget: str | None, session: str, transcript: str | None) -> None:
    for name, given in (("FILE", file), ("--transcript", transcript)):
        if given == "":
            raise InvalidInputError(
                "the name is empty",
                code=ErrorCode.EMPTY,
                where=name,
                kept=_NOTHING,
                todo="give a file, or -",
            )
    if nugget is not None and not nugget.strip():
        raise InvalidInputError(
            "the name is empty",
            code=ErrorCode.EMPTY,
            where="--nugget",
            kept=_NOTHING,
            todo="give a name",
        )
    if transcript is not None and not session:
        raise InvalidInputError(
            "a transcript needs a session", where="--transcript", kept=_NOTHING,
            todo="name it with --session",
        )  # fmt: skip
    if file == transcript == "-":
        raise InvalidInputError(
            "cannot hold both the text and the transcript", where="standard input", kept=_NOTHING,
            todo="give one of them as a file",
        )  # fmt: skip


def read_file(file: str, *, errors: str = "strict") -> str:
    """What a file, or standard input for "-", holds as UTF-8. errors: as of `bytes.decode`."""
    if file == "-":
        return read_text(file)
    try:
        with Path(file).expanduser().open("rb") as stream:
            return text_of(stream, where=file, kept=_NOTHING, errors=errors)
    except (OSError, RuntimeError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StorageError(
            f"cannot be read ({said})",
            remedy=remedy_for(error, Path()),
            where=file,
            kept=_NOTHING,
            todo="" if remedy_for(error, Path()) else "give another file, or -",
        ) from error


def _document(done: Ingested, raw: RawMemory) -> dict[str, object]:
    return {
        "id": done.raw_id,
        "status": done.status,
        "jobId": done.job_id,
        "duplicateOf": done.duplicate_of or None,
        "nuggetName": raw.nugget,
        "project": raw.project,
        "session": raw.source_id,
        "entities": list(done.entities),
        "protected": done.protected,
        "warning": done.warning,
    }


def _lines(done: Ingested, raw: RawMemory, hint: str, status: PipelineStatus | None) -> Iterator[Line]:
    what = {
        "duplicate": f"; {done.duplicate_of} says the same, so no facts are extracted again.",
        "held": "; it waits while the pipeline is frozen (mutations_frozen).",
    }.get(done.status, f"; facts found in it go to {raw.nugget}.")
    yield ("Saved as ", Span(done.raw_id, "bold"), what)
    if hint:
        yield hint
    if done.entities:
        yield ("It mentions " + ", ".join(done.entities) + ".")
    if done.protected:
        yield "It contains a decision."
    if status is not None and done.status != "duplicate":
        waits = status.rests
        yield Span(f"Pipeline: {status.why}" if waits else _WHO_WORKS, "warn" if waits else "dim")


def conversations(call: Invocation, note_ids: Iterable[str]) -> tuple[Conversation, ...]:
    """The conversations that notes came from; none, with a warning, where the pipeline cannot be read."""
    from core.pipeline.service import Pipeline

    wanted = list(note_ids)
    if not wanted or not Pipeline.exists(call.folder):
        return ()
    try:
        with Pipeline.open(call.folder) as pipeline:
            return pipeline.conversations(wanted)
    except NuggetsError as error:
        if not call.as_json:
            write_error(f"warning: the conversation is not shown: {error.message}")
        return ()


def conversation_document(one: Conversation) -> dict[str, object]:
    """A conversation as JSON; `start` and `length` count characters of the whole."""
    return {
        "session": one.session,
        "project": one.project,
        "text": one.text,
        "start": one.start,
        "length": one.length,
        "cut": one.cut,
        "revisions": one.revisions,
        "noteIds": list(one.notes),
    }


def conversation_lines(one: Conversation) -> Iterator[Line]:
    """A conversation for people, with a sign where it was cut."""
    of = f" of {one.project}" if one.project else ""
    yield ("", Span("≡ ", "dim"), Span(f"session {one.session}{of}", "dim"))
    before, behind = "… " * (one.start > 0), " …" * (one.start + len(one.text) < one.length)
    for line in f"{before}{one.text.strip()}{behind}".split("\n"):
        yield "  " + line
