"""A git of its own for every test, and a remote."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kits.synced import Machine, bare, own_git

from core.facts.edits import remember
from core.graph.edits import create_note


@pytest.fixture(autouse=True)
def _own_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_git(tmp_path, monkeypatch)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare(tmp_path)


@pytest.fixture
def machine(tmp_path: Path, remote: Path) -> Iterator[Callable[[str], Machine]]:
    """Makes a machine by its name."""
    made: list[Machine] = []

    def make(name: str) -> Machine:
        made.append(Machine(tmp_path / name, remote, name))
        return made[-1]

    yield make
    for one in made:
        one.memory.close()


@pytest.fixture(scope="module")
def pair_as_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a remote and two machines that both have a fact and a note; to be copied."""
    folder = tmp_path_factory.mktemp("pair")
    with pytest.MonkeyPatch.context() as monkeypatch:
        own_git(folder, monkeypatch)
        remote = bare(folder)
        laptop = Machine(folder / "laptop", remote, "laptop")
        laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "8080"))
        laptop.memory.change("add", lambda draft: create_note(draft, "web", "Deploy", "make deploy"))
        laptop.sync()
        desk = Machine(folder / "desk", remote, "desk")
        desk.sync()
        for one in (laptop, desk):
            one.memory.close()
    return folder


@pytest.fixture
def pair(pair_as_made: Path, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    """Two machines that both have a fact and a note."""
    shutil.copytree(pair_as_made / "remote.git", tmp_path / "remote.git", dirs_exist_ok=True)
    for name in ("laptop", "desk"):
        shutil.copytree(pair_as_made / name, tmp_path / name)
        settings = tmp_path / name / ".git" / "config"
        settings.write_text(settings.read_text().replace(str(pair_as_made), str(tmp_path)))
    laptop, desk = (Machine.again(tmp_path / name, name) for name in ("laptop", "desk"))
    yield laptop, desk
    for one in (laptop, desk):
        one.memory.close()


@pytest.fixture
def asking(pair: tuple[Machine, Machine]) -> tuple[Machine, Machine]:
    """The same two; on the first what comes in waits until it is accepted."""
    pair[0].ask()
    return pair
