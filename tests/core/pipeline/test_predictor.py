"""A predictor puts what a session begins with in order; off, failing or unknown it changes nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kits.service_kit import Clock, configure, open_pipeline

from core.briefing import Order, briefing
from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline import prediction as room
from core.pipeline.database.sessions import Averages, averaged
from core.pipeline.prediction import (
    Candidate,
    Features,
    NullPredictor,
    load_predictor,
    ndcg,
    run_predictor_scoring,
)
from core.pipeline.service import Pipeline
from core.pipeline.session_events import SessionEvent
from core.settings import load_settings
from core.settings.warnings import WarningKind

CANDIDATES = [Candidate(id, "web", "project", id, "") for id in ("a", "b", "c")]
FEATURES = [Features(place, 0, None, 1.0, False, False, False, 0, None) for place in (1, 2, 3)]
ENABLED = "[pipeline.predictor]\nenabled = true\n"
NO_MODEL = '[pipeline.extraction]\nprovider = "none"\n'
BACKWARDS = """
class Backwards:
    def score(self, candidates, features):
        assert [one.place for one in features] == list(range(1, len(candidates) + 1))
        return [one.place for one in features]
"""
MARKED = "from pathlib import Path\nPath(__file__).with_name('loaded').touch()\n"


class Saying:
    def __init__(self, said: object) -> None:
        self.said = said

    def score(self, candidates: Sequence[Candidate], features: Sequence[Features]) -> Sequence[float] | None:
        if isinstance(self.said, BaseException):
            raise self.said
        return self.said  # type: ignore[return-value]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's own settings, and a folder of theirs that code is imported from."""
    folder = tmp_path / "config" / "nuggets"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    code = tmp_path / "code"
    code.mkdir()
    monkeypatch.syspath_prepend(str(code))
    before = set(sys.modules)
    yield folder / "settings.toml"
    for name in set(sys.modules) - before:
        if name.startswith("order_"):
            del sys.modules[name]


def code_of(own: Path) -> Path:
    return own.parents[2] / "code"


def noted(home: Path, *texts: str) -> list[str]:
    memory = Memory.open(home)
    made = [
        memory.change("added", lambda draft, t=text: create_note(draft, "web", t[:20], t))[0]
        for text in texts
    ]
    memory.close()
    return [note.id for note in made]


def order(pipeline: Pipeline) -> tuple[str, ...]:
    return pipeline.sessions.ordered(pipeline.memory.snapshot.notes).note_ids


def plain(pipeline: Pipeline) -> tuple[str, ...]:
    return tuple(note.id for note in pipeline.memory.snapshot.notes)


def worked(pipeline: Pipeline) -> None:
    for _ in range(10):
        if not pipeline.tick().did_something:
            return


def test_whatever_a_predictor_does_wrong_the_order_is_identical() -> None:
    for predictor in [
        NullPredictor(),
        Saying(None),
        Saying(ValueError("no")),
        Saying(SystemExit(1)),
        Saying([1.0]),
        Saying([]),
        Saying([1.0, float("nan"), 2.0]),
        Saying([1.0, float("inf"), 2.0]),
        Saying("abc"),
        Saying(3),
        object(),
    ]:
        done = run_predictor_scoring(predictor, CANDIDATES, FEATURES)
        assert (done.note_ids, done.active) == (("a", "b", "c"), False)


def test_a_predictor_that_never_answers_is_not_waited_for() -> None:
    class Slow:
        def score(self, candidates: object, features: object) -> list[float]:
            time.sleep(600)
            return [3, 2, 1]

    done = run_predictor_scoring(Slow(), CANDIDATES, FEATURES, seconds=0.01)
    assert (done.note_ids, done.active) == (("a", "b", "c"), False)
    assert "0.01 s" in done.fault


def test_higher_scores_come_first_and_equal_ones_stay_in_their_order() -> None:
    assert run_predictor_scoring(Saying([1, 2, 3]), CANDIDATES, FEATURES).note_ids == ("c", "b", "a")
    assert run_predictor_scoring(Saying([1, 2, 1]), CANDIDATES, FEATURES).note_ids == ("b", "a", "c")
    assert run_predictor_scoring(NullPredictor(), [], []).note_ids == ()


def test_the_best_order_has_the_greatest_gain_and_one_without_anything_that_helped_none() -> None:
    assert ndcg([1.0, 0.5, 0.0]) == 1.0
    assert ndcg([0.0, 0.5, 1.0]) == pytest.approx(0.6199, abs=1e-3)
    assert ndcg([0.0, 0.0]) is None
    assert ndcg([]) is None
    # Only the first ten places count.
    assert ndcg([0.0] * 10 + [1.0]) == 0.0


def test_an_average_that_falls_below_what_it_used_to_be_drifts_and_recovers() -> None:
    found: Averages | None = None
    drifts = []
    for value in [0.9] * 20 + [0.2] * 8 + [0.9] * 20:
        found = averaged(value, found)
        drifts.append(found.drifts)
    assert not any(drifts[:20])
    assert drifts[27]
    assert not drifts[-1]
    assert averaged(0.1, averaged(0.9, None)).drifts is False


def test_off_the_order_is_identical_no_code_is_loaded_and_no_row_is_written(
    own: Path, tmp_path: Path
) -> None:
    (code_of(own) / "order_off.py").write_text(MARKED + BACKWARDS)
    own.write_text('[pipeline.predictor]\nsource = "order_off:Backwards"\n')
    home = tmp_path / "memory"
    home.mkdir()
    ids = noted(configure(home, NO_MODEL), "Postgres port 5433", "Anna likes tea")
    with open_pipeline(home) as pipeline:
        assert order(pipeline) == plain(pipeline)
        given = tuple((id, place) for place, id in enumerate(ids, 1))
        pipeline.sessions.follow(SessionEvent("start", "s1", ahead=given))
        pipeline.sessions.end("s1", conversation="Postgres is on port 5433.")
        worked(pipeline)
        assert pipeline.sessions.page("s1").comparison is None
        assert pipeline.warnings == ()
    assert not (code_of(own) / "loaded").exists()


def test_on_the_users_own_predictor_puts_a_briefing_in_order(own: Path, tmp_path: Path) -> None:
    (code_of(own) / "order_on.py").write_text(BACKWARDS)
    own.write_text(ENABLED + 'source = "order_on:Backwards"\n')
    home = tmp_path / "memory"
    home.mkdir()
    noted(configure(home, NO_MODEL), "Postgres port 5433", "Redis port 6379", "Nginx port 8080")
    with open_pipeline(home) as pipeline:
        snapshot = pipeline.memory.snapshot

        def put(notes: Sequence[object]) -> Order:
            done = pipeline.sessions.ordered(notes)  # type: ignore[arg-type]
            assert done.active
            return Order(done.note_ids, "by a predictor")

        before = briefing(snapshot)
        after = briefing(snapshot, order=put)
    assert [id for id, _ in after.places] == [id for id, _ in reversed(before.places)]
    assert [place for _, place in after.places] == [3, 2, 1]
    assert "by a predictor" in after.text.splitlines()
    assert set(before.text.splitlines()) < set(after.text.splitlines())


def test_an_order_that_drops_or_invents_a_note_is_not_taken(tmp_path: Path) -> None:
    noted(tmp_path, "Postgres port 5433", "Anna likes tea")
    memory = Memory.open(tmp_path)
    plain_one = briefing(memory.snapshot)
    for wrong in ((), ("x", "y"), tuple(id for id, _ in plain_one.places[:1]) * 2):
        made = briefing(memory.snapshot, order=lambda notes, w=wrong: Order(w, "line"))
        assert made == plain_one
    memory.close()


def test_a_memorys_own_settings_never_name_code(own: Path, tmp_path: Path) -> None:
    (code_of(own) / "order_theirs.py").write_text(MARKED + BACKWARDS)
    home = tmp_path / "memory"
    home.mkdir()
    noted(home, "Postgres port 5433", "Anna likes tea")
    configure(home, ENABLED + 'source = "order_theirs:Backwards"\n')
    with open_pipeline(home) as pipeline:
        assert order(pipeline) == plain(pipeline)
        (warning,) = pipeline.warnings
        assert (warning.name, warning.why) == ("pipeline.predictor.source", WarningKind.NOT_USED)
        assert "order_theirs" not in warning.message
    (home / "settings.toml").write_text(ENABLED)
    (home / "agent.yaml").write_text("memory: {pipelineV2: {predictor: {source: 'order_theirs:Backwards'}}}")
    assert load_settings(home).pipeline.predictor.source == ""
    assert not (code_of(own) / "loaded").exists()


def test_nothing_is_imported_from_the_folder_that_a_command_runs_in(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "order_trap.py").write_text(MARKED + BACKWARDS)
    monkeypatch.chdir(project)
    for entry in ("", str(project), "."):
        monkeypatch.setattr(sys, "path", [entry, *sys.path])
        found, why = load_predictor("order_trap:Backwards")
        assert isinstance(found, NullPredictor)
        assert "order_trap" in why
    assert not (project / "loaded").exists()


@pytest.mark.parametrize(
    "source",
    [
        "nothing_of_that_name:x",
        "order_bad",
        "order_bad:",
        ":x",
        "os:system",
        "../x:y",
        "order_bad:y.z",
        "order_exit:X",
    ],
)
def test_a_name_that_leads_to_no_predictor_changes_nothing_and_says_why(source: str, own: Path) -> None:
    (code_of(own) / "order_exit.py").write_text("raise SystemExit(3)\n")
    found, why = load_predictor(source)
    assert isinstance(found, NullPredictor)
    assert why


def test_a_session_given_memories_ahead_leaves_a_comparison_of_both_orders(own: Path, tmp_path: Path) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    ids = noted(configure(home, NO_MODEL + ENABLED), "Anna likes green tea", "Postgres port 5433")
    clock = Clock()
    with open_pipeline(home, clock=clock) as pipeline:
        for name, given in (("s1", ((ids[1], 2), (ids[0], 1))), ("s2", ((ids[0], 1), (ids[1], 2)))):
            pipeline.sessions.follow(SessionEvent("start", name, ahead=given))
            clock.forward(minutes=1)
            pipeline.sessions.end(name, conversation="Postgres listens on port 5433.")
            worked(pipeline)
        first, second = (pipeline.sessions.page(name).comparison for name in ("s1", "s2"))
        assert first is not None
        assert second is not None
        assert (first.session, first.predictor, first.ndcg) == ("s1", "baseline", 1.0)
        assert first.baseline == second.ndcg == second.baseline < 1
        assert [(one.note_id, one.place, one.baseline) for one in first.notes] == [
            (ids[1], 1, 2),
            (ids[0], 2, 1),
        ]
        assert second.averages.average < first.averages.average
        # Nothing that helped: nothing to compare.
        pipeline.sessions.follow(SessionEvent("start", "s3", ahead=((ids[0], 1),)))
        pipeline.sessions.end("s3", conversation="Something else altogether.")
        worked(pipeline)
        assert pipeline.sessions.page("s3").comparison is None
        # What helped before is what a predictor is told.
        helped = pipeline.database.reading.sessions.helped_before(ids)
        assert helped == {ids[0]: (3, pytest.approx(0.0)), ids[1]: (2, pytest.approx(1.0))}


def test_a_predictor_has_half_a_second(tmp_path: Path) -> None:
    assert room.SECONDS == 0.5
