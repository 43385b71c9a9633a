"""The pipeline's signals for a search: reads its database, when there is one, and writes nothing."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from core.folder import PIPELINE_FILE
from core.pipeline.configuration import LoadedConfiguration, load_configuration, newer
from core.pipeline.database.migrations import VERSION, Migrations
from core.pipeline.database.note_names import NotesNamed
from core.pipeline.database.tables import Tables
from core.pipeline.recall.dampening import gravity, hub, least_hub, resolution, telling, tokens
from core.pipeline.recall.entity_boost import NamedInQuery, names_in_query
from core.pipeline.recall.hints import hint_signal, likeness
from core.search.signals import NO_SIGNALS, Ranked, Signal, Signals, after
from core.settings.pipeline_sections import PipelineConfiguration
from core.storage.files.sqlite import DATABASE_ERRORS, address_to_read

# Decisions about what a query names stand no lower than the hit at this place; so many of them.
_PLACE: Final = 5
_MOST_DECISIONS: Final = 3
_LEAST_DECISION: Final = 0.2
# So many hints are looked at; one says something of a query from such a likeness on.
_MOST_HINTS: Final = 100
_NEAR: Final = 0.5
_LITTLE_MORE: Final = 1 + 1e-9
# Nobody waits for who writes.
_BUSY_SECONDS: Final = 0.05


class PipelineSignals:
    """What the pipeline of one memory knows of its notes. Safe to use from several threads.

    clock: seconds, for deadlines.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._home = home
        self._clock = clock
        self._loaded: LoadedConfiguration | None = None

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        """See `SignalSource`."""
        try:
            configuration = self._configuration()
            if not configuration.enabled:
                return NO_SIGNALS
            with self._opened() as reader:
                return NO_SIGNALS if reader is None else self._asked(reader, configuration, text, ranked)
        except (*DATABASE_ERRORS, OSError):
            # A search goes on without what cannot be read now; who looks at the pipeline is told of it.
            return NO_SIGNALS

    def _configuration(self) -> PipelineConfiguration:
        loaded = self._loaded
        found = load_configuration(self._home) if loaded is None else newer(loaded, self._home) or loaded
        self._loaded = found
        return found.configuration

    @contextmanager
    def _opened(self) -> Iterator[Tables | None]:
        """The database as it is; None for one of a former version, which its next writer brings up to date."""
        address, _ = address_to_read(self._home / PIPELINE_FILE)
        with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA query_only = ON")
            yield Tables(connection) if Migrations(connection).version() >= VERSION else None

    def _asked(
        self, reader: Tables, configuration: PipelineConfiguration, text: str, ranked: Sequence[Ranked]
    ) -> Signals:
        named = reader.note_names.of_notes([one.note.id for one in ranked])
        asked = self._names(reader, configuration, text)
        hubs = _hubs(reader, configuration, named)
        words = telling(tokens(text))
        hints = _hints(reader, configuration, words)
        # What no word of the query found is found by its hint alone.
        found: dict[str, tuple[Signal, ...]] = {
            id: (hint_signal(hint, score, alone=True),) for id, (score, hint) in hints.items()
        }
        for one in ranked:
            of_note = named.get(one.note.id, NotesNamed(frozenset(), False))
            found.pop(one.note.id, None)
            given = tuple(_signals(configuration, one, of_note, asked, hubs, words, hints.get(one.note.id)))
            if given:
                found[one.note.id] = given
        for id in _decisions(reader, configuration, asked, ranked, named):
            floor = Signal("constraint", at_least=_floor(ranked, found))
            found[id] = (*found.get(id, ()), floor)
        return Signals(found, asked.timed_out)

    def _names(self, reader: Tables, configuration: PipelineConfiguration, text: str) -> NamedInQuery:
        if not configuration.graph.enabled:
            return NamedInQuery()
        ends = self._clock() + configuration.graph.boost_timeout_ms / 1000
        return names_in_query(reader, text, lambda: self._clock() >= ends)


def _signals(
    configuration: PipelineConfiguration,
    one: Ranked,
    of_note: NotesNamed,
    asked: NamedInQuery,
    hubs: Collection[int],
    words: Collection[str],
    hinted: tuple[float, str] | None,
) -> Iterator[Signal]:
    """What a note among the best hits gets, in the order in which it counts."""
    part, note = configuration.dampening, one.note
    if hinted is not None:
        yield hint_signal(hinted[1], hinted[0], alone=not one.shares_words)
    share, why = asked.best(of_note.names)
    if share and configuration.graph.boost_weight:
        yield Signal("entity", why, added=share * configuration.graph.boost_weight)
    drawn = None
    if not (one.shares_words or share or hinted):
        drawn = gravity(part, one.score, words, tokens(f"{note.title}\n{note.content}"))
    decided = of_note.protected or "decision" in note.tags
    # Of what was not asked for it says little that it is decided, or dated (measured).
    settled = resolution(part, decided, note.content) if share else None
    for signal in (drawn, hub(part, of_note.names, hubs), settled):
        if signal is not None:
            yield signal


def _hints(
    reader: Tables, configuration: PipelineConfiguration, words: Collection[str]
) -> dict[str, tuple[float, str]]:
    """Of notes with a hint that is near to the query, how near, and the hint that is nearest."""
    found: dict[str, tuple[float, str]] = {}
    if not configuration.hints.enabled:
        return found
    for hint in reader.hints.matching(words, _MOST_HINTS):
        score = likeness(words, telling(tokens(hint.text)))
        if score >= _NEAR and score > found.get(hint.note_id, (0.0, ""))[0]:
            found[hint.note_id] = score, hint.text
    return found


def _hubs(
    reader: Tables, configuration: PipelineConfiguration, named: Mapping[str, NotesNamed]
) -> frozenset[int]:
    names = reader.note_names
    least = least_hub(configuration.dampening, names.count(), names.count_notes(), names.notes_at)
    if least is None:
        return frozenset()
    return names.common({name for one in named.values() for name in one.names}, least)


def _decisions(
    reader: Tables,
    configuration: PipelineConfiguration,
    asked: NamedInQuery,
    ranked: Sequence[Ranked],
    named: Mapping[str, NotesNamed],
) -> list[str]:
    """Notes with decisions about what the query names in full, the best hits among them first."""
    if not asked.whole:
        return []
    hits = [
        one.note.id
        for one in ranked
        if (of := named.get(one.note.id)) and of.protected and of.names & asked.whole
    ]
    others = (
        reader.note_names.protected_notes(asked.whole, _MOST_DECISIONS) if len(hits) < _MOST_DECISIONS else ()
    )
    return list(dict.fromkeys([*hits, *others]))[:_MOST_DECISIONS]


def _floor(ranked: Sequence[Ranked], found: Mapping[str, Sequence[Signal]]) -> float:
    """What a decision scores at least: a little more than the hit at its place, for many may have one score."""
    scores = sorted((after(found.get(one.note.id, ()), one.score) for one in ranked), reverse=True)
    return _LITTLE_MORE * max(scores[_PLACE - 1] if len(scores) >= _PLACE else 0.0, _LEAST_DECISION)
