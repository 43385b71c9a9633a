"""The editor: title, text, tags and metadata of a note; what is typed stays until it is saved or given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Select, TextArea

from core.errors import ConflictError, InvalidInputError
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.infer import MetaInput
from core.model.names import DEFAULT_NUGGET
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES, Note
from core.model.snapshot import Snapshot
from nuggets_tui.desk import Desk
from nuggets_tui.notices import say
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.forms import Saved, split_tags
from nuggets_tui.view import own_tags
from nuggets_tui.widgets.fields import Field, TextField

CHOICES: Final = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}
# Wrapping and drawing so much at once would make the keys wait.
LONGEST_TEXT: Final = 100_000


class EditorScreen(Dialog[Saved]):
    """Edits a note, or writes a new one when there is none. Answers with the note and its change set."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "save", show=False, priority=True)]
    keys = "ctrl+s  save · tab  next field · esc  close"

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
        done = await self.attempt(self._saved_or_asked())
        if done is not None:
            self.dismiss(done)

    async def _saved_or_asked(self) -> Saved | None:
        """Saves; when another program changed the same note meanwhile, asks what is to become of it instead."""
        try:
            return await self._saved()
        except ConflictError:
            note = self._note
            if note is None:
                raise
            await asyncio.to_thread(self._desk.memory.refresh)
            now = self._desk.snapshot
            # A new title that is another fact's key is a conflict too, and nobody else's doing.
            if _stored(now, note) == _stored(self._base, note):
                raise
            self._ask(note, gone=note.id not in now.by_id)
            return None

    def _ask(self, note: Note, *, gone: bool) -> None:
        title = f"“{safe_line(note.title, 120)}”"
        if gone:
            question = ConfirmScreen(
                f"{title} was deleted meanwhile",
                "Another program deleted this note while you edited it. What you typed is still in the editor.",
                yes="save yours as a new note",
                no="keep editing",
            )
        else:
            question = ConfirmScreen(
                f"{title} was changed meanwhile",
                "Another program changed this note while you edited it. Saving puts what you typed over it; "
                "both versions stay in the audit log, and u takes yours back.",
                yes="save yours over it",
                no="keep editing",
            )

        def answered(sure: bool | None) -> None:
            if sure:
                self._save_anyway(note, gone=gone)

        self.app.push_screen(question, answered)

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save_anyway(self, note: Note, *, gone: bool) -> None:
        done = await self.attempt(self._saved_anew(note) if gone else self._saved_over(note))
        if done is not None:
            self.dismiss(done)

    async def _saved_over(self, note: Note) -> Saved:
        return await self._desk.change(f"edited {note.title}", self._edit_of(note))

    async def _saved_anew(self, note: Note) -> Saved:
        values = self.values
        edit = partial(
            create_note, nugget=note.nugget_name, title=values["title"], content=values["text"],
            tags=split_tags(values["tags"]), meta=_meta(values),
        )  # fmt: skip
        return await self._desk.change(f"wrote {values['title'].strip()}", edit)

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
        self.app.push_screen(question, self._close_if)

    def _close_if(self, sure: bool | None) -> None:
        if sure:
            self.dismiss(None)


def _stored(snapshot: Snapshot, note: Note) -> tuple[Note | None, Fact | None]:
    """What a memory holds of a note: itself, and the fact it mirrors."""
    nugget = snapshot.by_name.get(note.nugget_name)
    found = nugget.find(note.key) if nugget is not None and note.is_fact else None
    return snapshot.by_id.get(note.id), found[1] if found else None


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
