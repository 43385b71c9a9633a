"""Entities in the app: two that are one thing are merged after a look, another name is given, and both are undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, opened, small_memory
from kits.service_kit import configure, open_pipeline

from core.pipeline.database.connection import Database
from core.pipeline.records import Entity
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.entities import AliasScreen, EntityPicker, MergeReview
from nuggets_tui.screens.pipeline import PipelineScreen
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]
TEXTS = (
    "We use PostgreSQL for billing. PostgreSQL likes fast disks. Anna runs PostgreSQL with Grafana.",
    "Anna moved to Postgres last week. Today Postgres likes fast disks.",
    "Anna showed Grafana to Ben.",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory with texts that no model reads; the rules found the names in them."""
    home = tmp_path / "memory"
    small_memory(home)
    configure(home, '[pipeline.extraction]\nprovider = "none"')
    with open_pipeline(home) as pipeline:
        for text in TEXTS:
            pipeline.ingest(text)
        assert {"PostgreSQL", "Postgres", "Grafana", "Anna"} <= {one.name for one in pipeline.entities()}
    return home


def names(home: Path) -> dict[str, tuple[str, ...]]:
    """The entities with their other names."""
    database = Database.open(home)
    try:
        return {one.name: one.aliases for one in database.reading.entities.entities()}
    finally:
        database.close()


async def on_entity(app: Driver, name: str) -> PipelineScreen:
    """The list of entities with the cursor on one."""
    await app.press("i")
    screen = await app.screen(PipelineScreen)
    await app.until(lambda: screen.now_shown is not None and bool(screen.now_shown.entities))
    await app.press("3")
    await go_to(app, screen.entities, name)
    return screen


async def go_to(app: Driver, rows: RowList, name: str) -> None:
    """Puts the cursor on the row of an entity."""

    def here() -> str:
        row = rows.cursor_row
        return row.data.name if row is not None and isinstance(row.data, Entity) else ""

    await app.until(lambda: bool(here()))
    for _ in range(20):
        if here() == name:
            return
        await app.press("down")
        await app.pilot.pause()
    raise AssertionError(f"no entity {name}")


async def review(app: Driver, kept: str, other: str) -> MergeReview:
    """The review of a merge."""
    await on_entity(app, kept)
    await app.press("m")
    picker = await app.screen(EntityPicker)
    await app.until(lambda: picker.query_one(RowList).cursor_row is not None)
    await go_to(app, picker.query_one(RowList), other)
    await app.press("enter")
    return await app.screen(MergeReview)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_two_entities_are_merged_after_a_look_and_parted_with_one_key(
    home: Path, size: tuple[int, int]
) -> None:
    before = names(home)
    async with opened(home, size) as app:
        screen = await review(app, "PostgreSQL", "Postgres")
        await app.until(lambda: "Becomes another name" in screen.query_one(LineView).text)
        told = " ".join(screen.query_one(LineView).text.split())
        assert 'Merge "Postgres" into "PostgreSQL"?' in app.text
        assert "PostgreSQL stays" in told
        assert "likes fast disks said of both" in told
        assert names(home) == before
        await app.press("y")
        await app.until(lambda: "u undoes it" in app.notices)
        merged = names(home)
        assert merged["PostgreSQL"] == ("Postgres",)
        assert "Postgres" not in merged
        await app.press("u")
        await app.until(lambda: "two entities again" in app.notices)
        assert names(home) == before


async def test_the_other_name_is_kept_with_a_key_and_no_changes_nothing(home: Path) -> None:
    before = names(home)
    async with opened(home) as app:
        await review(app, "PostgreSQL", "Postgres")
        await app.press("n")
        await app.screen(PipelineScreen)
        assert names(home) == before
        await app.press("m")
        picker = await app.screen(EntityPicker)
        await go_to(app, picker.query_one(RowList), "Postgres")
        await app.press("enter")
        await app.screen(MergeReview)
        await app.press("w")
        await app.until(lambda: 'Merge "PostgreSQL" into "Postgres"?' in app.text)
        await app.press("y")
        await app.until(lambda: "u undoes it" in app.notices)
        assert names(home)["Postgres"] == ("PostgreSQL",)


async def test_the_entity_with_a_like_name_is_offered_first_and_others_are_found_by_name(home: Path) -> None:
    async with opened(home) as app:
        await on_entity(app, "PostgreSQL")
        await app.press("m")
        choices = (await app.screen(EntityPicker)).query_one(RowList)
        await app.until(lambda: choices.cursor_row is not None)
        assert choices.cursor_row is not None
        assert isinstance(choices.cursor_row.data, Entity)
        assert choices.cursor_row.data.name == "Postgres"
        await app.press("g", "r", "a", "f")
        await go_to(app, choices, "Grafana")


async def test_a_merge_of_another_day_is_undone_from_its_entity_after_a_question(home: Path) -> None:
    before = names(home)
    with open_pipeline(home) as pipeline:
        ids = {one.name: one.id for one in pipeline.entities()}
        pipeline.merge_entities(ids["PostgreSQL"], ids["Postgres"])
    async with opened(home) as app:
        await on_entity(app, "PostgreSQL")
        await app.press("u")
        await app.screen(ConfirmScreen)
        assert '"Postgres" was merged into "PostgreSQL"' in " ".join(app.text.split())
        await app.press("y")
        await app.until(lambda: "two entities again" in app.notices)
        assert names(home) == before


async def test_another_name_is_given_and_taken_back_and_one_that_is_taken_is_refused(home: Path) -> None:
    async with opened(home) as app:
        await on_entity(app, "PostgreSQL")
        await app.press("o")
        await app.screen(AliasScreen)
        await app.press("p", "g", "enter")
        await app.until(lambda: '"pg" means "PostgreSQL" now' in app.notices)
        assert names(home)["PostgreSQL"] == ("pg",)
        await app.press("u")
        await app.until(lambda: "is no name of" in app.notices)
        assert names(home)["PostgreSQL"] == ()
        await app.press("o")
        await app.screen(AliasScreen)
        await app.press(*"Grafana", "enter")
        await app.until(lambda: "another entity has this name" in app.notices.lower())
        assert names(home)["PostgreSQL"] == ()
