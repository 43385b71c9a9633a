"""Settings in words: how a value is shown, typed and read."""

from __future__ import annotations

from typing import Any, Final

from core.settings.tree import plain_number, settings_by_name
from nuggets_tui.words import plural

# What the app lists: the pipeline's settings are for its file alone.
LISTED: Final = {name: setting for name, setting in settings_by_name().items() if setting.title}
# The user's own settings begin with it.
USER: Final = "user."
SETTING_WORDS: Final = {
    f"{USER}theme": "Theme, in all memories",
    f"{USER}vim": "Vim keys, in all memories",
    **{setting.name: setting.title for setting in LISTED.values()},
}
DEFAULTS: Final = {name: setting.default for name, setting in LISTED.items()}
_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def shown_value(value: Any) -> str:
    """A value in a row: "on", "0.42", "5 words", "not set"."""
    if isinstance(value, bool):
        return _ON[0] if value else _OFF[0]
    if isinstance(value, tuple):
        return plural(len(value), "entry", "entries") if value else "none"
    if isinstance(value, int | float):
        return plain_number(value)
    return str(value) or "not set"


def typed_value(value: Any) -> str:
    """A value as it stands in a field."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:.15g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def read_value(name: str, text: str) -> Any:
    """What was typed for a setting, in its type where it can be read so; None for its default, when nothing was."""
    default, text = DEFAULTS[name], text.strip()
    if not text:
        return None
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(default, str):
        return text
    try:
        return int(text) if isinstance(default, int) else float(text)
    except ValueError:
        return text


def explain_setting(name: str) -> str:
    """What may be typed for a setting, and its default."""
    default, allowed = DEFAULTS[name], settings_by_name()[name].allowed
    if isinstance(default, tuple):
        kind = "Words, separated by commas."
    elif isinstance(default, str):
        kind = f"{allowed[0].upper()}{allowed[1:]}." if allowed else "Text."
    else:
        kind = "A whole number" if isinstance(default, int) else "A number"
        kind += f", {allowed}." if allowed else "."
    return f"{kind} Leave it empty for the default: {typed_value(default) or 'none'}."
