"""How much the pipeline takes, for those who only tell of it and need nothing else of it."""

from __future__ import annotations

from typing import Final

# Characters of the digest of a session's checkpoint: what is longer is no digest any more.
LONGEST_DIGEST: Final = 20_000
# Characters of the name of a session, and of its project.
LONGEST_SESSION: Final = 1_000
