"""Which folder holds the notes of the team that a person works for."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import ErrorCode, InvalidInputError, NuggetsError
from core.folder import folder_in_reach, team_folder
from core.memory import Memory
from core.user_folders import team_near


def test_the_nearest_folder_upwards_is_the_teams(tmp_path: Path) -> None:
    outer, inner = tmp_path / ".nuggets" / "notes", tmp_path / "part" / ".nuggets" / "notes"
    deep = tmp_path / "part" / "src" / "deep"
    deep.mkdir(parents=True)
    assert team_folder(deep) is None
    outer.mkdir(parents=True)
    assert team_folder(deep) == team_folder(tmp_path) == outer
    inner.mkdir(parents=True)
    assert team_folder(deep) == inner


def test_a_name_means_the_folder_of_a_project_or_is_refused(tmp_path: Path) -> None:
    notes = tmp_path / "shop" / ".nuggets" / "notes"
    notes.mkdir(parents=True)
    for named in (str(notes), str(tmp_path / "shop"), "shop", "shop/.nuggets/notes/", "./other/../shop"):
        assert folder_in_reach(tmp_path, named, {}) == notes
        assert folder_in_reach(tmp_path, "off", {"NUGGETS_TEAM": named}) == notes
    for named in (
        "shop/.nuggets",
        "gone",
        ".",
        "shop/.nuggets/notes/deep",
        "nul\0byte",
        "~nobody-is-called-so",
    ):
        with pytest.raises(InvalidInputError, match="is no folder of a team's notes"):
            folder_in_reach(tmp_path, named, {})


@pytest.mark.parametrize("link", [".nuggets", ".nuggets/notes"])
def test_a_link_that_leads_out_of_the_project_is_no_teams_folder(tmp_path: Path, link: str) -> None:
    private = tmp_path / "private"
    (private / "notes").mkdir(parents=True)
    place = tmp_path / "project" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(private if link == ".nuggets" else private / "notes")
    assert team_folder(tmp_path / "project") is None
    assert folder_in_reach(tmp_path / "project", "", {}) is None
    assert team_near(str(tmp_path / "project")) == ""


@pytest.mark.parametrize("link", [".nuggets", ".nuggets/notes"])
def test_a_link_out_of_the_project_is_no_memory_even_where_somebody_names_it(
    tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "notes").mkdir(parents=True)
    page = outside / "notes" / "own.md"
    page.write_text("# Own\n\nMine.\n")
    place = tmp_path / "project" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside if link == ".nuggets" else outside / "notes")
    with pytest.raises(NuggetsError) as refused:
        Memory.open(tmp_path / "project" / ".nuggets" / "notes")
    assert refused.value.code == ErrorCode.LINK_OUT_OF_FOLDER
    assert page.read_text() == "# Own\n\nMine.\n"
