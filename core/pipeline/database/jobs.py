"""The queue: jobs are put in, leased under a token, renewed, ended; all of it in rows that several processes share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from core.errors import ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.pipeline.database.tables import Rows
from core.pipeline.queue import (
    LONGEST_OUTAGE_REST_MS,
    LONGEST_WINDOW_SECONDS,
    OUTAGES,
    RETRYABLE,
    outage_rest_ms,
    run_after_ms,
)
from core.pipeline.records import Job, JobStatus, JobType
from core.text.normalise import cut_at_word

LEASE_EXPIRED: Final = "lease_expired"
# The class of a job that is done but for a part of its text.
UNREAD: Final = "unread"
PREVIEW_LENGTH: Final = 160
# No lease is longer and no rest neither: what lies farther ahead was written before the clock was set back.
_LONGEST_LEASE_MS: Final = 600_000
_LONGEST_REST_MS: Final = LONGEST_OUTAGE_REST_MS + 1_000
_LONGEST_GATHERING_MS: Final = 1_000 * LONGEST_WINDOW_SECONDS + 1_000
_ERROR_LENGTH: Final = 2_000
_EXPIRED: Final = (
    f"jobs.status = 'leased' AND (lease_expires_at < :now OR lease_expires_at > :now + {_LONGEST_LEASE_MS})"
)
# No later job is about the same.
_NEWEST: Final = (
    "NOT EXISTS (SELECT 1 FROM jobs AS later WHERE later.type = jobs.type AND later.target = jobs.target"
    " AND later.id > jobs.id)"
)
# What it is about was not removed.
_WANTED: Final = """
NOT EXISTS (SELECT 1 FROM raw_memories WHERE raw_memories.id = jobs.target AND removed_at IS NOT NULL)
AND NOT (jobs.type = 'document_ingest' AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.id = jobs.target))
"""
_REQUEUEABLE: Final = f"""
jobs.status = 'dead' AND jobs.error_class IN ({", ".join(f"'{name}'" for name in RETRYABLE)})
AND json_extract(jobs.payload, '$.requeued') IS NULL AND {_NEWEST} AND {_WANTED}
"""
_UNLEASED: Final = "lease_token = NULL, leased_by = '', leased_at = NULL, lease_expires_at = NULL"


class LostLeaseError(NuggetsError):
    """Another worker has the job by now; nothing of what this one found out may be written."""

    code = ErrorCode.LOCKED

    def __init__(self, job_id: int) -> None:
        super().__init__(
            "another worker has taken over this job",
            where=f"job {job_id}",
            kept="the result was not written",
        )


@dataclass(frozen=True, slots=True)
class Lease:
    """A job that a worker may work on until `job.lease_expires_at`. payload: what it was put in with.

    token: what every end of the job must name; another worker's is another.
    """

    job: Job
    token: str
    payload: Mapping[str, Any] = field(default_factory=dict)


def _text(value: Mapping[str, Any] | None) -> str:
    return json.dumps(value or {}, ensure_ascii=False)


class Jobs(Rows):
    """The queue."""

    # Putting in

    def enqueue(
        self,
        *,
        type: JobType,
        target: str,
        max_attempts: int,
        now: int,
        held: bool = False,
        rest_ms: int = 0,
        payload: Mapping[str, Any] | None = None,
    ) -> int | None:
        """Puts a job in and returns its id; None when one of this type for the same target is held, waits or runs.

        rest_ms: how long it must not run yet, so that more may gather for it; 120,000 at most.
        """
        found: int | None = self.value(
            "INSERT INTO jobs (type, target, status, payload, max_attempts, run_after, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (type, target) WHERE status IN ('held', 'pending', 'leased') DO NOTHING RETURNING id",
            type, target, "held" if held else "pending", _text(payload), max_attempts,
            now + min(rest_ms, _LONGEST_GATHERING_MS), now, now,
        )  # fmt: skip
        return found

    def withdraw(self, target: str, now: int, *, dead: bool = False) -> bool:
        """Ends what waits to be done about a target, as nothing that anybody wants any more; whether anything did.
        dead: what failed for good instead: there is nothing to see to.
        """
        statuses = "'dead'" if dead else "'held', 'pending'"
        return self.run(
            "UPDATE jobs SET status = 'completed', completed_at = ?1, updated_at = ?1, failed_at = NULL,"
            " error = '', error_class = '', result = json_set(result, '$.skipped', 'removed')"
            f" WHERE target = ?2 AND status IN ({statuses})",
            now, target,
        ) > 0  # fmt: skip

    def any_held(self) -> bool:
        """Whether a job or raw memory is held."""
        return self.has(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM jobs WHERE status = 'held')"
            " OR EXISTS (SELECT 1 FROM raw_memories WHERE status = 'held')"
        )

    def release_held(self, now: int) -> int:
        """Lets everything that was held wait for a worker, raw memories with their jobs; how many jobs."""
        self.run("UPDATE raw_memories SET status = 'queued' WHERE status = 'held'")
        return self.run(
            "UPDATE jobs SET status = 'pending', run_after = ?1, updated_at = ?1 WHERE status = 'held'", now
        )

    # Leasing

    def lease(self, type: JobType, *, now: int, lease_ms: int, worker: str, token: str) -> Lease | None:
        """Leases the job of this type that has waited longest, None when none may run now; it counts as an attempt.

        worker: who, for people. token: unused so far. lease_ms: how long, unless it is renewed.
        """
        job_id = self.value(
            "UPDATE jobs SET status = 'leased', attempts = attempts + 1, lease_token = :token, leased_by = :worker,"
            " leased_at = :now, lease_expires_at = :now + :lease_ms, updated_at = :now"
            " WHERE id = (SELECT id FROM jobs WHERE status = 'pending' AND type = :type"
            "   AND (run_after <= :now OR run_after > :now + :rest) ORDER BY run_after, id LIMIT 1) RETURNING id",
            token=token, worker=worker, now=now, lease_ms=lease_ms, type=type, rest=_LONGEST_REST_MS,
        )  # fmt: skip
        job = None if job_id is None else self.job(job_id)
        if job is None:
            return None
        return Lease(job, token, json.loads(self.text("SELECT payload FROM jobs WHERE id = ?", job_id)))

    def ready(self, now: int) -> tuple[JobType, ...]:
        """The types of which a job may run now."""
        return self.column(
            "SELECT DISTINCT type FROM jobs WHERE status = 'pending' AND (run_after <= ?1 OR run_after > ?1 + ?2)",
            now, _LONGEST_REST_MS,
        )  # fmt: skip

    def _change(self, job_id: int, token: str, changes: str, **values: object) -> bool:
        """Changes a job that the token still has; False when the lease is lost. changes: assignments of SQL."""
        return self.run(
            f"UPDATE jobs SET {changes} WHERE id = :id AND lease_token = :token AND status = 'leased'",
            id=job_id, token=token, **values,
        ) == 1  # fmt: skip

    def heartbeat(self, job_id: int, token: str, *, now: int, lease_ms: int) -> bool:
        """Renews a lease by its whole length; False when it is lost."""
        changes = "lease_expires_at = :now + :lease_ms, updated_at = :now"
        return self._change(job_id, token, changes, now=now, lease_ms=lease_ms)

    def holds(self, job_id: int, token: str) -> bool:
        """Whether the token still has the job."""
        return self.has(
            "SELECT 1 FROM jobs WHERE id = ? AND lease_token = ? AND status = 'leased'", job_id, token
        )

    def result_of(self, job_id: int) -> Mapping[str, Any]:
        """What came of a job so far."""
        found = json.loads(self.text("SELECT result FROM jobs WHERE id = ?", job_id) or "{}")
        return found if isinstance(found, dict) else {}

    # Ending

    def complete(
        self, job_id: int, token: str, *, now: int, result: Mapping[str, Any] | None = None, unread: str = ""
    ) -> bool:
        """Ends a job well; False when the lease is lost. Part of the transaction that writes what the job found.

        unread: what of its text was not read, and why, in words; a retry reads on.
        """
        changes = (
            "status = 'completed', result = :result, completed_at = :now, updated_at = :now, error = :unread,"
            f" error_class = iif(:unread = '', '', '{UNREAD}'), {_UNLEASED}"
        )
        return self._change(job_id, token, changes, now=now, result=_text(result), unread=unread)

    def put_back(self, job_id: int, token: str, *, now: int, result: Mapping[str, Any]) -> bool:
        """Lets a job of which a part is done wait for its next turn, behind others; False when the lease is lost.

        Whoever takes it goes on with what the result says, with all attempts left.
        """
        changes = (
            "status = 'pending', result = :result, attempts = 0, run_after = :now, updated_at = :now,"
            f" failed_at = NULL, error = '', error_class = '', {_UNLEASED}"
        )
        return self._change(job_id, token, changes, now=now, result=_text(result))

    def keep_result(self, job_id: int, token: str, result: Mapping[str, Any]) -> bool:
        """Keeps what came of a job so far, however it ends; False when the lease is lost."""
        return self._change(job_id, token, "result = :result", result=_text(result))

    def give_back(self, job_id: int, token: str, *, now: int) -> bool:
        """Lets a leased job wait again as if it was not taken: no attempt, no rest. False when the lease is lost."""
        changes = (
            "status = 'pending', attempts = max(0, attempts - 1), run_after = :now, updated_at = :now,"
            f" {_UNLEASED}"
        )
        return self._change(job_id, token, changes, now=now)

    def fail(
        self,
        job_id: int,
        token: str,
        *,
        now: int,
        error: str,
        error_class: str,
        permanent: bool = False,
        counts: bool = True,
        outage: bool = False,
        answered_at: int = 0,
        jitter_ms: int = 0,
    ) -> JobStatus | None:
        """Ends an attempt badly; what the job is then: "pending" again after a rest, or "dead"; None for a lost lease.

        permanent: no further attempt. counts: whether the attempt is the job's own; one that only met a model nobody
        could reach is not. outage: it is the provider that failed; answered_at: when it last
        answered before; where that is after the job's last failure it rests longer, until it is woken. The raw memory
        or document of a dead job is failed.
        """
        row = self.row(
            "SELECT * FROM jobs WHERE id = ? AND lease_token = ? AND status = 'leased'", job_id, token
        )
        if row is None:
            return None
        attempts = row["attempts"] - (not (counts or permanent))
        # It rests all the same, or a job that fails at once would come again at once.
        rests_until = run_after_ms(now, row["attempts"]) + 1 + jitter_ms
        if outage:
            failed_at, again = row["failed_at"] or now, row["error_class"] in OUTAGES
            rested = max(0, row["run_after"] - failed_at) if again else 0
            rests_until = now + outage_rest_ms(rested, answered=answered_at > failed_at) + jitter_ms
        status: JobStatus = "dead" if permanent or attempts >= row["max_attempts"] else "pending"
        changes = (
            "status = :status, attempts = :attempts, run_after = :after, error = :error, error_class = :class,"
            f" failed_at = :now, updated_at = :now, {_UNLEASED}"
        )
        told = {"error": error[:_ERROR_LENGTH], "class": error_class}
        self._change(
            job_id, token, changes, status=status, attempts=attempts, after=rests_until, now=now, **told
        )
        return status

    # Putting right

    def any_expired(self, now: int) -> bool:
        """Whether there is something to reap."""
        return self.has(f"SELECT 1 FROM jobs WHERE {_EXPIRED} LIMIT 1", now=now)

    def expired(self, now: int) -> tuple[Job, ...]:
        """The jobs whose lease ran out: what `reap` takes back."""
        return self._those(f"WHERE {_EXPIRED} ORDER BY jobs.id", now=now)

    def reap(self, now: int) -> int:
        """Takes the jobs back whose lease ran out: they wait again, or are dead where that was the last attempt; how
        many.
        """
        return self.run(
            "UPDATE jobs SET status = iif(attempts >= max_attempts, 'dead', 'pending'), run_after = :now,"
            " failed_at = :now, updated_at = :now, error = 'lease expired before completion',"
            f" error_class = '{LEASE_EXPIRED}', {_UNLEASED} WHERE {_EXPIRED}",
            now=now,
        )

    def requeueable(self, most: int) -> tuple[Job, ...]:
        """Dead jobs that another try may help, and that were not requeued before, the oldest first; of each target the
        newest.
        """
        return self._those(f"WHERE {_REQUEUEABLE} ORDER BY jobs.id LIMIT :most", most=most)

    def count_requeueable(self) -> int:
        """How many dead jobs there are that another try may help."""
        return self.count(f"SELECT count(*) FROM jobs WHERE {_REQUEUEABLE}")

    def requeue(self, ids: Iterable[int], now: int) -> int:
        """Lets dead jobs wait again, each once in its life; how many."""
        marked = self.column(
            "UPDATE jobs SET payload = json_set(payload, '$.requeued', ?1) WHERE status = 'dead'"
            " AND id IN (SELECT value FROM json_each(?2)) AND json_extract(payload, '$.requeued') IS NULL RETURNING id",
            now, json.dumps(list(ids)),
        )  # fmt: skip
        return self._revive(marked, now)

    def retry(self, job_id: int, now: int) -> None:
        """Lets a dead job wait again, or one that rests run at once.

        Half of the attempts are forgiven, so that a job which always fails is dead again sooner. A job that left a part
        of its text reads on. Raises NotFoundError,
        and InvalidInputError for a job that is neither, or whose target has another job in the queue.
        """
        row = self.row("SELECT status, error_class FROM jobs WHERE id = ?", job_id)
        where, kept = f"job {job_id}", "nothing was changed"
        if row is None:
            raise NotFoundError("no such job", field="job", where=where, kept=kept)
        if row["status"] == "pending":
            self.run("UPDATE jobs SET run_after = ?1, updated_at = ?1 WHERE id = ?2", now, job_id)
        elif tuple(row) == ("completed", UNREAD):
            self.run(
                "UPDATE OR IGNORE jobs SET status = 'pending', attempts = 0, run_after = ?1, updated_at = ?1,"
                " error = '', error_class = '', result = json_set(result, '$.progress.more',"
                " coalesce(json_extract(result, '$.progress.more'), 0) + 1) WHERE id = ?2",
                now, job_id,
            )  # fmt: skip
        elif row["status"] != "dead":
            said = f'a job with the status "{row["status"]}" cannot be retried'
            raise InvalidInputError(said, where=where, kept=kept)
        elif not self._revive((job_id,), now):
            raise InvalidInputError("another job already does this work", where=where, kept=kept)

    def retry_dead(self, now: int) -> int:
        """Lets all dead jobs wait again, the newest of each target; how many."""
        return self._revive(self.column(f"SELECT id FROM jobs WHERE status = 'dead' AND {_NEWEST}"), now)

    def wake(self, now: int) -> None:
        """Ends the rest of jobs that failed, since a person asks."""
        self.run(
            "UPDATE jobs SET run_after = ?1 WHERE status = 'pending' AND run_after > ?1 AND error_class <> ''",
            now,
        )

    def _revive(self, ids: Iterable[int], now: int) -> int:
        """Lets dead jobs wait again, but those of what was removed: nobody wants to read that."""
        return self.run(
            "UPDATE OR IGNORE jobs SET status = 'pending', attempts = min(attempts, max_attempts) / 2, run_after = ?1,"
            " updated_at = ?1 WHERE id IN (SELECT value FROM json_each(?2)) AND status = 'dead'"
            f" AND {_WANTED}",
            now, json.dumps(list(ids)),
        )  # fmt: skip

    # Reading

    def _those(self, which: str, **values: object) -> tuple[Job, ...]:
        """Jobs, by a condition and what follows it."""
        found = self.records(Job, f"SELECT * FROM job_list AS jobs {which}", **values)
        return tuple(replace(job, preview=cut_at_word(job.preview, PREVIEW_LENGTH)) for job in found)

    def job(self, job_id: int) -> Job | None:
        """A job, None for none of this id."""
        return next(iter(self._those("WHERE jobs.id = :id", id=job_id)), None)

    def jobs(self, status: JobStatus | None = None, *, target: str = "", most: int = 200) -> tuple[Job, ...]:
        """Jobs, those that ended or were put in last first. target: only those about it."""
        conditions = ["jobs.status = :status"] * bool(status) + ["jobs.target = :target"] * bool(target)
        which = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        order = "ORDER BY jobs.updated_at DESC, jobs.id DESC LIMIT :most"
        return self._those(f"{which} {order}", status=status, target=target, most=most)

    def running(self) -> tuple[Job, ...]:
        """The jobs that workers have, the one taken first at the head."""
        return self._those("WHERE jobs.status = 'leased' ORDER BY jobs.leased_at, jobs.id")
