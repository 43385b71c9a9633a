"""Commands that write facts: remember and forget."""

from __future__ import annotations

from core import verbs
from core.errors import NotFoundError
from core.model.fact import Nugget
from core.model.names import did_you_mean
from nuggets_tui.cli.invocation import NOT_FOUND, NOTHING_CHANGED, Invocation, bad_input, read_text
from nuggets_tui.cli.options import YES, arg, command, flag, must_be_named, new_nugget
from nuggets_tui.cli.output import Line, bold, shorten, warn, write_error
from nuggets_tui.words import plural


@command(
    "remember", arg("nugget", metavar="[NUGGET]"), arg("key"), arg("value", required=False, metavar="VALUE"),
    examples=(
        'nuggets remember "test cmd" "pytest -q"',
        "nuggets remember prefs editor helix",
        "nuggets remember changelog - < CHANGELOG.md",
    ),
)  # fmt: skip
def remember(call: Invocation, nugget: str, key: str, value: str | None) -> None:
    """Store a fact. An existing key gets the new value. VALUE - reads standard input.

    Without NUGGET, it goes into that of the project you are in.
    """
    if value is None:
        nugget, key, value = "", nugget, key
    else:
        must_be_named(nugget, "NUGGET", "nothing was written")
    verbs.check_facts(call.memory)
    value, known_names = read_text(value), call.memory.snapshot.nugget_names
    made, former, _, like = verbs.remember(call.memory, nugget, key, value)
    snapshot = call.memory.snapshot
    holder = snapshot.by_name[made.nugget_name]
    found = holder.find(made.key)
    lines = [
        ("Remembered ", bold(shorten(made.key)), f" in {made.nugget_name}."),
        new_nugget(made.nugget_name, known_names),
        "" if former in (None, made.content) else f"Old value: {former}",
        verbs.second_one(like),
        *capacity_warning(holder),
    ]
    document = {"key": made.key, "value": made.content, "hits": found[1].hits if found else 0}
    document |= {"nuggetName": made.nugget_name, "noteId": made.id}
    cautions = verbs.warnings_of(snapshot.by_id.get(made.id, made))
    call.answer(document, filter(None, lines), cautions)


def capacity_warning(holder: Nugget) -> list[Line]:
    """Says that a nugget holds too many facts; nothing for one that does not."""
    return [warn(f"{holder.name}: {holder.capacity_warning}")] if holder.capacity_warning else []


@command(
    "forget", arg("nugget"), arg("key", required=False, metavar="KEY"),
    flag("--all every", "Forget every fact of the nugget."), YES,
    examples=('nuggets forget web "test cmd"', "nuggets forget web --all"),
)  # fmt: skip
def forget(call: Invocation, nugget: str, key: str | None, every: bool, yes: bool) -> int:
    """Forget a fact. Its note stays, hidden; `nuggets note unhide` brings the fact back."""
    if (key is None) != every:
        raise bad_input("needs a KEY or --all", "forget")
    verbs.check_facts(call.memory)
    snapshot = call.memory.snapshot
    holder = snapshot.by_name.get(nugget)
    if key is None:
        if holder is None:
            gone = snapshot.no_nugget(nugget)
            kept = "nothing was changed"
            raise NotFoundError(gone.what, code=gone.code, where=nugget, kept=kept, todo=gone.todo)
        question = f"Forget {plural(len(holder.facts), 'fact')} of {holder.name}?"
        if holder.facts and not call.agreed(question, yes=yes, needs_yes=f"forget {nugget} --all"):
            call.answer({"cleared": 0}, [NOTHING_CHANGED])
            return 0
        cleared = verbs.forget_all(call.memory, nugget)
        said = f"Forgot {plural(cleared, 'fact')} of {nugget}. To undo it: nuggets undo"
        call.answer({"cleared": cleared}, [said])
        return 0
    note = verbs.forget(call.memory, nugget, key)[0] if nugget in snapshot.nugget_names else None
    if note is None and not call.as_json:
        if nugget in snapshot.nugget_names:
            said = f"{nugget}: no fact has the key {key!r}"
            near = did_you_mean(key, (fact.key for fact in holder.facts) if holder else ())
        else:
            said, near = f"{nugget}: no such nugget", did_you_mean(nugget, snapshot.nugget_names)
        write_error("; ".join(filter(None, (said, near))))
        return NOT_FOUND
    back = f". To bring it back: nuggets note unhide {note.id}" if note else ""
    call.answer({"forgotten": note is not None}, [("Forgot ", bold(shorten(note.key)), back)] if note else [])
    return 0 if note else NOT_FOUND
