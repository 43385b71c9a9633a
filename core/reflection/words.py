"""The texts of notes as the rules read them: their words, and what is left once they are tidied."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import Final

from core.model.note import Note
from core.text.exact import BASIS_STOP_WORDS
from core.text.normalise import code_lines, normalise_content
from core.text.tokens import STOP_WORDS, stem, words

_SCOPE_PREFIX: Final = re.compile(r"\s*(?:self|user|shared|project|session):", re.IGNORECASE)
# Marks that tell two texts of the same words apart: C++ from C#, 5 from -5, one emoji from another.
_MARKS: Final = "[#%+<>=~$€£\u2190-\u2bff\U0001f000-\U0001faff]|(?<![^\\s(,;:=])-(?=\\d)"
_MARK: Final = re.compile(_MARKS)
_RUN_OR_MARK: Final = re.compile(f"[A-Za-z0-9]+|{_MARKS}")
# Where a token is a pair of characters: Chinese and Japanese pairs are about a word, pairs of Thai, Lao,
# Myanmar and Khmer only a syllable, pairs of hiragana mostly grammar.
_WORDLIKE_PAIR: Final = re.compile(
    "[\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
_WEAK_PAIR: Final = re.compile("[\u3040-\u309f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
_HEADING: Final = re.compile(r"#{1,6}(\s|$)")
_UNDERLINE: Final = re.compile(r"(=+|-+)$")
_KEY_AND_VALUE: Final = re.compile(r"""(?:[-*+]\s+)?["']?[^\s:"'][^:]{0,60}["']?:(\s|$)""")
_CODE: Final = re.compile(r"[{}(;\\]$|^\S*\w\(.*\)$")
_HAS_WORD: Final = re.compile(r"[^\W_]")
_LONGEST: Final = 40
# Words of any text about work, however few notes of a nugget happen to hold them: what two notes share in them is
# grammar, number, degree or time, never a matter.
_UNTELLING: Final = frozenset(
    resources.files("core.reflection").joinpath("untelling.txt").read_text("utf-8").split()
)


class TokenCache(dict[tuple[str, str], tuple[str, ...]]):
    """Tokens of notes, worked out once each. One object serves one pass over one snapshot."""

    def tokens(self, note: Note) -> tuple[str, ...]:
        """Words of title and content in order of first appearance, every script, no repeats, no stop words.

        Marks such as "+" or an emoji count as words. The prefix that names a scope ("user:") does not.
        """
        return self[note.title, note.content]

    def __missing__(self, place: tuple[str, str]) -> tuple[str, ...]:
        text = f"{without_scope(place[0])}\n{place[1]}"
        if text.isascii():
            found = chain.from_iterable(map(_parts, _RUN_OR_MARK.findall(text)))
        else:
            found = chain((word for word in words(text) if word not in BASIS_STOP_WORDS), _MARK.findall(text))
        kept = self[place] = tuple(dict.fromkeys(found))
        return kept


@lru_cache(maxsize=50_000)
def _parts(run: str) -> tuple[str, ...]:
    """The words of a run of letters and digits without stop words; for a mark the mark."""
    return tuple(word for word in words(run) if word not in BASIS_STOP_WORDS) if run.isalnum() else (run,)


def without_scope(title: str) -> str:
    """A title or key without the prefix that names its scope."""
    return _SCOPE_PREFIX.sub("", title, count=1) if ":" in title else title


def is_informative(token: str) -> bool:
    """Whether a token can be the ground of a link: no stop word, no mark, not too short, not endless."""
    if token.isascii():
        grammar = token in STOP_WORDS or token in _UNTELLING
        return 3 <= len(token) <= _LONGEST and token.isalnum() and not grammar
    return 2 <= len(token) <= _LONGEST and token[0].isalnum() and not _WEAK_PAIR.fullmatch(token)


def independent(tokens: Iterable[str]) -> list[str]:
    """The tokens without forms of a word already taken, and without pairs of Chinese or Japanese characters that
    overlap one.

    A word of three characters gives two pairs, and "invoices" is "invoice": alone neither counts as two shared words.
    """
    taken: dict[str, str] = {}
    characters: set[str] = set()
    for token in tokens:
        if not _WORDLIKE_PAIR.search(token):
            taken.setdefault(stem(token), token)
        elif characters.isdisjoint(token):
            characters.update(token)
            taken.setdefault(stem(token), token)
    return [*taken.values()]


def tidied(content: str) -> str:
    """The content with trailing white space, doubled blank lines and repeated lines taken out.

    A line is only dropped when the same line stands before it in the same section and it is a line of prose
    or a list item: code (fenced or indented), indented lines, tables, quotes, headings, `key: value` lines
    and lines that have indented ones below them stay as they are. A section ends at a heading and at a line
    that ends with a colon. Tidying twice changes nothing more.
    """
    tidy = normalise_content("\n".join(_without_repeats(normalise_content(content).split("\n"))))
    # Characters that stand for nothing are no white space: of a text that has them alone nothing is taken.
    return content if len(tidy) == len(content) and "\r" not in content else tidy


def _without_repeats(lines: list[str]) -> list[str]:
    code = code_lines(lines)
    kept: list[str] = []
    seen: set[str] = set()
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if line and not code[place]:
            if _HEADING.match(line) or _UNDERLINE.match(following) or line.endswith((":", "：")):
                seen.clear()
            elif _may_go(line, following):
                if line in seen:
                    continue
                seen.add(line)
        kept.append(line)
    return kept


def _may_go(line: str, following: str) -> bool:
    """Whether a second line like this says nothing that the first did not."""
    indented = line[0].isspace() or following[:1].isspace()
    marked = line[0] in ">|<" or "|" in line or "\t" in line or not _HAS_WORD.search(line)
    return not (indented or marked or _CODE.search(line) or _KEY_AND_VALUE.match(line))
