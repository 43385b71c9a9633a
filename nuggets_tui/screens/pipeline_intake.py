"""Handing a text or a document in to the pipeline, and several of its proposals reviewed at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from core.errors import NuggetsError
from core.model.change import ChangeSet
from core.verbs import add_document
from nuggets_tui.pipeline_session import BY, PipelineSession
from nuggets_tui.pipeline_status import WORDS
from nuggets_tui.pipeline_words import ACTIONS, is_uncertain, reason_of
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.basic import AskScreen
from nuggets_tui.screens.review import DecidingReview, Reviewed, ReviewItem
from nuggets_tui.screens.typed import TypedDialog
from nuggets_tui.session import Session
from nuggets_tui.widgets.fields import CompletedField, TextField, nugget_offers
from nuggets_tui.widgets.pipeline_details import proposal_lines
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.pipeline.records import Accepted, RawMemory, StoredProposal
    from nuggets_tui.typed_text import TypedTextStore


class SubmitScreen(TypedDialog[str]):
    """Takes a text and hands it in; answers with what became of it."""

    heading = "Submit a text"
    keys = "ctrl+s  submit · tab  next field · esc  close"
    about = (
        "A summary, a decision or a paragraph for fact extraction. It is kept word for word. New "
        "facts are proposed, or written as notes of the nugget you name."
    )
    not_saved = "It is not submitted. What you typed is still here; ctrl+s tries again."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "submit", "submit", show=False)]

    def __init__(
        self,
        pipeline: PipelineSession,
        snapshot: Snapshot,
        *,
        typed: Mapping[str, str] | None = None,
        text_store: TypedTextStore | None = None,
    ) -> None:
        super().__init__(classes="large")
        self._pipeline = pipeline
        self._snapshot = snapshot
        self.typed = typed
        self.text_store = text_store

    def compose_inside(self) -> ComposeResult:
        typed = self.typed or {}
        yield TextField("a paragraph, a decision or a whole session", typed.get("text", ""), id="text")
        yield CompletedField(
            "Nugget for its notes",
            typed.get("nugget", ""),
            id="nugget",
            hint="memory, if left empty",
            offers_for=partial(nugget_offers, self._snapshot),
        )

    def on_mount(self) -> None:
        self.query_one("#text").focus()

    @property
    def values(self) -> dict[str, str]:
        return {
            "text": self.query_one("#text", TextField).text,
            "nugget": self.query_one("#nugget", CompletedField).value,
        }

    @property
    def begun(self) -> Mapping[str, str]:
        return {"text": "", "nugget": ""}

    def action_submit(self) -> None:
        values = self.values
        if values["text"].strip():
            self._submit(values["text"], values["nugget"].strip())
        else:
            self.dismiss(None)

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _submit(self, text: str, nugget: str) -> None:
        done = await self.attempt(
            self._pipeline.ask(lambda pipeline: pipeline.ingest(text, nugget=nugget, author=BY))
        )
        if done is None:
            return
        if done.status == "duplicate":
            said = "This text was submitted before. Nothing is extracted again."
        elif done.status == "held":
            said = "Submitted. The pipeline is frozen; the text waits until you turn that off."
        else:
            found = len(done.entities)
            said = "Submitted" + (f"; it names {plural(found, 'entity', 'entities')}" if found else "")
            said += await self._what_follows()
        self.dismiss(said)

    async def _what_follows(self) -> str:
        """Whether a model reads the text now; nothing where that cannot be told, for it is submitted in any case."""
        try:
            status = await self._pipeline.ask(lambda pipeline: pipeline.status())
        except (NuggetsError, RuntimeError):
            # RuntimeError: the memory was left meanwhile.
            return "."
        if status.no_model:
            return ". It waits: no model is configured."
        if status.rests:
            return f". It waits: the pipeline is {WORDS[str(status.light)]}."
        return ". New facts are being extracted."


_ADDED: Final = {
    "new": "Added; it is being indexed.",
    "changed": "Added; it replaces its former version once it is indexed.",
    "known": "This document is there already.",
    "restored": "This document was removed; it is back.",
}


def document_screen(pipeline: PipelineSession) -> AskScreen[str]:
    """Asks for a document and adds it; answers with what became of it."""

    async def add(source: str) -> str:
        return _ADDED[(await pipeline.ask(lambda opened: add_document(opened, source))).outcome]

    said = (
        "A text, Markdown, HTML or PDF file, or a page of the web. A search finds its parts once it is indexed; a "
        "changed file or page replaces its former version."
    )
    return AskScreen(
        "Add a document", said, "File or address", add, hint="~/notes/design.md or https://…", does="add"
    )


_TITLE: Final = 200


class ProposalsReview(DecidingReview):
    """Proposals to accept, to refuse, or to leave for later; what is accepted is one entry of the log, what is refused
    another one.
    """

    def __init__(
        self,
        pipeline: PipelineSession,
        session: Session,
        proposals: Sequence[StoredProposal],
        raws: Mapping[str, RawMemory],
        now: datetime,
    ) -> None:
        notes = session.snapshot.by_id
        items = [_item(one, raws.get(one.raw_id), notes.get(one.target_note), now) for one in proposals]
        doubtful = [one.id for one in proposals if is_uncertain(one)]
        said = "Nothing is written until you apply. What you refuse (space) is not proposed again."
        if doubtful:
            said += f" {plural(len(doubtful), 'uncertain proposal')}, unticked."
        super().__init__("Proposals to review", said, items, self._written, doubtful=doubtful)
        self._pipeline = pipeline
        # The entry of what was refused, once the review is applied.
        self.refusal: ChangeSet | None = None

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        # Asked before anything is written: what is refused is what is so now.
        refused = self.refused
        tell, ids = self._pipeline.tell, tuple(accepted)
        done = await tell(lambda pipeline: pipeline.accept(ids, BY)) if accepted else None
        gone = await tell(lambda pipeline: pipeline.refuse(refused, BY)) if refused else None
        said = describe_accepted(done) if done is not None else ""
        said = ", ".join(filter(None, (said, f"{gone:,} refused" if gone else "")))
        change_set = done.change_set if done is not None else None
        self.refusal = gone.change_set if gone is not None else None
        return change_set or nothing_written(), f"{said[:1].upper()}{said[1:]}"


def _item(proposal: StoredProposal, raw: RawMemory | None, target: Note | None, now: datetime) -> ReviewItem:
    sign, _, what = ACTIONS.get(proposal.action, ("?", "", proposal.action))
    title = safe_line(proposal.content or proposal.target_content, _TITLE)
    detail = reason_of(proposal, short=True) or f"{proposal.type} · {what}"
    lines = partial(proposal_lines, proposal, raw, target, now)
    return ReviewItem(proposal.id, f"{sign} {proposal.sure:.0%}", title, detail, lines)


def nothing_written() -> ChangeSet:
    """In place of a change set, where nothing came into the memory."""
    from core.model.change import Author

    return ChangeSet(id="", at="", author=Author("pipeline"), reason="")


def describe_accepted(done: Accepted) -> str:
    """What came of accepted proposals, in a clause."""
    parts = [f"{plural(len(done.written), 'proposal')} accepted"] if done.written else []
    if done.waiting:
        parts.append(f"{len(done.waiting):,} accepted, to be written once the files are writable")
    if done.deduped:
        parts.append(f"{len(done.deduped):,} already known")
    if done.skipped:
        reasons = "; ".join(dict.fromkeys(safe_line(why, 100) for _, why in done.skipped[:3]))
        parts.append(f"{len(done.skipped):,} left out ({reasons})")
    return ", ".join(parts) or "nothing left to accept"
