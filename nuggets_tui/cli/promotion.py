"""The command that writes what is often recalled into MEMORY.md: all or some of it, here or in every project."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import InvalidInputError, NotFoundError, partly_done
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.groups import FOLDER, TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, asks, pass_call
from nuggets_tui.cli.options import dry_run_option, id_list, unknown_where, yes_option
from nuggets_tui.cli.output import Line, Span, SpanStyle, table
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import PromotionTarget
    from core.promotion import PromotionEntry, PromotionResult

_STYLES: Final[dict[str, SpanStyle]] = {"new": "good", "updated": "good", "removed": "bad", "edited": "warn"}


@command(
    "promote", epilog=example("nuggets promote --dry-run", "nuggets promote --accept new-50086c,removed-f15")
)
@dry_run_option
@yes_option
@click.option("--memory-dir", type=FOLDER, metavar="DIR", help="Folder of the MEMORY.md to write.")
@click.option("--accept", type=TEXT, metavar="ID,...", help="Write only these entries of the dry run.")
@click.option(
    "--refuse",
    type=TEXT,
    metavar="ID,...",
    help="Do not propose these again until their text changes.",
)
@click.option(
    "--automatic",
    type=click.Choice(["project", "always", "never", "ask"]),
    help="Promote nothing now; set whether the daily pass promotes (ask: it asks you first).",
)
@click.option(
    "--all", "everywhere", is_flag=True, help="Promote to every MEMORY.md that you promoted to before."
)
@pass_call
def promote(
    call: Invocation,
    /,
    dry_run: bool,
    yes: bool,
    memory_dir: str | None,
    accept: str | None,
    refuse: str | None,
    everywhere: bool,
    automatic: str | None,
) -> None:
    """Write often recalled notes into MEMORY.md. Everything else in that file stays as it is.

    On a terminal it shows what it would write and asks; elsewhere it writes at once, though no agent can call it. The
    file is the one in --memory-dir, else in the memory folder of the current project under ~/.claude/projects, else in
    promotion.memory_dir of settings.toml. Without a terminal, --memory-dir may name that of the project, or one that
    settings.toml names. A bullet that you edited stays as it is unless --accept names it.

    A note of the scope "project" goes into the MEMORY.md of the project that its nugget is named after. Where nobody
    is asked, so does every other note but those about you.
    """
    if not dry_run:
        refuse_agents("promoting")
    if automatic is not None:
        _remember_automatic(
            call, automatic, memory_dir, alone=not (accept or refuse or everywhere or dry_run)
        )
        return
    if everywhere:
        if memory_dir is not None or accept is not None or refuse is not None:
            raise InvalidInputError(
                "cannot be combined with --memory-dir, --accept or --refuse",
                where="--all",
                kept="nothing was written",
            )
        _promote_everywhere(call, dry_run, yes)
        return
    if memory_dir is not None and not dry_run and not asks():
        _must_be_known(call, memory_dir)
    refused = id_list(refuse, "--refuse")
    # To refuse some is no order to do the others.
    wanted = id_list(accept, "--accept") if accept is not None or refused else None
    result, agreed = _promoted(call, memory_dir, dry_run, yes, wanted, refused)
    if agreed:
        call.answer(result.to_dict, lambda: _lines(result, dry_run))
    else:
        nothing = {"promoted": 0, "updated": 0, "removed": 0, "entries": [], "diff": ""}
        call.answer(lambda: result.to_dict() | nothing, lambda: ["Nothing was changed."])


def _must_be_known(call: Invocation, memory_dir: str) -> None:
    """Raises InvalidInputError for a folder that neither the project nor the settings name: nobody sees it written."""
    settings = call.memory.settings.promotion
    known = [Path(folder) for folder in (settings.memory_dir, *settings.projects) if folder]
    known += [Path(one.path).parent for one in call.memory.promotion.targets() if one.current]
    meant = Path(call.memory.promotion.promote(dry_run=True, memory_dir=memory_dir).path).parent
    if meant not in [one.expanduser().absolute() for one in known]:
        raise InvalidInputError(
            "is not the project's folder, and no terminal is there to ask in",
            where="--memory-dir", kept="nothing was written",
            todo="run it in a terminal, or name the folder in settings.toml (promotion.memory_dir)",
        )  # fmt: skip


def _remember_automatic(call: Invocation, answer: str, memory_dir: str | None, *, alone: bool) -> None:
    """Keeps in the settings whether the daily pass promotes."""
    from core.daily import answer_promotion

    if not alone:
        raise InvalidInputError(
            "can be combined with --memory-dir only",
            where="--automatic",
            kept="nothing was changed",
        )
    wants_path = answer in ("project", "always")
    path = call.memory.promotion.promote(dry_run=True, memory_dir=memory_dir).path if wants_path else ""
    done = answer_promotion(call.memory, answer, path)
    settings = call.memory.settings.promotion
    document = {"automatic": settings.automatic, "projects": list(settings.projects), "entry": done.id}
    call.answer(lambda: document, lambda: [f"Promotion by the daily pass: {settings.automatic}."])


def _promoted(
    call: Invocation,
    memory_dir: str | None,
    dry_run: bool,
    yes: bool,
    wanted: Sequence[str] | None = None,
    refused: Sequence[str] = (),
) -> tuple[PromotionResult, bool]:
    """What was promoted, or would be; and whether it was agreed to, which it is where nobody is asked."""
    memory, asked = call.memory, asks(yes=yes, dry_run=dry_run)
    if not asked and wanted is None:
        return memory.promotion.promote(dry_run=dry_run, memory_dir=memory_dir, unattended=not dry_run), True
    proposed = memory.promotion.promote(dry_run=True, memory_dir=memory_dir, accept=wanted, refuse=refused)
    if proposed.unknown:
        raise NotFoundError(
            f"there is no proposed entry {', '.join(proposed.unknown)}",
            where=unknown_where(proposed.unknown, wanted or (), refused),
            kept="nothing was written", todo="nuggets promote --dry-run lists them",
        )  # fmt: skip
    if dry_run:
        return proposed, True
    if asked and proposed.change_set.files:
        call.preview(_lines(proposed, dry_run=True))
        folder = Path(proposed.path).parent
        if not folder.exists():
            call.preview([Span(f"The folder {folder} does not exist yet and will be created.", "warn")])
        if not call.confirm(f"Write {proposed.path}?"):
            return proposed, False
    # Only what was proposed and agreed to, also when somebody changed the memory meanwhile.
    accepted = [entry.id for entry in proposed.entries if entry.status in ("new", "updated", "removed")]
    return memory.promotion.promote(memory_dir=memory_dir, accept=accepted, refuse=refused), True


def _promote_everywhere(call: Invocation, dry_run: bool, yes: bool) -> None:
    targets = call.memory.promotion.targets()
    if not targets:
        raise NotFoundError(
            "nothing was promoted yet", field="folder",
            where="--all", kept="nothing was written", todo="name a folder with --memory-dir",
        )  # fmt: skip
    left = [target for target in targets if not target.there or target.undone]
    folders = [str(Path(target.path).parent) for target in targets if target not in left]
    answered: list[tuple[PromotionResult, bool]] = []
    for folder in folders:
        written = sum(bool(result.change_set.files) for result, agreed in answered if agreed and not dry_run)
        with (
            partly_done(f"{plural(written, 'page is', 'pages are')} written already")
            if written
            else nullcontext()
        ):
            answered.append(_promoted(call, folder, dry_run, yes))
    done = [result for result, agreed in answered if agreed]
    document: dict[str, Any] = {
        "promotions": [result.to_dict() for result in done],
        "skipped": [target.path for target in left],
    }
    call.answer(lambda: document, lambda: _everywhere_lines(done, left, dry_run))


def _everywhere_lines(
    done: Sequence[PromotionResult], left: Sequence[PromotionTarget], dry_run: bool
) -> Iterator[Line]:
    for result in done:
        yield from _lines(result, dry_run)
    for target in left:
        if not target.there:
            yield Span(f"Skipped, its folder is gone: {target.path}", "warn")
        else:
            yield Span(f"Skipped, the promotion there was undone: {target.path}", "warn")
            folder = shlex.quote(str(Path(target.path).parent))
            yield f"To write it again: nuggets promote --memory-dir {folder}"


def _lines(result: PromotionResult, dry_run: bool) -> Iterator[Line]:
    counts = ((result.promoted, "new"), (result.updated, "changed"), (result.removed, "removed"))
    said = ", ".join(f"{number} {name}" for number, name in counts if number)
    if result.diff:
        yield from _diff_lines(result.diff.splitlines())
        yield from table([_row(entry) for entry in result.entries if entry.status in _STYLES], flexible=3)
        done = "Would write" if dry_run else "Wrote"
        yield f"{done} {result.path}: {said}." if said else f"{done} {result.path}."
    else:
        nothing = "gets nothing yet, for no note was recalled often enough"
        held = "is up to date" if result.entries or result.refused else nothing
        yield f"Nothing to do: {result.path} {held}."
    yield from _beside_lines(result)


def _row(entry: PromotionEntry) -> tuple[Any, ...]:
    # Of a note that is gone nobody knows.
    detail = f"{entry.section} · {plural(entry.hits, 'recall')}" if entry.hits else entry.section
    return (
        Span(entry.id, "dim"),
        Span(entry.status, _STYLES[entry.status]),
        Span(entry.title, "bold"),
        f"{detail} · {entry.reason}" if entry.reason else detail,
    )


def _beside_lines(result: PromotionResult) -> Iterator[Line]:
    """What is not written, and why; and whether agents read all of the page."""
    for entry in result.edited:
        what = "replaces it" if entry.text else "removes it"
        yield Span(f"Left as it is, {entry.reason}: {entry.title} (--accept {entry.id} {what})", "warn")
    if result.refused:
        named = ", ".join(f"{entry.title} ({entry.id})" for entry in result.refused)
        yield Span(f"Refused until their texts change: {named}", "dim")
    for note in result.held_back:
        yield Span(
            f"Left out, {note.reason}: {note.title} ({note.note_id})", "warn" if note.secret else "dim"
        )
    if result.below:
        near = ", ".join(f"{note.title} ({note.missing} more)" for note in result.below[:5])
        yield Span(f"Just under {_threshold(result)} recalls: {near}", "dim")
    length = result.length
    if length.over:
        hidden = ", ".join(entry.title for entry in result.unread[:5]) or "none of these entries"
        yield Span(
            f"{plural(length.after, 'line')}, but agents read only the first {length.limit}; not read: {hidden}",
            "warn",
        )


def _threshold(result: PromotionResult) -> int:
    nearest = result.below[0]
    return nearest.hits + nearest.missing


def _diff_lines(diff: Sequence[str]) -> Iterator[Line]:
    for line in diff:
        style: SpanStyle = "good" if line.startswith("+") else "bad" if line.startswith("-") else ""
        yield Span(line, style)
