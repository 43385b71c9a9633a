"""Projects: which one a folder belongs to, whose each nugget is, and what is answered in each."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core import Memory
from core.errors import BrokenFileError
from core.facts.edits import remember
from core.graph.edits import delete_note
from core.model.infer import MetaInput
from core.projects import FILE, Project, Registered, project_at, register, registered, take_over
from core.storage.safety import make_backup


@pytest.fixture(autouse=True)
def _by_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUGGETS_PROJECT", raising=False)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def repository(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", f"{folder.name} {remote}")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def here(folder: Path) -> Project:
    found = project_at(str(folder))
    assert found is not None
    return found


# Which project


@pytest.mark.slow
def test_subfolders_and_worktrees_of_a_repository_are_one_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "scanner")
    (root / "src" / "deep").mkdir(parents=True)
    git(root, "worktree", "add", "-q", str(tmp_path / "scanner-fix"))
    for folder in (root, root / "src" / "deep", tmp_path / "scanner-fix"):
        assert (here(folder).name, here(folder).root) == ("scanner", str(root))


@pytest.mark.slow
@pytest.mark.parametrize(("bare", "root"), [("scanner/.bare", "scanner"), ("scanner.git", "scanner.git")])
def test_worktrees_of_a_bare_repository_are_one_project(tmp_path: Path, bare: str, root: str) -> None:
    source = repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / bare))
    for name in ("main", "fix"):
        git(tmp_path / bare, "worktree", "add", "-q", "-b", f"of-{name}", str(tmp_path / "scanner" / name))
        found = here(tmp_path / "scanner" / name)
        assert (found.name, found.root) == ("scanner", str(tmp_path / root))


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/scanner.git",
        "https://GitHub.com/acme/scanner",
        "ssh://git@github.com:22/acme/scanner.git",
        "https://user:secret@github.com/acme/scanner.git/",
    ],
)
def test_clones_of_one_remote_are_one_project_however_it_is_spelt(tmp_path: Path, url: str) -> None:
    config = tmp_path / "clone" / ".git" / "config"
    config.parent.mkdir(parents=True)
    config.write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')
    assert here(tmp_path / "clone").remote == "github.com/acme/scanner"
    assert Registered("scanner", "/elsewhere", "github.com/acme/scanner").is_project(here(tmp_path / "clone"))


@pytest.mark.slow
def test_a_repository_without_a_remote_is_known_again_where_its_folder_moved(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    root = repository(tmp_path / "scanner")
    register(str(home), here(root), "ops", ())
    root.rename(tmp_path / "renamed")
    register(str(home), here(tmp_path / "renamed"), "ci", ())
    (one,) = registered(str(home))
    assert (one.root, one.nuggets) == (str(tmp_path / "renamed"), ["ops", "ci"])


@pytest.mark.slow
def test_a_repository_whose_remote_is_another_now_is_known_again_and_a_new_one_in_its_folder_is_not(
    tmp_path: Path,
) -> None:
    home, root = tmp_path / "memory", repository(tmp_path / "scanner", "git@github.com:acme/old.git")
    home.mkdir()
    register(str(home), here(root), "ops", ())
    (one,) = registered(str(home))
    git(root, "remote", "set-url", "origin", "git@github.com:acme/new.git")
    assert one.is_project(here(root))
    root.rename(tmp_path / "away")
    assert not one.is_project(here(repository(root, "git@github.com:acme/third.git")))


def test_two_projects_of_one_name_have_a_nugget_each(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    first, second = (
        Project("api", "/acme/api", "example.org/acme/api"),
        Project("api", "/globex/api", "example.org/globex/api"),
    )
    for project, nugget in ((first, "api"), (second, "globex-api"), (first, "api")):
        memory.use_project(project)
        assert memory.standpoint is not None
        assert memory.standpoint.nugget == nugget
        memory.change("x", lambda draft, name=nugget: remember(draft, name, "port", f"of {name}"))
        memory.note_written(memory.snapshot.fact_notes[nugget, "port"], ())
        assert memory.recall("port", record=False).answer == f"of {nugget}"


def test_the_home_folder_and_what_holds_it_are_no_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "users" / "ada"))
    (tmp_path / "users" / "ada" / "work").mkdir(parents=True)
    assert project_at(str(tmp_path / "users")) is None
    assert project_at(str(tmp_path / "users" / "ada")) is None
    assert here(tmp_path / "users" / "ada" / "work").name == "work"


def test_a_project_can_be_named_or_switched_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "Scanner App")
    assert here(tmp_path).nugget == "Scanner-App"
    monkeypatch.setenv("NUGGETS_PROJECT", "off")
    assert project_at(str(tmp_path)) is None


def test_a_list_of_projects_that_cannot_be_read_stays_and_takes_no_answer_away(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    (tmp_path / FILE).write_bytes(b"{torn")
    with pytest.raises(BrokenFileError):
        register(str(tmp_path), Project("website", "/website"), "fresh", ())
    assert (tmp_path / FILE).read_bytes() == b"{torn"
    memory.use_project(Project("website", "/website"))
    assert memory.recall("test command").answer == "pnpm test"


# What is answered


def of_three(home: Path) -> Memory:
    """A memory of two projects that run their tests in two ways, and of a person."""
    memory = Memory.open(home)
    project = MetaInput(scope="project")
    for nugget, key, value, meta in (
        ("scanner", "test command", "cargo nextest run", project),
        ("scanner", "deploy target", "the marlin cluster", project),
        ("website", "test command", "pnpm test", project),
        ("website", "css framework", "tailwind", project),
        ("prefs", "commit style", "imperative, no emoji", MetaInput(scope="user")),
    ):
        memory.change(
            "remembered", lambda draft, n=nugget, k=key, v=value, m=meta: remember(draft, n, k, v, m)
        )
    return memory


@pytest.mark.parametrize("question", ["test command", "how do I run the tests, which command"])
def test_ones_own_project_answers_before_any_other(tmp_path: Path, question: str) -> None:
    memory = of_three(tmp_path)
    for name, answer in (("scanner", "cargo nextest run"), ("website", "pnpm test")):
        memory.use_project(Project(name, f"/{name}"))
        found = memory.recall(question, record=False)
        assert (found.found, found.answer, found.project) == (True, answer, "")


def test_what_another_project_says_is_a_candidate_and_names_that_project(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    memory.use_project(Project("billing", "/billing"))
    found = memory.recall("test command", record=False)
    assert (found.found, found.judgement, found.answer) == (False, "not sure", None)
    assert {one.project for one in found.candidates} <= {"scanner", "website"}
    assert found.candidates
    memory.use_project(Project("scanner", "/scanner"))
    other = memory.recall("css framework", record=False)
    assert (other.found, [one.project for one in other.candidates]) == (False, ["website"])


def test_ones_own_note_is_no_claim_for_a_question_whose_words_stand_in_other_projects(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    memory.use_project(Project("scanner", "/scanner"))
    found = memory.recall("tailwind css command", record=False)
    projects = [one.project for one in found.candidates]
    assert not found.found
    # What one's own says, however weakly, stands before what another project says.
    assert "website" in projects
    assert projects == sorted(projects, key=bool)


def test_the_persons_nuggets_answer_everywhere(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    for name in ("scanner", "billing"):
        memory.use_project(Project(name, f"/{name}"))
        assert memory.recall("commit style", record=False).answer == "imperative, no emoji"


def test_a_question_that_names_another_project_means_it(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    memory.use_project(Project("website", "/website"))
    found = memory.recall("test command of the scanner", record=False)
    assert (found.answer, found.project) == ("cargo nextest run", "scanner")


def test_a_nugget_is_of_the_project_that_it_was_first_written_from(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    scanner = Project("scanner", "/work/scanner")
    register(str(tmp_path), scanner, "ports", memory.snapshot.nugget_names)
    memory.change("remembered", lambda draft: remember(draft, "ports", "grader", "7733"))
    memory.use_project(scanner)
    assert memory.recall("grader", record=False).found
    memory.use_project(Project("website", "/work/website"))
    found = memory.recall("grader", record=False)
    assert (found.found, [one.project for one in found.candidates]) == (False, ["scanner"])
    assert json.loads((tmp_path / FILE).read_bytes())["projects"][0]["nuggets"] == ["ports"]


def test_a_search_lists_ones_own_first_and_marks_the_rest(tmp_path: Path) -> None:
    memory = of_three(tmp_path)
    memory.use_project(Project("website", "/website"))
    result = memory.search.result("test command")
    assert [hit.project for hit in result.hits[:2]] == ["", "scanner"]
    assert not any(hit.sure for hit in result.hits if hit.project)
    memory.use_project(Project("billing", "/billing"))
    assert memory.search.result("test command").judgement == "not sure"


# In another folder


def of_two_projects(home: Path) -> Memory:
    """A memory whose nuggets are of two projects that their names do not tell."""
    memory = of_three(home)
    for nugget, name in (("ports", "scanner"), ("pages", "website")):
        register(str(home), Project(name, f"/work/{name}"), nugget, memory.snapshot.nugget_names)
        memory.change("remembered", lambda draft, n=nugget, s=name: remember(draft, n, "grader", f"of {s}"))
    return memory


@pytest.mark.parametrize("way", ["export", "folder"])
def test_a_memory_in_another_folder_knows_which_nugget_is_of_which_project(tmp_path: Path, way: str) -> None:
    memory = of_two_projects(tmp_path / "first")
    other = Memory.open(tmp_path / "second")
    source = memory.exchange.export("json").data if way == "export" else memory.home
    done = other.exchange.bring(other.exchange.read(source))
    for name, answer in (("scanner", "of scanner"), ("website", "of website")):
        other.use_project(Project(name, f"/work/{name}"))
        assert other.recall("grader", record=False).answer == answer
    other.use_project(Project("billing", "/work/billing"))
    assert not other.recall("grader", record=False).found
    other.history.undo(done.change_set)
    assert not registered(str(other.home))


def test_an_import_takes_no_nugget_from_the_project_that_has_it_and_joins_none(tmp_path: Path) -> None:
    memory = of_two_projects(tmp_path / "first")
    take_over(str(memory.home), Project("scanner", "/work/scanner"), "pages")
    other = Memory.open(tmp_path / "second")
    other.change("remembered", lambda draft: remember(draft, "ports", "bill", "1"))
    register(str(other.home), Project("billing", "/work/billing"), "ports", ())
    done = other.exchange.bring(other.exchange.read(memory.home))
    register(str(other.home), Project("later", "/work/later"), "new", ())
    assert {(one.name, *one.nuggets) for one in registered(str(other.home))} == {
        ("billing", "ports"), ("scanner", "pages"), ("later", "new"),
    }  # fmt: skip
    assert not any(one.joined for one in registered(str(other.home)))
    other.history.undo(done.change_set)
    assert {one.name for one in registered(str(other.home))} == {"billing", "later"}


def test_a_backup_that_is_restored_brings_the_projects_of_what_comes_back(tmp_path: Path) -> None:
    memory = of_two_projects(tmp_path)
    backup = make_backup(tmp_path, at=datetime.now(UTC), reason="bulk")
    assert backup is not None
    for note in memory.snapshot.notes:
        if note.nugget_name == "ports":
            memory.change("deleted", lambda draft, id=note.id: delete_note(draft, id))
    (tmp_path / FILE).unlink()
    other = Memory.open(tmp_path)
    other.apply(other.maintenance.restoration(backup.stem))
    assert [(one.name, one.nuggets) for one in registered(str(tmp_path))] == [("scanner", ["ports"])]
