"""Rows of sessions: what happened in each since its last checkpoint, the checkpoints, what each was given, and how much
of that helped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from core.pipeline.database.tables import Rows
from core.pipeline.records import SessionOverview
from core.settings.pipeline_sections import FeedbackPart

MOST_QUERIES: Final = 20
MOST_REMEMBERS: Final = 10
MOST_SNIPPETS: Final = 10
MOST_FILES: Final = 20
LONGEST_SNIPPET: Final = 200
LONGEST_STORED: Final = 120
_LONGEST_CONTEXT: Final = 2_000
_DAY_MS: Final = 86_400_000
ScoreStatus = Literal[
    "waiting", "scored", "by_words", "unparseable", "failed", "nothing_recalled", "no_conversation"
]


class Activity(NamedTuple):
    """What happened, the latest last. prompts: how many; snippets: the beginnings of the latest ones. context: what the
    agent said that it works on.
    """

    prompts: int = 0
    queries: tuple[str, ...] = ()
    remembers: tuple[str, ...] = ()
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    context: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing happened."""
        return self == Activity()

    def merged(self, later: Activity) -> Activity:
        """Both, within bounds: what was said before is not said again, and the newest context stands."""
        return Activity(
            self.prompts + later.prompts,
            _newest((*self.queries, *later.queries), LONGEST_SNIPPET, MOST_QUERIES),
            _newest((*self.remembers, *later.remembers), LONGEST_STORED, MOST_REMEMBERS),
            tuple(_lines((*self.snippets, *later.snippets), LONGEST_SNIPPET))[-MOST_SNIPPETS:],
            _newest((*self.files, *later.files), 4 * LONGEST_SNIPPET, MOST_FILES),
            (later.context.strip() or self.context)[:_LONGEST_CONTEXT],
        )


def activity_of(text: str) -> Activity:
    """What a row says of it; nothing for a text that was never written there."""
    try:
        held = json.loads(text)
        lists = {name: tuple(map(str, held[name])) for name in ("queries", "remembers", "snippets", "files")}
        return Activity(int(held["prompts"]), **lists, context=str(held["context"]))
    except (ValueError, KeyError, TypeError):
        return Activity()


def is_due(elapsed: int, prompts: int, *, interval: int, prompt_interval: int) -> bool:
    """Whether a periodic checkpoint is due. elapsed, interval: milliseconds since the last one, and at most."""
    return prompts > 0 and (elapsed >= interval or prompts >= prompt_interval)


def _newest(said: tuple[str, ...], longest: int, most: int) -> tuple[str, ...]:
    """Each once, the newest of them."""
    return tuple(dict.fromkeys(_lines(said, longest)))[-most:]


def _lines(said: tuple[str, ...], longest: int) -> list[str]:
    lines = (" ".join(one.split())[:longest] for one in said)
    return [line for line in lines if line]


class Session(NamedTuple):
    """A session as it is stored. prompts: all of them. marked: of the last event taken from hooks; 0 for none.

    since: of the last checkpoint, or of the beginning; pending: what happened from then on. due: when a checkpoint of
    that is to be kept, None for not yet. Times are in epoch milliseconds.
    """

    key: str
    project: str
    author: str
    started: int
    updated: int
    ended: int | None = None
    prompts: int = 0
    marked: int = 0
    since: int = 0
    pending: Activity = Activity()
    due: int | None = None


class Checkpoint(NamedTuple):
    """A checkpoint as it is stored. cause: what called for it. created_at: epoch ms."""

    id: int
    session: str
    project: str
    author: str
    cause: str
    digest: str
    redactions: int
    created_at: int


class SessionMemory(NamedTuple):
    """A memory that a session was given. times: it answered a recall; ahead: it was given before anybody asked;
    baseline: its place then without a predictor, counted from 1, 0 for none. lexical, relevance: how much it helped, 0
    to 1, by words and as a model says; None while nobody knows.
    """

    note_id: str
    times: int
    at: int
    relevance: float | None = None
    ahead: int = 0
    baseline: int = 0
    lexical: float | None = None
    confirmed: bool = False

    @property
    def helped(self) -> float | None:
        """How much it helped: as a model says, else by words."""
        return self.lexical if self.relevance is None else self.relevance


class SessionScore(NamedTuple):
    """How much of what a session was given helped. status: how that was told: "scored" by a model, "by_words" without
    one, "unparseable" where its answer said no score, "failed" where it gave none, "waiting" until the job is done.

    score, confidence: of the model, 0 to 1; None where it said none. lexical: the mean share, 0 to 1, of the memories'
    words that the conversation holds; None where there were none or no conversation. recalled: memories; used: those
    that helped; said_used: as the model says; novel: what had to be found out anew. characters: of the conversation.
    rounds: how often it was scored to the end. Times are in epoch milliseconds.
    """

    session: str
    scored: int
    lexical: float | None
    recalled: int
    used: int
    status: ScoreStatus = "waiting"
    score: float | None = None
    confidence: float | None = None
    said_used: int = 0
    novel: int = 0
    reasoning: str = ""
    model: str = ""
    characters: int = 0
    rounds: int = 0


class Averages(NamedTuple):
    """The exponential moving averages of a measure, the long one over about fifty sessions. drifts: whether the order
    got worse than it used to be. sessions: how many so far.
    """

    average: float
    long_average: float
    drifts: bool
    sessions: int


class ComparedNote(NamedTuple):
    """A memory that was given ahead. place, baseline: where it stood, and where without a predictor, counted from 1.
    relevance: how much it helped, 0 to 1.
    """

    note_id: str
    place: int
    baseline: int
    relevance: float


class Comparison(NamedTuple):
    """How good the order was, 0 to 1, and that without a predictor, as NDCG@10. Times are in epoch milliseconds."""

    session: str
    at: int
    predictor: str
    ndcg: float
    baseline: float
    averages: Averages
    notes: tuple[ComparedNote, ...]


_SESSION: Final = (
    "SELECT session_key, project, author, started_at, updated_at, ended_at, prompts, marked, since, activity, due_at "
    "FROM sessions"
)
_CHECKPOINT: Final = "id, session_key, project, author, cause, digest, redactions, created_at"
_MEMORY: Final = "note_id, times, recalled_at, relevance, ahead, baseline, lexical, confirmed"
_SCORE: Final = (
    "session_key, scored_at, lexical, recalled, used, status, score, confidence, said_used, novel, reasoning, model, "
    "characters, rounds"
)


class Sessions(Rows):
    """Sessions of agents."""

    def session(self, key: str) -> Session | None:
        """A session; None for one that is not known."""
        return next(iter(self._sessions("WHERE session_key = ?", key)), None)

    def newest_pending(self, project: str, but: str = "") -> Session | None:
        """The session in which something happened last that no checkpoint tells of, of a project or ("") of all. but:
        another one than this.
        """
        found = self._sessions(
            "WHERE activity <> '' AND session_key <> ?1 AND (?2 = '' OR project = ?2)"
            " ORDER BY updated_at DESC, session_key LIMIT 1",
            but, project,
        )  # fmt: skip
        return next(iter(found), None)

    def due(self, now: int) -> tuple[Session, ...]:
        """Sessions of which a checkpoint is to be kept by now."""
        return self._sessions("WHERE due_at <= ? ORDER BY due_at, session_key", now)

    def _sessions(self, which: str, *values: object) -> tuple[Session, ...]:
        rows = self.ask(f"{_SESSION} {which}", *values)
        return tuple(Session._make((*row[:9], activity_of(row[9]), row[10])) for row in rows)

    def put(self, session: Session) -> None:
        """Stores a session, with what happened since its last checkpoint, in the place of what was known of it."""
        *known, pending, due = session
        activity = "" if pending.empty else json.dumps(pending._asdict(), ensure_ascii=False)
        self.run(
            "INSERT OR REPLACE INTO sessions (session_key, project, author, started_at, updated_at, ended_at, prompts,"
            " marked, since, activity, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *known, activity, due if activity else None,
        )  # fmt: skip

    def overviews(self, most: int, key: str = "") -> tuple[SessionOverview, ...]:
        """The sessions in short, those that something happened in last first, those that only have checkpoints among
        them. key: of one session alone.
        """
        found = []
        score = ", ".join(f"score.{name}" for name in _SCORE.split(", "))
        for row in self.ask(
            f"SELECT one.*, {score} FROM session_overviews AS one LEFT JOIN session_scores AS score USING (session_key)"
            " WHERE ?1 = '' OR one.session_key = ?1 ORDER BY updated DESC, one.session_key LIMIT ?2",
            key, most,
        ):  # fmt: skip
            score_of = None if row["scored_at"] is None else SessionScore(*row[10:])
            found.append(SessionOverview(*(*row[:8], bool(row[8]), row[9], score_of)))
        return tuple(found)

    # Checkpoints

    def insert_checkpoint(self, checkpoint: Checkpoint) -> int:
        """Adds a checkpoint, whose own id counts for nothing; the id that it gets."""
        return self.count(
            f"INSERT INTO checkpoints ({_CHECKPOINT}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            *checkpoint[1:],
        )

    def count_of(self, session: str) -> int:
        """How many checkpoints a session has."""
        return self.count("SELECT count(*) FROM checkpoints WHERE session_key = ?", session)

    def drop_oldest(self, session: str, most: int) -> int:
        """Deletes the oldest checkpoints of a session beyond so many; how many."""
        return self.run(
            "DELETE FROM checkpoints WHERE session_key = ?1 AND id NOT IN "
            "(SELECT id FROM checkpoints WHERE session_key = ?1 ORDER BY id DESC LIMIT ?2)",
            session, most,
        )  # fmt: skip

    def newest_session(self, project: str) -> str:
        """The session with the newest checkpoint, of a project or ("") of all; "" for none."""
        which = "WHERE ?1 = '' OR project = ?1 ORDER BY id DESC LIMIT 1"
        return self.text(f"SELECT session_key FROM checkpoints {which}", project)

    def newest(self, session: str, most: int) -> tuple[Checkpoint, ...]:
        """The newest checkpoints of a session, at most so many, the newest first."""
        which = "WHERE session_key = ? ORDER BY id DESC LIMIT ?"
        rows = self.ask(f"SELECT {_CHECKPOINT} FROM checkpoints {which}", session, most)
        return tuple(Checkpoint(*row) for row in rows)

    # What each was given

    def add_recall(self, session: str, note_id: str, now: int) -> None:
        """Counts that a note answered a recall in a session."""
        self.run(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?) "
            "ON CONFLICT (session_key, note_id) DO UPDATE SET times = times + 1, recalled_at = excluded.recalled_at",
            session, note_id, now,
        )  # fmt: skip

    def add_counted(self, session: str, recalls: Iterable[tuple[str, int]]) -> None:
        """Adds notes whose recalls the memory counted for a session, each with when, epoch ms; known ones stay as they
        are, but for those that were only given ahead.
        """
        self.connection.executemany(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?) "
            "ON CONFLICT (session_key, note_id) DO UPDATE SET times = max(times, 1)",
            ((session, note_id, at) for note_id, at in recalls),
        )

    def add_ahead(self, session: str, given: Iterable[tuple[str, int]], now: int) -> None:
        """Adds notes that a session was given before anybody asked, in their order, each with its place without a
        predictor.
        """
        self.connection.executemany(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at, ahead, baseline) "
            "VALUES (?, ?, 0, ?, 1, ?) ON CONFLICT (session_key, note_id) DO UPDATE SET ahead = ahead + 1, "
            "baseline = CASE baseline WHEN 0 THEN excluded.baseline ELSE baseline END",
            ((session, note_id, now, place) for note_id, place in given),
        )

    def memories_of(self, session: str) -> tuple[SessionMemory, ...]:
        """What a session was given, the first first."""
        rows = self.ask(
            f"SELECT {_MEMORY} FROM session_memories WHERE session_key = ? ORDER BY rowid", session
        )
        return tuple(SessionMemory._make((*row[:7], bool(row[7]))) for row in rows)

    def helped_before(self, note_ids: Iterable[str]) -> dict[str, tuple[int, float]]:
        """In how many sessions notes were given and rated, and how much they helped there on average."""
        rows = self.ask(
            "SELECT note_id, count(*), avg(coalesce(relevance, lexical)) FROM session_memories "
            "WHERE note_id IN (SELECT value FROM json_each(?)) AND coalesce(relevance, lexical) IS NOT NULL "
            "GROUP BY note_id",
            json.dumps(list(note_ids)),
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def confirm(self, session: str, note_ids: Iterable[str], settings: FeedbackPart, now: int) -> None:
        """Lets the aspects weigh more that facts of these notes belong to, for each of the notes that confirms one and
        was not confirmed by this session yet; unchanged by none but for the bounds, of which the greater one holds.
        now: epoch ms.
        """
        rows = self.ask(
            "UPDATE session_memories SET confirmed = 1 WHERE session_key = ? AND confirmed = 0 "
            "AND note_id IN (SELECT value FROM json_each(?)) RETURNING note_id",
            session, json.dumps(list(note_ids)),
        ).fetchall()  # fmt: skip
        most = settings.max_aspect_weight
        self.run(
            "UPDATE aspects SET last_confirmed_at = :now, "
            "weight = max(:least, min(:most, weight + :delta * found.notes)) "
            "FROM (SELECT aspect_id, count(DISTINCT facts.note_id) AS notes FROM attributes "
            "JOIN facts ON facts.id = fact_id WHERE facts.note_id IN (SELECT value FROM json_each(:ids)) "
            "AND aspect_id IS NOT NULL AND attributes.status = 'active' GROUP BY aspect_id) AS found "
            "WHERE aspects.id = found.aspect_id",
            ids=json.dumps([row[0] for row in rows]), least=min(settings.min_aspect_weight, most), most=most,
            delta=settings.fts_weight_delta, now=now,
        )  # fmt: skip

    def fade_aspects(self, settings: FeedbackPart, now: int) -> None:
        """Lets the aspects weigh less that nothing confirmed for long, down to a bound. now: epoch ms."""
        self.run(
            "UPDATE aspects SET weight = max(:least, weight - :rate), last_decayed_at = :now "
            "WHERE :now - max(created_at, coalesce(last_confirmed_at, 0), coalesce(last_decayed_at, 0)) > :stale "
            "AND max(:least, weight - :rate) < weight",
            least=min(settings.min_aspect_weight, settings.max_aspect_weight), rate=settings.decay_rate,
            stale=settings.stale_days * _DAY_MS, now=now,
        )  # fmt: skip

    # How much of it helped, and how good its order was

    def store_score(self, score: SessionScore) -> None:
        """Stores the score of a session in the place of a former one."""
        marks = ", ".join("?" for _ in score)
        self.run(f"INSERT OR REPLACE INTO session_scores ({_SCORE}) VALUES ({marks})", *score)

    def score_of(self, session: str) -> SessionScore | None:
        """The score of a session; None for one that did not end."""
        row = self.row(f"SELECT {_SCORE} FROM session_scores WHERE session_key = ?", session)
        return None if row is None else SessionScore(*row)

    def comparison_of(self, session: str) -> Comparison | None:
        """The comparison of a session, with the averages of its predictor by then; None for one without."""
        row = self.row(
            "SELECT session_key, scored_at, predictor, ndcg, baseline_ndcg, notes FROM session_scores"
            " WHERE ndcg IS NOT NULL AND session_key = ?",
            session,
        )
        if row is None:
            return None
        so_far: Averages | None = None
        for value in self.column(
            "SELECT ndcg FROM session_scores WHERE ndcg IS NOT NULL AND predictor = ?1"
            " AND (scored_at, rowid) <= (SELECT scored_at, rowid FROM session_scores WHERE session_key = ?2)"
            " ORDER BY scored_at, rowid",
            row["predictor"], session,
        ):  # fmt: skip
            so_far = averaged(value, so_far)
        assert so_far is not None
        notes = tuple(ComparedNote(*one) for one in json.loads(row["notes"]))
        return Comparison._make((*row[:5], so_far, notes))


# How much the newest session counts in the average, and in the long one that it is held against.
_NEW: Final = 0.2
_NEW_IN_LONG: Final = 0.02
# An average that is lower than the long one by so much has drifted, once there are enough sessions to tell.
_DRIFT: Final = 0.1
_ENOUGH: Final = 10


def averaged(value: float, before: Averages | None) -> Averages:
    """The averages after one more session."""
    if before is None:
        return Averages(value, value, False, 1)
    count = before.sessions + 1
    average = before.average + _NEW * (value - before.average)
    # A true mean until there are many: the first session alone would weigh for ever.
    long_average = before.long_average + max(_NEW_IN_LONG, 1 / count) * (value - before.long_average)
    return Averages(average, long_average, count >= _ENOUGH and average < long_average - _DRIFT, count)
