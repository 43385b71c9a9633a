"""The word lists of the pipeline, by name: the paragraphs of `words.txt`, with a name in the first line of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

# An underscore stands for the space within a pair of words.
WORDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(word.replace("_", " ") for word in words.split())
    for name, _, words in (
        part.partition("\n")
        for part in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n")
    )
}
