"""What became of one reference, where a checkout is unlike others, and where nothing can be told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.replayed import git

from core.grounding.binding import Bound, bind
from core.grounding.references import Reference, references
from core.grounding.states import States
from core.grounding.trees import Tree
from core.model.judgement import Standing

HANDLER = (
    "def handler(request):\n    token = request.headers['x-token']\n    return check(token, request.path)\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "scanner"
    (folder / "src" / "auth").mkdir(parents=True)
    (folder / "src" / "auth" / "middleware.py").write_text(f"import os\n\n{HANDLER}")
    (folder / "src" / "other.py").write_text(
        "VALUE = os.environ['SCANNER_LIMIT_MB']\n# nothing else is in here\n"
    )
    (folder / "config.toml").write_text("[server]\nport = 80\n")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    commit(folder)
    return folder


def commit(folder: Path, *words: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x", *words)
    return git(folder, "rev-parse", "HEAD").strip()


def bound(folder: Path, text: str) -> list[Bound]:
    tree = Tree(str(folder))
    return bind(references(text, str(folder)), tree, commit=tree.head, at=1)


def become(folder: Path, found: list[Bound]) -> list[tuple[str, str]]:
    return [(one.state, one.where) for one in States(Tree(str(folder))).standings(found)]


def one_of(folder: Path, found: list[Bound]) -> Standing:
    (standing,) = States(Tree(str(folder))).standings(found)
    return standing


TEXT = "`handler()` in src/auth/middleware.py:4 reads SCANNER_LIMIT_MB and `server.port`; see src/auth/"


def test_what_is_as_it_was_is_fresh(project: Path) -> None:
    found = bound(project, TEXT)
    assert [one.reference.kind for one in found] == ["symbol", "file", "variable", "key", "file"]
    (project / "src" / "auth" / "middleware.py").write_text(
        f"import os\n\n{HANDLER}\n\ndef more():\n    pass\n"
    )
    assert become(project, found) == [("fresh", "")] * 5


def test_a_file_that_git_renamed_has_moved_with_its_line_and_its_symbol(project: Path) -> None:
    found = bound(project, TEXT)
    (project / "src" / "security").mkdir()
    git(project, "mv", "src/auth/middleware.py", "src/security/auth.py")
    assert become(project, found)[:2] == [
        ("moved", "src/security/auth.py:3"),
        ("moved", "src/security/auth.py:4"),
    ]
    moved = commit(project)
    standing = States(Tree(str(project))).standings(found)[1]
    assert (standing.where, standing.commit) == ("src/security/auth.py:4", moved)


def test_a_file_that_is_gone_names_the_commit(project: Path) -> None:
    found = bound(project, "src/auth/middleware.py")
    (project / "src" / "auth" / "middleware.py").unlink()
    assert (one_of(project, found).state, one_of(project, found).commit) == ("gone", "")
    gone = commit(project)
    commit(project)
    assert (one_of(project, found).state, one_of(project, found).commit) == ("gone", gone)


def test_a_merge_does_not_hide_who_removed_a_file(project: Path) -> None:
    found = bound(project, "src/auth/middleware.py")
    git(project, "checkout", "-q", "-b", "side")
    (project / "src" / "auth" / "middleware.py").unlink()
    gone = commit(project)
    git(project, "checkout", "-q", "main")
    (project / "more.txt").write_text("more\n")
    commit(project)
    git(project, "merge", "-q", "--no-edit", "side")
    assert (one_of(project, found).state, one_of(project, found).commit) == ("gone", gone)


def test_nothing_is_said_of_what_another_branch_has(project: Path) -> None:
    git(project, "checkout", "-q", "-b", "feature")
    (project / "src" / "new.py").write_text("def brand_new():\n    return 'of the feature alone'\n")
    commit(project)
    found = bound(project, "src/new.py has `brand_new()`")
    git(project, "checkout", "-q", "main")
    commit(project)
    assert become(project, found) == [("unknown", ""), ("unknown", "")]


def test_a_history_written_anew_is_still_read(project: Path) -> None:
    found = [
        one._replace(commit="1" * 40, at=4_000_000_000) for one in bound(project, "src/auth/middleware.py")
    ]
    assert one_of(project, found).state == "fresh"
    (project / "src" / "auth" / "middleware.py").unlink()
    assert one_of(project, found).state == "gone"


def on_a_branch(project: Path, text: str) -> list[Bound]:
    """What is bound on a branch that has a file and a function more."""
    git(project, "checkout", "-q", "-b", "feature")
    (project / "src" / "new.py").write_text("NEW = 'of the feature alone, as nobody else has it'\n")
    other = project / "src" / "other.py"
    other.write_text(f"{other.read_text()}\ndef brand_new():\n    return 2\n")
    commit(project)
    return bound(project, text)


def test_a_branch_that_was_squashed_and_removed_is_part_of_the_history(project: Path) -> None:
    found = on_a_branch(project, "src/new.py, `brand_new()` and `handler()`")
    git(project, "checkout", "-q", "main")
    git(project, "merge", "-q", "--squash", "feature")
    commit(project)
    git(project, "branch", "-q", "-D", "feature")
    assert become(project, found) == [("fresh", "")] * 3
    (project / "src" / "new.py").unlink()
    (project / "src" / "auth" / "middleware.py").write_text("nothing = 1\n")
    commit(project)
    assert [state for state, _ in become(project, found)] == ["gone", "fresh", "gone"]


def test_nothing_is_said_of_a_branch_that_was_rebased_and_is_not_checked_out(project: Path) -> None:
    found = on_a_branch(project, "src/new.py and `brand_new()`")
    git(project, "checkout", "-q", "main")
    commit(project)
    git(project, "checkout", "-q", "feature")
    git(project, "rebase", "-q", "main")
    git(project, "checkout", "-q", "main")
    assert become(project, found) == [("unknown", ""), ("unknown", "")]


def test_nothing_is_said_of_a_commit_before_what_is_named(project: Path) -> None:
    found = on_a_branch(project, "src/new.py and `brand_new()`")
    git(project, "checkout", "-q", "HEAD^")
    assert become(project, found) == [("unknown", ""), ("unknown", "")]


def test_names_with_spaces_and_any_letters_are_followed(project: Path) -> None:
    for name in ("My Notes.md", "Größe.md", "Notes.md"):
        (project / name).write_text(f"what stands in {name} alone, and in no other file\n")
    commit(project)
    found = bound(project, "see `My Notes.md` and Größe.md")
    assert [one.path for one in found if one.reference.start != 8] == ["My Notes.md", "Größe.md"]
    git(project, "mv", "My Notes.md", "Your\nNotes.md")
    git(project, "mv", "Größe.md", "maße.md")
    commit(project)
    assert become(project, [found[0], found[-1]]) == [("moved", "Your\nNotes.md"), ("moved", "maße.md")]


def test_a_target_that_went_into_an_included_file_is_still_there(project: Path) -> None:
    (project / "Makefile").write_text("build clean: x\n\tgo build\n\nship:\n\tsh ship.sh\n")
    commit(project)
    found = bound(project, "make clean, `make ship`, make sure it works, make install")
    assert [one.reference.name for one in found] == ["make clean", "make ship"]
    (project / "Makefile").write_text("all:\n\techo\n\ninclude more.mk\n")
    (project / "more.mk").write_text("ship:\n\tsh ship.sh\n")
    commit(project)
    assert become(project, found) == [("gone", ""), ("fresh", "")]


def test_scripts_of_any_workspace_count_and_a_broken_file_tells_nothing(project: Path) -> None:
    (project / "packages" / "web").mkdir(parents=True)
    (project / "package.json").write_text('{"scripts": {"lint": "b"}, "devDependencies": {"vite": "^5"}}')
    (project / "packages" / "web" / "package.json").write_text('{"scripts": {"dev": "vite"}}')
    commit(project)
    found = bound(project, "`npm run dev`, `pnpm lint`, `npx vite`, npm test")
    assert len(found) == 3
    (project / "package.json").write_text('{"scripts": {"dev": "other", "lint"')
    assert become(project, found) == [("fresh", ""), ("unknown", ""), ("unknown", "")]
    (project / "package.json").write_text('{"scripts": {"dev": "vite"}}')
    (project / "packages" / "web" / "package.json").unlink()
    commit(project)
    assert [state for state, _ in become(project, found)] == ["fresh", "gone", "gone"]


def test_a_variable_that_is_only_in_a_file_kept_from_git_is_still_there(project: Path) -> None:
    (project / "compose.yml").write_text(
        "services:\n  db:\n    environment:\n      POOL_SIZE: 3\n      DB_FILE: x\n"
    )
    (project / ".gitignore").write_text(".env\n")
    commit(project)
    found = bound(project, "POOL_SIZE, DB_FILE and `services.db`")
    (project / "compose.yml").write_text("services:\n  pg:\n    image: x\n")
    (project / ".env").write_text("POOL_SIZE=3\n")
    commit(project)
    assert [state for state, _ in become(project, found)] == ["fresh", "gone", "gone"]


def test_what_git_never_had_is_missing_and_not_gone(project: Path) -> None:
    (project / ".gitignore").write_text("dist/\n")
    (project / "dist").mkdir()
    (project / "dist" / "out.js").write_text("built\n")
    commit(project)
    found = bound(project, "dist/out.js in dist/")
    (project / "dist" / "out.js").unlink()
    (project / "dist").rmdir()
    assert become(project, found) == [("unknown", ""), ("unknown", "")]


def test_a_worktree_is_judged_by_its_own_files(project: Path, tmp_path: Path) -> None:
    found = bound(project, "src/auth/middleware.py")
    git(project, "worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    (tmp_path / "beside" / "src" / "auth" / "middleware.py").unlink()
    commit(tmp_path / "beside")
    assert one_of(tmp_path / "beside", found).state == "gone"
    assert one_of(project, found).state == "fresh"


def test_a_sparse_checkout_has_what_it_left_out(project: Path) -> None:
    found = bound(project, TEXT)
    git(project, "sparse-checkout", "set", "--no-cone", "/config.toml")
    assert not (project / "src" / "auth").exists()
    assert {state for state, _ in become(project, found)} <= {"fresh", "unknown"}
    assert become(project, found)[1] == ("fresh", "")


def test_nothing_is_said_of_a_submodule_that_is_not_there(project: Path, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "code.py").write_text("code = 1\n")
    git(tmp_path / "inner", "init", "-q")
    commit(tmp_path / "inner")
    git(
        project,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(tmp_path / "inner"),
        "vendor/inner",
    )
    commit(project)
    found = bound(project, "vendor/inner/code.py")
    assert one_of(project, found).state == "fresh"
    git(project, "submodule", "deinit", "-q", "-f", "vendor/inner")
    assert one_of(project, found).state == "unknown"


def test_without_git_digests_tell(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("what = 'this file says and no other one does'\n")
    (tmp_path / "b.py").write_text("gone = 'for good, since nobody has it any more'\n")
    found = bound(tmp_path, "a.py and b.py")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").rename(tmp_path / "sub" / "z.py")
    (tmp_path / "b.py").unlink()
    assert become(tmp_path, found) == [("moved", "sub/z.py"), ("gone", "")]


def test_a_name_that_several_places_define_is_never_bound(project: Path) -> None:
    (project / "src" / "twice.py").write_text(HANDLER)
    assert bound(project, "`handler()`") == []
    assert [one.path for one in bound(project, "`middleware.handler()`")] == ["src/auth/middleware.py"]


def test_what_the_project_never_had_is_never_bound(project: Path) -> None:
    text = "src/never.py, `never_there()`, `npm run nothing`, NEVER_SET_BY and `no.such`; http://localhost:80/src/other.py"
    assert bound(project, text) == []


def test_time_that_is_up_tells_nothing(project: Path) -> None:
    found = bound(project, "`handler()` in src/auth/middleware.py:4, `server.port`")
    (project / "src" / "auth" / "middleware.py").unlink()
    (project / "config.toml").unlink()
    late = States(Tree(str(project), until=0.0)).standings(found)
    assert {one.state for one in late} == {"unknown"}


def test_nothing_that_a_repository_names_is_run_and_no_link_is_read(project: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (project / ".gitattributes").write_text("* diff=evil filter=evil\n")
    commit(project)
    found = bound(project, TEXT)
    run = f"touch {trap}; cat"
    for name in (
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.fsmonitor",
    ):
        git(project, "config", name, run)
    (project / "src" / "auth" / "middleware.py").unlink()
    os.mkfifo(project / "src" / "auth" / "middleware.py")
    (tmp_path / "secret.py").write_text(HANDLER)
    (project / "src" / "link.py").symlink_to(tmp_path / "secret.py")
    assert {one.state for one in States(Tree(str(project))).standings(found)} <= {
        "fresh",
        "changed",
        "gone",
        "unknown",
    }
    assert Tree(str(project)).text("src/link.py") is None
    assert not trap.exists()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see src/a.py:12, lib/b.ts#L3 and docs/",
         [("file", "src/a.py", 12), ("file", "lib/b.ts", 3), ("file", "docs", 0)]),
        ("run `pnpm run build` or make check", [("command", "pnpm build", 0), ("command", "make check", 0)]),
        ("`Store.apply` calls parse_all() and `mod::run()`",
         [("symbol", "Store.apply", 0), ("symbol", "parse_all", 0), ("symbol", "mod.run", 0)]),
        ("set DATABASE_URL or `server.size`", [("variable", "DATABASE_URL", 0), ("key", "server.size", 0)]),
        ("/work/x/src/a.py and ~/y/b.py and ../c.py", [("file", "src/a.py", 0)]),
        ("see https://example.org/src/a.py and http://localhost:3000/api/x.js", []),
        ("Anna likes tea, e.g. in the evening and/or at 10:30", []),
    ],
)  # fmt: skip
def test_what_a_text_names(text: str, named: list[tuple[str, str, int]]) -> None:
    found = [(one.kind, one.name, one.line) for one in references(text, "/work/x")]
    assert [one for one in found if one[1] != "and/or"] == named


def test_a_reference_is_told_once() -> None:
    assert references("src/a.py src/a.py `run_it()` run_it()")[1:] == (
        Reference("symbol", "run_it()", "run_it", 0, 19),
    )


def test_a_git_that_cannot_answer_tells_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bound(project, "SCANNER_LIMIT_MB and `server.port` and `handler()`")
    (project / "src" / "auth" / "middleware.py").unlink()
    (project / "src" / "other.py").unlink()
    (project / "config.toml").unlink()
    monkeypatch.setenv("PATH", str(project))
    assert {state for state, _ in become(project, found)} == {"unknown"}


def test_what_was_moved_and_not_committed_has_moved(project: Path) -> None:
    found = bound(project, "src/other.py and src/auth/")
    (project / "src" / "other.py").rename(project / "elsewhere.py")
    git(project, "mv", "src/auth", "src/login")
    assert become(project, found) == [("moved", "elsewhere.py"), ("moved", "src/login")]
