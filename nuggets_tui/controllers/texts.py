"""Where texts that are being written are kept against a crash, as long as a memory is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller

if TYPE_CHECKING:
    from core.unsaved import UnsavedTexts
    from nuggets_tui.keeping import Keeping


class TextsController(Controller):
    """Keeps texts of dialogs outside of the memory. unsaved: the place; None while there is no such place."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.unsaved: UnsavedTexts | None = None
        # Whether it is known if there is a place for texts.
        self._known = False

    def open(self) -> None:
        """Finds the place of the open memory; whoever types at once is not too early."""
        if self._known:
            return
        from core.unsaved import UnsavedTexts

        home = self.desk.memory.home
        # What is typed in a copy of the demo goes with it.
        self.unsaved = None if self.context.app.is_copy(home) else UnsavedTexts.of(home)
        self._known = True

    def leaving(self) -> None:
        """What is not saved is there for the next app; another memory has other texts."""
        unsaved, self.unsaved, self._known = self.unsaved, None, False
        if unsaved is not None:
            unsaved.close()

    def keeping(
        self, kind: str, about: str = "", title: str = "", own_title: str = "title"
    ) -> Keeping | None:
        """Where the text of a dialog is kept against a crash; arguments as in `Keeping`."""
        self.open()
        if self.unsaved is None:
            return None
        from nuggets_tui.keeping import Keeping

        return Keeping(self.unsaved.keep(), self.desk.clock, kind, about, title, own_title)
