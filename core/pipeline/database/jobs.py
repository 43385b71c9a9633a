"""The queue: jobs are put in, leased under a token, renewed, ended; all of it in rows that several processes share."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from core.errors import ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.pipeline.queue import (
    LONGEST_OUTAGE_REST_MS,
    LONGEST_WINDOW_SECONDS,
    MAYBE_OUTAGES,
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
_EXPIRED: Final = "status = 'leased' AND (lease_expires_at < :now OR lease_expires_at > :now + :longest)"
_JOBS: Final = f"""
SELECT jobs.*, substr(coalesce(raw.content, entities.name, nullif(documents.title, ''), documents.source,
    CASE jobs.type WHEN 'session_end' THEN jobs.target ELSE '' END), 1, {PREVIEW_LENGTH + 1}) AS preview,
    coalesce(json_extract(jobs.result, '$.windows'), 0) AS windows,
    coalesce(json_extract(jobs.result, '$.windowsRead'), 0) AS windows_read,
    coalesce(json_extract(jobs.result, '$.unread'), 0) AS unread
FROM jobs
LEFT JOIN raw_memories AS raw ON raw.id = jobs.target AND jobs.type = 'extract'
LEFT JOIN entities ON jobs.type = 'structural_classify' AND entities.id = CAST(jobs.target AS INTEGER)
LEFT JOIN documents ON jobs.type = 'document_ingest' AND documents.id = jobs.target
"""
_RETRYABLE: Final = ", ".join(f"'{name}'" for name in RETRYABLE)
_REQUEUEABLE: Final = f"""
jobs.status = 'dead' AND jobs.error_class IN ({_RETRYABLE}) AND json_extract(jobs.payload, '$.requeued') IS NULL
AND NOT EXISTS (SELECT 1 FROM jobs AS later
    WHERE later.type = jobs.type AND later.target = jobs.target AND later.id > jobs.id)
AND NOT EXISTS (SELECT 1 FROM tombstones WHERE tombstones.id = jobs.target)
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


class Reaped(NamedTuple):
    """Jobs whose worker did not come back: ids of those that wait again, and of those that are dead by that."""

    pending: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()


def _job(row: sqlite3.Row) -> Job:
    job = Job(**{name: row[name] for name in Job.__slots__})
    return replace(job, preview=cut_at_word(job.preview, PREVIEW_LENGTH))


def _quoted(names: Iterable[str]) -> str:
    """Names of ours as SQL lists them."""
    return ", ".join(f"'{name}'" for name in names)


def _text(value: Mapping[str, Any] | None) -> str:
    return json.dumps(value or {}, ensure_ascii=False)


class Jobs:
    """The queue."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

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
        after = now + min(rest_ms, _LONGEST_GATHERING_MS)
        row = self._connection.execute(
            "INSERT INTO jobs (type, target, status, payload, max_attempts, run_after, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (type, target) WHERE status IN ('held', 'pending', 'leased') DO NOTHING RETURNING id",
            (type, target, "held" if held else "pending", _text(payload), max_attempts, after, now, now),
        ).fetchone()
        return None if row is None else int(row[0])

    def withdraw(self, target: str, now: int) -> bool:
        """Ends what waits to be done about a target, as nothing that anybody wants any more; whether anything did."""
        return self._withdraw(target, ("held", "pending"), now)

    def withdraw_failed(self, target: str, now: int) -> bool:
        """Ends what failed for good about a target that nobody wants any more: there is nothing to see to."""
        return self._withdraw(target, ("dead",), now)

    def _withdraw(self, target: str, statuses: tuple[JobStatus, ...], now: int) -> bool:
        return (
            self._connection.execute(
                "UPDATE jobs SET status = 'completed', completed_at = ?1, updated_at = ?1, failed_at = NULL,"
                " error = '', error_class = '', result = json_set(result, '$.skipped', 'removed')"
                f" WHERE target = ?2 AND status IN ({_quoted(statuses)})",
                (now, target),
            ).rowcount
            > 0
        )

    def any_held(self) -> bool:
        """Whether a job or raw memory is held."""
        return bool(
            self._connection.execute(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'held')"
                " OR EXISTS (SELECT 1 FROM raw_memories WHERE status = 'held')"
            ).fetchone()[0]
        )

    def release_held(self, now: int) -> int:
        """Lets everything that was held wait for a worker, raw memories with their jobs; how many jobs."""
        released = self._connection.execute(
            "UPDATE jobs SET status = 'pending', run_after = ?1, updated_at = ?1 WHERE status = 'held'",
            (now,),
        ).rowcount
        self._connection.execute("UPDATE raw_memories SET status = 'queued' WHERE status = 'held'")
        return released

    # Leasing

    def lease(self, type: JobType, *, now: int, lease_ms: int, worker: str, token: str) -> Lease | None:
        """Leases the job of this type that has waited longest, None when none may run now; it counts as an attempt.

        worker: who, for people. token: unused so far. lease_ms: how long, unless it is renewed.
        """
        row = self._connection.execute(
            "UPDATE jobs SET status = 'leased', attempts = attempts + 1, lease_token = :token, leased_by = :worker,"
            " leased_at = :now, lease_expires_at = :now + :lease_ms, updated_at = :now"
            " WHERE id = (SELECT id FROM jobs WHERE status = 'pending' AND type = :type"
            "   AND (run_after <= :now OR run_after > :now + :rest) ORDER BY run_after, id LIMIT 1) RETURNING id",
            {
                "token": token, "worker": worker, "now": now, "lease_ms": lease_ms, "type": type,
                "rest": _LONGEST_REST_MS,
            },
        ).fetchone()  # fmt: skip
        if row is None:
            return None
        found = self._connection.execute(f"{_JOBS} WHERE jobs.id = ?", (row[0],)).fetchone()
        return Lease(_job(found), token, json.loads(found["payload"]))

    def ready(self, now: int) -> tuple[JobType, ...]:
        """The types of which a job may run now."""
        return tuple(
            row[0]
            for row in self._connection.execute(
                "SELECT DISTINCT type FROM jobs WHERE status = 'pending' AND (run_after <= ?1 OR run_after > ?1 + ?2)",
                (now, _LONGEST_REST_MS),
            )
        )

    def heartbeat(self, job_id: int, token: str, *, now: int, lease_ms: int) -> bool:
        """Renews a lease by its whole length; False when it is lost."""
        return (
            self._connection.execute(
                "UPDATE jobs SET lease_expires_at = ?, updated_at = ?"
                " WHERE id = ? AND lease_token = ? AND status = 'leased'",
                (now + lease_ms, now, job_id, token),
            ).rowcount
            == 1
        )

    def holds(self, job_id: int, token: str) -> bool:
        """Whether the token still has the job."""
        return (
            self._connection.execute(
                "SELECT 1 FROM jobs WHERE id = ? AND lease_token = ? AND status = 'leased'", (job_id, token)
            ).fetchone()
            is not None
        )

    def result_of(self, job_id: int) -> Mapping[str, Any]:
        """What came of a job so far."""
        row = self._connection.execute("SELECT result FROM jobs WHERE id = ?", (job_id,)).fetchone()
        found = json.loads(row[0]) if row else {}
        return found if isinstance(found, dict) else {}

    # Ending

    def complete(
        self,
        job_id: int,
        token: str,
        *,
        now: int,
        result: Mapping[str, Any] | None = None,
        unread: str = "",
    ) -> bool:
        """Ends a job well; False when the lease is lost. Part of the transaction that writes what the job found.

        unread: what of its text was not read, and why, in words; a retry reads on.
        """
        return (
            self._connection.execute(
                "UPDATE jobs SET status = 'completed', result = :result, completed_at = :now, updated_at = :now,"
                f" error = :unread, error_class = :class, {_UNLEASED}"
                " WHERE id = :id AND lease_token = :token AND status = 'leased'",
                {
                    "result": _text(result), "now": now, "id": job_id, "token": token, "unread": unread,
                    "class": UNREAD if unread else "",
                },
            ).rowcount
            == 1
        )  # fmt: skip

    def put_back(self, job_id: int, token: str, *, now: int, result: Mapping[str, Any]) -> bool:
        """Lets a job of which a part is done wait for its next turn, behind others; False when the lease is lost.

        Whoever takes it goes on with what the result says, with all attempts left.
        """
        return (
            self._connection.execute(
                "UPDATE jobs SET status = 'pending', result = :result, attempts = 0, run_after = :now,"
                f" updated_at = :now, failed_at = NULL, error = '', error_class = '', {_UNLEASED}"
                " WHERE id = :id AND lease_token = :token AND status = 'leased'",
                {"result": _text(result), "now": now, "id": job_id, "token": token},
            ).rowcount
            == 1
        )

    def keep_result(self, job_id: int, token: str, result: Mapping[str, Any]) -> bool:
        """Keeps what came of a job so far, however it ends; False when the lease is lost."""
        return (
            self._connection.execute(
                "UPDATE jobs SET result = ? WHERE id = ? AND lease_token = ? AND status = 'leased'",
                (_text(result), job_id, token),
            ).rowcount
            == 1
        )

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
        row = self._connection.execute(
            "SELECT attempts, max_attempts, run_after, failed_at, error_class FROM jobs"
            " WHERE id = ? AND lease_token = ? AND status = 'leased'",
            (job_id, token),
        ).fetchone()
        if row is None:
            return None
        attempts = row["attempts"]
        # It rests all the same, or a job that fails at once would come again at once.
        rests_until = run_after_ms(now, attempts) + 1 + jitter_ms
        if outage:
            failed_at, again = row["failed_at"] or now, row["error_class"] in OUTAGES
            rested = max(0, row["run_after"] - failed_at) if again else 0
            rests_until = now + outage_rest_ms(rested, answered=answered_at > failed_at) + jitter_ms
        if not (counts or permanent):
            attempts -= 1
        dead = permanent or attempts >= row["max_attempts"]
        status: JobStatus = "dead" if dead else "pending"
        self._connection.execute(
            "UPDATE jobs SET status = :status, attempts = :attempts, run_after = :after, error = :error,"
            f" error_class = :class, failed_at = :now, updated_at = :now, {_UNLEASED} WHERE id = :id",
            {
                "status": status, "attempts": attempts, "after": rests_until, "error": error[:_ERROR_LENGTH],
                "class": error_class, "now": now, "id": job_id,
            },
        )  # fmt: skip
        if dead:
            self._mark_failed((job_id,))
        return status

    def give_back(self, job_id: int, token: str, *, now: int) -> bool:
        """Lets a leased job wait again as if it was not taken: no attempt, no rest. False when the lease is lost."""
        return (
            self._connection.execute(
                "UPDATE jobs SET status = 'pending', attempts = max(0, attempts - 1), run_after = :now,"
                f" updated_at = :now, {_UNLEASED} WHERE id = :id AND lease_token = :token AND status = 'leased'",
                {"now": now, "id": job_id, "token": token},
            ).rowcount
            == 1
        )

    # Putting right

    def any_expired(self, now: int) -> bool:
        """Whether there is something to reap."""
        return (
            self._connection.execute(
                f"SELECT 1 FROM jobs WHERE {_EXPIRED} LIMIT 1", {"now": now, "longest": _LONGEST_LEASE_MS}
            ).fetchone()
            is not None
        )

    def reap(self, now: int) -> Reaped:
        """Takes the jobs back whose lease ran out: they wait again, or are dead where that was the last attempt."""
        rows = self._connection.execute(
            f"SELECT id, attempts >= max_attempts AS spent FROM jobs WHERE {_EXPIRED} ORDER BY id",
            {"now": now, "longest": _LONGEST_LEASE_MS},
        ).fetchall()
        reaped = Reaped(
            tuple(row["id"] for row in rows if not row["spent"]),
            tuple(row["id"] for row in rows if row["spent"]),
        )
        for status, ids in (("pending", reaped.pending), ("dead", reaped.dead)):
            self._connection.executemany(
                "UPDATE jobs SET status = :status, run_after = :now, failed_at = :now, updated_at = :now,"
                f" error = 'lease expired before completion', error_class = '{LEASE_EXPIRED}', {_UNLEASED}"
                " WHERE id = :id",
                [{"status": status, "now": now, "id": each} for each in ids],
            )
        self._mark_failed(reaped.dead)
        return reaped

    def expired(self, now: int) -> tuple[Job, ...]:
        """The jobs whose lease ran out: what `reap` takes back."""
        rows = self._connection.execute(
            f"{_JOBS} WHERE jobs.{_EXPIRED} ORDER BY jobs.id",
            {"now": now, "longest": _LONGEST_LEASE_MS},
        )
        return tuple(_job(row) for row in rows)

    def requeueable(self, most: int) -> tuple[Job, ...]:
        """Dead jobs that another try may help, and that were not requeued before, the oldest first; of each target the
        newest.
        """
        rows = self._connection.execute(
            f"{_JOBS} WHERE {_REQUEUEABLE} ORDER BY jobs.id LIMIT ?",
            (most,),
        )
        return tuple(_job(row) for row in rows)

    def count_requeueable(self) -> int:
        """How many dead jobs there are that another try may help."""
        return int(self._connection.execute(f"SELECT count(*) FROM jobs WHERE {_REQUEUEABLE}").fetchone()[0])

    def requeue(self, job_id: int, now: int) -> bool:
        """Lets a dead job wait again, once in its life; False when it is not dead any more, or was requeued before."""
        marked = self._connection.execute(
            "UPDATE jobs SET payload = json_set(payload, '$.requeued', ?1) WHERE id = ?2 AND status = 'dead'"
            " AND json_extract(payload, '$.requeued') IS NULL",
            (now, job_id),
        ).rowcount
        return bool(marked) and self._revive((job_id,), now) == 1

    def retry(self, job_id: int, now: int) -> None:
        """Lets a dead job wait again, or one that rests run at once.

        Half of the attempts are forgiven, so that a job which always fails is dead again sooner. A job that left a part
        of its text reads on. Raises NotFoundError,
        and InvalidInputError for a job that is neither, or whose target has another job in the queue.
        """
        row = self._connection.execute(
            "SELECT status, error_class FROM jobs WHERE id = ?", (job_id,)
        ).fetchone()
        where, kept = f"job {job_id}", "nothing was changed"
        if row is None:
            raise NotFoundError("no such job", field="job", where=where, kept=kept)
        if row["status"] == "pending":
            self._connection.execute(
                "UPDATE jobs SET run_after = ?1, updated_at = ?1 WHERE id = ?2", (now, job_id)
            )
        elif (row["status"], row["error_class"]) == ("completed", UNREAD):
            self._read_on(job_id, now)
        elif row["status"] != "dead":
            raise InvalidInputError(
                f'a job with the status "{row["status"]}" cannot be retried', where=where, kept=kept
            )
        elif not self._revive((job_id,), now):
            raise InvalidInputError("another job already does this work", where=where, kept=kept)

    def _read_on(self, job_id: int, now: int) -> None:
        self._connection.execute(
            "UPDATE OR IGNORE jobs SET status = 'pending', attempts = 0, run_after = ?1, updated_at = ?1, error = '',"
            " error_class = '', result = json_set(result, '$.progress.more',"
            " coalesce(json_extract(result, '$.progress.more'), 0) + 1) WHERE id = ?2",
            (now, job_id),
        )

    def retry_dead(self, now: int) -> int:
        """Lets all dead jobs wait again, the newest of each target; how many."""
        newest = self._connection.execute(
            "SELECT max(id) FROM jobs AS dead WHERE status = 'dead' AND NOT EXISTS ("
            " SELECT 1 FROM jobs AS later WHERE later.type = dead.type AND later.target = dead.target"
            " AND later.id > dead.id) GROUP BY type, target"
        ).fetchall()
        return self._revive([row[0] for row in newest], now)

    def gave_up_for_outages(self) -> bool:
        """Whether there are dead jobs that an outage may have killed."""
        return bool(
            self._connection.execute(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'dead'"
                f" AND error_class IN ({_quoted(OUTAGES + MAYBE_OUTAGES)}))"
            ).fetchone()[0]
        )

    def revive_after_outage(self, now: int, answered_at: int) -> int:
        """Lets dead jobs wait again that an outage killed, now that the provider is there; how many.

        answered_at: when it last answered, epoch ms. What may have been the job's own fault is let go once, or where
        the model was missing whenever it answered since. Older versions gave jobs up for outages; this one does not.
        """
        rows = self._connection.execute(
            "SELECT id FROM jobs AS dead WHERE status = 'dead' AND ("
            f" error_class IN ({_quoted(OUTAGES)})"
            " OR (error_class = 'model_missing'"
            "   AND (json_extract(payload, '$.revived') IS NULL OR failed_at < :answered))"
            " OR (error_class = 'timeout'"
            "   AND json_extract(payload, '$.revived') IS NULL AND failed_at < :answered))"
            " AND NOT EXISTS (SELECT 1 FROM jobs AS later WHERE later.type = dead.type"
            "   AND later.target = dead.target AND later.id > dead.id) ORDER BY id",
            {"answered": answered_at},
        ).fetchall()
        ids = [row[0] for row in rows]
        self._connection.executemany(
            "UPDATE jobs SET payload = json_set(payload, '$.revived', ?) WHERE id = ?",
            [(now, each) for each in ids],
        )
        return self._revive(ids, now)

    def rests_for_outage(self, now: int) -> bool:
        """Whether a job rests since an outage."""
        return bool(
            self._connection.execute(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND run_after > ?"
                f" AND error_class IN ({_quoted(OUTAGES)}))",
                (now,),
            ).fetchone()[0]
        )

    def wake(self, now: int, *, outages_only: bool = True) -> int:
        """Ends the rest of jobs, since the provider is back or a person asks; how many. outages_only: no other ones."""
        classes = OUTAGES if outages_only else ()
        only = f"error_class IN ({_quoted(classes)})" if classes else "error_class <> ''"
        return self._connection.execute(
            f"UPDATE jobs SET run_after = ?1 WHERE status = 'pending' AND run_after > ?1 AND {only}", (now,)
        ).rowcount

    def _revive(self, ids: Iterable[int], now: int) -> int:
        revived = 0
        for job_id in ids:
            changed = self._connection.execute(
                "UPDATE OR IGNORE jobs SET status = 'pending', attempts = min(attempts, max_attempts) / 2,"
                " run_after = ?1, updated_at = ?1 WHERE id = ?2 AND status = 'dead'"
                # Nobody wants to read what was removed.
                " AND NOT EXISTS (SELECT 1 FROM tombstones WHERE tombstones.id = jobs.target)",
                (now, job_id),
            ).rowcount
            if changed:
                self._connection.execute(
                    "UPDATE raw_memories SET status = 'queued' WHERE status = 'failed'"
                    " AND id = (SELECT target FROM jobs WHERE id = ? AND type = 'extract')",
                    (job_id,),
                )
                self._connection.execute(
                    "UPDATE documents SET status = 'queued', error = '', updated_at = ?2 WHERE status = 'failed'"
                    " AND id = (SELECT target FROM jobs WHERE id = ?1 AND type = 'document_ingest')",
                    (job_id, now),
                )
            revived += changed
        return revived

    def _mark_failed(self, ids: Iterable[int]) -> None:
        self._connection.executemany(
            "UPDATE raw_memories SET status = 'failed' WHERE status IN ('queued', 'held')"
            " AND id = (SELECT target FROM jobs WHERE id = ? AND type = 'extract')",
            [(each,) for each in ids],
        )
        self._connection.executemany(
            "UPDATE documents SET status = 'failed', error = (SELECT error FROM jobs WHERE id = ?1),"
            " updated_at = (SELECT updated_at FROM jobs WHERE id = ?1) WHERE status <> 'done' AND removed_at IS NULL"
            " AND id = (SELECT target FROM jobs WHERE id = ?1 AND type = 'document_ingest')",
            [(each,) for each in ids],
        )

    # Reading

    def texts_waiting(self) -> int:
        """How many texts wait to be read."""
        return int(
            self._connection.execute(
                "SELECT count(*) FROM jobs WHERE status = 'pending' AND type = 'extract'"
            ).fetchone()[0]
        )

    def job(self, job_id: int) -> Job | None:
        """A job, None for none of this id."""
        row = self._connection.execute(f"{_JOBS} WHERE jobs.id = ?", (job_id,)).fetchone()
        return None if row is None else _job(row)

    def jobs(self, status: JobStatus | None = None, *, target: str = "", most: int = 200) -> tuple[Job, ...]:
        """Jobs, those that ended or were put in last first. target: only those about it."""
        conditions: list[tuple[str, str]] = [("jobs.status = ?", status)] if status else []
        conditions += [("jobs.target = ?", target)] if target else []
        where = f"WHERE {' AND '.join(condition for condition, _ in conditions)}" if conditions else ""
        rows = self._connection.execute(
            f"{_JOBS} {where} ORDER BY jobs.updated_at DESC, jobs.id DESC LIMIT ?",
            (*(value for _, value in conditions), most),
        )
        return tuple(_job(row) for row in rows)

    def counts(self) -> dict[JobStatus, int]:
        """How many jobs there are of each status that occurs."""
        return {
            row[0]: row[1]
            for row in self._connection.execute("SELECT status, count(*) FROM jobs GROUP BY status")
        }

    def running(self) -> tuple[Job, ...]:
        """The jobs that workers have, the one taken first at the head."""
        rows = self._connection.execute(
            f"{_JOBS} WHERE jobs.status = 'leased' ORDER BY jobs.leased_at, jobs.id"
        )
        return tuple(_job(row) for row in rows)
