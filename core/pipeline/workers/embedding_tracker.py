"""The embedding tracker: makes the vectors of notes and chunks that are missing or of another text or model."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.pipeline.database.connection import Database
from core.pipeline.database.notes import DueText, MadeVector
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.intake.redaction import redact
from core.pipeline.models.provider import CallRefusedError, ModelError, fitting
from core.pipeline.note_linking import text_of
from core.pipeline.records import EmbeddingCoverage
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot
    from core.pipeline.model_calls import ModelCaller

# Models take no more of one text, or little; so many characters are sent.
LONGEST_TEXT: Final = 8_000
_LONGEST_ERROR: Final = 500
_LONG_REST_MS: Final = 30_000


def coverage(
    database: Database, configuration: PipelineConfiguration, waits: str = ""
) -> EmbeddingCoverage | None:
    """How far the vectors of the configured model are made; None where no model for embeddings is named.

    waits: why none can be made just now, as `ModelCaller.embedder_health` says it.
    """
    part = configuration.embedding
    if not part.model or part.provider == "none":
        return None
    with database.checked_reading() as reader:
        return replace(reader.embeddings.coverage(part.model, part.dimensions), waits=waits)


class EmbeddingTracker:
    """Follows one memory: each cycle makes one call for a few texts, and writes once.

    A text that fails rests, longer each time, so that it never stands in the way of others; while no call can be made,
    nothing fails. now: epoch ms.
    """

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self._due: deque[DueText] = deque()
        self._asked: tuple[str, int] = ("", 0)
        # When there was nothing to do or no way to do it; None: look at once.
        self._idle_since: int | None = None
        # So many texts go alone: a call for them together failed.
        self._alone = 0
        # So many vectors were made by this process.
        self.made = 0

    def retry_now(self) -> int:
        """Ends the rest of texts that failed, and looks at once; how many rested."""
        self._due.clear()
        self._idle_since = None
        with self._database.write(lasting=False) as writer:
            return writer.embeddings.retry_now()

    def cycle(self, configuration: PipelineConfiguration, caller: ModelCaller, snapshot: Snapshot) -> int:
        """Makes the vectors of some texts; how many were tried.

        0 when there is nothing to do, or no call can be made now. snapshot: of the memory, as `note_links` was brought
        up to it. Raises errors of the database alone.
        """
        part, tracking = configuration.embedding, configuration.embedding_tracker
        if caller.embedder is None or not tracking.enabled:
            return 0
        if self._asked != (part.model, part.dimensions):
            self._due.clear()
            self._asked, self._idle_since = (part.model, part.dimensions), None
        now, idle = self._now(), self._idle_since
        if idle is not None and -_LONG_REST_MS <= now - idle < tracking.poll_ms:
            return 0
        self._idle_since = None
        if not self._due and not self._look(snapshot, now):
            return 0
        if not caller.ready_to_embed().ok:
            self._idle_since = now
            return 0
        batch = [self._due.popleft() for _ in range(min(self._most(tracking.batch_size), len(self._due)))]
        return self._embed(batch, configuration, caller.about("embedding"), snapshot)

    def _most(self, batch_size: int) -> int:
        if not self._alone:
            return batch_size
        self._alone -= 1
        return 1

    def _look(self, snapshot: Snapshot, now: int) -> bool:
        """Looks for all that is due, the newest notes first, after what never failed; whether there is any."""
        reader = self._database.reading.embeddings
        if not reader.coverage(*self._asked).missing:
            self._idle_since = now
            return False
        found = reader.due(*self._asked, now)
        by_id = snapshot.by_id

        def newest(text: DueText) -> str:
            note = by_id.get(text.target) if text.kind == "note" else None
            return note.updated_at if note is not None else ""

        ordered = sorted(found, key=newest, reverse=True)
        ordered.sort(key=lambda text: text.failures)
        self._due.extend(ordered)
        # What fails rests for half a minute at least, and to look for all that is due takes a while.
        if not ordered:
            self._idle_since = now + _LONG_REST_MS
        return bool(ordered)

    def _embed(
        self,
        batch: Sequence[DueText],
        configuration: PipelineConfiguration,
        caller: ModelCaller,
        snapshot: Snapshot,
    ) -> int:
        """Asks the model once, outside of any transaction, and writes what came of it in one."""
        model, dimensions = self._asked
        reader = self._database.reading.embeddings
        asked = [(text, said) for text in batch if (said := self._text(text, snapshot)) is not None]
        made: list[MadeVector] = []
        failed: list[tuple[DueText, str]] = []
        blank = [(text, said) for text, said in asked if not said.strip()]
        failed += [(text, "it says nothing") for text, _ in blank]
        asked = [one for one in asked if one not in blank]
        try:
            if asked:
                found = caller.embed([said for _, said in asked], configuration.embedding.timeout / 1_000)
                expected = dimensions or _usual(reader.lately(model), found.vectors)
                for (text, _), vector in zip(asked, found.vectors, strict=True):
                    try:
                        usable = fitting(vector, expected)
                    except ModelError as error:
                        failed.append((text, error.message))
                        continue
                    made.append(MadeVector(text.kind, text.target, text.text_hash, usable))
        except CallRefusedError:
            # Nobody was asked, or nobody is there: the texts are none the worse for it.
            self._due.extendleft(text for text, _ in reversed(asked))
            self._idle_since = self._now()
        except ModelError as error:
            if len(asked) > 1:
                # Which of them it was shows when each goes alone.
                self._alone = len(asked)
                self._due.extendleft(text for text, _ in reversed(asked))
                self._write(made, failed)
                return len(asked)
            failed += [(text, error.message) for text, _ in asked]
        return self._write(made, failed)

    def _write(self, made: Sequence[MadeVector], failed: Sequence[tuple[DueText, str]]) -> int:
        model, now = self._asked[0], self._now()
        if not (made or failed):
            return 0
        with self._database.write(lasting=False) as writer:
            done = sum(writer.embeddings.store(model, one, now) for one in made)
            for text, why in failed:
                writer.embeddings.failed(model, text, why[:_LONGEST_ERROR], now)
        self.made += done
        return done + len(failed)

    def _text(self, text: DueText, snapshot: Snapshot) -> str | None:
        """What is sent of a note or chunk; None where it is gone, hidden, or says something else by now."""
        if text.kind == "chunk":
            said = self._database.reading.embeddings.chunk_text(text.target)
        else:
            note = snapshot.by_id.get(text.target)
            if note is None or note.hidden:
                return None
            said = text_of(note)
            if content_hash(said) != text.text_hash:
                return None
        return redact(said[:LONGEST_TEXT]).text


def _usual(lately: Mapping[int, int], vectors: Sequence[array[float] | None]) -> int:
    """How many dimensions most vectors have, former ones and these; of as many those that the model gives now."""
    now = Counter(len(vector) for vector in vectors if vector is not None)
    both = now + Counter(dict(lately))
    return max(both, key=lambda one: (both[one], now[one]), default=0)
