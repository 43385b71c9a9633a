"""Commands that show what is there: status, projects, the demo, and how well questions are answered."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import ErrorCode, NotFoundError, NuggetsError
from core.places import folder_of
from core.projects import registered, rename, take_over
from nuggets_tui.cli.invocation import Invocation, bad_input, has_terminal
from nuggets_tui.cli.options import arg, command, group, must_be_named, opt
from nuggets_tui.cli.output import Line, Span, SpanStyle, bad, bold, dim, pick, picks, shorten, table, warn
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import deed, describe_waiting_lines, local_time, plural

if TYPE_CHECKING:
    from core.bench import Share
    from core.memory import Memory
    from core.model.snapshot import Snapshot

_LIGHTS: Final[Mapping[str, SpanStyle]] = {
    "stuck": "bad", "paused": "warn", "review": "warn", "off": "dim", "idle": "dim", "working": "dim",
}  # fmt: skip


# Status


@command("status", examples=("nuggets status", "nuggets status --json"))
def status(call: Invocation) -> None:
    """Show the nuggets, totals, paths and what cannot be read."""
    memory = call.memory_as_it_is
    document = _status_document(call, memory)
    call.answers_too([one.message for one in memory.settings.problems])
    call.answers_too((call.elsewhere,))
    call.answer(document, lambda: _status_lines(document, memory.snapshot))


def _nugget_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """One object for each nugget, by name. Notes include fact notes; without a fact file, dimension is 0."""
    notes = Counter(note.nugget_name for note in snapshot.notes)
    hidden = Counter(note.nugget_name for note in snapshot.notes if note.hidden)
    rows = []
    for name in snapshot.nugget_names:
        nugget = snapshot.by_name.get(name)
        row = {"name": name, "factCount": len(nugget.facts) if nugget else 0, "noteCount": notes[name]}
        row |= {"hiddenCount": hidden[name], "dimension": nugget.meta.D if nugget else 0}
        row |= {"banks": nugget.meta.banks if nugget else 0, "capacityUsedPct": 0.0, "capacityWarning": ""}
        rows.append(row | (pick(nugget, "capacity_used_pct capacity_warning") if nugget else {}))
    return rows


def _status_document(call: Invocation, memory: Memory) -> dict[str, Any]:
    folder, snapshot, history = call.folder, memory.snapshot, memory.history
    rows, aside, team = _nugget_rows(snapshot), memory.maintenance.set_aside(), memory.search.team
    problems: list[Any] = [*snapshot.problems, *([history.problem] if history.problem is not None else [])]
    capacity = [f"{row['name']}: {row['capacityWarning']}" for row in rows if row["capacityWarning"]]
    of_team = last = None
    if team is not None:
        # The notes of the team in whose project one works.
        hidden = sum(note.hidden for note in team.snapshot.notes)
        of_team = pick(team, "folder", noteCount=len(team.snapshot.notes), hiddenCount=hidden)
    if newest := history.log(limit=1):
        made = newest[0].change_set
        told = deed(made)
        what, author = f"{told.verb} {told.what}", made.author.name or made.author.kind
        last = pick(made, "id at", author=author, what=what)
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
        "team": of_team,
        "conflictCount": len(memory.history.conflicts()),
        "setAsideCount": len(aside),
        "soundSetAsideCount": sum(record.sound for record in aside),
        "lastChange": last,
        "daily": _daily_document(call),
        "pipeline": _pipeline_document(call),
        # Every MEMORY.md that holds something promoted, that of the present project first.
        "promotedTo": [
            pick(target, "path project=cwd at entry_count=count there")
            for target in memory.promotion.targets()
            if target.at and target.count
        ],
        "readOnly": snapshot.read_only,
        "problems": picks(problems, "where what"),
        "warnings": [*filter(None, (call.elsewhere,)), *capacity, *_wrong_settings(memory)],
    }


def _wrong_settings(memory: Memory) -> Iterator[str]:
    """What settings.toml asks for and cannot have, each as a sentence."""
    from core.settings import SETTINGS_FILE, AppSettings
    from core.user_settings import load_user_settings, user_settings_file

    settings, user = memory.settings, load_user_settings()
    if settings.keys:
        from nuggets_tui.commands import key_map

        yield from (f"settings.toml, [keys]: {wrong}" for wrong in key_map(settings).wrong)
    if settings.app != AppSettings():
        yield f"{SETTINGS_FILE}, [app]: not used in a memory; it belongs in {user_settings_file()}"
    if user.app.theme:
        from nuggets_tui.application import missing_theme, theme_names

        wrong_theme = missing_theme(user.app.theme, theme_names())
        yield from (f"{user_settings_file()}, [app]: {wrong}" for wrong in wrong_theme)
    yield from (one.message for one in settings.warnings)
    yield from user.problems


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
            return pick(pipeline.status(), "light why jobs proposals_open") if pipeline is not None else None
    except NuggetsError as error:
        return {"light": None, "why": error.message, "jobs": {}, "proposalsOpen": 0}


def _status_lines(document: dict[str, Any], snapshot: Snapshot) -> Iterator[Line]:
    home, rows, team, last = (document[name] for name in ("home", "nuggets", "team", "lastChange"))
    yield (bold(home), "" if document["exists"] else " (does not exist yet; your first change creates it)")
    # Pairs of notes that are linked, whichever way and however often.
    links = {frozenset((note.id, link.to)) for note in snapshot.notes for link in note.links}
    linked = sum(len(pair) == 2 and pair <= snapshot.by_id.keys() for pair in links)
    visible = plural(document["noteCount"] - document["hiddenCount"], "note")
    totals = (plural(len(rows), "nugget"), plural(document["factCount"], "fact"))
    yield " · ".join((*totals, f"{visible}, {document['hiddenCount']:,} hidden", plural(linked, "link")))
    if document["nuggetFiles"]:
        yield ("facts  ", dim(", ".join(Path(file).name for file in document["nuggetFiles"])))
    yield ("notes  ", dim(document["graphFile"]))
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
        cells: list[tuple[str | Span, ...]] = [
            tuple(map(dim, ("nugget", "facts", "notes", "hidden", "used", "")))
        ]
        for row in rows:
            counts = (row["factCount"], row["noteCount"] - row["hiddenCount"], row["hiddenCount"])
            used = f"{row['capacityUsedPct']:g}%"
            cells.append((bold(row["name"]), *map(str, counts), used, warn(row["capacityWarning"])))
        yield from ("", *table(cells, right=(1, 2, 3, 4)), "")
    else:
        yield "To begin: nuggets remember KEY VALUE"
    # What waits for a person, and what is wrong.
    if conflicts := document["conflictCount"]:
        yield warn(
            f"{plural(conflicts, 'conflict waits', 'conflicts wait')} for your decision: nuggets resolve"
        )
    quarantine, sound = Path(home) / "quarantine", document["soundSetAsideCount"]
    if unread := document["setAsideCount"] - sound:
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

    A nugget belongs to the project it was first written from, or whose name it has. All other nuggets are yours and
    count everywhere. In a project, recall and search answer from its nuggets and yours; a note of another project is at
    most a candidate.
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
    """Give a nugget to the project you are in; in others its notes are at most candidates."""
    if nugget not in call.memory.snapshot.nugget_names:
        raise call.memory.snapshot.no_nugget(nugget)
    here = call.project
    if here is None or not here.root:
        todo = "run this in the project's folder"
        raise bad_input("this folder is not a project", os.getcwd(), todo=todo, code=ErrorCode.NO_PLACE)
    done = take_over(str(call.folder), here, nugget)
    call.answer(done.document, [f"{nugget} belongs to {done.name}."])


@projects.add("rename", arg("name"), arg("new"), examples=("nuggets projects rename web website",))
def rename_(call: Invocation, name: str, new: str) -> None:
    """Rename a project; its nuggets keep their names."""
    done = rename(str(call.folder), name, new)
    if done is None:
        todo = "nuggets projects lists them"
        raise NotFoundError("no project has this name", where=name, kept="nothing was changed", todo=todo)
    call.answer(done.document, [f"{name} is called {done.name} now."])


# The demo


@command(
    "demo", opt("--dir folder", "DIR", "Only write the memory into this folder.", FOLDER),
    examples=("nuggets demo", "nuggets demo --dir sample-memory"),
)  # fmt: skip
def demo(call: Invocation, folder: str | None) -> int:
    """Open the app on a sample memory. Your own is not touched."""
    from nuggets_tui.app import visit
    from nuggets_tui.demo import write_visit

    if folder is None:
        if call.as_json or not has_terminal():
            todo = "--dir DIR writes the sample memory to a folder"
            raise bad_input("the app needs a terminal", "demo", "", todo)
        return visit()
    must_be_named(folder, "--dir", "", "give a folder")
    from core.memory import Memory

    home = write_visit(Path(folder).expanduser())
    snapshot = Memory.open(home).snapshot
    note_count, fact_count = len(snapshot.notes), snapshot.fact_count
    said = f"Wrote {plural(note_count, 'note')} and {plural(fact_count, 'fact')} to {home}."
    document = {"home": str(home), "noteCount": note_count, "factCount": fact_count}
    call.answer(document, [said, f"To open it: nuggets --home {home}"])
    return 0


# Questions with known answers

_QUESTIONS = "questions.toml"


@command(
    "bench", arg("paths", click.Path(path_type=Path), nargs=-1, metavar="[FILE|FOLDER]..."),
    examples=("nuggets bench", "nuggets bench my-questions.toml", "nuggets bench ~/sets --json"),
)  # fmt: skip
def bench(call: Invocation, paths: tuple[Path, ...]) -> None:
    """Measure recall and search on questions with known answers, with BM25 beside them.

    A .toml file holds your own questions about this memory (default: questions.toml in its folder). A .json file is a
    prepared set and needs no memory. In a folder, all .json files and questions.toml are used. Nothing is counted or
    written. Brackets show 95% intervals.
    """
    from core.bench import run_own, run_set

    files: list[Path] = []
    for path in paths or (call.folder / _QUESTIONS,):
        inside = [*sorted(path.glob("*.json")), *sorted(path.glob(_QUESTIONS))] if path.is_dir() else [path]
        if not all(one.is_file() for one in inside) or not inside:
            raise bad_input("no questions found", str(path), "", "docs/performance.md says how to write some")
        files += inside
    documents, rows = [], [("", bold("ours"), dim("BM25"))]
    for file in files:
        one = run_own(call.memory_as_it_is, file) if file.suffix == ".toml" else run_set(file)
        size = f"{plural(len(one.answers), 'question')}, {plural(one.notes, 'note')}"
        ours, theirs = (f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]" for mean in one.ndcg)
        cells: list[tuple[str | Span, str, str]] = [
            (bold(shorten(one.name)), size, ""),
            ("  nDCG@10 of search", ours, theirs),
            ("  answered right; first hit right", _said(one.right), _said(one.plain_right)),
            ("  right one offered, not claimed", _said(one.offered), ""),
            ("  claims right", _said(one.claims_right), ""),
            *((f"    of certainty from {low:.2f}", _said(share), "") for low, share in one.reliability()),
            ("  claimed without an answer", _said(one.unanswerable_claimed), ""),
        ]
        rows += cells  # type: ignore[arg-type]
        shares = {
            "bm25Right": one.plain_right, "right": one.right, "offered": one.offered,
            "claimsRight": one.claims_right, "unanswerableClaimed": one.unanswerable_claimed,
        }  # fmt: skip
        documents.append(
            {"name": one.name, "notes": one.notes, "questions": len(one.answers)}
            | {"ndcg": one.ndcg[0], "bm25Ndcg": one.ndcg[1]}
            | {name: _share(share) for name, share in shares.items()}
            | {"reliability": [{"from": low, **_share(share)} for low, share in one.reliability()]}
        )
    call.answer(documents, table(rows))


def _said(share: Share) -> str:
    if not share.total:
        return "-"
    low, high = share.interval
    return f"{share.number}/{share.total} {share.value:.0%} [{low:.0%}, {high:.0%}]"


def _share(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return pick(share, "number total share=value", low=low, high=high)
