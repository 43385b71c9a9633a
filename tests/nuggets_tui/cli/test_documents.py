"""Documents on the command line: added, worked on by the daemon, found, removed and brought back."""

from __future__ import annotations

from typing import Any

import pytest
from kits.service_kit import configure

from core.pipeline.database.connection import Database
from core.workspace import has_pipeline


def rows(nuggets: Any, table: str) -> int:
    database = Database.open(nuggets.home)
    try:
        found = database.reading.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    finally:
        database.close()
    return int(found[0])


def test_a_file_is_added_indexed_by_the_daemon_found_removed_and_back(nuggets: Any, tmp_path: Any) -> None:
    path = tmp_path / "design.md"
    path.write_text("# Retry policy\n\nThe quetzal client retries five times.\n")
    (added,) = nuggets.json("document", "add", str(path))
    assert (added["outcome"], added["status"], added["source"]) == ("new", "queued", str(path))
    assert nuggets.json("document", "add", str(path))[0]["outcome"] == "known"
    assert "queued" in nuggets.ok("document")
    early = nuggets("document", "search", "quetzal")
    assert (early.exit_code, early.stdout.splitlines()[1]) == (
        1, "1 document is not searchable yet: nuggets document",
    )  # fmt: skip
    assert "1 document indexed" in nuggets("daemon", "--once").stderr
    assert "searchable, 1 chunk" in nuggets.ok("document", "list")
    (hit,) = nuggets.json("document", "search", "quetzal")
    assert (hit["documentId"], hit["tag"]) == (added["id"], "document:Retry policy")
    assert "five times" in nuggets.ok("document", "show", str(path), "--text")
    assert "document restore" in nuggets.ok("document", "remove", str(path))
    assert nuggets("document", "search", "quetzal").exit_code == 1
    nuggets.ok("document", "restore", added["id"])
    assert nuggets.json("document", "search", "quetzal")
    assert nuggets.json("pipeline")["documents"] == 1


def test_a_document_needs_no_model_and_its_work_is_told(nuggets: Any) -> None:
    configure(nuggets.home, '[pipeline.extraction]\nprovider = "none"')
    nuggets.ok("document", "add", "-", input="The quetzal sings.")
    assert "1 document to index" in nuggets.ok("pipeline")
    assert nuggets("daemon", "--once").exit_code == 0
    assert nuggets.json("document", "search", "quetzal")


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (("no-such-file",), "", "cannot be read"),
        (("",), "", "empty"),
        ((".",), "", "cannot be read"),
        (("-",), "", "Empty content"),
        (("-",), b"caf\xe9", "not UTF-8"),
        (("-",), b"a\0b", "no text"),
        (("-",), "x" * 2_000, "Content too large"),
        (("http://me:pw@site.test/",), "", "password"),
        (("https://site.test:22/",), "", "port 22"),
        (("-", "--nugget", "../evil"), "text", "evil"),
        (("a", "b", "--title", "T"), "", "--title"),
    ],
)
def test_what_cannot_be_added_is_one_error_and_nothing_is_kept(
    nuggets: Any, arguments: tuple[str, ...], given: Any, said: str
) -> None:
    configure(nuggets.home, "[pipeline.documents]\nmax_content_bytes = 1024")
    done = nuggets("document", "add", *arguments, input=given)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert rows(nuggets, "documents") == 0


def test_before_anything_was_added_nothing_is_found_and_nothing_made(nuggets: Any) -> None:
    assert nuggets.json("document") == []
    assert "No documents" in nuggets.ok("document")
    assert nuggets("document", "search", "x").exit_code == 1
    nuggets.fails("document", "remove", "doc-1", code=1)
    assert not has_pipeline(nuggets.home)
