"""Commands that tend the memory: reflect and promote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from core.errors import NotFoundError
from nuggets_tui.cli.groups import FOLDER, TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, can_ask, pass_call
from nuggets_tui.cli.options import LIMIT, dry_run_option, filter_options, known_nugget, yes_option
from nuggets_tui.cli.output import Line, Look, Span, table
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult


@command(
    "reflect", epilog=example("nuggets reflect --dry-run", "nuggets reflect --accept merge-50086c,link-f1557")
)
@dry_run_option
@yes_option
@click.option(
    "--accept", type=TEXT, metavar="ID,...", help="Of the changes that a dry run shows, only these."
)
@click.option("--limit", type=LIMIT, metavar="N", help="Look at so many notes at most.")
@filter_options
@pass_call
def reflect(
    call: Invocation, /, dry_run: bool, yes: bool, accept: str | None, limit: int | None, **values: Any
) -> None:
    """Clean up: merge near-duplicates, hide what is worthless, tidy text, tags and links.

    On a terminal it shows what it would do and asks; elsewhere, as in a scheduled job, it acts. A pass looks at
    the ten notes most in need (--limit changes that).
    """
    memory = call.memory
    known_nugget(memory.snapshot, values["nugget"])
    where = {
        "limit": limit,
        "nugget": values["nugget"],
        "scope": values["scope"],
        "type": values["type_"],
        "subject": values["subject"],
    }
    wanted = None if accept is None else [id.strip() for id in accept.split(",") if id.strip()]
    if not _asks(dry_run, yes) and wanted is None:
        _answer_reflection(call, memory.reflect(dry_run=dry_run, **where), dry_run)
        return
    proposed = memory.reflect(dry_run=True, accept=wanted, **where)
    if proposed.unknown:
        raise NotFoundError(
            f"this pass proposes no change {', '.join(proposed.unknown)}",
            where="--accept", kept="nothing was changed", todo="nuggets reflect --dry-run lists them",
        )  # fmt: skip
    if dry_run or not proposed.changes:
        _answer_reflection(call, proposed, dry_run)
        return
    if _asks(dry_run, yes):
        call.preview(_reflection_lines(call, proposed, dry_run=True))
        if not call.confirm(f"Make {plural(len(proposed.changes), 'change')}?"):
            nothing = memory.reflect(dry_run=True, accept=[], **where)
            call.answer(nothing.to_dict, lambda: ["Nothing was changed."])
            return
    # Only what was proposed and agreed to, also when somebody changed the memory meanwhile.
    done = memory.reflect(accept=[change.id for change in proposed.changes], **where)
    _answer_reflection(call, done, dry_run)


def _asks(dry_run: bool, yes: bool) -> bool:
    return can_ask() and not dry_run and not yes


def _answer_reflection(call: Invocation, result: ReflectionResult, dry_run: bool) -> None:
    call.answer(result.to_dict, lambda: _reflection_lines(call, result, dry_run=dry_run))


def _reflection_lines(call: Invocation, result: ReflectionResult, *, dry_run: bool) -> Iterator[Line]:
    notes = call.memory.snapshot.by_id
    rows = []
    for change in result.changes:
        note, other = notes.get(change.note_id), notes.get(change.other_id)
        title = note.title if note else change.note_id
        detail = change.detail.replace(other.id, other.title) if other else change.detail
        rows.append((Span(change.id, "dim"), change.type, Span(title, "bold"), detail))
    yield from table(rows, flexible=3)
    counts = (
        ("rewritten", result.rewritten),
        ("merged", result.merged),
        ("hidden", result.hidden),
        ("tagged", result.tagged),
        ("linked", result.linked),
    )
    said = ", ".join(f"{number} {name}" for name, number in counts if number)
    looked = f"Looked at {plural(result.inspected, 'note')}"
    done = "Would change" if dry_run else "Changed"
    yield f"{looked}. {done}: {said}." if said else f"{looked}. Nothing to do."


@command("promote", epilog=example("nuggets promote --dry-run", "nuggets promote --memory-dir docs --yes"))
@dry_run_option
@yes_option
@click.option("--memory-dir", type=FOLDER, metavar="DIR", help="Folder of the MEMORY.md to write.")
@pass_call
def promote(call: Invocation, /, dry_run: bool, yes: bool, memory_dir: str | None) -> None:
    """Write what is often recalled into MEMORY.md, leaving everything else in that file as it is.

    On a terminal it shows what it would write and asks; elsewhere it acts. The file is the one in --memory-dir, else
    in the memory folder of the present project under ~/.claude/projects, else in promotion.memory_dir of settings.toml.
    """
    memory = call.memory
    if not _asks(dry_run, yes):
        result = memory.promote(dry_run=dry_run, memory_dir=memory_dir)
        _answer_promotion(call, result, "Would write" if dry_run else "Wrote")
        return
    result = memory.promote(dry_run=True, memory_dir=memory_dir)
    if result.change_set.empty:
        _answer_promotion(call, result, "Wrote")
        return
    call.preview(_promotion_lines(result, "Would write"))
    if call.confirm(f"Write {result.path}?"):
        memory.apply(result.change_set)
        call.answer(result.to_dict, lambda: [f"Wrote {result.path}."])
    else:
        nothing = result.to_dict() | {"promoted": 0, "updated": 0, "entries": [], "diff": ""}
        call.answer(lambda: nothing, lambda: ["Nothing was changed."])


def _answer_promotion(call: Invocation, result: PromotionResult, done: str) -> None:
    call.answer(result.to_dict, lambda: _promotion_lines(result, done))


def _promotion_lines(result: PromotionResult, done: str) -> Iterator[Line]:
    if result.change_set.empty:
        held = (
            "is up to date"
            if result.entries
            else "has nothing to hold yet: no note was recalled often enough"
        )
        yield f"Nothing to do: {result.path} {held}."
    else:
        yield from _diff_lines(result.diff.splitlines())
        counts = ((result.promoted, "new"), (result.updated, "changed"), (result.removed, "removed"))
        said = ", ".join(f"{number} {name}" for number, name in counts if number)
        yield f"{done} {result.path}: {said}." if said else f"{done} {result.path}."
    if result.withheld:
        left = f"Left out, since they look as if they held a secret: {', '.join(result.withheld)}"
        yield Span(left, "warn")


def _diff_lines(diff: Sequence[str]) -> Iterator[Line]:
    for line in diff:
        look: Look = "good" if line.startswith("+") else "bad" if line.startswith("-") else ""
        yield Span(line, look)
