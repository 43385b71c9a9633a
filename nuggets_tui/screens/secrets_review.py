"""The review of what looks like credentials: masked for good, or said to be none."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.text.secrets import masked
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.diff_lines import wrapped
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.words import counted_holders

if TYPE_CHECKING:
    from core.memory import Holder
    from core.model.snapshot import Snapshot

_SHOWN = 4_000
# What is kept beside notes, by how its id begins.
_WHAT = {"raw": "text", "fact": "fact", "proposal": "proposal"}
_QUESTION = (
    "This masks what looks like a credential in {0}, wherever the same value is stored: notes, "
    "facts, the pipeline, the history and MEMORY.md. It deletes backups and quarantined files that hold it."
    "\n\nNobody can undo this. Masking does not revoke a credential: change it where you use it, too."
)


class SecretsReview(ReviewScreen):
    """Notes and facts that look as if they held a credential; nothing shows it in clear."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("n", "none", "none", show=False)]

    def __init__(self, session: Session, found: Collection[Holder]) -> None:
        self._session = session
        self._found = {one.id: one for one in found}
        items = [_item(one, session.snapshot) for one in found]
        said = f"{counted_holders(found)} may hold a credential. Promotion skips credentials."
        super().__init__("Review credentials", said, items, self._mask, titles=("Found", "Masked text"))

    def key_line(self) -> Content:
        if self._writing:
            return super().key_line()
        return key_content(
            f"ctrl+s  mask {len(self.accepted)} of {len(self._items)} · space  yes/no · a  all/none · "
            "n  not a credential · esc  close"
        )

    def action_apply(self) -> None:
        if self._writing:
            return
        if not self.accepted:
            self.dismiss(None)
            return
        self._ask()

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _ask(self) -> None:
        plan = await self.attempt(self._session.read(self._session.workspace.masking, self.accepted))
        if plan is not None:
            deleted = [safe_line(place.path.name, 200) for place in plan.places if place.deleted]
            many = counted_holders([self._found[id] for id in self.accepted])
            question = _QUESTION.format(many) + (f"\n\nDeleted: {', '.join(deleted)}" if deleted else "")
            self.app.push_screen(ConfirmScreen("Mask for good?", question, yes="mask for good"), self._sure)

    def _sure(self, sure: bool | None) -> None:
        if sure:
            super().action_apply()

    async def _mask(self, accepted: Collection[str]) -> Reviewed:
        session, workspace = self._session, self._session.workspace
        plan = await session.read(workspace.masking, accepted)
        done = await session.write(workspace.mask_secrets, plan)
        said = f"Masked {counted_holders(plan.holders)}, in the history too"
        left = await session.read(workspace.memory.secrets.left, plan)
        if left:
            named = ", ".join(safe_line(str(one.path), 200) for one in left[:3])
            said += f"; not masked, or not readable: {named}"
        return done, said

    def action_none(self) -> None:
        row = self.query_one("#changes", RowList).cursor_row
        if row is not None and not self._writing:
            self._none(row.key)

    @work(group="apply", exclusive=True, exit_on_error=False)
    async def _none(self, id: str) -> None:
        done = await self.attempt(self._session.write(self._session.workspace.mark_not_secret, [id]))
        if done is not None:
            self.dismiss((done, "Marked as not a credential until its text changes"))


def _item(holder: Holder, snapshot: Snapshot) -> ReviewItem:
    note = snapshot.by_id.get(holder.note_id)
    fact = None
    if note is None and holder.nugget in snapshot.by_name:
        found = snapshot.by_name[holder.nugget].find(holder.key)
        fact = found[1] if found else None
    title = note.title if note is not None else holder.key
    text = note.content if note is not None else fact.value if fact is not None else holder.text
    what = _WHAT.get(holder.kept_id.partition("-")[0], "transcript") if holder.kept_id else ""
    kinds = ", ".join(holder.kinds)
    return ReviewItem(
        holder.id, what or ("fact" if note is None or note.is_fact else "note"),
        holder.title if what else masked(title), kinds,
        partial(_lines, title, text, kinds),
    )  # fmt: skip


def _lines(title: str, text: str, kinds: str, width: int) -> list[Content]:
    # Read together, as they were when it was found; what follows the title is the text.
    whole = masked(f"{title}: {text}" if title else text)
    shown = [content(f"May hold: {kinds}", "$text-warning"), Content("")]
    shown += [Content(plain(line)) for line in whole[:_SHOWN].split("\n")]
    return wrapped(shown, width)
