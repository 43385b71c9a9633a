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
