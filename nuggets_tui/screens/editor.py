"""The editor: title, text, tags and metadata of a note; what is typed stays until it is saved or given up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Select, TextArea

from core.errors import InvalidInputError
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft
from core.model.infer import MetaInput
from core.model.names import DEFAULT_NUGGET
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES, Note
from core.model.snapshot import Snapshot
from nuggets_tui.desk import Desk
from nuggets_tui.notices import say
from nuggets_tui.screens.confirm import ConfirmScreen, close_if_sure
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.forms import Saved, split_tags
from nuggets_tui.view import own_tags
from nuggets_tui.waiting import Waiting, or_waiting
from nuggets_tui.widgets.fields import Field, TextField

CHOICES: Final = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}
# Wrapping and drawing so much at once would make the keys wait.
LONGEST_TEXT: Final = 100_000


class EditorScreen(Dialog[Saved | Waiting]):
    """Edits a note, or writes a new one when there is none. Answers with the note and its change set.

    Where another program changed the same text meanwhile, what was typed waits in the log, and the answer says where.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "save", show=False, priority=True)]
    keys = "ctrl+s  save · tab  next field · esc  close"
    not_saved = "The edit is not saved; the text is still here in the editor, and ctrl+s tries again."

    def __init__(
        self, desk: Desk, base: Snapshot, note: Note | None, *, nugget: str = "", text: str | None = None
    ) -> None:
        super().__init__(classes="full")
        self.heading = "Write a note" if note is None else f"Edit {note.title}"
        self._desk = desk
        self._base = base
        self._note = note
        self._nugget = nugget or DEFAULT_NUGGET
        # Text that comes from elsewhere, such as an outside editor whose result could not be saved.
        self._text = text
        self._begun: dict[str, str] = {}

    def compose_inside(self) -> ComposeResult:
        """The fields."""
        note = self._note
        text = self._text if self._text is not None else note.content if note else ""
        with Horizontal(classes="line"):
            yield Field(
                "Title", note.title if note else "", id="title", hint="what it is about, in a few words"
            )
            tags = " ".join(own_tags(note)) if note else ""
            yield Field("Tags", tags, id="tags", hint="words, with spaces between")
        yield TextField("Text", text, id="text")
        with Horizontal(classes="line"):
            if note is None:
                yield Field("Nugget", self._nugget, id="nugget")
            for name, values in CHOICES.items():
                yield self._choice(name, values)
            confidence = f"{note.confidence:g}" if note else ""
            yield Field("Confidence", confidence, id="confidence", hint="inferred")

    def _choice(self, name: str, values: tuple[str, ...]) -> Select[str]:
        present = getattr(self._note, name) if self._note is not None else ""
        chosen = present if present in values else Select.NULL
        prompt = "inferred" if self._note is None else "as it is"
        select: Select[str] = Select(
            [(value, value) for value in values],
            value=chosen,
            prompt=prompt,
            id=name,
            classes="field",
            compact=True,
        )
        select.border_title = Content(name.capitalize())
        return select

    def on_mount(self) -> None:
        """The cursor begins in the title of a new note, at the end of the text of one that is there."""
        self._begun = self.values
        if self._text is not None and self._note is not None:
            self._begun["text"] = self._note.content
        text = self.query_one("#text", TextArea)
        text.move_cursor(text.document.end)
        self.query_one("#title" if self._note is None else "#text").focus()

    @property
    def values(self) -> dict[str, str]:
        """What stands in the fields."""
        found = {field.id or "": field.value for field in self.query(Field)}
        found["text"] = self.query_one("#text", TextArea).text
        for select in self.query(Select):
            found[select.id or ""] = "" if select.value is Select.NULL else str(select.value)
        return found

    @property
    def _changed(self) -> dict[str, str]:
        return {name: value for name, value in self.values.items() if value != self._begun.get(name)}

    def action_save(self) -> None:
        """Saves; the editor stays open when that fails."""
        if self._note is not None and not self._changed:
            say(self, "Nothing was changed.")
            self.dismiss(None)
            return
        self._save()

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save(self) -> None:
        done = await self.attempt(or_waiting(self._saved()))
        if done is not None:
            self.dismiss(done)

    async def _saved(self) -> Saved:
        values, note = self.values, self._note
        if note is None:
            edit = partial(
                create_note, nugget=values["nugget"].strip(), title=values["title"], content=values["text"],
                tags=split_tags(values["tags"]), meta=_meta(self._changed),
            )  # fmt: skip
            return await self._desk.change(f"wrote {values['title'].strip()}", edit)
        return await self._desk.change_from(self._base, f"edited {note.title}", self._edit_of(note))

    def _edit_of(self, note: Note) -> Callable[[Draft], Note]:
        changed = self._changed
        meta = _meta(changed)

        def edit(draft: Draft) -> Note:
            return edit_note(
                draft,
                note.id,
                title=changed.get("title"),
                content=changed.get("text"),
                tags=split_tags(changed["tags"]) if "tags" in changed else None,
                meta=meta,
            )

        return edit

    @property
    def unsaved(self) -> bool:
        """Whether a field was changed."""
        return bool(self._changed)

    def action_close(self) -> None:
        """Asks first when something was changed."""
        if not self.unsaved:
            self.dismiss(None)
            return
        question = ConfirmScreen("Close without saving?", "What you changed here will be gone.", yes="close")
        close_if_sure(self, question)


def _meta(changed: dict[str, str]) -> MetaInput:
    typed = changed.get("confidence", "").strip().replace(",", ".")
    try:
        confidence = float(typed) if typed else None
    except ValueError:
        raise InvalidInputError(
            "must be a number from 0 to 1", where="confidence", kept="what you typed is still here"
        ) from None
    return MetaInput(
        scope=changed.get("scope") or None,
        type=changed.get("type") or None,
        source=changed.get("source") or None,
        stability=changed.get("stability") or None,
        confidence=confidence,
    )


def too_long_to_edit_here(note: Note) -> bool:
    """Whether a text is better edited in an editor of its own."""
    return len(note.content) > LONGEST_TEXT
