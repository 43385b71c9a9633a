"""Parts of documents are found beside notes, marked as such, and never in the place of one."""

from __future__ import annotations

import json
from typing import Any

import pytest

RETRIES = "The quetzal client retries five times, then it waits for ten minutes."


@pytest.fixture
def found_in(nuggets: Any, tmp_path: Any) -> Any:
    """A memory with a note, and a document that says more."""
    nuggets.ok(
        "note", "add", "Client timeouts", "The client gives up after thirty seconds.", "--nugget", "ops"
    )
    path = tmp_path / "design.md"
    path.write_text(f"# Retry policy\n\n{RETRIES}\n")
    nuggets.ok("document", "add", str(path))
    assert nuggets("daemon", "--once").exit_code == 0
    return nuggets


@pytest.mark.slow
def test_search_lists_a_part_of_a_document_with_its_title_place_and_score(found_in: Any) -> None:
    listed = found_in.json("search", "quetzal client retries")
    (passage,) = [one for one in listed if one.get("kind") == "document"]
    assert (passage["title"], passage["part"], passage["sure"]) == ("Retry policy", 1, True)
    assert passage["blended"] == pytest.approx(passage["textScore"] + passage["vectorScore"])
    assert {"quetzal", "client", "retries"} <= set(passage["matched"])
    (note,) = [one for one in listed if "kind" not in one]
    assert passage["blended"] > note["blended"]
    assert [one["blended"] for one in listed] == sorted((one["blended"] for one in listed), reverse=True)
    said = found_in.ok("search", "quetzal client retries")
    assert f"document Retry policy  {passage['documentId']}, part 1" in said
    assert found_in.ok("document", "show", passage["documentId"], "--text").count("retries five times") == 1


def test_a_recall_names_the_parts_of_documents_that_may_answer(found_in: Any) -> None:
    answer = found_in("recall", "how often does the quetzal client retry", "--json")
    assert answer.exit_code == 1
    (passage,) = json.loads(answer.stdout)["passages"]
    assert RETRIES in passage["text"]
    plain = found_in("recall", "how often does the quetzal client retry")
    assert "document Retry policy" in plain.stdout
    assert "may" in plain.stderr


def test_conditions_choose_documents_alone_or_none(found_in: Any) -> None:
    alone = found_in.json("search", "client is:document")
    assert [one.get("kind") for one in alone] == ["document"]
    assert all("kind" not in one for one in found_in.json("search", "client -is:document"))
    assert all("kind" not in one for one in found_in.json("search", "client is:note"))
    assert all("kind" not in one for one in found_in.json("search", "client +thirty"))
    assert "document" not in found_in("search", "client tag:none", "--json").stdout
