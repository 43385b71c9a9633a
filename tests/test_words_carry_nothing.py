"""What people are told may be said in any words: with codes in their place everything goes on as it does."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kits.app_kit import opened, small_memory
from kits.beside import ONE, TWO, content_of, edit_text, make_home, save_stale
from kits.memory_files import GRAPH, fact_object, notes_of, write_graph, write_nugget
from kits.original_writer import read_graph
from kits.service_kit import Clock, Failing, configure, drain, open_pipeline
from textual.widget import Widget

from core import Memory, errors
from core.errors import NuggetsError
from core.graph.edits import edit_note
from core.model import change
from core.model.draft import Draft
from core.model.snapshot import Problem
from core.pipeline.models.provider import ModelMissingError, ModelUnavailableError
from core.storage.format import documents
from core.verify.finding import Finding
from nuggets_tui.cli import program
from nuggets_tui.screens.forms import FormScreen

LATER = "2026-06-01T00:00:00.000Z"
Flow = Callable[[Path], object]


@pytest.fixture
def mute(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Puts codes in the place of all words: of errors, remedies, problems, findings and reasons of the log."""

    def work() -> None:
        made = NuggetsError.__init__

        def init(self: NuggetsError, what: str, **named: Any) -> None:
            made(self, what, **named)
            self.what = str(self.code)
            self.kept = str(self.code) if self.kept else ""
            self.more = str(self.code) if self.more else ""
            self.args = (self.message,)

        monkeypatch.setattr(NuggetsError, "__init__", init)
        monkeypatch.setattr(errors, "as_command", lambda remedy: type(remedy).__name__ if remedy else "")
        muted = lambda kind, where, what, *rest, **named: Problem(kind, where, str(kind), *rest, **named)  # noqa: E731
        monkeypatch.setattr(documents, "Problem", muted)
        monkeypatch.setattr(Finding, "detail", property(lambda self: self.kind))
        drafted, inverse = Draft.change_set, change.ChangeSet.inverse
        monkeypatch.setattr(
            Draft, "change_set", lambda self, reason, **named: drafted(self, "draft", **named)
        )
        monkeypatch.setattr(
            change.ChangeSet, "inverse", lambda self, **named: inverse(self, **named | {"reason": "inverse"})
        )

    return work


def memory_of(home: Path) -> Memory:
    numbers = itertools.count(0xA0000001)
    return Memory.open(home, ids=lambda: f"{next(numbers):08x}")


def refused(call: Callable[[], object]) -> list[str]:
    """What an error says of itself to a program."""
    with pytest.raises(NuggetsError) as caught:
        call()
    error = caught.value
    return [type(error).__name__, error.code, error.field, repr(error.remedy), str(error.exit_code)]


def state(memory: Memory) -> list[object]:
    """The notes' texts, and what the log has: kinds, authors, states, origins, what is taken back."""
    memory.refresh()
    log = memory.log(limit=None)
    return [
        sorted((note.title, note.content, note.hidden) for note in memory.snapshot.notes),
        [(one.change_set.kind, one.change_set.author.kind, one.state, one.origin, one.undone) for one in log],
        [one.conflict.code for one in log if one.conflict is not None],
    ]


def undo_and_redo(home: Path) -> object:
    memory = memory_of(make_home(home))
    entry = edit_text(memory, "By me.")
    told: list[object] = [state(memory)]
    memory.undo(entry)
    told += [refused(lambda: memory.undo(entry)), refused(lambda: memory.undo("none")), state(memory)]
    memory.redo(entry)
    told += [refused(lambda: memory.redo(entry)), refused(memory.redo), state(memory)]
    later = edit_text(memory, "Later.")
    told += [refused(lambda: memory.undo(entry)), memory.undo(later).about == later, state(memory)]
    return told


def damaged_and_repaired(home: Path) -> object:
    folder = make_home(home)
    memory = memory_of(folder)
    edit_text(memory, "Before the damage.")
    notes = notes_of(folder)
    write_graph(folder, [*(one for id, one in notes.items() if id != TWO), {"id": TWO, "title": 7}])
    write_nugget(folder, "broken", [])
    (folder / "broken.nugget.json").write_text("{", encoding="utf-8")
    write_nugget(folder, "memory", [fact_object("user:a", "elsewhere")], ".donna.json", name="memory")
    memory.refresh()
    problems = [(one.kind, one.place, one.used) for one in memory.snapshot.problems]
    found = [(one.kind, one.means, repr(one.remedy)) for one in memory.verify()]
    lost = refused(lambda: memory.snapshot.resolve(TWO))
    memory.repair()
    left = [(one.kind, one.means) for one in memory.verify()]
    facts = {fact.key: fact.value for one in memory.snapshot.nuggets for fact in one.facts}
    return problems, found, lost, left, state(memory), facts


def conflict_and_settlement(home: Path) -> object:
    folder = make_home(home)
    memory = memory_of(folder)
    draft = memory.draft()
    edit_note(draft, ONE, content="Ours.", add_tags=["ours"])
    notes = notes_of(folder)
    notes[ONE] |= {"content": "Theirs.", "updatedAt": LATER}
    write_graph(folder, notes.values())
    told: list[object] = [refused(lambda: memory.apply(draft.change_set("an edit"))), state(memory)]
    (waiting,) = memory.conflicts()
    told += [refused(lambda: memory.undo(waiting.id))]
    memory.resolve_conflict(waiting.id, "ours")
    return [
        *told,
        refused(lambda: memory.resolve_conflict(waiting.id, "ours")),
        content_of(folder),
        state(memory),
    ]


def taken_back_by_a_program_that_had_not_seen_it(home: Path) -> object:
    folder = make_home(home)
    memory, stale = memory_of(folder), read_graph(folder)
    edit_text(memory, "By me.")
    save_stale(folder, stale)
    memory.refresh()
    edit_text(memory, "By me again.")
    return content_of(folder), state(memory)


def command_line(home: Path) -> object:
    folder = make_home(home)
    runner = CliRunner()
    told = []
    for line in (
        "remember memory user:k value", "recall user:k", "recall nothing-of-this", "note show none", "note show note-",
        "note edit none --title x", f"note edit {ONE} --title x", "undo", "undo", "undo none", "redo none", "redo",
        "log --note none", "restore 2001-01-01 --yes", "restore none --yes", "resolve none --incoming", "resolve",
        "remember a/b key value", "note merge none none", f"note merge {ONE} {ONE}", "facts none",
        "secrets --mask none", "searches drop none", "verify", "reflect --accept none",
        "promote --accept none", "pipeline accept none",
    ):  # fmt: skip
        done = runner.invoke(program, ["--home", str(folder), *line.split()])
        told.append((line, done.exit_code, len(done.stderr.splitlines()) if done.exit_code else 0))
    (folder / GRAPH).write_text("{", encoding="utf-8")
    for line in ("note show none", "verify", "verify --repair --yes", "verify", f"note show {ONE}"):
        done = runner.invoke(program, ["--home", str(folder), *line.split()])
        told.append((line, done.exit_code, len(done.stderr.splitlines()) if done.exit_code else 0))
    return told


def pipeline_paused(home: Path) -> object:
    configure(home, "enabled = true")
    clock, told = Clock(), list[object]()
    for error in (ModelUnavailableError("not there"), ModelMissingError("no such model", status=404)):
        model = Failing(error)
        with open_pipeline(home, model, clock) as pipeline:
            pipeline.ingest(
                "We chose PostgreSQL over MongoDB for the orders service.", session=str(error.code)
            )
            ticked = [one.did_something for one in drain(pipeline)]
            status = pipeline.status()
            told.append((ticked, status.light, dict(status.jobs), model.calls, pipeline.health().state))
            pipeline.pause(0)
            told.append((pipeline.paused, pipeline.status().light))
            pipeline.resume()
            clock.forward(hours=2)
    return told


def is_focused(form: FormScreen, field: Widget) -> bool:
    return form.focused is field


def has_left(form: FormScreen, field: Widget) -> bool:
    return form.focused is not field


def field_at_fault(home: Path) -> object:
    async def work() -> object:
        small_memory(home)
        told = []
        async with opened(home) as app:
            await app.press("f")
            form = await app.screen(FormScreen)
            cases = (
                ("no/name", "k", "v", "key"),
                ("project", "", "v", "nugget"),
                ("project", "k", "", "nugget"),
            )
            for nugget, key, value, first in cases:
                for name, text in (("nugget", nugget), ("key", key), ("value", value)):
                    app.fill(f"#{name}", text)
                before = form.query_one(f"#{first}")
                before.focus()
                await app.until(partial(is_focused, form, before))
                await app.press("ctrl+s")
                await app.until(partial(has_left, form, before))
                told.append(form.focused.id if form.focused is not None else "")
        assert told == ["nugget", "key", "value"]
        return told

    return asyncio.run(work())


FLOWS: list[Flow] = [
    undo_and_redo, damaged_and_repaired, conflict_and_settlement, taken_back_by_a_program_that_had_not_seen_it,
    command_line, pipeline_paused, field_at_fault,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
def test_with_codes_in_place_of_all_words_everything_goes_on_as_it_does(
    flow: Flow, tmp_path: Path, mute: Callable[[], None]
) -> None:
    spoken = flow(tmp_path / "spoken")
    mute()
    assert shaped(flow(tmp_path / "mute")) == shaped(spoken)


def shaped(found: object) -> Any:
    return json.loads(json.dumps(found, default=str))


def test_muting_leaves_no_word_of_ours(tmp_path: Path, mute: Callable[[], None]) -> None:
    mute()
    memory = memory_of(make_home(tmp_path))
    with pytest.raises(NuggetsError) as caught:
        memory.undo("none")
    assert caught.value.message == "none: no-such-entry; ShowLog"
    edit_text(memory, "By me.")
    assert memory.log()[0].change_set.reason == "draft"
