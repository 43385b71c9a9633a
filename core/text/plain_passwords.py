"""Passwords of plain words beside the word "password". They are warned of when they are written, and nothing else:
plain words are too often no password to mask them or to keep them from anybody.
"""

# ruff: noqa: SIM905

from __future__ import annotations

import re
from typing import Final

# So many letters of a text are looked at, and so many words make a password.
_LOOKED_AT: Final = 100_000
_LEAST, _MOST = 3, 8
_NAMED: Final = re.compile(
    r"\b(?:password|passphrase|passwort|kennwort|mot de passe|contraseña)\b"
    r"(?:\s+(?:for|of|to|für|zum|zur)(?:\s+\w+){1,3}?)?"
    r"(?:\s*[:=]\s*|\s+(?:is|ist|est|es)\s*:?\s+)[\"'“`]?(?P<value>[^\W\d_]{2,}(?:[ \t.\-][^\W\d_]{2,}){2,7})",
    re.IGNORECASE,
)
# Words that a sentence about passwords has, and a row of words chosen at random has not.
_OF_SENTENCES: Final = frozenset(
    """a an and any are as at be been before but by can cannot changed does every for from has have here if in
    into it its kept least long longer must never no not of off on only or our per required reset rotated same
    set shall should so stored than that the then there they this to too until used very was we when where which
    who will with without you your der die das den dem ein eine ist und oder nicht im mit von wird werden muss
    le la les un une et ou ne pas dans avec el los las una y o en con por""".split()
)


def plain_password(text: str) -> bool:
    """Whether a text seems to say a password of three plain words or more: "my password is correct horse battery"."""
    for found in _NAMED.finditer(text[:_LOOKED_AT]):
        words = re.split(r"[ \t.\-]", found["value"].casefold())
        if _LEAST <= len(words) <= _MOST and not _OF_SENTENCES.intersection(words):
            return True
    return False
