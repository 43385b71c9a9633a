"""What the log says of changed settings and searches."""

from pathlib import Path

from core.graph.edits import create_note
from core.memory import Memory
from core.model.saved_search import SavedSearch
from nuggets_tui.words import deed


def test_the_log_names_what_was_set_and_kept_and_taken_back(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    memory.change("begun", lambda draft: create_note(draft, "", "Alpha", "beta"))

    def said() -> str:
        told = deed(memory.history.log(limit=1)[0].change_set)
        return f"{told.verb} {told.what}"

    memory.save_settings({"search.text_weight": 0.3})
    assert said() == "set search.text_weight to 0.3"
    memory.history.undo()
    assert said() == "undid: set search.text_weight to 0.3"
    memory.save_settings({"search.text_weight": 0.3, "search.pair_weight": 0.1})
    assert said().startswith("set 2 settings: ")
    memory.save_settings({"search.pair_weight": None})
    assert said() == "set search.pair_weight to its default"
    memory.searches.save(SavedSearch("one", "alpha"))
    assert said() == 'saved the search "one"'
    memory.searches.save(SavedSearch("one", "beta"), instead_of="one")
    assert said() == 'changed the search "one"'
    memory.searches.save(SavedSearch("two", "beta"))
    memory.searches.delete(["one", "two"])
    assert said().startswith("deleted 2 searches: ")
