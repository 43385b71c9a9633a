"""What of a prompt is worth keeping: what a person says to last, in English, German, French or Spanish.

Only sentences of the person count: nothing in quotes, code, tags or material that is pasted or listed for a task.
`phrases.txt` has the patterns by which they are told, in a form of its own: an agent waits, and a reader of TOML takes
longer to load than all of them to compile.
"""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

PERSON, PROJECT, ASKS = "person", "project", "asks"
"""Whom a sentence is about: the person everywhere, or the project at hand. What it asks for may do harm: a person
decides."""

# What comes later in a prompt was most often pasted.
_LONGEST_PROMPT: Final = 4_000
_SHORTEST, _LONGEST = 8, 400
_MOST: Final = 5
# What is asked for behind a statement.
_REQUEST: Final = re.compile(
    r",\s+(?:and |so )?(?:can|could|would|will|shall) (?:you|we|I)\b[^?]*\?$", re.IGNORECASE
)
_LISTED: Final = re.compile(r"\s*(?:[-*•+]|\d+[.)])\s+")
_LOGGED: Final = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|Traceback)\b"
    r"|E\s{2,}|[$#]|//|at \w)"
)
_FENCED: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED: Final = re.compile(r"\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`")
_QUOTED_LINES: Final = re.compile(r"(?<!\w)\"[^\"]*\"(?!\w)")
_SENTENCE: Final = re.compile(
    r"\S.*?(?:(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!etc)(?<!vs)(?<!bzw)(?<!p\."
    r" ej)[.!?]+[\"'”)]*(?=\s+[\w\"'`(·¿¡])|$)"
)
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][\w-]*)[^<>]*>")

# Words of a prompt that is sure to hold no credential, and words that tell of one.
_HARMLESS: Final = re.compile(r"[(\"'`]*(?:[^\W\d_]{1,20}(?:['’-][^\W\d_]{1,20})?|\d{1,3})?[.,;!?)\"'`…–-]*")
_CUES: Final = re.compile(
    r"pass|pwd|secret|token|key|credential|bearer|auth|log.?in|\bpin\b|code", re.IGNORECASE
)


def is_plain(prompt: str) -> bool:
    """Whether a prompt is words alone, and none about a credential: it need not be looked at any closer."""
    return not _CUES.search(prompt) and all(map(_HARMLESS.fullmatch, prompt.split()))


@cache
def _phrases() -> dict[str, list[str]]:
    """The patterns of each kind, as `phrases.txt` has them."""
    found: dict[str, list[str]] = {}
    above: list[str] = []
    with open(os.path.join(os.path.dirname(__file__), "phrases.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            kind, colon, pattern = line.partition(": ")
            if line.startswith("  "):
                above[-1] += line[2:]
            elif colon and not line.startswith("#"):
                above = found.setdefault(kind, [])
                above.append(pattern)
    return found


@cache
def _patterns(kind: str) -> list[re.Pattern[str]]:
    """The patterns of a kind; they are compiled once they are wanted, and most prompts want none but the signs."""

    def any_of(kind: re.Match[str]) -> str:
        return filled(f"(?:{'|'.join(_phrases()[kind[1]])})")

    def filled(pattern: str) -> str:
        return re.sub(r"\{([a-z]\w*)\}", any_of, pattern)

    return [re.compile(filled(pattern), re.IGNORECASE) for pattern in _phrases()[kind]]


def _find(kind: str, text: str, start: int = 0) -> re.Match[str] | None:
    """Where the first pattern of a kind that fits does; None for none."""
    text = text.replace("’", "'")
    return next(filter(None, (pattern.search(text, start) for pattern in _patterns(kind))), None)


def statements(prompt: str) -> Iterator[tuple[str, str]]:
    """What of a prompt is meant to last: `PERSON`, `PROJECT` or `ASKS`, and the sentence. At most five."""
    prompt = prompt[:_LONGEST_PROMPT].strip()
    if len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in prompt[1:-1]:
        # OpenCode's `run` puts quotation marks around the whole of it.
        prompt = prompt[1:-1]
    if _find("sign", prompt):
        said = _sentences(_untagged(_FENCED.sub("·", prompt)))
        kept = (_kept(sentence, own) for sentence, own in said if _SHORTEST <= len(sentence) <= _LONGEST)
        yield from islice(filter(None, kept), _MOST)


def is_preference(sentence: str) -> bool:
    """Whether a sentence that was kept says how things are to be done, not what is so."""
    begin, said = _begun(sentence)
    return bool(_rule(begin, said) or _find("prefer", said))


def _begun(sentence: str) -> tuple[re.Match[str], str]:
    """How a sentence begins, and what it says behind that."""
    begin = _find("begin", sentence)
    assert begin is not None
    return begin, sentence[begin.end() :]


def _rule(begin: re.Match[str], said: str) -> re.Match[str] | None:
    return _find("rule", said) or (_find("rule_here", said) if begin["here"] else None)


def _kept(sentence: str, own: str) -> tuple[str, str] | None:
    """Whom a sentence is about, and what of it is kept; None for one that is not meant to last. own: the sentence with
    dots for quoted words, which are somebody else's.
    """
    own = _REQUEST.sub("", own)
    begin, said = _begun(own)
    rule = _rule(begin, said)
    if _find("question", said) and not (rule and begin["asked"]):
        return None
    told = _find("told", said)
    prefers = rule or _find("prefer", said)
    if not (told or prefers or _find("decided", said)):
        return None
    sentence = sentence[: len(own)]
    if told:
        own, sentence = told["said"].strip(), sentence[begin.end() :][slice(*told.span("said"))].strip()
        rule = _find("rule", own)
        prefers = rule or _find("prefer", own) or _find("oneself", own)
    passing = _find("passing", own) or (_find("until", own) and not _find("always", own))
    if passing or len(sentence) < _SHORTEST or not re.search(r"\w", own):
        return None
    asks = _find("harmful", sentence) or (rule and _find("runs", own))
    kind = ASKS if asks else PERSON if prefers and not _find("in_project", own) else PROJECT
    sentence = " ".join(sentence.split())
    return kind, sentence[:1].upper() + sentence[1:] if told else sentence


def _untagged(prompt: str) -> str:
    """A prompt without what stands in tags, as the program around the agent adds it; all behind one that begins a line
    and stays open. Types and names in brackets are no tags.
    """
    kept, at = "", 0
    for tag in _TAG.finditer(prompt):
        if tag.start() < at or tag[1]:
            continue
        end = re.compile(rf"</{re.escape(tag[2])}\s*>", re.IGNORECASE).search(prompt, tag.end())
        begins = not prompt[prompt.rfind("\n", 0, tag.start()) + 1 : tag.start()].strip()
        if end or begins:
            kept += prompt[at : tag.start()] + "\n"
            at = end.end() if end else len(prompt)
    return kept + prompt[at:]


def _sentences(prompt: str) -> Iterator[tuple[str, str]]:
    """The sentences of the person alone, each also with dots for what is quoted in it."""

    def dotted(quoted: re.Match[str]) -> str:
        return "·" * len(quoted[0])

    own = _QUOTED.sub(dotted, prompt)
    if own.count('"') % 2 == 0:
        own = _QUOTED_LINES.sub(dotted, own)
    pasted = listing = begun = False
    at = 0
    for line in own.splitlines(keepends=True):
        start, at = at, at + len(line)
        line = line.rstrip()
        if not line:
            pasted = pasted and not begun
            continue
        if pasted and _find("greeting", line):
            # A letter has paragraphs.
            return
        begun = True
        if pasted or line.startswith((">", "    ", "\t", "|")) or _LOGGED.match(line):
            continue
        listed = _LISTED.match(line)
        if listed and listing:
            continue
        begin = listed.end() if listed else 0
        given = _find("material", line, begin)
        if not listed:
            introduces = line.endswith(":")
            listing = bool(given or (introduces and not _find("sign", line)))
            pasted, begun = bool(given and introduces), False
        if given and not _find("told", line[begin:]):
            line = line[: line.find(":", begin) + 1]
        for found in _SENTENCE.finditer(line, begin):
            yield prompt[start + found.start() : start + found.end()], found[0]
