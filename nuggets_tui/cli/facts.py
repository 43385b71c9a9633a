"""Commands about facts: remember, recall, forget, facts, clear."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.model.names import did_you_mean
from nuggets_tui import deeds
from nuggets_tui.cli.cautions import of_note
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.ingest import conversation_document, conversation_lines, conversations
from nuggets_tui.cli.invocation import Invocation, must_confirm, pass_call, read_text
from nuggets_tui.cli.options import explain_option, new_nugget, query_and_note, query_argument, yes_option
from nuggets_tui.cli.output import LONGEST, Line, Span, shorten, table, write_error
from nuggets_tui.cli.recalled import (
    NOT_FOUND,
    candidate_lines,
    passage_lines,
    recall_document,
    recall_lines,
    said_beside,
)
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.model.fact import Fact, Nugget
    from core.model.note import Note
    from core.pipeline.records import Conversation
    from nuggets_tui.cli.search import Explained

# As many hits as a search shows.
_SHOWN = 10


@command(
    "remember",
    epilog=example(
        'nuggets remember "test cmd" "pytest -q"',
        "nuggets remember prefs editor helix",
        "nuggets remember changelog - < CHANGELOG.md",
    ),
)
@click.argument("nugget", type=TEXT, metavar="[NUGGET]")
@click.argument("key", type=TEXT)
@click.argument("value", type=TEXT, required=False, metavar="VALUE")
@pass_call
def remember(call: Invocation, /, nugget: str, key: str, value: str | None) -> None:
    """Store a fact. An existing key gets the new value. VALUE - reads standard input.

    Without NUGGET it goes to that of the project you are in.
    """
    if value is None:
        nugget, key, value = "", nugget, key
    elif not nugget.strip():
        raise InvalidInputError(
            "the name is empty",
            code=ErrorCode.EMPTY,
            where="NUGGET",
            kept="nothing was written",
            todo="give a name",
        )
    deeds.check_facts(call.memory)
    value = read_text(value)
    known_names = call.memory.snapshot.nugget_names
    made, former, _, like = deeds.remember(call.memory, nugget, key, value)
    holder = call.memory.snapshot.by_name[made.nugget_name]
    found = holder.find(made.key)
    hits = found[1].hits if found else 0
    call.answer(
        lambda: {
            "key": made.key,
            "value": made.content,
            "hits": hits,
            "nuggetName": made.nugget_name,
            "noteId": made.id,
        },
        lambda: [
            ("Remembered ", Span(shorten(made.key, LONGEST), "bold"), f" in {made.nugget_name}."),
            *filter(None, [new_nugget(made.nugget_name, known_names)]),
            *([f"Old value: {former}"] if former not in (None, made.content) else ()),
            *filter(None, [deeds.second_one(like)]),
            *_warning(holder),
        ],
        of_note(call.memory.snapshot.by_id.get(made.id, made)),
    )


def _warning(holder: Nugget) -> Iterator[Line]:
    if holder.capacity_warning:
        yield Span(f"{holder.name}: {holder.capacity_warning}", "warn")


@command(
    "recall",
    epilog=example("nuggets recall test command", "nuggets recall deploy --nugget project --json"),
)
@query_argument
@click.option("--nugget", type=TEXT, metavar="NAME", help="Ask only this nugget.")
@click.option("--session", type=TEXT, metavar="ID", help="Session for which the recall counts.")
@click.option(
    "--expand", is_flag=True, help="Add the notes linked to the answer, and the conversation it came from."
)
@click.option("--syntax", is_flag=True, help="Read conditions, quotes and exclusions, as search does.")
@explain_option
@pass_call
def recall(
    call: Invocation,
    /,
    words: tuple[str, ...],
    nugget: str | None,
    session: str | None,
    expand: bool,
    syntax: bool,
    explain: str | None,
) -> int:
    """Answer a question from the fact that it names, else from the best fact or note.

    Everything in the question counts as words, quotes and dashes too. Exit code 1 when nothing answers, or when it is
    not sure: then it shows up to three notes that may answer.
    """
    from nuggets_tui.calling_session import session_id

    query, explain = query_and_note(words, explain)
    # A note that is not there ends the call before a recall is counted.
    named = call.memory.named(explain).id if explain else ""
    found = call.memory_as_it_is.recall(
        query, nugget, session_id(session, str(call.folder)), syntax=syntax, decode=explain is not None
    )
    explained = [] if explain is None else _explained(call, query, nugget, syntax, found, named)
    if call.memory_as_it_is.uncounted_recalls and not call.as_json:
        write_error("warning: the recall could not be counted; the answer is not affected")
    related = deeds.related(call.memory.searched, found.note_id) if expand else []
    talks = _talks(call, found.note_id, related) if expand else ()
    if not call.as_json:
        for line in said_beside(query, found):
            write_error(line)
        if not (found.found or found.passages or explained) and found.judgement != "not sure":
            return NOT_FOUND
    call.answer(
        lambda: (
            recall_document(found)
            | ({} if explain is None else {"explained": [one.document() for one in explained]})
            | (
                {
                    "related": [_related_document(*r) for r in related],
                    "transcripts": [conversation_document(one) for one in talks],
                }
                if expand
                else {}
            )
        ),
        lambda: (
            *(
                recall_lines(call.memory_as_it_is, found, related)
                if found.found
                else candidate_lines(call.memory_as_it_is, found)
            ),
            *passage_lines(found),
            *chain.from_iterable(("", *one.lines()) for one in explained),
            *chain.from_iterable(map(conversation_lines, talks)),
        ),
    )
    # After the answer: the next question to a large memory need not read it again.
    call.memory_as_it_is.keep_index()
    return 0 if found.found else NOT_FOUND


def _explained(
    call: Invocation, query: str, nugget: str | None, syntax: bool, found: Recall, named: str
) -> list[Explained]:
    """The note whose id is `named`, else the one that answered, else the candidates, explained for the query."""
    from core.search import Filters
    from nuggets_tui.cli.search import Explained

    snapshot = call.memory.searched
    if named:
        ids = [named]
    elif found.note_id is not None and found.note_id in snapshot.by_id:
        ids = [found.note_id]
    else:
        ids = [one.note_id for one in found.candidates]
    chosen = Filters(nugget=nugget)
    shown = call.memory.search_result(query, _SHOWN, chosen, syntax=syntax).hits if ids else ()
    return [Explained(call, query, id, _SHOWN, chosen, shown, syntax) for id in ids]


def _talks(
    call: Invocation, note_id: str | None, related: list[tuple[Note, str]]
) -> tuple[Conversation, ...]:
    """The conversations that the answer and the notes linked with it came from."""
    return conversations(call, [*filter(None, [note_id]), *(note.id for note, _ in related)])


def _related_document(note: Note, reason: str) -> dict[str, object]:
    return {
        "id": note.id,
        "title": note.title,
        "content": note.content,
        "nuggetName": note.nugget_name,
        "reason": reason,
    }


@command("forget")
@click.argument("nugget", type=TEXT)
@click.argument("key", type=TEXT)
@pass_call
def forget(call: Invocation, /, nugget: str, key: str) -> int:
    """Take a fact out of recall. Its note is kept, hidden; `note unhide` brings the fact back."""
    deeds.check_facts(call.memory)
    snapshot = call.memory.snapshot
    if nugget not in snapshot.nugget_names and not call.as_json:
        near = did_you_mean(nugget, snapshot.nugget_names)
        write_error(f"{nugget}: no such nugget" + (f"; {near}" if near else ""))
        return NOT_FOUND
    gone, _ = deeds.forget(call.memory, nugget, key)
    if gone is None and not call.as_json:
        keys = (fact.key for holder in filter(None, [snapshot.by_name.get(nugget)]) for fact in holder.facts)
        near = did_you_mean(key, keys)
        write_error(f"{nugget}: no fact has the key {key!r}" + (f"; {near}" if near else ""))
        return NOT_FOUND
    call.answer(
        lambda: {"forgotten": gone is not None},
        lambda: (
            [
                (
                    "Forgot ",
                    Span(shorten(gone.key, LONGEST), "bold"),
                    f". To bring it back: nuggets note unhide {gone.id}",
                )
            ]
            if gone
            else []
        ),
    )
    return NOT_FOUND if gone is None else 0


@command("facts")
@click.argument("nugget", type=TEXT)
@pass_call
def facts(call: Invocation, /, nugget: str) -> None:
    """List the facts of a nugget."""
    deeds.check_facts(call.memory_as_it_is)
    snapshot = call.memory_as_it_is.snapshot
    deeds.check_fact_file(snapshot, nugget)
    holder = snapshot.nugget(nugget)
    call.answer(
        lambda: [{"key": fact.key, "value": fact.value, "hits": fact.hits} for fact in holder.facts],
        lambda: [*_fact_lines(holder.facts, nugget), *_warning(holder)],
    )


def _fact_lines(facts: tuple[Fact, ...], nugget: str) -> list[Line]:
    if not facts:
        return [f"No facts in {nugget}."]
    return table(
        [
            (
                Span(fact.key, "bold"),
                fact.value,
                Span(f"recalled {fact.hits}×" if fact.hits else "", "dim"),
            )
            for fact in facts
        ],
        flexible=1,
    )


@command("clear")
@click.argument("nugget", type=TEXT)
@yes_option
@pass_call
def clear(call: Invocation, /, nugget: str, yes: bool) -> None:
    """Forget every fact of a nugget. Their notes are kept, hidden."""
    from core.facts import edits

    deeds.check_facts(call.memory)
    holder = call.memory.snapshot.by_name.get(nugget)
    if holder is None:
        error = call.memory.snapshot.no_nugget(nugget)
        raise NotFoundError(
            error.what, code=error.code, where=nugget, kept="nothing was changed", todo=error.todo
        )
    question = f"Forget {plural(len(holder.facts), 'fact')} of {holder.name}?"
    if holder.facts and not must_confirm(call, yes, f"clear {nugget}", question):
        call.answer(lambda: {"cleared": 0}, lambda: ["Nothing was changed."])
        return
    cleared = call.change(f"cleared {nugget}", lambda draft: edits.clear(draft, nugget))
    call.answer(
        lambda: {"cleared": cleared},
        lambda: [f"Forgot {plural(cleared, 'fact')} of {nugget}. To undo it: nuggets undo"],
    )
