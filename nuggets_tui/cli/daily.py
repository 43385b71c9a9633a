"""The daily pass on the command line: `reflect --if-due`, and what `status` says of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import ErrorCode, InvalidInputError, NuggetsError
from nuggets_tui.cli.invocation import Invocation
from nuggets_tui.cli.output import Line, Span
from nuggets_tui.words import describe_waiting_lines, describe_waiting_promotion, local_time, plural

if TYPE_CHECKING:
    from core.daily import DailyResult
    from core.reflection import ReflectionResult


def folder_of(call: Invocation) -> Path:
    """The memory's folder, which may not be there yet. Raises InvalidInputError for what is no folder."""
    folder = call.folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(
            "is not a folder",
            code=ErrorCode.WRONG_KIND_OF_FILE,
            where=str(folder),
            kept="nothing was changed",
            todo="name the folder of a memory",
        )
    return folder


def reflect_if_due(call: Invocation, *, alone: bool) -> None:
    """The daily pass, when it is due; else says so. alone: no other option of `reflect` was given.

    Raises InvalidInputError otherwise, and what kept the reflection from being done.
    """
    from core.daily import daily_state

    if not alone:
        raise InvalidInputError(
            "can be combined with --yes only",
            where="--if-due",
            kept="nothing was changed",
            todo="leave out --if-due to choose what to do",
        )
    # Asked every hour, it is mostly not due: that is found out without reading the memory.
    state = daily_state(folder_of(call), datetime.now(UTC))
    if not state.due:
        told = state.to_dict()
        document = {"ran": False, "reason": "not due", "nextDue": told["nextDue"], "lastRun": told["lastRun"]}
        document |= {"reflection": None, "promotions": [], "promotionWaits": None, "problems": []}
        call.answer(lambda: document, lambda: [f"Not due. Next pass: {state.next_due:%Y-%m-%d %H:%M}."])
        return
    result = call.memory.daily_pass()
    if result.ran and result.reflection is None and result.problems:
        raise result.problems[0]
    call.answer(result.to_dict, lambda: _result_lines(result))


def _result_lines(result: DailyResult) -> Iterator[Line]:
    yield f"{result.summary[:1].upper()}{result.summary[1:]}."
    for problem in result.problems:
        yield Span(problem.message, "warn")
    if result.asks is not None:
        yield Span(describe_waiting_promotion(result.asks), "warn")


def count_as_todays(call: Invocation, result: ReflectionResult, filters: Mapping[str, Any]) -> None:
    """Keeps that a whole reflection ran by hand, so that today needs no other; one over some notes alone is none."""
    from core.daily import count_as_daily, counts_of

    if not any(filters.values()):
        # What was cleaned up is written and said; that there is another pass today does no harm.
        with contextlib.suppress(NuggetsError):
            count_as_daily(call.memory, datetime.now(UTC), counts_of(result))


def daily_document(call: Invocation) -> dict[str, Any] | None:
    """How it stands with the daily pass, for `status`; None when that cannot be found out."""
    from core.daily import daily_state, pending_promotion, pending_promotion_dict

    try:
        found = daily_state(call.folder.absolute(), datetime.now(UTC))
        # Asked after a pass, as in the app: before there was one nothing was to be promoted along with it.
        waits = pending_promotion(call.memory) if found.last is not None else None
        return found.to_dict() | {"promotionWaits": pending_promotion_dict(waits)}
    except NuggetsError:
        return None


def daily_lines(document: Mapping[str, Any] | None) -> Iterator[Line]:
    """The same for a person."""
    if document is None:
        return
    daemon, last = document["daemon"], document["lastRun"]
    ran = f"last {local_time(last['at'])[:16]}" if last else "never ran"
    due = "due now" if document["due"] else f"due {local_time(document['nextDue'])[:16]}"
    running = "running now, " if document["running"] else ""
    who = "no daemon"
    if daemon is not None:
        who = f"daemon {daemon['pid']}" if daemon["pid"] is not None else "a daemon runs"
    yield Span(f"daily  {running}{ran}, {due}; {who}", "dim")
    asked = document.get("reviewAsked")
    if asked is not None:
        said = f"{asked['by']} asked for a cleanup on {local_time(asked['at'])[:16]}"
        would = plural(asked["changes"], "change")
        yield Span(f"daily  {said}: {would} to review with nuggets reflect", "warn")
    waits = document["promotionWaits"]
    if waits is not None:
        yield Span(f"daily  {describe_waiting_lines(waits['lines'], waits['path'])}", "warn")
