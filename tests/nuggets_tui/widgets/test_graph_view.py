"""The graph pane shows what surrounds a note and is walked with keys and mouse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input

from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from nuggets_tui.graph.near import GraphData, graph_data
from nuggets_tui.widgets.graph import GraphView

pytestmark = pytest.mark.slow


class Harness(App[None]):
    """An app with one picture and a field to take the focus away."""

    CSS = "Input { height: 1; border: none; }"

    def __init__(self) -> None:
        super().__init__()
        self.graph = GraphView(empty_text="Choose a note to see [/what] surrounds it.")
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.graph
        yield Input()

    def on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            self.graph.choose()
        elif event.key in ("left", "right", "up", "down"):
            self.graph.walk(event.key)  # type: ignore[arg-type]

    def on_graph_view_node_focused(self, event: GraphView.NodeFocused) -> None:
        self.heard.append(event)

    def on_graph_view_node_chosen(self, event: GraphView.NodeChosen) -> None:
        self.heard.append(event)

    @property
    def focused_nodes(self) -> list[str]:
        return [event.note_id for event in self.heard if isinstance(event, GraphView.NodeFocused)]

    @property
    def chosen(self) -> list[str]:
        return [event.note_id for event in self.heard if isinstance(event, GraphView.NodeChosen)]


def note(name: str, *to: str, hidden: bool = False, kind: str = "note") -> Note:
    links = tuple(Link(to=other, reason=f"{name} to {other}") for other in to)
    return Note(id=name, nugget_name="project", title=name, content="", links=links, hidden=hidden, kind=kind)


MEMORY = Snapshot(
    notes=(
        note("auth", "jwt", "cors", "ghost"),
        note("jwt", "auth", "keys"),
        note("cors", "list"),
        note("list"),
        note("keys", kind="fact"),
        note("ghost", hidden=True),
        note("asks", "auth"),
    )
)


def screen(graph: GraphView) -> list[str]:
    return [graph.render_line(y).text for y in range(graph.size.height)]


def middle(app: Harness, note_id: str) -> tuple[int, int]:
    box = app.graph.picture.box_of[note_id]
    return box.x + box.width // 2, box.row


@asynccontextmanager
async def running(app: Harness, size: tuple[int, int] = (60, 12)) -> AsyncIterator[Pilot[None]]:
    async with app.run_test(size=size) as pilot:
        app.graph.active = True
        await pilot.pause()
        yield pilot


async def drawn(pilot: Pilot[None]) -> None:
    """Wait until every layout that was asked for is on the screen."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_the_surroundings_are_drawn_around_the_marked_note() -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.show(MEMORY, "auth")
        await drawn(pilot)
        shown = "\n".join(screen(app.graph))
        assert "┃▌auth" in shown.replace("┃ auth", "┃▌auth")
        assert all(title in shown for title in ("jwt", "cors", "asks"))
        assert "ghost" not in shown
        assert "list" not in shown
        assert shown.rstrip().endswith("3 notes within 1 link · 1 hidden note")
        assert app.graph.cursor_id == "auth"


async def test_hidden_notes_are_ghosts_only_when_asked_for() -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.show(MEMORY, "auth", show_hidden=True)
        await drawn(pilot)
        assert "⊘ ghost" in "\n".join(screen(app.graph))


async def test_arrows_walk_along_links_and_say_why_the_link_is_there() -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.show(MEMORY, "auth", 2)
        await drawn(pilot)
        await pilot.press("up", "right")
        assert app.focused_nodes == ["auth", "jwt", "keys"]
        assert screen(app.graph)[-1].startswith("jwt to keys · jwt → keys")
        await pilot.press("left")
        assert app.focused_nodes[-1] == "jwt"
        await pilot.press("down")
        assert app.focused_nodes[-1] == "cors"
        assert screen(app.graph)[-1].startswith("auth to cors · auth → cors")
        assert any("━" in line or "┗" in line or "┏" in line for line in screen(app.graph))
        await pilot.press("left")
        assert app.graph.cursor_id == "auth"
        heard = len(app.heard)
        await pilot.press("left")
        assert len(app.heard) == heard


async def test_enter_and_a_second_click_choose() -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.show(MEMORY, "auth")
        await drawn(pilot)
        await pilot.press("enter")
        assert app.chosen == ["auth"]
        place = middle(app, "cors")
        await pilot.click(GraphView, offset=place)
        assert app.focused_nodes == ["auth", "cors"]
        assert app.chosen == ["auth"]
        await pilot.click(GraphView, offset=place)
        assert app.chosen == ["auth", "cors"]


async def test_a_reload_keeps_the_cursor_and_another_note_takes_it() -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.show(MEMORY, "auth")
        await drawn(pilot)
        await pilot.press("right", "down")
        at = app.graph.cursor_id
        app.graph.show(Snapshot(notes=(*MEMORY.notes, note("new", "auth"))), "auth")
        await drawn(pilot)
        assert "new" in "\n".join(screen(app.graph))
        assert app.graph.cursor_id == at
        app.graph.show(MEMORY, "cors")
        await drawn(pilot)
        assert app.graph.cursor_id == "cors"


async def test_the_last_picture_stays_until_the_newest_wish_is_drawn() -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.show(MEMORY, "auth")
        await drawn(pilot)
        before = screen(app.graph)
        for name in ("jwt", "cors", "list"):
            app.graph.show(MEMORY, name)
            assert screen(app.graph) == before
        await drawn(pilot)
        assert app.graph.cursor_id == "list"


async def test_no_note_shows_the_empty_text_and_a_lonely_one_says_so() -> None:
    app = Harness()
    async with running(app) as pilot:
        assert screen(app.graph)[0].startswith("Choose a note to see [/what] surrounds it.")
        app.graph.styles.width = 20
        await pilot.pause()
        assert [line.strip() for line in screen(app.graph)[:3]] == [
            "Choose a note to see",
            "[/what] surrounds",
            "it.",
        ]
        app.graph.styles.width = 60
        app.graph.show(Snapshot(notes=(note("alone"),)), "alone")
        await drawn(pilot)
        assert screen(app.graph)[-1].startswith("no links yet")
        beside = (note("alone", "gone"), note("gone", hidden=True))
        app.graph.show(Snapshot(notes=beside), "alone")
        await drawn(pilot)
        assert screen(app.graph)[-1].startswith("no visible notes within 1 link · 1 hidden note")
        app.graph.show(MEMORY, "not there")
        await drawn(pilot)
        assert screen(app.graph)[0].startswith("Choose a note")
        await pilot.press("right", "enter", "up")
        assert app.focused_nodes == ["alone", ""]
        assert app.chosen == []


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (5, 2), (6, 1), (12, 3), (200, 2)])
async def test_no_size_is_too_small(size: tuple[int, int]) -> None:
    app = Harness()
    async with running(app) as pilot:
        app.graph.styles.width, app.graph.styles.height = size
        app.graph.show(MEMORY, "auth", 3)
        await drawn(pilot)
        await pilot.press("right", "down", "enter")
        assert all(cell_len(line) == app.graph.size.width for line in screen(app.graph))


async def test_a_failing_layout_is_told_and_the_next_one_works() -> None:
    class Broken(Snapshot):
        @property
        def by_id(self) -> dict[str, Note]:  # type: ignore[override]
            raise RuntimeError("broken [/on] purpose")

    app = Harness()
    async with running(app) as pilot:
        app.graph.show(Broken(), "auth")
        await pilot.pause()
        while app.graph.busy:
            await pilot.pause()
        assert "could not be drawn: broken [/on] purpose" in screen(app.graph)[0]
        app.graph.show(MEMORY, "auth")
        await drawn(pilot)
        assert "cors" in "\n".join(screen(app.graph))


def test_graph_data_holds_the_links_between_all_notes_shown() -> None:
    data = graph_data(MEMORY, "auth", 2)
    assert [node.id for node in data.nodes] == ["auth", "jwt", "cors", "asks", "keys", "list"]
    assert {node.id: node.kind for node in data.nodes}["keys"] == "fact"
    assert {(edge.a, edge.b) for edge in data.edges} == {
        ("auth", "jwt"), ("jwt", "auth"), ("auth", "cors"), ("jwt", "keys"), ("cors", "list"), ("asks", "auth"),
    }  # fmt: skip
    assert graph_data(MEMORY, "nobody") == GraphData()


def test_graph_data_counts_what_it_leaves_out() -> None:
    hub = Snapshot(notes=(note("hub", *(f"n{n}" for n in range(500))), *(note(f"n{n}") for n in range(500))))
    data = graph_data(hub, "hub", limit=30)
    assert len(data.nodes) == 30
    assert data.left_out == {"hub": 471}
