"""Handing a text in to the pipeline: pasted or typed, kept word for word at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from core.errors import NuggetsError
from core.verbs import add_document
from nuggets_tui.pipeline_session import BY, PipelineSession
from nuggets_tui.pipeline_status import WORDS
from nuggets_tui.screens.basic import AskScreen
from nuggets_tui.screens.typed import TypedDialog
from nuggets_tui.widgets.completed_field import CompletedField, nugget_offers
from nuggets_tui.widgets.fields import TextField
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot
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
