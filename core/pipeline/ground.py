"""Whether a text says a fact: by the sentence that it quotes, its names and its numbers; orders to the reader."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from core.pipeline.intake.redaction import MARK
from core.pipeline.intake.sentences import sentences
from core.pipeline.statements import plain_words, saying
from core.pipeline.words import WORDS
from core.text.languages import FOREIGN_WORDS
from core.text.tokens import STOP_WORDS, fold, stem, stems, words

# Digits that are no part of a name (H100, IPv6), with the signs that group and part them, and what may be a unit.
_NUMBER: Final = re.compile(
    r"(?<![^\W_])v?(\d{1,3}(?: \d{3})+(?!\d)|\d+(?:[.,:/'’]\d+)*)\s?-?(%|[^\W\d_]+)?", re.IGNORECASE
)
_WORDS: Final = re.compile(r"(?=\b([^\W\d_]+)(?:[\s-]([^\W\d_]+))?)\b")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[,'’ ]\d{3})+|\d{1,3}(?:\.\d{3}){2,}")
_SPELT: Final = {
    word: str(number)
    for number, said in enumerate(
        (
            "two zwei deux dos", "three drei trois tres", "four vier quatre cuatro", "five fünf cinq cinco",
            "six sechs seis", "seven sieben siete", "eight acht huit ocho", "nine neun nueve", "ten zehn dix diez",
            "eleven elf onze once", "twelve zwölf douze doce",
        ),
        2,
    )
    for word in said.split()
}  # fmt: skip
_UNITS: Final = {
    word: said.split()[0]
    for said in (
        "ms millisecond milliseconds millisekunden millisecondes milisegundos",
        "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos",
        "min mins minute minutes minuten minuto minutos", "h hr hrs hour hours stunde stunden heure heures hora horas",
        "day d days tag tage tagen jour jours día días", "week w weeks woche wochen semaine semaines semana semanas",
        "month months monat monate monaten mois mes meses", "year years jahr jahre jahren ans año años",
        "% percent prozent pourcent", "am", "pm", "kb kib", "mb mib", "gb gib", "tb tib",
    )
    for word in said.split()
}  # fmt: skip


class _Number(NamedTuple):
    value: str
    unit: str


def numbers_stand_in(statement: str, sentence: str) -> bool:
    """Whether a sentence has each number of a statement, with the same unit where both name a known one.

    1,000 is 1000, 3,5 is 3.5, two is 2, and 3.11 stands in 3.11.4; nothing is converted.
    """
    there = _numbers(sentence)

    def stands(number: _Number) -> bool:
        values = (other for other in there if (other.value + ".").startswith(f"{number.value}."))
        return any(not number.unit or not other.unit or number.unit == other.unit for other in values)

    return all(map(stands, _numbers(statement)))


def _numbers(text: str) -> list[_Number]:
    plain = unicodedata.normalize("NFKC", text)
    found = [_Number(_value(one[1]), _unit(one[2])) for one in _NUMBER.finditer(plain)]
    spoken = (one for one in _WORDS.finditer(plain) if one[1].casefold() in _SPELT)
    found += [_Number(_SPELT[one[1].casefold()], _unit(one[2])) for one in spoken]
    return found


def _value(said: str) -> str:
    if _GROUPED.fullmatch(said):
        return re.sub(r"\D", "", said)
    # 05:30 is 5:30, 3,5 is 3.5.
    return re.sub(r"[,'’]", ".", said).lstrip("0") or "0"


def _unit(word: str | None) -> str:
    return _UNITS.get((word or "").casefold(), "")


_TO_A_SHELL: Final = re.compile(
    r"\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python\d?|perl|node|iex)\b|\brm\s+-\w*[rf]|\b(?:curl|wget|iwr|invoke-webrequest)\b"
    r"|\beval\b|\bbase64\s+-d|\bchmod\s+\+x|--(?:no-verify|force|dangerously)|\bnpx\s|\bsudo\s",
    re.IGNORECASE,
)
# What calls itself an instruction, or is somebody else's: a prompt, the line of a tool, a quotation.
_POSING: Final = re.compile(
    r"^\W*(?:system|developer|instructions?|assistant|tool|hint|output)\b\W*[:>\]]|^\s*(?:>|<[^>]+>)",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[,;:]\s+")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200d\ufeff]")


def speaks_to_reader(sentence: str) -> bool:
    """Whether a sentence orders, tells an agent what it may or has to do, or holds what a shell would run."""
    sentence = _UNSEEN.sub("", sentence)
    head, *others = _PARTS.split(sentence)
    if _begins_with_order(head) or any(part[:1].islower() and _begins_with_order(part) for part in others):
        return True
    said = frozenset(words(sentence))
    to_agent = not said.isdisjoint(WORDS["agents"]) and not said.isdisjoint(WORDS["rules"] | WORDS["routine"])
    return to_agent or bool(_TO_A_SHELL.search(sentence) or _POSING.search(sentence))


def addresses_reader(sentence: str) -> bool:
    """Whether a sentence calls its reader "you"."""
    return not WORDS["readers"].isdisjoint(words(sentence))


def is_rule(sentence: str) -> bool:
    """Whether a sentence says what somebody must, may or likes."""
    return not WORDS["rules"].isdisjoint(words(sentence))


def _begins_with_order(part: str) -> bool:
    first = next((word for word in map(fold, words(part)) if word not in WORDS["before an order"]), "")
    return first in WORDS["orders"]


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


_FIRST_PERSON: Final = WORDS["first person"]
# Stems of whom a text means by "I" and "we".
_SELVES: Final = WORDS["selves"]
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
    doubts = WORDS["doubts"].intersection(words(sentence))
    return sum(saying(one).denials for one in clauses) == saying(fact).denials and doubts.issubset(
        words(fact)
    )


def _weighty(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in plain_words(text) if word not in _LIGHT]


def _names(text: str) -> list[str]:
    """The stems of the words that have a capital or a digit, in order, but for numbers and function words."""
    found = (_CLITICS.sub("", one.strip(".'’")) for one in _TOKEN.findall(text))
    named = (one for one in found if not one.islower() and not one[:1].isdigit() and fold(one) not in _LIGHT)
    return [stem(word) for one in named for word in plain_words(one)]


# The place of a fact in its text

_LONGEST_READ: Final = 50_000
_MOST_SPANS: Final = 1_000
_BULLETS: Final = "-*•#>"
_ENDINGS: Final = ".!?…。！？"


def source_spans(text: str, facts: Iterable[str]) -> list[tuple[int, int] | None]:
    """For each fact the sentence of a text that shares most words of weight with it, as (start, end) in characters.

    A word weighs the less the more sentences have it; of equals the first one is taken. None for a fact that shares no
    word that carries meaning.
    """
    spans: list[tuple[int, int]] = []
    meanings: list[frozenset[str]] = []
    for segment in sentences(text[:_LONGEST_READ]):
        spans.append(_trimmed(text, segment.start, segment.end))
        meanings.append(frozenset(stems(text[segment.start : segment.end])))
        if len(spans) == _MOST_SPANS:
            break
    holding = Counter(word for meaning in meanings for word in meaning)
    return [_best(frozenset(stems(fact)), spans, meanings, holding) for fact in facts]


def _best(
    fact: frozenset[str], spans: list[tuple[int, int]], meanings: list[frozenset[str]], holding: Counter[str]
) -> tuple[int, int] | None:
    best, most = None, 0.0
    for span, meaning in zip(spans, meanings, strict=True):
        # Sorted, since a sum of fractions depends on their order and that of a set on the process.
        weight = sum(1 / holding[word] for word in sorted(fact & meaning))
        if weight > most:
            best, most = span, weight
    return best


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space and bullets at its head, and with the sign that ends it."""
    while start < end - 1 and (text[start].isspace() or text[start] in _BULLETS):
        start += 1
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    while end < len(text) and text[end] in _ENDINGS:
        end += 1
    return start, end
