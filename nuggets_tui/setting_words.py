"""Settings in plain words: what each is, how its value is shown, and how a typed one is read."""

from __future__ import annotations

from typing import Any, Final

from core.settings import Settings, allowed_values, plain_number, setting_values
from nuggets_tui.words import plural

# The user's own settings begin with it.
USER: Final = "user."
SETTING_WORDS: Final = {
    f"{USER}theme": "Theme, in all memories",
    f"{USER}vim": "Vim keys, in all memories",
    "app.vim": "Vim keys, in this memory",
    "app.tips": "Header names what is worth trying, in this memory",
    "app.theme": "Theme in this memory, for those who chose none",
    "search.vector_weight": "Search: weight of overall similarity",
    "search.text_weight": "Search: weight of shared words",
    "search.durable_boost": "Search: bonus of durable notes",
    "search.own_boost": "Search: bonus of notes about you or the assistant",
    "search.confidence_boost": "Search: bonus of confident notes",
    "search.associative_weight": "Search: bonus of notes like the best hits",
    "search.link_weight": "Search: bonus of notes linked from a good hit",
    "search.pair_weight": "Search: weight of word order",
    "search.meaning_weight": "Search: weight of words that mean the same",
    "search.relevance_floor": "Search: share of the query that a likely hit matches",
    "search.temperature": "Search: how evenly hits share their score",
    "search.softmax_over": "Search: hits that share the score",
    "search.dimension": "Search: size of a vector",
    "reflection.hour": "Daily pass: hour when it is due",
    "reflection.minute": "Daily pass: minute when it is due",
    "reflection.max_notes": "Reflection: most notes changed in one pass",
    "reflection.jaccard": "Reflection: share of common words that makes duplicates",
    "reflection.shared_tokens": "Reflection: common words that make a link",
    "reflection.wanted_links": "Reflection: links that a note should have",
    "reflection.max_links": "Reflection: most links made on one note",
    "reflection.often_recalled": "Reflection: recalls that keep a note from being archived",
    "reflection.derived_tags": "Reflection: tags derived for a note",
    "reflection.max_archived": "Reflection: most notes archived in one pass",
    "reflection.max_merged": "Reflection: most notes merged in one pass",
    "schedule.waking_from": "Daily pass: hour from which a missed one is caught up",
    "schedule.waking_to": "Daily pass: hour until which a missed one is caught up",
    "schedule.daemon_applies": "Daily pass: the daemon runs it by itself",
    "schedule.app_applies": "Daily pass: the open app runs it by itself",
    "schedule.promotes": "Daily pass: always promotes",
    "promotion.threshold": "Promotion: recalls until a note is promoted",
    "promotion.memory_dir": "Promotion: folder of MEMORY.md",
    "promotion.read_lines": "Promotion: lines of MEMORY.md that agents read",
    "promotion.automatic": "Promotion: whether the daily pass promotes",
    "promotion.projects": "Promotion: folders that the daily pass promotes to",
    "backups.keep": "Backups kept of each kind",
    "ledger.max_mb": "History: megabytes before old entries are archived",
    "inference.assistant_words": "Words that mean the assistant",
    "inference.project_words": "Words that mean a project",
    "inference.shared_words": "Words that mean shared knowledge",
    "inference.user_words": "Words that mean the user",
    "inference.preference_words": "Words that mean a preference",
    "inference.style_words": "Words that mean a style",
    "inference.relationship_words": "Words that mean a relationship",
    "inference.temporary_prefixes": "Beginnings of titles that mean temporary",
}
DEFAULTS: Final = dict(setting_values(Settings()))
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
    default, allowed = DEFAULTS[name], allowed_values(name)
    if isinstance(default, tuple):
        kind = "Words, separated by commas."
    elif isinstance(default, str):
        kind = "Text."
    else:
        kind = "A whole number" if isinstance(default, int) else "A number"
        kind += f", {allowed}." if allowed else "."
    return f"{kind} Leave it empty for the default: {typed_value(default) or 'none'}."
