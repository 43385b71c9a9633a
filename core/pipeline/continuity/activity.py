"""What happened in a session since its last checkpoint: merged within bounds, and when one is due."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

MOST_QUERIES: Final = 20
MOST_REMEMBERS: Final = 10
MOST_SNIPPETS: Final = 10
MOST_FILES: Final = 20
LONGEST_SNIPPET: Final = 200
LONGEST_STORED: Final = 120
_LONGEST_CONTEXT: Final = 2_000


class Activity(NamedTuple):
    """What happened, the latest last. prompts: how many; snippets: the beginnings of the latest ones. context: what the
    agent said that it works on.
    """

    prompts: int = 0
    queries: tuple[str, ...] = ()
    remembers: tuple[str, ...] = ()
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    context: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing happened."""
        return self == Activity()

    def merged(self, later: Activity) -> Activity:
        """Both, within bounds: what was said before is not said again, and the newest context stands."""
        return Activity(
            self.prompts + later.prompts,
            _newest((*self.queries, *later.queries), LONGEST_SNIPPET, MOST_QUERIES),
            _newest((*self.remembers, *later.remembers), LONGEST_STORED, MOST_REMEMBERS),
            tuple(_lines((*self.snippets, *later.snippets), LONGEST_SNIPPET))[-MOST_SNIPPETS:],
            _newest((*self.files, *later.files), 4 * LONGEST_SNIPPET, MOST_FILES),
            (later.context.strip() or self.context)[:_LONGEST_CONTEXT],
        )

    def as_json(self) -> str:
        """As the database holds it."""
        return json.dumps(self._asdict(), ensure_ascii=False)


def activity_of(text: str) -> Activity:
    """What `as_json` said; nothing for a text that it never said."""
    try:
        held = json.loads(text)
        queries, remembers, snippets, files = (
            tuple(map(str, held[name])) for name in ("queries", "remembers", "snippets", "files")
        )
        return Activity(int(held["prompts"]), queries, remembers, snippets, files, str(held["context"]))
    except (ValueError, KeyError, TypeError):
        return Activity()


def is_due(elapsed: int, prompts: int, *, interval: int, prompt_interval: int) -> bool:
    """Whether a periodic checkpoint is due. elapsed, interval: milliseconds since the last one, and at most."""
    return prompts > 0 and (elapsed >= interval or prompts >= prompt_interval)


def _newest(said: tuple[str, ...], longest: int, most: int) -> tuple[str, ...]:
    """Each once, the newest of them."""
    return tuple(dict.fromkeys(_lines(said, longest)))[-most:]


def _lines(said: tuple[str, ...], longest: int) -> list[str]:
    lines = (" ".join(one.split())[:longest] for one in said)
    return [line for line in lines if line]
