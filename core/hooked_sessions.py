"""The sessions that agents named to their hooks, as fronts reach them. An agent waits for it, so it loads little."""

from __future__ import annotations

from core.storage.hooked_sessions import drop as drop
from core.storage.hooked_sessions import keep as keep
from core.storage.hooked_sessions import session_of as session_of
