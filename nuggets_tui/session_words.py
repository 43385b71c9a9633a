"""What is said of a session of an agent: what it was given, and how much of that helped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from core.text.normalise import squeeze
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.database.sessions import SessionMemory, SessionScore
    from core.pipeline.records import SessionPage

_MOST: Final = 50
_TITLE: Final = 60
_TOLD: Final = {
    "waiting": "told by the words of the conversation so far; the app or `nuggets daemon` finds out the rest",
    "by_words": "told by the words of the conversation",
    "scored": "told by a model",
    "unparseable": "the model's answer said no score; told by the words of the conversation",
    "failed": "the model gave no answer; told by the words of the conversation",
    "nothing_recalled": "it was given nothing",
    "no_conversation": "nobody knows: its conversation was not read",
}
_UNKNOWN: Final = "nobody knows yet; the app or `nuggets daemon` finds out"


def given_words(count: int) -> str:
    """How many memories a session was given; "" for none."""
    return f"{plural(count, 'memory', 'memories')} given" if count else ""


def helped_words(score: SessionScore) -> str:
    """How many of the memories helped that a session was given, as far as anybody knows."""
    if score.status == "no_conversation" or score.lexical is None:
        return given_words(score.recalled)
    return f"{score.used} of {plural(score.recalled, 'memory', 'memories')} helped"


def memory_lines(page: SessionPage, titles: Mapping[str, str]) -> Iterator[str]:
    """What a session was given, a line each, the first first. titles: of notes that are there, by id."""
    for one in page.memories[:_MOST]:
        title = squeeze(titles.get(one.note_id, "a note that is gone"))
        shown = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
        yield f"{shown} ({one.note_id}): {_how(one)}{_use(one)}"
    if len(page.memories) > _MOST:
        yield f"and {len(page.memories) - _MOST:,} more"
    if not page.memories:
        yield "nothing so far"


def score_lines(page: SessionPage) -> Iterator[str]:
    """How much of what a session was given helped, and how that was told."""
    score, compared = page.overview.score, page.comparison
    if score is None:
        return
    told = _UNKNOWN if score.status == "waiting" and score.lexical is None else _TOLD[score.status]
    yield f"{helped_words(score)}: {told}" if score.recalled else told
    if score.score is not None:
        sure = f", {score.confidence:.0%} sure" if score.confidence is not None else ""
        yield f"score {score.score:.2f} by {score.model or 'the model'}{sure}"
    if score.lexical is not None:
        yield f"{score.lexical:.0%} of the words of these memories were said"
    if score.reasoning:
        yield score.reasoning
    if compared is not None:
        drifts = "; it gets worse" if compared.averages.drifts else ""
        yield (
            f"order at its start: NDCG@10 {compared.ndcg:.2f}, without a predictor {compared.baseline:.2f}, "
            f"on average {compared.averages.average:.2f}{drifts}"
        )


def _how(one: SessionMemory) -> str:
    ways = ["given at the start"] if one.ahead else []
    ways += [f"recalled {one.times} times" if one.times > 1 else "recalled"] if one.times else []
    return ", ".join(ways)


def _use(one: SessionMemory) -> str:
    if one.helped is None:
        return ""
    return f", helped {one.helped:.0%}" if one.helped else ", did not help"
