"""Notes held against the code in the app: after the first frame, when the memory changes, and now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nuggets_tui.controllers.controller import Controller, background

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.memory import Memory
    from core.model.judgement import Stale
    from core.model.snapshot import Snapshot

# People change code beside the app: it is looked at again after so many seconds.
_EVERY: Final = 30.0
_REST: Final = 1.0


class GroundingController(Controller):
    """Marks the notes that name code which moved or is gone. It shows what it finds, and changes nothing."""

    # One look at a time, however fast others write; whether another one is wanted behind it.
    _looking = _again = False

    def mounted(self) -> None:
        """Looks now and then, whatever is done in the app."""
        self.main.set_interval(_EVERY, self.refresh)

    def first_frame_shown(self) -> None:
        """Looks for the first time."""
        self.refresh()

    def snapshot_shown(self) -> None:
        """Other notes may name other code."""
        if self.view.loaded:
            self.refresh()

    @background("grounding")
    async def refresh(self) -> None:
        """Shows which notes are stale."""
        session = self.main.open_session
        if session is None or self.view.past is not None:
            return
        if not self.main.complete:
            self.main.set_timer(_REST, self.refresh)
            return
        self._again = self._looking
        if self._looking:
            return
        self._looking = True
        try:
            found = await session.read(_held_against_code, session.memory, session.snapshot)
        finally:
            self._looking = False
        known = {**self.view.code_changed, **self.view.stale}
        if session is self.main.open_session and self.main.is_mounted and found != known:
            changed = {id: one for id, one in found.items() if not one.lost}
            stale = {id: one for id, one in found.items() if one.lost}
            self.main.show(stale=stale, code_changed=changed)
        if self._again and self.main.is_mounted:
            self.main.set_timer(_REST, self.refresh)


def _held_against_code(memory: Memory, snapshot: Snapshot) -> Mapping[str, Stale]:
    return memory.stale_of(snapshot.visible)
