"""Numbers of a text, however they are written, and whether those of a statement stand in it.

1,000, 1.000, 1 000, 1k and "one thousand" are one number; so are 30 s, 30,000 ms and half a minute; 5 pm and 17:00;
17.11.2026 and 2026-11-17. Of a version as much as a statement names must be there: 3.11 stands in 3.11.4, not the other
way round.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Final

_LONGEST_READ: Final = 200_000
# Longer ones are data: they are compared as they stand.
_LONGEST_AMOUNT: Final = 40
_MOST_NUMBERS: Final = 20_000
# A plain number, or a text for what is no amount: a version, a time of day, a date.
_Reading = Fraction | str

_HEX: Final = r"0[xX][0-9a-fA-F]+"
_DATE: Final = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[./-]\d{1,2}[./-]\d{4}(?!\d)"
_CLOCK: Final = r"\d{1,2}(?::|[hH](?=\d\d(?!\d)))\d\d(?::\d\d)?(?![\d:])"
_AMOUNT: Final = r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_NUMBER: Final = re.compile(
    rf"(?P<hex>{_HEX})|(?P<date>{_DATE})|(?P<clock>{_CLOCK})|(?P<amount>{_AMOUNT})"
    r"|(?<![^\W\d_])(?P<word>[^\W\d_]{2,14})(?![^\W\d_]|-[^\W\d_])"
)
_GROUPED: Final = re.compile(r"\d{1,3}(?:([,.'’ \u00a0\u202f])\d{3})(?:\1\d{3})*")
_DECIMAL: Final = re.compile(r"\d+[.,]\d+")
_SUFFIX: Final = re.compile(r"[\s\u00a0\u202f-]?(%|[^\W\d_]+\.?[^\W\d_]?\.?)")
# The first number of a range has the unit of the second: 5 to 10 minutes.
_RANGE: Final = re.compile(
    rf"(?:[\s\u00a0]?[-–—][\s\u00a0]?|\s(?:to|bis|à|or|oder)\s)(?:{_AMOUNT})[\s\u00a0-]?(%|[^\W\d_]+)"
)
# The unit of a setting is in its name: timeout_ms = 30000.
_NAMED_UNIT: Final = re.compile(r"[_A-Za-z]*?_([A-Za-z]+)[\"']?\s?[=:]\s?$")
_LETTER_BEFORE: Final = re.compile(r"[^\W\d_]$")


def _table(listed: dict[str, str]) -> dict[str, Fraction]:
    return {word: Fraction(value) for value, words in listed.items() for word in words.split()}


_TIMES: Final = _table(
    {
        "1000": "k thousand thousands tausend tsd mille mil mila duizend 千",
        "10000": "万 萬",
        "1000000": "million millions mio mln millionen millones millón milhões milhão milioni miljoen",
        "100000000": "億 亿",
        "1000000000": "billion billions bn mrd milliarde milliarden milliards miljard",
    }
)
_SECONDS: Final = _table(
    {
        "1/1000": "ms millisecond milliseconds msec millisekunden millisecondes milisegundos",
        "1": "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos secondi seconden 秒 초",
        "60": "min mins minute minutes minuten minuto minutos minuti minuut 分 分钟 분",
        "3600": "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uren 時間 小时 시간",
        "86400": "d day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen 日 天 일",
        "604800": "week weeks woche wochen semaine semaines semana semanas settimana settimane weken 週間 周",
    }
)
_BYTES: Final = _table(
    {
        "1": "b byte bytes octets",
        "1000": "kb ko kilobyte kilobytes",
        "1024": "kib kibibyte kibibytes",
        "1000000": "mb mo megabyte megabytes",
        "1048576": "mib mebibyte mebibytes",
        "1000000000": "gb go gigabyte gigabytes",
        "1073741824": "gib gibibyte gibibytes",
        "1000000000000": "tb to terabyte terabytes",
        "1099511627776": "tib tebibyte tebibytes",
    }
)
_PARTS: Final = _table({"1": "% percent prozent percento pourcent procent porcento percentage"})
_UNITS: Final = {
    word: (kind, factor)
    for kind, table in (("time", _SECONDS), ("bytes", _BYTES), ("percent", _PARTS))
    for word, factor in table.items()
}
# Written so they are English words, and "mo" a month: "5 to 10 minutes", "one go", "3 mo".
_NO_BYTES: Final = {"to", "go", "mo"}
_HOUR_WORDS: Final = {"uhr", "am", "a.m.", "a.m", "pm", "p.m.", "p.m", "h", "uur", "時", "点", "시"}
# Words that are numbers and nothing else.
_WORDS: Final = _table(
    {
        "2": "two zwei deux dos dois duas twee",
        "3": "three drei trois tres três drie",
        "4": "four vier quatre cuatro quatro quattro",
        "5": "five fünf cinq cinco cinque vijf",
        "6": "six sechs seis zes",
        "7": "seven sieben siete sette zeven",
        "8": "eight acht huit ocho oito otto",
        "9": "nine neun nueve nove negen",
        "10": "ten zehn dix diez dez dieci tien",
        "11": "eleven elf onze undici",
        "12": "twelve zwölf douze doce doze dodici twaalf dozen dutzend",
        "15": "fifteen fünfzehn quinze quince quindici vijftien",
        "20": "twenty zwanzig vingt veinte vinte venti twintig",
        "30": "thirty dreißig trente treinta trinta trenta dertig",
        "40": "forty vierzig quarante cuarenta quarenta veertig",
        "50": "fifty fünfzig cinquante cincuenta cinquenta cinquanta vijftig",
        "60": "sixty sechzig soixante sesenta sessenta sessanta zestig",
        "80": "eighty achtzig ochenta oitenta ottanta tachtig",
        "90": "ninety neunzig noventa novanta negentig",
        "100": "hundred hundert",
    }
)
# Words that may mean a number, or something else: enough for a statement to be borne out, too little to ask it for one.
_ALSO: Final = _table(
    {
        "1/2": "half halbe halben demi demie media meia mezza half",
        "1": "one a an ein eine einen einer einem un une una uno um uma single first erste ersten premier primera een",
        "2": "both twice beide due sept second zweite second",
        "7": "sept sete",
        "9": "neuf",
        "6": "sei",
        "11": "once",
        "100": "cent cien cento honderd",
        "1000": "thousand tausend mille mil",
    }
)  # fmt: skip
_TENS_AND_ONES: Final = re.compile(r"(?<=ty)-(?=[a-z])", re.IGNORECASE)
_TENS: Final = {Fraction(tens) for tens in range(20, 100, 10)}


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it may be read. unit: what it measures; scaled: its readings in the base unit of that.

    offers: what it is besides, for a statement that says less: the year of a date, the first parts of a version.
    sure: it is no word that may mean something else. date: of a date its year and days.
    """

    readings: frozenset[_Reading]
    unit: str = ""
    scaled: frozenset[Fraction] = frozenset()
    offers: frozenset[_Reading] = frozenset()
    sure: bool = True
    date: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a text: by reading, the units that it stands with; and the scaled readings of each unit."""

    units: dict[_Reading, frozenset[str]]
    scaled: frozenset[tuple[str, Fraction]]
    runs: frozenset[str]
    dated: bool

    def hold(self, statement: str) -> bool:
        """Whether each number of a statement stands in the text."""
        return all(self._has(number) for number in _numbers(statement) if number.sure) and all(
            run in self.runs or (len(run) <= _LONGEST_AMOUNT and Fraction(run) in self.units)
            for run in _in_names(statement)
        )

    def _has(self, number: _Number) -> bool:
        if any((number.unit, value) in self.scaled for value in number.scaled):
            return True
        for reading in number.readings:
            units = self.units.get(reading)
            # 30 ms are no 30 s; 30 alone may be either.
            if units is not None and (not number.unit or "" in units or not units):
                return True
        # "17 November 2026" holds the parts of a date.
        return bool(number.date) and not self.dated and all(part in self.units for part in number.date)


def without_grouping(said: str) -> str:
    """A number as it stands in a text without the signs that group its digits by three: 1,000 is 1000, 1.5 is 1.5."""
    grouped = _GROUPED.fullmatch(said)
    return re.sub(r"\D", "", said) if grouped and (grouped[1] != "." or said.count(".") > 1) else said


def numbers_of(text: str) -> Numbers:
    """The numbers of a text; of a very long one those of its head."""
    units: dict[_Reading, set[str]] = {}
    scaled: set[tuple[str, Fraction]] = set()
    dated = False
    for number in _numbers(text[:_LONGEST_READ]):
        dated = dated or bool(number.date)
        for reading in number.readings | number.offers:
            units.setdefault(reading, set()).add(number.unit)
        scaled.update((number.unit, value) for value in number.scaled)
    runs = frozenset(re.findall(r"\d+", unicodedata.normalize("NFKC", text[:_LONGEST_READ])))
    return Numbers(
        {reading: frozenset(found) for reading, found in units.items()}, frozenset(scaled), runs, dated
    )


def _numbers(text: str) -> Iterator[_Number]:
    text = _TENS_AND_ONES.sub(" ", unicodedata.normalize("NFKC", text))
    before: _Number | None = None
    for count, found in enumerate(_NUMBER.finditer(text)):
        if count > _MOST_NUMBERS * 10:
            return
        number = _number(text, found, before)
        if number is not None:
            yield number
        elif found["word"] is None:
            continue
        before = number


def _number(text: str, found: re.Match[str], before: _Number | None) -> _Number | None:
    said = found[0]
    if found["word"] is not None:
        return _spelt(text, found, before)
    if (
        _LETTER_BEFORE.search(text[max(0, found.start() - 1) : found.start()])
        and text[found.start() - 1] not in "vV"
    ):
        # Part of a name: H100, IPv6.
        return None
    if found["hex"] is not None:
        if len(said) > _LONGEST_AMOUNT:
            return _Number(frozenset((said.lower(),)))
        return _Number(frozenset((f"0x{said[2:].lower().lstrip('0') or '0'}", Fraction(int(said, 16)))))
    if found["date"] is not None:
        return _of_date(said)
    unit = _unit(_RANGE.match(text, found.end()) or _SUFFIX.match(text, found.end()))
    if found["clock"] is not None:
        return _Number(_of_clock(said, unit))
    readings, offers = _of_amount(said)
    number = _measured(readings, unit, text[max(0, found.start() - 40) : found.start()])
    return replace(number, offers=offers)


def _unit(suffix: re.Match[str] | None) -> str:
    return suffix[1].lower() if suffix and suffix[1] not in _NO_BYTES else ""


def _spelt(text: str, found: re.Match[str], before: _Number | None) -> _Number | None:
    word = found[0].lower()
    value = _WORDS.get(word)
    also = _ALSO.get(word)
    if value is None and also is None:
        return None
    readings = {one for one in (value, also) if one is not None}
    if value is not None and before is not None and value < 10:
        readings |= {tens + value for tens in before.readings if tens in _TENS and isinstance(tens, Fraction)}
    suffix = _SUFFIX.match(text, found.end())
    unit = _unit(suffix)
    if also is not None and value is None and unit in ("a", "an", "eine", "une"):
        # "half an hour"
        suffix = _SUFFIX.match(text, suffix.end()) if suffix else None
        unit = _unit(suffix)
    measured = _measured(frozenset(readings), unit, "")
    return replace(measured, sure=value is not None)


def _measured(readings: frozenset[_Reading], unit: str, before: str) -> _Number:
    plain = {one for one in readings if isinstance(one, Fraction)}
    times = _TIMES.get(unit.rstrip("."))
    if times is not None:
        return _Number(frozenset(one * times for one in plain) | readings)
    if unit == "m":
        return _Number(readings | frozenset(one * 1_000_000 for one in plain))
    named = _NAMED_UNIT.search(before) if before else None
    known = _UNITS.get(unit.rstrip(".")) or (_UNITS.get(named[1].lower()) if named else None)
    clock = {f"{one}:00" for one in plain if unit in _HOUR_WORDS and one.denominator == 1 and one <= 24}
    if unit.startswith("p"):
        clock |= {f"{one + 12}:00" for one in plain if unit in _HOUR_WORDS and one < 12}
    if known is None:
        return _Number(readings | clock)
    kind, factor = known
    scaled = {one * factor for one in plain}
    # People write kB for 1024 bytes as well.
    if kind == "bytes" and not factor.numerator % 1000:
        power = len(str(factor)) // 3
        scaled |= {one * 1024**power for one in plain}
    return _Number(readings | clock, kind, frozenset(scaled))


def _of_amount(said: str) -> tuple[frozenset[_Reading], frozenset[_Reading]]:
    """How digits with signs between may be read, and what they are besides."""
    said = said.replace("\u00a0", " ").replace("\u202f", " ").replace("’", "'")
    if len(said) > _LONGEST_AMOUNT:
        return frozenset((said,)), frozenset()
    found: set[_Reading] = set()
    offers: set[_Reading] = set()
    if _GROUPED.fullmatch(said):
        found.add(Fraction(re.sub(r"\D", "", said)))
    if " " in said:
        # Two numbers beside each other, too.
        offers.update(Fraction(part) for part in said.split() if part.isdigit())
        return frozenset(found), frozenset(offers)
    if said.isdigit():
        found.add(Fraction(said))
        return frozenset(found), frozenset()
    grouped = re.fullmatch(r"(\d{1,3}(?:([,.'])\d{3})+)([.,])(\d+)", said)
    if grouped and grouped[2] != grouped[3]:
        found.add(Fraction(f"{re.sub(r'[^0-9]', '', grouped[1])}.{grouped[4]}"))
        return frozenset(found), frozenset()
    dotted = re.sub("[,']", ".", said)
    found.add(dotted)
    if _DECIMAL.fullmatch(said) and not dotted.endswith("0"):
        found.add(Fraction(dotted))
    # Of a version its first parts are there as well.
    parts = dotted.split(".")
    offers.update(".".join(parts[:count]) for count in range(2, len(parts)))
    if not _GROUPED.fullmatch(said):
        offers.add(Fraction(parts[0]))
    if "," in said:
        offers.update(Fraction(part) for part in parts if "." not in said)
    return frozenset(found), frozenset(offers)


def _of_date(said: str) -> _Number:
    parts = [int(part) for part in re.split(r"[-/.]", said)]
    year, first, second = (parts[0], *parts[1:]) if parts[0] > 31 else (parts[2], *parts[:2])
    readings: set[_Reading] = {f"{year}-{first}-{second}"}
    if parts[0] <= 31:
        readings.add(f"{year}-{second}-{first}")
    day = second if parts[0] > 31 else max(first, second)
    # The month may be a word.
    asked = (Fraction(year), Fraction(day))
    return _Number(frozenset(readings), offers=frozenset(map(Fraction, parts)), date=asked)


def _of_clock(said: str, unit: str) -> frozenset[_Reading]:
    hours, minutes = (int(part) for part in re.split(r"[:hH]", said)[:2])
    if unit.startswith("p") and unit in _HOUR_WORDS and hours < 12:
        hours += 12
    return frozenset((f"{hours}:{minutes:02}",))


@cache
def _named_run() -> re.Pattern[str]:
    return re.compile(r"(?<=[^\W\d_])(?<![\d.]v)(?<!\sv)(?<!^v)\d+", re.IGNORECASE)


def _in_names(text: str) -> Iterator[str]:
    """The digits of names: H100, IPv6."""
    for found in _named_run().finditer(unicodedata.normalize("NFKC", text)):
        if text[max(0, found.start() - 2) : found.start()].lower() != "0x":
            yield found[0]
