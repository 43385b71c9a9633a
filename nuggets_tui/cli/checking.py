"""The commands `check` and `blame`: notes and pages held against the code of their project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.invocation import Invocation
from nuggets_tui.cli.options import YES, arg, command, flag
from nuggets_tui.cli.output import LONGEST, Line, bold, dim, pick, shorten, warn
from nuggets_tui.words import plural, stale_lines

if TYPE_CHECKING:
    from core.model.judgement import Stale, Standing

_PAGES: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "MEMORY.md", ".claude/CLAUDE.md")
_PASSED_OVER: Final = frozenset(
    (".git", ".venv", "venv", "node_modules", "site-packages", "target", "dist", "build")
)
_GONE = 1


@command(
    "check",
    arg("path", click.Path(path_type=Path), required=False, metavar="[PATH]"),
    flag("--fix", "Name code where it is now, in notes."),
    YES,
    examples=("nuggets check", "nuggets check docs", "nuggets check --fix"),
)
def check(call: Invocation, path: Path | None, fix: bool, yes: bool) -> int:
    """List what notes and pages name of the code and what moved or is gone since.

    Looked at are the notes of the project you are in and its AGENTS.md, CLAUDE.md, GEMINI.md and MEMORY.md; with PATH a
    page, or all pages of a folder. Nothing is said of what another branch may have, or was never there. Exit code 1
    where something is gone, for CI and hooks before a commit. With --fix files that moved are named where they are now
    in notes, as one change; pages stay yours to edit.
    """
    stale = {} if path else _stale_notes(call)
    pages = (
        _stale_pages(path) if path else [one for name in _PAGES for one in _lines_of(Path(_root(call), name))]
    )
    now = datetime.now(UTC)
    notes = {id: call.memory_as_it_is.snapshot.by_id[id] for id in stale}
    done = _fixed(call, stale, yes) if fix and stale else ""
    lines: list[Line] = []
    for id, one in stale.items():
        lines.append((bold(shorten(notes[id].title, LONGEST)), dim(f"  {id}")))
        lines += [warn(f"  {line}") for line in stale_lines(one.references, now)]
    for file, line, told in pages:
        lines += [(bold(f"{file}:{line}"), "  ", *map(warn, stale_lines([told], now)))]
    if done:
        lines.append(f"Fixed: nuggets undo {done}")
    document = {
        "notes": [{"noteId": id, "title": notes[id].title, "stale": one.references} for id, one in stale.items()],
        "pages": [{"file": str(file), "line": line, "stale": [one]} for file, line, one in pages],
    }  # fmt: skip
    document |= {"changeSet": done} if done else {}
    call.answer(document, lines or ["Everything is where it is said to be."])
    every = [*(each for one in stale.values() for each in one.references), *(one for _, _, one in pages)]
    return _GONE if any(one.state == "gone" for one in every) else 0


@command(
    "blame",
    arg("what", metavar="FILE|SYMBOL"),
    examples=("nuggets blame src/auth/token.py", "nuggets blame parse_config"),
)
def blame(call: Invocation, what: str) -> int:
    """List the notes that name a file, by its former path too, a folder around it, or a symbol. Exit code 1 when no
    note does.
    """
    from core.grounding.service import text_of

    memory, root = call.memory_as_it_is, _root(call)
    said = os.path.relpath(what, root) if os.path.lexists(what) else what
    naming = set(memory.grounding.naming(map(text_of, memory.snapshot.visible), said, root))
    for id, stale in _stale_notes(call).items():
        naming |= {id for one in stale.references if one.state == "moved" and one.where.split(":")[0] == said}
    found = [note for note in memory.snapshot.visible if note.id in naming]
    lines: list[Line] = []
    for note in found:
        begins = shorten(note.content.strip().split("\n", 1)[0], LONGEST)
        lines.append((bold(shorten(note.title, LONGEST)), f"  {begins}", dim(f"  {note.id}")))
    document = [pick(note, "note_id=id title content") for note in found]
    call.answer(document, lines or [f"No note names {shorten(what, LONGEST)}."])
    return 0 if found else 1


def _root(call: Invocation) -> str:
    """The folder of the project at hand, as it is checked out here."""
    from core.projects import checkout_at

    project = call.project
    if project is None or not project.root:
        raise InvalidInputError(
            "this folder is not a project", code=ErrorCode.NO_PLACE, where=os.getcwd(), kept="nothing was checked",
            todo="run this in the project's folder, or name a page",
        )  # fmt: skip
    return checkout_at(project.root)


def _stale_notes(call: Invocation) -> dict[str, Stale]:
    """The notes of the project at hand that name code which moved or is gone."""
    memory = call.memory_as_it_is
    here = memory.standpoint
    notes = [note for note in memory.snapshot.visible if here is not None and here.is_own(note.nugget_name)]
    found = memory.stale_of(notes).items()
    return {id: one for id, one in found if one.lost}


def _stale_pages(path: Path) -> Sequence[tuple[Path, int, Standing]]:
    """The lines of pages that name what moved or is gone: of a page, or of those of a folder."""
    pages = [path] if path.is_file() else [*_pages_in(path)]
    if not pages:
        raise InvalidInputError("there is no such page", where=str(path), kept="nothing was checked")
    return [line for page in pages for line in _lines_of(page)]


def _pages_in(folder: Path) -> Iterator[Path]:
    """The pages in a folder, without those of libraries that lie in it."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        yield from (Path(top, name) for name in sorted(names) if name.endswith(".md"))


def _lines_of(page: Path) -> list[tuple[Path, int, Standing]]:
    from core.grounding.service import page_lines

    try:
        return [(page, *one) for one in page_lines(page)] if page.is_file() else []
    except OSError as error:
        what = f"the page cannot be read: {error.strerror}"
        raise InvalidInputError(what, where=str(page), kept="nothing was checked") from error


def _fixed(call: Invocation, stale: dict[str, Stale], yes: bool) -> str:
    """Names what moved where it is now, as one change, if that is wanted; the id of its entry, "" for none."""
    from core.graph.edits import edit_note

    memory = call.memory
    texts = {id: one.repointed(memory.snapshot.by_id[id].content) for id, one in stale.items()}
    changed = {id: text for id, text in texts.items() if text != memory.snapshot.by_id[id].content}
    if not changed or not call.agreed(
        f"Change {plural(len(changed), 'note')}?", yes=yes, needs_yes="check --fix"
    ):
        return ""
    _, change_set = memory.change(
        f"repointed {plural(len(changed), 'note')}",
        lambda draft: [edit_note(draft, id, content=text) for id, text in changed.items()],
    )
    return change_set.id
