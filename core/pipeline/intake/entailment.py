"""Whether one sentence of a text says what a statement says: its words, their order, names, numbers, yes or no.

The rules err towards a person's look: what they do not recognise as said is not said. They know English, German,
French and Spanish; a statement in another language is borne out when a sentence says it in nearly the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import Final, Literal

from core.pipeline.intake import entailment_words as lexicon
from core.pipeline.intake.numbers import without_grouping
from core.pipeline.intake.sentences import sentences
from core.text.tokens import STOP_WORDS, fold, stem, unspaced_runs, words

# "said": a sentence says it. "unsaid": none does. "order": it tells somebody what to do, to may or to like, and no
# sentence says that of the one it is about; or it is meant for whoever reads it.
Entailment = Literal["said", "unsaid", "order"]

_LONGEST_READ: Final = 50_000
_MOST_SENTENCES: Final = 1_000
_MOST_WORDS: Final = 600
_LONGEST_STATEMENT: Final = 2_000
# So many sentences, those that share most words with a statement, are looked at closely.
_MOST_LOOKED_AT: Final = 20
# Of a script that is read in pairs of characters so many must be there.
_MOST_PAIRS: Final = 0.8
_SHORTEST_FORM: Final = 4
_LONGEST_ENDING: Final = 4

_TOKEN: Final = re.compile(
    r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|\d+[^\W_]+|[^\W_]+|[,;:—–()\[\]]|\.{3}|…"
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_TO_A_SHELL: Final = re.compile(
    r"\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python\d?|perl|node|iex)\b|\brm\s+-\w*[rf]|\b(?:curl|wget|iwr|invoke-webrequest)\b"
    r"|\beval\b|\bbase64\s+-d|\bchmod\s+\+x|--(?:no-verify|force|dangerously)|\bnpx\s|\bsudo\s",
    re.IGNORECASE,
)
# What a program printed or somebody else wrote: a line of a log, a quotation, a prompt, markup.
_FOREIGN: Final = re.compile(
    r"^\s*(?:>|\$\s|#!|```|<[^>]+>|\[[^\]]*\]|\d{4}-\d\d-\d\d[T ]\d\d|(?:error|warn(?:ing)?|info|debug|notice|hint|"
    r"tool|output|stdout|stderr|system|assistant|log)\b\s*[:>\]])",
    re.IGNORECASE,
)
# Whatever calls itself so is no source of a memory.
_POSING: Final = re.compile(r"^\W*(?:system|developer|instructions?)\b\W*[:>]", re.IGNORECASE)
_QUOTED: Final = re.compile(r"[\"“”«»„`]|(?<!\w)['‘]|['’](?!\w)")
_SPEAKER: Final = re.compile(r"^\W*([A-ZÀ-Þ][\w.-]*)\s*:\s")
_BREAKS: Final = frozenset(",;:—–()[]…")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text: as written, folded, its stem, whether it looks like a name, and in which clause it stands."""

    written: str
    plain: str
    stem: str
    name: bool
    clause: int
    number: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its words; plain and stems: those of the words, as sets."""

    text: str
    words: tuple[_Word, ...]
    question: bool
    plain: frozenset[str]
    stems: frozenset[str]


# The words of a statement that a sentence has, with their places there.
_Found = list[tuple[_Word, int]]


@dataclass(frozen=True, slots=True)
class Source:
    """A text made ready for statements to be held against it."""

    sentences: tuple[_Sentence, ...]


def source_of(text: str) -> Source:
    """The sentences of a text; of a very long one those of its head."""
    found: list[_Sentence] = []
    for segment in sentences(text[:_LONGEST_READ]):
        found.append(_sentence(text[segment.start : segment.end], segment.question))
        if len(found) == _MOST_SENTENCES:
            break
    return Source(tuple(found))


def entailment(source: Source, statement: str, *, preference: bool = False) -> Entailment:
    """What a text has to say to a statement. preference: it is known to tell what somebody likes or wants.

    A statement of several sentences is borne out when each of them is.
    """
    parts = [
        _sentence(statement[part.start : part.end], part.question)
        for part in sentences(statement[:_LONGEST_STATEMENT])
    ]
    if not parts or len(statement) > _LONGEST_STATEMENT:
        return "unsaid"
    found = {_entailment_of_one(source, part, preference) for part in parts}
    return "order" if "order" in found else "unsaid" if "unsaid" in found else "said"


def _entailment_of_one(source: Source, part: _Sentence, preference: bool) -> Entailment:
    if _is_for_the_reader(part):
        return "order"
    telling = preference or not part.plain.isdisjoint(lexicon.TELLING)
    shared = [(len(one.stems & part.stems), place) for place, one in enumerate(source.sentences)]
    closest = sorted(shared, key=lambda pair: (-pair[0], pair[1]))[:_MOST_LOOKED_AT]
    if any(_says(source, place, part, telling) for _, place in closest):
        return "said"
    return "order" if telling else "unsaid"


def _is_for_the_reader(part: _Sentence) -> bool:
    """Whether a statement is an order, is about what an agent has to do, or holds what a shell would do at once."""
    if not part.words:
        return False
    if _is_order(part) or _TO_A_SHELL.search(part.text):
        return True
    said = part.plain
    if not said.isdisjoint(lexicon.READERS):
        return True
    telling = not said.isdisjoint(lexicon.TELLING | lexicon.ROUTINE)
    return telling and not said.isdisjoint(lexicon.AGENTS | lexicon.EVERYBODY)


def _is_order(sentence: _Sentence) -> bool:
    """Whether a sentence begins as one that tells somebody what to do."""
    plain = [word.plain for word in sentence.words]
    first = next((word for word in plain if word not in lexicon.OPENERS), "")
    return first in lexicon.ORDERS or (bool(plain) and plain[0] in lexicon.ORDER_OPENERS)


def _says(source: Source, place: int, part: _Sentence, telling: bool) -> bool:
    sentence = source.sentences[place]
    if sentence.question or not sentence.words or not part.words or _is_order(sentence):
        return False
    if _POSING.search(sentence.text) or (
        ":" in sentence.text and not (sentence.plain & lexicon.REPORTING) <= part.plain
    ):
        return False
    if _unspaced(part.text):
        return _nearly_the_same_pairs(part, sentence)
    if telling and (_FOREIGN.search(sentence.text) or _QUOTED.search(sentence.text)):
        return False
    found = _matched(source, place, part, telling)
    if found is None or not _in_order(part, sentence, found):
        return False
    return _coheres(sentence, found) and _same_sense(part, sentence, found, telling)


def _matched(source: Source, place: int, part: _Sentence, telling: bool) -> _Found | None:
    """Where a sentence has each word of weight of a statement that context does not give; None when one is nowhere."""
    sentence = source.sentences[place]
    found: _Found = []
    lacking: list[_Word] = []
    weighty = [word for word in part.words if _weighs(word)]
    at = -1
    for word in weighty:
        there = _place_of(word, sentence.words, at, {place for _, place in found})
        if there is not None:
            at = there
            found.append((word, there))
        elif word.plain not in lexicon.GLUE or word.name or word.number:
            lacking.append(word)
    if not found or (lacking and not _from_context(source, place, weighty, lacking, telling)):
        return None
    if found[0][0] is not weighty[0] and not lacking and not _is_its_subject(sentence, found):
        return None
    return found


def _is_its_subject(sentence: _Sentence, found: _Found) -> bool:
    """Whether a statement that names its subject as nobody does (the team, the project) takes no other's place."""
    if not sentence.plain.isdisjoint(lexicon.FIRST_PERSON):
        return True
    used = {place for _, place in found}
    clause = min(sentence.words[place].clause for place in used)
    first = next(
        place for place, word in enumerate(sentence.words) if word.clause == clause and _weighs(word)
    )
    return first in used


def _weighs(word: _Word) -> bool:
    return word.number or word.name or (word.plain not in lexicon.LIGHT and word.plain not in STOP_WORDS)


def _place_of(word: _Word, among: Sequence[_Word], after: int, taken: set[int]) -> int | None:
    """Where a word stands in a sentence: behind the last one found, else before it."""
    for places in (range(after + 1, len(among)), range(max(0, after + 1))):
        for place in places:
            if place not in taken and _same(word, among[place]):
                return place
    return None


def _same(word: _Word, other: _Word) -> bool:
    if word.plain == other.plain:
        return True
    if word.number or other.number or not word.plain.isalpha() or not other.plain.isalpha():
        return False
    if word.stem == other.stem or not lexicon.group_of(word.stem).isdisjoint(lexicon.group_of(other.stem)):
        return True
    if word.plain.isascii() and other.plain.isascii() and word.name and other.name:
        return False
    short, long = sorted((word.plain, other.plain), key=len)
    # Endings of languages that have no stemmer here.
    common = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return common >= max(_SHORTEST_FORM, len(short) - 2) and len(long) - common <= min(
        _LONGEST_ENDING, common - 2
    )


def _from_context(
    source: Source, place: int, weighty: Sequence[_Word], lacking: Sequence[_Word], telling: bool
) -> bool:
    """Whether what a sentence lacks is its subject, which it means by a word such as "she" or "we"."""
    head = list(weighty[: len(lacking)])
    sentence = source.sentences[place]
    spoken = _SPEAKER.search(sentence.text)
    us = not sentence.plain.isdisjoint(lexicon.FIRST_PERSON)
    if us and all(word.plain in lexicon.SELVES for word in lacking):
        return spoken is None or fold(spoken[1]) in lexicon.SELVES
    if telling or head != list(lacking):
        return False
    before = source.sentences[place - 1] if place else None
    if before is None or sentence.plain.isdisjoint(lexicon.PRONOUNS):
        return False
    names = [word for word in before.words if word.name]
    # Of several it is not known which one is meant.
    if any(not any(_same(name, word) for word in lacking) for name in names):
        return False
    return all(any(_same(word, other) for other in before.words) for word in lacking)


def _in_order(part: _Sentence, sentence: _Sentence, found: _Found) -> bool:
    """Whether a statement says its words in the order of the sentence, turned around a passive, or with what stood at
    the end of a plain sentence at its head."""
    places = [place for word, place in found if not lexicon.is_use(word.stem)]
    if places == sorted(places):
        return True
    mine, theirs = (not one.plain.isdisjoint(lexicon.BY) for one in (part, sentence))
    if mine != theirs:
        return _turned(part if mine else sentence, sentence if mine else part)
    names = sum(1 for word, _ in found if word.name)
    clauses = {sentence.words[place].clause for place in places}
    turns = sum(1 for one, other in pairwise(places) if other < one)
    return (
        names <= 2
        and len(clauses) == 1
        and turns == 1
        and places[0] > places[-1]
        and (_is_adverbial(part) or _is_adverbial(sentence))
    )


def _is_adverbial(part: _Sentence) -> bool:
    """Whether a statement begins with when or where."""
    return bool(part.words) and part.words[0].plain in lexicon.PREPOSITIONS


def _turned(passive: _Sentence, active: _Sentence) -> bool:
    """Whether who did it in a passive sentence is the subject of the other."""
    after = [place for place, word in enumerate(passive.words) if word.plain in lexicon.BY]
    doer = next((word for word in passive.words[after[-1] + 1 :] if _weighs(word)), None)
    subject = next((word for word in active.words if _weighs(word)), None)
    return doer is not None and subject is not None and _same(doer, subject)


def _coheres(sentence: _Sentence, found: _Found) -> bool:
    """Whether what was found is of one statement: no later clause that is used has a subject of its own."""
    used = {place for _, place in found}
    clauses = sorted({sentence.words[place].clause for place in used})
    for clause in clauses[1:]:
        first = next(
            (place for place, word in enumerate(sentence.words) if word.clause == clause and _weighs(word)),
            None,
        )
        if first is not None and first not in used:
            return False
    return True


def _same_sense(part: _Sentence, sentence: _Sentence, found: _Found, telling: bool) -> bool:
    """Whether both are said or denied, doubted or not, of all or of some, under the same conditions."""
    places = [place for _, place in found]
    used = _clauses_used(sentence, places)
    if any(_orders(sentence, clause) for clause in used) or _is_a_part(sentence, found):
        return False
    theirs = frozenset(word.plain for word in sentence.words if word.clause in used)
    mine = part.plain
    whole = sentence.plain
    if _denials(part.words) != _denials(word for word in sentence.words if word.clause in used):
        return False
    if (_is_over(sentence) and not _is_over(part)) or _left_behind(part, sentence, found):
        return False
    if _kinds(mine & lexicon.REVERSALS) != _kinds(theirs & lexicon.REVERSALS):
        return False
    if not _kinds(whole & lexicon.HEDGES) <= _kinds(mine & lexicon.HEDGES):
        return False
    if not _kinds(mine & lexicon.QUANTITIES) <= _kinds(whole & lexicon.QUANTITIES):
        return False
    if telling:
        if not (whole & lexicon.CONDITIONS) <= (mine | lexicon.NEGATIONS):
            return False
        if any(
            _weighs(word)
            for place, word in enumerate(sentence.words)
            if word.clause in used and place not in places and not _is_said_otherwise(word)
        ):
            return False
        return _kinds(mine & lexicon.TELLING) <= _kinds(whole & lexicon.TELLING)
    return True


def _orders(sentence: _Sentence, clause: int) -> bool:
    """Whether a clause behind a comma or colon is an order."""
    first = next(word for word in sentence.words if word.clause == clause)
    return clause > 0 and not first.name and first.plain in lexicon.ORDERS


def _is_a_part(sentence: _Sentence, found: _Found) -> bool:
    """Whether a number that was found is what others are a part of: "two of five"."""
    used = {place for _, place in found}
    for word, place in found:
        before = sentence.words[max(0, place - 2) : place]
        if len(before) == 2 and before[1].plain == "of" and _counts(word) and _counts(before[0]):
            return place - 2 not in used
    return False


def _counts(word: _Word) -> bool:
    return word.number or word.plain in lexicon.COUNTS


def _clauses_used(sentence: _Sentence, places: Sequence[int]) -> frozenset[int]:
    """The clauses that say something of what a statement says: not those that just have its subject."""
    by_clause: dict[int, list[int]] = {}
    for place in places:
        by_clause.setdefault(sentence.words[place].clause, []).append(place)
    telling = {
        clause
        for clause, found in by_clause.items()
        if any(not sentence.words[place].name for place in found)
        or not any(_weighs(word) and not word.name for word in sentence.words if word.clause == clause)
    }
    return frozenset(telling or by_clause)


def _left_behind(part: _Sentence, sentence: _Sentence, found: _Found) -> bool:
    """Whether a sentence tells that something was left or not taken, and a statement does not."""
    return any(
        _behind_left(sentence.words, place) and not _behind_left(part.words, part.words.index(word))
        for word, place in found
        if word.plain not in lexicon.LEFT
    )


def _behind_left(among: Sequence[_Word], place: int) -> bool:
    """Whether what is left stands at a place: behind such a word, or a light one between."""
    before = among[max(0, place - 2) : place]
    if before and _weighs(before[-1]) and before[-1].plain not in lexicon.LEFT:
        return False
    return any(word.plain in lexicon.LEFT for word in before)


def _is_said_otherwise(word: _Word) -> bool:
    return word.plain in lexicon.GLUE or word.plain in lexicon.SELVES


def _denials(said: Iterable[_Word]) -> int:
    """How often words deny; the two of a French denial are one."""
    found = [word.plain for word in said if word.plain in lexicon.NEGATIONS]
    return len([one for one in found if one != "ne"]) or len(found)


def _is_over(sentence: _Sentence) -> bool:
    """Whether a sentence tells what used to be."""
    plain = ["", *(word.plain for word in sentence.words)]
    return any(
        one == "used" and other == "to" and before not in lexicon.BEING
        for before, one, other in zip(plain, plain[1:], plain[2:], strict=False)
    )


def _kinds(said: Iterable[str]) -> frozenset[str]:
    """Words by what they mean: one of each group stands for all of it."""
    return frozenset(
        f"group {min(groups)}" if (groups := lexicon.group_of(stem(word))) else stem(word) for word in said
    )


def _nearly_the_same_pairs(part: _Sentence, sentence: _Sentence) -> bool:
    mine, theirs = set(words(part.text)), set(words(sentence.text))
    numbers, there = (set(map(without_grouping, _NUMBER.findall(one.text))) for one in (part, sentence))
    return len(mine & theirs) >= _MOST_PAIRS * len(mine) and numbers <= there


@cache
def _script() -> re.Pattern[str]:
    return unspaced_runs()


def _unspaced(text: str) -> bool:
    return not text.isascii() and _script().search(text) is not None


def _sentence(text: str, question: bool) -> _Sentence:
    found: list[_Word] = []
    clause = 0
    for match in islice(_TOKEN.finditer(text), _MOST_WORDS):
        written = match[0]
        if written[0] in _BREAKS or written == "...":
            clause += 1
            continue
        if written[0].isdigit():
            plain = without_grouping(written.lower())
            found.append(_Word(written, plain, plain, False, clause, True))
            continue
        for written_part in _parts(written):
            plain = fold(written_part)
            if written_part == "May" and found:
                plain = "month of may"
            if plain in lexicon.COORDINATORS:
                clause += 1
            common = STOP_WORDS | lexicon.LIGHT | lexicon.CALENDAR
            name = not written_part.islower() and plain not in common
            found.append(_Word(written_part, plain, stem(plain), name and bool(found), clause, False))
    if found and (_first_is_name(found, text)):
        first = found[0]
        found[0] = _Word(first.written, first.plain, first.stem, True, first.clause, first.number)
    folded, stemmed = frozenset(word.plain for word in found), frozenset(word.stem for word in found)
    return _Sentence(text, tuple(found), question, folded, stemmed)


def _first_is_name(found: Sequence[_Word], text: str) -> bool:
    """Whether the first word is one, which has a capital letter anyhow: no word of weight that the language has."""
    first = found[0]
    if first.number or first.written.islower() or not first.plain:
        return False
    return (
        first.plain not in STOP_WORDS
        and first.plain not in lexicon.LIGHT
        and first.plain not in lexicon.KNOWN
    )


def _parts(written: str) -> list[str]:
    """A word without what is contracted into it: "doesn't" gives does, not; "l'équipe" gives l, équipe."""
    if written.lower() == "cannot":
        return ["can", "not"]
    head, sign, tail = written.replace("’", "'").partition("'")
    if not sign:
        return [written]
    if tail.lower() == "t" and head.lower().endswith("n"):
        return [{"ca": "can", "wo": "will", "sha": "shall"}.get(head[:-1].lower(), head[:-1]), "not"]
    if tail.lower() in ("s", "re", "ve", "ll", "d", "m"):
        return [head]
    return [one for one in (head, tail) if one]
