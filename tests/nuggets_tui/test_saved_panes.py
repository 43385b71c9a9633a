"""An arrangement of the panes is kept outside the memory, and whatever stands in its file harms nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.personal.unsaved_files import unsaved_folder
from nuggets_tui.pane_sizes import FILE, save_panes, saved_panes


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    return {"NUGGETS_STATE": str(tmp_path / "state")}


def test_what_is_kept_is_there_again_and_the_memory_is_not_touched(
    tmp_path: Path, state: dict[str, str]
) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    assert saved_panes(home, state) == {}
    assert save_panes(home, {"facts": 0.3, "top": 0.7}, state)
    assert saved_panes(home, state) == {"facts": 0.3, "top": 0.7}
    assert saved_panes(tmp_path / "other", state) == {}
    assert list(home.iterdir()) == []


def test_where_nothing_may_be_kept_nothing_is(tmp_path: Path) -> None:
    assert not save_panes(tmp_path, {"facts": 0.3}, {"NUGGETS_STATE": "off"})
    assert saved_panes(tmp_path, {"NUGGETS_STATE": "off"}) == {}


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[1]", b"\xff", b"{", b'{"facts": 1}', b'{"facts": 0}', b'{"facts": "0.5"}', b'{"facts": NaN}',
     b'{"facts": true}', b'{"facts": -0.5}', b"[" * 9000],
)  # fmt: skip
def test_what_makes_no_sense_counts_for_nothing(tmp_path: Path, state: dict[str, str], body: bytes) -> None:
    save_panes(tmp_path / "memory", {"facts": 0.3}, state)
    folder = unsaved_folder(tmp_path / "memory", state)
    assert folder is not None
    (folder / FILE).write_bytes(body)
    assert saved_panes(tmp_path / "memory", state) == {}


@given(st.dictionaries(st.text(max_size=9), st.floats(0.001, 0.999), max_size=5))
def test_any_shares_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, shares: dict[str, float]
) -> None:
    folder = tmp_path_factory.mktemp("one")
    state = {"NUGGETS_STATE": str(folder / "state")}
    save_panes(folder / "memory", shares, state)
    assert saved_panes(folder / "memory", state) == shares
