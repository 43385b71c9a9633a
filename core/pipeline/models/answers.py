"""Parses a model's answer: drops its thinking, and takes the last JSON object of the right shape."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from math import inf
from typing import Any, Final

from core.pipeline.models.provider import (
    Answer,
    EmptyAnswerError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)

LONGEST_ANSWER: Final = 4_000_000
# Characters that all tries at objects together may read, for each character of the answer. What a model writes needs
# two; an answer that was made to be slow is given up, so that the time is linear whatever it holds.
_READINGS: Final = 4
_MOST_BROKEN: Final = 1_000
_TAG: Final = r"(?:think|thinking|thought|reasoning)"
# An object without keys has no shape that anybody asks for.
_LANDMARK: Final = re.compile(rf"\{{(?=[ \t\r\n]*+\")|<(/?){_TAG}>", re.IGNORECASE)
_EMPTY: Final = re.compile(r"\{[ \t\r\n]*+\}")
_CLOSING: Final = re.compile(rf"</{_TAG}>", re.IGNORECASE)
_FENCED: Final = re.compile(r"```[a-zA-Z0-9]*+[ \t]*+\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
# "0.9", "0,9", "90 %", "9/10", "~0.9"; words as "high", "very high", "high confidence".
_WRITTEN_NUMBER: Final = re.compile(
    r"[~≈]?\s*([-+]?\d{0,15}(?:[.,]\d{1,15})?)\s*(?:(%|percent|per cent)|/\s*(\d{1,4}))?", re.IGNORECASE
)
_CONFIDENCES: Final = {
    "certain": 1.0, "absolute": 1.0, "very high": 0.95, "high": 0.9, "fairly high": 0.8, "medium high": 0.75,
    "medium": 0.6, "moderate": 0.6, "medium low": 0.4, "fairly low": 0.4, "low": 0.3, "very low": 0.1,
}  # fmt: skip
_LONGEST_CONFIDENCE: Final = 40


Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
JsonObject = dict[str, Json]

DEEPEST: Final = 32
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
# The text ends within a token.
_CUT: Final = re.compile(rf"[ \t\r\n]*+(?:{_STRING}\\?|[-+.a-zA-Z0-9]*+)\Z", re.DOTALL)
_COMMA: Final = re.compile(rf'({_STRING}")|,(?=[ \t\r\n]*+[}}\]])', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Found:
    """The best object, whether a better one was cut off, and where the thinking ended (None: it never did)."""

    best: JsonObject | None
    unfinished: bool
    answer_from: int | None


def last_object(
    answer: Answer, keys: Collection[str], prefer: Callable[[JsonObject], bool] = lambda found: True
) -> JsonObject:
    """The last JSON object of an answer that has one of the keys.

    Closed think blocks do not count, nor does anything before a closing tag that nobody opened. Thinking that nobody
    closes ends where its first object begins; an answer before it stands, and what follows does not count then. An
    object inside another one counts when the outer has none of the keys. An answer
    that is a JSON string as a whole is read as the text it holds, once. prefer: objects of this kind win over those
    of another, whatever their order. Time is linear in the length of the answer.

    Raises TruncatedAnswerError when the model ran out of room, EmptyAnswerError when it said nothing,
    UnreadableAnswerError when there is no such object.
    """
    text = answer.text
    if answer.done_reason == "length":
        raise TruncatedAnswerError("the model ran out of room before its answer ended")
    if len(text) > LONGEST_ANSWER:
        raise UnreadableAnswerError(f"the answer is longer than {LONGEST_ANSWER:,} characters")
    text = _unquoted(text)
    found = _search(text, keys, prefer)
    if found.unfinished:
        raise TruncatedAnswerError("the answer ends in the middle of its JSON object")
    if found.best is not None:
        return found.best
    if found.answer_from is None:
        raise TruncatedAnswerError("the answer ends before its thinking does")
    if not text[found.answer_from :].strip():
        raise EmptyAnswerError("the answer is empty")
    raise UnreadableAnswerError(f"failed to parse the answer: no JSON object with {' or '.join(keys)}")


def says_nothing(answer: Answer) -> bool:
    """Whether an answer is an object without keys, its thinking and its fence aside: the model has nothing to say."""
    text = answer.text
    if answer.done_reason == "length" or len(text) > LONGEST_ANSWER:
        return False
    closings = list(_CLOSING.finditer(text))
    whole = text[closings[-1].end() if closings else 0 :].strip()
    fence = _FENCED.fullmatch(whole) if whole.startswith("```") else None
    return _EMPTY.fullmatch(fence[1].strip() if fence else whole) is not None


def clamped(value: Json, default: float = 0.5) -> float:
    """A fraction in [0, 1]: a number is clamped, also one that is written as text; anything else (true, NaN, other
    text) is the default. "90 %" and "9/10" are what they say, "high", "medium" and "low" .9, .6 and .3.
    """
    if isinstance(value, str):
        value = _written(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or value in (inf, -inf)
        or value != value
    ):
        return default
    return float(min(1, max(0, value)))


def _written(text: str) -> float | None:
    """The fraction that a text names, None where it names none."""
    # "0.9 (high)", "high (see above)": what is added says no more.
    text = text.partition("(")[0].strip() if len(text) <= _LONGEST_CONFIDENCE else ""
    number = _WRITTEN_NUMBER.fullmatch(text)
    if number is None or not number[1].strip("+-"):
        words = text.lower().replace("-", " ").replace("_", " ").removesuffix(" confidence")
        return _CONFIDENCES.get(" ".join(words.split()))
    whole = 100 if number[2] else int(number[3] or 1)
    return float(number[1].replace(",", ".")) / whole if whole else None


def excerpt(value: Json, length: int = 40) -> str:
    """What a model wrote, short enough and tame enough for a warning."""
    text = value if isinstance(value, str) else type(value).__name__
    shown = "".join(character if character.isprintable() else " " for character in text[:length])
    return shown + ("…" if len(text) > length else "")


def _unquoted(text: str) -> str:
    """The text that a wholly quoted answer holds; any other answer as it is."""
    whole = text.strip()
    fence = _FENCED.fullmatch(whole) if whole.startswith("```") else None
    whole = fence[1].strip() if fence else whole
    with suppress(ValueError):
        held = _DECODER.decode(whole) if whole.startswith('"') else None
        return held if isinstance(held, str) else text
    return text


def _search(text: str, keys: Collection[str], prefer: Callable[[JsonObject], bool]) -> _Found:
    closings = [match.end() for match in _CLOSING.finditer(text)]
    best: JsonObject | None = None
    preferred = unfinished = False
    position = 0
    answer_from: int | None = 0
    budget, broken, commas = _READINGS * len(text), 0, False
    while landmark := _LANDMARK.search(text, position):
        if landmark[0] != "{":
            position = landmark.end()
            if not landmark[1]:
                place = bisect_left(closings, position)
                if place == len(closings):
                    if best is not None:
                        return _Found(best, unfinished, None)
                    # Some models never close it: what they thought ends with the first object.
                    answer_from = None
                    continue
                position = closings[place]
                if not text[answer_from : landmark.start()].strip():
                    answer_from = position
                continue
            best, preferred, unfinished, answer_from = None, False, False, position
            continue
        if budget < 0 or broken > _MOST_BROKEN:
            raise UnreadableAnswerError("failed to parse the answer: it is broken in too many places")
        start = landmark.start()
        value, stop, cut = _object_at(text, start)
        budget -= stop - start
        if value is None and text[stop : stop + 1] in ("}", "]") and not commas:
            # A comma too many: models are careless. What they wrote keeps its places.
            commas = True
            text = text[:start] + _COMMA.sub(lambda found: found[1] or " ", text[start:])
            value, stop, cut = _object_at(text, start)
        if value is None:
            # Only a cut object that might have been the answer makes an earlier one doubtful.
            if cut and (best is None or any(text.find(f'"{key}"', start) >= 0 for key in keys)):
                unfinished = True
            broken += 1
            position = landmark.end()
            continue
        position = stop
        shaped = _within(value, keys)
        if shaped is not None and (prefer(shaped) or not preferred):
            best, preferred, unfinished = shaped, prefer(shaped), False
    return _Found(best, unfinished, answer_from)


def _within(root: JsonObject, keys: Collection[str]) -> JsonObject | None:
    """The shallowest object with one of the keys: the root itself or one that it holds."""
    waiting: deque[Json] = deque([root])
    while waiting:
        value = waiting.popleft()
        if isinstance(value, dict):
            if any(key in value for key in keys):
                return value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return None


def _object_at(text: str, start: int) -> tuple[JsonObject | None, int, bool]:
    """The object that begins with the brace at an index; None where it is broken, with the index where reading stopped,
    and whether the text ended within it. Trailing commas must be blanked before.
    """
    try:
        value, stop = _DECODER.raw_decode(text, start)
        return _tidied(value), stop, False
    except JSONDecodeError as error:
        cut = _CUT.match(text, error.pos) is not None
        return None, len(text) if cut else max(error.pos, start + 1), cut
    except (ValueError, RecursionError):
        return None, start + DEEPEST, False


def _tidied(value: Any, room: int = DEEPEST) -> Any:
    """A value without lone surrogates. Raises ValueError for what is nested deeper than DEEPEST."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list | dict) and not room:
        raise ValueError("nested too deep")
    if isinstance(value, list):
        return [_tidied(one, room - 1) for one in value]
    if isinstance(value, dict):
        return {_tidied(name): _tidied(one, room - 1) for name, one in value.items()}
    return value


def _refuse(name: str) -> Json:
    """NaN and Infinity are no JSON."""
    raise ValueError(name)


# Raw line breaks in strings pass. Python refuses to read very long integers; as a float any length is read.
_DECODER: Final = JSONDecoder(
    strict=False, parse_constant=_refuse, parse_int=lambda raw: int(raw) if len(raw) <= 18 else float(raw)
)
