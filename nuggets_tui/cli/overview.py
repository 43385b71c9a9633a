"""Commands that show what is there: status, projects, and the demo."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import ErrorCode, NotFoundError, NuggetsError
from core.places import folder_of
from core.projects import registered, rename, take_over
from nuggets_tui.cli.invocation import Invocation, bad_input, has_terminal
from nuggets_tui.cli.options import arg, command, group, must_be_named, opt
from nuggets_tui.cli.output import Line, Span, SpanStyle, bad, bold, dim, pick, table, warn
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import deed, describe_waiting_lines, local_time, plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.snapshot import Snapshot

_LIGHTS: Final[Mapping[str, SpanStyle]] = {
    "stuck": "bad", "paused": "warn", "review": "warn", "off": "dim", "idle": "dim", "working": "dim",
}  # fmt: skip


# Status


@command("status", examples=("nuggets status", "nuggets status --json"))
def status(call: Invocation) -> None:
    """Show the nuggets, totals, paths and what cannot be read."""
    document = _status_document(call)
    memory = call.memory_as_it_is
    call.answers_too([one.message for one in memory.settings.problems])
    call.answers_too((call.elsewhere,))
    call.answer(document, lambda: _status_lines(document, _linked_pairs(memory.snapshot)))


def _nugget_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """One object for each nugget, by name. Notes include fact notes; without a fact file, dimension is 0."""
    notes = Counter(note.nugget_name for note in snapshot.notes)
    hidden = Counter(note.nugget_name for note in snapshot.notes if note.hidden)
    rows = []
    for name in snapshot.nugget_names:
        nugget = snapshot.by_name.get(name)
        row = {"name": name, "factCount": len(nugget.facts) if nugget else 0, "noteCount": notes[name]}
        row |= {"hiddenCount": hidden[name], "dimension": nugget.meta.D if nugget else 0}
        row |= {"banks": nugget.meta.banks, **pick(nugget, "capacity_used_pct capacity_warning")} if nugget else {
            "banks": 0, "capacityUsedPct": 0.0, "capacityWarning": "",
        }  # fmt: skip
        rows.append(row)
    return rows


def _nugget_table(rows: list[dict[str, Any]]) -> list[Line]:
    head = [dim(name) for name in ("nugget", "facts", "notes", "hidden", "used", "")]
    body = [
        (
            bold(row["name"]), str(row["factCount"]), str(row["noteCount"] - row["hiddenCount"]),
            str(row["hiddenCount"]), f"{row['capacityUsedPct']:g}%", warn(row["capacityWarning"]),
        )
        for row in rows
    ]  # fmt: skip
    return table([head, *body], right=(1, 2, 3, 4))


def _linked_pairs(snapshot: Snapshot) -> int:
    """How many pairs of notes are linked, whichever way and however often."""
    pairs = {
        (note.id, link.to) for note in snapshot.notes for link in note.links if link.to in snapshot.by_id
    }
    return sum(one < other or (other, one) not in pairs for one, other in pairs)


def _status_document(call: Invocation) -> dict[str, Any]:
    memory, folder = call.memory_as_it_is, call.folder
    snapshot, problem = memory.snapshot, memory.history.problem
    rows = _nugget_rows(snapshot)
    aside = memory.maintenance.set_aside()
    problems: list[Any] = [*snapshot.problems, *([problem] if problem is not None else [])]
    capacity = [f"{row['name']}: {row['capacityWarning']}" for row in rows if row["capacityWarning"]]
    return {
        "home": str(folder_of(folder)),
        "exists": folder.is_dir(),
        "graphFile": str(folder / "graph" / "graph.json"),
        "nuggetFiles": [str(folder / nugget.file) for nugget in snapshot.nuggets if nugget.file],
        "nuggets": rows,
        "nuggetCount": len(rows),
        "factCount": snapshot.fact_count,
        "noteCount": len(snapshot.notes),
        "hiddenCount": len(snapshot.notes) - len(snapshot.visible),
        "linkCount": sum(len(note.links) for note in snapshot.notes),
        "team": _team_document(memory.search.team),
        "conflictCount": len(memory.history.conflicts()),
        "setAsideCount": len(aside),
        "soundSetAsideCount": sum(record.sound for record in aside),
        "lastChange": _last_change(memory),
        "daily": _daily_document(call),
        "pipeline": _pipeline_document(call),
        # Every MEMORY.md that holds something promoted, that of the present project first.
        "promotedTo": [
            pick(target, "path project=cwd at entry_count=count there")
            for target in memory.promotion.targets()
            if target.at and target.count
        ],
        "readOnly": snapshot.read_only,
        "problems": [pick(one, "where what") for one in problems],
        "warnings": [*filter(None, (call.elsewhere,)), *capacity, *_wrong_settings(memory)],
    }


def _team_document(team: Memory | None) -> dict[str, Any] | None:
    """The notes of the team in whose project one works; None where there are none in reach."""
    if team is None:
        return None
    notes = team.snapshot.notes
    return pick(team, "folder", noteCount=len(notes), hiddenCount=sum(note.hidden for note in notes))


def _wrong_settings(memory: Memory) -> Iterator[str]:
    """What settings.toml asks for and cannot have, each as a sentence."""
    from core.settings import SETTINGS_FILE, AppSettings
    from core.user_settings import load_user_settings, user_settings_file

    settings, user = memory.settings, load_user_settings()
    if settings.keys:
        from nuggets_tui.key_map import key_map

        yield from (f"settings.toml, [keys]: {wrong}" for wrong in key_map(settings).wrong)
    if settings.app != AppSettings():
        yield f"{SETTINGS_FILE}, [app]: not used in a memory; it belongs in {user_settings_file()}"
    if user.app.theme:
        from nuggets_tui.themes import missing_theme, theme_names

        wrong_theme = missing_theme(user.app.theme, theme_names())
        yield from (f"{user_settings_file()}, [app]: {wrong}" for wrong in wrong_theme)
    yield from (one.message for one in settings.warnings)
    yield from user.problems


def _last_change(memory: Memory) -> dict[str, str] | None:
    """The newest entry of the log in short; None when there is none."""
    newest = memory.history.log(limit=1)
    if not newest:
        return None
    made = newest[0].change_set
    told = deed(made)
    return pick(made, "id at", author=made.author.name or made.author.kind, what=f"{told.verb} {told.what}")


def _daily_document(call: Invocation) -> dict[str, Any] | None:
    """How it stands with the daily pass; None when that cannot be found out."""
    from core.daily import daily_state, pending_promotion, pending_promotion_dict

    try:
        found = daily_state(call.folder.absolute(), datetime.now(UTC))
        # Asked after a pass, as in the app: before there was one nothing was to be promoted along with it.
        waits = pending_promotion(call.memory) if found.last is not None else None
        return found.to_dict() | {"promotionWaits": pending_promotion_dict(waits)}
    except NuggetsError:
        return None


def _pipeline_document(call: Invocation) -> dict[str, Any] | None:
    """How the pipeline stands: None where nothing was handed in; without a light where it cannot be read."""
    try:
        with call.pipeline() as pipeline:
            found = pipeline.status() if pipeline is not None else None
    except NuggetsError as error:
        return {"light": None, "why": error.message, "jobs": {}, "proposalsOpen": 0}
    return None if found is None else pick(found, "light why jobs proposals_open")


def _status_lines(document: dict[str, Any], links: int) -> Iterator[Line]:
    home, rows = document["home"], document["nuggets"]
    missing = "" if document["exists"] else " (does not exist yet; your first change creates it)"
    yield (bold(home), missing)
    totals = (
        plural(len(rows), "nugget"),
        plural(document["factCount"], "fact"),
        f"{plural(document['noteCount'] - document['hiddenCount'], 'note')}, {document['hiddenCount']:,} hidden",
        plural(links, "link"),
    )
    yield " · ".join(totals)
    if document["nuggetFiles"]:
        yield ("facts  ", dim(", ".join(Path(file).name for file in document["nuggetFiles"])))
    yield ("notes  ", dim(document["graphFile"]))
    team, last = document["team"], document["lastChange"]
    if team:
        said = plural(team["noteCount"] - team["hiddenCount"], "note")
        yield ("team   ", dim(f"{team['folder']}  {said} of the team's"))
    if last:
        yield dim(f"last   {local_time(last['at'])}  {last['author']}: {last['what']}")
    yield from _daily_lines(document["daily"])
    if document["pipeline"] is not None:
        light, why = document["pipeline"]["light"], document["pipeline"]["why"]
        yield Span(f"texts  {light}: {why}" if light else f"texts  {why}", _LIGHTS.get(light, "bad"))
    for target in document["promotedTo"]:
        said = f"page   {target['path']}  {plural(target['entryCount'], 'note')}, {local_time(target['at'])}"
        yield dim(said) if target["there"] else warn(f"{said}; its folder is gone")
    if rows:
        yield from ("", *_nugget_table(rows), "")
    else:
        yield "To begin: nuggets remember KEY VALUE"
    yield from _trouble_lines(document)


def _trouble_lines(document: dict[str, Any]) -> Iterator[Line]:
    """What waits for a person, and what is wrong."""
    if document["conflictCount"]:
        said = plural(document["conflictCount"], "conflict waits", "conflicts wait")
        yield warn(f"{said} for your decision: nuggets resolve")
    quarantine, sound = Path(document["home"]) / "quarantine", document["soundSetAsideCount"]
    unread = document["setAsideCount"] - sound
    if unread:
        yield warn(f"{plural(unread, 'piece')} could not be read; kept in {quarantine}")
    if sound:
        said = plural(sound, "readable file was set aside", "readable files were set aside")
        yield dim(f"{said}; kept in {quarantine}")
    if document["readOnly"]:
        yield warn(f"read only: {document['readOnly']}")
    yield from map(warn, document["warnings"])
    yield from (bad(f"{problem['where']}: {problem['what']}") for problem in document["problems"])


def _daily_lines(document: Mapping[str, Any] | None) -> Iterator[Line]:
    if document is None:
        return
    daemon, last = document["daemon"], document["lastRun"]
    ran = f"last {local_time(last['at'])[:16]}" if last else "never ran"
    due = "due now" if document["due"] else f"due {local_time(document['nextDue'])[:16]}"
    who = "no daemon"
    if daemon is not None:
        who = f"daemon {daemon['pid']}" if daemon["pid"] is not None else "a daemon runs"
    yield dim(f"daily  {'running now, ' if document['running'] else ''}{ran}, {due}; {who}")
    asked, waits = document.get("reviewAsked"), document["promotionWaits"]
    if asked is not None:
        said = f"{asked['by']} asked for a cleanup on {local_time(asked['at'])[:16]}"
        yield warn(f"daily  {said}: {plural(asked['changes'], 'change')} to review with nuggets reflect")
    if waits is not None:
        yield warn(f"daily  {describe_waiting_lines(waits['lines'], waits['path'])}")


# Projects


@group(
    "projects",
    examples=("nuggets projects", "nuggets projects join deploys", "nuggets projects rename web website"),
)
def projects(call: Invocation) -> None:
    """List the projects that the memory knows, with their nuggets.

    A nugget belongs to the project it was first written from, or that has its name. All other nuggets are yours, and
    hold everywhere. Asked in a project, recall and search answer from it and from what is yours; what another project
    says is never more than a candidate.
    """
    known, here = registered(str(call.folder)), call.project
    lines = []
    for one in known:
        at = here is not None and here.root == one.root
        root = dim(f"  {one.root}{'  (here)' if at else ''}")
        lines.append((bold(one.name), f"  {', '.join(one.nuggets)}", root))
    call.answer([one.document() for one in known], lines)


@projects.add("join", arg("nugget"), examples=("nuggets projects join deploys",))
def join(call: Invocation, nugget: str) -> None:
    """Give a nugget to the project here: it answers in this project, and is foreign in others."""
    if nugget not in call.memory.snapshot.nugget_names:
        raise call.memory.snapshot.no_nugget(nugget)
    here = call.project
    if here is None or not here.root:
        todo = "run this in the project's folder"
        raise bad_input("this folder is no project", os.getcwd(), todo=todo, code=ErrorCode.NO_PLACE)
    done = take_over(str(call.folder), here, nugget)
    call.answer(done.document, [f"{nugget} belongs to {done.name}."])


@projects.add("rename", arg("name"), arg("new"), examples=("nuggets projects rename web website",))
def rename_(call: Invocation, name: str, new: str) -> None:
    """Rename a project; its nuggets keep their names."""
    done = rename(str(call.folder), name, new)
    if done is None:
        raise NotFoundError(
            "no project has this name", where=name, kept="nothing was changed",
            todo="nuggets projects lists them",
        )  # fmt: skip
    call.answer(done.document, [f"{name} is called {done.name} now."])


# The demo


@command(
    "demo",
    opt("--dir folder", "DIR", "Only write the memory into this folder.", FOLDER),
    examples=("nuggets demo", "nuggets demo --dir sample-memory"),
)
def demo(call: Invocation, folder: str | None) -> int:
    """Open the app on a sample memory. Your own is not touched."""
    if folder is None:
        if call.as_json or not has_terminal():
            todo = "--dir DIR writes the sample memory to a folder"
            raise bad_input("the app needs a terminal", "demo", "", todo)
        from nuggets_tui.demo import visit

        return visit()
    must_be_named(folder, "--dir", "", "give a folder")
    from core.memory import Memory
    from nuggets_tui.demo import write_visit

    home = write_visit(Path(folder).expanduser())
    snapshot = Memory.open(home).snapshot
    note_count, fact_count = len(snapshot.notes), snapshot.fact_count
    said = f"Wrote {plural(note_count, 'note')} and {plural(fact_count, 'fact')} to {home}."
    document = {"home": str(home), "noteCount": note_count, "factCount": fact_count}
    call.answer(document, [said, f"To open it: nuggets --home {home}"])
    return 0
