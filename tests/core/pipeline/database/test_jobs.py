"""The queue in the database: every job once, leases that only their token ends, attempts, rests and deaths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInputError, NotFoundError
from core.pipeline.database.connection import Database
from core.pipeline.database.jobs import Lease
from core.pipeline.records import Job, JobStatus

VECTORS = {
    vector["id"]: vector
    for vector in json.loads((Path(__file__).parents[1] / "vectors" / "worker_jobs.json").read_text("utf-8"))[
        "worker_jobs"
    ]
}
NOW = 1_700_000_000_000
LEASE = 300_000


def put_in(database: Database, target: str = "raw-1", *, held: bool = False, now: int = NOW) -> int | None:
    with database.write() as writer:
        return writer.jobs.enqueue(type="extract", target=target, max_attempts=3, now=now, held=held)


def take(database: Database, now: int = NOW, token: str = "token", lease_ms: int = LEASE) -> Lease | None:
    with database.write() as writer:
        return writer.jobs.lease("extract", now=now, lease_ms=lease_ms, worker="me", token=token)


def end_badly(database: Database, lease: Lease, now: int = NOW, **how: Any) -> JobStatus | None:
    with database.write() as writer:
        return writer.jobs.fail(lease.job.id, lease.token, now=now, error="no", error_class="timeout", **how)


def end_well(database: Database, lease: Lease, now: int = NOW) -> bool:
    with database.write() as writer:
        return writer.jobs.complete(lease.job.id, lease.token, now=now, result={"added": 1})


def job(database: Database, job_id: int = 1) -> Job:
    found = database.reading.jobs.job(job_id)
    assert found is not None
    return found


def raw(database: Database, status: str = "queued", raw_id: str = "raw-1") -> None:
    with database.write() as writer:
        writer.connection.execute(
            "INSERT INTO raw_memories (id, content, content_hash, source_type, source_id, project,"
            " nugget, author, status, created_at) VALUES (?, 'Anna moved.', 'h', 'text', '', '', 'memory',"
            " 'person', ?, ?)",
            (raw_id, status, NOW),
        )


def raw_status(database: Database, raw_id: str = "raw-1") -> str:
    return str(
        database.reading.connection.execute(
            "SELECT status FROM raw_memories WHERE id = ?", (raw_id,)
        ).fetchone()[0]
    )


def put(database: Database, status: str, **columns: object) -> None:
    """A job as it was left at some time."""
    given = {
        "type": "extract", "target": "raw-1", "status": status, "max_attempts": 3, "run_after": 0,
        "created_at": 0, "updated_at": 0, **columns,
    }  # fmt: skip
    with database.write() as writer:
        writer.connection.execute(
            f"INSERT INTO jobs ({', '.join(given)}) VALUES ({', '.join('?' * len(given))})",
            tuple(given.values()),
        )


# The vectors


@pytest.mark.parametrize("name", ["worker_jobs.02", "worker_jobs.03", "worker_jobs.04"])
def test_a_job_is_put_in_unless_one_for_the_same_is_open(database: Database, name: str) -> None:
    vector = VECTORS[name]
    put(database, vector["input"]["enqueue_when_existing"])
    assert (put_in(database) is not None) is vector["expected"]["inserted"]


@pytest.mark.parametrize("name", ["worker_jobs.08", "worker_jobs.09", "worker_jobs.10"])
def test_a_lease_that_ran_out_is_taken_back(database: Database, name: str) -> None:
    given, expected = VECTORS[name]["input"]["reap"], VECTORS[name]["expected"]
    leased_at = NOW - given["leased_ago_ms"]
    put(
        database, "leased", leased_at=leased_at, lease_expires_at=leased_at + given["leaseTimeoutMs"],
        lease_token="old", attempts=given.get("attempts", 1), max_attempts=given.get("max_attempts", 3),
    )  # fmt: skip
    with database.write() as writer:
        writer.jobs.reap(NOW)
    found = job(database)
    still = expected["status"] == "leased"
    assert found.status == expected["status"]
    assert found.leased_at == expected.get("leased_at", leased_at if still else None)
    assert found.error == expected.get("error", "" if still else "lease expired before completion")


def test_a_worker_whose_job_was_taken_back_ends_nothing(database: Database) -> None:
    expected = VECTORS["worker_jobs.11"]["expected"]
    put_in(database)
    late = take(database, token="late")
    assert late is not None
    with database.write() as writer:
        writer.jobs.reap(NOW + LEASE + 1)
    after = job(database)
    with database.write() as writer:
        before = writer.connection.total_changes
        assert not writer.jobs.complete(1, "late", now=NOW + LEASE + 2)
        assert writer.jobs.fail(1, "late", now=NOW, error="e", error_class="c") is None
        assert not writer.jobs.heartbeat(1, "late", now=NOW, lease_ms=LEASE)
        assert not writer.jobs.give_back(1, "late", now=NOW)
        assert writer.connection.total_changes - before == expected["rows"]
    assert job(database) == after


def test_a_job_may_rest_before_it_runs_but_never_for_ever(database: Database) -> None:
    for target, rest_ms in (("raw-1", 10_000), ("raw-2", 10**12)):
        with database.write() as writer:
            writer.jobs.enqueue(type="extract", target=target, max_attempts=3, now=NOW, rest_ms=rest_ms)
    assert take(database, NOW + 9_999) is None
    first, second = take(database, NOW + 10_000), take(database, NOW + 121_000, token="second")
    assert first is not None
    assert second is not None
    assert (first.job.target, second.job.target) == ("raw-1", "raw-2")


# Leasing


def test_a_lease_counts_the_attempt_and_says_until_when(database: Database) -> None:
    put_in(database)
    lease = take(database, NOW + 7)
    assert lease is not None
    assert (lease.job.attempts, lease.job.status, lease.job.leased_by) == (1, "leased", "me")
    assert (lease.job.leased_at, lease.job.lease_expires_at) == (NOW + 7, NOW + 7 + LEASE)
    assert take(database, NOW + 8) is None


def test_a_heartbeat_renews_the_whole_lease(database: Database) -> None:
    put_in(database)
    take(database)
    with database.write() as writer:
        assert writer.jobs.heartbeat(1, "token", now=NOW + 200_000, lease_ms=LEASE)
    assert not database.reading.jobs.any_expired(NOW + 500_000)
    assert database.reading.jobs.any_expired(NOW + 500_001)


def test_a_job_put_in_or_leased_before_the_clock_was_set_back_is_not_lost(database: Database) -> None:
    years = 10**11
    put_in(database, now=NOW + years)
    assert database.reading.jobs.ready(NOW) == ("extract",)
    assert take(database, NOW + years) is not None
    assert database.reading.jobs.any_expired(NOW)
    with database.write() as writer:
        assert writer.jobs.reap(NOW) == 1
    assert take(database, NOW) is not None


# Failing


def test_a_failed_job_rests_for_its_window_and_longer_each_time(database: Database) -> None:
    put_in(database)
    now = NOW
    for seconds in (10, 20):
        lease = take(database, now)
        assert lease is not None
        assert end_badly(database, lease, now) == "pending"
        assert take(database, now + 1_000 * seconds) is None
        now += 1_000 * seconds + 1
    assert take(database, now) is not None


def test_the_third_failure_is_the_end_and_the_text_is_failed(database: Database) -> None:
    raw(database)
    put_in(database)
    statuses = []
    for attempt in range(3):
        lease = take(database, NOW + attempt * 10**6)
        assert lease is not None
        statuses.append(end_badly(database, lease, NOW + attempt * 10**6))
    assert statuses == ["pending", "pending", "dead"]
    assert raw_status(database) == "failed"
    found = job(database)
    assert (found.error, found.error_class, found.failed_at) == ("no", "timeout", NOW + 2 * 10**6)
    assert found.leased_at is None
    assert found.lease_expires_at is None


def test_what_cannot_get_better_is_dead_at_once(database: Database) -> None:
    put_in(database)
    lease = take(database)
    assert lease is not None
    assert end_badly(database, lease, permanent=True) == "dead"


def test_an_attempt_that_is_not_the_jobs_own_is_not_counted_but_rests(database: Database) -> None:
    put_in(database)
    for attempt in range(20):
        lease = take(database, NOW + attempt * 10_001)
        assert lease is not None
        assert lease.job.attempts == 1
        assert end_badly(database, lease, NOW + attempt * 10_001, counts=False) == "pending"
        assert take(database, NOW + attempt * 10_001 + 10_000) is None


def test_a_job_given_back_waits_as_if_it_had_not_been_taken(database: Database) -> None:
    put_in(database)
    take(database)
    with database.write() as writer:
        assert writer.jobs.give_back(1, "token", now=NOW + 5)
    found = job(database)
    assert (found.status, found.attempts, found.leased_by, found.leased_at) == ("pending", 0, "", None)
    assert take(database, NOW + 5) is not None


# Holding


# Trying again


def dead(database: Database, target: str = "raw-1") -> int:
    job_id = put_in(database, target)
    assert job_id is not None
    lease = take(database, token=target)
    assert lease is not None
    end_badly(database, lease, permanent=True)
    return job_id


def test_a_dead_job_that_is_tried_again_waits_with_its_text(database: Database) -> None:
    raw(database)
    job_id = dead(database)
    assert raw_status(database) == "failed"
    with database.write() as writer:
        writer.jobs.retry(job_id, NOW + 1)
    assert raw_status(database) == "queued"
    assert take(database, NOW + 1) is not None


def test_a_job_that_rests_can_be_run_now(database: Database) -> None:
    put_in(database)
    lease = take(database)
    assert lease is not None
    end_badly(database, lease)
    assert take(database, NOW + 1) is None
    with database.write() as writer:
        writer.jobs.retry(1, NOW + 1)
    assert take(database, NOW + 1) is not None


def test_what_is_not_dead_is_not_tried_again(database: Database) -> None:
    put_in(database)
    lease = take(database)
    assert lease is not None
    end_well(database, lease)
    with pytest.raises(InvalidInputError, match="completed"), database.write() as writer:
        writer.jobs.retry(1, NOW)
    with pytest.raises(NotFoundError), database.write() as writer:
        writer.jobs.retry(99, NOW)


def test_a_dead_job_whose_work_another_does_stays_dead(database: Database) -> None:
    job_id = dead(database)
    put_in(database)
    with pytest.raises(InvalidInputError, match="another"), database.write() as writer:
        writer.jobs.retry(job_id, NOW)
    with database.write() as writer:
        assert writer.jobs.retry_dead(NOW) == 0
    assert job(database, job_id).status == "dead"


def test_of_several_dead_jobs_for_one_target_one_is_tried_again(database: Database) -> None:
    for target in ("raw-1", "raw-2"):
        for _ in range(2):
            dead(database, target)
    with database.write() as writer:
        assert writer.jobs.retry_dead(NOW) == 2
    assert sorted(job.status for job in database.reading.jobs.jobs()) == ["dead"] * 2 + ["pending"] * 2


# Reading


def test_jobs_are_listed_with_the_text_they_are_about_the_latest_first(database: Database) -> None:
    raw(database)
    put_in(database)
    put_in(database, "raw-gone", now=NOW + 1)
    listed = database.reading.jobs.jobs()
    assert [(one.target, one.preview) for one in listed] == [("raw-gone", ""), ("raw-1", "Anna moved.")]
    assert [one.target for one in database.reading.jobs.jobs("pending", target="raw-1")] == ["raw-1"]
    assert database.reading.jobs.jobs("dead") == ()
