"""What an agent should be told before it edits a file or runs a command: a rule that names just that, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from core.model.judgement import Standing
from core.model.note import Note
from core.model.secrets import secrets_of

_MOST: Final = 300
_LONGEST: Final = 300
# A note that names more than so many things is about none of them.
_FEW: Final = 6
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[\"'`(\w])|\n+")
_RULE: Final = re.compile(
    r"\b(?:never|always|must(?:n't)?|do not|don't|avoid|careful|caution|warning|beware|make sure|ensure|instead of"
    r"|rather than|not allowed|forbidden|before (?:you|\w+ing)|after (?:you|\w+ing)|otherwise|by hand"
    r"|only (?:with|after|from|by|in|when|if|on|through|via|touch|edit|change|use|run)"
    r"|(?:edited|changed|run|used)\b[^.;]*\bonly|(?:is|are) (?:generated|vendored|deprecated|frozen|read-only)"
    r"|needs? (?:an?|the|to)|has to|have to|should(?:n't| not| only| be| stay)"
    r"|decided|agreed|we chose|prefer\w*|requires? (?!\d)|regenerate|(?<!we )(?<!they )keep"
    r"|nie(?:mals)?|immer|darf|dürfen|muss|müssen|nicht|vorsicht|achtung|bevor|statt|nur (?:mit|nach|über)"
    r"|jamais|toujours|il faut|attention|avant de|ne pas|nunca|siempre|hay que|cuidado|antes de)\b",
    re.IGNORECASE,
)
# What is asked, was so once, or is somebody else's word is no rule.
_NO_RULE: Final = re.compile(
    r"\?\W*\Z|\bno (?:need|longer)\b|\b(?:used to|yesterday|said|wrote|claimed|according to)\b"
    r"|\b(?:should|must|could|would)(?:n't| not)? have (?:been|\w+ed)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"`([^`\n]{3,100})`")
_COMMAND: Final = re.compile(r"(?:\./)?[a-z][\w./-]*(?:\s+[\w./:=@,*-]+)+")

Kind = Literal["file", "folder", "command"]


class Advice(NamedTuple):
    """A sentence that an agent is told before it acts on what `name` says: a path in the project, or the words of a
    command. rank: the higher, the earlier.
    """

    kind: Kind
    name: str
    note_id: str
    said: str
    rank: int = 0


def advice(notes: Iterable[Note], standings: Mapping[str, Sequence[Standing]]) -> list[Advice]:
    """What some notes have to say before an action, at most 300 sentences. standings: of what each note names; what is
    gone or can't be told is left out, and so is a note that seems to hold a credential.
    """
    found = [one for note in notes if not note.hidden for one in _of_note(note, standings.get(note.id, ()))]
    return found[:_MOST]


def _of_note(note: Note, standings: Sequence[Standing]) -> Iterator[Advice]:
    if len(standings) > _FEW:
        return
    files = [one for one in standings if one.kind == "file" and one.state in ("fresh", "changed", "moved")]
    for sentence in _SENTENCES.split(note.content):
        said = " ".join(sentence.split())
        is_rule = _RULE.search(said) or note.type == "preference"
        if not 8 < len(said) <= _LONGEST or not is_rule or _NO_RULE.search(said):
            continue
        # The program of a command that is quoted is no file that it speaks of.
        bare = _QUOTED.sub(lambda quoted: "" if _COMMAND.fullmatch(quoted[1]) else quoted[0], sentence)
        made = [
            Advice("command", name, note.id, said, note.hits)
            for name in _QUOTED.findall(said)
            if _COMMAND.fullmatch(name)
        ]
        for one in files:
            if re.search(rf"(?<![\w./-]){re.escape(one.said)}(?![\w/-])", bare):
                name = one.where.partition(":")[0] if one.state == "moved" else one.name
                is_folder = one.said.endswith("/") or "." not in name.rpartition("/")[2]
                made.append(Advice("folder" if is_folder else "file", name, note.id, said, note.hits))
        if made and not secrets_of(note):
            yield from made
