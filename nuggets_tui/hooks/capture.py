"""What of a prompt or a tool's call is worth keeping: statements meant to last, paths of files that were edited."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

# One of these is in each prompt that says something to keep; most prompts hold none and are looked at no further.
_SIGNS: Final = ("remember", "forget", "prefer", "always", "never", "keep in mind")
# What comes later in a prompt was most often pasted.
_LONGEST_PROMPT: Final = 4_000
_LONGEST_PATCH: Final = 200_000
_SHORTEST, _LONGEST = 8, 400
_MOST: Final = 5
_POLITE: Final = r"(?:(?:please|also|and|but|so|ok|okay|btw|then|just)[,:]?\s+)*"
# What people ask for with "always" and "never"; with other words they tell of something.
_DO: Final = (
    r"(?:use|run|add|write|keep|put|ask|check|test|commit|format|name|import|return|include|create|update|respond|answer"
    r"|reply|call|start|make|set|follow|avoid|squash|rebase|lint|document|push|merge|deploy|delete|remove|edit|touch"
    r"|change|modify|skip|log|store|print|hard-?code|guess|assume|amend|force|install|rename|rewrite|disable|ignore)\b"
)
_MUST: Final = rf"^{_POLITE}(?:you\s+(?:should|must)\s+)?"
_REMEMBER: Final = re.compile(
    rf"^{_POLITE}(?:(?:remember|(?:do not|don['’]t|never) forget|keep in mind)(?:\s+that\b|\s*[:,])|remember\s+to\b)"
    r"\s*(?P<said>.+)",
    re.IGNORECASE,
)
_PREFERENCES: Final = re.compile(
    r"\b(?:I|we)\s+(?:(?:really|strongly|generally|usually|always|much)\s+)?prefer\s+\S"
    r"|\b(?:I|we)\s+always\s+use\s+\S"
    r"|\b(?:I|we)\s+never\s+(?:want|use|commit|push|deploy|edit)\s+\S"
    rf"|{_MUST}always\s+{_DO}\s+\S"
    rf"|{_MUST}never\s+(?:ever\s+)?{_DO}\s+\S",
    re.IGNORECASE,
)
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ0-9\"'`(])")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
_PATH_KEYS: Final = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "file")
_PASSED_OVER: Final = frozenset(
    ("node_modules", "__pycache__", "dist", "build", "target", "venv", "vendor", "tmp", "coverage")
)


# Words of a prompt that is sure to hold no credential, and words that tell of one.
_HARMLESS: Final = re.compile(r"[(\"'`]*(?:[^\W\d_]{1,20}(?:['’-][^\W\d_]{1,20})?|\d{1,3})?[.,;!?)\"'`…–-]*")
_CUES: Final = re.compile(
    r"pass|pwd|secret|token|key|credential|bearer|auth|log.?in|\bpin\b|code", re.IGNORECASE
)


def is_plain(prompt: str) -> bool:
    """Whether a prompt is words alone, and none about a credential: it need not be looked at any closer."""
    return not _CUES.search(prompt) and all(map(_HARMLESS.fullmatch, prompt.split()))


def statements(prompt: str) -> Iterator[tuple[str, str]]:
    """What of a prompt is meant to last: its kind, "remember" or "preference", and the sentence. At most five.

    Code, quoted lines and questions are passed over.
    """
    prompt = _unquoted(prompt[:_LONGEST_PROMPT].strip())
    folded = prompt.lower()
    if not any(sign in folded for sign in _SIGNS):
        return
    found = 0
    for sentence in _sentences(prompt):
        if sentence.endswith("?") or not _SHORTEST <= len(sentence) <= _LONGEST:
            continue
        asked = _REMEMBER.match(sentence)
        if asked is not None and len(asked["said"]) >= _SHORTEST:
            said = asked["said"].strip()
            yield "remember", said[:1].upper() + said[1:]
        elif _PREFERENCES.search(sentence):
            yield "preference", sentence
        else:
            continue
        found += 1
        if found == _MOST:
            return


def _unquoted(prompt: str) -> str:
    """A prompt without the quotation marks that stand around the whole of it: OpenCode's `run` puts them there."""
    return (
        prompt[1:-1]
        if len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in prompt[1:-1]
        else prompt
    )


def _sentences(prompt: str) -> Iterator[str]:
    fenced = False
    for line in prompt.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or line.startswith((">", "    ", "\t", "<", "|")):
            continue
        for sentence in _SENTENCE_ENDS.split(line.strip().lstrip("-*• ")):
            yield " ".join(sentence.split())


def edited_paths(event: Mapping[str, Any], root: str) -> Iterator[str]:
    """Paths of files in the project that a tool's call was about, from its root on."""
    given = event.get("tool_input")
    answered = event.get("tool_response")
    for part in (event, given, answered):
        if isinstance(part, dict):
            for key in _PATH_KEYS:
                value = part.get(key)
                if isinstance(value, str) and value:
                    yield from _within(value, root)
            for key in ("command", "input", "patch", "patchText"):
                value = part.get(key)
                for text in value if isinstance(value, list) else [value]:
                    if isinstance(text, str) and "*** " in text:
                        for path in _PATCHED.findall(text[:_LONGEST_PATCH]):
                            yield from _within(path.strip(), root)


def _within(path: str, root: str) -> Iterator[str]:
    if not root or len(path) > _LONGEST or not path.isprintable():
        return
    inner = os.path.relpath(os.path.join(root, path), root)
    parts = inner.split(os.sep)
    if parts[0] in ("..", ".") or os.path.isabs(inner):
        return
    if not any(part in _PASSED_OVER or part.startswith(".") for part in parts):
        yield inner
