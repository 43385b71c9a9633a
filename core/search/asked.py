"""What a question asks for: which kind of answer ("how long": "90 days"), and which of its words name no thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from core.search.documents import is_content_word
from core.text.languages import serves_grammar
from core.text.normalise import plain_words
from core.text.tokens import fold, words

TABLE: Final = Path(__file__).with_name("answers.txt")
_LISTS: Final = 6


class Kind(NamedTuple):
    """A kind of answer. words: that ask for it, folded; asking: those of them that a question has. pattern: what such
    an answer looks like.
    """

    words: frozenset[str]
    asking: frozenset[str]
    pattern: str

    def answered_in(self, text: str) -> bool:
        """Whether a text holds such an answer."""
        return re.search(self.pattern, text if "A-Z" in self.pattern else fold(text)) is not None


@cache
def _lines() -> list[str]:
    return [line for line in TABLE.read_text(encoding="ascii").splitlines() if not line.startswith("#")]


@cache
def _listed(place: int) -> frozenset[str]:
    return frozenset(_lines()[place].split())


def asked_kinds(question: str) -> list[Kind]:
    """The kinds of answers that a folded question asks for."""
    said, found, lines = f" {plain_words(question)} ", [], _lines()[_LISTS:]
    for line, pattern in zip(lines[::2], lines[1::2], strict=True):
        cues = line.split(", ")
        asking = frozenset(word for cue in cues if f" {cue} " in said for word in cue.split())
        if asking:
            found.append(Kind(frozenset(cue for cue in cues if " " not in cue), asking, pattern))
    return found


def names_no_thing(question: str) -> frozenset[str]:
    """Words of a folded question that a note may lack and answer it: verbs by their places and endings, and what things
    of nearly any kind are called.
    """
    said = plain_words(question).split()
    done = () if _listed(1).isdisjoint(said) else (word for word in said if word.endswith("ed"))
    return _listed(2) | verbs(question) | frozenset(done)


def verbs(question: str) -> frozenset[str]:
    """The verbs of a folded question, as far as their places tell, and all that is only a way to be somewhere."""
    said = plain_words(question).split()
    kept = (word for word in said if word.endswith("ed") and said[0] == "where")
    return frozenset((*(second for first, second in pairwise(said) if first in _listed(0)), *kept))


def qualifying(question: str) -> Iterator[tuple[str, str, bool]]:
    """Pairs of words of a folded question of which the first may say what kind of the second is meant: "go version",
    "hours per day"; and whether a preposition says so. Verbs, as far as they are known by their places, say no kind.
    """
    said = [word for word in words(question) if len(word) > 1]
    does = {second for first, second in pairwise(said) if first in _listed(0) or first in _listed(5)}
    plain = _listed(0).isdisjoint(said) and _listed(5).isdisjoint(said)
    for place, word in enumerate(said):
        if _is_small(word) or word in does or word in _listed(0):
            continue
        head = next((at for at in range(place - 1, -1, -1) if not _is_small(said[at])), -1)
        linked = head >= 0 and not _listed(4).isdisjoint(said[head + 1 : place])
        if place + 1 < len(said) and not _is_small(said[place + 1]):
            yield word, said[place + 1], False
        if linked or (head == place - 1 >= 0 and plain):
            yield word, said[head], linked


def _is_small(word: str) -> bool:
    return not is_content_word(word) or word in _listed(4) or serves_grammar(word, ("german",))


def is_telling(stemmed: str) -> bool:
    """Whether a stem is that of an everyday word which names what is asked all the same: "how are they numbered"."""
    return stemmed in _listed(3)
