"""When the demo's story stops."""

from datetime import UTC, datetime
from typing import Final

# All its dates lie before it.
DEMO_NOW: Final = datetime(2026, 11, 18, 9, 41, tzinfo=UTC)
