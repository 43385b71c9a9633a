"""Each repair: what its dry run says is what it does, no more, and it leaves a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kits.health_kit import add_to_index, drop_from_index, job_statuses, kill_jobs, lease_job, measured
from kits.service_kit import Clock, configure, drain, note_texts, open_pipeline

from core.pipeline.health import MaintenanceAction, MaintenanceRun, index_gaps
from core.pipeline.maintenance import begin_run, finish_run
from core.pipeline.queue import RETRYABLE
from core.pipeline.records import HistoryRow
from core.pipeline.service import Pipeline, health_of
from core.pipeline.statements import words_hash

REQUEUE, RELEASE = MaintenanceAction.REQUEUE, MaintenanceAction.RELEASE
INDEXES, MERGES = MaintenanceAction.INDEXES, MaintenanceAction.MERGES
SAID = ("Anna moved the staging cluster to Frankfurt.", "Anna moved staging cluster to the Frankfurt!")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pipeline(tmp_path: Path, clock: Clock) -> Iterator[Pipeline]:
    with closing(open_pipeline(tmp_path, clock=clock)) as opened:
        yield opened


def one_run(pipeline: Pipeline, action: MaintenanceAction) -> MaintenanceRun:
    """Runs a repair, which must do exactly what its dry run said."""
    planned = pipeline.maintenance_plan(action)
    (run,) = pipeline.maintain([action])
    assert run.did == planned.count
    return run


def events(pipeline: Pipeline, *names: str) -> tuple[HistoryRow, ...]:
    return pipeline.database.reading.history.events(names, 100)


# Dead jobs


@pytest.mark.parametrize(
    "error_class", ["bad_request", "invalid", "not_found", "too_large", "blocked_address", ""]
)
def test_a_job_that_another_try_cannot_help_stays_dead(
    pipeline: Pipeline, clock: Clock, error_class: str
) -> None:
    kill_jobs(pipeline, clock, error_class=error_class)
    plan = pipeline.maintenance_plan(REQUEUE)
    assert plan.repairs == ()
    assert "3 dead jobs stay" in plan.left_alone
    assert one_run(pipeline, REQUEUE).did == 0
    assert job_statuses(pipeline) == ["dead"] * 3


def test_a_dead_job_of_a_removed_text_is_neither_counted_nor_requeued(
    pipeline: Pipeline, clock: Clock
) -> None:
    kill_jobs(pipeline, clock, count=1)
    (job,) = pipeline.jobs()
    assert pipeline.maintenance_plan(REQUEUE).count == 1
    pipeline.remove_text(job.target)
    assert REQUEUE not in [one.action for one in pipeline.diagnose().recommendations]
    assert one_run(pipeline, REQUEUE).did == 0
    pipeline.restore_text(job.target)
    assert pipeline.maintenance_plan(REQUEUE).count == 1


@pytest.mark.parametrize("error_class", sorted(RETRYABLE))
def test_a_job_that_another_try_may_help_is_tried_again_with_half_its_tries_and_once_only(
    pipeline: Pipeline, clock: Clock, error_class: str
) -> None:
    (job_id,) = kill_jobs(pipeline, clock, count=1, error_class=error_class)
    assert one_run(pipeline, REQUEUE).did == 1
    (job,) = pipeline.jobs()
    assert (job.status, job.attempts) == ("pending", job.max_attempts // 2)
    with pipeline.database.write() as writer:
        writer.connection.execute("UPDATE jobs SET status = 'dead', attempts = 3")
    clock.forward(minutes=2)
    assert one_run(pipeline, REQUEUE).did == 0
    assert job_statuses(pipeline) == ["dead"]
    # A person still may.
    assert pipeline.retry(job_id).status == "pending"


def test_a_dead_job_whose_target_has_a_later_one_is_neither_counted_nor_requeued(
    pipeline: Pipeline, clock: Clock
) -> None:
    kill_jobs(pipeline, clock, count=1)
    with pipeline.database.write() as writer:
        target = writer.connection.execute("SELECT target FROM jobs").fetchone()[0]
        writer.jobs.enqueue(type="extract", target=target, max_attempts=3, now=clock.ms)
    assert measured(pipeline, clock).dead == 0
    assert one_run(pipeline, REQUEUE).did == 0


def test_a_sweep_is_recommended_once_something_was_kept_long_enough_and_not_before(
    pipeline: Pipeline, clock: Clock
) -> None:
    texts = [pipeline.ingest(f"Rack {number} holds server {number + 7}.").raw_id for number in range(3)]
    drain(pipeline)
    pipeline.remove_text(texts[0])
    pipeline.remove_text(texts[1])
    sweep = MaintenanceAction.SWEEP
    found = pipeline.diagnose()
    storage = next(one for one in found.domains if one.name == "storage")
    assert storage.problems == ("tombstones",)
    assert storage.said.endswith("still stored: none was kept for its time yet.")
    assert sweep not in [one.action for one in found.recommendations]
    clock.forward(days=31)
    assert sweep in [one.action for one in pipeline.diagnose().recommendations]
    assert pipeline.maintain([sweep])[0].improved
    assert sweep not in [one.action for one in pipeline.diagnose().recommendations]


# Stale leases


def test_a_lease_is_stale_once_its_time_is_over_and_not_before(pipeline: Pipeline, clock: Clock) -> None:
    lease_job(pipeline, clock)
    clock.forward(milliseconds=299_999)
    assert measured(pipeline, clock).stale_leases == 0
    assert one_run(pipeline, RELEASE).did == 0
    clock.forward(milliseconds=60_000)
    assert one_run(pipeline, RELEASE).did == 1
    assert job_statuses(pipeline) == ["pending"]
    assert len(events(pipeline, "released")) == 1


# Full-text tables


def learn(pipeline: Pipeline, *texts: str) -> None:
    for text in texts:
        pipeline.ingest(text)
    drain(pipeline)


def test_facts_that_nobody_finds_are_found_again_though_the_counts_agree(
    pipeline: Pipeline, clock: Clock
) -> None:
    learn(pipeline, *(f"Server {n} stands in rack {n * 7 + 3} of hall {n}." for n in range(6)))
    with pipeline.database.write() as writer:
        drop_from_index(writer, 2)
        add_to_index(writer, 2)
    found = measured(pipeline, clock)
    assert (found.missing, found.extra) == (2, 2)
    assert pipeline.diagnose().recommendations[0].action is INDEXES
    assert one_run(pipeline, INDEXES).improved
    found = measured(pipeline, clock)
    assert (found.missing, found.extra) == (0, 0)
    assert pipeline.database.reading.facts.matching("memory", ["rack"], 10)
    assert len(events(pipeline, "reindexed")) == 1


def test_nothing_is_left_of_entries_that_lead_nowhere(pipeline: Pipeline) -> None:
    pipeline.ingest(f"{SAID[0]} Nobody knows Kafka.")
    drain(pipeline)
    with pipeline.database.write() as writer:
        add_to_index(writer, 450)
    assert one_run(pipeline, INDEXES).did == 450
    reader = pipeline.database.reading
    assert [extra for _, _, extra in index_gaps(reader).values()] == [0, 0, 0, 0]
    found = reader.connection.execute("SELECT rowid FROM facts_fts WHERE facts_fts MATCH 'nobody'").fetchall()
    assert len(found) == 1
    # How many facts hold a word, by which the rarest are chosen, counts those that are there.
    words = dict(reader.connection.execute("SELECT term, doc FROM facts_terms").fetchall())
    assert (words["nobody"], "this" in words) == (1, False)


# Merges


def duplicates(pipeline: Pipeline, clock: Clock) -> tuple[int, int, int]:
    """Facts that stand, those that another says too, and of how many of these nobody was asked."""
    found = measured(pipeline, clock)
    return found.facts, found.duplicates, found.undecided


@pytest.fixture
def twice(tmp_path: Path, clock: Clock) -> Iterator[Pipeline]:
    """A pipeline that learned one fact in two wordings, as two processes may that do not see each other."""
    with closing(open_pipeline(tmp_path, clock=clock)) as opened:
        learn(opened, SAID[0])
        store_beside(opened, SAID[1])
        yield opened


def store_beside(pipeline: Pipeline, content: str) -> None:
    """Stores one more fact with its note, past the rule that would find it known."""
    from core.pipeline.intake.normalisation import normalise

    learn(pipeline, f"Entry {abs(hash(content))} was made by the archive import.")
    with pipeline.database.write() as writer:
        row = writer.connection.execute("SELECT max(rowid), note_id FROM facts").fetchone()
        said = normalise(content)
        writer.connection.execute(
            "UPDATE facts SET content = ?, normalised_content = ?, content_hash = ?, words_hash = ? WHERE rowid = ?",
            (content, said.normalised_content, said.content_hash, words_hash(content), row[0]),
        )
        note_id = row[1]
    from core.graph.edits import edit_note

    pipeline.memory.change("reworded", lambda draft: edit_note(draft, note_id, content=content))


def test_two_facts_that_say_the_same_are_proposed_to_a_person_and_never_merged(
    twice: Pipeline, clock: Clock
) -> None:
    assert duplicates(twice, clock) == (2, 1, 1)
    before = note_texts(twice)
    assert one_run(twice, MERGES).did == 1
    assert note_texts(twice) == before
    (proposal,) = twice.proposals()
    assert (proposal.action, proposal.reason, proposal.target_content) == (
        "delete", "same_as_another_note", SAID[1],
    )  # fmt: skip
    assert SAID[0] in proposal.told
    # All the same facts as before, but somebody was asked.
    assert duplicates(twice, clock) == (2, 1, 0)


def test_an_accepted_merge_hides_one_note_and_undo_brings_it_back(twice: Pipeline, clock: Clock) -> None:
    one_run(twice, MERGES)
    done = twice.accept([twice.proposals()[0].id])
    assert done.change_set is not None
    assert note_texts(twice) == [SAID[0]]
    assert duplicates(twice, clock) == (1, 0, 0)
    twice.memory.history.undo(done.change_set.id)
    twice.follow_undo()
    assert sorted(note_texts(twice)) == sorted(SAID)
    assert len(twice.proposals()) == 1
    clock.forward(hours=1)
    assert one_run(twice, MERGES).did == 0


def test_a_refused_merge_is_not_proposed_again_and_its_facts_count_no_longer(
    twice: Pipeline, clock: Clock
) -> None:
    one_run(twice, MERGES)
    assert twice.refuse([twice.proposals()[0].id]) == 1
    clock.forward(hours=1)
    assert one_run(twice, MERGES).did == 0
    assert duplicates(twice, clock) == (2, 0, 0)
    assert sorted(note_texts(twice)) == sorted(SAID)
    # What was refused is the merge: the fact may be said again.
    learn(twice, SAID[1])
    assert twice.proposals() == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API listens on port 8080.", "The API listens on port 8081."),
        ("The deploy job needs the staging token.", "The deploy job needs not the staging token."),
        ("Anna reports to Ben.", "Ben reports to Anna."),
    ],
)
def test_what_says_something_else_is_never_proposed_as_the_same(
    pipeline: Pipeline, one: str, other: str
) -> None:
    learn(pipeline, one)
    store_beside(pipeline, other)
    assert one_run(pipeline, MERGES).did == 0


def test_how_alike_two_facts_must_be_is_a_setting_and_so_is_how_many_are_looked_at(
    tmp_path: Path, clock: Clock
) -> None:
    near = (
        "Anna moved the whole staging cluster over to Frankfurt.",
        "Anna moved the staging cluster over to Frankfurt.",
    )
    with closing(open_pipeline(tmp_path, clock=clock)) as pipeline:
        learn(pipeline, near[0])
        store_beside(pipeline, near[1])
        assert pipeline.maintenance_plan(MERGES).count == 0
        configure(tmp_path, "[pipeline.repair]\ndedup_semantic_threshold = 0.8")
        (repair,) = pipeline.maintenance_plan(MERGES).repairs
        # Of the two the one that says less would go.
        assert near[1] in repair.said.partition("since")[0]


def test_how_many_facts_one_run_looks_at_is_a_setting(tmp_path: Path, clock: Clock) -> None:
    configure(tmp_path, "[pipeline.repair]\ndedup_batch_size = 10")
    with closing(open_pipeline(tmp_path, clock=clock)) as pipeline:
        learn(pipeline, " ".join(f"Server {number} stands in rack {number * 7 + 3}." for number in range(12)))
        with pipeline.database.write() as writer:
            writer.connection.execute("UPDATE facts SET words_hash = 'all of them say this'")
        assert measured(pipeline, clock).duplicates == 11
        assert one_run(pipeline, MERGES).did == 10
        clock.forward(minutes=10)
        assert one_run(pipeline, MERGES).did == 1


TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    "text",
    [f"Deploys use {TOKEN} since May.", *(f"{'Deploys run on Friday. ' * n}{TOKEN} too." for n in (3, 6))],
)
def test_what_is_listed_of_health_and_repairs_shows_no_credential(
    pipeline: Pipeline, clock: Clock, text: str
) -> None:
    pipeline.ingest(text)
    kill_jobs(pipeline, clock)
    with pipeline.database.write() as writer:
        writer.connection.execute("UPDATE jobs SET status = 'dead', error_class = 'parse'")
        run = begin_run(writer, INDEXES, clock.ms, "person")
        finish_run(writer, run, clock.ms, did=0, left=0, improved=False, error=f"cannot read: {text}")
    plan, report = pipeline.maintenance_plan(REQUEUE), pipeline.diagnose()
    assert len(plan.repairs) == 4
    assert report.runs
    assert TOKEN[:12] not in repr(
        (pipeline.jobs(), plan, report, health_of(pipeline.database.path.parent, clock))
    )
