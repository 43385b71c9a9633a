"""Whether the numbers of a statement stand in a sentence, in digits or as the small words for them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

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
    return all(any(_is(number, other) for other in there) for number in _numbers(statement))


def _is(number: _Number, other: _Number) -> bool:
    same = other.value == number.value or other.value.startswith(f"{number.value}.")
    return same and (not number.unit or not other.unit or number.unit == other.unit)


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
