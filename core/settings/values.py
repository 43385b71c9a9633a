"""One given value: in the type of its setting or refused, or put right within its range with the reason."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from core.errors import ErrorCode, InvalidInputError
from core.settings.tree import Setting, setting_named
from core.settings.warnings import WarningKind

LONGEST_TEXT: Final = 500


class UnfitError(ValueError):
    """Says what a value must be."""


def checked(value: Any, setting: Setting) -> Any:
    """The value in the type of the setting. Raises UnfitError."""
    default = setting.default
    if isinstance(default, tuple):
        return checked_list(value)
    if isinstance(default, float) and type(value) is int:
        value = float(value) if abs(value) < 2**53 else math.inf
    if type(value) is not type(default):
        raise UnfitError(f"a value like {default!r}")
    if not setting.holds(value):
        raise UnfitError(f"{setting.allowed}, not {value}")
    return value


def checked_setting(name: str, value: Any) -> Any:
    """A value for the setting "table.name" in the type that this has. Raises InvalidInputError for one that it cannot
    have, and for no setting.
    """
    try:
        setting = setting_named(name)
    except KeyError:
        raise InvalidInputError(
            "no such setting", code=ErrorCode.NO_SUCH_SETTING, where=name, kept="no file was changed"
        ) from None
    try:
        return checked(list(value) if isinstance(value, tuple) else value, setting)
    except UnfitError as unfit:
        raise InvalidInputError(
            f"must be {unfit}", code=ErrorCode.UNKNOWN_VALUE, where=name, kept="no file was changed"
        ) from None


def checked_list(value: Any) -> tuple[str, ...]:
    """A list of texts. Raises UnfitError."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise UnfitError("a list of strings, none of them empty")
    return tuple(value)


# Put right


class Fitted(NamedTuple):
    """A value that the key can have, or None with why it cannot; `why` and `hint` also for one that was changed."""

    value: bool | int | float | str | None
    why: WarningKind | None = None
    hint: str = ""


def fitted(key: Setting, given: Any) -> Fitted:
    """The given value as the key can have it. Never raises; no type is made into another.

    Numbers out of range are clamped, whole numbers rounded (halves up); NaN and infinities, wrong types and unknown
    choices are refused.
    """
    if given is None:
        return Fitted(None, WarningKind.NO_VALUE)
    if key.kind == "switch":
        return (
            Fitted(given)
            if isinstance(given, bool)
            else Fitted(None, WarningKind.WRONG_TYPE, "must be true or false")
        )
    if key.kind == "choice":
        return _choice(key, given)
    if key.kind == "text":
        return _text(key, given)
    return _number(key, given)


def _number(key: Setting, given: Any) -> Fitted:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return Fitted(None, WarningKind.WRONG_TYPE, f"must be a number {_range(key)}")
    if isinstance(given, float) and not math.isfinite(given):
        return Fitted(None, WarningKind.NOT_FINITE, _range(key))
    # Clamped as it was given: an int may be too large for a float.
    clamped = key.low if given < key.low else key.high if given > key.high else given
    if key.kind == "number":
        # Zero has one sign, so that what is written reads back the same.
        value: int | float = float(clamped) + 0.0
    else:
        value = int(clamped) if isinstance(clamped, int) else math.floor(clamped + 0.5)
    if clamped != given:
        return Fitted(value, WarningKind.OUT_OF_RANGE, _range(key))
    if value != given:
        return Fitted(value, WarningKind.ROUNDED, _range(key))
    return Fitted(value)


def _range(key: Setting) -> str:
    return f"from {_plain(key.low)} to {_plain(key.high)}"


def _plain(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.15g}"


def _choice(key: Setting, given: Any) -> Fitted:
    if not isinstance(given, str):
        return Fitted(None, WarningKind.WRONG_TYPE, f"must be one of {', '.join(key.choices)}")
    if given in key.choices:
        return Fitted(str(given))
    from rapidfuzz import process

    near = process.extractOne(given[:LONGEST_TEXT].lower(), key.choices, score_cutoff=60)
    meant = f"; did you mean {near[0]}?" if near else ""
    return Fitted(None, WarningKind.UNKNOWN_CHOICE, f"must be one of {', '.join(key.choices)}{meant}")


def _text(key: Setting, given: Any) -> Fitted:
    if not isinstance(given, str):
        return Fitted(None, WarningKind.WRONG_TYPE, "must be a text")
    text = str(given).strip()
    if len(text) > LONGEST_TEXT:
        return Fitted(None, WarningKind.UNFIT_TEXT, f"must have at most {LONGEST_TEXT} characters")
    if not text.isprintable():
        return Fitted(None, WarningKind.UNFIT_TEXT, "must be printable characters on one line")
    if key.field == "model" and text.startswith("-"):
        # It stands on a command line, where it would be an option.
        return Fitted(None, WarningKind.UNFIT_TEXT, "must not begin with a dash")
    if key.field == "endpoint":
        if not text:
            # Where no address is the default, another setting says it.
            return Fitted(None, WarningKind.NO_VALUE) if key.default else Fitted("")
        address = web_address(text)
        return (
            Fitted(address)
            if address
            else Fitted(None, WarningKind.UNFIT_TEXT, "must be an address such as http://localhost:11434")
        )
    return Fitted(text)


def web_address(text: str) -> str:
    """The address without a slash at its end, or "" for what is no http or https address."""
    try:
        parts = urlsplit(text)
        usable = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return ""
    return text.rstrip("/") if usable and not any(letter.isspace() for letter in text) else ""
