"""Files that a note names: found where they lie, never outside of the project by a relative path; no shell is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model.judgement import Standing
from core.text.file_references import FileReference, file_references
from nuggets_tui.file_opening import editor_command, files_named, find, has_a_window, roots_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "auth.ts").write_text("1\n2\n")
    (tmp_path / "outside.py").write_text("")
    return root


def found(text: str, folder: Path) -> list[Path | None]:
    return [one.path for one in files_named(text, folder)]


def test_a_file_is_looked_for_in_the_folder_and_in_the_root_of_its_repository(project: Path) -> None:
    there = project / "src" / "auth.ts"
    assert found("see src/auth.ts:2", project) == [there]
    assert found("see src/auth.ts:2", project / "src" / "deep") == [there]
    assert found("see ./auth.ts", project / "src") == [there]
    assert found("see ../auth.ts", project / "src" / "deep") == [there]
    assert found(r"see src\auth.ts:2", project) == [there]
    assert found("see other.ts:2 and src/deep:1", project) == [None, None]


def test_a_file_that_moved_is_opened_where_it_is_now(project: Path) -> None:
    (project / "src" / "login.ts").write_text("1\n2\n3\n")
    moved = Standing("src/old.ts:1", "file", "src/old.ts", "moved", "src/login.ts:3")
    gone = Standing("src/gone.ts", "file", "src/gone.ts", "gone")
    named = files_named("see src/old.ts:1, src/gone.ts and src/auth.ts", project, (moved, gone))
    assert [(str(one.reference), one.path is not None) for one in named] == [
        ("src/login.ts:3", True), ("src/gone.ts", False), ("src/auth.ts", True),
    ]  # fmt: skip


def test_a_relative_path_never_leads_out_of_the_project(project: Path) -> None:
    assert found("see ../outside.py", project) == [None]
    assert found("see src/../../outside.py", project / "src") == [None]
    assert roots_of(project / "src") == (project / "src", project)


def test_an_absolute_path_outside_of_the_project_is_found_and_said_to_be_there(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = project.parent / "outside.py"
    (reference,) = file_references(f"see {outside}:3")
    assert find(reference, project) == (reference, outside, True)
    monkeypatch.setenv("HOME", str(project.parent))
    (reference,) = file_references("see ~/outside.py:3")
    assert find(reference, project) == (reference, outside, True)
    (reference,) = file_references(f"see {project}/src/auth.ts")
    assert find(reference, project).surprising is False


def test_only_ordinary_files_are_found(project: Path) -> None:
    (project / "folder.py").mkdir()
    assert found("folder.py /dev/null:1 /dev/stdin:1", project) == [None, None, None]
    assert find(FileReference("nul\x00.py"), project).path is None
    assert find(FileReference("~nobody-of-this-name/x.py"), project).path is None
    assert find(FileReference("x" * 5000 + ".py"), project).path is None


def test_each_place_is_listed_once(project: Path) -> None:
    assert len(files_named("src/auth.ts:1, src/auth.ts:1 and src/auth.ts:2", project)) == 2


def test_each_editor_is_told_the_line_in_its_own_way() -> None:
    for editor, command in [
        ("vim", ["vim", "+12", "FILE"]),
        ("/usr/bin/nvim", ["/usr/bin/nvim", "+12", "FILE"]),
        ("nano", ["nano", "+12,3", "FILE"]),
        ("emacs", ["emacs", "+12:3", "FILE"]),
        ("micro", ["micro", "+12:3", "FILE"]),
        ("kak", ["kak", "+12:3", "FILE"]),
        ("hx", ["hx", "FILE:12:3"]),
        ("code", ["code", "-g", "FILE:12:3"]),
        ("Cursor.exe", ["Cursor.exe", "-g", "FILE:12:3"]),
        ("subl", ["subl", "FILE:12:3"]),
        ("zed", ["zed", "FILE:12:3"]),
        ("pycharm.sh", ["pycharm.sh", "--line", "12", "--column", "3", "FILE"]),
        ("kate", ["kate", "-l", "12", "-c", "3", "FILE"]),
        ("ed-of-my-own", ["ed-of-my-own", "FILE"]),
    ]:
        path = Path("/a/b c; rm -rf $HOME.py")
        assert editor_command([editor], path, 12, 3) == [word.replace("FILE", str(path)) for word in command]
        assert editor_command([editor, "--wait"], path) == [editor, "--wait", str(path)]


def test_words_of_the_editors_own_command_stay_in_front() -> None:
    assert editor_command(["code", "--wait"], Path("/a.py"), 7) == ["code", "--wait", "-g", "/a.py:7"]
    assert editor_command(["nvim", "-p"], Path("/a.py"), 7) == ["nvim", "-p", "+7", "/a.py"]


def test_editors_in_a_terminal_and_those_with_a_window_are_told_apart() -> None:
    assert [has_a_window([name]) for name in ("vim", "hx", "code", "zed", "else")] == [
        False,
        False,
        True,
        True,
        False,
    ]
