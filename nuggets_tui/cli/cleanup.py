"""Commands that tidy up: reflect, by hand or as the daily pass, and promote, which writes MEMORY.md."""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import NotFoundError, NuggetsError, partly_done
from nuggets_tui.cli import options
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation, bad_input
from nuggets_tui.cli.options import DRY_RUN, YES, choice, command, flag, opt
from nuggets_tui.cli.output import Line, Span, SpanStyle, bold, diff_lines, dim, table, warn
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import describe_waiting_promotion, left_for_later, plural

if TYPE_CHECKING:
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult

_UNBOUNDED: Final = 1_000_000_000


@command(
    "reflect", DRY_RUN, YES,
    opt("--accept", "ID,...", "Make only these changes from the dry run."),
    opt(
        "--refuse", "ID,...", "Do not propose these again until their text changes; make only what --accept names.",
    ),
    options.limit("Look at no more than N notes."),
    flag("--all everything", "Look at all notes, with no limit on archiving and merging."),
    flag("--if-due", "Run the daily pass if it is due; for cron and systemd."),
    *options.FILTERS,
    examples=("nuggets reflect --dry-run", "nuggets reflect --accept merge-50086c --refuse link-f1557"),
)  # fmt: skip
def reflect(
    call: Invocation, dry_run: bool, yes: bool, accept: str | None, refuse: str | None, limit: int | None,
    everything: bool, if_due: bool, **values: Any,
) -> None:  # fmt: skip
    """Clean up: merge near-duplicates, hide worthless notes, tidy text, tags and links.

    On a terminal it shows what it would do and asks; elsewhere, as in a scheduled job, it acts at once. Agents may only
    use --dry-run. --dry-run also lists uncertain changes; they are made only when --accept names them. A pass looks at
    the ten notes that most need it (--limit changes that), and archives and merges at most five each (--all lifts
    both).
    """
    if not dry_run:
        refuse_agents("cleaning up")
    if if_due:
        if any((dry_run, accept, refuse, limit, everything, *values.values())):
            todo = "leave out --if-due to choose what to do"
            raise bad_input("can only be combined with --yes", "--if-due", todo=todo)
        _reflect_if_due(call)
        return
    memory = call.memory
    options.known_nugget(memory.snapshot, values["nugget"])
    where: dict[str, Any] = {name: values[name] for name in ("nugget", "scope", "subject")}
    where |= {"type": values["type_"], "limit": limit}
    if everything:
        where |= {"limit": limit or _UNBOUNDED, "max_archived": _UNBOUNDED, "max_merged": _UNBOUNDED}
    asked = call.asks(yes=yes, dry_run=dry_run)
    wanted, refused = options.chosen_ids(accept, refuse)
    if asked or wanted is not None:
        proposed = memory.reflect(dry_run=True, accept=wanted, refuse=refused, sure=wanted is None, **where)
        options.refuse_unknown(proposed.unknown, wanted, refused, "proposed change", "reflect")
        if dry_run or not (proposed.changes or proposed.refused):
            lines = _reflection_lines(call, proposed, dry_run=dry_run, named=wanted is not None)
            call.answer(proposed.to_dict, lines)
            return
        if proposed.changes:
            question = f"Make {plural(len(proposed.changes), 'change')}?"
            preview = _reflection_lines(call, proposed, dry_run=True, named=True)
            if not call.agreed(question, preview, yes=yes):
                call.answer(memory.reflect(dry_run=True, accept=[], **where).to_dict, [NOTHING_CHANGED])
                return
        # Only what was proposed and agreed to, also when somebody changed the memory meanwhile.
        agreed = [change.id for change in proposed.changes]
        done = memory.reflect(accept=agreed, refuse=refused, sure=wanted is None, **where)
    else:
        done = memory.reflect(dry_run=dry_run, sure=not dry_run, **where)
    if not dry_run and not any(values.values()):
        from core.daily import count_as_daily, counts_of

        # A whole pass by hand is that of today. That there is another one does no harm.
        with contextlib.suppress(NuggetsError):
            count_as_daily(memory, datetime.now(UTC), counts_of(done))
    call.answer(done.to_dict, _reflection_lines(call, done, dry_run=dry_run))


def _reflection_lines(
    call: Invocation, result: ReflectionResult, *, dry_run: bool, named: bool = False
) -> Iterator[Line]:
    """named: somebody chose these changes; else what is doubtful would not be done."""
    from core.reflection.proposals import COUNTED

    notes = call.memory.snapshot.by_id
    doubts = [one for one in result.changes if dry_run and not named and one.doubtful]
    rows = []
    for change in sorted(result.changes, key=lambda change: change.doubtful):
        note, other = notes.get(change.note_id), notes.get(change.other_id)
        kind = f"{change.type}?" if change in doubts else change.type
        title = bold(note.title if note else change.note_id)
        rows.append((dim(change.id), kind, title, change.detail(other.title if other else "")))
    yield from table(rows, flexible=3)
    counts = Counter(result.counts) - Counter(COUNTED[one.type] for one in doubts)
    parts = [f"{number} {name}" for name, number in counts.items() if number]
    parts += [f"{result.refused} refused"] if result.refused else []
    done = f"{'Would change' if dry_run else 'Changed'}: {', '.join(parts)}." if parts else "Nothing to do."
    yield f"Looked at {plural(result.inspected, 'note')}. {done}"
    if doubts:
        changes = plural(len(doubts), "uncertain change")
        yield dim(f"{changes} (link?, hide?, scope?); only --accept applies them")
    left = left_for_later(result)
    yield from [dim(f"{left} To do all at once: nuggets reflect --all")] if left else []


def _reflect_if_due(call: Invocation) -> None:
    """The daily pass, when it is due; else says so. Raises what kept the reflection from being done."""
    from core.daily import daily_state, run_daily_pass

    # Asked every hour, it is mostly not due: that is found out without reading the memory.
    state = daily_state(call.absolute_folder, datetime.now(UTC))
    if not state.due:
        told = state.to_dict()
        document = {"ran": False, "reason": "not due", "nextDue": told["nextDue"], "lastRun": told["lastRun"]}
        document |= {"reflection": None, "promotions": [], "promotionWaits": None, "problems": []}
        call.answer(document, [f"Not due. Next pass: {state.next_due:%Y-%m-%d %H:%M}."])
        return
    result = run_daily_pass(call.memory)
    if result.ran and result.reflection is None and result.problems:
        raise result.problems[0]
    lines: list[Line] = [f"{result.summary[:1].upper()}{result.summary[1:]}."]
    lines += [warn(problem.message) for problem in result.problems]
    lines += [warn(describe_waiting_promotion(result.asks))] if result.asks is not None else []
    call.answer(result.to_dict, lines)


# Promotion


_ENTRY_STYLES: Final[dict[str, SpanStyle]] = {
    "new": "good", "updated": "good", "removed": "bad", "edited": "warn",
}  # fmt: skip
_NOTHING: Final = "nothing was written"


@command(
    "promote", DRY_RUN, YES,
    opt("--memory-dir", "DIR", "Folder of the MEMORY.md to write.", FOLDER),
    opt("--accept", "ID,...", "Write only these entries from the dry run."),
    opt("--refuse", "ID,...", "Do not propose these again until their text changes."),
    choice(
        "--automatic", ["project", "always", "never", "ask"],
        "Promote nothing now; set whether the daily pass promotes (ask: it asks you first).",
    ),
    flag("--all everywhere", "Promote to every MEMORY.md that you promoted to before."),
    examples=("nuggets promote --dry-run", "nuggets promote --accept new-50086c,removed-f15"),
)  # fmt: skip
def promote(
    call: Invocation, dry_run: bool, yes: bool, memory_dir: str | None, accept: str | None, refuse: str | None,
    everywhere: bool, automatic: str | None,
) -> None:  # fmt: skip
    """Write often recalled notes into MEMORY.md. Everything else in that file stays as it is.

    On a terminal it shows what it would write and asks; elsewhere it writes at once. Agents cannot call it. The file is
    the one in --memory-dir, else in the memory folder of the current project under ~/.claude/projects, else in
    promotion.memory_dir of settings.toml. Without a terminal, --memory-dir must be that of the project, or one named in
    settings.toml. A bullet that you edited stays as it is unless --accept names it.

    A note with scope "project" goes into the MEMORY.md of the project that its nugget is named after. Without a
    terminal, so does every other note except those about you.
    """
    if not dry_run:
        refuse_agents("promoting")
    if automatic is not None:
        if accept or refuse or everywhere or dry_run:
            raise bad_input("can only be combined with --memory-dir", "--automatic")
        from core.daily import answer_promotion

        promotion, wants_path = call.memory.promotion, automatic in ("project", "always")
        path = promotion.promote(dry_run=True, memory_dir=memory_dir).path if wants_path else ""
        entry = answer_promotion(call.memory, automatic, path)
        settings = call.memory.settings.promotion
        document = {"automatic": settings.automatic, "projects": settings.projects, "entry": entry.id}
        call.answer(document, [f"Promotion by the daily pass: {settings.automatic}."])
    elif everywhere:
        if any(one is not None for one in (memory_dir, accept, refuse)):
            raise bad_input("cannot be combined with --memory-dir, --accept or --refuse", "--all", _NOTHING)
        _promote_everywhere(call, dry_run, yes)
    else:
        if memory_dir is not None and not dry_run and not call.asks():
            _must_be_known(call, memory_dir)
        wanted, refused = options.chosen_ids(accept, refuse)
        result, agreed = _promoted(call, memory_dir, dry_run, yes, wanted, refused)
        nothing = {"promoted": 0, "updated": 0, "removed": 0, "entries": [], "diff": ""}
        told = result.to_dict() | ({} if agreed else nothing)
        call.answer(told, _promotion_lines(result, dry_run) if agreed else [NOTHING_CHANGED])


def _must_be_known(call: Invocation, memory_dir: str) -> None:
    """Raises InvalidInputError for a folder that neither the project nor the settings name: nobody sees it written."""
    settings, promotion = call.memory.settings.promotion, call.memory.promotion
    known = [Path(folder) for folder in (settings.memory_dir, *settings.projects) if folder]
    known += [Path(one.path).parent for one in promotion.targets() if one.current]
    meant = Path(promotion.promote(dry_run=True, memory_dir=memory_dir).path).parent
    if meant not in [one.expanduser().absolute() for one in known]:
        raise bad_input(
            "is not the project's folder, and no terminal is there to ask in", "--memory-dir", _NOTHING,
            "run it in a terminal, or name the folder in settings.toml (promotion.memory_dir)",
        )  # fmt: skip


def _promoted(
    call: Invocation, memory_dir: str | None, dry_run: bool, yes: bool, wanted: Sequence[str] | None = None,
    refused: Sequence[str] = (),
) -> tuple[PromotionResult, bool]:  # fmt: skip
    """What was promoted, or would be; and whether it was agreed to, which it is where nobody is asked."""
    promotion = call.memory.promotion
    if wanted is None and not call.asks(yes=yes, dry_run=dry_run):
        return promotion.promote(dry_run=dry_run, memory_dir=memory_dir, unattended=not dry_run), True
    proposed = promotion.promote(dry_run=True, memory_dir=memory_dir, accept=wanted, refuse=refused)
    options.refuse_unknown(proposed.unknown, wanted, refused, "proposed entry", "promote", _NOTHING)
    if dry_run:
        return proposed, True
    if proposed.change_set.files:
        folder = Path(proposed.path).parent
        made = [] if folder.exists() else [warn(f"The folder {folder} will be created.")]
        preview = [*_promotion_lines(proposed, dry_run=True), *made]
        if not call.agreed(f"Write {proposed.path}?", preview, yes=yes):
            return proposed, False
    # Only what was proposed and agreed to, also when somebody changed the memory meanwhile.
    accepted = [entry.id for entry in proposed.entries if entry.status in ("new", "updated", "removed")]
    return promotion.promote(memory_dir=memory_dir, accept=accepted, refuse=refused), True


def _promote_everywhere(call: Invocation, dry_run: bool, yes: bool) -> None:
    targets = call.memory.promotion.targets()
    if not targets:
        todo = "name a folder with --memory-dir"
        raise NotFoundError(
            "nothing was promoted yet", field="folder", where="--all", kept=_NOTHING, todo=todo
        )
    left = [target for target in targets if not target.there or target.undone]
    done: list[PromotionResult] = []
    for target in targets:
        if target in left:
            continue
        written = 0 if dry_run else sum(bool(result.change_set.files) for result in done)
        kept = f"{plural(written, 'page is', 'pages are')} written already"
        with partly_done(kept) if written else nullcontext():
            result, agreed = _promoted(call, str(Path(target.path).parent), dry_run, yes)
        done += [result] if agreed else []
    lines = [line for result in done for line in _promotion_lines(result, dry_run)]
    for target in left:
        if not target.there:
            lines.append(warn(f"Skipped, its folder is gone: {target.path}"))
        else:
            folder = shlex.quote(str(Path(target.path).parent))
            lines.append(warn(f"Skipped, the promotion there was undone: {target.path}"))
            lines.append(f"To write it again: nuggets promote --memory-dir {folder}")
    document = {"promotions": [one.to_dict() for one in done], "skipped": [one.path for one in left]}
    call.answer(document, lines)


def _promotion_lines(result: PromotionResult, dry_run: bool) -> Iterator[Line]:
    """What is written, and what is not and why; and whether agents read all of the page."""
    counts = ((result.promoted, "new"), (result.updated, "changed"), (result.removed, "removed"))
    said = ", ".join(f"{number} {name}" for number, name in counts if number)
    if result.diff:
        yield from diff_lines(result.diff.splitlines())
        rows = []
        for entry in result.entries:
            if entry.status in _ENTRY_STYLES:
                # Of a note that is gone nobody knows.
                parts = (entry.section, plural(entry.hits, "recall") if entry.hits else "", entry.reason)
                status = Span(entry.status, _ENTRY_STYLES[entry.status])
                rows.append((dim(entry.id), status, bold(entry.title), " · ".join(filter(None, parts))))
        yield from table(rows, flexible=3)
        yield f"{'Would write' if dry_run else 'Wrote'} {result.path}{f': {said}' if said else ''}."
    else:
        nothing = "gets nothing yet: no note was recalled often enough"
        held = "is up to date" if result.entries or result.refused else nothing
        yield f"Nothing to do: {result.path} {held}."
    for entry in result.edited:
        what = "replaces it" if entry.text else "removes it"
        yield warn(f"Left as it is, {entry.reason}: {entry.title} (--accept {entry.id} {what})")
    if result.refused:
        named = ", ".join(f"{entry.title} ({entry.id})" for entry in result.refused)
        yield dim(f"Refused until their texts change: {named}")
    for note in result.held_back:
        style = warn if note.secret else dim
        yield style(f"Left out, {note.reason}: {note.title} ({note.note_id})")
    if result.below:
        near = ", ".join(f"{note.title} ({note.missing} more)" for note in result.below[:5])
        yield dim(f"Just under {result.below[0].hits + result.below[0].missing} recalls: {near}")
    length = result.length
    if length.over:
        hidden = ", ".join(entry.title for entry in result.unread[:5]) or "none of these entries"
        lines = plural(length.after, "line")
        yield warn(f"{lines}, but agents read only the first {length.limit}; not read: {hidden}")
