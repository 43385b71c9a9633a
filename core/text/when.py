"""Times in questions: a day, week, month or year that a question names, and whether it asks for what holds now."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache
from typing import Final, NamedTuple

from core.text.normalise import plain_words

_MONTHS: Final = (
    ("january", "januar", "jan", "janvier", "enero"), ("february", "februar", "feb"), ("march", "märz", "mar", "mrz"),
    ("april", "apr"), ("may", "mai", "mayo"), ("june", "juni", "jun", "juin"), ("july", "juli", "jul"),
    ("august", "aug"), ("september", "sept", "sep"), ("october", "oktober", "oct", "okt"),
    ("november", "nov"), ("december", "dezember", "dec", "dez"),
)  # fmt: skip
_WEEKDAYS: Final = (
    ("monday", "montag"), ("tuesday", "dienstag"), ("wednesday", "mittwoch"), ("thursday", "donnerstag"),
    ("friday", "freitag"), ("saturday", "samstag"), ("sunday", "sonntag"),
)  # fmt: skip
_MONTH_OF: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_WEEKDAY_OF: Final = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
}  # fmt: skip
_MONTH: Final = "|".join(_MONTH_OF)
_DAY: Final = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th|\.)?"
_YEAR: Final = r"(?P<year>(?:19|20)[0-9]{2})"
_LEAD: Final = r"\b(?:(?:on|in|at|from|since|of|during|am|im|vom) )?(?:the )?"
# "_" is a space.
_NOW: Final = """
    now nowadays currently current latest newest today these_days at_the_moment at_present still anymore jetzt aktuell
    aktuelle derzeit momentan heute actuellement ahora"""
_THEN: Final = """
    previously previous formerly former originally original initially at_first used_to earlier früher fruher vorher
    ursprünglich ursprunglich zuerst"""
# A question with none of these and no digits side by side names no time.
_SIGNS: Final = frozenset((
    *_MONTH_OF, *_WEEKDAY_OF, "today", "yesterday", "heute", "gestern", "last", "past", "this", "ago", "letzte",
    "letzten", "diese", "diesen", "vergangenen",
))  # fmt: skip
_UNITS: Final = {"week": 7, "woche": 7, "month": 30, "monat": 30, "year": 365, "jahr": 365, "day": 1}


@cache
def _shapes() -> tuple[re.Pattern[str], ...]:
    """How questions name times; compiled when something is asked that may name one."""
    return tuple(
        re.compile(_LEAD + shape, re.IGNORECASE)
        for shape in (
            r"(?P<year>(?:19|20)[0-9]{2})-(?P<number>[01][0-9])-(?P<day>[0-3][0-9])\b",
            r"(?P<day>[0-3]?[0-9])\.\s?(?P<number>[01]?[0-9])\.\s?(?P<year>(?:19|20)[0-9]{2})\b",
            rf"{_DAY} (?:of )?(?P<month>{_MONTH})\b\.?(?:,? {_YEAR}\b)?",
            rf"(?P<month>{_MONTH})\.? {_DAY}(?![0-9])(?:,? {_YEAR}\b)?",
            rf"(?P<month>{_MONTH}) {_YEAR}\b",
            r"(?P<back>today|yesterday|heute|gestern)\b",
            rf"(?:last|past|letzten|letzte|vergangenen) (?P<weekday>{'|'.join(_WEEKDAY_OF)})\b",
            r"(?P<last>last|past|this|letzte|letzten|diese|diesen) (?P<unit>week|month|year|woche|monat|jahr)\b",
            rf"(?P<count>[0-9]{{1,3}}|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month|year)s? ago\b",
        )
    )


class Named(NamedTuple):
    """The time that a question names, from its first day to its last, with the question without it."""

    rest: str
    first: date
    last: date

    @property
    def is_day(self) -> bool:
        """Whether it is a single day."""
        return self.first == self.last

    def spellings(self) -> tuple[str, ...]:
        """How texts write the day, folded; none of a longer time."""
        if not self.is_day:
            return ()
        day, names = self.first, _MONTHS[self.first.month - 1]
        spelt = [
            f"{number}{mark} {name}"
            for name in names
            for number in (day.day, f"{day.day:02}")
            for mark in ("", ".")
        ]
        spelt += [f"{name} {day.day}" for name in names]
        return (
            day.isoformat(),
            *(f"{text} {day.year}" for text in spelt),
            *(f"{text}, {day.year}" for text in spelt),
            *spelt,
        )

    def admits(self, text: str, moment: str) -> bool:
        """Whether a text was written in that time, or names it. moment: ISO 8601."""
        if self.first.isoformat() <= moment[:10] <= self.last.isoformat():
            return True
        folded = text.casefold()
        return any(re.search(rf"(?<!\d){re.escape(one)}(?!\d)", folded) for one in self.spellings())


def named_time(question: str, today: date) -> Named | None:
    """The first time that a question names in a usual spelling; None for none. today: as the person's clock has it."""
    said = plain_words(question).split()
    if not any(word in _SIGNS or (word.isdigit() and len(word) == 4) for word in said):
        return None
    for shape in _shapes():
        for found in shape.finditer(question):
            span = _span({name: text.casefold() for name, text in found.groupdict("").items() if text}, today)
            if span is not None:
                rest = f"{question[: found.start()]} {question[found.end() :]}"
                return Named(" ".join(rest.split()), *span)
    return None


def _span(said: dict[str, str], today: date) -> tuple[date, date] | None:
    if "back" in said:
        day = today - timedelta(days=said["back"] in ("yesterday", "gestern"))
        return day, day
    if "weekday" in said:
        day = today - timedelta(days=(today.weekday() - _WEEKDAY_OF[said["weekday"]] - 1) % 7 + 1)
        return day, day
    if "last" in said:
        days = _UNITS[said["unit"]]
        back = 0 if said["last"] in ("this", "diese", "diesen") else days
        return today - timedelta(days=back + days - 1), today - timedelta(days=back and 1)
    if "count" in said:
        count = _NUMBERS.get(said["count"]) or int(said["count"])
        days = count * _UNITS[said["unit"]]
        # The longer ago, the less exactly it is meant.
        about = 0 if said["unit"] == "day" else days // (4 * count) + 1
        return today - timedelta(days=days + about), today - timedelta(days=days - about)
    return _of_calendar(said, today)


def _of_calendar(said: dict[str, str], today: date) -> tuple[date, date] | None:
    month = int(said["number"]) if "number" in said else _MONTH_OF[said["month"]]
    year = int(said["year"]) if "year" in said else today.year
    try:
        if "day" in said:
            day = date(year, month, int(said["day"]))
            # Without a year the last one is meant.
            day = day.replace(year=year - 1) if "year" not in said and day > today else day
            return day, day
        following = date(year + month // 12, month % 12 + 1, 1)
        return date(year, month, 1), following - timedelta(days=1)
    except ValueError:
        return None


def asks_for_now(question: str) -> bool:
    """Whether a question asks for what holds now, and not for what held before."""
    return _holds(question, _NOW) and not asks_for_before(question)


def asks_for_before(question: str) -> bool:
    """Whether a question asks for what held before."""
    return _holds(question, _THEN)


def _holds(question: str, phrases: str) -> bool:
    said = f" {plain_words(question)} "
    return any(f" {phrase.replace('_', ' ')} " in said for phrase in phrases.split())
