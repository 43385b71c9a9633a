"""Which parts of a text are read as files, and which are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE, RAW

from core.text.file_references import file_references, is_path


def read(text: str) -> list[str]:
    return [str(reference) for reference in file_references(text)]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Handled in src/auth/middleware.ts:47.", ["src/auth/middleware.ts:47"]),
        ("Handled in `src/auth/middleware.ts`, with tokens", ["src/auth/middleware.ts"]),
        ("./x.py:12:3 fails", ["./x.py:12:3"]),
        ("path/to/file.md#L10 and (docs/x.md#L3-L9)", ["path/to/file.md:10", "docs/x.md:3"]),
        ("src/a.py#L10C4", ["src/a.py:10:4"]),
        ("src/a.py:9: error: no such thing", ["src/a.py:9"]),
        ("src/a.rs:1-9", ["src/a.rs:1"]),
        ("[the text](docs/note.md)", ["docs/note.md"]),
        ("--config=conf/app.toml:2", ["conf/app.toml:2"]),
        ("tests/test_a.py::test_name", ["tests/test_a.py"]),
        (
            "Makefile:3, bin/run:12, .github/workflows/ci.yml",
            ["Makefile:3", "bin/run:12", ".github/workflows/ci.yml"],
        ),
        ("~/notes/a.md and /etc/hosts:3", ["~/notes/a.md", "/etc/hosts:3"]),
        (r"C:\code\a.py:12", [r"C:\code\a.py:12"]),
        ("日本/語.py:3", ["日本/語.py:3"]),
        ("a.py, b.py; c.py.", ["a.py", "b.py", "c.py"]),
    ],
)
def test_files_are_read_as_people_and_compilers_write_them(text: str, files: list[str]) -> None:
    assert read(text) == files


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/a/b.py:3", "see http://localhost:8080/x.py#L3", "file:///etc/passwd",
        "mailto:a@b.py", "www.example.com/x.html", "//host/share/x.py", r"\\host\share\x.py",
        "github.com/foo/bar and example.com/index.html", "e.g. this and/or that, i.e. those",
        "at 10:30, localhost:8080, 1.2.3, v2.0.1, 3/4, 12:30:45", "someone@example.com user@host.py",
        "tid:3 and auth:1", "... / . .. ~ :1 #L1",
    ],
)  # fmt: skip
def test_what_is_no_file_is_not_read(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_around_a_file_changes_nothing_about_it(hostile: str) -> None:
    assert "src/a.py:3" in read(f"{hostile[:5000]}\nsrc/a.py:3 {hostile}")


@given(st.text(max_size=200))
def test_a_path_is_one_harmless_word_of_the_text(text: str) -> None:
    end = 0
    for reference in file_references(text):
        said = text[reference.start : reference.end]
        assert said.startswith(reference.path)
        assert reference.start >= end
        end = reference.end
        assert not RAW.search(reference.path)
        assert not set(reference.path) & set(" \n\t\"'`;|<>*?(){}[]!")
        assert "://" not in said
        assert reference.line >= 0 <= reference.column


def test_a_long_text_names_so_many_files_at_most() -> None:
    assert len(file_references("src/a.py:1 " * 10_000)) == 200
    assert read("a/" * 50_000) == []


@pytest.mark.parametrize(
    "text",
    [
        "src/auth/middleware.ts:47", "src/server/main.ts", "~/dev/foo", "~/.zshrc", "./run", "../x",
        "/etc/hosts", "/usr/local/bin/", "/home/me/cv.pdf", "C:\\Users\\me\\x.txt", "C:\\Users\\me",
        "src/auth/", "src/a.ts, src/b.ts", "`src/a.ts`", "tests/test_x.py::test_a", "file:///home/me/x.py",
        "$HOME/dev/x", "app.py:47", "/Users/me/My Documents/a.txt", ".github/workflows/ci.yml", ".github/",
        "src/a.ts:10-20", "src\\a.ts", "${HOME}/x", "/tmp", "docs/a.md#L10", "Übersicht/größe.md",
    ],
)  # fmt: skip
def test_a_text_that_is_nothing_but_paths_is_told(text: str) -> None:
    assert is_path(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "and/or", "/help", "/deploy", "24/7", "km/h", "TCP/IP", "n/a", "text/html",
        "https://a.b/c.html", "github.com/me/repo", "Node.js", "example.org", "README.md", "blue",
        "see src/a.ts", "npm run build", "pytest tests/ -v", "make", "1/2", "/", "~", "..", "//", "w/o",
        "@scope/pkg", "10.0.0.1/24", "git@github.com:me/repo.git", "user:pw@host/x", "12:30",
        "localhost:8080", ",,", "''", "2026/01/02", "yes / no", "/api/users",
    ],
)  # fmt: skip
def test_other_texts_are_no_paths(text: str) -> None:
    assert not is_path(text)


@pytest.mark.parametrize("piece", ["/a", "a/", "~/.", "a.b/", "((", "C:\\", "src/a.py "])
def test_a_long_text_is_no_path(piece: str) -> None:
    assert not is_path(piece * 100_000)
    assert not is_path(piece * 190 + "!")
