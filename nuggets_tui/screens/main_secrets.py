"""What looks like a credential: found, reviewed, masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from nuggets_tui.notices import say
from nuggets_tui.screens.main_daily import MainDaily
from nuggets_tui.threads import aside

if TYPE_CHECKING:
    from core.memory import Holder


class MainSecrets(MainDaily):
    """The command that reviews secrets."""

    @work(group="change", exit_on_error=False)
    async def do_secrets(self) -> None:
        """Looks for what seems to be a credential."""
        found = await self.long_work("looking for secrets", aside(self._secrets))
        if found:
            from nuggets_tui.screens.secrets_review import SecretsReview

            self.app.push_screen(SecretsReview(self.desk, found), self._reviewed)
        elif found is not None:
            say(
                self,
                "No note or fact looks as if it held a secret; former texts in the log are not looked through.",
            )

    def _secrets(self) -> tuple[Holder, ...]:
        return self.desk.memory.secrets()
