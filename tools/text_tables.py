"""Writes the tables of `core/text` that every process would find out again, a fifth of the time that a command takes.

    python tools/text_tables.py

stems.txt: the stems of everyday and common words and of their plurals, as the stemmer has them, and of irregular forms
that of the plain one: irregular.txt has these in a line each, the plain form first. Forms that are other words more
often than not ("bore", "ground", "rose") are out, and words so general that they tell nothing ("get", "make", "good").
marks.txt: the combining marks of all scripts, from and to, as Python has them.
"""

from __future__ import annotations

import unicodedata

from core.text.languages import listed_words
from core.text.tokens import MARKS, STEMS, stemmed_anew


def stem_lines() -> list[str]:
    """Words, each with its stem."""
    irregular = STEMS.with_name("irregular.txt").read_text(encoding="ascii").splitlines()
    plain_of = {form: line.split()[0] for line in irregular for form in line.split()[1:]}
    plain = {plain_of.get(word, word) for word in listed_words()}
    forms = {form: form for form in (*plain, *map(_plural, plain))} | plain_of
    return sorted(f"{form} {found}" for form, stem in forms.items() if (found := stemmed_anew(stem)))


def mark_lines() -> list[str]:
    """Spans of code points, hexadecimal, both ends in them."""
    spans: list[list[int]] = []
    for code in range(0x300, 0x20000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me"):
            if spans and spans[-1][1] == code - 1:
                spans[-1][1] = code
            else:
                spans.append([code, code])
    return [f"{low:x} {high:x}" for low, high in spans]


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


if __name__ == "__main__":
    STEMS.write_text("\n".join(stem_lines()) + "\n", encoding="ascii")
    MARKS.write_text("\n".join(mark_lines()) + "\n", encoding="ascii")
