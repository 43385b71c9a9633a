"""Commands that write facts: remember and forget."""

from __future__ import annotations

from collections.abc import Iterable

from core import verbs
from core.errors import NotFoundError
from core.model.fact import Nugget
from core.model.names import did_you_mean
from core.model.snapshot import Snapshot
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation, bad_input, read_text
from nuggets_tui.cli.options import YES, arg, command, flag, must_be_named, new_nugget
from nuggets_tui.cli.output import LONGEST, Line, bold, shorten, warn, write_error
from nuggets_tui.words import plural

NOT_FOUND = 1


@command(
    "remember",
    arg("nugget", metavar="[NUGGET]"),
    arg("key"),
    arg("value", required=False, metavar="VALUE"),
    examples=(
        'nuggets remember "test cmd" "pytest -q"',
        "nuggets remember prefs editor helix",
        "nuggets remember changelog - < CHANGELOG.md",
    ),
)
def remember(call: Invocation, nugget: str, key: str, value: str | None) -> None:
    """Store a fact. An existing key gets the new value. VALUE - reads standard input.

    Without NUGGET it goes to that of the project you are in.
    """
    if value is None:
        nugget, key, value = "", nugget, key
    else:
        must_be_named(nugget, "NUGGET", "nothing was written")
    verbs.check_facts(call.memory)
    value = read_text(value)
    known_names = call.memory.snapshot.nugget_names
    made, former, _, like = verbs.remember(call.memory, nugget, key, value)
    snapshot = call.memory.snapshot
    holder = snapshot.by_name[made.nugget_name]
    found = holder.find(made.key)
    lines = [
        ("Remembered ", bold(shorten(made.key, LONGEST)), f" in {made.nugget_name}."),
        new_nugget(made.nugget_name, known_names),
        "" if former in (None, made.content) else f"Old value: {former}",
        verbs.second_one(like),
        *capacity_warning(holder),
    ]
    call.answer(
        {
            "key": made.key, "value": made.content, "hits": found[1].hits if found else 0,
            "nuggetName": made.nugget_name, "noteId": made.id,
        },
        filter(None, lines),
        verbs.warnings_of(snapshot.by_id.get(made.id, made)),
    )  # fmt: skip


def capacity_warning(holder: Nugget) -> list[Line]:
    """Says that a nugget holds too many facts; nothing for one that does not."""
    return [warn(f"{holder.name}: {holder.capacity_warning}")] if holder.capacity_warning else []


@command(
    "forget",
    arg("nugget"),
    arg("key", required=False, metavar="KEY"),
    flag("--all every", "Forget every fact of the nugget."),
    YES,
    examples=('nuggets forget web "test cmd"', "nuggets forget web --all"),
)
def forget(call: Invocation, nugget: str, key: str | None, every: bool, yes: bool) -> int:
    """Take a fact out of recall. Its note is kept, hidden; `note unhide` brings the fact back."""
    if (key is None) != every:
        raise bad_input("needs a KEY or --all", "forget")
    verbs.check_facts(call.memory)
    if key is None:
        return _forget_all(call, nugget, yes)
    snapshot = call.memory.snapshot
    if nugget not in snapshot.nugget_names and not call.as_json:
        return _not_there(f"{nugget}: no such nugget", nugget, snapshot.nugget_names)
    gone, _ = verbs.forget(call.memory, nugget, key)
    if gone is None and not call.as_json:
        keys = (fact.key for holder in filter(None, [snapshot.by_name.get(nugget)]) for fact in holder.facts)
        return _not_there(f"{nugget}: no fact has the key {key!r}", key, keys)
    back = f". To bring it back: nuggets note unhide {gone.id}" if gone else ""
    said = [("Forgot ", bold(shorten(gone.key, LONGEST)), back)] if gone else []
    call.answer({"forgotten": gone is not None}, said)
    return NOT_FOUND if gone is None else 0


def _not_there(said: str, name: str, known: Iterable[str]) -> int:
    near = did_you_mean(name, known)
    write_error(said + (f"; {near}" if near else ""))
    return NOT_FOUND


def _forget_all(call: Invocation, nugget: str, yes: bool) -> int:
    snapshot: Snapshot = call.memory.snapshot
    holder = snapshot.by_name.get(nugget)
    if holder is None:
        error = snapshot.no_nugget(nugget)
        raise NotFoundError(
            error.what, code=error.code, where=nugget, kept="nothing was changed", todo=error.todo
        )
    question = f"Forget {plural(len(holder.facts), 'fact')} of {holder.name}?"
    if holder.facts and not call.must_confirm(yes, f"forget {nugget} --all", question):
        call.answer({"cleared": 0}, [NOTHING_CHANGED])
        return 0
    cleared = verbs.forget_all(call.memory, nugget)
    call.answer(
        {"cleared": cleared}, [f"Forgot {plural(cleared, 'fact')} of {nugget}. To undo it: nuggets undo"]
    )
    return 0
