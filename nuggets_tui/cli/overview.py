"""Commands that show what is there: list and status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.places import folder_of
from nuggets_tui.cli.daily import daily_document, daily_lines
from nuggets_tui.cli.groups import command
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span, table
from nuggets_tui.cli.pipeline import pipeline_document, pipeline_lines
from nuggets_tui.words import deed, local_time, plural

if TYPE_CHECKING:
    from core.errors import NuggetsError
    from core.memory import Memory
    from core.model.snapshot import Problem, Snapshot
    from core.settings import Settings


@command("list")
@pass_call
def list_(call: Invocation) -> None:
    """List the nuggets with their facts, notes and capacity."""
    rows = nugget_rows(call.memory.snapshot)
    call.answer(lambda: rows, lambda: _nugget_lines(rows, str(folder_of(call.folder))))


def nugget_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """One object for each nugget, by name. Notes include fact notes; without a fact file, dimension is 0."""
    notes = Counter(note.nugget_name for note in snapshot.notes)
    hidden = Counter(note.nugget_name for note in snapshot.notes if note.hidden)
    rows = []
    for name in snapshot.nugget_names:
        nugget = snapshot.by_name.get(name)
        rows.append(
            {
                "name": name,
                "factCount": len(nugget.facts) if nugget else 0,
                "noteCount": notes[name],
                "hiddenCount": hidden[name],
                "dimension": nugget.meta.D if nugget else 0,
                "banks": nugget.meta.banks if nugget else 0,
                "capacityUsedPct": nugget.capacity_used_pct if nugget else 0.0,
                "capacityWarning": nugget.capacity_warning if nugget else "",
            }
        )
    return rows


def _nugget_lines(rows: list[dict[str, Any]], folder: str) -> list[Line]:
    if not rows:
        missing = (
            "" if Path(folder).is_dir() else " (the folder does not exist yet; your first change creates it)"
        )
        return [f"No nuggets in {folder} yet{missing}. To begin: nuggets remember KEY VALUE"]
    head = [Span(name, "dim") for name in ("nugget", "facts", "notes", "hidden", "used", "")]
    body = [
        (
            Span(row["name"], "bold"),
            str(row["factCount"]),
            str(row["noteCount"] - row["hiddenCount"]),
            str(row["hiddenCount"]),
            f"{row['capacityUsedPct']:g}%",
            Span(row["capacityWarning"], "warn"),
        )
        for row in rows
    ]
    return table([head, *body], right=(1, 2, 3, 4))


@command("status")
@pass_call
def status(call: Invocation) -> None:
    """Show totals, paths and what cannot be read."""
    document = _status_document(call)
    call.answers_too([one.message for one in call.memory_as_it_is.settings.problems])
    call.answers_too((call.elsewhere,))
    call.answer(
        lambda: document, lambda: _status_lines(document, _linked_pairs(call.memory_as_it_is.snapshot))
    )


def _linked_pairs(snapshot: Snapshot) -> int:
    """How many pairs of notes are linked, whichever way and however often."""
    pairs = {
        (note.id, link.to) for note in snapshot.notes for link in note.links if link.to in snapshot.by_id
    }
    return sum(one < other or (other, one) not in pairs for one, other in pairs)


def _status_document(call: Invocation) -> dict[str, Any]:
    snapshot = call.memory_as_it_is.snapshot
    folder = call.folder
    rows = nugget_rows(snapshot)
    aside = call.memory_as_it_is.maintenance.set_aside()
    return {
        "home": str(folder_of(folder)),
        "exists": folder.is_dir(),
        "graphFile": str(folder / "graph" / "graph.json"),
        "nuggetFiles": [str(folder / nugget.file) for nugget in snapshot.nuggets if nugget.file],
        "nuggetCount": len(rows),
        "factCount": snapshot.fact_count,
        "noteCount": len(snapshot.notes),
        "hiddenCount": len(snapshot.notes) - len(snapshot.visible),
        "linkCount": sum(len(note.links) for note in snapshot.notes),
        "team": _team_document(call.memory_as_it_is.team),
        "conflictCount": len(call.memory_as_it_is.history.conflicts()),
        "setAsideCount": len(aside),
        "soundSetAsideCount": sum(record.sound for record in aside),
        "lastChange": _last_change(call.memory_as_it_is),
        "daily": daily_document(call),
        "pipeline": pipeline_document(call),
        "promotedTo": _promoted_to(call.memory_as_it_is),
        "readOnly": snapshot.read_only,
        "problems": [{"where": problem.where, "what": problem.what} for problem in _problems(call)],
        "warnings": [
            *filter(None, (call.elsewhere,)),
            *(f"{row['name']}: {row['capacityWarning']}" for row in rows if row["capacityWarning"]),
            *_wrong_settings(call.memory_as_it_is.settings),
        ],
    }


def _team_document(team: Memory | None) -> dict[str, Any] | None:
    """The notes of the team in whose project one works; None where there are none in reach."""
    if team is None:
        return None
    notes = team.snapshot.notes
    hidden = sum(note.hidden for note in notes)
    return {"folder": str(team.folder), "noteCount": len(notes), "hiddenCount": hidden}


def _wrong_settings(settings: Settings) -> Iterator[str]:
    """What settings.toml asks for and cannot have, each as a sentence."""
    from core.settings import SETTINGS_FILE, AppSettings

    if settings.keys:
        from nuggets_tui.key_map import key_map

        yield from (f"settings.toml, [keys]: {wrong}" for wrong in key_map(settings).wrong)
    from core.user_settings import load_user_settings, user_settings_file

    user = load_user_settings()
    if settings.app != AppSettings():
        yield f"{SETTINGS_FILE}, [app]: not used in a memory; it belongs in {user_settings_file()}"
    if user.app.theme:
        from nuggets_tui.themes import missing_theme, theme_names

        wrong_theme = missing_theme(user.app.theme, theme_names())
        yield from (f"{user_settings_file()}, [app]: {wrong}" for wrong in wrong_theme)
    yield from (one.message for one in settings.warnings)
    yield from user.problems


def _promoted_to(memory: Memory) -> list[dict[str, Any]]:
    """Every MEMORY.md that holds something promoted, that of the present project first."""
    return [
        {
            "path": target.path,
            "project": target.cwd,
            "at": target.at,
            "entryCount": target.count,
            "there": target.there,
        }
        for target in memory.promotion.targets()
        if target.at and target.count
    ]


def _problems(call: Invocation) -> list[Problem | NuggetsError]:
    """What cannot be read: files, parts of files, the log."""
    memory = call.memory_as_it_is
    return [
        *memory.snapshot.problems,
        *([memory.history.problem] if memory.history.problem is not None else []),
    ]


def _last_change(memory: Memory) -> dict[str, str] | None:
    """The newest entry of the log in short; None when there is none."""
    newest = memory.history.log(limit=1)
    if not newest:
        return None
    change_set = newest[0].change_set
    told = deed(change_set)
    return {
        "id": change_set.id,
        "at": change_set.at,
        "author": change_set.author.name or change_set.author.kind,
        "what": f"{told.verb} {told.what}",
    }


def _status_lines(document: dict[str, Any], links: int) -> Iterator[Line]:
    yield Span(document["home"], "bold") if document["exists"] else f"{document['home']} (does not exist yet)"
    totals = (
        plural(document["nuggetCount"], "nugget"),
        plural(document["factCount"], "fact"),
        f"{plural(document['noteCount'] - document['hiddenCount'], 'note')}, {document['hiddenCount']:,} hidden",
        plural(links, "link"),
    )
    yield " · ".join(totals)
    if document["nuggetFiles"]:
        yield ("facts  ", Span(", ".join(Path(file).name for file in document["nuggetFiles"]), "dim"))
    yield ("notes  ", Span(document["graphFile"], "dim"))
    team = document["team"]
    if team:
        said = plural(team["noteCount"] - team["hiddenCount"], "note")
        yield ("team   ", Span(f"{team['folder']}  {said} of the team's", "dim"))
    last = document["lastChange"]
    if last:
        said = f"last   {local_time(last['at'])}  {last['author']}: {last['what']}"
        yield Span(said, "dim")
    yield from daily_lines(document["daily"])
    yield from pipeline_lines(document["pipeline"])
    for target in document["promotedTo"]:
        said = f"page   {target['path']}  {plural(target['entryCount'], 'note')}, {local_time(target['at'])}"
        yield Span(said, "dim") if target["there"] else Span(f"{said}; its folder is gone", "warn")
    waiting = document["conflictCount"]
    if waiting:
        said = plural(waiting, "conflict waits", "conflicts wait")
        yield Span(f"{said} for your decision: nuggets resolve", "warn")
    quarantine, sound = Path(document["home"]) / "quarantine", document["soundSetAsideCount"]
    unread = document["setAsideCount"] - sound
    if unread:
        yield Span(f"{plural(unread, 'piece')} could not be read; kept in {quarantine}", "warn")
    if sound:
        said = plural(sound, "readable file was set aside", "readable files were set aside")
        yield Span(f"{said}; kept in {quarantine}", "dim")
    if document["readOnly"]:
        yield Span(f"read only: {document['readOnly']}", "warn")
    for warning in document["warnings"]:
        yield Span(warning, "warn")
    for problem in document["problems"]:
        yield Span(f"{problem['where']}: {problem['what']}", "bad")
