"""Looks for the sentence that a model quotes for a fact in the text that it read, and holds the fact against it.

A fact stands where its quote is found and says it; all others wait for a person. What a quote leaves out of its
sentence counts, too, so that none can be cut until it says the contrary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from core.pipeline.contradiction import denials, plain_words
from core.pipeline.intake.numbers import numbers_stand_in
from core.pipeline.intake.orders import addresses_reader, is_rule, speaks_to_reader, word_set
from core.pipeline.intake.redaction import MARK
from core.pipeline.intake.sentences import sentences
from core.text.languages import FOREIGN_WORDS
from core.text.tokens import STOP_WORDS, fold, stem, words

# Of 100, how alike a quote and a part of the text are: about one letter in ten may be another, or missing.
_ALIKE: Final = 90.0
_MOST_QUOTED: Final = 4
_MOST_SENTENCES: Final = 2_000
# Places looked at closely where a quote fits several.
_MOST_PLACES: Final = 20
# The part of a fact's words that stand in its sentence in the same order; for a rule they are all there, and nearly
# nothing else (normalised length of the longest common subsequence).
_LEAST_SAID: Final = 2 / 3
_RULE_ALIKE: Final = 0.7

_ELISION: Final = re.compile(r"\[?(?:\.{3}|…)\]?")
# A line that goes on in the next one.
_WRAPPED: Final = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=[^\W\d_])")
_CLAUSES: Final = re.compile(r"[,;:]\s|[()—]|\s(?:and|but|und|aber|et|mais|y|pero)\s")
_QUOTED: Final = re.compile('["“”«»„`]')
_TOKEN: Final = re.compile(r"[^\s,;:!?()\[\]\"“”«»„`]+")
# Characters that nobody sees but a model reads: spaces without width, marks of direction, fillers, tags, selectors.
_HIDDEN: Final = re.compile(
    "[\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


_FIRST_PERSON: Final = word_set(
    "i me my mine we us our ours ich mir mich mein meine meinen wir uns unser unsere unserem je j moi mon ma mes nous "
    "notre nos yo mi mis nosotros nuestro nuestra nuestros usamos"
)
# What makes less of a sentence.
_DOUBTS: Final = word_set(
    "perhaps maybe might would could if unless almost only except vielleicht konnte wenn falls fast nur ausser si sauf "
    "seulement quizas solo salvo"
)
# Stems of whom a text means by "I" and "we".
_SELVES: Final = word_set(
    "user author team project group benutz nutzer projekt grupp utilisateur equip projet usuario equipo proyecto"
)
# What is contracted into a word: "l'équipe", "Emma's".
_CLITICS: Final = re.compile(r"^[cdjlmnst]['’]|['’]s$", re.IGNORECASE)
_LIGHT: Final = STOP_WORDS | FOREIGN_WORDS


class Grounding(NamedTuple):
    """What a text has to say to a fact. quote: the sentences that say it, "" where none do.

    order: whether the fact, or the sentence that it comes from, tells whoever reads it what to do.
    """

    quote: str
    order: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """Some sentences of a text that stand beside each other. folded: their words, as quotes are looked for."""

    sentences: tuple[str, ...]
    folded: str
    question: bool

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


class Source:
    """A text made ready for facts to be looked up in it: exactly what the model saw, lines and sentences apart."""

    def __init__(self, text: str) -> None:
        text = text.replace(MARK, " ")
        text = _WRAPPED.sub(lambda found: " " if text[found.end()].islower() else found[0], text)
        cut = list(islice(sentences(text), _MOST_SENTENCES))
        said = [text[one.start : one.end].strip() for one in cut]
        folded = [" ".join(words(one)) for one in said]
        self._parts = [
            [
                _Part(
                    tuple(said[place : place + size]),
                    " ".join(folded[place : place + size]),
                    any(one.question for one in cut[place : place + size]),
                )
                for place in range(len(said) - size + 1)
            ]
            for size in range(1, _MOST_QUOTED + 1)
        ]

    def grounding(self, fact: str, quote: str, *, preference: bool = False) -> Grounding:
        """Whether the text has a quote, and the quote says a fact. preference: it is known to tell what somebody wants.

        Without a quote the fact counts as its own: it stands where the text says it in its very words.
        """
        fact = fact.replace(MARK, " ")
        order = speaks_to_reader(fact) or addresses_reader(fact)
        found = self._quoted(quote.strip() or fact)
        borne = next((part for part in found if _says(part, fact, preference)), None)
        order = order or any(map(speaks_to_reader, (borne or found[0]).sentences if found else ()))
        hidden = _HIDDEN.search(fact + quote + (borne.text if borne else ""))
        return Grounding(borne.text if borne and not hidden else "", order)

    def _quoted(self, quote: str) -> list[_Part]:
        """The parts of the text that a quote stands in, of as few sentences as hold it; best first."""
        from rapidfuzz import fuzz, process

        pieces = [
            folded for one in _ELISION.split(quote.replace(MARK, " ")) if (folded := " ".join(words(one)))
        ]
        if not pieces:
            return []
        longest = max(pieces, key=len)
        least = sum(map(len, pieces)) * _ALIKE / 100
        for parts in self._parts:
            among = {place: part.folded for place, part in enumerate(parts) if len(part.folded) >= least}
            fitting = process.extract(
                longest,
                among,
                scorer=fuzz.partial_ratio,
                score_cutoff=_ALIKE,
                limit=_MOST_PLACES,
                processor=None,
            )
            found = [
                parts[place]
                for folded, _, place in fitting
                if all(fuzz.partial_ratio(piece, folded) >= _ALIKE for piece in pieces)
            ]
            if found:
                return found
        return []


def _says(part: _Part, fact: str, preference: bool) -> bool:
    """Whether sentences have the names of a fact, its numbers and most of its words in their order, and the same sense.

    Where several sentences are quoted only the first brings names of its own: the others go on about it.
    """
    from rapidfuzz.distance import LCSseq

    sentence, theirs = part.text, list(map(stem, plain_words(part.text)))
    ours = not _FIRST_PERSON.isdisjoint(words(sentence))
    named = [name for name in _names(fact) if not (ours and name in _SELVES)]
    mine = frozenset(map(stem, plain_words(fact)))
    if not ours and not _SELVES.intersection(mine).issubset(theirs):
        return False
    if not numbers_stand_in(fact, sentence) or LCSseq.similarity(named, theirs) < len(named):
        return False
    if any(not mine.issuperset(_names(later)) for later in part.sentences[1:]):
        return False
    said = [word for word in _weighty(fact) if not (ours and word in _SELVES)]
    if not said or LCSseq.similarity(said, theirs) < _LEAST_SAID * len(said):
        return False
    if (preference or is_rule(fact)) and not _is_that_rule(fact, said, sentence):
        return False
    return not part.question and _same_sense(fact, sentence, frozenset(said))


def _is_that_rule(fact: str, said: list[str], sentence: str) -> bool:
    """Whether a sentence, or a clause of it, says a rule or preference and next to nothing else, and quotes nobody."""
    from rapidfuzz.distance import LCSseq

    whole, clauses = _own_words(fact), [sentence, *_CLAUSES.split(sentence)]
    there = frozenset(map(stem, plain_words(sentence)))
    alike = max(LCSseq.normalized_similarity(whole, _own_words(one)) for one in clauses)
    return there.issuperset(said) and alike >= _RULE_ALIKE and not _QUOTED.search(sentence)


def _own_words(text: str) -> list[str]:
    return [word for word in map(stem, plain_words(text)) if word not in _SELVES]


def _same_sense(fact: str, sentence: str, said: frozenset[str]) -> bool:
    """Whether a sentence denies as often as a fact where it speaks of what that says, and doubts nothing that it does
    not.
    """
    clauses = (one for one in _CLAUSES.split(sentence) if not said.isdisjoint(_weighty(one)))
    doubts = _DOUBTS.intersection(words(sentence))
    return sum(map(denials, clauses)) == denials(fact) and doubts.issubset(words(fact))


def _weighty(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in plain_words(text) if word not in _LIGHT]


def _names(text: str) -> list[str]:
    """The stems of the words that have a capital or a digit, in order, but for numbers and function words."""
    found = (_CLITICS.sub("", one.strip(".'’")) for one in _TOKEN.findall(text))
    named = (one for one in found if not one.islower() and not one[:1].isdigit() and fold(one) not in _LIGHT)
    return [stem(word) for one in named for word in plain_words(one)]
