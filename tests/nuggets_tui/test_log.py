"""The audit log as the app holds it: pages, what is left out, and entries whose state changed since they were read."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from kits.app_kit import NOW, agent_on, small_memory

from core.errors import InvalidInputError, StorageError
from core.graph.edits import create_note, edit_note, hide_note
from core.memory import Memory
from core.model.change import Author
from nuggets_tui import log as log_module
from nuggets_tui.log import Log, Scope, newest_entries, older_entries, read_filter


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A small memory with its first entry in the log."""
    return small_memory(tmp_path / "memory")


def add(memory: Memory, *titles: str) -> None:
    """Makes notes, each with an entry of its own."""
    for title in titles:
        memory.change(f"added {title}", partial(create_note, nugget="project", title=title, content="x"))


def reasons(log: Log) -> list[str]:
    """Why each entry was made, newest first."""
    return [line.reason for line in log.lines]


def read(memory: Memory, former: Log | None = None, scope: Scope | None = None) -> Log:
    """The log brought up to date."""
    return newest_entries(memory, former or Log(), scope or Scope())


def test_pages_join_to_the_whole_log(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "PAGE", 3)
    add(memory, *"abcdefg")
    log, sizes = read(memory), []
    while not log.complete:
        sizes.append(len(log.lines))
        log = older_entries(memory, log)
    assert sizes[0] == 3
    assert reasons(log) == [*(f"added {title}" for title in "gfedcba"), "filled"]
    assert older_entries(memory, log) is log


def test_what_was_read_stays_when_the_newest_page_is_read_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "PAGE", 3)
    add(memory, *"abcdefg")
    log = older_entries(memory, read(memory))
    assert len(log.lines) == 6
    add(memory, "h")
    assert reasons(read(memory, log)) == ["added h", *reasons(log)]


def test_after_more_new_entries_than_a_page_holds_nothing_is_missing_between(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "PAGE", 3)
    add(memory, *"abc")
    log = read(memory)
    add(memory, *"defghij")
    log = read(memory, log)
    while not log.complete:
        log = older_entries(memory, log)
    assert reasons(log) == [*(f"added {title}" for title in "jihgfedcba"), "filled"]


def test_entries_read_long_ago_show_what_became_of_them(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "PAGE", 2)
    add(memory, *"abcd")
    log = older_entries(memory, read(memory))
    oldest = log.lines[-1]
    assert not oldest.undone
    memory.history.undo(oldest.id)
    found = next(entry for entry in read(memory, log).lines if entry.id == oldest.id)
    assert found.undone
    memory.history.redo(oldest.id)
    assert not any(entry.undone for entry in read(memory, log).lines)


def test_recalls_are_left_out_until_they_are_asked_for(memory: Memory) -> None:
    agent = agent_on(memory.home)
    for session in ("one", "two"):
        agent.recall("test command", session=session)
    assert reasons(read(memory)) == ["filled"]
    shown = read(memory, scope=Scope(recalls=True))
    assert len(shown.lines) > 1
    assert shown.last is not None
    assert shown.last.reason == "filled"


def test_many_recalls_do_not_hide_what_lies_before_them(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "PAGE", 2)
    agent = agent_on(memory.home)
    for number in range(7):
        agent.recall("test command", session=f"session {number}")
    log = read(memory)
    assert reasons(log) == ["filled"]
    assert log.complete


def test_the_log_of_one_note_holds_what_concerns_it_alone(memory: Memory) -> None:
    store = next(note for note in memory.snapshot.notes if note.title == "Session store")
    memory.change("edited it", partial(edit_note, id=store.id, content="Other."))
    add(memory, "something else")
    log = read(memory, scope=Scope(note_id=store.id))
    assert reasons(log) == ["edited it", "filled"]


def test_another_scope_forgets_what_was_read_before(memory: Memory) -> None:
    add(memory, "a")
    log = read(memory)
    assert reasons(read(memory, log, Scope(note_id="no such note"))) == []


def test_parts_that_are_taken_back_are_counted(memory: Memory) -> None:
    def three(draft: object) -> None:
        for title in "abc":
            create_note(draft, "project", title, "x")  # type: ignore[arg-type]

    _, done = memory.change("three", three)
    memory.history.undo(f"{done.id}.2")
    log = read(memory)
    entry = next(entry for entry in log.lines if entry.id == done.id)
    assert log.parts_taken_back(entry) == 1
    memory.history.undo(done.id)
    log = read(memory, log)
    entry = next(entry for entry in log.lines if entry.id == done.id)
    assert entry.undone
    assert log.parts_taken_back(entry) == 0


def test_a_memory_without_a_log_has_an_empty_one(tmp_path: Path) -> None:
    log = read(Memory.open(tmp_path / "none"))
    assert log.loaded
    assert log.complete
    assert log.lines == ()
    assert log.last is None


def test_what_was_read_is_not_read_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    add(memory, *"abc")
    log = read(memory)
    decoded: list[str] = []
    real = log_module.log_line
    monkeypatch.setattr(log_module, "log_line", lambda entry: decoded.append(entry.id) or real(entry))
    add(memory, "d")
    again = read(memory, log)
    assert len(decoded) == 1
    assert again.lines[1:] == log.lines


def test_recalls_that_became_one_stand_in_the_log_once(memory: Memory) -> None:
    agent, scope = agent_on(memory.home), Scope(recalls=True)
    agent.recall("test command", session="one")
    log = read(memory, scope=scope)
    for key in ("deploy command", "test command"):
        agent.recall(key, session="one")
        log = read(memory, log, scope)
    whole = read(memory, scope=scope)
    assert reasons(log) == reasons(whole)
    assert [line.seq for line in log.lines] == [line.seq for line in whole.lines]


def test_a_log_begun_anew_takes_the_place_of_the_former(memory: Memory, tmp_path: Path) -> None:
    add(memory, *"abc")
    log = read(memory)
    other = small_memory(tmp_path / "other")
    assert reasons(read(other, log)) == ["filled"]


# Filters


def filled(memory: Memory) -> dict[str, str]:
    """A memory with changes of several sorts by several authors; the ids of the entries by name."""
    agent = agent_on(memory.home)
    ids = {}
    _, done = agent.change("added Ünï", partial(create_note, nugget="project", title="Ünï code", content="x"))
    ids["added"], note_id = done.id, done.notes[0].id
    content = "Secret words inside."
    ids["edited"] = agent.change("edited", partial(edit_note, id=note_id, content=content))[1].id
    ids["renamed"] = agent.change("renamed", partial(edit_note, id=note_id, title="Other name"))[1].id
    memory.refresh()
    ids["hid"] = memory.change("hid it", partial(hide_note, id=note_id))[1].id
    draft = memory.draft()
    for note in memory.snapshot.notes[:3]:
        edit_note(draft, note.id, add_tags=["checked"])
    run = draft.change_set("cleanup", author=Author("reflection"), kind="reflection")
    ids["run"] = memory.apply(run).id
    ids["undo"] = memory.history.undo(ids["run"]).id
    agent.recall("test command", session="one")
    memory.refresh()
    return ids


@pytest.mark.parametrize(
    ("scope", "wanted"),
    [
        (Scope(authors=("agent",)), {"added", "edited", "renamed"}),
        (Scope(authors=("claude", "reflection")), {"added", "edited", "renamed", "run"}),
        (Scope(deeds=("reflection",)), {"run"}),
        (Scope(deeds=("reflection", "undo")), {"run", "undo"}),
        (Scope(deeds=("hid",)), {"hid"}),
        (Scope(deeds=("hid", "undo")), {"hid", "undo"}),
        (Scope(authors=("agent",), deeds=("edited",)), {"edited", "renamed"}),
        (Scope(text="ünï CODE"), {"added", "edited", "renamed"}),
        (Scope(text="other name"), {"renamed", "hid"}),
        (Scope(text="secret inside"), set()),
        (Scope(text="cleanup"), {"run", "undo"}),
    ],
)
def test_a_filter_lists_what_it_asks_for_and_nothing_else(
    memory: Memory, scope: Scope, wanted: set[str]
) -> None:
    ids = filled(memory)
    log = read(memory, scope=scope)
    named = {id: name for name, id in ids.items()}
    assert {named[line.id] for line in log.lines} == wanted
    assert log.complete
    assert scope.describe()


def test_what_is_typed_names_whom_what_when_and_words() -> None:
    scope = read_filter(
        'by:claude by:"other programs" did:hid auth since:today token', Scope(note_id="n"), NOW
    )
    assert (scope.authors, scope.deeds, scope.text) == (("claude", "program"), ("hid",), "auth token")
    assert scope.note_id == "n"
    local = datetime.fromisoformat(scope.since).astimezone()
    assert (local.hour, local.minute, local.date()) == (0, 0, NOW.astimezone().date())
    assert read_filter("", scope, NOW) == Scope(note_id="n")
    with pytest.raises(InvalidInputError):
        read_filter("did:nothing", Scope(), NOW)


@pytest.mark.slow
def test_the_newest_change_is_known_whatever_the_filter_leaves_out(memory: Memory) -> None:
    ids = filled(memory)
    log = read(memory, scope=Scope(authors=("agent",)))
    assert log.last is not None
    assert log.last.id == ids["undo"]
    add(memory, "newest")
    log = read(memory, log, log.scope)
    assert log.last is not None
    assert log.last.reason == "added newest"
    assert "added newest" not in reasons(log)


@pytest.mark.slow
@pytest.mark.parametrize("scope", [Scope(text="added"), Scope(deeds=("added",)), Scope(authors=("person",))])
def test_filtered_pages_join_to_the_whole_and_go_on_with_what_is_new(
    memory: Memory, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("PAGE", 3), ("_WINDOW", 2), ("_MOST_PAGES", 1)):
        monkeypatch.setattr(log_module, name, size)
    agent = agent_on(memory.home)
    for title in "abcde":
        memory.refresh()
        add(memory, title)
        agent.recall("test command", session=title)
    log = read(memory, scope=scope)
    while not log.complete:
        log = older_entries(memory, log)
    assert reasons(log)[:5] == [f"added {title}" for title in "edcba"]
    memory.refresh()
    add(memory, "f", "g")
    assert reasons(read(memory, log, scope))[:3] == ["added g", "added f", "added e"]


def test_a_log_that_cannot_be_read_says_why(memory: Memory) -> None:
    problem = StorageError("the history cannot be read (test)", where="nuggets.db")
    log = newest_entries(cast("Memory", _Unreadable(memory, problem)), Log(), Scope())
    assert log.lines == ()
    assert "cannot be read" in log.problem


class _Unreadable:
    """A memory whose log cannot be read, as one in a folder of another's."""

    def __init__(self, memory: Memory, problem: StorageError) -> None:
        self._memory = memory
        self.history, self.problem = self, problem

    def log(self, **filters: object) -> tuple[()]:
        """Nothing."""
        return ()

    def newest(self) -> int:
        """No entry."""
        return 0

    def conflicts(self) -> tuple[()]:
        """None."""
        return ()

    def taken_back(self) -> frozenset[str]:
        """Nothing."""
        return frozenset()
